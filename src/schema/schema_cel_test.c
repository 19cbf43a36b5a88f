/* Rules of schemas, run over objects; expectations are what kube-apiserver answers. */
#include "base/idiom.h"
#include "schema/schema_test.h"

struct result {
    struct str faults, warnings; /* lines */
};

static struct result run(struct arena *a, const char *schema, const char *obj, const char *old)
{
    struct value props = parse_yaml(a, str_of(schema)), now = parse_yaml(a, str_of(obj)),
                 was = value_null();
    const struct schema *s = schema_compile(a, &props);
    const struct schema_programs *programs = schema_programs_compile(a, s, true);
    struct validate_warnings w = { .arena = a };
    struct field_errors e = FIELD_ERRORS_INIT(a);
    e.warnings = &w;
    assert_non_null(programs);
    if (old)
        was = parse_yaml(a, str_of(old));
    schema_programs_run(&e, programs, NULL, &now, old ? &was : NULL);
    autobuf faults = { 0 }, warnings = { 0 };
    for (const struct err_cause *c = e.first; c; c = c->next)
        buf_printf(&faults, "%s" STR_FMT ": " STR_FMT, c == e.first ? "" : "\n", STR_ARG(c->field),
                   STR_ARG(c->msg));
    for (size_t i = 0; i < w.n; i++)
        buf_printf(&warnings, "%s" STR_FMT, i ? "\n" : "", STR_ARG(w.texts[i]));
    return (struct result){ arena_str(a, buf_str(&faults)), arena_str(a, buf_str(&warnings)) };
}

#define FIELD(rules) "{type: object, properties: {a: {type: integer, " rules "}}}"
#define RULE(more)   FIELD("x-kubernetes-validations: [{rule: 'self < 5'" more "}]")

static void says(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *obj, *old, *faults, *warnings;
    } rows[] = {
        { RULE(""), "{a: 4}", NULL, "", "" },
        { RULE(""), "{}", NULL, "", "" },
        { RULE(""), "{a: 9}", NULL, "a: Invalid value: 9: failed rule: self < 5", "" },
        { RULE(", message: too much"), "{a: 9}", NULL, "a: Invalid value: 9: too much", "" },
        { RULE(", messageExpression: 'self > 8 ? \"far too much\" : \"too much\"'"), "{a: 9}", NULL,
          "a: Invalid value: 9: far too much", "" },
        /* Where it fails, is blank or has several lines, the message stands in for it. */
        { RULE(", message: static, messageExpression: '1 / (self - 9) > 5 ? \"x\" : \"y\"'"),
          "{a: 9}", NULL, "a: Invalid value: 9: static", "" },
        { RULE(", message: static, messageExpression: '\"  \"'"), "{a: 9}", NULL,
          "a: Invalid value: 9: static", "" },
        { RULE(", messageExpression: '\"two\\nlines\"'"), "{a: 9}", NULL,
          "a: Invalid value: 9: failed rule: self < 5", "" },
        { RULE(", reason: FieldValueForbidden, message: nope"), "{a: 9}", NULL,
          "a: Forbidden: nope", "" },
        { RULE(", reason: FieldValueRequired, message: nope"), "{a: 9}", NULL,
          "a: Required value: nope", "" },
        { RULE(", reason: FieldValueDuplicate, message: nope"), "{a: 9}", NULL,
          "a: Duplicate value: 9", "" },
        /* What did not change is only warned about. */
        { RULE(""), "{a: 9}", "{a: 8}", "a: Invalid value: 9: failed rule: self < 5", "" },
        { RULE(""), "{a: 9}", "{}", "a: Invalid value: 9: failed rule: self < 5", "" },
        { RULE(""), "{a: 9}", "{a: 9}", "", "a: Invalid value: 9: failed rule: self < 5" },
        /* Rules about changes are asked only where there was something before. */
        { FIELD("x-kubernetes-validations: [{rule: 'self >= oldSelf'}]"), "{a: 1}", NULL, "", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'self >= oldSelf'}]"), "{a: 1}", "{}", "", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'self >= oldSelf'}]"), "{a: 1}", "{a: 2}",
          "a: Invalid value: 1: failed rule: self >= oldSelf", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'self > oldSelf'}]"), "{a: 1}", "{a: 1}",
          "a: Invalid value: 1: failed rule: self > oldSelf", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'oldSelf.hasValue() || self == 0', "
                "optionalOldSelf: true}]"),
          "{a: 1}", NULL, "a: Invalid value: 1: failed rule: oldSelf.hasValue() || self == 0", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'oldSelf.hasValue() || self == 0', "
                "optionalOldSelf: true}]"),
          "{a: 1}", "{a: 0}", "", "" },
        { FIELD("x-kubernetes-validations: [{rule: 'oldSelf.hasValue() || self == 0', "
                "optionalOldSelf: true}]"),
          "{a: 1}", "{}", "a: Invalid value: 1: failed rule: oldSelf.hasValue() || self == 0", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct result got = run(&a, rows[i].schema, rows[i].obj, rows[i].old);
        if (!str_eq(got.faults, str_of(rows[i].faults)) ||
            !str_eq(got.warnings, str_of(rows[i].warnings)))
            fail_msg("%s\n%s\nfaults " STR_FMT "\nwarnings " STR_FMT, rows[i].schema, rows[i].obj,
                     STR_ARG(got.faults), STR_ARG(got.warnings));
        arena_done(&a);
    }
}

static void finds(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *obj, *faults;
    } rows[] = {
        { "{type: object, properties: {l: {type: array, items: {type: integer, "
          "x-kubernetes-validations: [{rule: 'self > 0'}]}}}}",
          "{l: [1, 0, -1]}",
          "l[1]: Invalid value: 0: failed rule: self > 0\n"
          "l[2]: Invalid value: -1: failed rule: self > 0" },
        { "{type: object, properties: {m: {type: object, additionalProperties: {type: string, "
          "x-kubernetes-validations: [{rule: 'self.size() < 3'}]}}}}",
          "{m: {k: abc, l: ab}}", "m[k]: Invalid value: \"abc\": failed rule: self.size() < 3" },
        /* Of an object nothing is shown; the fault may be told of a field of it. */
        { "{type: object, properties: {s: {type: object, properties: {b: {type: integer}}, "
          "x-kubernetes-validations: [{rule: 'self.b > 0', message: nope}]}}}",
          "{s: {b: 0}}", "s: Invalid value: nope" },
        { "{type: object, properties: {s: {type: object, properties: {b: {type: integer}}, "
          "x-kubernetes-validations: [{rule: 'self.b > 0', message: nope, fieldPath: .b}]}}}",
          "{s: {b: 0}}", "s.b: Invalid value: nope" },
        { "{type: object, properties: {s: {type: object, properties: {b: {type: integer}}, "
          "x-kubernetes-validations: [{rule: 'self.b > 0', message: b is positive}]}}}",
          "{s: {}}",
          "s: Invalid value: \"object\": no such key: b evaluating rule: b is positive" },
        { "{type: object, properties: {metadata: {type: object}}, x-kubernetes-validations: "
          "[{rule: 'self.metadata.name.startsWith(\"a\")'}]}",
          "{metadata: {name: b}}",
          "<nil>: Invalid value: failed rule: self.metadata.name.startsWith(\"a\")" },
        { "{type: object, properties: {s: {type: string, allOf: [{x-kubernetes-validations: "
          "[{rule: 'self != \"\"'}]}]}}}",
          "{s: ''}", "s: Invalid value: \"\": failed rule: self != \"\"" },
        { "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, "
          "x-kubernetes-validations: [{rule: 'self.kind == \"Pod\"'}]}}}",
          "{e: {apiVersion: v1, kind: Node, metadata: {name: x}}}",
          "e: Invalid value: failed rule: self.kind == \"Pod\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct result got = run(&a, rows[i].schema, rows[i].obj, NULL);
        if (!str_eq(got.faults, str_of(rows[i].faults)))
            fail_msg("%s\nwant %s\ngot  " STR_FMT, rows[i].obj, rows[i].faults,
                     STR_ARG(got.faults));
        arena_done(&a);
    }
}

/* Items of keyed lists are compared with what they were, wherever they stand now. */
static void correlates(void **state)
{
    (void)state;
    static const char schema[] =
        "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
        "x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: "
        "{type: integer, x-kubernetes-validations: [{rule: 'self >= oldSelf'}]}}}}}}";
    struct arena a;
    arena_init(&a);
    struct result got = run(&a, schema, "{l: [{k: c, v: 0}, {k: b, v: 1}, {k: a, v: 5}]}",
                            "{l: [{k: a, v: 4}, {k: b, v: 2}]}");
    assert_true(str_eq(got.faults, STR("l[1].v: Invalid value: 1: failed rule: self >= oldSelf")));
    arena_done(&a);
}

static struct str numbers(struct arena *a, unsigned n)
{
    autobuf text = { 0 };
    buf_printf(&text, "{l: [");
    for (unsigned i = 0; i < n; i++)
        buf_printf(&text, "%s%u", i ? "," : "", i);
    buf_printf(&text, "]}");
    return arena_str(a, buf_str(&text));
}

/* One rule may cost a million, all of them together ten million. */
static void stops(void **state)
{
    (void)state;
    static const char twice[] =
        "{type: object, properties: {l: {type: array, items: {type: integer}, "
        "x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, x + y >= 0))'}, {rule: 'false'}"
        "]}}}";
    struct arena a;
    arena_init(&a);
    struct result got = run(&a, twice, str_cstr(&a, numbers(&a, 1000)), NULL);
    assert_true(str_eq(got.faults,
                       STR("l: Invalid value: \"array\": 'operation cancelled: actual cost limit "
                           "exceeded': no further validation rules will be run due to call cost "
                           "exceeds limit for rule: self.all(x, self.all(y, x + y >= 0))")));
    autobuf many = { 0 };
    buf_printf(&many, "{type: object, properties: {l: {type: array, items: {type: integer}, "
                      "x-kubernetes-validations: [");
    for (unsigned i = 0; i < 40; i++)
        buf_printf(&many, "%s{rule: 'self.all(x, self.all(y, x + y >= 0))'}", i ? "," : "");
    buf_printf(&many, "]}}}");
    got = run(&a, str_cstr(&a, buf_str(&many)), str_cstr(&a, numbers(&a, 300)), NULL);
    assert_true(str_eq(got.faults, STR("l: Invalid value: \"array\": validation failed due to "
                                       "running out of cost budget, no further validation rules "
                                       "will be run")));
    arena_done(&a);
}

/* A small rule that would make much, over an object of a few bytes. */
static void is_not_overwhelmed(void **state)
{
    (void)state;
    static const struct {
        const char *part, *end, *faults;
    } rows[] = {
        { ".map(x,x+x)", ".size() == 1", "" },
        { ".map(x,[x,x])", ".all(x, x == x)",
          "a: Invalid value: \"integer\": 'operation cancelled: actual cost limit exceeded': no "
          "further validation rules will be run due to call cost exceeds limit for rule: too "
          "much" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        autobuf schema = { 0 };
        arena_init(&a);
        buf_printf(&schema, "{type: object, properties: {a: {type: integer, "
                            "x-kubernetes-validations: [{message: too much, rule: '[[1]]");
        for (int k = 0; k < 27; k++)
            buf_printf(&schema, "%s", rows[i].part);
        buf_printf(&schema, "%s'}]}}}", rows[i].end);
        struct result got = run(&a, str_cstr(&a, buf_str(&schema)), "{a: 1}", NULL);
        if (!str_eq(got.faults, str_of(rows[i].faults)))
            fail_msg("got " STR_FMT, STR_ARG(got.faults));
        arena_done(&a);
    }
}

/* Rules are not blamed for what they could not finish; whoever reports says why. */
static void gives_up(void **state)
{
    (void)state;
    struct arena a;
    struct allowance w = { .end = ALLOWANCE_LATE };
    arena_init(&a);
    struct value props = parse_yaml(&a, str_of(RULE(""))), now = parse_yaml(&a, str_of("{a: 9}"));
    const struct schema_programs *p = schema_programs_compile(&a, schema_compile(&a, &props), true);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct err err = ERR_INIT(&a);
    arena_allow(&a, &w);
    schema_programs_run(&e, p, NULL, &now, NULL);
    assert_int_equal(e.n, 0);
    assert_int_equal(field_errors_report(&e, STR("g"), STR("K"), STR("n"), &err), -ERR_TIMEOUT);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says),
        cmocka_unit_test(finds),
        cmocka_unit_test(correlates),
        cmocka_unit_test(stops),
        cmocka_unit_test(is_not_overwhelmed),
        cmocka_unit_test(gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
