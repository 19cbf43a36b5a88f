#include "net/grpc/grpc_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"

static struct arena arena;

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

static int hear(void *arg, struct str message)
{
    if (str_eq(message, STR("stop")))
        return -ERR_GONE;
    buf_printf(arg, STR_FMT "|", STR_ARG(message));
    return 0;
}

static void messages_in_any_pieces(void **state)
{
    (void)state;
    autobuf frames = { 0 };
    grpc_frame(&frames, STR("one"));
    grpc_frame(&frames, STR(""));
    grpc_frame(&frames, STR("a longer third message"));
    for (size_t step = 1; step <= frames.n; step++) {
        autobuf heard = { 0 };
        struct grpc_reader r = { 0 };
        for (struct str in = buf_str(&frames); in.n; in = str_skip(in, step))
            assert_int_equal(grpc_reader_feed(&r, str_take(in, step), hear, &heard, NULL), 0);
        assert_true(str_eq(buf_str(&heard), STR("one||a longer third message|")));
        assert_int_equal(r.partial.n, 0);
        grpc_reader_done(&r);
    }
}

static int feed_in(struct str bytes, size_t step, size_t max)
{
    autobuf heard = { 0 };
    struct grpc_reader r = { .max = max };
    struct err err = ERR_INIT(&arena);
    int e = 0;
    for (; bytes.n && e == 0; bytes = str_skip(bytes, step))
        e = grpc_reader_feed(&r, str_take(bytes, step), hear, &heard, &err);
    assert_true(r.partial.cap <= 4096);
    grpc_reader_done(&r);
    return e;
}

static void bad_frames_are_refused(void **state)
{
    (void)state;
    const struct {
        struct str bytes;
        size_t max;
        int want;
    } rows[] = {
        { STR("\1\0\0\0\1x"), 0, -ERR_BAD_REQUEST },
        { STR("\2\0\0\0\1x"), 0, -ERR_BAD_REQUEST },
        { STR("\xff\0\0\0\1x"), 0, -ERR_BAD_REQUEST },
        { STR("\0\xff\xff\xff\xff"), 0, -ERR_TOO_LARGE },
        { STR("\0\1\0\0\1"), 0, -ERR_TOO_LARGE }, /* one more than LIMIT_GRPC_MESSAGE_BYTES */
        { STR("\0\1\0\0\0"), 0, 0 },
        { STR("\0\0\0\0\4abcd"), 4, 0 },
        { STR("\0\0\0\0\5abcde"), 4, -ERR_TOO_LARGE },
        { STR("\0\0\0\0\4stop"), 0, -ERR_GONE },
        { STR("\0\0\0"), 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(feed_in(rows[i].bytes, 1, rows[i].max), rows[i].want);
        assert_int_equal(feed_in(rows[i].bytes, 100, rows[i].max), rows[i].want);
    }
}

static void a_large_buffer_is_given_back(void **state)
{
    (void)state;
    autobuf frame = { 0 };
    autobuf heard = { 0 };
    autofree char *big = mem_zalloc(1 << 20);
    struct grpc_reader r = { 0 };
    grpc_frame(&frame, (struct str){ big, 1 << 20 });
    assert_int_equal(grpc_reader_feed(&r, str_take(buf_str(&frame), 9), hear, &heard, NULL), 0);
    assert_int_equal(grpc_reader_feed(&r, str_skip(buf_str(&frame), 9), hear, &heard, NULL), 0);
    assert_null(r.partial.p);
    grpc_reader_done(&r);
}

static void status_messages(void **state)
{
    (void)state;
    autobuf out = { 0 };
    autobuf back = { 0 };
    grpc_message_encode(&out, STR("etcd: 100%\n\xc3\xa4"));
    assert_true(str_eq(buf_str(&out), STR("etcd: 100%25%0A%C3%A4")));
    grpc_message_decode(&back, buf_str(&out));
    assert_true(str_eq(buf_str(&back), STR("etcd: 100%\n\xc3\xa4")));
    buf_reset(&back);
    grpc_message_decode(&back, STR("%zz %4 % %"));
    assert_true(str_eq(buf_str(&back), STR("%zz %4 % %")));
    assert_int_equal(grpc_status_parse(STR("14")), GRPC_UNAVAILABLE);
    assert_int_equal(grpc_status_parse(STR("17")), GRPC_UNKNOWN);
    assert_int_equal(grpc_status_parse(STR("-1")), GRPC_UNKNOWN);
    assert_int_equal(grpc_status_of_http(503), GRPC_UNAVAILABLE);
    assert_int_equal(grpc_status_of_http(418), GRPC_UNKNOWN);
}

static void timeouts(void **state)
{
    (void)state;
    const struct {
        struct str text;
        int64_t want;
    } rows[] = {
        { STR("1H"), 3600 * NS_PER_SEC },
        { STR("2M"), 120 * NS_PER_SEC },
        { STR("3S"), 3 * NS_PER_SEC },
        { STR("100m"), 100 * NS_PER_MS },
        { STR("5u"), 5000 },
        { STR("0n"), 0 },
        { STR("99999999H"), INT64_MAX },
        { STR("100000000S"), -1 },
        { STR(""), -1 },
        { STR("S"), -1 },
        { STR("1"), -1 },
        { STR("-1S"), -1 },
        { STR("1 S"), -1 },
        { STR("1s"), -1 },
        { STR("1.5S"), -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t got = -1;
        assert_int_equal(grpc_timeout_parse(rows[i].text, &got), rows[i].want >= 0);
        assert_int_equal(got, rows[i].want);
    }
    assert_true(str_eq(grpc_timeout_format(&arena, 1500), STR("1500m")));
    assert_true(str_eq(grpc_timeout_format(&arena, 200000000), STR("200001S")));
    assert_true(str_eq(grpc_timeout_format(&arena, INT64_MAX), STR("99999999S")));
}

static void content_types(void **state)
{
    (void)state;
    assert_true(grpc_content_type(STR("application/grpc")));
    assert_true(grpc_content_type(STR("application/grpc+proto")));
    assert_true(grpc_content_type(STR("application/grpc; charset=utf-8")));
    assert_false(grpc_content_type(STR("application/grpc+json")));
    assert_false(grpc_content_type(STR("application/grpc-web")));
    assert_false(grpc_content_type(STR("application/json")));
    assert_false(grpc_content_type(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_in_any_pieces),
        cmocka_unit_test(bad_frames_are_refused),
        cmocka_unit_test(a_large_buffer_is_given_back),
        cmocka_unit_test(status_messages),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(content_types),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
