#include "net/grpc/suite_etcd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { CALL_MS = 20000, STARTS = 3 };

unsigned suite_etcd_free_port(void)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(in);
    autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&in, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&in, &len) < 0)
        return 0;
    return ntohs(in.sin_port);
}

static void etcd_exec(const struct suite_etcd *e)
{
    char data[160], cluster[96];
    (void)snprintf(data, sizeof(data), "%s/data", e->folder);
    (void)snprintf(cluster, sizeof(cluster), "default=%s", e->peer_url);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(null, 1);
    (void)dup2(null, 2);
    execlp("etcd", "etcd", "--data-dir", data, "--listen-client-urls", e->url,
           "--advertise-client-urls", e->url, "--listen-peer-urls", e->peer_url,
           "--initial-advertise-peer-urls", e->peer_url, "--initial-cluster", cluster,
           "--max-request-bytes", "15728640", "--heartbeat-interval", "50", "--election-timeout",
           "500", "--unsafe-no-fsync", (char *)NULL);
    _exit(127);
}

void suite_etcd_kill(struct suite_etcd *e)
{
    if (e->pid > 0) {
        (void)kill(e->pid, SIGKILL);
        (void)waitpid(e->pid, NULL, 0);
    }
    e->pid = -1;
}

/* 1 when it answers, 0 if it ended by itself (a port was taken), -1 if it is not installed. */
static int etcd_await(struct suite_etcd *e, struct grpc_client *client)
{
    struct arena a;
    arena_init(&a);
    int ret = 0;
    for (int i = 0; i < 600; i++) {
        struct str reply;
        int status = 0;
        if (grpc_call_unary(client, STR("/etcdserverpb.KV/Range"), STR("\n\1a"), NULL, 0, CALL_MS,
                            &a, &reply, NULL, NULL) == 0) {
            ret = 1;
            break;
        }
        if (waitpid(e->pid, &status, WNOHANG) == e->pid) {
            e->pid = -1;
            ret = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -1 : 0;
            break;
        }
        (void)usleep(50000);
    }
    arena_done(&a);
    return ret;
}

int suite_etcd_restart(struct suite_etcd *e)
{
    e->pid = fork();
    if (e->pid == 0)
        etcd_exec(e);
    struct grpc_client_options opt = { .address = str_skip(str_of(e->url), 7) };
    struct grpc_client *client = grpc_client_new(&opt);
    int r = etcd_await(e, client);
    grpc_client_free(client);
    if (r <= 0)
        suite_etcd_kill(e);
    return r;
}

int suite_etcd_start(struct suite_etcd *e, const char *folder)
{
    *e = (struct suite_etcd){ .pid = -1 };
    (void)snprintf(e->folder, sizeof(e->folder), "%s", folder);
    int r = 0;
    for (int i = 0; i < STARTS && r == 0; i++) {
        (void)snprintf(e->url, sizeof(e->url), "http://127.0.0.1:%u", suite_etcd_free_port());
        (void)snprintf(e->peer_url, sizeof(e->peer_url), "http://127.0.0.1:%u",
                       suite_etcd_free_port());
        r = suite_etcd_restart(e);
    }
    return r;
}
