#include "server/discovery/catalog.h"

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

/* Where the versions of a group are looked for. Custom groups come one after the other, each behind
 * all that are there; only a group that is built in stands among the others. Looking everywhere for
 * each would take the longer the more there are, squared. */
struct place {
    struct catalog *c;
    size_t front; /* entries before the first group that is custom alone */
    struct str group;
    size_t from, end; /* entries that may be of the group */
};

static bool is_built_in(const struct place *p, struct str group)
{
    for (size_t i = 0; i < p->front; i++)
        if (str_eq(p->c->versions[i].group, group))
            return true;
    return false;
}

static void go_to(struct place *p, struct str group)
{
    if (p->group.p && str_eq(p->group, group))
        return;
    bool built_in = is_built_in(p, group);
    p->group = group;
    p->from = built_in ? 0 : p->c->n;
    p->end = built_in ? p->front : p->c->n;
}

static struct catalog_version *find(const struct place *p, struct str version)
{
    for (size_t i = p->from; i < p->end; i++)
        if (str_eq(p->c->versions[i].group, p->group) && str_eq(p->c->versions[i].version, version))
            return &p->c->versions[i];
    return NULL;
}

/* Where the versions of the group end; at the end if there is none. */
static size_t find_end(const struct place *p)
{
    size_t end = p->end;
    while (end > p->from && !str_eq(p->c->versions[end - 1].group, p->group))
        end--;
    return end > p->from ? end : p->end;
}

static struct catalog_version *insert(struct place *p, size_t at, struct str version)
{
    struct catalog *c = p->c;
    memmove(&c->versions[at + 1], &c->versions[at], (c->n - at) * sizeof(c->versions[0]));
    c->versions[at] =
        (struct catalog_version){ .group = p->group, .version = version, .custom = true };
    c->n++;
    p->end++;
    p->front += p->from == 0;
    return &c->versions[at];
}

/* Before the first version of the same group that is less preferred; behind the built-in ones. */
static size_t place_of(const struct place *p, struct str version)
{
    size_t at = find_end(p);
    const struct catalog_version *v = p->c->versions;
    while (at > p->from && str_eq(v[at - 1].group, p->group) && v[at - 1].custom &&
           custom_compare_versions(version, v[at - 1].version) < 0)
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
static void add_custom(struct arena *a, struct place *p, const struct custom *custom)
{
    go_to(p, custom->group);
    for (size_t i = 0; i < custom->n_versions; i++) {
        const struct custom_version *v = &custom->versions[i];
        if (!v->served)
            continue;
        struct str version = v->resource.version;
        struct catalog_version *there = find(p, version);
        if (!there)
            there = insert(p, place_of(p, version), version);
        add_resource(a, there, &v->resource);
    }
}

/* ---- What APIServices alone name ---- */

/* The group's priority; those that have no APIService come first. */
static int64_t rank_of(const struct catalog *c, struct str group)
{
    for (size_t i = 0; i < c->n_services; i++)
        if (str_eq(c->services[i]->group, group))
            return c->services[i]->group_priority;
    return INT64_MAX;
}

/* Where a new group goes: behind all that are preferred; those of one priority by their name. */
static size_t place_of_group(const struct catalog *c, const struct apiservice *s)
{
    size_t at = 0;
    for (size_t i = 0; i < c->n; i++) {
        int64_t rank = rank_of(c, c->versions[i].group);
        bool is_before = rank != s->group_priority ? rank > s->group_priority
                                                   : str_cmp(c->versions[i].group, s->group) < 0;
        at = is_before ? i + 1 : at;
    }
    return at;
}

static const struct apiservice *service_of(const struct catalog *c, const struct catalog_version *v)
{
    for (size_t i = 0; i < c->n_services; i++)
        if (str_eq(c->services[i]->group, v->group) && str_eq(c->services[i]->version, v->version))
            return c->services[i];
    return NULL;
}

/* Where another version of a group goes that stands from `at` on. */
static size_t place_of_version(const struct catalog *c, size_t at, const struct apiservice *s)
{
    for (; at < c->n && str_eq(c->versions[at].group, s->group); at++) {
        const struct apiservice *other = service_of(c, &c->versions[at]);
        int64_t rank = other ? other->version_priority : 0;
        if (rank < s->version_priority ||
            (rank == s->version_priority &&
             custom_compare_versions(s->version, c->versions[at].version) < 0))
            break;
    }
    return at;
}

static void add_foreign(struct catalog *c, const struct apiservice *s)
{
    const struct catalog_version *group = catalog_group(c, s->group);
    size_t at =
        group ? place_of_version(c, (size_t)(group - c->versions), s) : place_of_group(c, s);
    memmove(&c->versions[at + 1], &c->versions[at], (c->n - at) * sizeof(c->versions[0]));
    c->versions[at] =
        (struct catalog_version){ .group = s->group, .version = s->version, .foreign = s };
    c->n++;
}

/* Most catalogs have none, and what all have is in the order already. */
static bool is_new(const struct catalog *c, const struct apiservice *s)
{
    return s->care == APISERVICE_GIVEN && !catalog_find(c, s->group, s->version);
}

/* ---- All ---- */

void catalog_make(struct arena *a, enum kind_choice choice, struct custom_kinds *kinds,
                  struct apiservices *services, struct catalog *ret)
{
    *ret = (struct catalog){ 0 };
    if (kinds)
        ret->customs = custom_list(kinds, &ret->n_customs);
    if (services)
        ret->services = apiservices_list(services, &ret->n_services);
    size_t room = n_kind_versions + ret->n_services;
    for (size_t i = 0; i < ret->n_customs; i++)
        room += ret->customs[i]->n_versions;
    ret->versions = arena_array(a, struct catalog_version, room);
    add_built_in(a, choice, ret);
    struct place place = { .c = ret, .front = ret->n };
    for (size_t i = 0; i < ret->n_customs; i++)
        add_custom(a, &place, ret->customs[i]);
    for (size_t i = 0; i < ret->n_services; i++)
        if (is_new(ret, ret->services[i]))
            add_foreign(ret, ret->services[i]);
}

void catalog_done(struct catalog *c)
{
    for (size_t i = 0; i < c->n_customs; i++)
        custom_unref(c->customs[i]);
    free(c->customs);
    for (size_t i = 0; i < c->n_services; i++)
        apiservice_unref(c->services[i]);
    free(c->services);
}

const struct catalog_version *catalog_find(const struct catalog *c, struct str group,
                                           struct str version)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, group) && str_eq(c->versions[i].version, version))
            return c->versions[i].foreign ? NULL : &c->versions[i];
    return NULL;
}

const struct catalog_version *catalog_group(const struct catalog *c, struct str group)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->versions[i].group, group))
            return &c->versions[i];
    return NULL;
}
