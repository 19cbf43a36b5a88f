/* Pruning and defaults, beside kube-apiserver. */
#include "base/idiom.h"
#include "schema/schema_test.h"

#define EMBEDDED      "x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true"
#define PRESERVE      "x-kubernetes-preserve-unknown-fields: true"
#define INT_OR_STRING "x-kubernetes-int-or-string: true"

/* What the schema does not have goes, unless it is preserved. */
static void unknown_fields(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, properties: {b: {type: string}}}", "{b: x, c: q}", NULL,
          "{\"a\":{\"b\":\"x\"}} a.c" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: string}}}}}",
          "{b: {c: x, d: q}}", NULL, "{\"a\":{\"b\":{\"c\":\"x\"}}} a.b.d" },
        { "{type: object}", "{b: x}", NULL, "{\"a\":{}} a.b" },
        { "{type: object, additionalProperties: {type: string}}", "{b: x}", NULL,
          "{\"a\":{\"b\":\"x\"}}" },
        { "{type: object, additionalProperties: {type: object, properties: {c: {type: string}}}}",
          "{k: {c: x, d: q}}", NULL, "{\"a\":{\"k\":{\"c\":\"x\"}}} a.k.d" },
        { "{type: object, additionalProperties: true}", "{b: {c: {d: x}}}", NULL,
          "{\"a\":{\"b\":{}}} a.b.c" },
        { "{type: array, items: {type: object, properties: {b: {type: string}}}}",
          "[{b: x, c: q}, {c: q}]", NULL, "{\"a\":[{\"b\":\"x\"},{}]} a[0].c a[1].c" },
        { "{type: array, items: {type: array, items: {type: object}}}", "[[{b: x}]]", NULL,
          "{\"a\":[[{}]]} a[0][0].b" },
        { "{type: object, " PRESERVE "}", "{b: {c: x}}", NULL, "{\"a\":{\"b\":{\"c\":\"x\"}}}" },
        { "{type: object, " PRESERVE
          ", properties: {b: {type: object, properties: {c: {type: string}}}}}",
          "{b: {c: x, d: q}, e: {f: z}}", NULL,
          "{\"a\":{\"b\":{\"c\":\"x\"},\"e\":{\"f\":\"z\"}}} a.b.d" },
        { "{" PRESERVE "}", "{b: {c: x}}", NULL, "{\"a\":{\"b\":{\"c\":\"x\"}}}" },
        { "{" PRESERVE "}", "[1, {b: x}]", NULL, "{\"a\":[1,{\"b\":\"x\"}]}" },
        { "{type: object, properties: {b: {" PRESERVE "}}}", "{b: {c: x}, d: q}", NULL,
          "{\"a\":{\"b\":{\"c\":\"x\"}}} a.d" },
        { "{type: object, properties: {b: {type: object, " PRESERVE
          ", properties: {c: {type: object}}}}}",
          "{b: {c: {d: x}, e: {f: q}}}", NULL,
          "{\"a\":{\"b\":{\"c\":{},\"e\":{\"f\":\"q\"}}}} a.b.c.d" },
        { "{type: object, " PRESERVE
          ", additionalProperties: {type: object, properties: {c: {type: string}}}}",
          "{k: {c: x, d: q}}", NULL, "{\"a\":{\"k\":{\"c\":\"x\"}}} a.k.d" },
        { "{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: "
          "object}}}",
          "{apiVersion: v1, kind: K, metadata: {name: p, x: q}, spec: {b: x}, c: q}", NULL,
          "{\"a\":{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"p\",\"x\":\"q\"},"
          "\"spec\":{}}} a.c a.spec.b" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: K, metadata: {name: p}, spec: {b: x}}", NULL,
          "{\"a\":{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
          "\"b\":\"x\"}}}" },
        { "{type: array, items: {type: object, " EMBEDDED "}}",
          "[{apiVersion: v1, kind: K, metadata: {name: p}, spec: {b: x}}]", NULL,
          "{\"a\":[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
          "\"b\":\"x\"}}]}" },
        { "{type: string}", "{b: x}", NULL, "{\"a\":{}} a.b" },
        { "{type: string}", "[{b: x}]", NULL, "{\"a\":[{}]} a[0].b" },
        { "{" INT_OR_STRING "}", "{b: x}", NULL, "{\"a\":{}} a.b" },
        { "{type: object, properties: {b.c: {type: string}}}", "{b.c: x, d.e: q}", NULL,
          "{\"a\":{\"b.c\":\"x\"}} a.d.e" },
        { "{type: object, properties: {metadata: {type: object}}}",
          "{metadata: {name: x}, apiVersion: v1}", NULL,
          "{\"a\":{\"metadata\":{}}} a.apiVersion a.metadata.name" },
        { "{type: object, properties: {b: {type: string}}}", "{b: null, c: null}", NULL,
          "{\"a\":{\"b\":null}} a.c" },
        { "{type: object, properties: {b: {type: string}}}", "null", NULL, "{\"a\":null}" },
        { "{type: object, properties: {b: {type: string}}, oneOf: [{properties: {c: {}}}]}",
          "{c: x}", NULL, "{\"a\":{}} a.c" },
    };
    check_schema_cases(ASPECT_PRUNED, cases, ARRAY_LEN(cases));
}

/* What is missing gets its default; null where it may not stand is missing. */
static void defaults(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: string, default: x}", "q", NULL, "{\"a\":\"q\"}" },
        { "{type: string, default: x}", "''", NULL, "{\"a\":\"\"}" },
        { "{type: string, default: x}", "null", NULL, "{\"a\":\"x\"}" },
        { "{type: string, nullable: true, default: x}", "null", NULL, "{\"a\":null}" },
        { "{type: string, nullable: true}", "null", NULL, "{\"a\":null}" },
        { "{type: string}", "null", NULL, "{}" },
        { "{type: object, properties: {b: {type: string, default: x}}}", "{}", NULL,
          "{\"a\":{\"b\":\"x\"}}" },
        { "{type: object, properties: {b: {type: string, default: x}}}", "{b: q}", NULL,
          "{\"a\":{\"b\":\"q\"}}" },
        { "{type: object, properties: {b: {type: string, default: x}}}", "{b: null}", NULL,
          "{\"a\":{\"b\":\"x\"}}" },
        { "{type: object, properties: {b: {type: string, nullable: true, default: x}}}",
          "{b: null}", NULL, "{\"a\":{\"b\":null}}" },
        { "{type: object, properties: {b: {type: string}}}", "{b: null}", NULL, "{\"a\":{}}" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: string, default: "
          "x}}}}}",
          "{}", NULL, "{\"a\":{}}" },
        { "{type: object, properties: {b: {type: object, default: {}, properties: {c: {type: "
          "string, default: x}}}}}",
          "{}", NULL, "{\"a\":{\"b\":{\"c\":\"x\"}}}" },
        { "{type: object, properties: {b: {type: object, default: {d: q}, properties: {c: {type: "
          "string, default: x}, d: {type: string}}}}}",
          "{}", NULL, "{\"a\":{\"b\":{\"d\":\"q\",\"c\":\"x\"}}}" },
        { "{type: object, properties: {b: {type: object, default: {d: q}, properties: {c: {type: "
          "string, default: x}, d: {type: string, default: z}}}}}",
          "{b: {}}", NULL, "{\"a\":{\"b\":{\"c\":\"x\",\"d\":\"z\"}}}" },
        { "{type: array, items: {type: object, properties: {b: {type: string, default: x}}}}",
          "[{}, {b: q}, {b: null}]", NULL, "{\"a\":[{\"b\":\"x\"},{\"b\":\"q\"},{\"b\":\"x\"}]}" },
        { "{type: array, items: {type: string, default: x}}", "[null, q]", NULL,
          "{\"a\":[\"x\",\"q\"]}" },
        { "{type: array, items: {type: string}}", "[null]", NULL, "{\"a\":[null]}" },
        { "{type: array, items: {type: string, nullable: true}}", "[null]", NULL,
          "{\"a\":[null]}" },
        { "{type: object, additionalProperties: {type: object, properties: {b: {type: integer, "
          "default: 1}}}}",
          "{k: {}, l: {b: 2}}", NULL, "{\"a\":{\"k\":{\"b\":1},\"l\":{\"b\":2}}}" },
        { "{type: object, additionalProperties: {type: string, default: x}}", "{k: null}", NULL,
          "{\"a\":{\"k\":\"x\"}}" },
        { "{type: object, additionalProperties: {type: string}}", "{k: null, l: q}", NULL,
          "{\"a\":{\"l\":\"q\"}}" },
        { "{type: object, additionalProperties: {type: string, nullable: true}}", "{k: null}", NULL,
          "{\"a\":{\"k\":null}}" },
        { "{type: object, properties: {b: {type: integer, default: 5}, c: {type: boolean, default: "
          "false}, d: {type: number, default: 1.5}, e: {type: array, items: {type: string}, "
          "default: [x]}}}",
          "{}", NULL, "{\"a\":{\"b\":5,\"c\":false,\"d\":1.5,\"e\":[\"x\"]}}" },
        { "{type: object, properties: {b: {type: array, default: [{}], items: {type: object, "
          "properties: {c: {type: string, default: x}}}}}}",
          "{}", NULL, "{\"a\":{\"b\":[{\"c\":\"x\"}]}}" },
        { "{type: object, properties: {b: {" INT_OR_STRING ", default: 50%}}}", "{}", NULL,
          "{\"a\":{\"b\":\"50%\"}}" },
        { "{type: object, " PRESERVE ", properties: {b: {type: string, default: x}}}", "{c: null}",
          NULL, "{\"a\":{\"c\":null,\"b\":\"x\"}}" },
        { "{type: object, properties: {b: {type: object, nullable: true, properties: {c: {type: "
          "string, default: x}}}}}",
          "{b: null}", NULL, "{\"a\":{\"b\":null}}" },
        { "{type: object, properties: {b: {type: object, properties: {c: {type: string, default: "
          "x}}}}}",
          "{b: null}", NULL, "{\"a\":{}}" },
        { "{type: object, properties: {b: {type: object, default: {}, properties: {c: {type: "
          "string, default: x}}}}}",
          "{b: null}", NULL, "{\"a\":{\"b\":{\"c\":\"x\"}}}" },
        { "{type: object, properties: {b: {type: string, default: x}}}", "[]", NULL, "{\"a\":[]}" },
        { "{type: object, properties: {b: {type: string, default: x}}}", "q", NULL,
          "{\"a\":\"q\"}" },
    };
    check_schema_cases(ASPECT_DEFAULTS, cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
