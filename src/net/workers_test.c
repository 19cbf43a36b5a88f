#include "net/workers.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"

enum { THREADS = 3, QUEUED = 5, MANY = 2000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* works wait while a test holds it */
static atomic_int done, running, most_running;

static void pass_gate(struct work *w)
{
    int now = atomic_fetch_add(&running, 1) + 1;
    int most = atomic_load(&most_running);
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
        ;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    atomic_fetch_sub(&running, 1);
    atomic_fetch_add(&done, 1);
    free(w);
}

static bool submit(struct workers *w)
{
    struct work *work = mem_new(struct work);
    work->run = pass_gate;
    if (workers_submit(w, work))
        return true;
    free(work);
    return false;
}

static void a_full_queue_refuses(void **state)
{
    (void)state;
    atomic_store(&done, 0);
    atomic_store(&most_running, 0);
    struct workers *w = workers_new(THREADS, QUEUED);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < THREADS + QUEUED; i++)
        assert_true(submit(w));
    assert_false(submit(w));
    assert_false(submit(w));
    pthread_mutex_unlock(&gate);
    workers_free(w);
    assert_int_equal(atomic_load(&done), THREADS + QUEUED);
    assert_in_range(atomic_load(&most_running), 1, THREADS);
}

static void free_runs_what_is_queued(void **state)
{
    (void)state;
    atomic_store(&done, 0);
    struct workers *w = workers_new(1, MANY);
    for (int i = 0; i < MANY; i++)
        assert_true(submit(w));
    workers_free(w);
    assert_int_equal(atomic_load(&done), MANY);
}

static void *submit_many(void *arg)
{
    intptr_t taken = 0;
    for (int i = 0; i < MANY; i++)
        taken += submit(arg);
    return (void *)taken;
}

static void any_thread_may_submit(void **state)
{
    (void)state;
    atomic_store(&done, 0);
    struct workers *w = workers_new(THREADS, QUEUED);
    pthread_t threads[2];
    int taken = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, w), 0);
    for (int i = 0; i < 2; i++) {
        void *n;
        pthread_join(threads[i], &n);
        taken += (int)(intptr_t)n;
    }
    workers_free(w);
    assert_int_equal(atomic_load(&done), taken);
}

/* Red only while there is something to do, everybody is busy, and has been for long enough. */
static void being_stuck_is_noticed(void **state)
{
    (void)state;
    const int64_t hour = 3600 * NS_PER_SEC;
    atomic_store(&done, 0);
    struct workers *w = workers_new(1, QUEUED);
    assert_false(workers_stuck(w, 0));
    pthread_mutex_lock(&gate);
    assert_true(submit(w));
    while (atomic_load(&running) == 0)
        sched_yield();
    assert_false(workers_stuck(w, 0)); /* busy, but nobody waits */
    assert_true(submit(w));
    assert_true(workers_stuck(w, 0));
    assert_false(workers_stuck(w, hour));
    assert_false(workers_stop(w, 0));
    assert_false(submit(w));
    pthread_mutex_unlock(&gate);
    assert_true(workers_stop(w, clock_mono_ns(&clock_system) + hour));
    assert_int_equal(atomic_load(&done), 2);
    assert_false(workers_stuck(w, 0));
    workers_free(w);
}

static void unused_workers_can_be_freed(void **state)
{
    (void)state;
    assert_null(workers_free(workers_new(1, 0)));
    assert_null(workers_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_refuses),        cmocka_unit_test(free_runs_what_is_queued),
        cmocka_unit_test(any_thread_may_submit),       cmocka_unit_test(being_stuck_is_noticed),
        cmocka_unit_test(unused_workers_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
