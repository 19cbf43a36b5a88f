#include "controllers/endpoints/backends.h"

#include <sampan/meta.h>

#include "api/ip.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "base/banned.h"

static struct spn_text text_at(const struct spn_value *obj, const char *one, const char *two)
{
    return spn_value_text(spn_value_dig(obj, one, two));
}

/* ---- Pods ---- */

bool backend_counts(const struct spn_value *pod, bool with_terminating)
{
    if (pod_is_terminal(pod))
        return false;
    if (!text_at(pod, "status", "podIP").n &&
        !spn_value_count(spn_value_dig(pod, "status", "podIPs")))
        return false;
    return with_terminating || !meta_is_deleting(pod);
}

bool backend_has_hostname(const struct spn_value *pod, const struct spn_value *service)
{
    return text_at(pod, "spec", "hostname").n &&
           spn_text_eq(text_at(pod, "spec", "subdomain"), text_at(service, "metadata", "name"));
}

/* ---- Addresses ---- */

static bool read_address(struct spn_arena *a, const struct spn_value *pod_ip, bool is_v6,
                         struct spn_text *ret)
{
    struct ip ip;
    char text[IP_TEXT_MAX];
    struct spn_text given = spn_value_text(spn_value_get(pod_ip, "ip"));
    if (!ip_parse((struct str){ given.p, given.n }, &ip) || (ip.is_v4 || ip.is_mapped) == is_v6)
        return false;
    struct str s = ip_format(&ip, text);
    *ret = spn_arena_text(a, (struct spn_text){ s.p, s.n });
    return true;
}

struct spn_text backend_address(struct spn_arena *a, const struct spn_value *pod, bool is_v6)
{
    const struct spn_value *ips = spn_value_dig(pod, "status", "podIPs");
    struct spn_text found;
    for (size_t i = 0; i < spn_value_count(ips); i++)
        if (read_address(a, spn_value_at(ips, i), is_v6, &found))
            return found;
    return SPN_TEXT("");
}

struct spn_value *backend_addresses(struct spn_arena *a, const struct spn_value *pod, bool is_v6)
{
    const struct spn_value *ips = spn_value_dig(pod, "status", "podIPs");
    struct spn_value *all = spn_value_new(a, SPN_ARRAY);
    struct spn_text found;
    for (size_t i = 0; i < spn_value_count(ips); i++)
        if (read_address(a, spn_value_at(ips, i), is_v6, &found))
            spn_value_push(a, all, spn_value_new_text(a, found));
    return all;
}

struct spn_value *backend_ref(struct spn_arena *a, const struct spn_value *pod)
{
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ref, "kind", SPN_TEXT("Pod"));
    spn_value_set_text(a, ref, "namespace", text_at(pod, "metadata", "namespace"));
    spn_value_set_text(a, ref, "name", text_at(pod, "metadata", "name"));
    spn_value_set_text(a, ref, "uid", text_at(pod, "metadata", "uid"));
    return ref;
}

/* ---- Ports ---- */

static struct spn_text protocol_of(const struct spn_value *port)
{
    struct spn_text p = spn_value_text(spn_value_get(port, "protocol"));
    return p.n ? p : SPN_TEXT("TCP");
}

static bool find_named(const struct spn_value *container, struct spn_text name,
                       struct spn_text protocol, int64_t *ret)
{
    const struct spn_value *ports = spn_value_get(container, "ports");
    for (size_t i = 0; i < spn_value_count(ports); i++) {
        const struct spn_value *p = spn_value_at(ports, i);
        if (spn_text_eq(spn_value_text(spn_value_get(p, "name")), name) &&
            spn_text_eq(protocol_of(p), protocol))
            return spn_value_int(spn_value_get(p, "containerPort"), ret);
    }
    return false;
}

/* Sidecars are init containers that stay. */
static bool is_sidecar(const struct spn_value *container)
{
    return spn_text_eq(spn_value_text(spn_value_get(container, "restartPolicy")),
                       SPN_TEXT("Always"));
}

bool backend_port(const struct spn_value *pod, const struct spn_value *service_port, int64_t *ret)
{
    const struct spn_value *target = spn_value_get(service_port, "targetPort");
    if (spn_value_int(target, ret))
        return true;
    struct spn_text name = spn_value_text(target), protocol = protocol_of(service_port);
    const struct spn_value *all = spn_value_dig(pod, "spec", "containers");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (find_named(spn_value_at(all, i), name, protocol, ret))
            return true;
    all = spn_value_dig(pod, "spec", "initContainers");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (is_sidecar(spn_value_at(all, i)) &&
            find_named(spn_value_at(all, i), name, protocol, ret))
            return true;
    return false;
}

/* ---- Changes ---- */

bool backend_differs(const struct spn_value *old_pod, const struct spn_value *new_pod)
{
    return !spn_value_eq(spn_value_dig(old_pod, "metadata", "labels"),
                         spn_value_dig(new_pod, "metadata", "labels")) ||
           !spn_value_eq(spn_value_dig(old_pod, "status", "podIPs"),
                         spn_value_dig(new_pod, "status", "podIPs")) ||
           meta_is_deleting(old_pod) != meta_is_deleting(new_pod) ||
           pod_is_ready(old_pod) != pod_is_ready(new_pod) ||
           backend_counts(old_pod, true) != backend_counts(new_pod, true) ||
           !spn_text_eq(text_at(old_pod, "spec", "hostname"), text_at(new_pod, "spec", "hostname"));
}

/* Times of objects are all in one format, so their text has their order. */
static bool is_later(struct spn_text a, struct spn_text b)
{
    return a.n && (!b.n || (a.n == b.n && memcmp(a.p, b.p, a.n) > 0));
}

struct spn_text backend_trigger(struct spn_arena *a, const struct spn_value *service,
                                const struct spn_value *const *pods, size_t n_pods)
{
    struct spn_text newest = text_at(service, "metadata", "creationTimestamp");
    for (size_t i = 0; i < n_pods; i++) {
        struct spn_text t = spn_value_text(
            spn_value_get(spn_condition_get(pods[i], "Ready"), "lastTransitionTime"));
        if (is_later(t, newest))
            newest = t;
    }
    return spn_arena_text(a, newest);
}

/* ---- Services ---- */

bool service_has_selector(const struct spn_value *service)
{
    return spn_value_count(spn_value_dig(service, "spec", "selector")) > 0;
}

bool service_selects(const struct spn_value *service, const struct spn_value *pod_labels)
{
    const struct spn_value *selector = spn_value_dig(service, "spec", "selector");
    for (size_t i = 0; i < spn_value_count(selector); i++) {
        const struct spn_value *has = spn_value_get_text(pod_labels, spn_value_key_at(selector, i));
        if (!has || !spn_text_eq(spn_value_text(has), spn_value_text(spn_value_at(selector, i))))
            return false;
    }
    return service_has_selector(service);
}

bool service_is_external(const struct spn_value *service)
{
    return spn_text_eq(text_at(service, "spec", "type"), SPN_TEXT("ExternalName"));
}

bool service_says_none(const struct spn_value *service)
{
    return spn_text_eq(text_at(service, "spec", "clusterIP"), SPN_TEXT("None"));
}

bool service_has_ip(const struct spn_value *service)
{
    return text_at(service, "spec", "clusterIP").n && !service_says_none(service);
}

bool service_publishes_unready(const struct spn_value *service)
{
    return spn_value_is_true(spn_value_dig(service, "spec", "publishNotReadyAddresses"));
}
