/* allowance.h - what one piece of work may still take: memory, and time.
 *
 * Rules read no clock and do not know what others hold. Whoever starts them gives their arena an
 * allowance (arena_allow). It ends when the arena holds more than it may, when all arenas of a pool
 * together do, or when somebody says so: the client is gone, the time is over, the server stops.
 * Nothing is taken away; what loops long or builds much asks arena_spent() now and then and gives
 * up with allowance_error(). An allowance ends once; the first reason stays.
 *
 * Any thread may end one. It outlives the arenas that have it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

enum allowance_end {
    ALLOWANCE_OPEN,
    ALLOWANCE_GONE,      /* nobody waits for the result any more */
    ALLOWANCE_LATE,      /* the time for it is over */
    ALLOWANCE_STOPPING,  /* the server ends */
    ALLOWANCE_TOO_LARGE, /* it alone holds too much */
    ALLOWANCE_CROWDED,   /* all together do */
};

/* What the arenas of many allowances hold together. */
struct allowance_pool {
    atomic_size_t held;
    size_t max;
    struct allowance_pool *within; /* a larger one, or NULL; if that is full, small ones go on */
};

struct allowance {
    atomic_int end; /* enum allowance_end */
    atomic_size_t held;
    size_t max;                  /* bytes; 0: any number */
    struct allowance_pool *pool; /* NULL: it has no others beside it */
};

static inline enum allowance_end allowance_ended(const struct allowance *w)
{
    return (enum allowance_end)atomic_load_explicit(&w->end, memory_order_relaxed);
}

void allowance_finish(struct allowance *w, enum allowance_end why);

/* Whether it, or one that it is within, has nothing left. */
bool allowance_pool_is_full(const struct allowance_pool *p);

/* Counts bytes that an arena took or gave back. */
void allowance_take(struct allowance *w, size_t n);
void allowance_give(struct allowance *w, size_t n);

/* Fills the error that its end means: 504, 503, 413 or 429. It has ended. Returns the code. */
int allowance_error(const struct allowance *w, struct err *err);
