/* Macros: what they take, and what comprehensions answer, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* What macros ask of their arguments. */
static void test_macro_syntax(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "has()", "! 1:4: undeclared reference to 'has' (in container '')" },
        { "has(x)", "! 1:5: invalid argument to has() macro" },
        { "has(x.a)", "true", 1 },
        { "has(x.a, x.b)", "! 1:4: undeclared reference to 'has' (in container '')" },
        { "has(x[0])", "! 1:6: invalid argument to has() macro" },
        { "has(x.a.b)", "false", 2 },
        { "has(x.?a)", "! 1:6: invalid argument to has() macro" },
        { "has('a')", "! 1:5: invalid argument to has() macro" },
        { "has(f(x))", "! 1:6: invalid argument to has() macro" },
        { "has(x.a())", "! 1:8: invalid argument to has() macro" },
        { "has({'a': 1}.a)", "true", 1 },
        { "l.all()", "! 1:6: undeclared reference to 'all' (in container '')" },
        { "l.all(i)", "! 1:6: undeclared reference to 'all' (in container '')\n1:7: undeclared "
                      "reference to 'i' (in container '')" },
        { "l.all(i, i > 0)", "true", 17 },
        { "l.all(i, i > 0, 1)", "! 1:12: argument must be a simple name" },
        { "l.all(i, j, true)", "true", 11 },
        { "l.all(i, j, true, 1)",
          "! 1:6: undeclared reference to 'all' (in container '')\n1:7: undeclared reference to "
          "'i' (in container '')\n1:10: undeclared reference to 'j' (in container '')" },
        { "l.all(x.a, true)", "! 1:8: argument must be a simple name" },
        { "l.all('a', true)", "! 1:7: argument must be a simple name" },
        { "l.all(i, i, true)", "! 1:10: duplicate variable name: i" },
        { "l.exists(1, true)", "! 1:10: argument must be a simple name" },
        { "l.exists_one(i.j, true)", "! 1:15: argument must be a simple name" },
        { "l.existsOne(i, i == 1)", "! 1:12: undeclared reference to 'existsOne' (in container "
                                    "'')\n1:13: undeclared reference to 'i' (in container "
                                    "'')\n1:16: undeclared reference to 'i' (in container '')" },
        { "l.existsOne(i, v, v == 1)", "true", 11 },
        { "l.exists_one(i, v, v == 1)", "true", 11 },
        { "l.map(i)", "! 1:6: undeclared reference to 'map' (in container '')\n1:7: undeclared "
                      "reference to 'i' (in container '')" },
        { "l.map(i, i)", "[1, 2, 3]", 41 },
        { "l.map(i, i > 1, i)", "[2, 3]", 34 },
        { "l.map(i, i > 1, i, i)",
          "! 1:6: undeclared reference to 'map' (in container '')\n1:7: undeclared reference to "
          "'i' (in container '')\n1:10: undeclared reference to 'i' (in container '')\n1:17: "
          "undeclared reference to 'i' (in container '')\n1:20: undeclared reference to 'i' (in "
          "container '')" },
        { "l.filter(i)", "! 1:9: undeclared reference to 'filter' (in container '')\n1:10: "
                         "undeclared reference to 'i' (in container '')" },
        { "l.filter(i, i > 1)", "[2, 3]", 34 },
        { "l.filter(i, i > 1, 2)",
          "! 1:9: undeclared reference to 'filter' (in container '')\n1:10: undeclared reference "
          "to 'i' (in container '')\n1:13: undeclared reference to 'i' (in container '')" },
        { "l.map(1, 2)", "! 1:7: argument is not an identifier" },
        { "l.filter(x.y, true)", "! 1:11: argument is not an identifier" },
        { "all(l, i, true)", "! 1:4: undeclared reference to 'all' (in container '')\n1:8: "
                             "undeclared reference to 'i' (in container '')" },
        { "exists(l, i, true)", "! 1:7: undeclared reference to 'exists' (in container '')\n1:11: "
                                "undeclared reference to 'i' (in container '')" },
        { "map(l, i, i)",
          "! 1:4: undeclared reference to 'map' (in container '')\n1:8: undeclared reference to "
          "'i' (in container '')\n1:11: undeclared reference to 'i' (in container '')" },
        { "l.transformList(i, v, v)", "[1, 2, 3]", 41 },
        { "l.transformList(i, v, v > 1, v)", "[2, 3]", 34 },
        { "l.transformList(i, v)", "! 1:16: undeclared reference to 'transformList' (in container "
                                   "'')\n1:17: undeclared reference to 'i' (in container "
                                   "'')\n1:20: undeclared reference to 'v' (in container '')" },
        { "l.transformList(1, v, v)", "! 1:17: argument must be a simple name" },
        { "l.transformList(i, 1, v)", "! 1:20: argument must be a simple name" },
        { "m.transformMap(k, v, v)", "{k: 7}", 6 },
        { "m.transformMap(k, v, v > 7, v)", "{}", 4 },
        { "m.transformMap(k, 2, v)", "! 1:19: argument must be a simple name" },
        { "m.transformMapEntry(k, v, {k: v})", "{k: 7}", 36 },
        { "m.transformMapEntry(k, v, v > 7, {k: v})", "{}", 4 },
        { "m.transformMapEntry(k, v, v)", "! 1:20: found no matching overload for 'cel.@mapInsert' "
                                          "applied to '(map(dyn, dyn), int)'" },
        { "m.transformMapEntry(k, v)",
          "! 1:20: undeclared reference to 'transformMapEntry' (in container '')\n1:21: undeclared "
          "reference to 'k' (in container '')\n1:24: undeclared reference to 'v' (in container "
          "'')" },
        { "o.optMap(v, v + 1)", "optional.none()", 3 },
        { "o.optMap(v)", "! 1:9: undeclared reference to 'optMap' (in container '')\n1:10: "
                         "undeclared reference to 'v' (in container '')" },
        { "o.optMap(1, 2)", "! 1:10: optMap() variable name must be a simple identifier" },
        { "o.optMap(v, v, v)",
          "! 1:9: undeclared reference to 'optMap' (in container '')\n1:10: undeclared reference "
          "to 'v' (in container '')\n1:13: undeclared reference to 'v' (in container '')\n1:16: "
          "undeclared reference to 'v' (in container '')" },
        { "o.optFlatMap(v, optional.of(v))", "optional.none()", 3 },
        { "o.optFlatMap(x.y, o)",
          "! 1:15: optFlatMap() variable name must be a simple identifier" },
        { "[3, 1].sortBy(v, -v)", "[3, 1]", 50 },
        { "[3, 1].sortBy(v)", "! 1:14: undeclared reference to 'sortBy' (in container '')\n1:15: "
                              "undeclared reference to 'v' (in container '')" },
        { "[3, 1].sortBy(1, 2)", "! 1:15: argument is not an identifier" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Comprehensions over lists and maps. */
static void test_macros(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[].all(i, false)", "true", 1 },
        { "[].exists(i, true)", "false", 1 },
        { "[].exists_one(i, true)", "false", 2 },
        { "[].map(i, i)", "[]", 1 },
        { "[].filter(i, true)", "[]", 1 },
        { "l.all(i, i > 1)", "false", 9 },
        { "l.exists(i, i == 3)", "true", 20 },
        { "l.exists(i, i == 4)", "false", 20 },
        { "l.exists_one(i, i > 2)", "true", 11 },
        { "l.exists_one(i, i > 1)", "false", 13 },
        { "l.map(i, i * 2)", "[2, 4, 6]", 44 },
        { "l.map(i, i > 1, i * 2)", "[4, 6]", 36 },
        { "l.filter(i, i % 2 == 1)", "[1, 3]", 37 },
        { "l.map(i, l.map(j, i * j))", "[[1, 2, 3], [2, 4, 6], [3, 6, 9]]", 179 },
        { "l.map(i, l.filter(j, j < i))", "[[], [1], [1, 2]]", 110 },
        { "l.filter(i, l.exists(j, j == i + 1))", "[1, 2]", 101 },
        { "l.map(i, i).map(i, i + 1).filter(i, i > 2)", "[3, 4]", 117 },
        { "l.map(l, l)", "[1, 2, 3]", 41 },
        { "l.map(x, x)", "[1, 2, 3]", 41 },
        { "l.map(i, x.a + i)", "[2, 3, 4]", 50 },
        { "l.map(i, {'v': i}).map(e, e.v)", "[1, 2, 3]", 174 },
        { "m.all(k, k == 'k')", "true", 7 },
        { "m.exists(k, m[k] == 7)", "true", 9 },
        { "m.exists_one(k, true)", "true", 5 },
        { "m.map(k, k + '!')", "[k!]", 16 },
        { "m.filter(k, k == 'k')", "[k]", 17 },
        { "{}.all(k, false)", "true", 1 },
        { "{1: 2}.map(k, k + 1)", "[2]", 15 },
        { "x.all(k, k in ['a', 'b'])", "true", 10 },
        { "x.map(k, k)", "[a, b]", 28 },
        { "x.filter(k, k == 'a')", "[a]", 19 },
        { "x.b.l.all(i, i > 0)", "true", 14 },
        { "x.a.all(i, true)", "! got 'types.Int', expected iterable type", 2 },
        { "d.exists(i, true)", "! got 'types.Int', expected iterable type", 1 },
        { "s.all(c, true)", "! 1:1: expression of type 'string' cannot be range of a comprehension "
                            "(must be list, map, or dynamic)" },
        { "dyn(s).all(c, true)", "! got 'types.String', expected iterable type", 2 },
        { "'a'.map(c, c)", "! 1:1: expression of type 'string' cannot be range of a comprehension "
                           "(must be list, map, or dynamic)" },
        { "null.all(i, true)", "! 1:1: expression of type 'null' cannot be range of a "
                               "comprehension (must be list, map, or dynamic)" },
        { "1.filter(i, true)", "! 1:1: expression of type 'int' cannot be range of a comprehension "
                               "(must be list, map, or dynamic)" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Comprehensions with index or key, and value. */
static void test_two_variables(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "l.all(i, v, v == i + 1)", "true", 23 },
        { "l.all(i, v, v > 1)", "false", 9 },
        { "l.exists(i, v, i == 2 && v == 3)", "true", 22 },
        { "l.exists(i, v, i == v)", "false", 23 },
        { "l.existsOne(i, v, v > 2)", "true", 11 },
        { "l.existsOne(i, v, v > 1)", "false", 13 },
        { "m.all(k, v, k == 'k' && v == 7)", "true", 9 },
        { "m.exists(k, v, v == 8)", "false", 8 },
        { "m.existsOne(k, v, v == 7)", "true", 7 },
        { "l.transformList(i, v, i * v)", "[0, 2, 6]", 47 },
        { "l.transformList(i, v, i > 0, v)", "[2, 3]", 34 },
        { "m.transformList(k, v, k + string(v))", "[k7]", 18 },
        { "m.transformMap(k, v, v * 2)", "{k: 14}", 7 },
        { "l.transformMap(i, v, v * v)", "{0: 1, 1: 4, 2: 9}", 20 },
        { "l.transformMap(i, v, i > 0, v)", "{1: 2, 2: 3}", 16 },
        { "l.transformMapEntry(i, v, {string(v): i})", "{1: 0, 2: 1, 3: 2}", 107 },
        { "l.transformMapEntry(i, v, v > 1, {v: i})", "{2: 1, 3: 2}", 76 },
        { "l.transformMapEntry(i, v, {'same': v})", "! insert failed: key same already exists",
          101 },
        { "l.transformMapEntry(i, v, {})", "{}", 8 },
        { "m.transformMapEntry(k, v, {v: k})", "{7: k}", 36 },
        { "m.transformMapEntry(k, v, dyn(1))", "! no such overload: cel.@mapInsert(map, int)", 4 },
        { "x.transformMap(k, v, 1)", "{a: 1, b: 1}", 8 },
        { "x.all(k, v, true)", "true", 8 },
        { "d.all(k, v, true)", "! unsupported comprehension range type: types.Int", 1 },
        { "[].transformList(i, v, v)", "[]", 1 },
        { "{}.transformMap(k, v, v)", "{}", 1 },
        { "l.all(i, v, 1 / i > 0)", "false", 20 },
        { "l.exists(i, v, 1 / i == 1)", "true", 19 },
        { "l.transformList(i, v, 1 / i)", "! division by zero", 44 },
        { "s.all(i, v, true)", "! 1:1: expression of type 'string' cannot be range of a "
                               "comprehension (must be list, map, or dynamic)" },
        { "l.transformMap(i, v, l.transformList(j, w, v * w))",
          "{0: [1, 2, 3], 1: [2, 4, 6], 2: [3, 6, 9]}", 152 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Names of comprehensions hide those outside, and end with them. */
static void test_scopes(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "l.map(i, i) == l && i == 1", "! 1:21: undeclared reference to 'i' (in container '')" },
        { "l.all(i, i > 0) && l.all(i, i < 9)", "true", 34 },
        { "l.map(i, l.map(i, i * 10))", "[[10, 20, 30], [10, 20, 30], [10, 20, 30]]", 170 },
        { "l.map(i, l.map(j, i * 10 + j))", "[[11, 12, 13], [21, 22, 23], [31, 32, 33]]", 188 },
        { "l.map(x, x + 1)", "[2, 3, 4]", 44 },
        { "l.map(x, x.a)", "! 1:11: type 'int' does not support field selection" },
        { "l.filter(d, d > 2)", "[3]", 21 },
        { "l.all(s, s > 0) && s == 'hello'", "true", 19 },
        { "l.map(i, l.exists(j, j > i))", "[true, true, false]", 103 },
        { "l.map(i, [i].map(j, [i, j]))", "[[[1, 1]], [[2, 2]], [[3, 3]]]", 146 },
        { "l.exists(i, l.all(j, j <= i))", "true", 70 },
        { "l.exists_one(i, l.all(j, j <= i))", "true", 61 },
        { "[[1, 2], [3]].map(r, r.map(v, v * 2))", "[[2, 4], [6]]", 71 },
        { "[[1, 2], [3]].all(r, r.all(v, v > 0))", "true", 26 },
        { "[[1, 2], [3]].filter(r, r.exists(v, v > 2))", "[[3]]", 36 },
        { "[[1, 2], []].map(r, r.size())", "[2, 0]", 29 },
        { "{'a': [1], 'b': []}.filter(k, {'a': [1], 'b': []}[k].size() > 0)", "[a]", 22 },
        { "m.map(k, m.map(j, k + j))", "[[kk]]", 31 },
        { "l.transformList(i, v, l.transformList(j, w, i * w))",
          "[[0, 0, 0], [1, 2, 3], [2, 4, 6]]", 179 },
        { "l.transformMap(i, v, m.transformMap(k, w, v + w))", "{0: {k: 8}, 1: {k: 9}, 2: {k: 10}}",
          35 },
        { "m.transformMap(k, v, l.filter(i, i > v))", "{k: []}", 16 },
        { "l.all(i, v, l[i] == v)", "true", 23 },
        { "l.exists(i, v, l.all(j, w, w <= v))", "true", 70 },
        { "l.map(i, optional.of(i).optMap(v, v + i).value())", "[2, 4, 6]", 71 },
        { "optional.of(l).optMap(v, v.map(i, i + v.size())).value()", "[4, 5, 6]", 58 },
        { "optional.of(1).optMap(v, optional.of(2).optMap(w, v + w).value())", "optional(3)", 14 },
        { "l.sortBy(i, -i).map(i, i + 1)", "[4, 3, 2]", 118 },
        { "[[2, 1], [4, 3]].map(r, r.sortBy(v, v))", "[[1, 2], [3, 4]]", 123 },
        { "l.map(i, {'i': i}).sortBy(e, -e.i).map(e, e.i)", "[3, 2, 1]", 251 },
        { "l.filter(i, has(x.a) && i > x.a)", "[2, 3]", 43 },
        { "[x, {'a': 5}].filter(e, has(e.a)).map(e, e.a)",
          "! 1:5: expected type 'dyn' but found 'map(string, int)'" },
        { "[x, {'b': 5}].map(e, has(e.a))",
          "! 1:5: expected type 'dyn' but found 'map(string, int)'" },
        { "l.map(i, i > 1, l.map(j, j > i, j))", "[[3], []]", 67 },
        { "l.map(i, has(x.a) ? i : 0)", "[1, 2, 3]", 41 },
        { "l.map(i, x.?zz.orValue(i))", "[1, 2, 3]", 44 },
        { "[1, 2, 3, 4].filter(i, i % 2 == 0).map(i, i * i).sum()", "20", 72 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_macro_syntax),
        CASE_TEST(test_macros),
        CASE_TEST(test_two_variables),
        CASE_TEST(test_scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
