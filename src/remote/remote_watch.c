/* remote_watch.c - what etcd has, into the mirror: a list at a start, then one watch.
 *
 * Revisions arrive in order and whole: the events of the last one are kept back until it is known
 * that no more follow. If the watch ends it goes on behind the last revision that has arrived, at
 * another member if need be. If etcd has dropped that, everything is listed anew and compared; the
 * mirror then goes on, but what happened in between is not known, so watches expire. */
#include "remote/remote_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#include "base/banned.h"

/* ---- Lists ---- */

/* All keys at a revision, page by page; 0: at the newest, which `rev` is after the first page. */
struct list {
    struct remote *r;
    uint64_t rev;
    size_t limit;
    struct buf from; /* the first key of the next page */
    struct arena arena;
};

static void list_init(struct list *l, struct remote *r, uint64_t rev)
{
    *l = (struct list){ .r = r, .rev = rev, .limit = REMOTE_PAGE };
    arena_init(&l->arena);
    buf_str_add(&l->from, r->range_key);
}

static void list_done(struct list *l)
{
    buf_done(&l->from);
    arena_done(&l->arena);
}

/* The next page, good until the one after it: 1; 0 at the end. */
static int list_next(struct list *l, struct remote_list *ret, struct err *err)
{
    struct str reply;
    if (!l->from.n)
        return 0;
    for (;;) {
        autobuf request = { 0 };
        arena_reset(&l->arena);
        remote_range_write(&request, &(struct remote_range){ .key = buf_str(&l->from),
                                                             .end = l->r->range_end,
                                                             .limit = l->limit,
                                                             .revision = l->rev });
        int res = remote__ask(l->r, STR("/etcdserverpb.KV/Range"), buf_str(&request),
                              REMOTE_START_MS, &l->arena, &reply, err);
        if (res == 0)
            break;
        if (res != -ERR_TOO_MANY_REQUESTS || l->limit == 1)
            return res;
        l->limit = (l->limit + 3) / 4; /* the page was too large for a message */
    }
    if (!remote_list_read(&l->arena, reply, ret))
        return err_set(err, ERR_UNAVAILABLE, "etcd has given an answer that cannot be read");
    if (!l->rev)
        l->rev = ret->rev;
    buf_reset(&l->from);
    if (ret->more && ret->n_kvs) {
        buf_str_add(&l->from, ret->kvs[ret->n_kvs - 1].key);
        buf_byte(&l->from, '\0');
    }
    return 1;
}

/* What the mirror has of a key and value, in the arena; false: nothing. */
static bool convert(struct remote *r, struct arena *a, const struct remote_kv *kv,
                    struct store_entry *ret)
{
    if (!remote_key_read(a, r->prefix, kv->key, &ret->key))
        return false;
    if (ret->key.n > LIMIT_STORE_KEY_BYTES) {
        log_warn("a key of etcd is too long and is left out", LOG_STR("key", ret->key));
        return false;
    }
    autobuf kept = { 0 };
    bool is_changed = r->keep && kv->value.n && r->keep(r->codec, ret->key, kv->value, &kept) > 0;
    ret->value = is_changed ? arena_str(a, buf_str(&kept)) : kv->value;
    if (ret->value.n > LIMIT_STORE_VALUE_BYTES)
        ret->value = STR("?"); /* its readers will be told that it is damaged */
    ret->create_rev = kv->create_rev;
    ret->mod_rev = kv->mod_rev;
    return true;
}

static int fill_page(struct remote *r, const struct remote_list *page, store_take *put, void *arg,
                     struct err *err)
{
    struct arena a;
    int res = 0;
    arena_init(&a);
    for (size_t i = 0; i < page->n_kvs; i++) {
        struct store_entry e = { 0 };
        if (!convert(r, &a, &page->kvs[i], &e))
            continue;
        res = put(arg, &e, err);
        if (res < 0)
            break;
        arena_reset(&a);
    }
    arena_done(&a);
    return res;
}

int remote__fill(struct store_source *src, store_take *put, void *arg, struct err *err)
{
    struct remote *r = (struct remote *)src;
    struct list list;
    struct remote_list page;
    list_init(&list, r, src->fill_rev);
    int res;
    while ((res = list_next(&list, &page, err)) > 0) {
        res = fill_page(r, &page, put, arg, err);
        if (res < 0)
            break;
    }
    list_done(&list);
    return res;
}

/* ---- Where to begin ---- */

/* Whether etcd still has that revision: 1 or 0. 0 asks for the newest. */
static int has_rev(struct remote *r, uint64_t rev, uint64_t *ret_newest, struct err *err)
{
    struct arena a;
    autobuf request = { 0 };
    struct str reply;
    arena_init(&a);
    remote_range_write(&request,
                       &(struct remote_range){
                           .key = r->tick_key, .limit = 1, .revision = rev, .keys_only = true });
    int res = remote__ask(r, STR("/etcdserverpb.KV/Range"), buf_str(&request), REMOTE_START_MS, &a,
                          &reply, err);
    if (res == 0)
        *ret_newest = remote_header_rev(reply);
    arena_done(&a);
    return res == -ERR_EXPIRED ? 0 : res < 0 ? res : 1;
}

/* The oldest revision that etcd still has, but not too old: so that clients who watched another
 * server, or this one before, can go on. */
int remote__find_start(struct remote *r, struct err *err)
{
    uint64_t newest = 0, ignored, gone = 0;
    int res = has_rev(r, 0, &newest, err);
    if (res < 0)
        return res;
    uint64_t there = newest, low = newest > REMOTE_HISTORY_REVS ? newest - REMOTE_HISTORY_REVS : 1;
    for (uint64_t rev = low; gone + 1 < there; rev = gone + (there - gone) / 2) {
        res = has_rev(r, rev, &ignored, err);
        if (res < 0)
            return res;
        if (res)
            there = rev;
        else
            gone = rev;
        if (res && rev == low)
            break;
    }
    r->source.fill_rev = r->last_rev = there;
    return 0;
}

/* ---- Arrivals ---- */

/* One revision on its way into the mirror, with all its bytes. */
struct arrival {
    struct store_arrival arrival; /* first */
    struct remote *r;
    struct arena arena;
    size_t bytes, cap;
};

static void arrived(struct store_txn *t)
{
    struct arrival *a = (struct arrival *)t;
    struct remote *r = a->r;
    (void)pthread_mutex_lock(&r->queue_lock);
    r->queued_bytes -= a->bytes;
    (void)pthread_cond_signal(&r->queue_moved);
    (void)pthread_mutex_unlock(&r->queue_lock);
    arena_done(&a->arena);
    free(a->arrival.txn.ops);
    free(a);
}

static struct arrival *arrival_new(struct remote *r, uint64_t rev)
{
    struct arrival *a = mem_new(struct arrival);
    a->r = r;
    a->bytes = sizeof(*a);
    a->arrival.txn.rev = rev;
    a->arrival.txn.done = arrived;
    arena_init(&a->arena);
    return a;
}

static void arrival_add(struct arrival *a, enum store_op_type type, const struct store_entry *e)
{
    struct store_txn *t = &a->arrival.txn;
    if (t->n_ops == a->cap) {
        a->cap = a->cap ? 2 * a->cap : 4;
        t->ops = mem_resize(t->ops, a->cap, sizeof(*t->ops));
    }
    t->ops[t->n_ops++] = (struct store_op){ .type = type,
                                            .key = arena_str(&a->arena, e->key),
                                            .value = arena_str(&a->arena, e->value),
                                            .expect_rev = e->create_rev };
    a->bytes += e->key.n + e->value.n + sizeof(*t->ops);
}

static bool arrival_is_full(const struct arrival *a)
{
    return a->arrival.txn.n_ops >= LIMIT_STORE_REV_OPS || a->bytes > LIMIT_STORE_VALUE_BYTES;
}

/* Several that are published together. */
struct train {
    struct arrival *first, *last;
    uint64_t break_rev;
};

static void train_add(struct train *t, struct arrival *a)
{
    if (t->last) {
        t->last->arrival.goes_on = true;
        t->last->arrival.txn.next = &a->arrival.txn;
    } else {
        t->first = a;
    }
    t->last = a;
}

/* The arrival for `rev`: the last one, unless that is of another revision or full. What does not
 * fit into one is not given to watches piece by piece: they expire. */
static struct arrival *train_at(struct train *t, struct remote *r, uint64_t rev)
{
    struct arrival *a = t->last;
    bool is_same = a && a->arrival.txn.rev == rev;
    if (is_same && !arrival_is_full(a))
        return a;
    if (is_same && t->break_rev < rev)
        t->break_rev = rev;
    a = arrival_new(r, rev);
    train_add(t, a);
    return a;
}

/* Waits while the mirror has more to do than it should. */
static void train_leave(struct train *t, struct remote *r)
{
    if (!t->first)
        return;
    t->first->arrival.break_rev = t->break_rev;
    size_t bytes = 0;
    for (struct store_txn *a = &t->first->arrival.txn; a; a = a->next)
        bytes += ((struct arrival *)a)->bytes;
    (void)pthread_mutex_lock(&r->queue_lock);
    while (r->queued_bytes > REMOTE_QUEUE_BYTES)
        (void)pthread_cond_wait(&r->queue_moved, &r->queue_lock);
    r->queued_bytes += bytes;
    (void)pthread_mutex_unlock(&r->queue_lock);
    r->last_rev = t->last->arrival.txn.rev;
    store_arrive(r->store, &t->first->arrival);
    *t = (struct train){ 0 };
}

static void train_drop(struct train *t)
{
    for (struct store_txn *a = t->first ? &t->first->arrival.txn : NULL, *next; a; a = next) {
        next = a->next;
        arena_done(&((struct arrival *)a)->arena);
        free(a->ops);
        free(a);
    }
    *t = (struct train){ 0 };
}

/* ---- Listing anew ---- */

struct relist {
    struct remote *r;
    struct arena arena; /* keys and changed values */
    struct map there;   /* all keys */
    struct store_entry *changed;
    size_t n_changed, cap;
};

static void relist_page(struct relist *l, const struct remote_list *page)
{
    for (size_t i = 0; i < page->n_kvs; i++) {
        struct store_entry e = { 0 };
        if (!convert(l->r, &l->arena, &page->kvs[i], &e))
            continue;
        e.key = arena_str(&l->arena, e.key);
        (void)map_set(&l->there, e.key, l);
        if (e.mod_rev <= l->r->last_rev)
            continue;
        e.value = arena_str(&l->arena, e.value);
        if (l->n_changed == l->cap) {
            l->cap = l->cap ? 2 * l->cap : 64;
            l->changed = mem_resize(l->changed, l->cap, sizeof(*l->changed));
        }
        l->changed[l->n_changed++] = e;
    }
}

static int by_rev(const void *a, const void *b)
{
    uint64_t x = ((const struct store_entry *)a)->mod_rev,
             y = ((const struct store_entry *)b)->mod_rev;
    return x < y ? -1 : x > y;
}

/* What the mirror has and etcd has not was deleted meanwhile; nobody knows when. */
static int add_deletes(struct relist *l, struct train *t, uint64_t rev, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int res = store_snap_begin(l->r->store, 0, &snap, err);
    if (res < 0)
        return res;
    store_range_begin(snap, STR(""), STR(""));
    while ((res = store_range_next(snap, &e, err)) != 0) {
        if (res < 0 && res != -ERR_DAMAGED)
            break;
        e.value = STR("");
        if (!map_get(&l->there, e.key))
            arrival_add(train_at(t, l->r, rev), STORE_DELETE, &e);
    }
    store_snap_end(snap);
    return res;
}

static int relist_all(struct relist *l, struct list *list, struct train *t, struct err *err)
{
    struct remote_list page;
    int res;
    while ((res = list_next(list, &page, err)) > 0)
        relist_page(l, &page);
    if (res < 0)
        return res;
    if (l->n_changed)
        qsort(l->changed, l->n_changed, sizeof(*l->changed), by_rev);
    for (size_t i = 0; i < l->n_changed; i++)
        arrival_add(train_at(t, l->r, l->changed[i].mod_rev), STORE_PUT, &l->changed[i]);
    (void)train_at(t, l->r, list->rev);
    return add_deletes(l, t, list->rev, err);
}

/* Everything that has arrived must be in the mirror, to be compared. */
static int relist(struct remote *r, struct err *err)
{
    struct relist l = { .r = r };
    struct list list;
    struct train t = { 0 };
    int res = store_wait(r->store, r->last_rev, REMOTE_START_MS * NS_PER_MS, err);
    if (res < 0)
        return res;
    arena_init(&l.arena);
    list_init(&list, r, 0);
    res = relist_all(&l, &list, &t, err);
    if (res == 0) {
        log_warn("etcd has dropped what this server had not seen yet; it has listed all anew",
                 LOG_INT("revision", list.rev));
        t.break_rev = list.rev;
        train_leave(&t, r);
    }
    train_drop(&t);
    list_done(&list);
    map_done(&l.there);
    free(l.changed);
    arena_done(&l.arena);
    return res;
}

/* ---- The watch ---- */

struct watch {
    struct remote *r;
    struct grpc_stream *stream;
    struct train train; /* of the last revision, which may go on */
    struct arena arena; /* of one message */
    struct buf message;
    bool is_created;
};

static void take_event(struct watch *w, const struct remote_event *ev)
{
    struct remote *r = w->r;
    struct store_entry e = { 0 };
    if (ev->kv.mod_rev <= r->last_rev)
        return;
    if (w->train.last && w->train.last->arrival.txn.rev != ev->kv.mod_rev)
        train_leave(&w->train, r);
    struct arrival *a = train_at(&w->train, r, ev->kv.mod_rev);
    if (convert(r, &w->arena, &ev->kv, &e))
        arrival_add(a, ev->is_delete ? STORE_DELETE : STORE_PUT, &e);
}

static void take_progress(struct watch *w, uint64_t rev)
{
    if (rev <= w->r->last_rev)
        return;
    (void)train_at(&w->train, w->r, rev);
    train_leave(&w->train, w->r);
}

/* 1: go on; ERR_EXPIRED: etcd has dropped it; else it has ended the watch. */
static int take_news(struct watch *w, struct err *err)
{
    struct remote_news news;
    arena_reset(&w->arena);
    if (!remote_news_read(&w->arena, buf_str(&w->message), &news))
        return err_set(err, ERR_UNAVAILABLE, "etcd has sent what cannot be read");
    if (news.canceled && news.compact_rev)
        return err_set(err, ERR_EXPIRED, "etcd has dropped revision %" PRIu64, w->r->last_rev + 1);
    if (news.canceled)
        return err_set(err, ERR_UNAVAILABLE, "etcd has ended the watch: " STR_FMT,
                       STR_ARG(news.reason));
    w->is_created |= news.created;
    for (size_t i = 0; i < news.n_events; i++)
        take_event(w, &news.events[i]);
    if (news.n_events && !news.fragment)
        train_leave(&w->train, w->r);
    if (!news.n_events && !news.created && news.watch_id >= 0)
        take_progress(w, news.rev);
    return 1;
}

static bool is_stopping(struct remote *r)
{
    (void)pthread_mutex_lock(&r->stream_lock);
    bool stops = r->watch_stops;
    (void)pthread_mutex_unlock(&r->stream_lock);
    return stops;
}

/* Until it ends: a negative code. A member that others have left is left here, too. */
static int follow(struct watch *w, size_t member, struct err *err)
{
    enum { LOOK_MS = 200, CREATE_MS = REMOTE_TRY_MS };
    int64_t created_until = remote__now() + CREATE_MS * NS_PER_MS;
    for (;;) {
        struct grpc_result result = { 0 };
        int res = grpc_stream_receive(w->stream, LOOK_MS, &w->message, &result, &w->arena, NULL);
        if (is_stopping(w->r))
            return -ERR_GONE;
        if (res == 0)
            return err_set(err, ERR_UNAVAILABLE, "the watch has ended: " STR_FMT,
                           STR_ARG(result.message));
        if (res > 0) {
            res = take_news(w, err);
            if (res < 0)
                return res;
        } else if (!w->is_created && remote__now() > created_until) {
            return err_set(err, ERR_TIMEOUT, "no watch was made in time");
        } else if (w->r->current != member) {
            return err_set(err, ERR_UNAVAILABLE, "another member is asked from now on");
        }
    }
}

static int watch_once(struct remote *r, struct err *err)
{
    struct watch w = { .r = r };
    autobuf request = { 0 };
    autobuf token = { 0 };
    struct http_header metadata[2];
    size_t member = r->current, n = remote__metadata(r, &token, metadata);
    int res = grpc_stream_open(r->members[member], STR("/etcdserverpb.Watch/Watch"), metadata, n,
                               &w.stream, err);
    if (res < 0)
        return res;
    arena_init(&w.arena);
    remote_watch_write(&request, r->range_key, r->range_end, r->last_rev + 1);
    (void)grpc_stream_send(w.stream, buf_str(&request), NULL);
    res = follow(&w, member, err);
    if (res == -ERR_UNAVAILABLE || res == -ERR_TIMEOUT)
        remote__rotate(r, member);
    grpc_stream_free(w.stream);
    train_drop(&w.train);
    buf_done(&w.message);
    arena_done(&w.arena);
    return res;
}

static void rest(struct remote *r, int64_t ms)
{
    (void)pthread_mutex_lock(&r->stream_lock);
    if (!r->watch_stops)
        remote__sleep(&r->watch_moved, &r->stream_lock, remote__now() + ms * NS_PER_MS);
    (void)pthread_mutex_unlock(&r->stream_lock);
}

void *remote__watch_main(void *arg)
{
    enum { PAUSE_MIN_MS = 20, PAUSE_MAX_MS = 1000 };
    struct remote *r = arg;
    struct arena a;
    int64_t pause_ms = PAUSE_MIN_MS;
    arena_init(&a);
    while (!is_stopping(r)) {
        struct err err = ERR_INIT(&a);
        uint64_t before = r->last_rev;
        int res = watch_once(r, &err);
        if (res == -ERR_EXPIRED) {
            err_clear(&err);
            res = relist(r, &err);
        }
        if (is_stopping(r))
            break;
        if (res == -ERR_UNAVAILABLE && r->n_members == 1)
            remote__note_lost(r, &err);
        else if (res < 0)
            log_warn("the mirror of etcd does not follow", LOG_ERR(&err));
        pause_ms = r->last_rev != before     ? PAUSE_MIN_MS
                   : pause_ms < PAUSE_MAX_MS ? 2 * pause_ms
                                             : PAUSE_MAX_MS;
        if (res < 0)
            rest(r, pause_ms);
        arena_reset(&a);
    }
    arena_done(&a);
    return NULL;
}
