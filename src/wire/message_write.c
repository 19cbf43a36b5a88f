/* message_write.c - trees to bytes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/wire.h"
#include "wire/message.h"
#include "wire/message_duration.h"
#include "wire/message_table.h"
#include "base/banned.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct writer {
    struct buf *out;
    struct err *err;
    unsigned depth;
};

static int write_message(struct writer *w, const struct message_type *m, const struct value *v);

static int refuse(struct writer *w, const char *wanted)
{
    return err_set(w->err, ERR_INVALID, "it is not %s", wanted);
}

static void put_tag(struct writer *w, uint32_t number, unsigned wire)
{
    wire_varint(w->out, (uint64_t)number << 3 | wire);
}

/* ---- What has a length that is known afterwards ---- */

static size_t open_length(struct writer *w, uint32_t number)
{
    put_tag(w, number, BYTES);
    buf_byte(w->out, 0);
    return w->out->n;
}

/* The length goes before what was written since; most are short and have room for it already. */
static void close_length(struct writer *w, size_t start)
{
    uint64_t n = w->out->n - start;
    char head[10];
    size_t n_head = 0;
    for (; n >= 0x80; n >>= 7)
        head[n_head++] = (char)(n | 0x80);
    head[n_head++] = (char)n;
    buf_reserve(w->out, n_head - 1);
    memmove(w->out->p + start + n_head - 1, w->out->p + start, w->out->n - start);
    memcpy(w->out->p + start - 1, head, n_head);
    w->out->n += n_head - 1;
}

/* ---- Scalars ---- */

static void put_fixed(struct writer *w, uint64_t bits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_byte(w->out, (char)(bits >> (8 * i)));
}

static int to_double(struct writer *w, const struct value *v, double *ret)
{
    if (value_to_double(v, ret))
        return 0;
    const struct str s = value_str(v);
    *ret = str_eq(s, STR("NaN")) ? NAN : str_eq(s, STR("-Infinity")) ? -INFINITY : INFINITY;
    const bool is_named = isnan(*ret) || *ret < 0 || str_eq(s, STR("Infinity"));
    return is_named ? 0 : refuse(w, "a number");
}

/* 64-bit numbers may be text in JSON. */
static int to_integer(struct writer *w, const struct value *v, bool is_unsigned, uint64_t *ret)
{
    int64_t i;
    const bool has_text = value_is(v, VALUE_STRING) || value_is(v, VALUE_NUMBER);
    const struct str text = has_text ? (struct str){ v->text, v->n } : STR("");
    if (is_unsigned && str_to_u64(text, ret))
        return 0;
    if (!value_to_int(v, &i) && !str_to_i64(text, &i))
        return refuse(w, "an integer");
    if (is_unsigned && i < 0)
        return refuse(w, "an integer from 0 on");
    *ret = (uint64_t)i;
    return 0;
}

static int to_int32(struct writer *w, const struct value *v, bool is_unsigned, uint64_t *ret)
{
    int r = to_integer(w, v, is_unsigned, ret);
    if (r < 0)
        return r;
    const bool fits =
        is_unsigned ? *ret <= UINT32_MAX : (int64_t)*ret >= INT32_MIN && (int64_t)*ret <= INT32_MAX;
    return fits ? 0 : refuse(w, "an integer of 32 bits");
}

static int to_enum(struct writer *w, const struct message_enum *names, const struct value *v,
                   uint64_t *ret)
{
    const struct str name = value_str(v);
    for (size_t i = 0; i < names->n_values; i++)
        if (value_is(v, VALUE_STRING) && str_eq(names->values[i].name, name)) {
            *ret = (uint64_t)names->values[i].number;
            return 0;
        }
    if (value_is(v, VALUE_STRING))
        return err_set(w->err, ERR_INVALID, "\"" STR_FMT "\" is no name of it", STR_ARG(name));
    return to_int32(w, v, false, ret);
}

/* All that are varints. */
static int to_varint(struct writer *w, const struct message_field *f, const struct value *v,
                     uint64_t *ret)
{
    switch (f->scalar) {
    case MESSAGE_BOOL:
        *ret = value_is_true(v);
        return value_is(v, VALUE_BOOL) ? 0 : refuse(w, "true or false");
    case MESSAGE_ENUM:
        return to_enum(w, f->names, v, ret);
    case MESSAGE_INT32:
    case MESSAGE_UINT32:
        return to_int32(w, v, f->scalar == MESSAGE_UINT32, ret);
    default:
        return to_integer(w, v, f->scalar == MESSAGE_UINT64, ret);
    }
}

static int write_double(struct writer *w, const struct message_field *f, const struct value *v,
                        bool leaves_zero)
{
    double d;
    uint64_t bits = 0;
    uint32_t bits32;
    int r = to_double(w, v, &d);
    if (r < 0)
        return r;
    const float narrow = (float)d;
    memcpy(&bits, &d, sizeof(bits));
    memcpy(&bits32, &narrow, sizeof(bits32));
    if (leaves_zero && bits == 0)
        return 0;
    const bool is_float = f->scalar == MESSAGE_FLOAT;
    put_tag(w, f->number, is_float ? FIXED32 : FIXED64);
    put_fixed(w, is_float ? bits32 : bits, is_float ? sizeof(bits32) : sizeof(bits));
    return 0;
}

static int write_text(struct writer *w, const struct message_field *f, const struct value *v,
                      bool leaves_zero)
{
    if (!value_is(v, VALUE_STRING))
        return refuse(w, "text");
    if (leaves_zero && v->n == 0)
        return 0;
    wire_head(w->out, f->number, v->n);
    buf_str_add(w->out, value_str(v));
    return 0;
}

/* One value; `leaves_zero`: nothing is written for zero. */
static int write_one(struct writer *w, const struct message_field *f, const struct value *v,
                     bool leaves_zero)
{
    uint64_t n;
    int r;
    switch (f->scalar) {
    case MESSAGE_DOUBLE:
    case MESSAGE_FLOAT:
        return write_double(w, f, v, leaves_zero);
    case MESSAGE_STRING:
    case MESSAGE_BYTES:
        return write_text(w, f, v, leaves_zero);
    case MESSAGE_MESSAGE: {
        const size_t start = open_length(w, f->number);
        r = write_message(w, f->type, v);
        close_length(w, start);
        return r;
    }
    default:
        r = to_varint(w, f, v, &n);
        if (r < 0 || (leaves_zero && n == 0))
            return r;
        put_tag(w, f->number, VARINT);
        wire_varint(w->out, n);
        return 0;
    }
}

/* ---- Fields ---- */

static bool is_packed(const struct message_field *f)
{
    return f->scalar != MESSAGE_STRING && f->scalar != MESSAGE_BYTES &&
           f->scalar != MESSAGE_MESSAGE;
}

static int write_packed(struct writer *w, const struct message_field *f, const struct value *v)
{
    const size_t start = open_length(w, f->number);
    value_each_item (item, v) {
        uint64_t n = 0;
        double d = 0;
        const bool is_double = f->scalar == MESSAGE_DOUBLE || f->scalar == MESSAGE_FLOAT;
        int r = is_double ? to_double(w, item, &d) : to_varint(w, f, item, &n);
        if (r < 0)
            return r;
        if (f->scalar == MESSAGE_DOUBLE) {
            memcpy(&n, &d, sizeof(n));
            put_fixed(w, n, sizeof(n));
        } else if (is_double) {
            const float narrow = (float)d;
            uint32_t bits;
            memcpy(&bits, &narrow, sizeof(bits));
            put_fixed(w, bits, sizeof(bits));
        } else {
            wire_varint(w->out, n);
        }
    }
    close_length(w, start);
    return 0;
}

static int write_list(struct writer *w, const struct message_field *f, const struct value *v)
{
    if (!value_is(v, VALUE_ARRAY))
        return refuse(w, "an array");
    if (is_packed(f))
        return v->n ? write_packed(w, f, v) : 0;
    value_each_item (item, v) {
        int r = write_one(w, f, item, false);
        if (r < 0)
            return r;
    }
    return 0;
}

static int write_map(struct writer *w, const struct message_field *f, const struct value *v)
{
    struct message_field entry = *f;
    entry.number = 2;
    if (!value_is(v, VALUE_OBJECT))
        return refuse(w, "an object");
    value_each_field (pair, v) {
        const size_t start = open_length(w, f->number);
        wire_bytes(w->out, 1, pair->key);
        int r = write_one(w, &entry, &pair->val, true);
        if (r < 0)
            return err_wrap(w->err, STR_FMT, STR_ARG(pair->key));
        close_length(w, start);
    }
    return 0;
}

static int write_field(struct writer *w, const struct message_field *f, const struct value *v)
{
    int r = f->is_list  ? write_list(w, f, v)
            : f->is_map ? write_map(w, f, v)
                        : write_one(w, f, v, !f->is_explicit);
    return r < 0 ? err_wrap(w->err, STR_FMT, STR_ARG(f->name)) : 0;
}

/* "connectTimeout" is connect_timeout. */
static bool is_camel_of(struct str camel, struct str name)
{
    size_t c = 0;
    for (size_t i = 0; i < name.n; i++, c++) {
        const bool is_bar = name.p[i] == '_' && i + 1 < name.n;
        if (is_bar)
            i++;
        const char want = is_bar && name.p[i] >= 'a' && name.p[i] <= 'z'
                              ? (char)(name.p[i] - 'a' + 'A')
                              : name.p[i];
        if (c == camel.n || camel.p[c] != want)
            return false;
    }
    return c == camel.n;
}

static const struct message_field *find_field(const struct message_type *m, struct str key)
{
    for (size_t i = 0; i < m->n_fields; i++)
        if (str_eq(m->fields[i].name, key))
            return &m->fields[i];
    for (size_t i = 0; i < m->n_fields; i++)
        if (is_camel_of(key, m->fields[i].name))
            return &m->fields[i];
    return NULL;
}

/* The tree may have them in any order; bytes have them in that of their numbers. */
static int write_fields(struct writer *w, const struct message_type *m, const struct value *v,
                        struct str but)
{
    const struct value *found[MESSAGE_FIELDS_MAX] = { NULL };
    if (!value_is(v, VALUE_OBJECT))
        return refuse(w, "an object");
    value_each_field (pair, v) {
        if (value_is(&pair->val, VALUE_NULL) || (but.n && str_eq(pair->key, but)))
            continue;
        const struct message_field *f = find_field(m, pair->key);
        if (!f)
            return err_set(w->err, ERR_INVALID, STR_FMT " has no field \"" STR_FMT "\"",
                           STR_ARG(m->name), STR_ARG(pair->key));
        found[f - m->fields] = &pair->val;
    }
    for (size_t i = 0; i < m->n_fields; i++) {
        int r = found[i] ? write_field(w, &m->fields[i], found[i]) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Messages that look different as JSON ---- */

static int write_any(struct writer *w, const struct value *v)
{
    struct str url = value_text(v, "@type"), rest = url;
    ptrdiff_t slash;
    while ((slash = str_find(rest, '/')) >= 0)
        rest = str_skip(rest, (size_t)slash + 1);
    const struct message_type *inner = message_find(rest);
    if (!inner)
        return err_set(w->err, ERR_INVALID, "there is no message \"" STR_FMT "\"", STR_ARG(url));
    wire_bytes(w->out, 1, url);
    const size_t start = open_length(w, 2);
    int r = inner->form == MESSAGE_PLAIN ? write_fields(w, inner, v, STR("@type"))
                                         : write_message(w, inner, value_get(v, STR("value")));
    if (r < 0)
        return err_wrap(w->err, STR_FMT, STR_ARG(inner->name));
    if (w->out->n > start) {
        close_length(w, start);
        return 0;
    }
    w->out->n -= 2; /* an empty value is left out */
    return 0;
}

static int write_duration(struct writer *w, const struct value *v)
{
    int64_t seconds;
    int32_t nanos;
    if (!value_is(v, VALUE_STRING) || !message_duration_read(value_str(v), &seconds, &nanos))
        return refuse(w, "a duration, as \"1.5s\"");
    wire_int(w->out, 1, (uint64_t)seconds);
    wire_int(w->out, 2, (uint64_t)(int64_t)nanos);
    return 0;
}

/* google.protobuf.Value has a field for each type of JSON: 1 to 6. */
static int write_json(struct writer *w, const struct message_type *m, const struct value *v)
{
    static const uint8_t number_of[] = {
        [VALUE_NULL] = 1, [VALUE_NUMBER] = 2, [VALUE_INT] = 2,   [VALUE_STRING] = 3,
        [VALUE_BOOL] = 4, [VALUE_OBJECT] = 5, [VALUE_ARRAY] = 6,
    };
    static const struct value zero = { .type = VALUE_INT };
    const unsigned number = v ? number_of[v->type] : 1;
    for (size_t i = 0; i < m->n_fields; i++)
        if (m->fields[i].number == number)
            return write_one(w, &m->fields[i], number == 1 ? &zero : v, false);
    return 0;
}

static int write_form(struct writer *w, const struct message_type *m, const struct value *v)
{
    switch (m->form) {
    case MESSAGE_ANY:
        return write_any(w, v);
    case MESSAGE_DURATION:
        return write_duration(w, v);
    case MESSAGE_WRAPPER:
        return write_one(w, &m->fields[0], v, true);
    case MESSAGE_STRUCT:
        return write_map(w, &m->fields[0], v);
    case MESSAGE_LIST:
        return write_list(w, &m->fields[0], v);
    case MESSAGE_VALUE:
        return write_json(w, m, v);
    default:
        return write_fields(w, m, v, STR(""));
    }
}

static int write_message(struct writer *w, const struct message_type *m, const struct value *v)
{
    if (w->depth == MESSAGE_DEPTH_MAX)
        return err_set(w->err, ERR_INVALID, "it nests deeper than %d", MESSAGE_DEPTH_MAX);
    w->depth++;
    int r = write_form(w, m, v);
    w->depth--;
    return r;
}

int message_write(struct buf *out, const struct message_type *m, const struct value *v,
                  struct err *err)
{
    struct writer w = { out, err, 0 };
    const size_t start = out->n;
    int r = write_message(&w, m, v);
    if (r < 0)
        out->n = start;
    return r;
}
