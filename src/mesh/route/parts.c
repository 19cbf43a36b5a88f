/* Parts of a route: what is matched, answered and changed. */
#include <stdlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "mesh/model/tree.h"
#include "mesh/route/route_internal.h"
#include "base/banned.h"

struct value route__text_match(struct arena *a, const struct value *match)
{
    const struct value *v;
    if ((v = value_get(match, STR("exact"))))
        return tree(a, "{exact: %v}", tree_copy(v));
    if ((v = value_get(match, STR("prefix"))))
        return tree(a, "{prefix: %v}", tree_copy(v));
    if ((v = value_get(match, STR("regex"))))
        return tree(a, "{safe_regex: {regex: %v}}", tree_copy(v));
    return value_null();
}

/* An empty matcher, and "*" as a regular expression, ask only that it is there. */
static bool is_presence(const struct value *match)
{
    const struct value *regex = value_get(match, STR("regex"));
    if (regex)
        return str_eq(value_str(regex), STR("*"));
    return !value_get(match, STR("exact")) && !value_get(match, STR("prefix"));
}

static struct value header_match(struct arena *a, struct str name, const struct value *match)
{
    if (is_presence(match))
        return tree(a, "{name: %s, present_match: true}", name);
    return tree(a, "{name: %s, string_match: %v}", name, route__text_match(a, match));
}

/* "@request.auth.claims.a.b" or "[...]" with one name. False: it is a header. */
static bool claim_path(struct arena *a, struct str name, struct value *ret)
{
    struct str prefix = STR("@request.auth.claims");
    if (!str_starts(name, prefix) || name.n < prefix.n + 2)
        return false;
    struct str rest = str_skip(name, prefix.n);
    *ret = value_array();
    value_put_item(a, ret, tree(a, "{key: payload}"));
    if (*rest.p == '.') {
        rest = str_skip(rest, 1);
        while (rest.n)
            value_put_item(a, ret, tree(a, "{key: %s}", str_cut(&rest, '.')));
        return true;
    }
    while (rest.n && *rest.p == '[') {
        rest = str_skip(rest, 1);
        value_put_item(a, ret, tree(a, "{key: %s}", str_cut(&rest, ']')));
    }
    return ret->n > 1;
}

static struct value claim_match(struct arena *a, struct value path, const struct value *match,
                                bool invert)
{
    struct value text = route__text_match(a, match);
    struct value value =
        text.type == VALUE_NULL
            ? tree(a, "{present_match: true}")
            : tree(a,
                   "{or_match: {value_matchers: [{string_match: %v}, {list_match: {one_of: "
                   "{string_match: %v}}}]}}",
                   value_clone(a, &text), text);
    return tree(a, "{filter: envoy.filters.http.jwt_authn, path: %v, value: %v, invert: %v}", path,
                value, invert ? value_bool(true) : value_null());
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(value_text((const struct value *)x, "name"),
                   value_text((const struct value *)y, "name"));
}

static void match_headers(struct arena *a, const struct value *match, struct value *out)
{
    struct value headers = value_array(), claims = value_array(), path;
    value_each_field (f, value_get(match, STR("headers"))) {
        if (claim_path(a, f->key, &path))
            value_put_item(a, &claims, claim_match(a, path, &f->val, false));
        else
            value_put_item(a, &headers, header_match(a, f->key, &f->val));
    }
    value_each_field (f, value_get(match, STR("withoutHeaders"))) {
        if (claim_path(a, f->key, &path)) {
            value_put_item(a, &claims, claim_match(a, path, &f->val, true));
            continue;
        }
        struct value h = header_match(a, f->key, &f->val);
        value_put(a, &h, STR("invert_match"), value_bool(true));
        if (!is_presence(&f->val))
            value_put(a, &h, STR("treat_missing_header_as_empty"), value_bool(true));
        value_put_item(a, &headers, h);
    }
    if (headers.n)
        qsort(headers.items, headers.n, sizeof(*headers.items), by_name);
    static const char *const pseudo[][2] = { { "method", ":method" },
                                             { "authority", ":authority" },
                                             { "scheme", ":scheme" } };
    for (size_t i = 0; i < 3; i++) {
        const struct value *m = value_get(match, str_of(pseudo[i][0]));
        if (m)
            value_put_item(a, &headers, header_match(a, str_of(pseudo[i][1]), m));
    }
    if (headers.n)
        value_put(a, out, STR("headers"), headers);
    if (claims.n)
        value_put(a, out, STR("dynamic_metadata"), claims);
}

static void match_path(struct arena *a, const struct mesh_object *vs, const struct value *uri,
                       struct value *out)
{
    const struct value *v;
    if ((v = value_get(uri, STR("exact")))) {
        value_put(a, out, STR("path"), tree_copy(v));
    } else if ((v = value_get(uri, STR("regex")))) {
        value_put(a, out, STR("safe_regex"), tree(a, "{regex: %v}", tree_copy(v)));
    } else if ((v = value_get(uri, STR("prefix"))) && vs && vs->is_api &&
               !str_eq(value_str(v), STR("/"))) {
        struct str prefix = value_str(v);
        if (str_ends(prefix, STR("/")))
            prefix.n--;
        value_put(a, out, STR("path_separated_prefix"), value_string(prefix));
    } else {
        value_put(a, out, STR("prefix"), v ? tree_copy(v) : value_string(STR("/")));
    }
}

struct value route__match(struct arena *a, const struct mesh_object *vs, const struct value *match)
{
    struct value out = value_object(), queries = value_array();
    match_path(a, vs, value_get(match, STR("uri")), &out);
    if (!match)
        return out;
    value_put(a, &out, STR("case_sensitive"),
              value_bool(!value_is_true(value_get(match, STR("ignoreUriCase")))));
    match_headers(a, match, &out);
    value_each_field (f, value_get(match, STR("queryParams")))
        value_put_item(a, &queries,
                       is_presence(&f->val) ? tree(a, "{name: %s, present_match: true}", f->key)
                                            : tree(a, "{name: %s, string_match: %v}", f->key,
                                                   route__text_match(a, &f->val)));
    if (queries.n)
        value_put(a, &out, STR("query_parameters"), queries);
    return out;
}

static bool is_authority(struct str name)
{
    return str_eq_nocase(name, STR("host")) || str_eq_nocase(name, STR(":authority"));
}

static bool is_internal(struct str name)
{
    return (name.n && *name.p == ':') || str_eq_nocase(name, STR("host"));
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(value_str(value_dig((const struct value *)x, "header", "key")),
                   value_str(value_dig((const struct value *)y, "header", "key")));
}

static void add_headers(struct arena *a, const struct value *map, const char *action,
                        struct value *out, struct str *authority)
{
    struct value list = value_array();
    value_each_field (f, map) {
        if (authority && is_authority(f->key))
            *authority = value_str(&f->val);
        if (is_internal(f->key))
            continue;
        value_put_item(a, &list,
                       tree(a, "{header: {key: %s, value: %v}, append_action: %t}", f->key,
                            tree_copy(&f->val), action));
    }
    if (list.n)
        qsort(list.items, list.n, sizeof(*list.items), by_key);
    tree_append(a, out, &list);
}

static void remove_headers(struct arena *a, const struct value *names, struct value *out)
{
    value_each_item (it, names) {
        if (!is_internal(value_str(it)))
            value_put_item(a, out, tree_copy(it));
    }
}

struct header_operations route__headers(struct arena *a, const struct value *headers)
{
    struct header_operations out = { value_array(), value_array(), value_array(), value_array(),
                                     STR("") };
    const struct value *req = value_get(headers, STR("request"));
    const struct value *resp = value_get(headers, STR("response"));
    struct str set = STR(""), added = STR("");
    add_headers(a, value_get(req, STR("set")), "OVERWRITE_IF_EXISTS_OR_ADD", &out.request_add,
                &set);
    add_headers(a, value_get(req, STR("add")), "APPEND_IF_EXISTS_OR_ADD", &out.request_add, &added);
    add_headers(a, value_get(resp, STR("set")), "OVERWRITE_IF_EXISTS_OR_ADD", &out.response_add,
                NULL);
    add_headers(a, value_get(resp, STR("add")), "APPEND_IF_EXISTS_OR_ADD", &out.response_add, NULL);
    remove_headers(a, value_get(req, STR("remove")), &out.request_remove);
    remove_headers(a, value_get(resp, STR("remove")), &out.response_remove);
    out.authority = set.n ? set : added;
    return out;
}

static const char *redirect_code(int64_t code)
{
    switch (code) {
    case 0:
    case 301:
        return "MOVED_PERMANENTLY";
    case 302:
        return "FOUND";
    case 303:
        return "SEE_OTHER";
    case 307:
        return "TEMPORARY_REDIRECT";
    case 308:
        return "PERMANENT_REDIRECT";
    default:
        return NULL;
    }
}

struct value route__redirect(struct arena *a, const struct value *redirect, int port, bool is_tls)
{
    int64_t code = 0, number = 0;
    struct str scheme = value_text(redirect, "scheme");
    struct str prefix = value_text(redirect, "prefixRewrite");
    struct str derived = value_text(redirect, "derivePort");
    (void)value_to_int(value_get(redirect, STR("redirectCode")), &code);
    (void)value_to_int(value_get(redirect, STR("port")), &number);
    if (str_eq(derived, STR("FROM_REQUEST_PORT")))
        number = port;
    bool is_https = scheme.n ? str_eq(scheme, STR("https")) : is_tls;
    bool is_http = scheme.n ? str_eq(scheme, STR("http")) : !is_tls;
    if ((number == 80 && is_http) || (number == 443 && is_https))
        number = 0;
    if (!redirect_code(code))
        return value_null();
    struct value out = tree(a, "{host_redirect: %v, response_code: %t}",
                            tree_copy(value_get(redirect, STR("authority"))), redirect_code(code));
    if (prefix.n)
        value_put(a, &out, STR("prefix_rewrite"), value_string(prefix));
    else
        value_put(a, &out, STR("path_redirect"), value_string(value_text(redirect, "uri")));
    if (scheme.n)
        value_put(a, &out, STR("scheme_redirect"), value_string(scheme));
    if (number)
        value_put(a, &out, STR("port_redirect"), value_int(number));
    return out;
}

struct value route__direct(struct arena *a, const struct value *direct)
{
    const struct value *text = value_dig(direct, "body", "string");
    const struct value *bytes = value_dig(direct, "body", "bytes");
    struct value body = value_null();
    autobuf raw = { 0 };
    if (text)
        body = tree(a, "{inline_string: %v}", tree_copy(text));
    else if (bytes && base64_decode(&raw, value_str(bytes)))
        body = tree(a, "{inline_bytes: %s}", arena_str(a, raw.n ? buf_str(&raw) : STR("")));
    return tree(a, "{status: %v, body: %v}", tree_copy(value_get(direct, STR("status"))), body);
}

/* {value: 12.5}, in millionths. */
struct value route__percent(struct arena *a, const struct value *percentage)
{
    double d = 0;
    (void)value_to_double(value_get(percentage, STR("value")), &d);
    return tree(a, "{numerator: %d, denominator: MILLION}",
                d < 0 ? 0 : (int)((d > 100 ? 100 : d) * 10000));
}

static struct value fault_delay(struct arena *a, const struct value *delay)
{
    const struct value *fixed = value_get(delay, STR("fixedDelay"));
    const struct value *percentage = value_get(delay, STR("percentage"));
    int64_t percent = 0;
    if (!fixed)
        return value_null();
    (void)value_to_int(value_get(delay, STR("percent")), &percent);
    return tree(a, "{fixed_delay: %v, percentage: %v}", tree_duration(a, fixed),
                percentage ? route__percent(a, percentage)
                           : tree(a, "{numerator: %d}", (int)percent));
}

static int grpc_code(struct str name)
{
    static const char *const names[] = { "OK",
                                         "CANCELLED",
                                         "UNKNOWN",
                                         "INVALID_ARGUMENT",
                                         "DEADLINE_EXCEEDED",
                                         "NOT_FOUND",
                                         "ALREADY_EXISTS",
                                         "PERMISSION_DENIED",
                                         "RESOURCE_EXHAUSTED",
                                         "FAILED_PRECONDITION",
                                         "ABORTED",
                                         "OUT_OF_RANGE",
                                         "UNIMPLEMENTED",
                                         "INTERNAL",
                                         "UNAVAILABLE",
                                         "DATA_LOSS",
                                         "UNAUTHENTICATED" };
    for (int i = 0; i < 17; i++) {
        if (str_eq(name, str_of(names[i])))
            return i;
    }
    return -1;
}

struct value route__fault(struct arena *a, const struct value *fault)
{
    const struct value *abort = value_get(fault, STR("abort"));
    const struct value *status = value_get(abort, STR("httpStatus"));
    const struct value *percentage = value_get(abort, STR("percentage"));
    int grpc = grpc_code(value_text(abort, "grpcStatus"));
    struct value out = value_object();
    tree_put(a, &out, "delay", fault_delay(a, value_get(fault, STR("delay"))));
    if (status || grpc >= 0)
        value_put(a, &out, STR("abort"),
                  tree(a, "{http_status: %v, grpc_status: %v, percentage: %v}", tree_copy(status),
                       status ? value_null() : value_int(grpc),
                       percentage ? route__percent(a, percentage) : value_null()));
    return out.n ? tree_any(a, "envoy.extensions.filters.http.fault.v3.HTTPFault", out)
                 : value_null();
}

static struct value joined(struct arena *a, const struct value *list)
{
    struct str out = STR("");
    value_each_item (it, list)
        out = out.n ? arena_printf(a, STR_FMT "," STR_FMT, STR_ARG(out), STR_ARG(value_str(it)))
                    : value_str(it);
    return out.n ? value_string(out) : value_null();
}

struct value route__cors(struct arena *a, const struct value *cors)
{
    struct value origins = value_array(), age = value_null();
    const struct value *max_age = value_get(cors, STR("maxAge"));
    bool ignores = str_eq(value_text(cors, "unmatchedPreflights"), STR("IGNORE"));
    value_each_item (it, value_get(cors, STR("allowOrigins")))
        value_put_item(a, &origins, route__text_match(a, it));
    value_each_item (it, value_get(cors, STR("allowOrigin")))
        value_put_item(a, &origins, tree(a, "{exact: %v}", tree_copy(it)));
    if (max_age)
        age = value_string(arena_printf(a, "%lld", (long long)tree_seconds(value_str(max_age))));
    struct value out = tree(
        a,
        "{allow_origin_string_match: %v, allow_methods: %v, allow_headers: %v, expose_headers: "
        "%v, max_age: %v, allow_credentials: %v, filter_enabled: {default_value: {numerator: "
        "100}}, forward_not_matching_preflights: %b}",
        origins, joined(a, value_get(cors, STR("allowMethods"))),
        joined(a, value_get(cors, STR("allowHeaders"))),
        joined(a, value_get(cors, STR("exposeHeaders"))), age,
        tree_copy(value_get(cors, STR("allowCredentials"))), !ignores);
    return tree_any(a, "envoy.extensions.filters.http.cors.v3.CorsPolicy", out);
}

static bool is_status(struct str s, uint64_t *ret)
{
    return str_to_u64(s, ret) && *ret >= 100 && *ret <= 511;
}

/* Conditions and status codes, apart. */
static void split_retry_on(struct arena *a, struct str text, struct value *out)
{
    struct str words = STR("");
    struct value codes = value_array();
    while (text.n) {
        struct str one = str_trim(str_cut(&text, ','));
        uint64_t code;
        if (!one.n)
            continue;
        if (is_status(one, &code))
            value_put_item(a, &codes, value_int((int64_t)code));
        else
            words =
                words.n ? arena_printf(a, STR_FMT "," STR_FMT, STR_ARG(words), STR_ARG(one)) : one;
    }
    if (codes.n && !memmem(words.p, words.n, "retriable-status-codes", 22))
        words = arena_printf(a, STR_FMT ",retriable-status-codes", STR_ARG(words));
    value_put(a, out, STR("retry_on"), value_string(words));
    if (codes.n)
        value_put(a, out, STR("retriable_status_codes"), codes);
}

struct value route__retry(struct arena *a, const struct value *retries, bool is_hashed)
{
    int64_t attempts = 0;
    struct value other_hosts =
        tree(a, "[%v]",
             tree_extension(a, "envoy.retry_host_predicates.previous_hosts",
                            "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
                            value_object()));
    struct value out = tree(a, "{retry_on: 'connect-failure,refused-stream,unavailable,cancelled,"
                               "retriable-status-codes', num_retries: 2, "
                               "host_selection_retry_max_attempts: 5}");
    const struct value *ignores = value_get(retries, STR("retryIgnorePreviousHosts"));
    if (ignores ? value_is_true(ignores) : !is_hashed)
        value_put(a, &out, STR("retry_host_predicate"), other_hosts);
    if (!retries)
        return out;
    (void)value_to_int(value_get(retries, STR("attempts")), &attempts);
    if (attempts <= 0)
        return value_null();
    value_put(a, &out, STR("num_retries"), value_int(attempts));
    struct str on = value_text(retries, "retryOn");
    if (on.n)
        split_retry_on(a, on, &out);
    tree_put(a, &out, "per_try_timeout",
             tree_duration(a, value_get(retries, STR("perTryTimeout"))));
    const struct value *backoff = value_get(retries, STR("backoff"));
    if (backoff)
        value_put(a, &out, STR("retry_back_off"),
                  tree(a, "{base_interval: %v}", tree_duration(a, backoff)));
    return out;
}

struct value route__hash(struct arena *a, const struct value *hash)
{
    struct str header = value_text(hash, "httpHeaderName");
    struct str query = value_text(hash, "httpQueryParameterName");
    const struct value *cookie = value_get(hash, STR("httpCookie"));
    if (header.n)
        return tree(a, "{header: {header_name: %s}}", header);
    if (cookie)
        return tree(a, "{cookie: {name: %v, ttl: %v, path: %v}}",
                    tree_copy(value_get(cookie, STR("name"))),
                    tree_duration(a, value_get(cookie, STR("ttl"))),
                    tree_copy(value_get(cookie, STR("path"))));
    if (value_is_true(value_get(hash, STR("useSourceIp"))))
        return tree(a, "{connection_properties: {source_ip: true}}");
    if (query.n)
        return tree(a, "{query_parameter: {name: %s}}", query);
    return value_null();
}
