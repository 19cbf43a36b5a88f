/* validate_batch.h - shared by the files with the rules of Jobs and CronJobs. */
#pragma once

#include "api/validate/kinds/validate_workload.h"

/* All of a Job's spec but its selector; also of a CronJob's template. */
void validate_job_spec(struct field_errors *e, const struct field_path *path,
                       const struct value *spec, const struct value *old_spec);
void validate_warn_job_spec(struct validate_warnings *w, const struct field_path *path,
                            const struct value *spec);
void validate_job_status(struct field_errors *e, const struct value *job,
                         const struct value *old_job);

/* Lists of indexes, "1,3-5,7". False with the words why. */
bool validate_job_indexes_check(struct arena *a, struct str text, int64_t completions,
                                int64_t *ret_total, struct str *ret_why);
/* The first index that two such lists share, or -1. Parts that are no intervals count for nothing.
 */
int64_t validate_job_indexes_overlap(struct str completed, struct str failed, int64_t completions);
bool validate_job_has_condition(const struct value *job, struct str type, struct str status);
