/* What is created to get an answer, and not stored: reviews of access, requests for tokens, and
 * bindings of pods. */
#include "api/inner.h"
#include "api/validate/validate_parts.h"
#include "base/banned.h"

#define AUTHORIZATION STR("authorization.k8s.io")

/* ---- Reviews of access ---- */

/* Operators that are not known are left to the authorizer. */
static void check_values(struct field_errors *e, const struct field_path *path,
                         const struct value *rq)
{
    enum selector_operator op = validate_operator_of(value_text(rq, "operator"));
    size_t n = validate_count(rq, "values");
    if (op == OPERATOR_WITH_VALUES && !n)
        fault_required(e, path_at(path, "values"),
                       "must be specified when `operator` is 'In' or 'NotIn'");
    if (op == OPERATOR_WITHOUT && n)
        fault_forbidden(e, path_at(path, "values"),
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

static void check_field_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq)
{
    if (!value_text(rq, "key").n)
        fault_required(e, path_at(path, "key"), "must be specified");
    check_values(e, path, rq);
}

static void check_label_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq)
{
    size_t i = 0;
    check_values(e, path, rq);
    validate_name(e, path_at(path, "key"), NAME_QUALIFIED, value_text(rq, "key"));
    value_each_item (it, value_get(rq, STR("values")))
        validate_name(e, path_item(path_at(path, "values"), i++), NAME_LABEL_VALUE, value_str(it));
}

static void check_selector(struct field_errors *e, const struct field_path *path,
                           const struct value *selector,
                           void (*check)(struct field_errors *, const struct field_path *,
                                         const struct value *))
{
    struct str raw = value_text(selector, "rawSelector"), where = field_path_text(e->arena, path);
    const struct value *requirements = value_get(selector, STR("requirements"));
    size_t i = 0;
    if (!selector)
        return;
    if (raw.n && validate__count(requirements))
        fault_text(e, path_at(path, "rawSelector"), raw,
                   "may not specified at the same time as requirements");
    if (!raw.n && !validate__count(requirements))
        field_error(e, FIELD_REQUIRED, path_at(path, "requirements"), STR(""),
                    "when " STR_FMT " is specified, requirements or rawSelector is required",
                    STR_ARG(where));
    value_each_item (it, requirements)
        check(e, path_item(path_at(path, "requirements"), i++), it);
}

static struct str shown_attributes(struct field_errors *e, const struct value *attributes)
{
    return inner_json(e, STR("authorization.k8s.io/v1"), STR("NonResourceAttributes"), attributes);
}

static void check_attributes(struct field_errors *e, const struct value *spec, bool self)
{
    const struct value *resource = validate_member(spec, "resourceAttributes");
    const struct value *other = validate_member(spec, "nonResourceAttributes");
    const struct field_path *path = path_root("spec"), *at = path_at(path, "resourceAttributes");
    if (!resource == !other)
        field_error(e, FIELD_INVALID, path, shown_attributes(e, other),
                    "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    if (!self && !value_text(spec, "user").n && !validate_count(spec, "groups"))
        fault_text(e, path_at(path, "user"), STR(""),
                   "at least one of user or group must be specified");
    check_selector(e, path_at(at, "fieldSelector"), validate_member(resource, "fieldSelector"),
                   check_field_requirement);
    check_selector(e, path_at(at, "labelSelector"), validate_member(resource, "labelSelector"),
                   check_label_requirement);
}

/* Nothing but managed fields, and the namespace where it has one. */
static void check_no_metadata(struct field_errors *e, const struct value *obj, bool namespaced)
{
    const struct value *meta = value_get(obj, STR("metadata"));
    value_each_field (f, meta) {
        bool allowed = str_eq(f->key, STR("managedFields")) || f->val.type == VALUE_NULL ||
                       (namespaced && str_eq(f->key, STR("namespace")));
        if (allowed)
            continue;
        fault_value(e, path_root("metadata"), meta, "must be empty%s",
                    namespaced ? " except for namespace" : "");
        return;
    }
}

static void create_review(struct field_errors *e, const struct value *obj)
{
    check_attributes(e, value_get(obj, STR("spec")), false);
    check_no_metadata(e, obj, false);
}

static void create_self_review(struct field_errors *e, const struct value *obj)
{
    check_attributes(e, value_get(obj, STR("spec")), true);
    check_no_metadata(e, obj, false);
}

static void create_local_review(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *resource = validate_member(spec, "resourceAttributes");
    const struct value *other = validate_member(spec, "nonResourceAttributes");
    struct str ns = value_str(value_dig(obj, "metadata", "namespace"));
    check_attributes(e, spec, false);
    check_no_metadata(e, obj, true);
    if (resource && !str_eq(value_text(resource, "namespace"), ns))
        fault_text(e, path_root("spec.resourceAttributes.namespace"),
                   value_text(resource, "namespace"), "must match metadata.namespace");
    if (other)
        field_error(e, FIELD_INVALID, path_root("spec.nonResourceAttributes"),
                    shown_attributes(e, other), "disallowed on this kind of request");
}

/* ---- TokenRequest ---- */

static void create_token_request(struct field_errors *e, const struct value *obj)
{
    enum { SECONDS_MIN = 600 };
    const int64_t seconds_max = (int64_t)1 << 32;
    const struct field_path *path = path_at(path_root("spec"), "expirationSeconds");
    int64_t seconds = validate_int(value_get(obj, STR("spec")), "expirationSeconds");
    if (seconds < SECONDS_MIN)
        fault_int(e, path, seconds, "may not specify a duration less than 10 minutes");
    if (seconds > seconds_max)
        fault_int(e, path, seconds, "may not specify a duration larger than 2^32 seconds");
}

/* ---- Binding ---- */

static void create_binding(struct field_errors *e, const struct value *obj)
{
    static const struct str kinds[] = { STR("Node"), STR("<empty>") };
    const struct value *target = value_get(obj, STR("target"));
    const struct field_path *path = path_root("target");
    struct str kind = value_text(target, "kind"), name = value_text(target, "name");
    bool node = kind.n == 0 || str_eq(kind, kinds[0]);
    if (!node)
        field_not_supported(e, path_at(path, "kind"), field_quoted(e, kind), WORDS(kinds));
    if (validate_required(e, path_at(path, "name"), name) && node)
        validate_name(e, path_at(path, "name"), NAME_SUBDOMAIN, name);
}

const struct validate_rules validate__review[] = {
    { AUTHORIZATION, STR("SubjectAccessReview"), .create = create_review },
    { AUTHORIZATION, STR("SelfSubjectAccessReview"), .create = create_self_review },
    { AUTHORIZATION, STR("LocalSubjectAccessReview"), .create = create_local_review },
    { STR("authentication.k8s.io"), STR("TokenRequest"), .create = create_token_request },
    { STR(""), STR("Binding"), .create = create_binding },
    { .kind = { NULL, 0 } },
};
