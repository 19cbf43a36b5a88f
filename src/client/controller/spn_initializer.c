/* spn_initializer.c - a controller that waits for its turn, and finishes an object by one patch. */
#include <sampan/initializer.h>

#include <assert.h>
#include <sampan/patch.h>
#include <stdlib.h>

#include "client/controller/controller_internal.h"
#include "base/banned.h"

enum { MAX_DELAY_MS = 1000 }; /* whoever creates the object waits meanwhile */

/* ---- Whose turn it is ---- */

static bool is_our_turn(const struct spn_value *obj, const char *name)
{
    const struct spn_value *pending = spn_value_dig(obj, "metadata", "initializers", "pending");
    return spn_text_eq(spn_value_text(spn_value_get(spn_value_at(pending, 0), "name")),
                       spn_text_of(name));
}

/* The last one to go takes the whole list along: then the object is there for all. */
static void take_name_away(struct spn_arena *a, struct spn_value *obj)
{
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    struct spn_value *pending =
        spn_value_edit(a, spn_value_edit(a, meta, "initializers"), "pending");
    if (spn_value_count(pending) > 1)
        spn_value_remove_at(a, pending, 0);
    else
        spn_value_remove(a, meta, "initializers");
}

/* ---- The patch ---- */

/* Kinds that are not built in have no strategy: a merge patch will do, as with kubectl. */
static int make_patch(struct spn_arena *a, const struct spn_value *obj,
                      const struct spn_value *wanted, enum spn_patch_kind *ret_kind,
                      struct spn_value **ret, struct spn_err *err)
{
    struct spn_text from = spn_value_json(a, obj), to = spn_value_json(a, wanted);
    char *patch = NULL, *why = NULL;
    *ret_kind = SPN_STRATEGIC_PATCH;
    int r = spn_patch_two_way(from, to, &patch, &why);
    if (r == SPN_PATCH_NO_KIND) {
        free(why);
        why = NULL;
        *ret_kind = SPN_MERGE_PATCH;
        r = spn_patch_merge(from, to, &patch, &why);
    }
    if (r < 0)
        r = spn_err_set(err, SPN_INVALID, "%s", why);
    else
        r = spn_value_read_json(a, spn_arena_text(a, spn_text_of(patch)), ret, err);
    free(patch);
    free(why);
    return r;
}

/* From what we have seen to what we want, if nobody has changed it meanwhile. */
static int send_patch(struct spn_work *w, const struct spn_value *obj,
                      const struct spn_value *wanted, struct spn_err *err)
{
    struct spn_value *patch;
    enum spn_patch_kind kind;
    int r = make_patch(w->arena, obj, wanted, &kind, &patch, err);
    if (r < 0)
        return r;
    spn_value_set_text(w->arena, spn_value_ensure(w->arena, patch, "metadata"), "resourceVersion",
                       spn_value_text(spn_value_dig(obj, "metadata", "resourceVersion")));
    return spn_client_patch(w->client, &w->at, kind, spn_value_json(w->arena, patch), &w->how,
                            w->arena, NULL, err);
}

/* ---- What becomes of an object ---- */

/* Whoever waits for it is told why there will be none, and it goes. */
static int fail_creation(const struct spn_initializer_options *opt, struct spn_work *w,
                         const struct spn_value *obj, struct spn_err *err)
{
    struct spn_arena *a = w->arena;
    struct spn_text why = spn_arena_text(a, spn_text_of(err->message));
    struct spn_value *wanted = spn_value_copy(a, obj);
    struct spn_value *initializers =
        spn_value_ensure(a, spn_value_edit(a, wanted, "metadata"), "initializers");
    struct spn_value *result = spn_value_ensure(a, initializers, "result");
    spn_value_set_text(a, result, "status", SPN_TEXT("Failure"));
    spn_value_set_text(a, result, "reason", SPN_TEXT("Conflict"));
    spn_value_set_text(a, result, "message", why);
    spn_value_set_int(a, result, "code", 409);
    int r = send_patch(w, obj, wanted, err);
    if (r == 0 && opt->failed_reason)
        spn_event(w->events, obj, SPN_WARNING, opt->failed_reason, SPN_FMT, SPN_ARG(why));
    return r;
}

static bool is_final(int r)
{
    return r == -SPN_EXISTS || r == -SPN_CONFLICT || r == -SPN_INVALID;
}

static int finish(const struct spn_initializer_options *opt, struct spn_work *w,
                  const struct spn_value *obj, struct spn_err *err)
{
    struct spn_value *wanted = spn_value_copy(w->arena, obj);
    int r = opt->initialize(opt->arg, w, wanted, err);
    if (r < 0)
        return is_final(r) ? fail_creation(opt, w, obj, err) : r;
    bool is_changed = !spn_value_eq(obj, wanted);
    take_name_away(w->arena, wanted);
    r = send_patch(w, obj, wanted, err);
    if (r == -SPN_INVALID && is_changed) /* the server does not like what we have made of it */
        return fail_creation(opt, w, obj, err);
    if (r == 0 && is_changed && opt->changed_reason)
        spn_event(w->events, obj, SPN_NORMAL, opt->changed_reason, "by the initializer %s",
                  opt->name);
    return r;
}

/* Items of lists do not say what they are. */
static void set_kind(const struct spn_initializer_options *opt, struct spn_arena *a,
                     struct spn_value *obj)
{
    const struct spn_target *what = &opt->what;
    spn_value_set_text(
        a, obj, "apiVersion",
        what->group.n
            ? spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(what->group), SPN_ARG(what->version))
            : what->version);
    spn_value_set_text(a, obj, "kind", spn_text_of(opt->kind));
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct spn_initializer_options *opt = arg;
    struct spn_value *obj = spn_work_object(w);
    if (!obj || !is_our_turn(obj, opt->name))
        return spn_done();
    set_kind(opt, w->arena, obj);
    int r = finish(opt, w, obj, err);
    /* Somebody was faster: the next one begins with what he has made of it. */
    return r == -SPN_CONFLICT ? spn_again() : r == -SPN_NOT_FOUND ? spn_done() : r;
}

static const char *kept(struct spn_manager *m, const char *text)
{
    return text ? str_cstr(&m->arena, str_of(text)) : NULL;
}

void spn_manager_initializes(struct spn_manager *m, const struct spn_initializer_options *opt)
{
    assert(opt->name && opt->kind && opt->initialize);
    struct spn_initializer_options *own = arena_new(&m->arena, struct spn_initializer_options);
    const struct spn_controller_options how = {
        .name = arena_printf(&m->arena, "%s/%s", opt->name, opt->kind).p,
        .what = opt->what,
        .kind = opt->kind,
        .has_no_namespace = opt->has_no_namespace,
        .workers = opt->workers,
        .reconcile = reconcile,
        .arg = own,
        .queue = { .max_delay_ms = MAX_DELAY_MS },
    };
    const struct spn_controller *c = spn_manager_add(m, &how);
    *own = *opt;
    own->what = c->opt.what;
    own->kind = c->opt.kind;
    own->name = kept(m, opt->name);
    own->changed_reason = kept(m, opt->changed_reason);
    own->failed_reason = kept(m, opt->failed_reason);
    spn_client_show_uninitialized(m->opt.client, true);
}
