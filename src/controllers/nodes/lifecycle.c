/* node-lifecycle-controller: notices nodes that are silent, and says by taints which nodes should
 * get no pods, and which should lose theirs.
 *
 * Every node is looked at once in a monitor period. When it was heard of is noted by our own clock,
 * so that clocks of nodes do not matter. */
#include <pthread.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods_by_node.h"
#include "controllers/common/times.h"
#include "controllers/nodes/plan.h"
#include "controllers/nodes/zones.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 8, MONITOR_MS = 5000, GRACE_MS = 50000, STARTUP_GRACE_MS = 60000 };

static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target leases =
    SPN_AT("coordination.k8s.io", "v1", "leases", "kube-node-lease", "");

/* What we know of a node's heartbeats. Only the worker that has the node uses it. */
struct health {
    int64_t heard_ns; /* monotonic */
    bool was_ready_said;
    bool has_pods_to_mark; /* that are still said to be ready */
    char heartbeat[CLOCK_TEXT_BYTES], renewed[CLOCK_TEXT_BYTES]; /* as they were heard */
    size_t n_name;
    char name[];
};

struct lifecycle {
    struct spn_cache *leases, *pods;
    struct zones *zones;
    int64_t monitor_ms, grace_ms;
    pthread_mutex_t lock; /* of by_name */
    struct keyed by_name; /* struct health */
};

/* A look at one node. */
struct look {
    struct lifecycle *c;
    struct spn_work *work;
    struct spn_value *node;
    struct health *health;
    int64_t now_ns; /* monotonic */
};

/* ---- Which nodes we know ---- */

static struct str name_of(const void *thing)
{
    const struct health *h = thing;
    return (struct str){ h->name, h->n_name };
}

static struct health *health_of(struct lifecycle *c, struct spn_text name, bool *ret_is_new)
{
    (void)pthread_mutex_lock(&c->lock);
    struct health *h = keyed_get(&c->by_name, str_in(name));
    *ret_is_new = !h;
    if (!h) {
        h = mem_zalloc(sizeof(*h) + name.n);
        h->n_name = name.n;
        memcpy(h->name, name.p, name.n);
        (void)keyed_put(&c->by_name, h);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return h;
}

/* True: we knew it. */
static bool forget(struct lifecycle *c, struct spn_text name)
{
    (void)pthread_mutex_lock(&c->lock);
    struct health *h = keyed_remove(&c->by_name, str_in(name));
    (void)pthread_mutex_unlock(&c->lock);
    const bool was_known = h;
    free(h);
    return was_known;
}

static struct spn_value *reference(struct spn_arena *a, struct spn_text name, struct spn_text uid)
{
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ref, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, ref, "kind", SPN_TEXT("Node"));
    struct spn_value *meta = spn_value_ensure(a, ref, "metadata");
    spn_value_set_text(a, meta, "name", name);
    if (uid.n)
        spn_value_set_text(a, meta, "uid", uid);
    return ref;
}

/* ---- Heartbeats ---- */

/* True: it differs from what was noted. */
static bool note(char noted[static CLOCK_TEXT_BYTES], struct spn_text text)
{
    if (text.n >= CLOCK_TEXT_BYTES || spn_text_eq(spn_text_of(noted), text))
        return false;
    memset(noted, 0, CLOCK_TEXT_BYTES);
    if (text.n)
        memcpy(noted, text.p, text.n);
    return true;
}

/* A node that never said anything is waited for since it was made. */
static int64_t made_ns(const struct look *l)
{
    int64_t wall;
    if (!time_read(spn_value_dig(l->node, "metadata", "creationTimestamp"), &wall))
        return l->now_ns;
    return l->now_ns - (time_now() - wall);
}

static struct spn_text renew_time(const struct spn_value *lease)
{
    return spn_value_text(spn_value_dig(lease, "spec", "renewTime"));
}

static void listen(struct look *l, bool is_new)
{
    struct health *h = l->health;
    const struct spn_value *ready = spn_condition_get(l->node, "Ready");
    const bool has_beaten =
        note(h->heartbeat, spn_value_text(spn_value_get(ready, "lastHeartbeatTime")));
    if (is_new && !ready)
        h->heard_ns = made_ns(l);
    else if (is_new || has_beaten || !ready != !h->was_ready_said)
        h->heard_ns = l->now_ns;
    h->was_ready_said = ready != NULL;
    struct spn_text key = spn_arena_printf(l->work->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(leases.ns),
                                           SPN_ARG(l->work->name));
    struct spn_object *lease = spn_cache_get(l->c->leases, key);
    if (lease && note(h->renewed, renew_time(spn_object_value(lease, l->work->arena))))
        h->heard_ns = l->now_ns;
    spn_object_unref(lease);
}

static bool is_silent(const struct look *l)
{
    const int64_t grace_ms = l->health->was_ready_said ? l->c->grace_ms : STARTUP_GRACE_MS;
    const int64_t up_since = zones_up_since(l->c->zones);
    const int64_t heard = l->health->heard_ns > up_since ? l->health->heard_ns : up_since;
    return l->now_ns > heard + grace_ms * NS_PER_MS;
}

/* Before a node is given up the server is asked whether only our cache is old. 1: it lives. */
static int ask_server(struct look *l, struct spn_err *err)
{
    struct spn_target at = leases;
    struct spn_value *lease;
    at.name = l->work->name;
    int r = spn_client_get(l->work->client, &at, &l->work->how, l->work->arena, &lease, err);
    if (r == -SPN_NOT_FOUND)
        return 0;
    if (r < 0)
        return r;
    if (!note(l->health->renewed, renew_time(lease)))
        return 0;
    l->health->heard_ns = l->now_ns;
    return 1;
}

static int say_unknown(struct look *l, struct spn_err *err)
{
    struct spn_arena *a = l->work->arena;
    const bool was_ready = spn_text_eq(node_ready(l->node), SPN_TEXT("True"));
    struct spn_target at = l->work->at;
    int r = ask_server(l, err);
    if (r != 0)
        return r < 0 ? r : 0;
    if (!node_set_unknown(a, l->node, time_now()))
        return 0;
    at.sub = SPN_TEXT("status");
    r = spn_client_update(l->work->client, &at, l->node, &l->work->how, a, &l->node, err);
    if (r < 0 || !was_ready)
        return r;
    l->health->has_pods_to_mark = true;
    spn_event(l->work->events, reference(a, l->work->name, meta_uid(l->node)), SPN_NORMAL,
              "NodeNotReady", "Node " SPN_FMT " status is now: NodeNotReady",
              SPN_ARG(l->work->name));
    return 0;
}

/* ---- Pods of nodes that are lost ---- */

/* True: it was said to be ready. */
static bool set_not_ready(struct spn_arena *a, struct spn_value *pod)
{
    struct spn_value *all = spn_value_edit(a, spn_value_ensure(a, pod, "status"), "conditions");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_value *cond = spn_value_edit_at(a, all, i);
        if (!spn_text_eq(spn_value_text(spn_value_get(cond, "type")), SPN_TEXT("Ready")))
            continue;
        if (spn_text_eq(spn_value_text(spn_value_get(cond, "status")), SPN_TEXT("False")))
            return false;
        spn_value_set_text(a, cond, "status", SPN_TEXT("False"));
        spn_value_set_text(a, cond, "lastTransitionTime", time_text(a, time_now()));
        return true;
    }
    return false;
}

static int mark_pod(struct look *l, const struct spn_object *o, struct spn_err *err)
{
    struct spn_arena *a = l->work->arena;
    struct spn_value *pod = spn_object_value(o, a);
    struct spn_target at = pods;
    if (!set_not_ready(a, pod))
        return 0;
    spn_value_set_text(a, pod, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, pod, "kind", SPN_TEXT("Pod"));
    at.ns = spn_object_namespace(o);
    at.name = spn_object_name(o);
    at.sub = SPN_TEXT("status");
    int r = spn_client_update(l->work->client, &at, pod, &l->work->how, a, NULL, err);
    if (r == -SPN_NOT_FOUND)
        return 0;
    spn_event(l->work->events, pod, SPN_WARNING, "NodeNotReady", "Node is not ready");
    return r;
}

/* All are tried; the first error is returned. */
static int mark_pods(struct look *l, struct spn_err *err)
{
    struct spn_objects all;
    int first = 0;
    pods_by_node(l->c->pods, l->work->name, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct spn_err why = { 0 };
        int r = mark_pod(l, all.items[i], &why);
        if (r == 0 || first < 0)
            continue;
        first = r;
        *err = why;
    }
    spn_objects_done(&all);
    return first;
}

/* ---- Taints and labels ---- */

static int write_node(struct look *l, struct spn_value *taints, struct spn_value *labels,
                      struct spn_err *err)
{
    struct spn_arena *a = l->work->arena;
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, meta, "resourceVersion", meta_text(l->node, "resourceVersion"));
    spn_value_set_text(a, meta, "uid", meta_uid(l->node));
    if (labels)
        spn_value_set(a, meta, "labels", labels);
    if (taints)
        spn_value_set(a, spn_value_ensure(a, patch, "spec"), "taints",
                      spn_value_count(taints) ? taints : spn_value_new(a, SPN_NULL));
    return spn_client_patch(l->work->client, &l->work->at, SPN_MERGE_PATCH,
                            spn_value_json(a, patch), &l->work->how, a, NULL, err);
}

static int taint(struct look *l, struct spn_err *err)
{
    struct spn_arena *a = l->work->arena;
    const struct spn_text ready = node_ready(l->node);
    enum node_eviction eviction = NODE_WAITS;
    if (ready.n && !spn_text_eq(ready, SPN_TEXT("True")))
        eviction = zones_ask(l->c->zones, l->node, node_wants_to_evict(l->node), l->now_ns);
    struct spn_value *taints = node_taints(a, l->node, eviction, time_now());
    struct spn_value *labels = node_labels(a, l->node);
    return taints || labels ? write_node(l, taints, labels, err) : 0;
}

/* ---- One node ---- */

static int look_at(struct look *l, struct spn_err *err)
{
    int r = is_silent(l) ? say_unknown(l, err) : 0;
    if (r < 0)
        return r;
    if (l->health->has_pods_to_mark) {
        r = mark_pods(l, err);
        l->health->has_pods_to_mark = r < 0;
    }
    return r < 0 ? r : taint(l, err);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct lifecycle *c = arg;
    bool is_new;
    struct look l = {
        .c = c, .work = w, .node = spn_work_object(w), .now_ns = clock_mono_ns(&clock_system)
    };
    if (!l.node) {
        if (forget(c, w->name))
            spn_event(w->events, reference(w->arena, w->name, SPN_TEXT("")), SPN_NORMAL,
                      "RemovingNode",
                      "Node " SPN_FMT " event: Removing Node " SPN_FMT " from Controller",
                      SPN_ARG(w->name), SPN_ARG(w->name));
        return spn_done();
    }
    l.health = health_of(c, w->name, &is_new);
    listen(&l, is_new);
    if (is_new) {
        const struct spn_text ready = node_ready(l.node);
        l.health->has_pods_to_mark = ready.n && !spn_text_eq(ready, SPN_TEXT("True"));
        spn_event(w->events, reference(w->arena, w->name, meta_uid(l.node)), SPN_NORMAL,
                  "RegisteredNode",
                  "Node " SPN_FMT " event: Registered Node " SPN_FMT " in Controller",
                  SPN_ARG(w->name), SPN_ARG(w->name));
    }
    int r = look_at(&l, err);
    if (r == -SPN_CONFLICT) /* somebody was faster; the cache will show it */
        return spn_again();
    return r < 0 && r != -SPN_NOT_FOUND ? r : spn_again_after(c->monitor_ms);
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct lifecycle *c = mem_new(struct lifecycle);
    c->pods = caches_get(env->manager, pods);
    pods_by_node_index(c->pods);
    c->leases = caches_get(env->manager, leases);
    c->zones = zones_new(caches_get(env->manager, nodes));
    c->monitor_ms = env->opt->node_monitor_ms ? env->opt->node_monitor_ms : MONITOR_MS;
    c->grace_ms = env->opt->node_grace_ms ? env->opt->node_grace_ms : GRACE_MS;
    c->by_name.key_of = name_of;
    (void)pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    spn_manager_add(env->manager,
                    &(struct spn_controller_options){ .name = "node-lifecycle-controller",
                                                      .what = nodes,
                                                      .kind = "Node",
                                                      .has_no_namespace = true,
                                                      .workers = WORKERS,
                                                      .when = spn_when_version_changes,
                                                      .reconcile = reconcile,
                                                      .arg = c,
                                                      .component = "node-controller" });
    return 0;
}

static void done(void *made)
{
    struct lifecycle *c = made;
    size_t pos = 0;
    if (!c)
        return;
    for (struct health *h; (h = keyed_next(&c->by_name, &pos));)
        free(h);
    keyed_done(&c->by_name);
    zones_free(c->zones);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

const struct controllers_row controllers_node_lifecycle = { "node-lifecycle-controller", add,
                                                            done };
