/* Which nodes get a pod, which pods go, and how long one waits after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/daemonset/backoff.h"
#include "controllers/daemonset/plan.h"

/* ---- Nodes ---- */

static void test_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *node, *template;
        bool should_run, should_continue;
    } rows[] = {
        { "{}", "{}", true, true },
        { "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}", "{\"nodeSelector\":{\"a\":\"1\"}}", true,
          true },
        { "{}", "{\"nodeSelector\":{\"a\":\"1\"}}", false, false },
        { "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}", "{}", false,
          true },
        { "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}", "{}", false,
          false },
        { "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}",
          "{\"tolerations\":[{\"operator\":\"Exists\"}]}", true, true },
        { "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/unschedulable\","
          "\"effect\":\"NoSchedule\"}]}}",
          "{}", true, true },
        { "{\"metadata\":{\"name\":\"x\"}}", "{\"nodeName\":\"y\"}", false, false },
        { "{\"metadata\":{\"labels\":{\"n\":\"5\"}}}",
          "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
          "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"Gt\","
          "\"values\":[\"4\"]}]}]}}}}",
          true, true },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_text set =
            spn_arena_printf(a, "{\"spec\":{\"template\":{\"spec\":%s}}}", rows[i].template);
        const struct spn_value *t = daemon_template(a, read_json(a, set.p), SPN_TEXT("h"));
        struct daemon_node node = { 0 };
        daemon_judge_node(a, &node, read_json(a, rows[i].node), t);
        assert_int_equal(node.should_run, rows[i].should_run);
        assert_int_equal(node.should_continue, rows[i].should_continue);
    }
    spn_arena_free(a);
}

static void test_template(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *set = read_json(
        a, "{\"metadata\":{\"annotations\":{\"deprecated.daemonset.template.generation\":\"4\"}},"
           "\"spec\":{\"template\":{\"spec\":{\"tolerations\":[{\"key\":"
           "\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
           "\"tolerationSeconds\":5}]}}}}");
    struct spn_value *t = daemon_template(a, set, SPN_TEXT("h"));
    const struct spn_value *all = spn_value_dig(t, "spec", "tolerations");
    assert_int_equal(spn_value_count(all), 6);
    assert_null(spn_value_get(spn_value_at(all, 0), "tolerationSeconds"));
    daemon_bind_template(a, t, SPN_TEXT("n1"));
    assert_true(spn_text_eq(daemon_node_of(t), SPN_TEXT("n1")));
    assert_true(daemon_is_updated(set, t, SPN_TEXT("h")));
    assert_true(daemon_is_updated(set, t, SPN_TEXT("other"))); /* by its generation */
    spn_arena_free(a);
}

/* ---- Pods ---- */

/* A pod by a letter: "r" ready, "o" ready and old, "b" broken and old, "n" new and not ready,
 * "t" terminating, "f" failed. */
static struct daemon_pod pod_by(char c)
{
    return (struct daemon_pod){ .has_node = true,
                                .is_deleting = c == 't',
                                .is_failed = c == 'f',
                                .is_ready = c == 'r' || c == 'o',
                                .is_available = c == 'r' || c == 'o',
                                .is_updated = c != 'o' && c != 'b' };
}

enum { NODES_MAX = 4, PODS_MAX = 4 };

struct world {
    struct daemon_node nodes[NODES_MAX];
    struct daemon_pod pods[NODES_MAX][PODS_MAX];
    size_t n;
    const struct daemon_node *create[NODES_MAX];
    const struct daemon_pod *remove[NODES_MAX * PODS_MAX];
    struct daemon_plan plan;
};

/* "r,oo," is a node with a pod, one with two and one with none. */
static void read_world(struct world *w, const char *text)
{
    *w = (struct world){ .n = 1 };
    for (; *text; text++) {
        struct daemon_node *node = &w->nodes[w->n - 1];
        if (*text == ',')
            w->n++;
        else
            w->pods[w->n - 1][node->n_pods++] = pod_by(*text);
    }
    for (size_t i = 0; i < w->n; i++) {
        w->nodes[i].is_there = w->nodes[i].should_run = w->nodes[i].should_continue = true;
        w->nodes[i].pods = w->pods[i];
    }
    w->plan = (struct daemon_plan){ .create = w->create, .remove = w->remove };
}

static void test_plan(void **state)
{
    (void)state;
    static const struct {
        const char *world;
        bool allows_surge;
        size_t n_create, n_remove;
    } rows[] = {
        { "r,,r", false, 1, 0 }, { "rr,r", false, 0, 1 }, { "f", false, 0, 1 },
        { "t", false, 0, 0 },    { "t", true, 1, 0 },     { "on", true, 0, 0 },
        { "or", true, 0, 1 },    { "bn", true, 0, 1 },    { "rrr", true, 0, 2 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        read_world(&w, rows[i].world);
        daemon_plan(&w.plan, w.nodes, w.n, rows[i].allows_surge);
        assert_int_equal(w.plan.n_create, rows[i].n_create);
        assert_int_equal(w.plan.n_remove, rows[i].n_remove);
    }
}

static void test_update(void **state)
{
    (void)state;
    static const struct {
        const char *world;
        int64_t max_surge, max_unavailable;
        size_t n_create, n_remove;
    } rows[] = {
        { "o,o,o", 0, 1, 0, 1 }, { "o,o,n", 0, 1, 0, 0 },  { "o,o,b", 0, 1, 0, 1 },
        { "o,o,o", 0, 2, 0, 2 }, { "r,r,r", 0, 1, 0, 0 },  { "o,o,", 0, 1, 0, 0 },
        { "o,o,o", 1, 0, 1, 0 }, { "on,o,o", 1, 0, 0, 0 }, { "or,o,o", 1, 0, 1, 1 },
        { "b,o,o", 1, 0, 2, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        const struct daemon_limits limits = { rows[i].max_surge, rows[i].max_unavailable, true };
        read_world(&w, rows[i].world);
        daemon_plan_update(&w.plan, w.nodes, w.n, &limits);
        assert_int_equal(w.plan.n_create, rows[i].n_create);
        assert_int_equal(w.plan.n_remove, rows[i].n_remove);
    }
}

static void test_backoff(void **state)
{
    (void)state;
    struct backoff *b = backoff_new();
    const struct spn_text key = SPN_TEXT("a");
    int64_t now_ns = NS_PER_SEC;
    assert_int_equal(backoff_try(b, key, now_ns), 0);
    assert_int_equal(backoff_try(b, key, now_ns), 1001);
    now_ns += NS_PER_SEC;
    assert_int_equal(backoff_try(b, key, now_ns), 0);
    assert_int_equal(backoff_try(b, key, now_ns + NS_PER_SEC), 1001);
    assert_int_equal(backoff_try(b, SPN_TEXT("b"), now_ns), 0);
    now_ns += 3600 * NS_PER_SEC;
    assert_int_equal(backoff_try(b, key, now_ns), 0);
    assert_int_equal(backoff_try(b, key, now_ns), 1001);
    backoff_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),  cmocka_unit_test(test_template), cmocka_unit_test(test_plan),
        cmocka_unit_test(test_update), cmocka_unit_test(test_backoff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
