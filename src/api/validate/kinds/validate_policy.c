/* PodDisruptionBudget, PriorityClass and RuntimeClass. */
#include "api/validate/declared.h"
#include "api/inner.h"
#include "api/validate/validate_parts.h"
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC path_root("spec")

/* ---- PodDisruptionBudget ---- */

static void check_share(struct field_errors *e, const struct field_path *path,
                        const struct value *share)
{
    if (!share)
        return;
    (void)validate_int_or_percent(e, path, share);
    (void)validate_not_over_100_percent(e, path, share);
}

static void check_budget(struct field_errors *e, const struct value *spec, unsigned selector_flags)
{
    static const struct str policies[] = { STR("AlwaysAllow"), STR("IfHealthyBudget") };
    const struct value *available = validate_member(spec, "minAvailable"),
                       *unavailable = validate_member(spec, "maxUnavailable"),
                       *policy = validate_member(spec, "unhealthyPodEvictionPolicy");
    if (available && unavailable)
        field_error(e, FIELD_INVALID, SPEC,
                    inner_json(e, STR("policy/v1"), STR("PodDisruptionBudgetSpec"), spec),
                    "minAvailable and maxUnavailable cannot be both set");
    check_share(e, path_at(SPEC, "minAvailable"), available);
    check_share(e, path_at(SPEC, "maxUnavailable"), unavailable);
    (void)validate_label_selector(e, path_at(SPEC, "selector"), validate_member(spec, "selector"),
                                  selector_flags);
    if (policy)
        (void)validate_one_of(e, path_at(SPEC, "unhealthyPodEvictionPolicy"), value_str(policy),
                              WORDS(policies));
}

static void create_budget(struct field_errors *e, const struct value *obj)
{
    check_budget(e, validate_member(obj, "spec"), 0);
}

static void update_budget(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *selector = validate_member(validate_member(old_obj, "spec"), "selector");
    check_budget(e, validate_member(obj, "spec"),
                 validate_is_label_selector(selector, 0) ? 0 : SELECTOR_ANY_VALUES);
}

static void update_budget_status(struct field_errors *e, const struct value *obj,
                                 const struct value *old_obj)
{
    static const struct str counts[] = { STR("disruptionsAllowed"), STR("currentHealthy"),
                                         STR("desiredHealthy"), STR("expectedPods") };
    const struct value *status = validate_member(obj, "status");
    const struct field_path *path = path_root("status");
    (void)old_obj;
    (void)validate_conditions(e, path_at(path, "conditions"), value_get(status, STR("conditions")));
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct field_path at = field_child(path, counts[i]);
        (void)validate_nonnegative(e, &at, validate__int(value_get(status, counts[i])));
    }
}

/* Old controllers counted without a floor. */
static void update_old_budget_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    (void)old_obj;
    (void)validate_conditions(e, path_at(path_root("status"), "conditions"),
                              value_dig(obj, "status", "conditions"));
}

/* ---- PriorityClass ---- */

enum { PRIORITY_USER_MAX = 1000000000, PRIORITY_SYSTEM = 2 * PRIORITY_USER_MAX };

#define RESERVED \
    "priority class names with 'system-' prefix are reserved for system use only. error: "

static void check_system_class(struct field_errors *e, const struct value *obj, struct str name)
{
    const struct field_path *path = path_at(path_root("metadata"), "name");
    static const struct system_class {
        struct str word;
        int64_t priority;
    } classes[] = {
        { STR("system-node-critical"), PRIORITY_SYSTEM + 1000 },
        { STR("system-cluster-critical"), PRIORITY_SYSTEM },
    };
    const struct system_class *class = words_row(name, classes);
    if (!class)
        fault_forbidden(e, path, RESERVED STR_FMT " is not a known system priority class",
                        STR_ARG(name));
    else if (validate_int(obj, "value") != class->priority)
        fault_forbidden(e, path, RESERVED "value of " STR_FMT " PriorityClass must be %ld",
                        STR_ARG(name), (long)class->priority);
    else if (value_is_true(value_get(obj, STR("globalDefault"))))
        fault_forbidden(e, path,
                        RESERVED "globalDefault of " STR_FMT " PriorityClass must be false",
                        STR_ARG(name));
}

static void create_priority(struct field_errors *e, const struct value *obj)
{
    static const struct str policies[] = { STR("PreemptLowerPriority"), STR("Never") };
    struct str name = value_text(value_get(obj, STR("metadata")), "name");
    const struct value *policy = validate_member(obj, "preemptionPolicy");
    if (str_starts(name, STR("system-")))
        check_system_class(e, obj, name);
    else if (validate_int(obj, "value") > PRIORITY_USER_MAX)
        fault_forbidden(e, path_root("value"),
                        "maximum allowed value of a user defined priority is %d",
                        PRIORITY_USER_MAX);
    if (policy && validate_required(e, path_root("preemptionPolicy"), value_str(policy)))
        (void)validate_one_of(e, path_root("preemptionPolicy"), value_str(policy), WORDS(policies));
}

static void update_priority(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    if (validate_int(obj, "value") != validate_int(old_obj, "value"))
        fault_forbidden(e, path_root("value"), "may not be changed in an update.");
    (void)validate_immutable(e, path_root("preemptionPolicy"),
                             validate_member(obj, "preemptionPolicy"),
                             validate_member(old_obj, "preemptionPolicy"));
}

/* ---- RuntimeClass ---- */

static void check_unique_tolerations(struct field_errors *e, const struct field_path *path,
                                     const struct value *tolerations)
{
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, tolerations) {
        struct str key =
            arena_printf(e->arena, STR_FMT "\n" STR_FMT "\n" STR_FMT "\n" STR_FMT,
                         STR_ARG(value_text(it, "key")), STR_ARG(value_text(it, "operator")),
                         STR_ARG(value_text(it, "value")), STR_ARG(value_text(it, "effect")));
        if (!text_set_add(&seen, key, it))
            field_error(e, FIELD_DUPLICATE, path_item(path, i),
                        inner_json(e, STR("v1"), STR("Toleration"), it), "%s", "");
        i++;
    }
}

static void create_runtime(struct field_errors *e, const struct value *obj)
{
    const struct value *overhead = validate_member(obj, "overhead"),
                       *scheduling = validate_member(obj, "scheduling"),
                       *fixed = validate_member(overhead, "podFixed"),
                       *tolerations = value_get(scheduling, STR("tolerations"));
    if (fixed) {
        struct value limits = value_object(); /* the rules of a container's limits */
        struct value_field field = { STR("limits"), *fixed };
        limits.n = 1;
        limits.fields = &field;
        validate_resource_requirements(e, path_root("overhead"), &limits, NULL, 0);
    }
    const struct field_path *path = path_root("scheduling");
    (void)validate_labels(e, path_at(path, "nodeSelector"),
                          value_get(scheduling, STR("nodeSelector")));
    validate_tolerations(e, path_at(path, "tolerations"), tolerations, false);
    check_unique_tolerations(e, path_at(path, "tolerations"), tolerations);
    struct str handler = value_text(obj, "handler");
    if (validate_required(e, path_root("handler"),
                          handler)) /* declared upstream, so it comes last */
        declared_check_format(e, path_root("handler"), DECLARED_SHORT_NAME, handler);
}

static void update_runtime(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    struct str handler = value_text(obj, "handler");
    if (str_eq(handler, value_text(old_obj, "handler")))
        return;
    fault_text(e, path_root("handler"), handler, "field is immutable");
    validate_required(e, path_root("handler"), handler);
}

static void warn_runtime(struct validate_warnings *w, const struct value *obj,
                         const struct value *old_obj)
{
    (void)old_obj;
    value_each_field (f, value_dig(obj, "scheduling", "nodeSelector")) {
        const char *words = validate_deprecated_node_label(f->key);
        if (words)
            validate_warn_at(w, path_at(path_root("scheduling"), "nodeSelector"), "%s", words);
    }
}

const struct validate_rules validate__policy[] = {
    { STR("policy"), STR("PodDisruptionBudget"), create_budget, update_budget, update_budget_status,
      NULL },
    { STR("policy"), STR("PodDisruptionBudget"), create_budget, update_budget,
      update_old_budget_status, NULL, STR("v1beta1") },
    { STR("scheduling.k8s.io"), STR("PriorityClass"), create_priority, update_priority, NULL,
      NULL },
    { STR("node.k8s.io"), STR("RuntimeClass"), create_runtime, update_runtime, NULL, warn_runtime },
    { .kind = { NULL, 0 } },
};
