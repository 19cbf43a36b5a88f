/* A client's WebSocket on one side, SPDY on the other. */
#include "net/spdy/ws_spdy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "net/spdy/spdy.h"
#include "net/ws/ws_frame.h"

/* What the client has got. */
struct client {
    struct buf channels[5];
    unsigned messages, close_code;
    struct ws_reader reader;
    struct ws_reader_events events;
};

static void on_message(void *arg, enum ws_type type, struct str message)
{
    struct client *c = arg;
    assert_int_equal(type, WS_BINARY);
    assert_true(message.n && message.p[0] < 5);
    c->messages++;
    buf_str_add(&c->channels[(int)message.p[0]], str_skip(message, 1));
}

static void on_ping(void *arg, struct str payload)
{
    (void)arg;
    (void)payload;
}

static void on_close(void *arg, unsigned code, struct str reason)
{
    (void)reason;
    ((struct client *)arg)->close_code = code;
}

static void client_init(struct client *c)
{
    *c = (struct client){ .events = { c, on_message, on_ping, on_close } };
    ws_reader_init(&c->reader, 1 << 20, &c->events);
    c->reader.is_client = true;
}

static void client_done(struct client *c)
{
    for (size_t i = 0; i < ARRAY_LEN(c->channels); i++)
        buf_done(&c->channels[i]);
    ws_reader_done(&c->reader);
}

static void give_client(struct client *c, struct buf *bytes)
{
    assert_int_equal(ws_reader_feed(&c->reader, buf_str(bytes)), 0);
    buf_reset(bytes);
}

static void test_command(void **state)
{
    (void)state;
    const struct ws_spdy_options opt = { .has_stdin = true,
                                         .has_stdout = true,
                                         .has_stderr = true };
    struct ws_spdy *t = ws_spdy_make(&opt);
    const struct relay_filter *f = ws_spdy_filter(t);
    autobuf out = { 0 }, on = { 0 }, frames = { 0 };
    struct client c;
    client_init(&c);
    f->begin(f->arg, &out, &on);
    give_client(&c, &out);
    assert_int_equal(c.messages, 1); /* that says: it is open */
    assert_true(on.n > 0);
    buf_reset(&on);

    /* error 1, stdin 3, stdout 5, stderr 7 */
    ws_frame_write_masked(&frames, WS_OP_BINARY, STR("\0hi"),
                          (const unsigned char[4]){ 1, 2, 3, 4 });
    ws_frame_write_masked(&frames, WS_OP_BINARY, STR("\xff\0"), (const unsigned char[4]){ 0 });
    f->from_client(f->arg, buf_str(&frames), &out, &on);
    assert_int_equal(on.n, 0); /* not before the streams are taken */
    buf_reset(&frames);
    for (char id = 1; id < 8; id = (char)(id + 2)) {
        const char reply[] = { '\x80', 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, id };
        buf_add(&frames, reply, sizeof(reply));
    }
    f->from_server(f->arg, buf_str(&frames), &out, &on);
    assert_int_equal(on.n, 8 + 2 + 8);
    assert_memory_equal(on.p, "\0\0\0\3\0\0\0\2hi\0\0\0\3\1\0\0\0", 18);
    buf_reset(&on);

    buf_reset(&frames);
    spdy_write_data(&frames, 1, STR("{\"status\":\"Success\"}"), true);
    spdy_write_data(&frames, 5, STR("out"), true);
    spdy_write_ping(&frames, 2);
    f->from_server(f->arg, buf_str(&frames), &out, &on);
    give_client(&c, &out);
    assert_int_equal(on.n, 12); /* the ping, back */
    assert_int_equal(c.channels[3].n, 0);
    assert_false(f->is_over(f->arg));
    buf_reset(&frames);
    spdy_write_data(&frames, 7, STR("err"), true);
    f->from_server(f->arg, buf_str(&frames), &out, &on);
    give_client(&c, &out);
    assert_true(str_eq(buf_str(&c.channels[1]), STR("out")));
    assert_true(str_eq(buf_str(&c.channels[2]), STR("err")));
    assert_true(str_eq(buf_str(&c.channels[3]), STR("{\"metadata\":{},\"status\":\"Success\"}")));
    assert_int_equal(c.close_code, 1000);
    assert_true(f->is_over(f->arg));
    client_done(&c);
    ws_spdy_free(t);
}

static void test_tunnel(void **state)
{
    (void)state;
    const struct ws_spdy_options opt = { .is_tunnel = true };
    struct ws_spdy *t = ws_spdy_make(&opt);
    const struct relay_filter *f = ws_spdy_filter(t);
    autobuf out = { 0 }, on = { 0 }, frames = { 0 };
    f->begin(f->arg, &out, &on);
    assert_int_equal(out.n + on.n, 0);
    ws_frame_write_masked(&frames, WS_OP_BINARY, STR("abc"),
                          (const unsigned char[4]){ 9, 8, 7, 6 });
    f->from_client(f->arg, buf_str(&frames), &out, &on);
    assert_true(str_eq(buf_str(&on), STR("abc")));
    f->from_server(f->arg, STR("xyz"), &out, &on);
    assert_true(str_eq(buf_str(&out), STR("\x82\x03xyz")));
    buf_reset(&out);
    f->server_end(f->arg, &out);
    assert_true(str_eq(buf_str(&out), STR("\x88\x02\x03\xe8")));
    ws_spdy_free(t);
}

static void test_statuses(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "", "{\"metadata\":{},\"status\":\"Success\"}" },
        { "{\"metadata\":{},\"status\":\"Success\"}", "{\"metadata\":{},\"status\":\"Success\"}" },
        { "{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"message\":\"x\",\"details\":{"
          "\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"4\"}]}}",
          "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero "
          "exit code: command terminated with exit code 4\",\"reason\":\"NonZeroExitCode\","
          "\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"4\"}]}}" },
        { "{\"status\":\"Failure\",\"message\":\"no \\\"x\\\"\"}",
          "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Internal error occurred: no "
          "\\\"x\\\"\",\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message\":\"no "
          "\\\"x\\\"\"}]},\"code\":500}" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = ws_spdy_status(&a, str_of(rows[i][0]));
        if (!str_eq(got, str_of(rows[i][1])))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(got));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_tunnel),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
