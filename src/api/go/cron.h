/* cron.h - schedules of five fields as CronJobs have them: "30 4 1,15 * 5", "@daily", "@every 1h",
 * with an optional "TZ=Europe/Berlin " in front. Rules only: no clock; when a schedule is next due
 * is said by api/go/cron_next.h. */
#pragma once

#include "base/err.h"

/* Sets of values: bit N is set where N is meant. */
struct cron {
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday; /* given as * or ?, so that the other one decides */
    bool is_every;             /* "@every"; then only every_nanos is set */
    int64_t every_nanos;
    struct str zone; /* borrowed; empty: none was given */
};

/* ERR_BAD_REQUEST in the words of the parser that upstream uses. */
int cron_parse(struct str text, struct cron *ret, struct err *err);
