#include "controllers/deployment/rollout.h"

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/owned.h"
#include "controllers/common/pods.h"
#include "controllers/common/refusal.h"
#include "controllers/common/times.h"
#include "controllers/deployment/revision.h"
#include "controllers/deployment/status.h"
#include "base/banned.h"

/* ---- Requests ---- */

static struct spn_target set_target(const struct deployment_sync *s, struct spn_text name)
{
    struct spn_target at = SPN_AT("apps", "v1", "replicasets", "", "");
    at.ns = s->work->ns;
    at.name = name;
    return at;
}

/* Later writes of the same look build on this one. */
static void keep_version(struct deployment_sync *s, const struct spn_value *answer)
{
    struct spn_arena *a = s->work->arena;
    spn_value_set_text(a, spn_value_ensure(a, s->deployment, "metadata"), "resourceVersion",
                       spn_arena_text(a, meta_text(answer, "resourceVersion")));
}

int deployment_write_status(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_target at = w->at;
    struct spn_value *answer;
    at.sub = SPN_TEXT("status");
    int r = spn_client_update(w->client, &at, s->deployment, &w->how, w->arena, &answer, err);
    if (r == 0)
        keep_version(s, answer);
    return r;
}

static int update_set(struct deployment_sync *s, struct spn_value *set, struct spn_value **ret,
                      struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct spn_target at = set_target(s, meta_name(set));
    return spn_client_update(w->client, &at, set, &w->how, w->arena, ret, err);
}

/* 1: its size has changed. With `is_forced` annotations are brought up to date in any case. */
static int scale_set(struct deployment_sync *s, const struct rollout_step *step, bool is_forced,
                     struct spn_value **ret, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    const struct rollout sizes = rollout_of(s->deployment);
    const bool is_resized = step->from != step->to;
    if (!is_resized && !is_forced)
        return 0;
    struct spn_value *set = spn_value_copy(a, *ret ? *ret : step->set->object), *answer;
    spn_value_set_int(a, spn_value_ensure(a, set, "spec"), "replicas", step->to);
    if (!revision_annotate_size(a, set, &sizes) && !is_resized)
        return 0;
    int r = update_set(s, set, &answer, err);
    if (r < 0)
        return r;
    *ret = answer;
    if (is_resized)
        spn_event(s->work->events, s->deployment, SPN_NORMAL, "ScalingReplicaSet",
                  "Scaled %s replica set " SPN_FMT " from %lld to %lld",
                  step->from < step->to ? "up" : "down", SPN_ARG(step->set->name),
                  (long long)step->from, (long long)step->to);
    return is_resized;
}

/* ---- The set of the current template ---- */

static struct deployment_set *find_new(struct deployment_sync *s)
{
    const struct spn_value *template = spn_value_dig(s->deployment, "spec", "template");
    for (size_t i = 0; i < s->n_sets; i++)
        if (revision_same_template(s->work->arena, template,
                                   spn_value_dig(s->sets[i].object, "spec", "template")))
            return &s->sets[i];
    return NULL;
}

/* All but the new one; a copy that may be sorted and changed. */
static struct deployment_set *old_sets(struct deployment_sync *s, size_t *ret_n)
{
    struct deployment_set *old = spn_arena_alloc(s->work->arena, (s->n_sets + 1) * sizeof(*old));
    *ret_n = 0;
    for (size_t i = 0; i < s->n_sets; i++)
        if (&s->sets[i] != s->new_set)
            old[(*ret_n)++] = s->sets[i];
    return old;
}

static int64_t next_revision(struct deployment_sync *s)
{
    size_t n;
    const struct deployment_set *old = old_sets(s, &n);
    return revision_max(old, n) + 1;
}

static bool set_revision(struct deployment_sync *s, struct spn_text revision)
{
    struct spn_text old = meta_annotation(s->deployment, ANNOTATION_REVISION);
    if (old.p && spn_text_eq(old, revision))
        return false;
    meta_annotate(s->work->arena, s->deployment, ANNOTATION_REVISION, revision);
    return true;
}

static void note_progress(struct deployment_sync *s, const char *is, const char *reason,
                          struct spn_text message)
{
    struct spn_arena *a = s->work->arena;
    status_set_condition(a, spn_value_ensure(a, s->deployment, "status"), "Progressing", is, reason,
                         message, time_now());
}

/* Its annotations first, then those of the Deployment. */
static int refresh_new(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    struct spn_value *set = spn_value_copy(a, s->new_set->object), *answer;
    const int64_t min_ready = field_int(spn_value_dig(s->deployment, "spec", "minReadySeconds"), 0);
    bool is_changed = revision_annotate(a, s->deployment, set, next_revision(s));
    is_changed |= field_int(spn_value_dig(set, "spec", "minReadySeconds"), 0) != min_ready;
    if (is_changed) {
        spn_value_set_int(a, spn_value_ensure(a, set, "spec"), "minReadySeconds", min_ready);
        int r = update_set(s, set, &answer, err);
        if (r < 0)
            return r;
        *s->new_set = deployment_set_of(answer);
    }
    bool needs_write = set_revision(s, meta_annotation(s->new_set->object, ANNOTATION_REVISION));
    if (status_has_deadline(s->deployment) &&
        !status_condition(spn_value_get(s->deployment, "status"), "Progressing")) {
        note_progress(s, "True", "FoundNewReplicaSet",
                      spn_arena_printf(a, "Found new replica set \"" SPN_FMT "\"",
                                       SPN_ARG(s->new_set->name)));
        needs_write = true;
    }
    return needs_write ? deployment_write_status(s, err) : 0;
}

/* ---- Making it ---- */

static void add_new(struct deployment_sync *s, struct spn_value *made)
{
    s->sets[s->n_sets] = deployment_set_of(made);
    s->new_set = &s->sets[s->n_sets++];
}

/* There is one of that name: ours, which the cache did not show in time, or another one with the
 * same hash. Then the next hash is tried. */
static int resolve_collision(struct deployment_sync *s, struct spn_text name, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_arena *a = w->arena;
    struct spn_value *found;
    const struct spn_target at = set_target(s, name);
    int r = spn_client_get(w->client, &at, &w->how, a, &found, err);
    if (r < 0)
        return r;
    struct spn_object *sealed;
    struct spn_owner owner;
    r = spn_object_new(found, &sealed, err);
    if (r < 0)
        return r;
    bool is_ours = spn_object_controller(sealed, a, &owner) &&
                   spn_text_eq(owner.uid, meta_uid(s->deployment)) &&
                   revision_same_template(a, spn_value_dig(s->deployment, "spec", "template"),
                                          spn_value_dig(found, "spec", "template"));
    spn_object_unref(sealed);
    if (is_ours) {
        add_new(s, found);
        return 0;
    }
    struct spn_value *status = spn_value_ensure(a, s->deployment, "status");
    spn_value_set_int(a, status, "collisionCount",
                      field_int(spn_value_get(status, "collisionCount"), 0) + 1);
    r = deployment_write_status(s, err);
    return r < 0 ? r : spn_again();
}

static int report_refusal(struct deployment_sync *s, struct spn_text name, int code,
                          struct spn_err *err)
{
    struct spn_text message =
        spn_arena_printf(s->work->arena, "Failed to create new replica set \"" SPN_FMT "\": %s",
                         SPN_ARG(name), err->message);
    if (status_has_deadline(s->deployment)) {
        note_progress(s, "False", "ReplicaSetCreateError", message);
        (void)deployment_write_status(s, NULL); /* the refusal is worse */
    }
    spn_event(s->work->events, s->deployment, SPN_WARNING, "ReplicaSetCreateError", SPN_FMT,
              SPN_ARG(message));
    return code;
}

/* 0: `new_set` is there. Else what is to follow. */
static int create_new(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_arena *a = w->arena;
    const struct rollout sizes = rollout_of(s->deployment);
    const int64_t revision = next_revision(s);
    const int64_t replicas = rollout_new_size(&sizes, s->sets, s->n_sets, 0);
    struct spn_value *set = revision_new_set(a, s->deployment, &sizes, replicas, revision), *made;
    const struct spn_target at = set_target(s, SPN_TEXT(""));
    int r = spn_client_create(w->client, &at, set, &w->how, a, &made, err);
    const bool is_new = r == 0;
    if (r == -SPN_EXISTS) {
        r = resolve_collision(s, meta_name(set), err);
        if (r != 0)
            return r;
    } else if (r < 0 && refusal_is_terminating(err)) {
        return spn_done(); /* nothing can be made any more */
    } else if (r < 0) {
        return report_refusal(s, meta_name(set), r, err);
    }
    if (is_new)
        add_new(s, made);
    if (is_new && replicas > 0)
        spn_event(w->events, s->deployment, SPN_NORMAL, "ScalingReplicaSet",
                  "Scaled up replica set " SPN_FMT " from 0 to %lld", SPN_ARG(s->new_set->name),
                  (long long)replicas);
    bool needs_write = set_revision(s, spn_arena_printf(a, "%lld", (long long)revision));
    if (is_new && status_has_deadline(s->deployment)) {
        note_progress(s, "True", "NewReplicaSetCreated",
                      spn_arena_printf(a, "Created new replica set \"" SPN_FMT "\"",
                                       SPN_ARG(s->new_set->name)));
        needs_write = true;
    }
    return needs_write ? deployment_write_status(s, err) : 0;
}

/* ---- Status ---- */

static struct status_seen seen_sets(const struct deployment_sync *s)
{
    return (struct status_seen){ s->sets, s->n_sets, s->new_set, time_now() };
}

static int put_status(struct deployment_sync *s, struct spn_value *status, struct spn_err *err)
{
    spn_value_set(s->work->arena, s->deployment, "status", status);
    return deployment_write_status(s, err);
}

static int sync_status(struct deployment_sync *s, struct spn_err *err)
{
    const struct status_seen seen = seen_sets(s);
    struct spn_value *status = status_of(s->work->arena, s->deployment, &seen);
    if (status_is_same(spn_value_get(s->deployment, "status"), status))
        return spn_done();
    return put_status(s, status, err);
}

static int sync_rollout_status(struct deployment_sync *s, struct spn_err *err)
{
    const struct status_seen seen = seen_sets(s);
    struct spn_value *status = status_of_rollout(s->work->arena, s->deployment, &seen);
    if (!status_is_same(spn_value_get(s->deployment, "status"), status))
        return put_status(s, status, err);
    int64_t ms = status_next_check_ms(s->deployment, status, seen.now_ns);
    return ms < 0 ? spn_done() : ms == 0 ? spn_again() : spn_again_after(ms);
}

/* ---- Old sets that nobody needs ---- */

static bool is_empty(const struct deployment_set *set)
{
    return !set->n_actual && !set->replicas && set->generation <= set->observed_generation;
}

static int clean_up(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const int64_t limit =
        field_int(spn_value_dig(s->deployment, "spec", "revisionHistoryLimit"), INT32_MAX);
    size_t n, n_alive = 0;
    struct deployment_set *old = old_sets(s, &n);
    for (size_t i = 0; i < n; i++)
        if (!old[i].is_deleting)
            old[n_alive++] = old[i];
    deployment_sets_sort_by_revision(old, n_alive);
    for (size_t i = 0; limit < INT32_MAX && (int64_t)(i + (size_t)limit) < (int64_t)n_alive; i++) {
        if (!is_empty(&old[i]))
            continue;
        const struct spn_target at = set_target(s, old[i].name);
        const struct spn_delete what = { .uid = old[i].uid };
        int r = spn_client_delete(w->client, &at, &what, &w->how, w->arena, NULL, err);
        if (r < 0 && r != -SPN_NOT_FOUND)
            return r;
    }
    return 0;
}

static bool is_complete(const struct deployment_sync *s)
{
    return status_is_complete(s->deployment, spn_value_get(s->deployment, "status"));
}

/* ---- Scaling ---- */

static bool is_paused(const struct deployment_sync *s)
{
    return spn_value_is_true(spn_value_dig(s->deployment, "spec", "paused"));
}

static bool has_rollback(const struct deployment_sync *s, int64_t *ret)
{
    return str_to_i64(str_in(meta_annotation(s->deployment, ANNOTATION_ROLLBACK)), ret);
}

/* The number of replicas has changed, or it is paused: every set keeps its share. */
static int sync_scale(struct deployment_sync *s, struct spn_err *err)
{
    const struct rollout sizes = rollout_of(s->deployment);
    size_t n;
    bool is_forced;
    int64_t revision;
    struct deployment_set *old = old_sets(s, &n);
    struct rollout_step *steps = spn_arena_alloc(s->work->arena, (n + 2) * sizeof(*steps));
    const size_t n_steps = rollout_scale(&sizes, old, n, s->new_set, steps, &is_forced);
    for (size_t i = 0; i < n_steps; i++) {
        struct spn_value *answer = NULL;
        int r = scale_set(s, &steps[i], is_forced, &answer, err);
        if (r < 0)
            return r;
    }
    if (is_paused(s) && !has_rollback(s, &revision)) {
        int r = clean_up(s, err);
        if (r < 0)
            return r;
    }
    return sync_status(s, err);
}

static bool is_scaled(const struct deployment_sync *s)
{
    for (size_t i = 0; i < s->n_sets; i++)
        if (s->sets[i].replicas > 0 && s->sets[i].wanted >= 0 &&
            s->sets[i].wanted != spec_replicas(s->deployment))
            return true;
    return false;
}

/* ---- Rolling ---- */

/* 1: it has changed. */
static int grow_new(struct deployment_sync *s, struct spn_err *err)
{
    const struct rollout sizes = rollout_of(s->deployment);
    struct spn_value *answer = NULL;
    struct rollout_step step = { s->new_set, s->new_set->replicas, sizes.replicas };
    if (step.from < sizes.replicas)
        step.to = rollout_new_size(&sizes, s->sets, s->n_sets, step.from);
    return scale_set(s, &step, false, &answer, err);
}

/* 1: some have shrunk. A set that shrinks twice builds on the first answer. */
static int shrink_old(struct deployment_sync *s, struct spn_err *err)
{
    const struct rollout sizes = rollout_of(s->deployment);
    struct spn_arena *a = s->work->arena;
    size_t n;
    struct deployment_set *old = old_sets(s, &n);
    struct rollout_step *steps = spn_arena_alloc(a, (2 * n + 1) * sizeof(*steps));
    struct spn_value **answers = spn_arena_alloc(a, (n + 1) * sizeof(*answers));
    const size_t n_steps = rollout_shrink_old(&sizes, old, n, s->new_set, steps);
    for (size_t i = 0; i < n_steps; i++) {
        int r = scale_set(s, &steps[i], false, &answers[steps[i].set - old], err);
        if (r < 0)
            return r;
    }
    return n_steps > 0;
}

/* 0: nothing is left to be moved. */
static int move_on(struct deployment_sync *s, struct spn_err *err)
{
    int r = grow_new(s, err);
    if (r != 0)
        return r;
    r = shrink_old(s, err);
    return r != 0 || !is_complete(s) ? r : clean_up(s, err);
}

static int roll(struct deployment_sync *s, struct spn_err *err)
{
    int r = s->new_set ? 0 : create_new(s, err);
    if (r != 0 || !s->new_set)
        return r;
    r = move_on(s, err);
    return r < 0 ? r : sync_rollout_status(s, err);
}

/* ---- Recreating ---- */

static int stop_old(struct deployment_sync *s, struct spn_err *err)
{
    int is_scaled_down = 0;
    for (size_t i = 0; i < s->n_sets; i++) {
        struct spn_value *answer = NULL;
        const struct rollout_step step = { &s->sets[i], s->sets[i].replicas, 0 };
        int r = &s->sets[i] == s->new_set ? 0 : scale_set(s, &step, false, &answer, err);
        if (r < 0)
            return r;
        is_scaled_down |= r;
    }
    return is_scaled_down;
}

static bool has_running_pods(struct deployment_sync *s, const struct deployment_set *set)
{
    bool is_running = set->n_actual > 0;
    struct owned pods = owned_list(s->c->pods, s->work->arena, set->uid, SPN_TEXT(""));
    for (size_t i = 0; i < pods.n && !is_running; i++)
        is_running = !pod_is_terminal(pods.items[i]);
    owned_done(&pods);
    return is_running;
}

/* A set whose controller has not seen that it should have none may just be making pods that our
 * cache does not show yet. */
static bool may_have_pods(struct deployment_sync *s, const struct deployment_set *set)
{
    return set->observed_generation < set->generation || has_running_pods(s, set);
}

static bool has_old_pods(struct deployment_sync *s)
{
    for (size_t i = 0; i < s->n_sets; i++)
        if (&s->sets[i] != s->new_set && may_have_pods(s, &s->sets[i]))
            return true;
    return false;
}

/* Nothing new starts before everything old has ended. */
static int recreate(struct deployment_sync *s, struct spn_err *err)
{
    int r = stop_old(s, err);
    if (r < 0)
        return r;
    if (r > 0 || has_old_pods(s))
        return sync_rollout_status(s, err);
    r = s->new_set ? 0 : create_new(s, err);
    if (r != 0 || !s->new_set)
        return r;
    struct spn_value *answer = NULL;
    const struct rollout_step step = { s->new_set, s->new_set->replicas,
                                       spec_replicas(s->deployment) };
    r = scale_set(s, &step, false, &answer, err);
    if (r < 0)
        return r;
    if (is_complete(s))
        r = clean_up(s, err);
    return r < 0 ? r : sync_rollout_status(s, err);
}

/* ---- Rolling back ---- */

static int clear_rollback(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_value *meta = spn_value_ensure(w->arena, s->deployment, "metadata");
    spn_value_remove(w->arena, spn_value_ensure(w->arena, meta, "annotations"),
                     ANNOTATION_ROLLBACK);
    return spn_client_update(w->client, &w->at, s->deployment, &w->how, w->arena, NULL, err);
}

static int roll_back_to(struct deployment_sync *s, const struct deployment_set *set,
                        int64_t revision, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_text name = meta_name(s->deployment);
    if (revision_same_template(w->arena, spn_value_dig(s->deployment, "spec", "template"),
                               spn_value_dig(set->object, "spec", "template"))) {
        spn_event(w->events, s->deployment, SPN_WARNING, "DeploymentRollbackTemplateUnchanged",
                  "The rollback revision contains the same template as current deployment "
                  "\"" SPN_FMT "\"",
                  SPN_ARG(name));
        return clear_rollback(s, err);
    }
    revision_roll_back(w->arena, s->deployment, set->object);
    int r = clear_rollback(s, err);
    if (r == 0)
        spn_event(w->events, s->deployment, SPN_NORMAL, "DeploymentRollback",
                  "Rolled back deployment \"" SPN_FMT "\" to revision %lld", SPN_ARG(name),
                  (long long)revision);
    return r;
}

static int roll_back(struct deployment_sync *s, int64_t revision, struct spn_err *err)
{
    int r = s->new_set ? 0 : create_new(s, err);
    if (r != 0 || !s->new_set)
        return r;
    const bool is_last = revision == 0;
    if (is_last)
        revision = revision_last(s->sets, s->n_sets);
    for (size_t i = 0; i < s->n_sets && revision; i++)
        if (s->sets[i].revision == revision)
            return roll_back_to(s, &s->sets[i], revision, err);
    spn_event(s->work->events, s->deployment, SPN_WARNING, "DeploymentRollbackRevisionNotFound",
              "%s",
              is_last && !revision ? "Unable to find last revision."
                                   : "Unable to find the revision to rollback to.");
    return clear_rollback(s, err);
}

/* ---- What to do ---- */

static int roll_out(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_text type = spn_value_text(spn_value_dig(s->deployment, "spec", "strategy", "type"));
    if (spn_text_eq(type, SPN_TEXT("Recreate")))
        return recreate(s, err);
    if (spn_text_eq(type, SPN_TEXT("RollingUpdate")))
        return roll(s, err);
    return spn_err_set(err, SPN_INVALID, "unexpected deployment strategy type: " SPN_FMT,
                       SPN_ARG(type));
}

static int note_pause(struct deployment_sync *s, struct spn_err *err)
{
    if (meta_is_deleting(s->deployment) ||
        !status_note_paused(s->work->arena, s->deployment, time_now()))
        return 0;
    return deployment_write_status(s, err);
}

int deployment_sync_sets(struct deployment_sync *s, struct spn_err *err)
{
    int64_t revision;
    int r = note_pause(s, err);
    if (r < 0)
        return r;
    s->new_set = find_new(s);
    if (s->new_set)
        r = refresh_new(s, err);
    if (r < 0)
        return r;
    if (meta_is_deleting(s->deployment))
        return sync_status(s, err);
    if (is_paused(s))
        return sync_scale(s, err);
    if (has_rollback(s, &revision))
        return roll_back(s, revision, err);
    return is_scaled(s) ? sync_scale(s, err) : roll_out(s, err);
}
