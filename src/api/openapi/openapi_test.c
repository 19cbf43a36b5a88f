/* What must hold of OpenAPI documents whatever the tables say: they are JSON, every reference leads
 * somewhere, names are unique; and a few schemas and operations, letter by letter. */
#include "api/openapi/openapi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"

static struct value parse(struct arena *a, const struct buf *text)
{
    struct value v;
    struct err err = ERR_INIT(a);
    struct str duplicate = { 0 };
    struct json_options opt = { .ret_duplicate = &duplicate };
    if (json_read(a, buf_str(text), &opt, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    if (duplicate.n)
        fail_msg("twice: " STR_FMT, STR_ARG(duplicate));
    return v;
}

/* Every "$ref" below `v` names one of `schemas`; returns how many there were. */
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
        assert_true(str_starts(ref, prefix));
        if (!value_get(schemas, str_skip(ref, prefix.n)))
            fail_msg("leads nowhere: " STR_FMT, STR_ARG(ref));
        n++;
    }
    return n;
}

static void check_operation_ids(const struct value *paths)
{
    struct map seen = { 0 };
    value_each_field (path, paths)
        value_each_field (op, &path->val) {
            struct str id = value_str(value_get(&op->val, STR("operationId")));
            if (id.n && map_set(&seen, id, (void *)op))
                fail_msg("two operations " STR_FMT, STR_ARG(id));
        }
    assert_true(seen.n > 0);
    map_done(&seen);
}

static void versions_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_kind_versions; i++) {
        struct arena a;
        arena_init(&a);
        autobuf text = { 0 };
        openapi_version(&text, &kind_versions[i], NULL);
        struct value v = parse(&a, &text);
        const struct value *schemas = value_dig(&v, "components", "schemas");
        assert_true(check_refs(&v, STR("#/components/schemas/"), schemas) > 0);
        check_operation_ids(value_get(&v, STR("paths")));
        arena_done(&a);
    }
}

static void swagger_is_whole(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 };
    openapi_swagger(&text, KIND_ALL_VERSIONS, NULL);
    struct value v = parse(&a, &text);
    const struct value *schemas = value_get(&v, STR("definitions"));
    assert_true(check_refs(&v, STR("#/definitions/"), schemas) > 0);
    check_operation_ids(value_get(&v, STR("paths")));
    arena_done(&a);
}

/* ---- Some of it ---- */

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

static void check_property(const struct value *schemas, const char *schema, const char *property,
                           const char *wanted)
{
    const struct value *props = value_get(value_get(schemas, str_of(schema)), STR("properties"));
    const struct value *v = value_get(props, str_of(property));
    assert_non_null(v);
    struct arena a;
    arena_init(&a);
    struct value copy = value_borrow(v);
    value_remove(&a, &copy, STR("description"));
    autobuf text = { 0 };
    json_write(&text, &copy);
    buf_byte(&text, '\0');
    assert_string_equal(text.p, wanted);
    arena_done(&a);
}

struct property_row {
    const char *schema, *property, *v3, *swagger;
};

static const struct property_row property_rows[] = {
    { "io.k8s.api.apps.v1.DeploymentSpec", "strategy",
      "{\"allOf\":[{\"$ref\":\"#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy\"}],"
      "\"default\":{},\"x-kubernetes-patch-strategy\":\"retainKeys\"}",
      "{\"$ref\":\"#/definitions/io.k8s.api.apps.v1.DeploymentStrategy\","
      "\"x-kubernetes-patch-strategy\":\"retainKeys\"}" },
    { "io.k8s.api.apps.v1.DeploymentSpec", "replicas",
      "{\"type\":\"integer\",\"format\":\"int32\"}",
      "{\"type\":\"integer\",\"format\":\"int32\"}" },
    { "io.k8s.api.core.v1.ContainerPort", "protocol", "{\"type\":\"string\",\"default\":\"TCP\"}",
      "{\"type\":\"string\"}" },
    { META "ObjectMeta", "ownerReferences",
      "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" META "OwnerReference\"},"
      "\"x-kubernetes-list-map-keys\":[\"uid\"],\"x-kubernetes-list-type\":\"map\","
      "\"x-kubernetes-patch-merge-key\":\"uid\",\"x-kubernetes-patch-strategy\":\"merge\"}",
      "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/" META "OwnerReference\"},"
      "\"x-kubernetes-list-map-keys\":[\"uid\"],\"x-kubernetes-list-type\":\"map\","
      "\"x-kubernetes-patch-merge-key\":\"uid\",\"x-kubernetes-patch-strategy\":\"merge\"}" },
    { META "ObjectMeta", "labels",
      "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
      "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}" },
};

static void properties_are_as_known(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    autobuf v3_text = { 0 }, swagger_text = { 0 };
    openapi_version(&v3_text, kind_version_find(STR("apps"), STR("v1")), NULL);
    openapi_swagger(&swagger_text, KIND_ALL_VERSIONS, NULL);
    struct value v3 = parse(&a, &v3_text), swagger = parse(&a, &swagger_text);
    const struct value *schemas = value_dig(&v3, "components", "schemas");
    const struct value *definitions = value_get(&swagger, STR("definitions"));
    for (size_t i = 0; i < ARRAY_LEN(property_rows); i++) {
        const struct property_row *row = &property_rows[i];
        check_property(schemas, row->schema, row->property, row->v3);
        check_property(definitions, row->schema, row->property, row->swagger);
    }
    arena_done(&a);
}

static void operations_are_as_known(void **state)
{
    (void)state;
    static const struct {
        const char *path, *method, *id, *action, *kind;
    } rows[] = {
        { "/api/v1/pods", "get", "listCoreV1PodForAllNamespaces", "list", "Pod" },
        { "/api/v1/namespaces/{namespace}/pods", "delete", "deleteCoreV1CollectionNamespacedPod",
          "deletecollection", "Pod" },
        { "/api/v1/namespaces/{namespace}/pods/{name}/eviction", "post",
          "createCoreV1NamespacedPodEviction", "post", "Eviction" },
        { "/api/v1/namespaces/{namespace}/pods/{name}/exec", "post",
          "connectCoreV1PostNamespacedPodExec", "connect", "PodExecOptions" },
        { "/api/v1/nodes/{name}/proxy/{path}", "head", "connectCoreV1HeadNodeProxyWithPath",
          "connect", "NodeProxyOptions" },
        { "/api/v1/watch/namespaces/{namespace}/pods", "get", "watchCoreV1NamespacedPodList",
          "watchlist", "Pod" },
        { "/api/v1/nodes/{name}", "patch", "patchCoreV1Node", "patch", "Node" },
    };
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 };
    openapi_version(&text, kind_version_find(STR(""), STR("v1")), NULL);
    struct value v = parse(&a, &text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct value *op = value_dig(&v, "paths", rows[i].path, rows[i].method);
        assert_non_null(op);
        const struct value *kind = value_dig(op, "x-kubernetes-group-version-kind", "kind");
        assert_true(str_eq(value_str(value_dig(op, "operationId")), str_of(rows[i].id)));
        assert_true(
            str_eq(value_str(value_dig(op, "x-kubernetes-action")), str_of(rows[i].action)));
        assert_true(str_eq(value_str(kind), str_of(rows[i].kind)));
    }
    arena_done(&a);
}

/* ---- Protobuf ---- */

static uint64_t read_varint(struct str *in)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        assert_true(in->n > 0);
        uint8_t byte = (uint8_t)in->p[0];
        *in = str_skip(*in, 1);
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return n;
    }
    fail_msg("a number without an end");
    return 0;
}

/* The next field of a message; its bytes if it has a length. False at the end. */
static bool next_field(struct str *in, uint64_t *ret_number, struct str *ret_bytes)
{
    if (!in->n)
        return false;
    uint64_t tag = read_varint(in);
    uint64_t n = read_varint(in);
    *ret_number = tag >> 3;
    *ret_bytes = STR("");
    if ((tag & 7) == 0)
        return true;
    assert_int_equal(tag & 7, 2);
    assert_true(n <= in->n);
    *ret_bytes = str_take(*in, n);
    *in = str_skip(*in, n);
    return true;
}

static size_t count_pairs(struct str in, uint64_t number)
{
    size_t n = 0;
    uint64_t found;
    struct str pair;
    while (next_field(&in, &found, &pair)) {
        assert_int_equal(found, number);
        uint64_t first_number, second_number;
        struct str name, value, more;
        assert_true(next_field(&pair, &first_number, &name));
        assert_true(next_field(&pair, &second_number, &value));
        assert_false(next_field(&pair, &found, &more));
        assert_int_equal(first_number, 1);
        assert_int_equal(second_number, 2);
        n++;
    }
    return n;
}

static void proto_has_what_json_has(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 }, proto = { 0 };
    openapi_swagger(&text, KIND_ALL_VERSIONS, NULL);
    openapi_swagger_proto(&proto, buf_str(&text));
    struct value v = parse(&a, &text);
    size_t paths = 0, definitions = 0;
    struct str in = buf_str(&proto), bytes;
    uint64_t number;
    while (next_field(&in, &number, &bytes)) {
        if (number == 8)
            paths = count_pairs(bytes, 2);
        else if (number == 9)
            definitions = count_pairs(bytes, 1);
    }
    assert_int_equal(paths, value_get(&v, STR("paths"))->n);
    assert_int_equal(definitions, value_get(&v, STR("definitions"))->n);
    arena_done(&a);
}

/* Of what every kind has, the first words are known to people and to tools. */
static void descriptions_begin_as_they_always_did(void **state)
{
    (void)state;
#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
    static const struct {
        const char *type, *field, *begins;
    } rows[] = {
        { "io.k8s.api.core.v1.Pod", "apiVersion", "APIVersion defines " },
        { "io.k8s.api.core.v1.Pod", "kind", "Kind is a string value " },
        { "io.k8s.api.core.v1.Pod", "metadata", "Standard object's metadata" },
        { "io.k8s.api.core.v1.PodList", "metadata", "Standard list metadata" },
        { META "ObjectMeta", "annotations", "Annotations is an unstructured key value map " },
        { META "ObjectMeta", "creationTimestamp", "CreationTimestamp is a timestamp " },
        { META "ObjectMeta", "deletionGracePeriodSeconds", "Number of seconds allowed " },
        { META "ObjectMeta", "deletionTimestamp", "DeletionTimestamp is RFC 3339 date and time" },
        { META "ObjectMeta", "finalizers", "Must be empty before the object is deleted" },
        { META "ObjectMeta", "generateName", "GenerateName is an optional prefix" },
        { META "ObjectMeta", "generation", "A sequence number " },
        { META "ObjectMeta", "labels", "Map of string keys and values " },
        { META "ObjectMeta", "managedFields", "ManagedFields maps " },
        { META "ObjectMeta", "name", "Name must be unique within a namespace" },
        { META "ObjectMeta", "namespace", "Namespace defines the space " },
        { META "ObjectMeta", "ownerReferences", "List of objects depended by this object" },
        { META "ObjectMeta", "resourceVersion", "An opaque value " },
        { META "ObjectMeta", "uid", "UID is the unique in time and space value " },
        { META "ListMeta", "continue", "continue may be set " },
        { META "ListMeta", "remainingItemCount", "remainingItemCount is the number of " },
        { META "ListMeta", "resourceVersion", "String that identifies the server's internal" },
    };
    struct arena a;
    autobuf text = { 0 };
    arena_init(&a);
    openapi_swagger(&text, KIND_CURRENT_VERSIONS, NULL);
    struct value doc = parse(&a, &text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct value *type =
            value_get(value_get(&doc, STR("definitions")), str_of(rows[i].type));
        struct str words = value_str(value_dig(type, "properties", rows[i].field, "description"));
        if (!str_starts(words, str_of(rows[i].begins)))
            fail_msg("%s.%s: " STR_FMT, rows[i].type, rows[i].field, STR_ARG(words));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_begin_as_they_always_did),
        cmocka_unit_test(versions_are_whole),
        cmocka_unit_test(swagger_is_whole),
        cmocka_unit_test(properties_are_as_known),
        cmocka_unit_test(operations_are_as_known),
        cmocka_unit_test(proto_has_what_json_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
