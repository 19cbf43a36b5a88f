/* proto_write.c - from the last byte to the first.
 *
 * A message stands behind its length, so bytes are put in front of those that are there already,
 * fields from the highest number down: when a message is complete its length is known, and nothing
 * is measured or moved twice. */
#include "api/codec/proto.h"

#include <assert.h>
#include <stdlib.h>

#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/banned.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Grows towards the front. Most objects fit into what is there from the beginning. */
struct back {
    char *p;
    size_t cap, at; /* p[at] is the first byte */
    char near[8192];
};

static void back_init(struct back *b)
{
    b->p = b->near;
    b->cap = b->at = sizeof(b->near);
}

static __attribute__((noinline)) void grow(struct back *b, size_t n)
{
    size_t used = b->cap - b->at, cap = 2 * b->cap;
    while (cap - used < n)
        cap *= 2;
    char *p = mem_alloc(cap);
    memcpy(p + cap - used, b->p + b->at, used);
    if (b->p != b->near)
        free(b->p);
    b->p = p;
    b->cap = cap;
    b->at = cap - used;
}

static inline char *room(struct back *b, size_t n)
{
    if (b->at < n)
        grow(b, n);
    b->at -= n;
    return b->p + b->at;
}

static size_t length(const struct back *b)
{
    return b->cap - b->at;
}

static inline void put_varint(struct back *b, uint64_t v)
{
    if (v < 0x80) { /* nearly all are: tags, lengths, ports and flags */
        *room(b, 1) = (char)v;
        return;
    }
    size_t n = 1;
    for (uint64_t rest = v; rest >= 0x80; rest >>= 7)
        n++;
    char *p = room(b, n);
    for (size_t i = 0; i < n; i++, v >>= 7)
        p[i] = (char)((v & 0x7f) | (i + 1 < n ? 0x80 : 0));
}

static void put_tag(struct back *b, uint32_t number, uint32_t wire)
{
    put_varint(b, (uint64_t)number << 3 | wire);
}

/* A tag and the number behind it: a value, or a length. */
static inline void put_tagged(struct back *b, uint32_t number, uint32_t wire, uint64_t v)
{
    if (number < 16 && v < 0x80) {
        char *p = room(b, 2);
        p[0] = (char)(number << 3 | wire);
        p[1] = (char)v;
        return;
    }
    put_varint(b, v);
    put_tag(b, number, wire);
}

static inline void put_bytes(struct back *b, uint32_t number, struct str s)
{
    if (s.n)
        memcpy(room(b, s.n), s.p, s.n);
    put_tagged(b, number, WIRE_BYTES, s.n);
}

static inline void put_int(struct back *b, uint32_t number, int64_t i)
{
    put_tagged(b, number, WIRE_VARINT, (uint64_t)i);
}

/* What was put since `before` becomes a message. */
static void close_message(struct back *b, uint32_t number, size_t before)
{
    put_tagged(b, number, WIRE_BYTES, length(b) - before);
}

static void put_message(struct back *b, const struct kind_type *t, const struct value *v);

/* ---- Scalars, by their number in the message around them ---- */

static void put_time(struct back *b, uint32_t number, const struct value *v, bool micros)
{
    size_t before = length(b);
    struct gotime t;
    if (value_str(v).n && gotime_parse(value_str(v), micros, &t, NULL) == 0) {
        put_int(b, 2, micros ? t.nanos / 1000 * 1000 : 0);
        put_int(b, 1, t.sec);
    }
    close_message(b, number, before);
}

static void put_quantity(struct back *b, uint32_t number, const struct value *v)
{
    size_t before = length(b);
    put_bytes(b, 1, value_is(v, VALUE_STRING) ? value_str(v) : STR("0"));
    close_message(b, number, before);
}

static void put_int_or_string(struct back *b, uint32_t number, const struct value *v)
{
    size_t before = length(b);
    int64_t i = 0;
    bool is_string = value_is(v, VALUE_STRING);
    (void)value_to_int(v, &i);
    put_bytes(b, 3, value_str(v));
    put_int(b, 2, i);
    put_int(b, 1, is_string);
    close_message(b, number, before);
}

/* JSON text inside a message with one field. */
static void put_json(struct back *b, uint32_t number, const struct value *v)
{
    size_t before = length(b);
    if (v && v->type != VALUE_NULL) {
        autobuf text = { 0 };
        json_write(&text, v);
        put_bytes(b, 1, buf_str(&text));
    }
    close_message(b, number, before);
}

static void put_decoded(struct back *b, uint32_t number, const struct value *v)
{
    autobuf bytes = { 0 };
    (void)base64_decode(&bytes, value_str(v));
    put_bytes(b, number, buf_str(&bytes));
}

static void put_double(struct back *b, uint32_t number, const struct value *v)
{
    double d = 0;
    (void)value_to_double(v, &d);
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    char *p = room(b, sizeof(bits));
    for (size_t i = 0; i < sizeof(bits); i++)
        p[i] = (char)(bits >> (8 * i));
    put_tag(b, number, WIRE_FIXED64);
}

/* One value, present or the zero of its kind. */
static void put_one(struct back *b, const struct kind_field *f, uint32_t number,
                    const struct value *v)
{
    int64_t i = 0;
    size_t before = length(b);
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRING:
        put_bytes(b, number, value_str(v));
        break;
    case KIND_INT32:
    case KIND_INT64:
        (void)value_to_int(v, &i);
        put_int(b, number, i);
        break;
    case KIND_BOOL:
        put_int(b, number, value_is(v, VALUE_BOOL) && v->b);
        break;
    case KIND_BYTES:
        put_decoded(b, number, v);
        break;
    case KIND_DOUBLE:
        put_double(b, number, v);
        break;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        put_time(b, number, v, f->scalar == KIND_MICRO_TIME);
        break;
    case KIND_QUANTITY:
        put_quantity(b, number, v);
        break;
    case KIND_INT_OR_STRING:
        put_int_or_string(b, number, v);
        break;
    case KIND_RAW:
    case KIND_FIELDS_V1:
    case KIND_ANY:
        put_json(b, number, v);
        break;
    case KIND_STRUCT:
        put_message(b, f->type, v);
        close_message(b, number, before);
        break;
    case KIND_DURATION: /* no built-in kind has one */
        break;
    }
}

/* ---- Fields ---- */

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct value_field *)a)->key, ((const struct value_field *)b)->key);
}

static void put_map(struct back *b, const struct kind_field *f, const struct value *v)
{
    if (!value_is(v, VALUE_OBJECT) || !v->n)
        return;
    autofree struct value_field *sorted = mem_dup(v->fields, v->n * sizeof(*sorted));
    qsort(sorted, v->n, sizeof(*sorted), by_key);
    for (size_t i = v->n; i-- > 0;) {
        size_t before = length(b);
        if (f->scalar != KIND_BYTES || sorted[i].val.type != VALUE_NULL)
            put_one(b, f, 2, &sorted[i].val);
        put_bytes(b, 1, sorted[i].key);
        close_message(b, f->number, before);
    }
}

static void put_list(struct back *b, const struct kind_field *f, const struct value *v)
{
    if (!value_is(v, VALUE_ARRAY))
        return;
    for (size_t i = v->n; i-- > 0;)
        put_one(b, f, f->number, &v->items[i]);
}

/* `v` is the field's value, or NULL. */
static void put_field(struct back *b, const struct kind_field *f, const struct value *v)
{
    bool is_set = v && v->type != VALUE_NULL;
    if (f->shape == KIND_MAP)
        put_map(b, f, v);
    else if (f->shape == KIND_LIST)
        put_list(b, f, v);
    else if (is_set || !(f->flags & KIND_POINTER || f->scalar == KIND_BYTES))
        put_one(b, f, f->number, v);
}

/* ---- Types whose JSON is not an object of their fields ---- */

static void put_strings(struct back *b, uint32_t number, const struct value *v)
{
    for (size_t i = value_is(v, VALUE_ARRAY) ? v->n : 0; i-- > 0;)
        put_bytes(b, number, value_str(&v->items[i]));
}

static void put_schema(struct back *b, const struct kind_type *t, const char *name,
                       const struct value *v)
{
    const struct kind_field *f = kind_field_find(t, str_of(name));
    assert(f);
    if (value_is(v, VALUE_OBJECT))
        put_one(b, f, f->number, v);
}

static void put_form(struct back *b, const struct kind_type *t, const struct value *v)
{
    static const struct value nothing = { .type = VALUE_NULL };
    if (!v)
        v = &nothing;
    switch ((enum kind_json_form)t->form) {
    case KIND_FORM_STRINGS:
        put_strings(b, 1, v);
        break;
    case KIND_FORM_ANY:
        if (v->type != VALUE_NULL) {
            autobuf text = { 0 };
            json_write(&text, v);
            put_bytes(b, 1, buf_str(&text));
        }
        break;
    case KIND_FORM_SCHEMA_OR_ARRAY:
        for (size_t i = v->type == VALUE_ARRAY ? v->n : 0; i-- > 0;)
            put_schema(b, t, "jSONSchemas", &v->items[i]);
        put_schema(b, t, "schema", v);
        break;
    case KIND_FORM_SCHEMA_OR_BOOL:
        put_schema(b, t, "schema", v);
        put_int(b, 1, v->type == VALUE_OBJECT || (v->type == VALUE_BOOL && v->b));
        break;
    case KIND_FORM_SCHEMA_OR_STRINGS:
        put_strings(b, 2, v);
        put_schema(b, t, "schema", v);
        break;
    case KIND_FORM_OBJECT:
        break;
    }
}

/* ---- Structs ---- */

enum { FIELDS_MAX = 128 }; /* of a type; proto_test.c holds the tables to it */

/* The index of the field of that name, or -1. Trees have their fields in the order of the table, so
 * it is nearly always not far behind the last one. */
static int find_from(const struct kind_type *t, struct str name, size_t from)
{
    for (size_t i = from; i < t->n_fields; i++)
        if (str_eq(t->fields[i].name, name))
            return (int)i;
    for (size_t i = 0; i < from && i < t->n_fields; i++)
        if (str_eq(t->fields[i].name, name))
            return (int)i;
    return -1;
}

/* The values of an object by the index of their fields. */
static void sort_out(const struct kind_type *t, const struct value *v, const struct value **ret)
{
    size_t next = 0;
    assert(t->n_fields <= FIELDS_MAX);
    memset(ret, 0, t->n_fields * sizeof(*ret));
    value_each_field (f, v) {
        int i = find_from(t, f->key, next);
        if (i < 0)
            continue;
        if (!ret[i])
            ret[i] = &f->val;
        next = (size_t)i + 1;
    }
}

/* Depth is bounded by typed_read(), which has seen the tree. */
static void put_message(struct back *b, const struct kind_type *t, const struct value *v)
{
    if (t->form != KIND_FORM_OBJECT) {
        put_form(b, t, v);
        return;
    }
    const struct value *values[FIELDS_MAX];
    sort_out(t, v, values);
    for (size_t i = t->n_numbers; i-- > 0;) {
        const struct kind_field *f = &t->fields[t->by_number[i]];
        /* In JSON the members of an inline struct are the parent's. */
        put_field(b, f, f->flags & KIND_INLINE ? v : values[t->by_number[i]]);
    }
}

/* ---- Whole objects ---- */

static void hand_over(struct buf *out, struct back *b)
{
    buf_add(out, b->p + b->at, length(b));
    if (b->p != b->near)
        free(b->p);
}

void proto_write(struct buf *out, const struct kind_type *t, const struct value *v)
{
    struct back b;
    back_init(&b);
    put_message(&b, t, v);
    hand_over(out, &b);
}

void proto_write_item(struct buf *out, uint32_t number, const struct kind_type *t,
                      const struct value *v)
{
    struct back b;
    back_init(&b);
    put_message(&b, t, v);
    close_message(&b, number, 0);
    hand_over(out, &b);
}

void proto_envelope_write(struct buf *out, const struct kind_type *t, const struct value *v)
{
    struct back b;
    back_init(&b);
    put_bytes(&b, 4, STR(""));
    put_bytes(&b, 3, STR(""));
    size_t before = length(&b);
    put_message(&b, t, v);
    close_message(&b, 2, before);
    before = length(&b);
    put_bytes(&b, 2, value_text(v, "kind"));
    put_bytes(&b, 1, value_text(v, "apiVersion"));
    close_message(&b, 1, before);
    memcpy(room(&b, 4), "k8s\0", 4);
    hand_over(out, &b);
}
