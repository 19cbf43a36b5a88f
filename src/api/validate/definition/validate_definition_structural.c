/* Structural schemas: their skeleton can be read without looking into allOf and the like, which
 * only narrow it. */
#include "api/validate/definition/validate_definition.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/banned.h"

/* ---- Structural: what must not stand inside allOf and the like ---- */

static void check_nested(struct field_errors *e, const struct field_path *path,
                         const struct value *v, bool skips_any_of, size_t depth);

/* anyOf: [{type: integer}, {type: string}], by which int-or-string is told. */
static bool is_int_or_string(const struct value *any_of)
{
    const struct value *first = value_at(any_of, 0), *second = value_at(any_of, 1);
    return validate__count(any_of) == 2 && validate__count(first) == 1 &&
           validate__count(second) == 1 && validate_schema_has_type(first, "integer") &&
           validate_schema_has_type(second, "string");
}

static void check_value_rules(struct field_errors *e, const struct field_path *path,
                              const struct value *v, bool skips_any_of, bool skips_first_all_of,
                              size_t depth)
{
    size_t i = 0;
    value_each_item (it, skips_any_of ? NULL : value_get(v, STR("anyOf")))
        check_nested(e, path_item(path_at(path, "anyOf"), i++), it, false, depth + 1);
    i = 0;
    value_each_item (it, value_get(v, STR("allOf"))) {
        check_nested(e, path_item(path_at(path, "allOf"), i), it, skips_first_all_of && i == 0,
                     depth + 1);
        i++;
    }
    i = 0;
    value_each_item (it, value_get(v, STR("oneOf")))
        check_nested(e, path_item(path_at(path, "oneOf"), i++), it, false, depth + 1);
    if (validate_member(v, "not"))
        check_nested(e, path_at(path, "not"), validate_member(v, "not"), false, depth + 1);
}

/* Fields that belong to the skeleton, with the words that say so. */
static const struct {
    struct str name;
    const char *why;
} skeleton[] = {
    { STR("type"), "must be empty to be structural" },
    { STR("additionalProperties"), "must be undefined to be structural" },
    { STR("default"), "must be undefined to be structural" },
    { STR("title"), "must be empty to be structural" },
    { STR("description"), "must be empty to be structural" },
    { STR("nullable"), "must be false to be structural" },
    { STR("x-kubernetes-preserve-unknown-fields"), "must be false to be structural" },
    { STR("x-kubernetes-embedded-resource"), "must be false to be structural" },
    { STR("x-kubernetes-int-or-string"), "must be false to be structural" },
    { STR("x-kubernetes-list-map-keys"), "must be empty to be structural" },
    { STR("x-kubernetes-list-type"), "must be undefined to be structural" },
    { STR("x-kubernetes-map-type"), "must be undefined to be structural" },
    { STR("x-kubernetes-validations"), "must be empty to be structural" },
};

static void check_nested(struct field_errors *e, const struct field_path *path,
                         const struct value *v, bool skips_any_of, size_t depth)
{
    if (depth > LIMIT_SCHEMA_DEPTH)
        return;
    check_value_rules(e, path, v, skips_any_of, false, depth);
    if (validate_schema_items(v))
        check_nested(e, path_at(path, "items"), validate_schema_items(v), false, depth + 1);
    value_each_field (f, value_get(v, STR("properties")))
        check_nested(e, path_key(path_at(path, "properties"), f->key), &f->val, false, depth + 1);
    for (size_t i = 0; i < ARRAY_LEN(skeleton); i++) {
        struct field_path at = field_child(path, skeleton[i].name);
        if (!validate_schema_is_unset(value_get(v, skeleton[i].name)))
            fault_forbidden(e, &at, "%s", skeleton[i].why);
    }
    if (value_get(value_get(v, STR("properties")), STR("metadata")))
        fault_forbidden(e, path_key(path_at(path, "properties"), STR("metadata")),
                        "must not be specified in a nested context");
}

/* ---- Structural: the skeleton ---- */

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

/* Metadata are known; of the root only name and generateName may be told more about. */
static void check_metadata(struct field_errors *e, const struct field_path *path,
                           const struct value *metadata, bool checked, bool root)
{
    static const struct str names[] = { STR("name"), STR("generateName") };
    static const struct str keys[] = { STR("type"), STR("properties"), STR("default") };
    if (checked && !validate_schema_has_type(metadata, "object"))
        fault_text(e, path_at(path, "type"), value_text(metadata, "type"), "must be object");
    const struct value *properties = value_get(metadata, STR("properties"));
    bool plain = true;
    value_each_field (f, properties)
        plain = plain && words_have(f->key, WORDS(names));
    value_each_field (f, metadata)
        plain = plain && (words_have(f->key, WORDS(keys)) || validate_schema_is_unset(&f->val));
    if (root && !plain)
        fault_forbidden(e, path,
                        "must not specify anything other than name and generateName, but metadata "
                        "is implicitly specified");
}

static void check_skeleton_type(struct field_errors *e, const struct field_path *path,
                                const struct value *s, enum level level)
{
    static const char *const empty[] = {
        [LEVEL_ROOT] = "must not be empty at the root",
        [LEVEL_ITEM] = "must not be empty for specified array items",
        [LEVEL_FIELD] = "must not be empty for specified object fields",
    };
    static const char object[] = "must be object if x-kubernetes-embedded-resource is true";
    struct str type = value_text(s, "type");
    const struct field_path *at = path_at(path, "type");
    if (SCHEMA_EMBEDDED(s) && !type.n)
        fault_required(e, at, object);
    else if (SCHEMA_EMBEDDED(s) && !validate_schema_has_type(s, "object"))
        fault_text(e, at, type, "%s", object);
    else if (!SCHEMA_EMBEDDED(s) && !type.n && !SCHEMA_INT_OR_STRING(s) && !SCHEMA_PRESERVES(s))
        fault_required(e, at, empty[level]);
    if (level == LEVEL_ROOT && type.n && !validate_schema_has_type(s, "object"))
        fault_text(e, at, type, "must be object at the root");
}

static void check_embedded(struct field_errors *e, const struct field_path *path,
                           const struct value *s, enum level level)
{
    const struct value *properties = value_get(s, STR("properties"));
    static const struct str texts[] = { STR("kind"), STR("apiVersion") };
    bool checked = level == LEVEL_ROOT || SCHEMA_EMBEDDED(s);
    if (SCHEMA_EMBEDDED(s) && validate_member(s, "additionalProperties"))
        fault_forbidden(e, path_at(path, "additionalProperties"),
                        "must not be used if x-kubernetes-embedded-resource is set");
    for (size_t i = 0; checked && i < 2; i++) {
        const struct value *of = value_get(properties, texts[i]);
        if (of && !validate_schema_has_type(of, "string"))
            fault_text(e, path_at(path_key(path_at(path, "properties"), texts[i]), "type"),
                       value_text(of, "type"), "must be string");
    }
    if (value_get(properties, STR("metadata")))
        check_metadata(e, path_key(path_at(path, "properties"), STR("metadata")),
                       value_get(properties, STR("metadata")), checked, level == LEVEL_ROOT);
    if (SCHEMA_EMBEDDED(s) && !SCHEMA_PRESERVES(s) && !validate__count(properties))
        fault_required(e, path_at(path, "properties"),
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
}

static void check_skeleton(struct field_errors *e, const struct field_path *path,
                           const struct value *s, enum level level, size_t depth)
{
    struct value yes = value_bool(true);
    const struct value *any_of = value_get(s, STR("anyOf")), *all_of = value_get(s, STR("allOf"));
    if (depth > LIMIT_SCHEMA_DEPTH)
        return; /* said already */
    if (validate_schema_has_type(s, "array") && !validate_schema_items(s))
        fault_required(e, path_at(path, "items"), "must be specified");
    if (validate_schema_items(s))
        check_skeleton(e, path_at(path, "items"), validate_schema_items(s), LEVEL_ITEM, depth + 1);
    value_each_field (f, value_get(s, STR("properties")))
        check_skeleton(e, path_key(path_at(path, "properties"), f->key), &f->val, LEVEL_FIELD,
                       depth + 1);
    if (validate_member(s, "additionalProperties") && level == LEVEL_ROOT)
        fault_forbidden(e, path_at(path, "additionalProperties"), "must not be used at the root");
    if (validate_schema_values(s))
        check_skeleton(e, path_at(path, "additionalProperties"), validate_schema_values(s),
                       LEVEL_FIELD, depth + 1);
    if (SCHEMA_INT_OR_STRING(s) && SCHEMA_PRESERVES(s))
        fault_value(e, path_at(path, "x-kubernetes-preserve-unknown-fields"), &yes,
                    "must be false if x-kubernetes-int-or-string is true");
    if (SCHEMA_INT_OR_STRING(s) && SCHEMA_EMBEDDED(s))
        fault_value(e, path_at(path, "x-kubernetes-embedded-resource"), &yes,
                    "must be false if x-kubernetes-int-or-string is true");
    check_value_rules(e, path, s, is_int_or_string(any_of),
                      is_int_or_string(value_get(value_at(all_of, 0), STR("anyOf"))), depth);
    check_skeleton_type(e, path, s, level);
    check_embedded(e, path, s, level);
}

/* ---- Structural: what is nested is in the skeleton too ---- */

static void check_covered(struct field_errors *e, const struct field_path *s_path,
                          const struct field_path *v_path, const struct value *s,
                          const struct value *v, bool nested, size_t depth);

static void fault_uncovered(struct field_errors *e, const struct field_path *s_path,
                            const struct field_path *v_path)
{
    struct str where = field_path_text(e->arena, v_path);
    field_error(e, FIELD_REQUIRED, s_path, STR(""), "because it is defined in " STR_FMT,
                STR_ARG(where));
}

static void check_fields_covered(struct field_errors *e, const struct field_path *s_path,
                                 const struct field_path *v_path, const struct value *s,
                                 const struct value *v, size_t depth)
{
    if (validate_schema_items(v))
        check_covered(e, path_at(s_path, "items"), path_at(v_path, "items"),
                      validate_schema_items(s), validate_schema_items(v), true, depth + 1);
    value_each_field (f, value_get(v, STR("properties"))) {
        const struct field_path *s_at = path_key(path_at(s_path, "properties"), f->key);
        const struct field_path *v_at = path_key(path_at(v_path, "properties"), f->key);
        const struct value *in = value_get(value_get(s, STR("properties")), f->key);
        check_covered(e, s_at, v_at, in, &f->val, true, depth + 1);
    }
}

static void check_covered(struct field_errors *e, const struct field_path *s_path,
                          const struct field_path *v_path, const struct value *s,
                          const struct value *v, bool nested, size_t depth)
{
    size_t i = 0;
    if (depth > LIMIT_SCHEMA_DEPTH)
        return;
    if (!s) {
        fault_uncovered(e, s_path, v_path);
        return;
    }
    if (validate_member(v, "not"))
        check_covered(e, s_path, path_at(v_path, "not"), s, validate_member(v, "not"), true,
                      depth + 1);
    value_each_item (it, value_get(v, STR("allOf")))
        check_covered(e, s_path, path_item(path_at(v_path, "allOf"), i++), s, it, true, depth + 1);
    i = 0;
    value_each_item (it, value_get(v, STR("anyOf")))
        check_covered(e, s_path, path_item(path_at(v_path, "anyOf"), i++), s, it, true, depth + 1);
    i = 0;
    value_each_item (it, value_get(v, STR("oneOf")))
        check_covered(e, s_path, path_item(path_at(v_path, "oneOf"), i++), s, it, true, depth + 1);
    if (nested)
        check_fields_covered(e, s_path, v_path, s, v, depth);
}

void validate_structural(struct field_errors *e, const struct field_path *path,
                         const struct value *schema)
{
    struct field_errors found = FIELD_ERRORS_INIT(e->arena);
    check_skeleton(&found, path, schema, LEVEL_ROOT, 0);
    check_covered(&found, path, path, schema, schema, false, 0);
    field_errors_add_sorted(e, &found);
}

bool validate_schema_is_structural(struct arena *a, const struct value *schema)
{
    struct field_errors found = FIELD_ERRORS_INIT(a);
    if (validate_schema_any(schema, validate_schema_is_unsupported))
        return false;
    validate_structural(&found, path_root("schema"), schema);
    return found.n == 0;
}
