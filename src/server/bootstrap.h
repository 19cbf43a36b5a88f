/* bootstrap.h - the objects that are there from the first moment: the four namespaces of every
 * cluster and the Service under which pods find the API. */
#pragma once

#include "server/core/api.h"

/* Creates what is missing. Blocks. */
int bootstrap(struct api *api, struct err *err);
