/* identity.h - what makes a pod of a StatefulSet the one it is: its name, labels and claims.
 *
 * Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

#define LABEL_REVISION "controller-revision-hash"

/* The number behind the last dash; -1: it has none. */
int64_t identity_ordinal(struct spn_text pod_name);
/* Whether a pod's name is that of the set with an ordinal. */
bool identity_is_member(const struct spn_value *set, const struct spn_value *pod);

/* The pod of that ordinal with a template and the name of its revision, not made yet. */
struct spn_value *identity_new_pod(struct spn_arena *a, const struct spn_value *set,
                                   const struct spn_value *template, struct spn_text revision,
                                   int64_t ordinal);

/* Whether name, label and volumes are as they should be; and making them so. */
bool identity_is_right(struct spn_arena *a, const struct spn_value *set,
                       const struct spn_value *pod);
void identity_repair(struct spn_arena *a, const struct spn_value *set, struct spn_value *pod);

/* ---- Claims ---- */

size_t identity_n_claims(const struct spn_value *set);
/* "data-db-0" */
struct spn_text identity_claim_name(struct spn_arena *a, const struct spn_value *set, size_t i,
                                    int64_t ordinal);
struct spn_value *identity_new_claim(struct spn_arena *a, const struct spn_value *set, size_t i,
                                     int64_t ordinal);

/* Who owns a claim decides when it goes: with the set, with a pod that is scaled away, or never.
 * `pod` has name and, if it is there, uid. */
bool identity_owns_claim_rightly(const struct spn_value *set, const struct spn_value *pod,
                                 const struct spn_value *claim);
/* Somebody else controls it, so that the set leaves it alone. */
bool identity_claim_is_foreign(const struct spn_value *set, const struct spn_value *pod,
                               const struct spn_value *claim);
void identity_own_claim(struct spn_arena *a, const struct spn_value *set,
                        const struct spn_value *pod, struct spn_value *claim);
/* It still belongs to a pod of the same name that is gone, and goes with it. */
bool identity_claim_is_stale(const struct spn_value *set, const struct spn_value *pod,
                             const struct spn_value *claim);
