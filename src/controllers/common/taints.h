/* taints.h - what keeps pods off nodes, and which pods put up with it. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

#define TAINT_NOT_READY   "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE "node.kubernetes.io/unreachable"

bool taint_is(const struct spn_value *taint, struct spn_text key, struct spn_text effect);
/* NULL: the list has none of that key and effect. */
const struct spn_value *taint_find(const struct spn_value *list, const char *key,
                                   const char *effect);
/* The first that allows pods beside the taint; NULL: none does. */
const struct spn_value *taint_toleration(const struct spn_value *tolerations,
                                         const struct spn_value *taint);

/* How many seconds a pod stays beside taints that drive pods away (NoExecute): the shortest time of
 * the tolerations that it needs, or one of these. */
enum { STAYS_FOREVER = -1, STAYS_NOT = -2 };
int64_t tolerations_seconds(const struct spn_value *tolerations, const struct spn_value *taints);
