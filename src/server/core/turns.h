/* turns.h - who may try next, where many want to change the same object.
 *
 * A write begins with what is stored and commits on condition that it still is. Of fifty writers
 * of one object one wins each time, so all of them together try a thousand times, and one may lose
 * for ever. A writer that has lost once asks for a turn. Turns come in order; while there are any,
 * new writers wait too. Without losers there is no waiting.
 *
 * A write may also lose to the writers of another object that it depends on (a new object to those
 * of its namespace); then it asks for a turn of that one.
 *
 * Any thread. A turn is held over waits for the store, never while asking for another one. */
#pragma once

#include "base/str.h"

struct turns;

struct turns *turns_new(void);
struct turns *turns_free(struct turns *t);

/* What one write holds: at most one turn. Zeroed, it is one that never waits. */
struct turn {
    struct turns *of; /* NULL: there is nothing to wait for */
    struct str key;   /* borrowed */
    bool is_held;
};

/* A newcomer that meets nobody just goes on; else it waits for its turn. */
void turn_begin(struct turn *t, struct turns *of, struct str key);
/* Another writer of `key` was faster: waits for a turn of that key, unless it has one. */
void turn_lost(struct turn *t, struct str key);
void turn_end(struct turn *t);
