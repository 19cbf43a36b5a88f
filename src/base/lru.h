/* lru.h - a bounded number of things by key; the one that nobody asked for longest goes first.
 *
 * A thing is a struct that begins with struct lru_thing; it has no pointers to memory of its own.
 * One owner, one thread. */
#pragma once

#include <sys/queue.h>

#include "base/keyed.h"

struct lru_thing {
    TAILQ_ENTRY(lru_thing) order;
    size_t n_key;
    char *key; /* behind the thing, in the same block */
};
TAILQ_HEAD(lru_things, lru_thing);

struct lru {
    struct keyed by_key;
    struct lru_things newest_first;
    size_t size; /* of a thing */
    size_t max;
};

void lru_init(struct lru *l, size_t size, size_t max);
void lru_done(struct lru *l);
/* The thing of that key, all zero if it is new. It is good until the next call. */
void *lru_get(struct lru *l, struct str key);
