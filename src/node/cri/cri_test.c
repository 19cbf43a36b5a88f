/* What errors of a runtime look like. Calls that succeed are tested with a real one (tests/node).
 */
#include "node/cri/cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static void test_endpoints(void **state)
{
    static const struct {
        struct str endpoint;
        int code;
    } rows[] = {
        { STR("unix:///run/x.sock"), 0 },
        { STR("/run/x.sock"), 0 },
        { STR("tcp://127.0.0.1:1"), -ERR_INVALID },
        { STR(""), -ERR_INVALID },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct cri *c = NULL;
        assert_int_equal(cri_new(rows[i].endpoint, &c, &err), rows[i].code);
        cri_free(c);
    }
}

static void test_nobody_there(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct value answer;
    struct cri *c;
    (void)state;
    assert_int_equal(cri_new(STR("unix:///nonexistent/x.sock"), &c, &err), 0);
    assert_int_equal(cri_call(c, "Version", NULL, 2000, &arena, &answer, &err), -ERR_UNAVAILABLE);
    assert_true(str_starts(err.msg, STR("rpc error: code = Unavailable desc = ")));
    cri_free(c);
}

static void test_bad_request(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct value request = value_object(), answer;
    struct cri *c;
    (void)state;
    value_put(&arena, &request, STR("versoin"), value_string(STR("v1")));
    assert_int_equal(cri_new(STR("/nonexistent/x.sock"), &c, &err), 0);
    assert_int_equal(cri_call(c, "Version", &request, 2000, &arena, &answer, &err), -ERR_INVALID);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "Version: runtime.v1.VersionRequest has no field \"versoin\"");
    cri_free(c);
}

static void test_descriptions(void **state)
{
    static const char *const rows[][2] = {
        { "rpc error: code = Unknown desc = no such file", "no such file" },
        { "rpc error: code = Unknown desc = a desc = b", "a desc = b" },
        { "other desc = b", "other desc = b" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(rows[i][1], str_cstr(&arena, cri_description(str_of(rows[i][0]))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_bad_request),
        cmocka_unit_test(test_descriptions),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
