/* The schemas of a CustomResourceDefinition: which parts of OpenAPI they may use, and that what
 * they say beyond OpenAPI fits. */
#include "api/text_set.h"
#include "api/validate/definition/validate_definition.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/banned.h"

static const struct str types_known[] = { STR("array"),  STR("boolean"), STR("integer"),
                                          STR("number"), STR("object"),  STR("string") };

/* ---- Walking ---- */

static const struct str nested_lists[] = { STR("allOf"), STR("anyOf"), STR("oneOf"), STR("items") };
static const struct str nested_maps[] = { STR("properties"), STR("patternProperties"),
                                          STR("definitions"), STR("dependencies") };
static const struct str nested_ones[] = { STR("not"), STR("additionalProperties"),
                                          STR("additionalItems"), STR("items") };

static bool any_below(const struct value *schema, bool (*found)(const struct value *), size_t depth)
{
    if (!value_is(schema, VALUE_OBJECT) || depth > LIMIT_SCHEMA_DEPTH)
        return false;
    if (found(schema))
        return true;
    for (size_t i = 0; i < 4; i++) {
        value_each_item (it, value_get(schema, nested_lists[i]))
            if (any_below(it, found, depth + 1))
                return true;
        value_each_field (f, value_get(schema, nested_maps[i]))
            if (any_below(&f->val, found, depth + 1))
                return true;
        if (any_below(value_get(schema, nested_ones[i]), found, depth + 1))
            return true;
    }
    return false;
}

bool validate_schema_any(const struct value *schema, bool (*found)(const struct value *))
{
    return any_below(schema, found, 0);
}

bool validate_schema_has_default(const struct value *schema)
{
    return value_get(schema, STR("default")) != NULL;
}

bool validate_schema_has_extension(const struct value *schema)
{
    return SCHEMA_EMBEDDED(schema) || SCHEMA_PRESERVES(schema) || SCHEMA_INT_OR_STRING(schema) ||
           validate_count(schema, "x-kubernetes-list-map-keys") ||
           validate_member(schema, "x-kubernetes-list-type") ||
           validate_count(schema, "x-kubernetes-validations");
}

bool validate_schema_has_bad_type(const struct value *schema)
{
    struct str type = value_text(schema, "type");
    return type.n && !words_have(type, WORDS(types_known));
}

bool validate_schema_has_loose_keys(const struct value *schema)
{
    const struct value *items = validate_schema_items(schema);
    struct str type = value_text(schema, "x-kubernetes-list-type");
    bool is_map = str_eq(type, STR("map"));
    if (!items || (!is_map && !str_eq(type, STR("set"))))
        return false;
    if (validate_schema_flag(items, STR("nullable")))
        return true;
    autoset needed;
    text_set_init(&needed);
    validate_add_texts(&needed, value_get(items, STR("required")));
    value_each_item (it, is_map ? value_get(schema, STR("x-kubernetes-list-map-keys")) : NULL) {
        const struct value *of =
            validate_map_member(value_get(items, STR("properties")), value_str(it));
        bool required = text_set_has(&needed, value_str(it));
        if (of && ((!required && !validate_schema_has_default(of)) ||
                   validate_schema_flag(of, STR("nullable"))))
            return true;
    }
    return false;
}

bool validate_schema_is_unsupported(const struct value *schema)
{
    return value_text(schema, "id").n || value_text(schema, "$schema").n ||
           value_text(schema, "$ref").n || validate_member(schema, "additionalItems") ||
           validate_count(schema, "patternProperties") || validate_count(schema, "definitions") ||
           validate_member(schema, "dependencies") ||
           value_is(validate_member(schema, "items"), VALUE_ARRAY);
}

/* ---- Paths into a schema ---- */

/* The next token of a path: one of . [ ] or what stands between them. */
static struct str next_token(struct str *path)
{
    size_t n = 0;
    bool quoted = str_starts(*path, STR("'"));
    for (; n < path->n; n++) {
        char c = path->p[n];
        if (quoted ? n && c == '\'' && path->p[n - 1] != '\\' : c == '.' || c == '[' || c == ']') {
            n += quoted || n == 0;
            break;
        }
    }
    struct str token = str_take(*path, n);
    *path = str_skip(*path, n);
    return token;
}

static struct str unquoted(struct arena *a, struct str token)
{
    autobuf out = { 0 };
    for (size_t i = 1; i + 1 < token.n; i++) {
        static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
        char c = token.p[i];
        if (c == '\\' && i + 2 < token.n) {
            const char *escape = strchr(from, token.p[++i]);
            c = escape ? to[escape - from] : token.p[i];
        }
        buf_byte(&out, c);
    }
    return arena_str(a, buf_str(&out));
}

static const struct value *step_into(const struct value *schema, struct str name)
{
    const struct value *properties = validate_member(schema, "properties");
    return properties ? validate_map_member(properties, name) : validate_schema_values(schema);
}

const struct value *validate_schema_at(struct arena *a, const struct value *schema, struct str path,
                                       bool keys, struct str *ret_fault)
{
    static const struct str ended = STR("unexpected end of JSON path");
    while (path.n) {
        struct str token = next_token(&path);
        bool bracket = str_eq(token, STR("["));
        *ret_fault = STR("");
        if (bracket && !keys)
            *ret_fault = STR("array notation is not allowed");
        else if (!bracket && !str_eq(token, STR(".")))
            *ret_fault = arena_printf(a, "expected [ or . but got: " STR_FMT, STR_ARG(token));
        else if (!path.n)
            *ret_fault = ended;
        if (ret_fault->n)
            return NULL;
        struct str name = next_token(&path);
        if (bracket && (name.n < 2 || name.p[0] != '\'' || name.p[name.n - 1] != '\'')) {
            *ret_fault =
                arena_printf(a, "expected single quoted string but got " STR_FMT, STR_ARG(name));
            return NULL;
        }
        schema = step_into(schema, bracket ? unquoted(a, name) : name);
        if (!schema) {
            *ret_fault = STR("does not refer to a valid field");
            return NULL;
        }
        if (bracket && !str_eq(next_token(&path), STR("]"))) {
            *ret_fault = path.n ? STR("expected ]") : ended;
            return NULL;
        }
    }
    return schema;
}

/* ---- OpenAPI ---- */

/* Where a schema stands. */
struct schema_place {
    const struct schema_rules *rules;
    const char *no_default; /* why there may be none, or NULL */
    struct str no_default_of;
    bool in_metadata, is_root;
    size_t depth;
};

static void check_standard(struct field_errors *e, const struct field_path *path,
                           const struct value *s, const struct schema_place *place)
{
    static const struct str unsupported[] = {
        STR("id"),          STR("additionalItems"), STR("patternProperties"),
        STR("definitions"), STR("dependencies"),    STR("$ref"),
    };
    if (!place->rules->any_types && validate_schema_has_bad_type(s))
        validate_one_of(e, path_at(path, "type"), value_text(s, "type"), WORDS(types_known));
    if (validate_schema_has_default(s) && place->no_default)
        fault_forbidden(e, path_at(path, "default"), "must not be set %s" STR_FMT,
                        place->no_default, STR_ARG(place->no_default_of));
    for (size_t i = 0; i < ARRAY_LEN(unsupported); i++) {
        const struct value *v = value_get(s, unsupported[i]);
        struct field_path at = field_child(path, unsupported[i]);
        bool empty_map = value_is(v, VALUE_OBJECT) && !v->n && (i == 2 || i == 3);
        if (v && v->type != VALUE_NULL && !empty_map && !(i == 0 && value_str(v).n == 0))
            fault_forbidden(e, &at, STR_FMT " is not supported", STR_ARG(unsupported[i]));
    }
    if (validate_schema_has_type(s, "null"))
        fault_forbidden(e, path_at(path, "type"),
                        "type cannot be set to null, use nullable as an alternative");
    if (value_is(validate_member(s, "items"), VALUE_ARRAY) && validate_count(s, "items"))
        fault_forbidden(e, path_at(path, "items"),
                        "items must be a schema object and not an array");
    if (place->in_metadata && SCHEMA_EMBEDDED(s))
        fault_forbidden(e, path_at(path, "x-kubernetes-embedded-resource"),
                        "must not be used inside of resource meta");
}

/* A type that an extension asks for. */
static bool check_type_for(struct field_errors *e, const struct field_path *path,
                           const struct value *s, const char *type, const char *extension)
{
    struct str given = value_text(s, "type");
    if (validate_schema_has_type(s, type))
        return true;
    struct str why = arena_printf(e->arena, "must be %s if %s is specified", type, extension);
    if (given.n == 0)
        return fault_required(e, path_at(path, "type"), str_cstr(e->arena, why));
    return fault_text(e, path_at(path, "type"), given, STR_FMT, STR_ARG(why));
}

static void check_set_items(struct field_errors *e, const struct field_path *path,
                            const struct value *items)
{
    static const char why[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const struct value *list = validate_member(items, "x-kubernetes-list-type");
    struct str map = value_text(items, "x-kubernetes-map-type");
    const struct field_path *at = path_at(path, "items");
    if (validate_schema_has_type(items, "array") && list && !str_eq(value_str(list), STR("atomic")))
        fault_value(e, path_at(at, "x-kubernetes-list-type"), list, "%s", why);
    if (validate_schema_has_type(items, "object") && !str_eq(map, STR("atomic")))
        fault_value(e, path_at(at, "x-kubernetes-map-type"), list, "%s",
                    why); /* upstream shows it */
}

static void check_map_keys(struct field_errors *e, const struct field_path *path,
                           const struct value *s, const struct value *items)
{
    const struct value *keys = value_get(s, STR("x-kubernetes-list-map-keys"));
    const struct field_path *at = path_at(path, "x-kubernetes-list-map-keys");
    const struct field_path *properties = path_at(path_at(path, "items"), "properties");
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, keys) {
        const struct value *of = value_get(value_get(items, STR("properties")), value_str(it));
        if (!of)
            fault_value(e, at, keys, "entries must all be names of item properties");
        else if (validate_schema_has_type(of, "array") || validate_schema_has_type(of, "object"))
            fault_text(e, path_at(path_key(properties, value_str(it)), "type"),
                       value_text(items, "type"),
                       "must be a scalar type if parent array's x-kubernetes-list-type is map");
        if (!text_set_add(&seen, value_str(it), it))
            fault_value(e, at, keys, "must not contain duplicate entries");
    }
}

static void check_map_list(struct field_errors *e, const struct field_path *path,
                           const struct value *s)
{
    const struct value *items = validate_member(s, "items"), *schema = validate_schema_items(s);
    const struct field_path *at = path_at(path, "items");
    if (!validate_count(s, "x-kubernetes-list-map-keys"))
        fault_required(e, path_at(path, "x-kubernetes-list-map-keys"),
                       "must not be empty if x-kubernetes-list-type is map");
    if (!items)
        fault_required(e, at, "must have a schema if x-kubernetes-list-type is map");
    else if (!schema)
        fault_value(e, at, items,
                    "must only have a single schema if x-kubernetes-list-type is map");
    else if (!validate_schema_has_type(schema, "object"))
        fault_text(e, path_at(at, "type"), value_text(schema, "type"),
                   "must be object if parent array's x-kubernetes-list-type is map");
    else
        check_map_keys(e, path, s, schema);
}

/* What makes items of a set or a map comparable. */
static void check_comparable(struct field_errors *e, const struct field_path *path,
                             const struct value *s, struct str list_type)
{
    const struct value *items = validate_schema_items(s);
    const struct field_path *at = path_at(path, "items");
    if (!items)
        return;
    if (validate_schema_flag(items, STR("nullable")))
        fault_forbidden(e, path_at(at, "nullable"),
                        "cannot be nullable when x-kubernetes-list-type is " STR_FMT,
                        STR_ARG(list_type));
    autoset needed;
    text_set_init(&needed);
    validate_add_texts(&needed, value_get(items, STR("required")));
    value_each_item (it, str_eq(list_type, STR("map"))
                             ? value_get(s, STR("x-kubernetes-list-map-keys"))
                             : NULL) {
        const struct value *of =
            validate_map_member(value_get(items, STR("properties")), value_str(it));
        const struct field_path *key = path_key(path_at(at, "properties"), value_str(it));
        if (!of)
            continue;
        if (!text_set_has(&needed, value_str(it)) && !validate_schema_has_default(of))
            fault_required(e, path_at(key, "default"),
                           "this property is in x-kubernetes-list-map-keys, so it must have a "
                           "default or be a required property");
        if (validate_schema_flag(of, STR("nullable")))
            fault_forbidden(e, path_at(key, "nullable"),
                            "this property is in x-kubernetes-list-map-keys, so it cannot be "
                            "nullable");
    }
}

static void check_list_type(struct field_errors *e, const struct field_path *path,
                            const struct value *s, const struct schema_rules *rules)
{
    static const struct str known[] = { STR("atomic"), STR("set"), STR("map") };
    const struct value *type = validate_member(s, "x-kubernetes-list-type");
    const struct field_path *at = path_at(path, "x-kubernetes-list-type");
    bool is_map = str_eq(value_str(type), known[2]), is_set = str_eq(value_str(type), known[1]);
    static const char map[] = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (type && check_type_for(e, path, s, "array", "x-kubernetes-list-type") && is_set &&
        !rules->any_set_items && validate_schema_items(s))
        check_set_items(e, path, validate_schema_items(s));
    if (type)
        validate_one_of(e, at, value_str(type), WORDS(known));
    if (validate_count(s, "x-kubernetes-list-map-keys") && !type)
        fault_required(e, at, map);
    else if (validate_count(s, "x-kubernetes-list-map-keys") && !is_map)
        fault_text(e, at, value_str(type), "%s", map);
    if (is_map)
        check_map_list(e, path, s);
    if (!rules->any_map_keys && validate_schema_has_loose_keys(s))
        check_comparable(e, path, s, value_str(type));
}

static bool has_newline(struct str text)
{
    return str_find(text, '\n') >= 0 || str_find(text, '\r') >= 0;
}

static void check_cel_rule(struct field_errors *e, const struct field_path *path,
                           const struct value *s, const struct value *rule)
{
    static const struct str reasons[] = { STR("FieldValueDuplicate"), STR("FieldValueForbidden"),
                                          STR("FieldValueInvalid"), STR("FieldValueRequired") };
    struct str text = str_trim(value_text(rule, "rule")), message = value_text(rule, "message");
    struct str expression = value_text(rule, "messageExpression"), trimmed = str_trim(message);
    struct str at = value_text(rule, "fieldPath"), fault;
    if (!text.n)
        fault_required(e, path_at(path, "rule"), "rule is not specified");
    else if (message.n && !trimmed.n)
        fault_text(e, path_at(path, "message"), message, "must be non-empty if specified");
    else if (has_newline(trimmed))
        fault_text(e, path_at(path, "message"), message, "must not contain line breaks");
    else if (has_newline(text) && !trimmed.n)
        fault_required(e, path_at(path, "message"),
                       "message must be specified if rule contains line breaks");
    if (expression.n && !str_trim(expression).n)
        fault_required(e, path_at(path, "messageExpression"),
                       "messageExpression must be non-empty if specified");
    if (validate_member(rule, "reason"))
        validate_one_of(e, path_at(path, "reason"), value_text(rule, "reason"), WORDS(reasons));
    if (at.n && !str_trim(at).n)
        fault_text(e, path_at(path, "fieldPath"), at, "must be non-empty if specified");
    if (has_newline(at))
        fault_text(e, path_at(path, "fieldPath"), at, "must not contain line breaks");
    if (at.n && !validate_schema_at(e->arena, s, at, true, &fault))
        fault_text(e, path_at(path, "fieldPath"), at, "must be a valid path");
}

static void check_extensions(struct field_errors *e, const struct field_path *path,
                             const struct value *s, const struct schema_rules *rules)
{
    static const struct str map_types[] = { STR("atomic"), STR("granular") };
    const struct value *preserves = validate_member(s, "x-kubernetes-preserve-unknown-fields");
    const struct value *map = validate_member(s, "x-kubernetes-map-type");
    size_t i = 0;
    if (preserves && !value_is_true(preserves))
        fault_value(e, path_at(path, "x-kubernetes-preserve-unknown-fields"), preserves,
                    "must be true or undefined");
    if (map)
        (void)check_type_for(e, path, s, "object", "x-kubernetes-map-type");
    if (map)
        validate_one_of(e, path_at(path, "x-kubernetes-map-type"), value_str(map),
                        WORDS(map_types));
    check_list_type(e, path, s, rules);
    value_each_item (it, value_get(s, STR("x-kubernetes-validations")))
        check_cel_rule(e, path_item(path_at(path, "x-kubernetes-validations"), i++), s, it);
}

static void check_schema(struct field_errors *e, const struct field_path *path,
                         const struct value *s, const struct schema_place *place);

static void check_property(struct field_errors *e, const struct field_path *path,
                           const struct value *s, const struct value_field *f,
                           const struct schema_place *place)
{
    struct schema_place below = *place;
    static const struct str of_all[] = { STR("metadata"), STR("kind"), STR("apiVersion") };
    bool meta = words_have(f->key, WORDS(of_all));
    below.is_root = false;
    below.depth++;
    if (meta && (place->is_root || SCHEMA_EMBEDDED(s)))
        below.in_metadata = true;
    if (meta && place->is_root) {
        below.no_default = "in top-level ";
        below.no_default_of = f->key;
    }
    check_schema(e, path_key(path_at(path, "properties"), f->key), &f->val, &below);
}

/* Lists and maps of schemas that change nothing about where they stand. */
static void check_lists_below(struct field_errors *e, const struct field_path *path,
                              const struct value *s, const struct schema_place *below)
{
    static const struct str lists[] = { STR("allOf"), STR("oneOf"), STR("anyOf") };
    if (validate_member(s, "not"))
        check_schema(e, path_at(path, "not"), validate_member(s, "not"), below);
    for (size_t k = 0; k < 3; k++) {
        struct field_path list = field_child(path, lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(s, lists[k]))
            check_schema(e, path_item(&list, i++), it, below);
    }
    value_each_field (f, value_get(s, STR("definitions")))
        check_schema(e, path_key(path_at(path, "definitions"), f->key), &f->val, below);
}

static void check_schema(struct field_errors *e, const struct field_path *path,
                         const struct value *s, const struct schema_place *place)
{
    const struct value *values = validate_member(s, "additionalProperties"),
                       *items = validate_member(s, "items");
    struct schema_place below = *place;
    size_t i = 0;
    if (!value_is(s, VALUE_OBJECT))
        return;
    if (place->depth > LIMIT_SCHEMA_DEPTH) {
        fault_forbidden(e, path, "must not be nested deeper than %u schemas", LIMIT_SCHEMA_DEPTH);
        return;
    }
    below.is_root = false;
    below.depth++;
    check_standard(e, path, s, place);
    if (validate_schema_flag(s, STR("uniqueItems")))
        fault_forbidden(e, path_at(path, "uniqueItems"),
                        "uniqueItems cannot be set to true since the runtime complexity becomes "
                        "quadratic");
    if (values && validate_count(s, "properties") && !value_is_true(values))
        fault_forbidden(e, path_at(path, "additionalProperties"),
                        "additionalProperties and properties are mutual exclusive");
    if (values) {
        struct schema_place of = below;
        if (place->in_metadata)
            of.no_default = "inside additionalProperties applying to object metadata";
        check_schema(e, path_at(path, "additionalProperties"), values, &of);
    }
    value_each_field (f, value_get(s, STR("properties")))
        check_property(e, path, s, f, place);
    check_lists_below(e, path, s, &below);
    check_schema(e, path_at(path, "items"), items, &below);
    value_each_item (it, items)
        check_schema(e, path_item(path_at(path, "items"), i++), it, &below);
    value_each_field (f, value_get(s, STR("dependencies")))
        check_schema(e, path_key(path_at(path, "dependencies"), f->key), &f->val, &below);
    check_extensions(e, path, s, place->rules);
}

/* ---- The whole ---- */

/* What may stand at the root beside a status subresource. */
static bool is_allowed_at_root(struct str name)
{
    static const struct str allowed[] = {
        STR("description"),
        STR("type"),
        STR("format"),
        STR("title"),
        STR("maximum"),
        STR("exclusiveMaximum"),
        STR("minimum"),
        STR("exclusiveMinimum"),
        STR("maxLength"),
        STR("minLength"),
        STR("pattern"),
        STR("maxItems"),
        STR("minItems"),
        STR("uniqueItems"),
        STR("multipleOf"),
        STR("required"),
        STR("items"),
        STR("properties"),
        STR("externalDocs"),
        STR("example"),
        STR("x-kubernetes-preserve-unknown-fields"),
        STR("x-kubernetes-validations"),
    };
    return words_have(name, WORDS(allowed));
}

static void check_root(struct field_errors *e, const struct field_path *path,
                       const struct value *schema)
{
    value_each_field (f, schema) {
        if (validate_schema_is_unset(&f->val))
            continue;
        if (str_eq(f->key, STR("type")) && !validate_schema_has_type(schema, "object")) {
            fault_text(e, path_at(path, "type"), value_text(schema, "type"),
                       "only \"object\" is allowed as the type at the root of the schema if the "
                       "status subresource is enabled");
            return;
        }
        if (!is_allowed_at_root(f->key)) {
            fault_value(
                e, path, schema,
                "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
                "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
                "MultipleOf Required Items Properties ExternalDocs Example "
                "XPreserveUnknownFields XValidations] fields are allowed at the root of the "
                "schema if the status subresource is enabled");
            return;
        }
    }
}

void validate_definition_schema(struct field_errors *e, const struct field_path *path,
                                const struct value *schema, bool has_status,
                                const struct schema_rules *rules)
{
    const struct schema_place root = { .rules = rules, .is_root = true };
    size_t before = e->n;
    if (has_status)
        check_root(e, path, schema);
    if (validate_schema_flag(schema, STR("nullable")))
        fault_forbidden(e, path_at(path, "nullable"), "nullable cannot be true at the root");
    bool unsupported = validate_schema_any(schema, validate_schema_is_unsupported);
    if (rules->structural && !unsupported)
        validate_structural(e, path, schema);
    check_schema(e, path, schema, &root);
    if (rules->structural && unsupported && e->n == before)
        fault_text(e, path, STR(""), "OpenAPIV3Schema 'schema' is not supported");
}
