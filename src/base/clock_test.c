#include "base/clock.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void fake_moves_only_when_told(void **state)
{
    (void)state;
    struct clock_fake f;
    clock_fake_init(&f, 5);
    assert_int_equal(clock_mono_ns(&f.clock), 5);
    clock_fake_advance(&f, 10);
    assert_int_equal(clock_mono_ns(&f.clock), 15);
    assert_int_equal(clock_wall_ns(&f.clock), 15);
}

static void system_does_not_go_back(void **state)
{
    (void)state;
    int64_t a = clock_mono_ns(&clock_system);
    assert_true(clock_mono_ns(&clock_system) >= a);
    assert_true(clock_wall_ns(&clock_system) > INT64_C(1700000000) * NS_PER_SEC);
}

static void text_is_rfc3339(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        bool micros;
        const char *text;
    } rows[] = {
        { 0, false, "1970-01-01T00:00:00Z" },
        { INT64_C(1700000000) * NS_PER_SEC, false, "2023-11-14T22:13:20Z" },
        { INT64_C(1700000000) * NS_PER_SEC + 1234567, true, "2023-11-14T22:13:20.001234Z" },
        { -1, true, "1969-12-31T23:59:59.999999Z" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[CLOCK_TEXT_BYTES];
        assert_true(str_eq(clock_format(rows[i].ns, rows[i].micros, text), str_of(rows[i].text)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fake_moves_only_when_told),
        cmocka_unit_test(system_does_not_go_back),
        cmocka_unit_test(text_is_rfc3339),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
