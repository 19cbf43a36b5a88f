#include "api/validate/validate_webhook.h"

#include "api/go/go_url.h"
#include "api/text_set.h"
#include "base/idiom.h"
#include "base/banned.h"

#define GROUP         STR("admissionregistration.k8s.io")
#define STATIC_SUFFIX STR(".static.k8s.io")

const struct str failure_policies[2] = { STR("Fail"), STR("Ignore") };
const struct str match_policies[2] = { STR("Equivalent"), STR("Exact") };
const struct str reinvocation_policies[2] = { STR("IfNeeded"), STR("Never") };

/* ---- Names ---- */

static struct str name_of(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "name"));
}

void validate_static_name(struct field_errors *e, const struct value *obj)
{
    if (str_ends(name_of(obj), STATIC_SUFFIX))
        fault_text(e, path_at(path_root("metadata"), "name"), name_of(obj),
                   "names ending with \".static.k8s.io\" are reserved for static manifest-based "
                   "configurations and cannot be managed via the API");
}

void validate_warn_static_name(struct validate_warnings *w, const struct value *obj,
                               const struct value *old_obj)
{
    if (old_obj && str_ends(name_of(obj), STATIC_SUFFIX))
        validate_add_warning(w, "metadata.name: names ending with \".static.k8s.io\" are reserved "
                                "for static manifest-based configurations and cannot be managed "
                                "via the API");
}

/* ---- Where a webhook answers ---- */

void validate_webhook_url(struct field_errors *e, const struct field_path *path, struct str url)
{
    static const char form[] = "; desired format: https://host[/path]";
    struct go_url u;
    const char *fault = go_url_parse(e->arena, url, &u);
    if (fault) {
        field_error(e, FIELD_REQUIRED, path, STR(""), "url must be a valid URL: %s%s", fault, form);
        return;
    }
    if (!str_eq(u.scheme, STR("https")))
        fault_text(e, path, u.scheme, "'https' is the only allowed URL scheme%s", form);
    if (u.host.n == 0)
        fault_text(e, path, u.host, "host must be specified%s", form);
    if (u.has_user)
        fault_text(e, path, u.user, "user information is not permitted in the URL");
    if (u.fragment.n)
        fault_text(e, path, u.fragment, "fragments are not permitted in the URL");
    if (u.query.n)
        fault_text(e, path, u.query, "query parameters are not permitted in the URL");
}

static void check_url_path(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct str rest = str_skip(text, 1);
    size_t i = 0;
    if (text.n == 0 || str_eq(text, STR("/")))
        return;
    if (str_eq(text, STR("//"))) {
        fault_text(e, path, text, "segment[0] may not be empty");
        return;
    }
    if (text.p[0] != '/')
        fault_text(e, path, text, "must start with a '/'");
    if (str_ends(rest, STR("/")))
        rest = str_take(rest, rest.n - 1);
    do {
        struct str step = str_cut(&rest, '/');
        struct name_faults faults = { 0 };
        if (step.n == 0)
            fault_text(e, path, text, "segment[%zu] may not be empty", i);
        else
            (void)name_check(NAME_SUBDOMAIN, step, &faults);
        for (size_t k = 0; k < faults.n; k++)
            fault_text(e, path, text, "segment[%zu]: %s", i, faults.list[k].why);
        i++;
    } while (rest.p);
}

void validate_webhook_service(struct field_errors *e, const struct field_path *path,
                              const struct value *service, bool swapped)
{
    int64_t port = validate_int(service, "port");
    validate_required(e, path_at(path, "name"),
                      swapped ? value_text(service, "namespace") : value_text(service, "name"));
    validate_required(e, path_at(path, "namespace"),
                      swapped ? value_text(service, "name") : value_text(service, "namespace"));
    if (port < 1 || port > 65535)
        fault_int(e, path_at(path, "port"), port,
                  "port is not valid: must be between 1 and 65535, inclusive");
    if (validate_member(service, "path"))
        check_url_path(e, path_at(path, "path"), value_text(service, "path"));
}

void validate_client_config(struct field_errors *e, const struct field_path *path,
                            const struct value *config, bool swapped)
{
    const struct value *url = validate_member(config, "url"),
                       *service = validate_member(config, "service");
    if (!url == !service)
        fault_required(e, path, "exactly one of url or service is required");
    else if (url)
        validate_webhook_url(e, path_at(path, "url"), value_str(url));
    else
        validate_webhook_service(e, path_at(path, "service"), service, swapped);
}

/* ---- Which requests ---- */

static void check_wildcard(struct field_errors *e, const struct field_path *path,
                           const struct value *list, const char *others)
{
    if (!validate__count(list))
        fault_required(e, path, "");
    if (validate__count(list) > 1 && validate_list_has(list, STR("*")))
        fault_value(e, path, list, "if '*' is present, must not specify other %s", others);
}

/* RESOURCE, or RESOURCE/SUB; a wildcard for either leaves no room for what it covers. */
static void check_resource(struct field_errors *e, const struct field_path *path, struct str text,
                           struct text_set *of_any_sub, struct text_set *of_any)
{
    struct str sub = text, resource = str_cut(&sub, '/');
    if (!sub.p)
        return;
    if (text_set_has(of_any_sub, resource))
        fault_text(e, path, text, "if '" STR_FMT "/*' is present, must not specify " STR_FMT,
                   STR_ARG(resource), STR_ARG(text));
    if (text_set_has(of_any, sub))
        fault_text(e, path, text, "if '*/" STR_FMT "' is present, must not specify " STR_FMT,
                   STR_ARG(sub), STR_ARG(text));
    if (str_eq(sub, STR("*")))
        (void)text_set_add(of_any_sub, resource, path);
    if (str_eq(resource, STR("*")))
        (void)text_set_add(of_any, sub, path);
}

static void check_resources(struct field_errors *e, const struct field_path *path,
                            const struct value *resources)
{
    bool all = false, any = false, plain = false;
    size_t i = 0;
    autoset of_any_sub, of_any;
    text_set_init(&of_any_sub);
    text_set_init(&of_any);
    if (!validate__count(resources))
        fault_required(e, path, "");
    value_each_item (it, resources) {
        struct str text = value_str(it);
        const struct field_path *at = path_item(path, i++);
        if (!validate_required(e, at, text))
            continue;
        all = all || str_eq(text, STR("*/*"));
        any = any || str_eq(text, STR("*"));
        if (str_find(text, '/') < 0)
            plain = !str_eq(text, STR("*")); /* upstream remembers the last one only */
        check_resource(e, at, text, &of_any_sub, &of_any);
    }
    if (all && validate__count(resources) > 1)
        fault_value(e, path, resources, "if '*/*' is present, must not specify other resources");
    if (any && plain)
        fault_value(e, path, resources,
                    "if '*' is present, must not specify other resources without subresources");
}

/* Groups and versions. */
static void check_rule(struct field_errors *e, const struct field_path *path,
                       const struct value *rule)
{
    const struct value *versions = value_get(rule, STR("apiVersions"));
    size_t i = 0;
    check_wildcard(e, path_at(path, "apiGroups"), value_get(rule, STR("apiGroups")), "API groups");
    check_wildcard(e, path_at(path, "apiVersions"), versions, "API versions");
    value_each_item (it, versions)
        validate_required(e, path_item(path_at(path, "apiVersions"), i++), value_str(it));
}

void validate_plain_rule(struct field_errors *e, const struct field_path *path,
                         const struct value *rule)
{
    const struct field_path *list = path_at(path, "resources");
    const struct value *resources = value_get(rule, STR("resources"));
    size_t i = 0;
    check_rule(e, path, rule);
    if (!validate__count(resources))
        fault_required(e, list, "");
    value_each_item (it, resources) {
        const struct field_path *at = path_item(list, i++);
        (void)validate_required(e, at, value_str(it));
        if (str_find(value_str(it), '/') >= 0)
            fault_text(e, at, value_str(it), "must not specify subresources");
    }
    if (validate__count(resources) > 1 && validate_list_has(resources, STR("*")))
        fault_value(e, list, resources, "if '*' is present, must not specify other resources");
}

void validate_rule_with_operations(struct field_errors *e, const struct field_path *path,
                                   const struct value *rule)
{
    static const struct str operations[] = { STR("*"), STR("CONNECT"), STR("CREATE"), STR("DELETE"),
                                             STR("UPDATE") };
    static const struct str scopes[] = { STR("*"), STR("Cluster"), STR("Namespaced") };
    const struct value *given = value_get(rule, STR("operations"));
    size_t i = 0;
    check_wildcard(e, path_at(path, "operations"), given, "operations");
    value_each_item (it, given)
        validate_one_of(e, path_item(path_at(path, "operations"), i++), value_str(it),
                        WORDS(operations));
    check_rule(e, path, rule);
    check_resources(e, path_at(path, "resources"), value_get(rule, STR("resources")));
    if (validate_member(rule, "scope"))
        validate_one_of(e, path_at(path, "scope"), value_text(rule, "scope"), WORDS(scopes));
}

void validate_match_conditions(struct field_errors *e, const struct field_path *path,
                               const struct value *conditions)
{
    enum { CONDITIONS_MAX = 64 };
    size_t n = validate__count(conditions), i = 0;
    autoset names;
    text_set_init(&names);
    if (n > CONDITIONS_MAX)
        fault_too_many(e, path, n, CONDITIONS_MAX);
    value_each_item (it, conditions) {
        const struct field_path *at = path_item(path, i++);
        struct str name = value_text(it, "name");
        validate_required(e, path_at(at, "expression"), str_trim(value_text(it, "expression")));
        validate_required_name(e, path_at(at, "name"), NAME_QUALIFIED, name);
        if (name.n && !text_set_add(&names, name, it))
            fault_duplicate(e, path_at(at, "name"), name);
    }
}

/* ---- Webhook configurations ---- */

/* What an old object has although it may not. */
struct hook_rules {
    bool keeps_side_effects, keeps_versions, keeps_repeated, keeps_conditions;
    unsigned selector_flags;
};

bool validate_is_review_version(struct str version)
{
    static const struct str known[] = { STR("v1"), STR("v1beta1") };
    return words_have(version, WORDS(known));
}

static bool has_accepted_version(const struct value *hook)
{
    value_each_item (it, value_get(hook, STR("admissionReviewVersions")))
        if (validate_is_review_version(value_str(it)))
            return true;
    return false;
}

static void check_review_versions(struct field_errors *e, const struct field_path *path,
                                  const struct value *hook, const struct hook_rules *rules)
{
    const struct value *versions = value_get(hook, STR("admissionReviewVersions"));
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    if (!validate__count(versions)) {
        fault_required(e, path, "must specify one of v1, v1beta1");
        return;
    }
    value_each_item (it, versions) {
        const struct field_path *at = path_item(path, i++);
        if (!text_set_add(&seen, value_str(it), it))
            fault_text(e, at, value_str(it), "duplicate version");
        else
            validate_name(e, at, NAME_LABEL_1035, value_str(it));
    }
    if (!rules->keeps_versions && !has_accepted_version(hook))
        fault_value(e, path, versions, "must include at least one of v1, v1beta1");
}

void validate_hook_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    struct name_faults f = { 0 };
    size_t dots = 0;
    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    if (!validate_required(e, path, name))
        return;
    if (!name_check(NAME_SUBDOMAIN, name, &f))
        fault_text(e, path, name, "%s%s%s", f.list[0].why, f.n > 1 ? "," : "",
                   f.n > 1 ? f.list[1].why : "");
    else if (dots < 2)
        fault_text(e, path, name,
                   "should be a domain with at least three segments separated by dots");
}

static void check_side_effects(struct field_errors *e, const struct field_path *path,
                               const struct value *hook, const struct hook_rules *rules)
{
    static const struct str none[] = { STR("None"), STR("NoneOnDryRun") };
    static const struct str all[] = { STR("None"), STR("NoneOnDryRun"), STR("Some"),
                                      STR("Unknown") };
    if (!validate_member(hook, "sideEffects"))
        fault_required(e, path,
                       rules->keeps_side_effects
                           ? "must specify one of None, NoneOnDryRun, Some, Unknown"
                           : "must specify one of None, NoneOnDryRun");
    else if (rules->keeps_side_effects)
        validate_one_of(e, path, value_text(hook, "sideEffects"), WORDS(all));
    else
        validate_one_of(e, path, value_text(hook, "sideEffects"), WORDS(none));
}

static void check_hook(struct field_errors *e, const struct field_path *path,
                       const struct value *hook, const struct hook_rules *rules)
{
    int64_t timeout = validate_int(hook, "timeoutSeconds");
    size_t i = 0;
    validate_hook_name(e, path_at(path, "name"), value_text(hook, "name"));
    value_each_item (it, value_get(hook, STR("rules")))
        validate_rule_with_operations(e, path_item(path_at(path, "rules"), i++), it);
    if (validate_member(hook, "failurePolicy"))
        validate_one_of(e, path_at(path, "failurePolicy"), value_text(hook, "failurePolicy"),
                        WORDS(failure_policies));
    if (validate_member(hook, "matchPolicy"))
        validate_one_of(e, path_at(path, "matchPolicy"), value_text(hook, "matchPolicy"),
                        WORDS(match_policies));
    check_side_effects(e, path_at(path, "sideEffects"), hook, rules);
    if (validate_member(hook, "timeoutSeconds") && (timeout < 1 || timeout > 30))
        fault_int(e, path_at(path, "timeoutSeconds"), timeout,
                  "the timeout value must be between 1 and 30 seconds");
    validate_label_selector(e, path_at(path, "namespaceSelector"),
                            validate_member(hook, "namespaceSelector"), rules->selector_flags);
    validate_label_selector(e, path_at(path, "objectSelector"),
                            validate_member(hook, "objectSelector"), rules->selector_flags);
    if (validate_member(hook, "reinvocationPolicy")) /* of mutating ones only */
        validate_one_of(e, path_at(path, "reinvocationPolicy"),
                        value_text(hook, "reinvocationPolicy"), WORDS(reinvocation_policies));
    validate_client_config(e, path_at(path, "clientConfig"), value_get(hook, STR("clientConfig")),
                           true);
    if (!rules->keeps_conditions)
        validate_match_conditions(e, path_at(path, "matchConditions"),
                                  value_get(hook, STR("matchConditions")));
}

static void check_hooks(struct field_errors *e, const struct value *obj,
                        const struct hook_rules *rules)
{
    size_t i = 0;
    autoset names;
    text_set_init(&names);
    value_each_item (hook, value_get(obj, STR("webhooks"))) {
        const struct field_path *path = path_item(path_root("webhooks"), i++);
        struct str name = value_text(hook, "name");
        check_hook(e, path, hook, rules);
        check_review_versions(e, path_at(path, "admissionReviewVersions"), hook, rules);
        if (name.n && !text_set_add(&names, name, hook) && !rules->keeps_repeated)
            fault_duplicate(e, path_at(path, "name"), name);
    }
}

static void create_hooks(struct field_errors *e, const struct value *obj)
{
    check_hooks(e, obj, &(const struct hook_rules){ 0 });
    validate_static_name(e, obj);
}

static bool has_same_conditions(const struct value *hooks, const struct value *old)
{
    if (validate__count(hooks) != validate__count(old))
        return false;
    for (size_t i = 0; i < validate__count(old); i++)
        if (!validate_is_same(value_get(value_at(hooks, i), STR("matchConditions")),
                              value_get(value_at(old, i), STR("matchConditions"))))
            return false;
    return true;
}

static struct hook_rules rules_of(const struct value *obj, const struct value *old_obj)
{
    static const struct str harmless[] = { STR("None"), STR("NoneOnDryRun") };
    const struct value *old = value_get(old_obj, STR("webhooks"));
    struct hook_rules rules = {
        .keeps_conditions = has_same_conditions(value_get(obj, STR("webhooks")), old),
    };
    autoset names;
    text_set_init(&names);
    value_each_item (hook, old) {
        struct str effects = value_text(hook, "sideEffects");
        if (!words_have(effects, WORDS(harmless)))
            rules.keeps_side_effects = true;
        if (validate_count(hook, "admissionReviewVersions") && !has_accepted_version(hook))
            rules.keeps_versions = true;
        if (!text_set_add(&names, value_text(hook, "name"), hook))
            rules.keeps_repeated = true;
        if (!validate_is_label_selector(validate_member(hook, "namespaceSelector"), 0) ||
            !validate_is_label_selector(validate_member(hook, "objectSelector"), 0))
            rules.selector_flags = SELECTOR_ANY_VALUES;
    }
    return rules;
}

static void update_hooks(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    const struct hook_rules rules = rules_of(obj, old_obj);
    check_hooks(e, obj, &rules);
}

/* Through v1beta1, side effects may be unknown and names may repeat. */
static void create_old_hooks(struct field_errors *e, const struct value *obj)
{
    check_hooks(e, obj,
                &(const struct hook_rules){ .keeps_side_effects = true, .keeps_repeated = true });
    validate_static_name(e, obj);
}

static void update_old_hooks(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    struct hook_rules rules = rules_of(obj, old_obj);
    rules.keeps_side_effects = true;
    rules.keeps_repeated = true;
    check_hooks(e, obj, &rules);
}

/* ---- Warnings ---- */

/* Resources that no webhook is asked about. */
static const struct {
    struct str group, resource;
} excluded[] = {
    { STR("authentication.k8s.io"), STR("selfsubjectreviews") },
    { STR("authentication.k8s.io"), STR("tokenreviews") },
    { STR("authorization.k8s.io"), STR("localsubjectaccessreviews") },
    { STR("authorization.k8s.io"), STR("selfsubjectaccessreviews") },
    { STR("authorization.k8s.io"), STR("selfsubjectrulesreviews") },
    { STR("authorization.k8s.io"), STR("subjectaccessreviews") },
};

static void warn_of_rule(struct validate_warnings *w, const struct field_path *path,
                         const struct value *rule)
{
    const struct value *groups = value_get(rule, STR("apiGroups"));
    const struct value *resources = value_get(rule, STR("resources"));
    if (validate_list_has(groups, STR("*")) || validate_list_has(resources, STR("*")))
        return;
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (validate_list_has(groups, excluded[i].group) &&
            validate_list_has(resources, excluded[i].resource))
            validate_warn_at(w, path,
                             STR_FMT
                             "." STR_FMT
                             " is excluded from admission webhooks; this rule will have no effect",
                             STR_ARG(excluded[i].resource), STR_ARG(excluded[i].group));
}

static void warn_of_hooks(struct validate_warnings *w, const struct value *obj,
                          const struct value *old_obj)
{
    size_t i = 0;
    validate_warn_static_name(w, obj, old_obj);
    value_each_item (hook, value_get(obj, STR("webhooks"))) {
        const struct field_path *path = path_at(path_item(path_root("webhooks"), i++), "rules");
        size_t k = 0;
        value_each_item (rule, value_get(hook, STR("rules")))
            warn_of_rule(w, path_item(path, k++), rule);
    }
}

const struct validate_rules validate__webhook[] = {
    { GROUP, STR("ValidatingWebhookConfiguration"), .create = create_hooks, .update = update_hooks,
      .warn = warn_of_hooks },
    { GROUP, STR("MutatingWebhookConfiguration"), .create = create_hooks, .update = update_hooks,
      .warn = warn_of_hooks },
    { GROUP, STR("ValidatingWebhookConfiguration"), .create = create_old_hooks,
      .update = update_old_hooks, .warn = warn_of_hooks, .version = STR("v1beta1") },
    { GROUP, STR("MutatingWebhookConfiguration"), .create = create_old_hooks,
      .update = update_old_hooks, .warn = warn_of_hooks, .version = STR("v1beta1") },
    { .kind = { NULL, 0 } },
};
