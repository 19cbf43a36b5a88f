/* user_namespace.h - which ids of the node stand for those of a pod that has users of its own.
 *
 * Each such pod has a range of 65536 ids that no other pod has. It is kept in a file of the pod's
 * folder, so that it stays the same over restarts of the agent. */
#pragma once

#include "node/pod/pod_config.h"

/* CRI's UserNamespace: of the node, unless the pod says otherwise. ERR_INVALID: the runtime cannot
 * do it. */
int user_namespace(const struct pod_place *p, struct arena *a, struct value *ret, struct err *err);
