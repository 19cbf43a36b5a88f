/* The seats of a level: who gets one, who waits, and that threads that come and go lose none. */
#include "server/flow/flow_level.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"

struct request {
    struct flow_waiter waiter;
    atomic_bool has_gone;
};

static void gone(struct flow_waiter *w)
{
    atomic_store(&container_of(w, struct request, waiter)->has_gone, true);
}

static struct request request_of(uint32_t seats)
{
    return (struct request){ .waiter = { .entry.work.seats = seats, .go = gone } };
}

static struct flow_level *level_new(uint32_t n_queues, uint32_t seats)
{
    const struct flow_level_spec spec = { .n_queues = n_queues, .hand_size = 1, .length = 100 };
    struct flow_level *l = flow_level_new(STR("l"), 0);
    flow_level_set(l, &spec, seats, 0);
    return l;
}

static void seats_are_taken_and_given_back(void **state)
{
    (void)state;
    struct flow_level *l = level_new(1, 3);
    assert_true(flow_level_try(l, 2));
    assert_false(flow_level_try(l, 2));
    assert_true(flow_level_try(l, 1));
    assert_false(flow_level_try(l, 1));
    flow_level_give(l, 2, 0);
    assert_true(flow_level_try(l, 2));
    assert_int_equal(flow_level_look(l).seats_used, 3);
    flow_level_free(l);
}

static void who_waits_is_told_in_order(void **state)
{
    (void)state;
    struct flow_level *l = level_new(1, 1);
    struct request a = request_of(1), b = request_of(1);
    assert_true(flow_level_try(l, 1));
    assert_int_equal(flow_level_wait(l, &a.waiter, 1, 0), FLOW_WAITS);
    assert_int_equal(flow_level_wait(l, &b.waiter, 1, 0), FLOW_WAITS);
    flow_level_give(l, 1, 0);
    assert_true(a.has_gone);
    assert_false(b.has_gone);
    assert_false(flow_level_try(l, 1)); /* nobody passes b */
    flow_level_over(l, &a.waiter, 0);
    assert_true(b.has_gone);
    flow_level_over(l, &b.waiter, 0);
    assert_int_equal(flow_level_look(l).seats_used, 0);
    flow_level_free(l);
}

static void who_leaves_waits_no_longer_and_holds_up_nobody(void **state)
{
    (void)state;
    struct flow_level *l = level_new(1, 2);
    struct request wide = request_of(2), narrow = request_of(1);
    assert_true(flow_level_try(l, 1));
    assert_int_equal(flow_level_wait(l, &wide.waiter, 1, 0), FLOW_WAITS);
    assert_int_equal(flow_level_wait(l, &narrow.waiter, 1, 0), FLOW_WAITS);
    assert_true(flow_level_withdraw(l, &wide.waiter, 0));
    assert_true(narrow.has_gone);
    assert_false(flow_level_withdraw(l, &narrow.waiter, 0)); /* too late */
    flow_level_over(l, &narrow.waiter, 0);
    flow_level_give(l, 1, 0);
    const struct flow_level_state now = flow_level_look(l);
    assert_int_equal(now.seats_used + now.n_waiting + now.seats_waiting, 0);
    flow_level_free(l);
}

static void without_queues_nobody_waits(void **state)
{
    (void)state;
    struct flow_level *l = level_new(0, 1);
    struct request a = request_of(1);
    assert_true(flow_level_try(l, 1));
    assert_int_equal(flow_level_wait(l, &a.waiter, 1, 0), FLOW_NO_SEAT);
    flow_level_give(l, 1, 0);
    assert_int_equal(flow_level_wait(l, &a.waiter, 1, 0), FLOW_GOES);
    flow_level_over(l, &a.waiter, 0);
    assert_int_equal(flow_level_look(l).seats_used, 0);
    flow_level_free(l);
}

static void what_is_too_wide_goes_alone(void **state)
{
    (void)state;
    struct flow_level *l = level_new(1, 2);
    struct request wide = request_of(5);
    assert_true(flow_level_try(l, 1));
    assert_int_equal(flow_level_wait(l, &wide.waiter, 1, 0), FLOW_WAITS);
    flow_level_give(l, 1, 0);
    assert_true(wide.has_gone);
    assert_false(flow_level_try(l, 1));
    flow_level_over(l, &wide.waiter, 0);
    assert_true(flow_level_try(l, 1));
    flow_level_free(l);
}

static void more_seats_let_more_go(void **state)
{
    (void)state;
    struct flow_level *l = level_new(1, 1);
    struct request r[4];
    assert_true(flow_level_try(l, 1));
    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = request_of(1);
        assert_int_equal(flow_level_wait(l, &r[i].waiter, 1, 0), FLOW_WAITS);
    }
    flow_level_set_seats(l, 3, 0);
    assert_true(r[0].has_gone && r[1].has_gone);
    assert_false(r[2].has_gone || r[3].has_gone);
    const struct flow_level_spec exempt = { .is_exempt = true };
    flow_level_set(l, &exempt, 0, 0); /* no limit at all */
    assert_true(r[2].has_gone && r[3].has_gone);
    assert_true(flow_level_try(l, 1000));
    flow_level_free(l);
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 20000, SEATS = 2 };

struct crowd {
    struct flow_level *level;
    atomic_int inside, most_inside;
    atomic_ullong served, left;
    atomic_uint seeds;
};

static void serve(struct crowd *c)
{
    int now = atomic_fetch_add(&c->inside, 1) + 1, most = atomic_load(&c->most_inside);
    while (now > most && !atomic_compare_exchange_weak(&c->most_inside, &most, now))
        ;
    atomic_fetch_add(&c->served, 1);
    atomic_fetch_sub(&c->inside, 1);
}

/* True if it was served, false if it left. */
static bool wait_or_leave(struct crowd *c, uint32_t dice)
{
    struct request r = request_of(1);
    if (flow_level_wait(c->level, &r.waiter, dice, clock_mono_ns(&clock_system)) == FLOW_WAITS) {
        for (uint32_t i = dice % 64; i && !atomic_load(&r.has_gone); i--)
            sched_yield();
        if (dice % 2 && flow_level_withdraw(c->level, &r.waiter, clock_mono_ns(&clock_system)))
            return false;
        while (!atomic_load(&r.has_gone))
            sched_yield();
    }
    serve(c);
    flow_level_over(c->level, &r.waiter, clock_mono_ns(&clock_system));
    return true;
}

static void *come_and_go(void *arg)
{
    struct crowd *c = arg;
    uint32_t dice = atomic_fetch_add(&c->seeds, 77);
    for (int i = 0; i < ROUNDS; i++) {
        dice = dice * 1664525 + 1013904223;
        if (flow_level_try(c->level, 1)) {
            serve(c);
            flow_level_give(c->level, 1, clock_mono_ns(&clock_system));
        } else if (!wait_or_leave(c, dice >> 8)) {
            atomic_fetch_add(&c->left, 1);
        }
    }
    return NULL;
}

/* Nobody waits for ever, no seat is lost or given twice. */
static void threads_share_seats(void **state)
{
    (void)state;
    struct crowd c = { .level = level_new(16, SEATS), .seeds = 1 };
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &c), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.served + c.left, THREADS * ROUNDS);
    assert_in_range(c.most_inside, 1, SEATS);
    const struct flow_level_state now = flow_level_look(c.level);
    assert_int_equal(now.seats_used + now.n_waiting + now.seats_waiting, 0);
    flow_level_free(c.level);
}

/* What a request pays that finds a free seat. Printed, not judged. */
static void the_way_without_waiting_is_short(void **state)
{
    (void)state;
    enum { TIMES = 1000000 };
    struct flow_level *l = level_new(16, 10);
    int64_t before = clock_mono_ns(&clock_system);
    for (int i = 0; i < TIMES; i++) {
        assert_true(flow_level_try(l, 1));
        flow_level_give(l, 1, before);
    }
    print_message("a seat taken and given back: %.1f ns\n",
                  (double)(clock_mono_ns(&clock_system) - before) / TIMES);
    flow_level_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seats_are_taken_and_given_back),
        cmocka_unit_test(who_waits_is_told_in_order),
        cmocka_unit_test(who_leaves_waits_no_longer_and_holds_up_nobody),
        cmocka_unit_test(without_queues_nobody_waits),
        cmocka_unit_test(what_is_too_wide_goes_alone),
        cmocka_unit_test(more_seats_let_more_go),
        cmocka_unit_test(threads_share_seats),
        cmocka_unit_test(the_way_without_waiting_is_short),
    };
    return cmocka_run_group_tests_name("flow level", tests, NULL, NULL);
}
