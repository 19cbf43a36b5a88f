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
    (void)check_required_name(e, path, NAME_PATH_SEGMENT, name);
}

static void check_reference(struct field_errors *e, const struct field_path *path,
                            const struct value *ref, unsigned flags)
{
    struct str version = text_of(ref, "apiVersion");
    check_segment(e, path_at(path, "kind"), text_of(ref, "kind"));
    check_segment(e, path_at(path, "name"), text_of(ref, "name"));
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
    struct str type = text_of(target, "type");
    const struct value *utilization = member(target, "averageUtilization");
    if (!type.n)
        fault_required(e, path_at(path, "type"), "must specify a metric target type");
    if (!is_one_of(type, VALUES(types)))
        fault_text(e, path_at(path, "type"), type,
                   "must be either Utilization, Value, or AverageValue");
    check_positive_amount(e, path_at(path, "value"), member(target, "value"));
    check_positive_amount(e, path_at(path, "averageValue"), member(target, "averageValue"));
    if (utilization && validate__int(utilization) < 1)
        fault_value(e, path_at(path, "averageUtilization"), utilization, "must be greater than 0");
}

static void check_metric_name(struct field_errors *e, const struct field_path *path,
                              const struct value *source)
{
    struct str name = text_of(member(source, "metric"), "name");
    const struct field_path *at = path_at(path_at(path, "metric"), "name");
    if (!name.n)
        fault_required(e, at, "must specify a metric name");
    else
        (void)check_name(e, at, NAME_PATH_SEGMENT, name);
}

static void check_object(struct field_errors *e, const struct field_path *path,
                         const struct value *source, unsigned flags)
{
    const struct value *target = member(source, "target");
    const struct field_path *at = path_at(path, "target");
    check_reference(e, path_at(path, "describedObject"), member(source, "describedObject"), flags);
    check_metric_name(e, path, source);
    check_target(e, at, target);
    if (!member(target, "value") && !member(target, "averageValue"))
        fault_required(e, path_at(at, "averageValue"),
                       "must set either a target value or averageValue");
}

static void check_external(struct field_errors *e, const struct field_path *path,
                           const struct value *source, unsigned flags)
{
    (void)flags;
    const struct value *target = member(source, "target");
    const struct field_path *at = path_at(path, "target");
    bool whole = member(target, "value") != NULL, per_pod = member(target, "averageValue") != NULL;
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
    const struct value *target = member(source, "target");
    const struct field_path *at = path_at(path, "target");
    check_metric_name(e, path, source);
    check_target(e, at, target);
    if (!member(target, "averageValue"))
        fault_required(e, path_at(at, "averageValue"),
                       "must specify a positive target averageValue");
}

static void check_utilization(struct field_errors *e, const struct field_path *path,
                              const struct value *target)
{
    bool share = member(target, "averageUtilization") != NULL,
         raw = member(target, "averageValue") != NULL;
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
    if (!text_of(source, "name").n)
        fault_required(e, path_at(path, "name"), "must specify a resource name");
    check_utilization(e, path_at(path, "target"), member(source, "target"));
}

static void check_container(struct field_errors *e, const struct field_path *path,
                            const struct value *source, unsigned flags)
{
    (void)flags;
    struct str name = text_of(source, "name"), container = text_of(source, "container");
    if (!name.n)
        fault_required(e, path_at(path, "name"), "must specify a resource name");
    else
        (void)check_container_resource(e, path_at(path, "name"), name);
    if (!container.n)
        fault_required(e, path_at(path, "container"), "must specify a container");
    else
        (void)check_name(e, path_at(path, "container"), NAME_LABEL, container);
    check_utilization(e, path_at(path, "target"), member(source, "target"));
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
    struct str type = text_of(metric, "type");
    size_t n = 0;
    if (!type.n)
        fault_required(e, path_at(path, "type"), "must specify a metric source type");
    (void)check_one_of(e, path_at(path, "type"), type, VALUES(types));
    for (size_t i = 0; i < N_SOURCES; i++) {
        const struct value *source = validate__member(metric, sources[i].field);
        struct field_path at = field_child(path, sources[i].field);
        if (source && n++ == 0)
            sources[i].check(e, &at, source, flags);
    }
    (void)check_one_of(e, path_at(path, "type"), type, VALUES(types)); /* so upstream does */
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
    const struct value *min = member(spec, "minReplicas");
    bool works_at_zero = false;
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("metrics"))) {
        struct str type = text_of(it, "type");
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
    int64_t period = int_of(policy, "periodSeconds");
    (void)check_one_of(e, path_at(path, "type"), text_of(policy, "type"), VALUES(types));
    (void)check_positive(e, path_at(path, "value"), int_of(policy, "value"));
    (void)check_positive(e, path_at(path, "periodSeconds"), period);
    if (period > PERIOD_MAX)
        fault_int(e, path_at(path, "periodSeconds"), period, "must be less than or equal to %d",
                  PERIOD_MAX);
}

static void check_rules(struct field_errors *e, const struct field_path *path,
                        const struct value *rules)
{
    static const struct str selects[] = { STR("Disabled"), STR("Max"), STR("Min") };
    enum { WINDOW_MAX = 3600 };
    const struct value *window = member(rules, "stabilizationWindowSeconds"),
                       *select = member(rules, "selectPolicy"),
                       *tolerance = member(rules, "tolerance");
    const struct field_path *at = path_at(path, "stabilizationWindowSeconds");
    if (!rules)
        return;
    if (validate__int(window) < 0)
        fault_value(e, at, window, "must be greater than or equal to zero");
    if (validate__int(window) > WINDOW_MAX)
        fault_value(e, at, window, "must be less than or equal to %d", WINDOW_MAX);
    if (select)
        (void)check_one_of(e, path_at(path, "selectPolicy"), value_str(select), VALUES(selects));
    const struct field_path *list = path_at(path, "policies");
    if (!count_of(rules, "policies"))
        fault_required(e, list, "must specify at least one Policy");
    size_t i = 0;
    value_each_item (it, value_get(rules, STR("policies")))
        check_policy(e, path_item(list, i++), it);
    if (tolerance)
        (void)check_nonnegative_quantity(e, path_at(path, "tolerance"), value_str(tolerance));
}

/* ---- The spec ---- */

/* What was wrong with the references of an old object may stay so. */
static unsigned described_flags(const struct value *old_spec)
{
    value_each_item (it, value_get(old_spec, STR("metrics"))) {
        const struct value *described = value_dig(it, "object", "describedObject");
        if (str_eq(text_of(it, "type"), STR("Object")) && member(it, "object") &&
            version_fault(text_of(described, "apiVersion"), NO_GROUP_NEEDED))
            return NO_GROUP_NEEDED | ANY_VERSION;
    }
    return NO_GROUP_NEEDED;
}

static unsigned target_flags(const struct value *spec, const struct value *old_spec)
{
    const struct value *ref = member(spec, "scaleTargetRef"),
                       *old_ref = member(old_spec, "scaleTargetRef");
    if (old_spec && str_eq(text_of(ref, "apiVersion"), text_of(old_ref, "apiVersion")) &&
        str_eq(text_of(ref, "kind"), text_of(old_ref, "kind")))
        return ANY_VERSION;
    return str_eq(text_of(ref, "kind"), STR("ReplicationController")) ? NO_GROUP_NEEDED : 0;
}

/* What upstream declares comes last, and of an update only where it has changed. */
static void check_declared(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec)
{
    const struct value *min = member(spec, "minReplicas");
    int64_t max = int_of(spec, "maxReplicas");
    if (min && !(old_spec && is_same(min, member(old_spec, "minReplicas"))))
        (void)check_nonnegative(e, path_at(SPEC, "minReplicas"), validate__int(min));
    if (old_spec && max == int_of(old_spec, "maxReplicas"))
        return;
    if (max == 0)
        fault_required(e, path_at(SPEC, "maxReplicas"), "");
    else if (max < 0)
        fault_int(e, path_at(SPEC, "maxReplicas"), max, "must be greater than or equal to 1");
}

static void check_spec(struct field_errors *e, const struct value *spec,
                       const struct value *old_spec)
{
    const struct value *min = member(spec, "minReplicas"), *behavior = member(spec, "behavior");
    int64_t max = int_of(spec, "maxReplicas");
    if (min && max < validate__int(min))
        fault_int(e, path_at(SPEC, "maxReplicas"), max,
                  "must be greater than or equal to `minReplicas`");
    check_reference(e, path_at(SPEC, "scaleTargetRef"), member(spec, "scaleTargetRef"),
                    target_flags(spec, old_spec));
    check_metrics(e, spec, described_flags(old_spec));
    const struct field_path *path = path_at(SPEC, "behavior");
    check_rules(e, path_at(path, "scaleUp"), member(behavior, "scaleUp"));
    check_rules(e, path_at(path, "scaleDown"), member(behavior, "scaleDown"));
    check_declared(e, spec, old_spec);
}

static void create(struct field_errors *e, const struct value *obj)
{
    check_spec(e, member(obj, "spec"), NULL);
}

static void update(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    check_spec(e, member(obj, "spec"), member(old_obj, "spec"));
}

static void update_sub(struct field_errors *e, struct str sub, const struct value *obj,
                       const struct value *old_obj)
{
    const struct value *status = member(obj, "status");
    const struct field_path *path = path_root("status");
    if (!str_eq(sub, STR("status"))) {
        update(e, obj, old_obj);
        return;
    }
    size_t i = 0;
    value_each_item (it, value_get(status, STR("conditions"))) {
        const struct field_path *at = path_item(path_at(path, "conditions"), i++);
        (void)check_nonnegative(e, path_at(at, "observedGeneration"),
                                int_of(it, "observedGeneration"));
    }
    (void)check_nonnegative(e, path_at(path, "currentReplicas"), int_of(status, "currentReplicas"));
    (void)check_nonnegative(e, path_at(path, "desiredReplicas"), int_of(status, "desiredReplicas"));
}

const struct validate_rules validate__autoscaling[] = {
    { STR("autoscaling"), STR("HorizontalPodAutoscaler"), create, update, update_sub, NULL },
    { .kind = { NULL, 0 } },
};
