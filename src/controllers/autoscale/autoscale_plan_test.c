/* How many replicas metrics ask for, and how fast they may change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/autoscale/behavior.h"
#include "controllers/autoscale/compute.h"
#include "controllers/common/objects_test.h"
#include "controllers/common/times.h"

#define NOW "2026-11-16T12:00:00Z"
#define OLD "2026-11-16T10:00:00Z"

/* ---- Pods: one letter each ---- */

/* r: ready, u: not ready and new, p: pending, f: failed, d: deleted, n: ready, but new */
static struct spn_value *pod_of(struct spn_arena *a, char kind, size_t i)
{
    const bool is_new = kind == 'u' || kind == 'n';
    const char *phase = kind == 'p' ? "Pending" : kind == 'f' ? "Failed" : "Running";
    return read_yaml(
        a, spn_arena_printf(
               a,
               "{metadata: {name: pod-%zu%s}, spec: {containers: [{name: a, resources: {requests: "
               "{cpu: '1', memory: 1Mi}}}]}, status: {phase: %s, startTime: '%s', conditions: "
               "[{type: Ready, status: '%s', lastTransitionTime: '%s'}]}}",
               i, kind == 'd' ? ", deletionTimestamp: '" NOW "'" : "", phase,
               is_new ? "2026-11-16T11:59:00Z" : OLD, kind == 'u' || kind == 'p' ? "False" : "True",
               is_new ? "2026-11-16T11:59:40Z" : OLD)
               .p);
}

struct world {
    struct spn_arena *a;
    struct hpa_calc calc;
    struct hpa_samples samples;
};

/* `levels` are of pods in their order; -1: nothing is known. */
static struct world world_of(struct spn_arena *a, const char *kinds, const int64_t *levels)
{
    const size_t n = strlen(kinds);
    struct spn_value **pods = spn_arena_alloc(a, (n + 1) * sizeof(*pods));
    struct world w = { .a = a };
    w.samples.items = spn_arena_alloc(a, (n + 1) * sizeof(*w.samples.items));
    for (size_t i = 0; i < n; i++) {
        pods[i] = pod_of(a, kinds[i], i);
        if (levels[i] >= 0)
            w.samples.items[w.samples.n++] =
                (struct hpa_sample){ .pod = spn_arena_printf(a, "pod-%zu", i),
                                     .milli = levels[i],
                                     .at_ns = moment(a, NOW) - 10 * NS_PER_SEC,
                                     .window_ns = 30 * NS_PER_SEC };
    }
    w.calc = (struct hpa_calc){ .a = a,
                                .pods = pods,
                                .n_pods = n,
                                .now_ns = moment(a, NOW),
                                .tolerance = { 0.1, 0.1 },
                                .current = (int64_t)n };
    return w;
}

static void test_utilization(void **state)
{
    (void)state;
    static const struct {
        const char *pods;
        int64_t levels[5];
        int64_t target, replicas, utilization, usage;
        const char *error;
    } rows[] = {
        { "rrr", { 300, 500, 700 }, 30, 5, 50, 500, NULL },
        { "rrr", { 1010, 1030, 1020 }, 100, 3, 102, 1020, NULL }, /* within the tolerance */
        { "rrrrr", { 100, 300, 500, 250, 250 }, 50, 3, 28, 280, NULL },
        /* one is not known: more, but less so; fewer, but not many fewer */
        { "rrrr", { 500, 500, 500, -1 }, 30, 5, 50, 500, NULL },
        { "rrrr", { 100, 100, 100, -1 }, 50, 3, 10, 100, NULL },
        { "rrrr", { 400, 400, 400, -1 }, 50, 4, 40, 400, NULL }, /* it would grow: stays */
        /* those that are not ready hold back growth, and nothing else */
        { "rru", { 900, 900, 900 }, 50, 4, 90, 900, NULL },
        { "rrp", { 100, 100, -1 }, 50, 1, 10, 100, NULL },
        { "rrn", { 900, 900, 100 }, 50, 4, 90, 900, NULL },
        /* those that are gone do not count */
        { "rrfd", { 500, 500, 500, 500 }, 50, 4, 50, 500, NULL },
        { "rrfd", { 500, 500, 500, 500 }, 25, 4, 50, 500, NULL },
        { "ppp",
          { -1, -1, -1 },
          50,
          0,
          0,
          0,
          "did not receive metrics for targeted pods (pods might be unready)" },
        { "", { 0 }, 50, 0, 0, 0, "no pods returned by selector while calculating replica count" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct world w = world_of(a, rows[i].pods, rows[i].levels);
        struct hpa_answer answer = { 0 };
        struct spn_err err = { 0 };
        int r = hpa_calc_utilization(&w.calc, &w.samples, SPN_TEXT("cpu"), SPN_TEXT(""),
                                     rows[i].target, &answer, &err);
        assert_int_equal(r < 0, rows[i].error != NULL);
        if (rows[i].error) {
            assert_string_equal(err.message, rows[i].error);
            continue;
        }
        assert_int_equal(answer.replicas, rows[i].replicas);
        assert_int_equal(answer.utilization, rows[i].utilization);
        assert_int_equal(answer.usage, rows[i].usage);
    }
    spn_arena_free(a);
}

static void test_requests(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *container;
        int64_t utilization;
        const char *error;
    } rows[] = {
        { "{containers: [{name: a, resources: {requests: {cpu: 250m}}}, {name: b, resources: "
          "{requests: {cpu: 250m}}}]}",
          "", 100, NULL },
        { "{containers: [{name: a, resources: {requests: {cpu: 250m}}}, {name: b}]}", "a", 200,
          NULL },
        { "{containers: [{name: a, resources: {requests: {cpu: 250m}}}], initContainers: [{name: "
          "i}, {name: s, restartPolicy: Always, resources: {requests: {cpu: 750m}}}]}",
          "", 50, NULL },
        { "{containers: [{name: a}], resources: {requests: {cpu: '2'}}}", "", 25, NULL },
        { "{containers: [{name: a}]}", "", 0, "missing request for cpu in container a of Pod p" },
        { "{containers: [{name: a}]}", "b", 0, "container b not found in Pod p" },
        { "{containers: [{name: a}], resources: {requests: {memory: 1Mi}}}", "", 0,
          "missing pod-level request for cpu in Pod p" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const int64_t level = 500;
        struct world w = world_of(a, "r", &level);
        struct spn_value *pod = pod_of(a, 'r', 0);
        spn_value_set(a, pod, "spec", read_yaml(a, rows[i].pod));
        spn_value_set_text(a, spn_value_ensure(a, pod, "metadata"), "name", SPN_TEXT("p"));
        w.samples.items[0].pod = SPN_TEXT("p");
        w.calc.pods = &pod;
        struct hpa_answer answer = { 0 };
        struct spn_err err = { 0 };
        int r = hpa_calc_utilization(&w.calc, &w.samples, SPN_TEXT("cpu"),
                                     spn_text_of(rows[i].container), 50, &answer, &err);
        assert_int_equal(r < 0, rows[i].error != NULL);
        if (rows[i].error)
            assert_string_equal(err.message, rows[i].error);
        else
            assert_int_equal(answer.utilization, rows[i].utilization);
    }
    spn_arena_free(a);
}

static void test_average(void **state)
{
    (void)state;
    static const struct {
        const char *pods;
        int64_t levels[5];
        int64_t target, replicas, usage;
    } rows[] = {
        { "rrr", { 20000, 10000, 30000 }, 15000, 4, 20000 },
        { "rrr", { 10000, 10000, 10000 }, 10500, 3, 10000 },
        { "rrrrr", { 12000, 12000, 12000, 12000, 12000 }, 20000, 3, 12000 },
        { "rrrr", { 30000, 30000, 30000, -1 }, 15000, 6, 30000 },
        { "rrrr", { 5000, 5000, 5000, -1 }, 20000, 2, 5000 },
        { "rrp", { 30000, 30000, -1 }, 15000, 4, 30000 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct world w = world_of(a, rows[i].pods, rows[i].levels);
        struct hpa_answer answer = { 0 };
        assert_int_equal(
            hpa_calc_average(&w.calc, &w.samples, SPN_TEXT(""), rows[i].target, &answer, NULL), 0);
        assert_int_equal(answer.replicas, rows[i].replicas);
        assert_int_equal(answer.usage, rows[i].usage);
    }
    spn_arena_free(a);
}

static void test_value(void **state)
{
    (void)state;
    static const struct {
        const char *pods;
        int64_t current, milli, target, replicas;
    } rows[] = {
        { "rrr", 3, 20000, 15000, 4 }, { "rrr", 3, 15500, 15000, 3 }, { "rru", 3, 30000, 15000, 4 },
        { "", 0, 30000, 15000, 2 },    { "", 0, 0, 15000, 0 },        { "r", 1, 0, 15000, 0 },
    };
    static const int64_t unknown[3] = { -1, -1, -1 };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w = world_of(a, rows[i].pods, unknown);
        struct hpa_answer answer;
        w.calc.current = rows[i].current;
        assert_int_equal(hpa_calc_value(&w.calc, rows[i].milli, rows[i].target, &answer, NULL), 0);
        assert_int_equal(answer.replicas, rows[i].replicas);
    }
    struct world w = world_of(a, "", unknown);
    struct hpa_answer answer = hpa_calc_per_pod(&w.calc, 8600, 2150, 3);
    assert_int_equal(answer.replicas, 4);
    assert_int_equal(answer.usage, 2867);
    answer = hpa_calc_per_pod(&w.calc, 8600, 2867, 3);
    assert_int_equal(answer.replicas, 3);
    answer = hpa_calc_per_pod(&w.calc, INT64_MAX, 1, 1);
    assert_int_equal(answer.replicas, INT32_MAX);
    spn_arena_free(a);
}

/* ---- How fast ---- */

static void test_plain_limits(void **state)
{
    (void)state;
    static const struct {
        int64_t min, max, current, desired, replicas;
        const char *able, *limit;
    } rows[] = {
        { 1, 10, 3, 5, 5, "ReadyForNewScale", "DesiredWithinRange" },
        { 1, 10, 3, 9, 6, "ReadyForNewScale", "ScaleUpLimit" },
        { 1, 10, 1, 9, 4, "ReadyForNewScale", "ScaleUpLimit" },
        { 1, 5, 3, 9, 5, "ReadyForNewScale", "TooManyReplicas" },
        { 2, 5, 1, 1, 2, "ReadyForNewScale", "TooFewReplicas" },
        { 1, 10, 5, 2, 5, "ScaleDownStabilized", "DesiredWithinRange" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hpa_history h = { 0 };
        const struct hpa_wish wish = { NULL, rows[i].min, rows[i].max, rows[i].current,
                                       rows[i].desired };
        hpa_history_begin(&h, rows[i].current, 1000 * NS_PER_SEC);
        const struct hpa_verdict v = hpa_judge(&h, &wish, 1001 * NS_PER_SEC);
        assert_int_equal(v.replicas, rows[i].replicas);
        assert_string_equal(v.able_reason, rows[i].able);
        assert_string_equal(v.limit_reason, rows[i].limit);
        assert_int_equal(v.is_limited, strcmp(rows[i].limit, "DesiredWithinRange") != 0);
        hpa_history_done(&h);
    }
}

static void test_window(void **state)
{
    (void)state;
    struct hpa_history h = { 0 };
    struct hpa_wish wish = { NULL, 1, 10, 5, 2 };
    hpa_history_begin(&h, 5, 1000 * NS_PER_SEC);
    assert_int_equal(hpa_judge(&h, &wish, 1010 * NS_PER_SEC).replicas, 5);
    assert_int_equal(hpa_judge(&h, &wish, 1300 * NS_PER_SEC).replicas, 5);
    assert_int_equal(hpa_judge(&h, &wish, 1301 * NS_PER_SEC).replicas, 2);
    /* places are used again */
    assert_int_equal(h.wanted.n, 3);
    hpa_history_done(&h);
}

#define UP(rules)   "{scaleUp: {stabilizationWindowSeconds: 0, " rules "}}"
#define DOWN(rules) "{scaleDown: {stabilizationWindowSeconds: 0, " rules "}}"

static void test_policies(void **state)
{
    (void)state;
    static const struct {
        const char *behavior;
        int64_t current, desired;
        int64_t added, removed; /* ten seconds ago */
        int64_t replicas;
        const char *limit;
    } rows[] = {
        { UP("policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 3, 9, 0, 0, 5,
          "ScaleUpLimit" },
        { UP("policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 3, 9, 2, 0, 3,
          "ScaleUpLimit" },
        { UP("policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 3, 9, 0, 1, 6,
          "ScaleUpLimit" },
        { UP("policies: [{type: Pods, value: 2, periodSeconds: 5}]"), 3, 9, 2, 0, 5,
          "ScaleUpLimit" },
        { UP("policies: [{type: Percent, value: 10, periodSeconds: 60}]"), 3, 9, 0, 0, 4,
          "ScaleUpLimit" },
        { UP("policies: [{type: Pods, value: 4, periodSeconds: 60}, {type: Percent, value: 100, "
             "periodSeconds: 60}]"),
          3, 9, 0, 0, 7, "ScaleUpLimit" },
        { UP("selectPolicy: Min, policies: [{type: Pods, value: 4, periodSeconds: 60}, {type: "
             "Percent, value: 100, periodSeconds: 60}]"),
          3, 9, 0, 0, 6, "ScaleUpLimit" },
        { UP("selectPolicy: Disabled, policies: [{type: Pods, value: 4, periodSeconds: 60}]"), 3, 9,
          0, 0, 3, "ScaleUpLimit" },
        { UP("policies: [{type: Pods, value: 20, periodSeconds: 60}]"), 3, 20, 0, 0, 10,
          "TooManyReplicas" },
        { DOWN("policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 8, 1, 0, 0, 6,
          "ScaleDownLimit" },
        { DOWN("policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 8, 1, 0, 2, 8,
          "ScaleDownLimit" },
        { DOWN("policies: [{type: Percent, value: 50, periodSeconds: 60}]"), 7, 1, 0, 0, 3,
          "ScaleDownLimit" },
        { DOWN("policies: [{type: Percent, value: 100, periodSeconds: 60}]"), 8, 0, 0, 0, 1,
          "TooFewReplicas" },
        { DOWN("selectPolicy: Disabled, policies: [{type: Pods, value: 2, periodSeconds: 60}]"), 8,
          1, 0, 0, 8, "ScaleDownLimit" },
        { DOWN("selectPolicy: Min, policies: [{type: Pods, value: 2, periodSeconds: 60}, {type: "
               "Percent, value: 50, periodSeconds: 60}]"),
          8, 1, 0, 0, 6, "ScaleDownLimit" },
        { DOWN("policies: [{type: Pods, value: 9, periodSeconds: 60}]"), 8, 4, 0, 0, 4,
          "DesiredWithinRange" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hpa_history h = { 0 };
        const struct spn_value *behavior = read_yaml(a, rows[i].behavior);
        const struct hpa_wish wish = { behavior, 1, 10, rows[i].current, rows[i].desired };
        if (rows[i].added)
            hpa_history_scaled(&h, behavior, 0, rows[i].added, 1000 * NS_PER_SEC);
        if (rows[i].removed)
            hpa_history_scaled(&h, behavior, rows[i].removed, 0, 1000 * NS_PER_SEC);
        const struct hpa_verdict v = hpa_judge(&h, &wish, 1010 * NS_PER_SEC);
        assert_int_equal(v.replicas, rows[i].replicas);
        assert_string_equal(v.limit_reason, rows[i].limit);
        hpa_history_done(&h);
    }
    spn_arena_free(a);
}

static void test_windows_of_rules(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct hpa_history h = { 0 };
    const char *policies = "policies: [{type: Pods, value: 9, periodSeconds: 60}]";
    const struct spn_value *behavior = read_yaml(
        a, spn_arena_printf(a, "{scaleUp: {stabilizationWindowSeconds: 60, %s}, scaleDown: {%s}}",
                            policies, policies)
               .p);
    struct hpa_wish wish = { behavior, 1, 10, 5, 8 };
    hpa_history_begin(&h, 5, 1000 * NS_PER_SEC);
    struct hpa_verdict v = hpa_judge(&h, &wish, 1010 * NS_PER_SEC);
    assert_int_equal(v.replicas, 5);
    assert_string_equal(v.able_reason, "ScaleUpStabilized");
    v = hpa_judge(&h, &wish, 1061 * NS_PER_SEC);
    assert_int_equal(v.replicas, 8);
    assert_string_equal(v.able_reason, "ReadyForNewScale");
    wish.current = 8;
    wish.desired = 2;
    v = hpa_judge(&h, &wish, 1200 * NS_PER_SEC);
    assert_int_equal(v.replicas, 8);
    assert_string_equal(v.able_reason, "ScaleDownStabilized");
    v = hpa_judge(&h, &wish, 1400 * NS_PER_SEC);
    assert_int_equal(v.replicas, 2);
    hpa_history_done(&h);
    spn_arena_free(a);
}

/* ---- What servers of metrics say ---- */

static void test_read(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *list = read_yaml(
        a, "{items: [{metadata: {name: p}, timestamp: '" NOW "', window: 30s, containers: [{name: "
           "a, usage: {cpu: 250m}}, {name: b, usage: {cpu: 1500u}}]}, {metadata: {name: q}, "
           "containers: [{name: a, usage: {cpu: 1}}, {name: b, usage: {memory: 1}}]}]}");
    struct hpa_samples s = hpa_read_resource(a, list, SPN_TEXT("cpu"), SPN_TEXT(""));
    assert_int_equal(s.n, 1);
    assert_int_equal(s.items[0].milli, 252);
    assert_int_equal(s.items[0].window_ns, 30 * NS_PER_SEC);
    s = hpa_read_resource(a, list, SPN_TEXT("cpu"), SPN_TEXT("b"));
    assert_int_equal(s.n, 1);
    assert_int_equal(s.items[0].milli, 2);
    s = hpa_read_custom(a, read_yaml(a, "{items: [{describedObject: {name: p}, value: 1500m}, "
                                        "{describedObject: {name: q}, value: '3', windowSeconds: "
                                        "10}]}"));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.items[0].milli, 1500);
    assert_int_equal(s.items[0].window_ns, 60 * NS_PER_SEC);
    assert_int_equal(s.items[1].window_ns, 10 * NS_PER_SEC);
    assert_int_equal(hpa_read_external(read_yaml(a, "{items: [{value: '2'}, {value: 500m}]}")),
                     2500);
    spn_arena_free(a);
}

static void test_quantities(void **state)
{
    (void)state;
    static const struct {
        int64_t milli;
        bool is_memory;
        const char *want;
    } rows[] = {
        { 1500, false, "1500m" },
        { 2000, false, "2" },
        { 20 * 1024 * 1024 * INT64_C(1000), true, "20Mi" },
        { 1500 * 1000, true, "1500" },
        { 1500 * 1000 + 1, true, "1500001m" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(spn_text_eq(hpa_quantity(a, rows[i].milli, rows[i].is_memory),
                                spn_text_of(rows[i].want)));
    const struct hpa_tolerance t =
        hpa_tolerance_of(read_yaml(a, "{scaleDown: {tolerance: 50m}, scaleUp: {}}"));
    assert_true(t.down > 0.049 && t.down < 0.051 && t.up > 0.09 && t.up < 0.11);
    assert_true(spn_text_eq(hpa_group(SPN_TEXT("apps/v1")), SPN_TEXT("apps")));
    assert_int_equal(hpa_group(SPN_TEXT("v1")).n, 0);
    spn_arena_free(a);
}

static void test_words(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_err err = { .code = SPN_NOT_FOUND, .http_status = 404 };
    assert_true(spn_text_eq(
        hpa_words(a, &err, SPN_TEXT("pods.metrics.k8s.io"), SPN_TEXT("")),
        SPN_TEXT("the server could not find the requested resource (get pods.metrics.k8s.io)")));
    assert_true(
        spn_text_eq(hpa_words(a, &err, SPN_TEXT("widgets"), SPN_TEXT("w")),
                    SPN_TEXT("the server could not find the requested resource (get widgets w)")));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utilization),  cmocka_unit_test(test_requests),
        cmocka_unit_test(test_average),      cmocka_unit_test(test_value),
        cmocka_unit_test(test_plain_limits), cmocka_unit_test(test_window),
        cmocka_unit_test(test_policies),     cmocka_unit_test(test_windows_of_rules),
        cmocka_unit_test(test_read),         cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
