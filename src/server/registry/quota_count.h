/* quota_count.h - what the objects of a namespace use of its quotas, counted anew: what upstream's
 * resourcequota controller does.
 *
 * All is counted as it is at one revision, and written on condition that the quota has not been
 * charged since. So a count never forgets an object that was let in meanwhile. On a worker. */
#pragma once

#include "server/core/api.h"

/* Brings the status of all quotas of a namespace up to date: 0; 1 if somebody was faster with one
 * of them; or an error. `*ret_any`: there are quotas. */
int quota_count(struct api *api, struct str ns, bool *ret_any, struct err *err);
