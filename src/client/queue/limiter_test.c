#include "client/queue/limiter.h"

#include "base/clock.h"
#include "client/suite_client.h"

#define MS NS_PER_MS

static void delays_double_up_to_the_longest(void **state)
{
    (void)state;
    struct limiter l;
    limiter_init(&l, 5 * MS, 1000 * NS_PER_SEC, -1, 0);
    assert_int_equal(limiter_delay_ns(&l, 0, 0), 5 * MS);
    assert_int_equal(limiter_delay_ns(&l, 1, 0), 10 * MS);
    assert_int_equal(limiter_delay_ns(&l, 17, 0), (5 * MS) << 17);
    assert_int_equal(limiter_delay_ns(&l, 18, 0), 1000 * NS_PER_SEC);
    assert_int_equal(limiter_delay_ns(&l, 62, 0), 1000 * NS_PER_SEC);
    assert_int_equal(limiter_delay_ns(&l, UINT32_MAX, 0), 1000 * NS_PER_SEC);
}

static void an_empty_bucket_makes_all_wait_in_line(void **state)
{
    (void)state;
    struct limiter l;
    limiter_init(&l, 1, 1, 10, 2);
    int64_t now = 7 * NS_PER_SEC;
    assert_int_equal(limiter_delay_ns(&l, 0, now), 1);
    assert_int_equal(limiter_delay_ns(&l, 0, now), 1);
    assert_int_equal(limiter_delay_ns(&l, 0, now), 100 * MS);
    assert_int_equal(limiter_delay_ns(&l, 0, now), 200 * MS);
    assert_int_equal(limiter_delay_ns(&l, 0, now + 100 * MS), 200 * MS);
}

static void a_bucket_fills_up_to_its_burst(void **state)
{
    (void)state;
    struct limiter l;
    limiter_init(&l, 1, 1, 10, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(limiter_delay_ns(&l, 0, 0), 1);
    int64_t later = 3600 * NS_PER_SEC;
    for (int i = 0; i < 2; i++)
        assert_int_equal(limiter_delay_ns(&l, 0, later), 1);
    assert_int_equal(limiter_delay_ns(&l, 0, later), 100 * MS);
}

static void the_longer_of_both_counts(void **state)
{
    (void)state;
    struct limiter l;
    limiter_init(&l, 50 * MS, NS_PER_SEC, 10, 1);
    assert_int_equal(limiter_delay_ns(&l, 0, 0), 50 * MS);
    assert_int_equal(limiter_delay_ns(&l, 0, 0), 100 * MS);
    assert_int_equal(limiter_delay_ns(&l, 3, 0), 400 * MS);
}

static void a_bucket_that_hardly_fills_is_bounded(void **state)
{
    (void)state;
    struct limiter l;
    limiter_init(&l, 1, 1, 1e-300, 1);
    (void)limiter_delay_ns(&l, 0, 0);
    assert_int_equal(limiter_delay_ns(&l, 0, 0), LIMITER_LONGEST_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_double_up_to_the_longest),
        cmocka_unit_test(an_empty_bucket_makes_all_wait_in_line),
        cmocka_unit_test(a_bucket_fills_up_to_its_burst),
        cmocka_unit_test(the_longer_of_both_counts),
        cmocka_unit_test(a_bucket_that_hardly_fills_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
