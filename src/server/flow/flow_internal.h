/* flow_internal.h - the inside of flow.h: flow.c follows the store, flow_ticket.c has the requests,
 * flow_metrics.c and flow_dump.c show both. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "server/core/retire.h"
#include "server/flow/flow.h"
#include "server/flow/flow_borrow.h"

enum flow_reject {
    FLOW_REJECT_NO_SEAT,
    FLOW_REJECT_FULL,
    FLOW_REJECT_LATE,
    FLOW_REJECT_GONE,
    FLOW_REJECTS
};
enum { FLOW_WAIT_BUCKETS = 13, FLOW_HASH_SLOTS = 1024 };

/* Only the loop that it belongs to writes it; others read. */
struct flow_counts {
    atomic_ullong begun, ended; /* served */
    atomic_ullong queued, unqueued;
    atomic_ullong rejected[FLOW_REJECTS];
    atomic_ullong waited[FLOW_WAIT_BUCKETS + 1]; /* by time; the last one: longer */
    atomic_ullong waited_ns;
    char apart[64];
};

/* The requests of one schema in one level. Stays as long as the level. */
struct flow_series {
    struct flow_series *next;
    char *schema;
    struct flow_counts by_loop[API_LOOPS_MAX];
};

/* A level and what belongs to it. Stays until nobody uses it any more. */
struct flow_slot {
    struct flow_slot *next;
    struct flow_level *level;
    atomic_uint most_seats; /* of one request */
    struct flow_series *series;
    size_t n_series;
    struct flow_share share;
    bool is_wanted;    /* else it goes when it is idle */
    size_t n_retiring; /* indexes that name it and that loops may still ask */
};

/* What a loop has: only it looks there. */
struct flow_loop {
    TAILQ_HEAD(flow_tickets, flow_ticket) tickets; /* served or waiting */
    TAILQ_HEAD(flow_seats, flow_seat) lingering;   /* over, but they keep their seats for a while */
    char apart[64];
};

struct flow {
    struct store *store;
    struct flow_options options;
    _Atomic(struct flow_rules *) rules; /* NULL: it is off */
    pthread_mutex_t lock;               /* over replacing the index, and over what follows */
    struct retire retire;
    struct flow_slot *slots;
    struct loop *loops[API_LOOPS_MAX];
    size_t n_loops;
    struct flow_loop by_loop[API_LOOPS_MAX];
    struct flow_level *reads, *writes; /* if it is off */
    struct loop_timer look;            /* of the first loop: at what levels want */
    unsigned n_looks;
    atomic_uint objects[FLOW_HASH_SLOTS]; /* of a resource, by its hash */
    atomic_uint watches[FLOW_HASH_SLOTS]; /* of a collection or an object, by its hash */
};

struct flow_ticket {
    TAILQ_ENTRY(flow_ticket) link;
    struct flow *flow;
    struct http_exchange *x;
    struct flow_level *level; /* NULL: it has no seats, and waits for none */
    struct flow_series *series;
    struct flow_seat *seat; /* NULL: it did not have to wait */
    struct flow_work work;
    struct flow_holder holder;
    const struct flow_question *question;
    struct str distinguisher;
    int64_t arrived_ns, started_ns;
    size_t loop;
    atomic_uint *watches; /* that it is counted among, if it is a watch */
    bool is_served;
};

static inline void flow_count(atomic_ullong *n, uint64_t more)
{
    uint64_t now = atomic_load_explicit(n, memory_order_relaxed);
    atomic_store_explicit(n, now + more, memory_order_relaxed);
}

/* One number of a series, over all loops. */
static inline uint64_t flow_counted(const struct flow_series *s, size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < API_LOOPS_MAX; i++)
        sum += atomic_load_explicit(
            (const atomic_ullong *)(const void *)((const char *)&s->by_loop[i] + offset),
            memory_order_relaxed);
    return sum;
}
#define FLOW_COUNTED(s, field) flow_counted((s), offsetof(struct flow_counts, field))

atomic_uint *flow__bucket(atomic_uint *of, struct str group, struct str resource, struct str ns,
                          struct str name);
int64_t flow__now(void);
/* Where a ticket stands that had to wait: false if it never was in a queue. Its place is -1 once it
 * has left. */
bool flow__place(const struct flow_ticket *t, size_t *ret_queue, int *ret_place);
/* Frees what still lingers. */
void flow__free_lingering(struct flow *f);
