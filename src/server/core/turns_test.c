#include "server/core/turns.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void nobody_waits_for_nobody(void **state)
{
    struct turns *turns = turns_new();
    struct turn a, b, never = { 0 };
    (void)state;
    /* Two newcomers may both try: one will lose, and then there are turns. */
    turn_begin(&a, turns, STR("k"));
    turn_begin(&b, turns, STR("k"));
    assert_false(a.is_held || b.is_held);
    turn_end(&a);
    turn_lost(&b, STR("k"));
    assert_true(b.is_held);
    turn_lost(&b, STR("k")); /* it has it already */
    turn_lost(&b, STR("other"));
    assert_true(b.is_held);
    assert_true(str_eq(b.key, STR("other")));
    turn_end(&b);
    turn_end(&b);
    turn_begin(&a, turns, STR("k")); /* only now: both keys may share a lane */
    assert_false(a.is_held);         /* it was given back */
    turn_end(&a);
    turn_lost(&never, STR("k"));
    turn_end(&never);
    turns_free(turns);
    turns_free(NULL);
}

enum { WRITERS = 8 };

struct writer {
    struct turns *turns;
    pthread_t thread;
    unsigned number, place;
    bool loses; /* or it is a newcomer */
};

static _Atomic unsigned n_waiting, n_served;
static _Atomic bool is_busy;

static void *write_once(void *arg)
{
    struct writer *w = arg;
    struct turn t = { .of = w->turns, .key = STR("") };
    atomic_fetch_add(&n_waiting, 1);
    if (w->loses)
        turn_lost(&t, STR("k"));
    else
        turn_begin(&t, w->turns, STR("k"));
    assert(!atomic_exchange(&is_busy, true));
    w->place = atomic_fetch_add(&n_served, 1);
    (void)usleep(1000);
    atomic_store(&is_busy, false);
    turn_end(&t);
    return NULL;
}

static void turns_come_in_the_order_they_were_asked_for(void **state)
{
    struct turns *turns = turns_new();
    struct writer writers[WRITERS];
    struct turn first = { .of = turns };
    (void)state;
    turn_lost(&first, STR("k"));
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .turns = turns, .number = i, .loses = i % 2 };
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_once, &writers[i]), 0);
        while (atomic_load(&n_waiting) <= i)
            (void)usleep(100);
        (void)usleep(20000); /* it stands in the queue by now */
        assert_int_equal(atomic_load(&n_served), 0);
    }
    turn_end(&first);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(writers[i].place, i);
    turns_free(turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_nobody),
        cmocka_unit_test(turns_come_in_the_order_they_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
