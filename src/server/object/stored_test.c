#include "server/object/stored.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"

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

static const char *text(const struct buf *b)
{
    return str_cstr(&arena, buf_str(b));
}

static struct value parsed(const char *json)
{
    struct value v;
    assert_int_equal(json_read(&arena, str_of(json), NULL, &v, NULL), 0);
    return v;
}

static struct store_entry entry_of(const struct kind_resource *r, const char *json)
{
    autobuf bytes = { 0 };
    struct value obj = parsed(json);
    stored_write(&bytes, r, &obj);
    return (struct store_entry){ .key = STR("/registry/configmaps/a/n"),
                                 .value = arena_str(&arena, buf_str(&bytes)),
                                 .mod_rev = 42 };
}

/* ---- Keys ---- */

static void keys(void **state)
{
    static const struct {
        const char *group, *plural, *ns, *name, *key;
    } cases[] = {
        { "", "configmaps", "a", "n", "/registry/configmaps/a/n" },
        { "", "configmaps", "a", "", "/registry/configmaps/a/" },
        { "", "configmaps", "", "", "/registry/configmaps/" },
        { "", "nodes", "", "n", "/registry/minions/n" },
        { "", "nodes", "ignored", "n", "/registry/minions/n" },
        { "", "services", "a", "n", "/registry/services/specs/a/n" },
        { "", "endpoints", "a", "n", "/registry/services/endpoints/a/n" },
        { "networking.k8s.io", "ingresses", "a", "n", "/registry/ingress/a/n" },
        { "apiextensions.k8s.io", "customresourcedefinitions", "", "x.y",
          "/registry/apiextensions.k8s.io/customresourcedefinitions/x.y" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct kind_resource *r =
            kind_stored_named(str_of(cases[i].group), str_of(cases[i].plural));
        struct str key = stored_key(&arena, r, str_of(cases[i].ns), str_of(cases[i].name)), ns,
                   name;
        assert_string_equal(str_cstr(&arena, key), cases[i].key);
        if (!*cases[i].name)
            continue;
        stored_key_parts(r, key, &ns, &name);
        assert_string_equal(str_cstr(&arena, name), cases[i].name);
        assert_string_equal(str_cstr(&arena, ns), r->namespaced ? cases[i].ns : "");
    }
}

/* ---- Splicing ---- */

#define CREATED "\"creationTimestamp\":\"2030-01-02T03:04:05Z\""

static void objects_are_spliced(void **state)
{
    static const struct {
        const char *given, *want, *meta;
    } cases[] = {
        /* The revision comes where Go has it, whatever was there before. */
        { "{\"kind\":\"X\",\"apiVersion\":\"y\",\"data\":{\"k\":\"v\"},\"metadata\":{\"labels\":{"
          "\"a\":\"b\"},\"resourceVersion\":\"7\",\"name\":\"n\",\"uid\":\"u\"," CREATED "}}",
          "\"metadata\":{\"name\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"42\",\"labels\":{\"a\":"
          "\"b\"}," CREATED "}",
          ",\"data\":{\"k\":\"v\"}}" },
        { "{\"metadata\":{\"name\":\"n\",\"generateName\":\"g\",\"namespace\":\"a\",\"selfLink\":"
          "\"s\"," CREATED "}}",
          "\"metadata\":{\"name\":\"n\",\"generateName\":\"g\",\"namespace\":\"a\",\"selfLink\":"
          "\"s\","
          "\"resourceVersion\":\"42\"," CREATED "}",
          "}" },
    };
    (void)state;
    const struct kind_type *type = kind_type_find(STR(""), STR("v1"), STR("ConfigMap"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store_entry e = entry_of(NULL, cases[i].given);
        struct stored s = { 0 };
        autobuf bare = { 0 }, whole = { 0 }, meta = { 0 }, beta = { 0 };
        assert_int_equal(stored_open(&e, &s, NULL), 0);
        stored_splice(&bare, &s, NULL);
        stored_splice(&whole, &s, type);
        stored_splice_meta(&meta, &s, false);
        stored_splice_meta(&beta, &s, true);
        struct str want = str_of(cases[i].want), rest = str_of(cases[i].meta);
        assert_string_equal(
            text(&bare), arena_printf(&arena, "{" STR_FMT STR_FMT, STR_ARG(want), STR_ARG(rest)).p);
        assert_string_equal(
            text(&whole),
            arena_printf(&arena, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"," STR_FMT STR_FMT,
                         STR_ARG(want), STR_ARG(rest))
                .p);
        assert_string_equal(text(&meta),
                            arena_printf(&arena,
                                         "{\"kind\":\"PartialObjectMetadata\","
                                         "\"apiVersion\":\"meta.k8s.io/v1\"," STR_FMT "}",
                                         STR_ARG(want))
                                .p);
        assert_string_equal(text(&beta),
                            arena_printf(&arena,
                                         "{\"kind\":\"PartialObjectMetadata\","
                                         "\"apiVersion\":\"meta.k8s.io/v1beta1\"," STR_FMT "}",
                                         STR_ARG(want))
                                .p);
    }
}

/* ---- Managers ---- */

static void managers_are_left_out(void **state)
{
    static const struct {
        const char *given, *want;
    } cases[] = {
        { "{\"metadata\":{\"name\":\"n\"," CREATED ",\"managedFields\":[{\"manager\":\"m\"}]},"
          "\"data\":{\"a\":\"b\"}}",
          "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"42\"," CREATED "},\"data\":{\"a\":"
          "\"b\"}}" },
        { "{\"metadata\":{\"name\":\"n\"," CREATED "}}",
          "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"42\"," CREATED "}}" },
        /* Text that looks like it is not it. */
        { "{\"metadata\":{\"name\":\"n\"," CREATED
          ",\"annotations\":{\"a\":\",\\\"managedFields\\\":[\"}}}",
          "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"42\"," CREATED
          ",\"annotations\":{\"a\":\",\\\"managedFields\\\":[\"}}}" },
        /* Nor is a field of that name elsewhere. */
        { "{\"metadata\":{\"name\":\"n\"," CREATED "},\"x\":1,\"managedFields\":[1]}",
          "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"42\"," CREATED
          "},\"x\":1,\"managedFields\":[1]}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store_entry e = entry_of(NULL, cases[i].given);
        struct stored s = { 0 };
        autobuf out = { 0 };
        assert_int_equal(stored_open(&e, &s, NULL), 0);
        stored_hide_managers(&s);
        stored_splice(&out, &s, NULL);
        assert_string_equal(text(&out), cases[i].want);
    }
}

/* ---- Trees ---- */

static void objects_are_read(void **state)
{
    struct store_entry e =
        entry_of(NULL, "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"}," CREATED
                       "},\"data\":{\"k\":\"v\"}}");
    struct value obj, meta;
    (void)state;
    assert_int_equal(
        stored_read(&arena, kind_type_find(STR(""), STR("v1"), STR("ConfigMap")), &e, &obj, NULL),
        0);
    assert_true(str_eq(value_str(value_get(&obj, STR("kind"))), STR("ConfigMap")));
    assert_true(str_eq(value_str(value_dig(&obj, "metadata", "resourceVersion")), STR("42")));
    assert_true(str_eq(value_str(value_dig(&obj, "data", "k")), STR("v")));
    assert_int_equal(stored_read_meta(&arena, &e, &meta, NULL), 0);
    assert_true(str_eq(value_str(value_dig(&meta, "metadata", "labels", "a")), STR("b")));
    assert_null(value_get(&meta, STR("data")));
    /* What was written by whom stays so. */
    autobuf again = { 0 };
    stored_write_like(&again, &e, &obj);
    assert_true(str_eq(buf_str(&again), e.value));
}

static int fit(struct arena *a, const struct kind_type *t, struct str version, struct value *was,
               struct value *ret, struct err *err)
{
    (void)err;
    (void)t;
    *ret = value_borrow(was);
    value_put(a, ret, STR("fitted"), value_string(version));
    return 0;
}

static void custom_objects_know_their_schema(void **state)
{
    const struct kind_custom custom = { .mark = 7, .fit = fit };
    const struct kind_type type = {
        .name = STR("Thing"), .group = STR("g.io"), .version = STR("v1"), .custom = &custom
    };
    const struct kind_resource r = { .version = STR("v1"), .group = STR("g.io"), .type = &type };
    struct store_entry e = entry_of(&r, "{\"metadata\":{\"name\":\"n\"," CREATED "},\"x\":1}");
    struct stored s = { 0 };
    struct value obj;
    (void)state;
    assert_int_equal(stored_open(&e, &s, NULL), 0);
    assert_true(str_eq(s.version, STR("v1")));
    assert_int_equal(s.mark, 7);
    assert_true(stored_fits(&e, &r));
    autobuf out = { 0 };
    stored_splice(&out, &s, &type); /* fields of maps are in order */
    assert_true(str_starts(buf_str(&out), STR("{\"apiVersion\":\"g.io/v1\",\"kind\":\"Thing\",")));
    assert_int_equal(stored_read(&arena, &type, &e, &obj, NULL), 0);
    assert_null(value_get(&obj, STR("fitted")));

    /* By another schema, and of another version. */
    const struct kind_custom later = { .mark = 8, .fit = fit };
    struct kind_type changed = type;
    struct kind_resource now = r;
    changed.custom = &later;
    now.type = &changed;
    assert_false(stored_fits(&e, &now));
    assert_int_equal(stored_read(&arena, &changed, &e, &obj, NULL), 0);
    assert_true(str_eq(value_str(value_get(&obj, STR("fitted"))), STR("v1")));
    changed = type;
    changed.version = STR("v2");
    assert_false(stored_fits(&e, &now));
    autobuf again = { 0 };
    stored_write_like(&again, &e, &obj);
    struct store_entry copy = { .key = e.key, .value = buf_str(&again), .mod_rev = 43 };
    assert_true(stored_fits(&copy, &r));
}

/* ---- Damage ---- */

static void check_damaged(struct str bytes)
{
    struct store_entry e = { .key = STR("/registry/configmaps/a/n"),
                             .value = bytes,
                             .mod_rev = 42 };
    struct err err = ERR_INIT(&arena);
    struct value obj;
    int r = stored_read(&arena, NULL, &e, &obj, &err);
    if (r == 0)
        return; /* a digit became another one: nobody can tell but the store's checksum */
    assert_int_equal(r, -ERR_DAMAGED);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "the stored bytes of /registry/configmaps/a/n are no object");
}

static void damage_is_told(void **state)
{
    struct store_entry e =
        entry_of(NULL, "{\"metadata\":{\"name\":\"n\"," CREATED "},\"data\":{\"k\":"
                       "\"v\"}}");
    static const char *const junk[] = {
        "", "J", "JJJJJJJJJ", "JJJJJJJJJJ", "C", "{\"metadata\":{}}", "CCCCCCCCCCCCCCC"
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(junk); i++) {
        struct store_entry bad = { .key = e.key, .value = str_of(junk[i]) };
        struct stored s;
        assert_int_equal(stored_open(&bad, &s, NULL), -ERR_DAMAGED);
    }
    for (size_t n = 0; n < e.value.n; n++) {
        struct store_entry cut = { .key = e.key, .value = str_take(e.value, n) };
        struct value obj;
        assert_int_equal(stored_read(&arena, NULL, &cut, &obj, NULL), -ERR_DAMAGED);
    }
    for (size_t i = 0; i < e.value.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            char *flipped = arena_dup(&arena, e.value.p, e.value.n);
            flipped[i] ^= (char)(1 << bit);
            check_damaged((struct str){ flipped, e.value.n });
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_are_spliced, setup, teardown),
        cmocka_unit_test_setup_teardown(managers_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(custom_objects_know_their_schema, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
