#include "controllers/common/expectations.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

#define PATIENCE_NS (300 * NS_PER_SEC)

/* Of one owner. Its texts are in a block each. */
struct expected {
    struct str owner;
    size_t n_creations;
    struct str *deletions; /* keys that have yet to go */
    size_t n_deletions;
    int64_t since_ns;
};

struct expectations {
    pthread_mutex_t lock; /* of what follows */
    struct map by_owner;
};

static struct str kept(struct str s)
{
    return (struct str){ mem_dup(s.p, s.n), s.n };
}

static void drop_deletions(struct expected *x)
{
    while (x->n_deletions)
        free((char *)x->deletions[--x->n_deletions].p);
    free(x->deletions);
    x->deletions = NULL;
}

static void expected_free(struct expected *x)
{
    if (!x)
        return;
    drop_deletions(x);
    free((char *)x->owner.p);
    free(x);
}

struct expectations *expectations_new(void)
{
    struct expectations *e = mem_new(struct expectations);
    (void)pthread_mutex_init(&e->lock, NULL);
    return e;
}

struct expectations *expectations_free(struct expectations *e)
{
    if (!e)
        return NULL;
    size_t pos = 0;
    struct str key;
    void *x;
    while (map_next(&e->by_owner, &pos, &key, &x))
        expected_free(x);
    map_done(&e->by_owner);
    (void)pthread_mutex_destroy(&e->lock);
    free(e);
    return NULL;
}

/* Empty, with the time of now. */
static struct expected *begin(struct expectations *e, struct str owner)
{
    struct expected *x = map_get(&e->by_owner, owner);
    if (!x) {
        x = mem_new(struct expected);
        x->owner = kept(owner);
        (void)map_set(&e->by_owner, x->owner, x);
    }
    drop_deletions(x);
    x->n_creations = 0;
    x->since_ns = clock_mono_ns(&clock_system);
    return x;
}

void expectations_create(struct expectations *e, struct spn_text owner, size_t n)
{
    (void)pthread_mutex_lock(&e->lock);
    begin(e, str_in(owner))->n_creations = n;
    (void)pthread_mutex_unlock(&e->lock);
}

void expectations_delete(struct expectations *e, struct spn_text owner, const struct spn_text *keys,
                         size_t n)
{
    (void)pthread_mutex_lock(&e->lock);
    struct expected *x = begin(e, str_in(owner));
    x->deletions = mem_array(n, sizeof(*x->deletions));
    for (; x->n_deletions < n; x->n_deletions++)
        x->deletions[x->n_deletions] = kept(str_in(keys[x->n_deletions]));
    (void)pthread_mutex_unlock(&e->lock);
}

/* What has been met is begun anew, so that its time counts from now. */
static struct expected *go_on(struct expectations *e, struct str owner)
{
    struct expected *x = map_get(&e->by_owner, owner);
    return x && (x->n_creations || x->n_deletions) ? x : begin(e, owner);
}

void expectations_create_more(struct expectations *e, struct spn_text owner)
{
    (void)pthread_mutex_lock(&e->lock);
    go_on(e, str_in(owner))->n_creations++;
    (void)pthread_mutex_unlock(&e->lock);
}

void expectations_delete_more(struct expectations *e, struct spn_text owner, struct spn_text key)
{
    (void)pthread_mutex_lock(&e->lock);
    struct expected *x = go_on(e, str_in(owner));
    x->deletions = mem_resize(x->deletions, x->n_deletions + 1, sizeof(*x->deletions));
    x->deletions[x->n_deletions++] = kept(str_in(key));
    (void)pthread_mutex_unlock(&e->lock);
}

void expectations_created(struct expectations *e, struct spn_text owner)
{
    (void)pthread_mutex_lock(&e->lock);
    struct expected *x = map_get(&e->by_owner, str_in(owner));
    if (x && x->n_creations)
        x->n_creations--;
    (void)pthread_mutex_unlock(&e->lock);
}

static void strike(struct expected *x, struct str key)
{
    for (size_t i = 0; i < x->n_deletions; i++)
        if (str_eq(x->deletions[i], key)) {
            free((char *)x->deletions[i].p);
            x->deletions[i] = x->deletions[--x->n_deletions];
            return;
        }
}

void expectations_deleted(struct expectations *e, struct spn_text owner, struct spn_text key)
{
    (void)pthread_mutex_lock(&e->lock);
    struct expected *x = map_get(&e->by_owner, str_in(owner));
    if (x)
        strike(x, str_in(key));
    (void)pthread_mutex_unlock(&e->lock);
}

bool expectations_are_met(struct expectations *e, struct spn_text owner)
{
    (void)pthread_mutex_lock(&e->lock);
    const struct expected *x = map_get(&e->by_owner, str_in(owner));
    bool are_met = !x || (!x->n_creations && !x->n_deletions) ||
                   clock_mono_ns(&clock_system) - x->since_ns > PATIENCE_NS;
    (void)pthread_mutex_unlock(&e->lock);
    return are_met;
}

void expectations_forget(struct expectations *e, struct spn_text owner)
{
    (void)pthread_mutex_lock(&e->lock);
    expected_free(map_remove(&e->by_owner, str_in(owner)));
    (void)pthread_mutex_unlock(&e->lock);
}
