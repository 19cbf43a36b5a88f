/* Expressions that are small and would make much: each ends, in little memory, with upstream's
 * answer where sharing makes that possible, and else as one whose budget is used up. */
#include "cel/check_test.h"

#include "base/idiom.h"
#include "base/limits.h"

#define CANCELLED "! operation cancelled: actual cost limit exceeded"

/* What an evaluation may hold, and the last piece of it. */
#define HELD_MAX ((size_t)LIMIT_CEL_EVAL_BYTES + LIMIT_CEL_TEXT_BYTES)

/* `part` so many times between head and tail. */
static const char *repeated(const char *head, const char *part, size_t n, const char *tail)
{
    autobuf text = { 0 };
    buf_str_add(&text, str_of(head));
    for (size_t i = 0; i < n; i++)
        buf_str_add(&text, str_of(part));
    buf_str_add(&text, str_of(tail));
    return str_cstr(&arena, buf_str(&text));
}

struct growth {
    const char *head, *part;
    size_t n;
    const char *tail, *answer;
};

static void check_growth(const struct growth *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = repeated(rows[i].head, rows[i].part, rows[i].n, rows[i].tail);
        const char *got = answer(text);
        if (strcmp(got, rows[i].answer) != 0)
            fail_msg("%.60s... gives %.200s", text, got);
        if (arena.held > HELD_MAX)
            fail_msg("%.60s... holds %zu bytes", text, arena.held);
        arena_done(&arena);
    }
}

/* x + x shares, as upstream's does. */
static void test_sums_share(void **state)
{
    (void)state;
    static const struct growth rows[] = {
        { "[[1]]", ".map(x, x + x)", 27, "[0].size()", "134217728" },
        { "[[1, 2]]", ".map(x, x + x)", 30, "[0][123456789]", "2" },
        { "[[1]]", ".map(x, x + x)", 27, ".size()", "1" },
        { "[lists.range(100)]", ".map(x, x + x)", 3, "[0].map(i, i)[799]", "99" },
        { "[lists.range(100)]", ".map(x, x + [7])", 80, "[0][179]", "7" },
        { "[lists.range(100)]", ".map(x, [7] + x)", 80, "[0][80]", "0" },
        { "[lists.range(70)]", ".map(x, x + lists.range(70))", 60, "[0].sum()", "147315" },
        { "lists.range(500)", ".map(x, [x])", 1, ".all(x, (lists.range(500) + x)[500] == x[0])",
          "true" },
        { "[lists.range(100)]", ".map(x, x + x)", 1, "[0] == lists.range(100) + lists.range(100)",
          "true" },
        { "[[1]]", ".map(x, x + x)", 70, "[0].size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 47, "[0].size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 46, ".map(x, [7] + x)[0].size()", CANCELLED },
    };
    check_growth(rows, ARRAY_LEN(rows));
}

/* What looks at a value that shares its parts is charged while it looks. */
static void test_work_is_bounded(void **state)
{
    (void)state;
    static const struct growth rows[] = {
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, x == x)[0]", CANCELLED },
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, x in [x])[0]", CANCELLED },
        { "[[1]]", ".map(x, [x, x])", 30, ".distinct().size()", "1" },
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, sets.contains(x, x))[0]", CANCELLED },
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, x.includes(1))[0]", CANCELLED },
        { "[dyn([1])]", ".map(x, dyn([x, x]))", 30, ".flatten(40).size()", CANCELLED },
        { "[[1]]", ".map(x, [x, x])", 30, ".flatten().flatten().size()", "4" },
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, '%s'.format([x]))[0].size()", CANCELLED },
        { "[[1]]", ".map(x, [x, x])", 30, "[0][dyn('a')]",
          "! unsupported index type 'string' in list" },
        { "[[1]]", ".map(x, [x, x])", 30, ".map(x, {'a': 1}[dyn(x)])", CANCELLED },
        { "[{'a': 1}]", ".map(x, {'a': x, 'b': x})", 30, ".map(x, x == x)[0]", CANCELLED },
        { "[{'a': 1}]", ".map(x, {'a': x, 'b': x})", 30, ".map(x, '%s'.format([x]))", CANCELLED },
        { "[optional.of([1])]", ".map(x, optional.of([x, x]))", 30, ".map(x, x == x)[0]",
          CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].map(i, i).size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].reverse().size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].sort().size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].sortBy(i, i).size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].distinct().size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].slice(0, 100000000).size()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].sum()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].max()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].isSorted()", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, "[0].lastIndexOf(2)", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, ".map(x, x == x + [])[0]", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, ".map(x, 2 in x)[0]", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, ".map(x, sets.equivalent(x, x))[0]", CANCELLED },
        { "[[1]]", ".map(x, x + x)", 27, ".flatten().size()", CANCELLED },
        { "[['aaaaaaaaaaaaaaaa']]", ".map(x, x + x)", 24, "[0].join().size()", CANCELLED },
        { "[[optional.of(1)]]", ".map(x, x + x)", 27, "[0].unwrapOpt().size()", CANCELLED },
        { "['ab']", ".map(x, x + x)", 40, "[0].size()", CANCELLED },
        { "[dyn('ab')]", ".map(x, x + x)", 40, "[0].size()", CANCELLED },
        { "[dyn(b'ab')]", ".map(x, x + x)", 40, "[0].size()", CANCELLED },
        { "['ab']", ".map(x, x.replace('', x))", 40, "[0].size()", CANCELLED },
        { "['ab']", ".map(x, '%s%s'.format([x, x]))", 40, "[0].size()", CANCELLED },
        { "['\\n']", ".map(x, strings.quote(x))", 40, "[0].size()", CANCELLED },
        { "lists.range(1000000)", ".map(x, lists.range(1000000).size())", 1, ".size()", CANCELLED },
        { "lists.range(1000)", ".map(x, lists.range(1000).map(y, 'x'.split('')))", 1, ".size()",
          CANCELLED },
    };
    check_growth(rows, ARRAY_LEN(rows));
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    static const char nest[] = ".map(x, [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]])";
    static const struct growth rows[] = {
        { "[[1]]", nest, 20, ".map(x, x == x)[0]", "true" },
        { "[[1]]", nest, 100, ".map(x, x == x)[0]", CANCELLED },
        { "[[1]]", nest, 100, ".map(x, '%s'.format([x]))[0]", CANCELLED },
        { "[dyn([1])]", nest, 100, ".flatten(100000)", CANCELLED },
        { "[[1]]", nest, 100, ".map(x, {'a': 1}[dyn(x)])", CANCELLED },
        { "[[1]]", nest, 100, ".map(x, x.includes(1))[0]", CANCELLED },
    };
    check_growth(rows, ARRAY_LEN(rows));
}

/* One function makes no more than so much text, and as much as that it makes. */
static void test_text_is_bounded(void **state)
{
    (void)state;
    static const char head[] = "[lists.range(4096).map(i, 'a').join()]";
    assert_int_equal(4096u * 4096u, LIMIT_CEL_TEXT_BYTES);
    static const struct growth rows[] = {
        { head, ".map(x, x.replace('a', x))", 1, "[0].size()", "16777216" },
        { head, ".map(x, x.replace('a', x + 'a'))", 1, "[0].size()", CANCELLED },
        { head, ".map(x, lists.range(4096).map(i, x).join())", 1, "[0].size()", CANCELLED },
    };
    check_growth(rows, ARRAY_LEN(rows));
}

/* Macros that repeat what they stand on: twenty of them would be a million nodes. */
static void test_nodes_are_bounded(void **state)
{
    (void)state;
    const char *got = answer(repeated("optional.of(1)", ".optMap(a, a)", 20, ""));
    assert_string_equal(got, "! ERROR: <input>:-1:0: expression is too large once its macros are "
                             "expanded");
    got = answer(repeated("optional.of(1)", ".optMap(a, a)", 15, ""));
    assert_string_equal(got, "optional(1)");
}

static struct cel_value value_of(const char *expression)
{
    static const struct cel_env env;
    const struct cel_program *p;
    struct cel_value v = cel_of_null();
    uint64_t cost;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(cel_compile(&arena, &env, str_of(expression), &p, &err), 0);
    assert_int_equal(cel_eval(&arena, p, NULL, 1000000, &v, &cost, &err), 0);
    return v;
}

/* Whoever takes the result does not have to be careful. */
static void test_results_are_bounded(void **state)
{
    (void)state;
    struct value tree;
    struct err err = ERR_INIT(&arena);
    struct cel_value v = value_of(repeated("[[1]]", ".map(x, [x, x])", 30, ""));
    assert_int_equal(cel_to_tree(&arena, &v, &tree, &err), -ERR_TOO_LARGE);
    assert_false(cel_equal(&arena, &v, &v));
    assert_true(arena.held < 2 * HELD_MAX);
}

/* An allowance that ends while something is evaluated is what the evaluation fails with. */
static void test_allowance(void **state)
{
    (void)state;
    static const struct cel_env env;
    static const char *const expressions[] = {
        "lists.range(9).all(x, x >= 0) || true",
        "'a'.matches('a')",
        "'a'.find('b') == ''",
        "'a'.findAll('b') == []",
    };
    for (size_t i = 0; i < ARRAY_LEN(expressions); i++) {
        struct allowance w = { .end = ALLOWANCE_LATE };
        const struct cel_program *p;
        struct cel_value v;
        uint64_t cost;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(cel_compile(&arena, &env, str_of(expressions[i]), &p, &err), 0);
        arena_allow(&arena, &w);
        assert_int_equal(cel_eval(&arena, p, NULL, 1000000, &v, &cost, &err), -ERR_TIMEOUT);
        assert_true(cost < 20);
        arena_allow(&arena, NULL);
        assert_int_equal(cel_eval(&arena, p, NULL, 1000000, &v, &cost, &err), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_work_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nodes_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_results_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allowance, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
