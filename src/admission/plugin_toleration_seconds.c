/* DefaultTolerationSeconds: how long pods stay on a node that is gone. */
#include "admission/config.h"
#include "admission/plugins.h"
#include "admission/tolerations.h"
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

static void tolerate(struct arena *a, struct value *spec, struct str key,
                     const struct admission_seconds *patience)
{
    enum { PATIENCE_SEC = 300 };
    int64_t seconds = patience && patience->is_set ? patience->n : PATIENCE_SEC;
    struct value toleration = toleration_of(a, key, STR("NoExecute"));
    struct value *list = value_edit(a, spec, STR("tolerations"));
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, spec, STR("tolerations"), value_array());
    value_put_new(a, &toleration, STR("tolerationSeconds"), value_int(seconds));
    value_put_item(a, list, toleration);
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    static const struct str keys[] = { STR(KEY_NODE_NOT_READY),
                                       STR("node.kubernetes.io/unreachable") };
    const struct admission_options *said = admission_options_of(req);
    struct value *spec = value_ensure(req->arena, pod, STR("spec"));
    const struct value *given = value_get(spec, STR("tolerations"));
    bool has[] = { tolerates(given, keys[0]), tolerates(given, keys[1]) };
    (void)err;
    if (!has[0])
        tolerate(req->arena, spec, keys[0], said ? &said->not_ready : NULL);
    if (!has[1])
        tolerate(req->arena, spec, keys[1], said ? &said->unreachable : NULL);
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
