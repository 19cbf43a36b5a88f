/* watch.c - watches as cursors into the shared history.
 *
 * A feed belongs to one thread and has one position; its live watches stand there, in a table by
 * prefix, so that an event touches only those it concerns. A watch that starts in the past, or
 * that did not take an event, is behind: it reads history from where it stands, a piece per poll,
 * and joins the others when it has caught up. Nothing is queued for anybody. A watch whose next
 * event has left the history is expired.
 *
 * Callbacks may stop any watch and start new ones; `walk` and `current` keep the loops right. New
 * watches begin behind, so they never join a list that is being walked. */
#include "store/history.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { STOPPED, LIVE, BEHIND, FULL };

enum {
    POLL_EVENTS = 4096,    /* deliveries and events looked at in one poll */
    POLL_BYTES = 4 << 20,  /* of keys and values looked at */
    CATCH_UP_EVENTS = 512, /* of one watch, before the next one's turn */
};

struct watch_list {
    struct store_watch *first, **last;
};

/* All watches of one prefix. */
struct bucket {
    struct watch_list live;
    size_t n_watches; /* live or not */
    size_t n;
    char prefix[];
};

struct store_feed {
    struct store *s;
    void (*wake)(void *arg);
    void *arg;
    _Atomic bool is_woken;
    struct store_feed *next, **link; /* in the store's list */

    uint64_t pos;                                    /* live watches have everything up to here */
    uint64_t floor;                                  /* that was looked at last */
    struct map buckets;                              /* by prefix */
    uint32_t length_uses[LIMIT_STORE_KEY_BYTES + 1]; /* buckets per length of prefix */
    uint16_t lengths[LIMIT_STORE_KEY_BYTES + 1];     /* that are in use, ascending */
    size_t n_lengths, n_live;
    struct watch_list behind, full;

    struct store_watch *walk;    /* the next one in the list being walked */
    struct store_watch *current; /* whose callback is running; NULL once it is stopped */
    struct history_hint hint;
    struct arena arena; /* messages */
};

/* ---- Lists ---- */

static void list_init(struct watch_list *l)
{
    l->first = NULL;
    l->last = &l->first;
}

static void list_append(struct watch_list *l, struct store_watch *w)
{
    w->next = NULL;
    w->link = l->last;
    *l->last = w;
    l->last = &w->next;
}

static struct bucket *bucket_of(const struct store_watch *w)
{
    return (struct bucket *)(uintptr_t)(w->prefix.p - offsetof(struct bucket, prefix));
}

static struct watch_list *list_of(struct store_watch *w)
{
    if (w->state == LIVE)
        return &bucket_of(w)->live;
    return w->state == FULL ? &w->feed->full : &w->feed->behind;
}

static void list_remove(struct store_watch *w)
{
    struct watch_list *l = list_of(w);
    if (w->feed->walk == w)
        w->feed->walk = w->next;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    else
        l->last = w->link;
    if (w->state == LIVE)
        w->feed->n_live--;
}

static void move_to(struct store_watch *w, uint8_t state)
{
    list_remove(w);
    w->state = state;
    list_append(list_of(w), w);
    if (state == LIVE)
        w->feed->n_live++;
}

/* ---- Buckets ---- */

static void lengths_rebuild(struct store_feed *f)
{
    f->n_lengths = 0;
    for (size_t n = 0; n <= LIMIT_STORE_KEY_BYTES; n++)
        if (f->length_uses[n])
            f->lengths[f->n_lengths++] = (uint16_t)n;
}

static struct bucket *bucket_get(struct store_feed *f, struct str prefix)
{
    struct bucket *b = map_get(&f->buckets, prefix);
    if (!b) {
        b = mem_alloc(sizeof(*b) + prefix.n);
        list_init(&b->live);
        b->n_watches = 0;
        b->n = prefix.n;
        if (prefix.n)
            memcpy(b->prefix, prefix.p, prefix.n);
        (void)map_set(&f->buckets, (struct str){ b->prefix, b->n }, b);
        if (f->length_uses[b->n]++ == 0)
            lengths_rebuild(f);
    }
    b->n_watches++;
    return b;
}

static void bucket_put(struct store_feed *f, struct bucket *b)
{
    if (--b->n_watches)
        return;
    (void)map_remove(&f->buckets, (struct str){ b->prefix, b->n });
    if (--f->length_uses[b->n] == 0)
        lengths_rebuild(f);
    free(b);
}

/* ---- Feeds ---- */

struct store_feed *store_feed_new(struct store *s, void (*wake)(void *arg), void *arg)
{
    struct store_feed *f = mem_new(struct store_feed);
    f->s = s;
    f->wake = wake;
    f->arg = arg;
    f->pos = store_rev(s);
    f->floor = store_floor(s);
    list_init(&f->behind);
    list_init(&f->full);
    arena_init(&f->arena);
    (void)pthread_mutex_lock(&s->feeds_lock);
    f->next = s->feeds;
    f->link = &s->feeds;
    if (f->next)
        f->next->link = &f->next;
    s->feeds = f;
    (void)pthread_mutex_unlock(&s->feeds_lock);
    return f;
}

struct store_feed *store_feed_free(struct store_feed *f)
{
    if (!f)
        return NULL;
    assert(f->buckets.n == 0);
    (void)pthread_mutex_lock(&f->s->feeds_lock);
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    (void)pthread_mutex_unlock(&f->s->feeds_lock);
    map_done(&f->buckets);
    arena_done(&f->arena);
    free(f);
    return NULL;
}

static void feed_wake(struct store_feed *f)
{
    if (!atomic_exchange(&f->is_woken, true))
        f->wake(f->arg);
}

/* The lock is held over wake(), against our own rule: it is what keeps the feed there, and wake()
 * is bound by contract to do nothing but pass the word on. */
void store__feeds_wake(struct store *s)
{
    (void)pthread_mutex_lock(&s->feeds_lock);
    for (struct store_feed *f = s->feeds; f; f = f->next)
        feed_wake(f);
    (void)pthread_mutex_unlock(&s->feeds_lock);
}

/* ---- Watches ---- */

int store_watch_start(struct store_feed *f, struct store_watch *w, struct str prefix,
                      uint64_t after_rev, struct err *err)
{
    if (prefix.n > LIMIT_STORE_KEY_BYTES)
        return err_set(err, ERR_TOO_LARGE, "a prefix of %zu bytes is longer than any key",
                       prefix.n);
    uint64_t floor = store_floor(f->s);
    if (after_rev < floor)
        return err_set(err, ERR_EXPIRED,
                       "revision %" PRIu64 " is no longer kept (oldest: %" PRIu64 ")", after_rev,
                       floor);
    struct bucket *b = bucket_get(f, prefix);
    w->feed = f;
    w->prefix = (struct str){ b->prefix, b->n };
    w->seen = after_rev;
    w->seen_ops = 0;
    w->state = BEHIND;
    list_append(&f->behind, w);
    if (after_rev < store_rev(f->s))
        feed_wake(f);
    return 0;
}

void store_watch_stop(struct store_watch *w)
{
    if (w->state == STOPPED)
        return;
    struct store_feed *f = w->feed;
    list_remove(w);
    bucket_put(f, bucket_of(w));
    if (f->current == w)
        f->current = NULL;
    w->state = STOPPED;
}

void store_watch_resume(struct store_watch *w)
{
    if (w->state != FULL)
        return;
    move_to(w, BEHIND);
    feed_wake(w->feed);
}

uint64_t store_watch_rev(const struct store_watch *w)
{
    return w->state == LIVE && w->feed->pos > w->seen ? w->feed->pos : w->seen;
}

static void expire(struct store_watch *w)
{
    store_watch_stop(w);
    w->on_expired(w);
}

/* ---- Delivering ---- */

/* One poll: what it reads from and how much it may still do. */
struct poll {
    struct store_feed *f;
    struct store_snap *snap;
    int64_t events, bytes;
};

/* An event on its way out; what it replaced is looked up for the first watch that wants it. */
struct delivery {
    struct store_event event;
    uint64_t rev, prev_rev;
    bool has_prev, is_open;
};

static void delivery_init(struct delivery *d, const struct history_event *e)
{
    *d = (struct delivery){
        .event = { .type = e->type,
                   .now = { .key = e->key,
                            .value = e->value,
                            .create_rev = e->create_rev,
                            .mod_rev = e->rev } },
        .rev = e->rev,
        .prev_rev = e->prev_rev,
        .has_prev = e->prev_rev == 0,
    };
}

static int find_prev(struct poll *p, struct delivery *d, struct err *err)
{
    if (d->has_prev)
        return 0;
    int r = store__snap_before(p->snap, d->event.now.key, d->rev, d->prev_rev, &d->event.prev, err);
    d->has_prev = r == 0;
    return r;
}

/* All that a watch gets to see of it. */
static int complete(struct poll *p, struct delivery *d, struct err *err)
{
    if (d->is_open)
        return 0;
    struct store_feed *f = p->f;
    int r = find_prev(p, d, err);
    if (r < 0)
        return r;
    r = store__open_value(f->s, &f->arena, &d->event.now, err);
    if (r < 0)
        return r;
    r = store__open_value(f->s, &f->arena, &d->event.prev, err);
    d->is_open = r == 0;
    return r;
}

/* After this `w` may be gone. Returns whether it is still there and took the event. */
static bool deliver(struct poll *p, struct store_watch *w, const struct delivery *d)
{
    struct store_feed *f = p->f;
    if (w->seen != d->rev - 1) {
        w->seen = d->rev - 1;
        w->seen_ops = 0;
    }
    p->events--;
    f->current = w;
    enum store_watch_verdict verdict = w->on_event(w, &d->event);
    if (f->current != w)
        return false;
    f->current = NULL;
    if (verdict == STORE_WATCH_FULL) {
        move_to(w, FULL);
        return false;
    }
    w->seen_ops++;
    return true;
}

/* ---- Live watches ---- */

static int dispatch_live(struct poll *p, struct bucket *b, struct delivery *d, struct err *err)
{
    struct store_feed *f = p->f;
    for (struct store_watch *w = b->live.first; w; w = f->walk) {
        f->walk = w->next;
        if (d->rev <= w->seen)
            continue;
        int r = complete(p, d, err);
        if (r < 0)
            return r;
        (void)deliver(p, w, d);
    }
    return 0;
}

static int dispatch_to(struct poll *p, struct bucket *b, struct delivery *d, struct err *err)
{
    int r = dispatch_live(p, b, d, err);
    p->f->walk = NULL;
    return r;
}

/* The smallest length of prefix in use that is not below `least`; callbacks may change the set. */
static size_t length_from(const struct store_feed *f, size_t least)
{
    for (size_t i = 0; i < f->n_lengths; i++)
        if (f->lengths[i] >= least)
            return f->lengths[i];
    return SIZE_MAX;
}

static int dispatch(struct poll *p, const struct history_event *e, struct err *err)
{
    struct store_feed *f = p->f;
    struct delivery d;
    delivery_init(&d, e);
    size_t n = length_from(f, 0);
    for (; n <= e->key.n; n = length_from(f, n + 1)) {
        struct bucket *b = map_get(&f->buckets, str_take(e->key, n));
        int r = b ? dispatch_to(p, b, &d, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Makes every live watch read for itself, from where the feed stands. */
static void demote_live(struct store_feed *f)
{
    size_t at = 0;
    struct str prefix;
    void *value;
    while (map_next(&f->buckets, &at, &prefix, &value)) {
        struct bucket *b = value;
        for (struct store_watch *w; (w = b->live.first);) {
            if (w->seen < f->pos) {
                w->seen = f->pos;
                w->seen_ops = 0;
            }
            move_to(w, BEHIND);
        }
    }
}

static void look_at(struct poll *p, const struct history_event *e)
{
    p->events--;
    p->bytes -= (int64_t)(e->key.n + e->value.n);
}

/* Moves the feed's position on; a revision is never split between polls. */
static void run_live(struct poll *p)
{
    struct store_feed *f = p->f;
    uint64_t newest = store_snap_rev(p->snap);
    if (f->n_live && f->pos < store__snap_floor(p->snap))
        demote_live(f);
    if (!f->n_live && f->pos < newest)
        f->pos = newest;
    if (f->pos >= newest)
        return;
    struct err err = ERR_INIT(&f->arena);
    struct history h;
    struct history_event e;
    history_init(&h, f->s, p->snap, f->pos, &f->hint);
    int r;
    bool is_all = false;
    for (;;) {
        r = history_next(&h, &e, &err);
        is_all = r == 0;
        if (r <= 0)
            break;
        look_at(p, &e);
        r = dispatch(p, &e, &err);
        if (r < 0)
            break;
        if (e.is_last)
            f->pos = e.rev;
        if (e.is_last && (p->events <= 0 || p->bytes <= 0))
            break;
    }
    history_done(&h);
    if (is_all)
        f->pos = newest; /* the last revisions may be none of ours */
    if (r < 0) {
        /* Each will meet the same trouble by itself, and be expired. */
        demote_live(f);
        f->pos = newest;
    }
}

/* ---- Watches that are behind ---- */

static void end_unreadable(struct store_watch *w, const struct delivery *d, const struct err *why)
{
    store_watch_stop(w);
    w->on_unreadable(w, &d->event, why);
}

/* One event for a watch that reads by itself; false if it is gone or full. */
static int catch_up_event(struct poll *p, struct store_watch *w, const struct history_event *e,
                          uint32_t *n_matched, struct err *err)
{
    if (!str_starts(e->key, w->prefix) || (*n_matched)++ < w->seen_ops)
        return 1;
    struct delivery d;
    delivery_init(&d, e);
    int r = complete(p, &d, err);
    if (r == -ERR_DAMAGED && w->on_unreadable) {
        end_unreadable(w, &d, err);
        return 0;
    }
    if (r < 0)
        return r;
    return deliver(p, w, &d);
}

/* Reads on for one watch; 1: it is still behind or caught up, 0: gone or full. */
static int catch_up(struct poll *p, struct store_watch *w, struct err *err)
{
    struct store_feed *f = p->f;
    struct history h;
    struct history_event e;
    int64_t least = p->events - CATCH_UP_EVENTS;
    uint32_t n_matched = 0;
    history_init(&h, f->s, p->snap, w->seen, NULL);
    int r = 1;
    while (w->seen < f->pos && p->events > least && p->bytes > 0) {
        r = history_next(&h, &e, err);
        if (r == 0) {
            w->seen = f->pos; /* what is left has no events */
            w->seen_ops = 0;
            r = 1;
        }
        if (r < 0 || w->seen >= f->pos)
            break;
        look_at(p, &e);
        r = catch_up_event(p, w, &e, &n_matched, err);
        if (r <= 0)
            break;
        if (e.is_last) {
            w->seen = e.rev;
            w->seen_ops = n_matched = 0;
        }
    }
    history_done(&h);
    return r;
}

static void run_one_behind(struct poll *p, struct store_watch *w)
{
    struct err err = ERR_INIT(&p->f->arena);
    uint64_t floor = w->takes_breaks ? store__snap_kept(p->snap) : store__snap_floor(p->snap);
    if (w->seen < floor) {
        expire(w);
        return;
    }
    int r = catch_up(p, w, &err);
    if (r < 0) {
        if (r != -ERR_EXPIRED)
            log_error("history cannot be read; a watch is ended", LOG_ERR(&err));
        expire(w);
    } else if (r > 0) {
        move_to(w, w->seen >= p->f->pos ? LIVE : BEHIND); /* or to the end of the line */
    }
}

static void run_behind(struct poll *p)
{
    struct store_feed *f = p->f;
    /* Those that are moved to the end get their next turn in the next poll. */
    struct store_watch **end = f->behind.last;
    struct store_watch *last =
        f->behind.first ? (void *)((char *)end - offsetof(struct store_watch, next)) : NULL;
    for (struct store_watch *w = f->behind.first, *next; w; w = next) {
        bool is_last = w == last;
        f->walk = w->next;
        run_one_behind(p, w);
        next = is_last || p->events <= 0 || p->bytes <= 0 ? NULL : f->walk;
    }
    f->walk = NULL;
}

/* Full watches are not read for, so the floor has to find them. */
static void expire_full(struct poll *p)
{
    struct store_feed *f = p->f;
    uint64_t floor = store__snap_floor(p->snap);
    if (floor == f->floor)
        return;
    f->floor = floor;
    for (struct store_watch *w = f->full.first; w; w = f->walk) {
        f->walk = w->next;
        if (w->seen < floor)
            expire(w);
    }
    f->walk = NULL;
}

bool store_feed_poll(struct store_feed *f)
{
    atomic_store(&f->is_woken, false);
    struct poll p = { .f = f, .events = POLL_EVENTS, .bytes = POLL_BYTES };
    struct err err = ERR_INIT(&f->arena);
    if (store_snap_begin(f->s, 0, &p.snap, &err) < 0) {
        log_error("a feed cannot read the store", LOG_ERR(&err));
        return true;
    }
    run_live(&p);
    run_behind(&p);
    expire_full(&p);
    bool more = f->pos < store_snap_rev(p.snap) || f->behind.first;
    store_snap_end(p.snap);
    arena_reset(&f->arena);
    return more;
}
