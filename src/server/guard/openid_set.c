#include "server/guard/openid_set.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "server/guard/openid_provider.h"
#include "base/banned.h"

enum { LOOK_EVERY_SEC = 10, OTHERS_MAX = 16 };

/* One issuer of the configuration. */
struct issuer {
    struct openid_set *set;
    const struct authentication_jwt *jwt;
    struct fetcher *fetcher;
    struct openid_provider *provider;
    pthread_t thread;
    bool has_thread;
    atomic_int_least64_t fetched_sec, failed_sec;
    pthread_mutex_t others_lock;                /* over others */
    struct openid_provider *others[OTHERS_MAX]; /* who sign claims that are kept elsewhere */
    size_t n_others;
};

struct openid_set {
    struct arena arena;
    const struct clock *clock;
    struct authentication_config config;
    struct issuer *issuers;
    atomic_size_t refs, n_waiting;
    atomic_bool is_cancelled;
    pthread_mutex_t lock; /* of the threads' sleep */
    pthread_cond_t woken;
};

/* ---- Looking for issuers ---- */

static bool sleep_until_next(struct openid_set *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_EVERY_SEC;
    (void)pthread_mutex_lock(&s->lock);
    int rc = 0;
    while (!atomic_load(&s->is_cancelled) && rc == 0)
        rc = pthread_cond_timedwait(&s->woken, &s->lock, &until);
    (void)pthread_mutex_unlock(&s->lock);
    return !atomic_load(&s->is_cancelled);
}

static bool look_for(struct issuer *i)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    bool is_found = openid_provider_find(i->provider, &err) == 0;
    if (is_found)
        log_info("an OpenID issuer is known", LOG_STR("issuer", i->jwt->url));
    else if (!atomic_load(&i->set->is_cancelled))
        log_error("an OpenID issuer cannot be used yet; its tokens are not believed",
                  LOG_STR("issuer", i->jwt->url), LOG_ERR(&err));
    arena_done(&a);
    return is_found;
}

static void *run(void *arg)
{
    struct issuer *i = arg;
    while (!look_for(i) && sleep_until_next(i->set))
        ;
    return NULL;
}

int openid_set_start(struct openid_set *s, struct err *err)
{
    for (size_t k = 0; k < s->config.n_jwt; k++) {
        struct issuer *i = &s->issuers[k];
        int rc = pthread_create(&i->thread, NULL, run, i);
        if (rc)
            return err_errno(err, rc, "start a thread");
        (void)pthread_setname_np(i->thread, "openid");
        i->has_thread = true;
    }
    return 0;
}

void openid_set_cancel(struct openid_set *s)
{
    (void)pthread_mutex_lock(&s->lock);
    atomic_store(&s->is_cancelled, true);
    (void)pthread_cond_broadcast(&s->woken);
    (void)pthread_mutex_unlock(&s->lock);
}

bool openid_set_is_ready(struct openid_set *s, struct str *ret_missing)
{
    for (size_t k = 0; k < s->config.n_jwt; k++) {
        *ret_missing = s->config.jwt[k].url;
        if (!openid_provider_is_found(s->issuers[k].provider))
            return false;
    }
    return true;
}

/* ---- Claims that are kept elsewhere ---- */

/* Whoever has signed them; NULL: there are too many already. */
static struct openid_provider *other_provider(struct issuer *i, struct str name)
{
    struct openid_provider *found = NULL;
    (void)pthread_mutex_lock(&i->others_lock);
    for (size_t k = 0; !found && k < i->n_others; k++)
        if (str_eq(openid_provider_issuer(i->others[k]), name))
            found = i->others[k];
    if (!found && i->n_others < OTHERS_MAX)
        found = i->others[i->n_others++] = openid_provider_new(&(struct openid_provider_options){
            .issuer = name, .fetcher = i->fetcher, .n_waiting = &i->set->n_waiting });
    (void)pthread_mutex_unlock(&i->others_lock);
    return found;
}

static int verify_other(struct issuer *i, struct arena *a, const struct jwt *t, int64_t now_ns,
                        struct err *err)
{
    struct str name = openid_token_named_issuer(t);
    struct openid_provider *p = other_provider(i, name);
    if (!p)
        return err_set(err, ERR_UNAUTHORIZED, "too many issuers sign distributed claims");
    int r = openid_token_algorithm(&i->set->config, t, err);
    if (r < 0)
        return r;
    r = openid_provider_verify(p, t, err);
    if (r < 0)
        return r;
    return openid_token_check(i->jwt, a, name, t, now_ns, err);
}

static int fetch_groups(struct issuer *i, struct arena *a, const struct openid_endpoint *end,
                        int64_t now_ns, const struct value **ret, struct err *err)
{
    struct str text, claim = i->jwt->groups.claim;
    struct jwt *t = arena_new(a, struct jwt);
    int r = openid_provider_fetch(i->fetcher, a, end->url, end->access_token, &text, err);
    if (r < 0)
        return r;
    r = jwt_read(a, str_trim(text), t, err);
    if (r < 0)
        return r;
    r = verify_other(i, a, t, now_ns, err);
    if (r < 0)
        return err_wrap(err, "verify distributed claim token");
    *ret = value_get(&t->claims, claim);
    if (!*ret)
        return err_set(err, ERR_UNAUTHORIZED,
                       "jwt returned by distributed claim endpoint \"" STR_FMT
                       "\" did not contain claim: " STR_FMT,
                       STR_ARG(end->url), STR_ARG(claim));
    return 0;
}

static int find_groups(struct issuer *i, struct arena *a, const struct jwt *t, int64_t now_ns,
                       const struct value **ret, struct err *err)
{
    struct openid_endpoint end;
    *ret = NULL;
    int r = openid_token_source(i->jwt, t, &end, err);
    if (r <= 0)
        return r;
    r = fetch_groups(i, a, &end, now_ns, ret, err);
    if (r < 0)
        return err_set(err, ERR_UNAUTHORIZED, "oidc: could not expand distributed claims: " STR_FMT,
                       STR_ARG(arena_str(a, err->msg)));
    return 0;
}

/* ---- Tokens ---- */

static int verify(struct issuer *i, struct arena *a, const struct jwt *t, int64_t now_ns,
                  struct err *err)
{
    int r = openid_token_algorithm(&i->set->config, t, err);
    if (r < 0)
        return r;
    r = openid_provider_verify(i->provider, t, err);
    if (r < 0)
        return r;
    return openid_token_check(i->jwt, a, i->jwt->url, t, now_ns, err);
}

static int make_user(struct issuer *i, struct arena *a, const struct jwt *t, struct user *ret,
                     struct err *err)
{
    int64_t now_ns = clock_wall_ns(i->set->clock);
    const struct value *groups;
    int r = verify(i, a, t, now_ns, err);
    if (r < 0)
        return err_wrap(err, "oidc: verify token");
    r = find_groups(i, a, t, now_ns, &groups, err);
    if (r < 0)
        return r;
    r = openid_token_user(i->jwt, a, t, groups, OPENID_BUDGET, ret, err);
    return r < 0 ? r : 1;
}

/* 1 if it is good by what is known. */
static int verify_at_once(struct issuer *i, struct arena *a, const struct jwt *t, struct err *err)
{
    int r = openid_token_algorithm(&i->set->config, t, err);
    if (r < 0)
        return r;
    if (!openid_provider_has_signed(i->provider, t))
        return OPENID_LATER;
    r = openid_token_check(i->jwt, a, i->jwt->url, t, clock_wall_ns(i->set->clock), err);
    return r < 0 ? r : 1;
}

/* Why an expression has failed is found out later: it may have been too costly for now. */
static int make_user_at_once(struct issuer *i, struct arena *a, const struct jwt *t,
                             struct user *ret, struct err *err)
{
    struct openid_endpoint end;
    struct err ignored = ERR_INIT(a);
    int r = verify_at_once(i, a, t, err);
    if (r < 0)
        return err_wrap(err, "oidc: verify token");
    if (r == OPENID_LATER)
        return r;
    r = openid_token_source(i->jwt, t, &end, err);
    if (r)
        return r < 0 ? r : OPENID_LATER;
    r = openid_token_user(i->jwt, a, t, NULL, OPENID_BUDGET_AT_ONCE, ret, &ignored);
    return r < 0 ? OPENID_LATER : 1;
}

typedef int make_fn(struct issuer *i, struct arena *a, const struct jwt *t, struct user *ret,
                    struct err *err);

static int user_of(struct openid_set *s, struct arena *a, struct str token, make_fn *make,
                   struct user *ret, int64_t *ret_expiry_ns, struct err *err)
{
    struct err ignored = ERR_INIT(a);
    struct jwt t;
    if (jwt_read(a, token, &t, &ignored) < 0)
        return 0;
    const struct authentication_jwt *jwt = openid_token_issuer(&s->config, &t);
    if (!jwt)
        return 0;
    struct issuer *i = &s->issuers[jwt - s->config.jwt];
    *ret_expiry_ns = openid_token_expiry_ns(&t);
    if (!openid_provider_is_found(i->provider))
        return err_set(err, ERR_UNAUTHORIZED, "oidc: authenticator not initialized");
    return make(i, a, &t, ret, err);
}

int openid_set_user(struct openid_set *s, struct arena *a, struct str token, struct user *ret,
                    int64_t *ret_expiry_ns, struct err *err)
{
    return user_of(s, a, token, make_user, ret, ret_expiry_ns, err);
}

int openid_set_user_at_once(struct openid_set *s, struct arena *a, struct str token,
                            struct user *ret, int64_t *ret_expiry_ns, struct err *err)
{
    return user_of(s, a, token, make_user_at_once, ret, ret_expiry_ns, err);
}

/* ---- References ---- */

void openid_set_ref(struct openid_set *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void openid_set_unref(struct openid_set *s)
{
    atomic_fetch_sub_explicit(&s->refs, 1, memory_order_release);
}

bool openid_set_is_held(const struct openid_set *s)
{
    return atomic_load_explicit(&s->refs, memory_order_acquire) > 0;
}

const struct authentication_config *openid_set_config(const struct openid_set *s)
{
    return &s->config;
}

/* ---- Metrics ---- */

static void on_fetched(void *arg, bool well)
{
    struct issuer *i = arg;
    atomic_store(well ? &i->fetched_sec : &i->failed_sec,
                 clock_wall_ns(&clock_system) / NS_PER_SEC);
}

static void print_fetched(struct buf *out, const struct issuer *i, const char *server_id,
                          const char *result, int64_t sec)
{
    unsigned char digest[DIGEST_SHA256_BYTES];
    if (!sec)
        return;
    digest_sha256(i->jwt->url, digest);
    buf_printf(out,
               "apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds{"
               "apiserver_id_hash=\"%s\",jwt_issuer_hash=\"sha256:",
               server_id);
    for (size_t k = 0; k < sizeof(digest); k++)
        buf_printf(out, "%02x", digest[k]);
    buf_printf(out, "\",result=\"%s\"} %" PRId64 "\n", result, sec);
}

void openid_set_metrics(struct openid_set *s, const char *server_id, struct buf *out)
{
    if (!s->config.n_jwt)
        return;
    buf_str_add(out, STR("# HELP apiserver_authentication_jwt_authenticator_jwks_fetch_last_"
                         "timestamp_seconds When the keys of an issuer were fetched last.\n"
                         "# TYPE apiserver_authentication_jwt_authenticator_jwks_fetch_last_"
                         "timestamp_seconds gauge\n"));
    for (size_t k = 0; k < s->config.n_jwt; k++) {
        struct issuer *i = &s->issuers[k];
        print_fetched(out, i, server_id, "success", atomic_load(&i->fetched_sec));
        print_fetched(out, i, server_id, "failure", atomic_load(&i->failed_sec));
    }
}

/* ---- Life ---- */

static void issuer_init(struct issuer *i, struct openid_set *s,
                        const struct authentication_jwt *jwt)
{
    i->set = s;
    i->jwt = jwt;
    i->fetcher =
        fetcher_new(&(struct fetcher_options){ .ca_pem = jwt->ca, .cancel = &s->is_cancelled });
    i->provider =
        openid_provider_new(&(struct openid_provider_options){ .issuer = jwt->url,
                                                               .discovery_url = jwt->discovery_url,
                                                               .fetcher = i->fetcher,
                                                               .n_waiting = &s->n_waiting,
                                                               .fetched = on_fetched,
                                                               .arg = i });
    (void)pthread_mutex_init(&i->others_lock, NULL);
}

static void issuer_done(struct issuer *i)
{
    if (i->has_thread)
        (void)pthread_join(i->thread, NULL);
    openid_provider_free(i->provider);
    for (size_t k = 0; k < i->n_others; k++)
        openid_provider_free(i->others[k]);
    fetcher_free(i->fetcher);
    (void)pthread_mutex_destroy(&i->others_lock);
}

static struct openid_set *set_alloc(const struct openid_set_options *opt)
{
    struct openid_set *s = mem_new(struct openid_set);
    arena_init(&s->arena);
    s->clock = opt->clock;
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->woken, &mono);
    (void)pthread_condattr_destroy(&mono);
    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* What is wrong is told in the caller's arena: ours may be gone then. */
static int set_read(struct openid_set *s, const struct openid_set_options *opt, struct err *err)
{
    struct err why = ERR_INIT(&s->arena);
    int r =
        opt->text.n || !opt->flags
            ? authentication_config_read(&s->arena, opt->text, &opt->own, &s->config, &why)
            : authentication_config_of_flags(&s->arena, opt->flags, &opt->own, &s->config, &why);
    if (r < 0)
        return err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
    s->issuers = arena_array(&s->arena, struct issuer, s->config.n_jwt + 1);
    for (size_t k = 0; k < s->config.n_jwt; k++)
        issuer_init(&s->issuers[k], s, &s->config.jwt[k]);
    return 0;
}

int openid_set_new(const struct openid_set_options *opt, struct openid_set **ret, struct err *err)
{
    struct openid_set *s = set_alloc(opt);
    int r = set_read(s, opt, err);
    if (r < 0) {
        openid_set_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct openid_set *openid_set_free(struct openid_set *s)
{
    if (!s)
        return NULL;
    openid_set_cancel(s);
    for (size_t k = 0; s->issuers && k < s->config.n_jwt; k++)
        issuer_done(&s->issuers[k]);
    (void)pthread_cond_destroy(&s->woken);
    (void)pthread_mutex_destroy(&s->lock);
    arena_done(&s->arena);
    free(s);
    return NULL;
}
