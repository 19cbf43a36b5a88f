/* store_bench_etcd.c - the same puts against Debian's etcd, over gRPC as its own clients speak it.
 *
 * One thread, a few connections, a fixed number of requests in flight; the request is made by hand
 * because it is two fields long. etcd runs with its defaults in a folder beside the store's. */
#include "bench/store_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"

#include "base/banned.h"

enum { N_CONNECTIONS = 4, REQUEST_BYTES = 5 + 2 + 32 + 3 + STORE_BENCH_VALUE_BYTES };

struct put {
    unsigned char bytes[REQUEST_BYTES];
    size_t n, sent;
};

struct connection {
    int fd;
    nghttp2_session *session;
    struct bench *bench;
};

struct bench {
    struct connection connections[N_CONNECTIONS];
    size_t n_started, n_done, n_failed;
    bool stops;
};

/* ---- One put ---- */

/* gRPC's five bytes, then key (field 1) and value (field 2) of a PutRequest. */
static struct put *put_new(size_t number)
{
    struct put *p = mem_new(struct put);
    char key[32];
    int key_n = snprintf(key, sizeof(key), "bench/%016zu", number);
    unsigned char *at = p->bytes + 5;
    *at++ = 0x0a;
    *at++ = (unsigned char)key_n;
    memcpy(at, key, (size_t)key_n);
    at += key_n;
    *at++ = 0x12;
    *at++ = (STORE_BENCH_VALUE_BYTES & 127) | 128;
    *at++ = STORE_BENCH_VALUE_BYTES >> 7;
    memset(at, 'v', STORE_BENCH_VALUE_BYTES);
    at += STORE_BENCH_VALUE_BYTES;
    p->n = (size_t)(at - p->bytes);
    uint32_t length = htonl((uint32_t)p->n - 5);
    memcpy(p->bytes + 1, &length, sizeof(length));
    return p;
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)session, (void)stream, (void)arg;
    struct put *p = source->ptr;
    size_t n = p->n - p->sent < room ? p->n - p->sent : room;
    memcpy(to, p->bytes + p->sent, n);
    p->sent += n;
    if (p->sent == p->n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

#define HEADER(name, value)                                                           \
    {                                                                                 \
        (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, 0 \
    }

static void submit_put(struct connection *c)
{
    static nghttp2_nv headers[] = {
        HEADER(":method", "POST"),
        HEADER(":scheme", "http"),
        HEADER(":path", "/etcdserverpb.KV/Put"),
        HEADER(":authority", "127.0.0.1"),
        HEADER("content-type", "application/grpc"),
        HEADER("te", "trailers"),
    };
    struct put *p = put_new(c->bench->n_started++);
    nghttp2_data_provider body = { { .ptr = p }, read_body };
    if (nghttp2_submit_request(c->session, NULL, headers, ARRAY_LEN(headers), &body, p) < 0)
        exit(1);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    (void)session, (void)frame, (void)flags;
    struct connection *c = arg;
    if (name_n == 11 && memcmp(name, "grpc-status", 11) == 0 && !(value_n == 1 && *value == '0'))
        c->bench->n_failed++;
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
    struct connection *c = arg;
    free(nghttp2_session_get_stream_user_data(session, stream));
    c->bench->n_failed += code != 0;
    c->bench->n_done++;
    if (!c->bench->stops)
        submit_put(c);
    return 0;
}

/* ---- Connections ---- */

static ssize_t send_bytes(nghttp2_session *session, const uint8_t *p, size_t n, int flags,
                          void *arg)
{
    (void)session, (void)flags;
    ssize_t sent = send(((struct connection *)arg)->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
    return sent;
}

static int dial(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
        (void)close(fd);
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void connection_init(struct connection *c, struct bench *b, int fd)
{
    *c = (struct connection){ .fd = fd, .bench = b };
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks))
        exit(1);
    nghttp2_session_callbacks_set_send_callback(callbacks, send_bytes);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    if (nghttp2_session_client_new(&c->session, callbacks, c) ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, NULL, 0))
        exit(1);
    nghttp2_session_callbacks_del(callbacks);
}

static bool turn(struct connection *c, short events)
{
    char bytes[65536];
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        if (n > 0 && nghttp2_session_mem_recv(c->session, (uint8_t *)bytes, (size_t)n) < 0)
            return false;
    }
    return nghttp2_session_send(c->session) == 0;
}

static bool turn_all(struct bench *b)
{
    struct pollfd fds[N_CONNECTIONS];
    for (size_t i = 0; i < N_CONNECTIONS; i++) {
        nghttp2_session *session = b->connections[i].session;
        fds[i] = (struct pollfd){ b->connections[i].fd, POLLIN, 0 };
        if (nghttp2_session_want_write(session))
            fds[i].events |= POLLOUT;
    }
    if (poll(fds, N_CONNECTIONS, 1000) < 0)
        return false;
    for (size_t i = 0; i < N_CONNECTIONS; i++)
        if (fds[i].revents && !turn(&b->connections[i], fds[i].revents))
            return false;
    return true;
}

static double measure(uint16_t port, size_t in_flight, double seconds)
{
    static struct bench b;
    b = (struct bench){ 0 };
    for (size_t i = 0; i < N_CONNECTIONS; i++)
        connection_init(&b.connections[i], &b, dial(port));
    for (size_t i = 0; i < in_flight; i++)
        submit_put(&b.connections[i % N_CONNECTIONS]);
    int64_t begin = clock_mono_ns(&clock_system), now = begin;
    bool ok = true;
    for (size_t i = 0; i < N_CONNECTIONS; i++)
        ok &= turn(&b.connections[i], 0);
    for (; ok && (double)(now - begin) < seconds * 1e9; now = clock_mono_ns(&clock_system))
        ok = turn_all(&b);
    double rate = (double)b.n_done * 1e9 / (double)(now - begin);
    b.stops = true;
    while (ok && b.n_done < b.n_started)
        ok = turn_all(&b);
    for (size_t i = 0; i < N_CONNECTIONS; i++) {
        nghttp2_session_del(b.connections[i].session);
        (void)close(b.connections[i].fd);
    }
    if (!ok || b.n_failed)
        fprintf(stderr, "etcd: %zu of %zu puts failed\n", b.n_failed, b.n_done);
    return ok && !b.n_failed ? rate : 0;
}

/* ---- The server ---- */

extern char **environ;

static uint16_t free_port(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof(at);
    autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, n) < 0 || getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        exit(1);
    return ntohs(at.sin_port);
}

static pid_t start_etcd(char *dir, uint16_t port)
{
    char client[64], peer[64], cluster[80];
    (void)snprintf(client, sizeof(client), "http://127.0.0.1:%u", port);
    (void)snprintf(peer, sizeof(peer), "http://127.0.0.1:%u", free_port());
    (void)snprintf(cluster, sizeof(cluster), "default=%s", peer);
    char *argv[] = { (char *)"etcd",
                     (char *)"--data-dir",
                     dir,
                     (char *)"--listen-client-urls",
                     client,
                     (char *)"--advertise-client-urls",
                     client,
                     (char *)"--listen-peer-urls",
                     peer,
                     (char *)"--initial-advertise-peer-urls",
                     peer,
                     (char *)"--initial-cluster",
                     cluster,
                     NULL };
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    if (posix_spawnp(&pid, "etcd", &actions, NULL, argv, environ))
        pid = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static bool is_up(uint16_t port)
{
    for (int i = 0; i < 100; i++) {
        int fd = dial(port);
        if (fd >= 0) {
            (void)close(fd);
            (void)usleep(1000000); /* it listens a little before it has elected itself */
            return true;
        }
        (void)usleep(100000);
    }
    return false;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

double store_bench_etcd(size_t in_flight, double seconds)
{
    const char *tmp = getenv("TMPDIR");
    char dir[128];
    (void)snprintf(dir, sizeof(dir), "%s/etcd-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 0;
    uint16_t port = free_port();
    pid_t pid = start_etcd(dir, port);
    double rate = 0;
    if (pid > 0) {
        if (is_up(port))
            rate = measure(port, in_flight, seconds);
        (void)kill(pid, SIGTERM);
        (void)waitpid(pid, NULL, 0);
    }
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rate;
}
