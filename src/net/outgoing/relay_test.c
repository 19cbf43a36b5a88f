/* A server that passes on, and one that answers: plain, in chunks, to the end of the connection,
 * slowly read, with an upgrade, not at all. */
#include "net/outgoing/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/gzip.h"
#include "net/loop.h"

static struct arena arena;

static struct {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    struct str address;
    struct tcp_addresses to; /* whom it passes on to */
    struct relay_set set;
    _Atomic int over;
} srv;

/* ---- The server ---- */

static bool on_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    (void)arg;
    (void)x;
    return answer->status < 400;
}

static void on_collected(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                         struct str body)
{
    (void)arg;
    http_reply(x, answer->status, NULL, 0,
               HTTP_BYTES(arena_printf(http_arena(x), "said: " STR_FMT, STR_ARG(body))));
}

static void on_failed(void *arg, struct http_exchange *x, bool is_dialled, const struct err *err)
{
    (void)arg;
    http_reply(x, is_dialled ? 502 : 503, NULL, 0, HTTP_BYTES(err->msg));
}

static void on_over(void *arg, struct http_exchange *x, int status)
{
    (void)arg;
    (void)x;
    (void)status;
    atomic_fetch_add(&srv.over, 1);
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    const struct http_request *req = http_request_of(x);
    const struct relay_request to = { .set = &srv.set,
                                      .to = srv.to,
                                      .method = req->method,
                                      .target = req->path,
                                      .headers = req->headers,
                                      .n_headers = req->n_headers,
                                      .body = req->body,
                                      .head_ms = 2000,
                                      .opens_gzip = str_eq(req->path, STR("/opened")) };
    const struct relay_holder holder = { NULL, on_head, on_collected, on_failed };
    http_when_over(x, on_over, NULL);
    relay_start(x, &to, &holder);
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    LIST_INIT(&srv.set);
    srv.loop = loop_new(NULL, &err);
    const struct http_server_options opt = { .handler = { NULL, NULL, on_request },
                                             .loops = &srv.loop,
                                             .n_loops = 1 };
    srv.server = http_server_new(&opt);
    assert_int_equal(
        http_server_listen(srv.server, STR("127.0.0.1:0"), NULL, &arena, &srv.address, &err), 0);
    assert_int_equal(pthread_create(&srv.thread, NULL, run_loop, srv.loop), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    loop_stop(srv.loop);
    pthread_join(srv.thread, NULL);
    http_server_free(srv.server);
    loop_free(srv.loop);
    arena_done(&arena);
    return 0;
}

/* ---- Sockets of the test ---- */

static int dial(struct str address)
{
    struct str host = address, port;
    struct tcp_addresses at;
    port = str_skip(host, (size_t)str_find(host, ':') + 1);
    host = str_cut(&host, ':');
    assert_int_equal(tcp_resolve(&arena, host, port, &at, NULL), 0);
    int fd = socket(at.list[0].any.ss_family, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at.list[0].any, at.list[0].n), 0);
    return fd;
}

static int listen_somewhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(in);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &n), 0);
    srv.to = (struct tcp_addresses){ .n = 1, .list[0].n = n };
    memcpy(&srv.to.list[0].any, &in, n);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Reads until the text is there; returns all that was read. */
static const char *hear(int fd, const char *until)
{
    struct buf all = { 0 };
    char bytes[4096];
    ssize_t n;
    while (!all.n || !memmem(all.p, all.n, until, strlen(until))) {
        n = recv(fd, bytes, sizeof(bytes), 0);
        if (n <= 0)
            break;
        buf_add(&all, bytes, (size_t)n);
    }
    struct str text = arena_str(&arena, buf_str(&all));
    buf_done(&all);
    assert_non_null(strstr(str_cstr(&arena, text), until));
    return str_cstr(&arena, text);
}

/* ---- Tests ---- */

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *want;
    } rows[] = {
        { "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\nhello", "hello" },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok",
          "201 Created" },
        { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
          "\r\n0\r\n\r\n" },
        { "HTTP/1.0 200 OK\r\n\r\nto the end", "to the end" },
        { "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone", "said: none" },
        { "HTTP/1.1 500 Oh\r\n\r\nbad", "said: bad" },
        { "HTTP/1.1 204 No Content\r\n\r\n", "204 No Content" },
        { "what?\r\n\r\n", "malformed HTTP response" },
        { "", "EOF" },
    };
    int at = listen_somewhere();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int client = dial(srv.address);
        say(client, "POST /x HTTP/1.1\r\nhost: localhost\r\n\r\n");
        int node = accept(at, NULL, NULL);
        (void)hear(node, "POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
        say(node, rows[i].answer);
        close(node);
        (void)hear(client, rows[i].want);
        close(client);
    }
    close(at);
}

static void test_upgrade(void **state)
{
    (void)state;
    int at = listen_somewhere(), client = dial(srv.address);
    say(client, "GET /x HTTP/1.1\r\nhost: localhost\r\nupgrade: t\r\nconnection: upgrade\r\n\r\n");
    int node = accept(at, NULL, NULL);
    (void)hear(node, "\r\n\r\n");
    say(node, "HTTP/1.1 101 Switching Protocols\r\nupgrade: t\r\nconnection: Upgrade\r\n\r\nfirst");
    (void)hear(client, "first");
    say(client, "from the client");
    (void)hear(node, "from the client");
    say(node, "last");
    (void)hear(client, "last");
    close(node);
    char byte;
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    close(at);
}

static void test_nobody_there(void **state)
{
    (void)state;
    close(listen_somewhere());
    int client = dial(srv.address);
    say(client, "GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const char *text = hear(client, "connect: connection refused");
    assert_non_null(strstr(text, "dial tcp 127.0.0.1:"));
    close(client);
}

/* ---- Compressed answers ---- */

static void say_zipped(int fd, struct str zipped)
{
    autobuf answer = { 0 };
    buf_printf(&answer, "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %zu\r\n\r\n",
               zipped.n);
    buf_str_add(&answer, zipped);
    assert_int_equal(send(fd, answer.p, answer.n, MSG_NOSIGNAL), (ssize_t)answer.n);
}

/* What follows the head of the answer, to the end of the connection. */
static struct str hear_all(int fd)
{
    autobuf body = { 0 };
    char bytes[64 << 10];
    for (ssize_t n; (n = recv(fd, bytes, sizeof(bytes), 0)) > 0;)
        buf_add(&body, bytes, (size_t)n);
    return arena_str(&arena, buf_str(&body));
}

static struct str ask_zipped(const char *path, struct str zipped)
{
    int at = listen_somewhere(), client = dial(srv.address);
    say(client, str_cstr(&arena, arena_printf(&arena, "GET %s HTTP/1.0\r\n\r\n", path)));
    int node = accept(at, NULL, NULL);
    (void)hear(node, "\r\n\r\n");
    say_zipped(node, zipped);
    struct str all = hear_all(client);
    close(node);
    close(client);
    close(at);
    return all;
}

static bool has(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

static void test_gzip(void **state)
{
    autobuf zipped = { 0 };
    (void)state;
    gzip_deflate(&zipped, STR("{\"kind\":\"Cup\"}"), 6);
    struct str opened = ask_zipped("/opened", buf_str(&zipped));
    assert_true(str_ends(opened, STR("{\"kind\":\"Cup\"}")));
    assert_false(has(opened, "content-encoding"));
    struct str plain = ask_zipped("/x", buf_str(&zipped));
    assert_true(str_ends(plain, buf_str(&zipped)));
    assert_true(has(plain, "content-encoding: gzip"));
}

/* What is cut short, or is none, ends the connection before the answer's end. */
static void test_bad_gzip(void **state)
{
    autobuf zipped = { 0 }, text = { 0 };
    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "line %d\n", i * 7919);
    gzip_deflate(&zipped, buf_str(&text), 6);
    assert_false(
        has(ask_zipped("/opened", str_take(buf_str(&zipped), zipped.n / 2)), "line 39587081"));
    assert_false(has(ask_zipped("/opened", STR("no gzip at all")), "no gzip"));
}

/* A few bytes that become many are passed on as fast as they are read, and none is lost. */
static void test_gzip_that_grows(void **state)
{
    enum { MANY = 32 << 20 };
    autobuf zipped = { 0 };
    (void)state;
    char *zeros = mem_zalloc(MANY);
    gzip_deflate(&zipped, (struct str){ zeros, MANY }, 9);
    free(zeros);
    struct str opened = ask_zipped("/opened", buf_str(&zipped));
    size_t n = 0;
    for (size_t i = 0; i < opened.n; i++)
        n += opened.p[i] == '\0';
    assert_int_equal(n, MANY);
}

/* Who reads nothing makes the server wait: it cannot send without end. */
static void test_slow_reader(void **state)
{
    (void)state;
    enum { PIECE = 64 << 10, MOST = 64 << 20 };
    static char piece[PIECE];
    int at = listen_somewhere(), client = dial(srv.address);
    say(client, "GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n");
    int node = accept(at, NULL, NULL);
    (void)hear(node, "\r\n\r\n");
    say(node, "HTTP/1.1 200 OK\r\n\r\n");
    const struct timeval soon = { .tv_sec = 1 };
    setsockopt(node, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
    size_t sent = 0;
    for (ssize_t n; sent < MOST && (n = send(node, piece, PIECE, MSG_NOSIGNAL)) > 0;)
        sent += (size_t)n;
    assert_true(sent < MOST);
    close(client); /* and the server learns that nobody listens any more */
    const struct timeval later = { .tv_sec = 5 };
    setsockopt(node, SOL_SOCKET, SO_RCVTIMEO, &later, sizeof(later));
    char byte;
    assert_true(recv(node, &byte, 1, 0) <= 0);
    close(node);
    close(at);
}

static void test_silent_server(void **state)
{
    (void)state;
    int at = listen_somewhere(), client = dial(srv.address);
    say(client, "GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n");
    int node = accept(at, NULL, NULL);
    (void)hear(client, "timeout awaiting response headers");
    close(client);
    close(node);
    close(at);
}

static void close_set(struct loop *l, struct loop_msg *m)
{
    (void)l;
    (void)m;
    relay_set_close(&srv.set);
}

/* The server ends: those who listen are told that this was all. */
static void test_end(void **state)
{
    (void)state;
    struct loop_msg msg = { .run = close_set };
    int at = listen_somewhere(), client = dial(srv.address);
    say(client, "GET /x HTTP/1.1\r\nhost: localhost\r\nx-a: b\r\n\r\n");
    int node = accept(at, NULL, NULL);
    (void)hear(node, "\r\n\r\n");
    say(node, "HTTP/1.1 200 OK\r\n\r\nfirst line");
    (void)hear(client, "first line");
    loop_post(srv.loop, &msg);
    (void)hear(client, "0\r\n\r\n");
    char byte;
    assert_int_equal(recv(node, &byte, 1, 0), 0);
    close(client);
    close(node);
    close(at);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool is_global;
    } rows[] = {
        { "10.1.2.3", true },    { "127.0.0.1", false },        { "0.0.0.0", false },
        { "224.0.0.1", false },  { "169.254.169.254", false },  { "255.255.255.255", false },
        { "::1", false },        { "::ffff:127.0.0.1", false }, { "fe80::1", false },
        { "2001:db8::1", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tcp_addresses at;
        assert_int_equal(tcp_resolve(&arena, str_of(rows[i].host), STR("1"), &at, NULL), 0);
        assert_int_equal(tcp_is_global(&at.list[0]), rows[i].is_global);
    }
    assert_true(tcp_leads_nowhere(STR("198.19.255.1")));
    assert_false(tcp_leads_nowhere(STR("198.20.0.1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),       cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_nobody_there),  cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_silent_server), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_end),           cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_bad_gzip),      cmocka_unit_test(test_gzip_that_grows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
