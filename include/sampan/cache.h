/* sampan/cache.h - objects by key and by indices, for many threads.
 *
 * Whoever reads gets references (sampan/object.h); what the cache does next does not change what he
 * has. An index gives each object any number of values (text); all objects with one value are found
 * without looking at the others. */
#pragma once

#include <sampan/object.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_cache;
struct spn_index_values;

SPN_API struct spn_cache *spn_cache_new(void);
SPN_API struct spn_cache *spn_cache_free(struct spn_cache *c);

/* Says under which values an object is found, by any number of calls of spn_index_put(), whose text
 * is copied. Of the same object it must say the same each time. It is called with the cache locked:
 * it may only look at the object. The arena is emptied after each object. */
typedef void spn_index_fn(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_index_values *out);
SPN_API void spn_index_put(struct spn_index_values *out, struct spn_text value);

/* Objects that are there already are put into the new index, too. SPN_EXISTS: the name is taken.
 * Each cache has the index "namespace" from the beginning, of objects that have one. */
SPN_API int spn_cache_add_index(struct spn_cache *c, const char *name, spn_index_fn *fn, void *arg,
                                struct spn_err *err);

/* NULL: there is none. The caller owns the reference. */
SPN_API struct spn_object *spn_cache_get(struct spn_cache *c, struct spn_text key);
/* In the order of their keys, if `sorted`. An empty namespace: of all of them. */
SPN_API void spn_cache_list(struct spn_cache *c, struct spn_text ns, bool sorted,
                            struct spn_objects *ret);
/* Those with this value in that index. SPN_NOT_FOUND: there is no such index. */
SPN_API int spn_cache_by_index(struct spn_cache *c, const char *name, struct spn_text value,
                               struct spn_objects *ret, struct spn_err *err);
SPN_API size_t spn_cache_count(struct spn_cache *c);
SPN_API size_t spn_cache_bytes(struct spn_cache *c); /* of memory, objects and indices */

/* Writing, for whoever fills the cache. `o` is referenced once more; the old object of that key, if
 * there was one, is returned in `ret_old` (NULL will do) with the cache's reference. */
SPN_API void spn_cache_put(struct spn_cache *c, struct spn_object *o, struct spn_object **ret_old);
SPN_API struct spn_object *spn_cache_remove(struct spn_cache *c, struct spn_text key);

#ifdef __cplusplus
}
#endif
