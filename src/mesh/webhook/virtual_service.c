/* VirtualServices. */
#include <ctype.h>

#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "mesh/webhook/validate_internal.h"
#include "base/banned.h"

static int destination(struct check *c, const struct value *d)
{
    const struct value *subset = value_get(d, STR("subset")), *port = value_get(d, STR("port"));
    if (!d)
        return err_set(c->err, ERR_INVALID, "destination is required");
    if (str_eq(value_text(d, "host"), STR("*")))
        return err_set(c->err, ERR_INVALID, "invalid destination host *");
    int r = check__host(c, value_text(d, "host"), true);
    if (r < 0)
        return r;
    r = subset && value_str(subset).n ? check__label(c, value_str(subset), "subset name") : 0;
    if (r < 0)
        return r;
    return port ? check__port(c, value_get(port, STR("number"))) : 0;
}

static int header_name(struct check *c, struct str name, bool may_set_host)
{
    bool is_authority = str_eq_nocase(name, STR(":authority"));
    if (!name.n)
        return err_set(c->err, ERR_INVALID, "header name cannot be empty");
    if (name.p[0] == ':' && !(may_set_host && is_authority))
        return err_set(c->err, ERR_INVALID,
                       "invalid header \"" STR_FMT "\": header cannot have \":\" prefix",
                       STR_ARG(name));
    if (!may_set_host && str_eq_nocase(name, STR("host")))
        return err_set(c->err, ERR_INVALID,
                       "invalid header \"" STR_FMT "\": cannot set Host header", STR_ARG(name));
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] <= ' ' || name.p[i] == 127)
            return err_set(c->err, ERR_INVALID, "header name has a blank or control character");
    }
    return 0;
}

static int headers(struct check *c, const struct value *h)
{
    static const char *const sides[] = { "request", "response" };
    for (size_t i = 0; i < 2; i++) {
        const struct value *side = value_get(h, str_of(sides[i]));
        static const char *const maps[] = { "set", "add" };
        for (size_t k = 0; k < 2; k++) {
            value_each_field (f, value_get(side, str_of(maps[k]))) {
                int r = header_name(c, f->key, i == 0 && k == 0);
                if (r < 0)
                    return r;
            }
        }
        value_each_item (it, value_get(side, STR("remove"))) {
            int r = header_name(c, value_str(it), false);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int redirect(struct check *c, const struct value *r)
{
    int64_t code = 0;
    struct str scheme = value_text(r, "scheme");
    if (!value_text(r, "uri").n && !value_text(r, "authority").n && !scheme.n &&
        !value_get(r, STR("port")) && !value_get(r, STR("derivePort")))
        return err_set(c->err, ERR_INVALID,
                       "redirect must specify URI, authority, scheme, or port");
    if (value_to_int(value_get(r, STR("redirectCode")), &code) && code &&
        (code < 300 || code > 399))
        return err_set(c->err, ERR_INVALID, "%lld is not a valid redirect code, must be 3xx",
                       (long long)code);
    if (scheme.n && !str_eq(scheme, STR("http")) && !str_eq(scheme, STR("https")))
        return err_set(c->err, ERR_INVALID,
                       "invalid redirect scheme, must be \"http\" or \"https\"");
    return value_get(r, STR("port")) ? check__port(c, value_get(r, STR("port"))) : 0;
}

static bool is_retry_word(struct str s)
{
    static const char *const words[] = { "5xx",
                                         "gateway-error",
                                         "reset",
                                         "reset-before-request",
                                         "connect-failure",
                                         "retriable-4xx",
                                         "refused-stream",
                                         "retriable-status-codes",
                                         "retriable-headers",
                                         "envoy-ratelimited",
                                         "http3-post-connect-failure",
                                         "cancelled",
                                         "deadline-exceeded",
                                         "internal",
                                         "resource-exhausted",
                                         "unavailable" };
    uint64_t code;
    if (str_to_u64(s, &code))
        return code >= 100 && code <= 599;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (str_eq(s, str_of(words[i])))
            return true;
    }
    return false;
}

static int retries(struct check *c, const struct value *r)
{
    int64_t n = 0;
    struct str on = value_text(r, "retryOn");
    if (!r)
        return 0;
    (void)value_to_int(value_get(r, STR("attempts")), &n);
    if (n < 0)
        return err_set(c->err, ERR_INVALID, "attempts cannot be negative");
    if (n == 0 && (on.n || value_get(r, STR("perTryTimeout"))))
        return err_set(c->err, ERR_INVALID,
                       "http retry policy configured when attempts are set to 0 (disabled)");
    while (on.n) {
        struct str one = str_trim(str_cut(&on, ','));
        if (one.n && !is_retry_word(one))
            return err_set(c->err, ERR_INVALID, "\"" STR_FMT "\" is not a valid retryOn policy",
                           STR_ARG(one));
    }
    return check__duration(c, value_get(r, STR("perTryTimeout")));
}

static int fault(struct check *c, const struct value *f)
{
    const struct value *abort = value_get(f, STR("abort")), *delay = value_get(f, STR("delay"));
    static const char *const codes =
        " OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS "
        "PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE "
        "UNIMPLEMENTED "
        "INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED ";
    struct str grpc = value_text(abort, "grpcStatus");
    int64_t status = 0;
    if (f && !abort && !delay)
        return err_set(c->err, ERR_INVALID,
                       "HTTP fault injection must have an abort and/or a delay");
    struct str word = arena_printf(c->arena, " " STR_FMT " ", STR_ARG(grpc));
    if (grpc.n && !memmem(codes, strlen(codes), word.p, word.n))
        return err_set(c->err, ERR_INVALID, "gRPC status \"" STR_FMT "\" is not supported",
                       STR_ARG(grpc));
    if (value_to_int(value_get(abort, STR("httpStatus")), &status) &&
        (status < 200 || status > 600))
        return err_set(c->err, ERR_INVALID, "HTTP status %lld is not in range 200-599",
                       (long long)status);
    if (abort && !grpc.n && !value_get(abort, STR("httpStatus")) &&
        !value_get(abort, STR("http2Error")))
        return err_set(c->err, ERR_INVALID, "abort must have a status");
    int r = check__percent(c, value_dig(abort, "percentage", "value"));
    if (r < 0)
        return r;
    r = check__percent(c, value_dig(delay, "percentage", "value"));
    if (r < 0)
        return r;
    return delay ? check__duration(c, value_get(delay, STR("fixedDelay"))) : 0;
}

static int cors(struct check *c, const struct value *v)
{
    static const char *const methods = " GET POST PUT DELETE HEAD OPTIONS PATCH CONNECT TRACE * ";
    value_each_item (it, value_get(v, STR("allowMethods"))) {
        struct str word = arena_printf(c->arena, " " STR_FMT " ", STR_ARG(value_str(it)));
        if (!memmem(methods, strlen(methods), word.p, word.n))
            return err_set(c->err, ERR_INVALID, "\"" STR_FMT "\" is not a supported HTTP method",
                           STR_ARG(value_str(it)));
    }
    const struct value *age = value_get(v, STR("maxAge"));
    double seconds = tree_seconds(value_str(age));
    if (age && seconds != (double)(int64_t)seconds)
        return err_set(c->err, ERR_INVALID,
                       "max_age duration is accurate only to seconds precision");
    return 0;
}

static int rewrite(struct check *c, const struct value *v)
{
    const struct value *regex = value_get(v, STR("uriRegexRewrite"));
    bool uri = value_text(v, "uri").n;
    if (!v)
        return 0;
    if (uri && regex)
        return err_set(c->err, ERR_INVALID,
                       "rewrite may only contain one of URI or UriRegexRewrite");
    if (!uri && !regex && !value_text(v, "authority").n)
        return err_set(c->err, ERR_INVALID,
                       "rewrite must specify at least one of URI, UriRegexRewrite, or authority");
    return regex ? check__regex(c, value_text(regex, "match")) : 0;
}

static int string_match(struct check *c, const struct value *m)
{
    struct str regex = value_text(m, "regex");
    return regex.n ? check__regex(c, regex) : 0;
}

static int match(struct check *c, const struct value *m)
{
    static const char *const maps[] = { "headers", "withoutHeaders", "queryParams" };
    static const char *const texts[] = { "uri", "scheme", "method", "authority" };
    for (size_t i = 0; i < 3; i++) {
        value_each_field (f, value_get(m, str_of(maps[i]))) {
            if (!f->key.n)
                return err_set(c->err, ERR_INVALID, "header name cannot be empty");
            int r = string_match(c, &f->val);
            if (r < 0)
                return r;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        int r = string_match(c, value_get(m, str_of(texts[i])));
        if (r < 0)
            return r;
    }
    const struct value *port = value_get(m, STR("port"));
    return port ? check__port(c, port) : 0;
}

static int mirrors(struct check *c, const struct value *http)
{
    double d = 0;
    if (value_get(http, STR("mirror")) && check__has(value_get(http, STR("mirrors"))))
        return err_set(c->err, ERR_INVALID, "HTTP route cannot contain both mirror and mirrors");
    if (value_to_double(value_dig(http, "mirrorPercentage", "value"), &d) && (d < 0 || d > 100))
        return err_set(c->err, ERR_INVALID, "mirror_percentage must be in range 0..100 (it has %f)",
                       d);
    if (value_get(http, STR("mirror"))) {
        int r = destination(c, value_get(http, STR("mirror")));
        if (r < 0)
            return r;
    }
    value_each_item (it, value_get(http, STR("mirrors"))) {
        int r = destination(c, value_get(it, STR("destination")));
        if (r < 0)
            return r;
    }
    return 0;
}

static int destinations(struct check *c, const struct value *list)
{
    int64_t total = 0;
    value_each_item (it, list) {
        int64_t weight = 0;
        (void)value_to_int(value_get(it, STR("weight")), &weight);
        if (weight < 0)
            return err_set(c->err, ERR_INVALID, "weight %lld < 0", (long long)weight);
        total += weight;
        int r = destination(c, value_get(it, STR("destination")));
        if (r < 0)
            return r;
        r = headers(c, value_get(it, STR("headers")));
        if (r < 0)
            return r;
    }
    if (list && list->n > 1 && total == 0)
        return err_set(c->err, ERR_INVALID, "total destination weight = 0");
    return 0;
}

/* Which of route, redirect, direct response and delegate there are. */
static int action(struct check *c, const struct value *http, bool is_gateway_only)
{
    bool route = check__has(value_get(http, STR("route")));
    const struct value *red = value_get(http, STR("redirect"));
    const struct value *direct = value_get(http, STR("directResponse"));
    int64_t status = 0;
    (void)is_gateway_only;
    if (value_get(http, STR("delegate"))) {
        if (route || red || direct)
            return err_set(c->err, ERR_INVALID, "root HTTP route must not specify route");
        return 0;
    }
    if (route && red)
        return err_set(c->err, ERR_INVALID, "HTTP route cannot contain both route and redirect");
    if (route && direct)
        return err_set(c->err, ERR_INVALID,
                       "HTTP route cannot contain both route and direct_response");
    if (red && direct)
        return err_set(c->err, ERR_INVALID,
                       "HTTP route rule cannot contain both direct_response and redirect");
    if (!route && !red && !direct)
        return err_set(c->err, ERR_INVALID, "HTTP route, redirect or direct_response is required");
    if (direct) {
        (void)value_to_int(value_get(direct, STR("status")), &status);
        if (status < 200 || status > 599)
            return err_set(c->err, ERR_INVALID, "HTTP status %lld is not in range 200-599",
                           (long long)status);
    }
    return red ? redirect(c, red) : 0;
}

static int http_route(struct check *c, const struct value *http)
{
    int r = action(c, http, false);
    if (r < 0)
        return r;
    value_each_item (m, value_get(http, STR("match"))) {
        r = match(c, m);
        if (r < 0)
            return r;
    }
    static const struct {
        const char *field;
        int (*check)(struct check *c, const struct value *v);
    } parts[] = { { "headers", headers },        { "retries", retries }, { "fault", fault },
                  { "corsPolicy", cors },        { "rewrite", rewrite }, { "route", destinations },
                  { "timeout", check__duration } };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const struct value *v = value_get(http, str_of(parts[i].field));
        r = v ? parts[i].check(c, v) : 0;
        if (r < 0)
            return r;
    }
    return mirrors(c, http);
}

static int l4_routes(struct check *c, const struct value *spec, const char *kind)
{
    bool is_tls = kind[1] == 'l';
    value_each_item (rule, value_get(spec, str_of(kind))) {
        if (!check__has(value_get(rule, STR("route"))))
            return err_set(c->err, ERR_INVALID, "%s route is required", is_tls ? "TLS" : "TCP");
        int r = destinations(c, value_get(rule, STR("route")));
        if (r < 0)
            return r;
        if (is_tls && !check__has(value_get(rule, STR("match"))))
            return err_set(c->err, ERR_INVALID, "TLS route must have at least one match condition");
        value_each_item (m, is_tls ? value_get(rule, STR("match")) : NULL) {
            if (!check__has(value_get(m, STR("sniHosts"))))
                return err_set(c->err, ERR_INVALID, "TLS match must have at least one SNI host");
            value_each_item (sni, value_get(m, STR("sniHosts"))) {
                bool found = false;
                value_each_item (h, value_get(spec, STR("hosts")))
                    found = found || host_is_within(value_str(sni), value_str(h));
                if (!found)
                    return err_set(c->err, ERR_INVALID,
                                   "SNI host \"" STR_FMT "\" is not a compatible subset of any of "
                                   "the virtual service hosts",
                                   STR_ARG(value_str(sni)));
            }
        }
    }
    return 0;
}

static bool acts_in_mesh(const struct value *gateways)
{
    bool any = false;
    value_each_item (it, gateways) {
        any = true;
        if (str_eq(value_str(it), STR("mesh")))
            return true;
    }
    return !any;
}

static int hosts(struct check *c, const struct value *spec)
{
    const struct value *list = value_get(spec, STR("hosts"));
    bool in_mesh = acts_in_mesh(value_get(spec, STR("gateways")));
    for (size_t i = 0; list && i < list->n; i++) {
        struct str h = value_str(value_at(list, i));
        if (str_eq(h, STR("*")) && in_mesh)
            return err_set(c->err, ERR_INVALID,
                           "wildcard host * is not allowed for virtual services bound to the mesh "
                           "gateway");
        if (!check__is_ip(c, h)) {
            int r = check__host(c, h, true);
            if (r < 0)
                return r;
        }
        for (size_t k = 0; k < i; k++) {
            struct str other = value_str(value_at(list, k));
            if (str_eq(h, other) ||
                (host_is_wild(h) && host_is_wild(other) && host_matches(h, other)))
                return err_set(c->err, ERR_INVALID,
                               "duplicate hosts in virtual service: " STR_FMT " & " STR_FMT,
                               STR_ARG(other), STR_ARG(h));
        }
    }
    return 0;
}

int check__virtual_service(struct check *c, const struct value *spec)
{
    bool has_hosts = check__has(value_get(spec, STR("hosts")));
    if (!has_hosts && check__has(value_get(spec, STR("gateways"))))
        return err_set(c->err, ERR_INVALID,
                       "delegate virtual service must have no gateways specified");
    if (!check__has(value_get(spec, STR("http"))) && !check__has(value_get(spec, STR("tls"))) &&
        !check__has(value_get(spec, STR("tcp"))))
        return err_set(c->err, ERR_INVALID, "http, tcp or tls must be provided in virtual service");
    int r = hosts(c, spec);
    if (r < 0)
        return r;
    value_each_item (http, value_get(spec, STR("http"))) {
        r = http_route(c, http);
        if (r < 0)
            return r;
    }
    r = l4_routes(c, spec, "tls");
    if (r < 0)
        return r;
    r = l4_routes(c, spec, "tcp");
    if (r < 0)
        return r;
    return check__export_to(c, value_get(spec, STR("exportTo")));
}
