/* The group apps, but for StatefulSet: Deployment, ReplicaSet, DaemonSet, ControllerRevision; and
 * ReplicationController, from which they come. */
#include "api/inner.h"
#include "api/validate/kinds/validate_workload.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC     path_root("spec")
#define STATUS   path_root("status")
#define TEMPLATE path_at(SPEC, "template")

static const struct value *spec_of(const struct value *obj)
{
    return validate_member(obj, "spec");
}

static void check_limit(struct field_errors *e, const struct value *spec)
{
    const struct value *limit = validate_member(spec, "revisionHistoryLimit");
    if (limit)
        (void)validate_nonnegative(e, path_at(SPEC, "revisionHistoryLimit"), validate__int(limit));
}

/* Selector and template of a Deployment or a ReplicaSet. */
static void check_replicated(struct field_errors *e, const struct value *spec,
                             const struct value *old_spec)
{
    const struct value *selector = validate_member(spec, "selector"),
                       *template = validate_member(spec, "template");
    const struct field_path *path = path_at(SPEC, "selector");
    validate_workload_selector(e, path, selector, "deployment");
    if (!validate_is_label_selector(selector, 0)) {
        fault_value(e, path, selector, "invalid label selector");
        return;
    }
    validate_selected(e, TEMPLATE, template, selector);
    validate_pod_template(e, TEMPLATE, template, validate_member(old_spec, "template"));
    validate_lasting_template(e, TEMPLATE, template, "ReplicaSet");
}

static void check_selector_kept(struct field_errors *e, const struct value *spec,
                                const struct value *old_spec)
{
    (void)validate_immutable(e, path_at(SPEC, "selector"), validate_member(spec, "selector"),
                             validate_member(old_spec, "selector"));
}

/* ---- Deployment ---- */

static void check_rolling_deployment(struct field_errors *e, const struct field_path *path,
                                     const struct value *rolling)
{
    const struct value *unavailable = validate_member(rolling, "maxUnavailable"),
                       *surge = validate_member(rolling, "maxSurge");
    (void)validate_int_or_percent(e, path_at(path, "maxUnavailable"), unavailable);
    (void)validate_int_or_percent(e, path_at(path, "maxSurge"), surge);
    if (validate_amount(unavailable) == 0 && validate_amount(surge) == 0)
        fault_value(e, path_at(path, "maxUnavailable"), unavailable,
                    "may not be 0 when `maxSurge` is 0");
    (void)validate_not_over_100_percent(e, path_at(path, "maxUnavailable"), unavailable);
}

static void check_deployment_strategy(struct field_errors *e, const struct value *strategy)
{
    static const struct str types[] = { STR("Recreate"), STR("RollingUpdate") };
    const struct field_path *path = path_at(SPEC, "strategy");
    const struct value *rolling = validate_member(strategy, "rollingUpdate");
    struct str type = value_text(strategy, "type");
    if (!words_have(type, WORDS(types)))
        field_not_supported(e, path,
                            inner_json(e, STR("apps/v1"), STR("DeploymentStrategy"), strategy),
                            WORDS(types));
    else if (str_eq(type, types[0]) && rolling)
        fault_forbidden(e, path_at(path, "rollingUpdate"),
                        "may not be specified when strategy `type` is 'Recreate'");
    else if (str_eq(type, types[1]) && !rolling)
        fault_required(e, path_at(path, "rollingUpdate"),
                       "this should be defaulted and never be nil");
    else if (rolling)
        check_rolling_deployment(e, path_at(path, "rollingUpdate"), rolling);
}

static void check_deployment(struct field_errors *e, const struct value *spec,
                             const struct value *old_spec)
{
    (void)validate_nonnegative(e, path_at(SPEC, "replicas"), validate_int(spec, "replicas"));
    check_replicated(e, spec, old_spec);
    check_deployment_strategy(e, validate_member(spec, "strategy"));
    (void)validate_nonnegative(e, path_at(SPEC, "minReadySeconds"),
                               validate_int(spec, "minReadySeconds"));
    check_limit(e, spec);
    const struct value *deadline = validate_member(spec, "progressDeadlineSeconds");
    const struct field_path *path = path_at(SPEC, "progressDeadlineSeconds");
    if (!deadline)
        return;
    (void)validate_nonnegative(e, path, validate__int(deadline));
    if (validate__int(deadline) <= validate_int(spec, "minReadySeconds"))
        fault_value(e, path, deadline, "must be greater than minReadySeconds");
}

static void create_deployment(struct field_errors *e, const struct value *obj)
{
    check_deployment(e, spec_of(obj), NULL);
}

static void update_deployment(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    check_deployment(e, spec_of(obj), spec_of(old_obj));
    check_selector_kept(e, spec_of(obj), spec_of(old_obj));
}

/* Through versions in which a selector could still be changed. */
static void update_old_deployment(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    check_deployment(e, spec_of(obj), spec_of(old_obj));
}

static void check_deployment_status(struct field_errors *e, const struct value *status,
                                    const struct value *old_status)
{
    static const struct str counts[] = {
        STR("observedGeneration"),  STR("replicas"),          STR("updatedReplicas"),
        STR("readyReplicas"),       STR("availableReplicas"), STR("unavailableReplicas"),
        STR("terminatingReplicas"), STR("collisionCount"),
    };
    static const struct str parts[] = { STR("updatedReplicas"), STR("readyReplicas"),
                                        STR("availableReplicas") };
    validate_counts(e, STATUS, status, WORDS(counts));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        validate_at_most(e, STATUS, status, parts[i], STR("replicas"), "status.replicas");
    validate_at_most(e, STATUS, status, STR("availableReplicas"), STR("readyReplicas"),
                     "readyReplicas");
    validate_not_decremented(e, STATUS, status, old_status, STR("collisionCount"));
}

static void update_deployment_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    check_deployment_status(e, validate_member(obj, "status"), validate_member(old_obj, "status"));
}

static void warn_named(struct validate_warnings *w, const struct value *obj,
                       const struct value *old_obj)
{
    validate_warn_workload(w, obj, old_obj, true);
}

/* ---- ReplicaSet ---- */

static void check_replica_set(struct field_errors *e, const struct value *spec,
                              const struct value *old_spec)
{
    (void)validate_nonnegative(e, path_at(SPEC, "replicas"), validate_int(spec, "replicas"));
    (void)validate_nonnegative(e, path_at(SPEC, "minReadySeconds"),
                               validate_int(spec, "minReadySeconds"));
    check_replicated(e, spec, old_spec);
}

static void create_replica_set(struct field_errors *e, const struct value *obj)
{
    check_replica_set(e, spec_of(obj), NULL);
}

static void update_replica_set(struct field_errors *e, const struct value *obj,
                               const struct value *old_obj)
{
    check_replica_set(e, spec_of(obj), spec_of(old_obj));
    check_selector_kept(e, spec_of(obj), spec_of(old_obj));
}

static void update_old_replica_set(struct field_errors *e, const struct value *obj,
                                   const struct value *old_obj)
{
    check_replica_set(e, spec_of(obj), spec_of(old_obj));
}

/* Of both kinds of sets of replicas; they differ in the last words. */
static void check_replicas_status(struct field_errors *e, const struct value *status,
                                  const struct str *counts, size_t n)
{
    static const struct str parts[] = { STR("fullyLabeledReplicas"), STR("readyReplicas"),
                                        STR("availableReplicas") };
    validate_counts(e, STATUS, status, counts, n);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        validate_at_most(e, STATUS, status, parts[i], STR("replicas"), "status.replicas");
    validate_at_most(e, STATUS, status, STR("availableReplicas"), STR("readyReplicas"),
                     "readyReplicas");
}

static void update_replica_set_status(struct field_errors *e, const struct value *obj,
                                      const struct value *old_obj)
{
    static const struct str counts[] = {
        STR("replicas"),          STR("fullyLabeledReplicas"), STR("readyReplicas"),
        STR("availableReplicas"), STR("observedGeneration"),   STR("terminatingReplicas"),
    };
    (void)old_obj;
    check_replicas_status(e, validate_member(obj, "status"), WORDS(counts));
}

/* ---- ReplicationController ---- */

static void check_controller_template(struct field_errors *e, const struct value *spec,
                                      const struct value *old_spec)
{
    const struct value *template = validate_member(spec, "template"),
                       *selector = validate_member(spec, "selector"),
                       *labels = validate_member(validate_member(template, "metadata"), "labels");
    static const struct str always[] = { STR("Always") };
    if (!template) {
        fault_required(e, TEMPLATE, "");
        return;
    }
    bool selected = true;
    value_each_field (f, selector) {
        const struct value *label = validate_map_member(labels, f->key);
        selected = selected && label && str_eq(value_str(label), value_str(&f->val));
    }
    if (!selected)
        fault_value(e, path_at(path_at(TEMPLATE, "metadata"), "labels"), labels,
                    "`selector` does not match template `labels`");
    validate_pod_template(e, TEMPLATE, template, validate_member(old_spec, "template"));
    const struct value *pod = validate_member(template, "spec");
    (void)validate_one_of(e, path_at(path_at(TEMPLATE, "spec"), "restartPolicy"),
                          value_text(pod, "restartPolicy"), WORDS(always));
    if (validate_member(pod, "activeDeadlineSeconds"))
        fault_forbidden(e, path_at(path_at(TEMPLATE, "spec"), "activeDeadlineSeconds"),
                        "activeDeadlineSeconds in ReplicationController is not Supported");
}

/* What upstream declares comes after what it checks by hand. */
static void check_controller(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    const struct value *spec = spec_of(obj), *old_spec = spec_of(old_obj);
    if (!validate_count(spec, "selector"))
        fault_required(e, path_at(SPEC, "selector"), "");
    check_controller_template(e, spec, old_spec);
    const struct value *replicas = validate_member(spec, "replicas");
    if (!replicas)
        fault_required(e, path_at(SPEC, "replicas"), "");
    else if (!old_spec || !validate_is_same(replicas, validate_member(old_spec, "replicas")))
        (void)validate_nonnegative(e, path_at(SPEC, "replicas"), validate__int(replicas));
    if (!old_spec ||
        validate_int(spec, "minReadySeconds") != validate_int(old_spec, "minReadySeconds"))
        (void)validate_nonnegative(e, path_at(SPEC, "minReadySeconds"),
                                   validate_int(spec, "minReadySeconds"));
}

static void create_controller(struct field_errors *e, const struct value *obj)
{
    check_controller(e, obj, NULL);
}

static void update_controller_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    static const struct str counts[] = { STR("replicas"), STR("fullyLabeledReplicas"),
                                         STR("readyReplicas"), STR("availableReplicas"),
                                         STR("observedGeneration") };
    (void)old_obj;
    check_replicas_status(e, validate_member(obj, "status"), WORDS(counts));
}

/* ---- DaemonSet ---- */

static void check_rolling_daemons(struct field_errors *e, const struct field_path *path,
                                  const struct value *rolling)
{
    const struct value *unavailable = validate_member(rolling, "maxUnavailable"),
                       *surge = validate_member(rolling, "maxSurge");
    (void)validate_int_or_percent(e, path_at(path, "maxUnavailable"), unavailable);
    (void)validate_int_or_percent(e, path_at(path, "maxSurge"), surge);
    (void)validate_not_over_100_percent(e, path_at(path, "maxUnavailable"), unavailable);
    (void)validate_not_over_100_percent(e, path_at(path, "maxSurge"), surge);
    bool goes_down = validate_amount(unavailable) != 0, goes_up = validate_amount(surge) != 0;
    if (goes_down && goes_up)
        fault_value(e, path_at(path, "maxSurge"), surge,
                    "may not be set when maxUnavailable is non-zero");
    else if (!goes_down && !goes_up)
        fault_required(e, path_at(path, "maxUnavailable"), "cannot be 0 when maxSurge is 0");
}

static void check_daemon_strategy(struct field_errors *e, const struct value *strategy)
{
    static const struct str types[] = { STR("RollingUpdate"), STR("OnDelete") };
    const struct field_path *path = path_at(SPEC, "updateStrategy");
    const struct value *rolling = validate_member(strategy, "rollingUpdate");
    struct str type = value_text(strategy, "type");
    if (!words_have(type, WORDS(types)))
        field_not_supported(e, path,
                            inner_json(e, STR("apps/v1"), STR("DaemonSetUpdateStrategy"), strategy),
                            WORDS(types));
    else if (str_eq(type, types[0]) && !rolling)
        fault_required(e, path_at(path, "rollingUpdate"), "");
    else if (str_eq(type, types[0]))
        check_rolling_daemons(e, path_at(path, "rollingUpdate"), rolling);
}

static void check_daemon_set(struct field_errors *e, const struct value *spec,
                             const struct value *old_spec)
{
    const struct value *selector = validate_member(spec, "selector"),
                       *template = validate_member(spec, "template"),
                       *labels = validate_member(validate_member(template, "metadata"), "labels");
    const struct field_path *path = path_at(SPEC, "selector");
    unsigned flags = validate_selector_has_bad_value(validate_member(old_spec, "selector"))
                         ? SELECTOR_ANY_VALUES
                         : 0;
    (void)validate_label_selector(e, path, selector, flags);
    if (validate_is_label_selector(selector, 0) && !validate_selector_matches(selector, labels))
        fault_value(e, path_at(path_at(TEMPLATE, "metadata"), "labels"), labels,
                    "`selector` does not match template `labels`");
    if (validate_selector_is_empty(selector))
        fault_value(e, path, selector, "empty selector is invalid for daemonset");
    validate_pod_template(e, TEMPLATE, template, validate_member(old_spec, "template"));
    validate_lasting_template(e, TEMPLATE, template, "DaemonSet");
    (void)validate_nonnegative(e, path_at(SPEC, "minReadySeconds"),
                               validate_int(spec, "minReadySeconds"));
    check_daemon_strategy(e, validate_member(spec, "updateStrategy"));
    check_limit(e, spec);
}

static void create_daemon_set(struct field_errors *e, const struct value *obj)
{
    check_daemon_set(e, spec_of(obj), NULL);
}

static void update_daemon_set(struct field_errors *e, const struct value *obj,
                              const struct value *old_obj)
{
    check_selector_kept(e, spec_of(obj), spec_of(old_obj));
    check_daemon_set(e, spec_of(obj), spec_of(old_obj));
}

static void update_old_daemon_set(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    check_daemon_set(e, spec_of(obj), spec_of(old_obj));
}

static void update_daemon_set_status(struct field_errors *e, const struct value *obj,
                                     const struct value *old_obj)
{
    static const struct str counts[] = {
        STR("currentNumberScheduled"), STR("numberMisscheduled"),
        STR("desiredNumberScheduled"), STR("numberReady"),
        STR("observedGeneration"),     STR("updatedNumberScheduled"),
        STR("numberAvailable"),        STR("numberUnavailable"),
        STR("collisionCount"),
    };
    validate_counts(e, STATUS, validate_member(obj, "status"), WORDS(counts));
    validate_not_decremented(e, STATUS, validate_member(obj, "status"),
                             validate_member(old_obj, "status"), STR("collisionCount"));
}

static void warn_unnamed(struct validate_warnings *w, const struct value *obj,
                         const struct value *old_obj)
{
    validate_warn_workload(w, obj, old_obj, false);
}

/* ---- ControllerRevision ---- */

static void check_revision(struct field_errors *e, const struct value *obj)
{
    (void)validate_nonnegative(e, path_root("revision"), validate_int(obj, "revision"));
}

static void create_revision(struct field_errors *e, const struct value *obj)
{
    const struct value *data = validate_member(obj, "data");
    check_revision(e, obj);
    if (!data)
        fault_required(e, path_root("data"), "data is mandatory");
    else if (data->type != VALUE_OBJECT)
        fault_required(e, path_root("data"), "data must be a valid JSON object");
}

static void update_revision(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    check_revision(e, obj);
    (void)validate_immutable(e, path_root("data"), validate_member(obj, "data"),
                             validate_member(old_obj, "data"));
}

const struct validate_rules validate__apps[] = {
    { STR("apps"), STR("Deployment"), create_deployment, update_deployment,
      update_deployment_status, warn_named },
    { STR("apps"), STR("ReplicaSet"), create_replica_set, update_replica_set,
      update_replica_set_status, warn_named },
    { STR(""), STR("ReplicationController"), create_controller, check_controller,
      update_controller_status, warn_named },
    { STR("apps"), STR("DaemonSet"), create_daemon_set, update_daemon_set, update_daemon_set_status,
      warn_unnamed },
    { STR("apps"), STR("ControllerRevision"), create_revision, update_revision, NULL, NULL },
    { STR("apps"), STR("Deployment"), create_deployment, update_old_deployment,
      update_deployment_status, warn_named, STR("v1beta1") },
    { STR("extensions"), STR("Deployment"), create_deployment, update_old_deployment,
      update_deployment_status, warn_named },
    { STR("extensions"), STR("ReplicaSet"), create_replica_set, update_old_replica_set,
      update_replica_set_status, warn_named },
    { STR("extensions"), STR("DaemonSet"), create_daemon_set, update_old_daemon_set,
      update_daemon_set_status, warn_unnamed },
    { .kind = { NULL, 0 } },
};
