/* census.h - counts the objects of every resource from time to time, so that a list can be known to
 * be long before it is made (flow/flow_width.h). Keys only; between two counts the last one
 * holds. */
#pragma once

#include "server/core/api.h"

struct census;

struct census *census_new(struct api *api, struct loop *loop);
/* The loop does not run any more. */
struct census *census_free(struct census *c);

/* Counts now. On a worker. */
void census_take(struct api *api);
