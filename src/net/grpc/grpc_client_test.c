/* The client against servers that misbehave: a listener in here plays HTTP/2 by hand. */
#include "net/grpc/grpc.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"

enum { CALL_MS = 20000, MAX_PAYLOAD = 1 << 16 };
enum {
    DATA = 0,
    HEADERS = 1,
    RST_STREAM = 3,
    SETTINGS = 4,
    GOAWAY = 7,
    CONTINUATION = 9,
    ALTSVC = 10
};
enum { END_STREAM = 1, END_HEADERS = 4 };

static struct arena arena;

/* ---- The peer: one script for each connection, in a thread of its own ---- */

struct peer {
    int listener;
    struct str address;
    pthread_t thread;
    void (*script)(struct peer *p, int fd, unsigned nth);
    _Atomic unsigned n_conns, n_resets;
    atomic_bool stop;
};

struct frame {
    unsigned type, flags;
    uint32_t id;
    size_t n;
    unsigned char payload[MAX_PAYLOAD];
};

static bool read_all(int fd, void *to, size_t n)
{
    return n == 0 || recv(fd, to, n, MSG_WAITALL) == (ssize_t)n;
}

static void send_frame(int fd, unsigned type, unsigned flags, uint32_t id, struct str payload)
{
    unsigned char head[9] = { (unsigned char)(payload.n >> 16),
                              (unsigned char)(payload.n >> 8),
                              (unsigned char)payload.n,
                              (unsigned char)type,
                              (unsigned char)flags,
                              (unsigned char)(id >> 24),
                              (unsigned char)(id >> 16),
                              (unsigned char)(id >> 8),
                              (unsigned char)id };
    (void)send(fd, head, 9, MSG_NOSIGNAL);
    if (payload.n)
        (void)send(fd, payload.p, payload.n, MSG_NOSIGNAL);
}

/* The next frame of one of these types; resets are counted on the way. */
static bool await_frame(struct peer *p, int fd, struct frame *f, unsigned type)
{
    unsigned char head[9];
    while (read_all(fd, head, 9)) {
        f->n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        f->type = head[3];
        f->flags = head[4];
        f->id =
            (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8];
        if (f->n > sizeof(f->payload) || !read_all(fd, f->payload, f->n))
            return false;
        if (f->type == RST_STREAM)
            atomic_fetch_add(&p->n_resets, 1);
        if (f->type == type)
            return true;
    }
    return false;
}

static bool greet(int fd)
{
    char preface[24];
    bool on = read_all(fd, preface, sizeof(preface));
    send_frame(fd, SETTINGS, 0, 0, STR(""));
    return on;
}

static void wait_for_hangup(struct peer *p, int fd)
{
    struct frame *f = mem_new(struct frame);
    (void)await_frame(p, fd, f, 0xff);
    mem_cleanup_free(&f);
}

/* HPACK: ":status: 200" is in the table, the others are written out. */
static void add_field(struct buf *b, struct str name, struct str value)
{
    buf_byte(b, 0);
    buf_byte(b, (char)name.n);
    buf_str_add(b, name);
    buf_byte(b, (char)value.n);
    buf_str_add(b, value);
}

static void send_head(int fd, uint32_t id)
{
    autobuf b = { 0 };
    buf_byte(&b, (char)0x88);
    add_field(&b, STR("content-type"), STR("application/grpc"));
    send_frame(fd, HEADERS, END_HEADERS, id, buf_str(&b));
}

static void send_status(int fd, uint32_t id, const char *status)
{
    autobuf b = { 0 };
    add_field(&b, STR("grpc-status"), str_of(status));
    add_field(&b, STR("grpc-message"), STR("100%25 of it"));
    send_frame(fd, HEADERS, END_HEADERS | END_STREAM, id, buf_str(&b));
}

static void answer(int fd, uint32_t id, struct str message)
{
    autobuf b = { 0 };
    grpc_frame(&b, message);
    send_head(fd, id);
    send_frame(fd, DATA, 0, id, buf_str(&b));
    send_status(fd, id, "0");
}

static void *peer_run(void *arg)
{
    struct peer *p = arg;
    for (;;) {
        autoclose int fd = accept(p->listener, NULL, NULL);
        if (fd < 0 || atomic_load(&p->stop))
            return NULL;
        p->script(p, fd, atomic_fetch_add(&p->n_conns, 1));
    }
}

static struct peer *peer_new(void (*script)(struct peer *p, int fd, unsigned nth))
{
    struct peer *p = mem_new(struct peer);
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(in);
    p->script = script;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&in, len), 0);
    assert_int_equal(listen(p->listener, 16), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&in, &len), 0);
    p->address = arena_printf(&arena, "127.0.0.1:%u", ntohs(in.sin_port));
    assert_int_equal(pthread_create(&p->thread, NULL, peer_run, p), 0);
    return p;
}

/* After the client is gone. */
static void peer_free(struct peer *p)
{
    atomic_store(&p->stop, true);
    (void)shutdown(p->listener, SHUT_RDWR);
    (void)pthread_join(p->thread, NULL);
    (void)close(p->listener);
    mem_cleanup_free(&p);
}

static struct grpc_client *client_of(const struct peer *p)
{
    struct grpc_client_options opt = { .address = p->address, .connect_ms = 2000 };
    struct grpc_client *c = grpc_client_new(&opt);
    assert_non_null(c);
    return c;
}

static struct grpc_result call(struct grpc_client *c, int64_t timeout_ms, struct str *ret)
{
    struct grpc_result result;
    struct str reply;
    int r = grpc_call_unary(c, STR("/x.Y/Z"), STR("hello"), NULL, 0, timeout_ms, &arena,
                            ret ? ret : &reply, &result, NULL);
    assert_int_equal(r == 0, result.status == GRPC_OK);
    return result;
}

/* ---- The scripts and their tests ---- */

static void serve_normally(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    struct frame *f = mem_new(struct frame);
    if (greet(fd))
        while (await_frame(p, fd, f, HEADERS))
            answer(fd, f->id, STR("reply"));
    mem_cleanup_free(&f);
}

static void a_reply_comes_back(void **state)
{
    (void)state;
    struct peer *p = peer_new(serve_normally);
    struct grpc_client *c = client_of(p);
    struct str reply;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(call(c, CALL_MS, &reply).status, GRPC_OK);
        assert_true(str_eq(reply, STR("reply")));
    }
    assert_int_equal(p->n_conns, 1);
    struct grpc_result result;
    assert_int_equal(
        grpc_call_unary(c, STR("x.Y/Z"), STR(""), NULL, 0, CALL_MS, &arena, &reply, &result, NULL),
        -ERR_BAD_REQUEST);
    assert_true(result.surely_not_run);
    struct grpc_stream *s;
    assert_int_equal(grpc_stream_open(c, STR("x.Y/Z"), NULL, 0, &s, NULL), -ERR_BAD_REQUEST);
    grpc_client_free(c);
    peer_free(p);
}

/* A bare chroot has no /etc/hosts, and then nobody knows localhost. */
static bool localhost_is_known(void)
{
    struct addrinfo *found = NULL;
    bool known = getaddrinfo("localhost", NULL, NULL, &found) == 0;
    if (known)
        freeaddrinfo(found);
    else
        print_message("skipped: this machine does not know localhost\n");
    return known;
}

static void names_are_looked_up(void **state)
{
    (void)state;
    if (!localhost_is_known())
        skip();
    struct peer *p = peer_new(serve_normally);
    struct str port = str_skip(p->address, 10);
    struct grpc_client_options opt = { .address = arena_printf(&arena, "localhost:" STR_FMT,
                                                               STR_ARG(port)) };
    struct grpc_client *c = grpc_client_new(&opt);
    assert_int_equal(call(c, CALL_MS, NULL).status, GRPC_OK);
    grpc_client_free(c);
    const char *const bad[] = { "",      "nowhere", "127.0.0.1:",    ":80",
                                "unix:", "a:b:c",   "name.invalid:1" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        opt.address = str_of(bad[i]);
        c = grpc_client_new(&opt);
        struct grpc_result result = call(c, CALL_MS, NULL);
        assert_int_equal(result.status, GRPC_UNAVAILABLE);
        assert_true(result.surely_not_run);
        grpc_client_free(c);
    }
    peer_free(p);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct grpc_client_options opt = { .address = STR("127.0.0.1:1") };
    struct grpc_client *c = grpc_client_new(&opt);
    for (int i = 0; i < 3; i++) {
        struct grpc_result result = call(c, CALL_MS, NULL);
        assert_int_equal(result.status, GRPC_UNAVAILABLE);
        assert_true(result.surely_not_run);
    }
    struct grpc_result result = call(c, 1, NULL); /* still before the next attempt */
    assert_true(result.surely_not_run);
    grpc_client_free(c);
}

/* CVE-2026-33814: a frame size of 0 is an error, and soon. */
static void send_zero_frame_size(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    char preface[24];
    if (read_all(fd, preface, sizeof(preface)))
        send_frame(fd, SETTINGS, 0, 0, STR("\0\5\0\0\0\0"));
    wait_for_hangup(p, fd);
}

static void zero_frame_size_is_an_error(void **state)
{
    (void)state;
    struct peer *p = peer_new(send_zero_frame_size);
    struct grpc_client *c = client_of(p);
    int64_t start = clock_mono_ns(&clock_system);
    struct grpc_result result = call(c, CALL_MS, NULL);
    assert_true(clock_mono_ns(&clock_system) - start < NS_PER_SEC);
    assert_int_equal(result.status, GRPC_UNAVAILABLE);
    assert_true(result.surely_not_run);
    grpc_client_free(c);
    peer_free(p);
}

static void serve_then_zero_frame_size(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    struct frame *f = mem_new(struct frame);
    if (greet(fd) && await_frame(p, fd, f, HEADERS))
        send_frame(fd, SETTINGS, 0, 0, STR("\0\5\0\0\0\0"));
    wait_for_hangup(p, fd);
    mem_cleanup_free(&f);
}

static void zero_frame_size_later_is_an_error_too(void **state)
{
    (void)state;
    struct peer *p = peer_new(serve_then_zero_frame_size);
    struct grpc_client *c = client_of(p);
    struct grpc_result result = call(c, CALL_MS, NULL);
    assert_int_equal(result.status, GRPC_UNAVAILABLE);
    assert_false(result.surely_not_run);
    grpc_client_free(c);
    peer_free(p);
}

static void say_nothing(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    wait_for_hangup(p, fd);
}

static void silence_is_noticed(void **state)
{
    (void)state;
    struct peer *p = peer_new(say_nothing);
    struct grpc_client_options opt = { .address = p->address, .connect_ms = 100 };
    struct grpc_client *c = grpc_client_new(&opt);
    struct grpc_result result = call(c, CALL_MS, NULL);
    assert_int_equal(result.status, GRPC_UNAVAILABLE);
    assert_true(result.surely_not_run);
    grpc_client_free(c);
    peer_free(p);
}

static void speak_http1(struct peer *p, int fd, unsigned nth)
{
    (void)p;
    (void)nth;
    (void)send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL);
}

static void another_protocol_is_noticed(void **state)
{
    (void)state;
    struct peer *p = peer_new(speak_http1);
    struct grpc_client *c = client_of(p);
    struct grpc_result result = call(c, CALL_MS, NULL);
    assert_int_equal(result.status, GRPC_UNAVAILABLE);
    assert_true(result.surely_not_run);
    grpc_client_free(c);
    peer_free(p);
}

/* First call: refused stream. Second: the connection is going away without having seen it. */
static void refuse(struct peer *p, int fd, unsigned nth)
{
    struct frame *f = mem_new(struct frame);
    if (nth > 0) {
        serve_normally(p, fd, nth);
    } else if (greet(fd) && await_frame(p, fd, f, HEADERS)) {
        send_frame(fd, RST_STREAM, 0, f->id, STR("\0\0\0\7"));
        if (await_frame(p, fd, f, HEADERS))
            send_frame(fd, GOAWAY, 0, 0, STR("\0\0\0\1\0\0\0\0"));
        wait_for_hangup(p, fd);
    }
    mem_cleanup_free(&f);
}

static void refused_calls_surely_have_not_run(void **state)
{
    (void)state;
    struct peer *p = peer_new(refuse);
    struct grpc_client *c = client_of(p);
    for (int i = 0; i < 2; i++) {
        struct grpc_result result = call(c, CALL_MS, NULL);
        assert_int_equal(result.status, GRPC_UNAVAILABLE);
        assert_true(result.surely_not_run);
    }
    assert_int_equal(call(c, CALL_MS, NULL).status, GRPC_OK); /* on a connection of its own */
    assert_int_equal(p->n_conns, 2);
    grpc_client_free(c);
    peer_free(p);
}

/* Says goodbye while a call runs, and answers it all the same. */
static void leave_gracefully(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    struct frame *f = mem_new(struct frame);
    if (greet(fd) && await_frame(p, fd, f, HEADERS)) {
        send_frame(fd, GOAWAY, 0, 0, STR("\x7f\xff\xff\xff\0\0\0\0"));
        answer(fd, f->id, STR("last"));
        wait_for_hangup(p, fd);
    }
    mem_cleanup_free(&f);
}

static void running_calls_end_after_goaway(void **state)
{
    (void)state;
    struct peer *p = peer_new(leave_gracefully);
    struct grpc_client *c = client_of(p);
    for (int i = 0; i < 3; i++) {
        struct str reply;
        assert_int_equal(call(c, CALL_MS, &reply).status, GRPC_OK);
        assert_true(str_eq(reply, STR("last")));
    }
    assert_int_equal(p->n_conns, 3);
    grpc_client_free(c);
    peer_free(p);
}

/* One way to answer badly for each connection, which then hangs up or waits. */
static void answer_badly(struct peer *p, int fd, unsigned nth)
{
    struct frame *f = mem_new(struct frame);
    if (greet(fd) && await_frame(p, fd, f, HEADERS)) {
        if (nth == 0) { /* ":status: 404" without anything else */
            send_frame(fd, HEADERS, END_HEADERS | END_STREAM, f->id, STR("\x8d"));
        } else {
            send_head(fd, f->id);
        }
        if (nth == 1)
            send_frame(fd, DATA, 0, f->id, STR("\0\1\0\0\1"));
        if (nth == 2)
            send_frame(fd, DATA, 0, f->id, STR("\1\0\0\0\1x"));
        if (nth == 3)
            send_frame(fd, DATA, END_STREAM, f->id, STR("\0\0\0\0\1x"));
        if (nth == 4)
            send_status(fd, f->id, "0");
        if (nth == 5) {
            send_frame(fd, DATA, 0, f->id, STR("\0\0\0\0\1x\0\0\0\0\1y"));
            send_status(fd, f->id, "0");
        }
        if (nth == 6) {
            send_frame(fd, DATA, 0, f->id, STR("\0\0\0\0\2x"));
            send_status(fd, f->id, "0");
        }
        if (nth == 7)
            send_status(fd, f->id, "5");
        if (nth == 8)
            send_frame(fd, RST_STREAM, 0, f->id, STR("\0\0\0\x0b"));
        if (nth < 9) { /* the next call gets a connection of its own */
            send_frame(fd, GOAWAY, 0, 0, STR("\0\0\0\1\0\0\0\0"));
            wait_for_hangup(p, fd);
        }
    }
    mem_cleanup_free(&f);
}

static void bad_answers_have_a_status(void **state)
{
    (void)state;
    const enum grpc_status want[] = {
        GRPC_UNIMPLEMENTED,      /* HTTP 404 */
        GRPC_RESOURCE_EXHAUSTED, /* a message of one byte more than the limit is announced */
        GRPC_INTERNAL,           /* compressed */
        GRPC_INTERNAL,           /* no trailers */
        GRPC_INTERNAL,           /* no message */
        GRPC_INTERNAL,           /* two messages */
        GRPC_INTERNAL,           /* half a message */
        GRPC_NOT_FOUND,          /* what the server said */
        GRPC_RESOURCE_EXHAUSTED, /* ENHANCE_YOUR_CALM */
        GRPC_UNAVAILABLE,        /* hung up after the head */
    };
    struct peer *p = peer_new(answer_badly);
    struct grpc_client *c = client_of(p);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct grpc_result result = call(c, CALL_MS, NULL);
        assert_int_equal(result.status, want[i]);
        assert_false(result.surely_not_run);
        if (result.status == GRPC_NOT_FOUND)
            assert_true(str_eq(result.message, STR("100% of it")));
    }
    grpc_client_free(c);
    assert_int_equal(p->n_resets, 2); /* of what was too large and what was compressed */
    peer_free(p);
}

/* Frames for which servers were once the victims, sent to the client. */
static void send_abuse(struct peer *p, int fd, unsigned nth)
{
    struct frame *f = mem_new(struct frame);
    static const char altsvc[16000];
    if (greet(fd) && await_frame(p, fd, f, HEADERS)) {
        if (nth == 0) { /* CVE-2018-1000168: an ALTSVC frame as long as can be, then all is well */
            send_frame(fd, ALTSVC, 0, 0, (struct str){ altsvc, sizeof(altsvc) });
            answer(fd, f->id, STR("reply"));
            send_frame(fd, GOAWAY, 0, 0, STR("\0\0\0\1\0\0\0\0"));
        } else if (nth == 1) { /* CVE-2024-28182: a header block without end */
            send_frame(fd, HEADERS, 0, f->id, STR("\x88"));
            for (int i = 0; i < 100000; i++)
                send_frame(fd, CONTINUATION, 0, f->id, STR(""));
        } else { /* CVE-2026-27135: an error, and a frame of a wrong length behind it */
            send_frame(fd, SETTINGS, 0, 0, STR("\0\5\0\0\0\0"));
            send_frame(fd, RST_STREAM, 0, f->id, STR("\0"));
            send_frame(fd, SETTINGS, 0, 0, STR("\0"));
        }
        wait_for_hangup(p, fd);
    }
    mem_cleanup_free(&f);
}

static void abuse_ends_the_connection_only(void **state)
{
    (void)state;
    struct peer *p = peer_new(send_abuse);
    struct grpc_client *c = client_of(p);
    const enum grpc_status want[] = { GRPC_OK, GRPC_UNAVAILABLE, GRPC_UNAVAILABLE };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(call(c, CALL_MS, NULL).status, want[i]);
    assert_int_equal(p->n_conns, 3);
    grpc_client_free(c);
    peer_free(p);
}

static void never_answer(struct peer *p, int fd, unsigned nth)
{
    (void)nth;
    if (greet(fd))
        wait_for_hangup(p, fd);
}

static void deadlines_and_cancels_reset_the_stream(void **state)
{
    (void)state;
    struct peer *p = peer_new(never_answer);
    struct grpc_client *c = client_of(p);
    struct grpc_result result = call(c, 300, NULL);
    assert_int_equal(result.status, GRPC_DEADLINE_EXCEEDED);
    assert_false(result.surely_not_run);
    struct grpc_stream *s;
    struct err err = ERR_INIT(&arena);
    autobuf got = { 0 };
    assert_int_equal(grpc_stream_open(c, STR("/x.Y/Z"), NULL, 0, &s, NULL), 0);
    assert_int_equal(grpc_stream_receive(s, 50, &got, NULL, &arena, &err), -ERR_TIMEOUT);
    assert_int_equal(grpc_stream_send(s, STR("x"), NULL), 0);
    grpc_stream_free(s);
    for (int i = 0; i < 2000 && atomic_load(&p->n_resets) < 2; i++)
        (void)usleep(1000);
    assert_int_equal(p->n_resets, 2);
    assert_int_equal(p->n_conns, 1);
    grpc_client_free(c);
    peer_free(p);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_comes_back),
        cmocka_unit_test(names_are_looked_up),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(zero_frame_size_is_an_error),
        cmocka_unit_test(zero_frame_size_later_is_an_error_too),
        cmocka_unit_test(silence_is_noticed),
        cmocka_unit_test(another_protocol_is_noticed),
        cmocka_unit_test(refused_calls_surely_have_not_run),
        cmocka_unit_test(running_calls_end_after_goaway),
        cmocka_unit_test(bad_answers_have_a_status),
        cmocka_unit_test(abuse_ends_the_connection_only),
        cmocka_unit_test(deadlines_and_cancels_reset_the_stream),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
