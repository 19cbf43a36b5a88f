/* PodTopologyLabels: a pod has the zone and the region of its node. */
#include "admission/plugins.h"
#include "api/keys.h"
#include "base/banned.h"

static int copy_topology(struct admission_request *req, struct str node, struct value *obj,
                         struct err *err)
{
    static const struct str keys[] = { STR(KEY_TOPOLOGY_ZONE), STR(KEY_TOPOLOGY_REGION) };
    struct value found;
    int r = node.n ? admission_read(req, STR(""), STR("nodes"), STR(""), node, &found, err) : 0;
    if (r <= 0)
        return r;
    const struct value *from = value_dig(&found, "metadata", "labels");
    for (size_t i = 0; i < 2; i++) {
        const struct value *label = value_get(from, keys[i]);
        struct value *meta = value_ensure(req->arena, obj, STR("metadata"));
        if (label)
            value_put(req->arena, value_ensure(req->arena, meta, STR("labels")), keys[i],
                      value_borrow(label));
    }
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE, STR("") },
    { STR(""), STR("pods"), ADMISSION_CREATE, STR("binding") },
    { STR(""), STR("bindings"), ADMISSION_CREATE, STR("") },
    { .operations = 0 },
};

/* A Binding names the node of its pod. */
static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    const struct value *target = value_get(obj, STR("target"));
    if (req->target == &targets[0])
        return copy_topology(req, value_str(value_dig(obj, "spec", "nodeName")), obj, err);
    if (!str_eq(value_text(target, "kind"), STR("Node")))
        return 0;
    return copy_topology(req, value_text(target, "name"), obj, err);
}

const struct admission_plugin plugin_topology = {
    .name = "PodTopologyLabels",
    .targets = targets,
    .mutate = mutate,
};
