/* Sizes of objects that are remembered, and what makes them others. */
#include "server/verbs/list_sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

static void what_is_kept_is_found(void **state)
{
    (void)state;
    struct list_sizes *s = list_sizes_new();
    const struct list_size_of of = { STR("/registry/pods/a/b"), 7, 1 };
    struct list_size_of other = of;
    uint32_t n = 0;
    assert_false(list_sizes_find(s, &of, &n));
    list_sizes_keep(s, &of, 100);
    assert_true(list_sizes_find(s, &of, &n));
    assert_int_equal(n, 100);
    other.rev = 8;
    assert_false(list_sizes_find(s, &other, &n));
    other = of;
    other.form = 2;
    assert_false(list_sizes_find(s, &other, &n));
    other = of;
    other.key = STR("/registry/pods/a/c");
    assert_false(list_sizes_find(s, &other, &n));
    /* A newer state takes the place of the older. */
    other = of;
    other.rev = 9;
    list_sizes_keep(s, &other, 200);
    assert_false(list_sizes_find(s, &of, &n));
    assert_true(list_sizes_find(s, &other, &n));
    assert_int_equal(n, 200);
    assert_null(list_sizes_free(s));
    assert_null(list_sizes_free(NULL));
}

/* However many there are: none is ever found with another's size, and most of ten thousand are. */
static void others_are_forgotten(void **state)
{
    (void)state;
    enum { MANY = 200000, SOME = 10000 };
    struct list_sizes *s = list_sizes_new();
    size_t found = 0;
    char key[32];
    for (uint32_t i = 0; i < MANY; i++) {
        int n = snprintf(key, sizeof(key), "/registry/pods/%u", i);
        list_sizes_keep(s, &(struct list_size_of){ { key, (size_t)n }, i + 1, 0 }, i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t size;
        int n = snprintf(key, sizeof(key), "/registry/pods/%u", i);
        if (!list_sizes_find(s, &(struct list_size_of){ { key, (size_t)n }, i + 1, 0 }, &size))
            continue;
        assert_int_equal(size, i);
        found += i >= MANY - SOME;
    }
    assert_true(found > SOME * 9 / 10);
    list_sizes_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(others_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
