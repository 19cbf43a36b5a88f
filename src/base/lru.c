#include "base/lru.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

static struct str key_of(const void *thing)
{
    const struct lru_thing *t = thing;
    return (struct str){ t->key, t->n_key };
}

void lru_init(struct lru *l, size_t size, size_t max)
{
    *l = (struct lru){ .by_key = { .key_of = key_of }, .size = size, .max = max };
    TAILQ_INIT(&l->newest_first);
}

static void drop(struct lru *l, struct lru_thing *t)
{
    keyed_remove(&l->by_key, key_of(t));
    TAILQ_REMOVE(&l->newest_first, t, order);
    free(t);
}

void lru_done(struct lru *l)
{
    while (!TAILQ_EMPTY(&l->newest_first))
        drop(l, TAILQ_FIRST(&l->newest_first));
    keyed_done(&l->by_key);
}

static struct lru_thing *add(struct lru *l, struct str key)
{
    if (l->by_key.n >= l->max)
        drop(l, TAILQ_LAST(&l->newest_first, lru_things));
    struct lru_thing *t = mem_zalloc(l->size + key.n);
    t->key = (char *)t + l->size;
    t->n_key = key.n;
    if (key.n)
        memcpy(t->key, key.p, key.n);
    keyed_put(&l->by_key, t);
    return t;
}

void *lru_get(struct lru *l, struct str key)
{
    struct lru_thing *t = keyed_get(&l->by_key, key);
    if (t)
        TAILQ_REMOVE(&l->newest_first, t, order);
    else
        t = add(l, key);
    TAILQ_INSERT_HEAD(&l->newest_first, t, order);
    return t;
}
