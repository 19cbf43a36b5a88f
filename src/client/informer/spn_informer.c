/* spn_informer.c - what a reflector finds is applied to a cache, and handlers are told, by a task
 * of the client's pool. */
#include <sampan/informer.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/calls/client.h"
#include "client/informer/informers.h"
#include "client/pool.h"
#include "client/informer/reflector.h"
#include "client/thread.h"
#include "base/banned.h"

struct spn_informer {
    struct spn_informer_options opt; /* texts in the arena */
    struct arena arena;
    struct spn_cache *cache;
    struct delta_fifo *fifo;
    struct spn_stop *stop;
    struct reflector reflector;
    struct pool *pool;
    struct pool_task applier;
    bool is_started;

    pthread_mutex_t lock; /* of what follows; held while handlers are called */
    pthread_cond_t synced;
    struct spn_handler *handlers;
    size_t n_handlers;
    bool has_synced; /* the handlers know everything of the first list */
};

/* ---- Handlers ---- */

static void tell_add(struct spn_informer *i, const struct spn_object *o)
{
    for (size_t k = 0; k < i->n_handlers; k++)
        if (i->handlers[k].on_add)
            i->handlers[k].on_add(i->handlers[k].arg, o, !i->has_synced);
}

static void tell_update(struct spn_informer *i, const struct spn_object *old_o,
                        const struct spn_object *new_o)
{
    for (size_t k = 0; k < i->n_handlers; k++)
        if (i->handlers[k].on_update)
            i->handlers[k].on_update(i->handlers[k].arg, old_o, new_o);
}

static void tell_delete(struct spn_informer *i, const struct spn_object *o, bool is_last_known)
{
    for (size_t k = 0; k < i->n_handlers; k++)
        if (i->handlers[k].on_delete)
            i->handlers[k].on_delete(i->handlers[k].arg, o, is_last_known);
}

static void apply_delete(struct spn_informer *i, const struct delta *d)
{
    struct spn_object *old = spn_cache_remove(i->cache, spn_object_key(d->obj));
    if (old)
        tell_delete(i, d->obj, d->is_tombstone);
    spn_object_unref(old);
}

static void apply_put(struct spn_informer *i, const struct delta *d)
{
    struct spn_object *old;
    spn_cache_put(i->cache, d->obj, &old);
    if (old)
        tell_update(i, old, d->obj);
    else
        tell_add(i, d->obj);
    spn_object_unref(old);
}

static void note_synced(struct spn_informer *i)
{
    if (i->has_synced || !delta_fifo_has_synced(i->fifo))
        return;
    i->has_synced = true;
    (void)pthread_cond_broadcast(&i->synced);
}

static void apply(struct spn_informer *i, const struct deltas *all)
{
    (void)pthread_mutex_lock(&i->lock);
    note_synced(i); /* the end of the first list may have come behind its last object */
    for (size_t k = 0; k < all->n; k++) {
        if (all->items[k].type == DELTA_DELETED)
            apply_delete(i, &all->items[k]);
        else
            apply_put(i, &all->items[k]);
    }
    delta_fifo_popped(i->fifo);
    note_synced(i);
    (void)pthread_mutex_unlock(&i->lock);
}

void spn_informer_handle(struct spn_informer *i, const struct spn_handler *h)
{
    struct spn_objects all = { 0 };
    (void)pthread_mutex_lock(&i->lock);
    spn_cache_list(i->cache, SPN_TEXT(""), false, &all);
    for (size_t k = 0; h->on_add && k < all.n; k++)
        h->on_add(h->arg, all.items[k], true);
    i->handlers = mem_resize(i->handlers, i->n_handlers + 1, sizeof(*i->handlers));
    i->handlers[i->n_handlers++] = *h;
    (void)pthread_mutex_unlock(&i->lock);
    spn_objects_done(&all);
}

/* ---- Running ---- */

static void on_more(void *arg)
{
    struct spn_informer *i = arg;
    pool_wake(i->pool, &i->applier);
}

/* Some keys; if there are more, others get their turn first. An empty first list has nothing to
 * pop: who asks whether it has synced finds that out. */
static void apply_some(struct pool_task *t)
{
    enum { AT_ONCE = 256 };
    struct spn_informer *i = container_of(t, struct spn_informer, applier);
    struct deltas all;
    for (int n = 0; n < AT_ONCE; n++) {
        if (!delta_fifo_pop(i->fifo, &all))
            return;
        apply(i, &all);
        deltas_done(&all);
    }
    pool_wake(i->pool, t);
}

int spn_informer_start(struct spn_informer *i, struct spn_err *err)
{
    if (i->is_started)
        return 0;
    if (!pool_start(i->pool) || !reflector_start(&i->reflector))
        return spn_err_set(err, SPN_UNAVAILABLE, "no thread for an informer");
    i->is_started = true;
    return 0;
}

/* What was found before is still told. */
void spn_informer_stop(struct spn_informer *i)
{
    spn_stop_set(i->stop);
    reflector_join(&i->reflector);
    delta_fifo_close(i->fifo);
    pool_settle(i->pool, &i->applier);
    i->is_started = false;
}

/* ---- Beginning and end ---- */

static struct spn_text copy_text(struct arena *a, struct spn_text t)
{
    return text_out(arena_str(a, str_in(t)));
}

static const char *copy_cstr(struct arena *a, const char *text)
{
    return text ? str_cstr(a, str_of(text)) : NULL;
}

enum { TEXTS_BYTES = 256 }; /* of the usual options */

struct spn_informer *spn_informer_new(struct spn_client *c, const struct spn_informer_options *opt)
{
    struct spn_informer *i = mem_new(struct spn_informer);
    struct arena *a = &i->arena;
    arena_init(a);
    arena_expect(a, TEXTS_BYTES);
    i->opt = *opt;
    i->opt.what = (struct spn_target){ .group = copy_text(a, opt->what.group),
                                       .version = copy_text(a, opt->what.version),
                                       .plural = copy_text(a, opt->what.plural),
                                       .ns = copy_text(a, opt->what.ns) };
    i->opt.labels = copy_cstr(a, opt->labels);
    i->opt.fields = copy_cstr(a, opt->fields);
    if (opt->what.name.n) { /* one object is a list by its name */
        struct str only = arena_printf(a, "metadata.name=" SPN_FMT "%s%s", SPN_ARG(opt->what.name),
                                       opt->fields ? "," : "", opt->fields ? opt->fields : "");
        i->opt.fields = str_cstr(a, only);
    }
    i->cache = spn_cache_new();
    i->pool = client_pool(c);
    i->applier.run = apply_some;
    i->fifo = delta_fifo_new(i->cache, on_more, i);
    i->stop = spn_stop_new();
    reflector_init(&i->reflector, c, &i->opt, i->fifo, i->stop);
    (void)pthread_mutex_init(&i->lock, NULL);
    cond_init_monotonic(&i->synced);
    return i;
}

struct spn_informer *spn_informer_free(struct spn_informer *i)
{
    if (!i)
        return NULL;
    spn_informer_stop(i);
    reflector_done(&i->reflector);
    delta_fifo_free(i->fifo);
    spn_cache_free(i->cache);
    spn_stop_free(i->stop);
    (void)pthread_mutex_destroy(&i->lock);
    (void)pthread_cond_destroy(&i->synced);
    free(i->handlers);
    arena_done(&i->arena);
    free(i);
    return NULL;
}

struct spn_cache *spn_informer_cache(struct spn_informer *i)
{
    return i->cache;
}

/* ---- Asking ---- */

bool spn_informer_has_synced(struct spn_informer *i)
{
    (void)pthread_mutex_lock(&i->lock);
    note_synced(i);
    bool yes = i->has_synced;
    (void)pthread_mutex_unlock(&i->lock);
    return yes;
}

static bool wait_until(struct spn_informer *i, struct spn_stop *stop, int64_t ms,
                       bool (*is_good)(struct spn_informer *i))
{
    enum { LOOK_EVERY_MS = 5 };
    int64_t end = clock_mono_ns(&clock_system) + ms * NS_PER_MS;
    while (!is_good(i)) {
        if (spn_stop_is_set(stop) || (ms >= 0 && clock_mono_ns(&clock_system) >= end))
            return false;
        int64_t until = clock_mono_ns(&clock_system) + LOOK_EVERY_MS * NS_PER_MS;
        (void)pthread_mutex_lock(&i->lock);
        if (!i->has_synced)
            (void)cond_wait_until(&i->synced, &i->lock, until);
        (void)pthread_mutex_unlock(&i->lock);
    }
    return true;
}

bool spn_informer_wait(struct spn_informer *i, struct spn_stop *stop, int64_t ms)
{
    return wait_until(i, stop, ms, spn_informer_has_synced);
}

static bool has_synced_or_is_absent(struct spn_informer *i)
{
    return atomic_load(&i->reflector.is_absent) || spn_informer_has_synced(i);
}

bool informer_wait_served(struct spn_informer *i, struct spn_stop *stop, int64_t ms)
{
    return wait_until(i, stop, ms, has_synced_or_is_absent);
}

void spn_informer_stats(struct spn_informer *i, struct spn_informer_stats *ret)
{
    reflector_stats(&i->reflector, ret);
    ret->objects = spn_cache_count(i->cache);
    ret->bytes = spn_cache_bytes(i->cache);
    ret->queued = delta_fifo_length(i->fifo);
}
