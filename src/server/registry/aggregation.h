/* aggregation.h - cluster roles that gather the rules of others: what upstream's
 * clusterrole-aggregation controller does, done before the write that caused it is answered. */
#pragma once

#include "server/http/call.h"

/* After a ClusterRole was written or deleted: brings every role with an aggregationRule up to date.
 * Others are passed over. What goes wrong is logged; the next write tries again. */
void aggregation_follow(struct call *c);
