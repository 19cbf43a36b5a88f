#include "server/guard/openid_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct str groups[] = { STR("x"), STR("y") };
static const struct user me = { .name = STR("me"), .groups = groups, .n_groups = 2 };

static void a_user_is_known_for_a_time(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct openid_cache *c = openid_cache_new();
    assert_null(openid_cache_get(c, &a, STR("t"), 1, 0));
    openid_cache_put(c, STR("t"), 1, 10, &me);
    const struct user *found = openid_cache_get(c, &a, STR("t"), 1, 9);
    assert_non_null(found);
    assert_true(str_eq(found->name, me.name));
    assert_int_equal(found->n_groups, 2);
    assert_true(str_eq(found->groups[1], STR("y")));
    assert_null(openid_cache_get(c, &a, STR("t"), 1, 10));
    assert_null(openid_cache_get(c, &a, STR("u"), 1, 9));
    openid_cache_put(c, STR("t"), 1, 20, &me);
    assert_non_null(openid_cache_get(c, &a, STR("t"), 1, 10));
    openid_cache_free(c);
    arena_done(&a);
}

static void another_generation_knows_nothing(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct openid_cache *c = openid_cache_new();
    openid_cache_put(c, STR("t"), 1, 10, &me);
    assert_null(openid_cache_get(c, &a, STR("t"), 2, 0));
    assert_non_null(openid_cache_get(c, &a, STR("t"), 1, 0));
    openid_cache_free(c);
    arena_done(&a);
}

static void a_large_user_is_not_kept(void **state)
{
    (void)state;
    static char name[1 << 15];
    struct arena a;
    arena_init(&a);
    struct openid_cache *c = openid_cache_new();
    const struct user large = { .name = { name, sizeof(name) } };
    openid_cache_put(c, STR("t"), 1, 10, &large);
    assert_null(openid_cache_get(c, &a, STR("t"), 1, 0));
    openid_cache_put(c, STR("t"), 1, 10, &me);
    assert_non_null(openid_cache_get(c, &a, STR("t"), 1, 0));
    openid_cache_free(c);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_is_known_for_a_time),
        cmocka_unit_test(another_generation_knows_nothing),
        cmocka_unit_test(a_large_user_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
