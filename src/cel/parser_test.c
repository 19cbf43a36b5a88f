/* Syntax errors in upstream's words, literals, limits. */
#include "cel/check_test.h"

#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"

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
    check_answers(cases, ARRAY_LEN(cases));
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
    check_answers(cases, ARRAY_LEN(cases));
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

static const struct answer_case precedence_cases[] = {
    { "1 + 2 * 3", "7", 2 },
    { "(1 + 2) * 3", "9", 2 },
    { "2 * 3 + 4 * 5", "26", 3 },
    { "10 - 3 - 2", "5", 2 },
    { "100 / 10 / 5", "2", 2 },
    { "100 / (10 / 5)", "50", 2 },
    { "7 % 4 * 2", "6", 2 },
    { "2 * 7 % 4", "2", 2 },
    { "-2 * -3", "6", 1 },
    { "- - 2", "2" },
    { "-(-2)", "2", 1 },
    { "--2", "2" },
    { "---2", "-2", 1 },
    { "!false && false", "false", 1 },
    { "!(false && false)", "true", 1 },
    { "!!false", "false" },
    { "! !true", "true" },
    { "!true == false", "true", 2 },
    { "-1 < 0", "true", 1 },
    { "1 < 2 == true", "true", 2 },
    { "1 + 1 == 2", "true", 2 },
    { "1 == 1 == true", "true", 2 },
    { "1 < 2 && 2 < 3", "true", 2 },
    { "true || false && false", "true" },
    { "(true || false) && false", "false" },
    { "false && true || true", "true" },
    { "true ? 1 : 2", "1" },
    { "false ? 1 : 2", "2" },
    { "true ? false ? 1 : 2 : 3", "! 1:14: Syntax error: mismatched input '?' expecting ':'" },
    { "false ? 1 : true ? 2 : 3", "2" },
    { "true ? 1 : false ? 2 : 3", "1" },
    { "true || false ? 1 : 2", "1" },
    { "1 in [1] == true", "true", 1 },
    { "1 in [1] && 2 in [2]", "true" },
    { "!(1 in [2])", "true", 1 },
    { "1 + 2 in [3]", "true", 1 },
    { "[1, 2][0] + 1", "2", 3 },
    { "{'a': [1]}.a[0] + 1", "2", 4 },
    { "-l[0]", "-1", 3 },
    { "-size(l)", "-3", 3 },
    { "!has(x.a)", "false", 2 },
    { "!x.b.c.startsWith('a')", "true", 5 },
    { "1 < 2 < 3", "! 1:7: found no matching overload for '_<_' applied to '(bool, int)'" },
    { "1 == 2 != true", "true", 2 },
    { "- 9223372036854775808", "-9223372036854775808" },
    { "-(9223372036854775808)", "! 1:3: invalid int literal" },
    { "1 - 1", "0", 1 },
    { "1 -1", "0", 1 },
    { "1-1", "0", 1 },
    { "1--1", "2", 1 },
    { "2 -  -2", "4", 1 },
    { "[1,]", "[1]" },
    { "[1,,]", "! 1:4: Syntax error: extraneous input ',' expecting ']'" },
    { "[,]", "[]" },
    { "{'a':1,}", "{a: 1}" },
    { "{,}", "{}" },
    { "{'a' 1}", "! 1:6: Syntax error: missing ':' at '1'" },
    { "{'a':}", "! 1:6: Syntax error: mismatched input '}' expecting " EXPR },
    { "{:1}",
      "! 1:2: Syntax error: extraneous input ':' expecting {'[', '{', '}', '(', '.', ',', '-', "
      "'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
      "IDENTIFIER}\n1:4: Syntax error: mismatched input '}' expecting ':'" },
    { "(1)", "1" },
    { "((1))", "1" },
    { "()", "! 1:2: Syntax error: mismatched input ')' expecting " EXPR },
    { "(1,2)", "! 1:3: Syntax error: mismatched input ',' expecting ')'" },
    { "[1", "! 1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}" },
    { "{'a': 1", "! 1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ','}" },
    { "(1", "! 1:3: Syntax error: missing ')' at '<EOF>'" },
    { "1)", "! 1:2: Syntax error: extraneous input ')' expecting <EOF>" },
    { "]", "! 1:1: Syntax error: mismatched input ']' expecting " EXPR },
    { "1 2", "! 1:3: Syntax error: extraneous input '2' expecting <EOF>" },
    { "1; 2", "! 1:2: Syntax error: token recognition error at: ';'\n1:4: Syntax error: "
              "extraneous input '2' expecting <EOF>" },
    { "1 = 1", "! 1:3: Syntax error: token recognition error at: '= '\n1:5: Syntax error: "
               "extraneous input '1' expecting <EOF>" },
    { "1 === 1", "! 1:5: Syntax error: token recognition error at: '= '" },
    { "1 <> 1", "! 1:4: Syntax error: extraneous input '>' expecting " EXPR },
    { "1 & 1", "! 1:3: Syntax error: token recognition error at: '& '\n1:5: Syntax error: "
               "extraneous input '1' expecting <EOF>" },
    { "1 | 1", "! 1:3: Syntax error: token recognition error at: '| '\n1:5: Syntax error: "
               "extraneous input '1' expecting <EOF>" },
    { "true & false", "! 1:6: Syntax error: token recognition error at: '& '\n1:8: Syntax "
                      "error: extraneous input 'false' expecting <EOF>" },
    { "a ? b", "! 1:6: Syntax error: mismatched input '<EOF>' expecting ':'" },
    { "a ? : c", "! 1:5: Syntax error: extraneous input ':' expecting " EXPR
                 "\n1:8: Syntax error: mismatched input '<EOF>' expecting ':'" },
    { "? 1 : 2", "! 1:1: Syntax error: extraneous input '?' expecting " EXPR
                 "\n1:5: Syntax error: mismatched input ':' expecting <EOF>" },
    { "1 ||", "! 1:5: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "|| 1", "! 1:1: Syntax error: extraneous input '||' expecting " EXPR },
    { "&& true", "! 1:1: Syntax error: extraneous input '&&' expecting " EXPR },
    { "true &&", "! 1:8: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "== 1", "! 1:1: Syntax error: extraneous input '==' expecting " EXPR },
    { "1 == ", "! 1:6: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "in [1]", "! 1:1: Syntax error: extraneous input 'in' expecting " EXPR },
    { "1 in", "! 1:5: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "1 not in [1]", "! 1:3: Syntax error: mismatched input 'not' expecting <EOF>" },
    { "x.", "! 1:3: Syntax error: no viable alternative at input '.'" },
    { "x..a", "! 1:3: Syntax error: no viable alternative at input '..'" },
    { "x.1", "! 1:2: Syntax error: extraneous input '.1' expecting <EOF>" },
    { ".x", "{a: 1, b: {c: text, l: [1, 2]}}", 1 },
    { ".x.a", "1", 2 },
    { "x[", "! 1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', "
            "'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
            "IDENTIFIER}" },
    { "x[]",
      "! 1:3: Syntax error: mismatched input ']' expecting {'[', '{', '(', '.', '-', '!', '?', "
      "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}" },
    { "x[1", "! 1:4: Syntax error: missing ']' at '<EOF>'" },
    { "x[?", "! 1:4: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "x.?", "! 1:4: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, "
             "ESC_IDENTIFIER}\n1:4: unsupported ident kind" },
    { "x?.a", "! 1:5: Syntax error: mismatched input '<EOF>' expecting ':'" },
    { "f(", "! 1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', "
            "'-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
            "IDENTIFIER}" },
    { "f(,)",
      "! 1:3: Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', "
      "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}" },
    { "f(1,)", "! 1:5: Syntax error: mismatched input ')' expecting " EXPR },
    { "f(1 2)", "! 1:5: Syntax error: extraneous input '2' expecting ')'" },
    { "f.g(", "! 1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', "
              "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
              "BYTES, IDENTIFIER}" },
    { "f()(1)", "! 1:4: Syntax error: mismatched input '(' expecting <EOF>" },
    { "x.a()()", "! 1:6: Syntax error: mismatched input '(' expecting <EOF>" },
    { "\"a\" \"b\"", "! 1:5: Syntax error: extraneous input '\"b\"' expecting <EOF>" },
    { "'a' + ", "! 1:7: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "+ 1", "! 1:1: Syntax error: extraneous input '+' expecting " EXPR },
    { "* 1", "! 1:1: Syntax error: extraneous input '*' expecting " EXPR },
    { "/ 1", "! 1:1: Syntax error: extraneous input '/' expecting " EXPR },
    { "% 1", "! 1:1: Syntax error: extraneous input '%' expecting " EXPR },
    { "1 +* 2", "! 1:4: Syntax error: extraneous input '*' expecting " EXPR },
    { "1 ** 2", "! 1:4: Syntax error: extraneous input '*' expecting " EXPR },
    { "1 // 2", "1" },
    { "1 ++ 2", "! 1:4: Syntax error: extraneous input '+' expecting " EXPR },
    { "x.a.b.c.d.", "! 1:11: Syntax error: no viable alternative at input '.'" },
    { "a.b{", "! 1:5: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', "
              "IDENTIFIER, ESC_IDENTIFIER}" },
    { "a.b{c:", "! 1:7: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "a.b{c: 1", "! 1:9: Syntax error: mismatched input '<EOF>' expecting {'}', ','}" },
    { "a.b{1: 2}", "! 1:5: Syntax error: mismatched input '1' expecting {'}', ',', '?', "
                   "IDENTIFIER, ESC_IDENTIFIER}" },
    { "T{a: 1, }", "! 1:2: undeclared reference to 'T' (in container '')" },
    { "{1: 2, 3}", "! 1:9: Syntax error: mismatched input '}' expecting ':'" },
    { "[1 : 2]", "! 1:4: Syntax error: mismatched input ':' expecting {']', ','}" },
    { "[1; 2]", "! 1:3: Syntax error: token recognition error at: ';'\n1:5: Syntax error: "
                "extraneous input '2' expecting {']', ','}" },
    { "for x in y", "! 1:1: reserved identifier: for\n1:5: Syntax error: mismatched input 'x' "
                    "expecting <EOF>" },
    { "if (true) 1", "! 1:1: reserved identifier: if\n1:11: Syntax error: extraneous input '1' "
                     "expecting <EOF>" },
    { "x => 1", "! 1:3: Syntax error: token recognition error at: '=>'\n1:6: Syntax error: "
                "extraneous input '1' expecting <EOF>" },
    { "'\\'", "! 1:1: Syntax error: token recognition error at: ''\\''\n1:4: Syntax error: "
              "mismatched input '<EOF>' expecting " EXPR },
    { "\"\n\"", "! 1:1: Syntax error: token recognition error at: '\"\n'\n2:1: Syntax error: "
                "token recognition error at: '\"'\n2:2: Syntax error: mismatched input '<EOF>' "
                "expecting " EXPR },
    { "[?o]", "[]", 11 },
    { "{?'a': o}", "{}", 31 },
    { "[?1]", "! 1:3: expected type 'optional_type(int)' but found 'int'" },
    { "{?'a': 1}", "! 1:8: expected type 'optional_type(int)' but found 'int'" },
    { "[?o, ?optional.of(2), 3]", "[2, 3]", 12 },
};

/* What binds more. */
static void test_precedence(void **state)
{
    (void)state;
    check_scene(precedence_cases, ARRAY_LEN(precedence_cases));
}

/* Where faults are, over lines and wide characters. */
static void test_positions(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "true &&\n  y", "! 2:3: undeclared reference to 'y' (in container '')" },
        { "true &&\n\ty", "! 2:2: undeclared reference to 'y' (in container '')" },
        { "'é' + y", "! 1:7: undeclared reference to 'y' (in container '')" },
        { "'日本' + y", "! 1:8: undeclared reference to 'y' (in container '')" },
        { "'😀' + y", "! 1:7: undeclared reference to 'y' (in container '')" },
        { "\"a\" +\n\"b\" +\nz", "! 3:1: undeclared reference to 'z' (in container '')" },
        { "1 +\n\n\n +", "! 4:2: Syntax error: mismatched input '+' expecting " EXPR
                         "\n4:3: Syntax error: mismatched input '<EOF>' expecting " EXPR },
        { "[1,\n 2,\n q]", "! 3:2: undeclared reference to 'q' (in container '')" },
        { "{'a':\n q}", "! 2:2: undeclared reference to 'q' (in container '')" },
        { "q.all(v,\n w)", "! 1:1: undeclared reference to 'q' (in container '')\n2:2: undeclared "
                           "reference to 'w' (in container '')" },
        { "y && z", "! 1:1: undeclared reference to 'y' (in container '')\n1:6: undeclared "
                    "reference to 'z' (in container '')" },
        { "y.a.b", "! 1:1: undeclared reference to 'y' (in container '')" },
        { "y.a(z)",
          "! 1:1: undeclared reference to 'y' (in container '')\n1:4: undeclared reference to 'a' "
          "(in container '')\n1:5: undeclared reference to 'z' (in container '')" },
        { "y + z * w",
          "! 1:1: undeclared reference to 'y' (in container '')\n1:5: undeclared reference to 'z' "
          "(in container '')\n1:9: undeclared reference to 'w' (in container '')" },
        { "[y, z]", "! 1:2: undeclared reference to 'y' (in container '')\n1:5: undeclared "
                    "reference to 'z' (in container '')" },
        { "{y: z}", "! 1:2: undeclared reference to 'y' (in container '')\n1:5: undeclared "
                    "reference to 'z' (in container '')" },
        { "y ? z : w",
          "! 1:1: undeclared reference to 'y' (in container '')\n1:5: undeclared reference to 'z' "
          "(in container '')\n1:9: undeclared reference to 'w' (in container '')" },
        { "y[z]", "! 1:1: undeclared reference to 'y' (in container '')\n1:3: undeclared reference "
                  "to 'z' (in container '')" },
        { "f(y)", "! 1:2: undeclared reference to 'f' (in container '')\n1:3: undeclared reference "
                  "to 'y' (in container '')" },
        { "s.foo()", "! 1:6: undeclared reference to 'foo' (in container '')" },
        { "s.foo(y)", "! 1:6: undeclared reference to 'foo' (in container '')\n1:7: undeclared "
                      "reference to 'y' (in container '')" },
        { "f.g(1)", "! 1:1: undeclared reference to 'f' (in container '')\n1:4: undeclared "
                    "reference to 'g' (in container '')" },
        { "f.g.h(1)", "! 1:1: undeclared reference to 'f' (in container '')\n1:6: undeclared "
                      "reference to 'h' (in container '')" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Calls, members and indexes in chains. */
static void test_calls(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "s.size() + 1", "6", 3 },
        { "s.size().size()", "! 1:14: found no matching overload for 'size' applied to 'int.()'" },
        { "'abc'.size() == size('abc')", "true", 3 },
        { "[1, 2].size().string()",
          "! 1:21: found no matching overload for 'string' applied to 'int.()'" },
        { "[[1, 2], [3]][0][1]", "2", 3 },
        { "{'a': {'b': {'c': 1}}}.a.b['c']", "1", 4 },
        { "{'a': [1, {'b': 2}]}.a[1].b",
          "! 1:11: expected type 'int' but found 'map(string, int)'" },
        { "x['b']['l'][0]", "1", 4 },
        { "x.b.l[0] + x['a']", "2", 7 },
        { "(x).a", "1", 2 },
        { "(x.b).c", "text", 3 },
        { "((x)).b.c", "text", 3 },
        { "[x.a, x.b.c.size()]", "! 1:17: expected type 'dyn' but found 'int'" },
        { "{x.b.c: x.a}", "{text: 1}", 35 },
        { "{'a' + 'b': 1 + 2}.ab", "3", 34 },
        { "[1, 2, 3][l[0]]", "2", 3 },
        { "m['k'] == m.k", "true", 5 },
        { "(true ? l : [9])[0]", "1", 1 },
        { "(d > 3 ? 'a' : 'b') + 'c'", "ac", 3 },
        { "l.filter(i, i > 1)[0]", "2", 36 },
        { "l.map(i, i * 2).filter(i, i > 2).size()", "2", 78 },
        { "s.contains('l') ? s.size() : -1", "5", 4 },
        { "!s.contains('z') && !s.startsWith('z')", "true", 6 },
        { "-l.size()", "-3", 3 },
        { "-(l.size())", "-3", 3 },
        { "1 - l.size()", "-2", 3 },
        { "l.size() -1", "2", 3 },
        { "l .size( )", "3", 2 },
        { "l\n.size()", "3", 2 },
        { "l.\nsize()", "3", 2 },
        { "s.size(\n)", "5", 2 },
        { "[\n1\n,\n2\n]", "[1, 2]" },
        { "{\n'a'\n:\n1\n}", "{a: 1}" },
        { "type(x) == map", "true", 3 },
        { "type(x.b.l) == list", "true", 5 },
        { "type(s) == string", "true", 3 },
        { "type(l[0]) == int", "true", 4 },
        { ".s", "hello", 1 },
        { ".l[0]", "1", 2 },
        { ".type(1)", "int" },
        { ".size(l)", "3", 2 },
        { ".y", "! 1:2: undeclared reference to '.y' (in container '')" },
        { "l.exists(l, l == 1)", "true", 11 },
        { "l.map(s, s)", "[1, 2, 3]", 41 },
        { "l.all(type, type > 0)", "true", 17 },
        { "l.exists(int, int == 2)", "true", 17 },
        { "l.map(int, int)", "[1, 2, 3]", 41 },
        { "[1].map(x, x.a)", "! 1:13: type 'int' does not support field selection" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_syntax_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_literals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        CASE_TEST(test_precedence),
        CASE_TEST(test_positions),
        CASE_TEST(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
