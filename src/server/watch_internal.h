/* watch_internal.h - the inside of watches, shared by watch.c (one watch) and watch_hub.c (all of
 * a loop). Everything runs on the hub's loop. */
#pragma once

#include <stdatomic.h>

#include "net/ws.h"
#include "server/call.h"
#include "server/watch.h"
#include "server/watch_event.h"

/* An event as bytes, for all that want it in that form. */
struct watch_bytes {
    size_t refs;
    size_t n;
    char bytes[];
};

/* Takes the bytes out of the buffer, which is left empty; one reference is the caller's. */
struct watch_bytes *watch_bytes_new(struct buf *from);
struct watch_bytes *watch_bytes_unref(struct watch_bytes *b);

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
    bool has_ended, turn_is_posted;

    uint64_t rev;      /* of the initial events; 0: not fixed yet */
    uint64_t wait_rev; /* the newest one must not be below it */
    int64_t give_up_ns;
    struct buf start; /* the key to go on with */

    int64_t deadline_ns, bookmark_ns;
    struct loop_timer timer;
    struct loop_msg turn;
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
    atomic_size_t n_watchers;
    bool is_closing;

    struct loop_msg poll, close;
    atomic_bool poll_is_posted, close_is_posted;
    bool is_free; /* but for those of the above that are on their way */

    /* The event that is being delivered: by revision and key. */
    uint64_t rev;
    struct buf key;
    struct arena arena;
    struct encoder seen; /* the resource and version in which the two below are read */
    struct selection_subject now, prev;
    struct watch_cached cache[WATCH_CACHE];
    size_t n_cached;
};

/* Makes this the event that is being delivered; what is known of it already is kept. */
void watch_hub_show(struct watch_hub *hub, const struct store_event *ev, const struct encoder *e);
/* The bytes of that event, or of another object (then they are not kept for others). The reference
 * is the caller's; NULL and `err` on damage. */
struct watch_bytes *watch_hub_encode(struct watch_hub *hub, const struct watch_cached *form,
                                     const struct encoder *e, struct selection_subject *subject,
                                     struct err *err);
void watch_hub_add(struct watch_hub *hub, struct watcher *w);
void watch_hub_remove(struct watch_hub *hub, struct watcher *w);

/* Ends the watch as when its time is up. `w` may be gone afterwards. */
void watcher_end(struct watcher *w);
