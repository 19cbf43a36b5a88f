#include "auth/match_conditions.h"

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

static const struct match_conditions *read(struct field_errors *e, const char *json)
{
    static const struct field_path path = { .name = STR("matchConditions") };
    struct err err = ERR_INIT(&arena);
    struct value list;
    assert_int_equal(json_read(&arena, str_of(json), NULL, &list, &err), 0);
    *e = FIELD_ERRORS_INIT(&arena);
    return match_conditions_read(e, &list, &path);
}

static const struct str groups[] = { STR("crew") };
static const struct user ann = { .name = STR("ann"), .groups = groups, .n_groups = 1 };
static const struct access list_pods = { .user = &ann,
                                         .is_resource = true,
                                         .verb = STR("list"),
                                         .resource = STR("pods"),
                                         .ns = STR("kube-system") },
                           get_path = { .user = &ann, .verb = STR("get"), .path = STR("/x") };

static void they_hold_or_not(void **state)
{
    static const struct {
        const char *json;
        bool path;
        int want;
        const char *words;
    } cases[] = {
        { "[{\"expression\":\"request.user == 'ann'\"}]", false, 1, "" },
        { "[{\"expression\":\"request.user == 'bob'\"}]", false, 0, "" },
        { "[{\"expression\":\"'crew' in request.groups\"},"
          "{\"expression\":\"request.resourceAttributes.namespace == 'kube-system'\"}]",
          false, 1, "" },
        { "[{\"expression\":\"has(request.resourceAttributes)\"}]", true, 0, "" },
        { "[{\"expression\":\"request.nonResourceAttributes.path == '/x'\"}]", true, 1, "" },
        { "[{\"expression\":\"request.resourceAttributes.verb == 'list'\"}]", true, -ERR_INVALID,
          "cel evaluation error: expression 'request.resourceAttributes.verb == 'list'' resulted "
          "in error: no such key: resourceAttributes" },
        /* Who says no has the last word. */
        { "[{\"expression\":\"request.extra['a'] == ['b']\"},{\"expression\":\"false\"}]", false, 0,
          "" },
        { "[{\"expression\":\"request.extra['a'] == ['b']\"},{\"expression\":\"true\"}]", false,
          -ERR_INVALID,
          "cel evaluation error: expression 'request.extra['a'] == ['b']' resulted in error: no "
          "such key: a" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct field_errors e;
        struct err err = ERR_INIT(&arena);
        const struct match_conditions *c = read(&e, cases[i].json);
        assert_non_null(c);
        assert_int_equal(e.n, 0);
        int r = match_conditions_hold(c, &arena, cases[i].path ? &get_path : &list_pods,
                                      MATCH_CONDITIONS_COST, &err);
        assert_int_equal(r, cases[i].want);
        assert_string_equal(str_cstr(&arena, err.msg), cases[i].words);
    }
}

static void what_costs_too_much_is_told_apart(void **state)
{
    struct field_errors e;
    struct err err = ERR_INIT(&arena);
    (void)state;
    const struct match_conditions *c =
        read(&e, "[{\"expression\":\"[1,2,3,4,5].all(x, [1,2,3,4,5].all(y, x + y > 0))\"}]");
    assert_int_equal(match_conditions_hold(c, &arena, &list_pods, 10, &err), -ERR_TOO_LARGE);
    assert_int_equal(match_conditions_hold(c, &arena, &list_pods, 100000, &err), 1);
}

static void faults_are_upstreams(void **state)
{
    static const struct {
        const char *json, *words;
    } cases[] = {
        { "[{\"expression\":\" \"}]", "matchConditions[0].expression: Required value" },
        { "[{\"expression\":\"true\"},{\"expression\":\"true\"}]",
          "matchConditions[1].expression: Duplicate value: \"true\"" },
        { "[{\"expression\":\"request.user\"}]",
          "matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool "
          "but got string" },
        { "[{\"expression\":\"request.nobody\"}]",
          "matchConditions[0].expression: Invalid value: \"request.nobody\": compilation failed: "
          "ERROR: <input>:1:8: undefined field 'nobody'\n | request.nobody\n | .......^" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct field_errors e;
        (void)read(&e, cases[i].json);
        assert_string_equal(str_cstr(&arena, field_errors_text(&e)), cases[i].words);
    }
}

static void there_may_be_64(void **state)
{
    struct field_errors e;
    autobuf text = { 0 };
    (void)state;
    for (int i = 0; i <= MATCH_CONDITIONS_MAX; i++)
        buf_printf(&text, "%s{\"expression\":\"%d > 0\"}", i ? "," : "[", i + 1);
    buf_str_add(&text, STR("]"));
    assert_null(read(&e, str_cstr(&arena, buf_str(&text))));
    assert_string_equal(str_cstr(&arena, field_errors_text(&e)),
                        "matchConditions: Too many: 65: must have at most 64 items");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_hold_or_not, setup, teardown),
        cmocka_unit_test_setup_teardown(what_costs_too_much_is_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_upstreams, setup, teardown),
        cmocka_unit_test_setup_teardown(there_may_be_64, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
