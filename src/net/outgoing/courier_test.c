/* The peer is our own server, with HTTP/2 and TLS on one port and HTTP/1.1 on another. */
#include "net/outgoing/courier.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/solo.h"
#include "net/crypto/pki.h"

enum { BIG_BYTES = 8 << 20, PIECE_BYTES = 64 << 10 };

static struct arena arena;
static struct pki_pair ca;

/* ---- The server ---- */

static struct {
    struct solo solo;
    struct tls_context *tls;
    struct str plain, secure;
    _Atomic size_t gone, sent;
} srv;

static void gone(void *arg, struct http_exchange *x)
{
    (void)arg;
    atomic_fetch_add(&srv.gone, 1);
    http_abort(x);
}

static void send_more(void *arg, struct http_exchange *x)
{
    static char piece[PIECE_BYTES];
    size_t *left = arg;
    while (*left && http_reply_room(x)) {
        http_reply_write(x, HTTP_BYTES(((struct str){ piece, sizeof(piece) })));
        *left -= sizeof(piece);
        atomic_fetch_add(&srv.sent, sizeof(piece));
    }
    if (!*left)
        http_reply_end(x, NULL, 0);
}

static void send_big(struct http_exchange *x)
{
    size_t *left = arena_new(http_arena(x), size_t);
    *left = BIG_BYTES;
    http_listen_to(x, &(struct http_events){ .arg = left, .on_room = send_more, .on_gone = gone });
    http_reply_begin(x, 200, NULL, 0);
    send_more(left, x);
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    const struct http_request *req = http_request_of(x);
    const struct http_header h = { STR("x-kind"), STR("test") };
    if (str_eq(req->path, STR("/echo"))) {
        http_reply(x, 201, &h, 1, HTTP_BYTES(req->body));
    } else if (str_eq(req->path, STR("/big"))) {
        send_big(x);
    } else if (str_eq(req->path, STR("/open"))) { /* a head, and then nothing */
        http_set_time(x, 0);
        http_listen_to(x, &(struct http_events){ .on_gone = gone });
        http_reply_begin(x, 200, &h, 1);
    } else if (str_eq(req->path, STR("/never"))) {
        http_listen_to(x, &(struct http_events){ .on_gone = gone });
    } else if (str_eq(req->path, STR("/cut"))) {
        http_reply_begin(x, 200, NULL, 0);
        http_reply_write(x, HTTP_BYTES(STR("half")));
        http_abort(x);
    } else {
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("")));
    }
}

static int make_tls(void)
{
    struct pki_pair leaf;
    struct str ip = STR("127.0.0.1");
    int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    struct pki_leaf l = { .common_name = STR("server"),
                          .ips = &ip,
                          .n_ips = 1,
                          .server = true,
                          .now_sec = now,
                          .days = 1 };
    if (pki_make_ca(&arena, STR("test"), now, 1, &ca, NULL) < 0 ||
        pki_issue(&arena, &ca, &l, &leaf, NULL) < 0)
        return -1;
    struct tls_config config = { .cert_pem = leaf.cert_pem,
                                 .key_pem = leaf.key_pem,
                                 .server = true };
    return tls_context_new(&config, &srv.tls, NULL);
}

static int start_server(void **state)
{
    (void)state;
    arena_init(&arena);
    const struct http_handler handler = { .on_request = on_request };
    if (make_tls() < 0 || solo_init(&srv.solo, &handler, NULL, NULL, NULL) < 0 ||
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
    tls_context_unref(srv.tls);
    arena_done(&arena);
    return 0;
}

/* ---- The client ---- */

enum way { WAY_PLAIN, WAY_TLS, WAY_H2, WAYS };

static struct courier *new_courier(enum way way)
{
    struct str at = way == WAY_PLAIN ? srv.plain : srv.secure;
    struct courier *c = NULL;
    struct courier_options opt = {
        .trust = { .ca_pem = ca.cert_pem },
        .url =
            arena_printf(&arena, "http%s://" STR_FMT "/", way == WAY_PLAIN ? "" : "s", STR_ARG(at)),
        .no_http2 = way == WAY_TLS,
    };
    assert_int_equal(courier_new(&opt, &c, NULL), 0);
    return c;
}

static struct delivery *send_get(struct courier *c, const char *path, bool is_endless,
                                 int64_t timeout_ms)
{
    struct courier_request req = { .method = STR("GET"),
                                   .path = str_of(path),
                                   .is_endless = is_endless,
                                   .timeout_ms = timeout_ms };
    struct delivery *d = NULL;
    assert_int_equal(courier_send(c, &req, &d, NULL), 0);
    return d;
}

/* The body's bytes, or the error that ended it. */
static int read_all(struct delivery *d, size_t *ret)
{
    autobuf piece = { 0 };
    struct fetch_reply reply;
    int r = delivery_head(d, &reply, NULL);
    if (r < 0)
        return r;
    for (*ret = 0; (r = delivery_read(d, -1, &piece, NULL)) > 0;)
        *ret += piece.n;
    return r;
}

static void one_call(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        const struct http_header h = { STR("content-type"), STR("text/plain") };
        struct courier_request req = { .method = STR("POST"),
                                       .path = STR("/echo?a=b"),
                                       .headers = &h,
                                       .n_headers = 1,
                                       .body = STR("hello") };
        struct delivery *d;
        struct fetch_reply reply;
        autobuf body = { 0 };
        assert_int_equal(courier_send(c, &req, &d, NULL), 0);
        assert_int_equal(delivery_head(d, &reply, NULL), 0);
        assert_int_equal(reply.status, 201);
        struct http_request look = { .headers = reply.headers, .n_headers = reply.n_headers };
        assert_true(str_eq(http_header_get(&look, STR("x-kind")), STR("test")));
        assert_int_equal(delivery_read(d, 5000, &body, NULL), 1);
        assert_true(str_eq(buf_str(&body), STR("hello")));
        assert_int_equal(delivery_read(d, 5000, &body, NULL), 0);
        delivery_free(d);
        courier_unref(c);
    }
}

/* Many under way share one connection of HTTP/2; what is more than the server takes on one gets
 * another. */
static void many_at_once(void **state)
{
    (void)state;
    static const struct {
        size_t n, connections;
    } rows[] = { { 50, 1 }, { LIMIT_H2_STREAMS, 1 }, { LIMIT_H2_STREAMS + 50, 2 } };
    for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
        struct http_stats before, after;
        struct courier *c = new_courier(WAY_H2);
        struct delivery *all[2 * LIMIT_H2_STREAMS];
        http_server_stats(srv.solo.http, &before);
        for (size_t i = 0; i < rows[row].n; i++)
            all[i] = send_get(c, "/open", true, 5000);
        for (size_t i = 0; i < rows[row].n; i++) {
            struct fetch_reply reply;
            assert_int_equal(delivery_head(all[i], &reply, NULL), 0);
            assert_int_equal(reply.status, 200);
        }
        http_server_stats(srv.solo.http, &after);
        assert_int_equal(after.connections_total - before.connections_total, rows[row].connections);
        for (size_t i = 0; i < rows[row].n; i++)
            delivery_free(all[i]);
        courier_unref(c);
    }
}

static void a_long_answer_comes_in_pieces(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        struct delivery *d = send_get(c, "/big", false, 20000);
        size_t n;
        assert_int_equal(read_all(d, &n), 0);
        assert_int_equal(n, BIG_BYTES);
        delivery_free(d);
        courier_unref(c);
    }
}

/* Who does not read is not sent everything, and the others go on. */
static void a_slow_reader_holds_little(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        struct delivery *slow = send_get(c, "/big", false, 20000);
        struct fetch_reply reply;
        size_t n;
        assert_int_equal(delivery_head(slow, &reply, NULL), 0);
        size_t sent = atomic_load(&srv.sent);
        for (int i = 0; i < 3; i++) {
            struct delivery *quick = send_get(c, "/big", false, 20000);
            assert_int_equal(read_all(quick, &n), 0);
            assert_int_equal(n, BIG_BYTES);
            delivery_free(quick);
        }
        assert_true(atomic_load(&srv.sent) - sent < 4 * BIG_BYTES);
        assert_int_equal(read_all(slow, &n), 0);
        assert_int_equal(n, BIG_BYTES);
        delivery_free(slow);
        courier_unref(c);
    }
}

static void *cancel_soon(void *arg)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000000 }, NULL);
    delivery_cancel(arg);
    return NULL;
}

static void cancelled_by_another_thread(void **state)
{
    (void)state;
    static const char *const paths[] = { "/open", "/never" };
    for (enum way way = 0; way < WAYS; way++)
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            struct courier *c = new_courier(way);
            struct delivery *d = send_get(c, paths[i], true, 20000);
            struct fetch_reply reply;
            autobuf body = { 0 };
            pthread_t thread;
            size_t before = atomic_load(&srv.gone);
            if (i == 0) /* the head has come, and the rest never does */
                assert_int_equal(delivery_head(d, &reply, NULL), 0);
            assert_int_equal(pthread_create(&thread, NULL, cancel_soon, d), 0);
            if (i == 1)
                assert_int_equal(delivery_head(d, &reply, NULL), -ERR_GONE);
            assert_int_equal(delivery_read(d, -1, &body, NULL), -ERR_GONE);
            (void)pthread_join(thread, NULL);
            delivery_free(d);
            while (atomic_load(&srv.gone) == before) /* the server is told at once */
                nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
            courier_unref(c);
        }
}

static void times(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        struct fetch_reply reply;
        autobuf body = { 0 };
        struct delivery *d = send_get(c, "/never", false, 100);
        assert_int_equal(delivery_head(d, &reply, NULL), -ERR_TIMEOUT);
        delivery_free(d);
        d = send_get(c, "/never", true, 100);
        assert_int_equal(delivery_head(d, &reply, NULL), -ERR_TIMEOUT);
        delivery_free(d);
        d = send_get(c, "/open", true, 5000);
        assert_int_equal(delivery_head(d, &reply, NULL), 0);
        assert_int_equal(delivery_read(d, 50, &body, NULL), -ERR_TIMEOUT);
        delivery_free(d);
        courier_unref(c);
    }
}

static void a_cut_answer_is_no_answer(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        struct delivery *d = send_get(c, "/cut", false, 5000);
        size_t n;
        assert_int_equal(read_all(d, &n), -ERR_UNAVAILABLE);
        assert_false(delivery_was_not_sent(d));
        delivery_free(d);
        courier_unref(c);
    }
}

static void nobody_there(void **state)
{
    (void)state;
    static const char *const urls[] = { "http://127.0.0.1:1", "https://127.0.0.1:1/prefix" };
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct courier *c;
        struct fetch_reply reply;
        assert_int_equal(courier_new(&(struct courier_options){ .url = str_of(urls[i]) }, &c, NULL),
                         0);
        struct delivery *d = send_get(c, "/echo", false, 5000);
        assert_int_equal(delivery_head(d, &reply, NULL), -ERR_UNAVAILABLE);
        assert_true(delivery_was_not_sent(d));
        delivery_free(d);
        courier_unref(c);
    }
}

static void bad_urls(void **state)
{
    (void)state;
    static const char *const urls[] = { "", "ftp://127.0.0.1", "https://", "https://u@h", "x" };
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct courier *c;
        assert_int_equal(courier_new(&(struct courier_options){ .url = str_of(urls[i]) }, &c, NULL),
                         -ERR_INVALID);
    }
}

/* Without the authority the server is not believed, unless the caller wants it so. */
static void trust(void **state)
{
    (void)state;
    for (int h2 = 0; h2 < 2; h2++)
        for (int insecure = 0; insecure < 2; insecure++) {
            struct courier *c;
            struct courier_options opt = {
                .trust = { .insecure = insecure },
                .url = arena_printf(&arena, "https://" STR_FMT, STR_ARG(srv.secure)),
                .no_http2 = !h2,
            };
            struct fetch_reply reply;
            assert_int_equal(courier_new(&opt, &c, NULL), 0);
            struct delivery *d = send_get(c, "/none", false, 5000);
            assert_int_equal(delivery_head(d, &reply, NULL), insecure ? 0 : -ERR_UNAVAILABLE);
            delivery_free(d);
            courier_unref(c);
        }
}

static void *many_calls(void *arg)
{
    for (int i = 0; i < 50; i++) {
        struct delivery *d = send_get(arg, "/none", false, 10000);
        struct fetch_reply reply;
        if (delivery_head(d, &reply, NULL) < 0 || reply.status != 404)
            return arg; /* any pointer says that it failed */
        delivery_free(d);
    }
    return NULL;
}

static void any_thread_may_send(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct courier *c = new_courier(way);
        pthread_t threads[4];
        for (size_t i = 0; i < ARRAY_LEN(threads); i++)
            assert_int_equal(pthread_create(&threads[i], NULL, many_calls, c), 0);
        for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
            void *failed;
            (void)pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        courier_unref(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_call),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(a_long_answer_comes_in_pieces),
        cmocka_unit_test(a_slow_reader_holds_little),
        cmocka_unit_test(cancelled_by_another_thread),
        cmocka_unit_test(times),
        cmocka_unit_test(a_cut_answer_is_no_answer),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(bad_urls),
        cmocka_unit_test(trust),
        cmocka_unit_test(any_thread_may_send),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
