#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/typed.h"
#include "base/limits.h"
#include "merge/managed.h"
#include "merge/trees_test.h"

static struct value nothing;

static struct managed_request by(const char *manager, const char *now)
{
    nothing = tree("{'metadata':{}}");
    return (struct managed_request){
        .schema = &ownership_kinds,
        .place = ownership_kind(kind_find(STR("v1"), STR("ConfigMap"))),
        .manager = str_of(manager),
        .api_version = STR("v1"),
        .now = str_of(now),
        .empty = &nothing,
    };
}

static struct value updated(const char *manager, const char *now, const struct value *live,
                            const char *text)
{
    struct managed_request req = by(manager, now);
    struct value obj = tree(text);
    struct err err = ERR_INIT(&arena);
    if (managed_update(&arena, &req, live, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return obj;
}

static int apply(const char *manager, const char *now, const struct value *live, const char *text,
                 bool force, struct value *ret, struct err *err)
{
    struct managed_request req = by(manager, now);
    struct value config = tree(text);
    *err = ERR_INIT(&arena);
    return managed_apply(&arena, &req, live, &config, force, ret, err);
}

static struct value applied(const char *manager, const char *now, const struct value *live,
                            const char *text)
{
    struct err err;
    struct value obj = value_null();
    if (apply(manager, now, live, text, false, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return obj;
}

/* "manager/operation@time fields", one per line. */
static void assert_managers(const struct value *obj, const char *want)
{
    autobuf out = { 0 };
    value_each_item (e, value_dig(obj, "metadata", "managedFields")) {
        buf_printf(&out, STR_FMT "/" STR_FMT "@" STR_FMT " ",
                   STR_ARG(value_str(value_get(e, STR("manager")))),
                   STR_ARG(value_str(value_get(e, STR("operation")))),
                   STR_ARG(value_str(value_get(e, STR("time")))));
        json_write(&out, value_get(e, STR("fieldsV1")));
        buf_byte(&out, '\n');
    }
    buf_byte(&out, '\0');
    assert_string_equal(out.p, str_cstr(&arena, quoted(want)));
}

static void test_create_and_update(void **state)
{
    (void)state;
    struct value obj = updated("one", "1", NULL, "{'data':{'a':'1','b':'1'},'kind':'ConfigMap'}");
    assert_managers(&obj, "one/Update@1 {'f:data':{'.':{},'f:a':{},'f:b':{}}}\n");
    struct value next = updated("two", "2", &obj, "{'data':{'a':'2','c':'1'}}");
    assert_managers(&next, "one/Update@1 {'f:data':{}}\n"
                           "two/Update@2 {'f:data':{'f:a':{},'f:c':{}}}\n");
    struct value same = updated("three", "3", &next, "{'data':{'a':'2','c':'1'}}");
    assert_managers(&same, "one/Update@1 {'f:data':{}}\n"
                           "two/Update@2 {'f:data':{'f:a':{},'f:c':{}}}\n");
}

static void test_brought_managers(void **state)
{
    (void)state;
    struct value live = updated("one", "1", NULL, "{'data':{'a':'1'}}");
    struct value reset = updated("two", "2", &live, "{'metadata':{'managedFields':[]},'data':{}}");
    assert_managers(&reset, "");
    struct value later = updated("two", "3", &reset, "{'data':{'x':'1'}}");
    assert_managers(&later, "");
    struct value bad = updated("two", "2", &live,
                               "{'metadata':{'managedFields':[{'operation':'Steal'}]},"
                               "'data':{'a':'1'}}");
    assert_managers(&bad, "one/Update@1 {'f:data':{'.':{},'f:a':{}}}\n");
    struct value good = updated("two", "2", &live,
                                "{'metadata':{'managedFields':[{'manager':'m','operation':'Update',"
                                "'apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':"
                                "{'f:data':{'f:a':{}}}}]},'data':{'a':'1'}}");
    assert_managers(&good, "m/Update@ {'f:data':{'f:a':{}}}\n");
}

static void test_too_many_managers(void **state)
{
    (void)state;
    struct value live = updated("one", "1", NULL, "{'data':{'a':'1'}}"), list = value_array();
    struct value entry = tree("{'operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1'}");
    for (size_t i = 0; i <= LIMIT_FIELD_MANAGERS; i++)
        value_put_item(&arena, &list, value_borrow(&entry));
    struct value obj = tree("{'metadata':{},'data':{'a':'1'}}");
    value_put(&arena, value_edit(&arena, &obj, STR("metadata")), STR("managedFields"), list);
    struct managed_request req = by("two", "2");
    struct err err = ERR_INIT(&arena);
    assert_int_equal(managed_update(&arena, &req, &live, &obj, &err), 0);
    assert_managers(&obj, "one/Update@1 {'f:data':{'.':{},'f:a':{}}}\n");
}

static void test_cap(void **state)
{
    (void)state;
    struct value obj = updated("m00", "00", NULL, "{'data':{'k00':'1'}}");
    for (size_t i = 1; i < 13; i++) {
        struct str name = arena_printf(&arena, "m%02zu", i), key = str_skip(name, 1);
        struct managed_request req = by(str_cstr(&arena, name), str_cstr(&arena, key));
        struct value next = value_clone(&arena, &obj);
        struct err err = ERR_INIT(&arena);
        value_put(&arena, value_edit(&arena, &next, STR("data")), key, value_string(key));
        assert_int_equal(managed_update(&arena, &req, &obj, &next, &err), 0);
        obj = next;
    }
    const struct value *list = value_dig(&obj, "metadata", "managedFields");
    assert_int_equal(list->n, 10);
    struct value want = tree("{'f:data':{'.':{},'f:01':{},'f:02':{},'f:03':{},'f:k00':{}}}");
    const struct value *oldest = value_at(list, 0);
    assert_string_equal(str_cstr(&arena, value_str(value_get(oldest, STR("manager")))),
                        "ancient-changes");
    assert_string_equal(str_cstr(&arena, value_str(value_get(oldest, STR("time")))), "03");
    assert_true(value_eq(value_get(oldest, STR("fieldsV1")), &want));
}

static void test_reset_fields(void **state)
{
    (void)state;
    struct fieldset_step data = fieldset_name(STR("data"));
    struct managed_request req = by("one", "1");
    struct value obj = tree("{'data':{'a':'1'},'immutable':true}");
    struct err err = ERR_INIT(&arena);
    req.reset = fieldset_of(&arena, &data, 1);
    assert_int_equal(managed_update(&arena, &req, NULL, &obj, &err), 0);
    assert_managers(&obj, "one/Update@1 {'f:immutable':{}}\n");
}

static void test_apply(void **state)
{
    (void)state;
    struct value obj = applied("one", "1", NULL, "{'data':{'a':'1','b':'1'}}");
    assert_managers(&obj, "one/Apply@1 {'f:data':{'f:a':{},'f:b':{}}}\n");
    obj = applied("two", "2", &obj, "{'data':{'b':'1','c':'1'}}");
    assert_managers(&obj, "one/Apply@1 {'f:data':{'f:a':{},'f:b':{}}}\n"
                          "two/Apply@2 {'f:data':{'f:b':{},'f:c':{}}}\n");
    obj = applied("one", "3", &obj, "{'data':{}}"); /* gives up two, one of them for good */
    assert_managers(&obj, "two/Apply@2 {'f:data':{'f:b':{},'f:c':{}}}\n"
                          "one/Apply@3 {'f:data':{}}\n");
    struct value want = tree("{'b':'1','c':'1'}");
    assert_true(value_eq(value_get(&obj, STR("data")), &want));
    obj = applied("two", "4", &obj, "{'data':{'b':'1','c':'1'}}"); /* nothing new, no new time */
    assert_managers(&obj, "two/Apply@2 {'f:data':{'f:b':{},'f:c':{}}}\n"
                          "one/Apply@3 {'f:data':{}}\n");
}

static void test_conflicts(void **state)
{
    (void)state;
    struct err err;
    struct value out, obj = applied("one", "1", NULL, "{'data':{'a':'1','b':'1'}}");
    obj = updated("ctl", "2", &obj, "{'data':{'a':'1','b':'2','c':'1'}}");
    assert_int_equal(apply("two", "3", &obj, "{'data':{'a':'3'}}", false, &out, &err),
                     -ERR_CONFLICT);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "Apply failed with 1 conflict: conflict with \"one\": .data.a");
    assert_int_equal(apply("two", "3", &obj, "{'data':{'a':'3','b':'3'}}", false, &out, &err),
                     -ERR_CONFLICT);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "Apply failed with 2 conflicts: conflicts with \"ctl\" using v1:\n"
                        "- .data.b\nconflicts with \"one\":\n- .data.a");
    assert_string_equal(str_cstr(&arena, err.causes->field), ".data.b");
    assert_string_equal(str_cstr(&arena, err.causes->msg), "conflict with \"ctl\" using v1");
    assert_string_equal(str_cstr(&arena, err.causes->next->field), ".data.a");
    assert_int_equal(apply("two", "3", &obj, "{'data':{'a':'3','b':'3'}}", true, &out, &err), 0);
    assert_managers(&out, "two/Apply@3 {'f:data':{'f:a':{},'f:b':{}}}\n"
                          "ctl/Update@2 {'f:data':{'f:c':{}}}\n");
    assert_int_equal(apply("x", "1", &obj, "{'metadata':{'managedFields':[{}]}}", true, &out, &err),
                     -ERR_BAD_REQUEST);
}

static void test_before_first_apply(void **state)
{
    (void)state;
    struct err err;
    struct value out, live = tree("{'metadata':{'name':'c'},'data':{'a':'1'}}");
    assert_int_equal(apply("one", "1", &live, "{'data':{'a':'2'}}", false, &out, &err),
                     -ERR_CONFLICT);
    assert_string_equal(
        str_cstr(&arena, err.msg),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
}

static void test_kubectl_takes_over(void **state)
{
    (void)state;
    static const char text[] =
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'annotations':{"
        "'kubectl.kubernetes.io/last-applied-configuration':"
        "'{\\'apiVersion\\':\\'v1\\',\\'kind\\':\\'ConfigMap\\',\\'data\\':{\\'a\\':\\'1\\'}}'}},"
        "'data':{'a':'1','b':'1'}}";
    struct err err;
    struct value out, live = updated("kubectl-client-side-apply", "1", NULL, text);
    const char *config = "{'apiVersion':'v1','data':{'a':'2'},'kind':'ConfigMap'}";
    assert_int_equal(apply("other", "2", &live, config, false, &out, &err), -ERR_CONFLICT);
    assert_int_equal(apply("kubectl", "2", &live, config, false, &out, &err), 0);
    const struct value *annotation =
        value_get(value_dig(&out, "metadata", "annotations"),
                  STR("kubectl.kubernetes.io/last-applied-configuration"));
    assert_string_equal(str_cstr(&arena, value_str(annotation)),
                        "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\"},\"kind\":\"ConfigMap\"}\n");
    config = "{'apiVersion':'v1','data':{'b':'2'},'kind':'ConfigMap'}";
    assert_int_equal(apply("kubectl", "2", &live, config, false, &out, &err), -ERR_CONFLICT);
}

/* ---- random sequences ---- */

static struct value random_config(uint64_t *seed)
{
    static const char *const keys[] = { "a", "b", "c", "d", "e" };
    struct value config = value_object(), data = value_object();
    for (size_t i = 0; i < 5; i++)
        if (random_below(seed, 2))
            value_put_new(&arena, &data, str_of(keys[i]),
                          value_string(random_below(seed, 2) ? STR("x") : STR("y")));
    value_put_new(&arena, &config, STR("data"), data);
    return config;
}

static const struct fieldset *owned_by(const struct value *obj, struct str manager)
{
    const struct fieldset *s = NULL;
    value_each_item (e, value_dig(obj, "metadata", "managedFields"))
        if (str_eq(value_str(value_get(e, STR("manager"))), manager))
            assert_int_equal(fieldset_read(&arena, value_get(e, STR("fieldsV1")), &s, NULL), 0);
    return s;
}

/* As the server would keep it. */
static struct value stored(const struct managed_request *req, const struct value *live,
                           const struct value *config, bool force)
{
    const struct kind_type *kind = kind_find(STR("v1"), STR("ConfigMap"));
    struct value obj, typed;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(managed_apply(&arena, req, live, config, force, &obj, &err), 0);
    assert_int_equal(typed_read(&arena, kind, &obj, NULL, &typed, &err), 0);
    return typed;
}

static void test_laws(void **state)
{
    (void)state;
    static const char *const managers[] = { "one", "two", "three" };
    struct value obj = tree("{'metadata':{}}");
    bool is_there = false;
    uint64_t seed = 99;
    for (size_t i = 0; i < 2000; i++) {
        struct managed_request req = by(managers[random_below(&seed, 3)], "2001-02-03T04:05:06Z");
        struct value config = random_config(&seed), once, twice;
        const struct fieldset *paths;
        struct err err = ERR_INIT(&arena);
        once = stored(&req, is_there ? &obj : NULL, &config, true);
        twice = stored(&req, &once, &config, false);
        assert_true(value_eq(&once, &twice));
        assert_int_equal(ownership_paths(&arena, req.schema, req.place, &config, &paths, &err), 0);
        assert_true(fieldset_eq(owned_by(&once, req.manager), paths));
        value_each_field (f, value_get(&config, STR("data")))
            assert_true(value_eq(value_get(value_get(&once, STR("data")), f->key), &f->val));
        obj = once;
        is_there = true;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create_and_update, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_brought_managers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_managers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reset_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conflicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_before_first_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kubectl_takes_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_laws, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
