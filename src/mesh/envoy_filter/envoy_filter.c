#include "mesh/envoy_filter/envoy_filter.h"

#include "mesh/envoy_filter/envoy_filter_internal.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

#define HCM "envoy.filters.network.http_connection_manager"

static bool is_port(const struct value *wanted, const struct value *have)
{
    int64_t a = 0, b = 0;
    if (!value_to_int(wanted, &a) || !a)
        return true;
    return value_to_int(have, &b) && a == b;
}

static bool listener_matches(const struct patch *p, const struct value *l)
{
    const struct value *m = value_get(p->match, STR("listener"));
    struct str name = value_text(m, "name");
    return is_port(value_get(m, STR("portNumber")),
                   value_dig(l, "address", "socket_address", "port_value")) &&
           (!name.n || str_eq(name, value_text(l, "name")));
}

static bool chain_matches(const struct patch *p, const struct value *chain)
{
    const struct value *m = value_dig(p->match, "listener", "filterChain");
    struct str name = value_text(m, "name"), sni = value_text(m, "sni");
    bool has_sni = !sni.n;
    value_each_item (it, value_dig(chain, "filter_chain_match", "server_names"))
        has_sni = has_sni || str_eq(value_str(it), sni);
    return has_sni && (!name.n || str_eq(name, value_text(chain, "name")));
}

static void patch_http_filters(struct arena *a, const struct patches *ps, const struct value *l,
                               struct value *chain)
{
    struct value *filters = value_edit(a, chain, STR("filters"));
    for (size_t i = 0; value_is(filters, VALUE_ARRAY) && i < filters->n; i++) {
        struct value *f = value_edit_at(a, filters, i);
        if (!str_eq(value_text(f, "name"), STR(HCM)))
            continue;
        struct value *http =
            value_edit(a, value_edit(a, f, STR("typed_config")), STR("http_filters"));
        for (size_t k = 0; http && k < ps->n; k++) {
            const struct patch *p = &ps->items[k];
            const struct value *m = value_dig(p->match, "listener", "filterChain", "filter");
            struct str name = value_text(m, "name");
            if (listener_matches(p, l) && chain_matches(p, chain) &&
                (!name.n || str_eq(name, STR(HCM))))
                patch__list_apply(a, http, p, value_str(value_dig(m, "subFilter", "name")));
        }
    }
}

static void patch_network_filters(struct arena *a, const struct patches *ps, const struct value *l,
                                  struct value *chain)
{
    struct value *filters = value_edit(a, chain, STR("filters"));
    for (size_t k = 0; filters && k < ps->n; k++) {
        const struct patch *p = &ps->items[k];
        if (listener_matches(p, l) && chain_matches(p, chain))
            patch__list_apply(
                a, filters, p,
                value_str(value_dig(p->match, "listener", "filterChain", "filter", "name")));
    }
}

static void patch_chains(struct arena *a, const struct patches *ps, struct value *l)
{
    struct value *chains = value_edit(a, l, STR("filter_chains"));
    for (size_t k = 0; chains && k < ps->n; k++) {
        const struct patch *p = &ps->items[k];
        if (!listener_matches(p, l))
            continue;
        if (str_eq(p->operation, STR("ADD"))) {
            value_put_item(a, chains, value_borrow(&p->value));
            continue;
        }
        for (size_t i = chains->n; i-- > 0;) {
            if (!chain_matches(p, &chains->items[i]))
                continue;
            if (str_eq(p->operation, STR("REMOVE")))
                value_remove_at(a, chains, i);
            else
                patch__merge(a, value_edit_at(a, chains, i), &p->value);
        }
    }
}

static void patch_listener(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *l)
{
    const char *context = patch__context(p, l);
    struct patches chains = patch__list(a, w, p, "FILTER_CHAIN", context);
    struct patches network = patch__list(a, w, p, "NETWORK_FILTER", context);
    struct patches http = patch__list(a, w, p, "HTTP_FILTER", context);
    patch_chains(a, &chains, l);
    struct value *list = value_edit(a, l, STR("filter_chains"));
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        struct value *chain = value_edit_at(a, list, i);
        patch_network_filters(a, &network, l, chain);
        patch_http_filters(a, &http, l, chain);
    }
}

void envoy_filter_listeners(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                            struct value *listeners)
{
    if (!w->of[MESH_ENVOY_FILTER].n)
        return;
    static const char *const contexts[] = { "GATEWAY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND" };
    for (size_t i = listeners->n; i-- > 0;) {
        struct value *l = value_edit_at(a, listeners, i);
        struct patches ps = patch__list(a, w, p, "LISTENER", patch__context(p, l));
        bool removed = false;
        for (size_t k = 0; !removed && k < ps.n; k++) {
            if (!listener_matches(&ps.items[k], l))
                continue;
            removed = str_eq(ps.items[k].operation, STR("REMOVE"));
            if (str_eq(ps.items[k].operation, STR("MERGE")))
                patch__merge(a, l, &ps.items[k].value);
        }
        if (removed)
            value_remove_at(a, listeners, i);
        else
            patch_listener(a, w, p, l);
    }
    for (size_t c = p->is_router ? 0 : 1; c < (p->is_router ? 1u : 3u); c++) {
        struct patches ps = patch__list(a, w, p, "LISTENER", contexts[c]);
        for (size_t k = 0; k < ps.n; k++) {
            if (str_eq(ps.items[k].operation, STR("ADD")))
                value_put_item(a, listeners, value_borrow(&ps.items[k].value));
        }
    }
}

/* "outbound|80|v1|host" */
static bool cluster_matches(const struct patch *p, const struct value *c)
{
    const struct value *m = value_get(p->match, STR("cluster"));
    struct str rest = value_text(c, "name");
    struct str name = value_text(m, "name"), service = value_text(m, "service");
    struct str subset = value_text(m, "subset");
    if (name.n && !str_eq(name, rest))
        return false;
    (void)str_cut(&rest, '|');
    struct str port = str_cut(&rest, '|'), label = str_cut(&rest, '|');
    uint64_t number = 0;
    int64_t wanted = 0;
    (void)str_to_u64(port, &number);
    if (value_to_int(value_get(m, STR("portNumber")), &wanted) && wanted &&
        (uint64_t)wanted != number)
        return false;
    return (!subset.n || str_eq(subset, label)) && (!service.n || str_eq(service, rest));
}

void envoy_filter_clusters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *clusters)
{
    if (!w->of[MESH_ENVOY_FILTER].n)
        return;
    const char *context = p->is_router ? "GATEWAY" : "SIDECAR_OUTBOUND";
    struct patches ps = patch__list(a, w, p, "CLUSTER", context);
    for (size_t k = 0; k < ps.n; k++) {
        if (str_eq(ps.items[k].operation, STR("ADD"))) {
            value_put_item(a, clusters, value_borrow(&ps.items[k].value));
            continue;
        }
        for (size_t i = clusters->n; i-- > 0;) {
            if (!cluster_matches(&ps.items[k], &clusters->items[i]))
                continue;
            if (str_eq(ps.items[k].operation, STR("REMOVE")))
                value_remove_at(a, clusters, i);
            else
                patch__merge(a, value_edit_at(a, clusters, i), &ps.items[k].value);
        }
    }
}

static bool config_matches(const struct patch *p, const struct value *config)
{
    const struct value *m = value_get(p->match, STR("routeConfiguration"));
    struct str name = value_text(m, "name"), have = value_text(config, "name");
    int64_t port = 0;
    if (name.n && !str_eq(name, have))
        return false;
    if (!value_to_int(value_get(m, STR("portNumber")), &port) || !port)
        return true;
    struct arena scratch;
    arena_init(&scratch);
    struct str number = arena_printf(&scratch, "%lld", (long long)port);
    bool is_there = str_eq(have, number) ||
                    memmem(have.p, have.n, str_cstr(&scratch, number), number.n) != NULL;
    arena_done(&scratch);
    return is_there;
}

static void patch_routes(struct arena *a, const struct patches *ps, const struct value *config,
                         struct value *host)
{
    struct value *routes = value_edit(a, host, STR("routes"));
    for (size_t k = 0; routes && k < ps->n; k++) {
        const struct value *m = value_dig(ps->items[k].match, "routeConfiguration", "vhost");
        struct str name = value_text(m, "name");
        if (config_matches(&ps->items[k], config) &&
            (!name.n || str_eq(name, value_text(host, "name"))))
            patch__list_apply(a, routes, &ps->items[k], value_str(value_dig(m, "route", "name")));
    }
}

void envoy_filter_routes(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         struct value *config)
{
    if (!w->of[MESH_ENVOY_FILTER].n)
        return;
    const char *context = p->is_router ? "GATEWAY" : "SIDECAR_OUTBOUND";
    struct patches whole = patch__list(a, w, p, "ROUTE_CONFIGURATION", context);
    struct patches hosts = patch__list(a, w, p, "VIRTUAL_HOST", context);
    struct patches routes = patch__list(a, w, p, "HTTP_ROUTE", context);
    for (size_t k = 0; k < whole.n; k++) {
        if (config_matches(&whole.items[k], config) &&
            str_eq(whole.items[k].operation, STR("MERGE")))
            patch__merge(a, config, &whole.items[k].value);
    }
    struct value *list = value_edit(a, config, STR("virtual_hosts"));
    for (size_t k = 0; list && k < hosts.n; k++) {
        const struct patch *h = &hosts.items[k];
        if (config_matches(h, config))
            patch__list_apply(
                a, list, h, value_str(value_dig(h->match, "routeConfiguration", "vhost", "name")));
    }
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++)
        patch_routes(a, &routes, config, value_edit_at(a, list, i));
}
