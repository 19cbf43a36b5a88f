#include "schema/schema_definition.h"

#include "base/idiom.h"
#include "schema/schema_format.h"
#include "schema/schema_rules.h"

#include "base/banned.h"

struct checker {
    struct field_errors *e;
    struct validate_warnings *w;
    const struct value *old;
};

static bool was_there(const struct checker *c, const struct value *schema)
{
    value_each_item (it, value_dig(c->old, "spec", "versions")) {
        const struct value *old = value_dig(it, "schema", "openAPIV3Schema");
        if (old && value_eq(old, schema))
            return true;
    }
    return false;
}

/* ---- Patterns ---- */

static void check_pattern(struct field_errors *e, const struct field_path *path,
                          const struct value *props)
{
    struct str pattern = value_str(value_get(props, STR("pattern")));
    struct field_path at = field_child(path, STR("pattern"));
    struct err err = ERR_INIT(e->arena);
    struct regexp *re;
    if (pattern.n && regexp_compile(e->arena, pattern, &re, &err) < 0)
        field_error(e, FIELD_INVALID, &at, field_quoted(e, pattern),
                    "must be a valid regular expression, but isn't: " STR_FMT, STR_ARG(err.msg));
}

static void check_patterns(struct field_errors *e, const struct field_path *path,
                           const struct value *props)
{
    static const struct str lists[] = { STR("allOf"), STR("anyOf"), STR("oneOf") };
    static const struct str singles[] = { STR("items"), STR("additionalProperties"), STR("not") };
    if (!value_is(props, VALUE_OBJECT))
        return;
    check_pattern(e, path, props);
    struct field_path properties = field_child(path, STR("properties"));
    value_each_field (f, value_get(props, STR("properties"))) {
        struct field_path here = field_key(&properties, f->key);
        check_patterns(e, &here, &f->val);
    }
    for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
        struct field_path here = field_child(path, singles[i]);
        check_patterns(e, &here, value_get(props, singles[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct field_path list = field_child(path, lists[i]);
        size_t k = 0;
        value_each_item (it, value_get(props, lists[i])) {
            struct field_path here = field_index(&list, k++);
            check_patterns(e, &here, it);
        }
    }
}

/* ---- Defaults ---- */

static const struct value *without_unknown(struct arena *a, const struct schema *s,
                                           const struct value *def)
{
    struct value *pruned = arena_new(a, struct value);
    *pruned = value_clone(a, def);
    schema_prune(a, s, pruned, s->flags & SCHEMA_EMBEDDED, NULL);
    return pruned;
}

/* Rules about changes are asked as if nothing had changed; then the others as of something new. */
static void run_rules(struct field_errors *e, const struct schema *s, const struct field_path *path,
                      const struct value *def)
{
    const struct schema_programs *programs =
        schema_programs_compile(e->arena, s, s->flags & SCHEMA_EMBEDDED);
    if (programs)
        schema_programs_run(e, programs, path, def, def);
    if (programs && !e->n)
        schema_programs_run(e, programs, path, def, NULL);
}

/* `def` as it was written: the node has it pruned already. */
static void check_default(struct field_errors *e, const struct field_path *path,
                          const struct schema *s, const struct value *def)
{
    struct field_path at = field_child(path, STR("default"));
    if (!value_eq(without_unknown(e->arena, s, def), def))
        field_error(e, FIELD_INVALID, &at, field_shown(e, def), "must not have unknown fields");
    struct value copy = value_clone(e->arena, def);
    struct err err = ERR_INIT(e->arena);
    struct field_errors embedded = FIELD_ERRORS_INIT(e->arena);
    if (schema_coerce(e->arena, s, &copy, NULL, &err) < 0) {
        field_error(e, FIELD_INVALID, &at, field_json(e, def), STR_FMT, STR_ARG(err.msg));
        return;
    }
    schema_check_embedded(&embedded, s, &at, def);
    struct schema loose = *s;
    if (s->flags & SCHEMA_INT_OR_STRING) /* upstream does not ask for its type here */
        loose.types = 0;
    if (embedded.n) {
        field_errors_add(e, &embedded);
        return;
    }
    struct field_errors values = FIELD_ERRORS_INIT(e->arena);
    schema_validate(&values, &loose, &at, def, NULL);
    if (!values.n)
        run_rules(&values, s, &at, def);
    field_errors_add(e, &values);
}

static void check_defaults(struct field_errors *e, const struct field_path *path,
                           const struct schema *s, const struct value *props)
{
    if (!s || !(s->flags & SCHEMA_HAS_DEFAULTS))
        return;
    const struct value *def = value_get(props, STR("default"));
    if (s->default_value && def)
        check_default(e, path, s, def);
    struct field_path items = field_child(path, STR("items")),
                      properties = field_child(path, STR("properties"));
    if (s->items)
        check_defaults(e, &items, s->items, value_get(props, STR("items")));
    value_each_field (f, value_get(props, STR("properties"))) {
        struct field_path here = field_key(&properties, f->key);
        check_defaults(e, &here, schema_property(s, f->key), &f->val);
    }
}

static void check_schema(void *arg, const struct field_path *path, const struct value *props)
{
    struct checker *c = arg;
    if (was_there(c, props))
        return;
    check_patterns(c->e, path, props);
    if (c->e->n) /* what is wrong in itself cannot tell what is wrong with defaults */
        return;
    const struct schema *s = schema_compile(c->e->arena, props);
    schema_check_rules(c->e, path, s, props);
    if (c->e->n)
        return;
    struct schema root = *s;
    root.flags |= SCHEMA_EMBEDDED | SCHEMA_HAS_EMBEDDED; /* a whole resource has its metadata */
    if (root.flags & SCHEMA_HAS_DEFAULTS)
        check_defaults(c->e, path, &root, props);
}

void schema_check_definition(struct field_errors *e, const struct value *definition,
                             const struct value *old_obj)
{
    struct checker c = { .e = e, .old = old_obj };
    validate_each_schema(definition, check_schema, &c);
}

/* ---- Warnings ---- */

static unsigned types_of(const struct value *props)
{
    struct str type = value_str(value_get(props, STR("type")));
    return str_eq(type, STR("string"))    ? SCHEMA_STRING
           : str_eq(type, STR("integer")) ? SCHEMA_INTEGER
           : str_eq(type, STR("number"))  ? SCHEMA_NUMBER
           : type.n                       ? SCHEMA_OBJECT
                                          : 0;
}

static void warn_of_node(struct validate_warnings *w, const struct value *props)
{
    struct str format = value_str(value_get(props, STR("format"))),
               list = value_str(value_get(props, STR("x-kubernetes-list-type"))),
               items = value_str(value_dig(props, "items", "type"));
    if (format.n && !schema_format_find(format, types_of(props)))
        validate_add_warning(w, "unrecognized format \"" STR_FMT "\"", STR_ARG(format));
    if (str_eq(list, STR("set")) && (str_eq(items, STR("array")) || str_eq(items, STR("object"))))
        validate_add_warning(w,
                             "x-kubernetes-list-type: set for items of type \"" STR_FMT
                             "\" is not supported by server-side apply or CEL validation rules",
                             STR_ARG(items));
}

static void warn_of(struct validate_warnings *w, const struct value *props)
{
    if (!value_is(props, VALUE_OBJECT))
        return;
    warn_of_node(w, props);
    value_each_field (f, value_get(props, STR("properties")))
        warn_of(w, &f->val);
    warn_of(w, value_get(props, STR("items")));
    warn_of(w, value_get(props, STR("additionalProperties")));
}

static void warn_of_schema(void *arg, const struct field_path *path, const struct value *props)
{
    struct checker *c = arg;
    (void)path;
    if (!was_there(c, props))
        warn_of(c->w, props);
}

void schema_warn_definition(struct validate_warnings *w, const struct value *definition,
                            const struct value *old_obj)
{
    struct checker c = { .w = w, .old = old_obj };
    validate_each_schema(definition, warn_of_schema, &c);
}
