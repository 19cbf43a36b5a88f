/* HorizontalPodAutoscaler, in autoscaling/v2. */
#include "api/quantity.h"
#include "api/validate/validate_common.h"
#include "api/validate/validate_resource_list.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC path_root("spec")

/* ---- References ---- */

enum { ANY_VERSION = 1, NO_GROUP_NEEDED = 2 };

/* NULL if there is nothing wrong with "GROUP/VERSION". */
static const char *version_fault(struct str version, unsigned flags)
{
    struct str rest = version, group = STR("");
    if (flags & ANY_VERSION)
        return NULL;
    if (str_find(version, '/') >= 0)
        group = str_cut(&rest, '/');
    if (str_find(rest, '/') >= 0)
        return "unexpected GroupVersion string: ";
    return group.n || (flags & NO_GROUP_NEEDED) ? NULL : "apiVersion must specify API group";
}

static void check_segment(struct field_errors *e, const struct field_path *path, struct str name)
{
    (void)validate_required_name(e, path, NAME_PATH_SEGMENT, name);
}

static void check_reference(struct field_errors *e, const struct field_path *path,
                            const struct value *ref, unsigned flags)
{
    struct str version = value_text(ref, "apiVersion");
    check_segment(e, path_at(path, "kind"), value_text(ref, "kind"));
    check_segment(e, path_at(path, "name"), value_text(ref, "name"));
    const char *fault = version_fault(version, flags);
    if (fault)
        fault_text(e, path_at(path, "apiVersion"), version, "%s" STR_FMT, fault,
                   STR_ARG(str_ends(str_of(fault), STR(" ")) ? version : STR("")));
}

/* ---- Metrics ---- */

static void check_positive_amount(struct field_errors *e, const struct field_path *path,
                                  const struct value *amount)
{
    if (amount && (!value_str(amount).n || quantity_sign(value_str(amount)) != 1))
        fault_value(e, path, amount, "must be positive");
}

static void check_target(struct field_errors *e, const struct field_path *path,
                         const struct value *target)
{
    static const struct str types[] = { STR("Utilization"), STR("Value"), STR("AverageValue") };
    struct str type = value_text(target, "type");
    const struct value *utilization = validate_member(target, "averageUtilization");
    if (!type.n)
        fault_required(e, path_at(path, "type"), "must specify a metric target type");
    if (!words_have(type, WORDS(types)))
        fault_text(e, path_at(path, "type"), type,
                   "must be either Utilization, Value, or AverageValue");
    check_positive_amount(e, path_at(path, "value"), validate_member(target, "value"));
    check_positive_amount(e, path_at(path, "averageValue"),
                          validate_member(target, "averageValue"));
    if (utilization && validate__int(utilization) < 1)
        fault_value(e, path_at(path, "averageUtilization"), utilization, "must be greater than 0");
}

static void check_metric_name(struct field_errors *e, const struct field_path *path,
                              const struct value *source)
{
    struct str name = value_text(validate_member(source, "metric"), "name");
    const struct field_path *at = path_at(path_at(path, "metric"), "name");
    if (!name.n)
        fault_required(e, at, "must specify a metric name");
    else
        (void)validate_name(e, at, NAME_PATH_SEGMENT, name);
}

static void check_object(struct field_errors *e, const struct field_path *path,
                         const struct value *source, unsigned flags)
{
    const struct value *target = validate_member(source, "target");
    const struct field_path *at = path_at(path, "target");
    check_reference(e, path_at(path, "describedObject"), validate_member(source, "describedObject"),
                    flags);
    check_metric_name(e, path, source);
    check_target(e, at, target);
    if (!validate_member(target, "value") && !validate_member(target, "averageValue"))
        fault_required(e, path_at(at, "averageValue"),
                       "must set either a target value or averageValue");
}

static void check_external(struct field_errors *e, const struct field_path *path,
                           const struct value *source, unsigned flags)
{
    (void)flags;
    const struct value *target = validate_member(source, "target");
    const struct field_path *at = path_at(path, "target");
    bool whole = validate_member(target, "value") != NULL,
         per_pod = validate_member(target, "averageValue") != NULL;
    check_metric_name(e, path, source);
    check_target(e, at, target);
    if (!whole && !per_pod)
        fault_required(e, path_at(at, "averageValue"),
                       "must set either a target value for metric or a per-pod target");
    if (whole && per_pod)
        fault_forbidden(e, path_at(at, "value"),
                        "may not set both a target value for metric and a per-pod target");
}

static void check_pods(struct field_errors *e, const struct field_path *path,
                       const struct value *source, unsigned flags)
{
    (void)flags;
    const struct value *target = validate_member(source, "target");
    const struct field_path *at = path_at(path, "target");
    check_metric_name(e, path, source);
    check_target(e, at, target);
    if (!validate_member(target, "averageValue"))
        fault_required(e, path_at(at, "averageValue"),
                       "must specify a positive target averageValue");
}

static void check_utilization(struct field_errors *e, const struct field_path *path,
                              const struct value *target)
{
    bool share = validate_member(target, "averageUtilization") != NULL,
         raw = validate_member(target, "averageValue") != NULL;
    check_target(e, path, target);
    if (!share && !raw)
        fault_required(e, path_at(path, "averageUtilization"),
                       "must set either a target raw value or a target utilization");
    if (share && raw)
        fault_forbidden(e, path_at(path, "averageValue"),
                        "may not set both a target raw value and a target utilization");
}

static void check_resource(struct field_errors *e, const struct field_path *path,
                           const struct value *source, unsigned flags)
{
    (void)flags;
    if (!value_text(source, "name").n)
        fault_required(e, path_at(path, "name"), "must specify a resource name");
    check_utilization(e, path_at(path, "target"), validate_member(source, "target"));
}

static void check_container(struct field_errors *e, const struct field_path *path,
                            const struct value *source, unsigned flags)
{
    (void)flags;
    struct str name = value_text(source, "name"), container = value_text(source, "container");
    if (!name.n)
        fault_required(e, path_at(path, "name"), "must specify a resource name");
    else
        (void)validate_container_resource(e, path_at(path, "name"), name);
    if (!container.n)
        fault_required(e, path_at(path, "container"), "must specify a container");
    else
        (void)validate_name(e, path_at(path, "container"), NAME_LABEL, container);
    check_utilization(e, path_at(path, "target"), validate_member(source, "target"));
}

static const struct {
    struct str field, type;
    void (*check)(struct field_errors *e, const struct field_path *path, const struct value *source,
                  unsigned flags);
} sources[] = {
    { STR("object"), STR("Object"), check_object },
    { STR("external"), STR("External"), check_external },
    { STR("pods"), STR("Pods"), check_pods },
    { STR("resource"), STR("Resource"), check_resource },
    { STR("containerResource"), STR("ContainerResource"), check_container },
};
enum { N_SOURCES = ARRAY_LEN(sources) };

static void check_metric(struct field_errors *e, const struct field_path *path,
                         const struct value *metric, unsigned flags)
{
    static const struct str types[] = { STR("ContainerResource"), STR("External"), STR("Object"),
                                        STR("Pods"), STR("Resource") };
    struct str type = value_text(metric, "type");
    size_t n = 0;
    if (!type.n)
        fault_required(e, path_at(path, "type"), "must specify a metric source type");
    (void)validate_one_of(e, path_at(path, "type"), type, WORDS(types));
    for (size_t i = 0; i < N_SOURCES; i++) {
        const struct value *source = validate__member(metric, sources[i].field);
        struct field_path at = field_child(path, sources[i].field);
        if (source && n++ == 0)
            sources[i].check(e, &at, source, flags);
    }
    (void)validate_one_of(e, path_at(path, "type"), type, WORDS(types)); /* so upstream does */
    for (size_t i = 0; i < N_SOURCES; i++) {
        struct field_path at = field_child(path, sources[i].field);
        if (str_eq(type, sources[i].type) && !validate__member(metric, sources[i].field))
            fault_required(e, &at, "must populate information for the given metric source");
    }
    for (size_t i = 0; n != 1 && i < N_SOURCES; i++) {
        struct field_path at = field_child(path, sources[i].field);
        if (!str_eq(type, sources[i].type) && validate__member(metric, sources[i].field))
            fault_forbidden(e, &at, "must populate the given metric source only");
    }
}

static void check_metrics(struct field_errors *e, const struct value *spec, unsigned flags)
{
    const struct field_path *path = path_at(SPEC, "metrics");
    const struct value *min = validate_member(spec, "minReplicas");
    bool works_at_zero = false;
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("metrics"))) {
        struct str type = value_text(it, "type");
        check_metric(e, path_item(path, i++), it, flags);
        works_at_zero =
            works_at_zero || str_eq(type, STR("Object")) || str_eq(type, STR("External"));
    }
    if (min && validate__int(min) == 0 && !works_at_zero)
        fault_forbidden(e, path,
                        "must specify at least one Object or External metric to support scaling "
                        "to zero replicas");
}

/* ---- Behaviour ---- */

static void check_policy(struct field_errors *e, const struct field_path *path,
                         const struct value *policy)
{
    static const struct str types[] = { STR("Percent"), STR("Pods") };
    enum { PERIOD_MAX = 1800 };
    int64_t period = validate_int(policy, "periodSeconds");
    (void)validate_one_of(e, path_at(path, "type"), value_text(policy, "type"), WORDS(types));
    (void)validate_positive(e, path_at(path, "value"), validate_int(policy, "value"));
    (void)validate_positive(e, path_at(path, "periodSeconds"), period);
    if (period > PERIOD_MAX)
        fault_int(e, path_at(path, "periodSeconds"), period, "must be less than or equal to %d",
                  PERIOD_MAX);
}

static void check_rules(struct field_errors *e, const struct field_path *path,
                        const struct value *rules)
{
    static const struct str selects[] = { STR("Disabled"), STR("Max"), STR("Min") };
    enum { WINDOW_MAX = 3600 };
    const struct value *window = validate_member(rules, "stabilizationWindowSeconds"),
                       *select = validate_member(rules, "selectPolicy"),
                       *tolerance = validate_member(rules, "tolerance");
    const struct field_path *at = path_at(path, "stabilizationWindowSeconds");
    if (!rules)
        return;
    if (validate__int(window) < 0)
        fault_value(e, at, window, "must be greater than or equal to zero");
    if (validate__int(window) > WINDOW_MAX)
        fault_value(e, at, window, "must be less than or equal to %d", WINDOW_MAX);
    if (select)
        (void)validate_one_of(e, path_at(path, "selectPolicy"), value_str(select), WORDS(selects));
    const struct field_path *list = path_at(path, "policies");
    if (!validate_count(rules, "policies"))
        fault_required(e, list, "must specify at least one Policy");
    size_t i = 0;
    value_each_item (it, value_get(rules, STR("policies")))
        check_policy(e, path_item(list, i++), it);
    if (tolerance)
        (void)validate_nonnegative_quantity(e, path_at(path, "tolerance"), value_str(tolerance));
}

/* ---- The spec ---- */

/* What was wrong with the references of an old object may stay so. */
static unsigned described_flags(const struct value *old_spec)
{
    value_each_item (it, value_get(old_spec, STR("metrics"))) {
        const struct value *described = value_dig(it, "object", "describedObject");
        if (str_eq(value_text(it, "type"), STR("Object")) && validate_member(it, "object") &&
            version_fault(value_text(described, "apiVersion"), NO_GROUP_NEEDED))
            return NO_GROUP_NEEDED | ANY_VERSION;
    }
    return NO_GROUP_NEEDED;
}

static unsigned target_flags(const struct value *spec, const struct value *old_spec)
{
    const struct value *ref = validate_member(spec, "scaleTargetRef"),
                       *old_ref = validate_member(old_spec, "scaleTargetRef");
    if (old_spec && str_eq(value_text(ref, "apiVersion"), value_text(old_ref, "apiVersion")) &&
        str_eq(value_text(ref, "kind"), value_text(old_ref, "kind")))
        return ANY_VERSION;
    return str_eq(value_text(ref, "kind"), STR("ReplicationController")) ? NO_GROUP_NEEDED : 0;
}

/* What upstream declares comes last, and of an update only where it has changed. */
static void check_declared(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec)
{
    const struct value *min = validate_member(spec, "minReplicas");
    int64_t max = validate_int(spec, "maxReplicas");
    if (min && !(old_spec && validate_is_same(min, validate_member(old_spec, "minReplicas"))))
        (void)validate_nonnegative(e, path_at(SPEC, "minReplicas"), validate__int(min));
    if (old_spec && max == validate_int(old_spec, "maxReplicas"))
        return;
    if (max == 0)
        fault_required(e, path_at(SPEC, "maxReplicas"), "");
    else if (max < 0)
        fault_int(e, path_at(SPEC, "maxReplicas"), max, "must be greater than or equal to 1");
}

static void check_spec(struct field_errors *e, const struct value *spec,
                       const struct value *old_spec)
{
    const struct value *min = validate_member(spec, "minReplicas"),
                       *behavior = validate_member(spec, "behavior");
    int64_t max = validate_int(spec, "maxReplicas");
    if (min && max < validate__int(min))
        fault_int(e, path_at(SPEC, "maxReplicas"), max,
                  "must be greater than or equal to `minReplicas`");
    check_reference(e, path_at(SPEC, "scaleTargetRef"), validate_member(spec, "scaleTargetRef"),
                    target_flags(spec, old_spec));
    check_metrics(e, spec, described_flags(old_spec));
    const struct field_path *path = path_at(SPEC, "behavior");
    check_rules(e, path_at(path, "scaleUp"), validate_member(behavior, "scaleUp"));
    check_rules(e, path_at(path, "scaleDown"), validate_member(behavior, "scaleDown"));
    check_declared(e, spec, old_spec);
}

static void create(struct field_errors *e, const struct value *obj)
{
    check_spec(e, validate_member(obj, "spec"), NULL);
}

static void update(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    check_spec(e, validate_member(obj, "spec"), validate_member(old_obj, "spec"));
}

static void update_status(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *status = validate_member(obj, "status");
    const struct field_path *path = path_root("status");
    (void)old_obj;
    size_t i = 0;
    value_each_item (it, value_get(status, STR("conditions"))) {
        const struct field_path *at = path_item(path_at(path, "conditions"), i++);
        (void)validate_nonnegative(e, path_at(at, "observedGeneration"),
                                   validate_int(it, "observedGeneration"));
    }
    (void)validate_nonnegative(e, path_at(path, "currentReplicas"),
                               validate_int(status, "currentReplicas"));
    (void)validate_nonnegative(e, path_at(path, "desiredReplicas"),
                               validate_int(status, "desiredReplicas"));
}

const struct validate_rules validate__autoscaling[] = {
    { STR("autoscaling"), STR("HorizontalPodAutoscaler"), create, update, update_status, NULL },
    { .kind = { NULL, 0 } },
};
