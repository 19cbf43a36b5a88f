/* DefaultTolerationSeconds: how long pods stay on a node that is gone. */
#include "admission/plugins.h"
#include "api/keys.h"
#include "base/banned.h"

static bool tolerates(const struct value *tolerations, struct str key)
{
    value_each_item (it, tolerations) {
        struct str its_key = value_text(it, "key"), effect = value_text(it, "effect");
        if ((!its_key.n || str_eq(its_key, key)) && (!effect.n || str_eq(effect, STR("NoExecute"))))
            return true;
    }
    return false;
}

static void tolerate_lost_nodes(struct arena *a, struct value *pod)
{
    enum { PATIENCE_SEC = 300 };
    static const struct str keys[] = { STR(KEY_NODE_NOT_READY),
                                       STR("node.kubernetes.io/unreachable") };
    struct value *spec = value_ensure(a, pod, STR("spec"));
    const struct value *given = value_get(spec, STR("tolerations"));
    bool has[] = { tolerates(given, keys[0]), tolerates(given, keys[1]) };
    for (size_t i = 0; i < 2; i++) {
        if (has[i])
            continue;
        struct value toleration = value_object();
        value_put_new(a, &toleration, STR("key"), value_string(keys[i]));
        value_put_new(a, &toleration, STR("operator"), value_string(STR("Exists")));
        value_put_new(a, &toleration, STR("effect"), value_string(STR("NoExecute")));
        value_put_new(a, &toleration, STR("tolerationSeconds"), value_int(PATIENCE_SEC));
        struct value *list = value_edit(a, spec, STR("tolerations"));
        if (!value_is(list, VALUE_ARRAY))
            list = value_set(a, spec, STR("tolerations"), value_array());
        value_put_item(a, list, toleration);
    }
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    (void)err;
    tolerate_lost_nodes(req->arena, pod);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_toleration_seconds = {
    .name = "DefaultTolerationSeconds",
    .targets = targets,
    .mutate = mutate,
};
