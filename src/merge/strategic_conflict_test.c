/* Two patches of one Pod: do they contradict each other? As upstream sees it. */
#include "base/idiom.h"
#include "merge/strategic_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kind.h"
#include "merge/trees_test.h"

static int compare(const char *left, const char *right, bool *ret, struct err *err)
{
    struct value l = tree(left), r = tree(right);
    *err = ERR_INIT(&arena);
    struct strategic s = { .arena = &arena, .rules = &strategic_kinds, .err = err };
    int result = strategic__conflict(&s, kind_find(STR("v1"), STR("Pod")), &l, &r, ret);
    assert_int_equal(s.depth, 0); /* as deep as before, whatever it came to */
    return result;
}

struct row {
    const char *left, *right;
    bool conflicts;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err err;
        bool there = !rows[i].conflicts, back = !rows[i].conflicts;
        if (compare(rows[i].left, rows[i].right, &there, &err) < 0 ||
            compare(rows[i].right, rows[i].left, &back, &err) < 0)
            fail_msg("%s: " STR_FMT, rows[i].left, STR_ARG(err.msg));
        if (there != rows[i].conflicts || back != rows[i].conflicts)
            fail_msg("%s and %s: %d %d", rows[i].left, rows[i].right, there, back);
    }
}

#define META(fields)      "{'metadata':{" fields "}}"
#define SPEC(fields)      "{'spec':{" fields "}}"
#define CONTAINERS(items) SPEC("'containers':[" items "]")
#define ARGS(items)       CONTAINERS("{'name':'a','args':[" items "]}")

static void fields_conflict_if_both_change_them(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{}", "{}", false },
        { META("'labels':{'a':'1'}"), "{}", false },
        { META("'labels':{'a':'1'}"), META("'labels':{'b':'1'}"), false },
        { META("'labels':{'a':'1'}"), META("'labels':{'a':'1'}"), false }, /* the same change */
        { META("'labels':{'a':'1'}"), META("'labels':{'a':'2'}"), true },
        { META("'labels':{'a':null}"), META("'labels':{'a':'2'}"), true }, /* deleted, changed */
        { META("'labels':{'a':null}"), META("'labels':{'a':null}"), false },
        { META("'labels':null"), META("'labels':{'a':'1'}"), true },
        { META("'labels':{'a':'1','z':'1'}"), META("'labels':{'b':'1','z':'2'}"), true },
        { SPEC("'hostNetwork':true"), SPEC("'hostNetwork':'true'"), true },
        { SPEC("'priority':1"), SPEC("'nodeName':'n'"), false },
    };
    check(rows, ARRAY_LEN(rows));
}

static void items_with_a_key_conflict_by_their_key(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { CONTAINERS("{'name':'a','image':'1'}"), CONTAINERS("{'name':'b','image':'2'}"), false },
        { CONTAINERS("{'name':'a','image':'1'}"), CONTAINERS("{'name':'a','image':'2'}"), true },
        { CONTAINERS("{'name':'a','image':'1'}"), CONTAINERS("{'name':'a','image':'1'}"), false },
        { CONTAINERS("{'name':'a','image':'1'}"), CONTAINERS("{'name':'a','tty':true}"), false },
        /* Wherever they stand. */
        { CONTAINERS("{'name':'a','image':'1'},{'name':'b','image':'1'}"),
          CONTAINERS("{'name':'b','image':'2'},{'name':'a','image':'1'}"), true },
        { CONTAINERS("{'name':'a','image':'1'},{'name':'b','image':'1'}"),
          CONTAINERS("{'name':'c','image':'2'},{'name':'a','image':'1'}"), false },
        { CONTAINERS(""), CONTAINERS("{'name':'a'}"), false },
        { CONTAINERS("{'name':'a','ports':[{'containerPort':1,'name':'x'}]}"),
          CONTAINERS("{'name':'a','ports':[{'containerPort':1,'name':'y'}]}"), true },
        { CONTAINERS("{'name':'a','ports':[{'containerPort':1,'name':'x'}]}"),
          CONTAINERS("{'name':'a','ports':[{'containerPort':2,'name':'y'}]}"), false },
    };
    check(rows, ARRAY_LEN(rows));
}

static void lists_that_are_replaced_conflict_as_a_whole(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { ARGS("'x'"), ARGS("'x'"), false },
        { ARGS("'x'"), ARGS("'y'"), true },
        { ARGS("'x'"), ARGS("'x','y'"), true },
        { ARGS("'x','y'"), ARGS("'y','x'"), false }, /* the order does not count */
        { ARGS("'x','x'"), ARGS("'x','y'"), true },
        { ARGS("'x','y'"), ARGS("'x','x'"), true },
        { SPEC("'tolerations':[{'key':'a'}]"), SPEC("'tolerations':[{'key':'b'}]"), true },
        { SPEC("'tolerations':[{'key':'a'}]"), SPEC("'tolerations':[{'key':'a'}]"), false },
        { SPEC("'tolerations':[{'key':'a'}]"), SPEC("'tolerations':[{'key':'a'},{'key':'b'}]"),
          true },
        /* Of lists that are merged, each may add what it likes. */
        { META("'finalizers':['a']"), META("'finalizers':['b','c']"), false },
    };
    check(rows, ARRAY_LEN(rows));
}

static void directives_are_about_the_whole_object(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { SPEC("'$patch':'replace'"), SPEC("'nodeName':'n'"), true },
        { SPEC("'$patch':'replace','nodeName':'n'"), SPEC("'$patch':'replace','nodeName':'n'"),
          false },
        { SPEC("'$patch':'replace'"), SPEC("'$patch':'delete'"), true },
        { SPEC("'$patch':'replace','nodeName':'n'"), SPEC("'$patch':'replace','nodeName':'m'"),
          true },
        { CONTAINERS("{'$patch':'delete','name':'a'}"), CONTAINERS("{'name':'a','image':'1'}"),
          true },
        { CONTAINERS("{'$patch':'delete','name':'a'}"), CONTAINERS("{'name':'b','image':'1'}"),
          false },
        { SPEC("'$retainKeys':['a']"), SPEC("'$retainKeys':['b']"), false },
    };
    check(rows, ARRAY_LEN(rows));
}

static void what_cannot_be_compared_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *left, *right, *says;
    } rows[] = {
        { CONTAINERS("{'image':'1'}"), CONTAINERS("{'name':'a'}"), "name" },
        { CONTAINERS("{'name':'a'}"), CONTAINERS("{'image':'1'}"), "name" },
        { CONTAINERS("{'name':'a'},'text'"), CONTAINERS("{'name':'a'}"), "" },
        { ARGS(""), ARGS(""), "no elements in any of the given slices" },
        { SPEC("'nothing':{}"), SPEC("'nothing':{}"),
          "unable to find api field in struct PodSpec for the json field \"nothing\"" },
        { META("'labels':{'a':{}}"), META("'labels':{'a':{}}"),
          "merging an object in json but data type is not struct, instead is: map" },
        { SPEC("'securityContext':{'sysctls':{}}"), SPEC("'securityContext':{'wrong':[]}"), NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err;
        bool conflicts = false;
        int r = compare(rows[i].left, rows[i].right, &conflicts, &err);
        assert_int_equal(r < 0, rows[i].says != NULL);
        if (rows[i].says && !strstr(str_cstr(&arena, err.msg), rows[i].says))
            fail_msg("%s: " STR_FMT, rows[i].left, STR_ARG(err.msg));
    }
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(fields_conflict_if_both_change_them),
        WITH_ARENA(items_with_a_key_conflict_by_their_key),
        WITH_ARENA(lists_that_are_replaced_conflict_as_a_whole),
        WITH_ARENA(directives_are_about_the_whole_object),
        WITH_ARENA(what_cannot_be_compared_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
