#include "base/idiom.h"
#include "merge/last_applied.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kind.h"
#include "merge/trees_test.h"

static const struct str annotation = STR("kubectl.kubernetes.io/last-applied-configuration");

/* A ConfigMap with some data, and with the annotation if there is one. */
static struct value live(const char *data, const char *last)
{
    struct value obj = tree_of(arena_printf(
        &arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{},\"data\":" STR_FMT "}",
        STR_ARG(quoted(data))));
    if (last) {
        struct value *meta = value_edit(&arena, &obj, STR("metadata"));
        value_put(&arena, value_ensure(&arena, meta, STR("annotations")), annotation,
                  value_string(quoted(last)));
    }
    return obj;
}

static struct str paths(const char *data, const char *last)
{
    struct managed_request req = {
        .schema = &ownership_kinds,
        .place = ownership_kind(kind_find(STR("v1"), STR("ConfigMap"))),
        .api_version = STR("v1"),
    };
    struct value obj = live(data, last);
    struct value fields = fieldset_write(&arena, last_applied_paths(&arena, &req, &obj));
    return text_of(&fields);
}

#define CONFIG(data) "{'apiVersion':'v1','kind':'ConfigMap','data':" data "}"

#define OWN(fields) "{'f:apiVersion':{}," fields "'f:kind':{}}"

static void what_is_still_as_applied_is_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *data, *last, *want;
    } rows[] = {
        { "{'a':'1','b':'1'}", CONFIG("{'a':'1'}"), OWN("'f:data':{'f:a':{}},") },
        { "{'a':'2','b':'1'}", CONFIG("{'a':'1'}"), OWN("") }, /* changed since */
        { "{'b':'1'}", CONFIG("{'a':'1'}"), OWN("") },         /* removed since */
        { "{'a':'1','b':'2'}", CONFIG("{'a':'1','b':'1'}"), OWN("'f:data':{'f:a':{}},") },
        { "{'a':'1'}", CONFIG("{'a':'0','a':'1'}"),
          OWN("'f:data':{'f:a':{}},") }, /* the last counts */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str found = paths(rows[i].data, rows[i].last);
        if (!str_eq(found, quoted(rows[i].want)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(found));
    }
}

/* Anybody can write the annotation: what is of no use counts as none. */
static void an_annotation_of_no_use_is_none(void **state)
{
    (void)state;
    static const char *const rows[] = {
        NULL,
        "",
        "{",
        "[]",
        "null",
        "{'apiVersion':'v2','kind':'ConfigMap','data':{'a':'1'}}",
        "{'apiVersion':'v1','kind':'Secret','data':{'a':'1'}}",
        "{'kind':'ConfigMap','data':{'a':'1'}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(str_eq(paths("{'a':'1'}", rows[i]), STR("{}")));
}

static struct str written(const char *config, const char *last)
{
    struct value applied = tree(config), obj = live("{}", last);
    struct str before = text_of(&applied);
    last_applied_write(&arena, &applied, &obj);
    assert_true(str_eq(text_of(&applied), before)); /* which is only read */
    return value_str(value_get(value_dig(&obj, "metadata", "annotations"), annotation));
}

static void it_is_written_as_kubectl_does(void **state)
{
    (void)state;
    static const struct {
        const char *config, *want;
    } rows[] = {
        { "{'kind':'ConfigMap','apiVersion':'v1'}", "{'apiVersion':'v1','kind':'ConfigMap'}\n" },
        { "{'data':{'b':'<&>','a':[{'d':1,'c':2}]}}",
          "{'data':{'a':[{'c':2,'d':1}],'b':'\\u003c\\u0026\\u003e'}}\n" },
        /* Not itself in itself; other annotations stay. */
        { "{'metadata':{'annotations':{"
          "'kubectl.kubernetes.io/last-applied-configuration':'{}','x':'1'}}}",
          "{'metadata':{'annotations':{'x':'1'}}}\n" },
        { "{'metadata':{'annotations':'none'}}", "{'metadata':{'annotations':'none'}}\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str found = written(rows[i].config, "{}");
        if (!str_eq(found, quoted(rows[i].want)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(found));
    }
}

static void it_is_not_written_where_it_was_not(void **state)
{
    (void)state;
    assert_int_equal(written("{'kind':'ConfigMap'}", NULL).n, 0);
    struct value applied = tree("{'data':{}}"), obj = tree("{'data':{}}");
    last_applied_write(&arena, &applied, &obj);
    assert_true(str_eq(text_of(&obj), quoted("{'data':{}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_still_as_applied_is_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_annotation_of_no_use_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_written_as_kubectl_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_not_written_where_it_was_not, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
