/* delta_fifo.c - an entry for each key with something to tell, in a set and in a list.
 *
 * What was popped is neither queued nor known until the consumer has taken it over. Its newest
 * change is remembered for that time: whoever asks what there is of the key is answered from it. */
#include "client/informer/delta_fifo.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "client/informer/cache_index.h"
#include "base/keyed.h"
#include "base/banned.h"

struct delta_entry {
    struct delta_entry *next;
    struct delta *items;
    uint32_t n, cap;
};

struct delta_fifo {
    struct spn_cache *known;
    void (*on_more)(void *arg);
    void *arg;

    pthread_mutex_t lock; /* of everything below */
    struct keyed entries;
    struct delta_entry *first, *last;
    struct delta popped; /* .obj is NULL: everything that was popped was taken over */
    size_t n_first;      /* of the first keys, those that were not taken over */
    bool is_begun, is_closed;
    bool is_awaited; /* the consumer has found nothing, and nobody has told it of more */
};

/* ---- Deltas ---- */

void deltas_done(struct deltas *d)
{
    for (size_t i = 0; i < d->n; i++)
        spn_object_unref(d->items[i].obj);
    free(d->items);
    *d = (struct deltas){ 0 };
}

static struct delta *newest(const struct delta_entry *e)
{
    return &e->items[e->n - 1];
}

static struct str entry_key(const void *thing)
{
    return cache_object_key(newest(thing)->obj);
}

static void append(struct delta_entry *e, struct delta d)
{
    if (e->n == e->cap) {
        e->cap = e->cap ? e->cap * 2 : 1;
        e->items = mem_resize(e->items, e->cap, sizeof(*e->items));
    }
    e->items[e->n++] = d;
}

/* Of two deletions in a row the one that was seen counts, not the one that was concluded. */
static void merge_deletion(struct delta_entry *e, struct delta d)
{
    struct delta *before = newest(e);
    struct spn_object *unwanted = before->is_tombstone ? before->obj : d.obj;
    if (before->is_tombstone)
        *before = d;
    spn_object_unref(unwanted);
}

static void free_entry(struct delta_entry *e)
{
    struct deltas d = { .items = e->items, .n = e->n };
    deltas_done(&d);
    free(e);
}

/* ---- A queue ---- */

struct delta_fifo *delta_fifo_new(struct spn_cache *known, void (*on_more)(void *arg), void *arg)
{
    struct delta_fifo *f = mem_new(struct delta_fifo);
    f->known = known;
    f->on_more = on_more;
    f->arg = arg;
    f->is_awaited = true;
    f->entries.key_of = entry_key;
    /* Held for moments only, by threads that hand things to each other: to spin is cheaper than
     * to sleep. */
    f->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    return f;
}

struct delta_fifo *delta_fifo_free(struct delta_fifo *f)
{
    if (!f)
        return NULL;
    for (struct delta_entry *next, *e = f->first; e; e = next) {
        next = e->next;
        free_entry(e);
    }
    keyed_done(&f->entries);
    spn_object_unref(f->popped.obj);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
    return NULL;
}

static void lock(struct delta_fifo *f)
{
    (void)pthread_mutex_lock(&f->lock);
}

/* Whoever has put something in tells the consumer, once it could have the lock. */
static void unlock(struct delta_fifo *f)
{
    bool wakes = f->is_awaited && f->first;
    f->is_awaited &= !wakes;
    (void)pthread_mutex_unlock(&f->lock);
    if (wakes)
        f->on_more(f->arg);
}

/* ---- Filling ---- */

static void add_entry(struct delta_fifo *f, struct delta d)
{
    struct delta_entry *e = mem_new(struct delta_entry);
    append(e, d);
    keyed_put(&f->entries, e);
    if (f->last)
        f->last->next = e;
    else
        f->first = e;
    f->last = e;
}

/* Takes a reference. */
static void enqueue(struct delta_fifo *f, enum delta_type type, bool is_tombstone,
                    const struct spn_object *o)
{
    struct delta d = { type, is_tombstone, spn_object_ref(o) };
    struct delta_entry *e = keyed_get(&f->entries, cache_object_key(o));
    if (!e)
        add_entry(f, d);
    else if (type == DELTA_DELETED && newest(e)->type == DELTA_DELETED)
        merge_deletion(e, d);
    else
        append(e, d);
}

static bool is_popped(const struct delta_fifo *f, struct str key)
{
    return f->popped.obj && str_eq(cache_object_key(f->popped.obj), key);
}

static bool is_known(struct delta_fifo *f, struct str key)
{
    struct spn_object *o = spn_cache_get(f->known, text_out(key));
    spn_object_unref(o);
    return o;
}

/* Whether the consumer has it, or will have it when it has taken over everything. */
static bool is_there(struct delta_fifo *f, struct str key)
{
    if (keyed_get(&f->entries, key))
        return true;
    return is_popped(f, key) ? f->popped.type != DELTA_DELETED : is_known(f, key);
}

/* What is queued now, or is not taken over, is what must be popped first. */
static void note_begun(struct delta_fifo *f)
{
    if (f->is_begun)
        return;
    f->is_begun = true;
    f->n_first = f->entries.n + (f->popped.obj != NULL);
}

void delta_fifo_begin(struct delta_fifo *f, struct spn_object *const *objs, size_t n)
{
    lock(f);
    assert(!f->is_begun);
    for (size_t i = 0; i < n && !f->is_closed; i++)
        enqueue(f, DELTA_REPLACED, false, objs[i]);
    unlock(f);
}

void delta_fifo_begun(struct delta_fifo *f)
{
    lock(f);
    note_begun(f);
    unlock(f);
}

void delta_fifo_put(struct delta_fifo *f, enum delta_type type, struct spn_object *o)
{
    lock(f);
    if (!f->is_closed) {
        if (type != DELTA_DELETED || is_there(f, cache_object_key(o)))
            enqueue(f, type, false, o);
        note_begun(f);
    }
    unlock(f);
}

static void bury(struct delta_fifo *f, const struct keyed *listed, const struct spn_object *o)
{
    if (!keyed_get(listed, cache_object_key(o)))
        enqueue(f, DELTA_DELETED, true, o);
}

/* No key is added here: all of them are queued already. */
static void bury_queued(struct delta_fifo *f, const struct keyed *listed)
{
    for (struct delta_entry *e = f->first; e; e = e->next)
        bury(f, listed, newest(e)->obj);
}

static void bury_popped(struct delta_fifo *f, const struct keyed *listed)
{
    const struct delta *d = &f->popped;
    if (d->obj && d->type != DELTA_DELETED && !keyed_get(&f->entries, cache_object_key(d->obj)))
        bury(f, listed, d->obj);
}

static bool is_settled(const struct delta_fifo *f, const struct spn_object *o)
{
    struct str key = cache_object_key(o);
    return !keyed_get(&f->entries, key) && !is_popped(f, key);
}

static void bury_known(struct delta_fifo *f, const struct keyed *listed)
{
    struct spn_objects known;
    spn_cache_list(f->known, SPN_TEXT(""), true, &known);
    for (size_t i = 0; i < known.n; i++)
        if (is_settled(f, known.items[i]))
            bury(f, listed, known.items[i]);
    spn_objects_done(&known);
}

static void replace(struct delta_fifo *f, struct spn_object *const *objs, size_t n)
{
    struct keyed listed = { .key_of = cache_object_key };
    for (size_t i = 0; i < n; i++) {
        keyed_put(&listed, objs[i]);
        enqueue(f, DELTA_REPLACED, false, objs[i]);
    }
    bury_queued(f, &listed);
    bury_popped(f, &listed);
    bury_known(f, &listed);
    keyed_done(&listed);
}

void delta_fifo_replace(struct delta_fifo *f, struct spn_object *const *objs, size_t n)
{
    lock(f);
    if (!f->is_closed) {
        replace(f, objs, n);
        note_begun(f);
    }
    unlock(f);
}

static void resync(struct delta_fifo *f)
{
    struct spn_objects known;
    spn_cache_list(f->known, SPN_TEXT(""), true, &known);
    for (size_t i = 0; i < known.n; i++)
        if (is_settled(f, known.items[i]))
            enqueue(f, DELTA_SYNC, false, known.items[i]);
    spn_objects_done(&known);
}

void delta_fifo_resync(struct delta_fifo *f)
{
    lock(f);
    if (!f->is_closed)
        resync(f);
    unlock(f);
}

/* ---- Emptying ---- */

static struct delta_entry *take_first(struct delta_fifo *f)
{
    struct delta_entry *e = f->first;
    keyed_remove(&f->entries, entry_key(e));
    f->first = e->next;
    if (!f->first)
        f->last = NULL;
    f->popped = *newest(e);
    spn_object_ref(f->popped.obj);
    return e;
}

bool delta_fifo_pop(struct delta_fifo *f, struct deltas *ret)
{
    lock(f);
    assert(!f->popped.obj);
    f->is_awaited = !f->first;
    struct delta_entry *e = f->first ? take_first(f) : NULL;
    unlock(f);
    if (!e)
        return false;
    *ret = (struct deltas){ text_out(entry_key(e)), e->items, e->n };
    free(e);
    return true;
}

void delta_fifo_popped(struct delta_fifo *f)
{
    lock(f);
    struct spn_object *o = take(&f->popped.obj);
    if (f->n_first)
        f->n_first--;
    unlock(f);
    spn_object_unref(o);
}

bool delta_fifo_has_synced(struct delta_fifo *f)
{
    lock(f);
    bool has_synced = f->is_begun && !f->n_first;
    unlock(f);
    return has_synced;
}

size_t delta_fifo_length(struct delta_fifo *f)
{
    lock(f);
    size_t n = f->entries.n;
    unlock(f);
    return n;
}

void delta_fifo_close(struct delta_fifo *f)
{
    lock(f);
    f->is_closed = true;
    unlock(f);
}
