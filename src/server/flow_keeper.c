#include "server/flow_keeper.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/bootstrap_flow.h"
#include "server/bootstrap_object.h"
#include "server/flow/flow.h"
#include "server/flow_dangling.h"
#include "server/object/stored.h"
#include "server/registry/managers.h"
#include "base/banned.h"

#define GROUP STR("flowcontrol.apiserver.k8s.io")

struct flow_keeper {
    struct work work;
    struct api *api;
    _Atomic size_t
        n_changes; /* that nobody has looked at to the end; not 0: a worker will, or does */
};

/* ---- Dangling ---- */

struct look {
    struct api *api;
    struct arena *arena;
    struct call schemas, levels;
};

static int set_status(struct registry_update *u, const struct registry_entry *now,
                      struct value *ret, struct err *err)
{
    struct look *l = u->arg;
    struct registry_entry level;
    struct value status;
    *ret = value_borrow(&now->obj);
    struct str name = value_str(value_dig(&now->obj, "spec", "priorityLevelConfiguration", "name"));
    int r = registry_find(&l->levels, name, &level, err);
    if (r < 0)
        return r;
    if (!flow_dangling_status(&l->schemas, &now->obj, r > 0, &status))
        return 0;
    value_put(l->arena, ret, STR("status"), status);
    managers_update(&l->schemas, managers_own_request(&l->schemas, u->sub), &now->obj, ret);
    return 0;
}

/* One that is deleted meanwhile needs no condition. */
static int look_at(struct look *l, struct str name, struct err *err)
{
    struct registry_update u = {
        .change = set_status, .arg = l, .sub = STR("status"), .tries_again = true
    };
    struct value result;
    int r = registry_update(&l->schemas, name, &u, &result, err);
    if (r != -ERR_NOT_FOUND)
        return r;
    err_clear(err);
    return 0;
}

struct names {
    struct str *items;
    size_t n, cap;
};

static int list_schemas(struct look *l, struct names *ret, struct err *err)
{
    struct str prefix = stored_key(l->arena, l->schemas.stored, STR(""), STR(""));
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(l->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, prefix, STR(""));
    while ((r = store_range_next(snap, &e, err)) > 0) {
        if (ret->n == ret->cap) {
            size_t cap = ret->cap ? 2 * ret->cap : 32;
            ret->items = arena_grow(l->arena, ret->items, ret->cap * sizeof(*ret->items),
                                    cap * sizeof(*ret->items), alignof(struct str));
            ret->cap = cap;
        }
        ret->items[ret->n++] = arena_str(l->arena, str_skip(e.key, prefix.n));
    }
    store_snap_end(snap);
    return r;
}

static int look_at_all(struct look *l, struct err *err)
{
    struct names names = { 0 };
    int r = bootstrap_flow_mandatory(l->api, err);
    if (r < 0)
        return r;
    if (r > 0)
        (void)flow_changed(l->api->flow, l->schemas.stored);
    r = list_schemas(l, &names, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < names.n; i++) {
        r = look_at(l, names.items[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- When ---- */

static void look_once(struct api *api)
{
    struct arena a;
    arena_init(&a);
    struct look l = { .api = api, .arena = &a };
    struct err err = ERR_INIT(&a);
    l.schemas = bootstrap_call(api, &a, GROUP, STR("flowschemas"), STR(""));
    l.levels = bootstrap_call(api, &a, GROUP, STR("prioritylevelconfigurations"), STR(""));
    if (look_at_all(&l, &err) < 0)
        log_warn("objects of priority and fairness could not be kept in order", LOG_ERR(&err));
    arena_done(&a);
}

static void run(struct work *w)
{
    struct flow_keeper *k = container_of(w, struct flow_keeper, work);
    size_t n;
    do {
        n = atomic_load(&k->n_changes);
        look_once(k->api);
    } while (atomic_fetch_sub(&k->n_changes, n) != n);
}

void flow_keeper_look(struct api *api)
{
    struct flow_keeper *k = api->flow_keeper;
    if (!k || atomic_fetch_add(&k->n_changes, 1) > 0)
        return;
    if (!workers_submit(api->workers, &k->work))
        atomic_store(&k->n_changes, 0); /* the next change will have another try */
}

struct flow_keeper *flow_keeper_new(struct api *api)
{
    struct flow_keeper *k = mem_new(struct flow_keeper);
    k->api = api;
    k->work.run = run;
    return k;
}

struct flow_keeper *flow_keeper_free(struct flow_keeper *k)
{
    free(k);
    return NULL;
}
