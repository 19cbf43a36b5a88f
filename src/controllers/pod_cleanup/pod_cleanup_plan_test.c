/* Which pods and Jobs go, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/pod_cleanup/plan.h"

#define DELETED "metadata: {deletionTimestamp: '1970-01-01T00:10:00Z'}"

static void test_judge(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *node;
        enum pod_cleanup_why want;
    } rows[] = {
        { "{spec: {}}", NULL, POD_CLEANUP_NOT },
        { "{" DELETED "}", NULL, POD_CLEANUP_UNSCHEDULED },
        { "{spec: {nodeName: k}}", NULL, POD_CLEANUP_NO_NODE },
        { "{spec: {nodeName: k}}", "{spec: {}}", POD_CLEANUP_NOT },
        { "{" DELETED ", spec: {nodeName: k}}", "{spec: {}}", POD_CLEANUP_NOT },
        { "{" DELETED ", spec: {nodeName: k}}",
          "{spec: {taints: [{key: node.kubernetes.io/out-of-service}]}}",
          POD_CLEANUP_OUT_OF_SERVICE },
        { "{" DELETED ", spec: {nodeName: k}}",
          "{spec: {taints: [{key: node.kubernetes.io/out-of-service}]}, status: {conditions: "
          "[{type: Ready, status: 'True'}]}}",
          POD_CLEANUP_NOT },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(pod_cleanup_judge(read_yaml(a, rows[i].pod),
                                           rows[i].node ? read_yaml(a, rows[i].node) : NULL),
                         rows[i].want);
    spn_arena_free(a);
}

static void test_surplus(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *pods[] = {
        read_yaml(a, "{metadata: {name: new, creationTimestamp: '2026-01-02T00:00:00Z'}}"),
        read_yaml(a, "{metadata: {name: old, creationTimestamp: '2026-01-01T00:00:00Z'}}"),
        read_yaml(a, "{metadata: {name: evicted, creationTimestamp: '2026-01-03T00:00:00Z'}, "
                     "status: {phase: Failed, reason: Evicted}}"),
    };
    assert_int_equal(pod_cleanup_surplus(pods, 3, 3), 0);
    assert_int_equal(pod_cleanup_surplus(pods, 3, 1), 2);
    assert_true(spn_text_eq(meta_name(pods[0]), SPN_TEXT("evicted")));
    assert_true(spn_text_eq(meta_name(pods[1]), SPN_TEXT("old")));
    spn_arena_free(a);
}

static void test_job(void **state)
{
    (void)state;
    static const struct {
        const char *job;
        int64_t want;
    } rows[] = {
        { "{spec: {ttlSecondsAfterFinished: 10}}", -1 },
        { "{spec: {}, status: {conditions: [{type: Complete, status: 'True', lastTransitionTime: "
          "'1970-01-01T00:10:00Z'}]}}",
          -1 },
        { "{spec: {ttlSecondsAfterFinished: 10}, status: {conditions: [{type: Complete, status: "
          "'True', lastTransitionTime: '1970-01-01T00:10:00Z'}]}}",
          5001 },
        { "{spec: {ttlSecondsAfterFinished: 5}, status: {conditions: [{type: Failed, status: "
          "'True', lastTransitionTime: '1970-01-01T00:10:00Z'}]}}",
          0 },
        { "{" DELETED ", spec: {ttlSecondsAfterFinished: 5}, status: {conditions: [{type: Failed, "
          "status: 'True', lastTransitionTime: '1970-01-01T00:10:00Z'}]}}",
          -1 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(job_cleanup_left_ms(read_yaml(a, rows[i].job), 605 * NS_PER_SEC),
                         rows[i].want);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_surplus),
        cmocka_unit_test(test_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
