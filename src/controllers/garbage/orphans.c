/* orphans.c - dependents of an object that is deleted with the policy Orphan lose their reference
 * to it; then it may go. */
#include <sampan/meta.h>

#include "controllers/garbage/collector.h"
#include "base/banned.h"

static int free_dependent(struct collector *c, struct spn_work *w, const struct graph_id *dep,
                          struct spn_text owner, struct spn_err *err)
{
    struct spn_target at;
    int r = collector_place(c, w, dep, &at, err);
    if (r < 0)
        return r;
    r = collector_unown(w, &at, dep->uid, (struct spn_texts){ &owner, 1 }, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int let_go(struct collector *c, struct spn_work *w, const struct graph_id *id,
                  struct spn_err *err)
{
    struct spn_target at;
    struct spn_value *obj;
    int r = collector_place(c, w, id, &at, err);
    if (r < 0)
        return r;
    r = collector_get(w, &at, id->uid, &obj, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    return spn_finalizer_remove(w->client, &at, obj, "orphan", &w->how, w->arena, err);
}

int collector_orphan(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct collector *c = arg;
    struct graph_view v;
    if (!c->is_synced)
        return spn_again();
    (void)pthread_mutex_lock(&c->lock);
    bool is_there = graph_view(c->graph, w->key, w->arena, &v);
    (void)pthread_mutex_unlock(&c->lock);
    if (!is_there)
        return spn_done();
    for (size_t i = 0; i < v.dependents.n; i++) {
        int r = free_dependent(c, w, &v.dependents.items[i], v.id.uid, err);
        if (r < 0)
            return r;
    }
    return let_go(c, w, &v.id, err);
}
