/* What is left of a namespace, and what its conditions say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sampan/meta.h>

#include "base/idiom.h"
#include "controllers/common/objects_test.h"
#include "controllers/namespace/plan.h"

static void assert_condition(const struct spn_value *ns, const char *type, const char *status,
                             const char *message)
{
    const struct spn_value *c = spn_condition_get(ns, type);
    assert_true(spn_text_eq(spn_value_text(spn_value_get(c, "status")), spn_text_of(status)));
    assert_string_equal(spn_value_text(spn_value_get(c, "message")).p, message);
}

static void test_grace(void **state)
{
    (void)state;
    static const struct {
        const char *pods;
        int64_t want;
    } rows[] = {
        { "[]", 0 },
        { "[{spec: {terminationGracePeriodSeconds: 30}, status: {phase: Running}}]", 30 },
        { "[{spec: {terminationGracePeriodSeconds: 30}, status: {phase: Failed}}]", 0 },
        { "[{spec: {terminationGracePeriodSeconds: 5}}, {spec: {terminationGracePeriodSeconds: "
          "9}}]",
          9 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(namespace_grace(read_yaml(a, rows[i].pods), 0), rows[i].want);
    assert_int_equal(namespace_grace_left(30, 100, 110), 30);
    assert_int_equal(namespace_grace_left(30, 100, 130), 0);
    spn_arena_free(a);
}

static void test_remaining(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct namespace_pass p = { 0 };
    struct namespace_counts finalizers = { 0 };
    const struct spn_resource maps = { .group = SPN_TEXT(""), .plural = SPN_TEXT("configmaps") };
    const struct spn_resource sets = { .group = SPN_TEXT("apps"),
                                       .plural = SPN_TEXT("replicasets") };
    namespace_count_finalizers(
        a, read_yaml(a, "[{metadata: {finalizers: [b/x, a/y]}}, {metadata: {finalizers: [b/x]}}]"),
        &finalizers);
    assert_true(namespace_remain(a, &p, &maps, 2, &finalizers, 0));
    assert_int_equal(p.estimate_sec, 15);
    assert_false(namespace_remain(a, &p, &sets, 1, &(struct namespace_counts){ 0 }, 0));
    struct spn_value *ns = read_yaml(a, "{metadata: {name: x}}");
    assert_true(namespace_conditions(a, ns, &p, true));
    assert_condition(ns, "NamespaceContentRemaining", "True",
                     "Some resources are remaining: configmaps. has 2 resource instances, "
                     "replicasets.apps has 1 resource instances");
    assert_condition(ns, "NamespaceFinalizersRemaining", "True",
                     "Some content in the namespace has finalizers remaining: a/y in 1 resource "
                     "instances, b/x in 2 resource instances");
    assert_condition(ns, "NamespaceDeletionDiscoveryFailure", "False",
                     "All resources successfully discovered");
    assert_false(namespace_conditions(a, ns, &p, true));
    spn_arena_free(a);
}

static void test_failures(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_text missing = SPN_TEXT("metrics.k8s.io/v1beta1");
    const struct spn_text failures[] = { SPN_TEXT("z"), SPN_TEXT("a") };
    struct namespace_pass p = { .missing = { &missing, 1 }, .failures = { failures, 2 } };
    struct spn_value *ns = read_yaml(a, "{metadata: {name: x}}");
    assert_true(namespace_conditions(a, ns, &p, true));
    assert_condition(ns, "NamespaceDeletionDiscoveryFailure", "True",
                     "Discovery failed for some groups, 1 failing: unable to retrieve the complete "
                     "list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: "
                     "metrics.k8s.io/v1beta1");
    assert_condition(ns, "NamespaceDeletionContentFailure", "True",
                     "Failed to delete all resource types, 2 remaining: a, z");
    spn_arena_free(a);
}

static void test_finalize(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *ns = read_yaml(a, "{spec: {finalizers: [kubernetes, example.com/x]}}");
    namespace_finalize(a, ns);
    assert_string_equal(spn_value_json(a, ns).p, "{\"spec\":{\"finalizers\":[\"example.com/x\"]}}");
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grace),
        cmocka_unit_test(test_remaining),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_finalize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
