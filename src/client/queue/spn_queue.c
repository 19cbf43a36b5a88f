/* spn_queue.c - one item for each key that waits, runs, is delayed or was retried. An item that is
 * none of these any more is freed.
 *
 * Idle workers sleep until somebody adds a key. If there are delayed keys, one of them, the
 * watchman, sleeps only until the first of them is due. Whoever leaves with a key sees to it that
 * there is a watchman, and that somebody comes for the next key. */
#include <sampan/queue.h>

#include <pthread.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/queue/due_heap.h"
#include "base/keyed.h"
#include "client/queue/lanes.h"
#include "client/queue/limiter.h"
#include "client/queue/queue.h"
#include "base/banned.h"

enum { FIRST_DELAY_MS = 5, MAX_DELAY_MS = 1000 * 1000, PER_SECOND = 10, BURST = 100 };

/* No delay is longer: some thirty years. */
static const int64_t longest_delay_ms = LIMITER_LONGEST_NS / NS_PER_MS;

struct queue_item {
    struct lane_link link; /* in the lane of its priority, or among those that run */
    struct due_node due;
    int64_t since_ns; /* since when it waits or runs */
    int64_t again_ns; /* when it was added while it runs */
    unsigned retries;
    int priority;         /* with which it waits, or was handed out */
    int again_priority;   /* with which it will wait after it ran */
    int delayed_priority; /* with which it will be added */
    uint32_t n_key;
    bool is_waiting, is_running, is_again;
    char key[];
};

struct spn_queue {
    char *name;
    const struct clock *clock;

    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t work;  /* idle workers sleep here */
    pthread_cond_t watch; /* and the watchman here */
    pthread_cond_t emptied;
    size_t n_idle;
    bool is_watched, is_stopped, is_draining;
    pthread_cond_t *to_wake; /* whom unlock() wakes; NULL: nobody */

    struct limiter limiter;
    struct keyed items;
    struct lanes waiting;
    struct lane running; /* who began first is first */
    struct due_heap delayed;

    size_t n_waiting, n_running;
    uint64_t adds, retries, done;
    int64_t wait_ns, work_ns;
    uint64_t wait_counts[SPN_QUEUE_BUCKETS], work_counts[SPN_QUEUE_BUCKETS];
};

/* ---- Items ---- */

static struct str item_key(const void *thing)
{
    const struct queue_item *item = thing;
    return (struct str){ item->key, item->n_key };
}

static struct queue_item *item_at(struct lane_link *link)
{
    return container_of(link, struct queue_item, link);
}

static struct queue_item *find_item(struct spn_queue *q, struct spn_text key)
{
    return keyed_get(&q->items, str_in(key));
}

static struct queue_item *ensure_item(struct spn_queue *q, struct spn_text key)
{
    struct queue_item *item = find_item(q, key);
    if (item)
        return item;
    item = mem_alloc(offsetof(struct queue_item, key) + key.n);
    memset(item, 0, offsetof(struct queue_item, key));
    item->n_key = (uint32_t)key.n;
    if (key.n)
        memcpy(item->key, key.p, key.n);
    keyed_put(&q->items, item);
    return item;
}

static void release_if_unused(struct spn_queue *q, struct queue_item *item)
{
    if (item->is_waiting || item->is_running || item->due.place || item->retries)
        return;
    keyed_remove(&q->items, item_key(item));
    free(item);
}

/* ---- A queue ---- */

static int64_t or_usual(int64_t given, int64_t usual)
{
    return given > 0 ? given : usual;
}

static int64_t delay_ns(int64_t ms)
{
    if (ms <= 0)
        return 0;
    return (ms < longest_delay_ms ? ms : longest_delay_ms) * NS_PER_MS;
}

static void set_limiter(struct limiter *l, const struct spn_queue_options *opt)
{
    int64_t first = or_usual(opt->first_delay_ms, FIRST_DELAY_MS);
    int64_t max = or_usual(opt->max_delay_ms, MAX_DELAY_MS);
    limiter_init(l, delay_ns(first), delay_ns(max), opt->per_second ? opt->per_second : PER_SECOND,
                 opt->burst ? opt->burst : BURST);
}

static void init_conditions(struct spn_queue *q)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&q->watch, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_cond_init(&q->work, NULL);
    (void)pthread_cond_init(&q->emptied, NULL);
    /* Held for moments only, by threads that hand things to each other: to spin is cheaper than
     * to sleep. */
    q->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
}

struct spn_queue *queue_new_with_clock(const struct spn_queue_options *opt,
                                       const struct clock *clock)
{
    static const struct spn_queue_options usual;
    opt = opt ? opt : &usual;
    const char *name = opt->name ? opt->name : "queue";
    struct spn_queue *q = mem_new(struct spn_queue);
    q->name = mem_dup(name, strlen(name) + 1);
    q->clock = clock;
    q->items.key_of = item_key;
    set_limiter(&q->limiter, opt);
    init_conditions(q);
    return q;
}

struct spn_queue *spn_queue_new(const struct spn_queue_options *opt)
{
    return queue_new_with_clock(opt, &clock_system);
}

struct spn_queue *spn_queue_free(struct spn_queue *q)
{
    if (!q)
        return NULL;
    size_t pos = 0;
    for (void *item; (item = keyed_next(&q->items, &pos));)
        free(item);
    keyed_done(&q->items);
    lanes_done(&q->waiting);
    due_heap_done(&q->delayed);
    (void)pthread_cond_destroy(&q->work);
    (void)pthread_cond_destroy(&q->watch);
    (void)pthread_cond_destroy(&q->emptied);
    (void)pthread_mutex_destroy(&q->lock);
    free(q->name);
    free(q);
    return NULL;
}

const char *spn_queue_name(const struct spn_queue *q)
{
    return q->name;
}

static void lock(struct spn_queue *q)
{
    (void)pthread_mutex_lock(&q->lock);
}

/* Who is woken here need not wait for the lock. */
static void unlock(struct spn_queue *q)
{
    pthread_cond_t *to_wake = take(&q->to_wake);
    (void)pthread_mutex_unlock(&q->lock);
    if (to_wake)
        (void)pthread_cond_signal(to_wake);
}

/* ---- Adding ---- */

static void wake_one(struct spn_queue *q)
{
    if (q->n_idle)
        q->to_wake = &q->work;
    else if (q->is_watched)
        q->to_wake = &q->watch;
}

static void put_in_lane(struct spn_queue *q, struct queue_item *item, int priority,
                        int64_t since_ns)
{
    item->priority = priority;
    item->since_ns = since_ns;
    item->is_waiting = true;
    lanes_push(&q->waiting, priority, &item->link);
    q->n_waiting++;
}

static void raise_priority(struct spn_queue *q, struct queue_item *item, int priority)
{
    if (priority <= item->priority)
        return;
    lanes_remove(&q->waiting, item->priority, &item->link);
    item->priority = priority;
    lanes_push(&q->waiting, priority, &item->link);
}

static void add_again(struct spn_queue *q, struct queue_item *item, int priority)
{
    if (item->is_again && priority <= item->again_priority)
        return;
    item->again_priority = priority;
    if (item->is_again)
        return;
    item->is_again = true;
    item->again_ns = clock_mono_ns(q->clock);
    q->adds++;
}

static void add_item(struct spn_queue *q, struct queue_item *item, int priority)
{
    if (item->is_waiting) {
        raise_priority(q, item, priority);
    } else if (item->is_running) {
        add_again(q, item, priority);
    } else {
        put_in_lane(q, item, priority, clock_mono_ns(q->clock));
        q->adds++;
        wake_one(q);
    }
}

void spn_queue_add(struct spn_queue *q, struct spn_text key)
{
    spn_queue_add_priority(q, key, 0);
}

void spn_queue_add_priority(struct spn_queue *q, struct spn_text key, int priority)
{
    lock(q);
    if (!q->is_stopped)
        add_item(q, ensure_item(q, key), priority);
    unlock(q);
}

/* The watchman has to sleep less now, or there is none yet. */
static void wake_watchman(struct spn_queue *q)
{
    if (q->is_watched)
        (void)pthread_cond_signal(&q->watch);
    else
        (void)pthread_cond_signal(&q->work);
}

static void add_item_after(struct spn_queue *q, struct queue_item *item, int64_t delay)
{
    int priority = item->is_running ? item->priority : 0;
    q->retries++;
    if (delay <= 0) {
        add_item(q, item, priority);
        return;
    }
    if (!item->due.place || priority > item->delayed_priority)
        item->delayed_priority = priority;
    due_heap_put(&q->delayed, &item->due, clock_mono_ns(q->clock) + delay);
    if (due_heap_first(&q->delayed) == &item->due)
        wake_watchman(q);
}

void spn_queue_add_after(struct spn_queue *q, struct spn_text key, int64_t ms)
{
    lock(q);
    if (!q->is_stopped)
        add_item_after(q, ensure_item(q, key), delay_ns(ms));
    unlock(q);
}

static void add_item_limited(struct spn_queue *q, struct queue_item *item)
{
    int64_t delay = limiter_delay_ns(&q->limiter, item->retries, clock_mono_ns(q->clock));
    if (item->retries < UINT32_MAX)
        item->retries++;
    add_item_after(q, item, delay);
}

void spn_queue_add_limited(struct spn_queue *q, struct spn_text key)
{
    lock(q);
    if (!q->is_stopped)
        add_item_limited(q, ensure_item(q, key));
    unlock(q);
}

void spn_queue_forget(struct spn_queue *q, struct spn_text key)
{
    lock(q);
    struct queue_item *item = find_item(q, key);
    if (item) {
        item->retries = 0;
        release_if_unused(q, item);
    }
    unlock(q);
}

unsigned spn_queue_retries(struct spn_queue *q, struct spn_text key)
{
    lock(q);
    const struct queue_item *item = find_item(q, key);
    unsigned retries = item ? item->retries : 0;
    unlock(q);
    return retries;
}

/* ---- Handing out ---- */

static void add_what_is_due(struct spn_queue *q, int64_t now_ns)
{
    struct due_node *first;
    while ((first = due_heap_first(&q->delayed)) && first->at_ns <= now_ns) {
        struct queue_item *item = container_of(first, struct queue_item, due);
        due_heap_remove(&q->delayed, first);
        add_item(q, item, item->delayed_priority);
    }
}

/* Counts a duration in the bucket that it belongs to, and adds it up. */
static void count_duration(uint64_t counts[SPN_QUEUE_BUCKETS], int64_t *sum_ns, int64_t ns)
{
    size_t i = 0;
    for (int64_t bound = 10; i < SPN_QUEUE_BUCKETS - 1 && ns > bound; bound *= 10)
        i++;
    counts[i]++;
    *sum_ns += ns;
}

static void start(struct spn_queue *q, struct queue_item *item, int64_t now_ns)
{
    lanes_remove(&q->waiting, item->priority, &item->link);
    q->n_waiting--;
    count_duration(q->wait_counts, &q->wait_ns, now_ns - item->since_ns);
    item->is_waiting = false;
    item->is_running = true;
    item->since_ns = now_ns;
    lane_push(&q->running, &item->link);
    q->n_running++;
}

static struct queue_item *take_first(struct spn_queue *q)
{
    int64_t now_ns = clock_mono_ns(q->clock);
    add_what_is_due(q, now_ns);
    if (!q->n_waiting)
        return NULL;
    struct queue_item *item = item_at(lanes_first(&q->waiting));
    start(q, item, now_ns);
    if (q->n_waiting || (q->delayed.n && !q->is_watched))
        wake_one(q);
    return item;
}

static void sleep_as_watchman(struct spn_queue *q)
{
    int64_t left = due_heap_first(&q->delayed)->at_ns - clock_mono_ns(q->clock);
    int64_t until = clock_mono_ns(&clock_system) + (left > 0 ? left : 0);
    struct timespec ts = { until / NS_PER_SEC, until % NS_PER_SEC };
    q->is_watched = true;
    (void)pthread_cond_timedwait(&q->watch, &q->lock, &ts);
    q->is_watched = false;
}

static void sleep_until_work(struct spn_queue *q)
{
    if (q->delayed.n && !q->is_watched) {
        sleep_as_watchman(q);
        return;
    }
    q->n_idle++;
    (void)pthread_cond_wait(&q->work, &q->lock);
    q->n_idle--;
}

bool queue_needs_help(struct spn_queue *q)
{
    lock(q);
    bool nobody_waits = !q->n_idle && !q->is_watched;
    unlock(q);
    return nobody_waits;
}

bool spn_queue_get(struct spn_queue *q, struct spn_text *ret)
{
    lock(q);
    struct queue_item *item;
    while (!(item = take_first(q)) && !q->is_stopped)
        sleep_until_work(q);
    if (item)
        *ret = text_out(item_key(item));
    unlock(q);
    return item;
}

static void finish(struct spn_queue *q, struct queue_item *item)
{
    lane_remove(&q->running, &item->link);
    q->n_running--;
    count_duration(q->work_counts, &q->work_ns, clock_mono_ns(q->clock) - item->since_ns);
    q->done++;
    item->is_running = false;
    if (item->is_again) {
        item->is_again = false;
        put_in_lane(q, item, item->again_priority, item->again_ns);
        wake_one(q);
    }
    release_if_unused(q, item);
    if (q->is_draining && !q->n_running && !q->n_waiting)
        (void)pthread_cond_broadcast(&q->emptied);
}

void spn_queue_done(struct spn_queue *q, struct spn_text key)
{
    lock(q);
    struct queue_item *item = find_item(q, key);
    if (item && item->is_running)
        finish(q, item);
    unlock(q);
}

/* ---- Stopping ---- */

static void drop_delayed(struct spn_queue *q)
{
    struct due_node *first;
    while ((first = due_heap_first(&q->delayed))) {
        due_heap_remove(&q->delayed, first);
        release_if_unused(q, container_of(first, struct queue_item, due));
    }
}

static void stop(struct spn_queue *q, bool drain)
{
    q->is_stopped = true;
    q->is_draining = drain;
    drop_delayed(q);
    (void)pthread_cond_broadcast(&q->work);
    (void)pthread_cond_broadcast(&q->watch);
    (void)pthread_cond_broadcast(&q->emptied);
}

void spn_queue_stop(struct spn_queue *q)
{
    lock(q);
    stop(q, false);
    unlock(q);
}

void spn_queue_drain(struct spn_queue *q)
{
    lock(q);
    stop(q, true);
    while (q->is_draining && (q->n_running || q->n_waiting))
        (void)pthread_cond_wait(&q->emptied, &q->lock);
    unlock(q);
}

static double seconds(int64_t ns)
{
    return (double)ns / NS_PER_SEC;
}

void spn_queue_stats(struct spn_queue *q, struct spn_queue_stats *ret)
{
    lock(q);
    *ret = (struct spn_queue_stats){
        .depth = q->n_waiting,
        .delayed = q->delayed.n,
        .running = q->n_running,
        .adds = q->adds,
        .retries = q->retries,
        .done = q->done,
        .wait_seconds = seconds(q->wait_ns),
        .work_seconds = seconds(q->work_ns),
    };
    memcpy(ret->wait_counts, q->wait_counts, sizeof(q->wait_counts));
    memcpy(ret->work_counts, q->work_counts, sizeof(q->work_counts));
    int64_t now_ns = clock_mono_ns(q->clock);
    for (struct lane_link *l = q->running.first; l; l = l->next)
        ret->unfinished_seconds += seconds(now_ns - item_at(l)->since_ns);
    if (q->running.first)
        ret->longest_running_seconds = seconds(now_ns - item_at(q->running.first)->since_ns);
    unlock(q);
}
