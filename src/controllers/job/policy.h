/* policy.h - what a Job says about failures and successes of its pods: podFailurePolicy,
 * successPolicy, and how long it waits after a failure. Rules only: no I/O. */
#pragma once

#include "controllers/job/indexes.h"
#include <sampan/value.h>

enum failure_action {
    FAILURE_NO_RULE,
    FAILURE_IGNORE,
    FAILURE_FAIL_INDEX,
    FAILURE_COUNT,
    FAILURE_FAIL_JOB
};

struct failure_verdict {
    enum failure_action action;
    bool counts;             /* as a failure of the Job */
    struct spn_text message; /* why the Job fails; in the arena; empty: it does not */
};
/* By the first rule that the pod meets. `policy` may be NULL. */
struct failure_verdict failure_match(struct spn_arena *a, const struct spn_value *policy,
                                     const struct spn_value *pod);

/* "Matched rules at index 0"; empty: none is met. */
struct spn_text success_match(struct spn_arena *a, const struct spn_value *policy,
                              int64_t completions, struct spans succeeded);

/* When a pod ended, as far as it says. */
int64_t pod_finished_ns(const struct spn_value *pod);

/* How many pods have failed since one succeeded. */
struct job_backoff {
    int64_t failures;
    int64_t last_ns; /* when the last one did */
};
/* With pods that have ended since. They are sorted. */
struct job_backoff backoff_next(struct job_backoff old, const struct spn_value **succeeded,
                                size_t n_succeeded, const struct spn_value **failed,
                                size_t n_failed);
/* How long no new pod is made; 0: one may be. */
int64_t backoff_remaining_ns(struct job_backoff b, int64_t now_ns);
