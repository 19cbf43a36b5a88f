#include "client/controller/lease_record.h"

#include "client/bridge.h"
#include "base/banned.h"

static int64_t int_at(const struct spn_value *spec, const char *key)
{
    int64_t i = 0;
    (void)spn_value_int(spn_value_get(spec, key), &i);
    return i;
}

struct lease_record lease_record_read(const struct spn_value *lease)
{
    const struct spn_value *spec = spn_value_get(lease, "spec");
    return (struct lease_record){
        .holder = spn_value_text(spn_value_get(spec, "holderIdentity")),
        .seconds = int_at(spec, "leaseDurationSeconds"),
        .transitions = int_at(spec, "leaseTransitions"),
        .acquired = spn_value_text(spn_value_get(spec, "acquireTime")),
        .renewed = spn_value_text(spn_value_get(spec, "renewTime")),
    };
}

static void put_time(struct spn_arena *a, struct spn_value *spec, const char *key,
                     struct spn_text time)
{
    if (time.n)
        spn_value_set_text(a, spec, key, spn_arena_text(a, time));
}

void lease_record_write(struct spn_arena *a, struct spn_value *lease, const struct lease_record *r)
{
    struct spn_value *spec = spn_value_set(a, lease, "spec", spn_value_new(a, SPN_OBJECT));
    spn_value_set_text(a, spec, "holderIdentity", spn_arena_text(a, r->holder));
    spn_value_set_int(a, spec, "leaseDurationSeconds", r->seconds);
    put_time(a, spec, "acquireTime", r->acquired);
    put_time(a, spec, "renewTime", r->renewed);
    spn_value_set_int(a, spec, "leaseTransitions", r->transitions);
}

bool lease_record_eq(const struct lease_record *a, const struct lease_record *b)
{
    return spn_text_eq(a->holder, b->holder) && a->seconds == b->seconds &&
           a->transitions == b->transitions && spn_text_eq(a->acquired, b->acquired) &&
           spn_text_eq(a->renewed, b->renewed);
}

struct lease_record lease_record_copy(struct spn_arena *a, const struct lease_record *r)
{
    return (struct lease_record){
        .holder = spn_arena_text(a, r->holder),
        .seconds = r->seconds,
        .transitions = r->transitions,
        .acquired = spn_arena_text(a, r->acquired),
        .renewed = spn_arena_text(a, r->renewed),
    };
}

struct spn_text lease_time(struct spn_arena *a, int64_t wall_ns)
{
    char text[CLOCK_TEXT_BYTES];
    return spn_arena_text(a, text_out(clock_format(wall_ns, true, text)));
}
