/* Reads by the elements of Go's layout, one after the other, because the message names the element
 * that did not fit and the text from there on. */
#include "api/go/gotime.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/banned.h"

#define LAYOUT       "2006-01-02T15:04:05Z07:00"
#define LAYOUT_MICRO "2006-01-02T15:04:05.000000Z07:00"

struct reading {
    struct str text, rest;
    bool micros;
    int year, month, day, hour, minute, second, offset;
    int32_t nanos;
    const char *out_of_range; /* what was */
};

static bool digit_at(struct str s, size_t i)
{
    return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* One or two digits; a lone one only where Go does not insist on two. */
static bool read_number(struct str *s, bool one_will_do, int *ret)
{
    if (!digit_at(*s, 0) || (!digit_at(*s, 1) && !one_will_do))
        return false;
    size_t n = 1 + digit_at(*s, 1);
    *ret = s->p[0] - '0';
    if (n == 2)
        *ret = 10 * *ret + s->p[1] - '0';
    *s = str_skip(*s, n);
    return true;
}

static bool read_year(struct reading *r)
{
    for (size_t i = 0; i < 4; i++) {
        if (!digit_at(r->rest, i))
            return false;
        r->year = 10 * r->year + r->rest.p[i] - '0';
    }
    r->rest = str_skip(r->rest, 4);
    return true;
}

static bool read_month(struct reading *r)
{
    bool good = read_number(&r->rest, false, &r->month);
    if (good && (r->month < 1 || r->month > 12))
        r->out_of_range = "month";
    return good;
}

static bool read_day(struct reading *r)
{
    return read_number(&r->rest, false, &r->day);
}

static bool read_hour(struct reading *r)
{
    bool good = read_number(&r->rest, true, &r->hour);
    if (good && r->hour > 23)
        r->out_of_range = "hour";
    return good;
}

static bool read_minute(struct reading *r)
{
    bool good = read_number(&r->rest, false, &r->minute);
    if (good && r->minute > 59)
        r->out_of_range = "minute";
    return good;
}

static bool is_point(char c)
{
    return c == '.' || c == ',';
}

/* The `n` digits behind the point; what is finer than a nano is dropped. */
static void take_fraction(struct reading *r, size_t n)
{
    int32_t nanos = 0;
    for (size_t i = 1; i <= 9; i++)
        nanos = 10 * nanos + (i <= n ? r->rest.p[i] - '0' : 0);
    r->nanos = nanos;
    r->rest = str_skip(r->rest, n + 1);
}

static bool read_second(struct reading *r)
{
    if (!read_number(&r->rest, false, &r->second))
        return false;
    if (r->second > 59) {
        r->out_of_range = "second";
        return true;
    }
    if (r->micros || r->rest.n < 2 || !is_point(r->rest.p[0]) || !digit_at(r->rest, 1))
        return true;
    size_t n = 1;
    while (digit_at(r->rest, n + 1))
        n++;
    take_fraction(r, n);
    return true;
}

/* Six digits. Go takes a sign in front of five as well; below zero is then out of range. */
static bool read_micros(struct reading *r)
{
    if (r->rest.n < 7 || !is_point(r->rest.p[0]))
        return false;
    bool negative = r->rest.p[1] == '-', signed_number = negative || r->rest.p[1] == '+';
    bool zero = true;
    for (size_t i = 1 + signed_number; i < 7; i++) {
        if (!digit_at(r->rest, i))
            return false;
        zero = zero && r->rest.p[i] == '0';
    }
    if (negative && !zero)
        r->out_of_range = "fractional second";
    if (!signed_number) {
        take_fraction(r, 6);
        return true;
    }
    for (size_t i = 2; i < 7; i++)
        r->nanos = 10 * r->nanos + (r->rest.p[i] - '0') * 1000;
    r->rest = str_skip(r->rest, 7);
    return true;
}

/* Go lets people write offsets of 24 hours or 60 minutes. */
static bool read_zone(struct reading *r)
{
    if (r->rest.n && r->rest.p[0] == 'Z') {
        r->rest = str_skip(r->rest, 1);
        return true;
    }
    if (r->rest.n < 6 || r->rest.p[3] != ':')
        return false;
    struct str hours = { r->rest.p + 1, 2 }, minutes = { r->rest.p + 4, 2 };
    int h = 0, m = 0;
    bool good = read_number(&hours, false, &h) && read_number(&minutes, false, &m);
    if (h > 24)
        r->out_of_range = "time zone offset hour";
    if (m > 60)
        r->out_of_range = "time zone offset minute";
    char sign = r->rest.p[0];
    r->offset = (h * 60 + m) * 60 * (sign == '-' ? -1 : 1);
    if (!good || (sign != '+' && sign != '-'))
        return false;
    r->rest = str_skip(r->rest, 6);
    return true;
}

static const struct element {
    struct str before, name;
    bool (*read)(struct reading *r);
    bool micros_only;
} elements[] = {
    { { "", 0 }, { "2006", 4 }, read_year, false },
    { { "-", 1 }, { "01", 2 }, read_month, false },
    { { "-", 1 }, { "02", 2 }, read_day, false },
    { { "T", 1 }, { "15", 2 }, read_hour, false },
    { { ":", 1 }, { "04", 2 }, read_minute, false },
    { { ":", 1 }, { "05", 2 }, read_second, false },
    { { "", 0 }, { ".000000", 7 }, read_micros, true },
    { { "", 0 }, { "Z07:00", 6 }, read_zone, false },
};

/* As Go quotes in these messages: bytes that are not plain ASCII in hex. */
static void quote(struct buf *out, struct str s)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ' || c >= 0x80) {
            buf_printf(out, "\\x%02x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            buf_byte(out, '\\');
        buf_byte(out, (char)c);
    }
    buf_byte(out, '"');
}

static int mismatch(const struct reading *r, struct str from, struct str element, struct err *err)
{
    autobuf msg = { 0 };
    buf_str_add(&msg, STR("parsing time "));
    quote(&msg, r->text);
    buf_printf(&msg, " as \"%s\": cannot parse ", r->micros ? LAYOUT_MICRO : LAYOUT);
    quote(&msg, from);
    buf_printf(&msg, " as \"" STR_FMT "\"", STR_ARG(element));
    return err_set(err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(buf_str(&msg)));
}

static int refuse(const struct reading *r, const char *why, struct str extra, struct err *err)
{
    autobuf msg = { 0 };
    buf_str_add(&msg, STR("parsing time "));
    quote(&msg, r->text);
    buf_printf(&msg, ": %s", why);
    if (extra.n)
        quote(&msg, extra);
    return err_set(err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(buf_str(&msg)));
}

static int read_elements(struct reading *r, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(elements); i++) {
        const struct element *e = &elements[i];
        if (e->micros_only && !r->micros)
            continue;
        if (!str_starts(r->rest, e->before))
            return mismatch(r, r->rest, e->before, err);
        r->rest = str_skip(r->rest, e->before.n);
        struct str from = r->rest;
        bool good = e->read(r);
        if (r->out_of_range) {
            autobuf why = { 0 };
            buf_printf(&why, "%s out of range%c", r->out_of_range, '\0');
            return refuse(r, why.p, STR(""), err);
        }
        if (!good)
            return mismatch(r, from, e->name, err);
    }
    return r->rest.n ? refuse(r, "extra text: ", r->rest, err) : 0;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int month, int year)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year));
}

enum { DAYS_PER_ERA = 146097, YEARS_PER_ERA = 400, DAYS_TO_1970 = 719468, DAY_SECONDS = 86400 };

/* Days since 1970 in the Gregorian calendar. Years run from March, so that the leap day is last. */
static int64_t days_since_1970(int64_t year, int month, int day)
{
    year += YEARS_PER_ERA - (month <= 2); /* one era on: never negative */
    int64_t era = year / YEARS_PER_ERA, of_era = year % YEARS_PER_ERA;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return (era - 1) * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

int gotime_parse(struct str text, bool micros, struct gotime *ret, struct err *err)
{
    struct reading r = { .text = text, .rest = text, .micros = micros };
    int bad = read_elements(&r, err);
    if (bad < 0)
        return bad;
    if (r.day < 1 || r.day > days_in(r.month, r.year))
        return refuse(&r, "day out of range", STR(""), err);
    int64_t sec = days_since_1970(r.year, r.month, r.day) * DAY_SECONDS;
    sec += (r.hour * INT64_C(60) + r.minute) * 60 + r.second - r.offset;
    if (sec < days_since_1970(0, 1, 1) * DAY_SECONDS ||
        sec >= days_since_1970(10000, 1, 1) * DAY_SECONDS)
        return refuse(&r, "year out of range", STR(""), err);
    *ret = (struct gotime){ sec, r.nanos };
    return 0;
}

bool gotime_read_ns(struct str text, int64_t *ret_ns)
{
    struct gotime t;
    if (!text.n || gotime_parse(text, false, &t, NULL) < 0)
        return false;
    if (t.sec >= GOTIME_NS_MAX / NS_PER_SEC)
        *ret_ns = GOTIME_NS_MAX;
    else if (t.sec <= -(GOTIME_NS_MAX / NS_PER_SEC))
        *ret_ns = -GOTIME_NS_MAX;
    else
        *ret_ns = t.sec * NS_PER_SEC + t.nanos;
    return true;
}

struct date { /* of the years 0 to 9999 */
    int64_t year;
    int month, day;
};

static struct date date_of(int64_t days)
{
    days += DAYS_TO_1970 + DAYS_PER_ERA;
    int64_t era = days / DAYS_PER_ERA, of_era = days % DAYS_PER_ERA;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = (int)(of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100));
    int month = (5 * of_year + 2) / 153;
    struct date d = { .year = year_of_era + (era - 1) * YEARS_PER_ERA + (month >= 10),
                      .month = month < 10 ? month + 3 : month - 9,
                      .day = of_year - (153 * month + 2) / 5 + 1 };
    return d;
}

static char *put_digits(char *p, int64_t number, int n)
{
    for (int i = n; i-- > 0; number /= 10)
        p[i] = (char)('0' + number % 10);
    return p + n;
}

/* By hand: printf was a quarter of the time it takes to read an object. */
struct str gotime_format(struct arena *a, struct gotime t, bool micros)
{
    int64_t days = t.sec / DAY_SECONDS, of_day = t.sec % DAY_SECONDS;
    if (of_day < 0) {
        days--;
        of_day += DAY_SECONDS;
    }
    struct date d = date_of(days);
    const int64_t parts[] = {
        d.year, d.month, d.day, of_day / 3600, of_day / 60 % 60, of_day % 60
    };
    size_t n = micros ? strlen("2006-01-02T15:04:05.000000Z") : strlen("2006-01-02T15:04:05Z");
    char *text = arena_alloc(a, n, 1), *p = text;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        p = put_digits(p, parts[i], i ? 2 : 4);
        *p++ = "--T::Z"[i];
    }
    if (micros) {
        p[-1] = '.';
        p = put_digits(p, t.nanos / 1000, 6);
        *p++ = 'Z';
    }
    return (struct str){ text, n };
}
