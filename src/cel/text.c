/* Values as text: numbers and times as Go prints them, and whole values for error messages. */
#include "cel/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/go/gotime.h"
#include "base/buf.h"

#include "base/banned.h"

enum { DIGITS_MAX = 17, EXPONENT_FROM = 6, NANOS_PER_SEC = 1000000000 };

/* The fewest digits that read back as `d`, without a dot; `*ret_exponent` is that of the first. */
static size_t shortest(double d, char out[static DIGITS_MAX + 1], int *ret_exponent)
{
    char text[40];
    for (int precision = 0; precision < DIGITS_MAX; precision++) {
        (void)snprintf(text, sizeof(text), "%.*e", precision, d);
        if (strtod(text, NULL) == d)
            break;
    }
    size_t n = 0;
    char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p != '.')
            out[n++] = *p;
    *ret_exponent = (int)strtol(p + 1, NULL, 10);
    return n;
}

static void add_fixed(struct buf *out, const char *digits, size_t n, int exponent)
{
    if (exponent < 0) {
        buf_str_add(out, STR("0."));
        for (int i = -1; i > exponent; i--)
            buf_byte(out, '0');
        buf_add(out, digits, n);
        return;
    }
    for (size_t i = 0; i < n || i <= (size_t)exponent; i++) {
        if (i == (size_t)exponent + 1)
            buf_byte(out, '.');
        buf_byte(out, i < n ? digits[i] : '0');
    }
}

static void add_double(struct buf *out, double d, bool fixed)
{
    char digits[DIGITS_MAX + 1] = { 0 };
    int exponent = 0;
    if (isnan(d) || isinf(d)) {
        buf_str_add(out, isnan(d) ? STR("NaN") : d > 0 ? STR("+Inf") : STR("-Inf"));
        return;
    }
    if (signbit(d))
        buf_byte(out, '-');
    size_t n = shortest(fabs(d), digits, &exponent);
    if (fixed || (exponent >= -4 && exponent < EXPONENT_FROM)) {
        add_fixed(out, digits, n, exponent);
        return;
    }
    buf_byte(out, digits[0]);
    if (n > 1)
        buf_byte(out, '.');
    buf_add(out, digits + 1, n - 1);
    buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

struct str cel__double_text(struct arena *a, double d)
{
    autobuf out = { 0 };
    add_double(&out, d, false);
    return arena_str(a, buf_str(&out));
}

struct str cel__duration_text(struct arena *a, int64_t nanos)
{
    autobuf out = { 0 };
    int64_t sec = nanos / NANOS_PER_SEC, rest = nanos % NANOS_PER_SEC;
    add_double(&out, (double)sec + (double)rest / 1e9, true);
    buf_byte(&out, 's');
    return arena_str(a, buf_str(&out));
}

/* RFC 3339 with as many digits of a second as there are, in the zone it was written with. */
struct str cel__timestamp_text(struct arena *a, const struct cel_value *v)
{
    struct gotime t = { .sec = v->i + (int64_t)v->zone * 60, .nanos = 0 };
    struct str base = gotime_format(a, t, false);
    autobuf out = { 0 };
    buf_add(&out, base.p, base.n - 1);
    if (v->nanos) {
        char digits[12];
        (void)snprintf(digits, sizeof(digits), ".%09d", v->nanos);
        size_t n = 10;
        while (digits[n - 1] == '0')
            n--;
        buf_add(&out, digits, n);
    }
    int zone = abs(v->zone);
    if (zone)
        buf_printf(&out, "%c%02d:%02d", v->zone < 0 ? '-' : '+', zone / 60, zone % 60);
    else
        buf_byte(&out, 'Z');
    return arena_str(a, buf_str(&out));
}

static void add_value(struct cel__eval *ev, struct buf *out, const struct cel_value *v);

static void add_list(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    struct cel_value item;
    buf_byte(out, '[');
    for (size_t i = 0; cel__list_next(ev, v, &i, &item);) {
        if (i > 1)
            buf_str_add(out, STR(", "));
        add_value(ev, out, &item);
    }
    buf_byte(out, ']');
}

static void add_map(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    struct cel_value key, val;
    const char *sep = "";
    buf_byte(out, '{');
    for (size_t pos = 0; cel__map_next(ev, v, &pos, &key, &val); sep = ", ") {
        buf_printf(out, "%s", sep);
        add_value(ev, out, &key);
        buf_str_add(out, STR(": "));
        add_value(ev, out, &val);
    }
    buf_byte(out, '}');
}

static void add_bytes(struct buf *out, struct str s)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < s.n; i++)
        buf_printf(out, "%s%u", i ? " " : "", (unsigned char)s.p[i]);
    buf_byte(out, ']');
}

static struct str opaque_text(const struct cel_value *v)
{
    if (v->kind == CEL_TYPE)
        return v->type->name;
    if (v->kind == CEL_OPAQUE && v->declared == &cel_quantity)
        return cel__quantity_text(v);
    if (v->kind == CEL_OPAQUE && v->declared == &cel_semver)
        return cel__semver_text(v);
    return v->declared->name;
}

static void add_optional(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    buf_str_add(out, v->inner ? STR("optional(") : STR("optional.none()"));
    if (v->inner) {
        add_value(ev, out, v->inner);
        buf_byte(out, ')');
    }
}

/* Parts may be shared: the text of a small value can be long, and so it is watched as it grows. */
static void add_container(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    if (!cel__enter(ev))
        return;
    if (v->kind == CEL_LIST)
        add_list(ev, out, v);
    else if (v->kind == CEL_MAP)
        add_map(ev, out, v);
    else
        add_optional(ev, out, v);
    cel__leave(ev);
}

static void add_value(struct cel__eval *ev, struct buf *out, const struct cel_value *v)
{
    if (!cel__afford_text(ev, out->n))
        return;
    switch (v->kind) {
    case CEL_NULL:
        buf_str_add(out, STR("null"));
        break;
    case CEL_BOOL:
        buf_str_add(out, v->b ? STR("true") : STR("false"));
        break;
    case CEL_INT:
        buf_printf(out, "%" PRId64, v->i);
        break;
    case CEL_UINT:
        buf_printf(out, "%" PRIu64, v->u);
        break;
    case CEL_DOUBLE:
        add_double(out, v->d, false);
        break;
    case CEL_STRING:
    case CEL_ERROR:
        buf_str_add(out, cel__str(v));
        break;
    case CEL_BYTES:
        add_bytes(out, cel__str(v));
        break;
    case CEL_TIMESTAMP:
        buf_str_add(out, cel__timestamp_text(ev->arena, v));
        break;
    case CEL_DURATION:
        buf_str_add(out, cel__duration_text(ev->arena, v->i));
        break;
    case CEL_LIST:
    case CEL_MAP:
    case CEL_OPTIONAL:
        add_container(ev, out, v);
        break;
    default:
        buf_str_add(out, opaque_text(v));
        break;
    }
}

struct str cel__print(struct cel__eval *ev, const struct cel_value *v)
{
    autobuf out = { 0 };
    add_value(ev, &out, v);
    return arena_str(ev->arena, buf_str(&out));
}
