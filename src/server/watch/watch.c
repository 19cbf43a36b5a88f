/* watch.c - WATCH: what happens to the objects of a collection, as it happens.
 *
 * A watch begins with what there is, or after a revision. The former reads the objects of one
 * revision in bounded turns, as a list does (sweep.h), and then goes on after it; from there it is
 * a cursor of the store and costs nothing until something happens. A client that does not read
 * makes its cursor wait, and nothing else. An object that cannot be read ends the watch with an
 * error: a client that missed it would go on believing what it knows.
 *
 * A watcher is freed when it has ended and neither a turn of it is on its way nor a WebSocket
 * still has to hear of its own end. */
#include "server/watch/watch.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/filter/filter.h"
#include "server/http/corrupt.h"
#include "server/watch/watch_internal.h"
#include "base/banned.h"

enum {
    PIECE_BYTES = 64 << 10, /* sent at once */
    TIMEOUT_SEC = 1800,     /* at least, and less than twice that, where the client names none */
    BOOKMARK_SEC = 50,      /* about every minute */
    BOOKMARK_JITTER_SEC = 10,
    FAREWELL_SEC = 2, /* the last bookmark comes so long before the end */
};

/* ---- The end ---- */

static void release_watcher(struct watcher *w)
{
    if (w->has_ended && !sweep_is_posted(&w->sweep) && !w->ws)
        free(w);
}

/* Out of the store, the loop and the hub. */
static void detach(struct watcher *w)
{
    store_watch_stop(&w->watch);
    loop_timer_cancel(&w->timer);
    watch_hub_remove(w->hub, w);
    watch_queue_drop(w);
    sweep_done(&w->sweep);
    sweep_cursor_done(&w->at);
    w->custom = custom_unref(w->custom);
    w->has_ended = true;
}

void watcher_end(struct watcher *w)
{
    struct http_exchange *x = w->c->x;
    detach(w);
    if (w->ws) {
        ws_close(w->ws, 1000, STR("")); /* on_ws_close() follows */
        return;
    }
    release_watcher(w);
    http_reply_end(x, NULL, 0);
}

/* ---- Sending ---- */

static size_t room(struct watcher *w)
{
    return w->ws ? ws_room(w->ws) : http_reply_room(w->c->x);
}

bool watcher_has_room(struct watcher *w)
{
    return room(w) > 0;
}

static void release_bytes(void *owner)
{
    watch_bytes_unref(owner);
}

/* Takes the reference over. */
static void send_bytes(struct watcher *w, struct watch_bytes *b)
{
    struct str text = { b->bytes, b->n };
    if (!w->ws) {
        http_reply_write(w->c->x, (struct http_bytes){ text, release_bytes, b, b->refs > 1 });
        return;
    }
    bool is_text = w->enc.format.media == FORMAT_JSON;
    if (w->enc.format.media == FORMAT_PROTO)
        text = str_skip(text, WATCH_FRAME_BYTES);
    ws_send(w->ws, is_text ? WS_TEXT : WS_BINARY, text);
    watch_bytes_unref(b);
}

/* Tells why and ends. */
void watcher_fail(struct watcher *w, const struct err *err)
{
    autobuf text = { 0 };
    watch_event_error(&text, w->c->arena, &w->enc, err);
    send_bytes(w, watch_bytes_new(&text));
    watcher_end(w);
}

static struct watch_cached form_of(const struct watcher *w, enum watch_type type)
{
    return (struct watch_cached){
        .type = type,
        .format = w->enc.format,
        .resource = w->enc.resource,
        .include = w->enc.include,
        .columns = !w->has_columns,
    };
}

/* False if that has ended the watch. */
static bool send_object(struct watcher *w, enum watch_type type, struct selection_subject *subject)
{
    struct err err = ERR_INIT(w->c->arena);
    const struct watch_cached form = form_of(w, type);
    /* A list of one event at a time is none: upstream ends such a watch at its first event. */
    if (w->enc.format.as == FORMAT_PARTIAL_LIST) {
        watcher_end(w);
        return false;
    }
    w->enc.now_ns = clock_wall_ns(w->c->api->clock);
    struct watch_bytes *bytes = watch_hub_encode(w->hub, &form, &w->enc, subject, &err);
    if (!bytes) {
        watcher_fail(w, &err);
        return false;
    }
    w->has_columns = w->enc.format.as == FORMAT_TABLE;
    send_bytes(w, bytes);
    return true;
}

static void send_bookmark(struct watcher *w, uint64_t rev, bool initial_end)
{
    struct arena a;
    struct err err = ERR_INIT(&a);
    autobuf text = { 0 };
    arena_init(&a);
    int r = watch_event_bookmark(&text, &a, &w->enc, rev, initial_end, !w->has_columns, &err);
    arena_done(&a);
    if (r < 0)
        return;
    w->has_columns = w->enc.format.as == FORMAT_TABLE;
    send_bytes(w, watch_bytes_new(&text));
}

/* ---- Definitions of custom kinds ---- */

/* Objects are shown as today's definition has them. False if it is gone, or the version is. */
static bool follow_definition(struct watcher *w)
{
    struct custom_kinds *kinds = w->c->api->custom;
    uint64_t count = w->kind ? custom_kinds_count(kinds) : 0;
    if (!w->kind || count == w->kinds_seen)
        return true;
    const struct custom *old = w->kind->of;
    struct custom *now = custom_find(kinds, old->group, old->plural);
    const struct custom_version *v =
        now && str_eq(now->uid, old->uid) ? custom_served(now, w->kind->resource.version) : NULL;
    if (!v || now == old) {
        custom_unref(now);
        w->kinds_seen = v ? count : w->kinds_seen;
        return v;
    }
    w->kinds_seen = count;
    w->kind = w->sweep.opt.kind = v;
    w->enc.resource = w->enc.stored = &v->resource;
    custom_unref(w->custom);
    w->custom = now;
    return true;
}

void watcher_look(struct watcher *w)
{
    if (follow_definition(w))
        return;
    if (w->queue)
        w->is_leaving = true;
    else
        watcher_end(w);
}

/* ---- Live ---- */

static int matches(struct watcher *w, bool is_there, struct selection_subject *subject,
                   struct err *err)
{
    return is_there ? selection_matches(&w->sel, subject, err) : 0;
}

bool watcher_show(struct watcher *w, const struct store_event *ev)
{
    struct watch_hub *hub = w->hub;
    struct err err = ERR_INIT(w->c->arena);
    watch_hub_show(hub, ev, &w->enc);
    int now = matches(w, ev->type == STORE_PUT, &hub->now, &err);
    int before = now < 0 ? now : matches(w, ev->prev.mod_rev != 0, &hub->prev, &err);
    if (before < 0) {
        watcher_fail(w, &err);
        return false;
    }
    if (now)
        return send_object(w, before ? WATCH_MODIFIED : WATCH_ADDED, &hub->now);
    return before ? send_object(w, WATCH_DELETED, &hub->prev) : true;
}

static enum store_watch_verdict on_event(struct store_watch *watch, const struct store_event *ev)
{
    struct watcher *w = container_of(watch, struct watcher, watch);
    if (room(w) == 0)
        return STORE_WATCH_FULL;
    if (w->sel.is_single && !str_eq(ev->now.key, w->prefix))
        return STORE_WATCH_ON;
    (void)follow_definition(w); /* if it is gone, these are the last of its objects */
    if (watch_queue_wants(w, ev))
        return watch_queue_add(w, ev) ? STORE_WATCH_ON : STORE_WATCH_FULL;
    (void)watcher_show(w, ev);
    return STORE_WATCH_ON;
}

static void set_too_old(struct watcher *w, uint64_t rev, struct err *err)
{
    (void)err_set(err, ERR_EXPIRED, "too old resource version: %llu (%llu)",
                  (unsigned long long)rev, (unsigned long long)store_floor(w->c->api->store));
}

static void on_expired(struct store_watch *watch)
{
    struct watcher *w = container_of(watch, struct watcher, watch);
    struct err err = ERR_INIT(w->c->arena);
    set_too_old(w, store_watch_rev(watch), &err);
    watcher_fail(w, &err);
}

static void on_unreadable(struct store_watch *watch, const struct store_event *ev,
                          const struct err *why)
{
    struct watcher *w = container_of(watch, struct watcher, watch);
    struct err err = ERR_INIT(w->c->arena);
    corrupt_event(ev->type == STORE_DELETE, why, &err);
    watcher_fail(w, &err);
}

static void go_live(struct watcher *w, uint64_t rev)
{
    struct err err = ERR_INIT(w->c->arena);
    w->phase = WATCHER_IS_LIVE;
    filter_watch_began(w->c->x);
    if (!w->prefix.n)
        return; /* nothing can ever match */
    if (store_watch_start(w->hub->feed, &w->watch, w->prefix, rev, &err) == 0)
        return;
    if (err.code == ERR_EXPIRED)
        set_too_old(w, rev, &err);
    watcher_fail(w, &err);
}

/* ---- Timers ---- */

/* Below `n`; so that what was begun together does not end together. */
static int64_t jitter(const struct watcher *w, int64_t n)
{
    const struct {
        const void *w;
        int64_t at;
    } seed = { w, loop_now_ns(w->hub->loop) };
    return (int64_t)(map_hash((struct str){ (const char *)&seed, sizeof(seed) }) % (uint64_t)n);
}

static void set_timer(struct watcher *w)
{
    bool bookmark_is_next = w->bookmark_ns && w->bookmark_ns < w->deadline_ns;
    loop_timer_set(w->hub->loop, &w->timer, bookmark_is_next ? w->bookmark_ns : w->deadline_ns);
}

/* About every minute, and once more shortly before the end, so that the next watch of this client
 * need not start far back. */
static void plan_bookmark(struct watcher *w)
{
    int64_t now = loop_now_ns(w->hub->loop), left = w->deadline_ns - now;
    int64_t last = w->deadline_ns - FAREWELL_SEC * NS_PER_SEC;
    if (left <= FAREWELL_SEC * NS_PER_SEC * 2)
        last = w->deadline_ns - left / 2;
    int64_t next = now + BOOKMARK_SEC * NS_PER_SEC + jitter(w, BOOKMARK_JITTER_SEC * NS_PER_SEC);
    w->bookmark_ns = next < last ? next : last;
}

static void bookmark_is_due(struct watcher *w)
{
    uint64_t rev = w->watch.feed ? store_watch_rev(&w->watch) : store_rev(w->c->api->store);
    bool is_last = w->deadline_ns - loop_now_ns(w->hub->loop) <= FAREWELL_SEC * NS_PER_SEC;
    /* One that starts in the future has come nowhere yet. */
    if (w->phase == WATCHER_IS_LIVE && !w->queue && rev <= store_rev(w->c->api->store) &&
        room(w) > 0)
        send_bookmark(w, rev, false);
    if (is_last)
        w->bookmark_ns = 0;
    else
        plan_bookmark(w);
}

static void wait_for_revision(struct watcher *w);

static void on_timer(struct loop_timer *timer)
{
    struct watcher *w = container_of(timer, struct watcher, timer);
    int64_t now = loop_now_ns(w->hub->loop);
    if (now >= w->deadline_ns) {
        watcher_end(w);
    } else if (w->phase == WATCHER_WAITS) {
        wait_for_revision(w);
    } else {
        if (w->bookmark_ns && now >= w->bookmark_ns)
            bookmark_is_due(w);
        set_timer(w);
    }
}

static void start_clock(struct watcher *w)
{
    int64_t now = loop_now_ns(w->hub->loop), sec = w->sel.timeout_sec;
    const int64_t most = INT64_C(365) * 24 * 3600;
    w->timer.on_fire = on_timer;
    if (sec == 0)
        w->deadline_ns = now + TIMEOUT_SEC * NS_PER_SEC + jitter(w, TIMEOUT_SEC * NS_PER_SEC);
    else
        w->deadline_ns = now + (sec < 0 ? 0 : sec < most ? sec : most) * NS_PER_SEC;
    if (w->sel.bookmarks && w->deadline_ns - now >= FAREWELL_SEC * NS_PER_SEC)
        plan_bookmark(w);
    set_timer(w);
}

/* ---- Initial events ---- */

/* One large object, which other watches may begin with, too. */
static int begin_with_large(struct watcher *w, struct selection_subject *subject, struct buf *out,
                            struct err *err)
{
    const struct watch_cached form = form_of(w, WATCH_ADDED);
    struct watch_bytes *bytes = watch_hub_encode(w->hub, &form, &w->enc, subject, err);
    if (!bytes)
        return -(int)err->code;
    if (out->n)
        send_bytes(w, watch_bytes_new(out));
    send_bytes(w, bytes);
    return 0;
}

/* Adds one object to what is sent next, or sends it: a WebSocket has a message for each. */
static int begin_with(struct watcher *w, struct selection_subject *subject, struct buf *out,
                      struct err *err)
{
    if (watch_hub_shares(&w->enc, subject))
        return begin_with_large(w, subject, out, err);
    int r = watch_event_object(out, &w->enc, WATCH_ADDED, subject, !w->has_columns, err);
    if (r < 0)
        return r;
    w->has_columns = w->enc.format.as == FORMAT_TABLE;
    if (w->ws || out->n >= PIECE_BYTES)
        send_bytes(w, watch_bytes_new(out));
    return 0;
}

/* 1 if there may be more, 0 if those were all. */
static int read_objects(struct watcher *w, struct arena *a, struct buf *out, struct err *err)
{
    while (!sweep_is_enough(&w->sweep) && room(w) > 0) {
        arena_reset(a);
        struct selection_subject subject = { .arena = a, .encoder = &w->enc };
        int r = sweep_next(&w->sweep, &subject.entry, err);
        if (r != SWEEP_OBJECT)
            return r == SWEEP_LATER ? 1 : r;
        w->sweep.bytes += subject.entry.value.n;
        r = selection_matches(&w->sel, &subject, err);
        if (r > 0)
            r = begin_with(w, &subject, out, err);
        if (r < 0)
            return r;
    }
    return 1;
}

/* The same; what was made is sent when the turn is over. */
static int read_turn(struct watcher *w, struct err *err)
{
    struct arena a;
    autobuf out = { 0 };
    arena_init(&a);
    int r = read_objects(w, &a, &out, err);
    sweep_end(&w->sweep);
    arena_done(&a);
    if (out.n)
        send_bytes(w, watch_bytes_new(&out));
    return r;
}

static void end_initial(struct watcher *w)
{
    if (w->sel.bookmarks)
        send_bookmark(w, w->sweep.rev, true);
    go_live(w, w->sweep.rev);
}

/* 1 if the next turn comes by itself. */
static int begin_turn(struct watcher *w, struct err *err)
{
    int r = sweep_begin(&w->sweep, &w->at, SWEEP_ALL, err);
    if (r == -ERR_EXPIRED)
        set_too_old(w, w->sweep.rev, err);
    return r;
}

static void run_turn(struct watcher *w)
{
    struct err err = ERR_INIT(w->c->arena);
    int r = begin_turn(w, &err);
    if (r < 0)
        watcher_fail(w, &err);
    if (r != 0)
        return;
    r = read_turn(w, &err);
    if (r < 0)
        watcher_fail(w, &err);
    else if (r == 0)
        end_initial(w);
    else if (room(w) > 0)
        sweep_post(&w->sweep);
}

static void on_turn(void *arg)
{
    struct watcher *w = arg;
    if (w->has_ended)
        release_watcher(w);
    else
        run_turn(w);
}

static void wait_for_revision(struct watcher *w)
{
    struct err err = ERR_INIT(w->c->arena);
    int r = await_look(&w->await, w->hub->loop, &w->timer, &err);
    if (r < 0) {
        watcher_fail(w, &err);
    } else if (r > 0) {
        w->phase = WATCHER_BEGINS;
        set_timer(w);
        sweep_post(&w->sweep);
    }
}

/* ---- The client ---- */

static void has_room(struct watcher *w)
{
    if (w->has_ended)
        return;
    if (w->phase == WATCHER_IS_LIVE && w->queue)
        watch_queue_deliver(w);
    else if (w->phase == WATCHER_IS_LIVE)
        store_watch_resume(&w->watch);
    else if (w->phase == WATCHER_BEGINS)
        sweep_post(&w->sweep);
}

static void on_room(void *arg, struct http_exchange *x)
{
    (void)x;
    has_room(arg);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    watcher_end(arg);
}

static void on_ws_room(void *arg, struct ws *ws)
{
    (void)ws;
    has_room(arg);
}

static void on_ws_close(void *arg, struct ws *ws, unsigned code)
{
    (void)ws;
    (void)code;
    struct watcher *w = arg;
    if (!w->has_ended)
        detach(w);
    w->ws = NULL;
    release_watcher(w);
}

static const struct str ws_protocols[] = {
    { "base64.binary.k8s.io", 20 },
    { "binary.k8s.io", 13 },
};

/* False if it was refused, and answered. */
static bool begin_answer(struct watcher *w)
{
    struct call *c = w->c;
    if (ws_wanted(c->http)) {
        const struct ws_handler handler = { w, NULL, on_ws_room, on_ws_close };
        w->ws = ws_accept(c->x, ws_protocols, ARRAY_LEN(ws_protocols), &handler);
        return w->ws;
    }
    const struct http_header *headers;
    const struct http_events events = { .arg = w, .on_room = on_room, .on_gone = on_gone };
    size_t n = call_headers(c, format_content_type(c->format.media, true), &headers);
    http_listen_to(c->x, &events);
    http_reply_begin(c->x, 200, headers, n);
    return true;
}

/* ---- The beginning ---- */

static int prepare(struct watcher *w, struct err *err)
{
    struct call *c = w->c;
    int r = selection_read(c->arena, &c->req, true, &w->sel, err);
    if (r < 0)
        return r;
    selection_hide(&w->sel, &c->req, c->api->uninitialized, c->stored);
    if (c->format.as == FORMAT_TABLE) {
        struct str include = request_param(&c->req, STR("includeObject"));
        r = encode_include_parse(include, &w->enc.include, err);
        if (r < 0)
            return r;
    }
    if (w->sel.version.n) {
        r = selection_version(w->sel.version, &w->after_rev, err);
        if (r < 0)
            return r;
    }
    w->prefix = selection_prefix(c->arena, c->stored, &w->sel);
    return 0;
}

/* The initial objects, once the revision is there. */
static void begin_with_objects(struct watcher *w)
{
    struct api *api = w->c->api;
    const struct sweep_options options = {
        .api = api,
        .loop = w->hub->loop,
        .prefix = w->prefix,
        .is_single = w->sel.is_single,
        .kind = w->kind,
        .run = on_turn,
        .arg = w,
    };
    sweep_init(&w->sweep, &options);
    w->await = await_from_now(w->hub->loop, api->store, w->after_rev);
    wait_for_revision(w);
}

static void begin(struct watcher *w)
{
    start_clock(w);
    if (w->hub->is_closing) {
        watcher_end(w);
    } else if (w->sel.initial) {
        begin_with_objects(w);
    } else {
        go_live(w, w->after_rev ? w->after_rev : store_rev(w->c->api->store));
    }
}

void verb_watch(struct call *c)
{
    struct watcher *w = mem_new(struct watcher);
    struct err err = ERR_INIT(c->arena);
    w->c = c;
    w->watch.on_event = on_event;
    w->watch.on_expired = on_expired;
    w->watch.on_unreadable = on_unreadable;
    w->enc = (struct encoder){
        .format = c->format,
        .resource = c->req.resource,
        .stored = c->stored,
        .now_ns = clock_wall_ns(c->api->clock),
    };
    w->enc.format.pretty = false;
    w->kind = custom_version_of(c->stored);
    if (prepare(w, &err) < 0) {
        free(w);
        call_fail(c, &err);
    } else if (!begin_answer(w)) {
        free(w);
    } else {
        watch_hub_add(c->api->hubs[api_loop_index(c->api, http_loop(c->x))], w);
        begin(w);
    }
}
