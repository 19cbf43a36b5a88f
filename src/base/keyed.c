#include "base/keyed.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

/* Linear probing. A removal moves later ones of the same cluster up, so there are no gravestones.
 * The table is at most seven eighths full and has always a free place. */
enum { KEYED_FIRST_CAP = 2, KEYED_NEVER_BELOW = 8, KEYED_PLACE_BYTES = sizeof(void *) + 4 };

static uint32_t *hashes_of(const struct keyed *k)
{
    return (uint32_t *)(k->things + k->cap);
}

static uint32_t after(const struct keyed *k, uint32_t at)
{
    return (at + 1) & (k->cap - 1);
}

void keyed_done(struct keyed *k)
{
    free(k->things);
    *k = (struct keyed){ .key_of = k->key_of };
}

/* Where the key is, or the free place where it belongs. The table is not empty. */
static uint32_t place_of(const struct keyed *k, struct str key, uint32_t hash)
{
    const uint32_t *hashes = hashes_of(k);
    uint32_t at = hash & (k->cap - 1);
    while (k->things[at] && !(hashes[at] == hash && str_eq(k->key_of(k->things[at]), key)))
        at = after(k, at);
    return at;
}

static uint32_t free_place(const struct keyed *k, uint32_t hash)
{
    uint32_t at = hash & (k->cap - 1);
    while (k->things[at])
        at = after(k, at);
    return at;
}

static void resize(struct keyed *k, uint32_t cap)
{
    struct keyed old = *k;
    k->things = mem_array(cap, KEYED_PLACE_BYTES);
    k->cap = cap;
    for (uint32_t i = 0; i < old.cap; i++) {
        if (!old.things[i])
            continue;
        uint32_t hash = hashes_of(&old)[i], at = free_place(k, hash);
        k->things[at] = old.things[i];
        hashes_of(k)[at] = hash;
    }
    free(old.things);
}

void *keyed_get(const struct keyed *k, struct str key)
{
    return k->n ? k->things[place_of(k, key, (uint32_t)map_hash(key))] : NULL;
}

void *keyed_put(struct keyed *k, void *thing)
{
    if ((k->n + UINT64_C(1)) * 8 > k->cap * UINT64_C(7))
        resize(k, k->cap ? k->cap * 2 : KEYED_FIRST_CAP);
    struct str key = k->key_of(thing);
    uint32_t hash = (uint32_t)map_hash(key), at = place_of(k, key, hash);
    void *before = k->things[at];
    k->n += !before;
    k->things[at] = thing;
    hashes_of(k)[at] = hash;
    return before;
}

/* Fills the gap with the next one that may stand there, and so on to the end of the cluster. */
static void close_gap(struct keyed *k, uint32_t gap)
{
    uint32_t *hashes = hashes_of(k), mask = k->cap - 1;
    for (uint32_t at = after(k, gap); k->things[at]; at = after(k, at)) {
        uint32_t from_home = (at - hashes[at]) & mask, from_gap = (at - gap) & mask;
        if (from_home < from_gap)
            continue;
        k->things[gap] = k->things[at];
        hashes[gap] = hashes[at];
        gap = at;
    }
    k->things[gap] = NULL;
}

void *keyed_remove(struct keyed *k, struct str key)
{
    if (!k->n)
        return NULL;
    uint32_t at = place_of(k, key, (uint32_t)map_hash(key));
    void *before = k->things[at];
    if (!before)
        return NULL;
    close_gap(k, at);
    k->n--;
    if (k->cap > KEYED_NEVER_BELOW && k->n < k->cap / 8)
        resize(k, k->cap / 4);
    return before;
}

void *keyed_next(const struct keyed *k, size_t *pos)
{
    while (*pos < k->cap) {
        void *thing = k->things[(*pos)++];
        if (thing)
            return thing;
    }
    return NULL;
}

size_t keyed_bytes(const struct keyed *k)
{
    return (size_t)k->cap * KEYED_PLACE_BYTES;
}
