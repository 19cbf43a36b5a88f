/* flow_level.h - the seats of one priority level, shared by all loops.
 *
 * While nobody waits, a seat is taken and given back with one atomic operation. Who finds none
 * waits in the level's fair queues, behind its lock, and is told when it has one. Seats that come
 * free while somebody waits go through the queues; nobody passes those who wait.
 *
 * Any thread, unless a function says otherwise. */
#pragma once

#include "auth/flow_rules.h"
#include "server/core/api.h"
#include "server/flow/flow_queue.h"

struct flow_level;

/* A request that may have to wait. The owner's memory, until it has gone or was withdrawn. */
struct flow_waiter {
    struct flow_entry entry; /* its work is set by the owner */
    /* It has its seats. On any thread, without a lock. */
    void (*go)(struct flow_waiter *w);
    struct flow_waiter *next; /* private */
};

enum flow_answer { FLOW_GOES, FLOW_WAITS, FLOW_NO_SEAT, FLOW_QUEUE_FULL };

struct flow_level *flow_level_new(struct str name, int64_t now_ns);
/* It is idle. */
struct flow_level *flow_level_free(struct flow_level *l);
struct str flow_level_name(const struct flow_level *l);

/* `seats` is how many it has now; may let some go. */
void flow_level_set(struct flow_level *l, const struct flow_level_spec *spec, uint32_t seats,
                    int64_t now_ns);
void flow_level_set_seats(struct flow_level *l, uint32_t seats, int64_t now_ns);

/* Takes that many seats if there are so many and nobody waits. */
bool flow_level_try(struct flow_level *l, uint32_t seats);
/* Gives back what flow_level_try() took. */
void flow_level_give(struct flow_level *l, uint32_t seats, int64_t now_ns);

/* After flow_level_try() was in vain. FLOW_GOES: it has its seats after all, `go` is not called. */
enum flow_answer flow_level_wait(struct flow_level *l, struct flow_waiter *w, uint64_t hash,
                                 int64_t now_ns);
/* It waits no longer. False if it has its seats already: `go` was called or will be. */
bool flow_level_withdraw(struct flow_level *l, struct flow_waiter *w, int64_t now_ns);
/* It has been served; its seats are free again unless it takes extra time: then
 * flow_level_leave() follows. */
void flow_level_over(struct flow_level *l, struct flow_waiter *w, int64_t now_ns);
void flow_level_leave(struct flow_level *l, struct flow_waiter *w, int64_t now_ns);

/* How it stands, for metrics, dumps and lending. */
struct flow_level_state {
    bool is_exempt;
    uint32_t seats, seats_used, seats_waiting;
    size_t n_waiting, n_active_queues;
};
struct flow_level_state flow_level_look(struct flow_level *l);
/* The number of its queue, and its place there, -1 if it has left. False: it never was in one. */
bool flow_level_place(struct flow_level *l, const struct flow_waiter *w, size_t *ret_queue,
                      int *ret_place);
void flow_level_dump_queues(struct flow_level *l, struct buf *out);
