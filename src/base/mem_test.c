#include "base/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static jmp_buf gave_up;
static size_t asked_for;

static void note(size_t wanted)
{
    asked_for = wanted;
    longjmp(gave_up, 1);
}

/* What the hook was told, or 0 if it was not called. */
#define WANTED(call)                         \
    ({                                       \
        void (*old)(size_t) = mem_exhausted; \
        asked_for = 0;                       \
        mem_exhausted = note;                \
        if (!setjmp(gave_up))                \
            free(call);                      \
        mem_exhausted = old;                 \
        asked_for;                           \
    })

/* A product that does not fit must not become a small block. */
static void sizes_that_overflow_end_in_the_hook(void **state)
{
    (void)state;
    volatile size_t half = SIZE_MAX / 2 + 1; /* which the compiler does not see through */
    assert_true(WANTED(mem_array(half, 2)) == SIZE_MAX);
    assert_true(WANTED(mem_array(2, half)) == SIZE_MAX);
    assert_true(WANTED(mem_resize(NULL, half, 2)) == SIZE_MAX);
    assert_true(WANTED(mem_array(half, 0)) == 0);
}

/* Nobody has to look whether there is a block: not for nothing either. */
static void nothing_is_a_block_too(void **state)
{
    (void)state;
    autofree char *a = mem_alloc(0), *b = mem_zalloc(0), *c = mem_array(0, 8),
                  *d = mem_dup(NULL, 0);
    assert_true(a && b && c && d);
    char *e = mem_resize(mem_alloc(10), 0, 10);
    assert_non_null(e);
    free(e);
}

static void blocks_are_zeroed_copied_and_moved(void **state)
{
    (void)state;
    static const char zeros[64];
    autofree char *array = mem_array(8, 8), *copy = mem_dup("text", 5);
    assert_memory_equal(array, zeros, sizeof(zeros));
    assert_string_equal(copy, "text");
    copy = mem_resize(copy, 100, 50);
    assert_string_equal(copy, "text");
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int opened(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void owners_release_unless_it_is_taken(void **state)
{
    (void)state;
    int closed, kept;
    {
        autoclose int mine = opened();
        autoclose int given = opened();
        autoclose int none = -1;
        closed = mine;
        kept = take_fd(&given);
        assert_int_equal(given, -1);
        assert_int_equal(take_fd(&none), -1);
    }
    assert_false(is_open(closed));
    assert_true(is_open(kept));
    close(kept);

    char *text = mem_dup("kept", 5), *taken;
    {
        autofree char *owner = text;
        taken = take(&owner);
        assert_null(owner);
    }
    assert_string_equal(taken, "kept");
    free(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_end_in_the_hook),
        cmocka_unit_test(nothing_is_a_block_too),
        cmocka_unit_test(blocks_are_zeroed_copied_and_moved),
        cmocka_unit_test(owners_release_unless_it_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
