#include "node/config/node_config.h"

#include "api/go/goduration.h"
#include "api/quantity.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "base/banned.h"

enum { NS_PER_MS = 1000000 };

struct node_config node_config_usual(void)
{
    return (struct node_config){
        .address = STR("0.0.0.0"),
        .authorization = STR("Webhook"),
        .serves = true,
        .webhook = true,
        .runtime_endpoint = STR("unix:///run/containerd/containerd.sock"),
        .node = { .cgroup_driver = STR("cgroupfs") },
    };
}

/* ---- What a field may be ---- */

enum row_kind {
    ROW_TEXT,       /* struct str */
    ROW_TEXTS,      /* const struct str *, and the number behind it */
    ROW_BOOL,       /* bool */
    ROW_NOT,        /* bool, the other way round */
    ROW_COUNT,      /* unsigned */
    ROW_NUMBER,     /* int */
    ROW_TIME,       /* int64_t, milliseconds */
    ROW_SECONDS,    /* the same, of a number of seconds that a lease lasts: a quarter of it */
    ROW_RATE,       /* double; 0 is no bound, which is negative here */
    ROW_BYTES,      /* uint64_t, a quantity */
    ROW_PAIRS,      /* struct str: "a=1,b=2" */
    ROW_THRESHOLDS, /* evictionHard: both forms of it */
    ROW_TAINTS,
};

struct row {
    const char *path[4]; /* names down to the field */
    enum row_kind kind;
    size_t at;
};

#define AT(member) offsetof(struct node_config, member)

static const struct row rows[] = {
    { { "address" }, ROW_TEXT, AT(address) },
    { { "port" }, ROW_COUNT, AT(node.port) },
    { { "enableServer" }, ROW_BOOL, AT(serves) },
    { { "tlsCertFile" }, ROW_TEXT, AT(tls_cert_file) },
    { { "tlsPrivateKeyFile" }, ROW_TEXT, AT(tls_key_file) },
    { { "rotateCertificates" }, ROW_BOOL, AT(rotates_client) },
    { { "serverTLSBootstrap" }, ROW_BOOL, AT(asks_for_serving) },
    { { "authentication", "x509", "clientCAFile" }, ROW_TEXT, AT(client_ca_file) },
    { { "authentication", "anonymous", "enabled" }, ROW_BOOL, AT(anonymous) },
    { { "authentication", "webhook", "enabled" }, ROW_BOOL, AT(webhook) },
    { { "authorization", "mode" }, ROW_TEXT, AT(authorization) },
    { { "staticPodPath" }, ROW_TEXT, AT(agent.manifests) },
    { { "syncFrequency" }, ROW_TIME, AT(agent.sync_ms) },
    { { "fileCheckFrequency" }, ROW_TIME, AT(agent.file_check_ms) },
    { { "registryPullQPS" }, ROW_RATE, AT(agent.registry_qps) },
    { { "registryBurst" }, ROW_COUNT, AT(agent.registry_burst) },
    { { "serializeImagePulls" }, ROW_NOT, AT(agent.parallel_pulls) },
    { { "imageGCHighThresholdPercent" }, ROW_COUNT, AT(agent.image_gc_high) },
    { { "imageGCLowThresholdPercent" }, ROW_COUNT, AT(agent.image_gc_low) },
    { { "imageMinimumGCAge" }, ROW_TIME, AT(agent.image_min_age_ms) },
    { { "containerLogMaxSize" }, ROW_BYTES, AT(agent.log_max_bytes) },
    { { "containerLogMaxFiles" }, ROW_COUNT, AT(agent.log_max_files) },
    { { "containerLogMonitorInterval" }, ROW_TIME, AT(agent.log_check_ms) },
    { { "crashLoopBackOff", "maxContainerRestartPeriod" },
      ROW_TIME,
      AT(agent.restart_back_off_max_ms) },
    { { "evictionHard" }, ROW_THRESHOLDS, 0 },
    { { "podLogsDir" }, ROW_TEXT, AT(node.log_dir) },
    { { "clusterDomain" }, ROW_TEXT, AT(node.cluster_domain) },
    { { "clusterDNS" }, ROW_TEXTS, AT(node.cluster_dns) },
    { { "resolvConf" }, ROW_TEXT, AT(node.resolv_conf) },
    { { "cgroupRoot" }, ROW_TEXT, AT(node.cgroup_root) },
    { { "cgroupDriver" }, ROW_TEXT, AT(node.cgroup_driver) },
    { { "cgroupsPerQOS" }, ROW_NOT, AT(node.flat_cgroups) },
    { { "maxPods" }, ROW_COUNT, AT(node.max_pods) },
    { { "podsPerCore" }, ROW_COUNT, AT(node.pods_per_core) },
    { { "nodeStatusMaxImages" }, ROW_NUMBER, AT(node.max_images) },
    { { "nodeStatusUpdateFrequency" }, ROW_TIME, AT(node.status_ms) },
    { { "nodeStatusReportFrequency" }, ROW_TIME, AT(node.report_ms) },
    { { "nodeLeaseDurationSeconds" }, ROW_SECONDS, AT(node.lease_ms) },
    { { "kubeReserved" }, ROW_PAIRS, AT(node.kube_reserved) },
    { { "systemReserved" }, ROW_PAIRS, AT(node.system_reserved) },
    { { "allowedUnsafeSysctls" }, ROW_TEXTS, AT(node.allowed_sysctls) },
    { { "providerID" }, ROW_TEXT, AT(node.provider_id) },
    { { "registerNode" }, ROW_NOT, AT(node.adopts_only) },
    { { "registerWithTaints" }, ROW_TAINTS, AT(node.taints) },
    { { "containerRuntimeEndpoint" }, ROW_TEXT, AT(runtime_endpoint) },
};

/* What upstream knows beside these. */
static const char *const others[] = {
    "maxParallelImagePulls",
    "eventRecordQPS",
    "eventBurst",
    "evictionPressureTransitionPeriod",
    "httpCheckFrequency",
    "staticPodURL",
    "staticPodURLHeader",
    "readOnlyPort",
    "tlsCipherSuites",
    "tlsCurvePreferences",
    "tlsMinVersion",
    "imagePullCredentialsVerificationPolicy",
    "preloadedImagesVerificationAllowlist",
    "enableDebuggingHandlers",
    "enableContentionProfiling",
    "healthzPort",
    "healthzBindAddress",
    "oomScoreAdj",
    "streamingConnectionIdleTimeout",
    "imageMaximumGCAge",
    "volumeStatsAggPeriod",
    "kubeletCgroups",
    "systemCgroups",
    "cpuManagerPolicy",
    "singleProcessOOMKill",
    "cpuManagerPolicyOptions",
    "cpuManagerReconcilePeriod",
    "memoryManagerPolicy",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "topologyManagerPolicyOptions",
    "qosReserved",
    "runtimeRequestTimeout",
    "hairpinMode",
    "podCIDR",
    "podPidsLimit",
    "runOnce",
    "cpuCFSQuota",
    "cpuCFSQuotaPeriod",
    "maxOpenFiles",
    "contentType",
    "kubeAPIQPS",
    "kubeAPIBurst",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "evictionMaxPodGracePeriod",
    "evictionMinimumReclaim",
    "mergeDefaultEvictionSettings",
    "enableControllerAttachDetach",
    "protectKernelDefaults",
    "makeIPTablesUtilChains",
    "iptablesMasqueradeBit",
    "iptablesDropBit",
    "featureGates",
    "failSwapOn",
    "memorySwap",
    "containerLogMaxWorkers",
    "configMapAndSecretChangeDetectionStrategy",
    "reservedSystemCPUs",
    "showHiddenMetricsForVersion",
    "systemReservedCgroup",
    "kubeReservedCgroup",
    "enforceNodeAllocatable",
    "defaultPodSysctls",
    "volumePluginDir",
    "kernelMemcgNotification",
    "logging",
    "enableSystemLogHandler",
    "enableSystemLogQuery",
    "shutdownGracePeriod",
    "shutdownGracePeriodCriticalPods",
    "shutdownGracePeriodByPodPriority",
    "reservedMemory",
    "enableProfilingHandler",
    "enableDebugFlagsHandler",
    "seccompDefault",
    "memoryThrottlingFactor",
    "memoryReservationPolicy",
    "tracing",
    "localStorageCapacityIsolation",
    "imageServiceEndpoint",
    "failCgroupV1",
    "userNamespaces",
};

/* ---- Reading one ---- */

struct reader {
    struct arena *arena;
    struct node_config *config;
    struct err *err;
};

static int wrong(struct reader *r, const struct row *row, const char *wanted)
{
    autobuf path = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(row->path) && row->path[i]; i++)
        buf_printf(&path, "%s%s", i ? "." : "", row->path[i]);
    return err_set(r->err, ERR_INVALID, "invalid configuration: " STR_FMT " must be %s",
                   STR_ARG(buf_str(&path)), wanted);
}

static int read_texts(struct reader *r, const struct row *row, const struct value *v)
{
    struct texts {
        const struct str *items;
        size_t n;
    } *ret = (struct texts *)((char *)r->config + row->at);
    if (!value_is(v, VALUE_ARRAY))
        return wrong(r, row, "a list");
    struct str *all = arena_array(r->arena, struct str, v->n + 1);
    size_t n = 0;
    value_each_item (item, v) {
        if (!value_is(item, VALUE_STRING))
            return wrong(r, row, "a list of texts");
        all[n++] = value_str(item);
    }
    *ret = (struct texts){ all, n };
    return 0;
}

/* As flags have them: "key=value:Effect". */
static int read_taints(struct reader *r, const struct row *row, const struct value *v)
{
    if (!value_is(v, VALUE_ARRAY))
        return wrong(r, row, "a list");
    struct str *all = arena_array(r->arena, struct str, v->n + 1);
    size_t n = 0;
    value_each_item (item, v)
        all[n++] = arena_printf(
            r->arena, STR_FMT "=" STR_FMT ":" STR_FMT, STR_ARG(value_text(item, "key")),
            STR_ARG(value_text(item, "value")), STR_ARG(value_text(item, "effect")));
    r->config->node.taints = all;
    r->config->node.n_taints = n;
    return 0;
}

static int read_pairs(struct reader *r, const struct row *row, const struct value *v,
                      struct str *ret)
{
    autobuf text = { 0 };
    if (!value_is(v, VALUE_OBJECT))
        return wrong(r, row, "an object");
    value_each_field (f, v) {
        if (!value_is(&f->val, VALUE_STRING))
            return wrong(r, row, "an object of texts");
        buf_printf(&text, "%s" STR_FMT "=" STR_FMT, text.n ? "," : "", STR_ARG(f->key),
                   STR_ARG(value_str(&f->val)));
    }
    *ret = arena_str(r->arena, buf_str(&text));
    return 0;
}

/* The agent evicts by them, and the Node's allocatable is less by them. */
static int read_thresholds(struct reader *r, const struct row *row, const struct value *v)
{
    int e = read_pairs(r, row, v, &r->config->node.eviction_hard);
    if (e < 0)
        return e;
    struct agent_threshold *all = arena_array(r->arena, struct agent_threshold, v->n + 1);
    size_t n = 0;
    value_each_field (f, v)
        all[n++] = (struct agent_threshold){ f->key, value_str(&f->val) };
    r->config->agent.eviction_hard = all;
    r->config->agent.n_eviction_hard = n;
    return 0;
}

static int read_time(struct reader *r, const struct row *row, const struct value *v, int64_t *ret)
{
    int64_t ns;
    if (!value_is(v, VALUE_STRING) || goduration_parse(value_str(v), &ns, NULL) < 0 || ns < 0)
        return wrong(r, row, "a duration, as \"10s\"");
    *ret = ns / NS_PER_MS;
    return 0;
}

static int read_bytes(struct reader *r, const struct row *row, const struct value *v, uint64_t *ret)
{
    struct str text;
    int64_t n;
    if (!value_is(v, VALUE_STRING) || quantity_canonical(r->arena, value_str(v), &text, NULL) < 0 ||
        !quantity_units(text, false, &n) || n < 0)
        return wrong(r, row, "a quantity, as \"10Mi\"");
    *ret = (uint64_t)n;
    return 0;
}

static int read_integer(struct reader *r, const struct row *row, const struct value *v,
                        int64_t least, int64_t *ret)
{
    if (!value_to_int(v, ret) || *ret < least || *ret > INT32_MAX)
        return wrong(r, row, least < 0 ? "an integer" : "an integer from 0 on");
    return 0;
}

static int read_number(struct reader *r, const struct row *row, const struct value *v)
{
    void *to = (char *)r->config + row->at;
    int64_t n;
    int e = read_integer(r, row, v, row->kind == ROW_NUMBER ? INT32_MIN : 0, &n);
    if (e < 0)
        return e;
    if (row->kind == ROW_COUNT)
        *(unsigned *)to = (unsigned)n;
    else if (row->kind == ROW_NUMBER)
        *(int *)to = (int)n;
    else if (row->kind == ROW_RATE)
        *(double *)to = n ? (double)n : -1;
    else
        *(int64_t *)to = n * 1000 / 4;
    return 0;
}

static int read_row(struct reader *r, const struct row *row, const struct value *v)
{
    void *to = (char *)r->config + row->at;
    switch (row->kind) {
    case ROW_TEXT:
        if (!value_is(v, VALUE_STRING))
            return wrong(r, row, "text");
        *(struct str *)to = value_str(v);
        return 0;
    case ROW_BOOL:
    case ROW_NOT:
        if (!value_is(v, VALUE_BOOL))
            return wrong(r, row, "true or false");
        *(bool *)to = v->b == (row->kind == ROW_BOOL);
        return 0;
    case ROW_TEXTS:
        return read_texts(r, row, v);
    case ROW_TAINTS:
        return read_taints(r, row, v);
    case ROW_PAIRS:
        return read_pairs(r, row, v, to);
    case ROW_THRESHOLDS:
        return read_thresholds(r, row, v);
    case ROW_TIME:
        return read_time(r, row, v, to);
    case ROW_BYTES:
        return read_bytes(r, row, v, to);
    default:
        return read_number(r, row, v);
    }
}

/* ---- The whole ---- */

static bool is_row(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(name, str_of(rows[i].path[0])))
            return true;
    return str_eq(name, STR("kind")) || str_eq(name, STR("apiVersion"));
}

static bool is_other(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_eq(name, str_of(others[i])))
            return true;
    return false;
}

static int check_names(struct reader *r, const struct value *v)
{
    r->config->ignored = arena_array(r->arena, struct str, v->n + 1);
    value_each_field (f, v) {
        if (is_row(f->key))
            continue;
        if (!is_other(f->key))
            return err_set(r->err, ERR_INVALID,
                           "strict decoding error: unknown field \"" STR_FMT "\"", STR_ARG(f->key));
        r->config->ignored[r->config->n_ignored++] = f->key;
    }
    return 0;
}

static int check_kind(struct reader *r, const struct value *v)
{
    if (!value_is(v, VALUE_OBJECT))
        return err_set(r->err, ERR_INVALID, "the configuration is no object");
    const struct str kind = value_text(v, "kind"), version = value_text(v, "apiVersion");
    if (str_eq(kind, STR("KubeletConfiguration")) &&
        str_eq(version, STR("kubelet.config.k8s.io/v1beta1")))
        return 0;
    return err_set(r->err, ERR_INVALID,
                   "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                   STR_ARG(kind), STR_ARG(version));
}

static const struct value *dig(const struct value *v, const struct row *row)
{
    for (size_t i = 0; i < ARRAY_LEN(row->path) && row->path[i]; i++)
        v = value_get(v, str_of(row->path[i]));
    return value_is(v, VALUE_NULL) ? NULL : v;
}

int node_config_read(struct arena *a, struct str yaml, struct node_config *ret, struct err *err)
{
    struct reader r = { a, ret, err };
    struct value v;
    int e = yaml_read(a, yaml, NULL, &v, err);
    if (e < 0)
        return e;
    e = check_kind(&r, &v);
    if (e < 0)
        return e;
    e = check_names(&r, &v);
    if (e < 0)
        return e;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct value *field = dig(&v, &rows[i]);
        e = field ? read_row(&r, &rows[i], field) : 0;
        if (e < 0)
            return e;
    }
    return 0;
}
