/* spn_election.c - tries to get a Lease, then renews it until it is stopped or fails. */
#include <sampan/election.h>

#include <inttypes.h>
#include <pthread.h>
#include <sampan/log.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/controller/lease_record.h"
#include "base/banned.h"

enum { LEASE_MS = 15000, RENEW_MS = 10000, RETRY_MS = 2000, UNHEALTHY_AFTER_MS = 20000 };
#define JITTER 1.2

struct spn_election {
    struct spn_client *client;
    struct spn_arena *arena;
    struct spn_election_options opt; /* texts in the arena */
    struct spn_target at;

    /* Of the thread that runs it. An answer of the server lands in the spare arena, which then
     * changes places with the other. */
    struct spn_arena *lease_arena, *spare;
    struct spn_value *lease; /* as the server had it last; NULL: not known */
    struct spn_text reported;
    struct spn_arena *reported_arena;
    int64_t held_until_ns; /* others may take it after that; monotonic */

    pthread_mutex_t lock; /* of what follows */
    struct spn_arena *seen_arena;
    struct lease_record seen;
    int64_t seen_ns; /* when we saw it change; monotonic */
};

static int64_t now_ns(void)
{
    return clock_mono_ns(&clock_system);
}

/* ---- What was seen ---- */

static void see(struct spn_election *e, const struct lease_record *r)
{
    struct spn_arena *a = spn_arena_new();
    (void)pthread_mutex_lock(&e->lock);
    e->seen = lease_record_copy(a, r);
    e->seen_ns = now_ns();
    struct spn_arena *old = e->seen_arena;
    e->seen_arena = a;
    (void)pthread_mutex_unlock(&e->lock);
    spn_arena_free(old);
}

static bool is_us(const struct spn_election *e, const struct lease_record *r)
{
    return spn_text_eq(r->holder, spn_text_of(e->opt.identity));
}

static bool is_valid(const struct spn_election *e)
{
    return now_ns() < e->seen_ns + e->seen.seconds * NS_PER_SEC;
}

bool spn_election_is_leader(struct spn_election *e)
{
    (void)pthread_mutex_lock(&e->lock);
    bool yes = is_us(e, &e->seen);
    (void)pthread_mutex_unlock(&e->lock);
    return yes;
}

struct spn_text spn_election_leader(struct spn_election *e, struct spn_arena *a)
{
    (void)pthread_mutex_lock(&e->lock);
    struct spn_text holder = spn_arena_text(a, e->seen.holder);
    (void)pthread_mutex_unlock(&e->lock);
    return holder;
}

bool spn_election_is_healthy(struct spn_election *e)
{
    (void)pthread_mutex_lock(&e->lock);
    int64_t end_ns = e->seen_ns + (e->opt.lease_ms + UNHEALTHY_AFTER_MS) * NS_PER_MS;
    bool yes = !is_us(e, &e->seen) || now_ns() <= end_ns;
    (void)pthread_mutex_unlock(&e->lock);
    return yes;
}

static void report(struct spn_election *e)
{
    if (spn_text_eq(e->seen.holder, e->reported))
        return;
    spn_arena_reset(e->reported_arena);
    e->reported = spn_arena_text(e->reported_arena, e->seen.holder);
    if (e->opt.on_leader)
        e->opt.on_leader(e->opt.arg, e->reported);
}

/* ---- Talking to the server ---- */

static struct spn_call call_until(const struct spn_election *e, struct spn_stop *stop,
                                  int64_t deadline_ns)
{
    int64_t left_ms = (deadline_ns - now_ns()) / NS_PER_MS, most_ms = e->opt.renew_ms / 2;
    left_ms = left_ms < most_ms ? left_ms : most_ms;
    return (struct spn_call){ .stop = stop, .timeout_ms = left_ms > 0 ? left_ms : 1 };
}

static void keep_answer(struct spn_election *e, struct spn_value *lease)
{
    struct spn_arena *old = e->lease_arena;
    e->lease_arena = e->spare;
    e->lease = lease;
    e->spare = old;
}

static int lease_get(struct spn_election *e, const struct spn_call *how, struct spn_err *err)
{
    struct spn_value *lease;
    spn_arena_reset(e->spare);
    int r = spn_client_get(e->client, &e->at, how, e->spare, &lease, err);
    if (r < 0)
        return r;
    keep_answer(e, lease);
    return 0;
}

static int lease_create(struct spn_election *e, const struct lease_record *rec,
                        const struct spn_call *how, struct spn_err *err)
{
    struct spn_arena *a = e->spare;
    spn_arena_reset(a);
    struct spn_value *lease = spn_value_new(a, SPN_OBJECT), *answer;
    spn_value_set_text(a, lease, "apiVersion", SPN_TEXT("coordination.k8s.io/v1"));
    spn_value_set_text(a, lease, "kind", SPN_TEXT("Lease"));
    struct spn_value *meta = spn_value_ensure(a, lease, "metadata");
    spn_value_set_text(a, meta, "namespace", e->at.ns);
    spn_value_set_text(a, meta, "name", e->at.name);
    lease_record_write(a, lease, rec);
    int r = spn_client_create(e->client, &e->at, lease, how, a, &answer, err);
    if (r < 0)
        return r;
    keep_answer(e, answer);
    return 0;
}

/* On condition that the server still has the one that we know. */
static int lease_update(struct spn_election *e, const struct lease_record *rec,
                        const struct spn_call *how, struct spn_err *err)
{
    struct spn_arena *a = e->spare;
    spn_arena_reset(a);
    struct spn_value *lease = spn_value_copy(a, e->lease), *answer;
    lease_record_write(a, lease, rec);
    int r = spn_client_update(e->client, &e->at, lease, how, a, &answer, err);
    if (r < 0)
        return r;
    keep_answer(e, answer);
    return 0;
}

/* ---- One try ---- */

/* What we want the Lease to say; text in the arena, which the answer does not touch. */
static struct lease_record our_record(const struct spn_election *e, struct spn_arena *a)
{
    struct spn_text now = lease_time(a, clock_wall_ns(&clock_system));
    return (struct lease_record){
        .holder = spn_text_of(e->opt.identity),
        .seconds = e->opt.lease_ms / 1000,
        .acquired = now,
        .renewed = now,
    };
}

static void has_it(struct spn_election *e, const struct lease_record *rec, int64_t sent_ns)
{
    see(e, rec);
    e->held_until_ns = sent_ns + e->opt.lease_ms * NS_PER_MS;
}

/* The leader assumes that nobody has touched its Lease. */
static int renew_known(struct spn_election *e, struct lease_record rec, struct spn_arena *a,
                       const struct spn_call *how, struct spn_err *err)
{
    int64_t sent_ns = now_ns();
    rec.acquired = spn_arena_text(a, e->seen.acquired);
    rec.transitions = e->seen.transitions;
    int r = lease_update(e, &rec, how, err);
    if (r < 0)
        return r;
    has_it(e, &rec, sent_ns);
    return 0;
}

static int take_new(struct spn_election *e, const struct lease_record *rec,
                    const struct spn_call *how, struct spn_err *err)
{
    int64_t sent_ns = now_ns();
    int r = lease_create(e, rec, how, err);
    if (r < 0)
        return r;
    has_it(e, rec, sent_ns);
    return 0;
}

/* The Lease has just been read. SPN_CONFLICT: it is another's. */
static int take_known(struct spn_election *e, struct lease_record rec, struct spn_arena *a,
                      const struct spn_call *how, struct spn_err *err)
{
    struct lease_record old = lease_record_read(e->lease);
    if (!lease_record_eq(&old, &e->seen))
        see(e, &old);
    if (old.holder.n && is_valid(e) && !is_us(e, &e->seen))
        return spn_err_set(err, SPN_CONFLICT, "the lease is held by " SPN_FMT, SPN_ARG(old.holder));
    rec.transitions = old.transitions + !is_us(e, &e->seen);
    if (is_us(e, &e->seen))
        rec.acquired = spn_arena_text(a, old.acquired);
    int64_t sent_ns = now_ns();
    int r = lease_update(e, &rec, how, err);
    if (r < 0)
        return r;
    has_it(e, &rec, sent_ns);
    return 0;
}

static int try_in(struct spn_election *e, struct spn_arena *a, struct spn_stop *stop,
                  int64_t deadline_ns, struct spn_err *err)
{
    struct lease_record rec = our_record(e, a);
    struct spn_call how = call_until(e, stop, deadline_ns);
    if (e->lease && is_us(e, &e->seen) && is_valid(e) && renew_known(e, rec, a, &how, err) == 0)
        return 0;
    how = call_until(e, stop, deadline_ns);
    int r = lease_get(e, &how, err);
    how = call_until(e, stop, deadline_ns);
    if (r == -SPN_NOT_FOUND)
        return take_new(e, &rec, &how, err);
    if (r < 0)
        return r;
    return take_known(e, rec, a, &how, err);
}

/* 0: we have it, for another lease's duration. */
static int try_once(struct spn_election *e, struct spn_stop *stop, int64_t deadline_ns,
                    struct spn_err *err)
{
    struct spn_arena *a = spn_arena_new();
    int r = try_in(e, a, stop, deadline_ns, err);
    spn_arena_free(a);
    bool is_usual = r == -SPN_CONFLICT || r == -SPN_CANCELLED; /* another one has it */
    if (r < 0)
        spn_log(is_usual ? SPN_LOG_DEBUG : SPN_LOG_WARN,
                "the lease could not be taken or renewed lease=%s/%s err=\"%s\"", e->opt.ns,
                e->opt.name, err->message);
    return r;
}

/* ---- The whole ---- */

static int64_t jittered_ms(int64_t ms)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return ms;
    return ms + (int64_t)((double)ms * JITTER * random / UINT32_MAX);
}

/* False: stopped. */
static bool acquire(struct spn_election *e, struct spn_stop *stop)
{
    while (!spn_stop_is_set(stop)) {
        struct spn_err err = { 0 };
        int r = try_once(e, stop, now_ns() + e->opt.renew_ms * NS_PER_MS, &err);
        report(e);
        if (r == 0)
            return true;
        (void)spn_stop_wait(stop, jittered_ms(e->opt.retry_ms));
    }
    return false;
}

/* Tries until it is renewed, or until somebody else may have taken it, or has. */
static int renew_once(struct spn_election *e, struct spn_stop *stop, struct spn_err *err)
{
    int64_t deadline_ns = now_ns() + e->opt.renew_ms * NS_PER_MS;
    if (deadline_ns > e->held_until_ns)
        deadline_ns = e->held_until_ns;
    for (;;) {
        int r = try_once(e, stop, deadline_ns, err);
        report(e);
        if (r == 0 || spn_stop_is_set(stop))
            return 0;
        int64_t left_ms = (deadline_ns - now_ns()) / NS_PER_MS;
        if (left_ms <= 0 || !is_us(e, &e->seen))
            return r;
        (void)spn_stop_wait(stop, left_ms < e->opt.retry_ms ? left_ms : e->opt.retry_ms);
        if (now_ns() >= deadline_ns)
            return r;
    }
}

/* Until it is stopped or lost. */
static int keep(struct spn_election *e, struct spn_stop *stop, struct spn_err *err)
{
    while (!spn_stop_wait(stop, e->opt.retry_ms)) {
        int r = renew_once(e, stop, err);
        if (r < 0) {
            (void)spn_err_wrap(err, "leader election lost: %s/%s", e->opt.ns, e->opt.name);
            err->code = SPN_EXPIRED;
            err->status = NULL; /* it lies in our memory */
            return -SPN_EXPIRED;
        }
    }
    return 0;
}

static int release_in(struct spn_election *e, struct spn_arena *a, int64_t deadline_ns,
                      struct spn_err *err)
{
    int r = -SPN_CONFLICT;
    while (r == -SPN_CONFLICT && now_ns() < deadline_ns) {
        struct spn_call how = call_until(e, NULL, deadline_ns);
        r = lease_get(e, &how, err);
        if (r < 0)
            return r;
        struct lease_record old = lease_record_read(e->lease), rec = our_record(e, a);
        if (!is_us(e, &old))
            return 0;
        rec.holder = SPN_TEXT("");
        rec.seconds = 1;
        rec.transitions = old.transitions;
        r = lease_update(e, &rec, &how, err);
    }
    return r;
}

/* So that the next one need not wait. */
static void give_up(struct spn_election *e)
{
    struct spn_err err = { 0 };
    struct spn_arena *a = spn_arena_new();
    if (release_in(e, a, now_ns() + e->opt.renew_ms * NS_PER_MS, &err) < 0)
        spn_log(SPN_LOG_WARN, "the lease could not be given up lease=%s/%s err=\"%s\"", e->opt.ns,
                e->opt.name, err.message);
    spn_arena_free(a);
}

int spn_election_run(struct spn_election *e, struct spn_stop *stop, struct spn_err *err)
{
    struct spn_err unused = { 0 };
    err = err ? err : &unused;
    int r = 0;
    spn_log(SPN_LOG_INFO, "trying to become the leader lease=%s/%s identity=%s", e->opt.ns,
            e->opt.name, e->opt.identity);
    if (acquire(e, stop)) {
        spn_log(SPN_LOG_INFO, "leading lease=%s/%s", e->opt.ns, e->opt.name);
        if (e->opt.on_started)
            e->opt.on_started(e->opt.arg);
        r = keep(e, stop, err);
    }
    if (e->opt.on_stopped)
        e->opt.on_stopped(e->opt.arg);
    if (r == 0 && !e->opt.keep_at_end && spn_election_is_leader(e))
        give_up(e);
    see(e, &(struct lease_record){ .holder = SPN_TEXT("") });
    return r;
}

/* ---- Beginning and end ---- */

static const char *default_identity(struct spn_arena *a)
{
    char host[256] = "";
    uint64_t random[2] = { (uint64_t)getpid(), (uint64_t)now_ns() };
    (void)gethostname(host, sizeof(host) - 1);
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        random[0] ^= random[1];
    return spn_arena_printf(a, "%s_%016" PRIx64 "%016" PRIx64, host, random[0], random[1]).p;
}

static const char *kept(struct spn_arena *a, const char *text)
{
    return spn_arena_text(a, spn_text_of(text)).p;
}

static int check(const struct spn_election_options *opt, struct spn_err *err)
{
    if (!opt->ns || !*opt->ns || !opt->name || !*opt->name)
        return spn_err_set(err, SPN_INVALID, "the lease of an election has a namespace and a name");
    if (opt->lease_ms <= opt->renew_ms)
        return spn_err_set(err, SPN_INVALID, "lease_ms must be greater than renew_ms");
    if (opt->renew_ms <= (int64_t)(JITTER * (double)opt->retry_ms))
        return spn_err_set(err, SPN_INVALID, "renew_ms must be greater than 1.2 * retry_ms");
    if (opt->lease_ms % 1000 || opt->retry_ms < 1)
        return spn_err_set(err, SPN_INVALID, "lease_ms must be whole seconds, retry_ms above 0");
    return 0;
}

static struct spn_election_options with_defaults(const struct spn_election_options *opt)
{
    struct spn_election_options o = *opt;
    o.lease_ms = o.lease_ms ? o.lease_ms : LEASE_MS;
    o.renew_ms = o.renew_ms ? o.renew_ms : RENEW_MS;
    o.retry_ms = o.retry_ms ? o.retry_ms : RETRY_MS;
    return o;
}

int spn_election_new(struct spn_client *c, const struct spn_election_options *opt,
                     struct spn_election **ret, struct spn_err *err)
{
    struct spn_election_options o = with_defaults(opt);
    int r = check(&o, err);
    if (r < 0)
        return r;
    struct spn_election *e = mem_new(struct spn_election);
    struct spn_arena *a = e->arena = spn_arena_new();
    e->client = c;
    e->opt = o;
    e->opt.ns = kept(a, o.ns);
    e->opt.name = kept(a, o.name);
    e->opt.identity = o.identity && *o.identity ? kept(a, o.identity) : default_identity(a);
    e->at = (struct spn_target)SPN_AT("coordination.k8s.io", "v1", "leases", "", "");
    e->at.ns = spn_text_of(e->opt.ns);
    e->at.name = spn_text_of(e->opt.name);
    e->lease_arena = spn_arena_new();
    e->spare = spn_arena_new();
    e->reported_arena = spn_arena_new();
    e->seen_arena = spn_arena_new();
    (void)pthread_mutex_init(&e->lock, NULL);
    *ret = e;
    return 0;
}

struct spn_election *spn_election_free(struct spn_election *e)
{
    if (!e)
        return NULL;
    spn_arena_free(e->lease_arena);
    spn_arena_free(e->spare);
    spn_arena_free(e->reported_arena);
    spn_arena_free(e->seen_arena);
    spn_arena_free(e->arena);
    (void)pthread_mutex_destroy(&e->lock);
    free(e);
    return NULL;
}

const char *spn_election_identity(const struct spn_election *e)
{
    return e->opt.identity;
}
