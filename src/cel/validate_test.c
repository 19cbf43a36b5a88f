/* Literals that cannot be right, found while compiling, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* format() is looked at while compiling, as far as its arguments are known. */
static void test_formats_before_use(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'%d'.format([s])", "! 1:14: error during formatting: decimal clause can only be used on "
                              "integers, was given string" },
        { "'%d'.format([x.a])", "1", 13 },
        { "'%d'.format([dyn(s)])",
          "! error during formatting: decimal clause can only be used on integers, was given "
          "string",
          13 },
        { "'%s %d'.format([s, l[0]])", "hello 1", 14 },
        { "'%f'.format([l[0]])", "! 1:15: error during formatting: fixed-point clause can only be "
                                 "used on doubles, was given int" },
        { "'%x'.format([m])", "! 1:14: error during formatting: only integers, byte buffers, and "
                              "strings can be formatted as hex, was given map" },
        { "'%b'.format([1.5])", "! 1:14: error during formatting: only integers and bools can be "
                                "formatted as binary, was given double" },
        { "'%o'.format([b'a'])", "! 1:14: error during formatting: octal clause can only be used "
                                 "on integers, was given bytes" },
        { "'%e'.format([true])", "! 1:14: error during formatting: scientific clause can only be "
                                 "used on doubles, was given bool" },
        { "'%d %d'.format([1])", "! 1:15: index 1 out of range" },
        { "'%d'.format([1, 2])",
          "! 1:12: too many arguments supplied to string.format (expected 1, got 2)" },
        { "'no clause'.format([1])",
          "! 1:19: too many arguments supplied to string.format (expected 0, got 1)" },
        { "'%s'.format([[1, 'a']])", "[1, \"a\"]", 1 },
        { "'%s'.format([[1, dyn('a')]])", "[1, \"a\"]", 1 },
        { "'%s'.format([{'a': 1, 'b': 'c'}])", "{\"a\":1, \"b\":\"c\"}", 1 },
        { "'%d'.format(l)", "1", 2 },
        { "s.format(['a', 1])", "hello", 2 },
        { "s.format([1, 'a'])", "hello", 2 },
        { "'%5.2f'.format([1.5])",
          "! 1:15: could not parse formatting clause: unrecognized formatting clause \"5\"" },
        { "'%.2q'.format([1.5])",
          "! 1:14: could not parse formatting clause: unrecognized formatting clause \"q\"" },
        { "'%é'.format([1])",
          "! 1:12: could not parse formatting clause: unrecognized formatting clause \"Ã\"" },
        { "'%.'.format([1])", "! 1:12: could not parse formatting clause: error while parsing "
                              "precision: could not find end of precision specifier" },
        { "'%s'.format(['a'], 'b')", "! 1:12: found no matching overload for 'format' applied to "
                                     "'string.(list(string), string)'" },
        { "'%s'.format('a')",
          "! 1:12: found no matching overload for 'format' applied to 'string.(string)'" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Mixed lists and maps, and what is let through. */
static void test_mixed_literals(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[1, 'a', true]", "! 1:5: expected type 'int' but found 'string'" },
        { "[1, [2]]", "! 1:5: expected type 'int' but found 'list(int)'" },
        { "[[1], 2]", "! 1:7: expected type 'list(int)' but found 'int'" },
        { "[{'a': 1}, ['a']]",
          "! 1:12: expected type 'map(string, int)' but found 'list(string)'" },
        { "[x, l]", "! 1:5: expected type 'dyn' but found 'list(int)'" },
        { "[l, x]", "! 1:5: expected type 'list(int)' but found 'dyn'" },
        { "[l, ['a']]", "! 1:5: expected type 'list(int)' but found 'list(string)'" },
        { "[m, {'a': 1}]", "[{k: 7}, {a: 1}]", 11 },
        { "[m, {'a': 'b'}]",
          "! 1:5: expected type 'map(string, int)' but found 'map(string, string)'" },
        { "[null, 'a']", "! 1:8: expected type 'null' but found 'string'" },
        { "['a', null]", "! 1:7: expected type 'string' but found 'null'" },
        { "[null, null]", "[null, null]" },
        { "[timestamp(0), null]", "! 1:16: expected type 'timestamp' but found 'null'" },
        { "[l[0], s]", "! 1:8: expected type 'int' but found 'string'" },
        { "[l[0], x.a]", "! 1:9: expected type 'int' but found 'dyn'" },
        { "[s, x.a, 1]", "! 1:6: expected type 'string' but found 'dyn'" },
        { "[1, 2, 3, 'a', 5, 'b']", "! 1:11: expected type 'int' but found 'string'" },
        { "{'a': 1, 'b': true, 'c': 'd'}", "! 1:15: expected type 'int' but found 'bool'\n1:26: "
                                           "expected type 'int' but found 'string'" },
        { "{'a': [1], 'b': ['c']}", "! 1:17: expected type 'list(int)' but found 'list(string)'" },
        { "{1: 'a', 'b': 'c'}", "! 1:10: expected type 'int' but found 'string'" },
        { "{s: 1, l[0]: 2}", "! 1:9: expected type 'string' but found 'int'" },
        { "{x.a: 1, s: 2}", "! 1:10: expected type 'dyn' but found 'string'" },
        { "{'a': {'b': 1}, 'c': {'d': 'e'}}",
          "! 1:22: expected type 'map(string, int)' but found 'map(string, string)'" },
        { "[1, 'a'].size() > 0", "! 1:5: expected type 'int' but found 'string'" },
        { "[1, 'a'] == [2]", "! 1:5: expected type 'int' but found 'string'" },
        { "1 in ['a', 1]", "! 1:12: expected type 'string' but found 'int'" },
        { "[1, 'a'].map(i, i)", "! 1:5: expected type 'int' but found 'string'" },
        { "l.map(i, [i, 'a'])", "! 1:14: expected type 'int' but found 'string'" },
        { "[[1, 'a']]", "! 1:6: expected type 'int' but found 'string'" },
        { "{'a': [1, 'b']}", "! 1:11: expected type 'int' but found 'string'" },
        { "[optional.of(1), 1]", "! 1:18: expected type 'optional_type(int)' but found 'int'" },
        { "[?optional.of(1), ?optional.of('a')]",
          "! 1:31: expected type 'int' but found 'string'" },
        { "[type(1), type('a')]", "! 1:15: expected type 'type(int)' but found 'type(string)'" },
        { "[1, 1u, 1.0]", "! 1:5: expected type 'int' but found 'uint'" },
        { "[1, dyn(1u), 1.0]", "! 1:8: expected type 'int' but found 'dyn'" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Literals of times and patterns anywhere in an expression. */
static void test_literals_in_calls(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "duration('x') == duration('1s') || true", "! 1:10: invalid duration argument" },
        { "true || duration('x') == duration('1s')", "! 1:18: invalid duration argument" },
        { "[duration('x')]", "! 1:11: invalid duration argument" },
        { "{'a': timestamp('x')}", "! 1:17: invalid timestamp argument" },
        { "l.map(i, duration('x'))", "! 1:19: invalid duration argument" },
        { "l.filter(i, s.matches('('))", "! 1:23: invalid matches argument" },
        { "has(x.a) ? duration('x') : duration('1s')", "! 1:21: invalid duration argument" },
        { "duration('1s') + duration('x')", "! 1:27: invalid duration argument" },
        { "timestamp('x').getHours()", "! 1:11: invalid timestamp argument" },
        { "s.matches('(') && s.matches('[')",
          "! 1:11: invalid matches argument\n1:29: invalid matches argument" },
        { "s.matches('a' + '(')", "! error parsing regexp: missing closing ): `a(`", 3 },
        { "'('.matches('a')", "false", 1 },
        { "matches(s, '(')", "! error parsing regexp: missing closing ): `(`" },
        { "s.find('(')", "! error parsing regexp: missing closing ): `(`" },
        { "s.findAll('(')", "! error parsing regexp: missing closing ): `(`" },
        { "timestamp('2020-01-01T00:00:00Z') - duration('y')",
          "! 1:46: invalid duration argument" },
        { "duration('1' + 's')", "1s", 2 },
        { "duration(dyn('x'))",
          "! type conversion error from 'string' to 'google.protobuf.Duration'" },
        { "x.matches('(')", "! 1:11: invalid matches argument" },
        { "x.b.c.matches('[a')", "! 1:15: invalid matches argument" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_formats_before_use),
        CASE_TEST(test_mixed_literals),
        CASE_TEST(test_literals_in_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
