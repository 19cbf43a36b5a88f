/* format(): clauses and what they refuse, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* %s takes every type. */
static void test_strings(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'%s'.format(['a'])", "a", 1 },
        { "'%s %s'.format(['a', 'b'])", "a b", 1 },
        { "'%s'.format([1])", "1", 1 },
        { "'%s'.format([-1])", "-1", 1 },
        { "'%s'.format([1u])", "1", 1 },
        { "'%s'.format([1.5])", "1.5", 1 },
        { "'%s'.format([1e20])", "1e+20", 1 },
        { "'%s'.format([1e-9])", "1e-09", 1 },
        { "'%s'.format([true])", "true", 1 },
        { "'%s'.format([null])", "null", 1 },
        { "'%s'.format([b'abc'])", "abc", 1 },
        { "'%s'.format([b'\\xff'])",
          "! error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot "
          "convert to string\" to string",
          1 },
        { "'%s'.format([timestamp(0)])", "1970-01-01T00:00:00Z", 1 },
        { "'%s'.format([timestamp('2020-01-01T00:00:00.123456789Z')])",
          "2020-01-01T00:00:00.123456789Z", 1 },
        { "'%s'.format([duration('1h')])", "3600s", 1 },
        { "'%s'.format([duration('1.5s')])", "1.5s", 1 },
        { "'%s'.format([int])", "int", 1 },
        { "'%s'.format([[1, 2]])", "[1, 2]", 1 },
        { "'%s'.format([['a', 'b']])", "[\"a\", \"b\"]", 1 },
        { "'%s'.format([[[1], []]])", "[[1], []]", 1 },
        { "'%s'.format([[true, false]])", "[true, false]", 1 },
        { "'%s'.format([[1.5, 2.0]])", "[1.500000, 2.000000]", 1 },
        { "'%s'.format([[1u]])", "[1]", 1 },
        { "'%s'.format([[dyn(null), 1]])", "[null, 1]", 1 },
        { "'%s'.format([[duration('1s')]])", "[duration(\"1s\")]", 1 },
        { "'%s'.format([[b'a']])", "[b\"a\"]", 1 },
        { "'%s'.format([{'a': 1}])", "{\"a\":1}", 1 },
        { "'%s'.format([{'a': 'b'}])", "{\"a\":\"b\"}", 1 },
        { "'%s'.format([{1: [2]}])", "{1:[2]}", 1 },
        { "'%s'.format([{true: 1.5}])", "{true:1.500000}", 1 },
        { "'%s'.format([{'a': {'b': null}}])", "{\"a\":{\"b\":null}}", 1 },
        { "'%s'.format([{1u: 2u}])", "{1:2}", 1 },
        { "'%s'.format([{1.5: 1}])",
          "! error during formatting: no formatting function for map key of type double", 1 },
        { "'%s'.format([x.b])", "{\"c\":\"text\", \"l\":[1, 2]}", 13 },
        { "'%s'.format([l])", "[1, 2, 3]", 12 },
        { "'%s'.format([s])", "hello", 12 },
        { "'%s'.format([optional.of(1)])",
          "! 1:25: error during formatting: string clause can only be used on strings, bools, "
          "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
          "optional_type" },
        { "'%s'.format([quantity('1')])",
          "! 1:22: error during formatting: string clause can only be used on strings, bools, "
          "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
          "kubernetes.Quantity" },
        { "'%s'.format([ip('1.2.3.4')])",
          "! 1:16: error during formatting: string clause can only be used on strings, bools, "
          "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given net.IP" },
        { "'%s'.format([url('http://a/')])",
          "! 1:17: error during formatting: string clause can only be used on strings, bools, "
          "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
          "kubernetes.URL" },
        { "'%s'.format([semver('1.2.3')])",
          "! 1:20: error during formatting: string clause can only be used on strings, bools, "
          "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
          "kubernetes.Semver" },
        { "'100%%'.format([])", "100%", 1 },
        { "'%%s'.format([])", "%s", 1 },
        { "'%s%%%s'.format(['a', 'b'])", "a%b", 1 },
        { "''.format([])", "" },
        { "'a'.format([])", "a", 1 },
        { "'日%s本'.format(['x'])", "日x本", 1 },
        { "'%s'.format(l)", "1", 2 },
        { "s.format([])", "hello", 2 },
        { "(s + '%s').format([1])", "hello1", 3 },
        { "(s + '%d').format(['a'])",
          "! error during formatting: decimal clause can only be used on integers, was given "
          "string",
          3 },
        { "(s + '%d').format([])", "! index 0 out of range", 3 },
        { "(s + '%').format([])", "! index 0 out of range", 3 },
        { "(s + '%q').format([1])",
          "! could not parse formatting clause: unrecognized formatting clause \"q\"", 3 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Numbers in bases, with digits behind the dot. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'%d'.format([1])", "1", 1 },
        { "'%d'.format([-1])", "-1", 1 },
        { "'%d'.format([1u])", "1", 1 },
        { "'%d'.format([18446744073709551615u])", "18446744073709551615", 1 },
        { "'%d'.format([-9223372036854775808])", "-9223372036854775808", 1 },
        { "'%d'.format([d])", "5", 12 },
        { "'%d'.format([dyn(1.5)])",
          "! error during formatting: decimal clause can only be used on integers, was given "
          "double",
          1 },
        { "'%d'.format([dyn('1')])",
          "! error during formatting: decimal clause can only be used on integers, was given "
          "string",
          1 },
        { "'%b'.format([5])", "101", 1 },
        { "'%b'.format([-5])", "-101", 1 },
        { "'%b'.format([5u])", "101", 1 },
        { "'%b'.format([true])", "1", 1 },
        { "'%b'.format([false])", "0", 1 },
        { "'%b'.format([0])", "0", 1 },
        { "'%o'.format([8])", "10", 1 },
        { "'%o'.format([-8])", "-10", 1 },
        { "'%o'.format([8u])", "10", 1 },
        { "'%x'.format([255])", "ff", 1 },
        { "'%X'.format([255])", "FF", 1 },
        { "'%x'.format([-255])", "-ff", 1 },
        { "'%x'.format([255u])", "ff", 1 },
        { "'%x'.format(['hello'])", "68656c6c6f", 1 },
        { "'%X'.format(['hello'])", "68656C6C6F", 1 },
        { "'%x'.format([b'\\xff\\x00'])", "ff00", 1 },
        { "'%X'.format([b'\\xff\\x00'])", "FF00", 1 },
        { "'%x'.format([''])", "", 1 },
        { "'%x'.format([dyn(1.5)])",
          "! error during formatting: only integers, byte buffers, and strings can be formatted as "
          "hex, was given double",
          1 },
        { "'%f'.format([1.5])", "1.500000", 1 },
        { "'%.0f'.format([1.5])", "2", 1 },
        { "'%.1f'.format([1.25])", "1.2", 1 },
        { "'%.10f'.format([1.5])", "1.5000000000", 1 },
        { "'%f'.format([1234567.5])", "1,234,567.500000", 1 },
        { "'%f'.format([-1234.5])", "-1,234.500000", 1 },
        { "'%f'.format([0.0])", "0.000000", 1 },
        { "'%f'.format(['NaN'])", "NaN", 1 },
        { "'%f'.format(['Infinity'])", "∞", 1 },
        { "'%f'.format(['nope'])",
          "! error during formatting: fixed-point clause can only be used on doubles, was given "
          "string",
          1 },
        { "'%f'.format([dyn(1)])",
          "! error during formatting: fixed-point clause can only be used on doubles, was given "
          "int",
          1 },
        { "'%f'.format([dyn(1u)])",
          "! error during formatting: fixed-point clause can only be used on doubles, was given "
          "uint",
          1 },
        { "'%e'.format([1.5])", "1.500000×10⁰⁰", 1 },
        { "'%.2e'.format([1234.5678])", "1.234568×10⁰³", 1 },
        { "'%.0e'.format([1.5])", "1.500000×10⁰⁰", 1 },
        { "'%e'.format([-0.00015])", "-1.500000×10⁻⁰⁴", 1 },
        { "'%e'.format([dyn(1)])",
          "! error during formatting: scientific clause can only be used on doubles, was given int",
          1 },
        { "'%.3s'.format(['abcdef'])", "abcdef", 1 },
        { "'%.3d'.format([1])", "1", 1 },
        { "'%.99999999999999999999f'.format([1.0])",
          "! 1:33: could not parse formatting clause: error while parsing precision: error while "
          "converting precision to integer: strconv.Atoi: parsing \"99999999999999999999\": value "
          "out of range" },
        { "'%.-1f'.format([1.0])",
          "! 1:15: could not parse formatting clause: error while parsing precision: error while "
          "converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax" },
        { "'%5d'.format([1])",
          "! 1:13: could not parse formatting clause: unrecognized formatting clause \"5\"" },
        { "'% d'.format([1])",
          "! 1:13: could not parse formatting clause: unrecognized formatting clause \" \"" },
        { "'%+d'.format([1])",
          "! 1:13: could not parse formatting clause: unrecognized formatting clause \"+\"" },
        { "'%d %s %f %e %b %o %x %X'.format([dyn(1), 's', 1.5, 2.5, true, 8, 255, 'z'])",
          "1 s 1.500000 2.500000×10⁰⁰ 1 10 ff 7A", 3 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_strings),
        CASE_TEST(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
