#include "base/idiom.h"
#include "merge/strategic_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/trees_test.h"

/* What a patch leaves where nothing was, without and with nulls; NULL: nothing at all. */
static void directives_and_nulls_go(void **state)
{
    (void)state;
    static const struct {
        const char *patch, *without_nulls, *with_nulls;
    } rows[] = {
        { "{}", "{}", "{}" },
        { "1", "1", "1" },
        { "null", "null", "null" },
        { "{'a':1,'b':null}", "{'a':1}", "{'a':1,'b':null}" },
        { "{'a':{'b':null}}", "{'a':{}}", "{'a':{'b':null}}" },
        { "[null,1]", "[null,1]", "[null,1]" }, /* an item is no field */
        { "[{'a':null},{'b':[{'c':null}]}]", "[{},{'b':[{}]}]", "[{'a':null},{'b':[{'c':null}]}]" },
        { "{'$patch':'delete'}", NULL, NULL },
        { "{'$patch':'replace','a':1}", NULL, NULL },
        { "{'$patch':null,'a':1}", "{'a':1}", NULL }, /* a null is no directive, unless kept */
        { "{'a':{'$patch':'delete'},'b':1}", "{'b':1}", "{'b':1}" },
        { "{'a':{'$patch':null}}", "{'a':{}}", "{}" },
        { "[{'$patch':'replace'},{'name':'a'},{'$patch':'delete','name':'b'}]", "[{'name':'a'}]",
          "[{'name':'a'}]" },
        { "[[{'$patch':'merge'}],2]", "[[],2]", "[[],2]" },
        { "{'$retainKeys':['a'],'a':1}", "{'$retainKeys':['a'],'a':1}",
          "{'$retainKeys':['a'],'a':1}" },
        { "'$patch'", "'$patch'", "'$patch'" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int keeps_nulls = 0; keeps_nulls < 2; keeps_nulls++) {
            const char *want = keeps_nulls ? rows[i].with_nulls : rows[i].without_nulls;
            struct value patch = tree(rows[i].patch), ret = value_null();
            struct str before = text_of(&patch);
            bool is_left = strategic__clean(&arena, &patch, keeps_nulls, &ret);
            assert_int_equal(is_left, want != NULL);
            if (want && !str_eq(text_of(&ret), quoted(want)))
                fail_msg("%s: " STR_FMT, rows[i].patch, STR_ARG(text_of(&ret)));
            assert_true(str_eq(text_of(&patch), before));
        }
    }
}

/* As deep as a document may be, and wide: no stack is used up, nothing is lost. */
static void depth_and_width_do_not_matter(void **state)
{
    (void)state;
    enum { DEPTH = 5000, WIDTH = 1000 };
    struct value v = tree("{'last':null,'kept':1}");
    for (size_t i = 0; i < DEPTH; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR("in"), v);
        v = outer;
    }
    struct value list = value_array(), ret;
    for (size_t i = 0; i < WIDTH; i++)
        value_put_item(&arena, &list,
                       i % 2 ? tree("{'$patch':'delete'}") : tree("{'a':null,'b':[]}"));
    value_put_new(&arena, &v, STR("list"), list);
    assert_true(strategic__clean(&arena, &v, false, &ret));
    const struct value *cleaned = value_get(&ret, STR("list"));
    assert_int_equal(cleaned->n, WIDTH / 2);
    assert_true(str_eq(text_of(value_at(cleaned, WIDTH / 2 - 1)), quoted("{'b':[]}")));
    const struct value *inner = &ret;
    for (size_t i = 0; i < DEPTH; i++)
        inner = value_get(inner, STR("in"));
    assert_true(str_eq(text_of(inner), quoted("{'kept':1}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directives_and_nulls_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_and_width_do_not_matter, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
