/* HTTP/1.1 against a running server: what is refused, what is bounded, what works. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "harness.h"

static struct harness h;

static int start(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    harness_start(&h, &opt);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&h);
    return 0;
}

/* ---- Requests that two servers could read in two ways ---- */

#define HOST "Host: localhost\r\n"

struct refusal {
    const char *name;
    struct str request;
    int status;
};

#define REFUSE(status, name, text)               \
    {                                            \
        name, { text, sizeof(text) - 1 }, status \
    }

static const struct refusal refusals[] = {
    REFUSE(400, "both lengths",
           "POST /echo HTTP/1.1\r\n" HOST
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "both lengths, other order",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "lengths differ",
           "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    REFUSE(400, "length twice",
           "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    REFUSE(400, "length list", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5,5\r\n\r\nhello"),
    REFUSE(400, "length plus", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\nhello"),
    REFUSE(400, "length minus", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\nhello"),
    REFUSE(400, "length hex", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n\r\nhello"),
    REFUSE(400, "length empty", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\nhello"),
    REFUSE(400, "length spaced", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1 2\r\n\r\nhello"),
    REFUSE(400, "length overflow",
           "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\nhello"),
    REFUSE(413, "length too large",
           "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9223372036854775807\r\n\r\nhello"),
    REFUSE(501, "coding gzip",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    REFUSE(501, "coding identity",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n"),
    REFUSE(501, "coding quoted",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "coding with a vertical tab",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "coding twice",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "coding on 1.0",
           "POST /echo HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    REFUSE(400, "space before the colon",
           "POST /echo HTTP/1.1\r\n" HOST "Content-Length : 5\r\n\r\nhello"),
    REFUSE(400, "folded line", "GET / HTTP/1.1\r\n" HOST "X-A: b\r\n c\r\n\r\n"),
    REFUSE(400, "folded with a tab", "GET / HTTP/1.1\r\n" HOST "X-A: b\r\n\tc\r\n\r\n"),
    REFUSE(400, "fold as the first header", "GET / HTTP/1.1\r\n " HOST "\r\n"),
    REFUSE(400, "no colon", "GET / HTTP/1.1\r\n" HOST "nonsense\r\n\r\n"),
    REFUSE(400, "empty name", "GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n"),
    REFUSE(400, "bad name", "GET / HTTP/1.1\r\n" HOST "X@Y: x\r\n\r\n"),
    REFUSE(400, "name beyond ASCII", "GET / HTTP/1.1\r\n" HOST "X\xc3\xa4: x\r\n\r\n"),
    REFUSE(400, "NUL in a name", "GET / HTTP/1.1\r\n" HOST "X\0Y: x\r\n\r\n"),
    REFUSE(400, "NUL in a value", "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"),
    REFUSE(400, "control in a value",
           "GET / HTTP/1.1\r\n" HOST "X: a\x01"
           "b\r\n\r\n"),
    REFUSE(400, "CR in a value", "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"),
    REFUSE(400, "bare LF after the request line", "GET / HTTP/1.1\n" HOST "\r\n"),
    REFUSE(400, "bare LF after a header", "GET / HTTP/1.1\r\nHost: localhost\n\r\n"),
    REFUSE(400, "bare LF at the end", "GET / HTTP/1.1\r\n" HOST "\n"),
    REFUSE(400, "no host", "GET / HTTP/1.1\r\n\r\n"),
    REFUSE(400, "host twice", "GET / HTTP/1.1\r\n" HOST HOST "\r\n"),
    REFUSE(400, "host list", "GET / HTTP/1.1\r\nHost: localhost, evil\r\n\r\n"),
    REFUSE(400, "host with a path", "GET / HTTP/1.1\r\nHost: localhost/x\r\n\r\n"),
    REFUSE(400, "host with user", "GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n"),
    REFUSE(400, "absolute form of another host",
           "GET http://evil.example/ HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "relative target", "GET x HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "star without OPTIONS", "GET * HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(404, "OPTIONS star", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "authority form", "CONNECT localhost:443 HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "control in the target", "GET /\x01 HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "fragment in the target", "GET /#x HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "two spaces", "GET  / HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "space in the target", "GET / x HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "no version", "GET /\r\n" HOST "\r\n"),
    REFUSE(400, "bad method", "G(T / HTTP/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "lower-case protocol", "GET / http/1.1\r\n" HOST "\r\n"),
    REFUSE(400, "long version", "GET / HTTP/1.10\r\n" HOST "\r\n"),
    REFUSE(505, "version 2", "GET / HTTP/2.0\r\n" HOST "\r\n"),
    REFUSE(505, "version 0.9", "GET / HTTP/0.9\r\n" HOST "\r\n"),
    REFUSE(505, "version 1.7", "GET / HTTP/1.7\r\n" HOST "\r\n"),
    REFUSE(417, "unknown expectation", "POST / HTTP/1.1\r\n" HOST "Expect: magic\r\n\r\n"),
    REFUSE(400, "chunk size is not hex",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n"),
    REFUSE(400, "chunk size is empty",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n\r\n"),
    REFUSE(400, "chunk size with a prefix",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n"),
    REFUSE(400, "chunk size with a sign",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n"),
    REFUSE(400, "chunk size with a space",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n"),
    REFUSE(400, "chunk size overflows",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n"),
    REFUSE(400, "chunk size with a bare LF",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"),
    REFUSE(400, "chunk longer than its size",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n"),
    REFUSE(400, "chunk ends with a bare LF",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n"),
    REFUSE(400, "control in a chunk extension",
           "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5;a=\nb\r\nhello\r\n"),
    REFUSE(400, "folded trailer",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n z\r\n\r\n"),
    REFUSE(421, "a name that is not ours (DNS rebinding)",
           "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    REFUSE(421, "a name that begins like ours",
           "GET / HTTP/1.1\r\nHost: localhost.evil.example:80\r\n\r\n"),
};

static void bad_requests_are_refused_and_the_connection_closed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        autobuf reply = { 0 };
        autoclose int fd = peer_connect(h.plain);
        assert_true(peer_send(fd, r->request));
        /* A second request behind it must not be answered. */
        (void)peer_send(fd, STR("GET /smuggled HTTP/1.1\r\n" HOST "\r\n"));
        (void)shutdown(fd, SHUT_WR);
        (void)peer_read_all(fd, &reply, SIZE_MAX);
        int status = h1_status(buf_str(&reply));
        const char *second = reply.n > 9 ? memmem(reply.p + 9, reply.n - 9, "HTTP/1.1", 8) : NULL;
        bool lives = r->status == 421; /* well-formed: where it ends is certain */
        if (status != r->status || (second && !lives))
            fail_msg("%s: got %d: " STR_FMT, r->name, status, STR_ARG(buf_str(&reply)));
    }
}

static void names_that_are_ours_are_served(void **state)
{
    (void)state;
    static const char *const hosts[] = { "localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:80",
                                         "[::1]:80" };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        char request[128];
        int n = snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);
        assert_int_equal(h1_ask(&h, (struct str){ request, (size_t)n }, NULL), 200);
    }
}

/* ---- What works ---- */

struct accepted {
    const char *name;
    struct str request, body;
};

#define ACCEPT(name, text, body)          \
    {                                     \
        name, { text, sizeof(text) - 1 }, \
        {                                 \
            body, sizeof(body) - 1        \
        }                                 \
    }

static const struct accepted accepteds[] = {
    ACCEPT("a body", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", "hello"),
    ACCEPT("an empty body", "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", ""),
    ACCEPT("chunks",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;x=\"y\"\r\n!\r\n0\r\n\r\n",
           "hello!"),
    ACCEPT("trailers are read and dropped",
           "POST /echo HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\nZ: w\r\n\r\n",
           "a"),
    ACCEPT("an empty line before the request", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "hello"),
    ACCEPT("absolute form", "GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n", "hello"),
    ACCEPT("names become lower case and values are trimmed",
           "GET /headers?a=b HTTP/1.1\r\n" HOST "X-Mixed_Case: \t v w \t\r\n\r\n",
           "GET /headers a=b 11\nhost: localhost\nx-mixed_case: v w\n"),
    ACCEPT("bytes beyond ASCII in a value", "GET /headers HTTP/1.1\r\n" HOST "X: \xc3\xa4\r\n\r\n",
           "GET /headers  11\nhost: localhost\nx: \xc3\xa4\n"),
    ACCEPT("version 1.0", "GET / HTTP/1.0\r\n\r\n", "hello"),
    ACCEPT("an upload that streams in",
           "POST /upload HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
           "6"),
    ACCEPT("a reply from a worker", "GET /worker HTTP/1.1\r\n" HOST "\r\n", "from a worker"),
    ACCEPT("chunked trailers", "GET /trailers HTTP/1.1\r\n" HOST "\r\n",
           "4\r\nbody\r\n0\r\nx-sum: 42\r\n\r\n"),
    ACCEPT("streamed to 1.0 without chunks", "GET /trailers HTTP/1.0\r\n\r\n", "body"),
    ACCEPT("HEAD", "HEAD / HTTP/1.1\r\n" HOST "\r\n", ""),
};

static void good_requests_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(accepteds); i++) {
        const struct accepted *a = &accepteds[i];
        autobuf reply = { 0 };
        int status = h1_ask(&h, a->request, &reply);
        if (status != 200 || !str_eq(h1_body(buf_str(&reply)), a->body))
            fail_msg("%s: got %d: " STR_FMT, a->name, status, STR_ARG(buf_str(&reply)));
    }
}

/* The same, one byte at a time: the parser must not care where reads end. */
static void requests_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct str request = STR("POST /echo HTTP/1.1\r\n" HOST
                             "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    autoclose int fd = peer_connect(h.plain);
    for (size_t i = 0; i < request.n; i++) {
        assert_true(peer_send(fd, (struct str){ request.p + i, 1 }));
        if (i % 8 == 0)
            harness_sleep_ms(1);
    }
    autobuf reply = { 0 };
    shutdown(fd, SHUT_WR);
    assert_true(peer_read_all(fd, &reply, SIZE_MAX));
    assert_true(str_eq(h1_body(buf_str(&reply)), STR("hello")));
}

static void head_has_the_length_of_get(void **state)
{
    (void)state;
    autobuf reply = { 0 };
    assert_int_equal(h1_ask(&h, STR("HEAD /big?1000 HTTP/1.1\r\n" HOST "\r\n"), &reply), 200);
    buf_byte(&reply, '\0');
    assert_non_null(strstr(reply.p, "content-length: 1000\r\n"));
}

static size_t count_of(struct str text, const char *what)
{
    size_t n = 0;
    while (text.n) {
        const char *at = memmem(text.p, text.n, what, strlen(what));
        if (!at)
            break;
        n++;
        text = str_skip(text, (size_t)(at - text.p) + 1);
    }
    return n;
}

/* LIMIT_PIPELINE: past it other connections get their turn, but all are answered, in order. */
static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    enum { REQUESTS = 500 };
    autobuf requests = { 0 };
    for (int i = 0; i < REQUESTS; i++)
        buf_printf(&requests, "POST %s HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\n<%04d>",
                   i % 7 == 3 ? "/worker" : "/echo", i);
    autobuf reply = { 0 };
    assert_int_equal(h1_ask(&h, buf_str(&requests), &reply), 200);
    assert_int_equal(count_of(buf_str(&reply), "HTTP/1.1 200 OK"), REQUESTS);
    const char *at = reply.p;
    for (int i = 0; i < REQUESTS; i++) {
        char mark[8];
        (void)snprintf(mark, sizeof(mark), "<%04d>", i);
        if (i % 7 == 3)
            continue;
        at = memmem(at, (size_t)(reply.p + reply.n - at), mark, 6);
        assert_non_null(at);
    }
}

static void continue_is_said_when_the_body_is_wanted(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("POST /echo HTTP/1.1\r\n" HOST
                                  "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")));
    autobuf reply = { 0 };
    assert_true(peer_read(fd, &reply, 25));
    assert_true(str_eq(buf_str(&reply), STR("HTTP/1.1 100 Continue\r\n\r\n")));
    assert_true(peer_send(fd, STR("ok")));
    buf_reset(&reply);
    assert_true(peer_read(fd, &reply, 12));
    assert_int_equal(h1_status(buf_str(&reply)), 200);
}

static void continue_is_not_said_to_a_body_that_is_too_large(void **state)
{
    (void)state;
    autobuf reply = { 0 };
    assert_int_equal(h1_ask(&h,
                            STR("POST /echo HTTP/1.1\r\n" HOST
                                "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n"),
                            &reply),
                     413);
}

static void a_handler_can_close_the_connection(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("GET /close HTTP/1.1\r\n" HOST "\r\n")));
    autobuf reply = { 0 };
    assert_true(peer_read_all(fd, &reply, SIZE_MAX)); /* ends without our closing */
    assert_int_equal(count_of(buf_str(&reply), "connection: close\r\n"), 1);
}

static void an_early_reply_closes_the_connection(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("POST /early HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nhel")));
    autobuf reply = { 0 };
    assert_true(peer_read_all(fd, &reply, SIZE_MAX));
    assert_int_equal(h1_status(buf_str(&reply)), 404);
}

static void an_aborted_reply_closes_the_connection(void **state)
{
    (void)state;
    assert_int_equal(h1_ask(&h, STR("GET /abort HTTP/1.1\r\n" HOST "\r\n"), NULL), 0);
}

static void large_replies_arrive_whole(void **state)
{
    (void)state;
    static const char *const paths[] = { "/big", "/stream", "/worker" };
    for (size_t i = 0; i < 3; i++) {
        char request[128];
        int n = snprintf(request, sizeof(request),
                         "GET %s?5000000 HTTP/1.0\r\nConnection: close\r\n\r\n", paths[i]);
        autobuf reply = { 0 };
        autoclose int fd = peer_connect(h.plain);
        assert_true(peer_send(fd, (struct str){ request, (size_t)n }));
        assert_true(peer_read_all(fd, &reply, SIZE_MAX));
        assert_int_equal(h1_body(buf_str(&reply)).n, 5000000);
    }
}

static void a_tunnel_carries_bytes_both_ways(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("GET /tunnel HTTP/1.1\r\n" HOST "Connection: Upgrade\r\n"
                                  "Upgrade: echo\r\n\r\nfirst")));
    autobuf reply = { 0 };
    while (!h1_body(buf_str(&reply)).n)
        assert_true(peer_read(fd, &reply, 1));
    assert_int_equal(h1_status(buf_str(&reply)), 101);
    assert_true(peer_send(fd, STR("last!")));
    assert_true(peer_read_all(fd, &reply, SIZE_MAX));
    assert_true(str_eq(h1_body(buf_str(&reply)), STR("firstlast!")));
}

static void a_tunnel_learns_that_its_client_is_gone(void **state)
{
    (void)state;
    int fd = peer_connect(h.plain);
    size_t before = h.gone;
    assert_true(peer_send(fd, STR("GET /tunnel HTTP/1.1\r\n" HOST "Connection: Upgrade\r\n"
                                  "Upgrade: echo\r\n\r\n")));
    autobuf reply = { 0 };
    assert_true(peer_read(fd, &reply, 12));
    close(fd);
    harness_wait(h.gone == before + 1);
}

static void a_holder_learns_that_its_client_is_gone(void **state)
{
    (void)state;
    static const char *const paths[] = { "/hold", "/endless", "/worker?999999999" };
    for (size_t i = 0; i < 3; i++) {
        char request[128];
        int n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
        int fd = peer_connect(h.plain);
        size_t gone = h.gone, requests = h.requests;
        assert_true(peer_send(fd, (struct str){ request, (size_t)n }));
        harness_wait(h.requests == requests + 1);
        close(fd);
        harness_wait(h.gone == gone + 1);
    }
    harness_wait(harness_stats(&h).exchanges_open == 0);
}

static void an_upload_is_slowed_by_its_handler(void **state)
{
    (void)state;
    int fd = peer_connect(h.plain);
    struct timeval short_wait = { .tv_usec = 300000 };
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &short_wait, sizeof(short_wait));
    assert_true(
        peer_send(fd, STR("POST /stuck HTTP/1.1\r\n" HOST "Content-Length: 1000000000\r\n\r\n")));
    size_t piece = 1 << 20, sent = 0;
    char *bytes = mem_zalloc(piece);
    while (sent < 64 && peer_send(fd, (struct str){ bytes, piece }))
        sent++;
    assert_true(sent < 64); /* the sockets' buffers hold far less */
    assert_true(h.uploaded <= LIMIT_H2_WINDOW_BYTES + (128 << 10));
    free(bytes);
    /* A plain close would wait behind the bytes that nobody reads. */
    struct linger reset = { .l_onoff = 1 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    harness_wait(harness_stats(&h).exchanges_open == 0);
}

/* ---- Limits ---- */

static void fill(struct buf *b, char c, size_t n)
{
    buf_reserve(b, n);
    memset(b->p + b->n, c, n);
    b->n += n;
}

static void a_request_line_past_the_limit_is_414(void **state)
{
    (void)state;
    autobuf request = { 0 };
    buf_str_add(&request, STR("GET /"));
    fill(&request, 'a', LIMIT_REQUEST_LINE_BYTES);
    buf_str_add(&request, STR(" HTTP/1.1\r\n" HOST "\r\n"));
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 414);
}

static void header_bytes_past_the_limit_are_431(void **state)
{
    (void)state;
    autobuf request = { 0 };
    buf_str_add(&request, STR("GET / HTTP/1.1\r\n" HOST "X: "));
    fill(&request, 'a', LIMIT_HEADER_BYTES);
    buf_str_add(&request, STR("\r\n\r\n"));
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 431);
}

static void endless_header_bytes_are_431(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    autobuf piece = { 0 }, reply = { 0 };
    fill(&piece, 'a', 1 << 20);
    assert_true(peer_send(fd, STR("GET / HTTP/1.1\r\n" HOST "X: ")));
    for (int i = 0; i < 8 && peer_send(fd, buf_str(&piece)); i++)
        ;
    (void)peer_read_all(fd, &reply, SIZE_MAX);
    assert_int_equal(h1_status(buf_str(&reply)), 431);
}

static void headers_past_the_count_are_431(void **state)
{
    (void)state;
    autobuf request = { 0 };
    buf_str_add(&request, STR("GET / HTTP/1.1\r\n" HOST));
    for (unsigned i = 1; i < LIMIT_HEADER_COUNT; i++)
        buf_printf(&request, "X-%u: a\r\n", i);
    size_t most = request.n;
    buf_str_add(&request, STR("\r\n"));
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 200);
    request.n = most;
    buf_str_add(&request, STR("X-More: a\r\n\r\n"));
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 431);
}

/* CVE-2019-11253 part 2: 4 MiB to POST and DELETE, refused before any of it is read. */
static void a_body_past_the_limit_is_413_at_once(void **state)
{
    (void)state;
    static const char *const methods[] = { "POST", "DELETE" };
    for (size_t i = 0; i < 2; i++) {
        size_t before = h.requests;
        autobuf request = { 0 }, reply = { 0 };
        buf_printf(&request, "%s /echo HTTP/1.1\r\n" HOST "Content-Length: %u\r\n\r\n", methods[i],
                   4u << 20);
        fill(&request, 'b', 4 << 20);
        assert_int_equal(h1_ask(&h, buf_str(&request), &reply), 413);
        assert_int_equal(h.requests, before);
    }
}

/* A chunked gigabyte: refused when the limit is passed, and not read to its end. */
static void an_endless_chunked_body_is_cut(void **state)
{
    (void)state;
    autoclose int fd = peer_connect(h.plain);
    autobuf piece = { 0 }, reply = { 0 };
    buf_printf(&piece, "%x\r\n", 1 << 20);
    fill(&piece, 'b', 1 << 20);
    buf_str_add(&piece, STR("\r\n"));
    assert_true(
        peer_send(fd, STR("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n")));
    int sent = 0;
    while (sent < 1024 && peer_send(fd, buf_str(&piece)))
        sent++;
    assert_true(sent < 64);
    (void)peer_read_all(fd, &reply, SIZE_MAX);
    assert_true(h1_status(buf_str(&reply)) == 413 || reply.n == 0); /* a reset may overtake it */
}

static void chunk_extensions_are_bounded(void **state)
{
    (void)state;
    autobuf request = { 0 };
    buf_str_add(&request, STR("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                              "1;"));
    fill(&request, 'x', 600);
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 400);
    buf_reset(&request);
    buf_str_add(&request, STR("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 200; i++) { /* each within its bounds, but all of them no body */
        buf_str_add(&request, STR("1;"));
        fill(&request, 'x', 300);
        buf_str_add(&request, STR("\r\na\r\n"));
    }
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 400);
}

static void trailers_are_bounded(void **state)
{
    (void)state;
    autobuf request = { 0 };
    buf_str_add(&request,
                STR("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n"));
    for (unsigned i = 0; i <= LIMIT_HEADER_COUNT; i++)
        buf_printf(&request, "X-%u: a\r\n", i);
    assert_int_equal(h1_ask(&h, buf_str(&request), NULL), 431);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_are_refused_and_the_connection_closed),
        cmocka_unit_test(names_that_are_ours_are_served),
        cmocka_unit_test(good_requests_are_answered),
        cmocka_unit_test(requests_may_come_byte_by_byte),
        cmocka_unit_test(head_has_the_length_of_get),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(continue_is_said_when_the_body_is_wanted),
        cmocka_unit_test(continue_is_not_said_to_a_body_that_is_too_large),
        cmocka_unit_test(a_handler_can_close_the_connection),
        cmocka_unit_test(an_early_reply_closes_the_connection),
        cmocka_unit_test(an_aborted_reply_closes_the_connection),
        cmocka_unit_test(large_replies_arrive_whole),
        cmocka_unit_test(a_tunnel_carries_bytes_both_ways),
        cmocka_unit_test(a_tunnel_learns_that_its_client_is_gone),
        cmocka_unit_test(a_holder_learns_that_its_client_is_gone),
        cmocka_unit_test(an_upload_is_slowed_by_its_handler),
        cmocka_unit_test(a_request_line_past_the_limit_is_414),
        cmocka_unit_test(header_bytes_past_the_limit_are_431),
        cmocka_unit_test(endless_header_bytes_are_431),
        cmocka_unit_test(headers_past_the_count_are_431),
        cmocka_unit_test(a_body_past_the_limit_is_413_at_once),
        cmocka_unit_test(an_endless_chunked_body_is_cut),
        cmocka_unit_test(chunk_extensions_are_bounded),
        cmocka_unit_test(trailers_are_bounded),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
