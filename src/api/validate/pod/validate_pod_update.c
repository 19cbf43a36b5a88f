/* What may change of a pod: by an update, through /ephemeralcontainers, through /resize. */
#include "api/inner.h"
#include "api/pod_qos.h"
#include "api/quantity.h"
#include "api/validate/pod/validate_pod.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC path_root("spec")

/* A copy of the new spec that takes what may change from the old one; equal to that if nothing else
 * has changed. Built only where the two differ. */
struct munged {
    struct arena *arena;
    const struct value *old_spec;
    struct value spec;
};

static void take_old(struct munged *m, struct value *to, const struct value *from, struct str field)
{
    const struct value *old_val = value_get(from, field);
    if (old_val)
        value_put(m->arena, to, field, value_borrow(old_val));
    else
        value_drop(m->arena, to, field);
}

/* Each container's field from the old container in the same place. */
static void take_old_of_each(struct munged *m, struct str list, struct str field)
{
    const struct value *old_list = value_get(m->old_spec, list);
    struct value *new_list = value_edit(m->arena, &m->spec, list);
    for (size_t i = 0; value_is(new_list, VALUE_ARRAY) && i < new_list->n; i++) {
        struct value *container = value_edit_at(m->arena, new_list, i);
        if (value_is(container, VALUE_OBJECT))
            take_old(m, container, value_at(old_list, i), field);
    }
}

/* ---- Updates ---- */

/* False if nothing else can be compared. */
static bool check_container_updates(struct field_errors *e, const struct value *spec,
                                    const struct value *old_spec, struct str list)
{
    struct field_path path = field_child(SPEC, list);
    const struct value *containers = value_get(spec, list);
    if (validate__count(containers) != validate__count(value_get(old_spec, list)))
        return fault_forbidden(e, &path, "pod updates may not add or remove containers");
    size_t i = 0;
    value_each_item (it, containers) {
        const struct field_path *at = path_item(&path, i++);
        (void)validate_required(e, path_at(at, "image"), value_text(it, "image"));
        validate_image_for_pod(e, at, it);
    }
    return true;
}

static bool check_deadline(struct field_errors *e, const struct value *spec,
                           const struct value *old_spec)
{
    const struct value *now = validate_member(spec, "activeDeadlineSeconds"),
                       *was = validate_member(old_spec, "activeDeadlineSeconds");
    const struct field_path *path = path_at(SPEC, "activeDeadlineSeconds");
    if (!now && was)
        fault_value(e, path, NULL, "must not update from a positive integer to nil value");
    if (!now)
        return true;
    if (!validate_between(e, path, validate__int(now), 0, INT32_MAX))
        return false;
    return !was || validate__int(was) >= validate__int(now) ||
           fault_value(e, path, now, "must be less than or equal to previous value");
}

static bool tolerates_the_same(const struct value *a, const struct value *b)
{
    static const struct str fields[] = { STR("key"), STR("operator"), STR("value"), STR("effect") };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!str_eq(value_str(value_get(a, fields[i])), value_str(value_get(b, fields[i]))))
            return false;
    return true;
}

enum { TOLERATIONS_COMPARED = 2000 }; /* at most so many in either list: no more have a meaning */

static void check_added_tolerations(struct field_errors *e, const struct value *spec,
                                    const struct value *old_spec, const struct pod_rules *rules)
{
    const struct value *tolerations = value_get(spec, STR("tolerations"));
    const struct field_path *path = path_at(SPEC, "tolerations");
    size_t compared = 0;
    value_each_item (old_one, value_get(old_spec, STR("tolerations"))) {
        bool found = false;
        size_t n = 0;
        value_each_item (it, tolerations)
            if (!found && n++ < TOLERATIONS_COMPARED)
                found = tolerates_the_same(old_one, it);
        if (!found || ++compared > TOLERATIONS_COMPARED) {
            fault_forbidden(e, path,
                            "existing toleration can not be modified except its tolerationSeconds");
            return;
        }
    }
    validate_tolerations(e, path, tolerations, rules->keeps_toleration_order);
}

static void check_removed_gates(struct field_errors *e, const struct value *spec,
                                const struct value *old_spec)
{
    autoset old_gates;
    text_set_init(&old_gates);
    value_each_item (it, value_get(old_spec, STR("schedulingGates")))
        (void)text_set_add(&old_gates, value_text(it, "name"), it);
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("schedulingGates"))) {
        const struct field_path *at = path_item(path_at(SPEC, "schedulingGates"), i++);
        if (!text_set_has(&old_gates, value_text(it, "name")))
            fault_forbidden(e, path_at(at, "name"),
                            "only deletion is allowed, but found new scheduling gate '" STR_FMT "'",
                            STR_ARG(value_text(it, "name")));
    }
}

static bool starts_with_same(const struct value *list, const struct value *old_list)
{
    if (validate__count(list) < validate__count(old_list))
        return false;
    size_t i = 0;
    value_each_item (it, old_list)
        if (!value_eq(value_at(list, i++), it))
            return false;
    return true;
}

static bool term_only_grows(const struct value *term, const struct value *old_term)
{
    const struct value *labels = value_get(term, STR("matchExpressions")),
                       *old_labels = value_get(old_term, STR("matchExpressions")),
                       *fields = value_get(term, STR("matchFields")),
                       *old_fields = value_get(old_term, STR("matchFields"));
    if (!validate__count(old_labels) && !validate__count(old_fields))
        return !validate__count(labels) && !validate__count(fields);
    return starts_with_same(labels, old_labels) && starts_with_same(fields, old_fields);
}

static void check_node_affinity_grows(struct field_errors *e, const struct value *affinity,
                                      const struct value *old_affinity)
{
    const struct value *terms =
        value_dig(affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
    const struct value *old_terms = value_dig(
        old_affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
    const struct field_path *node_path = path_at(path_at(SPEC, "affinity"), "nodeAffinity");
    const struct field_path *path = path_at(
        path_at(node_path, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    if (!validate__count(old_terms))
        return;
    if (validate__count(old_terms) != validate__count(terms)) {
        field_error(e, FIELD_INVALID, path,
                    inner_json(e, STR("v1"), STR("NodeSelectorTerm"), terms),
                    "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    size_t i = 0;
    value_each_item (it, old_terms) {
        const struct value *term = value_at(terms, i);
        if (!term_only_grows(term, it))
            field_error(e, FIELD_INVALID, path_item(path, i),
                        inner_json(e, STR("v1"), STR("NodeSelectorTerm"), term),
                        "only additions are allowed (no mutations or deletions)");
        i++;
    }
}

/* A pod that waits for its gates may still be bound to fewer nodes. */
static void munge_gated(struct field_errors *e, struct munged *m)
{
    const struct value *selector = value_get(&m->spec, STR("nodeSelector")),
                       *old_selector = value_get(m->old_spec, STR("nodeSelector"));
    value_each_field (f, old_selector) {
        const struct value *now = validate_map_member(selector, f->key);
        if (now && str_eq(value_str(now), value_str(&f->val)))
            continue;
        fault_value(e, path_at(SPEC, "nodeSelector"), selector,
                    "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
        break;
    }
    take_old(m, &m->spec, m->old_spec, STR("nodeSelector"));
    const struct value *affinity = validate_member(&m->spec, "affinity"),
                       *old_affinity = validate_member(m->old_spec, "affinity"),
                       *nodes = validate_member(affinity, "nodeAffinity"),
                       *old_nodes = validate_member(old_affinity, "nodeAffinity");
    if (validate_is_same(nodes, old_nodes))
        return;
    check_node_affinity_grows(e, nodes, old_nodes);
    if (!old_affinity && !validate_member(affinity, "podAffinity") &&
        !validate_member(affinity, "podAntiAffinity"))
        value_drop(m->arena, &m->spec, STR("affinity"));
    else if (affinity || old_nodes)
        take_old(m, value_ensure(m->arena, &m->spec, STR("affinity")), old_affinity,
                 STR("nodeAffinity"));
}

static void check_nothing_else(struct field_errors *e, const struct value *spec,
                               const struct value *old_spec)
{
    static const struct str mutable[] = { STR("activeDeadlineSeconds"), STR("schedulingGates"),
                                          STR("tolerations") };
    struct munged m = { .arena = e->arena, .old_spec = old_spec, .spec = value_borrow(spec) };
    take_old_of_each(&m, STR("containers"), STR("image"));
    take_old_of_each(&m, STR("initContainers"), STR("image"));
    for (size_t i = 0; i < ARRAY_LEN(mutable); i++)
        take_old(&m, &m.spec, old_spec, mutable[i]);
    if (validate_int(old_spec, "terminationGracePeriodSeconds") < 0 &&
        validate_int(spec, "terminationGracePeriodSeconds") == 1)
        take_old(&m, &m.spec, old_spec, STR("terminationGracePeriodSeconds"));
    if (validate_count(old_spec, "schedulingGates"))
        munge_gated(e, &m);
    if (value_eq(&m.spec, old_spec))
        return;
    struct str diff = inner_diff(e, STR("v1"), STR("PodSpec"), old_spec, &m.spec);
    fault_forbidden(
        e, SPEC,
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)\n" STR_FMT,
        STR_ARG(diff));
}

void validate_pod_update(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod)
{
    const struct value *spec = validate_member(pod, "spec"),
                       *old_spec = validate_member(old_pod, "spec");
    struct pod_rules rules = validate_pod_rules_of(old_spec, validate_member(old_pod, "metadata"));
    rules.is_pod = true;
    validate_whole_pod(e, pod, &rules);
    validate_pod_annotations_kept(e, pod, old_pod, &rules);
    if (!check_container_updates(e, spec, old_spec, STR("containers")) ||
        !check_container_updates(e, spec, old_spec, STR("initContainers")) ||
        !check_deadline(e, spec, old_spec))
        return;
    check_added_tolerations(e, spec, old_spec, &rules);
    check_removed_gates(e, spec, old_spec);
    if (spec && !validate_is_same(spec, old_spec))
        check_nothing_else(e, spec, old_spec);
}

/* ---- /ephemeralcontainers ---- */

static void update_ephemeral(struct field_errors *e, const struct value *pod,
                             const struct value *old_pod, const struct pod_rules *rules)
{
    struct field_errors whole = FIELD_ERRORS_INIT(e->arena);
    const struct field_path *path = path_at(SPEC, "ephemeralContainers");
    if (validate_map_member(value_dig(old_pod, "metadata", "annotations"), POD_MIRROR)) {
        *e = whole; /* upstream forgets what else is wrong */
        fault_forbidden(e, path_root(""), "static pods do not support ephemeral containers");
        return;
    }
    validate_whole_pod(e, pod, rules);
    validate_pod_annotations_kept(e, pod, old_pod, rules);
    autoset now;
    text_set_init(&now);
    const struct value *list = value_dig(pod, "spec", "ephemeralContainers");
    for (size_t i = validate__count(list); i-- > 0;)
        (void)text_set_add(&now, value_text(value_at(list, i), "name"), value_at(list, i));
    value_each_item (it, value_dig(old_pod, "spec", "ephemeralContainers")) {
        const struct value *same = text_set_get(&now, value_text(it, "name"));
        struct str name = field_quoted(e, value_text(it, "name"));
        if (!same) {
            fault_forbidden(e, path,
                            "existing ephemeral containers " STR_FMT " may not be removed\n",
                            STR_ARG(name));
        } else if (!validate_is_same(it, same)) {
            struct str diff = inner_diff(e, STR("v1"), STR("EphemeralContainer"), it, same);
            fault_forbidden(
                e, path, "existing ephemeral containers " STR_FMT " may not be changed\n" STR_FMT,
                STR_ARG(name), STR_ARG(diff));
        }
    }
}

/* ---- /resize ---- */

static bool resources_removed(const struct value *amounts, const struct value *old_amounts)
{
    value_each_field (f, old_amounts)
        if (!validate_map_member(amounts, f->key))
            return true;
    return false;
}

/* CPU and memory as they were. */
static void take_old_amounts(struct munged *m, struct value *resources,
                             const struct value *old_resources, struct str list)
{
    static const struct str mutable[] = { STR("cpu"), STR("memory") };
    const struct value *old_list = value_get(old_resources, list);
    struct value *amounts = value_ensure(m->arena, resources, list);
    for (size_t i = 0; amounts && i < 2; i++)
        take_old(m, amounts, old_list, mutable[i]);
    if (amounts && !amounts->n)
        value_drop(m->arena, resources, list);
}

static void take_old_resources(struct munged *m, struct value *owner, const struct value *old_owner)
{
    const struct value *old_resources = value_get(old_owner, STR("resources"));
    struct value *resources = value_ensure(m->arena, owner, STR("resources"));
    if (!resources)
        return;
    take_old_amounts(m, resources, old_resources, STR("limits"));
    take_old_amounts(m, resources, old_resources, STR("requests"));
    if (!resources->n && validate_is_same(NULL, old_resources))
        take_old(m, owner, old_owner, STR("resources"));
}

static bool check_same_order(struct field_errors *e, const struct value *spec,
                             const struct value *old_spec, struct str list)
{
    struct field_path path = field_child(SPEC, list);
    const struct value *now = value_get(spec, list), *was = value_get(old_spec, list);
    if (validate__count(now) != validate__count(was))
        return fault_forbidden(e, &path, STR_FMT " may not be added or removed on resize",
                               STR_ARG(list));
    bool good = true;
    size_t i = 0;
    value_each_item (it, was) {
        const struct field_path *at = path_item(&path, i);
        if (!str_eq(value_text(it, "name"), value_text(value_at(now, i), "name")))
            good = fault_forbidden(e, path_at(at, "name"),
                                   STR_FMT " may not be renamed or reordered on resize",
                                   STR_ARG(list));
        i++;
    }
    return good;
}

static void check_not_removed(struct field_errors *e, const struct value *spec,
                              const struct value *old_spec, struct str list)
{
    struct field_path path = field_child(SPEC, list);
    size_t i = 0;
    value_each_item (it, value_get(old_spec, list)) {
        const struct field_path *at = path_at(path_item(&path, i), "resources");
        const struct value *now = value_at(value_get(spec, list), i++);
        if (resources_removed(value_dig(now, "resources", "requests"),
                              value_dig(it, "resources", "requests")))
            fault_forbidden(e, path_at(at, "requests"), "resource requests cannot be removed");
        if (resources_removed(value_dig(now, "resources", "limits"),
                              value_dig(it, "resources", "limits")))
            fault_forbidden(e, path_at(at, "limits"), "resource limits cannot be removed");
    }
}

/* Only CPU and memory of a container may be others. */
static void munge_containers(struct field_errors *e, struct munged *m, struct str list)
{
    bool init = str_eq(list, STR("initContainers"));
    struct field_path path = field_child(SPEC, list);
    struct value *containers = value_edit(m->arena, &m->spec, list);
    for (size_t i = 0; value_is(containers, VALUE_ARRAY) && i < containers->n; i++) {
        struct value *container = value_edit_at(m->arena, containers, i);
        const struct value *old_one = value_at(value_get(m->old_spec, list), i);
        bool modified = !validate_is_same(container, old_one);
        if (value_is(container, VALUE_OBJECT))
            take_old_resources(m, container, old_one);
        if (!validate_is_same(container, old_one) && init)
            fault_forbidden(e, path_item(&path, i),
                            "only cpu and memory resources for init or sidecar containers are "
                            "mutable");
        else if (!validate_is_same(container, old_one))
            fault_forbidden(e, SPEC, "only cpu and memory resources are mutable");
        if (!init || !modified || validate_is_sidecar(container))
            continue;
        value_each_item (it, value_get(container, STR("resizePolicy")))
            if (str_eq(value_text(it, "restartPolicy"), STR("RestartContainer")))
                fault_forbidden(e, path_item(&path, i),
                                "non-sidecar init containers with a resize policy of "
                                "RestartContainer cannot be resized");
    }
}

static bool asks_for_pod(const struct value *spec)
{
    const struct value *resources = validate_member(spec, "resources");
    return validate_count(resources, "requests") || validate_count(resources, "limits");
}

static void munge_pod_level(struct field_errors *e, struct munged *m, const struct value *spec)
{
    const struct value *was = validate_member(m->old_spec, "resources"),
                       *now = validate_member(spec, "resources");
    const struct field_path *path = path_at(SPEC, "resources");
    if (was && !now) {
        fault_forbidden(e, path, "pod-level resources cannot be removed");
        return;
    }
    if (was && resources_removed(value_get(now, STR("requests")), value_get(was, STR("requests"))))
        fault_forbidden(e, path_at(path, "requests"),
                        "pod-level resource requests cannot be removed");
    if (was && resources_removed(value_get(now, STR("limits")), value_get(was, STR("limits"))))
        fault_forbidden(e, path_at(path, "limits"), "pod-level resource limits cannot be removed");
    take_old_resources(m, &m->spec, m->old_spec);
    if (!validate_is_same(validate_member(&m->spec, "resources"), was))
        fault_forbidden(e, SPEC, "only cpu and memory resources are mutable at pod-level");
}

/* A node that does not report what a running container got cannot change it either. */
static bool node_can_resize(const struct value *old_pod)
{
    value_each_item (it, value_dig(old_pod, "status", "containerStatuses"))
        if (validate_member(validate_member(it, "state"), "running"))
            return validate_member(it, "resources") != NULL;
    return true;
}

static bool check_resizable(struct field_errors *e, const struct value *old_pod)
{
    const char *what = NULL;
    if (validate_map_member(value_dig(old_pod, "metadata", "annotations"), POD_MIRROR))
        what = "static";
    else if (str_eq(value_str(value_dig(old_pod, "spec", "os", "name")), STR("windows")))
        what = "windows";
    if (!what)
        return true;
    *e = FIELD_ERRORS_INIT(e->arena); /* upstream forgets what else is wrong */
    return fault_forbidden(e, path_root(""), "%s pods cannot be resized", what);
}

void validate_pod_resize(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod, const struct pod_rules *rules)
{
    const struct value *spec = validate_member(pod, "spec"),
                       *old_spec = validate_member(old_pod, "spec");
    struct str was = value_str(value_dig(old_pod, "status", "qosClass"));
    if (!check_resizable(e, old_pod))
        return;
    size_t before = e->n;
    validate_whole_pod(e, pod, rules);
    if (!str_eq(was.n ? was : pod_qos_class(old_spec), pod_qos_class(spec)))
        fault_text(e, SPEC, value_str(value_dig(pod, "status", "qosClass")),
                   "Pod QOS Class may not change as a result of resizing");
    if (!node_can_resize(old_pod))
        fault_forbidden(e, SPEC, "Pod running on node without support for resize");
    struct munged m = { .arena = e->arena, .old_spec = old_spec };
    m.spec = spec ? value_borrow(spec) : value_object();
    if (asks_for_pod(spec) || asks_for_pod(old_spec))
        munge_pod_level(e, &m, spec);
    bool same_order = check_same_order(e, spec, old_spec, STR("containers"));
    if (!check_same_order(e, spec, old_spec, STR("initContainers")) || !same_order)
        return;
    check_not_removed(e, spec, old_spec, STR("initContainers"));
    check_not_removed(e, spec, old_spec, STR("containers"));
    munge_containers(e, &m, STR("containers"));
    munge_containers(e, &m, STR("initContainers"));
    if (!validate_is_same(value_get(spec, STR("volumes")), value_get(old_spec, STR("volumes"))))
        fault_forbidden(e, path_at(SPEC, "volumes"),
                        "volumes are immutable on resize when "
                        "InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled");
    if (e->n == before && !validate_is_same(&m.spec, old_spec))
        fault_forbidden(e, SPEC, "only cpu and memory resources are mutable");
}

static struct pod_rules rules_of_old(const struct value *old_pod)
{
    struct pod_rules rules = validate_pod_rules_of(validate_member(old_pod, "spec"),
                                                   validate_member(old_pod, "metadata"));
    rules.is_pod = true;
    return rules;
}

void validate_pod_update_status(struct field_errors *e, const struct value *pod,
                                const struct value *old_pod)
{
    struct pod_rules rules = rules_of_old(old_pod);
    validate_pod_status(e, pod, old_pod, &rules);
}

static void update_ephemeral_containers(struct field_errors *e, const struct value *pod,
                                        const struct value *old_pod)
{
    struct pod_rules rules = rules_of_old(old_pod);
    update_ephemeral(e, pod, old_pod, &rules);
}

static void update_resize(struct field_errors *e, const struct value *pod,
                          const struct value *old_pod)
{
    struct pod_rules rules = rules_of_old(old_pod);
    validate_pod_resize(e, pod, old_pod, &rules);
}

const struct validate_sub validate_pod_subs[] = {
    { STR("ephemeralcontainers"), update_ephemeral_containers },
    { STR("resize"), update_resize },
    { .name = { NULL, 0 } },
};
