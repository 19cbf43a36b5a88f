#include "controllers/daemonset/backoff.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

#define FIRST_NS NS_PER_SEC
#define MAX_NS   (900 * NS_PER_SEC)

/* Entries beyond this are swept of those that have expired. */
enum { SWEEP_AT = 1000 };

struct wait {
    struct str key;
    int64_t since_ns, delay_ns;
};

struct backoff {
    pthread_mutex_t lock; /* of what follows */
    struct map waits;
    size_t sweep_at;
};

static void wait_free(struct wait *w)
{
    free((char *)w->key.p);
    free(w);
}

static bool has_expired(const struct wait *w, int64_t now_ns)
{
    return now_ns - w->since_ns > 2 * MAX_NS;
}

struct backoff *backoff_new(void)
{
    struct backoff *b = mem_new(struct backoff);
    b->sweep_at = SWEEP_AT;
    (void)pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void sweep(struct backoff *b, int64_t now_ns, bool all)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&b->waits, &pos, &key, &p))
        if (all || has_expired(p, now_ns)) {
            (void)map_remove(&b->waits, key);
            wait_free(p);
        }
}

struct backoff *backoff_free(struct backoff *b)
{
    if (!b)
        return NULL;
    sweep(b, 0, true);
    map_done(&b->waits);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
    return NULL;
}

static struct wait *wait_of(struct backoff *b, struct str key, int64_t now_ns)
{
    struct wait *w = map_get(&b->waits, key);
    if (w)
        return w;
    if (b->waits.n >= b->sweep_at) {
        sweep(b, now_ns, false);
        b->sweep_at = 2 * b->waits.n > SWEEP_AT ? 2 * b->waits.n : SWEEP_AT;
    }
    w = mem_new(struct wait);
    w->key = (struct str){ mem_dup(key.p, key.n), key.n };
    (void)map_set(&b->waits, w->key, w);
    return w;
}

int64_t backoff_try(struct backoff *b, struct spn_text key, int64_t now_ns)
{
    int64_t ms = 0;
    (void)pthread_mutex_lock(&b->lock);
    struct wait *w = wait_of(b, str_in(key), now_ns);
    const int64_t left_ns = w->since_ns + w->delay_ns - now_ns;
    if (w->delay_ns && !has_expired(w, now_ns) && left_ns > 0) {
        ms = left_ns / NS_PER_MS + 1;
    } else {
        const bool is_first = !w->delay_ns || has_expired(w, now_ns);
        w->delay_ns = is_first ? FIRST_NS : 2 * w->delay_ns < MAX_NS ? 2 * w->delay_ns : MAX_NS;
        w->since_ns = now_ns;
    }
    (void)pthread_mutex_unlock(&b->lock);
    return ms;
}
