/* grpc_stream.c - queues each way, and how a call ends. */
#include "net/grpc/grpc_stream.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/banned.h"

enum { STATUS_MESSAGE_MAX = 8 << 10 };

struct grpc_message {
    struct grpc_message *next;
    size_t n;
    char bytes[];
};

/* ---- Life ---- */

static void put_headers(struct grpc_stream *s, struct str path, const struct http_header *metadata,
                        size_t n_metadata, int64_t timeout_ms)
{
    struct h2_stream *h2 = &s->h2;
    h2_stream_put_header(h2, STR(":method"), STR("POST"));
    h2_stream_put_header(h2, STR(":scheme"),
                         h2_client_has_tls(h2->client) ? STR("https") : STR("http"));
    h2_stream_put_header(h2, STR(":path"), path);
    h2_stream_put_header(h2, STR(":authority"), h2_client_authority(h2->client));
    h2_stream_put_header(h2, STR("te"), STR("trailers"));
    h2_stream_put_header(h2, STR("content-type"), STR("application/grpc"));
    if (timeout_ms > 0)
        h2_stream_put_header(h2, STR("grpc-timeout"), grpc_timeout_format(&h2->arena, timeout_ms));
    for (size_t i = 0; i < n_metadata; i++)
        h2_stream_put_header(h2, metadata[i].name, metadata[i].value);
}

static const struct h2_stream_ops ops;

struct grpc_stream *grpc_stream_new(struct h2_client *c, struct str path,
                                    const struct http_header *metadata, size_t n_metadata,
                                    int64_t timeout_ms)
{
    struct grpc_stream *s = mem_new(struct grpc_stream);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_mutex_init(&s->lock, NULL);
    s->last = &s->first;
    h2_stream_init(&s->h2, c, &ops, n_metadata + 7);
    put_headers(s, path, metadata, n_metadata, timeout_ms);
    return s;
}

static struct grpc_stream *stream_in(struct h2_stream *s)
{
    return (struct grpc_stream *)s;
}

static void stream_free(struct h2_stream *h2)
{
    struct grpc_stream *s = stream_in(h2);
    while (s->first) {
        struct grpc_message *m = s->first;
        s->first = m->next;
        free(m);
    }
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->changed);
    buf_done(&s->out);
    buf_done(&s->status_message);
    buf_done(&s->got_message);
    grpc_reader_done(&s->reader);
    free(s);
}

/* ---- With the lock held ---- */

void grpc_stream_end(struct grpc_stream *s, enum grpc_status status, struct str message,
                     bool surely_not_run)
{
    if (s->ended)
        return;
    s->ended = true;
    s->status = status;
    s->surely_not_run = surely_not_run;
    buf_str_add(&s->status_message, message);
    (void)pthread_cond_broadcast(&s->changed);
}

struct grpc_result grpc_stream_result(struct grpc_stream *s, struct arena *a)
{
    return (struct grpc_result){ s->status, arena_str(a, buf_str(&s->status_message)),
                                 s->surely_not_run };
}

bool grpc_stream_take(struct grpc_stream *s, struct buf *ret)
{
    struct grpc_message *m = s->first;
    if (!m)
        return false;
    s->first = m->next;
    if (!s->first)
        s->last = &s->first;
    s->held -= m->n;
    buf_reset(ret);
    buf_add(ret, m->bytes, m->n);
    free(m);
    if (s->starved && s->held < GRPC_STREAM_HELD)
        h2_stream_poke(&s->h2);
    return true;
}

int64_t grpc_stream_until(int64_t timeout_ms)
{
    int64_t now = clock_mono_ns(&clock_system), ns;
    if (timeout_ms < 0 || __builtin_mul_overflow(timeout_ms, NS_PER_MS, &ns) ||
        __builtin_add_overflow(now, ns, &ns))
        return -1;
    return ns;
}

bool grpc_stream_wait(struct grpc_stream *s, int64_t until_ns)
{
    if (until_ns < 0)
        return pthread_cond_wait(&s->changed, &s->lock) == 0;
    struct timespec until = { until_ns / NS_PER_SEC, until_ns % NS_PER_SEC };
    return pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0;
}

/* ---- The loop's side ---- */

static bool submit(struct h2_stream *h2)
{
    struct grpc_stream *s = stream_in(h2);
    (void)pthread_mutex_lock(&s->lock);
    s->submitted = !s->ended;
    bool on = s->submitted;
    (void)pthread_mutex_unlock(&s->lock);
    return on;
}

static bool has_ended(struct h2_stream *h2)
{
    struct grpc_stream *s = stream_in(h2);
    (void)pthread_mutex_lock(&s->lock);
    bool ended = s->ended;
    (void)pthread_mutex_unlock(&s->lock);
    return ended;
}

static size_t pull(struct h2_stream *h2, void *to, size_t cap, bool *ret_end)
{
    struct grpc_stream *s = stream_in(h2);
    (void)pthread_mutex_lock(&s->lock);
    struct str rest = str_take(str_skip(buf_str(&s->out), s->out_at), cap);
    if (rest.n)
        memcpy(to, rest.p, rest.n);
    s->out_at += rest.n;
    *ret_end = s->out_at == s->out.n && s->half_closed;
    if (s->out_at >= s->out.n / 2) { /* each byte is moved once at most, on average */
        buf_drop(&s->out, s->out_at);
        s->out_at = 0;
    }
    if (s->out.n - s->out_at <= GRPC_STREAM_UNSENT)
        (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
    return rest.n;
}

static void on_header(struct h2_stream *h2, struct str name, struct str value)
{
    struct grpc_stream *s = stream_in(h2);
    uint64_t n;
    if (str_eq(name, STR(":status")) && str_to_u64(value, &n)) {
        s->http_status = (int)n;
    } else if (str_eq(name, STR("content-type"))) {
        s->is_grpc = grpc_content_type(value);
    } else if (str_eq(name, STR("grpc-status"))) {
        s->has_status = true;
        s->got_status = grpc_status_parse(value);
    } else if (str_eq(name, STR("grpc-message"))) {
        buf_reset(&s->got_message);
        grpc_message_decode(&s->got_message, str_take(value, STATUS_MESSAGE_MAX));
    }
}

static int keep_message(void *arg, struct str bytes)
{
    struct grpc_stream *s = arg;
    struct grpc_message *m = mem_alloc(sizeof(*m) + bytes.n);
    m->next = NULL;
    m->n = bytes.n;
    if (bytes.n)
        memcpy(m->bytes, bytes.p, bytes.n);
    (void)pthread_mutex_lock(&s->lock);
    *s->last = m;
    s->last = &m->next;
    s->held += m->n;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
    return 0;
}

static void end_locked(struct grpc_stream *s, enum grpc_status status, struct str message,
                       bool surely_not_run)
{
    (void)pthread_mutex_lock(&s->lock);
    grpc_stream_end(s, status, message, surely_not_run);
    (void)pthread_mutex_unlock(&s->lock);
}

static bool on_data(struct h2_stream *h2, struct str bytes)
{
    struct grpc_stream *s = stream_in(h2);
    s->unconsumed += bytes.n;
    if (s->http_status != 200 || !s->is_grpc)
        return true; /* some other server's error page: the status tells */
    int r = grpc_reader_feed(&s->reader, bytes, keep_message, s, NULL);
    if (r == -ERR_TOO_LARGE)
        end_locked(s, GRPC_RESOURCE_EXHAUSTED, STR("received a message larger than allowed"),
                   false);
    else if (r < 0)
        end_locked(s, GRPC_INTERNAL, STR("received a malformed or compressed message"), false);
    return r == 0;
}

static size_t consume(struct h2_stream *h2)
{
    struct grpc_stream *s = stream_in(h2);
    (void)pthread_mutex_lock(&s->lock);
    s->starved = s->held >= GRPC_STREAM_HELD;
    bool give = !s->starved;
    (void)pthread_mutex_unlock(&s->lock);
    if (!give)
        return 0;
    size_t n = s->unconsumed;
    s->unconsumed = 0;
    return n;
}

/* What the server did not say in words. */
static enum grpc_status status_of_code(uint32_t h2_code)
{
    switch (h2_code) {
    case NGHTTP2_REFUSED_STREAM:
        return GRPC_UNAVAILABLE;
    case NGHTTP2_CANCEL:
        return GRPC_CANCELLED;
    case NGHTTP2_ENHANCE_YOUR_CALM:
        return GRPC_RESOURCE_EXHAUSTED;
    case NGHTTP2_INADEQUATE_SECURITY:
        return GRPC_PERMISSION_DENIED;
    default:
        return GRPC_INTERNAL;
    }
}

static void closed(struct h2_stream *h2, uint32_t h2_code)
{
    struct grpc_stream *s = stream_in(h2);
    char text[80];
    if (!s->h2.sent) {
        end_locked(s, GRPC_UNAVAILABLE, STR("the connection takes no more calls"), true);
    } else if (s->has_status && s->got_status == GRPC_OK && s->reader.partial.n) {
        end_locked(s, GRPC_INTERNAL, STR("the last message was cut short"), false);
    } else if (s->has_status) {
        end_locked(s, s->got_status, buf_str(&s->got_message), false);
    } else if (s->http_status && (s->http_status != 200 || !s->is_grpc)) {
        (void)snprintf(text, sizeof(text), "the server does not speak gRPC: HTTP status %d",
                       s->http_status);
        end_locked(s, grpc_status_of_http(s->http_status), str_of(text), false);
    } else if (h2_code == NGHTTP2_NO_ERROR) {
        end_locked(s, GRPC_INTERNAL, STR("the server ended without a status"), false);
    } else {
        (void)snprintf(text, sizeof(text), "the server reset the stream: %s",
                       nghttp2_http2_strerror(h2_code));
        end_locked(s, status_of_code(h2_code), str_of(text), h2_code == NGHTTP2_REFUSED_STREAM);
    }
}

static void lost(struct h2_stream *h2, struct str why)
{
    struct grpc_stream *s = stream_in(h2);
    end_locked(s, GRPC_UNAVAILABLE, why, !s->h2.sent);
}

static const struct h2_stream_ops ops = {
    .submit = submit,
    .has_ended = has_ended,
    .pull = pull,
    .on_header = on_header,
    .on_data = on_data,
    .consume = consume,
    .closed = closed,
    .lost = lost,
    .free = stream_free,
};

/* ---- For the callers ---- */

int grpc_stream_send(struct grpc_stream *s, struct str message, struct err *err)
{
    if (message.n > LIMIT_GRPC_MESSAGE_BYTES)
        return err_set(err, ERR_TOO_LARGE, "message of %zu bytes, at most %u are sent", message.n,
                       LIMIT_GRPC_MESSAGE_BYTES);
    (void)pthread_mutex_lock(&s->lock);
    assert(!s->half_closed);
    while (!s->ended && s->out.n - s->out_at > GRPC_STREAM_UNSENT)
        (void)grpc_stream_wait(s, -1);
    bool on = !s->ended;
    if (on) {
        grpc_frame(&s->out, message);
        h2_stream_poke(&s->h2);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return on ? 0 : err_set(err, ERR_GONE, "the stream has ended");
}

void grpc_stream_half_close(struct grpc_stream *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->half_closed = true;
    if (!s->ended)
        h2_stream_poke(&s->h2);
    (void)pthread_mutex_unlock(&s->lock);
}

int grpc_stream_receive(struct grpc_stream *s, int64_t timeout_ms, struct buf *ret,
                        struct grpc_result *ret_result, struct arena *a, struct err *err)
{
    int64_t until = grpc_stream_until(timeout_ms);
    (void)pthread_mutex_lock(&s->lock);
    bool waiting = true;
    while (waiting && !s->first && !s->ended)
        waiting = grpc_stream_wait(s, until);
    bool got = grpc_stream_take(s, ret), ended = s->ended;
    if (!got && ended && ret_result)
        *ret_result = grpc_stream_result(s, a);
    (void)pthread_mutex_unlock(&s->lock);
    if (got)
        return 1;
    return ended ? 0 : err_set(err, ERR_TIMEOUT, "no message in %lld ms", (long long)timeout_ms);
}
