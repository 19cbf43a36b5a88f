#include "server/core/uninitialized.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

/* Followed by the resource's own prefix. */
#define MARKS STR("/sampan/uninitialized")

struct uninitialized {
    pthread_rwlock_t lock;
    struct map kept, written; /* prefixes: those with marks; those that will have one soon */
    struct arena arena;
    atomic_size_t n;
};

static void add(struct uninitialized *u, struct map *to, struct str prefix)
{
    pthread_rwlock_wrlock(&u->lock);
    if (!map_get(to, prefix)) {
        (void)map_set(to, arena_str(&u->arena, prefix), u);
        atomic_fetch_add(&u->n, 1);
    }
    pthread_rwlock_unlock(&u->lock);
}

static bool has(struct uninitialized *u, const struct map *in, struct str prefix)
{
    pthread_rwlock_rdlock(&u->lock);
    bool ret = map_get(in, prefix);
    pthread_rwlock_unlock(&u->lock);
    return ret;
}

static int load(struct uninitialized *u, struct store *store, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, MARKS, STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1)
        add(u, &u->kept, str_skip(e.key, MARKS.n));
    store_snap_end(snap);
    return r;
}

int uninitialized_new(struct store *store, struct uninitialized **ret, struct err *err)
{
    struct uninitialized *u = mem_new(struct uninitialized);
    pthread_rwlock_init(&u->lock, NULL);
    arena_init(&u->arena);
    int r = load(u, store, err);
    *ret = r < 0 ? uninitialized_free(u) : u;
    return r;
}

struct uninitialized *uninitialized_free(struct uninitialized *u)
{
    if (!u)
        return NULL;
    map_done(&u->kept);
    map_done(&u->written);
    arena_done(&u->arena);
    pthread_rwlock_destroy(&u->lock);
    free(u);
    return NULL;
}

bool uninitialized_has(struct uninitialized *u, const struct kind_resource *stored)
{
    return u && atomic_load(&u->n) &&
           (has(u, &u->kept, stored->etcd_prefix) || has(u, &u->written, stored->etcd_prefix));
}

bool uninitialized_add(struct uninitialized *u, struct arena *a, const struct kind_resource *stored,
                       struct store_op *ret)
{
    if (has(u, &u->kept, stored->etcd_prefix))
        return false;
    add(u, &u->written, stored->etcd_prefix);
    *ret = (struct store_op){
        .type = STORE_PUT,
        .key = arena_printf(a, STR_FMT STR_FMT, STR_ARG(MARKS), STR_ARG(stored->etcd_prefix)),
        .value = STR("{}"),
        .expect_rev = STORE_ANY,
    };
    return true;
}

void uninitialized_kept(struct uninitialized *u, const struct kind_resource *stored)
{
    add(u, &u->kept, stored->etcd_prefix);
}

void uninitialized_saw(struct uninitialized *u, struct str key)
{
    if (u && str_starts(key, MARKS))
        add(u, &u->kept, str_skip(key, MARKS.n));
}

size_t uninitialized_list(struct uninitialized *u, struct arena *a, struct str **ret)
{
    size_t pos = 0, n = 0;
    struct str prefix;
    void *ignored;
    pthread_rwlock_rdlock(&u->lock);
    struct str *all = arena_array(a, struct str, u->kept.n);
    while (map_next(&u->kept, &pos, &prefix, &ignored))
        all[n++] = arena_str(a, prefix);
    pthread_rwlock_unlock(&u->lock);
    *ret = all;
    return n;
}
