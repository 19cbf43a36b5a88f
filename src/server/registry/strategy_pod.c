/* Pods: the status of a new pod, what an update keeps, and the paths ephemeralcontainers and
 * resize, which change a running pod. */
#include "api/keys.h"
#include "api/pod_qos.h"
#include "api/profile_note.h"
#include "base/idiom.h"
#include "base/map.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

static size_t count(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

/* Puts the fields of `obj` into a map, for callers that look up many keys. */
static void index_map(const struct value *obj, struct map *ret)
{
    value_each_field (f, obj)
        (void)map_set(ret, f->key, (void *)(uintptr_t)&f->val);
}

/* ---- A new pod ---- */

/* Init containers were annotations before they had a field. The server goes by the field only, and
 * drops the annotations, because an old kubelet would go by them. */
static void drop_init_annotations(struct arena *a, struct value *pod)
{
    static const struct str keys[] = {
        STR("pod.beta.kubernetes.io/init-containers"),
        STR("pod.alpha.kubernetes.io/init-containers"),
        STR("pod.beta.kubernetes.io/init-container-statuses"),
        STR("pod.alpha.kubernetes.io/init-container-statuses"),
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!value_get(value_dig(pod, "metadata", "annotations"), keys[i]))
            continue;
        struct value *meta = value_ensure(a, pod, STR("metadata"));
        value_drop(a, value_ensure(a, meta, STR("annotations")), keys[i]);
    }
}

static void add_gated_condition(const struct strategy *s, const struct value *spec,
                                struct value *status)
{
    struct arena *a = s->arena;
    const struct value *gates = value_get(spec, STR("schedulingGates"));
    if (!value_is(gates, VALUE_ARRAY) || !gates->n)
        return;
    struct value condition = value_object();
    value_put_new(a, &condition, STR("type"), value_string(STR("PodScheduled")));
    value_put_new(a, &condition, STR("status"), value_string(STR("False")));
    value_put_new(a, &condition, STR("lastTransitionTime"), value_string(s->now));
    value_put_new(a, &condition, STR("reason"), value_string(STR("SchedulingGated")));
    value_put_new(a, &condition, STR("message"),
                  value_string(STR("Scheduling is blocked due to non-empty scheduling gates")));
    struct value *conditions = value_set(a, status, STR("conditions"), value_array());
    value_put_item(a, conditions, condition);
}

/* Adds an expression to the selector of `term` for each listed key that the pod has a label of. */
static void apply_label_keys(struct arena *a, struct value *term, struct str keys,
                             struct str relation, const struct map *labels)
{
    const struct value *list = value_get(term, keys);
    struct value *selector = value_edit(a, term, STR("labelSelector"));
    if (!value_is(list, VALUE_ARRAY) || !value_is(selector, VALUE_OBJECT))
        return;
    struct value *expressions = NULL;
    value_each_item (key, list) {
        const struct value *label = map_get(labels, value_str(key));
        if (!label)
            continue;
        struct value expression = value_object(), values = value_array();
        value_put_item(a, &values, value_borrow(label));
        value_put_new(a, &expression, STR("key"), value_borrow(key));
        value_put_new(a, &expression, STR("operator"), value_string(relation));
        value_put_new(a, &expression, STR("values"), values);
        expressions = value_edit(a, selector, STR("matchExpressions"));
        if (!value_is(expressions, VALUE_ARRAY))
            expressions = value_set(a, selector, STR("matchExpressions"), value_array());
        value_put_item(a, expressions, expression);
    }
}

static void apply_to_terms(struct arena *a, struct value *affinity, struct str list,
                           struct str inner, const struct map *labels)
{
    struct value *terms = value_edit(a, affinity, list);
    for (size_t i = 0; value_is(terms, VALUE_ARRAY) && i < terms->n; i++) {
        struct value *term = value_edit_at(a, terms, i);
        if (inner.n)
            term = value_edit(a, term, inner);
        if (!value_is(term, VALUE_OBJECT))
            continue;
        apply_label_keys(a, term, STR("matchLabelKeys"), STR("In"), labels);
        apply_label_keys(a, term, STR("mismatchLabelKeys"), STR("NotIn"), labels);
    }
}

static void apply_affinity(struct arena *a, struct value *spec, const struct map *labels)
{
    static const struct str kinds[] = { STR("podAffinity"), STR("podAntiAffinity") };
    struct value *affinity = value_edit(a, spec, STR("affinity"));
    for (size_t i = 0; value_is(affinity, VALUE_OBJECT) && i < 2; i++) {
        struct value *one = value_edit(a, affinity, kinds[i]);
        if (!value_is(one, VALUE_OBJECT))
            continue;
        apply_to_terms(a, one, STR("preferredDuringSchedulingIgnoredDuringExecution"),
                       STR("podAffinityTerm"), labels);
        apply_to_terms(a, one, STR("requiredDuringSchedulingIgnoredDuringExecution"), STR(""),
                       labels);
    }
}

/* Terms of affinity and spreading can name keys; the values are those of the pod's own labels. */
static void apply_own_labels(struct arena *a, struct value *spec, const struct value *labels)
{
    struct map index = { 0 };
    if (!value_get(spec, STR("affinity")) && !value_get(spec, STR("topologySpreadConstraints")))
        return;
    index_map(labels, &index);
    apply_affinity(a, spec, &index);
    apply_to_terms(a, spec, STR("topologySpreadConstraints"), STR(""), &index);
    map_done(&index);
}

/* ---- AppArmor, said by annotation in older manifests ---- */

static bool is_absolute_profile(struct str name)
{
    return name.n && str_eq(str_trim(name), name) && name.n <= 4095;
}

/* The field that says the same as the annotation; null if there is none. */
static struct value apparmor_field(struct arena *a, struct str annotation)
{
    struct value profile = value_object();
    struct str local, type = profile_note_type(annotation, &local);
    bool is_local = str_eq(type, STR("Localhost"));
    if (!type.n || (is_local && !is_absolute_profile(local)))
        return value_null();
    value_put_new(a, &profile, STR("type"), value_string(type));
    if (is_local)
        value_put_new(a, &profile, STR("localhostProfile"), value_string(local));
    return profile;
}

static const struct str apparmor_prefix = STR(KEY_BETA_APPARMOR_CONTAINER);

/* `profiles` has the annotations by the name of the container they are for. */
static void sync_apparmor(const struct strategy *s, const struct map *profiles,
                          const struct value *pod_profile, struct value *container)
{
    struct arena *a = s->arena;
    struct str name = value_text(container, "name");
    const struct value *annotation = map_get(profiles, name);
    if (!annotation || value_dig(container, "securityContext", "appArmorProfile"))
        return;
    struct value field = apparmor_field(a, value_str(annotation));
    if (field.type == VALUE_OBJECT && strategy__same(&field, pod_profile))
        return;
    if (field.type == VALUE_OBJECT)
        value_put(a, value_ensure(a, container, STR("securityContext")), STR("appArmorProfile"),
                  field);
    if (s->warn)
        s->warn(s->arg, arena_printf(a,
                                     "metadata.annotations[" STR_FMT STR_FMT
                                     "]: deprecated since v1.30; use the \"appArmorProfile\" "
                                     "field instead",
                                     STR_ARG(apparmor_prefix), STR_ARG(name)));
}

static void sync_containers(const struct strategy *s, const struct map *profiles,
                            struct value *spec)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    const struct value *profile = value_dig(spec, "securityContext", "appArmorProfile");
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        struct value *list = value_edit(s->arena, spec, lists[l]);
        for (size_t i = 0; i < count(list); i++) {
            struct value *container = value_edit_at(s->arena, list, i);
            if (container->type == VALUE_OBJECT)
                sync_apparmor(s, profiles, profile, container);
        }
    }
}

static void sync_all_apparmor(const struct strategy *s, const struct value *annotations,
                              struct value *spec)
{
    struct map profiles = { 0 };
    if (str_eq(value_str(value_dig(spec, "os", "name")), STR("windows")))
        return;
    value_each_field (f, annotations)
        if (str_starts(f->key, apparmor_prefix))
            (void)map_set(&profiles, str_skip(f->key, apparmor_prefix.n),
                          (void *)(uintptr_t)&f->val);
    if (profiles.n)
        sync_containers(s, &profiles, spec);
    map_done(&profiles);
}

static void create_pod(const struct strategy *s, struct value *obj)
{
    struct arena *a = s->arena;
    drop_init_annotations(a, obj);
    value_put(a, obj, STR("status"), value_object());
    (void)value_ensure(a, obj, STR("spec"));
    /* Both fields exist now. Editing one does not move the other, so both pointers stay good. */
    struct value *status = value_ensure(a, obj, STR("status")),
                 *spec = value_ensure(a, obj, STR("spec"));
    value_put(a, status, STR("phase"), value_string(STR("Pending")));
    add_gated_condition(s, spec, status);
    apply_own_labels(a, spec, value_dig(obj, "metadata", "labels"));
    sync_all_apparmor(s, value_dig(obj, "metadata", "annotations"), spec);
    strategy__fill_pod_resources(a, spec);
    value_put(a, status, STR("qosClass"), value_string(pod_qos_class(value_get(obj, STR("spec")))));
}

/* ---- Changes ---- */

/* An old client does not know spec.resources and leaves it out. The pod keeps it then. */
static void keep_pod_resources(struct arena *a, struct value *obj, const struct value *old_obj)
{
    const struct value *old_resources = value_dig(old_obj, "spec", "resources");
    struct value *spec = value_ensure(a, obj, STR("spec"));
    if (old_resources && !value_get(spec, STR("resources")))
        value_put(a, spec, STR("resources"), value_borrow(old_resources));
}

static void update_pod(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    drop_init_annotations(s->arena, obj);
    keep_pod_resources(s->arena, obj, old_obj);
}

static void keep_if_absent(struct arena *a, struct value *obj, const struct value *old_obj,
                           struct str field)
{
    if (!value_get(obj, field) && value_get(old_obj, field))
        strategy__keep(a, obj, old_obj, field);
}

/* The old conditions of one type, as a list in their order. */
struct old_condition {
    const struct value *condition;
    struct old_condition *next;
};

static void index_conditions(struct arena *a, const struct value *conditions, struct map *ret)
{
    for (size_t i = count(conditions); i-- > 0;) {
        struct old_condition *old = arena_new(a, struct old_condition);
        old->condition = value_at(conditions, i);
        struct str type = value_text(old->condition, "type");
        old->next = map_get(ret, type);
        (void)map_set(ret, type, old);
    }
}

/* The next old condition of that type, or NULL. */
static const struct value *take_condition(struct map *index, struct str type)
{
    struct old_condition *old = map_get(index, type);
    if (!old)
        return NULL;
    if (old->next)
        (void)map_set(index, value_text(old->next->condition, "type"), old->next);
    else
        (void)map_remove(index, type);
    return old->condition;
}

static void keep_observed_generations(struct arena *a, struct value *status,
                                      const struct value *old_status)
{
    struct map index = { 0 };
    index_conditions(a, value_get(old_status, STR("conditions")), &index);
    keep_if_absent(a, status, old_status, STR("observedGeneration"));
    struct value *conditions = value_edit(a, status, STR("conditions"));
    for (size_t i = 0; value_is(conditions, VALUE_ARRAY) && i < conditions->n; i++) {
        struct value *condition = value_edit_at(a, conditions, i);
        struct str type = value_text(condition, "type");
        const struct value *old_condition = take_condition(&index, type);
        if (old_condition && condition->type == VALUE_OBJECT)
            keep_if_absent(a, condition, old_condition, STR("observedGeneration"));
    }
    map_done(&index);
}

static void update_pod_status(const struct strategy *s, struct value *obj,
                              const struct value *old_obj)
{
    static const struct str kept[] = { STR("qosClass"), STR("resourceClaimStatuses"),
                                       STR("extendedResourceClaimStatus"),
                                       STR("nodeAllocatableResourceClaimStatuses") };
    const struct value *old_status = value_get(old_obj, STR("status"));
    strategy__keep(s->arena, value_ensure(s->arena, obj, STR("metadata")),
                   value_get(old_obj, STR("metadata")), STR("ownerReferences"));
    struct value *status = value_ensure(s->arena, obj, STR("status"));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        keep_if_absent(s->arena, status, old_status, kept[i]);
    keep_observed_generations(s->arena, status, old_status);
}

/* Takes spec, status, labels, annotations, finalizers and owners from the old object. */
static void keep_all(struct arena *a, struct value *obj, const struct value *old_obj)
{
    strategy__keep(a, obj, old_obj, STR("spec"));
    strategy__keep(a, obj, old_obj, STR("status"));
    strategy__keep_metadata(a, obj, old_obj);
}

static void update_ephemeral_containers(const struct strategy *s, struct value *obj,
                                        const struct value *old_obj)
{
    struct arena *a = s->arena;
    const struct value *containers = value_dig(obj, "spec", "ephemeralContainers");
    struct value given = containers ? value_borrow(containers) : value_null();
    keep_all(a, obj, old_obj);
    struct value *spec = value_ensure(a, obj, STR("spec"));
    if (given.type == VALUE_NULL)
        value_drop(a, spec, STR("ephemeralContainers"));
    else
        value_put(a, spec, STR("ephemeralContainers"), given);
    strategy__drop_gated(a, s->resource->type, obj, old_obj);
}

/* The old containers with the new resources and resize policies. If the names or their order differ
 * the new containers are returned as they are, and validation refuses them. */
static struct value resized(struct arena *a, const struct value *containers,
                            const struct value *old_containers)
{
    struct value list = value_array();
    for (size_t i = 0; i < count(containers); i++) {
        const struct value *container = value_at(containers, i),
                           *old_container = value_at(old_containers, i);
        if (!str_eq(value_text(container, "name"), value_text(old_container, "name")))
            return value_borrow(containers);
        struct value *merged = value_push(a, &list, value_borrow(old_container));
        strategy__keep(a, merged, container, STR("resources"));
        strategy__keep(a, merged, container, STR("resizePolicy"));
    }
    return list;
}

static void set_list(struct arena *a, struct value *spec, struct str field, struct value list)
{
    if (list.n)
        value_put(a, spec, field, list);
    else
        value_drop(a, spec, field);
}

static void update_resize(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    struct arena *a = s->arena;
    const struct value *spec = value_get(obj, STR("spec")),
                       *old_spec = value_get(old_obj, STR("spec")),
                       *containers = value_get(spec, STR("containers")),
                       *old_containers = value_get(old_spec, STR("containers")),
                       *inits = value_get(spec, STR("initContainers")),
                       *old_inits = value_get(old_spec, STR("initContainers")),
                       *own = value_get(spec, STR("resources"));
    if (count(containers) == count(old_containers) && count(inits) == count(old_inits)) {
        struct value new_containers = resized(a, containers, old_containers),
                     new_inits = resized(a, inits, old_inits),
                     new_own = own ? value_borrow(own) : value_null();
        keep_all(a, obj, old_obj);
        struct value *kept = value_ensure(a, obj, STR("spec"));
        set_list(a, kept, STR("containers"), new_containers);
        set_list(a, kept, STR("initContainers"), new_inits);
        if (new_own.type != VALUE_NULL)
            value_put(a, kept, STR("resources"), new_own);
    }
    keep_pod_resources(a, obj, old_obj);
    strategy__fill_pod_resources(a, value_ensure(a, obj, STR("spec")));
    strategy__drop_gated(a, s->resource->type, obj, old_obj);
}

static const struct strategy_sub pod_subs[] = {
    { STR("ephemeralcontainers"), update_ephemeral_containers },
    { STR("resize"), update_resize },
    { .name = { NULL, 0 } },
};

const struct strategy_rules strategy__pod[] = {
    { STR(""), STR("pods"), STRATEGY_GENERATION | STRATEGY_GRACEFUL, create_pod, update_pod,
      update_pod_status, pod_subs },
    { .group = { NULL, 0 } },
};
