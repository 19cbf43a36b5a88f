/* ssa_schemas_test.h - the schemas of the vectors of server-side apply, as ownership asks for
 * them. A place is a type of schemas.json or a reference to one. */
#pragma once

#include "merge/ownership.h"

static struct arena schemas_arena;
static const struct value *schemas_types; /* of the schema in use; NULL: everything is deduced */

static inline const struct value *schema_type(struct str name)
{
    value_each_item (type, schemas_types)
        if (str_eq(value_str(value_get(type, STR("name"))), name))
            return type;
    return NULL;
}

/* What the reference means: a type with some of scalar, list and map. */
static inline const struct value *schema_atom(struct ownership_place place)
{
    const struct value *ref = place.at, *name = value_get(ref, STR("namedType"));
    return name ? schema_type(value_str(name)) : ref;
}

static inline const struct value *schema_part(struct ownership_place place, const struct value *v)
{
    static const struct str order[] = { STR("map"), STR("scalar"), STR("list") };
    const struct value *atom = schema_atom(place), *part = NULL;
    size_t wanted = !v || v->type == VALUE_NULL ? 3
                    : v->type == VALUE_OBJECT   ? 0
                    : v->type == VALUE_ARRAY    ? 2
                                                : 1;
    if (wanted < 3)
        part = value_get(atom, order[wanted]);
    for (size_t i = 0; !part && i < 3; i++)
        part = value_get(atom, order[i]);
    return part;
}

static inline bool schema_relates(const struct value *part, const char *how)
{
    return str_eq(value_str(value_get(part, STR("elementRelationship"))), str_of(how));
}

static inline struct ownership_shape schema_list_shape(const struct value *list)
{
    const struct value *keys = value_get(list, STR("keys"));
    struct ownership_shape shape = { .form = OWNERSHIP_LEAF };
    if (!schema_relates(list, "associative"))
        return shape;
    shape.form = keys ? OWNERSHIP_KEYED : OWNERSHIP_SET;
    shape.n_keys = keys ? keys->n : 0;
    struct str *names = arena_array(&schemas_arena, struct str, shape.n_keys);
    for (size_t i = 0; i < shape.n_keys; i++)
        names[i] = value_str(value_at(keys, i));
    shape.keys = names;
    return shape;
}

static inline struct ownership_shape schema_shape(struct ownership_place place,
                                                  const struct value *v)
{
    struct ownership_shape leaf = { .form = OWNERSHIP_LEAF };
    struct ownership_shape fields = { .form = OWNERSHIP_FIELDS };
    if (!place.at)
        return !v || v->type == VALUE_OBJECT || v->type == VALUE_NULL ? fields : leaf;
    const struct value *part = schema_part(place, v), *atom = schema_atom(place);
    const struct value *own = value_get(place.at, STR("elementRelationship"));
    if (part && part == value_get(atom, STR("list")))
        return schema_relates(own ? place.at : part, "atomic") ? leaf : schema_list_shape(part);
    if (!part || part != value_get(atom, STR("map")))
        return leaf;
    return schema_relates(own ? place.at : part, "atomic") ? leaf : fields;
}

static inline const struct value *schema_field_named(struct ownership_place place, struct str name)
{
    value_each_item (f, value_dig(schema_atom(place), "map", "fields"))
        if (str_eq(value_str(value_get(f, STR("name"))), name))
            return f;
    return NULL;
}

static inline bool schema_field(struct ownership_place place, struct str name,
                                struct ownership_place *ret)
{
    const struct value *f = place.at ? schema_field_named(place, name) : NULL;
    ret->mode = 0;
    ret->at = f          ? value_get(f, STR("type"))
              : place.at ? value_dig(schema_atom(place), "map", "elementType")
                         : NULL;
    return f;
}

static inline struct ownership_place schema_item(struct ownership_place list)
{
    return (struct ownership_place){ list.at ? value_dig(schema_atom(list), "list", "elementType")
                                             : NULL,
                                     0 };
}

static inline const struct value *schema_key_default(struct ownership_place list, struct str key)
{
    return value_get(schema_field_named(schema_item(list), key), STR("default"));
}

static inline bool schema_is_scalar(const struct value *atom, const char *name)
{
    return str_eq(value_str(value_get(atom, STR("scalar"))), str_of(name));
}

static inline enum ownership_type schema_type_at(struct ownership_place place)
{
    const struct value *atom = schema_atom(place);
    const struct value *map = value_get(atom, STR("map")), *list = value_get(atom, STR("list"));
    const struct value *scalar = value_get(atom, STR("scalar"));
    if (!place.at)
        return schemas_types ? OWNERSHIP_NOWHERE : OWNERSHIP_ANYTHING;
    if ((map && list) || (map && scalar) || (list && scalar))
        return OWNERSHIP_ANYTHING;
    if (map || list)
        return map ? OWNERSHIP_MAP : OWNERSHIP_LIST;
    return schema_is_scalar(atom, "numeric")   ? OWNERSHIP_NUMBER
           : schema_is_scalar(atom, "string")  ? OWNERSHIP_TEXT
           : schema_is_scalar(atom, "boolean") ? OWNERSHIP_BOOLEAN
                                               : OWNERSHIP_SCALAR;
}

static const struct ownership_schema schemas = { schema_shape, schema_field, schema_item,
                                                 schema_key_default, schema_type_at };
