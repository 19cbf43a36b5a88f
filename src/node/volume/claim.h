/* claim.h - volumes that a pod has by a claim: host paths and local disks of this node. */
#pragma once

#include "node/volume/payload.h"

/* Finds the volume of a claim and makes it. `used_as_mount`, `used_as_device`: what containers want
 * of it. The message of an error is the whole that its event says. */
int claim_make(struct arena *a, const struct payload_case *c, const struct value *volume,
               bool used_as_mount, bool used_as_device, struct pod_volume *ret, struct err *err);
