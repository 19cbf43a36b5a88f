/* Results as trees: what patches and messages are made of. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* As JSON, or NULL with the error. */
static const char *tree_of_result(const char *expression, struct err *err)
{
    const struct scene *c = scene_new();
    const struct cel_program *p;
    struct cel_value v;
    struct value tree;
    uint64_t cost;
    assert_int_equal(cel_compile(&arena, &c->env, str_of(expression), &p, err), 0);
    assert_int_equal(cel_eval(&arena, p, c->values, 1000000, &v, &cost, err), 0);
    if (cel_to_tree(&arena, &v, &tree, err) < 0)
        return NULL;
    autobuf json = { 0 };
    json_write(&json, &tree);
    return str_cstr(&arena, arena_str(&arena, buf_str(&json)));
}

static void test_trees_of_results(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "null", "null" },
        { "true", "true" },
        { "1", "1" },
        { "-1", "-1" },
        { "1u", "1" },
        { "1.5", "1.5" },
        { "1.0", "1" },
        { "-0.0", "-0" },
        { "1e100", "1e+100" },
        { "'a'", "\"a\"" },
        { "''", "\"\"" },
        { "'é\\n\"'", "\"é\\n\\\"\"" },
        { "b'hi'", "\"aGk=\"" },
        { "b'\\xff'", "\"/w==\"" },
        { "b''", "\"\"" },
        { "[]", "[]" },
        { "[1, 2]", "[1,2]" },
        { "[[1], []]", "[[1],[]]" },
        { "{}", "{}" },
        { "{'a': 1}", "{\"a\":1}" },
        { "{'a': {'b': [1]}}", "{\"a\":{\"b\":[1]}}" },
        { "timestamp(0)", "\"1970-01-01T00:00:00Z\"" },
        { "timestamp('2020-01-01T00:00:00.5Z')", "\"2020-01-01T00:00:00.5Z\"" },
        { "timestamp('2020-01-01T00:00:00+01:00')", "\"2020-01-01T00:00:00+01:00\"" },
        { "duration('1h')", "\"3600s\"" },
        { "duration('1.5s')", "\"1.5s\"" },
        { "duration('0s')", "\"0s\"" },
        { "[timestamp(0), timestamp(1)]", "[\"1970-01-01T00:00:00Z\",\"1970-01-01T00:00:01Z\"]" },
        { "{'a': duration('1s')}", "{\"a\":\"1s\"}" },
        { "x", "{\"a\":1,\"b\":{\"c\":\"text\",\"l\":[1,2]}}" },
        { "x.b", "{\"c\":\"text\",\"l\":[1,2]}" },
        { "l", "[1,2,3]" },
        { "m", "{\"k\":7}" },
        { "l.map(i, {'v': i})", "[{\"v\":1},{\"v\":2},{\"v\":3}]" },
        { "[?optional.none(), 1]", "[1]" },
        { "{?'a': optional.none()}", "{}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT(&arena);
        const char *got = tree_of_result(cases[i].expression, &err);
        if (!got)
            fail_msg("%s: " STR_FMT, cases[i].expression, STR_ARG(err.msg));
        assert_string_equal(got, cases[i].answer);
    }
}

/* JSON has no such values. */
static void test_no_trees(void **state)
{
    (void)state;
    static const char *const expressions[] = {
        "int",
        "optional.none()",
        "{1.5: 'a'}",
        "double('NaN')",
        "double('-Infinity')",
        "ip('1.2.3.4')",
        "[url('http://a/b')]",
        "{'a': semver('1.2.3')}",
    };
    for (size_t i = 0; i < ARRAY_LEN(expressions); i++) {
        struct err err = ERR_INIT(&arena);
        assert_null(tree_of_result(expressions[i], &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_trees_of_results),
        CASE_TEST(test_no_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
