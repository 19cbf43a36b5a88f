#include "controllers/common/go_dump_quantity.h"

#include "base/idiom.h"
#include "base/banned.h"

/* Upstream's parser has a quick way for numbers that surely fit an int64_t and a slow one for all
 * others. Which one it took can be seen in the dump, so both are told apart as it does. */
enum { INT64_DIGITS = 18, NANO = -9 };

struct suffix {
    struct str text;
    int exponent;
    bool is_binary;
};

/* clang-format off */
static const struct suffix suffixes[] = {
    { STR(""), 0, false },    { STR("n"), -9, false },  { STR("u"), -6, false },
    { STR("m"), -3, false },  { STR("k"), 3, false },   { STR("M"), 6, false },
    { STR("G"), 9, false },   { STR("T"), 12, false },  { STR("P"), 15, false },
    { STR("E"), 18, false },  { STR("Ki"), 10, true },  { STR("Mi"), 20, true },
    { STR("Gi"), 30, true },  { STR("Ti"), 40, true },  { STR("Pi"), 50, true },
    { STR("Ei"), 60, true },
};
/* clang-format on */

/* A text in its parts. */
struct number {
    bool is_negative, is_binary, has_power; /* has_power: "1e3" */
    struct str whole, fraction;             /* digits */
    int exponent;
};

/* What the parser made of it. */
struct amount {
    int64_t value;
    int scale;
    bool keeps_text;
};

static size_t count_digits(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

static void read_suffix(struct str s, struct number *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_eq(s, suffixes[i].text)) {
            ret->exponent = suffixes[i].exponent;
            ret->is_binary = suffixes[i].is_binary;
            return;
        }
    int64_t power = 0;
    struct str digits = str_skip(s, s.n > 1 && s.p[1] == '+' ? 2 : 1);
    ret->has_power = str_to_i64(digits, &power);
    ret->exponent = (int)power;
}

static struct number read_number(struct str s)
{
    struct number n = { 0 };
    n.is_negative = str_starts(s, STR("-"));
    s = str_skip(s, n.is_negative || str_starts(s, STR("+")) ? 1 : 0);
    while (s.n && s.p[0] == '0')
        s = str_skip(s, 1);
    size_t digits = count_digits(s);
    n.whole = digits ? str_take(s, digits) : STR("0");
    s = str_skip(s, digits);
    if (str_starts(s, STR("."))) {
        s = str_skip(s, 1);
        n.fraction = str_take(s, count_digits(s));
        s = str_skip(s, n.fraction.n);
    }
    read_suffix(s, &n);
    return n;
}

static unsigned __int128 digits_of(const struct number *n)
{
    unsigned __int128 all = 0;
    for (size_t i = 0; i < n->whole.n; i++)
        all = all * 10 + (unsigned)(n->whole.p[i] - '0');
    for (size_t i = 0; i < n->fraction.n; i++)
        all = all * 10 + (unsigned)(n->fraction.p[i] - '0');
    return all;
}

static int precision_of(const struct number *n)
{
    int digits = (int)(n->whole.n + n->fraction.n);
    if (!n->is_binary)
        return INT64_DIGITS - digits;
    if (n->fraction.n)
        return -1;
    return 15 - digits - (int)((float)n->exponent * 3 / 10) - 1;
}

static bool ends_with_zeros(const struct number *n)
{
    struct str tail = n->fraction.n >= 3 ? n->fraction : n->whole;
    return n->fraction.n ? n->fraction.n >= 3 && str_ends(tail, STR("000"))
                         : str_ends(tail, STR("000"));
}

/* The quick way; false: the slow one was needed. */
static bool read_amount(const struct number *n, struct amount *ret)
{
    if (precision_of(n) < 0)
        return false;
    int scale = (n->is_binary ? 0 : n->exponent) - (int)n->fraction.n;
    if (scale < NANO)
        return false;
    int64_t digits = (int64_t)digits_of(n), value = digits;
    if (n->is_binary && __builtin_mul_overflow(digits, INT64_C(1) << n->exponent, &value))
        return false;
    ret->keeps_text = n->is_binary ? n->exponent % 10 == 0 && (digits & 7)
                                   : scale % 3 == 0 && !ends_with_zeros(n) && n->whole.p[0] != '0';
    ret->value = n->is_negative ? -value : value;
    ret->scale = scale;
    return true;
}

static void dump_words(struct buf *out, unsigned __int128 u)
{
    const uint64_t low = (uint64_t)u, high = (uint64_t)(u >> 64);
    if (!u)
        buf_printf(out, "<nil>");
    else if (high)
        buf_printf(out, "[%llu %llu]", (unsigned long long)low, (unsigned long long)high);
    else
        buf_printf(out, "[%llu]", (unsigned long long)low);
}

/* Upstream's decimal of any size, in nanos after rounding; here of 128 bits. */
static void dump_decimal(struct buf *out, const struct number *n)
{
    int scale = (int)n->fraction.n - (n->is_binary ? 0 : n->exponent);
    unsigned __int128 u = digits_of(n);
    if (n->is_binary)
        u <<= n->exponent;
    for (; scale < -NANO && u; scale++)
        u *= 10;
    for (; scale > -NANO; scale--)
        u = u / 10 + (u % 10 != 0);
    if (n->is_binary && u / 1000000000 > INT64_MAX) {
        u = INT64_MAX;
        scale = 0;
    }
    buf_printf(out, "(*inf.Dec){unscaled:(big.Int){neg:(bool)%s abs:(big.nat)",
               n->is_negative && u ? "true" : "false");
    dump_words(out, u);
    buf_printf(out, "} scale:(inf.Scale)%d}", scale);
}

void go_dump_quantity(struct buf *out, struct str text)
{
    struct number n = read_number(text);
    struct amount i = { 0 };
    const char *format = n.is_binary ? "BinarySI" : n.has_power ? "DecimalExponent" : "DecimalSI";
    bool is_zero = str_eq(text, STR("0"));
    bool is_quick = !text.n || is_zero || read_amount(&n, &i);
    buf_printf(out,
               "{i:(resource.int64Amount){value:(int64)%lld scale:(resource.Scale)%d} "
               "d:(resource.infDecAmount){Dec:",
               (long long)i.value, i.scale);
    if (is_quick)
        buf_printf(out, "(*inf.Dec)<nil>");
    else
        dump_decimal(out, &n);
    struct str kept = is_zero || i.keeps_text ? text : STR("");
    buf_printf(out, "} s:(string)" STR_FMT " Format:(resource.Format)%s}", STR_ARG(kept),
               text.n ? format : "");
}
