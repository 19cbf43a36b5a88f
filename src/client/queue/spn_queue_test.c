#include <sampan/queue.h>

#include <stdio.h>

#include "base/clock.h"
#include "client/queue/queue.h"
#include "client/suite_client.h"

struct fixture {
    struct clock_fake clock;
    struct spn_queue *q;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    clock_fake_init(&f->clock, 5 * NS_PER_SEC);
    f->q = queue_new_with_clock(NULL, &f->clock.clock);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    spn_queue_free(f->q);
    free(f);
    return 0;
}

static struct spn_queue_stats stats_of(struct spn_queue *q)
{
    struct spn_queue_stats s;
    spn_queue_stats(q, &s);
    return s;
}

static void add(struct spn_queue *q, const char *key)
{
    spn_queue_add(q, spn_text_of(key));
}

static void done(struct spn_queue *q, const char *key)
{
    spn_queue_done(q, spn_text_of(key));
}

/* Only where something waits: else it would sleep. */
static void assert_next(struct spn_queue *q, const char *want)
{
    struct spn_text key;
    assert_true(spn_queue_get(q, &key));
    assert_text(key, want);
}

static void assert_nothing_waits(struct fixture *f)
{
    /* What is due is added when somebody comes for a key; it would come before this one. */
    spn_queue_add_priority(f->q, SPN_TEXT("probe"), INT32_MIN);
    assert_next(f->q, "probe");
    done(f->q, "probe");
    assert_int_equal(stats_of(f->q).depth, 0);
}

static void a_key_waits_once(void **state)
{
    struct fixture *f = *state;
    add(f->q, "a");
    add(f->q, "b");
    add(f->q, "a");
    assert_int_equal(stats_of(f->q).depth, 2);
    assert_int_equal(stats_of(f->q).adds, 2);
    assert_next(f->q, "a");
    assert_next(f->q, "b");
    assert_int_equal(stats_of(f->q).running, 2);
}

static void a_key_that_runs_comes_again_when_it_is_done(void **state)
{
    struct fixture *f = *state;
    add(f->q, "a");
    assert_next(f->q, "a");
    add(f->q, "a");
    add(f->q, "a");
    assert_int_equal(stats_of(f->q).depth, 0);
    assert_nothing_waits(f);
    done(f->q, "a");
    assert_int_equal(stats_of(f->q).depth, 1);
    assert_next(f->q, "a");
    done(f->q, "a");
    assert_nothing_waits(f);
}

static void done_without_get_changes_nothing(void **state)
{
    struct fixture *f = *state;
    add(f->q, "a");
    done(f->q, "a");
    done(f->q, "unknown");
    assert_int_equal(stats_of(f->q).done, 0);
    assert_next(f->q, "a");
}

static void the_key_is_copied_and_may_be_empty(void **state)
{
    struct fixture *f = *state;
    char key[] = "ns/name";
    add(f->q, key);
    key[0] = 'x';
    assert_next(f->q, "ns/name");
    add(f->q, "");
    struct spn_text empty;
    assert_true(spn_queue_get(f->q, &empty));
    assert_int_equal(empty.n, 0);
    spn_queue_done(f->q, empty);
    assert_int_equal(stats_of(f->q).running, 1);
}

static void higher_priority_goes_first(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_priority(f->q, SPN_TEXT("low"), -5);
    add(f->q, "usual");
    spn_queue_add_priority(f->q, SPN_TEXT("high"), 5);
    spn_queue_add_priority(f->q, SPN_TEXT("rises"), -9);
    spn_queue_add_priority(f->q, SPN_TEXT("rises"), 5);
    spn_queue_add_priority(f->q, SPN_TEXT("high"), -7);
    assert_next(f->q, "high");
    assert_next(f->q, "rises");
    assert_next(f->q, "usual");
    assert_next(f->q, "low");
}

static void a_key_that_runs_comes_again_with_the_highest_priority(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_priority(f->q, SPN_TEXT("a"), 9);
    assert_next(f->q, "a");
    spn_queue_add_priority(f->q, SPN_TEXT("a"), -1);
    spn_queue_add_priority(f->q, SPN_TEXT("a"), 1);
    spn_queue_add_priority(f->q, SPN_TEXT("a"), -2);
    add(f->q, "b");
    spn_queue_add_priority(f->q, SPN_TEXT("c"), 2);
    done(f->q, "a");
    assert_next(f->q, "c");
    assert_next(f->q, "a");
    assert_next(f->q, "b");
}

static void a_delayed_key_comes_in_time(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_after(f->q, SPN_TEXT("late"), 1000);
    spn_queue_add_after(f->q, SPN_TEXT("soon"), 10);
    assert_int_equal(stats_of(f->q).delayed, 2);
    assert_nothing_waits(f);
    clock_fake_advance(&f->clock, 10 * NS_PER_MS - 1);
    assert_nothing_waits(f);
    clock_fake_advance(&f->clock, 1);
    assert_next(f->q, "soon");
    clock_fake_advance(&f->clock, NS_PER_SEC);
    assert_next(f->q, "late");
    assert_int_equal(stats_of(f->q).delayed, 0);
}

static void the_delay_that_ends_first_counts(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_after(f->q, SPN_TEXT("a"), 50);
    spn_queue_add_after(f->q, SPN_TEXT("a"), 500);
    assert_int_equal(stats_of(f->q).delayed, 1);
    clock_fake_advance(&f->clock, 50 * NS_PER_MS);
    assert_next(f->q, "a");
    done(f->q, "a");
    clock_fake_advance(&f->clock, NS_PER_SEC);
    assert_nothing_waits(f);
}

static void no_delay_means_now_and_a_huge_one_never(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_after(f->q, SPN_TEXT("never"), INT64_MAX);
    spn_queue_add_after(f->q, SPN_TEXT("a"), 0);
    spn_queue_add_after(f->q, SPN_TEXT("b"), INT64_MIN);
    assert_next(f->q, "a");
    assert_next(f->q, "b");
    assert_int_equal(stats_of(f->q).delayed, 1);
}

static void a_delayed_key_that_runs_when_due_comes_again(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_after(f->q, SPN_TEXT("a"), 10);
    add(f->q, "a");
    assert_next(f->q, "a");
    clock_fake_advance(&f->clock, 10 * NS_PER_MS);
    assert_nothing_waits(f);
    done(f->q, "a");
    assert_next(f->q, "a");
}

static void retries_wait_longer_until_forgotten(void **state)
{
    struct fixture *f = *state;
    static const int delays_ms[] = { 5, 10, 20, 40 };
    add(f->q, "a");
    assert_next(f->q, "a");
    for (unsigned i = 0; i < 4; i++) {
        spn_queue_add_limited(f->q, SPN_TEXT("a"));
        done(f->q, "a");
        assert_int_equal(spn_queue_retries(f->q, SPN_TEXT("a")), i + 1);
        clock_fake_advance(&f->clock, delays_ms[i] * NS_PER_MS - 1);
        assert_nothing_waits(f);
        clock_fake_advance(&f->clock, 1);
        assert_next(f->q, "a");
    }
    spn_queue_forget(f->q, SPN_TEXT("a"));
    assert_int_equal(spn_queue_retries(f->q, SPN_TEXT("a")), 0);
    spn_queue_add_limited(f->q, SPN_TEXT("a"));
    done(f->q, "a");
    clock_fake_advance(&f->clock, 5 * NS_PER_MS);
    assert_next(f->q, "a");
    assert_int_equal(stats_of(f->q).retries, 5);
}

static void a_retry_keeps_the_priority_of_its_worker(void **state)
{
    struct fixture *f = *state;
    spn_queue_add_priority(f->q, SPN_TEXT("a"), 7);
    assert_next(f->q, "a");
    spn_queue_add_limited(f->q, SPN_TEXT("a"));
    done(f->q, "a");
    add(f->q, "b");
    clock_fake_advance(&f->clock, 5 * NS_PER_MS);
    assert_next(f->q, "a");
    assert_next(f->q, "b");
}

static void many_retries_come_at_a_steady_rate(void **state)
{
    struct fixture *f = *state;
    char key[16];
    for (int i = 0; i < 120; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        spn_queue_add_limited(f->q, spn_text_of(key));
    }
    clock_fake_advance(&f->clock, 5 * NS_PER_MS);
    assert_next(f->q, "k0");
    assert_int_equal(stats_of(f->q).depth, 99);
    clock_fake_advance(&f->clock, NS_PER_SEC);
    assert_next(f->q, "k1");
    assert_int_equal(stats_of(f->q).depth, 98 + 10);
    assert_int_equal(stats_of(f->q).delayed, 10);
}

static void options_are_taken(void **state)
{
    struct fixture *f = *state;
    struct spn_queue_options opt = {
        .name = "pods", .first_delay_ms = 100, .max_delay_ms = 150, .per_second = -1
    };
    struct spn_queue *q = queue_new_with_clock(&opt, &f->clock.clock);
    assert_string_equal(spn_queue_name(q), "pods");
    assert_string_equal(spn_queue_name(f->q), "queue");
    for (int i = 0; i < 1000; i++)
        spn_queue_add_limited(q, SPN_TEXT("a"));
    assert_int_equal(spn_queue_retries(q, SPN_TEXT("a")), 1000);
    clock_fake_advance(&f->clock, 100 * NS_PER_MS);
    assert_next(q, "a");
    spn_queue_add_limited(q, SPN_TEXT("a"));
    done(q, "a");
    clock_fake_advance(&f->clock, 150 * NS_PER_MS);
    assert_next(q, "a");
    spn_queue_free(q);
}

static void a_stop_hands_out_what_waits_and_drops_the_rest(void **state)
{
    struct fixture *f = *state;
    struct spn_text key;
    add(f->q, "runs");
    assert_next(f->q, "runs");
    add(f->q, "runs");
    add(f->q, "waits");
    spn_queue_add_after(f->q, SPN_TEXT("delayed"), 1);
    spn_queue_stop(f->q);
    add(f->q, "too late");
    spn_queue_add_after(f->q, SPN_TEXT("too late"), 0);
    spn_queue_add_limited(f->q, SPN_TEXT("too late"));
    clock_fake_advance(&f->clock, NS_PER_SEC);
    assert_next(f->q, "waits");
    assert_false(spn_queue_get(f->q, &key));
    done(f->q, "runs");
    assert_next(f->q, "runs");
    done(f->q, "runs");
    assert_false(spn_queue_get(f->q, &key));
    assert_int_equal(stats_of(f->q).delayed, 0);
}

static void times_are_summed(void **state)
{
    struct fixture *f = *state;
    add(f->q, "a");
    clock_fake_advance(&f->clock, 2 * NS_PER_SEC);
    assert_next(f->q, "a");
    clock_fake_advance(&f->clock, 3 * NS_PER_SEC);
    add(f->q, "b");
    assert_next(f->q, "b");
    add(f->q, "a");
    clock_fake_advance(&f->clock, 1 * NS_PER_SEC);
    assert_true(stats_of(f->q).longest_running_seconds == 4);
    assert_true(stats_of(f->q).unfinished_seconds == 5);
    done(f->q, "a");
    assert_true(stats_of(f->q).longest_running_seconds == 1);
    assert_next(f->q, "a");
    struct spn_queue_stats s = stats_of(f->q);
    assert_true(s.wait_seconds == 3);
    assert_true(s.work_seconds == 4);
    assert_int_equal(s.done, 1);
    assert_int_equal(s.adds, 3);
    assert_int_equal(s.wait_counts[0], 1); /* "b", at once */
    assert_int_equal(s.wait_counts[8], 1); /* "a" again: one second, so not above it */
    assert_int_equal(s.wait_counts[9], 1); /* "a": up to ten */
    assert_int_equal(s.work_counts[9], 1);
}

static void very_long_times_are_counted(void **state)
{
    struct fixture *f = *state;
    add(f->q, "a");
    clock_fake_advance(&f->clock, 1001 * NS_PER_SEC);
    assert_next(f->q, "a");
    assert_int_equal(stats_of(f->q).wait_counts[SPN_QUEUE_BUCKETS - 1], 1);
}

#define queue_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        queue_test(a_key_waits_once),
        queue_test(a_key_that_runs_comes_again_when_it_is_done),
        queue_test(done_without_get_changes_nothing),
        queue_test(the_key_is_copied_and_may_be_empty),
        queue_test(higher_priority_goes_first),
        queue_test(a_key_that_runs_comes_again_with_the_highest_priority),
        queue_test(a_delayed_key_comes_in_time),
        queue_test(the_delay_that_ends_first_counts),
        queue_test(no_delay_means_now_and_a_huge_one_never),
        queue_test(a_delayed_key_that_runs_when_due_comes_again),
        queue_test(retries_wait_longer_until_forgotten),
        queue_test(a_retry_keeps_the_priority_of_its_worker),
        queue_test(many_retries_come_at_a_steady_rate),
        queue_test(options_are_taken),
        queue_test(a_stop_hands_out_what_waits_and_drops_the_rest),
        queue_test(times_are_summed),
        queue_test(very_long_times_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
