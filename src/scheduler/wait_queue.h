/* wait_queue.h - pods that wait for a node.
 *
 *     active        the next one: highest priority first, then who came first
 *     backing off   failed a moment ago; longer each time
 *     waiting       fits nowhere until something changes that its plugins care about
 *
 * A pod is in one of them (struct sched_pod.queued). If nothing is active, those who back off come
 * early, but not after an error. What nobody wakes within five minutes is tried all the same. The
 * owner's lock guards all of it. Time is an argument. Rules only: no I/O. */
#pragma once

#include "scheduler/world.h"

struct pod_heap {
    struct sched_pod **items;
    size_t n, cap;
};

/* Empty with nothing but the pauses. */
struct wait_queue {
    int64_t first_pause_ns, longest_pause_ns;     /* of those who back off */
    struct pod_heap active, backing_off, waiting; /* the last is no heap, just a list */
};

void wait_queue_done(struct wait_queue *q);

/* A pod that is new, or may have become schedulable by its own change. */
void wait_queue_add(struct wait_queue *q, struct sched_pod *p, int64_t now_ns);
/* A pod that was popped and found no node. */
void wait_queue_fail(struct wait_queue *q, struct sched_pod *p, uint32_t rejected_by,
                     bool had_error, int64_t now_ns);
void wait_queue_remove(struct wait_queue *q, struct sched_pod *p); /* it may be in none */
/* The next one; NULL: there is none before `*ret_next_ns` (INT64_MAX: before something happens). */
struct sched_pod *wait_queue_pop(struct wait_queue *q, int64_t now_ns, int64_t *ret_next_ns);

/* Whether a change may help a pod that this plugin has rejected. */
typedef bool wait_hint_fn(void *arg, const struct sched_pod *p, int plugin);
/* Something happened that these plugins (a bit each) care about. `hint` may be NULL: it may help.
 * True: somebody woke up. */
bool wait_queue_wake(struct wait_queue *q, uint32_t plugins, wait_hint_fn *hint, void *arg,
                     int64_t now_ns);
/* Its victims are gone, or could not be deleted (`retry`). */
void wait_queue_preempted(struct wait_queue *q, struct sched_pod *p, bool retry, int64_t now_ns);
