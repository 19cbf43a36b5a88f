/* Admission policies and their bindings. What CEL expressions mean is for whoever has a compiler.
 */
#include "api/validate/declared.h"
#include "api/text_set.h"
#include "api/validate/validate_webhook.h"
#include "base/buf.h"
#include "base/banned.h"

#define GROUP STR("admissionregistration.k8s.io")

/* ---- Which requests ---- */

static void check_named_rules(struct field_errors *e, const struct field_path *path,
                              const struct value *rules)
{
    size_t i = 0;
    value_each_item (rule, rules) {
        const struct field_path *at = path_item(path, i++), *names = path_at(at, "resourceNames");
        size_t k = 0;
        autoset seen;
        text_set_init(&seen);
        value_each_item (it, value_get(rule, STR("resourceNames"))) {
            const struct field_path *name_path = path_item(names, k++);
            validate_name(e, name_path, NAME_PATH_SEGMENT, value_str(it));
            if (!text_set_add(&seen, value_str(it), it))
                fault_duplicate(e, name_path, value_str(it));
        }
        validate_rule_with_operations(e, at, rule);
    }
}

static void check_needed_selector(struct field_errors *e, const struct field_path *path,
                                  const struct value *selector)
{
    if (!selector)
        fault_required(e, path, "");
    else
        validate_label_selector(e, path, selector, 0);
}

static void check_match_resources(struct field_errors *e, const struct field_path *path,
                                  const struct value *match)
{
    if (!match)
        return;
    if (!validate_member(match, "matchPolicy"))
        fault_required(e, path_at(path, "matchPolicy"), "");
    else
        validate_one_of(e, path_at(path, "matchPolicy"), value_text(match, "matchPolicy"),
                        WORDS(match_policies));
    check_needed_selector(e, path_at(path, "namespaceSelector"),
                          validate_member(match, "namespaceSelector"));
    check_needed_selector(e, path_at(path, "objectSelector"),
                          validate_member(match, "objectSelector"));
    check_named_rules(e, path_at(path, "resourceRules"), value_get(match, STR("resourceRules")));
    check_named_rules(e, path_at(path, "excludeResourceRules"),
                      value_get(match, STR("excludeResourceRules")));
}

/* Nothing that is deleted can be changed. */
static void check_mutating_operations(struct field_errors *e, const struct field_path *path,
                                      const struct value *match)
{
    static const struct str operations[] = { STR("*"), STR("CONNECT"), STR("CREATE"),
                                             STR("UPDATE") };
    const struct field_path *at = path_at(path_at(path, "resourceRules"), "operations");
    value_each_item (rule, value_get(match, STR("resourceRules")))
        value_each_item (it, value_get(rule, STR("operations")))
            validate_one_of(e, at, value_str(it), WORDS(operations));
}

/* ---- Parameters ---- */

static void check_joined(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                         struct str checked, struct str shown, const char *before)
{
    struct name_faults f = { 0 };
    if (!name_check(rule, checked, &f))
        fault_text(e, path, shown, "%s%s%s%s", before, f.list[0].why, f.n > 1 ? "," : "",
                   f.n > 1 ? f.list[1].why : "");
}

static void check_param_version(struct field_errors *e, const struct field_path *path,
                                struct str text)
{
    struct str version = text, group = STR("");
    if (!validate_required(e, path, text))
        return;
    if (str_find(text, '/') >= 0)
        group = str_cut(&version, '/');
    if (str_find(version, '/') >= 0) {
        fault_text(e, path, text, "unexpected GroupVersion string: " STR_FMT, STR_ARG(text));
        return;
    }
    if (group.n)
        check_joined(e, path, NAME_SUBDOMAIN, group, group, "");
    if (version.n)
        check_joined(e, path, NAME_LABEL_1035, version, version, "");
    else
        fault_text(e, path, text, "version must be specified");
}

static void check_param_kind(struct field_errors *e, const struct field_path *path,
                             const struct value *param)
{
    struct str kind = value_text(param, "kind");
    if (!param)
        return;
    check_param_version(e, path_at(path, "apiVersion"), value_text(param, "apiVersion"));
    if (!validate_required(e, path_at(path, "kind"), kind))
        return;
    autobuf lower = { 0 };
    for (size_t i = 0; i < kind.n; i++)
        buf_byte(&lower,
                 kind.p[i] >= 'A' && kind.p[i] <= 'Z' ? (char)(kind.p[i] | 0x20) : kind.p[i]);
    check_joined(e, path_at(path, "kind"), NAME_LABEL_1035, buf_str(&lower), kind,
                 "may have mixed case, but should otherwise match: ");
}

static void check_param_ref(struct field_errors *e, const struct field_path *path,
                            const struct value *ref)
{
    static const struct str actions[] = { STR("Deny"), STR("Allow") };
    static const char both[] = "name and selector are mutually exclusive";
    const struct value *selector = validate_member(ref, "selector");
    struct str name = value_text(ref, "name"), action = value_text(ref, "parameterNotFoundAction");
    if (!ref)
        return;
    if (name.n)
        validate_name(e, path_at(path, "name"), NAME_PATH_SEGMENT, name);
    if (name.n && selector)
        fault_forbidden(e, path_at(path, "name"), "%s", both);
    if (selector)
        validate_label_selector(e, path_at(path, "selector"), selector, 0);
    if (name.n && selector)
        fault_forbidden(e, path_at(path, "selector"), "%s", both);
    if (!name.n && !selector)
        fault_required(e, path, "one of name or selector must be specified");
    if (validate_required(e, path_at(path, "parameterNotFoundAction"), action))
        validate_one_of(e, path_at(path, "parameterNotFoundAction"), action, WORDS(actions));
}

/* ---- What both policies have ---- */

static void check_policy_head(struct field_errors *e, const struct value *spec, bool mutating)
{
    const struct field_path *path = path_root("spec"), *at = path_at(path, "matchConstraints");
    const struct value *match = validate_member(spec, "matchConstraints");
    if (!validate_member(spec, "failurePolicy"))
        fault_required(e, path_at(path, "failurePolicy"), "");
    else
        validate_one_of(e, path_at(path, "failurePolicy"), value_text(spec, "failurePolicy"),
                        WORDS(failure_policies));
    check_param_kind(e, path_at(path, "paramKind"), validate_member(spec, "paramKind"));
    if (!match) {
        fault_required(e, at, "");
        return;
    }
    check_match_resources(e, at, match);
    if (!validate_count(match, "resourceRules"))
        fault_required(e, path_at(at, "resourceRules"), "");
    if (mutating)
        check_mutating_operations(e, at, match);
}

static bool keeps_conditions(const struct value *spec, const struct value *old)
{
    return old &&
           validate_is_same(validate_member(spec, "paramKind"),
                            validate_member(old, "paramKind")) &&
           validate_is_same(value_get(spec, STR("matchConditions")),
                            value_get(old, STR("matchConditions")));
}

static bool is_cel_identifier(struct str name)
{
    static const struct str reserved[] = {
        STR("as"),   STR("break"),     STR("const"), STR("continue"), STR("else"),   STR("false"),
        STR("for"),  STR("function"),  STR("if"),    STR("import"),   STR("in"),     STR("let"),
        STR("loop"), STR("namespace"), STR("null"),  STR("package"),  STR("return"), STR("true"),
        STR("var"),  STR("void"),      STR("while"),
    };
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i], lower = (char)(c | 0x20);
        bool digit = c >= '0' && c <= '9';
        if (c != '_' && !(lower >= 'a' && lower <= 'z') && !(digit && i))
            return false;
    }
    return name.n && !words_have(name, WORDS(reserved));
}

static void check_variables(struct field_errors *e, const struct value *variables)
{
    size_t i = 0;
    value_each_item (it, variables) {
        const struct field_path *at = path_item(path_at(path_root("spec"), "variables"), i++);
        struct str name = value_text(it, "name");
        if (str_trim(name).n == 0)
            fault_required(e, path_at(at, "name"), "name is not specified");
        else if (!is_cel_identifier(name))
            fault_text(e, path_at(at, "name"), name, "must be a valid CEL identifier");
        if (str_trim(value_text(it, "expression")).n == 0)
            fault_required(e, path_at(at, "expression"), "expression is not specified");
    }
}

/* ---- ValidatingAdmissionPolicy ---- */

static void check_validation(struct field_errors *e, const struct field_path *path,
                             const struct value *validation)
{
    static const struct str reasons[] = { STR("Forbidden"), STR("Invalid"),
                                          STR("RequestEntityTooLarge") };
    struct str message = value_text(validation, "message"), trimmed = str_trim(message);
    struct str expression = value_text(validation, "messageExpression");
    if (str_trim(value_text(validation, "expression")).n == 0)
        fault_required(e, path_at(path, "expression"), "expression is not specified");
    if (expression.n && str_trim(expression).n == 0)
        fault_text(e, path_at(path, "messageExpression"), expression,
                   "must be non-empty if specified");
    if (message.n && trimmed.n == 0)
        fault_text(e, path_at(path, "message"), message, "must be non-empty if specified");
    else if (str_find(trimmed, '\n') >= 0)
        fault_text(e, path_at(path, "message"), message, "must not contain line breaks");
    if (validate_member(validation, "reason"))
        validate_one_of(e, path_at(path, "reason"), value_text(validation, "reason"),
                        WORDS(reasons));
}

/* Upstream shows its own struct here, whose fields have Go's names. */
static struct value annotations_in_go(struct arena *a, const struct value *list)
{
    struct value all = value_array();
    value_each_item (it, list) {
        struct value one = value_object();
        value_put(a, &one, STR("Key"), value_string(value_text(it, "key")));
        value_put(a, &one, STR("ValueExpression"), value_string(value_text(it, "valueExpression")));
        value_put_item(a, &all, one);
    }
    return all;
}

static void check_audit_annotations(struct field_errors *e, const struct value *obj)
{
    enum { ANNOTATIONS_MAX = 20, EXPRESSION_MAX = 5 * 1024 };
    const struct value *list = value_dig(obj, "spec", "auditAnnotations");
    const struct field_path *path = path_at(path_root("spec"), "auditAnnotations");
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    size_t i = 0;
    autoset keys;
    text_set_init(&keys);
    const struct value shown = annotations_in_go(e->arena, list);
    if (shown.n > ANNOTATIONS_MAX)
        fault_value(e, path, &shown, "must not have more than %d auditAnnotations",
                    ANNOTATIONS_MAX);
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        struct str key = value_text(it, "key"),
                   expression = str_trim(value_text(it, "valueExpression"));
        if (name.n)
            validate_name(e, path_at(at, "key"), NAME_QUALIFIED,
                          arena_printf(e->arena, STR_FMT "/" STR_FMT, STR_ARG(name), STR_ARG(key)));
        else
            fault_text(e, path_at(at, "key"), key, "requires metadata.name be non-empty");
        if (expression.n == 0)
            fault_required(e, path_at(at, "valueExpression"), "valueExpression is not specified");
        else if (expression.n > EXPRESSION_MAX)
            fault_required(e, path_at(at, "valueExpression"),
                           "must not exceed 5120 bytes in length");
        if (!text_set_add(&keys, key, it))
            fault_duplicate(e, path_at(at, "key"), key);
    }
}

static void check_validating(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    static const char one[] = "validations or auditAnnotations must contain at least one item";
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    size_t i = 0;
    check_policy_head(e, spec, false);
    if (!keeps_conditions(spec, value_get(old_obj, STR("spec"))))
        validate_match_conditions(e, path_at(path, "matchConditions"),
                                  value_get(spec, STR("matchConditions")));
    check_variables(e, value_get(spec, STR("variables")));
    if (!validate_count(spec, "validations") && !validate_count(spec, "auditAnnotations")) {
        fault_required(e, path_at(path, "validations"), one);
        fault_required(e, path_at(path, "auditAnnotations"), one);
    }
    value_each_item (it, value_get(spec, STR("validations")))
        check_validation(e, path_item(path_at(path, "validations"), i++), it);
    check_audit_annotations(e, obj);
}

static void create_validating(struct field_errors *e, const struct value *obj)
{
    check_validating(e, obj, NULL);
    validate_static_name(e, obj);
}

static void update_validating(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    check_validating(e, obj, old_obj);
}

static void update_validating_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    const struct value *status = value_get(obj, STR("status"));
    const struct field_path *path = path_root("status");
    const struct field_path *warnings =
        path_at(path_at(path, "typeChecking"), "expressionWarnings");
    size_t i = 0;
    (void)old_obj;
    value_each_item (it, value_dig(status, "typeChecking", "expressionWarnings")) {
        const struct field_path *at = path_item(warnings, i++);
        validate_required(e, path_at(at, "warning"), value_text(it, "warning"));
        validate_required(e, path_at(at, "fieldRef"), str_trim(value_text(it, "fieldRef")));
    }
    validate_conditions(e, path_at(path, "conditions"), value_get(status, STR("conditions")));
}

/* ---- MutatingAdmissionPolicy ---- */

static void check_patch(struct field_errors *e, const struct field_path *path,
                        const struct value *mutation, const char *type, struct str field,
                        struct str other)
{
    const struct value *patch = validate__member(mutation, field);
    struct field_path at = field_child(path, field), other_at = field_child(path, other);
    if (!patch)
        field_error(e, FIELD_REQUIRED, &at, STR(""), "must be specified when patchType is %s",
                    type);
    else
        validate_required(e, path_at(&at, "expression"), str_trim(value_text(patch, "expression")));
    if (validate__member(mutation, other))
        fault_text(e, &other_at, arena_printf(e->arena, "{" STR_FMT "}", STR_ARG(other)),
                   "must not be specified when patchType is %s", type);
}

static void check_mutation(struct field_errors *e, const struct field_path *path,
                           const struct value *mutation)
{
    static const struct str types[] = { STR("ApplyConfiguration"), STR("JSONPatch") };
    static const struct str apply = STR("applyConfiguration"), patch = STR("jsonPatch");
    struct str type = value_text(mutation, "patchType");
    if (!validate_required(e, path_at(path, "patchType"), type) ||
        !validate_one_of(e, path_at(path, "patchType"), type, WORDS(types)))
        return;
    if (str_eq(type, types[0]))
        check_patch(e, path, mutation, "ApplyConfiguration", apply, patch);
    else
        check_patch(e, path, mutation, "JSONPatch", patch, apply);
}

static void check_mutating(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    struct str policy = value_text(spec, "reinvocationPolicy");
    size_t i = 0;
    check_policy_head(e, spec, true);
    if (!keeps_conditions(spec, value_get(old_obj, STR("spec"))))
        validate_match_conditions(e, path_at(path, "matchConditions"),
                                  value_get(spec, STR("matchConditions")));
    check_variables(e, value_get(spec, STR("variables")));
    if (!validate_count(spec, "mutations"))
        fault_required(e, path_at(path, "mutations"), "mutations must contain at least one item");
    value_each_item (it, value_get(spec, STR("mutations")))
        check_mutation(e, path_item(path_at(path, "mutations"), i++), it);
    if (validate_required(e, path_at(path, "reinvocationPolicy"), policy))
        validate_one_of(e, path_at(path, "reinvocationPolicy"), policy,
                        WORDS(reinvocation_policies));
}

static void create_mutating(struct field_errors *e, const struct value *obj)
{
    check_mutating(e, obj, NULL);
    validate_static_name(e, obj);
}

static void update_mutating(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    check_mutating(e, obj, old_obj);
}

/* ---- Bindings ---- */

DECLARED_TYPE(binding_spec, { STR("policyName"), .flags = DECLARED_REQUIRED },
              { STR("validationActions"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(binding, { STR("spec"), .flags = DECLARED_STRUCT, .type = &binding_spec });

static void check_actions(struct field_errors *e, const struct field_path *path,
                          const struct value *actions)
{
    static const struct str known[] = { STR("Audit"), STR("Deny"), STR("Warn") };
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, actions) {
        const struct field_path *at = path_item(path, i++);
        validate_one_of(e, at, value_str(it), WORDS(known));
        if (!text_set_add(&seen, value_str(it), it))
            fault_duplicate(e, at, value_str(it));
    }
    if (text_set_has(&seen, STR("Deny")) && text_set_has(&seen, STR("Warn")))
        fault_value(e, path, actions,
                    "must not contain both Deny and Warn (repeating the same validation failure "
                    "information in the API response and headers serves no purpose)");
}

static void check_binding(struct field_errors *e, const struct value *spec)
{
    const struct field_path *path = path_root("spec");
    struct str policy = value_text(spec, "policyName");
    if (policy.n)
        validate_name(e, path_at(path, "policyName"), NAME_SUBDOMAIN, policy);
    check_param_ref(e, path_at(path, "paramRef"), validate_member(spec, "paramRef"));
    check_match_resources(e, path_at(path, "matchResources"),
                          validate_member(spec, "matchResources"));
}

static void check_validating_binding(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    check_binding(e, spec);
    check_actions(e, path_at(path_root("spec"), "validationActions"),
                  value_get(spec, STR("validationActions")));
}

static void create_validating_binding(struct field_errors *e, const struct value *obj)
{
    check_validating_binding(e, obj);
    validate_static_name(e, obj);
    declared_check(e, NULL, &binding, obj, NULL);
}

static void update_validating_binding(struct field_errors *e, const struct value *obj,
                                      const struct value *old_obj)
{
    check_validating_binding(e, obj);
    declared_check(e, NULL, &binding, obj, old_obj);
}

static void check_mutating_binding(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    validate_required(e, path_at(path, "policyName"), value_text(spec, "policyName"));
    check_binding(e, spec);
    check_mutating_operations(e, path_at(path, "matchResources"),
                              validate_member(spec, "matchResources"));
}

static void create_mutating_binding(struct field_errors *e, const struct value *obj)
{
    check_mutating_binding(e, obj);
    validate_static_name(e, obj);
}

static void update_mutating_binding(struct field_errors *e, const struct value *obj,
                                    const struct value *old_obj)
{
    (void)old_obj;
    check_mutating_binding(e, obj);
}

const struct validate_rules validate__admission[] = {
    { GROUP, STR("ValidatingAdmissionPolicy"), .create = create_validating,
      .update = update_validating, .update_status = update_validating_status,
      .warn = validate_warn_static_name },
    { GROUP, STR("MutatingAdmissionPolicy"), .create = create_mutating, .update = update_mutating,
      .warn = validate_warn_static_name },
    { GROUP, STR("ValidatingAdmissionPolicyBinding"), .create = create_validating_binding,
      .update = update_validating_binding, .warn = validate_warn_static_name },
    { GROUP, STR("MutatingAdmissionPolicyBinding"), .create = create_mutating_binding,
      .update = update_mutating_binding, .warn = validate_warn_static_name },
    { .kind = { NULL, 0 } },
};
