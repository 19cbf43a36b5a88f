#include "server/guard/answer_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct arena arena;
static struct clock_fake now;

static int setup(void **state)
{
    arena_init(&arena);
    clock_fake_init(&now, 1000 * NS_PER_SEC);
    *state = answer_cache_new(2, &now.clock);
    return 0;
}

static int teardown(void **state)
{
    answer_cache_free(*state);
    arena_done(&arena);
    return 0;
}

static const char *get(struct answer_cache *c, const char *question)
{
    struct str answer;
    return answer_cache_get(c, str_of(question), &arena, &answer) ? str_cstr(&arena, answer) : "-";
}

static void put(struct answer_cache *c, const char *question, const char *answer, int64_t sec)
{
    answer_cache_put(c, str_of(question), str_of(answer), sec * NS_PER_SEC);
}

static void an_answer_counts_for_its_time(void **state)
{
    put(*state, "a", "yes", 10);
    put(*state, "b", "no", 0);
    assert_string_equal(get(*state, "a"), "yes");
    assert_string_equal(get(*state, "b"), "-");
    assert_string_equal(get(*state, "aa"), "-");
    clock_fake_advance(&now, 10 * NS_PER_SEC - 1);
    assert_string_equal(get(*state, "a"), "yes");
    clock_fake_advance(&now, 1);
    assert_string_equal(get(*state, "a"), "-");
}

static void a_newer_answer_replaces_it(void **state)
{
    put(*state, "a", "yes", 10);
    put(*state, "b", "perhaps", 10);
    put(*state, "a", "no", 20);
    assert_string_equal(get(*state, "b"), "perhaps");
    clock_fake_advance(&now, 15 * NS_PER_SEC);
    assert_string_equal(get(*state, "a"), "no");
}

static void who_was_not_used_goes_first(void **state)
{
    put(*state, "a", "1", 10);
    put(*state, "b", "2", 10);
    assert_string_equal(get(*state, "a"), "1");
    put(*state, "c", "3", 10);
    assert_string_equal(get(*state, "b"), "-");
    assert_string_equal(get(*state, "a"), "1");
    assert_string_equal(get(*state, "c"), "3");
}

static void it_can_forget_all(void **state)
{
    put(*state, "a", "1", 10);
    answer_cache_clear(*state);
    assert_string_equal(get(*state, "a"), "-");
    put(*state, "a", "2", 10);
    assert_string_equal(get(*state, "a"), "2");
}

static void what_is_too_large_is_not_kept(void **state)
{
    char *text = arena_zalloc(&arena, ANSWER_BYTES_MAX + 1, 1, 1);
    answer_cache_put(*state, STR("a"), (struct str){ text, ANSWER_BYTES_MAX + 1 }, NS_PER_SEC);
    assert_string_equal(get(*state, "a"), "-");
    struct str answer;
    answer_cache_put(*state, STR("a"), (struct str){ text, ANSWER_BYTES_MAX }, NS_PER_SEC);
    assert_true(answer_cache_get(*state, STR("a"), &arena, &answer));
    assert_int_equal(answer.n, ANSWER_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_counts_for_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_newer_answer_replaces_it, setup, teardown),
        cmocka_unit_test_setup_teardown(who_was_not_used_goes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(it_can_forget_all, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_not_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
