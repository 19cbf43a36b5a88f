/* Frames of SPDY/3.1, written and read again, whole and byte by byte. */
#include "net/spdy/spdy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "net/spdy/spdy_dictionary.h"

struct seen {
    struct buf data;
    uint32_t stream, ping, reset;
    unsigned ends, goaways, replies;
};

static void on_data(void *arg, uint32_t stream, struct str piece, bool is_last)
{
    struct seen *s = arg;
    s->stream = stream;
    buf_str_add(&s->data, piece);
    s->ends += is_last;
}

static void on_reply(void *arg, uint32_t stream)
{
    (void)stream;
    ((struct seen *)arg)->replies++;
}

static void on_reset(void *arg, uint32_t stream, uint32_t status)
{
    struct seen *s = arg;
    s->stream = stream;
    s->reset = status;
}

static void on_ping(void *arg, uint32_t id)
{
    ((struct seen *)arg)->ping = id;
}

static void on_goaway(void *arg)
{
    ((struct seen *)arg)->goaways++;
}

static struct spdy_events events_of(struct seen *s)
{
    return (struct spdy_events){ s, on_data, on_reply, on_reset, on_ping, on_goaway };
}

static void test_frames(void **state)
{
    (void)state;
    autobuf bytes = { 0 };
    spdy_write_data(&bytes, 5, STR("hello"), false);
    spdy_write_ping(&bytes, 4);
    spdy_write_data(&bytes, 5, STR(" you"), true);
    spdy_write_goaway(&bytes);
    buf_add(&bytes, "\x80\x03\0\x03\0\0\0\x08\0\0\0\x07\0\0\0\x05", 16); /* a reset */
    buf_add(&bytes, "\x80\x03\0\x04\0\0\0\x04\0\0\0\0", 12);             /* empty settings */
    buf_add(&bytes, "\x80\x03\0\x02\0\0\0\x06\0\0\0\x07\0\0", 14);       /* a reply */
    for (size_t step = 1; step <= bytes.n; step++) {
        struct seen s = { 0 };
        const struct spdy_events events = events_of(&s);
        struct spdy_reader r;
        spdy_reader_init(&r, &events);
        for (size_t at = 0; at < bytes.n; at += step)
            assert_true(spdy_reader_feed(&r, str_take(str_skip(buf_str(&bytes), at), step)));
        assert_true(str_eq(buf_str(&s.data), STR("hello you")));
        assert_int_equal(s.ends, 1);
        assert_int_equal(s.ping, 4);
        assert_int_equal(s.goaways, 1);
        assert_int_equal(s.replies, 1);
        assert_int_equal(s.stream, 7);
        assert_int_equal(s.reset, 5);
        buf_done(&s.data);
    }
}

static void test_bad_frames(void **state)
{
    (void)state;
    static const struct str bad[] = {
        STR("\x80\x02\0\x06\0\0\0\x04"), /* another version */
        STR("\x80\x03\0\x06\0\0\0\x02"), /* a ping without its id */
        STR("\x80\x03\0\x03\0\0\0\x04"), /* a reset without its status */
        STR("\0\0\0\0\0\0\0\x01"),       /* data of no stream */
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct seen s = { 0 };
        const struct spdy_events events = events_of(&s);
        struct spdy_reader r;
        spdy_reader_init(&r, &events);
        assert_false(spdy_reader_feed(&r, bad[i]));
        assert_false(spdy_reader_feed(&r, STR("more")));
    }
}

/* What another one would read out of our header blocks: one stream of zlib over all of them. */
static void test_headers(void **state)
{
    (void)state;
    struct spdy_headers *h = spdy_headers_new();
    z_stream z = { 0 };
    assert_int_equal(inflateInit(&z), Z_OK);
    for (uint32_t id = 1; id < 6; id += 2) {
        autobuf out = { 0 };
        unsigned char plain[256];
        const struct spdy_field field = { STR("streamtype"), STR("stdout") };
        spdy_write_syn(&out, h, id, &field, 1, false);
        assert_int_equal((unsigned char)out.p[11], id);
        z.next_in = (Bytef *)out.p + 18;
        z.avail_in = (uInt)out.n - 18;
        z.next_out = plain;
        z.avail_out = sizeof(plain);
        int rc = inflate(&z, Z_SYNC_FLUSH);
        if (rc == Z_NEED_DICT) {
            assert_int_equal(
                inflateSetDictionary(&z, (const Bytef *)spdy_dictionary, SPDY_DICTIONARY_BYTES),
                Z_OK);
            rc = inflate(&z, Z_SYNC_FLUSH);
        }
        assert_int_equal(rc, Z_OK);
        assert_memory_equal(plain, "\0\0\0\1\0\0\0\x0astreamtype\0\0\0\6stdout", 28);
        assert_int_equal(sizeof(plain) - z.avail_out, 28);
    }
    (void)inflateEnd(&z);
    spdy_headers_free(h);
}

static void test_long_data(void **state)
{
    (void)state;
    autobuf bytes = { 0 }, text = { 0 };
    struct seen s = { 0 };
    const struct spdy_events events = events_of(&s);
    struct spdy_reader r;
    for (int i = 0; i < 200000; i++)
        buf_byte(&text, (char)('a' + i % 26));
    spdy_write_data(&bytes, 1, buf_str(&text), true);
    spdy_reader_init(&r, &events);
    assert_true(spdy_reader_feed(&r, buf_str(&bytes)));
    assert_true(str_eq(buf_str(&s.data), buf_str(&text)));
    assert_int_equal(s.ends, 1);
    buf_done(&s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_bad_frames),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_long_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
