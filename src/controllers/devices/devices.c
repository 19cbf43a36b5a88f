/* resourceclaim-controller: makes the claims for devices that pods have templates of, says in the
 * pod which they are, and lets go of those that nobody needs any more. */
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/own_writes.h"
#include "controllers/common/owned.h"
#include "controllers/devices/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define NAME "resourceclaim-controller"
enum { LOOK_AGAIN_MS = 50 };

static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target all_claims =
    SPN_AT("resource.k8s.io", "v1", "resourceclaims", "", "");
static const struct spn_target all_templates =
    SPN_AT("resource.k8s.io", "v1", "resourceclaimtemplates", "", "");

struct devices {
    struct spn_cache *pods, *claims, *templates;
    struct own_writes *made; /* claims: their names are the server's, so none is made twice */
};

/* Pods by "claim/NS/NAME" and "template/NS/NAME". */
#define POD_INDEX "resource-claims"

static struct spn_text key_of(struct spn_arena *a, const char *what, struct spn_text ns,
                              struct spn_text name)
{
    return spn_arena_printf(a, "%s/" SPN_FMT "/" SPN_FMT, what, SPN_ARG(ns), SPN_ARG(name));
}

static struct spn_value *cached(struct spn_cache *cache, struct spn_arena *a, struct spn_text ns,
                                struct spn_text name)
{
    struct spn_object *o =
        spn_cache_get(cache, spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name)));
    struct spn_value *v = o ? spn_object_value(o, a) : NULL;
    spn_object_unref(o);
    return v;
}

static int outcome(int r)
{
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

/* ---- Pods: making claims ---- */

static struct spn_target claim_at(const struct spn_work *w, struct spn_text name)
{
    struct spn_target at = all_claims;
    at.ns = w->ns;
    at.name = name;
    return at;
}

static bool is_owned_by(const struct spn_value *claim, const struct spn_value *pod)
{
    const struct spn_value *refs = spn_value_dig(claim, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if (spn_value_is_true(spn_value_get(ref, "controller")))
            return spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), meta_uid(pod));
    }
    return false;
}

/* 1: the claim of that name is there and the pod's; 0: it is not. */
static int is_there(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                    struct spn_text name, struct spn_err *err)
{
    struct spn_value *claim = cached(d->claims, w->arena, w->ns, name);
    const struct spn_target at = claim_at(w, name);
    if (!claim) {
        int r = spn_client_get(w->client, &at, &w->how, w->arena, &claim, err);
        if (r < 0)
            return r == -SPN_NOT_FOUND ? 0 : r;
    }
    return is_owned_by(claim, pod);
}

/* One that was made before, and not noted in the pod. */
static struct spn_text find_made(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                                 struct spn_text name)
{
    struct owned o = owned_list(d->claims, w->arena, meta_uid(pod), SPN_TEXT(""));
    struct spn_text found = SPN_TEXT("");
    for (size_t i = 0; i < o.n && !found.n; i++)
        if (spn_text_eq(meta_annotation(o.items[i], DEVICE_NOTE), name))
            found = meta_name(o.items[i]);
    owned_done(&o);
    return found;
}

static int make(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                const struct spn_value *pod_claim, struct spn_text *ret, struct spn_err *err)
{
    struct spn_text name = spn_value_text(spn_value_get(pod_claim, "name"));
    struct spn_text from = spn_value_text(spn_value_get(pod_claim, "resourceClaimTemplateName"));
    *ret = find_made(d, w, pod, name);
    if (ret->n)
        return 0;
    const struct spn_value *template = cached(d->templates, w->arena, w->ns, from);
    if (!template)
        return spn_err_set(err, SPN_NOT_FOUND,
                           "resource claim template \"" SPN_FMT
                           "\": resourceclaimtemplate.resource.k8s.io \"" SPN_FMT "\" not found",
                           SPN_ARG(from), SPN_ARG(from));
    struct spn_value *claim = device_claim_make(w->arena, pod, name, template);
    const struct spn_target at = claim_at(w, SPN_TEXT(""));
    int r = spn_client_create(w->client, &at, claim, &w->how, w->arena, &claim, err);
    if (r < 0)
        return spn_err_wrap(err, "create ResourceClaim ");
    own_writes_note(d->made, w->key, claim);
    *ret = meta_name(claim);
    return 0;
}

/* `*statuses` is replaced if the pod has to say more. */
static int see_to(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                  const struct spn_value *pod_claim, const struct spn_value **statuses,
                  struct spn_err *err)
{
    struct spn_text name;
    enum device_claim is = device_claim_of(pod, pod_claim, &name);
    if (is == DEVICE_NAMED || is == DEVICE_NOT_NEEDED)
        return 0;
    int r = is == DEVICE_MADE ? is_there(d, w, pod, name, err) : 0;
    if (r != 0)
        return r < 0 ? r : 0;
    r = make(d, w, pod, pod_claim, &name, err);
    if (r < 0)
        return r;
    *statuses = device_statuses(w->arena, *statuses,
                                spn_value_text(spn_value_get(pod_claim, "name")), name);
    return 0;
}

static int write_statuses(struct spn_work *w, const struct spn_value *statuses, struct spn_err *err)
{
    struct spn_value *pod = spn_value_new(w->arena, SPN_OBJECT);
    struct spn_target at = w->at;
    struct spn_call how = w->how;
    spn_value_set_text(w->arena, pod, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, pod, "kind", SPN_TEXT("Pod"));
    struct spn_value *meta = spn_value_ensure(w->arena, pod, "metadata");
    spn_value_set_text(w->arena, meta, "name", w->name);
    spn_value_set_text(w->arena, meta, "namespace", w->ns);
    spn_value_set(w->arena, spn_value_ensure(w->arena, pod, "status"), "resourceClaimStatuses",
                  spn_value_copy(w->arena, statuses));
    at.sub = SPN_TEXT("status");
    how.manager = "ResourceClaimController";
    how.force = true;
    return spn_client_apply(w->client, &at, pod, &how, w->arena, NULL, err);
}

/* A pod that came to its node without the scheduler has to say itself that it uses them. */
static int reserve(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                   struct spn_err *err)
{
    const struct spn_value *all = spn_value_dig(pod, "spec", "resourceClaims");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text name;
        enum device_claim is = device_claim_of(pod, spn_value_at(all, i), &name);
        struct spn_value *claim = name.n ? cached(d->claims, w->arena, w->ns, name) : NULL;
        if (!claim || (is == DEVICE_MADE && !is_owned_by(claim, pod)) ||
            !device_should_reserve(claim, pod))
            continue;
        struct spn_target at = claim_at(w, name);
        at.sub = SPN_TEXT("status");
        device_reserve(w->arena, claim, pod);
        int r = spn_client_update(w->client, &at, claim, &w->how, w->arena, NULL, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int make_all(struct devices *d, struct spn_work *w, const struct spn_value *pod,
                    struct spn_err *err)
{
    const struct spn_value *all = spn_value_dig(pod, "spec", "resourceClaims");
    const struct spn_value *was = spn_value_dig(pod, "status", "resourceClaimStatuses");
    const struct spn_value *statuses = was;
    for (size_t i = 0; i < spn_value_count(all); i++) {
        int r = see_to(d, w, pod, spn_value_at(all, i), &statuses, err);
        if (r == -SPN_CANCELLED)
            return r;
        if (r < 0) {
            spn_event(w->events, pod, SPN_WARNING, "FailedResourceClaimCreation",
                      "PodResourceClaim " SPN_FMT ": %s",
                      SPN_ARG(spn_value_text(spn_value_get(spn_value_at(all, i), "name"))),
                      err->message);
            err->code = SPN_INVALID; /* it is looked at again */
            return -SPN_INVALID;
        }
    }
    return statuses == was ? 0 : write_statuses(w, statuses, err);
}

static int reconcile_pod(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct devices *d = arg;
    struct spn_value *pod = spn_work_object(w);
    if (!pod || meta_is_deleting(pod) || device_pod_is_done(pod)) {
        own_writes_forget(d->made, w->key);
        return spn_done();
    }
    if (!own_writes_are_seen(d->made, w->key, d->claims))
        return spn_again_after(LOOK_AGAIN_MS);
    int r = make_all(d, w, pod, err);
    if (r < 0)
        return outcome(r);
    if (!spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n)
        return spn_done(); /* the scheduler does the rest */
    return outcome(reserve(d, w, pod, err));
}

/* ---- Claims: letting go ---- */

/* 1: the pod of an entry still needs the claim; 0: not. A pod that is not known may be new. */
static int is_needed(struct devices *d, struct spn_work *w, const struct spn_value *entry,
                     struct spn_err *err)
{
    struct spn_target at = all_pods;
    at.ns = w->ns;
    at.name = spn_value_text(spn_value_get(entry, "name"));
    struct spn_value *pod = cached(d->pods, w->arena, at.ns, at.name);
    if (!pod) {
        int r = spn_client_get(w->client, &at, &w->how, w->arena, &pod, err);
        if (r < 0)
            return r == -SPN_NOT_FOUND ? 0 : r;
    }
    return spn_text_eq(meta_uid(pod), spn_value_text(spn_value_get(entry, "uid"))) &&
           !device_pod_is_done(pod);
}

/* Drops who does not need it any more from status.reservedFor. */
static int drop_users(struct devices *d, struct spn_work *w, struct spn_value *claim,
                      size_t *ret_dropped, struct spn_err *err)
{
    struct spn_value *status = spn_value_ensure(w->arena, claim, "status");
    struct spn_value *list = spn_value_edit(w->arena, status, "reservedFor");
    *ret_dropped = 0;
    for (size_t i = spn_value_count(list); i-- > 0;) {
        const struct spn_value *entry = spn_value_at(list, i);
        int r = device_is_for_pod(entry) ? is_needed(d, w, entry, err) : 1;
        if (r < 0)
            return r;
        if (r > 0)
            continue;
        spn_value_remove_at(w->arena, list, i);
        ++*ret_dropped;
    }
    if (*ret_dropped && !spn_value_count(list))
        spn_value_remove(w->arena, status, "reservedFor");
    return 0;
}

/* What the scheduler has given it is free again, with the last user. */
static int deallocate(struct spn_work *w, struct spn_value **claim, bool is_written,
                      struct spn_err *err)
{
    struct spn_target at = w->at;
    struct spn_value *status = spn_value_ensure(w->arena, *claim, "status");
    bool is_last = !spn_value_count(spn_value_get(status, "reservedFor")) &&
                   spn_finalizer_has(*claim, DEVICE_FINALIZER);
    if (is_last && spn_value_get(status, "allocation")) {
        spn_value_remove(w->arena, status, "allocation");
        is_written = true;
    }
    at.sub = SPN_TEXT("status");
    int r =
        is_written ? spn_client_update(w->client, &at, *claim, &w->how, w->arena, claim, err) : 0;
    if (r < 0 || !is_last)
        return r;
    return spn_finalizer_remove(w->client, &w->at, *claim, DEVICE_FINALIZER, &w->how, w->arena,
                                err);
}

/* A claim that was made for a pod goes with it, even before the pod is gone. */
static int delete_unused(struct devices *d, struct spn_work *w, const struct spn_value *claim,
                         struct spn_err *err)
{
    const struct spn_value *refs = spn_value_dig(claim, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if (!spn_value_is_true(spn_value_get(ref, "controller")) ||
            !spn_text_eq(spn_value_text(spn_value_get(ref, "kind")), SPN_TEXT("Pod")))
            continue;
        const struct spn_value *pod =
            cached(d->pods, w->arena, w->ns, spn_value_text(spn_value_get(ref, "name")));
        bool is_same = spn_text_eq(meta_uid(pod), spn_value_text(spn_value_get(ref, "uid")));
        if (!pod || (is_same && !device_pod_is_done(pod)))
            return 0;
        return spn_client_delete(w->client, &w->at, &(struct spn_delete){ .uid = meta_uid(claim) },
                                 &w->how, w->arena, NULL, err);
    }
    return 0;
}

static int reconcile_claim(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct devices *d = arg;
    struct spn_value *claim = spn_work_object(w);
    size_t dropped;
    if (!claim)
        return spn_done();
    int r = drop_users(d, w, claim, &dropped, err);
    if (r < 0)
        return outcome(r);
    if (dropped || meta_is_deleting(claim))
        r = deallocate(w, &claim, dropped, err);
    if (r < 0 || meta_is_deleting(claim) ||
        spn_value_count(spn_value_dig(claim, "status", "reservedFor")))
        return outcome(r);
    return outcome(delete_unused(d, w, claim, err));
}

/* ---- Which changes ---- */

/* Quick: nothing is read. Rare keys stand in cached objects as they are (common/pod_claims.c). */
static bool may_use_devices(const struct spn_object *pod)
{
    return spn_object_has_text(pod, SPN_TEXT("resourceClaims")) ||
           spn_object_has_text(pod, SPN_TEXT("extendedResourceClaimStatus"));
}

static void index_pod(void *arg, const struct spn_object *o, struct spn_arena *a,
                      struct spn_index_values *out)
{
    (void)arg;
    if (!may_use_devices(o))
        return;
    const struct spn_value *pod = spn_object_value(o, a);
    const struct spn_value *all = spn_value_dig(pod, "spec", "resourceClaims");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text name,
            from = spn_value_text(spn_value_get(spn_value_at(all, i), "resourceClaimTemplateName"));
        (void)device_claim_of(pod, spn_value_at(all, i), &name);
        if (name.n)
            spn_index_put(out, key_of(a, "claim", spn_object_namespace(o), name));
        if (from.n)
            spn_index_put(out, key_of(a, "template", spn_object_namespace(o), from));
    }
}

static void put_pods(struct devices *d, struct spn_text key, struct spn_keys *out)
{
    struct spn_objects found = { 0 };
    (void)spn_cache_by_index(d->pods, POD_INDEX, key, &found, NULL);
    for (size_t i = 0; i < found.n; i++)
        spn_keys_put(out, spn_object_namespace(found.items[i]), spn_object_name(found.items[i]));
    spn_objects_done(&found);
}

static void pods_of_claim(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_keys *out)
{
    put_pods(arg, key_of(a, "claim", spn_object_namespace(o), spn_object_name(o)), out);
}

static void pods_of_template(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_keys *out)
{
    put_pods(arg, key_of(a, "template", spn_object_namespace(o), spn_object_name(o)), out);
}

static void claims_of_pod(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_keys *out)
{
    (void)arg;
    const struct spn_value *pod = spn_object_value(o, a);
    const struct spn_value *all = spn_value_dig(pod, "spec", "resourceClaims");
    struct spn_text extended = spn_value_text(
        spn_value_dig(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"));
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text name;
        (void)device_claim_of(pod, spn_value_at(all, i), &name);
        if (name.n)
            spn_keys_put(out, spn_object_namespace(o), name);
    }
    if (extended.n)
        spn_keys_put(out, spn_object_namespace(o), extended);
}

static bool has_claims(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return may_use_devices(new_o ? new_o : old_o) && spn_when_version_changes(NULL, old_o, new_o);
}

/* ---- Beginning and end ---- */

static void add_controllers(const struct controllers_env *env, struct devices *d)
{
    struct spn_controller *pods = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = NAME,
                                                        .what = all_pods,
                                                        .kind = "Pod",
                                                        .when = has_claims,
                                                        .reconcile = reconcile_pod,
                                                        .component = "resource_claim",
                                                        .arg = d });
    struct spn_controller *claims = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "resourceclaim-release",
                                                        .what = all_claims,
                                                        .kind = "ResourceClaim",
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile_claim,
                                                        .component = "resource_claim",
                                                        .arg = d });
    spn_controller_source(pods, &(struct spn_source){ .of.what = all_claims,
                                                      .map = pods_of_claim,
                                                      .map_arg = d,
                                                      .when = spn_when_version_changes });
    spn_controller_source(pods, &(struct spn_source){ .of.what = all_templates,
                                                      .map = pods_of_template,
                                                      .map_arg = d,
                                                      .when = spn_when_version_changes });
    spn_controller_source(
        claims,
        &(struct spn_source){ .of.what = all_pods, .map = claims_of_pod, .when = has_claims });
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    struct devices *d = mem_new(struct devices);
    (void)err;
    d->made = own_writes_new();
    d->pods = caches_get(env->manager, all_pods);
    d->claims = caches_get(env->manager, all_claims);
    d->templates = caches_get(env->manager, all_templates);
    (void)spn_cache_add_index(d->pods, POD_INDEX, index_pod, NULL, NULL);
    owned_index(d->claims);
    add_controllers(env, d);
    *ret = d;
    return 0;
}

static void done(void *made)
{
    struct devices *d = made;
    if (!d)
        return;
    own_writes_free(d->made);
    free(d);
}

const struct controllers_row controllers_resource_claim = { NAME, add, done };
