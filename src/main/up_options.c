#include "main/up_options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "api/ip.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "main/command.h"
#include "main/controllers_flags.h"
#include "main/up_audit.h"
#include "main/up_webhooks.h"
#include "node/simulated/simulate.h"
#include "server/server.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan up [OPTION]...\n"
    "Starts a control plane and stays in the foreground until SIGTERM or Ctrl-C.\n\n"
    "  --data-dir DIR      where everything is kept (default ~/.local/state/sampan)\n"
    "  --listen ADDR:PORT  where to serve (default 127.0.0.1:6443; port 0 picks a free one)\n"
    "  --advertise-address IP\n"
    "                      where others reach it (default the address of --listen, or that of the\n"
    "                      default route); written to Endpoints and EndpointSlice `kubernetes`\n"
    "  --store ENGINE      lmdb (durable, the default) or memory (lost at the end)\n"
    "%s"
    "  --new-ca            make a new certificate authority if the old one is lost\n"
    "  --certificate-ttl TIME\n"
    "                      how long its certificates last, e.g. 24h (default a year); they are\n"
    "                      renewed before they expire, and on SIGHUP\n"
    "  --kubeconfig FILE   where to write the admin's kubeconfig (default DIR/admin.kubeconfig)\n"
    "  --service-cidr NET  the network of Service addresses (default " SERVICE_CIDRS_DEFAULT ");\n"
    "                      a comma separates two networks, one of each IP family\n"
    "  --service-node-port-range FIRST-LAST\n"
    "                      the node ports of Services (default " SERVICE_PORTS_DEFAULT ")\n"
    "  --event-ttl TIME    how long Events are kept, e.g. 90s, 30m (default 1h)\n"
    "  --continue-ttl TIME how long a list in pages can be continued (default 5m)\n"
    "  --api-versions SET  current (the default): what Kubernetes serves today; or all: also the\n"
    "                      versions that it has dropped since 2016\n"
    "  --managed-fields HOW\n"
    "                      who set which field: shown in answers (the default), or hidden unless "
    "a\n"
    "                      client accepts application/json;managedFields=1\n"
    "%s"
    "  --enable-admission-plugins, --disable-admission-plugins LIST\n"
    "                      which plugins writes pass beside, or instead of, the usual ones\n"
    "                      (ServiceAccount is off with --api-only, unless it is named)\n"
    "  --admission-control-config-file FILE\n"
    "                      what plugins are told: an AdmissionConfiguration, see\n"
    "                      docs/admission.md\n"
    "  --default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds N\n"
    "                      how long pods that do not say stay on a node that is lost (default "
    "300)\n"
    "  --token-auth-file FILE\n"
    "                      static tokens: lines TOKEN,USER,UID[,\"GROUP,...\"]\n"
    "  --anonymous-auth BOOL\n"
    "                      false: requests without credentials are refused (default true)\n"
    "%s"
    "  --tls-cert-file FILE, --tls-private-key-file FILE\n"
    "                      what is shown to clients, with the certificates in between (default a\n"
    "                      certificate of its own authority); read again on SIGHUP\n"
    "  --client-ca-file FILE\n"
    "                      more authorities whose client certificates are believed\n"
    "  --requestheader-client-ca-file FILE\n"
    "                      the authority of front proxies, which speak for others (default\n"
    "                      DIR/pki/front-proxy-ca.crt)\n"
    "  --requestheader-allowed-names LIST\n"
    "                      the proxies' common names (default all; with the default authority\n"
    "                      front-proxy-client)\n"
    "  --proxy-client-cert-file FILE, --proxy-client-key-file FILE\n"
    "                      as whom it speaks for others to extension servers (default a\n"
    "                      certificate of that authority)\n"
    "  --requestheader-username-headers, --requestheader-uid-headers,\n"
    "  --requestheader-group-headers, --requestheader-extra-headers-prefix LIST\n"
    "                      where a proxy says for whom it speaks (default X-Remote-User,\n"
    "                      X-Remote-Uid, X-Remote-Group and X-Remote-Extra-)\n"
    "  --enable-bootstrap-token-auth\n"
    "                      nodes may join by tokens in Secrets of kube-system\n"
    "%s"
    "  --api-only          only the API: nothing makes or starts anything by itself\n"
    "  --controllers LIST  which controllers run: * for all, NAME, or *,-NAME for all but one\n"
    "                      (default *); see sampan-controllers(1) for the names\n"
    "  --scheduler BOOL    false: somebody else gives pods a node (default true)\n"
    "  --simulate-nodes N  so many nodes that pretend to run pods (default 0)\n"
    "  --node MODE         on: this machine runs pods, by its container runtime; auto: if it has "
    "one\n"
    "                      that answers, and then there are no simulated nodes; off (the default)\n"
    "  --node-config FILE  how it does: a KubeletConfiguration, see docs/node.md\n"
    "%s"
    "  --encryption-provider-config FILE\n"
    "                      which resources are encrypted at rest, and how: an\n"
    "                      EncryptionConfiguration, see docs/encryption.md\n"
    "  --encryption-provider-config-automatic-reload[=BOOL]\n"
    "                      FILE is looked at every minute and on SIGHUP, and takes effect\n"
    "                      when it changes (default false)\n"
    "%s"
    "%s"
    "  --enable-priority-and-fairness BOOL\n"
    "                      false: requests do not wait for each other in fair queues; too many at\n"
    "                      once are turned away (default true)\n"
    "  --max-requests-inflight N, --max-mutating-requests-inflight N\n"
    "                      how many reads and how many writes run at once (default 400 and 200);\n"
    "                      with priority and fairness, their sum is shared by all requests\n"
    "  --detach            go to the background once it serves; log to DIR/sampan.log\n"
    "  --log-format FORMAT text (default) or json\n"
    "  --verbose           log details\n";

/* A number and s, m or h. */
static bool read_time(const char *flag, const char *given, int64_t *ret_ns)
{
    struct str s = str_of(given);
    uint64_t n;
    char unit = s.n ? s.p[s.n - 1] : '\0';
    int64_t seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    if (!seconds || !str_to_u64(str_take(s, s.n - 1), &n) || !n || n > 1000000) {
        fprintf(stderr, "sampan up: --%s must be a time like 90s, 30m or 1h, not '%s'\n", flag,
                given);
        return false;
    }
    *ret_ns = (int64_t)n * seconds * NS_PER_SEC;
    return true;
}

/* A flag that is one of two words; `*ret` says whether it is the second. */
static bool is_second(const char *flag, const char *given, const char *first, const char *second,
                      bool *ret)
{
    *ret = strcmp(given, second) == 0;
    if (*ret || strcmp(given, first) == 0)
        return true;
    fprintf(stderr, "sampan up: --%s must be %s or %s, not '%s'\n", flag, first, second, given);
    return false;
}

static bool read_seconds(const char *flag, struct admission_seconds *ret)
{
    ret->is_set = str_to_i64(str_of(optarg), &ret->n);
    if (!ret->is_set)
        fprintf(stderr, "sampan up: --%s must be a number of seconds, not '%s'\n", flag, optarg);
    return ret->is_set;
}

static bool choose_plugins(const char *flag, bool is_on, struct admission_choice *choice)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = admission_choose(choice, str_of(optarg), is_on, &err);
    if (r < 0)
        fprintf(stderr, "sampan up: --%s: " STR_FMT "\n", flag, STR_ARG(err.msg));
    arena_done(&a);
    return r == 0;
}

/* Those that are part of the server. */
static void choose_own(const char *names, struct up_options *ret)
{
    ret->leaves_roles = !controllers_is_wanted(names, "clusterrole-aggregation-controller");
    ret->leaves_quotas = !controllers_is_wanted(names, "resourcequota-controller");
    ret->leaves_policies =
        !controllers_is_wanted(names, "validatingadmissionpolicy-status-controller");
}

static bool read_controllers(const char *list, struct up_options *ret)
{
    struct spn_err err = { 0 };
    if (controllers_check_names(list, &err) < 0) {
        fprintf(stderr, "sampan up: %s\n", err.message);
        return false;
    }
    ret->controllers.names = list;
    choose_own(list, ret);
    return true;
}

static bool read_node_mode(const char *given, enum own_node_mode *ret)
{
    if (own_node_mode_parse(given, ret))
        return true;
    fprintf(stderr, "sampan up: --node must be on, off or auto, not '%s'\n", given);
    return false;
}

static bool read_simulated(const char *given, unsigned *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(given), &n) || n > SIMULATE_MAX_NODES) {
        fprintf(stderr, "sampan up: --simulate-nodes must be a number up to %d, not '%s'\n",
                SIMULATE_MAX_NODES, given);
        return false;
    }
    *ret = (unsigned)n;
    return true;
}

/* Pods get the token of their account where something makes accounts. */
static void choose_accounts(struct up_options *ret)
{
    struct admission_choice with = ret->admission;
    if (!ret->api_only &&
        controllers_is_wanted(ret->controllers.names, "serviceaccount-controller") &&
        admission_choose(&with, STR("ServiceAccount"), true, NULL) == 0)
        ret->admission = with;
}

/* A number of requests. */
static bool read_count(const char *flag, const char *given, uint32_t *ret)
{
    uint64_t n;
    if (!str_to_u64(str_of(given), &n) || n > 1000000) {
        fprintf(stderr, "sampan up: --%s must be a number up to 1000000, not '%s'\n", flag, given);
        return false;
    }
    *ret = (uint32_t)n;
    return true;
}

static bool are_pair(const char *cert, const char *key, const char *names)
{
    if (!cert == !key)
        return true;
    fprintf(stderr, "sampan up: %s must be set together\n", names);
    return false;
}

static bool check_pairs(const struct up_options *opt)
{
    return are_pair(opt->proxy_cert, opt->proxy_key,
                    "--proxy-client-cert-file and --proxy-client-key-file") &&
           are_pair(opt->tls_cert, opt->tls_key, "--tls-cert-file and --tls-private-key-file");
}

/* Flags whose value is taken as it is. */
static const struct {
    int flag;
    size_t at;
} texts[] = {
    { 'd', offsetof(struct up_options, dir) },
    { 'l', offsetof(struct up_options, listen) },
    { 'k', offsetof(struct up_options, kubeconfig) },
    { 'c', offsetof(struct up_options, service_cidr) },
    { 'p', offsetof(struct up_options, service_ports) },
    { 'T', offsetof(struct up_options, token_file) },
    { '7', offsetof(struct up_options, encryption_config) },
    { '9', offsetof(struct up_options, admission_options.file) },
    { 'I', offsetof(struct up_options, tls_cert) },
    { 'K', offsetof(struct up_options, tls_key) },
    { 'C', offsetof(struct up_options, client_ca) },
    { '1', offsetof(struct up_options, proxy_ca) },
    { '2', offsetof(struct up_options, proxy_allowed) },
    { '3', offsetof(struct up_options, proxy_users) },
    { '4', offsetof(struct up_options, proxy_uids) },
    { '5', offsetof(struct up_options, proxy_groups) },
    { '6', offsetof(struct up_options, proxy_extra) },
    { 'G', offsetof(struct up_options, proxy_cert) },
    { 'H', offsetof(struct up_options, proxy_key) },
    { 'J', offsetof(struct up_options, node_config) },
};

static bool take_text(int flag, struct up_options *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].flag != flag)
            continue;
        *(const char **)((char *)ret + texts[i].at) = optarg;
        return true;
    }
    return false;
}

/* Which plugins of admission, and what they are told. */
static bool take_admission(int flag, struct up_options *ret)
{
    switch (flag) {
    case 'P':
        return choose_plugins("enable-admission-plugins", true, &ret->admission);
    case 'X':
        return choose_plugins("disable-admission-plugins", false, &ret->admission);
    case 'q':
        return read_seconds("default-not-ready-toleration-seconds",
                            &ret->admission_options.not_ready);
    default:
        return read_seconds("default-unreachable-toleration-seconds",
                            &ret->admission_options.unreachable);
    }
}

static int exit_of(bool is_good)
{
    return is_good ? 0 : EXIT_MISUSED + 1;
}

/* The flags that files of their own know. */
static int take_of_others(int flag, struct up_options *ret)
{
    if (flag >= UP_OPENID_CONFIG && flag < UP_OPENID_END)
        return exit_of(up_openid_take((enum up_openid_flag)flag, optarg, &ret->openid));
    if (flag >= UP_TOKEN_WEBHOOK_CONFIG && flag < UP_WEBHOOK_END)
        return exit_of(up_webhooks_take((enum up_webhook_flag)flag, optarg, ret));
    if (flag >= UP_ACCOUNTS_SIGNING_KEY && flag < UP_ACCOUNTS_END)
        return exit_of(up_accounts_take((enum up_accounts_flag)flag, optarg, &ret->accounts));
    if (flag >= UP_AUDIT_POLICY && flag < UP_AUDIT_END)
        return exit_of(up_audit_take((enum up_audit_flag)flag, optarg, &ret->audit));
    if (flag >= CONTROLLERS_ALLOCATE_CIDRS && flag < CONTROLLERS_FLAGS_END)
        return exit_of(
            controllers_flags_take("up", (enum controllers_flag)flag, optarg, &ret->controllers));
    if (flag >= UP_KUBELET_CERT && flag < UP_KUBELET_END)
        up_kubelet_take((enum up_kubelet_flag)flag, optarg, &ret->kubelet);
    else if (flag >= UP_ETCD_SERVERS && flag < UP_ETCD_END)
        up_etcd_take((enum up_etcd_flag)flag, optarg, &ret->etcd);
    else
        return command_misused("up") + 1;
    return 0;
}

/* One flag with its value: 0, or an exit status + 1. */
static int take_flag(int flag, struct up_options *ret)
{
    bool second = false, good = true;
    if (take_text(flag, ret))
        return 0;
    switch (flag) {
    case 'i':
        ret->advertise = optarg;
        good = ip_parse(str_of(optarg), &(struct ip){ 0 });
        if (!good)
            fprintf(stderr, "sampan up: --advertise-address must be an IP address, not '%s'\n",
                    optarg);
        break;
    case 'e':
        good = read_time("event-ttl", optarg, &ret->event_ttl_ns);
        break;
    case 'o':
        good = read_time("continue-ttl", optarg, &ret->continue_ttl_ns);
        break;
    case 't':
        good = read_time("certificate-ttl", optarg, &ret->certificate_ttl_ns);
        break;
    case 'n':
        ret->new_ca = true;
        break;
    case 'a':
        good = is_second("api-versions", optarg, "current", "all", &second);
        ret->versions = second ? KIND_ALL_VERSIONS : KIND_CURRENT_VERSIONS;
        break;
    case 'm':
        good = is_second("managed-fields", optarg, "shown", "hidden", &ret->hides_managers);
        break;
    case 's':
        good = is_second("store", optarg, "lmdb", "memory", &second);
        ret->engine = second ? STORE_MEMORY : STORE_LMDB;
        break;
    case 'P':
    case 'X':
    case 'q':
    case 'w':
        good = take_admission(flag, ret);
        break;
    case 'A':
        ret->has_anonymous = true;
        good = is_second("anonymous-auth", optarg, "true", "false", &ret->no_anonymous);
        break;
    case 'B':
        ret->bootstrap_tokens = true;
        break;
    case '8':
        good = is_second("encryption-provider-config-automatic-reload", optarg ? optarg : "true",
                         "false", "true", &ret->encryption_reloads);
        break;
    case 'N':
        good = read_controllers(optarg, ret);
        break;
    case 'O':
        ret->api_only = true;
        break;
    case 'Y':
        good = is_second("scheduler", optarg, "true", "false", &ret->no_scheduler);
        break;
    case 'Z':
        good = read_simulated(optarg, &ret->simulated_nodes);
        break;
    case 'Q':
        good = read_node_mode(optarg, &ret->node);
        break;
    case 'F':
        good =
            is_second("enable-priority-and-fairness", optarg, "true", "false", &ret->flow.is_off);
        break;
    case 'R':
        good = read_count("max-requests-inflight", optarg, &ret->flow.reads);
        break;
    case 'W':
        good = read_count("max-mutating-requests-inflight", optarg, &ret->flow.writes);
        break;
    case 'f':
        good = is_second("log-format", optarg, "text", "json", &second);
        ret->log_format = second ? LOG_JSON : LOG_TEXT;
        break;
    case 'D':
        ret->detach = true;
        break;
    case 'v':
        ret->log_level = LOG_DEBUG;
        break;
    case 'h':
        printf(usage, up_etcd_usage, up_webhooks_usage, up_openid_usage, up_accounts_usage,
               controllers_flags_usage, up_kubelet_usage, up_audit_usage);
        return 1;
    default:
        return take_of_others(flag, ret);
    }
    return exit_of(good);
}

int up_options_parse(int argc, char **argv, struct up_options *ret)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "listen", required_argument, NULL, 'l' },
        { "advertise-address", required_argument, NULL, 'i' },
        { "store", required_argument, NULL, 's' },
        UP_ETCD_OPTIONS,
        { "kubeconfig", required_argument, NULL, 'k' },
        { "service-cidr", required_argument, NULL, 'c' },
        { "service-node-port-range", required_argument, NULL, 'p' },
        { "new-ca", no_argument, NULL, 'n' },
        { "certificate-ttl", required_argument, NULL, 't' },
        { "event-ttl", required_argument, NULL, 'e' },
        { "continue-ttl", required_argument, NULL, 'o' },
        { "api-versions", required_argument, NULL, 'a' },
        { "managed-fields", required_argument, NULL, 'm' },
        UP_WEBHOOK_OPTIONS,
        { "enable-admission-plugins", required_argument, NULL, 'P' },
        { "disable-admission-plugins", required_argument, NULL, 'X' },
        { "admission-control-config-file", required_argument, NULL, '9' },
        { "default-not-ready-toleration-seconds", required_argument, NULL, 'q' },
        { "default-unreachable-toleration-seconds", required_argument, NULL, 'w' },
        { "token-auth-file", required_argument, NULL, 'T' },
        { "enable-bootstrap-token-auth", no_argument, NULL, 'B' },
        { "anonymous-auth", required_argument, NULL, 'A' },
        UP_ACCOUNTS_OPTIONS,
        { "tls-cert-file", required_argument, NULL, 'I' },
        { "tls-private-key-file", required_argument, NULL, 'K' },
        { "client-ca-file", required_argument, NULL, 'C' },
        { "requestheader-client-ca-file", required_argument, NULL, '1' },
        { "requestheader-allowed-names", required_argument, NULL, '2' },
        { "requestheader-username-headers", required_argument, NULL, '3' },
        { "requestheader-uid-headers", required_argument, NULL, '4' },
        { "requestheader-group-headers", required_argument, NULL, '5' },
        { "requestheader-extra-headers-prefix", required_argument, NULL, '6' },
        { "proxy-client-cert-file", required_argument, NULL, 'G' },
        { "proxy-client-key-file", required_argument, NULL, 'H' },
        { "api-only", no_argument, NULL, 'O' },
        { "controllers", required_argument, NULL, 'N' },
        { "scheduler", required_argument, NULL, 'Y' },
        { "simulate-nodes", required_argument, NULL, 'Z' },
        { "node", required_argument, NULL, 'Q' },
        { "node-config", required_argument, NULL, 'J' },
        CONTROLLERS_OPTIONS,
        { "encryption-provider-config", required_argument, NULL, '7' },
        { "encryption-provider-config-automatic-reload", optional_argument, NULL, '8' },
        UP_OPENID_OPTIONS,
        UP_KUBELET_OPTIONS,
        UP_AUDIT_OPTIONS,
        { "enable-priority-and-fairness", required_argument, NULL, 'F' },
        { "max-requests-inflight", required_argument, NULL, 'R' },
        { "max-mutating-requests-inflight", required_argument, NULL, 'W' },
        { "detach", no_argument, NULL, 'D' },
        { "log-format", required_argument, NULL, 'f' },
        { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    *ret = (struct up_options){
        .listen = "127.0.0.1:6443",
        .log_level = LOG_INFO,
        .versions = KIND_CURRENT_VERSIONS,
        .service_cidr = SERVICE_CIDRS_DEFAULT,
        .service_ports = SERVICE_PORTS_DEFAULT,
        .audit = audit_options_default(),
        .flow = { .reads = FLOW_READS_DEFAULT, .writes = FLOW_WRITES_DEFAULT },
    };
    up_openid_init(&ret->openid);
    up_webhooks_default(ret);
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        int r = take_flag(c, ret);
        if (r)
            return r;
    }
    if (ret->encryption_reloads && !ret->encryption_config) {
        fprintf(stderr, "sampan up: --encryption-provider-config-automatic-reload must be set with "
                        "--encryption-provider-config\n");
        return EXIT_MISUSED + 1;
    }
    if (!up_webhooks_check(ret) || !up_openid_check(&ret->openid) ||
        !up_kubelet_check(&ret->kubelet) || !up_etcd_check(&ret->etcd) || !check_pairs(ret))
        return EXIT_MISUSED + 1;
    choose_accounts(ret);
    ret->controllers.service_cidr = ret->service_cidr;
    return argc == optind ? 0 : command_unexpected(argv[0], argv[optind]) + 1;
}
