#include "main/up_options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "api/ip.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "main/command.h"
#include "main/up_audit.h"
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
    "  --authorization-mode LIST\n"
    "                      who decides, in this order (default Node,RBAC); AlwaysAllow for tests\n"
    "  --enable-admission-plugins, --disable-admission-plugins LIST\n"
    "                      which plugins writes pass beside, or instead of, the usual ones\n"
    "                      (ServiceAccount is off unless it is named)\n"
    "  --token-auth-file FILE\n"
    "                      static tokens: lines TOKEN,USER,UID[,\"GROUP,...\"]\n"
    "  --anonymous-auth BOOL\n"
    "                      false: requests without credentials are refused (default true)\n"
    "  --client-ca-file FILE\n"
    "                      more authorities whose client certificates are believed\n"
    "  --requestheader-client-ca-file FILE\n"
    "                      the authority of front proxies, which speak for others\n"
    "  --requestheader-allowed-names LIST\n"
    "                      the proxies' common names (default all)\n"
    "  --requestheader-username-headers, --requestheader-uid-headers,\n"
    "  --requestheader-group-headers, --requestheader-extra-headers-prefix LIST\n"
    "                      where a proxy says for whom it speaks (default X-Remote-User,\n"
    "                      X-Remote-Uid, X-Remote-Group and X-Remote-Extra-)\n"
    "  --enable-bootstrap-token-auth\n"
    "                      nodes may join by tokens in Secrets of kube-system\n"
    "  --service-account-signing-key-file FILE\n"
    "                      the key that signs tokens (default DIR/pki/sa.key)\n"
    "  --service-account-key-file FILE\n"
    "                      more keys that tokens are believed by; may be repeated\n"
    "  --service-account-issuer URL\n"
    "                      who tokens are from; may be repeated, the first one signs\n"
    "                      (default https://kubernetes.default.svc)\n"
    "  --api-audiences LIST\n"
    "                      whom tokens must be for (default the issuer)\n"
    "  --controllers LIST  which controllers run: * for all, NAME, or -NAME for all but one\n"
    "                      (default *); there is clusterrole-aggregation-controller\n"
    "  --encryption-provider-config FILE\n"
    "                      which resources are encrypted at rest, and how: an\n"
    "                      EncryptionConfiguration, see docs/encryption.md\n"
    "  --encryption-provider-config-automatic-reload[=BOOL]\n"
    "                      FILE is looked at every minute and on SIGHUP, and takes effect\n"
    "                      when it changes (default false)\n"
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

/* A flag that may be repeated. */
static bool add_name(const char *flag, const char *names[IDENTITY_NAMES_MAX], size_t *n)
{
    if (*n == IDENTITY_NAMES_MAX) {
        fprintf(stderr, "sampan up: --%s is given more than %d times\n", flag, IDENTITY_NAMES_MAX);
        return false;
    }
    names[(*n)++] = optarg;
    return true;
}

static bool read_modes(const char *given, struct guard_modes *ret)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = guard_modes_parse(str_of(given), ret, &err);
    if (r < 0)
        fprintf(stderr, "sampan up: --authorization-mode: " STR_FMT "\n", STR_ARG(err.msg));
    arena_done(&a);
    return r == 0;
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

/* As upstream's controller manager has it: the last word about a controller counts. */
static bool read_controllers(const char *list, struct up_options *ret)
{
    static const struct str aggregation = STR("clusterrole-aggregation-controller");
    struct str rest = str_of(list);
    ret->leaves_roles = true;
    while (rest.n) {
        struct str name = str_cut(&rest, ',');
        bool off = str_starts(name, STR("-"));
        name = str_skip(name, off);
        if (str_eq(name, STR("*")) || str_eq(name, aggregation)) {
            ret->leaves_roles = off;
            continue;
        }
        fprintf(stderr, "sampan up: there is no controller '" STR_FMT "'\n", STR_ARG(name));
        return false;
    }
    return true;
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
    { 'S', offsetof(struct up_options, signing_key) },
    { 'U', offsetof(struct up_options, audiences) },
    { '7', offsetof(struct up_options, encryption_config) },
    { 'C', offsetof(struct up_options, client_ca) },
    { '1', offsetof(struct up_options, proxy_ca) },
    { '2', offsetof(struct up_options, proxy_allowed) },
    { '3', offsetof(struct up_options, proxy_users) },
    { '4', offsetof(struct up_options, proxy_uids) },
    { '5', offsetof(struct up_options, proxy_groups) },
    { '6', offsetof(struct up_options, proxy_extra) },
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
    case 'z':
        good = read_modes(optarg, &ret->authorization);
        break;
    case 'P':
        good = choose_plugins("enable-admission-plugins", true, &ret->admission);
        break;
    case 'X':
        good = choose_plugins("disable-admission-plugins", false, &ret->admission);
        break;
    case 'A':
        good = is_second("anonymous-auth", optarg, "true", "false", &ret->no_anonymous);
        break;
    case 'B':
        ret->bootstrap_tokens = true;
        break;
    case 'K':
        good = add_name("service-account-key-file", ret->account_keys, &ret->n_account_keys);
        break;
    case 'I':
        good = add_name("service-account-issuer", ret->issuers, &ret->n_issuers);
        break;
    case '8':
        good = is_second("encryption-provider-config-automatic-reload", optarg ? optarg : "true",
                         "false", "true", &ret->encryption_reloads);
        break;
    case 'N':
        good = read_controllers(optarg, ret);
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
        printf(usage, up_audit_usage);
        return 1;
    default:
        if (flag < UP_AUDIT_POLICY || flag >= UP_AUDIT_END)
            return command_misused("up") + 1;
        good = up_audit_take((enum up_audit_flag)flag, optarg, &ret->audit);
    }
    return good ? 0 : EXIT_MISUSED + 1;
}

int up_options_parse(int argc, char **argv, struct up_options *ret)
{
    static const struct option flags[] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "listen", required_argument, NULL, 'l' },
        { "advertise-address", required_argument, NULL, 'i' },
        { "store", required_argument, NULL, 's' },
        { "kubeconfig", required_argument, NULL, 'k' },
        { "service-cidr", required_argument, NULL, 'c' },
        { "service-node-port-range", required_argument, NULL, 'p' },
        { "new-ca", no_argument, NULL, 'n' },
        { "certificate-ttl", required_argument, NULL, 't' },
        { "event-ttl", required_argument, NULL, 'e' },
        { "continue-ttl", required_argument, NULL, 'o' },
        { "api-versions", required_argument, NULL, 'a' },
        { "managed-fields", required_argument, NULL, 'm' },
        { "authorization-mode", required_argument, NULL, 'z' },
        { "enable-admission-plugins", required_argument, NULL, 'P' },
        { "disable-admission-plugins", required_argument, NULL, 'X' },
        { "token-auth-file", required_argument, NULL, 'T' },
        { "enable-bootstrap-token-auth", no_argument, NULL, 'B' },
        { "anonymous-auth", required_argument, NULL, 'A' },
        { "service-account-signing-key-file", required_argument, NULL, 'S' },
        { "service-account-key-file", required_argument, NULL, 'K' },
        { "service-account-issuer", required_argument, NULL, 'I' },
        { "api-audiences", required_argument, NULL, 'U' },
        { "client-ca-file", required_argument, NULL, 'C' },
        { "requestheader-client-ca-file", required_argument, NULL, '1' },
        { "requestheader-allowed-names", required_argument, NULL, '2' },
        { "requestheader-username-headers", required_argument, NULL, '3' },
        { "requestheader-uid-headers", required_argument, NULL, '4' },
        { "requestheader-group-headers", required_argument, NULL, '5' },
        { "requestheader-extra-headers-prefix", required_argument, NULL, '6' },
        { "controllers", required_argument, NULL, 'N' },
        { "encryption-provider-config", required_argument, NULL, '7' },
        { "encryption-provider-config-automatic-reload", optional_argument, NULL, '8' },
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
    return argc == optind ? 0 : command_unexpected(argv[0], argv[optind]) + 1;
}
