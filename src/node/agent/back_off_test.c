#include "node/agent/back_off.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"

enum { FIRST = 10000, MAX = 300000 };

/* 10 s, 20 s, ... 300 s; and anew after ten minutes of peace. */
static void pauses_double(void **state)
{
    (void)state;
    static const int64_t want[] = { 10, 20, 40, 80, 160, 300, 300 };
    struct back_off *b = back_off_new(FIRST, MAX);
    int64_t now = 1000 * NS_PER_SEC;
    assert_false(back_off_is_waiting(b, STR("u/c"), now, now));
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        back_off_next(b, STR("u/c"), now, now);
        assert_int_equal(back_off_ms(b, STR("u/c")), want[i] * 1000);
        int64_t almost = now + (want[i] * 1000 - 1) * NS_PER_MS;
        assert_true(back_off_is_waiting(b, STR("u/c"), now, almost));
        assert_false(back_off_is_waiting(b, STR("u/c"), now, almost + NS_PER_MS));
        now += want[i] * NS_PER_SEC;
    }
    now += 601 * NS_PER_SEC;
    back_off_next(b, STR("u/c"), now, now);
    assert_int_equal(back_off_ms(b, STR("u/c")), FIRST);
    back_off_free(b);
}

static void pods_that_are_gone_are_forgotten(void **state)
{
    (void)state;
    struct back_off *b = back_off_new(FIRST, MAX);
    back_off_next(b, STR("u/c"), 1, 1);
    back_off_next(b, STR("v/c"), 1, 1);
    back_off_forget(b, STR("u/"));
    assert_int_equal(back_off_ms(b, STR("u/c")), 0);
    assert_true(back_off_is_waiting_still(b, STR("v/c"), 2));
    back_off_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double),
        cmocka_unit_test(pods_that_are_gone_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
