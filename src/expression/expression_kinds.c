#include "expression/expression_kinds.h"

#include "base/banned.h"

/* The type of an object, and what its fields are made of. */
struct object {
    struct cel_type type;
    struct arena *arena;
    const struct kind_type *kind;
};

static const struct cel_type *scalar_type(struct arena *a, const struct kind_field *f,
                                          struct str name)
{
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRING:
    case KIND_DURATION:
        return &cel_string;
    case KIND_INT32:
    case KIND_INT64:
        return &cel_int;
    case KIND_BOOL:
        return &cel_bool;
    case KIND_BYTES:
        return &cel_bytes;
    case KIND_DOUBLE:
        return &cel_double;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return &cel_timestamp;
    case KIND_INT_OR_STRING:
        return &cel_int_or_string;
    case KIND_STRUCT:
        return expression_kind(a, f->type, name);
    case KIND_QUANTITY:
    case KIND_RAW:
    case KIND_FIELDS_V1:
    case KIND_ANY:
        break;
    }
    return &cel_dyn;
}

static const struct cel_type *field_type(struct arena *a, const struct kind_field *f,
                                         struct str name)
{
    const struct cel_type *one = scalar_type(a, f, name);
    if (f->shape == KIND_LIST)
        return cel_type_list(a, one);
    return f->shape == KIND_MAP ? cel_type_map(a, &cel_string, one) : one;
}

static bool find(const struct object *o, struct str key, struct str name, struct cel_field *ret)
{
    const struct kind_field *f = kind_field_find(o->kind, key);
    bool is_type = (o->kind->flags & KIND_HAS_TYPE_META) &&
                   (str_eq(key, STR("kind")) || str_eq(key, STR("apiVersion")));
    if (!f && !is_type)
        return false;
    *ret = (struct cel_field){
        .type = f ? field_type(o->arena, f,
                               arena_printf(o->arena, STR_FMT "." STR_FMT, STR_ARG(o->type.name),
                                            STR_ARG(key)))
                  : &cel_string,
        .name = name,
        .key = key,
    };
    return true;
}

static bool by_name(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    const struct object *o = object->handle;
    struct str key;
    return cel_unescape(o->arena, name, &key) && find(o, key, name, ret);
}

static bool by_key(const struct cel_type *object, struct str key, struct cel_field *ret)
{
    const struct object *o = object->handle;
    struct str name;
    return cel_escape(o->arena, key, &name) && find(o, key, name, ret);
}

const struct cel_type *expression_kind(struct arena *a, const struct kind_type *t, struct str name)
{
    static const struct cel_fields fields = { by_name, by_key };
    if (t->form == KIND_FORM_STRINGS)
        return cel_type_list(a, &cel_string);
    if (t->form != KIND_FORM_OBJECT)
        return &cel_dyn;
    struct object *o = arena_new(a, struct object);
    o->arena = a;
    o->kind = t;
    o->type = (struct cel_type){
        .kind = CEL_OBJECT, .name = arena_str(a, name), .fields = &fields, .handle = o
    };
    return &o->type;
}
