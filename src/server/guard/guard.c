#include "server/guard/guard.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/core/retire.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct guard {
    struct store *store;
    enum guard_mode mode;
    pthread_mutex_t lock; /* over writing the index, and over what follows */
    struct rbac *rbac;
    struct retire retire;
};

static void keep_block(void *arg, void *block)
{
    struct guard *g = arg;
    retire_keep(&g->retire, block, free);
}

/* ---- Following the store ---- */

typedef void set_fn(struct rbac *r, struct str ns, struct str name, const struct value *obj);

static const struct {
    struct str plural;
    set_fn *set;
} followed[] = {
    { STR("clusterroles"), rbac_set_role },
    { STR("roles"), rbac_set_role },
    { STR("clusterrolebindings"), rbac_set_binding },
    { STR("rolebindings"), rbac_set_binding },
};

static const struct str rbac_group = STR("rbac.authorization.k8s.io");

static set_fn *setter_of(const struct kind_resource *stored)
{
    if (!str_eq(stored->group, rbac_group))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(followed); i++)
        if (str_eq(stored->plural, followed[i].plural))
            return followed[i].set;
    return NULL;
}

static int load_kind(struct guard *g, const struct kind_resource *stored, set_fn *set,
                     struct err *err)
{
    struct arena a;
    struct store_snap *snap;
    struct store_entry e;
    struct value obj;
    int r = store_snap_begin(g->store, 0, &snap, err);
    if (r < 0)
        return r;
    arena_init(&a);
    store_range_begin(snap, stored_key(&a, stored, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) > 0) {
        struct str ns, name;
        r = stored_read(&a, stored->type, &e, &obj, err);
        if (r < 0)
            break;
        stored_key_parts(stored, e.key, &ns, &name);
        set(g->rbac, ns, name, &obj);
    }
    store_snap_end(snap);
    arena_done(&a);
    return r;
}

int guard_load(struct guard *g, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(followed); i++) {
        const struct kind_resource *stored = kind_stored_named(rbac_group, followed[i].plural);
        int r = load_kind(g, stored, followed[i].set, err);
        if (r < 0)
            return err_wrap(err, "read " STR_FMT, STR_ARG(followed[i].plural));
    }
    return 0;
}

/* The object as it stands now: 1, or 0 if there is none. */
static int read_now(struct guard *g, struct arena *a, const struct kind_resource *stored,
                    struct str ns, struct str name, struct value *ret, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(g->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, stored, ns, name), &e, err);
    if (r > 0 && stored_read(a, stored->type, &e, ret, err) < 0)
        r = -(int)err->code;
    store_snap_end(snap);
    return r;
}

void guard_changed(struct guard *g, const struct kind_resource *stored, struct str ns,
                   struct str name)
{
    set_fn *set = g ? setter_of(stored) : NULL;
    if (!set)
        return;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value obj;
    pthread_mutex_lock(&g->lock);
    int r = read_now(g, &a, stored, ns, name, &obj, &err);
    if (r < 0) /* what cannot be read gives nothing to anybody */
        log_error("a role or binding could not be read", LOG_STR("name", name), LOG_ERR(&err));
    set(g->rbac, ns, name, r > 0 ? &obj : NULL);
    retire_rest(&g->retire);
    pthread_mutex_unlock(&g->lock);
    arena_done(&a);
}

/* ---- Deciding ---- */

/* Who may do everything, whatever roles say. */
static bool is_master(const struct guard *g, const struct access *q)
{
    return g->mode == GUARD_ALWAYS_ALLOW || user_is_in(q->user, USER_MASTERS);
}

bool guard_allows(const struct guard *g, const struct access *q)
{
    return is_master(g, q) || rbac_allows(g->rbac, q);
}

/* Reasons of authorizers that had no opinion begin with their names. */
static bool explain(const struct guard *g, struct arena *a, const struct access *q,
                    struct str *ret_reason)
{
    *ret_reason = STR("");
    if (is_master(g, q))
        return true;
    bool yes = rbac_explain(g->rbac, a, q, ret_reason);
    if (!yes && ret_reason->n)
        *ret_reason = arena_printf(a, "rbac: " STR_FMT, STR_ARG(*ret_reason));
    return yes;
}

struct str guard_reason(const struct guard *g, struct arena *a, const struct access *q)
{
    struct str reason;
    (void)explain(g, a, q, &reason);
    return reason;
}

bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason)
{
    pthread_mutex_lock(&g->lock);
    bool yes = explain(g, a, q, ret_reason);
    pthread_mutex_unlock(&g->lock);
    return yes;
}

int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg)
{
    pthread_mutex_lock(&g->lock);
    int r = fn(g->mode == GUARD_ALWAYS_ALLOW ? NULL : g->rbac, arg);
    pthread_mutex_unlock(&g->lock);
    return r;
}

/* ---- Beginning and end ---- */

struct guard *guard_new(struct store *store, enum guard_mode mode)
{
    struct guard *g = mem_new(struct guard);
    g->store = store;
    g->mode = mode;
    pthread_mutex_init(&g->lock, NULL);
    g->rbac = rbac_new(&(struct rbac_retire){ keep_block, g });
    return g;
}

void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops)
{
    retire_serve(&g->retire, loops, n_loops);
}

struct guard *guard_free(struct guard *g)
{
    if (!g)
        return NULL;
    rbac_free(g->rbac);
    retire_done(&g->retire);
    pthread_mutex_destroy(&g->lock);
    free(g);
    return NULL;
}
