/* Schedules, durations and names of time zones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/go/cron.h"
#include "api/go/goduration.h"
#include "api/go/time_zone.h"
#include "base/idiom.h"

static void schedules_become_sets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct cron want;
    } rows[] = {
        { "0 0 1 1 0", { 1, 1, 2, 2, 1 } },
        { "* * * * *", { 0xfffffffffffffff, 0xffffff, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
        { "*/20 0-2 1,15 jan-MAR sun", { 0x10000100001, 7, 0x8002, 0xe, 1 } },
        { "50/5 * ? * *", { 0x84000000000000, 0xffffff, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
        { "  5\t4  *  *  1-5 ", { 0x20, 0x10, 0xfffffffe, 0x1ffe, 0x3e, true, false } },
        { "@hourly", { 1, 0xffffff, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
        { "@weekly", { 1, 1, 0xfffffffe, 0x1ffe, 1, true, false } },
        { "@every 1h30m", { .every_nanos = INT64_C(5400000000000) } },
        { "0/9223372036854775807 0 1 1 0", { 1, 1, 2, 2, 1 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cron c;
        assert_int_equal(cron_parse(str_of(rows[i].text), &c, NULL), 0);
        const struct cron *w = &rows[i].want;
        assert_true(c.minutes == w->minutes && c.hours == w->hours && c.days == w->days &&
                    c.months == w->months && c.weekdays == w->weekdays);
        assert_true(c.any_day == w->any_day && c.any_weekday == w->any_weekday &&
                    c.every_nanos == w->every_nanos);
    }
    struct cron zoned;
    assert_int_equal(cron_parse(STR("CRON_TZ=Asia/Tokyo 0 0 1 1 0"), &zoned, NULL), 0);
    assert_true(str_eq(zoned.zone, STR("Asia/Tokyo")) && zoned.minutes == 1);
}

static void what_is_wrong_is_said_as_upstream_does(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "empty spec string" },
        { "x", "expected exactly 5 fields, found 1: [x]" },
        { "60 * * * *", "end of range (60) above maximum (59): 60" },
        { "* * 0 * *", "beginning of range (0) below minimum (1): 0" },
        { "5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1" },
        { "*/0 * * * *", "step of range should be a positive number: */0" },
        { "1-2-3 * * * *", "too many hyphens: 1-2-3" },
        { "1/2/3 * * * *", "too many slashes: 1/2/3" },
        { "a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax" },
        { "99999999999999999999 * * * *",
          "failed to parse int from 99999999999999999999: strconv.Atoi: parsing "
          "\"99999999999999999999\": value out of range" },
        { "*/-1 * * * *", "negative number (-1) not allowed: -1" },
        { "@weird", "unrecognized descriptor: @weird" },
        { "@every x", "failed to parse duration @every x: time: invalid duration \"x\"" },
        { "TZ=Mars 0 0 1 1 0", "provided bad location Mars: unknown time zone Mars" },
        { "TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [3:-1]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct cron c;
        assert_true(cron_parse(str_of(rows[i].text), &c, &err) < 0);
        assert_string_equal(str_cstr(&a, err.msg), rows[i].want);
        arena_done(&a);
    }
}

static void durations_are_gos(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nanos;
        const char *fault;
    } rows[] = {
        { "0", 0, NULL },
        { "-1.5h", INT64_C(-5400000000000), NULL },
        { "1h2m3s4ms5us6ns", INT64_C(3723004005006), NULL },
        { "+5s", 5000000000, NULL },
        { ".5s", 500000000, NULL },
        { "1\u00b5s", 1000, NULL },
        { "9223372036854775807ns", INT64_MAX, NULL },
        { "-9223372036854775808ns", INT64_MIN, NULL },
        { "9223372036854775808ns", 0, "time: invalid duration \"9223372036854775808ns\"" },
        { "3000000h", 0, "time: invalid duration \"3000000h\"" },
        { "", 0, "time: invalid duration \"\"" },
        { "-", 0, "time: invalid duration \"-\"" },
        { "5", 0, "time: missing unit in duration \"5\"" },
        { "5x", 0, "time: unknown unit \"x\" in duration \"5x\"" },
        { ".s", 0, "time: invalid duration \".s\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        int64_t nanos = 0;
        int r = goduration_parse(str_of(rows[i].text), &nanos, &err);
        assert_int_equal(r < 0, rows[i].fault != NULL);
        if (rows[i].fault)
            assert_string_equal(str_cstr(&a, err.msg), rows[i].fault);
        else
            assert_true(nanos == rows[i].nanos);
        arena_done(&a);
    }
}

static void time_zones_have_names(void **state)
{
    (void)state;
    static const char *const known[] = {
        "Africa/Abidjan", "Europe/Berlin", "UTC", "Zulu", "America/Argentina/Buenos_Aires",
        "Etc/GMT+1"
    };
    static const char *const unknown[] = { "", "utc", "Europe", "Europe/Berlin/", "UTC+1", "zzz" };
    for (size_t i = 0; i < 6; i++) {
        assert_true(time_zone_is_known(str_of(known[i])));
        assert_false(time_zone_is_known(str_of(unknown[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_become_sets),
        cmocka_unit_test(what_is_wrong_is_said_as_upstream_does),
        cmocka_unit_test(durations_are_gos),
        cmocka_unit_test(time_zones_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
