/* watch.c - WATCH: what happens to the objects of a collection, as it happens.
 *
 * A watch begins with what there is, or after a revision. The former reads a snapshot of one
 * revision in bounded turns, as a list does, and then goes on after it; from there it is a cursor
 * of the store and costs nothing until something happens. A client that does not read makes its
 * cursor wait, and nothing else. An object that cannot be read ends the watch with an error: a
 * client that missed it would go on believing what it knows.
 *
 * A watcher is freed when it has ended and neither a turn of it is on its way nor a WebSocket
 * still has to hear of its own end. */
#include "server/watch/watch.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/watch/watch_internal.h"
#include "base/banned.h"

enum {
    TURN_OBJECTS = 1000,    /* initial ones looked at in one turn */
    TURN_BYTES = 256 << 10, /* and made of them */
    PIECE_BYTES = 64 << 10, /* sent at once */
    WAIT_STEP_MS = 20,      /* for a revision that is not there yet */
    WAIT_MS = 3000,
    TIMEOUT_SEC = 1800, /* at least, and less than twice that, where the client names none */
    BOOKMARK_SEC = 50,  /* about every minute */
    BOOKMARK_JITTER_SEC = 10,
    FAREWELL_SEC = 2, /* the last bookmark comes so long before the end */
};

static void run_turn(struct watcher *w);

/* ---- The end ---- */

static void release_watcher(struct watcher *w)
{
    if (w->has_ended && !w->turn_is_posted && !w->ws)
        free(w);
}

/* Out of the store, the loop and the hub. */
static void detach(struct watcher *w)
{
    store_watch_stop(&w->watch);
    loop_timer_cancel(&w->timer);
    watch_hub_remove(w->hub, w);
    watch_queue_drop(w);
    w->page = custom_page_drop(w->page);
    w->custom = custom_unref(w->custom);
    buf_done(&w->start);
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
    w->kind = v;
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

static void go_live(struct watcher *w, uint64_t rev)
{
    struct err err = ERR_INIT(w->c->arena);
    w->phase = WATCHER_IS_LIVE;
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

static void on_turn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct watcher *w = container_of(m, struct watcher, turn);
    w->turn_is_posted = false;
    if (w->has_ended)
        release_watcher(w);
    else
        run_turn(w);
}

static void post_turn(struct watcher *w)
{
    if (w->turn_is_posted)
        return;
    w->turn_is_posted = true;
    w->turn.run = on_turn;
    loop_later(w->hub->loop, &w->turn);
}

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

static bool is_converted(const struct watcher *w)
{
    return w->kind && w->kind->of->webhook && w->prefix.n;
}

static int next_entry(struct watcher *w, struct store_snap *snap, struct store_entry *ret,
                      struct err *err)
{
    if (!w->prefix.n)
        return 0;
    if (w->page)
        return custom_page_next(w->page, ret, err);
    if (!w->sel.is_single)
        return store_range_next(snap, ret, err);
    return w->start.n ? 0 : store_snap_get(snap, w->prefix, ret, err);
}

/* 1 if there is more, 0 if those were all. */
static int read_objects(struct watcher *w, struct store_snap *snap, struct arena *a,
                        struct buf *out, struct err *err)
{
    size_t made = 0;
    if (w->prefix.n && !w->sel.is_single && !w->page)
        store_range_begin(snap, w->prefix, buf_str(&w->start));
    for (size_t n = 0; n < TURN_OBJECTS && made < TURN_BYTES && room(w) > 0; n++) {
        arena_reset(a);
        struct selection_subject subject = { .arena = a, .encoder = &w->enc };
        int r = next_entry(w, snap, &subject.entry, err);
        if (r <= 0)
            return r;
        buf_reset(&w->start);
        buf_str_add(&w->start, subject.entry.key);
        buf_byte(&w->start, '\0');
        made += subject.entry.value.n;
        r = selection_matches(&w->sel, &subject, err);
        if (r > 0)
            r = begin_with(w, &subject, out, err);
        if (r < 0)
            return r;
    }
    return 1;
}

static int read_turn(struct watcher *w, struct err *err)
{
    struct store_snap *snap;
    int r = store_snap_begin(w->c->api->store, w->rev, &snap, err);
    if (r == -ERR_EXPIRED)
        set_too_old(w, w->rev, err);
    if (r < 0)
        return r;
    struct arena a;
    autobuf out = { 0 };
    arena_init(&a);
    w->rev = store_snap_rev(snap);
    r = read_objects(w, snap, &a, &out, err);
    store_snap_end(snap);
    arena_done(&a);
    if (out.n)
        send_bytes(w, watch_bytes_new(&out));
    return r;
}

static void on_page(void *arg, struct custom_page *p)
{
    struct watcher *w = arg;
    (void)p;
    w->page_is_away = false;
    post_turn(w);
}

/* The next objects, to be converted. 1 if they are on their way, 0 if they are there. */
static int read_page(struct watcher *w, struct err *err)
{
    const struct custom_page_options options = {
        .api = w->c->api, .loop = w->hub->loop, .to = w->kind, .done = on_page, .arg = w
    };
    struct store_snap *snap;
    int r = store_snap_begin(w->c->api->store, w->rev, &snap, err);
    if (r == -ERR_EXPIRED)
        set_too_old(w, w->rev, err);
    if (r < 0)
        return r;
    w->rev = store_snap_rev(snap);
    w->page = custom_page_new(&options);
    r = custom_page_fill(w->page, snap, w->prefix, w->sel.is_single, buf_str(&w->start), 0, err);
    store_snap_end(snap);
    if (r == 0)
        w->page_is_away = custom_page_send(w->page);
    return r < 0 ? r : w->page_is_away;
}

/* What a turn with pages has come to: a page that is used up, unless it is the last, is not the
 * end. */
static int after_page(struct watcher *w, int r)
{
    if (r != 0 || !w->page)
        return r;
    bool is_last = custom_page_is_last(w->page);
    w->page = custom_page_drop(w->page);
    return is_last ? 0 : 1;
}

static void run_turn(struct watcher *w)
{
    struct err err = ERR_INIT(w->c->arena);
    int r = is_converted(w) && !w->page ? read_page(w, &err) : 0;
    if (r == 1 || w->page_is_away)
        return; /* on_page() goes on */
    if (r == 0)
        r = after_page(w, read_turn(w, &err));
    if (r < 0) {
        watcher_fail(w, &err);
    } else if (r > 0 && room(w) > 0) {
        post_turn(w);
    } else if (r == 0) {
        if (w->sel.bookmarks)
            send_bookmark(w, w->rev, true);
        go_live(w, w->rev);
    }
}

/* A revision that we do not have yet may come. */
static void wait_for_revision(struct watcher *w)
{
    int64_t now = loop_now_ns(w->hub->loop);
    uint64_t newest = store_rev(w->c->api->store);
    struct err err = ERR_INIT(w->c->arena);
    if (newest >= w->wait_rev) {
        w->phase = WATCHER_BEGINS;
        set_timer(w);
        post_turn(w);
    } else if (now >= w->give_up_ns) {
        (void)selection_too_new(&err, w->wait_rev, newest);
        watcher_fail(w, &err);
    } else {
        loop_timer_set(w->hub->loop, &w->timer, now + WAIT_STEP_MS * NS_PER_MS);
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
        post_turn(w);
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
    if (r == 0 && c->format.as == FORMAT_TABLE)
        r = encode_include_parse(request_param(&c->req, STR("includeObject")), &w->enc.include,
                                 err);
    if (r == 0 && w->sel.version.n)
        r = selection_version(w->sel.version, &w->wait_rev, err);
    if (r == 0)
        w->prefix = selection_prefix(c->arena, c->stored, &w->sel);
    return r;
}

static void begin(struct watcher *w)
{
    start_clock(w);
    if (w->hub->is_closing) {
        watcher_end(w);
    } else if (w->sel.initial) {
        w->give_up_ns = loop_now_ns(w->hub->loop) + WAIT_MS * NS_PER_MS;
        wait_for_revision(w);
    } else {
        go_live(w, w->wait_rev ? w->wait_rev : store_rev(w->c->api->store));
    }
}

void verb_watch(struct call *c)
{
    struct watcher *w = mem_new(struct watcher);
    struct err err = ERR_INIT(c->arena);
    w->c = c;
    w->watch.on_event = on_event;
    w->watch.on_expired = on_expired;
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
