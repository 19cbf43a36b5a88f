#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "merge/fieldset.h"
#include "merge/trees_test.h"

static const struct fieldset *set_of(const struct value *fields)
{
    const struct fieldset *s;
    struct err err = ERR_INIT(&arena);
    if (fieldset_read(&arena, fields, &s, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return s;
}

/* In single quotes; those of keys and values are written with backslashes. */
static const struct fieldset *set(const char *text)
{
    struct value v = tree(text);
    return set_of(&v);
}

static void assert_set(const struct fieldset *s, const char *text)
{
    struct value have = fieldset_write(&arena, s);
    assert_string_equal(str_cstr(&arena, text_of(&have)), str_cstr(&arena, quoted(text)));
}

#define KEY(s) "k:{\\'name\\':\\'" s "\\'}"

static void test_read_and_write(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "{}", "{}" },
        { "null", "{}" },
        { "{'f:a':{}}", "{'f:a':{}}" },
        { "{'f:b':{},'f:a':{}}", "{'f:a':{},'f:b':{}}" },
        { "{'f:a':{'.':{}}}", "{'f:a':{}}" },
        { "{'f:a':{'f:b':{},'.':{}}}", "{'f:a':{'.':{},'f:b':{}}}" },
        { "{'i:2':{},'v:true':{},'v:\\'x\\'':{},'v:1':{},'" KEY("a") "':{},'f:z':{}}",
          "{'f:z':{},'" KEY("a") "':{},'v:1':{},'v:\\'x\\'':{},'v:true':{},'i:2':{}}" },
        { "{'k:{ \\'b\\':1, \\'a\\':2}':{}}", "{'k:{\\'a\\':2,\\'b\\':1}':{}}" },
        { "{'v:1.0':{},'v:1':{}}", "{'v:1':{}}" },
        { "{'q:new':{'f:x':{}},'f:a':{}}", "{'f:a':{}}" },
        { "{'f:a':{'q:new':{}}}", "{'f:a':{}}" },
        { "{'f:a':{'f:b':null}}", "{'f:a':{'f:b':{}}}" },
        { "{'v:\\'a<b>&c\\'':{}}", "{'v:\\'a\\\\u003cb\\\\u003e\\\\u0026c\\'':{}}" },
        { "{'f:<':{}}", "{'f:<':{}}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_set(set(rows[i].in), rows[i].out);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "1",           "[]",           "{'f:a':1}",     "{'a':{}}",   "{'f':{}}",
        "{'fx:a':{}}", "{'v:':{}}",    "{'v:{':{}}",    "{'i:x':{}}", "{'k:[]':{}}",
        "{'k:1':{}}",  "{'v:1 2':{}}", "{'k:{}{}':{}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fieldset *s;
        struct err err = ERR_INIT(&arena);
        struct value v = tree(rows[i]);
        if (fieldset_read(&arena, &v, &s, &err) != -ERR_BAD_REQUEST)
            fail_msg("%s was taken", rows[i]);
    }
}

/* A set whose only path has `n` steps. */
static struct value chain(size_t n)
{
    struct value v = value_object();
    for (size_t i = 0; i < n; i++) {
        struct value outer = value_object();
        value_put_new(&arena, &outer, STR("f:a"), v);
        v = outer;
    }
    return v;
}

static void count_steps(void *arg, const struct fieldset_step *path, size_t n)
{
    (void)path;
    *(size_t *)arg += n;
}

static void test_depth(void **state)
{
    (void)state;
    const struct fieldset *s;
    struct err err = ERR_INIT(&arena);
    struct value deepest = chain(LIMIT_FIELD_DEPTH), deeper = chain(LIMIT_FIELD_DEPTH + 1);
    size_t steps = 0;
    assert_int_equal(fieldset_read(&arena, &deepest, &s, &err), 0);
    fieldset_each(s, count_steps, &steps);
    assert_int_equal(steps, LIMIT_FIELD_DEPTH);
    assert_int_equal(fieldset_read(&arena, &deeper, &s, &err), -ERR_BAD_REQUEST);
}

struct row {
    const char *x, *y, *both, *common, *difference, *without;
};

static const struct row rows[] = {
    { "{}", "{}", "{}", "{}", "{}", "{}" },
    { "{'f:a':{}}", "{}", "{'f:a':{}}", "{}", "{'f:a':{}}", "{'f:a':{}}" },
    { "{}", "{'f:a':{}}", "{'f:a':{}}", "{}", "{}", "{}" },
    { "{'f:a':{}}", "{'f:a':{}}", "{'f:a':{}}", "{'f:a':{}}", "{}", "{}" },
    { "{'f:a':{},'f:c':{}}", "{'f:b':{},'f:c':{}}", "{'f:a':{},'f:b':{},'f:c':{}}", "{'f:c':{}}",
      "{'f:a':{}}", "{'f:a':{}}" },
    { "{'f:a':{'f:b':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:b':{}}}", "{}", "{'f:a':{'f:b':{}}}",
      "{}" },
    { "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:b':{}}}",
      "{'f:a':{'f:b':{}}}", "{'f:a':{}}", "{'f:a':{}}" },
    { "{'f:a':{'" KEY("x") "':{'.':{},'f:i':{}}}}", "{'f:a':{'" KEY("x") "':{}}}",
      "{'f:a':{'" KEY("x") "':{'.':{},'f:i':{}}}}", "{'f:a':{'" KEY("x") "':{}}}",
      "{'f:a':{'" KEY("x") "':{'f:i':{}}}}", "{}" },
};

static void test_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fieldset *x = set(rows[i].x), *y = set(rows[i].y);
        assert_set(fieldset_union(&arena, x, y), rows[i].both);
        assert_set(fieldset_union(&arena, y, x), rows[i].both);
        assert_set(fieldset_intersection(&arena, x, y), rows[i].common);
        assert_set(fieldset_intersection(&arena, y, x), rows[i].common);
        assert_set(fieldset_difference(&arena, x, y), rows[i].difference);
        assert_set(fieldset_without(&arena, x, y), rows[i].without);
        assert_set(x, rows[i].x);
    }
}

static void test_has_and_leaves(void **state)
{
    (void)state;
    const struct fieldset *s = set("{'f:a':{'.':{},'f:b':{'v:1':{}}},'f:c':{}}");
    struct fieldset_step path[] = { fieldset_name(STR("a")),
                                    fieldset_name(STR("b")),
                                    { FIELDSET_VALUE, value_int(1) } };
    assert_true(fieldset_has(s, path, 1));
    assert_false(fieldset_has(s, path, 2));
    assert_true(fieldset_has(s, path, 3));
    assert_false(fieldset_has(s, path, 0));
    assert_false(fieldset_has(s, path + 1, 1));
    assert_int_equal(fieldset_count(s), 3);
    assert_set(fieldset_leaves(&arena, s), "{'f:a':{'f:b':{'v:1':{}}},'f:c':{}}");
    assert_set(fieldset_of(&arena, path, 3), "{'f:a':{'f:b':{'v:1':{}}}}");
}

static void write_path(void *arg, const struct fieldset_step *path, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fieldset_step_write(arg, &path[i]);
    buf_byte(arg, '\n');
}

static void test_order_of_paths(void **state)
{
    (void)state;
    autobuf out = { 0 };
    fieldset_each(set("{'f:l':{'" KEY("b") "':{'f:x':{},'.':{}},'v:\\'q\\'':{},'i:3':{}},"
                                           "'f:z':{},'k:{\\'a\\':1,\\'b\\':true}':{}}"),
                  write_path, &out);
    buf_byte(&out, '\0');
    assert_string_equal(out.p, ".z\n[a=1,b=true]\n.l[name=\"b\"]\n.l[=\"q\"]\n.l[3]\n"
                               ".l[name=\"b\"].x\n");
}

/* ---- random sets ---- */

static const struct fieldset *random_set(uint64_t *seed, size_t depth)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct fieldset_builder b = { .arena = &arena };
    for (size_t n = random_below(seed, 6); n--;) {
        struct fieldset_step step =
            random_below(seed, 2)
                ? fieldset_name(str_of(names[random_below(seed, 5)]))
                : (struct fieldset_step){ FIELDSET_VALUE,
                                          value_int((int64_t)random_below(seed, 5)) };
        bool is_member = random_below(seed, 2);
        fieldset_add(&b, step, is_member, depth ? random_set(seed, depth - 1) : NULL);
    }
    return fieldset_build(&b);
}

static void test_laws(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (size_t i = 0; i < 2000; i++) {
        const struct fieldset *x = random_set(&seed, 3), *y = random_set(&seed, 3);
        const struct fieldset *both = fieldset_union(&arena, x, y);
        const struct fieldset *common = fieldset_intersection(&arena, x, y);
        const struct fieldset *only_x = fieldset_difference(&arena, x, y);
        struct value written = fieldset_write(&arena, both);
        assert_true(fieldset_eq(set_of(&written), both));
        assert_true(fieldset_eq(fieldset_union(&arena, only_x, common), x));
        assert_true(fieldset_eq(fieldset_union(&arena, only_x, y), both));
        assert_null(fieldset_intersection(&arena, only_x, y));
        assert_null(fieldset_difference(&arena, x, both));
        assert_true(fieldset_count(x) + fieldset_count(y) ==
                    fieldset_count(both) + fieldset_count(common));
        assert_true(fieldset_eq(x, y) == !(only_x || fieldset_difference(&arena, y, x)));
    }
}

/* Quadratic work would take hours here. */
static void test_a_million_members(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct fieldset_builder b = { .arena = &arena };
    for (size_t i = 0; i < N; i++)
        fieldset_add(&b, (struct fieldset_step){ FIELDSET_VALUE, value_int((int64_t)(N - i)) },
                     true, NULL);
    const struct fieldset *s = fieldset_build(&b);
    assert_int_equal(fieldset_count(s), N);
    assert_null(fieldset_difference(&arena, s, fieldset_union(&arena, s, NULL)));
    struct value written = fieldset_write(&arena, s);
    assert_true(fieldset_eq(set_of(&written), s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_and_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_has_and_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_million_members, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
