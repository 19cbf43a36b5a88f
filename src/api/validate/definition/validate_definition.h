/* validate_definition.h - shared by the rules of a CustomResourceDefinition and those of the
 * schemas in it. */
#pragma once

#include "api/validate/validate_parts.h"

/* ---- Reading a schema ---- */

static inline bool schema_has_type(const struct value *schema, const char *type)
{
    return str_eq(text_of(schema, "type"), str_of(type));
}

static inline bool schema_flag(const struct value *schema, struct str name)
{
    return is_true(value_get(schema, name));
}

#define SCHEMA_PRESERVES(schema)     schema_flag((schema), STR("x-kubernetes-preserve-unknown-fields"))
#define SCHEMA_EMBEDDED(schema)      schema_flag((schema), STR("x-kubernetes-embedded-resource"))
#define SCHEMA_INT_OR_STRING(schema) schema_flag((schema), STR("x-kubernetes-int-or-string"))

/* A schema that stands for the items of a list, or for the values of a map. */
static inline const struct value *schema_items(const struct value *schema)
{
    const struct value *items = member(schema, "items");
    return value_is(items, VALUE_OBJECT) ? items : NULL;
}

static inline const struct value *schema_values(const struct value *schema)
{
    const struct value *values = member(schema, "additionalProperties");
    return value_is(values, VALUE_OBJECT) ? values : NULL;
}

/* Absent, null, false or the empty text. */
static inline bool schema_is_unset(const struct value *v)
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
void check_definition_schema(struct field_errors *e, const struct field_path *path,
                             const struct value *schema, bool has_status,
                             const struct schema_rules *rules);

/* Visits a schema and all in it until `found` says so. */
bool schema_any(const struct value *schema, bool (*found)(const struct value *schema));
bool schema_has_default(const struct value *schema);
bool schema_has_extension(const struct value *schema);
bool schema_has_bad_type(const struct value *schema);
/* A list of type set or map whose items need not have what tells them apart. */
bool schema_has_loose_keys(const struct value *schema);
/* Whether it uses what no structural schema has. */
bool schema_is_unsupported(const struct value *schema);
/* In validate_definition_structural.c. */
void check_structural(struct field_errors *e, const struct field_path *path,
                      const struct value *schema);
/* Whether a structural schema could be made of it, and would be one. */
bool schema_is_structural(struct arena *a, const struct value *schema);

/* The schema that a path such as ".spec.size" leads to; NULL, and why in `ret_fault`. With `keys`
 * ['x'] may stand for .x too. */
const struct value *schema_at(struct arena *a, const struct value *schema, struct str path,
                              bool keys, struct str *ret_fault);
