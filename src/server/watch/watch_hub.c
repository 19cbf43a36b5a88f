/* watch_hub.c - all watches of one loop: the feed that drives them, and what they share.
 *
 * The live watches of a feed get an event one after the other, so what one has made of it serves
 * the next: the trees that selectors look at and the bytes of each form stay until another event
 * comes. Bytes of a large object stay as long as any watch has to send them, so that thousands of
 * clients that do not read hold it once. */
#include "base/idiom.h"
#include "server/watch/watch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "server/watch/watch_internal.h"
#include "base/banned.h"

enum { SHARED_BYTES = 16 << 10 }; /* of a stored object; smaller ones are not worth a name */

/* ---- Shared bytes ---- */

struct watch_bytes *watch_bytes_new(struct buf *from)
{
    struct watch_bytes *b = mem_alloc(sizeof(*b) + from->n);
    b->refs = 1;
    b->hub = NULL;
    b->name_n = 0;
    b->n = from->n;
    if (from->n)
        memcpy(b->bytes, from->p, from->n);
    buf_reset(from);
    return b;
}

static struct str name_of(const struct watch_bytes *b)
{
    return (struct str){ b->bytes + b->n, b->name_n };
}

struct watch_bytes *watch_bytes_unref(struct watch_bytes *b)
{
    if (!b || --b->refs)
        return NULL;
    if (b->hub)
        (void)map_remove(&b->hub->shared, name_of(b));
    free(b);
    return NULL;
}

/* ---- The event at hand ---- */

static void forget(struct watch_hub *hub)
{
    for (size_t i = 0; i < hub->n_cached; i++)
        watch_bytes_unref(hub->cache[i].bytes);
    hub->n_cached = 0;
    hub->rev = 0;
    hub->seen = (struct encoder){ 0 };
    arena_reset(&hub->arena);
}

void watch_hub_show(struct watch_hub *hub, const struct store_event *ev, const struct encoder *e)
{
    bool is_same = hub->rev == ev->now.mod_rev && str_eq(buf_str(&hub->key), ev->now.key);
    if (!is_same) {
        forget(hub);
        hub->rev = ev->now.mod_rev;
        buf_reset(&hub->key);
        buf_str_add(&hub->key, ev->now.key);
    }
    /* The bytes of the entries move from one delivery to the next; what was read from them does
     * not. */
    if (hub->seen.resource != e->resource) {
        hub->seen = *e;
        hub->now = hub->prev =
            (struct selection_subject){ .arena = &hub->arena, .encoder = &hub->seen };
    }
    hub->now.entry = ev->now;
    /* What was there is shown as of the event that ended it. */
    hub->prev.entry = ev->prev;
    hub->prev.entry.mod_rev = ev->now.mod_rev;
}

static bool is_form(const struct watch_cached *a, const struct watch_cached *b)
{
    return a->type == b->type && a->resource == b->resource && a->include == b->include &&
           a->columns == b->columns && a->format.media == b->format.media &&
           a->format.as == b->format.as && a->format.beta == b->format.beta &&
           a->format.managers == b->format.managers;
}

static struct watch_bytes *find(struct watch_hub *hub, const struct watch_cached *form)
{
    for (size_t i = 0; i < hub->n_cached; i++) {
        if (!is_form(&hub->cache[i], form))
            continue;
        hub->cache[i].bytes->refs++;
        return hub->cache[i].bytes;
    }
    return NULL;
}

static void keep(struct watch_hub *hub, const struct watch_cached *form, struct watch_bytes *bytes)
{
    if (hub->n_cached == WATCH_CACHE)
        return;
    hub->cache[hub->n_cached] = *form;
    hub->cache[hub->n_cached++].bytes = bytes;
    bytes->refs++;
}

/* ---- Large ones ---- */

bool watch_hub_shares(const struct encoder *e, const struct selection_subject *subject)
{
    /* Rows have ages, and definitions of custom kinds come and go. */
    return subject->entry.value.n >= SHARED_BYTES && e->format.as != FORMAT_TABLE &&
           !e->stored->type->custom;
}

static void shared_name(struct buf *out, const struct watch_cached *form,
                        const struct store_entry *entry)
{
    const struct format *f = &form->format;
    buf_printf(out, "%llu %d %d %d %d %d %p ", (unsigned long long)entry->mod_rev, (int)form->type,
               (int)f->media, (int)f->as, (int)f->beta, (int)f->managers,
               (const void *)form->resource);
    buf_str_add(out, entry->key);
}

static struct watch_bytes *encode_large(struct watch_hub *hub, const struct watch_cached *form,
                                        const struct encoder *e, struct selection_subject *subject,
                                        struct err *err)
{
    autobuf name = { 0 }, text = { 0 };
    shared_name(&name, form, &subject->entry);
    struct watch_bytes *bytes = map_get(&hub->shared, buf_str(&name));
    if (bytes) {
        bytes->refs++;
        return bytes;
    }
    if (watch_event_object(&text, e, form->type, subject, form->columns, err) < 0)
        return NULL;
    buf_str_add(&text, buf_str(&name));
    bytes = watch_bytes_new(&text);
    bytes->hub = hub;
    bytes->name_n = name.n;
    bytes->n -= name.n;
    (void)map_set(&hub->shared, name_of(bytes), bytes);
    return bytes;
}

struct watch_bytes *watch_hub_encode(struct watch_hub *hub, const struct watch_cached *form,
                                     const struct encoder *e, struct selection_subject *subject,
                                     struct err *err)
{
    bool is_shared = subject == &hub->now || subject == &hub->prev;
    struct watch_bytes *bytes = is_shared ? find(hub, form) : NULL;
    if (bytes)
        return bytes;
    autobuf text = { 0 };
    if (watch_hub_shares(e, subject))
        bytes = encode_large(hub, form, e, subject, err);
    else if (watch_event_object(&text, e, form->type, subject, form->columns, err) == 0)
        bytes = watch_bytes_new(&text);
    if (bytes && is_shared)
        keep(hub, form, bytes);
    return bytes;
}

/* ---- The feed ---- */

static void post_poll(struct watch_hub *hub)
{
    if (!atomic_exchange(&hub->poll_is_posted, true))
        loop_post(hub->loop, &hub->poll);
}

static void on_wake(void *arg) /* thread: the store's, or the loop's */
{
    post_poll(arg);
}

/* A message that was still in the mailbox when the hub was freed finds it here, and the last one
 * takes the rest away. True if the hub is no more. */
static bool is_over(struct watch_hub *hub)
{
    bool is_free = hub->is_free;
    if (is_free && !atomic_load(&hub->poll_is_posted) && !atomic_load(&hub->close_is_posted) &&
        !atomic_load(&hub->look_is_posted) && !atomic_load(&hub->launch_is_posted))
        free(hub);
    return is_free;
}

static void on_poll(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct watch_hub *hub = container_of(m, struct watch_hub, poll);
    atomic_store(&hub->poll_is_posted, false);
    if (!is_over(hub) && store_feed_poll(hub->feed))
        post_poll(hub);
}

static void on_close(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct watch_hub *hub = container_of(m, struct watch_hub, close);
    atomic_store(&hub->close_is_posted, false);
    if (is_over(hub))
        return;
    hub->is_closing = true;
    while (hub->first)
        watcher_end(hub->first);
    while (hub->waiters)
        hub->waiters->on_close(hub->waiters);
}

/* Events of before the change are shown before anything ends. */
static void on_look(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct watch_hub *hub = container_of(m, struct watch_hub, look);
    atomic_store(&hub->look_is_posted, false);
    if (is_over(hub))
        return;
    if (store_feed_poll(hub->feed)) {
        post_poll(hub);
        watch_hub_look(hub);
        return;
    }
    for (struct watcher *w = hub->first, *next; w; w = next) {
        next = w->next;
        watcher_look(w);
    }
}

static void on_launch(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct watch_hub *hub = container_of(m, struct watch_hub, launch);
    atomic_store(&hub->launch_is_posted, false);
    if (!is_over(hub))
        watch_flights_launch(hub);
}

void watch_hub_remember(struct watch_hub *hub, struct watch_waiter *w)
{
    w->next = hub->waiters;
    w->link = &hub->waiters;
    if (w->next)
        w->next->link = &w->next;
    hub->waiters = w;
}

void watch_hub_forget(struct watch_waiter *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
}

void watch_hub_post_launch(struct watch_hub *hub)
{
    if (!atomic_exchange(&hub->launch_is_posted, true))
        loop_post(hub->loop, &hub->launch);
}

void watch_hub_look(struct watch_hub *hub)
{
    if (!atomic_exchange(&hub->look_is_posted, true))
        loop_post(hub->loop, &hub->look);
}

void watch_hubs_look(struct api *api)
{
    for (size_t i = 0; i < api->n_loops; i++)
        watch_hub_look(api->hubs[i]);
}

/* ---- Watches ---- */

void watch_hub_add(struct watch_hub *hub, struct watcher *w)
{
    w->hub = hub;
    w->next = hub->first;
    w->link = &hub->first;
    if (w->next)
        w->next->link = &w->next;
    hub->first = w;
    atomic_fetch_add(&hub->n_watchers, 1);
}

void watch_hub_remove(struct watch_hub *hub, struct watcher *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    atomic_fetch_sub(&hub->n_watchers, 1);
}

struct watch_hub *watch_hub_new(struct api *api, struct loop *loop)
{
    struct watch_hub *hub = mem_new(struct watch_hub);
    hub->api = api;
    hub->loop = loop;
    hub->poll.run = on_poll;
    hub->close.run = on_close;
    hub->look.run = on_look;
    hub->launch.run = on_launch;
    arena_init(&hub->arena);
    hub->feed = store_feed_new(api->store, on_wake, hub);
    return hub;
}

void watch_hub_close(struct watch_hub *hub)
{
    atomic_store(&hub->close_is_posted, true);
    loop_post(hub->loop, &hub->close);
}

struct watch_hub *watch_hub_free(struct watch_hub *hub)
{
    if (!hub)
        return NULL;
    assert(!hub->first);
    watch_flights_drop(hub);
    hub->feed = store_feed_free(hub->feed);
    forget(hub);
    assert(!hub->shared.n);
    map_done(&hub->shared);
    arena_done(&hub->arena);
    buf_done(&hub->key);
    hub->is_free = true;
    (void)is_over(hub);
    return NULL;
}

size_t watch_hub_count(const struct watch_hub *hub)
{
    return atomic_load(&hub->n_watchers);
}
