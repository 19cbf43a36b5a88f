/* Replies that are asked for faster than they are taken. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness.h"

enum { REPLY = 1000000, MIB = 1 << 20 };

#define BIG "GET /big?1000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct harness h;

static void start(struct http_limits limits)
{
    struct harness_options opt = { .limits = limits };
    harness_start(&h, &opt);
}

/* Until nothing has happened for a while. */
static size_t settled_requests(void)
{
    size_t before;
    do {
        before = h.requests;
        harness_sleep_ms(300);
    } while (h.requests != before);
    return before;
}

/* LIMIT_REPLY_BYTES: a hundred streams of one connection and a window of nothing. Requests wait,
 * and are answered when the client takes something. */
static void requests_wait_for_whoever_does_not_read(void **state)
{
    (void)state;
    enum { STREAMS = 100 };
    struct http_limits limits = http_limits_default();
    limits.reply_bytes = 4 * REPLY;
    start(limits);
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 0);
    for (uint32_t i = 0; i < STREAMS; i++)
        h2_add_request(&b, 2 * i + 1, "GET", "/big?1000000", true);
    assert_true(h2_send(&p, &b));
    assert_in_range(settled_requests(), 4, 5);
    h2_add_setting(&b, 4, 0x7fffffff);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fff0000);
    assert_true(h2_send(&p, &b));
    size_t ended = 0, bytes = 0;
    while (ended < STREAMS && h2_next(&p, &f)) {
        bytes += f.type == H2_DATA ? f.payload.n : 0;
        ended += f.type == H2_DATA && f.flags & H2_END_STREAM;
    }
    assert_int_equal(ended, STREAMS);
    assert_int_equal(bytes, STREAMS * REPLY);
    assert_int_equal(h.requests, STREAMS);
    h2_close(&p);
    harness_stop(&h);
}

/* The same of requests that are sent ahead. */
static void requests_ahead_wait_too(void **state)
{
    (void)state;
    enum { MANY = 100, IN_SOCKETS = 20 };
    struct http_limits limits = http_limits_default();
    limits.reply_bytes = 4 * REPLY;
    start(limits);
    autoclose int fd = peer_connect(h.plain);
    autobuf b = { 0 }, got = { 0 };
    for (size_t i = 0; i < MANY; i++)
        buf_str_add(&b, STR(BIG));
    assert_true(peer_send(fd, buf_str(&b)));
    assert_true(settled_requests() < 4 + IN_SOCKETS);
    assert_true(peer_read(fd, &got, (size_t)MANY * REPLY));
    assert_int_equal(h.requests, MANY);
    harness_stop(&h);
}

/* One that waits for too long is told so; one that goes while it waits is never handed over. */
static void waiting_has_an_end(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.reply_bytes = REPLY;
    limits.request_ms = 400;
    start(limits);
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 0);
    h2_add_request(&b, 1, "GET", "/big?1000000", true);
    h2_add_request(&b, 3, "GET", "/", true);
    h2_add_request(&b, 5, "GET", "/", true);
    h2_add_u32(&b, H2_RST_STREAM, 5, H2_CANCEL);
    assert_true(h2_send(&p, &b));
    while (h2_next(&p, &f) && !(f.type == H2_HEADERS && f.stream == 3))
        ;
    assert_int_equal(f.status, 504);
    harness_wait(harness_stats(&h).exchanges_open <= 1); /* the 504 has a body, and no window */
    assert_int_equal(h.requests, 1);
    h2_close(&p);
    harness_stop(&h);
}

static size_t ask_from(const char *host, const char *target)
{
    autoclose int fd = peer_connect_from(host, h.plain);
    autobuf b = { 0 }, got = { 0 };
    buf_printf(&b, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target);
    assert_true(peer_send(fd, buf_str(&b)));
    assert_true(peer_read_all(fd, &got, SIZE_MAX));
    assert_int_equal(h1_status(buf_str(&got)), 200);
    return got.n;
}

/* LIMIT_REPLY_BYTES_ALL, LIMIT_WRITE_CROWD_MS: many connections of one client that do not read are
 * cut off one by one, long before LIMIT_WRITE_STALL_MS; others do not wait for that. */
static void whoever_does_not_read_makes_room(void **state)
{
    (void)state;
    enum { MANY = 12 };
    struct http_limits limits = http_limits_default();
    limits.reply_bytes_all = 8 * MIB;
    limits.write_stall_ms = 3600 * 1000;
    limits.write_crowd_ms = 300;
    start(limits);
    size_t rss = harness_rss_bytes();
    int fds[MANY];
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = peer_connect_from("127.0.0.2", h.plain);
        assert_true(peer_send(fds[i], STR("GET /big?5000000 HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    }
    harness_wait(h.requests > 0);
    assert_true(ask_from("127.0.0.3", "/stream?1000000") > REPLY);
    assert_true(harness_stats(&h).connections_open > MANY / 2);
    assert_true(ask_from("127.0.0.2", "/stream?1000000") > REPLY); /* when it is its turn */
    assert_true(harness_stats(&h).closed_for_abuse > 0);
    harness_check_rss(rss, 48 * MIB);
    for (size_t i = 0; i < MANY; i++)
        close(fds[i]);
    harness_stop(&h);
}

/* LIMIT_WRITE_STALL_BYTES: a byte now and then is a stall, on its stream alone. */
static void a_stream_in_drips_is_reset(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.write_stall_ms = 400;
    start(limits);
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 1);
    h2_add_request(&b, 1, "GET", "/stream?100000000", true);
    h2_add_request(&b, 3, "GET", "/stream?100000000", true);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fff0000);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 3, 50000);
    assert_true(h2_send(&p, &b));
    size_t dripped = 0, flowed = 0;
    while (h2_next(&p, &f) && f.type != H2_RST_STREAM) {
        if (f.type != H2_DATA)
            continue;
        *(f.stream == 1 ? &dripped : &flowed) += f.payload.n;
        h2_add_u32(&b, H2_WINDOW_UPDATE, 1, 1);
        if (f.stream == 3)
            h2_add_u32(&b, H2_WINDOW_UPDATE, 3, (uint32_t)f.payload.n);
        harness_sleep_ms(2);
        assert_true(h2_send(&p, &b));
    }
    assert_int_equal(f.type, H2_RST_STREAM);
    assert_int_equal(f.stream, 1);
    assert_in_range(dripped, 1, 4096);
    assert_true(flowed > 4096);
    h2_close(&p);
    harness_stop(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_wait_for_whoever_does_not_read),
        cmocka_unit_test(requests_ahead_wait_too),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(whoever_does_not_read_makes_room),
        cmocka_unit_test(a_stream_in_drips_is_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
