#include "node/agent/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "base/mem.h"
#include "base/banned.h"

enum { IDLE_SEC = 5, STACK_BYTES = 256 << 10 };

struct job {
    STAILQ_ENTRY(job) link;
    void (*fn)(void *arg);
    void *arg;
    struct crew_group *group;
};

struct crew {
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t more, less;
    STAILQ_HEAD(jobs, job) jobs;
    size_t queued, threads, idle, max;
    bool is_ending;
};

struct crew_group {
    struct crew *crew;
    size_t left; /* by the crew's lock */
    pthread_cond_t done;
};

struct crew *crew_new(size_t max_threads)
{
    struct crew *c = mem_new(struct crew);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->more, NULL);
    (void)pthread_cond_init(&c->less, NULL);
    STAILQ_INIT(&c->jobs);
    c->max = max_threads;
    return c;
}

struct crew *crew_free(struct crew *c)
{
    if (!c)
        return NULL;
    (void)pthread_mutex_lock(&c->lock);
    c->is_ending = true;
    (void)pthread_cond_broadcast(&c->more);
    while (c->threads)
        (void)pthread_cond_wait(&c->less, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
    (void)pthread_cond_destroy(&c->more);
    (void)pthread_cond_destroy(&c->less);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

/* With the lock. NULL: none has come for a while, or it is over. */
static struct job *next_job(struct crew *c)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SEC;
    c->idle++;
    int r = 0;
    while (STAILQ_EMPTY(&c->jobs) && !c->is_ending && r == 0)
        r = pthread_cond_timedwait(&c->more, &c->lock, &until);
    c->idle--;
    struct job *j = STAILQ_FIRST(&c->jobs);
    if (j) {
        STAILQ_REMOVE_HEAD(&c->jobs, link);
        c->queued--;
    }
    return j;
}

static void finish(struct job *j)
{
    if (j->group && --j->group->left == 0)
        (void)pthread_cond_broadcast(&j->group->done);
    free(j);
}

static void *work(void *arg)
{
    struct crew *c = arg;
    struct job *j;
    (void)pthread_mutex_lock(&c->lock);
    while ((j = next_job(c))) {
        (void)pthread_mutex_unlock(&c->lock);
        j->fn(j->arg);
        (void)pthread_mutex_lock(&c->lock);
        finish(j);
    }
    c->threads--;
    (void)pthread_cond_broadcast(&c->less);
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* With the lock. */
static void start_thread(struct crew *c)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, work, c) == 0)
        c->threads++;
    (void)pthread_attr_destroy(&attr);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void add_job(struct crew *c, struct crew_group *g, void (*fn)(void *arg), void *arg)
{
    struct job *j = mem_new(struct job);
    j->fn = fn;
    j->arg = arg;
    j->group = g;
    (void)pthread_mutex_lock(&c->lock);
    if (g)
        g->left++;
    STAILQ_INSERT_TAIL(&c->jobs, j, link);
    c->queued++;
    if (c->queued > c->idle && c->threads < c->max)
        start_thread(c);
    (void)pthread_cond_signal(&c->more);
    (void)pthread_mutex_unlock(&c->lock);
}

void crew_do(struct crew *c, void (*fn)(void *arg), void *arg)
{
    add_job(c, NULL, fn, arg);
}

size_t crew_threads(struct crew *c)
{
    (void)pthread_mutex_lock(&c->lock);
    size_t n = c->threads;
    (void)pthread_mutex_unlock(&c->lock);
    return n;
}

struct crew_group *crew_group_new(struct crew *c)
{
    struct crew_group *g = mem_new(struct crew_group);
    g->crew = c;
    (void)pthread_cond_init(&g->done, NULL);
    return g;
}

void crew_group_do(struct crew_group *g, void (*fn)(void *arg), void *arg)
{
    add_job(g->crew, g, fn, arg);
}

struct crew_group *crew_group_wait(struct crew_group *g)
{
    (void)pthread_mutex_lock(&g->crew->lock);
    while (g->left)
        (void)pthread_cond_wait(&g->done, &g->crew->lock);
    (void)pthread_mutex_unlock(&g->crew->lock);
    (void)pthread_cond_destroy(&g->done);
    free(g);
    return NULL;
}
