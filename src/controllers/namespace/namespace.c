/* namespace-controller: empties a namespace that is being deleted, and lets it go then.
 *
 * All resources of the server are looked at, custom ones too; pods first, because others may be
 * needed to end them. What has nothing in the namespace costs one request. */
#include <sampan/mapper.h>
#include <sampan/typed.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/namespace/plan.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum {
    /* Other API servers may not know of the deletion yet and still let objects be made. Five
     * seconds at least; the time of the deletion has no fraction. */
    WAIT_MS = 6000,
    PAGE = 500,
    MAX_DELAY_MS = 60000,
    WORKERS = 5,
};

struct namespaces {
    struct spn_mapper *mapper;
};

/* One pass over one namespace. */
struct pass {
    struct spn_work *w;
    struct spn_value *ns;
    int64_t deleted_sec;
    struct namespace_pass found;
};

static const struct spn_target all_namespaces = SPN_AT("", "v1", "namespaces", "", "");

/* ---- Requests ---- */

static bool has_verb(const struct spn_resource *r, const char *verb)
{
    return spn_texts_have(r->verbs, spn_text_of(verb));
}

/* The resource, or its collection, cannot do it. */
static bool is_unsupported(int r)
{
    return r == -SPN_NOT_FOUND || r == -SPN_NOT_ALLOWED;
}

typedef int visit_fn(void *arg, const struct spn_value *items, struct spn_err *err);

/* One page. `which` gets where the next one begins; empty: this was the last. */
static int one_page(struct pass *p, const struct spn_target *at, const struct spn_call *how,
                    struct spn_select *which, struct spn_arena *a, struct spn_value **ret,
                    struct spn_err *err)
{
    int r = spn_client_list(p->w->client, at, which, how, a, ret, err);
    if (r < 0)
        return r;
    which->resume =
        spn_arena_text(p->w->arena, spn_value_text(spn_value_dig(*ret, "metadata", "continue")));
    return 0;
}

/* Calls `visit` for each page. */
static int each_page(struct pass *p, const struct spn_target *at, bool metadata_only,
                     visit_fn *visit, void *arg, struct spn_err *err)
{
    struct spn_call how = p->w->how;
    struct spn_select which = { .limit = PAGE };
    struct spn_arena *a = spn_arena_new();
    int r;
    how.metadata_only = metadata_only;
    do {
        struct spn_value *list;
        r = one_page(p, at, &how, &which, a, &list, err);
        if (r < 0)
            break;
        r = visit(arg, spn_value_get(list, "items"), err);
        spn_arena_reset(a);
    } while (r == 0 && which.resume.n);
    spn_arena_free(a);
    return r;
}

struct tally {
    struct pass *p;
    const struct spn_target *at;
    int64_t grace, items;
    struct namespace_counts finalizers;
};

static int visit_grace(void *arg, const struct spn_value *items, struct spn_err *err)
{
    struct tally *t = arg;
    (void)err;
    t->grace = namespace_grace(items, t->grace);
    return 0;
}

static int visit_rest(void *arg, const struct spn_value *items, struct spn_err *err)
{
    struct tally *t = arg;
    (void)err;
    t->items += (int64_t)spn_value_count(items);
    namespace_count_finalizers(t->p->w->arena, items, &t->finalizers);
    return 0;
}

static const struct spn_delete in_background = { .propagation = "Background" };

static int visit_delete(void *arg, const struct spn_value *items, struct spn_err *err)
{
    struct tally *t = arg;
    struct spn_work *w = t->p->w;
    for (size_t i = 0; i < spn_value_count(items); i++) {
        struct spn_target at = *t->at;
        at.name = spn_value_text(spn_value_dig(spn_value_at(items, i), "metadata", "name"));
        int r = spn_client_delete(w->client, &at, &in_background, &w->how, w->arena, NULL, err);
        if (r < 0 && !is_unsupported(r))
            return r;
    }
    return 0;
}

/* ---- One resource ---- */

/* False: nothing is there, as far as can be seen. */
static int has_any(struct pass *p, const struct spn_target *at, bool *ret, struct spn_err *err)
{
    struct spn_call how = p->w->how;
    struct spn_value *list;
    how.metadata_only = true;
    int r = spn_client_list(p->w->client, at, &(struct spn_select){ .limit = 1 }, &how, p->w->arena,
                            &list, err);
    *ret = r == 0 && spn_value_count(spn_value_get(list, "items"));
    return is_unsupported(r) ? 0 : r;
}

static int delete_items(struct pass *p, const struct spn_resource *r, const struct spn_target *at,
                        struct spn_err *err)
{
    struct spn_work *w = p->w;
    int e = -SPN_NOT_ALLOWED;
    if (has_verb(r, "deletecollection"))
        e = spn_client_delete_all(w->client, at, NULL, &in_background, &w->how, w->arena, err);
    if (!is_unsupported(e))
        return e;
    struct tally t = { .p = p, .at = at };
    e = each_page(p, at, true, visit_delete, &t, err);
    return is_unsupported(e) ? 0 : e;
}

static bool is_pods(const struct spn_resource *r)
{
    return r->group.n == 0 && spn_text_eq(r->plural, SPN_TEXT("pods"));
}

static int empty_resource(struct pass *p, const struct spn_resource *r, struct spn_err *err)
{
    struct spn_target at = spn_resource_target(r, p->w->name, SPN_TEXT(""));
    struct tally t = { .p = p, .at = &at };
    bool any = true;
    if (!has_verb(r, "list"))
        return delete_items(p, r, &at, err);
    int e = has_any(p, &at, &any, err);
    if (e < 0 || !any)
        return e;
    if (is_pods(r))
        e = each_page(p, &at, false, visit_grace, &t, err);
    if (e < 0)
        return e;
    t.grace = namespace_grace_left(t.grace, p->deleted_sec, time_now() / NS_PER_SEC);
    e = delete_items(p, r, &at, err);
    if (e < 0)
        return e;
    e = each_page(p, &at, true, visit_rest, &t, err);
    if (e < 0)
        return is_unsupported(e) ? 0 : e;
    if (!namespace_remain(p->w->arena, &p->found, r, t.items, &t.finalizers, t.grace))
        return spn_err_set(err, SPN_SERVER_ERROR,
                           "unexpected items still remain in namespace: " SPN_FMT
                           " for gvr: " SPN_FMT "/" SPN_FMT ", Resource=" SPN_FMT,
                           SPN_ARG(p->w->name), SPN_ARG(r->group), SPN_ARG(r->version),
                           SPN_ARG(r->plural));
    return 0;
}

/* ---- All of them ---- */

static void note_failure(struct pass *p, const struct spn_err *err)
{
    spn_texts_add(p->w->arena, &p->found.failures,
                  spn_arena_text(p->w->arena, spn_text_of(err->message)));
}

/* Only the first failure is returned; all of them are noted. */
static int empty_some(struct pass *p, const struct spn_resources *all, bool pods,
                      struct spn_err *err)
{
    int first = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct spn_resource *r = &all->items[i];
        if (!r->namespaced || is_pods(r) != pods || !has_verb(r, "delete"))
            continue;
        struct spn_err why = { 0 };
        int e = empty_resource(p, r, &why);
        if (e == -SPN_CANCELLED) {
            *err = why;
            return e;
        }
        if (e < 0)
            note_failure(p, &why);
        if (e < 0 && first == 0) {
            first = e;
            *err = why;
        }
    }
    return first;
}

static int write_conditions(struct pass *p, bool is_whole, struct spn_err *err)
{
    struct spn_work *w = p->w;
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("status");
    if (!namespace_conditions(w->arena, p->ns, &p->found, is_whole))
        return 0;
    struct spn_value *after;
    int r = spn_client_update(w->client, &at, p->ns, &w->how, w->arena, &after, err);
    if (r == 0)
        p->ns = after;
    return r;
}

/* 0: nothing is left, or `found` says when to look again. */
static int empty_all(struct namespaces *n, struct pass *p, struct spn_err *err)
{
    struct spn_work *w = p->w;
    struct spn_resources all;
    spn_mapper_reset(n->mapper);
    int r = spn_mapper_list(n->mapper, NULL, &w->how, w->arena, &all, err);
    if (r < 0)
        return r;
    r = spn_mapper_missing(n->mapper, &w->how, w->arena, &p->found.missing, err);
    if (r < 0)
        return r;
    struct spn_err unsaid = { 0 };
    r = empty_some(p, &all, true, err);
    bool is_whole = p->found.resources.n == 0; /* no pods are left */
    if (is_whole && r != -SPN_CANCELLED) {
        int others = empty_some(p, &all, false, r < 0 ? &unsaid : err);
        r = r < 0 ? r : others;
    }
    if (r == -SPN_CANCELLED)
        return r;
    (void)write_conditions(p, is_whole, &unsaid); /* the next pass says it again */
    if (r == 0 && p->found.missing.n)
        return spn_err_set(err, SPN_UNAVAILABLE, "parts of the API did not answer");
    return r;
}

/* ---- One namespace ---- */

static int mark_terminating(struct spn_work *w, struct spn_value **ns, struct spn_err *err)
{
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("status");
    if (spn_text_eq(spn_value_text(spn_value_dig(*ns, "status", "phase")), SPN_TEXT("Terminating")))
        return 0;
    spn_value_set_text(w->arena, spn_value_ensure(w->arena, *ns, "status"), "phase",
                       SPN_TEXT("Terminating"));
    return spn_client_update(w->client, &at, *ns, &w->how, w->arena, ns, err);
}

static int finalize(struct pass *p, struct spn_err *err)
{
    struct spn_work *w = p->w;
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("finalize");
    namespace_finalize(w->arena, p->ns);
    int r = spn_client_update(w->client, &at, p->ns, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

/* The longer it takes the less often it is looked at, but upstream's time is the longest. */
static int64_t pause_ms(const struct pass *p)
{
    int64_t longest = (p->found.estimate_sec / 2 + 1) * 1000;
    int64_t pause = (time_now() / NS_PER_MS - p->deleted_sec * 1000) / 4;
    return pause < 1000 ? 1000 : pause < longest ? pause : longest;
}

static int empty_namespace(struct namespaces *n, struct spn_work *w, struct spn_value *ns,
                           int64_t deleted_sec, struct spn_err *err)
{
    int r = mark_terminating(w, &ns, err);
    if (r < 0)
        return r;
    if (spn_value_count(spn_value_dig(ns, "spec", "finalizers")) == 0)
        return spn_done();
    struct pass p = { .w = w, .ns = ns, .deleted_sec = deleted_sec };
    r = empty_all(n, &p, err);
    if (r < 0)
        return r;
    if (p.found.estimate_sec)
        return spn_again_after(pause_ms(&p));
    return finalize(&p, err);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_value *ns = spn_work_object(w);
    int64_t deleted_ns;
    if (!time_read(spn_value_dig(ns, "metadata", "deletionTimestamp"), &deleted_ns))
        return spn_done();
    int64_t wait_ms = (deleted_ns - time_now()) / NS_PER_MS + WAIT_MS;
    if (wait_ms > 0)
        return spn_again_after(wait_ms < WAIT_MS ? wait_ms : WAIT_MS);
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &ns, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    if (!meta_is_deleting(ns))
        return spn_done(); /* another one has the name by now */
    r = empty_namespace(arg, w, ns, deleted_ns / NS_PER_SEC, err);
    return r == -SPN_NOT_FOUND ? spn_done() : r == -SPN_CONFLICT ? spn_again() : r;
}

static bool is_deleting(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return new_o && spn_object_is_deleting(new_o);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct namespaces *n = mem_new(struct namespaces);
    n->mapper = spn_mapper_new(env->client, NULL);
    (void)spn_manager_add(env->manager,
                          &(struct spn_controller_options){ .name = "namespace-controller",
                                                            .what = all_namespaces,
                                                            .kind = "Namespace",
                                                            .has_no_namespace = true,
                                                            .workers = WORKERS,
                                                            .when = is_deleting,
                                                            .queue.max_delay_ms = MAX_DELAY_MS,
                                                            .reconcile = reconcile,
                                                            .arg = n });
    *ret = n;
    return 0;
}

static void done(void *made)
{
    struct namespaces *n = made;
    if (n)
        spn_mapper_free(n->mapper);
    free(n);
}

const struct controllers_row controllers_namespace = { "namespace-controller", add, done };
