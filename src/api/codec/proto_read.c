/* proto_read.c - protobuf to a value tree.
 *
 * A message becomes an object with its fields in the order they came, in the form JSON has for
 * them; typed_read() then puts them in order and leaves out what JSON leaves out. So there is one
 * place that knows how an object looks, whichever way it came in. */
#include "api/codec/proto.h"

#include <math.h>

#include "api/go/gofloat.h"
#include "api/go/gotime.h"
#include "api/typed.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/banned.h"

/* What RFC 3339 can write, in seconds since 1970. */
#define YEAR_1        INT64_C(-62135596800)
#define YEAR_9999_END INT64_C(253402300799)

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_FIXED32 };

/* One field as it stands on the wire. */
struct wire {
    uint32_t number;
    uint32_t type;
    uint64_t bits;    /* varint and fixed */
    struct str bytes; /* WIRE_BYTES */
};

struct reader {
    struct arena *arena;   /* for what stays */
    struct arena *scratch; /* for messages, until typed_read() has seen them */
    struct err *err;
    unsigned depth;
};

static int fail(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_BAD_REQUEST, "protobuf: %s", what);
}

/* In the words of Go's reader, which clients see. */
static int cut_short(struct reader *r)
{
    return err_set(r->err, ERR_BAD_REQUEST, "unexpected EOF");
}

/* ---- The wire ---- */

static bool eat_varint(struct str *s, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70 && s->n; shift += 7) {
        unsigned char byte = (unsigned char)s->p[0];
        *s = str_skip(*s, 1);
        if (shift == 63 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool eat_fixed(struct str *s, size_t n, uint64_t *ret)
{
    if (s->n < n)
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)s->p[i] << (8 * i);
    *s = str_skip(*s, n);
    *ret = v;
    return true;
}

static int eat_field(struct reader *r, struct str *s, struct wire *ret);

/* Everything up to the end of the group with this number. */
static int skip_group(struct reader *r, struct str *s, uint32_t number)
{
    if (r->depth >= PROTO_DEPTH_MAX)
        return fail(r, "nested too deeply");
    r->depth++;
    for (;;) {
        struct wire w = { 0 };
        int e = s->n ? eat_field(r, s, &w) : cut_short(r);
        if (e < 0)
            return e;
        if (w.type == WIRE_GROUP_END) {
            r->depth--;
            return w.number == number ? 0 : fail(r, "a group ends that did not begin");
        }
    }
}

static int eat_field(struct reader *r, struct str *s, struct wire *ret)
{
    uint64_t tag, n;
    if (!eat_varint(s, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return fail(r, "a field's tag is not one");
    *ret = (struct wire){ .number = (uint32_t)(tag >> 3), .type = tag & 7 };
    switch (ret->type) {
    case WIRE_VARINT:
        return eat_varint(s, &ret->bits) ? 0 : cut_short(r);
    case WIRE_FIXED64:
        return eat_fixed(s, 8, &ret->bits) ? 0 : cut_short(r);
    case WIRE_FIXED32:
        return eat_fixed(s, 4, &ret->bits) ? 0 : cut_short(r);
    case WIRE_BYTES:
        if (!eat_varint(s, &n) || n > s->n)
            return cut_short(r);
        ret->bytes = str_take(*s, (size_t)n);
        *s = str_skip(*s, (size_t)n);
        return 0;
    case WIRE_GROUP:
        return skip_group(r, s, ret->number);
    case WIRE_GROUP_END:
        return 0;
    default:
        return fail(r, "there is no such wire type");
    }
}

/* The next field that is not a stray group. */
static int next_field(struct reader *r, struct str *s, struct wire *ret)
{
    int e = eat_field(r, s, ret);
    if (e == 0 && ret->type == WIRE_GROUP_END)
        return fail(r, "a group ends that did not begin");
    return e;
}

/* ---- Scalars ---- */

static int read_text(struct reader *r, struct str bytes, struct value *ret)
{
    if (!utf8_valid(bytes))
        return fail(r, "a text is not UTF-8");
    *ret = value_string(bytes);
    return 0;
}

/* The fields of a small message, by number 1 to 3; others are skipped. */
static int read_small(struct reader *r, struct str s, struct wire fields[static 4])
{
    for (int i = 0; i < 4; i++)
        fields[i] = (struct wire){ 0 };
    while (s.n) {
        struct wire w = { 0 };
        int e = next_field(r, &s, &w);
        if (e < 0)
            return e;
        if (w.number < 4)
            fields[w.number] = w;
    }
    return 0;
}

static int read_time(struct reader *r, struct str s, bool micros, struct value *ret)
{
    struct wire f[4];
    int e = read_small(r, s, f);
    if (e < 0)
        return e;
    *ret = value_null();
    struct gotime t = { (int64_t)f[1].bits, (int32_t)f[2].bits };
    if (!s.n)
        return 0;
    if (t.sec < YEAR_1 || t.sec > YEAR_9999_END || t.nanos < 0 || t.nanos > 999999999)
        return fail(r, "a time is out of range");
    *ret = value_string(gotime_format(r->arena, t, micros));
    return 0;
}

static int read_int_or_string(struct reader *r, struct str s, struct value *ret)
{
    struct wire f[4];
    int e = read_small(r, s, f);
    if (e < 0)
        return e;
    if (f[1].bits == 1)
        return read_text(r, f[3].bytes, ret);
    *ret = value_int((int32_t)f[2].bits);
    return 0;
}

static int read_quantity(struct reader *r, struct str s, struct value *ret)
{
    struct wire f[4];
    int e = read_small(r, s, f);
    return e < 0 ? e : read_text(r, f[1].bytes, ret);
}

/* JSON text in field 1; no text is null. */
static int read_json(struct reader *r, struct str s, struct value *ret)
{
    struct wire f[4];
    int e = read_small(r, s, f);
    if (e < 0)
        return e;
    *ret = value_null();
    if (!f[1].bytes.n)
        return 0;
    e = json_read(r->arena, f[1].bytes, NULL, ret, r->err);
    return e < 0 ? err_wrap(r->err, "protobuf: embedded JSON") : 0;
}

static struct value base64_of(struct reader *r, struct str bytes)
{
    autobuf text = { 0 };
    base64_encode(&text, bytes);
    return value_string(arena_str(r->arena, buf_str(&text)));
}

static int read_double(struct reader *r, uint64_t bits, struct value *ret)
{
    double d;
    memcpy(&d, &bits, sizeof(d));
    if (!isfinite(d))
        return fail(r, "a number that JSON cannot have");
    *ret = value_number(gofloat_text(r->arena, d));
    return 0;
}

static int read_message(struct reader *r, const struct kind_type *t, struct str s,
                        struct value *into);

static uint32_t wire_type_of(const struct kind_field *f)
{
    switch ((enum kind_scalar)f->scalar) {
    case KIND_INT32:
    case KIND_INT64:
    case KIND_BOOL:
        return WIRE_VARINT;
    case KIND_DOUBLE:
        return WIRE_FIXED64;
    default:
        return WIRE_BYTES;
    }
}

static int read_form(struct reader *r, const struct kind_type *t, struct str s, struct value *ret);

static int read_struct(struct reader *r, const struct kind_type *t, struct str s, struct value *ret)
{
    if (t->form != KIND_FORM_OBJECT)
        return read_form(r, t, s, ret);
    *ret = value_object();
    return read_message(r, t, s, ret);
}

static int read_one(struct reader *r, const struct kind_field *f, const struct wire *w,
                    struct value *ret)
{
    if (w->type != wire_type_of(f))
        return fail(r, "a field has the wrong wire type");
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRING:
        return read_text(r, w->bytes, ret);
    case KIND_INT32:
        *ret = value_int((int32_t)w->bits);
        return 0;
    case KIND_INT64:
        *ret = value_int((int64_t)w->bits);
        return 0;
    case KIND_BOOL:
        *ret = value_bool(w->bits != 0);
        return 0;
    case KIND_BYTES:
        *ret = base64_of(r, w->bytes);
        return 0;
    case KIND_DOUBLE:
        return read_double(r, w->bits, ret);
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return read_time(r, w->bytes, f->scalar == KIND_MICRO_TIME, ret);
    case KIND_QUANTITY:
        return read_quantity(r, w->bytes, ret);
    case KIND_INT_OR_STRING:
        return read_int_or_string(r, w->bytes, ret);
    case KIND_RAW:
    case KIND_FIELDS_V1:
    case KIND_ANY:
        return read_json(r, w->bytes, ret);
    case KIND_STRUCT:
        return read_struct(r, f->type, w->bytes, ret);
    case KIND_DURATION: /* no built-in kind has one */
        break;
    }
    return fail(r, "a field of an unknown kind");
}

/* ---- Fields ---- */

static int read_map_entry(struct reader *r, const struct kind_field *f, const struct wire *w,
                          struct value *map)
{
    if (w->type != WIRE_BYTES)
        return fail(r, "a map entry is not a message");
    struct wire entry[4];
    int e = read_small(r, w->bytes, entry);
    if (e < 0)
        return e;
    struct value key = value_null(), val = value_null();
    e = read_text(r, entry[1].bytes, &key);
    if (e < 0)
        return e;
    e = entry[2].number ? read_one(r, f, &entry[2], &val) : 0;
    if (e < 0)
        return e;
    value_put_new(r->scratch, map, value_str(&key), val);
    return 0;
}

static int read_field(struct reader *r, const struct kind_field *f, const struct wire *w,
                      struct value *into)
{
    if (f->flags & KIND_INLINE)
        return w->type == WIRE_BYTES ? read_message(r, f->type, w->bytes, into)
                                     : fail(r, "a field has the wrong wire type");
    struct value *old = value_edit(r->scratch, into, f->name);
    if (f->shape == KIND_MAP || f->shape == KIND_LIST) {
        bool is_map = f->shape == KIND_MAP;
        if (!old)
            old = value_add(r->scratch, into, f->name, is_map ? value_object() : value_array());
        if (is_map)
            return read_map_entry(r, f, w, old);
    }
    struct value v = value_null();
    int e = read_one(r, f, w, &v);
    if (e < 0)
        return e;
    if (f->shape == KIND_LIST)
        value_put_item(r->scratch, old, v);
    else
        value_put(r->scratch, into, f->name, v);
    return 0;
}

static int read_message(struct reader *r, const struct kind_type *t, struct str s,
                        struct value *into)
{
    if (r->depth >= PROTO_DEPTH_MAX)
        return fail(r, "nested too deeply");
    r->depth++;
    while (s.n) {
        struct wire w = { 0 };
        if (arena_spent(r->arena))
            return allowance_error(r->arena->allowance, r->err);
        int e = next_field(r, &s, &w);
        const struct kind_field *f = e == 0 ? kind_field_numbered(t, w.number) : NULL;
        if (f)
            e = read_field(r, f, &w, into);
        if (e < 0)
            return e;
    }
    r->depth--;
    return 0;
}

/* The types whose JSON is not an object of their fields: read as one, then take what is set. */
static int read_form(struct reader *r, const struct kind_type *t, struct str s, struct value *ret)
{
    if (t->form == KIND_FORM_ANY)
        return read_json(r, s, ret);
    struct value fields = value_object();
    int e = read_message(r, t, s, &fields);
    if (e < 0)
        return e;
    const struct value *schema = value_get(&fields, STR("schema")), *other = NULL;
    switch ((enum kind_json_form)t->form) {
    case KIND_FORM_STRINGS:
        other = value_get(&fields, STR("items"));
        break;
    case KIND_FORM_SCHEMA_OR_ARRAY:
        other = value_get(&fields, STR("jSONSchemas"));
        break;
    case KIND_FORM_SCHEMA_OR_BOOL:
        other = value_get(&fields, STR("allows"));
        break;
    case KIND_FORM_SCHEMA_OR_STRINGS:
        other = value_get(&fields, STR("property"));
        break;
    case KIND_FORM_ANY:
    case KIND_FORM_OBJECT:
        break;
    }
    if (!schema)
        schema = other;
    *ret = schema ? value_borrow(schema) : value_null();
    return 0;
}

/* ---- Whole objects ---- */

bool proto_is_envelope(struct str bytes)
{
    return str_starts(bytes, STR("k8s\0"));
}

static int read_texts(struct reader *r, struct wire *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct value ignored;
        int e = read_text(r, f[i].bytes, &ignored);
        if (e < 0)
            return e;
    }
    return 0;
}

int proto_envelope_read(struct str bytes, struct proto_envelope *ret, struct err *err)
{
    struct reader r = { .err = err };
    if (!bytes.n)
        return err_set(err, ERR_BAD_REQUEST, "empty data");
    if (!proto_is_envelope(bytes))
        return err_set(err, ERR_BAD_REQUEST,
                       "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]");
    struct str s = str_skip(bytes, 4);
    if (!s.n)
        return err_set(err, ERR_BAD_REQUEST, "empty body");
    struct wire type_meta[4] = { 0 };
    *ret = (struct proto_envelope){ 0 };
    while (s.n) {
        struct wire w = { 0 };
        int e = next_field(&r, &s, &w);
        if (e < 0)
            return e;
        if (w.number == 1)
            e = read_small(&r, w.bytes, type_meta);
        else if (w.number == 3 || w.number == 4)
            e = read_texts(&r, &w, 1);
        if (e < 0)
            return e;
        if (w.number == 2)
            ret->raw = w.bytes;
        else if (w.number == 3)
            ret->content_encoding = w.bytes;
        else if (w.number == 4)
            ret->content_type = w.bytes;
    }
    ret->api_version = type_meta[1].bytes;
    ret->kind = type_meta[2].bytes;
    return read_texts(&r, type_meta + 1, 2);
}

static int read_tree(struct reader *r, const struct kind_type *t, struct str raw,
                     struct value *tree, struct value *ret)
{
    int e = read_message(r, t, raw, tree);
    if (e < 0)
        return e;
    return typed_read(r->arena, t, tree, NULL, ret, r->err);
}

int proto_read(struct arena *a, const struct kind_type *t, struct str raw, struct str api_version,
               struct str kind, struct value *ret, struct err *err)
{
    struct arena scratch;
    struct reader r = { .arena = a, .scratch = &scratch, .err = err };
    struct value tree = value_object();
    arena_init(&scratch);
    arena_allow(&scratch, a->allowance);
    if (t->flags & KIND_HAS_TYPE_META) {
        value_put_new(&scratch, &tree, STR("kind"), value_string(kind));
        value_put_new(&scratch, &tree, STR("apiVersion"), value_string(api_version));
    }
    int e = read_tree(&r, t, raw, &tree, ret);
    arena_done(&scratch);
    return e;
}
