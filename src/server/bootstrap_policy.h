/* bootstrap_policy.h - the roles and bindings that every cluster has (bootstrap_policy.yaml). */
#pragma once

#include "server/core/api.h"

/* Makes those that are missing, and adds to the others what is missing in them, unless they are
 * kept as they are by their annotation. */
int bootstrap_policy(struct api *api, struct err *err);
