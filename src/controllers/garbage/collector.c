/* garbage-collector-controller: an object whose owners are all gone goes, too. */
#include "controllers/garbage/collector.h"

#include <sampan/meta.h>
#include <sampan/typed.h>
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/when.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 8, ORPHAN_WORKERS = 2 };

static const struct spn_target definitions =
    SPN_AT("apiextensions.k8s.io", "v1", "customresourcedefinitions", "", "");
static const struct spn_target api_services =
    SPN_AT("apiregistration.k8s.io", "v1", "apiservices", "", "");

/* ---- Requests ---- */

int collector_place(struct collector *c, struct spn_work *w, const struct graph_id *id,
                    struct spn_target *ret, struct spn_err *err)
{
    struct spn_resource res;
    int r = spn_mapper_of_kind(c->mapper, id->api_version, id->kind, &w->how, w->arena, &res, err);
    if (r < 0)
        return r;
    if (res.namespaced && !id->ns.n)
        return spn_err_set(err, SPN_BAD_REQUEST,
                           "an object of the cluster has an owner in a namespace");
    *ret = spn_resource_target(&res, id->ns, id->name);
    return 0;
}

int collector_get(struct spn_work *w, const struct spn_target *at, struct spn_text uid,
                  struct spn_value **ret, struct spn_err *err)
{
    struct spn_call how = w->how;
    how.metadata_only = true;
    int r = spn_client_get(w->client, at, &how, w->arena, ret, err);
    if (r == 0 && !spn_text_eq(spn_value_text(spn_value_dig(*ret, "metadata", "uid")), uid))
        return spn_err_set(err, SPN_NOT_FOUND, "another object has the name");
    return r;
}

/* {"metadata":{"uid":UID}}: whoever has the name now, only that object is changed. */
static struct spn_value *patch_of(struct spn_arena *a, struct spn_text uid, struct spn_value **meta)
{
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, *meta, "uid", uid);
    return patch;
}

/* Custom resources know only merge patches, which have the whole list, and so the version that it
 * is of. `change` is given each reference; false: it is left out. */
typedef bool change_fn(struct spn_arena *a, struct spn_value *ref, const void *arg);

static int patch_whole(struct spn_work *w, const struct spn_target *at, struct spn_text uid,
                       change_fn *change, const void *arg, struct spn_err *err)
{
    struct spn_value *obj, *meta;
    struct spn_arena *a = w->arena;
    int r = collector_get(w, at, uid, &obj, err);
    if (r < 0)
        return r;
    const struct spn_value *refs = spn_value_dig(obj, "metadata", "ownerReferences");
    struct spn_value *left = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        struct spn_value *ref = spn_value_copy(a, spn_value_at(refs, i));
        if (change(a, ref, arg))
            spn_value_push(a, left, ref);
    }
    struct spn_value *patch = patch_of(a, uid, &meta);
    spn_value_set_text(a, meta, "resourceVersion",
                       spn_value_text(spn_value_dig(obj, "metadata", "resourceVersion")));
    spn_value_set(a, meta, "ownerReferences", left);
    return spn_client_patch(w->client, at, SPN_MERGE_PATCH, spn_value_json(a, patch), &w->how, a,
                            NULL, err);
}

static bool is_kept(struct spn_arena *a, struct spn_value *ref, const void *arg)
{
    const struct spn_texts *owners = arg;
    (void)a;
    return !spn_texts_have(*owners, spn_value_text(spn_value_get(ref, "uid")));
}

static bool unblock(struct spn_arena *a, struct spn_value *ref, const void *arg)
{
    (void)arg;
    if (spn_value_is_true(spn_value_get(ref, "blockOwnerDeletion")))
        spn_value_set_bool(a, ref, "blockOwnerDeletion", false);
    return true;
}

int collector_unown(struct spn_work *w, const struct spn_target *at, struct spn_text uid,
                    struct spn_texts owners, struct spn_err *err)
{
    struct spn_arena *a = w->arena;
    struct spn_value *meta, *patch = patch_of(a, uid, &meta), *refs = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < owners.n; i++) {
        struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, ref, "$patch", SPN_TEXT("delete"));
        spn_value_set_text(a, ref, "uid", owners.items[i]);
        spn_value_push(a, refs, ref);
    }
    spn_value_set(a, meta, "ownerReferences", refs);
    int r = spn_client_patch(w->client, at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch), &w->how,
                             a, NULL, err);
    if (r == -SPN_UNSUPPORTED)
        r = patch_whole(w, at, uid, is_kept, &owners, err);
    return r;
}

/* ---- One object ---- */

/* An object that is looked at. */
struct look {
    struct collector *c;
    struct spn_work *w;
    struct graph_view v;
    struct spn_target at;
    struct spn_value *obj;                     /* as the server has it */
    struct spn_texts solid, dangling, waiting; /* uids of owners: there, gone, waiting for us */
};

/* It is gone. */
static int tell_absent(struct look *l)
{
    (void)pthread_mutex_lock(&l->c->lock);
    bool looks_again = graph_is_absent(l->c->graph, &l->v.id);
    (void)pthread_mutex_unlock(&l->c->lock);
    return looks_again ? spn_again() : spn_done();
}

static bool has_finalizer(const struct spn_value *obj, const char *name)
{
    return spn_finalizer_has(obj, name);
}

static bool is_known_absent(struct look *l, const struct graph_owner *o)
{
    (void)pthread_mutex_lock(&l->c->lock);
    bool is_absent = graph_knows_absent(l->c->graph, o, l->v.id.ns);
    (void)pthread_mutex_unlock(&l->c->lock);
    return is_absent;
}

static void remember_absent(struct look *l, const struct graph_owner *o, struct spn_text ns)
{
    (void)pthread_mutex_lock(&l->c->lock);
    graph_note_absent(l->c->graph, o, ns);
    (void)pthread_mutex_unlock(&l->c->lock);
}

static int classify(struct look *l, const struct graph_owner *o, struct spn_err *err)
{
    struct spn_arena *a = l->w->arena;
    struct spn_target at;
    struct spn_value *owner;
    if (is_known_absent(l, o)) {
        spn_texts_add(a, &l->dangling, o->uid);
        return 0;
    }
    const struct graph_id id = { o->api_version, o->kind, l->v.id.ns, o->name, o->uid };
    int r = collector_place(l->c, l->w, &id, &at, err);
    if (r < 0)
        return r;
    r = collector_get(l->w, &at, o->uid, &owner, err);
    if (r == -SPN_NOT_FOUND) {
        remember_absent(l, o, at.ns);
        spn_texts_add(a, &l->dangling, o->uid);
        return 0;
    }
    if (r < 0)
        return r;
    bool waits = spn_value_dig(owner, "metadata", "deletionTimestamp") &&
                 has_finalizer(owner, "foregroundDeletion");
    spn_texts_add(a, waits ? &l->waiting : &l->solid, o->uid);
    return 0;
}

static int classify_all(struct look *l, struct spn_err *err)
{
    const struct spn_value *refs = spn_value_dig(l->obj, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        const struct graph_owner o = { spn_value_text(spn_value_get(ref, "apiVersion")),
                                       spn_value_text(spn_value_get(ref, "kind")),
                                       spn_value_text(spn_value_get(ref, "name")),
                                       spn_value_text(spn_value_get(ref, "uid")), false };
        int r = classify(l, &o, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Only if nobody has given it another owner meanwhile. */
static int delete_object(struct look *l, const char *propagation, struct spn_err *err)
{
    struct spn_work *w = l->w;
    struct spn_value *now;
    const struct spn_value *meta = spn_value_get(l->obj, "metadata");
    struct spn_delete what = { .propagation = propagation,
                               .uid = l->v.id.uid,
                               .resource_version =
                                   spn_value_text(spn_value_get(meta, "resourceVersion")) };
    int r = spn_client_delete(w->client, &l->at, &what, &w->how, w->arena, NULL, err);
    if (r == -SPN_CONFLICT) {
        struct spn_err unsaid = { 0 };
        int e = collector_get(w, &l->at, l->v.id.uid, &now, &unsaid);
        if (e == -SPN_NOT_FOUND)
            return tell_absent(l);
        what.resource_version = (struct spn_text){ 0 };
        if (e == 0 && spn_value_eq(spn_value_dig(now, "metadata", "ownerReferences"),
                                   spn_value_get(meta, "ownerReferences")))
            r = spn_client_delete(w->client, &l->at, &what, &w->how, w->arena, NULL, err);
    }
    return r == -SPN_NOT_FOUND ? tell_absent(l) : r == -SPN_CONFLICT ? spn_again() : r;
}

/* Two that wait for each other would wait for ever. */
static int break_cycle(struct look *l, struct spn_err *err)
{
    struct spn_arena *a = l->w->arena;
    struct spn_value *meta, *patch = patch_of(a, l->v.id.uid, &meta);
    const struct spn_value *refs = spn_value_dig(l->obj, "metadata", "ownerReferences");
    struct spn_value *free_refs = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        struct spn_value *ref = spn_value_copy(a, spn_value_at(refs, i));
        if (!spn_value_is_true(spn_value_get(ref, "blockOwnerDeletion")))
            continue;
        spn_value_set_bool(a, ref, "blockOwnerDeletion", false);
        spn_value_push(a, free_refs, ref);
    }
    spn_value_set(a, meta, "ownerReferences", free_refs);
    int r = spn_client_patch(l->w->client, &l->at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch),
                             &l->w->how, a, &l->obj, err);
    if (r == -SPN_UNSUPPORTED)
        r = patch_whole(l->w, &l->at, l->v.id.uid, unblock, NULL, err);
    return r;
}

static int delete_in_foreground(struct look *l, struct spn_err *err)
{
    if (!l->v.has_waiting_dependent)
        return delete_object(l, "Foreground", err);
    int r = break_cycle(l, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? tell_absent(l) : r;
    r = collector_get(l->w, &l->at, l->v.id.uid, &l->obj, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? tell_absent(l) : r;
    return delete_object(l, "Foreground", err);
}

/* Its dependents go first; when none is left that blocks it may go. */
static int wait_for_dependents(struct look *l, struct spn_err *err)
{
    struct spn_work *w = l->w;
    if (l->v.blocking.n == 0)
        return spn_finalizer_remove(w->client, &l->at, l->obj, "foregroundDeletion", &w->how,
                                    w->arena, err);
    for (size_t i = 0; i < l->v.blocking.n; i++)
        if (!l->v.blocking_waits[i])
            spn_controller_enqueue(l->c->deleter, SPN_TEXT(""), l->v.blocking.items[i].uid);
    return 0;
}

static int free_of_owners(struct look *l, struct spn_err *err)
{
    struct spn_texts gone = l->dangling;
    for (size_t i = 0; i < l->waiting.n; i++)
        spn_texts_add(l->w->arena, &gone, l->waiting.items[i]);
    if (gone.n == 0)
        return spn_done();
    int r = collector_unown(l->w, &l->at, l->v.id.uid, gone, err);
    return r == -SPN_NOT_FOUND ? spn_done() : r == -SPN_CONFLICT ? spn_again() : r;
}

static int judge(struct look *l, struct spn_err *err)
{
    if (l->v.is_waiting)
        return wait_for_dependents(l, err);
    if (spn_value_count(spn_value_dig(l->obj, "metadata", "ownerReferences")) == 0)
        return l->v.is_virtual ? spn_again() : spn_done();
    int r = classify_all(l, err);
    if (r < 0)
        return r;
    if (l->solid.n)
        return free_of_owners(l, err);
    if (l->waiting.n && l->v.dependents.n)
        return delete_in_foreground(l, err);
    return delete_object(l,
                         has_finalizer(l->obj, "orphan")               ? "Orphan"
                         : has_finalizer(l->obj, "foregroundDeletion") ? "Foreground"
                                                                       : "Background",
                         err);
}

int collector_look(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct look l = { .c = arg, .w = w };
    if (!l.c->is_synced)
        return spn_again();
    (void)pthread_mutex_lock(&l.c->lock);
    bool is_there = graph_view(l.c->graph, w->key, w->arena, &l.v);
    (void)pthread_mutex_unlock(&l.c->lock);
    if (!is_there || (l.v.is_deleting && !l.v.is_waiting))
        return spn_done();
    int r = collector_place(l.c, w, &l.v.id, &l.at, err);
    if (r == -SPN_NOT_FOUND)
        return spn_again(); /* perhaps the kind will be served one day */
    if (r < 0)
        return r == -SPN_BAD_REQUEST ? spn_done() : r;
    r = collector_get(w, &l.at, l.v.id.uid, &l.obj, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? tell_absent(&l) : r;
    r = judge(&l, err);
    if (r == -SPN_NOT_FOUND)
        return spn_again();
    if (r == -SPN_BAD_REQUEST)
        return spn_done();
    return r == 0 && l.v.is_virtual ? spn_again() : r;
}

/* ---- What the graph says ---- */

static void on_look(void *arg, struct spn_text uid)
{
    spn_controller_enqueue(((struct collector *)arg)->deleter, SPN_TEXT(""), uid);
}

static void on_orphan(void *arg, struct spn_text uid)
{
    spn_controller_enqueue(((struct collector *)arg)->orphaner, SPN_TEXT(""), uid);
}

static void on_misplaced(void *arg, const struct graph_id *dep, const struct graph_owner *o)
{
    struct collector *c = arg;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *obj = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, obj, "apiVersion", dep->api_version);
    spn_value_set_text(a, obj, "kind", dep->kind);
    struct spn_value *meta = spn_value_ensure(a, obj, "metadata");
    spn_value_set_text(a, meta, "name", dep->name);
    if (dep->ns.n)
        spn_value_set_text(a, meta, "namespace", dep->ns);
    spn_value_set_text(a, meta, "uid", dep->uid);
    spn_event(c->recorder, obj, SPN_WARNING, "OwnerRefInvalidNamespace",
              "ownerRef [" SPN_FMT "/" SPN_FMT ", namespace: " SPN_FMT ", name: " SPN_FMT
              ", uid: " SPN_FMT "] does not exist in namespace \"" SPN_FMT "\"",
              SPN_ARG(o->api_version), SPN_ARG(o->kind), SPN_ARG(dep->ns), SPN_ARG(o->name),
              SPN_ARG(o->uid), SPN_ARG(dep->ns));
    spn_arena_free(a);
}

/* ---- Beginning and end ---- */

static void map_to_kinds(void *arg, const struct spn_object *o, struct spn_arena *a,
                         struct spn_keys *out)
{
    (void)arg;
    (void)o;
    (void)a;
    spn_keys_put(out, SPN_TEXT(""), SPN_TEXT(KINDS_KEY));
}

/* Its keys come from the graph, not from objects of a resource; so no change of them matters. */
static struct spn_controller *add_worker(const struct controllers_env *env, struct collector *c,
                                         const char *name, unsigned workers,
                                         spn_reconcile_fn *reconcile)
{
    return spn_manager_add(env->manager,
                           &(struct spn_controller_options){ .name = name,
                                                             .what = definitions,
                                                             .kind = "CustomResourceDefinition",
                                                             .has_no_namespace = true,
                                                             .workers = workers,
                                                             .when = when_never,
                                                             .queue.per_second = -1,
                                                             .reconcile = reconcile,
                                                             .arg = c });
}

static void add_workers(const struct controllers_env *env, struct collector *c)
{
    c->deleter = add_worker(env, c, "garbage-collector-controller", WORKERS, collector_look);
    c->orphaner = add_worker(env, c, "garbage-collector-orphans", ORPHAN_WORKERS, collector_orphan);
    struct spn_controller *kinds =
        add_worker(env, c, "garbage-collector-resources", 1, collector_follow_kinds);
    spn_controller_source(kinds, &(struct spn_source){ .of.what = definitions,
                                                       .map = map_to_kinds,
                                                       .when = spn_when_version_changes });
    spn_controller_source(kinds, &(struct spn_source){ .of.what = api_services,
                                                       .map = map_to_kinds,
                                                       .when = spn_when_version_changes });
    spn_controller_enqueue(kinds, SPN_TEXT(""), SPN_TEXT(KINDS_KEY));
}

static void done(void *made)
{
    struct collector *c = made;
    if (!c)
        return;
    collector_stop_kinds(c);
    graph_free(c->graph);
    spn_recorder_free(c->recorder);
    spn_mapper_free(c->mapper);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    const struct spn_recorder_options events = { .component = "garbage-collector-controller" };
    struct collector *c = mem_new(struct collector);
    c->client = env->client;
    c->informers = spn_manager_informers(env->manager);
    c->mapper = spn_mapper_new(env->client, NULL);
    (void)pthread_mutex_init(&c->lock, NULL);
    c->graph = graph_new(&(struct graph_listener){
        .arg = c, .look = on_look, .orphan = on_orphan, .misplaced = on_misplaced });
    int r = spn_recorder_new(env->client, &events, &c->recorder, err);
    if (r < 0) {
        done(c);
        return r;
    }
    add_workers(env, c);
    *ret = c;
    return 0;
}

const struct controllers_row controllers_garbage = { "garbage-collector-controller", add, done };
