#include "scheduler/wait_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"

/* Pods that have nothing but a priority. */
struct fixture {
    struct wait_queue q;
    struct pod_facts facts[4];
    struct sched_pod pods[4];
};

static void init(struct fixture *x)
{
    *x = (struct fixture){ .q = { NS_PER_SEC, 10 * NS_PER_SEC } };
    for (size_t i = 0; i < 4; i++)
        x->pods[i].f = &x->facts[i];
}

static struct sched_pod *pop(struct fixture *x, int64_t now)
{
    int64_t next;
    return wait_queue_pop(&x->q, now, &next);
}

static void test_order(void **state)
{
    (void)state;
    struct fixture x;
    init(&x);
    x.facts[2].priority = 5;
    for (size_t i = 0; i < 4; i++)
        wait_queue_add(&x.q, &x.pods[i], (int64_t)i);
    wait_queue_remove(&x.q, &x.pods[1]);
    assert_ptr_equal(pop(&x, 9), &x.pods[2]);
    assert_ptr_equal(pop(&x, 9), &x.pods[0]);
    assert_ptr_equal(pop(&x, 9), &x.pods[3]);
    assert_null(pop(&x, 9));
    wait_queue_done(&x.q);
}

/* Who was rejected waits until something happens that the plugin cares about. */
static void test_wake(void **state)
{
    (void)state;
    struct fixture x;
    init(&x);
    wait_queue_add(&x.q, &x.pods[0], 0);
    struct sched_pod *p = pop(&x, 0);
    wait_queue_fail(&x.q, p, 1u << 3, false, 0);
    assert_null(pop(&x, NS_PER_SEC));
    assert_false(wait_queue_wake(&x.q, 1u << 2, NULL, NULL, NS_PER_SEC));
    assert_true(wait_queue_wake(&x.q, 1u << 3, NULL, NULL, NS_PER_SEC / 2));
    assert_int_equal(p->queued, POD_BACKING_OFF);
    /* Nothing else is to be done, so it need not wait. */
    assert_ptr_equal(pop(&x, NS_PER_SEC / 2), p);
    wait_queue_fail(&x.q, p, 1u << 3, false, 0);
    assert_ptr_equal(pop(&x, 301 * NS_PER_SEC), p);
    wait_queue_done(&x.q);
}

static void test_errors_back_off(void **state)
{
    (void)state;
    static const int64_t pauses[] = { 1, 2, 4, 8, 10, 10 };
    struct fixture x;
    init(&x);
    wait_queue_add(&x.q, &x.pods[0], 0);
    struct sched_pod *p = pop(&x, 0);
    int64_t now = 0, next;
    for (size_t i = 0; i < 6; i++) {
        wait_queue_fail(&x.q, p, 0, true, now);
        assert_null(wait_queue_pop(&x.q, now, &next));
        assert_int_equal(next - now, pauses[i] * NS_PER_SEC);
        now = next;
        assert_ptr_equal(pop(&x, now), p);
    }
    wait_queue_done(&x.q);
}

static void test_preempting_waits(void **state)
{
    (void)state;
    struct fixture x;
    init(&x);
    wait_queue_add(&x.q, &x.pods[0], 0);
    struct sched_pod *p = pop(&x, 0);
    wait_queue_fail(&x.q, p, 1, false, 0);
    p->is_preempting = true;
    assert_false(wait_queue_wake(&x.q, 1, NULL, NULL, 1));
    assert_null(pop(&x, 1));
    wait_queue_preempted(&x.q, p, false, 2);
    assert_ptr_equal(pop(&x, 2), p);
    wait_queue_done(&x.q);
}

static void test_gates(void **state)
{
    (void)state;
    struct fixture x;
    init(&x);
    x.facts[0].is_gated = true;
    wait_queue_add(&x.q, &x.pods[0], 0);
    assert_null(pop(&x, 0));
    x.facts[0].is_gated = false;
    wait_queue_add(&x.q, &x.pods[0], 1);
    assert_ptr_equal(pop(&x, 1), &x.pods[0]);
    wait_queue_done(&x.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),           cmocka_unit_test(test_wake),
        cmocka_unit_test(test_errors_back_off), cmocka_unit_test(test_preempting_waits),
        cmocka_unit_test(test_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
