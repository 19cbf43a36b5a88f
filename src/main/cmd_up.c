#include "main/account_keys.h"
#include "main/command.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "main/credentials.h"
#include "main/instance.h"
#include "main/plane.h"
#include "main/program.h"
#include "main/up_options.h"
#include "server/advertise.h"
#include "server/server.h"
#include "base/banned.h"

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

/* Returns in the child only, which has its own session and writes to the log. `*ret_ready` is the
 * descriptor for the text that the parent prints once the child serves. */
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
            fprintf(stderr, "sampan up: the control plane did not start; see %s/sampan.log\n", dir);
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

/* As upstream, a certificate that is not believed ends no handshake: a request with it is answered
 * with 401, unless it also has a token. */
static int make_tls(const struct credentials *c, const struct pki_pair *shown,
                    const struct identity_options *identity, struct tls_context **ret,
                    struct err *err)
{
    return tls_context_new(&(struct tls_config){ .server = true,
                                                 .cert_pem = shown->cert_pem,
                                                 .key_pem = shown->key_pem,
                                                 .loopback_cert_pem = c->server.cert_pem,
                                                 .loopback_key_pem = c->server.key_pem,
                                                 .ca_pem = identity->client_ca,
                                                 .proxy_ca_pem = identity->proxy.ca,
                                                 .lets_strangers_in = true },
                           ret, err);
}

/* What clients are shown: a certificate of our authority, or that of --tls-cert-file. */
static int load_shown(struct arena *a, const struct up_options *up, struct credentials *c,
                      struct pki_pair *ret, struct err *err)
{
    *ret = c->server;
    c->root_ca = c->ca.cert_pem;
    if (!up->tls_cert)
        return 0;
    int r = account_text(a, up->tls_cert, &ret->cert_pem, err);
    if (r < 0)
        return r;
    c->server_name = STR(TLS_LOOPBACK_NAME);
    c->root_ca =
        arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(ret->cert_pem), STR_ARG(c->ca.cert_pem));
    return account_text(a, up->tls_key, &ret->key_pem, err);
}

/* Our own authority, and those of --client-ca-file. */
static int load_client_cas(struct arena *a, const struct up_options *up,
                           const struct credentials *c, struct str *ret, struct err *err)
{
    struct str more;
    *ret = c->ca.cert_pem;
    if (!up->client_ca)
        return 0;
    int r = account_text(a, up->client_ca, &more, err);
    if (r < 0)
        return r;
    *ret = arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(c->ca.cert_pem), STR_ARG(more));
    return 0;
}

/* The main thread takes signals by sigtimedwait(). Threads that start later inherit the mask. */
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
    const struct up_options *up;
    struct server *server;
    const char *kubeconfig;
    struct service_ranges services;
    struct plane_tokens tokens; /* of programs in this process */
    struct plane_options plane_options;
    struct plane *plane; /* NULL: there is only the API */
    bool has_node;       /* this machine runs pods */
    struct own_node_options node_options;
    struct own_node *node;
    int64_t renew_sec;
};

static int load_identity(struct arena *a, const struct serving *s, const struct credentials *c,
                         struct identity_options *ret, struct err *err)
{
    const struct up_options *up = s->up;
    *ret = (struct identity_options){ .token_file = up->token_file,
                                      .more_tokens = plane_tokens_text(a, &s->tokens),
                                      .no_anonymous = up->no_anonymous,
                                      .bootstrap_tokens = up->bootstrap_tokens,
                                      .webhook = up->token_webhook };
    int r = account_keys_load(a, up, ret, err);
    if (r < 0)
        return r;
    if (!up->proxy_ca) {
        ret->proxy.ca = c->proxy_ca.cert_pem;
        ret->proxy.allowed =
            account_names(up->proxy_allowed ? up->proxy_allowed : CREDENTIALS_PROXY_NAME);
    }
    return load_client_cas(a, up, c, &ret->client_ca, err);
}

/* As whom it comes to extension servers. Those that believe another authority than ours need a
 * certificate of that one. */
static int load_proxy(struct arena *a, const struct up_options *up, const struct credentials *c,
                      struct apiservices_options *ret, struct err *err)
{
    *ret = (struct apiservices_options){ 0 };
    if (!up->proxy_cert && !up->proxy_ca)
        *ret = (struct apiservices_options){ c->proxy.cert_pem, c->proxy.key_pem };
    if (!up->proxy_cert)
        return 0;
    int r = account_text(a, up->proxy_cert, &ret->cert_pem, err);
    if (r < 0)
        return r;
    return account_text(a, up->proxy_key, &ret->key_pem, err);
}

static int64_t now_sec(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_SEC;
}

/* Pods reach the API at the first address of each service network. */
static int load_credentials(struct arena *a, const struct serving *s, bool new_ca,
                            struct credentials *ret, struct identity_options *ret_identity,
                            struct tls_context **ret_tls, struct err *err)
{
    const struct up_options *up = s->up;
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
    if (r < 0)
        return r;
    r = load_identity(a, s, ret, ret_identity, err);
    if (r < 0)
        return r;
    struct pki_pair shown;
    r = load_shown(a, up, ret, &shown, err);
    if (r < 0)
        return r;
    return make_tls(ret, &shown, ret_identity, ret_tls, err);
}

static int use_credentials(struct serving *s, const struct credentials *c,
                           const struct identity_options *identity, struct tls_context *tls,
                           struct err *err)
{
    int r = credentials_write(c, s->up->dir, server_address(s->server), s->kubeconfig, err);
    if (r < 0)
        return r;
    r = server_set_identity(s->server, identity, err);
    if (r < 0)
        return r;
    server_set_tls(s->server, tls);
    s->renew_sec = c->renew_sec;
    return 0;
}

static int renew_credentials(struct serving *s, struct arena *a, struct err *err)
{
    struct credentials credentials;
    struct identity_options identity;
    struct tls_context *tls = NULL;
    int r = load_credentials(a, s, false, &credentials, &identity, &tls, err);
    if (r < 0)
        return r;
    r = use_credentials(s, &credentials, &identity, tls, err);
    tls_context_unref(tls);
    if (r < 0)
        return r;
    struct kubelet_options kubelet;
    r = up_kubelet_load(a, &s->up->kubelet, &credentials.kubelet, &kubelet, err);
    if (r < 0)
        return r;
    r = server_set_kubelet(s->server, &kubelet, err);
    if (r < 0)
        return r;
    struct apiservices_options proxy;
    r = load_proxy(a, s->up, &credentials, &proxy, err);
    return r < 0 ? r : server_set_apiservices(s->server, &proxy, err);
}

/* Makes new certificates for new connections. If that fails, the old ones stay in use, and it is
 * tried again. */
static void renew(struct serving *s)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (renew_credentials(s, &a, &err) < 0)
        log_error("certificates could not be renewed", LOG_ERR(&err));
    else
        log_info("certificates were renewed");
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
        (void)malloc_trim(0); /* what a busy time has left behind */
        if (sig == SIGHUP)
            server_look(s->server);
        if (sig == SIGHUP || now_sec() >= s->renew_sec)
            renew(s);
    }
}

/* The flags and their lists lie in the arena, which outlives the server. */
static int load_openid(struct arena *a, const struct up_options *up,
                       struct openid_users_options *ret, struct err *err)
{
    struct up_openid *openid = arena_dup(a, &up->openid, sizeof(up->openid));
    struct str ca = STR("");
    if (openid->ca_file) {
        int r = account_text(a, openid->ca_file, &ca, err);
        if (r < 0)
            return r;
    }
    *ret = (struct openid_users_options){ .file = openid->config,
                                          .flags = up_openid_flags(openid, ca),
                                          .has_anonymous_flag = up->has_anonymous };
    return 0;
}

static int start(struct serving *s, struct arena *a, struct credentials *ret_credentials,
                 struct str *ret_account_key, struct err *err)
{
    const struct up_options *up = s->up;
    struct tls_context *tls = NULL;
    int r = service_ranges_parse(str_of(up->service_cidr), str_of(up->service_ports), &s->services,
                                 err);
    if (r < 0)
        return r;
    struct identity_options identity;
    struct openid_users_options openid;
    r = load_openid(a, up, &openid, err);
    if (r < 0)
        return r;
    r = plane_tokens_new(a, &s->tokens, err);
    if (r < 0)
        return r;
    r = own_node_wanted(up->node, up->node_config, &s->has_node, err);
    if (r < 0)
        return r;
    if (s->has_node)
        s->tokens.own_node_name = own_node_name(a);
    r = load_credentials(a, s, up->new_ca, ret_credentials, &identity, &tls, err);
    if (r < 0)
        return r;
    s->renew_sec = ret_credentials->renew_sec;
    *ret_account_key = identity.signing_key;
    struct remote_options etcd;
    struct kubelet_options kubelet;
    struct apiservices_options proxy;
    int read_etcd = up_etcd_load(a, &up->etcd, &etcd, err);
    r = up_kubelet_load(a, &up->kubelet, &ret_credentials->kubelet, &kubelet, err);
    int read = load_proxy(a, up, ret_credentials, &proxy, err);
    if (r < 0 || read < 0 || read_etcd < 0) {
        tls_context_unref(tls);
        return r < 0 ? r : read < 0 ? read : read_etcd;
    }
    r = server_start(
        &(struct server_options){
            .store = { .engine = up->engine, .dir = arena_printf(a, "%s/store", up->dir).p },
            .etcd = etcd,
            .listen = str_of(up->listen),
            .tls = tls,
            .advertise = str_of(up->advertise ? up->advertise : ""),
            .services = s->services,
            .event_ttl_ns = up->event_ttl_ns,
            .continue_ttl_ns = up->continue_ttl_ns,
            .versions = up->versions,
            .authorization = up->authorization,
            .admission = up->admission,
            .admission_options = up->admission_options,
            .leaves_roles = up->leaves_roles,
            .leaves_quotas = up->leaves_quotas,
            .leaves_policies = up->leaves_policies,
            .identity = identity,
            .apiservices = proxy,
            .openid = openid,
            .secrecy = { .file = up->encryption_config, .reloads = up->encryption_reloads },
            .audit = up->audit,
            .flow = up->flow,
            .kubelet = kubelet,
            .hides_managers = up->hides_managers },
        &s->server, err);
    tls_context_unref(tls);
    return r;
}

/* Allows as many connections as the system does. */
static void raise_descriptors(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* What acts on the API, unless only the API is wanted. */
static int start_plane(struct serving *s, const struct credentials *credentials,
                       struct str account_key, struct err *err)
{
    const struct up_options *up = s->up;
    const unsigned simulated = s->has_node && up->node == OWN_NODE_AUTO ? 0 : up->simulated_nodes;
    if (up->api_only)
        return 0;
    s->plane_options = (struct plane_options){ .dir = up->dir,
                                               .address = server_address(s->server),
                                               .server_name = credentials->server_name,
                                               .root_ca = credentials->root_ca,
                                               .ca_cert = credentials->ca.cert_pem,
                                               .ca_key = credentials->ca.key_pem,
                                               .account_key = account_key,
                                               .tokens = s->tokens,
                                               .controllers = &up->controllers,
                                               .no_scheduler = up->no_scheduler,
                                               .simulated_nodes = simulated,
                                               /* The way there is this machine's own: another
                                                * server on the same etcd would not find it. */
                                               .has_metrics = s->has_node && !up->etcd.servers };
    return plane_start(&s->plane_options, &s->plane, err);
}

static int start_node(struct serving *s, const struct credentials *credentials, struct err *err)
{
    if (!s->has_node)
        return 0;
    s->node_options = (struct own_node_options){ .dir = s->up->dir,
                                                 .config_file = s->up->node_config,
                                                 .address = server_address(s->server),
                                                 .server_name = credentials->server_name,
                                                 .ca_cert = credentials->ca.cert_pem,
                                                 .token = s->tokens.own_node };
    return own_node_start(&s->node_options, &s->node, err);
}

enum { PLANE_MS = 5000 };

/* From the started server to the signal that ends it. */
static int run(struct serving *s, const struct credentials *credentials, struct str account_key,
               int lock_fd, int say_fd, const sigset_t *signals, struct err *err)
{
    struct str address = server_address(s->server);
    int r = start_plane(s, credentials, account_key, err);
    if (r < 0)
        return r;
    r = start_node(s, credentials, err);
    if (r < 0)
        return r;
    r = credentials_write(credentials, s->up->dir, address, s->kubeconfig, err);
    if (r < 0)
        return r;
    r = instance_announce(lock_fd, address, err);
    if (r < 0)
        return r;
    log_info("serving", LOG_STR("address", address));
    if (s->plane && !plane_wait(s->plane, PLANE_MS))
        log_warn("controllers do not work yet; does another process hold their lease?");
    if (s->up->guest.run)
        return s->up->guest.run(s->up->guest.self, address, s->kubeconfig, err);
    print_use(say_fd, address, s->kubeconfig);
    if (say_fd != STDOUT_FILENO)
        close(say_fd);
    notify_ready();
    wait_for_stop(s, signals);
    return 0;
}

static int serve(const struct up_options *up, struct arena *a, int lock_fd, int say_fd,
                 struct err *err)
{
    sigset_t signals;
    block_signals(&signals);
    raise_descriptors();
    struct serving s = {
        .up = up,
        .kubeconfig = up->kubeconfig ? up->kubeconfig : credentials_kubeconfig(a, up->dir),
    };
    struct credentials credentials = { 0 };
    struct str account_key;
    int r = start(&s, a, &credentials, &account_key, err);
    if (r < 0)
        return r;

    r = run(&s, &credentials, account_key, lock_fd, say_fd, &signals, err);
    own_node_stop(s.node);
    plane_stop(s.plane);
    if (server_stop(s.server)) {
        log_warn("some requests did not end in time; exiting without them");
        _exit(r < 0 ? 1 : r);
    }
    return r;
}

static void say_what_to_do_about_damage(struct err *err)
{
    err_set(err, ERR_DAMAGED,
            STR_FMT "\n'sampan check' names what is damaged, and takes it out with --repair; "
                    "'sampan restore' makes a new folder from a backup",
            STR_ARG(err->msg));
}

static int detach_and_serve(const struct up_options *opt, struct arena *a, int lock_fd,
                            struct err *err)
{
    int say_fd = STDOUT_FILENO;
    int r = opt->detach ? detach(opt->dir, a, &say_fd, err) : 0;
    if (r < 0)
        return r;
    return serve(opt, a, lock_fd, say_fd, err);
}

static int up(struct arena *a, const char *dir, void *arg, struct err *err)
{
    struct up_options *opt = arg;
    opt->dir = dir;
    autoclose int lock_fd = instance_claim(dir, err);
    if (lock_fd < 0)
        return lock_fd;
    int r = detach_and_serve(opt, a, lock_fd, err);
    if (r < 0 && err->code == ERR_DAMAGED && !err->causes) /* with one it cannot be decrypted */
        say_what_to_do_about_damage(err);
    return r;
}

int up_run(const char *name, struct up_options *opt)
{
    program_return_memory();
    log_setup(opt->log_format, opt->log_level, STDERR_FILENO);
    return command_in_folder(name, opt->dir, up, opt);
}

int cmd_up(int argc, char **argv)
{
    struct up_options opt;
    int end = up_options_parse(argc, argv, &opt);
    return end ? end - 1 : up_run(argv[0], &opt);
}
