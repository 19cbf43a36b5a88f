#include "cel/literals.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static void integers_end_at_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool negative, good;
        int64_t want;
    } rows[] = {
        { "0", false, true, 0 },
        { "0", true, true, 0 },
        { "007", false, true, 7 },
        { "9223372036854775807", false, true, INT64_MAX },
        { "9223372036854775808", false, false, 0 },
        { "9223372036854775808", true, true, INT64_MIN },
        { "9223372036854775809", true, false, 0 },
        { "18446744073709551616", true, false, 0 },
        { "0x7fffffffffffffff", false, true, INT64_MAX },
        { "0x8000000000000000", false, false, 0 },
        { "0x8000000000000000", true, true, INT64_MIN },
        { "0xFf", true, true, -255 },
        { "0x", false, false, 0 },
        { "0xg", false, false, 0 },
        { "", false, false, 0 },
        { "1a", false, false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t got = 0;
        assert_int_equal(literals_int(str_of(rows[i].text), rows[i].negative, &got), rows[i].good);
        assert_true(got == rows[i].want);
    }
}

static void unsigned_integers_end_at_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t want;
    } rows[] = {
        { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 },
        { "0xffffffffffffffff", true, UINT64_MAX },
        { "0x0ffffffffffffffff", true, UINT64_MAX }, /* zeros in front do not count */
        { "0x10000000000000000", false, 0 },
        { "-1", false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t got = 0;
        assert_int_equal(literals_uint(str_of(rows[i].text), &got), rows[i].good);
        assert_true(got == rows[i].want);
    }
}

static void doubles_may_be_small_but_not_large(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        double want;
    } rows[] = {
        { "1.5", true, 1.5 },
        { "-2e3", true, -2000 },
        { ".5", true, 0.5 },
        { "1.7976931348623157e308", true, DBL_MAX },
        { "1e309", false, 0 },
        { "-1e309", false, 0 },
        { "1e-400", true, 0 }, /* too small is zero */
        { "4.9e-324", true, 4.9e-324 },
        { "", false, 0 },
        { "1.5x", false, 0 },
        { "e5", false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double got = 0;
        assert_int_equal(literals_double(&arena, str_of(rows[i].text), &got), rows[i].good);
        assert_true(got == rows[i].want);
    }
}

struct string_row {
    const char *text;
    struct str want;
    const char *why;
};

static void check_strings(const struct string_row *rows, size_t n, bool bytes)
{
    for (size_t i = 0; i < n; i++) {
        struct str got = { 0 };
        const char *why = literals_string(&arena, str_of(rows[i].text), bytes, &got);
        if (rows[i].why) {
            assert_non_null(why);
            assert_string_equal(why, rows[i].why);
        } else {
            assert_null(why);
            if (!str_eq(got, rows[i].want))
                fail_msg("%s: " STR_FMT, rows[i].text, STR_ARG(got));
        }
    }
}

static void strings_lose_their_quotes(void **state)
{
    (void)state;
    static const struct string_row rows[] = {
        { "''", STR(""), NULL },
        { "\"\"", STR(""), NULL },
        { "'a'", STR("a"), NULL },
        { "\"it's\"", STR("it's"), NULL },
        { "''''''", STR(""), NULL },
        { "'''a'b''c'''", STR("a'b''c"), NULL },
        { "\"\"\"a\nb\"\"\"", STR("a\nb"), NULL },
        { "'''a\r\nb\rc'''", STR("a\nb\nc"), NULL }, /* line ends become one kind */
        { "r'a\\nb'", STR("a\\nb"), NULL },
        { "R\"\\\"", STR("\\"), NULL },
        { "r'''\\u0041\r\n'''", STR("\\u0041\n"), NULL },
    };
    check_strings(rows, ARRAY_LEN(rows), false);
}

static void escapes_are_characters(void **state)
{
    (void)state;
    static const struct string_row rows[] = {
        { "'\\a\\b\\f\\n\\r\\t\\v'", STR("\a\b\f\n\r\t\v"), NULL },
        { "'\\\\\\'\\\"\\`\\?'", STR("\\'\"`?"), NULL },
        { "'\\x41\\X42\\103'", STR("ABC"), NULL },
        { "'\\xff\\377'", STR("\xc3\xbf\xc3\xbf"), NULL }, /* a code point, not a byte */
        { "'\\u00e9\\U0001F600'", STR("\xc3\xa9\xf0\x9f\x98\x80"), NULL },
        { "'\\U0010FFFF'", STR("\xf4\x8f\xbf\xbf"), NULL },
        { "'\\000'", { "\0", 1 }, NULL },
        { "'\\U00110000'", { 0 }, "invalid unicode code point" },
        { "'\\ud800'", { 0 }, "invalid unicode code point" },
        { "'\\udfff'", { 0 }, "invalid unicode code point" },
        { "'\\ue000'", STR("\xee\x80\x80"), NULL },
    };
    check_strings(rows, ARRAY_LEN(rows), false);
}

static void escapes_in_bytes_are_bytes(void **state)
{
    (void)state;
    static const struct string_row rows[] = {
        { "'\\xff\\377\\101'",
          STR("\xff\xff"
              "A"),
          NULL },
        { "'\\n\\x00'", { "\n\0", 2 }, NULL },
        { "'\xc3\xa9'", STR("\xc3\xa9"), NULL },
        { "'\\u00e9'", { 0 }, "unable to unescape string" },
        { "'\\U0001F600'", { 0 }, "unable to unescape string" },
        { "r'\\u00e9'", STR("\\u00e9"), NULL },
    };
    check_strings(rows, ARRAY_LEN(rows), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_end_at_64_bits),
        cmocka_unit_test(unsigned_integers_end_at_64_bits),
        cmocka_unit_test(doubles_may_be_small_but_not_large),
        cmocka_unit_test(strings_lose_their_quotes),
        cmocka_unit_test(escapes_are_characters),
        cmocka_unit_test(escapes_in_bytes_are_bytes),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
