/* gotime.h - times as Go reads and writes them. Rules only: no clock. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct gotime {
    int64_t sec; /* since 1970, UTC */
    int32_t nanos;
};

/* RFC 3339 with any offset and any fraction. ERR_BAD_REQUEST in the words of time.Parse. */
int gotime_parse(struct str text, struct gotime *ret, struct err *err);
/* "2006-01-02T15:04:05Z", or with six digits of a second; in the arena. */
struct str gotime_format(struct arena *a, struct gotime t, bool micros);
