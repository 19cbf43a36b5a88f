#include "node/serve/serve_auth.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/log.h"
#include "base/lru.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

enum {
    CALL_MS = 10000,
    REMEMBERED = 1024,
    USER_BYTES = 4096, /* a longer one is not remembered */
    TOKEN_MS = 2 * 60 * 1000,
    ALLOWED_MS = 5 * 60 * 1000,
    DENIED_MS = 30 * 1000,
};

struct known_token {
    struct lru_thing thing; /* by the digest of the token */
    int64_t until_ns;
    size_t n;
    char user[USER_BYTES]; /* JSON */
};

struct known_answer {
    struct lru_thing thing; /* by user, verb and subresource */
    int64_t until_ns;
    bool is_allowed;
};

struct serve_auth {
    const struct serve_options *opt;
    pthread_mutex_t lock; /* of both */
    struct lru tokens, answers;
};

struct serve_auth *serve_auth_new(const struct serve_options *opt)
{
    struct serve_auth *auth = mem_new(struct serve_auth);
    auth->opt = opt;
    pthread_mutex_init(&auth->lock, NULL);
    lru_init(&auth->tokens, sizeof(struct known_token), REMEMBERED);
    lru_init(&auth->answers, sizeof(struct known_answer), REMEMBERED);
    return auth;
}

struct serve_auth *serve_auth_free(struct serve_auth *auth)
{
    if (!auth)
        return NULL;
    lru_done(&auth->tokens);
    lru_done(&auth->answers);
    pthread_mutex_destroy(&auth->lock);
    free(auth);
    return NULL;
}

/* A short key for a long text. */
static struct str key_of(struct arena *a, struct str text)
{
    unsigned char *digest = arena_alloc(a, DIGEST_SHA256_BYTES, 1);
    digest_sha256(text, digest);
    return (struct str){ (const char *)digest, DIGEST_SHA256_BYTES };
}

/* ---- What a request needs ---- */

static bool is_below(struct str path, const char *folder)
{
    struct str f = str_of(folder);
    return str_starts(path, f) && (path.n == f.n || path.p[f.n] == '/');
}

size_t serve_auth_subresources(struct str path, const char *ret[static SERVE_SUBRESOURCES])
{
    static const char *const fine[][2] = { { "/pods", "pods" },
                                           { "/runningpods", "pods" },
                                           { "/healthz", "healthz" },
                                           { "/configz", "configz" } };
    static const char *const coarse[][2] = {
        { "/stats", "stats" },     { "/metrics", "metrics" }, { "/logs", "log" },
        { "/statusz", "statusz" }, { "/flagz", "configz" },   { "/checkpoint", "checkpoint" },
    };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(fine) && !n; i++)
        if (is_below(path, fine[i][0]))
            ret[n++] = fine[i][1];
    for (size_t i = 0; i < ARRAY_LEN(coarse); i++)
        if (is_below(path, coarse[i][0])) {
            ret[n++] = coarse[i][1];
            return n;
        }
    ret[n++] = "proxy";
    return n;
}

const char *serve_auth_verb(struct str method)
{
    static const char *const rows[][2] = { { "POST", "create" },
                                           { "GET", "get" },
                                           { "PUT", "update" },
                                           { "PATCH", "patch" },
                                           { "DELETE", "delete" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(method, str_of(rows[i][0])))
            return rows[i][1];
    return "";
}

/* ---- Who asks ---- */

static void put(struct arena *a, struct value *obj, const char *key, struct str text)
{
    value_put(a, obj, str_of(key), value_string(text));
}

/* The user of a client certificate: its name, groups are organizations. */
static struct value user_of_certificate(struct arena *a, const struct tls_peer *peer)
{
    struct value user = value_object(), groups = value_array();
    for (size_t i = 0; i < peer->n_organizations; i++)
        value_put_item(a, &groups, value_string(peer->organizations[i]));
    value_put_item(a, &groups, value_string(STR("system:authenticated")));
    put(a, &user, "username", peer->common_name);
    if (peer->uid.n)
        put(a, &user, "uid", peer->uid);
    value_put(a, &user, STR("groups"), groups);
    return user;
}

static struct value anonymous(struct arena *a)
{
    struct value user = value_object(), groups = value_array();
    value_put_item(a, &groups, value_string(STR("system:unauthenticated")));
    put(a, &user, "username", STR("system:anonymous"));
    value_put(a, &user, STR("groups"), groups);
    return user;
}

static struct str bearer(const struct http_request *req)
{
    struct str text = http_header_get(req, STR("authorization"));
    struct str scheme = str_cut(&text, ' ');
    return str_eq_nocase(scheme, STR("bearer")) ? str_trim(text) : STR("");
}

static bool recall_token(struct serve_auth *auth, struct str key, struct arena *a,
                         struct value *ret)
{
    struct str json = STR("");
    pthread_mutex_lock(&auth->lock);
    const struct known_token *k = lru_get(&auth->tokens, key);
    if (k->until_ns > clock_mono_ns(&clock_system))
        json = arena_str(a, (struct str){ k->user, k->n });
    pthread_mutex_unlock(&auth->lock);
    struct err why = ERR_INIT(a);
    return json.n && json_read(a, json, NULL, ret, &why) == 0;
}

static void keep_token(struct serve_auth *auth, struct str key, const struct value *user)
{
    autobuf json = { 0 };
    json_write(&json, user);
    if (json.n > USER_BYTES)
        return;
    pthread_mutex_lock(&auth->lock);
    struct known_token *k = lru_get(&auth->tokens, key);
    k->until_ns = clock_mono_ns(&clock_system) + TOKEN_MS * NS_PER_MS;
    k->n = json.n;
    memcpy(k->user, json.p, json.n);
    pthread_mutex_unlock(&auth->lock);
}

static bool review_token(struct serve_auth *auth, struct str token, struct arena *a,
                         struct value *ret)
{
    const struct spn_target at = SPN_AT("authentication.k8s.io", "v1", "tokenreviews", "", "");
    const struct spn_call how = { .timeout_ms = CALL_MS };
    struct value review = value_object(), spec = value_object();
    struct spn_value *answer;
    struct spn_err why = { 0 };
    put(a, &spec, "token", token);
    put(a, &review, "apiVersion", STR("authentication.k8s.io/v1"));
    put(a, &review, "kind", STR("TokenReview"));
    value_put(a, &review, STR("spec"), spec);
    if (spn_client_create(auth->opt->client, &at, value_out(&review), &how, arena_out(a), &answer,
                          &why) < 0) {
        log_warn("a token cannot be reviewed", LOG_CSTR("err", why.message));
        return false;
    }
    const struct value *status = value_get(value_in(answer), STR("status"));
    if (!value_is_true(value_get(status, STR("authenticated"))))
        return false;
    *ret = value_borrow(value_get(status, STR("user")));
    return ret->type == VALUE_OBJECT;
}

static bool user_of_token(struct serve_auth *auth, struct str token, struct arena *a,
                          struct value *ret)
{
    struct str key = key_of(a, token);
    if (recall_token(auth, key, a, ret))
        return true;
    if (!review_token(auth, token, a, ret))
        return false;
    keep_token(auth, key, ret);
    return true;
}

static bool authenticate(struct serve_auth *auth, const struct http_request *req, struct arena *a,
                         struct value *ret)
{
    struct str token = bearer(req);
    if (req->peer->cert.verified) {
        *ret = user_of_certificate(a, &req->peer->cert);
        return true;
    }
    if (token.n && auth->opt->webhook_authentication && user_of_token(auth, token, a, ret))
        return true;
    if (token.n || !auth->opt->anonymous)
        return false;
    *ret = anonymous(a);
    return true;
}

/* ---- Whether he may ---- */

static bool recall_answer(struct serve_auth *auth, struct str key, bool *ret)
{
    pthread_mutex_lock(&auth->lock);
    const struct known_answer *k = lru_get(&auth->answers, key);
    const bool is_known = k->until_ns > clock_mono_ns(&clock_system);
    *ret = k->is_allowed;
    pthread_mutex_unlock(&auth->lock);
    return is_known;
}

static void keep_answer(struct serve_auth *auth, struct str key, bool is_allowed)
{
    pthread_mutex_lock(&auth->lock);
    struct known_answer *k = lru_get(&auth->answers, key);
    k->until_ns = clock_mono_ns(&clock_system) + (is_allowed ? ALLOWED_MS : DENIED_MS) * NS_PER_MS;
    k->is_allowed = is_allowed;
    pthread_mutex_unlock(&auth->lock);
}

static struct value review_object(struct arena *a, const struct serve_auth *auth,
                                  const struct value *user, const char *verb, const char *sub)
{
    static const char *const same[] = { "uid", "groups", "extra" };
    struct value review = value_object(), spec = value_object(), what = value_object();
    put(a, &what, "verb", str_of(verb));
    put(a, &what, "version", STR("v1"));
    put(a, &what, "resource", STR("nodes"));
    put(a, &what, "subresource", str_of(sub));
    put(a, &what, "name", auth->opt->node->name);
    value_put(a, &spec, STR("resourceAttributes"), what);
    put(a, &spec, "user", value_text(user, "username"));
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        const struct value *v = value_get(user, str_of(same[i]));
        if (v)
            value_put(a, &spec, str_of(same[i]), value_borrow(v));
    }
    put(a, &review, "apiVersion", STR("authorization.k8s.io/v1"));
    put(a, &review, "kind", STR("SubjectAccessReview"));
    value_put(a, &review, STR("spec"), spec);
    return review;
}

/* 1: allowed; 0: not; negative: nobody can say. */
static int authorize(struct serve_auth *auth, const struct value *user, const char *verb,
                     const char *sub, struct arena *a)
{
    const struct spn_target at =
        SPN_AT("authorization.k8s.io", "v1", "subjectaccessreviews", "", "");
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct value review = review_object(a, auth, user, verb, sub);
    struct spn_value *answer;
    struct spn_err why = { 0 };
    autobuf json = { 0 };
    bool is_allowed;
    json_write(&json, value_get(&review, STR("spec")));
    struct str key = key_of(a, buf_str(&json));
    if (recall_answer(auth, key, &is_allowed))
        return is_allowed;
    if (spn_client_create(auth->opt->client, &at, value_out(&review), &how, arena_out(a), &answer,
                          &why) < 0) {
        log_warn("nobody can say what is allowed", LOG_CSTR("err", why.message));
        return -1;
    }
    is_allowed = value_is_true(value_dig(value_in(answer), "status", "allowed"));
    keep_answer(auth, key, is_allowed);
    return is_allowed;
}

int serve_auth_check(struct serve_auth *auth, const struct http_request *req, struct arena *a,
                     struct str *ret_text)
{
    const char *subs[SERVE_SUBRESOURCES];
    const char *verb = serve_auth_verb(req->method);
    const size_t n = serve_auth_subresources(req->path, subs);
    struct value user;
    autobuf list = { 0 };
    if (!authenticate(auth, req, a, &user)) {
        *ret_text = STR("Unauthorized");
        return 401;
    }
    struct str name = value_text(&user, "username");
    for (size_t i = 0; i < n && !auth->opt->always_allow; i++) {
        const int answer = authorize(auth, &user, verb, subs[i], a);
        if (answer > 0)
            return 0;
        if (answer < 0) {
            *ret_text = arena_printf(a,
                                     "Authorization error (user=" STR_FMT
                                     ", verb=%s, resource=nodes, subresource=%s)",
                                     STR_ARG(name), verb, subs[i]);
            return 500;
        }
        buf_printf(&list, "%s%s", i ? " " : "", subs[i]);
    }
    if (auth->opt->always_allow)
        return 0;
    *ret_text = arena_printf(
        a, "Forbidden (user=" STR_FMT ", verb=%s, resource=nodes, subresource(s)=[" STR_FMT "])\n",
        STR_ARG(name), verb, STR_ARG(buf_str(&list)));
    return 403;
}
