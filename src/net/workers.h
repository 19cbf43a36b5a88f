/* workers.h - threads for what may block: a commit, a webhook, name lookup.
 *
 * Threads start when there is work and none is idle, up to a maximum, and end after a while
 * without any. The queue is bounded: a full one is an answer (429), not a growing list. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workers;

struct work {
    struct work *next; /* private */
    void (*run)(struct work *w);
};

struct workers *workers_new(size_t max_threads, size_t max_queued);
/* Takes no more work, runs what is queued and waits until nothing runs, at most until that time
 * (monotonic). False if something still runs. */
bool workers_stop(struct workers *w, int64_t until_ns);
/* Runs what is queued, then joins. */
struct workers *workers_free(struct workers *w);
/* True if all threads are busy, work is queued, and none was taken for that long. Any thread. */
bool workers_stuck(struct workers *w, int64_t ns);
/* Any thread. False if the queue is full; the work is then still the caller's. */
bool workers_submit(struct workers *w, struct work *work);
