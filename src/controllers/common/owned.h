/* owned.h - objects in a cache by who controls them, and those that nobody does.
 *
 * Every cache that is asked for it has one index of this. Trees that are read from it lend their
 * text from the cached objects, which a struct owned holds until owned_done(). */
#pragma once

#include <sampan/informer.h>

/* Before the informer starts; more than once will do. */
void owned_index(struct spn_cache *cache);

struct owned {
    struct spn_objects parts[2]; /* of the owner; of nobody */
    struct spn_value **items;    /* trees that may be changed, in the arena, in the order of keys */
    size_t n;
};

/* What `uid` controls, and with `ns` what nobody in that namespace controls, too. */
struct owned owned_list(struct spn_cache *cache, struct spn_arena *a, struct spn_text uid,
                        struct spn_text ns);
void owned_done(struct owned *o);

/* Which owner a change is about, for maps of sources: of that kind, in the object's namespace. */
bool owned_by_kind(const struct spn_object *o, struct spn_arena *a, const char *kind,
                   struct spn_text group, struct spn_owner *ret);
/* Whether two states of an object differ in their labels or in who controls them. */
bool owned_changed(const struct spn_object *old_o, const struct spn_object *new_o);
