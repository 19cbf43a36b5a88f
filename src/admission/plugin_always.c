/* AlwaysAdmit and AlwaysDeny, and names that mean nothing here: PodGroupProtection is for a kind
 * that is off upstream as well, and nobody asks an ImagePolicyWebhook. */
#include "admission/plugins.h"
#include "base/banned.h"

#define DENIED STR("admission control is denying all modifications")

/* What the server makes of its own it needs to start. */
static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    return req->user ? admission_forbid(req, obj, DENIED, err) : 0;
}

static int refuse_to_start(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    (void)a, (void)tree, (void)ret;
    return err_set(err, ERR_INVALID,
                   "there is no such webhook here; a ValidatingWebhookConfiguration can refuse "
                   "images");
}

const struct admission_plugin plugin_always_admit = { .name = "AlwaysAdmit", .is_off = true };
const struct admission_plugin plugin_always_deny = {
    .name = "AlwaysDeny",
    .is_off = true,
    .mutate = mutate,
};
const struct admission_plugin plugin_image_policy = {
    .name = "ImagePolicyWebhook",
    .is_off = true,
    .configure = refuse_to_start,
};
const struct admission_plugin plugin_pod_group = { .name = "PodGroupProtection" };
