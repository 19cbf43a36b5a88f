/* What nodes tell at /metrics/resource: samples are sorted and found again, and the usage of two
 * looks is a number whatever they say. The first half of the input is the look before. */
#include "metrics/metrics_read.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { NOW_MS = 1000000 };

static void must(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    const struct str all = { (const char *)bytes, n };
    arena_init(&a);
    const struct metrics_round before = metrics_read(&a, str_take(all, n / 2), NOW_MS);
    const struct metrics_round now = metrics_read(&a, str_skip(all, n / 2), 2 * NOW_MS);
    must(before.n <= LIMIT_METRICS_SAMPLES && now.n <= LIMIT_METRICS_SAMPLES);
    for (size_t i = 0; i < now.n; i++) {
        const struct metrics_sample *s = &now.samples[i];
        struct metrics_usage u;
        must(metrics_find(&now, s->ns, s->pod, s->container) == s);
        if (metrics_usage(metrics_find(&before, s->ns, s->pod, s->container), s, &u))
            must(u.window_ms > 0 && u.at_ms > 0 && u.at_ms <= INT64_MAX / 1000000);
    }
    arena_done(&a);
    return 0;
}
