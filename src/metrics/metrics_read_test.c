/* What nodes tell, and rates of two looks. */
#include "metrics/metrics_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

#define C "container_cpu_usage_seconds_total"
#define M "container_memory_working_set_bytes"

static void test_read(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct metrics_round r = metrics_read(
        &a,
        STR("# HELP x y\n" C "{container=\"c\",namespace=\"n\",pod=\"p\"} 1.5 2000\n" M
            "{container=\"c\",namespace=\"n\",pod=\"p\"} 4.096e+03 2500\n"
            "node_memory_working_set_bytes 8192\nnode_cpu_usage_seconds_total 10 1000\n"
            "other{pod=\"p\"} 3\n" C "{container=\"c\" 3\n" C "{pod=\"a\\\"b\"} 1\n" M
            "{container=\"c\",namespace=\"n\",pod=\"q\"} NaN\n\n"),
        77);
    assert_int_equal(r.n, 2);
    const struct metrics_sample *c = metrics_find(&r, STR("n"), STR("p"), STR("c"));
    const struct metrics_sample *node = metrics_find(&r, STR(""), STR(""), STR(""));
    assert_non_null(c);
    assert_true(c->cpu_seconds == 1.5 && c->memory_bytes == 4096 && c->at_ms == 2000);
    assert_true(node && node->cpu_seconds == 10 && node->memory_bytes == 8192);
    assert_null(metrics_find(&r, STR("n"), STR("q"), STR("c")));
    arena_done(&a);
}

static void test_odd_times(void **state)
{
    (void)state;
    static const char *const times[] = { "-9223372036854775808", "9223372036854775807", "-1" };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        struct str text = arena_printf(&a, "node_cpu_usage_seconds_total 1 %s\n", times[i]);
        const struct metrics_round r = metrics_read(&a, text, 77);
        assert_int_equal(r.n, 1);
        assert_int_equal(r.samples[0].at_ms, 77);
    }
    arena_done(&a);
}

static void test_usage(void **state)
{
    (void)state;
    static const struct {
        struct metrics_sample before, now;
        bool is_known;
        uint64_t cpu_nano;
    } rows[] = {
        { { .cpu_seconds = 1, .at_ms = 1000 },
          { .cpu_seconds = 2, .at_ms = 3000 },
          true,
          500000000 },
        { { .cpu_seconds = 1, .at_ms = 1000 }, { .cpu_seconds = 1, .at_ms = 3000 }, true, 0 },
        { { .cpu_seconds = 2, .at_ms = 1000 }, { .cpu_seconds = 1, .at_ms = 3000 }, false, 0 },
        { { .cpu_seconds = 1, .at_ms = 1000 }, { .cpu_seconds = 2, .at_ms = 1000 }, false, 0 },
        { { .cpu_seconds = -1, .at_ms = 1000 }, { .cpu_seconds = 2, .at_ms = 2000 }, false, 0 },
        { { .at_ms = 1000 }, { .cpu_seconds = 1e300, .at_ms = 2000 }, false, 0 },
        { { .at_ms = 1000 }, { .memory_bytes = 1e300, .at_ms = 2000 }, false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct metrics_usage u = { 0 };
        assert_int_equal(metrics_usage(&rows[i].before, &rows[i].now, &u), rows[i].is_known);
        if (rows[i].is_known)
            assert_int_equal(u.cpu_nano, rows[i].cpu_nano);
    }
    assert_false(metrics_usage(NULL, &rows[0].now, &(struct metrics_usage){ 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_odd_times),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
