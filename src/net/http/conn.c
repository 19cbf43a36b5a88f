/* conn.c - the life of a connection: handshake, reading, writing, deadlines, the end.
 *
 * One timer serves all deadlines. Traffic moves the deadline, not the timer: when the timer fires
 * early it is set again, so that a busy connection does not touch the heap. */
#include "net/http/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/banned.h"

enum {
    FLUSH_ROUNDS = 32,      /* writes before others get their turn */
    FLUSH_BYTES = 32 << 10, /* of each but the first: so much is kept when the socket is full */
    LINGER_BYTES = 8 << 20,
    LINGER_MS = 2000,
};

static const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static void on_ready(struct loop_fd *f, uint32_t events);
static void on_fire(struct loop_timer *t);
static void take_turn(struct loop *l, struct loop_msg *m);

/* ---- Start and end ---- */

void conn_peer_unref(struct http_home *h, struct conn_peer *p)
{
    if (--p->refs)
        return;
    share_unref(h->shares, p->share);
    arena_done(&p->arena);
    free(p);
}

static struct conn_peer *peer_new(struct str address, bool tls)
{
    struct conn_peer *p = mem_new(struct conn_peer);
    p->refs = 1;
    arena_init(&p->arena);
    struct str kept = str_take(address, sizeof(p->address));
    memcpy(p->address, kept.p, kept.n);
    p->peer = (struct http_peer){ .address = { p->address, kept.n }, .tls = tls };
    return p;
}

static void handshaking_leave(struct conn *c)
{
    TAILQ_REMOVE(&c->home->handshaking, c, handshaking_link);
    c->home->n_handshaking--;
    http_server_handshake_done(c->home->server);
}

/* The oldest handshake is closed when there are too many, so half-open ones cannot keep others out.
 */
static void handshaking_join(struct conn *c)
{
    struct http_home *h = c->home;
    if (h->n_handshaking >= h->most_handshaking) {
        struct conn *oldest = TAILQ_FIRST(&h->handshaking);
        conn_abuse(oldest);
        conn_close(oldest);
    }
    TAILQ_INSERT_TAIL(&h->handshaking, c, handshaking_link);
    h->n_handshaking++;
}

static void free_conn(struct conn *c)
{
    struct http_server *server = c->home->server;
    tls_conn_free(c->tls);
    buf_done(&c->pending);
    conn_peer_unref(c->home, c->peer);
    TAILQ_REMOVE(&c->home->conns, c, link);
    count_add(&c->home->count.connections_closed, 1);
    free(c);
    http_server_conn_closed(server);
}

void conn_close(struct conn *c)
{
    if (c->phase == CONN_CLOSED)
        return;
    enum conn_phase was = c->phase;
    c->phase = CONN_CLOSED;
    if (was == CONN_HANDSHAKE)
        handshaking_leave(c);
    loop_fd_remove(&c->fd);
    loop_timer_cancel(&c->timer);
    (void)close(c->fd.fd);
    struct http_exchange *x;
    while ((x = TAILQ_FIRST(&c->exchanges)))
        exchange_orphan(x);
    if (c->driver)
        c->driver->close(c);
    conn_wake(c);
}

void conn_abuse(struct conn *c)
{
    count_add(&c->home->count.closed_for_abuse, 1);
}

static void use_driver(struct conn *c, const struct conn_driver *driver)
{
    c->phase = CONN_OPEN;
    c->driver = driver;
    c->peer->share = shares_find(c->home->shares, &c->peer->peer);
    driver->open(c);
    if (c->home->draining && c->phase == CONN_OPEN)
        driver->drain(c);
}

void conn_start(struct http_home *h, int fd, struct tls_context *tls, struct str address,
                bool is_tcp)
{
    struct conn *c = mem_new(struct conn);
    c->fd = (struct loop_fd){ .fd = fd, .events = EPOLLIN, .on_ready = on_ready };
    c->timer.on_fire = on_fire;
    c->turn.run = take_turn;
    c->home = h;
    c->opened_ns = c->read_ns = loop_now_ns(h->loop);
    c->loopback_names_only = is_tcp && !tls;
    c->peer = peer_new(address, tls != NULL);
    TAILQ_INIT(&c->exchanges);
    TAILQ_INSERT_TAIL(&h->conns, c, link);
    c->phase = tls ? CONN_HANDSHAKE : CONN_SNIFF;
    if (tls) {
        c->tls = tls_conn_new(tls, fd, (struct str){ NULL, 0 });
        handshaking_join(c);
    }
    if (loop_fd_add(h->loop, &c->fd, NULL) < 0)
        conn_close(c);
    else
        conn_wake(c); /* sets the first deadline */
}

/* ---- Waiting ---- */

static void update_interest(struct conn *c)
{
    if (c->phase == CONN_CLOSED)
        return;
    if (c->phase == CONN_LINGER) {
        loop_fd_want(&c->fd, EPOLLIN);
        return;
    }
    bool blocked = c->blocked || (c->tls && tls_conn_wants_write(c->tls));
    uint32_t events = blocked ? EPOLLOUT : 0;
    if (!c->paused && !c->eof)
        events |= EPOLLIN;
    else if (!c->half_closed_seen && !c->eof)
        events |= EPOLLRDHUP;
    loop_fd_want(&c->fd, events);
}

static struct conn_due due_in(int64_t from_ns, int64_t ms, enum conn_why why)
{
    return (struct conn_due){ from_ns + ms * NS_PER_MS, why };
}

static struct conn_due next_due(struct conn *c)
{
    const struct http_limits *l = c->home->limits;
    switch (c->phase) {
    case CONN_HANDSHAKE:
        return due_in(c->opened_ns, l->handshake_ms, CONN_HANDSHAKE_LATE);
    case CONN_SNIFF:
        return due_in(c->opened_ns, l->read_header_ms, CONN_HEAD_LATE);
    case CONN_LINGER:
        return due_in(c->stalled_ns, LINGER_MS, CONN_IDLE);
    case CONN_CLOSED:
        return (struct conn_due){ 0, CONN_NEVER };
    case CONN_OPEN:
        break;
    }
    struct conn_due due = c->driver->due(c);
    struct conn_due stall = due_in(c->stalled_ns, l->write_stall_ms, CONN_STALLED);
    if (c->stalled_ns && (due.why == CONN_NEVER || stall.at_ns < due.at_ns))
        return stall;
    return due;
}

static void arm(struct conn *c)
{
    struct conn_due due = next_due(c);
    if (due.why == CONN_NEVER || (c->armed_ns && c->armed_ns <= due.at_ns))
        return;
    c->armed_ns = due.at_ns;
    loop_timer_set(c->home->loop, &c->timer, due.at_ns);
}

static void on_fire(struct loop_timer *t)
{
    struct conn *c = container_of(t, struct conn, timer);
    struct conn_due due = next_due(c);
    c->armed_ns = 0;
    if (due.why == CONN_NEVER)
        return;
    if (due.at_ns > loop_now_ns(c->home->loop)) {
        arm(c);
        return;
    }
    if (due.why == CONN_HANDSHAKE_LATE)
        count_add(&c->home->count.handshakes_failed, 1);
    if (due.why != CONN_IDLE)
        conn_abuse(c);
    if (due.why == CONN_IDLE && c->phase == CONN_OPEN && !c->close_when_sent) {
        c->driver->late(c);
        conn_wake(c);
    } else {
        conn_close(c);
    }
}

static void watch_stall(struct conn *c)
{
    if (!c->unsent && !c->pending.n) {
        c->stalled_ns = 0;
    } else if (!c->stalled_ns || c->sent - c->stalled_sent >= c->home->limits->write_stall_bytes) {
        c->stalled_ns = loop_now_ns(c->home->loop);
        c->stalled_sent = c->sent;
    }
}

void conn_wake(struct conn *c)
{
    if (c->turn_queued)
        return;
    c->turn_queued = true;
    loop_defer(c->home->loop, &c->turn);
}

void conn_resume(struct conn *c)
{
    c->resume_wanted = true;
    conn_wake(c);
}

void conn_pause(struct conn *c, bool pause)
{
    if (c->paused && !pause) {
        c->read_again = true; /* TLS may hold bytes that the socket does not show */
        conn_wake(c);
    }
    c->paused = pause;
}

/* ---- Writing ---- */

/* Bytes taken, 0 if the socket is full, -1 if the connection is lost. */
static ssize_t send_bytes(struct conn *c, const char *p, size_t n)
{
    ssize_t w;
    if (c->tls) {
        w = tls_conn_write(c->tls, p, n);
        if (w < 0)
            return w == TLS_AGAIN ? 0 : -1;
    } else {
        w = send(c->fd.fd, p, n, MSG_NOSIGNAL);
        if (w < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    c->sent += (uint64_t)w;
    count_add(&c->home->count.bytes_out, (uint64_t)w);
    return w;
}

/* All of it, or the rest is kept and the connection is blocked. False if it is lost. */
static bool send_or_keep(struct conn *c, const char *p, size_t n)
{
    while (n) {
        ssize_t w = send_bytes(c, p, n);
        if (w < 0)
            return false;
        if (w == 0) {
            buf_add(&c->pending, p, n);
            c->blocked = true;
            return true;
        }
        p += w;
        n -= (size_t)w;
    }
    return true;
}

static bool send_pending(struct conn *c)
{
    c->blocked = false;
    while (c->pending_at < c->pending.n) {
        ssize_t w = send_bytes(c, c->pending.p + c->pending_at, c->pending.n - c->pending_at);
        if (w < 0)
            return false;
        if (w == 0) {
            c->blocked = true;
            return true;
        }
        c->pending_at += (size_t)w;
    }
    buf_done(&c->pending);
    c->pending_at = 0;
    return true;
}

static void start_linger(struct conn *c)
{
    if (c->tls)
        tls_conn_shutdown(c->tls);
    (void)shutdown(c->fd.fd, SHUT_WR);
    if (!c->linger_wanted || c->eof) {
        conn_close(c);
        return;
    }
    /* Closing now would make the kernel reset the connection, and the client might never read
     * our last words. */
    struct http_exchange *x;
    while ((x = TAILQ_FIRST(&c->exchanges)))
        exchange_orphan(x);
    c->driver->close(c);
    c->driver = NULL;
    c->phase = CONN_LINGER;
    c->paused = false;
    c->stalled_ns = loop_now_ns(c->home->loop);
}

static char *write_buffer(struct http_home *h)
{
    if (!h->write_buffer)
        h->write_buffer = mem_alloc(CONN_BUFFER_BYTES);
    return h->write_buffer;
}

static void flush(struct conn *c)
{
    if (c->phase != CONN_OPEN)
        return;
    bool ok = send_pending(c);
    for (int round = 0; ok && !c->blocked; round++) {
        if (round == FLUSH_ROUNDS) {
            conn_wake(c);
            break;
        }
        char *from = write_buffer(c->home);
        size_t n = c->driver->pull(c, from, round ? FLUSH_BYTES : CONN_BUFFER_BYTES);
        if (!n)
            break;
        ok = send_or_keep(c, from, n);
    }
    if (!ok) {
        conn_close(c);
        return;
    }
    watch_stall(c);
    if (c->close_when_sent && !c->blocked && !c->turn_queued)
        start_linger(c);
}

void conn_finish(struct conn *c, bool linger)
{
    c->close_when_sent = true;
    c->linger_wanted |= linger;
    conn_wake(c);
}

/* ---- Reading ---- */

static void handshake(struct conn *c)
{
    int r = tls_conn_handshake(c->tls, NULL);
    if (r == TLS_AGAIN)
        return;
    if (r == TLS_FAILED || tls_conn_peer(c->tls, &c->peer->arena, &c->peer->peer.cert, NULL) < 0) {
        count_add(&c->home->count.handshakes_failed, 1);
        conn_close(c);
        return;
    }
    handshaking_leave(c);
    use_driver(c, tls_conn_is_h2(c->tls) ? &http2_driver : &http1_driver);
    c->read_again = true;
}

/* The preface of HTTP/2 cannot begin an HTTP/1.1 request, so the first difference decides. */
static void sniff(struct conn *c, struct str bytes)
{
    size_t matched = c->sniffed;
    while (bytes.n && matched < sizeof(PREFACE) - 1 && bytes.p[0] == PREFACE[matched]) {
        bytes = str_skip(bytes, 1);
        matched++;
    }
    c->sniffed = (uint8_t)matched;
    bool is_h2 = matched == sizeof(PREFACE) - 1;
    if (!is_h2 && !bytes.n)
        return;
    use_driver(c, is_h2 ? &http2_driver : &http1_driver);
    c->driver->on_bytes(c, (struct str){ PREFACE, matched });
    if (bytes.n && c->phase == CONN_OPEN)
        c->driver->on_bytes(c, bytes);
}

static void got_bytes(struct conn *c, struct str bytes)
{
    count_add(&c->home->count.bytes_in, bytes.n);
    c->read_ns = loop_now_ns(c->home->loop);
    if (c->phase == CONN_SNIFF)
        sniff(c, bytes);
    else if (c->phase == CONN_OPEN && !c->close_when_sent)
        c->driver->on_bytes(c, bytes);
}

static void got_eof(struct conn *c)
{
    c->eof = true;
    if (c->phase == CONN_OPEN)
        c->driver->on_eof(c);
    else
        conn_close(c);
}

/* Bytes, 0 at the end, -1 if there are none now, -2 if the connection is lost. */
static ssize_t receive(struct conn *c, char *to, size_t cap)
{
    if (c->tls)
        return tls_conn_read(c->tls, to, cap);
    ssize_t n = read(c->fd.fd, to, cap);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? TLS_AGAIN : TLS_FAILED;
    return n;
}

static void read_some(struct conn *c)
{
    struct http_home *h = c->home;
    if (!h->read_buffer)
        h->read_buffer = mem_alloc(CONN_BUFFER_BYTES);
    size_t n = 0;
    ssize_t r = 0;
    bool more;
    do { /* one read for a socket; for TLS one per record that has arrived */
        r = receive(c, h->read_buffer + n, CONN_BUFFER_BYTES - n);
        if (r > 0)
            n += (size_t)r;
        more = c->tls && r > 0 && tls_conn_has_more(c->tls);
    } while (more && n < CONN_BUFFER_BYTES);
    c->read_again = more;
    if (n)
        got_bytes(c, (struct str){ h->read_buffer, n });
    if (c->phase == CONN_CLOSED)
        return;
    if (r == 0)
        got_eof(c);
    else if (r == TLS_FAILED)
        conn_close(c);
}

static void linger(struct conn *c)
{
    char scratch[16 << 10];
    ssize_t n = read(c->fd.fd, scratch, sizeof(scratch));
    if (n > 0)
        c->lingered += (size_t)n;
    bool over = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (over || c->lingered > LINGER_BYTES)
        conn_close(c);
}

/* ---- Turns ---- */

static void settle(struct conn *c)
{
    if (c->phase == CONN_CLOSED)
        return;
    update_interest(c);
    arm(c);
    if (c->read_again && !c->paused)
        conn_wake(c);
}

static void on_ready(struct loop_fd *f, uint32_t events)
{
    struct conn *c = (struct conn *)f;
    if (c->phase == CONN_LINGER) {
        linger(c);
        return;
    }
    if (events & EPOLLERR || (events & EPOLLHUP && (c->paused || c->eof))) {
        conn_close(c);
        return;
    }
    if (c->phase == CONN_HANDSHAKE)
        handshake(c);
    else if (events & (EPOLLIN | EPOLLHUP) && !c->paused && !c->eof)
        read_some(c);
    else if (events & EPOLLRDHUP && c->phase == CONN_OPEN && !c->half_closed_seen) {
        c->half_closed_seen = true;
        c->driver->on_eof(c);
    }
    flush(c);
    settle(c);
}

static void take_turn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct conn *c = container_of(m, struct conn, turn);
    c->turn_queued = false;
    if (c->phase == CONN_CLOSED) {
        free_conn(c);
        return;
    }
    if (c->resume_wanted && c->phase == CONN_OPEN) {
        c->resume_wanted = false;
        c->driver->resume(c);
    }
    if (c->read_again && !c->paused && c->phase == CONN_OPEN) {
        c->read_again = false;
        read_some(c);
    }
    flush(c);
    settle(c);
}

void conn_drain(struct conn *c)
{
    switch (c->phase) {
    case CONN_SNIFF:
        conn_close(c);
        break;
    case CONN_OPEN:
        c->driver->drain(c);
        conn_wake(c);
        break;
    case CONN_HANDSHAKE: /* use_driver() sees to it */
    case CONN_LINGER:
    case CONN_CLOSED:
        break;
    }
}
