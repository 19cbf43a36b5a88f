/* persistentvolume-attach-detach-controller: has the volumes of drivers attached to the nodes whose
 * pods use them, and detached when none does. It looks at a node at a time. All that it knows is in
 * the API: VolumeAttachments, and what nodes say of themselves. */
#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/attach/plan.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/pod_claims.h"
#include "controllers/common/pods_by_node.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { LOOK_AGAIN_MS = 2000 };

static const struct spn_target all_nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target all_claims = SPN_AT("", "v1", "persistentvolumeclaims", "", "");
static const struct spn_target all_volumes = SPN_AT("", "v1", "persistentvolumes", "", "");
static const struct spn_target all_attachments =
    SPN_AT("storage.k8s.io", "v1", "volumeattachments", "", "");
static const struct spn_target all_drivers = SPN_AT("storage.k8s.io", "v1", "csidrivers", "", "");

/* VolumeAttachments by "node/NAME" and by "volume/NAME". */
#define ATTACHMENT_INDEX "attachments"

struct attacher {
    struct spn_cache *pods, *claims, *volumes, *attachments, *drivers;
};

/* A volume that a pod of the node uses. */
struct wish {
    struct spn_value *volume, *pod;
    struct spn_text name, volume_name; /* of the attachment; as nodes call it */
};

/* One node. */
struct sync {
    struct attacher *t;
    struct spn_work *w;
    const struct spn_value *node; /* NULL: it is gone */
    struct wish *wishes;
    size_t n_wishes;
    struct spn_value **there; /* attachments */
    size_t n_there;
    bool waits;
};

static struct spn_value *cached(struct spn_cache *cache, struct spn_arena *a, struct spn_text key)
{
    struct spn_object *o = spn_cache_get(cache, key);
    struct spn_value *v = o ? spn_object_value(o, a) : NULL;
    spn_object_unref(o);
    return v;
}

/* ---- What should be ---- */

/* NULL: the claim has none, or none that drivers attach. */
static struct spn_value *volume_of(struct sync *s, const struct spn_value *pod,
                                   const struct spn_value *pod_volume)
{
    struct spn_arena *a = s->w->arena;
    struct spn_text name = pod_claim_name(a, pod, pod_volume);
    if (!name.n)
        return NULL;
    const struct spn_value *claim =
        cached(s->t->claims, a,
               spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(meta_text(pod, "namespace")),
                                SPN_ARG(name)));
    struct spn_text phase = spn_value_text(spn_value_dig(claim, "status", "phase"));
    struct spn_text wanted = spn_value_text(spn_value_dig(claim, "spec", "volumeName"));
    if (!spn_text_eq(phase, SPN_TEXT("Bound")) || !wanted.n ||
        (spn_value_get(pod_volume, "ephemeral") && !pod_owns_claim(pod, claim)))
        return NULL;
    struct spn_value *volume = cached(s->t->volumes, a, wanted);
    struct spn_text by = spn_value_text(spn_value_dig(volume, "spec", "csi", "driver"));
    if (!spn_text_eq(spn_value_text(spn_value_dig(volume, "spec", "claimRef", "uid")),
                     meta_uid(claim)) ||
        !attach_is_needed(volume, by.n ? cached(s->t->drivers, a, by) : NULL))
        return NULL;
    return volume;
}

static void add_wishes(struct sync *s, struct spn_value *pod)
{
    struct spn_arena *a = s->w->arena;
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    size_t n = spn_value_count(volumes);
    if (pod_is_over(pod) || !n)
        return;
    struct wish *all = spn_arena_alloc(a, (s->n_wishes + n) * sizeof(*all));
    for (size_t i = 0; i < s->n_wishes; i++)
        all[i] = s->wishes[i];
    s->wishes = all;
    for (size_t i = 0; i < n; i++) {
        struct spn_value *volume = volume_of(s, pod, spn_value_at(volumes, i));
        if (volume)
            s->wishes[s->n_wishes++] =
                (struct wish){ volume, pod, attach_name(a, volume, s->w->name),
                               attach_volume_name(a, volume) };
    }
}

static void find_wishes(struct sync *s)
{
    struct spn_objects pods;
    if (!s->node)
        return;
    pods_by_node(s->t->pods, s->w->name, &pods);
    for (size_t i = 0; i < pods.n; i++)
        add_wishes(s, spn_object_value(pods.items[i], s->w->arena));
    spn_objects_done(&pods);
}

static bool is_wished(const struct sync *s, struct spn_text attachment)
{
    for (size_t i = 0; i < s->n_wishes; i++)
        if (spn_text_eq(s->wishes[i].name, attachment))
            return true;
    return false;
}

/* ---- What is ---- */

static size_t attachments_by(struct attacher *t, struct spn_arena *a, const char *what,
                             struct spn_text name, struct spn_value ***ret)
{
    struct spn_objects found = { 0 };
    (void)spn_cache_by_index(t->attachments, ATTACHMENT_INDEX,
                             spn_arena_printf(a, "%s/" SPN_FMT, what, SPN_ARG(name)), &found, NULL);
    size_t n = found.n;
    *ret = spn_arena_alloc(a, (n + 1) * sizeof(**ret));
    for (size_t i = 0; i < n; i++)
        (*ret)[i] = spn_object_value(found.items[i], a);
    spn_objects_done(&found);
    return n;
}

static const struct spn_value *attachment_of(const struct sync *s, struct spn_text name)
{
    for (size_t i = 0; i < s->n_there; i++)
        if (spn_text_eq(meta_name(s->there[i]), name))
            return s->there[i];
    return NULL;
}

/* The volume of an attachment that we have made; NULL: it is somebody else's. */
static const struct spn_value *our_volume(const struct sync *s, const struct spn_value *attachment)
{
    struct spn_text name =
        spn_value_text(spn_value_dig(attachment, "spec", "source", "persistentVolumeName"));
    const struct spn_value *volume = name.n ? cached(s->t->volumes, s->w->arena, name) : NULL;
    if (!volume ||
        !spn_text_eq(attach_name(s->w->arena, volume, s->w->name), meta_name(attachment)))
        return NULL;
    return volume;
}

/* ---- Telling the node ---- */

static void say(struct sync *s, const struct wish *wish, enum spn_severity severity,
                const char *reason, const char *what, const char *more)
{
    spn_event(s->w->events, wish->pod, severity, reason, "%s for volume \"" SPN_FMT "\" %s", what,
              SPN_ARG(meta_name(wish->volume)), more);
}

/* Nobody wishes for it any more, but the kubelet still has it. */
static bool is_left(struct sync *s, const struct spn_value *attachment, struct spn_text *ret_name)
{
    const struct spn_value *volume =
        is_wished(s, meta_name(attachment)) ? NULL : our_volume(s, attachment);
    if (!volume)
        return false;
    *ret_name = attach_volume_name(s->w->arena, volume);
    return attach_is_in_use(s->node, *ret_name, time_now());
}

/* The names of all that the node has. */
static size_t list_attached(struct sync *s, struct spn_text **ret)
{
    struct spn_text *names =
        spn_arena_alloc(s->w->arena, (s->n_wishes + s->n_there + 1) * sizeof(*names));
    size_t n = 0;
    for (size_t i = 0; i < s->n_wishes; i++)
        if (attach_is_done(attachment_of(s, s->wishes[i].name)))
            names[n++] = s->wishes[i].volume_name;
    for (size_t i = 0; i < s->n_there; i++)
        n += attach_is_done(s->there[i]) && is_left(s, s->there[i], &names[n]);
    *ret = names;
    return n;
}

static int report(struct sync *s, struct spn_err *err)
{
    struct spn_arena *a = s->w->arena;
    struct spn_target at = s->w->at;
    struct spn_text *done;
    size_t n = list_attached(s, &done);
    struct spn_value *list = s->node ? attach_report(a, s->node, done, n) : NULL;
    if (!list)
        return 0;
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, spn_value_ensure(a, patch, "status"), "volumesAttached", list);
    at.sub = SPN_TEXT("status");
    int r = spn_client_patch(s->w->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch),
                             &s->w->how, a, NULL, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < s->n_wishes; i++)
        if (attach_is_done(attachment_of(s, s->wishes[i].name)) &&
            !attach_is_reported(s->node, s->wishes[i].volume_name))
            say(s, &s->wishes[i], SPN_NORMAL, "SuccessfulAttachVolume",
                "AttachVolume.Attach succeeded", "");
    return 0;
}

/* ---- Detaching and attaching ---- */

/* After the node was told, so that nobody mounts it meanwhile. */
static int detach_unwished(struct sync *s, struct spn_err *err)
{
    for (size_t i = 0; i < s->n_there; i++) {
        const struct spn_value *attachment = s->there[i];
        if (meta_is_deleting(attachment) || is_wished(s, meta_name(attachment)))
            continue;
        struct spn_text name;
        if (is_left(s, attachment, &name)) {
            s->waits = true;
            continue;
        }
        if (!our_volume(s, attachment))
            continue;
        struct spn_target at = all_attachments;
        at.name = meta_name(attachment);
        int r = spn_client_delete(s->w->client, &at,
                                  &(struct spn_delete){ .uid = meta_uid(attachment) }, &s->w->how,
                                  s->w->arena, NULL, err);
        if (r < 0 && r != -SPN_NOT_FOUND && r != -SPN_CONFLICT)
            return r;
    }
    return 0;
}

/* Whether another node has a volume that only one may have. */
static bool is_elsewhere(struct sync *s, const struct wish *wish)
{
    struct spn_value **all;
    size_t n = attachments_by(s->t, s->w->arena, "volume", meta_name(wish->volume), &all);
    for (size_t i = 0; i < n; i++)
        if (!spn_text_eq(spn_value_text(spn_value_dig(all[i], "spec", "nodeName")), s->w->name))
            return !attach_may_be_shared(wish->volume);
    return false;
}

static int attach_one(struct sync *s, const struct wish *wish, struct spn_err *err)
{
    const struct spn_value *there = attachment_of(s, wish->name);
    struct spn_text failed =
        spn_value_text(spn_value_dig(there, "status", "attachError", "message"));
    struct spn_arena *a = s->w->arena;
    struct spn_target at = all_attachments;
    if (there && failed.p && !attach_is_done(there))
        say(s, wish, SPN_WARNING, "FailedAttachVolume", "AttachVolume.Attach failed",
            spn_arena_printf(a, ": " SPN_FMT, SPN_ARG(failed)).p);
    s->waits |= there && meta_is_deleting(there);
    if (there)
        return 0;
    if (is_elsewhere(s, wish)) {
        say(s, wish, SPN_WARNING, "FailedAttachVolume", "Waiting for detach",
            "Volume is already exclusively attached to one node, waiting on detach before it can "
            "be attached to another node");
        s->waits = true;
        return 0;
    }
    at.name = wish->name;
    int r = spn_client_create(s->w->client, &at, attach_make(a, wish->volume, s->w->name),
                              &s->w->how, a, NULL, err);
    return r == -SPN_EXISTS ? 0 : r;
}

static int attach_wished(struct sync *s, struct spn_err *err)
{
    for (size_t i = 0; i < s->n_wishes; i++) {
        int r = attach_one(s, &s->wishes[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct sync s = { .t = arg, .w = w, .node = spn_work_object(w) };
    if (s.node && !attach_is_managed(s.node))
        return spn_done();
    find_wishes(&s);
    s.n_there = attachments_by(s.t, w->arena, "node", w->name, &s.there);
    if (!s.n_wishes && !s.n_there)
        return spn_done();
    int r = report(&s, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_again() : r;
    r = detach_unwished(&s, err);
    if (r < 0)
        return r;
    r = attach_wished(&s, err);
    return r < 0 ? r : s.waits ? spn_again_after(LOOK_AGAIN_MS) : spn_done();
}

/* ---- Which changes ---- */

/* Heartbeats say nothing of volumes. */
static bool says_of_volumes(void *arg, const struct spn_object *old_o,
                            const struct spn_object *new_o)
{
    static const char *const keys[] = { "volumesInUse", "volumesAttached" };
    (void)arg;
    if (!old_o || !new_o)
        return true;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *was = spn_object_value(old_o, a), *is = spn_object_value(new_o, a);
    bool differs =
        attach_is_managed(was) != attach_is_managed(is) ||
        !spn_value_eq(spn_value_dig(was, "spec", "taints"), spn_value_dig(is, "spec", "taints"));
    for (size_t i = 0; i < 2; i++)
        differs |= !spn_value_eq(spn_value_dig(was, "status", keys[i]),
                                 spn_value_dig(is, "status", keys[i]));
    spn_arena_free(a);
    return differs;
}

static void node_of_pod(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_keys *out)
{
    (void)arg;
    const struct spn_value *pod = pod_claims_of(a, o).pod;
    struct spn_text node = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    if (node.n)
        spn_keys_put(out, SPN_TEXT(""), node);
}

static void nodes_of_claim(void *arg, const struct spn_object *o, struct spn_arena *a,
                           struct spn_keys *out)
{
    struct attacher *t = arg;
    struct spn_objects pods;
    pods_by_claim(t->pods, spn_object_key(o), &pods);
    for (size_t i = 0; i < pods.n; i++)
        node_of_pod(t, pods.items[i], a, out);
    spn_objects_done(&pods);
}

static void node_of_attachment(void *arg, const struct spn_object *o, struct spn_arena *a,
                               struct spn_keys *out)
{
    (void)arg;
    spn_keys_put(out, SPN_TEXT(""),
                 spn_value_text(spn_value_dig(spn_object_value(o, a), "spec", "nodeName")));
}

static void index_attachment(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *spec = spn_value_get(spn_object_value(o, a), "spec");
    struct spn_text volume = spn_value_text(spn_value_dig(spec, "source", "persistentVolumeName"));
    spn_index_put(out, spn_arena_printf(a, "node/" SPN_FMT,
                                        SPN_ARG(spn_value_text(spn_value_get(spec, "nodeName")))));
    if (volume.n)
        spn_index_put(out, spn_arena_printf(a, "volume/" SPN_FMT, SPN_ARG(volume)));
}

/* ---- Beginning and end ---- */

static void add_controller(const struct controllers_env *env, struct attacher *t)
{
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "persistentvolume-attach-detach-controller",
                                          .what = all_nodes,
                                          .kind = "Node",
                                          .has_no_namespace = true,
                                          .when = says_of_volumes,
                                          .reconcile = reconcile,
                                          .component = "attachdetach-controller",
                                          .arg = t });
    spn_controller_source(c, &(struct spn_source){ .of.what = all_pods,
                                                   .map = node_of_pod,
                                                   .when = spn_when_version_changes });
    spn_controller_source(c, &(struct spn_source){ .of.what = all_claims,
                                                   .map = nodes_of_claim,
                                                   .map_arg = t,
                                                   .when = spn_when_version_changes });
    spn_controller_source(c, &(struct spn_source){ .of.what = all_attachments,
                                                   .map = node_of_attachment,
                                                   .when = spn_when_version_changes });
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct attacher *t = mem_new(struct attacher);
    (void)err;
    t->pods = caches_get(env->manager, all_pods);
    t->claims = caches_get(env->manager, all_claims);
    t->volumes = caches_get(env->manager, all_volumes);
    t->attachments = caches_get(env->manager, all_attachments);
    t->drivers = caches_get(env->manager, all_drivers);
    pods_by_node_index(t->pods);
    pods_by_claim_index(t->pods);
    (void)spn_cache_add_index(t->attachments, ATTACHMENT_INDEX, index_attachment, NULL, NULL);
    add_controller(env, t);
    *ret = t;
    return 0;
}

const struct controllers_row controllers_attach_detach = {
    "persistentvolume-attach-detach-controller", add, free
};
