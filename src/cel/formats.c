/* Texts of a tree that are more than text by the format of their schema: times, durations, bytes.
 * They are read, and refused, as kube-openapi's formats do it. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/go/goduration.h"
#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/buf.h"

#include "base/banned.h"

#define LAYOUT     "2006-01-02T15:04:05Z07:00"
#define NO_TIME    "T00:00:00Z"
#define OTHER_ZONE "as \"" LAYOUT "\": cannot parse "

static struct str replaced(struct arena *a, struct str s, struct str old, struct str fresh)
{
    autobuf out = { 0 };
    while (s.n) {
        bool here = str_starts(s, old);
        buf_str_add(&out, here ? fresh : str_take(s, 1));
        s = str_skip(s, here ? old.n : 1);
    }
    return arena_str(a, buf_str(&out));
}

/* ---- Times ---- */

static struct cel_value read_date(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct gotime t;
    if (gotime_parse(arena_printf(a, STR_FMT NO_TIME, STR_ARG(text)), false, &t, &err) == 0)
        return cel__timestamp(t.sec, t.nanos);
    struct str why =
        replaced(a, replaced(a, err.msg, STR(NO_TIME), STR("")), STR(LAYOUT), STR("2006-01-02"));
    return cel_of_error(arena_printf(a, "Invalid date formatted string " STR_FMT ": " STR_FMT,
                                     STR_ARG(text), STR_ARG(why)));
}

/* The last layout that is tried has no zone. */
static struct str without_zone(struct arena *a, struct str why)
{
    struct str zone = STR(" as \"Z07:00\"");
    if (!str_ends(why, zone))
        return replaced(a, why, STR(LAYOUT), STR("2006-01-02T15:04:05"));
    why = str_take(why, why.n - zone.n);
    return replaced(a, why, STR(" " OTHER_ZONE), STR(": extra text: "));
}

static struct cel_value read_time(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a), ignored = ERR_INIT(a);
    struct gotime t;
    if (!text.n)
        return cel__timestamp(0, 0);
    if (gotime_parse(text, false, &t, &err) == 0 ||
        gotime_parse(arena_printf(a, STR_FMT "Z", STR_ARG(text)), false, &t, &ignored) == 0)
        return cel__timestamp(t.sec, t.nanos);
    return cel_of_error(arena_printf(a, "Invalid date-time formatted string " STR_FMT ": " STR_FMT,
                                     STR_ARG(text), STR_ARG(without_zone(a, err.msg))));
}

/* ---- Durations ---- */

/* 0: no unit. */
static uint64_t unit_nanos(struct str unit)
{
    static const struct {
        const char *exact, *also, *begin;
        uint64_t nanos;
    } units[] = {
        { "ns", "ns", "nano", 1 },
        { "us", "\u00b5s", "micro", 1000 },
        { "ms", "ms", "milli", 1000000 },
        { "s", "s", "sec", UINT64_C(1000000000) },
        { "m", "m", "min", UINT64_C(60000000000) },
        { "h", "hr", "hour", UINT64_C(3600000000000) },
        { "d", "d", "day", UINT64_C(86400000000000) },
        { "w", "wk", "week", UINT64_C(604800000000000) },
    };
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(unit, str_of(units[i].exact)) || str_eq(unit, str_of(units[i].also)) ||
            str_starts(unit, str_of(units[i].begin)))
            return units[i].nanos;
    return 0;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The letters in front of the rest, in lower case. */
static struct str eat_unit(struct arena *a, struct str *rest)
{
    autobuf unit = { 0 };
    while (rest->n && (is_letter(*rest->p) || str_starts(*rest, STR("\u00b5")))) {
        bool letter = is_letter(*rest->p);
        if (letter)
            buf_byte(&unit, (char)(*rest->p | 0x20));
        else
            buf_str_add(&unit, STR("\u00b5"));
        *rest = str_skip(*rest, letter ? 1 : 2);
    }
    return arena_str(a, buf_str(&unit));
}

static struct str eat_any(struct str *rest, struct str chars)
{
    size_t n = 0;
    while (n < rest->n && str_find(chars, rest->p[n]) >= 0)
        n++;
    struct str eaten = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return eaten;
}

/* "3 days 2 hours": all numbers that have a unit behind them, whatever else there is. */
static struct cel_value read_words(struct arena *a, struct str text)
{
    struct str rest = text;
    uint64_t sum = 0;
    bool found = false;
    while (rest.n) {
        struct str digits = eat_any(&rest, STR("0123456789"));
        (void)eat_any(&rest, STR(" \t\n\f\r"));
        uint64_t nanos = unit_nanos(eat_unit(a, &rest));
        int64_t factor = 0;
        if (digits.n && nanos && !str_to_i64(digits, &factor))
            return cel_of_error(arena_printf(a,
                                             "Invalid duration " STR_FMT
                                             ": strconv.Atoi: parsing \"" STR_FMT
                                             "\": value out of range",
                                             STR_ARG(text), STR_ARG(digits)));
        found = found || (digits.n && nanos);
        sum += (uint64_t)factor * nanos;
        if (rest.n && str_find(STR("0123456789"), *rest.p) < 0)
            rest = str_skip(rest, 1);
    }
    if (found)
        return cel__duration((int64_t)sum);
    return cel_of_error(
        arena_printf(a, "Invalid duration " STR_FMT ": unable to parse " STR_FMT " as duration",
                     STR_ARG(text), STR_ARG(text)));
}

static struct cel_value read_duration(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    int64_t nanos;
    if (goduration_parse(text, &nanos, &err) == 0)
        return cel__duration(nanos);
    return read_words(a, text);
}

/* ---- Bytes ---- */

static bool is_base64(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

/* Where Go stops reading: at the byte that is wrong, or at the start of a group that is short. */
static size_t wrong_base64(struct str s)
{
    size_t start = 0, in_group = 0, i = 0;
    for (; i < s.n && s.p[i] != '='; i++) {
        if (s.p[i] == '\r' || s.p[i] == '\n')
            continue;
        if (!is_base64(s.p[i]))
            return i;
        if (in_group == 0)
            start = i;
        in_group = (in_group + 1) % 4;
    }
    if (i == s.n)
        return start;
    if (in_group < 2)
        return i;
    size_t end = i + 4 - in_group;
    return end < s.n && s.p[end - 1] == '=' ? end : i + 1 < s.n ? i : s.n;
}

static struct cel_value read_bytes(struct arena *a, struct str text)
{
    autobuf bytes = { 0 };
    if (base64_decode(&bytes, text))
        return cel_of_bytes(arena_str(a, buf_str(&bytes)));
    return cel_of_error(arena_printf(
        a, "Invalid byte formatted string " STR_FMT ": illegal base64 data at input byte %zu",
        STR_ARG(text), wrong_base64(text)));
}

struct cel_value cel__read_text(struct arena *a, struct str text, const struct cel_type *type)
{
    switch (type->kind) {
    case CEL_BYTES:
        return read_bytes(a, text);
    case CEL_TIMESTAMP:
        return type->is_date ? read_date(a, text) : read_time(a, text);
    case CEL_DURATION:
        return read_duration(a, text);
    default:
        return cel_of_string(text);
    }
}
