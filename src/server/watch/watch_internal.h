/* watch_internal.h - the inside of watches, shared by watch.c (one watch), watch_hub.c (all of a
 * loop) and watch_convert.c (what a webhook converts). Everything runs on the hub's loop. */
#pragma once

#include <stdatomic.h>

#include "base/map.h"
#include "net/ws/ws.h"
#include "server/http/await.h"
#include "server/http/call.h"
#include "server/http/selection.h"
#include "server/http/sweep.h"
#include "server/watch/watch.h"
#include "server/watch/watch_event.h"

/* An event as bytes, for all that want it in that form. */
struct watch_bytes {
    size_t refs;
    struct watch_hub *hub; /* in whose `shared` it is; NULL: in none */
    size_t name_n;         /* of its name there, which follows the bytes */
    size_t n;
    char bytes[];
};

/* Takes the bytes out of the buffer, which is left empty; one reference is the caller's. */
struct watch_bytes *watch_bytes_new(struct buf *from);
struct watch_bytes *watch_bytes_unref(struct watch_bytes *b);

struct watch_flight;
struct watch_pending;

enum watcher_phase { WATCHER_WAITS, WATCHER_BEGINS, WATCHER_IS_LIVE };

struct watcher {
    struct store_watch watch;
    struct watch_hub *hub;
    struct watcher *next, **link; /* in the hub's list */
    struct call *c;               /* lies in the exchange: not there once that has ended */
    struct ws *ws;                /* NULL: plain HTTP */
    struct selection sel;
    struct encoder enc;
    struct str prefix;
    enum watcher_phase phase;
    bool has_columns; /* a Table's were sent */
    bool has_ended;

    const struct custom_version *kind; /* that is watched; NULL if it is built in */
    struct custom *custom;             /* its definition, if that has changed: a reference */
    uint64_t kinds_seen;               /* custom_kinds_count() when it was looked up */
    bool is_leaving;                   /* its definition is gone: it ends when the queue is empty */
    struct watch_pending *queue, **queue_end; /* events that it converts */
    size_t n_queued, queued_bytes;

    uint64_t after_rev; /* that the client has seen, or wants to be there; 0: not said */
    struct await await; /* for that one, before the initial objects */
    struct sweep sweep; /* of those */
    struct sweep_cursor at;

    int64_t deadline_ns, bookmark_ns;
    struct loop_timer timer;
};

/* Somebody else who waits for events of a hub's feed: he is told when the server stops. */
struct watch_waiter {
    struct watch_waiter *next, **link;
    void (*on_close)(struct watch_waiter *w); /* forgets itself */
};

enum { WATCH_CACHE = 8 };

/* An event in one form. */
struct watch_cached {
    enum watch_type type;
    struct format format;
    const struct kind_resource *resource;
    enum encode_include include;
    bool columns;
    struct watch_bytes *bytes;
};

struct watch_hub {
    struct api *api;
    struct loop *loop;
    struct store_feed *feed;
    struct watcher *first;
    struct watch_waiter *waiters;
    atomic_size_t n_watchers;
    bool is_closing;

    struct loop_msg poll, close, look, launch;
    atomic_bool poll_is_posted, close_is_posted, look_is_posted, launch_is_posted;
    bool is_free; /* but for those of the above that are on their way */

    struct watch_flight *flights; /* of objects to a webhook */

    /* The event that is being delivered: by revision and key. */
    uint64_t rev;
    struct buf key;
    struct arena arena;
    struct encoder seen; /* the resource and version in which the two below are read */
    struct selection_subject now, prev;
    struct watch_cached cache[WATCH_CACHE];
    size_t n_cached;

    /* Large ones that somebody still has to send: by revision, form and key. */
    struct map shared;
};

/* Makes this the event that is being delivered; what is known of it already is kept. */
void watch_hub_show(struct watch_hub *hub, const struct store_event *ev, const struct encoder *e);
/* The bytes of that event, or of another object (then they are kept for others only if they are
 * large). The reference is the caller's; NULL and `err` on damage. */
struct watch_bytes *watch_hub_encode(struct watch_hub *hub, const struct watch_cached *form,
                                     const struct encoder *e, struct selection_subject *subject,
                                     struct err *err);
/* Whether such bytes are large, and the same for all who ask for the object in that form. */
bool watch_hub_shares(const struct encoder *e, const struct selection_subject *subject);
void watch_hub_add(struct watch_hub *hub, struct watcher *w);
void watch_hub_remove(struct watch_hub *hub, struct watcher *w);

void watch_hub_remember(struct watch_hub *hub, struct watch_waiter *w);
void watch_hub_forget(struct watch_waiter *w);

/* watch_flights_launch() comes soon. */
void watch_hub_post_launch(struct watch_hub *hub);

/* Ends the watch as when its time is up. `w` may be gone afterwards. */
void watcher_end(struct watcher *w);
/* The same, and tells why. */
void watcher_fail(struct watcher *w, const struct err *err);
/* Sends what the event means to the watch. False if that has ended it. */
bool watcher_show(struct watcher *w, const struct store_event *ev);
bool watcher_has_room(struct watcher *w);
/* A definition has changed, perhaps its own. May end it. */
void watcher_look(struct watcher *w);

/* Whether the event has to wait, for a webhook or for those before it. */
bool watch_queue_wants(const struct watcher *w, const struct store_event *ev);
/* False if there is no room; store_watch_resume() follows when there is. */
bool watch_queue_add(struct watcher *w, const struct store_event *ev);
/* Shows what is ready. May end the watch. */
void watch_queue_deliver(struct watcher *w);
void watch_queue_drop(struct watcher *w);

/* Asks for what the queues of a hub wait for. */
void watch_flights_launch(struct watch_hub *hub);
void watch_flights_drop(struct watch_hub *hub);
