#include "select/volume_match.h"
#include "base/idiom.h"

#include "api/quantity.h"
#include "base/banned.h"

static struct str spec_text(const struct value *obj, const char *key)
{
    return value_str(value_get(value_get(obj, STR("spec")), str_of(key)));
}

/* ---- Classes ---- */

/* NULL: it does not say. The annotation is older than the field, and says more. */
static const struct value *wanted_class(const struct value *obj)
{
    const struct value *old = value_get(value_dig(obj, "metadata", "annotations"),
                                        STR("volume.beta.kubernetes.io/storage-class"));
    return old ? old : value_dig(obj, "spec", "storageClassName");
}

struct str claim_class(const struct value *claim)
{
    return value_str(wanted_class(claim));
}

struct str volume_class(const struct value *volume)
{
    return value_str(wanted_class(volume));
}

bool claim_has_class(const struct value *claim)
{
    return value_is(wanted_class(claim), VALUE_STRING);
}

bool class_waits_for_consumer(const struct value *class)
{
    return str_eq(value_text(class, "volumeBindingMode"), STR("WaitForFirstConsumer"));
}

/* ---- Modes ---- */

struct str volume_mode(const struct value *obj)
{
    struct str mode = spec_text(obj, "volumeMode");
    return mode.n ? mode : STR("Filesystem");
}

static bool has_mode(const struct value *volume, struct str mode)
{
    value_each_item (m, value_dig(volume, "spec", "accessModes"))
        if (str_eq(value_str(m), mode))
            return true;
    return false;
}

bool volume_has_modes(const struct value *volume, const struct value *claim)
{
    value_each_item (m, value_dig(claim, "spec", "accessModes"))
        if (!has_mode(volume, value_str(m)))
            return false;
    return true;
}

size_t volume_count_modes(const struct value *volume)
{
    static const struct str modes[] = { STR("ReadWriteOnce"), STR("ReadOnlyMany"),
                                        STR("ReadWriteMany"), STR("ReadWriteOncePod") };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        n += has_mode(volume, modes[i]);
    return n;
}

/* ---- Sizes ---- */

static struct str capacity(const struct value *volume)
{
    struct str s = value_str(value_dig(volume, "spec", "capacity", "storage"));
    return s.n ? s : STR("0");
}

int volume_cmp_size(const struct value *a, const struct value *b)
{
    return quantity_cmp(capacity(a), capacity(b));
}

static struct str wish(const struct value *claim)
{
    struct str s = value_str(value_dig(claim, "spec", "resources", "requests", "storage"));
    return s.n ? s : STR("0");
}

int claim_cmp_size(const struct value *a, const struct value *b)
{
    return quantity_cmp(wish(a), wish(b));
}

bool volume_is_large_enough(const struct value *volume, const struct value *claim)
{
    return quantity_cmp(capacity(volume), wish(claim)) >= 0;
}

bool volume_has_attributes(const struct value *volume, const struct value *claim)
{
    return str_eq(spec_text(volume, "volumeAttributesClassName"),
                  spec_text(claim, "volumeAttributesClassName"));
}

/* ---- All together ---- */

bool volume_is_for(const struct value *volume, const struct value *claim)
{
    const struct value *ref = value_dig(volume, "spec", "claimRef");
    const struct value *meta = value_get(claim, STR("metadata"));
    struct str uid = value_text(ref, "uid");
    return ref && str_eq(value_text(ref, "name"), value_text(meta, "name")) &&
           str_eq(value_text(ref, "namespace"), value_text(meta, "namespace")) &&
           (!uid.n || str_eq(uid, value_text(meta, "uid")));
}

enum volume_fit volume_fit(const struct value *volume, const struct value *claim,
                           const struct labels_selector *selector)
{
    bool is_ours = volume_is_for(volume, claim);
    if ((value_dig(volume, "spec", "claimRef") && !is_ours) ||
        !volume_is_large_enough(volume, claim) ||
        !str_eq(volume_mode(volume), volume_mode(claim)) || !volume_has_attributes(volume, claim) ||
        value_dig(volume, "metadata", "deletionTimestamp"))
        return VOLUME_UNFIT;
    if (is_ours)
        return VOLUME_RESERVED;
    if (!str_eq(value_str(value_dig(volume, "status", "phase")), STR("Available")) ||
        (selector && !labels_match_value(selector, value_dig(volume, "metadata", "labels"))) ||
        !str_eq(volume_class(volume), claim_class(claim)))
        return VOLUME_UNFIT;
    return VOLUME_FITS;
}

/* ---- Reserving ---- */

struct value claim_reference(struct arena *a, const struct value *claim)
{
    static const struct str keys[] = { STR("namespace"), STR("name"), STR("uid"),
                                       STR("resourceVersion") };
    const struct value *meta = value_get(claim, STR("metadata"));
    struct value ref = value_object();
    value_put_new(a, &ref, STR("kind"), value_string(STR("PersistentVolumeClaim")));
    value_put_new(a, &ref, STR("apiVersion"), value_string(STR("v1")));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        value_put_new(a, &ref, keys[i], value_string(value_str(value_get(meta, keys[i]))));
    return ref;
}

bool volume_set_claim(struct arena *a, struct value *volume, const struct value *claim)
{
    static const struct str by_us = STR("pv.kubernetes.io/bound-by-controller");
    struct str uid = value_str(value_dig(volume, "spec", "claimRef", "uid"));
    bool is_ours = volume_is_for(volume, claim);
    if (is_ours && uid.n)
        return false;
    value_put(a, value_ensure(a, volume, STR("spec")), STR("claimRef"), claim_reference(a, claim));
    if (is_ours) /* a user has reserved it */
        return true;
    struct value *notes =
        value_ensure(a, value_ensure(a, volume, STR("metadata")), STR("annotations"));
    if (!value_get(notes, by_us))
        value_put(a, notes, by_us, value_string(STR("yes")));
    return true;
}
