/* Listeners of sidecars: what the application asks for, and what others ask of it. */
#include "mesh/cluster/cluster.h"
#include "mesh/cluster/policy.h"
#include "mesh/listener/listener_internal.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "mesh/route/route.h"
#include "mesh/security/security.h"
#include "base/banned.h"

enum { OUTBOUND_PORT = 15001, INBOUND_PORT = 15006 };

/* One listener on its way. */
struct entry {
    struct str bind;
    int port;
    bool binds; /* to the port; else what iptables brings is handed to it */
    bool is_http, is_locked;
    bool needs_tls, needs_http;
    struct value chains;
};

struct entries {
    struct entry *items;
    size_t n, cap;
};

static struct entry *find_entry(struct entries *all, struct str bind, int port)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->items[i].port == port && str_eq(all->items[i].bind, bind))
            return &all->items[i];
    }
    return NULL;
}

static struct entry *push_entry(struct arena *a, struct entries *all, struct str bind, int port)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(struct entry));
        all->cap = cap;
    }
    struct entry *e = &all->items[all->n++];
    *e = (struct entry){ .bind = bind, .port = port, .chains = value_array() };
    return e;
}

static struct value passthrough(const struct listener_view *v)
{
    const char *to = v->scope->registry_only ? "BlackHoleCluster" : "PassthroughCluster";
    return tree(v->arena, "[%v]", listener__tcp_cluster(v->arena, str_of(to)));
}

/* Whether a match of a tls or tcp route is meant for this workload and port. */
static bool l4_holds(const struct listener_view *v, const struct value *match, int port)
{
    int64_t number = 0;
    if (value_to_int(value_get(match, STR("port")), &number) && number && number != port)
        return false;
    const struct value *gateways = value_get(match, STR("gateways"));
    bool of_mesh = !tree_has(gateways);
    value_each_item (it, gateways)
        of_mesh = of_mesh || str_eq(value_str(it), STR("mesh"));
    struct str ns = value_text(match, "sourceNamespace");
    return of_mesh && realm_selects(value_get(match, STR("sourceLabels")), v->proxy->labels) &&
           (!ns.n || str_eq(ns, v->proxy->ns));
}

static bool repeats(const struct value *chains, const struct value *names)
{
    value_each_item (c, chains) {
        value_each_item (have, value_dig(c, "filter_chain_match", "server_names")) {
            value_each_item (it, names) {
                if (value_eq(have, it))
                    return true;
            }
        }
    }
    return false;
}

static void push_sni(const struct listener_view *v, struct entry *e, struct value names,
                     struct value filters)
{
    if (repeats(&e->chains, &names) || !filters.n)
        return;
    e->needs_tls = true;
    value_put_item(v->arena, &e->chains, listener__chain(v->arena, names, filters, value_null()));
}

/* Routes by the name that a TLS client asks for. True: a virtual service has the host. */
static bool tls_routes(const struct listener_view *v, const struct scope_listener *l,
                       const struct mesh_service *s, struct entry *e)
{
    bool found = false;
    for (size_t i = 0; i < l->virtual_services.n; i++) {
        const struct mesh_object *vs = l->virtual_services.items[i];
        value_each_item (tls, value_get(vs->spec, STR("tls"))) {
            value_each_item (m, value_get(tls, STR("match"))) {
                const struct value *names = value_get(m, STR("sniHosts"));
                bool about = false;
                value_each_item (it, names)
                    about = about || host_matches(value_str(it), s->host);
                if (!about || !l4_holds(v, m, e->port))
                    continue;
                found = true;
                push_sni(v, e, value_borrow(names),
                         listener__tcp_route(v, value_get(tls, STR("route")), e->port));
            }
        }
    }
    return found;
}

static bool has_host(const struct mesh_object *vs, struct str host)
{
    value_each_item (it, value_get(vs->spec, STR("hosts"))) {
        if (host_is_within(host, value_str(it)))
            return true;
    }
    return false;
}

static bool tcp_route(const struct listener_view *v, const struct scope_listener *l,
                      const struct mesh_service *s, struct entry *e)
{
    for (size_t i = 0; i < l->virtual_services.n; i++) {
        const struct mesh_object *vs = l->virtual_services.items[i];
        if (!has_host(vs, s->host))
            continue;
        value_each_item (tcp, value_get(vs->spec, STR("tcp"))) {
            const struct value *matches = value_get(tcp, STR("match"));
            bool holds = !tree_has(matches);
            value_each_item (m, matches)
                holds = holds || l4_holds(v, m, e->port);
            struct value filters = listener__tcp_route(v, value_get(tcp, STR("route")), e->port);
            if (!holds || !filters.n)
                continue;
            value_put_item(v->arena, &e->chains,
                           listener__chain(v->arena, value_null(), filters, value_null()));
            return true;
        }
    }
    return false;
}

static void add_l4(const struct listener_view *v, const struct scope_listener *l,
                   const struct mesh_service *s, const struct mesh_port *port, struct entry *e)
{
    struct arena *a = v->arena;
    struct str cluster = cluster_name(a, "outbound", port->number, STR(""), s->host);
    struct value filters = tree(a, "[%v]", listener__tcp_cluster(a, cluster));
    if (protocol_is_tls(port->protocol) || protocol_is_tls(l->protocol)) {
        bool is_bound = l->port && value_text(l->listener, "bind").n;
        if (tls_routes(v, l, s, e))
            return;
        /* An address that a user has chosen stands for its first service, whatever is asked for. */
        if (is_bound && !e->chains.n)
            value_put_item(a, &e->chains, listener__chain(a, value_null(), filters, value_null()));
        else if (!is_bound)
            push_sni(v, e, tree(a, "[%s]", s->host), filters);
        return;
    }
    if (e->chains.n) /* the oldest service has the port */
        return;
    if (!tcp_route(v, l, s, e))
        value_put_item(a, &e->chains, listener__chain(a, value_null(), filters, value_null()));
}

static struct value http_chain(const struct listener_view *v, const struct entry *e, struct str rds,
                               enum mesh_protocol protocol)
{
    struct arena *a = v->arena;
    struct str prefix = arena_printf(a, "outbound_" STR_FMT "_%d", STR_ARG(e->bind), e->port);
    return listener__chain(
        a, value_null(),
        tree(a, "[%v]", listener__http(v, LISTENER_OUTBOUND, prefix, rds, value_null(), protocol)),
        value_null());
}

static void add_http(const struct listener_view *v, struct entry *e, enum mesh_protocol protocol)
{
    if (e->chains.n)
        return;
    e->is_http = true;
    value_put_item(v->arena, &e->chains,
                   http_chain(v, e, arena_printf(v->arena, "%d", e->port), protocol));
}

/* What is spoken is found out: HTTP by its routes, all else to the service as it is. */
static void add_sniffed(const struct listener_view *v, const struct mesh_service *s,
                        const struct mesh_port *port, struct entry *e)
{
    struct arena *a = v->arena;
    if (e->chains.n)
        return;
    struct str rds = e->bind.n && str_eq(e->bind, s->vip)
                         ? arena_printf(a, STR_FMT ":%d", STR_ARG(s->host), port->number)
                         : arena_printf(a, "%d", port->number);
    struct value chain = http_chain(v, e, rds, PROTOCOL_HTTP);
    value_put(a, &chain, STR("filter_chain_match"),
              tree(a, "{transport_protocol: raw_buffer, application_protocols: ['http/1.1', 'h2c', "
                      "'http/1.0']}"));
    value_put_item(a, &e->chains, chain);
    struct str cluster = cluster_name(a, "outbound", port->number, STR(""), s->host);
    value_put_item(a, &e->chains,
                   listener__chain(a, value_null(),
                                   tree(a, "[%v]", listener__tcp_cluster(a, cluster)),
                                   value_null()));
    e->needs_tls = e->needs_http = true;
}

static void add_port(const struct listener_view *v, const struct scope_listener *l,
                     const struct mesh_service *s, const struct mesh_port *port,
                     struct entries *all)
{
    bool binds =
        v->proxy->no_capture || str_eq(value_text(l->listener, "captureMode"), STR("NONE"));
    struct str given = l->port ? value_text(l->listener, "bind") : STR("");
    enum mesh_protocol protocol = l->port ? l->protocol : port->protocol;
    bool by_vip = !binds && !protocol_is_http(protocol) && s->vip.n;
    struct str bind = given.n ? given : binds ? STR("127.0.0.1") : by_vip ? s->vip : STR("0.0.0.0");
    int number = l->port ? l->port : port->number;
    if (protocol == PROTOCOL_UDP || (binds && v->proxy->is_unprivileged && number < 1024))
        return;
    struct entry *e = find_entry(all, bind, number);
    if (e && e->is_locked)
        return;
    if (!e)
        e = push_entry(v->arena, all, bind, number);
    e->binds = binds;
    if (protocol_is_http(protocol))
        add_http(v, e, protocol);
    else if (e->is_http)
        return;
    else if (protocol == PROTOCOL_AUTO && !binds)
        add_sniffed(v, s, port, e);
    else if (protocol == PROTOCOL_AUTO)
        add_http(v, e, PROTOCOL_HTTP);
    else
        add_l4(v, l, s, port, e);
}

static void finish(const struct listener_view *v, const struct entry *e, struct value *out)
{
    struct arena *a = v->arena;
    struct value inspectors = value_array();
    if (!e->chains.n)
        return;
    if (e->needs_tls)
        value_put_item(a, &inspectors, listener__tls_inspector(a));
    if (e->needs_http)
        value_put_item(a, &inspectors, listener__http_inspector(a));
    struct value l = tree(
        a,
        "{name: %s, address: {socket_address: {address: %s, port_value: %d}}, filter_chains: %v, "
        "listener_filters: %v, traffic_direction: OUTBOUND, continue_on_listener_filters_timeout: "
        "true, listener_filters_timeout: %t}",
        arena_printf(a, STR_FMT "_%d", STR_ARG(e->bind), e->port), e->bind, e->port, e->chains,
        inspectors, e->needs_http ? "5s" : "0s");
    if (!e->binds)
        value_put(a, &l, STR("bind_to_port"), value_bool(false));
    bool has_default = false;
    value_each_item (c, &e->chains)
        has_default = has_default || !value_get(c, STR("filter_chain_match"));
    if (!has_default)
        value_put(a, &l, STR("default_filter_chain"),
                  listener__chain(a, value_null(), passthrough(v), value_null()));
    value_put_item(a, out, l);
}

static void add_proxy_port(const struct listener_view *v, struct value *out)
{
    int port = v->realm->settings.http_proxy_port;
    struct entry e = {
        .bind = STR("127.0.0.1"), .port = port, .binds = true, .chains = value_array()
    };
    if (!port)
        return;
    value_put_item(v->arena, &e.chains, http_chain(v, &e, STR("http_proxy"), PROTOCOL_HTTP_PROXY));
    finish(v, &e, out);
}

void listener__outbound(const struct listener_view *v, struct value *out)
{
    struct arena *a = v->arena;
    struct entries all = { 0 };
    for (size_t i = 0; i < v->scope->n_egress; i++) {
        const struct scope_listener *l = &v->scope->egress[i];
        for (size_t k = 0; !l->port && k < all.n; k++)
            all.items[k].is_locked = true;
        for (size_t k = 0; k < l->services.n; k++) {
            const struct mesh_service *s = l->services.items[k];
            for (size_t j = 0; s->resolution != RESOLUTION_ALIAS && j < s->n_ports; j++)
                add_port(v, l, s, &s->ports[j], &all);
        }
    }
    for (size_t i = 0; i < all.n; i++)
        finish(v, &all.items[i], out);
    add_proxy_port(v, out);
    value_put_item(
        a, out,
        tree(a,
             "{name: virtualOutbound, address: {socket_address: {address: %t, port_value: %d}}, "
             "use_original_dst: %b, filter_chains: [%v], traffic_direction: OUTBOUND}",
             v->proxy->no_capture ? "127.0.0.1" : "0.0.0.0", OUTBOUND_PORT, !v->proxy->no_capture,
             listener__chain(a, value_null(), passthrough(v), value_null())));
}

/* ---- What others ask ---- */

static struct value inbound_filters(const struct listener_view *v, struct str cluster, int port,
                                    enum mesh_protocol protocol)
{
    struct arena *a = v->arena;
    if (protocol_is_http_or_auto(protocol))
        return tree(a, "[%v]",
                    listener__http(
                        v, LISTENER_INBOUND, arena_printf(a, "inbound_0.0.0.0_%d", port), STR(""),
                        routes_inbound(a, cluster, port, protocol == PROTOCOL_GRPC), protocol));
    struct value filters = value_array();
    security_network_filters(a, v->realm, v->proxy, &filters);
    value_put_item(a, &filters, listener__tcp_cluster(a, cluster));
    return filters;
}

static struct value mutual_socket(struct arena *a)
{
    return tree_extension(
        a, "envoy.transport_sockets.tls",
        "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        tree(a,
             "{require_client_certificate: true, common_tls_context: {alpn_protocols: ['istio', "
             "'h2', 'http/1.1'], tls_certificate_sds_secret_configs: [%v], "
             "combined_validation_context: {default_validation_context: {}, "
             "validation_context_sds_secret_config: %v}}}",
             policy_secret(a, STR("default")), policy_secret(a, STR("ROOTCA"))));
}

/* By mutual TLS, in the clear, or both. `destination` 0: of the whole listener. */
static void inbound_chains(const struct listener_view *v, struct str cluster, int port,
                           int destination, enum mesh_protocol protocol, struct value *chains)
{
    struct arena *a = v->arena;
    enum mutual_mode mode = security_mutual_mode(v->realm, v->proxy, port);
    if (mode == MUTUAL_PERMISSIVE && !v->proxy->account.n)
        mode = MUTUAL_DISABLE; /* it has no secrets to speak TLS with */
    struct value to = destination ? value_int(destination) : value_null();
    struct value filters = inbound_filters(v, cluster, port, protocol);
    if (mode != MUTUAL_DISABLE)
        value_put_item(a, chains,
                       tree(a,
                            "{filter_chain_match: {destination_port: %v, transport_protocol: tls}, "
                            "filters: %v, transport_socket: %v}",
                            value_clone(a, &to), value_clone(a, &filters), mutual_socket(a)));
    if (mode != MUTUAL_STRICT)
        value_put_item(a, chains,
                       tree(a,
                            "{filter_chain_match: {destination_port: %v, transport_protocol: "
                            "raw_buffer}, filters: %v}",
                            to, filters));
}

static struct value inbound_listener(struct arena *a, struct str name, struct str bind, int port,
                                     struct value chains, bool is_captured)
{
    struct value filters = value_array();
    if (is_captured)
        value_put_item(a, &filters,
                       tree_extension(a, "envoy.filters.listener.original_dst",
                                      "envoy.extensions.filters.listener.original_dst.v3."
                                      "OriginalDst",
                                      value_object()));
    value_put_item(a, &filters, listener__tls_inspector(a));
    return tree(a,
                "{name: %s, address: {socket_address: {address: %s, port_value: %d}}, "
                "filter_chains: %v, listener_filters: %v, traffic_direction: INBOUND, "
                "continue_on_listener_filters_timeout: true, listener_filters_timeout: '0s'}",
                name, bind, port, chains, filters);
}

static bool is_loopback(struct str ip)
{
    return str_starts(ip, STR("127.")) || str_eq(ip, STR("::1"));
}

static void ingress_listeners(const struct listener_view *v, struct value *captured,
                              struct value *out)
{
    struct arena *a = v->arena;
    value_each_item (it, value_get(v->scope->sidecar->spec, STR("ingress"))) {
        int64_t port = 0;
        struct str bind = value_text(it, "bind");
        bool binds = v->proxy->no_capture || str_eq(value_text(it, "captureMode"), STR("NONE"));
        enum mesh_protocol protocol = protocol_parse(value_str(value_dig(it, "port", "protocol")));
        if (!value_to_int(value_dig(it, "port", "number"), &port) || port < 1 || port > 65535)
            continue;
        struct str cluster = arena_printf(a, "inbound|%d||", (int)port);
        if (!binds) {
            inbound_chains(v, cluster, (int)port, (int)port, protocol, captured);
            continue;
        }
        struct value chains = value_array();
        inbound_chains(v, cluster, (int)port, 0, protocol, &chains);
        if (!bind.n)
            bind = is_loopback(v->proxy->ip) ? STR("0.0.0.0") : v->proxy->ip;
        value_put_item(a, out,
                       inbound_listener(a, arena_printf(a, STR_FMT "_%d", STR_ARG(bind), (int)port),
                                        bind, (int)port, chains, false));
    }
}

static void service_chains(const struct listener_view *v, struct value *captured)
{
    const struct realm *w = v->realm;
    struct map done = { 0 };
    for (size_t i = 0; i < w->services.n; i++) {
        const struct mesh_service *s = w->services.items[i];
        for (size_t k = 0; k < s->n_ports; k++) {
            for (size_t e = 0; e < s->ports[k].n_endpoints; e++) {
                const struct mesh_endpoint *ep = &s->ports[k].endpoints[e];
                struct str cluster = arena_printf(v->arena, "inbound|%d||", ep->port);
                if (!str_eq(ep->address, v->proxy->ip) || !str_eq(ep->ns, v->proxy->ns) ||
                    map_get(&done, cluster))
                    continue;
                map_set(&done, cluster, &done);
                inbound_chains(v, cluster, ep->port, ep->port, s->ports[k].protocol, captured);
            }
        }
    }
    map_done(&done);
}

void listener__inbound(const struct listener_view *v, struct value *out)
{
    struct arena *a = v->arena;
    struct value captured = value_array();
    bool has_ingress =
        v->scope->sidecar && tree_has(value_get(v->scope->sidecar->spec, STR("ingress")));
    if (has_ingress)
        ingress_listeners(v, &captured, out);
    else if (!v->proxy->no_capture)
        service_chains(v, &captured);
    if (v->proxy->no_capture)
        return;
    inbound_chains(v, STR("InboundPassthroughCluster"), INBOUND_PORT, 0, PROTOCOL_TCP, &captured);
    value_put_item(
        a, out,
        inbound_listener(a, STR("virtualInbound"), STR("0.0.0.0"), INBOUND_PORT, captured, true));
}
