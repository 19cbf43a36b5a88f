#include "controllers/job/track.h"
#include "base/idiom.h"

#include <sampan/meta.h>

#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

/* ---- Requests ---- */

int track_release(struct spn_work *w, const struct spn_value *pod, struct spn_value **ret,
                  struct spn_err *err)
{
    struct spn_target at = pods;
    struct spn_value *patch = spn_value_new(w->arena, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(w->arena, patch, "metadata");
    struct spn_value *list = spn_value_new(w->arena, SPN_ARRAY);
    spn_value_push(w->arena, list, spn_value_new_text(w->arena, SPN_TEXT(JOB_FINALIZER)));
    spn_value_set(w->arena, meta, "$deleteFromPrimitiveList/finalizers", list);
    spn_value_set_text(w->arena, meta, "uid", meta_uid(pod));
    at.ns = meta_text(pod, "namespace");
    at.name = meta_name(pod);
    *ret = NULL;
    int r = spn_client_patch(w->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(w->arena, patch),
                             &w->how, w->arena, ret, err);
    /* Another one of that name has another uid. */
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? 0 : r;
}

static int write_status(struct job_track *t, struct spn_err *err)
{
    struct spn_target at = t->work->at;
    struct spn_value *answer;
    at.sub = SPN_TEXT("status");
    int r = spn_client_update(t->work->client, &at, t->view->job, &t->work->how, t->work->arena,
                              &answer, err);
    if (r < 0)
        return r;
    own_writes_note_update(t->writes, t->work->key, answer);
    t->view->job = answer;
    t->must_write = false;
    return 0;
}

/* ---- Pods that are being counted ---- */

static struct spn_value *uncounted(struct job_track *t, const char *which)
{
    struct spn_arena *a = t->work->arena;
    struct spn_value *all =
        spn_value_ensure(a, spn_value_ensure(a, t->view->job, "status"), "uncountedTerminatedPods");
    struct spn_value *list = spn_value_edit(a, all, which);
    return spn_value_type(list) == SPN_ARRAY
               ? list
               : spn_value_set(a, all, which, spn_value_new(a, SPN_ARRAY));
}

static bool has_uid(const struct spn_value *list, struct spn_text uid)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(list, i)), uid))
            return true;
    return false;
}

static void add_uid(struct job_track *t, const char *which, const struct spn_value *pod)
{
    spn_value_push(t->work->arena, uncounted(t, which),
                   spn_value_new_text(t->work->arena, meta_uid(pod)));
    t->must_write = true;
}

static bool is_still_tracked(const struct job_track *t, struct spn_text uid)
{
    for (size_t i = 0; i < t->view->n; i++)
        if (t->view->pods[i].is_tracked && spn_text_eq(meta_uid(t->view->pods[i].pod), uid))
            return true;
    return false;
}

/* Those without the finalizer are counted for good. */
static void settle(struct job_track *t, const char *which)
{
    struct spn_value *list = uncounted(t, which);
    const int64_t before = (int64_t)spn_value_count(list);
    for (size_t i = spn_value_count(list); i-- > 0;)
        if (!is_still_tracked(t, spn_value_text(spn_value_at(list, i))))
            spn_value_remove_at(t->work->arena, list, i);
    const int64_t n = before - (int64_t)spn_value_count(list);
    if (n == 0)
        return;
    job_set_count(t->view, which, status_int(t->view->job, which) + n);
    t->must_write = true;
}

static void settle_both(struct job_track *t)
{
    settle(t, "succeeded");
    settle(t, "failed");
}

/* Empty lists are not written. */
static void tidy(struct job_track *t)
{
    static const char *const lists[] = { "succeeded", "failed" };
    struct spn_arena *a = t->work->arena;
    struct spn_value *all =
        spn_value_ensure(a, spn_value_ensure(a, t->view->job, "status"), "uncountedTerminatedPods");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (!spn_value_count(spn_value_get(all, lists[i])))
            spn_value_remove(a, all, lists[i]);
}

/* ---- Which pods are counted now ---- */

static bool may_release(const struct job_view *v, const struct job_pod *p)
{
    if (meta_is_deleting(v->job) || v->end.type || p->is_succeeded)
        return true;
    if (!p->is_failed)
        return false;
    /* It waits for its successor, which is to know how often the index has failed. */
    const struct job_pod *kept = job_kept_pod(v, p->index);
    return !kept || kept->pod != p->pod;
}

static bool is_success_end(const struct job_view *v)
{
    return v->end.type && strcmp(v->end.type, "SuccessCriteriaMet") == 0;
}

/* How many it adds to what the status will list: 0 or 1. */
static size_t count_success(struct job_track *t, const struct job_pod *p)
{
    struct job_view *v = t->view;
    if (!v->is_indexed) {
        if (has_uid(uncounted(t, "succeeded"), meta_uid(p->pod)))
            return 0;
        add_uid(t, "succeeded", p->pod);
        return 0;
    }
    if (p->index == JOB_NO_INDEX || p->index >= v->completions ||
        spans_has(v->indexes_before, p->index))
        return 0;
    t->must_write = true;
    return 1;
}

static void count_failure(struct job_track *t, const struct job_pod *p)
{
    const struct job_view *v = t->view;
    const bool is_valid = !v->is_indexed || (p->index != JOB_NO_INDEX && p->index < v->completions);
    if (is_valid && !has_uid(uncounted(t, "failed"), meta_uid(p->pod)) &&
        failure_match(v->a, v->failure_policy, p->pod).counts)
        add_uid(t, "failed", p->pod);
}

/* True: there are so many that the rest waits. */
static bool choose(struct job_track *t)
{
    const struct job_view *v = t->view;
    size_t n_indexes = 0;
    t->to_release = spn_arena_alloc(t->work->arena, (v->n + 1) * sizeof(*t->to_release));
    for (size_t i = 0; i < v->n; i++) {
        const struct job_pod *p = &v->pods[i];
        if (!p->is_tracked || !may_release(v, p))
            continue;
        t->to_release[t->n_to_release++] = p->pod;
        if (p->is_succeeded && !has_uid(uncounted(t, "failed"), meta_uid(p->pod)))
            n_indexes += count_success(t, p);
        else if (p->is_failed || (v->end.type && !is_success_end(v)))
            count_failure(t, p);
        if (n_indexes + spn_value_count(uncounted(t, "succeeded")) +
                spn_value_count(uncounted(t, "failed")) >=
            JOB_MAX_UNCOUNTED)
            return true;
    }
    return false;
}

/* Sets text of the status, which is there even if it is empty, or is not. */
static void set_text(struct job_track *t, const char *key, struct spn_text text, bool is_there)
{
    struct spn_value *status = spn_value_ensure(t->work->arena, t->view->job, "status");
    struct spn_text old = spn_value_text(spn_value_get(status, key));
    if (is_there ? old.p && spn_text_eq(old, text) : !old.p)
        return;
    if (is_there)
        spn_value_set_text(t->work->arena, status, key, text);
    else
        spn_value_remove(t->work->arena, status, key);
    t->must_write = true;
}

static void write_indexes(struct job_track *t)
{
    struct job_view *v = t->view;
    struct spn_text done = spans_text(v->a, v->indexes);
    set_text(t, "completedIndexes", done, done.n > 0);
    job_set_count(v, "succeeded", spans_total(v->indexes));
    set_text(t, "failedIndexes", spans_text(v->a, v->failed_indexes), v->has_limit_per_index);
}

/* ---- The steps ---- */

/* What is to come is said before pods may vanish. */
static void announce_end(struct job_track *t)
{
    struct job_view *v = t->view;
    if (!v->end.type)
        return;
    if (strcmp(v->end.type, "FailureTarget") == 0) {
        t->must_write |= job_set_condition(v, "FailureTarget", true, v->end.reason, v->end.message);
        v->end.type = "Failed";
    } else if (is_success_end(v)) {
        t->must_write |=
            job_set_condition(v, "SuccessCriteriaMet", true, v->end.reason, v->end.message);
        v->end.type = "Complete";
    }
}

static void untrack(struct job_track *t, const struct spn_value *pod)
{
    for (size_t i = 0; i < t->view->n; i++)
        if (t->view->pods[i].pod == pod)
            t->view->pods[i].is_tracked = false;
}

static int release_all(struct job_track *t, struct spn_err *err)
{
    int first = 0;
    for (size_t i = 0; i < t->n_to_release; i++) {
        struct spn_err why = { 0 };
        struct spn_value *answer;
        int r = track_release(t->work, t->to_release[i], &answer, &why);
        if (r == 0) {
            untrack(t, t->to_release[i]);
            if (answer)
                own_writes_note_update(t->pod_writes, t->work->key, answer);
        } else if (first == 0) {
            first = r;
            *err = why;
        }
    }
    return first;
}

/* True: nothing is left to be waited for. */
static bool finish(struct job_track *t)
{
    struct job_view *v = t->view;
    if (!v->end.type || v->n_terminating > 0 || spn_value_count(uncounted(t, "succeeded")) ||
        spn_value_count(uncounted(t, "failed")))
        return false;
    (void)job_set_condition(v, v->end.type, true, v->end.reason, v->end.message);
    if (strcmp(v->end.type, "Complete") == 0)
        spn_value_set_text(v->a, spn_value_ensure(v->a, v->job, "status"), "completionTime",
                           time_text(v->a, v->now_ns));
    t->must_write = true;
    return true;
}

static void tell_end(const struct job_track *t)
{
    const struct job_view *v = t->view;
    if (strcmp(v->end.type, "Complete") != 0) {
        spn_event(t->work->events, v->job, SPN_WARNING, spn_arena_text(v->a, v->end.reason).p,
                  SPN_FMT, SPN_ARG(v->end.message));
        return;
    }
    if (v->completions >= 0 && status_int(v->job, "succeeded") > v->completions)
        spn_event(t->work->events, v->job, SPN_WARNING, "TooManySucceededPods",
                  "Too many succeeded pods running after completion count reached");
    spn_event(t->work->events, v->job, SPN_NORMAL, "Completed", "Job completed");
}

static int write_if_needed(struct job_track *t, struct spn_err *err)
{
    tidy(t);
    return t->must_write ? write_status(t, err) : 0;
}

int track_pods(struct job_track *t, struct spn_err *err)
{
    settle_both(t);
    const bool is_full = choose(t);
    if (t->view->is_indexed)
        write_indexes(t);
    announce_end(t);
    t->has_written = t->must_write;
    int r = write_if_needed(t, err);
    if (r < 0)
        return r;
    struct spn_err why = { 0 };
    const int released = release_all(t, &why);
    settle_both(t);
    const bool is_finished = released == 0 && !is_full && finish(t);
    r = write_if_needed(t, err);
    if (r < 0)
        return r;
    if (is_finished)
        tell_end(t);
    if (released < 0)
        *err = why;
    return released;
}
