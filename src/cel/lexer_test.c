/* Tokens: numbers, texts with their escapes, names and what is none. Answers are upstream's. */
#include "base/idiom.h"
#include "cel/check_test.h"

static const struct answer_case tokens_cases[] = {
    { "0", "0" },
    { "007", "7" },
    { "1u", "1" },
    { "1U", "1" },
    { "0xFFu", "255" },
    { "0XAB", "! 1:2: Syntax error: extraneous input 'XAB' expecting <EOF>" },
    { "-0x10", "-16" },
    { "0x7fffffffffffffff", "9223372036854775807" },
    { "0x8000000000000000", "! 1:1: invalid int literal" },
    { "-0x8000000000000000", "-9223372036854775808" },
    { "0xffffffffffffffffu", "18446744073709551615" },
    { "0x10000000000000000u", "! 1:1: invalid uint literal" },
    { "18446744073709551616u", "! 1:1: invalid uint literal" },
    { "-1u", "! 1:1: found no matching overload for '-_' applied to '(uint)'" },
    { "1.5", "1.5" },
    { ".5", "0.5" },
    { "-.5", "-0.5" },
    { "1e3", "1000" },
    { "1E+3", "1000" },
    { "1e-3", "0.001" },
    { "1.", "! 1:3: Syntax error: no viable alternative at input '.'" },
    { "1.e3", "! 1:2: type 'int' does not support field selection" },
    { "1e", "! 1:2: Syntax error: extraneous input 'e' expecting <EOF>" },
    { "1.5u", "! 1:4: Syntax error: extraneous input 'u' expecting <EOF>" },
    { "0x", "! 1:2: Syntax error: extraneous input 'x' expecting <EOF>" },
    { "0b1", "! 1:2: Syntax error: extraneous input 'b1' expecting <EOF>" },
    { "1_000", "! 1:2: Syntax error: extraneous input '_000' expecting <EOF>" },
    { "1e309", "! 1:1: invalid double literal" },
    { "-1e309", "! 1:1: invalid double literal" },
    { "5e-324", "5e-324" },
    { "1.7976931348623157e308", "1.7976931348623157e+308" },
    { "'a'", "a" },
    { "\"a\"", "a" },
    { "'''a'b'''", "a'b" },
    { "\"\"\"a\"b\"\"\"", "a\"b" },
    { "'''two\nlines'''", "two\nlines" },
    { "\"\"\"ends with \\\"\"\"\"\"\"",
      "! 1:19: Syntax error: extraneous input '\"\"' expecting <EOF>" },
    { "'single\nline'", "! 1:1: Syntax error: token recognition error at: ''single\n'\n2:5: "
                        "Syntax error: token recognition error at: '''" },
    { "'open", "! 1:1: Syntax error: token recognition error at: ''open'\n1:6: Syntax error: "
               "mismatched input '<EOF>' expecting " EXPR },
    { "\"open", "! 1:1: Syntax error: token recognition error at: '\"open'\n1:6: Syntax error: "
                "mismatched input '<EOF>' expecting " EXPR },
    { "'''open''", "! 1:3: Syntax error: extraneous input ''open'' expecting <EOF>\n1:9: "
                   "Syntax error: token recognition error at: '''" },
    { "r'\\n'", "\\n" },
    { "R\"\\t\"", "\\t" },
    { "r'''\\'''", "\\" },
    { "r'a\\'b'", "! 1:6: Syntax error: extraneous input 'b' expecting <EOF>\n1:7: Syntax "
                  "error: token recognition error at: '''" },
    { "b'abc'", "[97 98 99]" },
    { "B\"abc\"", "[97 98 99]" },
    { "br'\\n'", "[92 110]" },
    { "rb'\\n'", "! 1:3: Syntax error: extraneous input ''\\n'' expecting <EOF>" },
    { "b'é'.size()", "2", 1 },
    { "'é'.size()", "1", 1 },
    { "'\\a\\b\\f\\n\\r\\t\\v'.size()", "7", 1 },
    { "'\\\\\\'\\\"\\`\\?'", "\\'\"`?" },
    { "'\\x41\\X41'", "AA" },
    { "'\\101\\060'", "A0" },
    { "'\\400'", "! 1:1: Syntax error: token recognition error at: ''\\4'\n1:6: Syntax error: "
                 "token recognition error at: '''" },
    { "'\\18'", "! 1:1: Syntax error: token recognition error at: ''\\18'\n1:5: Syntax error: "
                "token recognition error at: '''\n1:6: Syntax error: mismatched input '<EOF>' "
                "expecting " EXPR },
    { "'\\u0041\\u00e9'", "Aé" },
    { "'\\U0001F600'.size()", "1", 1 },
    { "'\\U0001F600'", "😀" },
    { "'\\U00110000'", "! 1:1: invalid unicode code point" },
    { "'\\uD83D'", "! 1:1: invalid unicode code point" },
    { "'\\u12'", "! 1:1: Syntax error: token recognition error at: ''\\u12''\n1:7: Syntax "
                 "error: mismatched input '<EOF>' expecting " EXPR },
    { "'\\x4'", "! 1:1: Syntax error: token recognition error at: ''\\x4''\n1:6: Syntax error: "
                "mismatched input '<EOF>' expecting " EXPR },
    { "'\\q'", "! 1:1: Syntax error: token recognition error at: ''\\q'\n1:4: Syntax error: "
               "token recognition error at: '''\n1:5: Syntax error: mismatched input '<EOF>' "
               "expecting " EXPR },
    { "'\\0'", "! 1:1: Syntax error: token recognition error at: ''\\0''\n1:5: Syntax error: "
               "mismatched input '<EOF>' expecting " EXPR },
    { "b'\\u0041'", "! 1:1: unable to unescape string" },
    { "b'\\U00000041'", "! 1:1: unable to unescape string" },
    { "b'\\xff' == b'\\377'", "true", 1 },
    { "b'\\xff\\x00'.size()", "2", 1 },
    { "string(b'\\xf0\\x9f\\x98\\x80')", "😀" },
    { "string(b'\\xff')", "! invalid UTF-8 in bytes, cannot convert to string" },
    { "_a", "! 1:1: undeclared reference to '_a' (in container '')" },
    { "a_1", "! 1:1: undeclared reference to 'a_1' (in container '')" },
    { "1a", "! 1:2: Syntax error: extraneous input 'a' expecting <EOF>" },
    { "a-b", "! 1:1: undeclared reference to 'a' (in container '')\n1:3: undeclared reference "
             "to 'b' (in container '')" },
    { "a$b", "! 1:2: Syntax error: token recognition error at: '$'\n1:3: Syntax error: "
             "extraneous input 'b' expecting <EOF>" },
    { "#", "! 1:1: Syntax error: token recognition error at: '#'\n1:2: Syntax error: "
           "mismatched input '<EOF>' expecting " EXPR },
    { "@", "! 1:1: Syntax error: token recognition error at: '@'\n1:2: Syntax error: "
           "mismatched input '<EOF>' expecting " EXPR },
    { "a.`b-c`", "! 1:1: undeclared reference to 'a' (in container '')" },
    { "{'b-c': 1}.`b-c`", "1", 2 },
    { "{'a.b/c d': 1}.`a.b/c d`", "1", 2 },
    { "{'b': 1}.`b`", "1", 2 },
    { "{'b': 1}.``", "! 1:10: Syntax error: token recognition error at: '``'\n1:12: Syntax "
                     "error: no viable alternative at input '.'" },
    { "`a`", "! 1:1: Syntax error: mismatched input '`a`' expecting " EXPR },
    { "{'b': 1}.`b", "! 1:10: Syntax error: token recognition error at: '`b'\n1:12: Syntax "
                     "error: no viable alternative at input '.'" },
    { "// only this", "! 1:13: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "1 // after\n+ 2", "3", 1 },
    { "1 /* no */", "! 1:4: Syntax error: extraneous input '*' expecting " EXPR
                    "\n1:10: Syntax error: mismatched input '/' expecting " EXPR
                    "\n1:11: Syntax error: mismatched input '<EOF>' expecting " EXPR },
    { "1\n+\t2", "3", 1 },
    { "\t1", "1" },
    { "true", "true" },
    { "True", "! 1:1: undeclared reference to 'True' (in container '')" },
    { "null", "null" },
    { "NULL", "! 1:1: undeclared reference to 'NULL' (in container '')" },
};

/* Numbers, texts and names as they are written. */
static void test_tokens(void **state)
{
    (void)state;
    check_scene(tokens_cases, ARRAY_LEN(tokens_cases));
}

/* Names that may not be used, and where they may. */
static void test_reserved_words(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "as", "! 1:1: reserved identifier: as" },
        { "break", "! 1:1: reserved identifier: break" },
        { "const", "! 1:1: reserved identifier: const" },
        { "continue", "! 1:1: reserved identifier: continue" },
        { "else", "! 1:1: reserved identifier: else" },
        { "for", "! 1:1: reserved identifier: for" },
        { "function", "! 1:1: reserved identifier: function" },
        { "if", "! 1:1: reserved identifier: if" },
        { "import", "! 1:1: reserved identifier: import" },
        { "let", "! 1:1: reserved identifier: let" },
        { "loop", "! 1:1: reserved identifier: loop" },
        { "package", "! 1:1: reserved identifier: package" },
        { "namespace", "! 1:1: reserved identifier: namespace" },
        { "return", "! 1:1: reserved identifier: return" },
        { "var", "! 1:1: reserved identifier: var" },
        { "void", "! 1:1: reserved identifier: void" },
        { "while", "! 1:1: reserved identifier: while" },
        { "in", "! 1:1: Syntax error: mismatched input 'in' expecting " EXPR
                "\n1:3: Syntax error: mismatched input '<EOF>' expecting " EXPR },
        { "{'as': 1}.as", "1", 2 },
        { "{'if': 1}.if", "1", 2 },
        { "{'namespace': 1}.namespace", "1", 2 },
        { "{'in': 1}.in", "! 1:11: Syntax error: no viable alternative at input '.in'\n1:13: "
                          "Syntax error: mismatched input '<EOF>' expecting " EXPR },
        { "{'true': 1}.true",
          "! 1:13: Syntax error: mismatched input 'true' expecting IDENTIFIER" },
        { "{'null': 1}.null",
          "! 1:13: Syntax error: mismatched input 'null' expecting IDENTIFIER" },
        { "{'while': {'for': 2}}.while.for", "2", 3 },
        { "x.namespace", "! no such key: namespace", 2 },
        { "x.if()", "! 1:5: undeclared reference to 'if' (in container '')" },
        { "var(1)", "! 1:1: reserved identifier: var" },
        { "[1].map(if, if)", "! 1:9: reserved identifier: if\n1:9: argument is not an "
                             "identifier\n1:13: reserved identifier: if" },
        { "[1].map(return, 2)",
          "! 1:9: reserved identifier: return\n1:9: argument is not an identifier" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Escapes and quotes that are easily mistaken. */
static void test_more_escapes(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'\\x0a' == '\\n'", "true", 1 },
        { "'\\X0A' == '\\n'", "true", 1 },
        { "'\\141' == 'a'", "true", 1 },
        { "\"\\\"\" == '\"'", "true", 1 },
        { "'\\'' == \"'\"", "true", 1 },
        { "'''\\''''", "'" },
        { "\"\"\"a", "! 1:3: Syntax error: token recognition error at: '\"a'" },
        { "r\"a\\\"b\"", "! 1:6: Syntax error: extraneous input 'b' expecting <EOF>\n1:7: Syntax "
                         "error: token recognition error at: '\"'" },
        { "r'\\x41'.size()", "4", 1 },
        { "R'''a\\nb'''.size()", "4", 1 },
        { "b'\\x41\\u00e9'.size()", "! 1:1: unable to unescape string" },
        { "b'\\u00e9'", "! 1:1: unable to unescape string" },
        { "b'\\xc3\\xa9' == b'é'", "true", 1 },
        { "br\"\\x41\".size()", "4", 1 },
        { "'\\u0000'.size()", "1", 1 },
        { "'\\U0010FFFF'.size()", "1", 1 },
        { "'\\U0000D800'", "! 1:1: invalid unicode code point" },
        { "'\\uDFFF'", "! 1:1: invalid unicode code point" },
        { "'\\377'", "ÿ" },
        { "'\\8'", "! 1:1: Syntax error: token recognition error at: ''\\8'\n1:4: Syntax error: "
                   "token recognition error at: '''\n1:5: Syntax error: mismatched input '<EOF>' "
                   "expecting " EXPR },
        { "'\\x'", "! 1:1: Syntax error: token recognition error at: ''\\x''\n1:5: Syntax error: "
                   "mismatched input '<EOF>' expecting " EXPR },
        { "'\\xg0'", "! 1:1: Syntax error: token recognition error at: ''\\xg'\n1:6: Syntax error: "
                     "token recognition error at: '''" },
        { "'\\u00e'", "! 1:1: Syntax error: token recognition error at: ''\\u00e''\n1:8: Syntax "
                      "error: mismatched input '<EOF>' expecting " EXPR },
        { "'\\U0001F60'", "! 1:1: Syntax error: token recognition error at: ''\\U0001F60''\n1:12: "
                          "Syntax error: mismatched input '<EOF>' expecting " EXPR },
        { "'\\ '", "! 1:1: Syntax error: token recognition error at: ''\\ '\n1:4: Syntax error: "
                   "token recognition error at: '''\n1:5: Syntax error: mismatched input '<EOF>' "
                   "expecting " EXPR },
        { "'a\\", "! 1:1: Syntax error: token recognition error at: ''a\\'\n1:4: Syntax error: "
                  "mismatched input '<EOF>' expecting " EXPR },
        { "b'\\400'",
          "! 1:2: Syntax error: token recognition error at: ''\\4'\n1:5: Syntax error: extraneous "
          "input '00' expecting <EOF>\n1:7: Syntax error: token recognition error at: '''" },
        { "'tab\tinside'.size()", "10", 1 },
        { "'é' == 'e\\u0301'", "false", 1 },
        { "u'a'", "! 1:2: Syntax error: extraneous input ''a'' expecting <EOF>" },
        { "f'a'", "! 1:2: Syntax error: extraneous input ''a'' expecting <EOF>" },
        { "'a'b", "! 1:4: Syntax error: extraneous input 'b' expecting <EOF>" },
        { "1.2.3", "! 1:4: Syntax error: extraneous input '.3' expecting <EOF>" },
        { "1..2", "! 1:3: Syntax error: no viable alternative at input '..2'" },
        { "0x1.5", "! 1:4: Syntax error: extraneous input '.5' expecting <EOF>" },
        { "0xG", "! 1:2: Syntax error: extraneous input 'xG' expecting <EOF>" },
        { "00", "0" },
        { "0u7", "! 1:3: Syntax error: extraneous input '7' expecting <EOF>" },
        { "1e1u", "! 1:4: Syntax error: extraneous input 'u' expecting <EOF>" },
        { "1.e", "! 1:2: type 'int' does not support field selection" },
        { ".e1", "! 1:2: undeclared reference to '.e1' (in container '')" },
        { "1.5.size()", "! 1:9: found no matching overload for 'size' applied to 'double.()'" },
        { "'a'.size().size()",
          "! 1:16: found no matching overload for 'size' applied to 'int.()'" },
        { "-1.5e-3", "-0.0015" },
        { "-0u", "! 1:1: found no matching overload for '-_' applied to '(uint)'" },
        { "1e+", "! 1:2: Syntax error: mismatched input 'e' expecting <EOF>" },
        { "1E5", "100000" },
        { "0xABCDEFabcdef", "188900977659375" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_tokens),
        CASE_TEST(test_reserved_words),
        CASE_TEST(test_more_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
