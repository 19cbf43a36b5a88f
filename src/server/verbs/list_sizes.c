#include "server/verbs/list_sizes.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

/* Slots stand in groups, and a size may be in any of its group. */
enum { GROUPS = 1 << 14, GROUP = 4 };

struct slot {
    uint64_t id;  /* of key and form, as a hash under the process's own key; 0: free */
    uint64_t rev; /* in which no two objects are the same one */
    uint64_t n;
};

struct list_sizes {
    pthread_mutex_t slots_lock;
    struct slot slots[GROUPS][GROUP];
};

struct list_sizes *list_sizes_new(void)
{
    struct list_sizes *s = mem_new(struct list_sizes);
    pthread_mutex_init(&s->slots_lock, NULL);
    return s;
}

struct list_sizes *list_sizes_free(struct list_sizes *s)
{
    if (s) {
        pthread_mutex_destroy(&s->slots_lock);
        free(s);
    }
    return NULL;
}

static uint64_t id_of(const struct list_size_of *of)
{
    uint64_t id = map_hash(of->key) ^ (of->form * UINT64_C(0x9e3779b97f4a7c15));
    return id ? id : 1;
}

void list_sizes_keep(struct list_sizes *s, const struct list_size_of *of, uint32_t n)
{
    const struct slot made = { id_of(of), of->rev, n };
    struct slot *group = s->slots[made.id % GROUPS], *oldest = group;
    pthread_mutex_lock(&s->slots_lock);
    for (size_t i = 0; i < GROUP; i++) {
        if (group[i].id == made.id) {
            oldest = &group[i];
            break;
        }
        if (group[i].rev < oldest->rev)
            oldest = &group[i];
    }
    *oldest = made;
    pthread_mutex_unlock(&s->slots_lock);
}

bool list_sizes_find(struct list_sizes *s, const struct list_size_of *of, uint32_t *ret)
{
    const uint64_t id = id_of(of);
    const struct slot *group = s->slots[id % GROUPS];
    bool found = false;
    pthread_mutex_lock(&s->slots_lock);
    for (size_t i = 0; i < GROUP && !found; i++) {
        found = group[i].id == id && group[i].rev == of->rev;
        if (found)
            *ret = (uint32_t)group[i].n;
    }
    pthread_mutex_unlock(&s->slots_lock);
    return found;
}
