#include "controllers/common/pods_by_node.h"

#include "base/banned.h"

#define BY_NODE_INDEX "spec.nodeName"

static void index_node(void *arg, const struct spn_object *o, struct spn_arena *a,
                       struct spn_index_values *out)
{
    (void)arg;
    struct spn_text node =
        spn_value_text(spn_value_dig(spn_object_value(o, a), "spec", "nodeName"));
    if (node.n)
        spn_index_put(out, node);
}

void pods_by_node_index(struct spn_cache *pods)
{
    (void)spn_cache_add_index(pods, BY_NODE_INDEX, index_node, NULL, NULL);
}

void pods_by_node(struct spn_cache *pods, struct spn_text node, struct spn_objects *ret)
{
    *ret = (struct spn_objects){ 0 };
    (void)spn_cache_by_index(pods, BY_NODE_INDEX, node, ret, NULL);
}
