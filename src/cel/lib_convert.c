/* Conversions between types: int('12'), string(duration), timestamp(0), ... */
#include "base/idiom.h"
#include "cel/internal.h"

#include <inttypes.h>
#include <math.h>

#include "api/go/goduration.h"
#include "api/go/gotime.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "cel/literals.h"

#include "base/banned.h"

#define TIME_MIN INT64_C(-62135596800)
#define TIME_MAX INT64_C(253402300799)

#define INT_OVERFLOW  cel__error_text("integer overflow")
#define UINT_OVERFLOW cel__error_text("unsigned integer overflow")

static struct cel_value fail_to(struct cel__eval *ev, const struct cel_value *v, const char *to)
{
    return cel__fail(ev, "type conversion error from '" STR_FMT "' to '%s'",
                     STR_ARG(cel__type_of(v)->name), to);
}

static struct cel_value fn_same(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return args[0];
}

/* As Go's ParseInt: a sign of either kind may stand in front. */
static bool text_to_int(struct str s, int64_t *ret)
{
    bool negative = str_starts(s, STR("-"));
    uint64_t u;
    if (negative || str_starts(s, STR("+")))
        s = str_skip(s, 1);
    if (!str_to_u64(s, &u) || u > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = (int64_t)(negative ? 0 - u : u);
    return true;
}

static struct cel_value fn_int(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    int64_t i;
    const struct cel_value *v = &args[0];
    switch (v->kind) {
    case CEL_INT:
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        return cel_of_int(v->i);
    case CEL_UINT:
        return v->u > INT64_MAX ? INT_OVERFLOW : cel_of_int((int64_t)v->u);
    case CEL_DOUBLE:
        if (!(v->d > -9223372036854775808.0 && v->d < 9223372036854775808.0))
            return INT_OVERFLOW;
        return cel_of_int((int64_t)v->d);
    default:
        return text_to_int(cel__str(v), &i) ? cel_of_int(i) : fail_to(ev, v, "int");
    }
}

static struct cel_value fn_uint(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    uint64_t u;
    const struct cel_value *v = &args[0];
    switch (v->kind) {
    case CEL_UINT:
        return *v;
    case CEL_INT:
        return v->i < 0 ? UINT_OVERFLOW : cel_of_uint((uint64_t)v->i);
    case CEL_DOUBLE:
        if (!(v->d >= 0 && v->d < 18446744073709551616.0))
            return UINT_OVERFLOW;
        return cel_of_uint((uint64_t)v->d);
    default:
        return str_to_u64(cel__str(v), &u) ? cel_of_uint(u) : fail_to(ev, v, "uint");
    }
}

/* Underscores stand between digits, or behind the 0x. */
static bool is_separator(struct str s, size_t i)
{
    bool digits = i > 0 && i + 1 < s.n && str_hex_digit(s.p[i + 1]) >= 0 &&
                  (str_hex_digit(s.p[i - 1]) >= 0 || (s.p[i - 1] | 0x20) == 'x');
    bool hex = str_find(s, 'x') >= 0 || str_find(s, 'X') >= 0;
    return digits && (hex || ((s.p[i - 1] | 0x20) != 'e' && (s.p[i + 1] | 0x20) != 'e'));
}

/* As Go's ParseFloat reads it: NaN has no sign, hexadecimal has an exponent. */
static bool text_to_double(struct arena *a, struct str s, double *ret)
{
    static const char allowed[] = "0123456789+-.eExXpPabcdfABCDFinNtyITY";
    autobuf plain = { 0 };
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '_' && !memchr(allowed, s.p[i], sizeof(allowed) - 1))
            return false;
        if (s.p[i] != '_')
            buf_byte(&plain, s.p[i]);
        else if (!is_separator(s, i))
            return false;
    }
    struct str text = buf_str(&plain);
    bool hex = str_find(text, 'x') >= 0 || str_find(text, 'X') >= 0;
    bool has_power = str_find(text, 'p') >= 0 || str_find(text, 'P') >= 0;
    if (!text.n || hex != has_power || !literals_double(a, text, ret))
        return false;
    return !isnan(*ret) || (text.p[0] | 0x20) == 'n';
}

static struct cel_value fn_double(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    double d;
    const struct cel_value *v = &args[0];
    switch (v->kind) {
    case CEL_DOUBLE:
        return *v;
    case CEL_INT:
        return cel_of_double((double)v->i);
    case CEL_UINT:
        return cel_of_double((double)v->u);
    default:
        return text_to_double(ev->arena, cel__str(v), &d) ? cel_of_double(d)
                                                          : fail_to(ev, v, "double");
    }
}

static struct cel_value fn_bool(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct str yes = STR("1 t T TRUE true True"), no = STR("0 f F FALSE false False");
    if (args[0].kind == CEL_BOOL)
        return args[0];
    struct str s = cel__str(&args[0]);
    while (yes.n)
        if (str_eq(str_cut(&yes, ' '), s))
            return cel_of_bool(true);
    while (no.n)
        if (str_eq(str_cut(&no, ' '), s))
            return cel_of_bool(false);
    return fail_to(ev, &args[0], "bool");
}

static struct cel_value fn_bytes(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return cel_of_bytes(cel__str(&args[0]));
}

static struct cel_value fn_string(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    const struct cel_value *v = &args[0];
    switch (v->kind) {
    case CEL_STRING:
        return *v;
    case CEL_BOOL:
        return cel_of_string(v->b ? STR("true") : STR("false"));
    case CEL_INT:
        return cel_of_string(arena_printf(ev->arena, "%" PRId64, v->i));
    case CEL_UINT:
        return cel_of_string(arena_printf(ev->arena, "%" PRIu64, v->u));
    case CEL_DOUBLE:
        return cel_of_string(cel__double_text(ev->arena, v->d));
    case CEL_TIMESTAMP:
        return cel_of_string(cel__timestamp_text(ev->arena, v));
    case CEL_DURATION:
        return cel_of_string(cel__duration_text(ev->arena, v->i));
    default:
        if (!utf8_valid(cel__str(v)))
            return cel__error_text("invalid UTF-8 in bytes, cannot convert to string");
        return cel_of_string(cel__str(v));
    }
}

static struct cel_value fn_duration(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    int64_t nanos;
    if (args[0].kind == CEL_DURATION)
        return args[0];
    if (goduration_parse(cel__str(&args[0]), &nanos, NULL) < 0)
        return fail_to(ev, &args[0], "google.protobuf.Duration");
    return cel__duration(nanos);
}

static int two_digits(const char *p)
{
    return (p[0] - '0') * 10 + p[1] - '0';
}

static struct cel_value fn_timestamp(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct gotime t = { 0 };
    struct str s = cel__str(&args[0]);
    if (args[0].kind == CEL_TIMESTAMP)
        return args[0];
    if (args[0].kind == CEL_INT)
        t.sec = args[0].i;
    else if (gotime_parse(s, false, &t, NULL) < 0)
        return fail_to(ev, &args[0], "google.protobuf.Timestamp");
    if (t.sec < TIME_MIN || t.sec > TIME_MAX)
        return cel__error_text("timestamp overflow");
    struct cel_value v = cel__timestamp(t.sec, t.nanos);
    if (args[0].kind == CEL_STRING && s.p[s.n - 1] != 'Z') {
        int minutes = two_digits(s.p + s.n - 5) * 60 + two_digits(s.p + s.n - 2);
        v.zone = (int16_t)(s.p[s.n - 6] == '-' ? -minutes : minutes);
    }
    return v;
}

#define ONE CEL__COST_ONE

static const struct cel__overload rows[] = {
    CEL__FUNCTION("bool", ONE, fn_bool, &cel_bool, &cel_bool),
    CEL__FUNCTION("bool", ONE, fn_bool, &cel_bool, &cel_string),
    CEL__FUNCTION("bytes", ONE, fn_same, &cel_bytes, &cel_bytes),
    CEL__FUNCTION("bytes", CEL__COST_TO_BYTES, fn_bytes, &cel_bytes, &cel_string),
    CEL__FUNCTION("double", ONE, fn_double, &cel_double, &cel_double),
    CEL__FUNCTION("double", ONE, fn_double, &cel_double, &cel_int),
    CEL__FUNCTION("double", ONE, fn_double, &cel_double, &cel_string),
    CEL__FUNCTION("double", ONE, fn_double, &cel_double, &cel_uint),
    CEL__FUNCTION("duration", ONE, fn_duration, &cel_duration, &cel_duration),
    CEL__FUNCTION("duration", ONE, fn_duration, &cel_duration, &cel_string),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_int),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_double),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_duration),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_string),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_timestamp),
    CEL__FUNCTION("int", ONE, fn_int, &cel_int, &cel_uint),
    CEL__FUNCTION("string", ONE, fn_same, &cel_string, &cel_string),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_bool),
    CEL__FUNCTION("string", CEL__COST_TO_STRING, fn_string, &cel_string, &cel_bytes),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_double),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_duration),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_int),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_timestamp),
    CEL__FUNCTION("string", ONE, fn_string, &cel_string, &cel_uint),
    CEL__FUNCTION("timestamp", ONE, fn_timestamp, &cel_timestamp, &cel_timestamp),
    CEL__FUNCTION("timestamp", ONE, fn_timestamp, &cel_timestamp, &cel_int),
    CEL__FUNCTION("timestamp", ONE, fn_timestamp, &cel_timestamp, &cel_string),
    CEL__FUNCTION("uint", ONE, fn_uint, &cel_uint, &cel_uint),
    CEL__FUNCTION("uint", ONE, fn_uint, &cel_uint, &cel_double),
    CEL__FUNCTION("uint", ONE, fn_uint, &cel_uint, &cel_int),
    CEL__FUNCTION("uint", ONE, fn_uint, &cel_uint, &cel_string),
};

const struct cel__library cel__lib_convert = { rows, ARRAY_LEN(rows), 0 };
