/* Whether a node takes a pod that somebody has given it: pod_is_admitted(). */
#include <unistd.h>

#include "api/keys.h"
#include "api/resource_name.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_config.h"
#include "node/pod/pod_spec.h"
#include "node/pod/sysctls.h"
#include "select/node_match.h"
#include "base/banned.h"

struct admission {
    const struct node_facts *node;
    const struct value *object, *pod;
    const struct value *const *others;
    size_t n_others;
    struct arena *arena;
    struct str reason, message;
};

static bool refuse(struct admission *ad, struct str reason, struct str message)
{
    ad->reason = reason;
    ad->message = message;
    return false;
}

static bool refuse_predicate(struct admission *ad, const char *name, const char *why)
{
    return refuse(ad, arena_printf(ad->arena, "%s", name),
                  arena_printf(ad->arena, "Predicate %s failed: %s", name, why));
}

/* ---- Resources ---- */

static struct str allocatable(const struct admission *ad, struct str name)
{
    const struct value *of_object = value_dig(ad->object, "status", "allocatable");
    return value_str(value_get(of_object ? of_object : &ad->node->allocatable, name));
}

/* One that nobody but a driver knows: it has a domain which is not Kubernetes' own. */
static bool is_extended(struct str name)
{
    struct str rest = name, domain = str_cut(&rest, '/');
    return rest.p && !str_ends(domain, STR("kubernetes.io")) && !str_starts(name, STR("requests."));
}

static bool fits(struct admission *ad, struct str name)
{
    const bool is_cpu = str_eq(name, STR("cpu"));
    int64_t (*count)(struct str) = is_cpu ? amount_milli : amount_units;
    struct str has = allocatable(ad, name);
    const int64_t wanted = count(pod_amount(ad->arena, ad->pod, STR("requests"), name, true));
    const int64_t capacity = count(has);
    int64_t used = 0;
    if (wanted == 0 || (is_extended(name) && !has.n))
        return true;
    for (size_t i = 0; i < ad->n_others; i++)
        used += count(pod_amount(ad->arena, ad->others[i], STR("requests"), name, true));
    if (wanted <= capacity - used)
        return true;
    return refuse(ad, arena_printf(ad->arena, "OutOf" STR_FMT, STR_ARG(name)),
                  arena_printf(ad->arena,
                               "Node didn't have enough resource: " STR_FMT
                               ", requested: %lld, used: %lld, capacity: %lld",
                               STR_ARG(name), (long long)wanted, (long long)used,
                               (long long)capacity));
}

static bool fits_others_of(struct admission *ad, const struct value *resources)
{
    value_each_field (f, value_get(resources, STR("requests")))
        if (!resource_is_cpu_or_memory(f->key) && !str_eq(f->key, STR("ephemeral-storage")) &&
            !fits(ad, f->key))
            return false;
    return true;
}

static bool fits_resources(struct admission *ad)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    const struct value *spec = pod_spec(ad->pod);
    const int64_t room = amount_units(allocatable(ad, STR("pods")));
    if ((int64_t)ad->n_others + 1 > room)
        return refuse(ad, STR("OutOfpods"),
                      arena_printf(ad->arena,
                                   "Node didn't have enough resource: pods, requested: 1, used: "
                                   "%zu, capacity: %lld",
                                   ad->n_others, (long long)room));
    if (!fits(ad, STR("cpu")) || !fits(ad, STR("memory")) || !fits(ad, STR("ephemeral-storage")))
        return false;
    if (!fits_others_of(ad, value_get(spec, STR("resources"))))
        return false;
    for (size_t i = 0; i < 2; i++)
        value_each_item (c, value_get(spec, lists[i]))
            if (!fits_others_of(ad, value_get(c, STR("resources"))))
                return false;
    return true;
}

/* ---- The node itself ---- */

static bool fits_affinity(struct admission *ad)
{
    struct label_set labels =
        label_set_read(ad->arena, value_dig(ad->object, "metadata", "labels"));
    const struct value *required = value_dig(ad->pod, "spec", "affinity", "nodeAffinity",
                                             "requiredDuringSchedulingIgnoredDuringExecution");
    bool is_good = true;
    value_each_field (f, value_dig(ad->pod, "spec", "nodeSelector")) {
        struct str value = label_get(labels, f->key);
        is_good = is_good && value.p && str_eq(value, value_str(&f->val));
    }
    if (is_good && value_is(required, VALUE_OBJECT)) {
        struct node_terms terms =
            node_terms_read(ad->arena, value_get(required, STR("nodeSelectorTerms")), false);
        is_good = node_terms_hold(terms, ad->node->name, labels);
    }
    return is_good || refuse_predicate(ad, "NodeAffinity",
                                       "node(s) didn't match Pod's node affinity/selector");
}

static bool fits_name(struct admission *ad)
{
    struct str name = value_str(value_dig(ad->pod, "spec", "nodeName"));
    return !name.n || str_eq(name, ad->node->name) ||
           refuse_predicate(ad, "NodeName", "node(s) didn't match the requested node name");
}

static bool fits_taints(struct admission *ad)
{
    if (pod_is_static(ad->pod))
        return true;
    struct tolerations by = tolerations_read(ad->arena, value_dig(ad->pod, "spec", "tolerations"));
    value_each_item (it, value_dig(ad->object, "spec", "taints")) {
        const struct taint t = taint_read(it);
        if (str_eq(t.effect, STR("NoExecute")) && !taint_tolerated(&t, by))
            return refuse_predicate(ad, "TaintToleration",
                                    "node(s) had taints that the pod didn't tolerate");
    }
    return true;
}

/* ---- Ports of the node ---- */

static int64_t host_port(const struct value *port)
{
    int64_t n = 0;
    (void)value_to_int(value_get(port, STR("hostPort")), &n);
    return n;
}

static struct str host_ip(const struct value *port)
{
    struct str ip = value_text(port, "hostIP");
    return ip.n ? ip : STR("0.0.0.0");
}

static struct str protocol_of(const struct value *port)
{
    struct str protocol = value_text(port, "protocol");
    return protocol.n ? protocol : STR("TCP");
}

static bool ports_clash(const struct value *one, const struct value *other)
{
    struct str ip = host_ip(one), other_ip = host_ip(other);
    return host_port(one) == host_port(other) && str_eq(protocol_of(one), protocol_of(other)) &&
           (str_eq(ip, other_ip) || str_eq(ip, STR("0.0.0.0")) || str_eq(other_ip, STR("0.0.0.0")));
}

/* Whether one of a pod's containers that keep running has this port of the node. */
static bool has_port(const struct value *pod, const struct value *wanted)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    for (size_t i = 0; i < 2; i++)
        value_each_item (c, value_get(pod_spec(pod), lists[i])) {
            if (i == 1 && !str_eq(value_text(c, "restartPolicy"), STR("Always")))
                continue;
            value_each_item (port, value_get(c, STR("ports")))
                if (host_port(port) && ports_clash(port, wanted))
                    return true;
        }
    return false;
}

static bool is_port_free(struct admission *ad, const struct value *port)
{
    for (size_t i = 0; host_port(port) && i < ad->n_others; i++)
        if (has_port(ad->others[i], port))
            return refuse_predicate(ad, "NodePorts",
                                    "node(s) didn't have free ports for the requested pod ports");
    return true;
}

static bool fits_ports(struct admission *ad)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    for (size_t i = 0; i < 2; i++)
        value_each_item (c, value_get(pod_spec(ad->pod), lists[i])) {
            if (i == 1 && !str_eq(value_text(c, "restartPolicy"), STR("Always")))
                continue;
            value_each_item (port, value_get(c, STR("ports")))
                if (!is_port_free(ad, port))
                    return false;
        }
    return true;
}

/* ---- What the node cannot do ---- */

static bool fits_system(struct admission *ad)
{
    struct str label = value_str(value_dig(ad->pod, "metadata", "labels", "kubernetes.io/os"));
    struct str os = value_str(value_dig(ad->pod, "spec", "os", "name"));
    struct str policy =
        value_str(value_dig(ad->pod, "spec", "securityContext", "supplementalGroupsPolicy"));
    if (label.n && !str_eq(label, STR("linux")))
        return refuse(ad, STR("PodOSSelectorNodeLabelDoesNotMatch"),
                      STR("Failed to admit pod as the `kubernetes.io/os` label doesn't match node "
                          "label"));
    if (os.n && !str_eq(os, STR("linux")))
        return refuse(ad, STR("PodOSNotSupported"),
                      STR("Failed to admit pod as the OS field doesn't match node OS"));
    if (str_eq(policy, STR("Strict")) &&
        !value_is_true(value_dig(ad->object, "status", "features", "supplementalGroupsPolicy")))
        return refuse(ad, STR("SupplementalGroupsPolicyNotSupported"),
                      STR("SupplementalGroupsPolicy=Strict is not supported in this node"));
    return true;
}

static bool wants_no_apparmor(void *arg, const struct value *container)
{
    (void)arg;
    struct str type = value_str(value_dig(container, "securityContext", "appArmorProfile", "type"));
    return !type.n || str_eq(type, STR("Unconfined"));
}

static bool wants_apparmor(const struct value *pod)
{
    struct str type =
        value_str(value_dig(pod, "spec", "securityContext", "appArmorProfile", "type"));
    if ((type.n && !str_eq(type, STR("Unconfined"))) ||
        !pod_each_container(pod, wants_no_apparmor, NULL))
        return true;
    value_each_field (f, value_dig(pod, "metadata", "annotations"))
        if (str_starts(f->key, STR(KEY_BETA_APPARMOR_CONTAINER)))
            return !str_eq(value_str(&f->val), STR("unconfined"));
    return false;
}

static bool has_apparmor(void)
{
    return access("/sys/kernel/security/apparmor", F_OK) == 0;
}

static bool fits_apparmor(struct admission *ad)
{
    struct str phase = value_str(value_dig(ad->pod, "status", "phase"));
    if ((phase.n && !str_eq(phase, STR("Pending"))) || !wants_apparmor(ad->pod) || has_apparmor())
        return true;
    return refuse(ad, STR("AppArmor"),
                  STR("Cannot enforce AppArmor: AppArmor is not enabled on the host"));
}

static bool fits_sysctls(struct admission *ad)
{
    struct err err = ERR_INIT(ad->arena);
    if (sysctls_check(ad->arena, ad->node, ad->pod, &err) == 0)
        return true;
    return refuse(ad, STR("SysctlForbidden"), err.msg);
}

bool pod_is_admitted(const struct node_facts *node, const struct value *node_object,
                     const struct value *pod, const struct value *const *others, size_t n_others,
                     struct arena *a, struct str *ret_reason, struct str *ret_message)
{
    struct admission ad = { node, node_object, pod, others, n_others, a, { 0 }, { 0 } };
    const bool is_good =
        fits_sysctls(&ad) &&
        (node_object ||
         refuse(&ad, STR("InvalidNodeInfo"), STR("Kubelet cannot get node info."))) &&
        fits_system(&ad) && fits_resources(&ad) && fits_affinity(&ad) && fits_name(&ad) &&
        fits_ports(&ad) && fits_taints(&ad) && fits_apparmor(&ad);
    *ret_reason = ad.reason;
    *ret_message = ad.message;
    return is_good;
}
