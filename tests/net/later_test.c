/* Requests that wait between their head and their body (HTTP_BODY_LATER), over both protocols: the
 * handler gets them with the whole body, or never. */
#include <signal.h>
#include <unistd.h>

#include "harness.h"

static struct harness h;

static int setup(void **state)
{
    (void)state;
    const struct harness_options opt = harness_defaults();
    (void)signal(SIGPIPE, SIG_IGN);
    h = (struct harness){ 0 };
    harness_start(&h, &opt);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    harness_stop(&h);
    return 0;
}

static void expect_echo(struct str reply, struct str body)
{
    assert_int_equal(h1_status(reply), 200);
    assert_non_null(memmem(reply.p, reply.n, "\r\nx-own: mine\r\n", 15));
    assert_true(str_eq(h1_body(reply), body));
}

/* ---- HTTP/1.1 ---- */

#define HEAD "POST /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "

static void a_body_that_came_early_is_there(void **state)
{
    (void)state;
    autobuf in = { 0 };
    int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR(HEAD "5\r\n\r\nhello")));
    harness_wait(h.n_later == 1);
    assert_int_equal(h.requests, 0);
    harness_go_on(&h, 0);
    assert_true(peer_read_all(fd, &in, 4096));
    expect_echo(buf_str(&in), STR("hello"));
    close(fd);
    harness_wait(h.over_order == 21);
}

static void a_body_may_come_afterwards(void **state)
{
    (void)state;
    autobuf in = { 0 };
    int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR(HEAD "5\r\nExpect: 100-continue\r\n\r\n")));
    harness_wait(h.n_later == 1);
    harness_go_on(&h, 0);
    assert_true(peer_read(fd, &in, 25)); /* it is wanted only now */
    assert_true(str_starts(buf_str(&in), STR("HTTP/1.1 100 ")));
    buf_drop(&in, in.n);
    assert_true(peer_send(fd, STR("hello")));
    assert_true(peer_read_all(fd, &in, 4096));
    expect_echo(buf_str(&in), STR("hello"));
    close(fd);
}

static void a_request_without_a_body_goes_on(void **state)
{
    (void)state;
    autobuf in = { 0 };
    int fd = peer_connect(h.plain);
    assert_true(
        peer_send(fd, STR("GET /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")));
    harness_wait(h.n_later == 1);
    assert_int_equal(h.requests, 0);
    harness_go_on(&h, 0);
    assert_true(peer_read_all(fd, &in, 4096));
    expect_echo(buf_str(&in), STR(""));
    close(fd);
}

static void it_may_be_answered_without_its_body(void **state)
{
    (void)state;
    autobuf in = { 0 };
    int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR(HEAD "500\r\n\r\nhel")));
    harness_wait(h.n_later == 1);
    harness_go_on(&h, 429);
    (void)peer_read_all(fd, &in, 4096);
    assert_int_equal(h1_status(buf_str(&in)), 429);
    assert_non_null(memmem(in.p, in.n, "\r\nx-own: mine\r\n", 15));
    assert_int_equal(h.requests, 0);
    close(fd);
}

static void a_client_that_goes_is_not_served(void **state)
{
    (void)state;
    int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    harness_wait(h.n_later == 1);
    close(fd);
    harness_wait(h.over_order == 21);
    harness_go_on(&h, 0); /* there is nobody any more */
    assert_int_equal(h.requests, 0);
}

/* ---- HTTP/2 ---- */

static void expect_body(struct h2_peer *p, size_t n)
{
    struct h2_frame f;
    size_t got = 0;
    assert_int_equal(h2_status(p, 1), 200);
    do {
        assert_true(h2_expect(p, H2_DATA, 1, &f));
        got += f.payload.n;
    } while (!(f.flags & H2_END_STREAM));
    assert_int_equal(got, n);
}

static void streams_wait_too(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf out = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&out, 1, "POST", "/later", false);
    h2_add(&out, H2_DATA, 0, 1, STR("one "));
    assert_true(h2_send(&p, &out));
    harness_wait(h.n_later == 1);
    h2_add(&out, H2_DATA, 0, 1, STR("two "));
    h2_add_request(&out, 3, "GET", "/", true); /* others go on */
    assert_true(h2_send(&p, &out));
    assert_int_equal(h2_status(&p, 3), 200);
    assert_int_equal(h.requests, 1);
    harness_go_on(&h, 0);
    h2_add(&out, H2_DATA, H2_END_STREAM, 1, STR("three"));
    assert_true(h2_send(&p, &out));
    expect_body(&p, 13);
    h2_close(&p);
}

static void a_stream_may_be_complete_before(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf out = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&out, 1, "POST", "/later", false);
    h2_add(&out, H2_DATA, H2_END_STREAM, 1, STR("hello"));
    h2_add_request(&out, 3, "GET", "/", true);
    assert_true(h2_send(&p, &out));
    assert_int_equal(h2_status(&p, 3), 200);
    assert_int_equal(h.requests, 1);
    harness_go_on(&h, 0);
    expect_body(&p, 5);
    h2_close(&p);
}

static void a_stream_that_is_reset_is_not_served(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf out = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&out, 1, "GET", "/later", true);
    assert_true(h2_send(&p, &out));
    harness_wait(h.n_later == 1);
    h2_add_u32(&out, H2_RST_STREAM, 1, H2_CANCEL);
    assert_true(h2_send(&p, &out));
    harness_wait(h.over_order == 21);
    harness_go_on(&h, 0);
    assert_int_equal(h.requests, 0);
    h2_close(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_body_that_came_early_is_there),  TEST(a_body_may_come_afterwards),
        TEST(a_request_without_a_body_goes_on), TEST(it_may_be_answered_without_its_body),
        TEST(a_client_that_goes_is_not_served), TEST(streams_wait_too),
        TEST(a_stream_may_be_complete_before),  TEST(a_stream_that_is_reset_is_not_served),
    };
    return cmocka_run_group_tests_name("later", tests, NULL, NULL);
}
