#include "server/core/chore.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

enum { ENOUGH = 3, PATIENCE_MS = 10000 };

static _Atomic int n_runs, n_inside, n_most;
static _Atomic bool is_held;

static void do_it(void *arg)
{
    int inside = atomic_fetch_add(&n_inside, 1) + 1;
    if (inside > atomic_load(&n_most))
        atomic_store(&n_most, inside);
    while (atomic_load((_Atomic bool *)arg))
        (void)usleep(1000);
    atomic_fetch_sub(&n_inside, 1);
    atomic_fetch_add(&n_runs, 1);
}

static void *run_loop(void *loop)
{
    loop_run(loop);
    return NULL;
}

static void wait_for_runs(int n)
{
    for (int ms = 0; atomic_load(&n_runs) < n && ms < PATIENCE_MS; ms++)
        (void)usleep(1000);
    assert_true(atomic_load(&n_runs) >= n);
}

static void it_is_done_again_and_never_twice_at_once(void **state)
{
    struct loop *loop = loop_new(NULL, NULL);
    struct workers *workers = workers_new(4, 10);
    struct chore *chore = chore_new(loop, workers, NS_PER_MS, do_it, &is_held);
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, run_loop, loop), 0);
    wait_for_runs(ENOUGH);
    /* One that takes longer than the time between is waited for. */
    atomic_store(&is_held, true);
    while (!atomic_load(&n_inside))
        (void)usleep(1000);
    int before = atomic_load(&n_runs);
    (void)usleep(20000);
    assert_int_equal(atomic_load(&n_inside), 1);
    assert_int_equal(atomic_load(&n_runs), before);
    atomic_store(&is_held, false);
    wait_for_runs(before + ENOUGH);
    loop_stop(loop);
    pthread_join(thread, NULL);
    assert_null(chore_free(chore));
    assert_int_equal(atomic_load(&n_inside), 0);
    assert_int_equal(atomic_load(&n_most), 1);
    workers_free(workers);
    loop_free(loop);
    assert_null(chore_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_done_again_and_never_twice_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
