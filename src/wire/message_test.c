/* Trees to bytes and back: the forms of fields, and what is refused. */
#include "wire/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "wire/message_duration.h"

static struct arena arena;

static struct value tree(const char *json)
{
    struct value v;
    struct err err = ERR_INIT(&arena);
    if (json_read(&arena, str_of(json), NULL, &v, &err) < 0)
        fail_msg("%.*s: %s", STR_ARG(err.msg), json);
    return v;
}

static const struct message_type *type(const char *name)
{
    const struct message_type *m = message_find(str_of(name));
    assert_non_null(m);
    return m;
}

static struct str hex(struct str bytes)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(&out, "%02x", (unsigned char)bytes.p[i]);
    return arena_str(&arena, buf_str(&out));
}

static void expect_text(const char *expected, struct str got)
{
    assert_string_equal(expected, str_cstr(&arena, got));
}

/* A tree, its bytes, and the tree that they are read as (NULL: the same). */
static void test_forms(void **state)
{
    static const struct {
        const char *type, *tree, *hex, *again;
    } rows[] = {
        { "runtime.v1.VersionRequest", "{\"version\":\"v1\"}", "0a027631", NULL },
        { "runtime.v1.VersionRequest", "{\"version\":\"\"}", "", "{}" },
        { "runtime.v1.VersionRequest", "{\"version\":null}", "", "{}" },
        { "runtime.v1.StopContainerRequest", "{\"timeout\":30,\"container_id\":\"c\"}",
          "0a0163101e", "{\"container_id\":\"c\",\"timeout\":30}" },
        { "runtime.v1.StopContainerRequest", "{\"containerId\":\"c\",\"timeout\":\"-1\"}",
          "0a016310ffffffffffffffffff01", "{\"container_id\":\"c\",\"timeout\":-1}" },
        { "runtime.v1.LinuxContainerUser", "{\"uid\":1,\"supplemental_groups\":[1,300]}",
          "08011a0301ac02", NULL },
        { "runtime.v1.ContainerStateValue", "{\"state\":\"CONTAINER_EXITED\"}", "0802", NULL },
        { "runtime.v1.ContainerStateValue", "{\"state\":77}", "084d", NULL },
        { "runtime.v1.DNSConfig", "{\"servers\":[\"a\",\"\"]}", "0a01610a00", NULL },
        { "runtime.v1.PodSandboxFilter", "{\"label_selector\":{\"k\":\"v\",\"e\":\"\"}}",
          "1a060a016b1201761a030a0165", NULL },
        { "runtime.v1.LinuxSandboxSecurityContext", "{\"run_as_user\":0}", "1a00", NULL },
        { "runtime.v1.LinuxSandboxSecurityContext", "{\"run_as_user\":1000,\"privileged\":false}",
          "1a0308e807", "{\"run_as_user\":1000}" },
        { "runtime.v1.HugepageLimit", "{\"limit\":18446744073709551615}", "10ffffffffffffffffff01",
          NULL },
        { "google.protobuf.Duration", "\"1.5s\"", "08011080cab5ee01", NULL },
        { "google.protobuf.Duration", "\"0s\"", "", NULL },
        { "google.protobuf.Duration", "\"-0.5s\"", "1080b6ca91feffffffff01", NULL },
        { "google.protobuf.DoubleValue", "0.25", "09000000000000d03f", NULL },
        { "google.protobuf.Struct", "{\"a\":null,\"b\":[true,\"x\",{}]}",
          "0a070a01611202"
          "0800"
          "0a140a01621 20f320d0a0220010a031a01780a022a00",
          NULL },
        { "google.rpc.Status",
          "{\"code\":5,\"details\":[{\"@type\":\"type.googleapis.com/runtime.v1.VersionRequest\","
          "\"version\":\"x\"}]}",
          "08051a340a2d747970652e676f6f676c65617069732e636f6d2f72756e74696d652e76312e56657273696f6e"
          "526571756573741203"
          "0a0178",
          NULL },
        { "google.rpc.Status",
          "{\"details\":[{\"@type\":\"a/google.protobuf.BoolValue\",\"value\":true}]}",
          "1a210a1b612f676f6f676c652e70726f746f6275662e426f6f6c56616c756512020801", NULL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        autobuf expected = { 0 };
        autobuf text = { 0 };
        const struct value v = tree(rows[i].tree);
        struct value again;
        for (const char *p = rows[i].hex; *p; p++)
            if (*p != ' ')
                buf_byte(&expected, *p);
        buf_byte(&expected, 0);
        if (message_write(&out, type(rows[i].type), &v, &err) < 0)
            fail_msg("%s: %.*s", rows[i].tree, STR_ARG(err.msg));
        expect_text(expected.p, hex(buf_str(&out)));
        if (message_read(&arena, type(rows[i].type), buf_str(&out), &again, &err) < 0)
            fail_msg("%s: %.*s", rows[i].tree, STR_ARG(err.msg));
        json_write(&text, &again);
        expect_text(rows[i].again ? rows[i].again : rows[i].tree, buf_str(&text));
    }
}

static void test_long_lengths(void **state)
{
    struct err err = ERR_INIT(&arena);
    autobuf out = { 0 };
    char text[20000];
    struct value config = value_object(), metadata = value_object(), again;
    (void)state;
    memset(text, 'x', sizeof(text));
    value_put(&arena, &metadata, STR("name"), value_string((struct str){ text, sizeof(text) }));
    value_put(&arena, &config, STR("metadata"), metadata);
    value_put(&arena, &config, STR("log_path"), value_string(STR("behind")));
    const struct message_type *m = type("runtime.v1.ContainerConfig");
    assert_int_equal(message_write(&out, m, &config, &err), 0);
    assert_int_equal(message_read(&arena, m, buf_str(&out), &again, &err), 0);
    assert_true(value_eq(&config, &again));
}

static void test_refused_trees(void **state)
{
    static const struct {
        const char *type, *tree, *why;
    } rows[] = {
        { "runtime.v1.VersionRequest", "[]", "it is not an object" },
        { "runtime.v1.VersionRequest", "{\"a\":1}",
          "runtime.v1.VersionRequest has no field \"a\"" },
        { "runtime.v1.VersionRequest", "{\"version\":1}", "version: it is not text" },
        { "runtime.v1.StatusRequest", "{\"verbose\":1}", "verbose: it is not true or false" },
        { "runtime.v1.DNSConfig", "{\"servers\":\"a\"}", "servers: it is not an array" },
        { "runtime.v1.PodSandboxMetadata", "{\"attempt\":-1}",
          "attempt: it is not an integer from 0 on" },
        { "runtime.v1.PodSandboxMetadata", "{\"attempt\":4294967296}",
          "attempt: it is not an integer of 32 bits" },
        { "runtime.v1.ContainerStateValue", "{\"state\":\"GONE\"}",
          "state: \"GONE\" is no name of it" },
        { "google.protobuf.Duration", "\"1\"", "it is not a duration, as \"1.5s\"" },
        { "google.rpc.Status", "{\"details\":[{\"@type\":\"x/y.Z\"}]}",
          "details: there is no message \"x/y.Z\"" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        const struct value v = tree(rows[i].tree);
        buf_byte(&out, 'k');
        assert_int_equal(message_write(&out, type(rows[i].type), &v, &err), -ERR_INVALID);
        expect_text(rows[i].why, err.msg);
        assert_int_equal(out.n, 1);
    }
}

static void test_refused_bytes(void **state)
{
    static const struct {
        const char *type;
        struct str bytes;
        int code;
    } rows[] = {
        { "runtime.v1.VersionRequest", STR("\x0a\x05v1"), -ERR_BAD_REQUEST }, /* cut */
        { "runtime.v1.VersionRequest", STR("\x08\x05"), -ERR_BAD_REQUEST },   /* a number */
        { "runtime.v1.VersionRequest", STR("\x80"), -ERR_BAD_REQUEST },
        { "runtime.v1.LinuxContainerUser", STR("\x1a\x02\x01\x80"), -ERR_BAD_REQUEST },
        { "runtime.v1.PodSandboxFilter", STR("\x18\x01"), -ERR_BAD_REQUEST }, /* no entry */
        { "runtime.v1.VersionRequest", STR("\xfa\x01\x01x"), 0 },             /* unknown: skipped */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct value v;
        assert_int_equal(message_read(&arena, type(rows[i].type), rows[i].bytes, &v, &err),
                         rows[i].code);
    }
}

static void test_depth(void **state)
{
    struct err err = ERR_INIT(&arena);
    autobuf text = { 0 };
    autobuf out = { 0 };
    struct value v;
    (void)state;
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "{\"a\":");
    buf_printf(&text, "1");
    for (int i = 0; i < 40; i++)
        buf_byte(&text, '}');
    buf_byte(&text, 0);
    v = tree(text.p);
    assert_int_equal(message_write(&out, type("google.protobuf.Struct"), &v, &err), -ERR_INVALID);
}

static void test_durations(void **state)
{
    static const char *const bad[] = {
        "", "s", "1", ".5s", "1.s", "1.0000000000s", "+1s", "1.5", "315576000001s", "1.-5s"
    };
    int64_t seconds;
    int32_t nanos;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(message_duration_read(str_of(bad[i]), &seconds, &nanos));
    assert_true(message_duration_read(STR("0.000000001s"), &seconds, &nanos));
    assert_int_equal(nanos, 1);
}

static void test_names(void **state)
{
    (void)state;
    assert_null(message_find(STR("runtime.v1.Nothing")));
    assert_null(message_find(STR("")));
    expect_text("runtime.v1.VersionRequest", message_name(type("runtime.v1.VersionRequest")));
}

/* Much less on the wire than in a tree. */
static void test_allowance(void **state)
{
    static const char *const types[] = {
        "runtime.v1.LinuxContainerUser", /* packed */
        "envoy.service.discovery.v3.DiscoveryRequest",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct allowance allowance = { .max = 1 << 20 };
        struct arena a;
        struct value v;
        autobuf bytes = { 0 };
        arena_init(&a);
        arena_allow(&a, &allowance);
        struct err err = ERR_INIT(&a);
        if (i == 0)
            buf_add(&bytes, "\x1a\x80\x80\x80\x01", 5); /* two million numbers */
        for (int k = 0; k < 1 << 21; k++)
            buf_add(&bytes, i ? "\x1a\0" : "\1", i ? 2 : 1);
        assert_int_equal(message_read(&a, type(types[i]), buf_str(&bytes), &v, &err),
                         -ERR_TOO_LARGE);
        assert_in_range(allowance.held, 1, 4 << 20);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),         cmocka_unit_test(test_long_lengths),
        cmocka_unit_test(test_refused_trees), cmocka_unit_test(test_refused_bytes),
        cmocka_unit_test(test_depth),         cmocka_unit_test(test_durations),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_allowance),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
