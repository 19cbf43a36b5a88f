#include "node/agent/back_off.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

struct entry {
    int64_t pause_ms, updated_ns;
    size_t n;
    char key[];
};

struct back_off {
    pthread_mutex_t lock; /* of the entries */
    struct map entries;
    int64_t first_ms, max_ms;
};

struct back_off *back_off_new(int64_t first_ms, int64_t max_ms)
{
    struct back_off *b = mem_new(struct back_off);
    (void)pthread_mutex_init(&b->lock, NULL);
    b->first_ms = first_ms;
    b->max_ms = max_ms;
    return b;
}

struct back_off *back_off_free(struct back_off *b)
{
    if (!b)
        return NULL;
    back_off_forget(b, STR(""));
    map_done(&b->entries);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
    return NULL;
}

static struct entry *entry_new(struct back_off *b, struct str key)
{
    struct entry *e = mem_zalloc(sizeof(*e) + key.n);
    e->n = key.n;
    memcpy(e->key, key.p, key.n);
    (void)map_set(&b->entries, (struct str){ e->key, e->n }, e);
    return e;
}

static bool has_expired(const struct back_off *b, const struct entry *e, int64_t since_ns)
{
    return since_ns - e->updated_ns > 2 * b->max_ms * NS_PER_MS;
}

void back_off_next(struct back_off *b, struct str key, int64_t since_ns, int64_t now_ns)
{
    (void)pthread_mutex_lock(&b->lock);
    struct entry *e = map_get(&b->entries, key);
    if (!e)
        e = entry_new(b, key);
    if (!e->pause_ms || has_expired(b, e, since_ns)) {
        e->pause_ms = b->first_ms < b->max_ms ? b->first_ms : b->max_ms;
    } else {
        e->pause_ms = 2 * e->pause_ms < b->max_ms ? 2 * e->pause_ms : b->max_ms;
    }
    e->updated_ns = now_ns;
    (void)pthread_mutex_unlock(&b->lock);
}

bool back_off_is_waiting(struct back_off *b, struct str key, int64_t since_ns, int64_t now_ns)
{
    (void)pthread_mutex_lock(&b->lock);
    const struct entry *e = map_get(&b->entries, key);
    bool waits = e && !has_expired(b, e, since_ns) && now_ns - since_ns < e->pause_ms * NS_PER_MS;
    (void)pthread_mutex_unlock(&b->lock);
    return waits;
}

bool back_off_is_waiting_still(struct back_off *b, struct str key, int64_t now_ns)
{
    (void)pthread_mutex_lock(&b->lock);
    const struct entry *e = map_get(&b->entries, key);
    bool waits =
        e && !has_expired(b, e, now_ns) && now_ns - e->updated_ns < e->pause_ms * NS_PER_MS;
    (void)pthread_mutex_unlock(&b->lock);
    return waits;
}

int64_t back_off_ms(struct back_off *b, struct str key)
{
    (void)pthread_mutex_lock(&b->lock);
    const struct entry *e = map_get(&b->entries, key);
    int64_t ms = e ? e->pause_ms : 0;
    (void)pthread_mutex_unlock(&b->lock);
    return ms;
}

void back_off_forget(struct back_off *b, struct str prefix)
{
    size_t pos = 0;
    struct str key;
    void *e;
    (void)pthread_mutex_lock(&b->lock);
    while (map_next(&b->entries, &pos, &key, &e)) {
        if (!str_starts(key, prefix))
            continue;
        (void)map_remove(&b->entries, key);
        free(e);
    }
    (void)pthread_mutex_unlock(&b->lock);
}
