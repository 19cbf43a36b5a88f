/* gotime.h - times as Go reads and writes them. Rules only: no clock. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct gotime {
    int64_t sec; /* since 1970, UTC */
    int32_t nanos;
};

/* Go's zero time, 0001-01-01T00:00:00Z, which Kubernetes writes as null. */
#define GOTIME_ZERO_SEC INT64_C(-62135596800)

/* RFC 3339 with any offset. Time takes any fraction or none, MicroTime exactly six digits.
 * ERR_BAD_REQUEST in the words of Go's time.Parse; also for a time that its offset moves out of the
 * years 0 to 9999. */
int gotime_parse(struct str text, bool micros, struct gotime *ret, struct err *err);
/* In nanoseconds since 1970, for whoever only compares and adds: a time more than GOTIME_NS_MAX
 * away is that far away, so that two of them can be added. False: it is none. */
#define GOTIME_NS_MAX (INT64_MAX / 2) /* 146 years */
bool gotime_read_ns(struct str text, int64_t *ret_ns);
/* "2006-01-02T15:04:05Z", or with six digits of a second; in the arena. Years 0 to 9999. */
struct str gotime_format(struct arena *a, struct gotime t, bool micros);
