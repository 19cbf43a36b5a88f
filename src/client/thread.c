#include "client/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/banned.h"

bool thread_start(pthread_t *ret, size_t stack_bytes, void *(*run)(void *), void *arg)
{
    sigset_t all, before; /* signals are for the threads that asked for them */
    pthread_attr_t attr;
    (void)sigfillset(&all);
    (void)pthread_attr_init(&attr);
    if (stack_bytes)
        (void)pthread_attr_setstacksize(&attr, stack_bytes);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(ret, &attr, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return r == 0;
}

void cond_init_monotonic(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(c, &attr);
    (void)pthread_condattr_destroy(&attr);
}

bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
    const struct timespec until = { until_ns / NS_PER_SEC, until_ns % NS_PER_SEC };
    return pthread_cond_timedwait(c, lock, &until) != ETIMEDOUT;
}
