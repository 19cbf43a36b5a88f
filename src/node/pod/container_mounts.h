/* container_mounts.h - what of the node a container sees: volumes, devices, its hosts file and the
 * file for its last words. */
#pragma once

#include "node/pod/pod_env.h"

/* CRI's Mount and Device lists. Makes what has to be there. */
int container_mounts(const struct pod_place *p, const struct container_case *c, struct pod_env *env,
                     struct arena *a, struct value *ret, struct err *err);
int container_devices(const struct pod_place *p, const struct container_case *c, struct arena *a,
                      struct value *ret, struct err *err);
