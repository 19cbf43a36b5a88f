#include "client/controller/event_correlator.h"

#include <stdio.h>

#include "base/clock.h"
#include "client/bridge.h"
#include "client/suite_client.h"

static const int64_t start_ns = INT64_C(1700000000) * NS_PER_SEC;

static const struct event_correlator_options usual = {
    .spam_burst = 25,
    .spam_per_second = 1.0 / 300,
    .similar_max = 10,
    .similar_within_ns = 600 * NS_PER_SEC,
};

static struct event_note note(struct arena *a, const char *obj, const char *reason,
                              const char *message, int64_t now_ns)
{
    return (struct event_note){
        .name = event_name(a, str_of(obj), now_ns),
        .ns = STR("default"),
        .obj_api_version = STR("v1"),
        .obj_kind = STR("Pod"),
        .obj_ns = STR("default"),
        .obj_name = str_of(obj),
        .obj_uid = STR("u"),
        .type = STR("Normal"),
        .reason = str_of(reason),
        .message = str_of(message),
        .component = STR("test"),
        .reporter = STR("test"),
        .count = 1,
        .first_ns = now_ns,
        .last_ns = now_ns,
    };
}

static bool is(struct str got, const char *want)
{
    return str_eq(got, str_of(want));
}

static void names_are_as_client_go_makes_them(void **state)
{
    struct arena *a = arena_in(*state);
    assert_true(is(event_name(a, STR("web-1"), 0x17f3a), "web-1.17f3a"));
    assert_true(is(event_name(a, STR("system:node"), 0x17f3a), "17f3a"));
}

static void the_same_one_is_counted(void **state)
{
    struct arena *a = arena_in(*state);
    struct event_correlator *c = event_correlator_new(&usual);
    struct event_note first = note(a, "p", "Pulled", "image", start_ns);
    assert_true(event_correlator_take(c, a, &first, start_ns));
    assert_int_equal(first.count, 1);
    int64_t later = start_ns + 60 * NS_PER_SEC;
    struct event_note again = note(a, "p", "Pulled", "image", later);
    assert_true(event_correlator_take(c, a, &again, later));
    assert_int_equal(again.count, 2);
    assert_true(str_eq(again.name, first.name));
    assert_int_equal(again.first_ns, start_ns);
    assert_int_equal(again.last_ns, later);
    struct event_note other = note(a, "q", "Pulled", "image", later);
    assert_true(event_correlator_take(c, a, &other, later));
    assert_int_equal(other.count, 1);
    event_correlator_free(c);
}

/* Takes so many that differ in their message; the last one is returned. */
static struct event_note take_many(struct event_correlator *c, struct arena *a, int from, int to,
                                   int64_t now_ns)
{
    struct event_note e = { 0 };
    for (int i = from; i < to; i++) {
        struct str message = arena_printf(a, "try %d", i);
        e = note(a, "p", "Failed", str_cstr(a, message), now_ns + i);
        (void)event_correlator_take(c, a, &e, now_ns + i);
    }
    return e;
}

static void similar_ones_become_one(void **state)
{
    struct arena *a = arena_in(*state);
    struct event_correlator *c = event_correlator_new(&usual);
    assert_true(is(take_many(c, a, 0, 9, start_ns).message, "try 8"));
    struct event_note tenth = take_many(c, a, 9, 10, start_ns);
    assert_true(is(tenth.message, "(combined from similar events): try 9"));
    assert_int_equal(tenth.count, 1);
    struct event_note next = take_many(c, a, 10, 11, start_ns);
    assert_true(is(next.message, "(combined from similar events): try 10"));
    assert_int_equal(next.count, 2);
    assert_true(str_eq(next.name, tenth.name));
    assert_int_equal(next.reporter.n, 0);
    event_correlator_free(c);
}

static void similar_ones_of_long_ago_do_not_count(void **state)
{
    struct arena *a = arena_in(*state);
    struct event_correlator *c = event_correlator_new(&usual);
    (void)take_many(c, a, 0, 9, start_ns);
    struct event_note e = take_many(c, a, 100, 101, start_ns + 601 * NS_PER_SEC);
    assert_true(is(e.message, "try 100"));
    event_correlator_free(c);
}

static unsigned taken(struct event_correlator *c, struct arena *a, unsigned tries, int64_t now_ns)
{
    unsigned n = 0;
    for (unsigned i = 0; i < tries; i++) {
        struct event_note e = note(a, "p", "Same", "again", now_ns);
        n += event_correlator_take(c, a, &e, now_ns);
    }
    return n;
}

static void one_object_has_an_allowance(void **state)
{
    struct arena *a = arena_in(*state);
    struct event_correlator *c = event_correlator_new(&usual);
    assert_int_equal(taken(c, a, 40, start_ns), 25);
    assert_int_equal(taken(c, a, 5, start_ns + 299 * NS_PER_SEC), 0);
    assert_int_equal(taken(c, a, 5, start_ns + 301 * NS_PER_SEC), 1);
    assert_int_equal(taken(c, a, 40, start_ns + 100000 * NS_PER_SEC), 25);
    struct event_note other = note(a, "q", "Same", "again", start_ns);
    assert_true(event_correlator_take(c, a, &other, start_ns));
    event_correlator_free(c);
}

/* What differs only in where one text ends and the next begins is not the same. */
static void keys_are_not_confused(void **state)
{
    struct arena *a = arena_in(*state);
    struct event_correlator *c = event_correlator_new(&usual);
    struct event_note one = note(a, "p", "ab", "c", start_ns);
    struct event_note two = note(a, "p", "a", "bc", start_ns);
    assert_true(event_correlator_take(c, a, &one, start_ns));
    assert_true(event_correlator_take(c, a, &two, start_ns));
    assert_int_equal(two.count, 1);
    event_correlator_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(names_are_as_client_go_makes_them),
        suite_test(the_same_one_is_counted),
        suite_test(similar_ones_become_one),
        suite_test(similar_ones_of_long_ago_do_not_count),
        suite_test(one_object_has_an_allowance),
        suite_test(keys_are_not_confused),
    };
    return cmocka_run_group_tests_name("event_correlator", tests, NULL, NULL);
}
