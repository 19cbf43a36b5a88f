#include "server/verbs/list_counts.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { SLOTS = 512 };

struct slot {
    uint64_t rev, prefix, start; /* the latter two as hashes, under the process's own key */
    uint64_t n;
};

struct list_counts {
    pthread_mutex_t slots_lock;
    struct slot slots[SLOTS];
};

struct list_counts *list_counts_new(void)
{
    struct list_counts *c = mem_new(struct list_counts);
    pthread_mutex_init(&c->slots_lock, NULL);
    return c;
}

struct list_counts *list_counts_free(struct list_counts *c)
{
    if (c) {
        pthread_mutex_destroy(&c->slots_lock);
        free(c);
    }
    return NULL;
}

static struct slot describe(struct str prefix, uint64_t rev, struct str start)
{
    return (struct slot){ .rev = rev, .prefix = map_hash(prefix), .start = map_hash(start) };
}

void list_counts_keep(struct list_counts *c, struct str prefix, uint64_t rev, struct str start,
                      uint64_t n)
{
    struct slot made = describe(prefix, rev, start);
    made.n = n;
    pthread_mutex_lock(&c->slots_lock);
    c->slots[made.start % SLOTS] = made;
    pthread_mutex_unlock(&c->slots_lock);
}

bool list_counts_find(struct list_counts *c, struct str prefix, uint64_t rev, struct str start,
                      uint64_t *ret)
{
    const struct slot wanted = describe(prefix, rev, start);
    pthread_mutex_lock(&c->slots_lock);
    const struct slot found = c->slots[wanted.start % SLOTS];
    pthread_mutex_unlock(&c->slots_lock);
    bool same =
        found.rev == wanted.rev && found.prefix == wanted.prefix && found.start == wanted.start;
    if (same)
        *ret = found.n;
    return same;
}
