/* message_read.c - bytes to trees. */
#include <math.h>
#include <stdio.h>

#include "base/wire.h"
#include "wire/message.h"
#include "wire/message_duration.h"
#include "wire/message_table.h"
#include "base/banned.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct reader {
    struct arena *arena;
    struct err *err;
    unsigned depth;
};

static int read_message(struct reader *r, const struct message_type *m, struct str bytes,
                        struct value *ret);

static int malformed(struct reader *r, struct str name)
{
    return err_set(r->err, ERR_BAD_REQUEST, "the message is malformed at " STR_FMT, STR_ARG(name));
}

static unsigned wire_of(const struct wire_field *raw)
{
    return (unsigned char)raw->whole.p[0] & 7;
}

/* ---- Scalars ---- */

static struct value from_double(struct arena *a, double d)
{
    if (isnan(d) || isinf(d))
        return value_string(isnan(d) ? STR("NaN") : d < 0 ? STR("-Infinity") : STR("Infinity"));
    return value_number(arena_printf(a, "%.17g", d));
}

static struct value from_enum(const struct message_enum *names, int32_t number)
{
    for (size_t i = 0; i < names->n_values; i++)
        if (names->values[i].number == number)
            return value_string(names->values[i].name);
    return value_int(number);
}

static struct value from_varint(struct reader *r, const struct message_field *f, uint64_t n)
{
    switch (f->scalar) {
    case MESSAGE_BOOL:
        return value_bool(n != 0);
    case MESSAGE_ENUM:
        return from_enum(f->names, (int32_t)n);
    case MESSAGE_INT32:
        return value_int((int32_t)n);
    case MESSAGE_UINT32:
        return value_int((uint32_t)n);
    case MESSAGE_UINT64:
        if (n > INT64_MAX)
            return value_number(arena_printf(r->arena, "%llu", (unsigned long long)n));
        return value_int((int64_t)n);
    default:
        return value_int((int64_t)n);
    }
}

static struct value from_fixed(struct reader *r, const struct message_field *f, struct str bytes)
{
    double d;
    float narrow;
    if (f->scalar == MESSAGE_FLOAT)
        memcpy(&narrow, bytes.p, sizeof(narrow));
    else
        memcpy(&d, bytes.p, sizeof(d));
    return from_double(r->arena, f->scalar == MESSAGE_FLOAT ? (double)narrow : d);
}

static unsigned wanted_wire(const struct message_field *f)
{
    switch (f->scalar) {
    case MESSAGE_DOUBLE:
        return FIXED64;
    case MESSAGE_FLOAT:
        return FIXED32;
    case MESSAGE_STRING:
    case MESSAGE_BYTES:
    case MESSAGE_MESSAGE:
        return BYTES;
    default:
        return VARINT;
    }
}

static int read_one(struct reader *r, const struct message_field *f, const struct wire_field *raw,
                    struct value *ret)
{
    if (wire_of(raw) != wanted_wire(f))
        return malformed(r, f->name);
    switch (wanted_wire(f)) {
    case VARINT:
        *ret = from_varint(r, f, raw->n);
        return 0;
    case BYTES:
        if (f->scalar == MESSAGE_MESSAGE)
            return read_message(r, f->type, raw->bytes, ret);
        *ret = value_string(raw->bytes);
        return 0;
    default:
        *ret = from_fixed(r, f, raw->bytes);
        return 0;
    }
}

/* ---- Fields ---- */

static int read_packed(struct reader *r, const struct message_field *f, struct str bytes,
                       struct value *list)
{
    const size_t size = wanted_wire(f) == FIXED64 ? 8 : wanted_wire(f) == FIXED32 ? 4 : 0;
    while (bytes.n) {
        uint64_t n;
        if (size ? bytes.n < size : !wire_take_varint(&bytes, &n))
            return malformed(r, f->name);
        value_put_item(r->arena, list, size ? from_fixed(r, f, bytes) : from_varint(r, f, n));
        bytes = str_skip(bytes, size);
        if (arena_spent(r->arena))
            return allowance_error(r->arena->allowance, r->err);
    }
    return 0;
}

static int read_item(struct reader *r, const struct message_field *f, const struct wire_field *raw,
                     struct value *obj)
{
    struct value *list = value_edit(r->arena, obj, f->name), item;
    if (!list)
        list = value_add(r->arena, obj, f->name, value_array());
    if (wire_of(raw) == BYTES && wanted_wire(f) != BYTES)
        return read_packed(r, f, raw->bytes, list);
    int e = read_one(r, f, raw, &item);
    if (e < 0)
        return e;
    value_put_item(r->arena, list, item);
    return 0;
}

static struct value zero_of(const struct message_field *f)
{
    switch (f->scalar) {
    case MESSAGE_STRING:
    case MESSAGE_BYTES:
        return value_string(STR(""));
    case MESSAGE_BOOL:
        return value_bool(false);
    case MESSAGE_ENUM:
        return from_enum(f->names, 0);
    case MESSAGE_MESSAGE:
        return value_object();
    default:
        return value_int(0);
    }
}

/* An entry of a map is a message of key and value, either of which may be left out. */
static int read_entry(struct reader *r, const struct message_field *f, struct str bytes,
                      struct value *map)
{
    struct wire_field raw;
    struct str key = STR("");
    struct value v = zero_of(f);
    int more;
    while ((more = wire_next(&bytes, &raw)) > 0) {
        if (raw.number == 1 && wire_of(&raw) == BYTES)
            key = raw.bytes;
        int e = raw.number == 2 ? read_one(r, f, &raw, &v) : 0;
        if (e < 0)
            return e;
    }
    if (more < 0)
        return malformed(r, f->name);
    value_put_new(r->arena, map, key, v);
    return 0;
}

static int read_field(struct reader *r, const struct message_field *f, const struct wire_field *raw,
                      struct value *obj)
{
    struct value v;
    if (f->is_list)
        return read_item(r, f, raw, obj);
    if (f->is_map && wire_of(raw) != BYTES)
        return malformed(r, f->name);
    if (f->is_map) {
        struct value *map = value_ensure(r->arena, obj, f->name);
        return read_entry(r, f, raw->bytes, map);
    }
    int e = read_one(r, f, raw, &v);
    if (e < 0)
        return e;
    value_put(r->arena, obj, f->name, v);
    return 0;
}

static const struct message_field *field_of(const struct message_type *m, uint64_t number)
{
    for (size_t i = 0; i < m->n_fields; i++)
        if (m->fields[i].number == number)
            return &m->fields[i];
    return NULL;
}

static int read_fields(struct reader *r, const struct message_type *m, struct str bytes,
                       struct value *obj)
{
    struct wire_field raw;
    int more;
    while ((more = wire_next(&bytes, &raw)) > 0) {
        const struct message_field *f = field_of(m, raw.number);
        int e = f ? read_field(r, f, &raw, obj) : 0;
        if (e < 0)
            return e;
        if (arena_spent(r->arena))
            return allowance_error(r->arena->allowance, r->err);
    }
    return more < 0 ? malformed(r, m->name) : 0;
}

/* ---- Messages that look different as JSON ---- */

static int read_any(struct reader *r, const struct value *raw, struct value *ret)
{
    const struct str url = value_text(raw, "type_url"), bytes = value_text(raw, "value");
    struct str rest = url;
    ptrdiff_t slash;
    while ((slash = str_find(rest, '/')) >= 0)
        rest = str_skip(rest, (size_t)slash + 1);
    const struct message_type *inner = message_find(rest);
    struct value v;
    *ret = value_object();
    value_put(r->arena, ret, STR("@type"), value_string(url));
    if (!inner)
        return 0;
    if (inner->form == MESSAGE_PLAIN)
        return read_fields(r, inner, bytes, ret);
    int e = read_message(r, inner, bytes, &v);
    if (e < 0)
        return e;
    value_put(r->arena, ret, STR("value"), v);
    return 0;
}

static void read_duration(struct reader *r, const struct value *raw, struct value *ret)
{
    int64_t seconds = 0, nanos = 0;
    (void)value_to_int(value_get(raw, STR("seconds")), &seconds);
    (void)value_to_int(value_get(raw, STR("nanos")), &nanos);
    *ret = value_string(message_duration_text(r->arena, seconds, (int32_t)nanos));
}

/* What a message that has one field, or one of several, is. */
static void unwrap(const struct message_type *m, struct value *raw, struct value *ret)
{
    const struct message_field *f = &m->fields[0];
    if (raw->n)
        *ret = raw->fields[raw->n - 1].val;
    else if (m->form == MESSAGE_VALUE)
        *ret = value_null();
    else
        *ret = f->is_list ? value_array() : f->is_map ? value_object() : zero_of(f);
    if (m->form == MESSAGE_VALUE && raw->n &&
        str_eq(raw->fields[raw->n - 1].key, STR("null_value")))
        *ret = value_null();
}

static int read_form(struct reader *r, const struct message_type *m, struct value *raw,
                     struct value *ret)
{
    switch (m->form) {
    case MESSAGE_PLAIN:
        *ret = *raw;
        return 0;
    case MESSAGE_ANY:
        return read_any(r, raw, ret);
    case MESSAGE_DURATION:
        read_duration(r, raw, ret);
        return 0;
    default:
        unwrap(m, raw, ret);
        return 0;
    }
}

static int read_message(struct reader *r, const struct message_type *m, struct str bytes,
                        struct value *ret)
{
    struct value raw = value_object();
    if (r->depth == MESSAGE_DEPTH_MAX)
        return err_set(r->err, ERR_BAD_REQUEST, "the message nests deeper than %d",
                       MESSAGE_DEPTH_MAX);
    r->depth++;
    int e = read_fields(r, m, bytes, &raw);
    if (e < 0)
        return e; /* of the whole: nobody looks at the depth any more */
    e = read_form(r, m, &raw, ret);
    r->depth--;
    return e;
}

int message_read(struct arena *a, const struct message_type *m, struct str bytes, struct value *ret,
                 struct err *err)
{
    struct reader r = { a, err, 0 };
    return read_message(&r, m, bytes, ret);
}
