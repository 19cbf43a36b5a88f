/* LimitPodHardAntiAffinityTopology: a pod can keep others from its node, but not from more. */
#include "admission/plugins.h"
#include "api/errors.h"
#include "api/keys.h"
#include "base/banned.h"

static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    value_each_item (it, value_dig(pod, "spec", "affinity", "podAntiAffinity",
                                   "requiredDuringSchedulingIgnoredDuringExecution")) {
        struct str key = value_text(it, "topologyKey");
        if (!str_eq(key, STR(KEY_HOSTNAME)))
            return error_forbidden(
                err, req->resource, value_str(value_dig(pod, "metadata", "name")),
                arena_printf(
                    req->arena,
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey " STR_FMT
                    " but only key " KEY_HOSTNAME " is allowed",
                    STR_ARG(key)));
    }
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_anti_affinity = {
    .name = "LimitPodHardAntiAffinityTopology",
    .is_off = true,
    .targets = targets,
    .validate = validate,
};
