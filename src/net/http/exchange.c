/* exchange.c - one request and its reply, whatever the protocol: life, queue and callbacks.
 *
 * What handlers call is in http_reply.c (on the loop) and http_send.c (from a worker). */
#include "net/http/exchange.h"

#include <assert.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/conn.h"
#include "base/banned.h"

enum { HEADER_OVERHEAD = 32, FIRST_HEADERS = 16 };

static void take_turn(struct loop *l, struct loop_msg *m);

/* ---- Life ---- */

static struct http_exchange *spare_take(struct http_home *h)
{
    struct http_exchange *x = h->spare;
    if (!x) {
        x = mem_new(struct http_exchange);
        arena_init(&x->arena);
        return x;
    }
    h->spare = x->link.tqe_next;
    h->n_spare--;
    struct arena arena = x->arena;
    *x = (struct http_exchange){ .arena = arena };
    return x;
}

static void spare_give(struct http_home *h, struct http_exchange *x)
{
    if (h->n_spare < CONN_SPARE_EXCHANGES && x->arena.held <= CONN_SPARE_ARENA_BYTES) {
        arena_reset(&x->arena);
        x->link.tqe_next = h->spare;
        h->spare = x;
        h->n_spare++;
        return;
    }
    arena_done(&x->arena);
    free(x);
}

struct http_exchange *exchange_new(struct conn *c)
{
    struct http_home *h = c->home;
    struct http_exchange *x = spare_take(h);
    x->home = h;
    x->conn = c;
    x->peer = c->peer;
    c->peer->refs++;
    x->turn.run = take_turn;
    x->end = &x->first;
    x->content_length = -1;
    x->req.peer = &c->peer->peer;
    x->req.arrived_ns = loop_now_ns(h->loop);
    TAILQ_INSERT_TAIL(&c->exchanges, x, link);
    c->n_exchanges++;
    x->counted = true;
    http_server_ref(h->server);
    count_add(&h->count.exchanges_open, 1);
    count_add(&h->count.exchanges_total, 1);
    return x;
}

static void uncount(struct http_exchange *x)
{
    exchange_wait_no_more(x);
    if (x->counted) {
        x->conn->n_exchanges--;
        x->counted = false;
    }
}

static void leave_conn(struct http_exchange *x)
{
    struct conn *c = x->conn;
    if (!c)
        return;
    TAILQ_REMOVE(&c->exchanges, x, link);
    uncount(x);
    x->conn = NULL;
}

void exchange_drop_body(struct http_exchange *x)
{
    if (!x->body_streamed && x->body.n)
        share_collected(x->home->shares, x->peer->share, x->body.n);
    buf_done(&x->body);
}

void http_when_over(struct http_exchange *x,
                    void (*over)(void *arg, struct http_exchange *x, int status), void *arg)
{
    struct exchange_over *o = arena_new(&x->arena, struct exchange_over);
    *o = (struct exchange_over){ .next = x->over, .call = over, .arg = arg };
    x->over = o;
}

static void exchange_free(struct http_exchange *x)
{
    struct http_home *h = x->home;
    for (struct exchange_over *o = x->over; o; o = o->next)
        o->call(o->arg, x, x->status);
    exchange_drop(x);
    exchange_clock_leave(x);
    leave_conn(x);
    exchange_drop_body(x);
    arena_allow(&x->arena, NULL);
    conn_peer_unref(h, x->peer);
    if (x->late)
        arena_done(&x->late_arena);
    if (x->has_gate) {
        pthread_mutex_destroy(&x->gate.lock);
        pthread_cond_destroy(&x->gate.moved);
    }
    count_add(&h->count.exchanges_open, (uint64_t)-1);
    struct http_server *server = h->server;
    spare_give(h, x);
    http_server_unref(server);
}

void exchange_queue_turn(struct http_exchange *x)
{
    if (x->turn_queued)
        return;
    x->turn_queued = true;
    loop_defer(x->home->loop, &x->turn);
}

/* Its work is done and its place free, but callers up the stack may still look at it. */
static void over(struct http_exchange *x)
{
    uncount(x);
    exchange_queue_turn(x);
}

void exchange_ended(struct http_exchange *x)
{
    assert(!x->ended);
    x->ended = true;
    if (x->observer.on_end)
        x->observer.on_end(x->observer.arg, x, x->status);
    if (x->released)
        over(x);
}

void exchange_release(struct http_exchange *x)
{
    if (x->released)
        return;
    x->released = true;
    if (x->ended)
        over(x);
}

static void open_gate(struct http_exchange *x)
{
    if (!x->has_gate || !atomic_load(&x->gate.waiting))
        return;
    pthread_mutex_lock(&x->gate.lock);
    pthread_cond_broadcast(&x->gate.moved);
    pthread_mutex_unlock(&x->gate.lock);
}

void exchange_lost(struct http_exchange *x)
{
    exchange_drop(x);
    exchange_give_up(x);
}

void exchange_give_up(struct http_exchange *x)
{
    if (http_is_gone(x))
        return;
    allowance_finish(&x->allowance, ALLOWANCE_GONE);
    atomic_store(&x->gone, true);
    open_gate(x);
    if (x->ended)
        return;
    if (x->handed_over)
        exchange_queue_turn(x);
    else
        exchange_ended(x); /* nobody else will */
}

void exchange_orphan(struct http_exchange *x)
{
    exchange_lost(x);
    leave_conn(x);
    exchange_release(x);
}

bool http_is_gone(const struct http_exchange *x)
{
    return atomic_load_explicit(&x->gone, memory_order_relaxed);
}

/* ---- The queue of reply bytes ---- */

static void queue_moved(struct http_exchange *x, size_t n)
{
    x->unsent -= n;
    x->taken += n;
    if (x->conn)
        x->conn->unsent -= n;
    if (x->has_gate) {
        atomic_fetch_add(&x->gate.sent, n);
        open_gate(x);
    }
    if (x->room_wanted && x->unsent <= x->home->limits->write_buffer_bytes / 2)
        exchange_queue_turn(x);
}

static void segment_done(struct http_exchange *x)
{
    struct segment *s = x->first;
    x->first = s->next;
    if (!x->first)
        x->end = &x->first;
    void (*release)(void *) = s->release;
    void *owner = s->owner;
    size_t held = s->held;
    if (s == &x->one)
        x->one_used = false;
    else
        free(s);
    if (release)
        release(owner);
    if (held)
        exchange_room_gave(x, held);
}

void exchange_queue(struct http_exchange *x, struct http_bytes bytes)
{
    if (!bytes.s.n || x->head_method || http_is_gone(x)) {
        if (x->has_gate)
            atomic_fetch_add(&x->gate.sent, bytes.s.n);
        if (bytes.release)
            bytes.release(bytes.owner);
        return;
    }
    struct segment *s = x->one_used ? mem_alloc(sizeof(*s)) : &x->one;
    x->one_used = true;
    *s = (struct segment){ .rest = bytes.s,
                           .release = bytes.release,
                           .owner = bytes.owner,
                           .held = bytes.shared ? 0 : bytes.s.n };
    exchange_room_took(x, s->held);
    *x->end = s;
    x->end = &s->next;
    x->unsent += bytes.s.n;
    x->conn->unsent += bytes.s.n;
    exchange_clock_join(x);
}

size_t exchange_take(struct http_exchange *x, char *to, size_t cap)
{
    size_t n = 0;
    while (x->first && n < cap) {
        struct segment *s = x->first;
        struct str part = str_take(s->rest, cap - n);
        memcpy(to + n, part.p, part.n);
        n += part.n;
        s->rest = str_skip(s->rest, part.n);
        if (!s->rest.n)
            segment_done(x);
    }
    if (n)
        queue_moved(x, n);
    return n;
}

void exchange_drop(struct http_exchange *x)
{
    size_t n = x->unsent;
    while (x->first)
        segment_done(x);
    if (n)
        queue_moved(x, n);
}

/* ---- The request ---- */

static void keep_header(struct http_exchange *x, struct str name, struct str value, bool in_arena)
{
    if (x->req.n_headers == x->header_cap) {
        size_t cap = x->header_cap ? x->header_cap * 2 : FIRST_HEADERS;
        x->headers = arena_grow(&x->arena, x->headers, x->header_cap * sizeof(*x->headers),
                                cap * sizeof(*x->headers), alignof(struct http_header));
        x->header_cap = cap;
        x->req.headers = x->headers;
    }
    if (!in_arena) {
        name = arena_str(&x->arena, name);
        value = arena_str(&x->arena, value);
    }
    x->headers[x->req.n_headers++] = (struct http_header){ name, value };
}

bool exchange_count_header(struct http_exchange *x, struct str name, struct str value)
{
    const struct http_limits *l = x->home->limits;
    x->header_list += name.n + value.n + HEADER_OVERHEAD;
    if (x->header_list > l->header_bytes || ++x->n_counted > l->header_count)
        x->headers_too_big = true;
    return !x->headers_too_big;
}

bool exchange_add_header(struct http_exchange *x, struct str name, struct str value, bool in_arena)
{
    if (!exchange_count_header(x, name, value))
        return false;
    keep_header(x, name, value, in_arena);
    return true;
}

void exchange_set_target(struct http_exchange *x, struct str target)
{
    ptrdiff_t mark = str_find(target, '?');
    if (mark < 0) {
        x->req.path = target;
        return;
    }
    x->req.path = str_take(target, (size_t)mark);
    x->req.query = str_skip(target, (size_t)mark + 1);
}

/* A page in a browser can make its own name resolve to our address and then read what we answer;
 * it cannot make the browser send one of these names. */
static bool is_loopback_name(struct str authority)
{
    static const struct str names[] = { { "localhost", 9 }, { "127.0.0.1", 9 }, { "[::1]", 5 } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str rest = str_skip(authority, names[i].n);
        if (str_eq_nocase(str_take(authority, names[i].n), names[i]) &&
            (rest.n == 0 || rest.p[0] == ':'))
            return true;
    }
    return false;
}

void exchange_hand_over(struct http_exchange *x)
{
    const struct http_handler *h = x->home->handler;
    if (exchange_waits(x))
        return;
    x->handed_over = true;
    h->on_request(h->arg, x);
}

/* The first limit or rule that the head breaks, as a status; 0 if none. */
static int head_status(const struct http_exchange *x)
{
    if (x->headers_too_big)
        return 431;
    const bool may_be_any = x->home->limits->h2_any_name && x->req.version == HTTP_2;
    if (x->conn->loopback_names_only && !may_be_any && x->req.authority.n &&
        !is_loopback_name(x->req.authority))
        return 421;
    return 0;
}

/* Takes the body, or hands over what has none. */
static void go_on(struct http_exchange *x)
{
    const struct http_limits *l = x->home->limits;
    bool too_long = x->content_length >= 0 && (uint64_t)x->content_length > l->body_bytes;
    if (!x->body_streamed && !x->body_complete && too_long) {
        exchange_refuse(x, 413);
        return;
    }
    x->body_wanted = !x->body_streamed;
    if (!x->body_streamed)
        http_set_time(x, x->body_complete ? l->request_ms : l->body_ms);
    if (x->body_complete || x->body_streamed)
        exchange_hand_over(x);
    else
        x->conn->driver->want_body(x);
}

void exchange_head_done(struct http_exchange *x, bool has_body)
{
    const struct http_handler *h = x->home->handler;
    x->head_method = str_eq(x->req.method, STR("HEAD"));
    x->body_complete = !has_body;
    int status = head_status(x);
    if (status) {
        exchange_refuse(x, status);
        return;
    }
    enum http_body_mode mode = h->on_head ? h->on_head(h->arg, x) : HTTP_BODY_COLLECT;
    if (x->ended)
        return;
    x->body_streamed = mode == HTTP_BODY_STREAM;
    x->paused = mode == HTTP_BODY_LATER;
    if (x->paused)
        http_set_time(x, x->home->limits->request_ms);
    else
        go_on(x);
}

void http_go_on(struct http_exchange *x)
{
    loop_assert_owner(x->home->loop);
    assert(x->paused);
    x->paused = false;
    if (x->ended || http_is_gone(x))
        return;
    size_t n = x->unconsumed;
    x->unconsumed = 0;
    if (n)
        x->conn->driver->consumed(x, n);
    x->req.body = buf_str(&x->body);
    go_on(x);
}

/* Counts `n` more bytes, unless there is no room for them in the body, or in all bodies together;
 * then that is a status. */
static int collect(struct http_exchange *x, size_t n)
{
    const struct http_limits *l = x->home->limits;
    if (x->body.n + n > l->body_bytes)
        return 413;
    bool room =
        share_collect(x->home->shares, x->peer->share, n, l->collected_bytes, l->body_bytes);
    return room ? 0 : 429;
}

bool exchange_body(struct http_exchange *x, struct str piece)
{
    if (x->ended || http_is_gone(x))
        return false;
    int status = x->body_streamed ? 0 : collect(x, piece.n);
    if (status) {
        exchange_refuse(x, status);
        return false;
    }
    buf_str_add(&x->body, piece);
    if (!x->body_streamed && !x->paused)
        return true;
    x->unconsumed += piece.n;
    if (x->body_wanted)
        exchange_queue_turn(x);
    return true;
}

void exchange_body_end(struct http_exchange *x)
{
    x->body_complete = true;
    if (x->ended || x->paused || http_is_gone(x))
        return;
    if (x->body_streamed) {
        exchange_queue_turn(x);
        return;
    }
    x->req.body = buf_str(&x->body);
    http_set_time(x, x->home->limits->request_ms);
    exchange_hand_over(x);
}

/* ---- Turns ---- */

static void tell_gone(struct http_exchange *x)
{
    x->told_gone = true;
    if (x->is_tunnel && x->tunnel.on_gone)
        x->tunnel.on_gone(x->tunnel.arg, x);
    else if (!x->is_tunnel && x->events.on_gone)
        x->events.on_gone(x->events.arg, x);
}

static bool has_body_to_tell(const struct http_exchange *x)
{
    return x->body_streamed && x->body_wanted && !x->told_body_end &&
           (x->body.n || x->body_complete);
}

/* The buffer is taken away first: the callback may make the driver add to it. */
static void tell_body(struct http_exchange *x)
{
    autobuf piece = x->body;
    x->body = (struct buf){ 0 };
    x->told_body_end = x->body_complete;
    if (x->events.on_body)
        x->events.on_body(x->events.arg, x, buf_str(&piece), x->body_complete);
}

static void tell_room(struct http_exchange *x)
{
    x->room_wanted = false;
    if (x->is_tunnel && x->tunnel.on_room)
        x->tunnel.on_room(x->tunnel.arg, x);
    else if (!x->is_tunnel && x->events.on_room)
        x->events.on_room(x->events.arg, x);
}

static void take_turn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct http_exchange *x = container_of(m, struct http_exchange, turn);
    x->turn_queued = false;
    if (x->ended && x->released) {
        exchange_free(x);
        return;
    }
    if (!x->ended && http_is_gone(x) && x->handed_over && !x->told_gone)
        tell_gone(x);
    if (!x->ended && !http_is_gone(x) && has_body_to_tell(x))
        tell_body(x);
    if (!x->ended && x->room_wanted && x->unsent <= x->home->limits->write_buffer_bytes / 2)
        tell_room(x);
}
