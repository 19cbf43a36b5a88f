/* Values, errors and what absorbs them, trees read through types, budgets. */
#include "base/idiom.h"
#include "cel/check_test.h"

static void test_errors(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "1 / 0", "! division by zero" },
        { "1 % 0", "! modulus by zero" },
        { "9223372036854775807 + 1", "! integer overflow" },
        { "0u - 1u", "! unsigned integer overflow" },
        { "[1][1]", "! index out of bounds: 1" },
        { "{'a': 1}.b", "! no such key: b" },
        { "dyn(1).a", "! no such key: a" },
        { "[1][dyn('a')]", "! unsupported index type 'string' in list" },
        { "dyn(1) + 'a'", "! no such overload" },
        { "dyn(true) + 1", "! no such overload: _+_" },
        { "dyn(1).charAt(0)", "! no such overload: charAt(int, int)" },
        { "dyn(1) ? 1 : 2", "! no such overload" },
        { "optional.none().value()", "! optional.none() dereference" },
        { "[1, 1].transformMapEntry(i, v, {v: i})", "! insert failed: key 1 already exists" },
        { "1 / 0 == 1 || true", "true" },
        { "true || 1 / 0 == 1", "true" },
        { "1 / 0 == 1 && false", "false" },
        { "1 / 0 == 1 || false", "! division by zero" },
        { "[1, 0].exists(x, 1 / x == 1)", "true" },
        { "[0, 1].all(x, 1 / x == 2)", "false" },
        { "[0, 1].exists_one(x, 1 / x == 1)", "! division by zero" },
    };
    check_answers(cases, ARRAY_LEN(cases));
}

static void test_values(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "[1, 2, 3].filter(x, x > 1).map(x, x * x)", "[4, 9]" },
        { "{'a': 1, 'b': 2}.map(k, k)", "[a, b]" },
        { "{'a': 1}.transformMap(k, v, v + 1)", "{a: 2}" },
        { "[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]" },
        { "[1, 2, 3].map(x, [4, 5].map(y, x * y))", "[[4, 5], [8, 10], [12, 15]]" },
        { "optional.of([1, 2].map(x, x)).optMap(l, [1].map(y, l[0] + y))", "optional([2])" },
        { "{'a': {'b': 1}}.?a.?b.orValue(7) + {'a': 1}.?c.orValue(7)", "8" },
        { "dyn(1) in [1.0, 2.0]", "true" },
        { "dyn(1u) == 1 && 1 < 1.5 && {1: 'a'}[dyn(1u)] == 'a'", "true" },
        { "string(timestamp('2023-01-01T00:00:00.5+01:00') + duration('1m'))",
          "2023-01-01T00:01:00.5+01:00" },
        { "timestamp('2024-02-29T12:00:00Z').getDayOfYear()", "59" },
        { "string(duration('90m0.5s'))", "5400.5s" },
        { "string(1234567.0) + string(0.00001)", "1.234567e+061e-05" },
        { "type(1) == int && type([]) == list && type(type(1)) == type", "true" },
        { "has({'a': null}.a) && !has({'a': 1}.b)", "true" },
    };
    check_answers(cases, ARRAY_LEN(cases));
}

/* ---- Trees ---- */

/* {name: string, size: int, when: date-time, tags: set of strings, items: list keyed by k,
 *  labels: map, a.b: int, port: int or string, note: nullable string} */
static const struct cel_type *spec_type(void)
{
    static struct str keys[] = { { "k", 1 } };
    struct cel_type *tags = arena_dup(&arena, cel_type_list(&arena, &cel_string), sizeof(*tags));
    struct cel_type *note = arena_dup(&arena, &cel_string, sizeof(*note));
    struct cel_field *item_fields = arena_array(&arena, struct cel_field, 2);
    item_fields[0] = (struct cel_field){ &cel_string, STR("k"), STR("k") };
    item_fields[1] = (struct cel_field){ &cel_int, STR("v"), STR("v") };
    const struct cel_type *item = cel_type_object(&arena, STR("Item"), item_fields, 2);
    struct cel_type *items = arena_dup(&arena, cel_type_list(&arena, item), sizeof(*items));
    tags->list_type = CEL_LIST_SET;
    items->list_type = CEL_LIST_MAP;
    items->map_keys = keys;
    items->n_map_keys = 1;
    note->nullable = true;
    const struct cel_field fields[] = {
        { &cel_string, STR("name"), STR("name") },
        { &cel_int, STR("size"), STR("size") },
        { &cel_timestamp, STR("when"), STR("when") },
        { tags, STR("tags"), STR("tags") },
        { items, STR("items"), STR("items") },
        { cel_type_map(&arena, &cel_string, &cel_int), STR("labels"), STR("labels") },
        { &cel_int, STR("a__dot__b"), STR("a.b") },
        { &cel_int_or_string, STR("port"), STR("port") },
        { note, STR("note"), STR("note") },
        { &cel_bytes, STR("blob"), STR("blob") },
    };
    return cel_type_object(&arena, STR("Spec"), arena_dup(&arena, fields, sizeof(fields)),
                           ARRAY_LEN(fields));
}

static const char *answer_about(const char *self, const char *old, const char *expression)
{
    const struct cel_type *type = spec_type();
    struct value new_tree = tree_of(self), old_tree = tree_of(old);
    struct cel_variable *variables = arena_array(&arena, struct cel_variable, 2);
    variables[0] = (struct cel_variable){ STR("self"), type };
    variables[1] = (struct cel_variable){ STR("oldSelf"), type };
    struct cel_env env = { .variables = variables, .n_variables = 2 };
    struct value *trees = arena_array(&arena, struct value, 2);
    trees[0] = new_tree;
    trees[1] = old_tree;
    struct cel_value vars[] = { cel_wrap(&arena, &trees[0], type),
                                cel_wrap(&arena, &trees[1], type) };
    return answer_in(&env, vars, expression);
}

static void test_trees(void **state)
{
    (void)state;
    static const char self[] =
        "{\"name\":\"a\",\"size\":3,\"when\":\"2023-01-01T00:00:00Z\",\"tags\":[\"x\",\"y\"],"
        "\"items\":[{\"k\":\"p\",\"v\":1},{\"k\":\"q\",\"v\":2}],\"labels\":{\"l\":1},\"a.b\":7,"
        "\"port\":\"http\",\"note\":null,\"blob\":\"aGk=\"}";
    static const char old[] =
        "{\"name\":\"a\",\"size\":3,\"when\":\"2023-01-01T00:00:00Z\",\"tags\":[\"y\",\"x\"],"
        "\"items\":[{\"k\":\"q\",\"v\":2},{\"k\":\"p\",\"v\":1}],\"labels\":{\"l\":1},\"a.b\":7,"
        "\"port\":80}";
    static const struct answer_case cases[] = {
        { "self.size + self.a__dot__b", "10" },
        { "self.when < timestamp('2024-01-01T00:00:00Z')", "true" },
        { "self.tags == oldSelf.tags && self.items == oldSelf.items", "true" },
        { "self.tags + ['z', 'x']", "[x, y, z]" },
        { "(self.items + oldSelf.items).map(i, i.v)", "[1, 2]" },
        { "self.port == oldSelf.port", "false" },
        { "type(self.port) == string && type(oldSelf.port) == int", "true" },
        { "has(self.note)", "false" },
        { "self.note", "! no such key: note" },
        { "self.blob == b'hi'", "true" },
        { "self.labels.all(k, self.labels[k] > 0) && 'l' in self.labels", "true" },
        { "self.labels.l == 1 && !has(self.labels.m)", "true" },
        { "type(self) == map", "true" },
        { "self == self && self != oldSelf", "true" },
        { "self.zz", "! ERROR: <input>:1:5: undefined field 'zz'\n | self.zz\n | ....^" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(answer_about(self, old, cases[i].expression), cases[i].answer);
    assert_string_equal(answer_about("{\"size\":\"3\"}", "{}", "self.size"),
                        "! invalid data, expected int, got string");
}

static void test_big_maps(void **state)
{
    (void)state;
    autobuf text = { 0 };
    buf_byte(&text, '{');
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "%s\"k%d\":%d", i ? "," : "", i, i);
    buf_byte(&text, '}');
    buf_byte(&text, 0);
    struct value tree = tree_of(text.p);
    struct cel_variable variable = { STR("m"), &cel_dyn };
    struct cel_env env = { .variables = &variable, .n_variables = 1 };
    struct cel_value vars[] = { cel_wrap(&arena, &tree, &cel_dyn) };
    assert_string_equal(answer_in(&env, vars, "m.all(k, m[k] >= 0) && m == m"), "true");
    assert_string_equal(answer_in(&env, vars, "m.transformMap(k, v, v).size()"), "20000");
}

static struct cel_value lazy_get(const struct cel_lazy *self, struct arena *a, struct str field)
{
    (void)self;
    (void)a;
    return str_eq(field, STR("good")) ? cel_of_int(1) : cel_of_error(STR("variable failed"));
}

static void test_lazy_objects(void **state)
{
    (void)state;
    static const struct cel_lazy lazy = { lazy_get, NULL };
    const struct cel_field fields[] = { { &cel_int, STR("good"), STR("") },
                                        { &cel_int, STR("bad"), STR("") } };
    const struct cel_type *type = cel_type_object(&arena, STR("Variables"), fields, 2);
    struct cel_variable variable = { STR("variables"), type };
    struct cel_env env = { .variables = &variable, .n_variables = 1 };
    struct cel_value vars[] = { cel_of_lazy(&lazy, type) };
    assert_string_equal(answer_in(&env, vars, "variables.good + 1"), "2");
    assert_string_equal(answer_in(&env, vars, "variables.bad"), "! variable failed");
    assert_string_equal(answer_in(&env, vars, "variables.good == 1 || variables.bad == 1"), "true");
}

/* ---- Objects that expressions make ---- */

static const struct cel_type *patch_type(const struct cel_env *env, struct str name)
{
    return str_eq(name, STR("JSONPatch")) ? env->handle : NULL;
}

static void test_made_objects(void **state)
{
    (void)state;
    const struct cel_field fields[] = { { &cel_string, STR("op"), STR("op") },
                                        { &cel_string, STR("path"), STR("path") },
                                        { &cel_dyn, STR("value"), STR("value") } };
    struct cel_env env = {
        .object_type = patch_type,
        .handle = cel_type_object(&arena, STR("JSONPatch"), fields, 3),
        .flags = CEL_ENV_JSON_PATCH,
    };
    const struct cel_program *p;
    struct err err = ERR_INIT(&arena);
    struct cel_value ret;
    struct value tree;
    uint64_t cost;
    struct str text = STR("[JSONPatch{op: 'add', path: '/x/' + jsonpatch.escapeKey('a/b'), "
                          "value: {'n': 1.5}, ?value: optional.none()}]");
    assert_int_equal(cel_compile(&arena, &env, text, &p, &err), 0);
    assert_int_equal(cel_eval(&arena, p, NULL, 1000, &ret, &cost, &err), 0);
    assert_int_equal(cel_to_tree(&arena, &ret, &tree, &err), 0);
    autobuf json = { 0 };
    json_write(&json, &tree);
    buf_byte(&json, 0);
    assert_string_equal(json.p, "[{\"op\":\"add\",\"path\":\"/x/a~1b\",\"value\":{\"n\":1.5}}]");
    assert_string_equal(answer_in(&env, NULL, "JSONPatch{where: 'x'}"),
                        "! ERROR: <input>:1:16: undefined field 'where'\n"
                        " | JSONPatch{where: 'x'}\n | ...............^");
}

static void test_budget(void **state)
{
    (void)state;
    static const struct cel_env env;
    const struct cel_program *p;
    struct err err = ERR_INIT(&arena);
    struct cel_value ret;
    uint64_t cost = 0;
    struct str text = STR("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0)) || true");
    assert_int_equal(cel_compile(&arena, &env, text, &p, &err), 0);
    assert_int_equal(cel_eval(&arena, p, NULL, 5000, &ret, &cost, &err), -ERR_TOO_LARGE);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "operation cancelled: actual cost limit exceeded");
    assert_true(cost > 5000 && cost < 10000);
}

/* && and || and what is made of them absorb errors. */
static void test_absorbed_errors(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "true || 1 / 0 > 0", "true" },
        { "1 / 0 > 0 || true", "true", 2 },
        { "false && 1 / 0 > 0", "false" },
        { "1 / 0 > 0 && false", "false", 2 },
        { "false || 1 / 0 > 0", "! division by zero", 2 },
        { "1 / 0 > 0 || false", "! division by zero", 2 },
        { "true && 1 / 0 > 0", "! division by zero", 2 },
        { "1 / 0 > 0 && true", "! division by zero", 2 },
        { "1 / 0 > 0 || 1 % 0 > 0", "! division by zero", 4 },
        { "1 / 0 > 0 && 1 % 0 > 0", "! division by zero", 4 },
        { "(1 / 0 > 0 || true) && (1 % 0 > 0 && false)", "false", 4 },
        { "x.zz || true", "true", 2 },
        { "true || x.zz", "true" },
        { "x.zz && false", "false", 2 },
        { "x.zz || false", "! no such key: zz", 2 },
        { "dyn(1) || true", "true" },
        { "dyn(1) && false", "false" },
        { "dyn(1) && true", "! no such overload" },
        { "dyn('a') || dyn('b')", "! no such overload" },
        { "dyn(null) || true", "true" },
        { "!(1 / 0 > 0)", "! division by zero", 3 },
        { "1 / 0 > 0 ? 1 : 2", "! division by zero", 2 },
        { "true ? 1 : 1 / 0", "1" },
        { "false ? 1 / 0 : 2", "2" },
        { "true ? 1 / 0 : 2", "! division by zero", 1 },
        { "dyn(1) ? 2 : 3", "! no such overload" },
        { "d ? 1 : 2", "! no such overload", 1 },
        { "x.zz ? 1 : 2", "! no such key: zz", 2 },
        { "[1 / 0][0]", "! division by zero", 12 },
        { "[1, 1 / 0].size()", "! division by zero", 12 },
        { "{'a': 1 / 0}.size()", "! division by zero", 32 },
        { "{'a': 1 / 0}.b", "! division by zero", 32 },
        { "size([1 / 0])", "! division by zero", 12 },
        { "l.all(i, 1 / (i - 2) > -9)", "! division by zero", 23 },
        { "l.all(i, 1 / (i - 2) > 0)", "false", 11 },
        { "l.exists(i, 1 / (i - 2) > 0)", "true", 26 },
        { "l.exists(i, 1 / (i - 2) > 9)", "! division by zero", 26 },
        { "l.exists_one(i, 1 / (i - 2) > 0)", "! division by zero", 17 },
        { "l.map(i, 1 / (i - 2))", "! division by zero", 47 },
        { "l.filter(i, 1 / (i - 2) > 0)", "! division by zero", 27 },
        { "l.all(i, i)", "! 1:10: expected type 'bool' but found 'int'" },
        { "l.exists(i, dyn(i))", "! no such overload", 20 },
        { "l.filter(i, dyn(i))", "! no such overload", 8 },
        { "[dyn(true), dyn(1)].all(i, i)", "! no such overload", 9 },
        { "[dyn(1), dyn(false)].all(i, i)", "false", 9 },
        { "[dyn(1), dyn(true)].exists(i, i)", "true", 11 },
        { "[1, 2].all(i, x.zz) || true", "true", 11 },
        { "o.value() == 1 || true", "true", 3 },
        { "o.value() == 1 && false", "false", 3 },
        { "optional.of(1 / 0)", "! division by zero", 2 },
        { "optional.ofNonZeroValue(1 / 0)", "! division by zero", 2 },
        { "1 / 0 in [1]", "! division by zero", 1 },
        { "1 in [1 / 0]", "! division by zero", 12 },
        { "'a' in {'a': 1 / 0}", "! division by zero", 32 },
        { "has({'a': 1 / 0}.a)", "! division by zero", 31 },
        { "type(1 / 0)", "! division by zero", 2 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Lists and maps: size, index, key. */
static void test_containers(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "l[0]", "1", 2 },
        { "l[2]", "3", 2 },
        { "l[3]", "! index out of bounds: 3", 2 },
        { "l[-1]", "! index out of bounds: -1", 2 },
        { "l[0u]", "! 1:2: found no matching overload for '_[_]' applied to '(list(int), uint)'" },
        { "l[dyn(0u)]", "1", 2 },
        { "l[dyn(1.0)]", "2", 2 },
        { "l[dyn(1.5)]", "! unsupported index value 1.5 in list", 2 },
        { "l[dyn('a')]", "! unsupported index type 'string' in list", 2 },
        { "l[9223372036854775807]", "! index out of bounds: 9223372036854775807", 2 },
        { "[1, 2][dyn(18446744073709551615u)]",
          "! unsupported index value 18446744073709551615 in list", 2 },
        { "m['k']", "7", 2 },
        { "m['z']", "! no such key: z", 2 },
        { "m[s]", "! no such key: hello", 2 },
        { "m[dyn(1)]", "! no such key: 1", 2 },
        { "x['a']", "1", 2 },
        { "x['b']['c']", "text", 3 },
        { "x['b'].l[1]", "2", 4 },
        { "x[0]", "! no such key: 0", 2 },
        { "x.b.l['a']", "! unsupported index type 'string' in list", 4 },
        { "{1: 'a'}[dyn(1u)]", "a", 2 },
        { "{1: 'a'}[dyn(1.0)]", "a", 2 },
        { "{1: 'a'}[dyn(1.5)]", "! no such key: 1.5", 2 },
        { "{1u: 'a'}[dyn(1)]", "a", 2 },
        { "{1: 'a', 2: 'b'}[2]", "b", 2 },
        { "{true: 'a'}[true]", "a", 2 },
        { "{true: 'a'}[false]", "! no such key: false", 2 },
        { "{'a': {'b': [1, {'c': 2}]}}.a.b[1].c",
          "! 1:17: expected type 'int' but found 'map(string, int)'" },
        { "size(l)", "3", 2 },
        { "l.size()", "3", 2 },
        { "size(m)", "1", 2 },
        { "m.size()", "1", 2 },
        { "size('日本')", "2", 1 },
        { "'😀'.size()", "1", 1 },
        { "size(b'日本')", "6", 1 },
        { "b''.size()", "0", 1 },
        { "size([])", "0", 1 },
        { "{}.size()", "0", 1 },
        { "size(x)", "2", 2 },
        { "size(d)", "! no such overload: size", 2 },
        { "x.size()", "2", 2 },
        { "[1] + [2]", "[1, 2]", 1 },
        { "[] + []", "[]", 1 },
        { "[1] + []", "[1]", 1 },
        { "l + [4]", "[1, 2, 3, 4]", 2 },
        { "l + l", "[1, 2, 3, 1, 2, 3]", 3 },
        { "(l + [4])[3]", "4", 4 },
        { "(l + [4])[4]", "! index out of bounds: 4", 4 },
        { "size(l + l)", "6", 4 },
        { "4 in (l + [4])", "true", 6 },
        { "l + [4] == [1, 2, 3, 4]", "true", 3 },
        { "l + dyn('a')", "! no such overload", 2 },
        { "'a' + 'b'", "ab", 1 },
        { "b'a' + b'b'", "[97 98]", 1 },
        { "'' + ''", "" },
        { "s + '!'", "hello!", 2 },
        { "s + dyn(1)", "! no such overload", 2 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

static const struct answer_case wrong_arguments_cases[] = {
    { "dyn(1).flatten(2)", "! no such overload: int.flatten(int)", 13 },
    { "dyn(1).matches('a')", "! no such overload", 1 },
    { "dyn(1).matches(s)", "! no such overload: matches", 3 },
    { "dyn(1).find(s)", "! no such overload: find(int, string)", 3 },
    { "dyn(1).findAll('b')", "! no such overload", 1 },
    { "dyn(1).findAll('b', 2)", "! no such overload", 1 },
    { "l.transformMapEntry(k, v, dyn('a'))", "! no such overload: cel.@mapInsert(map, string)", 8 },
    { "l.transformMapEntry(k, v, dyn([1]))", "! no such overload: cel.@mapInsert(map, list)", 8 },
    { "dyn(1) + 1u", "! no such overload", 1 },
    { "dyn(1) + 1.0", "! no such overload", 1 },
    { "dyn('a') + 1", "! no such overload", 1 },
    { "dyn([1]) + 1", "! no such overload", 1 },
    { "dyn(null) + 1", "! no such overload: _+_", 1 },
    { "dyn(1) - 'a'", "! 1:8: found no matching overload for '_-_' applied to '(dyn, string)'" },
    { "dyn('a') - 'a'", "! 1:10: found no matching overload for '_-_' applied to '(dyn, string)'" },
    { "dyn(1) * 'a'", "! 1:8: found no matching overload for '_*_' applied to '(dyn, string)'" },
    { "dyn({}) * 2", "! no such overload: _*_", 1 },
    { "dyn(1) / 2.0", "! no such overload", 1 },
    { "dyn(1.0) % 2.0", "! 1:10: found no matching overload for '_%_' applied to '(dyn, double)'" },
    { "dyn(true) % 1", "! no such overload: _%_", 1 },
    { "-dyn('a')", "! no such overload", 1 },
    { "-dyn(1u)", "! no such overload: -_", 1 },
    { "-dyn(null)", "! no such overload: -_", 1 },
    { "!dyn(1)", "! no such overload", 1 },
    { "!dyn('a')", "! no such overload", 1 },
    { "dyn(1).size()", "! no such overload: size", 1 },
    { "size(dyn(null))", "! no such overload: size", 1 },
    { "dyn(true).startsWith('a')", "! no such overload", 1 },
    { "dyn('a').startsWith(dyn(1))", "! no such overload", 1 },
    { "dyn(1).contains('a')", "! no such overload", 1 },
    { "dyn(1).endsWith('a')", "! no such overload", 1 },
    { "dyn('a').matches(dyn(1))", "! no such overload", 1 },
    { "dyn(1).getHours()", "! no such overload: getHours(int)", 1 },
    { "dyn('a').getFullYear()", "! no such overload: getFullYear(string)", 1 },
    { "dyn(timestamp(0)).getHours(dyn(1))",
      "! no such overload: getHours(google.protobuf.Timestamp, int)", 1 },
    { "dyn(1).split(',')", "! no such overload: split(int, string)", 1 },
    { "dyn('a').split(dyn(1))", "! no such overload: split(string, int)", 1 },
    { "dyn(1).join()", "! no such overload: join(int)", 1 },
    { "dyn(['a']).join(dyn(1))", "! no such overload: join(list, int)", 1 },
    { "dyn(1).indexOf('a')", "! no such overload: indexOf(int, string)", 1 },
    { "dyn('a').indexOf(dyn(1))", "! no such overload: indexOf(string, int)" },
    { "dyn([1]).indexOf('a')", "-1", 1 },
    { "dyn(1).lowerAscii()", "! no such overload: lowerAscii(int)", 1 },
    { "dyn(1).replace('a', 'b')", "! no such overload: replace(int, string, string)", 1 },
    { "dyn(1).trim()", "! no such overload: trim(int)", 1 },
    { "dyn(1).format([1])", "! no such overload: format(int, list)", 1 },
    { "dyn(1).sum()", "! no such overload: sum(int)", 1 },
    { "dyn(1).min()", "! no such overload: min(int)", 1 },
    { "dyn(1).isSorted()", "! no such overload: isSorted(int)", 1 },
    { "dyn(1).slice(0, 1)", "! no such overload: slice(int, int, int)", 12 },
    { "dyn([1]).slice(dyn('a'), 1)", "! no such overload: slice(list, string, int)", 12 },
    { "dyn(1).sortBy(e, e)", "! got 'types.Int', expected iterable type", 3 },
    { "dyn(1).reverse()", "! no such overload: reverse(int)", 12 },
    { "lists.range(dyn('a'))", "! no such overload: lists.range(string)", 12 },
    { "sets.contains(dyn(1), [1])", "! no such overload: sets.contains(int, list)", 2 },
    { "dyn(1).hasValue()", "! no such overload: hasValue(int)", 1 },
    { "dyn(1).value()", "! no such overload: value(int)", 1 },
    { "dyn(1).orValue(2)", "! no such overload" },
    { "dyn(1).or(optional.of(2))", "! no such overload" },
    { "dyn(1).optMap(v, v)", "! no such overload: hasValue(int)", 1 },
    { "optional.of(1).or(dyn(2))", "optional(1)", 1 },
    { "dyn(1).getHost()", "! no such overload: getHost(int)", 1 },
    { "dyn(1).isLessThan(quantity('1'))",
      "! no such overload: isLessThan(int, kubernetes.Quantity)", 2 },
    { "quantity('1').add(dyn('a'))", "! no such overload: add(kubernetes.Quantity, string)", 2 },
    { "dyn('1.2.3.4').family()", "! no such overload: family(string)", 1 },
    { "dyn(1).containsIP('1.2.3.4')", "! no such overload: containsIP(int, string)", 2 },
    { "dyn('1').major()", "! no such overload: major(string)", 1 },
    { "url(dyn(1))", "! no such overload: url(int)", 1 },
    { "ip(dyn(1))", "! no such overload: ip(int)", 1 },
    { "cidr(dyn(1))", "! no such overload: cidr(int)", 1 },
    { "quantity(dyn(1))", "! no such overload: quantity(int)", 1 },
    { "semver(dyn(1))", "! no such overload: semver(int)", 1 },
    { "isIP(dyn(1))", "! no such overload: isIP(int)", 1 },
    { "int(dyn([1]))", "! no such overload: int(list)" },
    { "uint(dyn(null))", "! no such overload: uint(null_type)" },
    { "double(dyn({}))", "! no such overload: double(map)" },
    { "string(dyn([1]))", "! no such overload: string(list)" },
    { "bytes(dyn(1))", "! no such overload: bytes(int)" },
    { "bool(dyn(1))", "! no such overload: bool(int)" },
    { "duration(dyn(1))", "! no such overload: duration(int)" },
    { "timestamp(dyn(1.5))", "! no such overload: timestamp(double)" },
    { "dyn(1)[0]", "! no such key: 0", 2 },
    { "dyn('a')[0]", "! no such key: 0", 2 },
    { "dyn(null).a", "! no such key: a", 2 },
    { "dyn([1]).a", "! unsupported index type 'string' in list", 2 },
    { "dyn(1) in 2", "! 1:8: found no matching overload for '@in' applied to '(dyn, int)'" },
    { "1 in dyn(2)", "! no such overload", 1 },
    { "1 in dyn('a')", "! no such overload", 1 },
    { "dyn(1) < null", "! no such overload", 1 },
    { "dyn(timestamp(0)) + timestamp(0)", "! no such overload", 1 },
    { "dyn(timestamp(0)) - 1", "! no such overload", 1 },
    { "dyn(duration('1s')) + 1", "! no such overload", 1 },
    { "dyn(1) == timestamp(0)", "false", 1 },
    { "dyn(int) + 1", "! no such overload: _+_", 1 },
};

/* Values that no overload takes, found out while evaluating. */
static void test_wrong_arguments(void **state)
{
    (void)state;
    check_scene(wrong_arguments_cases, ARRAY_LEN(wrong_arguments_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_big_maps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lazy_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_made_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_budget, set_up, tear_down),
        CASE_TEST(test_absorbed_errors),
        CASE_TEST(test_containers),
        CASE_TEST(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
