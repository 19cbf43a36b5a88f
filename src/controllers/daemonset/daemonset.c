/* daemonset.c - keeps a pod on every node that should have one. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/fields.h"
#include "controllers/common/history.h"
#include "controllers/common/owned.h"
#include "controllers/common/pod_control.h"
#include "controllers/common/pod_owners.h"
#include "controllers/common/pods.h"
#include "controllers/common/refusal.h"
#include "controllers/common/template_hash.h"
#include "controllers/common/times.h"
#include "controllers/daemonset/backoff.h"
#include "controllers/daemonset/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 2, BURST = 250, HISTORY_LIMIT = 10 };

#define LABEL_HASH "controller-revision-hash"

static const struct spn_target sets = SPN_AT("apps", "v1", "daemonsets", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target revisions = SPN_AT("apps", "v1", "controllerrevisions", "", "");

struct daemons {
    struct spn_cache *sets, *pods, *nodes, *revisions;
    struct expectations *expected;
    struct backoff *failed;
    struct pod_owners owners;
};

/* A reconcile. */
struct daemon_sync {
    struct daemons *c;
    struct spn_work *work;
    struct spn_value *set;
    struct labels_selector selector;
    struct owned all_revisions, all_pods;
    struct spn_objects all_nodes;
    struct spn_value *current; /* revision */
    struct spn_text hash;
    struct spn_value *template; /* of its pods */
    struct daemon_node *nodes;
    size_t n_nodes;
    int64_t again_ms; /* -1: nothing has to be tried later */
    int64_t now_ns;
};

/* ---- Revisions ---- */

static struct spn_value *new_revision(struct daemon_sync *s, int64_t number)
{
    struct spn_arena *a = s->work->arena;
    const struct spn_value *template = spn_value_dig(s->set, "spec", "template");
    struct spn_text hash = template_hash(
        a, template, field_int(spn_value_dig(s->set, "status", "collisionCount"), -1));
    struct spn_value *revision = history_new(a, s->set, number, -1);
    struct spn_value *meta = spn_value_ensure(a, revision, "metadata");
    spn_value_set_text(
        a, meta, "name",
        spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(s->work->name), SPN_ARG(hash)));
    struct spn_value *labels = spn_value_ensure(a, meta, "labels");
    spn_value_remove(a, labels, "controller.kubernetes.io/hash");
    spn_value_set_text(a, labels, LABEL_HASH, hash);
    return revision;
}

static struct spn_target revision_at(struct daemon_sync *s, struct spn_text name)
{
    struct spn_target at = revisions;
    at.ns = s->work->ns;
    at.name = name;
    return at;
}

/* There is one of that name: ours, or another one with the same hash. Then the next is tried. */
static int resolve_collision(struct daemon_sync *s, const struct spn_value *wanted,
                             struct spn_err *err)
{
    struct spn_work *w = s->work;
    struct spn_value *found;
    const struct spn_target at = revision_at(s, meta_name(wanted));
    int r = spn_client_get(w->client, &at, &w->how, w->arena, &found, err);
    if (r < 0)
        return r;
    if (history_is_equal(found, spn_value_get(wanted, "data"))) {
        s->current = found;
        return 0;
    }
    struct spn_target status_at = w->at;
    status_at.sub = SPN_TEXT("status");
    struct spn_value *status = spn_value_ensure(w->arena, s->set, "status");
    spn_value_set_int(w->arena, status, "collisionCount",
                      field_int(spn_value_get(status, "collisionCount"), 0) + 1);
    r = spn_client_update(w->client, &status_at, s->set, &w->how, w->arena, NULL, err);
    return r < 0 ? r : spn_err_set(err, SPN_CONFLICT, "its hash was taken");
}

static int create_revision(struct daemon_sync *s, int64_t number, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct spn_value *wanted = new_revision(s, number);
    const struct spn_target all = revision_at(s, SPN_TEXT(""));
    int r = spn_client_create(w->client, &all, wanted, &w->how, w->arena, &s->current, err);
    return r == -SPN_EXISTS ? resolve_collision(s, wanted, err) : r;
}

/* The current one has the highest number. */
static int find_revision(struct daemon_sync *s, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct spn_value *data = history_data(w->arena, s->set);
    int64_t max_old = 0;
    for (size_t i = 0; i < s->all_revisions.n; i++) {
        struct spn_value *one = s->all_revisions.items[i];
        const int64_t number = history_number(one);
        if (!history_is_equal(one, data))
            max_old = number > max_old ? number : max_old;
        else if (!s->current || number >= history_number(s->current))
            s->current = one;
    }
    if (!s->current)
        return create_revision(s, max_old + 1, err);
    if (history_number(s->current) > max_old)
        return 0;
    const struct spn_target at = revision_at(s, meta_name(s->current));
    struct spn_value *copy = spn_value_copy(w->arena, s->current);
    spn_value_set_int(w->arena, copy, "revision", max_old + 1);
    return spn_client_update(w->client, &at, copy, &w->how, w->arena, &s->current, err);
}

static struct spn_text hash_of(const struct spn_value *v)
{
    return spn_value_text(spn_value_dig(v, "metadata", "labels", LABEL_HASH));
}

static bool is_alive(void *arg, struct spn_text name)
{
    const struct daemon_sync *s = arg;
    if (spn_text_eq(name, meta_name(s->current)))
        return true;
    for (size_t i = 0; i < s->all_pods.n; i++) {
        struct spn_text hash = hash_of(s->all_pods.items[i]);
        if (hash.n && str_ends(str_in(name), str_in(hash)))
            return true;
    }
    return false;
}

/* ---- Looking ---- */

static struct daemon_pod pod_of(struct daemon_sync *s, const struct spn_value *v)
{
    const int64_t min_ready = field_int(spn_value_dig(s->set, "spec", "minReadySeconds"), 0);
    struct spn_text phase = spn_value_text(spn_value_dig(v, "status", "phase"));
    struct daemon_pod p = {
        .pod = v,
        .name = meta_name(v),
        .has_node = spn_value_text(spn_value_dig(v, "spec", "nodeName")).n,
        .is_deleting = meta_is_deleting(v),
        .is_failed = spn_text_eq(phase, SPN_TEXT("Failed")),
        .is_succeeded = spn_text_eq(phase, SPN_TEXT("Succeeded")),
        .is_ready = pod_is_ready(v),
        .is_available = pod_is_available(v, min_ready, s->now_ns),
        .is_updated = daemon_is_updated(s->set, v, s->hash),
    };
    (void)time_read(spn_value_dig(v, "metadata", "creationTimestamp"), &p.created_ns);
    return p;
}

static struct daemon_node *add_node(struct daemon_sync *s, struct map *by_name,
                                    struct spn_text name)
{
    struct daemon_node *node = &s->nodes[s->n_nodes++];
    node->name = name;
    (void)map_set(by_name, str_in(name), node);
    return node;
}

/* Room for all pods is taken at once, since most nodes have one. */
static void add_pods(struct daemon_sync *s, struct map *by_name)
{
    struct spn_arena *a = s->work->arena;
    for (size_t i = 0; i < s->all_pods.n; i++) {
        const struct spn_value *v = s->all_pods.items[i];
        struct spn_text name = daemon_node_of(v);
        if (!name.n || (pod_is_terminal(v) && meta_is_deleting(v)))
            continue;
        struct daemon_node *node = map_get(by_name, str_in(name));
        if (!node)
            node = add_node(s, by_name, name);
        struct daemon_pod *grown = spn_arena_alloc(a, (node->n_pods + 1) * sizeof(*grown));
        if (node->n_pods)
            memcpy(grown, node->pods, node->n_pods * sizeof(*grown));
        grown[node->n_pods++] = pod_of(s, v);
        node->pods = grown;
    }
}

static void look_at_nodes(struct daemon_sync *s)
{
    struct spn_arena *a = s->work->arena;
    struct map by_name = { 0 };
    spn_cache_list(s->c->nodes, SPN_TEXT(""), true, &s->all_nodes);
    s->nodes = spn_arena_alloc(a, (s->all_nodes.n + s->all_pods.n + 1) * sizeof(*s->nodes));
    for (size_t i = 0; i < s->all_nodes.n; i++) {
        const struct spn_object *o = s->all_nodes.items[i];
        struct daemon_node *node = add_node(s, &by_name, spn_object_name(o));
        node->is_there = true;
        daemon_judge_node(a, node, spn_object_value(o, a), s->template);
    }
    add_pods(s, &by_name);
    map_done(&by_name);
    for (size_t i = 0; i < s->n_nodes; i++)
        daemon_sort_pods(&s->nodes[i]);
}

/* Whoever fails again and again is tried less and less often. */
static void look_at_failed(struct daemon_sync *s, const struct daemon_node *node,
                           struct daemon_pod *p)
{
    struct spn_text key =
        spn_arena_printf(s->work->arena, SPN_FMT "/%lld/" SPN_FMT, SPN_ARG(meta_uid(s->set)),
                         (long long)status_int(s->set, "observedGeneration"), SPN_ARG(node->name));
    const int64_t ms = backoff_try(s->c->failed, key, s->now_ns);
    p->is_waiting = ms > 0;
    if (ms > 0 && (s->again_ms < 0 || ms < s->again_ms))
        s->again_ms = ms;
    if (ms == 0)
        spn_event(s->work->events, s->set, SPN_WARNING, "FailedDaemonPod",
                  "Found failed daemon pod " SPN_FMT "/" SPN_FMT " on node " SPN_FMT
                  ", will try to kill it",
                  SPN_ARG(s->work->ns), SPN_ARG(p->name), SPN_ARG(node->name));
}

static void look_at_ended(struct daemon_sync *s)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        for (size_t k = 0; k < s->nodes[i].n_pods && s->nodes[i].should_continue; k++) {
            struct daemon_pod *p = &s->nodes[i].pods[k];
            if (p->is_failed && !p->is_deleting)
                look_at_failed(s, &s->nodes[i], p);
            else if (p->is_succeeded && !p->is_deleting)
                spn_event(s->work->events, s->set, SPN_NORMAL, "SucceededDaemonPod",
                          "Found succeeded daemon pod " SPN_FMT "/" SPN_FMT " on node " SPN_FMT
                          ", will try to delete it",
                          SPN_ARG(s->work->ns), SPN_ARG(p->name), SPN_ARG(s->nodes[i].name));
        }
}

/* ---- Doing ---- */

struct creation {
    struct daemon_sync *sync;
    const struct daemon_plan *plan;
    size_t next;
};

static int create_one(void *arg, struct spn_err *err)
{
    struct creation *c = arg;
    struct daemon_sync *s = c->sync;
    struct spn_arena *a = s->work->arena;
    const struct pod_control control = { s->work, s->set };
    struct spn_value *template = spn_value_copy(a, s->template);
    daemon_bind_template(a, template, c->plan->create[c->next++]->name);
    int r = pod_control_create(&control, pod_from_template(a, template, s->set), err);
    return r < 0 && refusal_of_pod_is_final(err) ? 0 : r;
}

static int delete_one(struct daemon_sync *s, const struct daemon_pod *p, struct spn_err *err)
{
    const struct pod_control control = { s->work, s->set };
    struct spn_text key = spn_arena_printf(s->work->arena, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(s->work->ns), SPN_ARG(p->name));
    expectations_delete_more(s->c->expected, s->work->key, key);
    int r = pod_control_delete(&control, p->pod, err);
    if (r < 0)
        expectations_deleted(s->c->expected, s->work->key, key);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int carry_out(struct daemon_sync *s, const struct daemon_plan *p, struct spn_err *err)
{
    const size_t n_create = p->n_create < BURST ? p->n_create : BURST;
    const size_t n_remove = p->n_remove < BURST ? p->n_remove : BURST;
    struct creation creation = { s, p, 0 };
    int first = 0;
    expectations_create(s->c->expected, s->work->key, n_create);
    size_t n_made = pod_control_slow_start(n_create, create_one, &creation, &first, err);
    for (; n_made < n_create; n_made++)
        expectations_created(s->c->expected, s->work->key);
    for (size_t i = 0; i < n_remove; i++) {
        struct spn_err why = { 0 };
        int r = delete_one(s, p->remove[i], &why);
        if (r == 0 || first < 0)
            continue;
        first = r;
        *err = why;
    }
    return first;
}

static struct daemon_plan empty_plan(struct daemon_sync *s)
{
    struct spn_arena *a = s->work->arena;
    const size_t room = s->n_nodes + s->all_pods.n + 1;
    return (struct daemon_plan){ .create = spn_arena_alloc(a, room * sizeof(void *)),
                                 .remove = spn_arena_alloc(a, room * sizeof(void *)) };
}

static int64_t count_wanted(const struct daemon_sync *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->n_nodes; i++)
        n += s->nodes[i].should_run;
    return n;
}

static int manage(struct daemon_sync *s, struct spn_err *err)
{
    struct daemon_plan plan = empty_plan(s), update = empty_plan(s);
    look_at_ended(s);
    daemon_plan(&plan, s->nodes, s->n_nodes, daemon_allows_surge(s->set));
    int r = carry_out(s, &plan, err);
    if (r < 0)
        return r;
    if (!plan.n_create && !plan.n_remove) {
        const struct daemon_limits limits = daemon_limits_of(s->set, count_wanted(s));
        daemon_plan_update(&update, s->nodes, s->n_nodes, &limits);
        r = carry_out(s, &update, err);
    }
    if (r < 0)
        return r;
    const int64_t limit =
        field_int(spn_value_dig(s->set, "spec", "revisionHistoryLimit"), HISTORY_LIMIT);
    history_sort(s->all_revisions.items, s->all_revisions.n);
    return history_truncate(s->work, s->all_revisions.items, s->all_revisions.n, is_alive, s, limit,
                            err);
}

/* ---- Status ---- */

struct daemon_counts {
    int64_t desired, current, stray, ready, available, updated;
};

static struct daemon_counts count(const struct daemon_sync *s)
{
    struct daemon_counts c = { 0 };
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct daemon_node *node = &s->nodes[i];
        if (!node->is_there)
            continue;
        c.desired += node->should_run;
        c.stray += !node->should_run && node->n_pods;
        if (!node->should_run || !node->n_pods)
            continue;
        c.current++;
        c.ready += node->pods[0].is_ready;
        c.available += node->pods[0].is_available;
        c.updated += node->pods[0].is_updated;
    }
    return c;
}

static bool put_count(struct spn_arena *a, struct spn_value *status, const char *key, int64_t n)
{
    const bool is_same = field_int(spn_value_get(status, key), 0) == n;
    spn_value_set_int(a, status, key, n);
    return !is_same;
}

static int write_status(struct daemon_sync *s, bool is_seen, struct spn_err *err)
{
    struct spn_work *w = s->work;
    const struct daemon_counts c = count(s);
    struct spn_value *status = spn_value_ensure(w->arena, s->set, "status");
    const int64_t observed = field_int(spn_value_get(status, "observedGeneration"), 0);
    bool is_new = observed < meta_generation(s->set);
    is_new |= put_count(w->arena, status, "desiredNumberScheduled", c.desired);
    is_new |= put_count(w->arena, status, "currentNumberScheduled", c.current);
    is_new |= put_count(w->arena, status, "numberMisscheduled", c.stray);
    is_new |= put_count(w->arena, status, "numberReady", c.ready);
    is_new |= put_count(w->arena, status, "updatedNumberScheduled", c.updated);
    is_new |= put_count(w->arena, status, "numberAvailable", c.available);
    is_new |= put_count(w->arena, status, "numberUnavailable", c.desired - c.available);
    const int64_t min_ready = field_int(spn_value_dig(s->set, "spec", "minReadySeconds"), 0);
    if (min_ready > 0 && c.ready != c.available &&
        (s->again_ms < 0 || min_ready * 1000 < s->again_ms))
        s->again_ms = min_ready * 1000;
    if (!is_new)
        return 0;
    if (is_seen)
        spn_value_set_int(w->arena, status, "observedGeneration", meta_generation(s->set));
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("status");
    return spn_client_update(w->client, &at, s->set, &w->how, w->arena, NULL, err);
}

/* ---- One set ---- */

static int claim_parts(struct daemon_sync *s, struct spn_err *err)
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
                             .object_kind = "Pod" };
    int r = claim_objects(&of_revisions, s->all_revisions.items, &s->all_revisions.n, err);
    return r < 0 ? r : claim_objects(&of_pods, s->all_pods.items, &s->all_pods.n, err);
}

static int sync_set(struct daemon_sync *s, struct spn_err *err)
{
    struct spn_err why = { 0 };
    int r = claim_parts(s, err);
    if (r < 0)
        return r;
    r = find_revision(s, err);
    if (r < 0)
        return r;
    s->hash = hash_of(s->current);
    s->template = daemon_template(s->work->arena, s->set, s->hash);
    look_at_nodes(s);
    const bool may_change = expectations_are_met(s->c->expected, s->work->key);
    r = may_change ? manage(s, err) : 0;
    int told = write_status(s, may_change, &why);
    if (r == 0 && told < 0) {
        *err = why;
        return told;
    }
    return r < 0 ? r : s->again_ms < 0 ? spn_done() : spn_again_after(s->again_ms);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct daemons *c = arg;
    struct daemon_sync s = {
        .c = c, .work = w, .set = spn_work_object(w), .now_ns = time_now(), .again_ms = -1
    };
    if (!s.set) {
        expectations_forget(c->expected, w->key);
        return spn_done();
    }
    spn_value_set_text(w->arena, s.set, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(w->arena, s.set, "kind", SPN_TEXT("DaemonSet"));
    const struct spn_value *selector = spn_value_dig(s.set, "spec", "selector");
    if (!spn_value_count(selector)) {
        spn_event(w->events, s.set, SPN_WARNING, "SelectingAll",
                  "This daemon set is selecting all pods. A non-empty selector is required.");
        return spn_done();
    }
    if (meta_is_deleting(s.set) || claim_selector(w->arena, selector, &s.selector, err) < 0)
        return spn_done();
    s.all_revisions = owned_list(c->revisions, w->arena, meta_uid(s.set), w->ns);
    s.all_pods = owned_list(c->pods, w->arena, meta_uid(s.set), w->ns);
    int r = sync_set(&s, err);
    owned_done(&s.all_revisions);
    owned_done(&s.all_pods);
    spn_objects_done(&s.all_nodes);
    if (r == -SPN_CONFLICT || r == -SPN_NOT_FOUND) /* the cache will soon know more */
        return spn_again();
    return r;
}

/* ---- Nodes ---- */

static bool has_pod_on(const struct daemons *c, struct spn_arena *a, struct spn_text set_uid,
                       struct spn_text node)
{
    bool found = false;
    struct owned all = owned_list(c->pods, a, set_uid, SPN_TEXT(""));
    for (size_t i = 0; i < all.n && !found; i++)
        found = spn_text_eq(spn_value_text(spn_value_dig(all.items[i], "spec", "nodeName")), node);
    owned_done(&all);
    return found;
}

/* Whether the node makes a difference: a pod is missing, or has to go, or was where it should not
 * be and perhaps should now. */
static bool concerns(const struct daemons *c, struct spn_arena *a, const struct spn_value *node,
                     const struct spn_object *set_object)
{
    const struct spn_value *set = spn_object_value(set_object, a);
    struct daemon_node judged = { 0 };
    daemon_judge_node(a, &judged, node, daemon_template(a, set, SPN_TEXT("")));
    const bool is_there = has_pod_on(c, a, meta_uid(set), meta_name(node));
    return (judged.should_run && !is_there) || (!judged.should_continue && is_there) ||
           (is_there && status_int(set, "numberMisscheduled") > 0);
}

/* By what is known of the node now, whichever state of it this is about. */
static void map_node(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_keys *out)
{
    const struct daemons *c = arg;
    struct spn_objects all = { 0 };
    struct spn_object *now = spn_cache_get(c->nodes, spn_object_key(o));
    if (!now)
        return;
    const struct spn_value *node = spn_object_value(now, a);
    spn_cache_list(c->sets, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n; i++)
        if (concerns(c, a, node, all.items[i]))
            spn_keys_put(out, spn_object_namespace(all.items[i]), spn_object_name(all.items[i]));
    spn_objects_done(&all);
    spn_object_unref(now);
}

/* Nodes are written all the time; only labels and taints matter. That one goes says nothing until
 * its pods do. */
static bool when_node(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    if (!old_o || !new_o)
        return new_o;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *x = spn_object_value(old_o, a), *y = spn_object_value(new_o, a);
    const bool is_changed =
        !spn_value_eq(spn_value_dig(x, "metadata", "labels"),
                      spn_value_dig(y, "metadata", "labels")) ||
        !spn_value_eq(spn_value_dig(x, "spec", "taints"), spn_value_dig(y, "spec", "taints"));
    spn_arena_free(a);
    return is_changed;
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct daemons *c = mem_new(struct daemons);
    *c = (struct daemons){ .sets = caches_owned(env->manager, sets),
                           .pods = caches_owned(env->manager, pods),
                           .nodes = caches_owned(env->manager, nodes),
                           .revisions = caches_owned(env->manager, revisions),
                           .expected = expectations_new(),
                           .failed = backoff_new() };
    c->owners = (struct pod_owners){
        .kind = "DaemonSet", .group = sets.group, .owners = c->sets, .expected = c->expected
    };
    *ret = c;
    struct spn_controller *controller =
        pod_owners_add(env->manager, &c->owners,
                       &(struct spn_controller_options){ .name = "daemonset-controller",
                                                         .what = sets,
                                                         .kind = "DaemonSet",
                                                         .workers = WORKERS,
                                                         .reconcile = reconcile,
                                                         .arg = c,
                                                         .component = "daemonset-controller" });
    spn_controller_source(
        controller,
        &(struct spn_source){ .of.what = nodes, .map = map_node, .map_arg = c, .when = when_node });
    return 0;
}

static void done(void *made)
{
    struct daemons *c = made;
    if (!c)
        return;
    expectations_free(c->expected);
    backoff_free(c->failed);
    free(c);
}

const struct controllers_row controllers_daemonset = { .name = "daemonset-controller",
                                                       .add = add,
                                                       .done = done };
