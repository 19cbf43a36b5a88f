/* spn_mapper.c - questions about resources, answered from what the server said last. */
#include <pthread.h>
#include <sampan/mapper.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/calls/discover.h"
#include "base/banned.h"

enum { REFRESH_MS = 5000 };

struct spn_mapper {
    struct spn_client *client;
    int64_t refresh_ns;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t is_told;
    struct mapping *mapping; /* NULL: the server was not asked yet */
    uint64_t generation;     /* of the mapping */
    int64_t told_ns;
    bool is_asking; /* somebody is; others wait for what he learns */
};

struct spn_mapper *spn_mapper_new(struct spn_client *c, const struct spn_mapper_options *opt)
{
    struct spn_mapper *m = mem_new(struct spn_mapper);
    int64_t ms = opt && opt->refresh_ms > 0 ? opt->refresh_ms : (int64_t)REFRESH_MS;
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_cond_init(&m->is_told, NULL);
    m->client = c;
    m->refresh_ns = ms * NS_PER_MS;
    return m;
}

struct spn_mapper *spn_mapper_free(struct spn_mapper *m)
{
    if (!m)
        return NULL;
    mapping_unref(m->mapping);
    (void)pthread_cond_destroy(&m->is_told);
    (void)pthread_mutex_destroy(&m->lock);
    free(m);
    return NULL;
}

void spn_mapper_reset(struct spn_mapper *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->mapping = mapping_unref(m->mapping);
    (void)pthread_mutex_unlock(&m->lock);
}

/* ---- What the server said ---- */

/* Locked. True: the caller is to ask the server, and then to call told(). */
static bool begin_asking(struct spn_mapper *m, uint64_t seen)
{
    while (m->is_asking)
        (void)pthread_cond_wait(&m->is_told, &m->lock);
    int64_t now = clock_mono_ns(&clock_system);
    bool is_old = m->generation == seen && now - m->told_ns >= m->refresh_ns;
    if (m->mapping && !is_old)
        return false;
    m->is_asking = true;
    return true;
}

static void told(struct spn_mapper *m, struct mapping *fresh)
{
    (void)pthread_mutex_lock(&m->lock);
    if (fresh) {
        mapping_unref(m->mapping);
        m->mapping = fresh;
        m->generation++;
    }
    m->is_asking = false;
    m->told_ns = clock_mono_ns(&clock_system);
    (void)pthread_cond_broadcast(&m->is_told);
    (void)pthread_mutex_unlock(&m->lock);
}

/* A mapping that the caller has not seen yet (`seen` is its generation, 0 at first), or the one
 * that he has, if it is too early to ask again. The caller owns the reference. */
static int mapping_now(struct spn_mapper *m, const struct spn_call *how, uint64_t *seen,
                       struct mapping **ret, struct spn_err *err)
{
    for (;;) {
        (void)pthread_mutex_lock(&m->lock);
        bool asks = begin_asking(m, *seen);
        if (!asks) {
            *ret = mapping_ref(m->mapping);
            *seen = m->generation;
        }
        (void)pthread_mutex_unlock(&m->lock);
        if (!asks)
            return 0;
        struct mapping *fresh = NULL;
        int r = discover(m->client, how, &fresh, err);
        told(m, fresh);
        if (r < 0)
            return r;
    }
}

/* ---- Questions ---- */

static int not_found(const struct mapping *m, const struct mapping_query *queries, size_t n,
                     struct str words, struct spn_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (mapping_may_miss(m, &queries[i]))
            return spn_err_set(err, SPN_UNAVAILABLE,
                               "the server cannot say just now whether it has \"" STR_FMT "\"",
                               STR_ARG(words));
    return spn_err_set(err, SPN_NOT_FOUND, "the server has no resource type \"" STR_FMT "\"",
                       STR_ARG(words));
}

/* The first of the queries that finds something. */
static const struct spn_resource *find_first(const struct mapping *m,
                                             const struct mapping_query *queries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct spn_resource *r = mapping_find(m, &queries[i]);
        if (r)
            return r;
    }
    return NULL;
}

static int find(struct spn_mapper *m, const struct mapping_query *queries, size_t n,
                struct str words, const struct spn_call *how, struct arena *a,
                struct spn_resource *ret, struct spn_err *err)
{
    uint64_t seen = 0;
    for (bool is_second = false;; is_second = true) {
        struct mapping *now;
        int r = mapping_now(m, how, &seen, &now, err);
        if (r < 0)
            return r;
        const struct spn_resource *found = find_first(now, queries, n);
        if (found)
            *ret = mapping_copy(found, a);
        else if (is_second) /* the server was asked again, or it is too early for that */
            r = not_found(now, queries, n, words, err);
        mapping_unref(now);
        if (found || r < 0)
            return r;
    }
}

/* "a", "a.GROUP" or "a.VERSION.GROUP"; the last could be a group with a dot as well. */
int spn_mapper_find(struct spn_mapper *m, struct spn_text words, const struct spn_call *how,
                    struct spn_arena *a, struct spn_resource *ret, struct spn_err *err)
{
    struct str rest = str_in(words);
    struct str name = str_cut(&rest, '.');
    struct mapping_query with_group = { .name = name, .group = rest, .has_group = rest.n > 0 };
    struct mapping_query with_version = with_group;
    with_version.version = str_cut(&with_version.group, '.');
    bool may_have_version = str_find(rest, '.') >= 0;
    const struct mapping_query queries[] = { with_version, with_group };
    if (!name.n)
        return spn_err_set(err, SPN_BAD_REQUEST, "no name of a resource");
    return find(m, may_have_version ? queries : &queries[1], may_have_version ? 2 : 1,
                str_in(words), how, arena_in(a), ret, err);
}

int spn_mapper_of_kind(struct spn_mapper *m, struct spn_text api_version, struct spn_text kind,
                       const struct spn_call *how, struct spn_arena *a, struct spn_resource *ret,
                       struct spn_err *err)
{
    struct str version = str_in(api_version), group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    if (!version.n || !kind.n)
        return spn_err_set(err, SPN_BAD_REQUEST, "an object without apiVersion or kind");
    const struct mapping_query query = {
        .name = str_in(kind), .group = group, .version = version, .has_group = true, .is_kind = true
    };
    struct str words =
        arena_printf(arena_in(a), SPN_FMT ", kind " SPN_FMT, SPN_ARG(api_version), SPN_ARG(kind));
    return find(m, &query, 1, words, how, arena_in(a), ret, err);
}

int spn_mapper_list(struct spn_mapper *m, const char *category, const struct spn_call *how,
                    struct spn_arena *a, struct spn_resources *ret, struct spn_err *err)
{
    uint64_t seen = 0;
    struct mapping *now;
    int r = mapping_now(m, how, &seen, &now, err);
    if (r < 0)
        return r;
    *ret = mapping_list(now, category ? str_of(category) : STR(""), arena_in(a));
    mapping_unref(now);
    return 0;
}

int spn_mapper_missing(struct spn_mapper *m, const struct spn_call *how, struct spn_arena *a,
                       struct spn_texts *ret, struct spn_err *err)
{
    uint64_t seen = 0;
    struct mapping *now;
    int r = mapping_now(m, how, &seen, &now, err);
    if (r < 0)
        return r;
    *ret = mapping_missing(now, arena_in(a));
    mapping_unref(now);
    return 0;
}

struct spn_target spn_resource_target(const struct spn_resource *r, struct spn_text ns,
                                      struct spn_text name)
{
    return (struct spn_target){ .group = r->group,
                                .version = r->version,
                                .plural = r->plural,
                                .ns = r->namespaced ? ns : SPN_TEXT(""),
                                .name = name };
}
