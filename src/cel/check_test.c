/* Types, overloads and the checks behind them, in upstream's words. */
#include "cel/check_test.h"
#include "base/idiom.h"

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
    check_answers(cases, ARRAY_LEN(cases));
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
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
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
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str name, key;
        assert_int_equal(cel_escape(&arena, str_of(cases[i].key), &name), cases[i].name != NULL);
        if (!cases[i].name)
            continue;
        assert_string_equal(str_cstr(&arena, name), cases[i].name);
        assert_true(cel_unescape(&arena, name, &key));
        assert_string_equal(str_cstr(&arena, key), cases[i].key);
    }
}

static const struct answer_case result_types_cases[] = {
    { "[1] + [dyn('a')]", "list(dyn)" },
    { "null + null", "dyn" },
    { "timestamp(0) == null", "bool" },
    { "1 < 1u", "bool" },
    { "true ? 1 : dyn('a')", "dyn" },
    { "true ? [] : [1]", "list(int)" },
    { "true ? {} : {'a': 1}", "map(string, int)" },
    { "true ? optional.none() : optional.of(1)", "optional_type(int)" },
    { "timestamp(0) + duration('1s')", "timestamp" },
    { "duration('1s') + timestamp(0)", "timestamp" },
    { "timestamp(0) - duration('1s')", "timestamp" },
    { "timestamp(0) - timestamp(0)", "duration" },
    { "{'a': 1}.a", "int" },
    { "{'a': 1}.b", "int" },
    { "{1: 'a'}.a", "string" },
    { "optional.of({'a': 1}).a", "optional_type(int)" },
    { "optional.of({'a': 1}).?a", "optional_type(int)" },
    { "optional.of({'a': {'b': 2}}).a.b", "optional_type(int)" },
    { "[[], [1], []]", "list(list(int))" },
    { "[{}, {'a': 1}]", "list(map(string, int))" },
    { "[optional.none(), optional.of('a')]", "list(optional_type(string))" },
    { "{'a': 1, 'a': 2}", "map(string, int)" },
    { "{true: 1, false: 2}", "map(bool, int)" },
    { "{1.5: 1}", "map(double, int)" },
    { "{null: 1}", "map(null, int)" },
    { "{[1]: 1}", "map(list(int), int)" },
    { "{{}: 1}", "map(map(dyn, dyn), int)" },
    { "{timestamp(0): 1}", "map(timestamp, int)" },
    { "[1, 2].map(i, dyn(i))", "list(dyn)" },
    { "[1, 2].map(i, [i])", "list(list(int))" },
    { "[1, 2].map(i, {i: 'a'})", "list(map(int, string))" },
    { "[].map(i, i)", "list(dyn)" },
    { "[].filter(i, true)", "list(dyn)" },
    { "l.map(i, i * 2)", "list(int)" },
    { "l.map(i, i > 1, i * 2)", "list(int)" },
    { "l.filter(i, i % 2 == 1)", "list(int)" },
    { "l.map(i, l.map(j, i * j))", "list(list(int))" },
    { "l.map(i, l.filter(j, j < i))", "list(list(int))" },
    { "m.map(k, k + '!')", "list(string)" },
    { "m.filter(k, k == 'k')", "list(string)" },
    { "m.transformList(k, v, k + string(v))", "list(string)" },
    { "m.transformMap(k, v, v * 2)", "map(string, int)" },
    { "m.transformMap(k, v, v > 7, v)", "map(string, int)" },
    { "l.transformMap(i, v, v * v)", "map(int, int)" },
    { "l.transformMap(i, v, i > 0, v)", "map(int, int)" },
    { "l.transformMapEntry(i, v, v > 1, {v: i})", "map(int, int)" },
    { "l.transformMapEntry(i, v, {})", "map(dyn, dyn)" },
    { "l.transformMapEntry(i, v, {v: i, v + 10: i})", "map(int, int)" },
    { "m.transformMapEntry(k, v, {v: k})", "map(int, string)" },
    { "m.transformMapEntry(k, v, dyn(1))", "map(dyn, dyn)" },
    { "x.transformMap(k, v, 1)", "map(dyn, int)" },
    { "{}.transformMap(k, v, v)", "map(dyn, dyn)" },
    { "l.transformMap(i, v, l.transformList(j, w, v * w))", "map(int, list(int))" },
    { "optional.none()", "optional_type(dyn)" },
    { "optional.of(optional.of(1))", "optional_type(optional_type(int))" },
    { "optional.ofNonZeroValue('')", "optional_type(string)" },
    { "optional.ofNonZeroValue('a')", "optional_type(string)" },
    { "optional.ofNonZeroValue([])", "optional_type(list(dyn))" },
    { "optional.ofNonZeroValue({})", "optional_type(map(dyn, dyn))" },
    { "optional.ofNonZeroValue([0])", "optional_type(list(int))" },
    { "optional.ofNonZeroValue(null)", "optional_type(null)" },
    { "optional.ofNonZeroValue(0u)", "optional_type(uint)" },
    { "optional.ofNonZeroValue(0.0)", "optional_type(double)" },
    { "optional.ofNonZeroValue(false)", "optional_type(bool)" },
    { "optional.ofNonZeroValue(b'')", "optional_type(bytes)" },
    { "optional.ofNonZeroValue(duration('0s'))", "optional_type(duration)" },
    { "optional.ofNonZeroValue(timestamp(0))", "optional_type(timestamp)" },
    { "optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z'))", "optional_type(timestamp)" },
    { "optional.none().or(optional.none())", "optional_type(dyn)" },
    { "optional.of(1).optMap(v, optional.of(v))", "optional_type(optional_type(int))" },
    { "optional.of(1).optFlatMap(v, optional.none())", "optional_type(dyn)" },
    { "x.?a", "optional_type(dyn)" },
    { "{?'a': optional.none()}", "map(string, dyn)" },
    { "{?'a': optional.of(optional.of(1))}", "map(string, optional_type(int))" },
    { "type(optional.none())", "type(optional_type(dyn))" },
    { "optional.of(null)", "optional_type(null)" },
    { "{'a': null}.?a", "optional_type(null)" },
    { "[1u, 2u].sum()", "uint" },
    { "[1.5, 2.5].sum()", "double" },
    { "[duration('1s'), duration('2s')].sum()", "duration" },
    { "[18446744073709551615u, 1u].sum()", "uint" },
    { "['b', 'a'].min()", "string" },
    { "[1.5, -1.5].min()", "double" },
    { "[b'b', b'a'].max()", "bytes" },
    { "[timestamp(1), timestamp(0)].min()", "timestamp" },
    { "[duration('1s'), duration('1m')].max()", "duration" },
    { "['b', 'a', 'C'].sort()", "list(string)" },
    { "[1.5, double('NaN'), 0.5].sort()", "list(double)" },
    { "[true, false].sort()", "list(bool)" },
    { "[b'b', b'a'].sort()", "list(bytes)" },
    { "[duration('1m'), duration('1s')].sort()", "list(duration)" },
    { "[timestamp(1), timestamp(0)].sort()", "list(timestamp)" },
    { "[{'n': 2}, {'n': 1}].sortBy(e, e.n)", "list(map(string, int))" },
    { "[{'a': 1}, {'a': 1}].distinct()", "list(map(string, int))" },
    { "[null, null].distinct()", "list(null)" },
    { "cidr(s)", "net.CIDR" },
    { "format.dns1123Label().validate('a')", "optional_type(list(string))" },
    { "format.dns1123Label().validate('')", "optional_type(list(string))" },
    { "format.dns1123Label().validate('a.b')", "optional_type(list(string))" },
    { "format.dns1123Subdomain().validate('a.b')", "optional_type(list(string))" },
    { "format.named('dns1123Label')", "optional_type(kubernetes.NamedFormat)" },
    { "format.named('nope')", "optional_type(kubernetes.NamedFormat)" },
    { "format.named('uuid').optMap(f, f.validate('x').hasValue())", "optional_type(bool)" },
    { "l.map(i, l.exists(j, j > i))", "list(bool)" },
    { "l.map(i, [i].map(j, [i, j]))", "list(list(list(int)))" },
    { "m.map(k, m.map(j, k + j))", "list(list(string))" },
    { "l.transformMap(i, v, m.transformMap(k, w, v + w))", "map(int, map(string, int))" },
    { "m.transformMap(k, v, l.filter(i, i > v))", "map(string, list(int))" },
    { "optional.of([])", "optional_type(list(dyn))" },
    { "[optional.none()]", "list(optional_type(dyn))" },
    { "[optional.none(), optional.of(1)]", "list(optional_type(int))" },
    { "[[['a']]].flatten()", "list(list(string))" },
};

/* Types of results, over the scene. */
static void test_result_types(void **state)
{
    (void)state;
    const struct scene *c = scene_new();
    for (size_t i = 0; i < ARRAY_LEN(result_types_cases); i++) {
        const struct cel_program *p;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(
            cel_compile(&arena, &c->env, str_of(result_types_cases[i].expression), &p, &err), 0);
        struct str text = cel_type_text(&arena, cel_program_type(p));
        assert_string_equal(str_cstr(&arena, text), result_types_cases[i].answer);
    }
}

static const struct answer_case operators_cases[] = {
    { "1 + 1.0", "! 1:3: found no matching overload for '_+_' applied to '(int, double)'" },
    { "1 + 1u", "! 1:3: found no matching overload for '_+_' applied to '(int, uint)'" },
    { "1u + 1.0", "! 1:4: found no matching overload for '_+_' applied to '(uint, double)'" },
    { "'a' + 1", "! 1:5: found no matching overload for '_+_' applied to '(string, int)'" },
    { "'a' + b'a'", "! 1:5: found no matching overload for '_+_' applied to '(string, bytes)'" },
    { "[1] + 1", "! 1:5: found no matching overload for '_+_' applied to '(list(int), int)'" },
    { "[1] + ['a']",
      "! 1:5: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "[1] + [dyn('a')]", "[1, a]", 1 },
    { "{'a': 1} + {'b': 2}", "! 1:10: found no matching overload for '_+_' applied to "
                             "'(map(string, int), map(string, int))'" },
    { "true + true", "! 1:6: found no matching overload for '_+_' applied to '(bool, bool)'" },
    { "null + null", "! no such overload: _+_", 1 },
    { "1 - 'a'", "! 1:3: found no matching overload for '_-_' applied to '(int, string)'" },
    { "'a' - 'a'", "! 1:5: found no matching overload for '_-_' applied to '(string, string)'" },
    { "'a' * 2", "! 1:5: found no matching overload for '_*_' applied to '(string, int)'" },
    { "[1] * 2", "! 1:5: found no matching overload for '_*_' applied to '(list(int), int)'" },
    { "1 * 1u", "! 1:3: found no matching overload for '_*_' applied to '(int, uint)'" },
    { "1.0 % 2.0", "! 1:5: found no matching overload for '_%_' applied to '(double, double)'" },
    { "1u % 2", "! 1:4: found no matching overload for '_%_' applied to '(uint, int)'" },
    { "1 / 1.0", "! 1:3: found no matching overload for '_/_' applied to '(int, double)'" },
    { "-'a'", "! 1:1: found no matching overload for '-_' applied to '(string)'" },
    { "-true", "! 1:1: found no matching overload for '-_' applied to '(bool)'" },
    { "-null", "! 1:1: found no matching overload for '-_' applied to '(null)'" },
    { "!1", "! 1:1: found no matching overload for '!_' applied to '(int)'" },
    { "!'a'", "! 1:1: found no matching overload for '!_' applied to '(string)'" },
    { "!null", "! 1:1: found no matching overload for '!_' applied to '(null)'" },
    { "1 == 1.0", "! 1:3: found no matching overload for '_==_' applied to '(int, double)'" },
    { "1 == 1u", "! 1:3: found no matching overload for '_==_' applied to '(int, uint)'" },
    { "1u == 1.0", "! 1:4: found no matching overload for '_==_' applied to '(uint, double)'" },
    { "1 == true", "! 1:3: found no matching overload for '_==_' applied to '(int, bool)'" },
    { "1 == null", "! 1:3: found no matching overload for '_==_' applied to '(int, null)'" },
    { "'a' == null", "! 1:5: found no matching overload for '_==_' applied to '(string, null)'" },
    { "[1] == [1.0]",
      "! 1:5: found no matching overload for '_==_' applied to '(list(int), list(double))'" },
    { "[1] == ['a']",
      "! 1:5: found no matching overload for '_==_' applied to '(list(int), list(string))'" },
    { "{'a': 1} == {'a': 1u}", "! 1:10: found no matching overload for '_==_' applied to "
                               "'(map(string, int), map(string, uint))'" },
    { "{'a': 1} == {1: 'a'}", "! 1:10: found no matching overload for '_==_' applied to "
                              "'(map(string, int), map(int, string))'" },
    { "timestamp(0) == null", "false", 1 },
    { "type(1) == 1",
      "! 1:9: found no matching overload for '_==_' applied to '(type(int), int)'" },
    { "1 < 'a'", "! 1:3: found no matching overload for '_<_' applied to '(int, string)'" },
    { "1 < 1u", "false", 1 },
    { "1u < 1.5", "true", 1 },
    { "1 < dyn('a')", "! no such overload", 1 },
    { "true < false", "false", 1 },
    { "'a' < 'b'", "true", 1 },
    { "b'a' < b'b'", "true", 1 },
    { "null < null", "! no such overload: _<_", 1 },
    { "[1] < [2]",
      "! 1:5: found no matching overload for '_<_' applied to '(list(int), list(int))'" },
    { "{} < {}", "! 1:4: found no matching overload for '_<_' applied to '(map(dyn, dyn), "
                 "map(dyn, dyn))'" },
    { "int < string",
      "! 1:5: found no matching overload for '_<_' applied to '(type(int), type(string))'" },
    { "1 in 1", "! 1:3: found no matching overload for '@in' applied to '(int, int)'" },
    { "1 in 'a'", "! 1:3: found no matching overload for '@in' applied to '(int, string)'" },
    { "'a' in 'abc'", "! 1:5: found no matching overload for '@in' applied to '(string, string)'" },
    { "1 in ['a']",
      "! 1:3: found no matching overload for '@in' applied to '(int, list(string))'" },
    { "1 in [1.0]",
      "! 1:3: found no matching overload for '@in' applied to '(int, list(double))'" },
    { "1 in {'a': 1}",
      "! 1:3: found no matching overload for '@in' applied to '(int, map(string, int))'" },
    { "'a' in {'a': 1}", "true", 1 },
    { "1 in {1.0: 'a'}",
      "! 1:3: found no matching overload for '@in' applied to '(int, map(double, string))'" },
    { "null in [null]", "true", 1 },
    { "dyn(1) in ['a']", "false" },
    { "1 && true", "! 1:1: expected type 'bool' but found 'int'" },
    { "true && 'a'", "! 1:9: expected type 'bool' but found 'string'" },
    { "null || true", "! 1:1: expected type 'bool' but found 'null'" },
    { "true || 1", "! 1:9: expected type 'bool' but found 'int'" },
    { "1 ? 2 : 3", "! 1:3: found no matching overload for '_?_:_' applied to '(int, int, int)'" },
    { "true ? 1 : 'a'",
      "! 1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'" },
    { "true ? 1 : dyn('a')", "1" },
    { "true ? null : 1",
      "! 1:6: found no matching overload for '_?_:_' applied to '(bool, null, int)'" },
    { "true ? [] : [1]", "[]" },
    { "true ? {} : {'a': 1}", "{}" },
    { "true ? optional.none() : optional.of(1)", "optional.none()", 1 },
    { "[1][true]", "! 1:4: found no matching overload for '_[_]' applied to '(list(int), bool)'" },
    { "[1]['a']", "! 1:4: found no matching overload for '_[_]' applied to '(list(int), string)'" },
    { "[1][1.0]", "! 1:4: found no matching overload for '_[_]' applied to '(list(int), double)'" },
    { "[1][0u]", "! 1:4: found no matching overload for '_[_]' applied to '(list(int), uint)'" },
    { "{'a': 1}[0]",
      "! 1:9: found no matching overload for '_[_]' applied to '(map(string, int), int)'" },
    { "{1: 'a'}['a']",
      "! 1:9: found no matching overload for '_[_]' applied to '(map(int, string), string)'" },
    { "{1: 'a'}[1u]",
      "! 1:9: found no matching overload for '_[_]' applied to '(map(int, string), uint)'" },
    { "'abc'[0]", "! 1:6: found no matching overload for '_[_]' applied to '(string, int)'" },
    { "1[0]", "! 1:2: found no matching overload for '_[_]' applied to '(int, int)'" },
    { "null[0]", "! no such key: 0", 2 },
    { "timestamp(0) + timestamp(0)",
      "! 1:14: found no matching overload for '_+_' applied to '(timestamp, timestamp)'" },
    { "timestamp(0) + duration('1s')", "1970-01-01T00:00:01Z", 1 },
    { "duration('1s') + timestamp(0)", "1970-01-01T00:00:01Z", 1 },
    { "timestamp(0) - duration('1s')", "1969-12-31T23:59:59Z", 1 },
    { "duration('1s') - timestamp(0)",
      "! 1:16: found no matching overload for '_-_' applied to '(duration, timestamp)'" },
    { "timestamp(0) - timestamp(0)", "0s", 1 },
    { "duration('1s') * 2",
      "! 1:16: found no matching overload for '_*_' applied to '(duration, int)'" },
    { "timestamp(0) < duration('1s')",
      "! 1:14: found no matching overload for '_<_' applied to '(timestamp, duration)'" },
    { "duration('1s') < duration('2s')", "true", 1 },
};

/* Which types operators take. */
static void test_operators(void **state)
{
    (void)state;
    check_scene(operators_cases, ARRAY_LEN(operators_cases));
}

/* Which arguments functions take, and names that are none. */
static void test_functions(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "size(1)", "! 1:5: found no matching overload for 'size' applied to '(int)'" },
        { "size()", "! 1:5: found no matching overload for 'size' applied to '()'" },
        { "size('a', 'b')",
          "! 1:5: found no matching overload for 'size' applied to '(string, string)'" },
        { "1.size()", "! 1:7: found no matching overload for 'size' applied to 'int.()'" },
        { "null.size()", "! 1:10: found no matching overload for 'size' applied to 'null.()'" },
        { "'a'.size", "! 1:4: type 'string' does not support field selection" },
        { "int()", "! 1:4: found no matching overload for 'int' applied to '()'" },
        { "int([])", "! 1:4: found no matching overload for 'int' applied to '(list(dyn))'" },
        { "int(null)", "! no such overload: int(null_type)" },
        { "int(true)", "! 1:4: found no matching overload for 'int' applied to '(bool)'" },
        { "uint(true)", "! 1:5: found no matching overload for 'uint' applied to '(bool)'" },
        { "double('a', 'b')",
          "! 1:7: found no matching overload for 'double' applied to '(string, string)'" },
        { "string([1])",
          "! 1:7: found no matching overload for 'string' applied to '(list(int))'" },
        { "string(null)", "! no such overload: string(null_type)" },
        { "string({})",
          "! 1:7: found no matching overload for 'string' applied to '(map(dyn, dyn))'" },
        { "bytes(1)", "! 1:6: found no matching overload for 'bytes' applied to '(int)'" },
        { "bool(1)", "! 1:5: found no matching overload for 'bool' applied to '(int)'" },
        { "duration(1)", "! 1:9: found no matching overload for 'duration' applied to '(int)'" },
        { "timestamp('a', 'b')",
          "! 1:10: found no matching overload for 'timestamp' applied to '(string, string)'" },
        { "timestamp(1.5)",
          "! 1:10: found no matching overload for 'timestamp' applied to '(double)'" },
        { "type()", "! 1:5: found no matching overload for 'type' applied to '()'" },
        { "type(1, 2)", "! 1:5: found no matching overload for 'type' applied to '(int, int)'" },
        { "dyn()", "! 1:4: found no matching overload for 'dyn' applied to '()'" },
        { "matches('a')", "! 1:8: found no matching overload for 'matches' applied to '(string)'" },
        { "'a'.matches(1)",
          "! 1:12: found no matching overload for 'matches' applied to 'string.(int)'" },
        { "matches('a', 'a')", "true", 1 },
        { "'a'.startsWith()",
          "! 1:15: found no matching overload for 'startsWith' applied to 'string.()'" },
        { "'a'.startsWith(1)",
          "! 1:15: found no matching overload for 'startsWith' applied to 'string.(int)'" },
        { "startsWith('a', 'a')",
          "! 1:11: found no matching overload for 'startsWith' applied to '(string, string)'" },
        { "'a'.contains('a', 'b')", "! 1:13: found no matching overload for 'contains' applied to "
                                    "'string.(string, string)'" },
        { "'a'.endsWith(b'a')",
          "! 1:13: found no matching overload for 'endsWith' applied to 'string.(bytes)'" },
        { "timestamp(0).getHours(1)",
          "! 1:22: found no matching overload for 'getHours' applied to 'timestamp.(int)'" },
        { "timestamp(0).getHour()", "! 1:21: undeclared reference to 'getHour' (in container '')" },
        { "duration('1s').getFullYear()",
          "! 1:27: found no matching overload for 'getFullYear' applied to 'duration.()'" },
        { "'a'.foo()", "! 1:8: undeclared reference to 'foo' (in container '')" },
        { "foo('a')", "! 1:4: undeclared reference to 'foo' (in container '')" },
        { "foo.bar('a')", "! 1:1: undeclared reference to 'foo' (in container '')\n1:8: undeclared "
                          "reference to 'bar' (in container '')" },
        { "foo.bar", "! 1:1: undeclared reference to 'foo' (in container '')" },
        { "x.foo()", "! 1:6: undeclared reference to 'foo' (in container '')" },
        { "x.a.foo(1)", "! 1:8: undeclared reference to 'foo' (in container '')" },
        { "google.protobuf.Foo{}",
          "! 1:20: undeclared reference to 'google.protobuf.Foo' (in container '')" },
        { "foo{}", "! 1:4: undeclared reference to 'foo' (in container '')" },
        { "foo.Bar{a: 1}", "! 1:8: undeclared reference to 'foo.Bar' (in container '')" },
        { "[]{}", "! 1:3: Syntax error: mismatched input '{' expecting <EOF>" },
        { "string{}", "! 1:7: 'string' is not a message type" },
        { "google.protobuf.Timestamp", "google.protobuf.Timestamp" },
        { "google.protobuf.Duration", "google.protobuf.Duration" },
        { "net.IP", "net.IP" },
        { "net.CIDR", "net.CIDR" },
        { "kubernetes.Quantity", "! 1:1: undeclared reference to 'kubernetes' (in container '')" },
        { "kubernetes.URL", "! 1:1: undeclared reference to 'kubernetes' (in container '')" },
        { "kubernetes.Semver", "! 1:1: undeclared reference to 'kubernetes' (in container '')" },
        { "optional_type", "optional_type" },
        { "null_type", "null_type" },
        { "list", "list" },
        { "map", "map" },
        { "int", "int" },
        { "type", "type" },
        { "any", "! 1:1: undeclared reference to 'any' (in container '')" },
        { "wrapper", "! 1:1: undeclared reference to 'wrapper' (in container '')" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Selection of fields by the type of what they are selected of. */
static void test_fields(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "s.a", "! 1:2: type 'string' does not support field selection" },
        { "1.a", "! 1:2: type 'int' does not support field selection" },
        { "[1].a", "! 1:4: type 'list(int)' does not support field selection" },
        { "{'a': 1}.a", "1", 2 },
        { "{'a': 1}.b", "! no such key: b", 2 },
        { "{1: 'a'}.a", "! no such key: a", 2 },
        { "null.a", "! 1:5: type 'null' does not support field selection" },
        { "true.a", "! 1:5: type 'bool' does not support field selection" },
        { "timestamp(0).seconds", "! 1:13: type 'timestamp' does not support field selection" },
        { "type(1).a", "! 1:8: type 'type(int)' does not support field selection" },
        { "x.a", "1", 2 },
        { "x.b.c", "text", 3 },
        { "x.b.c.d", "! no such key: d", 4 },
        { "x.zz", "! no such key: zz", 2 },
        { "x.b.zz", "! no such key: zz", 3 },
        { "l.a", "! 1:2: type 'list(int)' does not support field selection" },
        { "m.k", "7", 2 },
        { "m.zz", "! no such key: zz", 2 },
        { "o.a", "! 1:2: type 'int' does not support field selection" },
        { "o.?a", "! 1:2: type 'int' does not support field selection" },
        { "optional.of({'a': 1}).a", "optional(1)", 3 },
        { "optional.of({'a': 1}).?a", "optional(1)", 3 },
        { "optional.of(1).?a", "! 1:15: type 'int' does not support field selection" },
        { "optional.of({'a': {'b': 2}}).a.b", "optional(2)", 4 },
        { "has(s.a)", "! 1:4: type 'string' does not support field selection" },
        { "has(m.k)", "true", 1 },
        { "has(m.zz)", "false", 1 },
        { "has(x.zz)", "false", 1 },
        { "has(x.zz.y)", "! no such key: zz", 1 },
        { "has(x.b.zz)", "false", 2 },
        { "has(x.a.y)", "false", 2 },
        { "has(d.y)", "false", 1 },
        { "has(l.a)", "! 1:4: type 'list(int)' does not support field selection" },
        { "has(optional.of({'a': 1}).a)", "true", 2 },
        { "has(optional.of({'a': 1}).b)", "false", 1 },
        { "has(o.a)", "! 1:4: type 'int' does not support field selection" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Lists and maps hold one type, if they are not dyn. */
static void test_literals_of_one_type(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[1, 2u]", "! 1:5: expected type 'int' but found 'uint'" },
        { "[1, 1.0]", "! 1:5: expected type 'int' but found 'double'" },
        { "[1, null]", "! 1:5: expected type 'int' but found 'null'" },
        { "[null, 1]", "! 1:8: expected type 'null' but found 'int'" },
        { "['a', 1, true]", "! 1:7: expected type 'string' but found 'int'" },
        { "[dyn(1), 'a']", "! 1:10: expected type 'dyn' but found 'string'" },
        { "[1, dyn('a')]", "! 1:8: expected type 'int' but found 'dyn'" },
        { "[[1], ['a']]", "! 1:7: expected type 'list(int)' but found 'list(string)'" },
        { "[[1], [dyn('a')]]", "! 1:7: expected type 'list(int)' but found 'list(dyn)'" },
        { "[[], [1], []]", "[[], [1], []]" },
        { "[[], {}]", "! 1:6: expected type 'list(dyn)' but found 'map(dyn, dyn)'" },
        { "[{}, {'a': 1}]", "[{}, {a: 1}]" },
        { "[{'a': 1}, {'a': 'b'}]",
          "! 1:12: expected type 'map(string, int)' but found 'map(string, string)'" },
        { "[{'a': 1}, {1: 1}]",
          "! 1:12: expected type 'map(string, int)' but found 'map(int, int)'" },
        { "[optional.of(1), optional.of('a')]",
          "! 1:29: expected type 'optional_type(int)' but found 'optional_type(string)'" },
        { "[optional.none(), optional.of('a')]", "[optional.none(), optional(a)]", 12 },
        { "[timestamp(0), duration('1s')]",
          "! 1:24: expected type 'timestamp' but found 'duration'" },
        { "{'a': 1, 'b': 'c'}", "! 1:15: expected type 'int' but found 'string'" },
        { "{'a': 1, 2: 3}", "! 1:10: expected type 'string' but found 'int'" },
        { "{'a': dyn(1), 'b': 'c'}", "! 1:20: expected type 'dyn' but found 'string'" },
        { "{'a': null, 'b': 1}", "! 1:18: expected type 'null' but found 'int'" },
        { "{'a': 1, 'b': null}", "! 1:15: expected type 'int' but found 'null'" },
        { "{1: 1, 1u: 2}", "! 1:8: expected type 'int' but found 'uint'" },
        { "{1: 1, dyn(1u): 2}", "! 1:11: expected type 'int' but found 'dyn'" },
        { "{'a': 1, 'a': 2}", "{a: 2}" },
        { "{1.5: 1}", "{1.5: 1}" },
        { "[?optional.of(1), 'a']", "! 1:19: expected type 'int' but found 'string'" },
        { "{?'a': optional.of(1), 'b': 'c'}", "! 1:29: expected type 'int' but found 'string'" },
        { "[int, string]", "! 1:7: expected type 'type(int)' but found 'type(string)'" },
        { "[1, 2].map(i, dyn(i))", "[1, 2]", 29 },
        { "[1, 2].map(i, [i])", "[[1], [2]]", 47 },
        { "[1, 2].map(i, {i: 'a'})", "[{1: a}, {2: a}]", 87 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Literals of times and patterns are looked at before they are used. */
static void test_validated_literals(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'a'.matches('[')", "! 1:13: invalid matches argument" },
        { "'a'.matches('a**')", "! 1:13: invalid matches argument" },
        { "'a'.matches('(?i)A')", "true", 2 },
        { "'a'.matches('(?<n>a)')", "true", 2 },
        { "'a'.matches('(?=a)')", "! 1:13: invalid matches argument" },
        { "'a'.matches('\\\\1')", "! 1:13: invalid matches argument" },
        { "'a'.matches('a{1001}')", "! 1:13: invalid matches argument" },
        { "'a'.matches('a{1000}')", "false", 2 },
        { "'a'.matches('[[:alpha:]]')", "true", 3 },
        { "'a'.matches('[[:nope:]]')", "! 1:13: invalid matches argument" },
        { "'a'.matches('\\\\pL')", "true", 1 },
        { "'a'.matches('\\\\p{Nope}')", "! 1:13: invalid matches argument" },
        { "'a'.matches(s + '[')", "! error parsing regexp: missing closing ]: `[`", 4 },
        { "s.matches('(')", "! 1:11: invalid matches argument" },
        { "s.matches(s)", "true", 4 },
        { "timestamp('2020-01-01')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2020-01-01T00:00:00Z')", "2020-01-01T00:00:00Z" },
        { "timestamp('2020-13-01T00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2020-01-01T00:00:00')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2020-01-01 00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('0000-01-01T00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('9999-12-31T23:59:59.999999999Z')", "9999-12-31T23:59:59.999999999Z" },
        { "timestamp('10000-01-01T00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('')", "! 1:11: invalid timestamp argument" },
        { "duration('')", "! 1:10: invalid duration argument" },
        { "duration('1')", "! 1:10: invalid duration argument" },
        { "duration('1x')", "! 1:10: invalid duration argument" },
        { "duration('1d')", "! 1:10: invalid duration argument" },
        { "duration('1h1m1s1ms1us1ns')", "3661.001001001s" },
        { "duration('-1h')", "-3600s" },
        { "duration('.5s')", "0.5s" },
        { "duration('1e3s')", "! 1:10: invalid duration argument" },
        { "duration('99999999999h')", "! 1:10: invalid duration argument" },
        { "'%d'.format([1.5])", "! 1:14: error during formatting: decimal clause can only be used "
                                "on integers, was given double" },
        { "'%s'.format([])", "! 1:12: index 0 out of range" },
        { "'%s %s'.format(['a'])", "! 1:15: index 1 out of range" },
        { "'%s'.format(['a', 'b'])",
          "! 1:12: too many arguments supplied to string.format (expected 1, got 2)" },
        { "'%z'.format([1])",
          "! 1:12: could not parse formatting clause: unrecognized formatting clause \"z\"" },
        { "'%'.format([1])", "! 1:11: unexpected end of string" },
        { "'%%'.format([])", "%", 1 },
        { "'%.f'.format([1.0])",
          "! 1:13: could not parse formatting clause: error while parsing precision: error while "
          "converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax" },
        { "'%.2'.format([1.0])", "! 1:13: could not parse formatting clause: error while parsing "
                                 "precision: could not find end of precision specifier" },
        { "'%d'.format(['a'])", "! 1:14: error during formatting: decimal clause can only be used "
                                "on integers, was given string" },
        { "'%b'.format(['a'])", "! 1:14: error during formatting: only integers and bools can be "
                                "formatted as binary, was given string" },
        { "'%x'.format([1.5])", "! 1:14: error during formatting: only integers, byte buffers, and "
                                "strings can be formatted as hex, was given double" },
        { "'%X'.format([true])", "! 1:14: error during formatting: only integers, byte buffers, "
                                 "and strings can be formatted as hex, was given bool" },
        { "'%o'.format(['7'])", "! 1:14: error during formatting: octal clause can only be used on "
                                "integers, was given string" },
        { "'%e'.format(['a'])",
          "! error during formatting: scientific clause can only be used on doubles, was given "
          "string",
          1 },
        { "'%f'.format([1])", "! 1:14: error during formatting: fixed-point clause can only be "
                              "used on doubles, was given int" },
        { "'%s'.format([o])", "! 1:14: error during formatting: string clause can only be used on "
                              "strings, bools, bytes, ints, doubles, maps, lists, types, "
                              "durations, and timestamps, was given optional_type" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

static const struct answer_case parameters_cases[] = {
    { "[[]][0]", "[]", 2 },
    { "[] + [1]", "[1]", 1 },
    { "[1] + dyn([2])", "[1, 2]", 1 },
    { "{}['a']", "! no such key: a", 2 },
    { "{}.a", "! no such key: a", 2 },
    { "[].filter(i, i > 1)", "[]", 1 },
    { "[{}].map(e, e.a)", "! no such key: a", 15 },
    { "optional.of([])", "optional([])", 1 },
    { "[optional.none()]", "[optional.none()]", 11 },
    { "[optional.none(), optional.of(1)]", "[optional.none(), optional(1)]", 12 },
    { "optional.none().orValue(1)", "1", 1 },
    { "optional.none().optMap(v, v)", "optional.none()", 3 },
    { "{'a': []}.a + [1]", "[1]", 3 },
    { "true ? [] : ['a']", "[]" },
    { "[[], ['a']][1]", "[a]", 2 },
    { "[dyn(1), 2][1]", "! 1:10: expected type 'dyn' but found 'int'" },
    { "[1, dyn(2)][0]", "! 1:8: expected type 'int' but found 'dyn'" },
    { "dyn([1])[0]", "1", 2 },
    { "{'a': dyn(1)}.a", "1", 2 },
    { "x.a + 1", "2", 3 },
    { "x.a + 'a'", "! no such overload", 3 },
    { "x.b.c + 1", "! no such overload", 4 },
    { "x + 1", "! no such overload: _+_", 2 },
    { "[x, 1]", "! 1:5: expected type 'dyn' but found 'int'" },
    { "[x, 1][1]", "! 1:5: expected type 'dyn' but found 'int'" },
    { "l == []", "false", 1 },
    { "l == ['a']",
      "! 1:3: found no matching overload for '_==_' applied to '(list(int), list(string))'" },
    { "l + ['a']",
      "! 1:3: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "m == {}", "false", 1 },
    { "m == {'a': 'b'}", "! 1:3: found no matching overload for '_==_' applied to "
                         "'(map(string, int), map(string, string))'" },
    { "m['a'] + 'b'", "! 1:8: found no matching overload for '_+_' applied to '(int, string)'" },
    { "m[1]", "! 1:2: found no matching overload for '_[_]' applied to '(map(string, int), int)'" },
    { "o == optional.of('a')", "! 1:3: found no matching overload for '_==_' applied to "
                               "'(optional_type(int), optional_type(string))'" },
    { "o.orValue('a')", "! 1:10: found no matching overload for 'orValue' applied to "
                        "'optional_type(int).(string)'" },
    { "o.or(optional.of('a'))", "! 1:5: found no matching overload for 'or' applied to "
                                "'optional_type(int).(optional_type(string))'" },
    { "[1, 2].map(i, i > 1 ? 'a' : 1)",
      "! 1:21: found no matching overload for '_?_:_' applied to '(bool, string, int)'" },
    { "[1, 2].map(i, i > 1 ? 'a' : dyn(1))", "[1, a]", 29 },
    { "[1].map(i, [i]).map(j, j + ['a'])",
      "! 1:26: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "type(l) == type([1])", "true", 3 },
    { "type(l) == list(int)", "! 1:16: undeclared reference to 'list' (in container '')" },
    { "sets.contains(l, ['a'])", "! 1:14: found no matching overload for 'sets.contains' "
                                 "applied to '(list(int), list(string))'" },
    { "l.indexOf('a')",
      "! 1:10: found no matching overload for 'indexOf' applied to 'list(int).(string)'" },
    { "l.includes('a')", "false", 4 },
    { "[1, 2].sum() + 'a'",
      "! 1:14: found no matching overload for '_+_' applied to '(int, string)'" },
    { "['a'].sum()", "! 1:10: found no matching overload for 'sum' applied to 'list(string).()'" },
    { "['a'].min() + 1",
      "! 1:13: found no matching overload for '_+_' applied to '(string, int)'" },
    { "[[1]].flatten() + ['a']",
      "! 1:17: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "[[['a']]].flatten()", "[[a]]", 12 },
    { "lists.range(3) + ['a']",
      "! 1:16: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "l.first() + 1",
      "! 1:11: found no matching overload for '_+_' applied to '(optional_type(int), int)'" },
    { "l.first().orValue('a')", "! 1:18: found no matching overload for 'orValue' applied to "
                                "'optional_type(int).(string)'" },
    { "l.sort() + ['a']",
      "! 1:10: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "l.distinct() == ['a']",
      "! 1:14: found no matching overload for '_==_' applied to '(list(int), list(string))'" },
    { "l.slice(0, 1) + ['a']",
      "! 1:15: found no matching overload for '_+_' applied to '(list(int), list(string))'" },
    { "'a,b'.split(',') + [1]",
      "! 1:18: found no matching overload for '_+_' applied to '(list(string), list(int))'" },
    { "'a'.findAll('a') + [1]",
      "! 1:18: found no matching overload for '_+_' applied to '(list(string), list(int))'" },
    { "url('http://a').getQuery()['a'] + 1",
      "! 1:33: found no matching overload for '_+_' applied to '(list(string), int)'" },
    { "ip('1.2.3.4') == 1",
      "! 1:15: found no matching overload for '_==_' applied to '(net.IP, int)'" },
    { "ip('1.2.3.4') == cidr('1.2.3.4/8')",
      "! 1:15: found no matching overload for '_==_' applied to '(net.IP, net.CIDR)'" },
    { "quantity('1') == '1'", "! 1:15: found no matching overload for '_==_' applied to "
                              "'(kubernetes.Quantity, string)'" },
    { "quantity('1').add('1')", "! 1:18: found no matching overload for 'add' applied to "
                                "'kubernetes.Quantity.(string)'" },
    { "semver('1.2.3') == '1.2.3'", "! 1:17: found no matching overload for '_==_' applied to "
                                    "'(kubernetes.Semver, string)'" },
    { "format.uuid().validate('a') == 1", "! 1:29: found no matching overload for '_==_' "
                                          "applied to '(optional_type(list(string)), int)'" },
    { "cidr('1.2.3.4/8').containsIP(1)",
      "! 1:29: found no matching overload for 'containsIP' applied to 'net.CIDR.(int)'" },
    { "timestamp(0) == 0",
      "! 1:14: found no matching overload for '_==_' applied to '(timestamp, int)'" },
    { "duration('1s') == 1",
      "! 1:16: found no matching overload for '_==_' applied to '(duration, int)'" },
    { "duration('1s') > 1",
      "! 1:16: found no matching overload for '_>_' applied to '(duration, int)'" },
    { "'a' == b'a'", "! 1:5: found no matching overload for '_==_' applied to '(string, bytes)'" },
    { "type(1) == 'int'",
      "! 1:9: found no matching overload for '_==_' applied to '(type(int), string)'" },
};

/* Types that are only known from each other. */
static void test_parameters(void **state)
{
    (void)state;
    check_scene(parameters_cases, ARRAY_LEN(parameters_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_type_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constants_that_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        CASE_TEST(test_operators),
        CASE_TEST(test_functions),
        CASE_TEST(test_fields),
        CASE_TEST(test_literals_of_one_type),
        CASE_TEST(test_validated_literals),
        CASE_TEST(test_parameters),
        CASE_TEST(test_result_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
