/* courier_h2.c - a delivery that is a stream of an HTTP/2 connection.
 *
 * What was received and not read stays here, and its bytes are kept from flow control once there is
 * more than AHEAD_BYTES of it. */
#include "net/outgoing/courier_internal.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/h2_conn.h"
#include "base/banned.h"

enum { AHEAD_BYTES = 1 << 20, KEPT_BYTES = 16 << 10, HEADERS_MAX = 200 };

struct h2_delivery {
    struct h2_stream h2; /* first */
    struct courier_way way;
    struct str body; /* of the request */
    size_t body_at;
    int64_t deadline_ns; /* negative: none */
    int64_t limit_ms;
    bool is_endless;
    size_t unconsumed; /* the loop's, as the next two */
    struct loop_msg wake;
    bool is_wake_due;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct arena arena; /* of the head; the loop's until has_head */
    struct http_header *headers;
    size_t n_headers, cap_headers;
    int status;
    struct buf in;
    bool has_head, is_starved, is_cancelled, is_over;
    void (*on_ready)(void *arg); /* NULL: nobody wants to be told */
    void *on_ready_arg;
    enum err_code failed; /* ERR_OK: it ended well */
    struct buf why;
};

static struct h2_delivery *of_stream(struct h2_stream *s)
{
    return (struct h2_delivery *)s;
}

static struct h2_delivery *of_way(const struct courier_way *w)
{
    return container_of(w, struct h2_delivery, way);
}

/* There is something for the reader, who wants to be told. False: he waits. Locked. */
static bool tell_reader(struct h2_delivery *d)
{
    void (*fn)(void *arg) = d->on_ready;
    d->on_ready = NULL;
    if (fn)
        fn(d->on_ready_arg);
    return fn;
}

/* Gives the lock back, and tells or wakes the reader, who wants it then. */
static void unlock_and_wake(struct h2_delivery *d)
{
    bool waits = !tell_reader(d);
    (void)pthread_mutex_unlock(&d->lock);
    if (waits)
        (void)pthread_cond_broadcast(&d->changed);
}

/* ---- The loop's side ---- */

/* The reader is woken at the end of the turn, once for all that came in it: head, body and end. */
static void wake_later(struct h2_delivery *d)
{
    if (d->is_wake_due)
        return;
    d->is_wake_due = true;
    atomic_fetch_add_explicit(&d->h2.refs, 1, memory_order_relaxed);
    loop_defer(h2_client_loop(d->h2.client), &d->wake);
}

static void wake_reader(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct h2_delivery *d = container_of(m, struct h2_delivery, wake);
    d->is_wake_due = false;
    (void)pthread_mutex_lock(&d->lock);
    unlock_and_wake(d);
    h2_stream_unref(&d->h2);
}

/* The first end counts. */
static void end(struct h2_delivery *d, enum err_code failed, struct str why)
{
    (void)pthread_mutex_lock(&d->lock);
    if (!d->is_over) {
        d->is_over = true;
        d->failed = failed;
        buf_str_add(&d->why, why);
    }
    (void)pthread_mutex_unlock(&d->lock);
    wake_later(d);
}

static bool submit(struct h2_stream *s)
{
    struct h2_delivery *d = of_stream(s);
    (void)pthread_mutex_lock(&d->lock);
    bool on = !d->is_cancelled;
    (void)pthread_mutex_unlock(&d->lock);
    return on;
}

static bool has_ended(struct h2_stream *s)
{
    return !submit(s);
}

static size_t pull(struct h2_stream *s, void *to, size_t cap, bool *ret_end)
{
    struct h2_delivery *d = of_stream(s);
    struct str rest = str_take(str_skip(d->body, d->body_at), cap);
    if (rest.n)
        memcpy(to, rest.p, rest.n);
    d->body_at += rest.n;
    *ret_end = d->body_at == d->body.n;
    return rest.n;
}

static void grow_headers(struct h2_delivery *d)
{
    size_t cap = d->cap_headers ? 2 * d->cap_headers : 8;
    d->headers = arena_grow(&d->arena, d->headers, d->cap_headers * sizeof(*d->headers),
                            cap * sizeof(*d->headers), alignof(struct http_header));
    d->cap_headers = cap;
}

static void on_header(struct h2_stream *s, struct str name, struct str value)
{
    struct h2_delivery *d = of_stream(s);
    uint64_t status;
    if (d->has_head || d->n_headers == HEADERS_MAX) /* only this thread sets has_head */
        return;
    if (str_eq(name, STR(":status"))) {
        d->status = str_to_u64(value, &status) ? (int)status : 0;
        d->n_headers = 0;
        return;
    }
    if (d->n_headers == d->cap_headers)
        grow_headers(d);
    d->headers[d->n_headers++] =
        (struct http_header){ arena_str(&d->arena, name), arena_str(&d->arena, value) };
}

static void on_head(struct h2_stream *s)
{
    struct h2_delivery *d = of_stream(s);
    (void)pthread_mutex_lock(&d->lock);
    d->has_head |= d->status >= 200; /* others are on their way to it */
    (void)pthread_mutex_unlock(&d->lock);
    wake_later(d);
}

static bool on_data(struct h2_stream *s, struct str bytes)
{
    struct h2_delivery *d = of_stream(s);
    d->unconsumed += bytes.n;
    (void)pthread_mutex_lock(&d->lock);
    buf_str_add(&d->in, bytes);
    (void)pthread_mutex_unlock(&d->lock);
    wake_later(d);
    return true;
}

static size_t consume(struct h2_stream *s)
{
    struct h2_delivery *d = of_stream(s);
    (void)pthread_mutex_lock(&d->lock);
    d->is_starved = d->in.n >= AHEAD_BYTES;
    bool give = !d->is_starved;
    (void)pthread_mutex_unlock(&d->lock);
    size_t n = give ? d->unconsumed : 0;
    d->unconsumed -= n;
    return n;
}

static void lost(struct h2_stream *s, struct str why)
{
    struct h2_delivery *d = of_stream(s);
    d->way.was_not_sent = !s->sent;
    d->way.no_http2 = str_eq(why, H2_NOT_SPOKEN);
    end(d, ERR_UNAVAILABLE, why);
}

static void closed(struct h2_stream *s, uint32_t h2_code)
{
    struct h2_delivery *d = of_stream(s);
    char text[80];
    if (!s->sent) {
        lost(s, STR("the connection takes no more requests"));
    } else if (h2_code == NGHTTP2_NO_ERROR && d->has_head) {
        end(d, ERR_OK, STR(""));
    } else {
        d->way.was_not_sent = h2_code == NGHTTP2_REFUSED_STREAM;
        (void)snprintf(text, sizeof(text), "the server reset the stream: %s",
                       nghttp2_http2_strerror(h2_code));
        end(d, ERR_UNAVAILABLE, str_of(text));
    }
}

static void stream_free(struct h2_stream *s)
{
    struct h2_delivery *d = of_stream(s);
    (void)pthread_mutex_destroy(&d->lock);
    (void)pthread_cond_destroy(&d->changed);
    buf_done(&d->in);
    buf_done(&d->why);
    arena_done(&d->arena);
    free(d);
}

static const struct h2_stream_ops stream_ops = {
    .submit = submit,
    .has_ended = has_ended,
    .pull = pull,
    .on_header = on_header,
    .on_head = on_head,
    .on_data = on_data,
    .consume = consume,
    .closed = closed,
    .lost = lost,
    .free = stream_free,
};

/* ---- The caller's side ---- */

/* Waits for a change until then (negative: for ever). False: the time is over. Locked. */
static bool wait_changed(struct h2_delivery *d, int64_t until_ns)
{
    if (until_ns < 0)
        return pthread_cond_wait(&d->changed, &d->lock) == 0;
    struct timespec ts = { until_ns / NS_PER_SEC, until_ns % NS_PER_SEC };
    return pthread_cond_timedwait(&d->changed, &d->lock, &ts) != ETIMEDOUT;
}

static int failure(struct h2_delivery *d, struct err *err)
{
    if (d->is_cancelled)
        return err_set(err, ERR_GONE, "cancelled");
    return err_set(err, d->failed, STR_FMT, STR_ARG(buf_str(&d->why)));
}

static int too_late(struct h2_delivery *d, struct err *err)
{
    return err_set(err, ERR_TIMEOUT, "no answer within %lld ms", (long long)d->limit_ms);
}

static int await_head(struct h2_delivery *d, struct err *err)
{
    while (!d->has_head && !d->is_over && !d->is_cancelled)
        if (!wait_changed(d, d->deadline_ns))
            return too_late(d, err);
    return d->has_head ? 0 : failure(d, err);
}

static int head(struct courier_way *way, struct fetch_reply *ret, struct err *err)
{
    struct h2_delivery *d = of_way(way);
    (void)pthread_mutex_lock(&d->lock);
    int r = await_head(d, err);
    if (r == 0)
        *ret = (struct fetch_reply){ .status = d->status,
                                     .headers = d->headers,
                                     .n_headers = d->n_headers };
    if (d->is_endless)
        d->deadline_ns = -1;
    (void)pthread_mutex_unlock(&d->lock);
    return r;
}

/* The sooner of the two; negative is never. */
static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* A stream that has nothing to say keeps little. Locked. */
static void give_back_room(struct h2_delivery *d, struct buf *read)
{
    if (read->cap > KEPT_BYTES)
        buf_done(read);
    if (d->in.cap > KEPT_BYTES)
        buf_done(&d->in);
}

/* Locked. */
static int take_body(struct h2_delivery *d, int64_t timeout_ms, struct buf *ret, struct err *err)
{
    int64_t until = timeout_ms < 0 ? -1 : courier_deadline(timeout_ms);
    if (!d->in.n)
        give_back_room(d, ret);
    while (!d->in.n && !d->is_over && !d->is_cancelled)
        if (timeout_ms == 0 || !wait_changed(d, sooner(until, d->deadline_ns)))
            return too_late(d, err);
    if (d->is_cancelled)
        return failure(d, err);
    if (!d->in.n)
        return d->failed == ERR_OK ? 0 : failure(d, err);
    struct buf empty = *ret;
    *ret = d->in;
    buf_reset(&empty);
    d->in = empty;
    return 1;
}

static int read_body(struct courier_way *way, int64_t timeout_ms, struct buf *ret, struct err *err)
{
    struct h2_delivery *d = of_way(way);
    (void)pthread_mutex_lock(&d->lock);
    int r = take_body(d, timeout_ms, ret, err);
    bool poke = r > 0 && d->is_starved;
    (void)pthread_mutex_unlock(&d->lock);
    if (poke)
        h2_stream_poke(&d->h2);
    return r;
}

static void cancel(struct courier_way *way)
{
    struct h2_delivery *d = of_way(way);
    (void)pthread_mutex_lock(&d->lock);
    d->is_cancelled = true;
    unlock_and_wake(d);
    h2_stream_poke(&d->h2);
}

static void when_ready(struct courier_way *way, void (*fn)(void *arg), void *arg)
{
    struct h2_delivery *d = of_way(way);
    (void)pthread_mutex_lock(&d->lock);
    d->on_ready = fn;
    d->on_ready_arg = arg;
    if (d->in.n || d->is_over || d->is_cancelled)
        (void)tell_reader(d);
    (void)pthread_mutex_unlock(&d->lock);
}

/* The loop may have it a little longer. */
static void way_free(struct courier_way *way)
{
    struct h2_delivery *d = of_way(way);
    struct h2_client *c = d->h2.client;
    (void)pthread_mutex_lock(&d->lock);
    bool is_over = d->is_over;
    d->is_cancelled = true;
    d->on_ready = NULL;
    (void)pthread_mutex_unlock(&d->lock);
    if (!is_over)
        h2_stream_poke(&d->h2);
    h2_stream_unref(&d->h2);
    h2_client_let_go(c);
}

static const struct courier_way_ops way_ops = {
    .head = head,
    .read = read_body,
    .when_ready = when_ready,
    .cancel = cancel,
    .free = way_free,
};

static void put_headers(struct h2_stream *s, const struct courier_request *req)
{
    h2_stream_put_header(s, STR(":method"), req->method);
    h2_stream_put_header(s, STR(":scheme"), STR("https"));
    h2_stream_put_header(s, STR(":path"), req->path);
    h2_stream_put_header(s, STR(":authority"), h2_client_authority(s->client));
    for (size_t i = 0; i < req->n_headers; i++)
        h2_stream_put_header(s, req->headers[i].name, req->headers[i].value);
    if (req->body.n) {
        struct str length = arena_printf(&s->arena, "%zu", req->body.n);
        h2_stream_put_header(s, STR("content-length"), length);
    }
}

struct courier_way *courier_h2_send(struct h2_client *c, const struct courier_request *req)
{
    struct h2_delivery *d = mem_new(struct h2_delivery);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&d->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_mutex_init(&d->lock, NULL);
    arena_init(&d->arena);
    arena_expect(&d->arena, COURIER_HEAD_BYTES);
    d->way.ops = &way_ops;
    d->limit_ms = req->timeout_ms > 0 ? req->timeout_ms : COURIER_TIMEOUT_MS;
    d->deadline_ns = courier_deadline(d->limit_ms);
    d->is_endless = req->is_endless;
    d->wake.run = wake_reader;
    h2_client_hold(c);
    h2_stream_init(&d->h2, c, &stream_ops, req->n_headers + 5);
    d->body = arena_str(&d->h2.arena, req->body);
    put_headers(&d->h2, req);
    h2_stream_poke(&d->h2);
    return &d->way;
}
