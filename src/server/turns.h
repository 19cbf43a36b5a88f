/* turns.h - who may try next, where many want to change the same object.
 *
 * A write begins with what is stored and commits on condition that it still is. Of fifty writers
 * of one object one wins each time, so all of them together try a thousand times, and one may lose
 * for ever. Whoever has lost once asks for a turn here: turns come in the order they were asked
 * for, and while there are any, newcomers wait too. Where nobody loses nobody waits.
 *
 * Any thread. A turn is held over waits for the store, never while asking for another one. */
#pragma once

#include "base/str.h"

struct turns;

struct turns *turns_new(void);
struct turns *turns_free(struct turns *t);

/* Waits until it is our turn: true, and turns_end() follows. A newcomer (`has_lost` is false) that
 * meets nobody just goes on: false. `t` may be NULL: nobody ever waits. */
bool turns_begin(struct turns *t, struct str key, bool has_lost);
void turns_end(struct turns *t, struct str key);
