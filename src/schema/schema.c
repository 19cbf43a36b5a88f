/* From JSONSchemaProps to nodes. */
#include "schema/schema.h"

#include <stdlib.h>

#include "schema/schema_format.h"

#include "base/banned.h"

static const struct schema *compile(struct arena *a, const struct value *props);

static unsigned type_of(const struct value *props)
{
    static const struct {
        struct str name;
        unsigned type;
    } types[] = {
        { STR("object"), SCHEMA_OBJECT }, { STR("array"), SCHEMA_ARRAY },
        { STR("string"), SCHEMA_STRING }, { STR("integer"), SCHEMA_INTEGER },
        { STR("number"), SCHEMA_NUMBER }, { STR("boolean"), SCHEMA_BOOLEAN },
    };
    struct str name = value_str(value_get(props, STR("type")));
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (str_eq(types[i].name, name))
            return types[i].type;
    return 0;
}

static bool is_true(const struct value *props, struct str key)
{
    const struct value *v = value_get(props, key);
    return value_is(v, VALUE_BOOL) && v->b;
}

static int by_name(const void *a, const void *b)
{
    const struct schema_property *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static const struct schema_property *properties(struct arena *a, const struct value *props,
                                                uint32_t *ret_n)
{
    const struct value *from = value_get(props, STR("properties"));
    if (!value_is(from, VALUE_OBJECT) || !from->n)
        return NULL;
    struct schema_property *list = arena_array(a, struct schema_property, from->n);
    uint32_t n = 0;
    value_each_field (f, from)
        list[n++] = (struct schema_property){ arena_str(a, f->key), compile(a, &f->val) };
    qsort(list, n, sizeof(*list), by_name);
    *ret_n = n;
    return list;
}

/* ---- Enums ---- */

enum { SORTED_FROM = 16 };

static bool is_scalar(const struct value *v)
{
    double ignored;
    return v->type == VALUE_STRING || value_to_double(v, &ignored);
}

/* Texts come before numbers. */
static int compare_scalars(const void *a, const void *b)
{
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    double m, n;
    if (x->type == VALUE_STRING && y->type == VALUE_STRING)
        return str_cmp(value_str(x), value_str(y));
    if (value_to_double(x, &m) && value_to_double(y, &n))
        return m < n ? -1 : m > n;
    return x->type == VALUE_STRING ? -1 : 1;
}

static void sort_values(struct arena *a, struct schema_rules *r)
{
    if (r->values->n <= SORTED_FROM)
        return;
    r->sorted_values = arena_array(a, const struct value *, r->values->n);
    value_each_item (it, r->values)
        if (is_scalar(it))
            r->sorted_values[r->n_sorted_values++] = it;
    qsort(r->sorted_values, r->n_sorted_values, sizeof(*r->sorted_values), compare_scalars);
}

bool schema_is_one_of(const struct schema_rules *r, const struct value *v)
{
    if (r->sorted_values && is_scalar(v))
        return bsearch(&v, r->sorted_values, r->n_sorted_values, sizeof(*r->sorted_values),
                       compare_scalars);
    double x, y;
    value_each_item (it, v->type == VALUE_NULL ? NULL : r->values)
        if (value_to_double(it, &x) && value_to_double(v, &y) ? x == y : value_eq(it, v))
            return true;
    return false;
}

/* ---- Rules ---- */

static const struct str *texts(struct arena *a, const struct value *from, size_t *ret_n)
{
    *ret_n = 0;
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return NULL;
    struct str *list = arena_array(a, struct str, from->n);
    value_each_item (it, from)
        list[(*ret_n)++] = arena_str(a, value_str(it));
    return list;
}

static struct schema_bound bound(const struct value *props, struct str key, struct str exclusive)
{
    struct schema_bound b = { .exclusive = is_true(props, exclusive) };
    b.is_set = value_to_double(value_get(props, key), &b.value);
    return b;
}

static int64_t limit(const struct value *props, struct str key)
{
    int64_t n = SCHEMA_NO_LIMIT;
    (void)value_to_int(value_get(props, key), &n);
    return n;
}

static struct schema_choice choice(struct arena *a, const struct value *props, struct str key)
{
    const struct value *from = value_get(props, key);
    struct schema_choice c = { 0 };
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return c;
    c.of = arena_array(a, const struct schema *, from->n);
    value_each_item (it, from)
        c.of[c.n++] = compile(a, it);
    return c;
}

static void set_pattern(struct arena *a, const struct value *props, struct schema_rules *r)
{
    r->pattern = arena_str(a, value_str(value_get(props, STR("pattern"))));
    if (!r->pattern.n)
        return;
    struct err err = ERR_INIT(a);
    struct regexp *re;
    if (regexp_compile(a, r->pattern, &re, &err) == 0)
        r->regexp = re;
    else
        r->regexp_fault = err.msg;
}

static void set_format(struct arena *a, const struct value *props, unsigned types,
                       struct schema_rules *r)
{
    struct str name = value_str(value_get(props, STR("format")));
    r->format = schema_format_find(name, types);
    if (!r->format)
        return;
    r->format_name = arena_str(a, name);
    r->format_pattern = schema_format_pattern(a, r->format);
}

/* Whether the schema has any of the keywords that need struct schema_rules. */
static bool has_rules(const struct value *props)
{
    static const struct str keys[] = {
        STR("minimum"),       STR("maximum"),     STR("multipleOf"), STR("minLength"),
        STR("maxLength"),     STR("minItems"),    STR("maxItems"),   STR("minProperties"),
        STR("maxProperties"), STR("uniqueItems"), STR("format"),     STR("pattern"),
        STR("enum"),          STR("required"),    STR("allOf"),      STR("anyOf"),
        STR("oneOf"),         STR("not"),
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (value_get(props, keys[i]))
            return true;
    return false;
}

static const struct schema_rules *rules(struct arena *a, const struct value *props, unsigned types)
{
    if (!has_rules(props))
        return NULL;
    struct schema_rules *r = arena_new(a, struct schema_rules);
    r->minimum = bound(props, STR("minimum"), STR("exclusiveMinimum"));
    r->maximum = bound(props, STR("maximum"), STR("exclusiveMaximum"));
    r->multiple_of = bound(props, STR("multipleOf"), STR(""));
    r->min_length = limit(props, STR("minLength"));
    r->max_length = limit(props, STR("maxLength"));
    r->min_items = limit(props, STR("minItems"));
    r->max_items = limit(props, STR("maxItems"));
    r->min_properties = limit(props, STR("minProperties"));
    r->max_properties = limit(props, STR("maxProperties"));
    r->unique_items = is_true(props, STR("uniqueItems"));
    set_format(a, props, types, r);
    set_pattern(a, props, r);
    const struct value *values = value_get(props, STR("enum"));
    if (value_is(values, VALUE_ARRAY) && values->n) {
        struct value *copy = arena_new(a, struct value);
        *copy = value_clone(a, values);
        r->values = copy;
        sort_values(a, r);
    }
    r->required = texts(a, value_get(props, STR("required")), &r->n_required);
    r->all_of = choice(a, props, STR("allOf"));
    r->any_of = choice(a, props, STR("anyOf"));
    r->one_of = choice(a, props, STR("oneOf"));
    const struct value *not_this = value_get(props, STR("not"));
    r->not_this = value_is(not_this, VALUE_OBJECT) ? compile(a, not_this) : NULL;
    return r;
}

static void set_additional(struct arena *a, const struct value *props, struct schema *s)
{
    const struct value *more = value_get(props, STR("additionalProperties"));
    if (value_is(more, VALUE_BOOL))
        s->flags |= more->b ? SCHEMA_ADDITIONAL : SCHEMA_CLOSED;
    if (!value_is(more, VALUE_OBJECT))
        return;
    s->flags |= SCHEMA_ADDITIONAL;
    s->additional = compile(a, more);
}

static void set_list(struct arena *a, const struct value *props, struct schema *s)
{
    struct str type = value_str(value_get(props, STR("x-kubernetes-list-type")));
    s->list_type = str_eq(type, STR("set"))      ? KIND_MERGE_SET
                   : str_eq(type, STR("map"))    ? KIND_MERGE_MAP
                   : str_eq(type, STR("atomic")) ? KIND_MERGE_ATOMIC
                                                 : KIND_MERGE_UNSAID;
    size_t n;
    s->list_keys = texts(a, value_get(props, STR("x-kubernetes-list-map-keys")), &n);
    s->n_list_keys = (uint32_t)n;
    if (s->list_type == KIND_MERGE_SET || s->list_type == KIND_MERGE_MAP)
        s->flags |= SCHEMA_HAS_KEYED;
    const struct value *items = value_get(props, STR("items"));
    s->items = value_is(items, VALUE_OBJECT) ? compile(a, items) : NULL;
}

static void set_expressions(struct arena *a, const struct value *props, struct schema *s)
{
    const struct value *from = value_get(props, STR("x-kubernetes-validations"));
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return;
    struct schema_expression *list = arena_array(a, struct schema_expression, from->n);
    s->expressions = list;
    s->flags |= SCHEMA_HAS_EXPRESSIONS;
    value_each_item (it, from)
        list[s->n_expressions++] = (struct schema_expression){
            .rule = arena_str(a, value_str(value_get(it, STR("rule")))),
            .message = arena_str(a, value_str(value_get(it, STR("message")))),
            .message_expression = arena_str(a, value_str(value_get(it, STR("messageExpression")))),
            .reason = arena_str(a, value_str(value_get(it, STR("reason")))),
            .field_path = arena_str(a, value_str(value_get(it, STR("fieldPath")))),
            .optional_old_self = is_true(it, STR("optionalOldSelf")),
        };
}

static uint16_t below(const struct schema *s)
{
    enum {
        UPWARDS =
            SCHEMA_HAS_DEFAULTS | SCHEMA_HAS_EMBEDDED | SCHEMA_HAS_KEYED | SCHEMA_HAS_EXPRESSIONS
    };
    return s ? s->flags & UPWARDS : 0;
}

static const struct schema *compile(struct arena *a, const struct value *props)
{
    struct schema *s = arena_new(a, struct schema);
    s->types = (uint8_t)type_of(props);
    s->flags |= is_true(props, STR("nullable")) ? SCHEMA_NULLABLE : 0;
    if (is_true(props, STR("x-kubernetes-int-or-string"))) {
        s->types = SCHEMA_INTEGER | SCHEMA_STRING;
        s->flags |= SCHEMA_INT_OR_STRING;
    }
    if (is_true(props, STR("x-kubernetes-preserve-unknown-fields")))
        s->flags |= SCHEMA_PRESERVE;
    if (is_true(props, STR("x-kubernetes-embedded-resource")))
        s->flags |= SCHEMA_EMBEDDED | SCHEMA_HAS_EMBEDDED;
    if (str_eq(value_str(value_get(props, STR("x-kubernetes-map-type"))), STR("atomic")))
        s->flags |= SCHEMA_ATOMIC_MAP;
    s->properties = properties(a, props, &s->n_properties);
    set_additional(a, props, s);
    set_list(a, props, s);
    set_expressions(a, props, s);
    s->rules = rules(a, props, s->types);
    const struct value *def = value_get(props, STR("default"));
    if (def && def->type != VALUE_NULL) {
        struct value *copy = arena_new(a, struct value);
        *copy = value_clone(a, def);
        s->default_value = copy;
        s->flags |= SCHEMA_HAS_DEFAULTS;
    }
    for (uint32_t i = 0; i < s->n_properties; i++)
        s->flags |= below(s->properties[i].schema);
    s->flags |= below(s->items) | below(s->additional);
    for (size_t i = 0; s->rules && i < s->rules->all_of.n; i++)
        s->flags |= below(s->rules->all_of.of[i]) & SCHEMA_HAS_EXPRESSIONS;
    return s;
}

/* Defaults were written by hand, and may have what the schema does not. */
static void prune_defaults(struct arena *a, const struct schema *s)
{
    if (!s || !(s->flags & SCHEMA_HAS_DEFAULTS))
        return;
    if (s->default_value) {
        struct value *def = (struct value *)(uintptr_t)s->default_value; /* ours until we return */
        schema_prune(a, s, def, s->flags & SCHEMA_EMBEDDED, NULL);
    }
    for (uint32_t i = 0; i < s->n_properties; i++)
        prune_defaults(a, s->properties[i].schema);
    prune_defaults(a, s->items);
    prune_defaults(a, s->additional);
}

const struct schema *schema_compile(struct arena *a, const struct value *props)
{
    const struct schema *s = compile(a, props);
    prune_defaults(a, s);
    return s;
}

const struct schema *schema_property(const struct schema *s, struct str name)
{
    uint32_t low = 0, high = s ? s->n_properties : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int c = str_cmp(s->properties[mid].name, name);
        if (c == 0)
            return s->properties[mid].schema;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const struct schema *schema_field(const struct schema *s, struct str name)
{
    const struct schema *found = schema_property(s, name);
    return found || !s ? found : s->additional;
}
