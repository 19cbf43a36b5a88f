/* Objects of kinds that somebody has named in a configuration: params of policies. What is named is
 * a kind in one of its versions, built in or custom. */
#include <stdlib.h>

#include "api/convert/convert.h"
#include "select/labels.h"
#include "server/custom/custom.h"
#include "server/http/corrupt.h"
#include "server/object/stored.h"
#include "server/registry/registry_internal.h"
#include "base/banned.h"

/* ---- Kinds ---- */

static const struct kind_resource *find_built_in(const struct call *c, struct str group,
                                                 struct str version, struct str kind)
{
    const struct kind_version *v = kind_version_find(group, version);
    for (size_t i = 0; kind_version_is(v, c->api->versions) && i < v->n_resources; i++)
        if ((v->resources[i].verbs & KIND_GET) && str_eq(v->resources[i].type->name, kind))
            return &v->resources[i];
    return NULL;
}

static struct registry_kind find_custom(const struct call *c, struct str group, struct str version,
                                        struct str kind)
{
    struct registry_kind ret = { 0 };
    size_t n = 0;
    struct custom **all = c->api->custom ? custom_list(c->api->custom, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct custom_version *v =
            !ret.custom && str_eq(all[i]->group, group) && str_eq(all[i]->kind, kind)
                ? custom_served(all[i], version)
                : NULL;
        if (v)
            ret = (struct registry_kind){ &v->resource, all[i] };
        else
            custom_unref(all[i]);
    }
    free(all);
    return ret;
}

struct registry_kind registry__kind_named(const struct call *c, struct str api_version,
                                          struct str kind)
{
    struct str group = STR(""), version = api_version;
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_resource *r = find_built_in(c, group, version, kind);
    if (r)
        return (struct registry_kind){ .resource = r };
    return find_custom(c, group, version, kind);
}

struct registry_kind registry__resource_named(const struct call *c, struct str group,
                                              struct str version, struct str plural)
{
    const struct kind_version *v = kind_version_find(group, version);
    const struct kind_resource *r =
        kind_version_is(v, c->api->versions) ? kind_resource_find(v, plural) : NULL;
    if (r || !c->api->custom)
        return (struct registry_kind){ .resource = r };
    struct custom *custom = custom_find(c->api->custom, group, plural);
    const struct custom_version *served = custom ? custom_served(custom, version) : NULL;
    if (served)
        return (struct registry_kind){ &served->resource, custom };
    custom_unref(custom);
    return (struct registry_kind){ 0 };
}

int registry__find_kind(void *arg, struct str api_version, struct str kind, bool *ret_namespaced)
{
    struct registry_kind f = registry__kind_named(arg, api_version, kind);
    int r = f.resource != NULL;
    if (r)
        *ret_namespaced = f.resource->namespaced;
    custom_unref(f.custom);
    return r;
}

/* ---- Objects ---- */

/* Entries that outlive their snapshot: what follows may wait for a webhook. */
struct entries {
    struct store_entry *at;
    size_t n, cap;
};

static void keep(struct arena *a, struct entries *all, const struct store_entry *e)
{
    if (all->n == all->cap) {
        size_t cap = 2 * all->cap + 8;
        all->at = arena_grow(a, all->at, all->cap * sizeof(*e), cap * sizeof(*e),
                             alignof(struct store_entry));
        all->cap = cap;
    }
    all->at[all->n] = *e;
    all->at[all->n].key = arena_str(a, e->key);
    all->at[all->n++].value = arena_str(a, e->value);
}

/* Whether the bytes have all keys in them that the labels must have: most objects are out by that,
 * and need not be parsed. */
static bool may_match(const struct labels_selector *labels, struct str bytes)
{
    for (size_t i = 0; i < labels->n; i++) {
        const struct labels_req *r = &labels->reqs[i];
        bool is_absent_fine =
            r->op == LABELS_NOT_IN || r->op == LABELS_NOT_EQUALS || r->op == LABELS_NOT_EXISTS;
        if (!is_absent_fine && !memmem(bytes.p, bytes.n, r->key.p, r->key.n))
            return false;
    }
    return !labels->nothing;
}

static int is_wanted(struct arena *a, const struct admission_wanted *wanted,
                     const struct store_entry *e, struct err *err)
{
    struct value meta;
    if (stored_is_uninitialized(e))
        return 0;
    if (!wanted->labels || labels_empty(wanted->labels))
        return 1;
    if (!may_match(wanted->labels, e->value))
        return 0;
    int r = stored_read_meta(a, e, &meta, err);
    return r < 0 ? r : labels_match_value(wanted->labels, value_dig(&meta, "metadata", "labels"));
}

static int collect_range(struct call *c, struct store_snap *snap, struct str prefix,
                         const struct admission_wanted *wanted, struct entries *all,
                         struct err *err)
{
    struct store_entry e;
    int r;
    store_range_begin(snap, prefix, STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        r = is_wanted(c->arena, wanted, &e, err);
        if (r < 0)
            break;
        if (r)
            keep(c->arena, all, &e);
        if (arena_spent(c->arena))
            return allowance_error(c->arena->allowance, err);
    }
    return r;
}

static int collect_one(struct call *c, struct store_snap *snap, struct str key,
                       const struct admission_wanted *wanted, struct entries *all, struct err *err)
{
    struct store_entry e;
    int r = corrupt_object(c->api->store, key, 0, store_snap_get(snap, key, &e, err), err);
    if (r <= 0)
        return r;
    r = is_wanted(c->arena, wanted, &e, err);
    if (r == 1)
        keep(c->arena, all, &e);
    return r;
}

static int collect(struct call *c, const struct kind_resource *stored,
                   const struct admission_wanted *wanted, struct entries *all, struct err *err)
{
    struct str key = stored_key(c->arena, stored, wanted->ns, wanted->name);
    struct store_snap *snap;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = wanted->name.n ? collect_one(c, snap, key, wanted, all, err)
                       : collect_range(c, snap, key, wanted, all, err);
    store_snap_end(snap);
    return r < 0 ? r : 0;
}

static int show(struct call *c, const struct kind_resource *stored, const struct kind_type *type,
                const struct store_entry *e, struct value *ret, struct err *err)
{
    struct value obj;
    if (type->custom)
        return stored_read(c->arena, type, e, ret, err);
    int r = stored_read(c->arena, stored->type, e, &obj, err);
    if (r < 0)
        return r;
    r = convert_object(c->arena, stored->type, type, &obj, ret, err);
    if (r < 0)
        return r;
    value_put(c->arena, ret, STR("kind"), value_string(type->name));
    value_put(c->arena, ret, STR("apiVersion"), value_string(convert_api_version(c->arena, type)));
    return 0;
}

static int each(struct call *c, const struct kind_resource *resource,
                const struct admission_wanted *wanted, admission_take *take, void *to,
                struct err *err)
{
    const struct kind_resource *stored = kind_stored(resource);
    struct entries all = { 0 };
    int r = collect(c, stored, wanted, &all, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < all.n; i++) {
        struct value obj;
        r = show(c, stored, resource->type, &all.at[i], &obj, err);
        if (r < 0)
            return r;
        r = take(to, &obj);
        if (r < 0)
            return r;
    }
    return 0;
}

int registry__each_of_kind(void *arg, const struct admission_wanted *wanted, admission_take *take,
                           void *to, struct err *err)
{
    struct registry_kind f = registry__kind_named(arg, wanted->api_version, wanted->kind);
    int r = f.resource ? each(arg, f.resource, wanted, take, to, err) : 0;
    custom_unref(f.custom);
    return r;
}
