/* metrics_read.h - what nodes tell at /metrics/resource, and what it means: usage by two looks.
 * Rules only. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* A container, or the node itself: then the names are empty. */
struct metrics_sample {
    struct str ns, pod, container;
    double cpu_seconds, memory_bytes;
    int64_t at_ms; /* of the counter; 0: not said */
};

struct metrics_round {
    struct metrics_sample *samples; /* sorted by namespace, pod, container */
    size_t n;
};

/* Lines that are none of ours, or no lines at all, are passed over. Bounded by
 * LIMIT_METRICS_SAMPLES. Texts are borrowed. */
struct metrics_round metrics_read(struct arena *a, struct str text, int64_t now_ms);

/* The sample of these names; NULL: none. */
const struct metrics_sample *metrics_find(const struct metrics_round *r, struct str ns,
                                          struct str pod, struct str container);

struct metrics_usage {
    uint64_t cpu_nano, memory_bytes;
    int64_t at_ms, window_ms;
};
/* False: there are no two looks at it that could be told apart, it has begun anew, or nothing uses
 * so much. */
bool metrics_usage(const struct metrics_sample *before, const struct metrics_sample *now,
                   struct metrics_usage *ret);
