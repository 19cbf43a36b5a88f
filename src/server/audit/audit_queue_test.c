#include "server/audit/audit_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

/* Takes deliveries when it is open; notes them as "a,b;c;". */
static struct back_end {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct buf seen;
    size_t n_waiting;
    _Atomic size_t n_events;
    bool is_open;
    atomic_bool cancel;
} end;

static void deliver(void *arg, const struct str *events, size_t n)
{
    (void)arg;
    pthread_mutex_lock(&end.lock);
    end.n_waiting++;
    pthread_cond_broadcast(&end.moved);
    while (!end.is_open && !atomic_load(&end.cancel)) {
        pthread_mutex_unlock(&end.lock);
        (void)sched_yield();
        pthread_mutex_lock(&end.lock);
    }
    for (size_t i = 0; i < n && events[i].n < 10; i++) {
        buf_str_add(&end.seen, events[i]);
        buf_byte(&end.seen, i + 1 < n ? ',' : ';');
    }
    end.n_events += n;
    end.n_waiting--;
    pthread_cond_broadcast(&end.moved);
    pthread_mutex_unlock(&end.lock);
}

static void wait_for_delivery(void)
{
    pthread_mutex_lock(&end.lock);
    while (!end.n_waiting)
        pthread_cond_wait(&end.moved, &end.lock);
    pthread_mutex_unlock(&end.lock);
}

static void set_open(bool is_open)
{
    pthread_mutex_lock(&end.lock);
    end.is_open = is_open;
    pthread_mutex_unlock(&end.lock);
}

static struct audit_queue *start_with(const struct audit_queue_options *opt)
{
    pthread_mutex_init(&end.lock, NULL);
    pthread_cond_init(&end.moved, NULL);
    end.is_open = false;
    end.n_waiting = 0;
    atomic_store(&end.n_events, 0);
    atomic_store(&end.cancel, false);
    struct audit_queue *q = audit_queue_new(opt);
    assert_non_null(q);
    return q;
}

static struct audit_queue *start(size_t buffer, size_t most, int64_t wait_ns)
{
    return start_with(&(struct audit_queue_options){
        .buffer = buffer, .most = most, .wait_ns = wait_ns, .deliver = deliver });
}

static void stop(struct audit_queue *q, int64_t ns)
{
    audit_queue_free(q, clock_mono_ns(&clock_system) + ns, &end.cancel);
}

static void check(const char *want)
{
    buf_byte(&end.seen, '\0');
    assert_string_equal(end.seen.p, want);
    buf_done(&end.seen);
    end.seen = (struct buf){ 0 };
}

static void events_are_delivered_in_order_and_in_bounds(void **state)
{
    (void)state;
    struct audit_queue *q = start(3, 2, 0);
    assert_true(audit_queue_add(q, STR("a")));
    wait_for_delivery(); /* it has the first one and is stuck with it */
    assert_true(audit_queue_add(q, STR("b")));
    assert_true(audit_queue_add(q, STR("c")));
    assert_true(audit_queue_add(q, STR("d")));
    assert_false(audit_queue_add(q, STR("e")));
    set_open(true);
    stop(q, 60 * NS_PER_SEC);
    check("a;b,c;d;");
}

static void they_wait_for_each_other(void **state)
{
    (void)state;
    struct audit_queue *q = start(10, 3, 3600 * NS_PER_SEC);
    set_open(true);
    assert_true(audit_queue_add(q, STR("a")));
    assert_true(audit_queue_add(q, STR("b")));
    assert_true(audit_queue_add(q, STR("c"))); /* enough */
    while (atomic_load(&end.n_events) < 3)
        (void)sched_yield();
    assert_true(audit_queue_add(q, STR("d"))); /* delivered because it ends */
    stop(q, 60 * NS_PER_SEC);
    check("a,b,c;d;");
}

static void large_events_are_bounded_too(void **state)
{
    (void)state;
    autofree char *text = mem_zalloc(LIMIT_AUDIT_QUEUE_BYTES / 4);
    const struct str quarter = { text, LIMIT_AUDIT_QUEUE_BYTES / 4 };
    struct audit_queue *q = start(100, 100, 0);
    assert_true(audit_queue_add(q, STR("a")));
    wait_for_delivery();
    for (int i = 0; i < 4; i++)
        assert_true(audit_queue_add(q, quarter));
    assert_false(audit_queue_add(q, STR("b")));
    set_open(true);
    stop(q, 60 * NS_PER_SEC);
    assert_int_equal(end.n_events, 5);
    check("a;");
}

static void a_stuck_back_end_does_not_keep_it_from_ending(void **state)
{
    (void)state;
    struct audit_queue *q = start(10, 1, 0);
    assert_true(audit_queue_add(q, STR("a")));
    wait_for_delivery();
    stop(q, 0);
    assert_true(atomic_load(&end.cancel));
    check("a;");
}

static void no_more_are_delivered_than_agreed(void **state)
{
    (void)state;
    struct audit_queue *q = start_with(&(struct audit_queue_options){
        .buffer = 10, .most = 1, .per_second = 0.001, .burst = 2, .deliver = deliver });
    set_open(true);
    assert_true(audit_queue_add(q, STR("a")));
    assert_true(audit_queue_add(q, STR("b")));
    assert_true(audit_queue_add(q, STR("c"))); /* not for a quarter of an hour */
    while (atomic_load(&end.n_events) < 2)
        (void)sched_yield();
    assert_true(audit_queue_add(q, STR("d")));
    assert_int_equal(atomic_load(&end.n_events), 2);
    stop(q, 60 * NS_PER_SEC); /* but at the end */
    check("a;b;c;d;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_delivered_in_order_and_in_bounds),
        cmocka_unit_test(they_wait_for_each_other),
        cmocka_unit_test(large_events_are_bounded_too),
        cmocka_unit_test(no_more_are_delivered_than_agreed),
        cmocka_unit_test(a_stuck_back_end_does_not_keep_it_from_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
