/* taint-eviction-controller: pods leave nodes whose taints they do not tolerate, at once or when
 * the time is over for which they do. */
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
#include "controllers/common/taints.h"
#include "controllers/common/template_hash.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 8 };

static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

/* A pod that is to go. Only the worker that has the pod uses it. */
struct leaving {
    int64_t at_ns;   /* monotonic */
    uint32_t taints; /* a hash of those that it was told about */
    bool is_told, is_gone;
    struct spn_text key, uid;
    char text[]; /* of both */
};

struct eviction {
    struct spn_cache *nodes, *pods;
    pthread_mutex_t lock; /* of by_key */
    struct keyed by_key;  /* struct leaving */
};

/* ---- Who is to go ---- */

static struct str key_of(const void *thing)
{
    const struct leaving *l = thing;
    return str_in(l->key);
}

static struct leaving *find(struct eviction *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    struct leaving *l = keyed_get(&c->by_key, str_in(key));
    (void)pthread_mutex_unlock(&c->lock);
    return l;
}

static struct leaving *schedule(struct eviction *c, struct spn_text key, struct spn_text uid,
                                int64_t at_ns)
{
    struct leaving *l = mem_zalloc(sizeof(*l) + key.n + uid.n);
    memcpy(l->text, key.p, key.n);
    memcpy(l->text + key.n, uid.p, uid.n);
    l->key = (struct spn_text){ l->text, key.n };
    l->uid = (struct spn_text){ l->text + key.n, uid.n };
    l->at_ns = at_ns;
    (void)pthread_mutex_lock(&c->lock);
    free(keyed_put(&c->by_key, l));
    (void)pthread_mutex_unlock(&c->lock);
    return l;
}

static void tell(struct spn_work *w, struct spn_text uid, const char *what)
{
    struct spn_value *ref = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, ref, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, ref, "kind", SPN_TEXT("Pod"));
    struct spn_value *meta = spn_value_ensure(w->arena, ref, "metadata");
    spn_value_set_text(w->arena, meta, "name", w->name);
    spn_value_set_text(w->arena, meta, "namespace", w->ns);
    spn_value_set_text(w->arena, meta, "uid", uid);
    spn_event(w->events, ref, SPN_NORMAL, "TaintManagerEviction", "%s Pod " SPN_FMT, what,
              SPN_ARG(w->key));
}

/* It may stay after all. */
static void cancel(struct eviction *c, struct spn_work *w)
{
    (void)pthread_mutex_lock(&c->lock);
    struct leaving *l = keyed_remove(&c->by_key, str_in(w->key));
    (void)pthread_mutex_unlock(&c->lock);
    if (l && !l->is_told)
        tell(w, l->uid, "Cancelling deletion of");
    free(l);
}

/* ---- How it goes ---- */

static bool is_marked(const struct spn_value *pod)
{
    const struct spn_value *cond = spn_condition_get(pod, "DisruptionTarget");
    return spn_text_eq(spn_value_text(spn_value_get(cond, "status")), SPN_TEXT("True")) &&
           spn_text_eq(spn_value_text(spn_value_get(cond, "reason")),
                       SPN_TEXT("DeletionByTaintManager"));
}

/* Says in the pod why it is deleted, so that whoever made it can tell that from a failure. */
static int mark(struct spn_work *w, const struct spn_value *pod, struct spn_err *err)
{
    struct spn_arena *a = w->arena;
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT), *cond = spn_value_new(a, SPN_OBJECT);
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    struct spn_target at = w->at;
    if (is_marked(pod))
        return 0;
    spn_value_set_text(a, cond, "type", SPN_TEXT("DisruptionTarget"));
    spn_value_set_int(a, cond, "observedGeneration", meta_generation(pod));
    spn_value_set_text(a, cond, "status", SPN_TEXT("True"));
    spn_value_set_text(a, cond, "lastTransitionTime", time_text(a, time_now()));
    spn_value_set_text(a, cond, "reason", SPN_TEXT("DeletionByTaintManager"));
    spn_value_set_text(a, cond, "message",
                       SPN_TEXT("Taint manager: deleting due to NoExecute taint"));
    spn_value_push(a, list, cond);
    spn_value_set_text(a, spn_value_ensure(a, patch, "metadata"), "uid", meta_uid(pod));
    spn_value_set(a, spn_value_ensure(a, patch, "status"), "conditions", list);
    at.sub = SPN_TEXT("status");
    return spn_client_patch(w->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch), &w->how,
                            a, NULL, err);
}

static int mark_and_delete(struct spn_work *w, struct spn_text uid, struct spn_err *err)
{
    struct spn_value *pod;
    const struct spn_delete what = { .uid = uid };
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &pod, err);
    if (r < 0)
        return r;
    if (!spn_text_eq(meta_uid(pod), uid))
        return -SPN_NOT_FOUND;
    r = mark(w, pod, err);
    if (r < 0)
        return r;
    return spn_client_delete(w->client, &w->at, &what, &w->how, w->arena, NULL, err);
}

static int evict(struct spn_work *w, struct leaving *l, struct spn_err *err)
{
    if (!l->is_told)
        tell(w, l->uid, "Marking for deletion");
    l->is_told = true;
    int r = mark_and_delete(w, l->uid, err);
    l->is_gone = r == 0 || r == -SPN_NOT_FOUND;
    return l->is_gone ? spn_done() : r;
}

static int go_on(struct spn_work *w, struct leaving *l, int64_t now_ns, struct spn_err *err)
{
    if (l->is_gone)
        return spn_done();
    if (now_ns >= l->at_ns)
        return evict(w, l, err);
    return spn_again_after((l->at_ns - now_ns) / NS_PER_MS + 1);
}

/* ---- One pod ---- */

static const struct spn_value *object_taints(const struct spn_object *o, struct spn_arena *a)
{
    return o ? spn_value_dig(spn_object_value(o, a), "spec", "taints") : NULL;
}

static bool drives_away(const struct spn_value *taint)
{
    return spn_text_eq(spn_value_text(spn_value_get(taint, "effect")), SPN_TEXT("NoExecute"));
}

static bool has_no_execute(const struct spn_value *taints)
{
    for (size_t i = 0; i < spn_value_count(taints); i++)
        if (drives_away(spn_value_at(taints, i)))
            return true;
    return false;
}

/* Only those that drive pods away; a cordon is no news to a pod that goes. */
static uint32_t hash_of(struct spn_arena *a, const struct spn_value *taints)
{
    uint32_t hash = FNV32A_START;
    for (size_t i = 0; i < spn_value_count(taints); i++)
        if (drives_away(spn_value_at(taints, i)))
            hash = fnv32a(hash, str_in(spn_value_json(a, spn_value_at(taints, i))));
    return hash;
}

/* A pod that must not stay goes at once, whatever was planned; and again if it is still there when
 * the taints change. */
static bool is_outdated(const struct leaving *l, uint32_t taints, int64_t now_ns)
{
    return l->is_told ? l->taints != taints : l->at_ns > now_ns;
}

static int decide(struct eviction *c, struct spn_work *w, const struct spn_value *pod,
                  const struct spn_value *taints, struct spn_err *err)
{
    const int64_t now = clock_mono_ns(&clock_system);
    const int64_t seconds = tolerations_seconds(spn_value_dig(pod, "spec", "tolerations"), taints);
    const uint32_t hash = hash_of(w->arena, taints);
    struct leaving *l = find(c, w->key);
    if (seconds == STAYS_FOREVER || (seconds == STAYS_NOT && l && is_outdated(l, hash, now))) {
        cancel(c, w);
        l = NULL;
    }
    if (seconds == STAYS_FOREVER)
        return spn_done();
    /* A time that runs is not cut short by other taints. */
    if (!l)
        l = schedule(c, w->key, meta_uid(pod), now + (seconds < 0 ? 0 : seconds) * NS_PER_SEC);
    if (!l->is_told)
        l->taints = hash;
    return go_on(w, l, now, err);
}

/* The node lends its taints. */
static int look(struct eviction *c, struct spn_work *w, const struct spn_value *pod,
                const struct spn_object *node, struct spn_err *err)
{
    const struct spn_value *taints = object_taints(node, w->arena);
    if (has_no_execute(taints))
        return decide(c, w, pod, taints, err);
    cancel(c, w);
    return spn_done();
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct eviction *c = arg;
    const struct spn_value *pod = spn_work_object(w);
    struct leaving *l = find(c, w->key);
    if (l && (!pod || !spn_text_eq(meta_uid(pod), l->uid))) {
        cancel(c, w);
        l = NULL;
    }
    struct spn_text node = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    if (!node.n)
        return spn_done();
    struct spn_object *o = spn_cache_get(c->nodes, node);
    int r = o ? look(c, w, pod, o, err)
            /* What was begun goes on without the node. */
            : l ? go_on(w, l, clock_mono_ns(&clock_system), err)
                : spn_done();
    spn_object_unref(o);
    return r;
}

/* ---- Nodes ---- */

static bool when_node(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *was = object_taints(old_o, a), *is = object_taints(new_o, a);
    bool matters = new_o && (has_no_execute(was) || has_no_execute(is)) && !spn_value_eq(was, is);
    spn_arena_free(a);
    return matters;
}

static void map_node(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_keys *out)
{
    (void)a;
    const struct eviction *c = arg;
    struct spn_objects all;
    pods_by_node(c->pods, spn_object_name(o), &all);
    for (size_t i = 0; i < all.n; i++)
        spn_keys_put(out, spn_object_namespace(all.items[i]), spn_object_name(all.items[i]));
    spn_objects_done(&all);
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct eviction *c = mem_new(struct eviction);
    c->pods = caches_get(env->manager, pods);
    pods_by_node_index(c->pods);
    c->nodes = caches_get(env->manager, nodes);
    c->by_key.key_of = key_of;
    (void)pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    struct spn_controller *controller = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "taint-eviction-controller",
                                                        .what = pods,
                                                        .kind = "Pod",
                                                        .workers = WORKERS,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = c,
                                                        .component = "taint-eviction-controller" });
    spn_controller_source(
        controller,
        &(struct spn_source){ .of.what = nodes, .map = map_node, .map_arg = c, .when = when_node });
    return 0;
}

static void done(void *made)
{
    struct eviction *c = made;
    size_t pos = 0;
    if (!c)
        return;
    for (struct leaving *l; (l = keyed_next(&c->by_key, &pos));)
        free(l);
    keyed_done(&c->by_key);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

const struct controllers_row controllers_taint_eviction = { "taint-eviction-controller", add,
                                                            done };
