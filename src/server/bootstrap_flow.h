/* bootstrap_flow.h - the priority levels and flow schemas that every cluster has
 * (bootstrap_flow.yaml). */
#pragma once

#include "server/core/api.h"

/* Makes those that are missing, sets the others back to what they should be, unless they are kept
 * as they are by their annotation, and says of each schema that its level is there. */
int bootstrap_flow(struct api *api, struct err *err);
