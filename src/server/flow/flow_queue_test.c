/* Fair queues in a time of the test's own: who goes next, what a noisy flow can do to a quiet one,
 * and that nobody is lost. */
#include "server/flow/flow_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "auth/flow_rules.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/limits.h"

/* A level with so many seats, whose requests take a millisecond each. */
struct plant {
    struct flow_queues *queues;
    size_t seats, used;
    int64_t now;
    struct flow_entry *running[64];
    size_t n_running;
};

enum { SERVICE_NS = 1000000 };

static struct plant plant_new(size_t n, size_t hand, size_t length, size_t seats)
{
    struct plant p = { .queues = flow_queues_new(0), .seats = seats };
    flow_queues_set(p.queues, n, hand, length);
    flow_queues_set_seats(p.queues, seats, 0);
    return p;
}

static bool plant_add(struct plant *p, struct flow_entry *e, uint64_t flow)
{
    if (!e->work.seats)
        e->work.seats = 1;
    return flow_queues_add(p->queues, e, flow * 0x9E3779B97F4A7C15u, p->used >= p->seats, p->now);
}

/* Lets go whom it can; returns the first of them. */
static struct flow_entry *plant_go(struct plant *p)
{
    struct flow_entry *first = NULL, *e;
    while ((e = flow_queues_next(p->queues, p->now)) &&
           p->used + flow_work_seats(&e->work) <= p->seats) {
        flow_queues_take(p->queues, e, p->now);
        p->used += flow_work_seats(&e->work);
        p->running[p->n_running++] = e;
        first = first ? first : e;
    }
    return first;
}

/* A millisecond later those that run are over. Returns how many. */
static size_t plant_turn(struct plant *p)
{
    size_t n = p->n_running;
    p->now += SERVICE_NS;
    for (size_t i = 0; i < n; i++) {
        p->used -= flow_work_seats(&p->running[i]->work);
        flow_queues_over(p->queues, p->running[i], p->now);
    }
    p->n_running = 0;
    return n;
}

/* ---- Fairness ---- */

/* How many of the noisy requests were served before the quiet one. */
static size_t served_before(size_t n_queues, size_t hand, size_t n_noisy)
{
    struct plant p = plant_new(n_queues, hand, n_noisy, 4);
    struct flow_entry *noisy = calloc(n_noisy, sizeof(*noisy)), quiet = { 0 };
    for (size_t i = 0; i < n_noisy; i++)
        assert_true(plant_add(&p, &noisy[i], 1));
    (void)plant_go(&p);
    size_t before = plant_turn(&p);
    assert_true(plant_add(&p, &quiet, 2));
    while (quiet.waits) {
        (void)plant_go(&p);
        before += plant_turn(&p);
    }
    while (plant_go(&p))
        (void)plant_turn(&p);
    assert_int_equal(flow_queues_waiting(p.queues), 0);
    flow_queues_free(p.queues);
    free(noisy);
    return before;
}

/* A thousand requests of one flow wait; another flow's is served in the next turn or two, not
 * behind them. In one queue for all it would be the last one. */
static void a_noisy_flow_does_not_delay_a_quiet_one(void **state)
{
    (void)state;
    size_t fair = served_before(64, 6, 1000), unfair = served_before(1, 1, 1000);
    print_message("%zu noisy requests before the quiet one, %zu in a single queue\n", fair, unfair);
    assert_in_range(fair, 4, 4 + 2 * 4);
    assert_in_range(unfair, 1000, 1001);
}

/* Two flows that always want seats get the same, also if one of them asks ten times as much. */
static void two_greedy_flows_get_the_same(void **state)
{
    (void)state;
    enum { EACH = 2000 };
    struct plant p = plant_new(8, 1, EACH, 4);
    struct flow_entry *a = calloc(EACH, sizeof(*a)), *b = calloc(EACH / 10, sizeof(*b));
    for (size_t i = 0; i < EACH; i++)
        assert_true(plant_add(&p, &a[i], 3));
    for (size_t i = 0; i < EACH / 10; i++)
        assert_true(plant_add(&p, &b[i], 4));
    for (int turn = 0; turn < 50; turn++) { /* 200 requests */
        (void)plant_go(&p);
        (void)plant_turn(&p);
    }
    size_t n_a = 0, n_b = 0;
    for (size_t i = 0; i < EACH; i++)
        n_a += !a[i].waits;
    for (size_t i = 0; i < EACH / 10; i++)
        n_b += !b[i].waits;
    assert_int_equal(n_a + n_b, 200);
    assert_in_range(n_a, 96, 104);
    while (plant_go(&p))
        (void)plant_turn(&p);
    flow_queues_free(p.queues);
    free(a);
    free(b);
}

/* Who takes four seats gets a turn for four turns of the other. */
static void wide_requests_get_fewer_turns(void **state)
{
    (void)state;
    enum { EACH = 400 };
    struct plant p = plant_new(8, 1, EACH, 4);
    struct flow_entry *wide = calloc(EACH, sizeof(*wide)), *narrow = calloc(EACH, sizeof(*narrow));
    for (size_t i = 0; i < EACH; i++) {
        wide[i].work.seats = 4;
        assert_true(plant_add(&p, &wide[i], 3));
        assert_true(plant_add(&p, &narrow[i], 4));
    }
    for (int turn = 0; turn < 100; turn++) {
        (void)plant_go(&p);
        (void)plant_turn(&p);
    }
    size_t n_wide = 0, n_narrow = 0;
    for (size_t i = 0; i < EACH; i++) {
        n_wide += !wide[i].waits;
        n_narrow += !narrow[i].waits;
    }
    assert_in_range(n_narrow, 3 * n_wide, 5 * n_wide);
    while (plant_go(&p))
        (void)plant_turn(&p);
    flow_queues_free(p.queues);
    free(wide);
    free(narrow);
}

/* ---- Queues ---- */

static void the_oldest_of_a_flow_goes_first(void **state)
{
    (void)state;
    struct plant p = plant_new(4, 1, 10, 1);
    struct flow_entry e[5] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(e); i++)
        assert_true(plant_add(&p, &e[i], 1));
    for (size_t i = 0; i < ARRAY_LEN(e); i++) {
        assert_ptr_equal(plant_go(&p), &e[i]);
        (void)plant_turn(&p);
    }
    assert_null(plant_go(&p));
    flow_queues_free(p.queues);
}

/* A flow has as many places as its hand, and a queue is full only while no seat is free. */
static void a_full_queue_takes_nobody(void **state)
{
    (void)state;
    struct plant p = plant_new(16, 3, 5, 2);
    struct flow_entry e[20] = { 0 };
    size_t n = 0;
    p.used = p.seats;
    while (n < ARRAY_LEN(e) && plant_add(&p, &e[n], 1))
        n++;
    assert_int_equal(n, 3 * 5);
    assert_int_equal(flow_queues_active(p.queues), 3);
    p.used = 1;
    assert_true(plant_add(&p, &e[n], 1));
    p.used = p.seats;
    for (size_t i = 0; i <= n; i++)
        flow_queues_remove(p.queues, &e[i], p.now);
    assert_int_equal(flow_queues_waiting(p.queues), 0);
    assert_int_equal(flow_queues_seats_waiting(p.queues), 0);
    assert_int_equal(flow_queues_active(p.queues), 0);
    flow_queues_free(p.queues);
}

/* Queues that are one too many stay until they are empty; nobody in them is lost. */
static void queues_may_become_fewer(void **state)
{
    (void)state;
    struct plant p = plant_new(32, 4, 50, 1);
    struct flow_entry e[100] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(e); i++)
        assert_true(plant_add(&p, &e[i], i));
    flow_queues_set(p.queues, 2, 1, 50);
    size_t n = 0;
    while (plant_go(&p))
        n += plant_turn(&p);
    assert_int_equal(n, ARRAY_LEN(e));
    flow_queues_set(p.queues, 3, 1, 50);
    autobuf out = { 0 };
    flow_queues_dump(p.queues, STR("l"), &out);
    size_t lines = 0;
    for (struct str rest = buf_str(&out); rest.n; lines++)
        (void)str_cut(&rest, '\n');
    assert_int_equal(lines, 3);
    flow_queues_free(p.queues);
}

/* Who asks for millions of queues gets as many as we make. */
static void queues_are_bounded(void **state)
{
    (void)state;
    struct plant p = plant_new(10000000, 2, 1, 1);
    struct flow_entry e = { 0 };
    assert_true(plant_add(&p, &e, 7));
    assert_ptr_equal(plant_go(&p), &e);
    (void)plant_turn(&p);
    autobuf out = { 0 };
    flow_queues_dump(p.queues, STR("l"), &out);
    size_t lines = 0;
    for (struct str rest = buf_str(&out); rest.n; lines++)
        (void)str_cut(&rest, '\n');
    assert_int_equal(lines, LIMIT_FLOW_QUEUES);
    flow_queues_free(p.queues);
}

/* Seats are kept for the extra time, and the queue counts them. */
static void extra_time_keeps_the_seats(void **state)
{
    (void)state;
    struct plant p = plant_new(4, 1, 10, 8);
    struct flow_entry e = { .work = { .seats = 1, .final_seats = 3, .extra_ns = 5000000 } };
    assert_true(plant_add(&p, &e, 1));
    assert_int_equal(flow_queues_seats_waiting(p.queues), 3);
    assert_ptr_equal(plant_go(&p), &e);
    assert_int_equal(p.used, 3);
    flow_queues_over(p.queues, &e, 1000000);
    autobuf during = { 0 }, after = { 0 };
    flow_queues_dump(p.queues, STR("l"), &during);
    flow_queues_leave(p.queues, &e, 6000000);
    flow_queues_dump(p.queues, STR("l"), &after);
    assert_non_null(memmem(during.p, during.n, ",\t0,\t0,\t3,\t", 10));
    assert_null(memmem(after.p, after.n, ",\t0,\t0,\t3,\t", 10));
    flow_queues_free(p.queues);
}

/* Random comings, goings and leavings: everybody is in the end either served or gone. */
static void nobody_is_lost(void **state)
{
    (void)state;
    enum { ALL = 5000 };
    struct plant p = plant_new(16, 4, 1000, 8);
    struct flow_entry *e = calloc(ALL, sizeof(*e));
    size_t come = 0, served = 0, left = 0;
    uint32_t dice = 12345;
    while (come < ALL || flow_queues_waiting(p.queues)) {
        dice = dice * 1664525 + 1013904223;
        if (dice >> 30 < 3 && come < ALL) {
            e[come].work.seats = 1 + (dice >> 8) % 3;
            assert_true(plant_add(&p, &e[come], (dice >> 12) % 20));
            come++;
        } else if (dice >> 28 == 15 && come) {
            struct flow_entry *who = &e[(dice >> 4) % come];
            if (who->waits) {
                flow_queues_remove(p.queues, who, p.now);
                left++;
            }
        }
        (void)plant_go(&p);
        served += plant_turn(&p);
    }
    assert_int_equal(served + left, ALL);
    assert_int_equal(flow_queues_seats_waiting(p.queues), 0);
    flow_queues_free(p.queues);
    free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_noisy_flow_does_not_delay_a_quiet_one),
        cmocka_unit_test(two_greedy_flows_get_the_same),
        cmocka_unit_test(wide_requests_get_fewer_turns),
        cmocka_unit_test(the_oldest_of_a_flow_goes_first),
        cmocka_unit_test(a_full_queue_takes_nobody),
        cmocka_unit_test(queues_may_become_fewer),
        cmocka_unit_test(queues_are_bounded),
        cmocka_unit_test(extra_time_keeps_the_seats),
        cmocka_unit_test(nobody_is_lost),
    };
    return cmocka_run_group_tests_name("flow queues", tests, NULL, NULL);
}
