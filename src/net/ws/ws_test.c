/* A server on a loop in a thread, and a client that writes its frames by hand. */
#include "net/ws/ws.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/solo.h"
#include "net/ws/ws_frame.h"

#define SAMPLE_KEY "dGhlIHNhbXBsZSBub25jZQ==" /* of RFC 6455 1.3 */

static struct arena arena;

/* ---- The server: echoes, and does what some messages say ---- */

static struct {
    struct clock_fake clock;
    struct solo solo;
    struct str address;
    _Atomic unsigned opened, closed, last_code;
} srv;

static void echo(void *arg, struct ws *ws, enum ws_type type, struct str message)
{
    (void)arg;
    if (str_eq(message, STR("close please"))) {
        ws_close(ws, 4001, STR("as you wish"));
        ws_send(ws, WS_TEXT, STR("never sent"));
        ws_close(ws, 1000, STR("never sent"));
    } else if (str_eq(message, STR("which protocol"))) {
        ws_send(ws, WS_TEXT, ws_protocol(ws));
    } else {
        ws_send(ws, type, message);
    }
}

static void closed(void *arg, struct ws *ws, unsigned code)
{
    (void)arg;
    (void)ws;
    atomic_store(&srv.last_code, code);
    atomic_fetch_add(&srv.closed, 1);
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    static const struct str protocols[] = { { "v5.channel.k8s.io", 17 },
                                            { "v4.channel.k8s.io", 17 } };
    const struct ws_handler handler = { .on_message = echo, .on_close = closed };
    if (ws_accept(x, protocols, 2, &handler))
        atomic_fetch_add(&srv.opened, 1);
}

static int start_server(void **state)
{
    (void)state;
    arena_init(&arena);
    struct http_limits limits = http_limits_default();
    limits.write_buffer_bytes = 16 << 10;
    clock_fake_init(&srv.clock, 1800000000 * NS_PER_SEC);
    const struct http_handler handler = { .on_request = on_request };
    if (solo_init(&srv.solo, &handler, &limits, &srv.clock.clock, NULL) < 0 ||
        http_server_listen(srv.solo.http, STR("127.0.0.1:0"), NULL, &arena, &srv.address, NULL) < 0)
        return -1;
    return solo_run(&srv.solo, NULL);
}

static int stop_server(void **state)
{
    (void)state;
    solo_done(&srv.solo);
    arena_done(&arena);
    return srv.opened == srv.closed ? 0 : -1;
}

/* ---- The client ---- */

static int dial(int receive_buffer)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct str port = str_skip(srv.address, 10);
    uint64_t n = 0;
    assert_true(str_to_u64(port, &n));
    in.sin_port = htons((uint16_t)n);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    return fd;
}

static void send_all(int fd, struct str s)
{
    while (s.n) {
        ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
        assert_true(n > 0);
        s = str_skip(s, (size_t)n);
    }
}

/* The head of the reply, byte by byte so as not to take what follows. */
static struct str read_head(int fd)
{
    autobuf b = { 0 };
    char c;
    while (!str_ends(buf_str(&b), STR("\r\n\r\n")) && recv(fd, &c, 1, 0) == 1)
        buf_byte(&b, c);
    return arena_str(&arena, buf_str(&b));
}

static struct str handshake_with(int fd, const char *extra)
{
    struct str req = arena_printf(&arena,
                                  "GET /exec HTTP/1.1\r\nHost: localhost\r\n"
                                  "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                                  "Sec-WebSocket-Key: " SAMPLE_KEY "\r\n"
                                  "Sec-WebSocket-Version: 13\r\n%s\r\n",
                                  extra);
    send_all(fd, req);
    return read_head(fd);
}

static int open_ws(void)
{
    int fd = dial(0);
    assert_true(str_starts(handshake_with(fd, ""), STR("HTTP/1.1 101 ")));
    return fd;
}

static void send_frame(int fd, unsigned char first, struct str payload)
{
    static const unsigned char mask[4] = { 0x12, 0x34, 0x56, 0x78 };
    autobuf b = { 0 };
    ws_frame_write(&b, first & 0x0f, payload);
    size_t head = b.n - payload.n;
    b.p[0] = (char)first;
    b.p[1] = (char)(b.p[1] | (char)0x80);
    ws_unmask(b.p + head, payload.n, mask, 0);
    send_all(fd, str_take(buf_str(&b), head));
    send_all(fd, (struct str){ (const char *)mask, 4 });
    send_all(fd, str_skip(buf_str(&b), head));
}

static bool read_exactly(int fd, void *to, size_t n)
{
    return n == 0 || recv(fd, to, n, MSG_WAITALL) == (ssize_t)n;
}

/* The next frame, in the arena; -1 at the end. */
static int read_frame(int fd, struct str *ret)
{
    unsigned char head[10];
    if (!read_exactly(fd, head, 2))
        return -1;
    assert_false(head[1] & 0x80); /* a server does not mask */
    uint64_t n = head[1];
    size_t more = n == 126 ? 2 : n == 127 ? 8 : 0;
    assert_true(read_exactly(fd, head + 2, more));
    if (more)
        n = 0;
    for (size_t i = 0; i < more; i++)
        n = n << 8 | head[2 + i];
    char *p = arena_alloc(&arena, n + 1, 1);
    assert_true(read_exactly(fd, p, n));
    *ret = (struct str){ p, n };
    return head[0];
}

static void expect_frame(int fd, int first, struct str payload)
{
    struct str got;
    assert_int_equal(read_frame(fd, &got), first);
    assert_true(str_eq(got, payload));
}

static void expect_end(int fd)
{
    char c;
    assert_true(recv(fd, &c, 1, 0) <= 0);
    (void)close(fd);
}

/* Also that its holder was told, and what. */
static void await_closed(unsigned before, unsigned code)
{
    for (int i = 0; i < 5000 && atomic_load(&srv.closed) == before; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(&srv.closed), before + 1);
    assert_int_equal(atomic_load(&srv.last_code), code);
}

/* ---- The tests ---- */

static bool holds(struct str s, const char *part)
{
    return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

static void handshake_of_the_rfc(void **state)
{
    (void)state;
    int fd = dial(0);
    struct str head = handshake_with(fd, "");
    assert_true(str_starts(head, STR("HTTP/1.1 101 Switching Protocols\r\n")));
    assert_true(holds(head, "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_true(holds(head, "upgrade: websocket\r\n"));
    assert_false(holds(head, "sec-websocket-protocol"));
    (void)close(fd);
}

static void bad_handshakes_are_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "GET / HTTP/1.1\r\nHost: localhost\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: " SAMPLE_KEY "\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: " SAMPLE_KEY "\r\nSec-WebSocket-Version: 8\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: " SAMPLE_KEY "\r\nSec-WebSocket-Version: 13\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: close\r\n"
        "Sec-WebSocket-Key: " SAMPLE_KEY "\r\nSec-WebSocket-Version: 13\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: c2hvcnQ=\r\nSec-WebSocket-Version: 13\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: " SAMPLE_KEY "\r\nSec-WebSocket-Key: " SAMPLE_KEY "\r\n"
        "Sec-WebSocket-Version: 13\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Content-Length: 0\r\nSec-WebSocket-Key: " SAMPLE_KEY "\r\nSec-WebSocket-Version: 13\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = dial(0);
        send_all(fd, arena_printf(&arena, "%s\r\n", rows[i]));
        struct str head = read_head(fd);
        assert_true(str_starts(head, STR("HTTP/1.1 400 ")));
        assert_true(holds(head, "sec-websocket-version: 13\r\n"));
        (void)close(fd);
    }
}

/* CVE-2020-8565 and its like: a token among the protocols is not repeated, whatever is chosen. */
static void subprotocols(void **state)
{
    (void)state;
#define TOKEN "base64url.bearer.authorization.k8s.io.c2VjcmV0"
    static const struct {
        const char *offers, *chosen; /* NULL: 400 */
    } rows[] = {
        { "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n", "v4.channel.k8s.io" },
        { "Sec-WebSocket-Protocol: v4.channel.k8s.io, v5.channel.k8s.io\r\n", "v5.channel.k8s.io" },
        { "Sec-WebSocket-Protocol: x\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n",
          "v4.channel.k8s.io" },
        { "Sec-WebSocket-Protocol: " TOKEN ",v4.channel.k8s.io\r\n", "v4.channel.k8s.io" },
        { "Sec-WebSocket-Protocol: " TOKEN "\r\n", "" },
        { "Sec-WebSocket-Protocol: other, " TOKEN "\r\n", NULL },
        { "Sec-WebSocket-Protocol: V4.channel.k8s.io\r\n", NULL },
        { "Sec-WebSocket-Extensions: permessage-deflate\r\n", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = dial(0);
        struct str head = handshake_with(fd, rows[i].offers);
        assert_false(holds(head, "bearer"));
        assert_false(holds(head, "extensions"));
        if (!rows[i].chosen) {
            assert_true(str_starts(head, STR("HTTP/1.1 400 ")));
        } else {
            assert_true(str_starts(head, STR("HTTP/1.1 101 ")));
            send_frame(fd, 0x81, STR("which protocol"));
            expect_frame(fd, 0x81, str_of(rows[i].chosen));
            struct str line =
                arena_printf(&arena, "sec-websocket-protocol: %s\r\n", rows[i].chosen);
            assert_int_equal(holds(head, str_cstr(&arena, line)), rows[i].chosen[0] != 0);
        }
        (void)close(fd);
    }
}

static void messages_come_back(void **state)
{
    (void)state;
    int fd = open_ws();
    autofree char *big = mem_zalloc(1 << 20);
    send_frame(fd, 0x81, STR("hello"));
    expect_frame(fd, 0x81, STR("hello"));
    send_frame(fd, 0x82, STR(""));
    expect_frame(fd, 0x82, STR(""));
    send_frame(fd, 0x01, STR("in "));
    send_frame(fd, 0x89, STR("ping"));
    send_frame(fd, 0x80, STR("two"));
    expect_frame(fd, 0x8a, STR("ping"));
    expect_frame(fd, 0x81, STR("in two"));
    send_frame(fd, 0x82, (struct str){ big, 1 << 20 });
    expect_frame(fd, 0x82, (struct str){ big, 1 << 20 });
    unsigned before = atomic_load(&srv.closed);
    send_frame(fd, 0x88,
               STR("\x03\xe8"
                   "bye"));
    expect_frame(fd, 0x88, STR("\x03\xe8"));
    expect_end(fd);
    await_closed(before, 1000);
}

static void the_server_closes(void **state)
{
    (void)state;
    int fd = open_ws();
    unsigned before = atomic_load(&srv.closed);
    send_frame(fd, 0x81, STR("close please"));
    expect_frame(fd, 0x88,
                 STR("\x0f\xa1"
                     "as you wish"));
    send_frame(fd, 0x81, STR("too late"));
    send_frame(fd, 0x88, STR("\x0f\xa1"));
    expect_end(fd);
    await_closed(before, 4001);
}

static void nudge(struct loop *l, struct loop_msg *m)
{
    (void)l;
    (void)m;
}

static void a_close_without_answer_ends_too(void **state)
{
    (void)state;
    static struct loop_msg look_at_the_clock = { .run = nudge };
    int fd = open_ws();
    unsigned before = atomic_load(&srv.closed);
    send_frame(fd, 0x81, STR("close please"));
    expect_frame(fd, 0x88,
                 STR("\x0f\xa1"
                     "as you wish"));
    assert_int_equal(atomic_load(&srv.closed), before);
    clock_fake_advance(&srv.clock, (LIMIT_WS_CLOSE_MS + 1) * NS_PER_MS);
    loop_post(srv.solo.loop, &look_at_the_clock);
    await_closed(before, WS_CODE_GONE);
    (void)close(fd);
}

static void broken_rules_close(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *close;
        unsigned code;
    } rows[] = {
        { "\x81\x05hello", 7, "\x03\xea", 1002 },            /* unmasked */
        { "\xc1\x80....", 6, "\x03\xea", 1002 },             /* a reserved bit */
        { "\x81\x82\0\0\0\0\xc3\x28", 8, "\x03\xef", 1007 }, /* not UTF-8 */
        { "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff....", 14, "\x03\xf1", 1009 },
        { "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff....", 14, "\x03\xea", 1002 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = open_ws();
        unsigned before = atomic_load(&srv.closed);
        send_all(fd, (struct str){ rows[i].bytes, rows[i].n });
        expect_frame(fd, 0x88, (struct str){ rows[i].close, 2 });
        expect_end(fd);
        await_closed(before, rows[i].code);
    }
}

static void a_client_that_vanishes(void **state)
{
    (void)state;
    int fd = open_ws();
    unsigned before = atomic_load(&srv.closed);
    (void)close(fd);
    await_closed(before, WS_CODE_GONE);
}

/* Unread pongs do not pile up: most are left out, the newest comes. */
static void pings_without_reading(void **state)
{
    (void)state;
    enum { PINGS = 100000 };
    int fd = dial(4096);
    assert_true(str_starts(handshake_with(fd, ""), STR("HTTP/1.1 101 ")));
    char payload[100] = { 0 };
    for (uint32_t i = 1; i <= PINGS; i++) {
        memcpy(payload, &i, sizeof(i));
        send_frame(fd, 0x89, (struct str){ payload, sizeof(payload) });
    }
    uint32_t last = 0, count = 0;
    while (last < PINGS) {
        struct str got;
        uint32_t i;
        assert_int_equal(read_frame(fd, &got), 0x8a);
        memcpy(&i, got.p, sizeof(i));
        assert_true(i > last);
        last = i;
        count++;
    }
    assert_true(count < PINGS);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshake_of_the_rfc),
        cmocka_unit_test(bad_handshakes_are_refused),
        cmocka_unit_test(subprotocols),
        cmocka_unit_test(messages_come_back),
        cmocka_unit_test(the_server_closes),
        cmocka_unit_test(broken_rules_close),
        cmocka_unit_test(a_close_without_answer_ends_too),
        cmocka_unit_test(a_client_that_vanishes),
        cmocka_unit_test(pings_without_reading),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
