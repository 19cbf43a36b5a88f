/* Types, overloads and the checks behind them, in upstream's words. */
#include "cel/check_test.h"

static void test_type_errors(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "x", "! ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^" },
        { "f(1)", "! ERROR: <input>:1:2: undeclared reference to 'f' (in container '')\n"
                  " | f(1)\n | .^" },
        { "math.abs(1)", "! ERROR: <input>:1:1: undeclared reference to 'math' (in container '')\n"
                         " | math.abs(1)\n | ^\n"
                         "ERROR: <input>:1:9: undeclared reference to 'abs' (in container '')\n"
                         " | math.abs(1)\n | ........^" },
        { "1 == 'a'", "! ERROR: <input>:1:3: found no matching overload for '_==_' applied to "
                      "'(int, string)'\n | 1 == 'a'\n | ..^" },
        { "'a'.size(1)", "! ERROR: <input>:1:9: found no matching overload for 'size' applied to "
                         "'string.(int)'\n | 'a'.size(1)\n | ........^" },
        { "true ? 1 : [2]", "! ERROR: <input>:1:6: found no matching overload for '_?_:_' applied "
                            "to '(bool, int, list(int))'\n | true ? 1 : [2]\n | .....^" },
        { "1 && true", "! ERROR: <input>:1:1: expected type 'bool' but found 'int'\n"
                       " | 1 && true\n | ^" },
        { "1.a", "! ERROR: <input>:1:2: type 'int' does not support field selection\n"
                 " | 1.a\n | .^" },
        { "[1, 'a']", "! ERROR: <input>:1:5: expected type 'int' but found 'string'\n"
                      " | [1, 'a']\n | ....^" },
        { "'a'.all(c, true)",
          "! ERROR: <input>:1:1: expression of type 'string' cannot be range of a comprehension "
          "(must be list, map, or dynamic)\n | 'a'.all(c, true)\n | ^" },
        { "int{}", "! ERROR: <input>:1:4: 'int' is not a message type\n | int{}\n | ...^" },
        { "'a'.matches('(')", "! ERROR: <input>:1:13: invalid matches argument\n"
                              " | 'a'.matches('(')\n | ............^" },
        { "duration('x')", "! ERROR: <input>:1:10: invalid duration argument\n"
                           " | duration('x')\n | .........^" },
        { "'%d'.format(['a'])",
          "! ERROR: <input>:1:14: error during formatting: decimal clause can only be used on "
          "integers, was given string\n | '%d'.format(['a'])\n | .............^" },
    };
    check_answers(cases, COUNT(cases));
}

static void test_types(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[]", "list(dyn)" },
        { "[[], [1]]", "list(list(int))" },
        { "{'a': [1.0]}", "map(string, list(double))" },
        { "[1].map(x, string(x))", "list(string)" },
        { "{'a': 1}.?a", "optional_type(int)" },
        { "optional.of(1).orValue(2)", "int" },
        { "true ? dyn(1) : 'a'", "dyn" },
        { "type(1)", "type(int)" },
        { "timestamp(0) - timestamp(0)", "duration" },
        { "url('http://a/').getQuery()", "map(string, list(string))" },
        { "'a b'.split(' ').map(x, size(x)).sum()", "int" },
        { "null", "null" },
    };
    static const struct cel_env env;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct cel_program *p;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(cel_compile(&arena, &env, str_of(cases[i].expression), &p, &err), 0);
        struct str text = cel_type_text(&arena, cel_program_type(p));
        assert_string_equal(str_cstr(&arena, text), cases[i].answer);
    }
}

static void test_constants_that_fail(void **state)
{
    (void)state;
    static const struct cel_env env;
    const struct cel_program *p;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(cel_compile(&arena, &env, STR("int('abc')"), &p, &err), -ERR_BAD_REQUEST);
    assert_string_equal(str_cstr(&arena, err.msg), "type conversion error from 'string' to 'int'");
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name;
    } cases[] = {
        { "plain", "plain" },
        { "a.b-c/d", "a__dot__b__dash__c__slash__d" },
        { "a__b", "a__underscores__b" },
        { "namespace", "__namespace__" },
        { "1a", NULL },
        { "a b", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str name, key;
        assert_int_equal(cel_escape(&arena, str_of(cases[i].key), &name), cases[i].name != NULL);
        if (!cases[i].name)
            continue;
        assert_string_equal(str_cstr(&arena, name), cases[i].name);
        assert_true(cel_unescape(&arena, name, &key));
        assert_string_equal(str_cstr(&arena, key), cases[i].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_type_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constants_that_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
