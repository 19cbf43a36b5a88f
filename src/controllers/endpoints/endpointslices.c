/* endpointslice-controller: EndpointSlices of Services that select pods. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/endpoints/backends.h"
#include "controllers/endpoints/service_pods.h"
#include "controllers/endpoints/slice_io.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 3, STALE_MS = 20 };

static const struct spn_target services = SPN_AT("", "v1", "services", "", "");
static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");

struct slicer {
    struct service_pods pods;
    struct slice_io io;
    struct spn_cache *nodes;
    struct spn_recorder *recorder;
};

/* The pod's node, as far as it is known. */
static struct slice_backend backend_of(struct slicer *s, struct spn_work *w,
                                       const struct spn_value *pod)
{
    struct slice_backend b = { .pod = pod, .zone = SPN_TEXT("") };
    struct spn_text name = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    struct spn_object *node = name.n ? spn_cache_get(s->nodes, name) : NULL;
    b.has_node = node;
    if (node)
        b.zone = spn_arena_text(w->arena,
                                spn_object_label(node, w->arena, "topology.kubernetes.io/zone"));
    spn_object_unref(node);
    return b;
}

/* Only what asks for it pays for it. */
static struct zones find_zones(struct slicer *s, struct spn_work *w,
                               const struct spn_value *service)
{
    struct spn_objects all;
    if (!zones_are_wanted(service))
        return (struct zones){ 0 };
    spn_cache_list(s->nodes, SPN_TEXT(""), true, &all);
    const struct spn_value **items = spn_arena_alloc(w->arena, (all.n + 1) * sizeof(*items));
    for (size_t i = 0; i < all.n; i++)
        items[i] = spn_object_value(all.items[i], w->arena);
    struct zones found = zones_of(w->arena, items, all.n);
    spn_objects_done(&all);
    return found;
}

static void report(struct slicer *s, const struct spn_value *service, const struct slice_plan *plan)
{
    for (size_t i = 0; i < plan->n_events; i++)
        spn_event(s->recorder, service, plan->events[i].is_warning ? SPN_WARNING : SPN_NORMAL,
                  plan->events[i].reason, "%s", plan->events[i].message);
}

static int keep(struct slicer *s, struct spn_work *w, const struct spn_value *service,
                const struct slice_set *now, struct spn_err *err)
{
    struct service_pod_list pods;
    struct slice_plan plan = { 0 };
    service_pods_of(&s->pods, service, w->arena, &pods);
    struct slice_backend *backends = spn_arena_alloc(w->arena, (pods.n + 1) * sizeof(*backends));
    for (size_t i = 0; i < pods.n; i++)
        backends[i] = backend_of(s, w, pods.items[i]);
    const struct slice_wish wish = {
        .service = service,
        .backends = backends,
        .n_backends = pods.n,
        .slices = now->items,
        .n_slices = now->n,
        .trigger_time = backend_trigger(w->arena, service, pods.items, pods.n),
        .zones = find_zones(s, w, service),
    };
    bool all_known = slices_plan(w->arena, &wish, &plan);
    bool lives = !spn_value_dig(service, "metadata", "deletionTimestamp");
    int r = slice_io_write(&s->io, w, &plan, lives, err);
    report(s, service, &plan);
    service_pod_list_done(&pods);
    if (r == -SPN_CONFLICT || r == -SPN_NOT_FOUND)
        return spn_again();
    return r == 0 && !all_known ? spn_again() : r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct slicer *s = arg;
    struct slice_set now;
    const struct spn_value *service = spn_work_object(w);
    if (!service) {
        own_writes_forget(s->io.writes, w->key);
        return spn_done(); /* its slices go with it */
    }
    if (service_is_external(service) || !service_has_selector(service))
        return spn_done();
    if (!slice_io_get(&s->io, w, &now))
        return spn_again_after(STALE_MS);
    int r = keep(s, w, service, &now, err);
    slice_set_done(&now);
    if (r < 0 && r != -SPN_CANCELLED)
        spn_event(s->recorder, service, SPN_WARNING, "FailedToUpdateEndpointSlices",
                  "Error updating Endpoint Slices for Service " SPN_FMT "/" SPN_FMT ": %s",
                  SPN_ARG(w->ns), SPN_ARG(w->name), err->message);
    return r;
}

static void done(void *made)
{
    struct slicer *s = made;
    if (!s)
        return;
    slice_io_done(&s->io);
    spn_recorder_free(s->recorder);
    free(s);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct slicer *s = mem_new(struct slicer);
    const struct spn_recorder_options events = { .component = "endpoint-slice-controller" };
    int r = spn_recorder_new(env->client, &events, &s->recorder, err);
    if (r < 0) {
        done(s);
        return r;
    }
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "endpointslice-controller",
                                                        .what = services,
                                                        .kind = "Service",
                                                        .workers = WORKERS,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = s });
    s->io.manager = SLICE_CONTROLLER;
    s->nodes = caches_get(env->manager, nodes);
    service_pods_watch(&s->pods, env->manager, c);
    slice_io_watch(&s->io, env->manager, c);
    *ret = s;
    return 0;
}

const struct controllers_row controllers_endpointslices = { "endpointslice-controller", add, done };
