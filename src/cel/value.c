/* Values: making them, wrapping trees with their types, and reading them from outside. */
#include "cel/internal.h"

#include "base/banned.h"

/* ---- Making ---- */

struct cel_value cel_of_bool(bool b)
{
    return (struct cel_value){ .kind = CEL_BOOL, .b = b };
}

struct cel_value cel_of_int(int64_t i)
{
    return (struct cel_value){ .kind = CEL_INT, .i = i };
}

struct cel_value cel_of_uint(uint64_t u)
{
    return (struct cel_value){ .kind = CEL_UINT, .u = u };
}

struct cel_value cel_of_double(double d)
{
    return (struct cel_value){ .kind = CEL_DOUBLE, .d = d };
}

struct cel_value cel_of_string(struct str s)
{
    return (struct cel_value){ .kind = CEL_STRING, .n = s.n, .text = s.p };
}

struct cel_value cel_of_bytes(struct str s)
{
    return (struct cel_value){ .kind = CEL_BYTES, .n = s.n, .text = s.p };
}

struct cel_value cel_of_null(void)
{
    return (struct cel_value){ .kind = CEL_NULL };
}

struct cel_value cel_of_error(struct str message)
{
    return (struct cel_value){ .kind = CEL_ERROR, .n = message.n, .text = message.p };
}

struct cel_value cel_of_optional(struct arena *a, const struct cel_value *v)
{
    const struct cel_value *inner = v ? arena_dup(a, v, sizeof(*v)) : NULL;
    return (struct cel_value){ .kind = CEL_OPTIONAL, .inner = inner };
}

struct cel_value cel_of_lazy(const struct cel_lazy *lazy, const struct cel_type *object)
{
    return (struct cel_value){
        .kind = CEL_OBJECT, .form = CEL__LAZY, .lazy = lazy, .declared = object
    };
}

struct cel_value cel__timestamp(int64_t sec, int32_t nanos)
{
    return (struct cel_value){ .kind = CEL_TIMESTAMP, .i = sec, .nanos = nanos };
}

struct cel_value cel__duration(int64_t nanos)
{
    return (struct cel_value){ .kind = CEL_DURATION, .i = nanos };
}

struct cel_value cel__type_value(const struct cel_type *t)
{
    return (struct cel_value){ .kind = CEL_TYPE, .type = t };
}

struct cel_value cel__opaque(const struct cel_type *t, const void *p)
{
    return (struct cel_value){ .kind = CEL_OPAQUE, .opaque = p, .declared = t };
}

struct cel_value cel__fail(struct cel__eval *ev, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str msg = arena_vprintf(ev->arena, fmt, ap);
    va_end(ap);
    return cel_of_error(msg);
}

/* ---- Wrapping ---- */

static const char *go_type(const struct value *tree)
{
    switch (tree->type) {
    case VALUE_NULL:
        return "<nil>";
    case VALUE_BOOL:
        return "bool";
    case VALUE_INT:
        return "int64";
    case VALUE_NUMBER:
        return "float64";
    case VALUE_STRING:
        return "string";
    case VALUE_ARRAY:
        return "[]interface {}";
    default:
        return "map[string]interface {}";
    }
}

static struct cel_value misfit(struct arena *a, const char *expected, const struct value *tree)
{
    return cel_of_error(
        arena_printf(a, "invalid data, expected %s, got %s", expected, go_type(tree)));
}

static struct cel_value as_container(const struct value *tree, const struct cel_type *type)
{
    return (struct cel_value){
        .kind = tree->type == VALUE_ARRAY ? CEL_LIST : CEL_MAP,
        .form = CEL__TREE,
        .tree = tree,
        .declared = type,
    };
}

static struct cel_value wrap_dyn(const struct value *tree)
{
    double d = 0;
    switch (tree->type) {
    case VALUE_NULL:
        return cel_of_null();
    case VALUE_BOOL:
        return cel_of_bool(tree->b);
    case VALUE_INT:
        return cel_of_int(tree->i);
    case VALUE_NUMBER:
        (void)value_to_double(tree, &d);
        return cel_of_double(d);
    case VALUE_STRING:
        return cel_of_string(value_str(tree));
    default:
        return as_container(tree, &cel_dyn);
    }
}

static struct cel_value wrap_number(struct arena *a, const struct value *tree, enum cel_kind kind)
{
    double d;
    if (kind == CEL_DOUBLE)
        return value_to_double(tree, &d) ? cel_of_double(d) : misfit(a, "float", tree);
    if (tree->type != VALUE_INT)
        return misfit(a, "int", tree);
    return kind == CEL_UINT ? cel_of_uint((uint64_t)tree->i) : cel_of_int(tree->i);
}

static struct cel_value wrap_quantity(struct arena *a, const struct value *tree)
{
    struct err err = ERR_INIT(a);
    struct cel_value v;
    if (tree->type != VALUE_STRING)
        return misfit(a, "string", tree);
    return cel_of_quantity(a, value_str(tree), &v, &err) < 0 ? cel_of_error(err.msg) : v;
}

struct cel_value cel_wrap(struct arena *a, const struct value *tree, const struct cel_type *type)
{
    if (!tree)
        return cel_of_null();
    if (type == &cel_int_or_string && tree->type != VALUE_INT && tree->type != VALUE_STRING)
        return cel__error_text(
            "invalid data, expected XIntOrString value to be either a string or integer");
    if (cel__type_is_dyn(type))
        return wrap_dyn(tree);
    if (tree->type == VALUE_NULL)
        return type->nullable || type->kind == CEL_NULL
                   ? cel_of_null()
                   : cel__error_text("invalid data, got null for schema with nullable=false");
    switch (type->kind) {
    case CEL_BOOL:
        return tree->type == VALUE_BOOL ? cel_of_bool(tree->b) : misfit(a, "bool", tree);
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
        return wrap_number(a, tree, type->kind);
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        return tree->type == VALUE_STRING ? cel__read_text(a, value_str(tree), type)
                                          : misfit(a, "string", tree);
    case CEL_LIST:
        return tree->type == VALUE_ARRAY
                   ? as_container(tree, type)
                   : cel__error_text(
                         "invalid data, expected an array for the provided schema with type=array");
    default:
        if (str_eq(type->name, cel_quantity.name))
            return wrap_quantity(a, tree);
        return tree->type == VALUE_OBJECT
                   ? as_container(tree, type)
                   : cel__error_text(
                         "invalid data, expected a map for the provided schema with type=object");
    }
}

/* ---- Objects ---- */

int cel__object_field(struct cel__eval *ev, const struct cel_value *object, struct str field,
                      bool presence_only, struct cel_value *ret)
{
    if (object->form == CEL__LAZY) {
        const struct cel_lazy *lazy = object->lazy;
        if (lazy->has && !lazy->has(lazy, field))
            return 0;
        if (!presence_only)
            *ret = lazy->get(lazy, ev->arena, field);
        return 1;
    }
    if (object->form != CEL__STRUCT)
        return 0;
    const struct cel_struct *s = object->object;
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(s->fields[i], field)) {
            *ret = s->vals[i];
            return 1;
        }
    return 0;
}

/* ---- Reading from outside ---- */

struct str cel_text(const struct cel_value *v)
{
    bool has = v->kind == CEL_STRING || v->kind == CEL_BYTES || v->kind == CEL_ERROR;
    return has ? cel__str(v) : STR("");
}

size_t cel_size(const struct cel_value *v)
{
    if (v->kind == CEL_OBJECT)
        return v->form == CEL__STRUCT ? v->object->n : 0;
    return v->kind == CEL_LIST || v->kind == CEL_MAP ? cel__size(v) : 0;
}

struct cel_value cel_at(struct arena *a, const struct cel_value *list, size_t i)
{
    struct cel__eval ev = cel__outside(a);
    return cel__item(&ev, list, i);
}

void cel_entry(struct arena *a, const struct cel_value *map, size_t i, struct cel_value *ret_key,
               struct cel_value *ret_val)
{
    struct cel__eval ev = cel__outside(a);
    if (map->kind == CEL_OBJECT) {
        *ret_key = cel_of_string(map->object->fields[i]);
        *ret_val = map->object->vals[i];
        return;
    }
    cel__map_next(&ev, map, &i, ret_key, ret_val);
}

bool cel_equal(struct arena *a, const struct cel_value *x, const struct cel_value *y)
{
    struct cel__eval ev = cel__outside(a);
    return cel__is_true(cel__equal(&ev, x, y));
}
