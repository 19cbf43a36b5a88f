#include "server/core/chore.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

struct chore {
    struct loop *loop;
    struct workers *workers;
    int64_t every_ns;
    void (*run)(void *arg);
    void *arg;
    struct loop_timer timer;
    struct work work;
    pthread_mutex_t lock; /* of `busy` */
    pthread_cond_t idle;
    bool busy;
};

static bool set_busy(struct chore *c, bool busy)
{
    pthread_mutex_lock(&c->lock);
    bool was = c->busy;
    c->busy = busy;
    if (!busy)
        pthread_cond_signal(&c->idle);
    pthread_mutex_unlock(&c->lock);
    return was;
}

static void do_it(struct work *w) /* thread: worker */
{
    struct chore *c = container_of(w, struct chore, work);
    c->run(c->arg);
    (void)set_busy(c, false);
}

static void on_fire(struct loop_timer *t)
{
    struct chore *c = container_of(t, struct chore, timer);
    if (!set_busy(c, true) && !workers_submit(c->workers, &c->work))
        (void)set_busy(c, false);
    loop_timer_set(c->loop, &c->timer, loop_now_ns(c->loop) + c->every_ns);
}

struct chore *chore_new(struct loop *loop, struct workers *workers, int64_t every_ns,
                        void (*run)(void *arg), void *arg)
{
    struct chore *c = mem_new(struct chore);
    c->loop = loop;
    c->workers = workers;
    c->every_ns = every_ns;
    c->run = run;
    c->arg = arg;
    c->timer.on_fire = on_fire;
    c->work.run = do_it;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->idle, NULL);
    loop_timer_set(loop, &c->timer, loop_now_ns(loop) + every_ns);
    return c;
}

struct chore *chore_free(struct chore *c)
{
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    while (c->busy)
        pthread_cond_wait(&c->idle, &c->lock);
    pthread_mutex_unlock(&c->lock);
    loop_timer_cancel(&c->timer);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->idle);
    free(c);
    return NULL;
}
