#include "client/pool.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/idiom.h"
#include "client/suite_client.h"

enum { N_TASKS = 50, N_WAKERS = 4, N_WAKES = 2000 };

struct counted {
    struct pool_task task;
    struct pool *pool;
    atomic_bool is_busy;
    atomic_uint n_runs, n_twice;
    unsigned left; /* so often it wakes itself */
};

static void count_run(struct pool_task *t)
{
    struct counted *c = container_of(t, struct counted, task);
    if (atomic_exchange(&c->is_busy, true))
        atomic_fetch_add(&c->n_twice, 1);
    atomic_fetch_add(&c->n_runs, 1);
    bool goes_on = c->left > 0;
    c->left -= goes_on;
    atomic_store(&c->is_busy, false);
    if (goes_on)
        pool_wake(c->pool, t);
}

static struct pool *started(void)
{
    struct pool *p = pool_new();
    assert_true(pool_start(p));
    return p;
}

static void a_task_may_wake_itself(void **state)
{
    (void)state;
    struct pool *p = started();
    struct counted c = { .task.run = count_run, .pool = p, .left = 1000 };
    pool_wake(p, &c.task);
    pool_settle(p, &c.task);
    assert_int_equal(atomic_load(&c.n_runs), 1001);
    pool_settle(p, &c.task); /* it has nothing to do */
    pool_free(p);
    pool_free(NULL);
}

/* ---- Woken while it runs ---- */

struct gated {
    struct pool_task task;
    sem_t begun, go_on;
    unsigned n_runs;
};

static void run_gated(struct pool_task *t)
{
    struct gated *g = container_of(t, struct gated, task);
    g->n_runs++;
    (void)sem_post(&g->begun);
    (void)sem_wait(&g->go_on);
}

static void who_is_woken_while_it_runs_runs_once_more(void **state)
{
    (void)state;
    struct pool *p = started();
    struct gated g = { .task.run = run_gated };
    (void)sem_init(&g.begun, 0, 0);
    (void)sem_init(&g.go_on, 0, 0);
    pool_wake(p, &g.task);
    (void)sem_wait(&g.begun);
    for (int i = 0; i < 5; i++)
        pool_wake(p, &g.task);
    /* Others need not wait for it. */
    struct counted other = { .task.run = count_run, .pool = p };
    pool_wake(p, &other.task);
    pool_settle(p, &other.task);
    assert_int_equal(atomic_load(&other.n_runs), 1);
    (void)sem_post(&g.go_on);
    (void)sem_wait(&g.begun);
    (void)sem_post(&g.go_on);
    pool_settle(p, &g.task);
    assert_int_equal(g.n_runs, 2);
    (void)sem_destroy(&g.begun);
    (void)sem_destroy(&g.go_on);
    pool_free(p);
}

/* ---- Many at once ---- */

struct waker {
    pthread_t thread;
    struct counted *all;
    unsigned seed;
};

static void *wake_many(void *arg)
{
    struct waker *w = arg;
    for (int i = 0; i < N_WAKES; i++) {
        struct counted *c = &w->all[(unsigned)rand_r(&w->seed) % N_TASKS];
        pool_wake(c->pool, &c->task);
    }
    return NULL;
}

static void no_task_runs_twice_at_once(void **state)
{
    (void)state;
    struct pool *p = started();
    struct counted all[N_TASKS];
    struct waker wakers[N_WAKERS];
    for (int i = 0; i < N_TASKS; i++)
        all[i] = (struct counted){ .task.run = count_run, .pool = p, .left = 3 };
    for (unsigned i = 0; i < N_WAKERS; i++) {
        wakers[i] = (struct waker){ .all = all, .seed = i };
        assert_int_equal(pthread_create(&wakers[i].thread, NULL, wake_many, &wakers[i]), 0);
    }
    for (int i = 0; i < N_WAKERS; i++)
        pthread_join(wakers[i].thread, NULL);
    for (int i = 0; i < N_TASKS; i++) {
        pool_wake(p, &all[i].task); /* whatever came before, it runs after this */
        pool_settle(p, &all[i].task);
        assert_int_equal(atomic_load(&all[i].n_twice), 0);
        assert_true(atomic_load(&all[i].n_runs) > 3);
    }
    pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_may_wake_itself),
        cmocka_unit_test(who_is_woken_while_it_runs_runs_once_more),
        cmocka_unit_test(no_task_runs_twice_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
