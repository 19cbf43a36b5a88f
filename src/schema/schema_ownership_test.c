/* Which parts of a custom object can be owned by themselves, as the schema has it; and fields
 * looked up in large objects. Sets of fields are written as managedFields has them. */
#include "schema/schema_ownership.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/yaml.h"
#include "schema/schema_fields.h"

static const struct schema *compiled; /* of the kind below */

static const struct schema *schema_of(const struct schema_kind *k)
{
    (void)k;
    return compiled;
}

static const struct schema_kind kind = { .custom = { 0 }, .schema = schema_of };
static const struct kind_type type = { .name = STR("X"),
                                       .group = STR("example.com"),
                                       .version = STR("v2"),
                                       .flags = KIND_HAS_TYPE_META | KIND_JSON_ONLY,
                                       .custom = &kind.custom };

static struct value parse(struct arena *a, const char *yaml)
{
    struct err err = ERR_INIT(a);
    struct value v;
    if (yaml_read(a, str_of(yaml), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, yaml, STR_ARG(err.msg));
    return v;
}

static void owns(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *obj, *fields;
    } rows[] = {
        { "{type: object, properties: {s: {type: object, properties: {a: {type: string}}}}}",
          "{s: {a: x}}", "{\"f:s\":{\"f:a\":{}}}" },
        { "{type: object, properties: {l: {type: array, items: {type: string}}}}", "{l: [x]}",
          "{\"f:l\":{}}" },
        { "{type: object, properties: {l: {type: array, x-kubernetes-list-type: set, items: {type: "
          "string}}}}",
          "{l: [x, z]}", "{\"f:l\":{\"v:\\\"x\\\"\":{},\"v:\\\"z\\\"\":{}}}" },
        { "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
          "x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, "
          "v: "
          "{type: string}}}}}}",
          "{l: [{k: x, v: z}]}",
          "{\"f:l\":{\"k:{\\\"k\\\":\\\"x\\\"}\":{\".\":{},\"f:k\":{},\"f:v\":{}}}}" },
        { "{type: object, properties: {m: {type: object, x-kubernetes-map-type: atomic, "
          "additionalProperties: {type: string}}}}",
          "{m: {a: x}}", "{\"f:m\":{}}" },
        { "{type: object, properties: {m: {type: object, additionalProperties: {type: string}}}}",
          "{m: {a: x}}", "{\"f:m\":{\"f:a\":{}}}" },
        /* What is not known is deduced: objects by their fields, each of which is owned itself,
         * too; lists as a whole. */
        { "{type: object, properties: {o: {type: object, x-kubernetes-preserve-unknown-fields: "
          "true}}}",
          "{o: {a: {b: [1]}}}", "{\"f:o\":{\"f:a\":{\".\":{},\"f:b\":{}}}}" },
        { "{type: object, properties: {e: {x-kubernetes-int-or-string: true}}}", "{e: 5}",
          "{\"f:e\":{}}" },
        { NULL, "{s: {a: {b: x}, l: [1, 2]}}",
          "{\"f:s\":{\".\":{},\"f:a\":{\".\":{},\"f:b\":{}},\"f:l\":{}}}" },
        { "{type: object, properties: {p: {type: object, x-kubernetes-embedded-resource: true, "
          "x-kubernetes-preserve-unknown-fields: true}}}",
          "{p: {apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}}}",
          "{\"f:p\":{\"f:apiVersion\":{},\"f:kind\":{},\"f:metadata\":{\"f:labels\":{"
          "\"f:a\":{}}}}}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct value props, obj = parse(&a, rows[i].obj);
        compiled = NULL;
        if (rows[i].schema) {
            props = parse(&a, rows[i].schema);
            compiled = schema_compile(&a, &props);
        }
        const struct fieldset *set;
        assert_int_equal(
            ownership_paths(&a, &schema_ownership, schema_ownership_of(&type), &obj, &set, &err),
            0);
        struct value written = fieldset_write(&a, set);
        autobuf text = { 0 };
        json_write(&text, &written);
        if (!str_eq(buf_str(&text), str_of(rows[i].fields)))
            fail_msg("%s\nwant %s\ngot  " STR_FMT, rows[i].obj, rows[i].fields,
                     STR_ARG(buf_str(&text)));
        arena_done(&a);
    }
}

/* To another version only the apiVersion changes; what that version does not know is a fault. */
static void converts(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value props = parse(&a, "{type: object, properties: {s: {type: object, properties: {a: "
                                   "{type: string}}}}}"),
                 good = parse(&a, "{apiVersion: example.com/v1, kind: X, s: {a: x}}"),
                 bad = parse(&a, "{apiVersion: example.com/v1, kind: X, s: {b: x}}"), ret;
    compiled = schema_compile(&a, &props);
    struct ownership_place place = schema_ownership_of(&type);
    assert_int_equal(schema_ownership_convert(&a, place, place, &good, &ret, &err), 0);
    assert_true(str_eq(value_str(value_get(&ret, STR("apiVersion"))), STR("example.com/v2")));
    assert_true(schema_ownership_convert(&a, place, place, &bad, &ret, &err) < 0);
    assert_true(str_eq(err.msg, STR(".b: field not declared in schema")));
    arena_done(&a);
}

/* As value_get() would find them, in objects of every size. */
static void finds_fields(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 100; n += 7) {
        struct arena a;
        arena_init(&a);
        struct value obj = value_object();
        for (unsigned i = 0; i < n; i++)
            value_put_new(&a, &obj, arena_printf(&a, "f%u", i * 37 % 101), value_int(i));
        struct schema_fields fields = { .arena = &a, .obj = &obj };
        for (unsigned i = 0; i < 101; i++) {
            struct str name = arena_printf(&a, "f%u", i);
            assert_ptr_equal(schema_fields_get(&fields, name), value_get(&obj, name));
        }
        arena_done(&a);
    }
    struct value text = value_string(STR("x"));
    struct schema_fields none = { .obj = NULL }, odd = { .obj = &text };
    assert_null(schema_fields_get(&none, STR("a")));
    assert_null(schema_fields_get(&odd, STR("a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owns),
        cmocka_unit_test(converts),
        cmocka_unit_test(finds_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
