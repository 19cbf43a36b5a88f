/* persistentvolumeclaim-protection-controller and persistentvolume-protection-controller: a claim
 * that a pod uses, and a volume that is bound, do not go before they are free. The first one also
 * says since when nobody has used a claim. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "controllers/common/pod_claims.h"
#include "controllers/volumes/usage.h"
#include "base/banned.h"

#define CLAIM_FINALIZER  "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

static const struct spn_target all_claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
static const struct spn_target all_volumes = SPN_AT("", "v1", "persistentvolumes", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");

struct protection {
    struct spn_cache *pods;
};

static int outcome(int r)
{
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

/* ---- Claims ---- */

typedef bool uses_fn(struct spn_arena *a, const struct spn_value *pod,
                     const struct spn_value *claim);

static bool is_used_in_cache(struct protection *p, struct spn_work *w,
                             const struct spn_value *claim, uses_fn *uses)
{
    struct spn_objects found;
    bool is_used = false;
    pods_by_claim(p->pods, w->key, &found);
    for (size_t i = 0; i < found.n && !is_used; i++)
        is_used = uses(w->arena, spn_object_value(found.items[i], w->arena), claim);
    spn_objects_done(&found);
    return is_used;
}

/* The cache may not know a pod yet. Before a claim is given up, the server is asked. */
static int is_used(struct protection *p, struct spn_work *w, const struct spn_value *claim,
                   uses_fn *uses, bool *ret, struct spn_err *err)
{
    struct spn_target at = all_pods;
    struct spn_value *list;
    at.ns = w->ns;
    *ret = is_used_in_cache(p, w, claim, uses);
    if (*ret)
        return 0;
    int r = spn_client_list(w->client, &at, NULL, &w->how, w->arena, &list, err);
    if (r < 0)
        return r;
    const struct spn_value *items = spn_value_get(list, "items");
    for (size_t i = 0; i < spn_value_count(items) && !*ret; i++)
        *ret = uses(w->arena, spn_value_at(items, i), claim);
    return 0;
}

static int update_unused(struct protection *p, struct spn_work *w, struct spn_value *claim,
                         struct spn_err *err)
{
    struct spn_target at = w->at;
    bool used;
    if (claim_is_unused(claim) && !is_used_in_cache(p, w, claim, pod_refers_to_claim))
        return 0;
    int r = is_used(p, w, claim, pod_refers_to_claim, &used, err);
    if (r < 0 || !claim_set_unused(w->arena, claim, !used))
        return r;
    at.sub = SPN_TEXT("status");
    return spn_client_update(w->client, &at, claim, &w->how, w->arena, NULL, err);
}

/* A claim that goes: may it? */
static int let_go(struct protection *p, struct spn_work *w, struct spn_value *claim,
                  struct spn_err *err)
{
    bool used;
    int r = is_used(p, w, claim, pod_holds_claim, &used, err);
    if (r < 0 || used)
        return r;
    return spn_finalizer_remove(w->client, &w->at, claim, CLAIM_FINALIZER, &w->how, w->arena, err);
}

static int reconcile_claim(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_value *claim = spn_work_object(w);
    struct spn_text phase = spn_value_text(spn_value_dig(claim, "status", "phase"));
    int r = 0;
    if (!claim)
        return spn_done();
    if (meta_is_deleting(claim))
        return spn_finalizer_has(claim, CLAIM_FINALIZER) ? outcome(let_go(arg, w, claim, err))
                                                         : spn_done();
    if (spn_text_eq(phase, SPN_TEXT("Bound"))) /* not while the binder works on it */
        r = update_unused(arg, w, claim, err);
    if (r < 0)
        return outcome(r);
    return outcome(
        spn_finalizer_add(w->client, &w->at, claim, CLAIM_FINALIZER, &w->how, w->arena, err));
}

static void claims_of_pod(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_keys *out)
{
    (void)arg;
    const struct pod_claims all = pod_claims_of(a, o);
    for (size_t i = 0; i < all.n; i++)
        spn_keys_put(out, spn_object_namespace(o), all.names[i]);
}

static int add_claims(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct protection *p = mem_new(struct protection);
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "persistentvolumeclaim-protection-controller",
                                          .what = all_claims,
                                          .kind = "PersistentVolumeClaim",
                                          .when = spn_when_version_changes,
                                          .reconcile = reconcile_claim,
                                          .arg = p });
    spn_controller_source(c, &(struct spn_source){ .of.what = all_pods,
                                                   .map = claims_of_pod,
                                                   .when = spn_when_version_changes });
    p->pods = caches_get(env->manager, all_pods);
    pods_by_claim_index(p->pods);
    *ret = p;
    return 0;
}

/* ---- Volumes ---- */

static int reconcile_volume(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_value *volume = spn_work_object(w);
    struct spn_text phase = spn_value_text(spn_value_dig(volume, "status", "phase"));
    if (!volume)
        return spn_done();
    if (!meta_is_deleting(volume))
        return outcome(
            spn_finalizer_add(w->client, &w->at, volume, VOLUME_FINALIZER, &w->how, w->arena, err));
    if (spn_text_eq(phase, SPN_TEXT("Bound")))
        return spn_done();
    return outcome(
        spn_finalizer_remove(w->client, &w->at, volume, VOLUME_FINALIZER, &w->how, w->arena, err));
}

static int add_volumes(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(env->manager, &(struct spn_controller_options){
                                            .name = "persistentvolume-protection-controller",
                                            .what = all_volumes,
                                            .kind = "PersistentVolume",
                                            .has_no_namespace = true,
                                            .when = spn_when_version_changes,
                                            .reconcile = reconcile_volume });
    return 0;
}

const struct controllers_row controllers_claim_protection = {
    "persistentvolumeclaim-protection-controller", add_claims, free
};
const struct controllers_row controllers_volume_protection = {
    "persistentvolume-protection-controller", add_volumes, NULL
};
