#include "controllers/volumes/edits.h"

#include <sampan/meta.h>

#include "api/quantity.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/volumes/growth.h"
#include "select/volume_match.h"
#include "base/banned.h"

#define NOTE_PROVISIONER     "volume.kubernetes.io/storage-provisioner"
#define NOTE_OLD_PROVISIONER "volume.beta.kubernetes.io/storage-provisioner"
#define FINALIZER_EXTERNAL   "external-provisioner.volume.kubernetes.io/finalizer"

/* ---- Parts ---- */

static bool annotate(struct spn_arena *a, struct spn_value *obj, const char *key,
                     struct spn_text value)
{
    struct spn_text has = meta_annotation(obj, key);
    if (has.p && spn_text_eq(has, value))
        return false;
    meta_annotate(a, obj, key, value);
    return true;
}

static bool unannotate(struct spn_arena *a, struct spn_value *obj, const char *key)
{
    if (!meta_annotation(obj, key).p)
        return false;
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    struct spn_value *all = spn_value_edit(a, meta, "annotations");
    spn_value_remove(a, all, key);
    if (!spn_value_count(all))
        spn_value_remove(a, meta, "annotations");
    return true;
}

static bool drop_field(struct spn_arena *a, struct spn_value *obj, const char *key)
{
    if (!spn_value_get(obj, key))
        return false;
    spn_value_remove(a, obj, key);
    return true;
}

static bool set_copy(struct spn_arena *a, struct spn_value *obj, const char *key,
                     const struct spn_value *v)
{
    if (!v)
        return drop_field(a, obj, key);
    if (spn_value_eq(spn_value_get(obj, key), v))
        return false;
    spn_value_set(a, obj, key, spn_value_copy(a, v));
    return true;
}

/* ---- Volumes ---- */

void volume_clear_claim(struct spn_arena *a, struct spn_value *volume)
{
    struct spn_value *spec = spn_value_ensure(a, volume, "spec");
    if (unannotate(a, volume, NOTE_BY_CONTROLLER))
        spn_value_remove(a, spec, "claimRef");
    else
        spn_value_remove(a, spn_value_ensure(a, spec, "claimRef"), "uid");
}

bool volume_set_phase(struct spn_arena *a, struct spn_value *volume, const char *phase,
                      struct spn_text message)
{
    struct spn_value *status = spn_value_ensure(a, volume, "status");
    if (spn_text_eq(spn_value_text(spn_value_get(status, "phase")), spn_text_of(phase)))
        return false;
    spn_value_set_text(a, status, "phase", spn_text_of(phase));
    if (message.n)
        spn_value_set_text(a, status, "message", message);
    else
        spn_value_remove(a, status, "message");
    return true;
}

static bool set_migration(struct spn_arena *a, struct spn_value *obj, struct spn_text by)
{
    struct spn_text driver = provisioner_driver(by);
    if (!by.p)
        return false;
    return driver.n ? annotate(a, obj, NOTE_MIGRATED_TO, driver)
                    : unannotate(a, obj, NOTE_MIGRATED_TO);
}

static bool drop_finalizer(struct spn_arena *a, struct spn_value *obj, const char *name)
{
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    struct spn_value *list = spn_value_edit(a, meta, "finalizers");
    bool had = false;
    for (size_t i = spn_value_count(list); i-- > 0;)
        if (spn_text_eq(spn_value_text(spn_value_at(list, i)), spn_text_of(name))) {
            spn_value_remove_at(a, list, i);
            had = true;
        }
    if (had && !spn_value_count(list))
        spn_value_remove(a, meta, "finalizers");
    return had;
}

static bool add_finalizer(struct spn_arena *a, struct spn_value *obj, const char *name)
{
    if (spn_finalizer_has(obj, name))
        return false;
    struct spn_value *meta = spn_value_ensure(a, obj, "metadata");
    if (!spn_value_get(meta, "finalizers"))
        spn_value_set(a, meta, "finalizers", spn_value_new(a, SPN_ARRAY));
    spn_value_push(a, spn_value_edit(a, meta, "finalizers"),
                   spn_value_new_text(a, spn_text_of(name)));
    return true;
}

bool volume_set_protection(struct spn_arena *a, struct spn_value *volume)
{
    struct spn_text by = meta_annotation(volume, NOTE_PROVISIONED_BY);
    bool changed = set_migration(a, volume, by);
    if (!by.p)
        return changed;
    if (provisioner_driver(by).n)
        return drop_finalizer(a, volume, FINALIZER_IN_TREE) || changed;
    if (!str_starts(str_in(by), STR("kubernetes.io/")))
        return changed;
    struct spn_text policy =
        spn_value_text(spn_value_dig(volume, "spec", "persistentVolumeReclaimPolicy"));
    if (!spn_text_eq(policy, SPN_TEXT("Delete")))
        changed |= drop_finalizer(a, volume, FINALIZER_IN_TREE);
    else if (!meta_is_deleting(volume))
        changed |= add_finalizer(a, volume, FINALIZER_IN_TREE);
    return drop_finalizer(a, volume, FINALIZER_EXTERNAL) || changed;
}

struct spn_value *volume_of_host_path(struct spn_arena *a, const struct spn_value *claim,
                                      const struct spn_value *class, struct spn_text name,
                                      struct spn_text path)
{
    const struct spn_value *wish = spn_value_get(claim, "spec");
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, v, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, v, "kind", SPN_TEXT("PersistentVolume"));
    spn_value_set_text(a, spn_value_ensure(a, v, "metadata"), "name", name);
    meta_annotate(a, v, "kubernetes.io/createdby", SPN_TEXT("hostpath-dynamic-provisioner"));
    meta_annotate(a, v, NOTE_BY_CONTROLLER, SPN_TEXT("yes"));
    meta_annotate(a, v, NOTE_PROVISIONED_BY, SPN_TEXT("kubernetes.io/host-path"));
    struct spn_value *spec = spn_value_ensure(a, v, "spec");
    set_copy(a, spec, "persistentVolumeReclaimPolicy", spn_value_get(class, "reclaimPolicy"));
    set_copy(a, spec, "accessModes", spn_value_get(wish, "accessModes"));
    set_copy(a, spn_value_ensure(a, spec, "capacity"), "storage",
             spn_value_dig(wish, "resources", "requests", "storage"));
    spn_value_set_text(a, spn_value_ensure(a, spec, "hostPath"), "path", path);
    value_put(arena_in(a), value_in_edit(spec), STR("claimRef"),
              claim_reference(arena_in(a), value_in(claim)));
    spn_value_set_text(a, spec, "storageClassName", text_out(claim_class(value_in(claim))));
    spn_value_set_text(a, spn_value_ensure(a, v, "status"), "phase", SPN_TEXT("Bound"));
    (void)volume_set_protection(a, v);
    return v;
}

/* ---- Claims ---- */

bool claim_set_volume(struct spn_arena *a, struct spn_value *claim, const struct spn_value *volume)
{
    struct spn_value *spec = spn_value_ensure(a, claim, "spec");
    bool changed = false;
    if (!spn_text_eq(spn_value_text(spn_value_get(spec, "volumeName")), meta_name(volume))) {
        spn_value_set_text(a, spec, "volumeName", meta_name(volume));
        if (!meta_annotation(claim, NOTE_BY_CONTROLLER).p)
            meta_annotate(a, claim, NOTE_BY_CONTROLLER, SPN_TEXT("yes"));
        changed = true;
    }
    if (meta_annotation(claim, NOTE_BIND_COMPLETED).p)
        return changed;
    meta_annotate(a, claim, NOTE_BIND_COMPLETED, SPN_TEXT("yes"));
    return true;
}

/* What it has got; only as it becomes bound, since later it may grow by itself. */
static bool set_capacity(struct spn_arena *a, struct spn_value *status,
                         const struct spn_value *volume)
{
    const struct spn_value *has = spn_value_dig(volume, "spec", "capacity");
    struct str size = str_in(spn_value_text(spn_value_get(has, "storage")));
    struct str old = str_in(spn_value_text(spn_value_dig(status, "capacity", "storage")));
    struct spn_text before = meta_annotation(volume, NOTE_BEFORE_RESIZE);
    if (before.n) {
        struct str known;
        struct err why = ERR_INIT(arena_in(a));
        bool is_good = quantity_canonical(arena_in(a), str_in(before), &known, &why) == 0;
        spn_value_set_text(a, spn_value_ensure(a, status, "capacity"), "storage",
                           text_out(is_good ? known : size));
        return true;
    }
    if (old.n && quantity_cmp(old, size) == 0)
        return false;
    spn_value_set(a, status, "capacity", spn_value_copy(a, has));
    return true;
}

int claim_set_phase(struct spn_arena *a, struct spn_value *claim, const char *phase,
                    const struct spn_value *volume, bool *ret_changed, struct spn_err *err)
{
    struct spn_value *status = spn_value_ensure(a, claim, "status");
    struct spn_text old = spn_value_text(spn_value_get(status, "phase"));
    bool is_new = !spn_text_eq(old, spn_text_of(phase));
    bool was_pending = spn_text_eq(old, SPN_TEXT("Pending"));
    bool changed = is_new;
    if (volume && is_new && !spn_value_dig(volume, "spec", "capacity", "storage"))
        return spn_err_set(err, SPN_INVALID,
                           "PersistentVolume \"" SPN_FMT "\" is without a storage capacity",
                           SPN_ARG(meta_name(volume)));
    spn_value_set_text(a, status, "phase", spn_text_of(phase));
    changed |= set_copy(a, status, "accessModes", spn_value_dig(volume, "spec", "accessModes"));
    if (!volume)
        changed |= drop_field(a, status, "capacity");
    else if (is_new)
        changed |= set_capacity(a, status, volume);
    if (!volume || (was_pending && is_new))
        changed |= set_copy(a, status, "currentVolumeAttributesClassName",
                            spn_value_dig(volume, "spec", "volumeAttributesClassName"));
    *ret_changed = changed;
    return 0;
}

bool claim_set_migration(struct spn_arena *a, struct spn_value *claim)
{
    struct spn_text by = meta_annotation(claim, NOTE_PROVISIONER);
    return set_migration(a, claim, by.p ? by : meta_annotation(claim, NOTE_OLD_PROVISIONER));
}

bool claim_set_provisioner(struct spn_arena *a, struct spn_value *claim, struct spn_text name)
{
    struct spn_text has = meta_annotation(claim, NOTE_PROVISIONER);
    if (has.p && spn_text_eq(has, name))
        return false;
    meta_annotate(a, claim, NOTE_OLD_PROVISIONER, name);
    meta_annotate(a, claim, NOTE_PROVISIONER, name);
    (void)claim_set_migration(a, claim);
    return true;
}
