/* bootstrap-signer-controller: the ConfigMap cluster-info says where the cluster is; each bootstrap
 * token that may signs it, so that whoever has the token can believe it. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/bootstrap/plan.h"
#include "controllers/common/caches.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define MAP_NAMESPACE "kube-public"
#define MAP_NAME      "cluster-info"

static const struct spn_target map = SPN_AT("", "v1", "configmaps", MAP_NAMESPACE, "");
static const struct spn_target secrets = SPN_AT("", "v1", "secrets", "kube-system", "");

struct signer {
    struct spn_cache *secrets;
};

/* In the order of their names, so that each run writes the same. */
static size_t read_tokens(struct signer *s, struct spn_arena *a, struct bootstrap_token **ret)
{
    struct spn_objects all;
    size_t n = 0;
    spn_cache_list(s->secrets, SPN_TEXT(""), true, &all);
    struct bootstrap_token *tokens = spn_arena_alloc(a, (all.n + 1) * sizeof(*tokens));
    for (size_t i = 0; i < all.n; i++)
        n += bootstrap_token_read(a, spn_object_value(all.items[i], a), time_now(), &tokens[n]);
    spn_objects_done(&all);
    *ret = tokens;
    return n;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct bootstrap_token *tokens;
    struct spn_value *info = spn_work_object(w);
    size_t n = read_tokens(arg, w->arena, &tokens);
    if (!info || !bootstrap_sign(w->arena, info, tokens, n))
        return spn_done();
    int r = spn_client_update(w->client, &w->at, info, &w->how, w->arena, NULL, err);
    if (r == -SPN_CONFLICT)
        return spn_again();
    return r == -SPN_NOT_FOUND ? spn_done() : r;
}

static void map_secret(void *arg, const struct spn_object *o, struct spn_arena *a,
                       struct spn_keys *out)
{
    (void)arg;
    (void)o;
    (void)a;
    spn_keys_put(out, SPN_TEXT(MAP_NAMESPACE), SPN_TEXT(MAP_NAME));
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct signer *s = mem_new(struct signer);
    s->secrets = caches_select(env->manager, secrets, BOOTSTRAP_TYPE_SELECTOR);
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "bootstrap-signer-controller",
                                                        .what = map,
                                                        .kind = "ConfigMap",
                                                        .fields = "metadata.name=" MAP_NAME,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = s });
    spn_controller_source(
        c, &(struct spn_source){ .of = { .what = secrets, .fields = BOOTSTRAP_TYPE_SELECTOR },
                                 .map = map_secret,
                                 .when = spn_when_version_changes });
    *ret = s;
    return 0;
}

const struct controllers_row controllers_bootstrap_signer = { "bootstrap-signer-controller", add,
                                                              free };
