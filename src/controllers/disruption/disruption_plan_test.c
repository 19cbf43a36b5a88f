/* How many pods may be disrupted, and what the status says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/disruption/plan.h"

static const char ready[] = "status: {conditions: [{type: Ready, status: 'True'}]}";

static struct spn_value *pod(struct spn_arena *a, const char *name, bool is_ready)
{
    return read_yaml(
        a,
        spn_arena_printf(a, "{metadata: {name: %s}, %s}", name, is_ready ? ready : "spec: {}").p);
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t scale, desired, expected, allowed;
    } rows[] = {
        { "minAvailable: 1", 0, 1, 3, 1 },   { "minAvailable: 3", 0, 3, 3, 0 },
        { "minAvailable: 50%", 4, 2, 4, 0 }, { "minAvailable: 34%", 3, 2, 3, 0 },
        { "maxUnavailable: 1", 3, 2, 3, 0 }, { "maxUnavailable: 34%", 3, 1, 3, 1 },
        { "maxUnavailable: 5", 3, 0, 3, 2 }, { "maxUnavailable: 1", 0, 0, 0, 0 },
    };
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *items[] = { pod(a, "x", true), pod(a, "y", true), pod(a, "z", false) };
    const struct budget_pods pods = { items, 3 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_value *budget = read_yaml(
            a, spn_arena_printf(a, "{metadata: {generation: 2}, spec: {%s}}", rows[i].spec).p);
        struct budget_counts c = budget_count(budget, &pods, rows[i].scale, NULL, 0);
        assert_int_equal(c.healthy, 2);
        assert_int_equal(c.desired, rows[i].desired);
        assert_int_equal(c.expected, rows[i].expected);
        struct spn_value *next = budget_status(a, budget, &c, spn_value_new(a, SPN_OBJECT));
        assert_int_equal(status_int(next, "disruptionsAllowed"), rows[i].allowed);
        assert_int_equal(status_int(next, "observedGeneration"), 2);
        assert_null(budget_status(a, next, &c, spn_value_new(a, SPN_OBJECT)));
    }
    spn_arena_free(a);
}

static void count_late(void *arg, const struct spn_value *late)
{
    (void)late;
    (*(int *)arg)++;
}

/* An eviction under way counts as a pod less, for two minutes. */
static void test_disrupted(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *items[] = { pod(a, "x", true), pod(a, "y", true) };
    const struct budget_pods pods = { items, 2 };
    struct spn_value *budget = read_yaml(
        a, "{spec: {minAvailable: 1}, status: {disruptedPods: {x: '1970-01-01T00:10:00Z', gone: "
           "'1970-01-01T00:10:00Z'}}}");
    int late = 0;
    int64_t recheck_ms;
    struct spn_value *left =
        budget_disrupted(a, budget, &pods, 660 * NS_PER_SEC, count_late, &late, &recheck_ms);
    assert_int_equal(spn_value_count(left), 1);
    assert_int_equal(recheck_ms, 60001);
    assert_int_equal(budget_count(budget, &pods, 0, left, 660 * NS_PER_SEC).healthy, 1);
    left = budget_disrupted(a, budget, &pods, 721 * NS_PER_SEC, count_late, &late, &recheck_ms);
    assert_int_equal(spn_value_count(left), 0);
    assert_int_equal(late, 1);
    assert_int_equal(recheck_ms, 0);
    spn_arena_free(a);
}

static void test_failed(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *next =
        budget_failed(a, read_yaml(a, "{status: {disruptionsAllowed: 2}}"), "why");
    assert_int_equal(status_int(next, "disruptionsAllowed"), 0);
    assert_null(budget_failed(a, next, "why"));
    spn_arena_free(a);
}

static void test_stale_target(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        int64_t want;
    } rows[] = {
        { "{status: {conditions: []}}", -1 },
        { "{status: {conditions: [{type: DisruptionTarget, status: 'True', lastTransitionTime: "
          "'1970-01-01T00:10:00Z'}]}}",
          60000 },
        { "{status: {phase: Failed, conditions: [{type: DisruptionTarget, status: 'True'}]}}", -1 },
        { "{status: {conditions: [{type: DisruptionTarget, status: 'True', lastTransitionTime: "
          "'1970-01-01T00:00:00Z'}]}}",
          0 },
        { "{status: {conditions: [{type: DisruptionTarget, status: 'True'}]}}", 0 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(budget_stale_target_ms(read_yaml(a, rows[i].pod), 660 * NS_PER_SEC),
                         rows[i].want);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_disrupted),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_stale_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
