#include "api/go/goduration.h"

#include "api/go/quote.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct {
    struct str name;
    uint64_t nanos;
} units[] = {
    { STR("ns"), 1 },
    { STR("us"), 1000 },
    { STR("\u00b5s"), 1000 },
    { STR("\u03bcs"), 1000 },
    { STR("ms"), 1000000 },
    { STR("s"), 1000000000 },
    { STR("m"), 60 * UINT64_C(1000000000) },
    { STR("h"), 3600 * UINT64_C(1000000000) },
};

enum { MAX_DIGITS = 18 }; /* of a fraction that count */

static const uint64_t most = UINT64_C(1) << 63;

static int refuse(struct str text, const char *what, struct str unit, struct err *err)
{
    autobuf out = { 0 };
    buf_printf(&out, "time: %s ", what);
    if (unit.n) {
        quote_go(&out, unit);
        buf_str_add(&out, STR(" in duration "));
    }
    quote_go(&out, text);
    return err_set(err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(buf_str(&out)));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str take_digits(struct str *s)
{
    size_t n = 0;
    while (n < s->n && is_digit(s->p[n]))
        n++;
    struct str digits = str_take(*s, n);
    *s = str_skip(*s, n);
    return digits;
}

static struct str take_unit(struct str *s)
{
    size_t n = 0;
    while (n < s->n && s->p[n] != '.' && !is_digit(s->p[n]))
        n++;
    struct str unit = str_take(*s, n);
    *s = str_skip(*s, n);
    return unit;
}

static uint64_t nanos_of(struct str unit)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(units[i].name, unit))
            return units[i].nanos;
    return 0;
}

/* The part of `nanos` that the digits behind a point stand for. */
static uint64_t fraction_of(struct str digits, uint64_t nanos)
{
    double sum = 0, scale = 1;
    for (size_t i = 0; i < digits.n && i < MAX_DIGITS; i++) {
        sum = sum * 10 + (digits.p[i] - '0');
        scale *= 10;
    }
    return (uint64_t)(sum * ((double)nanos / scale));
}

/* One number with its unit. */
static int parse_part(struct str text, struct str *rest, uint64_t *sum, struct err *err)
{
    struct str whole = take_digits(rest), fraction = STR("");
    uint64_t n = 0;
    if (rest->n && rest->p[0] == '.') {
        *rest = str_skip(*rest, 1);
        fraction = take_digits(rest);
    }
    if ((!whole.n && !fraction.n) || (whole.n && (!str_to_u64(whole, &n) || n > most)))
        return refuse(text, "invalid duration", STR(""), err);
    struct str unit = take_unit(rest);
    uint64_t nanos = nanos_of(unit);
    if (!unit.n)
        return refuse(text, "missing unit in duration", STR(""), err);
    if (!nanos)
        return refuse(text, "unknown unit", unit, err);
    if (n > most / nanos)
        return refuse(text, "invalid duration", STR(""), err);
    *sum += n * nanos + fraction_of(fraction, nanos);
    return *sum > most ? refuse(text, "invalid duration", STR(""), err) : 0;
}

int goduration_parse(struct str text, int64_t *ret_nanos, struct err *err)
{
    struct str rest = text;
    bool negative = str_starts(text, STR("-"));
    uint64_t sum = 0;
    if (negative || str_starts(text, STR("+")))
        rest = str_skip(rest, 1);
    if (str_eq(rest, STR("0"))) {
        *ret_nanos = 0;
        return 0;
    }
    if (!rest.n)
        return refuse(text, "invalid duration", STR(""), err);
    while (rest.n) {
        int r = parse_part(text, &rest, &sum, err);
        if (r < 0)
            return r;
    }
    if (sum == most && !negative)
        return refuse(text, "invalid duration", STR(""), err);
    *ret_nanos = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

/* Less than a second has the unit that makes it at least 1. */
static void write_seconds(struct buf *out, uint64_t nanos, bool has_minutes)
{
    static const struct {
        const char *name;
        uint64_t nanos;
        int digits;
    } small[] = {
        { "s", 1000000000, 9 }, { "ms", 1000000, 6 }, { "\u00b5s", 1000, 3 }, { "ns", 1, 0 }
    };
    size_t i = 0;
    while (nanos && !has_minutes && nanos < small[i].nanos)
        i++;
    buf_printf(out, "%llu", (unsigned long long)(nanos / small[i].nanos));
    uint64_t rest = nanos % small[i].nanos;
    if (rest) {
        buf_printf(out, ".%0*llu", small[i].digits, (unsigned long long)rest);
        while (out->p[out->n - 1] == '0')
            out->n--;
    }
    buf_str_add(out, str_of(small[i].name));
}

void goduration_write(struct buf *out, int64_t nanos)
{
    static const uint64_t minute = 60 * UINT64_C(1000000000);
    uint64_t left = nanos < 0 ? -(uint64_t)nanos : (uint64_t)nanos, minutes = left / minute;
    if (nanos < 0)
        buf_byte(out, '-');
    if (minutes >= 60)
        buf_printf(out, "%lluh", (unsigned long long)(minutes / 60));
    if (minutes)
        buf_printf(out, "%llum", (unsigned long long)(minutes % 60));
    write_seconds(out, left % minute, minutes);
}
