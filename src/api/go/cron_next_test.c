/* When schedules are due, in zones whose clocks change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/go/cron_next.h"
#include "api/go/gotime.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"

/* NULL: this system has no such zone, so nothing can be said of it. */
static const struct zone_rules *load(struct arena *a, const char *name)
{
    autobuf bytes = { 0 };
    const struct zone_rules *zone;
    struct err err = ERR_INIT(a);
    const char *path = arena_printf(a, "/usr/share/zoneinfo/%s", name).p;
    if (file_read(path, 1 << 20, &bytes, &err) < 0)
        return NULL;
    assert_int_equal(zone_rules_parse(a, buf_str(&bytes), &zone, &err), 0);
    return zone;
}

static int64_t moment(struct arena *a, const char *text)
{
    struct gotime t;
    struct err err = ERR_INIT(a);
    assert_int_equal(gotime_parse(str_of(text), false, &t, &err), 0);
    return t.sec * NS_PER_SEC + t.nanos;
}

static void check(const char *schedule, const char *zone_name, const char *after, const char *want)
{
    struct arena a;
    struct cron c;
    int64_t next;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const struct zone_rules *zone = zone_name ? load(&a, zone_name) : NULL;
    assert_int_equal(cron_parse(str_of(schedule), &c, &err), 0);
    const bool can_tell = !zone_name || zone;
    const bool is_due = can_tell && cron_next(&c, zone, moment(&a, after), &next);
    if (can_tell)
        assert_int_equal(is_due, want != NULL);
    if (is_due && want)
        assert_int_equal(next, moment(&a, want));
    arena_done(&a);
}

static void next_times(void **state)
{
    (void)state;
    static const struct {
        const char *schedule, *after, *want;
    } rows[] = {
        { "* * * * *", "2026-11-16T10:00:00Z", "2026-11-16T10:01:00Z" },
        { "* * * * *", "2026-11-16T10:00:59.999Z", "2026-11-16T10:01:00Z" },
        { "*/15 * * * *", "2026-11-16T10:46:01Z", "2026-11-16T11:00:00Z" },
        { "5 4 * * *", "2026-12-31T04:05:00Z", "2027-01-01T04:05:00Z" },
        { "0 0 1 1 *", "2026-11-16T10:00:00Z", "2027-01-01T00:00:00Z" },
        { "0 0 29 2 *", "2026-11-16T10:00:00Z", "2028-02-29T00:00:00Z" },
        { "0 0 29 2 *", "2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z" },
        { "0 0 29 2 *", "2096-03-01T00:00:00Z", NULL }, /* 2100 is no leap year */
        { "0 0 31 2 *", "2026-11-16T10:00:00Z", NULL },
        { "0 0 31 * *", "2026-11-01T00:00:00Z", "2026-12-31T00:00:00Z" },
        { "0 0 13 * 5", "2026-11-16T00:00:00Z", "2026-11-20T00:00:00Z" }, /* either */
        { "0 0 */2 * 5", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z" },
        { "0 0 * * 5", "2026-11-16T00:00:00Z", "2026-11-20T00:00:00Z" },
        { "30 6-16/4 * * 1-5", "2026-11-13T14:30:00Z", "2026-11-16T06:30:00Z" },
        { "@every 1h30m", "2026-11-16T10:00:00.5Z", "2026-11-16T11:30:00Z" },
        { "@every 10ms", "2026-11-16T10:00:00Z", "2026-11-16T10:00:01Z" },
        { "@every 1.7s", "2026-11-16T10:00:00Z", "2026-11-16T10:00:01Z" },
        { "@weekly", "2026-11-16T10:00:00Z", "2026-11-22T00:00:00Z" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i].schedule, NULL, rows[i].after, rows[i].want);
}

static void clocks_change(void **state)
{
    (void)state;
    static const struct {
        const char *schedule, *zone, *after, *want;
    } rows[] = {
        { "0 9 * * *", "Europe/Berlin", "2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00" },
        { "0 9 * * *", "Europe/Berlin", "2026-10-24T09:00:00+02:00", "2026-10-25T09:00:00+01:00" },
        /* 2:30 is not there on that day */
        { "30 2 * * *", "Europe/Berlin", "2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00" },
        /* and twice on this one */
        { "30 2 * * *", "Europe/Berlin", "2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00" },
        { "30 2 * * *", "Europe/Berlin", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00" },
        { "30 * * * *", "America/New_York", "2026-11-01T01:30:00-04:00",
          "2026-11-01T01:30:00-05:00" },
        { "0 * * * *", "America/New_York", "2026-03-08T01:00:00-05:00",
          "2026-03-08T03:00:00-04:00" },
        /* by half an hour */
        { "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T02:15:00+10:30",
          "2026-10-05T02:15:00+11:00" },
        /* a day without a midnight */
        { "0 0 * * *", "America/Santiago", "2026-09-05T00:00:00-04:00",
          "2026-09-07T00:00:00-03:00" },
        { "0 12 * * *", "Asia/Kolkata", "2026-03-28T12:00:00+05:30", "2026-03-29T12:00:00+05:30" },
        /* long after what the file lists */
        { "0 9 * * *", "Europe/Berlin", "2090-07-01T09:00:00+02:00", "2090-07-02T09:00:00+02:00" },
        { "0 9 * * *", "Europe/Berlin", "2090-12-01T09:00:00+01:00", "2090-12-02T09:00:00+01:00" },
        { "0 9 1 * *", "Australia/Sydney", "2090-12-15T09:00:00+11:00",
          "2091-01-01T09:00:00+11:00" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i].schedule, rows[i].zone, rows[i].after, rows[i].want);
}

static void bytes_that_are_no_zone(void **state)
{
    (void)state;
    static const struct str rows[] = {
        STR(""),
        STR("TZif2"),
        STR("not a zone at all, but long enough to be the header of one"),
        STR("TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\377\377\377\377"
            "\377\377\377\377\377\377\377\377\377\377\377\377"),
    };
    struct arena a;
    const struct zone_rules *zone;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        assert_true(zone_rules_parse(&a, rows[i], &zone, &err) < 0);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_times),
        cmocka_unit_test(clocks_change),
        cmocka_unit_test(bytes_that_are_no_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
