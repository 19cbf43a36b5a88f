/* dns_server.c - see its header. */
#include "dns/dns_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/loop.h"
#include "net/workers.h"
#include "base/banned.h"

enum {
    TURN_PACKETS = 64, /* of one socket, before others have their turn */
    CONNS_MAX = 128,
    CONN_IDLE_MS = 10000,
    ANY_TRIES = 16,
    ACCEPT_PAUSE_MS = 100,
    ASKING_THREADS = 32,
    ASKING_QUEUED = 256,
    FRAME_BYTES = 2 + DNS_MESSAGE_BYTES,
};

struct listener {
    struct dns_server *server;
    struct loop_fd udp, tcp;
    struct loop_timer pause;
};

struct conn {
    struct loop_fd fd;
    struct loop_timer idle;
    TAILQ_ENTRY(conn) link;
    struct dns_server *server;
    struct buf in, out;
    bool is_asking; /* an errand of its question is under way */
    bool is_closed;
};

struct dns_server {
    struct dns_server_options opt;
    struct loop *loop;
    pthread_t thread;
    bool runs;
    struct workers *workers;
    struct arena arena; /* of the options and the address */
    struct arena scratch;
    struct str address;
    struct listener listeners[DNS_LISTEN_MAX];
    size_t n_listeners;
    TAILQ_HEAD(conns, conn) conns;
    size_t n_conns;
    struct loop_msg end;
};

/* A question that others have to be asked. */
struct errand {
    struct work work;
    struct loop_msg back;
    struct dns_server *server;
    struct arena arena;
    struct str packet;
    struct buf out;
    struct conn *conn; /* NULL: it came by UDP */
    struct listener *via;
    struct sockaddr_storage peer;
    socklen_t n_peer;
};

/* ---- Answers ---- */

static void write_code(const struct dns_question *q, enum dns_code code, struct buf *out)
{
    const struct dns_reply reply = { .code = code, .recurses = true };
    dns_reply_write(q, &reply, DNS_UDP_BYTES, out);
}

static size_t most_bytes(const struct dns_question *q, bool over_tcp)
{
    return over_tcp ? DNS_MESSAGE_BYTES : q->udp_bytes;
}

/* False: others have to be asked. Nothing in `out`: there is no answer. */
static bool answer(struct dns_server *s, struct arena *a, struct str packet, bool over_tcp,
                   struct buf *out)
{
    struct dns_question q;
    struct dns_reply reply;
    int code = dns_question_read(a, packet, &q);
    if (code < 0)
        return true;
    if (code > 0) {
        write_code(&q, (enum dns_code)code, out);
        return true;
    }
    enum dns_zone_verdict verdict = dns_zone_answer(&s->opt.zone, a, &q, &reply);
    if (verdict == DNS_ZONE_FOREIGN && !s->opt.forward.n)
        write_code(&q, DNS_REFUSED, out);
    else if (verdict == DNS_ZONE_ANSWERED || !s->opt.forward.n)
        dns_reply_write(&q, &reply, most_bytes(&q, over_tcp), out);
    else
        return false;
    return true;
}

/* What an alias leads to, behind the alias. */
static void ask_for_alias(struct errand *e, const struct dns_question *q, struct dns_reply *reply)
{
    struct dns_question own;
    struct dns_records more = { 0 };
    struct str packet = dns_forward_question(
        &e->arena, reply->answers.list[reply->answers.n - 1].target, q->type, &own);
    struct str got;
    if (dns_forward_ask(&e->server->opt.forward, &e->arena, packet, &own, false, &got, NULL) < 0 ||
        !dns_reply_read(&e->arena, got, &reply->code, &more)) {
        reply->code = DNS_SERVER_FAILURE;
        return;
    }
    for (size_t i = 0; i < more.n; i++)
        dns_records_add(&e->arena, &reply->answers, &more.list[i]);
}

/* Thread: a worker. */
static void run_errand(struct work *w)
{
    struct errand *e = container_of(w, struct errand, work);
    struct dns_question q;
    struct dns_reply reply;
    struct str got;
    (void)dns_question_read(&e->arena, e->packet, &q); /* it was good before */
    if (dns_zone_answer(&e->server->opt.zone, &e->arena, &q, &reply) != DNS_ZONE_FOREIGN) {
        if (reply.answers.n && reply.answers.list[reply.answers.n - 1].type == DNS_CNAME)
            ask_for_alias(e, &q, &reply);
        dns_reply_write(&q, &reply, most_bytes(&q, e->conn != NULL), &e->out);
    } else if (dns_forward_ask(&e->server->opt.forward, &e->arena, e->packet, &q, e->conn != NULL,
                               &got, NULL) == 0) {
        buf_str_add(&e->out, got);
    } else {
        write_code(&q, DNS_SERVER_FAILURE, &e->out);
    }
    loop_post(e->server->loop, &e->back);
}

static void errand_free(struct errand *e)
{
    buf_done(&e->out);
    arena_done(&e->arena);
    free(e);
}

static void conn_answered(struct conn *c, struct str answer);

static void on_back(struct loop *l, struct loop_msg *m)
{
    struct errand *e = container_of(m, struct errand, back);
    (void)l;
    if (e->conn)
        conn_answered(e->conn, buf_str(&e->out));
    else if (e->via->udp.fd >= 0)
        (void)sendto(e->via->udp.fd, e->out.p, e->out.n, MSG_DONTWAIT, (struct sockaddr *)&e->peer,
                     e->n_peer);
    errand_free(e);
}

static struct errand *errand_new(struct dns_server *s, struct str packet)
{
    struct errand *e = mem_new(struct errand);
    e->work.run = run_errand;
    e->back.run = on_back;
    e->server = s;
    arena_init(&e->arena);
    e->packet = arena_str(&e->arena, packet);
    return e;
}

/* When too many wait for others already, the answer is that this one cannot be had. */
static void send_errand(struct errand *e)
{
    struct dns_question q;
    if (workers_submit(e->server->workers, &e->work))
        return;
    (void)dns_question_read(&e->arena, e->packet, &q);
    write_code(&q, DNS_SERVER_FAILURE, &e->out);
    loop_defer(e->server->loop, &e->back);
}

/* ---- UDP ---- */

static void take_packet(struct listener *l, struct str packet, const struct sockaddr_storage *peer,
                        socklen_t n_peer)
{
    struct dns_server *s = l->server;
    autobuf out = { 0 };
    arena_reset(&s->scratch);
    if (!answer(s, &s->scratch, packet, false, &out)) {
        struct errand *e = errand_new(s, packet);
        e->via = l;
        e->peer = *peer;
        e->n_peer = n_peer;
        send_errand(e);
    } else if (out.n) {
        (void)sendto(l->udp.fd, out.p, out.n, MSG_DONTWAIT, (const struct sockaddr *)peer, n_peer);
    }
}

static void on_udp(struct loop_fd *f, uint32_t events)
{
    struct listener *l = container_of(f, struct listener, udp);
    char packet[DNS_MESSAGE_BYTES];
    (void)events;
    for (int i = 0; i < TURN_PACKETS; i++) {
        struct sockaddr_storage peer;
        socklen_t n_peer = sizeof(peer);
        ssize_t n = recvfrom(f->fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&peer,
                             &n_peer);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0)
            take_packet(l, (struct str){ packet, (size_t)n }, &peer, n_peer);
    }
}

/* ---- TCP ---- */

static void conn_free(struct conn *c)
{
    TAILQ_REMOVE(&c->server->conns, c, link);
    c->server->n_conns--;
    buf_done(&c->in);
    buf_done(&c->out);
    free(c);
}

static void conn_close(struct conn *c)
{
    if (c->is_closed)
        return;
    c->is_closed = true;
    loop_timer_cancel(&c->idle);
    loop_fd_remove(&c->fd);
    (void)close(c->fd.fd);
    if (!c->is_asking)
        conn_free(c);
}

static void conn_stay(struct conn *c)
{
    loop_timer_set(c->server->loop, &c->idle,
                   loop_now_ns(c->server->loop) + CONN_IDLE_MS * NS_PER_MS);
}

static void put_answer(struct conn *c, struct str answer)
{
    buf_byte(&c->out, (char)(answer.n >> 8));
    buf_byte(&c->out, (char)answer.n);
    buf_str_add(&c->out, answer);
}

/* False: the connection is gone. */
static bool conn_write(struct conn *c)
{
    while (c->out.n) {
        ssize_t n = send(c->fd.fd, c->out.p, c->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0 && errno != EINTR) {
            conn_close(c);
            return false;
        }
        if (n > 0)
            buf_drop(&c->out, (size_t)n);
    }
    return true;
}

/* One question after the other: the next one when the answer to the last has been read. */
static void conn_work(struct conn *c)
{
    struct dns_server *s = c->server;
    while (!c->out.n && !c->is_asking && c->in.n >= 2) {
        const size_t n = (size_t)((unsigned char)c->in.p[0] << 8 | (unsigned char)c->in.p[1]);
        if (c->in.n < n + 2)
            break;
        const struct str packet = { c->in.p + 2, n };
        autobuf out = { 0 };
        arena_reset(&s->scratch);
        if (!answer(s, &s->scratch, packet, true, &out)) {
            struct errand *e = errand_new(s, packet);
            e->conn = c;
            c->is_asking = true;
            buf_drop(&c->in, n + 2);
            send_errand(e);
            return;
        }
        buf_drop(&c->in, n + 2);
        if (!out.n) { /* what is no question is no reason to stay */
            conn_close(c);
            return;
        }
        put_answer(c, buf_str(&out));
        if (!conn_write(c))
            return;
    }
    conn_stay(c);
    loop_fd_want(&c->fd, (c->out.n ? EPOLLOUT : 0) |
                             (c->out.n || c->is_asking || c->in.n >= FRAME_BYTES ? 0 : EPOLLIN));
}

static void conn_answered(struct conn *c, struct str answer)
{
    c->is_asking = false;
    if (c->is_closed) {
        conn_free(c);
        return;
    }
    put_answer(c, answer);
    if (conn_write(c))
        conn_work(c);
}

static void on_conn(struct loop_fd *f, uint32_t events)
{
    struct conn *c = container_of(f, struct conn, fd);
    if (events & EPOLLOUT && !conn_write(c))
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && c->in.n < FRAME_BYTES) {
        buf_reserve(&c->in, FRAME_BYTES - c->in.n);
        ssize_t n = recv(f->fd, c->in.p + c->in.n, FRAME_BYTES - c->in.n, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            conn_close(c);
            return;
        }
        c->in.n += n > 0 ? (size_t)n : 0;
    }
    conn_work(c);
}

static void on_idle(struct loop_timer *t)
{
    conn_close(container_of(t, struct conn, idle));
}

/* The one that was quiet longest makes room. */
static void make_room(struct dns_server *s)
{
    struct conn *c, *oldest = NULL;
    TAILQ_FOREACH(c, &s->conns, link)
    if (!c->is_closed && (!oldest || c->idle.at_ns < oldest->idle.at_ns))
        oldest = c;
    if (oldest)
        conn_close(oldest);
}

static void conn_new(struct dns_server *s, int fd)
{
    if (s->n_conns >= CONNS_MAX)
        make_room(s);
    struct conn *c = mem_new(struct conn);
    c->server = s;
    c->fd = (struct loop_fd){ .fd = fd, .events = EPOLLIN, .on_ready = on_conn };
    c->idle.on_fire = on_idle;
    TAILQ_INSERT_TAIL(&s->conns, c, link);
    s->n_conns++;
    if (loop_fd_add(s->loop, &c->fd, NULL) < 0)
        conn_close(c);
    else
        conn_stay(c);
}

static void on_pause_over(struct loop_timer *t)
{
    loop_fd_want(&container_of(t, struct listener, pause)->tcp, EPOLLIN);
}

static void on_accept(struct loop_fd *f, uint32_t events)
{
    struct listener *l = container_of(f, struct listener, tcp);
    struct loop *loop = l->server->loop;
    (void)events;
    int fd = accept4(f->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        conn_new(l->server, fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        loop_fd_want(f, 0);
        loop_timer_set(loop, &l->pause, loop_now_ns(loop) + ACCEPT_PAUSE_MS * NS_PER_MS);
    }
}

/* ---- Listening ---- */

static int bind_at(const struct tcp_address *at, int type, struct err *err)
{
    const int on = 1;
    int fd = socket(at->any.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(err, errno, "make a socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (const struct sockaddr *)&at->any, at->n) == 0 &&
        (type == SOCK_DGRAM || listen(fd, CONNS_MAX) == 0))
        return fd;
    int r = err_errno(err, errno, "listen");
    (void)close(fd);
    return r;
}

/* UDP at `at`, and TCP at the port that it got. -1 where there is none. */
static int bind_pair(struct tcp_address *at, int *ret_udp, int *ret_tcp, struct err *err)
{
    *ret_tcp = -1;
    *ret_udp = bind_at(at, SOCK_DGRAM, err);
    if (*ret_udp < 0)
        return *ret_udp;
    (void)getsockname(*ret_udp, (struct sockaddr *)&at->any, &at->n);
    *ret_tcp = bind_at(at, SOCK_STREAM, err);
    if (*ret_tcp >= 0)
        return 0;
    (void)close(*ret_udp);
    *ret_udp = -1;
    return *ret_tcp;
}

/* A port that is free for UDP may be taken for TCP: then another one is tried. */
static int bind_any(struct tcp_address *at, int *ret_udp, int *ret_tcp, struct err *err)
{
    int r = -1;
    for (int i = 0; i < ANY_TRIES && r < 0; i++) {
        err_clear(err);
        ((struct sockaddr_in *)&at->any)->sin_port = 0; /* both families have it there */
        r = bind_pair(at, ret_udp, ret_tcp, err);
    }
    return r;
}

static void note_own(struct dns_server *s, const struct tcp_address *at)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&at->any;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&at->any;
    const bool is_four = at->any.ss_family == AF_INET;
    struct str bytes = is_four ? (struct str){ (const char *)&in->sin_addr, 4 }
                               : (struct str){ (const char *)&in6->sin6_addr, 16 };
    if (!s->opt.zone.own[!is_four].n)
        s->opt.zone.own[!is_four] = arena_str(&s->arena, bytes);
}

/* Both protocols at one port; of port 0 UDP gets any, and TCP the same. */
static int listen_at(struct dns_server *s, struct str address, struct err *err)
{
    struct dns_forward one = { 0 };
    const bool is_any = str_ends(address, STR(":0"));
    struct str named =
        is_any ? arena_printf(&s->arena, STR_FMT "1", (int)address.n - 1, address.p) : address;
    int r = dns_forward_add(&one, named, err); /* it reads addresses */
    if (r < 0)
        return r;
    struct tcp_address *at = &one.upstreams[0];
    struct listener *l = &s->listeners[s->n_listeners++];
    *l = (struct listener){ .server = s, .pause.on_fire = on_pause_over };
    l->udp = (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_udp };
    l->tcp = (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_accept };
    r = is_any ? bind_any(at, &l->udp.fd, &l->tcp.fd, err)
               : bind_pair(at, &l->udp.fd, &l->tcp.fd, err);
    if (r < 0)
        return r;
    if (!s->address.n)
        s->address = tcp_text(&s->arena, at);
    note_own(s, at);
    r = loop_fd_add(s->loop, &l->udp, err);
    return r < 0 ? r : loop_fd_add(s->loop, &l->tcp, err);
}

/* ---- Beginning and end ---- */

static void close_listener(struct listener *l)
{
    loop_timer_cancel(&l->pause);
    struct loop_fd *const both[] = { &l->udp, &l->tcp };
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        loop_fd_remove(both[i]);
        if (both[i]->fd >= 0)
            (void)close(both[i]->fd);
        both[i]->fd = -1;
    }
}

static void close_all(struct dns_server *s)
{
    struct conn *c, *next;
    for (size_t i = 0; i < s->n_listeners; i++)
        close_listener(&s->listeners[i]);
    for (c = TAILQ_FIRST(&s->conns); c; c = next) {
        next = TAILQ_NEXT(c, link);
        conn_close(c);
    }
}

static void on_end(struct loop *l, struct loop_msg *m)
{
    close_all(container_of(m, struct dns_server, end));
    loop_stop(l);
}

static void *run(void *loop)
{
    loop_run(loop);
    return NULL;
}

static int start_thread(struct dns_server *s, struct err *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, NULL, run, s->loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->runs = rc == 0;
    return rc ? err_errno(err, rc, "start a thread") : 0;
}

static int start(struct dns_server *s, struct err *err)
{
    s->loop = loop_new(NULL, err);
    if (!s->loop)
        return -ERR_IO;
    s->workers = workers_new(ASKING_THREADS, ASKING_QUEUED);
    for (size_t i = 0; i < s->opt.n_listen; i++) {
        int r = listen_at(s, s->opt.listen[i], err);
        if (r < 0)
            return err_wrap(err, STR_FMT, STR_ARG(s->opt.listen[i]));
    }
    dns_zone_add_indices(&s->opt.zone);
    return start_thread(s, err);
}

int dns_server_start(const struct dns_server_options *opt, struct dns_server **ret, struct err *err)
{
    struct dns_server *s = mem_new(struct dns_server);
    s->opt = *opt;
    s->end.run = on_end;
    arena_init(&s->arena);
    arena_init(&s->scratch);
    TAILQ_INIT(&s->conns);
    int r = start(s, err);
    if (r < 0) {
        dns_server_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct str dns_server_address(const struct dns_server *s)
{
    return s->address;
}

/* Errands that are under way come back to a loop that does not run any more; its end takes them. */
struct dns_server *dns_server_stop(struct dns_server *s)
{
    if (!s)
        return NULL;
    if (s->runs) {
        loop_post(s->loop, &s->end);
        (void)pthread_join(s->thread, NULL);
    } else {
        close_all(s);
    }
    workers_free(s->workers);
    loop_free(s->loop);
    arena_done(&s->scratch);
    arena_done(&s->arena);
    free(s);
    return NULL;
}
