/* spn_stop.c - a flag with a lock, those who wait for it, and a thread for signals. */
#include <sampan/stop.h>

#include <errno.h>
#include <pthread.h>
#include <sampan/err.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/stop_internal.h"
#include "base/banned.h"

struct spn_stop {
    atomic_bool is_set;
    pthread_mutex_t lock; /* of what follows; held while listeners are called */
    pthread_cond_t changed;
    LIST_HEAD(stop_listeners, stop_listener) listeners;
};

struct spn_stop *spn_stop_new(void)
{
    struct spn_stop *s = mem_new(struct spn_stop);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_mutex_init(&s->lock, NULL);
    LIST_INIT(&s->listeners);
    return s;
}

void spn_stop_set(struct spn_stop *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool is_first = !atomic_exchange(&s->is_set, true);
    struct stop_listener *l;
    if (is_first)
        LIST_FOREACH(l, &s->listeners, link)
    l->on_stop(l);
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
}

bool spn_stop_is_set(const struct spn_stop *s)
{
    return s && atomic_load(&s->is_set);
}

bool spn_stop_wait(struct spn_stop *s, int64_t ms)
{
    int64_t until_ns = clock_mono_ns(&clock_system) + (ms < 0 ? 0 : ms) * NS_PER_MS;
    const struct timespec until = { until_ns / NS_PER_SEC, until_ns % NS_PER_SEC };
    int r = 0;
    (void)pthread_mutex_lock(&s->lock);
    while (!spn_stop_is_set(s) && r != ETIMEDOUT)
        r = ms < 0 ? pthread_cond_wait(&s->changed, &s->lock)
                   : pthread_cond_timedwait(&s->changed, &s->lock, &until);
    (void)pthread_mutex_unlock(&s->lock);
    return spn_stop_is_set(s);
}

void stop_listen(struct spn_stop *s, struct stop_listener *l)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    LIST_INSERT_HEAD(&s->listeners, l, link);
    if (spn_stop_is_set(s))
        l->on_stop(l);
    (void)pthread_mutex_unlock(&s->lock);
}

void stop_unlisten(struct spn_stop *s, struct stop_listener *l)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    LIST_REMOVE(l, link);
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- Signals ---- */

/* The one that signals set. Its thread ends with it. */
static _Atomic(struct spn_stop *) chosen;
static pthread_t signal_thread;

static void wanted_signals(sigset_t *ret)
{
    (void)sigemptyset(ret);
    (void)sigaddset(ret, SIGINT);
    (void)sigaddset(ret, SIGTERM);
}

/* Only here the thread can be cancelled. */
static int next_signal(void)
{
    sigset_t wanted;
    int number = 0, before;
    wanted_signals(&wanted);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    (void)sigwait(&wanted, &number);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return number;
}

static void *wait_for_signals(void *arg)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    (void)next_signal();
    spn_stop_set(arg);
    _Exit(128 + next_signal());
}

int spn_stop_on_signals(struct spn_stop *s)
{
    struct spn_stop *nobody = NULL;
    if (!atomic_compare_exchange_strong(&chosen, &nobody, s))
        return -SPN_EXISTS;
    sigset_t wanted;
    wanted_signals(&wanted);
    (void)pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    if (!pthread_create(&signal_thread, NULL, wait_for_signals, s))
        return 0;
    (void)pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
    atomic_store(&chosen, NULL);
    return -SPN_UNAVAILABLE;
}

/* Signals end the program again. */
static void forget_signals(struct spn_stop *s)
{
    if (atomic_load(&chosen) != s)
        return;
    (void)pthread_cancel(signal_thread);
    (void)pthread_join(signal_thread, NULL);
    atomic_store(&chosen, NULL);
    sigset_t wanted;
    wanted_signals(&wanted);
    (void)pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
}

struct spn_stop *spn_stop_free(struct spn_stop *s)
{
    if (!s)
        return NULL;
    forget_signals(s);
    (void)pthread_cond_destroy(&s->changed);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}
