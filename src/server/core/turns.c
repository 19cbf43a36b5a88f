/* Keys share a lane by their hash; two objects in one lane only wait a little longer. */
#include "server/core/turns.h"

#include <assert.h>
#include <pthread.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { LANES = 256 };

/* On the stack of the thread that waits. */
struct waiter {
    struct waiter *next;
    pthread_cond_t come;
    bool is_next;
};

struct lane {
    pthread_mutex_t lock; /* of what follows */
    bool is_taken;
    struct waiter *first, **last;
};

struct turns {
    struct lane lanes[LANES];
};

struct turns *turns_new(void)
{
    struct turns *t = mem_zalloc(sizeof(*t));
    for (size_t i = 0; i < LANES; i++) {
        pthread_mutex_init(&t->lanes[i].lock, NULL);
        t->lanes[i].last = &t->lanes[i].first;
    }
    return t;
}

struct turns *turns_free(struct turns *t)
{
    for (size_t i = 0; t && i < LANES; i++) {
        assert(!t->lanes[i].is_taken);
        pthread_mutex_destroy(&t->lanes[i].lock);
    }
    mem_cleanup_free(&t);
    return NULL;
}

static struct lane *lane_of(struct turns *t, struct str key)
{
    return &t->lanes[map_hash(key) % LANES];
}

static void wait_in(struct lane *lane)
{
    struct waiter self = { .come = PTHREAD_COND_INITIALIZER };
    *lane->last = &self;
    /* cppcheck-suppress autoVariables ; whoever makes it the next one takes it out before */
    lane->last = &self.next;
    while (!self.is_next)
        pthread_cond_wait(&self.come, &lane->lock);
    pthread_cond_destroy(&self.come);
}

static void enter(struct turn *t, bool has_lost)
{
    if (!t->of)
        return;
    struct lane *lane = lane_of(t->of, t->key);
    pthread_mutex_lock(&lane->lock);
    t->is_held = has_lost || lane->is_taken;
    if (lane->is_taken)
        wait_in(lane); /* the lane stays taken, by us now */
    else
        lane->is_taken = t->is_held;
    pthread_mutex_unlock(&lane->lock);
}

void turn_begin(struct turn *t, struct turns *of, struct str key)
{
    *t = (struct turn){ .of = of, .key = key };
    enter(t, false);
}

void turn_lost(struct turn *t, struct str key)
{
    if (t->is_held && str_eq(t->key, key))
        return;
    turn_end(t);
    t->key = key;
    enter(t, true);
}

void turn_end(struct turn *t)
{
    if (!t->is_held)
        return;
    t->is_held = false;
    struct lane *lane = lane_of(t->of, t->key);
    pthread_mutex_lock(&lane->lock);
    struct waiter *next = lane->first;
    if (next) {
        lane->first = next->next;
        if (!lane->first)
            lane->last = &lane->first;
        next->is_next = true;
        pthread_cond_signal(&next->come);
    } else {
        lane->is_taken = false;
    }
    pthread_mutex_unlock(&lane->lock);
}
