/* node-ipam-controller: every node gets a block of the cluster's networks, for its pods. */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/fields.h"
#include "controllers/common/own_writes.h"
#include "controllers/ipam/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { TRIES = 3 }; /* of one assignment */

static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");

struct node_ipam {
    struct spn_cache *nodes;
    struct own_writes *written;
    pthread_mutex_t lock; /* of what follows */
    struct ipam *blocks;
    bool is_filled; /* with what nodes had when this began */
};

/* ---- What is taken ---- */

/* What cannot be is said when that node is looked at. */
static void fill(struct node_ipam *n)
{
    struct spn_objects all;
    struct spn_err unsaid = { 0 };
    struct spn_arena *a = spn_arena_new();
    spn_cache_list(n->nodes, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n; i++) {
        (void)ipam_occupy(n->blocks, spn_object_value(all.items[i], a), &unsaid);
        spn_arena_reset(a);
    }
    spn_objects_done(&all);
    spn_arena_free(a);
    n->is_filled = true;
}

/* The nodes are in the cache before anything is reconciled, so none of their blocks is given to
 * another. */
static struct spn_value *take_blocks(struct node_ipam *n, struct spn_arena *a)
{
    (void)pthread_mutex_lock(&n->lock);
    if (!n->is_filled)
        fill(n);
    struct spn_value *blocks = ipam_take(n->blocks, a);
    (void)pthread_mutex_unlock(&n->lock);
    return blocks;
}

static void give_back(struct node_ipam *n, const struct spn_value *blocks)
{
    (void)pthread_mutex_lock(&n->lock);
    ipam_give_back(n->blocks, blocks);
    (void)pthread_mutex_unlock(&n->lock);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    struct node_ipam *n = arg;
    (void)is_last_known;
    struct spn_arena *a = spn_arena_new();
    (void)pthread_mutex_lock(&n->lock);
    ipam_release(n->blocks, spn_object_value(o, a));
    (void)pthread_mutex_unlock(&n->lock);
    spn_arena_free(a);
}

/* ---- One node ---- */

static void say(struct spn_work *w, const struct spn_value *node, const char *what)
{
    spn_event(w->events, node, SPN_NORMAL, what, "Node " SPN_FMT " status is now: %s",
              SPN_ARG(meta_name(node)), what);
}

static int write_blocks(struct node_ipam *n, struct spn_work *w, const struct spn_value *blocks,
                        struct spn_err *err)
{
    struct spn_value *answer, *patch = spn_value_new(w->arena, SPN_OBJECT);
    struct spn_value *spec = spn_value_ensure(w->arena, patch, "spec");
    spn_value_set_text(w->arena, spec, "podCIDR", spn_value_text(spn_value_at(blocks, 0)));
    spn_value_set(w->arena, spec, "podCIDRs", spn_value_copy(w->arena, blocks));
    struct spn_text text = spn_value_json(w->arena, patch);
    int r = 0;
    for (int i = 0; i < TRIES; i++) {
        r = spn_client_patch(w->client, &w->at, SPN_STRATEGIC_PATCH, text, &w->how, w->arena,
                             &answer, err);
        if (r == 0 || r == -SPN_NOT_FOUND || r == -SPN_CANCELLED)
            break;
    }
    if (r == 0)
        own_writes_note_update(n->written, w->key, answer);
    return r;
}

/* What may have been written stays taken; the next start finds out. */
static bool may_be_done(int r)
{
    return r == -SPN_SERVER_TIMEOUT || r == -SPN_TIMEOUT || r == -SPN_UNAVAILABLE ||
           r == -SPN_CANCELLED;
}

static int assign(struct node_ipam *n, struct spn_work *w, const struct spn_value *node,
                  struct spn_err *err)
{
    struct spn_value *blocks = take_blocks(n, w->arena);
    if (!blocks) {
        say(w, node, "CIDRNotAvailable");
        return spn_err_set(err, SPN_INVALID,
                           "CIDR allocation failed; there are no remaining CIDRs left to allocate "
                           "in the accepted range");
    }
    int r = write_blocks(n, w, blocks, err);
    if (r == 0)
        return spn_done();
    if (!may_be_done(r))
        give_back(n, blocks);
    if (r == -SPN_NOT_FOUND)
        return spn_done();
    say(w, node, "CIDRAssignmentFailed");
    return r;
}

static int occupy(struct node_ipam *n, const struct spn_value *node, struct spn_err *err)
{
    (void)pthread_mutex_lock(&n->lock);
    int r = ipam_occupy(n->blocks, node, err);
    (void)pthread_mutex_unlock(&n->lock);
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct node_ipam *n = arg;
    const struct spn_value *node = spn_work_object(w);
    if (!node || meta_is_deleting(node))
        return spn_done();
    if (spn_value_count(spn_value_dig(node, "spec", "podCIDRs")))
        return occupy(n, node, err);
    if (!own_writes_are_seen(n->written, w->key, n->nodes))
        return spn_again();
    return assign(n, w, node, err);
}

/* ---- Starting ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct ipam *blocks;
    const struct spn_informer_options of_nodes = { .what = nodes };
    if (!env->opt->allocates_node_cidrs)
        return 0;
    int r = ipam_new(env->opt, &blocks, err);
    if (r < 0)
        return r;
    struct node_ipam *n = mem_new(struct node_ipam);
    struct spn_informer *i = spn_informers_get(spn_manager_informers(env->manager), &of_nodes);
    n->blocks = blocks;
    n->nodes = spn_informer_cache(i);
    n->written = own_writes_new();
    (void)pthread_mutex_init(&n->lock, NULL);
    spn_informer_handle(i, &(struct spn_handler){ .arg = n, .on_delete = on_delete });
    spn_manager_add(env->manager,
                    &(struct spn_controller_options){ .name = "node-ipam-controller",
                                                      .what = nodes,
                                                      .kind = "Node",
                                                      .has_no_namespace = true,
                                                      .when = spn_when_version_changes,
                                                      .reconcile = reconcile,
                                                      .arg = n,
                                                      .component = "cidrAllocator" });
    *ret = n;
    return 0;
}

static void done(void *made)
{
    struct node_ipam *n = made;
    if (!n)
        return;
    ipam_free(n->blocks);
    own_writes_free(n->written);
    (void)pthread_mutex_destroy(&n->lock);
    free(n);
}

const struct controllers_row controllers_node_ipam = { "node-ipam-controller", add, done };
