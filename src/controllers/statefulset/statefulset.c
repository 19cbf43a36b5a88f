/* statefulset.c - keeps pods that have an identity: a number, a name and claims of their own. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/fields.h"
#include "controllers/common/history.h"
#include "controllers/common/owned.h"
#include "controllers/common/pod_owners.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "controllers/statefulset/identity.h"
#include "controllers/statefulset/plan.h"
#include "controllers/statefulset/status.h"
#include "base/banned.h"

enum { WORKERS = 5, HISTORY_LIMIT = 10 };

static const struct spn_target sets = SPN_AT("apps", "v1", "statefulsets", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target revisions = SPN_AT("apps", "v1", "controllerrevisions", "", "");
static const struct spn_target claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");

struct stateful {
    struct spn_cache *sets, *pods, *revisions, *claims;
    struct expectations *expected;
    struct expectations *remade; /* notes: sets that go and got their revision once more */
    struct pod_owners owners;
};

/* A reconcile. */
struct stateful_sync {
    struct stateful *c;
    struct spn_work *work;
    struct spn_value *set;
    struct stateful_spec spec;
    struct labels_selector selector;
    struct owned all_revisions, all_pods;
    struct spn_value *current, *update; /* revisions */
    int64_t collisions;
    struct stateful_pod *replicas, *condemned;
    size_t n_replicas, n_condemned;
    int64_t n_updating; /* pods that were deleted for an update just now */
    int64_t now_ns;
};

/* ---- Events ---- */

static void tell_pod(struct stateful_sync *s, const char *verb, const char *reason,
                     struct spn_text pod, const struct spn_err *why)
{
    if (why)
        spn_event(s->work->events, s->set, SPN_WARNING, reason,
                  "%s Pod " SPN_FMT " in StatefulSet " SPN_FMT " failed error: %s", verb,
                  SPN_ARG(pod), SPN_ARG(s->work->name), why->message);
    else
        spn_event(s->work->events, s->set, SPN_NORMAL, reason,
                  "%s Pod " SPN_FMT " in StatefulSet " SPN_FMT " successful", verb, SPN_ARG(pod),
                  SPN_ARG(s->work->name));
}

static void tell_claim(struct stateful_sync *s, struct spn_text claim, struct spn_text pod,
                       const struct spn_err *why)
{
    if (why)
        spn_event(s->work->events, s->set, SPN_WARNING, "FailedCreate",
                  "Create Claim " SPN_FMT " for Pod " SPN_FMT " in StatefulSet " SPN_FMT
                  " failed error: %s",
                  SPN_ARG(claim), SPN_ARG(pod), SPN_ARG(s->work->name), why->message);
    else
        spn_event(s->work->events, s->set, SPN_NORMAL, "SuccessfulCreate",
                  "Create Claim " SPN_FMT " Pod " SPN_FMT " in StatefulSet " SPN_FMT " success",
                  SPN_ARG(claim), SPN_ARG(pod), SPN_ARG(s->work->name));
}

/* ---- Claims ---- */

static struct spn_target at(struct stateful_sync *s, const struct spn_target *what,
                            struct spn_text name)
{
    struct spn_target t = *what;
    t.ns = s->work->ns;
    t.name = name;
    return t;
}

/* A copy; NULL: the cache has none. */
static struct spn_value *cached_claim(struct stateful_sync *s, size_t i, int64_t ordinal)
{
    struct spn_arena *a = s->work->arena;
    struct spn_text name = identity_claim_name(a, s->set, i, ordinal);
    struct spn_object *o =
        spn_cache_get(s->c->claims, spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(s->work->ns),
                                                     SPN_ARG(name)));
    struct spn_value *claim = o ? spn_value_copy(a, spn_object_value(o, a)) : NULL;
    spn_object_unref(o);
    return claim;
}

static int make_claim(struct stateful_sync *s, size_t i, const struct stateful_pod *p,
                      struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct spn_value *claim = identity_new_claim(w->arena, s->set, i, p->ordinal);
    const struct spn_target all = at(s, &claims, SPN_TEXT(""));
    int r = spn_client_create(w->client, &all, claim, &w->how, w->arena, NULL, err);
    if (r != -SPN_EXISTS)
        tell_claim(s, meta_name(claim), meta_name(p->pod), r < 0 ? err : NULL);
    if (r < 0)
        return spn_err_wrap(err, "failed to create PVC " SPN_FMT, SPN_ARG(meta_name(claim)));
    return 0;
}

/* Those that are not there. One that is about to go has to be gone first. */
static int make_claims(struct stateful_sync *s, const struct stateful_pod *p, struct spn_err *err)
{
    int first = 0;
    for (size_t i = 0; i < identity_n_claims(s->set); i++) {
        struct spn_err why = { 0 };
        const struct spn_value *claim = cached_claim(s, i, p->ordinal);
        int r = 0;
        if (!claim)
            r = make_claim(s, i, p, &why);
        else if (meta_is_deleting(claim))
            r = spn_err_set(&why, SPN_CONFLICT, "pvc " SPN_FMT " is being deleted",
                            SPN_ARG(meta_name(claim)));
        if (r == 0 || first < 0)
            continue;
        first = r;
        *err = why;
    }
    return first;
}

static int own_claim(struct stateful_sync *s, struct spn_value *claim, const struct spn_value *pod,
                     struct spn_err *err)
{
    struct spn_work *w = s->work;
    if (identity_claim_is_foreign(s->set, pod, claim))
        spn_event(w->events, s->set, SPN_WARNING, "ConflictingController",
                  "PersistentVolumeClaim " SPN_FMT " has a conflicting OwnerReference that acts as "
                  "a manging controller, the retention policy is ignored for this claim",
                  SPN_ARG(meta_name(claim)));
    if (identity_owns_claim_rightly(s->set, pod, claim))
        return 0;
    identity_own_claim(w->arena, s->set, pod, claim);
    spn_value_set_text(w->arena, claim, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, claim, "kind", SPN_TEXT("PersistentVolumeClaim"));
    const struct spn_target one = at(s, &claims, meta_name(claim));
    int r = spn_client_update(w->client, &one, claim, &w->how, w->arena, NULL, err);
    if (r < 0)
        return spn_err_wrap(err, "could not update claim " SPN_FMT " for delete policy ownerRefs",
                            SPN_ARG(meta_name(claim)));
    return 0;
}

static int own_claims(struct stateful_sync *s, const struct stateful_pod *p, struct spn_err *err)
{
    for (size_t i = 0; i < identity_n_claims(s->set); i++) {
        struct spn_value *claim = cached_claim(s, i, p->ordinal);
        int r = claim ? own_claim(s, claim, p->pod, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int complete_claims(struct stateful_sync *s, const struct stateful_pod *p,
                           struct spn_err *err)
{
    int r = make_claims(s, p, err);
    return r < 0 ? r : own_claims(s, p, err);
}

static void look_at_claims(struct stateful_sync *s, struct stateful_pod *p)
{
    for (size_t i = 0; i < identity_n_claims(s->set); i++) {
        const struct spn_value *claim = cached_claim(s, i, p->ordinal);
        if (!claim)
            continue;
        p->has_claims &= identity_owns_claim_rightly(s->set, p->pod, claim);
        p->has_stale_claim |= identity_claim_is_stale(s->set, p->pod, claim);
    }
}

/* ---- Pods ---- */

/* Below the partition pods keep the template that they had. */
static const struct spn_value *revision_for(const struct stateful_sync *s, int64_t ordinal)
{
    const struct spn_value *strategy = spn_value_dig(s->set, "spec", "updateStrategy");
    const int64_t i = ordinal - s->spec.start;
    const bool keeps = spn_value_get(strategy, "rollingUpdate")
                           ? i < s->spec.partition
                           : !s->spec.is_on_delete && i < status_int(s->set, "currentReplicas");
    return keeps ? s->current : s->update;
}

static struct spn_value *new_pod(struct stateful_sync *s, const struct stateful_pod *p)
{
    struct spn_arena *a = s->work->arena;
    const struct spn_value *template = history_template(a, revision_for(s, p->ordinal));
    return identity_new_pod(a, s->set, template, p->revision, p->ordinal);
}

static int create_pod(struct stateful_sync *s, const struct stateful_pod *p, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct spn_target all = at(s, &pods, SPN_TEXT(""));
    struct spn_text name = meta_name(p->pod);
    int r = make_claims(s, p, err);
    if (r < 0) {
        tell_pod(s, "Create", "FailedCreate", name, err);
        return r;
    }
    const struct spn_value *pod = new_pod(s, p);
    expectations_create_more(s->c->expected, w->key);
    int made = spn_client_create(w->client, &all, pod, &w->how, w->arena, NULL, err);
    if (made < 0)
        expectations_created(s->c->expected, w->key);
    if (made == -SPN_EXISTS) /* ours, which the cache has not shown yet, or in our way */
        return made;
    if (made == 0 && (r = own_claims(s, p, err)) < 0) {
        tell_pod(s, "Update", "FailedUpdate", name, err);
        return r;
    }
    tell_pod(s, "Create", made < 0 ? "FailedCreate" : "SuccessfulCreate", name,
             made < 0 ? err : NULL);
    return made;
}

static int delete_pod(struct stateful_sync *s, const struct stateful_pod *p, struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_text name = meta_name(p->pod);
    struct spn_text key =
        spn_arena_printf(w->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(w->ns), SPN_ARG(name));
    const struct spn_target one = at(s, &pods, name);
    const struct spn_delete what = { .uid = meta_uid(p->pod) };
    expectations_delete_more(s->c->expected, w->key, key);
    int r = spn_client_delete(w->client, &one, &what, &w->how, w->arena, NULL, err);
    if (r < 0)
        expectations_deleted(s->c->expected, w->key, key);
    if (r == -SPN_NOT_FOUND || r == -SPN_CONFLICT)
        r = 0; /* that one is gone */
    tell_pod(s, "Delete", r < 0 ? "FailedDelete" : "SuccessfulDelete", name, r < 0 ? err : NULL);
    return r;
}

static int write_repaired(struct stateful_sync *s, const struct stateful_pod *p,
                          struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_value *pod = spn_value_copy(w->arena, p->pod);
    const struct spn_target one = at(s, &pods, meta_name(pod));
    identity_repair(w->arena, s->set, pod);
    int r = complete_claims(s, p, err);
    if (r < 0)
        return r;
    return spn_client_update(w->client, &one, pod, &w->how, w->arena, NULL, err);
}

static int repair_pod(struct stateful_sync *s, const struct stateful_pod *p, struct spn_err *err)
{
    int r = write_repaired(s, p, err);
    if (r == -SPN_CONFLICT) /* somebody was faster; it is tried again with what he wrote */
        return r;
    tell_pod(s, "Update", r < 0 ? "FailedUpdate" : "SuccessfulUpdate", meta_name(p->pod),
             r < 0 ? err : NULL);
    return r;
}

static int take_step(struct stateful_sync *s, const struct stateful_step *step, struct spn_err *err)
{
    int r;
    switch (step->act) {
    case STATEFUL_CREATE:
        return create_pod(s, step->pod, err);
    case STATEFUL_DELETE:
        return delete_pod(s, step->pod, err);
    case STATEFUL_REPAIR: /* its claims may have been put right just now */
        return step->pod->is_identified && step->pod->has_claims ? 0
                                                                 : repair_pod(s, step->pod, err);
    case STATEFUL_OWN_CLAIMS:
        return own_claims(s, step->pod, err);
    case STATEFUL_MAKE_CLAIMS:
        r = complete_claims(s, step->pod, err);
        step->pod->has_claims |= r == 0;
        return r;
    case STATEFUL_UPDATE:
        r = delete_pod(s, step->pod, err);
        s->n_updating += r == 0;
        return r;
    }
    return 0;
}

/* ---- Looking ---- */

/* Only its name; the rest is made when its turn has come. */
static struct stateful_pod absent_pod(struct stateful_sync *s, int64_t ordinal)
{
    struct spn_arena *a = s->work->arena;
    struct stateful_pod p = { .pod = spn_value_new(a, SPN_OBJECT),
                              .ordinal = ordinal,
                              .revision = meta_name(revision_for(s, ordinal)),
                              .is_identified = true,
                              .has_claims = true };
    spn_value_set_text(
        a, spn_value_ensure(a, p.pod, "metadata"), "name",
        spn_arena_printf(a, SPN_FMT "-%lld", SPN_ARG(s->work->name), (long long)ordinal));
    return p;
}

static int from_the_last(const void *a, const void *b)
{
    const struct stateful_pod *x = a, *y = b;
    return x->ordinal > y->ordinal ? -1 : x->ordinal < y->ordinal;
}

static void sort_pods(struct stateful_sync *s)
{
    struct spn_arena *a = s->work->arena;
    const size_t n = (size_t)s->spec.replicas;
    s->replicas = spn_arena_alloc(a, (n + 1) * sizeof(*s->replicas));
    s->condemned = spn_arena_alloc(a, (s->all_pods.n + 1) * sizeof(*s->condemned));
    s->n_replicas = n;
    for (size_t i = 0; i < s->all_pods.n; i++) {
        struct stateful_pod p =
            stateful_pod_of(s->all_pods.items[i], s->spec.min_ready_sec, s->now_ns);
        p.is_identified = identity_is_right(a, s->set, p.pod);
        if (p.ordinal >= s->spec.start && p.ordinal < s->spec.start + s->spec.replicas)
            s->replicas[p.ordinal - s->spec.start] = p;
        else if (p.ordinal >= 0)
            s->condemned[s->n_condemned++] = p;
    }
    if (s->n_condemned)
        qsort(s->condemned, s->n_condemned, sizeof(*s->condemned), from_the_last);
    for (size_t i = 0; i < n; i++) {
        if (!s->replicas[i].pod)
            s->replicas[i] = absent_pod(s, s->spec.start + (int64_t)i);
        look_at_claims(s, &s->replicas[i]);
    }
    for (size_t i = 0; i < s->n_condemned; i++)
        look_at_claims(s, &s->condemned[i]);
}

static bool is_member(void *arg, const struct spn_value *pod)
{
    return identity_is_member(arg, pod);
}

static int claim_parts(struct stateful_sync *s, struct spn_err *err)
{
    struct claim of_revisions = { .work = s->work,
                                  .owner = s->set,
                                  .selector = &s->selector,
                                  .what = revisions,
                                  .object_kind = "ControllerRevision" };
    struct claim of_pods = { .work = s->work,
                             .owner = s->set,
                             .selector = &s->selector,
                             .what = pods,
                             .object_kind = "Pod",
                             .fits = is_member,
                             .fits_arg = s->set };
    int r = claim_objects(&of_revisions, s->all_revisions.items, &s->all_revisions.n, err);
    return r < 0 ? r : claim_objects(&of_pods, s->all_pods.items, &s->all_pods.n, err);
}

static int find_revisions(struct stateful_sync *s, struct spn_err *err)
{
    struct owned *all = &s->all_revisions;
    struct spn_text current = spn_value_text(spn_value_dig(s->set, "status", "currentRevision"));
    s->collisions = status_int(s->set, "collisionCount");
    history_sort(all->items, all->n);
    int r = history_current(s->work, s->set, all->items, all->n, &s->collisions, &s->update, err);
    if (r < 0)
        return r;
    s->current = s->update;
    for (size_t i = 0; i < all->n; i++)
        if (spn_text_eq(meta_name(all->items[i]), current))
            s->current = all->items[i];
    return 0;
}

/* The collector takes the revision of a set that goes. It is made once more, as upstream does, and
 * taken again; but not over and over until the set is gone. */
static bool has_done_enough(struct stateful_sync *s)
{
    if (!meta_is_deleting(s->set) || s->all_revisions.n)
        return false;
    bool was_remade = !expectations_are_met(s->c->remade, s->work->key);
    expectations_create(s->c->remade, s->work->key, 1);
    return was_remade;
}

/* ---- One set ---- */

static int write_status(struct stateful_sync *s, struct spn_value **ret, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct stateful_seen seen = { .replicas = s->replicas,
                                        .n_replicas = s->n_replicas,
                                        .condemned = s->condemned,
                                        .n_condemned = s->n_condemned,
                                        .current = meta_name(s->current),
                                        .update = meta_name(s->update),
                                        .collisions = s->collisions,
                                        .n_updating = s->n_updating };
    struct spn_value *status = stateful_status(w->arena, s->set, &seen);
    *ret = status;
    if (stateful_status_is_same(s->set, status))
        return 0;
    struct spn_target one = w->at;
    one.sub = SPN_TEXT("status");
    spn_value_set(w->arena, s->set, "status", spn_value_copy(w->arena, status));
    return spn_client_update(w->client, &one, s->set, &w->how, w->arena, NULL, err);
}

static bool is_alive(void *arg, struct spn_text name)
{
    const struct stateful_sync *s = arg;
    if (spn_text_eq(name, meta_name(s->current)) || spn_text_eq(name, meta_name(s->update)))
        return true;
    for (size_t i = 0; i < s->all_pods.n; i++)
        if (spn_text_eq(name, spn_value_text(spn_value_dig(s->all_pods.items[i], "metadata",
                                                           "labels", LABEL_REVISION))))
            return true;
    return false;
}

static int clean_up(struct stateful_sync *s, struct spn_err *err)
{
    const int64_t limit =
        field_int(spn_value_dig(s->set, "spec", "revisionHistoryLimit"), HISTORY_LIMIT);
    return history_truncate(s->work, s->all_revisions.items, s->all_revisions.n, is_alive, s, limit,
                            err);
}

/* After an error nothing more is tried, but the status is told all the same. */
static int take_steps(struct stateful_sync *s, struct spn_err *err)
{
    const size_t room = 3 * (s->n_replicas + s->n_condemned) + 1;
    struct stateful_step *steps = spn_arena_alloc(s->work->arena, room * sizeof(*steps));
    const size_t n = stateful_plan(&s->spec, s->replicas, s->n_replicas, s->condemned,
                                   s->n_condemned, meta_name(s->update), steps);
    for (size_t i = 0; i < n; i++) {
        int r = take_step(s, &steps[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int next_look(const struct stateful_sync *s, const struct spn_value *status)
{
    if (s->spec.min_ready_sec <= 0 || field_int(spn_value_get(status, "readyReplicas"), 0) ==
                                          field_int(spn_value_get(status, "availableReplicas"), 0))
        return spn_done();
    int64_t ms = pods_next_available_ms((const struct spn_value *const *)s->all_pods.items,
                                        s->all_pods.n, s->spec.min_ready_sec, s->now_ns);
    return spn_again_after(ms < 0 ? s->spec.min_ready_sec * 1000 : ms);
}

static int sync_set(struct stateful_sync *s, struct spn_err *err)
{
    struct spn_value *status = NULL;
    struct spn_err why = { 0 };
    int r = claim_parts(s, err);
    if (r < 0)
        return r;
    if (has_done_enough(s))
        return spn_done();
    r = find_revisions(s, err);
    if (r < 0)
        return r;
    sort_pods(s);
    r = take_steps(s, err);
    int told = write_status(s, &status, &why);
    int cleaned = clean_up(s, r < 0 || told < 0 ? NULL : err);
    if (r == 0 && told < 0) {
        *err = why;
        return told;
    }
    return r < 0 ? r : cleaned < 0 ? cleaned : next_look(s, status);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct stateful *c = arg;
    struct stateful_sync s = { .c = c, .work = w, .set = spn_work_object(w), .now_ns = time_now() };
    if (!s.set) {
        expectations_forget(c->expected, w->key);
        expectations_forget(c->remade, w->key);
        return spn_done();
    }
    if (!expectations_are_met(c->expected, w->key))
        return spn_done(); /* what is expected brings us back */
    spn_value_set_text(w->arena, s.set, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(w->arena, s.set, "kind", SPN_TEXT("StatefulSet"));
    s.spec = stateful_spec_of(s.set);
    if (claim_selector(w->arena, spn_value_dig(s.set, "spec", "selector"), &s.selector, err) < 0)
        return spn_done(); /* the server has let in what it should not; nothing will help */
    s.all_revisions = owned_list(c->revisions, w->arena, meta_uid(s.set), w->ns);
    s.all_pods = owned_list(c->pods, w->arena, meta_uid(s.set), w->ns);
    struct owned held[] = { s.all_revisions, s.all_pods };
    int r = sync_set(&s, err);
    owned_done(&held[0]);
    owned_done(&held[1]);
    if (r == -SPN_CONFLICT || r == -SPN_NOT_FOUND) /* the cache will soon know more */
        return spn_again();
    return r;
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct stateful *c = mem_new(struct stateful);
    *c = (struct stateful){ .sets = caches_owned(env->manager, sets),
                            .pods = caches_owned(env->manager, pods),
                            .revisions = caches_owned(env->manager, revisions),
                            .claims = caches_owned(env->manager, claims),
                            .expected = expectations_new(),
                            .remade = expectations_new() };
    c->owners = (struct pod_owners){
        .kind = "StatefulSet", .group = sets.group, .owners = c->sets, .expected = c->expected
    };
    *ret = c;
    (void)pod_owners_add(env->manager, &c->owners,
                         &(struct spn_controller_options){ .name = "statefulset-controller",
                                                           .what = sets,
                                                           .kind = "StatefulSet",
                                                           .workers = WORKERS,
                                                           .reconcile = reconcile,
                                                           .arg = c,
                                                           .component = "statefulset-controller" });
    return 0;
}

static void done(void *made)
{
    struct stateful *c = made;
    if (!c)
        return;
    expectations_free(c->expected);
    expectations_free(c->remade);
    free(c);
}

const struct controllers_row controllers_statefulset = { .name = "statefulset-controller",
                                                         .add = add,
                                                         .done = done };
