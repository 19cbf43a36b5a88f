/* The core group, without pods and workloads. */
#include "api/defaults/defaults_rules.h"

#include "base/base64.h"
#include "base/banned.h"

/* ---- Services ---- */

enum { CLIENT_IP_TIMEOUT_SECONDS = 3 * 60 * 60 };

/* All or nothing: what else the configuration said is lost with the missing timeout. */
static void default_client_ip(struct arena *a, struct value *spec)
{
    int64_t seconds;
    if (value_to_int(value_dig(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds"),
                     &seconds))
        return;
    struct value client_ip = value_object(), config = value_object();
    value_put_new(a, &client_ip, STR("timeoutSeconds"), value_int(CLIENT_IP_TIMEOUT_SECONDS));
    value_put_new(a, &config, STR("clientIP"), client_ip);
    value_put(a, spec, STR("sessionAffinityConfig"), config);
}

static void default_traffic(struct arena *a, struct value *spec)
{
    struct str type = value_text(spec, "type");
    bool is_balanced = str_eq(type, STR("LoadBalancer"));
    bool is_inner = str_eq(type, STR("ClusterIP"));
    bool is_outer = is_balanced || str_eq(type, STR("NodePort"));
    bool has_outer_ips = !defaults__is_zero(value_get(spec, STR("externalIPs")));
    struct value cluster = value_string(STR("Cluster"));
    if (is_outer || (is_inner && has_outer_ips))
        defaults__fill_zero(a, spec, STR("externalTrafficPolicy"), cluster);
    if (is_outer || is_inner)
        defaults__fill(a, spec, STR("internalTrafficPolicy"), cluster);
    if (is_balanced)
        defaults__fill(a, spec, STR("allocateLoadBalancerNodePorts"), value_bool(true));
}

void defaults__service_spec(struct arena *a, struct value *spec)
{
    if (defaults__is_text(spec, STR("sessionAffinity"), STR("None")))
        value_drop(a, spec, STR("sessionAffinityConfig"));
    else if (defaults__is_text(spec, STR("sessionAffinity"), STR("ClientIP")))
        default_client_ip(a, spec);
    default_traffic(a, spec);
}

void defaults__service_port(struct arena *a, struct value *port)
{
    const struct value *number = value_get(port, STR("port"));
    if (value_is(number, VALUE_INT))
        defaults__fill_zero(a, port, STR("targetPort"), *number);
}

/* What the balancer reports of itself. */
void defaults__service(struct arena *a, struct value *service)
{
    if (!str_eq(value_str(value_dig(service, "spec", "type")), STR("LoadBalancer")) ||
        !value_is(value_dig(service, "status", "loadBalancer", "ingress"), VALUE_ARRAY))
        return;
    struct value *status = value_edit(a, service, STR("status"));
    struct value *balancer = value_edit(a, status, STR("loadBalancer"));
    struct value *points = value_edit(a, balancer, STR("ingress"));
    for (size_t i = 0; i < points->n; i++) {
        struct value *point = value_edit_at(a, points, i);
        if (value_text(point, "ip").n)
            defaults__fill(a, point, STR("ipMode"), value_string(STR("VIP")));
    }
}

/* ---- Secrets ---- */

static struct value encoded(struct arena *a, const struct value *map)
{
    struct value out = value_object();
    autobuf text = { 0 };
    value_each_field (f, map) {
        buf_reset(&text);
        base64_encode(&text, value_str(&f->val));
        value_put_new(a, &out, f->key, value_string(arena_str(a, buf_str(&text))));
    }
    return out;
}

/* `stringData` is for writing only: it ends up in `data`, whatever that had under the same keys. */
void defaults__secret(struct arena *a, struct value *secret)
{
    const struct value *given = value_get(secret, STR("stringData"));
    if (!given)
        return;
    struct value bytes = encoded(a, given), old = value_null();
    const struct value *data = value_get(secret, STR("data"));
    if (data)
        old = value_borrow(data);
    if (bytes.n) {
        value_put(a, secret, STR("data"), bytes);
        defaults__fill_map(a, secret, STR("data"), &old);
    }
    value_drop(a, secret, STR("stringData"));
}

/* ---- The rest ---- */

/* Not of the type of its spec, which a VolumeAttachment has too. */
void defaults__persistent_volume(struct arena *a, struct value *volume)
{
    struct value *spec = value_ensure(a, volume, STR("spec"));
    if (!spec)
        return;
    defaults__fill_zero(a, spec, STR("persistentVolumeReclaimPolicy"), value_string(STR("Retain")));
    defaults__fill(a, spec, STR("volumeMode"), value_string(STR("Filesystem")));
}

/* One that is still to get its name has the label to come. */
void defaults__namespace(struct arena *a, struct value *ns)
{
    struct str name = value_str(value_dig(ns, "metadata", "name"));
    struct value *meta = name.n ? value_edit(a, ns, STR("metadata")) : NULL;
    struct value *labels = meta ? value_ensure(a, meta, STR("labels")) : NULL;
    if (labels)
        value_put(a, labels, STR("kubernetes.io/metadata.name"), value_string(name));
}

/* The same as with the addresses of a Pod. Upstream does it when it converts. */
void defaults__node_spec(struct arena *a, struct value *spec)
{
    struct str first = value_str(value_at(value_get(spec, STR("podCIDRs")), 0));
    struct str cidr = value_text(spec, "podCIDR");
    if (str_eq(cidr, first))
        return;
    if (!cidr.n) {
        value_put(a, spec, STR("podCIDR"), value_string(first));
        return;
    }
    struct value list = value_array();
    value_put_item(a, &list, value_string(cidr));
    value_put(a, spec, STR("podCIDRs"), list);
}

void defaults__node_status(struct arena *a, struct value *status)
{
    struct value *capacity = value_edit(a, status, STR("capacity"));
    if (!defaults__is_zero(capacity))
        defaults__fill_zero(a, status, STR("allocatable"), value_share(capacity));
}

void defaults__limit_range_item(struct arena *a, struct value *item)
{
    if (!defaults__is_text(item, STR("type"), STR("Container")))
        return;
    defaults__fill_map(a, item, STR("default"), value_get(item, STR("max")));
    defaults__fill_map(a, item, STR("defaultRequest"), value_get(item, STR("default")));
    defaults__fill_map(a, item, STR("defaultRequest"), value_get(item, STR("min")));
}
