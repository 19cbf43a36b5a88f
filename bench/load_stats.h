/* load_stats.h - what a scenario counts: a histogram of latencies, bytes, and every answer that was
 * not what it should be, by its code.
 *
 * Values are kept in buckets, 64 to each power of two, so a percentile is right within 1.6 percent
 * at any length of run and adding costs a few instructions. One owner, one thread. */
#pragma once

#include "base/buf.h"

enum {
    LOAD_SUB_BITS = 6,
    LOAD_TOP_BITS = 40, /* 18 minutes in nanoseconds; what is longer counts as that */
    LOAD_BUCKETS = (LOAD_TOP_BITS - LOAD_SUB_BITS + 1) << LOAD_SUB_BITS,
    LOAD_CODES = 600,
    LOAD_FIRST_ERROR_BYTES = 240,
};

struct load_histogram {
    uint64_t buckets[LOAD_BUCKETS];
    uint64_t n;
    int64_t max_ns;
};

void load_histogram_add(struct load_histogram *h, int64_t ns);
/* The value that `share` (0 to 1) of all values do not exceed; 0 of none. */
int64_t load_histogram_at(const struct load_histogram *h, double share);

struct load_stats {
    struct load_histogram latency;  /* of answers that were right */
    struct load_histogram delivery; /* watch only: of one event to one watcher */
    uint64_t n_bytes;               /* of bodies received, right or wrong */
    double seconds;
    double own_cpu;                           /* seconds that the generator itself used */
    uint64_t codes[LOAD_CODES];               /* answers that are not 2xx */
    uint64_t n_broken;                        /* the connection or the stream ended first */
    uint64_t n_late;                          /* given up by us */
    uint64_t n_wrong;                         /* 2xx, with a body that cannot be right */
    char first_error[LOAD_FIRST_ERROR_BYTES]; /* for people; empty if there was none */
};

enum load_fault { LOAD_BROKEN, LOAD_LATE, LOAD_WRONG };

void load_stats_reset(struct load_stats *s);
/* Forgets times and bytes, and keeps the errors. */
void load_stats_warm(struct load_stats *s);
/* Another round of the same scenario. */
void load_stats_merge(struct load_stats *s, const struct load_stats *round);
void load_stats_right(struct load_stats *s, int64_t ns);
/* `body` is what there is of the answer, perhaps nothing. */
void load_stats_code(struct load_stats *s, int status, struct str body);
void load_stats_fault(struct load_stats *s, enum load_fault fault, struct str why);
uint64_t load_stats_errors(const struct load_stats *s);
/* "409: 3, broken: 1", or nothing. */
void load_stats_list_errors(const struct load_stats *s, bool json, struct buf *out);
