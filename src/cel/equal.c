/* Equality, order and hashes of values.
 *
 * Numbers of different kinds compare by what they stand for. Values of different kinds are simply
 * not equal, except where a tree was read through a schema: there upstream has no overload. */
#include "cel/internal.h"

#include <math.h>

#include "base/map.h"

#include "base/banned.h"

bool cel__double_to_int(double d, int64_t *ret)
{
    if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0) || d != trunc(d))
        return false;
    *ret = (int64_t)d;
    return true;
}

bool cel__double_to_uint(double d, uint64_t *ret)
{
    if (!(d >= 0 && d < 18446744073709551616.0) || d != trunc(d))
        return false;
    *ret = (uint64_t)d;
    return true;
}

static bool is_number(const struct cel_value *v)
{
    return v->kind == CEL_INT || v->kind == CEL_UINT || v->kind == CEL_DOUBLE;
}

#define ORDER(x, y) ((x) < (y) ? -1 : (x) > (y))

/* A double against an integer; NaN is the caller's matter. */
static int order_double_int(double d, int64_t i)
{
    if (d < -9223372036854775808.0)
        return -1;
    if (d > 9223372036854775808.0)
        return 1;
    return ORDER(d, (double)i);
}

static int order_double_uint(double d, uint64_t u)
{
    if (d < 0)
        return -1;
    if (d > 18446744073709551616.0)
        return 1;
    return ORDER(d, (double)u);
}

static int order_int_uint(int64_t i, uint64_t u)
{
    return i < 0 ? -1 : ORDER((uint64_t)i, u);
}

static bool is_nan(const struct cel_value *v)
{
    return v->kind == CEL_DOUBLE && isnan(v->d);
}

static int order_numbers(const struct cel_value *x, const struct cel_value *y)
{
    if (x->kind == y->kind)
        return x->kind == CEL_INT    ? ORDER(x->i, y->i)
               : x->kind == CEL_UINT ? ORDER(x->u, y->u)
                                     : ORDER(x->d, y->d);
    if (x->kind == CEL_DOUBLE)
        return y->kind == CEL_INT ? order_double_int(x->d, y->i) : order_double_uint(x->d, y->u);
    if (y->kind == CEL_DOUBLE)
        return -(x->kind == CEL_INT ? order_double_int(y->d, x->i) : order_double_uint(y->d, x->u));
    return x->kind == CEL_INT ? order_int_uint(x->i, y->u) : -order_int_uint(y->i, x->u);
}

static int order_times(const struct cel_value *x, const struct cel_value *y)
{
    int order = ORDER(x->i, y->i);
    return order ? order : ORDER(x->nanos, y->nanos);
}

struct cel_value cel__compare(struct cel__eval *ev, const struct cel_value *x,
                              const struct cel_value *y)
{
    if (is_number(x) && is_number(y)) {
        if (is_nan(x) || is_nan(y))
            return cel__error_text("NaN values cannot be ordered");
        return cel_of_int(order_numbers(x, y));
    }
    if (x->kind != y->kind)
        return CEL__NO_OVERLOAD;
    switch (x->kind) {
    case CEL_BOOL:
        return cel_of_int(ORDER(x->b, y->b));
    case CEL_STRING:
    case CEL_BYTES:
        if (!cel__work_on_text(ev, x->n < y->n ? x->n : y->n))
            return CEL__CANCELLED;
        return cel_of_int(ORDER(str_cmp(cel__str(x), cel__str(y)), 0));
    case CEL_TIMESTAMP:
        return cel_of_int(order_times(x, y));
    case CEL_DURATION:
        return cel_of_int(ORDER(x->i, y->i));
    default:
        return CEL__NO_OVERLOAD;
    }
}

/* ---- Equality ---- */

/* Sets and lists with keys: the same items in any order. */
static struct cel_value equal_unordered(struct cel__eval *ev, const struct cel_value *x,
                                        const struct cel_value *y)
{
    const struct cel_type *type = x->declared;
    size_t n = cel__size(x), distinct = 0;
    struct cel_value places = cel__map_new(ev, n), seen = cel__map_new(ev, n), item, mine;
    for (size_t i = 0; cel__list_next(ev, x, &i, &item);)
        distinct += cel__map_put(ev, &places, cel__item_key(ev, type, &item), item, true);
    for (size_t i = 0; cel__list_next(ev, y, &i, &item);) {
        struct cel_value key = cel__item_key(ev, type, &item);
        if (cel__map_find(ev, &places, &key, &mine) <= 0)
            return cel_of_bool(false);
        struct cel_value same = cel__equal(ev, &mine, &item);
        if (!cel__is_true(same))
            return same;
        cel__map_put(ev, &seen, key, cel_of_null(), false);
    }
    return cel_of_bool(seen.n == distinct);
}

static struct cel_value equal_lists(struct cel__eval *ev, const struct cel_value *x,
                                    const struct cel_value *y)
{
    struct cel_value a, b;
    if (cel__size(x) != cel__size(y))
        return cel_of_bool(false);
    if (x->form == CEL__TREE && x->declared->list_type != CEL_LIST_ATOMIC)
        return equal_unordered(ev, x, y);
    for (size_t i = 0; cel__list_next(ev, x, &i, &a);) {
        b = cel__item(ev, y, i - 1);
        struct cel_value same = cel__equal(ev, &a, &b);
        if (!cel__is_true(same))
            return same;
    }
    return cel_of_bool(true);
}

/* Fields that the schema does not know are compared as they are. */
static bool equal_unknown_fields(const struct cel_value *x, const struct cel_value *y)
{
    const struct cel_type *type = x->declared;
    struct cel_field field;
    if (x->form != CEL__TREE || y->form != CEL__TREE || type->kind != CEL_OBJECT)
        return true;
    value_each_field (f, x->tree) {
        const struct value *other = NULL;
        if (!type->fields || !type->fields->by_key(type, f->key, &field))
            other = value_get(y->tree, f->key);
        if (other && !value_eq(&f->val, other))
            return false;
    }
    return true;
}

static struct cel_value equal_maps(struct cel__eval *ev, const struct cel_value *x,
                                   const struct cel_value *y)
{
    struct cel_value key, val, other;
    if (cel__size(x) != cel__size(y) || !equal_unknown_fields(x, y))
        return cel_of_bool(false);
    for (size_t pos = 0; cel__map_next(ev, x, &pos, &key, &val);) {
        int found = cel__map_find(ev, y, &key, &other);
        if (found <= 0)
            return found ? other : cel_of_bool(false);
        struct cel_value same = cel__equal(ev, &val, &other);
        if (!cel__is_true(same))
            return same;
    }
    return cel_of_bool(true);
}

static struct cel_value equal_objects(struct cel__eval *ev, const struct cel_value *x,
                                      const struct cel_value *y)
{
    if (x->form != CEL__STRUCT || y->form != CEL__STRUCT)
        return cel_of_bool(x->lazy == y->lazy);
    if (!str_eq(x->declared->name, y->declared->name) || x->object->n != y->object->n)
        return cel_of_bool(false);
    for (size_t i = 0; i < x->object->n; i++) {
        struct cel_value other;
        if (!cel__object_field(ev, y, x->object->fields[i], false, &other))
            return cel_of_bool(false);
        struct cel_value same = cel__equal(ev, &x->object->vals[i], &other);
        if (!cel__is_true(same))
            return same;
    }
    return cel_of_bool(true);
}

static struct cel_value equal_optionals(struct cel__eval *ev, const struct cel_value *x,
                                        const struct cel_value *y)
{
    if (!x->inner || !y->inner)
        return cel_of_bool(!x->inner == !y->inner);
    return cel__equal(ev, x->inner, y->inner);
}

static bool is_read_by_schema(const struct cel_value *v)
{
    return (v->kind == CEL_LIST || v->kind == CEL_MAP) && v->form == CEL__TREE &&
           !cel__type_is_dyn(v->declared);
}

static struct cel_value equal_containers(struct cel__eval *ev, const struct cel_value *x,
                                         const struct cel_value *y)
{
    if (!cel__enter(ev))
        return CEL__CANCELLED;
    struct cel_value same = x->kind == CEL_LIST     ? equal_lists(ev, x, y)
                            : x->kind == CEL_MAP    ? equal_maps(ev, x, y)
                            : x->kind == CEL_OBJECT ? equal_objects(ev, x, y)
                                                    : equal_optionals(ev, x, y);
    cel__leave(ev);
    return ev->exceeded ? CEL__CANCELLED : same;
}

static struct cel_value equal_same_kind(struct cel__eval *ev, const struct cel_value *x,
                                        const struct cel_value *y)
{
    switch (x->kind) {
    case CEL_BOOL:
        return cel_of_bool(x->b == y->b);
    case CEL_STRING:
    case CEL_BYTES:
        if (x->n == y->n && !cel__work_on_text(ev, x->n))
            return CEL__CANCELLED;
        return cel_of_bool(str_eq(cel__str(x), cel__str(y)));
    case CEL_TIMESTAMP:
        return cel_of_bool(!order_times(x, y));
    case CEL_DURATION:
        return cel_of_bool(x->i == y->i);
    case CEL_TYPE:
        return cel_of_bool(str_eq(x->type->name, y->type->name));
    case CEL_LIST:
    case CEL_MAP:
    case CEL_OBJECT:
    case CEL_OPTIONAL:
        return equal_containers(ev, x, y);
    default:
        return cel__opaque_equal(ev, x, y);
    }
}

struct cel_value cel__equal(struct cel__eval *ev, const struct cel_value *x,
                            const struct cel_value *y)
{
    if (x->kind == CEL_ERROR || y->kind == CEL_ERROR)
        return x->kind == CEL_ERROR ? *x : *y;
    if (x->kind == CEL_NULL || y->kind == CEL_NULL)
        return cel_of_bool(x->kind == y->kind);
    if (is_number(x) && is_number(y))
        return cel_of_bool(!is_nan(x) && !is_nan(y) && !order_numbers(x, y));
    if (x->kind == y->kind)
        return equal_same_kind(ev, x, y);
    if (is_read_by_schema(x) || x->kind == CEL_OPAQUE)
        return CEL__NO_OVERLOAD;
    return cel_of_bool(false);
}

/* ---- Hashes ---- */

static uint64_t mix(uint64_t x)
{
    return map_hash((struct str){ (const char *)&x, sizeof(x) });
}

uint64_t cel__hash(const struct cel_value *scalar)
{
    int64_t i;
    uint64_t u;
    switch (scalar->kind) {
    case CEL_STRING:
        return map_hash(cel__str(scalar));
    case CEL_BOOL:
        return mix(scalar->b);
    case CEL_DOUBLE:
        if (cel__double_to_int(scalar->d, &i))
            return mix((uint64_t)i);
        return cel__double_to_uint(scalar->d, &u) ? mix(u) : 0;
    default:
        return mix(scalar->u);
    }
}
