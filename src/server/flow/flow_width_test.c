/* How wide requests are, and how seats are lent. */
#include "server/flow/flow_width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "server/flow/flow_borrow.h"

static void lists_are_as_wide_as_they_are_long(void **state)
{
    (void)state;
    static const struct {
        const char *verb, *name;
        int64_t limit;
        bool selects, objects;
        uint32_t n, most, want;
    } rows[] = {
        { "get", "x", 0, false, false, 5000, 0, 1 },
        { "list", "", 0, false, false, 0, 0, 1 },
        { "list", "", 0, false, false, 100, 0, 1 },
        { "list", "", 0, false, false, 101, 0, 2 },
        { "list", "", 0, false, false, 5000, 0, 10 },
        { "list", "", 0, false, false, 5000, 4, 4 },
        { "list", "", 500, false, false, 5000, 0, 5 },
        { "list", "", 500, true, false, 5000, 0, 10 },
        { "list", "one", 0, true, false, 5000, 0, 1 },
        { "watch", "", 0, false, false, 5000, 0, 1 },
        { "watch", "", 0, false, true, 300, 0, 3 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct flow_question q = {
            .access = { .verb = str_of(rows[i].verb), .name = str_of(rows[i].name) },
            .limit = rows[i].limit,
            .has_selector = rows[i].selects,
            .wants_objects = rows[i].objects,
        };
        const struct flow_work w = flow_width(&q, rows[i].n, 100, rows[i].most);
        if (w.seats != rows[i].want || w.final_seats || w.extra_ns)
            fail_msg("row %zu: %u", i, w.seats);
    }
}

static void writes_take_extra_time_for_those_who_watch(void **state)
{
    (void)state;
    static const struct {
        const char *verb, *resource, *sub;
        uint32_t n, most, want;
        int64_t want_us;
    } rows[] = {
        { "create", "pods", "", 9, 0, 0, 0 },
        { "update", "pods", "", 10, 0, 1, 5000 },
        { "patch", "pods", "status", 95, 0, 10, 5000 },
        { "delete", "pods", "", 200, 0, 10, 10000 }, /* as long as it is not wide */
        { "delete", "pods", "", 200, 5, 5, 20000 },
        { "create", "serviceaccounts", "token", 200, 0, 0, 0 },
        { "deletecollection", "pods", "", 200, 0, 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct flow_question q = { .access = { .verb = str_of(rows[i].verb),
                                                     .resource = str_of(rows[i].resource),
                                                     .sub = str_of(rows[i].sub) } };
        const struct flow_work w = flow_width(&q, 100000, rows[i].n, rows[i].most);
        if (w.seats != 1 || w.final_seats != rows[i].want || w.extra_ns != rows[i].want_us * 1000)
            fail_msg("row %zu: %u, %lld ns", i, w.final_seats, (long long)w.extra_ns);
    }
}

static void a_level_bounds_the_width(void **state)
{
    (void)state;
    assert_int_equal(flow_width_most(245, 6), 37);
    assert_int_equal(flow_width_most(49, 6), 8);
    assert_int_equal(flow_width_most(20, 8), 2);
    assert_int_equal(flow_width_most(3, 6), 1);
    assert_int_equal(flow_width_most(13, 0), 0); /* without queues: the usual */
}

static void connections_are_not_counted(void **state)
{
    (void)state;
    static const struct {
        const char *verb, *sub;
        bool want;
    } rows[] = {
        { "create", "exec", true }, { "get", "log", true },       { "proxy", "", true },
        { "get", "proxy", true },   { "get", "status", false },   { "watch", "", false },
        { "get", "", false },       { "create", "token", false }, { "get", "portforward", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct access q = { .is_resource = true,
                                  .verb = str_of(rows[i].verb),
                                  .sub = str_of(rows[i].sub) };
        assert_int_equal(flow_width_is_endless(&q), rows[i].want);
    }
}

/* ---- Lending ---- */

static struct flow_share share(uint32_t nominal, uint32_t least, uint32_t most, uint32_t wish)
{
    struct flow_share s = { .nominal = nominal, .least = least, .most = most };
    for (int i = 0; i < 20; i++)
        flow_demand_look(&s.demand, wish);
    return s;
}

/* Who has nothing to do lends what he may, and no more; who wants much borrows up to his limit. */
static void idle_levels_lend(void **state)
{
    (void)state;
    struct flow_share s[] = { share(100, 20, 700, 0), share(100, 60, 700, 0),
                              share(100, 100, 700, 1000), share(100, 100, 150, 1000) };
    flow_borrow(s, ARRAY_LEN(s));
    assert_in_range(s[0].seats, 20, 25);
    assert_in_range(s[1].seats, 60, 65);
    assert_in_range(s[2].seats, 165, 170);
    assert_in_range(s[3].seats, 149, 150);
}

/* Who wants his own seats has them in the next while, whoever had borrowed them. */
static void what_is_lent_comes_back(void **state)
{
    (void)state;
    struct flow_share s[] = { share(100, 20, 700, 0), share(100, 20, 700, 1000) };
    flow_borrow(s, ARRAY_LEN(s));
    assert_in_range(s[1].seats, 175, 180);
    for (int i = 0; i < 20; i++) {
        flow_demand_look(&s[0].demand, 500);
        flow_demand_look(&s[1].demand, 500);
    }
    flow_borrow(s, ARRAY_LEN(s));
    assert_int_equal(s[0].seats, 100);
    assert_int_equal(s[1].seats, 100);
}

/* What is exempt takes what it wants; the others share the rest. */
static void exempt_levels_come_first(void **state)
{
    (void)state;
    struct flow_share s[] = { share(0, 0, 600, 150), share(100, 20, 700, 100),
                              share(100, 60, 700, 100) };
    s[0].is_exempt = true;
    flow_borrow(s, ARRAY_LEN(s));
    assert_int_equal(s[0].seats, 150);
    assert_int_equal(s[1].seats, 20); /* there is not even what they never lend */
    assert_int_equal(s[2].seats, 60);
}

static void a_wish_is_forgotten_slowly(void **state)
{
    (void)state;
    struct flow_share s[] = { share(100, 20, 700, 0), share(100, 20, 700, 400) };
    flow_borrow(s, ARRAY_LEN(s));
    double before = s[1].demand.smoothed;
    assert_int_equal((int)before, 400);
    for (int i = 0; i < 20; i++)
        flow_demand_look(&s[1].demand, 0);
    flow_borrow(s, ARRAY_LEN(s));
    assert_true(s[1].demand.smoothed < before && s[1].demand.smoothed > 0.97 * before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_as_wide_as_they_are_long),
        cmocka_unit_test(writes_take_extra_time_for_those_who_watch),
        cmocka_unit_test(a_level_bounds_the_width),
        cmocka_unit_test(connections_are_not_counted),
        cmocka_unit_test(idle_levels_lend),
        cmocka_unit_test(what_is_lent_comes_back),
        cmocka_unit_test(exempt_levels_come_first),
        cmocka_unit_test(a_wish_is_forgotten_slowly),
    };
    return cmocka_run_group_tests_name("flow width", tests, NULL, NULL);
}
