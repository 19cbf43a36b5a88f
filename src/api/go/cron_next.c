#include "api/go/cron_next.h"

#include <time.h>

#include "base/clock.h"
#include "base/banned.h"

/* Far more steps than any real zone makes necessary. */
enum { YEARS = 5, MINUTE = 60, HOUR = 3600, STEPS_MAX = 20000 };

/* A moment, and what clocks of the zone show then. */
struct shown {
    const struct zone_rules *zone;
    int64_t sec;
    struct tm tm;
    bool is_moved; /* it is not where the search began: smaller parts are 0 */
    unsigned n_steps;
};

static void show(struct shown *s, int64_t sec)
{
    const time_t t = (time_t)(sec + zone_span_at(s->zone, sec).offset);
    s->sec = sec;
    s->n_steps++;
    (void)gmtime_r(&t, &s->tm);
}

/* In a zone that makes no sense days may never end. */
static bool goes_on(const struct shown *s)
{
    return s->n_steps < STEPS_MAX;
}

/* To what clocks are set; fields may be too large, as in the 32nd of a month. */
static void show_date(struct shown *s, struct tm tm)
{
    show(s, zone_moment(s->zone, timegm(&tm)));
}

static bool has(uint64_t set, int bit)
{
    return set >> bit & 1;
}

static bool is_day(const struct cron *c, const struct tm *tm)
{
    const bool by_day = has(c->days, tm->tm_mday), by_weekday = has(c->weekdays, tm->tm_wday);
    return c->any_day || c->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

/* Each of these goes on to the next month, day, hour, minute or second that fits. False: it came to
 * the next of what is larger, which must be looked at again. */
static bool to_month(const struct cron *c, struct shown *s)
{
    while (goes_on(s) && !has(c->months, s->tm.tm_mon + 1)) {
        if (!s->is_moved)
            show_date(
                s, (struct tm){ .tm_year = s->tm.tm_year, .tm_mon = s->tm.tm_mon, .tm_mday = 1 });
        s->is_moved = true;
        struct tm next = s->tm;
        next.tm_mon++;
        show_date(s, next);
        if (s->tm.tm_mon == 0)
            return false;
    }
    return true;
}

static bool to_day(const struct cron *c, struct shown *s)
{
    while (goes_on(s) && !is_day(c, &s->tm)) {
        if (!s->is_moved)
            show_date(s, (struct tm){ .tm_year = s->tm.tm_year,
                                      .tm_mon = s->tm.tm_mon,
                                      .tm_mday = s->tm.tm_mday });
        s->is_moved = true;
        struct tm next = s->tm;
        next.tm_mday++;
        show_date(s, next);
        /* There are days without a midnight. */
        const int64_t off = s->tm.tm_hour > 12 ? 24 - s->tm.tm_hour : -s->tm.tm_hour;
        if (off)
            show(s, s->sec + off * HOUR);
        if (s->tm.tm_mday == 1)
            return false;
    }
    return true;
}

static bool to_hour(const struct cron *c, struct shown *s)
{
    while (goes_on(s) && !has(c->hours, s->tm.tm_hour)) {
        if (!s->is_moved)
            show_date(s, (struct tm){ .tm_year = s->tm.tm_year,
                                      .tm_mon = s->tm.tm_mon,
                                      .tm_mday = s->tm.tm_mday,
                                      .tm_hour = s->tm.tm_hour });
        s->is_moved = true;
        show(s, s->sec + HOUR);
        if (s->tm.tm_hour == 0)
            return false;
    }
    return true;
}

static bool to_minute(const struct cron *c, struct shown *s)
{
    while (goes_on(s) && !has(c->minutes, s->tm.tm_min)) {
        if (!s->is_moved)
            show(s, s->sec - s->sec % MINUTE);
        s->is_moved = true;
        show(s, s->sec + MINUTE);
        if (s->tm.tm_min == 0)
            return false;
    }
    return true;
}

static bool to_second(struct shown *s)
{
    if (s->tm.tm_sec == 0)
        return true;
    s->is_moved = true;
    show(s, s->sec + MINUTE - s->tm.tm_sec);
    return false;
}

static bool next_every(const struct cron *c, int64_t after_ns, int64_t *ret_ns)
{
    const int64_t step = c->every_nanos < NS_PER_SEC ? NS_PER_SEC : c->every_nanos;
    *ret_ns = after_ns - after_ns % NS_PER_SEC + (step - step % NS_PER_SEC);
    return true;
}

bool cron_next(const struct cron *c, const struct zone_rules *zone, int64_t after_ns,
               int64_t *ret_ns)
{
    struct shown s = { .zone = zone };
    if (c->is_every)
        return next_every(c, after_ns, ret_ns);
    show(&s, after_ns / NS_PER_SEC + 1);
    const int last_year = s.tm.tm_year + YEARS;
    while (goes_on(&s) && s.tm.tm_year <= last_year) {
        if (!to_month(c, &s) || !to_day(c, &s) || !to_hour(c, &s) || !to_minute(c, &s) ||
            !to_second(&s))
            continue;
        *ret_ns = s.sec * NS_PER_SEC;
        return goes_on(&s) && *ret_ns > after_ns;
    }
    return false;
}
