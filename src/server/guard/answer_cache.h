/* answer_cache.h - what others have answered lately, by question: bounded, each for its own time.
 *
 * Keys are hashes, so that no token lies in memory longer than its request. The one that was not
 * used for longest goes first. Any thread; the lock is held for a look-up or a copy only. */
#pragma once

#include "base/arena.h"
#include "base/clock.h"

struct answer_cache;

enum { ANSWER_BYTES_MAX = 64 << 10 }; /* of one answer; larger ones are not kept */

struct answer_cache *answer_cache_new(size_t max_entries, const struct clock *clock);
struct answer_cache *answer_cache_free(struct answer_cache *c);

/* The answer, in the arena. False: there is none, or its time is over. */
bool answer_cache_get(struct answer_cache *c, struct str question, struct arena *a,
                      struct str *ret);
void answer_cache_clear(struct answer_cache *c);
/* For no time at all it is not kept. */
void answer_cache_put(struct answer_cache *c, struct str question, struct str answer,
                      int64_t ttl_ns);
