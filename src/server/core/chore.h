/* chore.h - something that a worker does from time to time, never twice at once. */
#pragma once

#include "net/loop.h"
#include "net/workers.h"

struct chore;

/* Every `every_ns`, by a timer of the loop; where all workers are busy it is left out once. */
struct chore *chore_new(struct loop *loop, struct workers *workers, int64_t every_ns,
                        void (*run)(void *arg), void *arg);
/* The loop does not run any more; waits for a worker that is at it. */
struct chore *chore_free(struct chore *c);
