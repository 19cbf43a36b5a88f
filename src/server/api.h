/* api.h - what every API request needs of the server it came to. One per server; immutable once
 * serving, so any thread may read it. */
#pragma once

#include "base/clock.h"
#include "net/loop.h"
#include "net/workers.h"
#include "store/store.h"

struct watch_hub;

enum { API_LOOPS_MAX = 4 };

struct api {
    struct store *store;
    struct workers *workers; /* writes run here */
    const struct clock *clock;
    const char *scratch_dir; /* for files that are made on the way, beside the store */
    struct loop *loops[API_LOOPS_MAX];
    struct watch_hub *hubs[API_LOOPS_MAX]; /* one a loop */
    size_t n_loops;
};
