/* exchange_clock.c - the time of exchanges: when a body must be there, when the answer must be
 * complete, and how fast it must be taken.
 *
 * Exchanges that have a deadline or something unsent are in a list of their home. One timer goes
 * through the list from time to time. An exchange that ends in between costs two list operations
 * and no timer. An exchange is late by at most a tick. The timer of a drained home ends with its
 * last exchange, because another thread may free the home then.
 *
 * When the time is over, a worker may hold the exchange and its arena. The loop then answers in the
 * holder's place. What the holder still writes is dropped, as when the client is gone. */
#include "base/idiom.h"
#include "net/http/conn.h"
#include "base/banned.h"

enum { TICK_MOST_MS = 1000, TICK_LEAST_MS = 10, TICKS = 8 /* of the shortest time that counts */ };

static int64_t tick_ns(const struct http_limits *l)
{
    const int64_t times[] = { l->request_ms, l->body_ms, l->half_closed_ms, l->write_stall_ms,
                              l->write_crowd_ms };
    int64_t ms = times[0];
    for (size_t i = 1; i < ARRAY_LEN(times); i++)
        ms = times[i] < ms ? times[i] : ms;
    ms = ms / TICKS < TICK_MOST_MS ? ms / TICKS : TICK_MOST_MS;
    return (ms > TICK_LEAST_MS ? ms : TICK_LEAST_MS) * NS_PER_MS;
}

/* ---- Late ---- */

static void answer_late(struct http_exchange *x)
{
    x->late = true;
    arena_init(&x->late_arena);
    struct exchange_refusal refusal = exchange_refusal(&x->late_arena, x->home->limits, 504);
    exchange_queue(x, HTTP_BYTES(refusal.body));
    x->whole = x->began = true;
    x->status = 504;
    exchange_begin(x, 504, refusal.headers, refusal.n_headers, (int64_t)refusal.body.n);
    exchange_give_up(x);
}

/* What has begun cannot be taken back. */
static void cut_off(struct http_exchange *x)
{
    struct conn *c = x->conn;
    exchange_lost(x);
    c->driver->abort(x);
}

static void time_is_over(struct http_exchange *x)
{
    x->deadline_ns = 0;
    allowance_finish(&x->allowance, ALLOWANCE_LATE);
    if (http_is_gone(x) || exchange_all_sent(x))
        return;
    if (x->began)
        cut_off(x);
    else if (x->handed_over)
        answer_late(x);
    else
        exchange_refuse(x, 504);
}

/* ---- Slow ---- */

/* True if less was taken in the last while than a reader takes who wants the rest. */
static bool has_stalled(struct http_exchange *x, int64_t now)
{
    const struct http_limits *l = x->home->limits;
    if (!x->unsent) {
        x->stalled_ns = 0;
        return false;
    }
    if (!x->stalled_ns || x->taken - x->stalled_taken >= l->write_stall_bytes) {
        x->stalled_ns = now;
        x->stalled_taken = x->taken;
    }
    int64_t most_ms = exchange_is_crowded(x) ? l->write_crowd_ms : l->write_stall_ms;
    return now - x->stalled_ns >= most_ms * NS_PER_MS;
}

/* ---- The list ---- */

void exchange_clock_drain(struct http_home *h)
{
    if (TAILQ_EMPTY(&h->timed))
        loop_timer_cancel(&h->tick);
}

void exchange_clock_leave(struct http_exchange *x)
{
    if (!x->is_timed)
        return;
    TAILQ_REMOVE(&x->home->timed, x, timed_link);
    x->is_timed = false;
    if (x->home->draining)
        exchange_clock_drain(x->home);
}

void exchange_clock_join(struct http_exchange *x)
{
    struct http_home *h = x->home;
    if (x->is_timed)
        return;
    x->is_timed = true;
    TAILQ_INSERT_TAIL(&h->timed, x, timed_link);
    if (!h->tick.loop)
        loop_timer_set(h->loop, &h->tick, loop_now_ns(h->loop) + tick_ns(h->limits));
}

static void look_at(struct http_exchange *x, int64_t now)
{
    if (x->deadline_ns && now >= x->deadline_ns) {
        time_is_over(x);
    } else if (has_stalled(x, now) && x->conn) {
        conn_abuse(x->conn);
        cut_off(x);
    }
    if (!x->deadline_ns && !x->unsent && !x->room_wanted)
        exchange_clock_leave(x);
}

/* Nothing is freed meanwhile: that has a turn of its own. */
static void on_tick(struct loop_timer *t)
{
    struct http_home *h = container_of(t, struct http_home, tick);
    int64_t now = loop_now_ns(h->loop);
    for (struct http_exchange *x = TAILQ_FIRST(&h->timed), *next; x; x = next) {
        next = TAILQ_NEXT(x, timed_link);
        look_at(x, now);
    }
    exchange_room_look(h);
    if (!TAILQ_EMPTY(&h->timed))
        loop_timer_set(h->loop, &h->tick, now + tick_ns(h->limits));
}

void exchange_clock_init(struct http_home *h)
{
    TAILQ_INIT(&h->timed);
    h->tick.on_fire = on_tick;
}

void exchange_hurry(struct http_exchange *x)
{
    const struct http_home *h = x->home;
    int64_t soon = loop_now_ns(h->loop) + h->limits->half_closed_ms * NS_PER_MS;
    if (!x->deadline_ns || soon < x->deadline_ns)
        x->deadline_ns = soon;
    exchange_clock_join(x);
}

void http_set_time(struct http_exchange *x, int64_t ms)
{
    loop_assert_owner(x->home->loop);
    x->deadline_ns = ms ? x->req.arrived_ns + ms * NS_PER_MS : 0;
    if (ms)
        exchange_clock_join(x);
}
