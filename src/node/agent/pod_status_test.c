#include "node/agent/pod_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

static struct value read_json(struct arena *a, const char *text)
{
    struct value v;
    assert_int_equal(json_read(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

#define RUNS(n)     "{\"name\":\"" n "\",\"state\":{\"running\":{}},\"started\":true}"
#define WAITS(n)    "{\"name\":\"" n "\",\"state\":{\"waiting\":{}}}"
#define ENDED(n, c) "{\"name\":\"" n "\",\"state\":{\"terminated\":{\"exitCode\":" c "}}}"
#define AGAIN(n, c)  \
    "{\"name\":\"" n \
    "\",\"state\":{\"waiting\":{}},\"lastState\":{\"terminated\":{\"exitCode\":" c "}}}"
#define POD(policy)                          \
    "{\"spec\":{\"restartPolicy\":\"" policy \
    "\",\"containers\":[{\"name\":\"c\"},{\"name\":\"d\"}]}}"
#define INIT(policy)                         \
    "{\"spec\":{\"restartPolicy\":\"" policy \
    "\",\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"c\"}]}}"
#define SIDE                                                                      \
    "{\"spec\":{\"restartPolicy\":\"Never\",\"initContainers\":[{\"name\":\"s\"," \
    "\"restartPolicy\":"                                                          \
    "\"Always\"}],\"containers\":[{\"name\":\"c\"}]}}"

static void phases(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *statuses;
        bool is_terminal, has_started;
        const char *phase;
    } rows[] = {
        { POD("Always"), "[]", false, false, "Pending" },
        { POD("Always"), "[" RUNS("c") "," RUNS("d") "]", false, true, "Running" },
        { POD("Always"), "[" RUNS("c") "," WAITS("d") "]", false, true, "Pending" },
        { POD("Always"), "[" RUNS("c") "," AGAIN("d", "1") "]", false, true, "Running" },
        { POD("Always"), "[" ENDED("c", "0") "," ENDED("d", "0") "]", false, true, "Running" },
        { POD("Always"), "[" ENDED("c", "0") "," ENDED("d", "0") "]", true, true, "Succeeded" },
        { POD("Always"), "[" ENDED("c", "0") "," ENDED("d", "1") "]", true, true, "Failed" },
        { POD("OnFailure"), "[" ENDED("c", "0") "," ENDED("d", "1") "]", false, true, "Running" },
        { POD("OnFailure"), "[" ENDED("c", "0") "," ENDED("d", "0") "]", false, true, "Succeeded" },
        { POD("Never"), "[" ENDED("c", "0") "," ENDED("d", "1") "]", false, true, "Failed" },
        { POD("Never"), "[" RUNS("c") "," ENDED("d", "1") "]", false, true, "Running" },
        { INIT("Never"), "[" WAITS("c") "," RUNS("i") "]", false, false, "Pending" },
        { INIT("Never"), "[" WAITS("c") "," ENDED("i", "1") "]", false, false, "Failed" },
        { INIT("Always"), "[" WAITS("c") "," AGAIN("i", "1") "]", false, false, "Pending" },
        { INIT("Always"), "[" RUNS("c") "," ENDED("i", "0") "]", false, true, "Running" },
        { SIDE, "[" ENDED("c", "0") "," RUNS("s") "]", false, true, "Running" },
        { SIDE, "[" ENDED("c", "0") "," ENDED("s", "137") "]", false, true, "Succeeded" },
        { SIDE, "[" WAITS("c") "," WAITS("s") "]", false, false, "Pending" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = read_json(&a, rows[i].pod), all = read_json(&a, rows[i].statuses);
        struct str got = phase_of(&pod, &all, rows[i].is_terminal, rows[i].has_started);
        if (!str_eq(got, str_of(rows[i].phase)))
            fail_msg("row %zu: " STR_FMT ", not %s", i, STR_ARG(got), rows[i].phase);
        arena_done(&a);
    }
}

/* What is written over the server's status. */
static void merges(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value pod = read_json(&a, "{\"metadata\":{\"generation\":3}}");
    struct value server = read_json(
        &a, "{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Mine\",\"status\":\"True\"},"
            "{\"type\":\"Ready\",\"status\":\"True\"}],\"nominatedNodeName\":\"n\"}");
    struct value ours = read_json(
        &a, "{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"conditions\":[{\"type\":\"Ready\","
            "\"status\":\"True\"},{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}");
    struct value early = status_merge(&a, &pod, &server, &ours, true, 0);
    assert_true(str_eq(value_text(&early, "phase"), STR("Running")));
    assert_false(value_get(&early, STR("reason")));
    assert_non_null(rules_condition(&early, STR("Mine")));
    assert_null(rules_condition(&early, STR("DisruptionTarget")));
    struct value late = status_merge(&a, &pod, &server, &ours, false, 0);
    assert_true(str_eq(value_text(&late, "phase"), STR("Failed")));
    assert_true(str_eq(value_text(&late, "reason"), STR("Evicted")));
    assert_true(str_eq(value_text(&late, "nominatedNodeName"), STR("n")));
    assert_non_null(rules_condition(&late, STR("DisruptionTarget")));
    const struct value *ready = rules_condition(&late, STR("Ready"));
    assert_true(str_eq(value_text(ready, "status"), STR("False")));
    assert_true(str_eq(value_text(ready, "reason"), STR("PodFailed")));
    arena_done(&a);
}

/* A container that has ended for good does not come to life again. */
static void impossible_statuses_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *before, *now;
        bool is_impossible;
    } rows[] = {
        { "Never", ENDED("c", "0"), RUNS("c"), true },
        { "OnFailure", ENDED("c", "0"), WAITS("c"), true },
        { "OnFailure", ENDED("c", "1"), WAITS("c"), false },
        { "Always", ENDED("c", "0"), RUNS("c"), false },
        { "Never", RUNS("c"), ENDED("c", "0"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct str pod = arena_printf(
            &a, "{\"spec\":{\"restartPolicy\":\"%s\",\"containers\":[{\"name\":\"c\"}]}}",
            rows[i].policy);
        struct str was = arena_printf(&a, "{\"containerStatuses\":[%s]}", rows[i].before);
        struct str is = arena_printf(&a, "{\"containerStatuses\":[%s]}", rows[i].now);
        struct value p = read_json(&a, str_cstr(&a, pod)), b = read_json(&a, str_cstr(&a, was));
        struct value n = read_json(&a, str_cstr(&a, is));
        assert_int_equal(status_is_impossible(&p, &n, &b), rows[i].is_impossible);
        arena_done(&a);
    }
}

/* The first status of a pod, whole, and what stays the same in the next one. */
static void a_new_pod(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    static const struct str host[] = { STR("192.0.2.1") };
    const struct node_facts node = { .host_ips = host, .n_host_ips = 1 };
    struct runtime_pod have = { .uid = STR("u") };
    struct value pod = read_json(
        &a,
        "{\"metadata\":{\"generation\":1},\"spec\":{\"restartPolicy\":\"Always\",\"containers\":"
        "[{\"name\":\"c\",\"image\":\"i\"}]},\"status\":{\"phase\":\"Pending\"}}");
    const struct status_input in = {
        .pod = &pod, .have = &have, .node = &node, .scheme = STR("containerd")
    };
    struct value s = status_make(&a, &in);
    status_settle(&a, &pod, &s, value_get(&pod, STR("status")), 1000000000);
    struct value want = read_json(
        &a,
        "{\"observedGeneration\":1,\"phase\":\"Pending\",\"conditions\":["
        "{\"type\":\"PodReadyToStartContainers\",\"observedGeneration\":1,\"status\":\"False\","
        "\"lastProbeTime\":null,\"reason\":\"PodSandboxNotReady\",\"message\":\"no pod sandbox "
        "exists\","
        "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"},"
        "{\"type\":\"Initialized\",\"observedGeneration\":1,\"status\":\"True\",\"lastProbeTime\":"
        "null,"
        "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"},"
        "{\"type\":\"Ready\",\"observedGeneration\":1,\"status\":\"False\",\"lastProbeTime\":null,"
        "\"reason\":\"ContainersNotReady\",\"message\":\"containers with unready status: [c]\","
        "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"},"
        "{\"type\":\"ContainersReady\",\"observedGeneration\":1,\"status\":\"False\","
        "\"lastProbeTime\":null,"
        "\"reason\":\"ContainersNotReady\",\"message\":\"containers with unready status: [c]\","
        "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"},"
        "{\"type\":\"PodScheduled\",\"observedGeneration\":1,\"status\":\"True\",\"lastProbeTime\":"
        "null,"
        "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\"}],"
        "\"hostIP\":\"192.0.2.1\",\"hostIPs\":[{\"ip\":\"192.0.2.1\"}],\"containerStatuses\":["
        "{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}},\"lastState\":{"
        "},"
        "\"ready\":false,\"restartCount\":0,\"image\":\"i\",\"imageID\":\"\",\"started\":false}],"
        "\"qosClass\":\"BestEffort\",\"resources\":{},\"startTime\":\"1970-01-01T00:00:01Z\"}");
    if (!value_eq(&s, &want)) {
        struct buf out = { 0 };
        json_write(&out, &s);
        fail_msg(STR_FMT, STR_ARG(buf_str(&out)));
    }
    struct value again = status_make(&a, &in);
    status_settle(&a, &pod, &again, &s, 5000000000);
    assert_true(status_eq(&a, &again, &s));
    assert_true(str_eq(value_text(&again, "startTime"), value_text(&s, "startTime")));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(merges),
        cmocka_unit_test(impossible_statuses_are_seen),
        cmocka_unit_test(a_new_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
