#include "server/guard/openid_users.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/core/reloads.h"
#include "server/guard/openid_cache.h"
#include "server/guard/openid_set.h"
#include "base/banned.h"

#define LOOK_EVERY_NS   (10 * NS_PER_SEC)
#define READY_WITHIN_NS (60 * NS_PER_SEC)
#define READY_LOOK_NS   (100 * NS_PER_MS)
#define KNOWN_NS        (10 * NS_PER_SEC) /* a token's user is not asked for again */

/* A set that was replaced, until nobody holds it any more. */
struct former {
    struct former *next;
    struct openid_set *set;
};

struct openid_users {
    char *file; /* NULL: there is none */
    const struct authentication_flags *flags;
    const struct clock *clock;
    struct arena arena; /* of the names and the anonymous rules */
    struct authentication_own own;
    struct identity_names audiences;
    struct authentication_anonymous anonymous;
    struct token_asker asker;
    struct openid_cache *cache;
    char tried[RELOADS_HASH_TEXT]; /* the text that was tried last; the thread's own */
    struct former *former;         /* the thread's own */
    struct reloads reloads;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t woken;
    struct openid_set *now;
    uint64_t generation; /* of the set */
    bool stops, looks;
};

/* ---- Tokens ---- */

static struct openid_set *hold(struct openid_users *u, uint64_t *ret_generation)
{
    (void)pthread_mutex_lock(&u->lock);
    struct openid_set *set = u->now;
    *ret_generation = u->generation;
    openid_set_ref(set);
    (void)pthread_mutex_unlock(&u->lock);
    return set;
}

/* As upstream: these tokens are for this server, whatever audience the issuer asks for. */
static bool match_audiences(const struct openid_users *u, struct arena *a,
                            const struct str *audiences, size_t n_audiences,
                            struct account_user *ret)
{
    struct str *both = arena_array(a, struct str, u->audiences.n);
    ret->audiences = both;
    ret->n_audiences = 0;
    for (size_t k = 0; k < u->audiences.n; k++) {
        bool is_wanted = !n_audiences;
        for (size_t j = 0; j < n_audiences; j++)
            is_wanted |= str_eq(audiences[j], u->audiences.items[k]);
        if (is_wanted)
            both[ret->n_audiences++] = u->audiences.items[k];
    }
    return ret->n_audiences > 0;
}

static void remember(struct openid_users *u, struct str token, uint64_t generation,
                     int64_t expiry_ns, const struct user *user)
{
    int64_t left = expiry_ns - clock_wall_ns(u->clock), now = clock_mono_ns(u->clock);
    if (left > 0)
        openid_cache_put(u->cache, token, generation, now + (left < KNOWN_NS ? left : KNOWN_NS),
                         user);
}

static int ask_set(struct openid_users *u, struct openid_set *set, uint64_t generation,
                   struct arena *a, struct str token, enum token_patience patience,
                   struct user *ret, struct err *err)
{
    int64_t expiry_ns;
    const struct user *known =
        openid_cache_get(u->cache, a, token, generation, clock_mono_ns(u->clock));
    if (known) {
        *ret = *known;
        return TOKEN_KNOWN;
    }
    int r = patience == TOKEN_WAITS ? openid_set_user(set, a, token, ret, &expiry_ns, err)
                                    : openid_set_user_at_once(set, a, token, ret, &expiry_ns, err);
    if (r == OPENID_LATER)
        return TOKEN_LATER;
    if (r <= 0)
        return r;
    remember(u, token, generation, expiry_ns, ret);
    *ret = *user_copy(a, ret); /* some of it lies in the set */
    return TOKEN_KNOWN;
}

static int ask(void *self, struct arena *a, struct str token, const struct str *audiences,
               size_t n_audiences, enum token_patience patience, struct account_user *ret,
               struct err *err)
{
    struct openid_users *u = self;
    uint64_t generation;
    *ret = (struct account_user){ 0 };
    if (!match_audiences(u, a, audiences, n_audiences, ret))
        return TOKEN_UNKNOWN;
    struct openid_set *set = hold(u, &generation);
    int r = ask_set(u, set, generation, a, token, patience, &ret->user, err);
    openid_set_unref(set);
    return r;
}

const struct token_asker *openid_users_asker(const struct openid_users *u)
{
    return u ? &u->asker : NULL;
}

const struct authentication_anonymous *openid_users_anonymous(const struct openid_users *u)
{
    return u && u->anonymous.is_set ? &u->anonymous : NULL;
}

/* ---- Another set ---- */

static void free_former(struct openid_users *u, bool all)
{
    for (struct former **at = &u->former; *at;) {
        struct former *f = *at;
        if (!all && openid_set_is_held(f->set)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        openid_set_free(f->set);
        free(f);
    }
}

static void use(struct openid_users *u, struct openid_set *set, const char *hash)
{
    (void)pthread_mutex_lock(&u->lock);
    struct openid_set *old = u->now;
    u->now = set;
    u->generation++;
    (void)pthread_mutex_unlock(&u->lock);
    reloads_use(&u->reloads, hash);
    if (!old)
        return;
    struct former *f = mem_new(struct former);
    *f = (struct former){ u->former, old };
    u->former = f;
}

static int make_set(const struct openid_users *u, struct str text, struct openid_set **ret,
                    struct err *err)
{
    const struct openid_set_options opt = {
        .text = text, .flags = u->file ? NULL : u->flags, .own = u->own, .clock = u->clock
    };
    return openid_set_new(&opt, ret, err);
}

/* ---- Looking at the file ---- */

/* False: it is time to stop. */
static bool sleep_for(struct openid_users *u, int64_t ns, bool wakes)
{
    int64_t due = clock_mono_ns(&clock_system) + ns;
    struct timespec until = { .tv_sec = due / NS_PER_SEC, .tv_nsec = due % NS_PER_SEC };
    (void)pthread_mutex_lock(&u->lock);
    int rc = 0;
    while (!u->stops && !(wakes && u->looks) && rc == 0)
        rc = pthread_cond_timedwait(&u->woken, &u->lock, &until);
    bool goes_on = !u->stops;
    if (wakes)
        u->looks = false;
    (void)pthread_mutex_unlock(&u->lock);
    return goes_on;
}

static int wait_until_ready(struct openid_users *u, struct openid_set *set, struct err *err)
{
    int64_t until = clock_mono_ns(&clock_system) + READY_WITHIN_NS;
    struct str missing;
    while (!openid_set_is_ready(set, &missing)) {
        if (clock_mono_ns(&clock_system) >= until)
            return err_set(err, ERR_UNAVAILABLE,
                           "oidc: authenticator for issuer \"" STR_FMT "\" is not healthy",
                           STR_ARG(missing));
        if (!sleep_for(u, READY_LOOK_NS, false))
            return err_set(err, ERR_UNAVAILABLE, "the server stops");
    }
    return 0;
}

static int start_and_wait(struct openid_users *u, struct openid_set *set, struct err *err)
{
    int r = openid_set_start(set, err);
    if (r < 0)
        return r;
    return wait_until_ready(u, set, err);
}

static int check_anonymous(const struct openid_users *u, const struct openid_set *set,
                           struct err *err)
{
    if (authentication_anonymous_eq(&u->anonymous, &openid_set_config(set)->anonymous))
        return 0;
    return err_set(err, ERR_INVALID,
                   "anonymous: Forbidden: changed from initial configuration file");
}

/* What can never be used is not tried again; what may be well later is. */
static int prepare(struct openid_users *u, struct openid_set *set, struct err *err)
{
    int r = check_anonymous(u, set, err);
    if (r < 0)
        return r;
    r = start_and_wait(u, set, err);
    if (r < 0)
        u->tried[0] = '\0';
    return r;
}

static int try_set(struct openid_users *u, struct str text, const char *hash, struct err *err)
{
    struct openid_set *set;
    memcpy(u->tried, hash, RELOADS_HASH_TEXT);
    int r = make_set(u, text, &set, err);
    if (r < 0)
        return r;
    r = prepare(u, set, err);
    if (r < 0) {
        openid_set_free(set);
        return r;
    }
    use(u, set, hash);
    return 1;
}

/* 1 if the file has changed and is in use now, 0 if it has not. */
static int reload(struct openid_users *u, struct err *err)
{
    autobuf text = { 0 };
    char hash[RELOADS_HASH_TEXT];
    int r = file_read(u->file, AUTHENTICATION_FILE_BYTES, &text, err);
    if (r < 0)
        return r;
    reloads_hash(buf_str(&text), hash);
    if (strcmp(hash, u->tried) == 0)
        return 0;
    return try_set(u, buf_str(&text), hash, err);
}

static void reload_and_tell(struct openid_users *u)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    reloads_note(&u->reloads, reload(u, &err), &err);
    arena_done(&a);
}

static void *run(void *arg)
{
    struct openid_users *u = arg;
    while (sleep_for(u, LOOK_EVERY_NS, true)) {
        reload_and_tell(u);
        free_former(u, false);
    }
    return NULL;
}

void openid_users_look(struct openid_users *u)
{
    if (!u)
        return;
    (void)pthread_mutex_lock(&u->lock);
    u->looks = true;
    (void)pthread_cond_signal(&u->woken);
    (void)pthread_mutex_unlock(&u->lock);
}

/* ---- Life ---- */

static int start_thread(struct openid_users *u, struct err *err)
{
    if (!u->file)
        return 0;
    int rc = pthread_create(&u->thread, NULL, run, u);
    if (rc)
        return err_errno(err, rc, "start a thread");
    (void)pthread_setname_np(u->thread, "openid-users");
    u->has_thread = true;
    return 0;
}

static void copy_names(struct arena *a, const struct identity_names *from, struct str usual,
                       struct identity_names *to)
{
    for (to->n = 0; to->n < from->n; to->n++)
        to->items[to->n] = arena_str(a, from->items[to->n]);
    if (!to->n)
        to->items[to->n++] = arena_str(a, usual);
}

/* The set may be gone when they are asked for. */
static void copy_anonymous(struct arena *a, const struct authentication_anonymous *from,
                           struct authentication_anonymous *to)
{
    *to = *from;
    to->conditions = arena_array(a, struct authentication_condition, from->n_conditions + 1);
    for (size_t i = 0; i < from->n_conditions; i++)
        to->conditions[i].path = arena_str(a, from->conditions[i].path);
}

static struct openid_users *users_alloc(const struct openid_users_options *opt)
{
    struct openid_users *u = mem_new(struct openid_users);
    arena_init(&u->arena);
    u->file = opt->file ? mem_dup(opt->file, strlen(opt->file) + 1) : NULL;
    u->flags = opt->flags;
    u->clock = opt->clock;
    reloads_init(&u->reloads, "authentication", u->file);
    u->reloads.hides_none = true;
    u->asker = (struct token_asker){ .self = u, .ask = ask };
    u->cache = openid_cache_new();
    struct identity_names *issuers = arena_new(&u->arena, struct identity_names);
    copy_names(&u->arena, &opt->issuers, IDENTITY_ISSUER, issuers);
    copy_names(&u->arena, opt->audiences.n ? &opt->audiences : issuers, STR(""), &u->audiences);
    u->own = (struct authentication_own){ issuers->items, issuers->n };
    pthread_condattr_t mono;
    (void)pthread_condattr_init(&mono);
    (void)pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&u->woken, &mono);
    (void)pthread_condattr_destroy(&mono);
    (void)pthread_mutex_init(&u->lock, NULL);
    return u;
}

static int read_first(struct openid_users *u, struct buf *text, struct openid_set **ret,
                      struct err *err)
{
    int r = u->file ? file_read(u->file, AUTHENTICATION_FILE_BYTES, text, err) : 0;
    if (r < 0)
        return r;
    return make_set(u, buf_str(text), ret, err);
}

static int load(struct openid_users *u, const struct openid_users_options *opt, struct err *err)
{
    autobuf text = { 0 };
    struct openid_set *set;
    int r = read_first(u, &text, &set, err);
    if (r < 0 && u->file)
        return err_wrap(err, "failed to load authentication configuration from file \"%s\"",
                        u->file);
    if (r < 0)
        return r;
    reloads_hash(buf_str(&text), u->tried);
    use(u, set, u->tried);
    copy_anonymous(&u->arena, &openid_set_config(set)->anonymous, &u->anonymous);
    if (u->anonymous.is_set && opt->has_anonymous_flag)
        return err_set(err, ERR_INVALID,
                       "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous "
                       "field is configured in authentication configuration file");
    r = openid_set_start(set, err);
    if (r < 0)
        return r;
    return start_thread(u, err);
}

int openid_users_new(const struct openid_users_options *opt, struct openid_users **ret,
                     struct err *err)
{
    struct openid_users *u = users_alloc(opt);
    int r = load(u, opt, err);
    if (r < 0) {
        openid_users_free(u);
        return r;
    }
    *ret = u;
    return 0;
}

void openid_users_stop(struct openid_users *u)
{
    if (!u)
        return;
    (void)pthread_mutex_lock(&u->lock);
    u->stops = true;
    (void)pthread_cond_signal(&u->woken);
    struct openid_set *now = u->now;
    (void)pthread_mutex_unlock(&u->lock);
    if (u->has_thread)
        (void)pthread_join(u->thread, NULL);
    u->has_thread = false;
    if (now)
        openid_set_cancel(u->now);
    for (struct former *f = u->former; f; f = f->next)
        openid_set_cancel(f->set);
}

struct openid_users *openid_users_free(struct openid_users *u)
{
    if (!u)
        return NULL;
    openid_users_stop(u);
    free_former(u, true);
    openid_set_free(u->now);
    openid_cache_free(u->cache);
    reloads_done(&u->reloads);
    (void)pthread_cond_destroy(&u->woken);
    (void)pthread_mutex_destroy(&u->lock);
    arena_done(&u->arena);
    free(u->file);
    free(u);
    return NULL;
}

/* ---- Metrics ---- */

void openid_users_metrics(struct openid_users *u, struct buf *out)
{
    if (!u)
        return;
    char id[RELOADS_HASH_TEXT];
    uint64_t generation;
    reloads_server_id(id);
    if (u->file) {
        reloads_write_counts(&u->reloads, id, out);
        reloads_write_hash(&u->reloads, id, out);
    }
    struct openid_set *set = hold(u, &generation);
    openid_set_metrics(set, id, out);
    openid_set_unref(set);
}
