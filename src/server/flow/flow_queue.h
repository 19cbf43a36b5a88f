/* flow_queue.h - the fair queues of one priority level: who goes next.
 *
 * A flow is dealt a hand of queues by its hash and its request goes to the one of them with the
 * least work, so that two flows rarely share all of their queues (shuffle sharding). Among queues,
 * the request goes first that would end first if all queues were served at the same time, each with
 * its share of the seats. That imagined clock runs in seat-seconds: as fast as seats are busy,
 * divided by the queues that want some.
 *
 * As upstream, what a request will take is guessed, and its queue is corrected when it is over.
 * Unlike upstream, requests that found a free seat at once were in no queue and count in none; the
 * queues share the other seats (flow_level.h).
 *
 * Rules only: no clock, no lock, no I/O. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"

struct flow_queue;
struct flow_queues;

/* What a request takes. */
struct flow_work {
    uint32_t seats;       /* while it is served */
    uint32_t final_seats; /* for a while after that, for what it causes: 0 if nothing */
    int64_t extra_ns;     /* that while */
};

/* As many as it needs at any time. */
static inline uint32_t flow_work_seats(const struct flow_work *w)
{
    return w->seats > w->final_seats ? w->seats : w->final_seats;
}

/* A request that waits in a queue, or has left it and is being served. The owner's memory. */
struct flow_entry {
    struct flow_work work;
    TAILQ_ENTRY(flow_entry) link; /* the rest is private */
    struct flow_queue *queue;
    double seat_seconds, arrival;
    int64_t start_ns;
    bool waits;
};

struct flow_queues *flow_queues_new(int64_t now_ns);
/* Nobody waits, nobody is served. */
struct flow_queues *flow_queues_free(struct flow_queues *q);

/* How many queues there are, how many of them a flow has, how many may wait in one, and how many
 * seats there are for all of them. Queues that are too many stay until they are empty. */
void flow_queues_set(struct flow_queues *q, size_t n, size_t hand_size, size_t length);
void flow_queues_set_seats(struct flow_queues *q, size_t seats, int64_t now_ns);

/* False if its queue is full and there is no free seat (`is_busy`). */
bool flow_queues_add(struct flow_queues *q, struct flow_entry *e, uint64_t hash, bool is_busy,
                     int64_t now_ns);
/* It waits no longer, without being served. */
void flow_queues_remove(struct flow_queues *q, struct flow_entry *e, int64_t now_ns);
/* Who goes next: stays where it is. NULL: nobody waits. */
struct flow_entry *flow_queues_next(struct flow_queues *q, int64_t now_ns);
/* That one goes. */
void flow_queues_take(struct flow_queues *q, struct flow_entry *e, int64_t now_ns);
/* It has been served, and gives back what it took. Its extra time may be still to come: then
 * flow_queues_leave() follows, else not. */
void flow_queues_over(struct flow_queues *q, struct flow_entry *e, int64_t now_ns);
void flow_queues_leave(struct flow_queues *q, struct flow_entry *e, int64_t now_ns);

size_t flow_queues_waiting(const struct flow_queues *q);
size_t flow_queues_seats_waiting(const struct flow_queues *q);
size_t flow_queues_seats_in_use(const struct flow_queues *q); /* of those who have left queues */
size_t flow_queues_active(const struct flow_queues *q);       /* queues in which somebody waits */

/* Where an entry stands: the number of its queue, and its place there or -1 if it has left. */
void flow_queues_place(const struct flow_queues *q, const struct flow_entry *e, size_t *ret_queue,
                       int *ret_place);
/* The rows of upstream's dump_queues, each after the level's name. */
void flow_queues_dump(const struct flow_queues *q, struct str level, struct buf *out);
