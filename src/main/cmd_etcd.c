/* etcd: the etcd v3 API on the embedded store. The flags are etcd's. */
#include "main/command.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/go/goduration.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/log.h"
#include "etcd/etcd.h"
#include "main/account_keys.h"
#include "main/program.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan etcd [OPTION]...\n"
    "Serves the etcd v3 API from an embedded store, as one member that is its own leader.\n"
    "\n"
    "  --data-dir DIR          where the data is (default default.etcd)\n"
    "  --listen-client-urls URL\n"
    "                          http://127.0.0.1:2379, or https:// with a certificate\n"
    "  --advertise-client-urls URL\n"
    "                          what clients are told (default the above)\n"
    "  --name NAME             of the member (default default)\n"
    "  --cert-file FILE, --key-file FILE\n"
    "                          for https\n"
    "  --trusted-ca-file FILE  whose client certificates are believed\n"
    "  --client-cert-auth      clients must show one\n"
    "  --watch-progress-notify-interval DURATION\n"
    "                          (default 10m)\n"
    "  --store lmdb|memory     memory: nothing is kept (default lmdb)\n"
    "Flags about peers, elections, sizes and logs that etcd has are taken, and mean nothing "
    "here.\n";

struct options {
    const char *dir, *listen, *advertise, *name, *cert, *key, *ca;
    bool wants_client_cert, in_memory;
    int64_t progress_ns;
};

/* What etcd would know, and one member does not need. Those without a value come first. */
static const char *const idle_flags[] = {
    "unsafe-no-fsync",
    "strict-reconfig-check",
    "peer-client-cert-auth",
    "experimental-initial-corrupt-check",
    "listen-peer-urls",
    "initial-advertise-peer-urls",
    "initial-cluster",
    "initial-cluster-state",
    "initial-cluster-token",
    "heartbeat-interval",
    "election-timeout",
    "snapshot-count",
    "quota-backend-bytes",
    "max-request-bytes",
    "max-txn-ops",
    "auto-compaction-mode",
    "auto-compaction-retention",
    "listen-metrics-urls",
    "peer-cert-file",
    "peer-key-file",
    "peer-trusted-ca-file",
    "log-level",
    "log-outputs",
    "logger",
    "feature-gates",
};
enum { N_IDLE = ARRAY_LEN(idle_flags), N_BARE = 4, N_OWN = 12, IDLE = 1 };

static void list_flags(struct option ret[N_OWN + N_IDLE])
{
    const struct option own[N_OWN] = {
        { "data-dir", required_argument, NULL, 'd' },
        { "listen-client-urls", required_argument, NULL, 'l' },
        { "advertise-client-urls", required_argument, NULL, 'a' },
        { "name", required_argument, NULL, 'n' },
        { "cert-file", required_argument, NULL, 'c' },
        { "key-file", required_argument, NULL, 'k' },
        { "trusted-ca-file", required_argument, NULL, 't' },
        { "client-cert-auth", optional_argument, NULL, 'C' },
        { "watch-progress-notify-interval", required_argument, NULL, 'p' },
        { "experimental-watch-progress-notify-interval", required_argument, NULL, 'p' },
        { "store", required_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
    };
    memcpy(ret, own, sizeof(own));
    for (size_t i = 0; i < N_IDLE; i++)
        ret[N_OWN + i] =
            (struct option){ idle_flags[i], i < N_BARE ? optional_argument : required_argument,
                             NULL, IDLE };
}

static bool take_flag(int flag, struct options *ret)
{
    switch (flag) {
    case 'd':
        ret->dir = optarg;
        return true;
    case 'l':
        ret->listen = optarg;
        return true;
    case 'a':
        ret->advertise = optarg;
        return true;
    case 'n':
        ret->name = optarg;
        return true;
    case 'c':
        ret->cert = optarg;
        return true;
    case 'k':
        ret->key = optarg;
        return true;
    case 't':
        ret->ca = optarg;
        return true;
    case 'C':
        return program_bool(optarg, &ret->wants_client_cert);
    case 'p':
        return goduration_parse(str_of(optarg), &ret->progress_ns, NULL) == 0 &&
               ret->progress_ns > 0;
    case 's':
        ret->in_memory = strcmp(optarg, "memory") == 0;
        return ret->in_memory || strcmp(optarg, "lmdb") == 0;
    default:
        return flag == IDLE;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, struct options *ret)
{
    struct option flags[N_OWN + N_IDLE + 1] = { 0 };
    list_flags(flags);
    *ret = (struct options){ .dir = "default.etcd",
                             .listen = "http://127.0.0.1:2379",
                             .name = "default" };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take_flag(c, ret))
            return command_misused("etcd") + 1;
    }
    return optind < argc ? command_unexpected("etcd", argv[optind]) + 1 : 0;
}

/* "https://127.0.0.1:2379" to its address, the first of a list. */
static int read_url(struct str list, struct str *ret, bool *ret_tls, struct err *err)
{
    struct str url = str_cut(&list, ',');
    *ret_tls = str_starts(url, STR("https://"));
    if (!*ret_tls && !str_starts(url, STR("http://")))
        return err_set(err, ERR_INVALID, "'" STR_FMT "' is not http://HOST:PORT or https://",
                       STR_ARG(url));
    *ret = str_skip(url, *ret_tls ? STR("https://").n : STR("http://").n);
    if (str_ends(*ret, STR("/")))
        ret->n--;
    if (str_starts(*ret, STR("localhost:")))
        *ret = str_skip(*ret, STR("localhost").n); /* ":PORT" is completed below */
    return 0;
}

static int make_tls(struct arena *a, const struct options *opt, struct tls_context **ret,
                    struct err *err)
{
    struct tls_config config = { .server = true, .require_peer = opt->wants_client_cert };
    if (!opt->cert || !opt->key)
        return err_set(err, ERR_INVALID, "https needs --cert-file and --key-file");
    int r = account_text(a, opt->cert, &config.cert_pem, err);
    if (r < 0)
        return r;
    r = account_text(a, opt->key, &config.key_pem, err);
    if (r < 0)
        return r;
    r = opt->ca ? account_text(a, opt->ca, &config.ca_pem, err) : 0;
    return r < 0 ? r : tls_context_new(&config, ret, err);
}

/* Below the folder that is named, which may be open to others; where `sampan restore` makes it,
 * too.
 */
static int make_dir(struct arena *a, const struct options *opt, const char **ret, struct err *err)
{
    *ret = arena_printf(a, "%s/store", opt->dir).p;
    if (opt->in_memory)
        return 0;
    if (mkdir(opt->dir, 0700) < 0 && errno != EEXIST)
        return err_errno(err, errno, "make %s", opt->dir);
    return file_private_dir(*ret, err);
}

static int start(struct arena *a, const struct options *opt, struct etcd **ret, struct err *err)
{
    struct tls_context *tls = NULL;
    struct str listen;
    const char *dir;
    bool is_tls;
    int r = read_url(str_of(opt->listen), &listen, &is_tls, err);
    if (r < 0)
        return r;
    if (str_starts(listen, STR(":")))
        listen = arena_printf(a, "127.0.0.1" STR_FMT, STR_ARG(listen));
    r = make_dir(a, opt, &dir, err);
    if (r < 0)
        return r;
    r = is_tls ? make_tls(a, opt, &tls, err) : 0;
    if (r < 0)
        return r;
    r = etcd_start(
        &(struct etcd_options){
            .store = { .engine = opt->in_memory ? STORE_MEMORY : STORE_LMDB, .dir = dir },
            .listen = listen,
            .tls = tls,
            .name = opt->name,
            .client_url = str_of(opt->advertise ? opt->advertise : ""),
            .progress_ms = opt->progress_ns / NS_PER_MS,
        },
        ret, err);
    tls_context_unref(tls);
    return r;
}

static void wait_for_signal(const sigset_t *signals)
{
    int sig;
    while (sigwait(signals, &sig) != 0)
        continue;
    log_info("stopping", LOG_INT("signal", sig));
}

static int serve(struct arena *a, const struct options *opt, struct err *err)
{
    struct etcd *e;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* threads that start later inherit it */
    (void)signal(SIGPIPE, SIG_IGN);
    int r = start(a, opt, &e, err);
    if (r < 0)
        return r;
    printf("Sampan serves the etcd API at " STR_FMT "\n", STR_ARG(etcd_address(e)));
    (void)fflush(stdout);
    wait_for_signal(&signals);
    etcd_stop(e);
    return 0;
}

int cmd_etcd(int argc, char **argv)
{
    struct options opt;
    struct arena a;
    int end = parse(argc, argv, &opt);
    if (end)
        return end - 1;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = serve(&a, &opt, &err);
    if (r < 0)
        fprintf(stderr, "sampan etcd: " STR_FMT "\n", STR_ARG(err.msg));
    arena_done(&a);
    return r < 0 ? 1 : 0;
}
