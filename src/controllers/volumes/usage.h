/* usage.h - whether a pod uses a claim, and since when none does. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* It is on a node and may have the claim's volume there: the claim must not go. */
bool pod_holds_claim(struct spn_arena *a, const struct spn_value *pod,
                     const struct spn_value *claim);
/* It names the claim and is not over. */
bool pod_refers_to_claim(struct spn_arena *a, const struct spn_value *pod,
                         const struct spn_value *claim);
/* Whether the condition Unused is true. */
bool claim_is_unused(const struct spn_value *claim);
/* Sets the condition Unused. True: it has changed. */
bool claim_set_unused(struct spn_arena *a, struct spn_value *claim, bool is_unused);
