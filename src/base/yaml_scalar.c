#include "base/yaml_scalar.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

struct word {
    const char *text;
    enum yaml_kind kind;
    bool is_true;
};

static const struct word words[] = {
    { "y", YAML_KIND_BOOL, true },      { "Y", YAML_KIND_BOOL, true },
    { "yes", YAML_KIND_BOOL, true },    { "Yes", YAML_KIND_BOOL, true },
    { "YES", YAML_KIND_BOOL, true },    { "true", YAML_KIND_BOOL, true },
    { "True", YAML_KIND_BOOL, true },   { "TRUE", YAML_KIND_BOOL, true },
    { "on", YAML_KIND_BOOL, true },     { "On", YAML_KIND_BOOL, true },
    { "ON", YAML_KIND_BOOL, true },     { "n", YAML_KIND_BOOL, false },
    { "N", YAML_KIND_BOOL, false },     { "no", YAML_KIND_BOOL, false },
    { "No", YAML_KIND_BOOL, false },    { "NO", YAML_KIND_BOOL, false },
    { "false", YAML_KIND_BOOL, false }, { "False", YAML_KIND_BOOL, false },
    { "FALSE", YAML_KIND_BOOL, false }, { "off", YAML_KIND_BOOL, false },
    { "Off", YAML_KIND_BOOL, false },   { "OFF", YAML_KIND_BOOL, false },
    { "~", YAML_KIND_NULL, false },     { "null", YAML_KIND_NULL, false },
    { "Null", YAML_KIND_NULL, false },  { "NULL", YAML_KIND_NULL, false },
    { ".nan", YAML_KIND_NOT_FINITE },   { ".NaN", YAML_KIND_NOT_FINITE },
    { ".NAN", YAML_KIND_NOT_FINITE },   { ".inf", YAML_KIND_NOT_FINITE },
    { ".Inf", YAML_KIND_NOT_FINITE },   { ".INF", YAML_KIND_NOT_FINITE },
    { "+.inf", YAML_KIND_NOT_FINITE },  { "+.Inf", YAML_KIND_NOT_FINITE },
    { "+.INF", YAML_KIND_NOT_FINITE },  { "-.inf", YAML_KIND_NOT_FINITE },
    { "-.Inf", YAML_KIND_NOT_FINITE },  { "-.INF", YAML_KIND_NOT_FINITE },
};

enum { WORD_MAX = 5, NUMBER_NEAR = 64 };

static const struct word *find_word(struct str text)
{
    for (size_t i = 0; text.n <= WORD_MAX && i < ARRAY_LEN(words); i++)
        if (str_eq(text, str_of(words[i].text)))
            return &words[i];
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(struct str s)
{
    size_t n = 0;
    while (n < s.n && is_digit(s.p[n]))
        n++;
    return n;
}

/* One or two digits from the front of `*s`, in a range. */
static bool eat_field(struct str *s, unsigned least, unsigned most, unsigned *ret)
{
    size_t n = count_digits(str_take(*s, 2));
    if (n == 0)
        return false;
    unsigned v = (unsigned)(s->p[0] - '0');
    if (n == 2)
        v = v * 10 + (unsigned)(s->p[1] - '0');
    *s = str_skip(*s, n);
    *ret = v;
    return v >= least && v <= most;
}

static bool eat(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static bool eat_zone(struct str *s)
{
    unsigned hours, minutes;
    if (eat(s, 'Z'))
        return true;
    if (!eat(s, '+') && !eat(s, '-'))
        return false;
    return count_digits(str_take(*s, 2)) == 2 && eat_field(s, 0, 24, &hours) && eat(s, ':') &&
           count_digits(str_take(*s, 2)) == 2 && eat_field(s, 0, 60, &minutes);
}

static void eat_fraction(struct str *s)
{
    if (s->n >= 2 && (s->p[0] == '.' || s->p[0] == ',') && is_digit(s->p[1])) {
        *s = str_skip(*s, 1);
        *s = str_skip(*s, count_digits(*s));
    }
}

/* The forms that go-yaml hands to time.Parse: a date; a date, T, time and zone; a date, space and
 * time. */
static bool is_timestamp(struct str s)
{
    if (count_digits(s) != 4)
        return false;
    unsigned year = 0, month, day, v;
    for (size_t i = 0; i < 4; i++)
        year = year * 10 + (unsigned)(s.p[i] - '0');
    s = str_skip(s, 4);
    if (!eat(&s, '-') || !eat_field(&s, 1, 12, &month) || !eat(&s, '-') ||
        !eat_field(&s, 1, days_of_month(year, month), &day))
        return false;
    if (s.n == 0)
        return true;
    bool with_zone = eat(&s, 'T') || eat(&s, 't');
    if (!with_zone && !eat(&s, ' '))
        return false;
    if (!eat_field(&s, 0, 23, &v) || !eat(&s, ':') || !eat_field(&s, 0, 59, &v) || !eat(&s, ':') ||
        !eat_field(&s, 0, 59, &v))
        return false;
    eat_fraction(&s);
    return (!with_zone || eat_zone(&s)) && s.n == 0;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool read_base(struct str digits, unsigned base, uint64_t *ret)
{
    uint64_t u = 0;
    for (size_t i = 0; i < digits.n; i++) {
        int d = digit_value(digits.p[i]);
        if ((unsigned)d >= base || __builtin_mul_overflow(u, base, &u) ||
            __builtin_add_overflow(u, (unsigned)d, &u))
            return false;
    }
    *ret = u;
    return digits.n > 0;
}

static unsigned base_of(struct str digits)
{
    if (digits.n < 2 || digits.p[0] != '0')
        return 10;
    if (digits.n >= 3) {
        char c = (char)(digits.p[1] | 0x20);
        if (c == 'x')
            return 16;
        if (c == 'b')
            return 2;
        if (c == 'o')
            return 8 + 1000; /* octal with a prefix */
    }
    return 8;
}

/* An integer in any base, sign included. Decimal text that is JSON already is kept as it is. */
static bool read_int(struct arena *a, struct str text, struct value *ret)
{
    bool signed_text = text.p[0] == '-' || text.p[0] == '+';
    bool negative = text.p[0] == '-';
    struct str digits = str_skip(text, signed_text);
    unsigned base = base_of(digits);
    uint64_t u;
    if (base == 10) {
        if (digits.n == 0 || count_digits(digits) != digits.n || !read_base(digits, 10, &u))
            return false;
        if (signed_text && u > (uint64_t)INT64_MAX + negative)
            return false;
        if (ret)
            *ret = value_number(negative ? text : digits);
        return true;
    }
    bool prefixed = base != 8;
    if (!read_base(str_skip(digits, prefixed ? 2 : 1), base > 16 ? 8 : base, &u))
        return false;
    if (u <= (uint64_t)INT64_MAX + negative) {
        if (ret)
            *ret = value_int(negative ? (int64_t)(0 - u) : (int64_t)u);
        return true;
    }
    if (signed_text)
        return false;
    if (ret)
        *ret = value_number(arena_printf(a, "%llu", (unsigned long long)u));
    return true;
}

/* Splits [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? and writes it as JSON number text. */
static bool write_float(struct buf *out, struct str s)
{
    bool negative = eat(&s, '-');
    if (!negative)
        (void)eat(&s, '+');
    struct str whole = str_take(s, count_digits(s));
    s = str_skip(s, whole.n);
    struct str fraction = STR("");
    bool has_point = eat(&s, '.');
    if (has_point) {
        fraction = str_take(s, count_digits(s));
        s = str_skip(s, fraction.n);
    }
    if (whole.n == 0 && fraction.n == 0)
        return false;
    struct str exponent = s;
    if (s.n) {
        if (!eat(&s, 'e') && !eat(&s, 'E'))
            return false;
        if (!eat(&s, '-'))
            (void)eat(&s, '+');
        if (s.n == 0 || count_digits(s) != s.n)
            return false;
    }
    while (whole.n > 1 && whole.p[0] == '0')
        whole = str_skip(whole, 1);
    if (negative)
        buf_byte(out, '-');
    buf_str_add(out, whole.n ? whole : STR("0"));
    if (fraction.n) {
        buf_byte(out, '.');
        buf_str_add(out, fraction);
    }
    buf_str_add(out, exponent);
    return true;
}

static bool read_float(struct arena *a, struct str text, struct value *ret)
{
    autobuf out = { 0 };
    if (!write_float(&out, text))
        return false;
    struct value v = value_number(buf_str(&out));
    double d;
    /* What a double cannot hold is a string to go-yaml. */
    if (!value_to_double(&v, &d) || isinf(d))
        return false;
    if (ret)
        *ret = v.type == VALUE_INT ? v : value_number(arena_str(a, buf_str(&out)));
    return true;
}

static enum yaml_kind read_number(struct arena *a, struct str text, struct value *ret)
{
    autobuf bare = { 0 };
    struct str plain = text;
    if (text.p[0] != '.' && str_find(text, '_') >= 0) {
        for (size_t i = 0; i < text.n; i++)
            if (text.p[i] != '_')
                buf_byte(&bare, text.p[i]);
        plain = buf_str(&bare);
        if (ret)
            plain = arena_str(a, plain); /* the value may point to it */
    }
    assert(plain.n); /* it starts with a digit or a sign */
    if (text.p[0] != '.' && read_int(a, plain, ret))
        return YAML_KIND_INT;
    return read_float(a, plain, ret) ? YAML_KIND_FLOAT : YAML_KIND_STR;
}

/* How a number that is none is spelled when it is a key. */
static struct str spell_not_finite(bool is_nan, bool is_negative)
{
    return is_nan ? STR(".nan") : is_negative ? STR("-.inf") : STR(".inf");
}

static enum yaml_kind resolve_word(const struct word *word, struct value *ret)
{
    if (ret && word->kind == YAML_KIND_NOT_FINITE)
        *ret = value_string(spell_not_finite((word->text[1] | 0x20) == 'n', word->text[0] == '-'));
    else if (ret)
        *ret = word->kind == YAML_KIND_BOOL ? value_bool(word->is_true) : value_null();
    return word->kind;
}

enum yaml_kind yaml_resolve(struct arena *a, struct str text, struct value *ret)
{
    static const struct word empty = { "", YAML_KIND_NULL, false };
    if (text.n == 0)
        return resolve_word(&empty, ret);
    const struct word *word = find_word(text);
    if (word)
        return resolve_word(word, ret);
    if (ret)
        *ret = value_string(text);
    char c = text.p[0];
    if (!is_digit(c) && c != '+' && c != '-' && c != '.')
        return YAML_KIND_STR;
    return is_timestamp(text) ? YAML_KIND_TIMESTAMP : read_number(a, text, ret);
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
bool yaml_is_base60(struct str s)
{
    if (!eat(&s, '-'))
        (void)eat(&s, '+');
    if (count_digits(s) == 0)
        return false;
    while (s.n && (is_digit(s.p[0]) || s.p[0] == '_'))
        s = str_skip(s, 1);
    if (s.n == 0 || s.p[0] != ':')
        return false;
    while (eat(&s, ':')) {
        unsigned v;
        if (!eat_field(&s, 0, 59, &v))
            return false;
    }
    if (eat(&s, '.'))
        while (s.n && (is_digit(s.p[0]) || s.p[0] == '_'))
            s = str_skip(s, 1);
    return s.n == 0;
}

/* The shortest digits that give the same float, as sigs.k8s.io/yaml formats a number that is a key:
 * with an exponent only where the number is below 0.0001 or has more than six places. */
static struct str format_float_key(struct arena *a, double d)
{
    char text[NUMBER_NEAR];
    int digits = 1;
    if (isinf((float)d))
        return spell_not_finite(false, d < 0);
    do
        (void)snprintf(text, sizeof(text), "%.*e", digits - 1, (double)(float)d);
    while ((float)strtod(text, NULL) != (float)d && digits++ < 9);
    int exponent = 0;
    const char *e = memchr(text, 'e', strlen(text));
    if (e)
        exponent = (int)strtol(e + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        return arena_str(a, str_of(text));
    int decimals = digits - 1 - exponent;
    return arena_printf(a, "%.*f", decimals > 0 ? decimals : 0, (double)(float)d);
}

bool yaml_key(struct arena *a, const struct value *v, struct str *ret)
{
    double d;
    uint64_t u;
    struct str text = { v->text, v->n };
    switch ((enum value_type)v->type) {
    case VALUE_STRING:
        *ret = text;
        return true;
    case VALUE_BOOL:
        *ret = v->b ? STR("true") : STR("false");
        return true;
    case VALUE_INT:
        *ret = arena_printf(a, "%lld", (long long)v->i);
        return true;
    case VALUE_NUMBER:
        if (str_to_u64(text, &u) || !value_to_double(v, &d))
            return false;
        *ret = str_eq(text, STR("-0")) ? STR("0") : format_float_key(a, d);
        return true;
    default:
        return false;
    }
}
