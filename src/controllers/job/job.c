/* job-controller: runs pods of a Job until so many have succeeded. */
#include <pthread.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/expectations.h"
#include "controllers/common/fields.h"
#include "controllers/common/own_writes.h"
#include "controllers/common/owned.h"
#include "controllers/common/pod_control.h"
#include "controllers/common/pod_owners.h"
#include "controllers/common/pods.h"
#include "controllers/common/refusal.h"
#include "controllers/common/times.h"
#include "controllers/job/plan.h"
#include "controllers/job/track.h"
#include "controllers/rows.h"
#include "base/banned.h"

/* Changes of pods are looked at together, once in a while: many pods end at once. */
enum { WORKERS = 5, BATCH_MS = 1000, UNSEEN_MS = 20, RETRY_MS = 1000, MAX_RETRY_MS = 60000 };

static const struct spn_target jobs = SPN_AT("batch", "v1", "jobs", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

/* What we remember of a Job. */
struct memory {
    int64_t due_ns; /* monotonic: when changes of its pods are looked at; 0: there are none */
    bool is_urgent;
    struct job_backoff backoff;
    size_t n_key;
    char key[];
};

struct job_control {
    struct spn_cache *jobs, *pods;
    struct expectations *expected;
    struct pod_owners owners;
    struct own_writes *job_writes, *pod_writes;
    pthread_mutex_t lock; /* of by_key */
    struct keyed by_key;  /* struct memory */
};

/* A reconcile. */
struct job_sync {
    struct job_control *c;
    struct spn_work *work;
    struct job_view view;
    struct labels_selector selector;
    bool may_change, must_write;
    int64_t again_ns; /* when it is looked at again; 0: when something changes */
};

/* ---- What we remember ---- */

static struct str key_of(const void *thing)
{
    const struct memory *m = thing;
    return (struct str){ m->key, m->n_key };
}

/* The lock is held. */
static struct memory *memory_of(struct job_control *c, struct spn_text key)
{
    struct memory *m = keyed_get(&c->by_key, str_in(key));
    if (m)
        return m;
    m = mem_zalloc(sizeof(*m) + key.n);
    m->n_key = key.n;
    memcpy(m->key, key.p, key.n);
    (void)keyed_put(&c->by_key, m);
    return m;
}

static void forget(struct job_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    free(keyed_remove(&c->by_key, str_in(key)));
    (void)pthread_mutex_unlock(&c->lock);
    expectations_forget(c->expected, key);
    own_writes_forget(c->job_writes, key);
    own_writes_forget(c->pod_writes, key);
}

static void note_change(struct job_control *c, struct spn_text key, bool is_urgent)
{
    (void)pthread_mutex_lock(&c->lock);
    struct memory *m = memory_of(c, key);
    m->is_urgent |= is_urgent;
    if (!m->due_ns)
        m->due_ns = clock_mono_ns(&clock_system) + BATCH_MS * NS_PER_MS;
    (void)pthread_mutex_unlock(&c->lock);
}

/* How long it is too early; 0: it is looked at now. */
static int64_t wait_for_more(struct job_control *c, struct spn_text key)
{
    const int64_t now = clock_mono_ns(&clock_system);
    int64_t wait = 0;
    (void)pthread_mutex_lock(&c->lock);
    struct memory *m = memory_of(c, key);
    if (!m->is_urgent && m->due_ns > now) {
        wait = m->due_ns - now;
    } else {
        m->due_ns = 0;
        m->is_urgent = false;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return wait;
}

static struct job_backoff backoff_of(struct job_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    struct job_backoff b = memory_of(c, key)->backoff;
    (void)pthread_mutex_unlock(&c->lock);
    return b;
}

static void remember_backoff(struct job_control *c, struct spn_text key, struct job_backoff b)
{
    (void)pthread_mutex_lock(&c->lock);
    memory_of(c, key)->backoff = b;
    (void)pthread_mutex_unlock(&c->lock);
}

/* ---- Which Jobs a change of a pod is about ---- */

static void note_pods(void *arg, struct spn_text key)
{
    note_change(arg, key, false);
}

static bool when_job(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct job_control *c = arg;
    const bool is_other =
        old_o && (!new_o || !spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o)));
    if (is_other)
        forget(c, spn_object_key(old_o));
    const bool is_urgent = !old_o || is_other ||
                           spn_object_generation(old_o) != spn_object_generation(new_o) ||
                           spn_object_is_deleting(old_o) != spn_object_is_deleting(new_o);
    if (new_o)
        note_change(c, spn_object_key(new_o), is_urgent);
    return true;
}

/* ---- Deleting pods ---- */

static struct spn_text pod_key(const struct job_sync *s, const struct spn_value *pod)
{
    return spn_arena_printf(s->work->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(s->work->ns),
                            SPN_ARG(meta_name(pod)));
}

/* The pod counts no more, so it loses its finalizer first; with `is_end` it is counted yet. */
static int release_and_delete(struct job_sync *s, struct spn_value *pod, bool is_end,
                              struct spn_err *err)
{
    const struct pod_control control = { s->work, s->view.job };
    struct spn_value *answer = NULL;
    int r = is_end || !pod_is_tracked(pod) ? 0 : track_release(s->work, pod, &answer, err);
    if (answer)
        own_writes_note_update(s->c->pod_writes, s->work->key, answer);
    return r < 0 ? r : pod_control_delete(&control, pod, err);
}

static int delete_pod(struct job_sync *s, struct spn_value *pod, bool is_end, struct spn_err *err)
{
    int r = release_and_delete(s, pod, is_end, err);
    if (r < 0 && !is_end)
        expectations_deleted(s->c->expected, s->work->key, pod_key(s, pod));
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int delete_pods(struct job_sync *s, struct spn_value **chosen, size_t n, bool is_end,
                       struct spn_err *err)
{
    struct spn_text *keys = spn_arena_alloc(s->work->arena, (n + 1) * sizeof(*keys));
    int first = 0;
    for (size_t i = 0; i < n; i++)
        keys[i] = pod_key(s, chosen[i]);
    if (!is_end && n)
        expectations_delete(s->c->expected, s->work->key, keys, n);
    for (size_t i = 0; i < n; i++) {
        struct spn_err why = { 0 };
        int r = delete_pod(s, chosen[i], is_end, &why);
        if (r == 0) {
            s->view.n_active--;
            s->view.n_terminating++;
        } else if (first == 0) {
            first = r;
            *err = why;
        }
        s->view.n_ready -= pod_is_ready(chosen[i]);
    }
    return first;
}

/* ---- Making pods ---- */

struct making {
    struct job_sync *s;
    const int64_t *indexes; /* NULL: without */
    size_t n_tried;
};

static int create_one(void *arg, struct spn_err *err)
{
    struct making *m = arg;
    struct job_sync *s = m->s;
    const struct pod_control control = { s->work, s->view.job };
    const int64_t index = m->indexes ? m->indexes[m->n_tried] : JOB_NO_INDEX;
    m->n_tried++;
    int r = pod_control_create(&control, job_pod_new(&s->view, index), err);
    return r < 0 && refusal_of_pod_is_final(err) ? 0 : r;
}

static int create_pods(struct job_sync *s, const int64_t *indexes, size_t n, struct spn_err *err)
{
    struct making m = { s, indexes, 0 };
    int r;
    expectations_create(s->c->expected, s->work->key, n);
    size_t n_made = pod_control_slow_start(n, create_one, &m, &r, err);
    s->view.n_active += (int64_t)n_made;
    for (; n_made < n; n_made++)
        expectations_created(s->c->expected, s->work->key);
    return r;
}

static void look_again(struct job_sync *s, int64_t ns)
{
    if (!s->again_ns || ns < s->again_ns)
        s->again_ns = ns;
}

/* No pod is made before its time. */
static void wait_for_backoff(struct job_sync *s, int64_t ns)
{
    look_again(s, ns > BATCH_MS * NS_PER_MS ? ns : BATCH_MS * NS_PER_MS);
}

static int make_missing(struct job_sync *s, int64_t missing, struct spn_err *err)
{
    int64_t wait =
        s->view.has_limit_per_index ? 0 : backoff_remaining_ns(s->view.backoff, s->view.now_ns);
    size_t n = missing < JOB_BURST ? (size_t)missing : JOB_BURST;
    int64_t *indexes = NULL;
    if (wait == 0 && s->view.is_indexed) {
        indexes = spn_arena_alloc(s->work->arena, (n + 1) * sizeof(*indexes));
        n = job_next_indexes(&s->view, indexes, n, &wait);
    }
    if (wait > 0) {
        wait_for_backoff(s, wait);
        return 0;
    }
    return n ? create_pods(s, indexes, n, err) : 0;
}

/* Brings the number of pods to what it should be. */
static int manage(struct job_sync *s, struct spn_err *err)
{
    struct job_view *v = &s->view;
    const int64_t wanted = job_wanted(v);
    const size_t too_many = v->n_active > wanted ? (size_t)(v->n_active - wanted) : 0;
    struct spn_value **gone = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*gone));
    size_t n = job_choose_to_delete(v, v->is_suspended ? (size_t)v->n_active : too_many, gone);
    if (n > JOB_BURST && !v->is_suspended)
        n = JOB_BURST;
    if (n)
        return delete_pods(s, gone, n, false, err);
    const int64_t missing = wanted - v->n_active - (v->replaces_only_failed ? v->n_terminating : 0);
    return missing > 0 && !v->is_suspended ? make_missing(s, missing, err) : 0;
}

/* ---- One Job ---- */

static void set_start(struct job_sync *s)
{
    struct spn_value *status = spn_value_ensure(s->view.a, s->view.job, "status");
    spn_value_set_text(s->view.a, status, "startTime", time_text(s->view.a, s->view.now_ns));
}

/* Says whether it is suspended, once it has pods accordingly. */
static void say_suspended(struct job_sync *s)
{
    struct job_view *v = &s->view;
    const bool is = v->is_suspended;
    if (!job_set_condition(v, "Suspended", is, spn_text_of(is ? "JobSuspended" : "JobResumed"),
                           spn_text_of(is ? "Job suspended" : "Job resumed")))
        return;
    s->must_write = true;
    spn_event(s->work->events, v->job, SPN_NORMAL, is ? "Suspended" : "Resumed", "%s",
              is ? "Job suspended" : "Job resumed");
    if (is)
        spn_value_remove(v->a, spn_value_ensure(v->a, v->job, "status"), "startTime");
    else
        set_start(s);
}

/* Its end is near: pods that run are stopped, and nothing is made any more. */
static int end_pods(struct job_sync *s, struct spn_err *err)
{
    struct job_view *v = &s->view;
    struct spn_value **running = spn_arena_alloc(v->a, (v->n + 1) * sizeof(*running));
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++)
        if (v->pods[i].is_active)
            running[n++] = v->pods[i].pod;
    int r = delete_pods(s, running, n, true, err);
    if (r < 0 || !s->may_change)
        v->end.type = NULL;
    return r;
}

static int manage_or_end(struct job_sync *s, struct spn_err *err)
{
    struct job_view *v = &s->view;
    if (v->end.type)
        return end_pods(s, err);
    const bool manages = s->may_change && !meta_is_deleting(v->job);
    int r = manages ? manage(s, err) : 0;
    const bool is_complete =
        v->completions < 0 ? v->n_succeeded > 0 : v->n_succeeded >= v->completions;
    if (is_complete && v->n_active == 0)
        v->end = (struct job_end){ "SuccessCriteriaMet", SPN_TEXT("CompletionsReached"),
                                   SPN_TEXT("Reached expected number of succeeded pods") };
    else if (manages)
        say_suspended(s);
    return r;
}

/* Writes counts into the tree; notes whether they differ. */
static void set_counts(struct job_sync *s)
{
    struct job_view *v = &s->view;
    struct spn_value *status = spn_value_ensure(v->a, v->job, "status");
    s->must_write |= status_int(v->job, "active") != v->n_active ||
                     field_int(spn_value_get(status, "ready"), -1) != v->n_ready ||
                     field_int(spn_value_get(status, "terminating"), -1) != v->n_terminating;
    job_set_count(v, "active", v->n_active);
    status = spn_value_ensure(v->a, v->job, "status");
    spn_value_set_int(v->a, status, "ready", v->n_ready);
    spn_value_set_int(v->a, status, "terminating", v->n_terminating);
}

static int sync_pods(struct job_sync *s, struct spn_value *const *all, size_t n,
                     struct spn_err *err)
{
    struct job_view *v = &s->view;
    struct spn_err why = { 0 };
    job_look(v, all, n, backoff_of(s->c, s->work->key));
    if (!v->is_suspended && !spn_value_dig(v->job, "status", "startTime"))
        set_start(s);
    job_judge(v);
    const int64_t deadline = job_deadline_ns(v);
    if (!v->end.type && deadline > 0)
        look_again(s, deadline);
    const int managed = manage_or_end(s, &why);
    set_counts(s);
    const struct job_backoff backoff = v->backoff;
    struct job_track track = { .work = s->work,
                               .view = v,
                               .writes = s->c->job_writes,
                               .pod_writes = s->c->pod_writes,
                               .must_write = s->must_write };
    int r = track_pods(&track, err);
    if (track.has_written)
        remember_backoff(s->c, s->work->key, backoff);
    if (r == -SPN_NOT_FOUND)
        return spn_done();
    if (r < 0)
        return r == -SPN_CONFLICT ? spn_again_after(RETRY_MS)
                                  : spn_err_wrap(err, "tracking status");
    if (managed < 0)
        *err = why;
    return managed < 0 ? managed : s->again_ns ? spn_again_after(s->again_ns / NS_PER_MS + 1) : 0;
}

/* Pods that were just adopted have our finalizer now, too. */
static void note_adopted(struct job_sync *s, struct spn_value *pod)
{
    const struct spn_value *owners = spn_value_dig(pod, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(owners); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(owners, i), "uid")),
                        meta_uid(s->view.job)))
            return;
    if (pod_is_tracked(pod))
        return;
    struct spn_value *meta = spn_value_ensure(s->view.a, pod, "metadata");
    struct spn_value *list = spn_value_edit(s->view.a, meta, "finalizers");
    if (spn_value_type(list) != SPN_ARRAY)
        list = spn_value_set(s->view.a, meta, "finalizers", spn_value_new(s->view.a, SPN_ARRAY));
    spn_value_push(s->view.a, list, spn_value_new_text(s->view.a, SPN_TEXT(JOB_FINALIZER)));
}

static int claim_and_sync(struct job_sync *s, struct owned *all, struct spn_err *err)
{
    struct claim claim = { .work = s->work,
                           .owner = s->view.job,
                           .selector = &s->selector,
                           .what = pods,
                           .object_kind = "Pod",
                           .finalizer = JOB_FINALIZER };
    int r = claim_objects(&claim, all->items, &all->n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < all->n; i++)
        note_adopted(s, all->items[i]);
    return sync_pods(s, all->items, all->n, err);
}

static int sync_job(struct job_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct owned all = owned_list(s->c->pods, w->arena, meta_uid(s->view.job), w->ns);
    int r = claim_and_sync(s, &all, err);
    owned_done(&all);
    return r;
}

static bool is_of_others(const struct spn_value *job)
{
    struct spn_text by = spn_value_text(spn_value_dig(job, "spec", "managedBy"));
    return by.p && !spn_text_eq(by, SPN_TEXT("kubernetes.io/job-controller"));
}

static bool knows_mode(const struct spn_value *job)
{
    struct spn_text mode = spn_value_text(spn_value_dig(job, "spec", "completionMode"));
    return !mode.p || spn_text_eq(mode, SPN_TEXT("NonIndexed")) ||
           spn_text_eq(mode, SPN_TEXT("Indexed"));
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct job_control *c = arg;
    struct job_sync s = { .c = c, .work = w, .view = { .a = w->arena, .job = spn_work_object(w) } };
    if (!s.view.job || is_of_others(s.view.job) || job_is_finished(s.view.job)) {
        forget(c, w->key);
        return spn_done();
    }
    const int64_t wait = wait_for_more(c, w->key);
    if (wait > 0)
        return spn_again_after(wait / NS_PER_MS + 1);
    if (!own_writes_are_seen(c->job_writes, w->key, c->jobs) ||
        !own_writes_are_seen(c->pod_writes, w->key, c->pods))
        return spn_again_after(UNSEEN_MS);
    spn_value_set_text(w->arena, s.view.job, "apiVersion", SPN_TEXT("batch/v1"));
    spn_value_set_text(w->arena, s.view.job, "kind", SPN_TEXT("Job"));
    if (!knows_mode(s.view.job)) {
        spn_event(w->events, s.view.job, SPN_WARNING, "UnknownCompletionMode",
                  "Skipped Job sync because completion mode is unknown");
        return spn_done();
    }
    if (claim_selector(w->arena, spn_value_dig(s.view.job, "spec", "selector"), &s.selector, err) <
        0)
        return spn_done(); /* the server has let in what it should not; nothing will help */
    s.view.now_ns = time_now();
    s.may_change = expectations_are_met(c->expected, w->key);
    return sync_job(&s, err);
}

/* ---- Pods that nobody will count ---- */

/* Their Job is gone, has ended, or has let them go. */
static bool is_lost(const struct job_control *c, struct spn_arena *a, const struct spn_object *pod)
{
    struct spn_owner owner;
    struct spn_text key;
    if (!spn_object_controller(pod, a, &owner))
        return true;
    if (!spn_text_eq(owner.kind, SPN_TEXT("Job")) ||
        !spn_text_eq(owner.api_version, SPN_TEXT("batch/v1")))
        return false;
    if (!pod_owners_key(&c->owners, pod, a, &key))
        return spn_object_is_deleting(pod);
    struct spn_object *job = spn_cache_get(c->jobs, key);
    const struct spn_value *v = job ? spn_object_value(job, a) : NULL;
    const bool is_lost = v && !is_of_others(v) && job_is_finished(v);
    spn_object_unref(job);
    return is_lost;
}

static int release_lost(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct job_control *c = arg;
    struct spn_value *answer;
    struct spn_object *o = spn_cache_get(c->pods, w->key);
    if (!o)
        return spn_done();
    const struct spn_value *pod = spn_object_value(o, w->arena);
    int r =
        pod_is_tracked(pod) && is_lost(c, w->arena, o) ? track_release(w, pod, &answer, err) : 0;
    spn_object_unref(o);
    return r;
}

static bool when_tracked(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    if (!new_o)
        return false;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, pod, "metadata", spn_object_meta(new_o, a));
    const bool is_tracked = pod_is_tracked(pod);
    spn_arena_free(a);
    return is_tracked;
}

/* A Job that has ended, or is gone, leaves its pods behind. */
static void map_job(void *arg, const struct spn_object *job, struct spn_arena *a,
                    struct spn_keys *out)
{
    const struct job_control *c = arg;
    struct owned all = owned_list(c->pods, a, spn_object_uid(job), SPN_TEXT(""));
    for (size_t i = 0; i < all.n; i++)
        if (pod_is_tracked(all.items[i]))
            spn_keys_put(out, spn_object_namespace(job), meta_name(all.items[i]));
    owned_done(&all);
}

static bool when_over(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    if (!new_o)
        return true;
    struct spn_arena *a = spn_arena_new();
    const bool is_over = job_is_finished(spn_object_value(new_o, a));
    spn_arena_free(a);
    return is_over;
}

/* ---- The row ---- */

static void add_main(const struct controllers_env *env, struct job_control *c)
{
    (void)pod_owners_add(env->manager, &c->owners,
                         &(struct spn_controller_options){
                             .name = "job-controller",
                             .what = jobs,
                             .kind = "Job",
                             .workers = WORKERS,
                             .reconcile = reconcile,
                             .arg = c,
                             .when = when_job,
                             .when_arg = c,
                             .queue = { .first_delay_ms = RETRY_MS, .max_delay_ms = MAX_RETRY_MS },
                             .component = "job-controller" });
}

static void add_lost(const struct controllers_env *env, struct job_control *c)
{
    struct spn_controller *controller = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "job-controller-orphans",
                                                        .what = pods,
                                                        .kind = "Pod",
                                                        .when = when_tracked,
                                                        .reconcile = release_lost,
                                                        .arg = c });
    spn_controller_source(
        controller,
        &(struct spn_source){ .of.what = jobs, .map = map_job, .map_arg = c, .when = when_over });
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct job_control *c = mem_new(struct job_control);
    c->pods = caches_owned(env->manager, pods);
    c->jobs = caches_get(env->manager, jobs);
    c->expected = expectations_new();
    c->owners = (struct pod_owners){ .kind = "Job",
                                     .group = jobs.group,
                                     .owners = c->jobs,
                                     .expected = c->expected,
                                     .note = note_pods,
                                     .note_arg = c };
    c->job_writes = own_writes_new();
    c->pod_writes = own_writes_new();
    c->by_key.key_of = key_of;
    (void)pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    add_main(env, c);
    add_lost(env, c);
    return 0;
}

static void done(void *made)
{
    struct job_control *c = made;
    size_t pos = 0;
    if (!c)
        return;
    for (struct memory *m; (m = keyed_next(&c->by_key, &pos));)
        free(m);
    keyed_done(&c->by_key);
    expectations_free(c->expected);
    own_writes_free(c->job_writes);
    own_writes_free(c->pod_writes);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

const struct controllers_row controllers_job = { "job-controller", add, done };
