/* Functions of lists and sets, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* sum, min, max, isSorted, indexOf, includes of lists. */
static void test_sums(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[1, 2, 3].sum()", "6", 3 },
        { "[1u, 2u].sum()", "3", 2 },
        { "[1.5, 2.5].sum()", "4", 2 },
        { "[].sum()", "0" },
        { "[duration('1s'), duration('2s')].sum()", "3s", 2 },
        { "['a', 'b'].sum()",
          "! 1:15: found no matching overload for 'sum' applied to 'list(string).()'" },
        { "[9223372036854775807, 1].sum()", "! integer overflow", 2 },
        { "[18446744073709551615u, 1u].sum()", "! unsigned integer overflow", 2 },
        { "[dyn(1), dyn(2.0)].sum()", "! no such overload", 2 },
        { "[3, 1, 2].min()", "1", 3 },
        { "[3, 1, 2].max()", "3", 3 },
        { "['b', 'a'].min()", "a" },
        { "['b', 'a'].max()", "b" },
        { "[1.5, -1.5].min()", "-1.5", 2 },
        { "[true, false].min()", "false", 2 },
        { "[b'b', b'a'].max()", "[98]" },
        { "[timestamp(1), timestamp(0)].min()", "1970-01-01T00:00:00Z", 2 },
        { "[duration('1s'), duration('1m')].max()", "60s", 2 },
        { "[].min()", "! min called on empty list" },
        { "[].max()", "! max called on empty list" },
        { "[[1], [2]].min()",
          "! 1:15: found no matching overload for 'min' applied to 'list(list(int)).()'" },
        { "[dyn(1), dyn('a')].min()", "1", 1 },
        { "[dyn(1), dyn(1.5)].max()", "1.5", 2 },
        { "[1, 2, 2].isSorted()", "true", 3 },
        { "[2, 1].isSorted()", "false", 2 },
        { "[].isSorted()", "true" },
        { "[1].isSorted()", "true", 1 },
        { "['a', 'b'].isSorted()", "true" },
        { "['b', 'a'].isSorted()", "false" },
        { "[false, true].isSorted()", "true", 2 },
        { "[1.0, 1.5].isSorted()", "true", 2 },
        { "[dyn(1), dyn('a')].isSorted()", "true", 1 },
        { "[timestamp(0), timestamp(1)].isSorted()", "true", 2 },
        { "[duration('2s'), duration('1s')].isSorted()", "false", 2 },
        { "[[1]].isSorted()",
          "! 1:15: found no matching overload for 'isSorted' applied to 'list(list(int)).()'" },
        { "[1, 2, 1].indexOf(1)", "0", 3 },
        { "[1, 2, 1].lastIndexOf(1)", "2", 3 },
        { "[1, 2, 1].indexOf(3)", "-1", 3 },
        { "[1, 2, 1].lastIndexOf(3)", "-1", 3 },
        { "[].indexOf(1)", "-1" },
        { "[].lastIndexOf(1)", "-1" },
        { "[[1], [2]].indexOf([2])", "1", 2 },
        { "[{'a': 1}].indexOf({'a': 1})", "0", 1 },
        { "['a'].indexOf('a')", "0" },
        { "[1].indexOf('a')",
          "! 1:12: found no matching overload for 'indexOf' applied to 'list(int).(string)'" },
        { "[dyn(1), dyn('a')].indexOf('a')", "1", 1 },
        { "[dyn(1.0)].indexOf(1)", "0", 1 },
        { "[1, 2].includes(1)", "true", 2 },
        { "[1, 2].includes(3)", "false", 2 },
        { "[].includes(1)", "false" },
        { "[[1]].includes([1])", "true", 1 },
        { "1.includes(1)", "true", 1 },
        { "'a'.includes('b')", "false" },
        { "null.includes(null)", "true", 1 },
        { "dyn([1]).includes(1)", "true", 1 },
        { "dyn(1).includes(1)", "true", 1 },
        { "{'a': 1}.includes('a')", "false", 1 },
        { "l.sum()", "6", 4 },
        { "l.min()", "1", 4 },
        { "l.max()", "3", 4 },
        { "l.isSorted()", "true", 4 },
        { "l.indexOf(2)", "1", 4 },
        { "l.includes(3)", "true", 4 },
        { "x.b.l.sum()", "3", 5 },
        { "x.b.l.max()", "2", 5 },
        { "dyn(l).sum()", "6", 5 },
        { "d.sum()", "! no such overload: sum(int)", 2 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Lists made of lists. */
static void test_slices(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[1, 2, 3].slice(0, 2)", "[1, 2]", 13 },
        { "[1, 2, 3].slice(1, 1)", "[]", 11 },
        { "[1, 2, 3].slice(3, 3)", "[]", 11 },
        { "[1, 2, 3].slice(0, 4)", "! cannot slice(0, 4), list is length 3", 12 },
        { "[1, 2, 3].slice(2, 1)",
          "! cannot slice(2, 1), start index must be less than or equal to end index", 12 },
        { "[1, 2, 3].slice(-1, 2)", "! cannot slice(-1, 2), negative indexes not supported", 12 },
        { "[1, 2, 3].slice(1, -1)", "! cannot slice(1, -1), negative indexes not supported", 12 },
        { "[].slice(0, 0)", "[]", 11 },
        { "l.slice(1, 3)", "[2, 3]", 14 },
        { "[[1], [2, [3]]].flatten()",
          "! 1:7: expected type 'list(int)' but found 'list(dyn)'\n1:11: expected type 'int' but "
          "found 'list(int)'" },
        { "[[1], [2, [dyn(3)]]].flatten(2)",
          "! 1:7: expected type 'list(int)' but found 'list(dyn)'\n1:11: expected type 'int' but "
          "found 'list(dyn)'" },
        { "[1, [2], [[3]]].flatten()", "! 1:5: expected type 'int' but found 'list(int)'" },
        { "[dyn(1), [2], [[3]]].flatten()", "! 1:10: expected type 'dyn' but found 'list(int)'" },
        { "[dyn(1), [2], [[3]]].flatten(2)", "! 1:10: expected type 'dyn' but found 'list(int)'" },
        { "[dyn(1), [2], [[3]]].flatten(0)", "! 1:10: expected type 'dyn' but found 'list(int)'" },
        { "[[1]].flatten(-1)", "! level must be non-negative", 12 },
        { "[].flatten()", "[]", 11 },
        { "[1].flatten()",
          "! 1:12: found no matching overload for 'flatten' applied to 'list(int).()'" },
        { "[[]].flatten()", "[]", 12 },
        { "[3, 1, 2].sort()", "[1, 2, 3]", 29 },
        { "['b', 'a', 'C'].sort()", "[C, a, b]", 29 },
        { "[].sort()", "[]", 11 },
        { "[1.5, double('NaN'), 0.5].sort()", "[1.5, NaN, 0.5]", 29 },
        { "[true, false].sort()", "[false, true]", 19 },
        { "[b'b', b'a'].sort()", "[[97], [98]]", 19 },
        { "[duration('1m'), duration('1s')].sort()", "[1s, 60s]", 19 },
        { "[timestamp(1), timestamp(0)].sort()", "[1970-01-01T00:00:00Z, 1970-01-01T00:00:01Z]",
          19 },
        { "[[2], [1]].sort()",
          "! 1:16: found no matching overload for 'sort' applied to 'list(list(int)).()'" },
        { "[dyn(1), dyn('a')].sort()", "! list elements must have the same type", 1 },
        { "[dyn(2), dyn(1)].sort()", "[1, 2]", 1 },
        { "[dyn(2), dyn(1.5)].sort()", "! list elements must have the same type", 1 },
        { "['bb', 'a', 'ccc'].sortBy(e, e.size())", "[a, bb, ccc]", 74 },
        { "['bb', 'a', 'ccc'].sortBy(e, -e.size())", "[ccc, bb, a]", 77 },
        { "[{'n': 2}, {'n': 1}].sortBy(e, e.n)", "[{n: 1}, {n: 2}]", 50 },
        { "[{'n': 2}, {'n': 1}].sortBy(e, e.n).map(e, e.n)", "[1, 2]", 79 },
        { "[1, 2].sortBy(e, [e])", "! 1:14: found no matching overload for '@sortByAssociatedKeys' "
                                   "applied to 'list(int).(list(list(int)))'" },
        { "[].sortBy(e, e)", "[]", 14 },
        { "['b', 'a'].sortBy(e, 1)", "[b, a]", 26 },
        { "l.sortBy(e, -e)", "[3, 2, 1]", 75 },
        { "[1, 2, 3].reverse()", "[3, 2, 1]", 14 },
        { "[].reverse()", "[]", 11 },
        { "[[1], [2]].reverse()", "[[2], [1]]", 13 },
        { "[1, 1, 2].distinct()", "[1, 2]", 29 },
        { "[].distinct()", "[]", 11 },
        { "['b', 'a', 'b'].distinct()", "[b, a]", 29 },
        { "[dyn(1), dyn(1.0), dyn(1u), dyn('1')].distinct()", "[1, 1]", 43 },
        { "[[1], [1], [2]].distinct()", "[[1], [2]]", 29 },
        { "[{'a': 1}, {'a': 1}].distinct()", "[{a: 1}]", 19 },
        { "[null, null].distinct()", "[null]", 19 },
        { "[double('NaN'), double('NaN')].distinct().size()", "2", 20 },
        { "lists.range(0)", "[]", 11 },
        { "lists.range(3)", "[0, 1, 2]", 14 },
        { "lists.range(-1)", "! lists.range: size must be non-negative, got -1", 12 },
        { "lists.range(1.5)",
          "! 1:12: found no matching overload for 'lists.range' applied to '(double)'" },
        { "l.reverse()", "[3, 2, 1]", 15 },
        { "l.distinct()", "[1, 2, 3]", 30 },
        { "l.flatten()",
          "! 1:10: found no matching overload for 'flatten' applied to 'list(int).()'" },
        { "dyn([[1]]).flatten()", "[1]", 12 },
        { "dyn(1).flatten()", "! no such overload: int.flatten()", 12 },
        { "'abc'.slice(0, 1)",
          "! 1:12: found no matching overload for 'slice' applied to 'string.(int, int)'" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* sets.* */
static void test_sets(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "sets.contains([1, 2], [1])", "true", 3 },
        { "sets.contains([1, 2], [])", "true", 1 },
        { "sets.contains([], [1])", "false", 1 },
        { "sets.contains([], [])", "true", 1 },
        { "sets.contains([1], [1, 1])", "true", 3 },
        { "sets.contains([1], [1, 2])", "false", 3 },
        { "sets.contains([dyn(1)], [1.0])", "true", 2 },
        { "sets.contains([[1]], [[1]])", "true", 2 },
        { "sets.contains([1], ['a'])", "! 1:14: found no matching overload for 'sets.contains' "
                                       "applied to '(list(int), list(string))'" },
        { "sets.contains([dyn(1)], ['a'])", "false", 2 },
        { "sets.equivalent([1, 2], [2, 1])", "true", 9 },
        { "sets.equivalent([1, 2], [2, 1, 1])", "true", 13 },
        { "sets.equivalent([1], [1, 2])", "false", 5 },
        { "sets.equivalent([], [])", "true", 1 },
        { "sets.equivalent([dyn(1)], [1u])", "true", 3 },
        { "sets.intersects([1, 2], [2, 3])", "true", 5 },
        { "sets.intersects([1], [2])", "false", 2 },
        { "sets.intersects([], [])", "false", 1 },
        { "sets.intersects([1], [])", "false", 1 },
        { "sets.intersects([dyn(1)], [1.0, 2.0])", "true", 3 },
        { "sets.contains(l, [3])", "true", 5 },
        { "sets.intersects(l, x.b.l)", "true", 11 },
        { "sets.contains(d, [1])", "! no such overload: sets.contains(int, list)", 3 },
        { "sets.foo([1], [2])", "! 1:1: undeclared reference to 'sets' (in container '')\n1:9: "
                                "undeclared reference to 'foo' (in container '')" },
        { "sets.contains([1])",
          "! 1:14: found no matching overload for 'sets.contains' applied to '(list(int))'" },
        { "[1].contains(1)",
          "! 1:13: found no matching overload for 'contains' applied to 'list(int).(int)'" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_sums),
        CASE_TEST(test_slices),
        CASE_TEST(test_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
