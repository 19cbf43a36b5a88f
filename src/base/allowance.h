/* allowance.h - what one piece of work may still take: memory, and time.
 *
 * Rule code reads no clock and does not know how much memory other requests hold. The code that
 * starts it gives its arena an allowance (arena_allow). The allowance ends when the arena holds too
 * much, when all arenas of a pool together hold too much, or by allowance_finish(): the client is
 * gone, the time is over, the server stops. Nothing is taken away by force: code that loops long or
 * builds much asks arena_spent() now and then, and returns allowance_error() if it is true. An
 * allowance ends once; the first reason stays.
 *
 * Any thread may end an allowance. It outlives the arenas that use it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

enum allowance_end {
    ALLOWANCE_OPEN,
    ALLOWANCE_GONE,      /* the client is gone */
    ALLOWANCE_LATE,      /* the time for it is over */
    ALLOWANCE_STOPPING,  /* the server ends */
    ALLOWANCE_TOO_LARGE, /* it alone holds too much */
    ALLOWANCE_CROWDED,   /* all together do */
};

/* What the arenas of many allowances hold together. */
struct allowance_pool {
    atomic_size_t held;
    size_t max;
    struct allowance_pool *within; /* a larger pool or NULL; when it is full, small users go on */
};

struct allowance {
    atomic_int end; /* enum allowance_end */
    atomic_size_t held;
    size_t max;                  /* bytes; 0: any number */
    struct allowance_pool *pool; /* shared with other allowances; NULL: none */
};

static inline enum allowance_end allowance_ended(const struct allowance *w)
{
    return (enum allowance_end)atomic_load_explicit(&w->end, memory_order_relaxed);
}

void allowance_finish(struct allowance *w, enum allowance_end why);

/* Whether the pool, or one that it is within, has nothing left. */
bool allowance_pool_is_full(const struct allowance_pool *p);

/* Counts bytes that an arena took or gave back. */
void allowance_take(struct allowance *w, size_t n);
void allowance_give(struct allowance *w, size_t n);

/* Fills the error for the reason of the end: 504, 503, 413 or 429. The allowance must have ended.
 * Returns the negative code. */
int allowance_error(const struct allowance *w, struct err *err);
