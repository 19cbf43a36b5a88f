/* TaintNodesByCondition: a new node is not ready. */
#include "admission/plugins.h"
#include "api/keys.h"
#include "base/banned.h"

static void taint_node(struct arena *a, struct value *node)
{
    struct str key = STR(KEY_NODE_NOT_READY), effect = STR("NoSchedule");
    struct value *spec = value_ensure(a, node, STR("spec"));
    value_each_item (it, value_get(spec, STR("taints")))
        if (str_eq(value_text(it, "key"), key) && str_eq(value_text(it, "effect"), effect))
            return;
    struct value taint = value_object();
    value_put_new(a, &taint, STR("key"), value_string(key));
    value_put_new(a, &taint, STR("effect"), value_string(effect));
    struct value *taints = value_edit(a, spec, STR("taints"));
    if (!value_is(taints, VALUE_ARRAY))
        taints = value_set(a, spec, STR("taints"), value_array());
    value_put_item(a, taints, taint);
}

static int mutate(struct admission_request *req, struct value *node, struct err *err)
{
    (void)err;
    taint_node(req->arena, node);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("nodes"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_node_taint = {
    .name = "TaintNodesByCondition",
    .targets = targets,
    .mutate = mutate,
};
