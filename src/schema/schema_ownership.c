#include "schema/schema_ownership.h"

#include "api/convert/convert.h"

#include "base/banned.h"

/* Above the modes of the kind tables, whose places stand for metadata. */
enum mode {
    OF_TABLES = 100,
    WHOLE,    /* an object; `at` is its struct kind_type */
    NODE,     /* a struct schema */
    ANYTHING, /* `at` is NULL */
    TEXT,
    NOWHERE,
};

static const struct ownership_place anything = { NULL, ANYTHING }, text = { NULL, TEXT },
                                    nowhere = { NULL, NOWHERE };

struct ownership_place schema_ownership_of(const struct kind_type *type)
{
    return (struct ownership_place){ type, WHOLE };
}

static struct ownership_place metadata(void)
{
    return ownership_kind(kind_type_find(STR("meta"), STR("v1"), STR("ObjectMeta")));
}

/* NULL: it is not known what stands there. */
static const struct schema *schema_at(struct ownership_place place)
{
    if (place.mode == NODE)
        return place.at;
    if (place.mode != WHOLE)
        return NULL;
    const struct schema_kind *k = schema_kind_of(place.at);
    return k->keeps_unknown ? NULL : k->schema(k);
}

static bool is_object(const struct schema *s)
{
    return s->types == SCHEMA_OBJECT || s->n_properties || s->additional ||
           s->flags & (SCHEMA_ADDITIONAL | SCHEMA_EMBEDDED);
}

static struct ownership_shape shape(struct ownership_place place, const struct value *v)
{
    if (place.mode < OF_TABLES)
        return ownership_kinds.shape(place, v);
    const struct schema *s = schema_at(place);
    bool is_map = !v || v->type == VALUE_OBJECT || v->type == VALUE_NULL;
    struct ownership_shape leaf = { .form = OWNERSHIP_LEAF }, fields = { .form = OWNERSHIP_FIELDS };
    if (place.mode == WHOLE)
        return fields;
    if (!s)
        return place.mode == ANYTHING && is_map ? fields : leaf;
    if (s->types == SCHEMA_ARRAY && s->list_type == KIND_MERGE_SET)
        return (struct ownership_shape){ .form = OWNERSHIP_SET };
    if (s->types == SCHEMA_ARRAY && s->list_type == KIND_MERGE_MAP)
        return (struct ownership_shape){ OWNERSHIP_KEYED, s->list_keys, s->n_list_keys };
    if (is_object(s))
        return s->flags & SCHEMA_ATOMIC_MAP ? leaf : fields;
    return !s->types && s->flags & SCHEMA_PRESERVE && is_map ? fields : leaf;
}

static struct ownership_place node(const struct schema *s)
{
    return (struct ownership_place){ s, NODE };
}

static bool field(struct ownership_place place, struct str name, struct ownership_place *ret)
{
    if (place.mode < OF_TABLES)
        return ownership_kinds.field(place, name, ret);
    const struct schema *s = schema_at(place), *property = schema_property(s, name);
    bool named = place.mode == WHOLE || (s && s->flags & SCHEMA_EMBEDDED);
    *ret = anything;
    if (named && str_eq(name, STR("metadata"))) {
        *ret = metadata();
        return true;
    }
    if (named && (str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")))) {
        *ret = text;
        return true;
    }
    if (property) {
        *ret = node(property);
        return true;
    }
    if (s && s->additional)
        *ret = node(s->additional);
    else if (s && !(s->flags & (SCHEMA_PRESERVE | SCHEMA_ADDITIONAL)) && is_object(s))
        *ret = nowhere;
    return false;
}

static struct ownership_place item(struct ownership_place list)
{
    if (list.mode < OF_TABLES)
        return ownership_kinds.item(list);
    const struct schema *s = schema_at(list);
    return s && s->items ? node(s->items) : anything;
}

static const struct value *key_default(struct ownership_place list, struct str key)
{
    if (list.mode < OF_TABLES)
        return ownership_kinds.key_default(list, key);
    const struct schema *s = schema_at(list);
    const struct schema *property = s ? schema_property(s->items, key) : NULL;
    return property ? property->default_value : NULL;
}

static enum ownership_type type(struct ownership_place place)
{
    if (place.mode < OF_TABLES)
        return ownership_kinds.type(place);
    const struct schema *s = schema_at(place);
    if (place.mode == NOWHERE)
        return OWNERSHIP_NOWHERE;
    if (place.mode == TEXT)
        return OWNERSHIP_TEXT;
    if (place.mode == WHOLE || (s && is_object(s)))
        return OWNERSHIP_MAP;
    if (!s)
        return OWNERSHIP_ANYTHING;
    switch (s->types) {
    case SCHEMA_ARRAY:
        return OWNERSHIP_LIST;
    case SCHEMA_STRING:
        return OWNERSHIP_TEXT;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        return OWNERSHIP_NUMBER;
    case SCHEMA_BOOLEAN:
        return OWNERSHIP_BOOLEAN;
    case SCHEMA_INTEGER | SCHEMA_STRING:
        return OWNERSHIP_SCALAR;
    default:
        return OWNERSHIP_ANYTHING;
    }
}

const struct ownership_schema schema_ownership = { shape, field, item, key_default, type };

/* The first field that the schema does not have; NULL: there is none. */
static const struct value_field *find_stranger(struct ownership_place place, const struct value *v)
{
    const struct value_field *found = NULL;
    for (size_t i = 0; v->type == VALUE_ARRAY && !found && i < v->n; i++)
        found = find_stranger(item(place), value_at(v, i));
    value_each_field (f, v) {
        struct ownership_place at;
        (void)field(place, f->key, &at);
        found = at.mode == NOWHERE ? f : find_stranger(at, &f->val);
        if (found)
            return found;
    }
    return found;
}

int schema_ownership_convert(struct arena *a, struct ownership_place from,
                             struct ownership_place to, const struct value *obj, struct value *ret,
                             struct err *err)
{
    (void)from;
    *ret = value_borrow(obj);
    value_put(a, ret, STR("apiVersion"), value_string(convert_api_version(a, to.at)));
    const struct value_field *stranger = find_stranger(to, ret);
    if (!stranger)
        return 0;
    return err_set(err, ERR_UNKNOWN, "." STR_FMT ": field not declared in schema",
                   STR_ARG(stranger->key));
}
