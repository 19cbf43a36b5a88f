/* endpointslice-mirroring-controller: Endpoints of Services without a selector, which somebody
 * else writes, as EndpointSlices. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/endpoints/backends.h"
#include "controllers/endpoints/mirror.h"
#include "controllers/endpoints/slice_io.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 2, STALE_MS = 20 };

static const struct spn_target endpoints = SPN_AT("", "v1", "endpoints", "", "");
static const struct spn_target services = SPN_AT("", "v1", "services", "", "");

struct mirrorer {
    struct slice_io io;
    struct spn_recorder *recorder;
};

/* Whether there is something to mirror. */
static bool is_wanted(struct spn_work *w, const struct spn_value *object)
{
    struct spn_target at = services;
    at.ns = w->ns;
    at.name = w->name;
    const struct spn_object *service = spn_work_cached(w, &at);
    return object && mirror_is_wanted(object) && service &&
           !service_has_selector(spn_object_value(service, w->arena));
}

static void report(struct mirrorer *m, const struct spn_value *object,
                   const struct mirror_skips *skips)
{
    if (skips->n_invalid)
        spn_event(m->recorder, object, SPN_WARNING, "InvalidIPAddress",
                  "Skipped %zu invalid IP addresses when mirroring to EndpointSlices",
                  skips->n_invalid);
    if (skips->n_skipped > skips->n_invalid)
        spn_event(m->recorder, object, SPN_WARNING, "TooManyAddressesToMirror",
                  "A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. "
                  "%zu addresses were skipped",
                  MIRROR_MAX, skips->n_skipped);
}

static int keep(struct mirrorer *m, struct spn_work *w, const struct spn_value *object,
                const struct slice_set *now, struct spn_err *err)
{
    struct slice_plan plan = { 0 };
    struct mirror_skips skips = { 0 };
    bool lives = object && !spn_value_dig(object, "metadata", "deletionTimestamp");
    if (is_wanted(w, object))
        mirror_plan(w->arena, object, now->items, now->n, &plan, &skips);
    else
        for (size_t i = 0; i < now->n; i++)
            slice_list_add(w->arena, &plan.remove, spn_value_copy(w->arena, now->items[i]));
    report(m, object, &skips);
    int r = slice_io_write(&m->io, w, &plan, lives, err);
    return r == -SPN_CONFLICT || r == -SPN_NOT_FOUND ? spn_again() : r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct mirrorer *m = arg;
    struct slice_set now;
    if (!slice_io_get(&m->io, w, &now))
        return spn_again_after(STALE_MS);
    int r = keep(m, w, spn_work_object(w), &now, err);
    slice_set_done(&now);
    return r;
}

static bool selector_matters(void *arg, const struct spn_object *old_o,
                             const struct spn_object *new_o)
{
    (void)arg;
    struct spn_arena *a = spn_arena_new();
    bool had = old_o && service_has_selector(spn_object_value(old_o, a));
    bool has = new_o && service_has_selector(spn_object_value(new_o, a));
    spn_arena_free(a);
    return old_o && new_o ? had != has : !had && !has;
}

static void map_same(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_keys *out)
{
    (void)arg;
    (void)a;
    spn_keys_put(out, spn_object_namespace(o), spn_object_name(o));
}

static void done(void *made)
{
    struct mirrorer *m = made;
    if (!m)
        return;
    slice_io_done(&m->io);
    spn_recorder_free(m->recorder);
    free(m);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct mirrorer *m = mem_new(struct mirrorer);
    const struct spn_recorder_options events = { .component =
                                                     "endpoint-slice-mirroring-controller" };
    int r = spn_recorder_new(env->client, &events, &m->recorder, err);
    if (r < 0) {
        done(m);
        return r;
    }
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "endpointslice-mirroring-controller",
                                          .what = endpoints,
                                          .kind = "Endpoints",
                                          .workers = WORKERS,
                                          .when = spn_when_version_changes,
                                          .reconcile = reconcile,
                                          .arg = m });
    m->io.manager = SLICE_MIRRORING;
    spn_controller_source(
        c, &(struct spn_source){ .of.what = services, .map = map_same, .when = selector_matters });
    slice_io_watch(&m->io, env->manager, c);
    *ret = m;
    return 0;
}

const struct controllers_row controllers_endpointslice_mirroring = {
    "endpointslice-mirroring-controller", add, done
};
