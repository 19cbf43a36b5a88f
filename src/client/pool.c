#include "client/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "client/thread.h"
#include "base/banned.h"

enum { THREADS_MAX = 4, STACK_BYTES = 512 << 10 };

struct pool {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;  /* for threads without a task */
    pthread_cond_t less;  /* for those who wait until a task has nothing to do */
    struct pool_task *first, **last;
    pthread_t threads[THREADS_MAX];
    unsigned n_threads, n_idle;
    bool is_closed;
    _Atomic unsigned n_waking; /* those who have given the lock back and wake a thread */
};

static _Thread_local const struct pool *works_for; /* which pool this thread belongs to */

struct pool *pool_new(void)
{
    struct pool *p = mem_new(struct pool);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->more, NULL);
    (void)pthread_cond_init(&p->less, NULL);
    p->last = &p->first;
    return p;
}

struct pool *pool_free(struct pool *p)
{
    if (!p)
        return NULL;
    (void)pthread_mutex_lock(&p->lock);
    assert(!p->first);
    p->is_closed = true;
    (void)pthread_cond_broadcast(&p->more);
    (void)pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n_threads; i++)
        (void)pthread_join(p->threads[i], NULL);
    while (atomic_load_explicit(&p->n_waking, memory_order_acquire))
        (void)sched_yield();
    (void)pthread_cond_destroy(&p->less);
    (void)pthread_cond_destroy(&p->more);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

/* ---- Threads. Everything is under the lock but the tasks themselves ---- */

static void push(struct pool *p, struct pool_task *t)
{
    t->next = NULL;
    *p->last = t;
    p->last = &t->next;
}

/* A task that was woken while it runs is queued when it has ended. */
static struct pool_task *take_first(struct pool *p)
{
    struct pool_task *t = p->first;
    p->first = t->next;
    if (!p->first)
        p->last = &p->first;
    t->is_queued = false;
    t->is_running = true;
    return t;
}

static void run_task(struct pool *p, struct pool_task *t, bool wakes)
{
    (void)pthread_mutex_unlock(&p->lock);
    if (wakes)
        (void)pthread_cond_signal(&p->more);
    t->run(t);
    (void)pthread_mutex_lock(&p->lock);
    t->is_running = false;
    if (t->is_queued)
        push(p, t);
    (void)pthread_cond_broadcast(&p->less);
}

static void *run_thread(void *arg);

static void add_thread(struct pool *p)
{
    if (p->n_threads < THREADS_MAX &&
        thread_start(&p->threads[p->n_threads], STACK_BYTES, run_thread, p))
        p->n_threads++;
}

/* Somebody must take what is queued: one who waits, or a new thread. True: wake the one who waits
 * once the lock is given back, which he wants. */
static bool call_help(struct pool *p)
{
    if (!p->n_idle)
        add_thread(p);
    return p->n_idle;
}

static void *run_thread(void *arg)
{
    struct pool *p = arg;
    works_for = p;
    (void)pthread_mutex_lock(&p->lock);
    while (!p->is_closed) {
        if (!p->first) {
            p->n_idle++;
            (void)pthread_cond_wait(&p->more, &p->lock);
            p->n_idle--;
            continue;
        }
        struct pool_task *t = take_first(p);
        run_task(p, t, p->first && call_help(p));
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_start(struct pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    if (!p->n_threads)
        add_thread(p);
    bool is_good = p->n_threads;
    (void)pthread_mutex_unlock(&p->lock);
    return is_good;
}

/* ---- Tasks ---- */

/* A task that wakes another one is about to end, most often: its thread takes the other one next,
 * which is cheaper than to wake a thread. */
void pool_wake(struct pool *p, struct pool_task *t)
{
    (void)pthread_mutex_lock(&p->lock);
    bool is_new = !t->is_queued && !t->is_running;
    t->is_queued = true;
    if (is_new)
        push(p, t);
    bool wakes = is_new && works_for != p && call_help(p);
    if (wakes)
        atomic_fetch_add_explicit(&p->n_waking, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&p->lock);
    if (!wakes)
        return;
    (void)pthread_cond_signal(&p->more);
    atomic_fetch_sub_explicit(&p->n_waking, 1, memory_order_release);
}

void pool_settle(struct pool *p, struct pool_task *t)
{
    (void)pthread_mutex_lock(&p->lock);
    while (t->is_queued || t->is_running)
        (void)pthread_cond_wait(&p->less, &p->lock);
    (void)pthread_mutex_unlock(&p->lock);
}
