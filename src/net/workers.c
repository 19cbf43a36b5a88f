/* workers.c - a queue under one lock, and threads that come and go with the work.
 *
 * A thread that ends joins the one that ended before it, so that none is left to be joined but
 * the last, which workers_free() does. */
#include "net/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/banned.h"

enum {
    /* Address space, not memory: a body may nest types 500 deep (TYPED_DEPTH_MAX), and reading one
     * level takes some kilobytes. */
    STACK_BYTES = 8 << 20,
    IDLE_SECONDS = 10,
};

struct workers {
    size_t max_threads, max_queued;

    pthread_mutex_t lock;
    pthread_cond_t work_came; /* or it is time to stop */
    pthread_cond_t thread_ended;
    /* Guarded by the lock: */
    struct work *first, **end;
    size_t queued, threads, idle;
    int64_t taken_ns; /* when something was last taken from the queue */
    pthread_t ended;  /* the last thread that ended, if has_ended: not joined yet */
    bool has_ended, stopping;
};

struct workers *workers_new(size_t max_threads, size_t max_queued)
{
    assert(max_threads > 0);
    struct workers *w = mem_new(struct workers);
    w->max_threads = max_threads;
    w->max_queued = max_queued;
    w->end = &w->first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->work_came, &attr);
    pthread_cond_init(&w->thread_ended, &attr);
    pthread_condattr_destroy(&attr);
    return w;
}

/* With the lock held. False if there has been nothing to do for long enough, or it is over. */
static bool wait_for_work(struct workers *w)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    int r = 0;
    w->idle++;
    while (!w->first && !w->stopping && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&w->work_came, &w->lock, &until);
    w->idle--;
    return w->first;
}

static void run_first(struct workers *w)
{
    struct work *work = w->first;
    w->first = work->next;
    if (!w->first)
        w->end = &w->first;
    w->queued--;
    w->taken_ns = clock_mono_ns(&clock_system);
    pthread_mutex_unlock(&w->lock);
    work->run(work);
    pthread_mutex_lock(&w->lock);
}

static void *thread_main(void *arg)
{
    struct workers *w = arg;
    pthread_mutex_lock(&w->lock);
    w->idle--; /* start_thread() counted it */
    while (w->first || wait_for_work(w))
        run_first(w);
    pthread_t before = w->ended;
    bool join_before = w->has_ended;
    w->ended = pthread_self();
    w->has_ended = true;
    w->threads--;
    pthread_cond_signal(&w->thread_ended);
    pthread_mutex_unlock(&w->lock);
    if (join_before)
        pthread_join(before, NULL);
    return NULL;
}

/* With the lock held. */
static bool start_thread(struct workers *w)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_t thread;
    bool started = pthread_create(&thread, &attr, thread_main, w) == 0;
    pthread_attr_destroy(&attr);
    w->threads += started;
    w->idle += started; /* until it takes its first work */
    return started;
}

/* With the lock held. Threads that could take something at once do not count as a queue. */
static bool has_room(const struct workers *w)
{
    return !w->stopping && w->queued < w->idle + (w->max_threads - w->threads) + w->max_queued;
}

bool workers_submit(struct workers *w, struct work *work)
{
    pthread_mutex_lock(&w->lock);
    bool taken = has_room(w);
    if (taken && w->queued >= w->idle && w->threads < w->max_threads)
        taken = start_thread(w) || w->threads > 0;
    if (taken) {
        work->next = NULL;
        *w->end = work;
        w->end = &work->next;
        w->queued++;
    }
    pthread_mutex_unlock(&w->lock);
    if (taken)
        pthread_cond_signal(&w->work_came); /* without the lock, which the woken one wants */
    return taken;
}

bool workers_stuck(struct workers *w, int64_t ns)
{
    pthread_mutex_lock(&w->lock);
    bool all_busy = w->first && w->threads == w->max_threads && !w->idle;
    bool stuck = all_busy && clock_mono_ns(&clock_system) - w->taken_ns >= ns;
    pthread_mutex_unlock(&w->lock);
    return stuck;
}

bool workers_stop(struct workers *w, int64_t until_ns)
{
    const struct timespec until = { .tv_sec = until_ns / NS_PER_SEC,
                                    .tv_nsec = (long)(until_ns % NS_PER_SEC) };
    int r = 0;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_broadcast(&w->work_came);
    while (w->threads && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&w->thread_ended, &w->lock, &until);
    bool ended = w->threads == 0;
    pthread_mutex_unlock(&w->lock);
    return ended;
}

struct workers *workers_free(struct workers *w)
{
    if (!w)
        return NULL;
    (void)workers_stop(w, INT64_MAX);
    pthread_mutex_lock(&w->lock);
    pthread_t last = w->ended;
    bool join_last = w->has_ended;
    pthread_mutex_unlock(&w->lock);
    if (join_last)
        pthread_join(last, NULL);
    pthread_cond_destroy(&w->work_came);
    pthread_cond_destroy(&w->thread_ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return NULL;
}
