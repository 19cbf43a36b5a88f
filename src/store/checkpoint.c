/* checkpoint.c - the keeper: moves what the log has into the view, and drops old history.
 *
 * One transaction of the view takes a whole sealed table: first what each change replaced (undo),
 * then the newest version of each key, then the floor. After it the table is needed no more, and
 * neither are log segments below the floor. A crash anywhere in between loses nothing: the view
 * says up to which revision it goes, and the log has the rest. When the view cannot be written,
 * the table stays and the keeper tries again; when a second table is full by then, writers get
 * the error. */
#include "store/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

enum { RETRY_MIN_MS = 50, RETRY_MAX_MS = 2000, UNDO_BYTES_AT_ONCE = 32 << 20, SURPLUS_ROUNDS = 64 };
#define TIDY_NS   (60 * NS_PER_SEC)
#define LET_GO_NS NS_PER_SEC

/* ---- A sealed table into the view ---- */

static struct view_entry entry_of(const struct memnode *n)
{
    struct view_entry e = { memnode_key(n), memnode_value(n), n->create_rev, n->rev, 0, 0 };
    e.crc = view_entry_sum(&e);
    return e;
}

/* What `n` replaced: an older version in the same table, or the one in the view. */
static int version_before(struct view_write *w, const struct memnode *n, struct view_entry *ret,
                          struct err *err)
{
    const struct memnode *older = memnode_next(n);
    if (older && str_eq(memnode_key(older), memnode_key(n))) {
        *ret = entry_of(older);
        return 0;
    }
    int r = view_write_get(w, memnode_key(n), ret, err);
    bool is_other = r > 0 && ret->mod_rev != n->prev_rev;
    if (is_other && view_entry_sum(ret) != ret->crc)
        return 0; /* damaged, and so it stays: who reads this history will be told */
    if (r == 0 || is_other)
        return err_set(err, ERR_DAMAGED,
                       "the view has lost version %" PRIu64 " of key \"" STR_FMT "\"", n->prev_rev,
                       STR_ARG(memnode_key(n)));
    return r < 0 ? r : 0;
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(memnode_key(*(const struct memnode *const *)a),
                   memnode_key(*(const struct memnode *const *)b));
}

/* What the changes of one revision replaced, in the order of keys. */
static int write_undo_of(struct view_write *w, const struct memnode **changes, size_t n,
                         struct err *err)
{
    qsort(changes, n, sizeof(changes[0]), by_key);
    for (size_t i = 0; i < n; i++) {
        struct view_entry e;
        int r = version_before(w, changes[i], &e, err);
        if (r < 0)
            return r;
        e.super_rev = changes[i]->rev;
        r = view_write_old(w, &e, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Undo records of all changes above the floor, in the order of revision and key. */
static int write_undo(struct view_write *w, const struct memtable *t, uint64_t floor,
                      struct err *err)
{
    autofree const struct memnode **same_rev = NULL;
    size_t cap = 0;
    const struct memnode *n = memtable_first_change(t);
    while (n) {
        size_t count = 0;
        uint64_t rev = n->rev;
        for (; n && n->rev == rev; n = memnode_next_change(n)) {
            if (!n->prev_rev || rev <= floor)
                continue;
            if (count == cap) {
                cap = cap ? 2 * cap : LIMIT_STORE_TXN_OPS;
                same_rev = mem_resize(same_rev, cap, sizeof(const struct memnode *));
            }
            same_rev[count++] = n;
        }
        int r = count ? write_undo_of(w, same_rev, count, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* The newest version of each key. */
static int write_newest(struct view_write *w, const struct memtable *t, struct err *err)
{
    const struct memnode *n = memtable_seek(t, STR(""));
    for (; n; n = memtable_next_key(t, n)) {
        int r;
        if (n->type == STORE_PUT) {
            struct view_entry e = entry_of(n);
            r = view_write_put(w, &e, err);
        } else {
            r = view_write_delete(w, memnode_key(n), err);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

uint64_t store__keys_after(const struct memtable *t, uint64_t keys)
{
    for (const struct memnode *n = memtable_first_change(t); n; n = memnode_next_change(n))
        keys += n->type == STORE_DELETE ? UINT64_MAX : n->prev_rev == 0;
    return keys;
}

static int write_all(struct view_write *w, const struct memtable *t, const struct view_meta *meta,
                     struct err *err)
{
    (void)FAILPOINT("checkpoint-begun");
    int r = t ? write_undo(w, t, meta->floor, err) : 0;
    if (r < 0)
        return r;
    (void)FAILPOINT("checkpoint-undo");
    r = t ? write_newest(w, t, err) : 0;
    if (r < 0)
        return r;
    (void)FAILPOINT("checkpoint-applied");
    r = view_write_prune(w, meta->floor, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("checkpoint-pruned");
    return 0;
}

int store__write_view(struct view *v, const struct memtable *t, const struct view_meta *meta,
                      struct err *err)
{
    uint64_t room = (t ? 4 * (uint64_t)memtable_bytes(t) : 0) + (4 << 20);
    int r;
    do {
        err_clear(err);
        struct view_write *w;
        r = view_write_begin(v, room, &w, err);
        if (r < 0)
            return r;
        r = write_all(w, t, meta, err);
        if (r < 0)
            view_write_abort(w);
        else
            r = view_write_commit(w, meta, err);
    } while (r < 0 && view_is_full(v));
    return r;
}

/* ---- One round ---- */

/* What was replaced takes room, too, and may be far larger than the log of what replaced it: how
 * high must the floor be for it to fit? Little by little, because one transaction drops it. */
static uint64_t undo_surplus(struct store *s)
{
    struct view_reader *reader;
    struct view_entry e;
    if (view_reader_begin(s->view, &reader, NULL) < 0)
        return 0;
    uint64_t floor = 0, bytes = view_old_bytes(reader), dropped = 0;
    int r = bytes > s->history_bytes ? view_seek_old(reader, 0, &e, NULL) : 0;
    while (r == 1 && bytes > s->history_bytes + dropped && dropped < UNDO_BYTES_AT_ONCE) {
        dropped += e.key.n + e.value.n;
        floor = e.super_rev;
        r = view_next_old(reader, &e, NULL);
    }
    view_reader_end(reader);
    return floor;
}

/* The floor after a checkpoint up to `rev`: what was asked for, or what the limits demand. */
static uint64_t choose_floor(struct store *s, uint64_t rev, uint64_t asked)
{
    if (s->is_low)
        return rev; /* history is the first thing to go */
    int64_t oldest_ns = clock_wall_ns(s->clock) - s->history_ns;
    uint64_t floor = wal_surplus(&s->wal, rev, s->history_bytes, oldest_ns),
             undo_floor = undo_surplus(s);
    uint64_t break_rev = atomic_load(&s->break_rev);
    if (undo_floor > floor)
        floor = undo_floor;
    if (break_rev > floor && break_rev <= rev)
        floor = break_rev;
    if (asked > floor && asked <= rev)
        floor = asked;
    return floor > s->view_meta.floor ? floor : s->view_meta.floor;
}

static void forget_sealed(struct store *s)
{
    struct store__layers *l = store__layers_get(s);
    store__layers_set(s, l->active, NULL);
    (void)FAILPOINT("checkpoint-swapped");
    (void)pthread_mutex_lock(&s->keeper_lock);
    s->has_sealed = false;
    s->keeper_result = 0;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    store__layers_unref(l);
    (void)FAILPOINT("checkpoint-freed");
}

/* Only the keeper takes the sealed table away, so no reference is needed while it looks. A table is
 * its business once the commit thread has said so: one that it took before that would be announced
 * after it is gone. */
static struct memtable *sealed_table(struct store *s)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    bool has_sealed = s->has_sealed;
    (void)pthread_mutex_unlock(&s->keeper_lock);
    if (!has_sealed)
        return NULL;
    struct store__layers *l = store__layers_get(s);
    struct memtable *t = l->sealed;
    store__layers_unref(l);
    return t;
}

/* How far the view goes. Asked each time: a commit that failed may have reached the disk. */
static int read_meta(struct store *s, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(s->view, &reader, err);
    if (r == -ERR_IO)
        return 0; /* it will be opened anew for the next write */
    if (r < 0)
        return r;
    s->view_meta = *view_reader_meta(reader);
    view_reader_end(reader);
    return 0;
}

/* `t` is the sealed table, or NULL where only the floor is to rise. */
static int checkpoint_table(struct store *s, struct memtable *t, uint64_t floor_asked,
                            struct err *err)
{
    int r = read_meta(s, err);
    if (r < 0)
        return r;
    struct view_meta meta = s->view_meta;
    bool has_news = t && memtable_end(t) > meta.rev;
    if (has_news) {
        meta.rev = memtable_end(t);
        meta.keys = store__keys_after(t, meta.keys);
    }
    meta.floor = choose_floor(s, meta.rev, floor_asked);
    bool floor_rises = meta.floor > atomic_load(&s->floor);
    if (has_news || meta.floor > s->view_meta.floor)
        r = store__write_view(s->view, has_news ? t : NULL, &meta, err);
    if (r < 0)
        return r;
    if (FAILPOINT("replace-now"))
        (void)view_replace(s->view, NULL);
    (void)FAILPOINT("checkpoint-committed");
    s->view_meta = meta;
    atomic_store_explicit(&s->floor, meta.floor, memory_order_release);
    if (t) {
        store__damage_replaced(s, t);
        atomic_fetch_add_explicit(&s->n_checkpoints, 1, memory_order_relaxed);
        forget_sealed(s);
    }
    if (!floor_rises)
        return 0;
    (void)FAILPOINT("compact-begun");
    store__feeds_wake(s); /* watches that were left behind learn it */
    return wal_drop(&s->wal, meta.floor, err);
}

static int checkpoint_once(struct store *s, uint64_t floor_asked, struct err *err)
{
    return checkpoint_table(s, sealed_table(s), floor_asked, err);
}

/* Has the commit thread seal the active table. It may have done so by itself meanwhile, and now
 * wait for the keeper: then there is no answer to wait for. */
static void ask_for_seal(struct store *s)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    uint64_t ticket = ++s->seals_asked;
    (void)pthread_cond_broadcast(&s->keeper_moved); /* it may be waiting for room */
    (void)pthread_mutex_unlock(&s->keeper_lock);

    (void)pthread_mutex_lock(&s->queue_lock);
    s->seal_ticket = ticket;
    (void)pthread_cond_signal(&s->queue_moved);
    (void)pthread_mutex_unlock(&s->queue_lock);

    (void)pthread_mutex_lock(&s->keeper_lock);
    while (s->seals_answered < ticket && !s->has_sealed)
        (void)pthread_cond_wait(&s->keeper_moved, &s->keeper_lock);
    (void)pthread_mutex_unlock(&s->keeper_lock);
}

/* All that was published when the round began goes into the view. */
static int full_round(struct store *s, uint64_t floor_asked, struct err *err)
{
    int r = sealed_table(s) ? checkpoint_once(s, 0, err) : 0;
    if (r < 0)
        return r;
    ask_for_seal(s);
    return checkpoint_once(s, floor_asked, err);
}

/* ---- The thread ---- */

struct orders {
    bool prepare, full, stop;
    bool room;    /* for the log, which found none: all history is given up that can be */
    bool is_tick; /* nobody wants anything */
    uint64_t round, floor, room_ticket;
};

/* Sleeps until there is something to do, or `wait_ms` passed. A retry waits in any case. */
static struct orders next_orders(struct store *s, int64_t wait_ms, bool is_retry)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + wait_ms * NS_PER_MS;
    until.tv_sec += ns / NS_PER_SEC;
    until.tv_nsec = ns % NS_PER_SEC;

    (void)pthread_mutex_lock(&s->keeper_lock);
    int rc = 0;
    while (!s->keeper_stops && rc == 0) {
        bool has_work = s->has_sealed || s->prepare_wanted || s->rounds_asked > s->rounds_done;
        if ((has_work && !is_retry) || s->rooms_asked > s->rooms_done)
            break;
        rc = pthread_cond_timedwait(&s->keeper_moved, &s->keeper_lock, &until);
    }
    struct orders o = {
        .prepare = s->prepare_wanted,
        .stop = s->keeper_stops,
        .round = s->rounds_asked,
        .floor = s->floor_asked,
        .room_ticket = s->rooms_asked,
    };
    o.full = s->rounds_asked > s->rounds_done;
    o.room = s->rooms_asked > s->rooms_done;
    o.is_tick = rc == ETIMEDOUT && !is_retry && !o.full && !o.room;
    s->prepare_wanted = false;
    (void)pthread_mutex_unlock(&s->keeper_lock);
    return o;
}

static void report(struct store *s, const struct orders *o, int r, struct err *err)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    bool is_news = r < 0 && s->keeper_result != r;
    s->keeper_result = r;
    (void)snprintf(s->keeper_reason, sizeof(s->keeper_reason), STR_FMT, STR_ARG(err->msg));
    if (o->full && s->rounds_done < o->round)
        s->rounds_done = o->round;
    s->rooms_done = o->room_ticket;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    if (is_news)
        log_error("checkpoint failed; it will be tried again", LOG_ERR(err));
}

static int keep(struct store *s, const struct orders *o, struct err *err)
{
    if (o->prepare && !s->is_tight) {
        struct err ignored = ERR_INIT(err->arena); /* the log then goes on without */
        (void)wal_prepare_next(&s->wal, &ignored);
    }
    return o->full ? full_round(s, o->floor, err) : checkpoint_once(s, 0, err);
}

/* History is dropped by itself before the sealed table is tried: raising the floor takes next to
 * nothing, and the log below it is room for the table. */
static void drop_history(struct store *s, struct err *err)
{
    if (checkpoint_table(s, NULL, 0, err) < 0)
        log_debug("history was not dropped", LOG_ERR(err));
    err_clear(err);
}

static void look_for_room(struct store *s, const struct orders *o)
{
    s->is_low = o->room; /* whatever the disk says: it may be a quota */
    if (!o->room)
        store__look_at_space(s);
}

/* On a disk that turns out to be full: once more at once, because deletes may wait for it. Only for
 * them the reserve is given up: what is free on a full disk may be somebody else's a moment later.
 */
static int keep_on_full_disk(struct store *s, const struct orders *o, struct err *err)
{
    err_clear(err);
    store__become_tight(s);
    if (o->room || s->has_deleted)
        (void)store__give_reserve(s);
    look_for_room(s, o);
    if (s->is_low)
        drop_history(s, err);
    return keep(s, o, err);
}

/* What a rush of deletes left above the bound of history. */
static void drop_surplus(struct store *s, struct err *err)
{
    for (int i = 0; i < SURPLUS_ROUNDS && undo_surplus(s) > s->view_meta.floor; i++) {
        if (checkpoint_once(s, 0, err) < 0) {
            log_debug("history was not dropped", LOG_ERR(err));
            break;
        }
    }
    err_clear(err);
}

/* A view that cannot be made smaller now, because even a small copy needs room, stays as it is. */
static void tidy_up(struct store *s, struct err *err)
{
    drop_surplus(s, err);
    int r = view_shrink(s->view, err);
    if (r == -ERR_NO_SPACE && store__give_reserve(s))
        r = view_shrink(s->view, err);
    if (r < 0)
        log_debug("the view was not made smaller", LOG_ERR(err));
    err_clear(err);
    view_refresh(s->view);
    view_let_go(s->view, 0);
    (void)malloc_trim(0);
}

/* What the thread remembers from round to round. */
struct keeper {
    int64_t retry_ms; /* 0: the last round went well */
    int64_t idle_ms;
    int64_t tidied_ns, let_go_ns;
};

/* Gives back what a rush leaves behind: all of it when nobody wants anything, and once a minute in
 * any case; mapped pages, of which there are many soon, once a second. */
static void give_back(struct store *s, struct keeper *k, bool is_idle, struct err *err)
{
    int64_t now_ns = clock_mono_ns(&clock_system);
    if (is_idle || now_ns - k->tidied_ns > TIDY_NS) {
        tidy_up(s, err);
        k->tidied_ns = now_ns;
    } else if (now_ns - k->let_go_ns > LET_GO_NS) {
        view_let_go(s->view, VIEW_MAPPED_BYTES);
        k->let_go_ns = now_ns;
    }
}

/* Once in a while although nobody asks, so that changes do not stay out of the view for long. */
static bool is_idle_round(struct keeper *k, bool is_tick)
{
    k->idle_ms = is_tick ? k->idle_ms + STORE__LOOK_MS : 0;
    if (k->idle_ms < STORE__IDLE_MS)
        return false;
    k->idle_ms = 0;
    return true;
}

/* LMDB calls a write that fell short an I/O error, and so does the view if somebody has made room
 * before it could look. */
static bool is_for_want_of_room(const struct store *s, int r)
{
    return r == -ERR_NO_SPACE || (r == -ERR_IO && s->is_tight && !s->is_lost);
}

/* On a tick only if it was idle for long. */
static int keep_in_turn(struct store *s, const struct orders *o, bool is_idle, struct err *err)
{
    int r = store__look_at_folder(s, err);
    if (r < 0)
        return r;
    if (o->is_tick && !is_idle)
        return 0;
    return keep(s, o, err);
}

static int run_round(struct store *s, struct keeper *k, struct orders *o, struct err *err)
{
    bool is_idle = is_idle_round(k, o->is_tick);
    o->full |= is_idle;
    look_for_room(s, o);
    int r = keep_in_turn(s, o, is_idle, err);
    if (is_for_want_of_room(s, r))
        r = keep_on_full_disk(s, o, err);
    if (r < 0)
        return r;
    give_back(s, k, is_idle, err);
    return 0;
}

void *store__keeper_main(void *arg)
{
    struct store *s = arg;
    struct arena arena;
    arena_init(&arena);
    struct keeper k = { .tidied_ns = clock_mono_ns(&clock_system) };
    for (;;) {
        struct orders o = next_orders(s, k.retry_ms ? k.retry_ms : STORE__LOOK_MS, k.retry_ms > 0);
        if (o.stop)
            break;
        struct err err = ERR_INIT(&arena);
        int r = run_round(s, &k, &o, &err);
        report(s, &o, r, &err);
        k.retry_ms = r == 0 ? 0 : k.retry_ms == 0 ? RETRY_MIN_MS : 2 * k.retry_ms;
        if (k.retry_ms > RETRY_MAX_MS)
            k.retry_ms = RETRY_MAX_MS;
        arena_reset(&arena);
    }
    arena_done(&arena);
    return NULL;
}

int store__checkpoint(struct store *s, uint64_t floor, struct err *err)
{
    (void)pthread_mutex_lock(&s->keeper_lock);
    uint64_t round = ++s->rounds_asked;
    if (floor > s->floor_asked)
        s->floor_asked = floor;
    (void)pthread_cond_broadcast(&s->keeper_moved);
    while (s->rounds_done < round)
        (void)pthread_cond_wait(&s->keeper_moved, &s->keeper_lock);
    int r = s->keeper_result;
    if (r < 0)
        r = err_set(err, (enum err_code) - r, "%s", s->keeper_reason);
    (void)pthread_mutex_unlock(&s->keeper_lock);
    return r;
}
