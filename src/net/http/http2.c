/* http2.c - the HTTP/2 driver of a connection, on nghttp2.
 *
 * nghttp2 frames, compresses and checks; this file maps streams to exchanges and keeps the peer in
 * bounds. Two rules hold it together:
 *
 * 1. A session that was told to terminate, by us or by itself, gets no more bytes.
 * 2. A stream that is reset while its handler runs still counts against LIMIT_H2_STREAMS, until
 *    the handler has ended the exchange. */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/conn.h"
#include "net/http/http2_guard.h"
#include "net/http/http2_reply.h"
#include "base/banned.h"

enum {
    QUEUE_PER_STREAM = 4,    /* frames that one stream may have waiting */
    CONNECTION_WINDOWS = 4,  /* window of the connection, in windows of a stream */
    FEED_BYTES = 8 << 10,    /* what nghttp2 is given at once */
    DISCARD_BYTES = 8 << 20, /* of a request whose reply has ended */
};

struct http2 {
    nghttp2_session *session;
    struct http2_guard guard;
    struct http2_out out;
    struct buf spill;      /* bytes that did not fit, or our last words */
    size_t n_collecting;   /* request bodies on their way that have no other deadline */
    int64_t head_since_ns; /* a header block has begun and not ended; 0: none */
    bool terminated;       /* rule 1 */
    bool failed;           /* the session is unusable */
    bool said_notice, said_goaway;
};

static const uint8_t DRAIN_PING[8] = { 's', 'a', 'm', 'p', 'a', 'n', 'g', 'o' };

static struct http2 *http2_of(struct conn *c)
{
    return c->proto;
}

struct http2_out *http2_out_of(struct conn *c)
{
    return &http2_of(c)->out;
}

static int64_t now_of(struct conn *c)
{
    return loop_now_ns(c->home->loop);
}

static struct http_exchange *exchange_of(nghttp2_session *session, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static void check_nomem(int r)
{
    if (r == NGHTTP2_ERR_NOMEM)
        mem_exhausted(0);
}

/* ---- The end ---- */

static void terminate(struct conn *c, uint32_t code)
{
    struct http2 *h = http2_of(c);
    if (h->terminated)
        return;
    h->terminated = true;
    check_nomem(nghttp2_session_terminate_session(h->session, code));
}

/* Looks whether a budget is overdrawn; not inside nghttp2. */
static void check_guard(struct conn *c)
{
    struct http2 *h = http2_of(c);
    const struct http_limits *l = c->home->limits;
    if (h->terminated)
        return;
    size_t most = l->h2_ack_queue + QUEUE_PER_STREAM * l->h2_streams;
    if (nghttp2_session_get_outbound_queue_size(h->session) > most)
        h->guard.tripped = true;
    if (h->guard.tripped) {
        conn_abuse(c);
        terminate(c, NGHTTP2_ENHANCE_YOUR_CALM);
    }
}

static void put_u32(struct buf *b, uint32_t v)
{
    const char bytes[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };
    buf_add(b, bytes, sizeof(bytes));
}

/* The session cannot even say goodbye: the frame is made by hand. */
static void fail(struct conn *c, int library_error)
{
    struct http2 *h = http2_of(c);
    bool abuse = library_error != NGHTTP2_ERR_BAD_CLIENT_MAGIC; /* the library has limits too */
    if (abuse)
        conn_abuse(c);
    h->failed = h->terminated = true;
    static const char goaway_head[] = { 0, 0, 8, NGHTTP2_GOAWAY, 0, 0, 0, 0, 0 };
    buf_add(&h->spill, goaway_head, sizeof(goaway_head));
    put_u32(&h->spill, (uint32_t)nghttp2_session_get_last_proc_stream_id(h->session));
    put_u32(&h->spill, abuse ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
}

/* ---- Requests ---- */

static void on_frame_start(struct conn *c, const nghttp2_frame_hd *hd)
{
    struct http2 *h = http2_of(c);
    http2_guard_frame(&h->guard, c->home->limits, hd->type, hd->flags, hd->length, now_of(c));
    if (hd->type != NGHTTP2_HEADERS && hd->type != NGHTTP2_CONTINUATION)
        return;
    if (hd->flags & NGHTTP2_FLAG_END_HEADERS)
        h->head_since_ns = 0;
    else if (!h->head_since_ns)
        h->head_since_ns = now_of(c);
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *arg)
{
    (void)session;
    on_frame_start(arg, hd);
    return 0;
}

static void reset_stream(nghttp2_session *session, int32_t stream_id, uint32_t code)
{
    check_nomem(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream_id, code));
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct conn *c = arg;
    struct http2 *h = http2_of(c);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (h->guard.tripped || c->n_exchanges >= c->home->limits->h2_streams) {
        reset_stream(session, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
        return 0;
    }
    struct http_exchange *x = exchange_new(c);
    x->stream_id = frame->hd.stream_id;
    x->req.version = HTTP_2;
    nghttp2_session_set_stream_user_data(session, x->stream_id, x);
    return 0;
}

static void set_pseudo(struct http_exchange *x, struct str name, struct str value)
{
    value = arena_str(&x->arena, value);
    if (str_eq(name, STR(":method")))
        x->req.method = value;
    else if (str_eq(name, STR(":path")))
        exchange_set_target(x, value);
    else if (str_eq(name, STR(":authority")))
        x->req.authority = value;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    (void)flags;
    (void)arg;
    struct http_exchange *x = exchange_of(session, frame->hd.stream_id);
    if (!x)
        return 0; /* refused, or reset: decoded all the same, to keep HPACK in step */
    struct str n = { (const char *)name, name_n }, v = { (const char *)value, value_n };
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        (void)exchange_count_header(x, n, v); /* a trailer: counted, but not kept */
    else if (n.n && n.p[0] == ':') {
        if (exchange_count_header(x, n, v))
            set_pseudo(x, n, v);
    } else {
        (void)exchange_add_header(x, n, v, false);
    }
    return 0;
}

static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_n, const uint8_t *value,
                             size_t value_n, uint8_t flags, void *arg)
{
    (void)session;
    (void)frame;
    (void)name;
    (void)name_n;
    (void)value;
    (void)value_n;
    (void)flags;
    (void)arg;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* the stream is reset */
}

/* The first rule that the head breaks, as a status; 0 if none. nghttp2 has checked the shape. */
static int head_status(struct http_exchange *x)
{
    if (x->headers_too_big)
        return 431;
    if (!x->req.path.n || x->req.path.p[0] != '/')
        return str_eq(x->req.path, STR("*")) ? 404 : 400;
    struct str expect = http_header_get(&x->req, STR("expect"));
    if (expect.n && !str_eq_nocase(expect, STR("100-continue")))
        return 417;
    x->expects = expect.n > 0;
    struct str length = http_header_get(&x->req, STR("content-length"));
    uint64_t n;
    if (length.p && (!str_to_u64(length, &n) || n > INT64_MAX))
        return 400;
    if (length.p)
        x->content_length = (int64_t)n;
    return 0;
}

static void head_complete(struct http_exchange *x, bool has_body)
{
    if (!x->req.authority.n)
        x->req.authority = http_header_get(&x->req, STR("host"));
    x->body_complete = !has_body;
    int status = head_status(x);
    if (status)
        exchange_refuse(x, status);
    else
        exchange_head_done(x, has_body);
}

static void body_complete(struct conn *c, struct http_exchange *x)
{
    if (x->collecting)
        http2_of(c)->n_collecting--;
    x->collecting = false;
    exchange_body_end(x);
}

static void headers_received(struct conn *c, const nghttp2_frame *frame, struct http_exchange *x)
{
    bool end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        head_complete(x, !end);
    else if (x->headers_too_big)
        reset_stream(http2_of(c)->session, x->stream_id, NGHTTP2_ENHANCE_YOUR_CALM);
    else if (end)
        body_complete(c, x);
}

/* Streams that are open go on, later ones are not looked at. */
static void say_goaway(struct http2 *h)
{
    if (h->said_goaway || h->terminated)
        return;
    h->said_notice = h->said_goaway = true;
    int32_t last = nghttp2_session_get_last_proc_stream_id(h->session);
    check_nomem(
        nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0));
}

static void ping_received(struct conn *c, const nghttp2_frame *frame)
{
    struct http2 *h = http2_of(c);
    bool ours = frame->hd.flags & NGHTTP2_FLAG_ACK &&
                memcmp(frame->ping.opaque_data, DRAIN_PING, sizeof(DRAIN_PING)) == 0;
    if (ours && h->said_notice) /* the client has seen the notice */
        say_goaway(h);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct conn *c = arg;
    struct http_exchange *x = exchange_of(session, frame->hd.stream_id);
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        if (x)
            headers_received(c, frame, x);
        break;
    case NGHTTP2_DATA:
        if (x && frame->hd.flags & NGHTTP2_FLAG_END_STREAM && !x->body_complete)
            body_complete(c, x);
        break;
    case NGHTTP2_RST_STREAM:
        http2_guard_reset(&http2_of(c)->guard, c->home->limits, now_of(c));
        break;
    case NGHTTP2_PING:
        ping_received(c, frame);
        break;
    default:
        break;
    }
    return 0;
}

static void watch_over_body(struct http2 *h, struct http_exchange *x)
{
    if (!x->collecting) {
        x->collecting = true;
        h->n_collecting++;
    }
}

/* The reply has ended before the request. Then the stream is reset without an error, as RFC 9113
 * 8.1 says; a gRPC client waits for that. But where we refuse a body, some clients (curl 7.88)
 * would take the reset for a failure and forget the reply, so that a rest of bearable size is let
 * in and dropped. */
static void discard_rest(struct conn *c, struct http_exchange *x)
{
    struct http2 *h = http2_of(c);
    if (x->body_streamed || x->content_length > DISCARD_BYTES || x->discarded > DISCARD_BYTES)
        reset_stream(h->session, x->stream_id, NGHTTP2_NO_ERROR);
    else
        watch_over_body(h, x);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream_id, const uint8_t *p,
                   size_t n, void *arg)
{
    (void)flags;
    struct http_exchange *x = exchange_of(session, stream_id);
    bool kept = x && exchange_body(x, (struct str){ (const char *)p, n });
    check_nomem(nghttp2_session_consume_connection(session, n));
    if (!kept || !(x->body_streamed || x->paused))
        check_nomem(nghttp2_session_consume_stream(session, stream_id, n));
    if (x && !kept) {
        x->discarded += (int64_t)n;
        if (x->end_sent)
            discard_rest(arg, x);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream_id, uint32_t code, void *arg)
{
    (void)code;
    struct conn *c = arg;
    struct http_exchange *x = exchange_of(session, stream_id);
    if (!x)
        return 0;
    nghttp2_session_set_stream_user_data(session, stream_id, NULL);
    if (x->collecting)
        http2_of(c)->n_collecting--;
    x->collecting = false;
    if (!x->end_sent)
        exchange_lost(x);
    exchange_release(x);
    return 0;
}

/* ---- Replies ---- */

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct conn *c = arg;
    struct http2 *h = http2_of(c);
    uint8_t type = frame->hd.type;
    if (type == NGHTTP2_RST_STREAM)
        http2_guard_reset(&h->guard, c->home->limits, now_of(c));
    if (type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
        h->terminated = true;
    else if (type == NGHTTP2_GOAWAY && h->said_notice && !h->said_goaway)
        check_nomem(nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, DRAIN_PING));
    if (type == NGHTTP2_DATA)
        http2_guard_data_sent(&h->guard);
    if (type > NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct http_exchange *x = exchange_of(session, frame->hd.stream_id);
    if (!x)
        return 0;
    x->end_sent = true;
    if (!x->body_complete)
        discard_rest(c, x);
    if (x->close_after)
        say_goaway(h);
    return 0;
}

static void http2_begin(struct http_exchange *x, int status, const struct http_header *headers,
                        size_t n, int64_t length)
{
    struct http2 *h = http2_of(x->conn);
    check_nomem(http2_submit_reply(h->session, x, status, headers, n, length));
}

static void http2_more(struct http_exchange *x)
{
    if (!x->deferred)
        return;
    x->deferred = false;
    check_nomem(nghttp2_session_resume_data(http2_of(x->conn)->session, x->stream_id));
}

static void http2_abort(struct http_exchange *x)
{
    reset_stream(http2_of(x->conn)->session, x->stream_id, NGHTTP2_INTERNAL_ERROR);
    conn_wake(x->conn);
}

static void http2_want_body(struct http_exchange *x)
{
    struct http2 *h = http2_of(x->conn);
    if (!x->body_streamed)
        watch_over_body(h, x);
    if (!x->expects)
        return;
    x->expects = false;
    check_nomem(http2_submit_continue(h->session, x->stream_id));
    conn_wake(x->conn);
}

static void http2_consumed(struct http_exchange *x, size_t n)
{
    nghttp2_session *session = http2_of(x->conn)->session;
    check_nomem(nghttp2_session_consume_stream(session, x->stream_id, n));
    conn_wake(x->conn);
}

/* ---- Bytes ---- */

/* In pieces small enough that our budgets are looked at before nghttp2's own, coarser ones (it
 * takes a thousand resets at once) end the connection with an error that blames us. */
static void http2_on_bytes(struct conn *c, struct str bytes)
{
    struct http2 *h = http2_of(c);
    while (bytes.n && !h->terminated) {
        struct str piece = str_take(bytes, FEED_BYTES);
        ssize_t r = nghttp2_session_mem_recv(h->session, (const uint8_t *)piece.p, piece.n);
        if (r < 0) {
            check_nomem((int)r);
            fail(c, (int)r);
            return;
        }
        check_guard(c);
        bytes = str_skip(bytes, piece.n);
    }
}

static void http2_on_eof(struct conn *c)
{
    conn_close(c);
}

static void put_out(struct http2 *h, const void *p, size_t n)
{
    if (n)
        memcpy(h->out.to + h->out.n, p, n);
    h->out.n += n;
}

static size_t room_of(const struct http2 *h)
{
    return h->out.cap - h->out.n;
}

static void move_spill(struct http2 *h)
{
    size_t n = h->spill.n < room_of(h) ? h->spill.n : room_of(h);
    put_out(h, h->spill.p, n);
    if (n == h->spill.n)
        buf_done(&h->spill);
    else
        buf_drop(&h->spill, n);
}

static bool is_over(struct conn *c)
{
    struct http2 *h = http2_of(c);
    if (h->spill.n)
        return false;
    if (h->failed)
        return true;
    if (h->said_notice && !h->said_goaway)
        return false; /* the client may not have seen it yet */
    return !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
}

/* The bodies of replies up to the next piece of anything else, and that; false if there is nothing
 * or no room. */
static bool pull_piece(struct conn *c)
{
    struct http2 *h = http2_of(c);
    const uint8_t *piece;
    size_t before = h->out.n;
    ssize_t r = nghttp2_session_mem_send(h->session, &piece);
    if (r < 0) {
        check_nomem((int)r);
        fail(c, (int)r);
        return false;
    }
    size_t n = (size_t)r, fits = n < room_of(h) ? n : room_of(h);
    put_out(h, piece, fits);
    if (fits < n)
        buf_add(&h->spill, piece + fits, n - fits);
    return h->out.n > before;
}

static size_t http2_pull(struct conn *c, char *to, size_t cap)
{
    struct http2 *h = http2_of(c);
    h->out = (struct http2_out){ .to = to, .cap = cap };
    move_spill(h);
    while (!h->failed && !h->spill.n && room_of(h)) {
        bool has_more = pull_piece(c);
        if (h->guard.tripped && !h->terminated)
            check_guard(c);
        else if (!has_more)
            break;
    }
    if (!h->out.n && is_over(c) && !c->close_when_sent)
        conn_finish(c, true);
    return h->out.n;
}

/* ---- Deadlines ---- */

static struct conn_due http2_due(struct conn *c)
{
    const struct http2 *h = http2_of(c);
    const struct http_limits *l = c->home->limits;
    if (h->head_since_ns)
        return (struct conn_due){ h->head_since_ns + l->read_header_ms * NS_PER_MS,
                                  CONN_HEAD_LATE };
    if (!c->n_exchanges || h->n_collecting)
        return (struct conn_due){ c->read_ns + l->idle_ms * NS_PER_MS, CONN_IDLE };
    return (struct conn_due){ 0, CONN_NEVER };
}

static void http2_late(struct conn *c)
{
    struct http2 *h = http2_of(c);
    if (h->terminated || h->n_collecting)
        conn_close(c);
    else
        terminate(c, NGHTTP2_NO_ERROR);
}

static void http2_drain(struct conn *c)
{
    struct http2 *h = http2_of(c);
    if (h->terminated || h->said_notice)
        return;
    h->said_notice = true;
    check_nomem(nghttp2_submit_shutdown_notice(h->session));
}

static void http2_resume(struct conn *c)
{
    (void)c;
}

/* ---- Life ---- */

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *cb;
    check_nomem(nghttp2_session_callbacks_new(&cb));
    nghttp2_session_callbacks_set_on_begin_frame_callback(cb, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(cb, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_frame_send);
    nghttp2_session_callbacks_set_send_data_callback(cb, http2_send_reply);
    return cb;
}

static nghttp2_option *make_options(const struct http_limits *l)
{
    nghttp2_option *opt;
    check_nomem(nghttp2_option_new(&opt));
    nghttp2_option_set_no_auto_window_update(opt, 1);
    nghttp2_option_set_max_settings(opt, l->h2_settings);
    nghttp2_option_set_max_outbound_ack(opt, l->h2_ack_queue);
    nghttp2_option_set_no_closed_streams(opt, 1);
    /* Go's server takes values with white space at their ends. */
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(opt, 1);
    return opt;
}

static void submit_settings(nghttp2_session *session, const struct http_limits *l)
{
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)l->h2_streams },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)l->h2_window_bytes },
        { NGHTTP2_SETTINGS_MAX_FRAME_SIZE, (uint32_t)l->h2_frame_bytes },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)l->header_bytes },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };
    check_nomem(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)));
    int32_t window = (int32_t)(l->h2_window_bytes * CONNECTION_WINDOWS);
    check_nomem(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, window));
}

static void http2_open(struct conn *c)
{
    struct http2 *h = mem_new(struct http2);
    nghttp2_session_callbacks *cb = make_callbacks();
    nghttp2_option *opt = make_options(c->home->limits);
    check_nomem(nghttp2_session_server_new2(&h->session, cb, c, opt));
    nghttp2_option_del(opt);
    nghttp2_session_callbacks_del(cb);
    http2_guard_init(&h->guard, c->home->limits, now_of(c));
    submit_settings(h->session, c->home->limits);
    c->proto = h;
}

static void http2_close(struct conn *c)
{
    struct http2 *h = take(&c->proto);
    nghttp2_session_del(h->session);
    buf_done(&h->spill);
    free(h);
}

const struct conn_driver http2_driver = {
    .open = http2_open,
    .close = http2_close,
    .on_bytes = http2_on_bytes,
    .on_eof = http2_on_eof,
    .pull = http2_pull,
    .due = http2_due,
    .resume = http2_resume,
    .drain = http2_drain,
    .late = http2_late,
    .begin = http2_begin,
    .more = http2_more,
    .abort = http2_abort,
    .want_body = http2_want_body,
    .consumed = http2_consumed,
};
