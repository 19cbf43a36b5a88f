#include "base/allowance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/idiom.h"

static void test_an_arena_counts_what_it_holds(void **state)
{
    (void)state;
    struct allowance_pool pool = { .max = 1u << 20 };
    struct allowance w = { .pool = &pool };
    struct arena a, b;
    arena_init(&a);
    (void)arena_alloc(&a, 100, 1);
    arena_allow(&a, &w);
    assert_int_equal(atomic_load(&w.held), a.held);

    arena_init(&b);
    arena_allow(&b, &w);
    (void)arena_alloc(&b, 50000, 1);
    assert_int_equal(atomic_load(&w.held), a.held + b.held);
    assert_int_equal(atomic_load(&pool.held), a.held + b.held);
    (void)arena_alloc(&b, 60000, 1);
    arena_reset(&b);
    assert_int_equal(atomic_load(&w.held), a.held + b.held);

    arena_done(&b);
    arena_allow(&a, NULL);
    assert_int_equal(atomic_load(&w.held), 0);
    assert_int_equal(atomic_load(&pool.held), 0);
    assert_false(arena_spent(&a));
    arena_done(&a);
}

static void test_too_much_ends_it(void **state)
{
    (void)state;
    struct allowance_pool pool = { .max = 200000 };
    struct allowance alone = { .max = 100000, .pool = &pool }, other = { .pool = &pool };
    struct arena a, b;
    arena_init(&a);
    arena_init(&b);
    arena_allow(&a, &alone);
    arena_allow(&b, &other);

    (void)arena_alloc(&a, 90000, 1);
    assert_false(arena_spent(&a));
    (void)arena_alloc(&a, 20000, 1);
    assert_true(arena_spent(&a));
    assert_int_equal(allowance_error(&alone, NULL), -ERR_TOO_LARGE);

    assert_false(arena_spent(&b)); /* it is not to blame yet */
    (void)arena_alloc(&b, 150000, 1);
    assert_true(arena_spent(&b));
    struct arena words;
    arena_init(&words);
    struct err err = ERR_INIT(&words);
    assert_int_equal(allowance_error(&other, &err), -ERR_TOO_MANY_REQUESTS);
    assert_int_equal(err.about.retry_after_sec, 1);
    arena_done(&words);
    arena_done(&a);
    arena_done(&b);
    assert_int_equal(atomic_load(&pool.held), 0);
}

static void test_a_pool_within_another(void **state)
{
    (void)state;
    struct allowance_pool all = { .max = 200000 }, ours = { .max = 100000, .within = &all },
                          theirs = { .max = 100000, .within = &all };
    struct allowance one = { .pool = &ours }, other = { .pool = &theirs };
    struct arena a, b;
    arena_init(&a);
    arena_init(&b);
    arena_allow(&a, &one);
    arena_allow(&b, &other);
    (void)arena_alloc(&a, 120000, 1);
    assert_true(arena_spent(&a));
    assert_true(allowance_pool_is_full(&ours));
    assert_false(allowance_pool_is_full(&theirs)); /* whoever fills his own leaves some to others */
    (void)arena_alloc(&b, 60000, 1);
    assert_false(arena_spent(&b));
    (void)arena_alloc(&b, 30000, 1);
    assert_true(arena_spent(&b));
    assert_true(allowance_pool_is_full(&theirs));
    /* Nor is whoever holds next to nothing refused because of them. */
    struct allowance_pool small = { .max = 100000, .within = &all };
    struct allowance third = { .pool = &small };
    struct arena c;
    arena_init(&c);
    arena_allow(&c, &third);
    assert_true(atomic_load(&all.held) > all.max);
    assert_false(allowance_pool_is_full(&small));
    (void)arena_alloc(&c, 4000, 1);
    assert_false(arena_spent(&c));
    (void)arena_alloc(&c, 8000, 1);
    assert_true(arena_spent(&c));
    arena_done(&c);
    arena_done(&a);
    arena_done(&b);
    assert_int_equal(atomic_load(&all.held), 0);
}

static void test_the_first_reason_stays(void **state)
{
    (void)state;
    static const struct {
        enum allowance_end why;
        int code;
    } rows[] = {
        { ALLOWANCE_GONE, ERR_TIMEOUT },
        { ALLOWANCE_LATE, ERR_TIMEOUT },
        { ALLOWANCE_STOPPING, ERR_UNAVAILABLE },
        { ALLOWANCE_TOO_LARGE, ERR_TOO_LARGE },
        { ALLOWANCE_CROWDED, ERR_TOO_MANY_REQUESTS },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct allowance w = { 0 };
        assert_int_equal(allowance_ended(&w), ALLOWANCE_OPEN);
        allowance_finish(&w, rows[i].why);
        allowance_finish(&w, i ? ALLOWANCE_GONE : ALLOWANCE_LATE);
        assert_int_equal(allowance_ended(&w), rows[i].why);
        assert_int_equal(allowance_error(&w, NULL), -rows[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_arena_counts_what_it_holds),
        cmocka_unit_test(test_too_much_ends_it),
        cmocka_unit_test(test_a_pool_within_another),
        cmocka_unit_test(test_the_first_reason_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
