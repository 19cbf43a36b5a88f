/* node_match.h - whether a pod may be on a node: by its selector and affinity, and by taints.
 * The rules themselves are in select/node_match.h, which the scheduler uses, too.
 *
 * Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* spec.nodeSelector and the required node affinity of a pod's spec. */
bool node_matches(struct spn_arena *a, const struct spn_value *node,
                  const struct spn_value *pod_spec);

/* A taint that keeps pods from starting there, or with `is_running` that drives them away, and that
 * none of these tolerations allows. */
bool node_repels(const struct spn_value *node, const struct spn_value *tolerations,
                 bool is_running);
