/* How many pods are missing, who goes, and what the status says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/replicaset/plan.h"

static void test_diff(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        size_t n_active;
        int64_t want;
    } rows[] = {
        { "{\"spec\":{\"replicas\":3}}", 1, 2 },
        { "{\"spec\":{\"replicas\":0}}", 4, -4 },
        { "{\"spec\":{}}", 1, 0 },
        { "{\"spec\":{\"replicas\":2000}}", 0, REPLICASET_BURST },
        { "{\"spec\":{\"replicas\":0}}", 2000, -REPLICASET_BURST },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(replicaset_diff(read_json(a, rows[i].set), rows[i].n_active),
                         rows[i].want);
    spn_arena_free(a);
}

/* Of two pods the one goes that shares its node with more of its kind. */
static void test_choose(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *x = read_json(a, "{\"spec\":{\"nodeName\":\"a\"}}");
    struct spn_value *y = read_json(a, "{\"spec\":{\"nodeName\":\"b\"}}");
    struct spn_value *z = read_json(a, "{\"spec\":{\"nodeName\":\"b\"}}");
    const struct spn_value *ours[] = { x, y };
    struct spn_value *const related[] = { x, y, z };
    replicaset_choose(a, ours, 2, related, 3, 1);
    assert_ptr_equal(ours[0], y);
    spn_arena_free(a);
}

static void test_status(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *set =
        read_json(a, "{\"metadata\":{\"generation\":1},\"spec\":{\"replicas\":2,\"template\":{"
                     "\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"x\"}}}}}");
    struct spn_value *const pods[] = {
        read_json(a, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"x\"}},\"status\":{"
                     "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"),
        read_json(a, "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}"),
    };
    struct replicaset_seen seen = { .active = pods, .n_active = 2, .now_ns = 1 };
    struct spn_value *status = replicaset_status(a, set, &seen);
    assert_int_equal(field_int(spn_value_get(status, "replicas"), 0), 2);
    assert_int_equal(field_int(spn_value_get(status, "fullyLabeledReplicas"), 0), 1);
    assert_int_equal(field_int(spn_value_get(status, "readyReplicas"), 0), 1);
    assert_int_equal(field_int(spn_value_get(status, "availableReplicas"), 0), 1);
    assert_false(replicaset_is_current(set, status));
    spn_value_set_int(a, status, "observedGeneration", 1);
    spn_value_set(a, set, "status", spn_value_copy(a, status));
    assert_true(replicaset_is_current(set, status));
    spn_arena_free(a);
}

/* A failure is told once and forgotten when it is over. */
static void test_failure(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *set = read_json(a, "{\"spec\":{\"replicas\":2}}");
    struct replicaset_seen seen = { .n_terminating = -1, .failure = "no quota", .now_ns = 1 };
    struct spn_value *status = replicaset_status(a, set, &seen);
    const struct spn_value *cond = spn_value_at(spn_value_get(status, "conditions"), 0);
    assert_true(
        spn_text_eq(spn_value_text(spn_value_get(cond, "reason")), SPN_TEXT("FailedCreate")));
    assert_true(spn_text_eq(spn_value_text(spn_value_get(cond, "message")), SPN_TEXT("no quota")));
    spn_value_set(a, set, "status", status);
    seen.failure = "other words";
    status = replicaset_status(a, set, &seen);
    assert_int_equal(spn_value_count(spn_value_get(status, "conditions")), 1);
    seen.failure = NULL;
    status = replicaset_status(a, set, &seen);
    assert_int_equal(spn_value_count(spn_value_get(status, "conditions")), 0);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
