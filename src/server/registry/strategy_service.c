/* What a Service keeps and what it gives up when its type changes. service_claim.c gives and takes
 * back addresses and ports. */
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

static bool is_type(const struct value *spec, const char *type)
{
    return str_eq(value_text(spec, "type"), str_of(type));
}

static bool needs_node_port(const struct value *spec)
{
    return is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");
}

static bool needs_health_port(const struct value *spec)
{
    return is_type(spec, "LoadBalancer") &&
           str_eq(value_text(spec, "externalTrafficPolicy"), STR("Local"));
}

static bool is_external(const struct value *spec)
{
    const struct value *ips = value_get(spec, STR("externalIPs"));
    return needs_node_port(spec) ||
           (is_type(spec, "ClusterIP") && value_is(ips, VALUE_ARRAY) && ips->n);
}

static bool same(const struct value *spec, const struct value *old_spec, struct str field)
{
    return strategy__same(value_get(spec, field), value_get(old_spec, field));
}

static bool had_node_port(const struct value *old_spec, const struct value *port)
{
    value_each_item (it, value_get(old_spec, STR("ports")))
        if (strategy__same(value_get(it, STR("nodePort")), port))
            return true;
    return false;
}

static bool brings_no_node_port(const struct value *spec, const struct value *old_spec)
{
    value_each_item (it, value_get(spec, STR("ports"))) {
        const struct value *port = value_get(it, STR("nodePort"));
        if (port && !had_node_port(old_spec, port))
            return false;
    }
    return true;
}

static void drop_node_ports(struct arena *a, struct value *spec)
{
    struct value *ports = value_edit(a, spec, STR("ports"));
    for (size_t i = 0; value_is(ports, VALUE_ARRAY) && i < ports->n; i++) {
        struct value *port = value_edit_at(a, ports, i);
        if (port->type == VALUE_OBJECT)
            value_drop(a, port, STR("nodePort"));
    }
}

/* The new type has no addresses. Fields that the client did not change are dropped. Fields that it
 * changed stay, and validation refuses them. */
static void drop_cluster_ips(struct arena *a, struct value *spec, const struct value *old_spec)
{
    if (same(spec, old_spec, STR("clusterIP")) && same(spec, old_spec, STR("clusterIPs"))) {
        value_drop(a, spec, STR("clusterIP"));
        value_drop(a, spec, STR("clusterIPs"));
    }
    if (same(spec, old_spec, STR("ipFamilies")))
        value_drop(a, spec, STR("ipFamilies"));
    if (same(spec, old_spec, STR("ipFamilyPolicy")))
        value_drop(a, spec, STR("ipFamilyPolicy"));
}

/* An ExternalName has no traffic. A policy that is not valid stays, and validation refuses it. */
static void drop_internal_policy(struct arena *a, struct value *spec)
{
    struct str field = STR("internalTrafficPolicy"), policy = value_str(value_get(spec, field));
    if (is_type(spec, "ExternalName") &&
        (str_eq(policy, STR("Cluster")) || str_eq(policy, STR("Local"))))
        value_drop(a, spec, field);
}

static void create_service(const struct strategy *s, struct value *obj)
{
    drop_internal_policy(s->arena, value_ensure(s->arena, obj, STR("spec")));
}

static void update_service(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    struct arena *a = s->arena;
    const struct value *old_spec = value_get(old_obj, STR("spec"));
    struct value *spec = value_ensure(a, obj, STR("spec"));
    if (!is_type(old_spec, "ExternalName") && is_type(spec, "ExternalName"))
        drop_cluster_ips(a, spec, old_spec);
    if (needs_node_port(old_spec) && !needs_node_port(spec) && brings_no_node_port(spec, old_spec))
        drop_node_ports(a, spec);
    if (needs_health_port(old_spec) && !needs_health_port(spec) &&
        same(spec, old_spec, STR("healthCheckNodePort")))
        value_drop(a, spec, STR("healthCheckNodePort"));
    bool was_balanced = is_type(old_spec, "LoadBalancer"), balanced = is_type(spec, "LoadBalancer");
    if (was_balanced && !balanced && same(spec, old_spec, STR("allocateLoadBalancerNodePorts")))
        value_drop(a, spec, STR("allocateLoadBalancerNodePorts"));
    if (was_balanced && !balanced && same(spec, old_spec, STR("loadBalancerClass")))
        value_drop(a, spec, STR("loadBalancerClass"));
    if (is_external(old_spec) && !is_external(spec) &&
        same(spec, old_spec, STR("externalTrafficPolicy")))
        value_drop(a, spec, STR("externalTrafficPolicy"));
    drop_internal_policy(a, spec);
    if (!balanced)
        value_put(a, value_ensure(a, obj, STR("status")), STR("loadBalancer"), value_object());
}

const struct strategy_rules strategy__service[] = {
    { STR(""), STR("services"), STRATEGY_UPSERT | STRATEGY_CLAIMS, .create = create_service,
      .update = update_service },
    { .group = { NULL, 0 } },
};
