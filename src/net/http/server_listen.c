/* server_listen.c - addresses, listening sockets and accepting; on the first loop. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "base/banned.h"

enum {
    BACKLOG = 1024,
    ACCEPTS_PER_TURN = 64,
    PAUSE_MS = 50, /* before accepting again when descriptors have run out */
};

/* Before idle connections are asked again to make room. */
#define ASK_NS ((int64_t)5 * PAUSE_MS * NS_PER_MS)

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un un;
        struct sockaddr_storage room;
    };
    socklen_t n;
};

/* ---- Addresses ---- */

static int parse_unix(struct str path, struct address *ret, struct err *err)
{
    ret->un.sun_family = AF_UNIX;
    if (!path.n || path.n >= sizeof(ret->un.sun_path))
        return err_set(err, ERR_INVALID, "socket path is empty or too long");
    memcpy(ret->un.sun_path, path.p, path.n);
    ret->n = sizeof(ret->un);
    return 0;
}

static int parse_tcp(struct str text, struct address *ret, struct err *err)
{
    size_t colon = text.n;
    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    uint64_t port;
    if (!colon || !str_to_u64(str_skip(text, colon), &port) || port > UINT16_MAX)
        return err_set(err, ERR_INVALID, "no port in address " STR_FMT, STR_ARG(text));
    struct str host = str_take(text, colon - 1);
    bool bracketed = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    if (bracketed)
        host = (struct str){ host.p + 1, host.n - 2 };
    char name[INET6_ADDRSTRLEN];
    if (host.n < sizeof(name)) {
        memcpy(name, host.p, host.n);
        name[host.n] = '\0';
        if (bracketed && inet_pton(AF_INET6, name, &ret->v6.sin6_addr) == 1) {
            ret->v6.sin6_family = AF_INET6;
            ret->v6.sin6_port = htons((uint16_t)port);
            ret->n = sizeof(ret->v6);
            return 0;
        }
        if (!bracketed && inet_pton(AF_INET, name, &ret->v4.sin_addr) == 1) {
            ret->v4.sin_family = AF_INET;
            ret->v4.sin_port = htons((uint16_t)port);
            ret->n = sizeof(ret->v4);
            return 0;
        }
    }
    return err_set(err, ERR_INVALID, "not a numeric address: " STR_FMT, STR_ARG(text));
}

static int parse_address(struct str text, struct address *ret, struct err *err)
{
    memset(ret, 0, sizeof(*ret));
    if (str_starts(text, STR("unix:")))
        return parse_unix(str_skip(text, 5), ret, err);
    return parse_tcp(text, ret, err);
}

static bool is_loopback(const struct address *a)
{
    switch (a->any.sa_family) {
    case AF_UNIX:
        return true;
    case AF_INET:
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    default:
        return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
    }
}

static struct str format_address(const struct address *a, char *to, size_t cap)
{
    char host[INET6_ADDRSTRLEN] = "";
    int n;
    switch (a->any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host));
        n = snprintf(to, cap, "%s:%u", host, ntohs(a->v4.sin_port));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host));
        n = snprintf(to, cap, "[%s]:%u", host, ntohs(a->v6.sin6_port));
        break;
    default:
        n = snprintf(to, cap, "unix");
        break;
    }
    assert(n > 0 && (size_t)n < cap);
    return (struct str){ to, (size_t)n };
}

/* ---- Accepting ---- */

static void set_tcp_options(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void on_pause_over(struct loop_timer *t)
{
    struct listener *li = container_of(t, struct listener, pause);
    loop_fd_want(&li->fd, EPOLLIN);
}

/* The backlog stays readable while we cannot accept: without a pause the loop would spin. */
static void pause_accepting(struct listener *li, const char *why)
{
    struct loop *l = li->fd.loop;
    log_warn("cannot accept connections for a moment", LOG_CSTR("err", why));
    loop_fd_want(&li->fd, 0);
    loop_timer_set(l, &li->pause, loop_now_ns(l) + PAUSE_MS * NS_PER_MS);
}

static bool is_full(const struct http_server *s)
{
    return atomic_load(&s->connections_open) >= s->limits.connections;
}

/* When there are too many connections, idle ones are asked to close, and a new one waits for that.
 * If that did not help, new ones are refused for a while. True if it waits. */
static bool wait_for_room(struct listener *li)
{
    int64_t now = loop_now_ns(li->fd.loop);
    bool full = is_full(li->server), just_asked = li->asked_ns && now - li->asked_ns < ASK_NS;
    if (!full || just_asked) {
        li->asked_ns = full ? li->asked_ns : 0;
        return false;
    }
    li->asked_ns = now;
    server__make_room(li->server);
    pause_accepting(li, "too many connections");
    return true;
}

static void accepted(struct listener *li, int fd, const struct address *peer)
{
    struct http_server *s = li->server;
    if (is_full(s)) {
        atomic_fetch_add(&s->connections_refused, 1);
        (void)close(fd);
        return;
    }
    if (li->is_tcp)
        set_tcp_options(fd);
    char text[64];
    server__deal(s, fd, li->tls, format_address(peer, text, sizeof(text)), li->is_tcp);
}

/* Without a free descriptor accept() fails even if no connection waits. */
static bool is_out_of_descriptors(int e)
{
    return e == EMFILE || e == ENFILE || e == ENOBUFS || e == ENOMEM;
}

static void on_accept(struct loop_fd *f, uint32_t events)
{
    (void)events;
    struct listener *li = (struct listener *)f;
    if (wait_for_room(li))
        return;
    for (int i = 0; i < ACCEPTS_PER_TURN && (i == 0 || !is_full(li->server)); i++) {
        struct address peer = { .n = sizeof(peer.room) };
        int fd = accept4(f->fd, &peer.any, &peer.n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            accepted(li, fd, &peer);
            continue;
        }
        if (is_out_of_descriptors(errno) && i == 0) { /* else it is called again if need be */
            pause_accepting(li, strerror(errno));
            server__make_room(li->server);
            return;
        }
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

/* ---- Listening ---- */

/* Removes the socket file if no process listens on it. True if it did. */
static bool remove_stale(const struct address *a)
{
    struct stat st;
    if (lstat(a->un.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return false;
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &a->any, a->n) == 0 || errno != ECONNREFUSED)
        return false;
    return unlink(a->un.sun_path) == 0;
}

static int bind_socket(int fd, const struct address *a)
{
    if (a->any.sa_family != AF_UNIX) {
        int on = 1;
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        return bind(fd, &a->any, a->n);
    }
    /* Before binding, so that there is no moment in which others may connect. */
    if (fchmod(fd, 0600) < 0)
        return -1;
    if (bind(fd, &a->any, a->n) == 0)
        return 0;
    return errno == EADDRINUSE && remove_stale(a) ? bind(fd, &a->any, a->n) : -1;
}

static struct str bound_address(struct arena *a, int fd, struct str asked)
{
    struct address bound = { .n = sizeof(bound.room) };
    if (str_starts(asked, STR("unix:")) || getsockname(fd, &bound.any, &bound.n) < 0)
        return arena_str(a, asked);
    char text[64];
    return arena_str(a, format_address(&bound, text, sizeof(text)));
}

static void listener_free(struct listener *li)
{
    loop_fd_remove(&li->fd);
    loop_timer_cancel(&li->pause);
    (void)close(li->fd.fd);
    if (li->path)
        (void)unlink(li->path);
    free(li->path);
    tls_context_unref(li->tls);
    free(li);
}

/* Takes the descriptor. */
static int add_listener(struct http_server *s, int fd, const struct address *a,
                        struct tls_context *tls, struct err *err)
{
    struct listener *li = mem_new(struct listener);
    li->fd = (struct loop_fd){ .fd = fd, .events = EPOLLIN, .on_ready = on_accept };
    li->pause.on_fire = on_pause_over;
    li->server = s;
    li->tls = tls_context_ref(tls);
    li->is_tcp = a->any.sa_family != AF_UNIX;
    if (!li->is_tcp)
        li->path = mem_dup(a->un.sun_path, strlen(a->un.sun_path) + 1);
    int r = loop_fd_add(s->homes[0]->loop, &li->fd, err);
    if (r < 0) {
        listener_free(li);
        return r;
    }
    li->next = s->listeners;
    s->listeners = li;
    return 0;
}

int http_server_listen(struct http_server *s, struct str address, struct tls_context *tls,
                       struct arena *a, struct str *ret_address, struct err *err)
{
    loop_assert_owner(s->homes[0]->loop);
    struct address addr;
    int r = parse_address(address, &addr, err);
    if (r < 0)
        return r;
    if (!tls && !is_loopback(&addr))
        return err_set(err, ERR_FORBIDDEN, "without TLS only loopback addresses may be used");
    autoclose int fd = socket(addr.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind_socket(fd, &addr) < 0 || listen(fd, BACKLOG) < 0)
        return err_errno(err, errno, "listen on " STR_FMT, STR_ARG(address));
    if (ret_address)
        *ret_address = bound_address(a, fd, address);
    return add_listener(s, take_fd(&fd), &addr, tls, err);
}

void server__close_listeners(struct http_server *s)
{
    while (s->listeners) {
        struct listener *li = s->listeners;
        s->listeners = li->next;
        listener_free(li);
    }
}
