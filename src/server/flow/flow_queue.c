#include "server/flow/flow_queue.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "auth/flow_rules.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/banned.h"

/* What serving is guessed to take, as upstream. */
static const double SERVICE_SECONDS = 0.003;

TAILQ_HEAD(flow_entries, flow_entry);

struct flow_queue {
    struct flow_entries waiting;
    size_t index, n_waiting, n_serving;
    size_t seats_in_use, seats_waiting, max_seats_waiting;
    double next;         /* on the imagined clock: when its next request would begin */
    double work_waiting; /* seat-seconds */
    TAILQ_ENTRY(flow_queue) link;
};

struct flow_queues {
    struct flow_queue **all;
    size_t n_all, n_dealt, hand_size, length, seats;
    TAILQ_HEAD(flow_wanting, flow_queue)
    wanting;                    /* somebody waits in them; the one longest not served first */
    size_t n_wanting, n_active; /* active: somebody waits or is served */
    size_t n_waiting, seats_in_use, seats_waiting;
    size_t turn; /* with whom the search for the best queue of a hand begins */
    double now;  /* the imagined clock */
    int64_t now_ns;
};

struct flow_queues *flow_queues_new(int64_t now_ns)
{
    struct flow_queues *q = mem_new(struct flow_queues);
    TAILQ_INIT(&q->wanting);
    q->now_ns = now_ns;
    return q;
}

struct flow_queues *flow_queues_free(struct flow_queues *q)
{
    if (!q)
        return NULL;
    for (size_t i = 0; i < q->n_all; i++)
        free(q->all[i]);
    free(q->all);
    free(q);
    return NULL;
}

static bool is_active(const struct flow_queue *u)
{
    return u->n_waiting || u->n_serving;
}

static void drop_empty(struct flow_queues *q, size_t n)
{
    while (q->n_all > n && !is_active(q->all[q->n_all - 1]) && !q->all[q->n_all - 1]->seats_in_use)
        free(q->all[--q->n_all]);
}

void flow_queues_set(struct flow_queues *q, size_t n, size_t hand_size, size_t length)
{
    n = n > LIMIT_FLOW_QUEUES ? LIMIT_FLOW_QUEUES : n;
    assert(hand_size && hand_size <= n && hand_size <= FLOW_HAND_MAX);
    drop_empty(q, n);
    if (n > q->n_all)
        q->all = mem_resize(q->all, n, sizeof(*q->all));
    for (; q->n_all < n; q->n_all++) {
        struct flow_queue *u = q->all[q->n_all] = mem_new(struct flow_queue);
        u->index = q->n_all;
        TAILQ_INIT(&u->waiting);
    }
    q->n_dealt = n;
    q->hand_size = hand_size;
    q->length = length;
}

/* ---- The imagined clock ---- */

static double seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_SEC;
}

static void advance(struct flow_queues *q, int64_t now_ns)
{
    double passed = seconds(now_ns - q->now_ns);
    q->now_ns = now_ns;
    if (!q->n_active || passed <= 0)
        return;
    size_t wanted = q->seats_in_use + q->seats_waiting;
    q->now += passed * (double)(wanted < q->seats ? wanted : q->seats) / (double)q->n_active;
}

void flow_queues_set_seats(struct flow_queues *q, size_t seats, int64_t now_ns)
{
    advance(q, now_ns);
    q->seats = seats;
}

/* A queue that was idle, or over-corrected, gets nothing for the past. */
static void bound(struct flow_queue *u)
{
    const struct flow_entry *first = TAILQ_FIRST(&u->waiting);
    if (first && u->next < first->arrival)
        u->next = first->arrival;
}

/* ---- Coming ---- */

static struct flow_queue *choose(struct flow_queues *q, uint64_t hash)
{
    size_t hand[FLOW_HAND_MAX], first = q->turn++;
    struct flow_queue *best = NULL;
    flow_deal(hash, q->n_dealt, q->hand_size, hand);
    for (size_t i = 0; i < q->hand_size; i++) {
        struct flow_queue *u = q->all[hand[(first + i) % q->hand_size]];
        if (!best || u->work_waiting < best->work_waiting)
            best = u;
    }
    return best;
}

static double guess(const struct flow_work *w)
{
    return w->seats * SERVICE_SECONDS + w->final_seats * seconds(w->extra_ns);
}

static void queue_put(struct flow_queues *q, struct flow_queue *u, struct flow_entry *e)
{
    if (!u->n_waiting++) {
        TAILQ_INSERT_TAIL(&q->wanting, u, link);
        q->n_wanting++;
    }
    TAILQ_INSERT_TAIL(&u->waiting, e, link);
    u->seats_waiting += e->work.seats;
    u->max_seats_waiting += flow_work_seats(&e->work);
    u->work_waiting += e->seat_seconds;
    q->seats_waiting += flow_work_seats(&e->work);
    q->n_waiting++;
}

bool flow_queues_add(struct flow_queues *q, struct flow_entry *e, uint64_t hash, bool is_busy,
                     int64_t now_ns)
{
    advance(q, now_ns);
    struct flow_queue *u = choose(q, hash);
    if (is_busy && u->n_waiting >= q->length)
        return false;
    if (!is_active(u)) {
        u->next = q->now;
        q->n_active++;
    }
    e->queue = u;
    e->arrival = q->now;
    e->seat_seconds = guess(&e->work);
    e->waits = true;
    queue_put(q, u, e);
    bound(u);
    return true;
}

/* ---- Going ---- */

static void queue_drop(struct flow_queues *q, struct flow_queue *u, struct flow_entry *e)
{
    TAILQ_REMOVE(&u->waiting, e, link);
    u->seats_waiting -= e->work.seats;
    u->max_seats_waiting -= flow_work_seats(&e->work);
    u->work_waiting = u->n_waiting > 1 ? u->work_waiting - e->seat_seconds : 0;
    q->seats_waiting -= flow_work_seats(&e->work);
    q->n_waiting--;
    e->waits = false;
    if (--u->n_waiting)
        return;
    TAILQ_REMOVE(&q->wanting, u, link);
    q->n_wanting--;
}

void flow_queues_remove(struct flow_queues *q, struct flow_entry *e, int64_t now_ns)
{
    advance(q, now_ns);
    assert(e->waits);
    struct flow_queue *u = e->queue;
    queue_drop(q, u, e);
    q->n_active -= !is_active(u);
    bound(u);
}

struct flow_entry *flow_queues_next(struct flow_queues *q, int64_t now_ns)
{
    advance(q, now_ns);
    double earliest = INFINITY;
    struct flow_entry *best = NULL;
    for (struct flow_queue *u = TAILQ_FIRST(&q->wanting); u; u = TAILQ_NEXT(u, link)) {
        struct flow_entry *first = TAILQ_FIRST(&u->waiting);
        double end = u->next + first->seat_seconds;
        if (end >= earliest)
            continue;
        earliest = end;
        best = first;
    }
    return best;
}

/* Its queue goes to the end, so that equals take turns. */
void flow_queues_take(struct flow_queues *q, struct flow_entry *e, int64_t now_ns)
{
    advance(q, now_ns);
    struct flow_queue *u = e->queue;
    queue_drop(q, u, e);
    if (u->n_waiting) {
        TAILQ_REMOVE(&q->wanting, u, link);
        TAILQ_INSERT_TAIL(&q->wanting, u, link);
    }
    u->n_serving++;
    u->seats_in_use += flow_work_seats(&e->work);
    q->seats_in_use += flow_work_seats(&e->work);
    u->next += e->seat_seconds;
    e->start_ns = now_ns;
    bound(u);
}

void flow_queues_leave(struct flow_queues *q, struct flow_entry *e, int64_t now_ns)
{
    advance(q, now_ns);
    e->queue->seats_in_use -= flow_work_seats(&e->work);
    q->seats_in_use -= flow_work_seats(&e->work);
}

void flow_queues_over(struct flow_queues *q, struct flow_entry *e, int64_t now_ns)
{
    advance(q, now_ns);
    struct flow_queue *u = e->queue;
    u->next -= e->work.seats * (SERVICE_SECONDS - seconds(now_ns - e->start_ns));
    u->n_serving--;
    q->n_active -= !is_active(u);
    bound(u);
    if (!e->work.extra_ns)
        flow_queues_leave(q, e, now_ns);
}

/* ---- Looking ---- */

size_t flow_queues_waiting(const struct flow_queues *q)
{
    return q->n_waiting;
}

size_t flow_queues_seats_waiting(const struct flow_queues *q)
{
    return q->seats_waiting;
}

size_t flow_queues_seats_in_use(const struct flow_queues *q)
{
    return q->seats_in_use;
}

size_t flow_queues_active(const struct flow_queues *q)
{
    return q->n_wanting;
}

void flow_queues_place(const struct flow_queues *q, const struct flow_entry *e, size_t *ret_queue,
                       int *ret_place)
{
    (void)q;
    *ret_queue = e->queue->index;
    *ret_place = -1;
    if (!e->waits)
        return;
    for (const struct flow_entry *at = e; at; at = TAILQ_PREV(at, flow_entries, link))
        ++*ret_place;
}

void flow_queues_dump(const struct flow_queues *q, struct str level, struct buf *out)
{
    for (size_t i = 0; i < q->n_all; i++) {
        const struct flow_queue *u = q->all[i];
        buf_printf(out, STR_FMT ",\t%zu,\t%zu,\t%zu,\t%zu,\t%.8fss,\t%zu,\t%zu,\t%.8fss\n",
                   STR_ARG(level), i, u->n_waiting, u->n_serving, u->seats_in_use, u->next,
                   u->seats_waiting, u->max_seats_waiting, u->work_waiting);
    }
}
