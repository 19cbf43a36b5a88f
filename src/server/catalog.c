#include "server/catalog.h"

#include <stdlib.h>

#include "base/banned.h"

/* ---- Built in ---- */

static void add_built_in(struct arena *a, enum kind_choice choice, struct catalog *c)
{
    for (size_t i = 0; i < n_kind_versions; i++) {
        const struct kind_version *v = &kind_versions[i];
        if (!kind_version_is(v, choice))
            continue;
        const struct kind_resource **list =
            arena_array(a, const struct kind_resource *, v->n_resources);
        for (size_t k = 0; k < v->n_resources; k++)
            list[k] = &v->resources[k];
        c->versions[c->n++] =
            (struct catalog_version){ v->group, v->version, list, v->n_resources, false };
    }
}

/* ---- Custom ---- */

static struct catalog_version *find(struct catalog *c, struct str group, struct str version)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, group) && str_eq(c->versions[i].version, version))
            return &c->versions[i];
    return NULL;
}

/* Whether the group is there, and where its versions end. */
static bool find_end(const struct catalog *c, struct str group, size_t *ret)
{
    bool found = false;
    *ret = c->n;
    for (size_t i = 0; i < c->n; i++) {
        if (!str_eq(c->versions[i].group, group))
            continue;
        found = true;
        *ret = i + 1;
    }
    return found;
}

static void insert(struct catalog *c, size_t at, struct str group, struct str version)
{
    memmove(&c->versions[at + 1], &c->versions[at], (c->n - at) * sizeof(c->versions[0]));
    c->versions[at] =
        (struct catalog_version){ .group = group, .version = version, .custom = true };
    c->n++;
}

/* Before the first version of the same group that is less preferred; behind the built-in ones. */
static size_t place_of(const struct catalog *c, struct str group, struct str version)
{
    size_t end;
    if (!find_end(c, group, &end))
        return c->n;
    size_t at = end;
    while (at > 0 && str_eq(c->versions[at - 1].group, group) && c->versions[at - 1].custom &&
           custom_compare_versions(version, c->versions[at - 1].version) < 0)
        at--;
    return at;
}

static void add_resource(struct arena *a, struct catalog_version *v, const struct kind_resource *r)
{
    v->resources =
        arena_grow(a, v->resources, v->n * sizeof(v->resources[0]),
                   (v->n + 1) * sizeof(v->resources[0]), alignof(const struct kind_resource *));
    v->resources[v->n++] = r;
}

/* In the order of group and plural, so that resources of a version come in theirs. */
static void add_custom(struct arena *a, struct catalog *c, const struct custom *custom)
{
    for (size_t i = 0; i < custom->n_versions; i++) {
        const struct custom_version *v = &custom->versions[i];
        if (!v->served)
            continue;
        struct str version = v->resource.version;
        struct catalog_version *there = find(c, custom->group, version);
        if (!there) {
            insert(c, place_of(c, custom->group, version), custom->group, version);
            there = find(c, custom->group, version);
        }
        add_resource(a, there, &v->resource);
    }
}

void catalog_make(struct arena *a, enum kind_choice choice, struct custom_kinds *kinds,
                  struct catalog *ret)
{
    *ret = (struct catalog){ 0 };
    if (kinds)
        ret->customs = custom_list(kinds, &ret->n_customs);
    size_t room = n_kind_versions;
    for (size_t i = 0; i < ret->n_customs; i++)
        room += ret->customs[i]->n_versions;
    ret->versions = arena_array(a, struct catalog_version, room);
    add_built_in(a, choice, ret);
    for (size_t i = 0; i < ret->n_customs; i++)
        add_custom(a, ret, ret->customs[i]);
}

void catalog_done(struct catalog *c)
{
    for (size_t i = 0; i < c->n_customs; i++)
        custom_unref(c->customs[i]);
    free(c->customs);
}

const struct catalog_version *catalog_find(const struct catalog *c, struct str group,
                                           struct str version)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, group) && str_eq(c->versions[i].version, version))
            return &c->versions[i];
    return NULL;
}

const struct catalog_version *catalog_group(const struct catalog *c, struct str group)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, group))
            return &c->versions[i];
    return NULL;
}
