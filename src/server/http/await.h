/* await.h - waiting for a revision that is not there yet.
 *
 * A client may name a revision that others have seen and we have not. Whoever is asked for it waits
 * for a moment before it refuses: on a loop by looking again and again, on a worker by waiting. */
#pragma once

#include "net/loop.h"
#include "store/store.h"

enum { AWAIT_MS = 3000 };

struct await {
    struct store *store;
    uint64_t rev;       /* the newest one must not be below it */
    int64_t give_up_ns; /* of the loop's clock */
};

/* The time to wait begins now. Thread: the loop's. */
struct await await_from_now(struct loop *loop, struct store *store, uint64_t rev);

/* 1 if the revision is there; 0 if not, then the caller's timer is set for looking again; or
 * ERR_TIMEOUT. Thread: the loop's. */
int await_look(const struct await *a, struct loop *loop, struct loop_timer *timer, struct err *err);

/* 0 or ERR_TIMEOUT. Blocks. */
int await_on_worker(struct store *store, uint64_t rev, struct err *err);
