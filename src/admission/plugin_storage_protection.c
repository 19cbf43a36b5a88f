/* StorageObjectInUseProtection: what is in use is not deleted. */
#include <assert.h>

#include "base/idiom.h"
#include "admission/plugins.h"
#include "base/banned.h"

static void protect(struct arena *a, struct value *obj, struct str finalizer)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    struct value *finalizers = value_edit(a, meta, STR("finalizers"));
    if (!value_is(finalizers, VALUE_ARRAY))
        finalizers = value_set(a, meta, STR("finalizers"), value_array());
    value_each_item (it, finalizers)
        if (str_eq(value_str(it), finalizer))
            return;
    value_put_item(a, finalizers, value_string(finalizer));
}

static const struct admission_target targets[] = {
    { STR(""), STR("persistentvolumes"), ADMISSION_CREATE },
    { STR(""), STR("persistentvolumeclaims"), ADMISSION_CREATE },
    { STR("storage.k8s.io"), STR("volumeattributesclasses"), ADMISSION_CREATE },
    { .operations = 0 },
};
static const struct str finalizers[] = {
    STR("kubernetes.io/pv-protection"),
    STR("kubernetes.io/pvc-protection"),
    STR("kubernetes.io/vac-protection"),
};
static_assert(ARRAY_LEN(finalizers) + 1 == ARRAY_LEN(targets), "one for each");

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    (void)err;
    protect(req->arena, obj, finalizers[req->target - targets]);
    return 0;
}

const struct admission_plugin plugin_storage_protection = {
    .name = "StorageObjectInUseProtection",
    .targets = targets,
    .mutate = mutate,
};
