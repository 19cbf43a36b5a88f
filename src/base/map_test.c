#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/arena.h"

enum { KEYS = 500 };

static void empty_map_answers(void **state)
{
    (void)state;
    struct map m = { 0 };
    size_t pos = 0;
    struct str key;
    void *p;
    assert_null(map_get(&m, STR("a")));
    assert_null(map_remove(&m, STR("a")));
    assert_false(map_next(&m, &pos, &key, &p));
    map_done(&m);
}

static void set_returns_what_was_there(void **state)
{
    (void)state;
    struct map m = { 0 };
    int one, two;
    assert_null(map_set(&m, STR(""), &one));
    assert_ptr_equal(map_set(&m, STR(""), &two), &one);
    assert_ptr_equal(map_get(&m, STR("")), &two);
    assert_int_equal(m.n, 1);
    assert_ptr_equal(map_remove(&m, STR("")), &two);
    assert_null(map_get(&m, STR("")));
    assert_int_equal(m.n, 0);
    map_done(&m);
}

/* A small xorshift: the same steps on every run. */
static uint32_t step(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void agrees_with_a_plain_array(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str keys[KEYS];
    void *model[KEYS] = { 0 };
    char marks[64];
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = arena_printf(&a, "key-%zu-%.*s", i, (int)(i % 20), "xxxxxxxxxxxxxxxxxxxx");

    struct map m = { 0 };
    uint32_t seed = 2463534242u;
    size_t live = 0;
    for (size_t round = 0; round < 50000; round++) {
        size_t i = step(&seed) % KEYS;
        void *before = model[i];
        if (step(&seed) % 2) {
            model[i] = &marks[step(&seed) % sizeof(marks)];
            live += !before;
            assert_ptr_equal(map_set(&m, keys[i], model[i]), before);
        } else {
            model[i] = NULL;
            live -= before != NULL;
            assert_ptr_equal(map_remove(&m, keys[i]), before);
        }
        assert_int_equal(m.n, live);
        size_t other = step(&seed) % KEYS;
        assert_ptr_equal(map_get(&m, keys[other]), model[other]);
    }
    assert_true(m.cap <= 2048); /* gravestones are swept, not collected */
    map_done(&m);
    arena_done(&a);
}

static void walk_meets_each_once_and_may_remove(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct map m = { 0 };
    bool seen[KEYS] = { 0 };
    for (size_t i = 0; i < KEYS; i++)
        map_set(&m, arena_printf(&a, "%zu", i), &seen[i]);

    size_t pos = 0, n = 0;
    struct str key;
    void *p;
    while (map_next(&m, &pos, &key, &p)) {
        assert_false(*(bool *)p);
        *(bool *)p = true;
        n++;
        if (n % 2)
            assert_ptr_equal(map_remove(&m, key), p);
    }
    assert_int_equal(n, KEYS);
    assert_int_equal(m.n, KEYS / 2);
    map_done(&m);
    arena_done(&a);
}

static void hash_sees_every_byte_and_the_length(void **state)
{
    (void)state;
    char text[40] = { 0 };
    for (size_t n = 0; n < sizeof(text); n++) {
        uint64_t hash = map_hash((struct str){ text, n });
        assert_true(hash == map_hash((struct str){ text, n }));
        assert_true(hash != map_hash((struct str){ text, n + 1 < sizeof(text) ? n + 1 : 0 }));
        for (size_t i = 0; i < n; i++) {
            text[i] = 1;
            assert_true(hash != map_hash((struct str){ text, n }));
            text[i] = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_answers),
        cmocka_unit_test(set_returns_what_was_there),
        cmocka_unit_test(agrees_with_a_plain_array),
        cmocka_unit_test(walk_meets_each_once_and_may_remove),
        cmocka_unit_test(hash_sees_every_byte_and_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
