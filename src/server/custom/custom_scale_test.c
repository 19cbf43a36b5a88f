#include "server/custom/custom_scale.h"

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

static const struct schema_scale paths = {
    .spec_replicas = STR(".spec.size.n"),
    .status_replicas = STR(".status.n"),
    .selector = STR(".status.selector"),
};

static struct value parsed(const char *json)
{
    struct value v;
    assert_int_equal(json_read(&arena, str_of(json), NULL, &v, NULL), 0);
    return v;
}

static void parts_are_read(void **state)
{
    static const struct {
        const char *obj;
        int64_t replicas, running;
        bool has_replicas;
        const char *selector, *refusal; /* NULL: none */
    } cases[] = {
        { "{}", 0, 0, false, "", NULL },
        { "{\"spec\":{\"size\":{\"n\":3}},\"status\":{\"n\":2,\"selector\":\"a=b\"}}", 3, 2, true,
          "a=b", NULL },
        { "{\"spec\":{\"size\":{\"n\":0}}}", 0, 0, true, "", NULL },
        { .obj = "{\"spec\":{\"size\":{\"n\":\"3\"}}}",
          .refusal = ".spec.size.n accessor error: 3 is of the type string, expected int64" },
        { .obj = "{\"status\":{\"selector\":3}}",
          .refusal = ".status.selector accessor error: 3 is of the type int64, expected string" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value obj = parsed(cases[i].obj);
        struct err err = ERR_INIT(&arena);
        struct scale_parts got;
        int r = custom_scale_read(&paths, &obj, &got, &err);
        assert_int_equal(r, cases[i].refusal ? -ERR_UNKNOWN : 0);
        if (cases[i].refusal) {
            assert_string_equal(str_cstr(&arena, err.msg), cases[i].refusal);
            continue;
        }
        assert_int_equal(got.replicas, cases[i].replicas);
        assert_int_equal(got.running, cases[i].running);
        assert_int_equal(got.has_replicas, cases[i].has_replicas);
        assert_string_equal(str_cstr(&arena, got.selector), cases[i].selector);
    }
}

static void replicas_are_written(void **state)
{
    static const struct {
        const char *obj, *want, *refusal; /* NULL: none */
        int64_t replicas;
        int code;
    } cases[] = {
        { "{}", "{\"spec\":{\"size\":{\"n\":4}}}", NULL, 4, 0 },
        { "{\"spec\":{\"a\":1,\"size\":{\"n\":1}}}", "{\"spec\":{\"a\":1,\"size\":{\"n\":0}}}",
          NULL, 0, 0 },
        { "{\"spec\":{\"size\":7}}", NULL,
          "value cannot be set because .spec.size is not a map[string]interface{}", 4,
          ERR_UNKNOWN },
        { "{}", NULL, "the spec replicas field \".spec.size.n\" cannot be empty",
          CUSTOM_SCALE_UNSET, ERR_BAD_REQUEST },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value obj = parsed(cases[i].obj);
        struct err err = ERR_INIT(&arena);
        autobuf out = { 0 };
        assert_int_equal(custom_scale_write(&arena, &paths, cases[i].replicas, &obj, &err),
                         -cases[i].code);
        json_write(&out, &obj);
        if (cases[i].want)
            assert_string_equal(str_cstr(&arena, buf_str(&out)), cases[i].want);
        else
            assert_string_equal(str_cstr(&arena, err.msg), cases[i].refusal);
    }
    struct err err = ERR_INIT(&arena);
    assert_int_equal(custom_scale_refuse(&paths, &err), -ERR_INTERNAL);
    assert_string_equal(
        str_cstr(&arena, err.msg),
        "Internal error occurred: the spec replicas field \".spec.size.n\" does not "
        "exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(replicas_are_written, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
