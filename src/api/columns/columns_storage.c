/* columns_storage.c - volumes, claims, classes and drivers. */
#include "api/columns/columns_internal.h"
#include "api/keys.h"
#include "base/idiom.h"
#include "base/banned.h"

static struct str set_or(const struct value *v, struct str when_unset)
{
    return columns_is_set(v) ? value_str(v) : when_unset;
}

/* In this order, whatever order the object has. */
static struct str access_modes(struct arena *a, const struct value *modes)
{
    static const struct {
        struct str mode, abbreviation;
    } rows[] = {
        { STR("ReadWriteOnce"), STR("RWO") },
        { STR("ReadOnlyMany"), STR("ROX") },
        { STR("ReadWriteMany"), STR("RWX") },
        { STR("ReadWriteOncePod"), STR("RWOP") },
    };
    struct texts list = { a };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool has = false;
        value_each_item (mode, modes)
            has |= str_eq(value_str(mode), rows[i].mode);
        if (has)
            columns_texts_add(&list, rows[i].abbreviation);
    }
    return columns_texts_join(&list, STR(","));
}

/* The annotation that was there before the field. */
static struct str storage_class(struct row *row)
{
    const struct value *annotation = row_at(row, "metadata", "annotations", KEY_BETA_STORAGE_CLASS);
    return annotation ? value_str(annotation) : row_text(row, "spec", "storageClassName");
}

static struct str phase(struct row *row)
{
    if (columns_is_set(row_at(row, "metadata", "deletionTimestamp")))
        return STR("Terminating");
    return row_text(row, "status", "phase");
}

static void print_volume(struct row *row)
{
    const struct value *claim = row_at(row, "spec", "claimRef");
    struct arena *a = row->arena;
    columns_row_add_name(row);
    columns_row_add(row, columns_quantity(a, row_at(row, "spec", "capacity", "storage"), STR("0")));
    columns_row_add(row, access_modes(a, row_at(row, "spec", "accessModes")));
    columns_row_add(row, row_text(row, "spec", "persistentVolumeReclaimPolicy"));
    columns_row_add(row, phase(row));
    columns_row_add(row, columns_is_set(claim) ? columns_cat(a, value_text(claim, "namespace"),
                                                             STR("/"), value_text(claim, "name"))
                                               : STR(""));
    columns_row_add(row, storage_class(row));
    columns_row_add(row, set_or(row_at(row, "spec", "volumeAttributesClassName"), STR("<unset>")));
    columns_row_add(row, row_text(row, "status", "reason"));
    columns_row_add_age(row);
    columns_row_add(row, set_or(row_at(row, "spec", "volumeMode"), STR("<unset>")));
}

/* What it got is shown once it has a volume; what it asked for is not. */
static void print_claim(struct row *row)
{
    struct str volume = row_text(row, "spec", "volumeName"), capacity = { 0 }, modes = { 0 };
    if (volume.n) {
        capacity =
            columns_quantity(row->arena, row_at(row, "status", "capacity", "storage"), STR("0"));
        modes = access_modes(row->arena, row_at(row, "status", "accessModes"));
    }
    columns_row_add_name(row);
    columns_row_add(row, phase(row));
    columns_row_add(row, volume);
    columns_row_add(row, capacity);
    columns_row_add(row, modes);
    columns_row_add(row, storage_class(row));
    columns_row_add(row, set_or(row_at(row, "spec", "volumeAttributesClassName"), STR("<unset>")));
    columns_row_add_age(row);
    columns_row_add(row, set_or(row_at(row, "spec", "volumeMode"), STR("<unset>")));
}

static struct str class_name(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "name"));
}

static bool says_default(const struct value *class)
{
    static const char *const annotations[] = { KEY_DEFAULT_CLASS, KEY_BETA_DEFAULT_CLASS };
    for (size_t i = 0; i < 2; i++)
        if (str_eq(value_str(value_dig(class, "metadata", "annotations", annotations[i])),
                   STR("true")))
            return true;
    return false;
}

/* Of several, the youngest is in force, and of equally young ones the first by name. */
static bool outranks(const struct value *class, const struct value *other)
{
    struct gotime t = { .sec = GOTIME_ZERO_SEC }, u = { .sec = GOTIME_ZERO_SEC };
    (void)columns_time(value_dig(class, "metadata", "creationTimestamp"), &t);
    (void)columns_time(value_dig(other, "metadata", "creationTimestamp"), &u);
    int64_t younger = columns_between_ns(u, t);
    return younger > 0 || (younger == 0 && str_cmp(class_name(class), class_name(other)) < 0);
}

static void mark_default_class(struct arena *a, const struct value *const *objs, size_t n,
                               struct value *cells)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (says_default(objs[i]) && (best == n || outranks(objs[i], objs[best])))
            best = i;
    if (best == n || !class_name(objs[best]).n)
        return;
    struct value *name = value_edit_at(a, &cells[best], 0);
    *name = value_string(columns_cat(a, class_name(objs[best]), STR(" (default)")));
}

static void print_storage_class(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "provisioner"));
    columns_row_add(row, set_or(row_at(row, "reclaimPolicy"), STR("Delete")));
    columns_row_add(row, set_or(row_at(row, "volumeBindingMode"), STR("Immediate")));
    columns_row_add_bool(row, columns_bool(row_at(row, "allowVolumeExpansion")));
    columns_row_add_age(row);
}

static void print_volume_attributes_class(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "driverName"));
    columns_row_add_age(row);
}

static void print_volume_attachment(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "attacher"));
    columns_row_add(row, row_text(row, "spec", "source", "persistentVolumeName"));
    columns_row_add(row, row_text(row, "spec", "nodeName"));
    columns_row_add_bool(row, columns_bool(row_at(row, "status", "attached")));
    columns_row_add_age(row);
}

static void print_csi_driver(struct row *row)
{
    const struct value *attach = row_at(row, "spec", "attachRequired");
    struct texts modes = { row->arena }, audiences = { row->arena };
    columns_texts_add_all(&modes, row_at(row, "spec", "volumeLifecycleModes"));
    value_each_item (request, row_at(row, "spec", "tokenRequests"))
        columns_texts_add(&audiences, value_text(request, "audience"));
    columns_row_add_name(row);
    columns_row_add_bool(row, !columns_is_set(attach) || columns_bool(attach));
    columns_row_add_bool(row, columns_bool(row_at(row, "spec", "podInfoOnMount")));
    columns_row_add_bool(row, columns_bool(row_at(row, "spec", "storageCapacity")));
    columns_row_add(row, audiences.n ? columns_texts_join(&audiences, STR(",")) : STR("<unset>"));
    columns_row_add_bool(row, columns_bool(row_at(row, "spec", "requiresRepublish")));
    columns_row_add(row, columns_or(columns_texts_join(&modes, STR(",")), STR("<none>")));
    columns_row_add_age(row);
}

static void print_csi_node(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_int(row, (int64_t)columns_count(row_at(row, "spec", "drivers")));
    columns_row_add_age(row);
}

const struct columns_rule columns_storage_rules[] = {
    { STR(""), STR("PersistentVolume"), print_volume },
    { STR(""), STR("PersistentVolumeClaim"), print_claim },
    { STR("storage.k8s.io"), STR("StorageClass"), print_storage_class, .mark = mark_default_class },
    { STR("storage.k8s.io"), STR("VolumeAttributesClass"), print_volume_attributes_class },
    { STR("storage.k8s.io"), STR("VolumeAttachment"), print_volume_attachment },
    { STR("storage.k8s.io"), STR("CSIDriver"), print_csi_driver },
    { STR("storage.k8s.io"), STR("CSINode"), print_csi_node },
    { .print = NULL },
};
