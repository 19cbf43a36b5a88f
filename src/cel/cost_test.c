/* What expressions cost, and what they are estimated to cost, beside upstream's numbers. */
#include "base/idiom.h"
#include "cel/check_test.h"

#define REQUEST_BYTES 3145728 /* the largest request, which bounds what has no bound */

static const struct cel_type *sized(const struct cel_type *t, uint64_t max_size)
{
    struct cel_type *copy = arena_dup(&arena, t, sizeof(*t));
    copy->max_size = max_size;
    return copy;
}

/* What a CRD's schema becomes: sizes by maxLength (times four), maxItems, maxProperties, or what
 * fits into a request. */
static const struct cel_type *self_type(void)
{
    struct arena *a = &arena;
    const struct cel_field item_fields[] = {
        { sized(&cel_string, 12), STR("k"), STR("") },
        { &cel_int, STR("v"), STR("") },
    };
    const struct cel_type *item = cel_type_object(
        a, STR("Item"), arena_dup(a, item_fields, sizeof(item_fields)), ARRAY_LEN(item_fields));
    const struct cel_type *rows = sized(cel_type_list(a, &cel_int), 3);
    const struct cel_field fields[] = {
        { sized(&cel_string, 80), STR("name"), STR("") },
        { sized(&cel_string, REQUEST_BYTES - 2), STR("desc"), STR("") },
        { &cel_int, STR("replicas"), STR("") },
        { &cel_double, STR("ratio"), STR("") },
        { &cel_bool, STR("on"), STR("") },
        { sized(cel_type_list(a, sized(&cel_string, 20)), 10), STR("names"), STR("") },
        { sized(cel_type_map(a, &cel_string, sized(&cel_string, 28)), 8), STR("tags"), STR("") },
        { sized(cel_type_map(a, &cel_string, &cel_int), (REQUEST_BYTES - 2) / 7), STR("free"),
          STR("") },
        { sized(cel_type_list(a, item), (REQUEST_BYTES - 2) / 10), STR("items"), STR("") },
        { sized(cel_type_list(a, rows), 4), STR("nested"), STR("") },
        { sized(&cel_string, 6), STR("mode"), STR("") },
        { sized(&cel_timestamp, 32), STR("when"), STR("") },
        { sized(&cel_int_or_string, REQUEST_BYTES - 2), STR("port"), STR("") },
    };
    return cel_type_object(a, STR("Self"), arena_dup(a, fields, sizeof(fields)), ARRAY_LEN(fields));
}

static void test_estimates(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        uint64_t max;
    } cases[] = {
        { "self.replicas > 1", UINT64_C(3) },
        { "self.name == 'a'", UINT64_C(3) },
        { "self.name == self.desc", UINT64_C(12) },
        { "self.name.startsWith('a')", UINT64_C(3) },
        { "self.desc.contains('abc')", UINT64_C(314575) },
        { "self.names.all(n, n.matches('^[a-z]+$'))", UINT64_C(103) },
        { "self.names.exists(n, n == self.name)", UINT64_C(93) },
        { "self.items.all(i, i.k != '')", UINT64_C(1572863) },
        { "self.items.all(i, self.items.all(j, i.k != j.k))", UINT64_C(890601776091) },
        { "self.tags.all(k, self.tags[k].size() > 1)", UINT64_C(75) },
        { "self.tags.all(k, v, v.size() > 1 && k != '')", UINT64_C(59) },
        { "self.free.exists(k, self.free[k] > 3)", UINT64_C(4044504) },
        { "self.nested.all(l, l.all(x, x > 0))", UINT64_C(83) },
        { "self.mode in ['abc', 'abcdef']", UINT64_C(14) },
        { "self.names.map(n, n + 'x').join(',').size() < 10", UINT64_C(1844674407370955439) },
        { "self.names[0] == 'a'", UINT64_C(4) },
        { "self.tags['a'] == 'b'", UINT64_C(4) },
        { "has(self.name) && has(self.items)", UINT64_C(2) },
        { "!has(oldSelf.name) || self.name == oldSelf.name", UINT64_C(14) },
        { "self.names.filter(n, n != 'a').size() == 1", UINT64_C(165) },
        { "self.desc.split(',').all(p, p.size() > 1)", UINT64_C(19503505) },
        { "self.desc.replace('a', 'bb').size() < 10", UINT64_C(629150) },
        { "self.name.lowerAscii() == 'a'", UINT64_C(11) },
        { "self.when > timestamp('2020-01-01T00:00:00Z')", UINT64_C(4) },
        { "type(self.port) == int ? self.port < 5 : self.port.matches('a')", UINT64_C(314579) },
        { "self.names.isSorted()", UINT64_C(32) },
        { "self.names.indexOf('a') == 1", UINT64_C(33) },
        { "self.items.map(i, i.v).sum() > 3", UINT64_C(4718594) },
        { "self.names.sort() == self.names", UINT64_C(226) },
        { "self.names.distinct().size() == self.names.size()", UINT64_C(218) },
        { "sets.contains(self.names, ['a'])", UINT64_C(23) },
        { "self.name.find('[0-9]+') == '1'", UINT64_C(21) },
        { "self.names.sortBy(n, n.size()).size() > 1", UINT64_C(378) },
        { "'%s-%d'.format([self.name, self.replicas]) == 'a'", UINT64_C(16) },
        { "self.?name.orValue('x') == 'y'", UINT64_C(4) },
        { "self.?names[0].orValue('x') == 'y'", UINT64_C(5) },
        { "self.?name.optMap(n, n + 'a').orValue('b') == 'c'", UINT64_C(1844674407370955284) },
        { "isIP(self.name) && ip(self.name).family() == 4", UINT64_C(22) },
        { "quantity(self.name).isLessThan(quantity('1Gi'))", UINT64_C(12) },
        { "format.dns1123Label().validate(self.name).hasValue()", UINT64_C(260) },
        { "self.desc + self.name == 'a'", UINT64_C(314586) },
        { "[self.name, self.desc].all(x, x.size() > 3)", UINT64_C(27) },
        { "[1,2,3].all(x, x > self.replicas)", UINT64_C(32) },
        { "{'a': self.name}.all(k, k == 'a')", UINT64_C(37) },
        { "(self.on ? self.name : self.desc) == 'x'", UINT64_C(5) },
        { "self.ratio < 1.0 || self.on", UINT64_C(5) },
        { "string(self.replicas) == '1'", UINT64_C(4) },
        { "self.names == oldSelf.names", UINT64_C(5) },
        { "self == oldSelf", UINT64_C(2) },
        { "self.items == oldSelf.items", UINT64_C(31462) },
        { "self.names + ['a'] == ['b']", UINT64_C(24) },
        { "self.items.exists_one(i, i.k == 'x')", UINT64_C(1572864) },
        { "self.items.filter(i, i.v > 1).map(i, i.k).all(k, k != 'a')", UINT64_C(10695473) },
        { "dyn(self.name) == 'a'", UINT64_C(4) },
        { "self.names.transformList(i, v, v + 'x').size() == 2", UINT64_C(175) },
        { "self.tags.transformMap(k, v, v.size()).size() == 2", UINT64_C(75) },
        { "url(self.desc).getHost() == 'x'", UINT64_C(314577) },
        { "self.names.reverse()[0] == 'a'", UINT64_C(24) },
        { "self.nested.flatten().size() < 5", UINT64_C(19) },
        { "self.names.slice(0, 2).size() == 1", UINT64_C(17) },
        { "lists.range(self.replicas).all(x, x > 1)", UINT64_C(18446744073709551615) },
        { "self.name.substring(1) == 'a' && self.name.charAt(0) == 'x'", UINT64_C(15) },
        { "self.names.exists(n, self.tags.exists(k, n == k))", UINT64_C(553) },
        { "self.names.max() == 'a'", UINT64_C(33) },
        { "self.names.includes('a')", UINT64_C(32) },
        { "type(self.name) == string", UINT64_C(4) },
        { "self.free.all(k, k.matches('^a'))", UINT64_C(2246948) },
        { "self.name.matches(self.desc)", UINT64_C(7077892) },
        { "self.desc.matches('^.*$') && self.name.size() < 4", UINT64_C(314579) },
        { "b'abc' == bytes(self.name)", UINT64_C(11) },
    };
    const struct cel_type *type = self_type();
    const struct cel_variable variables[] = { { STR("self"), type }, { STR("oldSelf"), type } };
    const struct cel_env env = { .variables = variables, .n_variables = 2 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct cel_program *p;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(cel_compile(&arena, &env, str_of(cases[i].expression), &p, &err), 0);
        uint64_t max = cel_program_cost(&arena, p).max;
        if (max != cases[i].max)
            print_error("%s\n", cases[i].expression);
        assert_true(max == cases[i].max);
        assert_int_equal(cel_program_uses(p, 1), strstr(cases[i].expression, "oldSelf") != NULL);
    }
}

static const struct {
    const char *expression;
    uint64_t cost;
} costs_cases[] = {
    { "x.b.c", 3 },
    { "l[5]", 2 },
    { "x.zz", 2 },
    { "has(x.b.c)", 2 },
    { "l.map(i, i + 1)", 44 },
    { "l.all(i, i > 0)", 17 },
    { "d ? 1 : 2", 1 },
    { "x.b.l[0] + [1,2][1]", 7 },
    { "quantity('1Gi')", 1 },
    { "optional.of(1).optMap(a, a + 1)", 7 },
    { "{dyn(3.3):15.15, dyn(1.0): 5.0}[1.0]", 2 },
    { "{dyn(0): 1, dyn(0u): 2}[0.0]", 2 },
    { "{'null_key': dyn(null)}.?null_key.invalid.hasValue()", 3 },
    { "{true: dyn(0)}[?true].absent.hasValue()", 3 },
    { "{1:1, 1:2}[1]", 2 },
    { "{[1]: 2}", 0 },
    { "{dyn([1]): 2}", 0 },
    { "{null: 2}", 0 },
    { "[1][dyn('a')]", 2 },
    { "l[-1]", 2 },
    { "l[dyn(1.0)]", 2 },
    { "x.?a.orValue(5)", 2 },
    { "x.?zz.orValue(5)", 1 },
    { "x.?b.c", 3 },
    { "optional.of(x).b.c", 5 },
    { "has(x.?b.c)", 2 },
    { "has(x.?zz.c)", 0 },
    { "(d > 3 ? x : x).a", 3 },
    { "d > 3 ? x.a : x.b", 3 },
    { "l.exists(i, i == 2)", 17 },
    { "l.exists_one(i, i == 2)", 11 },
    { "l.filter(i, i > 1)", 34 },
    { "m.all(k, m[k] == 7)", 8 },
    { "m.exists(k, v, v == 7)", 8 },
    { "m.transformMap(k, v, v + 1)", 7 },
    { "l.transformList(i, v, i + v)", 47 },
    { "l.transformMap(i, v, v)", 14 },
    { "m.transformMapEntry(k, v, {v: k})", 36 },
    { "l.transformMapEntry(i, v, {'a': v})", 101 },
    { "s.size()", 2 },
    { "d in [1, 5]", 1 },
    { "d in []", 0 },
    { "dyn(l) + [1]", 3 },
    { "l + [1] == [1,2,3,1]", 3 },
    { "s.startsWith('he') && s.endsWith('lo')", 4 },
    { "s.contains('ell')", 2 },
    { "s.matches('^h.*o$')", 3 },
    { "d == 5 || 1/0 == 1", 2 },
    { "1/0 == 1 || d == 5", 4 },
    { "1/0 == 1 && d == 6", 4 },
    { "sets.contains([1,2],[1])", 3 },
    { "sets.equivalent([1,1],[1])", 5 },
    { "l.slice(0, 2)", 14 },
    { "l.slice(2, 1)", 13 },
    { "l.reverse()", 15 },
    { "l.first()", 2 },
    { "l.last().value()", 3 },
    { "optional.none().value()", 2 },
    { "[optional.of(1), optional.none()].unwrapOpt()", 13 },
    { "optional.ofNonZeroValue(0)", 1 },
    { "optional.of(1).or(optional.of(2))", 1 },
    { "{'a': 1}.a", 2 },
    { "{'a': 1}.b", 2 },
    { "has({'a': 1}.b)", 1 },
    { "{?'a': optional.none(), 'b': 1}", 31 },
    { "[?optional.none(), 1]", 11 },
    { "l.map(i, i > 1, i * 2)", 36 },
    { "l.sortBy(i, -i)", 75 },
    { "[1,2,3].map(i, [4,5].map(j, i*j))", 130 },
    { "x.optMap(a, a)", 2 },
    { "optional.of(x).optMap(a, a.a + 1)", 10 },
    { "optional.of(x).optFlatMap(a, a.?zz)", 7 },
    { "'%s has %d'.format([s, d])", 13 },
    { "strings.quote('a\"b')", 1 },
    { "x.if", 2 },
};

static void test_costs(void **state)
{
    (void)state;
    struct value tree = tree_of("{\"a\":1,\"b\":{\"c\":\"text\",\"l\":[1,2]}}");
    struct value list = tree_of("[1,2,3]"), map = tree_of("{\"k\":7}");
    const struct cel_variable variables[] = {
        { STR("x"), &cel_dyn },    { STR("l"), cel_type_list(&arena, &cel_int) },
        { STR("s"), &cel_string }, { STR("m"), cel_type_map(&arena, &cel_string, &cel_int) },
        { STR("d"), &cel_dyn },
    };
    const struct cel_value vars[] = {
        cel_wrap(&arena, &tree, &cel_dyn),
        cel_wrap(&arena, &list, &cel_dyn),
        cel_of_string(STR("hello")),
        cel_wrap(&arena, &map, &cel_dyn),
        cel_of_int(5),
    };
    const struct cel_env env = { .variables = variables, .n_variables = ARRAY_LEN(variables) };
    for (size_t i = 0; i < ARRAY_LEN(costs_cases); i++) {
        const struct cel_program *p;
        struct err err = ERR_INIT(&arena);
        struct cel_value ret;
        uint64_t cost = UINT64_MAX;
        assert_int_equal(cel_compile(&arena, &env, str_of(costs_cases[i].expression), &p, &err), 0);
        (void)cel_eval(&arena, p, vars, 10000000, &ret, &cost, &err);
        if (cost != costs_cases[i].cost)
            print_error("%s\n", costs_cases[i].expression);
        assert_true(cost == costs_cases[i].cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_estimates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_costs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
