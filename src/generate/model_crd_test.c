/* Definitions: what structs are called, what their members are, and what is refused. */
#include "generate/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/yaml.h"

static struct arena arena;
static struct err err;

static int read_crd(struct model *m, const char *annotation, const char *properties)
{
    struct str text =
        arena_printf(&arena,
                     "kind: CustomResourceDefinition\n"
                     "metadata: {annotations: {generate.sampan.io/struct-names: \"%s\"}}\n"
                     "spec:\n"
                     "  group: e.com\n"
                     "  names: {kind: Thing, plural: things}\n"
                     "  versions:\n"
                     "  - {name: v1, storage: true, schema: {openAPIV3Schema: {type: object, "
                     "properties: %s}}}\n",
                     annotation, properties);
    struct value crd;
    err = ERR_INIT(&arena);
    if (yaml_read(&arena, text, NULL, &crd, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    model_init(m, &arena);
    return model_from_crd(m, &crd, STR(""), STR(""), &err);
}

static void must_read(struct model *m, const char *annotation, const char *properties)
{
    if (read_crd(m, annotation, properties) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
}

/* "name of struct: member member ..." for each struct that is written. */
static void check_types(const struct model *m, const char *want)
{
    autobuf got = { 0 };
    for (const struct model_type *t = m->types; t; t = t->next) {
        if (t->header.n)
            continue;
        buf_printf(&got, "%s" STR_FMT ":", got.n ? "; " : "", STR_ARG(t->name));
        for (const struct model_field *f = t->fields; f; f = f->next)
            buf_printf(&got, " " STR_FMT, STR_ARG(f->member));
    }
    if (!str_eq(buf_str(&got), str_of(want)))
        fail_msg("got " STR_FMT "\nand not %s", STR_ARG(buf_str(&got)), want);
}

static void names_follow_from_the_path(void **state)
{
    struct model m;
    (void)state;
    must_read(&m, "",
              "{spec: {type: object, properties: {routes: {type: array, items: {type: object, "
              "properties: {policies: {type: object, additionalProperties: {type: object, "
              "properties: {a: {type: string}}}}}}}}}}");
    check_types(&m, "thing: api_version kind metadata spec; thing_spec: routes; "
                    "thing_spec_route: policies; thing_spec_route_policy: a");
    assert_true(model_find(&m, STR("thing_spec_route"))->has_list);
    assert_true(model_find(&m, STR("thing_spec_route_policy"))->has_map);
    assert_true(str_eq(m.file, STR("thing")));
}

static void names_can_be_chosen(void **state)
{
    struct model m;
    (void)state;
    must_read(
        &m, "=item spec=item_wish spec.a=point spec.b=point spec.c=meta_v1_condition",
        "{spec: {type: object, properties: {a: {type: object, properties: {x: {type: "
        "integer}}}, b: {type: object, properties: {x: {type: integer}}}, c: {type: object}}}}");
    check_types(&m, "item: api_version kind metadata spec; item_wish: a b c; point: x");
    /* what is no name in C is not taken */
    must_read(&m, "spec=a-b spec=int", "{spec: {type: object, properties: {x: {type: string}}}}");
    check_types(&m, "thing: api_version kind metadata spec; thing_spec: x");
}

static void names_never_clash(void **state)
{
    struct model m;
    (void)state;
    must_read(&m, "",
              "{part: {type: object, properties: {x: {type: string}}}, parts: {type: array, "
              "items: {type: object, properties: {w: {type: string}}}}, list: {type: object, "
              "properties: {z: {type: string}}}}");
    check_types(&m, "thing: api_version kind metadata part parts list; thing_part: x; "
                    "thing_part_2: w; thing_list_object: z");
}

static void what_everybody_has_is_the_librarys(void **state)
{
    struct model m;
    (void)state;
    must_read(&m, "",
              "{selector: {type: object, properties: {matchLabels: {type: object}, "
              "matchExpressions: {type: array, items: {type: object}}}}}");
    check_types(&m, "thing: api_version kind metadata selector");
    const struct model_type *t = model_find(&m, STR("meta_v1_label_selector"));
    assert_non_null(t);
    assert_true(str_eq(t->header, STR("sampan/api/meta_v1.h")));
}

static void refusals(void **state)
{
    static const char *const rows[][2] = {
        { "kind: Pod", "it is no CustomResourceDefinition" },
        { "kind: CustomResourceDefinition", "it has no version to store with a schema" },
        { "{kind: CustomResourceDefinition, spec: {versions: [{name: v1, storage: true}]}}",
          "it has no version to store with a schema" },
        { "{kind: CustomResourceDefinition, spec: {group: \"a*/b\", names: {kind: A, plural: as}, "
          "versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
          "\"a*/b\" is no name of a group, version or resource" },
        { "{kind: CustomResourceDefinition, spec: {group: a.b, names: {kind: \"A B\", plural: as}, "
          "versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
          "\"A B\" is no name of a kind" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value crd;
        struct model m;
        err = ERR_INIT(&arena);
        assert_int_equal(yaml_read(&arena, str_of(rows[i][0]), NULL, &crd, &err), 0);
        model_init(&m, &arena);
        assert_int_equal(model_from_crd(&m, &crd, STR(""), STR(""), &err), -ERR_INVALID);
        if (!str_eq(err.msg, str_of(rows[i][1])))
            fail_msg("got " STR_FMT "\nand not %s", STR_ARG(err.msg), rows[i][1]);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    struct buf text = { 0 };
    for (unsigned i = 0; i <= LIMIT_SCHEMA_DEPTH; i++)
        buf_printf(&text, "{a: {type: object, properties: ");
    buf_printf(&text, "{}");
    for (unsigned i = 0; i <= LIMIT_SCHEMA_DEPTH; i++)
        buf_printf(&text, "}}");
    struct model m;
    assert_int_equal(read_crd(&m, "", str_cstr(&arena, buf_str(&text))), -ERR_INVALID);
    assert_true(str_ends(err.msg, STR("schemas lie more than 100 deep in each other")));
    buf_done(&text);
}

static int done(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_from_the_path),
        cmocka_unit_test(names_can_be_chosen),
        cmocka_unit_test(names_never_clash),
        cmocka_unit_test(what_everybody_has_is_the_librarys),
        cmocka_unit_test(refusals),
        cmocka_unit_test(depth_is_bounded),
    };
    arena_init(&arena);
    return cmocka_run_group_tests(tests, NULL, done);
}
