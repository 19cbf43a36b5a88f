#include "schema/schema_types.h"

#include "base/banned.h"

/* Sizes of JSON, in bytes: upstream's estimates depend on them. */
enum {
    REQUEST_BYTES = 3 << 20,
    MIN_STRING = 2,
    MIN_BOOL = 4,
    MIN_NUMBER = 1,
    MIN_DURATION = 3,
    MIN_DATE = 12,
    MIN_TIME = 21,
    MIN_CONTAINER = 2,
    MAX_DURATION = 32,
    MAX_TIME = 32,
};

static struct str format_of(const struct schema *s)
{
    return s->rules && s->rules->format ? s->rules->format_name : STR("");
}

static int64_t limit_or(int64_t limit, int64_t otherwise)
{
    return limit == SCHEMA_NO_LIMIT ? otherwise : limit < 0 ? 0 : limit;
}

/* The least that a value takes. */
static int64_t min_size(const struct schema *s)
{
    struct str format = format_of(s);
    if (s->flags & SCHEMA_INT_OR_STRING)
        return MIN_NUMBER;
    switch (s->types) {
    case SCHEMA_BOOLEAN:
        return MIN_BOOL;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        return MIN_NUMBER;
    case SCHEMA_STRING:
        return str_eq(format, STR("duration"))    ? MIN_DURATION
               : str_eq(format, STR("date"))      ? MIN_DATE
               : str_eq(format, STR("date-time")) ? MIN_TIME
                                                  : MIN_STRING;
    default:
        break;
    }
    int64_t size = MIN_CONTAINER;
    if (s->types != SCHEMA_OBJECT || s->additional)
        return size;
    for (size_t i = 0; s->rules && i < s->rules->n_required; i++) {
        const struct schema *property = schema_property(s, s->rules->required[i]);
        if (property && !property->default_value)
            size += (int64_t)s->rules->required[i].n + min_size(property) + 4;
    }
    return size;
}

uint64_t schema_type_max_count(const struct schema *s, bool root)
{
    (void)root;
    return (uint64_t)(REQUEST_BYTES / (min_size(s) + 1));
}

static struct cel_type *copy(struct arena *a, const struct cel_type *t, int64_t max_size)
{
    struct cel_type *mine = arena_new(a, struct cel_type);
    *mine = *t;
    mine->max_size = (uint64_t)max_size;
    return mine;
}

static int64_t longest_value(const struct value *values)
{
    int64_t longest = 0;
    value_each_item (it, values)
        if (it->type == VALUE_STRING && it->n > longest)
            longest = it->n;
    return longest;
}

static struct cel_type *string_type(struct arena *a, const struct schema *s)
{
    struct str format = format_of(s);
    int64_t max = s->rules ? s->rules->max_length : SCHEMA_NO_LIMIT;
    if (str_eq(format, STR("byte")))
        return copy(a, &cel_bytes, limit_or(max, REQUEST_BYTES - 2));
    if (str_eq(format, STR("duration")))
        return copy(a, &cel_duration, MAX_DURATION);
    if (str_eq(format, STR("date"))) {
        struct cel_type *t = copy(a, &cel_timestamp, MIN_DATE);
        t->is_date = true;
        return t;
    }
    if (str_eq(format, STR("date-time")))
        return copy(a, &cel_timestamp, MAX_TIME);
    if (max != SCHEMA_NO_LIMIT)
        return copy(a, &cel_string, limit_or(max, 0) * 4);
    if (s->rules && s->rules->values)
        return copy(a, &cel_string, longest_value(s->rules->values));
    return copy(a, &cel_string, REQUEST_BYTES - 2);
}

static struct cel_type *list_type(struct schema_types *types, const struct schema *s)
{
    struct arena *a = types->a;
    const struct cel_type *item =
        s->items ? schema_type(types, s->items, s->items->flags & SCHEMA_EMBEDDED) : NULL;
    if (!item)
        return NULL;
    int64_t max = s->rules ? s->rules->max_items : SCHEMA_NO_LIMIT;
    struct cel_type *t = copy(a, cel_type_list(a, item),
                              limit_or(max, (REQUEST_BYTES - 2) / (min_size(s->items) + 1)));
    t->list_type = s->list_type == KIND_MERGE_SET   ? CEL_LIST_SET
                   : s->list_type == KIND_MERGE_MAP ? CEL_LIST_MAP
                                                    : CEL_LIST_ATOMIC;
    t->map_keys = s->list_keys;
    t->n_map_keys = s->n_list_keys;
    return t;
}

static struct cel_type *map_type(struct schema_types *types, const struct schema *s)
{
    struct arena *a = types->a;
    const struct cel_type *val =
        schema_type(types, s->additional, s->additional->flags & SCHEMA_EMBEDDED);
    if (!val)
        return NULL;
    int64_t max = s->rules ? s->rules->max_properties : SCHEMA_NO_LIMIT;
    return copy(a, cel_type_map(a, &cel_string, val),
                limit_or(max, (REQUEST_BYTES - 2) / (min_size(s->additional) + 6)));
}

static const struct cel_type *name_type(struct arena *a)
{
    return copy(a, &cel_string, REQUEST_BYTES - 2);
}

static struct cel_field named(struct arena *a, struct str name)
{
    return (struct cel_field){ name_type(a), name, name };
}

/* What every object has; of its metadata only the names are seen. */
static size_t add_meta(struct arena *a, struct cel_field *fields)
{
    struct cel_field *meta = arena_array(a, struct cel_field, 2);
    meta[0] = named(a, STR("name"));
    meta[1] = named(a, STR("generateName"));
    fields[0] = named(a, STR("apiVersion"));
    fields[1] = named(a, STR("kind"));
    fields[2] = (struct cel_field){ cel_type_object(a, STR("object"), meta, 2), STR("metadata"),
                                    STR("metadata") };
    return 3;
}

static bool is_meta(struct str name)
{
    return str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")) ||
           str_eq(name, STR("metadata"));
}

static struct cel_type *object_type(struct schema_types *types, const struct schema *s, bool root)
{
    struct arena *a = types->a;
    struct cel_field *fields = arena_array(a, struct cel_field, s->n_properties + 3);
    size_t n = root ? add_meta(a, fields) : 0;
    for (uint32_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        struct str name;
        if ((root && is_meta(p->name)) || !cel_escape(a, p->name, &name))
            continue;
        const struct cel_type *t =
            schema_type(types, p->schema, p->schema->flags & SCHEMA_EMBEDDED);
        if (t)
            fields[n++] = (struct cel_field){ t, name, p->name };
    }
    struct cel_type *t = arena_new(a, struct cel_type);
    *t = *cel_type_object(a, STR("object"), fields, n);
    return t;
}

static struct cel_type *plain_type(struct schema_types *types, const struct schema *s, bool root)
{
    struct arena *a = types->a;
    if (s->flags & SCHEMA_INT_OR_STRING) {
        int64_t max = s->rules ? s->rules->max_length : SCHEMA_NO_LIMIT;
        return copy(a, &cel_int_or_string,
                    max == SCHEMA_NO_LIMIT ? REQUEST_BYTES - 2 : limit_or(max, 0) * 4);
    }
    switch (s->types) {
    case SCHEMA_ARRAY:
        return list_type(types, s);
    case SCHEMA_OBJECT:
        return s->additional ? map_type(types, s) : object_type(types, s, root);
    case SCHEMA_STRING:
        return string_type(a, s);
    case SCHEMA_BOOLEAN:
        return copy(a, &cel_bool, 0);
    case SCHEMA_NUMBER:
        return copy(a, &cel_double, 0);
    case SCHEMA_INTEGER:
        return copy(a, &cel_int, 0);
    default:
        return NULL;
    }
}

/* What is made for a schema, once. */
struct made {
    const struct schema *s;
    uintptr_t root;
    struct cel_type *type; /* NULL: there is none */
};

const struct cel_type *schema_type(struct schema_types *types, const struct schema *s, bool root)
{
    struct made wanted = { .s = s, .root = root };
    enum { KEY_BYTES = offsetof(struct made, type) };
    struct made *m = map_get(&types->made, (struct str){ (const char *)&wanted, KEY_BYTES });
    if (m)
        return m->type;
    m = arena_new(types->a, struct made);
    *m = wanted;
    m->type = plain_type(types, s, root);
    if (m->type)
        m->type->nullable = s->flags & SCHEMA_NULLABLE;
    (void)map_set(&types->made, (struct str){ (const char *)m, KEY_BYTES }, m);
    return m->type;
}

void schema_types_done(struct schema_types *types)
{
    map_done(&types->made);
}

const struct cel_type *schema_type_field(struct schema_types *types, const struct cel_type *object,
                                         const struct schema *property, struct str name)
{
    struct cel_field f;
    struct str escaped;
    if (!cel_escape(types->a, name, &escaped))
        return schema_type(types, property, property->flags & SCHEMA_EMBEDDED);
    if (!object || object->kind != CEL_OBJECT || !object->fields->by_key(object, name, &f))
        return NULL;
    return f.type;
}
