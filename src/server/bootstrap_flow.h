/* bootstrap_flow.h - the priority levels and flow schemas that every cluster has
 * (bootstrap_flow.yaml). */
#pragma once

#include "server/core/api.h"

/* Makes those that are missing, sets the others back to what they should be, unless they are kept
 * as they are by their annotation, and says of each schema that its level is there. */
int bootstrap_flow(struct api *api, struct err *err);
/* The same of the mandatory ones alone; 1 if some were missing, which nobody else has heard of. On
 * a worker. */
int bootstrap_flow_mandatory(struct api *api, struct err *err);
