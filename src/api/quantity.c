/* A text becomes decimal digits times a power of ten, whatever its suffix was; all else is done on
 * digits. Binary suffixes are the one multiplication: it is done in 128 bits, in nanos, because the
 * cap at 2^63-1 makes anything larger the same number. */
#include "api/quantity.h"

#include <assert.h>

#include "base/banned.h"

typedef unsigned __int128 nanos; /* below 2^63 * 10^9 */

enum family { FAMILY_DECIMAL, FAMILY_BINARY, FAMILY_EXPONENT };

struct suffix {
    enum family family;
    int64_t power; /* of ten; of two in the binary family */
};

/* The pieces of a text, as they stand there. */
struct pieces {
    bool negative;
    struct str number;   /* all in front of the suffix, with its sign */
    struct str whole;    /* without leading zeros */
    struct str fraction; /* behind the point */
    struct str suffix;
};

/* digits * 10^exponent; no leading zeros, so zero has no digits. */
struct amount {
    bool negative;
    enum family family;
    int64_t exponent;
    size_t n;
    char digits[QUANTITY_BYTES_MAX + 4];
};

enum {
    NANO = -9,
    MILLI = -3,
    SHORT_DIGITS = 18,        /* what upstream is sure to hold in an int64 */
    BINARY_SHORT_DIGITS = 14, /* the same for a binary number, less its suffix */
    INT64_DIGITS = 19,        /* of 2^63-1 */
    LARGEST_SI = 18,
    SMALLEST_SI = -9 /* E and n */
};

static const nanos nanos_per_one = 1000000000u;
static const nanos nanos_cap = (nanos)INT64_MAX * 1000000000u;

static int wrong_format(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "quantities must match the regular expression "
                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
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

/* Looser than the expression in the message: no digit is asked for, so "m" and "." are zero. */
static bool split(struct str text, struct pieces *ret)
{
    struct str rest = text;
    *ret = (struct pieces){ .negative = text.p[0] == '-' };
    if (text.p[0] == '-' || text.p[0] == '+')
        rest = str_skip(rest, 1);
    ret->whole = take_digits(&rest);
    while (ret->whole.n && ret->whole.p[0] == '0')
        ret->whole = str_skip(ret->whole, 1);
    if (rest.n && rest.p[0] == '.') {
        rest = str_skip(rest, 1);
        ret->fraction = take_digits(&rest);
    }
    ret->number = str_take(text, text.n - rest.n);
    ret->suffix = rest;

    while (rest.n && str_find(STR("eEinumkKMGTP"), rest.p[0]) >= 0)
        rest = str_skip(rest, 1);
    if (rest.n && (rest.p[0] == '-' || rest.p[0] == '+'))
        rest = str_skip(rest, 1);
    (void)take_digits(&rest);
    return !rest.n;
}

/* "e3", "E-3", "e+3". */
static bool read_exponent(struct str text, int64_t *ret)
{
    struct str digits = str_skip(text, 1);
    bool plus = digits.n > 1 && digits.p[0] == '+' && is_digit(digits.p[1]);
    return (text.p[0] == 'e' || text.p[0] == 'E') && str_to_i64(str_skip(digits, plus), ret) &&
           *ret >= -QUANTITY_EXPONENT_MAX;
}

static bool read_suffix(struct str text, struct suffix *ret)
{
    static const char decimal[] = "num kMGTPE", binary[] = "KMGTPE";
    *ret = (struct suffix){ .family = FAMILY_DECIMAL };
    if (!text.n)
        return true;
    const char *place = memchr(decimal, text.p[0], sizeof(decimal) - 1);
    if (text.n == 1 && place) {
        ret->power = 3 * (place - decimal) + NANO;
        return true;
    }
    place = memchr(binary, text.p[0], sizeof(binary) - 1);
    if (text.n == 2 && text.p[1] == 'i' && place) {
        *ret = (struct suffix){ FAMILY_BINARY, 10 * (place - binary + 1) };
        return true;
    }
    ret->family = FAMILY_EXPONENT;
    return read_exponent(text, &ret->power);
}

/* Upstream's fast path: short numbers, which alone may keep the text they came as. */
static bool is_short(const struct pieces *p, struct suffix s)
{
    int64_t digits = (int64_t)(p->whole.n ? p->whole.n : 1);
    if (s.family == FAMILY_BINARY)
        return !p->fraction.n && digits + s.power * 3 / 10 <= BINARY_SHORT_DIGITS;
    int64_t fraction = (int64_t)p->fraction.n;
    return digits + fraction <= SHORT_DIGITS && s.power - fraction >= NANO;
}

static bool ends_in_thousands(struct str whole, struct str fraction)
{
    size_t zeros = 0;
    while (zeros < fraction.n && fraction.p[fraction.n - 1 - zeros] == '0')
        zeros++;
    if (zeros < fraction.n)
        return zeros >= 3;
    size_t more = 0;
    while (more < whole.n && whole.p[whole.n - 1 - more] == '0')
        more++;
    return zeros + more >= 3;
}

/* Whether upstream takes a short text for canonical. It looks at less than it should. */
static bool keeps_text(const struct pieces *p, struct suffix s)
{
    if (!is_short(p, s) || !p->whole.n)
        return false;
    if (s.family == FAMILY_BINARY) {
        unsigned last = 0; /* the last three digits tell the number modulo eight */
        for (size_t i = p->whole.n < 3 ? 0 : p->whole.n - 3; i < p->whole.n; i++)
            last = 10 * last + (unsigned)(p->whole.p[i] - '0');
        bool is_plain = p->whole.n == p->number.n && p->whole.n <= 3; /* "512": canonical anyway */
        return last % 8 || is_plain;
    }
    return (s.power - (int64_t)p->fraction.n) % 3 == 0 && !ends_in_thousands(p->whole, p->fraction);
}

static void drop_trailing_zeros(struct amount *m)
{
    while (m->n && m->digits[m->n - 1] == '0') {
        m->n--;
        m->exponent++;
    }
    if (!m->n)
        m->exponent = 0;
}

/* Adds one to the last digit. */
static void count_up(struct amount *m)
{
    size_t i = m->n;
    while (i && m->digits[i - 1] == '9')
        m->digits[--i] = '0';
    if (i) {
        m->digits[i - 1]++;
        return;
    }
    memmove(m->digits + 1, m->digits, m->n++);
    m->digits[0] = '1';
}

/* Rounds up, so that a small amount never becomes zero. */
static void round_up_to(struct amount *m, int64_t exponent)
{
    if (!m->n || m->exponent >= exponent)
        return;
    uint64_t surplus = (uint64_t)(exponent - m->exponent);
    bool lost = false;
    for (uint64_t i = 0; i < surplus && i < m->n; i++)
        lost |= m->digits[m->n - 1 - i] != '0';
    m->n -= surplus < m->n ? surplus : m->n;
    m->exponent = exponent;
    if (lost)
        count_up(m);
}

static void read_decimal(const struct pieces *p, struct suffix s, struct amount *ret)
{
    struct str fraction = p->fraction;
    ret->exponent = s.power - (int64_t)fraction.n;
    if (!p->whole.n)
        while (fraction.n && fraction.p[0] == '0')
            fraction = str_skip(fraction, 1);
    if (p->whole.n)
        memcpy(ret->digits, p->whole.p, p->whole.n);
    if (fraction.n)
        memcpy(ret->digits + p->whole.n, fraction.p, fraction.n);
    ret->n = p->whole.n + fraction.n;
    round_up_to(ret, NANO);
}

/* The fraction times `unit`, rounded up: by tenths, from the last digit to the first. */
static nanos fraction_of(struct str fraction, nanos unit)
{
    nanos sum = 0;
    bool lost = false;
    for (size_t i = fraction.n; i-- > 0;) {
        sum += (nanos)(fraction.p[i] - '0') * unit;
        lost |= sum % 10 != 0;
        sum /= 10;
    }
    return sum + lost;
}

static void set_nanos(struct amount *m, nanos sum)
{
    char digits[40];
    size_t first = sizeof(digits);
    for (; sum; sum /= 10)
        digits[--first] = (char)('0' + (int)(sum % 10));
    m->exponent = NANO;
    m->n = sizeof(digits) - first;
    memcpy(m->digits, digits + first, m->n);
}

static void read_binary(const struct pieces *p, struct suffix s, struct amount *ret)
{
    nanos unit = ((nanos)1 << s.power) * nanos_per_one, sum = nanos_cap, whole = 0;
    if (p->whole.n <= INT64_DIGITS) {
        for (size_t i = 0; i < p->whole.n; i++)
            whole = 10 * whole + (nanos)(p->whole.p[i] - '0');
        if (whole <= nanos_cap / unit)
            sum = whole * unit + fraction_of(p->fraction, unit);
    }
    if (sum > nanos_cap)
        sum = nanos_cap;
    if (sum < nanos_per_one)
        ret->family = FAMILY_DECIMAL;
    set_nanos(ret, sum);
}

static void read_amount(const struct pieces *p, struct suffix s, struct amount *ret)
{
    ret->negative = p->negative;
    ret->family = s.family;
    ret->n = 0;
    if (s.family == FAMILY_BINARY)
        read_binary(p, s, ret);
    else
        read_decimal(p, s, ret);
    drop_trailing_zeros(ret);
}

static bool has_digit(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_digit(s.p[i]))
            return true;
    return false;
}

static int parse(struct str text, struct pieces *ret, struct suffix *ret_suffix, struct err *err)
{
    if (!text.n || text.n > QUANTITY_BYTES_MAX || !split(text, ret))
        return wrong_format(err);
    /* With all digits counted, so that the exponent that is written can be read again. */
    if (!read_suffix(ret->suffix, ret_suffix) ||
        ret_suffix->power > QUANTITY_EXPONENT_MAX - (int64_t)ret->number.n)
        return err_set(err, ERR_BAD_REQUEST, "unable to parse quantity's suffix");
    if (!is_short(ret, *ret_suffix) && !has_digit(ret->number))
        return err_set(err, ERR_BAD_REQUEST, "unable to parse numeric part of quantity");
    return 0;
}

/* The amount as a whole number below 2^63, or false. */
static bool whole_number(const struct amount *m, uint64_t *ret)
{
    if (m->exponent < 0 || m->n + (uint64_t)m->exponent > INT64_DIGITS)
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum = 10 * sum + (uint64_t)(m->digits[i] - '0');
    for (int64_t i = 0; i < m->exponent; i++)
        sum *= 10;
    *ret = sum;
    return true;
}

static struct str write_binary(struct arena *a, bool negative, uint64_t number)
{
    static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    size_t times = 0;
    for (; number % 1024 == 0; number /= 1024)
        times++;
    return arena_printf(a, "%s%lu%s", negative ? "-" : "", (unsigned long)number, suffixes[times]);
}

static struct str write_decimal(struct arena *a, struct amount *m)
{
    static const char *const suffixes[] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    while (m->exponent % 3) {
        m->digits[m->n++] = '0';
        m->exponent--;
    }
    const char *sign = m->negative ? "-" : "";
    if (m->family != FAMILY_EXPONENT && m->exponent >= SMALLEST_SI && m->exponent <= LARGEST_SI)
        return arena_printf(a, "%s%.*s%s", sign, (int)m->n, m->digits,
                            suffixes[(m->exponent - SMALLEST_SI) / 3]);
    if (!m->exponent)
        return arena_printf(a, "%s%.*s", sign, (int)m->n, m->digits);
    return arena_printf(a, "%s%.*se%ld", sign, (int)m->n, m->digits, (long)m->exponent);
}

static struct str write_amount(struct arena *a, struct amount *m)
{
    uint64_t number;
    if (!m->n)
        return STR("0");
    if (m->family == FAMILY_BINARY && whole_number(m, &number) && number % 1024 == 0)
        return write_binary(a, m->negative, number);
    if (m->family == FAMILY_BINARY)
        m->family = FAMILY_DECIMAL; /* no binary suffix fits: upstream stores plain digits, and
                                     * they come back as decimal: 62.5Ki, 64000, 64k */
    return write_decimal(a, m);
}

int quantity_canonical(struct arena *a, struct str text, struct str *ret, struct err *err)
{
    struct pieces p = { 0 };
    struct suffix s = { 0 };
    int r = parse(text, &p, &s, err);
    if (r < 0)
        return r;
    if (keeps_text(&p, s)) {
        *ret = text;
        return 0;
    }
    struct amount m;
    read_amount(&p, s, &m);
    *ret = write_amount(a, &m);
    if (str_eq(*ret, text))
        *ret = text;
    return 0;
}

struct str quantity_round_milli(struct arena *a, struct str text)
{
    struct pieces p = { 0 };
    struct suffix s = { 0 };
    if (parse(text, &p, &s, NULL) < 0 || s.family == FAMILY_BINARY ||
        s.power - (int64_t)p.fraction.n >= MILLI)
        return text;
    struct amount m;
    read_amount(&p, s, &m);
    round_up_to(&m, MILLI);
    drop_trailing_zeros(&m);
    return m.n ? write_decimal(a, &m) : STR("0");
}

static void read_promised(struct str text, struct amount *ret)
{
    struct pieces p = { 0 };
    struct suffix s = { 0 };
    int r = parse(text, &p, &s, NULL);
    assert(r == 0);
    read_amount(&p, s, ret);
}

static int compare_digits(const struct amount *x, const struct amount *y)
{
    int64_t top_x = (int64_t)x->n + x->exponent, top_y = (int64_t)y->n + y->exponent;
    if (top_x != top_y)
        return top_x < top_y ? -1 : 1;
    int c = str_cmp((struct str){ x->digits, x->n }, (struct str){ y->digits, y->n });
    return (c > 0) - (c < 0);
}

static int sign_of(const struct amount *m)
{
    return !m->n ? 0 : m->negative ? -1 : 1;
}

int quantity_cmp(struct str a, struct str b)
{
    struct amount x, y;
    read_promised(a, &x);
    read_promised(b, &y);
    int sx = sign_of(&x), sy = sign_of(&y);
    if (sx != sy)
        return sx < sy ? -1 : 1;
    return sx * (sx ? compare_digits(&x, &y) : 0);
}

/* In nanos, at most the cap. */
static nanos capped_nanos(const struct amount *m)
{
    nanos sum = 0;
    if ((int64_t)m->n + m->exponent > INT64_DIGITS)
        return nanos_cap;
    for (size_t i = 0; i < m->n; i++)
        sum = 10 * sum + (nanos)(m->digits[i] - '0');
    for (int64_t i = m->exponent; i > NANO; i--)
        sum *= 10;
    return sum < nanos_cap ? sum : nanos_cap;
}

struct str quantity_add(struct arena *a, struct str text, struct str more)
{
    struct amount x, y;
    read_promised(text, &x);
    read_promised(more, &y);
    if (y.negative || x.negative || !y.n)
        return text;
    if (!x.n)
        return more;
    nanos sum = capped_nanos(&x) + capped_nanos(&y);
    set_nanos(&x, sum < nanos_cap ? sum : nanos_cap);
    drop_trailing_zeros(&x);
    return write_amount(a, &x);
}

struct str quantity_subtract(struct arena *a, struct str text, struct str less)
{
    struct amount x, y;
    read_promised(text, &x);
    read_promised(less, &y);
    if (y.negative || !y.n)
        return text;
    nanos has = x.negative ? 0 : capped_nanos(&x), gone = capped_nanos(&y);
    if (has <= gone)
        return STR("0");
    set_nanos(&x, has - gone);
    drop_trailing_zeros(&x);
    return write_amount(a, &x);
}

int quantity_sign(struct str text)
{
    struct amount m;
    read_promised(text, &m);
    return sign_of(&m);
}

bool quantity_units(struct str text, bool milli, int64_t *ret)
{
    struct amount m;
    uint64_t n;
    read_promised(text, &m);
    round_up_to(&m, milli ? MILLI : 0);
    if (m.n)
        m.exponent -= milli ? MILLI : 0;
    if (!whole_number(&m, &n) || n > INT64_MAX)
        return false;
    *ret = m.negative ? -(int64_t)n : (int64_t)n;
    return true;
}

bool quantity_is_whole(struct str text)
{
    struct amount m;
    read_promised(text, &m);
    return !m.n || m.exponent >= 0; /* digits do not end in zeros */
}

double quantity_double(struct str text)
{
    struct amount m;
    read_promised(text, &m);
    double value = 0;
    for (size_t i = 0; i < m.n; i++)
        value = value * 10 + (m.digits[i] - '0');
    for (int64_t i = m.exponent; i > 0 && value < 1e300 && value > 0; i--)
        value *= 10;
    for (int64_t i = m.exponent; i < 0 && value > 0; i++)
        value /= 10;
    return m.negative ? -value : value;
}
