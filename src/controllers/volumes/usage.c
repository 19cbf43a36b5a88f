#include "controllers/volumes/usage.h"

#include <sampan/meta.h>

#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/common/pod_claims.h"
#include "base/banned.h"

/* The kubelet is done with it, or it was deleted by force. */
static bool is_shut_down(const struct spn_value *pod)
{
    return meta_is_deleting(pod) &&
           field_int(spn_value_dig(pod, "metadata", "deletionGracePeriodSeconds"), -1) == 0;
}

static bool names_claim(struct spn_arena *a, const struct spn_value *pod,
                        const struct spn_value *claim, bool counts_own)
{
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    for (size_t i = 0; i < spn_value_count(volumes); i++) {
        const struct spn_value *v = spn_value_at(volumes, i);
        if (!spn_text_eq(pod_claim_name(a, pod, v), meta_name(claim)))
            continue;
        if (!spn_value_get(v, "ephemeral") || (counts_own && pod_owns_claim(pod, claim)))
            return true;
    }
    return false;
}

bool pod_holds_claim(struct spn_arena *a, const struct spn_value *pod,
                     const struct spn_value *claim)
{
    return spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n &&
           names_claim(a, pod, claim, !is_shut_down(pod));
}

bool pod_refers_to_claim(struct spn_arena *a, const struct spn_value *pod,
                         const struct spn_value *claim)
{
    return !pod_is_over(pod) && names_claim(a, pod, claim, true);
}

bool claim_is_unused(const struct spn_value *claim)
{
    const struct spn_value *has = spn_condition_get(claim, "Unused");
    return spn_text_eq(spn_value_text(spn_value_get(has, "status")), SPN_TEXT("True"));
}

bool claim_set_unused(struct spn_arena *a, struct spn_value *claim, bool is_unused)
{
    if (spn_condition_get(claim, "Unused") && claim_is_unused(claim) == is_unused)
        return false;
    return spn_condition_set(
        a, claim,
        &(struct spn_condition){ .type = "Unused",
                                 .status = is_unused ? "True" : "False",
                                 .reason = is_unused ? "NoPodsUsingPVC" : "PodUsingPVC",
                                 .message = is_unused
                                                ? "No pods are currently referencing this PVC"
                                                : "A pod is currently referencing this PVC" });
}
