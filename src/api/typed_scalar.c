/* The leaves: what becomes of one JSON value that is read as a string, a number, a time and so on.
 * null is the zero value everywhere. */
#include <math.h>
#include <stdio.h>

#include "api/go/gofloat.h"
#include "api/go/gotime.h"
#include "api/quantity.h"
#include "api/typed_reader.h"
#include "base/buf.h"
#include "base/banned.h"

/* Of a string or a number. */
static struct str raw_text(const struct value *v)
{
    return (struct str){ v->text, v->n };
}

static struct value zero_of(enum kind_scalar scalar)
{
    switch (scalar) {
    case KIND_STRING:
        return value_string(STR(""));
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
    case KIND_INT_OR_STRING:
        return value_int(0);
    case KIND_BOOL:
        return value_bool(false);
    case KIND_QUANTITY:
        return value_string(STR("0"));
    case KIND_DURATION:
        return value_string(STR("0s"));
    default:
        return value_null();
    }
}

/* Exactly an integer: neither 1.0 nor 1e3. */
static bool to_integer(const struct value *in, bool is_32, int64_t *ret)
{
    if (in->type == VALUE_NUMBER && str_eq(raw_text(in), STR("-0")))
        *ret = 0;
    else if (in->type != VALUE_INT || (is_32 && (in->i > INT32_MAX || in->i < INT32_MIN)))
        return false;
    else
        *ret = in->i;
    return true;
}

static bool read_integer(struct typed_reader *r, const struct value *in, bool is_32,
                         struct value *ret)
{
    int64_t i;
    if (!to_integer(in, is_32, &i)) {
        typed__mismatch(r, in, is_32 ? STR("int32") : STR("int64"), true);
        return false;
    }
    *ret = value_int(i);
    return true;
}

static void read_double(struct typed_reader *r, const struct value *in, struct value *ret)
{
    double d;
    if (!value_to_double(in, &d) || !isfinite(d))
        typed__mismatch(r, in, STR("float64"), true);
    else
        *ret = value_number(gofloat_text(r->arena, d));
}

/* ---- Bytes ---- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

struct base64_scan {
    struct str text;
    size_t at;
    size_t digits; /* of the last group of four, when it was padded */
    bool has_line_ends;
};

static void skip_line_ends(struct base64_scan *s)
{
    while (s->at < s->text.n && is_line_end(s->text.p[s->at])) {
        s->has_line_ends = true;
        s->at++;
    }
}

/* What follows the first '=' of a group that had `digits` digits. -1, or where the text is bad. */
static ptrdiff_t scan_padding(struct base64_scan *s, size_t digits)
{
    if (digits < 2)
        return (ptrdiff_t)s->at - 1;
    if (digits == 2) {
        skip_line_ends(s);
        if (s->at == s->text.n)
            return (ptrdiff_t)s->at;
        if (s->text.p[s->at] != '=')
            return (ptrdiff_t)s->at - 1;
        s->at++;
    }
    skip_line_ends(s);
    s->digits = digits;
    return s->at < s->text.n ? (ptrdiff_t)s->at : -1;
}

/* Standard base64 with padding; ends of lines anywhere. -1, or where Go says that it is bad. */
static ptrdiff_t scan_base64(struct base64_scan *s)
{
    for (size_t digits = 0;;) {
        if (s->at == s->text.n)
            return digits ? (ptrdiff_t)(s->at - digits) : -1;
        char c = s->text.p[s->at++];
        if (base64_digit(c) >= 0)
            digits = (digits + 1) % 4;
        else if (is_line_end(c))
            s->has_line_ends = true;
        else if (c == '=')
            return scan_padding(s, digits);
        else
            return (ptrdiff_t)s->at - 1;
    }
}

/* The bits of a padded group's last digit that count; Go drops the others. */
static unsigned bits_that_count(size_t digits)
{
    return digits == 2 ? 0x30 : 0x3c;
}

static bool has_stray_bits(struct str clean, size_t digits)
{
    char last = clean.p[clean.n - (4 - digits) - 1];
    return (unsigned)base64_digit(last) & ~bits_that_count(digits);
}

static struct str clean_base64(struct arena *a, const struct base64_scan *s)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!s->has_line_ends && (!s->digits || !has_stray_bits(s->text, s->digits)))
        return s->text;
    char *p = arena_alloc(a, s->text.n, 1);
    size_t n = 0;
    for (size_t i = 0; i < s->text.n; i++)
        if (!is_line_end(s->text.p[i]))
            p[n++] = s->text.p[i];
    struct str clean = { p, n };
    if (s->digits && has_stray_bits(clean, s->digits)) {
        char *last = &p[n - (4 - s->digits) - 1];
        *last = alphabet[(unsigned)base64_digit(*last) & bits_that_count(s->digits)];
    }
    return clean;
}

static void read_bytes(struct typed_reader *r, const struct value *in, struct value *ret)
{
    if (in->type != VALUE_STRING) {
        typed__mismatch(r, in, STR("[]uint8"), false);
        return;
    }
    struct base64_scan s = { .text = raw_text(in) };
    ptrdiff_t bad = scan_base64(&s);
    if (bad < 0)
        *ret = value_string(clean_base64(r->arena, &s));
    else if (!r->saved.p)
        r->saved = arena_printf(r->arena, "illegal base64 data at input byte %td", bad);
}

/* ---- Types with a decoder of their own ---- */

static int read_time(struct typed_reader *r, const struct value *in, bool micros, struct value *ret)
{
    struct gotime t;
    if (in->type != VALUE_STRING)
        return typed__fatal_mismatch(r, in, STR("string"), false);
    int bad = gotime_parse(raw_text(in), micros, &t, r->err);
    if (bad < 0)
        return bad;
    if (t.sec == GOTIME_ZERO_SEC && (!micros || !t.nanos))
        return 0; /* null, as for no time at all */
    struct str text = gotime_format(r->arena, t, micros);
    *ret = value_string(str_eq(text, raw_text(in)) ? raw_text(in) : text);
    return 0;
}

static int read_quantity(struct typed_reader *r, const struct value *in, struct value *ret)
{
    struct str text = STR("");
    if (in->type == VALUE_STRING || in->type == VALUE_NUMBER)
        text = raw_text(in);
    else if (in->type == VALUE_INT)
        text = arena_printf(r->arena, "%ld", (long)in->i);
    else if (in->type == VALUE_BOOL)
        text = STR("bool"); /* as bad as any word */
    while (text.n && text.p[0] == ' ')
        text = str_skip(text, 1);
    while (text.n && text.p[text.n - 1] == ' ')
        text.n--;
    struct str canonical;
    int bad = quantity_canonical(r->arena, text, &canonical, r->err);
    if (bad < 0)
        return bad;
    *ret = value_string(canonical);
    return 0;
}

static int read_int_or_string(struct typed_reader *r, const struct value *in, struct value *ret)
{
    int64_t i;
    if (in->type == VALUE_STRING) {
        *ret = *in;
        return 0;
    }
    if (!to_integer(in, true, &i))
        return typed__fatal_mismatch(r, in, STR("int32"), true);
    *ret = value_int(i);
    return 0;
}

static void read_plain(struct typed_reader *r, const struct value *in, enum value_type type,
                       struct str go_type, struct value *ret)
{
    if (in->type == type)
        *ret = *in;
    else
        typed__mismatch(r, in, go_type, false);
}

int typed__scalar(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                  struct value *ret)
{
    enum kind_scalar scalar = (enum kind_scalar)f->scalar;
    *ret = zero_of(scalar);
    if (!in || in->type == VALUE_NULL)
        return 0;
    switch (scalar) {
    case KIND_STRING:
    case KIND_DURATION:
        read_plain(r, in, VALUE_STRING, f->go_type.n ? f->go_type : STR("string"), ret);
        return 0;
    case KIND_BOOL:
        read_plain(r, in, VALUE_BOOL, STR("bool"), ret);
        return 0;
    case KIND_INT32:
    case KIND_INT64:
        (void)read_integer(r, in, scalar == KIND_INT32, ret);
        return 0;
    case KIND_DOUBLE:
        read_double(r, in, ret);
        return 0;
    case KIND_BYTES:
        read_bytes(r, in, ret);
        return 0;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return read_time(r, in, scalar == KIND_MICRO_TIME, ret);
    case KIND_QUANTITY:
        return read_quantity(r, in, ret);
    case KIND_INT_OR_STRING:
        return read_int_or_string(r, in, ret);
    default:
        *ret = value_borrow(in);
        return 0;
    }
}
