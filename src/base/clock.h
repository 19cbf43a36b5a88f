/* clock.h - time as an argument, so that tests can set it.
 *
 * Monotonic nanoseconds measure durations, wall nanoseconds (since 1970, UTC) go into objects.
 * Rule code takes `now` as an argument instead. Any thread may read a clock. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/str.h"

struct clock {
    int64_t (*mono_ns)(const struct clock *c);
    int64_t (*wall_ns)(const struct clock *c);
};

#define NS_PER_MS  INT64_C(1000000)
#define NS_PER_SEC INT64_C(1000000000)

extern const struct clock clock_system;

static inline int64_t clock_mono_ns(const struct clock *c)
{
    return c->mono_ns(c);
}

static inline int64_t clock_wall_ns(const struct clock *c)
{
    return c->wall_ns(c);
}

/* A clock that only moves when told to. Its monotonic time starts at `start_ns` too. */
struct clock_fake {
    struct clock clock; /* first: hand out &fake.clock */
    _Atomic int64_t now_ns;
};

void clock_fake_init(struct clock_fake *f, int64_t start_ns);
void clock_fake_advance(struct clock_fake *f, int64_t ns);

/* RFC 3339 in UTC: "2026-11-15T10:36:42Z", or with six digits of a second. The bytes written
 * (no NUL) are returned as a str over `text`. */
enum { CLOCK_TEXT_BYTES = 40 };
struct str clock_format(int64_t wall_ns, bool micros, char text[static CLOCK_TEXT_BYTES]);
