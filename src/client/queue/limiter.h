/* limiter.h - how long a retry waits: longer each time for one key, and not too many of all keys.
 *
 * A key's n-th retry waits the first delay doubled n times. All retries together take tokens from a
 * bucket that fills at a steady rate; a retry that finds it empty waits for a token to come, after
 * all those that wait already. The longer of both waits counts. Time is an argument. */
#pragma once

#include <stdint.h>

#define LIMITER_LONGEST_NS INT64_C(1000000000000000000) /* no delay is longer */

struct limiter {
    int64_t first_ns, max_ns;
    double per_second; /* not above 0: there is no bucket */
    double burst;
    double tokens; /* negative: so many wait for theirs */
    int64_t filled_ns;
};

/* The bucket is full at the beginning. */
void limiter_init(struct limiter *l, int64_t first_ns, int64_t max_ns, double per_second,
                  unsigned burst);
/* The delay of a key that was retried so many times before. Takes a token. */
int64_t limiter_delay_ns(struct limiter *l, unsigned retries, int64_t now_ns);
