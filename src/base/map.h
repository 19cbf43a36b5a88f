/* map.h - text to pointer, in a hash table. Its hash has a random key per process, so outsiders
 * cannot choose keys that collide. Keys are borrowed: they must outlive their entry. One owner, one
 * thread. */
#pragma once

#include "base/str.h"

struct map_entry;

struct map {
    struct map_entry *entries;
    size_t n;    /* live entries */
    size_t cap;  /* a power of two, or 0 */
    size_t used; /* live and deleted */
};

void map_done(struct map *m);                       /* an all-zero map is empty and valid */
void *map_get(const struct map *m, struct str key); /* NULL if absent */
/* `p` is not NULL. Returns what was there. From now on the entry borrows this `key`. */
void *map_set(struct map *m, struct str key, void *p);
void *map_remove(struct map *m, struct str key); /* returns what was there */

/* In no order. `*pos` starts at 0; false at the end. Removing the current entry is allowed. */
bool map_next(const struct map *m, size_t *pos, struct str *ret_key, void **ret_p);

/* SipHash-1-3 under the process's random key. */
uint64_t map_hash(struct str s);
