#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char *last = NULL;
    for (size_t i = 1; i < 3000; i++) {
        size_t align = (size_t)1 << (i % 5);
        char *p = arena_alloc(&a, i, align);
        assert_int_equal((uintptr_t)p % align, 0);
        memset(p, (int)i, i);
        if (last)
            assert_int_equal((unsigned char)last[0], (unsigned char)(i - 1));
        last = p;
    }
    arena_done(&a);
    assert_int_equal(a.held, 0);
}

static void reset_keeps_one_block(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < 100; i++)
        (void)arena_alloc(&a, 1000, 8);
    arena_reset(&a);
    size_t held = a.held;
    assert_true(held > 0 && held < 100000);
    (void)arena_alloc(&a, 1000, 8);
    assert_int_equal(a.held, held);
    (void)arena_alloc(&a, ARENA_BLOCK_MAX + 1, 8);
    arena_reset(&a);
    assert_int_equal(a.held, 0);
    arena_done(&a);
}

static void newest_piece_grows_in_place(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    char *p = arena_alloc(&a, 10, 1);
    memcpy(p, "0123456789", 10);
    assert_ptr_equal(arena_grow(&a, p, 10, 20, 1), p);
    (void)arena_alloc(&a, 1, 1);
    char *moved = arena_grow(&a, p, 20, 30, 1);
    assert_ptr_not_equal(moved, p);
    assert_memory_equal(moved, "0123456789", 10);
    arena_done(&a);
}

/* The array that most requests are about is not held twice while it grows. */
static void large_piece_leaves_nothing_behind(void **state)
{
    (void)state;
    enum { FIRST = ARENA_BLOCK_MAX, LAST = 64 * ARENA_BLOCK_MAX };
    struct arena a;
    struct allowance w = { 0 };
    arena_init(&a);
    arena_allow(&a, &w);
    (void)arena_alloc(&a, 100, 8);
    char *p = arena_alloc(&a, FIRST, 16);
    memset(p, 'x', FIRST);
    for (size_t n = FIRST; n < LAST; n *= 2) {
        p = arena_grow(&a, p, n, 2 * n, 16);
        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p + n, 'x', n);
        assert_true(a.held < 2 * n + ARENA_BLOCK_MAX);
        assert_int_equal(w.held, a.held);
    }
    for (size_t i = 0; i < LAST; i += 4096)
        assert_int_equal(p[i], 'x');
    (void)arena_alloc(&a, 100, 8);
    arena_done(&a);
    assert_int_equal(w.held, 0);
}

static void text_is_copied(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str s = arena_printf(&a, "%s-%d", "pod", 7);
    assert_true(str_eq(s, STR("pod-7")));
    assert_string_equal(str_cstr(&a, str_take(s, 3)), "pod");
    assert_int_equal(arena_str(&a, STR("")).n, 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(reset_keeps_one_block),
        cmocka_unit_test(newest_piece_grows_in_place),
        cmocka_unit_test(large_piece_leaves_nothing_behind),
        cmocka_unit_test(text_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
