#include "api/go/gotime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"

static void times_come_out_in_utc(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool micros;
        const char *want;
    } rows[] = {
        { "2006-01-02T15:04:05Z", false, "2006-01-02T15:04:05Z" },
        { "2006-01-02T15:04:05+07:00", false, "2006-01-02T08:04:05Z" },
        { "2006-01-02T15:04:05-07:30", false, "2006-01-02T22:34:05Z" },
        { "2006-01-02T15:04:05.999999999Z", false, "2006-01-02T15:04:05Z" },
        { "2006-01-02T15:04:05,5Z", false, "2006-01-02T15:04:05Z" },
        { "2006-01-02T5:04:05Z", false, "2006-01-02T05:04:05Z" },
        { "2006-12-31T23:59:59-00:01", false, "2007-01-01T00:00:59Z" },
        { "2006-01-02T15:04:05+24:60", false, "2006-01-01T14:04:05Z" },
        { "2000-02-29T00:00:00Z", false, "2000-02-29T00:00:00Z" },
        { "2024-02-29T00:00:00+01:00", false, "2024-02-28T23:00:00Z" },
        { "1970-01-01T00:00:00Z", false, "1970-01-01T00:00:00Z" },
        { "1969-12-31T23:59:59Z", false, "1969-12-31T23:59:59Z" },
        { "0000-01-01T00:00:00Z", false, "0000-01-01T00:00:00Z" },
        { "0001-01-01T00:00:00Z", false, "0001-01-01T00:00:00Z" },
        { "9999-12-31T23:59:59Z", false, "9999-12-31T23:59:59Z" },
        { "2006-01-02T15:04:05.000001Z", true, "2006-01-02T15:04:05.000001Z" },
        { "2006-01-02T15:04:05.999999+02:00", true, "2006-01-02T13:04:05.999999Z" },
        { "2006-01-02T15:04:05,123456Z", true, "2006-01-02T15:04:05.123456Z" },
        { "2006-01-02T15:04:05.+12345Z", true, "2006-01-02T15:04:05.012345Z" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct gotime t;
        struct err err = ERR_INIT(&a);
        struct str text = str_of(rows[i].text), want = str_of(rows[i].want);
        assert_int_equal(gotime_parse(text, rows[i].micros, &t, &err), 0);
        struct str got = gotime_format(&a, t, rows[i].micros);
        if (!str_eq(got, want))
            print_error(STR_FMT ": " STR_FMT "\n", STR_ARG(text), STR_ARG(got));
        assert_true(str_eq(got, want));
    }
    arena_done(&a);
}

#define AS       " as \"2006-01-02T15:04:05Z07:00\": cannot parse "
#define AS_MICRO " as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "

static void bad_times_are_refused_in_gos_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool micros;
        const char *want; /* behind `parsing time "text"` */
    } rows[] = {
        { "yesterday", false, AS "\"yesterday\" as \"2006\"" },
        { "", false, AS "\"\" as \"2006\"" },
        { "20x6-01-02T15:04:05Z", false, AS "\"20x6-01-02T15:04:05Z\" as \"2006\"" },
        { "2006/01-02T15:04:05Z", false, AS "\"/01-02T15:04:05Z\" as \"-\"" },
        { "2006-1-02T15:04:05Z", false, AS "\"1-02T15:04:05Z\" as \"01\"" },
        { "2006-01-2T15:04:05Z", false, AS "\"2T15:04:05Z\" as \"02\"" },
        { "2006-01-02", false, AS "\"\" as \"T\"" },
        { "2006-01-02 15:04:05Z", false, AS "\" 15:04:05Z\" as \"T\"" },
        { "2006-01-02Tx", false, AS "\"x\" as \"15\"" },
        { "2006-01-02T15", false, AS "\"\" as \":\"" },
        { "2006-01-02T15:4:05Z", false, AS "\"4:05Z\" as \"04\"" },
        { "2006-01-02T15:04:5Z", false, AS "\"5Z\" as \"05\"" },
        { "2006-01-02T15:04:05", false, AS "\"\" as \"Z07:00\"" },
        { "2006-01-02T15:04:05z", false, AS "\"z\" as \"Z07:00\"" },
        { "2006-01-02T15:04:05.Z", false, AS "\".Z\" as \"Z07:00\"" },
        { "2006-01-02T15:04:05+0700", false, AS "\"+0700\" as \"Z07:00\"" },
        { "2006-01-02T15:04:05x07:00", false, AS "\"x07:00\" as \"Z07:00\"" },
        { "2006-01-02T15:04:05+0x:00", false, AS "\"+0x:00\" as \"Z07:00\"" },
        { "2006-13-02T15:04:05Z", false, ": month out of range" },
        { "2006-00-02T15:04:05Z", false, ": month out of range" },
        { "2006-01-00T15:04:05Z", false, ": day out of range" },
        { "2006-01-32T15:04:05Z", false, ": day out of range" },
        { "2023-02-29T15:04:05Z", false, ": day out of range" },
        { "1900-02-29T15:04:05Z", false, ": day out of range" },
        { "2006-04-31T15:04:05Z", false, ": day out of range" },
        { "2006-01-02T24:04:05Z", false, ": hour out of range" },
        { "2006-01-02T15:60:05Z", false, ": minute out of range" },
        { "2006-01-02T15:04:60Z", false, ": second out of range" },
        { "2006-01-02T15:04:05+25:00", false, ": time zone offset hour out of range" },
        { "2006-01-02T15:04:05+24:61", false, ": time zone offset minute out of range" },
        { "2006-01-02T15:04:05Zulu", false, ": extra text: \"ulu\"" },
        { "2006-01-02T15:04:05+07:00x", false, ": extra text: \"x\"" },
        { "9999-12-31T23:59:59-00:01", false, ": year out of range" },
        { "0000-01-01T00:00:00+00:01", false, ": year out of range" },
        { "2020-01-02T03:04:05.123456789Z", true, AS_MICRO "\"789Z\" as \"Z07:00\"" },
        { "2020-01-02T03:04:05Z", true, AS_MICRO "\"Z\" as \".000000\"" },
        { "2020-01-02T03:04:05.5+02:00", true, AS_MICRO "\".5+02:00\" as \".000000\"" },
        { "2020-01-02T03:04:05.-12345Z", true, ": fractional second out of range" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct gotime t;
        struct err err = ERR_INIT(&a);
        struct str text = str_of(rows[i].text), tail = str_of(rows[i].want);
        assert_int_equal(gotime_parse(text, rows[i].micros, &t, &err), -ERR_BAD_REQUEST);
        struct str want =
            arena_printf(&a, "parsing time \"" STR_FMT "\"" STR_FMT, STR_ARG(text), STR_ARG(tail));
        if (!str_eq(err.msg, want))
            print_error(STR_FMT "\n", STR_ARG(err.msg));
        assert_true(str_eq(err.msg, want));
    }
    struct err err = ERR_INIT(&a);
    assert_true(gotime_parse(STR("\"\\\xc3\xbc\n"), false, &(struct gotime){ 0 }, &err) < 0);
    assert_true(str_starts(err.msg, STR("parsing time \"\\\"\\\\\\xc3\\xbc\\x0a\" as ")));
    arena_done(&a);
}

static void every_day_goes_there_and_back(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    int64_t last = INT64_C(253402300799);
    for (int64_t sec = GOTIME_ZERO_SEC; sec <= last; sec += 86400 + 3661) {
        arena_reset(&a);
        struct gotime t = { .sec = sec, .nanos = 123456000 }, back;
        assert_int_equal(gotime_parse(gotime_format(&a, t, true), true, &back, NULL), 0);
        assert_true(back.sec == t.sec && back.nanos == t.nanos);
        char text[CLOCK_TEXT_BYTES];
        if (sec > 0 && sec < INT64_C(9000000000)) /* what nanoseconds in 64 bits can say */
            assert_true(str_eq(gotime_format(&a, t, true),
                               clock_format(sec * NS_PER_SEC + t.nanos, true, text)));
    }
    arena_done(&a);
}

static void nanoseconds_go_so_far(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_time;
        int64_t ns;
    } rows[] = {
        { "1970-01-01T00:00:01.5Z", true, 1500000000 },
        { "1969-12-31T23:59:59Z", true, -NS_PER_SEC },
        { "2026-11-16T11:00:00+01:00", true, INT64_C(1794823200) * NS_PER_SEC },
        { "9999-12-31T23:59:59Z", true, GOTIME_NS_MAX },
        { "0001-01-01T00:00:00Z", true, -GOTIME_NS_MAX },
        { "soon", false, 7 },
        { "", false, 7 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ns = 7;
        assert_int_equal(gotime_read_ns(str_of(rows[i].text), &ns), rows[i].is_time);
        assert_int_equal(ns, rows[i].ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_out_in_utc),
        cmocka_unit_test(bad_times_are_refused_in_gos_words),
        cmocka_unit_test(every_day_goes_there_and_back),
        cmocka_unit_test(nanoseconds_go_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
