/* Numbers, times and scalars of different kinds; containers are compared in the tests of
 * expressions. */
#include "cel/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct cel_value i(int64_t v)
{
    return cel_of_int(v);
}
static struct cel_value u(uint64_t v)
{
    return cel_of_uint(v);
}
static struct cel_value d(double v)
{
    return (struct cel_value){ .kind = CEL_DOUBLE, .d = v };
}

/* Numbers are what they stand for, whatever their kind; the largest ones are not rounded together
 * with what a double cannot tell apart. */
static void numbers_compare_across_kinds(void **state)
{
    (void)state;
    const struct {
        struct cel_value x, y;
        int order;
    } rows[] = {
        { i(1), i(2), -1 },
        { u(3), u(2), 1 },
        { d(1.5), d(1.5), 0 },
        { i(1), u(1), 0 },
        { i(-1), u(0), -1 },
        { i(-1), u(UINT64_MAX), -1 },
        { i(INT64_MAX), u((uint64_t)INT64_MAX + 1), -1 },
        { i(2), d(2.5), -1 },
        { i(3), d(2.5), 1 },
        { i(2), d(2.0), 0 },
        { u(0), d(-0.5), 1 },
        { u(0), d(-0.0), 0 },
        { u(5), d(5), 0 },
        { i(INT64_MIN), d(-1e300), 1 },
        { i(INT64_MAX), d(1e300), -1 },
        { u(UINT64_MAX), d(1e300), -1 },
        { i(INT64_MAX), d(INFINITY), -1 },
        { u(0), d(-INFINITY), 1 },
        { d(-INFINITY), d(INFINITY), -1 },
    };
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        struct cel_value there = cel__compare(NULL, &rows[n].x, &rows[n].y),
                         back = cel__compare(NULL, &rows[n].y, &rows[n].x),
                         same = cel__equal(NULL, &rows[n].x, &rows[n].y);
        assert_int_equal(there.kind, CEL_INT);
        assert_int_equal(there.i, rows[n].order);
        assert_int_equal(back.i, -rows[n].order);
        assert_int_equal(cel__is_true(same), rows[n].order == 0);
        if (rows[n].order == 0) /* a map finds one by the other */
            assert_true(cel__hash(&rows[n].x) == cel__hash(&rows[n].y));
    }
}

static void nan_is_equal_to_nothing(void **state)
{
    (void)state;
    struct cel_value nan = d(NAN);
    const struct cel_value others[] = { d(NAN), d(0), i(0), u(0) };
    for (size_t n = 0; n < ARRAY_LEN(others); n++) {
        assert_false(cel__is_true(cel__equal(NULL, &nan, &others[n])));
        assert_false(cel__is_true(cel__equal(NULL, &others[n], &nan)));
        assert_int_equal(cel__compare(NULL, &nan, &others[n]).kind, CEL_ERROR);
        assert_int_equal(cel__compare(NULL, &others[n], &nan).kind, CEL_ERROR);
    }
}

static void other_kinds_are_different_and_without_order(void **state)
{
    (void)state;
    const struct cel_value values[] = {
        cel_of_bool(true),
        i(1),
        cel_of_null(),
        { .kind = CEL_TIMESTAMP, .i = 1 },
        { .kind = CEL_DURATION, .i = 1 },
    };
    for (size_t x = 0; x < ARRAY_LEN(values); x++) {
        for (size_t y = 0; y < ARRAY_LEN(values); y++) {
            struct cel_value same = cel__equal(NULL, &values[x], &values[y]);
            assert_int_equal(same.kind, CEL_BOOL);
            assert_int_equal(same.b, x == y);
            if (x != y)
                assert_int_equal(cel__compare(NULL, &values[x], &values[y]).kind, CEL_ERROR);
        }
    }
}

static void times_compare_to_the_nanosecond(void **state)
{
    (void)state;
    const struct cel_value early = { .kind = CEL_TIMESTAMP, .i = -5, .nanos = 999999999 },
                           late = { .kind = CEL_TIMESTAMP, .i = -4 },
                           later = { .kind = CEL_TIMESTAMP, .i = -4, .nanos = 1 };
    assert_int_equal(cel__compare(NULL, &early, &late).i, -1);
    assert_int_equal(cel__compare(NULL, &later, &late).i, 1);
    assert_int_equal(cel__compare(NULL, &late, &late).i, 0);
    assert_false(cel__is_true(cel__equal(NULL, &late, &later)));
    assert_true(cel__is_true(cel__equal(NULL, &late, &late)));
}

static void an_error_stays_an_error(void **state)
{
    (void)state;
    struct cel_value bad = cel__error_text("bad"), one = i(1);
    assert_int_equal(cel__equal(NULL, &bad, &one).kind, CEL_ERROR);
    assert_int_equal(cel__equal(NULL, &one, &bad).kind, CEL_ERROR);
}

static void doubles_become_integers_only_if_they_are(void **state)
{
    (void)state;
    static const struct {
        double d;
        bool is_int, is_uint;
    } rows[] = {
        { 0, true, true },
        { -0.0, true, true },
        { 1.5, false, false },
        { -1, true, false },
        { 9223372036854774784.0, true, true },  /* the largest double below 2^63 */
        { 9223372036854775808.0, false, true }, /* 2^63 */
        { -9223372036854775808.0, true, false },
        { 18446744073709549568.0, false, true }, /* the largest below 2^64 */
        { 18446744073709551616.0, false, false },
        { INFINITY, false, false },
        { NAN, false, false },
    };
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        int64_t as_int = 7;
        uint64_t as_uint = 7;
        assert_int_equal(cel__double_to_int(rows[n].d, &as_int), rows[n].is_int);
        assert_int_equal(cel__double_to_uint(rows[n].d, &as_uint), rows[n].is_uint);
        assert_true(!rows[n].is_int || (double)as_int == rows[n].d);
        assert_true(!rows[n].is_uint || (double)as_uint == rows[n].d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_across_kinds),
        cmocka_unit_test(nan_is_equal_to_nothing),
        cmocka_unit_test(other_kinds_are_different_and_without_order),
        cmocka_unit_test(times_compare_to_the_nanosecond),
        cmocka_unit_test(an_error_stays_an_error),
        cmocka_unit_test(doubles_become_integers_only_if_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
