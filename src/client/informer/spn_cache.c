/* spn_cache.c - a set of objects, and indices whose sets have the same objects. The first index is
 * the one of namespaces. Writers go before readers that come later, so they never starve. */
#include <sampan/cache.h>

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "client/informer/cache_index.h"
#include "base/banned.h"

struct spn_cache {
    pthread_rwlock_t lock; /* of everything below */
    struct keyed objects;
    struct cache_index **indices;
    size_t n_indices;
    size_t object_bytes;
    struct spn_arena *scratch; /* for index functions */
};

static void index_namespace(void *arg, const struct spn_object *o, struct spn_arena *a,
                            struct spn_index_values *out)
{
    (void)arg;
    (void)a;
    struct spn_text ns = spn_object_namespace(o);
    if (ns.n)
        spn_index_put(out, ns);
}

static void init_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;
    (void)pthread_rwlockattr_init(&attr);
    (void)pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(lock, &attr);
    (void)pthread_rwlockattr_destroy(&attr);
}

static struct cache_index *push_index(struct spn_cache *c, const char *name, spn_index_fn *fn,
                                      void *arg)
{
    struct cache_index *ix = cache_index_new(name, fn, arg);
    c->indices = mem_resize(c->indices, c->n_indices + 1, sizeof(struct cache_index *));
    c->indices[c->n_indices++] = ix;
    return ix;
}

struct spn_cache *spn_cache_new(void)
{
    struct spn_cache *c = mem_new(struct spn_cache);
    init_lock(&c->lock);
    c->objects.key_of = cache_object_key;
    c->scratch = spn_arena_new();
    push_index(c, "namespace", index_namespace, NULL);
    return c;
}

struct spn_cache *spn_cache_free(struct spn_cache *c)
{
    if (!c)
        return NULL;
    for (size_t i = 0; i < c->n_indices; i++)
        cache_index_free(c->indices[i]);
    size_t pos = 0;
    for (struct spn_object *o; (o = keyed_next(&c->objects, &pos));)
        spn_object_unref(o);
    keyed_done(&c->objects);
    spn_arena_free(c->scratch);
    (void)pthread_rwlock_destroy(&c->lock);
    free(c->indices);
    free(c);
    return NULL;
}

static void lock_to_read(struct spn_cache *c)
{
    (void)pthread_rwlock_rdlock(&c->lock);
}

static void lock_to_write(struct spn_cache *c)
{
    (void)pthread_rwlock_wrlock(&c->lock);
}

static void unlock(struct spn_cache *c)
{
    (void)pthread_rwlock_unlock(&c->lock);
}

/* ---- Indices ---- */

static struct cache_index *find_index(const struct spn_cache *c, const char *name)
{
    for (size_t i = 0; i < c->n_indices; i++)
        if (strcmp(c->indices[i]->name, name) == 0)
            return c->indices[i];
    return NULL;
}

static void index_one(struct spn_cache *c, struct cache_index *ix, struct spn_object *old_obj,
                      struct spn_object *new_obj)
{
    cache_index_replace(ix, old_obj, new_obj, c->scratch);
    spn_arena_reset(c->scratch);
}

static void index_all(struct spn_cache *c, struct spn_object *old_obj, struct spn_object *new_obj)
{
    for (size_t i = 0; i < c->n_indices; i++)
        index_one(c, c->indices[i], old_obj, new_obj);
}

static int add_index(struct spn_cache *c, const char *name, spn_index_fn *fn, void *arg,
                     struct spn_err *err)
{
    if (find_index(c, name))
        return spn_err_set(err, SPN_EXISTS, "there is an index \"%s\" already", name);
    struct cache_index *ix = push_index(c, name, fn, arg);
    size_t pos = 0;
    for (struct spn_object *o; (o = keyed_next(&c->objects, &pos));)
        index_one(c, ix, NULL, o);
    return 0;
}

int spn_cache_add_index(struct spn_cache *c, const char *name, spn_index_fn *fn, void *arg,
                        struct spn_err *err)
{
    lock_to_write(c);
    int r = add_index(c, name, fn, arg, err);
    unlock(c);
    return r;
}

/* ---- Reading ---- */

struct spn_object *spn_cache_get(struct spn_cache *c, struct spn_text key)
{
    lock_to_read(c);
    struct spn_object *o = keyed_get(&c->objects, str_in(key));
    if (o)
        spn_object_ref(o);
    unlock(c);
    return o;
}

/* References to all of a set, which may be NULL. */
static struct spn_objects refer_to(const struct keyed *set)
{
    struct spn_objects ret = { 0 };
    if (!set || !set->n)
        return ret;
    ret.items = mem_array(set->n, sizeof(struct spn_object *));
    size_t pos = 0;
    for (const struct spn_object *o; (o = keyed_next(set, &pos));)
        ret.items[ret.n++] = spn_object_ref(o);
    return ret;
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(cache_object_key(*(struct spn_object *const *)a),
                   cache_object_key(*(struct spn_object *const *)b));
}

void spn_cache_list(struct spn_cache *c, struct spn_text ns, bool sorted, struct spn_objects *ret)
{
    lock_to_read(c);
    *ret = refer_to(ns.n ? cache_index_find(c->indices[0], ns) : &c->objects);
    unlock(c);
    if (sorted && ret->n)
        qsort(ret->items, ret->n, sizeof(struct spn_object *), compare_keys);
}

static int by_index(struct spn_cache *c, const char *name, struct spn_text value,
                    struct spn_objects *ret, struct spn_err *err)
{
    const struct cache_index *ix = find_index(c, name);
    if (!ix)
        return spn_err_set(err, SPN_NOT_FOUND, "there is no index \"%s\"", name);
    *ret = refer_to(cache_index_find(ix, value));
    return 0;
}

int spn_cache_by_index(struct spn_cache *c, const char *name, struct spn_text value,
                       struct spn_objects *ret, struct spn_err *err)
{
    lock_to_read(c);
    int r = by_index(c, name, value, ret, err);
    unlock(c);
    return r;
}

size_t spn_cache_count(struct spn_cache *c)
{
    lock_to_read(c);
    size_t n = c->objects.n;
    unlock(c);
    return n;
}

size_t spn_cache_bytes(struct spn_cache *c)
{
    lock_to_read(c);
    size_t bytes = sizeof(*c) + keyed_bytes(&c->objects) + c->object_bytes;
    for (size_t i = 0; i < c->n_indices; i++)
        bytes += cache_index_bytes(c->indices[i]);
    unlock(c);
    return bytes;
}

/* ---- Writing ---- */

static void count_bytes(struct spn_cache *c, const struct spn_object *old_obj,
                        const struct spn_object *new_obj)
{
    c->object_bytes += new_obj ? spn_object_bytes(new_obj) : 0;
    c->object_bytes -= old_obj ? spn_object_bytes(old_obj) : 0;
}

void spn_cache_put(struct spn_cache *c, struct spn_object *o, struct spn_object **ret_old)
{
    lock_to_write(c);
    struct spn_object *old_obj = keyed_put(&c->objects, spn_object_ref(o));
    index_all(c, old_obj, o);
    count_bytes(c, old_obj, o);
    unlock(c);
    if (ret_old)
        *ret_old = old_obj;
    else
        spn_object_unref(old_obj);
}

struct spn_object *spn_cache_remove(struct spn_cache *c, struct spn_text key)
{
    lock_to_write(c);
    struct spn_object *old_obj = keyed_remove(&c->objects, str_in(key));
    if (old_obj) {
        index_all(c, old_obj, NULL);
        count_bytes(c, old_obj, NULL);
    }
    unlock(c);
    return old_obj;
}
