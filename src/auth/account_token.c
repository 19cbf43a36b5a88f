#include "auth/account_token.h"

#include "api/go/gotime.h"
#include "api/go/quote.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/banned.h"

enum { LEEWAY_SEC = 60 };

/* ---- Opening ---- */

static bool is_issuer(const struct account_rules *rules, struct str issuer)
{
    for (size_t i = 0; i < rules->n_issuers; i++)
        if (str_eq(rules->issuers[i], issuer))
            return true;
    return false;
}

static bool has_key(const struct account_rules *rules, const struct jwt *t)
{
    for (size_t i = 0; i < rules->n_keys; i++)
        if (jwt_could_be_of(t, rules->keys[i]))
            return true;
    return false;
}

static bool is_audience(const struct value *aud)
{
    if (!value_is(aud, VALUE_ARRAY))
        return value_is(aud, VALUE_STRING);
    value_each_item (it, aud)
        if (!value_is(it, VALUE_STRING))
            return false;
    return true;
}

static bool is_time_or_absent(const struct value *claim)
{
    int64_t t;
    return !claim || claim->type == VALUE_NULL || jwt_time(claim, &t);
}

/* A claim of another type is no claim that can be passed over. */
static int check_types(const struct value *claims, struct err *err)
{
    const struct value *aud = value_get(claims, STR("aud")),
                       *own = value_get(claims, STR("kubernetes.io"));
    if (aud && !is_audience(aud))
        return err_set(err, ERR_UNAUTHORIZED,
                       "go-jose/go-jose/jwt: expected string or array value to unmarshal to "
                       "Audience");
    if (!is_time_or_absent(value_get(claims, STR("exp"))) ||
        !is_time_or_absent(value_get(claims, STR("nbf"))) ||
        !is_time_or_absent(value_get(claims, STR("iat"))) ||
        !is_time_or_absent(value_get(own, STR("warnafter"))))
        return err_set(err, ERR_UNAUTHORIZED,
                       "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate");
    return 0;
}

int account_token_open(const struct account_rules *rules, struct arena *a, struct str token,
                       struct account_claims *ret, struct err *err)
{
    struct err ignored = ERR_INIT(a);
    *ret = (struct account_claims){ 0 };
    if (jwt_read(a, token, &ret->jwt, &ignored) < 0)
        return 0;
    struct str issuer = value_text(&ret->jwt.claims, "iss");
    ret->is_legacy = str_eq(issuer, ACCOUNT_LEGACY_ISSUER);
    if (!ret->is_legacy && !is_issuer(rules, issuer))
        return 0;
    if (!has_key(rules, &ret->jwt))
        return err_set(err, ERR_UNAUTHORIZED, "invalid signature, no keys found");
    if (!jwt_verify(&ret->jwt, rules->keys, rules->n_keys))
        return err_set(err, ERR_UNAUTHORIZED, "go-jose/go-jose: error in cryptographic primitive");
    int r = check_types(&ret->jwt.claims, err);
    return r < 0 ? r : 1;
}

/* ---- Audiences and times ---- */

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

static size_t audiences_of(const struct account_rules *rules, struct arena *a,
                           const struct value *aud, const struct str **ret)
{
    size_t n = value_is(aud, VALUE_ARRAY) ? aud->n : value_is(aud, VALUE_STRING);
    if (!n) { /* a legacy token is for this server */
        *ret = rules->audiences;
        return rules->n_audiences;
    }
    struct str *all = arena_array(a, struct str, n);
    if (value_is(aud, VALUE_STRING))
        all[0] = value_str(aud);
    for (size_t i = 0; value_is(aud, VALUE_ARRAY) && i < n; i++)
        all[i] = value_str(value_at(aud, i));
    *ret = all;
    return n;
}

static bool is_among(const struct str *items, size_t n, struct str item)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(items[i], item))
            return true;
    return false;
}

static int check_audiences(const struct account_rules *rules, struct arena *a,
                           const struct account_claims *claims, const struct str *wanted,
                           size_t n_wanted, struct account_user *ret, struct err *err)
{
    const struct str *own;
    size_t n = audiences_of(rules, a, value_get(&claims->jwt.claims, STR("aud")), &own);
    ret->use.subject = arena_str(a, value_text(&claims->jwt.claims, "sub"));
    ret->use.has_no_audience = own == rules->audiences;
    struct str *both = arena_array(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        if (is_among(wanted, n_wanted, own[i]))
            both[ret->n_audiences++] = own[i];
    ret->audiences = both;
    if (ret->n_audiences)
        return 0;
    autobuf text = { 0 };
    buf_str_add(&text, STR("token audiences "));
    quote_list(&text, own, n);
    buf_str_add(&text, STR(" is invalid for the target audiences "));
    quote_list(&text, wanted, n_wanted);
    return err_set(err, ERR_UNAUTHORIZED, STR_FMT, STR_ARG(buf_str(&text)));
}

static int check_times(const struct value *claims, int64_t now, struct err *err)
{
    int64_t t;
    if (jwt_time(value_get(claims, STR("nbf")), &t) && now + LEEWAY_SEC < t)
        return err_set(err, ERR_UNAUTHORIZED, "service account token is not valid yet");
    if (jwt_time(value_get(claims, STR("exp")), &t) && now - LEEWAY_SEC > t)
        return err_set(err, ERR_UNAUTHORIZED, "service account token has expired");
    if (jwt_time(value_get(claims, STR("iat")), &t) && now + LEEWAY_SEC < t)
        return err_set(err, ERR_UNAUTHORIZED, "service account token is issued in the future");
    return 0;
}

/* ---- What it names ---- */

/* One check of a token. */
struct check {
    struct arena *arena;
    const struct account_objects *objects;
    int64_t now_sec;
    struct str ns;
    struct account_use *use;
    struct err *err;
};

static int read_named(const struct check *c, const char *plural, struct str ns, struct str name,
                      struct value *ret)
{
    if (!name.n)
        return err_set(c->err, ERR_UNAUTHORIZED, "resource name may not be empty");
    return c->objects->read(c->objects->arg, c->arena, plural, ns, name, ret, c->err);
}

static struct str uid_of(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "uid"));
}

/* It was marked for deletion, and that is longer ago than clocks may differ. */
static bool is_deleted(const struct check *c, const struct value *obj)
{
    struct str text = value_str(value_dig(obj, "metadata", "deletionTimestamp"));
    struct gotime t;
    struct err ignored = ERR_INIT(c->arena);
    return text.n && gotime_parse(text, false, &t, &ignored) == 0 &&
           t.sec < c->now_sec - LEEWAY_SEC;
}

static int check_account(const struct check *c, struct str name, struct str uid)
{
    struct value account;
    int r = read_named(c, "serviceaccounts", c->ns, name, &account);
    if (r < 0)
        return r;
    if (r == 0)
        return err_set(c->err, ERR_UNAUTHORIZED, "serviceaccounts \"" STR_FMT "\" not found",
                       STR_ARG(name));
    if (!str_eq(uid_of(&account), uid))
        return err_set(c->err, ERR_UNAUTHORIZED,
                       "service account UID (" STR_FMT ") does not match claim (" STR_FMT ")",
                       STR_ARG(uid_of(&account)), STR_ARG(uid));
    if (is_deleted(c, &account))
        return err_set(c->err, ERR_UNAUTHORIZED,
                       "service account " STR_FMT "/" STR_FMT " has been deleted", STR_ARG(c->ns),
                       STR_ARG(name));
    return 0;
}

/* `kind` is "pod", "secret" or "node". */
static int check_bound(const struct check *c, const char *kind, const char *plural, struct str ns,
                       const struct value *ref)
{
    struct str name = value_text(ref, "name"), uid = value_text(ref, "uid");
    struct value obj;
    int r = read_named(c, plural, ns, name, &obj);
    if (r < 0)
        return r;
    if (r > 0 && !str_eq(uid_of(&obj), uid))
        return err_set(c->err, ERR_UNAUTHORIZED,
                       "%s UID (" STR_FMT ") does not match service account %s ref claim (" STR_FMT
                       ")",
                       kind, STR_ARG(uid_of(&obj)), kind, STR_ARG(uid));
    if (r == 0 || is_deleted(c, &obj))
        return err_set(c->err, ERR_UNAUTHORIZED, "service account token has been invalidated");
    return 0;
}

/* ---- Whom it makes ----
 *
 * The claims may be gone before the user is: everything is copied. */

struct extras {
    struct arena *arena;
    struct user_extra items[5];
    size_t n;
};

static void add_extra(struct extras *e, const char *key, struct str value)
{
    if (!value.n)
        return;
    struct str *kept = arena_new(e->arena, struct str);
    *kept = arena_str(e->arena, value);
    e->items[e->n++] =
        (struct user_extra){ arena_printf(e->arena, "authentication.kubernetes.io/%s", key), kept,
                             1 };
}

static void set_user(struct arena *a, struct str ns, struct str name, struct str uid,
                     const struct extras *extras, struct user *ret)
{
    const struct str *groups;
    size_t n = user_service_account_groups(a, ns, &groups);
    struct str *all = arena_array(a, struct str, n + 1);
    memcpy(all, groups, n * sizeof(*all));
    all[n] = USER_AUTHENTICATED;
    *ret = (struct user){
        .name = user_service_account_name(a, ns, name),
        .uid = arena_str(a, uid),
        .groups = all,
        .n_groups = n + 1,
        .extra = arena_dup(a, extras->items, extras->n * sizeof(*extras->items)),
        .n_extra = extras->n,
    };
}

/* It lives longer than it should, for those who do not exchange it yet. */
static void note_staleness(const struct check *c, const struct value *own)
{
    int64_t warn_after;
    if (!jwt_time(value_get(own, STR("warnafter")), &warn_after) || !warn_after)
        return;
    c->use->is_stale = c->now_sec > warn_after;
    c->use->stale_sec = c->now_sec - warn_after;
}

static int bound_user(const struct check *c, const struct value *claims, struct user *ret)
{
    const struct value *own = value_get(claims, STR("kubernetes.io")),
                       *account = value_get(own, STR("serviceaccount")),
                       *pod = value_get(own, STR("pod")), *secret = value_get(own, STR("secret")),
                       *node = value_get(own, STR("node"));
    struct str name = value_text(account, "name"), uid = value_text(account, "uid"),
               jti = value_text(claims, "jti");
    int r = check_account(c, name, uid);
    if (r < 0)
        return r;
    if (secret && (r = check_bound(c, "secret", "secrets", c->ns, secret)) < 0)
        return r;
    if (pod && (r = check_bound(c, "pod", "pods", c->ns, pod)) < 0)
        return r;
    if (node && !pod && (r = check_bound(c, "node", "nodes", STR(""), node)) < 0)
        return r;
    note_staleness(c, own);
    struct extras extras = { .arena = c->arena };
    if (jti.n)
        add_extra(&extras, "credential-id", arena_printf(c->arena, "JTI=" STR_FMT, STR_ARG(jti)));
    add_extra(&extras, "node-name", value_text(node, "name"));
    add_extra(&extras, "node-uid", value_text(node, "uid"));
    add_extra(&extras, "pod-name", value_text(pod, "name"));
    add_extra(&extras, "pod-uid", value_text(pod, "uid"));
    set_user(c->arena, c->ns, name, uid, &extras, ret);
    return 0;
}

/* The Secret that holds a legacy token must still hold it. */
static int check_secret(const struct check *c, struct str name, struct str token, struct value *ret)
{
    int r = read_named(c, "secrets", c->ns, name, ret);
    if (r < 0)
        return r;
    if (r == 0 || value_dig(ret, "metadata", "deletionTimestamp"))
        return err_set(c->err, ERR_UNAUTHORIZED, "Token has been invalidated");
    autobuf kept = { 0 };
    (void)base64_decode(&kept, value_str(value_dig(ret, "data", "token")));
    if (!str_eq(buf_str(&kept), token))
        return err_set(c->err, ERR_UNAUTHORIZED, "Token does not match server's copy");
    return 0;
}

/* As check_account(), in the words of legacy tokens, whose account has no minute of grace. */
static int check_legacy_account(const struct check *c, struct str name, struct str uid,
                                struct value *ret)
{
    int r = read_named(c, "serviceaccounts", c->ns, name, ret);
    if (r < 0)
        return r;
    if (r == 0)
        return err_set(c->err, ERR_UNAUTHORIZED, "serviceaccounts \"" STR_FMT "\" not found",
                       STR_ARG(name));
    if (value_dig(ret, "metadata", "deletionTimestamp"))
        return err_set(c->err, ERR_UNAUTHORIZED,
                       "ServiceAccount " STR_FMT "/" STR_FMT " has been deleted", STR_ARG(c->ns),
                       STR_ARG(name));
    if (!str_eq(uid_of(ret), uid))
        return err_set(c->err, ERR_UNAUTHORIZED,
                       "ServiceAccount UID (" STR_FMT ") does not match claim (" STR_FMT ")",
                       STR_ARG(uid_of(ret)), STR_ARG(uid));
    return 0;
}

static bool lists_secret(const struct value *account, struct str name)
{
    value_each_item (ref, value_get(account, STR("secrets")))
        if (str_eq(value_text(ref, "name"), name))
            return true;
    return false;
}

static int check_validity(const struct check *c, struct str account, const struct value *labels)
{
    if (!value_str(value_get(labels, ACCOUNT_INVALID_SINCE_LABEL)).n)
        return 0;
    return err_set(c->err, ERR_UNAUTHORIZED,
                   "the token in secret " STR_FMT "/" STR_FMT " for service account " STR_FMT
                   "/" STR_FMT " has been marked invalid. Use tokens from the TokenRequest API or "
                   "manually created secret-based tokens, or remove the '" STR_FMT
                   "' label from the secret to temporarily allow use of this token",
                   STR_ARG(c->ns), STR_ARG(c->use->secret), STR_ARG(c->ns), STR_ARG(account),
                   STR_ARG(ACCOUNT_INVALID_SINCE_LABEL));
}

static int check_legacy(const struct check *c, struct str secret_name, struct str token,
                        struct str name, struct str uid)
{
    struct value secret, account;
    int r = check_secret(c, secret_name, token, &secret);
    if (r < 0)
        return r;
    r = check_legacy_account(c, name, uid, &account);
    if (r < 0)
        return r;
    const struct value *labels = value_dig(&secret, "metadata", "labels");
    c->use->secret_ns = arena_str(c->arena, c->ns);
    c->use->secret = arena_str(c->arena, secret_name);
    c->use->secret_uid = uid_of(&secret);
    c->use->last_used = value_str(value_get(labels, ACCOUNT_LAST_USED_LABEL));
    c->use->is_automatic = lists_secret(&account, secret_name);
    return check_validity(c, name, labels);
}

static int legacy_user(const struct check *c, const struct value *claims, struct str token,
                       struct user *ret)
{
    static const struct {
        const char *claim, *missing;
    } needed[] = {
        { "sub", "sub claim is missing" },
        { "kubernetes.io/serviceaccount/namespace", "namespace claim is missing" },
        { "kubernetes.io/serviceaccount/secret.name", "secretName claim is missing" },
        { "kubernetes.io/serviceaccount/service-account.name",
          "serviceAccountName claim is missing" },
        { "kubernetes.io/serviceaccount/service-account.uid",
          "serviceAccountUID claim is missing" },
    };
    enum { SUB, NS, SECRET, NAME, UID, N_NEEDED };
    struct str has[N_NEEDED], ns, name;
    for (size_t i = 0; i < N_NEEDED; i++) {
        has[i] = value_str(value_get(claims, str_of(needed[i].claim)));
        if (!has[i].n)
            return err_set(c->err, ERR_UNAUTHORIZED, "%s", needed[i].missing);
    }
    if (!user_service_account(has[SUB], &ns, &name) || !str_eq(ns, has[NS]) ||
        !str_eq(name, has[NAME]))
        return err_set(c->err, ERR_UNAUTHORIZED, "sub claim is invalid");
    int r = check_legacy(c, has[SECRET], token, has[NAME], has[UID]);
    if (r < 0)
        return r;
    struct extras none = { .arena = c->arena };
    set_user(c->arena, ns, name, has[UID], &none, ret);
    return 0;
}

/* Tomorrow is for clocks that differ. */
struct str account_use_day(const struct account_use *use, int64_t now_sec, char *ret)
{
    enum { DAY_SEC = 24 * 3600 };
    char today[CLOCK_TEXT_BYTES], tomorrow[CLOCK_TEXT_BYTES];
    struct str days[] = { clock_format(now_sec * NS_PER_SEC, false, today),
                          clock_format((now_sec + DAY_SEC) * NS_PER_SEC, false, tomorrow) };
    if (!use->secret.n)
        return STR("");
    for (size_t i = 0; i < ARRAY_LEN(days); i++)
        if (str_eq(str_take(days[i], ACCOUNT_DAY_BYTES), use->last_used))
            return STR("");
    memcpy(ret, today, ACCOUNT_DAY_BYTES);
    return (struct str){ ret, ACCOUNT_DAY_BYTES };
}

int account_token_user(const struct account_rules *rules, struct arena *a, struct str token,
                       const struct account_claims *claims, const struct str *wanted,
                       size_t n_wanted, int64_t now_sec, const struct account_objects *objects,
                       struct account_user *ret, struct err *err)
{
    const struct value *all = &claims->jwt.claims;
    struct check c = {
        .arena = a, .objects = objects, .now_sec = now_sec, .use = &ret->use, .err = err
    };
    *ret = (struct account_user){ 0 };
    int r = check_audiences(rules, a, claims, wanted, n_wanted, ret, err);
    if (r < 0)
        return r;
    if (claims->is_legacy) {
        c.ns = value_str(value_get(all, STR("kubernetes.io/serviceaccount/namespace")));
        return legacy_user(&c, all, token, &ret->user);
    }
    r = check_times(all, now_sec, err);
    if (r < 0)
        return r;
    c.ns = value_str(value_dig(all, "kubernetes.io", "namespace"));
    return bound_user(&c, all, &ret->user);
}

/* ---- Making ---- */

static struct value ref(struct arena *a, struct str name, struct str uid)
{
    struct value obj = value_object();
    value_put(a, &obj, STR("name"), value_string(name));
    if (uid.n)
        value_put(a, &obj, STR("uid"), value_string(uid));
    return obj;
}

struct value account_token_claims(struct arena *a, struct str issuer, const struct account_grant *g)
{
    struct value claims = value_object(), own = value_object();
    value_put(a, &own, STR("namespace"), value_string(g->ns));
    if (g->node_name.n)
        value_put(a, &own, STR("node"), ref(a, g->node_name, g->node_uid));
    if (g->kind && *g->kind)
        value_put(a, &own, str_of(g->kind), ref(a, g->bound_name, g->bound_uid));
    value_put(a, &own, STR("serviceaccount"), ref(a, g->name, g->uid));
    if (g->warn_after_sec)
        value_put(a, &own, STR("warnafter"), value_int(g->now_sec + g->warn_after_sec));
    value_put(a, &claims, STR("aud"), value_borrow(g->audiences));
    value_put(a, &claims, STR("exp"), value_int(g->now_sec + g->seconds));
    value_put(a, &claims, STR("iat"), value_int(g->now_sec));
    value_put(a, &claims, STR("iss"), value_string(issuer));
    value_put(a, &claims, STR("jti"), value_string(g->jti));
    value_put(a, &claims, STR("kubernetes.io"), own);
    value_put(a, &claims, STR("nbf"), value_int(g->now_sec));
    value_put(a, &claims, STR("sub"), value_string(user_service_account_name(a, g->ns, g->name)));
    return claims;
}
