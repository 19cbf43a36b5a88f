#include "main/program_controllers.h"

#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

static int sign(void *key, struct spn_arena *a, const struct spn_value *claims,
                struct spn_text *ret, struct spn_err *err)
{
    struct str token;
    struct err why = ERR_INIT(arena_in(a));
    if (jwt_sign(arena_in(a), key, value_in(claims), &token, &why) < 0)
        return spn_err_set(err, SPN_INVALID, "sign a token: " STR_FMT, STR_ARG(why.msg));
    *ret = text_out(token);
    return 0;
}

static int add(void *self, struct spn_manager *m, struct spn_client *client, struct spn_err *err)
{
    struct program_controllers *p = self;
    if (p->key) {
        p->opt.sign = sign;
        p->opt.sign_arg = p->key;
    }
    const struct controllers_env env = { .manager = m, .client = client, .opt = &p->opt };
    return controllers_add(&env, &p->all, err);
}

static void done(void *self)
{
    struct program_controllers *p = self;
    p->all = controllers_free(p->all);
}

struct program_controllers program_controllers_usual(void)
{
    return (struct program_controllers){ .manager = { .name = "kube-controller-manager",
                                                      .lease = "kube-controller-manager",
                                                      .elects = true,
                                                      .add = add,
                                                      .done = done } };
}

int program_controllers_run(void *self, const struct spn_config *cfg, struct spn_stop *stop,
                            struct spn_err *err)
{
    struct program_controllers *p = self;
    return program_manage(&p->manager, p, cfg, stop, err);
}
