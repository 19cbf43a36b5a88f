/* subsets.h - the subsets of an Endpoints object: which addresses have which ports.
 *
 * Ports with the same addresses stand together, so that two lists that say the same are equal.
 * Rules only. */
#pragma once

#include <sampan/value.h>

/* As they should be, in their one form. */
struct spn_value *subsets_of_pods(struct spn_arena *a, const struct spn_value *service,
                                  const struct spn_value *const *pods, size_t n_pods);
/* Any subsets in their one form. */
struct spn_value *subsets_repacked(struct spn_arena *a, const struct spn_value *subsets);

/* The Endpoints of a service; `now` is what is there, NULL: nothing. NULL: it is as it should be.
 */
struct spn_value *subsets_wanted(struct spn_arena *a, const struct spn_value *service,
                                 const struct spn_value *now, struct spn_value *subsets,
                                 struct spn_text trigger_time);
