/* What one exchange may take: time, memory, and a share of what all have. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness.h"

static struct harness h;

static void start(struct http_limits limits)
{
    struct harness_options opt = { .limits = limits };
    harness_start(&h, &opt);
}

/* LIMIT_HALF_CLOSED_MS: who closes an HTTP/1.1 connection may still want the answer. */
static struct http_limits hasty_about_half_closed(void)
{
    struct http_limits limits = http_limits_default();
    limits.half_closed_ms = 100;
    return limits;
}

static int open_request(const char *method, const char *target, const char *more)
{
    int fd = peer_connect(h.plain);
    autobuf b = { 0 };
    buf_printf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method, target, more);
    assert_true(peer_send(fd, buf_str(&b)));
    return fd;
}

/* The status of the reply that comes next; its body has these words. */
static int reply_with(int fd, const char *words)
{
    autobuf got = { 0 };
    struct str end = { NULL, 0 };
    while (!end.n) {
        assert_true(peer_read(fd, &got, 1));
        end = h1_body(buf_str(&got));
    }
    buf_byte(&got, '\0');
    if (!strstr(got.p, words))
        fail_msg("no \"%s\" in %s", words, got.p);
    return h1_status(buf_str(&got));
}

/* ---- Workers ---- */

static void work_ends_when_its_client_is_gone(void **state)
{
    (void)state;
    start(hasty_about_half_closed());
    int fd = open_request("GET", "/toil", "");
    harness_wait(h.started == 1);
    assert_int_equal(h.spent, 0);
    close(fd);
    harness_wait(h.spent == 1);
    harness_wait(harness_stats(&h).exchanges_open == 0);
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/toil", true);
    h2_add_request(&b, 3, "GET", "/toil", true);
    assert_true(h2_send(&p, &b));
    harness_wait(h.started == 3);
    h2_add_u32(&b, H2_RST_STREAM, 1, H2_CANCEL);
    assert_true(h2_send(&p, &b));
    harness_wait(h.spent == 2);
    h2_close(&p);
    harness_wait(h.spent == 3);
    harness_stop(&h);
}

/* All workers are taken; what waits for one behind them and loses its client is never begun. */
static void work_of_nobody_is_never_begun(void **state)
{
    (void)state;
    enum { BUSY = 4, WAITING = 8 };
    int busy[BUSY], waiting[WAITING];
    start(hasty_about_half_closed());
    for (size_t i = 0; i < BUSY; i++)
        busy[i] = open_request("GET", "/deaf", "");
    harness_wait(h.started == BUSY);
    for (size_t i = 0; i < WAITING; i++)
        waiting[i] = open_request("GET", "/toil", "");
    harness_wait(h.requests == BUSY + WAITING);
    for (size_t i = 0; i < WAITING; i++)
        close(waiting[i]);
    harness_wait(harness_stats(&h).connections_open == BUSY);
    h.let_go = true;
    for (size_t i = 0; i < BUSY; i++) {
        assert_int_equal(reply_with(busy[i], "at last"), 200);
        close(busy[i]);
    }
    harness_wait(harness_stats(&h).exchanges_open == 0);
    assert_int_equal(h.started, BUSY);
    harness_stop(&h);
}

/* LIMIT_REQUEST_MS; the worker looks neither at the clock nor at its allowance. */
static void a_late_answer_is_given_by_the_loop(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.request_ms = 200;
    start(limits);
    autoclose int fd = open_request("GET", "/deaf", "");
    assert_int_equal(
        reply_with(fd, "\"message\":\"Timeout: request did not complete within the allotted "
                       "timeout\",\"reason\":\"Timeout\",\"details\":{},\"code\":504}"),
        504);
    /* The connection goes on, and the worker ends in its own time. */
    assert_true(peer_send(fd, STR("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    assert_int_equal(reply_with(fd, "hello"), 200);
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/deaf", true);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 504);
    h2_add_request(&b, 3, "GET", "/toil", true); /* and one that looks */
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 3), 504);
    h2_add_request(&b, 5, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_HEADERS, 5, &f));
    assert_int_equal(f.status, 200);
    harness_wait(h.spent == 1);
    assert_int_equal(h.started, 3);
    assert_true(harness_stats(&h).exchanges_open >= 2);
    h.let_go = true;
    harness_wait(harness_stats(&h).exchanges_open == 0);
    h2_close(&p);
    harness_stop(&h);
}

/* The same of what a handler holds on the loop. */
static void what_the_loop_holds_is_late_too(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.request_ms = 200;
    start(limits);
    autoclose int fd = open_request("GET", "/hold", "");
    assert_int_equal(reply_with(fd, "\"code\":504"), 504);
    harness_wait(h.gone == 1);
    harness_wait(harness_stats(&h).exchanges_open == 0);
    harness_stop(&h);
}

/* What has begun is cut off, however diligently it is read. */
static void an_answer_without_end_is_cut_off(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.request_ms = 300;
    start(limits);
    autoclose int fd = open_request("GET", "/endless", "");
    assert_true(peer_wait_closed(fd));
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_setting(&b, 4, 0x7fffffff);
    h2_add_u32(&b, H2_WINDOW_UPDATE, 0, 0x7fff0000);
    h2_add_request(&b, 1, "GET", "/endless", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_RST_STREAM, 1, &f));
    harness_wait(h.gone == 2);
    h2_add_request(&b, 3, "GET", "/", true);
    assert_true(h2_send(&p, &b));
    assert_true(h2_expect(&p, H2_HEADERS, 3, &f));
    assert_int_equal(f.status, 200);
    h2_close(&p);
    harness_stop(&h);
}

/* ---- Bodies ---- */

/* LIMIT_BODY_MS: a byte now and then is no stall, but no body either. */
static void a_body_in_drips_is_refused(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.body_ms = 400;
    start(limits);
    autoclose int fd = open_request("POST", "/echo", "Content-Length: 1000\r\n");
    for (int i = 0; i < 400 && harness_stats(&h).exchanges_open; i++) {
        (void)peer_send(fd, STR("x"));
        harness_sleep_ms(10);
    }
    assert_int_equal(reply_with(fd, "\"reason\":\"Timeout\""), 504);
    assert_true(peer_wait_closed(fd));
    assert_int_equal(h.requests, 0);
    harness_stop(&h);
}

/* A handler that has seen enough at the head is not given the body, and nobody collects it. */
static void a_refusal_does_not_wait_for_the_body(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.collected_bytes = limits.body_bytes = 1000;
    start(limits);
    autoclose int fd = open_request("POST", "/head", "Content-Length: 1000\r\n");
    assert_int_equal(reply_with(fd, "not you"), 403); /* of 1000 bytes none was sent */
    assert_true(peer_wait_closed(fd));
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/head", false);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 1), 403);
    h2_close(&p);
    assert_int_equal(h.requests, 0);
    harness_stop(&h);
}

/* Half of LIMIT_COLLECTED_BYTES is the most that one client gets, however many connections it has;
 * who asks when there is nothing left is told when to ask again. */
static void one_client_leaves_room_for_others(void **state)
{
    (void)state;
    enum { MANY = 8, BODY = 10000 };
    struct http_limits limits = http_limits_default();
    limits.body_bytes = BODY;
    limits.collected_bytes = 4 * BODY;
    start(limits);
    char *bytes = mem_zalloc(BODY);
    autobuf head = { 0 }, most = { 0 };
    buf_printf(&head, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", BODY);
    buf_str_add(&most, buf_str(&head));
    buf_add(&most, bytes, BODY - 1);
    int fds[MANY];
    size_t n_refused = 0;
    for (size_t i = 0; i < MANY; i++) {
        uint64_t before = harness_stats(&h).bytes_in;
        fds[i] = peer_connect_from("127.0.0.2", h.plain);
        assert_true(peer_send(fds[i], buf_str(&most)));
        harness_wait(harness_stats(&h).bytes_in == before + most.n);
        if (i >= 2) {
            assert_int_equal(reply_with(fds[i], "retry-after: 1\r\n"), 429);
            n_refused++;
        }
    }
    assert_int_equal(n_refused, MANY - 2);
    autoclose int other = peer_connect_from("127.0.0.3", h.plain);
    buf_byte(&most, '\0'); /* the last one */
    assert_true(peer_send(other, buf_str(&most)));
    assert_int_equal(reply_with(other, "content-length: 10000"), 200);
    for (size_t i = 0; i < MANY; i++)
        close(fds[i]);
    free(bytes);
    harness_stop(&h);
}

/* ---- Memory ---- */

/* LIMIT_REQUEST_MEMORY */
static void a_request_may_not_take_all(void **state)
{
    (void)state;
    struct http_limits limits = http_limits_default();
    limits.request_memory = 1 << 20;
    start(limits);
    autoclose int fd = open_request("GET", "/take?2000000", "");
    assert_int_equal(reply_with(fd, "more memory than one request may use"), 413);
    harness_stop(&h);
}

/* LIMIT_REQUEST_MEMORY_ALL, of which one client may have LIMIT_REQUEST_MEMORY: whoever goes past
 * it, and whoever comes then. */
static void all_requests_share_their_memory(void **state)
{
    (void)state;
    struct http_limits limits = hasty_about_half_closed();
    limits.request_memory = limits.request_memory_all = 1 << 20;
    start(limits);
    int first = open_request("GET", "/take?600000", "");
    harness_wait(h.started == 2); /* it counts twice: taken, and toiling */
    autoclose int second = open_request("GET", "/take?600000", "");
    assert_int_equal(reply_with(second, "memory for requests in flight"), 429);
    autoclose int small = open_request("GET", "/worker", "");
    assert_int_equal(reply_with(small, "from a worker"), 200);
    autoclose int deaf = open_request("GET", "/deaf?600000", "");
    harness_wait(h.started == 4);
    autoclose int third = open_request("GET", "/worker", "");
    assert_int_equal(reply_with(third, "retry-after: 1\r\n"), 429);
    /* What was taken is given back. */
    close(first);
    h.let_go = true;
    assert_int_equal(reply_with(deaf, "at last"), 200);
    harness_wait(harness_stats(&h).exchanges_open == 0);
    autoclose int fourth = open_request("GET", "/take?600000", "");
    harness_wait(h.started == 6);
    harness_stop(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_ends_when_its_client_is_gone),
        cmocka_unit_test(work_of_nobody_is_never_begun),
        cmocka_unit_test(a_late_answer_is_given_by_the_loop),
        cmocka_unit_test(what_the_loop_holds_is_late_too),
        cmocka_unit_test(an_answer_without_end_is_cut_off),
        cmocka_unit_test(a_body_in_drips_is_refused),
        cmocka_unit_test(a_refusal_does_not_wait_for_the_body),
        cmocka_unit_test(one_client_leaves_room_for_others),
        cmocka_unit_test(a_request_may_not_take_all),
        cmocka_unit_test(all_requests_share_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
