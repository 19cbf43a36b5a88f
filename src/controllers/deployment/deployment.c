/* deployment.c - brings ReplicaSets to what a Deployment says, a step at a time. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/fields.h"
#include "controllers/common/owned.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "controllers/deployment/rollout.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 5 };

static const struct spn_target deployments = SPN_AT("apps", "v1", "deployments", "", "");
static const struct spn_target replica_sets = SPN_AT("apps", "v1", "replicasets", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

/* ---- Which Deployments a change is about ---- */

static bool selects(struct spn_arena *a, const struct spn_object *deployment,
                    const struct spn_object *set)
{
    struct labels_selector selector;
    const struct spn_value *d = spn_object_value(deployment, a);
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, v, "metadata", spn_object_meta(set, a));
    return claim_selector(a, spn_value_dig(d, "spec", "selector"), &selector, NULL) == 0 &&
           !labels_empty(&selector) && claim_matches(&selector, v);
}

/* A set without an owner is about all Deployments that could adopt it. */
static void map_set(void *arg, const struct spn_object *set, struct spn_arena *a,
                    struct spn_keys *out)
{
    const struct deployments *c = arg;
    struct spn_owner owner;
    struct spn_objects all = { 0 };
    if (spn_object_controller(set, a, &owner)) {
        if (owned_by_kind(set, a, "Deployment", deployments.group, &owner))
            spn_keys_put(out, spn_object_namespace(set), owner.name);
        return;
    }
    if (spn_object_is_deleting(set))
        return;
    spn_cache_list(c->deployments, spn_object_namespace(set), false, &all);
    for (size_t i = 0; i < all.n; i++)
        if (selects(a, all.items[i], set))
            spn_keys_put(out, spn_object_namespace(set), spn_object_name(all.items[i]));
    spn_objects_done(&all);
}

static struct spn_object *cached(struct spn_cache *cache, struct spn_arena *a, struct spn_text ns,
                                 struct spn_text name)
{
    return spn_cache_get(cache,
                         spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name)));
}

/* Who recreates waits for the last old pod to go. */
static void map_pod(void *arg, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_keys *out)
{
    const struct deployments *c = arg;
    struct spn_owner owner;
    if (!owned_by_kind(pod, a, "ReplicaSet", replica_sets.group, &owner))
        return;
    struct spn_text ns = spn_object_namespace(pod);
    struct spn_object *set = cached(c->sets, a, ns, owner.name), *d = NULL;
    if (set && owned_by_kind(set, a, "Deployment", deployments.group, &owner))
        d = cached(c->deployments, a, ns, owner.name);
    if (d && spn_text_eq(
                 spn_value_text(spn_value_dig(spn_object_value(d, a), "spec", "strategy", "type")),
                 SPN_TEXT("Recreate")))
        spn_keys_put(out, ns, owner.name);
    spn_object_unref(d);
    spn_object_unref(set);
}

static bool when_pod_goes(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return !new_o;
}

/* ---- One Deployment ---- */

static void take_sets(struct deployment_sync *s, struct spn_value **items, size_t n)
{
    s->sets = spn_arena_alloc(s->work->arena, (n + 2) * sizeof(*s->sets));
    for (size_t i = 0; i < n; i++)
        s->sets[i] = deployment_set_of(items[i]);
    s->n_sets = n;
    deployment_sets_sort(s->sets, n);
}

/* Those that it has; nobody's that fit become its own. */
static int claim_sets(struct deployment_sync *s, struct owned *all, struct spn_err *err)
{
    struct labels_selector selector;
    struct spn_arena *a = s->work->arena;
    int r = claim_selector(a, spn_value_dig(s->deployment, "spec", "selector"), &selector, err);
    if (r < 0)
        return r;
    struct claim claim = { .work = s->work,
                           .owner = s->deployment,
                           .selector = &selector,
                           .what = replica_sets,
                           .object_kind = "ReplicaSet" };
    r = claim_objects(&claim, all->items, &all->n, err);
    if (r == 0)
        take_sets(s, all->items, all->n);
    return r;
}

/* Whoever selects everything would take what is others'. */
static int refuse_all(struct deployment_sync *s, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    spn_event(s->work->events, s->deployment, SPN_WARNING, "SelectingAll",
              "This deployment is selecting all pods. A non-empty selector is required.");
    if (status_int(s->deployment, "observedGeneration") >= meta_generation(s->deployment))
        return spn_done();
    spn_value_set_int(a, spn_value_ensure(a, s->deployment, "status"), "observedGeneration",
                      meta_generation(s->deployment));
    return deployment_write_status(s, err);
}

static int sync_claimed(struct deployment_sync *s, struct owned *all, struct spn_err *err)
{
    int r = claim_sets(s, all, err);
    return r < 0 ? r : deployment_sync_sets(s, err);
}

static int sync_deployment(struct deployment_sync *s, struct spn_err *err)
{
    struct owned all = owned_list(s->c->sets, s->work->arena, meta_uid(s->deployment), s->work->ns);
    int r = sync_claimed(s, &all, err);
    owned_done(&all);
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct deployment_sync s = { .c = arg, .work = w, .deployment = spn_work_object(w) };
    if (!s.deployment)
        return spn_done();
    spn_value_set_text(w->arena, s.deployment, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(w->arena, s.deployment, "kind", SPN_TEXT("Deployment"));
    const struct spn_value *selector = spn_value_dig(s.deployment, "spec", "selector");
    if (!spn_value_count(selector))
        return refuse_all(&s, err);
    int r = sync_deployment(&s, err);
    if (r == -SPN_CONFLICT || r == -SPN_NOT_FOUND) /* the cache will soon know more */
        return spn_again();
    return r;
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct deployments *c = mem_new(struct deployments);
    *c = (struct deployments){ .deployments = caches_owned(env->manager, deployments),
                               .sets = caches_owned(env->manager, replica_sets),
                               .pods = caches_owned(env->manager, pods) };
    *ret = c;
    struct spn_controller *controller = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "deployment-controller",
                                                        .what = deployments,
                                                        .kind = "Deployment",
                                                        .workers = WORKERS,
                                                        .reconcile = reconcile,
                                                        .arg = c,
                                                        .component = "deployment-controller" });
    spn_controller_watches(controller, &replica_sets, map_set, c);
    spn_controller_source(
        controller, &(struct spn_source){
                        .of.what = pods, .map = map_pod, .map_arg = c, .when = when_pod_goes });
    return 0;
}

static void done(void *made)
{
    free(made);
}

const struct controllers_row controllers_deployment = { .name = "deployment-controller",
                                                        .add = add,
                                                        .done = done };
