/* Whether the schemas of a definition mean something: patterns, defaults and rules. Expectations
 * are what kube-apiserver answers. */
#include "schema/schema_definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/yaml.h"

static struct value parse(struct arena *a, struct str yaml)
{
    struct err err = ERR_INIT(a);
    struct value v;
    if (yaml_read(a, yaml, NULL, &v, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(yaml), STR_ARG(err.msg));
    return v;
}

/* A definition whose objects have a field `a` of that schema. */
static struct value definition(struct arena *a, const char *schema)
{
    return parse(a, arena_printf(a,
                                 "{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: "
                                 "object, properties: {a: %s}}}}]}}",
                                 schema));
}

static struct str faults_of(struct arena *a, const struct field_errors *e)
{
    autobuf text = { 0 };
    for (const struct err_cause *c = e->first; c; c = c->next)
        buf_printf(&text, "%s" STR_FMT ": " STR_FMT, c == e->first ? "" : "\n", STR_ARG(c->field),
                   STR_ARG(c->msg));
    return arena_str(a, buf_str(&text));
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
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value crd = definition(&a, rows[i].schema);
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        schema_check_definition(&e, &crd, NULL);
        struct str got = faults_of(&a, &e), want = str_of(rows[i].faults);
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
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(warns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
