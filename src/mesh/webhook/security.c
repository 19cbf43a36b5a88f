/* AuthorizationPolicies, RequestAuthentications and PeerAuthentications. */
#include "mesh/webhook/validate_internal.h"
#include "base/banned.h"

static const char *const keys[] = { "source.ip",
                                    "remote.ip",
                                    "source.namespace",
                                    "source.principal",
                                    "source.serviceAccount",
                                    "request.auth.principal",
                                    "request.auth.audiences",
                                    "request.auth.presenter",
                                    "destination.ip",
                                    "destination.port",
                                    "connection.sni" };

static bool is_key(struct str s)
{
    bool closed = str_ends(s, STR("]"));
    if (closed &&
        (str_starts(s, STR("request.headers[")) || str_starts(s, STR("request.auth.claims[")) ||
         str_starts(s, STR("experimental.envoy.filters."))))
        return true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (str_eq(s, str_of(keys[i])))
            return true;
    }
    return false;
}

static int ip_list(struct check *c, const struct value *list)
{
    value_each_item (it, list) {
        if (!check__is_ip(c, value_str(it)))
            return err_set(c->err, ERR_INVALID, "bad IP address (" STR_FMT ")",
                           STR_ARG(value_str(it)));
    }
    return 0;
}

static int port_list(struct check *c, const struct value *list)
{
    value_each_item (it, list) {
        uint64_t n;
        if (!str_to_u64(value_str(it), &n) || n > 65535)
            return err_set(c->err, ERR_INVALID, "bad port (" STR_FMT ")", STR_ARG(value_str(it)));
    }
    return 0;
}

/* "{*}" is one part of a path, "{**}" any number of them, at the end only. */
static int path_list(struct check *c, const struct value *list)
{
    value_each_item (it, list) {
        struct str s = value_str(it);
        const char *p = memmem(s.p, s.n, "{**}", 4);
        size_t rest = p ? s.n - (size_t)(p + 4 - s.p) : 0;
        if (p && memchr(p + 4, '{', rest))
            return err_set(c->err, ERR_INVALID,
                           "invalid or unsupported path " STR_FMT
                           ", found in Paths. {**} is not the last operator",
                           STR_ARG(s));
    }
    return 0;
}

/* Something is said, and no list is empty. */
static int filled(struct check *c, const struct value *v, const char *what)
{
    bool any = false;
    value_each_field (f, v)
        any = any || check__has(&f->val);
    if (any)
        return 0;
    return err_set(c->err, ERR_INVALID, "`%s` must not be empty", what);
}

static int sources(struct check *c, const struct value *rule)
{
    static const char *const ips[] = { "ipBlocks", "notIpBlocks", "remoteIpBlocks",
                                       "notRemoteIpBlocks" };
    value_each_item (it, value_get(rule, STR("from"))) {
        const struct value *s = value_get(it, STR("source"));
        int r = filled(c, s, "from.source");
        if (r < 0)
            return r;
        for (size_t i = 0; i < 4; i++) {
            r = ip_list(c, value_get(s, str_of(ips[i])));
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int operations(struct check *c, const struct value *rule)
{
    value_each_item (it, value_get(rule, STR("to"))) {
        const struct value *o = value_get(it, STR("operation"));
        int r = filled(c, o, "to.operation");
        if (r < 0)
            return r;
        r = port_list(c, value_get(o, STR("ports")));
        if (r < 0)
            return r;
        r = port_list(c, value_get(o, STR("notPorts")));
        if (r < 0)
            return r;
        r = path_list(c, value_get(o, STR("paths")));
        if (r < 0)
            return r;
        r = path_list(c, value_get(o, STR("notPaths")));
        if (r < 0)
            return r;
    }
    return 0;
}

static int conditions(struct check *c, const struct value *rule)
{
    value_each_item (it, value_get(rule, STR("when"))) {
        struct str key = value_text(it, "key");
        const struct value *values = value_get(it, STR("values"));
        const struct value *not = value_get(it, STR("notValues"));
        if (!check__has(values) && !check__has(not ))
            return err_set(c->err, ERR_INVALID,
                           "at least one of `values` or `notValues` must be set for key " STR_FMT,
                           STR_ARG(key));
        if (!is_key(key))
            return err_set(c->err, ERR_INVALID, "unknown attribute: " STR_FMT, STR_ARG(key));
        bool is_ip = str_ends(key, STR(".ip"));
        int r = is_ip ? ip_list(c, values) : 0;
        if (r < 0)
            return r;
        r = str_eq(key, STR("destination.port")) ? port_list(c, values) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int targets(struct check *c, const struct value *spec)
{
    bool refs = check__has(value_get(spec, STR("targetRefs"))) || value_get(spec, STR("targetRef"));
    if (refs && value_get(spec, STR("selector")))
        return err_set(c->err, ERR_INVALID,
                       "only one of targetRefs or workloadSelector can be set");
    return 0;
}

static int authorization(struct check *c, const struct value *spec)
{
    static const char *const actions = " ALLOW DENY AUDIT CUSTOM ";
    struct str action = value_text(spec, "action");
    struct str word = arena_printf(c->arena, " " STR_FMT " ", STR_ARG(action));
    if (action.n && !memmem(actions, strlen(actions), word.p, word.n))
        return err_set(c->err, ERR_INVALID, "unknown action \"" STR_FMT "\"", STR_ARG(action));
    if (str_eq(action, STR("CUSTOM")) && !value_str(value_dig(spec, "provider", "name")).n)
        return err_set(c->err, ERR_INVALID, "`provider` must not be empty with a CUSTOM action");
    int r = targets(c, spec);
    if (r < 0)
        return r;
    if (str_eq(action, STR("DENY")) && !value_get(spec, STR("rules")))
        return err_set(c->err, ERR_INVALID,
                       "DENY action without `rules` is meaningless as it will "
                       "never be triggered");
    value_each_item (rule, value_get(spec, STR("rules"))) {
        r = sources(c, rule);
        if (r < 0)
            return r;
        r = operations(c, rule);
        if (r < 0)
            return r;
        r = conditions(c, rule);
        if (r < 0)
            return r;
    }
    return 0;
}

int check__authorization(struct check *c, const struct value *spec)
{
    int r = authorization(c, spec);
    return r < 0 ? err_wrap(c->err, "invalid policy " STR_FMT "." STR_FMT, STR_ARG(c->name),
                            STR_ARG(c->ns))
                 : 0;
}

static int jwt_rule(struct check *c, const struct value *rule)
{
    struct str uri = value_text(rule, "jwksUri");
    if (!value_text(rule, "issuer").n)
        return err_set(c->err, ERR_INVALID, "issuer must be set");
    if (uri.n && !str_starts(uri, STR("http://")) && !str_starts(uri, STR("https://")))
        return err_set(c->err, ERR_INVALID, "URI scheme of \"" STR_FMT "\" is not supported",
                       STR_ARG(uri));
    value_each_item (it, value_get(rule, STR("audiences"))) {
        if (!value_str(it).n)
            return err_set(c->err, ERR_INVALID, "audience must be non-empty string");
    }
    value_each_item (it, value_get(rule, STR("fromHeaders"))) {
        if (!value_text(it, "name").n)
            return err_set(c->err, ERR_INVALID, "location header name must be non-empty string");
    }
    value_each_item (it, value_get(rule, STR("fromParams"))) {
        if (!value_str(it).n)
            return err_set(c->err, ERR_INVALID, "location query must be non-empty string");
    }
    value_each_item (it, value_get(rule, STR("outputClaimToHeaders"))) {
        if (!value_text(it, "header").n || !value_text(it, "claim").n)
            return err_set(c->err, ERR_INVALID,
                           "outputClaimToHeaders header and claim value must be non-empty string");
    }
    return 0;
}

int check__request_authentication(struct check *c, const struct value *spec)
{
    int r = targets(c, spec);
    if (r < 0)
        return r;
    value_each_item (rule, value_get(spec, STR("jwtRules"))) {
        r = jwt_rule(c, rule);
        if (r < 0)
            return r;
    }
    return 0;
}

static int mode(struct check *c, const struct value *v)
{
    static const char *const modes = " UNSET DISABLE PERMISSIVE STRICT ";
    struct str s = value_text(v, "mode");
    struct str word = arena_printf(c->arena, " " STR_FMT " ", STR_ARG(s));
    if (!s.n || memmem(modes, strlen(modes), word.p, word.n))
        return 0;
    return err_set(c->err, ERR_INVALID, "unknown mode \"" STR_FMT "\"", STR_ARG(s));
}

int check__peer_authentication(struct check *c, const struct value *spec)
{
    const struct value *ports = value_get(spec, STR("portLevelMtls"));
    int r = mode(c, value_get(spec, STR("mtls")));
    if (r < 0)
        return r;
    if (check__has(ports) && !check__has(value_dig(spec, "selector", "matchLabels")))
        return err_set(c->err, ERR_INVALID,
                       "mesh/namespace peer authentication cannot have port level mTLS");
    value_each_field (f, ports) {
        uint64_t n;
        if (!str_to_u64(f->key, &n) || n < 1 || n > 65535)
            return err_set(c->err, ERR_INVALID, "port must be in range 1..65535");
        r = mode(c, &f->val);
        if (r < 0)
            return r;
    }
    return 0;
}
