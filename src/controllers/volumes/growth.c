#include "controllers/volumes/growth.h"

#include "api/quantity.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

static struct str size_of(const struct spn_value *v)
{
    struct str size = str_in(spn_value_text(spn_value_get(v, "storage")));
    return size.n ? size : STR("0");
}

static struct str wish_of(const struct spn_value *claim)
{
    return size_of(spn_value_dig(claim, "spec", "resources", "requests"));
}

static struct str has_of(const struct spn_value *claim)
{
    return size_of(spn_value_dig(claim, "status", "capacity"));
}

bool claim_has_grown(const struct spn_value *old_claim, const struct spn_value *claim)
{
    struct spn_text phase = spn_value_text(spn_value_dig(claim, "status", "phase"));
    return spn_text_eq(phase, SPN_TEXT("Bound")) &&
           (!old_claim || quantity_cmp(wish_of(claim), wish_of(old_claim)) > 0 ||
            quantity_cmp(has_of(claim), has_of(old_claim)) > 0);
}

bool claim_should_grow(const struct spn_value *claim, const struct spn_value *volume)
{
    struct spn_text uid = spn_value_text(spn_value_dig(volume, "spec", "claimRef", "uid"));
    return spn_text_eq(uid, meta_uid(claim)) && (quantity_cmp(wish_of(claim), has_of(claim)) > 0 ||
                                                 meta_annotation(volume, NOTE_BEFORE_RESIZE).p);
}

struct spn_text volume_old_plugin(const struct spn_value *volume)
{
    static const struct {
        const char *field;
        struct spn_text plugin;
    } old[] = {
        { "awsElasticBlockStore", SPN_TEXT("kubernetes.io/aws-ebs") },
        { "azureDisk", SPN_TEXT("kubernetes.io/azure-disk") },
        { "azureFile", SPN_TEXT("kubernetes.io/azure-file") },
        { "cinder", SPN_TEXT("kubernetes.io/cinder") },
        { "gcePersistentDisk", SPN_TEXT("kubernetes.io/gce-pd") },
        { "portworxVolume", SPN_TEXT("kubernetes.io/portworx-volume") },
        { "vsphereVolume", SPN_TEXT("kubernetes.io/vsphere-volume") },
    };
    for (size_t i = 0; i < ARRAY_LEN(old); i++)
        if (spn_value_dig(volume, "spec", old[i].field))
            return old[i].plugin;
    return SPN_TEXT("");
}
