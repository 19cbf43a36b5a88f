/* HTTP/2 clients that mean harm. Each test names the published weakness it repeats. */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "harness.h"

enum { MIB = 1 << 20, BATCH = 100 };

static struct harness h;

static int start(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    opt.limits.write_stall_ms = 1500;
    harness_start(&h, &opt);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&h);
    return 0;
}

/* After all that, an honest client is served. */
static void check_alive(void)
{
    assert_int_equal(h1_ask(&h, STR("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), NULL), 200);
}

/* Sends what `add` makes until the server has closed, at most `most` times; how often it was. */
static size_t flood(struct h2_peer *p, size_t most, void (*add)(struct buf *b, size_t i))
{
    autobuf b = { 0 };
    for (size_t i = 0; i < most;) {
        for (size_t k = 0; k < BATCH && i < most; k++)
            add(&b, i++);
        if (!h2_send(p, &b))
            return i;
    }
    return most;
}

static void check_closed_for_abuse(struct h2_peer *p)
{
    assert_int_equal(h2_goaway_code(p), H2_ENHANCE_YOUR_CALM);
    h2_close(p);
    check_alive();
}

/* ---- Resets ---- */

static void add_hold_and_reset(struct buf *b, size_t i)
{
    h2_add_request(b, (uint32_t)(2 * i + 1), "GET", "/hold", true);
    h2_add_u32(b, H2_RST_STREAM, (uint32_t)(2 * i + 1), H2_CANCEL);
}

/* CVE-2023-44487, CVE-2023-39325; past LIMIT_H2_RESETS */
static void rapid_reset(void **state)
{
    (void)state;
    struct h2_peer p;
    size_t requests = h.requests, rss = harness_rss_bytes();
    h2_connect(&p, &h);
    (void)flood(&p, 100000, add_hold_and_reset);
    assert_int_equal(h2_goaway_code(&p), H2_ENHANCE_YOUR_CALM);
    h2_close(&p);
    assert_true(h.requests - requests <= LIMIT_H2_RESETS + 5);
    harness_wait(h.running == 0);
    harness_check_rss(rss, 4 * MIB);
    check_alive();
}

static void add_hold_and_overflow(struct buf *b, size_t i)
{
    h2_add_request(b, (uint32_t)(2 * i + 1), "GET", "/hold", true);
    h2_add_u32(b, H2_WINDOW_UPDATE, (uint32_t)(2 * i + 1), 0x7fffffff);
}

/* CVE-2025-8671: the client makes the server reset, and reads what it says. */
static void made_you_reset(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    struct h2_frame f = { 0 };
    size_t requests = h.requests, i = 0;
    h2_connect(&p, &h);
    bool open = true;
    while (open && i < 10000) {
        add_hold_and_overflow(&b, i++);
        open = h2_send(&p, &b) && h2_next(&p, &f) && f.type != H2_GOAWAY;
    }
    if (f.type != H2_GOAWAY)
        assert_true(h2_expect(&p, H2_GOAWAY, 0, &f));
    assert_int_equal(h2_u32(f.payload, 4), H2_ENHANCE_YOUR_CALM);
    h2_close(&p);
    assert_true(h.requests - requests < 10000);
    harness_wait(h.running == 0);
    check_alive();
}

static void add_malformed(struct buf *b, size_t i)
{
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, (uint32_t)(2 * i + 1), STR("\x82"));
}

/* CVE-2019-9514: the same, and nobody reads the resets. */
static void resets_pile_up(void **state)
{
    (void)state;
    struct h2_peer p;
    size_t rss = harness_rss_bytes();
    h2_connect(&p, &h);
    (void)flood(&p, 100000, add_malformed);
    harness_check_rss(rss, 4 * MIB);
    /* Either the resets are overdrawn, or so many are unsent that the streams are. */
    int64_t code = h2_goaway_code(&p);
    assert_true(code == H2_ENHANCE_YOUR_CALM || code == H2_PROTOCOL_ERROR);
    h2_close(&p);
    check_alive();
}

/* A stream that is reset while its handler runs keeps its place (LIMIT_H2_STREAMS). */
static void reset_streams_count_until_their_handler_ends(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    enum { FIRST = 60 };
    h2_connect(&p, &h);
    for (uint32_t i = 0; i < LIMIT_H2_STREAMS; i++) {
        h2_add_request(&b, 2 * i + 1, "GET", "/stubborn", true);
        if (i < FIRST)
            h2_add_u32(&b, H2_RST_STREAM, 2 * i + 1, H2_CANCEL);
    }
    h2_add_request(&b, 1001, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_RST_STREAM, 1001, &f));
    assert_int_equal(h2_u32(f.payload, 0), H2_REFUSED_STREAM);
    harness_release(&h);
    assert_int_equal(h2_status(&p, 2 * FIRST + 1), 200);
    harness_wait(harness_stats(&h).exchanges_open == 0);
    h2_add_request(&b, 1003, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1003), 200);
    h2_close(&p);
}

/* ---- Header blocks ---- */

static int64_t cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* CVE-2023-45288, CVE-2024-28182, CVE-2024-30255; past LIMIT_H2_CONTINUATIONS */
static void continuation_flood(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    int64_t cpu = cpu_ms();
    h2_add(&b, H2_HEADERS, H2_END_STREAM, 1, STR("\x82"));
    for (int i = 0; i < 2000; i++)
        h2_add(&b, H2_CONTINUATION, 0, 1, (struct str){ NULL, 0 });
    (void)h2_send(&p, &b);
    assert_int_equal(h2_goaway_code(&p), H2_ENHANCE_YOUR_CALM);
    assert_true(cpu_ms() - cpu < 5000); /* 50 ms, times what sanitizers and neighbours cost */
    h2_close(&p);
    check_alive();
}

static void continuation_flood_on_a_reset_stream(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/hold", false);
    h2_add_u32(&b, H2_RST_STREAM, 1, H2_CANCEL);
    h2_add(&b, H2_HEADERS, H2_END_STREAM, 1, STR("\x82"));
    for (int i = 0; i < 2000; i++)
        h2_add(&b, H2_CONTINUATION, 0, 1, (struct str){ NULL, 0 });
    (void)h2_send(&p, &b);
    check_closed_for_abuse(&p);
}

/* A header block in as many frames as it needs. */
static void add_block(struct buf *b, uint32_t stream, struct str block)
{
    enum { FRAME = 16000 };
    bool first = true;
    do {
        struct str part = str_take(block, FRAME);
        block = str_skip(block, part.n);
        uint8_t flags = (uint8_t)((block.n ? 0 : H2_END_HEADERS) | (first ? H2_END_STREAM : 0));
        h2_add(b, first ? H2_HEADERS : H2_CONTINUATION, flags, stream, part);
        first = false;
    } while (block.n);
}

/* A later request on the same connection: the compression must still be in step. */
static void check_in_step(struct h2_peer *p, uint32_t stream)
{
    autobuf b = { 0 };
    h2_add_request(&b, stream, "GET", "/", true);
    assert_true(h2_send(p, &b));
    assert_int_equal(h2_status(p, stream), 200);
}

/* CVE-2022-41723, CVE-2016-6581; past LIMIT_HEADER_BYTES with a block of some 5 KiB */
static void hpack_bomb(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    autobuf block = { 0 };
    static char value[4000];
    memset(value, 'v', sizeof(value));
    size_t requests = h.requests;
    h2_connect(&p, &h);
    h2_block(&block, "GET", "/");
    buf_str_add(&block, STR("\x40\x01x\x7f\xa1\x1e")); /* indexed: x, 4000 bytes */
    buf_add(&block, value, sizeof(value));
    for (int i = 0; i < 1000; i++)
        buf_byte(&block, (char)0xbe); /* the newest entry of the dynamic table */
    add_block(&b, 1, buf_str(&block));
    size_t rss = harness_rss_bytes();
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 431);
    harness_check_rss(rss, 2 * MIB + MIB / 2);
    assert_int_equal(h.requests, requests);
    check_in_step(&p, 3);
    h2_close(&p);
}

/* CVE-2026-47774 */
static void cookie_crumbs(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    autobuf block = { 0 };
    h2_connect(&p, &h);
    h2_block(&block, "GET", "/");
    buf_str_add(&block, STR("\x60\x01"
                            "c")); /* indexed: cookie: c */
    for (int i = 0; i < 100000; i++)
        buf_byte(&block, (char)0xbe);
    add_block(&b, 1, buf_str(&block));
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 431);
    check_in_step(&p, 3);
    h2_close(&p);
}

/* LIMIT_HEADER_COUNT */
static void too_many_headers(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    autobuf block = { 0 };
    h2_connect(&p, &h);
    h2_block(&block, "GET", "/");
    for (unsigned i = 0; i < LIMIT_HEADER_COUNT; i++)
        h2_block_header(&block, STR("x"), STR("y"));
    add_block(&b, 1, buf_str(&block));
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 431);
    check_in_step(&p, 3);
    h2_close(&p);
}

/* CVE-2026-73550 */
static void duplicate_hosts(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    autobuf block = { 0 };
    size_t requests = h.requests;
    h2_connect(&p, &h);
    h2_block(&block, "GET", "/");
    buf_str_add(&block, STR("\x66\x09localhost")); /* indexed: host */
    for (int i = 0; i < 50000; i++)
        buf_byte(&block, (char)0xbe);
    add_block(&b, 1, buf_str(&block));
    size_t rss = harness_rss_bytes();
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_RST_STREAM, 1, &f));
    harness_check_rss(rss, 2 * MIB);
    assert_int_equal(h.requests, requests);
    check_in_step(&p, 3);
    h2_close(&p);
}

/* CVE-2022-41717, CVE-2021-44716 */
static void a_million_header_names(void **state)
{
    (void)state;
    enum { REQUESTS = 1100, NAMES = 910, WARM = 100 };
    struct h2_peer p;
    autobuf b = { 0 };
    size_t rss = 0;
    h2_connect(&p, &h);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        autobuf block = { 0 };
        h2_block(&block, "GET", "/");
        for (uint32_t k = 0; k < NAMES; k++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "x-%07u", i * NAMES + k);
            buf_str_add(&block, STR("\x40\x09")); /* to be indexed */
            buf_add(&block, name, 9);
            buf_str_add(&block, STR("\x01v"));
        }
        add_block(&b, 2 * i + 1, buf_str(&block));
        assert_true(h2_send(&p, &b));
        assert_int_equal(h2_status(&p, 2 * i + 1), 200);
        if (i == WARM)
            rss = harness_rss_bytes();
    }
    harness_check_rss(rss, MIB);
    h2_close(&p);
}

/* ---- Control frames ---- */

static void add_ping(struct buf *b, size_t i)
{
    (void)i;
    h2_add(b, H2_PING, 0, 0, STR("01234567"));
}

static void add_settings(struct buf *b, size_t i)
{
    (void)i;
    h2_add(b, H2_SETTINGS, 0, 0, (struct str){ NULL, 0 });
}

static void add_priority(struct buf *b, size_t i)
{
    h2_add(b, H2_PRIORITY, 0, (uint32_t)(2 * i + 1), STR("\0\0\0\0\x10"));
}

static void add_window(struct buf *b, size_t i)
{
    (void)i;
    h2_add_u32(b, H2_WINDOW_UPDATE, 0, 1);
}

static void add_empty_data(struct buf *b, size_t i)
{
    if (i == 0)
        h2_add_request(b, 1, "POST", "/echo", false);
    h2_add(b, H2_DATA, 0, 1, (struct str){ NULL, 0 });
}

/* CVE-2019-9512, CVE-2019-9515, CVE-2019-9513, CVE-2019-9518; past LIMIT_H2_CONTROL_FRAMES */
static void control_frames_are_counted(void **state)
{
    (void)state;
    void (*const kinds[])(struct buf *, size_t) = { add_ping, add_settings, add_priority,
                                                    add_window, add_empty_data };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct h2_peer p;
        size_t rss = harness_rss_bytes();
        h2_connect(&p, &h);
        (void)flood(&p, 100000, kinds[i]); /* nothing is read meanwhile */
        harness_check_rss(rss, 4 * MIB);
        check_closed_for_abuse(&p);
    }
}

/* CVE-2020-11080; past LIMIT_H2_SETTINGS */
static void settings_with_too_many_entries(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    static char entries[14400];
    for (size_t i = 0; i < sizeof(entries); i += 6)
        entries[i + 1] = 0x30;
    h2_connect(&p, &h);
    h2_add(&b, H2_SETTINGS, 0, 0, (struct str){ entries, sizeof(entries) });
    (void)h2_send(&p, &b);
    assert_true(h2_goaway_code(&p) > 0);
    assert_false(h2_next(&p, &f));
    h2_close(&p);
    check_alive();
}

/* CVE-2026-27135: bad frames after the session was told to end */
static void frames_after_the_end_are_not_looked_at(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fffffff); /* ends the session */
    h2_add(&b, H2_PING, 0, 0, STR("short"));
    h2_add(&b, H2_SETTINGS, 0, 0, STR("odd"));
    h2_add(&b, H2_RST_STREAM, 0, 1, STR("x"));
    (void)h2_send(&p, &b);
    for (int i = 0; i < 50; i++) {
        h2_add(&b, H2_ALTSVC, 0, 0, STR("\xff\xff"));
        h2_add(&b, H2_GOAWAY, 0, 0, STR("x"));
        (void)h2_send(&p, &b);
    }
    assert_true(h2_goaway_code(&p) > 0);
    h2_close(&p);
    check_alive();
}

/* CVE-2019-9512: answers to PINGs that nobody reads; past LIMIT_H2_ACK_QUEUE, long before any other
 * limit. */
static void answers_that_nobody_reads(void **state)
{
    (void)state;
    enum { MOST = 16 };
    struct harness own;
    struct harness_options opt = harness_defaults();
    opt.limits.h2_ack_queue = MOST;
    opt.limits.h2_control_frames = 1000000;
    opt.limits.write_stall_ms = opt.limits.request_ms = 3600 * 1000;
    harness_start(&own, &opt);
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &own);
    h2_add_setting(&b, 4, 0x7fffffff);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fff0000);
    h2_add_request(&b, 1, "GET", "/endless", true);
    assert_true(h2_send(&p, &b));
    /* Until the sockets are full they take some answers, too. */
    for (int rounds = 0; !harness_stats(&own).closed_for_abuse; rounds++) {
        assert_true(rounds < HANG_SECONDS * 100);
        for (size_t i = 0; i < MOST + 1; i++)
            add_ping(&b, i);
        (void)h2_send(&p, &b);
        harness_sleep_ms(10);
    }
    h2_close(&p);
    harness_stop(&own);
}

/* ---- Slow readers ---- */

/* CVE-2019-9511: a hundred large replies, windows of one byte, a byte now and then; past
 * LIMIT_WRITE_STALL_MS */
static void tiny_windows(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    size_t rss = harness_rss_bytes();
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 1);
    for (uint32_t i = 0; i < LIMIT_H2_STREAMS; i++)
        h2_add_request(&b, 2 * i + 1, "GET", "/stream?100000000", true);
    assert_true(h2_send(&p, &b));
    harness_wait(harness_stats(&h).exchanges_open == LIMIT_H2_STREAMS);
    int64_t begun = harness_now_ms();
    while (harness_stats(&h).exchanges_open) {
        assert_true(harness_now_ms() - begun < HANG_SECONDS * 1000);
        h2_add_u32(&b, H2_WINDOW_UPDATE, 1, 1);
        (void)h2_send(&p, &b);
        harness_sleep_ms(50);
    }
    size_t got = 0;
    while (got < LIMIT_H2_STREAMS && h2_next(&p, &f))
        got += f.type == H2_DATA ? f.payload.n : f.type == H2_RST_STREAM;
    assert_true(got > 0);
    h2_close(&p);
    harness_check_rss(rss, 4 * MIB);
    check_alive();
}

/* A reader that takes nothing at all. */
static void a_reader_that_stops(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    size_t gone = h.gone;
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 0x7fffffff);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fff0000);
    h2_add_request(&b, 1, "GET", "/endless", true);
    assert_true(h2_send(&p, &b));
    harness_wait(h.gone == gone + 1);
    h2_close(&p);
    check_alive();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rapid_reset),
        cmocka_unit_test(made_you_reset),
        cmocka_unit_test(resets_pile_up),
        cmocka_unit_test(reset_streams_count_until_their_handler_ends),
        cmocka_unit_test(continuation_flood),
        cmocka_unit_test(continuation_flood_on_a_reset_stream),
        cmocka_unit_test(hpack_bomb),
        cmocka_unit_test(cookie_crumbs),
        cmocka_unit_test(too_many_headers),
        cmocka_unit_test(duplicate_hosts),
        cmocka_unit_test(a_million_header_names),
        cmocka_unit_test(control_frames_are_counted),
        cmocka_unit_test(settings_with_too_many_entries),
        cmocka_unit_test(frames_after_the_end_are_not_looked_at),
        cmocka_unit_test(answers_that_nobody_reads),
        cmocka_unit_test(tiny_windows),
        cmocka_unit_test(a_reader_that_stops),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
