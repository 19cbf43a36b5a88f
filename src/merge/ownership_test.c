#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/ownership.h"
#include "merge/trees_test.h"

static struct ownership_place place_of(const char *api_version, const char *kind)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    assert_non_null(t);
    return ownership_kind(t);
}

static void assert_set(const struct fieldset *s, const char *text)
{
    struct value have = fieldset_write(&arena, s);
    assert_string_equal(str_cstr(&arena, text_of(&have)), str_cstr(&arena, quoted(text)));
}

static const struct fieldset *paths(struct ownership_place place, const struct value *v)
{
    const struct fieldset *s = NULL;
    struct err err = ERR_INIT(&arena);
    if (ownership_paths(&arena, &ownership_kinds, place, v, &s, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return s;
}

static struct value merged(struct ownership_place place, const struct value *live,
                           const struct value *applied)
{
    struct value out = value_null();
    struct err err = ERR_INIT(&arena);
    if (ownership_merge(&arena, &ownership_kinds, place, live, applied, &out, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return out;
}

static struct ownership_changes changes(struct ownership_place place, const struct value *old_v,
                                        const struct value *new_v)
{
    struct ownership_changes c = { 0 };
    struct err err = ERR_INIT(&arena);
    if (ownership_compare(&arena, &ownership_kinds, place, old_v, new_v, &c, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return c;
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *api_version, *kind, *object, *paths;
    } rows[] = {
        { "v1", "ConfigMap", "{'kind':'ConfigMap','data':{'a':'1'}}",
          "{'f:data':{'f:a':{}},'f:kind':{}}" },
        { "v1", "ConfigMap", "{'metadata':{'finalizers':['b','a'],'labels':{}}}",
          "{'f:metadata':{'f:finalizers':{'v:\\'a\\'':{},'v:\\'b\\'':{}},'f:labels':{}}}" },
        { "v1", "ConfigMap", "{'metadata':{'ownerReferences':[{'uid':'u','name':'n'}]}}",
          "{'f:metadata':{'f:ownerReferences':{'k:{\\'uid\\':\\'u\\'}':{}}}}" },
        { "apps/v1", "Deployment", "{'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
          "{'f:spec':{'f:selector':{}}}" },
        { "v1", "Service", "{'spec':{'ports':[{'port':80}]}}",
          "{'f:spec':{'f:ports':{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:port':{}}}"
          "}"
          "}" },
        { "v1", "Pod", "{'spec':{'containers':[{'name':'a','args':['x'],'resources':{}}]}}",
          "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:args':{},'f:name':{},"
          "'f:resources':{}}}}}" },
        { "v1", "Pod", "{'spec':{'nodeSelector':{'a':'b'},'hostname':null}}",
          "{'f:spec':{'f:hostname':{},'f:nodeSelector':{}}}" },
        { "apps/v1", "ControllerRevision", "{'data':{'a':{'b':[1]},'c':2}}", "{'f:data':{}}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = tree(rows[i].object);
        struct ownership_place place = place_of(rows[i].api_version, rows[i].kind);
        assert_set(paths(place, &v), rows[i].paths);
    }
}

static void test_changes(void **state)
{
    (void)state;
    struct ownership_place place = place_of("v1", "Pod");
    struct value old_v = tree("{'metadata':{'labels':{'a':'1','b':'1'}},'spec':{'hostname':'h',"
                              "'containers':[{'name':'x','image':'i'},{'name':'y'}]}}");
    struct value new_v = tree("{'metadata':{'labels':{'a':'2','c':'1'}},'spec':{'hostname':'h',"
                              "'containers':[{'name':'z'},{'name':'x','image':'j'}]}}");
    struct ownership_changes c = changes(place, &old_v, &new_v);
    assert_set(c.modified, "{'f:metadata':{'f:labels':{'f:a':{}}},"
                           "'f:spec':{'f:containers':{'k:{\\'name\\':\\'x\\'}':{'f:image':{}}}}}");
    assert_set(c.added, "{'f:metadata':{'f:labels':{'f:c':{}}},'f:spec':{'f:containers':"
                        "{'k:{\\'name\\':\\'z\\'}':{'.':{},'f:name':{}}}}}");
    assert_set(c.removed, "{'f:metadata':{'f:labels':{'f:b':{}}},'f:spec':{'f:containers':"
                          "{'k:{\\'name\\':\\'y\\'}':{'.':{},'f:name':{}}}}}");
}

static void test_merge(void **state)
{
    (void)state;
    static const struct {
        const char *live, *applied, *want;
    } rows[] = {
        { "{'spec':{'hostname':'h'}}", "{'spec':{'nodeName':'n'}}",
          "{'spec':{'hostname':'h','nodeName':'n'}}" },
        { "{'spec':{'nodeSelector':{'a':'1'}}}", "{'spec':{'nodeSelector':{'b':'1'}}}",
          "{'spec':{'nodeSelector':{'b':'1'}}}" },
        { "{'spec':{'containers':[{'name':'a'},{'name':'b','tty':true},{'name':'c'}]}}",
          "{'spec':{'containers':[{'name':'c'},{'name':'b','image':'i'},{'name':'d'}]}}",
          "{'spec':{'containers':[{'name':'a'},{'name':'c'},{'image':'i','name':'b','tty':true},"
          "{'name':'d'}]}}" },
        { "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['c','b']}}",
          "{'metadata':{'finalizers':['a','c','b']}}" },
        { "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':null}}",
          "{'spec':{'containers':[{'name':'a'}]}}" },
        { "{'metadata':{'labels':{'a':'b'}}}", "{'metadata':{'labels':{}}}",
          "{'metadata':{'labels':{'a':'b'}}}" },
    };
    struct ownership_place place = place_of("v1", "Pod");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value live = tree(rows[i].live), applied = tree(rows[i].applied);
        struct value want = tree(rows[i].want), out = merged(place, &live, &applied);
        if (!value_eq(&out, &want))
            fail_msg("%zu: " STR_FMT, i, STR_ARG(text_of(&out)));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *applied, *msg;
    } rows[] = {
        { "{'spec':{'volumes':[{'name':'a'},{'name':'a'}]}}",
          "duplicate entries for key [name=\"a\"]" },
        { "{'spec':{'volumes':[null]}}",
          "element 0: associative list with keys may not have a null element" },
        { "{'spec':{'volumes':[1]}}",
          "element 0: associative list with keys may not have non-map elements" },
        { "{'metadata':{'finalizers':[{}]}}",
          "element 0: associative list without keys has an element that's a map type" },
    };
    struct ownership_place place = place_of("v1", "Pod");
    struct value live = tree("{'metadata':{'finalizers':[]},'spec':{'volumes':[]}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value applied = tree(rows[i].applied), out;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(
            ownership_merge(&arena, &ownership_kinds, place, &live, &applied, &out, &err),
            -ERR_UNKNOWN);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].msg);
    }
}

static void test_check(void **state)
{
    (void)state;
    static const struct {
        const char *applied, *msg;
    } rows[] = {
        { "{'kind':'Pod','spec':{'hostname':'h','containers':[{'name':'a'}],'volumes':null}}", "" },
        { "{'spec':{'hostname':5}}",
          ".spec.hostname: expected string, got &value.valueUnstructured{Value:5}" },
        { "{'spec':{'hostname':{'a':[null,'x']}}}",
          ".spec.hostname: expected string, got &value.valueUnstructured{Value:"
          "map[string]interface {}{\"a\":[]interface {}{interface {}(nil), \"x\"}}}" },
        { "{'spec':{'hostNetwork':'yes'}}", ".spec.hostNetwork: expected boolean, got &{yes}" },
        { "{'spec':{'priority':true}}",
          ".spec.priority: expected numeric (int or float), got bool" },
        { "{'spec':[]}", ".spec: expected map, got &{[]}" },
        { "{'spec':{'containers':{'a':1}}}", ".spec.containers: expected list, got &{map[a:1]}" },
        { "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':1,'x':1}]}]}}",
          ".spec.containers[name=\"a\"].ports[containerPort=1,protocol=\"TCP\"].x: "
          "field not declared in schema" },
        { "{'spec':{'containers':[{'name':'a','args':[1]}]}}",
          ".spec.containers[name=\"a\"].args[0]: expected string, got "
          "&value.valueUnstructured{Value:1}" },
        { "{'spec':{'priority':'1','nodeName':1}}",
          "errors:\n  .spec.priority: expected numeric (int or float), got string\n"
          "  .spec.nodeName: expected string, got &value.valueUnstructured{Value:1}" },
        { "{'metadata':{'creationTimestamp':{}}}",
          ".metadata.creationTimestamp: expected any scalar, got &{map[]}" },
    };
    struct ownership_place place = place_of("v1", "Pod");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = tree(rows[i].applied);
        struct err err = ERR_INIT(&arena);
        int r = ownership_check(&arena, &ownership_kinds, place, &v, &err);
        assert_int_equal(r, *rows[i].msg ? -ERR_UNKNOWN : 0);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].msg);
    }
}

static void test_depth(void **state)
{
    (void)state;
    const struct kind_type *recursive =
        kind_type_find(STR("apiextensions.k8s.io"), STR("v1"), STR("JSONSchemaProps"));
    struct value v = value_object();
    struct err err = ERR_INIT(&arena);
    const struct fieldset *s;
    for (size_t i = 0; i <= LIMIT_FIELD_DEPTH; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR("not"), v);
        v = outer;
    }
    assert_non_null(recursive);
    assert_int_equal(
        ownership_paths(&arena, &ownership_kinds, ownership_kind(recursive), &v, &s, &err),
        -ERR_BAD_REQUEST);
    assert_int_equal(ownership_check(&arena, &ownership_kinds, ownership_kind(recursive), &v, &err),
                     -ERR_BAD_REQUEST);
}

/* ---- random objects ---- */

static struct value random_container(uint64_t *seed, size_t name)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct value c = value_object();
    value_put_new(&arena, &c, STR("name"), value_string(str_of(names[name])));
    if (random_below(seed, 2))
        value_put_new(&arena, &c, STR("image"), value_string(str_of(names[random_below(seed, 5)])));
    if (random_below(seed, 2))
        value_put_new(&arena, &c, STR("tty"), value_bool(true));
    return c;
}

static struct value random_pod(uint64_t *seed)
{
    struct value pod = value_object(), spec = value_object(), list = value_array();
    bool seen[5] = { 0 };
    for (size_t n = 1 + random_below(seed, 5); n--;) {
        size_t name = random_below(seed, 5);
        if (!seen[name])
            value_put_item(&arena, &list, random_container(seed, name));
        seen[name] = true;
    }
    value_put_new(&arena, &spec, STR("containers"), list);
    if (random_below(seed, 2))
        value_put_new(&arena, &spec, STR("hostname"), value_int((int64_t)random_below(seed, 2)));
    value_put_new(&arena, &pod, STR("spec"), spec);
    return pod;
}

static void test_laws(void **state)
{
    (void)state;
    struct ownership_place place = place_of("v1", "Pod");
    uint64_t seed = 7;
    for (size_t i = 0; i < 2000; i++) {
        struct value x = random_pod(&seed), y = random_pod(&seed);
        struct value once = merged(place, &x, &y), twice = merged(place, &once, &y);
        const struct fieldset *of_x = paths(place, &x), *of_y = paths(place, &y);
        const struct fieldset *both = fieldset_union(&arena, of_x, of_y);
        assert_true(value_eq(&once, &twice));
        assert_true(fieldset_eq(paths(place, &once), both));
        struct ownership_changes c = changes(place, &x, &once);
        assert_null(c.removed);
        assert_null(fieldset_difference(&arena, fieldset_union(&arena, c.added, c.modified), of_y));
        struct ownership_changes none = changes(place, &once, &twice);
        assert_true(!none.added && !none.modified && !none.removed);
        struct value rest = ownership_remove(&arena, &ownership_kinds, place, &once, of_y);
        assert_null(fieldset_intersection(&arena, fieldset_leaves(&arena, paths(place, &rest)),
                                          fieldset_leaves(&arena, of_y)));
    }
}

static void test_many_items(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct ownership_place place = place_of("v1", "Pod");
    struct value x = tree("{'metadata':{'finalizers':[]}}"), y = tree("{'metadata':{}}");
    struct value *meta = value_edit(&arena, &x, STR("metadata"));
    struct value *list = value_edit(&arena, meta, STR("finalizers"));
    for (size_t i = 0; i < N; i++)
        value_put_item(&arena, list, value_string(arena_printf(&arena, "%zu", (i * 7919) % N)));
    struct value reversed = value_array();
    for (size_t i = N; i-- > 0;)
        value_put_item(&arena, &reversed, value_borrow(value_at(list, i)));
    value_put(&arena, value_edit(&arena, &y, STR("metadata")), STR("finalizers"), reversed);
    struct value out = merged(place, &x, &y);
    assert_true(value_eq(&out, &y));
    assert_int_equal(fieldset_count(paths(place, &out)), N);
    struct ownership_changes c = changes(place, &x, &out);
    assert_true(!c.added && !c.modified && !c.removed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_merge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_items, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
