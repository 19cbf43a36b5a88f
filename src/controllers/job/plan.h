/* plan.h - what a Job's pods mean for it: how many count, whether it has ended and why, and how
 * many pods it should have. Rules only: no I/O. */
#pragma once

#include "controllers/common/jobs.h"
#include "controllers/job/indexes.h"
#include "controllers/job/policy.h"
#include <sampan/value.h>

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX     "batch.kubernetes.io/job-completion-index"

enum { JOB_NO_INDEX = -1, JOB_MAX_UNCOUNTED = 500, JOB_BURST = 500 };

struct job_pod {
    struct spn_value *pod;
    int64_t index;
    bool is_tracked; /* it has our finalizer: it may have to be counted yet */
    bool is_active, is_succeeded;
    bool is_failed; /* or as good as */
};

/* How it ends. */
struct job_end {
    const char *type; /* "SuccessCriteriaMet", "FailureTarget", "Failed"; NULL: it does not */
    struct spn_text reason, message;
};

struct job_view {
    struct spn_arena *a;
    struct spn_value *job;
    int64_t now_ns;
    struct job_pod *pods;
    size_t n;
    /* What it says. */
    int64_t completions; /* -1: it has no number */
    int64_t parallelism, limit, limit_per_index;
    bool is_indexed, is_suspended, has_limit_per_index, replaces_only_failed;
    const struct spn_value *failure_policy;
    /* What is. */
    int64_t n_active, n_ready, n_terminating, n_succeeded, n_failed;
    struct spans indexes_before, indexes, failed_indexes;
    struct job_backoff backoff;
    struct job_end end;
};

bool pod_is_tracked(const struct spn_value *pod);
int64_t pod_index(const struct spn_value *pod);

/* Reads the Job and its pods; `backoff` is what was known before. */
void job_look(struct job_view *v, struct spn_value *const *pods, size_t n,
              struct job_backoff backoff);
/* Decides whether it ends (v->end); the start time must be set. */
void job_judge(struct job_view *v);
/* In how many nanoseconds its deadline comes; -1: it has none that runs. */
int64_t job_deadline_ns(const struct job_view *v);

/* Active pods that are too many: all of them, in the order in which they go. */
size_t job_choose_to_delete(const struct job_view *v, size_t at_least, struct spn_value **ret);
/* How many pods should be there. */
int64_t job_wanted(const struct job_view *v);
/* Which indexes get pods now, at most `max`; none may: `*ret_wait_ns` is how long they wait. */
size_t job_next_indexes(const struct job_view *v, int64_t *ret, size_t max, int64_t *ret_wait_ns);
/* The pod of an index that failed and is kept until its successor knows how often; NULL: none. */
const struct job_pod *job_kept_pod(const struct job_view *v, int64_t index);
/* A new pod; index JOB_NO_INDEX: of a Job that has none. */
struct spn_value *job_pod_new(const struct job_view *v, int64_t index);

/* Sets a condition of the tree; one that is false and was not there is not added. True: it has
 * changed. */
bool job_set_condition(const struct job_view *v, const char *type, bool is_true,
                       struct spn_text reason, struct spn_text message);
/* status.KEY; 0 is not written. */
void job_set_count(const struct job_view *v, const char *key, int64_t n);
