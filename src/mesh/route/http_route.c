/* Routes of virtual services. */
#include "mesh/cluster/cluster.h"
#include "mesh/cluster/policy.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "mesh/route/route_internal.h"
#include "base/banned.h"

/* The service that a destination means: of the virtual service's namespace, else what is seen. */
static const struct mesh_service *service_of(const struct route_view *v, struct str host,
                                             struct str vs_ns)
{
    for (size_t i = 0; v->egress && i < v->egress->services.n; i++) {
        const struct mesh_service *s = v->egress->services.items[i];
        if (str_eq(s->host, host) && (!v->port || service_port(s, v->port)))
            return s;
    }
    if (v->egress)
        return NULL;
    const struct mesh_services *all = realm_services_of(v->realm, host);
    for (size_t i = 0; all && i < all->n; i++) {
        if (str_eq(all->items[i]->ns, vs_ns) && realm_service_visible(all->items[i], v->proxy->ns))
            return all->items[i];
    }
    return scope_service(v->scope, host);
}

static int port_of(const struct route_view *v, const struct value *destination,
                   const struct mesh_service *s)
{
    int64_t port = 0;
    if (value_to_int(value_dig(destination, "port", "number"), &port) && port > 0)
        return (int)port;
    return s && s->n_ports == 1 ? s->ports[0].number : v->port;
}

static struct str cluster_of(const struct route_view *v, const struct value *destination,
                             struct str vs_ns)
{
    struct str host = value_text(destination, "host");
    const struct mesh_service *s = service_of(v, host, vs_ns);
    if (!host.n)
        return STR("UnknownService");
    int port = port_of(v, destination, s);
    if (s && s->external_name.n)
        host = s->external_name;
    return cluster_name(v->arena, "outbound", port, value_text(destination, "subset"), host);
}

const struct value *route__hash_of(const struct route_view *v, const struct mesh_service *s,
                                   int port, struct str subset, struct value *policy)
{
    const struct mesh_rule *rule =
        s ? realm_rule_for(v->realm, s, v->proxy->ns, v->proxy->labels) : NULL;
    const struct value *of = NULL;
    if (!rule)
        return NULL;
    value_each_item (it, &rule->subsets) {
        if (subset.n && str_eq(value_text(it, "name"), subset))
            of = it;
    }
    *policy = policy_merge(v->arena, rule, of, port);
    return value_dig(policy, "loadBalancer", "consistentHash");
}

static struct value hash_of(const struct route_view *v, const struct value *destination,
                            struct str vs_ns)
{
    const struct mesh_service *s = scope_service(v->scope, value_text(destination, "host"));
    struct value policy = value_null();
    (void)vs_ns;
    const struct value *hash = route__hash_of(v, s, port_of(v, destination, s),
                                              value_text(destination, "subset"), &policy);
    return hash ? route__hash(v->arena, hash) : value_null();
}

static void put_list(struct arena *a, struct value *out, const char *key, const struct value *more)
{
    if (!more->n)
        return;
    struct value *have = value_edit(a, out, str_of(key));
    if (have)
        tree_append(a, have, more);
    else
        value_put(a, out, str_of(key), value_borrow(more));
}

static void put_headers(struct arena *a, struct value *out, const struct header_operations *h)
{
    put_list(a, out, "request_headers_to_add", &h->request_add);
    put_list(a, out, "request_headers_to_remove", &h->request_remove);
    put_list(a, out, "response_headers_to_add", &h->response_add);
    put_list(a, out, "response_headers_to_remove", &h->response_remove);
}

static void add_hash(struct arena *a, struct value *action, struct value hash)
{
    if (hash.type == VALUE_NULL)
        return;
    struct value *have = value_edit(a, action, STR("hash_policy"));
    if (have)
        value_put_item(a, have, hash);
    else
        value_put(a, action, STR("hash_policy"), tree(a, "[%v]", hash));
}

static void to_one(const struct route_view *v, const struct mesh_object *vs,
                   const struct value *dest, struct value *out, struct value *action)
{
    struct arena *a = v->arena;
    const struct value *to = value_get(dest, STR("destination"));
    struct header_operations h = route__headers(a, value_get(dest, STR("headers")));
    value_put(a, action, STR("cluster"), value_string(cluster_of(v, to, vs->ns)));
    put_headers(a, out, &h);
    if (h.authority.n && !value_get(action, STR("host_rewrite_literal")))
        value_put(a, action, STR("host_rewrite_literal"), value_string(h.authority));
    add_hash(a, action, hash_of(v, to, vs->ns));
}

static void to_several(const struct route_view *v, const struct mesh_object *vs,
                       const struct value *dests, struct value *action)
{
    struct arena *a = v->arena;
    struct value clusters = value_array();
    value_each_item (dest, dests) {
        int64_t weight = 0;
        const struct value *to = value_get(dest, STR("destination"));
        if (!value_to_int(value_get(dest, STR("weight")), &weight) || weight <= 0)
            continue;
        struct header_operations h = route__headers(a, value_get(dest, STR("headers")));
        struct value c =
            tree(a, "{name: %s, weight: %v}", cluster_of(v, to, vs->ns), value_int(weight));
        put_headers(a, &c, &h);
        if (h.authority.n)
            value_put(a, &c, STR("host_rewrite_literal"), value_string(h.authority));
        value_put_item(a, &clusters, c);
        add_hash(a, action, hash_of(v, to, vs->ns));
    }
    value_put(a, action, STR("weighted_clusters"), tree(a, "{clusters: %v}", clusters));
}

static struct str quote_meta(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, 2 * s.n + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("\\.+*?()|[]{}^$", s.p[i]))
            out[n++] = '\\';
        out[n++] = s.p[i];
    }
    return (struct str){ out, n };
}

static void rewrite(struct arena *a, const struct mesh_object *vs, const struct value *how,
                    const struct value *match, struct value *action)
{
    const struct value *regex = value_get(how, STR("uriRegexRewrite"));
    struct str uri = value_text(how, "uri");
    if (regex) {
        value_put(a, action, STR("regex_rewrite"),
                  tree(a, "{pattern: {regex: %v}, substitution: %v}",
                       tree_copy(value_get(regex, STR("match"))),
                       value_string(value_text(regex, "rewrite"))));
    } else if (uri.n && vs->is_api && str_eq(uri, STR("/"))) {
        struct str prefix = quote_meta(a, value_text(match, "path_separated_prefix"));
        value_put(a, action, STR("regex_rewrite"),
                  tree(a, "{pattern: {regex: %s}, substitution: '/\\2'}",
                       arena_printf(a, "^" STR_FMT "(/?)(.*)", STR_ARG(prefix))));
    } else if (uri.n) {
        value_put(a, action, STR("prefix_rewrite"), value_string(uri));
    }
    if (value_text(how, "authority").n)
        value_put(a, action, STR("host_rewrite_literal"),
                  value_string(value_text(how, "authority")));
}

static void add_mirror(const struct route_view *v, const struct mesh_object *vs,
                       const struct value *to, const struct value *percentage, struct value *list)
{
    double d = 100;
    if (percentage)
        d = 0, (void)value_to_double(value_get(percentage, STR("value")), &d);
    if (!to || d <= 0)
        return;
    struct value part =
        percentage ? route__percent(v->arena, percentage) : tree(v->arena, "{numerator: 100}");
    value_put_item(
        v->arena, list,
        tree(v->arena,
             "{cluster: %s, runtime_fraction: {default_value: %v}, trace_sampled: false, "
             "disable_shadow_host_suffix_append: true}",
             cluster_of(v, to, vs->ns), part));
}

static void mirrors(const struct route_view *v, const struct mesh_object *vs,
                    const struct value *http, struct value *action)
{
    struct value list = value_array();
    add_mirror(v, vs, value_get(http, STR("mirror")), value_get(http, STR("mirrorPercentage")),
               &list);
    value_each_item (it, value_get(http, STR("mirrors")))
        add_mirror(v, vs, value_get(it, STR("destination")), value_get(it, STR("percentage")),
                   &list);
    if (list.n)
        value_put(v->arena, action, STR("request_mirror_policies"), list);
}

static void forward(const struct route_view *v, const struct mesh_object *vs,
                    const struct value *http, struct str authority, struct value *out)
{
    struct arena *a = v->arena;
    const struct value *dests = value_get(http, STR("route"));
    const struct value *timeout = value_get(http, STR("timeout"));
    const struct value *how = value_get(http, STR("rewrite"));
    struct value t = timeout ? tree_duration(a, timeout) : value_string(STR("0s"));
    struct value action = tree(a, "{timeout: %v, max_grpc_timeout: %v}", value_clone(a, &t), t);
    if (vs->is_api)
        value_put(a, &action, STR("cluster_not_found_response_code"),
                  value_string(STR("INTERNAL_SERVER_ERROR")));
    if (how)
        rewrite(a, vs, how, value_get(out, STR("match")), &action);
    if (authority.n && !value_get(&action, STR("host_rewrite_literal")))
        value_put(a, &action, STR("host_rewrite_literal"), value_string(authority));
    mirrors(v, vs, http, &action);
    bool is_hashed = false;
    if (value_is(dests, VALUE_ARRAY) && dests->n == 1) {
        to_one(v, vs, value_at(dests, 0), out, &action);
        is_hashed = value_get(&action, STR("hash_policy")) != NULL;
    } else {
        to_several(v, vs, dests, &action);
    }
    tree_put(a, &action, "retry_policy",
             route__retry(a, value_get(http, STR("retries")), is_hashed));
    value_put(a, out, STR("route"), action);
}

/* Whether a match is meant for this gateway, port and workload. */
static bool holds_here(const struct route_view *v, const struct value *match)
{
    int64_t port = 0;
    if (value_to_int(value_get(match, STR("port")), &port) && port && port != v->port)
        return false;
    const struct value *gateways = value_get(match, STR("gateways"));
    if (tree_has(gateways)) {
        value_each_item (it, gateways) {
            if (str_eq(value_str(it), v->gateway))
                return true;
        }
        return false;
    }
    struct str ns = value_text(match, "sourceNamespace");
    return realm_selects(value_get(match, STR("sourceLabels")), v->proxy->labels) &&
           (!ns.n || str_eq(ns, v->proxy->ns));
}

static struct value filters_of(struct arena *a, const struct value *http)
{
    const struct value *fault = value_get(http, STR("fault"));
    const struct value *cors = value_get(http, STR("corsPolicy"));
    struct value out = value_object();
    if (fault)
        tree_put(a, &out, "envoy.filters.http.fault", route__fault(a, fault));
    if (cors)
        tree_put(a, &out, "envoy.filters.http.cors", route__cors(a, cors));
    return out.n ? out : value_null();
}

static struct value config_note(struct arena *a, const struct mesh_object *vs)
{
    struct str path = arena_printf(
        a, "/apis/networking.istio.io/v1/namespaces/" STR_FMT "/virtual-service/" STR_FMT,
        STR_ARG(vs->ns), STR_ARG(vs->name));
    return tree(a, "{filter_metadata: {istio: {config: %s}}}", path);
}

static struct value translate(const struct route_view *v, const struct mesh_object *vs,
                              const struct value *http, const struct value *match)
{
    struct arena *a = v->arena;
    struct str name = value_text(http, "name"), more = value_text(match, "name");
    if (more.n)
        name = arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(name), STR_ARG(more));
    struct value out = tree(a, "{name: %s, match: %v, metadata: %v}", name,
                            route__match(a, vs, match), config_note(a, vs));
    struct header_operations h = route__headers(a, value_get(http, STR("headers")));
    const struct value *redirect = value_get(http, STR("redirect"));
    const struct value *direct = value_get(http, STR("directResponse"));
    put_headers(a, &out, &h);
    if (redirect) {
        struct value r = route__redirect(a, redirect, v->port, v->is_tls);
        if (r.type == VALUE_NULL)
            return r;
        value_put(a, &out, STR("redirect"), r);
    } else if (direct) {
        value_put(a, &out, STR("direct_response"), route__direct(a, direct));
    } else {
        forward(v, vs, http, h.authority, &out);
    }
    tree_put(a, &out, "typed_per_filter_config", filters_of(a, http));
    return out;
}

/* What follows such a route can never be reached. */
static bool catches_all(const struct value *route)
{
    const struct value *m = value_get(route, STR("match"));
    struct str regex = value_str(value_dig(m, "safe_regex", "regex"));
    bool any_path = str_eq(value_text(m, "prefix"), STR("/")) || str_eq(regex, STR("*"));
    return any_path && !tree_has(value_get(m, STR("headers"))) &&
           !tree_has(value_get(m, STR("query_parameters"))) &&
           !tree_has(value_get(m, STR("dynamic_metadata")));
}

struct value route__of_virtual_service(const struct route_view *v, const struct mesh_object *vs)
{
    struct value out = value_array();
    value_each_item (http, value_get(vs->spec, STR("http"))) {
        const struct value *matches = value_get(http, STR("match"));
        if (!tree_has(matches)) {
            struct value r = translate(v, vs, http, NULL);
            if (r.type != VALUE_NULL)
                value_put_item(v->arena, &out, r);
            return out;
        }
        value_each_item (match, matches) {
            if (!holds_here(v, match))
                continue;
            struct value r = translate(v, vs, http, match);
            if (r.type == VALUE_NULL)
                continue;
            bool is_last = catches_all(&r);
            value_put_item(v->arena, &out, r);
            if (is_last)
                return out;
        }
    }
    return out;
}

struct value route__default(const struct route_view *v, const struct mesh_service *s,
                            const struct mesh_port *port)
{
    struct arena *a = v->arena;
    struct value policy = value_null();
    const struct value *hash = route__hash_of(v, s, port->number, STR(""), &policy);
    struct value action = tree(
        a, "{cluster: %s, timeout: '0s', max_grpc_timeout: '0s', retry_policy: %v}",
        cluster_name(a, "outbound", port->number, STR(""), s->host), route__retry(a, NULL, false));
    if (hash)
        add_hash(a, &action, route__hash(a, hash));
    return tree(a, "{name: default, match: {prefix: '/'}, route: %v}", action);
}

struct value routes_inbound(struct arena *a, struct str cluster, int port, bool is_grpc)
{
    struct value retry =
        is_grpc ? value_null() : tree(a, "{retry_on: reset-before-request, num_retries: 2}");
    return tree(
        a,
        "{name: %s, validate_clusters: false, virtual_hosts: [{name: %s, domains: ['*'], "
        "routes: [{name: default, match: {prefix: '/'}, route: {cluster: %s, timeout: '0s', "
        "max_stream_duration: {max_stream_duration: '0s', grpc_timeout_header_max: '0s'}, "
        "retry_policy: %v}}]}]}",
        cluster, arena_printf(a, "inbound|http|%d", port), cluster, retry);
}
