#include "controllers/job/plan.h"

#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "base/banned.h"

#define FAILURE_COUNT_KEY "batch.kubernetes.io/job-index-failure-count"
#define IGNORED_COUNT_KEY "batch.kubernetes.io/job-index-ignored-failure-count"

/* ---- Small questions ---- */

static const struct spn_value *spec_at(const struct spn_value *job, const char *key)
{
    return spn_value_dig(job, "spec", key);
}

static bool text_is(const struct spn_value *v, const char *is)
{
    return spn_text_eq(spn_value_text(v), spn_text_of(is));
}

bool pod_is_tracked(const struct spn_value *pod)
{
    return spn_finalizer_has(pod, JOB_FINALIZER);
}

/* A whole number in an annotation that is not negative. */
static bool read_annotation(const struct spn_value *pod, const char *key, int64_t *ret)
{
    struct spn_text t = meta_annotation(pod, key);
    return t.n && str_to_i64(str_in(t), ret) && *ret >= 0;
}

int64_t pod_index(const struct spn_value *pod)
{
    int64_t index;
    return read_annotation(pod, JOB_INDEX, &index) ? index : JOB_NO_INDEX;
}

static int64_t annotated_count(const struct spn_value *pod, const char *key)
{
    int64_t n;
    return read_annotation(pod, key, &n) && n <= INT32_MAX ? n : 0;
}

static bool is_valid_index(const struct job_view *v, int64_t index)
{
    return index != JOB_NO_INDEX && index < v->completions;
}

/* ---- Looking ---- */

static void read_spec(struct job_view *v)
{
    const struct spn_value *job = v->job;
    v->completions = field_int(spec_at(job, "completions"), -1);
    v->parallelism = field_int(spec_at(job, "parallelism"), 1);
    v->limit = field_int(spec_at(job, "backoffLimit"), 6);
    v->has_limit_per_index =
        spn_value_int(spec_at(job, "backoffLimitPerIndex"), &v->limit_per_index);
    v->is_indexed = text_is(spec_at(job, "completionMode"), "Indexed");
    v->is_suspended = spn_value_is_true(spec_at(job, "suspend"));
    v->replaces_only_failed = text_is(spec_at(job, "podReplacementPolicy"), "Failed");
    v->failure_policy = spec_at(job, "podFailurePolicy");
}

static struct job_pod read_pod(const struct job_view *v, struct spn_value *pod)
{
    const struct spn_value *phase = spn_value_dig(pod, "status", "phase");
    const bool is_succeeded = text_is(phase, "Succeeded");
    const bool is_lost = meta_is_deleting(pod) && !is_succeeded && !v->replaces_only_failed;
    return (struct job_pod){ .pod = pod,
                             .index = pod_index(pod),
                             .is_tracked = pod_is_tracked(pod),
                             .is_active = pod_is_active(pod),
                             .is_succeeded = is_succeeded,
                             .is_failed = text_is(phase, "Failed") || is_lost };
}

static bool has_text(const struct spn_value *list, struct spn_text t)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(list, i)), t))
            return true;
    return false;
}

static const struct spn_value *uncounted(const struct job_view *v, const char *which)
{
    return spn_value_dig(v->job, "status", "uncountedTerminatedPods", which);
}

/* Not counted so far, and it can be. */
static bool is_new(const struct job_view *v, const struct job_pod *p, const char *which)
{
    return p->is_tracked && !has_text(uncounted(v, which), meta_uid(p->pod)) &&
           (!v->is_indexed || is_valid_index(v, p->index));
}

static bool counts_as_failure(const struct job_view *v, const struct spn_value *pod)
{
    return failure_match(v->a, v->failure_policy, pod).counts;
}

static void count_ended(struct job_view *v, struct job_backoff before)
{
    const struct spn_value **good = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*good));
    const struct spn_value **bad = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*bad));
    size_t n_good = 0, n_bad = 0;
    v->n_succeeded =
        status_int(v->job, "succeeded") + (int64_t)spn_value_count(uncounted(v, "succeeded"));
    v->n_failed = status_int(v->job, "failed") + (int64_t)spn_value_count(uncounted(v, "failed"));
    for (size_t i = 0; i < v->n; i++) {
        const struct job_pod *p = &v->pods[i];
        if (p->is_succeeded && is_new(v, p, "succeeded"))
            good[n_good++] = p->pod;
        if (p->is_failed && is_new(v, p, "failed")) {
            bad[n_bad++] = p->pod;
            v->n_failed += counts_as_failure(v, p->pod);
        }
    }
    v->n_succeeded += (int64_t)n_good;
    v->backoff = backoff_next(before, good, n_good, bad, n_bad);
}

static bool is_index_failed(const struct job_view *v, const struct job_pod *p)
{
    if (!p->is_failed)
        return false;
    const struct failure_verdict verdict = failure_match(v->a, v->failure_policy, p->pod);
    return verdict.action == FAILURE_FAIL_INDEX ||
           (verdict.counts && annotated_count(p->pod, FAILURE_COUNT_KEY) >= v->limit_per_index);
}

static void read_indexes(struct job_view *v)
{
    int64_t *good = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*good));
    int64_t *bad = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*bad));
    size_t n_good = 0, n_bad = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct job_pod *p = &v->pods[i];
        if (!p->is_tracked || !is_valid_index(v, p->index))
            continue;
        if (p->is_succeeded)
            good[n_good++] = p->index;
        if (v->has_limit_per_index && is_index_failed(v, p))
            bad[n_bad++] = p->index;
    }
    v->indexes_before = spans_parse(
        v->a, spn_value_text(spn_value_dig(v->job, "status", "completedIndexes")), v->completions);
    v->indexes = spans_with(v->a, v->indexes_before, good, n_good);
    v->failed_indexes = spans_with(
        v->a,
        spans_parse(v->a, spn_value_text(spn_value_dig(v->job, "status", "failedIndexes")),
                    v->completions),
        bad, n_bad);
    v->n_succeeded = spans_total(v->indexes);
}

static int by_index(const void *a, const void *b)
{
    const struct job_pod *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

void job_look(struct job_view *v, struct spn_value *const *pods, size_t n,
              struct job_backoff backoff)
{
    read_spec(v);
    v->n = n;
    v->pods = spn_arena_alloc(v->a, (n + 1) * sizeof(*v->pods));
    for (size_t i = 0; i < n; i++) {
        v->pods[i] = read_pod(v, pods[i]);
        v->n_active += v->pods[i].is_active;
        v->n_ready += v->pods[i].is_active && pod_is_ready(pods[i]);
        v->n_terminating += pod_is_terminating(pods[i]);
    }
    if (v->is_indexed && n > 1)
        qsort(v->pods, n, sizeof(*v->pods), by_index);
    count_ended(v, backoff);
    if (v->is_indexed)
        read_indexes(v);
}

/* ---- Judging ---- */

static struct job_end end_of(const char *type, const char *reason, struct spn_text message)
{
    return (struct job_end){ type, spn_text_of(reason), message };
}

static bool fails_by_policy(struct job_view *v)
{
    for (size_t i = 0; v->failure_policy && i < v->n; i++) {
        if (!v->pods[i].is_failed)
            continue;
        struct spn_text why = failure_match(v->a, v->failure_policy, v->pods[i].pod).message;
        if (!why.n)
            continue;
        v->end = end_of("FailureTarget", "PodFailurePolicy", why);
        return true;
    }
    return false;
}

static int64_t count_restarts(const struct spn_value *list)
{
    int64_t n = 0;
    for (size_t i = 0; i < spn_value_count(list); i++)
        n += field_int(spn_value_get(spn_value_at(list, i), "restartCount"), 0);
    return n;
}

/* Pods that start their containers again count every start. */
static bool has_restarted_too_often(const struct job_view *v)
{
    int64_t n = 0;
    if (!text_is(spn_value_dig(v->job, "spec", "template", "spec", "restartPolicy"), "OnFailure"))
        return false;
    for (size_t i = 0; i < v->n; i++) {
        const struct spn_value *status = spn_value_get(v->pods[i].pod, "status");
        if (text_is(spn_value_get(status, "phase"), "Running") ||
            text_is(spn_value_get(status, "phase"), "Pending"))
            n += count_restarts(spn_value_get(status, "initContainerStatuses")) +
                 count_restarts(spn_value_get(status, "containerStatuses"));
    }
    return v->limit == 0 ? n > 0 : n >= v->limit;
}

int64_t job_deadline_ns(const struct job_view *v)
{
    int64_t seconds, start;
    if (v->is_suspended || !spn_value_int(spec_at(v->job, "activeDeadlineSeconds"), &seconds) ||
        !time_read(spn_value_dig(v->job, "status", "startTime"), &start))
        return -1;
    const int64_t left = start + seconds * NS_PER_SEC - v->now_ns;
    return left > 0 ? left : 0;
}

static void judge_limits(struct job_view *v)
{
    if (v->n_failed > v->limit || has_restarted_too_often(v))
        v->end = end_of("FailureTarget", "BackoffLimitExceeded",
                        SPN_TEXT("Job has reached the specified backoff limit"));
    else if (job_deadline_ns(v) == 0)
        v->end = end_of("FailureTarget", "DeadlineExceeded",
                        SPN_TEXT("Job was active longer than specified deadline"));
}

static void judge_indexes(struct job_view *v)
{
    const int64_t n_failed = spans_total(v->failed_indexes);
    int64_t max;
    if (v->has_limit_per_index && n_failed > 0) {
        if (spn_value_int(spec_at(v->job, "maxFailedIndexes"), &max) && n_failed > max)
            v->end =
                end_of("FailureTarget", "MaxFailedIndexesExceeded",
                       SPN_TEXT("Job has exceeded the specified maximal number of failed indexes"));
        else if (n_failed + v->n_succeeded >= v->completions)
            v->end = end_of("FailureTarget", "FailedIndexes", SPN_TEXT("Job has failed indexes"));
    }
    if (v->end.type)
        return;
    struct spn_text why =
        success_match(v->a, spec_at(v->job, "successPolicy"), v->completions, v->indexes);
    if (why.n)
        v->end = end_of("SuccessCriteriaMet", "SuccessPolicy", why);
}

static bool was_judged(struct job_view *v)
{
    const struct spn_value *met = job_true_condition(v->job, "SuccessCriteriaMet");
    const struct spn_value *target = met ? met : job_true_condition(v->job, "FailureTarget");
    if (!target)
        return false;
    v->end = (struct job_end){ met ? "SuccessCriteriaMet" : "Failed",
                               spn_value_text(spn_value_get(target, "reason")),
                               spn_value_text(spn_value_get(target, "message")) };
    return true;
}

void job_judge(struct job_view *v)
{
    if (was_judged(v) || fails_by_policy(v))
        return;
    judge_limits(v);
    if (!v->end.type && v->is_indexed)
        judge_indexes(v);
}

/* ---- How many pods ---- */

int64_t job_wanted(const struct job_view *v)
{
    if (v->is_suspended)
        return 0;
    if (v->completions < 0)
        return v->n_succeeded > 0 ? v->n_active : v->parallelism;
    int64_t left = v->completions - v->n_succeeded;
    left = left < v->parallelism ? left : v->parallelism;
    return left > 0 ? left : 0;
}

/* Sorts; those that are missed least come first. */
static void sort_pods(const struct job_view *v, struct spn_value **pods, size_t n)
{
    struct pod_rank *ranks = spn_arena_alloc(v->a, (n + 1) * sizeof(*ranks));
    for (size_t i = 0; i < n; i++)
        ranks[i].pod = pods[i];
    pods_sort_for_deletion(ranks, n, v->now_ns);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v->n; k++)
            if (v->pods[k].pod == ranks[i].pod)
                pods[i] = v->pods[k].pod;
}

/* Of pods of one index, or without one that counts, one stays or none. */
static void part_same_index(const struct job_view *v, int64_t index, struct spn_value **same,
                            size_t n, struct spn_value **gone, size_t *n_gone,
                            struct spn_value **left, size_t *n_left)
{
    if (n == 0)
        return;
    if (is_valid_index(v, index)) {
        sort_pods(v, same, n);
        left[(*n_left)++] = same[--n];
    }
    for (size_t i = 0; i < n; i++)
        gone[(*n_gone)++] = same[i];
}

/* Pods are in the order of their indexes. */
static void part_by_index(const struct job_view *v, struct spn_value **gone, size_t *n_gone,
                          struct spn_value **left, size_t *n_left)
{
    struct spn_value **same = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*same));
    size_t n_same = 0;
    int64_t last = JOB_NO_INDEX;
    for (size_t i = 0; i < v->n; i++) {
        if (!v->pods[i].is_active)
            continue;
        if (v->pods[i].index != last) {
            part_same_index(v, last, same, n_same, gone, n_gone, left, n_left);
            n_same = 0;
        }
        last = v->pods[i].index;
        same[n_same++] = v->pods[i].pod;
    }
    part_same_index(v, last, same, n_same, gone, n_gone, left, n_left);
}

size_t job_choose_to_delete(const struct job_view *v, size_t at_least, struct spn_value **ret)
{
    struct spn_value **left = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*left));
    size_t n = 0, n_left = 0;
    if (v->is_indexed) {
        part_by_index(v, ret, &n, left, &n_left);
    } else {
        for (size_t i = 0; i < v->n; i++)
            if (v->pods[i].is_active)
                left[n_left++] = v->pods[i].pod;
    }
    if (n < at_least)
        sort_pods(v, left, n_left);
    for (size_t i = 0; n < at_least && i < n_left; i++)
        ret[n++] = left[i];
    return n;
}

/* ---- Which indexes ---- */

static bool has_active(const struct job_view *v, int64_t index)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->pods[i].is_active && v->pods[i].index == index)
            return true;
    return false;
}

static int64_t failures_of(const struct spn_value *pod)
{
    return annotated_count(pod, FAILURE_COUNT_KEY) + annotated_count(pod, IGNORED_COUNT_KEY);
}

const struct job_pod *job_kept_pod(const struct job_view *v, int64_t index)
{
    const struct job_pod *last = NULL;
    if (!v->has_limit_per_index || !is_valid_index(v, index) || spans_has(v->indexes, index) ||
        spans_has(v->failed_indexes, index) || has_active(v, index))
        return NULL;
    for (size_t i = 0; i < v->n; i++) {
        const struct job_pod *p = &v->pods[i];
        if (!p->is_tracked || !p->is_failed || p->index != index)
            continue;
        if (!last || (failures_of(last->pod) <= failures_of(p->pod) &&
                      pod_finished_ns(p->pod) >= pod_finished_ns(last->pod)))
            last = p;
    }
    return last;
}

static struct spans taken_indexes(const struct job_view *v)
{
    int64_t *taken = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*taken));
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++)
        if (v->pods[i].index != JOB_NO_INDEX &&
            (v->pods[i].is_active ||
             (v->replaces_only_failed && pod_is_terminating(v->pods[i].pod))))
            taken[n++] = v->pods[i].index;
    return spans_merge(v->a, spans_with(v->a, v->indexes, taken, n), v->failed_indexes);
}

size_t job_next_indexes(const struct job_view *v, int64_t *ret, size_t max, int64_t *ret_wait_ns)
{
    size_t n = spans_missing(taken_indexes(v), v->completions, ret, max), n_now = 0;
    int64_t least = 0;
    for (size_t i = 0; i < n; i++) {
        const struct job_pod *kept = job_kept_pod(v, ret[i]);
        const struct job_backoff b = { kept ? failures_of(kept->pod) + 1 : 0,
                                       kept ? pod_finished_ns(kept->pod) : 0 };
        const int64_t wait = backoff_remaining_ns(b, v->now_ns);
        if (wait == 0)
            ret[n_now++] = ret[i];
        else if (!least || wait < least)
            least = wait;
    }
    *ret_wait_ns = n_now ? 0 : least;
    return n_now;
}

/* ---- A new pod ---- */

static void add_index_variable(struct spn_arena *a, struct spn_value *container)
{
    struct spn_value *env = spn_value_edit(a, container, "env");
    for (size_t i = 0; i < spn_value_count(env); i++)
        if (text_is(spn_value_get(spn_value_at(env, i), "name"), "JOB_COMPLETION_INDEX"))
            return;
    if (spn_value_type(env) != SPN_ARRAY)
        env = spn_value_set(a, container, "env", spn_value_new(a, SPN_ARRAY));
    struct spn_value *var = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, var, "name", SPN_TEXT("JOB_COMPLETION_INDEX"));
    spn_value_set_text(a, spn_value_ensure(a, spn_value_ensure(a, var, "valueFrom"), "fieldRef"),
                       "fieldPath", SPN_TEXT("metadata.labels['" JOB_INDEX "']"));
    spn_value_push(a, env, var);
}

static void add_index_variables(struct spn_arena *a, struct spn_value *spec, const char *key)
{
    struct spn_value *all = spn_value_edit(a, spec, key);
    for (size_t i = 0; i < spn_value_count(all); i++)
        add_index_variable(a, spn_value_edit_at(a, all, i));
}

/* "NAME-INDEX-", cut so that five letters find room behind it. */
static struct spn_text index_prefix(struct spn_arena *a, struct spn_text name, int64_t index)
{
    enum { LONGEST = 58 };
    struct spn_text end = spn_arena_printf(a, "-%lld-", (long long)index);
    if (name.n + end.n > LONGEST)
        name.n = LONGEST - end.n;
    return spn_arena_printf(a, SPN_FMT SPN_FMT, SPN_ARG(name), SPN_ARG(end));
}

static void annotate_failures(const struct job_view *v, struct spn_value *pod, int64_t index)
{
    const struct job_pod *kept = job_kept_pod(v, index);
    const bool counts = kept && counts_as_failure(v, kept->pod);
    const int64_t n = kept ? annotated_count(kept->pod, FAILURE_COUNT_KEY) + counts : 0;
    const int64_t n_ignored = kept ? annotated_count(kept->pod, IGNORED_COUNT_KEY) + !counts : 0;
    meta_annotate(v->a, pod, FAILURE_COUNT_KEY, spn_arena_printf(v->a, "%lld", (long long)n));
    if (n_ignored > 0)
        meta_annotate(v->a, pod, IGNORED_COUNT_KEY,
                      spn_arena_printf(v->a, "%lld", (long long)n_ignored));
}

static void give_index(const struct job_view *v, struct spn_value *pod, int64_t index)
{
    struct spn_arena *a = v->a;
    struct spn_text number = spn_arena_printf(a, "%lld", (long long)index);
    struct spn_value *spec = spn_value_ensure(a, pod, "spec");
    add_index_variables(a, spec, "initContainers");
    add_index_variables(a, spec, "containers");
    spn_value_set_text(
        a, spec, "hostname",
        spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(meta_name(v->job)), SPN_ARG(number)));
    meta_annotate(a, pod, JOB_INDEX, number);
    struct spn_value *meta = spn_value_ensure(a, pod, "metadata");
    spn_value_set_text(a, spn_value_ensure(a, meta, "labels"), JOB_INDEX, number);
    meta = spn_value_ensure(a, pod, "metadata");
    spn_value_set_text(a, meta, "generateName", index_prefix(a, meta_name(v->job), index));
    if (v->has_limit_per_index)
        annotate_failures(v, pod, index);
}

struct spn_value *job_pod_new(const struct job_view *v, int64_t index)
{
    struct spn_value *pod =
        pod_from_template(v->a, spn_value_dig(v->job, "spec", "template"), v->job);
    struct spn_value *meta = spn_value_ensure(v->a, pod, "metadata");
    if (!pod_is_tracked(pod)) {
        struct spn_value *all = spn_value_edit(v->a, meta, "finalizers");
        if (spn_value_type(all) != SPN_ARRAY)
            all = spn_value_set(v->a, meta, "finalizers", spn_value_new(v->a, SPN_ARRAY));
        spn_value_push(v->a, all, spn_value_new_text(v->a, SPN_TEXT(JOB_FINALIZER)));
    }
    if (index != JOB_NO_INDEX)
        give_index(v, pod, index);
    return pod;
}

/* ---- Status ---- */

static struct spn_value *condition_new(const struct job_view *v, const char *type, bool is_true,
                                       struct spn_text reason, struct spn_text message)
{
    struct spn_value *cond = spn_value_new(v->a, SPN_OBJECT);
    spn_value_set_text(v->a, cond, "type", spn_text_of(type));
    spn_value_set_text(v->a, cond, "status", spn_text_of(is_true ? "True" : "False"));
    spn_value_set_text(v->a, cond, "lastProbeTime", time_text(v->a, v->now_ns));
    spn_value_set_text(v->a, cond, "lastTransitionTime", time_text(v->a, v->now_ns));
    spn_value_set_text(v->a, cond, "reason", reason);
    spn_value_set_text(v->a, cond, "message", message);
    return cond;
}

static bool says(const struct spn_value *cond, bool is_true, struct spn_text reason,
                 struct spn_text message)
{
    return text_is(spn_value_get(cond, "status"), is_true ? "True" : "False") &&
           spn_text_eq(spn_value_text(spn_value_get(cond, "reason")), reason) &&
           spn_text_eq(spn_value_text(spn_value_get(cond, "message")), message);
}

bool job_set_condition(const struct job_view *v, const char *type, bool is_true,
                       struct spn_text reason, struct spn_text message)
{
    struct spn_value *status = spn_value_ensure(v->a, v->job, "status");
    const struct spn_value *old = spn_condition_get(v->job, type);
    if (old ? says(old, is_true, reason, message) : !is_true)
        return false;
    struct spn_value *all = spn_value_edit(v->a, status, "conditions");
    if (spn_value_type(all) != SPN_ARRAY)
        all = spn_value_set(v->a, status, "conditions", spn_value_new(v->a, SPN_ARRAY));
    for (size_t i = spn_value_count(all); i-- > 0;)
        if (text_is(spn_value_get(spn_value_at(all, i), "type"), type))
            spn_value_remove_at(v->a, all, i);
    spn_value_push(v->a, all, condition_new(v, type, is_true, reason, message));
    return true;
}

void job_set_count(const struct job_view *v, const char *key, int64_t n)
{
    struct spn_value *status = spn_value_ensure(v->a, v->job, "status");
    if (n)
        spn_value_set_int(v->a, status, key, n);
    else
        spn_value_remove(v->a, status, key);
}
