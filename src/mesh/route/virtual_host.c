/* Route configurations: virtual hosts of a gateway's port and of a sidecar's. */
#include <stdlib.h>

#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "mesh/route/route_internal.h"
#include "base/banned.h"

static struct value empty_config(struct arena *a, struct str name)
{
    return tree(a, "{name: %s, validate_clusters: false}", name);
}

static struct value *find_host(struct arena *a, struct value *hosts, struct str domain)
{
    for (size_t i = 0; i < hosts->n; i++) {
        if (str_eq(value_str(value_at(value_get(&hosts->items[i], STR("domains")), 0)), domain))
            return value_edit_at(a, hosts, i);
    }
    return NULL;
}

static struct value make_host(struct arena *a, struct str domain, int port, struct value routes)
{
    return tree(a, "{name: %s, domains: [%s], routes: %v, include_request_attempt_count: true}",
                arena_printf(a, STR_FMT ":%d", STR_ARG(domain), port), domain, routes);
}

/* The server's host that a host of a virtual service goes with; the narrower of both is served. */
static struct str common_host(struct str server_host, struct str ns, struct str host)
{
    struct str name = server_host;
    if (str_find(server_host, '/') >= 0 && !str_eq(str_cut(&name, '/'), ns))
        return (struct str){ 0 };
    if (host_is_within(host, name))
        return host;
    return host_is_within(name, host) ? name : (struct str){ 0 };
}

static void add_to_host(struct arena *a, struct value *hosts, struct str domain, int port,
                        const struct value *routes, bool needs_tls)
{
    struct value *have = find_host(a, hosts, domain);
    if (have) {
        struct value *list = value_edit(a, have, STR("routes"));
        if (list)
            tree_append(a, list, routes);
        else
            value_put(a, have, STR("routes"), value_borrow(routes));
    } else {
        value_put_item(a, hosts, make_host(a, domain, port, value_clone(a, routes)));
        have = value_edit_at(a, hosts, hosts->n - 1);
    }
    if (needs_tls)
        value_put(a, have, STR("require_tls"), value_string(STR("ALL")));
}

/* Each host of the intersection once. */
static void add_virtual_service(struct arena *a, const struct mesh_server *s,
                                const struct mesh_object *vs, const struct value *routes,
                                struct value *hosts)
{
    bool needs_tls = value_is_true(value_dig(s->server, "tls", "httpsRedirect"));
    struct value seen = value_array();
    for (size_t i = 0; i < s->n_hosts; i++) {
        value_each_item (it, value_get(vs->spec, STR("hosts"))) {
            struct str domain = common_host(s->hosts[i], vs->ns, value_str(it));
            bool is_known = false;
            value_each_item (k, &seen)
                is_known = is_known || str_eq(value_str(k), domain);
            if (!domain.p || is_known)
                continue;
            value_put_item(a, &seen, value_string(domain));
            add_to_host(a, hosts, host_lower(a, domain), s->port, routes, needs_tls);
        }
    }
}

static void add_redirects(struct arena *a, const struct mesh_server *s, struct value *hosts)
{
    struct value none = value_array();
    if (!value_is_true(value_dig(s->server, "tls", "httpsRedirect")))
        return;
    for (size_t i = 0; i < s->n_hosts; i++)
        add_to_host(a, hosts, host_lower(a, s->hosts[i]), s->port, &none, true);
}

/* Routes that catch all come last: they are from several virtual services. */
static bool is_catch_all(const struct value *route)
{
    const struct value *m = value_get(route, STR("match"));
    return str_eq(value_text(m, "prefix"), STR("/")) && !tree_has(value_get(m, STR("headers"))) &&
           !tree_has(value_get(m, STR("query_parameters"))) &&
           !tree_has(value_get(m, STR("dynamic_metadata")));
}

static void sort_routes(struct arena *a, struct value *host)
{
    struct value first = value_array(), last = value_array();
    value_each_item (it, value_get(host, STR("routes")))
        value_put_item(a, is_catch_all(it) ? &last : &first, value_borrow(it));
    tree_append(a, &first, &last);
    value_put(a, host, STR("routes"), first);
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(value_text((const struct value *)x, "name"),
                   value_text((const struct value *)y, "name"));
}

static struct value finish(struct arena *a, struct str name, struct value hosts)
{
    if (hosts.n)
        qsort(hosts.items, hosts.n, sizeof(*hosts.items), by_name);
    return tree(a,
                "{name: %s, virtual_hosts: %v, validate_clusters: false, "
                "ignore_port_in_host_matching: true, max_direct_response_body_size_bytes: 1048576}",
                name, hosts);
}

static struct value gateway_config(struct arena *a, const struct realm *w,
                                   const struct mesh_proxy *p, const struct mesh_scope *scope,
                                   const struct merged_gateways *gateways, struct str name)
{
    struct value hosts = value_array();
    int port = 0;
    for (size_t i = 0; i < gateways->n; i++) {
        for (size_t k = 0; k < gateways->binds[i].n; k++) {
            const struct mesh_server *s = gateways->binds[i].servers[k];
            if (!str_eq(s->route_name, name))
                continue;
            struct mesh_objects all;
            struct route_view v = { a,
                                    w,
                                    p,
                                    scope,
                                    s->gateway_name,
                                    s->port,
                                    value_get(s->server, STR("tls")) != NULL,
                                    NULL };
            port = s->port;
            scope_virtual_services(a, w, p->ns, s->gateway_name, &all);
            for (size_t j = 0; j < all.n; j++) {
                struct value routes = route__of_virtual_service(&v, all.items[j]);
                if (routes.n)
                    add_virtual_service(a, s, all.items[j], &routes, &hosts);
            }
            add_redirects(a, s, &hosts);
        }
    }
    if (!port)
        return empty_config(a, name);
    for (size_t i = 0; i < hosts.n; i++)
        sort_routes(a, value_edit_at(a, &hosts, i));
    if (!hosts.n)
        value_put_item(
            a, &hosts,
            tree(a, "{name: %s, domains: ['*']}", arena_printf(a, "blackhole:%d", port)));
    return finish(a, name, hosts);
}

/* ---- Sidecars ---- */

struct sidecar_view {
    struct route_view v;
    const struct scope_listener *egress;
    int port; /* 0: an HTTP proxy, for all ports */
    struct map domains, taken;
    struct value hosts;
};

static bool claim(struct sidecar_view *s, struct str domain)
{
    if (map_get(&s->domains, domain))
        return false;
    map_set(&s->domains, domain, s);
    return true;
}

static void push_domain(struct sidecar_view *s, struct value *list, struct str domain, int port,
                        bool bare)
{
    struct arena *a = s->v.arena;
    if (bare && claim(s, domain))
        value_put_item(a, list, value_string(domain));
    if (s->port)
        return;
    struct str with = arena_printf(a, STR_FMT ":%d", STR_ARG(domain), port);
    if (claim(s, with))
        value_put_item(a, list, value_string(with));
}

/* "web", "web.shop", "web.shop.svc" of "web.shop.svc.cluster.local", as far as the proxy may say.
 */
static void push_short(struct sidecar_view *s, struct value *list, struct str host, int port,
                       bool bare)
{
    struct str tail =
        arena_printf(s->v.arena, ".svc." STR_FMT, STR_ARG(s->v.realm->settings.domain));
    if (!str_ends(host, tail))
        return;
    struct str base = str_take(host, host.n - tail.n), ns = base;
    struct str name = str_cut(&ns, '.');
    if (!ns.n || str_find(ns, '.') >= 0)
        return;
    if (str_eq(ns, s->v.proxy->ns))
        push_domain(s, list, name, port, bare);
    push_domain(s, list, arena_printf(s->v.arena, STR_FMT ".svc", STR_ARG(base)), port, bare);
    push_domain(s, list, base, port, bare);
}

static struct value domains_of(struct sidecar_view *s, const struct mesh_service *svc, int port)
{
    struct value list = value_array();
    bool bare = s->port || port == 80;
    push_domain(s, &list, svc->host, port, bare);
    push_domain(s, &list, arena_printf(s->v.arena, STR_FMT ".", STR_ARG(svc->host)), port, bare);
    push_short(s, &list, svc->host, port, bare);
    if (svc->vip.n)
        push_domain(s, &list, svc->vip, port, bare);
    return list;
}

static void push_host(struct sidecar_view *s, struct str name, int port, struct value domains,
                      const struct value *routes)
{
    if (!domains.n)
        return;
    value_put_item(s->v.arena, &s->hosts,
                   tree(s->v.arena,
                        "{name: %s, domains: %v, routes: %v, include_request_attempt_count: true}",
                        arena_printf(s->v.arena, STR_FMT ":%d", STR_ARG(name), port), domains,
                        value_clone(s->v.arena, routes)));
}

static const struct mesh_service *listed(const struct sidecar_view *s, struct str host)
{
    for (size_t i = 0; i < s->egress->services.n; i++) {
        const struct mesh_service *svc = s->egress->services.items[i];
        if (str_eq(svc->host, host) && (!s->port || service_port(svc, s->port)))
            return svc;
    }
    return NULL;
}

static void push_service(struct sidecar_view *s, const struct mesh_service *svc,
                         const struct value *routes, bool *found)
{
    for (size_t i = 0; i < svc->n_ports; i++) {
        const struct mesh_port *p = &svc->ports[i];
        if (!protocol_is_http_or_auto(p->protocol) || (s->port && p->number != s->port))
            continue;
        struct value own = value_null();
        *found = true;
        if (!routes) {
            own = tree(s->v.arena, "[%v]", route__default(&s->v, svc, p));
        }
        push_host(s, svc->host, p->number, domains_of(s, svc, p->number), routes ? routes : &own);
    }
}

/* The virtual service whose wildcard is the narrowest has the service; one that names it comes
 * before all. */
static bool is_narrowest(const struct sidecar_view *s, const struct mesh_object *vs,
                         struct str wild, struct str host)
{
    for (size_t i = 0; i < s->egress->virtual_services.n; i++) {
        const struct mesh_object *o = s->egress->virtual_services.items[i];
        value_each_item (it, value_get(o->spec, STR("hosts"))) {
            struct str h = value_str(it);
            if (!host_is_within(host, h) || o == vs)
                continue;
            if (host_order(h, wild) < 0)
                return false;
        }
    }
    return true;
}

static bool wild_hosts(struct sidecar_view *s, const struct mesh_object *vs, struct str wild,
                       const struct value *routes, bool *found)
{
    bool any = false;
    for (size_t i = 0; i < s->egress->services.n; i++) {
        const struct mesh_service *svc = s->egress->services.items[i];
        if (!host_is_within(svc->host, wild) || (s->port && !service_port(svc, s->port)))
            continue;
        any = true;
        if (map_get(&s->taken, svc->host) || !is_narrowest(s, vs, wild, svc->host))
            continue;
        map_set(&s->taken, svc->host, s);
        push_service(s, svc, routes, found);
    }
    return any;
}

/* A host that no service has is served at port 80. */
static void push_unknown(struct sidecar_view *s, struct str host, int port,
                         const struct value *routes)
{
    struct value list = value_array();
    push_domain(s, &list, host, port, s->port || port == 80);
    push_host(s, host, port, list, routes);
}

static void push_virtual_service(struct sidecar_view *s, const struct mesh_object *vs)
{
    struct route_view v = s->v;
    struct value unknown = value_array();
    bool found = false;
    v.port = s->port;
    struct value routes = route__of_virtual_service(&v, vs);
    if (!routes.n)
        return;
    value_each_item (it, value_get(vs->spec, STR("hosts"))) {
        struct str host = host_lower(v.arena, value_str(it));
        const struct mesh_service *svc = host_is_wild(host) ? NULL : listed(s, host);
        if (svc && vs->is_api && !str_eq(svc->ns, vs->ns) && !str_eq(v.proxy->ns, vs->ns))
            continue;
        if (svc && map_get(&s->taken, host))
            continue;
        if (svc) {
            map_set(&s->taken, svc->host, s);
            push_service(s, svc, &routes, &found);
        } else if (!host_is_wild(host) || !wild_hosts(s, vs, host, &routes, &found)) {
            value_put_item(v.arena, &unknown, value_string(host));
        }
    }
    if (vs->is_api && !found)
        return;
    int port = found ? (s->port ? s->port : 80) : s->port == 80 ? 80 : 0;
    value_each_item (it, &unknown) {
        if (port)
            push_unknown(s, value_str(it), port, &routes);
    }
}

static struct value catch_all(const struct sidecar_view *s)
{
    struct arena *a = s->v.arena;
    if (s->v.scope->registry_only)
        return tree(a, "{name: block_all, domains: ['*'], routes: [{name: block_all, match: "
                       "{prefix: '/'}, direct_response: {status: 502}}], "
                       "include_request_attempt_count: true}");
    return tree(a, "{name: allow_any, domains: ['*'], routes: [{name: allow_any, match: {prefix: "
                   "'/'}, route: {cluster: PassthroughCluster, timeout: '0s', max_grpc_timeout: "
                   "'0s'}}], include_request_attempt_count: true}");
}

static const struct scope_listener *listener_for(const struct mesh_scope *scope, int port)
{
    for (size_t i = 0; i < scope->n_egress; i++) {
        if (!scope->egress[i].port || scope->egress[i].port == port)
            return &scope->egress[i];
    }
    return NULL;
}

/* Only the virtual host of the service that was found by its address. */
static struct value only_host(struct arena *a, struct value *hosts, struct str host)
{
    struct value out = value_array();
    value_each_item (it, hosts) {
        value_each_item (d, value_get(it, STR("domains"))) {
            if (!str_eq(value_str(d), host) || out.n)
                continue;
            struct value one = value_borrow(it);
            value_put(a, &one, STR("domains"), tree(a, "['*']"));
            value_put_item(a, &out, one);
        }
    }
    return out;
}

static struct value sidecar_config(struct arena *a, const struct realm *w,
                                   const struct mesh_proxy *p, const struct mesh_scope *scope,
                                   struct str name)
{
    struct str rest = name, host = str_find(name, ':') >= 0 ? str_cut(&rest, ':') : STR("");
    uint64_t port = 0;
    bool is_proxy = str_eq(name, STR("http_proxy"));
    if (!is_proxy && (!str_to_u64(rest, &port) || port > 65535))
        return empty_config(a, name);
    const struct scope_listener *egress = listener_for(scope, (int)port);
    struct sidecar_view s = { .v = { a, w, p, scope, STR("mesh"), (int)port, false, egress },
                              .egress = egress,
                              .port = (int)port,
                              .hosts = value_array() };
    if (!s.egress)
        return empty_config(a, name);
    if (s.egress->port && s.egress->protocol == PROTOCOL_HTTP_PROXY)
        s.port = 0;
    for (size_t i = 0; i < s.egress->virtual_services.n; i++)
        push_virtual_service(&s, s.egress->virtual_services.items[i]);
    for (size_t i = 0; i < s.egress->services.n; i++) {
        const struct mesh_service *svc = s.egress->services.items[i];
        bool found;
        if (!map_get(&s.taken, svc->host) && svc->resolution != RESOLUTION_ALIAS)
            push_service(&s, svc, NULL, &found);
    }
    map_done(&s.domains);
    map_done(&s.taken);
    if (host.n)
        return finish(a, name, only_host(a, &s.hosts, host));
    if (s.hosts.n)
        qsort(s.hosts.items, s.hosts.n, sizeof(*s.hosts.items), by_name);
    value_put_item(a, &s.hosts, catch_all(&s));
    return tree(a,
                "{name: %s, virtual_hosts: %v, validate_clusters: false, "
                "ignore_port_in_host_matching: true, max_direct_response_body_size_bytes: 1048576}",
                name, s.hosts);
}

struct value routes_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         const struct mesh_scope *scope, const struct merged_gateways *gateways,
                         struct str name)
{
    if (p->is_router)
        return gateway_config(a, w, p, scope, gateways, name);
    return sidecar_config(a, w, p, scope, name);
}
