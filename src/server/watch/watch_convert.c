/* watch_convert.c - events whose objects only a webhook can show in the version of a watch.
 *
 * Such a watch takes its events into a queue of its own, which is bounded, and goes on with them
 * in order when their objects are there. An object is asked for once for all watches of a hub that
 * wait for it. What comes up while a call is under way is asked for with the next one, so a busy
 * kind makes few large calls. There is one call at a time for each version of a kind: a slow
 * webhook holds up nobody but those who need it. Everything runs on the hub's loop. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "server/custom/custom_page.h"
#include "server/watch/watch_internal.h"
#include "base/banned.h"

enum { QUEUE_EVENTS = 128, QUEUE_BYTES = 1 << 20 };

/* A stored object, as the version of its watches has it, or will have it. */
struct watch_object {
    size_t refs;
    struct watch_object *next;   /* in its flight */
    struct watch_flight *flight; /* NULL: it is ready */
    struct store_entry entry;    /* key and value lie in `bytes` */
    struct str name;             /* in the flight's map: the revision, and the key */
    char *bytes;
    struct str fault; /* in `bytes`; a NULL pointer: none */
};

/* An event that waits for its objects, or for those before it. */
struct watch_pending {
    struct watch_pending *next;
    enum store_op_type type;
    struct watch_object *now, *prev; /* NULL: there was nothing before */
    size_t bytes;
};

/* The objects of one version of a kind. */
struct watch_flight {
    struct watch_flight *next;
    struct watch_hub *hub;
    struct custom *custom; /* a reference */
    const struct custom_version *to;
    struct map by_name;
    struct custom_page *page;            /* that is away */
    struct watch_object *away, *waiting; /* with a reference each */
    struct watch_object **waiting_end;
};

/* ---- Objects ---- */

static struct watch_object *object_unref(struct watch_object *o)
{
    if (o && --o->refs == 0) {
        free(o->bytes);
        free(o);
    }
    return NULL;
}

/* Revision and key, the key, the value. */
static void set_entry(struct watch_object *o, const struct store_entry *e)
{
    size_t name = sizeof(e->mod_rev) + e->key.n;
    char *bytes = mem_alloc(name + e->value.n);
    memcpy(bytes, &e->mod_rev, sizeof(e->mod_rev));
    memcpy(bytes + sizeof(e->mod_rev), e->key.p, e->key.n);
    if (e->value.n)
        memcpy(bytes + name, e->value.p, e->value.n);
    free(o->bytes);
    o->bytes = bytes;
    o->entry = *e;
    o->entry.key = (struct str){ bytes + sizeof(e->mod_rev), e->key.n };
    o->entry.value = (struct str){ bytes + name, e->value.n };
    o->name = (struct str){ bytes, name };
}

static struct watch_object *object_new(const struct store_entry *e)
{
    struct watch_object *o = mem_new(struct watch_object);
    o->refs = 1;
    set_entry(o, e);
    return o;
}

static void set_fault(struct watch_object *o, struct str why)
{
    free(o->bytes);
    o->bytes = mem_dup(why.p, why.n);
    o->fault = (struct str){ o->bytes, why.n };
    o->entry = (struct store_entry){ 0 };
}

/* ---- Flights ---- */

static struct watch_flight *find_flight(struct watch_hub *hub, const struct custom_version *to)
{
    for (struct watch_flight *f = hub->flights; f; f = f->next)
        if (f->to == to)
            return f;
    struct watch_flight *f = mem_new(struct watch_flight);
    f->next = hub->flights;
    f->hub = hub;
    f->to = to;
    f->custom = custom_ref(to->of);
    f->waiting_end = &f->waiting;
    hub->flights = f;
    return f;
}

static void free_objects(struct watch_object *first)
{
    while (first) {
        struct watch_object *o = first;
        first = o->next;
        o->flight = NULL;
        object_unref(o);
    }
}

static void free_flight(struct watch_flight *f)
{
    free_objects(f->away);
    free_objects(f->waiting);
    custom_page_drop(f->page);
    map_done(&f->by_name);
    custom_unref(f->custom);
    free(f);
}

void watch_flights_drop(struct watch_hub *hub)
{
    while (hub->flights) {
        struct watch_flight *f = hub->flights;
        hub->flights = f->next;
        free_flight(f);
    }
}

/* The reference is the caller's. */
static struct watch_object *object_of(struct watcher *w, const struct store_entry *e)
{
    if (!custom_page_wanted(w->kind, e))
        return object_new(e);
    struct watch_flight *f = find_flight(w->hub, w->kind);
    struct watch_object *fresh = object_new(e), *o = map_get(&f->by_name, fresh->name);
    if (o) {
        object_unref(fresh);
        o->refs++;
        return o;
    }
    fresh->refs++;
    fresh->flight = f;
    *f->waiting_end = fresh;
    f->waiting_end = &fresh->next;
    (void)map_set(&f->by_name, fresh->name, fresh);
    watch_hub_post_launch(w->hub);
    return fresh;
}

/* ---- There and back ---- */

static void on_page(void *arg, struct custom_page *p);

/* The next of those that wait; those that nobody wants any more are left out. */
static struct watch_object *next_waiting(struct watch_flight *f)
{
    while (f->waiting) {
        struct watch_object *o = f->waiting;
        f->waiting = o->next;
        o->next = NULL;
        if (!f->waiting)
            f->waiting_end = &f->waiting;
        if (o->refs > 1)
            return o;
        (void)map_remove(&f->by_name, o->name);
        object_unref(o);
    }
    return NULL;
}

/* False if there is nothing to ask for. */
static bool launch(struct watch_flight *f)
{
    const struct custom_page_options options = {
        .api = f->hub->api,
        .loop = f->hub->loop,
        .to = f->to,
        .one_by_one = true,
        .done = on_page,
        .arg = f,
    };
    struct watch_object *o, **end = &f->away;
    f->page = custom_page_new(&options);
    while (!custom_page_is_full(f->page) && (o = next_waiting(f))) {
        custom_page_add(f->page, &o->entry);
        *end = o;
        end = &o->next;
    }
    if (f->away && !custom_page_send(f->page))
        on_page(f, f->page); /* there are too many already */
    return f->away || f->waiting;
}

/* What has come back is ready. */
static void land(struct watch_flight *f)
{
    struct arena a;
    arena_init(&a);
    for (struct watch_object *o = f->away; o; o = o->next) {
        struct store_entry entry;
        struct err err = ERR_INIT(&a);
        (void)map_remove(&f->by_name, o->name);
        if (custom_page_next(f->page, &entry, &err) == 1)
            set_entry(o, &entry);
        else
            set_fault(o, err.msg);
    }
    arena_done(&a);
    free_objects(f->away);
    f->away = NULL;
    f->page = custom_page_drop(f->page);
}

static void deliver_all(struct watch_hub *hub)
{
    for (struct watcher *w = hub->first, *next; w; w = next) {
        next = w->next;
        if (w->queue)
            watch_queue_deliver(w);
    }
}

static void on_page(void *arg, struct custom_page *p)
{
    struct watch_flight *f = arg;
    (void)p;
    land(f);
    watch_hub_post_launch(f->hub);
    deliver_all(f->hub);
}

void watch_flights_launch(struct watch_hub *hub)
{
    struct watch_flight **link = &hub->flights;
    while (*link) {
        struct watch_flight *f = *link;
        if (f->page || launch(f)) {
            link = &f->next;
            continue;
        }
        *link = f->next;
        free_flight(f);
    }
}

/* ---- The queue of a watch ---- */

/* What was there before matters if it is shown, or if it is to be seen whether it was selected. */
static bool needs_prev(const struct watcher *w, const struct store_event *ev)
{
    bool by_key = labels_empty(&w->sel.labels) && (w->sel.by_key || !w->sel.fields.n);
    return ev->prev.mod_rev && (ev->type == STORE_DELETE || !by_key);
}

bool watch_queue_wants(const struct watcher *w, const struct store_event *ev)
{
    return w->queue || custom_page_wanted(w->kind, &ev->now) ||
           (needs_prev(w, ev) && custom_page_wanted(w->kind, &ev->prev));
}

static bool is_full(const struct watcher *w)
{
    return w->n_queued >= QUEUE_EVENTS || w->queued_bytes >= QUEUE_BYTES;
}

bool watch_queue_add(struct watcher *w, const struct store_event *ev)
{
    if (is_full(w))
        return false;
    struct watch_pending *p = mem_new(struct watch_pending);
    p->type = ev->type;
    p->bytes = ev->now.value.n + ev->prev.value.n;
    p->now = object_of(w, &ev->now);
    if (needs_prev(w, ev))
        p->prev = object_of(w, &ev->prev);
    else if (ev->prev.mod_rev)
        p->prev = object_new(&(struct store_entry){
            ev->prev.key, { NULL, 0 }, ev->prev.create_rev, ev->prev.mod_rev });
    if (!w->queue)
        w->queue_end = &w->queue;
    *w->queue_end = p;
    w->queue_end = &p->next;
    w->n_queued++;
    w->queued_bytes += p->bytes;
    return true;
}

static void pending_free(struct watch_pending *p)
{
    object_unref(p->now);
    object_unref(p->prev);
    free(p);
}

void watch_queue_drop(struct watcher *w)
{
    while (w->queue) {
        struct watch_pending *p = w->queue;
        w->queue = p->next;
        pending_free(p);
    }
    w->n_queued = w->queued_bytes = 0;
}

static struct watch_pending *pop(struct watcher *w)
{
    struct watch_pending *p = w->queue;
    w->queue = p->next;
    w->n_queued--;
    w->queued_bytes -= p->bytes;
    return p;
}

static bool is_ready(const struct watch_pending *p)
{
    return !p->now->flight && !(p->prev && p->prev->flight);
}

/* False if that has ended the watch. */
static bool show(struct watcher *w, const struct watch_pending *p)
{
    struct err err = ERR_INIT(w->c->arena);
    struct str fault = p->now->fault.p ? p->now->fault
                       : p->prev       ? p->prev->fault
                                       : (struct str){ NULL, 0 };
    if (fault.p) {
        (void)err_set(&err, ERR_UNKNOWN, STR_FMT, STR_ARG(fault));
        watcher_fail(w, &err);
        return false;
    }
    struct store_event ev = { .type = p->type, .now = p->now->entry };
    if (p->prev)
        ev.prev = p->prev->entry;
    return watcher_show(w, &ev);
}

void watch_queue_deliver(struct watcher *w)
{
    while (w->queue && is_ready(w->queue) && watcher_has_room(w)) {
        struct watch_pending *p = pop(w);
        bool goes_on = show(w, p);
        pending_free(p);
        if (!goes_on)
            return;
    }
    if (!w->queue && w->is_leaving)
        watcher_end(w);
    else if (!is_full(w))
        store_watch_resume(&w->watch);
}
