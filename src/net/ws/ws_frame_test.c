#include "net/ws/ws_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"

enum { MAX_MESSAGE = 100000 };

/* What the reader said, as text: "text:hello|ping:x|close:1000:bye|". Long messages by length. */
static struct buf heard;

static void hear(const char *what, struct str s)
{
    if (s.n > 200)
        buf_printf(&heard, "%s:%zu bytes|", what, s.n);
    else
        buf_printf(&heard, "%s:" STR_FMT "|", what, STR_ARG(s));
}

static void on_message(void *arg, enum ws_type type, struct str message)
{
    (void)arg;
    hear(type == WS_TEXT ? "text" : "binary", message);
}

static void on_ping(void *arg, struct str payload)
{
    (void)arg;
    hear("ping", payload);
}

static void on_close(void *arg, unsigned code, struct str reason)
{
    (void)arg;
    buf_printf(&heard, "close:%u:" STR_FMT "|", code, STR_ARG(reason));
}

static const struct ws_reader_events events = { .on_message = on_message,
                                                .on_ping = on_ping,
                                                .on_close = on_close };

/* A masked frame with any first byte, its length in the form given (0: the shortest). */
static void add_frame_as(struct buf *out, unsigned char first, struct str payload, unsigned form)
{
    const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
    if (!form)
        form = payload.n < 126 ? 7 : payload.n <= UINT16_MAX ? 126 : 127;
    buf_byte(out, (char)first);
    buf_byte(out, (char)(0x80 | (form == 7 ? payload.n : form)));
    size_t bytes = form == 126 ? 2 : form == 127 ? 8 : 0;
    for (size_t i = 0; i < bytes; i++)
        buf_byte(out, (char)(payload.n >> 8 * (bytes - 1 - i)));
    buf_add(out, mask, 4);
    for (size_t i = 0; i < payload.n; i++)
        buf_byte(out, (char)(payload.p[i] ^ (char)mask[i % 4]));
}

static void add_frame(struct buf *out, unsigned char first, struct str payload)
{
    add_frame_as(out, first, payload, 0);
}

/* Feeds in pieces of `step` bytes and compares what was heard. */
static void expect_in_steps(struct str bytes, size_t step, unsigned want_code, const char *want)
{
    struct ws_reader r;
    ws_reader_init(&r, MAX_MESSAGE, &events);
    buf_reset(&heard);
    unsigned code = 0;
    while (bytes.n && !code) {
        code = ws_reader_feed(&r, str_take(bytes, step));
        bytes = str_skip(bytes, step);
    }
    ws_reader_done(&r);
    assert_true(str_eq(buf_str(&heard), str_of(want)));
    assert_int_equal(code, want_code);
}

static void expect(const struct buf *frames, unsigned want_code, const char *want)
{
    const size_t steps[] = { 1, 2, 3, 7, 13, 4096, SIZE_MAX };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        expect_in_steps(buf_str(frames), steps[i], want_code, want);
}

static void example_of_the_rfc(void **state)
{
    (void)state;
    autobuf b = { 0 }; /* RFC 6455 5.7: a masked "Hello" */
    buf_add(&b, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
    expect(&b, 0, "text:Hello|");
}

static void messages_and_fragments(void **state)
{
    (void)state;
    autobuf b = { 0 };
    add_frame(&b, 0x81, STR(""));
    add_frame(&b, 0x82, STR("one"));
    add_frame(&b, 0x01, STR("a \xe2\x82")); /* a character cut in two */
    add_frame(&b, 0x89, STR("are you there"));
    add_frame(&b, 0x00, STR("\xac"));
    add_frame(&b, 0x8a, STR("unasked pong"));
    add_frame(&b, 0x80, STR(" b"));
    add_frame(&b, 0x88,
              STR("\x03\xe8"
                  "bye"));
    add_frame(&b, 0x81, STR("after the end"));
    expect(&b, 0, "text:|binary:one|ping:are you there|text:a \xe2\x82\xac b|close:1000:bye|");
}

static void every_length_form(void **state)
{
    (void)state;
    static const char big[70000];
    autobuf b = { 0 };
    add_frame(&b, 0x82, (struct str){ big, 125 });
    add_frame(&b, 0x82, (struct str){ big, 126 });
    add_frame(&b, 0x82, (struct str){ big, 65535 });
    add_frame(&b, 0x82, (struct str){ big, 65536 });
    add_frame_as(&b, 0x81, STR("not the shortest"), 126);
    add_frame_as(&b, 0x81, STR("nor this"), 127);
    struct ws_reader r;
    ws_reader_init(&r, MAX_MESSAGE, &events);
    buf_reset(&heard);
    assert_int_equal(ws_reader_feed(&r, buf_str(&b)), 0);
    assert_true(str_ends(buf_str(&heard), STR("binary:65535 bytes|binary:65536 bytes|"
                                              "text:not the shortest|text:nor this|")));
    assert_true(r.message.cap <= 1 << 20);
    ws_reader_done(&r);
}

static void broken_rules(void **state)
{
    (void)state;
    static const char big[WS_CONTROL_MAX + 1];
    const struct {
        unsigned char first;
        struct str payload;
        unsigned want;
    } rows[] = {
        { 0xc1, STR("rsv1"), WS_CODE_PROTOCOL },
        { 0xa1, STR("rsv2"), WS_CODE_PROTOCOL },
        { 0x91, STR("rsv3"), WS_CODE_PROTOCOL },
        { 0x83, STR("opcode"), WS_CODE_PROTOCOL },
        { 0x87, STR("opcode"), WS_CODE_PROTOCOL },
        { 0x8b, STR("opcode"), WS_CODE_PROTOCOL },
        { 0x8f, STR("opcode"), WS_CODE_PROTOCOL },
        { 0x09, STR("cut ping"), WS_CODE_PROTOCOL },
        { 0x08, STR(""), WS_CODE_PROTOCOL },
        { 0x80, STR("continues nothing"), WS_CODE_PROTOCOL },
        { 0x89, { big, sizeof(big) }, WS_CODE_PROTOCOL },
        { 0x88, STR("\x03"), WS_CODE_PROTOCOL },
        { 0x88, STR("\x03\xe7"), WS_CODE_PROTOCOL }, /* 999 */
        { 0x88, STR("\x03\xec"), WS_CODE_PROTOCOL }, /* 1004 */
        { 0x88, STR("\x03\xed"), WS_CODE_PROTOCOL }, /* 1005 */
        { 0x88, STR("\x03\xee"), WS_CODE_PROTOCOL }, /* 1006 */
        { 0x88, STR("\x03\xf7"), WS_CODE_PROTOCOL }, /* 1015 */
        { 0x88, STR("\x0b\xb7"), WS_CODE_PROTOCOL }, /* 2999 */
        { 0x88, STR("\x13\x88"), WS_CODE_PROTOCOL }, /* 5000 */
        { 0x88, STR("\x03\xe8\xff"), WS_CODE_BAD_TEXT },
        { 0x81, STR("\xc3\x28"), WS_CODE_BAD_TEXT },
        { 0x81, STR("\xed\xa0\x80"), WS_CODE_BAD_TEXT }, /* a surrogate */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf b = { 0 };
        add_frame(&b, rows[i].first, rows[i].payload);
        expect(&b, rows[i].want, "");
    }
}

static void a_message_must_end_before_the_next(void **state)
{
    (void)state;
    autobuf b = { 0 };
    add_frame(&b, 0x01, STR("one"));
    add_frame(&b, 0x81, STR("two"));
    expect(&b, WS_CODE_PROTOCOL, "");
}

static void unmasked_is_refused(void **state)
{
    (void)state;
    autobuf b = { 0 };
    ws_frame_write(&b, WS_OP_TEXT, STR("from a server"));
    expect(&b, WS_CODE_PROTOCOL, "");
}

static void close_codes(void **state)
{
    (void)state;
    autobuf b = { 0 };
    add_frame(&b, 0x88, STR(""));
    expect(&b, 0, "close:1005:|");
    buf_reset(&b);
    add_frame(&b, 0x88, STR("\x0f\xa0"));
    expect(&b, 0, "close:4000:|");
}

/* CVE-2020-27813, CVE-2020-13935: a length near 2^63 is refused from the head alone. */
static void giant_lengths_allocate_nothing(void **state)
{
    (void)state;
    const struct {
        const char *length;
        unsigned want;
    } rows[] = {
        { "\x7f\xff\xff\xff\xff\xff\xff\xff", WS_CODE_TOO_LARGE },
        { "\x80\x00\x00\x00\x00\x00\x00\x00", WS_CODE_PROTOCOL },
        { "\xff\xff\xff\xff\xff\xff\xff\xff", WS_CODE_PROTOCOL },
        { "\x00\x00\x00\x00\x02\x00\x00\x01", WS_CODE_TOO_LARGE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ws_reader r;
        ws_reader_init(&r, LIMIT_WS_MESSAGE_BYTES, &events);
        char head[14] = { (char)0x82, (char)0xff };
        memcpy(head + 2, rows[i].length, 8);
        assert_int_equal(ws_reader_feed(&r, (struct str){ head, 14 }), rows[i].want);
        assert_null(r.message.p);
        ws_reader_done(&r);
    }
}

/* The same rows: no frame is too large, their sum is; and no sum wraps. */
static void sums_of_fragments_are_bounded(void **state)
{
    (void)state;
    static const char big[MAX_MESSAGE / 2];
    autobuf b = { 0 };
    add_frame(&b, 0x02, (struct str){ big, sizeof(big) });
    add_frame(&b, 0x80, (struct str){ big, sizeof(big) });
    expect_in_steps(buf_str(&b), 4096, 0, "binary:100000 bytes|");
    add_frame(&b, 0x02, (struct str){ big, sizeof(big) });
    add_frame(&b, 0x00, (struct str){ big, sizeof(big) });
    add_frame(&b, 0x80, STR("x"));
    expect_in_steps(buf_str(&b), 4096, WS_CODE_TOO_LARGE, "binary:100000 bytes|");

    buf_reset(&b);
    add_frame(&b, 0x02, STR("some"));
    buf_add(&b, "\x80\xff\x7f\xff\xff\xff\xff\xff\xff\xff----", 14);
    expect(&b, WS_CODE_TOO_LARGE, "");
}

static void an_announced_length_is_not_allocated(void **state)
{
    (void)state;
    struct ws_reader r;
    ws_reader_init(&r, LIMIT_WS_MESSAGE_BYTES, &events);
    char start[15] = { (char)0x82, (char)0xff, 0, 0, 0, 0, 2, 0, 0, 0 }; /* 32 MiB to come */
    assert_int_equal(ws_reader_feed(&r, (struct str){ start, 15 }), 0);
    assert_int_equal(r.message.n, 1);
    assert_true(r.message.cap <= 4096);
    ws_reader_done(&r);
}

static void unmasking_by_words(void **state)
{
    (void)state;
    const unsigned char mask[4] = { 0x01, 0x80, 0x7f, 0xc3 };
    for (size_t n = 0; n < 40; n++) {
        for (size_t at = 0; at < 9; at++) {
            char got[40], want[40];
            for (size_t i = 0; i < n; i++) {
                got[i] = (char)(i * 37);
                want[i] = (char)(got[i] ^ (char)mask[(at + i) % 4]);
            }
            ws_unmask(got, n, mask, at);
            assert_memory_equal(got, want, n);
        }
    }
}

static void written_frames(void **state)
{
    (void)state;
    static const char big[65536];
    autobuf b = { 0 };
    ws_frame_write(&b, WS_OP_TEXT, STR("Hello"));
    assert_memory_equal(b.p, "\x81\x05Hello", 7);
    buf_reset(&b);
    ws_frame_write(&b, WS_OP_BINARY, (struct str){ big, 126 });
    assert_memory_equal(b.p, "\x82\x7e\x00\x7e", 4);
    assert_int_equal(b.n, 4 + 126);
    buf_reset(&b);
    ws_frame_write(&b, WS_OP_BINARY, (struct str){ big, 65535 });
    assert_memory_equal(b.p, "\x82\x7e\xff\xff", 4);
    buf_reset(&b);
    ws_frame_write(&b, WS_OP_BINARY, (struct str){ big, 65536 });
    assert_memory_equal(b.p, "\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10);
    buf_reset(&b);
    ws_frame_write_close(&b, 1000, STR("bye"));
    assert_memory_equal(b.p,
                        "\x88\x05\x03\xe8"
                        "bye",
                        7);
    buf_reset(&b);
    ws_frame_write_close(&b, WS_CODE_NONE, STR("ignored"));
    assert_int_equal(b.n, 2);
    buf_reset(&b);
    char reason[200];
    for (size_t i = 0; i + 1 < sizeof(reason); i += 2)
        memcpy(reason + i, "\xc3\xa4", 2);
    ws_frame_write_close(&b, 1000, (struct str){ reason, sizeof(reason) });
    assert_int_equal(b.n, 2 + 2 + 122); /* 123 bytes fit, but not the half of a character */
}

/* Where nobody wants messages, control frames between them are still heard, and rules hold. */
static void unwanted_messages_are_dropped(void **state)
{
    (void)state;
    struct ws_reader_events deaf = events;
    struct ws_reader r;
    autobuf b = { 0 };
    deaf.on_message = NULL;
    ws_reader_init(&r, MAX_MESSAGE, &deaf);
    buf_reset(&heard);
    add_frame(&b, 0x01, STR("half \xff")); /* no UTF-8, but who looks */
    add_frame(&b, 0x89, STR("x"));
    add_frame(&b, 0x80, STR("and half"));
    add_frame(&b, 0x82, STR("whole"));
    assert_int_equal(ws_reader_feed(&r, buf_str(&b)), 0);
    assert_int_equal(r.message.cap, 0);
    add_frame(&b, 0x80, STR("of nothing"));
    assert_int_equal(ws_reader_feed(&r, buf_str(&b)), WS_CODE_PROTOCOL);
    ws_reader_done(&r);
    assert_true(str_eq(buf_str(&heard), STR("ping:x|ping:x|")));
}

static int teardown(void **state)
{
    (void)state;
    buf_done(&heard);
    return 0;
}

/* What a server writes, a client reads, and the other way round; each refuses its own kind. */
static void the_other_side(void **state)
{
    (void)state;
    static const unsigned char mask[4] = { 1, 2, 3, 4 };
    static const size_t sizes[] = { 0, 1, 125, 126, 65535, 65536 };
    static char text[65536];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        autobuf from_server = { 0 }, from_client = { 0 }, want = { 0 };
        struct str payload = { text, sizes[i] };
        ws_frame_write(&from_server, WS_OP_TEXT, payload);
        ws_frame_write_masked(&from_client, WS_OP_TEXT, payload, mask);
        buf_reset(&heard);
        hear("text", payload);
        buf_str_add(&want, buf_str(&heard));
        buf_byte(&want, '\0');
        for (size_t step = 1; step < 20; step += 6) {
            struct ws_reader r;
            ws_reader_init(&r, MAX_MESSAGE, &events);
            r.is_client = true;
            buf_reset(&heard);
            for (struct str rest = buf_str(&from_server); rest.n; rest = str_skip(rest, step))
                assert_int_equal(ws_reader_feed(&r, str_take(rest, step)), 0);
            assert_true(str_eq(buf_str(&heard), str_of(want.p)));
            assert_int_equal(ws_reader_feed(&r, buf_str(&from_client)), WS_CODE_PROTOCOL);
            ws_reader_done(&r);
        }
        expect(&from_client, 0, want.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_the_rfc),
        cmocka_unit_test(messages_and_fragments),
        cmocka_unit_test(every_length_form),
        cmocka_unit_test(broken_rules),
        cmocka_unit_test(a_message_must_end_before_the_next),
        cmocka_unit_test(unmasked_is_refused),
        cmocka_unit_test(close_codes),
        cmocka_unit_test(giant_lengths_allocate_nothing),
        cmocka_unit_test(sums_of_fragments_are_bounded),
        cmocka_unit_test(an_announced_length_is_not_allocated),
        cmocka_unit_test(unmasking_by_words),
        cmocka_unit_test(unwanted_messages_are_dropped),
        cmocka_unit_test(written_frames),
        cmocka_unit_test(the_other_side),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
