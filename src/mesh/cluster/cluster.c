#include "mesh/cluster/cluster.h"

#include "mesh/cluster/policy.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

struct str cluster_name(struct arena *a, const char *direction, int port, struct str subset,
                        struct str host)
{
    return arena_printf(a, "%s|%d|" STR_FMT "|" STR_FMT, direction, port, STR_ARG(subset),
                        STR_ARG(host));
}

static bool is_in_subset(const struct mesh_endpoint *e, const struct value *subset)
{
    return !subset || realm_selects(value_get(subset, STR("labels")), e->labels);
}

static struct value endpoint_tree(struct arena *a, const struct mesh_endpoint *e)
{
    bool is_pipe = str_starts(e->address, STR("unix://"));
    struct value address =
        is_pipe ? tree(a, "{pipe: {path: %s}}", str_skip(e->address, 7))
                : tree(a, "{socket_address: {address: %s, port_value: %d}}", e->address, e->port);
    struct value out = tree(a, "{endpoint: {address: %v}, load_balancing_weight: %d}", address,
                            e->weight > 0 ? e->weight : 1);
    if (e->is_mutual)
        value_put(a, &out, STR("metadata"),
                  tree(a, "{filter_metadata: {envoy.transport_socket_match: {tlsMode: istio}}}"));
    return out;
}

/* "region/zone/subzone" */
static struct value locality_tree(struct arena *a, struct str s)
{
    if (!s.n)
        return value_null();
    struct str region = str_cut(&s, '/'), zone = str_cut(&s, '/');
    return tree(a, "{region: %s, zone: %s, sub_zone: %s}", region, zone, s);
}

static struct value assignment(struct arena *a, const struct mesh_port *port,
                               const struct value *subset, struct str name)
{
    struct value groups = value_array();
    for (size_t i = 0; i < port->n_endpoints; i++) {
        const struct mesh_endpoint *first = &port->endpoints[i];
        bool is_known = false;
        for (size_t k = 0; k < i; k++)
            is_known = is_known || str_eq(port->endpoints[k].locality, first->locality);
        if (is_known)
            continue;
        struct value list = value_array();
        int64_t weight = 0;
        for (size_t k = i; k < port->n_endpoints; k++) {
            const struct mesh_endpoint *e = &port->endpoints[k];
            if (!e->is_ready || !is_in_subset(e, subset) || !str_eq(e->locality, first->locality))
                continue;
            value_put_item(a, &list, endpoint_tree(a, e));
            weight += e->weight > 0 ? e->weight : 1;
        }
        if (list.n)
            value_put_item(a, &groups,
                           tree(a, "{locality: %v, lb_endpoints: %v, load_balancing_weight: %v}",
                                locality_tree(a, first->locality), list, value_int(weight)));
    }
    return tree(a, "{cluster_name: %s, endpoints: %v}", name, groups);
}

static struct value base_cluster(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                                 const struct mesh_service *s, const struct mesh_port *port,
                                 const struct value *subset, struct str name)
{
    struct value out = tree(a, "{name: %s, connect_timeout: %s, common_lb_config: {}}", name,
                            w->settings.connect_timeout);
    bool is_eds = s->resolution == RESOLUTION_STATIC ||
                  (s->resolution == RESOLUTION_NONE && s->is_kubernetes && p->is_router);
    if (is_eds) {
        value_put(a, &out, STR("type"), value_string(STR("EDS")));
        value_put(a, &out, STR("eds_cluster_config"),
                  tree(a,
                       "{service_name: %s, eds_config: {ads: {}, resource_api_version: V3, "
                       "initial_fetch_timeout: '0s'}}",
                       name));
    } else if (s->resolution == RESOLUTION_NONE) {
        value_put(a, &out, STR("type"), value_string(STR("ORIGINAL_DST")));
    } else {
        bool is_logical = s->resolution == RESOLUTION_DNS_ROUND_ROBIN;
        value_put(a, &out, STR("type"),
                  value_string(is_logical ? STR("LOGICAL_DNS") : STR("STRICT_DNS")));
        value_put(a, &out, STR("dns_lookup_family"), value_string(STR("V4_ONLY")));
        value_put(a, &out, STR("dns_refresh_rate"), value_string(STR("60s")));
        value_put(a, &out, STR("respect_dns_ttl"), value_bool(true));
        value_put(a, &out, STR("load_assignment"), assignment(a, port, subset, name));
    }
    return out;
}

static struct value config_note(struct arena *a, const struct mesh_rule *rule)
{
    if (!rule)
        return value_null();
    struct str path = arena_printf(
        a, "/apis/networking.istio.io/v1/namespaces/" STR_FMT "/destination-rule/" STR_FMT,
        STR_ARG(rule->ns), STR_ARG(rule->name));
    return tree(a, "{filter_metadata: {istio: {config: %s}}}", path);
}

static void add_cluster(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        const struct mesh_service *s, const struct mesh_port *port,
                        const struct mesh_rule *rule, const struct value *subset, struct value *out)
{
    struct str label = subset ? value_text(subset, "name") : STR("");
    struct str name = cluster_name(a, "outbound", port->number, label, s->host);
    struct value c = base_cluster(a, w, p, s, port, subset, name);
    if (str_eq(value_text(&c, "type"), STR("LOGICAL_DNS")) ||
        str_eq(value_text(&c, "type"), STR("STRICT_DNS"))) {
        const struct value *groups = value_dig(&c, "load_assignment", "endpoints");
        if (!tree_has(groups)) /* such a cluster needs one */
            return;
    }
    struct value policy = policy_merge(a, rule, subset, port->number);
    policy_apply(a, w, p, s, port, label, &policy, &c);
    tree_put(a, &c, "metadata", config_note(a, rule));
    value_put_item(a, out, c);
}

static void add_service(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        const struct mesh_service *s, struct value *out)
{
    if (s->resolution == RESOLUTION_ALIAS)
        return;
    const struct mesh_rule *rule = realm_rule_for(w, s, p->ns, p->labels);
    for (size_t i = 0; i < s->n_ports; i++) {
        if (s->ports[i].protocol == PROTOCOL_UDP)
            continue;
        add_cluster(a, w, p, s, &s->ports[i], rule, NULL, out);
        if (rule) {
            value_each_item (subset, &rule->subsets)
                add_cluster(a, w, p, s, &s->ports[i], rule, subset, out);
        }
    }
}

/* An application behind a sidecar. */
static struct value local_cluster(struct arena *a, const struct realm *w, struct str name,
                                  struct str address, int port, enum mesh_protocol protocol)
{
    bool is_pipe = str_starts(address, STR("unix://"));
    struct value where =
        is_pipe ? tree(a, "{pipe: {path: %s}}", str_skip(address, 7))
                : tree(a, "{socket_address: {address: %s, port_value: %d}}", address, port);
    struct value out =
        tree(a,
             "{name: %s, type: STATIC, connect_timeout: %s, load_assignment: {cluster_name: %s, "
             "endpoints: [{lb_endpoints: [{endpoint: {address: %v}}]}]}, circuit_breakers: "
             "{thresholds: [{max_connections: %v, max_pending_requests: %v, max_requests: %v, "
             "max_retries: %v}]}}",
             name, w->settings.connect_timeout, name, where, value_int(4294967295),
             value_int(4294967295), value_int(4294967295), value_int(4294967295));
    if (protocol_is_http2(protocol))
        value_put(a, &out, STR("typed_extension_protocol_options"),
                  tree(a, "{envoy.extensions.upstreams.http.v3.HttpProtocolOptions: %v}",
                       tree_any(a, "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                                tree(a, "{explicit_http_config: {http2_protocol_options: {}}}"))));
    return out;
}

/* "127.0.0.1:8080", "unix:///x", ":8080" or "0.0.0.0:8080" of Sidecar.ingress. */
static void add_ingress(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        const struct mesh_scope *scope, struct value *out)
{
    value_each_item (it, value_get(scope->sidecar->spec, STR("ingress"))) {
        struct str where = value_text(it, "defaultEndpoint");
        int64_t number = 0;
        uint64_t port = 0;
        (void)value_to_int(value_dig(it, "port", "number"), &number);
        struct str name = arena_printf(a, "inbound|%d||", (int)number);
        enum mesh_protocol protocol = protocol_parse(value_str(value_dig(it, "port", "protocol")));
        if (str_starts(where, STR("unix://"))) {
            value_put_item(a, out, local_cluster(a, w, name, where, 0, protocol));
            continue;
        }
        struct str rest = where, address = str_cut(&rest, ':');
        if (!str_to_u64(rest, &port) || port > 65535)
            port = (uint64_t)number;
        if (!address.n || str_eq(address, STR("0.0.0.0")))
            address = str_eq(address, STR("0.0.0.0")) ? p->ip : STR("127.0.0.1");
        value_put_item(a, out, local_cluster(a, w, name, address, (int)port, protocol));
    }
}

/* One for each port that a service has at this proxy. */
static void add_own(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                    struct value *out)
{
    for (size_t i = 0; i < w->services.n; i++) {
        const struct mesh_service *s = w->services.items[i];
        for (size_t k = 0; k < s->n_ports; k++) {
            for (size_t e = 0; e < s->ports[k].n_endpoints; e++) {
                const struct mesh_endpoint *ep = &s->ports[k].endpoints[e];
                if (!str_eq(ep->address, p->ip) || !str_eq(ep->ns, p->ns))
                    continue;
                struct str name = arena_printf(a, "inbound|%d||", ep->port);
                bool is_there = false;
                value_each_item (c, out)
                    is_there = is_there || str_eq(value_text(c, "name"), name);
                if (!is_there)
                    value_put_item(a, out,
                                   local_cluster(a, w, name, STR("127.0.0.1"), ep->port,
                                                 s->ports[k].protocol));
            }
        }
    }
}

static void add_fixed(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                      struct value *out)
{
    value_put_item(a, out,
                   tree(a, "{name: BlackHoleCluster, type: STATIC, connect_timeout: %s}",
                        w->settings.connect_timeout));
    if (p->is_router)
        return;
    static const char *const names[] = { "PassthroughCluster", "InboundPassthroughCluster" };
    for (size_t i = 0; i < 2; i++)
        value_put_item(
            a, out,
            tree(a,
                 "{name: %t, type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED, connect_timeout: %s, "
                 "typed_extension_protocol_options: "
                 "{envoy.extensions.upstreams.http.v3.HttpProtocolOptions: %v}}",
                 names[i], w->settings.connect_timeout,
                 tree_any(a, "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                          tree(a, "{use_downstream_protocol_config: {http_protocol_options: {}, "
                                  "http2_protocol_options: {}}}"))));
}

struct value clusters_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           const struct mesh_scope *scope)
{
    struct value out = value_array();
    for (size_t i = 0; i < scope->services.n; i++)
        add_service(a, w, p, scope->services.items[i], &out);
    if (!p->is_router) {
        if (scope->sidecar && tree_has(value_get(scope->sidecar->spec, STR("ingress"))))
            add_ingress(a, w, p, scope, &out);
        else
            add_own(a, w, p, &out);
    }
    add_fixed(a, w, p, &out);
    return out;
}

struct value cluster_endpoints(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                               const struct mesh_scope *scope, struct str name)
{
    struct str rest = name;
    struct str direction = str_cut(&rest, '|'), number = str_cut(&rest, '|');
    struct str label = str_cut(&rest, '|');
    const struct mesh_service *s = scope_service(scope, rest);
    uint64_t port = 0;
    if (!str_eq(direction, STR("outbound")) || !s || !str_to_u64(number, &port) || port > 65535)
        return value_null();
    const struct mesh_port *of = service_port(s, (int)port);
    if (!of)
        return value_null();
    const struct value *subset = NULL;
    if (label.n) {
        const struct mesh_rule *rule = realm_rule_for(w, s, p->ns, p->labels);
        if (!rule)
            return value_null();
        value_each_item (it, &rule->subsets) {
            if (str_eq(value_text(it, "name"), label))
                subset = it;
        }
        if (!subset)
            return value_null();
    }
    return assignment(a, of, subset, name);
}
