/* Server-side apply: merge, prune, conflicts. */
#include "merge/managed_internal.h"

#include <stdlib.h>

#include "api/go/quote.h"
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
static int check_conflicts(const struct apply *ap, struct managed_compare *c, struct err *err)
{
    const struct managed_entries *m = &ap->m;
    struct arena *a = ap->arena;
    const struct fieldset **sets = arena_array(a, const struct fieldset *, m->n);
    const struct fieldset *allowed = NULL;
    bool any = false;
    for (size_t i = 0; i < m->n; i++) {
        struct ownership_changes changes;
        if (&m->all[i] == ap->self)
            continue;
        int r = managed__changes(c, m->all[i].api_version, &changes, err);
        if (r < 0)
            return r;
        sets[i] = fieldset_intersection(a, m->all[i].fields,
                                        fieldset_union(a, changes.modified, changes.added));
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

static const struct fieldset *named(const struct apply *ap, const struct managed_object *obj,
                                    const struct fieldset *s)
{
    return ownership_named(ap->arena, ap->req->schema, obj->place, s);
}

static int paths_of(const struct apply *ap, const struct managed_object *obj,
                    const struct fieldset **ret, struct err *err)
{
    int r = ownership_paths(ap->arena, ap->req->schema, obj->place, &obj->v, ret, err);
    if (r < 0)
        return r;
    *ret = named(ap, obj, *ret);
    return 0;
}

static void take_away(const struct apply *ap, struct managed_object *obj,
                      const struct fieldset *paths)
{
    obj->v = ownership_remove(ap->arena, ap->req->schema, obj->place, &obj->v, paths);
    if (obj->v.type != VALUE_OBJECT)
        obj->v = value_object(); /* everything is gone */
}

static int convert(const struct apply *ap, struct managed_object *obj, struct str api_version,
                   struct err *err)
{
    return managed__to_version(ap->arena, ap->req, obj, api_version, obj, err);
}

/* What managers of one version own comes back; `merged` and `pruned` are of that version then. */
static int bring_back(const struct apply *ap, struct str api_version, struct managed_object *merged,
                      struct managed_object *pruned, struct err *err)
{
    struct arena *a = ap->arena;
    const struct fieldset *had = NULL, *kept = NULL, *owned = NULL;
    int r = convert(ap, merged, api_version, err);
    if (r < 0)
        return r;
    r = convert(ap, pruned, api_version, err);
    if (r < 0)
        return r;
    r = paths_of(ap, merged, &had, err);
    if (r < 0)
        return r;
    r = paths_of(ap, pruned, &kept, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ap->m.n; i++)
        if (!ap->req->versions || str_eq(ap->m.all[i].api_version, api_version))
            owned = fieldset_union(a, owned, ap->m.all[i].fields);
    owned = named(ap, merged, owned);
    *pruned = *merged;
    take_away(ap, pruned, fieldset_difference(a, had, fieldset_union(a, kept, owned)));
    return 0;
}

static bool is_first_of_version(const struct managed_entries *m, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(m->all[j].api_version, m->all[i].api_version))
            return false;
    return true;
}

/* First those of the version that is pruned, since others may need what they own to be converted
 * at all. */
static int bring_back_all(const struct apply *ap, struct str api_version,
                          struct managed_object merged, struct managed_object *pruned,
                          struct err *err)
{
    int r = bring_back(ap, api_version, &merged, pruned, err);
    if (r < 0)
        return r;
    for (size_t i = 0; ap->req->versions && i < ap->m.n; i++) {
        if (str_eq(ap->m.all[i].api_version, api_version) || !is_first_of_version(&ap->m, i))
            continue;
        r = bring_back(ap, ap->m.all[i].api_version, &merged, pruned, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Takes away what the manager applied last time and nobody owns now. First everything it had, then
 * back comes what somebody owns, and what went only because it lay in something that went. All in
 * the version in which it was applied. A map or list that the configuration says is empty is there
 * in the end, and empty; upstream leaves null, which its own schemas refuse. */
static int prune(const struct apply *ap, const struct managed_entry *last, struct value *obj,
                 struct err *err)
{
    struct arena *a = ap->arena;
    const struct managed_request *req = ap->req;
    struct managed_object merged = { *obj, req->api_version, req->place }, pruned;
    const struct fieldset *had = NULL, *kept = NULL;
    bool is_same = !req->versions || str_eq(last->api_version, req->api_version);
    if (!last->fields || (is_same && !fieldset_difference(a, last->fields, ap->self->fields)))
        return 0;
    int r = convert(ap, &merged, is_same ? req->api_version : last->api_version, err);
    if (r < 0)
        return r;
    const struct fieldset *had_applied = named(ap, &merged, last->fields);
    pruned = merged;
    take_away(ap, &pruned, had_applied);
    r = bring_back_all(ap, merged.api_version, merged, &pruned, err);
    if (r < 0)
        return r;
    r = convert(ap, &pruned, merged.api_version, err);
    if (r < 0)
        return r;
    r = paths_of(ap, &pruned, &kept, err);
    if (r < 0)
        return r;
    r = paths_of(ap, &merged, &had, err);
    if (r < 0)
        return r;
    take_away(ap, &merged,
              fieldset_intersection(a, fieldset_difference(a, had, kept), had_applied));
    r = convert(ap, &merged, req->api_version, err);
    if (r < 0)
        return r;
    return ownership_merge(a, req->schema, req->place, &merged.v, ap->applied, obj, err);
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
        struct managed_compare c = {
            .arena = ap->arena, .req = ap->req, .live = ap->req->empty, .obj = &ap->live
        };
        r = managed__changes(&c, ap->req->api_version, &changes, err);
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
    const struct managed_entry last = *ap->self;
    const struct fieldset *now;
    int r = ownership_paths(ap->arena, req->schema, req->place, ap->applied, &now, err);
    if (r < 0)
        return err_wrap(err, "failed to get field set");
    r = ownership_merge(ap->arena, req->schema, req->place, &ap->live, ap->applied, ret, err);
    if (r < 0)
        return err_wrap(err, "failed to merge config");
    ap->self->fields = fieldset_without(ap->arena, now, req->reset);
    ap->self->api_version = req->api_version;
    r = prune(ap, &last, ret, err);
    return r < 0 ? err_wrap(err, "failed to prune fields") : 0;
}

static int refuse_managers(const struct value *applied, struct err *err)
{
    const struct value *brought = value_dig(applied, "metadata", "managedFields");
    if (brought && brought->type != VALUE_NULL)
        return err_set(err, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
    return 0;
}

int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *applied, bool force, struct value *ret, struct err *err)
{
    struct apply ap = { .arena = a, .req = req, .applied = applied, .m = { .arena = a } };
    struct value obj;
    ap.live = managed__bare(a, live ? live : req->empty);
    int r = refuse_managers(applied, err);
    if (r < 0)
        return r;
    r = read_managers(&ap, live, err);
    if (r < 0)
        return r;
    r = merge_and_prune(&ap, &obj, err);
    if (r < 0)
        return r;
    struct managed_compare c = { .arena = a, .req = req, .live = &ap.live, .obj = &obj };
    r = force ? 0 : check_conflicts(&ap, &c, err);
    if (r < 0)
        return r;
    r = managed__lose(&ap.m, ap.self, &c, err);
    if (r < 0)
        return r;
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
    int r = refuse_managers(applied, err);
    if (r < 0)
        return r;
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
