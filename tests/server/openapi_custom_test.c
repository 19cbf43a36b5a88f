/* What OpenAPI tells of custom kinds: their schemas in version 3 as they are, in version 2 without
 * what Swagger cannot say and old clients stumble over, in JSON and in protobuf; and tags that
 * change when a definition does, and only then. */
#include <stdio.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "requests.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define V3          "/openapi/v3/apis/things.example.com/v1"
#define NAME        "com.example.things.v1.Thing"

static struct requests *requests;

static const char definition[] =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: things.things.example.com}\n"
    "spec:\n"
    "  group: things.example.com\n"
    "  scope: Namespaced\n"
    "  names: {plural: things, singular: thing, kind: Thing}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}, scale: {specReplicasPath: .spec.num, statusReplicasPath: "
    ".status.num}}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        description: A thing.\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            required: [nul, plain]\n"
    "            properties:\n"
    "              plain: {type: string, description: As it is., pattern: ^a, default: abc}\n"
    "              nul: {type: object, nullable: true, properties: {in: {type: string}}}\n"
    "              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: "
    "{in: {type: string}}}\n"
    "              any: {x-kubernetes-preserve-unknown-fields: true}\n"
    "              either: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: "
    "string}]}\n"
    "              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: "
    "{type: object}}}\n"
    "              openpod: {type: object, x-kubernetes-embedded-resource: true, "
    "x-kubernetes-preserve-unknown-fields: true}\n"
    "              keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: "
    "[k], items: {type: object, required: [k], properties: {k: {type: string}}}}\n"
    "              nullist: {type: array, nullable: true, items: {type: string}}\n"
    "              map: {type: object, additionalProperties: {type: integer, format: int32}}\n"
    "              one: {type: object, properties: {x: {type: integer}}, oneOf: [{required: "
    "[x]}]}\n"
    "              ruled: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}\n"
    "              num: {type: integer}\n"
    "          status: {type: object, properties: {num: {type: integer}}}\n";

static struct arena a; /* of one test */

static struct sent get(const char *path, const char *accept)
{
    return requests_send(requests, &a, "GET", str_of(path), "", accept, STR(""));
}

static int start(void **state)
{
    (void)state;
    arena_init(&a);
    requests_define(requests, &a, definition);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)requests_json(requests, &a, "DELETE", STR(DEFINITIONS "/things.things.example.com"),
                        NULL);
    arena_done(&a);
    return 0;
}

/* Every "$ref" below `v` leads to one of `schemas`. */
static size_t check_refs(const struct value *v, struct str prefix, const struct value *schemas)
{
    size_t n = 0;
    value_each_item (it, v)
        n += check_refs(it, prefix, schemas);
    value_each_field (f, v) {
        n += check_refs(&f->val, prefix, schemas);
        if (!str_eq(f->key, STR("$ref")) || !value_is(&f->val, VALUE_STRING))
            continue;
        struct str ref = value_str(&f->val);
        if (!str_starts(ref, prefix) || !value_get(schemas, str_skip(ref, prefix.n)))
            fail_msg("leads nowhere: " STR_FMT, STR_ARG(ref));
        n++;
    }
    return n;
}

static void expect_field(const struct value *schema, const char *field, const char *want)
{
    const struct value *props = value_dig(schema, "properties", "spec", "properties");
    const struct value *got = value_get(props, str_of(field));
    struct value wanted = requests_parse(&a, str_of(want));
    autobuf text = { 0 };
    if (!got)
        fail_msg("no %s", field);
    json_write(&text, got);
    if (!value_eq(got, &wanted))
        fail_msg("%s\nwant %s\ngot  " STR_FMT, field, want, STR_ARG(buf_str(&text)));
}

/* Without the parts that depend on where it is. */
static const struct value *field_of(const struct value *schema, const char *field)
{
    return value_get(value_dig(schema, "properties", "spec", "properties"), str_of(field));
}

/* ---- Version 3 ---- */

static void schemas_are_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *field, *want;
    } rows[] = {
        { "plain", "{type: string, description: As it is., pattern: ^a, default: abc}" },
        { "nul", "{type: object, nullable: true, properties: {in: {type: string}}}" },
        { "open", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {in: "
                  "{type: string}}}" },
        { "any", "{x-kubernetes-preserve-unknown-fields: true}" },
        { "either",
          "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}" },
        { "keyed", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], "
                   "items: {type: object, required: [k], properties: {k: {type: string}}}}" },
        { "nullist", "{type: array, nullable: true, items: {type: string}}" },
        { "map", "{type: object, additionalProperties: {type: integer, format: int32}}" },
        { "one", "{type: object, properties: {x: {type: integer}}, oneOf: [{required: [x]}]}" },
        { "ruled", "{type: integer, x-kubernetes-validations: [{rule: self > 0}]}" },
    };
    struct sent doc = get(V3, "application/json");
    assert_int_equal(doc.status, 200);
    const struct value *schemas = value_dig(&doc.obj, "components", "schemas"),
                       *thing = value_get(schemas, STR(NAME));
    assert_non_null(thing);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_field(thing, rows[i].field, rows[i].want);
    assert_true(check_refs(&doc.obj, STR("#/components/schemas/"), schemas) > 10);
    assert_true(str_eq(value_str(value_get(thing, STR("description"))), STR("A thing.")));
    struct value required = requests_parse(&a, STR("[nul, plain]"));
    assert_true(value_eq(value_dig(thing, "properties", "spec", "required"), &required));
}

/* They have what every object has. */
static void embedded_objects_have_metadata(void **state)
{
    (void)state;
    struct sent doc = get(V3, "application/json");
    const struct value *thing = value_get(value_dig(&doc.obj, "components", "schemas"), STR(NAME));
    struct value required = requests_parse(&a, STR("[kind, apiVersion]"));
    static const char *const fields[] = { "pod", "openpod" };
    for (size_t i = 0; i < 2; i++) {
        const struct value *pod = field_of(thing, fields[i]);
        assert_non_null(value_dig(pod, "properties", "metadata"));
        assert_true(str_eq(value_str(value_dig(pod, "properties", "kind", "type")), STR("string")));
        assert_true(value_eq(value_get(pod, STR("required")), &required));
    }
    assert_non_null(value_dig(thing, "properties", "metadata"));
    assert_null(value_get(thing, STR("required")));
}

static void operations_are_listed(void **state)
{
    (void)state;
    struct sent doc = get(V3, "application/json");
    const struct value *paths = value_get(&doc.obj, STR("paths"));
    static const struct {
        const char *path, *methods;
    } rows[] = {
        { "/apis/things.example.com/v1/", "get" },
        { "/apis/things.example.com/v1/things", "get" },
        { "/apis/things.example.com/v1/namespaces/{namespace}/things", "get post delete" },
        { "/apis/things.example.com/v1/namespaces/{namespace}/things/{name}",
          "get put delete patch" },
        { "/apis/things.example.com/v1/namespaces/{namespace}/things/{name}/status",
          "get put patch" },
        { "/apis/things.example.com/v1/namespaces/{namespace}/things/{name}/scale",
          "get put patch" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct value *path = value_get(paths, str_of(rows[i].path));
        struct str methods = str_of(rows[i].methods);
        if (!path)
            fail_msg("no path %s", rows[i].path);
        while (methods.n) {
            struct str method = str_cut(&methods, ' ');
            if (!value_get(path, method))
                fail_msg("%s has no " STR_FMT, rows[i].path, STR_ARG(method));
        }
    }
}

/* ---- Version 2 ---- */

static void swagger_drops_what_it_cannot_say(void **state)
{
    (void)state;
    static const struct {
        const char *field, *want;
    } rows[] = {
        { "plain", "{type: string, description: As it is., pattern: ^a, default: abc}" },
        { "nul", "{}" },
        { "open", "{x-kubernetes-preserve-unknown-fields: true}" },
        { "any", "{x-kubernetes-preserve-unknown-fields: true}" },
        { "either", "{x-kubernetes-int-or-string: true}" },
        { "openpod",
          "{x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}" },
        { "nullist", "{}" },
        { "map", "{type: object, additionalProperties: {type: integer, format: int32}}" },
        { "one", "{type: object, properties: {x: {type: integer}}}" },
    };
    struct sent doc = get("/openapi/v2", "application/json");
    assert_int_equal(doc.status, 200);
    const struct value *definitions = value_get(&doc.obj, STR("definitions")),
                       *thing = value_get(definitions, STR(NAME));
    assert_non_null(thing);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_field(thing, rows[i].field, rows[i].want);
    struct value required = requests_parse(&a, STR("[plain]"));
    assert_true(value_eq(value_dig(thing, "properties", "spec", "required"), &required));
    assert_non_null(value_dig(field_of(thing, "pod"), "properties", "metadata"));
    assert_true(check_refs(&doc.obj, STR("#/definitions/"), definitions) > 1000);
}

/* ---- Names and parameters ---- */

#define TOOLS "/apis/my-tools.stable.k8s.io/v1/namespaces/{namespace}/tools"

static void expect_id(const struct value *paths, const char *path, const char *method,
                      const char *want)
{
    struct str id = value_str(value_dig(value_get(paths, str_of(path)), method, "operationId"));
    if (!str_eq(id, str_of(want)))
        fail_msg("%s %s: " STR_FMT ", not %s", method, path, STR_ARG(id), want);
}

/* The names of the parameters that are an operation's own, each with a space behind. */
static void expect_parameters(const struct value *paths, const char *path, const char *method,
                              const char *want)
{
    autobuf names = { 0 };
    value_each_item (it, value_dig(value_get(paths, str_of(path)), method, "parameters"))
        buf_printf(&names, STR_FMT " ", STR_ARG(value_str(value_get(it, STR("name")))));
    if (!str_eq(buf_str(&names), str_of(want)))
        fail_msg("%s %s: " STR_FMT ", not %s", method, path, STR_ARG(buf_str(&names)), want);
}

static void names_and_parameters_are_upstreams(void **state)
{
    (void)state;
    struct value crd = requests_parse(
        &a,
        STR("{metadata: {name: tools.my-tools.stable.k8s.io, annotations: "
            "{api-approved.kubernetes.io: 'https://github.com/kubernetes/kubernetes/pull/1'}}, "
            "spec: {group: my-tools.stable.k8s.io, scope: Namespaced, names: {plural: tools, kind: "
            "Tool}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}, "
            "scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}, selectableFields: "
            "[{jsonPath: .spec.color}], schema: {openAPIV3Schema: {type: object, properties: "
            "{spec: {type: object, properties: {color: {type: string}, n: {type: integer}}}, "
            "status: {type: object, properties: {n: {type: integer}}}}}}}]}}"));
    assert_int_equal(requests_json(requests, &a, "POST", STR(DEFINITIONS), &crd).status, 201);
    struct sent doc = get("/openapi/v3/apis/my-tools.stable.k8s.io/v1", "application/json");
    const struct value *paths = value_get(&doc.obj, STR("paths")),
                       *schemas = value_dig(&doc.obj, "components", "schemas");
    expect_id(paths, TOOLS, "post", "createMyToolsStableV1NamespacedTool");
    expect_id(paths, TOOLS, "delete", "deleteMyToolsStableV1CollectionNamespacedTool");
    expect_id(paths, TOOLS "/{name}/status", "get", "readMyToolsStableV1NamespacedToolStatus");
    expect_parameters(paths, TOOLS "/{name}", "get", "resourceVersion ");
    expect_parameters(paths, TOOLS "/{name}/scale", "get", "resourceVersion ");
    expect_parameters(paths, TOOLS, "delete",
                      "allowWatchBookmarks continue fieldSelector labelSelector limit "
                      "resourceVersion resourceVersionMatch sendInitialEvents shardSelector "
                      "timeoutSeconds watch ");
    const struct value *item = value_get(paths, STR(TOOLS "/{name}"));
    assert_null(value_dig(value_get(paths, STR(TOOLS)), "delete", "requestBody"));
    assert_non_null(value_dig(item, "delete", "requestBody"));
    assert_null(value_dig(item, "patch", "responses", "201"));
    const struct value *gvk = value_dig(value_get(paths, STR(TOOLS "/{name}/scale")), "put",
                                        "x-kubernetes-group-version-kind");
    assert_true(str_eq(value_str(value_get(gvk, STR("kind"))), STR("Tool")));
    static const char *const names[] = { "io.k8s.stable.my-tools.v1.Tool",
                                         "io.k8s.stable.my-tools.v1.ToolList" };
    for (size_t i = 0; i < 2; i++) {
        const struct value *fields =
            value_get(value_get(schemas, str_of(names[i])), STR("x-kubernetes-selectable-fields"));
        assert_true(
            str_eq(value_str(value_get(value_at(fields, 0), STR("fieldPath"))), STR("spec.color")));
    }
    (void)requests_json(requests, &a, "DELETE", STR(DEFINITIONS "/tools.my-tools.stable.k8s.io"),
                        NULL);
}

/* A field of a protobuf message: false at the end. */
static bool next_field(struct str *in, uint64_t *ret_number, struct str *ret_bytes)
{
    uint64_t key = 0, n = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (!in->n)
            return false;
        unsigned char c = (unsigned char)*in->p;
        *in = str_skip(*in, 1);
        key |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            break;
    }
    *ret_number = key >> 3;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(in->n > 0 && shift < 64);
        unsigned char c = (unsigned char)*in->p;
        *in = str_skip(*in, 1);
        n |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            break;
    }
    *ret_bytes = (struct str){ 0 };
    if ((key & 7) == 2) {
        assert_true(n <= in->n);
        *ret_bytes = str_take(*in, n);
        *in = str_skip(*in, n);
    } else {
        assert_int_equal(key & 7, 0);
    }
    return true;
}

/* Document.definitions (9) of NamedSchema (1), whose name is 1: openapiv2.proto of gnostic. */
static bool has_definition(struct str document, struct str name)
{
    enum { DEFINITIONS_FIELD = 9 };
    uint64_t number;
    struct str definitions, schema, bytes;
    bool found = false;
    while (next_field(&document, &number, &definitions))
        while (number == DEFINITIONS_FIELD && next_field(&definitions, &(uint64_t){ 0 }, &schema))
            if (next_field(&schema, &(uint64_t){ 0 }, &bytes))
                found |= str_eq(bytes, name);
    return found;
}

static void swagger_in_protobuf(void **state)
{
    (void)state;
    struct sent doc =
        get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    assert_int_equal(doc.status, 200);
    assert_true(has_definition(doc.body, STR(NAME)));
    assert_true(has_definition(doc.body, STR("io.k8s.api.core.v1.Pod")));
    assert_false(has_definition(doc.body, STR("com.example.things.v1.Nothing")));
}

/* ---- Tags ---- */

static struct str tag(void)
{
    struct sent list = get("/openapi/v3", "application/json");
    const struct value *v =
        value_get(value_get(&list.obj, STR("paths")), STR("apis/things.example.com/v1"));
    return value_str(value_get(v, STR("serverRelativeURL")));
}

static void tags_change_with_definitions(void **state)
{
    (void)state;
    struct str first = tag();
    assert_true(str_starts(first, STR(V3 "?hash=")));
    assert_true(str_eq(tag(), first));
    struct value other = requests_parse(
        &a, STR("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
                "{name: others.others.example.com}, spec: {group: others.example.com, scope: "
                "Cluster, names: {plural: others, kind: Other}, versions: [{name: v1, served: true,"
                " storage: true, schema: {openAPIV3Schema: {type: object}}}]}}"));
    assert_int_equal(requests_json(requests, &a, "POST", STR(DEFINITIONS), &other).status, 201);
    assert_true(str_eq(tag(), first)); /* that one is none of ours */
    struct value patch = requests_parse(
        &a, STR("[{op: add, path: "
                "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/fresh, value: "
                "{type: boolean}}]"));
    autobuf text = { 0 };
    json_write(&text, &patch);
    struct sent got =
        requests_send(requests, &a, "PATCH", STR(DEFINITIONS "/things.things.example.com"),
                      "application/json-patch+json", "", buf_str(&text));
    assert_int_equal(got.status, 200);
    assert_false(str_eq(tag(), first));
    struct sent doc = get(V3, "application/json");
    expect_field(value_get(value_dig(&doc.obj, "components", "schemas"), STR(NAME)), "fresh",
                 "{type: boolean}");
    (void)requests_json(requests, &a, "DELETE", STR(DEFINITIONS "/others.others.example.com"),
                        NULL);
    (void)requests_json(requests, &a, "DELETE", STR(DEFINITIONS "/things.things.example.com"),
                        NULL);
    assert_int_equal(tag().n, 0);
    assert_int_equal(get(V3, "application/json").status, 404);
}

int main(void)
{
#define OPENAPI_TEST(f) cmocka_unit_test_setup_teardown(f, start, end)
    const struct CMUnitTest tests[] = {
        OPENAPI_TEST(schemas_are_as_they_are),
        OPENAPI_TEST(embedded_objects_have_metadata),
        OPENAPI_TEST(operations_are_listed),
        OPENAPI_TEST(swagger_drops_what_it_cannot_say),
        OPENAPI_TEST(swagger_in_protobuf),
        OPENAPI_TEST(names_and_parameters_are_upstreams),
        OPENAPI_TEST(tags_change_with_definitions),
    };
    live_start(&live);
    requests = requests_new(&live);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    requests_free(requests);
    live_stop(&live);
    return failed;
}
