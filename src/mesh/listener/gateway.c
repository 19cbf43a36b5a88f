/* Listeners of gateways. */
#include "mesh/listener/listener_internal.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "mesh/security/security.h"
#include "base/banned.h"

static struct value sni_hosts(struct arena *a, const struct mesh_server *s)
{
    struct value out = value_array();
    for (size_t i = 0; i < s->n_hosts; i++) {
        struct str h = s->hosts[i];
        if (str_find(h, '/') >= 0)
            (void)str_cut(&h, '/');
        value_put_item(a, &out, value_string(host_lower(a, h)));
    }
    return out;
}

/* Whether a virtual service has a host that the server serves. */
static bool shares_host(const struct mesh_server *s, const struct mesh_object *vs)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        struct str h = s->hosts[i];
        if (str_find(h, '/') >= 0 && !str_eq(str_cut(&h, '/'), vs->ns))
            continue;
        value_each_item (it, value_get(vs->spec, STR("hosts"))) {
            if (host_matches(h, value_str(it)))
                return true;
        }
    }
    return false;
}

static bool match_holds(const struct value *match, const struct mesh_server *s)
{
    int64_t port = 0, own = 0;
    (void)value_to_int(value_dig(s->server, "port", "number"), &own);
    if (value_to_int(value_get(match, STR("port")), &port) && port && port != own)
        return false;
    const struct value *gateways = value_get(match, STR("gateways"));
    if (!tree_has(gateways))
        return true;
    value_each_item (it, gateways) {
        if (str_eq(value_str(it), s->gateway_name))
            return true;
    }
    return false;
}

static bool any_holds(const struct value *matches, const struct mesh_server *s)
{
    if (!tree_has(matches))
        return true;
    value_each_item (it, matches) {
        if (match_holds(it, s))
            return true;
    }
    return false;
}

static struct value with_policies(const struct listener_view *v, struct value filters)
{
    struct value out = value_array();
    if (!filters.n)
        return filters;
    security_network_filters(v->arena, v->realm, v->proxy, &out);
    tree_append(v->arena, &out, &filters);
    return out;
}

/* The first tcp route that holds; else, of a server that ends TLS, the first of the TLSRoutes. */
static struct value tcp_filters(const struct listener_view *v, const struct mesh_server *s)
{
    struct mesh_objects all;
    scope_virtual_services(v->arena, v->realm, v->proxy->ns, s->gateway_name, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct mesh_object *vs = all.items[i];
        if (!shares_host(s, vs))
            continue;
        value_each_item (tcp, value_get(vs->spec, STR("tcp"))) {
            if (any_holds(value_get(tcp, STR("match")), s) &&
                tree_has(value_get(tcp, STR("route"))))
                return with_policies(v,
                                     listener__tcp_route(v, value_get(tcp, STR("route")), s->port));
        }
        value_each_item (tls, vs->is_api ? value_get(vs->spec, STR("tls")) : NULL) {
            if (any_holds(value_get(tls, STR("match")), s))
                return with_policies(v,
                                     listener__tcp_route(v, value_get(tls, STR("route")), s->port));
        }
    }
    return value_array();
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

/* A chain for each name that is routed on without looking inside. */
static void passthrough_chains(const struct listener_view *v, const struct mesh_server *s,
                               struct value *chains)
{
    struct mesh_objects all;
    scope_virtual_services(v->arena, v->realm, v->proxy->ns, s->gateway_name, &all);
    for (size_t i = 0; i < all.n; i++) {
        if (!shares_host(s, all.items[i]))
            continue;
        value_each_item (tls, value_get(all.items[i]->spec, STR("tls"))) {
            value_each_item (match, value_get(tls, STR("match"))) {
                const struct value *names = value_get(match, STR("sniHosts"));
                struct value filters =
                    with_policies(v, listener__tcp_route(v, value_get(tls, STR("route")), s->port));
                if (!match_holds(match, s) || !filters.n || repeats(chains, names))
                    continue;
                value_put_item(
                    v->arena, chains,
                    listener__chain(v->arena, value_borrow(names), filters, value_null()));
            }
        }
    }
}

static struct str stat_prefix(struct arena *a, const struct mesh_bind *b)
{
    return arena_printf(a, "outbound_" STR_FMT "_%d", STR_ARG(b->bind.n ? b->bind : STR("0.0.0.0")),
                        b->port);
}

static void server_chains(const struct listener_view *v, const struct mesh_bind *b,
                          const struct mesh_server *s, struct value *chains)
{
    struct arena *a = v->arena;
    const struct value *tls = value_get(s->server, STR("tls"));
    if (s->protocol == PROTOCOL_HTTPS && tls && !server_passes(s)) {
        struct value filters = tree(a, "[%v]",
                                    listener__http(v, LISTENER_GATEWAY, stat_prefix(a, b),
                                                   s->route_name, value_null(), s->protocol));
        value_put_item(
            a, chains,
            listener__chain(a, sni_hosts(a, s), filters, listener__server_tls(a, tls, true)));
    } else if (tls && server_passes(s)) {
        passthrough_chains(v, s, chains);
    } else {
        struct value filters = tcp_filters(v, s);
        bool ends_tls = tls && server_is_tls(s);
        if (filters.n)
            value_put_item(
                a, chains,
                listener__chain(a, ends_tls ? sni_hosts(a, s) : value_null(), filters,
                                ends_tls ? listener__server_tls(a, tls, false) : value_null()));
    }
}

static void make_listener(const struct listener_view *v, const struct mesh_bind *b,
                          struct value *out)
{
    struct arena *a = v->arena;
    struct value chains = value_array(), inspectors = value_array();
    struct str bind = b->bind.n ? b->bind : STR("0.0.0.0");
    if (v->proxy->is_unprivileged && b->port < 1024)
        return;
    if (protocol_is_http(b->protocol)) {
        struct value filters = tree(a, "[%v]",
                                    listener__http(v, LISTENER_GATEWAY, stat_prefix(a, b),
                                                   b->route_name, value_null(), b->protocol));
        value_put_item(a, &chains, listener__chain(a, value_null(), filters, value_null()));
    } else {
        for (size_t i = 0; i < b->n; i++)
            server_chains(v, b, b->servers[i], &chains);
        if (protocol_is_tls(b->protocol))
            value_put_item(a, &inspectors, listener__tls_inspector(a));
    }
    if (!chains.n)
        return;
    value_put_item(
        a, out,
        tree(a,
             "{name: %s, address: {socket_address: {address: %s, port_value: %d}}, filter_chains: "
             "%v, listener_filters: %v, traffic_direction: OUTBOUND, "
             "continue_on_listener_filters_timeout: true, listener_filters_timeout: '0s'}",
             arena_printf(a, STR_FMT "_%d", STR_ARG(bind), b->port), bind, b->port, chains,
             inspectors));
}

void listener__gateways(const struct listener_view *v, struct value *out)
{
    for (size_t i = 0; i < v->gateways->n; i++)
        make_listener(v, &v->gateways->binds[i], out);
}

struct value listeners_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                            const struct mesh_scope *scope, const struct merged_gateways *gateways)
{
    struct listener_view v = { a, w, p, scope, gateways };
    struct value out = value_array();
    if (p->is_router) {
        listener__gateways(&v, &out);
    } else {
        listener__inbound(&v, &out);
        listener__outbound(&v, &out);
    }
    return out;
}
