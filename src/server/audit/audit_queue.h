/* audit_queue.h - events that wait for a back end, and the thread that delivers them.
 *
 * The queue has a bound in events and in bytes (LIMIT_AUDIT_QUEUE_BYTES). Adding never waits. */
#pragma once

#include "base/str.h"

struct audit_queue;

/* Delivers some events, in order; may wait. Called on the queue's thread. */
typedef void audit_deliver(void *arg, const struct str *events, size_t n);

struct audit_queue_options {
    size_t buffer, most; /* events in all, and of one delivery */
    int64_t wait_ns;     /* how long the first of a delivery may wait for others */
    double per_second;   /* deliveries at most; 0: as many as there are */
    size_t burst;        /* that may come at once after a pause */
    audit_deliver *deliver;
    void *arg;
};

/* NULL if no thread can be had. */
struct audit_queue *audit_queue_new(const struct audit_queue_options *opt);
/* Delivers what is queued. If that is not done by `until_ns` (monotonic), sets `*cancel`, which is
 * to make `deliver` return soon. */
struct audit_queue *audit_queue_free(struct audit_queue *q, int64_t until_ns,
                                     _Atomic _Bool *cancel);

/* Copies the event. False if the queue is full. Any thread. */
bool audit_queue_add(struct audit_queue *q, struct str event);
