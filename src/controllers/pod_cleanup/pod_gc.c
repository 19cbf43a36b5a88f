/* pod-garbage-collector-controller: removes pods that no kubelet will ever end, and those that have
 * ended when there are too many. It looks at all of them now and then. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/common/when.h"
#include "controllers/pod_cleanup/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum {
    CHECK_MS = 20000,
    QUARANTINE_MS = 40000, /* a node that is not in the cache may come yet */
    MOST_TERMINATED = 12500,
};
#define PASS_KEY "pods"

static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target all_nodes = SPN_AT("", "v1", "nodes", "", "");

/* A node that pods name and that is not there. */
struct missing {
    int64_t since_ns;
    bool is_gone; /* the server has said so in this pass */
    bool is_seen; /* some pod names it in this pass */
    size_t n_name;
    char name[];
};

struct pod_gc {
    struct spn_cache *pods, *nodes;
    struct keyed missing;
};

/* ---- Nodes that are missing ---- */

static struct str missing_name(const void *thing)
{
    const struct missing *m = thing;
    return (struct str){ m->name, m->n_name };
}

static struct missing *missing_of(struct pod_gc *g, struct spn_text name)
{
    struct missing *m = keyed_get(&g->missing, (struct str){ name.p, name.n });
    if (!m) {
        m = mem_zalloc(sizeof(*m) + name.n);
        m->since_ns = clock_mono_ns(&clock_system);
        m->n_name = name.n;
        memcpy(m->name, name.p, name.n);
        (void)keyed_put(&g->missing, m);
    }
    m->is_seen = true;
    return m;
}

/* Asked once in each pass. */
static void ask_for_gone(struct pod_gc *g, struct spn_work *w)
{
    size_t pos = 0;
    for (struct missing *m; (m = keyed_next(&g->missing, &pos));) {
        struct spn_target at = all_nodes;
        struct spn_value *node;
        int64_t age_ns = clock_mono_ns(&clock_system) - m->since_ns;
        at.name = (struct spn_text){ m->name, m->n_name };
        m->is_seen = false;
        m->is_gone =
            age_ns >= QUARANTINE_MS * NS_PER_MS &&
            spn_client_get(w->client, &at, &w->how, w->arena, &node, NULL) == -SPN_NOT_FOUND;
    }
}

/* Nodes that came back, or that no pod names any more. */
static void forget_unseen(struct pod_gc *g)
{
    struct keyed left = { .key_of = missing_name };
    size_t pos = 0;
    for (struct missing *m; (m = keyed_next(&g->missing, &pos));) {
        if (m->is_seen)
            (void)keyed_put(&left, m);
        else
            free(m);
    }
    keyed_done(&g->missing);
    g->missing = left;
}

/* ---- One pod ---- */

static int write_failed(struct spn_work *w, const struct spn_target *pod_at, struct spn_value *pod,
                        enum pod_cleanup_why why, struct spn_arena *a, struct spn_err *err)
{
    struct spn_target at = *pod_at;
    at.sub = SPN_TEXT("status");
    if (pod_is_terminal(pod))
        return 0;
    pod_cleanup_fail(a, pod, why);
    return spn_client_update(w->client, &at, pod, &w->how, a, NULL, err);
}

/* What fails now is tried again by the next pass. */
static void remove_pod(struct spn_work *w, struct spn_value *pod, enum pod_cleanup_why why,
                       struct spn_arena *a)
{
    static const int64_t at_once = 0;
    struct spn_err unsaid = { 0 };
    struct spn_target at = all_pods;
    at.ns = meta_text(pod, "namespace");
    at.name = meta_name(pod);
    int64_t grace = field_int(spn_value_dig(pod, "metadata", "deletionGracePeriodSeconds"), -1);
    if (grace == 0 && pod_is_terminal(pod))
        return; /* it waits for its finalizers */
    if (write_failed(w, &at, pod, why, a, &unsaid) == 0)
        (void)spn_client_delete(
            w->client, &at, &(struct spn_delete){ .grace_seconds = &at_once, .uid = meta_uid(pod) },
            &w->how, a, NULL, &unsaid);
}

/* NULL: it is not there. What a node says matters for pods that are being deleted; of others it is
 * not read. */
static const struct spn_value *node_of(struct pod_gc *g, const struct spn_value *pod,
                                       struct spn_arena *a)
{
    struct spn_text name = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    struct spn_object *o = name.n ? spn_cache_get(g->nodes, name) : NULL;
    if (!o)
        return NULL;
    const struct spn_value *node =
        meta_is_deleting(pod) ? spn_object_value(o, a) : spn_value_new(a, SPN_OBJECT);
    spn_object_unref(o);
    return node;
}

/* True: it has ended, and stays for now. */
static bool look_at(struct pod_gc *g, struct spn_work *w, struct spn_value *pod,
                    struct spn_arena *a)
{
    enum pod_cleanup_why why = pod_cleanup_judge(pod, node_of(g, pod, a));
    if (why == POD_CLEANUP_NO_NODE &&
        !missing_of(g, spn_value_text(spn_value_dig(pod, "spec", "nodeName")))->is_gone)
        why = POD_CLEANUP_NOT;
    if (why == POD_CLEANUP_NOT)
        return pod_is_terminal(pod);
    remove_pod(w, pod, why, a);
    return false;
}

/* ---- A pass ---- */

static void remove_surplus(struct spn_work *w, const struct spn_objects *all)
{
    const struct spn_value **ended = spn_arena_alloc(w->arena, (all->n + 1) * sizeof(*ended));
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct spn_value *pod = spn_object_value(all->items[i], w->arena);
        if (pod_is_terminal(pod))
            ended[n++] = pod;
    }
    size_t surplus = pod_cleanup_surplus(ended, n, MOST_TERMINATED);
    for (size_t i = 0; i < surplus; i++)
        remove_pod(w, spn_value_copy(w->arena, ended[i]), POD_CLEANUP_NOT, w->arena);
}

static int pass(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct pod_gc *g = arg;
    struct spn_objects all;
    size_t n_ended = 0;
    (void)err;
    ask_for_gone(g, w);
    spn_cache_list(g->pods, SPN_TEXT(""), false, &all);
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < all.n && !spn_stop_is_set(w->how.stop); i++) {
        n_ended += look_at(g, w, spn_object_value(all.items[i], a), a);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    if (n_ended > MOST_TERMINATED)
        remove_surplus(w, &all);
    spn_objects_done(&all);
    forget_unseen(g);
    return spn_again_after(CHECK_MS);
}

/* ---- Beginning and end ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct pod_gc *g = mem_new(struct pod_gc);
    g->missing.key_of = missing_name;
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "pod-garbage-collector-controller",
                                                        .what = all_nodes,
                                                        .kind = "Node",
                                                        .has_no_namespace = true,
                                                        .when = when_never,
                                                        .reconcile = pass,
                                                        .arg = g });
    g->nodes = caches_get(env->manager, all_nodes);
    g->pods = caches_get(env->manager, all_pods);
    spn_controller_enqueue(c, SPN_TEXT(""), SPN_TEXT(PASS_KEY));
    *ret = g;
    return 0;
}

static void done(void *made)
{
    struct pod_gc *g = made;
    size_t pos = 0;
    if (!g)
        return;
    for (struct missing *m; (m = keyed_next(&g->missing, &pos));)
        free(m);
    keyed_done(&g->missing);
    free(g);
}

const struct controllers_row controllers_pod_gc = { "pod-garbage-collector-controller", add, done };
