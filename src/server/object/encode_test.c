#include "server/object/encode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "server/object/stored.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define META                                                                                     \
    "\"metadata\":{\"name\":\"n\",\"namespace\":\"a\",\"creationTimestamp\":\"2030-01-02T03:04:" \
    "05Z\""                                                                                      \
    ",\"managedFields\":[{\"manager\":\"m\"}]}"

static struct store_entry entry_of(const char *json)
{
    struct value obj;
    autobuf bytes = { 0 };
    assert_int_equal(json_read(&arena, str_of(json), NULL, &obj, NULL), 0);
    stored_write(&bytes, NULL, &obj);
    return (struct store_entry){ .key = STR("/registry/x"),
                                 .value = arena_str(&arena, buf_str(&bytes)),
                                 .mod_rev = 42 };
}

static const struct kind_resource *resource(const char *group, const char *version,
                                            const char *plural)
{
    const struct kind_version *v = kind_version_find(str_of(group), str_of(version));
    return kind_resource_find(v, str_of(plural));
}

static struct str encoded(const struct encoder *e, const struct store_entry *entry)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(&arena);
    if (encode_entry(&out, &arena, e, entry, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return arena_str(&arena, buf_str(&out));
}

/* What is spliced and what is parsed and written says the same. */
static void splices_are_the_same_text(void **state)
{
    static const enum format_as forms[] = { FORMAT_OBJECT, FORMAT_PARTIAL };
    struct store_entry entry = entry_of("{" META ",\"data\":{\"k\":\"v\"}}");
    const struct kind_resource *maps = resource("", "v1", "configmaps");
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int hidden = 0; hidden < 2; hidden++) {
            struct encoder e = { .format.as = forms[i], .resource = maps, .stored = maps };
            e.format.managers = hidden ? FORMAT_MANAGERS_HIDDEN : FORMAT_MANAGERS_SHOWN;
            assert_true(encode_splices(&e, &entry));
            struct value obj;
            autobuf parsed = { 0 };
            assert_int_equal(stored_read(&arena, maps->type, &entry, &obj, NULL), 0);
            assert_int_equal(encode_object(&parsed, &arena, &e, &obj, NULL), 0);
            struct str spliced = encoded(&e, &entry);
            assert_string_equal(str_cstr(&arena, spliced), str_cstr(&arena, buf_str(&parsed)));
            assert_int_equal(!memmem(spliced.p, spliced.n, "managedFields", 13), hidden);
        }
}

static void what_is_parsed(void **state)
{
    struct store_entry entry = entry_of("{" META "}");
    const struct kind_resource *stored = resource("apps", "v1", "deployments"),
                               *old = resource("apps", "v1beta1", "deployments");
    static const struct format formats[] = { { .media = FORMAT_YAML },
                                             { .media = FORMAT_PROTO },
                                             { .media = FORMAT_CBOR },
                                             { .pretty = true },
                                             { .as = FORMAT_TABLE } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct encoder e = { .format = formats[i], .resource = stored, .stored = stored };
        assert_false(encode_splices(&e, &entry));
    }
    struct encoder e = { .resource = old, .stored = stored };
    assert_false(encode_splices(&e, &entry));
    struct str text = encoded(&e, &entry);
    assert_true(str_starts(text, STR("{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1beta1\",")));
}

static void encodings(void **state)
{
    struct store_entry entry = entry_of("{" META ",\"data\":{\"k\":\"v\"}}");
    const struct kind_resource *maps = resource("", "v1", "configmaps");
    static const struct {
        struct format format;
        struct str start;
    } cases[] = {
        { { .media = FORMAT_YAML }, STR("apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\n") },
        { { .media = FORMAT_PROTO }, STR("k8s\0\n\x0f\n\x02v1\x12\tConfigMap") },
        { { .media = FORMAT_CBOR }, STR("\xd9\xd9\xf7\xa4") },
        { { .pretty = true }, STR("{\n  \"kind\": \"ConfigMap\",\n") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct encoder e = { .format = cases[i].format, .resource = maps, .stored = maps };
        struct str bytes = encoded(&e, &entry);
        assert_true(str_starts(bytes, cases[i].start));
    }
}

/* ---- Tables ---- */

static const char *shown(const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return str_cstr(&arena, buf_str(&out));
}

static void rows_of_tables(void **state)
{
    static const struct {
        enum encode_include include;
        const char *object;
    } cases[] = {
        { ENCODE_NONE, "null" },
        { ENCODE_META, "\"PartialObjectMetadata\"" },
        { ENCODE_OBJECT, "\"ConfigMap\"" },
    };
    struct store_entry entry = entry_of("{" META ",\"data\":{\"k\":\"v\",\"l\":\"w\"}}");
    const struct kind_resource *maps = resource("", "v1", "configmaps");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t work = 0;
        struct encoder e = { .format.as = FORMAT_TABLE,
                             .resource = maps,
                             .stored = maps,
                             .include = cases[i].include,
                             .now_ns = INT64_C(1893553445) * NS_PER_SEC + 90 * NS_PER_SEC,
                             .work = &work };
        struct str text = encoded(&e, &entry);
        struct value table;
        assert_int_equal(json_read(&arena, text, NULL, &table, NULL), 0);
        assert_string_equal(shown(value_get(&table, STR("apiVersion"))), "\"meta.k8s.io/v1\"");
        assert_string_equal(shown(value_dig(&table, "metadata", "resourceVersion")), "\"42\"");
        const struct value *row = value_at(value_get(&table, STR("rows")), 0),
                           *object = value_get(row, STR("object")),
                           *kind = value_get(object, STR("kind"));
        assert_string_equal(shown(value_get(row, STR("cells"))), "[\"n\",2,\"90s\"]");
        assert_string_equal(shown(kind ? kind : object), cases[i].object);
    }
}

static void annotations_that_stand_for_fields(void **state)
{
    struct store_entry entry = entry_of(
        "{\"metadata\":{\"name\":\"n\",\"creationTimestamp\":null,\"annotations\":{"
        "\"deprecated.daemonset.template.generation\":\"3\"}},\"spec\":{\"template\":{}}}");
    const struct kind_resource *daemons = resource("apps", "v1", "daemonsets");
    size_t work = 0;
    struct encoder e = {
        .format.as = FORMAT_TABLE, .resource = daemons, .stored = daemons, .work = &work
    };
    (void)state;
    struct str text = encoded(&e, &entry);
    assert_null(memmem(text.p, text.n, "annotations", 11));
    e.include = ENCODE_OBJECT;
    text = encoded(&e, &entry);
    assert_non_null(memmem(text.p, text.n, "daemonset.template.generation", 29));
}

static void includes(void **state)
{
    static const struct {
        const char *text;
        enum encode_include want;
    } cases[] = { { "", ENCODE_META },
                  { "Metadata", ENCODE_META },
                  { "None", ENCODE_NONE },
                  { "Object", ENCODE_OBJECT } };
    enum encode_include got;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(encode_include_parse(str_of(cases[i].text), &got, NULL), 0);
        assert_int_equal(got, cases[i].want);
    }
    assert_int_equal(encode_include_parse(STR("none"), &got, NULL), -ERR_BAD_REQUEST);
    assert_true(str_eq(encode_package(STR("")), STR("core")));
    assert_true(str_eq(encode_package(STR("rbac.authorization.k8s.io")), STR("rbac")));
}

static void damage_is_an_error(void **state)
{
    struct store_entry junk = { .key = STR("/registry/x"), .value = STR("junk, and no object") };
    const struct kind_resource *maps = resource("", "v1", "configmaps");
    struct encoder spliced = { .resource = maps, .stored = maps },
                   parsed = { .format.pretty = true, .resource = maps, .stored = maps };
    autobuf out = { 0 };
    (void)state;
    assert_int_equal(encode_entry(&out, &arena, &spliced, &junk, NULL), -ERR_DAMAGED);
    assert_int_equal(encode_entry(&out, &arena, &parsed, &junk, NULL), -ERR_DAMAGED);
    assert_int_equal(out.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(splices_are_the_same_text, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_parsed, setup, teardown),
        cmocka_unit_test_setup_teardown(encodings, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_of_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(annotations_that_stand_for_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(includes, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
