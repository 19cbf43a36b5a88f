/* guard_series.h - the numbers of one authorizer, under upstream's names. They stay when the chain
 * is replaced. Any thread counts, without a lock. */
#pragma once

#include <stdatomic.h>

#include "auth/access.h"
#include "base/buf.h"
#include "server/guard/review_hook.h"

enum { GUARD_HOOK_BUCKETS = 11, GUARD_MATCH_BUCKETS = 7 };

struct guard_series {
    struct guard_series *next;
    struct str type, name; /* "RBAC", "rbac" */
    _Atomic uint64_t allowed, denied;
    /* Of webhooks. */
    _Atomic uint64_t tried[REVIEW_RESULTS][GUARD_HOOK_BUCKETS + 1]; /* by how long it took */
    _Atomic uint64_t tried_ns[REVIEW_RESULTS];
    _Atomic uint64_t failed_open[REVIEW_RESULTS];
    _Atomic uint64_t matched[GUARD_MATCH_BUCKETS + 1], matched_ns, match_errors, excluded;
};

struct guard_series *guard_series_new(struct str type, struct str name);
struct guard_series *guard_series_free(struct guard_series *s); /* with all behind it */

/* The last word about a question. NULL is fine here and below. */
void guard_series_decided(struct guard_series *s, enum access_opinion opinion);
/* One call of a webhook. */
void guard_series_tried(struct guard_series *s, enum review_result result, int64_t ns);
/* A webhook failed, and that was no refusal. */
void guard_series_failed_open(struct guard_series *s, enum review_result result);
/* Match conditions were evaluated; `result` as of match_conditions_hold(). */
void guard_series_matched(struct guard_series *s, int result, int64_t ns);

/* Of a list of them. */
void guard_series_write(struct buf *out, const struct guard_series *first);
