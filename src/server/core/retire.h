/* retire.h - frees what readers on loops may still hold, once each loop has come to rest.
 *
 * Loops read shared blocks without a lock and hold them no longer than their turn. Who replaces a
 * block retires the old one; it is released when every loop has ended the turn it was in. All
 * calls, the release functions too, are made under one lock of the owner. */
#pragma once

#include "net/loop.h"
#include "server/core/api.h"

struct retire_batch;

struct retire {
    struct retire_batch *filling; /* since the last retire_rest() */
    struct retire_batch *resting; /* waits for the loops */
    struct loop *loops[API_LOOPS_MAX];
    size_t n_loops;
};

/* From now on these loops read. Before that, what is retired is released at once. */
void retire_serve(struct retire *r, struct loop *const *loops, size_t n_loops);
/* No loop runs any more: releases everything. */
void retire_done(struct retire *r);

void retire_keep(struct retire *r, void *block, void (*release)(void *block));
/* After one or more retire_keep(): sends word to the loops, and releases what they have let go. */
void retire_rest(struct retire *r);
