/* quantity() and its arithmetic (Kubernetes). A quantity is its text, as api/quantity.h has it;
 * sums and differences that may be negative are made here, in billionths. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/quantity.h"

#include "base/banned.h"

typedef __int128 nanos;

#define NANOS_MAX ((nanos)1 << 100) /* far beyond what a quantity in an API object may be */

static struct str text_of(const struct cel_value *v)
{
    return *(const struct str *)v->opaque;
}

static struct cel_value of_text(struct arena *a, struct str text)
{
    return cel__opaque(&cel_quantity, arena_dup(a, &text, sizeof(text)));
}

int cel_of_quantity(struct arena *a, struct str text, struct cel_value *ret, struct err *err)
{
    struct str canonical;
    int r = quantity_canonical(a, text, &canonical, err);
    if (r < 0)
        return r;
    *ret = of_text(a, arena_str(a, text));
    return 0;
}

/* ---- Arithmetic ---- */

enum family { DECIMAL, BINARY, EXPONENT };

struct suffix {
    enum family family;
    int power; /* of 10, or of 2 */
};

static bool read_suffix(struct str s, struct suffix *ret)
{
    static const struct {
        const char *text;
        struct suffix suffix;
    } known[] = {
        { "n", { DECIMAL, -9 } }, { "u", { DECIMAL, -6 } }, { "m", { DECIMAL, -3 } },
        { "", { DECIMAL, 0 } },   { "k", { DECIMAL, 3 } },  { "M", { DECIMAL, 6 } },
        { "G", { DECIMAL, 9 } },  { "T", { DECIMAL, 12 } }, { "P", { DECIMAL, 15 } },
        { "E", { DECIMAL, 18 } }, { "Ki", { BINARY, 10 } }, { "Mi", { BINARY, 20 } },
        { "Gi", { BINARY, 30 } }, { "Ti", { BINARY, 40 } }, { "Pi", { BINARY, 50 } },
        { "Ei", { BINARY, 60 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(s, str_of(known[i].text))) {
            *ret = known[i].suffix;
            return true;
        }
    int64_t power;
    struct str digits = str_skip(s, 1);
    digits = str_skip(digits, str_starts(digits, STR("+")));
    if (!s.n || (s.p[0] | 0x20) != 'e' || !str_to_i64(digits, &power) || power < -9 || power > 60)
        return false;
    *ret = (struct suffix){ EXPONENT, (int)power };
    return true;
}

static bool scale(nanos *v, int times, int by)
{
    for (; times > 0; times--) {
        *v *= by;
        if (*v > NANOS_MAX || *v < -NANOS_MAX)
            return false;
    }
    return true;
}

/* Whole units only up to the dot; the fraction is finer than a billionth at most by rounding. */
static bool to_nanos(struct str text, nanos *ret, enum family *ret_family)
{
    bool negative = str_starts(text, STR("-")), seen_dot = false;
    size_t i = negative || str_starts(text, STR("+"));
    int power = 9;
    struct suffix suffix;
    nanos v = 0;
    for (; i < text.n && (text.p[i] == '.' || (text.p[i] >= '0' && text.p[i] <= '9')); i++) {
        if (text.p[i] == '.') {
            seen_dot = true;
            continue;
        }
        v = v * 10 + (text.p[i] - '0');
        power -= seen_dot;
        if (v > NANOS_MAX)
            return false;
    }
    if (!read_suffix(str_skip(text, i), &suffix))
        return false;
    if (suffix.family == BINARY ? !scale(&v, suffix.power, 2) : (power += suffix.power, false))
        return false;
    if (!scale(&v, power, 10))
        return false;
    for (; power < 0; power++)
        v = v / 10 + (v % 10 != 0);
    *ret = negative ? -v : v;
    *ret_family = suffix.family;
    return true;
}

static struct str decimal_text(struct arena *a, nanos v, const char *suffix)
{
    char digits[48];
    size_t n = sizeof(digits);
    bool negative = v < 0;
    if (negative)
        v = -v;
    do
        digits[--n] = (char)('0' + (int)(v % 10));
    while (v /= 10);
    if (negative)
        digits[--n] = '-';
    return arena_printf(a, "%.*s%s", (int)(sizeof(digits) - n), digits + n, suffix);
}

static struct str binary_text(struct arena *a, nanos v)
{
    static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    size_t i = 0;
    for (; v && i < 6 && v % 1024 == 0; i++)
        v /= 1024;
    return decimal_text(a, v, suffixes[i]);
}

static struct cel_value to_quantity(struct cel__eval *ev, nanos v, enum family family)
{
    const nanos unit = 1000000000;
    struct str text, canonical;
    bool small = v > -1024 * unit && v < 1024 * unit;
    if (family == BINARY && !small)
        text = binary_text(ev->arena, v / unit + (v % unit > 0) - (v % unit < 0));
    else if (v % unit == 0)
        text = decimal_text(ev->arena, v / unit, family == EXPONENT ? "e0" : "");
    else
        text = decimal_text(ev->arena, v, family == EXPONENT ? "e-9" : "n");
    if (quantity_canonical(ev->arena, text, &canonical, NULL) < 0)
        canonical = text;
    return of_text(ev->arena, canonical);
}

static struct cel_value sum(struct cel__eval *ev, const struct cel_value *args, int sign)
{
    nanos x, y;
    enum family family, other = EXPONENT;
    bool good = to_nanos(text_of(&args[0]), &x, &family);
    if (args[1].kind == CEL_INT)
        y = (nanos)args[1].i * 1000000000;
    else
        good = good && to_nanos(text_of(&args[1]), &y, &other);
    if (!good)
        return cel__error_text("quantity is too large");
    return to_quantity(ev, x + sign * y, x ? family : other);
}

/* ---- Functions ---- */

#define FUNCTION(name) \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n)

FUNCTION(fn_quantity)
{
    (void)n;
    struct err err = ERR_INIT(ev->arena);
    struct cel_value v;
    if (cel_of_quantity(ev->arena, cel__str(&args[0]), &v, &err) < 0)
        return cel_of_error(err.msg);
    return v;
}

FUNCTION(fn_is_quantity)
{
    (void)n;
    struct str canonical;
    return cel_of_bool(quantity_canonical(ev->arena, cel__str(&args[0]), &canonical, NULL) == 0);
}

FUNCTION(fn_sign)
{
    (void)ev;
    (void)n;
    return cel_of_int(quantity_sign(text_of(&args[0])));
}

FUNCTION(fn_compare)
{
    (void)ev;
    (void)n;
    return cel_of_int(quantity_cmp(text_of(&args[0]), text_of(&args[1])));
}

FUNCTION(fn_greater)
{
    (void)ev;
    (void)n;
    return cel_of_bool(quantity_cmp(text_of(&args[0]), text_of(&args[1])) > 0);
}

FUNCTION(fn_less)
{
    (void)ev;
    (void)n;
    return cel_of_bool(quantity_cmp(text_of(&args[0]), text_of(&args[1])) < 0);
}

FUNCTION(fn_float)
{
    (void)ev;
    (void)n;
    return cel_of_double(quantity_double(text_of(&args[0])));
}

/* A number with a fraction, even one of zeros, or with a fine suffix is none to upstream. */
static bool to_integer(struct str text, int64_t *ret)
{
    if (str_find(text, '.') >= 0 || str_ends(text, STR("n")) || str_ends(text, STR("u")) ||
        str_ends(text, STR("m")))
        return false;
    return quantity_is_whole(text) && quantity_units(text, false, ret);
}

FUNCTION(fn_is_integer)
{
    (void)ev;
    (void)n;
    int64_t i;
    return cel_of_bool(to_integer(text_of(&args[0]), &i));
}

FUNCTION(fn_integer)
{
    (void)ev;
    (void)n;
    int64_t i;
    return to_integer(text_of(&args[0]), &i) ? cel_of_int(i)
                                             : cel__error_text("cannot convert value to integer");
}

FUNCTION(fn_add)
{
    (void)n;
    return sum(ev, args, 1);
}

FUNCTION(fn_sub)
{
    (void)n;
    return sum(ev, args, -1);
}

#define ONE      CEL__COST_ONE
#define QUANTITY &cel_quantity

static const struct cel__overload rows[] = {
    CEL__FUNCTION("quantity", CEL__COST_PARSE, fn_quantity, QUANTITY, &cel_string),
    CEL__FUNCTION("isQuantity", CEL__COST_PARSE, fn_is_quantity, &cel_bool, &cel_string),
    CEL__FUNCTION("sign", ONE, fn_sign, &cel_int, QUANTITY),
    CEL__METHOD("isGreaterThan", ONE, fn_greater, &cel_bool, QUANTITY, QUANTITY),
    CEL__METHOD("isLessThan", ONE, fn_less, &cel_bool, QUANTITY, QUANTITY),
    CEL__METHOD("compareTo", ONE, fn_compare, &cel_int, QUANTITY, QUANTITY),
    CEL__METHOD("asApproximateFloat", ONE, fn_float, &cel_double, QUANTITY),
    CEL__METHOD("asInteger", ONE, fn_integer, &cel_int, QUANTITY),
    CEL__METHOD("isInteger", ONE, fn_is_integer, &cel_bool, QUANTITY),
    CEL__METHOD("add", ONE, fn_add, QUANTITY, QUANTITY, QUANTITY),
    CEL__METHOD("add", ONE, fn_add, QUANTITY, QUANTITY, &cel_int),
    CEL__METHOD("sub", ONE, fn_sub, QUANTITY, QUANTITY, QUANTITY),
    CEL__METHOD("sub", ONE, fn_sub, QUANTITY, QUANTITY, &cel_int),
};

const struct cel__library cel__lib_quantity = { rows, ARRAY_LEN(rows), 0 };

bool cel__quantity_equal(const void *x, const void *y)
{
    return quantity_cmp(*(const struct str *)x, *(const struct str *)y) == 0;
}

struct str cel__quantity_text(const struct cel_value *v)
{
    return text_of(v);
}
