#include "api/quantity.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct str canonical(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct str ret = { 0 };
    if (quantity_canonical(a, text, &ret, &err) < 0) {
        print_error(STR_FMT ": " STR_FMT "\n", STR_ARG(text), STR_ARG(err.msg));
        fail();
    }
    return ret;
}

static const char *const written_texts[][2] = {
    /* whole numbers */
    { "0", "0" },
    { "00", "0" },
    { "1", "1" },
    { "10", "10" },
    { "100", "100" },
    { "1000", "1k" },
    { "1001", "1001" },
    { "100000", "100k" },
    { "1000000", "1M" },
    { "1500000000", "1500M" },
    { "1000000000000000000", "1E" },
    { "18446744073709551616", "18446744073709551616" },
    { "12345678901234567890123", "12345678901234567890123" },
    { "1000000000000000000000000", "1e24" },
    { "-1", "-1" },
    { "-1000", "-1k" },
    { "-0", "0" },
    /* decimal suffixes */
    { "1k", "1k" },
    { "1M", "1M" },
    { "1G", "1G" },
    { "1T", "1T" },
    { "1P", "1P" },
    { "1E", "1E" },
    { "1000k", "1M" },
    { "1000E", "1e21" },
    { "10000E", "10e21" },
    { "1m", "1m" },
    { "1u", "1u" },
    { "1n", "1n" },
    { "500m", "500m" },
    { "1000m", "1" },
    { "1500m", "1500m" },
    { "100000000n", "100m" },
    { "1000n", "1u" },
    { "0m", "0" },
    { "0k", "0" },
    /* fractions */
    { "0.5", "500m" },
    { ".5", "500m" },
    { "5.", "5." },
    { "1.5", "1500m" },
    { "0.1", "100m" },
    { "0.05", "50m" },
    { "0.001", "1m" },
    { "0.0001", "100u" },
    { "0.000001", "1u" },
    { "0.000000001", "1n" },
    { "1.2345", "1234500u" },
    { "1.10", "1100m" },
    { "0.500", "500m" },
    { "1.0", "1" },
    { "0.0", "0" },
    { "1.5k", "1500" },
    { "1.25M", "1250k" },
    { "-0.5", "-500m" },
    { "-1.5", "-1500m" },
    /* finer than a nano: away from zero */
    { "0.9n", "1n" },
    { "0.1n", "1n" },
    { "0.0000000001", "1n" },
    { "1.0000000001", "1000000001n" },
    { "-0.9n", "-1n" },
    { "1e-10", "1e-9" },
    { "1e-1000000", "1e-9" },
    { "9.9999999999", "10" },
    { "0e-20", "0" },
    { "0.00000000000000000000", "0" },
    /* exponents */
    { "1e3", "1e3" },
    { "1E3", "1E3" },
    { "1e+3", "1e+3" },
    { "1e0", "1e0" },
    { "1e1", "10" },
    { "1e2", "100" },
    { "1e4", "10e3" },
    { "1e5", "100e3" },
    { "1000e0", "1e3" },
    { "1e-3", "1e-3" },
    { "1e-2", "10e-3" },
    { "1.5e3", "1500" },
    { "100e-3", "100e-3" },
    { "1e21", "1e21" },
    { "12e6", "12e6" },
    { "-5e-1", "-500e-3" },
    { "0e5", "0" },
    { "1e999999998", "100e999999996" },
    { "10e999999998", "1e999999999" },
    { "1e999999997", "10e999999996" },
    /* binary */
    { "1Ki", "1Ki" },
    { "1024Ki", "1Mi" },
    { "1024Mi", "1Gi" },
    { "2048Gi", "2Ti" },
    { "512Mi", "512Mi" },
    { "1000Ki", "1000Ki" },
    { "1.5Gi", "1536Mi" },
    { "0.5Gi", "512Mi" },
    { "0.5Ki", "512" },
    { "0.5Mi", "512Ki" },
    { "0.1Gi", "107374182400m" },
    { "1.1Gi", "1181116006400m" },
    { "0.001Ki", "1024m" },
    { "0.0001Ki", "102400u" },
    { "0.000000000001Ki", "2n" },
    { "0Ki", "0" },
    { "7Ei", "7Ei" },
    { "8Ei", "9223372036854775807" },
    { "100Ei", "9223372036854775807" },
    { "-8Ei", "-9223372036854775807" },
    { "99999999999999999999Ki", "9223372036854775807" },
    { "7.9999999999999999999999Ei", "9223372036854775807" },
    { "-1.5Gi", "-1536Mi" },
    { "1.0Ki", "1Ki" },
    { "1.0009765625Ki", "1025" },
    { "62.5Ki", "64k" },
    { "-62.5Ki", "-64k" },
    /* kept as typed: upstream looks at the suffix and the last digits only */
    { "+5", "+5" },
    { "005", "005" },
    { "1.500", "1.500" },
    { "1.234k", "1.234k" },
    { "+1Ki", "+1Ki" },
    { "01Ki", "01Ki" },
    { "1025Ki", "1025Ki" },
    { "+1000", "1k" },
    { "+0.5", "500m" },
    { "1234567890123456.789", "1234567890123456789m" },
    { "123456789012345.678", "123456789012345.678" },
    /* no digits at all */
    { "+", "0" },
    { "-", "0" },
    { ".", "0" },
    { "m", "0" },
    { "Ki", "0" },
    { "e3", "0" },
};

static void texts_come_out_as_upstream_writes_them(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(written_texts); i++) {
        struct str text = str_of(written_texts[i][0]), want = str_of(written_texts[i][1]);
        struct str got = canonical(&a, text);
        if (!str_eq(got, want))
            print_error(STR_FMT ": " STR_FMT "\n", STR_ARG(text), STR_ARG(got));
        assert_true(str_eq(got, want));
    }
    arena_done(&a);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const char format[] = "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                      suffix[] = "unable to parse quantity's suffix",
                      numeric[] = "unable to parse numeric part of quantity";
    static const char *const rows[][2] = {
        { "", format },
        { "abc", format },
        { "1 Gi", format },
        { " 1", format },
        { "1.5.5", format },
        { "1..5", format },
        { "--1", suffix },
        { "1Gi ", format },
        { "1B", format },
        { "0x10", format },
        { "1,5", format },
        { "1e3.5", format },
        { "1Ki-", suffix },
        { "1e", suffix },
        { "1e+", suffix },
        { "1ee", suffix },
        { "1e--3", format },
        { "1K", suffix },
        { "1ki", suffix },
        { "1mi", suffix },
        { "1i", suffix },
        { "1Kii", suffix },
        { "1k3", suffix },
        { "1+3", suffix },
        { "1e99999999999999999999", suffix },
        { "1e1000000000", suffix },
        { "1000e999999999", suffix },
        { "1e-1000000001", suffix },
        { "e-10", numeric },
        { ".e-10", numeric },
        { "-e-10", numeric },
        { "Ei", numeric },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct str ret;
        struct str text = str_of(rows[i][0]), want = str_of(rows[i][1]);
        int r = quantity_canonical(&a, text, &ret, &err);
        if (r != -ERR_BAD_REQUEST || !str_eq(err.msg, want))
            print_error("\"" STR_FMT "\": " STR_FMT "\n", STR_ARG(text), STR_ARG(err.msg));
        assert_int_equal(r, -ERR_BAD_REQUEST);
        assert_true(str_eq(err.msg, want));
    }
    arena_done(&a);
}

static void long_texts_are_bounded(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char digits[QUANTITY_BYTES_MAX + 1];
    memset(digits, '9', sizeof(digits));
    struct str longest = { digits, QUANTITY_BYTES_MAX };
    assert_true(str_eq(canonical(&a, longest), longest));
    assert_int_equal(quantity_cmp(longest, STR("1e1024")), -1);
    digits[QUANTITY_BYTES_MAX - 12] = '.'; /* eleven digits behind the point: all of them carry */
    assert_true(str_eq(canonical(&a, longest), STR("10e1011")));
    assert_int_equal(
        quantity_canonical(&a, (struct str){ digits, sizeof(digits) }, &(struct str){ 0 }, NULL),
        -ERR_BAD_REQUEST);
    arena_done(&a);
}

/* Ascending; what stands in one row is equal. */
static const char *const ladder[][4] = {
    { "-1e30" },
    { "-8Ei", "-9223372036854775807", "-100Ei" },
    { "-1Ki", "-1024" },
    { "-1k", "-1000", "-1e3" },
    { "-1m", "-0.001" },
    { "-1n", "-0.1n" },
    { "0", "-0", "0Ki", "0e9" },
    { "1n", "0.5n", "1e-9", "1e-100" },
    { "1u", "1000n" },
    { "999m" },
    { "1", "1000m", "1.000", "1e0" },
    { "1.0000000001", "1000000001n" },
    { "2", "02", "+2" },
    { "1000", "1k", "1e3", "1E3" },
    { "1Ki", "1024", "1.024k" },
    { "0.1Gi", "107374182.4" },
    { "1Gi", "1024Mi", "1073741824" },
    { "7Ei" },
    { "8Ei", "9Ei", "9223372036854775807" },
    { "9223372036854775808", "9.223372036854775808E" },
    { "1e30" },
    { "1e999999998" },
    { "1e999999999", "1000e999999996" },
};
enum { LADDER_ROWS = ARRAY_LEN(ladder) };

static void quantities_compare_by_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < LADDER_ROWS; i++)
        for (size_t k = 0; k < 4 && ladder[i][k]; k++) {
            struct str x = str_of(ladder[i][k]);
            assert_int_equal(quantity_sign(x), i < 6 ? -1 : i > 6);
            for (size_t j = 0; j < LADDER_ROWS; j++)
                for (size_t l = 0; l < 4 && ladder[j][l]; l++) {
                    int want = i < j ? -1 : i > j;
                    assert_int_equal(quantity_cmp(x, str_of(ladder[j][l])), want);
                }
        }
}

static uint64_t random_state = 42;

static unsigned next_random(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static struct str random_quantity(struct arena *a)
{
    static const char *const suffixes[] = { "",   "n",  "u",  "m",   "k",  "M",  "G",
                                            "T",  "P",  "E",  "Ki",  "Mi", "Gi", "Ti",
                                            "Pi", "Ei", "e3", "e-5", "E7" };
    char text[80];
    size_t n = 0, digits = 1 + next_random(25);
    if (next_random(4) == 0)
        text[n++] = "+-"[next_random(2)];
    size_t point = next_random(2) ? next_random((unsigned)digits) : digits;
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            text[n++] = '.';
        text[n++] = (char)('0' + (next_random(3) ? next_random(10) : 0));
    }
    const char *suffix = suffixes[next_random(ARRAY_LEN(suffixes))];
    return arena_printf(a, "%.*s%s", (int)n, text, suffix);
}

static void canonical_texts_stay_and_mean_the_same(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < 100000; i++) {
        arena_reset(&a);
        struct str x = random_quantity(&a), y = random_quantity(&a);
        struct str cx = canonical(&a, x), cy = canonical(&a, y);
        if (!str_eq(canonical(&a, cx), cx) || quantity_cmp(x, cx))
            print_error(STR_FMT " is written " STR_FMT "\n", STR_ARG(x), STR_ARG(cx));
        assert_true(str_eq(canonical(&a, cx), cx));
        assert_int_equal(quantity_cmp(x, cx), 0);
        assert_int_equal(quantity_cmp(x, y), -quantity_cmp(y, x));
        assert_int_equal(quantity_cmp(x, y), quantity_cmp(cx, cy));
        assert_int_equal(quantity_cmp(x, STR("0")), quantity_sign(x));
    }
    arena_done(&a);
}

static void finer_than_a_milli_is_rounded_up(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "0", "0" },
        { "1", "1" },
        { "250m", "250m" },
        { "1.500", "1.500" },
        { "1u", "1m" },
        { "1n", "1m" },
        { "1001u", "2m" },
        { "1000u", "1m" },
        { "999999u", "1" },
        { "1.000100", "1001m" },
        { "-1u", "-1m" },
        { "0u", "0" },
        { "1e-6", "1e-3" },
        { "1Gi", "1Gi" },
        { "2500Ki", "2500Ki" },
        { "1e3", "1e3" },
        { "12345678901u", "12345679m" },
        { "", "" },
        { "no", "no" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = quantity_round_milli(&a, str_of(rows[i][0]));
        if (!str_eq(got, str_of(rows[i][1])))
            print_error("%s became " STR_FMT "\n", rows[i][0], STR_ARG(got));
        assert_true(str_eq(got, str_of(rows[i][1])));
    }
    arena_done(&a);
}

static void sums_keep_the_first_family(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "1", "2", "3" },
        { "100m", "900m", "1" },
        { "100m", "1", "1100m" },
        { "1Gi", "1Gi", "2Gi" },
        { "1Gi", "512Mi", "1536Mi" },
        { "1Gi", "1", "1073741825" },
        { "1M", "1Mi", "2048576" },
        { "0", "1Gi", "1Gi" },
        { "1Gi", "0", "1Gi" },
        { "1e3", "1", "1001" },
        { "1n", "1n", "2n" },
        { "1", "-1", "1" },
        { "9E", "9E", "9223372036854775807" },
        { "1e100", "1", "9223372036854775807" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = quantity_add(&a, str_of(rows[i][0]), str_of(rows[i][1]));
        if (!str_eq(got, str_of(rows[i][2])))
            print_error("%s + %s became " STR_FMT "\n", rows[i][0], rows[i][1], STR_ARG(got));
        assert_true(str_eq(got, str_of(rows[i][2])));
    }
    arena_done(&a);
}

static void quantities_are_taken_away(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "2", "500m", "1500m" }, { "2Gi", "1Gi", "1Gi" }, { "1Gi", "1M", "1072741824" },
        { "1", "1", "0" },        { "1", "2", "0" },       { "0", "1", "0" },
        { "1", "0", "1" },        { "1", "-1", "1" },      { "-1", "1", "0" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(
            str_cstr(&a, quantity_subtract(&a, str_of(rows[i][0]), str_of(rows[i][1]))),
            rows[i][2]);
    arena_done(&a);
}

static void quantities_count_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool milli, good;
        int64_t n;
    } rows[] = {
        { "1", false, true, 1 },
        { "1", true, true, 1000 },
        { "0", true, true, 0 },
        { "1Gi", false, true, 1 << 30 },
        { "100m", false, true, 1 },
        { "100m", true, true, 100 },
        { "-100m", false, true, -1 },
        { "1n", true, true, 1 },
        { "9223372036854775807", false, true, INT64_MAX },
        { "9223372036854775807", true, false, 0 },
        { "9223372036854775808", false, false, 0 },
        { "1e100", false, false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t n = 0;
        if (quantity_units(str_of(rows[i].text), rows[i].milli, &n) != rows[i].good ||
            n != rows[i].n)
            fail_msg("%s is %lld", rows[i].text, (long long)n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_out_as_upstream_writes_them),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(long_texts_are_bounded),
        cmocka_unit_test(quantities_compare_by_value),
        cmocka_unit_test(canonical_texts_stay_and_mean_the_same),
        cmocka_unit_test(finer_than_a_milli_is_rounded_up),
        cmocka_unit_test(sums_keep_the_first_family),
        cmocka_unit_test(quantities_are_taken_away),
        cmocka_unit_test(quantities_count_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
