/* StatefulSet. */
#include "api/inner.h"
#include "api/quantity.h"
#include "api/validate/validate_claim.h"
#include "api/validate/validate_parts.h"
#include "api/validate/kinds/validate_workload.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC     path_root("spec")
#define STATUS   path_root("status")
#define TEMPLATE path_at(SPEC, "template")

/* ---- How it is updated ---- */

static void check_rolling(struct field_errors *e, const struct field_path *path,
                          const struct value *rolling)
{
    const struct value *unavailable = validate_member(rolling, "maxUnavailable");
    const struct field_path *at = path_at(path, "maxUnavailable");
    (void)validate_nonnegative(e, path_at(path, "partition"), validate_int(rolling, "partition"));
    if (!unavailable)
        return;
    (void)validate_int_or_percent(e, at, unavailable);
    if (validate_amount(unavailable) == 0)
        fault_value(e, at, unavailable, "cannot be 0");
    (void)validate_not_over_100_percent(e, at, unavailable);
}

static void check_strategy(struct field_errors *e, const struct value *strategy)
{
    const struct field_path *path = path_at(SPEC, "updateStrategy");
    const struct value *rolling = validate_member(strategy, "rollingUpdate");
    static const struct str types[] = { STR("RollingUpdate"), STR("OnDelete") };
    struct str type = value_text(strategy, "type");
    if (!type.n)
        fault_required(e, path, "");
    else if (str_eq(type, types[1]) && rolling)
        field_error(e, FIELD_INVALID, path_at(path, "rollingUpdate"),
                    inner_json(e, STR("apps/v1"), STR("RollingUpdateStatefulSetStrategy"), rolling),
                    "only allowed for updateStrategy 'RollingUpdate'");
    else if (str_eq(type, types[0]) && rolling)
        check_rolling(e, path_at(path, "rollingUpdate"), rolling);
    else if (!words_have(type, WORDS(types)))
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("apps/v1"), STR("StatefulSetUpdateStrategy"), strategy),
                    "must be 'RollingUpdate' or 'OnDelete'");
}

static void check_policies(struct field_errors *e, const struct value *spec)
{
    static const struct str managements[] = { STR("OrderedReady"), STR("Parallel") };
    static const struct str retention[] = { STR("Retain"), STR("Delete") };
    struct str management = value_text(spec, "podManagementPolicy");
    const struct field_path *path = path_at(SPEC, "podManagementPolicy");
    if (!management.n)
        fault_required(e, path, "");
    else if (!words_have(management, WORDS(managements)))
        fault_text(e, path, management, "must be 'OrderedReady' or 'Parallel'");
    check_strategy(e, validate_member(spec, "updateStrategy"));
    const struct value *policy = validate_member(spec, "persistentVolumeClaimRetentionPolicy");
    path = path_at(SPEC, "persistentVolumeClaimRetentionPolicy");
    if (!policy)
        return;
    (void)validate_one_of(e, path_at(path, "whenDeleted"), value_text(policy, "whenDeleted"),
                          WORDS(retention));
    (void)validate_one_of(e, path_at(path, "whenScaled"), value_text(policy, "whenScaled"),
                          WORDS(retention));
}

/* ---- The template ---- */

static struct value claim_volume(struct arena *a, struct str name)
{
    struct value volume = value_object(), claim = value_object();
    value_put_new(a, &claim, STR("claimName"), value_string(name));
    value_put_new(a, &volume, STR("name"), value_string(name));
    value_put_new(a, &volume, STR("persistentVolumeClaim"), claim);
    return volume;
}

/* The volumes that its pods will have: one a claim, and those of the template that none hides. */
static void set_volumes(struct arena *a, struct value *pod, const struct value *claims)
{
    struct value volumes = value_array();
    autoset names;
    text_set_init(&names);
    value_each_item (it, claims) {
        struct str name = value_text(validate_member(it, "metadata"), "name");
        if (text_set_add(&names, name, it))
            value_put_item(a, &volumes, claim_volume(a, name));
    }
    value_each_item (it, value_get(pod, STR("volumes")))
        if (!text_set_has(&names, value_text(it, "name")))
            value_put_item(a, &volumes, value_borrow(it));
    value_put(a, pod, STR("volumes"), volumes);
}

/* As its pods will be: the controller sets their names and their claims. */
static struct value template_of_pods(struct arena *a, const struct value *spec)
{
    const struct value *template = validate_member(spec, "template"),
                       *claims = value_get(spec, STR("volumeClaimTemplates"));
    struct value copy = template ? value_borrow(template) : value_object();
    const struct value *given = validate_member(template, "spec");
    if (!validate__count(claims) && !value_text(given, "hostname").n &&
        !value_text(given, "subdomain").n)
        return copy;
    struct value *pod = value_ensure(a, &copy, STR("spec"));
    if (!pod)
        return copy;
    value_drop(a, pod, STR("hostname"));
    value_drop(a, pod, STR("subdomain"));
    if (validate__count(claims))
        set_volumes(a, pod, claims);
    return copy;
}

enum { TEMPLATE_WAS_BAD = 1, IS_UPDATE = 2 };

static void check_template(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec, unsigned flags)
{
    struct value template = template_of_pods(e->arena, spec);
    const struct value *old_template = validate_member(old_spec, "template"),
                       *meta = validate_member(&template, "metadata");
    validate_selected(e, TEMPLATE, &template, validate_member(spec, "selector"));
    if (!(flags & TEMPLATE_WAS_BAD))
        validate_pod_template(e, TEMPLATE, &template, old_template);
    /* upstream looks at these twice */
    struct pod_rules rules = validate_pod_rules_of(validate_member(old_template, "spec"),
                                                   validate_member(old_template, "metadata"));
    const struct value *annotations = value_get(meta, STR("annotations"));
    (void)validate_labels(e, path_at(TEMPLATE, "labels"), value_get(meta, STR("labels")));
    (void)validate_annotations(e, path_at(TEMPLATE, "annotations"), annotations);
    validate_pod_annotations(e, path_at(TEMPLATE, "annotations"), annotations,
                             validate_member(&template, "spec"), &rules);
}

/* ---- The spec ---- */

static void check_spec(struct field_errors *e, const struct value *spec,
                       const struct value *old_spec, unsigned flags)
{
    const struct value *ordinals = validate_member(spec, "ordinals"),
                       *selector = validate_member(spec, "selector");
    const struct field_path *path = path_at(SPEC, "selector");
    struct str service = value_text(spec, "serviceName");
    check_policies(e, spec);
    size_t i = 0;
    value_each_item (it, flags & IS_UPDATE ? NULL : value_get(spec, STR("volumeClaimTemplates")))
        validate_claim_spec(e,
                            path_at(path_item(path_at(SPEC, "volumeClaimTemplates"), i++), "spec"),
                            validate_member(it, "spec"), 0);
    (void)validate_nonnegative(e, path_at(SPEC, "replicas"), validate_int(spec, "replicas"));
    (void)validate_nonnegative(e, path_at(SPEC, "minReadySeconds"),
                               validate_int(spec, "minReadySeconds"));
    if (ordinals)
        (void)validate_nonnegative(e, path_at(SPEC, "ordinals.start"),
                                   validate_int(ordinals, "start"));
    if (service.n && !(flags & IS_UPDATE))
        (void)validate_name(e, path_at(SPEC, "serviceName"), NAME_LABEL, service);
    validate_workload_selector(e, path, selector, "statefulset");
    if (validate_is_label_selector(selector, 0))
        check_template(e, spec, old_spec, flags);
    else
        fault_value(e, path, selector, "%s", "");
    validate_lasting_template(e, TEMPLATE, validate_member(spec, "template"), "StatefulSet");
}

static void create(struct field_errors *e, const struct value *obj)
{
    check_spec(e, validate_member(obj, "spec"), NULL, 0);
}

/* What cannot be made today may still be scaled. */
static bool is_good(const struct value *spec)
{
    struct arena scratch;
    arena_init(&scratch);
    struct field_errors e = FIELD_ERRORS_INIT(&scratch);
    check_spec(&e, spec, spec, IS_UPDATE);
    arena_done(&scratch);
    return e.n == 0;
}

static void update(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    const struct value *spec = validate_member(obj, "spec"),
                       *old_spec = validate_member(old_obj, "spec"),
                       *claims = validate_member(spec, "volumeClaimTemplates");
    struct str service = value_text(spec, "serviceName"),
               management = value_text(spec, "podManagementPolicy");
    check_spec(e, spec, old_spec, IS_UPDATE | (is_good(old_spec) ? 0 : TEMPLATE_WAS_BAD));
    (void)validate_immutable(e, path_at(SPEC, "selector"), validate_member(spec, "selector"),
                             validate_member(old_spec, "selector"));
    if (!validate_is_same(claims, validate_member(old_spec, "volumeClaimTemplates")))
        field_error(e, FIELD_INVALID, path_at(SPEC, "volumeClaimTemplates"),
                    inner_json(e, STR("v1"), STR("PersistentVolumeClaim"), claims),
                    "field is immutable");
    if (!str_eq(service, value_text(old_spec, "serviceName")))
        fault_text(e, path_at(SPEC, "serviceName"), service, "field is immutable");
    if (!str_eq(management, value_text(old_spec, "podManagementPolicy")))
        fault_text(e, path_at(SPEC, "podManagementPolicy"), management, "field is immutable");
}

static void update_status(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    static const struct str counts[] = {
        STR("replicas"),        STR("readyReplicas"),     STR("currentReplicas"),
        STR("updatedReplicas"), STR("availableReplicas"), STR("observedGeneration"),
        STR("collisionCount"),
    };
    static const struct str parts[] = { STR("readyReplicas"), STR("currentReplicas"),
                                        STR("updatedReplicas"), STR("availableReplicas") };
    const struct value *status = validate_member(obj, "status");
    validate_counts(e, STATUS, status, WORDS(counts));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        validate_at_most(e, STATUS, status, parts[i], STR("replicas"), "status.replicas");
    validate_at_most(e, STATUS, status, STR("availableReplicas"), STR("readyReplicas"),
                     "status.readyReplicas");
    validate_not_decremented(e, STATUS, status, validate_member(old_obj, "status"),
                             STR("collisionCount"));
}

/* ---- Warnings ---- */

static void warn_of_claim(struct validate_warnings *w, const struct field_path *path,
                          const struct value *claim, struct str list)
{
    struct str amount = value_str(
        value_get(value_get(value_dig(claim, "spec", "resources"), list), STR("storage")));
    struct field_path at = field_child(path, list);
    if (amount.n && !quantity_is_whole(amount))
        validate_warn_at(w, path_key(&at, STR("storage")),
                         "fractional byte value \"" STR_FMT "\" is invalid, must be an integer",
                         STR_ARG(amount));
}

static void warn(struct validate_warnings *w, const struct value *obj, const struct value *old_obj)
{
    const struct value *spec = validate_member(obj, "spec");
    size_t i = 0;
    validate_warn_workload(w, obj, old_obj, false);
    value_each_item (it, value_get(spec, STR("volumeClaimTemplates"))) {
        const struct field_path *at = path_item(path_at(SPEC, "volumeClaimTemplates"), i++);
        const struct field_path *resources =
            path_at(old_obj ? path_at(at, "Spec") : at, "resources"); /* so upstream has it */
        warn_of_claim(w, resources, it, STR("requests"));
        warn_of_claim(w, resources, it, STR("limits"));
    }
    if (validate_int(spec, "revisionHistoryLimit") < 0)
        validate_warn_at(
            w, path_at(SPEC, "revisionHistoryLimit"),
            "a negative value retains all historical revisions; a value >= 0 is recommended");
}

const struct validate_rules validate__stateful[] = {
    { STR("apps"), STR("StatefulSet"), create, update, update_status, warn },
    { .kind = { NULL, 0 } },
};
