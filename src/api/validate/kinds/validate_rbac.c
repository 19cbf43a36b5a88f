/* Roles and their bindings. */
#include "api/validate/declared.h"
#include "api/inner.h"
#include "api/validate/validate_common.h"
#include "base/banned.h"

#define GROUP STR("rbac.authorization.k8s.io")

/* ---- Declared ---- */

DECLARED_TYPE(policy_rule, { STR("verbs"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(role, { STR("rules"), .type = &policy_rule });
DECLARED_TYPE(named, { STR("name"), .flags = DECLARED_REQUIRED });
DECLARED_TYPE(binding, { STR("subjects"), .type = &named },
              { STR("roleRef"), .flags = DECLARED_STRUCT, .type = &named });

/* ---- Roles ---- */

static void check_rule(struct field_errors *e, const struct field_path *path,
                       const struct value *rule, bool namespaced)
{
    const struct value *urls = value_get(rule, STR("nonResourceURLs"));
    bool resources = validate_count(rule, "apiGroups") || validate_count(rule, "resources") ||
                     validate_count(rule, "resourceNames");
    if (validate__count(urls)) {
        if (namespaced)
            fault_value(e, path_at(path, "nonResourceURLs"), urls,
                        "namespaced rules cannot apply to non-resource URLs");
        if (resources)
            fault_value(e, path_at(path, "nonResourceURLs"), urls,
                        "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (validate_count(rule, "apiGroups") == 0)
        fault_required(e, path_at(path, "apiGroups"),
                       "resource rules must supply at least one api group");
    if (validate_count(rule, "resources") == 0)
        fault_required(e, path_at(path, "resources"),
                       "resource rules must supply at least one resource");
}

static void check_rules(struct field_errors *e, const struct value *obj, bool namespaced)
{
    size_t i = 0;
    value_each_item (rule, value_get(obj, STR("rules")))
        check_rule(e, path_item(path_root("rules"), i++), rule, namespaced);
}

static void create_role(struct field_errors *e, const struct value *obj)
{
    check_rules(e, obj, true);
    declared_check(e, NULL, &role, obj, NULL);
}

static void update_role(struct field_errors *e, const struct value *obj,
                        const struct value *old_obj)
{
    check_rules(e, obj, true);
    declared_check(e, NULL, &role, obj, old_obj);
}

static bool has_bad_value(const struct value *obj)
{
    value_each_item (selector, value_dig(obj, "aggregationRule", "clusterRoleSelectors"))
        if (validate_selector_has_bad_value(selector))
            return true;
    return false;
}

static void check_aggregation(struct field_errors *e, const struct value *obj, unsigned flags)
{
    const struct value *rule = validate_member(obj, "aggregationRule");
    const struct field_path *selectors =
        path_at(path_root("aggregationRule"), "clusterRoleSelectors");
    if (rule && validate_count(rule, "clusterRoleSelectors") == 0)
        fault_required(e, selectors,
                       "at least one clusterRoleSelector required if aggregationRule is non-nil");
    size_t i = 0;
    value_each_item (selector, value_get(rule, STR("clusterRoleSelectors"))) {
        const struct field_path *path = path_item(selectors, i++);
        validate_label_selector(e, path, selector, flags);
        if (!validate_is_label_selector(selector, 0))
            fault_value(e, path, NULL, "invalid label selector.");
    }
}

static void create_cluster_role(struct field_errors *e, const struct value *obj)
{
    check_rules(e, obj, false);
    check_aggregation(e, obj, 0);
    declared_check(e, NULL, &role, obj, NULL);
}

static void update_cluster_role(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    check_rules(e, obj, false);
    check_aggregation(e, obj, has_bad_value(old_obj) ? SELECTOR_ANY_VALUES : 0);
    declared_check(e, NULL, &role, obj, old_obj);
}

/* ---- Bindings ---- */

static void check_group(struct field_errors *e, const struct field_path *path, struct str group,
                        struct str wanted)
{
    if (!str_eq(group, wanted))
        validate_one_of(e, path, group, &wanted, 1);
}

static void check_subject(struct field_errors *e, const struct field_path *path,
                          const struct value *subject, bool namespaced)
{
    static const struct str kinds[] = { STR("ServiceAccount"), STR("User"), STR("Group") };
    struct str kind = value_text(subject, "kind"), name = value_text(subject, "name");
    struct str group = value_text(subject, "apiGroup");
    if (!validate_one_of(e, path_at(path, "kind"), kind, WORDS(kinds)))
        return;
    if (!str_eq(kind, kinds[0])) {
        check_group(e, path_at(path, "apiGroup"), group, GROUP);
        return;
    }
    if (name.n)
        validate_name(e, path_at(path, "name"), NAME_SUBDOMAIN, name);
    check_group(e, path_at(path, "apiGroup"), group, STR(""));
    if (!namespaced)
        validate_required(e, path_at(path, "namespace"), value_text(subject, "namespace"));
}

static void check_binding(struct field_errors *e, const struct value *obj, bool namespaced)
{
    static const struct str kinds[] = { STR("Role"), STR("ClusterRole") };
    const struct value *ref = value_get(obj, STR("roleRef"));
    const struct field_path *path = path_root("roleRef");
    struct str name = value_text(ref, "name");
    check_group(e, path_at(path, "apiGroup"), value_text(ref, "apiGroup"), GROUP);
    validate_one_of(e, path_at(path, "kind"), value_text(ref, "kind"),
                    namespaced ? kinds : kinds + 1, namespaced ? 2 : 1);
    if (name.n)
        validate_name(e, path_at(path, "name"), NAME_PATH_SEGMENT, name);
    size_t i = 0;
    value_each_item (subject, value_get(obj, STR("subjects")))
        check_subject(e, path_item(path_root("subjects"), i++), subject, namespaced);
}

static void create_role_binding(struct field_errors *e, const struct value *obj)
{
    check_binding(e, obj, true);
    declared_check(e, NULL, &binding, obj, NULL);
}

static void create_cluster_role_binding(struct field_errors *e, const struct value *obj)
{
    check_binding(e, obj, false);
    declared_check(e, NULL, &binding, obj, NULL);
}

static void update_binding(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj, bool namespaced)
{
    check_binding(e, obj, namespaced);
    const struct value *ref = value_get(obj, STR("roleRef"));
    if (!validate_is_same(ref, value_get(old_obj, STR("roleRef"))))
        field_error(e, FIELD_INVALID, path_root("roleRef"),
                    inner_json(e, STR("rbac.authorization.k8s.io/v1"), STR("RoleRef"), ref),
                    "field is immutable");
    declared_check(e, NULL, &binding, obj, old_obj);
}

static void update_role_binding(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    update_binding(e, obj, old_obj, true);
}

static void update_cluster_role_binding(struct field_errors *e, const struct value *obj,
                                        const struct value *old_obj)
{
    update_binding(e, obj, old_obj, false);
}

const struct validate_rules validate__rbac[] = {
    { GROUP, STR("Role"), .create = create_role, .update = update_role },
    { GROUP, STR("ClusterRole"), .create = create_cluster_role, .update = update_cluster_role },
    { GROUP, STR("RoleBinding"), .create = create_role_binding, .update = update_role_binding },
    { GROUP, STR("ClusterRoleBinding"), .create = create_cluster_role_binding,
      .update = update_cluster_role_binding },
    { .kind = { NULL, 0 } },
};
