/* disruption-controller: keeps the status of PodDisruptionBudgets, by which evictions are judged;
 * and takes the mark back from pods that were to be disrupted and were not. */
#include <sampan/mapper.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "api/selector_dump.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/disruption/plan.h"
#include "controllers/rows.h"
#include "select/labels.h"
#include "base/banned.h"

static const struct spn_target budgets = SPN_AT("policy", "v1", "poddisruptionbudgets", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");

/* Kinds whose objects are in caches anyway. */
static const struct known {
    const char *kind;
    struct spn_target what;
} known[] = {
    { "ReplicaSet", SPN_AT("apps", "v1", "replicasets", "", "") },
    { "Deployment", SPN_AT("apps", "v1", "deployments", "", "") },
    { "StatefulSet", SPN_AT("apps", "v1", "statefulsets", "", "") },
    { "ReplicationController", SPN_AT("", "v1", "replicationcontrollers", "", "") },
};

struct disruption {
    struct spn_cache *budgets, *pods;
    struct spn_cache *known[ARRAY_LEN(known)];
    struct spn_recorder *recorder;
    struct spn_mapper *mapper;
};

/* One budget. */
struct sync {
    struct disruption *d;
    struct spn_work *w;
    struct spn_value *budget;
    struct spn_objects held;
    struct budget_pods pods;
};

/* ---- Its pods ---- */

static int read_selector(struct spn_arena *a, const struct spn_value *budget,
                         struct labels_selector *ret, struct spn_err *err)
{
    struct err why = ERR_INIT(arena_in(a));
    int r = labels_from_value(arena_in(a), value_in(spn_value_dig(budget, "spec", "selector")), ret,
                              &why);
    return r < 0 ? err_out(err, &why, SPN_INVALID) : 0;
}

static int find_pods(struct sync *s, struct spn_err *err)
{
    struct spn_arena *a = s->w->arena;
    struct labels_selector selector;
    int r = read_selector(a, s->budget, &selector, err);
    if (r < 0)
        return r;
    spn_cache_list(s->d->pods, s->w->ns, true, &s->held);
    const struct spn_value **items = spn_arena_alloc(a, (s->held.n + 1) * sizeof(*items));
    for (size_t i = 0; i < s->held.n; i++) {
        const struct spn_value *meta = spn_object_meta(s->held.items[i], a);
        if (labels_match_value(&selector, value_in(spn_value_get(meta, "labels"))))
            items[s->pods.n++] = spn_object_value(s->held.items[i], a);
    }
    s->pods.items = items;
    return 0;
}

/* ---- How many their controllers want ---- */

struct scales {
    struct spn_text *uids; /* that are counted already */
    size_t n_uids;
    int64_t total;
    size_t n_unmanaged;
};

static bool controller_of(const struct spn_value *obj, struct spn_owner *ret)
{
    const struct spn_value *refs = spn_value_dig(obj, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *r = spn_value_at(refs, i);
        if (!spn_value_is_true(spn_value_get(r, "controller")))
            continue;
        *ret = (struct spn_owner){ spn_value_text(spn_value_get(r, "apiVersion")),
                                   spn_value_text(spn_value_get(r, "kind")),
                                   spn_value_text(spn_value_get(r, "name")),
                                   spn_value_text(spn_value_get(r, "uid")) };
        return true;
    }
    return false;
}

static bool is_counted(const struct scales *sc, struct spn_text uid)
{
    for (size_t i = 0; i < sc->n_uids; i++)
        if (spn_text_eq(sc->uids[i], uid))
            return true;
    return false;
}

static struct spn_cache *cache_of(const struct sync *s, const struct spn_owner *o)
{
    const char *slash = o->api_version.n ? memchr(o->api_version.p, '/', o->api_version.n) : NULL;
    struct spn_text group = { o->api_version.p, slash ? (size_t)(slash - o->api_version.p) : 0 };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (spn_text_eq(o->kind, spn_text_of(known[i].kind)) &&
            spn_text_eq(group, known[i].what.group))
            return s->d->known[i];
    return NULL;
}

static struct spn_value *cached_owner(struct spn_work *w, struct spn_cache *cache,
                                      const struct spn_owner *o)
{
    struct spn_object *cached = spn_cache_get(
        cache, spn_arena_printf(w->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(w->ns), SPN_ARG(o->name)));
    struct spn_value *copy =
        cached ? spn_value_copy(w->arena, spn_object_value(cached, w->arena)) : NULL;
    spn_object_unref(cached);
    return copy;
}

static bool has_scale(const struct spn_resource *res)
{
    for (size_t i = 0; i < res->subresources.n; i++)
        if (spn_text_eq(res->subresources.items[i], SPN_TEXT("scale")))
            return true;
    return false;
}

static int get_scale(struct sync *s, const struct spn_owner *o, struct spn_value **ret,
                     struct spn_err *err)
{
    struct spn_work *w = s->w;
    struct spn_resource res;
    int r = spn_mapper_of_kind(s->d->mapper, o->api_version, o->kind, &w->how, w->arena, &res, err);
    if (r < 0)
        return r;
    if (!has_scale(&res))
        return spn_err_set(err, SPN_INVALID,
                           SPN_FMT "%s" SPN_FMT " does not implement the scale subresource",
                           SPN_ARG(res.plural), res.group.n ? "." : "", SPN_ARG(res.group));
    struct spn_target at = spn_resource_target(&res, w->ns, o->name);
    at.sub = SPN_TEXT("scale");
    return spn_client_get(w->client, &at, &w->how, w->arena, ret, err);
}

/* The owner, if it is there and is the one that is meant; of other kinds its Scale. */
static int get_owner(struct sync *s, const struct spn_owner *o, struct spn_value **ret,
                     struct spn_err *err)
{
    struct spn_cache *cache = cache_of(s, o);
    int r = 0;
    if (cache)
        *ret = cached_owner(s->w, cache, o);
    else
        r = get_scale(s, o, ret, err);
    if (r < 0)
        return r;
    if (!spn_text_eq(meta_uid(*ret), o->uid))
        return spn_err_set(err, SPN_NOT_FOUND, "there is no such owner");
    return 0;
}

/* Who decides on the size. A ReplicaSet of a Deployment stands for the Deployment. */
static int find_scaler(struct sync *s, struct spn_owner *o, struct spn_value **ret,
                       struct spn_err *err)
{
    struct spn_owner up;
    int r = get_owner(s, o, ret, err);
    if (r < 0 || !spn_text_eq(o->kind, SPN_TEXT("ReplicaSet")) || !controller_of(*ret, &up) ||
        !spn_text_eq(up.kind, SPN_TEXT("Deployment")))
        return r;
    *o = up;
    return get_owner(s, o, ret, err);
}

static int count_controller(struct sync *s, const struct spn_value *pod, struct scales *sc,
                            struct spn_err *err)
{
    struct spn_owner o;
    struct spn_value *scaler;
    if (!controller_of(pod, &o)) {
        sc->n_unmanaged++;
        return 0;
    }
    if (is_counted(sc, o.uid))
        return 0;
    sc->uids[sc->n_uids++] = o.uid;
    struct spn_text direct = o.uid;
    int r = find_scaler(s, &o, &scaler, err);
    if (r == -SPN_NOT_FOUND)
        return spn_err_set(err, SPN_NOT_FOUND, "found no controllers for pod \"" SPN_FMT "\"",
                           SPN_ARG(meta_name(pod)));
    if (r < 0 || (!spn_text_eq(direct, o.uid) && is_counted(sc, o.uid)))
        return r;
    sc->uids[sc->n_uids++] = o.uid;
    sc->total += spec_replicas(scaler);
    return 0;
}

static int count_scale(struct sync *s, struct scales *sc, struct spn_err *err)
{
    sc->uids = spn_arena_alloc(s->w->arena, (2 * s->pods.n + 1) * sizeof(*sc->uids));
    for (size_t i = 0; i < s->pods.n; i++) {
        int r = count_controller(s, s->pods.items[i], sc, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void say_unmanaged(struct sync *s)
{
    struct str selector = selector_dump(arena_in(s->w->arena),
                                        value_in(spn_value_dig(s->budget, "spec", "selector")));
    spn_event(s->d->recorder, s->budget, SPN_WARNING, "UnmanagedPods",
              "Pods selected by this PodDisruptionBudget (selector: " STR_FMT
              ") were found to be unmanaged. As a result, the status of the PDB cannot be "
              "calculated correctly, which may result in undefined behavior. To account for these "
              "pods please set \".spec.minAvailable\" field of the PDB to an integer value.",
              STR_ARG(selector));
}

/* ---- One budget ---- */

static void on_late(void *arg, const struct spn_value *pod)
{
    struct sync *s = arg;
    spn_event(s->d->recorder, pod, SPN_WARNING, "NotDeleted",
              "Pod was expected by PDB " SPN_FMT "/" SPN_FMT " to be deleted but it wasn't",
              SPN_ARG(s->w->ns), SPN_ARG(s->w->ns));
}

static int write_status(struct sync *s, const struct spn_value *next, struct spn_err *err)
{
    struct spn_target at = s->w->at;
    at.sub = SPN_TEXT("status");
    if (!next)
        return 0;
    return spn_client_update(s->w->client, &at, next, &s->w->how, s->w->arena, NULL, err);
}

static int try_sync(struct sync *s, struct spn_err *err)
{
    struct scales sc = { 0 };
    int64_t now_ns = time_now(), recheck_ms;
    int r = find_pods(s, err);
    if (r < 0) {
        spn_event(s->d->recorder, s->budget, SPN_WARNING, "NoPods", "Failed to get pods: %s",
                  err->message);
        return r;
    }
    if (s->pods.n == 0)
        spn_event(s->d->recorder, s->budget, SPN_NORMAL, "NoPods", "No matching pods found");
    if (budget_needs_scale(s->budget))
        r = count_scale(s, &sc, err);
    if (r < 0) {
        spn_event(s->d->recorder, s->budget, SPN_WARNING, "CalculateExpectedPodCountFailed",
                  "Failed to calculate the number of expected pods: %s", err->message);
        return r;
    }
    if (sc.n_unmanaged)
        say_unmanaged(s);
    struct spn_value *disrupted =
        budget_disrupted(s->w->arena, s->budget, &s->pods, now_ns, on_late, s, &recheck_ms);
    const struct budget_counts c = budget_count(s->budget, &s->pods, sc.total, disrupted, now_ns);
    r = write_status(s, budget_status(s->w->arena, s->budget, &c, disrupted), err);
    return r < 0 ? r : recheck_ms ? spn_again_after(recheck_ms) : spn_done();
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct sync s = { .d = arg, .w = w, .budget = spn_work_object(w) };
    if (!s.budget)
        return spn_done();
    int r = try_sync(&s, err);
    if (r < 0 && r != -SPN_CONFLICT && r != -SPN_CANCELLED)
        r = write_status(&s, budget_failed(w->arena, s.budget, err->message), err);
    spn_objects_done(&s.held);
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

/* ---- Pods that were to go and did not ---- */

static int reset_target(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_value *pod = spn_work_object(w);
    int64_t left_ms = pod ? budget_stale_target_ms(pod, time_now()) : -1;
    if (left_ms < 0)
        return spn_done();
    if (left_ms > 0)
        return spn_again_after(left_ms);
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("status");
    (void)spn_condition_set(w->arena, pod,
                            &(struct spn_condition){ .type = "DisruptionTarget",
                                                     .status = "False",
                                                     .observed_generation = meta_generation(pod) });
    int r = spn_client_update(w->client, &at, pod, &w->how, w->arena, NULL, err);
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

static bool has_target(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return new_o && spn_object_has_text(new_o, SPN_TEXT("DisruptionTarget"));
}

/* ---- Which changes ---- */

static void map_pod(void *arg, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_keys *out)
{
    struct disruption *d = arg;
    struct spn_objects all;
    const struct value *labels = value_in(spn_value_get(spn_object_meta(pod, a), "labels"));
    spn_cache_list(d->budgets, spn_object_namespace(pod), false, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct labels_selector selector;
        if (read_selector(a, spn_object_value(all.items[i], a), &selector, NULL) == 0 &&
            labels_match_value(&selector, labels))
            spn_keys_put(out, spn_object_namespace(pod), spn_object_name(all.items[i]));
    }
    spn_objects_done(&all);
}

static void done(void *made)
{
    struct disruption *d = made;
    if (!d)
        return;
    spn_recorder_free(d->recorder);
    spn_mapper_free(d->mapper);
    free(d);
}

static void add_controllers(const struct controllers_env *env, struct disruption *d)
{
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "disruption-controller",
                                                        .what = budgets,
                                                        .kind = "PodDisruptionBudget",
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = d });
    spn_controller_source(c, &(struct spn_source){ .of.what = all_pods,
                                                   .map = map_pod,
                                                   .map_arg = d,
                                                   .when = spn_when_version_changes });
    (void)spn_manager_add(env->manager,
                          &(struct spn_controller_options){ .name = "disruption-targets",
                                                            .what = all_pods,
                                                            .kind = "Pod",
                                                            .when = has_target,
                                                            .reconcile = reset_target,
                                                            .arg = d });
    d->budgets = caches_get(env->manager, budgets);
    d->pods = caches_get(env->manager, all_pods);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        d->known[i] = caches_get(env->manager, known[i].what);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct disruption *d = mem_new(struct disruption);
    const struct spn_recorder_options events = { .component = "controllermanager" };
    d->mapper = spn_mapper_new(env->client, NULL);
    int r = spn_recorder_new(env->client, &events, &d->recorder, err);
    if (r < 0) {
        done(d);
        return r;
    }
    add_controllers(env, d);
    *ret = d;
    return 0;
}

const struct controllers_row controllers_disruption = { "disruption-controller", add, done };
