/* How the items of lists are told apart, and what becomes of those that cannot be. */
#include "merge/ownership_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kind.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "merge/trees_test.h"

static struct ownership_place pod(void)
{
    return ownership_kind(kind_find(STR("v1"), STR("Pod")));
}

#define CONTAINERS(items)  "{'spec':{'containers':[" items "]}}"
#define FINALIZERS(items)  "{'metadata':{'finalizers':[" items "]}}"
#define OF_CONTAINERS(set) "{'f:spec':{'f:containers':{" set "}}}"
#define A                  "'k:{\\'name\\':\\'a\\'}':"

static const char *set_text(const struct fieldset *s)
{
    struct value v = fieldset_write(&arena, s);
    return str_cstr(&arena, text_of(&v));
}

static void items_that_cannot_be_told_apart_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *object, *says;
    } rows[] = {
        { CONTAINERS("null"), "element 0: associative list with keys may not have a null element" },
        { CONTAINERS("{'name':'a'},'b'"),
          "element 1: associative list with keys may not have non-map elements" },
        { CONTAINERS("{'name':'a'},[]"),
          "element 1: associative list with keys may not have non-map elements" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = tree(rows[i].object);
        struct err err = ERR_INIT(&arena);
        const struct fieldset *s;
        assert_int_equal(ownership_paths(&arena, &ownership_kinds, pod(), &v, &s, &err),
                         -ERR_UNKNOWN);
        if (!strstr(str_cstr(&arena, err.msg), rows[i].says))
            fail_msg("%s: " STR_FMT, rows[i].object, STR_ARG(err.msg));
    }
}

/* Items that repeat a key are owned as one, and what they have inside is nobody's. */
static void changes_of_repeated_items(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *removed, *modified, *added;
    } rows[] = {
        /* Once before and once after: field by field. */
        { CONTAINERS("{'name':'a','image':'1'}"), CONTAINERS("{'name':'a','image':'2'}"), "{}",
          OF_CONTAINERS(A "{'f:image':{}}"), "{}" },
        /* Twice and twice: the same, or another one. */
        { CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'2'}"),
          CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'2'}"), "{}", "{}", "{}" },
        { CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'2'}"),
          CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'3'}"), "{}",
          OF_CONTAINERS(A "{}"), "{}" },
        { CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'1'}"),
          CONTAINERS("{'name':'a','image':'1'},{'name':'a','image':'1'},{'name':'a','image':'1'}"),
          "{}", OF_CONTAINERS(A "{}"), "{}" },
        /* A set that had it twice and still has it. */
        { FINALIZERS("'x','x'"), FINALIZERS("'x','x'"), "{}", "{}", "{}" },
        { FINALIZERS("'x','y'"), FINALIZERS("'y'"),
          "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}", "{}", "{}" },
        { FINALIZERS("'y'"), FINALIZERS("'x','y'"), "{}", "{}",
          "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}" },
        { FINALIZERS("'x','y'"), FINALIZERS("'y','x'"), "{}", "{}", "{}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value before = tree(rows[i].before), after = tree(rows[i].after);
        struct ownership_changes c;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(
            ownership_compare(&arena, &ownership_kinds, pod(), &before, &after, &c, &err), 0);
        const char *got[] = { set_text(c.removed), set_text(c.modified), set_text(c.added) },
                   *want[] = { rows[i].removed, rows[i].modified, rows[i].added };
        for (size_t k = 0; k < ARRAY_LEN(got); k++)
            if (!str_eq(str_of(got[k]), quoted(want[k])))
                fail_msg("row %zu, %zu: %s", i, k, got[k]);
    }
}

/* The same item again and again, by reference: nothing is made of it a million times. */
static void twins_share_their_key(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct value item = tree("{'name':'a','image':'1'}"), list = value_array();
    for (size_t i = 0; i < N; i++)
        value_put_item(&arena, &list, value_share(&item));
    struct ownership_walk w = { .arena = &arena, .schema = &ownership_kinds };
    struct ownership_place spec, containers;
    assert_true(ownership_kinds.field(pod(), STR("spec"), &spec));
    assert_true(ownership_kinds.field(spec, STR("containers"), &containers));
    struct ownership_shape shape = ownership_kinds.shape(containers, &list);
    struct ownership_items items;
    assert_int_equal(ownership__items(&w, containers, &shape, &list, &items), 0);
    assert_int_equal(items.n, N);
    for (size_t i = 1; i < N; i++)
        assert_ptr_equal(items.all[i].step.v.fields, items.all[0].step.v.fields);
}

static void depth_is_bounded_and_given_back(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct ownership_walk w = { .arena = &arena, .schema = &ownership_kinds, .err = &err };
    for (unsigned i = 0; i < LIMIT_FIELD_DEPTH; i++)
        assert_int_equal(ownership__enter(&w), 0);
    assert_int_equal(ownership__enter(&w), -ERR_BAD_REQUEST);
    assert_int_equal(w.depth, LIMIT_FIELD_DEPTH); /* what is refused was not entered */
    w.depth--;
    assert_int_equal(ownership__enter(&w), 0);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(items_that_cannot_be_told_apart_are_refused),
        WITH_ARENA(changes_of_repeated_items),
        WITH_ARENA(twins_share_their_key),
        WITH_ARENA(depth_is_bounded_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
