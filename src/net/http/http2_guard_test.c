#include "net/http/http2_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <nghttp2/nghttp2.h>

#include "base/clock.h"

static const struct http_limits limits = {
    .h2_resets = 10, .h2_resets_per_sec = 5, .h2_control_frames = 20, .h2_continuations = 3
};

static void resets_have_a_budget_that_grows_back(void **state)
{
    (void)state;
    struct http2_guard g;
    http2_guard_init(&g, &limits, 0);
    for (int i = 0; i < 10; i++)
        http2_guard_reset(&g, &limits, 0);
    assert_false(g.tripped);
    for (int i = 0; i < 5; i++)
        http2_guard_reset(&g, &limits, NS_PER_SEC);
    assert_false(g.tripped);
    http2_guard_reset(&g, &limits, NS_PER_SEC);
    assert_true(g.tripped);
}

static void the_budget_does_not_grow_for_ever(void **state)
{
    (void)state;
    struct http2_guard g;
    http2_guard_init(&g, &limits, 0);
    for (int i = 0; i < 11; i++)
        http2_guard_reset(&g, &limits, 1000000 * NS_PER_SEC);
    assert_true(g.tripped);
}

static size_t frames_until_tripped(uint8_t type, size_t length, int64_t step_ns)
{
    struct http2_guard g;
    size_t n = 0;
    http2_guard_init(&g, &limits, 0);
    while (!g.tripped && n < 1000) {
        http2_guard_frame(&g, &limits, type, 0, length, (int64_t)n * step_ns);
        n++;
    }
    return n;
}

static void control_frames_are_counted_per_second(void **state)
{
    (void)state;
    assert_int_equal(frames_until_tripped(NGHTTP2_PING, 8, 0), 21);
    assert_int_equal(frames_until_tripped(NGHTTP2_SETTINGS, 0, 0), 21);
    assert_int_equal(frames_until_tripped(NGHTTP2_PRIORITY, 5, 0), 21);
    assert_int_equal(frames_until_tripped(NGHTTP2_DATA, 0, 0), 21);
    assert_int_equal(frames_until_tripped(NGHTTP2_PING, 8, NS_PER_SEC / 10), 1000);
    assert_int_equal(frames_until_tripped(NGHTTP2_DATA, 1, 0), 1000);
    assert_int_equal(frames_until_tripped(NGHTTP2_HEADERS, 1, 0), 1000);
}

static void window_updates_are_earned_by_data(void **state)
{
    (void)state;
    struct http2_guard g;
    http2_guard_init(&g, &limits, 0);
    for (int i = 0; i < 1000; i++) { /* a download: two for each of our frames */
        http2_guard_data_sent(&g);
        http2_guard_frame(&g, &limits, NGHTTP2_WINDOW_UPDATE, 0, 4, 0);
        http2_guard_frame(&g, &limits, NGHTTP2_WINDOW_UPDATE, 0, 4, 0);
    }
    assert_false(g.tripped);
    assert_true(frames_until_tripped(NGHTTP2_WINDOW_UPDATE, 4, 0) < 100);
}

static void continuations_are_counted_per_block(void **state)
{
    (void)state;
    struct http2_guard g;
    http2_guard_init(&g, &limits, 0);
    for (int block = 0; block < 10; block++) {
        http2_guard_frame(&g, &limits, NGHTTP2_HEADERS, 0, 10, 0);
        for (int i = 0; i < 3; i++)
            http2_guard_frame(&g, &limits, NGHTTP2_CONTINUATION, 0, 10, 0);
    }
    assert_false(g.tripped);
    http2_guard_frame(&g, &limits, NGHTTP2_CONTINUATION, 0, 10, 0);
    assert_true(g.tripped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resets_have_a_budget_that_grows_back),
        cmocka_unit_test(the_budget_does_not_grow_for_ever),
        cmocka_unit_test(control_frames_are_counted_per_second),
        cmocka_unit_test(window_updates_are_earned_by_data),
        cmocka_unit_test(continuations_are_counted_per_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
