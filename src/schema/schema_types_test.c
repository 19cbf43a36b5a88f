/* What rules are estimated to cost, by the sizes that their schema allows; kube-apiserver's
 * numbers. */
#include "base/idiom.h"
#include "schema/schema_test.h"

static uint64_t cost_of(struct arena *a, const char *schema, const char *rule)
{
    struct value props = parse_yaml(a, str_of(schema)), *rules = arena_new(a, struct value);
    *rules = parse_yaml(a, STR("[{}]"));
    value_put(a, value_edit_at(a, rules, 0), STR("rule"), value_string(str_of(rule)));
    value_put(a, &props, STR("x-kubernetes-validations"), *rules);
    const struct schema_programs *p = schema_programs_compile(a, schema_compile(a, &props), false);
    if (!p->list[0].check)
        fail_msg("%s: " STR_FMT, rule, STR_ARG(p->list[0].fault));
    return cel_program_cost(a, p->list[0].check).max;
}

static const struct {
    const char *schema, *rule;
    uint64_t cost;
} costs_rows[] = {
    { "{type: string}", "self == \"a\"", UINT64_C(2) },
    { "{type: string}", "self.size() > 3", UINT64_C(3) },
    { "{type: string}", "self.contains(\"abc\")", UINT64_C(314574) },
    { "{type: string, maxLength: 10}", "self.contains(\"abc\")", UINT64_C(5) },
    { "{type: string, maxLength: 10}", "self.matches(\"^a+$\")", UINT64_C(6) },
    { "{type: string}", "self.matches(\"^a+$\")", UINT64_C(314574) },
    { "{type: string, maxLength: 10}", "self.startsWith(\"abc\")", UINT64_C(2) },
    { "{type: string, maxLength: 10}", "self + self == \"a\"", UINT64_C(11) },
    { "{type: string, maxLength: 10}", "self.split(\",\").all(p, p != \"\")", UINT64_C(170) },
    { "{type: string, maxLength: 10}", "self.lowerAscii() == self", UINT64_C(10) },
    { "{type: string, maxLength: 10}", "self.replace(\"a\", \"b\") == self", UINT64_C(14) },
    { "{type: string, maxLength: 10}", "self.find(\"[0-9]+\") != \"\"", UINT64_C(11) },
    { "{type: string, maxLength: 10}", "self.indexOf(\"a\") == 1", UINT64_C(6) },
    { "{type: string, maxLength: 10}", "self in [\"a\", \"b\", \"c\"]", UINT64_C(14) },
    { "{type: string, maxLength: 10}", "isURL(self)", UINT64_C(2) },
    { "{type: string, maxLength: 10}", "url(self).getHost() == \"a\"", UINT64_C(7) },
    { "{type: string, maxLength: 10}", "isIP(self)", UINT64_C(5) },
    { "{type: string, maxLength: 10}", "ip(self).family() == 4", UINT64_C(7) },
    { "{type: string, maxLength: 10}", "cidr(\"10.0.0.0/8\").containsIP(self)", UINT64_C(10) },
    { "{type: string, maxLength: 10}", "isQuantity(self)", UINT64_C(5) },
    { "{type: string, maxLength: 10}", "quantity(self).isLessThan(quantity(\"1Gi\"))",
      UINT64_C(7) },
    { "{type: string, maxLength: 10}", "isSemver(self)", UINT64_C(5) },
    { "{type: string, maxLength: 10}", "!format.dns1123Label().validate(self).hasValue()",
      UINT64_C(132) },
    { "{type: string, maxLength: 10}", "\"%s\".format([self]) == \"a\"", UINT64_C(13) },
    { "{type: string, maxLength: 10}", "strings.quote(self) == \"a\"", UINT64_C(6) },
    { "{type: string, maxLength: 10}", "int(self) > 1", UINT64_C(3) },
    { "{type: string, maxLength: 10}", "string(self) == \"a\"", UINT64_C(3) },
    { "{type: string, maxLength: 10}", "size(bytes(self)) > 1", UINT64_C(7) },
    { "{type: string, enum: [a, bcd]}", "self.contains(\"b\")", UINT64_C(2) },
    { "{type: string, enum: [a, bcd], maxLength: 10}", "self.contains(\"b\")", UINT64_C(5) },
    { "{type: string, format: date-time}", "self.getHours() > 1", UINT64_C(3) },
    { "{type: string, format: date-time}", "string(self).contains(\"2020\")",
      UINT64_C(1844674407370955266) },
    { "{type: string, format: date}", "string(self).contains(\"2020\")",
      UINT64_C(1844674407370955266) },
    { "{type: string, format: duration}", "string(self).contains(\"s\")",
      UINT64_C(1844674407370955266) },
    { "{type: string, format: byte}", "self == b\"abc\"", UINT64_C(2) },
    { "{type: string, format: byte, maxLength: 10}", "self == b\"abc\"", UINT64_C(2) },
    { "{type: string, format: uri}", "self.contains(\"b\")", UINT64_C(314574) },
    { "{type: string, format: uuid}", "self.contains(\"b\")", UINT64_C(314574) },
    { "{type: string, format: ipv4}", "self.contains(\"b\")", UINT64_C(314574) },
    { "{type: integer}", "self > 1", UINT64_C(2) },
    { "{type: integer}", "self + self * 2 - 3 > 1", UINT64_C(6) },
    { "{type: integer}", "string(self) == \"1\"", UINT64_C(3) },
    { "{type: integer}", "lists.range(self).all(i, i > 1)", UINT64_C(18446744073709551615) },
    { "{type: number}", "self > 1.5", UINT64_C(2) },
    { "{type: boolean}", "self", UINT64_C(1) },
    { "{type: boolean}", "!self || self", UINT64_C(3) },
    { "{x-kubernetes-int-or-string: true}", "type(self) == int", UINT64_C(314576) },
    { "{x-kubernetes-int-or-string: true}", "string(self) == \"a\"", UINT64_C(314575) },
    { "{type: array, items: {type: integer}}", "self.all(i, i > 1)", UINT64_C(7864317) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.all(i, i > 1)", UINT64_C(52) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.exists(i, i > 1)",
      UINT64_C(62) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.exists_one(i, i > 1)",
      UINT64_C(43) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.map(i, i + 1).size() > 1",
      UINT64_C(154) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.filter(i, i > 1).size() > 1",
      UINT64_C(164) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.size() > 1", UINT64_C(3) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self[0] > 1", UINT64_C(3) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "1 in self", UINT64_C(11) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.sum() > 1", UINT64_C(12) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.max() > 1", UINT64_C(12) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.isSorted()", UINT64_C(11) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.indexOf(1) > 1", UINT64_C(12) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self == [1, 2]", UINT64_C(12) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self + self == [1, 2]",
      UINT64_C(14) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.sort() == self", UINT64_C(214) },
    { "{type: array, maxItems: 10, items: {type: integer}}",
      "self.distinct().size() == self.size()", UINT64_C(216) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.reverse()[0] > 1",
      UINT64_C(24) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.slice(0, 2).size() > 1",
      UINT64_C(16) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "sets.contains(self, [1, 2])",
      UINT64_C(32) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "sets.equivalent(self, self)",
      UINT64_C(203) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "sets.intersects(self, [1])",
      UINT64_C(22) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.first().orValue(1) > 1",
      UINT64_C(4) },
    { "{type: array, maxItems: 10, items: {type: integer}}",
      "self.all(i, self.exists(j, j == i + 1))", UINT64_C(752) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.all(i, v, v > i)",
      UINT64_C(62) },
    { "{type: array, maxItems: 10, items: {type: integer}}",
      "self.transformList(i, v, v * i).size() > 1", UINT64_C(164) },
    { "{type: array, maxItems: 10, items: {type: integer}}",
      "self.transformMap(i, v, v * i).size() > 1", UINT64_C(94) },
    { "{type: array, maxItems: 10, items: {type: integer}}",
      "self.map(i, string(i)).join(\",\") == \"a\"", UINT64_C(1844674407370955417) },
    { "{type: array, maxItems: 10, items: {type: integer}}", "self.sortBy(i, -i)[0] > 1",
      UINT64_C(377) },
    { "{type: array, items: {type: string}}", "self.all(s, s.contains(\"a\"))",
      UINT64_C(329857577777) },
    { "{type: array, maxItems: 10, items: {type: string}}", "self.all(s, s.contains(\"a\"))",
      UINT64_C(3145772) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}",
      "self.all(s, s.contains(\"a\"))", UINT64_C(62) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}",
      "self.join(\",\").contains(\"a\")", UINT64_C(43) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}", "self.sort() == self",
      UINT64_C(224) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}", "self.isSorted()",
      UINT64_C(31) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}", "\"a\" in self",
      UINT64_C(11) },
    { "{type: array, maxItems: 10, items: {type: string, maxLength: 5}}",
      "self.map(s, s.size()).sum() > 1", UINT64_C(163) },
    { "{type: array, maxItems: 10, items: {type: string, enum: [a, b]}}",
      "self.all(s, s.contains(\"a\"))", UINT64_C(52) },
    { "{type: array, items: {type: boolean}}", "self.all(b, b)", UINT64_C(2516582) },
    { "{type: array, items: {type: number}}", "self.all(b, b > 1.5)", UINT64_C(7864317) },
    { "{type: array, items: {type: string, format: date}}", "self.all(b, b.getHours() > 1)",
      UINT64_C(1451870) },
    { "{type: array, items: {type: string, format: date-time}}", "self.all(b, b.getHours() > 1)",
      UINT64_C(857924) },
    { "{type: array, items: {type: string, format: duration}}", "self.all(b, b.getHours() > 1)",
      UINT64_C(4718588) },
    { "{type: array, items: {x-kubernetes-int-or-string: true}}", "self.all(b, type(b) == int)",
      UINT64_C(247400339861) },
    { "{type: array, items: {type: array, items: {type: integer}}}", "self.all(r, r.all(i, i > 1))",
      UINT64_C(8246329344002) },
    { "{type: array, maxItems: 5, items: {type: array, maxItems: 4, items: {type: integer}}}",
      "self.all(r, r.all(i, i > 1))", UINT64_C(127) },
    { "{type: array, maxItems: 5, items: {type: array, maxItems: 4, items: {type: integer}}}",
      "self.flatten().size() > 1", UINT64_C(19) },
    { "{type: array, items: {type: object, properties: {b: {type: integer}}}}",
      "self.all(e, e.b > 1)", UINT64_C(6291452) },
    { "{type: array, items: {type: object, required: [b], properties: {b: {type: integer}}}}",
      "self.all(e, e.b > 1)", UINT64_C(2097152) },
    { "{type: array, items: {type: object, required: [b, c], properties: {b: {type: string, "
      "minLength: 9}, c: {type: string}}}}",
      "self.all(e, has(e.b))", UINT64_C(740170) },
    { "{type: array, items: {type: object, required: [b], properties: {b: {type: array, "
      "minItems: 3, items: {type: string, minLength: 2}}}}}",
      "self.all(e, has(e.b))", UINT64_C(1258290) },
    { "{type: array, items: {type: object, required: [b], properties: {b: {type: string, enum: "
      "[abc, abcdef]}}}}",
      "self.all(e, has(e.b))", UINT64_C(1258290) },
    { "{type: array, items: {type: object, required: [b], properties: {b: {type: string, "
      "format: date-time}}}}",
      "self.all(e, has(e.b))", UINT64_C(433894) },
    { "{type: object, additionalProperties: {type: integer}}", "self.all(k, self[k] > 1)",
      UINT64_C(3145725) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}",
      "self.all(k, self[k] > 1)", UINT64_C(72) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}",
      "self.all(k, v, v > 1)", UINT64_C(52) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: string, maxLength: 5}}",
      "self.all(k, self[k].contains(\"a\"))", UINT64_C(82) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: string, maxLength: 5}}",
      "self.all(k, k.contains(\"a\"))", UINT64_C(42) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}", "\"a\" in self",
      UINT64_C(2) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}", "self[\"a\"] > 1",
      UINT64_C(3) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}",
      "self.?a.orValue(1) > 1", UINT64_C(4) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}",
      "self.transformMap(k, v, v + 1).size() > 1", UINT64_C(84) },
    { "{type: object, maxProperties: 10, additionalProperties: {type: integer}}",
      "self.transformMapEntry(k, v, {k: v}).size() > 1", UINT64_C(374) },
    { "{type: object, additionalProperties: {type: array, items: {type: integer}}}",
      "self.all(k, self[k].all(i, i > 1))", UINT64_C(3092369375232) },
    { "{type: object, properties: {b: {type: integer}, c: {type: integer}}}", "self.b < self.c",
      UINT64_C(5) },
    { "{type: object, properties: {b: {type: string, maxLength: 10}, c: {type: string, "
      "maxLength: 20}}}",
      "self.b == self.c", UINT64_C(8) },
    { "{type: object, properties: {b: {type: string, maxLength: 10}, c: {type: string, "
      "maxLength: 20}}}",
      "self.b + self.c == \"a\"", UINT64_C(17) },
    { "{type: object, properties: {b: {type: integer}}}", "has(self.b) ? self.b > 1 : true",
      UINT64_C(4) },
    { "{type: object, properties: {b: {type: integer}}}", "has(self.b)", UINT64_C(1) },
    { "{type: object, properties: {b: {type: integer}}}", "self == oldSelf", UINT64_C(2) },
    { "{type: object, properties: {b: {type: integer}}}", "self.?b.orValue(5) > 1", UINT64_C(4) },
    { "{type: object, properties: {b: {type: array, maxItems: 10, items: {type: string, "
      "maxLength: 5}}}}",
      "self.b.all(s, s in [\"a\", \"b\"])", UINT64_C(163) },
    { "{type: object, properties: {b: {type: array, maxItems: 10, items: {type: string, "
      "maxLength: 5}}, c: {type: string, maxLength: 5}}}",
      "self.c in self.b", UINT64_C(14) },
    { "{type: object, properties: {b: {type: array, maxItems: 10, items: {type: object, "
      "properties: {d: {type: string, maxLength: 5}}}}}}",
      "self.b.exists(e, has(e.d) && e.d == \"x\")", UINT64_C(83) },
    { "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: "
      "integer}}}",
      "self.b > 1", UINT64_C(3) },
};

static void costs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(costs_rows); i++) {
        struct arena a;
        arena_init(&a);
        uint64_t cost = cost_of(&a, costs_rows[i].schema, costs_rows[i].rule);
        if (cost != costs_rows[i].cost)
            fail_msg("%s: %s costs %" PRIu64 ", not %" PRIu64, costs_rows[i].schema,
                     costs_rows[i].rule, cost, costs_rows[i].cost);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
