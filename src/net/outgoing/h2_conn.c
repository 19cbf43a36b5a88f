/* h2_conn.c - socket, the way through a proxy, TLS and an nghttp2 client session.
 *
 * Output is pulled from the session only when the last of it has left, so that what waits, waits
 * in the streams. A dead peer is noticed by TCP's own keep-alive: HTTP/2 pings would be taken for
 * abuse by servers that allow one in five minutes. */
#include "net/outgoing/h2_conn.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/tcp.h"
#include "net/tls_conn.h"
#include "base/banned.h"

enum {
    IO_BYTES = 64 << 10,
    READS_PER_TURN = 16,
    CONNECTION_WINDOW = 16 << 20,
    HEADER_LIST_MAX = 64 << 10,
    NAME_MAX_BYTES = 253,
};

enum phase {
    PHASE_START,
    PHASE_CONNECT,
    PHASE_PROXY, /* handshake with a proxy that has TLS */
    PHASE_TUNNEL,
    PHASE_HANDSHAKE,
    PHASE_OPEN,
    PHASE_CLOSED,
};

struct h2_conn {
    struct loop_fd fd; /* first */
    struct loop_timer deadline;
    struct loop_msg turn;
    struct h2_conn_options opt; /* address and host are copies in the arena */
    struct arena arena;
    struct addrinfo *addresses, *next_address; /* of names */
    struct tunnel tunnel;                      /* of a connection with a proxy */
    struct tls_conn *way;                      /* of a proxy that has TLS; the server's is inside */
    struct tls_conn *tls;
    nghttp2_session *session;
    enum phase phase;
    bool turn_queued, ready, retired, blocked;
    struct h2_stream_list streams;
    size_t n_streams;
    struct buf out;
    size_t out_at;
    char in[IO_BYTES];
};

static void wake(struct h2_conn *c)
{
    if (!c->turn_queued) {
        c->turn_queued = true;
        loop_defer(c->opt.loop, &c->turn);
    }
}

static void retire(struct h2_conn *c, struct str why)
{
    if (c->retired)
        return;
    c->retired = true;
    c->opt.on_retired(c->opt.owner, c, !c->ready, why);
}

/* The stream is no longer ours. */
static void let_go(struct h2_conn *c, struct h2_stream *s)
{
    TAILQ_REMOVE(&c->streams, s, link);
    c->n_streams--;
    s->conn = NULL;
    s->place = H2_STREAM_DONE;
    h2_stream_unref(s);
}

void h2_conn_close(struct h2_conn *c, struct str why)
{
    if (c->phase == PHASE_CLOSED)
        return;
    retire(c, why);
    c->phase = PHASE_CLOSED;
    for (struct h2_stream *s = TAILQ_FIRST(&c->streams), *next; s; s = next) {
        next = TAILQ_NEXT(s, link);
        s->ops->lost(s, why);
        let_go(c, s);
    }
    wake(c);
}

static void close_errno(struct h2_conn *c, const char *what, int errnum)
{
    char text[128];
    const char *words = strerrordesc_np(errnum);
    (void)snprintf(text, sizeof(text), "%s: %s", what, words ? words : "unknown error");
    h2_conn_close(c, str_of(text));
}

static void conn_free(struct h2_conn *c)
{
    loop_timer_cancel(&c->deadline);
    loop_fd_remove(&c->fd);
    nghttp2_session_del(c->session);
    if (c->tls)
        tls_conn_shutdown(c->tls);
    c->tls = tls_conn_free(c->tls);
    if (c->way)
        tls_conn_shutdown(c->way);
    c->way = tls_conn_free(c->way);
    if (c->fd.fd >= 0)
        (void)close(c->fd.fd);
    if (c->addresses)
        freeaddrinfo(c->addresses);
    tls_context_unref(c->opt.tls);
    c->opt.on_freed(c->opt.owner, c);
    tunnel_done(&c->tunnel);
    buf_done(&c->out);
    arena_done(&c->arena);
    free(c);
}

/* ---- The session ---- */

static struct h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* nghttp2 forgets it, or resets it first if it is still running. */
static void reset(struct h2_conn *c, struct h2_stream *s)
{
    (void)nghttp2_session_set_stream_user_data(c->session, s->id, NULL);
    (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    let_go(c, s);
    wake(c);
}

static void consume(struct h2_conn *c, struct h2_stream *s)
{
    size_t n = s->ops->consume(s);
    if (n)
        (void)nghttp2_session_consume_stream(c->session, s->id, n);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    (void)flags;
    (void)arg;
    struct h2_stream *s = stream_of(session, frame->hd.stream_id);
    if (s)
        s->ops->on_header(s, (struct str){ (const char *)name, name_n },
                          (struct str){ (const char *)value, value_n });
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *arg)
{
    (void)flags;
    struct h2_conn *c = arg;
    struct h2_stream *s = stream_of(session, id);
    (void)nghttp2_session_consume_connection(session, n);
    if (!s)
        return 0;
    if (!s->ops->on_data(s, (struct str){ (const char *)p, n }))
        reset(c, s);
    else
        consume(c, s);
    return 0;
}

/* Only a server's SETTINGS show that it speaks HTTP/2: no call is sent before. */
static void became_ready(struct h2_conn *c)
{
    if (c->ready || c->retired)
        return;
    c->ready = true;
    loop_timer_cancel(&c->deadline);
    c->opt.on_ready(c->opt.owner, c);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    if (frame->hd.type == NGHTTP2_HEADERS) {
        struct h2_stream *s = stream_of(session, frame->hd.stream_id);
        if (s && s->ops->on_head)
            s->ops->on_head(s);
    }
    if (frame->hd.type == NGHTTP2_GOAWAY)
        retire(arg, STR("the server is going away"));
    if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
        became_ready(arg);
    return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    (void)arg;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        struct h2_stream *s = stream_of(session, frame->hd.stream_id);
        if (s)
            s->sent = true;
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct h2_stream *s = stream_of(session, id);
    if (s) {
        s->ops->closed(s, code);
        let_go(arg, s);
    }
    return 0;
}

static ssize_t read_data(nghttp2_session *session, int32_t id, uint8_t *to, size_t cap,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)source;
    (void)arg;
    struct h2_stream *s = stream_of(session, id);
    if (!s)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    bool end = false;
    size_t n = s->ops->pull(s, to, cap, &end);
    if (end)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return n || end ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}

static void session_new(struct h2_conn *c)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option))
        mem_exhausted(0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_outbound_ack(option, LIMIT_H2_ACK_QUEUE);
    nghttp2_option_set_max_settings(option, LIMIT_H2_SETTINGS);
    if (nghttp2_session_client_new2(&c->session, callbacks, c, option))
        mem_exhausted(0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, c->opt.window },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_MAX },
    };
    int r = nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 3);
    r |= nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
    assert(r == 0);
}

void h2_conn_open(struct h2_conn *c, struct h2_stream *s)
{
    assert(h2_conn_is_ready(c));
    nghttp2_nv *nv = arena_array(&s->arena, nghttp2_nv, s->n_headers);
    for (size_t i = 0; i < s->n_headers; i++) {
        const struct http_header *h = &s->headers[i];
        nv[i] = (nghttp2_nv){ (uint8_t *)(uintptr_t)h->name.p, (uint8_t *)(uintptr_t)h->value.p,
                              h->name.n, h->value.n, NGHTTP2_NV_FLAG_NONE };
    }
    nghttp2_data_provider provider = { .read_callback = read_data };
    s->conn = c;
    s->place = H2_STREAM_OPEN;
    TAILQ_INSERT_TAIL(&c->streams, s, link);
    c->n_streams++;
    s->id = nghttp2_submit_request(c->session, NULL, nv, s->n_headers, &provider, s);
    if (s->id < 0) {
        s->ops->lost(s, str_of(nghttp2_strerror(s->id)));
        let_go(c, s);
    }
    if (!nghttp2_session_check_request_allowed(c->session))
        retire(c, STR("the connection takes no more calls"));
    wake(c);
}

void h2_conn_look(struct h2_conn *c, struct h2_stream *s)
{
    if (s->ops->has_ended(s)) {
        reset(c, s);
        return;
    }
    consume(c, s);
    (void)nghttp2_session_resume_data(c->session, s->id);
    wake(c);
}

/* ---- Input and output ---- */

/* Bytes, 0 at the end, -1 to try again later, -2 when it is broken. */
static ssize_t io_read(struct h2_conn *c)
{
    struct tls_conn *tls = c->tls ? c->tls : c->way;
    if (tls)
        return tls_conn_read(tls, c->in, sizeof(c->in));
    ssize_t n = recv(c->fd.fd, c->in, sizeof(c->in), 0);
    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EINTR ? TLS_AGAIN : TLS_FAILED;
}

static ssize_t io_write(struct h2_conn *c, struct str s)
{
    struct tls_conn *tls = c->tls ? c->tls : c->way;
    if (tls)
        return tls_conn_write(tls, s.p, s.n);
    ssize_t n = send(c->fd.fd, s.p, s.n, MSG_NOSIGNAL);
    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EINTR ? TLS_AGAIN : TLS_FAILED;
}

static void read_some(struct h2_conn *c)
{
    for (int i = 0; i < READS_PER_TURN && c->phase == PHASE_OPEN; i++) {
        ssize_t n = io_read(c);
        if (n == TLS_AGAIN)
            return;
        if (n <= 0) {
            h2_conn_close(c, n ? STR("the connection broke") : STR("the server hung up"));
            return;
        }
        /* After a fatal error the session only wants to say goodbye: it is fed no more. */
        ssize_t used = nghttp2_session_want_read(c->session)
                           ? nghttp2_session_mem_recv(c->session, (const uint8_t *)c->in, (size_t)n)
                           : n;
        if (used < 0) {
            h2_conn_close(c, str_of(nghttp2_strerror((int)used)));
            return;
        }
        wake(c);
    }
    wake(c); /* TLS may hold more than the socket shows */
}

/* The session's next output, or false. */
static bool fill_out(struct h2_conn *c)
{
    buf_reset(&c->out);
    c->out_at = 0;
    while (c->out.n < IO_BYTES) {
        const uint8_t *p;
        ssize_t n = nghttp2_session_mem_send(c->session, &p);
        if (n < 0)
            h2_conn_close(c, str_of(nghttp2_strerror((int)n)));
        if (n <= 0)
            break;
        buf_add(&c->out, p, (size_t)n);
    }
    return c->out.n > 0 && c->phase == PHASE_OPEN;
}

static void write_all(struct h2_conn *c)
{
    c->blocked = false;
    while (c->out_at < c->out.n || fill_out(c)) {
        ssize_t n = io_write(c, str_skip(buf_str(&c->out), c->out_at));
        c->blocked = n == TLS_AGAIN;
        if (c->blocked)
            return;
        if (n < 0) {
            h2_conn_close(c, STR("the connection broke"));
            return;
        }
        c->out_at += (size_t)n;
    }
}

static void want_events(struct h2_conn *c)
{
    bool write_too = c->blocked && (!c->tls || tls_conn_wants_write(c->tls));
    loop_fd_want(&c->fd, EPOLLIN | (write_too ? (uint32_t)EPOLLOUT : 0));
}

/* ---- Connecting ---- */

static void opened(struct h2_conn *c)
{
    c->phase = PHASE_OPEN;
    session_new(c);
    wake(c);
}

/* A server that offers protocols and not ours ends the handshake with this alert. */
static bool says_no_protocol(struct str why)
{
    static const struct str alert = STR("no application protocol");
    return why.n && memmem(why.p, why.n, alert.p, alert.n);
}

static void handshake(struct h2_conn *c)
{
    struct err err = ERR_INIT(&c->arena);
    int r = tls_conn_handshake(c->tls, &err);
    if (r == TLS_AGAIN)
        loop_fd_want(&c->fd, tls_conn_wants_write(c->tls) ? EPOLLIN | EPOLLOUT : EPOLLIN);
    else if (r < 0)
        h2_conn_close(c, says_no_protocol(err.msg) ? H2_NOT_SPOKEN : err.msg);
    else if (!tls_conn_is_h2(c->tls))
        h2_conn_close(c, H2_NOT_SPOKEN);
    else
        opened(c);
}

/* The server is at the other end. */
static void reached(struct h2_conn *c)
{
    loop_fd_want(&c->fd, EPOLLIN);
    buf_reset(&c->out); /* what was for the proxy */
    c->out_at = 0;
    if (!c->opt.tls) {
        opened(c);
        return;
    }
    c->phase = PHASE_HANDSHAKE;
    c->tls = c->way ? tls_conn_new_inside(c->opt.tls, c->way, c->opt.host)
                    : tls_conn_new(c->opt.tls, c->fd.fd, c->opt.host);
    handshake(c);
}

/* Sends what the proxy is yet to be told. */
static void tell_proxy(struct h2_conn *c)
{
    while (c->out_at < c->out.n) {
        ssize_t n = io_write(c, str_skip(buf_str(&c->out), c->out_at));
        if (n == TLS_AGAIN)
            break;
        if (n < 0) {
            h2_conn_close(c, STR("the connection to the proxy broke"));
            return;
        }
        c->out_at += (size_t)n;
    }
    loop_fd_want(&c->fd, EPOLLIN | (c->out_at < c->out.n ? (uint32_t)EPOLLOUT : 0));
}

/* False: nothing has come. */
static bool hear_some(struct h2_conn *c)
{
    struct err err = ERR_INIT(&c->arena);
    ssize_t n = io_read(c);
    if (n == TLS_AGAIN)
        return false;
    if (n <= 0) {
        h2_conn_close(c, STR("the proxy hung up"));
        return true;
    }
    int r = tunnel_feed(&c->tunnel, (struct str){ c->in, (size_t)n }, &c->out, &err);
    if (r < 0)
        h2_conn_close(c, err.msg);
    else if (r > 0)
        reached(c);
    else
        tell_proxy(c);
    return true;
}

/* TLS may hold more than the socket shows. */
static void hear_proxy(struct h2_conn *c)
{
    while (c->phase == PHASE_TUNNEL && hear_some(c) && c->way && tls_conn_has_more(c->way))
        ;
}

static void open_tunnel(struct h2_conn *c)
{
    struct err err = ERR_INIT(&c->arena);
    c->phase = PHASE_TUNNEL;
    if (tunnel_begin(&c->tunnel, c->opt.proxy, c->opt.address, &c->out, &err) < 0)
        h2_conn_close(c, err.msg);
    else
        tell_proxy(c);
}

static void greet_proxy(struct h2_conn *c)
{
    struct err err = ERR_INIT(&c->arena);
    int r = tls_conn_handshake(c->way, &err);
    if (r == TLS_AGAIN) {
        loop_fd_want(&c->fd, tls_conn_wants_write(c->way) ? EPOLLIN | EPOLLOUT : EPOLLIN);
    } else if (r < 0) {
        (void)err_wrap(&err, "the proxy");
        h2_conn_close(c, err.msg);
    } else {
        open_tunnel(c);
    }
}

static void connected(struct h2_conn *c)
{
    if (!c->opt.proxy) {
        reached(c);
    } else if (c->opt.proxy->kind == PROXY_HTTPS) {
        c->phase = PHASE_PROXY;
        loop_fd_want(&c->fd, EPOLLIN);
        c->way = tls_conn_new(c->opt.proxy_tls, c->fd.fd, proxy_host(c->opt.proxy));
        greet_proxy(c);
    } else {
        open_tunnel(c);
    }
}

/* Starts to connect. 0, or an errno. */
static int try_address(struct h2_conn *c, const struct sockaddr *addr, socklen_t len)
{
    loop_fd_remove(&c->fd);
    if (c->fd.fd >= 0)
        (void)close(c->fd.fd);
    c->fd.fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd.fd < 0)
        return errno;
    if (addr->sa_family != AF_UNIX)
        tcp_set_client_options(c->fd.fd);
    if (connect(c->fd.fd, addr, len) < 0 && errno != EINPROGRESS)
        return errno;
    c->fd.events = EPOLLOUT;
    return loop_fd_add(c->opt.loop, &c->fd, NULL) < 0 ? ENOMEM : 0;
}

static void try_next(struct h2_conn *c, int errnum)
{
    while (c->next_address) {
        const struct addrinfo *ai = c->next_address;
        c->next_address = ai->ai_next;
        errnum = try_address(c, ai->ai_addr, ai->ai_addrlen);
        if (!errnum)
            return;
    }
    close_errno(c, "connect", errnum);
}

static void on_ready(struct loop_fd *f, uint32_t events)
{
    struct h2_conn *c = (struct h2_conn *)f;
    int errnum = 0;
    socklen_t len = sizeof(errnum);
    switch (c->phase) {
    case PHASE_CONNECT:
        (void)getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &errnum, &len);
        if (errnum)
            try_next(c, errnum);
        else
            connected(c);
        break;
    case PHASE_PROXY:
        greet_proxy(c);
        break;
    case PHASE_TUNNEL:
        tell_proxy(c);
        if (c->phase == PHASE_TUNNEL)
            hear_proxy(c);
        break;
    case PHASE_HANDSHAKE:
        handshake(c);
        break;
    case PHASE_OPEN:
        if (events & ~(uint32_t)EPOLLOUT)
            read_some(c);
        wake(c);
        break;
    case PHASE_START:
    case PHASE_CLOSED:
        break;
    }
}

static void on_deadline(struct loop_timer *t)
{
    struct h2_conn *c = container_of(t, struct h2_conn, deadline);
    h2_conn_close(c, STR("the server did not answer in time"));
}

static void connect_unix(struct h2_conn *c, struct str path)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    if (!path.n || path.n >= sizeof(un.sun_path)) {
        h2_conn_close(c, STR("the path of the socket is too long"));
        return;
    }
    memcpy(un.sun_path, path.p, path.n);
    int errnum = try_address(c, (const struct sockaddr *)&un, sizeof(un));
    if (errnum)
        close_errno(c, "connect", errnum);
}

static void connect_tcp(struct h2_conn *c, struct str address)
{
    ptrdiff_t colon = -1;
    for (size_t i = 0; i < address.n; i++)
        if (address.p[i] == ':')
            colon = (ptrdiff_t)i;
    struct str host = str_take(address, colon > 0 ? (size_t)colon : 0);
    struct str port = str_skip(address, (size_t)(colon + 1));
    if (str_starts(host, STR("[")) && str_ends(host, STR("]")))
        host = (struct str){ host.p + 1, host.n - 2 };
    if (!host.n || host.n > NAME_MAX_BYTES || !port.n || memchr(address.p, 0, address.n)) {
        h2_conn_close(c, STR("the address is not host:port"));
        return;
    }
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    int r =
        getaddrinfo(str_cstr(&c->arena, host), str_cstr(&c->arena, port), &hints, &c->addresses);
    if (r) {
        c->addresses = NULL;
        h2_conn_close(c, str_of(gai_strerror(r)));
        return;
    }
    c->next_address = c->addresses;
    try_next(c, EADDRNOTAVAIL);
}

/* A name that cannot be compared would be taken for one that need not be. */
static bool host_can_be_checked(struct str host)
{
    return host.n && host.n <= NAME_MAX_BYTES && !memchr(host.p, 0, host.n);
}

static void start(struct h2_conn *c)
{
    c->phase = PHASE_CONNECT;
    if (c->opt.tls && !host_can_be_checked(c->opt.host))
        h2_conn_close(c, STR("no name to check the certificate against"));
    else if (str_starts(c->opt.address, STR("unix:")))
        connect_unix(c, str_skip(c->opt.address, 5));
    else
        connect_tcp(c, c->opt.proxy ? c->opt.proxy->address : c->opt.address);
}

/* ---- Its turn ---- */

static void move_bytes(struct h2_conn *c)
{
    if (c->tls && tls_conn_has_more(c->tls))
        read_some(c);
    if (c->phase == PHASE_OPEN)
        write_all(c);
    if (c->phase != PHASE_OPEN)
        return;
    want_events(c);
    if (c->blocked)
        return;
    if (c->retired && TAILQ_EMPTY(&c->streams))
        h2_conn_close(c, STR("done"));
    else if (!nghttp2_session_want_read(c->session))
        h2_conn_close(c, STR("the server broke the rules of HTTP/2"));
}

static void on_turn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct h2_conn *c = container_of(m, struct h2_conn, turn);
    c->turn_queued = false;
    if (c->phase == PHASE_START)
        start(c);
    else if (c->phase == PHASE_OPEN)
        move_bytes(c);
    if (c->phase == PHASE_CLOSED && !c->turn_queued)
        conn_free(c);
}

struct h2_conn *h2_conn_new(const struct h2_conn_options *opt)
{
    struct h2_conn *c = mem_new(struct h2_conn);
    arena_init(&c->arena);
    TAILQ_INIT(&c->streams);
    c->opt = *opt;
    c->opt.address = arena_str(&c->arena, opt->address);
    c->opt.host = arena_str(&c->arena, opt->host);
    if (opt->tls)
        c->opt.tls = tls_context_ref(opt->tls);
    c->fd.fd = -1;
    c->fd.on_ready = on_ready;
    c->deadline.on_fire = on_deadline;
    c->turn.run = on_turn;
    loop_timer_set(opt->loop, &c->deadline, loop_now_ns(opt->loop) + opt->connect_ms * NS_PER_MS);
    wake(c);
    return c;
}

bool h2_conn_is_ready(const struct h2_conn *c)
{
    return c->ready && !c->retired;
}

bool h2_conn_has_room(const struct h2_conn *c)
{
    return h2_conn_is_ready(c) &&
           c->n_streams < nghttp2_session_get_remote_settings(
                              c->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}
