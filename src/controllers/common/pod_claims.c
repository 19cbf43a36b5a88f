#include "controllers/common/pod_claims.h"

#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "base/banned.h"

#define BY_CLAIM_INDEX "pod-pvc-index"

/* Rare keys stand in cached objects as they are; a test looks after that. */
bool pod_may_use_claims(const struct spn_object *pod)
{
    return spn_object_has_text(pod, SPN_TEXT("claimName")) ||
           spn_object_has_text(pod, SPN_TEXT("volumeClaimTemplate"));
}

struct spn_text pod_claim_name(struct spn_arena *a, const struct spn_value *pod,
                               const struct spn_value *volume)
{
    if (spn_value_get(volume, "ephemeral"))
        return spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(meta_name(pod)),
                                SPN_ARG(spn_value_text(spn_value_get(volume, "name"))));
    return spn_value_text(spn_value_dig(volume, "persistentVolumeClaim", "claimName"));
}

bool pod_owns_claim(const struct spn_value *pod, const struct spn_value *claim)
{
    const struct spn_value *refs = spn_value_dig(claim, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if (spn_value_is_true(spn_value_get(ref, "controller")))
            return spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), meta_uid(pod)) &&
                   spn_text_eq(meta_text(claim, "namespace"), meta_text(pod, "namespace"));
    }
    return false;
}

struct pod_claims pod_claims_of(struct spn_arena *a, const struct spn_object *o)
{
    struct pod_claims all = { 0 };
    if (!pod_may_use_claims(o))
        return all;
    const struct spn_value *pod = spn_object_value(o, a);
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    const size_t n = spn_value_count(volumes);
    all.names = spn_arena_alloc(a, (n + 1) * sizeof(*all.names));
    for (size_t i = 0; i < n; i++) {
        struct spn_text name = pod_claim_name(a, pod, spn_value_at(volumes, i));
        if (name.n)
            all.names[all.n++] = name;
    }
    if (all.n)
        all.pod = pod;
    return all;
}

static bool none_runs(const struct spn_value *pod, const char *key)
{
    const struct spn_value *all = spn_value_dig(pod, "status", key);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *state = spn_value_get(spn_value_at(all, i), "state");
        if (!spn_value_get(state, "terminated") && !spn_value_get(state, "waiting"))
            return false;
    }
    return true;
}

bool pod_is_over(const struct spn_value *pod)
{
    return pod_is_terminal(pod) ||
           (meta_is_deleting(pod) && none_runs(pod, "initContainerStatuses") &&
            none_runs(pod, "containerStatuses") && none_runs(pod, "ephemeralContainerStatuses"));
}

static void index_claims(void *arg, const struct spn_object *o, struct spn_arena *a,
                         struct spn_index_values *out)
{
    (void)arg;
    const struct pod_claims all = pod_claims_of(a, o);
    for (size_t i = 0; i < all.n; i++)
        spn_index_put(out,
                      spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(spn_object_namespace(o)),
                                       SPN_ARG(all.names[i])));
}

void pods_by_claim_index(struct spn_cache *pods)
{
    (void)spn_cache_add_index(pods, BY_CLAIM_INDEX, index_claims, NULL, NULL);
}

void pods_by_claim(struct spn_cache *pods, struct spn_text claim_key, struct spn_objects *ret)
{
    *ret = (struct spn_objects){ 0 };
    (void)spn_cache_by_index(pods, BY_CLAIM_INDEX, claim_key, ret, NULL);
}
