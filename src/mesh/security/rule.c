/* One rule of an AuthorizationPolicy: from, to and when. */
#include "base/buf.h"
#include "mesh/model/tree.h"
#include "mesh/security/security_internal.h"
#include "base/banned.h"

/* "*", "x*", "*x" or "x". */
static struct value text_match(struct arena *a, struct str s, struct str prefix)
{
    if (str_eq(s, STR("*")))
        return tree(a, "{safe_regex: {regex: '.+'}}");
    if (str_starts(s, STR("*")))
        return tree(a, "{suffix: %s}", str_skip(s, 1));
    if (str_ends(s, STR("*")))
        return tree(
            a, "{prefix: %s}",
            arena_printf(a, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(str_take(s, s.n - 1))));
    return tree(a, "{exact: %s}",
                prefix.n ? arena_printf(a, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(s)) : s);
}

static struct value header(struct arena *a, const char *name, struct str s)
{
    if (str_eq(s, STR("*")))
        return tree(a, "{header: {name: %t, present_match: true}}", name);
    return tree(a, "{header: {name: %t, string_match: %v}}", name, text_match(a, s, STR("")));
}

static struct value cidr(struct arena *a, const char *kind, struct str s)
{
    struct str bits = s, address = str_cut(&bits, '/');
    uint64_t n = str_find(address, ':') >= 0 ? 128 : 32;
    if (bits.n)
        (void)str_to_u64(bits, &n);
    struct value out = value_object();
    value_put(a, &out, str_of(kind),
              tree(a, "{address_prefix: %s, prefix_len: %v}", address, value_int((int64_t)n)));
    return out;
}

/* A claim, which may be a text or a list of them. */
static struct value claim(struct arena *a, struct value path, struct value match)
{
    return tree(a,
                "{metadata: {filter: envoy.filters.http.jwt_authn, path: %v, value: {or_match: "
                "{value_matchers: [{string_match: %v}, {list_match: {one_of: {string_match: "
                "%v}}}]}}}}",
                path, value_clone(a, &match), match);
}

static struct value payload(struct arena *a, const char *name)
{
    return tree(a, "[{key: payload}, {key: %t}]", name);
}

/* "issuer/subject", either of which may be wild. */
static struct value request_principal(struct arena *a, struct str s)
{
    struct str iss = STR("*"), sub = STR("*");
    ptrdiff_t slash = -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '/')
            slash = (ptrdiff_t)i;
    }
    if (slash >= 0) {
        iss = str_take(s, (size_t)slash);
        sub = str_skip(s, (size_t)slash + 1);
    } else if (str_starts(s, STR("*"))) {
        sub = s;
    } else {
        iss = s;
    }
    return tree(a, "{and_ids: {ids: [%v, %v]}}",
                claim(a, payload(a, "iss"), text_match(a, iss, STR(""))),
                claim(a, payload(a, "sub"), text_match(a, sub, STR(""))));
}

static struct value peer(struct arena *a, struct value match)
{
    return tree(a, "{authenticated: {principal_name: %v}}", match);
}

static struct value peer_namespace(struct arena *a, struct str s)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '*')
            buf_str_add(&out, STR(".*"));
        else
            buf_byte(&out, s.p[i]);
    }
    struct str ns = out.n ? buf_str(&out) : STR("");
    return peer(a, tree(a, "{safe_regex: {regex: %s}}",
                        arena_printf(a, ".*/ns/" STR_FMT "/.*", STR_ARG(ns))));
}

static struct value path_permission(struct arena *a, struct str s)
{
    if (!memmem(s.p, s.n, "{*", 2))
        return tree(a, "{url_path: {path: %v}}", text_match(a, s, STR("")));
    autobuf out = { 0 };
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '{' && s.p[i] != '}')
            buf_byte(&out, s.p[i]);
    }
    struct value config = tree(a, "{path_template: %s}", arena_str(a, buf_str(&out)));
    return tree(a, "{uri_template: %v}",
                tree_extension(a, "uri-template",
                               "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig",
                               config));
}

static struct value host_permission(struct arena *a, struct str s)
{
    struct value m = text_match(a, s, STR(""));
    if (!str_eq(s, STR("*")))
        value_put(a, &m, STR("ignore_case"), value_bool(true));
    return tree(a, "{header: {name: ':authority', string_match: %v}}", m);
}

/* "request.headers[x]", "request.auth.claims[a][b]": what stands in brackets, as a list. */
static struct value bracketed(struct arena *a, struct str key)
{
    struct value out = value_array();
    (void)str_cut(&key, '[');
    while (key.n) {
        value_put_item(a, &out, value_string(str_cut(&key, ']')));
        (void)str_cut(&key, '[');
    }
    return out;
}

static struct str in_brackets(struct str key)
{
    (void)str_cut(&key, '[');
    return str_cut(&key, ']');
}

static struct value claims_principal(struct arena *a, struct str key, struct str s)
{
    struct value path = tree(a, "[{key: payload}]"), names = bracketed(a, key);
    value_each_item (it, &names)
        value_put_item(a, &path, tree(a, "{key: %s}", value_str(it)));
    return claim(a, path, text_match(a, s, STR("")));
}

/* An attribute: whether it is of the connection or of who asks, and needs HTTP. */
struct attribute {
    const char *key;   /* of `when`; a trailing '[' means a name in brackets */
    const char *field; /* of a source or an operation; without "not" */
    bool is_permission, needs_http;
};

static const struct attribute attributes[] = {
    { "request.headers[", NULL, false, true },
    { "source.ip", "ipBlocks", false, false },
    { "remote.ip", "remoteIpBlocks", false, false },
    { "source.namespace", "namespaces", false, false },
    { "source.principal", "principals", false, false },
    { "source.serviceAccount", "serviceAccounts", false, false },
    { "request.auth.principal", "requestPrincipals", false, true },
    { "request.auth.audiences", NULL, false, true },
    { "request.auth.presenter", NULL, false, true },
    { "request.auth.claims[", NULL, false, true },
    { "destination.ip", NULL, true, false },
    { "destination.port", "ports", true, false },
    { "connection.sni", NULL, true, false },
    { NULL, "hosts", true, true },
    { NULL, "methods", true, true },
    { NULL, "paths", true, true },
};

static const struct attribute *find_key(struct str key)
{
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        const char *k = attributes[i].key;
        if (!k)
            continue;
        bool is_open = k[strlen(k) - 1] == '[';
        if (is_open ? str_starts(key, str_of(k)) : str_eq(key, str_of(k)))
            return &attributes[i];
    }
    return NULL;
}

static struct value service_account(struct arena *a, struct str s)
{
    struct str name = s, ns = str_find(s, '/') >= 0 ? str_cut(&name, '/') : STR("");
    return peer(a, tree(a, "{safe_regex: {regex: %s}}",
                        arena_printf(a, "spiffe://.+/ns/" STR_FMT "/.*sa/" STR_FMT "(/.+)?",
                                     STR_ARG(ns.n ? ns : STR(".+")), STR_ARG(name))));
}

static struct value source_matcher(struct arena *a, const struct attribute *at, struct str key,
                                   struct str s)
{
    switch (at - attributes) {
    case 0:
        return header(a, str_cstr(a, in_brackets(key)), s);
    case 1:
        return cidr(a, "direct_remote_ip", s);
    case 2:
        return cidr(a, "remote_ip", s);
    case 3:
        return peer_namespace(a, s);
    case 4:
        return peer(a, text_match(a, s, STR("spiffe://")));
    case 5:
        return service_account(a, s);
    case 6:
        return request_principal(a, s);
    case 7:
        return claim(a, payload(a, "aud"), text_match(a, s, STR("")));
    case 8:
        return claim(a, payload(a, "azp"), text_match(a, s, STR("")));
    default:
        return claims_principal(a, key, s);
    }
}

static struct value target_matcher(struct arena *a, const struct attribute *at, struct str s)
{
    uint64_t port = 0;
    switch (at - attributes) {
    case 10:
        return cidr(a, "destination_ip", s);
    case 11:
        (void)str_to_u64(s, &port);
        return tree(a, "{destination_port: %v}", value_int((int64_t)port));
    case 12:
        return tree(a, "{requested_server_name: %v}", text_match(a, s, STR("")));
    case 13:
        return host_permission(a, s);
    case 14:
        return header(a, ":method", s);
    default:
        return path_permission(a, s);
    }
}

static struct value matcher(struct arena *a, const struct attribute *at, struct str key,
                            struct str s)
{
    return at->is_permission ? target_matcher(a, at, s) : source_matcher(a, at, key, s);
}

/* One of the values. */
static struct value any_of(struct arena *a, const struct attribute *at, struct str key,
                           const struct value *values)
{
    struct value list = value_array(), out = value_object();
    value_each_item (it, values) {
        struct str s = value_str(it);
        if (it->type == VALUE_INT)
            s = arena_printf(a, "%lld", (long long)it->i);
        value_put_item(a, &list, matcher(a, at, key, s));
    }
    value_put(a, &out, at->is_permission ? STR("or_rules") : STR("or_ids"),
              at->is_permission ? tree(a, "{rules: %v}", list) : tree(a, "{ids: %v}", list));
    return out;
}

struct lists {
    struct value permissions, principals; /* all of these must hold */
    bool is_tcp, denies, is_dead;
};

static void add(struct arena *a, struct lists *l, const struct attribute *at, struct str key,
                const struct value *values, bool inverted)
{
    if (!tree_has(values))
        return;
    if (l->is_tcp && at->needs_http) {
        l->is_dead = l->is_dead || !l->denies;
        return;
    }
    struct value one = any_of(a, at, key, values);
    if (inverted)
        one = at->is_permission ? tree(a, "{not_rule: %v}", one) : tree(a, "{not_id: %v}", one);
    value_put_item(a, at->is_permission ? &l->permissions : &l->principals, one);
}

static struct str negated(struct arena *a, const char *field)
{
    return arena_printf(a, "not%c%s", field[0] - 'a' + 'A', field + 1);
}

/* A source or an operation. */
static void add_fields(struct arena *a, struct lists *l, const struct value *v, bool permission)
{
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        const struct attribute *at = &attributes[i];
        if (!at->field || at->is_permission != permission)
            continue;
        add(a, l, at, STR(""), value_get(v, str_of(at->field)), false);
        add(a, l, at, STR(""), value_get(v, negated(a, at->field)), true);
    }
}

static void add_when(struct arena *a, struct lists *l, const struct value *rule)
{
    value_each_item (it, value_get(rule, STR("when"))) {
        struct str key = value_text(it, "key");
        const struct attribute *at = find_key(key);
        if (!at) {
            l->is_dead = l->is_dead || !l->denies;
            continue;
        }
        add(a, l, at, key, value_get(it, STR("values")), false);
        add(a, l, at, key, value_get(it, STR("notValues")), true);
    }
}

static struct value all_of(struct arena *a, const struct value *list, bool permission)
{
    if (!list->n)
        return tree(a, "{any: true}");
    struct value copy = value_clone(a, list);
    return permission ? tree(a, "{and_rules: {rules: %v}}", copy)
                      : tree(a, "{and_ids: {ids: %v}}", copy);
}

/* Alternatives of `to` or `from`, each with what `when` asks. */
static struct value alternatives(struct arena *a, const struct lists *base,
                                 const struct value *list, const char *key, bool permission)
{
    struct value out = value_array();
    const struct value *common = permission ? &base->permissions : &base->principals;
    if (!tree_has(list)) {
        value_put_item(a, &out, all_of(a, common, permission));
        return out;
    }
    value_each_item (it, list) {
        struct lists one = { value_array(), value_array(), base->is_tcp, base->denies, false };
        tree_append(a, permission ? &one.permissions : &one.principals, common);
        add_fields(a, &one, value_get(it, str_of(key)), permission);
        if (!one.is_dead)
            value_put_item(a, &out,
                           all_of(a, permission ? &one.permissions : &one.principals, permission));
    }
    return out;
}

bool security__rule(struct arena *a, const struct value *rule, bool is_tcp, bool denies,
                    struct value *ret_policy)
{
    struct lists base = { value_array(), value_array(), is_tcp, denies, false };
    add_when(a, &base, rule);
    struct value permissions =
        alternatives(a, &base, value_get(rule, STR("to")), "operation", true);
    struct value principals = alternatives(a, &base, value_get(rule, STR("from")), "source", false);
    if (base.is_dead || !permissions.n || !principals.n)
        return false;
    *ret_policy = tree(a, "{permissions: %v, principals: %v}", permissions, principals);
    return true;
}
