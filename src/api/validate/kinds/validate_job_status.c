/* How a Job's status may change. Others than the Job controller may write it, so each rule is asked
 * only where something that it looks at has changed. */
#include "api/go/gotime.h"
#include "api/inner.h"
#include "api/validate/kinds/validate_batch.h"
#include "base/idiom.h"
#include "base/banned.h"

#define STATUS path_root("status")

bool validate_job_has_condition(const struct value *job, struct str type, struct str status)
{
    value_each_item (it, value_dig(job, "status", "conditions"))
        if (str_eq(value_text(it, "type"), type) && str_eq(value_text(it, "status"), status))
            return true;
    return false;
}

/* What the rules ask of a Job. */
struct state {
    const struct value *status;
    bool complete, failed, finished, failure_target, success_met;
};

static struct state state_of(const struct value *job)
{
    struct state s = {
        .status = validate_member(job, "status"),
        .complete = validate_job_has_condition(job, STR("Complete"), STR("True")),
        .failed = validate_job_has_condition(job, STR("Failed"), STR("True")),
        .failure_target = validate_job_has_condition(job, STR("FailureTarget"), STR("True")),
        .success_met = validate_job_has_condition(job, STR("SuccessCriteriaMet"), STR("True")),
    };
    s.finished = s.complete || s.failed;
    return s;
}

static bool changed(const struct state *now, const struct state *was, struct str field)
{
    return !validate_is_same(validate__member(now->status, field),
                             validate__member(was->status, field));
}

static void fault_conditions(struct field_errors *e, const char *why)
{
    field_error(e, FIELD_INVALID, path_at(STATUS, "conditions"), STR(""), "%s", why);
}

/* ---- Pods ---- */

static void check_uncounted(struct field_errors *e, const struct value *uncounted)
{
    static const struct str lists[] = { STR("succeeded"), STR("failed") };
    autoset seen;
    text_set_init(&seen);
    for (size_t k = 0; k < 2; k++) {
        struct field_path list = field_child(path_at(STATUS, "uncountedTerminatedPods"), lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(uncounted, lists[k])) {
            const struct field_path *at = path_item(&list, i++);
            if (!value_str(it).n)
                fault_text(e, at, STR(""), "must not be empty");
            else if (!text_set_add(&seen, value_str(it), it))
                fault_duplicate(e, at, value_str(it));
        }
    }
}

/* ---- Times ---- */

static bool is_before(const struct value *a, const struct value *b)
{
    struct gotime x, y;
    if (gotime_parse(value_str(a), false, &x, NULL) < 0 ||
        gotime_parse(value_str(b), false, &y, NULL) < 0)
        return false;
    return x.sec != y.sec ? x.sec < y.sec : x.nanos < y.nanos;
}

static void check_completion_time(struct field_errors *e, const struct state *now,
                                  const struct state *was)
{
    const struct value *start = validate_member(now->status, "startTime"),
                       *end = validate_member(now->status, "completionTime");
    const struct field_path *path = path_at(STATUS, "completionTime");
    bool end_changed = changed(now, was, STR("completionTime"));
    bool asked = now->complete != was->complete || end_changed;
    if (asked && end && !now->complete)
        fault_value(e, path, end,
                    "cannot set completionTime when there is no Complete=True condition");
    if (asked && !end && now->complete)
        fault_required(e, path, "completionTime is required for Complete jobs");
    if ((end_changed || changed(now, was, STR("startTime"))) && start && end &&
        is_before(end, start))
        fault_value(e, path, end, "must be equal to or after `startTime`");
}

/* ---- Conditions ---- */

static void check_pairs(struct field_errors *e, const struct state *now, const struct state *was)
{
    bool complete = now->complete != was->complete, failed = now->failed != was->failed,
         target = now->failure_target != was->failure_target;
    if ((complete || failed) && now->complete && now->failed)
        fault_conditions(e, "cannot set Complete=True and Failed=true conditions");
    if ((complete || target) && now->complete && now->failure_target)
        fault_conditions(e, "cannot set Complete=True and FailureTarget=true conditions");
}

static void check_causes(struct field_errors *e, const struct state *now, const struct state *was)
{
    if ((now->failed != was->failed || changed(now, was, STR("failedIndexes"))) && now->failed &&
        !now->failure_target)
        fault_conditions(e, "cannot set Failed=True condition without the FailureTarget=true "
                            "condition");
    if ((now->complete != was->complete || now->success_met != was->success_met) && now->complete &&
        !now->success_met)
        fault_conditions(e,
                         "cannot set Complete=True condition without the SuccessCriteriaMet=true "
                         "condition");
}

static void check_finished(struct field_errors *e, const struct state *now, const struct state *was,
                           const struct value *spec)
{
    const struct value *uncounted = validate_member(now->status, "uncountedTerminatedPods");
    bool finished = now->finished != was->finished;
    int64_t active = validate_int(now->status, "active");
    const struct value *completions = validate_member(spec, "completions");
    bool never_ran = value_is_true(value_get(spec, STR("suspend"))) && completions &&
                     validate__int(completions) == 0;
    if (!now->finished)
        return;
    if ((finished || changed(now, was, STR("active"))) && active > 0)
        fault_int(e, path_at(STATUS, "active"), active, "active>0 is invalid for finished job");
    if ((finished || changed(now, was, STR("startTime"))) && !never_ran &&
        !validate_member(now->status, "startTime"))
        fault_required(e, path_at(STATUS, "startTime"), "startTime is required for finished job");
    if ((finished || changed(now, was, STR("uncountedTerminatedPods"))) &&
        (validate_count(uncounted, "failed") || validate_count(uncounted, "succeeded")))
        field_error(e, FIELD_INVALID, path_at(STATUS, "uncountedTerminatedPods"),
                    inner_json(e, STR("batch/v1"), STR("UncountedTerminatedPods"), uncounted),
                    "must be empty for finished job");
}

/* ---- Indexes ---- */

static void check_format(struct field_errors *e, const struct value *status, struct str field,
                         int64_t completions)
{
    struct str text = value_str(value_get(status, field)), why;
    struct field_path at = field_child(STATUS, field);
    int64_t total;
    if (!validate_job_indexes_check(e->arena, text, completions, &total, &why))
        fault_text(e, &at, text, "error parsing " STR_FMT ": " STR_FMT, STR_ARG(field),
                   STR_ARG(why));
}

static void check_indexes(struct field_errors *e, const struct state *now, const struct state *was,
                          const struct value *spec)
{
    const struct value *completions = validate_member(spec, "completions"),
                       *failed = validate_member(now->status, "failedIndexes");
    bool completed_changed = changed(now, was, STR("completedIndexes")),
         failed_changed = changed(now, was, STR("failedIndexes")),
         per_index = validate_member(spec, "backoffLimitPerIndex") != NULL;
    struct str completed = value_text(now->status, "completedIndexes");
    const struct field_path *path = path_at(STATUS, "failedIndexes");
    if (completed_changed && completions)
        check_format(e, now->status, STR("completedIndexes"), validate__int(completions));
    if (failed_changed && completions && per_index && failed)
        check_format(e, now->status, STR("failedIndexes"), validate__int(completions));
    if (completed_changed && completed.n &&
        !str_eq(value_text(spec, "completionMode"), STR("Indexed")))
        fault_text(e, path_at(STATUS, "completedIndexes"), completed,
                   "cannot set non-empty completedIndexes when non-indexed completion mode");
    if (failed_changed && !per_index && failed)
        fault_text(e, path, value_str(failed),
                   "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    if ((!failed_changed && !completed_changed) || !completions || !failed)
        return;
    int64_t shared =
        validate_job_indexes_overlap(completed, value_str(failed), validate__int(completions));
    if (shared >= 0)
        fault_text(e, path, value_str(failed),
                   "failedIndexes and completedIndexes overlap at index: %ld", (long)shared);
}

/* ---- What may not go back ---- */

static void check_one_way(struct field_errors *e, const struct value *job,
                          const struct value *old_job)
{
    static const struct str terminal[] = { STR("Failed"), STR("Complete"), STR("FailureTarget") };
    for (size_t i = 0; i < ARRAY_LEN(terminal); i++)
        if (validate_job_has_condition(old_job, terminal[i], STR("True")) &&
            !validate_job_has_condition(job, terminal[i], STR("True")))
            field_error(e, FIELD_INVALID, path_at(STATUS, "conditions"), STR(""),
                        "cannot disable the terminal " STR_FMT "=True condition",
                        STR_ARG(terminal[i]));
    const struct value *spec = validate_member(job, "spec"),
                       *status = validate_member(job, "status"),
                       *old_status = validate_member(old_job, "status");
    bool scales = str_eq(value_text(spec, "completionMode"), STR("Indexed")) &&
                  validate_is_same(validate_member(spec, "completions"),
                                   validate_member(spec, "parallelism"));
    if (validate_int(status, "failed") < validate_int(old_status, "failed"))
        fault_int(e, path_at(STATUS, "failed"), validate_int(status, "failed"),
                  "cannot decrease the failed counter");
    if (!scales && validate_int(status, "succeeded") < validate_int(old_status, "succeeded"))
        fault_int(e, path_at(STATUS, "succeeded"), validate_int(status, "succeeded"),
                  "cannot decrease the succeeded counter");
}

static void check_times_kept(struct field_errors *e, const struct value *job,
                             const struct value *old_job)
{
    const struct value *status = validate_member(job, "status"),
                       *old_status = validate_member(old_job, "status"),
                       *end = validate_member(status, "completionTime"),
                       *old_end = validate_member(old_status, "completionTime"),
                       *start = validate_member(status, "startTime"),
                       *old_start = validate_member(old_status, "startTime");
    bool resumes = validate_job_has_condition(old_job, STR("Suspended"), STR("True")) &&
                   validate_job_has_condition(job, STR("Suspended"), STR("False"));
    if (end && old_end && !validate_is_same(end, old_end))
        fault_value(e, path_at(STATUS, "completionTime"), end, "field is immutable");
    if (old_start && !validate_is_same(start, old_start) && !resumes &&
        !value_is_true(value_dig(job, "spec", "suspend")))
        fault_value(e, path_at(STATUS, "startTime"), start,
                    "field is immutable for unsuspended job once set");
}

static void check_success(struct field_errors *e, const struct state *now, const struct value *spec)
{
    if (now->success_met && now->failed)
        fault_conditions(e, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (now->success_met && now->failure_target)
        fault_conditions(e, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    if (validate_member(spec, "successPolicy") && !now->success_met && now->complete)
        fault_conditions(e, "cannot set Complete=True for Job with SuccessPolicy unless "
                            "SuccessCriteriaMet=True");
}

void validate_job_status(struct field_errors *e, const struct value *job,
                         const struct value *old_job)
{
    static const struct str counts[] = { STR("active"), STR("succeeded"), STR("failed"),
                                         STR("ready"), STR("terminating") };
    struct state now = state_of(job), was = state_of(old_job);
    const struct value *spec = validate_member(job, "spec");
    validate_counts(e, STATUS, now.status, WORDS(counts));
    check_uncounted(e, validate_member(now.status, "uncountedTerminatedPods"));
    check_pairs(e, &now, &was);
    check_completion_time(e, &now, &was);
    check_causes(e, &now, &was);
    check_finished(e, &now, &was, spec);
    check_indexes(e, &now, &was, spec);
    int64_t terminating = validate_int(now.status, "terminating"),
            ready = validate_int(now.status, "ready");
    if ((now.finished != was.finished || changed(&now, &was, STR("terminating"))) && now.finished &&
        terminating > 0)
        fault_int(e, path_at(STATUS, "terminating"), terminating,
                  "terminating>0 is invalid for finished job");
    if ((changed(&now, &was, STR("ready")) || changed(&now, &was, STR("active"))) &&
        validate_member(now.status, "ready") && ready > validate_int(now.status, "active"))
        fault_int(e, path_at(STATUS, "ready"), ready, "cannot set more ready pods than active");
    check_success(e, &now, spec);
    check_one_way(e, job, old_job);
    check_times_kept(e, job, old_job);
    if (was.success_met && !now.success_met)
        fault_conditions(e, "cannot disable the SuccessCriteriaMet=True condition");
    if (was.complete && !was.success_met && now.success_met)
        fault_conditions(e, "cannot set SuccessCriteriaMet=True for Job already has Complete=true "
                            "conditions");
}
