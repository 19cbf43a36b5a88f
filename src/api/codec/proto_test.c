#include "api/codec/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/suite_json.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"

static const struct kind_type *type(const char *name)
{
    const struct kind_type *t = kind_type_find(STR(""), STR("v1"), str_of(name));
    return t ? t : kind_type_find(STR("meta"), STR("v1"), str_of(name));
}

/* What a message of that type reads as, or NULL. */
static const char *read_as(const char *name, struct str bytes)
{
    struct err err = ERR_INIT(&suite_arena);
    struct value v;
    if (proto_read(&suite_arena, type(name), bytes, STR("v1"), str_of(name), &v, &err) < 0) {
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        return NULL;
    }
    autobuf text = { 0 };
    json_write(&text, &v);
    return str_cstr(&suite_arena, buf_str(&text));
}

static void messages_become_objects(void **state)
{
    (void)state;
    assert_string_equal(read_as("ConfigMap", STR("")),
                        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}");
    /* metadata.name, data[k]=v, immutable=true; an unknown field 100 between them */
    assert_string_equal(
        read_as("ConfigMap", STR("\x0a\x03\x0a\x01"
                                 "a\xa0\x06\x07\x12\x06\x0a\x01k\x12\x01v\x20\x01")),
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},"
        "\"immutable\":true,\"data\":{\"k\":\"v\"}}");
    /* A negative number has ten bytes. */
    assert_string_equal(read_as("ObjectMeta", STR("\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
                        "{\"generation\":-1}");
    /* A map entry without a value has the zero one. */
    assert_string_equal(read_as("ConfigMap", STR("\x12\x03\x0a\x01k")),
                        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{},"
                        "\"data\":{\"k\":\"\"}}");
}

static void bad_bytes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct str bytes;
    } rows[] = {
        { "tag 0", { "\x00", 1 } },
        { "wire type 6", { "\x0e", 1 } },
        { "wire type 7", { "\x0f", 1 } },
        { "cut in a tag", { "\x80", 1 } },
        { "cut in a length", { "\x0a", 1 } },
        { "length past the end",
          { "\x0a\x05"
            "a",
            3 } },
        { "name is a number", { "\x0a\x02\x08\x01", 4 } },
        { "text that is not UTF-8", { "\x0a\x03\x0a\x01\xff", 5 } },
        { "group that ends without beginning", { "\x0c", 1 } },
        { "group that does not end", { "\xa3\x06", 2 } },
        { "group that ends as another", { "\xa3\x06\xac\x06", 4 } },
        /* CVE-2021-3121: a length whose sum with the offset wraps */
        { "unknown field of 2^63-1 bytes", { "\xa2\x06\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11 } },
        { "unknown field of 2^64-1 bytes",
          { "\xa2\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 } },
        /* CVE-2022-48468: a length prefix that is itself cut short inside a message */
        { "cut prefix in a message", { "\x0a\x02\x0a\x80", 4 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (read_as("ConfigMap", rows[i].bytes))
            fail_msg("accepted: %s", rows[i].what);
}

/* CVE-2024-7254, CVE-2025-4565: groups in groups, also inside a map entry. */
static void nesting_is_bounded(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    autofree char *groups = mem_alloc(MANY);
    memset(groups, 0x0b, MANY);
    assert_null(read_as("ConfigMap", (struct str){ groups, MANY }));
    autobuf entry = { 0 };
    buf_str_add(&entry, STR("\x12\xd0\x86\x03"));
    buf_add(&entry, groups, MANY);
    assert_null(read_as("ConfigMap", buf_str(&entry)));
}

/* CVE-2020-16845: a number that never ends is given up after ten bytes. */
static void endless_numbers_are_refused(void **state)
{
    (void)state;
    enum { MANY = 1 << 20 };
    autofree char *bytes = mem_alloc(MANY);
    memset(bytes, 0x80, MANY);
    assert_null(read_as("ConfigMap", (struct str){ bytes, MANY }));
    bytes[0] = 0x20; /* immutable */
    assert_null(read_as("ConfigMap", (struct str){ bytes, MANY }));
}

/* CVE-2022-1941: many small unknown groups cost no more than their length. */
static void many_unknown_fields_are_linear(void **state)
{
    (void)state;
    autobuf bytes = { 0 };
    for (int i = 0; i < 300000; i++)
        buf_str_add(&bytes, STR("\xa3\x06\x10\x01\x1a\x00\xa4\x06"));
    size_t held = suite_arena.held;
    assert_non_null(read_as("ConfigMap", buf_str(&bytes)));
    assert_true(suite_arena.held - held < 65536);
}

/* Two bytes each: what is read of them is little more than a value each. */
static void many_empty_messages_take_little(void **state)
{
    (void)state;
    enum { N = 500000 };
    autobuf bytes = { 0 };
    struct err err = ERR_INIT(&suite_arena);
    struct value out;
    for (size_t i = 0; i < N; i++)
        buf_add(&bytes, "\x6a\0", 2); /* ownerReferences */
    assert_int_equal(
        proto_read(&suite_arena, type("ObjectMeta"), buf_str(&bytes), STR(""), STR(""), &out, &err),
        0);
    assert_int_equal(value_get(&out, STR("ownerReferences"))->n, N);
    assert_true(suite_arena.held < 20 * bytes.n);
}

static void envelopes(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&suite_arena);
    struct proto_envelope e;
    assert_int_equal(
        proto_envelope_read(STR("k8s\0\x0a\x08\x0a\x02v1\x12\x02Xy\x12\x01z\x1a\x00"), &e, &err),
        0);
    assert_true(str_eq(e.api_version, STR("v1")));
    assert_true(str_eq(e.kind, STR("Xy")));
    assert_true(str_eq(e.raw, STR("z")));
    static const struct {
        struct str bytes;
        const char *why;
    } rows[] = {
        { STR(""), "empty data" },
        { STR("k8s\0"), "empty body" },
        { STR("k8s\0\x0a\xff"), "unexpected EOF" },
        { STR("k8s\0\x0a\x08\x0a"), "unexpected EOF" },
        { STR("k8s"), "provided data does not appear to be a protobuf message, expected prefix "
                      "[107 56 115 0]" },
        { STR("{\"kind\":\"Pod\"}"), "provided data does not appear to be a protobuf message, "
                                     "expected prefix [107 56 115 0]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(proto_envelope_read(rows[i].bytes, &e, &err), -ERR_BAD_REQUEST);
        assert_string_equal(str_cstr(&suite_arena, err.msg), rows[i].why);
        err_clear(&err);
    }
}

/* Plain scalars and structs are written even when they are zero, pointers only when they are set.
 */
static void zero_values_are_written_as_go_does(void **state)
{
    (void)state;
    autobuf out = { 0 };
    struct value v = value_object();
    proto_write(&out, type("ContainerPort"), &v);
    assert_true(str_eq(buf_str(&out), STR("\x0a\x00\x10\x00\x18\x00\x22\x00\x2a\x00")));
    buf_reset(&out);
    proto_write(&out, type("HTTPGetAction"), &v);
    assert_true(
        str_eq(buf_str(&out), STR("\x0a\x00\x12\x06\x08\x00\x10\x00\x1a\x00\x1a\x00\x22\x00")));
}

/* None has more fields than the writer has room for; it asserts that. */
static void every_type_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_kind_types; i++) {
        autobuf out = { 0 }, item = { 0 };
        struct value nothing = value_object();
        proto_write(&out, &kind_types[i], &nothing);
        proto_write_item(&item, 1, &kind_types[i], &nothing);
        assert_true(item.n >= out.n + 2);
        assert_memory_equal(item.p + item.n - out.n, out.n ? out.p : "", out.n);
    }
}

int main(void)
{
#define PROTO_TEST(name) \
    cmocka_unit_test_setup_teardown(name, suite_arena_set_up, suite_arena_tear_down)
    const struct CMUnitTest tests[] = {
        PROTO_TEST(messages_become_objects),
        PROTO_TEST(bad_bytes_are_refused),
        PROTO_TEST(nesting_is_bounded),
        PROTO_TEST(endless_numbers_are_refused),
        PROTO_TEST(many_unknown_fields_are_linear),
        PROTO_TEST(many_empty_messages_take_little),
        PROTO_TEST(envelopes),
        PROTO_TEST(zero_values_are_written_as_go_does),
        PROTO_TEST(every_type_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
