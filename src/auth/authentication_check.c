#include "auth/authentication_check.h"

#include <stdlib.h>

#include "api/pem.h"
#include "api/field_errors.h"
#include "api/go/go_url.h"
#include "api/validate/validate_common.h"
#include "api/words.h"
#include "base/json.h"
#include "net/crypto/x509.h"
#include "base/banned.h"

struct checking {
    struct arena *arena;
    struct field_errors faults;
    const struct authentication_own *own;
    const struct cel_env *claims_env, *user_env;
    bool uses_email, uses_email_verified; /* of the issuer that is being looked at */
};

static void invalid(struct checking *c, const struct field_path *at, struct str shown,
                    const char *why)
{
    field_error(&c->faults, FIELD_INVALID, at, field_quoted(&c->faults, shown), "%s", why);
}

static void duplicate(struct checking *c, const struct field_path *at, struct str shown)
{
    field_error(&c->faults, FIELD_DUPLICATE, at, field_quoted(&c->faults, shown), "%s", "");
}

/* ---- Expressions ---- */

static const struct cel_env *env_of(struct arena *a, struct str name, const struct cel_type *type)
{
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *v = arena_new(a, struct cel_variable);
    *v = (struct cel_variable){ name, type };
    env->variables = v;
    env->n_variables = 1;
    return env;
}

const struct cel_type *authentication_user_type(struct arena *a)
{
    const struct cel_type *texts = cel_type_list(a, &cel_string);
    const struct cel_field fields[] = {
        { .name = STR("username"), .type = &cel_string },
        { .name = STR("uid"), .type = &cel_string },
        { .name = STR("groups"), .type = texts },
        { .name = STR("extra"), .type = cel_type_map(a, &cel_string, texts) },
    };
    return cel_type_object(a, STR("kubernetes.UserInfo"), arena_dup(a, fields, sizeof(fields)),
                           ARRAY_LEN(fields));
}

/* False if it does not compile, or if it is to be a bool and is none. */
static bool compile(struct checking *c, const struct cel_env *env, const struct field_path *parent,
                    const char *field, struct str text, bool is_rule,
                    const struct cel_program **ret)
{
    struct field_path at = field_child(parent, str_of(field));
    struct err err = ERR_INIT(c->arena);
    const struct cel_program *p;
    if (cel_compile(c->arena, env, text, &p, &err) < 0) {
        struct str why = arena_printf(c->arena, "compilation failed: " STR_FMT, STR_ARG(err.msg));
        invalid(c, &at, text, str_cstr(c->arena, why));
        return false;
    }
    const struct cel_type *type = cel_program_type(p);
    if (is_rule && (type->kind != CEL_BOOL || type->wrapper)) {
        invalid(c, &at, text, "must evaluate to bool");
        return false;
    }
    *ret = p;
    return true;
}

static bool asks_for_verified(const struct cel_program *p)
{
    return cel_program_selects(p, STR("claims"), STR("email_verified"));
}

/* ---- Issuers ---- */

static void check_own(struct checking *c, struct str url, const struct field_path *at)
{
    autobuf list = { 0 };
    if (!words_have(url, c->own->issuers, c->own->n))
        return;
    struct str *sorted = arena_dup(c->arena, c->own->issuers, c->own->n * sizeof(*sorted));
    qsort(sorted, c->own->n, sizeof(*sorted), words_compare);
    for (size_t i = 0; i < c->own->n; i++)
        buf_printf(&list, "%s" STR_FMT, i ? " " : "", STR_ARG(sorted[i]));
    field_error(&c->faults, FIELD_INVALID, at, field_quoted(&c->faults, url),
                "URL must not overlap with disallowed issuers: [" STR_FMT "]",
                STR_ARG(buf_str(&list)));
}

static void check_url(struct checking *c, struct str url, const struct field_path *at)
{
    struct go_url parts;
    const char *why = go_url_parse(c->arena, url, &parts);
    if (why) {
        invalid(c, at, url, why);
        return;
    }
    if (!str_eq(parts.scheme, STR("https")))
        invalid(c, at, url, "URL scheme must be https");
    if (parts.has_user)
        invalid(c, at, url, "URL must not contain a username or password");
    if (parts.query.n)
        invalid(c, at, url, "URL must not contain a query");
    if (parts.fragment.n)
        invalid(c, at, url, "URL must not contain a fragment");
}

static struct str without_slashes(struct str url)
{
    while (str_ends(url, STR("/")))
        url.n--;
    return url;
}

static void check_urls(struct checking *c, const struct authentication_jwt *jwt,
                       const struct field_path *issuer)
{
    struct field_path url = field_child(issuer, STR("url")),
                      discovery = field_child(issuer, STR("discoveryURL"));
    if (jwt->url.n) {
        check_own(c, jwt->url, &url);
        check_url(c, jwt->url, &url);
    } else {
        field_required(&c->faults, &url, "");
    }
    if (!jwt->discovery_url.n)
        return;
    if (jwt->url.n && str_eq(without_slashes(jwt->url), without_slashes(jwt->discovery_url)))
        invalid(c, &discovery, jwt->discovery_url, "discoveryURL must be different from URL");
    check_url(c, jwt->discovery_url, &discovery);
}

static void check_policy(struct checking *c, const struct authentication_jwt *jwt,
                         const struct field_path *issuer)
{
    struct field_path at = field_child(issuer, STR("audienceMatchPolicy"));
    const struct value shown = value_string(jwt->match_policy);
    if (str_eq(jwt->match_policy, STR("MatchAny")))
        return;
    if (jwt->n_audiences > 1)
        field_error(&c->faults, FIELD_INVALID, &at, field_json(&c->faults, &shown),
                    "audienceMatchPolicy must be MatchAny for multiple audiences");
    else if (jwt->match_policy.n)
        field_error(&c->faults, FIELD_INVALID, &at, field_json(&c->faults, &shown),
                    "audienceMatchPolicy must be empty or MatchAny for single audience");
}

static void check_audiences(struct checking *c, const struct authentication_jwt *jwt,
                            const struct field_path *issuer)
{
    struct field_path list = field_child(issuer, STR("audiences"));
    if (!jwt->n_audiences) {
        struct str path = field_path_text(c->arena, &list);
        field_error(&c->faults, FIELD_REQUIRED, &list, STR(""),
                    "at least one " STR_FMT " is required", STR_ARG(path));
        return;
    }
    for (size_t i = 0; i < jwt->n_audiences; i++) {
        struct field_path at = field_index(&list, i);
        if (!jwt->audiences[i].n)
            field_required(&c->faults, &at, "");
        if (words_have(jwt->audiences[i], jwt->audiences, i))
            duplicate(c, &at, jwt->audiences[i]);
    }
    check_policy(c, jwt, issuer);
}

static const char *why_no_authority(struct arena *a, struct str pem)
{
    bool has_one = false;
    for (;;) {
        autopem block = { 0 };
        struct x509_certificate cert;
        if (!pem_next(&pem, &block))
            break;
        if (!str_eq(block.type, STR("CERTIFICATE")) || block.has_headers)
            continue;
        if (!x509_read_certificate(a, buf_str(&block.bytes), &cert))
            return "x509: malformed certificate";
        has_one = true;
    }
    return has_one ? NULL : "data does not contain any valid RSA or ECDSA certificates";
}

static void check_authority(struct checking *c, const struct authentication_jwt *jwt,
                            const struct field_path *issuer)
{
    struct field_path at = field_child(issuer, STR("certificateAuthority"));
    const char *why = jwt->ca.n ? why_no_authority(c->arena, jwt->ca) : NULL;
    if (why)
        invalid(c, &at, STR("<omitted>"), why);
}

/* There is no egress here, so one that upstream would take cannot be used either. */
static void check_egress(struct checking *c, const struct authentication_jwt *jwt,
                         const struct field_path *issuer)
{
    struct field_path at = field_child(issuer, STR("egressSelectorType"));
    static const struct str known[] = { STR("controlplane"), STR("cluster") };
    const struct value shown = value_string(jwt->egress);
    if (!jwt->egress.n)
        return;
    if (!words_have(jwt->egress, WORDS(known)))
        field_error(&c->faults, FIELD_INVALID, &at, field_json(&c->faults, &shown),
                    "egress selector must be either controlplane or cluster");
    else
        field_error(&c->faults, FIELD_INVALID, &at, field_json(&c->faults, &shown),
                    "egress lookup required with egress selector type");
}

static void check_issuer(struct checking *c, const struct authentication_jwt *jwt,
                         const struct field_path *parent)
{
    struct field_path issuer = field_child(parent, STR("issuer"));
    check_urls(c, jwt, &issuer);
    check_audiences(c, jwt, &issuer);
    check_authority(c, jwt, &issuer);
    check_egress(c, jwt, &issuer);
}

/* ---- Rules about claims ---- */

static bool has_claim(const struct authentication_rule *rules, size_t n, struct str claim)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].claim.n && !rules[i].expression.n && str_eq(rules[i].claim, claim))
            return true;
    return false;
}

static bool has_expression(const struct authentication_rule *rules, size_t n, struct str text)
{
    for (size_t i = 0; i < n; i++)
        if (!rules[i].claim.n && str_eq(rules[i].expression, text))
            return true;
    return false;
}

static void check_required(struct checking *c, const struct authentication_jwt *jwt, size_t i,
                           const struct field_path *at)
{
    const struct authentication_rule *rule = &jwt->claim_rules[i];
    struct field_path message = field_child(at, STR("message")),
                      claim = field_child(at, STR("claim"));
    if (rule->message.n)
        invalid(c, &message, rule->message, "may not be specified when claim is set");
    if (has_claim(jwt->claim_rules, i, rule->claim))
        duplicate(c, &claim, rule->claim);
}

static void check_condition(struct checking *c, struct authentication_jwt *jwt, size_t i,
                            const struct field_path *at)
{
    struct authentication_rule *rule = &jwt->claim_rules[i];
    struct field_path value = field_child(at, STR("requiredValue")),
                      expression = field_child(at, STR("expression"));
    if (rule->required.n)
        invalid(c, &value, rule->required, "may not be specified when expression is set");
    if (has_expression(jwt->claim_rules, i, rule->expression))
        duplicate(c, &expression, rule->expression);
    else if (compile(c, c->claims_env, at, "expression", rule->expression, true, &rule->program))
        c->uses_email_verified |= asks_for_verified(rule->program);
}

static void check_claim_rules(struct checking *c, struct authentication_jwt *jwt,
                              const struct field_path *parent)
{
    struct field_path list = field_child(parent, STR("claimValidationRules"));
    for (size_t i = 0; i < jwt->n_claim_rules; i++) {
        const struct authentication_rule *rule = &jwt->claim_rules[i];
        struct field_path at = field_index(&list, i);
        if (rule->claim.n && rule->expression.n)
            invalid(c, &at, rule->claim, "claim and expression can't both be set");
        else if (rule->claim.n)
            check_required(c, jwt, i, &at);
        else if (rule->expression.n)
            check_condition(c, jwt, i, &at);
        else
            field_required(&c->faults, &at, "claim or expression is required");
    }
}

/* ---- Claim mappings ---- */

static void check_source(struct checking *c, struct authentication_source *source,
                         const struct field_path *at, bool is_required)
{
    struct field_path prefix = field_child(at, STR("prefix"));
    if (source->expression.n && source->claim.n) {
        invalid(c, at, STR(""), "claim and expression can't both be set");
    } else if (source->expression.n) {
        if (source->has_prefix)
            invalid(c, &prefix, source->prefix, "may not be specified when expression is set");
        (void)compile(c, c->claims_env, at, "expression", source->expression, false,
                      &source->program);
    } else if (source->claim.n) {
        if (!source->has_prefix)
            field_required(&c->faults, &prefix,
                           "prefix is required when claim is set. It can be set to an empty string "
                           "to disable prefixing");
    } else if (is_required) {
        field_required(&c->faults, at, "claim or expression is required");
    }
}

static void check_username(struct checking *c, struct authentication_jwt *jwt,
                           const struct field_path *mappings)
{
    struct field_path at = field_child(mappings, STR("username"));
    size_t before = c->faults.n;
    check_source(c, &jwt->username, &at, true);
    if (c->faults.n > before || !jwt->username.program)
        return;
    c->uses_email = cel_program_selects(jwt->username.program, STR("claims"), STR("email"));
    c->uses_email_verified |= asks_for_verified(jwt->username.program);
}

static void check_uid(struct checking *c, struct authentication_jwt *jwt,
                      const struct field_path *mappings)
{
    struct field_path at = field_child(mappings, STR("uid"));
    if (jwt->uid.claim.n && jwt->uid.expression.n)
        invalid(c, &at, STR(""), "claim and expression can't both be set");
    else if (jwt->uid.expression.n)
        (void)compile(c, c->claims_env, &at, "expression", jwt->uid.expression, false,
                      &jwt->uid.program);
}

static bool is_reserved(struct str key)
{
    struct str rest = key, domain = str_cut(&rest, '/');
    return rest.p && (str_eq(domain, STR("kubernetes.io")) || str_eq(domain, STR("k8s.io")) ||
                      str_ends(domain, STR(".kubernetes.io")) || str_ends(domain, STR(".k8s.io")));
}

static bool has_upper(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= 'A' && text.p[i] <= 'Z')
            return true;
    return false;
}

static bool has_key(const struct authentication_extra *extra, size_t n, struct str key)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(extra[i].key, key))
            return true;
    return false;
}

static void check_extra(struct checking *c, struct authentication_jwt *jwt, size_t i,
                        const struct field_path *at)
{
    struct authentication_extra *extra = &jwt->extra[i];
    struct field_path key = field_child(at, STR("key")),
                      expression = field_child(at, STR("valueExpression"));
    (void)validate_domain_path(&c->faults, &key, extra->key);
    if (has_upper(extra->key))
        invalid(c, &key, extra->key, "must be lowercase");
    if (is_reserved(extra->key))
        invalid(c, &key, extra->key,
                "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
    if (has_key(jwt->extra, i, extra->key))
        duplicate(c, &key, extra->key);
    else if (!extra->expression.n)
        field_required(&c->faults, &expression, "");
    else if (compile(c, c->claims_env, at, "valueExpression", extra->expression, false,
                     &extra->program))
        c->uses_email_verified |= asks_for_verified(extra->program);
}

static void check_mappings(struct checking *c, struct authentication_jwt *jwt,
                           const struct field_path *parent)
{
    struct field_path mappings = field_child(parent, STR("claimMappings")),
                      groups = field_child(&mappings, STR("groups")),
                      list = field_child(&mappings, STR("extra")),
                      username = field_child(&mappings, STR("username")),
                      expression = field_child(&username, STR("expression"));
    check_username(c, jwt, &mappings);
    check_source(c, &jwt->groups, &groups, false);
    check_uid(c, jwt, &mappings);
    for (size_t i = 0; i < jwt->n_extra; i++) {
        struct field_path at = field_index(&list, i);
        check_extra(c, jwt, i, &at);
    }
    if (c->uses_email && !c->uses_email_verified)
        invalid(c, &expression, jwt->username.expression,
                "claims.email_verified must be used in claimMappings.username.expression or "
                "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when "
                "claims.email is used in claimMappings.username.expression");
}

/* ---- Rules about users ---- */

static void check_user_rules(struct checking *c, struct authentication_jwt *jwt,
                             const struct field_path *parent)
{
    struct field_path list = field_child(parent, STR("userValidationRules"));
    for (size_t i = 0; i < jwt->n_user_rules; i++) {
        struct authentication_rule *rule = &jwt->user_rules[i];
        struct field_path at = field_index(&list, i),
                          expression = field_child(&at, STR("expression"));
        if (!rule->expression.n)
            field_required(&c->faults, &expression, "");
        else if (has_expression(jwt->user_rules, i, rule->expression))
            duplicate(c, &expression, rule->expression);
        else
            (void)compile(c, c->user_env, &at, "expression", rule->expression, true,
                          &rule->program);
    }
}

/* ---- The whole ---- */

static bool may_escape(struct str expression)
{
    return expression.n && memmem(expression.p, expression.n, "__", 2);
}

static void note_escapes(struct authentication_jwt *jwt)
{
    jwt->has_escapes = may_escape(jwt->username.expression) || may_escape(jwt->groups.expression) ||
                       may_escape(jwt->uid.expression);
    for (size_t i = 0; i < jwt->n_extra; i++)
        jwt->has_escapes |= may_escape(jwt->extra[i].expression);
    for (size_t i = 0; i < jwt->n_claim_rules; i++)
        jwt->has_escapes |= may_escape(jwt->claim_rules[i].expression);
}

static void check_seen(struct checking *c, const struct authentication_config *config, size_t i,
                       const struct field_path *at)
{
    struct field_path issuer = field_child(at, STR("issuer")),
                      url = field_child(&issuer, STR("url")),
                      discovery = field_child(&issuer, STR("discoveryURL"));
    const struct authentication_jwt *jwt = &config->jwt[i];
    bool has_url = false, has_discovery = false;
    for (size_t k = 0; k < i; k++) {
        has_url |= str_eq(config->jwt[k].url, jwt->url);
        has_discovery |=
            jwt->discovery_url.n && str_eq(config->jwt[k].discovery_url, jwt->discovery_url);
    }
    if (has_url)
        duplicate(c, &url, jwt->url);
    if (has_discovery)
        duplicate(c, &discovery, jwt->discovery_url);
}

static void check_jwt(struct checking *c, const struct authentication_config *config, size_t i,
                      const struct field_path *at)
{
    struct authentication_jwt *jwt = &config->jwt[i];
    c->uses_email = c->uses_email_verified = false;
    check_issuer(c, jwt, at);
    check_claim_rules(c, jwt, at);
    check_mappings(c, jwt, at);
    check_user_rules(c, jwt, at);
    note_escapes(jwt);
    check_seen(c, config, i, at);
}

/* Upstream shows its own struct, whose fields begin with a capital. */
static struct value shown_conditions(struct arena *a, const struct authentication_anonymous *anyone)
{
    struct value list = value_array();
    for (size_t i = 0; i < anyone->n_conditions; i++) {
        struct value one = value_object();
        value_put(a, &one, STR("Path"), value_string(anyone->conditions[i].path));
        value_put_item(a, &list, one);
    }
    return list;
}

static void check_anonymous(struct checking *c, const struct authentication_anonymous *anyone)
{
    struct field_path parent = field_child(NULL, STR("anonymous")),
                      at = field_child(&parent, STR("conditions"));
    if (!anyone->is_set || anyone->is_enabled || !anyone->n_conditions)
        return;
    struct value shown = shown_conditions(c->arena, anyone);
    field_error(&c->faults, FIELD_INVALID, &at, field_json(&c->faults, &shown),
                "enabled should be set to true when conditions are defined");
}

static void check_all(struct checking *c, const struct authentication_config *config)
{
    struct field_path list = field_child(NULL, STR("jwt"));
    if (config->n_jwt > AUTHENTICATION_JWT_MAX) {
        field_error(&c->faults, FIELD_TOO_MANY, &list, arena_printf(c->arena, "%zu", config->n_jwt),
                    "must have at most %d items", AUTHENTICATION_JWT_MAX);
        return;
    }
    for (size_t i = 0; i < config->n_jwt; i++) {
        struct field_path at = field_index(&list, i);
        check_jwt(c, config, i, &at);
    }
    check_anonymous(c, &config->anonymous);
}

int authentication_check(struct arena *a, struct authentication_config *config,
                         const struct authentication_own *own, struct err *err)
{
    struct checking c = {
        .arena = a,
        .faults = FIELD_ERRORS_INIT(a),
        .own = own,
        .claims_env = env_of(a, STR("claims"), cel_type_map(a, &cel_string, &cel_any)),
        .user_env = env_of(a, STR("user"), authentication_user_type(a)),
    };
    check_all(&c, config);
    if (!c.faults.n)
        return 0;
    return err_set(err, ERR_INVALID, "invalid authentication configuration: " STR_FMT,
                   STR_ARG(field_errors_text(&c.faults)));
}
