/* Server-side apply: merge, prune, conflicts. */
#include "merge/managed_internal.h"

#include <stdlib.h>

#include "api/quote.h"
#include "merge/last_applied.h"

#include "base/banned.h"

struct apply {
    struct arena *arena;
    const struct managed_request *req;
    struct value live; /* without its managedFields */
    const struct value *applied;
    struct managed_entries m;
    struct managed_entry *self;
};

/* ---- conflicts ---- */

static void write_manager(struct buf *out, const struct managed_entry *e)
{
    quote_go(out, e->manager);
    if (e->subresource.n) {
        buf_str_add(out, STR(" with subresource "));
        quote_go(out, e->subresource);
    }
    if (!e->is_apply)
        buf_printf(out, " using " STR_FMT, STR_ARG(e->api_version));
}

struct conflicts {
    struct arena *arena;
    const struct managed_entry *entry;
    struct buf *list; /* of paths, one per line */
    struct err *err;
};

static void add_conflict(void *arg, const struct fieldset_step *path, size_t n)
{
    struct conflicts *c = arg;
    autobuf field = { 0 }, msg = { 0 };
    for (size_t i = 0; i < n; i++)
        fieldset_step_write(&field, &path[i]);
    buf_str_add(&msg, STR("conflict with "));
    write_manager(&msg, c->entry);
    buf_printf(c->list, "\n- " STR_FMT, STR_ARG(buf_str(&field)));
    err_add_cause(c->err, STR("FieldManagerConflict"), arena_str(c->arena, buf_str(&field)),
                  arena_str(c->arena, buf_str(&msg)));
}

/* `sets[i]` is what the i-th manager would lose. */
static int refuse(const struct managed_entries *m, const struct fieldset *const *sets,
                  struct err *err)
{
    autobuf list = { 0 };
    size_t n = 0;
    if (!err)
        return -ERR_CONFLICT;
    (void)err_set(err, ERR_CONFLICT, "Apply failed");
    for (size_t i = 0; i < m->n; i++) {
        struct conflicts c = { m->arena, &m->all[i], &list, err };
        if (!sets[i])
            continue;
        buf_str_add(&list, list.n ? STR("\nconflicts with ") : STR("conflicts with "));
        write_manager(&list, &m->all[i]);
        buf_byte(&list, ':');
        fieldset_each(sets[i], add_conflict, &c);
        n += fieldset_count(sets[i]);
    }
    struct str msg = buf_str(&list);
    if (n == 1) {
        const struct err_cause *only = err->causes;
        err->msg = arena_printf(err->arena, "Apply failed with 1 conflict: " STR_FMT ": " STR_FMT,
                                STR_ARG(only->msg), STR_ARG(only->field));
    } else {
        err->msg =
            arena_printf(err->arena, "Apply failed with %zu conflicts: " STR_FMT, n, STR_ARG(msg));
    }
    return -ERR_CONFLICT;
}

/* kubectl may take over what it has applied before on the client's side. */
static int check_conflicts(const struct apply *ap, const struct ownership_changes *changes,
                           struct err *err)
{
    const struct managed_entries *m = &ap->m;
    struct arena *a = ap->arena;
    const struct fieldset *changed = fieldset_union(a, changes->modified, changes->added);
    const struct fieldset **sets = arena_array(a, const struct fieldset *, m->n);
    const struct fieldset *allowed = NULL;
    bool any = false;
    for (size_t i = 0; i < m->n; i++) {
        if (&m->all[i] != ap->self)
            sets[i] = fieldset_intersection(a, m->all[i].fields, changed);
        any = any || sets[i];
    }
    if (!any)
        return 0;
    if (str_eq(ap->self->manager, STR("kubectl")))
        allowed = last_applied_paths(a, ap->req, &ap->live);
    any = false;
    for (size_t i = 0; i < m->n; i++) {
        sets[i] = fieldset_difference(a, sets[i], allowed);
        any = any || sets[i];
    }
    return any ? refuse(m, sets, err) : 0;
}

/* ---- pruning ---- */

static int paths_of(const struct apply *ap, const struct value *obj, const struct fieldset **ret,
                    struct err *err)
{
    const struct managed_request *req = ap->req;
    int r = ownership_paths(ap->arena, req->schema, req->place, obj, ret, err);
    if (r == 0)
        *ret = ownership_named(ap->arena, req->schema, req->place, *ret);
    return r;
}

static struct value without(const struct apply *ap, const struct value *obj,
                            const struct fieldset *paths)
{
    return ownership_remove(ap->arena, ap->req->schema, ap->req->place, obj, paths);
}

/* Takes away what the manager applied last time and nobody owns now. First everything it had, then
 * back comes what somebody owns, and what went only because it lay in something that went. */
static int prune(const struct apply *ap, const struct fieldset *last, struct value *obj,
                 struct err *err)
{
    struct arena *a = ap->arena;
    const struct fieldset *merged = NULL, *kept = NULL, *owned = NULL;
    if (!fieldset_difference(a, last, ap->self->fields))
        return 0;
    for (size_t i = 0; i < ap->m.n; i++)
        owned = fieldset_union(a, owned, ap->m.all[i].fields);
    owned = ownership_named(a, ap->req->schema, ap->req->place, owned);
    last = ownership_named(a, ap->req->schema, ap->req->place, last);
    struct value rest = without(ap, obj, last);
    int r = paths_of(ap, obj, &merged, err);
    if (r == 0)
        r = paths_of(ap, &rest, &kept, err);
    if (r < 0)
        return r;
    rest = without(ap, obj, fieldset_difference(a, merged, fieldset_union(a, kept, owned)));
    r = paths_of(ap, &rest, &kept, err);
    if (r == 0)
        *obj =
            without(ap, obj, fieldset_intersection(a, fieldset_difference(a, merged, kept), last));
    return r;
}

/* ---- apply ---- */

static int compare_entries(const void *pa, const void *pb)
{
    return managed__cmp(pa, pb);
}

/* Reads the managers; what the live object had before anybody was tracked gets one as well. */
static int read_managers(struct apply *ap, const struct value *live, struct err *err)
{
    struct managed_entries *m = &ap->m;
    int r = managed__read(m, value_dig(live, "metadata", "managedFields"), err);
    if (r < 0)
        return err_wrap(err, "failed to decode managed fields");
    managed__drop_unknown(m, ap->req);
    if (!m->n && live) {
        struct ownership_changes changes;
        r = managed__changes(ap->arena, ap->req, ap->req->empty, &ap->live, &changes, err);
        if (r < 0)
            return err_wrap(err, "failed to create manager for existing fields");
        managed__gain(m, ap->req, STR("before-first-apply"), &changes);
    }
    struct managed_entry who = {
        .manager = ap->req->manager.n ? ap->req->manager : STR("unknown"),
        .subresource = ap->req->subresource,
        .is_apply = true,
    };
    if (!managed__find(m, &who))
        (void)managed__add(m, who);
    qsort(m->all, m->n, sizeof(*m->all), compare_entries);
    ap->self = managed__find(m, &who);
    return 0;
}

static int merge_and_prune(struct apply *ap, struct value *ret, struct err *err)
{
    const struct managed_request *req = ap->req;
    const struct fieldset *last = ap->self->fields, *now;
    int r = ownership_paths(ap->arena, req->schema, req->place, ap->applied, &now, err);
    if (r < 0)
        return err_wrap(err, "failed to get field set");
    r = ownership_merge(ap->arena, req->schema, req->place, &ap->live, ap->applied, ret, err);
    if (r < 0)
        return err_wrap(err, "failed to merge config");
    ap->self->fields = fieldset_without(ap->arena, now, req->reset);
    ap->self->api_version = req->api_version;
    r = prune(ap, last, ret, err);
    if (ret->type != VALUE_OBJECT)
        *ret = value_object(); /* everything is gone */
    return r < 0 ? err_wrap(err, "failed to prune fields") : 0;
}

int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *applied, bool force, struct value *ret, struct err *err)
{
    struct apply ap = { .arena = a, .req = req, .applied = applied, .m = { .arena = a } };
    struct ownership_changes changes;
    struct value obj;
    const struct value *brought = value_dig(applied, "metadata", "managedFields");
    if (brought && brought->type != VALUE_NULL)
        return err_set(err, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
    ap.live = managed__bare(a, live ? live : req->empty);
    int r = read_managers(&ap, live, err);
    if (r == 0)
        r = merge_and_prune(&ap, &obj, err);
    if (r == 0)
        r = managed__changes(a, req, &ap.live, &obj, &changes, err);
    if (r == 0 && !force)
        r = check_conflicts(&ap, &changes, err);
    if (r < 0)
        return r;
    managed__lose(&ap.m, ap.self, &changes);
    ap.self->fields = managed__strip(a, ap.self->fields);
    if (!value_eq(&ap.live, &obj))
        ap.self->time = req->now;
    bool is_kubectl = str_eq(ap.self->manager, STR("kubectl"));
    managed__drop_empty(&ap.m);
    if (is_kubectl)
        last_applied_write(a, applied, &obj);
    managed__write(&ap.m, &obj);
    *ret = obj;
    return 0;
}

int managed_check(struct arena *a, const struct managed_request *req, const struct value *applied,
                  struct err *err)
{
    if (ownership_check(a, req->schema, req->place, applied, err) == 0)
        return 0;
    struct str api_version = value_str(value_get(applied, STR("apiVersion")));
    return err_wrap(err,
                    "failed to create typed patch object (" STR_FMT "/" STR_FMT "; %s" STR_FMT
                    ", Kind=" STR_FMT ")",
                    STR_ARG(value_str(value_dig(applied, "metadata", "namespace"))),
                    STR_ARG(value_str(value_dig(applied, "metadata", "name"))),
                    str_find(api_version, '/') < 0 ? "/" : "", STR_ARG(api_version),
                    STR_ARG(value_str(value_get(applied, STR("kind")))));
}
