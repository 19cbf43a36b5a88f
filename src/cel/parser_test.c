/* Syntax errors in upstream's words, literals, limits. */
#include "cel/check_test.h"

#include "base/limits.h"
#include "base/mem.h"

#define EXPR                                                                                 \
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, " \
    "STRING, BYTES, IDENTIFIER}"

static void test_syntax_errors(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "", "! ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting " EXPR },
        { "1 +", "! ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting " EXPR
                 "\n | 1 +\n | ...^" },
        { "1 + + 2", "! ERROR: <input>:1:5: Syntax error: extraneous input '+' expecting " EXPR
                     "\n | 1 + + 2\n | ....^" },
        { "[1 2]", "! ERROR: <input>:1:4: Syntax error: extraneous input '2' expecting {']', "
                   "','}\n | [1 2]\n | ...^" },
        { "f(1", "! ERROR: <input>:1:4: Syntax error: missing ')' at '<EOF>'\n | f(1\n | ...^" },
        { "a b", "! ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n"
                 " | a b\n | ..^" },
        { "a.", "! ERROR: <input>:1:3: Syntax error: no viable alternative at input '.'\n"
                " | a.\n | ..^" },
        { "a.true", "! ERROR: <input>:1:3: Syntax error: mismatched input 'true' expecting "
                    "IDENTIFIER\n | a.true\n | ..^" },
        { "a ? b", "! ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ':'\n"
                   " | a ? b\n | .....^" },
        { "O{", "! ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {'}', "
                "',', '?', IDENTIFIER, ESC_IDENTIFIER}\n | O{\n | ..^" },
        { "1 $", "! ERROR: <input>:1:3: Syntax error: token recognition error at: '$'\n"
                 " | 1 $\n | ..^" },
        { "'\u00e9' +",
          "! ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting " EXPR
          "\n | '\u00e9' +\n | .\uff0e...^" },
        { "\n\t\"a\" == ", "! ERROR: <input>:2:9: Syntax error: mismatched input '<EOF>' "
                           "expecting " EXPR "\n |  \"a\" == \n | ........^" },
        { "if", "! ERROR: <input>:1:1: reserved identifier: if\n | if\n | ^" },
        { "9223372036854775808", "! ERROR: <input>:1:1: invalid int literal\n"
                                 " | 9223372036854775808\n | ^" },
        { "'\\ud800'", "! ERROR: <input>:1:1: invalid unicode code point\n | '\\ud800'\n | ^" },
        { "has(1)", "! ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^" },
        { "[1].all(1, true)", "! ERROR: <input>:1:9: argument must be a simple name\n"
                              " | [1].all(1, true)\n | ........^" },
        { "[1].map(__result__, 1)",
          "! ERROR: <input>:1:9: iteration variable overwrites accumulator variable\n"
          " | [1].map(__result__, 1)\n | ........^" },
    };
    check_answers(cases, COUNT(cases));
}

static void test_literals(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "0xff", "255" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "18446744073709551615u", "18446744073709551615" },
        { ".5e1", "5" },
        { "1e21", "1e+21" },
        { "'\\x41\\u00e9\\101\\n'.size()", "4" },
        { "size(b'\\xff\\377')", "2" },
        { "r'\\d' + \"\"\"a'b\"\"\"", "\\da'b" },
        { "--1", "1" },
        { "!!true", "true" },
        { "1 - -1", "2" },
        { "1 + 2 * 3 % 4 - 5", "-2" },
        { "false || true && false", "false" },
        { "[1, 2,].size() + {'a': 1,}.size()", "3" },
        { "1 // behind", "1" },
    };
    check_answers(cases, COUNT(cases));
}

/* Chains and nests up to the limits are read, beyond them refused; neither breaks the stack. */
static void check_repeated(const char *head, const char *part, size_t n, const char *tail,
                           bool good)
{
    autobuf text = { 0 };
    buf_str_add(&text, str_of(head));
    for (size_t i = 0; i < n; i++)
        buf_str_add(&text, str_of(part));
    buf_str_add(&text, str_of(tail));
    buf_byte(&text, 0);
    const char *got = answer(text.p);
    assert_int_equal(got[0] != '!', good);
    if (!good)
        assert_non_null(strstr(got, ":-1:0: "));
}

static void test_limits(void **state)
{
    (void)state;
    check_repeated("1", "+1", 240, "", true);
    check_repeated("1", "+1", 400, "", false);
    check_repeated("true", "&&true", 2000, "", true);
    check_repeated("", "[", 300, "", false);
    check_repeated("", "(", 300, "1", false);
    check_repeated("", "!", 5000, "true", true);
    check_repeated("optional.of(1)", ".optMap(a,a)", 60, "", false);
    check_repeated("'", "a", LIMIT_CEL_CODE_POINTS, "'", false);
    check_repeated("'", "a", LIMIT_CEL_CODE_POINTS - 2, "'", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_syntax_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_literals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
