#include "main/command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/ip.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "main/credentials.h"
#include "main/instance.h"
#include "server/advertise.h"
#include "server/server.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan up [OPTION]...\n"
    "Starts a control plane and stays in the foreground until SIGTERM or Ctrl-C.\n\n"
    "  --data-dir DIR      where everything is kept (default ~/.local/state/sampan)\n"
    "  --listen ADDR:PORT  where to serve (default 127.0.0.1:6443; port 0 picks a free one)\n"
    "  --advertise-address IP\n"
    "                      where others reach it (default what it listens on, or the address of "
    "the\n"
    "                      default route); the Endpoints and EndpointSlice `kubernetes` say so\n"
    "  --store ENGINE      lmdb (durable, the default) or memory (gone at the end)\n"
    "  --new-ca            make a certificate authority where the old one is lost\n"
    "  --certificate-ttl TIME\n"
    "                      how long the certificates last that it signs, e.g. 24h (default a\n"
    "                      year); they are made anew in time, and on SIGHUP\n"
    "  --kubeconfig FILE   where to write the admin's kubeconfig (default DIR/admin.kubeconfig)\n"
    "  --service-cidr NET  where Services get their addresses (default " SERVICE_CIDRS_DEFAULT ";\n"
    "                      with a comma one network of each IP family)\n"
    "  --service-node-port-range FIRST-LAST\n"
    "                      their node ports (default " SERVICE_PORTS_DEFAULT ")\n"
    "  --event-ttl TIME    how long Events stay, e.g. 90s, 30m, 1h (the default)\n"
    "  --continue-ttl TIME how long the pages of one list can be asked for (default 5m)\n"
    "  --api-versions SET  current (the default): what Kubernetes serves today; or all: also the\n"
    "                      versions that it has dropped since 2016\n"
    "  --managed-fields HOW\n"
    "                      whether answers show who set which field: shown (the default), or "
    "hidden\n"
    "                      unless a client accepts application/json;managedFields=1\n"
    "  --detach            go to the background once it serves; log to DIR/sampan.log\n"
    "  --log-format FORMAT text (default) or json\n"
    "  --verbose           log details\n";

struct up {
    const char *dir, *listen, *advertise, *kubeconfig, *service_cidr, *service_ports;
    int64_t event_ttl_ns, continue_ttl_ns, certificate_ttl_ns; /* 0: the usual */
    enum store_engine engine;
    enum kind_choice versions;
    enum log_format log_format;
    enum log_level log_level;
    bool detach, hides_managers, new_ca;
};

/* A number and s, m or h. */
static bool read_time(const char *flag, const char *given, int64_t *ret_ns)
{
    struct str s = str_of(given);
    uint64_t n;
    char unit = s.n ? s.p[s.n - 1] : '\0';
    int64_t seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    if (!seconds || !str_to_u64(str_take(s, s.n - 1), &n) || !n || n > 1000000) {
        fprintf(stderr, "sampan up: --%s is a time like 90s, 30m or 1h, not '%s'\n", flag, given);
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
    fprintf(stderr, "sampan up: --%s is %s or %s, not '%s'\n", flag, first, second, given);
    return false;
}

/* One flag with its value: 0, or how the process ends. */
static int take_flag(int flag, struct up *ret)
{
    bool second = false, good = true;
    switch (flag) {
    case 'd':
        ret->dir = optarg;
        break;
    case 'l':
        ret->listen = optarg;
        break;
    case 'i':
        ret->advertise = optarg;
        good = ip_parse(str_of(optarg), &(struct ip){ 0 });
        if (!good)
            fprintf(stderr, "sampan up: --advertise-address is an IP address, not '%s'\n", optarg);
        break;
    case 'k':
        ret->kubeconfig = optarg;
        break;
    case 'c':
        ret->service_cidr = optarg;
        break;
    case 'p':
        ret->service_ports = optarg;
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
        fputs(usage, stdout);
        return 1;
    default:
        return command_misused("up") + 1;
    }
    return good ? 0 : 3;
}

static int parse_flags(int argc, char **argv, struct up *ret)
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
        { "detach", no_argument, NULL, 'D' },
        { "log-format", required_argument, NULL, 'f' },
        { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    *ret = (struct up){
        .listen = "127.0.0.1:6443",
        .log_level = LOG_INFO,
        .versions = KIND_CURRENT_VERSIONS,
        .service_cidr = SERVICE_CIDRS_DEFAULT,
        .service_ports = SERVICE_PORTS_DEFAULT,
    };
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        int r = take_flag(c, ret);
        if (r)
            return r;
    }
    if (optind < argc) {
        fprintf(stderr, "sampan up: '%s' is one word too many\n", argv[optind]);
        return 3;
    }
    return 0;
}

/* Tells a service manager that started us that we serve (sd_notify's protocol). */
static void notify_ready(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;
    if (n < 2 || n >= sizeof(to.sun_path))
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@')
        to.sun_path[0] = '\0';
    autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void)sendto(fd, "READY=1", 7, MSG_NOSIGNAL, (struct sockaddr *)&to,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}

/* In the child: a session of its own, its output in the log. `*ret_ready` is where to say so. */
static int detach(const char *dir, struct arena *a, int *ret_ready, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(err, errno, "pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return err_errno(err, errno, "fork");
    if (child > 0) {
        close(ends[1]);
        char text[4096];
        ssize_t n;
        bool said = false;
        while ((n = read(ends[0], text, sizeof(text))) > 0) {
            said = true;
            (void)!write(STDOUT_FILENO, text, (size_t)n);
        }
        if (!said)
            fprintf(stderr, "sampan up: it did not start; see %s/sampan.log\n", dir);
        _exit(said ? 0 : 1);
    }
    close(ends[0]);
    (void)setsid();
    const char *path = arena_printf(a, "%s/sampan.log", dir).p;
    autoclose int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (log < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        return err_errno(err, errno, "open %s", path);
    *ret_ready = ends[1];
    return 0;
}

static struct str host_of(struct str address)
{
    if (address.n && address.p[0] == '[') {
        address = str_skip(address, 1);
        return str_cut(&address, ']');
    }
    return str_cut(&address, ':');
}

static void print_use(int fd, struct str address, const char *kubeconfig)
{
    autobuf text = { 0 };
    buf_printf(&text,
               "Sampan serves https://" STR_FMT "\n"
               "  export KUBECONFIG=%s\n"
               "  kubectl get --raw /readyz?verbose\n",
               STR_ARG(address), kubeconfig);
    (void)file_write_all(fd, buf_str(&text), NULL);
}

static int make_tls(const struct credentials *c, struct tls_context **ret, struct err *err)
{
    return tls_context_new(&(struct tls_config){ .server = true,
                                                 .cert_pem = c->server.cert_pem,
                                                 .key_pem = c->server.key_pem,
                                                 .ca_pem = c->ca.cert_pem },
                           ret, err);
}

/* Signals are for sigtimedwait() here; threads started later inherit the mask. */
static void block_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, ret, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* A control plane that serves, and what its certificates were made from. */
struct serving {
    const struct up *up;
    struct server *server;
    const char *kubeconfig;
    struct service_ranges services;
    int64_t renew_sec;
};

static int64_t now_sec(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_SEC;
}

/* Inside, the API is reached by the first address of each service network. */
static int load_credentials(struct arena *a, const struct serving *s, bool new_ca,
                            struct credentials *ret, struct tls_context **ret_tls, struct err *err)
{
    const struct up *up = s->up;
    struct str host = host_of(str_of(up->listen)), ips[SERVICE_FAMILIES + 1];
    size_t n_ips = 0;
    ips[n_ips++] = up->advertise ? str_of(up->advertise) : advertise_ip(a, host);
    for (size_t i = 0; i < s->services.n_ips; i++)
        ips[n_ips++] = service_range_address(a, &s->services.ips[i], 0);
    const struct credentials_options opt = {
        .dir = up->dir,
        .host = host,
        .ips = ips,
        .n_ips = n_ips,
        .ttl_sec = up->certificate_ttl_ns / NS_PER_SEC,
        .new_ca = new_ca,
    };
    int r = credentials_load(a, &opt, now_sec(), ret, err);
    return r < 0 ? r : make_tls(ret, ret_tls, err);
}

/* New certificates for those who connect from now on. If there are none to be had, the old ones
 * stay, and it is tried again. */
static void renew(struct serving *s)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct credentials credentials;
    struct tls_context *tls = NULL;
    int r = load_credentials(&a, s, false, &credentials, &tls, &err);
    if (r == 0)
        r = credentials_write_kubeconfig(&credentials, server_address(s->server), s->kubeconfig,
                                         &err);
    if (r == 0) {
        server_set_tls(s->server, tls);
        s->renew_sec = credentials.renew_sec;
        log_info("certificates were renewed");
    } else {
        log_error("certificates could not be renewed", LOG_ERR(&err));
    }
    tls_context_unref(tls);
    arena_done(&a);
}

static void wait_for_stop(struct serving *s, const sigset_t *signals)
{
    enum { LOOK_SECONDS = 60 };
    for (;;) {
        int64_t left = s->renew_sec - now_sec();
        const struct timespec until_then = { .tv_sec = left < 1              ? 1
                                                       : left < LOOK_SECONDS ? left
                                                                             : LOOK_SECONDS };
        int sig = sigtimedwait(signals, NULL, &until_then);
        if (sig == SIGTERM || sig == SIGINT) {
            log_info("stopping", LOG_INT("signal", sig));
            return;
        }
        if (sig == SIGHUP || now_sec() >= s->renew_sec)
            renew(s);
    }
}

static int start(struct serving *s, struct arena *a, struct credentials *ret_credentials,
                 struct err *err)
{
    const struct up *up = s->up;
    struct tls_context *tls;
    int r = service_ranges_parse(str_of(up->service_cidr), str_of(up->service_ports), &s->services,
                                 err);
    if (r == 0)
        r = load_credentials(a, s, up->new_ca, ret_credentials, &tls, err);
    if (r < 0)
        return r;
    s->renew_sec = ret_credentials->renew_sec;
    r = server_start(
        &(struct server_options){
            .store = { .engine = up->engine, .dir = arena_printf(a, "%s/store", up->dir).p },
            .listen = str_of(up->listen),
            .tls = tls,
            .advertise = str_of(up->advertise ? up->advertise : ""),
            .services = s->services,
            .event_ttl_ns = up->event_ttl_ns,
            .continue_ttl_ns = up->continue_ttl_ns,
            .versions = up->versions,
            .hides_managers = up->hides_managers },
        &s->server, err);
    tls_context_unref(tls);
    return r;
}

/* As many connections as the system lets us have. */
static void raise_descriptors(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int serve(const struct up *up, struct arena *a, int lock_fd, int say_fd, struct err *err)
{
    sigset_t signals;
    block_signals(&signals);
    raise_descriptors();
    struct serving s = {
        .up = up,
        .kubeconfig = up->kubeconfig ? up->kubeconfig : credentials_kubeconfig(a, up->dir),
    };
    struct credentials credentials;
    int r = start(&s, a, &credentials, err);
    if (r < 0)
        return r;

    struct str address = server_address(s.server);
    r = credentials_write_kubeconfig(&credentials, address, s.kubeconfig, err);
    if (r == 0)
        r = instance_announce(lock_fd, address, err);
    if (r == 0) {
        log_info("serving", LOG_STR("address", address));
        print_use(say_fd, address, s.kubeconfig);
        if (say_fd != STDOUT_FILENO)
            close(say_fd);
        notify_ready();
        wait_for_stop(&s, &signals);
    }
    if (server_stop(s.server)) {
        log_warn("what still runs is left behind");
        _exit(r < 0 ? 1 : 0);
    }
    return r;
}

/* What a large request held goes back to the system with the request: the large blocks of arenas
 * are mapped. By itself malloc would learn from the first one to keep them. What small ones take
 * and give all the time does not. */
static void return_memory(void)
{
    enum { MALLOC_ARENAS = 4 };
    (void)mallopt(M_MMAP_THRESHOLD, ARENA_BLOCK_MAX);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * ARENA_BLOCK_MAX);
    (void)mallopt(M_ARENA_MAX, MALLOC_ARENAS); /* each keeps what its threads gave back */
}

int cmd_up(int argc, char **argv)
{
    struct up up;
    int stop = parse_flags(argc, argv, &up);
    if (stop)
        return stop - 1;
    return_memory();
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    log_setup(up.log_format, up.log_level, STDERR_FILENO);

    int say_fd = STDOUT_FILENO;
    int r = 0;
    up.dir = instance_dir(&a, up.dir);
    if (!up.dir)
        r = err_set(&err, ERR_BAD_REQUEST, "there is no home folder; say --data-dir");
    autoclose int lock_fd = r < 0 ? -1 : instance_claim(up.dir, &err);
    if (lock_fd >= 0)
        r = up.detach ? detach(up.dir, &a, &say_fd, &err) : 0;
    else
        r = -1;
    if (r == 0)
        r = serve(&up, &a, lock_fd, say_fd, &err);
    if (r < 0)
        fprintf(stderr, "sampan up: " STR_FMT "%s\n", STR_ARG(err.msg),
                err.code == ERR_DAMAGED
                    ? "\n'sampan check' names what is damaged, and with --repair "
                      "takes it out; 'sampan restore' brings a backup back"
                    : "");
    arena_done(&a);
    return r < 0 ? 1 : 0;
}
