/* quota_keeper.h - the status of quotas is kept up to date: what upstream's resourcequota
 * controller does, where no controller manager runs.
 *
 * Namespaces that have quotas are counted anew when a quota has changed, when an object has gone or
 * uses less, from time to time, and when the server starts. What is written in between is charged
 * by whoever writes it, so a count that comes late keeps places taken for a moment longer, never
 * shorter. Any thread. */
#pragma once

#include "server/core/api.h"

struct quota_keeper;

/* Once there are loops. The namespaces that have quotas are counted soon. */
int quota_keeper_new(struct api *api, struct loop *loop, struct quota_keeper **ret,
                     struct err *err);
/* Neither loops nor workers run any more. NULL will do. */
struct quota_keeper *quota_keeper_free(struct quota_keeper *k);

/* api->on_quota_changed and api->on_less_used: see there. */
void quota_keeper_changed(struct api *api, struct str ns);
void quota_keeper_less_used(struct api *api, struct str ns);
