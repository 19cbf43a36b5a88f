/* token-cleaner-controller: bootstrap tokens go when their time is over. */
#include "controllers/bootstrap/plan.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "base/banned.h"

static const struct spn_target secrets = SPN_AT("", "v1", "secrets", "kube-system", "");

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    const struct spn_value *secret = spn_work_object(w);
    int64_t left_ms = secret ? bootstrap_left_ms(secret, time_now()) : -1;
    if (left_ms < 0)
        return spn_done();
    if (left_ms > 0)
        return spn_again_after(left_ms);
    int r = spn_client_delete(w->client, &w->at, &(struct spn_delete){ .uid = meta_uid(secret) },
                              &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(env->manager,
                          &(struct spn_controller_options){ .name = "token-cleaner-controller",
                                                            .what = secrets,
                                                            .kind = "Secret",
                                                            .fields = BOOTSTRAP_TYPE_SELECTOR,
                                                            .when = spn_when_version_changes,
                                                            .reconcile = reconcile });
    return 0;
}

const struct controllers_row controllers_token_cleaner = { "token-cleaner-controller", add, NULL };
