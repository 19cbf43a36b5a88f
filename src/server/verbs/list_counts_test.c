#include "server/verbs/list_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static void only_the_very_same_is_found(void **state)
{
    (void)state;
    struct list_counts *c = list_counts_new();
    uint64_t n = 0;
    assert_false(list_counts_find(c, STR("/a/"), 5, STR("/a/x"), &n));
    list_counts_keep(c, STR("/a/"), 5, STR("/a/x"), 42);
    assert_true(list_counts_find(c, STR("/a/"), 5, STR("/a/x"), &n));
    assert_int_equal(n, 42);
    assert_false(list_counts_find(c, STR("/a/"), 6, STR("/a/x"), &n));
    assert_false(list_counts_find(c, STR("/"), 5, STR("/a/x"), &n));
    assert_false(list_counts_find(c, STR("/a/"), 5, STR("/a/y"), &n));
    list_counts_keep(c, STR("/a/"), 6, STR("/a/x"), 43);
    assert_true(list_counts_find(c, STR("/a/"), 6, STR("/a/x"), &n));
    assert_int_equal(n, 43);
    list_counts_free(c);
}

/* However many there are, they take the place of each other, and none lies. */
static void old_ones_are_forgotten(void **state)
{
    (void)state;
    struct list_counts *c = list_counts_new();
    char text[32];
    size_t found = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        size_t n = (size_t)snprintf(text, sizeof(text), "/a/%llu", (unsigned long long)i);
        list_counts_keep(c, STR("/a/"), 1, (struct str){ text, n }, i);
    }
    for (uint64_t i = 0; i < 10000; i++) {
        size_t n = (size_t)snprintf(text, sizeof(text), "/a/%llu", (unsigned long long)i);
        uint64_t count = UINT64_MAX;
        if (!list_counts_find(c, STR("/a/"), 1, (struct str){ text, n }, &count))
            continue;
        assert_int_equal(count, i);
        found++;
    }
    assert_true(found > 0 && found < 1000);
    list_counts_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_very_same_is_found),
        cmocka_unit_test(old_ones_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
