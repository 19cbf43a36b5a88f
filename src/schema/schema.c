/* From JSONSchemaProps to nodes.
 *
 * Schemas repeat themselves: half a Pod stands in many of them, and the same pattern at dozens of
 * places. So names, patterns, rules and nodes that are the same are there once. */
#include "schema/schema.h"
#include "base/idiom.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "schema/schema_format.h"

#include "base/banned.h"

struct compiler {
    struct arena *a;
    struct map blocks, texts; /* bytes that lie in the arena already */
    struct map regexps;       /* by pattern: struct regexp_entry */
    struct map formats;       /* the same, by name */
};

static const struct schema *compile(struct compiler *c, const struct value *props);

/* ---- Things that are there once ---- */

static const void *once(struct compiler *c, const void *p, size_t n)
{
    const void *there = n ? map_get(&c->blocks, (struct str){ p, n }) : NULL;
    if (there || !n)
        return there;
    void *copy = arena_alloc(c->a, n, alignof(void *));
    memcpy(copy, p, n);
    (void)map_set(&c->blocks, (struct str){ copy, n }, copy);
    return copy;
}

static struct str text_once(struct compiler *c, struct str s)
{
    const char *there = s.n ? map_get(&c->texts, s) : NULL;
    if (there || !s.n)
        return (struct str){ there, s.n };
    struct str copy = arena_str(c->a, s);
    (void)map_set(&c->texts, copy, (void *)(uintptr_t)copy.p);
    return copy;
}

struct regexp_entry {
    const struct regexp *re; /* NULL: it does not compile */
    struct str fault;
};

/* ---- Keywords ---- */

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
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
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

static const struct schema_property *properties(struct compiler *c, const struct value *props,
                                                uint32_t *ret_n)
{
    const struct value *from = value_get(props, STR("properties"));
    if (!value_is(from, VALUE_OBJECT) || !from->n)
        return NULL;
    autofree struct schema_property *list = mem_array(from->n, sizeof(*list));
    uint32_t n = 0;
    value_each_field (f, from)
        list[n++] = (struct schema_property){ text_once(c, f->key), compile(c, &f->val) };
    qsort(list, n, sizeof(*list), by_name);
    *ret_n = n;
    return once(c, list, n * sizeof(*list));
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

static const struct str *texts(struct compiler *c, const struct value *from, size_t *ret_n)
{
    *ret_n = 0;
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return NULL;
    autofree struct str *list = mem_array(from->n, sizeof(*list));
    value_each_item (it, from)
        list[(*ret_n)++] = text_once(c, value_str(it));
    return once(c, list, *ret_n * sizeof(*list));
}

static void set_bound(const struct value *props, struct str key, struct str exclusive,
                      struct schema_bound *b)
{
    b->exclusive = is_true(props, exclusive);
    b->is_set = value_to_double(value_get(props, key), &b->value);
}

static int64_t limit(const struct value *props, struct str key)
{
    int64_t n = SCHEMA_NO_LIMIT;
    (void)value_to_int(value_get(props, key), &n);
    return n;
}

static struct schema_choice choice(struct compiler *c, const struct value *props, struct str key)
{
    const struct value *from = value_get(props, key);
    struct schema_choice ret = { 0 };
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return ret;
    ret.of = arena_array(c->a, const struct schema *, from->n);
    value_each_item (it, from)
        ret.of[ret.n++] = compile(c, it);
    return ret;
}

static void set_pattern(struct compiler *c, const struct value *props, struct schema_rules *r)
{
    r->pattern = text_once(c, value_str(value_get(props, STR("pattern"))));
    if (!r->pattern.n)
        return;
    struct regexp_entry *e = map_get(&c->regexps, r->pattern);
    if (!e) {
        struct err err = ERR_INIT(c->a);
        struct regexp *re = NULL;
        e = arena_new(c->a, struct regexp_entry);
        if (regexp_compile(c->a, r->pattern, &re, &err) < 0)
            e->fault = err.msg;
        e->re = re;
        (void)map_set(&c->regexps, r->pattern, e);
    }
    r->regexp = e->re;
    r->regexp_fault = e->fault;
}

static void set_format(struct compiler *c, const struct value *props, unsigned types,
                       struct schema_rules *r)
{
    struct str name = value_str(value_get(props, STR("format")));
    r->format = schema_format_find(name, types);
    if (!r->format)
        return;
    r->format_name = text_once(c, name);
    struct regexp_entry *e = map_get(&c->formats, name);
    if (!e) {
        e = arena_new(c->a, struct regexp_entry);
        e->re = schema_format_pattern(c->a, r->format);
        (void)map_set(&c->formats, r->format_name, e);
    }
    r->format_pattern = e->re;
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
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (value_get(props, keys[i]))
            return true;
    return false;
}

static const struct schema_rules *rules(struct compiler *c, const struct value *props,
                                        unsigned types)
{
    if (!has_rules(props))
        return NULL;
    struct schema_rules r;
    memset(&r, 0, sizeof(r)); /* also what lies between the members: rules are compared as bytes */
    set_bound(props, STR("minimum"), STR("exclusiveMinimum"), &r.minimum);
    set_bound(props, STR("maximum"), STR("exclusiveMaximum"), &r.maximum);
    set_bound(props, STR("multipleOf"), STR(""), &r.multiple_of);
    r.min_length = limit(props, STR("minLength"));
    r.max_length = limit(props, STR("maxLength"));
    r.min_items = limit(props, STR("minItems"));
    r.max_items = limit(props, STR("maxItems"));
    r.min_properties = limit(props, STR("minProperties"));
    r.max_properties = limit(props, STR("maxProperties"));
    r.unique_items = is_true(props, STR("uniqueItems"));
    set_format(c, props, types, &r);
    set_pattern(c, props, &r);
    const struct value *values = value_get(props, STR("enum"));
    if (value_is(values, VALUE_ARRAY) && values->n) {
        struct value *copy = arena_new(c->a, struct value);
        *copy = value_clone(c->a, values);
        r.values = copy;
        sort_values(c->a, &r);
    }
    r.required = texts(c, value_get(props, STR("required")), &r.n_required);
    r.all_of = choice(c, props, STR("allOf"));
    r.any_of = choice(c, props, STR("anyOf"));
    r.one_of = choice(c, props, STR("oneOf"));
    const struct value *not_this = value_get(props, STR("not"));
    r.not_this = value_is(not_this, VALUE_OBJECT) ? compile(c, not_this) : NULL;
    return once(c, &r, sizeof(r));
}

static void set_additional(struct compiler *c, const struct value *props, struct schema *s)
{
    const struct value *more = value_get(props, STR("additionalProperties"));
    if (value_is(more, VALUE_BOOL))
        s->flags |= more->b ? SCHEMA_ADDITIONAL : SCHEMA_CLOSED;
    if (!value_is(more, VALUE_OBJECT))
        return;
    s->flags |= SCHEMA_ADDITIONAL;
    s->additional = compile(c, more);
}

static void set_list(struct compiler *c, const struct value *props, struct schema *s)
{
    struct str type = value_str(value_get(props, STR("x-kubernetes-list-type")));
    s->list_type = str_eq(type, STR("set"))      ? KIND_MERGE_SET
                   : str_eq(type, STR("map"))    ? KIND_MERGE_MAP
                   : str_eq(type, STR("atomic")) ? KIND_MERGE_ATOMIC
                                                 : KIND_MERGE_UNSAID;
    size_t n;
    s->list_keys = texts(c, value_get(props, STR("x-kubernetes-list-map-keys")), &n);
    s->n_list_keys = (uint32_t)n;
    if (s->list_type == KIND_MERGE_SET || s->list_type == KIND_MERGE_MAP)
        s->flags |= SCHEMA_HAS_KEYED;
    const struct value *items = value_get(props, STR("items"));
    s->items = value_is(items, VALUE_OBJECT) ? compile(c, items) : NULL;
}

static void set_expressions(struct compiler *c, const struct value *props, struct schema *s)
{
    const struct value *from = value_get(props, STR("x-kubernetes-validations"));
    if (!value_is(from, VALUE_ARRAY) || !from->n)
        return;
    struct schema_expression *list = arena_array(c->a, struct schema_expression, from->n);
    s->expressions = list;
    s->flags |= SCHEMA_HAS_EXPRESSIONS;
    value_each_item (it, from)
        list[s->n_expressions++] = (struct schema_expression){
            .rule = text_once(c, value_str(value_get(it, STR("rule")))),
            .message = text_once(c, value_str(value_get(it, STR("message")))),
            .message_expression = text_once(c, value_str(value_get(it, STR("messageExpression")))),
            .reason = text_once(c, value_str(value_get(it, STR("reason")))),
            .field_path = text_once(c, value_str(value_get(it, STR("fieldPath")))),
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

static void set_flags(const struct value *props, struct schema *s)
{
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
}

static const struct schema *compile(struct compiler *c, const struct value *props)
{
    struct schema node, *s = &node;
    memset(s, 0, sizeof(*s));
    set_flags(props, s);
    s->properties = properties(c, props, &s->n_properties);
    set_additional(c, props, s);
    set_list(c, props, s);
    set_expressions(c, props, s);
    s->rules = rules(c, props, s->types);
    const struct value *def = value_get(props, STR("default"));
    if (def && def->type != VALUE_NULL) {
        struct value *copy = arena_new(c->a, struct value);
        *copy = value_clone(c->a, def);
        s->default_value = copy;
        s->flags |= SCHEMA_HAS_DEFAULTS;
    }
    for (uint32_t i = 0; i < s->n_properties; i++)
        s->flags |= below(s->properties[i].schema);
    s->flags |= below(s->items) | below(s->additional);
    for (size_t i = 0; s->rules && i < s->rules->all_of.n; i++)
        s->flags |= below(s->rules->all_of.of[i]) & SCHEMA_HAS_EXPRESSIONS;
    return once(c, s, sizeof(*s));
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
    struct compiler c = { .a = a };
    const struct schema *s = compile(&c, props);
    map_done(&c.blocks);
    map_done(&c.texts);
    map_done(&c.regexps);
    map_done(&c.formats);
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
