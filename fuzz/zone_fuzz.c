/* The bytes of a time zone: each moment is in the span that is found for it, and schedules find
 * their next time, or none, but always end. */
#include <stdlib.h>

#include "api/go/cron_next.h"
#include "base/clock.h"
#include "base/idiom.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_next(const char *schedule, const struct zone_rules *zone, int64_t sec)
{
    struct cron c;
    int64_t next;
    must(cron_parse(str_of(schedule), &c, NULL) == 0);
    if (cron_next(&c, zone, sec * NS_PER_SEC, &next))
        must(next > sec * NS_PER_SEC);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const int64_t times[] = { 0, 951827696, 1774746000, 1792893600, 4102444800 };
    struct arena a;
    const struct zone_rules *zone;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (zone_rules_parse(&a, (struct str){ (const char *)bytes, n }, &zone, &err) == 0)
        for (size_t i = 0; i < ARRAY_LEN(times); i++) {
            const struct zone_span s = zone_span_at(zone, times[i]);
            must(s.start <= times[i] && times[i] < s.end);
            (void)zone_moment(zone, times[i]);
            check_next("30 2 * * *", zone, times[i]);
            check_next("0 0 29 2 1", zone, times[i]);
        }
    arena_done(&a);
    return 0;
}
