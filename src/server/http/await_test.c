#include "server/http/await.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;
static struct store *store;
static struct loop *loop;

static int setup(void **state)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    (void)state;
    arena_init(&arena);
    loop = loop_new(NULL, NULL);
    return loop && store_open(&opt, &store, NULL) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    store_close(store);
    arena_done(&arena);
    return 0;
}

static void put_something(void)
{
    struct store_op op = { STORE_PUT, STR("/a"), STR("1"), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(store, &txn, NULL), 0);
}

/* Looks again whenever its timer fires; the revision comes with the third look. */
struct waiter {
    struct await await;
    struct loop_timer timer;
    struct err err;
    int looks, result;
};

static void look(struct loop_timer *timer)
{
    struct waiter *w = container_of(timer, struct waiter, timer);
    if (++w->looks == 3)
        put_something();
    w->result = await_look(&w->await, loop, &w->timer, &w->err);
    if (w->result != 0)
        loop_stop(loop);
}

static void what_is_there_is_not_waited_for(void **state)
{
    struct loop_timer timer = { 0 };
    (void)state;
    const struct await a = await_from_now(loop, store, store_rev(store));
    assert_int_equal(await_look(&a, loop, &timer, NULL), 1);
    assert_null(timer.loop);
    assert_int_equal(await_on_worker(store, store_rev(store), NULL), 0);
}

static void what_comes_is_found_by_looking_again(void **state)
{
    struct waiter w = { .await = await_from_now(loop, store, store_rev(store) + 1),
                        .timer.on_fire = look,
                        .err = ERR_INIT(&arena) };
    (void)state;
    look(&w.timer);
    assert_int_equal(w.result, 0);
    assert_non_null(w.timer.loop);
    loop_run(loop);
    assert_int_equal(w.result, 1);
    assert_int_equal(w.looks, 3);
    assert_null(w.timer.loop);
}

static void what_does_not_come_is_given_up(void **state)
{
    struct loop_timer timer = { 0 };
    struct err err = ERR_INIT(&arena);
    (void)state;
    const uint64_t rev = store_rev(store);
    struct await a = await_from_now(loop, store, rev + 7);
    assert_int_equal(a.give_up_ns - loop_now_ns(loop), AWAIT_MS * NS_PER_MS);
    a.give_up_ns = loop_now_ns(loop);
    assert_int_equal(await_look(&a, loop, &timer, &err), -ERR_TIMEOUT);
    assert_null(timer.loop);
    assert_string_equal(
        str_cstr(&arena, err.msg),
        str_cstr(&arena, arena_printf(&arena,
                                      "Timeout: Too large resource version: "
                                      "%llu, current: %llu",
                                      (unsigned long long)rev + 7, (unsigned long long)rev)));
    assert_int_equal(err.about.retry_after_sec, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_there_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_is_found_by_looking_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_come_is_given_up, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
