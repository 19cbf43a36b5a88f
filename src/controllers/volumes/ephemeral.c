/* ephemeral-volume-controller: makes the claims of pods that want volumes only for themselves. They
 * go with the pod, which owns them. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "controllers/common/pod_claims.h"
#include <sampan/meta.h>
#include "base/banned.h"

static const struct spn_target all_claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");

struct ephemeral {
    struct spn_cache *pods, *claims;
};

static void copy_field(struct spn_arena *a, struct spn_value *to, const struct spn_value *from,
                       const char *key)
{
    if (spn_value_get(from, key))
        spn_value_set(a, to, key, spn_value_copy(a, spn_value_get(from, key)));
}

static struct spn_value *claim_of(struct spn_arena *a, const struct spn_value *pod,
                                  const struct spn_value *volume, struct spn_text name)
{
    const struct spn_value *template = spn_value_dig(volume, "ephemeral", "volumeClaimTemplate");
    const struct spn_value *labels = spn_value_get(template, "metadata");
    struct spn_value *claim = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, claim, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, claim, "kind", SPN_TEXT("PersistentVolumeClaim"));
    struct spn_value *meta = spn_value_ensure(a, claim, "metadata");
    spn_value_set_text(a, meta, "name", name);
    spn_value_set_text(a, meta, "namespace", meta_text(pod, "namespace"));
    copy_field(a, meta, labels, "labels");
    copy_field(a, meta, labels, "annotations");
    copy_field(a, claim, template, "spec");
    return claim;
}

static int create_claim(struct spn_work *w, const struct spn_value *pod,
                        const struct spn_value *volume, const struct spn_target *at,
                        struct spn_err *err)
{
    struct spn_value *claim = claim_of(w->arena, pod, volume, at->name);
    int r = spn_set_controller(w->arena, claim, pod, err);
    if (r < 0)
        return r;
    r = spn_client_create(w->client, at, claim, &w->how, w->arena, NULL, err);
    return r < 0 ? spn_err_wrap(err, "create PVC " SPN_FMT, SPN_ARG(at->name)) : 0;
}

static int see_to_volume(struct ephemeral *e, struct spn_work *w, const struct spn_value *pod,
                         const struct spn_value *volume, struct spn_err *err)
{
    struct spn_target at = all_claims;
    at.ns = w->ns;
    at.name = pod_claim_name(w->arena, pod, volume);
    struct spn_object *there =
        spn_cache_get(e->claims, spn_arena_printf(w->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(at.ns),
                                                  SPN_ARG(at.name)));
    if (!there)
        return create_claim(w, pod, volume, &at, err);
    bool is_ours = pod_owns_claim(pod, spn_object_value(there, w->arena));
    spn_object_unref(there);
    if (is_ours)
        return 0;
    return spn_err_set(err, SPN_CONFLICT,
                       "PVC " SPN_FMT "/" SPN_FMT " was not created for pod " SPN_FMT
                       " (pod is not owner)",
                       SPN_ARG(at.ns), SPN_ARG(at.name), SPN_ARG(w->key));
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_value *pod = spn_work_object(w);
    if (!pod || meta_is_deleting(pod))
        return spn_done();
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    for (size_t i = 0; i < spn_value_count(volumes); i++) {
        const struct spn_value *v = spn_value_at(volumes, i);
        if (!spn_value_get(v, "ephemeral"))
            continue;
        int r = see_to_volume(arg, w, pod, v, err);
        if (r == -SPN_CANCELLED)
            return r;
        if (r < 0) {
            struct spn_text name = spn_value_text(spn_value_get(v, "name"));
            spn_event(w->events, pod, SPN_WARNING, "FailedBinding",
                      "ephemeral volume " SPN_FMT ": %s", SPN_ARG(name), err->message);
            return spn_err_wrap(err, "pod " SPN_FMT ", ephemeral volume " SPN_FMT, SPN_ARG(w->key),
                                SPN_ARG(name));
        }
    }
    return spn_done();
}

/* What a pod wants does not change: it is looked at when it comes. */
static bool is_new(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return new_o && (!old_o || !spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o)));
}

static bool has_gone(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return !new_o;
}

static void pods_of_claim(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_keys *out)
{
    struct ephemeral *e = arg;
    struct spn_objects found;
    (void)a;
    pods_by_claim(e->pods, spn_object_key(o), &found);
    for (size_t i = 0; i < found.n; i++)
        spn_keys_put(out, spn_object_namespace(found.items[i]), spn_object_name(found.items[i]));
    spn_objects_done(&found);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct ephemeral *e = mem_new(struct ephemeral);
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "ephemeral-volume-controller",
                                                        .what = all_pods,
                                                        .kind = "Pod",
                                                        .when = is_new,
                                                        .reconcile = reconcile,
                                                        .component = "ephemeral_volume",
                                                        .arg = e });
    spn_controller_source(
        c, &(struct spn_source){
               .of.what = all_claims, .map = pods_of_claim, .map_arg = e, .when = has_gone });
    e->pods = caches_get(env->manager, all_pods);
    e->claims = caches_get(env->manager, all_claims);
    pods_by_claim_index(e->pods);
    *ret = e;
    return 0;
}

const struct controllers_row controllers_ephemeral_volume = { "ephemeral-volume-controller", add,
                                                              free };
