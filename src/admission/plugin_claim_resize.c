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

/* The annotation is older than the field, and comes first. */
static struct str class_of(const struct value *claim)
{
    const struct value *legacy =
        value_get(value_dig(claim, "metadata", "annotations"), STR(KEY_BETA_STORAGE_CLASS));
    return value_str(legacy ? legacy : value_dig(claim, "spec", "storageClassName"));
}

/* 1: the class of the claim says so; 0: nobody does. */
static int may_grow(struct admission_request *req, const struct value *claim, struct err *err)
{
    struct str name = class_of(claim);
    struct value class;
    if (!name.n || !str_eq(name, class_of(req->old_obj)))
        return 0;
    int r = admission_read(req, STR("storage.k8s.io"), STR("storageclasses"), STR(""), name, &class,
                           err);
    return r == 1 ? value_is_true(value_get(&class, STR("allowVolumeExpansion"))) : r;
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    if (quantity_cmp(storage_request(obj), storage_request(req->old_obj)) <= 0)
        return 0;
    if (!str_eq(value_str(value_dig(req->old_obj, "status", "phase")), STR("Bound")))
        return admission_forbid(req, obj,
                                STR("Only bound persistent volume claims can be expanded"), err);
    int r = may_grow(req, obj, err);
    if (r != 0)
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
