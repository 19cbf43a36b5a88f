#include "merge/json_patch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/trees_test.h"

#define REFUSED NULL

/* Document, patch, result. Single quotes stand for double ones. */
static const struct {
    const char *doc, *patch, *result;
} cases[] = {
    { "{}", "[]", "{}" },
    { "{'b':1,'a':2}", "null", "{'b':1,'a':2}" },
    { "{'b':1,'a':2}", "[{'op':'add','path':'/c','value':3}]", "{'a':2,'b':1,'c':3}" },
    { "{'a':{'z':1,'y':2}}", "[{'op':'add','path':'/b','value':{'q':1,'p':2}}]",
      "{'a':{'z':1,'y':2},'b':{'q':1,'p':2}}" }, /* what was not opened keeps its order */
    { "{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}" },
    { "{'a':1}", "[{'op':'add','path':'/b'}]", "{'a':1,'b':null}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/-','value':3}]", "{'a':[1,2,3]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/0','value':3}]", "{'a':[3,1,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/2','value':3}]", "{'a':[1,2,3]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/3','value':3}]", REFUSED },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/-1','value':3}]", "{'a':[1,2,3]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/-3','value':3}]", "{'a':[3,1,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/-4','value':3}]", REFUSED },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/+1','value':3}]", "{'a':[1,3,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/01','value':3}]", "{'a':[1,3,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/-0','value':3}]", "{'a':[3,1,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/1x','value':3}]", REFUSED },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/','value':3}]", REFUSED },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/99999999999999999999','value':3}]", REFUSED },
    { "{'a':[]}", "[{'op':'add','path':'/a/0','value':3}]", "{'a':[3]}" },
    { "{}", "[{'op':'add','path':'/a/b','value':3}]", REFUSED },
    { "{'a':null}", "[{'op':'add','path':'/a/b','value':3}]", REFUSED },
    { "{'a':'x'}", "[{'op':'add','path':'/a/b','value':3}]", REFUSED },
    { "{}", "[{'op':'add','path':'','value':{}}]", REFUSED },
    { "{}", "[{'op':'add','path':'a','value':1}]", REFUSED },
    { "{}", "[{'op':'add','path':'ignored/a','value':1}]", "{'a':1}" },
    { "{}", "[{'op':'add','path':'/','value':1}]", "{'':1}" },
    { "{'':{}}", "[{'op':'add','path':'//','value':1}]", "{'':{'':1}}" },
    { "{}", "[{'op':'add','path':'/a~1b~0c~01~2~','value':1}]", "{'a/b~c~1~2~':1}" },
    { "{}", "[{'op':'add','value':1}]", REFUSED },
    { "{}", "[{'op':'add','path':null,'value':1}]", REFUSED },
    { "[]", "[{'op':'add','path':'/-','value':1}]", "[1]" },

    { "{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}" },
    { "{'b':2}", "[{'op':'remove','path':'/a'}]", REFUSED },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}" },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1,2]}" },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-4'}]", REFUSED },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/3'}]", REFUSED },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-'}]", REFUSED },
    { "{'a':[1]}", "[{'op':'remove','path':'/a/0'},{'op':'add','path':'/a/0','value':2}]",
      "{'a':[2]}" },
    { "{'a':1}", "[{'op':'remove','path':''}]", REFUSED },

    { "{'a':1}", "[{'op':'replace','path':'/a','value':2}]", "{'a':2}" },
    { "{}", "[{'op':'replace','path':'/a','value':2}]", "{'a':2}" },
    { "{'a':[1]}", "[{'op':'replace','path':'/a/0','value':2}]", "{'a':[2]}" },
    { "{'a':[1]}", "[{'op':'replace','path':'/a/1','value':2}]", REFUSED },
    { "{'a':[1]}", "[{'op':'replace','path':'/a/-','value':2}]", REFUSED },
    { "{'a':[1]}", "[{'op':'replace','path':'','value':{'b':1}}]", "{'b':1}" },
    { "{'a':[1]}", "[{'op':'replace','path':'','value':[1]}]", "[1]" },
    { "{'a':[1]}", "[{'op':'replace','path':'','value':1}]", REFUSED },
    { "{'a':[1]}", "[{'op':'replace','path':''}]", REFUSED },

    { "{'a':1}", "[{'op':'move','from':'/a','path':'/b'}]", "{'b':1}" },
    { "{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}" },
    { "{'b':1}", "[{'op':'move','from':'/a','path':'/b'}]", REFUSED },
    { "{'a':{}}", "[{'op':'move','from':'/a','path':'/a/b'}]", REFUSED },
    { "{'a':[1,[2],3]}", "[{'op':'move','from':'/a/0','path':'/a/0/0'}]", "{'a':[[1,2],3]}" },
    { "{'a':[1,2,3]}", "[{'op':'move','from':'/a/0','path':'/a/-'}]", "{'a':[2,3,1]}" },
    { "{'a':{'b':{'c':1}}}",
      "[{'op':'add','path':'/a/b/d','value':2},{'op':'move','from':'/a/b','path':'/e'}]",
      "{'a':{},'e':{'c':1,'d':2}}" },
    { "{'a':1}", "[{'op':'move','path':'/b'}]", REFUSED },

    { "{'a':[1]}", "[{'op':'copy','from':'/a','path':'/b'},{'op':'add','path':'/b/-','value':2}]",
      "{'a':[1],'b':[1,2]}" },
    { "{'a':[1]}",
      "[{'op':'add','path':'/a/-','value':2},{'op':'copy','from':'/a','path':'/b'},"
      "{'op':'add','path':'/a/-','value':3}]",
      "{'a':[1,2,3],'b':[1,2]}" },
    { "{}", "[{'op':'copy','from':'/a','path':'/b'}]", "{'b':null}" },
    { "{'a':[]}", "[{'op':'copy','from':'/a/0','path':'/b'}]", REFUSED },
    { "{'a':{}}", "[{'op':'copy','from':'/a','path':'/a/a'}]", "{'a':{'a':{}}}" },

    { "{'a':1}", "[{'op':'test','path':'/a','value':1}]", "{'a':1}" },
    { "{'a':1}", "[{'op':'test','path':'/a','value':1.0}]", REFUSED },
    { "{'a':1}", "[{'op':'test','path':'/a','value':'1'}]", REFUSED },
    { "{'a':1}", "[{'op':'test','path':'/a'}]", REFUSED },
    { "{'a':1}", "[{'op':'test','path':'/b'}]", "{'a':1}" },
    { "{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}" },
    { "{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}" },
    { "{'a':1}", "[{'op':'test','path':'/b','value':[]}]", REFUSED },
    { "{'a':[]}", "[{'op':'test','path':'/a/0','value':null}]", REFUSED },
    { "{'a':{'x':1,'y':[1,{}]}}", "[{'op':'test','path':'/a','value':{'y':[1,{}],'x':1}}]",
      "{'a':{'x':1,'y':[1,{}]}}" },
    { "{'a':{'x':[1]}}",
      "[{'op':'add','path':'/a/x/-','value':2},"
      "{'op':'test','path':'/a','value':{'x':[1,2]}},"
      "{'op':'test','path':'','value':{'a':{'x':[1,2]}}}]",
      "{'a':{'x':[1,2]}}" },
    { "{'a':{'x':[1]}}",
      "[{'op':'add','path':'/a/x/-','value':2},"
      "{'op':'test','path':'/a','value':{'y':[1,2]}}]",
      REFUSED },
    { "{'a':{'x':[1]}}",
      "[{'op':'add','path':'/a/x/-','value':2},"
      "{'op':'test','path':'/a','value':{'x':[1,3]}}]",
      REFUSED },

    { "{'a':1}", "[{'op':'add','op':'remove','path':'/a'}]", "{}" },
    { "{'a':1}", "[{'op':'ADD','path':'/a'}]", REFUSED },
    { "{'a':1}", "[{'path':'/a'}]", REFUSED },
    { "{'a':1}", "[null]", REFUSED },
    { "'x'", "[]", REFUSED },
};

static void test_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value doc = tree(cases[i].doc), patch = tree(cases[i].patch);
        struct value before = value_share(&doc);
        struct str patch_before = text_of(&patch);
        struct err err = ERR_INIT(&arena);
        int r = json_patch_apply(&arena, &patch, &doc, &err);
        if (r < 0) {
            assert_string_equal(str_cstr(&arena, err.msg),
                                "the server rejected our request due to an error in our request");
            assert_int_equal(err.code, ERR_INVALID);
        }
        const char *want = cases[i].result ? cases[i].result : cases[i].doc;
        if ((r == 0) != (cases[i].result != NULL) || !str_eq(text_of(&doc), quoted(want)))
            fail_msg("%s with %s became " STR_FMT, cases[i].doc, cases[i].patch,
                     STR_ARG(text_of(&doc)));
        assert_true(str_eq(text_of(&before), quoted(cases[i].doc)));
        assert_true(str_eq(text_of(&patch), patch_before));
    }
}

static const struct {
    const char *patch, *strict, *lax; /* NULL: good */
} checks[] = {
    { "[]", NULL, NULL },
    { "null", NULL, NULL },
    { "[null]", NULL, NULL },
    { "{}",
      "error decoding patch: json: cannot unmarshal object into Go value of type "
      "[]handlers.jsonPatchOp",
      "json: cannot unmarshal object into Go value of type jsonpatch.Patch" },
    { "'x'",
      "error decoding patch: json: cannot unmarshal string into Go value of type "
      "[]handlers.jsonPatchOp",
      "json: cannot unmarshal string into Go value of type jsonpatch.Patch" },
    { "['x']",
      "error decoding patch: json: cannot unmarshal string into Go value of type "
      "handlers.jsonPatchOp",
      "json: cannot unmarshal string into Go value of type jsonpatch.Operation" },
    { "[{'op':1}]",
      "error decoding patch: json: cannot unmarshal number into Go struct field "
      "jsonPatchOp.op of type string",
      NULL },
    { "[{'op':'x','value':{},'from':[]}]",
      "error decoding patch: json: cannot unmarshal array into Go struct field jsonPatchOp.from "
      "of type string",
      NULL },
    { "[{'op':null,'path':null,'value':null}]", NULL, NULL },
};

static void check_one(const char *patch, struct typed_notes *notes, const char *want)
{
    struct value v = tree(patch);
    struct err err = ERR_INIT(&arena);
    int r = json_patch_check(&arena, &v, notes, &err);
    assert_int_equal(r, want ? -ERR_BAD_REQUEST : 0);
    if (want)
        assert_string_equal(str_cstr(&arena, err.msg), want);
}

static void test_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct typed_notes notes = { .n = 0 };
        check_one(checks[i].patch, &notes, checks[i].strict);
        check_one(checks[i].patch, NULL, checks[i].lax);
        assert_int_equal(notes.n, 0);
    }
}

static void test_notes(void **state)
{
    (void)state;
    struct typed_notes notes = { .n = 0 };
    check_one("[{'op':'add'},{'op':'add','note':1,'op':'test'}]", &notes, NULL);
    assert_int_equal(notes.n, 2);
    assert_string_equal(str_cstr(&arena, notes.notes[0]), "json patch unknown field \"[1].note\"");
    assert_string_equal(str_cstr(&arena, notes.notes[1]), "json patch duplicate field \"[1].op\"");

    autobuf many = { 0 };
    for (int i = 0; i < 300; i++)
        buf_printf(&many, "%s{'a':1,'b':2}", i ? "," : "[");
    buf_printf(&many, "]");
    notes.n = 0;
    check_one(str_cstr(&arena, buf_str(&many)), &notes, NULL);
    assert_int_equal(notes.n, 600);
}

static struct value repeated(const char *op, size_t n)
{
    struct value list = value_array();
    struct value one = tree(op);
    for (size_t i = 0; i < n; i++)
        value_put_item(&arena, &list, value_share(&one));
    return list;
}

/* The words of upstream's library. */
static void test_told(void **state)
{
    static const struct {
        const char *patch, *words;
    } rows[] = {
        { "[{'op':'add','path':'/x/y','value':1}]",
          "add operation does not apply: doc is missing path: \"/x/y\": missing value" },
        { "[{'op':'add','path':'/l/9','value':1}]",
          "error in add for path: '/l/9': Unable to access invalid index: 9: invalid index "
          "referenced" },
        { "[{'op':'add','path':'/l/z','value':1}]",
          "error in add for path: '/l/z': value was not a proper array index: 'z': strconv.Atoi: "
          "parsing \"z\": invalid syntax" },
        { "[{'op':'remove','path':'/o/n'}]",
          "error in remove for path: '/o/n': Unable to remove nonexistent key: n: missing value" },
        { "[{'op':'replace','path':'/x/y','value':1}]",
          "replace operation does not apply: doc is missing path: /x/y: missing value" },
        { "[{'op':'replace','path':'/l/-9','value':1}]",
          "replace operation does not apply: doc is missing key: /l/-9: missing value" },
        { "[{'op':'test','path':'/o','value':1}]", "testing value /o failed: test failed" },
        { "[{'op':'move','from':'/x/y','path':'/o/z'}]",
          "move operation does not apply: doc is missing from path: /x/y: missing value" },
        { "[{'op':'copy','from':'/o','path':'/x/y'}]",
          "copy operation does not apply: doc is missing destination path: /x/y: missing value" },
        { "[{'op':'add'}]", "add operation failed to decode path: missing value" },
        { "[{'op':'test'}]",
          "test operation failed to decode path: operation missing path field: missing value" },
        { "[{'op':'move','path':'/o'}]",
          "move operation failed to decode from: operation, missing from field: missing value" },
        { "[{'op':'merge','path':'/o'}]", "Unexpected kind: merge" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct value doc = tree("{'o':{},'l':[1]}"), patch = tree(rows[i].patch);
        assert_int_equal(json_patch_apply_told(&arena, &patch, &doc, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].words);
    }
}

static void test_too_many_operations(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct value most = repeated("{'op':'test','path':'/x'}", LIMIT_PATCH_OPERATIONS);
    assert_int_equal(json_patch_check(&arena, &most, NULL, &err), 0);
    value_put_item(&arena, &most, value_null());
    assert_int_equal(json_patch_check(&arena, &most, NULL, &err), -ERR_TOO_LARGE);
    assert_string_equal(str_cstr(&arena, err.msg),
                        "Request entity too large: The allowed maximum operations in a JSON patch "
                        "is 10000, got 10001");
}

/* Twenty operations that would make a list of two to the twentieth copies. */
static void test_copies_are_counted(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct value doc = tree("{'a':['0123456789']}");
    struct value patch = repeated("{'op':'copy','from':'/a','path':'/a/-'}", 17);
    assert_int_equal(json_patch_apply(&arena, &patch, &doc, &err), 0);
    patch = repeated("{'op':'copy','from':'/a','path':'/a/-'}", 20);
    doc = tree("{'a':['0123456789']}");
    assert_int_equal(json_patch_apply(&arena, &patch, &doc, &err), -ERR_INVALID);
}

/* Inserting in front of a million items, and looking for one of a hundred thousand fields. With a
 * whole list moved each time this would take minutes. */
static void test_large_containers(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct value list = value_array();
    for (int i = 0; i < 1000000; i++)
        value_put_item(&arena, &list, value_int(i));
    struct value fields = value_object();
    for (int i = 0; i < 100000; i++)
        value_put_new(&arena, &fields, arena_printf(&arena, "k%d", i), value_int(i));
    struct value doc = value_object();
    value_put_new(&arena, &doc, STR("list"), list);
    value_put_new(&arena, &doc, STR("fields"), fields);

    struct value patch = repeated("{'op':'add','path':'/list/0','value':-1}", 3000);
    struct value more[] = { tree("{'op':'remove','path':'/list/-1'}"),
                            tree("{'op':'test','path':'/fields/k99999','value':99999}"),
                            tree("{'op':'test','path':'/list/500000','value':497000}") };
    for (int i = 0; i < 6000; i++)
        value_put_item(&arena, &patch, value_share(&more[i % 2]));
    value_put_item(&arena, &patch, value_share(&more[2]));
    assert_int_equal(json_patch_apply(&arena, &patch, &doc, &err), 0);
    const struct value *after = value_get(&doc, STR("list"));
    assert_int_equal(after->n, 1000000);
    assert_int_equal(after->items[2999].i, -1);
    assert_int_equal(after->items[3000].i, 0);
    assert_int_equal(after->items[999999].i, 996999);
}

/* Each move puts all there is one level deeper. */
static void test_depth(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    for (unsigned beyond = 0; beyond < 2; beyond++) {
        struct value doc = tree("{'a':{},'b':{}}");
        struct value down = tree("[{'op':'move','from':'/a','path':'/b/a'},"
                                 "{'op':'move','from':'/b','path':'/a'},"
                                 "{'op':'add','path':'/b','value':{}}]");
        struct value patch = value_array();
        for (unsigned i = 0; i < LIMIT_JSON_DEPTH - 2 + beyond; i++)
            value_each_item (op, &down)
                value_put_item(&arena, &patch, value_borrow(op));
        int r = json_patch_apply(&arena, &patch, &doc, &err);
        assert_int_equal(r, beyond ? -ERR_INVALID : 0);
    }
}

static void *apply_deep(void *arg)
{
    struct value *patch_and_doc = arg;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(json_patch_apply(&arena, &patch_and_doc[0], &patch_and_doc[1], &err), 0);
    return NULL;
}

/* A document as deep as is allowed needs no deep stack. */
static void test_small_stack(void **state)
{
    (void)state;
    struct value deep = value_int(1);
    for (unsigned i = 0; i < LIMIT_JSON_DEPTH - 1; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR(""), deep);
        deep = outer;
    }
    autobuf pointer = { 0 };
    for (unsigned i = 0; i < LIMIT_JSON_DEPTH - 1; i++)
        buf_byte(&pointer, '/');
    struct value patch = tree("[{'op':'add','value':2},{'op':'test'},"
                              "{'op':'copy','from':'/','path':'/x'}]");
    struct value at = value_string(buf_str(&pointer));
    value_put(&arena, value_edit_at(&arena, &patch, 0), STR("path"), at);
    value_put(&arena, value_edit_at(&arena, &patch, 1), STR("path"), value_string(STR("")));
    struct value want = value_int(2);
    for (unsigned i = 0; i < LIMIT_JSON_DEPTH - 1; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR(""), want);
        want = outer;
    }
    value_put(&arena, value_edit_at(&arena, &patch, 1), STR("value"), want);

    struct value patch_and_doc[] = { patch, deep };
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, apply_deep, patch_and_doc), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(patch_and_doc[1].n, 2);
}

/* Lists in pieces against plain ones. */
static void test_random_lists(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (int round = 0; round < 40; round++) {
        arena_reset(&arena);
        struct value doc = value_object(), patch = value_array(), list = value_array();
        for (size_t i = random_below(&seed, 2000); i; i--)
            value_put_item(&arena, &list, value_int((int64_t)i));
        value_put_new(&arena, &doc, STR("l"), value_share(&list));
        for (int i = 0; i < 1500; i++) {
            bool adds = !list.n || random_below(&seed, 3) != 0;
            size_t at = random_below(&seed, list.n + adds);
            struct value op = value_object();
            struct str path = arena_printf(&arena, "/l/%zu", at);
            value_put_new(&arena, &op, STR("path"), value_string(path));
            value_put_new(&arena, &op, STR("op"), value_string(adds ? STR("add") : STR("remove")));
            value_put_new(&arena, &op, STR("value"), value_int(-i));
            value_put_item(&arena, &patch, op);
            if (adds)
                (void)value_insert(&arena, &list, at, value_int(-i));
            else
                value_remove_at(&arena, &list, at);
        }
        struct err err = ERR_INIT(&arena);
        assert_int_equal(json_patch_apply(&arena, &patch, &doc, &err), 0);
        assert_true(value_eq(value_get(&doc, STR("l")), &list));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_copies_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_containers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_small_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_lists, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
