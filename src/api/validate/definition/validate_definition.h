/* validate_definition.h - shared by the rules of a CustomResourceDefinition and those of the
 * schemas in it. */
#pragma once

#include "api/validate/validate_parts.h"

/* ---- Reading a schema ---- */

static inline bool validate_schema_has_type(const struct value *schema, const char *type)
{
    return str_eq(value_text(schema, "type"), str_of(type));
}

static inline bool validate_schema_flag(const struct value *schema, struct str name)
{
    return value_is_true(value_get(schema, name));
}

#define SCHEMA_PRESERVES(schema) \
    validate_schema_flag((schema), STR("x-kubernetes-preserve-unknown-fields"))
#define SCHEMA_EMBEDDED(schema) \
    validate_schema_flag((schema), STR("x-kubernetes-embedded-resource"))
#define SCHEMA_INT_OR_STRING(schema) \
    validate_schema_flag((schema), STR("x-kubernetes-int-or-string"))

/* A schema that stands for the items of a list, or for the values of a map. */
static inline const struct value *validate_schema_items(const struct value *schema)
{
    const struct value *items = validate_member(schema, "items");
    return value_is(items, VALUE_OBJECT) ? items : NULL;
}

static inline const struct value *validate_schema_values(const struct value *schema)
{
    const struct value *values = validate_member(schema, "additionalProperties");
    return value_is(values, VALUE_OBJECT) ? values : NULL;
}

/* Absent, null, false or the empty text. */
static inline bool validate_schema_is_unset(const struct value *v)
{
    bool no = value_is(v, VALUE_BOOL) && !v->b;
    return !v || v->type == VALUE_NULL || no || (v->type == VALUE_STRING && v->n == 0);
}

/* ---- Rules ---- */

/* What is asked of a schema; an old definition may have had less. */
struct schema_rules {
    bool structural, any_types, any_set_items, any_map_keys;
};

/* The schema of one version or of all, at `path`. What defaults, patterns and CEL rules mean is not
 * looked at. */
void validate_definition_schema(struct field_errors *e, const struct field_path *path,
                                const struct value *schema, bool has_status,
                                const struct schema_rules *rules);

/* Visits a schema and all in it until `found` says so. */
bool validate_schema_any(const struct value *schema, bool (*found)(const struct value *schema));
bool validate_schema_has_default(const struct value *schema);
bool validate_schema_has_extension(const struct value *schema);
bool validate_schema_has_bad_type(const struct value *schema);
/* A list of type set or map whose items need not have what tells them apart. */
bool validate_schema_has_loose_keys(const struct value *schema);
/* Whether it uses what no structural schema has. */
bool validate_schema_is_unsupported(const struct value *schema);
/* In validate_definition_structural.c. */
void validate_structural(struct field_errors *e, const struct field_path *path,
                         const struct value *schema);
/* Whether a structural schema could be made of it, and would be one. */
bool validate_schema_is_structural(struct arena *a, const struct value *schema);

/* The schema that a path such as ".spec.size" leads to; NULL, and why in `ret_fault`. With `keys`
 * ['x'] may stand for .x too. */
const struct value *validate_schema_at(struct arena *a, const struct value *schema, struct str path,
                                       bool keys, struct str *ret_fault);
