/* sampan/queue.h - keys that wait for a worker.
 *
 * A key that is added again while it waits is one entry. A key that is added while a worker has it
 * waits until that worker is done and comes again then, so no two workers ever have the same key.
 * Among those that wait, higher priority comes first, then who came first.
 *
 *     struct spn_text key;
 *     while (spn_queue_get(q, &key)) {
 *         if (sync(key) < 0)
 *             spn_queue_add_limited(q, key);
 *         else
 *             spn_queue_forget(q, key);
 *         spn_queue_done(q, key);
 *     }
 *
 * Any thread may call anything. The queue has no thread of its own: whoever waits in
 * spn_queue_get() wakes up in time for what was added with a delay. */
#pragma once

#include <sampan/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_queue;

/* Zero means the usual. A key's n-th retry waits first_delay_ms doubled n times, at most
 * max_delay_ms; and all retries together come at `per_second`, after a burst. */
struct spn_queue_options {
    const char *name;       /* in metrics; "queue" */
    int64_t first_delay_ms; /* 5 */
    int64_t max_delay_ms;   /* 1000 s */
    double per_second;      /* 10; negative: no such bound */
    unsigned burst;         /* 100 */
};

SPN_API struct spn_queue *spn_queue_new(const struct spn_queue_options *opt); /* NULL: the usual */
SPN_API struct spn_queue *spn_queue_free(struct spn_queue *q); /* nobody uses it any more */

SPN_API const char *spn_queue_name(const struct spn_queue *q);

/* After a stop these do nothing. The key is copied. A key that waits and is added with a higher
 * priority moves there. With a delay or as a retry it comes with the priority of the worker who has
 * it, or 0; of two delays of one key the one that ends first counts. */
SPN_API void spn_queue_add(struct spn_queue *q, struct spn_text key);
SPN_API void spn_queue_add_priority(struct spn_queue *q, struct spn_text key, int priority);
SPN_API void spn_queue_add_after(struct spn_queue *q, struct spn_text key, int64_t ms);
SPN_API void spn_queue_add_limited(struct spn_queue *q, struct spn_text key);

SPN_API void spn_queue_forget(struct spn_queue *q,
                              struct spn_text key); /* its retries count anew */
SPN_API unsigned spn_queue_retries(struct spn_queue *q, struct spn_text key);

/* Waits for a key, which is lent until spn_queue_done(). False: stopped, and nothing is left. */
SPN_API bool spn_queue_get(struct spn_queue *q, struct spn_text *ret);
SPN_API void spn_queue_done(struct spn_queue *q, struct spn_text key);

/* Takes nothing more. What waits now is still handed out; delayed keys are dropped. */
SPN_API void spn_queue_stop(struct spn_queue *q);
/* The same, and waits until all of it is done, or until spn_queue_stop() is called. Workers must be
 * there to do it. */
SPN_API void spn_queue_drain(struct spn_queue *q);

/* Durations by size: at most 10 ns, 100 ns, ... 1000 s, and longer. */
enum { SPN_QUEUE_BUCKETS = 13 };

struct spn_queue_stats {
    size_t depth;     /* keys that wait now */
    size_t delayed;   /* that will be added */
    size_t running;   /* that workers have */
    uint64_t adds;    /* that made a key wait, now or after it ran */
    uint64_t retries; /* limited ones and those with a delay */
    uint64_t done;
    double wait_seconds, work_seconds; /* summed over all that were handed out and done */
    uint64_t wait_counts[SPN_QUEUE_BUCKETS], work_counts[SPN_QUEUE_BUCKETS]; /* of the same */
    double longest_running_seconds; /* of those that workers have */
    double unfinished_seconds;      /* all of them together */
};
SPN_API void spn_queue_stats(struct spn_queue *q, struct spn_queue_stats *ret);

#ifdef __cplusplus
}
#endif
