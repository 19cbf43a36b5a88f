/* Our client against our server, and the server against what no good client sends. */
#include "net/grpc/grpc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/fetch.h"
#include "net/http/solo.h"
#include "net/crypto/pki.h"

enum { CALL_MS = 30000 };

static struct arena arena;

static struct {
    struct solo solo;
    struct str plain, secure;
    struct tls_context *tls;
    struct pki_pair ca;
    _Atomic unsigned started, gone, handlers_called;
    _Atomic size_t flooded; /* messages that the flood has made */
} srv;

/* ---- The methods ---- */

static void count_gone(void *arg, struct grpc_call *call)
{
    (void)arg;
    atomic_fetch_add(&srv.gone, 1);
    grpc_call_end(call, GRPC_INTERNAL, STR("not what is sent"));
}

static void start_with(struct grpc_call *call, struct grpc_call_events events)
{
    atomic_fetch_add(&srv.started, 1);
    events.on_gone = events.on_gone ? events.on_gone : count_gone;
    grpc_call_listen(call, &events);
}

static void echo_message(void *arg, struct grpc_call *call, struct str message)
{
    (void)arg;
    grpc_call_send(call, message);
}

static void end_ok(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_end(call, GRPC_OK, STR(""));
}

static void start_echo(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call,
               (struct grpc_call_events){ .on_message = echo_message, .on_half_close = end_ok });
}

/* Ends inside on_message, while the reader still has more. */
static void fail_message(void *arg, struct grpc_call *call, struct str message)
{
    (void)arg;
    grpc_call_end(call, GRPC_NOT_FOUND, message);
}

static void start_fail(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call, (struct grpc_call_events){ .on_message = fail_message });
}

static void start_fail_at_once(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_end(call, GRPC_PERMISSION_DENIED, STR("no \xc3\xa4"));
}

static void start_silence(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call, (struct grpc_call_events){ 0 });
}

static void start_nobody_listens(void *arg, struct grpc_call *call)
{
    (void)arg;
    (void)call;
}

static void send_length(void *arg, struct grpc_call *call, struct str message)
{
    (void)arg;
    char text[24];
    int n = snprintf(text, sizeof(text), "%zu", message.n);
    grpc_call_send(call, (struct str){ text, (size_t)n });
}

static void start_length(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call,
               (struct grpc_call_events){ .on_message = send_length, .on_half_close = end_ok });
}

static void send_flood(void *arg, struct grpc_call *call)
{
    (void)arg;
    static const char kilobyte[1024];
    while (grpc_call_room(call)) {
        grpc_call_send(call, (struct str){ kilobyte, sizeof(kilobyte) });
        atomic_fetch_add(&srv.flooded, 1);
    }
}

static void start_flood(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call,
               (struct grpc_call_events){ .on_half_close = send_flood, .on_room = send_flood });
}

static void send_metadata(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_send(call, http_header_get(grpc_call_request(call), STR("x-test")));
    grpc_call_end(call, GRPC_OK, STR("with a message"));
}

static void start_metadata(void *arg, struct grpc_call *call)
{
    (void)arg;
    start_with(call, (struct grpc_call_events){ .on_half_close = send_metadata });
}

static const struct grpc_method methods[] = {
    { "/test.T/Echo", start_echo },
    { "/test.T/Fail", start_fail },
    { "/test.T/FailAtOnce", start_fail_at_once },
    { "/test.T/Silence", start_silence },
    { "/test.T/NobodyListens", start_nobody_listens },
    { "/test.T/Length", start_length },
    { "/test.T/Flood", start_flood },
    { "/test.T/Metadata", start_metadata },
};

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    (void)x;
    return HTTP_BODY_STREAM;
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    atomic_fetch_add(&srv.handlers_called, 1);
    grpc_serve(x, methods, ARRAY_LEN(methods), NULL);
}

/* ---- Server and client ---- */

static int make_tls(void)
{
    static const struct str ip = { "127.0.0.1", 9 };
    struct pki_leaf leaf = { .common_name = STR("server"),
                             .ips = &ip,
                             .n_ips = 1,
                             .server = true,
                             .now_sec = time(NULL),
                             .days = 2 };
    struct pki_pair pair;
    int r = pki_make_ca(&arena, STR("ca"), leaf.now_sec, 3, &srv.ca, NULL);
    if (r >= 0)
        r = pki_issue(&arena, &srv.ca, &leaf, &pair, NULL);
    if (r < 0)
        return r;
    struct tls_config config = { .cert_pem = pair.cert_pem,
                                 .key_pem = pair.key_pem,
                                 .server = true };
    return tls_context_new(&config, &srv.tls, NULL);
}

static int start_server(void **state)
{
    (void)state;
    arena_init(&arena);
    if (make_tls() < 0)
        return -1;
    const struct http_handler handler = { .on_head = on_head, .on_request = on_request };
    if (solo_init(&srv.solo, &handler, NULL, NULL, NULL) < 0 ||
        http_server_listen(srv.solo.http, STR("127.0.0.1:0"), NULL, &arena, &srv.plain, NULL) < 0 ||
        http_server_listen(srv.solo.http, STR("127.0.0.1:0"), srv.tls, &arena, &srv.secure, NULL) <
            0)
        return -1;
    return solo_run(&srv.solo, NULL);
}

static int stop_server(void **state)
{
    (void)state;
    solo_done(&srv.solo);
    srv.tls = tls_context_unref(srv.tls);
    arena_done(&arena);
    return 0;
}

static struct grpc_client *dial(void)
{
    struct grpc_client_options opt = { .address = srv.plain };
    struct grpc_client *c = grpc_client_new(&opt);
    assert_non_null(c);
    return c;
}

static struct grpc_result call(struct grpc_client *c, const char *path, struct str request,
                               int64_t timeout_ms, struct str *ret)
{
    struct grpc_result result;
    struct err err = ERR_INIT(&arena);
    int r =
        grpc_call_unary(c, str_of(path), request, NULL, 0, timeout_ms, &arena, ret, &result, &err);
    assert_int_equal(r == 0, result.status == GRPC_OK);
    return result;
}

/* ---- The tests ---- */

static void await_count(_Atomic unsigned *count, unsigned want)
{
    for (int i = 0; i < 10000 && atomic_load(count) < want; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(count), want);
}

static void unary(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct str reply;
    assert_int_equal(call(c, "/test.T/Echo", STR("hello"), CALL_MS, &reply).status, GRPC_OK);
    assert_true(str_eq(reply, STR("hello")));
    assert_int_equal(call(c, "/test.T/Echo", STR(""), CALL_MS, &reply).status, GRPC_OK);
    assert_int_equal(reply.n, 0);
    const struct http_header metadata = { STR("x-test"), STR("some value") };
    assert_int_equal(grpc_call_unary(c, STR("/test.T/Metadata"), STR(""), &metadata, 1, CALL_MS,
                                     &arena, &reply, NULL, NULL),
                     0);
    assert_true(str_eq(reply, STR("some value")));
    grpc_client_free(c);
}

static void over_tls(void **state)
{
    (void)state;
    struct tls_context *trust;
    struct str reply;
    struct tls_config config = { .ca_pem = srv.ca.cert_pem };
    assert_int_equal(tls_context_new(&config, &trust, NULL), 0);
    struct grpc_client_options opt = { .address = srv.secure, .tls = trust };
    struct grpc_client *c = grpc_client_new(&opt);
    autofree char *big = mem_zalloc(3 << 20);
    assert_int_equal(call(c, "/test.T/Echo", STR("hello"), CALL_MS, &reply).status, GRPC_OK);
    assert_int_equal(call(c, "/test.T/Echo", (struct str){ big, 3 << 20 }, CALL_MS, &reply).status,
                     GRPC_OK);
    assert_int_equal(reply.n, 3 << 20);
    grpc_client_free(c);

    char endless[300];
    memset(endless, 'x', sizeof(endless));
    const struct str wrong[] = { STR("other.example:443"),
                                 STR(":443"),
                                 STR("127.0.0.1\0.example"),
                                 { endless, sizeof(endless) } };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        opt.authority = wrong[i]; /* names that the certificate does not carry */
        c = grpc_client_new(&opt);
        struct grpc_result result = call(c, "/test.T/Echo", STR("hello"), CALL_MS, &reply);
        assert_int_equal(result.status, GRPC_UNAVAILABLE);
        assert_true(result.surely_not_run);
        grpc_client_free(c);
    }
    tls_context_unref(trust);
}

static void errors(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct str reply;
    struct grpc_result result = call(c, "/test.T/Fail", STR("a % message"), CALL_MS, &reply);
    assert_int_equal(result.status, GRPC_NOT_FOUND);
    assert_true(str_eq(result.message, STR("a % message")));
    result = call(c, "/test.T/FailAtOnce", STR("x"), CALL_MS, &reply);
    assert_int_equal(result.status, GRPC_PERMISSION_DENIED);
    assert_true(str_eq(result.message, STR("no \xc3\xa4")));
    static const char *const unknown[] = { "/test.T/Nothing", "/test.T/echo",   "/test.T/Echo/",
                                           "//test.T/Echo",   "/test.T/Echo?x", "/" };
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_int_equal(call(c, unknown[i], STR("x"), CALL_MS, &reply).status, GRPC_UNIMPLEMENTED);
    grpc_client_free(c);
}

static void ten_thousand_messages(void **state)
{
    (void)state;
    enum { MESSAGES = 10000 };
    struct grpc_client *c = dial();
    struct grpc_stream *s;
    struct grpc_result result;
    autobuf got = { 0 };
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Echo"), NULL, 0, &s, NULL), 0);
    for (uint32_t i = 0, back = 0; back < MESSAGES;) {
        for (uint32_t stop = i + 100; i < stop && i < MESSAGES; i++)
            assert_int_equal(grpc_stream_send(s, (struct str){ (const char *)&i, sizeof(i) }, NULL),
                             0);
        for (; back < i; back++) {
            assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, NULL, &arena, NULL), 1);
            assert_memory_equal(got.p, &back, sizeof(back));
        }
    }
    grpc_stream_half_close(s);
    assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_OK);
    grpc_stream_free(s);
    grpc_client_free(c);
}

static void *send_many(void *arg)
{
    struct grpc_stream *s = arg;
    autofree char *piece = mem_zalloc(10000);
    uintptr_t sent = 0;
    for (int i = 0; i < 2000; i++)
        sent += grpc_stream_send(s, (struct str){ piece, 10000 }, NULL) == 0;
    grpc_stream_half_close(s);
    return (void *)sent;
}

static void one_sends_while_another_receives(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct grpc_stream *s;
    pthread_t sender;
    size_t n = 0;
    void *sent;
    autobuf got = { 0 };
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Echo"), NULL, 0, &s, NULL), 0);
    assert_int_equal(pthread_create(&sender, NULL, send_many, s), 0);
    while (grpc_stream_receive(s, CALL_MS, &got, NULL, &arena, NULL) == 1) {
        assert_int_equal(got.n, 10000);
        n++;
    }
    (void)pthread_join(sender, &sent);
    assert_int_equal((uintptr_t)sent, 2000);
    assert_int_equal(n, 2000);
    grpc_stream_free(s);
    grpc_client_free(c);
}

static void messages_at_the_limit_and_past_it(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct str reply;
    struct err err = ERR_INIT(&arena);
    autofree char *big = mem_zalloc(LIMIT_GRPC_MESSAGE_BYTES + 1);
    struct str most = { big, LIMIT_GRPC_MESSAGE_BYTES };
    struct str more = { big, LIMIT_GRPC_MESSAGE_BYTES + 1 };
    assert_int_equal(call(c, "/test.T/Length", most, CALL_MS, &reply).status, GRPC_OK);
    assert_true(str_eq(reply, STR("16777216")));
    assert_int_equal(call(c, "/test.T/Echo", most, CALL_MS, &reply).status, GRPC_OK);
    assert_int_equal(reply.n, LIMIT_GRPC_MESSAGE_BYTES);
    assert_int_equal(grpc_call_unary(c, STR("/test.T/Length"), more, NULL, 0, CALL_MS, &arena,
                                     &reply, NULL, &err),
                     -ERR_TOO_LARGE);
    struct grpc_stream *s;
    unsigned gone = atomic_load(&srv.gone), started = atomic_load(&srv.started);
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Length"), NULL, 0, &s, NULL), 0);
    assert_int_equal(grpc_stream_send(s, more, &err), -ERR_TOO_LARGE);
    await_count(&srv.started, started + 1); /* so that it does not come in the next test */
    grpc_stream_free(s);
    await_count(&srv.gone, gone + 1);
    grpc_client_free(c);
}

static void cancel_and_deadline(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct grpc_stream *s;
    struct str reply;
    autobuf got = { 0 };
    unsigned gone = atomic_load(&srv.gone), started = atomic_load(&srv.started);
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Silence"), NULL, 0, &s, NULL), 0);
    await_count(&srv.started, started + 1);
    grpc_stream_free(s);
    await_count(&srv.gone, gone + 1);

    struct grpc_result result = call(c, "/test.T/Silence", STR("x"), 200, &reply);
    assert_int_equal(result.status, GRPC_DEADLINE_EXCEEDED);
    assert_false(result.surely_not_run);
    await_count(&srv.gone, gone + 2);

    /* The server keeps to the deadline also when the client does not. */
    const struct http_header timeout = { STR("grpc-timeout"), STR("100m") };
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Silence"), &timeout, 1, &s, NULL), 0);
    assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_DEADLINE_EXCEEDED);
    assert_true(str_eq(result.message, STR("deadline exceeded")));
    await_count(&srv.gone, gone + 3);
    grpc_stream_free(s);

    assert_int_equal(grpc_stream_open(c, STR("/test.T/NobodyListens"), &timeout, 1, &s, NULL), 0);
    assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_DEADLINE_EXCEEDED);
    grpc_stream_free(s);

    const struct http_header bad = { STR("grpc-timeout"), STR("soon") };
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Echo"), &bad, 1, &s, NULL), 0);
    assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_INTERNAL);
    grpc_stream_free(s);
    grpc_client_free(c);
}

/* Not taking messages stops the server, and taking them lets it go on. */
static void flow_control_reaches_the_server(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct grpc_stream *s;
    autobuf got = { 0 };
    atomic_store(&srv.flooded, 0);
    assert_int_equal(grpc_stream_open(c, STR("/test.T/Flood"), NULL, 0, &s, NULL), 0);
    grpc_stream_half_close(s);
    size_t before = SIZE_MAX;
    for (int still = 0; still < 20;) { /* until it has not moved for a while */
        (void)usleep(10000);
        size_t now = atomic_load(&srv.flooded);
        still = now == before && now > 0 ? still + 1 : 0;
        before = now;
    }
    assert_true(before < 4096); /* of one kilobyte each */
    for (int i = 0; i < 20000; i++)
        assert_int_equal(grpc_stream_receive(s, CALL_MS, &got, NULL, &arena, NULL), 1);
    assert_true(atomic_load(&srv.flooded) >= 20000);
    unsigned gone = atomic_load(&srv.gone);
    grpc_stream_free(s);
    await_count(&srv.gone, gone + 1);
    grpc_client_free(c);
}

enum { STREAMS = 500 };

static void many_streams_at_once(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    static struct grpc_stream *streams[STREAMS]; /* more than the server takes at a time */
    struct grpc_result result;
    autobuf got = { 0 };
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(grpc_stream_open(c, STR("/test.T/Echo"), NULL, 0, &streams[i], NULL), 0);
        assert_int_equal(grpc_stream_send(streams[i], STR("x"), NULL), 0);
        grpc_stream_half_close(streams[i]);
    }
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(grpc_stream_receive(streams[i], CALL_MS, &got, NULL, &arena, NULL), 1);
        assert_int_equal(grpc_stream_receive(streams[i], CALL_MS, &got, &result, &arena, NULL), 0);
        assert_int_equal(result.status, GRPC_OK);
        grpc_stream_free(streams[i]);
    }
    grpc_client_free(c);
}

enum { RACERS = 4, RACES = 500 };

struct racer {
    struct grpc_client *client;
    unsigned seed, replies, late, refused;
};

static void *race(void *arg)
{
    struct racer *r = arg;
    for (int i = 0; i < RACES; i++) {
        struct arena a;
        arena_init(&a);
        struct str reply;
        struct grpc_result result;
        int64_t timeout_ms = (int64_t)((r->seed + (unsigned)i) % 3);
        (void)grpc_call_unary(r->client, STR("/test.T/Echo"), STR("x"), NULL, 0, timeout_ms, &a,
                              &reply, &result, NULL);
        r->replies += result.status == GRPC_OK;
        r->late += result.status == GRPC_DEADLINE_EXCEEDED;
        r->refused += result.status == GRPC_UNAVAILABLE;
        arena_done(&a);
    }
    return NULL;
}

/* Deadlines so short that they meet the reply at every point of its way. Each resets a stream, so
 * now and then the server has enough of it and closes the connection. */
static void deadlines_race_with_replies(void **state)
{
    (void)state;
    struct grpc_client *c = dial();
    struct racer racers[RACERS];
    pthread_t threads[RACERS];
    struct str reply;
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){ .client = c, .seed = i };
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (unsigned i = 0; i < RACERS; i++)
        (void)pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < RACERS; i++)
        assert_int_equal(racers[i].replies + racers[i].late + racers[i].refused, RACES);
    assert_int_equal(call(c, "/test.T/Echo", STR("x"), CALL_MS, &reply).status, GRPC_OK);
    grpc_client_free(c);
}

/* ---- What no good client sends ---- */

static void add_field(struct buf *b, struct str name, struct str value)
{
    buf_byte(b, 0);
    buf_byte(b, (char)name.n);
    buf_str_add(b, name);
    buf_byte(b, (char)value.n);
    buf_str_add(b, value);
}

static void add_frame(struct buf *b, unsigned type, unsigned flags, uint32_t id, struct str payload)
{
    const char head[9] = { (char)(payload.n >> 16),
                           (char)(payload.n >> 8),
                           (char)payload.n,
                           (char)type,
                           (char)flags,
                           0,
                           0,
                           0,
                           (char)id };
    buf_add(b, head, 9);
    buf_str_add(b, payload);
}

/* One request by hand on a connection of its own; all that comes back until the stream ends. */
static struct str request(const char *path, const char *type, struct str data)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    uint64_t port = 0;
    assert_true(str_to_u64(str_skip(srv.plain, 10), &port));
    in.sin_port = htons((uint16_t)port);
    autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    autobuf head = { 0 };
    autobuf out = { 0 };
    add_field(&head, STR(":method"), STR("POST"));
    add_field(&head, STR(":scheme"), STR("http"));
    add_field(&head, STR(":path"), str_of(path));
    add_field(&head, STR(":authority"), STR("localhost"));
    add_field(&head, STR("content-type"), str_of(type));
    buf_str_add(&out, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    add_frame(&out, 4, 0, 0, STR(""));
    add_frame(&out, 1, 4, 1, buf_str(&head));
    add_frame(&out, 0, 1, 1, data);
    add_frame(&out, 6, 0, 0, STR("the end?")); /* a ping, whose answer comes after all else */
    assert_int_equal(send(fd, out.p, out.n, MSG_NOSIGNAL), (ssize_t)out.n);
    autobuf got = { 0 };
    ssize_t n = 1;
    struct timeval patience = { .tv_sec = 5 };
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (n > 0) {
        buf_reserve(&got, 4096);
        n = recv(fd, got.p + got.n, 4096, 0);
        got.n += n > 0 ? (size_t)n : 0;
        struct str sofar = buf_str(&got);
        bool ended = memmem(sofar.p, sofar.n, "\1\5\0\0\0\1", 6) ||
                     memmem(sofar.p, sofar.n, "\3\0\0\0\0\1", 6);
        if (ended && memmem(sofar.p, sofar.n, "the end?", 8))
            break;
    }
    return arena_str(&arena, buf_str(&got));
}

/* CVE-2026-33186: a path without its slash is nobody's method. */
static void paths_must_be_canonical(void **state)
{
    (void)state;
    unsigned started = atomic_load(&srv.started);
    struct str got = request("test.T/Echo", "application/grpc", STR("\0\0\0\0\1x"));
    assert_int_equal(atomic_load(&srv.started), started);
    assert_null(memmem(got.p, got.n, "\0\0\0\0\1x", 6));
    got = request("/test.T/Echo", "application/grpc", STR("\0\0\0\0\1x"));
    assert_int_equal(atomic_load(&srv.started), started + 1);
}

static void malformed_messages(void **state)
{
    (void)state;
    unsigned started = atomic_load(&srv.started), gone = atomic_load(&srv.gone);
    (void)request("/test.T/Echo", "application/grpc", STR("\1\0\0\0\1x"));       /* compressed */
    (void)request("/test.T/Echo", "application/grpc", STR("\0\1\0\0\1"));        /* too large */
    (void)request("/test.T/Echo", "application/grpc+proto", STR("\0\0\0\0\2x")); /* cut short */
    await_count(&srv.gone, gone + 3);
    (void)request("/test.T/Fail", "application/grpc", STR("\0\0\0\0\1x\0\0\0\0\1y"));
    await_count(&srv.started, started + 4);
}

static void what_is_not_grpc_gets_an_http_status(void **state)
{
    (void)state;
    static const struct {
        const char *method, *type;
        int want;
    } rows[] = {
        { "POST", "application/json", 415 },
        { "POST", "application/grpc+json", 415 },
        { "POST", "application/grpc-web", 415 },
        { "GET", "application/grpc", 405 },
        { "POST", "application/grpc; charset=utf-8", 200 },
    };
    struct fetcher_options opt = { .ca_pem = srv.ca.cert_pem };
    struct fetcher *f = fetcher_new(&opt);
    unsigned started = atomic_load(&srv.started);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct http_header type = { STR("content-type"), str_of(rows[i].type) };
        struct fetch_reply reply;
        struct fetch_request req = { .method = str_of(rows[i].method),
                                     .url = arena_printf(&arena, "https://" STR_FMT "/test.T/Echo",
                                                         STR_ARG(srv.secure)),
                                     .headers = &type,
                                     .n_headers = 1 };
        assert_int_equal(fetch(f, &req, &arena, &reply, NULL), 0);
        assert_int_equal(reply.status, rows[i].want);
    }
    assert_int_equal(atomic_load(&srv.started), started + 1);
    fetcher_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary),
        cmocka_unit_test(over_tls),
        cmocka_unit_test(errors),
        cmocka_unit_test(ten_thousand_messages),
        cmocka_unit_test(one_sends_while_another_receives),
        cmocka_unit_test(messages_at_the_limit_and_past_it),
        cmocka_unit_test(cancel_and_deadline),
        cmocka_unit_test(flow_control_reaches_the_server),
        cmocka_unit_test(many_streams_at_once),
        cmocka_unit_test(deadlines_race_with_replies),
        cmocka_unit_test(paths_must_be_canonical),
        cmocka_unit_test(malformed_messages),
        cmocka_unit_test(what_is_not_grpc_gets_an_http_status),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
