#include "server/guard/answer_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

struct entry {
    unsigned char key[DIGEST_SHA256_BYTES];
    int64_t until_ns;
    TAILQ_ENTRY(entry) link;
    size_t n;
    char answer[];
};

struct answer_cache {
    size_t max_entries;
    const struct clock *clock;
    pthread_mutex_t lock; /* over what follows */
    struct map by_key;
    TAILQ_HEAD(entries, entry) used; /* the last used one is the first */
};

struct answer_cache *answer_cache_new(size_t max_entries, const struct clock *clock)
{
    struct answer_cache *c = mem_new(struct answer_cache);
    c->max_entries = max_entries;
    c->clock = clock;
    (void)pthread_mutex_init(&c->lock, NULL);
    TAILQ_INIT(&c->used);
    return c;
}

static struct str key_of(const struct entry *e)
{
    return (struct str){ (const char *)e->key, sizeof(e->key) };
}

/* The lock is held. */
static void drop(struct answer_cache *c, struct entry *e)
{
    (void)map_remove(&c->by_key, key_of(e));
    TAILQ_REMOVE(&c->used, e, link);
    free(e);
}

void answer_cache_clear(struct answer_cache *c)
{
    (void)pthread_mutex_lock(&c->lock);
    while (!TAILQ_EMPTY(&c->used))
        drop(c, TAILQ_FIRST(&c->used));
    map_done(&c->by_key);
    (void)pthread_mutex_unlock(&c->lock);
}

struct answer_cache *answer_cache_free(struct answer_cache *c)
{
    if (!c)
        return NULL;
    answer_cache_clear(c);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

/* The entry, as the last used one; NULL if there is none that still counts. The lock is held. */
static struct entry *find(struct answer_cache *c, struct str key)
{
    struct entry *e = map_get(&c->by_key, key);
    if (!e)
        return NULL;
    if (clock_mono_ns(c->clock) >= e->until_ns) {
        drop(c, e);
        return NULL;
    }
    TAILQ_REMOVE(&c->used, e, link);
    TAILQ_INSERT_HEAD(&c->used, e, link);
    return e;
}

bool answer_cache_get(struct answer_cache *c, struct str question, struct arena *a, struct str *ret)
{
    unsigned char key[DIGEST_SHA256_BYTES];
    digest_sha256(question, key);
    (void)pthread_mutex_lock(&c->lock);
    const struct entry *e = find(c, (struct str){ (const char *)key, sizeof(key) });
    if (e)
        *ret = arena_str(a, (struct str){ e->answer, e->n });
    (void)pthread_mutex_unlock(&c->lock);
    return e;
}

static struct entry *entry_new(struct str question, struct str answer, int64_t until_ns)
{
    struct entry *e = mem_alloc(sizeof(*e) + answer.n);
    digest_sha256(question, e->key);
    e->until_ns = until_ns;
    e->n = answer.n;
    if (answer.n)
        memcpy(e->answer, answer.p, answer.n);
    return e;
}

void answer_cache_put(struct answer_cache *c, struct str question, struct str answer,
                      int64_t ttl_ns)
{
    if (ttl_ns <= 0 || answer.n > ANSWER_BYTES_MAX)
        return;
    struct entry *e = entry_new(question, answer, clock_mono_ns(c->clock) + ttl_ns);
    (void)pthread_mutex_lock(&c->lock);
    struct entry *old = map_get(&c->by_key, key_of(e));
    if (old)
        drop(c, old);
    else if (c->by_key.n >= c->max_entries)
        drop(c, TAILQ_LAST(&c->used, entries));
    (void)map_set(&c->by_key, key_of(e), e);
    TAILQ_INSERT_HEAD(&c->used, e, link);
    (void)pthread_mutex_unlock(&c->lock);
}
