/* ttl-controller: how long nodes may keep secrets and the like, by the size of the cluster. */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/nodes/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define TTL_ANNOTATION "node.alpha.kubernetes.io/ttl"

static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");

struct ttl {
    struct spn_cache *nodes;
    pthread_mutex_t step_lock;
    size_t step;
};

static int64_t seconds_now(struct ttl *t)
{
    const size_t n = spn_cache_count(t->nodes);
    (void)pthread_mutex_lock(&t->step_lock);
    int64_t seconds = node_ttl_seconds(n, &t->step);
    (void)pthread_mutex_unlock(&t->step_lock);
    return seconds;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct spn_value *node = spn_work_object(w);
    struct spn_text want =
        spn_arena_printf(w->arena, "%lld", (long long)seconds_now((struct ttl *)arg));
    if (!node || spn_text_eq(meta_annotation(node, TTL_ANNOTATION), want))
        return spn_done();
    struct spn_value *patch = spn_value_new(w->arena, SPN_OBJECT);
    meta_annotate(w->arena, patch, TTL_ANNOTATION, want);
    int r = spn_client_patch(w->client, &w->at, SPN_STRATEGIC_PATCH,
                             spn_value_json(w->arena, patch), &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND ? spn_done() : r;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct ttl *t = mem_new(struct ttl);
    t->nodes = caches_get(env->manager, nodes);
    (void)pthread_mutex_init(&t->step_lock, NULL);
    *ret = t;
    spn_manager_add(env->manager,
                    &(struct spn_controller_options){ .name = "ttl-controller",
                                                      .what = nodes,
                                                      .kind = "Node",
                                                      .has_no_namespace = true,
                                                      .when = spn_when_version_changes,
                                                      .reconcile = reconcile,
                                                      .arg = t });
    return 0;
}

static void done(void *made)
{
    struct ttl *t = made;
    if (t)
        (void)pthread_mutex_destroy(&t->step_lock);
    free(t);
}

const struct controllers_row controllers_ttl = { "ttl-controller", add, done };
