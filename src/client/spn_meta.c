/* spn_meta.c - finalizers, owners and conditions. */
#include <sampan/meta.h>

#include "base/clock.h"
#include "client/bridge.h"
#include "base/banned.h"

/* ---- Finalizers ---- */

enum { FINALIZER_TRIES = 5 };

static struct spn_text meta_text(const struct spn_value *obj, const char *key)
{
    return spn_value_text(spn_value_dig(obj, "metadata", key));
}

bool spn_finalizer_has(const struct spn_value *obj, const char *name)
{
    const struct spn_value *all = spn_value_dig(obj, "metadata", "finalizers");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(all, i)), spn_text_of(name)))
            return true;
    return false;
}

/* Those of the object, with or without the name. */
static struct spn_value *finalizers_with(struct spn_arena *a, const struct spn_value *obj,
                                         const char *name, bool is_wanted)
{
    const struct spn_value *all = spn_value_dig(obj, "metadata", "finalizers");
    struct spn_value *ret = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text one = spn_value_text(spn_value_at(all, i));
        if (!spn_text_eq(one, spn_text_of(name)))
            spn_value_push(a, ret, spn_value_new_text(a, one));
    }
    if (is_wanted)
        spn_value_push(a, ret, spn_value_new_text(a, spn_arena_text(a, spn_text_of(name))));
    return ret;
}

static void copy_meta(struct spn_arena *a, struct spn_value *to, const struct spn_value *from,
                      const char *key)
{
    const struct spn_value *v = spn_value_dig(from, "metadata", key);
    struct spn_value *meta = spn_value_ensure(a, to, "metadata");
    if (v)
        spn_value_set(a, meta, key, spn_value_copy(a, v));
    else
        spn_value_remove(a, meta, key);
}

/* With uid and resourceVersion, the server refuses it if the object is another one by now. */
static int finalizers_send(struct spn_client *c, const struct spn_target *at, struct spn_value *obj,
                           struct spn_value *all, const struct spn_call *how, struct spn_arena *a,
                           struct spn_err *err)
{
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT), *answer;
    struct spn_value *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, meta, "uid", meta_text(obj, "uid"));
    spn_value_set_text(a, meta, "resourceVersion", meta_text(obj, "resourceVersion"));
    spn_value_set(a, meta, "finalizers", all);
    int r =
        spn_client_patch(c, at, SPN_MERGE_PATCH, spn_value_json(a, patch), how, a, &answer, err);
    if (r < 0)
        return r;
    copy_meta(a, obj, answer, "finalizers");
    copy_meta(a, obj, answer, "resourceVersion");
    return 0;
}

/* SPN_NOT_FOUND: the object is gone, and one of the same name does not count. */
static int finalizers_refresh(struct spn_client *c, const struct spn_target *at,
                              struct spn_value *obj, const struct spn_call *how,
                              struct spn_arena *a, struct spn_err *err)
{
    struct spn_value *newer;
    int r = spn_client_get(c, at, how, a, &newer, err);
    if (r < 0)
        return r;
    if (!spn_text_eq(meta_text(newer, "uid"), meta_text(obj, "uid")))
        return spn_err_set(err, SPN_NOT_FOUND, SPN_FMT " is another object now", SPN_ARG(at->name));
    copy_meta(a, obj, newer, "finalizers");
    copy_meta(a, obj, newer, "resourceVersion");
    copy_meta(a, obj, newer, "deletionTimestamp");
    return 0;
}

static int finalizer_change(struct spn_client *c, const struct spn_target *at,
                            struct spn_value *obj, const char *name, bool is_wanted,
                            const struct spn_call *how, struct spn_arena *a, struct spn_err *err)
{
    for (int tries = 1;; tries++) {
        if (spn_finalizer_has(obj, name) == is_wanted)
            return 0;
        if (is_wanted && meta_text(obj, "deletionTimestamp").p)
            return spn_err_set(err, SPN_INVALID, SPN_FMT " is being deleted", SPN_ARG(at->name));
        struct spn_value *all = finalizers_with(a, obj, name, is_wanted);
        int r = finalizers_send(c, at, obj, all, how, a, err);
        if (r != -SPN_CONFLICT || tries == FINALIZER_TRIES)
            return r;
        r = finalizers_refresh(c, at, obj, how, a, err);
        if (r < 0)
            return r;
    }
}

int spn_finalizer_add(struct spn_client *c, const struct spn_target *at, struct spn_value *obj,
                      const char *name, const struct spn_call *how, struct spn_arena *a,
                      struct spn_err *err)
{
    return finalizer_change(c, at, obj, name, true, how, a, err);
}

int spn_finalizer_remove(struct spn_client *c, const struct spn_target *at, struct spn_value *obj,
                         const char *name, const struct spn_call *how, struct spn_arena *a,
                         struct spn_err *err)
{
    int r = finalizer_change(c, at, obj, name, false, how, a, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

/* ---- Owners ---- */

static struct spn_value *owner_reference(struct spn_arena *a, const struct spn_value *owner)
{
    static const char *const of_object[] = { "apiVersion", "kind" };
    static const char *const of_meta[] = { "name", "uid" };
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    for (int i = 0; i < 2; i++)
        spn_value_set_text(a, ref, of_object[i],
                           spn_arena_text(a, spn_value_text(spn_value_get(owner, of_object[i]))));
    for (int i = 0; i < 2; i++)
        spn_value_set_text(a, ref, of_meta[i], spn_arena_text(a, meta_text(owner, of_meta[i])));
    spn_value_set_bool(a, ref, "controller", true);
    spn_value_set_bool(a, ref, "blockOwnerDeletion", true);
    return ref;
}

static int check_owner(const struct spn_value *obj, const struct spn_value *owner,
                       struct spn_err *err)
{
    struct spn_text owner_ns = meta_text(owner, "namespace"), obj_ns = meta_text(obj, "namespace");
    if (!meta_text(owner, "uid").n || !spn_value_text(spn_value_get(owner, "kind")).n)
        return spn_err_set(err, SPN_INVALID, "an owner has a kind and a uid");
    if (owner_ns.n && obj_ns.n && !spn_text_eq(owner_ns, obj_ns))
        return spn_err_set(err, SPN_INVALID,
                           "an owner in namespace " SPN_FMT " cannot own objects in " SPN_FMT,
                           SPN_ARG(owner_ns), SPN_ARG(obj_ns));
    return 0;
}

/* Where the list has a reference to the owner; its length if it has none. */
static int find_owner(const struct spn_value *refs, struct spn_text uid, size_t *ret,
                      struct spn_err *err)
{
    *ret = spn_value_count(refs);
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if (spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), uid))
            *ret = i;
        else if (spn_value_is_true(spn_value_get(ref, "controller")))
            return spn_err_set(err, SPN_EXISTS, "it is controlled by " SPN_FMT " " SPN_FMT,
                               SPN_ARG(spn_value_text(spn_value_get(ref, "kind"))),
                               SPN_ARG(spn_value_text(spn_value_get(ref, "name"))));
    }
    return 0;
}

int spn_set_controller(struct spn_arena *a, struct spn_value *obj, const struct spn_value *owner,
                       struct spn_err *err)
{
    size_t at;
    int r = check_owner(obj, owner, err);
    if (r < 0)
        return r;
    struct spn_value *meta = spn_value_ensure(a, obj, "metadata");
    struct spn_value *refs = spn_value_edit(a, meta, "ownerReferences");
    r = find_owner(refs, meta_text(owner, "uid"), &at, err);
    if (r < 0)
        return r;
    if (spn_value_type(refs) != SPN_ARRAY)
        refs = spn_value_set(a, meta, "ownerReferences", spn_value_new(a, SPN_ARRAY));
    if (at < spn_value_count(refs))
        spn_value_remove_at(a, refs, at);
    spn_value_push(a, refs, owner_reference(a, owner));
    return 0;
}

/* ---- Conditions ---- */

static bool is_of_type(const struct spn_value *cond, const char *type)
{
    return spn_text_eq(spn_value_text(spn_value_get(cond, "type")), spn_text_of(type));
}

const struct spn_value *spn_condition_get(const struct spn_value *obj, const char *type)
{
    const struct spn_value *all = spn_value_dig(obj, "status", "conditions");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (is_of_type(spn_value_at(all, i), type))
            return spn_value_at(all, i);
    return NULL;
}

static struct spn_value *condition_edit(struct spn_arena *a, struct spn_value *obj,
                                        const char *type)
{
    struct spn_value *status = spn_value_ensure(a, obj, "status");
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    if (spn_value_type(all) != SPN_ARRAY)
        all = spn_value_set(a, status, "conditions", spn_value_new(a, SPN_ARRAY));
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (is_of_type(spn_value_at(all, i), type))
            return spn_value_edit_at(a, all, i);
    return spn_value_push(a, all, spn_value_new(a, SPN_OBJECT));
}

/* True: it was another one. */
static bool set_text(struct spn_arena *a, struct spn_value *obj, const char *key, const char *text)
{
    const struct spn_value *old = spn_value_get(obj, key);
    struct spn_text now = spn_text_of(text ? text : "");
    if (old && spn_text_eq(spn_value_text(old), now))
        return false;
    spn_value_set_text(a, obj, key, spn_arena_text(a, now));
    return true;
}

static bool set_generation(struct spn_arena *a, struct spn_value *cond, int64_t generation)
{
    int64_t old = 0;
    (void)spn_value_int(spn_value_get(cond, "observedGeneration"), &old);
    if (old == generation || !generation)
        return false;
    spn_value_set_int(a, cond, "observedGeneration", generation);
    return true;
}

bool spn_condition_set(struct spn_arena *a, struct spn_value *obj, const struct spn_condition *cond)
{
    struct spn_value *c = condition_edit(a, obj, cond->type);
    bool is_changed = set_text(a, c, "type", cond->type);
    if (set_text(a, c, "status", cond->status)) {
        char text[CLOCK_TEXT_BYTES];
        struct str now = clock_format(clock_wall_ns(&clock_system), false, text);
        spn_value_set_text(a, c, "lastTransitionTime", spn_arena_text(a, text_out(now)));
        is_changed = true;
    }
    is_changed |= set_text(a, c, "reason", cond->reason);
    is_changed |= set_text(a, c, "message", cond->message);
    return set_generation(a, c, cond->observed_generation) || is_changed;
}
