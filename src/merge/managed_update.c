#include "base/idiom.h"
#include "merge/managed_internal.h"

#include "base/banned.h"

const struct fieldset *managed__strip(struct arena *a, const struct fieldset *s)
{
    static const struct str of_object[] = { STR("apiVersion"), STR("kind") };
    static const struct str of_metadata[] = {
        STR("name"),       STR("namespace"),     STR("creationTimestamp"),
        STR("selfLink"),   STR("uid"),           STR("clusterName"),
        STR("generation"), STR("managedFields"), STR("resourceVersion"),
    };
    struct fieldset_builder top = { .arena = a }, meta = { .arena = a };
    for (size_t i = 0; i < ARRAY_LEN(of_metadata); i++)
        fieldset_add(&meta, fieldset_name(of_metadata[i]), true, NULL);
    for (size_t i = 0; i < ARRAY_LEN(of_object); i++)
        fieldset_add(&top, fieldset_name(of_object[i]), true, NULL);
    fieldset_add(&top, fieldset_name(STR("metadata")), true, fieldset_build(&meta));
    return fieldset_difference(a, s, fieldset_build(&top));
}

struct value managed__bare(struct arena *a, const struct value *obj)
{
    struct value bare = value_borrow(obj);
    struct value *meta = value_edit(a, &bare, STR("metadata"));
    if (value_is(meta, VALUE_OBJECT))
        value_drop(a, meta, STR("managedFields"));
    return bare;
}

static const struct fieldset *all_of(struct arena *a, const struct ownership_changes *changes)
{
    return fieldset_union(a, fieldset_union(a, changes->modified, changes->added),
                          changes->removed);
}

int managed__lose(struct managed_entries *m, const struct managed_entry *except,
                  struct managed_compare *c, struct err *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct managed_entry *e = &m->all[i];
        struct ownership_changes changes;
        if (e == except)
            continue;
        int r = managed__changes(c, e->api_version, &changes, err);
        if (r < 0 && r != -ERR_NOT_FOUND)
            return r;
        e->fields =
            r < 0 ? NULL : fieldset_difference(m->arena, e->fields, all_of(m->arena, &changes));
    }
    return 0;
}

void managed__gain(struct managed_entries *m, const struct managed_request *req, struct str manager,
                   const struct ownership_changes *changes)
{
    struct managed_entry who = { .manager = manager.n ? manager : STR("unknown"),
                                 .api_version = req->api_version,
                                 .subresource = req->subresource };
    const struct fieldset *gained =
        managed__strip(m->arena, fieldset_union(m->arena, changes->modified, changes->added));
    if (!gained)
        return;
    struct managed_entry *e = managed__find(m, &who);
    if (!e)
        e = managed__add(m, who);
    e->fields = fieldset_union(m->arena, gained, e->fields);
    e->time = req->now;
}

/* An empty list, or one empty entry: the client wants no managers any more. */
static bool is_reset(const struct value *list)
{
    if (!value_is(list, VALUE_ARRAY))
        return false;
    return !list->n || (list->n == 1 && list->items[0].type == VALUE_OBJECT && !list->items[0].n);
}

static void read_either(struct managed_entries *m, const struct managed_request *req,
                        const struct value *live, const struct value *obj)
{
    const struct value *brought = value_dig(obj, "metadata", "managedFields");
    if (!req->subresource.n) {
        if (is_reset(brought))
            return;
        if (managed__read(m, brought, NULL) == 0 && m->n)
            return;
    }
    if (managed__read(m, value_dig(live, "metadata", "managedFields"), NULL) < 0)
        m->n = 0;
}

int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   struct value *obj, struct err *err)
{
    struct managed_entries m = { .arena = a };
    struct ownership_changes changes;
    read_either(&m, req, live, obj);
    struct value before = managed__bare(a, live ? live : req->empty);
    struct value after = managed__bare(a, obj);
    struct managed_compare c = { .arena = a, .req = req, .live = &before, .obj = &after };
    if (m.n || !live) {
        int r = managed__changes(&c, req->api_version, &changes, err);
        if (r < 0)
            return r;
        r = managed__lose(&m, NULL, &c, err);
        if (r < 0)
            return r;
        managed__drop_empty(&m);
        managed__gain(&m, req, req->manager, &changes);
        managed__cap(&m);
    }
    managed__write(&m, obj);
    return 0;
}
