/* endpoints-controller: the older kind, one Endpoints object for each Service that selects pods. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/refusal.h"
#include "controllers/endpoints/backends.h"
#include "controllers/endpoints/service_pods.h"
#include "controllers/endpoints/subsets.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 3 };

static const struct spn_target services = SPN_AT("", "v1", "services", "", "");
static const struct spn_target endpoints = SPN_AT("", "v1", "endpoints", "", "");

struct keeper {
    struct service_pods pods;
    struct spn_controller *controller;
    struct spn_recorder *recorder;
};

/* The cache was old, or everything ends: nothing that a user should know of. */
static bool is_passing(int r)
{
    return r == -SPN_CONFLICT || r == -SPN_EXISTS || r == -SPN_NOT_FOUND || r == -SPN_CANCELLED;
}

static int create(struct keeper *k, struct spn_work *w, const struct spn_target *at,
                  const struct spn_value *wanted, struct spn_err *err)
{
    int r = spn_client_create(w->client, at, wanted, &w->how, w->arena, NULL, err);
    if (r < 0 && refusal_is_terminating(err))
        return spn_done();
    if (r < 0 && !is_passing(r))
        spn_event(k->recorder, wanted, SPN_WARNING, "FailedToCreateEndpoint",
                  "Failed to create endpoint for service " SPN_FMT "/" SPN_FMT ": %s",
                  SPN_ARG(w->ns), SPN_ARG(w->name), err->message);
    return r == -SPN_EXISTS ? spn_again() : r;
}

static int update(struct keeper *k, struct spn_work *w, const struct spn_target *at,
                  const struct spn_value *wanted, struct spn_err *err)
{
    int r = spn_client_update(w->client, at, wanted, &w->how, w->arena, NULL, err);
    if (r < 0 && !is_passing(r))
        spn_event(k->recorder, wanted, SPN_WARNING, "FailedToUpdateEndpoint",
                  "Failed to update endpoint " SPN_FMT "/" SPN_FMT ": %s", SPN_ARG(w->ns),
                  SPN_ARG(w->name), err->message);
    return r == -SPN_CONFLICT || r == -SPN_NOT_FOUND ? spn_again() : r;
}

static int keep(struct keeper *k, struct spn_work *w, const struct spn_target *at,
                const struct spn_value *service, struct spn_err *err)
{
    struct service_pod_list pods;
    const struct spn_object *cached = spn_work_cached(w, at);
    const struct spn_value *now = cached ? spn_object_value(cached, w->arena) : NULL;
    service_pods_of(&k->pods, service, w->arena, &pods);
    struct spn_value *subsets = subsets_of_pods(w->arena, service, pods.items, pods.n);
    struct spn_text trigger = backend_trigger(w->arena, service, pods.items, pods.n);
    const struct spn_value *wanted = subsets_wanted(w->arena, service, now, subsets, trigger);
    int r = !wanted ? spn_done()
            : now   ? update(k, w, at, wanted, err)
                    : create(k, w, at, wanted, err);
    service_pod_list_done(&pods);
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_target at = endpoints;
    const struct spn_value *service = spn_work_object(w);
    at.ns = w->ns;
    at.name = w->name;
    if (!service) {
        int r = spn_client_delete(w->client, &at, NULL, &w->how, w->arena, NULL, err);
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    }
    if (service_is_external(service) || !service_has_selector(service))
        return spn_done();
    return keep(arg, w, &at, service, err);
}

/* ---- Which changes ---- */

/* One that goes comes again. */
static bool has_gone(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return !new_o;
}

static void map_same(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_keys *out)
{
    (void)arg;
    (void)a;
    spn_keys_put(out, spn_object_namespace(o), spn_object_name(o));
}

/* What was left over from Services that went while nobody looked. Those that programs use to elect
 * a leader have no Service. */
static void on_leftover(void *arg, const struct spn_object *o, bool is_initial)
{
    struct keeper *k = arg;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *notes = spn_value_get(spn_object_meta(o, a), "annotations");
    if (is_initial && !spn_value_get(notes, "control-plane.alpha.kubernetes.io/leader"))
        spn_controller_enqueue(k->controller, spn_object_namespace(o), spn_object_name(o));
    spn_arena_free(a);
}

/* ---- Beginning and end ---- */

static void done(void *made)
{
    struct keeper *k = made;
    if (k)
        spn_recorder_free(k->recorder);
    free(k);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct keeper *k = mem_new(struct keeper);
    const struct spn_recorder_options events = { .component = "endpoint-controller" };
    int r = spn_recorder_new(env->client, &events, &k->recorder, err);
    if (r < 0) {
        done(k);
        return r;
    }
    k->controller = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "endpoints-controller",
                                                        .what = services,
                                                        .kind = "Service",
                                                        .workers = WORKERS,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = k });
    service_pods_watch(&k->pods, env->manager, k->controller);
    spn_controller_source(
        k->controller,
        &(struct spn_source){ .of.what = endpoints, .map = map_same, .when = has_gone });
    spn_informer_handle(spn_informers_get(spn_manager_informers(env->manager),
                                          &(struct spn_informer_options){ .what = endpoints }),
                        &(struct spn_handler){ .arg = k, .on_add = on_leftover });
    *ret = k;
    return 0;
}

const struct controllers_row controllers_endpoints = { "endpoints-controller", add, done };
