/* exchange_room.c - the memory of replies: what one connection, one client, and all of a loop have
 * waiting to be sent.
 *
 * A client that asks for much and reads little would fill this memory. So requests wait, with their
 * body read but the handler not called, in three cases: their connection has too much unsent, their
 * client has half of all there is, or the loop's room is full. Streamed replies have no room in
 * these cases. Clients that read next to nothing for a short while are then cut off
 * (exchange_clock.c), so the others do not wait for long. */
#include "base/idiom.h"
#include "net/http/conn.h"
#include "base/banned.h"

static bool is_full(const struct http_home *h)
{
    return h->held >= h->most_held;
}

bool http_is_crowded(const struct http_exchange *x)
{
    size_t by_client = atomic_load_explicit(&x->peer->share->held, memory_order_relaxed);
    return by_client >= x->home->limits->reply_bytes_all / 2;
}

bool exchange_is_crowded(const struct http_exchange *x)
{
    return is_full(x->home) || http_is_crowded(x);
}

/* Some waiting exchange may go on now: checked at the end of the turn. */
static void look_again(struct http_home *h)
{
    if (h->room_queued)
        return;
    h->room_queued = true;
    http_server_ref(h->server);
    loop_defer(h->loop, &h->room);
}

void exchange_room_took(struct http_exchange *x, size_t n)
{
    x->home->held += n;
    atomic_fetch_add_explicit(&x->peer->share->held, n, memory_order_relaxed);
}

void exchange_room_gave(struct http_exchange *x, size_t n)
{
    struct http_home *h = x->home;
    bool was_crowded = exchange_is_crowded(x);
    h->held -= n;
    atomic_fetch_sub_explicit(&x->peer->share->held, n, memory_order_relaxed);
    if (h->n_waiting || (was_crowded && !exchange_is_crowded(x)))
        look_again(h);
}

void exchange_room_look(struct http_home *h)
{
    if (h->n_waiting || h->room_wanted)
        look_again(h);
}

static bool must_wait(const struct http_exchange *x)
{
    return x->conn->unsent >= x->home->limits->reply_bytes || exchange_is_crowded(x);
}

bool exchange_waits(struct http_exchange *x)
{
    x->waits = must_wait(x);
    if (x->waits) {
        x->home->n_waiting++;
        TAILQ_INSERT_TAIL(&x->home->waiting, x, wait_link);
    }
    return x->waits;
}

void exchange_wait_no_more(struct http_exchange *x)
{
    if (!x->waits)
        return;
    x->waits = false;
    x->home->n_waiting--;
    TAILQ_REMOVE(&x->home->waiting, x, wait_link);
}

/* Once through the whole list from its start. An exchange that must wait longer goes to the end, so
 * that the order is kept. Handing one over may close its connection and end others that wait. */
static void go_on_waiting(struct http_home *h)
{
    for (size_t n = h->n_waiting; n && h->n_waiting; n--) {
        struct http_exchange *x = TAILQ_FIRST(&h->waiting);
        exchange_wait_no_more(x);
        if (!x->ended && !http_is_gone(x))
            exchange_hand_over(x);
    }
}

/* Streamed replies that had no room look again. */
static void go_on_streaming(struct http_home *h)
{
    struct http_exchange *x;
    h->room_wanted = false;
    TAILQ_FOREACH(x, &h->timed, timed_link)
    if (x->room_wanted)
        exchange_queue_turn(x);
}

static void on_room(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct http_home *h = container_of(m, struct http_home, room);
    h->room_queued = false;
    go_on_waiting(h);
    if (h->room_wanted && !is_full(h))
        go_on_streaming(h);
    http_server_unref(h->server);
}

void exchange_room_init(struct http_home *h, size_t most)
{
    h->most_held = most;
    h->room.run = on_room;
    TAILQ_INIT(&h->waiting);
}
