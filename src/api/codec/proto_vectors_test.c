/* The filled object of every kind, as Go wrote it: protobuf read is written as the JSON, the YAML
 * and the protobuf that Go wrote, and so are JSON and YAML as protobuf, byte for byte. */
#include "api/codec/proto.h"

#include "api/codec/round_trip_test.h"
#include "base/idiom.h"

static struct {
    enum round_trip_form from, to;
    struct vectors_count count;
} ways[] = {
    { ROUND_TRIP_PROTO, ROUND_TRIP_PROTO, { .name = "protobuf to protobuf, byte for byte" } },
    { ROUND_TRIP_PROTO, ROUND_TRIP_JSON, { .name = "protobuf to JSON, byte for byte" } },
    { ROUND_TRIP_PROTO, ROUND_TRIP_YAML, { .name = "protobuf to YAML, byte for byte" } },
    { ROUND_TRIP_JSON, ROUND_TRIP_PROTO, { .name = "JSON to protobuf, byte for byte" } },
    { ROUND_TRIP_YAML, ROUND_TRIP_PROTO, { .name = "YAML to protobuf, byte for byte" } },
};
enum { N_WAYS = ARRAY_LEN(ways) };

static void check(struct round_trip *r)
{
    for (size_t i = 0; i < N_WAYS; i++)
        vectors_score(&ways[i].count, round_trip_passes(r, ways[i].from, ways[i].to), r->name);
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "k8s-roundtrip");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    round_trips_each(check);
    bool good = true;
    for (size_t i = 0; i < N_WAYS; i++)
        good = vectors_report(&ways[i].count, 1) && good;
    return good ? 0 : 1;
}
