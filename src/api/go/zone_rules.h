/* zone_rules.h - what a time zone means: how far its clocks are from UTC, and since when. Read from
 * the bytes of a TZif file (RFC 9636). Rules only: no files are looked at. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct zone_rules; /* in an arena; never changes */

/* ERR_BAD_REQUEST: these bytes are none. */
int zone_rules_parse(struct arena *a, struct str bytes, const struct zone_rules **ret,
                     struct err *err);

/* From `start` up to, but without, `end` clocks are `offset` seconds before UTC. */
struct zone_span {
    int64_t start, end;
    int32_t offset;
};
/* Without rules: UTC. */
struct zone_span zone_span_at(const struct zone_rules *z, int64_t sec);

/* The moment of a time that clocks show. One that they show twice is one of both; one that they
 * skip is moved by as much as they are. As Go does it. `shown` is that time as if it were UTC. */
int64_t zone_moment(const struct zone_rules *z, int64_t shown);
