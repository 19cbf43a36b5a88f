/* keyed.h - a set of things that carry their own key, in a hash table of twelve bytes per place.
 *
 * Where base/map.h notes the key beside each entry, this asks the thing for it; so one thing may be
 * in many sets at little cost. A set that shrinks gives memory back. One owner, one thread. */
#pragma once

#include "base/str.h"

/* The key of a thing; it does not change while the thing is in a set. */
typedef struct str keyed_fn(const void *thing);

struct keyed {
    keyed_fn *key_of;
    void **things; /* the hashes stand behind them, in the same block */
    uint32_t n;
    uint32_t cap; /* a power of two, or 0 */
};

/* A set with nothing but `key_of` is empty and valid. */
void keyed_done(struct keyed *k);
void *keyed_get(const struct keyed *k, struct str key); /* NULL if there is none */
void *keyed_put(struct keyed *k, void *thing);          /* returns the one that it replaces */
void *keyed_remove(struct keyed *k, struct str key);    /* returns what was there */

/* In no order. `*pos` starts at 0; NULL at the end. The set stays as it is meanwhile. */
void *keyed_next(const struct keyed *k, size_t *pos);
size_t keyed_bytes(const struct keyed *k); /* of the table */
