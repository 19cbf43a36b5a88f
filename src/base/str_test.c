#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void order_is_by_bytes(void **state)
{
    (void)state;
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("\x7f"), STR("\x80")) < 0);
    assert_int_equal(str_cmp(STR(""), STR("")), 0);
    assert_true(str_eq_nocase(STR("Content-Type"), STR("content-TYPE")));
    assert_false(str_eq_nocase(STR("a["), STR("a{")));
}

static void cutting(void **state)
{
    (void)state;
    struct str s = STR("a/b/");
    assert_true(str_eq(str_cut(&s, '/'), STR("a")));
    assert_true(str_eq(str_cut(&s, '/'), STR("b")));
    assert_non_null(s.p);
    assert_true(str_eq(str_cut(&s, '/'), STR("")));
    assert_null(s.p);
    assert_true(str_eq(str_trim(STR(" \t x y\r\n")), STR("x y")));
    assert_true(str_ends(STR("a.json"), STR(".json")));
    assert_false(str_starts(STR("a"), STR("ab")));
}

static void numbers_are_whole_or_refused(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_true(str_to_u64(STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(str_to_u64(STR("18446744073709551616"), &u));
    assert_false(str_to_u64(STR(""), &u));
    assert_false(str_to_u64(STR("+1"), &u));
    assert_false(str_to_u64(STR("1 "), &u));
    assert_true(str_to_i64(STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_false(str_to_i64(STR("9223372036854775808"), &i));
    assert_false(str_to_i64(STR("-"), &i));
    assert_true(i == INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_bytes),
        cmocka_unit_test(cutting),
        cmocka_unit_test(numbers_are_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
