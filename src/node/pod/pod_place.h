/* pod_place.h - addresses and volumes of a pod. Rules only: no I/O. */
#pragma once

#include "node/pod/pod_config.h"

enum { POD_IPS_MAX = 8 };

/* Those of the node's own family first. Returns how many. */
size_t pod_ips_sorted(const struct pod_place *p, struct str ret[POD_IPS_MAX]);
const struct pod_volume *pod_volume_find(const struct pod_place *p, struct str name);
