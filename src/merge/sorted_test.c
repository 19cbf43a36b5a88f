#include "base/idiom.h"
#include "merge/sorted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/trees_test.h"

/* "a=1 b=2": the fields of an object in the order that is given out. */
static const char *fields_of(const struct value *v)
{
    autobuf out = { 0 };
    struct sorted s = sorted_fields(&arena, v);
    for (size_t i = 0; i < s.n; i++) {
        buf_printf(&out, "%s" STR_FMT "=", i ? " " : "", STR_ARG(s.fields[i]->key));
        json_write(&out, &s.fields[i]->val);
    }
    return str_cstr(&arena, buf_str(&out));
}

static void fields_come_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "{}", "" },
        { "{'a':1}", "a=1" },
        { "{'b':1,'a':2}", "a=2 b=1" },
        { "{'b':1,'a':2,'ab':3,'':4}", "=4 a=2 ab=3 b=1" }, /* a prefix stands first */
        { "{'a':1,'B':2,'_':3}", "B=2 _=3 a=1" },           /* bytes, not letters */
        { "{'é':1,'z':2}", "z=2 é=1" },
        { "{'a':1,'a':2}", "a=2" }, /* of duplicates the last */
        { "{'b':1,'a':2,'b':3,'a':4,'b':5}", "a=4 b=5" },
        { "[1,2]", "" },
        { "'text'", "" },
        { "null", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = tree(rows[i].text);
        assert_string_equal(fields_of(&v), rows[i].want);
    }
    assert_string_equal(fields_of(NULL), "");
}

/* More fields than are sorted by insertion, in three orders, each name twice. */
static void many_fields_are_sorted_as_few(void **state)
{
    (void)state;
    static const size_t steps[] = { 1, 37, 99 }; /* 99: backwards */
    enum { N = 100 };
    for (size_t s = 0; s < ARRAY_LEN(steps); s++) {
        struct value v = value_object();
        for (size_t i = 0; i < 2 * (size_t)N; i++) {
            struct str key = arena_printf(&arena, "%03zu", i * steps[s] % N);
            value_put_new(&arena, &v, key, value_int((int64_t)i));
        }
        struct sorted all = sorted_fields(&arena, &v);
        assert_int_equal(all.n, N);
        for (size_t i = 0; i < N; i++) {
            assert_true(i == 0 || str_cmp(all.fields[i - 1]->key, all.fields[i]->key) < 0);
            assert_true(all.fields[i]->val.i >= N); /* the later of the two */
        }
    }
}

static void two_objects_are_walked_side_by_side(void **state)
{
    (void)state;
    static const struct {
        const char *left, *right, *want;
    } rows[] = {
        { "{}", "{}", "" },
        { "{'a':1}", "{}", "<a" },
        { "{}", "{'a':1}", ">a" },
        { "{'c':1,'a':1}", "{'b':1,'c':2}", "<a >b =c" },
        { "{'a':1,'b':1}", "{'b':1,'a':1}", "=a =b" },
        { "{'a':1,'a':2}", "{'a':3}", "=a" },
        { "{'x':1}", "[1]", "<x" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value left = tree(rows[i].left), right = tree(rows[i].right);
        struct sorted_pair pair = { .left = sorted_fields(&arena, &left),
                                    .right = sorted_fields(&arena, &right) };
        autobuf out = { 0 };
        for (struct sorted_step step; sorted_next(&pair, &step);)
            buf_printf(&out, "%s%c" STR_FMT, out.n ? " " : "",
                       !step.right  ? '<'
                       : !step.left ? '>'
                                    : '=',
                       STR_ARG(step.key));
        assert_string_equal(str_cstr(&arena, buf_str(&out)), rows[i].want);
        struct sorted_step past;
        assert_false(sorted_next(&pair, &past));
    }
}

static void a_copy_is_sorted_at_every_level(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "{'b':{'d':1,'c':[{'f':1,'e':2}]},'a':null}",
          "{'a':null,'b':{'c':[{'e':2,'f':1}],'d':1}}" },
        { "[{'b':1,'a':2},3,[{'d':1,'c':1,'d':2}]]", "[{'a':2,'b':1},3,[{'c':1,'d':2}]]" },
        { "1.50", "1.50" },
        { "{'a':{},'b':[]}", "{'a':{},'b':[]}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = tree(rows[i].text);
        struct str before = text_of(&v);
        struct value copy = sorted_copy(&arena, &v);
        assert_true(str_eq(text_of(&copy), quoted(rows[i].want)));
        if (copy.type == VALUE_OBJECT)
            value_put(&arena, &copy, STR("new"), value_null());
        assert_true(str_eq(text_of(&v), before)); /* which stays as it was */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_come_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_fields_are_sorted_as_few, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_objects_are_walked_side_by_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_is_sorted_at_every_level, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
