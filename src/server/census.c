#include "server/census.h"

#include <stdlib.h>

#include "base/mem.h"
#include "server/core/chore.h"
#include "server/custom/custom.h"
#include "server/flow/flow.h"
#include "server/object/stored.h"
#include "base/banned.h"

#define EVERY_NS (60 * NS_PER_SEC) /* as upstream */

struct census {
    struct api *api;
    struct chore *chore;
};

/* Each resource has its own snapshot: none is held for long. */
static void count(struct api *api, const struct kind_resource *r)
{
    struct store_snap *snap;
    uint64_t n;
    if (store_snap_begin(api->store, 0, &snap, NULL) < 0)
        return;
    struct arena a;
    arena_init(&a);
    if (store_count(snap, stored_key(&a, kind_stored(r), STR(""), STR("")), STR(""), &n, NULL) == 0)
        flow_set_objects(api->flow, r->group, r->plural, n);
    arena_done(&a);
    store_snap_end(snap);
}

/* Versions share a storage, and sometimes groups do. */
static bool is_another(const struct kind_resource *r)
{
    const struct kind_resource *stored = kind_stored(r);
    return r->etcd_prefix.n && (stored == r || !str_eq(stored->group, r->group));
}

static void count_built_in(struct api *api)
{
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            if (is_another(&kind_versions[v].resources[i]))
                count(api, &kind_versions[v].resources[i]);
}

static void count_custom(struct api *api)
{
    size_t n;
    autofree struct custom **all = custom_list(api->custom, &n);
    for (size_t i = 0; i < n; i++) {
        const struct custom_version *v = custom_storage(all[i]);
        if (v)
            count(api, &v->resource);
        custom_unref(all[i]);
    }
}

void census_take(struct api *api)
{
    count_built_in(api);
    count_custom(api);
}

static void on_time(void *arg) /* thread: worker */
{
    const struct census *c = arg;
    census_take(c->api);
}

struct census *census_new(struct api *api, struct loop *loop)
{
    struct census *c = mem_new(struct census);
    c->api = api;
    c->chore = chore_new(loop, api->read_workers, EVERY_NS, on_time, c);
    return c;
}

struct census *census_free(struct census *c)
{
    if (!c)
        return NULL;
    chore_free(c->chore);
    free(c);
    return NULL;
}
