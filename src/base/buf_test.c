#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void grows_and_keeps_its_bytes(void **state)
{
    (void)state;
    autobuf b = { 0 };
    assert_int_equal(buf_str(&b).n, 0);
    for (int i = 0; i < 5000; i++)
        buf_byte(&b, (char)i);
    assert_int_equal(b.n, 5000);
    assert_true(b.cap >= b.n && b.cap < 4 * b.n);
    for (int i = 0; i < 5000; i++)
        assert_true(b.p[i] == (char)i);
    buf_add(&b, NULL, 0);
    buf_str_add(&b, STR("end"));
    assert_true(str_ends(buf_str(&b), STR("end")));
}

static void reserve_gives_room_without_using_it(void **state)
{
    (void)state;
    autobuf b = { 0 };
    buf_str_add(&b, STR("abc"));
    buf_reserve(&b, 100000);
    assert_int_equal(b.n, 3);
    assert_true(b.cap - b.n >= 100000);
    char *before = b.p;
    buf_reserve(&b, 100000);
    assert_ptr_equal(b.p, before);
}

static void printf_and_drop(void **state)
{
    (void)state;
    autobuf b = { 0 };
    buf_printf(&b, "%s-%d", "a", 1);
    buf_printf(&b, "%s", "");
    buf_printf(&b, "|%300d|", 7);
    assert_int_equal(b.n, 3 + 302);
    buf_drop(&b, 3);
    assert_true(str_starts(buf_str(&b), STR("|  ")));
    buf_drop(&b, b.n);
    assert_int_equal(b.n, 0);
    buf_reset(&b);
    buf_str_add(&b, STR("again"));
    assert_true(str_eq(buf_str(&b), STR("again")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps_its_bytes),
        cmocka_unit_test(reserve_gives_room_without_using_it),
        cmocka_unit_test(printf_and_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
