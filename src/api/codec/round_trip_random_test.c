/* Random objects of every kind survive every encoding: JSON to protobuf to JSON to YAML to CBOR,
 * and their JSON is the same after each, byte for byte; only CBOR puts keys that no table knows
 * into an order of its own. SAMPAN_SEED tries other objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/codec/cbor.h"
#include "api/convert/convert.h"
#include "api/codec/proto.h"
#include "api/random/random_object.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"

enum { ROUNDS = 20, DEPTH = 6 };

struct trip {
    struct arena arena;
    const struct kind_type *type;
    struct err err;
};

/* Each takes an object through its encoding. */
static int through_json(struct trip *t, struct value *obj)
{
    autobuf text = { 0 };
    json_write(&text, obj);
    return json_read(&t->arena, arena_str(&t->arena, buf_str(&text)), NULL, obj, &t->err);
}

static int through_yaml(struct trip *t, struct value *obj)
{
    autobuf text = { 0 };
    yaml_write(&text, obj);
    return yaml_read(&t->arena, buf_str(&text), NULL, obj, &t->err);
}

static int through_cbor(struct trip *t, struct value *obj)
{
    autobuf bytes = { 0 };
    cbor_write(&bytes, t->type, obj);
    return cbor_read(&t->arena, arena_str(&t->arena, buf_str(&bytes)), obj, &t->err);
}

static int through_proto(struct trip *t, struct value *obj)
{
    autobuf bytes = { 0 };
    struct proto_envelope e;
    if (t->type->flags & KIND_JSON_ONLY)
        return 0;
    proto_envelope_write(&bytes, t->type, obj);
    int r = proto_envelope_read(arena_str(&t->arena, buf_str(&bytes)), &e, &t->err);
    return r < 0 ? r : proto_read(&t->arena, t->type, e.raw, e.api_version, e.kind, obj, &t->err);
}

static const struct {
    const char *name;
    int (*through)(struct trip *t, struct value *obj);
    bool orders_keys;
} encodings[] = {
    { "JSON", through_json }, { "protobuf", through_proto },  { "JSON again", through_json },
    { "YAML", through_yaml }, { "CBOR", through_cbor, true },
};

static void fail_trip(struct trip *t, uint64_t seed, const char *encoding, struct str what)
{
    fail_msg("seed %llu, " STR_FMT " " STR_FMT ", %s: " STR_FMT, (unsigned long long)seed,
             STR_ARG(convert_api_version(&t->arena, t->type)), STR_ARG(t->type->name), encoding,
             STR_ARG(what));
}

static bool is_same(const struct value *got, const struct value *want, bool in_any_order)
{
    autobuf got_text = { 0 }, want_text = { 0 };
    json_write(&got_text, got);
    json_write(&want_text, want);
    return in_any_order ? value_eq(got, want) : str_eq(buf_str(&got_text), buf_str(&want_text));
}

static void check_object(const struct kind_type *type, uint64_t seed)
{
    struct trip t = { .type = type };
    struct random random = { .seed = seed };
    struct value obj, want, read;
    struct typed_notes notes;
    arena_init(&t.arena);
    t.err = ERR_INIT(&t.arena);
    assert_true(random_typed(&random, &t.arena, type, DEPTH, &want));
    obj = value_share(&want);
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        if (encodings[i].through(&t, &obj) < 0 ||
            typed_read(&t.arena, type, &obj, &notes, &read, &t.err) < 0)
            fail_trip(&t, seed, encodings[i].name, t.err.msg);
        if (notes.n)
            fail_trip(&t, seed, encodings[i].name, notes.notes[0]);
        if (!is_same(&read, &want, encodings[i].orders_keys)) {
            autobuf text = { 0 };
            json_write(&text, &want);
            buf_str_add(&text, STR("\nbecame\n"));
            json_write(&text, &read);
            fail_trip(&t, seed, encodings[i].name, buf_str(&text));
        }
        obj = read;
    }
    arena_done(&t.arena);
}

static void random_objects_survive_every_encoding(void **state)
{
    (void)state;
    const char *given = getenv("SAMPAN_SEED");
    uint64_t seed = 20261115;
    (void)str_to_u64(str_of(given), &seed);
    for (size_t i = 0; i < n_kind_types * ROUNDS; i++)
        if (kind_types[i % n_kind_types].flags & KIND_HAS_TYPE_META)
            check_object(&kind_types[i % n_kind_types], seed + i / n_kind_types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_objects_survive_every_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
