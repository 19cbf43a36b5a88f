/* relay.c - connect, TLS, request, head of the answer, body or tunnel: a phase each.
 *
 * The descriptor is taken out of the loop while there is nothing to wait for: one that has hung up
 * would else wake it again and again. A relay is freed in its own turn, so that functions on the
 * stack may look at it. */
#include "net/outgoing/relay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/gzip.h"
#include "net/http/http1_parse.h"
#include "net/loop.h"
#include "net/tls_conn.h"
#include "base/banned.h"

enum {
    READ_BYTES = 32 << 10,
    READS_PER_TURN = 8,
    OUT_MAX_BYTES = 256 << 10, /* of a tunnel, that the server has not taken */
};

enum phase {
    PHASE_CONNECT,
    PHASE_HANDSHAKE,
    PHASE_HEAD,
    PHASE_PASS,    /* the body, to the client */
    PHASE_COLLECT, /* the body, for the holder */
    PHASE_TUNNEL,
    PHASE_OVER, /* the exchange is no more ours */
};

struct relay {
    struct loop_fd fd; /* first */
    struct loop_timer deadline;
    struct loop_msg turn;
    LIST_ENTRY(relay) link; /* of a set */
    struct loop *loop;
    struct http_exchange *x;
    struct relay_request req;
    struct relay_holder holder;
    struct http_limits limits;
    size_t next_address;
    struct tls_conn *tls;
    enum phase phase;
    bool turn_queued, in_loop, is_full, is_eof, blocked;
    struct buf in;  /* the head, or what is collected */
    struct buf out; /* to the server */
    size_t out_at;
    struct http1_scan scan;
    struct http1_chunks chunks;
    struct http1_answer head;
    struct relay_answer answer;
    int64_t left;          /* of the body; -1: to the end of the connection */
    struct gunzip *gunzip; /* NULL: the body is passed on as it comes */
    struct buf zipped;     /* of it, what there was no room for yet */
    bool is_opened;        /* the compressed stream is at its end */
    bool has_all;          /* the body has come to its end */
};

/* ---- The end ---- */

static void wake(struct relay *r)
{
    if (r->turn_queued)
        return;
    r->turn_queued = true;
    loop_defer(r->loop, &r->turn);
}

static void leave_loop(struct relay *r)
{
    if (r->in_loop)
        loop_fd_remove(&r->fd);
    r->in_loop = false;
}

static void close_socket(struct relay *r)
{
    leave_loop(r);
    r->tls = tls_conn_free(r->tls);
    if (r->fd.fd >= 0)
        (void)close(r->fd.fd);
    r->fd.fd = -1;
}

/* The exchange has been answered, or will be by somebody else. */
static void over(struct relay *r)
{
    static const struct http_events none = { 0 };
    if (r->phase != PHASE_TUNNEL)
        http_listen_to(r->x, &none);
    r->phase = PHASE_OVER;
    if (r->req.set)
        LIST_REMOVE(r, link);
    loop_timer_cancel(&r->deadline);
    close_socket(r);
    wake(r);
}

static void relay_free(struct relay *r)
{
    tls_context_unref(r->req.tls);
    buf_done(&r->in);
    buf_done(&r->out);
    buf_done(&r->zipped);
    gunzip_free(r->gunzip);
    free(r);
}

/* Nothing was passed on yet. */
static void fail(struct relay *r, const char *words)
{
    struct arena *a = http_arena(r->x);
    struct err err = ERR_INIT(a);
    const bool is_dialled = r->phase > PHASE_HANDSHAKE;
    (void)err_set(&err, ERR_UNAVAILABLE, "%s", words);
    over(r);
    r->holder.on_failed(r->holder.arg, r->x, is_dialled, &err);
}

/* "dial tcp 10.0.0.1:10250: connect: connection refused" */
static void fail_dial(struct relay *r, const char *step, const char *why)
{
    struct arena *a = http_arena(r->x);
    const size_t last = r->next_address ? r->next_address - 1 : 0;
    struct str text = arena_printf(a, "dial tcp " STR_FMT ": %s%s",
                                   STR_ARG(tcp_text(a, &r->req.to.list[last])), step, why);
    char *word = (char *)text.p + text.n - strlen(why);
    if (*word >= 'A' && *word <= 'Z' && step[0])
        *word = (char)(*word - 'A' + 'a'); /* the system's words begin with a capital */
    fail(r, str_cstr(a, text));
}

static void pass(struct relay *r, struct str bytes);

/* The server's side is at its end. */
static void end_tunnel(struct relay *r)
{
    struct http_exchange *x = r->x;
    autobuf last = { 0 };
    if (r->req.filter)
        r->req.filter->server_end(r->req.filter->arg, &last);
    if (last.n)
        pass(r, buf_str(&last));
    over(r);
    http_tunnel_close(x);
}

/* The connection has broken off, or the server has not kept to HTTP. */
static void broken(struct relay *r, const char *words)
{
    switch (r->phase) {
    case PHASE_PASS:
        over(r);
        http_abort(r->x);
        break;
    case PHASE_TUNNEL:
        end_tunnel(r);
        break;
    case PHASE_OVER:
        break;
    default:
        fail(r, words);
        break;
    }
}

static void on_deadline(struct loop_timer *t)
{
    struct relay *r = container_of(t, struct relay, deadline);
    if (r->phase == PHASE_CONNECT)
        fail_dial(r, "", "i/o timeout");
    else if (r->phase == PHASE_HANDSHAKE)
        fail(r, "net/http: TLS handshake timeout");
    else
        broken(r, "net/http: timeout awaiting response headers");
}

static void set_deadline(struct relay *r, int64_t ms)
{
    if (ms)
        loop_timer_set(r->loop, &r->deadline, loop_now_ns(r->loop) + ms * NS_PER_MS);
    else
        loop_timer_cancel(&r->deadline);
}

/* ---- To the server ---- */

static void join_loop(struct relay *r, uint32_t events)
{
    if (!events) {
        leave_loop(r);
    } else if (r->in_loop) {
        loop_fd_want(&r->fd, events);
    } else {
        r->fd.events = events;
        r->in_loop = loop_fd_add(r->loop, &r->fd, NULL) == 0;
    }
}

static void settle(struct relay *r)
{
    uint32_t events = 0;
    if (r->phase == PHASE_OVER || r->phase == PHASE_CONNECT)
        return;
    if (r->phase == PHASE_HANDSHAKE || (!r->is_full && !r->has_all))
        events |= EPOLLIN;
    if (r->blocked || (r->tls && tls_conn_wants_write(r->tls)))
        events |= EPOLLOUT;
    join_loop(r, events);
}

/* Bytes taken, 0 if the socket is full, -1 if the connection is lost. */
static ssize_t send_bytes(struct relay *r, struct str bytes)
{
    ssize_t n;
    if (r->tls) {
        n = tls_conn_write(r->tls, bytes.p, bytes.n);
        return n == TLS_AGAIN ? 0 : n < 0 ? -1 : n;
    }
    n = send(r->fd.fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n;
}

/* What the client has sent and the server has not taken. */
static size_t unsent(const struct relay *r)
{
    const struct relay_filter *f = r->req.filter;
    return r->out.n - r->out_at + (f ? f->held(f->arg) : 0);
}

/* False if the connection is lost. A server may answer without reading all: what it says is still
 * read. */
static bool send_out(struct relay *r)
{
    r->blocked = false;
    while (r->out_at < r->out.n) {
        const ssize_t n = send_bytes(r, str_skip(buf_str(&r->out), r->out_at));
        if (n < 0)
            return false;
        if (n == 0) {
            r->blocked = true;
            return true;
        }
        r->out_at += (size_t)n;
    }
    buf_done(&r->out);
    r->out_at = 0;
    if (r->phase == PHASE_TUNNEL && unsent(r) <= OUT_MAX_BYTES)
        http_tunnel_pause(r->x, false);
    return true;
}

/* What would end a word or a line becomes something else: nobody adds a request or a header of his
 * own. */
static void add_clean(struct buf *out, struct str text, bool is_word)
{
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char b = (unsigned char)text.p[i];
        const bool is_bad = b < 0x20 || b == 0x7f || (is_word && b == ' ');
        if (is_bad && is_word)
            buf_printf(out, "%%%02X", (unsigned)b);
        else
            buf_byte(out, is_bad ? ' ' : text.p[i]);
    }
}

static void write_request(struct relay *r)
{
    const struct relay_request *q = &r->req;
    add_clean(&r->out, q->method, true);
    buf_byte(&r->out, ' ');
    add_clean(&r->out, q->target, true);
    buf_printf(&r->out, " HTTP/1.1\r\n");
    for (size_t i = 0; i < q->n_headers; i++) {
        add_clean(&r->out, q->headers[i].name, true);
        buf_printf(&r->out, ": ");
        add_clean(&r->out, q->headers[i].value, false);
        buf_printf(&r->out, "\r\n");
    }
    const bool has_body = q->body.n || str_eq(q->method, STR("POST")) ||
                          str_eq(q->method, STR("PUT")) || str_eq(q->method, STR("PATCH"));
    if (has_body)
        buf_printf(&r->out, "content-length: %zu\r\n", q->body.n);
    buf_printf(&r->out, "\r\n");
    buf_str_add(&r->out, q->body);
}

/* ---- To the client ---- */

static void pass(struct relay *r, struct str bytes)
{
    char *copy = mem_dup(bytes.p, bytes.n);
    const struct http_bytes given = { .s = { copy, bytes.n }, .release = free, .owner = copy };
    if (r->phase == PHASE_TUNNEL)
        http_tunnel_write(r->x, given);
    else
        http_reply_write(r->x, given);
    r->is_full = http_reply_room(r->x) == 0;
}

/* What a filter has made; the tunnel may end with it. */
static void send_filtered(struct relay *r, const struct buf *to_client)
{
    struct http_exchange *x = r->x;
    if (to_client->n)
        pass(r, buf_str(to_client));
    if (!r->req.filter->is_over(r->req.filter->arg))
        return;
    over(r);
    http_tunnel_close(x);
}

static void body_over(struct relay *r);

/* Opens what has come of a compressed body, while there is room: a few bytes may become many. */
static void open_some(struct relay *r)
{
    struct err err = ERR_INIT(http_arena(r->x));
    struct str rest = buf_str(&r->zipped);
    while (rest.n && !r->is_full && !r->is_opened) {
        autobuf piece = { 0 };
        const size_t before = rest.n;
        const int step = gunzip_next(r->gunzip, &rest, &piece, READ_BYTES, &err);
        if (step < 0) {
            broken(r, "gzip: invalid header");
            return;
        }
        if (piece.n)
            pass(r, buf_str(&piece));
        r->is_opened = step == 1;
        if (!piece.n && rest.n == before)
            break;
    }
    buf_drop(&r->zipped, r->zipped.n - rest.n);
    if (r->has_all && !r->is_opened && !r->is_full)
        broken(r, "unexpected EOF");
    else if (r->has_all && r->is_opened)
        body_over(r);
}

static void give_piece(struct relay *r, struct str piece)
{
    if (r->phase == PHASE_COLLECT) {
        buf_str_add(&r->in, str_take(piece, RELAY_COLLECT_BYTES - r->in.n));
    } else if (r->gunzip) {
        buf_str_add(&r->zipped, piece);
        open_some(r);
    } else if (piece.n) {
        pass(r, piece);
    }
}

static void body_over(struct relay *r)
{
    struct http_exchange *x = r->x;
    if (r->gunzip && !r->has_all) {
        r->has_all = true;
        open_some(r);
        return;
    }
    if (r->phase == PHASE_COLLECT) {
        struct str body = arena_str(http_arena(x), buf_str(&r->in));
        over(r);
        r->holder.on_collected(r->holder.arg, x, &r->answer, body);
    } else {
        over(r);
        http_reply_end(x, NULL, 0);
    }
}

static void take_chunks(struct relay *r, struct str bytes)
{
    while (bytes.n && r->phase != PHASE_OVER) {
        struct str piece;
        const int step = http1_chunks_next(&r->chunks, &bytes, &piece, &r->limits);
        if (step < 0)
            broken(r, "malformed chunked encoding");
        else if (step == HTTP1_PIECE)
            give_piece(r, piece);
        else if (step == HTTP1_END)
            body_over(r);
    }
}

static void take_body(struct relay *r, struct str bytes)
{
    if (r->head.chunked) {
        take_chunks(r, bytes);
        return;
    }
    if (r->left >= 0)
        bytes = str_take(bytes, (size_t)r->left);
    if (bytes.n)
        give_piece(r, bytes);
    if (r->left >= 0)
        r->left -= (int64_t)bytes.n;
    if (r->left == 0)
        body_over(r);
}

/* ---- The client's side ---- */

static void on_room(void *arg, struct http_exchange *x)
{
    struct relay *r = arg;
    (void)x;
    r->is_full = false;
    if (r->gunzip)
        open_some(r);
    wake(r);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    struct relay *r = arg;
    const bool is_tunnel = r->phase == PHASE_TUNNEL;
    over(r);
    if (is_tunnel)
        http_tunnel_close(x);
    else
        http_abort(x);
}

static void on_client_bytes(void *arg, struct http_exchange *x, struct str bytes)
{
    struct relay *r = arg;
    const struct relay_filter *f = r->req.filter;
    autobuf back = { 0 };
    if (f)
        f->from_client(f->arg, bytes, &back, &r->out);
    else
        buf_str_add(&r->out, bytes);
    if (f)
        send_filtered(r, &back);
    if (r->phase == PHASE_OVER)
        return;
    if (unsent(r) > OUT_MAX_BYTES)
        http_tunnel_pause(x, true);
    wake(r);
}

/* ---- The head of the answer ---- */

static void take_tunnel(struct relay *r, struct str bytes)
{
    const struct relay_filter *f = r->req.filter;
    autobuf on = { 0 };
    if (!f) {
        pass(r, bytes);
        return;
    }
    f->from_server(f->arg, bytes, &on, &r->out);
    send_filtered(r, &on);
    if (r->out.n && r->phase != PHASE_OVER)
        wake(r);
}

static void begin_tunnel(struct relay *r, struct str rest)
{
    const struct http_tunnel tunnel = { r, on_client_bytes, on_room, on_gone };
    static const struct http_events none = { 0 };
    http_listen_to(r->x, &none);
    r->phase = PHASE_TUNNEL;
    http_upgrade(r->x, r->answer.headers, r->answer.n_headers, &tunnel);
    if (r->req.filter) {
        autobuf first = { 0 };
        r->req.filter->begin(r->req.filter->arg, &first, &r->out);
        send_filtered(r, &first);
    }
    if (rest.n && r->phase == PHASE_TUNNEL)
        take_tunnel(r, rest);
    wake(r);
}

static bool has_no_body(const struct relay *r)
{
    return r->head.status == 204 || r->head.status == 304 || str_eq(r->req.method, STR("HEAD"));
}

static void begin_body(struct relay *r, struct str rest)
{
    r->left = has_no_body(r) ? 0 : r->head.content_length;
    if (has_no_body(r))
        r->head.chunked = false;
    if (r->left == 0)
        body_over(r);
    else if (rest.n)
        take_body(r, rest);
}

/* The client hears nothing of the compression. */
static void take_gzip(struct relay *r)
{
    struct http_header *kept =
        arena_array(http_arena(r->x), struct http_header, r->answer.n_headers + 1);
    size_t n = 0;
    bool is_gzip = false;
    for (size_t i = 0; i < r->answer.n_headers; i++) {
        const struct http_header *h = &r->answer.headers[i];
        const bool is_coding = str_eq(h->name, STR("content-encoding"));
        is_gzip |= is_coding && str_eq_nocase(h->value, STR("gzip"));
        if (!is_coding && !str_eq(h->name, STR("content-length")))
            kept[n++] = *h;
    }
    if (!is_gzip)
        return;
    r->gunzip = gunzip_new();
    r->answer.headers = kept;
    r->answer.n_headers = n;
}

static void answered(struct relay *r, struct str rest)
{
    set_deadline(r, 0);
    r->answer = (struct relay_answer){ r->head.status, r->head.headers, r->head.n_headers };
    const bool passes = r->holder.on_head(r->holder.arg, r->x, &r->answer);
    if (r->head.status == 101 && !passes) {
        fail(r, "the server switches protocols, and nobody has asked for it");
    } else if (r->head.status == 101) {
        begin_tunnel(r, rest);
    } else if (passes) {
        r->phase = PHASE_PASS;
        if (r->req.opens_gzip && !has_no_body(r))
            take_gzip(r);
        http_reply_begin(r->x, r->answer.status, r->answer.headers, r->answer.n_headers);
        begin_body(r, rest);
    } else {
        r->phase = PHASE_COLLECT;
        begin_body(r, rest);
    }
}

static bool is_interim(int status)
{
    return status < 200 && status != 101;
}

static void take_head(struct relay *r, struct str bytes)
{
    struct arena *a = http_arena(r->x);
    buf_str_add(&r->in, bytes);
    for (;;) {
        const ptrdiff_t n = http1_scan(&r->scan, buf_str(&r->in), &r->limits);
        if (n == 0)
            return;
        char *text = n > 0 ? arena_dup(a, r->in.p, (size_t)n) : NULL;
        if (!text || http1_answer_parse(a, text, (size_t)n, &r->limits, &r->head)) {
            broken(r, "net/http: HTTP/1.x transport connection broken: malformed HTTP response");
            return;
        }
        buf_drop(&r->in, (size_t)n);
        r->scan = (struct http1_scan){ 0 };
        if (!is_interim(r->head.status))
            break;
    }
    struct str rest = arena_str(a, buf_str(&r->in));
    buf_reset(&r->in);
    answered(r, rest);
}

/* ---- From the server ---- */

static void take_bytes(struct relay *r, struct str bytes)
{
    switch (r->phase) {
    case PHASE_HEAD:
        take_head(r, bytes);
        break;
    case PHASE_PASS:
    case PHASE_COLLECT:
        take_body(r, bytes);
        break;
    case PHASE_TUNNEL:
        take_tunnel(r, bytes);
        break;
    case PHASE_CONNECT:
    case PHASE_HANDSHAKE:
    case PHASE_OVER:
        break;
    }
}

static void take_eof(struct relay *r)
{
    const bool has_body = r->phase == PHASE_PASS || r->phase == PHASE_COLLECT;
    if (has_body && !r->head.chunked && r->left < 0)
        body_over(r);
    else
        broken(r, "EOF");
}

static ssize_t receive(struct relay *r, char *to, size_t cap)
{
    if (r->tls)
        return tls_conn_read(r->tls, to, cap);
    const ssize_t n = recv(r->fd.fd, to, cap, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? TLS_AGAIN : TLS_FAILED;
    return n;
}

static void read_some(struct relay *r)
{
    char bytes[READ_BYTES];
    for (int i = 0; i < READS_PER_TURN && r->phase >= PHASE_HEAD; i++) {
        if (r->phase == PHASE_OVER || r->is_full || r->has_all)
            return;
        const ssize_t n = receive(r, bytes, sizeof(bytes));
        if (n == TLS_AGAIN)
            return;
        if (n == 0)
            take_eof(r);
        else if (n < 0)
            broken(r, "read: connection reset by peer");
        else
            take_bytes(r, (struct str){ bytes, (size_t)n });
    }
    if (r->phase != PHASE_OVER && !r->is_full && !r->has_all)
        wake(r); /* TLS may hold bytes that the socket does not show */
}

/* ---- Connecting ---- */

static void connected(struct relay *r)
{
    r->phase = PHASE_HEAD;
    set_deadline(r, r->req.head_ms);
    write_request(r);
    wake(r);
}

static void handshake(struct relay *r)
{
    struct err err = ERR_INIT(http_arena(r->x));
    const int done = tls_conn_handshake(r->tls, &err);
    if (done == TLS_AGAIN)
        return;
    if (done < 0)
        fail(r, str_cstr(err.arena, err.msg));
    else
        connected(r);
}

static void opened(struct relay *r)
{
    if (!r->req.tls) {
        connected(r);
        return;
    }
    r->phase = PHASE_HANDSHAKE;
    r->tls = tls_conn_new(r->req.tls, r->fd.fd, r->req.tls_name);
    handshake(r);
}

/* 0, or an errno. */
static int try_address(struct relay *r, const struct tcp_address *at)
{
    close_socket(r);
    r->fd.fd = socket(at->any.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (r->fd.fd < 0)
        return errno;
    tcp_set_client_options(r->fd.fd);
    if (connect(r->fd.fd, (const struct sockaddr *)&at->any, at->n) < 0 && errno != EINPROGRESS)
        return errno;
    join_loop(r, EPOLLOUT);
    return r->in_loop ? 0 : ENOMEM;
}

static void try_next(struct relay *r, int errnum)
{
    while (r->next_address < r->req.to.n) {
        errnum = try_address(r, &r->req.to.list[r->next_address++]);
        if (!errnum)
            return;
    }
    char words[128];
    fail_dial(r, "connect: ", strerror_r(errnum, words, sizeof(words)));
}

static void on_ready(struct loop_fd *f, uint32_t events)
{
    struct relay *r = (struct relay *)f;
    int errnum = 0;
    socklen_t len = sizeof(errnum);
    (void)events;
    if (r->phase == PHASE_CONNECT) {
        (void)getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &errnum, &len);
        if (errnum)
            try_next(r, errnum);
        else
            opened(r);
    } else if (r->phase == PHASE_HANDSHAKE) {
        handshake(r);
    } else {
        wake(r);
        return;
    }
    settle(r);
}

/* ---- Its turn ---- */

static void on_turn(struct loop *l, struct loop_msg *m)
{
    struct relay *r = container_of(m, struct relay, turn);
    (void)l;
    r->turn_queued = false;
    if (r->phase == PHASE_CONNECT && r->fd.fd < 0)
        try_next(r, EADDRNOTAVAIL);
    if (r->phase >= PHASE_HEAD && r->phase != PHASE_OVER && !send_out(r))
        buf_reset(&r->out);
    if (r->phase >= PHASE_HEAD && r->phase != PHASE_OVER)
        read_some(r);
    if (r->phase == PHASE_OVER && !r->turn_queued)
        relay_free(r);
    else
        settle(r);
}

void relay_start(struct http_exchange *x, const struct relay_request *req,
                 const struct relay_holder *holder)
{
    struct relay *r = mem_new(struct relay);
    const struct http_events events = { r, on_room, on_gone, NULL };
    loop_assert_owner(http_loop(x));
    r->loop = http_loop(x);
    r->x = x;
    r->req = *req;
    r->req.tls = tls_context_ref(req->tls);
    r->holder = *holder;
    r->limits = http_limits_default();
    r->fd = (struct loop_fd){ .fd = -1, .on_ready = on_ready };
    r->deadline.on_fire = on_deadline;
    r->turn.run = on_turn;
    if (req->set)
        LIST_INSERT_HEAD(req->set, r, link);
    http_set_time(x, 0);
    http_listen_to(x, &events);
    set_deadline(r, RELAY_CONNECT_MS);
    wake(r);
}

void relay_set_close(struct relay_set *set)
{
    struct relay *r, *next;
    for (r = LIST_FIRST(set); r; r = next) {
        next = LIST_NEXT(r, link);
        struct http_exchange *x = r->x;
        if (r->phase == PHASE_PASS) {
            over(r);
            http_reply_end(x, NULL, 0);
        } else if (r->phase == PHASE_TUNNEL) {
            over(r);
            http_tunnel_close(x);
        }
    }
}
