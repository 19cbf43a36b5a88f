/* PersistentVolumeClaimResize: only what was made on demand grows, and only where its class says
 * so. */
#include "api/keys.h"
#include "api/quantity.h"
#include "admission/plugins.h"
#include "base/banned.h"

static struct str storage_request(const struct value *claim)
{
    struct str size = value_str(value_dig(claim, "spec", "resources", "requests", "storage"));
    return size.n ? size : STR("0");
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct value class;
    if (quantity_cmp(storage_request(obj), storage_request(req->old_obj)) <= 0)
        return 0;
    if (!str_eq(value_str(value_dig(req->old_obj, "status", "phase")), STR("Bound")))
        return admission_forbid(req, obj,
                                STR("Only bound persistent volume claims can be expanded"), err);
    struct str name = value_str(value_dig(obj, "spec", "storageClassName"));
    struct str legacy = value_str(
        value_get(value_dig(obj, "metadata", "annotations"), STR(KEY_BETA_STORAGE_CLASS)));
    if (legacy.n)
        name = legacy;
    int r = name.n ? admission_read(req, STR("storage.k8s.io"), STR("storageclasses"), STR(""),
                                    name, &class, err)
                   : 0;
    const struct value *allows = r == 1 ? value_get(&class, STR("allowVolumeExpansion")) : NULL;
    if (r < 0 || (value_is(allows, VALUE_BOOL) && allows->b))
        return r < 0 ? r : 0;
    return admission_forbid(
        req, obj,
        STR("only dynamically provisioned pvc can be resized and the storageclass that "
            "provisions the pvc must support resize"),
        err);
}

static const struct admission_target targets[] = {
    { STR(""), STR("persistentvolumeclaims"), ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_claim_resize = {
    .name = "PersistentVolumeClaimResize",
    .targets = targets,
    .validate = validate,
};
