/* Whether the schemas of a definition mean something: patterns, defaults and rules. Expectations
 * are what kube-apiserver answers. */
#include "base/idiom.h"
#include "schema/schema_test.h"

/* A definition whose objects have a field `a` of that schema. */
static struct value definition(struct arena *a, const char *schema)
{
    return parse_yaml(a,
                      arena_printf(a,
                                   "{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: "
                                   "object, properties: {a: %s}}}}]}}",
                                   schema));
}

#define AT    "spec.validation.openAPIV3Schema.properties[a]"
#define RULES "x-kubernetes-validations"
#define SIMPLIFY                                                                          \
    " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where " \
    "arrays, maps, and strings are declared)"

/* How Go prints a rule inside of the server. */
#define GO_RULE(rule, expression)                                                 \
    "{\"Rule\":\"" rule "\",\"Message\":\"\",\"MessageExpression\":\"" expression \
    "\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}"

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        const char *faults; /* how they begin; empty: none */
    } rows[] = {
        { "{type: string}", "" },
        { "{type: string, pattern: '^a+$'}", "" },
        { "{type: string, pattern: '(a'}", AT
          ".pattern: Invalid value: \"(a\": must be a valid regular expression, but isn't: error "
          "parsing regexp: missing closing ): `(a`" },
        { "{type: array, items: {type: string, pattern: 'a**'}}", AT
          ".items.pattern: Invalid value: \"a**\": must be a valid regular expression, but isn't: "
          "error parsing regexp: invalid nested repetition operator: `**`" },
        /* Defaults */
        { "{type: string, default: x}", "" },
        { "{type: object, properties: {b: {type: string}}, default: {b: x}}", "" },
        { "{type: string, default: 5}",
          AT ".default: Invalid value: \"integer\":  in body must be of type string: \"integer\"" },
        { "{type: integer, maximum: 3, default: 5}",
          AT ".default: Invalid value: 5:  in body should be less than or equal to 3" },
        { "{type: object, properties: {b: {type: string}}, default: {c: x}}",
          AT ".default: Invalid value: {\"c\":\"x\"}: must not have unknown fields" },
        { "{type: object, required: [b], properties: {b: {type: string}}, default: {}}",
          AT ".default.b: Required value" },
        { "{type: array, items: {type: object, properties: {b: {type: boolean, default: 1}}}}",
          AT ".items.properties[b].default: Invalid value: \"integer\":  in body must be of type "
             "boolean: \"integer\"" },
        { "{type: integer, default: 5, " RULES ": [{rule: self < 3}]}",
          AT ".default: Invalid value: 5: failed rule: self < 3" },
        /* Rules */
        { "{type: integer, " RULES ": [{rule: self < 3}]}", "" },
        { "{type: integer, " RULES ": [{rule: self + 3}]}",
          AT "." RULES
             "[0].rule: Invalid value: " GO_RULE("self + 3", "") ": cel expression must evaluate "
                                                                 "to a bool" },
        { "{type: integer, " RULES ": [{rule: self < 3, messageExpression: self}]}",
          AT "." RULES "[0].messageExpression: Invalid value: " GO_RULE(
              "self \\u003c 3", "self") ": messageExpression must evaluate to a string" },
        { "{type: integer, " RULES ": [{rule: self <}]}",
          AT "." RULES "[0].rule: Invalid value: " GO_RULE(
              "self \\u003c", "") ": compilation failed: ERROR: "
                                  "<input>:1:7: Syntax error: mismatched input '<EOF>'" },
        { "{type: integer, " RULES ": [{rule: self.b == 3}]}",
          AT "." RULES "[0].rule: Invalid value: " GO_RULE(
              "self.b == 3",
              "") ": compilation failed: "
                  "ERROR: <input>:1:5: type 'int' does not support field selection" },
        { "{type: integer, " RULES ": [{rule: self < 3, optionalOldSelf: true}]}",
          AT "." RULES "[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not "
             "used in rule" },
        { "{type: array, maxItems: 10, items: {type: integer, " RULES
          ": [{rule: self > oldSelf}]}}",
          AT ".items." RULES
             "[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be used on "
             "the uncorrelatable portion of the schema within " AT },
        { "{type: array, maxItems: 10, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: "
          "[k],"
          " items: {type: object, required: [k], properties: {k: {type: string}, v: {type: integer,"
          " " RULES ": [{rule: self > oldSelf}]}}}}",
          "" },
        /* Costs */
        { "{type: array, items: {type: string}, " RULES
          ": [{rule: 'self.all(x, self.all(y, x == y))'}]}",
          AT "." RULES "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more "
             "than 100x" SIMPLIFY "\n" AT "." RULES
             "[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit "
             "for entire OpenAPIv3 schema\n"
             "spec.validation.openAPIV3Schema: Forbidden: " RULES
             " estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of "
             "more than 100x" SIMPLIFY },
        { "{type: array, maxItems: 10, items: {type: string, maxLength: 10}, " RULES
          ": [{rule: 'self.all(x, self.all(y, x == y))'}]}",
          "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value crd = definition(&a, rows[i].schema);
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        schema_check_definition(&e, &crd, NULL);
        struct str got = str_of(faults_text(&a, &e)), want = str_of(rows[i].faults);
        if (want.n ? !str_starts(got, want) : got.n > 0)
            fail_msg("%s\nwant " STR_FMT "\ngot  " STR_FMT, rows[i].schema, STR_ARG(want),
                     STR_ARG(got));
        /* A schema that was there before is not looked at again. */
        struct field_errors again = FIELD_ERRORS_INIT(&a);
        schema_check_definition(&again, &crd, &crd);
        assert_int_equal(again.n, 0);
        struct value other = definition(&a, "{type: object}");
        schema_check_definition(&again, &crd, &other);
        assert_int_equal(again.n, e.n);
        arena_done(&a);
    }
}

static void warns(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *warning;
    } rows[] = {
        { "{type: string, format: date-time}", "" },
        { "{type: string, format: made-up}", "unrecognized format \"made-up\"" },
        { "{type: string, format: int32}", "unrecognized format \"int32\"" },
        { "{type: array, items: {type: integer, format: odd}}", "unrecognized format \"odd\"" },
        { "{type: array, x-kubernetes-list-type: set, items: {type: string}}", "" },
        { "{type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: "
          "atomic}}",
          "x-kubernetes-list-type: set for items of type \"object\" is not supported by "
          "server-side "
          "apply or CEL validation rules" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value crd = definition(&a, rows[i].schema);
        struct validate_warnings w = { .arena = &a }, again = { .arena = &a };
        schema_warn_definition(&w, &crd, NULL);
        struct str got = w.n ? w.texts[0] : STR("");
        if (!str_eq(got, str_of(rows[i].warning)) || w.n > 1)
            fail_msg("%s: " STR_FMT, rows[i].schema, STR_ARG(got));
        schema_warn_definition(&again, &crd, &crd);
        assert_int_equal(again.n, 0);
        arena_done(&a);
    }
}

#define PART_OF_TOTAL \
    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
#define TOTAL "estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of"

struct definition_case {
    const char *schema, *faults;
};

static void check_definitions(const struct definition_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        struct value crd = definition(&a, cases[i].schema);
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        schema_check_definition(&e, &crd, NULL);
        const char *got = faults_text(&a, &e);
        if (strcmp(got, cases[i].faults) != 0)
            fail_msg("%s\nwant %s\ngot  %s", cases[i].schema, cases[i].faults, got);
        arena_done(&a);
    }
}

/* Patterns must compile. */
static void patterns(void **state)
{
    (void)state;
    static const struct definition_case cases[] = {
        { "{type: string, pattern: '['}",
          AT ".pattern: Invalid value: \"[\": must be a valid regular expression, but isn't: error "
             "parsing regexp: missing closing ]: `[`" },
        { "{type: string, pattern: '(?=x)'}",
          AT ".pattern: Invalid value: \"(?=x)\": must be a valid regular expression, but isn't: "
             "error parsing regexp: invalid or unsupported Perl syntax: `(?=`" },
        { "{type: string, pattern: 'a{1001}'}",
          AT ".pattern: Invalid value: \"a{1001}\": must be a valid regular expression, but isn't: "
             "error parsing regexp: invalid repeat count: `{1001}`" },
        { "{type: string, pattern: '\\\\p{Nope}'}", "" },
        { "{type: object, properties: {b: {type: string, pattern: '*'}}}",
          AT ".properties[b].pattern: Invalid value: \"*\": must be a valid regular expression, "
             "but isn't: error parsing regexp: missing argument to repetition operator: `*`" },
        { "{type: object, additionalProperties: {type: string, pattern: '+'}}",
          AT ".additionalProperties.pattern: Invalid value: \"+\": must be a valid regular "
             "expression, but isn't: error parsing regexp: missing argument to repetition "
             "operator: `+`" },
        { "{type: string, allOf: [{pattern: '('}]}",
          AT ".allOf[0].pattern: Invalid value: \"(\": must be a valid regular expression, but "
             "isn't: error parsing regexp: missing closing ): `(`" },
        { "{type: string, not: {pattern: ')'}}",
          AT ".not.pattern: Invalid value: \")\": must be a valid regular expression, but isn't: "
             "error parsing regexp: unexpected ): `)`" },
    };
    check_definitions(cases, ARRAY_LEN(cases));
}

/* Defaults are what the schema accepts, prunes nothing of, and rules allow. */
static void defaults(void **state)
{
    (void)state;
    static const struct definition_case cases[] = {
        { "{type: string, default: ''}", "" },
        { "{type: integer, default: x}",
          AT ".default: Invalid value: \"string\":  in body must be of type integer: \"string\"" },
        { "{type: integer, minimum: 3, default: 1}",
          AT ".default: Invalid value: 1:  in body should be greater than or equal to 3" },
        { "{type: string, enum: [x, z], default: w}",
          AT ".default: Unsupported value: \"w\": supported values: \"x\", \"z\"" },
        { "{type: string, maxLength: 2, default: xyz}",
          AT ".default: Too long: may not be more than 2 bytes" },
        { "{type: string, pattern: '^a', default: b}",
          AT ".default: Invalid value: \"b\":  in body should match '^a'" },
        { "{type: string, format: date-time, default: x}",
          AT ".default: Invalid value: \"x\":  in body must be of type date-time: \"x\"" },
        { "{type: boolean, default: 'true'}",
          AT ".default: Invalid value: \"string\":  in body must be of type boolean: \"string\"" },
        { "{type: number, default: 1}", "" },
        { "{type: array, items: {type: string}, default: [1]}",
          AT ".default.[0]: Invalid value: \"integer\": [0] in body must be of type string: "
             "\"integer\"" },
        { "{type: array, items: {type: string}, default: x}",
          AT ".default: Invalid value: \"string\":  in body must be of type array: \"string\"" },
        { "{type: array, maxItems: 1, items: {type: string}, default: [x, w]}",
          AT ".default: Too many: 2: must have at most 1 item" },
        { "{type: object, properties: {b: {type: integer}}, default: {b: x}}", AT
          ".default.b: Invalid value: \"string\": b in body must be of type integer: \"string\"" },
        { "{type: object, properties: {b: {type: integer}}, default: {c: 1}}",
          AT ".default: Invalid value: {\"c\":1}: must not have unknown fields" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}, "
          "default: {b: {d: 1}}}",
          AT ".default: Invalid value: {\"b\":{\"d\":1}}: must not have unknown fields" },
        { "{type: object, required: [b], properties: {b: {type: integer, default: 1}}, default: "
          "{}}",
          AT ".default.b: Required value" },
        { "{type: object, required: [b], properties: {b: {type: integer}}, default: {}}",
          AT ".default.b: Required value" },
        { "{type: object, x-kubernetes-preserve-unknown-fields: true, default: {c: 1}}", "" },
        { "{type: object, additionalProperties: {type: integer}, default: {k: 1}}", "" },
        { "{type: string, nullable: true, default: null}", "" },
        { "{x-kubernetes-int-or-string: true, default: 5}", "" },
        { "{x-kubernetes-int-or-string: true, default: true}", "" },
        { "{type: array, items: {type: object, properties: {b: {type: string, default: 1}}}}",
          AT ".items.properties[b].default: Invalid value: \"integer\":  in body must be of type "
             "string: \"integer\"" },
        { "{type: object, additionalProperties: {type: object, properties: {b: {type: string, "
          "default: 1}}}}",
          "" },
        { "{type: integer, default: 1, " RULES ": [{rule: self > 1}]}",
          AT ".default: Invalid value: 1: failed rule: self > 1" },
        { "{type: integer, default: 1, " RULES
          ": [{rule: self > 1, message: more, reason: FieldValueForbidden}]}",
          AT ".default: Forbidden: more" },
        { "{type: object, properties: {b: {type: integer, default: 1}}, " RULES
          ": [{rule: self.b > 1}], default: {}}",
          AT ".default: Invalid value: \"object\": no such key: b evaluating rule: self.b > 1" },
        { "{type: integer, default: 1, " RULES ": [{rule: self >= oldSelf}]}", "" },
    };
    check_definitions(cases, ARRAY_LEN(cases));
}

static const struct definition_case rules_cases[] = {
    { "{type: integer, " RULES ": [{rule: 'self > 1'}]}", "" },
    { "{type: integer, " RULES ": [{rule: 'nope > 1'}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"nope \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":"
         "\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:1: "
         "undeclared reference to 'nope' (in container '')\n | nope > 1\n | ^" },
    { "{type: integer, " RULES ": [{rule: 'self > \"a\"'}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"self \\u003e "
         "\\\"a\\\"\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":"
         "\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:6: found no "
         "matching overload for '_>_' applied to '(int, string)'\n | self > \"a\"\n | .....^" },
    { "{type: integer, " RULES ": [{rule: 'self'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"self\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
         "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must evaluate to a bool" },
    { "{type: integer, " RULES ": [{rule: 'oldSelf > 1'}]}", "" },
    { "{type: integer, " RULES ": [{rule: 'self.nope()'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"self.nope()\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
         "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:10: "
         "undeclared reference to 'nope' (in container '')\n | self.nope()\n | .........^" },
    { "{type: string, " RULES ": [{rule: 'self.matches(\"[\")'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"self.matches(\\\"[\\\")\",\"Message\":\"\","
         "\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
         "\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:14: "
         "invalid matches argument\n | self.matches(\"[\")\n | .............^" },
    { "{type: string, maxLength: 10, " RULES ": [{rule: 'self == duration(\"x\").getHours()'}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"self == "
         "duration(\\\"x\\\").getHours()\",\"Message\":\"\",\"MessageExpression\":\"\","
         "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: "
         "ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(string, "
         "int)'\n | self == duration(\"x\").getHours()\n | .....^" },
    { "{type: object, properties: {b: {type: integer}}, " RULES ": [{rule: 'self.c > 1'}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"self.c \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
         "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: "
         "<input>:1:5: undefined field 'c'\n | self.c > 1\n | ....^" },
    { "{type: object, properties: {b: {type: integer}}, " RULES ": [{rule: 'has(self.b)'}]}", "" },
    { "{type: object, properties: {b: {type: integer}}, " RULES ": [{rule: 'has(self.c)'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"has(self.c)\",\"Message\":\"\",\"MessageExpression\":\"\","
         "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation "
         "failed: ERROR: <input>:1:4: undefined field 'c'\n | has(self.c)\n | ...^" },
    { "{type: object, x-kubernetes-preserve-unknown-fields: true, " RULES
      ": [{rule: 'has(self.c)'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"has(self.c)\",\"Message\":\"\",\"MessageExpression\":\"\","
         "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation "
         "failed: ERROR: <input>:1:4: undefined field 'c'\n | has(self.c)\n | ...^" },
    { "{type: object, properties: {b: {x-kubernetes-preserve-unknown-fields: true}}, " RULES
      ": [{rule: 'has(self.b)'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"has(self.b)\",\"Message\":\"\",\"MessageExpression\":\"\","
         "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation "
         "failed: ERROR: <input>:1:4: undefined field 'b'\n | has(self.b)\n | ...^" },
    { "{type: object, properties: {1b: {type: integer}}, " RULES ": [{rule: 'self.1b > 1'}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"self.1b \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
         "\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: Syntax error: "
         "mismatched input '.1' expecting <EOF>\n | self.1b > 1\n | ....^" },
    { "{type: object, properties: {b c: {type: integer}}, " RULES ": [{rule: 'has(self.b)'}]}",
      AT "." RULES "[0].rule: Invalid value: "
         "{\"Rule\":\"has(self.b)\",\"Message\":\"\",\"MessageExpression\":\"\","
         "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation "
         "failed: ERROR: <input>:1:4: undefined field 'b'\n | has(self.b)\n | ...^" },
    { "{type: integer, " RULES ": [{rule: 'self > 1', messageExpression: 'self'}]}",
      AT "." RULES "[0].messageExpression: Invalid value: {\"Rule\":\"self \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"self\",\"Reason\":null,\"FieldPath\":"
         "\"\",\"OptionalOldSelf\":null}: messageExpression must evaluate to a string" },
    { "{type: integer, " RULES ": [{rule: 'self > 1', messageExpression: '\"a\" +'}]}",
      AT "." RULES "[0].messageExpression: Invalid value: {\"Rule\":\"self \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"\\\"a\\\" "
         "+\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: messageExpression "
         "compilation failed: ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' "
         "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
         "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \"a\" +\n | .....^" },
    { "{type: integer, " RULES ": [{rule: 'self > 1', messageExpression: 'nope'}]}",
      AT "." RULES "[0].messageExpression: Invalid value: {\"Rule\":\"self \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"nope\",\"Reason\":null,\"FieldPath\":"
         "\"\",\"OptionalOldSelf\":null}: messageExpression compilation failed: ERROR: "
         "<input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^" },
    { "{type: integer, " RULES ": [{rule: 'self > 1', messageExpression: '\"ok\"'}]}", "" },
    { "{type: integer, " RULES ": [{rule: 'self > 1', optionalOldSelf: true}]}",
      AT "." RULES "[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not "
         "used in rule" },
    { "{type: integer, " RULES ": [{rule: 'oldSelf.hasValue()', optionalOldSelf: true}]}", "" },
    { "{type: integer, " RULES ": [{rule: 'oldSelf > 1', optionalOldSelf: true}]}",
      AT "." RULES "[0].rule: Invalid value: {\"Rule\":\"oldSelf \\u003e "
         "1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
         "\"FieldPath\":\"\",\"OptionalOldSelf\":true}: compilation failed: ERROR: "
         "<input>:1:9: found no matching overload for '_>_' applied to "
         "'(optional_type(int), int)'\n | oldSelf > 1\n | ........^\n" AT "." RULES
         "[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in "
         "rule" },
    { "{type: array, maxItems: 5, items: {type: integer, " RULES ": [{rule: 'self > oldSelf'}]}}",
      AT ".items." RULES "[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be used "
         "on the uncorrelatable portion of the schema within " AT },
    { "{type: array, maxItems: 5, x-kubernetes-list-type: set, items: {type: integer, " RULES
      ": [{rule: 'self > oldSelf'}]}}",
      AT ".items." RULES "[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be used "
         "on the uncorrelatable portion of the schema within " AT },
    { "{type: array, maxItems: 5, items: {type: object, properties: {b: {type: integer, " RULES
      ": [{rule: 'self > oldSelf'}]}}}}",
      AT ".items.properties[b]." RULES
         "[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be used on the "
         "uncorrelatable portion of the schema within " AT },
    { "{type: array, maxItems: 5, items: {type: integer, " RULES
      ": [{rule: 'self > oldSelf.orValue(1)', optionalOldSelf: true}]}}",
      AT ".items." RULES
         "[0].rule: Invalid value: \"self > oldSelf.orValue(1)\": oldSelf cannot be used on "
         "the uncorrelatable portion of the schema within " AT },
    { "{type: object, x-kubernetes-map-type: atomic, properties: {b: {type: integer, " RULES
      ": [{rule: 'self > oldSelf'}]}}}",
      "" },
    { "{type: object, maxProperties: 5, additionalProperties: {type: integer, " RULES
      ": [{rule: 'self > oldSelf'}]}}",
      "" },
    { "{type: object, maxProperties: 5, additionalProperties: {type: array, maxItems: 5, "
      "items: {type: integer, " RULES ": [{rule: 'self > oldSelf'}]}}}",
      AT ".additionalProperties.items." RULES
         "[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be used on the "
         "uncorrelatable portion of the schema within " AT ".additionalProperties" },
};

/* Rules must compile, be about something, and cost little. */
static void rules(void **state)
{
    (void)state;
    check_definitions(rules_cases, ARRAY_LEN(rules_cases));
}

/* What rules may cost, at most, by the sizes that the schema allows. */
static void costs(void **state)
{
    (void)state;
    static const struct definition_case cases[] = {
        { "{type: string, " RULES ": [{rule: 'self.contains(\"abc\")'}]}", "" },
        { "{type: string, maxLength: 256, " RULES ": [{rule: 'self.matches(\"^[a-z]*$\")'}]}", "" },
        { "{type: array, items: {type: string, " RULES ": [{rule: 'self.contains(\"abc\")'}]}}",
          AT ".items." RULES "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of "
             "more than 100x" SIMPLIFY "\n" AT ".items." RULES "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
        { "{type: array, maxItems: 10, items: {type: string, " RULES
          ": [{rule: 'self.contains(\"abc\")'}]}}",
          "" },
        { "{type: array, maxItems: 1000, items: {type: string, maxLength: 1000, " RULES
          ": [{rule: 'self.contains(\"abc\")'}]}}",
          "" },
        { "{type: array, items: {type: integer}, " RULES ": [{rule: 'self.all(i, i > 0)'}]}", "" },
        { "{type: array, items: {type: integer}, " RULES
          ": [{rule: 'self.all(i, self.all(j, i != j))'}]}",
          AT "." RULES "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more "
             "than 100x" SIMPLIFY "\n" AT "." RULES "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
        { "{type: array, maxItems: 100, items: {type: integer}, " RULES
          ": [{rule: 'self.all(i, self.all(j, i != j))'}]}",
          "" },
        { "{type: array, maxItems: 2000, items: {type: integer}, " RULES
          ": [{rule: 'self.all(i, self.all(j, i != j))'}]}",
          AT "." RULES
             "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 2.0x" SIMPLIFY },
        { "{type: object, additionalProperties: {type: string}, " RULES
          ": [{rule: 'self.all(k, self[k].size() < 10)'}]}",
          "" },
        { "{type: object, additionalProperties: {type: array, items: {type: integer, " RULES
          ": [{rule: 'self > 0'}]}}}",
          "" },
        { "{type: object, additionalProperties: {type: array, items: {type: string}, " RULES
          ": [{rule: 'self.all(s, s.contains(\"a\"))'}]}}",
          AT ".additionalProperties." RULES "[0].rule: Forbidden: estimated rule cost exceeds "
             "budget by factor of more than 100x" SIMPLIFY "\n" AT ".additionalProperties." RULES
             "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
        { "{type: object, maxProperties: 10, additionalProperties: {type: array, maxItems: 10, "
          "items: {type: string, maxLength: 10}, " RULES
          ": [{rule: 'self.all(s, s.contains(\"a\"))'}]}}",
          "" },
        { "{type: array, items: {type: integer}, " RULES
          ": [{rule: 'self.sum() > 0', messageExpression: '\"%s\".format([self.map(i, self.map(j, "
          "i + j))])'}]}",
          AT "." RULES "[0].messageExpression: Forbidden: estimated messageExpression cost exceeds "
             "budget by factor of more than 100x" SIMPLIFY "\n" AT "." RULES
             "[0].messageExpression: Forbidden: " PART_OF_TOTAL "\n" AT "." RULES
             "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
        { "{type: array, items: {type: array, items: {type: array, items: {type: integer, " RULES
          ": [{rule: 'self > 0'}]}}}}",
          "" },
        { "{type: array, maxItems: 50, items: {type: array, maxItems: 50, items: {type: array, "
          "maxItems: 50, items: {type: integer, " RULES ": [{rule: 'self > 0'}]}}}}",
          "" },
        { "{type: string, format: date-time, " RULES ": [{rule: 'self.getHours() > 1'}]}", "" },
        { "{type: array, items: {type: string, enum: [a, bc], " RULES
          ": [{rule: 'self.contains(\"b\")'}]}}",
          "" },
        { "{type: array, items: {type: string, format: date, " RULES
          ": [{rule: 'self.getHours() > 1'}]}}",
          "" },
        { "{type: array, items: {type: boolean, " RULES ": [{rule: 'self'}]}}", "" },
        { "{type: array, items: {x-kubernetes-int-or-string: true, " RULES
          ": [{rule: 'type(self) == int'}]}}",
          AT ".items." RULES "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of "
             "more than 100x" SIMPLIFY "\n" AT ".items." RULES "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
        { "{type: array, items: {type: object, required: [b], properties: {b: {type: string, "
          "minLength: 3}}, " RULES ": [{rule: 'self.b.contains(\"x\")'}]}}",
          AT ".items." RULES "[0].rule: Forbidden: estimated rule cost exceeds budget by factor of "
             "more than 100x" SIMPLIFY "\n" AT ".items." RULES "[0].rule: Forbidden: " PART_OF_TOTAL
             "\nspec.validation.openAPIV3Schema: Forbidden: " RULES " " TOTAL
             " more than 100x" SIMPLIFY },
    };
    check_definitions(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),  cmocka_unit_test(warns), cmocka_unit_test(patterns),
        cmocka_unit_test(defaults), cmocka_unit_test(rules), cmocka_unit_test(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
