/* replicaset.c - keeps as many pods as a ReplicaSet or a ReplicationController says. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/expectations.h"
#include "controllers/common/fields.h"
#include "controllers/common/owned.h"
#include "controllers/common/pod_control.h"
#include "controllers/common/pod_owners.h"
#include "controllers/common/pods.h"
#include "controllers/common/refusal.h"
#include "controllers/common/times.h"
#include "controllers/replicaset/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 5 };

static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

/* In what the two kinds differ. */
struct set_kind {
    const char *controller, *kind, *component;
    struct spn_target what;
    struct spn_text api_version;
    bool is_older; /* its selector is a map of labels, and it does not count pods that end */
};

/* A controller of one of them. */
struct sets {
    const struct set_kind *of;
    struct spn_cache *sets, *pods;
    struct expectations *expected;
    struct pod_owners owners;
};

/* A reconcile. */
struct set_sync {
    struct sets *c;
    struct spn_work *work;
    struct spn_value *set;
    struct labels_selector selector;
    struct spn_value **active;
    size_t n_active;
    int64_t n_terminating;
    int64_t now_ns;
};

/* ---- Making and deleting pods ---- */

static int create_one(void *arg, struct spn_err *err)
{
    struct set_sync *s = arg;
    const struct pod_control control = { s->work, s->set };
    const struct spn_value *pod =
        pod_from_template(s->work->arena, spn_value_dig(s->set, "spec", "template"), s->set);
    int r = pod_control_create(&control, pod, err);
    return r < 0 && refusal_of_pod_is_final(err) ? 0 : r;
}

static int create_pods(struct set_sync *s, size_t n, struct spn_err *err)
{
    int r;
    expectations_create(s->c->expected, s->work->key, n);
    size_t n_made = pod_control_slow_start(n, create_one, s, &r, err);
    for (; n_made < n; n_made++)
        expectations_created(s->c->expected, s->work->key);
    return r;
}

static struct spn_text pod_key(struct set_sync *s, const struct spn_value *pod)
{
    return spn_arena_printf(s->work->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(s->work->ns),
                            SPN_ARG(meta_name(pod)));
}

static int delete_one(struct set_sync *s, const struct spn_value *pod, struct spn_err *err)
{
    const struct pod_control control = { s->work, s->set };
    int r = pod_control_delete(&control, pod, err);
    if (r < 0)
        expectations_deleted(s->c->expected, s->work->key, pod_key(s, pod));
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int delete_chosen(struct set_sync *s, const struct spn_value **chosen, size_t n,
                         struct spn_err *err)
{
    int first = 0;
    struct spn_text *keys = spn_arena_alloc(s->work->arena, n * sizeof(*keys));
    for (size_t i = 0; i < n; i++)
        keys[i] = pod_key(s, chosen[i]);
    expectations_delete(s->c->expected, s->work->key, keys, n);
    for (size_t i = 0; i < n; i++) {
        struct spn_err why = { 0 };
        int r = delete_one(s, chosen[i], &why);
        if (r == 0 || first < 0)
            continue;
        first = r;
        *err = why;
    }
    return first;
}

/* All pods of sets with the same owner, which spread over nodes together. */
static void choose(struct set_sync *s, const struct spn_value **pods_of_ours)
{
    struct spn_arena *a = s->work->arena;
    struct spn_object *own = spn_cache_get(s->c->sets, s->work->key);
    struct spn_owner owner;
    struct owned none = { 0 };
    struct owned siblings = own && spn_object_controller(own, a, &owner)
                                ? owned_list(s->c->sets, a, owner.uid, SPN_TEXT(""))
                                : none;
    struct owned *parts = spn_arena_alloc(a, (siblings.n + 1) * sizeof(*parts));
    size_t n = 0;
    for (size_t i = 0; i < siblings.n; i++) {
        parts[i] = owned_list(s->c->pods, a, meta_uid(siblings.items[i]), SPN_TEXT(""));
        n += parts[i].n;
    }
    struct spn_value **related = spn_arena_alloc(a, (n + 1) * sizeof(*related));
    n = 0;
    for (size_t i = 0; i < siblings.n; i++)
        for (size_t k = 0; k < parts[i].n; k++)
            related[n++] = parts[i].items[k];
    replicaset_choose(a, pods_of_ours, s->n_active, related, n, s->now_ns);
    for (size_t i = 0; i < siblings.n; i++)
        owned_done(&parts[i]);
    owned_done(&siblings);
    spn_object_unref(own);
}

static int delete_pods(struct set_sync *s, size_t n, struct spn_err *err)
{
    const struct spn_value **chosen =
        spn_arena_alloc(s->work->arena, (s->n_active + 1) * sizeof(*chosen));
    for (size_t i = 0; i < s->n_active; i++)
        chosen[i] = s->active[i];
    if (n < s->n_active)
        choose(s, chosen);
    return delete_chosen(s, chosen, n, err);
}

static int manage(struct set_sync *s, struct spn_err *err)
{
    int64_t diff = replicaset_diff(s->set, s->n_active);
    if (diff > 0)
        return create_pods(s, (size_t)diff, err);
    return diff < 0 ? delete_pods(s, (size_t)-diff, err) : 0;
}

/* ---- Status ---- */

static int put_status(struct set_sync *s, struct spn_value *set, const struct spn_value *status,
                      struct spn_err *err)
{
    struct spn_target at = s->work->at;
    at.sub = SPN_TEXT("status");
    spn_value_set(s->work->arena, set, "status", spn_value_copy(s->work->arena, status));
    return spn_client_update(s->work->client, &at, set, &s->work->how, s->work->arena, NULL, err);
}

/* One more try, with the object as it is now. */
static int write_status(struct set_sync *s, struct spn_value *status, struct spn_err *err)
{
    struct spn_value *fresh;
    if (replicaset_is_current(s->set, status))
        return 0;
    spn_value_set_int(s->work->arena, status, "observedGeneration", meta_generation(s->set));
    int r = put_status(s, s->set, status, err);
    if (r == 0)
        return 0;
    r = spn_client_get(s->work->client, &s->work->at, &s->work->how, s->work->arena, &fresh, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r; /* nobody is left to be told */
    if (!spn_text_eq(meta_uid(fresh), meta_uid(s->set)))
        return spn_err_set(err, SPN_CONFLICT, "it was made anew");
    return put_status(s, fresh, status, err);
}

/* ---- One set ---- */

static void split_pods(struct set_sync *s, struct owned *all, struct spn_value **terminating,
                       size_t *ret_n_terminating)
{
    s->active = spn_arena_alloc(s->work->arena, (all->n + 1) * sizeof(*s->active));
    for (size_t i = 0; i < all->n; i++)
        if (pod_is_active(all->items[i]))
            s->active[s->n_active++] = all->items[i];
        else if (pod_is_terminating(all->items[i]))
            terminating[(*ret_n_terminating)++] = all->items[i];
}

static int claim_pods(struct set_sync *s, struct owned *all, struct spn_err *err)
{
    struct claim claim = { .work = s->work,
                           .owner = s->set,
                           .selector = &s->selector,
                           .what = pods,
                           .object_kind = "Pod" };
    struct spn_value **ending = spn_arena_alloc(s->work->arena, (all->n + 1) * sizeof(*ending));
    size_t n_ending = 0;
    split_pods(s, all, ending, &n_ending);
    int r = claim_objects(&claim, s->active, &s->n_active, err);
    s->n_terminating =
        s->c->of->is_older ? -1 : (int64_t)claim_owned(&claim, ending, n_ending, ending);
    return r;
}

static int next_look(const struct set_sync *s, const struct spn_value *status)
{
    const int64_t min_ready = field_int(spn_value_dig(s->set, "spec", "minReadySeconds"), 0);
    if (min_ready <= 0 || field_int(spn_value_get(status, "readyReplicas"), 0) ==
                              field_int(spn_value_get(status, "availableReplicas"), 0))
        return spn_done();
    int64_t ms = pods_next_available_ms((const struct spn_value *const *)s->active, s->n_active,
                                        min_ready, s->now_ns);
    return spn_again_after(ms < 0 ? min_ready * 1000 : ms);
}

static int sync_set(struct set_sync *s, bool may_change, struct owned *all, struct spn_err *err)
{
    int r = claim_pods(s, all, err);
    if (r < 0)
        return r;
    struct spn_err why = { 0 };
    int managed = may_change && !meta_is_deleting(s->set) ? manage(s, &why) : 0;
    s->now_ns = time_now();
    const struct replicaset_seen seen = { .active = s->active,
                                          .n_active = s->n_active,
                                          .n_terminating = s->n_terminating,
                                          .failure = managed < 0 ? why.message : NULL,
                                          .now_ns = s->now_ns };
    struct spn_value *status = replicaset_status(s->work->arena, s->set, &seen);
    r = write_status(s, status, err);
    if (r < 0)
        return r;
    if (managed < 0) {
        *err = why;
        return managed;
    }
    return next_look(s, status);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct sets *c = arg;
    struct set_sync s = { .c = c, .work = w, .set = spn_work_object(w), .now_ns = time_now() };
    if (!s.set) {
        expectations_forget(c->expected, w->key);
        return spn_done();
    }
    spn_value_set_text(w->arena, s.set, "apiVersion", c->of->api_version);
    spn_value_set_text(w->arena, s.set, "kind", spn_text_of(c->of->kind));
    const bool may_change = expectations_are_met(c->expected, w->key);
    if (claim_selector(w->arena, pod_owners_selector(&c->owners, w->arena, s.set), &s.selector,
                       err) < 0)
        return spn_done(); /* the server has let in what it should not; nothing will help */
    struct owned all = owned_list(c->pods, w->arena, meta_uid(s.set), w->ns);
    int r = sync_set(&s, may_change, &all, err);
    owned_done(&all);
    return r;
}

/* ---- Rows ---- */

static const struct set_kind replica_sets = {
    .controller = "replicaset-controller",
    .kind = "ReplicaSet",
    .component = "replicaset-controller",
    .what = SPN_AT("apps", "v1", "replicasets", "", ""),
    .api_version = { "apps/v1", 7 },
};

static const struct set_kind replication_controllers = {
    .controller = "replicationcontroller-controller",
    .kind = "ReplicationController",
    .component = "replication-controller",
    .what = SPN_AT("", "v1", "replicationcontrollers", "", ""),
    .api_version = { "v1", 2 },
    .is_older = true,
};

static int add(const struct controllers_env *env, const struct set_kind *of, void **ret)
{
    struct sets *c = mem_new(struct sets);
    *c = (struct sets){ .of = of,
                        .sets = caches_owned(env->manager, of->what),
                        .pods = caches_owned(env->manager, pods),
                        .expected = expectations_new() };
    c->owners = (struct pod_owners){ .kind = of->kind,
                                     .group = of->what.group,
                                     .has_plain_selector = of->is_older,
                                     .owners = c->sets,
                                     .expected = c->expected };
    *ret = c;
    (void)pod_owners_add(env->manager, &c->owners,
                         &(struct spn_controller_options){ .name = of->controller,
                                                           .what = of->what,
                                                           .kind = of->kind,
                                                           .workers = WORKERS,
                                                           .reconcile = reconcile,
                                                           .arg = c,
                                                           .component = of->component });
    return 0;
}

static int add_replica_sets(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    return add(env, &replica_sets, ret);
}

static int add_replication_controllers(const struct controllers_env *env, void **ret,
                                       struct spn_err *err)
{
    (void)err;
    return add(env, &replication_controllers, ret);
}

static void done(void *made)
{
    struct sets *c = made;
    if (!c)
        return;
    expectations_free(c->expected);
    free(c);
}

const struct controllers_row controllers_replicaset = { .name = "replicaset-controller",
                                                        .add = add_replica_sets,
                                                        .done = done };

const struct controllers_row controllers_replicationcontroller = {
    .name = "replicationcontroller-controller", .add = add_replication_controllers, .done = done
};
