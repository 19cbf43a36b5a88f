/* KubeletConfigurations: what they set, and what is refused. */
#include "node/config/node_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

#define HEAD "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

static struct arena arena;

static void expect_text(const char *expected, struct str got)
{
    assert_string_equal(expected, str_cstr(&arena, got));
}

static void test_usual(void **state)
{
    struct node_config c = node_config_usual();
    struct err err = ERR_INIT(&arena);
    (void)state;
    assert_int_equal(node_config_read(&arena, STR(HEAD), &c, &err), 0);
    assert_true(c.serves && c.webhook && !c.anonymous && !c.node.flat_cgroups);
    expect_text("0.0.0.0", c.address);
    expect_text("Webhook", c.authorization);
    expect_text("unix:///run/containerd/containerd.sock", c.runtime_endpoint);
    assert_int_equal(c.n_ignored, 0);
}

static void test_fields(void **state)
{
    static const char text[] =
        HEAD "port: 10255\n"
             "authentication: {anonymous: {enabled: true}, webhook: {enabled: false},\n"
             "  x509: {clientCAFile: /ca}}\n"
             "authorization: {mode: AlwaysAllow}\n"
             "cgroupsPerQOS: false\nserializeImagePulls: false\n"
             "syncFrequency: 1m0s\nregistryBurst: 3\nregistryPullQPS: 0\n"
             "containerLogMaxSize: 10Mi\nnodeLeaseDurationSeconds: 40\nnodeStatusMaxImages: -1\n"
             "evictionHard: {memory.available: 100Mi, nodefs.available: 1%}\n"
             "kubeReserved: {cpu: 100m}\nclusterDNS: [10.0.0.10, 10.0.0.11]\n"
             "registerWithTaints: [{key: a, value: b, effect: NoSchedule}]\n"
             "failSwapOn: false\nsystemReserved: null\n";
    struct node_config c = node_config_usual();
    struct err err = ERR_INIT(&arena);
    (void)state;
    assert_int_equal(node_config_read(&arena, str_of(text), &c, &err), 0);
    assert_int_equal(c.node.port, 10255);
    assert_true(c.anonymous && !c.webhook && c.node.flat_cgroups && c.agent.parallel_pulls);
    expect_text("/ca", c.client_ca_file);
    expect_text("AlwaysAllow", c.authorization);
    assert_int_equal(c.agent.sync_ms, 60000);
    assert_true(c.agent.registry_qps < 0);
    assert_int_equal(c.agent.registry_burst, 3);
    assert_int_equal(c.agent.log_max_bytes, 10 << 20);
    assert_int_equal(c.node.lease_ms, 10000);
    assert_int_equal(c.node.max_images, -1);
    expect_text("memory.available=100Mi,nodefs.available=1%", c.node.eviction_hard);
    assert_int_equal(c.agent.n_eviction_hard, 2);
    expect_text("1%", c.agent.eviction_hard[1].value);
    expect_text("cpu=100m", c.node.kube_reserved);
    assert_int_equal(c.node.n_cluster_dns, 2);
    expect_text("10.0.0.11", c.node.cluster_dns[1]);
    expect_text("a=b:NoSchedule", c.node.taints[0]);
    assert_int_equal(c.n_ignored, 1);
    expect_text("failSwapOn", c.ignored[0]);
}

static void test_refused(void **state)
{
    static const char *const rows[][2] = {
        { "[]", "the configuration is no object" },
        { "kind: Pod\napiVersion: v1\n", "no kind \"Pod\" is registered for version \"v1\"" },
        { HEAD "sync: 1\n", "strict decoding error: unknown field \"sync\"" },
        { HEAD "syncFrequency: 1\n",
          "invalid configuration: syncFrequency must be a duration, as \"10s\"" },
        { HEAD "maxPods: -1\n", "invalid configuration: maxPods must be an integer from 0 on" },
        { HEAD "authentication: {anonymous: {enabled: 1}}\n",
          "invalid configuration: authentication.anonymous.enabled must be true or false" },
        { HEAD "clusterDNS: x\n", "invalid configuration: clusterDNS must be a list" },
        { HEAD "evictionHard: [x]\n", "invalid configuration: evictionHard must be an object" },
        { HEAD "containerLogMaxSize: lots\n",
          "invalid configuration: containerLogMaxSize must be a quantity, as \"10Mi\"" },
        { HEAD "staticPodPath: [x]\n", "invalid configuration: staticPodPath must be text" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node_config c = node_config_usual();
        struct err err = ERR_INIT(&arena);
        assert_int_equal(node_config_read(&arena, str_of(rows[i][0]), &c, &err), -ERR_INVALID);
        expect_text(rows[i][1], err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refused),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
