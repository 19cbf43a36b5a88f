#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#include "base/banned.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

static int64_t system_mono(const struct clock *c)
{
    (void)c;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t system_wall(const struct clock *c)
{
    (void)c;
    return read_clock(CLOCK_REALTIME);
}

const struct clock clock_system = { system_mono, system_wall };

static int64_t fake_now(const struct clock *c)
{
    return atomic_load(&((const struct clock_fake *)c)->now_ns);
}

void clock_fake_init(struct clock_fake *f, int64_t start_ns)
{
    f->clock = (struct clock){ fake_now, fake_now };
    atomic_init(&f->now_ns, start_ns);
}

void clock_fake_advance(struct clock_fake *f, int64_t ns)
{
    atomic_fetch_add(&f->now_ns, ns);
}

struct str clock_format(int64_t wall_ns, bool micros, char text[static CLOCK_TEXT_BYTES])
{
    time_t sec = (time_t)(wall_ns / NS_PER_SEC);
    int64_t rest = wall_ns % NS_PER_SEC;
    if (rest < 0) {
        rest += NS_PER_SEC;
        sec--;
    }
    struct tm tm;
    (void)gmtime_r(&sec, &tm);
    size_t n = strftime(text, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
    int more = micros ? snprintf(text + n, CLOCK_TEXT_BYTES - n, ".%06dZ", (int)(rest / 1000))
                      : snprintf(text + n, CLOCK_TEXT_BYTES - n, "Z");
    return (struct str){ text, n + (size_t)more };
}
