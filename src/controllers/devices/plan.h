/* plan.h - claims for devices (ResourceClaims) that pods use: which they are, what is made of a
 * template, and who still has a right to one. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

#define DEVICE_FINALIZER "resource.kubernetes.io/delete-protection"
#define DEVICE_NOTE      "resource.kubernetes.io/pod-claim-name"

enum device_claim {
    DEVICE_NAMED,  /* the pod names it */
    DEVICE_MADE,   /* one was made for the pod */
    DEVICE_ABSENT, /* one is to be made of a template */
    DEVICE_NOT_NEEDED,
};

/* One of spec.resourceClaims. `*ret_name` is set of the first two. */
enum device_claim device_claim_of(const struct spn_value *pod, const struct spn_value *pod_claim,
                                  struct spn_text *ret_name);
/* The claim that a pod gets; the server ends its name. */
struct spn_value *device_claim_make(struct spn_arena *a, const struct spn_value *pod,
                                    struct spn_text name, const struct spn_value *template);
/* status.resourceClaimStatuses with one more, or another, in the order of names. */
struct spn_value *device_statuses(struct spn_arena *a, const struct spn_value *statuses,
                                  struct spn_text name, struct spn_text claim);

/* The pod does not need its claims any more. */
bool device_pod_is_done(const struct spn_value *pod);
/* A claim that is allocated, has room for one more, and does not know the pod. */
bool device_should_reserve(const struct spn_value *claim, const struct spn_value *pod);
void device_reserve(struct spn_arena *a, struct spn_value *claim, const struct spn_value *pod);
/* Whether an entry of status.reservedFor is a pod. Others are left alone. */
bool device_is_for_pod(const struct spn_value *entry);
