/* Values against the keywords of a schema, in kube-apiserver's words. */
#include "base/idiom.h"
#include "schema/schema_test.h"

#define KEYED         "x-kubernetes-list-type: map, x-kubernetes-list-map-keys:"
#define LIST          "x-kubernetes-list-type:"
#define PRESERVE      "x-kubernetes-preserve-unknown-fields: true"
#define INT_OR_STRING "x-kubernetes-int-or-string: true"

static const struct schema_case types_cases[] = {
    { "{type: string}", "x", NULL, "" },
    { "{type: string}", "''", NULL, "" },
    { "{type: string}", "1", NULL,
      "a: Invalid value: \"integer\": a in body must be of type string: \"integer\"" },
    { "{type: string}", "1.5", NULL,
      "a: Invalid value: \"number\": a in body must be of type string: \"number\"" },
    { "{type: string}", "true", NULL,
      "a: Invalid value: \"boolean\": a in body must be of type string: \"boolean\"" },
    { "{type: string}", "null", NULL,
      "a: Invalid value: \"null\": a in body must be of type string: \"null\"" },
    { "{type: string}", "[]", NULL,
      "a: Invalid value: \"array\": a in body must be of type string: \"array\"" },
    { "{type: string}", "{}", NULL,
      "a: Invalid value: \"object\": a in body must be of type string: \"object\"" },
    { "{type: integer}", "1", NULL, "" },
    { "{type: integer}", "-1", NULL, "" },
    { "{type: integer}", "1.0", NULL, "" },
    { "{type: integer}", "1.5", NULL,
      "a: Invalid value: \"number\": a in body must be of type integer: \"number\"\n<nil>: "
      "Invalid value: \"\": Checked value must be of type integer (default format) in a" },
    { "{type: integer}", "'1'", NULL,
      "a: Invalid value: \"string\": a in body must be of type integer: \"string\"" },
    { "{type: integer}", "true", NULL,
      "a: Invalid value: \"boolean\": a in body must be of type integer: \"boolean\"" },
    { "{type: integer}", "9223372036854775807", NULL, "" },
    { "{type: integer}", "[]", NULL,
      "a: Invalid value: \"array\": a in body must be of type integer: \"array\"" },
    { "{type: number}", "1", NULL, "" },
    { "{type: number}", "1.5", NULL, "" },
    { "{type: number}", "'1'", NULL,
      "a: Invalid value: \"string\": a in body must be of type number: \"string\"" },
    { "{type: number}", "null", NULL,
      "a: Invalid value: \"null\": a in body must be of type number: \"null\"" },
    { "{type: boolean}", "true", NULL, "" },
    { "{type: boolean}", "'true'", NULL,
      "a: Invalid value: \"string\": a in body must be of type boolean: \"string\"" },
    { "{type: boolean}", "0", NULL,
      "a: Invalid value: \"integer\": a in body must be of type boolean: \"integer\"" },
    { "{type: array, items: {type: string}}", "[]", NULL, "" },
    { "{type: array, items: {type: string}}", "{}", NULL,
      "a: Invalid value: \"object\": a in body must be of type array: \"object\"" },
    { "{type: array, items: {type: string}}", "x", NULL,
      "a: Invalid value: \"string\": a in body must be of type array: \"string\"" },
    { "{type: array, items: {type: string}}", "[x, 1]", NULL,
      "a[1]: Invalid value: \"integer\": a[1] in body must be of type string: \"integer\"" },
    { "{type: array, items: {type: string}}", "[x, null]", NULL,
      "a[1]: Invalid value: \"null\": a[1] in body must be of type string: \"null\"" },
    { "{type: array, items: {type: array, items: {type: integer}}}", "[[1], [x]]", NULL,
      "a[1][0]: Invalid value: \"string\": a[1][0] in body must be of type integer: "
      "\"string\"" },
    { "{type: object}", "{}", NULL, "" },
    { "{type: object}", "[]", NULL,
      "a: Invalid value: \"array\": a in body must be of type object: \"array\"" },
    { "{type: object}", "x", NULL,
      "a: Invalid value: \"string\": a in body must be of type object: \"string\"" },
    { "{type: object}", "1", NULL,
      "a: Invalid value: \"integer\": a in body must be of type object: \"integer\"" },
    { "{type: object, properties: {b: {type: string}}}", "{b: 1}", NULL,
      "a.b: Invalid value: \"integer\": a.b in body must be of type string: \"integer\"" },
    { "{type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}}",
      "{b: {c: x}}", NULL,
      "a.b.c: Invalid value: \"string\": a.b.c in body must be of type integer: \"string\"" },
    { "{type: object, additionalProperties: {type: integer}}", "{k: 1, l: x}", NULL,
      "a.l: Invalid value: \"string\": a.l in body must be of type integer: \"string\"" },
    { "{type: object, additionalProperties: {type: object, properties: {b: {type: integer}}}}",
      "{k: {b: x}}", NULL,
      "a.k.b: Invalid value: \"string\": a.k.b in body must be of type integer: \"string\"" },
    { "{type: object, additionalProperties: true}", "{k: [1]}", NULL, "" },
    { "{" INT_OR_STRING "}", "1", NULL, "" },
    { "{" INT_OR_STRING "}", "'1'", NULL, "" },
    { "{" INT_OR_STRING "}", "1.5", NULL,
      "a: Invalid value: \"number\": a in body must be of type integer,string: \"number\"" },
    { "{" INT_OR_STRING "}", "null", NULL,
      "a: Invalid value: \"null\": a in body must be of type integer,string: \"null\"" },
    { "{" INT_OR_STRING "}", "[]", NULL,
      "a: Invalid value: \"array\": a in body must be of type integer,string: \"array\"" },
    { "{" INT_OR_STRING "}", "{}", NULL,
      "a: Invalid value: \"object\": a in body must be of type integer,string: \"object\"" },
    { "{" INT_OR_STRING ", anyOf: [{type: integer}, {type: string}]}", "true", NULL,
      "a: Invalid value: \"boolean\": a in body must be of type integer,string: "
      "\"boolean\"\n<nil>: Invalid value: \"\": \"a\" must validate at least one schema "
      "(anyOf)\na: Invalid value: \"boolean\": a in body must be of type integer: "
      "\"boolean\"" },
    { "{" INT_OR_STRING ", pattern: '^[0-9]+%$'}", "5", NULL, "" },
    { "{" INT_OR_STRING ", pattern: '^[0-9]+%$'}", "5%", NULL, "" },
    { "{" INT_OR_STRING ", pattern: '^[0-9]+%$'}", "5x", NULL,
      "a: Invalid value: \"5x\": a in body should match '^[0-9]+%$'" },
    { "{" INT_OR_STRING ", minimum: 3}", "1", NULL,
      "a: Invalid value: 1: a in body should be greater than or equal to 3" },
    { "{" INT_OR_STRING ", minimum: 3}", "'1'", NULL, "" },
    { "{" PRESERVE "}", "1", NULL, "" },
    { "{" PRESERVE "}", "{x: [1]}", NULL, "" },
    { "{type: object, " PRESERVE "}", "1", NULL,
      "a: Invalid value: \"integer\": a in body must be of type object: \"integer\"" },
    { "{type: object, " PRESERVE "}", "{z: 1}", NULL, "" },
};

/* What each type takes. */
static void types(void **state)
{
    (void)state;
    check_schema_cases(ASPECT_VALUES, types_cases, ARRAY_LEN(types_cases));
}

/* Null where it may stand, and where not. */
static void nulls(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: string, nullable: true}", "null", NULL, "" },
        { "{type: integer, nullable: true}", "null", NULL, "" },
        { "{type: object, nullable: true}", "null", NULL, "" },
        { "{type: array, nullable: true, items: {type: string}}", "null", NULL, "" },
        { "{type: string, nullable: true, enum: [x]}", "null", NULL,
          "a: Unsupported value: null: supported values: \"x\"" },
        { "{type: string, nullable: true, minLength: 3}", "null", NULL, "" },
        { "{type: string, nullable: true, pattern: x}", "null", NULL, "" },
        { "{type: object, nullable: true, required: [b]}", "null", NULL, "" },
        { "{type: array, items: {type: string, nullable: true}}", "[null, x]", NULL, "" },
        { "{type: object, additionalProperties: {type: string, nullable: true}}", "{k: null}", NULL,
          "" },
        { "{type: object, additionalProperties: {type: string}}", "{k: null}", NULL,
          "a.k: Invalid value: \"null\": a.k in body must be of type string: \"null\"" },
        { "{type: object, required: [b], properties: {b: {type: string, nullable: true}}}",
          "{b: null}", NULL, "" },
        { "{" INT_OR_STRING ", nullable: true}", "null", NULL, "" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* minimum, maximum, multipleOf */
static void numbers(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, minimum: 1}", "0", NULL,
          "a: Invalid value: 0: a in body should be greater than or equal to 1" },
        { "{type: integer, minimum: 1}", "1", NULL, "" },
        { "{type: integer, minimum: 1, exclusiveMinimum: true}", "1", NULL,
          "a: Invalid value: 1: a in body should be greater than 1" },
        { "{type: integer, minimum: 1, exclusiveMinimum: true}", "2", NULL, "" },
        { "{type: integer, maximum: 5}", "6", NULL,
          "a: Invalid value: 6: a in body should be less than or equal to 5" },
        { "{type: integer, maximum: 5}", "5", NULL, "" },
        { "{type: integer, maximum: 5, exclusiveMaximum: true}", "5", NULL,
          "a: Invalid value: 5: a in body should be less than 5" },
        { "{type: integer, maximum: 5, exclusiveMaximum: true}", "4", NULL, "" },
        { "{type: integer, minimum: 1, maximum: 5}", "-3", NULL,
          "a: Invalid value: -3: a in body should be greater than or equal to 1" },
        { "{type: integer, minimum: 3, maximum: 1}", "2", NULL,
          "a: Invalid value: 2: a in body should be greater than or equal to 3\na: Invalid value: "
          "2: a in body should be less than or equal to 1" },
        { "{type: number, minimum: 0.5}", "0.25", NULL,
          "a: Invalid value: 0.25: a in body should be greater than or equal to 0.5" },
        { "{type: number, minimum: 0.5}", "0", NULL, "" },
        { "{type: number, maximum: 1.5}", "1.75", NULL,
          "a: Invalid value: 1.75: a in body should be less than or equal to 1.5" },
        { "{type: number, maximum: 1.5}", "2", NULL,
          "a: Invalid value: 2: a in body should be less than or equal to 1" },
        { "{type: number, maximum: 1e3}", "1001", NULL,
          "a: Invalid value: 1001: a in body should be less than or equal to 1000" },
        { "{type: number, minimum: -1.5, exclusiveMinimum: true}", "-1.5", NULL,
          "a: Invalid value: -1.5: a in body should be greater than -1.5" },
        { "{type: integer, minimum: 9223372036854775807}", "1", NULL,
          "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default "
          "format) in a\na: Invalid value: 1: a in body should be greater than or equal to "
          "9.223372036854776e+18" },
        { "{type: integer, maximum: 2147483647}", "2147483648", NULL,
          "a: Invalid value: 2147483648: a in body should be less than or equal to 2147483647" },
        { "{type: integer, multipleOf: 5}", "10", NULL, "" },
        { "{type: integer, multipleOf: 5}", "12", NULL,
          "a: Invalid value: 12: a in body should be a multiple of 5" },
        { "{type: integer, multipleOf: 5}", "0", NULL, "" },
        { "{type: integer, multipleOf: 5}", "-5", NULL, "" },
        { "{type: number, multipleOf: 0.5}", "1.5", NULL, "" },
        { "{type: number, multipleOf: 0.5}", "1.25", NULL,
          "a: Invalid value: 1.25: a in body should be a multiple of 0.5" },
        { "{type: number, multipleOf: 0.1}", "0.3", NULL, "" },
        { "{type: number, multipleOf: 5}", "12", NULL,
          "a: Invalid value: 12: a in body should be a multiple of 5" },
        { "{type: integer, minimum: 1}", "x", NULL,
          "a: Invalid value: \"string\": a in body must be of type integer: \"string\"" },
        { "{type: string, minimum: 1}", "x", NULL, "" },
        { "{type: integer, format: int32}", "2147483647", NULL, "" },
        { "{type: integer, format: int32}", "2147483648", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
          "a" },
        { "{type: integer, format: int32}", "-2147483649", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
          "a" },
        { "{type: integer, format: int64}", "9223372036854775807", NULL, "" },
        { "{type: number, format: float}", "1.5", NULL, "" },
        { "{type: number, format: float}", "1e39", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type number with format float in "
          "a" },
        { "{type: number, format: double}", "1e39", NULL, "" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

static const struct schema_case texts_cases[] = {
    { "{type: string, minLength: 2}", "x", NULL,
      "a: Invalid value: \"x\": a in body should be at least 2 chars long" },
    { "{type: string, minLength: 2}", "xy", NULL, "" },
    { "{type: string, minLength: 1}", "''", NULL,
      "a: Invalid value: \"\": a in body should be at least 1 chars long" },
    { "{type: string, minLength: 2}", "é", NULL,
      "a: Invalid value: \"é\": a in body should be at least 2 chars long" },
    { "{type: string, maxLength: 2}", "xyz", NULL, "a: Too long: may not be more than 2 bytes" },
    { "{type: string, maxLength: 2}", "éé", NULL, "" },
    { "{type: string, maxLength: 2}", "ééé", NULL, "a: Too long: may not be more than 2 bytes" },
    { "{type: string, maxLength: 1}", "😀", NULL, "" },
    { "{type: string, maxLength: 0}", "x", NULL, "a: Too long: may not be more than 0 bytes" },
    { "{type: string, minLength: 2, maxLength: 3}", "wxyz", NULL,
      "a: Too long: may not be more than 3 bytes" },
    { "{type: string, maxLength: 1, pattern: '^a'}", "bc", NULL,
      "a: Too long: may not be more than 1 byte" },
    { "{type: string, pattern: '^a'}", "b", NULL,
      "a: Invalid value: \"b\": a in body should match '^a'" },
    { "{type: string, pattern: '^a'}", "ab", NULL, "" },
    { "{type: string, pattern: 'a'}", "bab", NULL, "" },
    { "{type: string, pattern: '^$'}", "''", NULL, "" },
    { "{type: string, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$'}", "A", NULL,
      "a: Invalid value: \"A\": a in body should match '^[a-z]([-a-z0-9]*[a-z0-9])?$'" },
    { "{type: string, pattern: '^\\\\d+$'}", "1", NULL,
      "a: Invalid value: \"integer\": a in body must be of type string: \"integer\"" },
    { "{type: string, pattern: '^\\\\d+$'}", "'1'", NULL,
      "a: Invalid value: \"1\": a in body should match '^\\\\d+$'" },
    { "{type: string, pattern: \"^'x'$\"}", "q", NULL,
      "a: Invalid value: \"q\": a in body should match '^'x'$'" },
    { "{type: string, pattern: \"^\\\"x\\\"$\"}", "q", NULL,
      "a: Invalid value: \"q\": a in body should match '^\"x\"$'" },
    { "{type: string, format: date-time}", "'2020-01-01T00:00:00Z'", NULL, "" },
    { "{type: string, format: date-time}", "'2020-01-01'", NULL,
      "a: Invalid value: \"2020-01-01\": a in body must be of type date-time: \"2020-01-01\"" },
    { "{type: string, format: date}", "'2020-01-01'", NULL, "" },
    { "{type: string, format: date}", "'2020-02-30'", NULL,
      "a: Invalid value: \"2020-02-30\": a in body must be of type date: \"2020-02-30\"" },
    { "{type: string, format: duration}", "1h", NULL, "" },
    { "{type: string, format: duration}", "1x", NULL,
      "a: Invalid value: \"1x\": a in body must be of type duration: \"1x\"" },
    { "{type: string, format: byte}", "aGk=", NULL, "" },
    { "{type: string, format: byte}", "'***'", NULL,
      "a: Invalid value: \"***\": a in body must be of type byte: \"***\"" },
    { "{type: string, format: ipv4}", "1.2.3.4", NULL, "" },
    { "{type: string, format: ipv4}", "1.2.3.256", NULL,
      "a: Invalid value: \"1.2.3.256\": a in body must be of type ipv4: \"1.2.3.256\"" },
    { "{type: string, format: ipv6}", "'::1'", NULL, "" },
    { "{type: string, format: ipv6}", "1.2.3.4", NULL,
      "a: Invalid value: \"1.2.3.4\": a in body must be of type ipv6: \"1.2.3.4\"" },
    { "{type: string, format: cidr}", "10.0.0.0/8", NULL, "" },
    { "{type: string, format: cidr}", "10.0.0.0", NULL,
      "a: Invalid value: \"10.0.0.0\": a in body must be of type cidr: \"10.0.0.0\"" },
    { "{type: string, format: uri}", "'https://a/b'", NULL, "" },
    { "{type: string, format: uri}", "':'", NULL,
      "a: Invalid value: \":\": a in body must be of type uri: \":\"" },
    { "{type: string, format: email}", "a@b.c", NULL, "" },
    { "{type: string, format: email}", "a", NULL,
      "a: Invalid value: \"a\": a in body must be of type email: \"a\"" },
    { "{type: string, format: hostname}", "a.b", NULL,
      "a: Invalid value: \"a.b\": a in body must be of type hostname: \"a.b\"" },
    { "{type: string, format: hostname}", "a_b", NULL,
      "a: Invalid value: \"a_b\": a in body must be of type hostname: \"a_b\"" },
    { "{type: string, format: uuid}", "123e4567-e89b-12d3-a456-426614174000", NULL, "" },
    { "{type: string, format: uuid}", "123e4567", NULL,
      "a: Invalid value: \"123e4567\": a in body must be of type uuid: \"123e4567\"" },
    { "{type: string, format: uuid4}", "123e4567-e89b-12d3-a456-426614174000", NULL,
      "a: Invalid value: \"123e4567-e89b-12d3-a456-426614174000\": a in body must be of type "
      "uuid4: \"123e4567-e89b-12d3-a456-426614174000\"" },
    { "{type: string, format: password}", "x", NULL, "" },
    { "{type: string, format: mac}", "'01:23:45:67:89:ab'", NULL, "" },
    { "{type: string, format: mac}", "'01:23'", NULL,
      "a: Invalid value: \"01:23\": a in body must be of type mac: \"01:23\"" },
    { "{type: string, format: int32}", "x", NULL, "" },
    { "{type: string, format: made-up}", "x", NULL, "" },
    { "{type: string, format: date-time}", "''", NULL,
      "a: Invalid value: \"\": a in body must be of type date-time: \"\"" },
    { "{type: string, format: uri}", "''", NULL,
      "a: Invalid value: \"\": a in body must be of type uri: \"\"" },
    { "{type: string, format: ipv4}", "''", NULL,
      "a: Invalid value: \"\": a in body must be of type ipv4: \"\"" },
    { "{type: string, format: date-time, nullable: true}", "null", NULL, "" },
    { "{type: string, format: k8s-short-name}", "a_b", NULL,
      "a: Invalid value: \"a_b\": a in body must be of type k8s-short-name: \"a_b\"" },
    { "{type: string, format: k8s-long-name}", "a..b", NULL,
      "a: Invalid value: \"a..b\": a in body must be of type k8s-long-name: \"a..b\"" },
    { "{type: string, format: bsonobjectid}", "xyz", NULL,
      "a: Invalid value: \"xyz\": a in body must be of type bsonobjectid: \"xyz\"" },
    { "{type: string, format: isbn10}", "'1'", NULL,
      "a: Invalid value: \"1\": a in body must be of type isbn10: \"1\"" },
    { "{type: string, format: creditcard}", "'1'", NULL,
      "a: Invalid value: \"1\": a in body must be of type creditcard: \"1\"" },
    { "{type: string, format: ssn}", "'1'", NULL,
      "a: Invalid value: \"1\": a in body must be of type ssn: \"1\"" },
    { "{type: string, format: hexcolor}", "zz", NULL,
      "a: Invalid value: \"zz\": a in body must be of type hexcolor: \"zz\"" },
    { "{type: string, format: rgbcolor}", "'rgb(1,2,3)'", NULL, "" },
    { "{type: string, format: rgbcolor}", "zz", NULL,
      "a: Invalid value: \"zz\": a in body must be of type rgbcolor: \"zz\"" },
};

/* minLength, maxLength, pattern, format */
static void texts(void **state)
{
    (void)state;
    check_schema_cases(ASPECT_VALUES, texts_cases, ARRAY_LEN(texts_cases));
}

/* enum */
static void enums(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: string, enum: [x, q]}", "x", NULL, "" },
        { "{type: string, enum: [x, q]}", "z", NULL,
          "a: Unsupported value: \"z\": supported values: \"x\", \"q\"" },
        { "{type: string, enum: [x, q]}", "''", NULL,
          "a: Unsupported value: \"\": supported values: \"x\", \"q\"" },
        { "{type: string, enum: [x, q]}", "X", NULL,
          "a: Unsupported value: \"X\": supported values: \"x\", \"q\"" },
        { "{type: string, enum: ['']}", "x", NULL,
          "a: Unsupported value: \"x\": supported values: \"\"" },
        { "{type: string, enum: [\"a\\\"b\"]}", "x", NULL,
          "a: Unsupported value: \"x\": supported values: \"a\\\"b\"" },
        { "{type: integer, enum: [1, 2]}", "2", NULL, "" },
        { "{type: integer, enum: [1, 2]}", "3", NULL,
          "a: Unsupported value: 3: supported values: \"1\", \"2\"" },
        { "{type: integer, enum: [1, 2]}", "'1'", NULL,
          "a: Invalid value: \"string\": a in body must be of type integer: \"string\"\na: "
          "Unsupported value: \"1\": supported values: \"1\", \"2\"" },
        { "{type: number, enum: [1.5]}", "1.5", NULL, "" },
        { "{type: number, enum: [1.5]}", "1", NULL,
          "a: Unsupported value: 1: supported values: \"1.5\"" },
        { "{type: number, enum: [1]}", "1.0", NULL, "" },
        { "{type: boolean, enum: [true]}", "false", NULL,
          "a: Unsupported value: false: supported values: \"true\"" },
        { "{type: string, enum: [x], maxLength: 0}", "q", NULL,
          "a: Too long: may not be more than 0 bytes\na: Unsupported value: \"q\": supported "
          "values: \"x\"" },
        { "{type: object, enum: [{b: 1}], " PRESERVE "}", "{b: 1}", NULL, "" },
        { "{type: object, enum: [{b: 1}], " PRESERVE "}", "{b: 2}", NULL,
          "a: Unsupported value: {\"b\":2}: supported values: \"{\\\"b\\\":1}\"" },
        { "{type: array, enum: [[x]], items: {type: string}}", "[q]", NULL,
          "a: Unsupported value: [\"q\"]: supported values: \"[\\\"x\\\"]\"" },
        { "{type: array, items: {type: string, enum: [x]}}", "[x, q]", NULL,
          "a[1]: Unsupported value: \"q\": supported values: \"x\"" },
        { "{type: object, additionalProperties: {type: string, enum: [x]}}", "{k: q}", NULL,
          "a.k: Unsupported value: \"q\": supported values: \"x\"" },
        { "{type: string, nullable: true, enum: [x, null]}", "null", NULL,
          "a: Unsupported value: null: supported values: \"x\", \"null\"" },
        { "{" INT_OR_STRING ", enum: [1, x]}", "2", NULL,
          "a: Unsupported value: 2: supported values: \"1\", \"x\"" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* minItems, maxItems, uniqueItems */
static void arrays(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: array, minItems: 1, items: {type: string}}", "[]", NULL,
          "a: Invalid value: 0: a in body should have at least 1 items" },
        { "{type: array, minItems: 2, items: {type: string}}", "[x]", NULL,
          "a: Invalid value: 1: a in body should have at least 2 items" },
        { "{type: array, maxItems: 1, items: {type: string}}", "[x, q]", NULL,
          "a: Too many: 2: must have at most 1 item" },
        { "{type: array, maxItems: 0, items: {type: string}}", "[x]", NULL,
          "a: Too many: 1: must have at most 0 items" },
        { "{type: array, maxItems: 2, items: {type: string}}", "[x, q]", NULL, "" },
        { "{type: array, maxItems: 1, items: {type: integer}}", "[x, q]", NULL,
          "a[0]: Invalid value: \"string\": a[0] in body must be of type integer: "
          "\"string\"\na[1]: Invalid value: \"string\": a[1] in body must be of type integer: "
          "\"string\"\na: Too many: 2: must have at most 1 item" },
        { "{type: array, items: {type: object, required: [b], properties: {b: {type: string}}}}",
          "[{b: x}, {}]", NULL, "a[1].b: Required value" },
        { "{type: array, items: {type: object, properties: {b: {type: array, items: {type: "
          "integer}}}}}",
          "[{b: [1, x]}]", NULL,
          "a[0].b[1]: Invalid value: \"string\": a[0].b[1] in body must be of type integer: "
          "\"string\"" },
        { "{type: array, items: {type: string, maxLength: 1}}", "[xx]", NULL,
          "a[0]: Too long: may not be more than 1 byte" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* required, minProperties, maxProperties */
static void objects(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, required: [b], properties: {b: {type: string}}}", "{}", NULL,
          "a.b: Required value" },
        { "{type: object, required: [b], properties: {b: {type: string}}}", "{b: ''}", NULL, "" },
        { "{type: object, required: [b, c], properties: {b: {type: string}, c: {type: string}}}",
          "{}", NULL, "a.b: Required value\na.c: Required value" },
        { "{type: object, required: [b], properties: {b: {type: string}}}", "{b: null}", NULL,
          "a.b: Invalid value: \"null\": a.b in body must be of type string: \"null\"" },
        { "{type: object, properties: {b: {type: object, required: [c], properties: {c: {type: "
          "string}}}}}",
          "{b: {}}", NULL, "a.b.c: Required value" },
        { "{type: object, properties: {b: {type: object, required: [c], properties: {c: {type: "
          "string}}}}}",
          "{}", NULL, "" },
        { "{type: object, minProperties: 1, additionalProperties: {type: string}}", "{}", NULL,
          "a: Invalid value: 0: a in body should have at least 1 properties" },
        { "{type: object, maxProperties: 1, additionalProperties: {type: string}}", "{k: x, l: q}",
          NULL, "a: Too many: 2: must have at most 1 item" },
        { "{type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: "
          "string}}",
          "{k: x}", NULL, "" },
        { "{type: object, additionalProperties: {type: object, required: [b], properties: {b: "
          "{type: string}}}}",
          "{k.l: {}}", NULL, "a.k.l.b: Required value" },
        { "{type: object, additionalProperties: {type: object, required: [b], properties: {b: "
          "{type: string}}}}",
          "{'k/l m': {}}", NULL, "a.k/l m.b: Required value" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* allOf, anyOf, oneOf, not */
static void combinations(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: string, allOf: [{minLength: 2}, {pattern: '^a'}]}", "ab", NULL, "" },
        { "{type: string, allOf: [{minLength: 2}, {pattern: '^a'}]}", "b", NULL,
          "a: Invalid value: \"b\": a in body should be at least 2 chars long\na: Invalid value: "
          "\"b\": a in body should match '^a'\n<nil>: Invalid value: \"\": \"a\" must validate all "
          "the schemas (allOf). None validated" },
        { "{type: string, allOf: [{minLength: 2}]}", "b", NULL,
          "a: Invalid value: \"b\": a in body should be at least 2 chars long\n<nil>: Invalid "
          "value: \"\": \"a\" must validate all the schemas (allOf). None validated" },
        { "{type: string, anyOf: [{pattern: '^a'}, {pattern: '^b'}]}", "bc", NULL, "" },
        { "{type: string, anyOf: [{pattern: '^a'}, {pattern: '^b'}]}", "c", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na: Invalid "
          "value: \"c\": a in body should match '^a'" },
        { "{type: string, anyOf: [{pattern: '^a'}]}", "c", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na: Invalid "
          "value: \"c\": a in body should match '^a'" },
        { "{type: string, oneOf: [{pattern: '^a'}, {pattern: 'b$'}]}", "a", NULL, "" },
        { "{type: string, oneOf: [{pattern: '^a'}, {pattern: 'b$'}]}", "ab", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "2 valid alternatives" },
        { "{type: string, oneOf: [{pattern: '^a'}, {pattern: 'b$'}]}", "c", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "none valid\na: Invalid value: \"c\": a in body should match '^a'" },
        { "{type: string, not: {pattern: '^a'}}", "b", NULL, "" },
        { "{type: string, not: {pattern: '^a'}}", "a", NULL,
          "<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{b: x}", NULL, "" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{}", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "none valid\na.b: Required value" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{b: x, c: q}", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "2 valid alternatives" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, anyOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{}", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na.b: "
          "Required value" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, not: {required: [b, "
          "c]}}",
          "{b: x, c: q}", NULL,
          "<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)" },
        { "{type: object, properties: {b: {type: string}}, anyOf: [{properties: {b: {enum: [x]}}}, "
          "{properties: {b: {enum: [q]}}}]}",
          "{b: z}", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na.b: "
          "Unsupported value: \"z\": supported values: \"x\"" },
        { "{type: object, properties: {b: {type: string}}, allOf: [{properties: {b: {maxLength: "
          "1}}}]}",
          "{b: zz}", NULL,
          "a.b: Too long: may not be more than 1 byte\n<nil>: Invalid value: \"\": \"a\" must "
          "validate all the schemas (allOf). None validated" },
        { "{type: integer, anyOf: [{minimum: 5}, {maximum: 2}]}", "3", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na: Invalid "
          "value: 3: a in body should be greater than or equal to 5" },
        { "{type: integer, oneOf: [{minimum: 5}, {maximum: 7}]}", "6", NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "2 valid alternatives" },
        { "{type: array, items: {type: string}, anyOf: [{minItems: 2}, {maxItems: 0}]}", "[x]",
          NULL,
          "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)\na: Invalid "
          "value: 1: a in body should have at least 2 items" },
        { "{type: array, items: {type: string, oneOf: [{pattern: '^a'}, {pattern: '^b'}]}}",
          "[a, c]", NULL,
          "<nil>: Invalid value: \"\": \"a[1]\" must validate one and only one schema (oneOf). "
          "Found none valid\na[1]: Invalid value: \"c\": a[1] in body should match '^a'" },
        { "{type: string, allOf: [{anyOf: [{pattern: '^a'}, {pattern: '^b'}]}, {not: {pattern: "
          "'z$'}}]}",
          "az", NULL,
          "<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)\n<nil>: Invalid "
          "value: \"\": \"a\" must validate all the schemas (allOf)" },
        { "{type: string, not: {anyOf: [{pattern: '^a'}, {pattern: '^b'}]}}", "b", NULL,
          "<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* Faults in what did not change are forgiven. */
static void updates(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, minimum: 5}", "1", "1", "" },
        { "{type: integer, minimum: 5}", "1", "2",
          "a: Invalid value: 1: a in body should be greater than or equal to 5" },
        { "{type: integer, minimum: 5}", "1", "7",
          "a: Invalid value: 1: a in body should be greater than or equal to 5" },
        { "{type: string, maxLength: 1}", "xx", "xx", "" },
        { "{type: string, maxLength: 1}", "xy", "xx", "a: Too long: may not be more than 1 byte" },
        { "{type: string, enum: [x]}", "q", "q", "" },
        { "{type: string, enum: [x]}", "z", "q",
          "a: Unsupported value: \"z\": supported values: \"x\"" },
        { "{type: object, required: [b], properties: {b: {type: string}, c: {type: string}}}",
          "{c: x}", "{c: x}", "" },
        { "{type: object, required: [b], properties: {b: {type: string}, c: {type: string}}}",
          "{c: q}", "{c: x}", "a.b: Required value" },
        { "{type: object, properties: {b: {type: string, maxLength: 1}, c: {type: string}}}",
          "{b: xx, c: q}", "{b: xx, c: x}", "" },
        { "{type: object, properties: {b: {type: string, maxLength: 1}, c: {type: string, "
          "maxLength: 1}}}",
          "{b: xx, c: yy}", "{b: xx, c: x}", "a.c: Too long: may not be more than 1 byte" },
        { "{type: object, maxProperties: 1, additionalProperties: {type: string}}", "{k: x, l: q}",
          "{k: x, l: q}", "" },
        { "{type: object, maxProperties: 1, additionalProperties: {type: string}}", "{k: x, l: z}",
          "{k: x, l: q}", "a: Too many: 2: must have at most 1 item" },
        { "{type: object, additionalProperties: {type: string, maxLength: 1}}", "{k: xx, l: q}",
          "{k: xx}", "" },
        { "{type: object, additionalProperties: {type: string, maxLength: 1}}", "{l: xx}",
          "{k: xx}", "a.l: Too long: may not be more than 1 byte" },
        { "{type: array, items: {type: string, maxLength: 1}}", "[xx]", "[xx]", "" },
        { "{type: array, items: {type: string, maxLength: 1}}", "[xx, q]", "[xx]",
          "a[0]: Too long: may not be more than 1 byte" },
        { "{type: array, maxItems: 1, items: {type: string}}", "[x, q]", "[x, q]", "" },
        { "{type: array, maxItems: 1, items: {type: string}}", "[q, x]", "[x, q]",
          "a: Too many: 2: must have at most 1 item" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: string, maxLength: 1}}}}",
          "[{k: b, v: q}, {k: a, v: xx}]", "[{k: a, v: xx}]", "" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: string, maxLength: 1}}}}",
          "[{k: b, v: xx}]", "[{k: a, v: xx}]", "a[0].v: Too long: may not be more than 1 byte" },
        { "{type: array, " KEYED " [k], maxItems: 1, items: {type: object, required: [k], "
          "properties: {k: {type: string}, v: {type: string}}}}",
          "[{k: a, v: q}, {k: b}]", "[{k: a, v: x}, {k: b}]",
          "a: Too many: 2: must have at most 1 item" },
        { "{type: array, " LIST " set, items: {type: string, maxLength: 1}}", "[xx, q]", "[xx]",
          "a[0]: Too long: may not be more than 1 byte" },
        { "{type: array, " LIST " atomic, items: {type: string, maxLength: 1}}", "[xx, q]", "[xx]",
          "a[0]: Too long: may not be more than 1 byte" },
        { "{type: string, oneOf: [{pattern: '^a'}, {pattern: '^b'}]}", "c", "c", "" },
        { "{type: string, oneOf: [{pattern: '^a'}, {pattern: '^b'}]}", "c", "d",
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "none valid\na: Invalid value: \"c\": a in body should match '^a'" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{b: x, c: q}", "{b: x, c: q}", "" },
        { "{type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: "
          "[b]}, {required: [c]}]}",
          "{b: x, c: z}", "{b: x, c: q}",
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "2 valid alternatives" },
        { "{type: object, properties: {b: {type: string}}, allOf: [{properties: {b: {maxLength: "
          "1}}}]}",
          "{b: zz}", "{b: zz}", "" },
        { "{type: string, not: {pattern: '^a'}}", "ab", "ab", "" },
        { "{type: string, not: {pattern: '^a'}}", "ab", "ac",
          "<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)" },
        { "{type: string}", "1", "1", "" },
        { "{type: string}", "1", "2",
          "a: Invalid value: \"integer\": a in body must be of type string: \"integer\"" },
        { "{type: string}", "null", "null", "" },
        { "{type: string, nullable: true, minLength: 2}", "x", "null",
          "a: Invalid value: \"x\": a in body should be at least 2 chars long" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* Bounds that are not of the type themselves. */
static void bounds_beside_types(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: integer, maximum: 1.5}", "1", NULL,
          "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default "
          "format) in a" },
        { "{type: integer, maximum: 1.5}", "2", NULL,
          "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default "
          "format) in a\na: Invalid value: 2: a in body should be less than or equal to 1.5" },
        { "{type: integer, minimum: 0.5, exclusiveMinimum: true}", "1", NULL,
          "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default "
          "format) in a" },
        { "{type: integer, format: int32, maximum: 4294967295}", "1", NULL,
          "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer with format "
          "int32 in a" },
        { "{type: integer, format: int32, minimum: -4294967296}", "1", NULL,
          "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer with format "
          "int32 in a" },
        { "{type: number, format: float, maximum: 1e39}", "1", NULL,
          "<nil>: Invalid value: \"\": Maximum boundary value must be of type number with format "
          "float in a" },
        { "{type: number, minimum: 1.5}", "1", NULL, "" },
        { "{type: number, minimum: 1.5}", "1.25", NULL,
          "a: Invalid value: 1.25: a in body should be greater than or equal to 1.5" },
        { "{type: number, maximum: 1.5}", "1", NULL, "" },
        { "{type: number, multipleOf: 0.5}", "1", NULL,
          "a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0" },
        { "{type: number, multipleOf: 2.5}", "4", NULL, "" },
        { "{type: number, multipleOf: 2.5}", "5", NULL,
          "a: Invalid value: 5: a in body should be a multiple of 2" },
        { "{type: integer, multipleOf: 0.5}", "1", NULL,
          "<nil>: Invalid value: \"\": MultipleOf value must be of type integer (default format) "
          "in a" },
        { "{type: integer, multipleOf: 2.5}", "5", NULL,
          "<nil>: Invalid value: \"\": MultipleOf value must be of type integer (default format) "
          "in a" },
        { "{type: integer, multipleOf: 2.5}", "6", NULL,
          "<nil>: Invalid value: \"\": MultipleOf value must be of type integer (default format) "
          "in a\na: Invalid value: 6: a in body should be a multiple of 2.5" },
        { "{type: integer, multipleOf: 0}", "1", NULL,
          "a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0" },
        { "{type: integer, multipleOf: -5}", "5", NULL,
          "a: Invalid value: -5: factor MultipleOf declared for a must be positive: -5" },
        { "{type: number, multipleOf: -0.5}", "1.5", NULL,
          "a: Invalid value: -0.5: factor MultipleOf declared for a must be positive: -0.5" },
        { "{" INT_OR_STRING ", maximum: 1.5}", "1", NULL, "" },
        { "{" INT_OR_STRING ", multipleOf: 2}", "3", NULL,
          "a: Invalid value: 3: a in body should be a multiple of 2" },
        { "{type: integer, minimum: 1, maximum: 0.5}", "0", NULL,
          "a: Invalid value: 0: a in body should be greater than or equal to 1\n<nil>: Invalid "
          "value: \"\": Maximum boundary value must be of type integer (default format) in a" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* Bounds as messages show them. */
static void large_bounds(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: number, maximum: 1000000}", "1000000.5", NULL,
          "a: Invalid value: 1.0000005e+06: a in body should be less than or equal to 1e+06" },
        { "{type: number, maximum: 123456789.5}", "123456789.75", NULL,
          "a: Invalid value: 1.2345678975e+08: a in body should be less than or equal to "
          "1.234567895e+08" },
        { "{type: number, maximum: 1e20}", "1.5e22", NULL,
          "a: Invalid value: 1.5e+22: a in body should be less than or equal to 1e+20" },
        { "{type: number, maximum: 1e21}", "1.5e22", NULL,
          "a: Invalid value: 1.5e+22: a in body should be less than or equal to 1e+21" },
        { "{type: number, minimum: 1e-5}", "1e-7", NULL,
          "a: Invalid value: 1e-07: a in body should be greater than or equal to 1e-05" },
        { "{type: number, multipleOf: 1000000}", "1000000.5", NULL,
          "a: Invalid value: 1.0000005e+06: a in body should be a multiple of 1e+06" },
        { "{type: integer, maximum: 100000000}", "100000001", NULL,
          "a: Invalid value: 100000001: a in body should be less than or equal to 100000000" },
        { "{type: number, maximum: 100000000}", "100000001", NULL,
          "a: Invalid value: 100000001: a in body should be less than or equal to 100000000" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* How fields are named in faults. */
static void paths(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, properties: {b.c: {type: integer}}}", "{b.c: x}", NULL,
          "a.b.c: Invalid value: \"string\": a.b.c in body must be of type integer: \"string\"" },
        { "{type: object, properties: {'b c': {type: integer}}}", "{'b c': x}", NULL,
          "a.b c: Invalid value: \"string\": a.b c in body must be of type integer: \"string\"" },
        { "{type: object, additionalProperties: {type: object, additionalProperties: {type: "
          "integer}}}",
          "{k: {l: x}}", NULL,
          "a.k.l: Invalid value: \"string\": a.k.l in body must be of type integer: \"string\"" },
        { "{type: object, additionalProperties: {type: array, items: {type: integer}}}",
          "{k: [1, x]}", NULL,
          "a.k[1]: Invalid value: \"string\": a.k[1] in body must be of type integer: \"string\"" },
        { "{type: array, items: {type: object, additionalProperties: {type: integer}}}",
          "[{}, {k: x}]", NULL,
          "a[1].k: Invalid value: \"string\": a[1].k in body must be of type integer: \"string\"" },
        { "{type: array, items: {type: array, items: {type: array, items: {type: integer}}}}",
          "[[[1], [1, x]]]", NULL,
          "a[0][1][1]: Invalid value: \"string\": a[0][1][1] in body must be of type integer: "
          "\"string\"" },
        { "{type: object, properties: {b: {type: array, items: {type: object, properties: {c: "
          "{type: array, items: {type: integer, maximum: 1}}}}}}}",
          "{b: [{c: [1, 5]}]}", NULL,
          "a.b[0].c[1]: Invalid value: 5: a.b[0].c[1] in body should be less than or equal to 1" },
        { "{type: object, properties: {b: {type: array, items: {type: object, required: [c], "
          "properties: {c: {type: string}}}}}}",
          "{b: [{c: x}, {}]}", NULL, "a.b[1].c: Required value" },
        { "{type: object, additionalProperties: {type: object, required: [c], properties: {c: "
          "{type: string}}}}",
          "{k: {}}", NULL, "a.k.c: Required value" },
        { "{type: array, items: {type: string, enum: [x]}}", "[x, z]", NULL,
          "a[1]: Unsupported value: \"z\": supported values: \"x\"" },
        { "{type: object, properties: {b: {type: array, maxItems: 1, items: {type: string}}}}",
          "{b: [x, z]}", NULL, "a.b: Too many: 2: must have at most 1 item" },
        { "{type: object, additionalProperties: {type: array, maxItems: 1, items: {type: string}}}",
          "{k: [x, z]}", NULL, "a.k: Too many: 2: must have at most 1 item" },
        { "{type: object, additionalProperties: {type: string, maxLength: 1}}", "{k: xz}", NULL,
          "a.k: Too long: may not be more than 1 byte" },
        { "{type: object, properties: {b: {type: object, maxProperties: 1, additionalProperties: "
          "{type: string}}}}",
          "{b: {k: x, l: x}}", NULL, "a.b: Too many: 2: must have at most 1 item" },
        { "{type: object, properties: {b: {type: object, minProperties: 3, additionalProperties: "
          "{type: string}}}}",
          "{b: {k: x, l: x}}", NULL,
          "a.b: Invalid value: 2: a.b in body should have at least 3 properties" },
        { "{type: array, items: {type: object, oneOf: [{required: [b]}, {required: [c]}], "
          "properties: {b: {type: string}, c: {type: string}}}}",
          "[{b: x}, {}]", NULL,
          "<nil>: Invalid value: \"\": \"a[1]\" must validate one and only one schema (oneOf). "
          "Found none valid\na[1].b: Required value" },
        { "{type: object, properties: {b: {type: string, not: {enum: [x]}}}}", "{b: x}", NULL,
          "<nil>: Invalid value: \"\": \"a.b\" must not validate the schema (not)" },
        { "{type: array, items: {type: integer, format: int32}}", "[1, 4294967296]", NULL,
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
          "a[1]" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

/* What is shown of a value that is wrong. */
static void shown_values(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: string, maxLength: 3}", "\"a\\nb\\\"c\"", NULL,
          "a: Too long: may not be more than 3 bytes" },
        { "{type: string, pattern: '^a'}", "\"b\\tc\\\"d\\\\e\"", NULL,
          "a: Invalid value: \"b\\tc\\\"d\\\\e\": a in body should match '^a'" },
        { "{type: string, pattern: '^a'}", "日本", NULL,
          "a: Invalid value: \"日本\": a in body should match '^a'" },
        { "{type: string, enum: [a]}", "\"x\\ty\"", NULL,
          "a: Unsupported value: \"x\\ty\": supported values: \"a\"" },
        { "{type: string, minLength: 9}", "'<a&b>'", NULL,
          "a: Invalid value: \"<a&b>\": a in body should be at least 9 chars long" },
        { "{type: integer, maximum: 1}", "123456789", NULL,
          "a: Invalid value: 123456789: a in body should be less than or equal to 1" },
        { "{type: number, maximum: 1}", "1.5", NULL,
          "a: Invalid value: 1.5: a in body should be less than or equal to 1" },
        { "{type: number, maximum: 1}", "1000000.5", NULL,
          "a: Invalid value: 1.0000005e+06: a in body should be less than or equal to 1" },
        { "{type: number, maximum: 1}", "123456.5", NULL,
          "a: Invalid value: 123456.5: a in body should be less than or equal to 1" },
        { "{type: number, minimum: 1}", "0.00001", NULL,
          "a: Invalid value: 1e-05: a in body should be greater than or equal to 1" },
        { "{type: integer, enum: [1, 22, 333]}", "4", NULL,
          "a: Unsupported value: 4: supported values: \"1\", \"22\", \"333\"" },
        { "{type: number, enum: [1.5, 2]}", "4", NULL,
          "a: Unsupported value: 4: supported values: \"1.5\", \"2\"" },
        { "{type: string, enum: ['1', 'x y', \"q\\\"q\"]}", "4a", NULL,
          "a: Unsupported value: \"4a\": supported values: \"1\", \"x y\", \"q\\\"q\"" },
        { "{type: array, items: {type: string}, minItems: 3}", "[a]", NULL,
          "a: Invalid value: 1: a in body should have at least 3 items" },
        { "{type: array, items: {type: string}, minItems: 1}", "[]", NULL,
          "a: Invalid value: 0: a in body should have at least 1 items" },
        { "{type: object, additionalProperties: {type: string}, minProperties: 1}", "{}", NULL,
          "a: Invalid value: 0: a in body should have at least 1 properties" },
        { "{type: object}", "[1, 2]", NULL,
          "a: Invalid value: \"array\": a in body must be of type object: \"array\"" },
        { "{type: array, items: {type: string}}", "{a: 1}", NULL,
          "a: Invalid value: \"object\": a in body must be of type array: \"object\"" },
        { "{type: string}", "{a: 1}", NULL,
          "a: Invalid value: \"object\": a in body must be of type string: \"object\"" },
        { "{type: integer}", "[1]", NULL,
          "a: Invalid value: \"array\": a in body must be of type integer: \"array\"" },
        { "{type: boolean}", "null", NULL,
          "a: Invalid value: \"null\": a in body must be of type boolean: \"null\"" },
    };
    check_schema_cases(ASPECT_VALUES, cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),        cmocka_unit_test(nulls),
        cmocka_unit_test(numbers),      cmocka_unit_test(texts),
        cmocka_unit_test(enums),        cmocka_unit_test(arrays),
        cmocka_unit_test(objects),      cmocka_unit_test(combinations),
        cmocka_unit_test(updates),      cmocka_unit_test(bounds_beside_types),
        cmocka_unit_test(large_bounds), cmocka_unit_test(paths),
        cmocka_unit_test(shown_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
