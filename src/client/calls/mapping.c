#include "client/calls/mapping.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

struct missing {
    struct str group, version;
};

struct mapping {
    _Atomic unsigned refs;
    struct arena arena;
    struct spn_resource *items; /* in the order of preference */
    size_t n, room;
    struct missing *missing;
    size_t n_missing, missing_room;
};

struct mapping *mapping_new(void)
{
    struct mapping *m = mem_new(struct mapping);
    atomic_init(&m->refs, 1);
    arena_init(&m->arena);
    return m;
}

struct mapping *mapping_ref(struct mapping *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

struct mapping *mapping_unref(struct mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    free(m->items);
    free(m->missing);
    arena_done(&m->arena);
    free(m);
    return NULL;
}

struct arena *mapping_arena(struct mapping *m)
{
    return &m->arena;
}

/* ---- Filling ---- */

static struct spn_texts texts_of(struct arena *a, const struct value *list)
{
    size_t n = value_is(list, VALUE_ARRAY) ? list->n : 0;
    struct spn_text *items = arena_array(a, struct spn_text, n);
    for (size_t i = 0; i < n; i++)
        items[i] = text_out(value_str(value_at(list, i)));
    return (struct spn_texts){ items, n };
}

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_array(a, char, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] | 0x20) : s.p[i];
    return (struct str){ p, s.n };
}

static void add(struct mapping *m, struct spn_resource r)
{
    if (!r.plural.n || !r.kind.n)
        return;
    if (!r.singular.n)
        r.singular = text_out(lower(&m->arena, str_in(r.kind)));
    if (m->n == m->room) {
        m->room = m->room ? 2 * m->room : 64;
        m->items = mem_resize(m->items, m->room, sizeof(*m->items));
    }
    m->items[m->n++] = r;
}

void mapping_add_missing(struct mapping *m, struct str group, struct str version)
{
    if (m->n_missing == m->missing_room) {
        m->missing_room = m->missing_room ? 2 * m->missing_room : 8;
        m->missing = mem_resize(m->missing, m->missing_room, sizeof(*m->missing));
    }
    m->missing[m->n_missing++] = (struct missing){ group, version };
}

static struct spn_texts subresource_names(struct arena *a, const struct value *list)
{
    size_t n = value_is(list, VALUE_ARRAY) ? list->n : 0;
    struct spn_text *items = arena_array(a, struct spn_text, n);
    for (size_t i = 0; i < n; i++)
        items[i] = text_out(value_text(value_at(list, i), "subresource"));
    return (struct spn_texts){ items, n };
}

static void add_aggregated_version(struct mapping *m, struct str group, const struct value *v)
{
    struct arena *a = &m->arena;
    struct str version = value_text(v, "version");
    const struct value *resources = value_get(v, STR("resources"));
    if (!version.n)
        return;
    if (str_eq(value_text(v, "freshness"), STR("Stale")))
        mapping_add_missing(m, group, version);
    value_each_item (r, resources)
        add(m, (struct spn_resource){
                   .group = text_out(group),
                   .version = text_out(version),
                   .plural = text_out(value_text(r, "resource")),
                   .singular = text_out(value_text(r, "singularResource")),
                   .kind = text_out(value_str(value_dig(r, "responseKind", "kind"))),
                   .namespaced = str_eq(value_text(r, "scope"), STR("Namespaced")),
                   .verbs = texts_of(a, value_get(r, STR("verbs"))),
                   .short_names = texts_of(a, value_get(r, STR("shortNames"))),
                   .categories = texts_of(a, value_get(r, STR("categories"))),
                   .subresources = subresource_names(a, value_get(r, STR("subresources"))) });
}

void mapping_add_aggregated(struct mapping *m, const struct value *doc)
{
    value_each_item (group, value_get(doc, STR("items")))
        value_each_item (v, value_get(group, STR("versions")))
            add_aggregated_version(m, value_str(value_dig(group, "metadata", "name")), v);
}

/* "deployments/status" is in the list beside "deployments". */
static struct spn_texts subresources_in(struct arena *a, const struct value *list,
                                        struct str plural)
{
    struct spn_text *items = arena_array(a, struct spn_text, list->n);
    size_t n = 0;
    value_each_item (r, list) {
        struct str sub = value_text(r, "name");
        struct str of = str_cut(&sub, '/');
        if (sub.n && str_eq(of, plural))
            items[n++] = text_out(sub);
    }
    return (struct spn_texts){ items, n };
}

void mapping_add_version(struct mapping *m, struct str group, struct str version,
                         const struct value *doc)
{
    struct arena *a = &m->arena;
    const struct value *list = value_get(doc, STR("resources"));
    value_each_item (r, list) {
        struct str plural = value_text(r, "name");
        if (str_find(plural, '/') >= 0)
            continue;
        add(m, (struct spn_resource){ .group = text_out(group),
                                      .version = text_out(version),
                                      .plural = text_out(plural),
                                      .singular = text_out(value_text(r, "singularName")),
                                      .kind = text_out(value_text(r, "kind")),
                                      .namespaced = value_is_true(value_get(r, STR("namespaced"))),
                                      .verbs = texts_of(a, value_get(r, STR("verbs"))),
                                      .short_names = texts_of(a, value_get(r, STR("shortNames"))),
                                      .categories = texts_of(a, value_get(r, STR("categories"))),
                                      .subresources = subresources_in(a, list, plural) });
    }
}

/* ---- Finding ---- */

static bool texts_have(struct spn_texts all, struct str one)
{
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(str_in(all.items[i]), one))
            return true;
    return false;
}

enum by { BY_NAME, BY_SHORT_NAME, BY_KIND };

/* Names count whatever their case, as people type "Pods"; `low` is the name in lower case. */
static bool is_named(const struct spn_resource *r, enum by by, struct str name, struct str low)
{
    switch (by) {
    case BY_NAME:
        return str_eq(str_in(r->plural), low) || str_eq(str_in(r->singular), low);
    case BY_SHORT_NAME:
        return texts_have(r->short_names, low);
    default:
        return str_eq(str_in(r->kind), name);
    }
}

static bool is_in_group(struct str group, const struct mapping_query *q, bool whole)
{
    if (!q->has_group || str_eq(group, q->group))
        return true;
    return !whole && str_starts(group, q->group);
}

static const struct spn_resource *find_by(const struct mapping *m, const struct mapping_query *q,
                                          struct str low, enum by by, bool whole_group)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct spn_resource *r = &m->items[i];
        if ((!q->version.n || str_eq(str_in(r->version), q->version)) &&
            is_in_group(str_in(r->group), q, whole_group) && is_named(r, by, q->name, low))
            return r;
    }
    return NULL;
}

/* In kubectl's order: a name comes before another's short name, a whole group before a part of
 * one. */
static const struct spn_resource *find_words(const struct mapping *m, const struct mapping_query *q,
                                             struct str low)
{
    static const enum by order[] = { BY_NAME, BY_SHORT_NAME, BY_KIND };
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const struct spn_resource *found = find_by(m, q, low, order[i], true);
        if (!found && !q->version.n)
            found = find_by(m, q, low, order[i], false);
        if (found)
            return found;
    }
    return NULL;
}

const struct spn_resource *mapping_find(const struct mapping *m, const struct mapping_query *q)
{
    if (q->is_kind)
        return find_by(m, q, q->name, BY_KIND, true);
    struct arena a;
    arena_init(&a);
    const struct spn_resource *r = find_words(m, q, lower(&a, q->name));
    arena_done(&a);
    return r;
}

bool mapping_may_miss(const struct mapping *m, const struct mapping_query *q)
{
    for (size_t i = 0; i < m->n_missing; i++)
        if (q->has_group && is_in_group(m->missing[i].group, q, q->is_kind) &&
            (!q->version.n || str_eq(m->missing[i].version, q->version)))
            return true;
    return false;
}

/* ---- Telling ---- */

static struct spn_text copy(struct arena *a, struct spn_text t)
{
    return text_out(arena_str(a, str_in(t)));
}

static struct spn_texts copy_texts(struct arena *a, struct spn_texts from)
{
    struct spn_text *items = arena_array(a, struct spn_text, from.n);
    for (size_t i = 0; i < from.n; i++)
        items[i] = copy(a, from.items[i]);
    return (struct spn_texts){ items, from.n };
}

struct spn_resource mapping_copy(const struct spn_resource *r, struct arena *a)
{
    return (struct spn_resource){ .group = copy(a, r->group),
                                  .version = copy(a, r->version),
                                  .plural = copy(a, r->plural),
                                  .kind = copy(a, r->kind),
                                  .singular = copy(a, r->singular),
                                  .namespaced = r->namespaced,
                                  .verbs = copy_texts(a, r->verbs),
                                  .short_names = copy_texts(a, r->short_names),
                                  .categories = copy_texts(a, r->categories),
                                  .subresources = copy_texts(a, r->subresources) };
}

/* Versions of one group stand together, so only these are looked at. */
static bool is_preferred(const struct mapping *m, size_t i)
{
    const struct spn_resource *r = &m->items[i];
    while (i-- > 0 && spn_text_eq(m->items[i].group, r->group))
        if (spn_text_eq(m->items[i].plural, r->plural))
            return false;
    return true;
}

struct spn_resources mapping_list(const struct mapping *m, struct str category, struct arena *a)
{
    struct spn_resource *items = arena_array(a, struct spn_resource, m->n);
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if ((!category.n || texts_have(m->items[i].categories, category)) && is_preferred(m, i))
            items[n++] = mapping_copy(&m->items[i], a);
    return (struct spn_resources){ items, n };
}

struct spn_texts mapping_missing(const struct mapping *m, struct arena *a)
{
    struct spn_text *items = arena_array(a, struct spn_text, m->n_missing);
    for (size_t i = 0; i < m->n_missing; i++)
        items[i] = text_out(m->missing[i].group.n
                                ? arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(m->missing[i].group),
                                               STR_ARG(m->missing[i].version))
                                : arena_str(a, m->missing[i].version));
    return (struct spn_texts){ items, m->n_missing };
}
