/* plan.h - when a CronJob is due, what its Job looks like, and which Jobs it keeps. Rules only: no
 * I/O, no clock. */
#pragma once

#include "api/go/cron_next.h"
#include <sampan/value.h>

#define CRONJOB_SCHEDULED_AT "batch.kubernetes.io/cronjob-scheduled-timestamp"

struct cronjob_schedule {
    struct cron cron;
    const struct zone_rules *zone; /* NULL: UTC */
};

/* What is due now. */
struct cronjob_due {
    bool is_due;
    int64_t at_ns;     /* then: since when; only the last of several */
    int64_t from_ns;   /* the next time is the first after this */
    bool many_missed;  /* more than a hundred */
    bool is_senseless; /* it is never due */
};

/* With `has_deadline` what is older than the CronJob's deadline does not count. */
struct cronjob_due cronjob_due(const struct spn_value *cronjob, const struct cronjob_schedule *s,
                               int64_t now_ns, bool has_deadline);
/* How long until it is to be looked at again; less than 0: it should have been. */
int64_t cronjob_wait_ns(const struct spn_value *cronjob, const struct cronjob_schedule *s,
                        int64_t now_ns);
/* Whether its deadline for what was due then is over. */
bool cronjob_is_late(const struct spn_value *cronjob, int64_t due_ns, int64_t now_ns);

struct spn_text cronjob_job_name(struct spn_arena *a, const struct spn_value *cronjob,
                                 int64_t due_ns);
/* The Job for what is due then. `zone` is spec.timeZone. */
struct spn_value *cronjob_job(struct spn_arena *a, const struct spn_value *cronjob, int64_t due_ns,
                              const struct zone_rules *zone);

/* status.active */
bool cronjob_has_active(const struct spn_value *cronjob, struct spn_text uid);
bool cronjob_has_active_name(const struct spn_value *cronjob, struct spn_text name);
void cronjob_add_active(struct spn_arena *a, struct spn_value *cronjob,
                        const struct spn_value *job);
/* True: it was there. */
bool cronjob_remove_active(struct spn_arena *a, struct spn_value *cronjob, struct spn_text uid);
/* A Job has succeeded: notes when, if it was the last one. True: it was. */
bool cronjob_note_success(struct spn_arena *a, struct spn_value *cronjob,
                          const struct spn_value *job);

/* Those of `jobs` that are too many for the CronJob's limit of that end, "Complete" or "Failed";
 * the oldest come first. `ret` has room for all. Returns how many. */
size_t cronjob_surplus(const struct spn_value *cronjob, struct spn_value *const *jobs, size_t n,
                       const char *end, struct spn_value **ret);
