#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"

enum { PIECE = 16 << 10, WORKERS = 4, WORK_QUEUED = 64 };

static const char PIECE_TEXT[PIECE] = { [0 ... PIECE - 1] = 'p' };

void harness_sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL);
}

int64_t harness_now_ms(void)
{
    return clock_mono_ns(&clock_system) / NS_PER_MS;
}

size_t harness_rss_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

void harness_check_rss(size_t before, size_t most)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    size_t now = harness_rss_bytes();
    if (now > before + most)
        fail_msg("grown by %zu bytes, allowed are %zu", now - before, most);
#else
    (void)before;
    (void)most;
#endif
}

/* ---- The handler ---- */

struct upload {
    struct harness *h;
    size_t n;
    bool consume;
};

struct stream {
    struct harness *h;
    size_t left; /* SIZE_MAX: endless */
};

static size_t query_number(const struct http_request *req)
{
    uint64_t n = 0;
    (void)str_to_u64(req->query, &n);
    return (size_t)n;
}

static void reply_text(struct http_exchange *x, struct str text)
{
    static const struct http_header type[] = { { { "content-type", 12 }, { "text/plain", 10 } } };
    http_reply(x, 200, type, 1, HTTP_BYTES(text));
}

static void handle_big(struct http_exchange *x)
{
    size_t n = query_number(http_request_of(x));
    char *p = mem_alloc(n);
    memset(p, 'b', n);
    http_reply(x, 200, NULL, 0, (struct http_bytes){ { p, n }, free, p });
}

static void stream_some(void *arg, struct http_exchange *x)
{
    struct stream *s = arg;
    while (s->left && http_reply_room(x)) {
        size_t n = s->left < PIECE ? s->left : PIECE;
        http_reply_write(x, HTTP_BYTES(((struct str){ PIECE_TEXT, n })));
        if (s->left != SIZE_MAX)
            s->left -= n;
    }
    if (!s->left)
        http_reply_end(x, NULL, 0);
}

static void stream_gone(void *arg, struct http_exchange *x)
{
    struct stream *s = arg;
    s->h->gone++;
    http_reply_end(x, NULL, 0);
}

static void handle_stream(struct harness *h, struct http_exchange *x, size_t n)
{
    struct stream *s = arena_new(http_arena(x), struct stream);
    *s = (struct stream){ h, n };
    struct http_events events = { .arg = s, .on_room = stream_some, .on_gone = stream_gone };
    http_listen_to(x, &events);
    http_reply_begin(x, 200, NULL, 0);
    stream_some(s, x);
}

static void handle_trailers(struct http_exchange *x)
{
    struct http_header trailer = { STR("x-sum"), STR("42") };
    http_reply_begin(x, 200, NULL, 0);
    http_reply_write(x, HTTP_BYTES(STR("body")));
    http_reply_end(x, &trailer, 1);
}

static void on_worker(struct http_exchange *x, void *arg)
{
    struct harness *h = arg;
    size_t n = query_number(http_request_of(x));
    if (!n) {
        char text[] = "from a worker";
        http_send(x, 200, NULL, 0, HTTP_BYTES(str_of(text)));
        return;
    }
    http_send_begin(x, 200, NULL, 0);
    int r = 0;
    while (n && r == 0) {
        size_t piece = n < PIECE ? n : PIECE;
        r = http_send_write(x, HTTP_BYTES(((struct str){ PIECE_TEXT, piece })));
        n -= piece;
    }
    if (r == -ERR_GONE)
        h->gone++;
    http_send_end(x, NULL, 0);
}

static void send_spent(struct http_exchange *x)
{
    struct err err = ERR_INIT(http_arena(x));
    (void)allowance_error(http_arena(x)->allowance, &err);
    http_send(x, err_http_status(err.code), NULL, 0, HTTP_BYTES(err.msg));
}

static void toil(struct http_exchange *x, void *arg)
{
    struct harness *h = arg;
    h->started++;
    while (!arena_spent(http_arena(x)))
        harness_sleep_ms(1);
    h->spent++;
    send_spent(x);
}

static void be_deaf(struct http_exchange *x, void *arg)
{
    struct harness *h = arg;
    (void)arena_alloc(http_arena(x), query_number(http_request_of(x)), 1);
    h->started++;
    while (!h->let_go)
        harness_sleep_ms(1);
    /* All that a holder may do. */
    (void)arena_alloc(http_arena(x), 100000, 1);
    http_send_begin(x, 200, NULL, 0);
    (void)http_send_write(x, HTTP_BYTES(STR("at last")));
    http_send_end(x, NULL, 0);
}

static void take_memory(struct http_exchange *x, void *arg)
{
    struct harness *h = arg;
    char *p = arena_alloc(http_arena(x), query_number(http_request_of(x)), 1);
    *p = 'x';
    h->started++;
    if (arena_spent(http_arena(x)))
        send_spent(x);
    else
        toil(x, h);
}

static void hold_gone(void *arg, struct http_exchange *x)
{
    struct harness *h = arg;
    h->running--;
    h->gone++;
    http_reply(x, 200, NULL, 0, HTTP_BYTES(STR("nobody hears this")));
}

static void handle_hold(struct harness *h, struct http_exchange *x)
{
    struct http_events events = { .arg = h, .on_gone = hold_gone };
    h->running++;
    http_listen_to(x, &events);
}

static void handle_stubborn(struct harness *h, struct http_exchange *x)
{
    assert_true(h->n_stubborn < HARNESS_STUBBORN);
    h->stubborn[h->n_stubborn] = x;
    h->n_stubborn++; /* after the array: the test reads both */
}

static void end_stubborn(struct http_exchange *x, void *arg)
{
    (void)arg;
    reply_text(x, STR("at last"));
}

void harness_release(struct harness *h)
{
    size_t n = h->n_stubborn;
    h->n_stubborn = 0;
    for (size_t i = 0; i < n; i++)
        http_to_loop(h->stubborn[i], end_stubborn, NULL);
}

static void upload_piece(void *arg, struct http_exchange *x, struct str piece, bool end)
{
    struct upload *u = arg;
    u->n += piece.n;
    u->h->uploaded += piece.n;
    if (u->consume)
        http_body_consumed(x, piece.n);
    if (end)
        http_reply(x, 200, NULL, 0, HTTP_BYTES(arena_printf(http_arena(x), "%zu", u->n)));
}

static void upload_gone(void *arg, struct http_exchange *x)
{
    struct upload *u = arg;
    u->h->gone++;
    http_abort(x);
}

static void handle_upload(struct harness *h, struct http_exchange *x, bool consume)
{
    struct upload *u = arena_new(http_arena(x), struct upload);
    *u = (struct upload){ h, 0, consume };
    struct http_events events = { .arg = u, .on_body = upload_piece, .on_gone = upload_gone };
    http_listen_to(x, &events);
    http_body_start(x);
}

static void handle_headers(struct http_exchange *x)
{
    const struct http_request *req = http_request_of(x);
    struct str text =
        arena_printf(http_arena(x), STR_FMT " " STR_FMT " " STR_FMT " %d\n", STR_ARG(req->method),
                     STR_ARG(req->path), STR_ARG(req->query), (int)req->version);
    for (size_t i = 0; i < req->n_headers; i++)
        text = arena_printf(http_arena(x), STR_FMT STR_FMT ": " STR_FMT "\n", STR_ARG(text),
                            STR_ARG(req->headers[i].name), STR_ARG(req->headers[i].value));
    reply_text(x, text);
}

static void handle_whoami(struct http_exchange *x)
{
    const struct http_peer *peer = http_request_of(x)->peer;
    struct str text = arena_printf(http_arena(x), "%s cn=" STR_FMT, peer->tls ? "tls" : "plain",
                                   STR_ARG(peer->cert.common_name));
    for (size_t i = 0; i < peer->cert.n_organizations; i++)
        text = arena_printf(http_arena(x), STR_FMT " o=" STR_FMT, STR_ARG(text),
                            STR_ARG(peer->cert.organizations[i]));
    if (peer->cert.uid.n)
        text = arena_printf(http_arena(x), STR_FMT " uid=" STR_FMT, STR_ARG(text),
                            STR_ARG(peer->cert.uid));
    text = arena_printf(http_arena(x), STR_FMT " verified=%d fp=%zu", STR_ARG(text),
                        peer->cert.verified, peer->cert.fingerprint.n);
    reply_text(x, text);
}

static void tunnel_bytes(void *arg, struct http_exchange *x, struct str bytes)
{
    (void)arg;
    char *copy = mem_dup(bytes.p, bytes.n);
    http_tunnel_write(x, (struct http_bytes){ { copy, bytes.n }, free, copy });
    if (bytes.n && bytes.p[bytes.n - 1] == '!')
        http_tunnel_close(x);
}

static void tunnel_gone(void *arg, struct http_exchange *x)
{
    ((struct harness *)arg)->gone++;
    http_tunnel_close(x);
}

static void handle_tunnel(struct harness *h, struct http_exchange *x)
{
    static const struct http_header headers[] = { { { "connection", 10 }, { "Upgrade", 7 } },
                                                  { { "upgrade", 7 }, { "echo", 4 } } };
    struct http_tunnel tunnel = { .arg = h, .on_bytes = tunnel_bytes, .on_gone = tunnel_gone };
    http_upgrade(x, headers, 2, &tunnel);
}

static void handle_close(struct http_exchange *x)
{
    static const struct http_header headers[] = { { { "connection", 10 }, { "close", 5 } } };
    http_reply(x, 200, headers, 1, HTTP_BYTES(STR("bye")));
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct harness *h = arg;
    const struct http_request *req = http_request_of(x);
    struct str path = req->path;
    h->requests++;
    if (str_eq(path, STR("/")))
        reply_text(x, STR("hello"));
    else if (str_eq(path, STR("/echo")) || str_eq(path, STR("/later")))
        reply_text(x, req->body);
    else if (str_eq(path, STR("/headers")))
        handle_headers(x);
    else if (str_eq(path, STR("/big")))
        handle_big(x);
    else if (str_eq(path, STR("/stream")))
        handle_stream(h, x, query_number(req));
    else if (str_eq(path, STR("/endless")))
        handle_stream(h, x, SIZE_MAX);
    else if (str_eq(path, STR("/trailers")))
        handle_trailers(x);
    else if (str_eq(path, STR("/worker")))
        (void)http_to_worker(x, h->workers, on_worker, h);
    else if (str_eq(path, STR("/toil")))
        (void)http_to_worker(x, h->workers, toil, h);
    else if (str_eq(path, STR("/deaf")))
        (void)http_to_worker(x, h->workers, be_deaf, h);
    else if (str_eq(path, STR("/take")))
        (void)http_to_worker(x, h->workers, take_memory, h);
    else if (str_eq(path, STR("/hold")))
        handle_hold(h, x);
    else if (str_eq(path, STR("/stubborn")))
        handle_stubborn(h, x);
    else if (str_eq(path, STR("/upload")))
        handle_upload(h, x, true);
    else if (str_eq(path, STR("/stuck")))
        handle_upload(h, x, false);
    else if (str_eq(path, STR("/close")))
        handle_close(x);
    else if (str_eq(path, STR("/whoami")))
        handle_whoami(x);
    else if (str_eq(path, STR("/tunnel")))
        handle_tunnel(h, x);
    else if (str_eq(path, STR("/abort")))
        http_abort(x);
    else
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("no such path")));
}

static void first_over(void *arg, struct http_exchange *x, int status)
{
    struct harness *h = arg;
    (void)x;
    (void)status;
    h->over_order = h->over_order * 10 + 1;
    h->later = NULL;
}

static void second_over(void *arg, struct http_exchange *x, int status)
{
    struct harness *h = arg;
    (void)x;
    (void)status;
    h->over_order = h->over_order * 10 + 2;
}

static enum http_body_mode wait_for_later(struct harness *h, struct http_exchange *x)
{
    http_when_over(x, first_over, h);
    http_when_over(x, second_over, h);
    http_add_header(x, STR("x-own"), STR("mine"));
    h->over_order = 0;
    h->later = x;
    h->n_later++;
    return HTTP_BODY_LATER;
}

static void on_go_on(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct harness *h = container_of(m, struct harness, go_on);
    if (h->later && h->later_status)
        http_reply(h->later, h->later_status, NULL, 0, HTTP_BYTES(STR("no")));
    else if (h->later)
        http_go_on(h->later);
    atomic_store(&h->later_done, true);
}

void harness_go_on(struct harness *h, int status)
{
    h->go_on.run = on_go_on;
    h->later_status = status;
    atomic_store(&h->later_done, false);
    loop_post(h->loops[0], &h->go_on);
    harness_wait(atomic_load(&h->later_done));
}

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    struct str path = http_request_of(x)->path;
    if (str_eq(path, STR("/later")))
        return wait_for_later(arg, x);
    if (str_eq(path, STR("/head")))
        http_reply(x, 403, NULL, 0, HTTP_BYTES(STR("not you")));
    bool stream =
        str_eq(path, STR("/upload")) || str_eq(path, STR("/stuck")) || str_eq(path, STR("/early"));
    return stream ? HTTP_BODY_STREAM : HTTP_BODY_COLLECT;
}

/* ---- Start and stop ---- */

struct harness_options harness_defaults(void)
{
    return (struct harness_options){ .limits = http_limits_default() };
}

static void make_certificates(struct harness *h)
{
    int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    const struct str dns[] = { STR("localhost") }, ips[] = { STR("127.0.0.1") };
    const struct str organizations[] = { STR("system:masters"), STR("crew") };
    struct pki_leaf server = { .common_name = STR("server"),
                               .dns_names = dns,
                               .n_dns_names = 1,
                               .ips = ips,
                               .n_ips = 1,
                               .server = true,
                               .now_sec = now,
                               .days = 2 };
    struct pki_leaf client = { .common_name = STR("skipper"),
                               .uid = STR("u-7"),
                               .organizations = organizations,
                               .n_organizations = 2,
                               .client = true,
                               .now_sec = now,
                               .days = 2 };
    assert_int_equal(pki_make_ca(&h->arena, STR("test CA"), now, 2, &h->ca, NULL), 0);
    assert_int_equal(pki_issue(&h->arena, &h->ca, &server, &h->server_pair, NULL), 0);
    assert_int_equal(pki_issue(&h->arena, &h->ca, &client, &h->client_pair, NULL), 0);
}

static void listen_tls(struct harness *h, const struct harness_options *opt)
{
    struct err err = ERR_INIT(&h->arena);
    make_certificates(h);
    struct str ca = arena_printf(&h->arena, STR_FMT STR_FMT, STR_ARG(h->ca.cert_pem),
                                 STR_ARG(opt->more_ca_pem));
    struct tls_config config = { .cert_pem = h->server_pair.cert_pem,
                                 .key_pem = h->server_pair.key_pem,
                                 .ca_pem = ca,
                                 .crl_pem = opt->crl_pem,
                                 .server = true,
                                 .require_peer = opt->require_client };
    if (tls_context_new(&config, &h->context, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    if (http_server_listen(h->server, STR("127.0.0.1:0"), h->context, &h->arena, &h->tls, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

void harness_start(struct harness *h, const struct harness_options *opt)
{
    *h = (struct harness){ .n_loops = opt->n_loops ? opt->n_loops : 1 };
    arena_init(&h->arena);
    for (size_t i = 0; i < h->n_loops; i++)
        assert_non_null(h->loops[i] = loop_new(NULL, NULL));
    h->workers = workers_new(WORKERS, WORK_QUEUED);
    struct http_server_options server = {
        .handler = { .arg = h, .on_head = on_head, .on_request = on_request },
        .loops = h->loops,
        .n_loops = h->n_loops,
        .limits = &opt->limits,
    };
    h->server = http_server_new(&server);
    struct err err = ERR_INIT(&h->arena);
    if (http_server_listen(h->server, STR("127.0.0.1:0"), NULL, &h->arena, &h->plain, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    if (opt->tls)
        listen_tls(h, opt);
    for (size_t i = 0; i < h->n_loops; i++)
        assert_int_equal(pthread_create(&h->threads[i], NULL, run_loop, h->loops[i]), 0);
}

static void on_drained(void *arg)
{
    struct harness *h = arg;
    for (size_t i = 0; i < h->n_loops; i++)
        loop_stop(h->loops[i]);
}

void harness_drain(struct harness *h)
{
    h->stopped = true;
    http_server_drain(h->server, on_drained, h);
}

void harness_stop(struct harness *h)
{
    if (!h->stopped)
        harness_drain(h);
    for (size_t i = 0; i < h->n_loops; i++)
        pthread_join(h->threads[i], NULL);
    workers_free(h->workers);
    http_server_free(h->server);
    for (size_t i = 0; i < h->n_loops; i++)
        loop_free(h->loops[i]);
    tls_context_unref(h->context);
    arena_done(&h->arena);
}

struct http_stats harness_stats(struct harness *h)
{
    struct http_stats stats;
    http_server_stats(h->server, &stats);
    return stats;
}

/* ---- Raw sockets ---- */

static int connect_unix(struct str path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    assert_true(path.n < sizeof(a.sun_path));
    memcpy(a.sun_path, path.p, path.n);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static int connect_tcp(const char *from, struct str address)
{
    uint64_t port = 0;
    while (str_find(address, ':') >= 0)
        (void)str_cut(&address, ':');
    assert_true(str_to_u64(address, &port));
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct sockaddr_in own = { .sin_family = AF_INET };
    if (from) {
        assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
        assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    }
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

int peer_connect(struct str address)
{
    return peer_connect_from(NULL, address);
}

int peer_connect_from(const char *host, struct str address)
{
    bool is_unix = str_starts(address, STR("unix:"));
    int fd = is_unix ? connect_unix(str_skip(address, 5)) : connect_tcp(host, address);
    struct timeval hang = { .tv_sec = HANG_SECONDS };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &hang, sizeof(hang));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &hang, sizeof(hang));
    return fd;
}

bool peer_send(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

static ssize_t read_some(int fd, struct buf *to)
{
    buf_reserve(to, 64 << 10);
    ssize_t n = recv(fd, to->p + to->n, 64 << 10, 0);
    if (n > 0)
        to->n += (size_t)n;
    return n;
}

bool peer_read_all(int fd, struct buf *to, size_t max)
{
    ssize_t n = 1;
    while (n > 0 && to->n < max)
        n = read_some(fd, to);
    return n >= 0;
}

bool peer_read(int fd, struct buf *to, size_t n)
{
    size_t want = to->n + n;
    while (to->n < want)
        if (read_some(fd, to) <= 0)
            return false;
    return true;
}

bool peer_wait_closed(int fd)
{
    char scratch[16 << 10];
    ssize_t n;
    while ((n = recv(fd, scratch, sizeof(scratch), 0)) > 0)
        ;
    return n == 0 || errno == ECONNRESET;
}

/* ---- HTTP/1.1 ---- */

int h1_status(struct str reply)
{
    uint64_t status;
    if (!str_starts(reply, STR("HTTP/1.1 ")) ||
        !str_to_u64(str_take(str_skip(reply, 9), 3), &status))
        return 0;
    return (int)status;
}

struct str h1_body(struct str reply)
{
    const char *end = reply.n ? memmem(reply.p, reply.n, "\r\n\r\n", 4) : NULL;
    return end ? str_skip(reply, (size_t)(end - reply.p) + 4) : (struct str){ NULL, 0 };
}

int h1_ask(struct harness *h, struct str request, struct buf *ret)
{
    autobuf scratch = { 0 };
    struct buf *to = ret ? ret : &scratch;
    autoclose int fd = peer_connect(h->plain);
    (void)peer_send(fd, request);
    (void)shutdown(fd, SHUT_WR);
    (void)peer_read_all(fd, to, SIZE_MAX);
    return h1_status(buf_str(to));
}

/* ---- HTTP/2 ---- */

const struct str H2_PREFACE = { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24 };

void h2_add(struct buf *b, uint8_t type, uint8_t flags, uint32_t stream, struct str payload)
{
    const unsigned char head[9] = {
        (unsigned char)(payload.n >> 16),
        (unsigned char)(payload.n >> 8),
        (unsigned char)payload.n,
        type,
        flags,
        (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16),
        (unsigned char)(stream >> 8),
        (unsigned char)stream,
    };
    buf_add(b, head, sizeof(head));
    buf_str_add(b, payload);
}

static void put_u32(char to[static 4], uint32_t v)
{
    to[0] = (char)(v >> 24);
    to[1] = (char)(v >> 16);
    to[2] = (char)(v >> 8);
    to[3] = (char)v;
}

void h2_add_u32(struct buf *b, uint8_t type, uint32_t stream, uint32_t value)
{
    char payload[4];
    put_u32(payload, value);
    h2_add(b, type, 0, stream, (struct str){ payload, 4 });
}

void h2_add_setting(struct buf *b, uint16_t id, uint32_t value)
{
    char payload[6] = { (char)(id >> 8), (char)id };
    put_u32(payload + 2, value);
    h2_add(b, H2_SETTINGS, 0, 0, (struct str){ payload, 6 });
}

/* A length in seven bits, or with continuation bytes (RFC 7541 5.1). */
static void put_length(struct buf *b, size_t n)
{
    if (n < 127) {
        buf_byte(b, (char)n);
        return;
    }
    buf_byte(b, 127);
    for (n -= 127; n >= 128; n >>= 7)
        buf_byte(b, (char)((n & 127) | 128));
    buf_byte(b, (char)n);
}

void h2_block_header(struct buf *b, struct str name, struct str value)
{
    buf_byte(b, 0); /* literal, not indexed, new name */
    put_length(b, name.n);
    buf_str_add(b, name);
    put_length(b, value.n);
    buf_str_add(b, value);
}

void h2_block(struct buf *b, const char *method, const char *path)
{
    h2_block_header(b, STR(":method"), str_of(method));
    h2_block_header(b, STR(":scheme"), STR("http"));
    h2_block_header(b, STR(":path"), str_of(path));
    h2_block_header(b, STR(":authority"), STR("localhost"));
}

void h2_add_request(struct buf *b, uint32_t stream, const char *method, const char *path,
                    bool end_stream)
{
    autobuf block = { 0 };
    h2_block(&block, method, path);
    h2_add(b, H2_HEADERS, (uint8_t)(H2_END_HEADERS | (end_stream ? H2_END_STREAM : 0)), stream,
           buf_str(&block));
}

void h2_add_request_with(struct buf *b, const char *method, const char *path, struct str name,
                         struct str value, bool ends)
{
    autobuf block = { 0 };
    h2_block(&block, method, path);
    h2_block_header(&block, name, value);
    h2_add(b, H2_HEADERS, H2_END_HEADERS | (ends ? H2_END_STREAM : 0), 1, buf_str(&block));
}

void h2_connect(struct h2_peer *p, struct harness *h)
{
    *p = (struct h2_peer){ .fd = peer_connect(h->plain) };
    assert_int_equal(nghttp2_hd_inflate_new(&p->inflater), 0);
    autobuf b = { 0 };
    buf_str_add(&b, H2_PREFACE);
    h2_add(&b, H2_SETTINGS, 0, 0, (struct str){ NULL, 0 });
    assert_true(h2_send(p, &b));
    struct h2_frame f;
    assert_true(h2_next(p, &f));
    assert_int_equal(f.type, H2_SETTINGS);
    h2_add(&b, H2_SETTINGS, H2_ACK, 0, (struct str){ NULL, 0 });
    assert_true(h2_send(p, &b));
}

bool h2_send(struct h2_peer *p, struct buf *b)
{
    bool ok = peer_send(p->fd, buf_str(b));
    buf_reset(b);
    return ok;
}

/* Every block is decoded, to keep the compression in step. -1 for trailers. */
static int decode_status(struct h2_peer *p, struct str block)
{
    uint64_t status = 0;
    while (true) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t n =
            nghttp2_hd_inflate_hd2(p->inflater, &nv, &flags, (const uint8_t *)block.p, block.n, 1);
        assert_true(n >= 0);
        block = str_skip(block, (size_t)n);
        struct str name = { (char *)nv.name, nv.namelen };
        if (flags & NGHTTP2_HD_INFLATE_EMIT && str_eq(name, STR(":status")))
            (void)str_to_u64((struct str){ (char *)nv.value, nv.valuelen }, &status);
        if (flags & NGHTTP2_HD_INFLATE_FINAL)
            break;
    }
    nghttp2_hd_inflate_end_headers(p->inflater);
    return status ? (int)status : -1;
}

bool h2_parse(struct h2_peer *p, struct h2_frame *ret)
{
    buf_drop(&p->in, p->at);
    p->at = 0;
    if (p->in.n < 9)
        return false;
    const unsigned char *u = (const unsigned char *)p->in.p;
    size_t n = (size_t)u[0] << 16 | (size_t)u[1] << 8 | u[2];
    if (p->in.n < 9 + n)
        return false;
    struct str s = buf_str(&p->in);
    *ret = (struct h2_frame){ .type = (uint8_t)s.p[3],
                              .flags = (uint8_t)s.p[4],
                              .stream = h2_u32(s, 5),
                              .payload = { s.p + 9, n } };
    p->at = 9 + n;
    if (ret->type == H2_HEADERS)
        ret->status = decode_status(p, ret->payload);
    return true;
}

bool h2_next(struct h2_peer *p, struct h2_frame *ret)
{
    while (!h2_parse(p, ret))
        if (!peer_read(p->fd, &p->in, 1))
            return false;
    return true;
}

bool h2_expect(struct h2_peer *p, uint8_t type, uint32_t stream, struct h2_frame *ret)
{
    while (h2_next(p, ret))
        if (ret->type == type && (!stream || ret->stream == stream))
            return true;
    return false;
}

uint32_t h2_u32(struct str s, size_t at)
{
    const unsigned char *u = (const unsigned char *)s.p + at;
    assert_true(at + 4 <= s.n);
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

int64_t h2_goaway_code(struct h2_peer *p)
{
    struct h2_frame f;
    return h2_expect(p, H2_GOAWAY, 0, &f) ? (int64_t)h2_u32(f.payload, 4) : -1;
}

int h2_status(struct h2_peer *p, uint32_t stream)
{
    struct h2_frame f;
    return h2_expect(p, H2_HEADERS, stream, &f) ? f.status : -1;
}

void h2_close(struct h2_peer *p)
{
    close(p->fd);
    buf_done(&p->in);
    nghttp2_hd_inflate_del(p->inflater);
}
