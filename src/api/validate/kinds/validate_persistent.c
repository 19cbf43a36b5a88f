/* PersistentVolume and PersistentVolumeClaim. */
#include "api/inner.h"
#include "api/keys.h"
#include "api/quantity.h"
#include "api/validate/validate_claim.h"
#include "api/validate/validate_parts.h"
#include "api/validate/validate_resource_list.h"
#include "api/validate/validate_volume.h"
#include "base/idiom.h"
#include "base/banned.h"

#define BETA_CLASS STR(KEY_BETA_STORAGE_CLASS)

/* ---- PersistentVolume ---- */

static bool has_bad_node_value(const struct value *spec)
{
    value_each_item (term, value_dig(spec, "nodeAffinity", "required", "nodeSelectorTerms"))
        value_each_item (rq, value_get(term, STR("matchExpressions")))
            value_each_item (it, value_get(rq, STR("values"))) {
                struct name_faults faults = { 0 };
                if (!name_check(NAME_LABEL_VALUE, value_str(it), &faults))
                    return true;
            }
    return false;
}

static void create_volume(struct field_errors *e, const struct value *obj)
{
    validate_volume_spec(e, path_root("spec"), value_get(obj, STR("spec")),
                         value_str(value_dig(obj, "metadata", "name")), false, false);
}

/* The source alone: the fields of the struct that the spec has inline. A secret for expansion may
 * be added later. */
static struct value source_of(struct arena *a, const struct value *spec, const struct value *old)
{
    const struct kind_type *t = kind_type_find(STR(""), STR("v1"), STR("PersistentVolumeSource"));
    struct value source = value_object();
    for (size_t i = 0; t && i < t->n_fields; i++) {
        const struct value *field = validate__member(spec, t->fields[i].name);
        if (field)
            value_add(a, &source, t->fields[i].name, value_clone(a, field));
    }
    const struct value *old_csi = validate_member(old, "csi");
    struct value *csi = value_edit(a, &source, STR("csi"));
    if (csi && old_csi && !validate_member(old_csi, "controllerExpandSecretRef"))
        value_drop(a, csi, STR("controllerExpandSecretRef"));
    return source;
}

static void check_source_kept(struct field_errors *e, const struct value *spec,
                              const struct value *old)
{
    struct value is = source_of(e->arena, spec, old), was = source_of(e->arena, old, NULL);
    if (validate_is_same(&is, &was))
        return;
    struct str diff = inner_diff(e, STR("v1"), STR("PersistentVolumeSource"), &was, &is);
    fault_forbidden(e, path_at(path_root("spec"), "persistentvolumesource"),
                    "spec.persistentvolumesource is immutable after creation\n" STR_FMT,
                    STR_ARG(diff));
}

/* A label of nodes may be renamed from its beta name. */
static struct str renamed_label(struct str key)
{
    static const struct {
        struct str beta, now;
    } labels[] = {
        { STR(KEY_BETA_ARCH), STR("kubernetes.io/arch") },
        { STR(KEY_BETA_OS), STR("kubernetes.io/os") },
        { STR(KEY_BETA_REGION), STR(KEY_TOPOLOGY_REGION) },
        { STR(KEY_BETA_ZONE), STR(KEY_TOPOLOGY_ZONE) },
        { STR(KEY_BETA_INSTANCE_TYPE), STR("node.kubernetes.io/instance-type") },
    };
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if (str_eq(labels[i].beta, key))
            return labels[i].now;
    return key;
}

static bool is_same_requirement(const struct value *a, const struct value *old)
{
    struct str key = value_text(a, "key"), old_key = value_text(old, "key");
    return (str_eq(key, old_key) || str_eq(key, renamed_label(old_key))) &&
           str_eq(value_text(a, "operator"), value_text(old, "operator")) &&
           validate_is_same(value_get(a, STR("values")), value_get(old, STR("values")));
}

static bool are_same_requirements(const struct value *a, const struct value *old)
{
    if (validate__count(a) != validate__count(old))
        return false;
    for (size_t i = 0; i < validate__count(a); i++)
        if (!is_same_requirement(value_at(a, i), value_at(old, i)))
            return false;
    return true;
}

static bool is_same_affinity(const struct value *a, const struct value *old)
{
    const struct value *terms = value_dig(a, "required", "nodeSelectorTerms");
    const struct value *old_terms = value_dig(old, "required", "nodeSelectorTerms");
    if (!a || validate__count(terms) != validate__count(old_terms))
        return false;
    for (size_t i = 0; i < validate__count(terms); i++) {
        const struct value *term = value_at(terms, i), *was = value_at(old_terms, i);
        if (!are_same_requirements(value_get(term, STR("matchExpressions")),
                                   value_get(was, STR("matchExpressions"))) ||
            !are_same_requirements(value_get(term, STR("matchFields")),
                                   value_get(was, STR("matchFields"))))
            return false;
    }
    return true;
}

static void update_volume(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct value *affinity = validate_member(spec, "nodeAffinity");
    const struct value *old_affinity = validate_member(old, "nodeAffinity");
    validate_volume_spec(e, path_root("spec"), spec, value_str(value_dig(obj, "metadata", "name")),
                         false, has_bad_node_value(old));
    check_source_kept(e, spec, old);
    validate_immutable(e, path_root("volumeMode"), value_get(spec, STR("volumeMode")),
                       value_get(old, STR("volumeMode")));
    if (old_affinity && !is_same_affinity(affinity, old_affinity))
        field_error(e, FIELD_INVALID, path_root("nodeAffinity"),
                    inner_json(e, STR("v1"), STR("VolumeNodeAffinity"), affinity),
                    "field is immutable, except for updating from beta label to GA");
    if (validate_member(old, "volumeAttributesClassName") &&
        !validate_member(spec, "volumeAttributesClassName"))
        fault_forbidden(e, path_at(path_root("spec"), "volumeAttributesClassName"),
                        "update from non-nil value to nil is forbidden");
}

static void warn_of_volume(struct validate_warnings *w, const struct value *obj,
                           const struct value *old_obj)
{
    static const struct {
        struct str name, shown;
        const char *why;
    } sources[] = {
        { STR("cephfs"), STR("cephfs"), "deprecated in v1.28, non-functional in v1.31+" },
        { STR("photonPersistentDisk"), STR("photonPersistentDisk"),
          "deprecated in v1.11, non-functional in v1.16+" },
        { STR("scaleIO"), STR("scaleIO"), "deprecated in v1.16, non-functional in v1.22+" },
        { STR("storageos"), STR("storageOS"), "deprecated in v1.22, non-functional in v1.25+" },
        { STR("glusterfs"), STR("glusterfs"), "deprecated in v1.25, non-functional in v1.26+" },
        { STR("rbd"), STR("rbd"), "deprecated in v1.28, non-functional in v1.31+" },
    };
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *annotations = value_dig(obj, "metadata", "annotations");
    const struct field_path *path = path_root("spec");
    const struct field_path *noted = path_at(path_root("metadata"), "annotations");
    const struct str options = STR("volume.beta.kubernetes.io/mount-options");
    (void)old_obj;
    if (value_get(annotations, BETA_CLASS))
        validate_warn_at(w, path_key(noted, BETA_CLASS),
                         "deprecated since v1.8; use \"storageClassName\" attribute instead");
    if (value_get(annotations, options))
        validate_warn_at(w, path_key(noted, options),
                         "deprecated since v1.31; use \"mountOptions\" attribute instead");
    if (str_eq(value_text(spec, "persistentVolumeReclaimPolicy"), STR("Recycle")))
        validate_warn_at(
            w, path_at(path, "persistentVolumeReclaimPolicy"),
            "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to "
            "use dynamic provisioning.");
    const struct field_path *terms =
        path_at(path_at(path_at(path, "nodeAffinity"), "required"), "nodeSelectorTerms");
    size_t i = 0;
    value_each_item (term, value_dig(spec, "nodeAffinity", "required", "nodeSelectorTerms"))
        validate_warn_node_term(w, path_item(terms, i++), term, false);
    for (i = 0; i < ARRAY_LEN(sources); i++) {
        struct field_path at = field_child(path, sources[i].shown);
        if (validate__member(spec, sources[i].name))
            validate_warn_at(w, &at, "%s", sources[i].why);
    }
}

/* ---- PersistentVolumeClaim ---- */

static void create_claim(struct field_errors *e, const struct value *obj)
{
    validate_claim_spec(e, path_root("spec"), value_get(obj, STR("spec")), 0);
}

static bool has_bad_group(const struct value *source)
{
    struct name_faults faults = { 0 };
    struct str group = value_text(source, "apiGroup");
    return group.n && !name_check(NAME_SUBDOMAIN, group, &faults);
}

static unsigned claim_flags_of(const struct value *old_spec)
{
    unsigned flags = 0;
    if (!validate_is_label_selector(validate_member(old_spec, "selector"), 0))
        flags |= CLAIM_ANY_SELECTOR_VALUES;
    if (has_bad_group(value_get(old_spec, STR("dataSource"))) ||
        has_bad_group(value_get(old_spec, STR("dataSourceRef"))))
        flags |= CLAIM_ANY_API_GROUP;
    return flags;
}

static void copy_member(struct arena *a, struct value *to, const struct value *from, struct str key)
{
    const struct value *v = validate__member(from, key);
    if (v)
        value_set(a, to, key, value_clone(a, v));
    else
        value_drop(a, to, key);
}

/* What may change of a claim is made the same in both; see update_claim(). */
static void mask_changes(struct arena *a, const struct value *obj, const struct value *old_obj,
                         struct value *spec, struct value *old)
{
    const struct value *beta = value_get(value_dig(obj, "metadata", "annotations"), BETA_CLASS);
    const struct value *old_beta =
        value_get(value_dig(old_obj, "metadata", "annotations"), BETA_CLASS);
    struct str class = value_text(spec, "storageClassName");
    bool class_set = validate_member(spec, "storageClassName") != NULL;
    bool old_set = validate_member(old, "storageClassName") != NULL;
    if (!value_text(old, "volumeName").n)
        copy_member(a, old, spec, STR("volumeName"));
    bool from_beta = old_beta && !old_set && class_set && str_eq(class, value_str(old_beta)) &&
                     (!beta || str_eq(value_str(beta), value_str(old_beta)));
    bool from_nothing = class_set && !old_set && (!old_beta || str_eq(class, value_str(old_beta)));
    if (from_beta || from_nothing)
        value_drop(a, spec, STR("storageClassName"));
    if (!str_eq(value_str(value_dig(obj, "status", "phase")), STR("Bound")))
        return;
    struct value *resources = value_edit(a, spec, STR("resources"));
    struct value *requests = resources ? value_edit(a, resources, STR("requests")) : NULL;
    if (requests)
        copy_member(a, requests, value_dig(old, "resources", "requests"), STR("storage"));
    copy_member(a, spec, old, STR("volumeAttributesClassName"));
}

static struct str storage_of(const struct value *list)
{
    struct str amount = value_text(list, "storage");
    return amount.n ? amount : STR("0");
}

static void check_beta_class(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj, const struct value *spec,
                             const struct value *old)
{
    const struct value *beta = value_get(value_dig(obj, "metadata", "annotations"), BETA_CLASS);
    const struct value *old_beta =
        value_get(value_dig(old_obj, "metadata", "annotations"), BETA_CLASS);
    bool moved = old_beta && !validate_member(old, "storageClassName") &&
                 validate_member(spec, "storageClassName") &&
                 str_eq(value_text(spec, "storageClassName"), value_str(old_beta)) && !beta;
    const struct field_path *path = path_at(path_root("metadata"), "annotations");
    if (!moved && !str_eq(value_str(beta), value_str(old_beta)))
        fault_text(e, path_key(path, BETA_CLASS), value_str(beta), "field is immutable");
}

static void update_claim(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct field_path *path = path_root("spec");
    validate_claim_spec(e, path, spec, claim_flags_of(old));
    check_beta_class(e, obj, old_obj, spec, old);
    if (!validate_is_same(spec, old) && spec && old) {
        struct value is = value_clone(e->arena, spec), was = value_clone(e->arena, old);
        mask_changes(e->arena, obj, old_obj, &is, &was);
        struct str diff = inner_diff(e, STR("v1"), STR("PersistentVolumeClaimSpec"), &was, &is);
        if (!validate_is_same(&is, &was))
            fault_forbidden(e, path,
                            "spec is immutable after creation except resources.requests and "
                            "volumeAttributesClassName for bound claims\n" STR_FMT,
                            STR_ARG(diff));
    }
    struct str size = storage_of(value_dig(spec, "resources", "requests"));
    struct str old_size = storage_of(value_dig(old, "resources", "requests"));
    if (quantity_cmp(size, old_size) < 0 &&
        quantity_cmp(size, storage_of(value_dig(old_obj, "status", "capacity"))) <= 0)
        fault_forbidden(e, path_at(path_at(path_at(path, "resources"), "requests"), "storage"),
                        "field can not be less than status.capacity");
    validate_immutable(e, path_root("volumeMode"), value_get(spec, STR("volumeMode")),
                       value_get(old, STR("volumeMode")));
    const struct value *attributes = validate_member(spec, "volumeAttributesClassName");
    if (validate_is_same(attributes, validate_member(old, "volumeAttributesClassName")) ||
        !value_dig(old_obj, "status", "currentVolumeAttributesClassName"))
        return;
    if (!attributes || !value_str(attributes).n)
        fault_forbidden(e, path_at(path, "volumeAttributesClassName"),
                        "update to %s is forbidden when status.currentVolumeAttributesClassName is "
                        "not nil",
                        attributes ? "empty string" : "nil");
}

static void check_claim_amounts(struct field_errors *e, const struct field_path *path,
                                const struct value *amounts, bool named)
{
    static const struct str storage[] = { STR("storage") };
    value_each_field (f, amounts) {
        struct str amount = value_str(&f->val);
        const struct field_path *at = path_key(path, f->key);
        int64_t units = 0;
        if (named && !validate_name(e, path, NAME_QUALIFIED, f->key))
            continue;
        if (named && validate_resource_is_native(f->key) &&
            !validate_one_of(e, path, f->key, storage, 1))
            continue;
        if (amount.n && quantity_sign(amount) < 0 && quantity_units(amount, false, &units))
            fault_int(e, at, units, "must be a valid resource quantity");
        else if (named)
            validate_resource_quantity(e, at, storage[0], amount);
    }
}

static void update_claim_status(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    static const struct str states[] = {
        STR("ControllerResizeInProgress"), STR("ControllerResizeInfeasible"),
        STR("NodeResizeInProgress"),       STR("NodeResizeInfeasible"),
        STR("NodeResizePending"),
    };
    const struct value *status = value_get(obj, STR("status"));
    const struct field_path *path = path_root("status");
    (void)old_obj;
    if (!validate_count(value_get(obj, STR("spec")), "accessModes"))
        fault_required(e, path_at(path_root("Spec"), "accessModes"), "");
    check_claim_amounts(e, path_at(path, "capacity"), value_get(status, STR("capacity")), false);
    const struct field_path *at = path_at(path, "allocatedResourceStatuses");
    value_each_field (f, value_get(status, STR("allocatedResourceStatuses"))) {
        static const struct str storage[] = { STR("storage") };
        if (validate_name(e, at, NAME_QUALIFIED, f->key) && validate_resource_is_native(f->key))
            validate_one_of(e, at, f->key, storage, 1);
        if (!words_have(value_str(&f->val), WORDS(states)))
            validate_one_of(e, at, f->key, WORDS(states));
    }
    check_claim_amounts(e, path_at(path, "allocatedResources"),
                        value_get(status, STR("allocatedResources")), true);
}

static void warn_of_fraction(struct validate_warnings *w, const struct field_path *path,
                             struct str amount)
{
    int64_t millis;
    if (amount.n && quantity_units(amount, true, &millis) && millis % 1000)
        validate_warn_at(w, path_key(path, STR("storage")),
                         "fractional byte value \"" STR_FMT "\" is invalid, must be an integer",
                         STR_ARG(amount));
}

static void warn_of_claim(struct validate_warnings *w, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *resources = value_dig(obj, "spec", "resources");
    const struct field_path *path = path_at(path_root("spec"), "resources");
    (void)old_obj;
    if (value_get(value_dig(obj, "metadata", "annotations"), BETA_CLASS))
        validate_warn_at(w, path_key(path_at(path_root("metadata"), "annotations"), BETA_CLASS),
                         "deprecated since v1.8; use \"storageClassName\" attribute instead");
    warn_of_fraction(w, path_at(path, "requests"),
                     value_text(value_get(resources, STR("requests")), "storage"));
    warn_of_fraction(w, path_at(path, "limits"),
                     value_text(value_get(resources, STR("limits")), "storage"));
}

const struct validate_rules validate__persistent[] = {
    { STR(""), STR("PersistentVolume"), .create = create_volume, .update = update_volume,
      .warn = warn_of_volume },
    { STR(""), STR("PersistentVolumeClaim"), .create = create_claim, .update = update_claim,
      .update_status = update_claim_status, .warn = warn_of_claim },
    { .kind = { NULL, 0 } },
};
