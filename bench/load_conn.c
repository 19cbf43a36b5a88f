#include "bench/load_conn.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#include "base/banned.h"

enum {
    STREAM_WINDOW = 4 << 20,
    CONNECTION_WINDOW = 1 << 30,
    READ_BYTES = 16 << 10,   /* SSL_read gives one record at most */
    READS_PER_TURN = 64,     /* then the other connections have theirs */
    RECORD_BYTES = 16 << 10, /* what is collected before it is written */
    EVENTS_PER_TURN = 64,
    REASON_BYTES = 120,
};

enum conn_state { CONN_DIALLING, CONN_SHAKING, CONN_SETTLING, CONN_READY, CONN_BROKEN };

struct load_conn {
    struct load_loop *loop;
    const struct load_endpoint *endpoint;
    enum conn_state state;
    int fd;
    uint32_t events; /* what epoll watches for */
    SSL *ssl;
    nghttp2_session *session;
    struct buf out;                /* encrypted next */
    struct load_request *requests; /* under way */
    struct load_conn *next_dirty;
    bool dirty;
    char reason[REASON_BYTES];
};

/* ---- Requests ---- */

static void link_request(struct load_conn *c, struct load_request *r)
{
    r->next = c->requests;
    r->prev = &c->requests;
    if (r->next)
        r->next->prev = &r->next;
    c->requests = r;
}

static void unlink_request(struct load_request *r)
{
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
}

static void finish_request(struct load_request *r)
{
    unlink_request(r);
    r->on_done(r);
}

static void break_conn(struct load_conn *c, const char *why)
{
    if (c->state == CONN_BROKEN)
        return;
    c->state = CONN_BROKEN;
    (void)snprintf(c->reason, sizeof(c->reason), "%s", why);
    (void)epoll_ctl(c->loop->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    while (c->requests) {
        c->requests->status = 0;
        finish_request(c->requests);
    }
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)session, (void)stream, (void)arg;
    struct load_request *r = source->ptr;
    size_t n = r->body.n - r->n_sent < room ? r->body.n - r->n_sent : room;
    memcpy(to, r->body.p + r->n_sent, n);
    r->n_sent += n;
    if (r->n_sent == r->body.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv header(const char *name, struct str value)
{
    return (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name,
                         .namelen = strlen(name),
                         .value = (uint8_t *)(uintptr_t)value.p,
                         .valuelen = value.n,
                         .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE };
}

static void mark_dirty(struct load_conn *c)
{
    if (c->dirty)
        return;
    c->dirty = true;
    c->next_dirty = c->loop->dirty;
    c->loop->dirty = c;
}

bool load_conn_submit(struct load_conn *c, struct load_request *r)
{
    nghttp2_nv headers[10];
    size_t n = 0;
    assert(c->session);
    if (c->state != CONN_READY || !nghttp2_session_check_request_allowed(c->session))
        return false;
    headers[n++] = header(":method", r->method);
    headers[n++] = header(":scheme", STR("https"));
    headers[n++] = header(":authority", c->endpoint->authority);
    headers[n++] = header(":path", r->path);
    headers[n++] = header("accept", r->accept.n ? r->accept : STR("application/json"));
    headers[n++] = header("user-agent", STR("sampan-load"));
    if (c->endpoint->bearer.n)
        headers[n++] = header("authorization", c->endpoint->bearer);
    if (r->body.n) {
        int digits = snprintf(r->length, sizeof(r->length), "%zu", r->body.n);
        headers[n++] = header("content-type", STR("application/json"));
        headers[n++] = header("content-length", (struct str){ r->length, (size_t)digits });
    }
    r->conn = c;
    r->status = 0;
    r->n_sent = 0;
    r->n_received = 0;
    nghttp2_data_provider body = { { .ptr = r }, read_body };
    if (nghttp2_submit_request(c->session, NULL, headers, n, r->body.n ? &body : NULL, r) < 0)
        return false;
    link_request(c, r);
    r->begun_ns = clock_mono_ns(&clock_system);
    mark_dirty(c);
    return true;
}

/* ---- What nghttp2 tells ---- */

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    (void)flags, (void)arg;
    uint64_t status;
    if (name_n != 7 || memcmp(name, ":status", 7) != 0)
        return 0;
    struct load_request *r = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (r && str_to_u64((struct str){ (const char *)value, value_n }, &status))
        r->status = (int)status;
    return 0;
}

static int on_chunk(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *p,
                    size_t n, void *arg)
{
    (void)flags, (void)arg;
    struct load_request *r = nghttp2_session_get_stream_user_data(session, stream);
    if (!r)
        return 0;
    r->n_received += n;
    if (r->on_data)
        r->on_data(r, (struct str){ (const char *)p, n });
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
    (void)arg;
    struct load_request *r = nghttp2_session_get_stream_user_data(session, stream);
    if (!r)
        return 0;
    if (code != NGHTTP2_NO_ERROR)
        r->status = 0;
    finish_request(r);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    (void)session;
    struct load_conn *c = arg;
    bool settings = frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK);
    if (settings && c->state == CONN_SETTLING)
        c->state = CONN_READY;
    return 0;
}

/* A request that cannot leave any more: the server is going away. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int code, void *arg)
{
    (void)session, (void)code, (void)arg;
    return frame->hd.type == NGHTTP2_HEADERS ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static bool make_session(struct load_conn *c)
{
    static const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW },
    };
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks))
        return false;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
    bool ok = nghttp2_session_client_new(&c->session, callbacks, c) == 0;
    nghttp2_session_callbacks_del(callbacks);
    return ok && nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 2) == 0 &&
           nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
                                                 CONNECTION_WINDOW) == 0;
}

/* ---- Bytes ---- */

static void watch_for(struct load_conn *c, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = c };
    if (c->events == events || c->state == CONN_BROKEN)
        return;
    c->events = events;
    (void)epoll_ctl(c->loop->epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
}

/* OpenSSL did nothing: because the socket is not ready, or the connection is at its end. A write
 * that waits for the socket is tried again after every read. */
static void tls_waits(struct load_conn *c, int result, const char *doing)
{
    int error = SSL_get_error(c->ssl, result);
    char why[REASON_BYTES];
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        watch_for(c, error == SSL_ERROR_WANT_WRITE ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return;
    }
    const char *otherwise = error == SSL_ERROR_ZERO_RETURN ? "closed by the server"
                            : errno                        ? strerror(errno)
                                                           : "closed by the server";
    (void)snprintf(why, sizeof(why), "%s: %s", doing, load_tls_reason(otherwise));
    break_conn(c, why);
}

/* Moves what nghttp2 has to say into `out`, up to a record. False if it has nothing more. */
static bool collect(struct load_conn *c)
{
    while (c->out.n < RECORD_BYTES) {
        const uint8_t *p;
        ssize_t n = nghttp2_session_mem_send(c->session, &p);
        if (n < 0)
            break_conn(c, nghttp2_strerror((int)n));
        if (n <= 0)
            return false;
        buf_add(&c->out, p, (size_t)n);
    }
    return true;
}

static void send_pending(struct load_conn *c)
{
    bool more = true;
    while (more && c->state >= CONN_SETTLING && c->state != CONN_BROKEN) {
        more = collect(c);
        while (c->out.n && c->state != CONN_BROKEN) {
            errno = 0;
            int n = SSL_write(c->ssl, c->out.p, (int)c->out.n);
            if (n <= 0) {
                tls_waits(c, n, "write");
                return;
            }
            buf_drop(&c->out, (size_t)n);
        }
    }
    watch_for(c, EPOLLIN);
}

static void receive(struct load_conn *c)
{
    static uint8_t bytes[READ_BYTES];
    for (int i = 0; i < READS_PER_TURN && c->state != CONN_BROKEN; i++) {
        errno = 0;
        int n = SSL_read(c->ssl, bytes, sizeof(bytes));
        if (n <= 0) {
            tls_waits(c, n, "read");
            return;
        }
        ssize_t r = nghttp2_session_mem_recv(c->session, bytes, (size_t)n);
        if (r < 0)
            break_conn(c, nghttp2_strerror((int)r));
        /* A socket that has more wakes us again, for less than a read that finds nothing. */
        if (!SSL_has_pending(c->ssl))
            return;
    }
    /* What OpenSSL holds wakes nobody. */
    mark_dirty(c);
}

/* ---- Dialling ---- */

static void shake_hands(struct load_conn *c)
{
    errno = 0;
    int r = SSL_do_handshake(c->ssl);
    if (r != 1) {
        tls_waits(c, r, "handshake");
        return;
    }
    const unsigned char *protocol;
    unsigned n;
    SSL_get0_alpn_selected(c->ssl, &protocol, &n);
    if (n != 2 || memcmp(protocol, "h2", 2) != 0) {
        break_conn(c, "the server does not speak HTTP/2");
        return;
    }
    c->state = CONN_SETTLING;
    if (!make_session(c))
        break_conn(c, "nghttp2 has no session for us");
    mark_dirty(c);
}

static void connected(struct load_conn *c)
{
    int error = 0;
    socklen_t n = sizeof(error);
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0 || error) {
        break_conn(c, strerror(error));
        return;
    }
    c->state = CONN_SHAKING;
    watch_for(c, EPOLLIN);
    shake_hands(c);
}

struct load_conn *load_conn_new(struct load_loop *l, const struct load_endpoint *e, struct err *err)
{
    struct load_conn *c = mem_new(struct load_conn);
    *c = (struct load_conn){ .loop = l, .endpoint = e, .events = EPOLLIN | EPOLLOUT };
    int one = 1;
    c->fd = socket(e->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        (void)err_errno(err, errno, "socket");
        return load_conn_free(c);
    }
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    c->ssl = load_endpoint_session(e, c->fd);
    struct epoll_event event = { .events = c->events, .data.ptr = c };
    if (!c->ssl || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) {
        (void)err_set(err, ERR_INTERNAL, "TLS: %s", load_tls_reason("no session"));
        return load_conn_free(c);
    }
    if (connect(c->fd, (const struct sockaddr *)&e->addr, e->addr_len) < 0 &&
        errno != EINPROGRESS) {
        (void)err_errno(err, errno, "connect to " STR_FMT, STR_ARG(e->authority));
        return load_conn_free(c);
    }
    return c;
}

static void forget_dirty(struct load_conn *c)
{
    for (struct load_conn **p = &c->loop->dirty; *p; p = &(*p)->next_dirty)
        if (*p == c) {
            *p = c->next_dirty;
            return;
        }
}

struct load_conn *load_conn_free(struct load_conn *c)
{
    if (!c)
        return NULL;
    if (c->dirty)
        forget_dirty(c);
    nghttp2_session_del(c->session);
    SSL_free(c->ssl);
    if (c->fd >= 0)
        (void)close(c->fd);
    buf_done(&c->out);
    free(c);
    return NULL;
}

bool load_conn_is_ready(const struct load_conn *c)
{
    return c->state == CONN_READY;
}

const char *load_conn_broken(const struct load_conn *c)
{
    return c->state == CONN_BROKEN ? c->reason : NULL;
}

uint32_t load_conn_max_streams(const struct load_conn *c)
{
    return nghttp2_session_get_remote_settings(c->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

/* ---- The loop ---- */

int load_loop_init(struct load_loop *l, struct err *err)
{
    *l = (struct load_loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
    return l->epoll_fd < 0 ? err_errno(err, errno, "epoll") : 0;
}

void load_loop_done(struct load_loop *l)
{
    assert(!l->dirty);
    if (l->epoll_fd >= 0)
        (void)close(l->epoll_fd);
    l->epoll_fd = -1;
}

static void on_event(struct load_conn *c)
{
    switch (c->state) {
    case CONN_DIALLING:
        connected(c);
        break;
    case CONN_SHAKING:
        shake_hands(c);
        break;
    case CONN_SETTLING:
    case CONN_READY:
        receive(c);
        mark_dirty(c); /* answers to the server's frames, and writes that had to wait */
        break;
    case CONN_BROKEN:
        break;
    }
}

static void flush_dirty(struct load_loop *l)
{
    struct load_conn *c = l->dirty;
    l->dirty = NULL;
    while (c) {
        struct load_conn *next = c->next_dirty;
        c->dirty = false;
        if (c->state >= CONN_SETTLING && c->state != CONN_BROKEN && SSL_has_pending(c->ssl))
            receive(c);
        send_pending(c);
        c = next;
    }
}

void load_loop_turn(struct load_loop *l, int timeout_ms)
{
    struct epoll_event events[EVENTS_PER_TURN];
    flush_dirty(l);
    int n = epoll_wait(l->epoll_fd, events, EVENTS_PER_TURN, l->dirty ? 0 : timeout_ms);
    for (int i = 0; i < n; i++)
        on_event(events[i].data.ptr);
    flush_dirty(l);
}
