/* cron_next.h - when a schedule is next due. Rules only: no clock. */
#pragma once

#include "api/go/cron.h"
#include "api/go/zone_rules.h"

/* The first moment after `after_ns` (since 1970), as upstream's library finds it: what clocks skip
 * is skipped, and what they show twice is due twice. `zone` is that of the schedule; NULL: UTC.
 * False: it is not due within five years. */
bool cron_next(const struct cron *c, const struct zone_rules *zone, int64_t after_ns,
               int64_t *ret_ns);
