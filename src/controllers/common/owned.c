#include "controllers/common/owned.h"

#include <stdlib.h>

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

#define OWNED_INDEX "controllers.owner"

/* A uid has no slash, so that namespaces of orphans are told apart from uids. */
static struct spn_text orphans_of(struct spn_arena *a, struct spn_text ns)
{
    return spn_arena_printf(a, "/" SPN_FMT, SPN_ARG(ns));
}

static void index_owner(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_index_values *out)
{
    (void)arg;
    struct spn_owner owner;
    if (spn_object_controller(o, a, &owner))
        spn_index_put(out, owner.uid);
    else
        spn_index_put(out, orphans_of(a, spn_object_namespace(o)));
}

void owned_index(struct spn_cache *cache)
{
    (void)spn_cache_add_index(cache, OWNED_INDEX, index_owner, NULL, NULL);
}

static int by_key(const void *a, const void *b)
{
    struct spn_object *const *x = a, *const *y = b;
    return str_cmp(str_in(spn_object_key(*x)), str_in(spn_object_key(*y)));
}

static void take_part(struct owned *o, struct spn_arena *a, struct spn_objects *part)
{
    if (part->n)
        qsort(part->items, part->n, sizeof(*part->items), by_key);
    for (size_t i = 0; i < part->n; i++)
        o->items[o->n++] = spn_object_value(part->items[i], a);
}

struct owned owned_list(struct spn_cache *cache, struct spn_arena *a, struct spn_text uid,
                        struct spn_text ns)
{
    struct owned o = { 0 };
    (void)spn_cache_by_index(cache, OWNED_INDEX, uid, &o.parts[0], NULL);
    if (ns.n)
        (void)spn_cache_by_index(cache, OWNED_INDEX, orphans_of(a, ns), &o.parts[1], NULL);
    o.items = spn_arena_alloc(a, (o.parts[0].n + o.parts[1].n + 1) * sizeof(struct spn_value *));
    take_part(&o, a, &o.parts[0]);
    take_part(&o, a, &o.parts[1]);
    return o;
}

void owned_done(struct owned *o)
{
    spn_objects_done(&o->parts[0]);
    spn_objects_done(&o->parts[1]);
}

bool owned_by_kind(const struct spn_object *o, struct spn_arena *a, const char *kind,
                   struct spn_text group, struct spn_owner *ret)
{
    if (!spn_object_controller(o, a, ret) || !spn_text_eq(ret->kind, spn_text_of(kind)))
        return false;
    struct str version = str_in(ret->api_version);
    struct str of = str_find(version, '/') < 0 ? STR("") : str_cut(&version, '/');
    return str_eq(of, str_in(group));
}

bool owned_changed(const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *x = spn_object_meta(old_o, a), *y = spn_object_meta(new_o, a);
    bool is_changed =
        !spn_value_eq(spn_value_get(x, "labels"), spn_value_get(y, "labels")) ||
        !spn_value_eq(spn_value_get(x, "ownerReferences"), spn_value_get(y, "ownerReferences"));
    spn_arena_free(a);
    return is_changed;
}
