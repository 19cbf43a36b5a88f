/* domains.h - numbers by the value of a node's label: how many pods each zone has, and the like.
 *
 * Values are borrowed from nodes; all memory is an arena's, so there is nothing to free. One
 * thread. */
#pragma once

#include "base/arena.h"

struct domain {
    struct str value;
    int64_t n;
};

/* All zero but the key is empty and valid. */
struct domains {
    struct str topology_key;
    struct domain **table;
    size_t n, cap;       /* a power of two, or 0 */
    struct domain *last; /* neighbours often have the same value */
};

/* NULL: that value was never counted. */
struct domain *domains_get(struct domains *d, struct str value);
struct domain *domains_make(struct domains *d, struct arena *a, struct str value);
/* The least number; 0 if there is none. */
int64_t domains_least(const struct domains *d);
