#include "merge/merge_patch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/trees_test.h"

static const struct {
    const char *doc, *patch, *result;
} cases[] = {
    { "{'a':'b'}", "{}", "{'a':'b'}" },
    { "{'b':1,'a':2}", "{'c':3}", "{'a':2,'b':1,'c':3}" },
    { "{'b':{'z':1,'y':2}}", "{'c':3}", "{'b':{'z':1,'y':2},'c':3}" },
    { "{'a':'b'}", "{'a':null}", "{}" },
    { "{'a':'b'}", "{'c':null}", "{'a':'b'}" },
    { "{'a':{'b':1,'c':2}}", "{'a':{'b':null,'d':3}}", "{'a':{'c':2,'d':3}}" },
    { "{'a':null}", "{'a':{'b':null,'c':1}}", "{'a':{'c':1}}" },
    { "{}", "{'a':{'b':{'c':null}}}", "{'a':{'b':{}}}" },
    { "{'a':[1]}", "{'a':[{'b':null,'c':[null,{'d':null}]}]}", "{'a':[{'c':[null,{}]}]}" },
    { "{}", "{'a':[{'b':null}]}", "{'a':[{}]}" },
    { "{'a':{}}", "{'a':[{'b':null}]}", "{'a':[{'b':null}]}" },
    { "{'a':[1,2]}", "{'a':[3]}", "{'a':[3]}" },
    { "{'a':[1,2]}", "{'a':{'b':1}}", "{'a':{'b':1}}" },
    { "{'a':{'b':1}}", "{'a':2}", "{'a':2}" },
    { "{'a':1}", "[{'b':null}]", "[{}]" },
    { "{'a':1}", "null", "null" },
    { "{'a':1}", "{'a':2,'a':3}", "{'a':3}" },
    { "[1]", "{'a':{'b':null}}", "{'a':{}}" },
    { "1", "'x'", "'x'" },
};

static void test_apply(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value doc = tree(cases[i].doc), patch = tree(cases[i].patch);
        struct value before = value_share(&doc);
        merge_patch_apply(&arena, &patch, &doc);
        if (!str_eq(text_of(&doc), quoted(cases[i].result)))
            fail_msg("%s with %s became " STR_FMT, cases[i].doc, cases[i].patch,
                     STR_ARG(text_of(&doc)));
        assert_true(str_eq(text_of(&before), quoted(cases[i].doc)));
        assert_true(str_eq(text_of(&patch), quoted(cases[i].patch)));
        /* What came from the patch is not the patch's any more. */
        if (doc.type == VALUE_OBJECT)
            value_put(&arena, &doc, STR("new"), value_int(1));
        assert_true(str_eq(text_of(&patch), quoted(cases[i].patch)));
    }
}

static const struct {
    const char *from, *to, *patch;
} diffs[] = {
    { "{}", "{}", "{}" },
    { "{'a':1,'b':[1]}", "{'b':[1],'a':1}", "{}" },
    { "{'a':1}", "{}", "{'a':null}" },
    { "{}", "{'a':{'b':{}}}", "{'a':{'b':{}}}" },
    { "{'a':{'b':1,'c':{'d':1}},'e':1}", "{'a':{'b':2,'c':{'d':1}},'e':1}", "{'a':{'b':2}}" },
    { "{'a':{'b':1}}", "{'a':{}}", "{'a':{'b':null}}" },
    { "{'a':{'b':1}}", "{'a':[1]}", "{'a':[1]}" },
    { "{'a':[1,2]}", "{'a':[2,1]}", "{'a':[2,1]}" },
    { "{'a':1}", "[1]", "[1]" },
    { "[1]", "[1]", "{}" },
};

static void test_create(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
        struct value from = tree(diffs[i].from), to = tree(diffs[i].to);
        struct value patch = merge_patch_create(&arena, &from, &to);
        if (!str_eq(text_of(&patch), quoted(diffs[i].patch)))
            fail_msg("%s to %s: " STR_FMT, diffs[i].from, diffs[i].to, STR_ARG(text_of(&patch)));
    }
}

/* Without nulls, which a merge patch cannot set. */
static struct value random_tree(uint64_t *seed, int depth)
{
    static const struct str names[] = { { "a", 1 }, { "b", 1 }, { "c", 1 }, { "d", 1 } };
    struct value v = value_int((int64_t)random_below(seed, 4));
    size_t kind = depth ? random_below(seed, 4) : 0;
    if (kind == 1)
        v = value_array();
    else if (kind > 1)
        v = value_object();
    for (size_t i = 0; kind == 1 && i < random_below(seed, 4); i++)
        value_put_item(&arena, &v, random_tree(seed, depth - 1));
    for (size_t i = random_below(seed, 5); kind > 1 && i; i--)
        value_put(&arena, &v, names[random_below(seed, 4)], random_tree(seed, depth - 1));
    return v;
}

static void test_created_patches_lead_there(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        arena_reset(&arena);
        struct value from = value_object(), to = value_object();
        value_put_new(&arena, &from, STR("x"), random_tree(&seed, 5));
        value_put_new(&arena, &to, STR("x"), random_tree(&seed, 5));
        struct str from_text = text_of(&from);
        struct value patch = merge_patch_create(&arena, &from, &to);
        struct value doc = value_share(&from);
        merge_patch_apply(&arena, &patch, &doc);
        assert_true(value_eq(&doc, &to));
        assert_true(str_eq(text_of(&from), from_text));
        assert_true(value_eq(&from, &to) == !patch.n);
        struct value again = value_share(&doc);
        merge_patch_apply(&arena, &patch, &again);
        assert_true(value_eq(&again, &doc));
    }
}

static struct value deep_tree(int64_t leaf)
{
    struct value deep = value_int(leaf);
    for (unsigned i = 0; i < LIMIT_JSON_DEPTH; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR("a"), deep);
        deep = outer;
    }
    return deep;
}

static void *merge_deep(void *arg)
{
    (void)arg;
    struct value from = deep_tree(1), to = deep_tree(2);
    struct value patch = merge_patch_create(&arena, &from, &to);
    merge_patch_apply(&arena, &patch, &from);
    assert_true(value_eq(&from, &to));
    struct value empty = value_object();
    merge_patch_apply(&arena, &patch, &empty);
    assert_true(value_eq(&empty, &to));
    return NULL;
}

static void test_small_stack(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, merge_deep, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

/* Three hundred thousand fields against as many, in another order: a search for each would take
 * minutes. */
static void test_large_objects(void **state)
{
    (void)state;
    enum { FIELDS = 300000, STEP = 7919 };
    struct value from = value_object(), to = value_object();
    for (int i = 0; i < FIELDS; i++) {
        int k = (int)((int64_t)i * STEP % FIELDS);
        value_put_new(&arena, &from, arena_printf(&arena, "k%d", i), value_int(i));
        value_put_new(&arena, &to, arena_printf(&arena, "k%d", k + 10), value_int(k));
    }
    struct value patch = merge_patch_create(&arena, &from, &to);
    assert_int_equal(patch.n, FIELDS + 10);
    merge_patch_apply(&arena, &patch, &from);
    assert_true(value_eq(&from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_created_patches_lead_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_small_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_objects, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
