/* Objects inside of objects, beside kube-apiserver. */
#include "base/idiom.h"
#include "schema/schema_test.h"

#define EMBEDDED "x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true"

/* Objects inside of objects have a kind and metadata that are right. */
static void embedded(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod}", NULL, "" },
        { "{type: object, " EMBEDDED "}", "{}", NULL,
          "a.apiVersion: Required value\na.kind: Required value" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1}", NULL, "a.kind: Required value" },
        { "{type: object, " EMBEDDED "}", "{kind: Pod}", NULL, "a.apiVersion: Required value" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: '', kind: ''}", NULL,
          "a.apiVersion: Invalid value: \"\": must not be empty\na.kind: Invalid value: \"\": must "
          "not be empty" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: 1, kind: 2}", NULL,
          "a.apiVersion: Invalid value: 1: must be a string\na.kind: Invalid value: 2: must be a "
          "string" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: a/b/c, kind: Pod}", NULL,
          "a.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: a/b, kind: 1Pod}", NULL,
          "a.kind: Invalid value: \"1Pod\": may have mixed case, but should otherwise match: a "
          "DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
          "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
          "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: a/b, kind: Po_d}", NULL,
          "a.kind: Invalid value: \"Po_d\": may have mixed case, but should otherwise match: a "
          "DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
          "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
          "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: /, kind: Pod}", NULL, "" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod, metadata: {name: p}}", NULL,
          "" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod, metadata: {name: a/b}}",
          NULL, "a.metadata.name: Invalid value: \"a/b\": may not contain '/'" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod, metadata: {name: ..}}", NULL,
          "a.metadata.name: Invalid value: \"..\": may not be '..'" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod, metadata: {namespace: A_B}}",
          NULL,
          "a.metadata.namespace: Invalid value: \"A_B\": a lowercase RFC 1123 label must consist "
          "of lower case alphanumeric characters or '-', and must start and end with an "
          "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {labels: {'a b': c}}}", NULL,
          "a.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric "
          "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
          "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {labels: {a: 'b c'}}}", NULL,
          "a.metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or "
          "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
          "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
          "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {annotations: {'a b': c}}}", NULL,
          "a.metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric "
          "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
          "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {finalizers: ['a b']}}", NULL,
          "a.metadata.finalizers: Invalid value: \"a b\": name part must consist of alphanumeric "
          "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
          "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: Pod, metadata: {generation: -1}}",
          NULL, "a.metadata.generation: Invalid value: -1: must be greater than or equal to 0" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {ownerReferences: [{}]}}", NULL,
          "a.metadata.ownerReferences[0].apiVersion: Required value: must not be "
          "empty\na.metadata.ownerReferences[0].kind: Required value: must not be "
          "empty\na.metadata.ownerReferences[0].name: Required value: must not be "
          "empty\na.metadata.ownerReferences[0].uid: Required value: must not be empty" },
        { "{type: object, " EMBEDDED "}",
          "{apiVersion: v1, kind: Pod, metadata: {generateName: A_}}", NULL, "" },
        { "{type: array, items: {type: object, " EMBEDDED "}}", "[{apiVersion: v1, kind: Pod}, {}]",
          NULL, "a[1].apiVersion: Required value\na[1].kind: Required value" },
        { "{type: object, additionalProperties: {type: object, " EMBEDDED "}}", "{k: {kind: Pod}}",
          NULL, "a[k].apiVersion: Required value" },
        { "{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: "
          "object, " EMBEDDED "}}}",
          "{apiVersion: v1, kind: Pod, spec: {kind: Pod}}", NULL,
          "a.spec.apiVersion: Required value" },
        { "{type: object}", "{apiVersion: 1}", NULL, "" },
    };
    check_schema_cases(ASPECT_EMBEDDED, cases, ARRAY_LEN(cases));
}

/* Metadata inside of objects is read as metadata. */
static void coerced(void **state)
{
    (void)state;
    static const struct schema_case cases[] = {
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: K, metadata: {name: p}}", NULL,
          "{\"a\":{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"p\"}}}" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: 1, kind: K}", NULL,
          "a.apiVersion: Invalid value: 1: must be a string" },
        { "{type: object, " EMBEDDED "}", "{apiVersion: v1, kind: [x]}", NULL,
          "a.kind: Invalid value: [\"x\"]: must be a string" },
        { "{type: object, " EMBEDDED "}", "{metadata: {foo: x, name: p}}", NULL,
          "{\"a\":{\"metadata\":{\"name\":\"p\"}}} a.metadata.foo" },
        { "{type: object, " EMBEDDED "}", "{metadata: {creationTimestamp: null, name: p}}", NULL,
          "{\"a\":{\"metadata\":{\"name\":\"p\"}}}" },
        { "{type: object, " EMBEDDED "}",
          "{metadata: {name: p, labels: {b: c}, annotations: {d: e}}}", NULL,
          "{\"a\":{\"metadata\":{\"name\":\"p\",\"labels\":{\"b\":\"c\"},\"annotations\":{\"d\":"
          "\"e\"}}}}" },
        { "{type: object, " EMBEDDED "}",
          "{metadata: {ownerReferences: [{apiVersion: v1, kind: K, name: p, uid: u, x: q}]}}", NULL,
          "{\"a\":{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"K\","
          "\"name\":\"p\",\"uid\":\"u\"}]}}} a.metadata.ownerReferences[0].x" },
        { "{type: object, " EMBEDDED "}", "{metadata: {finalizers: [x]}}", NULL,
          "{\"a\":{\"metadata\":{\"finalizers\":[\"x\"]}}}" },
        { "{type: object, " EMBEDDED "}", "{metadata: {name: 1}}", NULL,
          "a.metadata: Invalid value: {\"name\":1}: json: cannot unmarshal number into Go struct "
          "field ObjectMeta.name of type string" },
        { "{type: object, " EMBEDDED "}", "{metadata: {labels: {b: 1}}}", NULL,
          "a.metadata: Invalid value: {\"labels\":{\"b\":1}}: json: cannot unmarshal number into "
          "Go struct field ObjectMeta.labels of type string" },
        { "{type: object, " EMBEDDED "}", "{metadata: x}", NULL,
          "a.metadata: Invalid value: \"x\": json: cannot unmarshal string into Go value of type "
          "v1.ObjectMeta" },
        { "{type: object, " EMBEDDED "}", "{metadata: []}", NULL,
          "a.metadata: Invalid value: []: json: cannot unmarshal array into Go value of type "
          "v1.ObjectMeta" },
        { "{type: array, items: {type: object, " EMBEDDED "}}", "[{metadata: {foo: x, name: p}}]",
          NULL, "{\"a\":[{\"metadata\":{\"name\":\"p\"}}]} a[0].metadata.foo" },
        { "{type: object, additionalProperties: {type: object, " EMBEDDED "}}",
          "{k: {metadata: {foo: x}}}", NULL,
          "{\"a\":{\"k\":{\"metadata\":{}}}} a[k].metadata.foo" },
        { "{type: object, properties: {metadata: {type: object}}}", "{metadata: {foo: x}}", NULL,
          "{\"a\":{\"metadata\":{\"foo\":\"x\"}}}" },
    };
    check_schema_cases(ASPECT_COERCED, cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded),
        cmocka_unit_test(coerced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
