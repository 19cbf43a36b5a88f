/* What becomes of a volume whose claim is gone: it is kept, emptied or deleted. */
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/volumes/binder.h"
#include "controllers/volumes/host_path.h"
#include "controllers/common/pod_claims.h"
#include <sampan/meta.h>
#include "base/banned.h"

enum { RECYCLE_LOOK_MS = 1000 };

static int fail(struct binder *b, struct spn_work *w, struct spn_value *volume, const char *reason,
                struct spn_text why, struct spn_err *err)
{
    const struct volume_say say = { SPN_WARNING, reason, why };
    int r = binder_set_volume_phase(w, &volume, "Failed", &say, err);
    if (r == -SPN_NOT_FOUND)
        return spn_done();
    return r == -SPN_CONFLICT ? spn_again() : r < 0 ? r : spn_again_after(b->sync_ms);
}

/* ---- Deleting ---- */

/* As upstream looks for "/tmp/.+". */
static bool is_below_tmp(struct spn_text path)
{
    const char *at = path.n ? memmem(path.p, path.n, "/tmp/", 5) : NULL;
    return at && (size_t)(at - path.p) + 5 < path.n;
}

static int delete_data(struct spn_arena *a, const struct spn_value *volume,
                       struct spn_text *ret_why)
{
    struct spn_text path = spn_value_text(spn_value_dig(volume, "spec", "hostPath", "path"));
    struct spn_err err = { 0 };
    if (!is_below_tmp(path)) {
        *ret_why = spn_arena_printf(
            a, "host_path deleter only supports /tmp/.+ but received provided " SPN_FMT,
            SPN_ARG(path));
        return -1;
    }
    int r = host_path_remove(path, &err);
    if (r < 0)
        *ret_why = spn_arena_text(a, spn_text_of(err.message));
    return r;
}

/* It may have found a new claim, or have gone, since the cache has seen it. */
static int read_afresh(struct spn_work *w, struct spn_value **volume, bool *ret_same,
                       struct spn_err *err)
{
    struct spn_value *now;
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &now, err);
    if (r < 0)
        return r;
    *ret_same = spn_value_eq(spn_value_dig(now, "spec", "claimRef"),
                             spn_value_dig(*volume, "spec", "claimRef")) &&
                spn_text_eq(meta_uid(now), meta_uid(*volume));
    *volume = now;
    return 0;
}

static int delete_object(struct spn_work *w, struct spn_value *volume, struct spn_err *err)
{
    int r =
        spn_finalizer_remove(w->client, &w->at, volume, FINALIZER_IN_TREE, &w->how, w->arena, err);
    if (r < 0)
        return r;
    const struct spn_delete what = { .uid = meta_uid(volume) };
    r = spn_client_delete(w->client, &w->at, &what, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int delete_volume(struct binder *b, struct spn_work *w, struct spn_value *volume,
                         struct spn_err *err)
{
    struct volume_by by = volume_deleter(w->arena, volume);
    bool is_same;
    if (by.who == MAKER_ELSEWHERE)
        return spn_done();
    if (by.who == MAKER_NONE)
        return fail(b, w, volume, "VolumeFailedDelete", by.why, err);
    int r = read_afresh(w, &volume, &is_same, err);
    if (r < 0 || !is_same)
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    if (delete_data(w->arena, volume, &by.why) < 0)
        return fail(b, w, volume, "VolumeFailedDelete", by.why, err);
    return delete_object(w, volume, err);
}

/* ---- Recycling: a pod empties the volume ---- */

/* Pods that still use it, as "NS/NAME,..."; empty: none does. */
static struct spn_text users_of(struct binder *b, struct spn_arena *a,
                                const struct spn_value *volume)
{
    const struct spn_value *ref = spn_value_dig(volume, "spec", "claimRef");
    struct spn_objects found;
    struct spn_text users = SPN_TEXT("");
    struct spn_text key = spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(spn_value_text(spn_value_get(ref, "namespace"))),
                                           SPN_ARG(spn_value_text(spn_value_get(ref, "name"))));
    if (binder_cached(b->claims, a, key)) /* another one of that name, with another volume */
        return users;
    pods_by_claim(b->pods, key, &found);
    for (size_t i = 0; i < found.n; i++)
        if (!pod_is_over(spn_object_value(found.items[i], a)))
            users = spn_arena_printf(a, SPN_FMT "%s" SPN_FMT, SPN_ARG(users), users.n ? "," : "",
                                     SPN_ARG(spn_object_key(found.items[i])));
    spn_objects_done(&found);
    return users;
}

static int fail_recycling(struct binder *b, struct spn_work *w, struct spn_value *volume,
                          const char *why, struct spn_err *err)
{
    return fail(b, w, volume, "VolumeFailedRecycle",
                spn_arena_printf(w->arena, "Recycle failed: %s", why), err);
}

/* The pod has ended. */
static int end_recycling(struct binder *b, struct spn_work *w, struct spn_value *volume,
                         const struct spn_target *at, const struct spn_value *pod,
                         struct spn_err *err)
{
    struct spn_text phase = spn_value_text(spn_value_dig(pod, "status", "phase"));
    struct spn_text why = spn_value_text(spn_value_dig(pod, "status", "message"));
    int r = spn_client_delete(w->client, at, &(struct spn_delete){ .uid = meta_uid(pod) }, &w->how,
                              w->arena, NULL, err);
    if (r < 0 && r != -SPN_NOT_FOUND)
        return r;
    if (!spn_text_eq(phase, SPN_TEXT("Succeeded")))
        return fail_recycling(
            b, w, volume,
            spn_arena_printf(
                w->arena, "failed to recycle volume: " SPN_FMT,
                SPN_ARG(why.n ? why : SPN_TEXT("pod failed, pod.Status.Message unknown")))
                .p,
            err);
    spn_event(w->events, volume, SPN_NORMAL, "VolumeRecycled", "Volume recycled");
    r = binder_unbind(w, volume, err);
    return r == -SPN_CONFLICT ? spn_again() : r;
}

static int recycle(struct binder *b, struct spn_work *w, struct spn_value *volume,
                   struct spn_err *err)
{
    struct spn_value *pod = volume_recycler(w->arena, volume), *there;
    struct spn_target at = SPN_AT("", "v1", "pods", "default", "");
    struct spn_text users = users_of(b, w->arena, volume);
    if (users.n) {
        spn_event(w->events, volume, SPN_NORMAL, "VolumeFailedRecycle",
                  "Volume is used by pods: " SPN_FMT, SPN_ARG(users));
        return spn_again_after(b->sync_ms);
    }
    if (!pod)
        return fail(b, w, volume, "VolumeFailedRecycle",
                    SPN_TEXT("No recycler plugin found for the volume!"), err);
    at.name = meta_name(pod);
    int r = spn_client_get(w->client, &at, &w->how, w->arena, &there, err);
    if (r == -SPN_NOT_FOUND)
        r = spn_client_create(w->client, &at, pod, &w->how, w->arena, &there, err);
    if (r < 0)
        return fail_recycling(
            b, w, volume,
            spn_arena_printf(w->arena, "unexpected error creating recycler pod:  %s", err->message)
                .p,
            err);
    struct spn_text phase = spn_value_text(spn_value_dig(there, "status", "phase"));
    if (!spn_text_eq(phase, SPN_TEXT("Succeeded")) && !spn_text_eq(phase, SPN_TEXT("Failed")))
        return spn_again_after(RECYCLE_LOOK_MS);
    return end_recycling(b, w, volume, &at, there, err);
}

int binder_reclaim(struct binder *b, struct spn_work *w, struct spn_value *volume,
                   struct spn_err *err)
{
    struct spn_text policy =
        spn_value_text(spn_value_dig(volume, "spec", "persistentVolumeReclaimPolicy"));
    if (meta_annotation(volume, NOTE_MIGRATED_TO).n || spn_text_eq(policy, SPN_TEXT("Retain")))
        return spn_done();
    if (spn_text_eq(policy, SPN_TEXT("Delete")))
        return delete_volume(b, w, volume, err);
    if (spn_text_eq(policy, SPN_TEXT("Recycle")))
        return recycle(b, w, volume, err);
    return fail(b, w, volume, "VolumeUnknownReclaimPolicy",
                SPN_TEXT("Volume has unrecognized PersistentVolumeReclaimPolicy"), err);
}
