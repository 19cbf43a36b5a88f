/* Taints by condition, nodes that are silent, zones, tolerations, and the annotation ttl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sampan/meta.h>

#include "base/idiom.h"
#include "controllers/common/objects_test.h"
#include "controllers/common/taints.h"
#include "controllers/nodes/plan.h"

#define READY(status)     "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status "\"}]}"
#define TAINTS(list)      "\"spec\":{\"taints\":[" list "]}"
#define NOT_READY(effect) "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"" effect "\"}"
#define MINE              "{\"key\":\"k\",\"effect\":\"NoExecute\"}"

static void test_taints(void **state)
{
    (void)state;
    static const struct {
        const char *node;
        enum node_eviction eviction;
        int n_want; /* -1: they are so */
        const char *has, *effect;
    } rows[] = {
        { "{" TAINTS(NOT_READY("NoSchedule")) "," READY("True") "}", NODE_WAITS, 0, NULL, NULL },
        { "{" TAINTS(MINE) "," READY("True") "}", NODE_WAITS, -1, NULL, NULL },
        { "{" READY("False") "}", NODE_WAITS, 1, TAINT_NOT_READY, "NoSchedule" },
        { "{" READY("False") "}", NODE_EVICTS, 2, TAINT_NOT_READY, "NoExecute" },
        { "{" TAINTS(NOT_READY("NoExecute")) "," READY("Unknown") "}", NODE_WAITS, 2,
          TAINT_UNREACHABLE, "NoExecute" },
        { "{" TAINTS(NOT_READY("NoExecute") "," MINE) "," READY("False") "}", NODE_SPARES_PODS, 2,
          "k", "NoExecute" },
        { "{\"spec\":{\"unschedulable\":true}}", NODE_WAITS, 1, "node.kubernetes.io/unschedulable",
          "NoSchedule" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spn_value *list =
            node_taints(a, read_json(a, rows[i].node), rows[i].eviction, 0);
        assert_int_equal(list ? (int)spn_value_count(list) : -1, rows[i].n_want);
        if (rows[i].has)
            assert_non_null(taint_find(list, rows[i].has, rows[i].effect));
    }
    spn_arena_free(a);
}

static void test_unknown(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *node = read_json(a, "{" READY("True") "}");
    assert_true(node_set_unknown(a, node, 0));
    assert_int_equal(spn_value_count(spn_value_dig(node, "status", "conditions")), 4);
    assert_true(spn_text_eq(node_ready(node), SPN_TEXT("Unknown")));
    assert_false(node_set_unknown(a, node, 0));
    spn_arena_free(a);
}

static void test_tolerations(void **state)
{
    (void)state;
    static const struct {
        const char *tolerations;
        int64_t want;
    } rows[] = {
        { "[]", STAYS_NOT },
        { "[{\"operator\":\"Exists\"}]", STAYS_FOREVER },
        { "[{\"key\":\"k\",\"value\":\"v\",\"tolerationSeconds\":7}]", 7 },
        { "[{\"key\":\"k\",\"value\":\"w\"}]", STAYS_NOT },
        { "[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}]", STAYS_NOT },
        { "[{\"key\":\"k\",\"operator\":\"Exists\",\"tolerationSeconds\":-1}]", 0 },
    };
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *taints =
        read_json(a, "[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"},"
                     "{\"key\":\"other\",\"effect\":\"NoSchedule\"}]");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(tolerations_seconds(read_json(a, rows[i].tolerations), taints),
                         rows[i].want);
    spn_arena_free(a);
}

static void test_zones(void **state)
{
    (void)state;
    static const struct {
        struct zone_count zone;
        bool is_down;
        double rate;
    } rows[] = {
        { { 0, 2 }, true, 0.1 },  { { 5, 1 }, false, 0.1 },    { { 2, 3 }, false, 0 },
        { { 1, 2 }, false, 0.1 }, { { 40, 60 }, false, 0.01 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(zone_is_down(&rows[i].zone), rows[i].is_down);
        assert_true(zone_evictions_per_second(&rows[i].zone) == rows[i].rate);
    }
}

/* Sizes overlap: 95 nodes mean one thing on the way up and another on the way down. */
static void test_ttl(void **state)
{
    (void)state;
    size_t step = 0;
    assert_int_equal(node_ttl_seconds(95, &step), 0);
    assert_int_equal(node_ttl_seconds(101, &step), 15);
    assert_int_equal(node_ttl_seconds(95, &step), 15);
    assert_int_equal(node_ttl_seconds(5000, &step), 300);
    assert_int_equal(node_ttl_seconds(3, &step), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taints),      cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_tolerations), cmocka_unit_test(test_zones),
        cmocka_unit_test(test_ttl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
