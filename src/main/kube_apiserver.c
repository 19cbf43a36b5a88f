#include "main/kube_apiserver.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "api/go/goduration.h"
#include "api/ip.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "main/command.h"
#include "main/program.h"
#include "server/version.h"
#include "base/banned.h"

/* What becomes of a flag. */
enum fate {
    PASS,     /* `up` has it under the same name */
    PASS_SET, /* and there it has no value: it is given or not */
    RENAME,   /* `up` has it under the name in `to` */
    TIME,     /* the same; upstream's times have more forms than those of `up` */
    KEEP,     /* read below */
    IDLE,     /* changes nothing here */
};
enum form { VALUE, BOOL };
/* The values of KEEP. */
enum kept {
    NONE,
    BIND,
    PORT,
    CERT_DIR,
    CERT,
    KEY,
    ETCD,
    ETCD_CA,
    ETCD_CERT,
    ETCD_KEY,
    ETCD_PREFIX,
    PLUGINS_OFF,
    LEVEL,
    RANGE,
    N_KEPT
};

struct flag {
    const char *name;
    enum fate fate;
    enum form form;
    const char *to;
    enum kept kept;
};

#define PASSED(name)                  \
    {                                 \
        name, PASS, VALUE, NULL, NONE \
    }
#define IS_IDLE(name)                 \
    {                                 \
        name, IDLE, VALUE, NULL, NONE \
    }
#define IDLE_BOOL(name)              \
    {                                \
        name, IDLE, BOOL, NULL, NONE \
    }

static const struct flag flags[] = {
    { "bind-address", KEEP, VALUE, NULL, BIND },
    { "secure-port", KEEP, VALUE, NULL, PORT },
    { "cert-dir", KEEP, VALUE, NULL, CERT_DIR },
    { "tls-cert-file", KEEP, VALUE, NULL, CERT },
    { "tls-private-key-file", KEEP, VALUE, NULL, KEY },
    { "etcd-servers", KEEP, VALUE, NULL, ETCD },
    { "etcd-cafile", KEEP, VALUE, NULL, ETCD_CA },
    { "etcd-certfile", KEEP, VALUE, NULL, ETCD_CERT },
    { "etcd-keyfile", KEEP, VALUE, NULL, ETCD_KEY },
    { "etcd-prefix", KEEP, VALUE, NULL, ETCD_PREFIX },
    { "disable-admission-plugins", KEEP, VALUE, NULL, PLUGINS_OFF },
    { "v", KEEP, VALUE, NULL, LEVEL },
    { "service-cluster-ip-range", KEEP, VALUE, NULL, RANGE },
    { "logging-format", RENAME, VALUE, "log-format", NONE },
    { "event-ttl", TIME, VALUE, NULL, NONE },
    { "anonymous-auth", PASS, BOOL, NULL, NONE },
    { "enable-bootstrap-token-auth", PASS_SET, BOOL, NULL, NONE },
    { "enable-priority-and-fairness", PASS, BOOL, NULL, NONE },
    { "encryption-provider-config-automatic-reload", PASS, BOOL, NULL, NONE },
    { "service-account-extend-token-expiration", PASS, BOOL, NULL, NONE },
    { "audit-log-batch-throttle-enable", PASS, BOOL, NULL, NONE },
    { "audit-log-truncate-enabled", PASS, BOOL, NULL, NONE },
    { "audit-webhook-batch-throttle-enable", PASS, BOOL, NULL, NONE },
    { "audit-webhook-truncate-enabled", PASS, BOOL, NULL, NONE },
    PASSED("admission-control-config-file"),
    PASSED("advertise-address"),
    PASSED("api-audiences"),
    PASSED("audit-log-batch-buffer-size"),
    PASSED("audit-log-batch-max-size"),
    PASSED("audit-log-batch-max-wait"),
    PASSED("audit-log-batch-throttle-burst"),
    PASSED("audit-log-batch-throttle-qps"),
    PASSED("audit-log-format"),
    PASSED("audit-log-maxage"),
    PASSED("audit-log-maxbackup"),
    PASSED("audit-log-maxsize"),
    PASSED("audit-log-mode"),
    PASSED("audit-log-path"),
    PASSED("audit-log-truncate-max-batch-size"),
    PASSED("audit-log-truncate-max-event-size"),
    PASSED("audit-policy-file"),
    PASSED("audit-webhook-batch-buffer-size"),
    PASSED("audit-webhook-batch-max-size"),
    PASSED("audit-webhook-batch-max-wait"),
    PASSED("audit-webhook-batch-throttle-burst"),
    PASSED("audit-webhook-batch-throttle-qps"),
    PASSED("audit-webhook-config-file"),
    PASSED("audit-webhook-initial-backoff"),
    PASSED("audit-webhook-mode"),
    PASSED("audit-webhook-truncate-max-batch-size"),
    PASSED("audit-webhook-truncate-max-event-size"),
    PASSED("authentication-config"),
    PASSED("authentication-token-webhook-cache-ttl"),
    PASSED("authentication-token-webhook-config-file"),
    PASSED("authentication-token-webhook-version"),
    PASSED("authorization-config"),
    PASSED("authorization-mode"),
    PASSED("authorization-webhook-cache-authorized-ttl"),
    PASSED("authorization-webhook-cache-unauthorized-ttl"),
    PASSED("authorization-webhook-config-file"),
    PASSED("authorization-webhook-version"),
    PASSED("client-ca-file"),
    PASSED("default-not-ready-toleration-seconds"),
    PASSED("default-unreachable-toleration-seconds"),
    PASSED("enable-admission-plugins"),
    PASSED("encryption-provider-config"),
    PASSED("kubelet-certificate-authority"),
    PASSED("kubelet-client-certificate"),
    PASSED("kubelet-client-key"),
    PASSED("kubelet-preferred-address-types"),
    PASSED("max-mutating-requests-inflight"),
    PASSED("max-requests-inflight"),
    PASSED("oidc-ca-file"),
    PASSED("oidc-client-id"),
    PASSED("oidc-groups-claim"),
    PASSED("oidc-groups-prefix"),
    PASSED("oidc-issuer-url"),
    PASSED("oidc-required-claim"),
    PASSED("oidc-signing-algs"),
    PASSED("oidc-username-claim"),
    PASSED("oidc-username-prefix"),
    PASSED("proxy-client-cert-file"),
    PASSED("proxy-client-key-file"),
    PASSED("requestheader-allowed-names"),
    PASSED("requestheader-client-ca-file"),
    PASSED("requestheader-extra-headers-prefix"),
    PASSED("requestheader-group-headers"),
    PASSED("requestheader-uid-headers"),
    PASSED("requestheader-username-headers"),
    PASSED("service-account-issuer"),
    PASSED("service-account-jwks-uri"),
    PASSED("service-account-key-file"),
    PASSED("service-account-max-token-expiration"),
    PASSED("service-account-signing-key-file"),
    PASSED("service-node-port-range"),
    PASSED("token-auth-file"),
    IDLE_BOOL("aggregator-reject-forwarding-redirect"),
    IDLE_BOOL("allow-privileged"),
    IDLE_BOOL("audit-log-compress"),
    IDLE_BOOL("contention-profiling"),
    IDLE_BOOL("enable-aggregator-routing"),
    IDLE_BOOL("enable-garbage-collector"),
    IDLE_BOOL("enable-logs-handler"),
    IDLE_BOOL("logtostderr"),
    IDLE_BOOL("permit-address-sharing"),
    IDLE_BOOL("permit-port-sharing"),
    IDLE_BOOL("profiling"),
    IDLE_BOOL("service-account-lookup"),
    IDLE_BOOL("shutdown-send-retry-after"),
    IDLE_BOOL("watch-cache"),
    IS_IDLE("allow-metric-labels"),
    IS_IDLE("allow-metric-labels-manifest"),
    IS_IDLE("apiserver-count"),
    IS_IDLE("audit-log-version"),
    IS_IDLE("audit-webhook-version"),
    IS_IDLE("cloud-config"),
    IS_IDLE("cloud-provider"),
    IS_IDLE("debug-socket-path"),
    IS_IDLE("default-watch-cache-size"),
    IS_IDLE("delete-collection-workers"),
    IS_IDLE("disabled-metrics"),
    IS_IDLE("emulated-version"),
    IS_IDLE("endpoint-reconciler-type"),
    IS_IDLE("etcd-compaction-interval"),
    IS_IDLE("etcd-count-metric-poll-period"),
    IS_IDLE("etcd-db-metric-poll-interval"),
    IS_IDLE("etcd-healthcheck-timeout"),
    IS_IDLE("etcd-readycheck-timeout"),
    IS_IDLE("etcd-servers-overrides"),
    IS_IDLE("external-hostname"),
    IS_IDLE("feature-gates"),
    IS_IDLE("goaway-chance"),
    IS_IDLE("http2-max-streams-per-connection"),
    IS_IDLE("insecure-port"),
    IS_IDLE("kubelet-port"),
    IS_IDLE("kubelet-read-only-port"),
    IS_IDLE("kubelet-timeout"),
    IS_IDLE("kubernetes-service-node-port"),
    IS_IDLE("lease-reuse-duration-seconds"),
    IS_IDLE("livez-grace-period"),
    IS_IDLE("log-flush-frequency"),
    IS_IDLE("min-request-timeout"),
    IS_IDLE("request-timeout"),
    IS_IDLE("runtime-config"),
    IS_IDLE("show-hidden-metrics-for-version"),
    IS_IDLE("shutdown-delay-duration"),
    IS_IDLE("shutdown-watch-termination-grace-period"),
    IS_IDLE("storage-backend"),
    IS_IDLE("storage-initialization-timeout"),
    IS_IDLE("storage-media-type"),
    IS_IDLE("target-ram-mb"),
    IS_IDLE("vmodule"),
    IS_IDLE("watch-cache-sizes"),
};

struct reader {
    struct arena *arena;
    int argc, at;
    char **argv;
    const char *kept[N_KEPT]; /* the last value counts */
    struct kube_apiserver_line *line;
};

/* ---- What `up` is given ---- */

enum { EXTRA_WORDS = 16 }; /* those that no word of the line stands for */

static void add(struct reader *r, struct str word)
{
    assert(r->line->argc < r->argc + EXTRA_WORDS);
    r->line->argv[r->line->argc++] = (char *)word.p;
}

static void add_value(struct reader *r, const char *name, const char *value)
{
    add(r, arena_printf(r->arena, "--%s=%s", name, value));
}

static int refuse(const char *name, const char *value, const char *wanted)
{
    fprintf(stderr, "sampan kube-apiserver: --%s must be %s, not '%s'\n", name, wanted, value);
    return EXIT_MISUSED + 1;
}

static int take_bool(struct reader *r, const struct flag *f, const char *value)
{
    bool is_true;
    if (!program_bool(value, &is_true))
        return refuse(f->name, value, "true or false");
    if (f->fate == PASS)
        add_value(r, f->name, is_true ? "true" : "false");
    else if (f->fate == PASS_SET && is_true)
        add(r, arena_printf(r->arena, "--%s", f->name));
    return 0;
}

static int take_time(struct reader *r, const struct flag *f, const char *value)
{
    int64_t ns;
    if (goduration_parse(str_of(value), &ns, NULL) < 0 || ns < NS_PER_SEC)
        return refuse(f->name, value, "a time like 1h");
    add_value(r, f->name, arena_printf(r->arena, "%llds", (long long)(ns / NS_PER_SEC)).p);
    return 0;
}

static int take(struct reader *r, const struct flag *f, const char *value)
{
    if (f->form == BOOL)
        return take_bool(r, f, value);
    switch (f->fate) {
    case PASS:
    case PASS_SET:
        add_value(r, f->name, value);
        return 0;
    case RENAME:
        add_value(r, f->to, value);
        return 0;
    case TIME:
        return take_time(r, f, value);
    case KEEP:
        r->kept[f->kept] = value;
        return 0;
    case IDLE:
        break;
    }
    return 0;
}

/* ---- Reading the line ---- */

static const struct flag *find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_eq(name, str_of(flags[i].name)))
            return &flags[i];
    return NULL;
}

/* The word behind it, if that is no flag: a value of something that we do not know. */
static void skip_unknown(struct reader *r, struct str name, bool has_value)
{
    struct str *all = &r->line->unknown;
    *all = arena_printf(r->arena, STR_FMT "%s--" STR_FMT, STR_ARG(*all), all->n ? ", " : "",
                        STR_ARG(name));
    if (!has_value && r->at < r->argc && r->argv[r->at][0] != '-')
        r->at++;
}

static int take_word(struct reader *r, struct str word)
{
    struct str name = str_cut(&word, '=');
    const char *value = word.p; /* what is left ends where the argument does */
    const struct flag *f = find(name);
    if (!f) {
        skip_unknown(r, name, value);
        return 0;
    }
    if (!value && f->form == VALUE) {
        if (r->at == r->argc) {
            fprintf(stderr, "sampan kube-apiserver: --%s needs a value\n", f->name);
            return EXIT_MISUSED + 1;
        }
        value = r->argv[r->at++];
    }
    return take(r, f, value);
}

static int print_help(void)
{
    puts("Usage: kube-apiserver [FLAG]...\n"
         "Sampan's API server with kube-apiserver's flags; see docs/testing.md.\n");
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, "insecure-port") != 0) /* who finds it here would use it */
            printf("      --%s%s\n", flags[i].name,
                   flags[i].fate == IDLE ? "  (means nothing here)" : "");
    puts(
        "\nSAMPAN_CONTROLLERS=1 in the environment runs the controllers, too; a list of names some "
        "of them.\nSAMPAN_STORE=memory or =lmdb keeps objects here, in place of --etcd-servers.");
    return 1;
}

static int take_argument(struct reader *r)
{
    struct str word = str_of(r->argv[r->at++]);
    if (!word.n)
        return 0; /* older versions of envtest give one */
    if (str_eq(word, STR("-h")) || str_eq(word, STR("--help")))
        return print_help();
    if (str_eq(word, STR("--version")) || str_starts(word, STR("--version="))) {
        puts("Kubernetes " SAMPAN_GIT_VERSION);
        return 1;
    }
    if (str_starts(word, STR("--")) && word.n > 2)
        return take_word(r, str_skip(word, 2));
    if (str_starts(word, STR("-v")))
        return take_word(r, str_skip(word, 1));
    return command_unexpected("kube-apiserver", word.p) + 1;
}

/* ---- What the flags say together ---- */

/* Where objects are: the only place that decides it. */
static void choose_store(struct reader *r, const struct kube_apiserver_wishes *wishes)
{
    static const struct {
        const char *name;
        enum kept kept;
    } etcd[] = { { "etcd-servers", ETCD },
                 { "etcd-cafile", ETCD_CA },
                 { "etcd-certfile", ETCD_CERT },
                 { "etcd-keyfile", ETCD_KEY },
                 { "etcd-prefix", ETCD_PREFIX } };
    if (wishes->store && r->kept[ETCD])
        r->line->unused_etcd = r->kept[ETCD];
    if (wishes->store || !r->kept[ETCD]) {
        add_value(r, "store", wishes->store ? wishes->store : "lmdb");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(etcd); i++)
        if (r->kept[etcd[i].kept])
            add_value(r, etcd[i].name, r->kept[etcd[i].kept]);
}

static void choose_controllers(struct reader *r, const char *wanted)
{
    add(r, STR("--scheduler=false"));
    if (!wanted || !*wanted || strcmp(wanted, "0") == 0 || strcmp(wanted, "false") == 0)
        add(r, STR("--api-only"));
    else if (strcmp(wanted, "1") != 0 && strcmp(wanted, "true") != 0)
        add_value(r, "controllers", wanted);
}

static bool names_plugin(const char *list, struct str plugin)
{
    struct str rest = str_of(list ? list : "");
    while (rest.n)
        if (str_eq(str_trim(str_cut(&rest, ',')), plugin))
            return true;
    return false;
}

/* Upstream has it on. */
static void choose_plugins(struct reader *r)
{
    const char *off = r->kept[PLUGINS_OFF];
    if (off && *off)
        add_value(r, "disable-admission-plugins", off);
    if (!names_plugin(off, STR("ServiceAccount")))
        add(r, STR("--enable-admission-plugins=ServiceAccount"));
}

static int choose_address(struct reader *r)
{
    const char *bind = r->kept[BIND] ? r->kept[BIND] : "0.0.0.0";
    const char *port = r->kept[PORT] ? r->kept[PORT] : "6443";
    struct ip ip;
    uint64_t n;
    if (!ip_parse(str_of(bind), &ip))
        return refuse("bind-address", bind, "an IP address");
    if (!str_to_u64(str_of(port), &n) || n < 1 || n > 65535)
        return refuse("secure-port", port, "between 1 and 65535");
    bool is_v6 = strchr(bind, ':');
    add_value(
        r, "listen",
        arena_printf(r->arena, "%s%s%s:%s", is_v6 ? "[" : "", bind, is_v6 ? "]" : "", port).p);
    return 0;
}

/* The folder of certificates has those of the server, if somebody has put them there. */
static void choose_certificate(struct reader *r)
{
    const char *dir = r->kept[CERT_DIR] ? r->kept[CERT_DIR] : "/var/run/kubernetes";
    const char *cert = r->kept[CERT], *key = r->kept[KEY];
    if (!cert && !key) {
        cert = arena_printf(r->arena, "%s/apiserver.crt", dir).p;
        key = arena_printf(r->arena, "%s/apiserver.key", dir).p;
        if (access(cert, F_OK) != 0 || access(key, F_OK) != 0)
            cert = key = NULL;
    }
    if (cert)
        add_value(r, "tls-cert-file", cert);
    if (key)
        add_value(r, "tls-private-key-file", key);
    add_value(r, "data-dir", arena_printf(r->arena, "%s/sampan", dir).p);
}

static void choose_level(struct reader *r)
{
    enum { VERBOSE_FROM = 4 };
    uint64_t n;
    if (r->kept[LEVEL] && str_to_u64(str_of(r->kept[LEVEL]), &n) && n >= VERBOSE_FROM)
        add(r, STR("--verbose"));
}

int kube_apiserver_parse(struct arena *a, int argc, char **argv,
                         const struct kube_apiserver_wishes *wishes,
                         struct kube_apiserver_line *ret)
{
    *ret = (struct kube_apiserver_line){ .argv = arena_array(a, char *,
                                                             (size_t)argc + EXTRA_WORDS + 1) };
    struct reader r = { .arena = a, .argc = argc, .argv = argv, .line = ret };
    ret->argv[ret->argc++] = argv[r.at++];
    while (r.at < argc) {
        int end = take_argument(&r);
        if (end)
            return end;
    }
    add_value(&r, "service-cidr", r.kept[RANGE] ? r.kept[RANGE] : "10.0.0.0/24");
    choose_store(&r, wishes);
    choose_controllers(&r, wishes->controllers);
    choose_plugins(&r);
    choose_certificate(&r);
    choose_level(&r);
    return choose_address(&r);
}
