#include "api/validate/validate_claim.h"

#include "api/validate/validate_resource_list.h"
#include "base/idiom.h"
#include "base/banned.h"

static void check_access_modes(struct field_errors *e, const struct field_path *path,
                               const struct value *modes)
{
    static const struct str known[] = { STR("ReadOnlyMany"), STR("ReadWriteMany"),
                                        STR("ReadWriteOnce"), STR("ReadWriteOncePod") };
    bool alone = false, shared = false;
    value_each_item (it, modes) {
        (void)validate_one_of(e, path, value_str(it), WORDS(known));
        if (str_eq(value_str(it), STR("ReadWriteOncePod")))
            alone = true;
        else
            shared = shared || words_have(value_str(it), WORDS(known));
    }
    if (alone && shared)
        fault_forbidden(e, path, "may not use ReadWriteOncePod with other access modes");
}

static void check_data_source(struct field_errors *e, const struct field_path *path,
                              const struct value *source, unsigned flags)
{
    struct str group = value_text(source, "apiGroup"), kind = value_text(source, "kind");
    (void)validate_required(e, path_at(path, "name"), value_text(source, "name"));
    (void)validate_required(e, path_at(path, "kind"), kind);
    if (!group.n && !str_eq(kind, STR("PersistentVolumeClaim")))
        fault_text(e, path, kind,
                   "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (group.n && !(flags & CLAIM_ANY_API_GROUP))
        (void)validate_name(e, path_at(path, "apiGroup"), NAME_SUBDOMAIN, group);
    struct str ns = value_text(source, "namespace");
    if (ns.n)
        (void)validate_name(e, path_at(path, "namespace"), NAME_LABEL, ns);
}

/* The older field and the newer one must tell the same. Upstream shows an empty struct. */
static void check_data_sources(struct field_errors *e, const struct field_path *path,
                               const struct value *source, const struct value *ref)
{
    if (!source || !ref)
        return;
    bool same =
        str_eq(value_text(source, "name"), value_text(ref, "name")) &&
        str_eq(value_text(source, "kind"), value_text(ref, "kind")) &&
        validate_is_same(validate_member(source, "apiGroup"), validate_member(ref, "apiGroup"));
    struct value empty = value_object();
    if (value_text(ref, "namespace").n)
        fault_value(e, path, &empty,
                    "may not be specified when dataSourceRef.namespace is specified");
    else if (!same)
        fault_value(e, path, &empty, "must match dataSourceRef");
}

static void check_storage(struct field_errors *e, const struct field_path *path,
                          const struct value *spec)
{
    const struct value *storage =
        value_get(value_dig(spec, "resources", "requests"), STR("storage"));
    if (!storage)
        fault_required(e, path, "");
    else if (validate_positive_quantity(e, path, value_str(storage)))
        (void)validate_resource_quantity(e, path, STR("storage"), value_str(storage));
}

void validate_claim_spec(struct field_errors *e, const struct field_path *path,
                         const struct value *spec, unsigned flags)
{
    static const struct str volume_modes[] = { STR("Block"), STR("Filesystem") };
    const struct value *modes = value_get(spec, STR("accessModes")),
                       *source = validate_member(spec, "dataSource"),
                       *ref = validate_member(spec, "dataSourceRef"),
                       *volume_mode = validate_member(spec, "volumeMode");
    if (!validate__count(modes))
        fault_required(e, path_at(path, "accessModes"), "at least 1 access mode is required");
    (void)validate_label_selector(e, path_at(path, "selector"), validate_member(spec, "selector"),
                                  flags & CLAIM_ANY_SELECTOR_VALUES ? SELECTOR_ANY_VALUES : 0);
    check_access_modes(e, path_at(path, "accessModes"), modes);
    check_storage(e, path_key(path_at(path, "resources"), STR("storage")), spec);
    struct str storage_class = value_text(spec, "storageClassName"),
               attributes_class = value_text(spec, "volumeAttributesClassName");
    if (storage_class.n)
        (void)validate_name(e, path_at(path, "storageClassName"), NAME_SUBDOMAIN, storage_class);
    if (volume_mode)
        (void)validate_one_of(e, path_at(path, "volumeMode"), value_str(volume_mode),
                              WORDS(volume_modes));
    if (source)
        check_data_source(e, path_at(path, "dataSource"), source, flags);
    if (ref)
        check_data_source(e, path_at(path, "dataSourceRef"), ref, flags);
    check_data_sources(e, path, source, ref);
    if (attributes_class.n)
        (void)validate_name(e, path_at(path, "volumeAttributesClassName"), NAME_SUBDOMAIN,
                            attributes_class);
}

void validate_claim_template(struct field_errors *e, const struct field_path *path,
                             const struct value *template)
{
    static const struct str forbidden[] = {
        STR("name"),
        STR("generateName"),
        STR("namespace"),
        STR("uid"),
        STR("resourceVersion"),
        STR("generation"),
        STR("creationTimestamp"),
        STR("deletionTimestamp"),
        STR("deletionGracePeriodSeconds"),
        STR("ownerReferences"),
        STR("finalizers"),
        STR("managedFields"),
    };
    const struct field_path *meta_path = path_at(path, "metadata");
    const struct value *meta = validate_member(template, "metadata");
    (void)validate_annotations(e, path_at(meta_path, "annotations"),
                               validate_member(meta, "annotations"));
    (void)validate_labels(e, path_at(meta_path, "labels"), validate_member(meta, "labels"));
    for (size_t i = 0; meta && i < ARRAY_LEN(forbidden); i++) {
        struct field_path at = field_child(meta_path, forbidden[i]);
        const struct value *v = validate__member(meta, forbidden[i]);
        if (v && (v->type == VALUE_INT ? v->i != 0 : v->n != 0))
            fault_forbidden(e, &at, "cannot be set");
    }
    validate_claim_spec(e, path_at(path, "spec"), validate_member(template, "spec"), 0);
}
