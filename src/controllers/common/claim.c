#include "controllers/common/claim.h"

#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

int claim_selector(struct spn_arena *a, const struct spn_value *selector,
                   struct labels_selector *ret, struct spn_err *err)
{
    struct err why = ERR_INIT(arena_in(a));
    if (labels_from_value(arena_in(a), value_in(selector), ret, &why) < 0)
        return err_out(err, &why, SPN_INVALID);
    return 0;
}

bool claim_matches(const struct labels_selector *s, const struct spn_value *obj)
{
    return labels_match_value(s, value_in(spn_value_dig(obj, "metadata", "labels")));
}

static bool fits(const struct claim *c, const struct spn_value *obj)
{
    return claim_matches(c->selector, obj) && (!c->fits || c->fits(c->fits_arg, obj));
}

/* NULL: nobody. */
static const struct spn_value *controller_of(const struct spn_value *obj)
{
    const struct spn_value *refs = spn_value_dig(obj, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++)
        if (spn_value_is_true(spn_value_get(spn_value_at(refs, i), "controller")))
            return spn_value_at(refs, i);
    return NULL;
}

static bool is_ours(const struct claim *c, const struct spn_value *controller)
{
    return spn_text_eq(spn_value_text(spn_value_get(controller, "uid")), meta_uid(c->owner));
}

/* ---- May we adopt? ---- */

static int check_owner(struct claim *c, struct spn_err *err)
{
    struct spn_work *w = c->work;
    struct spn_value *fresh;
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &fresh, err);
    if (r < 0)
        return r;
    struct spn_text uid = meta_uid(fresh), ours = meta_uid(c->owner);
    if (!spn_text_eq(uid, ours))
        return spn_err_set(err, SPN_CONFLICT,
                           "original " SPN_FMT " " SPN_FMT "/" SPN_FMT " is gone: got uid " SPN_FMT
                           ", wanted " SPN_FMT,
                           SPN_ARG(spn_value_text(spn_value_get(c->owner, "kind"))), SPN_ARG(w->ns),
                           SPN_ARG(w->name), SPN_ARG(uid), SPN_ARG(ours));
    if (meta_is_deleting(fresh))
        return spn_err_set(err, SPN_CONFLICT,
                           SPN_FMT "/" SPN_FMT " has just been deleted at " SPN_FMT, SPN_ARG(w->ns),
                           SPN_ARG(w->name), SPN_ARG(meta_text(fresh, "deletionTimestamp")));
    return 0;
}

static int can_adopt(struct claim *c, const struct spn_value *obj, struct spn_err *err)
{
    if (!c->has_checked)
        c->can_adopt = check_owner(c, &c->why_not);
    c->has_checked = true;
    if (c->can_adopt == 0)
        return 0;
    return spn_err_set(err, (enum spn_code) - c->can_adopt,
                       "can't adopt %s " SPN_FMT "/" SPN_FMT " (" SPN_FMT "): %s", c->object_kind,
                       SPN_ARG(c->work->ns), SPN_ARG(meta_name(obj)), SPN_ARG(meta_uid(obj)),
                       c->why_not.message);
}

/* ---- Patches ---- */

static struct spn_value *adopted_reference(struct spn_arena *a, const struct spn_value *owner)
{
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ref, "apiVersion", spn_value_text(spn_value_get(owner, "apiVersion")));
    spn_value_set_text(a, ref, "kind", spn_value_text(spn_value_get(owner, "kind")));
    spn_value_set_text(a, ref, "name", meta_name(owner));
    spn_value_set_text(a, ref, "uid", meta_uid(owner));
    spn_value_set_bool(a, ref, "controller", true);
    spn_value_set_bool(a, ref, "blockOwnerDeletion", true);
    return ref;
}

static struct spn_value *released_reference(struct spn_arena *a, const struct spn_value *owner)
{
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ref, "$patch", SPN_TEXT("delete"));
    spn_value_set_text(a, ref, "uid", meta_uid(owner));
    return ref;
}

static void set_list(struct spn_arena *a, struct spn_value *meta, const char *key,
                     struct spn_value *one)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, list, one);
    spn_value_set(a, meta, key, list);
}

static int send_patch(struct claim *c, const struct spn_value *obj, bool is_adopted,
                      struct spn_value **ret, struct spn_err *err)
{
    struct spn_arena *a = c->work->arena;
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, meta, "uid", meta_uid(obj));
    set_list(a, meta, "ownerReferences",
             is_adopted ? adopted_reference(a, c->owner) : released_reference(a, c->owner));
    if (c->finalizer)
        set_list(a, meta, is_adopted ? "finalizers" : "$deleteFromPrimitiveList/finalizers",
                 spn_value_new_text(a, spn_text_of(c->finalizer)));
    struct spn_target at = c->what;
    at.ns = c->work->ns;
    at.name = meta_name(obj);
    return spn_client_patch(c->work->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(a, patch),
                            &c->work->how, a, ret, err);
}

/* `*obj` becomes what the server has now, so that it can be changed further. */
static int adopt(struct claim *c, struct spn_value **obj, struct spn_err *err)
{
    int r = can_adopt(c, *obj, err);
    return r < 0 ? r : send_patch(c, *obj, true, obj, err);
}

/* One that is gone, was made anew or has no owner any more needs no release. */
static int release(struct claim *c, const struct spn_value *obj, struct spn_err *err)
{
    int r = send_patch(c, obj, false, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_INVALID ? 0 : r;
}

/* ---- All of them ---- */

/* 1: it is ours; 0: it is not. */
static int claim_one(struct claim *c, struct spn_value **item, struct spn_err *err)
{
    const struct spn_value *obj = *item;
    const struct spn_value *controller = controller_of(obj);
    const bool is_ending = meta_is_deleting(c->owner);
    if (controller && !is_ours(c, controller))
        return 0;
    if (controller && (fits(c, obj) || is_ending))
        return fits(c, obj);
    if (controller)
        return release(c, obj, err);
    if (is_ending || meta_is_deleting(obj) || !fits(c, obj))
        return 0;
    int r = adopt(c, item, err);
    return r == 0 ? 1 : r == -SPN_NOT_FOUND ? 0 : r;
}

int claim_objects(struct claim *c, struct spn_value **items, size_t *n, struct spn_err *err)
{
    size_t n_ours = 0;
    int first = 0;
    for (size_t i = 0; i < *n; i++) {
        struct spn_err why = { 0 };
        int r = claim_one(c, &items[i], &why);
        if (r > 0)
            items[n_ours++] = items[i];
        if (r >= 0 || first < 0)
            continue;
        first = r;
        if (err)
            *err = why;
    }
    *n = n_ours;
    return first;
}

size_t claim_owned(const struct claim *c, struct spn_value *const *items, size_t n,
                   struct spn_value **ret)
{
    size_t n_ours = 0;
    for (size_t i = 0; i < n; i++) {
        const struct spn_value *controller = controller_of(items[i]);
        if (controller && is_ours(c, controller) && claim_matches(c->selector, items[i]))
            ret[n_ours++] = items[i];
    }
    return n_ours;
}
