/* etcd_watch.c - watch streams: any number of watches on one call.
 *
 * A watch is a cursor of the store. Events gather in its buffer until their revision is complete,
 * because one revision is one message; then they are sent. A client that does not read makes the
 * cursor wait at a revision's end, so that nothing gathers. */
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/wire.h"
#include "etcd/etcd_internal.h"
#include "base/banned.h"

enum {
    MESSAGE_BYTES = 1 << 20, /* of events, when they are sent before there are more */
    WATCHES_MAX = 10000,     /* of one stream */
    PROGRESS_ID = -1,        /* of an answer that is about the whole stream */
};

struct watch {
    struct store_watch cursor;
    LIST_ENTRY(watch) link;
    struct etcd_stream *stream;
    int64_t id;
    struct etcd_span span; /* the texts lie behind the struct */
    uint64_t from;         /* events before it are not wanted */
    bool no_puts, no_deletes, prev_kv, notifies, fragments;
    struct buf events;
    uint64_t rev;    /* of the newest in there; 0: none */
    uint64_t told;   /* the revision of the last message */
    bool is_stopped; /* its end is to be told */
};

struct etcd_stream {
    LIST_ENTRY(etcd_stream) link;
    struct etcd_home *home;
    struct grpc_call *call;
    LIST_HEAD(etcd_watches, watch) watches;
    size_t n_watches;
    int64_t next_id;
    bool wants_progress;
    struct loop_timer notify;
};

/* ---- Messages ---- */

struct message {
    int64_t id;
    bool created, canceled, fragment;
    uint64_t compacted;
    const char *reason;
    struct str events;
};

static void send_message(struct etcd_stream *s, uint64_t rev, const struct message *m)
{
    autobuf out = { 0 };
    etcd__header(s->home->etcd, &out, rev);
    wire_int(&out, 2, (uint64_t)m->id);
    wire_int(&out, 3, m->created);
    wire_int(&out, 4, m->canceled);
    wire_int(&out, 5, m->compacted);
    if (m->reason)
        wire_bytes(&out, 6, str_of(m->reason));
    wire_int(&out, 7, m->fragment);
    buf_str_add(&out, m->events);
    grpc_call_send(s->call, buf_str(&out));
}

static uint64_t rev_now(const struct etcd_stream *s)
{
    return store_rev(s->home->etcd->store);
}

static void send_events(struct watch *w, bool fragment)
{
    send_message(
        w->stream, w->rev,
        &(struct message){ .id = w->id, .fragment = fragment, .events = buf_str(&w->events) });
    w->told = w->rev;
    buf_reset(&w->events);
    if (!fragment)
        w->rev = 0;
}

/* ---- Events ---- */

static void add_event(struct watch *w, const struct store_event *ev)
{
    autobuf event = { 0 };
    struct etcd_kv kv = { 0 }, prev = { 0 };
    const bool is_delete = ev->type == STORE_DELETE;
    if (is_delete)
        kv = (struct etcd_kv){ .key = ev->now.key, .mod_rev = ev->now.mod_rev };
    else if (!etcd_kv_read(&ev->now, &kv))
        return;
    wire_int(&event, 1, is_delete);
    etcd_kv_write(&event, 2, &kv, false);
    if (w->prev_kv && ev->prev.mod_rev && etcd_kv_read(&ev->prev, &prev)) {
        prev.key = ev->now.key;
        etcd_kv_write(&event, 3, &prev, false);
    }
    wire_head(&w->events, 11, event.n);
    buf_str_add(&w->events, buf_str(&event));
    w->rev = ev->now.mod_rev;
}

static bool is_wanted(const struct watch *w, const struct store_event *ev)
{
    if (ev->now.mod_rev < w->from || etcd_key_is_own(ev->now.key) ||
        !etcd_span_has(&w->span, ev->now.key))
        return false;
    return ev->type == STORE_DELETE ? !w->no_deletes : !w->no_puts;
}

static enum store_watch_verdict on_event(struct store_watch *cursor, const struct store_event *ev)
{
    struct watch *w = container_of(cursor, struct watch, cursor);
    if (!is_wanted(w, ev))
        return STORE_WATCH_ON;
    const bool is_next = w->rev && ev->now.mod_rev != w->rev;
    if (is_next && w->events.n >= MESSAGE_BYTES)
        send_events(w, false);
    if (w->rev != ev->now.mod_rev && grpc_call_room(w->stream->call) == 0)
        return STORE_WATCH_FULL;
    if (w->fragments && w->events.n >= MESSAGE_BYTES)
        send_events(w, true);
    add_event(w, ev);
    return STORE_WATCH_ON;
}

static void watch_free(struct watch *w)
{
    store_watch_stop(&w->cursor);
    LIST_REMOVE(w, link);
    w->stream->n_watches--;
    buf_done(&w->events);
    free(w);
}

/* It is told of, and freed, when the poll is over. */
static void on_expired(struct store_watch *cursor)
{
    container_of(cursor, struct watch, cursor)->is_stopped = true;
}

static void tell_compacted(struct etcd_stream *s, int64_t id)
{
    send_message(s, rev_now(s),
                 &(struct message){ .id = id,
                                    .canceled = true,
                                    .compacted = store_floor(s->home->etcd->store),
                                    .reason = ETCD_COMPACTED });
}

/* ---- After each poll ---- */

/* What is complete is sent. */
static void settle_watch(struct watch *w)
{
    struct etcd_stream *s = w->stream;
    if (w->rev && (w->is_stopped || store_watch_rev(&w->cursor) >= w->rev))
        send_events(w, false);
    if (!w->is_stopped)
        return;
    tell_compacted(s, w->id);
    watch_free(w);
}

static bool is_in_step(const struct etcd_stream *s, uint64_t rev)
{
    const struct watch *w;
    LIST_FOREACH(w, &s->watches, link)
    if (w->rev || store_watch_rev(&w->cursor) < rev)
        return false;
    return true;
}

static void settle(struct etcd_stream *s)
{
    struct watch *w, *next;
    for (w = LIST_FIRST(&s->watches); w; w = next) {
        next = LIST_NEXT(w, link);
        settle_watch(w);
    }
    const uint64_t rev = rev_now(s);
    if (!s->wants_progress || !is_in_step(s, rev))
        return;
    s->wants_progress = false;
    send_message(s, rev, &(struct message){ .id = PROGRESS_ID });
}

void etcd__poll(struct loop *l, struct loop_msg *m)
{
    struct etcd_home *h = container_of(m, struct etcd_home, wake);
    struct etcd_stream *s;
    (void)l;
    atomic_store(&h->is_awake, false);
    const bool more = store_feed_poll(h->feed);
    LIST_FOREACH(s, &h->streams, link)
    settle(s);
    if (more)
        etcd__wake(h);
}

void etcd__wake(void *home) /* thread: the store's, or the loop's */
{
    struct etcd_home *h = home;
    if (!atomic_exchange(&h->is_awake, true))
        loop_post(h->loop, &h->wake);
}

/* ---- Requests of a stream ---- */

static struct watch *find(struct etcd_stream *s, int64_t id)
{
    struct watch *w;
    LIST_FOREACH(w, &s->watches, link)
    if (w->id == id)
        return w;
    return NULL;
}

struct creation {
    struct etcd_span span;
    int64_t start, id;
    bool no_puts, no_deletes, prev_kv, notifies, fragments;
};

static void take_filter(struct creation *c, uint64_t filter)
{
    c->no_puts |= filter == 0;
    c->no_deletes |= filter == 1;
}

/* Filters may stand one by one, or packed in one field. */
static void take_filters(struct creation *c, const struct wire_field *f)
{
    struct str packed = f->bytes;
    uint64_t filter;
    if (!packed.p)
        take_filter(c, f->n);
    while (packed.n && wire_take_varint(&packed, &filter))
        take_filter(c, filter);
}

static bool read_creation(struct str message, struct creation *ret)
{
    struct wire_field f;
    int r;
    *ret = (struct creation){ 0 };
    while ((r = wire_next(&message, &f)) == 1) {
        switch (f.number) {
        case 1:
            ret->span.key = f.bytes;
            break;
        case 2:
            ret->span.end = f.bytes;
            break;
        case 3:
            ret->start = (int64_t)f.n;
            break;
        case 4:
            ret->notifies = f.n;
            break;
        case 5:
            take_filters(ret, &f);
            break;
        case 6:
            ret->prev_kv = f.n;
            break;
        case 7:
            ret->id = (int64_t)f.n;
            break;
        case 8:
            ret->fragments = f.n;
            break;
        default:
            break;
        }
    }
    return r == 0;
}

static struct watch *watch_new(struct etcd_stream *s, const struct creation *c)
{
    struct watch *w = mem_zalloc(sizeof(*w) + c->span.key.n + c->span.end.n);
    char *text = (char *)(w + 1);
    memcpy(text, c->span.key.p, c->span.key.n);
    if (c->span.end.n)
        memcpy(text + c->span.key.n, c->span.end.p, c->span.end.n);
    w->span =
        (struct etcd_span){ { text, c->span.key.n }, { text + c->span.key.n, c->span.end.n } };
    w->stream = s;
    w->id = c->id;
    w->no_puts = c->no_puts;
    w->no_deletes = c->no_deletes;
    w->prev_kv = c->prev_kv;
    w->notifies = c->notifies;
    w->fragments = c->fragments;
    w->cursor.on_event = on_event;
    w->cursor.on_expired = on_expired;
    LIST_INSERT_HEAD(&s->watches, w, link);
    s->n_watches++;
    return w;
}

static const char *creation_fault(struct etcd_stream *s, const struct creation *c)
{
    if (s->n_watches == WATCHES_MAX)
        return "etcdserver: too many watches on one stream";
    if (c->start < 0)
        return ETCD_COMPACTED;
    if (c->id && find(s, c->id))
        return "etcdserver: duplicate watch ID provided on the WatchStream";
    return NULL;
}

/* A key that is not given is the first one. */
static void create(struct etcd_stream *s, struct creation *c)
{
    const char *fault = creation_fault(s, c);
    if (fault) {
        send_message(s, rev_now(s),
                     &(struct message){
                         .id = PROGRESS_ID, .created = true, .canceled = true, .reason = fault });
        return;
    }
    while (!c->id && find(s, s->next_id))
        s->next_id++;
    if (!c->id)
        c->id = s->next_id++;
    if (!c->span.key.n)
        c->span.key = ETCD_FIRST_KEY;
    struct watch *w = watch_new(s, c);
    const uint64_t now = rev_now(s), after = c->start ? (uint64_t)c->start - 1 : now;
    w->from = after + 1;
    send_message(s, now, &(struct message){ .id = w->id, .created = true });
    if (store_watch_start(s->home->feed, &w->cursor, etcd_span_prefix(&w->span),
                          after < now ? after : now, NULL) < 0) {
        tell_compacted(s, w->id);
        watch_free(w);
    }
}

static void cancel(struct etcd_stream *s, struct str message)
{
    struct wire_field f;
    int64_t id = 0;
    while (wire_next(&message, &f) == 1)
        if (f.number == 1)
            id = (int64_t)f.n;
    struct watch *w = find(s, id);
    if (!w)
        return;
    watch_free(w);
    send_message(s, rev_now(s), &(struct message){ .id = id, .canceled = true });
}

/* ---- The stream ---- */

static void on_notify(struct loop_timer *t)
{
    struct etcd_stream *s = container_of(t, struct etcd_stream, notify);
    const struct watch *w;
    const uint64_t rev = rev_now(s);
    LIST_FOREACH(w, &s->watches, link)
    if (w->notifies && !w->rev && store_watch_rev(&w->cursor) >= rev)
        send_message(s, rev, &(struct message){ .id = w->id });
    loop_timer_set(s->home->loop, t, loop_now_ns(s->home->loop) + s->home->etcd->progress_ns);
}

static void stream_end(struct etcd_stream *s, enum grpc_status status, const char *words)
{
    struct watch *w;
    while ((w = LIST_FIRST(&s->watches)))
        watch_free(w);
    loop_timer_cancel(&s->notify);
    LIST_REMOVE(s, link);
    grpc_call_end(s->call, status, str_of(words));
    free(s);
}

static void on_message(void *arg, struct grpc_call *call, struct str message)
{
    struct etcd_stream *s = arg;
    struct wire_field f;
    struct creation c;
    int r;
    (void)call;
    while ((r = wire_next(&message, &f)) == 1) {
        if (f.number == 1 && read_creation(f.bytes, &c))
            create(s, &c);
        else if (f.number == 2)
            cancel(s, f.bytes);
        else if (f.number == 3)
            s->wants_progress = true;
    }
    if (r < 0)
        stream_end(s, GRPC_INVALID_ARGUMENT, "etcdserver: the message cannot be read");
    else if (s->wants_progress)
        settle(s);
}

static void on_room(void *arg, struct grpc_call *call)
{
    struct etcd_stream *s = arg;
    struct watch *w;
    (void)call;
    LIST_FOREACH(w, &s->watches, link)
    store_watch_resume(&w->cursor);
}

static void on_half_close(void *arg, struct grpc_call *call)
{
    (void)call;
    stream_end(arg, GRPC_OK, "");
}

static void on_gone(void *arg, struct grpc_call *call)
{
    (void)call;
    stream_end(arg, GRPC_CANCELLED, "etcdserver: watch canceled");
}

void etcd__watch(struct etcd_home *h, struct grpc_call *call)
{
    struct etcd_stream *s = mem_new(struct etcd_stream);
    s->home = h;
    s->call = call;
    LIST_INIT(&s->watches);
    LIST_INSERT_HEAD(&h->streams, s, link);
    s->notify.on_fire = on_notify;
    loop_timer_set(h->loop, &s->notify, loop_now_ns(h->loop) + h->etcd->progress_ns);
    grpc_call_listen(call, &(struct grpc_call_events){ .arg = s,
                                                       .on_message = on_message,
                                                       .on_half_close = on_half_close,
                                                       .on_room = on_room,
                                                       .on_gone = on_gone });
}

void etcd__streams_end(struct etcd_home *h)
{
    struct etcd_stream *s;
    while ((s = LIST_FIRST(&h->streams)))
        stream_end(s, GRPC_UNAVAILABLE, "etcdserver: server stopped");
}
