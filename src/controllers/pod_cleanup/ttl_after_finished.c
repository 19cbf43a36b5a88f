/* ttl-after-finished-controller: a Job that says how long it is to stay after its end goes then. */
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/pod_cleanup/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

static const struct spn_target jobs = SPN_AT("batch", "v1", "jobs", "", "");

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_value *job = spn_work_object(w);
    int64_t left_ms = job ? job_cleanup_left_ms(job, time_now()) : -1;
    if (left_ms)
        return left_ms > 0 ? spn_again_after(left_ms) : spn_done();
    /* The cache may be old: somebody may have given it more time. */
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &job, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    left_ms = job_cleanup_left_ms(job, time_now());
    if (left_ms)
        return left_ms > 0 ? spn_again_after(left_ms) : spn_done();
    r = spn_client_delete(w->client, &w->at,
                          &(struct spn_delete){ .propagation = "Foreground", .uid = meta_uid(job) },
                          &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

static bool has_ttl(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    if (!new_o || spn_object_is_deleting(new_o))
        return false;
    struct spn_arena *a = spn_arena_new();
    bool has = job_cleanup_left_ms(spn_object_value(new_o, a), 0) >= 0;
    spn_arena_free(a);
    return has;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(env->manager,
                          &(struct spn_controller_options){ .name = "ttl-after-finished-controller",
                                                            .what = jobs,
                                                            .kind = "Job",
                                                            .when = has_ttl,
                                                            .reconcile = reconcile });
    return 0;
}

const struct controllers_row controllers_ttl_after_finished = { "ttl-after-finished-controller",
                                                                add, NULL };
