/* Values as trees, for patches, messages and tests. */
#include "cel/internal.h"

#include <inttypes.h>
#include <math.h>

#include "api/go/gofloat.h"
#include "base/base64.h"
#include "base/buf.h"

#include "base/banned.h"

static int to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                   struct err *err);

static int list_to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                        struct err *err)
{
    struct cel_value item;
    *ret = value_array();
    for (size_t i = 0; cel__list_next(ev, v, &i, &item);) {
        struct value tree = value_null();
        int r = to_tree(ev, &item, &tree, err);
        if (r < 0)
            return r;
        value_push(ev->arena, ret, tree);
    }
    return 0;
}

static int map_to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                       struct err *err)
{
    struct cel_value key, val;
    *ret = value_object();
    for (size_t pos = 0; cel__map_next(ev, v, &pos, &key, &val);) {
        struct value tree = value_null();
        if (key.kind == CEL_BOOL || key.kind == CEL_INT || key.kind == CEL_UINT)
            key = cel_of_string(cel__print(ev, &key));
        if (key.kind != CEL_STRING)
            return err_set(err, ERR_INVALID, "a key of type " STR_FMT " cannot be in JSON",
                           STR_ARG(cel__type_of(&key)->name));
        int r = to_tree(ev, &val, &tree, err);
        if (r < 0)
            return r;
        value_set(ev->arena, ret, cel__str(&key), tree);
    }
    return 0;
}

static int object_to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                          struct err *err)
{
    const struct cel_struct *s = v->object;
    *ret = value_object();
    for (size_t i = 0; i < s->n; i++) {
        struct value tree = value_null();
        struct cel_field field = { .key = s->fields[i] };
        if (v->declared->fields)
            (void)v->declared->fields->by_name(v->declared, s->fields[i], &field);
        int r = to_tree(ev, &s->vals[i], &tree, err);
        if (r < 0)
            return r;
        value_set(ev->arena, ret, field.key, tree);
    }
    return 0;
}

static int number_to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                          struct err *err)
{
    if (v->kind == CEL_INT) {
        *ret = value_int(v->i);
    } else if (v->kind == CEL_UINT) {
        *ret = value_number(arena_printf(ev->arena, "%" PRIu64, v->u));
    } else {
        if (!isfinite(v->d))
            return err_set(err, ERR_INVALID, "JSON has no number for " STR_FMT,
                           STR_ARG(cel__double_text(ev->arena, v->d)));
        *ret = value_number(gofloat_text(ev->arena, v->d));
    }
    return 0;
}

static struct value bytes_to_tree(struct cel__eval *ev, const struct cel_value *v)
{
    autobuf text = { 0 };
    base64_encode(&text, cel__str(v));
    return value_string(arena_str(ev->arena, buf_str(&text)));
}

static int container_to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                             struct err *err)
{
    if (!cel__enter(ev))
        return cel__exceeded(ev, err);
    int r = v->kind == CEL_LIST  ? list_to_tree(ev, v, ret, err)
            : v->kind == CEL_MAP ? map_to_tree(ev, v, ret, err)
                                 : object_to_tree(ev, v, ret, err);
    cel__leave(ev);
    return r == 0 && ev->exceeded ? cel__exceeded(ev, err) : r;
}

static int to_tree(struct cel__eval *ev, const struct cel_value *v, struct value *ret,
                   struct err *err)
{
    switch (v->kind) {
    case CEL_NULL:
        *ret = value_null();
        return 0;
    case CEL_BOOL:
        *ret = value_bool(v->b);
        return 0;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
        return number_to_tree(ev, v, ret, err);
    case CEL_STRING:
        *ret = value_string(cel__str(v));
        return 0;
    case CEL_BYTES:
        *ret = bytes_to_tree(ev, v);
        return 0;
    case CEL_TIMESTAMP:
        *ret = value_string(cel__timestamp_text(ev->arena, v));
        return 0;
    case CEL_DURATION:
        *ret = value_string(cel__duration_text(ev->arena, v->i));
        return 0;
    case CEL_LIST:
    case CEL_MAP:
        return container_to_tree(ev, v, ret, err);
    default:
        break;
    }
    if (v->kind == CEL_OBJECT && v->form == CEL__STRUCT)
        return container_to_tree(ev, v, ret, err);
    if (v->kind == CEL_OPAQUE && v->declared == &cel_quantity) {
        *ret = value_string(cel__quantity_text(v));
        return 0;
    }
    return err_set(err, ERR_INVALID, "a value of type " STR_FMT " cannot be in JSON",
                   STR_ARG(cel__type_of(v)->name));
}

int cel_to_tree(struct arena *a, const struct cel_value *v, struct value *ret, struct err *err)
{
    struct cel__eval ev = cel__outside(a);
    return to_tree(&ev, v, ret, err);
}
