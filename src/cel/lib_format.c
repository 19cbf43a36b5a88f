/* '...'.format([...]), as cel-go's strings library has it up to version 3: numbers in %f and %e are
 * written for the locale en_US, with commas between thousands and exponents as powers of ten. */
#include "base/idiom.h"
#include "cel/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/go/quote.h"
#include "base/utf8.h"
#include "cel/format.h"

#include "base/banned.h"

enum { PRECISION_DEFAULT = 6, PRECISION_MAX = 10000 };

/* ---- Clauses ---- */

static const char *text(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *text(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return str_cstr(a, s);
}

const char *format_bad_type(struct arena *a, char verb, struct str type)
{
    const char *what = "string clause can only be used on strings, bools, bytes, ints, doubles, "
                       "maps, lists, types, durations, and timestamps";
    if (verb == 'd')
        what = "decimal clause can only be used on integers";
    else if (verb == 'f')
        what = "fixed-point clause can only be used on doubles";
    else if (verb == 'e')
        what = "scientific clause can only be used on doubles";
    else if (verb == 'b')
        what = "only integers and bools can be formatted as binary";
    else if (verb == 'x' || verb == 'X')
        what = "only integers, byte buffers, and strings can be formatted as hex";
    else if (verb == 'o')
        what = "octal clause can only be used on integers";
    return text(a, "%s, was given " STR_FMT, what, STR_ARG(type));
}

/* Reads a clause behind its %; `*s` is left behind it. */
static const char *read_clause(struct arena *a, struct str *s, struct format_clause *ret)
{
    ret->precision = FORMAT_NO_PRECISION;
    if (str_starts(*s, STR("."))) {
        size_t n = 1;
        while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
            n++;
        if (n == s->n)
            return "error while parsing precision: could not find end of precision specifier";
        struct str digits = str_take(str_skip(*s, 1), n - 1);
        uint64_t precision;
        if (!str_to_u64(digits, &precision))
            return text(a,
                        "error while parsing precision: error while converting precision to "
                        "integer: strconv.Atoi: parsing \"" STR_FMT "\": %s",
                        STR_ARG(digits), digits.n ? "value out of range" : "invalid syntax");
        if (precision > PRECISION_MAX)
            return text(a, "error while parsing precision: precision %" PRIu64 " is too large",
                        precision);
        ret->precision = (int)precision;
        *s = str_skip(*s, n);
    }
    ret->verb = s->p[0];
    if (str_find(STR("sdfebxXo"), ret->verb) < 0) {
        /* Upstream takes a single byte for a character. */
        char shown[4];
        size_t n = utf8_encode(shown, (unsigned char)ret->verb);
        return text(a, "unrecognized formatting clause \"%.*s\"", (int)n, shown);
    }
    *s = str_skip(*s, 1);
    return NULL;
}

const char *format_run(struct arena *a, struct str format, size_t n_args, format_fill *fill,
                       void *self, struct buf *out, size_t *ret_used)
{
    size_t used = 0;
    while (format.n) {
        char c = format.p[0];
        format = str_skip(format, 1);
        if (c != '%' || str_starts(format, STR("%"))) {
            buf_byte(out, c);
            format = str_skip(format, c == '%');
            continue;
        }
        struct format_clause clause = { .index = used };
        if (used >= n_args && format.n)
            return text(a, "index %zu out of range", used);
        if (!format.n)
            return used >= n_args ? text(a, "index %zu out of range", used)
                                  : "unexpected end of string";
        const char *why = read_clause(a, &format, &clause);
        if (why)
            return text(a, "could not parse formatting clause: %s", why);
        why = fill(self, clause, out);
        if (why)
            return text(a, "error during formatting: %s", why);
        used++;
    }
    *ret_used = used;
    return NULL;
}

/* ---- Numbers ---- */

/* Digits with a comma between thousands; `s` may have a sign and a fraction. */
static void add_grouped(struct buf *out, struct str s)
{
    size_t sign = s.n && s.p[0] == '-';
    ptrdiff_t dot = str_find(s, '.');
    size_t whole = (dot < 0 ? s.n : (size_t)dot) - sign;
    for (size_t i = 0; i < s.n; i++) {
        size_t left = sign + whole - i;
        if (i > sign && i < sign + whole && left % 3 == 0)
            buf_byte(out, ',');
        buf_byte(out, s.p[i]);
    }
}

static void add_not_finite(struct buf *out, double d, int width)
{
    struct str s = isnan(d) ? STR("NaN") : d > 0 ? STR("\u221e") : STR("-\u221e");
    for (int n = (int)cel__code_points(s); n < width; n++)
        buf_byte(out, ' ');
    buf_str_add(out, s);
}

static void add_fixed(struct buf *out, double d, int precision)
{
    autobuf digits = { 0 };
    if (!isfinite(d)) {
        add_not_finite(out, d, 0);
        return;
    }
    buf_printf(&digits, "%.*f", precision, d == 0 ? 0.0 : d);
    add_grouped(out, buf_str(&digits));
}

/* 1.052033×10⁰³. The precision is taken for a width, as upstream does. */
static void add_scientific(struct buf *out, double d, int width)
{
    static const char *const raised[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                          "\u2075", "\u2076", "\u2077", "\u2078", "\u2079" };
    autobuf shown = { 0 };
    char digits[32];
    if (!isfinite(d)) {
        add_not_finite(out, d, width);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%.6e", d == 0 ? 0.0 : d);
    char *e = strchr(digits, 'e');
    buf_add(&shown, digits, (size_t)(e - digits));
    buf_str_add(&shown, STR("\u00d710"));
    if (e[1] == '-')
        buf_str_add(&shown, STR("\u207b"));
    for (const char *p = e + 2; *p; p++)
        buf_str_add(&shown, str_of(raised[*p - '0']));
    for (int n = (int)cel__code_points(buf_str(&shown)); n < width; n++)
        buf_byte(out, ' ');
    buf_str_add(out, buf_str(&shown));
}

static void add_in_base(struct buf *out, const struct cel_value *v, unsigned base, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    bool negative = v->kind == CEL_INT && v->i < 0;
    uint64_t u = negative ? 0 - v->u : v->u;
    char reversed[64];
    size_t n = 0;
    do
        reversed[n++] = digits[u % base];
    while (u /= base);
    if (negative)
        buf_byte(out, '-');
    while (n)
        buf_byte(out, reversed[--n]);
}

static bool to_double(const struct cel_value *v, double *ret)
{
    if (v->kind == CEL_DOUBLE) {
        *ret = v->d;
        return true;
    }
    struct str s = v->kind == CEL_STRING ? cel__str(v) : STR("");
    if (str_eq(s, STR("NaN")))
        *ret = NAN;
    else if (str_eq(s, STR("Infinity")) || str_eq(s, STR("-Infinity")))
        *ret = s.p[0] == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* ---- %s ---- */

static const char *add_string(struct cel__eval *ev, struct buf *out, const struct cel_value *v);

/* Inside lists and maps values look as they do in an expression. */
static const char *add_member(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    autobuf inner = { 0 };
    const char *why = NULL;
    switch (v->kind) {
    case CEL_DOUBLE:
        if (isnan(v->d) || isinf(v->d))
            buf_printf(out, "\"%s\"", isnan(v->d) ? "NaN" : v->d > 0 ? "+Inf" : "-Inf");
        else
            buf_printf(out, "%.6f", v->d);
        return NULL;
    case CEL_STRING:
    case CEL_BYTES:
        why = add_string(ev, &inner, v);
        if (why)
            return why;
        if (v->kind == CEL_BYTES)
            buf_byte(out, 'b');
        quote_go(out, buf_str(&inner));
        return NULL;
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        (void)add_string(ev, &inner, v);
        buf_str_add(out, v->kind == CEL_TIMESTAMP ? STR("timestamp(") : STR("duration("));
        quote_go(out, buf_str(&inner));
        buf_byte(out, ')');
        return NULL;
    case CEL_OBJECT:
    case CEL_OPAQUE:
    case CEL_OPTIONAL:
        return text(ev->arena, "no formatting function for " STR_FMT,
                    STR_ARG(cel__type_of(v)->name));
    default:
        return add_string(ev, out, v);
    }
}

static const char *add_list(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    struct cel_value item;
    buf_byte(out, '[');
    for (size_t i = 0; cel__list_next(ev, v, &i, &item);) {
        if (i > 1)
            buf_str_add(out, STR(", "));
        const char *why = add_member(ev, out, &item);
        if (why)
            return why;
    }
    buf_byte(out, ']');
    return NULL;
}

struct pair {
    struct str key, val;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct pair *)x)->key, ((const struct pair *)y)->key);
}

static const char *make_pair(struct cel__eval *ev, const struct cel_value *key,
                             const struct cel_value *val, struct pair *ret)
{
    autobuf shown = { 0 };
    if (key->kind != CEL_STRING && key->kind != CEL_BOOL && key->kind != CEL_INT &&
        key->kind != CEL_UINT)
        return text(ev->arena, "no formatting function for map key of type " STR_FMT,
                    STR_ARG(cel__type_of(key)->name));
    (void)add_member(ev, &shown, key);
    ret->key = arena_str(ev->arena, buf_str(&shown));
    buf_reset(&shown);
    const char *why = add_member(ev, &shown, val);
    if (why || !cel__afford_text(ev, shown.n))
        return why ? why : "";
    ret->val = arena_str(ev->arena, buf_str(&shown));
    return NULL;
}

static const char *add_map(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    struct pair *pairs = arena_array(ev->arena, struct pair, cel__size(v));
    struct cel_value key, val;
    size_t n = 0;
    for (size_t pos = 0; n < cel__size(v) && cel__map_next(ev, v, &pos, &key, &val); n++) {
        const char *why = make_pair(ev, &key, &val, &pairs[n]);
        if (why)
            return why;
    }
    if (n)
        qsort(pairs, n, sizeof(*pairs), by_key);
    buf_byte(out, '{');
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s" STR_FMT ":" STR_FMT, i ? ", " : "", STR_ARG(pairs[i].key),
                   STR_ARG(pairs[i].val));
    buf_byte(out, '}');
    return NULL;
}

static const char *add_container(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    if (!cel__enter(ev))
        return "";
    const char *why = v->kind == CEL_LIST ? add_list(ev, out, v) : add_map(ev, out, v);
    cel__leave(ev);
    return why;
}

static const char *add_string(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    if (!cel__afford_text(ev, out->n))
        return "";
    switch (v->kind) {
    case CEL_LIST:
    case CEL_MAP:
        return add_container(ev, out, v);
    case CEL_BYTES:
        if (!utf8_valid(cel__str(v)))
            return "could not convert argument \"invalid UTF-8 in bytes, cannot convert to "
                   "string\" to string";
        buf_str_add(out, cel__str(v));
        return NULL;
    case CEL_OBJECT:
    case CEL_OPAQUE:
    case CEL_OPTIONAL:
        return format_bad_type(ev->arena, 's', cel__type_of(v)->name);
    default:
        buf_str_add(out, cel__print(ev, v));
        return NULL;
    }
}

/* ---- The function ---- */

struct filler {
    struct cel__eval *ev;
    const struct cel_value *list;
};

static const char *fill_number(struct format_clause c, const struct cel_value *v, struct buf *out)
{
    bool is_int = v->kind == CEL_INT || v->kind == CEL_UINT;
    int precision = c.precision == FORMAT_NO_PRECISION ? PRECISION_DEFAULT : c.precision;
    double d;
    if (c.verb == 'b' && v->kind == CEL_BOOL)
        buf_byte(out, v->b ? '1' : '0');
    else if (is_int && str_find(STR("dboxX"), c.verb) >= 0)
        add_in_base(out, v,
                    c.verb == 'd'   ? 10
                    : c.verb == 'b' ? 2
                    : c.verb == 'o' ? 8
                                    : 16,
                    c.verb == 'X');
    else if (c.verb == 'f' && to_double(v, &d))
        add_fixed(out, d, precision);
    else if (c.verb == 'e' && to_double(v, &d))
        add_scientific(out, d, precision);
    else
        return "";
    return NULL;
}

static const char *fill_clause(void *self, struct format_clause c, struct buf *out)
{
    struct filler *f = self;
    struct cel_value v = cel__item(f->ev, f->list, c.index);
    if (v.kind == CEL_ERROR)
        return str_cstr(f->ev->arena, cel__str(&v));
    if (!cel__afford_text(f->ev, out->n))
        return "";
    if (c.verb == 's')
        return add_string(f->ev, out, &v);
    if ((c.verb == 'x' || c.verb == 'X') && (v.kind == CEL_STRING || v.kind == CEL_BYTES)) {
        for (size_t i = 0; i < v.n; i++)
            buf_printf(out, c.verb == 'x' ? "%02x" : "%02X", (unsigned char)v.text[i]);
        return NULL;
    }
    if (!fill_number(c, &v, out))
        return NULL;
    return format_bad_type(f->ev->arena, c.verb, cel__type_of(&v)->name);
}

static struct cel_value fn_format(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct filler f = { ev, &args[1] };
    autobuf out = { 0 };
    size_t used;
    const char *why = format_run(ev->arena, cel__str(&args[0]), cel__size(&args[1]), fill_clause,
                                 &f, &out, &used);
    if (why)
        return cel_of_error(str_of(why));
    if (!cel__afford_text(ev, out.n))
        return CEL__CANCELLED;
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

static const struct cel__overload rows[] = {
    CEL__METHOD("format", CEL__COST_FORMAT_STRING, fn_format, &cel_string, &cel_string,
                &cel__list_dyn),
};

const struct cel__library cel__lib_format = { rows, ARRAY_LEN(rows), 0 };
