/* damage.c - objects that were met and could not be read: told once each, and counted.
 *
 * An entry leaves the list when a checkpoint has replaced its bytes in the view. */
#include "store/internal.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/banned.h"

struct damaged_key {
    size_t n;
    char text[];
};

void store_note_damaged(struct store *s, struct str key, struct str what)
{
    bool is_news = false;
    (void)pthread_mutex_lock(&s->damaged_lock);
    if (s->damaged.n < LIMIT_STORE_DAMAGED_KEYS && !map_get(&s->damaged, key)) {
        struct damaged_key *k = mem_alloc(sizeof(*k) + key.n);
        k->n = key.n;
        memcpy(k->text, key.p, key.n);
        (void)map_set(&s->damaged, (struct str){ k->text, k->n }, k);
        is_news = true;
    }
    s->n_damaged = s->damaged.n;
    (void)pthread_mutex_unlock(&s->damaged_lock);
    if (is_news)
        log_error("an object in the store is damaged", LOG_STR("key", key), LOG_STR("err", what));
}

/* Any one of them that `t` has replaced, taken off the list; NULL if there is none. */
static struct damaged_key *take_replaced(struct store *s, const struct memtable *t)
{
    struct damaged_key *found = NULL;
    size_t at = 0;
    struct str key;
    void *k;
    (void)pthread_mutex_lock(&s->damaged_lock);
    while (!found && map_next(&s->damaged, &at, &key, &k))
        if (memtable_find(t, key, UINT64_MAX))
            found = k;
    if (found)
        (void)map_remove(&s->damaged, (struct str){ found->text, found->n });
    s->n_damaged = s->damaged.n;
    (void)pthread_mutex_unlock(&s->damaged_lock);
    return found;
}

void store__damage_replaced(struct store *s, const struct memtable *t)
{
    struct damaged_key *k;
    while (s->n_damaged && (k = take_replaced(s, t))) {
        log_info("a damaged object was replaced", LOG_STR("key", ((struct str){ k->text, k->n })));
        free(k);
    }
}

void store__damage_done(struct store *s)
{
    size_t at = 0;
    struct str key;
    void *k;
    while (map_next(&s->damaged, &at, &key, &k))
        free(k);
    map_done(&s->damaged);
}
