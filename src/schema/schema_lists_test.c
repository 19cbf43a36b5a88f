/* Sets and keyed lists, in kube-apiserver's words. */
#include "base/idiom.h"
#include "schema/schema_test.h"

#define KEYED         "x-kubernetes-list-type: map, x-kubernetes-list-map-keys:"
#define LIST          "x-kubernetes-list-type:"
#define INT_OR_STRING "x-kubernetes-int-or-string: true"

/* Sets and keyed lists have nothing twice. */
static void duplicates(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: array, " LIST " set, items: {type: string}}", "[x, q]", NULL, "" },
        { "{type: array, " LIST " set, items: {type: string}}", "[x, q, x]", NULL,
          "a[2]: Duplicate value: \"x\"" },
        { "{type: array, " LIST " set, items: {type: string}}", "[x, x, x, x]", NULL,
          "a[1]: Duplicate value: \"x\"" },
        { "{type: array, " LIST " set, items: {type: string}}", "[x, q, x, q]", NULL,
          "a[2]: Duplicate value: \"x\"\na[3]: Duplicate value: \"q\"" },
        { "{type: array, " LIST " set, items: {type: integer}}", "[1, 2, 1]", NULL,
          "a[2]: Duplicate value: 1" },
        { "{type: array, " LIST " set, items: {type: number}}", "[1.5, 1.5]", NULL,
          "a[1]: Duplicate value: 1.5" },
        { "{type: array, " LIST " set, items: {type: boolean}}", "[true, true]", NULL,
          "a[1]: Duplicate value: true" },
        { "{type: array, " LIST " set, items: {" INT_OR_STRING "}}", "[1, '1', 1]", NULL,
          "a[2]: Duplicate value: 1" },
        { "{type: array, " LIST " set, items: {type: array, " LIST
          " atomic, items: {type: string}}}",
          "[[x], [x]]", NULL, "a[1]: Duplicate value: [\"x\"]" },
        { "{type: array, " LIST " set, items: {type: object, x-kubernetes-map-type: atomic, "
          "properties: {b: {type: string}}}}",
          "[{b: x}, {b: x}]", NULL, "a[1]: Duplicate value: {\"b\":\"x\"}" },
        { "{type: array, " LIST " atomic, items: {type: string}}", "[x, x]", NULL, "" },
        { "{type: array, items: {type: string}}", "[x, x]", NULL, "" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: string}}}}",
          "[{k: a}, {k: b}]", NULL, "" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: string}}}}",
          "[{k: a, v: x}, {k: a, v: q}]", NULL, "a[1]: Duplicate value: {\"k\":\"a\"}" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: integer}, v: {type: string}}}}",
          "[{k: 1}, {k: 1}]", NULL, "a[1]: Duplicate value: {\"k\":1}" },
        { "{type: array, " KEYED " [k, l], items: {type: object, required: [k, l], properties: {k: "
          "{type: string}, l: {type: integer}}}}",
          "[{k: a, l: 1}, {k: a, l: 2}]", NULL, "" },
        { "{type: array, " KEYED " [k, l], items: {type: object, required: [k, l], properties: {k: "
          "{type: string}, l: {type: integer}}}}",
          "[{k: a, l: 1}, {k: b, l: 1}, {k: a, l: 1}]", NULL,
          "a[2]: Duplicate value: {\"k\":\"a\",\"l\":1}" },
        { "{type: array, " KEYED
          " [k], items: {type: object, properties: {k: {type: string, default: d}}}}",
          "[{}, {}]", NULL, "a[1]: Duplicate value: {}" },
        { "{type: array, " KEYED " [k], items: {type: object, properties: {k: {type: string}}}}",
          "[{k: null}, {}]", NULL, "" },
        { "{type: array, items: {type: object, properties: {b: {type: array, " LIST
          " set, items: {type: string}}}}}",
          "[{b: [x]}, {b: [x, x]}]", NULL, "a[1].b[1]: Duplicate value: \"x\"" },
        { "{type: object, additionalProperties: {type: array, " LIST
          " set, items: {type: string}}}",
          "{k: [x, x]}", NULL, "a[k][1]: Duplicate value: \"x\"" },
        { "{type: object, properties: {b: {type: array, " LIST " set, items: {type: string}}}}",
          "{b: [x, x]}", NULL, "a.b[1]: Duplicate value: \"x\"" },
        { "{type: array, " KEYED " [k], items: {type: object, required: [k], properties: {k: "
          "{type: string}, v: {type: array, " LIST " set, items: {type: string}}}}}",
          "[{k: a, v: [x, x]}]", NULL, "a[0].v[1]: Duplicate value: \"x\"" },
        { "{type: array, " LIST " set, items: {type: string}}", "x", NULL, "" },
        { "{type: array, " LIST " set, items: {type: string}}", "null", NULL, "" },
        { "{type: array, " KEYED
          " [k], items: {type: object, required: [k], properties: {k: {type: string}}}}",
          "[x]", NULL,
          "a[0]: Invalid value: \"x\": must be an object for an array of list-type map" },
    };
    check_schema_cases(ASPECT_LISTS, cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
