/* persistentvolume-expander-controller: tells who is to make a volume larger. All kinds of volumes
 * that can grow have drivers outside, so there is nothing to do here but to say so. */
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "controllers/volumes/growth.h"
#include "base/banned.h"

#define NOTE_RESIZER "volume.kubernetes.io/storage-resizer"

static const struct spn_target all_claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
static const struct spn_target all_volumes = SPN_AT("", "v1", "persistentvolumes", "", "");

static int tell_driver(struct spn_work *w, struct spn_value *claim, struct spn_text plugin,
                       struct spn_text driver, struct spn_err *err)
{
    spn_event(w->events, claim, SPN_NORMAL, "ExternalExpanding",
              "CSI migration enabled for " SPN_FMT
              "; waiting for external resizer to expand the pvc",
              SPN_ARG(plugin));
    if (spn_text_eq(meta_annotation(claim, NOTE_RESIZER), driver))
        return spn_done();
    meta_annotate(w->arena, claim, NOTE_RESIZER, driver);
    int r = spn_client_update(w->client, &w->at, claim, &w->how, w->arena, NULL, err);
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_value *claim = spn_work_object(w), *volume;
    struct spn_target at = all_volumes;
    at.name = spn_value_text(spn_value_dig(claim, "spec", "volumeName"));
    if (!claim || !at.name.n)
        return spn_done();
    int r = spn_client_get(w->client, &at, &w->how, w->arena, &volume, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    if (!claim_should_grow(claim, volume))
        return spn_done();
    struct spn_text plugin = volume_old_plugin(volume), driver = provisioner_driver(plugin);
    if (driver.n)
        return tell_driver(w, claim, plugin, driver, err);
    spn_event(w->events, claim, SPN_NORMAL, "ExternalExpanding",
              "waiting for an external controller to expand this PVC");
    return spn_done();
}

/* It asks for more, or has more, than before. */
static bool has_grown(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    if (!new_o)
        return false;
    struct spn_arena *a = spn_arena_new();
    bool has =
        claim_has_grown(old_o ? spn_object_value(old_o, a) : NULL, spn_object_value(new_o, a));
    spn_arena_free(a);
    return has;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(env->manager, &(struct spn_controller_options){
                                            .name = "persistentvolume-expander-controller",
                                            .what = all_claims,
                                            .kind = "PersistentVolumeClaim",
                                            .when = has_grown,
                                            .reconcile = reconcile,
                                            .component = "volume_expand" });
    return 0;
}

const struct controllers_row controllers_volume_expander = { "persistentvolume-expander-controller",
                                                             add, NULL };
