/* pod_claims.h - which claims a pod uses: those that it names, and those that are made for it. */
#pragma once

#include <sampan/informer.h>

/* False: the pod uses none. Quick: nothing is read. */
bool pod_may_use_claims(const struct spn_object *pod);
/* The name of the claim of one of a pod's volumes, in the arena; empty: it has none. */
struct spn_text pod_claim_name(struct spn_arena *a, const struct spn_value *pod,
                               const struct spn_value *volume);
/* All of a pod, in the arena; `pod` is NULL if it uses none. */
struct pod_claims {
    const struct spn_value *pod;
    struct spn_text *names;
    size_t n;
};
struct pod_claims pod_claims_of(struct spn_arena *a, const struct spn_object *pod);
/* Whether the claim was made for this pod. */
bool pod_owns_claim(const struct spn_value *pod, const struct spn_value *claim);
/* It has ended, or will not start any more. */
bool pod_is_over(const struct spn_value *pod);

/* Before the informer of pods starts; more than once will do. */
void pods_by_claim_index(struct spn_cache *pods);
/* Those that use "NS/NAME". The caller gives the references back (spn_objects_done). */
void pods_by_claim(struct spn_cache *pods, struct spn_text claim_key, struct spn_objects *ret);
