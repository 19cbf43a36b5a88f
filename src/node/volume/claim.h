/* claim.h - volumes that a pod has by a claim: host paths and local disks of this node. */
#pragma once

#include "node/volume/payload.h"

/* Finds the volume of a claim and makes it. `used_as_mount`, `used_as_device`: what containers want
 * of it. `ret_volume_name` is the PersistentVolume's, by which events name it; empty as long as it
 * is not known, and the message then is the one after "Unable to attach or mount volumes: ". */
int claim_make(struct arena *a, const struct payload_case *c, const struct value *volume,
               bool used_as_mount, bool used_as_device, struct pod_volume *ret,
               struct str *ret_volume_name, struct err *err);
