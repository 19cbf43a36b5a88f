/* Texts that are times, durations or bytes by the format of their schema. The words are Go's. */
#include "cel/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static const struct cel_type date = { .kind = CEL_TIMESTAMP, .is_date = true };

static void expect_error(const struct cel_type *type, const char *text, const char *want)
{
    struct cel_value v = cel__read_text(&arena, str_of(text), type);
    assert_int_equal(v.kind, CEL_ERROR);
    const char *got = str_cstr(&arena, cel__str(&v));
    assert_string_equal(got, want);
}

static void times_are_read(void **state)
{
    (void)state;
    static const struct {
        const struct cel_type *type;
        const char *text;
        int64_t sec;
        int32_t nanos;
    } rows[] = {
        { &cel_timestamp, "1970-01-01T00:00:00Z", 0, 0 },
        { &cel_timestamp, "2020-02-29T12:34:56.789Z", 1582979696, 789000000 },
        { &cel_timestamp, "2020-02-29T12:34:56+01:00", 1582976096, 0 },
        { &cel_timestamp, "2020-02-29T12:34:56", 1582979696, 0 }, /* without a zone it is UTC */
        { &cel_timestamp, "1969-12-31T23:59:59.5Z", -1, 500000000 },
        { &cel_timestamp, "", 0, 0 },
        { &date, "2020-02-29", 1582934400, 0 },
        { &date, "1970-01-01", 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cel_value v = cel__read_text(&arena, str_of(rows[i].text), rows[i].type);
        assert_int_equal(v.kind, CEL_TIMESTAMP);
        assert_int_equal(v.i, rows[i].sec);
        assert_int_equal(v.nanos, rows[i].nanos);
    }
}

static void times_that_are_none_are_refused(void **state)
{
    (void)state;
    expect_error(&date, "x",
                 "Invalid date formatted string x: parsing time \"x\" as \"2006-01-02\": cannot "
                 "parse \"x\" as \"2006\"");
    expect_error(&date, "2020-13-01",
                 "Invalid date formatted string 2020-13-01: parsing time \"2020-13-01\": month out "
                 "of range");
    expect_error(
        &date, "2021-02-29",
        "Invalid date formatted string 2021-02-29: parsing time \"2021-02-29\": day out of "
        "range");
    expect_error(&cel_timestamp, "2020-02-29",
                 "Invalid date-time formatted string 2020-02-29: parsing time \"2020-02-29\" as "
                 "\"2006-01-02T15:04:05\": cannot parse \"\" as \"T\"");
    expect_error(&cel_timestamp, "2020-02-29T12:34:56x",
                 "Invalid date-time formatted string 2020-02-29T12:34:56x: parsing time "
                 "\"2020-02-29T12:34:56x\": extra text: \"x\"");
    expect_error(&cel_timestamp, "2020-02-29T25:00:00Z",
                 "Invalid date-time formatted string 2020-02-29T25:00:00Z: parsing time "
                 "\"2020-02-29T25:00:00Z\": hour out of range");
}

/* As Go writes them, or in words; of words those that are a number and a unit count. */
static void durations_are_read(void **state)
{
    (void)state;
    const int64_t second = 1000000000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
    const struct {
        const char *text;
        int64_t nanos;
    } rows[] = {
        { "1h30m", hour + 30 * minute },
        { "1.5s", second + second / 2 },
        { "-2m", -2 * minute },
        { "0", 0 },
        { "3 days", 3 * day },
        { "3d", 3 * day },
        { "2 weeks 1 day", 15 * day },
        { "1 hour, 2 minutes and 3 seconds", hour + 2 * minute + 3 * second },
        { "1Hr", hour },
        { "5 MILLISECONDS", 5000000 },
        { "7 micros", 7000 },
        { "7 \u00b5s", 7000 },
        { "9 nanos", 9 },
        { "1wk", 7 * day },
        { "4 apples 2 min", 2 * minute },
        { "min 2 s", 2 * second },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cel_value v = cel__read_text(&arena, str_of(rows[i].text), &cel_duration);
        if (v.kind != CEL_DURATION || v.i != rows[i].nanos)
            fail_msg("%s: kind %u, %lld", rows[i].text, v.kind, (long long)v.i);
    }
    expect_error(&cel_duration, "", "Invalid duration : unable to parse  as duration");
    expect_error(&cel_duration, "soon", "Invalid duration soon: unable to parse soon as duration");
    expect_error(&cel_duration, "4 apples",
                 "Invalid duration 4 apples: unable to parse 4 apples as duration");
    expect_error(&cel_duration, "99999999999999999999 days",
                 "Invalid duration 99999999999999999999 days: strconv.Atoi: parsing "
                 "\"99999999999999999999\": value out of range");
}

static void bytes_are_base64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct str bytes;
    } rows[] = {
        { "", STR("") },        { "YQ==", STR("a") },        { "YWI=", STR("ab") },
        { "YWJj", STR("abc") }, { "/+8=", STR("\xff\xef") }, { "AAE=", { "\0\1", 2 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cel_value v = cel__read_text(&arena, str_of(rows[i].text), &cel_bytes);
        assert_int_equal(v.kind, CEL_BYTES);
        assert_true(str_eq(cel__str(&v), rows[i].bytes));
    }
    static const struct {
        const char *text;
        int at; /* where Go stops */
    } bad[] = {
        { "!", 0 },    { "YW!j", 2 }, { "YWJ", 0 },     { "YWJjYQ", 4 },
        { "Y===", 1 }, { "=", 0 },    { "YWJjYWI", 4 },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect_error(&cel_bytes, bad[i].text,
                     arena_printf(&arena,
                                  "Invalid byte formatted string %s: illegal base64 data at input "
                                  "byte %d",
                                  bad[i].text, bad[i].at)
                         .p);
}

static void other_texts_stay_text(void **state)
{
    (void)state;
    struct cel_value v = cel__read_text(&arena, STR("2020-01-01"), &cel_string);
    assert_int_equal(v.kind, CEL_STRING);
    assert_true(str_eq(cel__str(&v), STR("2020-01-01")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),        cmocka_unit_test(times_that_are_none_are_refused),
        cmocka_unit_test(durations_are_read),    cmocka_unit_test(bytes_are_base64),
        cmocka_unit_test(other_texts_stay_text),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
