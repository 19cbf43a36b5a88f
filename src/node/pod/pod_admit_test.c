/* Pods that a node refuses, with upstream's reasons and messages. */
#include "node/pod/pod_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/suite_pod.h"

#define NODE                                                                                \
    "{\"metadata\":{\"name\":\"node\",\"labels\":{\"zone\":\"a\"}},\"spec\":{\"taints\":["  \
    "{\"key\":\"k\",\"effect\":\"NoExecute\"},{\"key\":\"x\",\"effect\":\"NoSchedule\"}]}," \
    "\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"1Gi\",\"pods\":\"3\","         \
    "\"example.test/gpu\":\"1\"}}}"
#define TOLERATES      "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],"
#define REQUESTS(what) "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" what "}}}]"
#define OTHER                                                                                  \
    "{\"spec\":{\"containers\":[{\"name\":\"c\",\"ports\":[{\"hostPort\":80}],\"resources\":{" \
    "\"requests\":{\"cpu\":\"1500m\"}}}]}}"

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *reason, *message; /* reason NULL: admitted */
    } rows[] = {
        { TOLERATES REQUESTS("\"cpu\":\"500m\""), NULL, NULL },
        { TOLERATES REQUESTS("\"cpu\":\"501m\""), "OutOfcpu",
          "Node didn't have enough resource: cpu, requested: 501, used: 1500, capacity: 2000" },
        { TOLERATES REQUESTS("\"memory\":\"2Gi\""), "OutOfmemory",
          "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: "
          "1073741824" },
        { TOLERATES REQUESTS("\"example.test/gpu\":\"2\""), "OutOfexample.test/gpu",
          "Node didn't have enough resource: example.test/gpu, requested: 2, used: 0, capacity: "
          "1" },
        { TOLERATES REQUESTS("\"example.test/unknown\":\"2\""), NULL, NULL },
        { TOLERATES REQUESTS("\"hugepages-2Mi\":\"2Mi\""), "OutOfhugepages-2Mi",
          "Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: "
          "0" },
        { TOLERATES "\"nodeSelector\":{\"zone\":\"b\"}", "NodeAffinity",
          "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" },
        { TOLERATES "\"nodeSelector\":{\"zone\":\"a\"}", NULL, NULL },
        { TOLERATES "\"nodeName\":\"else\"", "NodeName",
          "Predicate NodeName failed: node(s) didn't match the requested node name" },
        { TOLERATES
          "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution"
          "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"
          "\"DoesNotExist\"}]}]}}}",
          "NodeAffinity",
          "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" },
        { TOLERATES "\"containers\":[{\"ports\":[{\"hostPort\":80,\"hostIP\":\"192.0.2.1\"}]}]",
          "NodePorts",
          "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod "
          "ports" },
        { TOLERATES "\"containers\":[{\"ports\":[{\"hostPort\":80,\"protocol\":\"UDP\"}]}]", NULL,
          NULL },
        { "\"a\":1", "TaintToleration",
          "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate" },
        { "\"os\":{\"name\":\"windows\"}", "PodOSNotSupported",
          "Failed to admit pod as the OS field doesn't match node OS" },
        { "\"securityContext\":{\"supplementalGroupsPolicy\":\"Strict\"}",
          "SupplementalGroupsPolicyNotSupported",
          "SupplementalGroupsPolicy=Strict is not supported in this node" },
        { "\"securityContext\":{\"sysctls\":[{\"name\":\"kernel.msgmax\"}]}", "SysctlForbidden",
          "forbidden sysctl: \"kernel.msgmax\" not allowlisted" },
        { TOLERATES "\"securityContext\":{\"sysctls\":[{\"name\":\"net/ipv4/tcp_rmem\"}]}", NULL,
          NULL },
        { "\"hostNetwork\":true,\"securityContext\":{\"sysctls\":[{\"name\":\"net.ipv4.tcp_rmem\"}]"
          "}",
          "SysctlForbidden",
          "forbidden sysctl: \"net.ipv4.tcp_rmem\" not allowed with host Net enabled" },
        { TOLERATES "\"securityContext\":{\"sysctls\":[{\"name\":\"net.core.somaxconn\"}]}", NULL,
          NULL },
    };
    static const struct str allowed[] = { STR("net.core.*") };
    struct arena a;
    arena_init(&a);
    struct value object = suite_json(&a, NODE), other = suite_json(&a, OTHER);
    const struct value *others[] = { &other, &other, &other };
    const struct node_facts node = { .name = STR("node"),
                                     .allowed_sysctls = allowed,
                                     .n_allowed_sysctls = 1 };
    struct str reason, message;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value pod = suite_json(
            &a, str_cstr(&a, arena_printf(&a, "{\"metadata\":{\"name\":\"p\"},\"spec\":{%s}}",
                                          rows[i].spec)));
        const bool good = pod_is_admitted(&node, &object, &pod, others, 1, &a, &reason, &message);
        assert_int_equal(good, rows[i].reason == NULL);
        if (good)
            continue;
        assert_string_equal(str_cstr(&a, reason), rows[i].reason);
        assert_string_equal(str_cstr(&a, message), rows[i].message);
    }
    struct value pod = suite_json(&a, "{\"spec\":{}}");
    assert_false(pod_is_admitted(&node, &object, &pod, others, 3, &a, &reason, &message));
    assert_string_equal(str_cstr(&a, reason), "OutOfpods");
    assert_string_equal(
        str_cstr(&a, message),
        "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3");
    assert_false(pod_is_admitted(&node, NULL, &pod, others, 0, &a, &reason, &message));
    assert_string_equal(str_cstr(&a, reason), "InvalidNodeInfo");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
