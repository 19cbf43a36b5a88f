#include "api/random/random_object.h"
#include "base/idiom.h"

#include "api/convert/convert.h"
#include "api/typed.h"
#include "base/banned.h"

enum { FEW = 4 }; /* items, entries and levels of what has no table */

/* ---- Numbers and texts ---- */

/* splitmix64: neighbouring seeds have nothing in common. */
uint32_t random_below(struct random *r, uint32_t n)
{
    r->seed += 0x9e3779b97f4a7c15u;
    uint64_t z = r->seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

#define random_of(r, list) ((list)[random_below((r), ARRAY_LEN(list))])

/* What the rules of some kind look for. */
static const struct str rule_texts[] = {
    STR(""),      STR("a"),     STR("a.b"), STR("A_B"),       STR("10.0.0.1"),
    STR("::1/0"), STR("/a/.."), STR("In"),  STR("0 0 1 1 *"), STR("example.com/x"),
};

/* What some encoder has to escape, quote, fold or leave alone. */
static const struct str hard_texts[] = {
    STR("yes"),
    STR("null"),
    STR("~"),
    STR("1e3"),
    STR("0x1f"),
    STR("017"),
    STR("12:30"),
    STR("2026-01-02"),
    STR(".nan"),
    STR(" leading"),
    STR("trailing "),
    STR("two\nlines"),
    STR("line\n"),
    STR("\n"),
    STR("\ttab"),
    STR("\r\n"),
    STR("\x01\x1f\x7f"),
    STR("a\0b"),
    STR("\"quotes' \\"),
    STR("# hash"),
    STR("- dash"),
    STR("key: value"),
    STR("{brace"),
    STR("[1]"),
    STR("&a *b !c"),
    STR("<html>"),
    STR("%x @y `z"),
    STR("ünï çødé"),
    STR("\xe2\x80\xa8\xe2\x80\xa9"),
    STR("\xf0\x9f\x9a\xa2"),
    STR("\xef\xbb\xbf"),
    STR("\xc2\x85"),
    STR("words that go on and on until the line is longer than eighty columns, and then some more"),
    STR("one-word-that-goes-on-and-on-until-the-line-is-longer-than-eighty-columns-without-a-"
        "break"),
};

static struct str random_text(struct random *r)
{
    return random_below(r, 3) ? random_of(r, rule_texts) : random_of(r, hard_texts);
}

static struct value random_number(struct random *r)
{
    static const int64_t numbers[] = { 0, 1, -1, 80, 65536, INT32_MAX, INT32_MIN };
    return value_int(random_of(r, numbers));
}

/* ---- Values without a table ---- */

static struct value random_json(struct random *r, struct arena *a, unsigned depth)
{
    static const struct str fractions[] = { STR("1.5"), STR("-0.25"), STR("1e+21"), STR("5e-7") };
    switch (random_below(r, depth ? 7 : 5)) {
    case 0:
        return value_null();
    case 1:
        return value_bool(random_below(r, 2));
    case 2:
        return random_below(r, 4) ? random_number(r) : value_int(INT64_MIN + 1);
    case 3:
        return value_number(random_of(r, fractions));
    case 4:
        return value_string(random_text(r));
    case 5: {
        struct value list = value_array();
        for (uint32_t n = random_below(r, FEW); n; n--)
            value_put_item(a, &list, random_json(r, a, depth - 1));
        return list;
    }
    default: {
        struct value map = value_object();
        for (uint32_t n = random_below(r, FEW); n; n--)
            value_put(a, &map, random_text(r), random_json(r, a, depth - 1));
        return map;
    }
    }
}

static struct value random_json_object(struct random *r, struct arena *a)
{
    struct value v;
    do
        v = random_json(r, a, FEW);
    while (v.type != VALUE_OBJECT);
    return v;
}

/* ---- Leaves ---- */

static struct value random_string(struct random *r, const struct kind_field *f)
{
    if (f->n_values && random_below(r, 4))
        return value_string(f->values[random_below(r, f->n_values)]);
    return value_string(random_text(r));
}

static struct value random_time(struct random *r, bool micros)
{
    static const struct str seconds[] = { STR("2026-01-02T03:04:05Z"), STR("1970-01-01T00:00:00Z"),
                                          STR("1900-02-28T23:59:59Z") };
    static const struct str micro[] = { STR("2026-01-02T03:04:05.000006Z"),
                                        STR("1969-12-31T23:59:59.999999Z") };
    return value_string(micros ? random_of(r, micro) : random_of(r, seconds));
}

/* A value of the field's type, seldom a good one. */
static struct value random_scalar(struct random *r, struct arena *a, const struct kind_field *f)
{
    static const struct str quantities[] = { STR("0"),   STR("1"),  STR("-1"), STR("500m"),
                                             STR("3Mi"), STR("1n"), STR("9E"), STR("0.1") };
    static const struct str doubles[] = { STR("-1.5"), STR("0"), STR("1e+21") };
    static const struct str durations[] = { STR("-1h0m0s"), STR("0s"), STR("1.5s") };
    static const struct str bytes[] = { STR("YQ=="), STR(""), STR("AP/+/w==") };
    switch ((enum kind_scalar)f->scalar) {
    case KIND_INT32:
    case KIND_INT64:
        return random_number(r);
    case KIND_BOOL:
        return value_bool(random_below(r, 2));
    case KIND_DOUBLE:
        return value_number(random_of(r, doubles));
    case KIND_BYTES:
        return value_string(random_of(r, bytes));
    case KIND_TIME:
        return random_time(r, false);
    case KIND_MICRO_TIME:
        return random_time(r, true);
    case KIND_DURATION:
        return value_string(random_of(r, durations));
    case KIND_QUANTITY:
        return value_string(random_of(r, quantities));
    case KIND_INT_OR_STRING:
        return random_below(r, 2) ? random_number(r) : value_string(STR("101%"));
    case KIND_STRING:
        return random_string(r, f);
    case KIND_RAW:
    case KIND_FIELDS_V1:
        return random_json_object(r, a);
    case KIND_ANY:
        return random_json(r, a, FEW);
    case KIND_STRUCT:
        break;
    }
    return random_below(r, 2) ? value_object() : value_null();
}

/* Any value at all; strings are now and then those that rules ask for. */
static struct value random_leaf(struct random *r, struct arena *a, const struct kind_field *f)
{
    static const struct str texts[] = { STR(""),          STR("RollingUpdate"), STR("ClientIP"),
                                        STR("Container"), STR("LoadBalancer"),  STR("1u"),
                                        STR("Webhook"),   STR("a:latest") };
    if (!r->wild)
        return random_scalar(r, a, f);
    switch (random_below(r, 4)) {
    case 0:
        return random_json(r, a, 1);
    case 1:
        if (f->n_values)
            return value_string(f->values[random_below(r, f->n_values)]);
        __attribute__((fallthrough));
    default:
        return value_string(random_of(r, texts));
    }
}

/* ---- Structs ---- */

static struct value random_one(struct random *r, struct arena *a, const struct kind_field *f,
                               unsigned depth)
{
    bool is_struct = f->scalar == KIND_STRUCT,
         is_flat = is_struct && f->type->form == KIND_FORM_STRINGS;
    if (is_struct && (random_below(r, 8) ? depth || is_flat : is_flat && !r->wild))
        return random_struct(r, a, f->type, depth ? depth - 1 : 0);
    return random_leaf(r, a, f);
}

static struct value random_value(struct random *r, struct arena *a, const struct kind_field *f,
                                 unsigned depth)
{
    if (f->shape == KIND_SINGLE || (r->wild && !random_below(r, 8)))
        return random_one(r, a, f, depth);
    struct value v = f->shape == KIND_LIST ? value_array() : value_object();
    for (uint32_t n = random_below(r, FEW); n; n--) {
        if (f->shape == KIND_LIST)
            value_put_item(a, &v, random_one(r, a, f, depth));
        else /* in no order, and now and then twice */
            value_put_new(a, &v, arena_printf(a, "%c", 'a' + (int)random_below(r, FEW)),
                          random_one(r, a, f, depth));
    }
    return v;
}

static void add_fields(struct random *r, struct arena *a, const struct kind_type *t, unsigned depth,
                       struct value *obj)
{
    for (size_t i = 0; i < t->n_fields; i++)
        if (t->fields[i].flags & KIND_INLINE)
            add_fields(r, a, t->fields[i].type, depth, obj);
        else if (random_below(r, 3))
            value_put_new(a, obj, t->fields[i].name, random_value(r, a, &t->fields[i], depth));
}

static struct value random_list(struct random *r, struct arena *a, const struct kind_type *t,
                                unsigned depth)
{
    struct value list = value_array();
    for (uint32_t n = random_below(r, FEW); n; n--)
        value_put_item(a, &list, t ? random_struct(r, a, t, depth) : value_string(random_text(r)));
    return list;
}

/* Types whose JSON is not an object of their fields. */
static struct value random_form(struct random *r, struct arena *a, const struct kind_type *t,
                                unsigned depth)
{
    const struct kind_field *schema = kind_field_find(t, STR("schema"));
    if (t->form == KIND_FORM_STRINGS)
        return random_list(r, a, NULL, depth);
    if (t->form == KIND_FORM_ANY || !schema)
        return random_json(r, a, FEW);
    if (random_below(r, 2))
        return random_struct(r, a, schema->type, depth);
    if (t->form == KIND_FORM_SCHEMA_OR_BOOL)
        return value_bool(random_below(r, 2));
    return random_list(r, a, t->form == KIND_FORM_SCHEMA_OR_ARRAY ? schema->type : NULL, depth);
}

struct value random_struct(struct random *r, struct arena *a, const struct kind_type *t,
                           unsigned depth)
{
    struct value obj = value_object();
    if (t->form != KIND_FORM_OBJECT)
        return random_form(r, a, t, depth ? depth - 1 : 0);
    add_fields(r, a, t, depth, &obj);
    return obj;
}

bool random_typed(struct random *r, struct arena *a, const struct kind_type *t, unsigned depth,
                  struct value *ret)
{
    struct value raw = random_struct(r, a, t, depth);
    if (t->flags & KIND_HAS_TYPE_META) {
        value_put(a, &raw, STR("kind"), value_string(t->name));
        value_put(a, &raw, STR("apiVersion"), value_string(convert_api_version(a, t)));
    }
    return typed_read(a, t, &raw, NULL, ret, NULL) == 0;
}
