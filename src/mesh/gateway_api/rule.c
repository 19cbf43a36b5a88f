/* Rules of HTTPRoutes and GRPCRoutes, as rules of VirtualServices. */
#include <stdlib.h>

#include "base/buf.h"
#include "mesh/gateway_api/gateway_api_internal.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

static struct value text_match(struct arena *a, const struct value *m)
{
    bool is_regex = str_eq(value_text(m, "type"), STR("RegularExpression"));
    const struct value *v = value_get(m, STR("value"));
    return is_regex ? tree(a, "{regex: %v}", tree_copy(v)) : tree(a, "{exact: %v}", tree_copy(v));
}

static struct value named_matches(struct arena *a, const struct value *list)
{
    struct value out = value_object();
    value_each_item (it, list) {
        struct str name = value_text(it, "name");
        if (!value_get(&out, name))
            value_put(a, &out, name, text_match(a, it));
    }
    return out.n ? out : value_null();
}

static struct value path_match(struct arena *a, const struct value *path)
{
    struct str type = value_text(path, "type");
    struct str v = value_text(path, "value");
    if (!path)
        return tree(a, "{prefix: '/'}");
    if (str_eq(type, STR("Exact")))
        return tree(a, "{exact: %s}", v);
    if (str_eq(type, STR("RegularExpression")))
        return tree(a, "{regex: %s}", v);
    return tree(a, "{prefix: %s}", v.n ? v : STR("/"));
}

static struct value http_match(struct arena *a, const struct value *m)
{
    struct str method = value_text(m, "method");
    return tree(a, "{uri: %v, headers: %v, queryParams: %v, method: %v}",
                path_match(a, value_get(m, STR("path"))),
                named_matches(a, value_get(m, STR("headers"))),
                named_matches(a, value_get(m, STR("queryParams"))),
                method.n ? tree(a, "{exact: %s}", method) : value_null());
}

/* A call is "/SERVICE/METHOD". */
static struct value grpc_match(struct arena *a, const struct value *m)
{
    const struct value *call = value_get(m, STR("method"));
    struct str service = value_text(call, "service"), method = value_text(call, "method");
    bool is_regex = str_eq(value_text(call, "type"), STR("RegularExpression"));
    struct value uri = value_null();
    if (is_regex)
        uri = tree(a, "{regex: %s}",
                   arena_printf(a, "/" STR_FMT "/" STR_FMT,
                                STR_ARG(service.n ? service : STR("[^/]+")),
                                STR_ARG(method.n ? method : STR("[^/]+"))));
    else if (service.n && method.n)
        uri = tree(a, "{exact: %s}",
                   arena_printf(a, "/" STR_FMT "/" STR_FMT, STR_ARG(service), STR_ARG(method)));
    else if (service.n)
        uri = tree(a, "{prefix: %s}", arena_printf(a, "/" STR_FMT "/", STR_ARG(service)));
    else if (method.n)
        uri = tree(a, "{regex: %s}", arena_printf(a, "/[^/]+/" STR_FMT, STR_ARG(method)));
    return tree(a, "{uri: %v, headers: %v}", uri, named_matches(a, value_get(m, STR("headers"))));
}

/* ---- Backends ---- */

static void blame(struct api_fault *fault, const char *reason, struct str message)
{
    if (!fault->reason)
        *fault = (struct api_fault){ reason, message };
}

/* A destination; one without a host is answered with 500. */
static struct value destination(struct realm *w, const struct mesh_object *route, const char *kind,
                                const struct value *ref, struct api_fault *fault)
{
    struct arena *a = w->arena;
    struct str name = value_text(ref, "name"), ns = value_text(ref, "namespace");
    struct str to_kind = value_text(ref, "kind"), group = value_text(ref, "group");
    bool is_hostname =
        str_eq(to_kind, STR("Hostname")) && str_eq(group, STR("networking.istio.io"));
    const struct value *port = value_get(ref, STR("port"));
    if (!ns.n)
        ns = route->ns;
    if (!is_hostname && (group.n || (to_kind.n && !str_eq(to_kind, STR("Service"))))) {
        blame(fault, "InvalidKind",
              arena_printf(a,
                           "referencing unsupported backendRef: group \"" STR_FMT
                           "\" kind \"" STR_FMT "\"",
                           STR_ARG(group), STR_ARG(to_kind)));
        return value_object();
    }
    if (!api__granted(w, kind, route->ns, "Service", ns, name)) {
        blame(fault, "RefNotPermitted",
              arena_printf(a,
                           "backendRef " STR_FMT "/" STR_FMT
                           " not accessible to a %s in namespace \"" STR_FMT
                           "\" (missing a ReferenceGrant?)",
                           STR_ARG(name), STR_ARG(ns), kind, STR_ARG(route->ns)));
        return value_object();
    }
    struct str host = is_hostname
                          ? name
                          : arena_printf(a, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(name),
                                         STR_ARG(ns), STR_ARG(w->settings.domain));
    if (!realm_services_of(w, host))
        blame(fault, "BackendNotFound",
              arena_printf(a, "backend(" STR_FMT ") not found", STR_ARG(host)));
    if (!port && !is_hostname) {
        blame(fault, "UnsupportedValue", STR("port is required in backendRef"));
        return value_object();
    }
    return tree(a, "{host: %s, port: {number: %v}}", host, tree_copy(port));
}

/* ---- Filters ---- */

static struct value header_list(struct arena *a, const struct value *list)
{
    struct value out = value_object();
    value_each_item (it, list)
        value_put(a, &out, value_text(it, "name"), value_string(value_text(it, "value")));
    return out.n ? out : value_null();
}

static struct value header_change(struct arena *a, const struct value *how)
{
    return tree(a, "{set: %v, add: %v, remove: %v}", header_list(a, value_get(how, STR("set"))),
                header_list(a, value_get(how, STR("add"))),
                tree_copy(value_get(how, STR("remove"))));
}

static struct value redirect(struct arena *a, const struct value *how)
{
    const struct value *path = value_get(how, STR("path")), *port = value_get(how, STR("port"));
    struct str scheme = value_text(how, "scheme");
    struct value out =
        tree(a, "{redirectCode: %v, authority: %v, scheme: %v, uri: %v, prefixRewrite: %v}",
             value_get(how, STR("statusCode")) ? tree_copy(value_get(how, STR("statusCode")))
                                               : value_int(302),
             tree_copy(value_get(how, STR("hostname"))), tree_copy(value_get(how, STR("scheme"))),
             tree_copy(value_get(path, STR("replaceFullPath"))),
             tree_copy(value_get(path, STR("replacePrefixMatch"))));
    if (port)
        value_put(a, &out, STR("port"), tree_copy(port));
    else
        value_put(a, &out, STR("derivePort"),
                  value_string(scheme.n ? STR("FROM_PROTOCOL_DEFAULT") : STR("FROM_REQUEST_PORT")));
    return out;
}

static struct value url_rewrite(struct arena *a, const struct value *how)
{
    const struct value *path = value_get(how, STR("path"));
    struct value out = tree(a, "{authority: %v}", tree_copy(value_get(how, STR("hostname"))));
    struct str type = value_text(path, "type"), prefix = value_text(path, "replacePrefixMatch");
    if (str_eq(type, STR("ReplaceFullPath"))) {
        value_put(a, &out, STR("uriRegexRewrite"),
                  tree(a, "{match: '/.*', rewrite: %s}", value_text(path, "replaceFullPath")));
    } else if (path) {
        if (str_ends(prefix, STR("/")))
            prefix.n--;
        value_put(a, &out, STR("uri"), value_string(prefix.n ? prefix : STR("/")));
    }
    return out;
}

static struct value mirror(struct realm *w, const struct mesh_object *route, const char *kind,
                           const struct value *how, struct api_fault *fault)
{
    struct arena *a = w->arena;
    const struct value *percent = value_get(how, STR("percent"));
    const struct value *part = value_get(how, STR("fraction"));
    double share = 100, n = 0, of = 100;
    if (percent)
        (void)value_to_double(percent, &share);
    if (part) {
        (void)value_to_double(value_get(part, STR("numerator")), &n);
        (void)value_to_double(value_get(part, STR("denominator")), &of);
        share = of > 0 ? 100 * n / of : 100;
    }
    struct value to = destination(w, route, kind, value_get(how, STR("backendRef")), fault);
    return tree(a, "{destination: %v, percentage: {value: %v}}", to,
                value_number(arena_printf(a, "%.4f", share)));
}

static struct value cors(struct arena *a, const struct value *how)
{
    struct value origins = value_array();
    int64_t age = 5;
    value_each_item (it, value_get(how, STR("allowOrigins"))) {
        struct str s = value_str(it);
        if (str_find(s, '*') < 0) {
            value_put_item(a, &origins, tree(a, "{exact: %s}", s));
            continue;
        }
        autobuf regex = { 0 };
        for (size_t i = 0; i < s.n; i++) {
            if (s.p[i] == '*')
                buf_str_add(&regex, STR(".*"));
            else if (s.p[i] == '.')
                buf_str_add(&regex, STR("\\."));
            else
                buf_byte(&regex, s.p[i]);
        }
        value_put_item(a, &origins, tree(a, "{regex: %s}", arena_str(a, buf_str(&regex))));
    }
    (void)value_to_int(value_get(how, STR("maxAge")), &age);
    return tree(a,
                "{allowOrigins: %v, allowMethods: %v, allowHeaders: %v, exposeHeaders: %v, "
                "allowCredentials: %v, maxAge: %s, unmatchedPreflights: IGNORE}",
                origins, tree_copy(value_get(how, STR("allowMethods"))),
                tree_copy(value_get(how, STR("allowHeaders"))),
                tree_copy(value_get(how, STR("exposeHeaders"))),
                tree_copy(value_get(how, STR("allowCredentials"))),
                arena_printf(a, "%llds", (long long)age));
}

static void filter_headers(struct arena *a, const struct value *f, struct value *headers)
{
    struct str type = value_text(f, "type");
    if (str_eq(type, STR("RequestHeaderModifier")))
        value_put(a, headers, STR("request"),
                  header_change(a, value_get(f, STR("requestHeaderModifier"))));
    else if (str_eq(type, STR("ResponseHeaderModifier")))
        value_put(a, headers, STR("response"),
                  header_change(a, value_get(f, STR("responseHeaderModifier"))));
}

static void apply_filters(struct realm *w, const struct mesh_object *route, const char *kind,
                          const struct value *rule, struct value *out, struct api_fault *fault)
{
    struct arena *a = w->arena;
    struct value headers = value_object(), mirrors = value_array();
    value_each_item (f, value_get(rule, STR("filters"))) {
        struct str type = value_text(f, "type");
        filter_headers(a, f, &headers);
        if (str_eq(type, STR("RequestRedirect")))
            value_put(a, out, STR("redirect"), redirect(a, value_get(f, STR("requestRedirect"))));
        else if (str_eq(type, STR("URLRewrite")))
            value_put(a, out, STR("rewrite"), url_rewrite(a, value_get(f, STR("urlRewrite"))));
        else if (str_eq(type, STR("RequestMirror")))
            value_put_item(a, &mirrors,
                           mirror(w, route, kind, value_get(f, STR("requestMirror")), fault));
        else if (str_eq(type, STR("CORS")))
            value_put(a, out, STR("corsPolicy"), cors(a, value_get(f, STR("cors"))));
    }
    if (headers.n)
        value_put(a, out, STR("headers"), headers);
    if (mirrors.n)
        value_put(a, out, STR("mirrors"), mirrors);
}

static void apply_times(struct arena *a, const struct value *rule, struct value *out)
{
    const struct value *request = value_dig(rule, "timeouts", "request");
    const struct value *backend = value_dig(rule, "timeouts", "backendRequest");
    const struct value *retry = value_get(rule, STR("retry"));
    if (retry) {
        struct str codes = STR("connect-failure,refused-stream,unavailable,cancelled");
        value_each_item (it, value_get(retry, STR("codes")))
            codes = arena_printf(a, STR_FMT ",%lld", STR_ARG(codes), (long long)it->i);
        const struct value *attempts = value_get(retry, STR("attempts"));
        value_put(a, out, STR("retries"),
                  tree(a, "{attempts: %v, retryOn: %s, backoff: %v, perTryTimeout: %v}",
                       attempts ? tree_copy(attempts) : value_int(2), codes,
                       tree_copy(value_get(retry, STR("backoff"))), tree_copy(backend)));
    }
    if (backend && !retry)
        request = backend;
    if (request)
        value_put(a, out, STR("timeout"), tree_copy(request));
}

static struct value backends(struct realm *w, const struct mesh_object *route, const char *kind,
                             const struct value *rule, struct api_fault *fault)
{
    struct arena *a = w->arena;
    struct value out = value_array();
    value_each_item (ref, value_get(rule, STR("backendRefs"))) {
        int64_t weight = 1;
        struct value headers = value_object();
        (void)value_to_int(value_get(ref, STR("weight")), &weight);
        struct value to = destination(w, route, kind, ref, fault);
        if (weight == 0)
            continue;
        value_each_item (f, value_get(ref, STR("filters")))
            filter_headers(a, f, &headers);
        value_put_item(a, &out,
                       tree(a, "{destination: %v, weight: %v, headers: %v}", to, value_int(weight),
                            headers.n ? headers : value_null()));
    }
    return out;
}

struct value api__l4_backends(struct realm *w, const struct mesh_object *route, const char *kind,
                              const struct value *rule, struct api_fault *fault)
{
    return backends(w, route, kind, rule, fault);
}

void api__http_rule(struct realm *w, const struct mesh_object *route, const char *kind,
                    const struct value *rule, struct value *out, struct api_fault *fault)
{
    struct arena *a = w->arena;
    bool is_grpc = str_eq(str_of(kind), STR("GRPCRoute"));
    struct value http = value_object();
    struct value to = backends(w, route, kind, rule, fault);
    const struct value *matches = value_get(rule, STR("matches"));
    apply_filters(w, route, kind, rule, &http, fault);
    apply_times(a, rule, &http);
    if (value_get(&http, STR("redirect")))
        ;
    else if (to.n)
        value_put(a, &http, STR("route"), to);
    else
        value_put(a, &http, STR("directResponse"), tree(a, "{status: 500}"));
    if (!tree_has(matches)) {
        if (!is_grpc)
            value_put(a, &http, STR("match"), tree(a, "[{uri: {prefix: '/'}}]"));
        value_put_item(a, out, http);
        return;
    }
    value_each_item (m, matches) {
        struct value one = value_clone(a, &http);
        value_put(a, &one, STR("match"),
                  tree(a, "[%v]", is_grpc ? grpc_match(a, m) : http_match(a, m)));
        value_put_item(a, out, one);
    }
}

/* ---- Order ---- */

static int uri_rank(const struct value *m)
{
    const struct value *uri = value_get(m, STR("uri"));
    return value_get(uri, STR("exact")) ? 3 : value_get(uri, STR("prefix")) ? 2 : uri ? 1 : -1;
}

static size_t uri_length(const struct value *m)
{
    const struct value *uri = value_get(m, STR("uri"));
    value_each_field (f, uri)
        return value_str(&f->val).n;
    return 0;
}

static size_t count(const struct value *m, const char *key)
{
    const struct value *v = value_get(m, str_of(key));
    return v ? v->n : 0;
}

/* Negative: `x` is looked at before `y`. */
static int specificity(const struct value *x, const struct value *y)
{
    const struct value *a = value_at(value_get(x, STR("match")), 0);
    const struct value *b = value_at(value_get(y, STR("match")), 0);
    if (!a || !b)
        return a ? -1 : b ? 1 : 0;
    if (uri_rank(a) != uri_rank(b))
        return uri_rank(b) - uri_rank(a);
    if (uri_length(a) != uri_length(b))
        return uri_length(a) > uri_length(b) ? -1 : 1;
    bool ma = value_get(a, STR("method")) != NULL, mb = value_get(b, STR("method")) != NULL;
    if (ma != mb)
        return ma ? -1 : 1;
    if (count(a, "headers") != count(b, "headers"))
        return count(a, "headers") > count(b, "headers") ? -1 : 1;
    size_t qa = count(a, "queryParams"), qb = count(b, "queryParams");
    return qa > qb ? -1 : qa < qb;
}

/* Stable, so that older routes and earlier rules stay in front. */
void api__sort_http(struct value *rules)
{
    for (size_t i = 1; i < rules->n; i++) {
        struct value one = rules->items[i];
        size_t k = i;
        for (; k > 0 && specificity(&one, &rules->items[k - 1]) < 0; k--)
            rules->items[k] = rules->items[k - 1];
        rules->items[k] = one;
    }
}
