/* Every object of the round-trip vectors, read from JSON, YAML and protobuf, through CBOR and back:
 * the tree is the same, and what is written a second time has the same bytes, with the kind's type
 * and without. */
#include "api/codec/cbor.h"

#include "api/codec/round_trip_test.h"
#include "base/idiom.h"

static struct vectors_count counts[] = {
    [ROUND_TRIP_JSON] = { .name = "from JSON" },
    [ROUND_TRIP_YAML] = { .name = "from YAML" },
    [ROUND_TRIP_PROTO] = { .name = "from protobuf" },
    [ROUND_TRIP_FORMS] = { .name = "without the kind's type" },
};

static bool survives(struct arena *a, const struct kind_type *t, const struct value *obj)
{
    autobuf first = { 0 };
    autobuf second = { 0 };
    struct value again;
    struct err err = ERR_INIT(a);
    cbor_write(&first, t, obj);
    if (cbor_read(a, buf_str(&first), &again, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return false;
    }
    cbor_write(&second, t, &again);
    return value_eq(obj, &again) && str_eq(buf_str(&first), buf_str(&second));
}

static void check(struct round_trip *r)
{
    struct value v;
    for (size_t i = 0; i < ROUND_TRIP_FORMS; i++)
        vectors_score(&counts[i],
                      round_trip_read(r, (enum round_trip_form)i, &v) &&
                          survives(&r->arena, r->type, &v),
                      r->name);
    bool read = json_read(&r->arena, r->files[ROUND_TRIP_JSON], NULL, &v, NULL) == 0;
    vectors_score(&counts[ROUND_TRIP_FORMS], read && survives(&r->arena, NULL, &v), r->name);
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
    return vectors_report(counts, ARRAY_LEN(counts)) ? 0 : 1;
}
