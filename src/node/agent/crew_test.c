#include "node/agent/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

static atomic_int done;

static void slow(void *arg)
{
    (void)arg;
    (void)usleep(20000);
    done++;
}

static void jobs_are_done_beside_each_other(void **state)
{
    (void)state;
    struct crew *c = crew_new(8);
    struct crew_group *g = crew_group_new(c);
    for (int i = 0; i < 8; i++)
        crew_group_do(g, slow, NULL);
    crew_group_wait(g);
    assert_int_equal(done, 8);
    assert_true(crew_threads(c) <= 8);
    crew_free(c);
}

static void what_is_too_much_waits(void **state)
{
    (void)state;
    struct crew *c = crew_new(2);
    done = 0;
    for (int i = 0; i < 6; i++)
        crew_do(c, slow, NULL);
    assert_true(crew_threads(c) <= 2);
    crew_free(c); /* waits for all of them */
    assert_int_equal(done, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(jobs_are_done_beside_each_other),
                                        cmocka_unit_test(what_is_too_much_waits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
