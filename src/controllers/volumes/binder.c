/* persistentvolume-binder-controller: finds a volume for each claim, and sees to it that both say
 * so. What is to be done is in plan.c. Caches may be a moment old: every write has the
 * resourceVersion that it was decided by, so a decision by old news fails, and is made anew. */
#include "controllers/volumes/binder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "controllers/volumes/edits.h"
#include "controllers/common/pod_claims.h"
#include "select/volume_match.h"
#include "base/banned.h"

#define COMPONENT "persistentvolume-controller"
enum { SYNC_MS = 15000 };

static const struct spn_target all_claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
static const struct spn_target all_volumes = SPN_AT("", "v1", "persistentvolumes", "", "");
static const struct spn_target all_classes =
    SPN_AT("storage.k8s.io", "v1", "storageclasses", "", "");
static const struct spn_target all_nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");

/* ---- Indices ---- */

/* Volumes by "class/NAME" if they are free, and by "claim/NS/NAME" if they are for a claim. */
#define VOLUME_INDEX "volume-binder"
/* Claims that are not bound yet, by "class/NAME" and by "volume/NAME". */
#define CLAIM_INDEX "open-claims"

static struct spn_text key_of(struct spn_arena *a, const char *what, struct spn_text ns,
                              struct spn_text name)
{
    return spn_arena_printf(a, "%s/" SPN_FMT "%s" SPN_FMT, what, SPN_ARG(ns), ns.n ? "/" : "",
                            SPN_ARG(name));
}

static struct spn_text claim_key_of(struct spn_arena *a, const struct spn_value *ref)
{
    return key_of(a, "claim", spn_value_text(spn_value_get(ref, "namespace")),
                  spn_value_text(spn_value_get(ref, "name")));
}

static void index_volume(void *arg, const struct spn_object *o, struct spn_arena *a,
                         struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *volume = spn_object_value(o, a);
    const struct spn_value *ref = spn_value_dig(volume, "spec", "claimRef");
    if (ref)
        spn_index_put(out, claim_key_of(a, ref));
    else
        spn_index_put(out,
                      key_of(a, "class", SPN_TEXT(""), text_out(volume_class(value_in(volume)))));
}

static void index_claim(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *claim = spn_object_value(o, a);
    struct spn_text name = spn_value_text(spn_value_dig(claim, "spec", "volumeName"));
    if (claim_was_bound(claim))
        return;
    if (name.n)
        spn_index_put(out, key_of(a, "volume", SPN_TEXT(""), name));
    else
        spn_index_put(out,
                      key_of(a, "class", SPN_TEXT(""), text_out(claim_class(value_in(claim)))));
}

/* ---- Reading and writing ---- */

struct spn_value *binder_cached(struct spn_cache *cache, struct spn_arena *a, struct spn_text key)
{
    struct spn_object *o = spn_cache_get(cache, key);
    struct spn_value *v = o ? spn_object_value(o, a) : NULL;
    spn_object_unref(o);
    return v;
}

static int write_object(struct spn_work *w, const struct spn_target *what, struct spn_value **obj,
                        const char *sub, struct spn_err *err)
{
    struct spn_target at = *what;
    at.ns = meta_text(*obj, "namespace");
    at.name = meta_name(*obj);
    at.sub = spn_text_of(sub);
    return spn_client_update(w->client, &at, *obj, &w->how, w->arena, obj, err);
}

int binder_write_claim(struct spn_work *w, struct spn_value **claim, const char *sub,
                       struct spn_err *err)
{
    return write_object(w, &all_claims, claim, sub, err);
}

int binder_write_volume(struct spn_work *w, struct spn_value **volume, const char *sub,
                        struct spn_err *err)
{
    return write_object(w, &all_volumes, volume, sub, err);
}

static void say(struct spn_work *w, const struct spn_value *obj, const struct volume_say *what)
{
    if (what && what->reason)
        spn_event(w->events, obj, what->severity, what->reason, SPN_FMT, SPN_ARG(what->message));
}

int binder_set_volume_phase(struct spn_work *w, struct spn_value **volume, const char *phase,
                            const struct volume_say *what, struct spn_err *err)
{
    struct spn_text message = what ? what->message : SPN_TEXT("");
    if (!volume_set_phase(w->arena, *volume, phase, message))
        return 0;
    int r = binder_write_volume(w, volume, "status", err);
    if (r == 0)
        say(w, *volume, what);
    return r;
}

/* The event comes only if it had another phase. */
static int set_claim_phase(struct spn_work *w, struct spn_value **claim, const char *phase,
                           const struct spn_value *volume, const struct volume_say *what,
                           struct spn_err *err)
{
    struct spn_text old = spn_value_text(spn_value_dig(*claim, "status", "phase"));
    bool is_new = !spn_text_eq(old, spn_text_of(phase)), changed;
    int r = claim_set_phase(w->arena, *claim, phase, volume, &changed, err);
    if (r < 0 || !changed)
        return r;
    r = binder_write_claim(w, claim, "status", err);
    if (r == 0 && is_new)
        say(w, *claim, what);
    return r;
}

/* The volume is written first. Whatever is there already is left alone. */
static int bind(struct spn_work *w, struct spn_value *volume, struct spn_value *claim,
                struct spn_err *err)
{
    int r = 0;
    if (volume_set_claim(arena_in(w->arena), value_in_edit(volume), value_in(claim)))
        r = binder_write_volume(w, &volume, "", err);
    if (r < 0)
        return r;
    r = binder_set_volume_phase(w, &volume, "Bound", NULL, err);
    if (r < 0)
        return r;
    if (claim_set_volume(w->arena, claim, volume))
        r = binder_write_claim(w, &claim, "", err);
    return r < 0 ? r : set_claim_phase(w, &claim, "Bound", volume, NULL, err);
}

int binder_unbind(struct spn_work *w, struct spn_value *volume, struct spn_err *err)
{
    volume_clear_claim(w->arena, volume);
    int r = binder_write_volume(w, &volume, "", err);
    return r < 0 ? r : binder_set_volume_phase(w, &volume, "Available", NULL, err);
}

/* What is not there any more, or was changed by others, is looked at anew. */
static int outcome(int r)
{
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

/* ---- Claims ---- */

static void add_volumes(struct binder *b, struct spn_arena *a, struct spn_text key,
                        struct claim_facts *f)
{
    struct spn_objects found = { 0 };
    (void)spn_cache_by_index(b->volumes, VOLUME_INDEX, key, &found, NULL);
    struct spn_value **all = spn_arena_alloc(a, (f->n_volumes + found.n + 1) * sizeof(*all));
    for (size_t i = 0; i < f->n_volumes; i++)
        all[i] = f->volumes[i];
    for (size_t i = 0; i < found.n; i++)
        all[f->n_volumes++] = spn_object_value(found.items[i], a);
    f->volumes = all;
    spn_objects_done(&found);
}

static const struct spn_value *usual_class(struct binder *b, struct spn_arena *a)
{
    struct spn_objects found;
    spn_cache_list(b->classes, SPN_TEXT(""), true, &found);
    const struct spn_value **all = spn_arena_alloc(a, (found.n + 1) * sizeof(*all));
    for (size_t i = 0; i < found.n; i++)
        all[i] = spn_object_value(found.items[i], a);
    const struct spn_value *class = class_usual(all, found.n);
    spn_objects_done(&found);
    return class;
}

static void find_waiting_pods(struct binder *b, struct spn_work *w, struct claim_facts *f)
{
    struct spn_objects found;
    pods_by_claim(b->pods, w->key, &found);
    struct spn_text *names = spn_arena_alloc(w->arena, (found.n + 1) * sizeof(*names));
    for (size_t i = 0; i < found.n; i++) {
        const struct spn_value *pod = spn_object_value(found.items[i], w->arena);
        if (!pod_is_over(pod) && !spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n)
            names[f->n_pods++] = meta_name(pod);
    }
    f->pods = names;
    spn_objects_done(&found);
}

static void look_around(struct binder *b, struct spn_work *w, struct claim_facts *f)
{
    const struct value *claim = value_in(f->claim);
    struct spn_text class = text_out(claim_class(claim));
    struct spn_text name = spn_value_text(spn_value_dig(f->claim, "spec", "volumeName"));
    if (name.n)
        f->named = binder_cached(b->volumes, w->arena, name);
    if (name.n || claim_was_bound(f->claim))
        return;
    add_volumes(b, w->arena, key_of(w->arena, "class", SPN_TEXT(""), class), f);
    add_volumes(b, w->arena, key_of(w->arena, "claim", w->ns, w->name), f);
    if (class.n)
        f->class = binder_cached(b->classes, w->arena, class);
    if (!claim_has_class(claim))
        f->usual_class = usual_class(b, w->arena);
    if (class_waits_for_consumer(value_in(f->class)))
        find_waiting_pods(b, w, f);
}

static int set_class(struct spn_work *w, struct spn_value *claim, const struct spn_value *class,
                     struct spn_err *err)
{
    spn_value_set_text(w->arena, spn_value_ensure(w->arena, claim, "spec"), "storageClassName",
                       meta_name(class));
    return binder_write_claim(w, &claim, "", err);
}

static int wait_longer(struct binder *b, int r)
{
    return r < 0 ? outcome(r) : spn_again_after(b->sync_ms);
}

static int do_claim(struct binder *b, struct spn_work *w, struct spn_value *claim,
                    const struct claim_plan *p, struct spn_err *err)
{
    switch (p->step) {
    case CLAIM_BIND:
        return outcome(bind(w, p->volume, claim, err));
    case CLAIM_PROVISION:
        return wait_longer(b, binder_provision(b, w, claim, p->class, err));
    case CLAIM_SET_CLASS:
        return outcome(set_class(w, claim, p->class, err));
    case CLAIM_PENDING:
        say(w, claim, &p->say);
        return wait_longer(b, set_claim_phase(w, &claim, "Pending", NULL, NULL, err));
    case CLAIM_LOST:
        return outcome(set_claim_phase(w, &claim, "Lost", NULL, &p->say, err));
    case CLAIM_REFUSED:
        say(w, claim, &p->say);
        return spn_err_set(err, SPN_INVALID, SPN_FMT, SPN_ARG(p->say.message));
    }
    return spn_done();
}

static int reconcile_claim(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct binder *b = arg;
    struct spn_value *claim = spn_work_object(w);
    struct claim_plan plan;
    if (!claim)
        return spn_done();
    if (claim_set_migration(w->arena, claim)) {
        int r = binder_write_claim(w, &claim, "", err);
        if (r < 0)
            return outcome(r);
    }
    struct claim_facts facts = { .claim = claim };
    look_around(b, w, &facts);
    int r = claim_decide(w->arena, &facts, &plan, err);
    return r < 0 ? r : do_claim(b, w, claim, &plan, err);
}

/* ---- Volumes ---- */

/* The claim that the volume names, if it is still that one. The cache may not know it yet, or no
 * longer know which one it is: then the server is asked, before anything is given up. */
static int find_claim(struct binder *b, struct spn_work *w, const struct spn_value *volume,
                      struct spn_value **ret, struct spn_err *err)
{
    const struct spn_value *ref = spn_value_dig(volume, "spec", "claimRef");
    struct spn_text uid = spn_value_text(spn_value_get(ref, "uid"));
    struct spn_target at = all_claims;
    *ret = NULL;
    at.ns = spn_value_text(spn_value_get(ref, "namespace"));
    at.name = spn_value_text(spn_value_get(ref, "name"));
    if (!uid.n)
        return 0;
    struct spn_value *claim = binder_cached(
        b->claims, w->arena,
        spn_arena_printf(w->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(at.ns), SPN_ARG(at.name)));
    if (!claim || !spn_text_eq(meta_uid(claim), uid)) {
        int r = spn_client_get(w->client, &at, &w->how, w->arena, &claim, err);
        if (r < 0)
            return r == -SPN_NOT_FOUND ? 0 : r;
    }
    if (spn_text_eq(meta_uid(claim), uid))
        *ret = claim;
    return 0;
}

static void say_mismatch(struct spn_work *w, const struct spn_value *volume,
                         const struct spn_value *claim)
{
    spn_event(w->events, volume, SPN_WARNING, "VolumeMismatch",
              "Cannot bind PersistentVolume to requested PersistentVolumeClaim \"" SPN_FMT
              "\" due to incompatible volumeMode.",
              SPN_ARG(meta_name(claim)));
    spn_event(w->events, claim, SPN_WARNING, "VolumeMismatch",
              "Cannot bind PersistentVolume \"" SPN_FMT
              "\" to requested PersistentVolumeClaim due to incompatible volumeMode.",
              SPN_ARG(meta_name(volume)));
}

static int release(struct binder *b, struct spn_work *w, struct spn_value *volume,
                   struct spn_err *err)
{
    struct spn_text phase = spn_value_text(spn_value_dig(volume, "status", "phase"));
    int r = 0;
    if (!spn_text_eq(phase, SPN_TEXT("Failed"))) /* which users are to see */
        r = binder_set_volume_phase(w, &volume, "Released", NULL, err);
    return r < 0 ? outcome(r) : binder_reclaim(b, w, volume, err);
}

static int do_volume(struct binder *b, struct spn_work *w, struct spn_value *volume,
                     const struct spn_value *claim, struct spn_err *err)
{
    switch (volume_decide(volume, claim)) {
    case VOLUME_AVAILABLE:
        return outcome(binder_set_volume_phase(w, &volume, "Available", NULL, err));
    case VOLUME_BOUND:
        return outcome(binder_set_volume_phase(w, &volume, "Bound", NULL, err));
    case VOLUME_WAITS:
        spn_controller_enqueue(b->claim_controller, meta_text(claim, "namespace"),
                               meta_name(claim));
        return spn_done();
    case VOLUME_MISMATCHED:
        say_mismatch(w, volume, claim);
        return spn_again_after(b->sync_ms);
    case VOLUME_UNBIND:
        return outcome(binder_unbind(w, volume, err));
    case VOLUME_RELEASED:
        return release(b, w, volume, err);
    }
    return spn_done();
}

static int reconcile_volume(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct binder *b = arg;
    struct spn_value *volume = spn_work_object(w), *claim;
    if (!volume)
        return spn_done();
    if (volume_set_protection(w->arena, volume)) {
        int r = binder_write_volume(w, &volume, "", err);
        if (r < 0)
            return outcome(r);
    }
    int r = find_claim(b, w, volume, &claim, err);
    return r < 0 ? r : do_volume(b, w, volume, claim, err);
}

/* ---- Which changes ---- */

static void put_claims(struct binder *b, struct spn_text key, struct spn_keys *out)
{
    struct spn_objects found = { 0 };
    (void)spn_cache_by_index(b->claims, CLAIM_INDEX, key, &found, NULL);
    for (size_t i = 0; i < found.n; i++)
        spn_keys_put(out, spn_object_namespace(found.items[i]), spn_object_name(found.items[i]));
    spn_objects_done(&found);
}

/* A volume is about its claim, and if it can be had about all that may want it. */
static void claims_of_volume(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_keys *out)
{
    struct binder *b = arg;
    const struct spn_value *volume = spn_object_value(o, a);
    const struct spn_value *ref = spn_value_dig(volume, "spec", "claimRef");
    put_claims(b, key_of(a, "volume", SPN_TEXT(""), spn_object_name(o)), out);
    if (ref)
        spn_keys_put(out, spn_value_text(spn_value_get(ref, "namespace")),
                     spn_value_text(spn_value_get(ref, "name")));
    else if (spn_text_eq(spn_value_text(spn_value_dig(volume, "status", "phase")),
                         SPN_TEXT("Available")))
        put_claims(b, key_of(a, "class", SPN_TEXT(""), text_out(volume_class(value_in(volume)))),
                   out);
}

static void claims_of_class(void *arg, const struct spn_object *o, struct spn_arena *a,
                            struct spn_keys *out)
{
    struct binder *b = arg;
    const struct spn_value *class = spn_object_value(o, a);
    put_claims(b, key_of(a, "class", SPN_TEXT(""), spn_object_name(o)), out);
    if (class_usual(&class, 1))
        put_claims(b, SPN_TEXT("class/"), out);
}

static void volumes_of_claim(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_keys *out)
{
    struct binder *b = arg;
    struct spn_objects found = { 0 };
    struct spn_text key = key_of(a, "claim", spn_object_namespace(o), spn_object_name(o));
    (void)spn_cache_by_index(b->volumes, VOLUME_INDEX, key, &found, NULL);
    for (size_t i = 0; i < found.n; i++)
        spn_keys_put(out, SPN_TEXT(""), spn_object_name(found.items[i]));
    spn_objects_done(&found);
}

/* ---- Beginning and end ---- */

static void add_sources(struct binder *b, struct spn_controller *volumes)
{
    spn_controller_source(b->claim_controller,
                          &(struct spn_source){ .of.what = all_volumes,
                                                .map = claims_of_volume,
                                                .map_arg = b,
                                                .when = spn_when_version_changes });
    spn_controller_source(b->claim_controller,
                          &(struct spn_source){ .of.what = all_classes,
                                                .map = claims_of_class,
                                                .map_arg = b,
                                                .when = spn_when_version_changes });
    spn_controller_source(volumes, &(struct spn_source){ .of.what = all_claims,
                                                         .map = volumes_of_claim,
                                                         .map_arg = b,
                                                         .when = spn_when_version_changes });
}

static void add_controllers(const struct controllers_env *env, struct binder *b)
{
    b->claim_controller = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "persistentvolume-binder-controller",
                                          .what = all_claims,
                                          .kind = "PersistentVolumeClaim",
                                          .when = spn_when_version_changes,
                                          .reconcile = reconcile_claim,
                                          .component = COMPONENT,
                                          .arg = b });
    struct spn_controller *volumes = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "persistentvolume-binder-volumes",
                                                        .what = all_volumes,
                                                        .kind = "PersistentVolume",
                                                        .has_no_namespace = true,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile_volume,
                                                        .component = COMPONENT,
                                                        .arg = b });
    add_sources(b, volumes);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct binder *b = mem_new(struct binder);
    (void)err;
    b->makes_host_paths = env->opt->makes_host_paths;
    b->sync_ms = env->opt->volume_sync_ms ? env->opt->volume_sync_ms : SYNC_MS;
    b->claims = caches_get(env->manager, all_claims);
    b->volumes = caches_get(env->manager, all_volumes);
    b->classes = caches_get(env->manager, all_classes);
    b->nodes = caches_get(env->manager, all_nodes);
    b->pods = caches_get(env->manager, all_pods);
    pods_by_claim_index(b->pods);
    (void)spn_cache_add_index(b->volumes, VOLUME_INDEX, index_volume, NULL, NULL);
    (void)spn_cache_add_index(b->claims, CLAIM_INDEX, index_claim, NULL, NULL);
    add_controllers(env, b);
    *ret = b;
    return 0;
}

const struct controllers_row controllers_volume_binder = { "persistentvolume-binder-controller",
                                                           add, free };
