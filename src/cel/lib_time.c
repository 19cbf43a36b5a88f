/* The parts of times and durations: getHours(), getDayOfWeek('Europe/Berlin'), ... in UTC unless a
 * zone is named. A zone is an offset ("-08:00") or a name that the environment knows. */
#include "base/idiom.h"
#include "cel/internal.h"

#include <assert.h>

#include "base/banned.h"

enum { SEC_PER_DAY = 86400 };

struct civil {
    int64_t year;
    int month, day, year_day, week_day; /* all from 0 */
    int hour, minute, second;
};

static bool is_leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Days are counted from 0000-03-01, so that a leap day is the last one of its year. */
static struct civil civil_of(int64_t sec)
{
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    int64_t days = sec / SEC_PER_DAY, rest = sec % SEC_PER_DAY;
    if (rest < 0) {
        rest += SEC_PER_DAY;
        days--;
    }
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    struct civil c = {
        .month = (int)(mp < 10 ? mp + 2 : mp - 10),
        .day = (int)(doy - (153 * mp + 2) / 5),
        .week_day = (int)(((days % 7) + 11) % 7),
        .hour = (int)(rest / 3600),
        .minute = (int)(rest / 60 % 60),
        .second = (int)(rest % 60),
    };
    c.year = yoe + era * 400 + (c.month <= 1);
    c.year_day = before[c.month] + c.day + (c.month > 1 && is_leap(c.year));
    return c;
}

/* As Go's Atoi reads it, within what an offset may be. */
static bool read_number(struct cel__eval *ev, struct str text, int64_t *ret,
                        struct cel_value *ret_error)
{
    struct str digits = str_skip(text, str_starts(text, STR("+")));
    if (str_to_i64(digits, ret) && (digits.n == text.n || digits.p[0] != '-') && *ret <= 100000 &&
        *ret >= -100000)
        return true;
    *ret_error =
        cel__fail(ev, "strconv.Atoi: parsing \"" STR_FMT "\": invalid syntax", STR_ARG(text));
    return false;
}

/* "+hh:mm" with any number of digits; minutes go the way that the sign says. */
static bool read_offset(struct cel__eval *ev, struct str zone, int64_t *ret_sec,
                        struct cel_value *ret_error)
{
    struct str minutes = zone, hours = str_cut(&minutes, ':');
    int64_t h, m;
    if (!read_number(ev, hours, &h, ret_error) || !read_number(ev, minutes, &m, ret_error))
        return false;
    bool negative = str_starts(hours, STR("-"));
    *ret_sec = h * 3600 + m * (negative ? -60 : 60);
    return true;
}

/* Seconds east of UTC; false with an error. */
static bool zone_offset(struct cel__eval *ev, const struct cel_value *t,
                        const struct cel_value *zone, int64_t *ret, struct cel_value *ret_error)
{
    struct str name = cel__str(zone);
    int32_t sec = 0;
    *ret = 0;
    if (str_find(name, ':') >= 0)
        return read_offset(ev, name, ret, ret_error);
    if (!name.n || str_eq(name, STR("UTC")) || str_eq(name, STR("Local")))
        return true;
    const struct cel_env *env = ev->program ? ev->program->env : NULL;
    if (env && env->zone_offset && env->zone_offset(name, t->i, &sec)) {
        *ret = sec;
        return true;
    }
    *ret_error = cel__fail(ev, "unknown time zone " STR_FMT, STR_ARG(name));
    return false;
}

enum part { YEAR, MONTH, YEAR_DAY, MONTH_DAY, DATE, WEEK_DAY, HOUR, MINUTE, SECOND, MILLI };

static struct cel_value part_of_duration(int64_t nanos, enum part part)
{
    static const int64_t units[] = {
        [HOUR] = 3600000000000,
        [MINUTE] = 60000000000,
        [SECOND] = 1000000000,
        [MILLI] = 1000000,
    };
    assert(part >= HOUR);
    return cel_of_int(nanos / units[part]);
}

static struct cel_value part_of(struct cel__eval *ev, const struct cel_value *args, size_t n,
                                enum part part)
{
    int64_t offset = 0;
    struct cel_value error;
    if (args[0].kind == CEL_DURATION)
        return part_of_duration(args[0].i, part);
    if (n == 2 && !zone_offset(ev, &args[0], &args[1], &offset, &error))
        return error;
    struct civil c = civil_of(args[0].i + offset);
    const int64_t parts[] = {
        [YEAR] = c.year,         [MONTH] = c.month,
        [YEAR_DAY] = c.year_day, [MONTH_DAY] = c.day,
        [DATE] = c.day + 1,      [WEEK_DAY] = c.week_day,
        [HOUR] = c.hour,         [MINUTE] = c.minute,
        [SECOND] = c.second,     [MILLI] = args[0].nanos / 1000000,
    };
    return cel_of_int(parts[part]);
}

#define PART(name, part)                                                                       \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n) \
    {                                                                                          \
        return part_of(ev, args, n, part);                                                     \
    }
PART(fn_year, YEAR)
PART(fn_month, MONTH)
PART(fn_year_day, YEAR_DAY)
PART(fn_month_day, MONTH_DAY)
PART(fn_date, DATE)
PART(fn_week_day, WEEK_DAY)
PART(fn_hours, HOUR)
PART(fn_minutes, MINUTE)
PART(fn_seconds, SECOND)
PART(fn_millis, MILLI)

#define OF_TIME(name, fn)                                           \
    CEL__METHOD(name, CEL__COST_ONE, fn, &cel_int, &cel_timestamp), \
        CEL__METHOD(name, CEL__COST_ONE, fn, &cel_int, &cel_timestamp, &cel_string)
#define OF_BOTH(name, fn) \
    OF_TIME(name, fn), CEL__METHOD(name, CEL__COST_ONE, fn, &cel_int, &cel_duration)

static const struct cel__overload rows[] = {
    OF_TIME("getFullYear", fn_year),      OF_TIME("getMonth", fn_month),
    OF_TIME("getDayOfYear", fn_year_day), OF_TIME("getDayOfMonth", fn_month_day),
    OF_TIME("getDate", fn_date),          OF_TIME("getDayOfWeek", fn_week_day),
    OF_BOTH("getHours", fn_hours),        OF_BOTH("getMinutes", fn_minutes),
    OF_BOTH("getSeconds", fn_seconds),    OF_BOTH("getMilliseconds", fn_millis),
};

const struct cel__library cel__lib_time = { rows, ARRAY_LEN(rows), 0 };
