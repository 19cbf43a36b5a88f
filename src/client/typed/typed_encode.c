/* typed_encode.c - structs to trees. */
#include "client/typed/typed_item.h"

#include <math.h>

#include "api/go/gofloat.h"
#include "base/base64.h"
#include "base/banned.h"

static struct value encode_struct(struct arena *a, const struct spn_struct *t, const void *s);
static struct value encode_items(struct arena *a, const struct spn_field *f,
                                 const struct typed_items *list);

static struct value encode_text(const struct spn_text *t)
{
    return value_string(t->p ? str_in(*t) : STR(""));
}

static struct value encode_bytes(struct arena *a, const struct spn_text *t)
{
    autobuf text = { 0 };
    base64_encode(&text, str_in(*t));
    return value_string(arena_str(a, buf_str(&text)));
}

/* The number as it was read, unless the program has changed it. */
static struct value encode_number(struct arena *a, const struct spn_number *n)
{
    if (n->exact.p) {
        struct value exact = value_number(str_in(n->exact));
        double d;
        if (value_to_double(&exact, &d) && d == n->value)
            return exact;
    }
    /* JSON has no word for what is not finite. */
    return isfinite(n->value) ? value_number(gofloat_text(a, n->value)) : value_null();
}

static struct value encode_int_or_text(const struct spn_int_or_text *x)
{
    return x->text.p ? value_string(str_in(x->text)) : value_int(x->value);
}

static struct value encode_value(const struct spn_value *v)
{
    return v ? value_borrow(value_in(v)) : value_null();
}

static struct value encode_item(struct arena *a, const struct spn_field *f, const void *at)
{
    switch ((enum spn_what)f->what) {
    case SPN_IS_TEXT:
        return encode_text(at);
    case SPN_IS_BYTES:
        return encode_bytes(a, at);
    case SPN_IS_BOOL:
        return value_bool(*(const bool *)at);
    case SPN_IS_INT:
        return value_int(*(const int64_t *)at);
    case SPN_IS_NUMBER:
        return encode_number(a, at);
    case SPN_IS_INT_OR_TEXT:
        return encode_int_or_text(at);
    case SPN_IS_VALUE:
        return encode_value(*(const struct spn_value *const *)at);
    case SPN_IS_STRUCT:
        return encode_struct(a, f->type, at);
    case SPN_IS_NESTED:
        return encode_items(a, f->inner, at);
    }
    return value_null();
}

static struct value encode_items(struct arena *a, const struct spn_field *f,
                                 const struct typed_items *list)
{
    if (!list->p)
        return value_null();
    struct value all = f->shape == SPN_LIST ? value_array() : value_object();
    for (size_t i = 0; i < list->n; i++) {
        struct value item = encode_item(a, f, typed_item(f, list, i));
        if (f->shape == SPN_LIST)
            value_put_item(a, &all, item);
        else
            value_put_new(a, &all, str_in(*typed_name(f, list, i)), item);
    }
    return all;
}

/* False: the field is absent. */
static bool encode_one(struct arena *a, const struct spn_field *f, const void *at,
                       struct value *ret)
{
    switch ((enum spn_what)f->what) {
    case SPN_IS_BOOL:
        *ret = value_bool(((const struct spn_bool *)at)->value);
        return ((const struct spn_bool *)at)->is_set;
    case SPN_IS_INT:
        *ret = value_int(((const struct spn_int *)at)->value);
        return ((const struct spn_int *)at)->is_set;
    case SPN_IS_STRUCT: {
        const void *inner = *(const void *const *)at;
        if (inner)
            *ret = encode_struct(a, f->type, inner);
        return inner;
    }
    default:
        break;
    }
    bool is_there = f->what == SPN_IS_NUMBER        ? ((const struct spn_number *)at)->is_set
                    : f->what == SPN_IS_INT_OR_TEXT ? ((const struct spn_int_or_text *)at)->is_set
                                                    : *(const void *const *)at != NULL;
    if (is_there)
        *ret = encode_item(a, f, at);
    return is_there;
}

static bool encode_field(struct arena *a, const struct spn_field *f, const void *at,
                         struct value *ret)
{
    if (f->shape == SPN_ONE)
        return encode_one(a, f, at, ret);
    const struct typed_items *list = at;
    if (list->p)
        *ret = encode_items(a, f, list);
    return list->p;
}

/* What the program has set meanwhile counts more than what was null. */
static void encode_rest(struct arena *a, const struct value *rest, struct value *out)
{
    uint32_t n_known = out->n;
    value_each_field (f, rest) {
        struct value known = { .type = VALUE_OBJECT, .n = n_known, .fields = out->fields };
        if (!value_get(&known, f->key))
            value_put_new(a, out, f->key, value_borrow(&f->val));
    }
}

static struct value encode_struct(struct arena *a, const struct spn_struct *t, const void *s)
{
    struct value out = value_object(), v;
    for (size_t i = 0; i < t->n_fields; i++)
        if (encode_field(a, &t->fields[i], typed_at(s, &t->fields[i]), &v))
            value_put_new(a, &out, str_of(t->fields[i].name), v);
    encode_rest(a, value_in(*typed_rest(t, s)), &out);
    return out;
}

struct spn_value *spn_typed_encode(const struct spn_struct *t, struct spn_arena *a, const void *s)
{
    struct value *v = arena_new(arena_in(a), struct value);
    *v = encode_struct(arena_in(a), t, s);
    return value_out_edit(v);
}
