/* bootstrap_apiservice.h - the APIServices of what is built in: made at a start where they are
 * missing, and removed where their version is not served any more. */
#pragma once

#include "server/core/api.h"

int bootstrap_apiservice(struct api *api, struct err *err);

/* An APIService of something that is served here, as the server makes it; in the arena. */
struct value bootstrap_apiservice_of(struct arena *a, struct str group, struct str version,
                                     int64_t group_priority, int64_t version_priority,
                                     struct str care);
