/* HTTP/2 frame by frame: what goes in, and which frame or error must come out (RFC 9113). */
#include <stdlib.h>
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

/* ---- What breaks the connection, what breaks a stream, what breaks nothing ---- */

static const struct str NOTHING = { NULL, 0 };

static void ping(struct buf *b)
{
    h2_add(b, H2_PING, 0, 0, STR("01234567"));
}

static void settings_ack_with_payload(struct buf *b)
{
    h2_add(b, H2_SETTINGS, H2_ACK, 0, STR("\0\1\0\0\0\0"));
}

static void settings_on_stream(struct buf *b)
{
    h2_add(b, H2_SETTINGS, 0, 1, NOTHING);
}

static void settings_odd_length(struct buf *b)
{
    h2_add(b, H2_SETTINGS, 0, 0, STR("\0\1\0"));
}

static void settings_push_two(struct buf *b)
{
    h2_add_setting(b, 2, 2);
}

static void settings_window_too_large(struct buf *b)
{
    h2_add_setting(b, 4, 0x80000000u);
}

/* CVE-2026-33814 */
static void settings_frame_size_zero(struct buf *b)
{
    h2_add_setting(b, 5, 0);
}

static void settings_frame_size_too_large(struct buf *b)
{
    h2_add_setting(b, 5, 1u << 24);
}

static void settings_unknown(struct buf *b)
{
    h2_add_setting(b, 0x7777, 1);
    ping(b);
}

static void ping_short(struct buf *b)
{
    h2_add(b, H2_PING, 0, 0, STR("0123"));
}

static void ping_on_stream(struct buf *b)
{
    h2_add(b, H2_PING, 0, 1, STR("01234567"));
}

static void window_overflow(struct buf *b)
{
    h2_add_u32(b, H2_WINDOW_UPDATE, 0, 0x7fffffff);
}

static void window_zero(struct buf *b)
{
    h2_add_u32(b, H2_WINDOW_UPDATE, 0, 0);
}

static void window_short(struct buf *b)
{
    h2_add(b, H2_WINDOW_UPDATE, 0, 0, STR("\0\0\1"));
}

static void window_on_idle(struct buf *b)
{
    h2_add_u32(b, H2_WINDOW_UPDATE, 9, 1);
}

static void stream_window_overflow(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add_u32(b, H2_WINDOW_UPDATE, 1, 0x7fffffff);
}

static void stream_window_zero(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add_u32(b, H2_WINDOW_UPDATE, 1, 0);
}

static void data_on_idle(struct buf *b)
{
    h2_add(b, H2_DATA, 0, 1, STR("x"));
}

static void data_on_zero(struct buf *b)
{
    h2_add(b, H2_DATA, 0, 0, STR("x"));
}

static void data_after_end(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add(b, H2_DATA, 0, 1, STR("x"));
}

static void data_padding_too_long(struct buf *b)
{
    h2_add_request(b, 1, "POST", "/echo", false);
    h2_add(b, H2_DATA, H2_PADDED, 1, STR("\5abc"));
}

static void data_longer_than_length(struct buf *b)
{
    h2_add_request_with(b, "POST", "/echo", STR("content-length"), STR("2"), false);
    h2_add(b, H2_DATA, H2_END_STREAM, 1, STR("abc"));
}

static void headers_on_zero(struct buf *b)
{
    h2_add_request(b, 0, "GET", "/", true);
}

static void headers_even(struct buf *b)
{
    h2_add_request(b, 2, "GET", "/", true);
}

static void headers_lower_stream(struct buf *b)
{
    h2_add_request(b, 5, "GET", "/", true);
    h2_add_request(b, 3, "GET", "/", true);
    ping(b);
}

static void headers_padding_too_long(struct buf *b)
{
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM | H2_PADDED, 1, STR("\177\x82\x84\x86"));
}

static void headers_bad_compression(struct buf *b)
{
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, STR("\xff\xff\xff\xff\xff"));
}

static void headers_second_without_end(struct buf *b)
{
    h2_add_request(b, 1, "POST", "/echo", false);
    h2_add_request(b, 1, "POST", "/echo", false);
}

static void continuation_alone(struct buf *b)
{
    h2_add(b, H2_CONTINUATION, H2_END_HEADERS, 1, STR("\x82"));
}

static void continuation_after_end(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add(b, H2_CONTINUATION, H2_END_HEADERS, 1, STR("\x82"));
}

static void continuation_of_another(struct buf *b)
{
    h2_add(b, H2_HEADERS, H2_END_STREAM, 1, STR("\x82"));
    h2_add(b, H2_CONTINUATION, H2_END_HEADERS, 3, STR("\x84\x86"));
}

static void block_interrupted(struct buf *b)
{
    h2_add(b, H2_HEADERS, H2_END_STREAM, 1, STR("\x82"));
    ping(b);
}

static void rst_on_idle(struct buf *b)
{
    h2_add_u32(b, H2_RST_STREAM, 7, H2_CANCEL);
}

static void rst_on_zero(struct buf *b)
{
    h2_add_u32(b, H2_RST_STREAM, 0, H2_CANCEL);
}

static void rst_short(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add(b, H2_RST_STREAM, 0, 1, STR("\0"));
}

static void push_from_client(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/hold", true);
    h2_add(b, H2_PUSH_PROMISE, H2_END_HEADERS, 1, STR("\0\0\0\2\x82\x84\x86"));
}

static void frame_too_large(struct buf *b)
{
    autobuf big = { 0 };
    buf_reserve(&big, LIMIT_H2_FRAME_BYTES + 1);
    memset(big.p, 'x', big.cap);
    big.n = LIMIT_H2_FRAME_BYTES + 1;
    h2_add_request(b, 1, "POST", "/echo", false);
    h2_add(b, H2_DATA, 0, 1, buf_str(&big));
}

static void unknown_frame(struct buf *b)
{
    h2_add(b, 0xbe, 0xff, 0, STR("whatever"));
    ping(b);
}

/* CVE-2018-1000168 */
static void huge_altsvc(struct buf *b)
{
    autobuf big = { 0 };
    buf_reserve(&big, LIMIT_H2_FRAME_BYTES);
    memset(big.p, 0, big.cap);
    big.n = LIMIT_H2_FRAME_BYTES;
    h2_add(b, H2_ALTSVC, 0, 0, buf_str(&big));
    ping(b);
}

static void priority_frame(struct buf *b)
{
    h2_add(b, H2_PRIORITY, 0, 3, STR("\0\0\0\1\x10"));
    ping(b);
}

static void goaway_then_ping(struct buf *b)
{
    h2_add(b, H2_GOAWAY, 0, 0, STR("\0\0\0\0\0\0\0\0"));
    h2_add_request(b, 1, "GET", "/", true);
}

static void connection_header(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR("connection"), STR("close"), true);
}

static void upper_case_name(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR("X-Upper"), STR("a"), true);
}

static void nul_in_value(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR("x-nul"), STR("a\0b"), true);
}

static void line_end_in_value(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR("x-crlf"), STR("a\r\nb: c"), true);
}

static void pseudo_after_regular(struct buf *b)
{
    autobuf block = { 0 };
    h2_block_header(&block, STR("x-a"), STR("b"));
    h2_block(&block, "GET", "/");
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, buf_str(&block));
}

static void pseudo_twice(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR(":path"), STR("/echo"), true);
}

static void pseudo_unknown(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR(":magic"), STR("x"), true);
}

static void no_path(struct buf *b)
{
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, STR("\x82\x86"));
}

static void path_without_slash(struct buf *b)
{
    h2_add_request(b, 1, "GET", "etcdserverpb.KV/Range", true);
}

static void path_empty(struct buf *b)
{
    h2_add_request(b, 1, "GET", "", true);
}

static void two_hosts(struct buf *b)
{
    autobuf block = { 0 };
    h2_block(&block, "GET", "/");
    h2_block_header(&block, STR("host"), STR("localhost"));
    h2_block_header(&block, STR("host"), STR("evil"));
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, buf_str(&block));
}

static void two_lengths(struct buf *b)
{
    autobuf block = { 0 };
    h2_block(&block, "POST", "/echo");
    h2_block_header(&block, STR("content-length"), STR("1"));
    h2_block_header(&block, STR("content-length"), STR("2"));
    h2_add(b, H2_HEADERS, H2_END_HEADERS, 1, buf_str(&block));
}

static void te_header(struct buf *b)
{
    h2_add_request_with(b, "GET", "/", STR("te"), STR("gzip"), true);
}

static void trailer_with_pseudo(struct buf *b)
{
    autobuf block = { 0 };
    h2_add_request(b, 1, "POST", "/echo", false);
    h2_block_header(&block, STR(":path"), STR("/x"));
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, buf_str(&block));
}

static void foreign_authority(struct buf *b)
{
    autobuf block = { 0 };
    h2_block_header(&block, STR(":method"), STR("GET"));
    h2_block_header(&block, STR(":scheme"), STR("http"));
    h2_block_header(&block, STR(":path"), STR("/"));
    h2_block_header(&block, STR(":authority"), STR("evil.example"));
    h2_add(b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, buf_str(&block));
}

static void unknown_expectation(struct buf *b)
{
    h2_add_request_with(b, "POST", "/echo", STR("expect"), STR("magic"), true);
}

static void length_too_large(struct buf *b)
{
    h2_add_request_with(b, "POST", "/echo", STR("content-length"), STR("99999999"), false);
}

static void plain_get(struct buf *b)
{
    h2_add_request(b, 1, "GET", "/", true);
}

static void options_star(struct buf *b)
{
    h2_add_request(b, 1, "OPTIONS", "*", true);
}

enum outcome { GOAWAY, RESET, STATUS, PONG, END };

struct row {
    const char *name;
    void (*build)(struct buf *b);
    enum outcome outcome;
    int code;       /* error code or status; the stream is 1 */
    int other_code; /* also allowed, if not zero */
};

static const struct row rows[] = {
    { "ping is answered", ping, PONG, 0, 0 },
    { "unknown frames are ignored", unknown_frame, PONG, 0, 0 },
    { "CVE-2018-1000168: a huge ALTSVC is ignored", huge_altsvc, PONG, 0, 0 },
    /* It may have crossed a reset of ours on its way. */
    { "HEADERS on a stream that is over are ignored", headers_lower_stream, PONG, 0, 0 },
    { "priorities are ignored", priority_frame, PONG, 0, 0 },
    { "a GET", plain_get, STATUS, 200, 0 },
    { "requests after the client's GOAWAY", goaway_then_ping, STATUS, 200, 0 },

    { "SETTINGS ACK with a payload", settings_ack_with_payload, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },
    { "SETTINGS on a stream", settings_on_stream, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "SETTINGS of odd length", settings_odd_length, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },
    { "ENABLE_PUSH of 2", settings_push_two, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "INITIAL_WINDOW_SIZE too large", settings_window_too_large, GOAWAY, H2_FLOW_CONTROL_ERROR,
      0 },
    { "CVE-2026-33814: MAX_FRAME_SIZE of 0", settings_frame_size_zero, GOAWAY, H2_PROTOCOL_ERROR,
      0 },
    { "MAX_FRAME_SIZE too large", settings_frame_size_too_large, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "short PING", ping_short, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },
    { "PING on a stream", ping_on_stream, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "connection window overflows", window_overflow, GOAWAY, H2_FLOW_CONTROL_ERROR, 0 },
    { "connection window by 0", window_zero, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "short WINDOW_UPDATE", window_short, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },
    { "WINDOW_UPDATE on an idle stream", window_on_idle, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "DATA on an idle stream", data_on_idle, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "DATA on stream 0", data_on_zero, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "DATA with too much padding", data_padding_too_long, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "HEADERS on stream 0", headers_on_zero, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "HEADERS on an even stream", headers_even, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "HEADERS with too much padding", headers_padding_too_long, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "bad compression", headers_bad_compression, GOAWAY, H2_COMPRESSION_ERROR, 0 },
    { "CONTINUATION without HEADERS", continuation_alone, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "CONTINUATION after END_HEADERS", continuation_after_end, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "CONTINUATION of another stream", continuation_of_another, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "PING inside a header block", block_interrupted, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "RST_STREAM on an idle stream", rst_on_idle, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "RST_STREAM on stream 0", rst_on_zero, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "short RST_STREAM", rst_short, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },
    { "PUSH_PROMISE from a client", push_from_client, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "LIMIT_H2_FRAME_BYTES and one", frame_too_large, GOAWAY, H2_FRAME_SIZE_ERROR, 0 },

    { "stream window overflows", stream_window_overflow, RESET, H2_FLOW_CONTROL_ERROR, 0 },
    { "stream window by 0", stream_window_zero, GOAWAY, H2_PROTOCOL_ERROR, 0 },
    { "DATA after END_STREAM", data_after_end, GOAWAY, H2_STREAM_CLOSED, 0 },
    { "more DATA than Content-Length", data_longer_than_length, RESET, H2_PROTOCOL_ERROR, 0 },
    { "HEADERS again without END_STREAM", headers_second_without_end, RESET, H2_PROTOCOL_ERROR, 0 },
    { "a connection header", connection_header, RESET, H2_PROTOCOL_ERROR, 0 },
    { "an upper-case name", upper_case_name, RESET, H2_PROTOCOL_ERROR, H2_INTERNAL_ERROR },
    { "NUL in a value", nul_in_value, RESET, H2_PROTOCOL_ERROR, H2_INTERNAL_ERROR },
    { "line end in a value", line_end_in_value, RESET, H2_PROTOCOL_ERROR, H2_INTERNAL_ERROR },
    { "a pseudo header after others", pseudo_after_regular, RESET, H2_PROTOCOL_ERROR, 0 },
    { "a pseudo header twice", pseudo_twice, RESET, H2_PROTOCOL_ERROR, 0 },
    { "an unknown pseudo header", pseudo_unknown, RESET, H2_PROTOCOL_ERROR, 0 },
    { "no path", no_path, RESET, H2_PROTOCOL_ERROR, 0 },
    { "CVE-2026-33186: a path without a slash", path_without_slash, RESET, H2_PROTOCOL_ERROR, 0 },
    { "an empty path", path_empty, RESET, H2_PROTOCOL_ERROR, 0 },
    { "two hosts", two_hosts, RESET, H2_PROTOCOL_ERROR, 0 },
    { "two lengths", two_lengths, RESET, H2_PROTOCOL_ERROR, 0 },
    { "TE other than trailers", te_header, RESET, H2_PROTOCOL_ERROR, 0 },
    { "a pseudo header in trailers", trailer_with_pseudo, RESET, H2_PROTOCOL_ERROR, 0 },

    { "a foreign authority (DNS rebinding)", foreign_authority, STATUS, 421, 0 },
    { "an unknown expectation", unknown_expectation, STATUS, 417, 0 },
    { "Content-Length past LIMIT_BODY_BYTES", length_too_large, STATUS, 413, 0 },
    { "OPTIONS *", options_star, STATUS, 404, 0 },
    { "unknown settings are ignored", settings_unknown, PONG, 0, 0 },
};

static const char *const outcome_names[] = { "GOAWAY", "RST_STREAM", "HEADERS", "PING", "the end" };

/* The first frame that says what became of it. */
static enum outcome observe(struct h2_peer *p, int64_t *ret_code)
{
    struct h2_frame f;
    while (h2_next(p, &f)) {
        if (f.type == H2_GOAWAY) {
            *ret_code = h2_u32(f.payload, 4);
            return GOAWAY;
        }
        if (f.type == H2_RST_STREAM && f.stream == 1) {
            *ret_code = h2_u32(f.payload, 0);
            return RESET;
        }
        if (f.type == H2_HEADERS && f.stream == 1) {
            *ret_code = f.status;
            return STATUS;
        }
        if (f.type == H2_PING) {
            *ret_code = !(f.flags == H2_ACK && str_eq(f.payload, STR("01234567")));
            return PONG;
        }
    }
    return END;
}

static bool check_row(const struct row *r)
{
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    int64_t code = -1;
    h2_connect(&p, &h);
    r->build(&b);
    (void)h2_send(&p, &b);
    enum outcome got = observe(&p, &code);
    bool ok = got == r->outcome && (code == r->code || (r->other_code && code == r->other_code));
    if (!ok)
        print_error("%s: got %s %d\n", r->name, outcome_names[got], (int)code);
    if (ok && got == GOAWAY)
        assert_false(h2_next(&p, &f)); /* and then the connection ends */
    h2_close(&p);
    return ok;
}

static void frames_get_the_answer_of_the_rfc(void **state)
{
    (void)state;
    size_t bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        bad += !check_row(&rows[i]);
    assert_int_equal(bad, 0);
}

/* ---- Conversations ---- */

static void a_wrong_preface_is_refused(void **state)
{
    (void)state;
    autobuf b = { 0 };
    autoclose int fd = peer_connect(h.plain);
    buf_str_add(&b, H2_PREFACE);
    h2_add(&b, H2_PING, 0, 0, STR("01234567")); /* SETTINGS must come first */
    assert_true(peer_send(fd, buf_str(&b)));
    assert_true(peer_wait_closed(fd));
}

static void settings_are_acknowledged(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    assert_true(h2_expect(&p, H2_SETTINGS, 0, &f)); /* of the first SETTINGS */
    assert_int_equal(f.flags, H2_ACK);
    h2_add_setting(&b, 4, 1000);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_SETTINGS, 0, &f));
    assert_int_equal(f.flags, H2_ACK);
    h2_close(&p);
}

/* All DATA of a stream that comes without our doing anything more. PING overtakes DATA, so it takes
 * a second one to know that nothing is left. */
static size_t read_data(struct h2_peer *p, uint32_t stream, bool *ret_end)
{
    size_t n = 0;
    struct h2_frame f;
    autobuf b = { 0 };
    *ret_end = false;
    for (int pings = 0; pings < 2; pings++) {
        ping(&b);
        assert_true(h2_send(p, &b));
        while (h2_next(p, &f) && f.type != H2_PING)
            if (f.type == H2_DATA && f.stream == stream) {
                n += f.payload.n;
                *ret_end |= (f.flags & H2_END_STREAM) != 0;
            }
    }
    return n;
}

static void both_levels_of_flow_control_hold(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    bool end;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 1000); /* windows of streams */
    h2_add_request(&b, 1, "GET", "/big?100000", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_HEADERS, 1, &f));
    assert_int_equal(read_data(&p, 1, &end), 1000);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 1, 500);
    assert_true(h2_send(&p, &b));
    assert_int_equal(read_data(&p, 1, &end), 500);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 1, 1 << 20);
    assert_true(h2_send(&p, &b));
    assert_int_equal(read_data(&p, 1, &end), 65535 - 1500); /* what is left of the connection's */
    assert_false(end);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 1 << 20);
    assert_true(h2_send(&p, &b));
    assert_int_equal(read_data(&p, 1, &end), 100000 - 65535);
    assert_true(end);
    h2_close(&p);
}

static void a_window_may_shrink_below_zero(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    bool end;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 1000);
    h2_add_request(&b, 1, "GET", "/big?5000", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_HEADERS, 1, &f));
    assert_int_equal(read_data(&p, 1, &end), 1000);
    h2_add_setting(&b, 4, 100); /* minus 900 */
    h2_add_u32(&b, H2_WINDOW_UPDATE, 1, 901);
    assert_true(h2_send(&p, &b));
    assert_int_equal(read_data(&p, 1, &end), 1);
    h2_close(&p);
}

static void bodies_and_trailers_go_both_ways(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    autobuf block = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/echo", false);
    h2_add(&b, H2_DATA, 0, 1, STR("hel"));
    h2_add(&b, H2_DATA, H2_PADDED, 1, STR("\3lo\0\0\0"));
    h2_block_header(&block, STR("x-sum"), STR("1"));
    h2_add(&b, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, buf_str(&block));
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 200);
    assert_true(h2_expect(&p, H2_DATA, 1, &f));
    assert_true(str_eq(f.payload, STR("hello")));
    h2_add_request(&b, 3, "GET", "/trailers", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 3), 200);
    assert_true(h2_expect(&p, H2_DATA, 3, &f));
    assert_int_equal(f.flags & H2_END_STREAM, 0);
    assert_true(h2_expect(&p, H2_HEADERS, 3, &f));
    assert_int_equal(f.status, -1);
    assert_true(f.flags & H2_END_STREAM);
    h2_close(&p);
}

static void head_has_no_data(void **state)
{
    (void)state;
    static const char *const paths[] = { "/", "/big?1000", "/stream?1000", "/trailers" };
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    for (uint32_t i = 0; i < 4; i++) {
        h2_add_request(&b, 2 * i + 1, "HEAD", paths[i], true);
        assert_true(h2_send(&p, &b));
        assert_true(h2_expect(&p, H2_HEADERS, 2 * i + 1, &f));
        assert_int_equal(f.status, 200);
        assert_true(f.flags & H2_END_STREAM);
    }
    h2_close(&p);
}

static void continue_is_said_when_the_body_is_wanted(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    autobuf block = { 0 };
    h2_connect(&p, &h);
    h2_block(&block, "POST", "/echo");
    h2_block_header(&block, STR("expect"), STR("100-continue"));
    h2_add(&b, H2_HEADERS, H2_END_HEADERS, 1, buf_str(&block));
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 100);
    h2_add(&b, H2_DATA, H2_END_STREAM, 1, STR("ok"));
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 200);
    h2_close(&p);
}

static void an_early_reply_is_followed_by_a_reset_without_error(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/early", false);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 404);
    assert_true(h2_expect(&p, H2_RST_STREAM, 1, &f));
    assert_int_equal(h2_u32(f.payload, 0), H2_NO_ERROR);
    h2_add(&b, H2_DATA, H2_END_STREAM, 1, STR("late")); /* crossed the reset on its way */
    h2_add_request(&b, 3, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 3), 200);
    h2_close(&p);
}

/* What is left of a body that was refused is let in, within bounds, and then reset. */
static void the_rest_of_a_refused_body_is_dropped(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    autobuf block = { 0 };
    static char piece[16 << 10];
    h2_connect(&p, &h);
    h2_block(&block, "POST", "/echo");
    h2_block_header(&block, STR("content-length"), STR("4000000"));
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        if (stream == 1)
            h2_add(&b, H2_HEADERS, H2_END_HEADERS, stream, buf_str(&block));
        else
            h2_add_request(&b, stream, "POST", "/echo", false);
        size_t most = stream == 1 ? 3900000 : 13 << 20;
        for (size_t n = 0; n + sizeof(piece) <= most; n += sizeof(piece))
            h2_add(&b, H2_DATA, 0, stream, (struct str){ piece, sizeof(piece) });
        assert_true(h2_send(&p, &b));
        assert_int_equal(h2_status(&p, stream), 413);
    }
    assert_true(h2_expect(&p, H2_RST_STREAM, 0, &f));
    assert_int_equal(f.stream, 3); /* the first was borne to its end */
    assert_int_equal(h2_u32(f.payload, 0), H2_NO_ERROR);
    h2_add_request(&b, 5, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 5), 200);
    h2_close(&p);
}

static void a_handler_can_ask_for_the_end(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/close", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_goaway_code(&p), H2_NO_ERROR);
    while (h2_next(&p, &f))
        ;
    h2_close(&p);
}

static void a_holder_learns_of_a_reset(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    size_t before = h.gone;
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/hold", true);
    h2_add_request(&b, 3, "GET", "/endless", true);
    h2_add_u32(&b, H2_RST_STREAM, 1, H2_CANCEL);
    h2_add_u32(&b, H2_RST_STREAM, 3, H2_CANCEL);
    assert_true(h2_send(&p, &b));
    harness_wait(h.gone == before + 2);
    h2_add_request(&b, 5, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 5), 200);
    h2_close(&p);
}

static void an_upload_is_slowed_by_its_handler(void **state)
{
    (void)state;
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    static char piece[16 << 10];
    h2_connect(&p, &h);
    size_t before = h.uploaded;
    h2_add_request(&b, 1, "POST", "/stuck", false);
    for (size_t i = 0; i < LIMIT_H2_WINDOW_BYTES / sizeof(piece); i++)
        h2_add(&b, H2_DATA, 0, 1, (struct str){ piece, sizeof(piece) });
    ping(&b);
    assert_true(h2_send(&p, &b));
    while (h2_next(&p, &f) && f.type != H2_PING)
        assert_false(f.type == H2_WINDOW_UPDATE && f.stream == 1);
    harness_wait(h.uploaded - before == LIMIT_H2_WINDOW_BYTES);
    h2_add(&b, H2_DATA, 0, 1, STR("x")); /* one byte more than allowed */
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_RST_STREAM, 1, &f));
    assert_int_equal(h2_u32(f.payload, 0), H2_FLOW_CONTROL_ERROR);
    h2_close(&p);
}

static void a_body_past_the_limit_is_413(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    static char piece[16 << 10];
    size_t before = h.requests;
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/echo", false);
    for (size_t i = 0; i <= LIMIT_BODY_BYTES / sizeof(piece); i++)
        h2_add(&b, H2_DATA, 0, 1, (struct str){ piece, sizeof(piece) });
    (void)h2_send(&p, &b); /* more than the window: we trust the server to have opened it */
    assert_int_equal(h2_status(&p, 1), 413);
    assert_int_equal(h.requests, before);
    h2_close(&p);
}

static void streams_are_answered_out_of_order(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/hold", true);
    h2_add_request(&b, 3, "GET", "/worker", true);
    h2_add_request(&b, 5, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 5), 200);
    h2_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_get_the_answer_of_the_rfc),
        cmocka_unit_test(a_wrong_preface_is_refused),
        cmocka_unit_test(settings_are_acknowledged),
        cmocka_unit_test(both_levels_of_flow_control_hold),
        cmocka_unit_test(a_window_may_shrink_below_zero),
        cmocka_unit_test(bodies_and_trailers_go_both_ways),
        cmocka_unit_test(head_has_no_data),
        cmocka_unit_test(continue_is_said_when_the_body_is_wanted),
        cmocka_unit_test(an_early_reply_is_followed_by_a_reset_without_error),
        cmocka_unit_test(the_rest_of_a_refused_body_is_dropped),
        cmocka_unit_test(a_handler_can_ask_for_the_end),
        cmocka_unit_test(a_holder_learns_of_a_reset),
        cmocka_unit_test(an_upload_is_slowed_by_its_handler),
        cmocka_unit_test(a_body_past_the_limit_is_413),
        cmocka_unit_test(streams_are_answered_out_of_order),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
