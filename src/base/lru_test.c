#include "base/lru.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct number {
    struct lru_thing thing;
    int value;
};

static int *at(struct lru *l, const char *key)
{
    return &((struct number *)lru_get(l, str_of(key)))->value;
}

static void things_are_found_again(void **state)
{
    (void)state;
    struct lru l;
    lru_init(&l, sizeof(struct number), 10);
    assert_int_equal(*at(&l, "a"), 0);
    *at(&l, "a") = 1;
    *at(&l, "") = 2;
    assert_int_equal(*at(&l, "a"), 1);
    assert_int_equal(*at(&l, ""), 2);
    lru_done(&l);
}

static void the_oldest_goes(void **state)
{
    (void)state;
    struct lru l;
    lru_init(&l, sizeof(struct number), 3);
    *at(&l, "a") = 1;
    *at(&l, "b") = 2;
    *at(&l, "c") = 3;
    assert_int_equal(*at(&l, "a"), 1); /* so b is the oldest now */
    *at(&l, "d") = 4;
    assert_int_equal(*at(&l, "a"), 1);
    assert_int_equal(*at(&l, "c"), 3);
    assert_int_equal(*at(&l, "d"), 4);
    assert_int_equal(*at(&l, "b"), 0);
    lru_done(&l);
}

static void it_stays_bounded(void **state)
{
    (void)state;
    struct lru l;
    char key[16];
    lru_init(&l, sizeof(struct number), 100);
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        *at(&l, key) = i;
    }
    assert_int_equal(l.by_key.n, 100);
    assert_int_equal(*at(&l, "4900"), 4900);
    assert_int_equal(*at(&l, "4899"), 0);
    lru_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_are_found_again),
        cmocka_unit_test(the_oldest_goes),
        cmocka_unit_test(it_stays_bounded),
    };
    return cmocka_run_group_tests_name("lru", tests, NULL, NULL);
}
