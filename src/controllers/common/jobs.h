/* jobs.h - has a Job ended, and how. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* The condition of that type, if it is true; else NULL. */
const struct spn_value *job_true_condition(const struct spn_value *job, const char *type);
/* Complete or Failed, whichever is true; NULL: it has not ended. */
const struct spn_value *job_end_condition(const struct spn_value *job);

static inline bool job_is_finished(const struct spn_value *job)
{
    return job_end_condition(job) != NULL;
}
