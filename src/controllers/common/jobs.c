#include "controllers/common/jobs.h"

#include <sampan/meta.h>

#include "base/banned.h"

const struct spn_value *job_true_condition(const struct spn_value *job, const char *type)
{
    const struct spn_value *cond = spn_condition_get(job, type);
    const struct spn_text status = spn_value_text(spn_value_get(cond, "status"));
    return spn_text_eq(status, SPN_TEXT("True")) ? cond : NULL;
}

const struct spn_value *job_end_condition(const struct spn_value *job)
{
    const struct spn_value *complete = job_true_condition(job, "Complete");
    return complete ? complete : job_true_condition(job, "Failed");
}
