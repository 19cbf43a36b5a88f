#include "server/guard/openid_provider.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/guard/errand.h"
#include "base/banned.h"

#define PROVIDER_EVERY_NS      NS_PER_SEC        /* keys are not fetched more often */
#define PROVIDER_MISS_EVERY_NS (10 * NS_PER_SEC) /* nor is one looked for that is not there */

enum { WAITING_MAX = ERRAND_THREADS / 2, DOCUMENT_MAX = 1 << 20, TIMEOUT_MS = 30000 };

struct openid_provider {
    struct arena arena; /* of the texts */
    struct openid_provider_options opt;
    pthread_rwlock_t keys_lock; /* over keys */
    struct openid_keys *keys;   /* NULL: none yet */
    pthread_mutex_t lock;       /* over what follows */
    pthread_cond_t fetched;
    struct str jwks_url; /* empty: not found yet */
    bool is_fetching, has_failed;
    int64_t due_ns; /* before that nothing is fetched because of a token */
};

/* ---- Documents ---- */

int openid_provider_fetch(struct fetcher *f, struct arena *a, struct str url, struct str token,
                          struct str *ret, struct err *err)
{
    const struct http_header header = { STR("authorization"),
                                        arena_printf(a, "Bearer " STR_FMT, STR_ARG(token)) };
    const struct fetch_request req = { .method = STR("GET"),
                                       .url = url,
                                       .headers = &header,
                                       .n_headers = token.n > 0,
                                       .timeout_ms = TIMEOUT_MS,
                                       .max_reply = DOCUMENT_MAX };
    struct fetch_reply reply;
    if (!str_starts(url, STR("https://")))
        return err_set(err, ERR_UNAVAILABLE, STR_FMT " is not an https URL", STR_ARG(url));
    int r = fetch(f, &req, a, &reply, err);
    if (r < 0)
        return err_wrap(err, "get " STR_FMT, STR_ARG(url));
    if (reply.status != 200)
        return err_set(err, ERR_UNAVAILABLE, "get " STR_FMT ": the answer is %d", STR_ARG(url),
                       reply.status);
    *ret = reply.body;
    return 0;
}

static struct str discovery_url(const struct openid_provider *p, struct arena *a)
{
    struct str issuer = p->opt.issuer;
    if (p->opt.discovery_url.n)
        return p->opt.discovery_url;
    if (str_ends(issuer, STR("/")))
        issuer.n--;
    return arena_printf(a, STR_FMT "/.well-known/openid-configuration", STR_ARG(issuer));
}

static int discover(struct openid_provider *p, struct arena *a, struct str *ret, struct err *err)
{
    struct str text;
    int r = openid_provider_fetch(p->opt.fetcher, a, discovery_url(p, a), STR(""), &text, err);
    if (r < 0)
        return r;
    return openid_discovery_read(a, text, p->opt.issuer, ret, err);
}

static int fetch_keys(struct openid_provider *p, struct arena *a, struct str url, struct err *err)
{
    struct str text;
    struct openid_keys *keys;
    int r = openid_provider_fetch(p->opt.fetcher, a, url, STR(""), &text, err);
    if (r < 0)
        return r;
    r = openid_keys_read(text, &keys, err);
    if (r < 0)
        return r;
    pthread_rwlock_wrlock(&p->keys_lock);
    struct openid_keys *old = p->keys;
    p->keys = keys;
    pthread_rwlock_unlock(&p->keys_lock);
    openid_keys_free(old);
    return 0;
}

/* ---- One thread fetches ---- */

static int find_url(struct openid_provider *p, struct arena *a, struct str *ret, struct err *err)
{
    pthread_mutex_lock(&p->lock);
    *ret = p->jwks_url;
    pthread_mutex_unlock(&p->lock);
    if (ret->n)
        return 0;
    int r = discover(p, a, ret, err);
    if (r < 0)
        return r;
    pthread_mutex_lock(&p->lock);
    p->jwks_url = *ret = arena_str(&p->arena, *ret);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

static int find_and_fetch(struct openid_provider *p, struct arena *a, struct err *err)
{
    struct str url;
    int r = find_url(p, a, &url, err);
    if (r < 0)
        return r;
    r = fetch_keys(p, a, url, err);
    if (p->opt.fetched)
        p->opt.fetched(p->opt.arg, r == 0);
    return r;
}

/* By the thread that has set is_fetching. */
static int bring(struct openid_provider *p, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = find_and_fetch(p, &a, err);
    arena_done(&a);
    return r;
}

static int bring_for_all(struct openid_provider *p, struct err *err) /* with the lock */
{
    p->is_fetching = true;
    pthread_mutex_unlock(&p->lock);
    int r = bring(p, err);
    pthread_mutex_lock(&p->lock);
    p->is_fetching = false;
    p->has_failed = r < 0;
    p->due_ns =
        clock_mono_ns(&clock_system) + (p->jwks_url.n ? PROVIDER_EVERY_NS : PROVIDER_MISS_EVERY_NS);
    pthread_cond_broadcast(&p->fetched);
    return r;
}

static int wait_for_other(struct openid_provider *p, struct err *err) /* with the lock */
{
    while (p->is_fetching)
        pthread_cond_wait(&p->fetched, &p->lock);
    return p->has_failed ? err_set(err, ERR_UNAVAILABLE, "they cannot be had") : 0;
}

static int refresh(struct openid_provider *p, bool is_forced, struct err *err)
{
    int r = 0;
    pthread_mutex_lock(&p->lock);
    if (p->is_fetching)
        r = wait_for_other(p, err);
    else if (is_forced || clock_mono_ns(&clock_system) >= p->due_ns)
        r = bring_for_all(p, err);
    pthread_mutex_unlock(&p->lock);
    return r;
}

bool openid_provider_is_found(struct openid_provider *p)
{
    pthread_mutex_lock(&p->lock);
    bool is_found = p->jwks_url.n > 0;
    pthread_mutex_unlock(&p->lock);
    return is_found;
}

int openid_provider_find(struct openid_provider *p, struct err *err)
{
    int r = refresh(p, true, err);
    return openid_provider_is_found(p) ? 0 : r;
}

/* ---- Tokens ---- */

bool openid_provider_has_signed(struct openid_provider *p, const struct jwt *t)
{
    pthread_rwlock_rdlock(&p->keys_lock);
    bool good = openid_keys_signed(p->keys, t);
    pthread_rwlock_unlock(&p->keys_lock);
    return good;
}

static int refresh_for_token(struct openid_provider *p, struct err *err)
{
    bool may_wait = atomic_fetch_add(p->opt.n_waiting, 1) < WAITING_MAX;
    int r = may_wait ? refresh(p, false, err)
                     : err_set(err, ERR_UNAVAILABLE, "too many tokens wait for keys");
    atomic_fetch_sub(p->opt.n_waiting, 1);
    return r;
}

/* Somebody else may have fetched the keys since we looked: they are looked at again in any case. */
int openid_provider_verify(struct openid_provider *p, const struct jwt *t, struct err *err)
{
    if (openid_provider_has_signed(p, t))
        return 0;
    int r = refresh_for_token(p, err);
    if (openid_provider_has_signed(p, t)) {
        if (err)
            err_clear(err);
        return 0;
    }
    if (r < 0)
        return err_set(err, ERR_UNAUTHORIZED, "failed to verify signature: fetching keys: " STR_FMT,
                       STR_ARG(arena_str(err->arena, err->msg)));
    return err_set(err, ERR_UNAUTHORIZED,
                   "failed to verify signature: failed to verify id token signature");
}

struct str openid_provider_issuer(const struct openid_provider *p)
{
    return p->opt.issuer;
}

/* ---- Life ---- */

struct openid_provider *openid_provider_new(const struct openid_provider_options *opt)
{
    struct openid_provider *p = mem_new(struct openid_provider);
    arena_init(&p->arena);
    p->opt = *opt;
    p->opt.issuer = arena_str(&p->arena, opt->issuer);
    p->opt.discovery_url = arena_str(&p->arena, opt->discovery_url);
    pthread_rwlock_init(&p->keys_lock, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->fetched, NULL);
    return p;
}

struct openid_provider *openid_provider_free(struct openid_provider *p)
{
    if (!p)
        return NULL;
    openid_keys_free(p->keys);
    pthread_cond_destroy(&p->fetched);
    pthread_mutex_destroy(&p->lock);
    pthread_rwlock_destroy(&p->keys_lock);
    arena_done(&p->arena);
    free(p);
    return NULL;
}
