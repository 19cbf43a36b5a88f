/* cache_index.h - the objects of a cache by the values that a function gives them. The cache locks.
 */
#pragma once

#include <sampan/cache.h>

#include "base/keyed.h"

struct cache_index {
    char *name;
    spn_index_fn *fn;
    void *arg;
    struct keyed values; /* those that some object has */
};

struct cache_index *cache_index_new(const char *name, spn_index_fn *fn, void *arg);
struct cache_index *cache_index_free(struct cache_index *ix);

/* The new object takes the place of the old one of the same key; either may be NULL. No references
 * are taken. The arena is used meanwhile. */
void cache_index_replace(struct cache_index *ix, struct spn_object *old_obj,
                         struct spn_object *new_obj, struct spn_arena *a);
/* The objects with this value; NULL if there are none. */
const struct keyed *cache_index_find(const struct cache_index *ix, struct spn_text value);
size_t cache_index_bytes(const struct cache_index *ix);

/* For a set of objects. */
struct str cache_object_key(const void *thing);
