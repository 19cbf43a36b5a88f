#include "base/idiom.h"
#include "base/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct value parsed(const char *text)
{
    struct value v = value_null();
    assert_int_equal(json_read(&arena, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static void assert_json(const struct value *v, const char *want)
{
    autobuf out = { 0 };
    json_write(&out, v);
    buf_byte(&out, '\0');
    assert_string_equal(out.p, want);
}

static void absent_null_and_zero_differ(void **state)
{
    (void)state;
    struct value v = parsed("{\"a\":null,\"b\":0,\"c\":{\"d\":[1,\"x\",2.5]}}");
    int64_t i;
    double d;
    assert_null(value_get(&v, STR("z")));
    assert_true(value_is(value_get(&v, STR("a")), VALUE_NULL));
    assert_false(value_to_int(value_get(&v, STR("a")), &i));
    assert_true(value_to_int(value_get(&v, STR("b")), &i) && i == 0);
    assert_true(value_to_double(value_at(value_dig(&v, "c", "d"), 2), &d) && d == 2.5);
    assert_true(value_to_double(value_at(value_dig(&v, "c", "d"), 0), &d) && d == 1);
    assert_false(value_to_double(value_at(value_dig(&v, "c", "d"), 1), &d));
    assert_true(str_eq(value_str(value_at(value_dig(&v, "c", "d"), 1)), STR("x")));
    assert_null(value_at(value_dig(&v, "c", "d"), 3));
}

static void every_reader_accepts_absent(void **state)
{
    (void)state;
    int64_t i;
    double d;
    assert_null(value_get(NULL, STR("a")));
    assert_null(value_at(NULL, 0));
    assert_int_equal(value_str(NULL).n, 0);
    assert_false(value_to_int(NULL, &i) || value_to_double(NULL, &d));
    assert_null(value_dig(NULL, "a", "b"));
    assert_true(value_eq(NULL, NULL));
    struct value null = value_null();
    assert_false(value_eq(NULL, &null));
    value_each_field (f, NULL) {
        fail();
    }
    value_each_item (it, &null) {
        fail();
    }
}

static void numbers_pick_int_when_it_fits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum value_type type;
    } rows[] = {
        { "0", VALUE_INT },
        { "-1", VALUE_INT },
        { "9223372036854775807", VALUE_INT },
        { "-9223372036854775808", VALUE_INT },
        { "9223372036854775808", VALUE_NUMBER },
        { "-9223372036854775809", VALUE_NUMBER },
        { "-0", VALUE_NUMBER },
        { "1.0", VALUE_NUMBER },
        { "1e3", VALUE_NUMBER },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = value_number(str_of(rows[i].text));
        assert_int_equal(v.type, rows[i].type);
        assert_json(&v, rows[i].text);
    }
}

static void equality_ignores_field_order_only(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true },
        { "{\"a\":1,\"b\":[1,2]}", "{\"b\":[2,1],\"a\":1}", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
        { "{\"a\":1,\"c\":2}", "{\"a\":1,\"b\":2}", false },
        { "1", "1.0", false },
        { "null", "false", false },
        { "\"\"", "\"\"", true },
        { "{}", "[]", false },
        { "[[[]]]", "[[[]]]", true },
        { "{\"a\":1,\"a\":2,\"b\":0}", "{\"b\":0,\"a\":1,\"a\":2}", true },
        { "{\"a\":1,\"a\":2,\"b\":0}", "{\"b\":0,\"a\":2,\"a\":1}", false },
        { "true", "false", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value a = parsed(rows[i].a), b = parsed(rows[i].b);
        if (value_eq(&a, &b) != rows[i].same || value_eq(&b, &a) != rows[i].same)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
    }
}

static void editing(void **state)
{
    (void)state;
    struct value v = parsed("{\"a\":{\"b\":[1,2,3]},\"c\":1,\"c\":2,\"n\":null}");
    struct value *list = value_edit(&arena, value_edit(&arena, &v, STR("a")), STR("b"));
    value_insert(&arena, list, 1, value_string(STR("x")));
    value_remove_at(&arena, list, 0);
    value_push(&arena, list, value_bool(true));
    *value_edit_at(&arena, list, 1) = value_null();
    assert_null(value_edit_at(&arena, list, 4));
    assert_null(value_edit(&arena, &v, STR("zz")));
    assert_true(value_remove(&arena, &v, STR("c")));
    assert_false(value_remove(&arena, &v, STR("c")));
    value_set(&arena, value_ensure(&arena, &v, STR("n")), STR("k"), value_int(7));
    value_set(&arena, value_ensure(&arena, &v, STR("m")), STR("k"), value_int(8));
    value_set(&arena, value_ensure(&arena, &v, STR("m")), STR("k"), value_int(9));
    assert_null(value_ensure(&arena, value_edit(&arena, &v, STR("n")), STR("k")));
    assert_json(&v, "{\"a\":{\"b\":[\"x\",null,3,true]},\"n\":{\"k\":7},\"m\":{\"k\":9}}");
}

static void sharing_shows_no_edit_to_the_other_side(void **state)
{
    (void)state;
    const char *text = "{\"a\":{\"b\":[1,[2]]},\"c\":{}}";
    struct value v = parsed(text);
    struct value copy = value_share(&v);
    struct value *a = value_edit(&arena, &copy, STR("a"));
    value_push(&arena, value_edit_at(&arena, value_edit(&arena, a, STR("b")), 1), value_int(3));
    assert_json(&copy, "{\"a\":{\"b\":[1,[2,3]]},\"c\":{}}");
    assert_json(&v, text);
    value_remove(&arena, value_edit(&arena, &v, STR("a")), STR("b"));
    assert_json(&v, "{\"a\":{},\"c\":{}}");
    assert_json(&copy, "{\"a\":{\"b\":[1,[2,3]]},\"c\":{}}");

    struct value borrowed = value_borrow(value_dig(&copy, "a", "b"));
    value_remove_at(&arena, &borrowed, 0);
    assert_json(&copy, "{\"a\":{\"b\":[1,[2,3]]},\"c\":{}}");
}

/* One array in two places, until one of them is edited. */
static void twins(void **state)
{
    (void)state;
    struct value v = parsed("[{\"a\":1},{\"a\":1},{},{},[],1,1]");
    assert_false(value_is_twin(value_at(&v, 0), value_at(&v, 1)));
    assert_true(value_is_twin(value_at(&v, 2), value_at(&v, 3)));
    assert_false(value_is_twin(value_at(&v, 3), value_at(&v, 4)));
    assert_false(value_is_twin(value_at(&v, 5), value_at(&v, 6)));
    *value_edit_at(&arena, &v, 1) = value_share(value_edit_at(&arena, &v, 0));
    assert_true(value_is_twin(value_at(&v, 0), value_at(&v, 1)));
    *value_edit_nth(&arena, value_edit_at(&arena, &v, 1), 0) = value_int(2);
    assert_false(value_is_twin(value_at(&v, 0), value_at(&v, 1)));
    assert_json(&v, "[{\"a\":1},{\"a\":2},{},{},[],1,1]");
    assert_null(value_edit_nth(&arena, value_edit_at(&arena, &v, 1), 1));
    assert_null(value_edit_nth(&arena, value_edit_at(&arena, &v, 4), 0));
}

static void building_takes_linear_memory(void **state)
{
    (void)state;
    struct value arr = value_array(), obj = value_object();
    for (int i = 0; i < 100000; i++) {
        value_push(&arena, &arr, value_int(i));
        value_add(&arena, &obj, STR("k"), value_int(i));
    }
    assert_int_equal(arr.n, 100000);
    assert_true(value_at(&arr, 99999)->i == 99999 && obj.fields[4711].val.i == 4711);
    assert_true(arena.held < 32u << 20);

    /* Pushing and removing in turn at a power of two must not copy each time. */
    size_t before = arena.held;
    for (int i = 0; i < 100000; i++) {
        value_push(&arena, &arr, value_null());
        value_remove_at(&arena, &arr, arr.n - 1);
    }
    assert_true(arena.held - before < 8u << 20);

    /* After sharing only the first edit copies. */
    struct value copy = value_share(&arr);
    before = arena.held;
    for (int i = 0; i < 1000; i++)
        value_push(&arena, &copy, value_null());
    assert_true(arena.held - before < 8u << 20);
    assert_int_equal(arr.n, 100000);
}

static void deep_trees_need_no_stack(void **state)
{
    (void)state;
    struct value v = value_array();
    for (int i = 0; i < 300000; i++) {
        struct value outer = value_array();
        value_push(&arena, &outer, v);
        v = outer;
    }
    struct value copy = value_clone(&arena, &v);
    assert_true(copy.items != v.items);
    assert_true(value_eq(&v, &copy));
    assert_int_equal(json_length(&copy), 2 * 300001);
    assert_int_equal(value_find_duplicate(&arena, &copy).n, 0);
}

static void duplicates_are_found_in_document_order(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path;
    } rows[] = {
        { "{\"a\":1,\"b\":2}", "" },
        { "{\"a\":1,\"a\":2}", "a" },
        { "{\"spec\":{\"containers\":[{\"name\":1,\"name\":2}]}}", "spec.containers[0].name" },
        { "{\"a\":{\"x\":1,\"x\":1},\"a\":2}", "a.x" },
        { "{\"a\":1,\"a\":{\"x\":1,\"x\":1}}", "a" },
        { "[[],[{\"k\":{}},{\"k\":0,\"k\":0}]]", "[1][1].k" },
        { "{\"\":1,\"\":2}", "\"\"" },
        { "7", "" },
        { "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"10\":0,"
          "\"11\":0,\"12\":0,\"13\":0,\"14\":0,\"15\":0,\"16\":0,\"9\":0,\"2\":0}",
          "9" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = parsed(rows[i].text);
        struct str path = value_find_duplicate(&arena, &v);
        if (!str_eq(path, str_of(rows[i].path)))
            fail_msg("%s: " STR_FMT, rows[i].text, STR_ARG(path));
    }
}

static void dropping_duplicates_keeps_the_last(void **state)
{
    (void)state;
    const char *text = "{\"a\":1,\"b\":[{\"x\":1,\"y\":2,\"x\":3}],\"a\":{\"q\":1,\"q\":2}}";
    struct value v = parsed(text);
    struct value kept = value_share(&v);
    value_drop_duplicates(&arena, &v);
    assert_json(&v, "{\"a\":{\"q\":2},\"b\":[{\"x\":3,\"y\":2}]}");
    assert_json(&kept, text);
    struct value leaf = value_int(1);
    value_drop_duplicates(&arena, &leaf);
}

/* The model test: several trees share parts of each other and are edited at random; beside each
 * one lives a deep clone that gets the same edits and shares nothing. */
enum { TREES = 4, STEPS = 30000, RESTART = 300 };

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static struct value *descend(struct value *v, uint32_t choice)
{
    if (v->type == VALUE_OBJECT && v->n)
        return value_edit(&arena, v, v->fields[choice % v->n].key);
    if (v->type == VALUE_ARRAY && v->n)
        return value_edit_at(&arena, v, choice % v->n);
    return NULL;
}

static struct value small_value(uint32_t choice)
{
    struct value v = value_object();
    switch (choice % 5) {
    case 0:
        return value_int(choice);
    case 1:
        return value_string(STR("text"));
    case 2:
        return value_array();
    case 3:
        value_set(&arena, &v, STR("in"), value_array());
        return v;
    default:
        return v;
    }
}

static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

static void edit_once(struct value *v, uint32_t what, uint32_t where)
{
    struct value fresh = small_value(where / 7);
    struct str key = str_of(names[where % 6]);
    if (v->type == VALUE_OBJECT) {
        if (what % 4 == 0)
            value_remove(&arena, v, key);
        else if (what % 4 == 1)
            value_add(&arena, v, key, fresh);
        else
            value_set(&arena, v, key, fresh);
    } else if (v->type == VALUE_ARRAY) {
        if (what % 3 == 0 && v->n)
            value_remove_at(&arena, v, where % v->n);
        else if (what % 3 == 1)
            value_insert(&arena, v, where % (v->n + 1), fresh);
        else
            value_push(&arena, v, fresh);
    } else {
        *v = fresh;
    }
}

/* The same edit at the same place of both: `path` decides how to go down. */
static void edit_at_path(struct value *v, const uint32_t *path, uint32_t depth, uint32_t what,
                         uint32_t where)
{
    for (uint32_t i = 0; i < depth; i++) {
        struct value *child = descend(v, path[i]);
        if (!child)
            break;
        v = child;
    }
    edit_once(v, what, where);
}

static void edits_agree_with_deep_clones(void **state)
{
    (void)state;
    seed = 88172645u;
    struct value trees[TREES], models[TREES];
    for (int s = 0; s < STEPS; s++) {
        if (s % RESTART == 0) {
            arena_reset(&arena);
            for (int i = 0; i < TREES; i++) {
                trees[i] = parsed("{\"a\":{\"b\":[1,{\"c\":[]}],\"d\":{}},\"e\":[[0],[1,2]]}");
                models[i] = value_clone(&arena, &trees[i]);
            }
        }
        uint32_t i = pick(TREES), j = pick(TREES);
        uint32_t path[4] = { pick(100), pick(100), pick(100), pick(100) };
        uint32_t depth = pick(5), what = pick(12), where = pick(1000);
        if (pick(8) == 0 && i != j) {
            trees[j] = value_share(&trees[i]);
            models[j] = value_clone(&arena, &models[i]);
        } else if (pick(8) == 0 && i != j && trees[j].type == VALUE_OBJECT) {
            value_set(&arena, &trees[j], STR("graft"), value_share(&trees[i]));
            value_set(&arena, &models[j], STR("graft"), value_clone(&arena, &models[i]));
            if (trees[j].n > 12 || pick(4) == 0) {
                trees[j] = value_object();
                models[j] = value_object();
            }
        } else {
            edit_at_path(&trees[i], path, depth, what, where);
            edit_at_path(&models[i], path, depth, what, where);
        }
        for (int k = 0; k < TREES; k++)
            if (!value_eq(&trees[k], &models[k]))
                fail_msg("step %d, tree %d", s, k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(absent_null_and_zero_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_reader_accepts_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_pick_int_when_it_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equality_ignores_field_order_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(editing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sharing_shows_no_edit_to_the_other_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(twins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(building_takes_linear_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_trees_need_no_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicates_are_found_in_document_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropping_duplicates_keeps_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edits_agree_with_deep_clones, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
