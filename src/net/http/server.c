/* server.c - connections dealt out to loops, drain, counters.
 *
 * Listeners and the drain live on the first loop; each loop has a home (conn.h) for its
 * connections. The server is counted: an exchange that a worker holds may outlive the rest. */
#include "net/http/server.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

/* Connections that make room at once: one of so many, and not more than that. */
enum { ROOM_SHARE = 64, ROOM_MOST = 16 };

struct http_limits http_limits_default(void)
{
    return (struct http_limits){
        .body_bytes = LIMIT_BODY_BYTES,
        .collected_bytes = LIMIT_COLLECTED_BYTES,
        .header_bytes = LIMIT_HEADER_BYTES,
        .header_count = LIMIT_HEADER_COUNT,
        .request_line_bytes = LIMIT_REQUEST_LINE_BYTES,
        .connections = LIMIT_CONNECTIONS,
        .handshakes = LIMIT_HANDSHAKES,
        .pipeline = LIMIT_PIPELINE,
        .write_buffer_bytes = LIMIT_WRITE_BUFFER_BYTES,
        .handshake_ms = LIMIT_HANDSHAKE_MS,
        .write_stall_bytes = LIMIT_WRITE_STALL_BYTES,
        .reply_bytes = LIMIT_REPLY_BYTES,
        .reply_bytes_all = LIMIT_REPLY_BYTES_ALL,
        .request_memory = LIMIT_REQUEST_MEMORY,
        .request_memory_all = LIMIT_REQUEST_MEMORY_ALL,
        .read_header_ms = LIMIT_READ_HEADER_MS,
        .body_ms = LIMIT_BODY_MS,
        .request_ms = LIMIT_REQUEST_MS,
        .half_closed_ms = LIMIT_HALF_CLOSED_MS,
        .idle_ms = LIMIT_IDLE_MS,
        .write_stall_ms = LIMIT_WRITE_STALL_MS,
        .write_crowd_ms = LIMIT_WRITE_CROWD_MS,
        .drain_ms = LIMIT_DRAIN_MS,
        .h2_streams = LIMIT_H2_STREAMS,
        .h2_window_bytes = LIMIT_H2_WINDOW_BYTES,
        .h2_frame_bytes = LIMIT_H2_FRAME_BYTES,
        .h2_continuations = LIMIT_H2_CONTINUATIONS,
        .h2_settings = LIMIT_H2_SETTINGS,
        .h2_resets = LIMIT_H2_RESETS,
        .h2_resets_per_sec = LIMIT_H2_RESETS_PER_SEC,
        .h2_control_frames = LIMIT_H2_CONTROL_FRAMES,
        .h2_ack_queue = LIMIT_H2_ACK_QUEUE,
    };
}

/* ---- Homes ---- */

struct http_home *http_home_new(struct http_server *s, struct loop *l)
{
    struct http_home *h = mem_new(struct http_home);
    h->server = s;
    h->loop = l;
    h->limits = &s->limits;
    h->handler = &s->handler;
    h->shares = &s->shares;
    exchange_clock_init(h);
    exchange_room_init(h, s->limits.reply_bytes_all / s->n_homes);
    TAILQ_INIT(&h->conns);
    TAILQ_INIT(&h->handshaking);
    h->most_handshaking = s->limits.handshakes / s->n_homes;
    if (!h->most_handshaking)
        h->most_handshaking = 1;
    return h;
}

void http_home_free(struct http_home *h)
{
    assert(TAILQ_EMPTY(&h->conns));
    while (h->spare) {
        struct http_exchange *x = h->spare;
        h->spare = x->link.tqe_next;
        arena_done(&x->arena);
        free(x);
    }
    free(h->read_buffer);
    free(h->write_buffer);
    free(h);
}

struct str http_home_date(struct http_home *h)
{
    int64_t now = loop_now_ns(h->loop);
    if (!h->date_n || now - h->date_ns >= NS_PER_SEC) {
        time_t t = (time_t)(clock_wall_ns(&clock_system) / NS_PER_SEC);
        struct tm tm;
        gmtime_r(&t, &tm);
        h->date_n = strftime(h->date, sizeof(h->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        h->date_ns = now;
    }
    return (struct str){ h->date, h->date_n };
}

/* ---- Life ---- */

struct http_server *http_server_new(const struct http_server_options *opt)
{
    assert(opt->n_loops > 0 && opt->handler.on_request);
    struct http_server *s = mem_new(struct http_server);
    atomic_init(&s->refs, 1);
    s->limits = opt->limits ? *opt->limits : http_limits_default();
    s->handler = opt->handler;
    shares_init(&s->shares, s->limits.request_memory_all, s->limits.request_memory);
    s->n_homes = opt->n_loops;
    s->homes = mem_array(s->n_homes, sizeof(struct http_home *));
    for (size_t i = 0; i < s->n_homes; i++)
        s->homes[i] = http_home_new(s, opt->loops[i]);
    return s;
}

struct http_home *http_server_home(struct http_server *s, size_t i)
{
    return s->homes[i];
}

void http_server_ref(struct http_server *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void http_server_unref(struct http_server *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < s->n_homes; i++)
        http_home_free(s->homes[i]);
    shares_done(&s->shares);
    free(s->homes);
    free(s);
}

struct http_server *http_server_free(struct http_server *s)
{
    if (!s)
        return NULL;
    if (s->listeners)
        server__close_listeners(s);
    loop_timer_cancel(&s->cut);
    for (size_t i = 0; i < s->n_homes; i++) {
        struct conn *c, *next;
        for (c = TAILQ_FIRST(&s->homes[i]->conns); c; c = next) {
            next = TAILQ_NEXT(c, link);
            conn_close(c);
        }
        s->homes[i]->draining = true; /* if it was not, its loop does not run */
        exchange_clock_drain(s->homes[i]);
    }
    http_server_unref(s);
    return NULL;
}

/* ---- Dealing out ---- */

struct deal_msg {
    struct loop_msg msg;
    struct http_home *home;
    struct tls_context *tls;
    int fd;
    bool is_tcp;
    size_t address_n;
    char address[64];
};

static void start_conn(struct http_home *h, int fd, struct tls_context *tls, struct str address,
                       bool is_tcp)
{
    conn_start(h, fd, tls, address, is_tcp);
    tls_context_unref(tls);
}

static void on_deal(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct deal_msg *d = (struct deal_msg *)m;
    start_conn(d->home, d->fd, d->tls, (struct str){ d->address, d->address_n }, d->is_tcp);
    free(d);
}

void server__deal(struct http_server *s, int fd, struct tls_context *tls, struct str address,
                  bool is_tcp)
{
    struct http_home *h = s->homes[s->next_home++ % s->n_homes];
    atomic_fetch_add(&s->connections_open, 1);
    atomic_fetch_add(&s->connections_total, 1);
    http_server_ref(s);
    tls_context_ref(tls);
    if (tls)
        atomic_fetch_add(&s->handshakes_open, 1);
    if (h == s->homes[0]) {
        start_conn(h, fd, tls, address, is_tcp);
        return;
    }
    struct deal_msg *d = mem_new(struct deal_msg);
    *d = (struct deal_msg){ .msg.run = on_deal, .home = h, .tls = tls, .fd = fd, .is_tcp = is_tcp };
    struct str kept = str_take(address, sizeof(d->address));
    d->address_n = kept.n;
    memcpy(d->address, kept.p, kept.n);
    loop_post(h->loop, &d->msg);
}

void http_server_handshake_done(struct http_server *s)
{
    atomic_fetch_sub(&s->handshakes_open, 1);
}

/* ---- Drain ---- */

static struct http_server *server_of(void *member, size_t offset)
{
    return (struct http_server *)((char *)member - offset);
}

static void on_done(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct http_server *s = server_of(m, offsetof(struct http_server, done_msg));
    loop_timer_cancel(&s->cut);
    void (*done)(void *) = s->done;
    void *arg = s->done_arg;
    http_server_unref(s);
    if (done)
        done(arg);
}

static void check_drained(struct http_server *s)
{
    if (!atomic_load(&s->draining) || atomic_load(&s->connections_open) ||
        atomic_exchange(&s->done_posted, true))
        return;
    s->done_msg.run = on_done;
    http_server_ref(s);
    loop_post(s->homes[0]->loop, &s->done_msg);
}

void http_server_conn_closed(struct http_server *s)
{
    atomic_fetch_sub(&s->connections_open, 1);
    check_drained(s);
    http_server_unref(s);
}

struct home_msg {
    struct loop_msg msg;
    struct http_home *home;
    bool cut; /* close instead of drain */
};

static void tell_homes(struct http_server *s, bool cut,
                       void (*run)(struct loop *, struct loop_msg *))
{
    for (size_t i = 0; i < s->n_homes; i++) {
        struct home_msg *m = mem_new(struct home_msg);
        *m = (struct home_msg){ .msg.run = run, .home = s->homes[i], .cut = cut };
        http_server_ref(s);
        loop_post(s->homes[i]->loop, &m->msg);
    }
}

static void on_home(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct home_msg *hm = (struct home_msg *)m;
    struct http_home *h = hm->home;
    h->draining = true;
    exchange_clock_drain(h);
    struct conn *c, *next;
    for (c = TAILQ_FIRST(&h->conns); c; c = next) {
        next = TAILQ_NEXT(c, link);
        if (hm->cut)
            conn_close(c);
        else
            conn_drain(c);
    }
    http_server_unref(h->server);
    free(hm);
}

static void on_cut(struct loop_timer *t)
{
    tell_homes(server_of(t, offsetof(struct http_server, cut)), true, on_home);
}

static void on_drain(struct loop *l, struct loop_msg *m)
{
    struct http_server *s = server_of(m, offsetof(struct http_server, drain_msg));
    server__close_listeners(s);
    atomic_store(&s->draining, true);
    s->cut.on_fire = on_cut;
    loop_timer_set(l, &s->cut, loop_now_ns(l) + s->limits.drain_ms * NS_PER_MS);
    tell_homes(s, false, on_home);
    check_drained(s);
    http_server_unref(s);
}

void http_server_drain(struct http_server *s, void (*done)(void *arg), void *arg)
{
    s->done = done;
    s->done_arg = arg;
    s->drain_msg.run = on_drain;
    http_server_ref(s);
    loop_post(s->homes[0]->loop, &s->drain_msg);
}

/* ---- Making room ---- */

/* A connection without a verified certificate on which nothing happens. */
static bool is_idle_stranger(const struct conn *c)
{
    return (c->phase == CONN_OPEN || c->phase == CONN_SNIFF) && !c->n_exchanges &&
           !c->close_when_sent && !c->peer->peer.cert.verified;
}

static struct conn *idlest_stranger(struct http_home *h)
{
    struct conn *c, *idlest = NULL;
    TAILQ_FOREACH(c, &h->conns, link)
    if (is_idle_stranger(c) && (!idlest || c->read_ns < idlest->read_ns))
        idlest = c;
    return idlest;
}

static void on_make_room(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct http_home *h = ((struct home_msg *)m)->home;
    struct conn *c;
    for (size_t i = 0; i <= h->limits->connections / ROOM_SHARE && i < ROOM_MOST; i++)
        if ((c = idlest_stranger(h)))
            conn_close(c);
    http_server_unref(h->server);
    free(m);
}

void server__make_room(struct http_server *s)
{
    tell_homes(s, false, on_make_room);
}

/* ---- New certificates ---- */

struct tls_msg {
    struct loop_msg msg;
    struct http_server *server;
    struct tls_context *tls;
};

static void on_tls(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct tls_msg *t = (struct tls_msg *)m;
    for (struct listener *li = t->server->listeners; li; li = li->next)
        if (li->tls) {
            tls_context_unref(li->tls);
            li->tls = tls_context_ref(t->tls);
        }
    tls_context_unref(t->tls);
    http_server_unref(t->server);
    free(t);
}

void http_server_set_tls(struct http_server *s, struct tls_context *tls)
{
    struct tls_msg *t = mem_new(struct tls_msg);
    *t = (struct tls_msg){ .msg.run = on_tls, .server = s, .tls = tls_context_ref(tls) };
    http_server_ref(s);
    loop_post(s->homes[0]->loop, &t->msg);
}

/* ---- Counters ---- */

void http_server_stats(const struct http_server *s, struct http_stats *ret)
{
    struct http_stats sum = {
        .connections_open = atomic_load(&s->connections_open),
        .connections_total = atomic_load(&s->connections_total),
        .connections_refused = atomic_load(&s->connections_refused),
        .handshakes_open = atomic_load(&s->handshakes_open),
    };
    for (size_t i = 0; i < s->n_homes; i++) {
        const struct http_counters *c = &s->homes[i]->count;
        sum.handshakes_failed += atomic_load_explicit(&c->handshakes_failed, memory_order_relaxed);
        sum.exchanges_open += atomic_load_explicit(&c->exchanges_open, memory_order_relaxed);
        sum.exchanges_total += atomic_load_explicit(&c->exchanges_total, memory_order_relaxed);
        sum.bytes_in += atomic_load_explicit(&c->bytes_in, memory_order_relaxed);
        sum.bytes_out += atomic_load_explicit(&c->bytes_out, memory_order_relaxed);
        sum.closed_for_abuse += atomic_load_explicit(&c->closed_for_abuse, memory_order_relaxed);
    }
    *ret = sum;
}
