#include "api/go/zone_rules.h"

#include <time.h>

#include "base/banned.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, OFFSET_MAX = 26 * HOUR };

/* When clocks change in each year: "M3.2.0/2", "J60", "59". */
struct yearly {
    enum { BY_JULIAN, BY_DAY, BY_WEEK } how;
    int32_t day, week, month;
    int32_t sec; /* of that day, on the clocks before the change */
};

/* What follows the last change that is listed. */
struct footer {
    int32_t offset, summer_offset;
    bool has_summer;
    struct yearly begin, end; /* of summer */
};

struct zone_rules {
    size_t n;            /* of changes */
    const char *changes; /* each 8 bytes */
    const char *kinds;   /* each the number of the kind after it */
    const char *offsets; /* of kinds; each 6 bytes */
    bool has_footer;
    struct footer footer;
};

/* ---- Numbers ---- */

static uint64_t big_endian(const char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

static int64_t change_at(const struct zone_rules *z, size_t i)
{
    return (int64_t)big_endian(z->changes + 8 * i, 8);
}

static int32_t offset_of(const struct zone_rules *z, size_t kind)
{
    return (int32_t)(uint32_t)big_endian(z->offsets + 6 * kind, 4);
}

/* ---- The footer: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

static bool eat(struct str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static bool eat_number(struct str *s, int32_t min, int32_t max, int32_t *ret)
{
    int32_t v = 0;
    size_t n = 0;
    while (n < s->n && n < 4 && s->p[n] >= '0' && s->p[n] <= '9')
        v = v * 10 + (s->p[n++] - '0');
    if (!n || v < min || v > max)
        return false;
    *s = str_skip(*s, n);
    *ret = v;
    return true;
}

/* Letters, or anything in angle brackets. */
static bool eat_name(struct str *s)
{
    size_t n = 0;
    if (eat(s, '<')) {
        ptrdiff_t end = str_find(*s, '>');
        if (end < 0)
            return false;
        *s = str_skip(*s, (size_t)end + 1);
        return true;
    }
    while (n < s->n && ((s->p[n] | 32) >= 'a' && (s->p[n] | 32) <= 'z'))
        n++;
    *s = str_skip(*s, n);
    return n >= 3;
}

/* "-2:30:15" in seconds. */
static bool eat_time(struct str *s, int32_t *ret)
{
    const bool is_negative = eat(s, '-');
    int32_t hours, minutes = 0, seconds = 0;
    if (!is_negative)
        (void)eat(s, '+');
    if (!eat_number(s, 0, 24 * 7, &hours) || (eat(s, ':') && !eat_number(s, 0, 59, &minutes)) ||
        (eat(s, ':') && !eat_number(s, 0, 59, &seconds)))
        return false;
    *ret = (hours * HOUR + minutes * MINUTE + seconds) * (is_negative ? -1 : 1);
    return true;
}

static bool eat_day(struct str *s, struct yearly *ret)
{
    if (eat(s, 'M')) {
        ret->how = BY_WEEK;
        return eat_number(s, 1, 12, &ret->month) && eat(s, '.') &&
               eat_number(s, 1, 5, &ret->week) && eat(s, '.') && eat_number(s, 0, 6, &ret->day);
    }
    ret->how = eat(s, 'J') ? BY_JULIAN : BY_DAY;
    return eat_number(s, ret->how == BY_JULIAN, 365, &ret->day);
}

static bool eat_yearly(struct str *s, struct yearly *ret)
{
    ret->sec = 2 * HOUR;
    return eat(s, ',') && eat_day(s, ret) && (!eat(s, '/') || eat_time(s, &ret->sec));
}

static bool parse_footer(struct str s, struct footer *ret)
{
    if (!eat_name(&s) || !eat_time(&s, &ret->offset))
        return false;
    ret->offset = -ret->offset; /* it says how far UTC is from here */
    if (!s.n)
        return true;
    if (!eat_name(&s))
        return false;
    ret->has_summer = true;
    ret->summer_offset = ret->offset + HOUR;
    if (s.n && s.p[0] != ',') {
        if (!eat_time(&s, &ret->summer_offset))
            return false;
        ret->summer_offset = -ret->summer_offset;
    }
    return eat_yearly(&s, &ret->begin) && eat_yearly(&s, &ret->end) && !s.n;
}

/* ---- The file ---- */

/* What a header says of the part that follows. */
struct part {
    size_t n_utc, n_std, n_leaps, n_changes, n_kinds, n_chars;
};

enum { HEADER_BYTES = 44 };

static bool read_header(struct str bytes, struct part *ret)
{
    size_t *const counts[] = { &ret->n_utc,     &ret->n_std,   &ret->n_leaps,
                               &ret->n_changes, &ret->n_kinds, &ret->n_chars };
    if (bytes.n < HEADER_BYTES || !str_starts(bytes, STR("TZif")))
        return false;
    for (size_t i = 0; i < 6; i++) {
        *counts[i] = (size_t)big_endian(bytes.p + 20 + 4 * i, 4);
        if (*counts[i] > bytes.n)
            return false;
    }
    return true;
}

static size_t part_bytes(const struct part *p, size_t time_bytes)
{
    return p->n_changes * (time_bytes + 1) + p->n_kinds * 6 + p->n_chars +
           p->n_leaps * (time_bytes + 4) + p->n_std + p->n_utc;
}

static bool is_offset(int32_t sec)
{
    return sec > -OFFSET_MAX && sec < OFFSET_MAX;
}

/* Changes are in the order of time, and lead to what is there. */
static bool is_sound(const struct zone_rules *z, size_t n_kinds)
{
    for (size_t i = 0; i < z->n; i++)
        if ((unsigned char)z->kinds[i] >= n_kinds || (i && change_at(z, i) <= change_at(z, i - 1)))
            return false;
    for (size_t i = 0; i < n_kinds; i++)
        if (!is_offset(offset_of(z, i)))
            return false;
    return n_kinds > 0 && is_offset(z->footer.offset) && is_offset(z->footer.summer_offset);
}

/* The second part has times of 64 bits; the first one is for older readers. */
static bool parse_parts(struct str bytes, struct zone_rules *z)
{
    struct part p;
    if (!read_header(bytes, &p) || bytes.p[4] < '2' || bytes.n - HEADER_BYTES < part_bytes(&p, 4))
        return false;
    bytes = str_skip(bytes, HEADER_BYTES + part_bytes(&p, 4));
    if (!read_header(bytes, &p) || bytes.n - HEADER_BYTES < part_bytes(&p, 8))
        return false;
    bytes = str_skip(bytes, HEADER_BYTES);
    z->n = p.n_changes;
    z->changes = bytes.p;
    z->kinds = z->changes + 8 * p.n_changes;
    z->offsets = z->kinds + p.n_changes;
    bytes = str_skip(bytes, part_bytes(&p, 8));
    struct str footer = str_trim(bytes);
    z->has_footer = footer.n > 0;
    return (!z->has_footer || parse_footer(footer, &z->footer)) && is_sound(z, p.n_kinds);
}

int zone_rules_parse(struct arena *a, struct str bytes, const struct zone_rules **ret,
                     struct err *err)
{
    struct zone_rules *z = arena_new(a, struct zone_rules);
    *z = (struct zone_rules){ 0 };
    if (!parse_parts(arena_str(a, bytes), z))
        return err_set(err, ERR_BAD_REQUEST, "malformed time zone information");
    *ret = z;
    return 0;
}

/* ---- Looking ---- */

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t year_start(int year)
{
    struct tm tm = { .tm_year = year - 1900, .tm_mday = 1 };
    return timegm(&tm);
}

/* In which second of the year it comes, counted in UTC; clocks show `offset` more before it. */
static int64_t yearly_second(const struct yearly *y, int year, int32_t offset)
{
    int64_t day = y->day;
    if (y->how == BY_JULIAN) {
        day = y->day - 1 + (is_leap(year) && y->day >= 60);
    } else if (y->how == BY_WEEK) {
        struct tm first = { .tm_year = year - 1900, .tm_mon = y->month - 1, .tm_mday = 1 };
        struct tm next = { .tm_year = year - 1900, .tm_mon = y->month, .tm_mday = 1 };
        const int64_t start = timegm(&first), end = timegm(&next);
        day = (y->day - first.tm_wday + 7) % 7 + (y->week - 1) * 7;
        if (start + day * DAY >= end)
            day -= 7;
        day += (start - year_start(year)) / DAY;
    }
    return day * DAY + y->sec - offset;
}

static struct zone_span footer_at(const struct footer *f, int64_t since, int64_t sec)
{
    struct tm tm;
    const time_t t = (time_t)sec;
    if (!f->has_summer)
        return (struct zone_span){ since, INT64_MAX, f->offset };
    (void)gmtime_r(&t, &tm);
    const int year = tm.tm_year + 1900;
    const int64_t start = year_start(year), end = year_start(year + 1);
    int64_t first = start + yearly_second(&f->begin, year, f->offset);
    int64_t second = start + yearly_second(&f->end, year, f->summer_offset);
    int32_t outer = f->offset, inner = f->summer_offset;
    if (second < first) { /* the southern half of the world */
        const int64_t swap = first;
        first = second;
        second = swap;
        outer = f->summer_offset;
        inner = f->offset;
    }
    if (sec < first)
        return (struct zone_span){ start, first, outer };
    if (sec < second)
        return (struct zone_span){ first, second, inner };
    return (struct zone_span){ second, end, outer };
}

struct zone_span zone_span_at(const struct zone_rules *z, int64_t sec)
{
    if (!z)
        return (struct zone_span){ INT64_MIN, INT64_MAX, 0 };
    size_t low = 0, high = z->n; /* changes before `low` are not after it */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (change_at(z, mid) <= sec)
            low = mid + 1;
        else
            high = mid;
    }
    const int64_t start = low ? change_at(z, low - 1) : INT64_MIN;
    if (low == z->n && z->has_footer)
        return footer_at(&z->footer, start, sec);
    return (struct zone_span){ start, low < z->n ? change_at(z, low) : INT64_MAX,
                               offset_of(z, low ? (unsigned char)z->kinds[low - 1] : 0) };
}

int64_t zone_moment(const struct zone_rules *z, int64_t shown)
{
    struct zone_span span = zone_span_at(z, shown);
    const int64_t sec = shown - span.offset;
    if (sec < span.start || sec >= span.end)
        span = zone_span_at(z, sec);
    return shown - span.offset;
}
