/* remote_sync.c - how far the mirror should be, who waits for it to be there, and compaction.
 *
 * A question is answered when the mirror has reached the revision that etcd had after the question
 * was put: one linearizable read of nothing tells it, for all who ask meanwhile. That revision may
 * be of a key that the mirror does not follow. If it does not come by itself, a key that the mirror
 * does follow is written: what comes back with it has everything before. (etcd can also be asked
 * for a note of progress, but up to 3.4.24 and 3.5.7 such notes overtake events.) */
#include "remote/remote_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/wire.h"

#include "base/banned.h"

#define CLOSING STR("the store is being closed")

/* What the thread remembers from turn to turn. */
struct turn {
    int64_t tick_ns; /* when the key was written last */
    int64_t compact_ns;
    uint64_t compact_version, compact_rev; /* of compact_rev_key, as it was found last */
    struct arena arena;
};

/* ---- Waiting ---- */

static void fail_sync(struct store_sync *y, int code, struct str reason)
{
    y->result = code;
    (void)snprintf(y->reason, sizeof(y->reason), STR_FMT, STR_ARG(reason));
    y->done(y);
}

static void finish(struct remote_waiter *w, int code, struct str reason)
{
    if (w->sync)
        fail_sync(w->sync, code, reason);
    else if (code < 0)
        remote__fail_txn(w->txn, code, reason);
    else
        w->txn->done(w->txn);
    free(w);
}

/* Takes off the list whose revision is there, and whose time is over. */
static struct remote_waiter *take_waiters(struct remote *r, uint64_t rev, int64_t now_ns)
{
    struct remote_waiter *due = NULL, **at = &r->waiters;
    while (*at) {
        struct remote_waiter *w = *at;
        if (w->rev > rev && w->until_ns > now_ns) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = due;
        due = w;
    }
    return due;
}

void remote__await(struct remote *r, uint64_t rev, bool may_be_foreign, struct store_txn *t,
                   struct store_sync *y)
{
    struct remote_waiter *w = mem_new(struct remote_waiter);
    int64_t now = remote__now();
    *w = (struct remote_waiter){ .rev = rev,
                                 .since_ns = now,
                                 .until_ns = now + REMOTE_LATE_MS * NS_PER_MS,
                                 .may_be_foreign = may_be_foreign,
                                 .txn = t,
                                 .sync = y };
    (void)pthread_mutex_lock(&r->wait_lock);
    bool is_there = store_rev(r->store) >= rev;
    if (!is_there) {
        bool was_empty = !r->waiters;
        w->next = r->waiters;
        r->waiters = w;
        if (was_empty)
            (void)pthread_cond_signal(&r->wait_moved);
    }
    (void)pthread_mutex_unlock(&r->wait_lock);
    if (is_there)
        finish(w, 0, STR(""));
}

void remote__published(struct store_source *src, uint64_t rev)
{
    struct remote *r = (struct remote *)src;
    (void)pthread_mutex_lock(&r->wait_lock);
    struct remote_waiter *due = r->waiters ? take_waiters(r, rev, INT64_MIN) : NULL;
    (void)pthread_mutex_unlock(&r->wait_lock);
    for (struct remote_waiter *w = due, *next; w; w = next) {
        next = w->next;
        finish(w, 0, STR(""));
    }
}

static void end_late(struct remote *r, int64_t now_ns, struct str why)
{
    (void)pthread_mutex_lock(&r->wait_lock);
    struct remote_waiter *due = take_waiters(r, 0, now_ns);
    (void)pthread_mutex_unlock(&r->wait_lock);
    for (struct remote_waiter *w = due, *next; w; w = next) {
        next = w->next;
        finish(w, -ERR_TIMEOUT, why);
    }
}

void remote__sync(struct store_source *src, struct store_sync *y)
{
    struct remote *r = (struct remote *)src;
    (void)pthread_mutex_lock(&r->wait_lock);
    bool is_late = r->sync_quits;
    if (!is_late) {
        y->next = r->syncs;
        r->syncs = y;
        (void)pthread_cond_signal(&r->wait_moved);
    }
    (void)pthread_mutex_unlock(&r->wait_lock);
    if (is_late)
        fail_sync(y, -ERR_UNAVAILABLE, CLOSING);
}

/* ---- The newest revision ---- */

/* A linearizable read that finds nothing. */
static int ask_newest(struct remote *r, struct arena *a, uint64_t *ret, struct err *err)
{
    /* Who knows that nobody answers does not make others wait for it. */
    int64_t timeout_ms = r->failing ? REMOTE_PROBE_MS : REMOTE_CALL_MS;
    autobuf request = { 0 };
    struct str reply;
    uint64_t seen = store_rev(r->store);
    remote_range_write(&request,
                       &(struct remote_range){ .key = r->tick_key, .limit = 1, .keys_only = true });
    int res = remote__ask(r, STR("/etcdserverpb.KV/Range"), buf_str(&request), timeout_ms, a,
                          &reply, err);
    if (res < 0)
        return res;
    *ret = remote_header_rev(reply);
    if (*ret < seen)
        return err_set(err, ERR_UNAVAILABLE,
                       "etcd is at revision %" PRIu64 " and was at %" PRIu64
                       ": it was restored, so this server must be started anew",
                       *ret, seen);
    return 0;
}

static void note(struct remote *r, int res, const struct err *err)
{
    if (res < 0)
        remote__note_lost(r, err);
    else if (atomic_exchange(&r->failing, 0))
        log_info("etcd can be used again");
}

void remote__note_lost(struct remote *r, const struct err *err)
{
    if (!atomic_exchange(&r->failing, -ERR_UNAVAILABLE))
        log_error("etcd cannot be used", LOG_ERR(err));
}

static void answer_syncs(struct remote *r, struct turn *turn, struct store_sync *syncs)
{
    struct err err = ERR_INIT(&turn->arena);
    uint64_t rev = 0;
    int res = ask_newest(r, &turn->arena, &rev, &err);
    note(r, res, &err);
    for (struct store_sync *y = syncs, *next; y; y = next) {
        next = y->next;
        if (res == 0) {
            remote__await(r, rev, true, NULL, y);
            continue;
        }
        fail_sync(y, res == -ERR_TIMEOUT ? res : -ERR_UNAVAILABLE, err.msg);
    }
}

/* ---- The tick ---- */

/* When the oldest of those whose revision may not come by itself began to wait; 0: there is none.
 */
static int64_t oldest_foreign(struct remote *r)
{
    int64_t oldest = 0;
    for (const struct remote_waiter *w = r->waiters; w; w = w->next)
        if (w->may_be_foreign && (!oldest || w->since_ns < oldest))
            oldest = w->since_ns;
    return oldest;
}

static void tick(struct remote *r, struct turn *turn)
{
    autobuf request = { 0 };
    struct str reply;
    struct err err = ERR_INIT(&turn->arena);
    wire_bytes(&request, 1, r->tick_key);
    int res = remote__ask(r, STR("/etcdserverpb.KV/Put"), buf_str(&request), REMOTE_CALL_MS,
                          &turn->arena, &reply, &err);
    note(r, res, &err);
    turn->tick_ns = remote__now();
}

/* ---- Compaction ---- */

static int compact(struct remote *r, struct arena *a, uint64_t rev, struct err *err)
{
    autobuf request = { 0 };
    struct str reply;
    wire_int(&request, 1, rev);
    int res = remote__ask(r, STR("/etcdserverpb.KV/Compact"), buf_str(&request), REMOTE_CALL_MS, a,
                          &reply, err);
    return res == -ERR_EXPIRED ? 0 : res; /* somebody was faster, or went further */
}

int remote__compact(struct store_source *src, uint64_t rev, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int res = compact((struct remote *)src, &a, rev, err);
    arena_done(&a);
    return res;
}

/* Of several servers one wins the key, and drops what was the newest five minutes ago; the others
 * find what it has written. */
static int compact_in_turn(struct remote *r, struct turn *turn, struct err *err)
{
    autobuf request = { 0 };
    struct str reply;
    struct remote_outcome o;
    remote_compact_txn_write(&request, turn->compact_version, store_rev(r->store));
    int res = remote__ask(r, STR("/etcdserverpb.KV/Txn"), buf_str(&request), REMOTE_CALL_MS,
                          &turn->arena, &reply, err);
    if (res < 0)
        return res;
    if (!remote_outcome_read(&turn->arena, reply, &o))
        return err_set(err, ERR_UNAVAILABLE, "etcd has given an answer that cannot be read");
    if (!o.succeeded) {
        uint64_t rev = 0;
        bool found = o.n_found && str_to_u64(o.found[0].value, &rev);
        turn->compact_version = o.n_found ? o.found[0].version : 0;
        turn->compact_rev = found ? rev : 0;
        return 0;
    }
    uint64_t rev = turn->compact_rev;
    turn->compact_version++;
    turn->compact_rev = o.rev;
    return rev ? compact(r, &turn->arena, rev, err) : 0;
}

static void keep_house(struct remote *r, struct turn *turn)
{
    struct err err = ERR_INIT(&turn->arena);
    turn->compact_ns = remote__now() + r->compact_ns;
    if (compact_in_turn(r, turn, &err) < 0)
        log_warn("etcd was not compacted", LOG_ERR(&err));
}

/* ---- The thread ---- */

/* Sleeps until there is something to do; the new questions, or NULL. */
static struct store_sync *sleep_until_due(struct remote *r, const struct turn *turn)
{
    int64_t now = remote__now();
    int64_t until = r->heard_ns + REMOTE_PROBE_MS * NS_PER_MS;
    if (until < now)
        until = now + REMOTE_PROBE_MS * NS_PER_MS;
    (void)pthread_mutex_lock(&r->wait_lock);
    while (!r->syncs && !r->sync_stops && now < until && now < turn->compact_ns) {
        int64_t oldest = oldest_foreign(r), wake = until;
        if (oldest && oldest + r->tick_ns <= now && turn->tick_ns + r->tick_ns <= now)
            break;
        if (oldest && now + r->tick_ns < wake)
            wake = now + r->tick_ns;
        remote__sleep(&r->wait_moved, &r->wait_lock, wake);
        now = remote__now();
    }
    struct store_sync *syncs = r->sync_stops ? NULL : take(&r->syncs);
    r->is_asking = syncs;
    (void)pthread_mutex_unlock(&r->wait_lock);
    return syncs;
}

static bool wants_tick(struct remote *r, const struct turn *turn)
{
    int64_t now = remote__now();
    (void)pthread_mutex_lock(&r->wait_lock);
    int64_t oldest = oldest_foreign(r);
    (void)pthread_mutex_unlock(&r->wait_lock);
    return oldest && oldest + r->tick_ns <= now && turn->tick_ns + r->tick_ns <= now;
}

static void note_idle(struct remote *r)
{
    (void)pthread_mutex_lock(&r->wait_lock);
    r->is_asking = false;
    (void)pthread_cond_broadcast(&r->sync_idle);
    (void)pthread_mutex_unlock(&r->wait_lock);
}

static bool is_stopping(struct remote *r)
{
    (void)pthread_mutex_lock(&r->wait_lock);
    bool stops = r->sync_stops;
    (void)pthread_mutex_unlock(&r->wait_lock);
    return stops;
}

void *remote__sync_main(void *arg)
{
    struct remote *r = arg;
    struct turn turn = { .compact_ns = remote__now() + r->compact_ns };
    arena_init(&turn.arena);
    while (!is_stopping(r)) {
        struct store_sync *syncs = sleep_until_due(r, &turn);
        int64_t now = remote__now();
        if (syncs || now - r->heard_ns >= REMOTE_PROBE_MS * NS_PER_MS)
            answer_syncs(r, &turn, syncs);
        note_idle(r);
        if (wants_tick(r, &turn))
            tick(r, &turn);
        end_late(r, now, STR("etcd has done it, but this server has not heard of it in time"));
        if (now >= turn.compact_ns && !is_stopping(r))
            keep_house(r, &turn);
        arena_reset(&turn.arena);
    }
    arena_done(&turn.arena);
    return NULL;
}

void remote__end_waiters(struct remote *r)
{
    (void)pthread_mutex_lock(&r->wait_lock);
    struct store_sync *syncs = take(&r->syncs);
    (void)pthread_mutex_unlock(&r->wait_lock);
    for (struct store_sync *y = syncs, *next; y; y = next) {
        next = y->next;
        fail_sync(y, -ERR_UNAVAILABLE, CLOSING);
    }
    end_late(r, INT64_MAX, CLOSING);
}

void remote__quit(struct store_source *src)
{
    struct remote *r = (struct remote *)src;
    (void)pthread_mutex_lock(&r->wait_lock);
    r->sync_quits = true;
    while (r->is_asking)
        (void)pthread_cond_wait(&r->sync_idle, &r->wait_lock);
    (void)pthread_mutex_unlock(&r->wait_lock);
    remote__end_waiters(r);
}
