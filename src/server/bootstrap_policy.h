/* bootstrap_policy.h - the roles and bindings that every cluster has (bootstrap_policy.yaml). */
#pragma once

#include "server/core/api.h"

/* Makes those that are missing, and adds to the others what is missing in them, unless they are
 * kept as they are by their annotation. Roles are aggregated from then on, if that is wanted.
 * Before the guard reads them. */
int bootstrap_policy(struct api *api, bool aggregates, struct err *err);
