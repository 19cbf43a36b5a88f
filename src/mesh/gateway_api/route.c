/* Routes: to which listeners they come, and the VirtualServices that they make. */
#include "mesh/gateway_api/gateway_api_internal.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

/* HTTP rules that come together at one host of one gateway. */
struct group {
    struct str gateway, host, ns, name, created;
    struct value rules;
};

struct groups {
    struct group *items;
    size_t n, cap;
};

static struct group *find_group(struct arena *a, struct groups *all, struct str gateway,
                                struct str host, const struct mesh_object *route)
{
    for (size_t i = 0; i < all->n; i++) {
        struct group *g = &all->items[i];
        if (str_eq(g->gateway, gateway) && str_eq(g->host, host) && str_eq(g->ns, route->ns))
            return g;
    }
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(struct group));
        all->cap = cap;
    }
    struct group *g = &all->items[all->n++];
    *g = (struct group){ gateway, host, route->ns, route->name, route->created, value_array() };
    return g;
}

static bool allows_kind(const struct api_listener *l, const char *kind)
{
    bool is_http = str_eq(str_of(kind), STR("HTTPRoute")) || str_eq(str_of(kind), STR("GRPCRoute"));
    bool is_tcp = str_eq(str_of(kind), STR("TCPRoute"));
    const struct value *kinds = value_dig(l->spec, "allowedRoutes", "kinds");
    bool fits = is_http ? l->takes_http : is_tcp ? l->takes_tcp || l->takes_tls : l->takes_tls;
    bool named = !tree_has(kinds);
    value_each_item (it, kinds)
        named = named || str_eq(value_text(it, "kind"), str_of(kind));
    return fits && named;
}

static bool allows_namespace(const struct realm *w, const struct mesh_object *gateway,
                             const struct api_listener *l, struct str ns)
{
    const struct value *namespaces = value_dig(l->spec, "allowedRoutes", "namespaces");
    struct str from = value_text(namespaces, "from");
    if (str_eq(from, STR("All")))
        return true;
    if (str_eq(from, STR("Selector")))
        return realm_selects(value_dig(namespaces, "selector", "matchLabels"),
                             map_get(&w->labels_of, ns));
    return str_eq(gateway->ns, ns);
}

static bool shares_host(const struct api_listener *l, const struct value *hostnames)
{
    if (!l->hostname.n || !tree_has(hostnames))
        return true;
    value_each_item (it, hostnames) {
        if (host_matches(value_str(it), l->hostname))
            return true;
    }
    return false;
}

struct attachment {
    const char *reason; /* of not being accepted; NULL: it is */
    struct str message;
    struct api_listener *to[64];
    size_t n;
};

static bool is_meant(const struct api_listener *l, const struct value *ref)
{
    struct str section = value_text(ref, "sectionName");
    int64_t port = 0;
    bool has_port = value_to_int(value_get(ref, STR("port")), &port);
    return (!section.n || str_eq(section, l->name)) && (!has_port || port == l->port);
}

static void attach(struct realm *w, struct api_gateway *g, const struct mesh_object *route,
                   const char *kind, const struct value *ref, struct attachment *ret)
{
    const struct value *hostnames = value_get(route->spec, STR("hostnames"));
    bool found = false, allowed = false, kinds = false;
    struct str hostname = STR("");
    for (size_t i = 0; i < g->n; i++) {
        struct api_listener *l = &g->listeners[i];
        if (!is_meant(l, ref))
            continue;
        found = true;
        if (!l->is_valid || !allows_kind(l, kind))
            continue;
        kinds = true;
        if (!allows_namespace(w, g->of, l, route->ns))
            continue;
        allowed = true;
        hostname = l->hostname;
        if (!shares_host(l, hostnames) || ret->n == sizeof(ret->to) / sizeof(*ret->to))
            continue;
        ret->to[ret->n++] = l;
        l->attached++;
    }
    if (ret->n)
        return;
    if (!found) {
        ret->reason = "NoMatchingParent";
        ret->message = STR("no listener of the parent has this section and port");
    } else if (!kinds) {
        ret->reason = "NotAllowedByListeners";
        ret->message = arena_printf(w->arena, "kind %s is not allowed", kind);
    } else if (!allowed) {
        ret->reason = "NotAllowedByListeners";
        ret->message =
            arena_printf(w->arena,
                         "hostnames matched parent hostname \"" STR_FMT
                         "\", but namespace \"" STR_FMT "\" is not allowed by the parent",
                         STR_ARG(hostname), STR_ARG(route->ns));
    } else {
        ret->reason = "NoMatchingListenerHostname";
        ret->message = arena_printf(
            w->arena, "no hostnames matched parent hostname \"" STR_FMT "\"", STR_ARG(hostname));
    }
}

static struct api_gateway *find_gateway(struct api_gateways *all, const struct value *ref,
                                        struct str route_ns)
{
    struct str ns = value_text(ref, "namespace"), name = value_text(ref, "name");
    for (size_t i = 0; i < all->n; i++) {
        if (str_eq(all->items[i].of->name, name) &&
            str_eq(all->items[i].of->ns, ns.n ? ns : route_ns))
            return &all->items[i];
    }
    return NULL;
}

static struct value parent_status(struct arena *a, const struct value *ref,
                                  const struct attachment *at, const struct api_fault *fault)
{
    struct value conditions = value_array();
    api__condition(a, &conditions, "Accepted", !at->reason, at->reason ? at->reason : "Accepted",
                   at->reason ? at->message : STR("Route was valid"));
    api__condition(a, &conditions, "ResolvedRefs", !fault->reason,
                   fault->reason ? fault->reason : "ResolvedRefs",
                   fault->reason ? fault->message : STR("All references resolved"));
    return tree(a, "{parentRef: %v, controllerName: '" GATEWAY_API_CONTROLLER "', conditions: %v}",
                value_clone(a, ref), conditions);
}

static void add_object(struct realm *w, struct str ns, struct str name, struct str created,
                       struct value spec)
{
    struct value *obj = arena_new(w->arena, struct value);
    *obj = tree(w->arena, "{metadata: {name: %s, namespace: %s, creationTimestamp: %s}, spec: %v}",
                name, ns, created.p ? created : STR(""), spec);
    realm_add_made(w, MESH_VIRTUAL_SERVICE, obj)->is_api = true;
}

struct conversion {
    struct realm *realm;
    struct api_gateways *gateways;
    struct groups groups;
    const char *kind;
};

static void add_http(struct conversion *c, const struct mesh_object *route, struct str gateway,
                     const struct value *rules)
{
    struct arena *a = c->realm->arena;
    const struct value *hostnames = value_get(route->spec, STR("hostnames"));
    struct value any = tree(a, "['*']");
    value_each_item (h, tree_has(hostnames) ? hostnames : &any) {
        struct group *g = find_group(a, &c->groups, gateway, value_str(h), route);
        tree_append(a, &g->rules, rules);
    }
}

static void add_l4(struct conversion *c, const struct mesh_object *route, struct str gateway,
                   const struct value *rules)
{
    struct arena *a = c->realm->arena;
    const struct value *hostnames = value_get(route->spec, STR("hostnames"));
    bool is_tls = str_eq(str_of(c->kind), STR("TLSRoute"));
    struct value hosts = tree_has(hostnames) ? tree_copy(hostnames) : tree(a, "['*']");
    struct value list = value_array();
    value_each_item (it, rules) {
        struct value one = value_clone(a, it);
        if (is_tls)
            value_put(a, &one, STR("match"), tree(a, "[{sniHosts: %v}]", value_clone(a, &hosts)));
        value_put_item(a, &list, one);
    }
    struct value spec =
        tree(a, "{hosts: %v, gateways: [%s]}", is_tls ? hosts : tree(a, "['*']"), gateway);
    value_put(a, &spec, is_tls ? STR("tls") : STR("tcp"), list);
    add_object(c->realm, route->ns, route->name, route->created, spec);
}

static struct value rules_of(struct conversion *c, const struct mesh_object *route,
                             struct api_fault *fault)
{
    struct arena *a = c->realm->arena;
    bool is_http =
        str_eq(str_of(c->kind), STR("HTTPRoute")) || str_eq(str_of(c->kind), STR("GRPCRoute"));
    struct value out = value_array();
    value_each_item (rule, value_get(route->spec, STR("rules"))) {
        if (is_http) {
            api__http_rule(c->realm, route, c->kind, rule, &out, fault);
            continue;
        }
        struct value to = api__l4_backends(c->realm, route, c->kind, rule, fault);
        if (to.n)
            value_put_item(a, &out, tree(a, "{route: %v}", to));
    }
    return out;
}

/* A Service as the parent: the route acts in the mesh. */
static bool add_mesh_parent(struct conversion *c, const struct mesh_object *route,
                            const struct value *ref, const struct value *rules)
{
    struct realm *w = c->realm;
    struct str kind = value_text(ref, "kind"), ns = value_text(ref, "namespace");
    if (!str_eq(kind, STR("Service")) || !rules->n)
        return false;
    struct str host = arena_printf(w->arena, STR_FMT "." STR_FMT ".svc." STR_FMT,
                                   STR_ARG(value_text(ref, "name")), STR_ARG(ns.n ? ns : route->ns),
                                   STR_ARG(w->settings.domain));
    struct group *g = find_group(w->arena, &c->groups, STR("mesh"), host, route);
    const struct value *port = value_get(ref, STR("port"));
    value_each_item (it, rules) {
        struct value one = value_clone(w->arena, it);
        struct value *matches = value_edit(w->arena, &one, STR("match"));
        for (size_t i = 0; port && value_is(matches, VALUE_ARRAY) && i < matches->n; i++)
            value_put(w->arena, value_edit_at(w->arena, matches, i), STR("port"), tree_copy(port));
        value_put_item(w->arena, &g->rules, one);
    }
    return realm_services_of(w, host) != NULL;
}

static void convert_route(struct conversion *c, const struct mesh_object *route,
                          enum mesh_kind kind, struct api_statuses *ret)
{
    struct arena *a = c->realm->arena;
    bool is_http = kind == MESH_API_HTTP_ROUTE || kind == MESH_API_GRPC_ROUTE;
    struct api_fault fault = { 0 };
    struct value rules = rules_of(c, route, &fault), parents = value_array();
    value_each_item (ref, value_get(route->spec, STR("parentRefs"))) {
        struct attachment at = { 0 };
        if (is_http && str_eq(value_text(ref, "kind"), STR("Service"))) {
            if (add_mesh_parent(c, route, ref, &rules))
                value_put_item(a, &parents, parent_status(a, ref, &at, &fault));
            continue;
        }
        struct api_gateway *g = find_gateway(c->gateways, ref, route->ns);
        if (!g)
            continue;
        attach(c->realm, g, route, c->kind, ref, &at);
        value_put_item(a, &parents, parent_status(a, ref, &at, &fault));
        for (size_t i = 0; i < at.n; i++) {
            if (is_http)
                add_http(c, route, at.to[i]->gateway, &rules);
            else
                add_l4(c, route, at.to[i]->gateway, &rules);
        }
    }
    api__status(c->realm, ret, kind, route, tree(a, "{parents: %v}", parents));
}

void api__routes(struct realm *w, struct api_gateways *all, struct api_statuses *ret)
{
    static const struct {
        enum mesh_kind kind;
        const char *name;
    } kinds[] = { { MESH_API_HTTP_ROUTE, "HTTPRoute" },
                  { MESH_API_GRPC_ROUTE, "GRPCRoute" },
                  { MESH_API_TCP_ROUTE, "TCPRoute" },
                  { MESH_API_TLS_ROUTE, "TLSRoute" } };
    struct conversion c = { .realm = w, .gateways = all };
    for (size_t k = 0; k < 4; k++) {
        c.kind = kinds[k].name;
        for (size_t i = 0; i < w->of[kinds[k].kind].n; i++)
            convert_route(&c, w->of[kinds[k].kind].items[i], kinds[k].kind, ret);
    }
    for (size_t i = 0; i < c.groups.n; i++) {
        struct group *g = &c.groups.items[i];
        api__sort_http(&g->rules);
        add_object(w, g->ns, arena_printf(w->arena, STR_FMT "-%zu", STR_ARG(g->name), i),
                   g->created,
                   tree(w->arena, "{hosts: [%s], gateways: [%s], http: %v}", g->host, g->gateway,
                        g->rules));
    }
}

void gateway_api_convert(struct realm *w, struct api_statuses *ret)
{
    struct api_gateways all;
    *ret = (struct api_statuses){ 0 };
    api__gateways(w, &all);
    api__routes(w, &all, ret);
    api__gateway_statuses(w, &all, ret);
    for (size_t i = 0; i < w->of[MESH_API_GATEWAY_CLASS].n; i++) {
        const struct mesh_object *o = w->of[MESH_API_GATEWAY_CLASS].items[i];
        struct str by = value_text(o->spec, "controllerName");
        struct value conditions = value_array();
        if (!str_eq(by, STR(GATEWAY_API_CONTROLLER)) && !str_eq(by, STR(GATEWAY_API_UNMANAGED)))
            continue;
        api__condition(w->arena, &conditions, "Accepted", true, "Accepted",
                       STR("Handled by the mesh"));
        api__status(w, ret, MESH_API_GATEWAY_CLASS, o,
                    tree(w->arena, "{conditions: %v}", conditions));
    }
}
