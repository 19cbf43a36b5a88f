/* x-kubernetes-validations over objects, in kube-apiserver's words. */
#include "base/idiom.h"
#include "schema/schema_test.h"

#define RULES         "x-kubernetes-validations:"
#define KEYED         "x-kubernetes-list-type: map, x-kubernetes-list-map-keys:"
#define LIST          "x-kubernetes-list-type:"
#define EMBEDDED      "x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true"
#define PRESERVE      "x-kubernetes-preserve-unknown-fields: true"
#define INT_OR_STRING "x-kubernetes-int-or-string: true"

static const struct schema_case values_cases[] = {
    { "{type: string, " RULES " [{rule: 'self.startsWith(\"k\")'}]}", "kube", NULL, "" },
    { "{type: string, " RULES " [{rule: 'self.startsWith(\"k\")'}]}", "cube", NULL,
      "a: Invalid value: \"cube\": failed rule: self.startsWith(\"k\")" },
    { "{type: string, maxLength: 5, " RULES " [{rule: 'self.matches(\"^[a-z]+$\")'}]}", "A", NULL,
      "a: Invalid value: \"A\": failed rule: self.matches(\"^[a-z]+$\")" },
    { "{type: integer, " RULES " [{rule: self % 2 == 0}]}", "3", NULL,
      "a: Invalid value: 3: failed rule: self % 2 == 0" },
    { "{type: integer, " RULES " [{rule: 'self < 1.5'}]}", "2", NULL,
      "a: Invalid value: 2: failed rule: self < 1.5" },
    { "{type: number, " RULES " [{rule: self < 1.5}]}", "1.5", NULL,
      "a: Invalid value: 1.5: failed rule: self < 1.5" },
    { "{type: number, " RULES " [{rule: self == 1.0}]}", "1", NULL, "" },
    { "{type: boolean, " RULES " [{rule: self}]}", "false", NULL,
      "a: Invalid value: false: failed rule: self" },
    { "{type: boolean, " RULES " [{rule: '!self'}]}", "true", NULL,
      "a: Invalid value: true: failed rule: !self" },
    { "{type: string, format: date-time, " RULES
      " [{rule: 'self > timestamp(\"2020-01-01T00:00:00Z\")'}]}",
      "'2019-01-01T00:00:00Z'", NULL,
      "a: Invalid value: \"2019-01-01T00:00:00Z\": failed rule: self > "
      "timestamp(\"2020-01-01T00:00:00Z\")" },
    { "{type: string, format: date, " RULES " [{rule: 'self.getFullYear() > 2020'}]}",
      "'2019-01-01'", NULL,
      "a: Invalid value: \"2019-01-01\": failed rule: self.getFullYear() > 2020" },
    { "{type: string, format: duration, " RULES " [{rule: 'self < duration(\"1h\")'}]}", "90m",
      NULL, "a: Invalid value: \"90m\": failed rule: self < duration(\"1h\")" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"hi\"'}]}", "aGk=", NULL, "" },
    { "{type: string, format: byte, " RULES " [{rule: 'size(self) == 3'}]}", "aGk=", NULL,
      "a: Invalid value: \"aGk=\": failed rule: size(self) == 3" },
    { "{type: string, format: uri, " RULES " [{rule: 'url(self).getHost() == \"a\"'}]}",
      "'https://b/'", NULL,
      "a: Invalid value: \"https://b/\": failed rule: url(self).getHost() == \"a\"" },
    { "{type: array, items: {type: integer}, " RULES " [{rule: 'self.all(i, i > 0)'}]}", "[1, 0]",
      NULL, "a: Invalid value: failed rule: self.all(i, i > 0)" },
    { "{type: array, items: {type: integer}, " RULES " [{rule: 'self.sum() == 6'}]}", "[1, 2, 3]",
      NULL, "" },
    { "{type: array, items: {type: string}, " RULES " [{rule: 'self.isSorted()'}]}", "[b, a]", NULL,
      "a: Invalid value: failed rule: self.isSorted()" },
    { "{type: array, " LIST " set, items: {type: string}, " RULES
      " [{rule: 'self == [\"b\", \"a\"]'}]}",
      "[a, b]", NULL, "" },
    { "{type: array, items: {type: string}, " RULES " [{rule: 'self == [\"b\", \"a\"]'}]}",
      "[a, b]", NULL, "a: Invalid value: failed rule: self == [\"b\", \"a\"]" },
    { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
      "{type: string}, v: {type: integer}}}, " RULES
      " [{rule: 'self.exists(e, e.k == \"p\" && e.v > 1)'}]}",
      "[{k: p, v: 1}]", NULL,
      "a: Invalid value: failed rule: self.exists(e, e.k == \"p\" && e.v > 1)" },
    { "{type: object, additionalProperties: {type: integer}, " RULES
      " [{rule: 'self.all(k, self[k] > 0)'}]}",
      "{p: 0}", NULL, "a: Invalid value: failed rule: self.all(k, self[k] > 0)" },
    { "{type: object, additionalProperties: {type: integer}, " RULES " [{rule: '\"p\" in self'}]}",
      "{q: 0}", NULL, "a: Invalid value: failed rule: \"p\" in self" },
    { "{type: object, additionalProperties: {type: string}, " RULES " [{rule: 'self.p == \"x\"'}]}",
      "{q: x}", NULL,
      "a: Invalid value: \"object\": no such key: p evaluating rule: self.p == \"x\"" },
    { "{type: object, properties: {b: {type: integer}, c: {type: integer}}, " RULES
      " [{rule: self.b <= self.c}]}",
      "{b: 2, c: 1}", NULL, "a: Invalid value: failed rule: self.b <= self.c" },
    { "{type: object, properties: {b: {type: integer}, c: {type: integer}}, " RULES
      " [{rule: self.b <= self.c}]}",
      "{b: 2}", NULL,
      "a: Invalid value: \"object\": no such key: c evaluating rule: self.b <= self.c" },
    { "{type: object, properties: {b: {type: integer}}, " RULES
      " [{rule: '!has(self.b) || self.b > 0'}]}",
      "{}", NULL, "" },
    { "{type: object, properties: {b: {type: integer}}, " RULES
      " [{rule: '!has(self.b) || self.b > 0'}]}",
      "{b: 0}", NULL, "a: Invalid value: failed rule: !has(self.b) || self.b > 0" },
    { "{type: object, properties: {b: {type: integer, default: 5}}, " RULES
      " [{rule: 'self.b == 5'}]}",
      "{b: 6}", NULL, "a: Invalid value: failed rule: self.b == 5" },
    { "{type: object, properties: {b: {type: string, nullable: true}}, " RULES
      " [{rule: 'has(self.b)'}]}",
      "{b: null}", NULL, "a: Invalid value: failed rule: has(self.b)" },
    { "{type: object, properties: {b: {type: string, nullable: true}}, " RULES
      " [{rule: 'self.?b.orValue(\"x\") == \"y\"'}]}",
      "{b: null}", NULL, "a: Invalid value: failed rule: self.?b.orValue(\"x\") == \"y\"" },
    { "{type: object, properties: {b-c: {type: integer}, d.e: {type: integer}, f/g: {type: "
      "integer}, in: {type: integer}, namespace: {type: integer}, h__i: {type: "
      "integer}}, " RULES " [{rule: 'self.b__dash__c + self.d__dot__e + self.f__slash__g + "
      "self.__in__ + self.__namespace__ + self.h__underscores__i == 0'}]}",
      "{b-c: 1, d.e: 1, f/g: 1, in: 1, namespace: 1, h__i: 1}", NULL,
      "a: Invalid value: failed rule: self.b__dash__c + self.d__dot__e + self.f__slash__g + "
      "self.__in__ + self.__namespace__ + self.h__underscores__i == 0" },
    { "{" INT_OR_STRING ", " RULES
      " [{rule: 'type(self) == int ? self < 10 : self.endsWith(\"%\")'}]}",
      "11", NULL,
      "a: Invalid value: 11: failed rule: type(self) == int ? self < 10 : "
      "self.endsWith(\"%\")" },
    { "{" INT_OR_STRING ", " RULES
      " [{rule: 'type(self) == int ? self < 10 : self.endsWith(\"%\")'}]}",
      "'11'", NULL,
      "a: Invalid value: \"11\": failed rule: type(self) == int ? self < 10 : "
      "self.endsWith(\"%\")" },
    { "{" INT_OR_STRING ", " RULES
      " [{rule: 'type(self) == int ? self < 10 : self.endsWith(\"%\")'}]}",
      "11%", NULL, "" },
    { "{type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}, " RULES
      " [{rule: 'self.b.c > 0'}]}",
      "{b: {c: 0}}", NULL, "a: Invalid value: failed rule: self.b.c > 0" },
    { "{type: object, " PRESERVE ", properties: {b: {type: integer}}, " RULES
      " [{rule: 'self.b > 0'}]}",
      "{b: 0, c: 1}", NULL, "a: Invalid value: failed rule: self.b > 0" },
    { "{type: object, properties: {b: {type: object, " EMBEDDED "}}, " RULES
      " [{rule: 'self.b.kind == \"Pod\" && self.b.metadata.name == \"p\"'}]}",
      "{b: {apiVersion: v1, kind: Pod, metadata: {name: q}}}", NULL,
      "a: Invalid value: failed rule: self.b.kind == \"Pod\" && self.b.metadata.name == "
      "\"p\"" },
    { "{type: string, enum: [x, z], " RULES " [{rule: 'self in [\"x\"]'}]}", "z", NULL,
      "a: Invalid value: \"z\": failed rule: self in [\"x\"]" },
};

/* What self is, by the type of the schema. */
static void values(void **state)
{
    (void)state;
    check_schema_cases(ASPECT_RULES, values_cases, ARRAY_LEN(values_cases));
}

/* Rules stand at every level and are told with their path. */
static void places(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: array, items: {type: string, " RULES " [{rule: 'self != \"x\"'}]}}", "[w, x]",
          NULL, "a[1]: Invalid value: \"x\": failed rule: self != \"x\"" },
        { "{type: array, items: {type: array, items: {type: integer, " RULES
          " [{rule: self > 0}]}}}",
          "[[1], [1, 0]]", NULL, "a[1][1]: Invalid value: 0: failed rule: self > 0" },
        { "{type: array, items: {type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b > 0}]}}",
          "[{b: 1}, {b: 0}]", NULL, "a[1]: Invalid value: failed rule: self.b > 0" },
        { "{type: object, additionalProperties: {type: integer, " RULES " [{rule: self > 0}]}}",
          "{k.l: 0}", NULL, "a[k.l]: Invalid value: 0: failed rule: self > 0" },
        { "{type: object, additionalProperties: {type: object, properties: {b: {type: "
          "integer, " RULES " [{rule: self > 0}]}}}}",
          "{k: {b: 0}}", NULL, "a[k].b: Invalid value: 0: failed rule: self > 0" },
        { "{type: object, properties: {b: {type: integer, " RULES
          " [{rule: self > 0}, {rule: self > 1, message: more}]}}}",
          "{b: 0}", NULL,
          "a.b: Invalid value: 0: failed rule: self > 0\na.b: Invalid value: 0: more" },
        { "{type: object, properties: {b: {type: integer, " RULES " [{rule: self > 0}]}}, " RULES
          " [{rule: self.b > 1, message: more}]}",
          "{b: 0}", NULL, "a: Invalid value: more\na.b: Invalid value: 0: failed rule: self > 0" },
        { "{type: string, nullable: true, " RULES " [{rule: 'self != \"\"'}]}", "null", NULL, "" },
        { "{type: object, nullable: true, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b > 1}]}",
          "null", NULL, "" },
        { "{type: array, items: {type: string, nullable: true, " RULES
          " [{rule: 'self != \"\"'}]}}",
          "[null, '']", NULL, "a[1]: Invalid value: \"\": failed rule: self != \"\"" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

/* message, messageExpression, reason and fieldPath. */
static void messages(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, " RULES " [{rule: self > 5, message: 'must be more than five'}]}", "1",
          NULL, "a: Invalid value: 1: must be more than five" },
        { "{type: integer, " RULES " [{rule: \"self > 5 &&\\n self < 9\"}]}", "1", NULL,
          "a: Invalid value: 1: failed rule: self > 5 &&\n self < 9" },
        { "{type: integer, " RULES " [{rule: ' self > 5 '}]}", "1", NULL,
          "a: Invalid value: 1: failed rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > 5, message: ' padded '}]}", "1", NULL,
          "a: Invalid value: 1: padded" },
        { "{type: integer, " RULES
          " [{rule: self > 5, messageExpression: '\"is \" + string(self)'}]}",
          "1", NULL, "a: Invalid value: 1: is 1" },
        { "{type: integer, " RULES
          " [{rule: self > 5, message: fallback, messageExpression: '\"is \" + string(self)'}]}",
          "1", NULL, "a: Invalid value: 1: is 1" },
        { "{type: integer, " RULES
          " [{rule: self > 5, message: fallback, messageExpression: '[\"\"][self]'}]}",
          "1", NULL, "a: Invalid value: 1: fallback" },
        { "{type: integer, " RULES " [{rule: self > 5, messageExpression: '[\"\"][self]'}]}", "1",
          NULL, "a: Invalid value: 1: failed rule: self > 5" },
        { "{type: integer, " RULES
          " [{rule: self > 5, message: fallback, messageExpression: '\"\"'}]}",
          "1", NULL, "a: Invalid value: 1: fallback" },
        { "{type: integer, " RULES
          " [{rule: self > 5, message: fallback, messageExpression: '\"a\\nb\"'}]}",
          "1", NULL, "a: Invalid value: 1: fallback" },
        { "{type: integer, " RULES
          " [{rule: self > 5, messageExpression: '\"%d is %s\".format([self, \"small\"])'}]}",
          "1", NULL, "a: Invalid value: 1: 1 is small" },
        { "{type: integer, " RULES " [{rule: self >= oldSelf, messageExpression: '\"from \" + "
          "string(oldSelf) + \" to \" + string(self)'}]}",
          "1", "2", "a: Invalid value: 1: from 2 to 1" },
        { "{type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b > 5, messageExpression: '\"b is \" + string(self.b)'}]}",
          "{b: 1}", NULL, "a: Invalid value: b is 1" },
        { "{type: integer, " RULES " [{rule: self > 5, reason: FieldValueInvalid}]}", "1", NULL,
          "a: Invalid value: 1: failed rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > 5, reason: FieldValueForbidden}]}", "1", NULL,
          "a: Forbidden: failed rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > 5, reason: FieldValueRequired}]}", "1", NULL,
          "a: Required value: failed rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > 5, reason: FieldValueDuplicate}]}", "1", NULL,
          "a: Duplicate value: 1" },
        { "{type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b > 5, fieldPath: .b}]}",
          "{b: 1}", NULL, "a.b: Invalid value: failed rule: self.b > 5" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}, " RULES
          " [{rule: self.b.c > 5, fieldPath: .b.c, reason: FieldValueForbidden}]}",
          "{b: {c: 1}}", NULL, "a.b.c: Forbidden: failed rule: self.b.c > 5" },
        { "{type: object, properties: {b.c: {type: integer}}, " RULES
          " [{rule: self.b__dot__c > 5, fieldPath: \"['b.c']\"}]}",
          "{b.c: 1}", NULL, "a.b.c: Invalid value: failed rule: self.b__dot__c > 5" },
        { "{type: object, properties: {b: {type: object, additionalProperties: {type: "
          "integer}}}, " RULES " [{rule: 'self.b.p > 5', fieldPath: \"['b']['p']\"}]}",
          "{b: {p: 1}}", NULL, "a.b[p]: Invalid value: failed rule: self.b.p > 5" },
        { "{type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: has(self.b), fieldPath: .b, reason: FieldValueRequired, message: b is "
          "needed}]}",
          "{}", NULL, "a.b: Required value: b is needed" },
        { "{type: array, items: {type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b > 5, fieldPath: .b}]}}",
          "[{b: 1}]", NULL, "a[0].b: Invalid value: failed rule: self.b > 5" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

/* Rules that cannot be compiled or evaluated. */
static void failures(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, " RULES " [{rule: self.b > 5}]}", "1", NULL,
          "a: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: "
          "<input>:1:5: type 'int' does not support field selection\n | self.b > 5\n | ....^" },
        { "{type: integer, " RULES " [{rule: self >}]}", "1", NULL,
          "a: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: "
          "<input>:1:7: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', "
          "'!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
          "IDENTIFIER}\n | self >\n | ......^" },
        { "{type: integer, " RULES " [{rule: self + 1}]}", "1", NULL,
          "a: Invalid value: \"integer\": rule compile error: cel expression must evaluate to a "
          "bool" },
        { "{type: integer, " RULES " [{rule: 1 / (self - 1) > 0}]}", "1", NULL,
          "a: Invalid value: \"integer\": division by zero evaluating rule: 1 / (self - 1) > 0" },
        { "{type: integer, " RULES " [{rule: 1 / (self - 1) > 0, message: not one}]}", "1", NULL,
          "a: Invalid value: \"integer\": division by zero evaluating rule: not one" },
        { "{type: array, items: {type: integer}, " RULES " [{rule: 'self[3] > 0'}]}", "[1]", NULL,
          "a: Invalid value: \"array\": index out of bounds: 3 evaluating rule: self[3] > 0" },
        { "{type: object, additionalProperties: {type: integer}, " RULES
          " [{rule: 'self[\"p\"] > 0'}]}",
          "{}", NULL,
          "a: Invalid value: \"object\": no such key: p evaluating rule: self[\"p\"] > 0" },
        { "{type: string, " RULES " [{rule: 'int(self) > 0'}]}", "x", NULL,
          "a: Invalid value: \"string\": type conversion error from 'string' to 'int' evaluating "
          "rule: int(self) > 0" },
        { "{type: string, " RULES " [{rule: 'quantity(self).isLessThan(quantity(\"1\"))'}]}", "x",
          NULL,
          "a: Invalid value: \"string\": quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: "
          "quantity(self).isLessThan(quantity(\"1\"))" },
        { "{type: string, " RULES " [{rule: 'self.matches(\"(\")'}]}", "x", NULL,
          "a: Invalid value: \"string\": rule compile error: compilation failed: ERROR: "
          "<input>:1:14: invalid matches argument\n | self.matches(\"(\")\n | .............^" },
        { "{type: string, format: date-time, " RULES " [{rule: 'self.getHours() > 1'}]}", "x", NULL,
          "a: Invalid value: \"string\": Invalid date-time formatted string x: parsing time \"x\" "
          "as \"2006-01-02T15:04:05\": cannot parse \"x\" as \"2006\" evaluating rule: "
          "self.getHours() > 1" },
        { "{type: string, format: duration, " RULES " [{rule: 'self.getHours() > 1'}]}", "x", NULL,
          "a: Invalid value: \"string\": Invalid duration x: unable to parse x as duration "
          "evaluating rule: self.getHours() > 1" },
        { "{type: integer, " RULES " [{rule: ''}]}", "1", NULL, "" },
        { "{type: integer, " RULES " [{rule: 'true'}]}", "1", NULL, "" },
        { "{type: integer, " RULES " [{rule: 'false'}]}", "1", NULL,
          "a: Invalid value: 1: failed rule: false" },
        { "{type: integer, " RULES " [{rule: self > 5}]}", "x", NULL,
          "a: Invalid value: \"integer\": invalid data, expected int, got string evaluating rule: "
          "self > 5" },
        { "{type: object, properties: {b: {type: integer}}, " RULES " [{rule: self.b > 5}]}", "[]",
          NULL,
          "a: Invalid value: \"object\": invalid data, expected a map for the provided schema with "
          "type=object evaluating rule: self.b > 5" },
        { "{type: array, items: {type: integer}, " RULES " [{rule: self.size() > 5}]}", "{}", NULL,
          "a: Invalid value: \"array\": invalid data, expected an array for the provided schema "
          "with type=array evaluating rule: self.size() > 5" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

/* oldSelf: only where there was something before, and where it can be found. */
static void transitions(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, " RULES " [{rule: self >= oldSelf}]}", "1", NULL, "" },
        { "{type: integer, " RULES " [{rule: self >= oldSelf}]}", "1", "2",
          "a: Invalid value: 1: failed rule: self >= oldSelf" },
        { "{type: integer, " RULES " [{rule: self == oldSelf, message: immutable}]}", "1", "1",
          "" },
        { "{type: string, " RULES " [{rule: self == oldSelf, message: immutable}]}", "x", "z",
          "a: Invalid value: \"x\": immutable" },
        { "{type: string, nullable: true, " RULES " [{rule: self == oldSelf, message: immutable}]}",
          "x", "null", "" },
        { "{type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: self.b >= oldSelf.b}]}",
          "{b: 1}", "{b: 2}", "a: Invalid value: failed rule: self.b >= oldSelf.b" },
        { "{type: object, properties: {b: {type: integer}}, " RULES
          " [{rule: '!has(oldSelf.b) || has(self.b)', message: b stays}]}",
          "{}", "{b: 2}", "a: Invalid value: b stays" },
        { "{type: object, properties: {b: {type: integer, " RULES " [{rule: self >= oldSelf}]}}}",
          "{b: 1}", "{}", "" },
        { "{type: object, additionalProperties: {type: integer, " RULES
          " [{rule: self >= oldSelf}]}}",
          "{p: 1, q: 1}", "{p: 2}", "a[p]: Invalid value: 1: failed rule: self >= oldSelf" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: integer, " RULES " [{rule: self >= oldSelf}]}}}}",
          "[{k: q, v: 1}, {k: p, v: 1}]", "[{k: p, v: 2}]",
          "a[1].v: Invalid value: 1: failed rule: self >= oldSelf" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: integer}}, " RULES " [{rule: self.v >= oldSelf.v}]}}",
          "[{k: q, v: 1}, {k: p, v: 1}]", "[{k: p, v: 2}]",
          "a[1]: Invalid value: failed rule: self.v >= oldSelf.v" },
        { "{type: array, " KEYED " [k, l], items: {type: object, required: [k, l], properties: {k: "
          "{type: string}, l: {type: integer}, v: {type: integer}}, " RULES
          " [{rule: self.v >= oldSelf.v}]}}",
          "[{k: p, l: 1, v: 1}, {k: p, l: 2, v: 1}]", "[{k: p, l: 2, v: 2}]",
          "a[1]: Invalid value: failed rule: self.v >= oldSelf.v" },
        { "{type: array, items: {type: integer}, " RULES
          " [{rule: 'oldSelf.all(i, i in self)', message: only grows}]}",
          "[1]", "[1, 2]", "a: Invalid value: only grows" },
        { "{type: array, " LIST " set, items: {type: string}, " RULES " [{rule: self == oldSelf}]}",
          "[a, b]", "[b, a]", "" },
        { "{type: array, items: {type: string}, " RULES " [{rule: self == oldSelf}]}", "[a, b]",
          "[b, a]", "a: Invalid value: failed rule: self == oldSelf" },
        { "{type: array, " KEYED
          " [k], items: {type: object, required: [k], properties: {k: {type: string}}}, " RULES
          " [{rule: self == oldSelf}]}",
          "[{k: a}, {k: b}]", "[{k: b}, {k: a}]", "" },
        { "{type: object, x-kubernetes-map-type: atomic, properties: {b: {type: integer}}, " RULES
          " [{rule: self == oldSelf}]}",
          "{b: 1}", "{b: 2}", "a: Invalid value: failed rule: self == oldSelf" },
        { "{type: integer, " RULES
          " [{rule: 'oldSelf.orValue(5) <= self', optionalOldSelf: true}]}",
          "1", NULL, "a: Invalid value: 1: failed rule: oldSelf.orValue(5) <= self" },
        { "{type: integer, " RULES
          " [{rule: 'oldSelf.orValue(5) <= self', optionalOldSelf: true}]}",
          "1", "1", "" },
        { "{type: integer, " RULES
          " [{rule: 'oldSelf.hasValue() == false', optionalOldSelf: true, message: only once}]}",
          "1", "1", "a: Invalid value: 1: only once" },
        { "{type: integer, " RULES
          " [{rule: 'oldSelf.optMap(o, o < self).orValue(true)', optionalOldSelf: true}]}",
          "1", "2", "a: Invalid value: 1: failed rule: oldSelf.optMap(o, o < self).orValue(true)" },
        { "{type: integer, " RULES " [{rule: 'oldSelf.value() < self', optionalOldSelf: true}]}",
          "1", NULL,
          "a: Invalid value: \"integer\": optional.none() dereference evaluating rule: "
          "oldSelf.value() < self" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

/* What fails but did not change is only warned about. */
static void ratchets(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, " RULES " [{rule: self > 5}]}", "1", "1",
          "WARN a: Invalid value: 1: failed rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > 5}]}", "2", "1",
          "a: Invalid value: 2: failed rule: self > 5" },
        { "{type: integer, " RULES
          " [{rule: self > 5, message: small, reason: FieldValueForbidden}]}",
          "1", "1", "WARN a: Forbidden: small" },
        { "{type: object, properties: {b: {type: integer, " RULES
          " [{rule: self > 5}]}, c: {type: integer}}}",
          "{b: 1, c: 2}", "{b: 1, c: 1}", "WARN a.b: Invalid value: 1: failed rule: self > 5" },
        { "{type: object, properties: {b: {type: integer}, c: {type: integer}}, " RULES
          " [{rule: self.b > 5}]}",
          "{b: 1, c: 2}", "{b: 1, c: 1}", "a: Invalid value: failed rule: self.b > 5" },
        { "{type: array, items: {type: integer, " RULES " [{rule: self > 5}]}}", "[1]", "[1]",
          "WARN a[0]: Invalid value: 1: failed rule: self > 5" },
        { "{type: array, items: {type: integer, " RULES " [{rule: self > 5}]}}", "[1, 6]", "[1]",
          "a[0]: Invalid value: 1: failed rule: self > 5" },
        { "{type: array, " LIST " set, items: {type: integer, " RULES " [{rule: self > 5}]}}",
          "[1, 6]", "[1]", "a[0]: Invalid value: 1: failed rule: self > 5" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: integer, " RULES " [{rule: self > 5}]}}}}",
          "[{k: q, v: 6}, {k: p, v: 1}]", "[{k: p, v: 1}]",
          "WARN a[1].v: Invalid value: 1: failed rule: self > 5" },
        { "{type: object, additionalProperties: {type: integer, " RULES " [{rule: self > 5}]}}",
          "{p: 1, q: 1}", "{p: 1}",
          "a[q]: Invalid value: 1: failed rule: self > 5\nWARN a[p]: Invalid value: 1: failed "
          "rule: self > 5" },
        { "{type: integer, " RULES " [{rule: self > oldSelf}]}", "1", "1",
          "a: Invalid value: 1: failed rule: self > oldSelf" },
        { "{type: integer, " RULES " [{rule: self.b > 5}]}", "1", "1",
          "a: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: "
          "<input>:1:5: type 'int' does not support field selection\n | self.b > 5\n | ....^" },
        { "{type: integer, " RULES " [{rule: 1 / (self - 1) > 5}]}", "1", "1",
          "a: Invalid value: \"integer\": division by zero evaluating rule: 1 / (self - 1) > 5" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

/* Rules inside of allOf and the like. */
static void alternatives(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, additionalProperties: {type: object, properties: {b: {type: "
          "integer}}}, " RULES " [{rule: 'self.p.b > 5', fieldPath: \"['p'].b\"}]}",
          "{p: {b: 1}}", NULL, "a.[p].b: Invalid value: failed rule: self.p.b > 5" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}, " RULES
          " [{rule: 'self.b.c > 5', fieldPath: \"['b']['c']\"}]}",
          "{b: {c: 1}}", NULL, "a.b.c: Invalid value: failed rule: self.b.c > 5" },
    };
    check_schema_cases(ASPECT_RULES, cases, ARRAY_LEN(cases));
}

static const struct schema_case times_cases[] = {
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"72h\")'}]}", "3 days",
      NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"1s\")'}]}", "3 days",
      NULL, "a: Invalid value: \"3 days\": failed rule: self == duration(\"1s\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"169h\")'}]}",
      "1 week 1 hour", NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"1s\")'}]}", "x", NULL,
      "a: Invalid value: \"string\": Invalid duration x: unable to parse x as duration "
      "evaluating rule: self == duration(\"1s\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"1s\")'}]}", "''",
      NULL,
      "a: Invalid value: \"string\": Invalid duration : unable to parse  as duration "
      "evaluating rule: self == duration(\"1s\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"2m\")'}]}",
      "2 MINUTES", NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"2m\")'}]}",
      "2 fortnights", NULL,
      "a: Invalid value: \"string\": Invalid duration 2 fortnights: unable to parse 2 "
      "fortnights as duration evaluating rule: self == duration(\"2m\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"5ms\")'}]}",
      "5 milliseconds", NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"5us\")'}]}", "5µs",
      NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"-1h\")'}]}", "-1h",
      NULL, "" },
    { "{type: string, format: date-time, " RULES
      " [{rule: 'self == timestamp(\"2020-01-01T00:00:00Z\")'}]}",
      "'2020-01-01T00:00:00'", NULL, "" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}", "''", NULL,
      "" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}", "'x'", NULL,
      "a: Invalid value: \"string\": Invalid date-time formatted string x: parsing time \"x\" "
      "as \"2006-01-02T15:04:05\": cannot parse \"x\" as \"2006\" evaluating rule: self == "
      "timestamp(0)" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}",
      "'2020-01-01'", NULL,
      "a: Invalid value: \"string\": Invalid date-time formatted string 2020-01-01: parsing "
      "time \"2020-01-01\" as \"2006-01-02T15:04:05\": cannot parse \"\" as \"T\" evaluating "
      "rule: self == timestamp(0)" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}",
      "'2020-13-01T00:00:00Z'", NULL,
      "a: Invalid value: \"string\": Invalid date-time formatted string 2020-13-01T00:00:00Z: "
      "parsing time \"2020-13-01T00:00:00Z\": month out of range evaluating rule: self == "
      "timestamp(0)" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self.getMilliseconds() == 500'}]}",
      "'2020-01-01T00:00:00.5+01:00'", NULL, "" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self.getMilliseconds() == 5'}]}",
      "'2020-01-01T00:00:00.5+01:00'", NULL,
      "a: Invalid value: \"2020-01-01T00:00:00.5+01:00\": failed rule: self.getMilliseconds() "
      "== 5" },
    { "{type: string, format: date, " RULES
      " [{rule: 'self == timestamp(\"2020-01-02T00:00:00Z\")'}]}",
      "'2020-01-02'", NULL, "" },
    { "{type: string, format: date, " RULES
      " [{rule: 'self == timestamp(\"2020-01-02T00:00:00Z\")'}]}",
      "x", NULL,
      "a: Invalid value: \"string\": Invalid date formatted string x: parsing time \"x\" as "
      "\"2006-01-02\": cannot parse \"x\" as \"2006\" evaluating rule: self == "
      "timestamp(\"2020-01-02T00:00:00Z\")" },
    { "{type: string, format: date, " RULES
      " [{rule: 'self == timestamp(\"2020-01-02T00:00:00Z\")'}]}",
      "'2020-02-30'", NULL,
      "a: Invalid value: \"string\": Invalid date formatted string 2020-02-30: parsing time "
      "\"2020-02-30\": day out of range evaluating rule: self == "
      "timestamp(\"2020-01-02T00:00:00Z\")" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'***'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string ***: illegal base64 data at "
      "input byte 0 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "''", NULL, "" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'aGk'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string aGk: illegal base64 data at "
      "input byte 0 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'aGk=='", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string aGk==: illegal base64 data "
      "at input byte 4 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'a==='", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string a===: illegal base64 data "
      "at input byte 1 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'ab=c'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string ab=c: illegal base64 data "
      "at input byte 2 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'ab='", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string ab=: illegal base64 data at "
      "input byte 3 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'abcdef'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string abcdef: illegal base64 data "
      "at input byte 4 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'abc=d'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string abc=d: illegal base64 data "
      "at input byte 4 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'ab==cd'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string ab==cd: illegal base64 data "
      "at input byte 4 evaluating rule: self == b\"\"" },
    { "{type: string, format: byte, " RULES " [{rule: 'self == b\"\"'}]}", "'abcde*'", NULL,
      "a: Invalid value: \"string\": Invalid byte formatted string abcde*: illegal base64 data "
      "at input byte 5 evaluating rule: self == b\"\"" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"1s\")'}]}",
      "99999999999999999999 days", NULL,
      "a: Invalid value: \"string\": Invalid duration 99999999999999999999 days: strconv.Atoi: "
      "parsing \"99999999999999999999\": value out of range evaluating rule: self == "
      "duration(\"1s\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"25h\")'}]}", "1d1h",
      NULL, "" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"25h\")'}]}",
      "about 1 Day, and 1 hr.", NULL,
      "a: Invalid value: \"about 1 Day\": failed rule: self == duration(\"25h\")" },
    { "{type: string, format: duration, " RULES " [{rule: 'self == duration(\"1h\")'}]}", "1 month",
      NULL,
      "a: Invalid value: \"string\": Invalid duration 1 month: unable to parse 1 month as "
      "duration evaluating rule: self == duration(\"1h\")" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}",
      "'2020-01-01T00:00:00x'", NULL,
      "a: Invalid value: \"string\": Invalid date-time formatted string 2020-01-01T00:00:00x: "
      "parsing time \"2020-01-01T00:00:00x\": extra text: \"x\" evaluating rule: self == "
      "timestamp(0)" },
    { "{type: string, format: date-time, " RULES " [{rule: 'self == timestamp(0)'}]}",
      "'2020-01-01T00:00'", NULL,
      "a: Invalid value: \"string\": Invalid date-time formatted string 2020-01-01T00:00: "
      "parsing time \"2020-01-01T00:00\" as \"2006-01-02T15:04:05\": cannot parse \"\" as "
      "\":\" evaluating rule: self == timestamp(0)" },
    { "{type: string, format: date, " RULES " [{rule: 'self == timestamp(0)'}]}", "'2020-01-0x'",
      NULL,
      "a: Invalid value: \"string\": Invalid date formatted string 2020-01-0x: parsing time "
      "\"2020-01-0x\" as \"2006-01-02\": cannot parse \"0x\" as \"02\" evaluating rule: self "
      "== timestamp(0)" },
};

/* Times and durations are read as formats read them. */
static void times(void **state)
{
    (void)state;
    check_schema_cases(ASPECT_RULES, times_cases, ARRAY_LEN(times_cases));
}

static const struct schema_case typical_cases[] = {
    { "{type: object, properties: {minReplicas: {type: integer}, replicas: {type: integer}, "
      "maxReplicas: {type: integer}}, " RULES
      " [{rule: 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas', "
      "message: replicas within bounds}]}",
      "{minReplicas: 1, replicas: 5, maxReplicas: 3}", NULL,
      "a: Invalid value: replicas within bounds" },
    { "{type: object, properties: {minReplicas: {type: integer}, replicas: {type: integer}, "
      "maxReplicas: {type: integer}}, " RULES
      " [{rule: 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas', "
      "message: replicas within bounds}]}",
      "{minReplicas: 1, replicas: 2, maxReplicas: 3}", NULL, "" },
    { "{type: object, properties: {start: {type: string, format: date-time}, end: {type: "
      "string, format: date-time}}, " RULES " [{rule: 'self.start < self.end', fieldPath: .end}]}",
      "{start: '2024-01-02T00:00:00Z', end: '2024-01-01T00:00:00Z'}", NULL,
      "a.end: Invalid value: failed rule: self.start < self.end" },
    { "{type: object, properties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: "
      "{type: object}}, " RULES
      " [{rule: 'self.type == \"A\" ? has(self.a) : has(self.b)', messageExpression: '\"needs "
      "\" + self.type.lowerAscii()', reason: FieldValueRequired}]}",
      "{type: A, b: {}}", NULL, "a: Required value: needs a" },
    { "{type: object, properties: {b: {type: string}, c: {type: string}}, " RULES
      " [{rule: '[has(self.b), has(self.c)].exists_one(x, x)', message: exactly one of b and "
      "c}]}",
      "{b: x, c: x}", NULL, "a: Invalid value: exactly one of b and c" },
    { "{type: object, properties: {b: {type: string}, c: {type: string}}, " RULES
      " [{rule: '[has(self.b), has(self.c)].exists_one(x, x)', message: exactly one of b and "
      "c}]}",
      "{c: x}", NULL, "" },
    { "{type: object, properties: {storageClass: {type: string}}, " RULES
      " [{rule: '!has(oldSelf.storageClass) || (has(self.storageClass) && self.storageClass == "
      "oldSelf.storageClass)', message: storageClass is immutable once set}]}",
      "{storageClass: fast}", "{storageClass: slow}",
      "a: Invalid value: storageClass is immutable once set" },
    { "{type: object, properties: {storageClass: {type: string}}, " RULES
      " [{rule: '!has(oldSelf.storageClass) || (has(self.storageClass) && self.storageClass == "
      "oldSelf.storageClass)', message: storageClass is immutable once set}]}",
      "{storageClass: fast}", "{}", "" },
    { "{type: object, properties: {size: {type: string}}, " RULES
      " [{rule: 'quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0', message: may not "
      "shrink}]}",
      "{size: 1Gi}", "{size: 1G}", "" },
    { "{type: object, properties: {size: {type: string}}, " RULES
      " [{rule: 'quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0', message: may not "
      "shrink}]}",
      "{size: 1G}", "{size: 1Gi}", "a: Invalid value: may not shrink" },
    { "{type: string, " RULES " [{rule: 'isCIDR(self) && cidr(self) == cidr(self).masked()', "
      "message: must be a network}]}",
      "10.0.0.1/8", NULL, "a: Invalid value: \"10.0.0.1/8\": must be a network" },
    { "{type: string, " RULES " [{rule: 'isCIDR(self) && cidr(self) == cidr(self).masked()', "
      "message: must be a network}]}",
      "10.0.0.0/8", NULL, "" },
    { "{type: string, " RULES " [{rule: 'isURL(self) && url(self).getScheme() in [\"http\", "
      "\"https\"]', message: must be a web address}]}",
      "'ftp://a/'", NULL, "a: Invalid value: \"ftp://a/\": must be a web address" },
    { "{type: string, " RULES
      " [{rule: '!format.dns1123Subdomain().validate(self).hasValue()', messageExpression: "
      "'format.dns1123Subdomain().validate(self).value()[0]'}]}",
      "A_b", NULL,
      "a: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case "
      "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
    { "{type: string, " RULES
      " [{rule: 'isSemver(self) && semver(self).isLessThan(semver(\"2.0.0\"))'}]}",
      "2.1.0", NULL,
      "a: Invalid value: \"2.1.0\": failed rule: isSemver(self) && "
      "semver(self).isLessThan(semver(\"2.0.0\"))" },
    { "{type: array, items: {type: object, properties: {name: {type: string}, port: {type: "
      "integer}}}, " RULES " [{rule: 'self.all(x, self.exists_one(z, z.name == x.name))', "
      "message: names are unique}]}",
      "[{name: p}, {name: q}, {name: p}]", NULL, "a: Invalid value: names are unique" },
    { "{type: array, items: {type: string}, " RULES
      " [{rule: 'self.size() == self.distinct().size()', message: no duplicates}]}",
      "[a, b, a]", NULL, "a: Invalid value: no duplicates" },
    { "{type: array, items: {type: string}, " RULES
      " [{rule: 'self.all(e, e.matches(\"^[a-z]+$\"))'}]}",
      "[ab, C]", NULL, "a: Invalid value: failed rule: self.all(e, e.matches(\"^[a-z]+$\"))" },
    { "{type: object, additionalProperties: {type: string}, " RULES
      " [{rule: 'self.all(k, !k.startsWith(\"kubernetes.io/\"))', message: reserved prefix}]}",
      "{kubernetes.io/x: z}", NULL, "a: Invalid value: reserved prefix" },
    { "{type: object, additionalProperties: {type: string}, " RULES
      " [{rule: 'self.all(k, v, k.size() + v.size() <= 10)'}]}",
      "{abcdef: ghijk}", NULL,
      "a: Invalid value: failed rule: self.all(k, v, k.size() + v.size() <= 10)" },
    { "{type: object, additionalProperties: {type: integer}, " RULES
      " [{rule: 'self.transformList(k, v, v).sum() == 100', message: weights must sum to "
      "100}]}",
      "{p: 50, q: 49}", NULL, "a: Invalid value: weights must sum to 100" },
    { "{" INT_OR_STRING ", " RULES
      " [{rule: 'type(self) == string ? self.matches(\"^[0-9]{1,3}%$\") : self >= 0', message: "
      "a count or a share}]}",
      "-1", NULL, "a: Invalid value: -1: a count or a share" },
    { "{" INT_OR_STRING ", " RULES
      " [{rule: 'type(self) == string ? self.matches(\"^[0-9]{1,3}%$\") : self >= 0', message: "
      "a count or a share}]}",
      "many", NULL, "a: Invalid value: \"many\": a count or a share" },
    { "{type: object, properties: {schedule: {type: string}}, " RULES
      " [{rule: 'self.schedule.split(\" \").size() == 5', message: five fields}]}",
      "{schedule: '* * * *'}", NULL, "a: Invalid value: five fields" },
};

/* Rules as real definitions have them. */
static void typical(void **state)
{
    (void)state;
    check_schema_cases(ASPECT_RULES, typical_cases, ARRAY_LEN(typical_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),       cmocka_unit_test(places),      cmocka_unit_test(messages),
        cmocka_unit_test(failures),     cmocka_unit_test(transitions), cmocka_unit_test(ratchets),
        cmocka_unit_test(alternatives), cmocka_unit_test(times),       cmocka_unit_test(typical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
