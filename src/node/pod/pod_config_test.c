/* What pods' sandboxes and containers get: the trees, which CRI's tables have to accept. */
#include "node/pod/pod_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_dns.h"
#include "node/pod/pod_env.h"
#include "node/pod/pod_hosts.h"
#include "node/pod/pod_security.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"
#include "wire/message.h"

#define META \
    "\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u-1\",\"labels\":{\"app\":\"x\"}}"
#define POD(spec) "{" META ",\"spec\":{\"enableServiceLinks\":true,\"nodeName\":\"node\"," spec "}}"

static const struct str cluster_dns[] = { STR("10.0.0.10") };
static const struct str host_ips[] = { STR("192.0.2.9"), STR("fd00::9") };

static struct node_facts facts(struct arena *a, struct str root)
{
    return (struct node_facts){
        .name = STR("node"),
        .root_dir = root,
        .log_dir = path_join(a, root, STR("logs")),
        .cluster_domain = STR("cluster.local"),
        .cluster_dns = cluster_dns,
        .n_cluster_dns = 1,
        .host_ips = host_ips,
        .n_host_ips = 2,
        .cgroup_root = STR("/"),
        .cgroups_per_qos = true,
        .seccomp_dir = STR("/sec"),
        .memory_bytes = (uint64_t)8 << 30,
        .allocatable = suite_json(a, "{\"cpu\":\"2\",\"memory\":\"4Gi\",\"pods\":\"10\"}"),
    };
}

#define SERVICE(name, ns, ip)                                                                      \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\"},\"spec\":{\"clusterIP\":\"" ip \
    "\",\"ports\":[{\"name\":\"a-b\",\"port\":80},"                                                \
    "{\"port\":53,\"protocol\":\"UDP\"}]}}"
#define WORLD                                                                  \
    "{\"configmaps\":{\"cm\":{\"data\":{\"a\":\"1\",\"b\":\"2\"}}},"           \
    "\"secrets\":{\"s\":{\"data\":{\"a\":\"aGlkZGVu\"}}},"                     \
    "\"services\":[" SERVICE("kubernetes", "default", "10.0.0.1") "," SERVICE( \
        "other", "default",                                                    \
        "10.0.0.7") "," SERVICE("web-1", "n", "fd00::5") "," SERVICE("headless", "n", "None") "]}"

/* ---- Environment ---- */

static void test_env(void **state)
{
    (void)state;
    static const struct {
        const char *container;
        const char *name, *value; /* value NULL: there is no such variable */
        const char *error;
    } rows[] = {
        { "{}", "KUBERNETES_SERVICE_HOST", "10.0.0.1", NULL },
        { "{}", "OTHER_SERVICE_HOST", NULL, NULL },
        { "{}", "HEADLESS_SERVICE_HOST", NULL, NULL },
        { "{}", "WEB_1_SERVICE_PORT_A_B", "80", NULL },
        { "{}", "WEB_1_PORT", "tcp://[fd00::5]:80", NULL },
        { "{}", "WEB_1_PORT_53_UDP_PROTO", "udp", NULL },
        { "{}", "WEB_1_PORT_53_UDP", "udp://[fd00::5]:53", NULL },
        { "{\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"$(A)\"},"
          "{\"name\":\"A\",\"value\":\"2\"}]}",
          "B", "1", NULL },
        { "{\"env\":[{\"name\":\"WEB_1_PORT\",\"value\":\"x$(WEB_1_PORT_80_TCP_ADDR)\"}]}",
          "WEB_1_PORT", "xfd00::5", NULL },
        { "{\"envFrom\":[{\"configMapRef\":{\"name\":\"cm\"}},{\"prefix\":\"S_\",\"secretRef\":{"
          "\"name\":\"s\"}}],\"env\":[{\"name\":\"X\",\"value\":\"$(a)$(S_a)\"}]}",
          "X", "1hidden", NULL },
        { "{\"envFrom\":[{\"configMapRef\":{\"name\":\"no\",\"optional\":true}}]}", "a", NULL,
          NULL },
        { "{\"envFrom\":[{\"configMapRef\":{\"name\":\"no\"}}]}", "a", NULL,
          "configmap \"no\" not found" },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":"
          "\"z\"}}}]}",
          "A", NULL, "couldn't find key z in Secret n/s" },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"cm\",\"key\":"
          "\"z\",\"optional\":true}}}]}",
          "A", NULL, NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels["
          "'app']\"}}}]}",
          "A", "x", NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
          "\"status.podIPs\"}}}]}",
          "A", "10.1.0.2,fd01::2", NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
          "\"status.hostIPs\"}}}]}",
          "A", "192.0.2.9,fd00::9", NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
          "\"status.nope\"}}}]}",
          "A", NULL, "unsupported fieldPath: status.nope" },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"resourceFieldRef\":{\"resource\":"
          "\"limits.cpu\"}}}]}",
          "A", "2", NULL },
        { "{\"resources\":{\"limits\":{\"cpu\":\"1500m\"}},\"env\":[{\"name\":\"A\",\"valueFrom\":{"
          "\"resourceFieldRef\":{\"resource\":\"limits.cpu\"}}}]}",
          "A", "2", NULL },
        { "{\"resources\":{\"limits\":{\"cpu\":\"1500m\"}},\"env\":[{\"name\":\"A\",\"valueFrom\":{"
          "\"resourceFieldRef\":{\"resource\":\"limits.cpu\",\"divisor\":\"1m\"}}}]}",
          "A", "1500", NULL },
        { "{\"resources\":{\"requests\":{\"memory\":\"5Mi\"}},\"env\":[{\"name\":\"A\","
          "\"valueFrom\":{\"resourceFieldRef\":{\"resource\":\"requests.memory\",\"divisor\":"
          "\"2Mi\"}}}]}",
          "A", "3", NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"resourceFieldRef\":{\"resource\":"
          "\"requests.cpu\"}}}]}",
          "A", "0", NULL },
        { "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"resourceFieldRef\":{\"resource\":"
          "\"limits.gpu\"}}}]}",
          "A", NULL, "unsupported container resource : limits.gpu" },
    };
    static const struct str ips[] = { STR("fd01::2"), STR("10.1.0.2") };
    struct arena a;
    arena_init(&a);
    struct suite_world world = { .world = suite_json(&a, WORLD) };
    struct pod_objects objects = suite_objects(&world);
    struct node_facts node = facts(&a, STR("/none"));
    struct value pod = suite_json(&a, POD("\"containers\":[]"));
    const struct pod_place p = {
        .node = &node, .objects = &objects, .pod = &pod, .pod_ips = ips, .n_pod_ips = 2
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value c = suite_json(&a, rows[i].container);
        struct err err = ERR_INIT(&a);
        struct str value;
        autoenv env = { 0 };
        int r = pod_env_make(&p, &c, &a, &env, &err);
        if (rows[i].error) {
            assert_true(r < 0);
            assert_string_equal(str_cstr(&a, err.msg), rows[i].error);
            continue;
        }
        assert_int_equal(r, 0);
        const bool has = pod_env_lookup(&env, str_of(rows[i].name), &value);
        assert_int_equal(has, rows[i].value != NULL);
        if (has)
            assert_string_equal(str_cstr(&a, value), rows[i].value);
    }
    arena_done(&a);
}

/* ---- Names ---- */

#define LONG30 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_host_name(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *name, *domain, *kernel; /* kernel NULL: `error` */
        const char *error;
    } rows[] = {
        { "\"a\":1", "p", "", "p", NULL },
        { "\"hostname\":\"h\"", "h", "", "h", NULL },
        { "\"hostname\":\"h\",\"subdomain\":\"s\"", "h", "s.n.svc.cluster.local", "h", NULL },
        { "\"subdomain\":\"s\",\"setHostnameAsFQDN\":true", "p", "s.n.svc.cluster.local",
          "p.s.n.svc.cluster.local", NULL },
        { "\"setHostnameAsFQDN\":true", "p", "", "p", NULL },
        { "\"hostnameOverride\":\"over.test\",\"subdomain\":\"s\",\"setHostnameAsFQDN\":true",
          "over.test", "", "over.test", NULL },
        { "\"hostname\":\"" LONG30 "\",\"subdomain\":\"" LONG30 "\",\"setHostnameAsFQDN\":true",
          LONG30, LONG30 ".n.svc.cluster.local", NULL,
          "failed to construct FQDN from pod hostname and cluster domain, FQDN " LONG30 "." LONG30
          ".n.svc.cluster.local is too long (64 characters is the max, 81 characters requested)" },
    };
    struct arena a;
    arena_init(&a);
    struct node_facts node = facts(&a, STR("/none"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct str name, domain, kernel;
        struct value pod = suite_json(
            &a, str_cstr(&a, arena_printf(&a, "{" META ",\"spec\":{%s}}", rows[i].spec)));
        assert_int_equal(pod_host_name(&a, &node, &pod, &name, &domain, &err), 0);
        assert_string_equal(str_cstr(&a, name), rows[i].name);
        assert_string_equal(str_cstr(&a, domain), rows[i].domain);
        int r = pod_kernel_name(&a, &node, &pod, &kernel, &err);
        assert_int_equal(r == 0, rows[i].kernel != NULL);
        assert_string_equal(str_cstr(&a, r == 0 ? kernel : err.msg),
                            rows[i].kernel ? rows[i].kernel : rows[i].error);
    }
    /* 63 bytes, and no dash or dot at the end. */
    struct err err = ERR_INIT(&a);
    struct str name, domain;
    struct value pod = suite_json(&a, "{\"metadata\":{\"name\":\"" LONG30 LONG30 "a-.bcd\"}}");
    assert_int_equal(pod_host_name(&a, &node, &pod, &name, &domain, &err), 0);
    assert_string_equal(str_cstr(&a, name), LONG30 LONG30 "a");
    arena_done(&a);
}

/* ---- Name servers ---- */

struct heard {
    unsigned n;
};

static void hear(void *arg, const char *reason, struct str message)
{
    (void)message;
    assert_string_equal(reason, "DNSConfigForming");
    ((struct heard *)arg)->n++;
}

static void test_dns(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *dns;
        unsigned warnings;
    } rows[] = {
        { "\"dnsPolicy\":\"ClusterFirst\"",
          "{\"servers\":[\"10.0.0.10\"],\"searches\":[\"n.svc.cluster.local\",\"svc.cluster."
          "local\","
          "\"cluster.local\",\"example.test\"],\"options\":[\"ndots:5\"]}",
          0 },
        { "\"dnsPolicy\":\"Default\"",
          "{\"servers\":[\"192.0.2.53\"],\"searches\":[\"example.test\"],\"options\":[\"timeout:"
          "2\","
          "\"rotate\"]}",
          0 },
        { "\"dnsPolicy\":\"ClusterFirst\",\"hostNetwork\":true",
          "{\"servers\":[\"192.0.2.53\"],\"searches\":[\"example.test\"],\"options\":[\"timeout:"
          "2\","
          "\"rotate\"]}",
          0 },
        { "\"dnsPolicy\":\"None\",\"dnsConfig\":{\"nameservers\":[\"1.1.1.1\",\"1.1.1.1\",\"2.2.2."
          "2\","
          "\"3.3.3.3\",\"4.4.4.4\"],\"options\":[{\"name\":\"ndots\",\"value\":\"2\"},{\"name\":"
          "\"edns0\"}]}",
          "{\"servers\":[\"1.1.1.1\",\"2.2.2.2\",\"3.3.3.3\"],\"options\":[\"ndots:2\",\"edns0\"]}",
          1 },
        { "\"dnsPolicy\":\"ClusterFirstWithHostNet\",\"hostNetwork\":true,\"dnsConfig\":{"
          "\"options\":"
          "[{\"name\":\"ndots\",\"value\":\"1\"}],\"searches\":[\"example.test\",\"b\"]}",
          "{\"servers\":[\"10.0.0.10\"],\"searches\":[\"n.svc.cluster.local\",\"svc.cluster."
          "local\","
          "\"cluster.local\",\"example.test\",\"b\"],\"options\":[\"ndots:1\"]}",
          0 },
    };
    struct arena a;
    arena_init(&a);
    struct str folder = suite_folder(&a);
    struct node_facts node = facts(&a, folder);
    suite_write(&a, folder, "resolv.conf",
                "# note\nnameserver 192.0.2.53\nsearch a b\nsearch example.test. .\n"
                "options timeout:1 rotate\noptions timeout:2\n");
    node.resolv_conf = path_join(&a, folder, STR("resolv.conf"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct heard heard = { 0 };
        struct value dns,
            pod = suite_json(
                &a, str_cstr(&a, arena_printf(&a, "{" META ",\"spec\":{%s}}", rows[i].spec)));
        const struct pod_place p = { .node = &node, .pod = &pod, .warn = hear, .warn_arg = &heard };
        assert_int_equal(pod_dns(&p, &a, &dns, &err), 0);
        assert_string_equal(str_cstr(&a, suite_text(&a, &dns)), rows[i].dns);
        assert_int_equal(heard.n, rows[i].warnings);
    }
    suite_folder_remove(&a, folder);
    arena_done(&a);
}

/* ---- Rights ---- */

static void test_root(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *container, *image;
        const char *error; /* NULL: good */
    } rows[] = {
        { "{}", "{}", "{}", NULL },
        { "{\"runAsNonRoot\":true}", "{}", "{\"uid\":1000}", NULL },
        { "{\"runAsNonRoot\":true}", "{}", "{}",
          "container has runAsNonRoot and image will run as root" },
        { "{\"runAsNonRoot\":true}", "{}", "{\"username\":\"alice\"}",
          "container has runAsNonRoot and image has non-numeric user (alice), cannot verify user "
          "is "
          "non-root" },
        { "{\"runAsNonRoot\":true,\"runAsUser\":5}", "{}", "{}", NULL },
        { "{\"runAsUser\":5}", "{\"runAsNonRoot\":true,\"runAsUser\":0}", "{}",
          "container's runAsUser breaks non-root policy" },
        { "{\"runAsNonRoot\":true}", "{\"runAsNonRoot\":false}", "{}", NULL },
    };
    struct arena a;
    arena_init(&a);
    struct node_facts node = facts(&a, STR("/none"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct value pod = suite_json(
            &a, str_cstr(&a, arena_printf(&a, "{" META ",\"spec\":{\"securityContext\":%s}}",
                                          rows[i].pod)));
        struct value spec =
            suite_json(&a, str_cstr(&a, arena_printf(&a, "{\"name\":\"c\",\"securityContext\":%s}",
                                                     rows[i].container)));
        struct value image = suite_json(&a, rows[i].image);
        const struct pod_place p = { .node = &node, .pod = &pod };
        const struct container_case c = { .spec = &spec, .image_status = &image };
        int r = container_check_root(&p, &c, &a, &err);
        assert_int_equal(r < 0, rows[i].error != NULL);
        if (rows[i].error)
            assert_string_equal(
                str_cstr(&a, err.msg),
                str_cstr(&a,
                         arena_printf(&a, "%s (pod: \"p_n(u-1)\", container: c)", rows[i].error)));
    }
    arena_done(&a);
}

/* ---- Amounts ---- */

static void test_oom(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t score; /* of the first container */
    } rows[] = {
        { "\"containers\":[{\"name\":\"c\"}]", 1000 },
        { "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":"
          "\"1Gi\"},\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]",
          -997 },
        { "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"memory\":\"1Gi\"}}}]",
          875 },
        { "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]", 999 },
        { "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"memory\":\"8Gi\"}}}]",
          3 },
        { "\"containers\":[{\"name\":\"c\"},{\"name\":\"d\"}],\"resources\":{\"requests\":{"
          "\"memory\":"
          "\"2Gi\"}}",
          875 },
        { "\"containers\":[{\"name\":\"c\"}],\"priority\":2000001000,\"priorityClassName\":"
          "\"system-"
          "node-critical\"",
          -997 },
    };
    struct arena a;
    arena_init(&a);
    struct node_facts node = facts(&a, STR("/none"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value pod = suite_json(
            &a, str_cstr(&a, arena_printf(&a, "{" META ",\"spec\":{%s}}", rows[i].spec)));
        const struct value *c = value_at(value_dig(&pod, "spec", "containers"), 0);
        assert_int_equal(container_oom_score(&a, &node, &pod, c), rows[i].score);
    }
    assert_int_equal(cpu_shares(0), 2);
    assert_int_equal(cpu_shares(100), 102);
    assert_int_equal(cpu_shares(INT64_MAX), 262144);
    assert_int_equal(cpu_quota(0), 0);
    assert_int_equal(cpu_quota(5), 1000);
    assert_int_equal(cpu_quota(1500), 150000);
    assert_int_equal(cpu_weight(2), 1);
    assert_int_equal(cpu_weight(262144), 10000);
    arena_done(&a);
}

/* ---- Whole configurations ---- */

static void accept(struct arena *a, const char *message, const struct value *v)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(a);
    const struct message_type *m = message_find(str_of(message));
    assert_non_null(m);
    if (message_write(&out, m, v, &err) < 0)
        fail_msg("%s: " STR_FMT " in " STR_FMT, message, STR_ARG(err.msg),
                 STR_ARG(suite_text(a, v)));
}

#define RICH                                                                                   \
    "\"hostNetwork\":false,\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"None\","       \
    "\"overhead\":{\"cpu\":\"100m\",\"memory\":\"1Mi\"},\"hostAliases\":[{\"ip\":"             \
    "\"192.0.2.7\",\"hostnames\":[\"a\",\"b\"]}],\"securityContext\":{\"runAsUser\":5,"        \
    "\"fsGroup\":6,\"supplementalGroups\":[7],\"supplementalGroupsPolicy\":\"Merge\","         \
    "\"sysctls\":[{\"name\":\"net.ipv4.tcp_syncookies\",\"value\":\"1\"}],"                    \
    "\"seLinuxOptions\":{\"level\":\"s0\"},\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}," \
    "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"containers\":[{\"name\":\"c\","          \
    "\"image\":\"img\",\"command\":[\"echo\",\"$(A)\"],\"args\":[\"$$(A)\"],"                  \
    "\"workingDir\":\"/w\",\"stdin\":true,\"tty\":true,\"terminationMessagePath\":"            \
    "\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\",\"env\":[{\"name\":"       \
    "\"A\",\"value\":\"x\"}],\"lifecycle\":{\"stopSignal\":\"SIGRTMIN+3\",\"preStop\":"        \
    "{\"exec\":{\"command\":[\"a\"]}}},\"ports\":[{\"containerPort\":80,\"hostPort\":8080,"    \
    "\"protocol\":\"UDP\"},{\"containerPort\":80,\"hostPort\":8080,\"protocol\":\"UDP\"}],"    \
    "\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"64Mi\"},\"requests\":{\"cpu\":"  \
    "\"250m\"}},\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"data\",\"readOnly\":true,"   \
    "\"mountPropagation\":\"HostToContainer\"}],\"securityContext\":{\"privileged\":true,"     \
    "\"capabilities\":{\"add\":[\"NET_ADMIN\"],\"drop\":[\"ALL\"]},"                           \
    "\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true}}]"

static void check_container(struct arena *a, const struct pod_place *p, struct str folder)
{
    struct err err = ERR_INIT(a);
    struct value v, image = suite_json(a, "{\"uid\":0}");
    const struct container_case c = { .spec = value_at(value_dig(p->pod, "spec", "containers"), 0),
                                      .attempt = 2,
                                      .image = STR("sha256:1"),
                                      .image_status = &image };
    assert_int_equal(pod_container_config(p, &c, a, &v, &err), 0);
    accept(a, "runtime.v1.ContainerConfig", &v);
    assert_string_equal(str_cstr(a, suite_text(a, value_get(&v, STR("command")))),
                        "[\"echo\",\"x\"]");
    assert_string_equal(str_cstr(a, suite_text(a, value_get(&v, STR("args")))), "[\"$(A)\"]");
    assert_string_equal(str_cstr(a, value_text(&v, "stop_signal")), "SIGNAL_SIGRTMINPLUS3");
    assert_string_equal(str_cstr(a, value_text(&v, "log_path")), "c/2.log");
    const struct value *mounts = value_get(&v, STR("mounts"));
    assert_int_equal(mounts->n, 3);
    const struct value *data = value_at(mounts, 0), *hosts = value_at(mounts, 1),
                       *words = value_at(mounts, 2);
    assert_string_equal(str_cstr(a, value_text(data, "container_path")), "/data");
    assert_true(value_is_true(value_get(data, STR("readonly"))));
    assert_string_equal(str_cstr(a, value_text(data, "propagation")),
                        "PROPAGATION_HOST_TO_CONTAINER");
    assert_string_equal(str_cstr(a, value_text(hosts, "container_path")), "/etc/hosts");
    assert_string_equal(str_cstr(a, value_text(words, "container_path")), "/dev/termination-log");
    assert_string_equal(str_cstr(a, suite_read(a, folder, "pods/u-1/etc-hosts")),
                        "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
                        "::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n"
                        "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\n"
                        "fe00::2\tip6-allrouters\n10.1.0.2\tp\n\n"
                        "# Entries added by HostAliases.\n192.0.2.7\ta\tb\n");
    const struct value *resources = value_dig(&v, "linux", "resources");
    int64_t n;
    assert_true(value_to_int(value_get(resources, STR("cpu_quota")), &n) && n == 50000);
    assert_true(value_to_int(value_get(resources, STR("cpu_shares")), &n) && n == 256);
    assert_true(value_to_int(value_get(resources, STR("memory_limit_in_bytes")), &n) &&
                n == 64 << 20);
    const struct value *security = value_dig(&v, "linux", "security_context");
    assert_true(value_is_true(value_get(security, STR("no_new_privs"))));
    assert_string_equal(str_cstr(a, suite_text(a, value_get(security, STR("supplemental_groups")))),
                        "[6,7]");
    assert_string_equal(str_cstr(a, value_str(value_dig(security, "namespace_options", "pid"))),
                        "CONTAINER");
    assert_true(value_to_int(value_get(security, STR("run_as_user")), &n) && n == 5);
}

static void check_sandbox(struct arena *a, const struct pod_place *p)
{
    struct err err = ERR_INIT(a);
    struct value v;
    assert_int_equal(pod_sandbox_config(p, 1, a, &v, &err), 0);
    accept(a, "runtime.v1.PodSandboxConfig", &v);
    assert_string_equal(str_cstr(a, suite_text(a, value_get(&v, STR("port_mappings")))),
                        "[{\"protocol\":\"UDP\",\"container_port\":80,\"host_port\":8080}]");
    assert_string_equal(str_cstr(a, value_text(&v, "hostname")), "p");
    assert_string_equal(str_cstr(a, value_str(value_dig(&v, "linux", "cgroup_parent"))), "/g");
    assert_true(value_is_true(value_dig(&v, "linux", "security_context", "privileged")));
    assert_string_equal(
        str_cstr(a, value_str(value_dig(&v, "linux", "sysctls", "net.ipv4.tcp_syncookies"))), "1");
    assert_string_equal(str_cstr(a, value_str(value_dig(&v, "labels", "app"))), "x");
}

static void test_whole(void **state)
{
    (void)state;
    static const struct str ips[] = { STR("10.1.0.2") };
    struct arena a;
    arena_init(&a);
    struct str folder = suite_folder(&a);
    struct suite_world world = { .world = suite_json(&a, WORLD) };
    struct pod_objects objects = suite_objects(&world);
    struct node_facts node = facts(&a, folder);
    struct value pod = suite_json(&a, POD(RICH));
    const struct pod_volume volumes[] = { { .name = STR("v"), .path = STR("/v") } };
    const struct pod_place p = { .node = &node,
                                 .objects = &objects,
                                 .pod = &pod,
                                 .pod_ips = ips,
                                 .n_pod_ips = 1,
                                 .volumes = volumes,
                                 .n_volumes = 1,
                                 .cgroup_parent = STR("/g") };
    check_container(&a, &p, folder);
    check_sandbox(&a, &p);
    suite_folder_remove(&a, folder);
    arena_done(&a);
}

static void test_own_users(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str folder = suite_folder(&a);
    struct node_facts node = facts(&a, folder);
    struct value v, pod = suite_json(&a, POD("\"hostUsers\":false,\"containers\":[]"));
    const struct pod_place p = { .node = &node, .pod = &pod };
    struct err err = ERR_INIT(&a);
    assert_true(sandbox_security(&p, &a, &v, &err) < 0);
    assert_string_equal(
        str_cstr(&a, err.msg),
        "can't set `spec.hostUsers: false`, runtime does not support user namespaces");
    err_clear(&err);
    node.runtime_has_userns = true;
    suite_write(&a, folder, "pods/other/userns",
                "{\"uidMappings\":[{\"hostId\":65536,\"containerId\":0,\"length\":65536}]}");
    suite_write(&a, folder, "pods/u-1/x", "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sandbox_security(&p, &a, &v, &err), 0);
        accept(&a, "runtime.v1.LinuxSandboxSecurityContext", &v);
        assert_string_equal(str_cstr(&a, suite_text(&a, value_dig(&v, "namespace_options",
                                                                  "userns_options", "uids"))),
                            "[{\"host_id\":131072,\"length\":65536}]");
    }
    suite_folder_remove(&a, folder);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_env),       cmocka_unit_test(test_host_name),
        cmocka_unit_test(test_dns),       cmocka_unit_test(test_root),
        cmocka_unit_test(test_oom),       cmocka_unit_test(test_whole),
        cmocka_unit_test(test_own_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
