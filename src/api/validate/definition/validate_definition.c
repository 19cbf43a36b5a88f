/* CustomResourceDefinition. Upstream moves what all versions have in common to the top of the spec
 * before it looks: faults of a schema that is the same in every version (or of the only one) are
 * told of spec.validation, and so on. The webhook of a conversion goes by its older names there. */
#include "api/validate/definition/validate_definition.h"

#include "api/go/go_url.h"
#include "api/inner.h"
#include "api/go/quote.h"
#include "api/text_set.h"
#include "api/validate/validate_webhook.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "base/banned.h"

#define APPROVED STR("api-approved.kubernetes.io")

/* What all versions share, or NULL; and whether they do. */
struct shared {
    const struct value *schema, *subresources, *columns, *fields;
    bool has_schema, has_subresources, has_columns, has_fields;
};

/* What an old definition had although it may not. */
struct definition_rules {
    struct schema_rules schema;
    bool keeps_review_versions, keeps_no_schema;
};

static const struct value *shared_member(const struct value *versions, struct str name, bool *ret)
{
    const struct value *first = validate__member(value_at(versions, 0), name);
    *ret = validate__count(versions) > 0;
    value_each_item (it, versions)
        *ret = *ret && validate_is_same(validate__member(it, name), first);
    return *ret ? first : NULL;
}

static struct shared shared_by(const struct value *versions)
{
    struct shared s = { 0 };
    s.schema = shared_member(versions, STR("schema"), &s.has_schema);
    s.subresources = shared_member(versions, STR("subresources"), &s.has_subresources);
    s.columns = shared_member(versions, STR("additionalPrinterColumns"), &s.has_columns);
    s.fields = shared_member(versions, STR("selectableFields"), &s.has_fields);
    return s;
}

/* The versions as upstream shows them. */
static struct str shown_versions(struct field_errors *e, const struct value *versions,
                                 const struct shared *s)
{
    struct value shown = value_array();
    if (!validate__count(versions))
        return value_is(versions, VALUE_ARRAY) ? STR("[]") : STR("null");
    value_each_item (it, versions) {
        struct value version = value_clone(e->arena, it);
        if (s->has_schema)
            value_drop(e->arena, &version, STR("schema"));
        if (s->has_subresources)
            value_drop(e->arena, &version, STR("subresources"));
        if (s->has_columns)
            value_drop(e->arena, &version, STR("additionalPrinterColumns"));
        if (s->has_fields)
            value_drop(e->arena, &version, STR("selectableFields"));
        value_push(e->arena, &shown, version);
    }
    return inner_json(e, STR("apiextensions.k8s.io/v1"), STR("CustomResourceDefinitionVersion"),
                      &shown);
}

/* ---- Names ---- */

static void check_joined(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                         struct str checked, struct str shown, const char *before)
{
    struct name_faults f = { 0 };
    if (!name_check(rule, checked, &f))
        fault_text(e, path, shown, "%s%s%s%s", before, f.list[0].why, f.n > 1 ? "," : "",
                   f.n > 1 ? f.list[1].why : "");
}

static void check_mixed_case(struct field_errors *e, const struct field_path *path, struct str kind)
{
    autobuf lower = { 0 };
    for (size_t i = 0; i < kind.n; i++)
        buf_byte(&lower,
                 kind.p[i] >= 'A' && kind.p[i] <= 'Z' ? (char)(kind.p[i] | 0x20) : kind.p[i]);
    if (kind.n)
        check_joined(e, path, NAME_LABEL_1035, buf_str(&lower), kind,
                     "may have mixed case, but should otherwise match: ");
}

static void check_label_list(struct field_errors *e, const struct field_path *path,
                             const struct value *list)
{
    size_t i = 0;
    value_each_item (it, list)
        check_joined(e, path_item(path, i++), NAME_LABEL_1035, value_str(it), value_str(it), "");
}

static void check_names(struct field_errors *e, const struct field_path *path,
                        const struct value *names)
{
    struct str plural = value_text(names, "plural"), singular = value_text(names, "singular");
    struct str kind = value_text(names, "kind"), list_kind = value_text(names, "listKind");
    if (plural.n)
        check_joined(e, path_at(path, "plural"), NAME_LABEL_1035, plural, plural, "");
    if (singular.n)
        check_joined(e, path_at(path, "singular"), NAME_LABEL_1035, singular, singular, "");
    check_mixed_case(e, path_at(path, "kind"), kind);
    check_mixed_case(e, path_at(path, "listKind"), list_kind);
    check_label_list(e, path_at(path, "shortNames"), value_get(names, STR("shortNames")));
    if (kind.n && str_eq(kind, list_kind))
        fault_text(e, path_at(path, "listKind"), list_kind,
                   "kind and listKind may not be the same");
    check_label_list(e, path_at(path, "categories"), value_get(names, STR("categories")));
}

static void check_group(struct field_errors *e, const struct field_path *path, struct str group)
{
    struct name_faults faults = { 0 };
    if (!validate_required(e, path, group))
        return;
    if (!name_check(NAME_SUBDOMAIN, group, &faults))
        check_joined(e, path, NAME_SUBDOMAIN, group, group, "");
    else if (str_find(group, '.') < 0)
        fault_text(e, path, group, "should be a domain with at least one dot");
}

/* ---- Columns, subresources, selectable fields ---- */

static bool check_json_path(struct field_errors *e, const struct field_path *path, struct str text)
{
    return str_starts(text, STR(".")) ||
           fault_text(e, path, text, "must be a simple json path starting with .");
}

static void check_columns(struct field_errors *e, const struct field_path *path,
                          const struct value *columns)
{
    static const struct str types[] = { STR("boolean"), STR("date"), STR("integer"), STR("number"),
                                        STR("string") };
    static const struct str formats[] = { STR("byte"),   STR("date"),    STR("date-time"),
                                          STR("double"), STR("float"),   STR("int32"),
                                          STR("int64"),  STR("password") };
    static const char type_words[] = "must be one of boolean,date,integer,number,string";
    size_t i = 0;
    value_each_item (it, columns) {
        const struct field_path *at = path_item(path, i++);
        struct str type = value_text(it, "type"), format = value_text(it, "format");
        struct str json_path = value_text(it, "jsonPath");
        validate_required(e, path_at(at, "name"), value_text(it, "name"));
        if (!type.n)
            fault_required(e, path_at(at, "type"), type_words);
        else if (!words_have(type, WORDS(types)))
            fault_text(e, path_at(at, "type"), type, "%s", type_words);
        if (format.n && !words_have(format, WORDS(formats)))
            fault_text(e, path_at(at, "format"), format,
                       "must be one of byte,date,date-time,double,float,int32,int64,password");
        if (validate_required(e, path_at(at, "JSONPath"), json_path))
            (void)check_json_path(e, path_at(at, "JSONPath"), json_path);
    }
}

static void check_scale_path(struct field_errors *e, const struct field_path *path, struct str text,
                             struct str below)
{
    if (validate_required(e, path, text) && check_json_path(e, path, text) &&
        !str_starts(text, below))
        fault_text(e, path, text, "should be a json path under " STR_FMT,
                   STR_ARG(str_take(below, below.n - 1)));
}

static void check_subresources(struct field_errors *e, const struct field_path *path,
                               const struct value *subresources)
{
    const struct value *scale = validate_member(subresources, "scale");
    const struct field_path *at = path_at(path, "scale");
    struct str selector = value_text(scale, "labelSelectorPath");
    if (!scale)
        return;
    check_scale_path(e, path_at(at, "specReplicasPath"), value_text(scale, "specReplicasPath"),
                     STR(".spec."));
    check_scale_path(e, path_at(at, "statusReplicasPath"), value_text(scale, "statusReplicasPath"),
                     STR(".status."));
    if (selector.n && check_json_path(e, path_at(at, "labelSelectorPath"), selector) &&
        !str_starts(selector, STR(".spec.")) && !str_starts(selector, STR(".status.")))
        fault_text(e, path_at(at, "labelSelectorPath"), selector,
                   "should be a json path under either .spec or .status");
}

static void check_selectable(struct field_errors *e, const struct field_path *path,
                             const struct value *field, const struct value *schema,
                             struct text_set *seen)
{
    static const struct str types[] = { STR("string"), STR("boolean"), STR("integer") };
    struct str text = value_text(field, "jsonPath"), fault = STR("");
    if (!validate_required(e, path, text))
        return;
    const struct value *found = validate_schema_at(e->arena, schema, text, false, &fault);
    struct str type = value_text(found, "type");
    if (!found) {
        fault_text(e, path, text, "is an invalid path: " STR_FMT, STR_ARG(fault));
        return;
    }
    if (str_starts(text, STR(".metadata.")) || str_eq(text, STR(".metadata")))
        fault_text(e, path, text, "must not point to fields in metadata");
    if (!words_have(type, WORDS(types)))
        fault_text(e, path, text,
                   "must point to a field of type string, boolean or integer. Enum string fields "
                   "and strings with formats are allowed.");
    if (!text_set_add(seen, text, field))
        fault_duplicate(e, path, text);
}

static void check_selectable_fields(struct field_errors *e, const struct field_path *path,
                                    const struct value *fields, const struct value *schema)
{
    enum { FIELDS_MAX = 8 };
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, fields)
        check_selectable(e, path_at(path_item(path, i++), "jsonPath"), it, schema, &seen);
    if (seen.n > FIELDS_MAX)
        fault_too_many(e, path, seen.n, FIELDS_MAX);
}

/* ---- Versions ---- */

static void check_deprecation(struct field_errors *e, const struct field_path *path,
                              const struct value *version)
{
    enum { WARNING_MAX = 256 };
    const struct value *warning = validate_member(version, "deprecationWarning");
    struct str text = value_str(warning);
    if (!warning)
        return;
    if (!value_is_true(value_get(version, STR("deprecated")))) {
        fault_text(e, path, text, "can only be set for deprecated versions");
        return;
    }
    if (text.n > WARNING_MAX)
        fault_text(e, path, text, "must be <= %d characters long", WARNING_MAX);
    if (text.n == 0)
        fault_text(e, path, text, "must not be an empty string");
    for (size_t i = 0, n; i < text.n; i += n) {
        n = utf8_step(text.p + i, text.n - i);
        uint32_t code = n ? utf8_decode(text.p + i, n) : 0;
        n = n ? n : 1;
        if (quote_is_printable(code))
            continue;
        fault_text(e, path, text,
                   "must only contain printable UTF-8 characters; non-printable character found at "
                   "index %zu",
                   i);
        break;
    }
}

static bool has_status(const struct value *subresources)
{
    return validate_member(subresources, "status") != NULL;
}

static void check_version(struct field_errors *e, const struct field_path *path,
                          const struct value *version, const struct shared *s,
                          const struct schema_rules *rules)
{
    const struct value *schema =
        s->has_schema ? NULL : value_dig(version, "schema", "openAPIV3Schema");
    const struct value *subresources =
        s->has_subresources ? s->subresources : validate_member(version, "subresources");
    const struct value *fields = s->has_fields ? NULL : value_get(version, STR("selectableFields"));
    struct str name = value_text(version, "name");
    check_joined(e, path_at(path, "name"), NAME_LABEL_1035, name, name, "");
    check_deprecation(e, path_at(path, "deprecationWarning"), version);
    if (value_is(schema, VALUE_OBJECT))
        validate_definition_schema(e, path_at(path_at(path, "schema"), "openAPIV3Schema"), schema,
                                   has_status(subresources), rules);
    if (!s->has_subresources)
        check_subresources(e, path_at(path, "subresources"), subresources);
    if (!s->has_columns)
        check_columns(e, path_at(path, "additionalPrinterColumns"),
                      value_get(version, STR("additionalPrinterColumns")));
    if (validate__count(fields) && !schema)
        fault_text(e, path_at(path, "selectableFields"), STR(""),
                   "may only be set when `version.schema.openAPIV3Schema` is not included");
    else
        check_selectable_fields(e, path_at(path, "selectableFields"), fields, schema);
}

/* Whether all of them are there and the same; then they should have been told once. */
static void check_version_list(struct field_errors *e, const struct value *versions,
                               const struct shared *s)
{
    const struct field_path *path = path_at(path_root("spec"), "versions");
    size_t stored = 0;
    bool unique = true;
    autoset names;
    text_set_init(&names);
    value_each_item (it, versions) {
        stored += value_is_true(value_get(it, STR("storage")));
        unique = text_set_add(&names, value_text(it, "name"), it) && unique;
    }
    if (!unique)
        field_error(e, FIELD_INVALID, path, shown_versions(e, versions, s), "%s",
                    "must contain unique version names");
    if (stored != 1)
        field_error(e, FIELD_INVALID, path, shown_versions(e, versions, s), "%s",
                    "must have exactly one version marked as storage version");
}

/* ---- Conversion ---- */

static bool has_accepted(const struct value *versions)
{
    value_each_item (it, versions)
        if (validate_is_review_version(value_str(it)))
            return true;
    return false;
}

static void check_review_versions(struct field_errors *e, const struct field_path *path,
                                  const struct value *versions, bool any)
{
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    if (!validate__count(versions)) {
        fault_required(e, path, "");
        return;
    }
    value_each_item (it, versions) {
        const struct field_path *at = path_item(path, i++);
        if (!text_set_add(&seen, value_str(it), it))
            fault_text(e, at, value_str(it), "duplicate version");
        else
            validate_name(e, at, NAME_LABEL_1035, value_str(it));
    }
    if (!any && !has_accepted(versions))
        fault_value(e, path, versions, "must include at least one of v1, v1beta1");
}

static void check_conversion(struct field_errors *e, const struct value *spec,
                             const struct definition_rules *rules)
{
    static const struct str strategies[] = { STR("None"), STR("Webhook") };
    static const char unwanted[] = "should not be set when strategy is not set to Webhook";
    const struct value *conversion = validate_member(spec, "conversion");
    const struct value *webhook = validate_member(conversion, "webhook");
    const struct value *versions = value_get(webhook, STR("conversionReviewVersions"));
    const struct value *config = validate_member(webhook, "clientConfig");
    const struct field_path *path = path_at(path_root("spec"), "conversion");
    const struct field_path *client = path_at(path, "webhookClientConfig");
    const struct field_path *reviews = path_at(path, "conversionReviewVersions");
    struct str strategy = value_text(conversion, "strategy");
    if (!conversion)
        return;
    if (!str_eq(strategy, strategies[0]) &&
        value_is_true(value_get(spec, STR("preserveUnknownFields"))))
        fault_text(e, path_at(path, "strategy"), strategy,
                   "must be None if spec.preserveUnknownFields is true");
    if (validate_required(e, path_at(path, "strategy"), strategy))
        validate_one_of(e, path_at(path, "strategy"), strategy, WORDS(strategies));
    if (str_eq(strategy, strategies[1])) {
        if (!config)
            fault_required(e, client, "required when strategy is set to Webhook");
        else
            validate_client_config(e, client, config, true);
        check_review_versions(e, reviews, versions, rules->keeps_review_versions);
        return;
    }
    if (config)
        fault_forbidden(e, client, "%s", unwanted);
    if (validate__count(versions))
        fault_forbidden(e, reviews, "%s", unwanted);
}

/* ---- Spec ---- */

static bool any_schema(const struct value *spec, bool (*found)(const struct value *))
{
    value_each_item (it, value_get(spec, STR("versions")))
        if (validate_schema_any(value_dig(it, "schema", "openAPIV3Schema"), found))
            return true;
    return false;
}

static void check_schemas_there(struct field_errors *e, const struct value *spec,
                                const struct shared *s, const struct definition_rules *rules)
{
    const struct field_path *path = path_at(path_root("spec"), "versions");
    bool preserves = value_is_true(value_get(spec, STR("preserveUnknownFields")));
    size_t i = 0;
    if (validate_member(s->schema, "openAPIV3Schema"))
        return;
    value_each_item (it, value_get(spec, STR("versions"))) {
        const struct field_path *at =
            path_at(path_at(path_item(path, i++), "schema"), "openAPIV3Schema");
        if (validate_member(value_get(it, STR("schema")), "openAPIV3Schema"))
            continue;
        if (!rules->keeps_no_schema)
            fault_required(e, at, "");
        else if (!preserves && value_is_true(value_get(it, STR("served"))))
            fault_required(e, at, "because otherwise all fields are pruned");
    }
}

static bool any_has_status(const struct value *versions)
{
    value_each_item (it, versions)
        if (has_status(value_get(it, STR("subresources"))))
            return true;
    return false;
}

/* What was moved to the top. */
static void check_shared(struct field_errors *e, const struct value *versions,
                         const struct shared *s, const struct schema_rules *rules)
{
    const struct field_path *path = path_root("spec");
    const struct value *schema = validate_member(s->schema, "openAPIV3Schema");
    if (schema)
        validate_definition_schema(e, path_at(path_at(path, "validation"), "openAPIV3Schema"),
                                   schema, any_has_status(versions), rules);
    check_subresources(e, path_at(path, "subresources"), s->subresources);
    check_columns(e, path_at(path, "additionalPrinterColumns"), s->columns);
    if (validate__count(s->fields) && !s->schema)
        fault_text(e, path_at(path, "selectableFields"), STR(""),
                   "may only be set when validations.schema is included");
    else
        check_selectable_fields(e, path_at(path, "selectableFields"), s->fields, schema);
}

static void check_needed_names(struct field_errors *e, const struct value *names)
{
    static const struct str needed[] = { STR("plural"), STR("singular"), STR("kind"),
                                         STR("listKind") };
    const struct field_path *path = path_at(path_root("spec"), "names");
    for (size_t i = 0; i < 4; i++) {
        struct field_path at = field_child(path, needed[i]);
        validate_required(e, &at, value_str(value_get(names, needed[i])));
    }
    check_names(e, path, names);
}

static void check_spec(struct field_errors *e, const struct value *spec,
                       const struct definition_rules *rules)
{
    static const struct str scopes[] = { STR("Cluster"), STR("Namespaced") };
    const struct value *versions = value_get(spec, STR("versions"));
    const struct field_path *path = path_root("spec");
    const struct shared s = shared_by(versions);
    struct schema_rules schema_rules = rules->schema;
    struct value yes = value_bool(true);
    struct str scope = value_text(spec, "scope"), first = value_text(value_at(versions, 0), "name");
    bool preserves = value_is_true(value_get(spec, STR("preserveUnknownFields")));
    bool defaults = any_schema(spec, validate_schema_has_default);
    size_t i = 0;
    check_group(e, path_at(path, "group"), value_text(spec, "group"));
    if (validate_required(e, path_at(path, "scope"), scope))
        validate_one_of(e, path_at(path, "scope"), scope, WORDS(scopes));
    if (!preserves || defaults || any_schema(spec, validate_schema_has_extension))
        schema_rules.structural = true;
    check_schemas_there(e, spec, &s, rules);
    if (defaults && preserves)
        fault_value(e, path_at(path, "preserveUnknownFields"), &yes,
                    "must be false in order to use defaults in the schema");
    value_each_item (it, versions)
        check_version(e, path_item(path_at(path, "versions"), i++), it, &s, &schema_rules);
    check_version_list(e, versions, &s);
    if (first.n)
        check_joined(e, path_at(path, "version"), NAME_LABEL_1035, first, first, "");
    check_needed_names(e, value_get(spec, STR("names")));
    check_shared(e, versions, &s, &schema_rules);
    check_conversion(e, spec, rules);
}

/* ---- Status and metadata ---- */

/* The versions that objects were ever stored as, with the one that is the first now. */
static struct value stored_versions(struct arena *a, const struct value *obj, bool created)
{
    const struct value *told = created ? NULL : value_dig(obj, "status", "storedVersions");
    struct value stored = value_is(told, VALUE_ARRAY) ? value_clone(a, told) : value_array();
    value_each_item (it, value_dig(obj, "spec", "versions")) {
        if (!value_is_true(value_get(it, STR("storage"))))
            continue;
        if (!validate_list_has(&stored, value_text(it, "name")))
            value_push(a, &stored, value_string(value_text(it, "name")));
        break;
    }
    return stored;
}

static void check_stored(struct field_errors *e, const struct value *obj, bool created)
{
    const struct value *versions = value_dig(obj, "spec", "versions");
    const struct field_path *path = path_at(path_root("status"), "storedVersions");
    struct value stored = stored_versions(e->arena, obj, created);
    autoset stored_names, names;
    size_t i = 0;
    text_set_init(&stored_names);
    text_set_init(&names);
    if (!stored.n) {
        fault_value(e, path, NULL, "must have at least one stored version");
        return;
    }
    validate_add_texts(&stored_names, &stored);
    value_each_item (it, versions) {
        struct str name = value_text(it, "name");
        (void)text_set_add(&names, name, it);
        if (value_is_true(value_get(it, STR("storage"))) && !text_set_has(&stored_names, name))
            fault_value(e, path, &stored, "must have the storage version " STR_FMT, STR_ARG(name));
    }
    value_each_item (it, &stored) {
        struct str name = value_str(it);
        if (!text_set_has(&names, name))
            fault_text(
                e, path_item(path, i), name,
                "missing from spec.versions; " STR_FMT
                " was previously a storage version, and must remain in spec.versions until a "
                "storage migration ensures no data remains persisted in " STR_FMT
                " and removes " STR_FMT " from status.storedVersions",
                STR_ARG(name), STR_ARG(name), STR_ARG(name));
        i++;
    }
}

enum approval { APPROVAL_MISSING, APPROVAL_BYPASSED, APPROVAL_GIVEN, APPROVAL_BAD };

static enum approval approval_of(struct arena *a, const struct value *obj)
{
    struct str text = value_str(value_get(value_dig(obj, "metadata", "annotations"), APPROVED));
    struct go_url url;
    if (text.n == 0)
        return APPROVAL_MISSING;
    if (str_starts(text, STR("unapproved")))
        return APPROVAL_BYPASSED;
    bool good = !go_url_parse(a, text, &url) && url.host.n && url.scheme.n;
    return good ? APPROVAL_GIVEN : APPROVAL_BAD;
}

/* Groups of the project itself want a review. */
static void check_approval(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    struct str group = value_str(value_dig(obj, "spec", "group"));
    const struct field_path *path =
        path_key(path_at(path_root("metadata"), "annotations"), APPROVED);
    const struct value *noted = value_get(value_dig(obj, "metadata", "annotations"), APPROVED);
    bool ours =
        validate_is_in_domain(group, "k8s.io") || validate_is_in_domain(group, "kubernetes.io");
    enum approval approval = approval_of(e->arena, obj);
    if (!ours || (old_obj && approval_of(e->arena, old_obj) == approval))
        return;
    if (approval == APPROVAL_MISSING)
        fault_required(e, path,
                       "protected groups must have approval annotation "
                       "\"api-approved.kubernetes.io\", see "
                       "https://github.com/kubernetes/enhancements/pull/1111");
    if (approval == APPROVAL_BAD)
        fault_text(e, path, value_str(noted),
                   "protected groups must have approval annotation \"api-approved.kubernetes.io\" "
                   "with either a URL or a reason starting with \"unapproved\", see "
                   "https://github.com/kubernetes/enhancements/pull/1111");
}

/* Through v1beta1 neither a schema nor a structural one is asked for, and unknown fields may be
 * preserved; only defaults in schemas are newer than it. */
static void check_old_defaults(struct field_errors *e, const struct value *spec,
                               const struct value *old_spec)
{
    size_t i = 0;
    if (any_schema(old_spec, validate_schema_has_default))
        return;
    const struct field_path *path = path_at(path_root("spec"), "versions");
    value_each_item (it, value_get(spec, STR("versions"))) {
        const struct field_path *at =
            path_at(path_at(path_item(path, i++), "schema"), "openAPIV3Schema");
        if (validate_schema_any(value_dig(it, "schema", "openAPIV3Schema"),
                                validate_schema_has_default))
            fault_forbidden(e, path_at(at, "default"),
                            "cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must "
                            "use apiextensions.k8s.io/v1");
    }
}

static void check_preserves(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    const struct value *preserves = value_dig(obj, "spec", "preserveUnknownFields");
    if (value_is_true(preserves) &&
        !value_is_true(value_dig(old_obj, "spec", "preserveUnknownFields")))
        fault_value(e, path_at(path_root("spec"), "preserveUnknownFields"), preserves,
                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                    "spec.versions[*].schema instead");
}

static void create_definition(struct field_errors *e, const struct value *obj)
{
    const struct definition_rules rules = { .schema.structural = true };
    check_spec(e, value_get(obj, STR("spec")), &rules);
    check_stored(e, obj, true);
    check_approval(e, obj, NULL);
    check_preserves(e, obj, NULL);
}

static void create_old_definition(struct field_errors *e, const struct value *obj)
{
    const struct definition_rules rules = { .schema.any_types = true, .keeps_no_schema = true };
    check_spec(e, value_get(obj, STR("spec")), &rules);
    check_old_defaults(e, value_get(obj, STR("spec")), NULL);
    check_stored(e, obj, true);
}

/* ---- Changes ---- */

/* A set whose items are compared field by field. */
static bool has_loose_set(const struct value *schema)
{
    const struct value *items = validate_member(schema, "items");
    bool set = str_eq(value_text(schema, "x-kubernetes-list-type"), STR("set"));
    return set && ((str_eq(value_text(items, "type"), STR("object")) &&
                    !str_eq(value_text(items, "x-kubernetes-map-type"), STR("atomic"))) ||
                   (str_eq(value_text(items, "type"), STR("array")) &&
                    validate_member(items, "x-kubernetes-list-type") &&
                    !str_eq(value_text(items, "x-kubernetes-list-type"), STR("atomic"))));
}

static struct definition_rules rules_of(struct arena *a, const struct value *old)
{
    const struct value *reviews =
        value_dig(old, "conversion", "webhook", "conversionReviewVersions");
    struct definition_rules rules = {
        .schema = { .structural = true,
                    .any_types = any_schema(old, validate_schema_has_bad_type),
                    .any_set_items = any_schema(old, has_loose_set),
                    .any_map_keys = any_schema(old, validate_schema_has_loose_keys) },
        .keeps_review_versions = validate__count(reviews) && !has_accepted(reviews),
    };
    value_each_item (it, value_get(old, STR("versions"))) {
        const struct value *schema = value_dig(it, "schema", "openAPIV3Schema");
        if (!value_is(schema, VALUE_OBJECT))
            rules.keeps_no_schema = true;
        else if (!validate_schema_is_structural(a, schema))
            rules.schema.structural = false;
    }
    return rules;
}

static void check_changed(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj, const struct definition_rules *rules)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct field_path *path = path_root("spec"), *names = path_at(path, "names");
    check_spec(e, spec, rules);
    if (validate_has_condition(value_dig(old_obj, "status", "conditions"), STR("Established"))) {
        validate_immutable(e, path_at(path, "scope"), value_get(spec, STR("scope")),
                           value_get(old, STR("scope")));
        validate_immutable(e, path_at(names, "kind"), value_dig(spec, "names", "kind"),
                           value_dig(old, "names", "kind"));
    }
    validate_immutable(e, path_at(path, "group"), value_get(spec, STR("group")),
                       value_get(old, STR("group")));
    validate_immutable(e, path_at(names, "plural"), value_dig(spec, "names", "plural"),
                       value_dig(old, "names", "plural"));
    check_names(e, path_at(path_root("status"), "acceptedNames"),
                value_dig(obj, "status", "acceptedNames"));
    check_stored(e, obj, false);
}

static void update_old_definition(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    const struct value *old = value_get(old_obj, STR("spec"));
    struct definition_rules rules = rules_of(e->arena, old);
    rules.schema.structural = false;
    rules.schema.any_types = true;
    rules.keeps_no_schema = true;
    check_changed(e, obj, old_obj, &rules);
    check_old_defaults(e, value_get(obj, STR("spec")), old);
}

static void update_definition(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    const struct definition_rules rules = rules_of(e->arena, value_get(old_obj, STR("spec")));
    check_changed(e, obj, old_obj, &rules);
    check_approval(e, obj, old_obj);
    check_preserves(e, obj, old_obj);
}

static void update_definition_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    (void)old_obj;
    check_names(e, path_at(path_root("status"), "acceptedNames"),
                value_dig(obj, "status", "acceptedNames"));
}

const struct validate_rules validate__definition[] = {
    { STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"), .create = create_definition,
      .update = update_definition, .update_status = update_definition_status },
    { STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"), .create = create_old_definition,
      .update = update_old_definition, .update_status = update_definition_status,
      .version = STR("v1beta1") },
    { .kind = { NULL, 0 } },
};

void validate_structure(struct field_errors *e, const struct value *definition)
{
    const struct value *spec = validate_member(definition, "spec");
    struct field_path at_spec = field_child(NULL, STR("spec")),
                      at_versions = field_child(&at_spec, STR("versions"));
    if (validate_schema_flag(spec, STR("preserveUnknownFields"))) {
        struct field_path at = field_child(&at_spec, STR("preserveUnknownFields"));
        field_error(e, FIELD_INVALID, &at, STR("true"), "must be false");
    }
    size_t i = 0;
    value_each_item (version, validate_member(spec, "versions")) {
        struct field_path one = field_index(&at_versions, i++),
                          schema = field_child(&one, STR("schema")),
                          path = field_child(&schema, STR("openAPIV3Schema"));
        const struct value *props = value_dig(version, "schema", "openAPIV3Schema");
        if (props)
            validate_structural(e, &path, props);
    }
}

void validate_each_schema(const struct value *definition,
                          void (*visit)(void *arg, const struct field_path *path,
                                        const struct value *schema),
                          void *arg)
{
    const struct value *versions = value_dig(definition, "spec", "versions");
    const struct shared s = shared_by(versions);
    const struct value *shared = validate_member(s.schema, "openAPIV3Schema");
    const struct field_path *spec = path_root("spec");
    if (value_is(shared, VALUE_OBJECT))
        visit(arg, path_at(path_at(spec, "validation"), "openAPIV3Schema"), shared);
    size_t i = 0;
    value_each_item (it, s.has_schema ? NULL : versions) {
        const struct field_path *path = path_item(path_at(spec, "versions"), i++);
        const struct value *schema = value_dig(it, "schema", "openAPIV3Schema");
        if (value_is(schema, VALUE_OBJECT))
            visit(arg, path_at(path_at(path, "schema"), "openAPIV3Schema"), schema);
    }
}
