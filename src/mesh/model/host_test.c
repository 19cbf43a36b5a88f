#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "mesh/model/host.h"
#include "mesh/model/tree.h"

static void test_within(void **state)
{
    static const struct {
        const char *a, *b;
        bool within, matches;
    } rows[] = {
        { "a.test", "a.test", true, true },
        { "a.test", "b.test", false, false },
        { "a.test", "*.test", true, true },
        { "*.test", "a.test", false, true },
        { "*.a.test", "*.test", true, true },
        { "*.test", "*.a.test", false, true },
        { "a.test", "*", true, true },
        { "*", "a.test", false, true },
        { "x.a.test", "*.b.test", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(host_is_within(str_of(rows[i].a), str_of(rows[i].b)), rows[i].within);
        assert_int_equal(host_matches(str_of(rows[i].a), str_of(rows[i].b)), rows[i].matches);
    }
}

static void test_order(void **state)
{
    (void)state;
    assert_true(host_order(STR("a.test"), STR("*.a.test")) < 0);
    assert_true(host_order(STR("*.a.test"), STR("*.test")) < 0);
    assert_true(host_order(STR("*"), STR("*.test")) > 0);
}

static void test_expand(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    struct str domain = STR("cluster.local");
    assert_true(str_eq(host_expand(&a, STR("web"), STR("shop"), domain),
                       STR("web.shop.svc.cluster.local")));
    assert_true(str_eq(host_expand(&a, STR("web.test"), STR("shop"), domain), STR("web.test")));
    assert_true(str_eq(host_expand(&a, STR("*"), STR("shop"), domain), STR("*")));
    arena_done(&a);
}

static void test_tree(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    struct value v = tree(&a, "{name: %s, port: {n: %d}, on: true, list: ['a b', %v], gone: %t}",
                          STR("x"), 80, value_null(), NULL);
    assert_true(str_eq(value_text(&v, "name"), STR("x")));
    assert_int_equal(value_dig(&v, "port", "n")->i, 80);
    assert_int_equal(value_get(&v, STR("list"))->n, 1);
    assert_null(value_get(&v, STR("gone")));
    assert_true(tree_seconds(STR("1m30s")) == 90);
    assert_true(tree_seconds(STR("250ms")) == 0.25);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_within), cmocka_unit_test(test_order),
                                        cmocka_unit_test(test_expand),
                                        cmocka_unit_test(test_tree) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
