#include "server/audit/audit_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/banned.h"

struct item {
    STAILQ_ENTRY(item) link;
    int64_t added_ns;
    size_t n;
    char text[];
};
STAILQ_HEAD(items, item);

struct audit_queue {
    struct audit_queue_options opt;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved, done;
    struct items items;
    size_t n, bytes;
    double tokens; /* deliveries that may come now, as of `filled_ns` */
    int64_t filled_ns;
    bool stops, is_done;
};

static struct timespec at(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / NS_PER_SEC, .tv_nsec = ns % NS_PER_SEC };
}

/* True if there is something to deliver; false once there will be nothing more. */
static bool wait_for_some(struct audit_queue *q)
{
    for (;;) {
        const struct item *first = STAILQ_FIRST(&q->items);
        if (q->stops || q->n >= q->opt.most)
            return first;
        if (!first) {
            pthread_cond_wait(&q->moved, &q->lock);
            continue;
        }
        int64_t until = first->added_ns + q->opt.wait_ns;
        if (clock_mono_ns(&clock_system) >= until)
            return true;
        const struct timespec then = at(until);
        (void)pthread_cond_timedwait(&q->moved, &q->lock, &then);
    }
}

/* How long until a delivery may come. */
static int64_t pause_ns(struct audit_queue *q)
{
    int64_t now = clock_mono_ns(&clock_system);
    q->tokens += (double)(now - q->filled_ns) * q->opt.per_second / (double)NS_PER_SEC;
    if (q->tokens > (double)q->opt.burst)
        q->tokens = (double)q->opt.burst;
    q->filled_ns = now;
    return q->tokens >= 1 ? 0
                          : (int64_t)((1 - q->tokens) / q->opt.per_second * (double)NS_PER_SEC) + 1;
}

/* At the end nothing is held back. */
static void keep_pace(struct audit_queue *q)
{
    int64_t ns;
    if (q->opt.per_second <= 0)
        return;
    while (!q->stops && (ns = pause_ns(q)) > 0) {
        const struct timespec then = at(clock_mono_ns(&clock_system) + ns);
        (void)pthread_cond_timedwait(&q->moved, &q->lock, &then);
    }
    q->tokens -= 1;
}

/* Moves the next delivery out of the queue. */
static size_t take_some(struct audit_queue *q, struct items *ret)
{
    size_t n = 0, bytes = 0;
    STAILQ_INIT(ret);
    while (n < q->opt.most && bytes < LIMIT_AUDIT_BATCH_BYTES && !STAILQ_EMPTY(&q->items)) {
        struct item *it = STAILQ_FIRST(&q->items);
        STAILQ_REMOVE_HEAD(&q->items, link);
        STAILQ_INSERT_TAIL(ret, it, link);
        bytes += it->n;
        n++;
    }
    q->n -= n;
    q->bytes -= bytes;
    return n;
}

static void deliver(struct audit_queue *q, struct items *items, size_t n)
{
    autofree struct str *events = mem_array(n, sizeof(*events));
    struct item *it;
    size_t i = 0;
    STAILQ_FOREACH(it, items, link)
    events[i++] = (struct str){ it->text, it->n };
    q->opt.deliver(q->opt.arg, events, n);
    while ((it = STAILQ_FIRST(items))) {
        STAILQ_REMOVE_HEAD(items, link);
        free(it);
    }
}

static void *run(void *arg)
{
    struct audit_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    while (wait_for_some(q)) {
        struct items some;
        keep_pace(q);
        size_t n = take_some(q, &some);
        pthread_mutex_unlock(&q->lock);
        deliver(q, &some, n);
        pthread_mutex_lock(&q->lock);
    }
    q->is_done = true;
    pthread_cond_signal(&q->done);
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

struct audit_queue *audit_queue_new(const struct audit_queue_options *opt)
{
    struct audit_queue *q = mem_new(struct audit_queue);
    pthread_condattr_t monotonic;
    q->opt = *opt;
    q->tokens = (double)opt->burst;
    q->filled_ns = clock_mono_ns(&clock_system);
    STAILQ_INIT(&q->items);
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->moved, &monotonic);
    pthread_cond_init(&q->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&q->thread, NULL, run, q) == 0)
        return q;
    free(q);
    return NULL;
}

struct audit_queue *audit_queue_free(struct audit_queue *q, int64_t until_ns, atomic_bool *cancel)
{
    if (!q)
        return NULL;
    const struct timespec then = at(until_ns);
    pthread_mutex_lock(&q->lock);
    q->stops = true;
    pthread_cond_signal(&q->moved);
    while (!q->is_done && pthread_cond_timedwait(&q->done, &q->lock, &then) == 0)
        continue;
    pthread_mutex_unlock(&q->lock);
    atomic_store(cancel, true);
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->moved);
    pthread_cond_destroy(&q->done);
    pthread_mutex_destroy(&q->lock);
    free(q);
    return NULL;
}

bool audit_queue_add(struct audit_queue *q, struct str event)
{
    struct item *it = mem_alloc(sizeof(*it) + event.n);
    it->n = event.n;
    memcpy(it->text, event.p, event.n);
    it->added_ns = clock_mono_ns(&clock_system);
    pthread_mutex_lock(&q->lock);
    bool has_room = q->n < q->opt.buffer && q->bytes + event.n <= LIMIT_AUDIT_QUEUE_BYTES;
    if (has_room) {
        STAILQ_INSERT_TAIL(&q->items, it, link);
        q->n++;
        q->bytes += event.n;
        if (q->n == 1 || q->n == q->opt.most)
            pthread_cond_signal(&q->moved);
    }
    pthread_mutex_unlock(&q->lock);
    if (!has_room)
        free(it);
    return has_room;
}
