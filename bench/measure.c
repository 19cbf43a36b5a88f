#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

enum { ROUNDS = 15, ROUND_MS = 60, CALLS = 100 };

void measure_must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s failed\n", program_invocation_short_name, what);
    exit(1);
}

int64_t measure_wall_ns(void)
{
    return clock_mono_ns(&clock_system);
}

int64_t measure_thread_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_SEC + t.tv_nsec;
}

static double seconds_of(int who)
{
    struct rusage use;
    (void)getrusage(who, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) / 1e6;
}

double measure_others_s(void)
{
    return seconds_of(RUSAGE_SELF) - seconds_of(RUSAGE_THREAD);
}

double measure_us(int64_t (*now_ns)(void), void (*once)(void))
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = now_ns(), now = start;
        size_t calls = 0;
        while (now - start < ROUND_MS * NS_PER_MS) {
            for (int i = 0; i < CALLS; i++)
                once();
            calls += CALLS;
            now = now_ns();
        }
        double us = (double)(now - start) / 1000 / (double)calls;
        best = us < best ? us : best;
    }
    return best;
}
