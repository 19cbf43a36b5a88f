#include "auth/openid_token.h"

#include <math.h>

#include "api/go/gotime.h"
#include "api/go/quote.h"
#include "api/words.h"
#include "base/clock.h"
#include "base/banned.h"

#define NBF_LEEWAY_NS (60 * NS_PER_SEC)

/* ---- Words ---- */

static const char *go_type(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return names[v->type];
}

static void quote_list(struct buf *out, const struct str *items, size_t n)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ' ');
        quote_go(out, items[i]);
    }
    buf_byte(out, ']');
}

static int refuse(struct err *err, const struct buf *words)
{
    return err_set(err, ERR_UNAUTHORIZED, STR_FMT, STR_ARG(buf_str(words)));
}

/* ---- Issuers and algorithms ---- */

/* Google's old tokens lack the scheme; upstream takes them all the same. */
struct str openid_token_named_issuer(const struct jwt *t)
{
    struct str issuer = value_text(&t->claims, "iss");
    return str_eq(issuer, STR("accounts.google.com")) ? STR("https://accounts.google.com") : issuer;
}

const struct authentication_jwt *openid_token_issuer(const struct authentication_config *c,
                                                     const struct jwt *t)
{
    struct str issuer = openid_token_named_issuer(t);
    for (size_t i = 0; i < c->n_jwt; i++)
        if (str_eq(c->jwt[i].url, issuer))
            return &c->jwt[i];
    return NULL;
}

int openid_token_algorithm(const struct authentication_config *c, const struct jwt *t,
                           struct err *err)
{
    autobuf words = { 0 };
    if (words_have(t->alg, c->algorithms, c->n_algorithms))
        return 0;
    buf_str_add(&words, STR("oidc: id token signed with unsupported algorithm, expected "));
    quote_list(&words, c->algorithms, c->n_algorithms);
    buf_str_add(&words, STR(" got "));
    quote_go(&words, t->alg);
    return refuse(err, &words);
}

/* ---- Audience and times ---- */

/* One text or several; what is not there is none. False if it is something else. */
static bool read_audience(struct arena *a, const struct value *aud, const struct str **ret,
                          size_t *ret_n)
{
    size_t n = value_is(aud, VALUE_ARRAY) ? aud->n : value_is(aud, VALUE_STRING);
    struct str *all = arena_array(a, struct str, n + 1);
    *ret = all;
    *ret_n = n;
    for (size_t i = 0; i < n; i++) {
        const struct value *one = value_is(aud, VALUE_ARRAY) ? value_at(aud, i) : aud;
        if (!value_is(one, VALUE_STRING))
            return false;
        all[i] = value_str(one);
    }
    return n || !aud || value_is(aud, VALUE_NULL) || value_is(aud, VALUE_ARRAY);
}

static int check_audience(const struct authentication_jwt *jwt, struct arena *a,
                          const struct jwt *t, struct err *err)
{
    const struct str *has;
    size_t n;
    autobuf words = { 0 };
    if (!read_audience(a, value_get(&t->claims, STR("aud")), &has, &n))
        return err_set(err, ERR_UNAUTHORIZED, "oidc: failed to unmarshal claims: aud");
    for (size_t i = 0; i < n; i++)
        if (words_have(has[i], jwt->audiences, jwt->n_audiences))
            return 0;
    if (jwt->n_audiences == 1) {
        buf_str_add(&words, STR("oidc: expected audience "));
        quote_go(&words, jwt->audiences[0]);
    } else {
        buf_str_add(&words, STR("oidc: expected audience in "));
        quote_list(&words, jwt->audiences, jwt->n_audiences);
    }
    buf_str_add(&words, STR(" got "));
    quote_list(&words, has, n);
    return refuse(err, &words);
}

/* A token without a time has ended long ago. */
int64_t openid_token_expiry_ns(const struct jwt *t)
{
    int64_t sec;
    if (!jwt_time(value_get(&t->claims, STR("exp")), &sec) || sec < 0)
        return 0;
    return sec > INT64_MAX / NS_PER_SEC ? INT64_MAX : sec * NS_PER_SEC;
}

static struct str time_text(struct arena *a, int64_t ns)
{
    return gotime_format(a, (struct gotime){ .sec = ns / NS_PER_SEC }, false);
}

static int check_times(struct arena *a, const struct jwt *t, int64_t now_ns, struct err *err)
{
    const struct value *nbf = value_get(&t->claims, STR("nbf"));
    int64_t expiry_ns = openid_token_expiry_ns(t), sec;
    if (expiry_ns < now_ns)
        return err_set(err, ERR_UNAUTHORIZED, "oidc: token is expired (Token Expiry: " STR_FMT ")",
                       STR_ARG(time_text(a, expiry_ns)));
    if (!nbf || nbf->type == VALUE_NULL)
        return 0;
    if (!jwt_time(nbf, &sec))
        return err_set(err, ERR_UNAUTHORIZED, "oidc: failed to unmarshal claims: nbf");
    if (sec > (now_ns + NBF_LEEWAY_NS) / NS_PER_SEC)
        return err_set(err, ERR_UNAUTHORIZED,
                       "oidc: current time " STR_FMT " before the nbf (not before) time",
                       STR_ARG(time_text(a, now_ns)));
    return 0;
}

int openid_token_check(const struct authentication_jwt *jwt, struct arena *a, struct str issuer,
                       const struct jwt *t, int64_t now_ns, struct err *err)
{
    struct str named = openid_token_named_issuer(t);
    if (!str_eq(named, issuer))
        return err_set(err, ERR_UNAUTHORIZED,
                       "oidc: id token issued by a different provider, expected \"" STR_FMT
                       "\" got \"" STR_FMT "\"",
                       STR_ARG(issuer), STR_ARG(named));
    int r = check_audience(jwt, a, t, err);
    if (r < 0)
        return r;
    return check_times(a, t, now_ns, err);
}

/* ---- Distributed claims ---- */

static int find_source(const struct value *names, const struct value *sources, struct str claim,
                       const struct value **ret, struct err *err)
{
    struct str name = value_str(value_get(names, claim));
    *ret = NULL;
    if (!value_get(names, claim))
        return 0;
    if (!value_is(sources, VALUE_OBJECT))
        return err_set(err, ERR_UNAUTHORIZED,
                       "oidc: could not expand distributed claims: oidc: no claim sources");
    *ret = value_get(sources, name);
    if (!value_is(*ret, VALUE_OBJECT))
        return err_set(err, ERR_UNAUTHORIZED,
                       "oidc: could not expand distributed claims: id token _claim_names contained "
                       "a source " STR_FMT " missing in _claims_sources",
                       STR_ARG(name));
    return 1;
}

int openid_token_source(const struct authentication_jwt *jwt, const struct jwt *t,
                        struct openid_endpoint *ret, struct err *err)
{
    const struct value *names = value_get(&t->claims, STR("_claim_names")), *source;
    *ret = (struct openid_endpoint){ 0 };
    if (!jwt->groups.claim.n || value_get(&t->claims, jwt->groups.claim) ||
        !value_is(names, VALUE_OBJECT))
        return 0;
    int r = find_source(names, value_get(&t->claims, STR("_claim_sources")), jwt->groups.claim,
                        &source, err);
    if (r <= 0)
        return r;
    ret->url = value_text(source, "endpoint");
    ret->access_token = value_text(source, "access_token");
    return ret->url.n > 0;
}

/* ---- Claims as expressions see them ---- */

/* Numbers are doubles, as Go reads JSON. A key that cannot stand behind a dot is there a second
 * time, as cel_escape() writes it, if an expression may ask for that. */
static struct value shown_to_expressions(struct arena *a, const struct value *v, bool escapes)
{
    if (v->type == VALUE_INT) {
        struct str text = arena_printf(a, "%lld", (long long)v->i);
        return (struct value){ .type = VALUE_NUMBER, .n = (uint32_t)text.n, .text = text.p };
    }
    if (v->type != VALUE_ARRAY && v->type != VALUE_OBJECT)
        return *v;
    struct value copy = v->type == VALUE_ARRAY ? value_array() : value_object();
    value_each_item (it, v)
        value_put_item(a, &copy, shown_to_expressions(a, it, escapes));
    value_each_field (f, v) {
        struct str escaped;
        struct value val = shown_to_expressions(a, &f->val, escapes);
        if (escapes && cel_escape(a, f->key, &escaped) && !str_eq(escaped, f->key))
            value_put_new(a, &copy, escaped, value_share(&val));
        value_put_new(a, &copy, f->key, val);
    }
    return copy;
}

/* ---- Making a user ---- */

struct making {
    const struct authentication_jwt *jwt;
    struct arena *arena;
    const struct value *claims;
    const struct value *fetched; /* groups from elsewhere, or NULL */
    struct cel_value shown;      /* the claims, for expressions */
    uint64_t budget;             /* of each */
    struct err *err;
};

static int text_claim(const struct making *m, struct str claim, const char *what, struct str *ret)
{
    const struct value *v = value_get(m->claims, claim);
    *ret = value_str(v);
    if (!v)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: parse %s \"" STR_FMT "\": claim not present", what, STR_ARG(claim));
    if (v->type != VALUE_STRING && v->type != VALUE_NULL)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: parse %s \"" STR_FMT
                       "\": json: cannot unmarshal %s into Go value of type string",
                       what, STR_ARG(claim), go_type(v));
    return 0;
}

static int evaluate(const struct making *m, const struct cel_program *p, struct str expression,
                    const struct cel_value *var, const char *what, struct cel_value *ret)
{
    uint64_t cost;
    struct err why = ERR_INIT(m->arena);
    if (cel_eval(m->arena, p, var, m->budget, ret, &cost, &why) < 0)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: error evaluating %s: expression '" STR_FMT
                       "' resulted in error: " STR_FMT,
                       what, STR_ARG(expression), STR_ARG(why.msg));
    return 0;
}

static int text_expression(const struct making *m, const struct authentication_source *s,
                           const char *what, struct str *ret)
{
    struct cel_value v;
    const char *words = str_cstr(m->arena, arena_printf(m->arena, "%s claim expression", what));
    int r = evaluate(m, s->program, s->expression, &m->shown, words, &v);
    if (r < 0)
        return r;
    if (v.kind != CEL_STRING)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: error evaluating %s: %s claim expression must return a string", words,
                       what);
    *ret = arena_str(m->arena, cel_text(&v));
    return 0;
}

/* One text or many; those that are empty are left out. False if it is something else. */
static bool texts_of(struct arena *a, const struct cel_value *v, const struct str **ret,
                     size_t *ret_n)
{
    *ret_n = 0;
    if (v->kind == CEL_NULL)
        return true;
    if (v->kind != CEL_STRING && v->kind != CEL_LIST)
        return false;
    size_t n = v->kind == CEL_LIST ? cel_size(v) : 1;
    struct str *all = arena_array(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct cel_value one = v->kind == CEL_LIST ? cel_at(a, v, i) : *v;
        if (one.kind != CEL_STRING)
            return false;
        all[*ret_n] = arena_str(a, cel_text(&one));
        *ret_n += all[*ret_n].n > 0;
    }
    *ret = all;
    return true;
}

/* ---- Name ---- */

/* A mail address counts only if the issuer does not say that it is unverified. */
static int check_verified(const struct making *m)
{
    const struct value *v = value_get(m->claims, STR("email_verified"));
    if (!v || value_is_true(v))
        return 0;
    if (v->type != VALUE_BOOL && v->type != VALUE_NULL)
        return err_set(
            m->err, ERR_UNAUTHORIZED,
            "oidc: parse 'email_verified' claim: json: cannot unmarshal %s into Go value "
            "of type bool",
            go_type(v));
    return err_set(m->err, ERR_UNAUTHORIZED, "oidc: email not verified");
}

static int claimed_name(const struct making *m, struct str *ret)
{
    const struct authentication_source *s = &m->jwt->username;
    struct str name;
    int r = text_claim(m, s->claim, "username claims", &name);
    if (r < 0)
        return r;
    if (str_eq(s->claim, STR("email"))) {
        r = check_verified(m);
        if (r < 0)
            return r;
    }
    *ret = arena_printf(m->arena, STR_FMT STR_FMT, STR_ARG(s->prefix), STR_ARG(name));
    return ret->n ? 0 : err_set(m->err, ERR_UNAUTHORIZED, "oidc: the username is empty");
}

static int make_name(const struct making *m, struct user *ret)
{
    if (!m->jwt->username.program)
        return claimed_name(m, &ret->name);
    int r = text_expression(m, &m->jwt->username, "username", &ret->name);
    if (r < 0)
        return r;
    if (!ret->name.n)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: empty username via CEL expression is not allowed");
    return 0;
}

/* ---- Groups ---- */

static int claimed_groups(const struct making *m, const struct value *v, struct user *ret)
{
    const struct authentication_source *s = &m->jwt->groups;
    size_t n = v->type == VALUE_ARRAY ? v->n : v->type == VALUE_STRING;
    struct str *groups = arena_array(m->arena, struct str, n + 1);
    bool good = v->type == VALUE_ARRAY || v->type == VALUE_STRING || v->type == VALUE_NULL;
    for (size_t i = 0; good && i < n; i++) {
        const struct value *one = v->type == VALUE_ARRAY ? value_at(v, i) : v;
        good = one->type == VALUE_STRING || one->type == VALUE_NULL;
        groups[i] =
            arena_printf(m->arena, STR_FMT STR_FMT, STR_ARG(s->prefix), STR_ARG(value_str(one)));
    }
    if (!good)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: parse groups claim \"" STR_FMT
                       "\": json: cannot unmarshal %s into Go value of type string",
                       STR_ARG(s->claim), go_type(v));
    ret->groups = groups;
    ret->n_groups = n;
    return 0;
}

static int make_groups(const struct making *m, struct user *ret)
{
    const struct authentication_source *s = &m->jwt->groups;
    const struct value *own = s->claim.n ? value_get(m->claims, s->claim) : NULL,
                       *claim = m->fetched ? m->fetched : own;
    if (claim)
        return claimed_groups(m, claim, ret);
    if (!s->program)
        return 0;
    struct cel_value v;
    int r = evaluate(m, s->program, s->expression, &m->shown, "group claim expression", &v);
    if (r < 0)
        return r;
    if (!texts_of(m->arena, &v, &ret->groups, &ret->n_groups))
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: error evaluating group claim expression: expression must return a "
                       "string or a list of strings");
    return 0;
}

/* ---- Uid and extra ---- */

static int make_uid(const struct making *m, struct user *ret)
{
    if (m->jwt->uid.claim.n)
        return text_claim(m, m->jwt->uid.claim, "uid claim", &ret->uid);
    return m->jwt->uid.program ? text_expression(m, &m->jwt->uid, "uid", &ret->uid) : 0;
}

static void add_credential(const struct making *m, struct user_extra *all, size_t *n)
{
    struct str jti = value_text(m->claims, "jti");
    if (!jti.n)
        return;
    struct str *id = arena_new(m->arena, struct str);
    *id = arena_printf(m->arena, "JTI=" STR_FMT, STR_ARG(jti));
    all[(*n)++] = (struct user_extra){ STR("authentication.kubernetes.io/credential-id"), id, 1 };
}

static int make_extra(const struct making *m, struct user *ret)
{
    struct user_extra *all = arena_array(m->arena, struct user_extra, m->jwt->n_extra + 1);
    add_credential(m, all, &ret->n_extra);
    ret->extra = all;
    for (size_t i = 0; i < m->jwt->n_extra; i++) {
        const struct authentication_extra *extra = &m->jwt->extra[i];
        struct user_extra *to = &all[ret->n_extra];
        struct cel_value v;
        int r =
            evaluate(m, extra->program, extra->expression, &m->shown, "extra claim expression", &v);
        if (r < 0)
            return r;
        if (!texts_of(m->arena, &v, &to->values, &to->n_values))
            return err_set(m->err, ERR_UNAUTHORIZED,
                           "oidc: error evaluating extra claim expression: " STR_FMT
                           ": expression must return a string or a list of strings",
                           STR_ARG(extra->expression));
        to->key = extra->key;
        ret->n_extra += to->n_values > 0;
    }
    return 0;
}

/* ---- Rules ---- */

static int check_required(const struct making *m, const struct authentication_rule *rule)
{
    const struct value *v = value_get(m->claims, rule->claim);
    if (!v)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: required claim " STR_FMT " not present in ID token",
                       STR_ARG(rule->claim));
    if (v->type != VALUE_STRING && v->type != VALUE_NULL)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: parse claim " STR_FMT
                       ": json: cannot unmarshal %s into Go value of type string",
                       STR_ARG(rule->claim), go_type(v));
    if (!str_eq(value_str(v), rule->required))
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: required claim " STR_FMT " value does not match. Got = " STR_FMT
                       ", want = " STR_FMT,
                       STR_ARG(rule->claim), STR_ARG(value_str(v)), STR_ARG(rule->required));
    return 0;
}

static int check_true(const struct making *m, const struct authentication_rule *rule,
                      const struct cel_value *var, const char *what)
{
    struct cel_value v;
    int r = evaluate(m, rule->program, rule->expression, var, what, &v);
    if (r < 0)
        return r;
    if (v.kind != CEL_BOOL)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: error evaluating %s: validation expression must return a boolean",
                       what);
    if (!v.b)
        return err_set(m->err, ERR_UNAUTHORIZED,
                       "oidc: error evaluating %s: validation expression '" STR_FMT
                       "' failed: " STR_FMT,
                       what, STR_ARG(rule->expression), STR_ARG(rule->message));
    return 0;
}

/* First what must be there, then what must be true. */
static int check_claims(const struct making *m)
{
    for (size_t i = 0; i < m->jwt->n_claim_rules; i++) {
        int r = m->jwt->claim_rules[i].claim.n ? check_required(m, &m->jwt->claim_rules[i]) : 0;
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < m->jwt->n_claim_rules; i++) {
        const struct authentication_rule *rule = &m->jwt->claim_rules[i];
        int r = rule->program ? check_true(m, rule, &m->shown, "claim validation expression") : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static struct value texts_tree(struct arena *a, const struct str *texts, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(texts[i]));
    return list;
}

static struct value *user_tree(struct arena *a, const struct user *u)
{
    struct value *obj = arena_new(a, struct value), extra = value_object();
    *obj = value_object();
    for (size_t i = 0; i < u->n_extra; i++)
        value_put(a, &extra, u->extra[i].key,
                  texts_tree(a, u->extra[i].values, u->extra[i].n_values));
    value_put(a, obj, STR("username"), value_string(u->name));
    value_put(a, obj, STR("uid"), value_string(u->uid));
    value_put(a, obj, STR("groups"), texts_tree(a, u->groups, u->n_groups));
    value_put(a, obj, STR("extra"), extra);
    return obj;
}

static int check_user(const struct making *m, const struct user *user)
{
    if (!m->jwt->n_user_rules)
        return 0;
    struct cel_value shown =
        cel_wrap(m->arena, user_tree(m->arena, user), authentication_user_type(m->arena));
    for (size_t i = 0; i < m->jwt->n_user_rules; i++) {
        int r = check_true(m, &m->jwt->user_rules[i], &shown, "user info validation rule");
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- The whole ---- */

static struct cel_value claims_shown(const struct authentication_jwt *jwt, struct arena *a,
                                     const struct jwt *t)
{
    struct value *tree = arena_new(a, struct value);
    *tree = shown_to_expressions(a, &t->claims, jwt->has_escapes);
    return cel_wrap(a, tree, cel_type_map(a, &cel_string, &cel_any));
}

static int make(const struct making *m, struct user *ret)
{
    int r = make_name(m, ret);
    if (r < 0)
        return r;
    r = make_groups(m, ret);
    if (r < 0)
        return r;
    r = make_uid(m, ret);
    if (r < 0)
        return r;
    r = make_extra(m, ret);
    if (r < 0)
        return r;
    r = check_claims(m);
    if (r < 0)
        return r;
    return check_user(m, ret);
}

int openid_token_user(const struct authentication_jwt *jwt, struct arena *a, const struct jwt *t,
                      const struct value *groups, uint64_t budget, struct user *ret,
                      struct err *err)
{
    const struct making m = { .jwt = jwt,
                              .arena = a,
                              .claims = &t->claims,
                              .fetched = groups,
                              .shown = claims_shown(jwt, a, t),
                              .budget = budget,
                              .err = err };
    *ret = (struct user){ 0 };
    return make(&m, ret);
}
