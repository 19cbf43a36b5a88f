/* Time, connections and the end of a server: limits small enough to be reached. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "harness.h"

static struct harness h;

#define GET_HOLD "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define GET      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

/* ---- Memory ---- */

/* LIMIT_COLLECTED_BYTES: bodies of all connections of a loop together. */
static void bodies_share_one_budget(void **state)
{
    (void)state;
    enum { BODY = 40000 };
    struct harness_options opt = harness_defaults();
    opt.limits.collected_bytes = 64000;
    harness_start(&h, &opt);
    autofree char *bytes = mem_zalloc(BODY);
    autobuf half = { 0 };
    autobuf whole = { 0 };
    autobuf got = { 0 };
    buf_printf(&whole,
               "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
               "Content-Length: %d\r\n\r\n",
               BODY);
    buf_add(&whole, bytes, BODY);
    buf_add(&half, whole.p, whole.n - 1);

    int first = peer_connect(h.plain);
    assert_true(peer_send(first, buf_str(&half)));
    harness_wait(harness_stats(&h).bytes_in >= half.n);
    assert_int_equal(h1_ask(&h, buf_str(&whole), &got), 429);
    assert_true(peer_send(first, STR("\0")));
    buf_reset(&got);
    assert_true(peer_read_all(first, &got, SIZE_MAX));
    assert_int_equal(h1_status(buf_str(&got)), 200);
    close(first);

    /* And what was answered or lost is given back. */
    autoclose int lost = peer_connect(h.plain);
    uint64_t before = harness_stats(&h).bytes_in;
    assert_true(peer_send(lost, buf_str(&half)));
    harness_wait(harness_stats(&h).bytes_in >= before + half.n);
    close(take_fd(&lost));
    harness_wait(harness_stats(&h).connections_open == 0);
    buf_reset(&got);
    assert_int_equal(h1_ask(&h, buf_str(&whole), &got), 200);
    harness_stop(&h);
}

/* ---- Time ---- */

static void start_hasty(void)
{
    struct harness_options opt = harness_defaults();
    opt.limits.read_header_ms = 300;
    opt.limits.idle_ms = 600;
    opt.limits.write_stall_ms = 400;
    opt.limits.handshake_ms = 300;
    opt.tls = true;
    harness_start(&h, &opt);
}

/* etcd 3.5.33: headers byte by byte; LIMIT_READ_HEADER_MS */
static void slow_headers_are_dropped(void **state)
{
    (void)state;
    start_hasty();
    static const char *const begins[] = { "", "GET / HTTP/1.1\r\nX: ", "PRI * HTTP/2.0\r\n" };
    for (size_t i = 0; i < 3; i++) {
        autoclose int fd = peer_connect(h.plain);
        assert_true(peer_send(fd, str_of(begins[i])));
        int sent = 0;
        while (sent < 200 && peer_send(fd, STR("a"))) {
            sent++;
            harness_sleep_ms(20);
        }
        if (i == 1)
            assert_true(sent < 200);
        assert_true(peer_wait_closed(fd));
    }
    harness_stop(&h);
}

static void a_silent_client_is_dropped(void **state)
{
    (void)state;
    start_hasty();
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_wait_closed(fd));
    harness_stop(&h);
}

/* A header block that never ends, in HTTP/2. */
static void slow_header_blocks_are_dropped(void **state)
{
    (void)state;
    struct h2_peer p;
    autobuf b = { 0 };
    start_hasty();
    h2_connect(&p, &h);
    h2_add(&b, H2_HEADERS, H2_END_STREAM, 1, STR("\x82"));
    assert_true(h2_send(&p, &b));
    assert_true(peer_wait_closed(p.fd));
    h2_close(&p);
    harness_stop(&h);
}

/* LIMIT_IDLE_MS */
static void idle_connections_are_closed(void **state)
{
    (void)state;
    start_hasty();
    autoclose int fd = peer_connect(h.plain);
    autobuf reply = { 0 };
    for (int i = 0; i < 3; i++) { /* not idle yet */
        assert_true(peer_send(fd, STR(GET)));
        assert_true(peer_read(fd, &reply, 1));
        harness_sleep_ms(100);
    }
    assert_true(peer_wait_closed(fd));
    struct h2_peer p;
    h2_connect(&p, &h);
    assert_int_equal(h2_goaway_code(&p), H2_NO_ERROR);
    h2_close(&p);
    harness_stop(&h);
}

static void a_running_exchange_is_not_idle(void **state)
{
    (void)state;
    start_hasty();
    struct h2_peer p;
    struct h2_frame f;
    autobuf b = { 0 };
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("GET /stubborn HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "GET", "/stubborn", true);
    assert_true(h2_send(&p, &b));
    harness_wait(h.n_stubborn == 2);
    harness_sleep_ms(1500);
    harness_release(&h);
    autobuf reply = { 0 };
    assert_true(peer_read(fd, &reply, 12));
    assert_int_equal(h1_status(buf_str(&reply)), 200);
    assert_true(h2_expect(&p, H2_HEADERS, 1, &f));
    assert_int_equal(f.status, 200);
    h2_close(&p);
    harness_stop(&h);
}

static void a_body_that_stops_coming_is_dropped(void **state)
{
    (void)state;
    start_hasty();
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Length: 10\r\n\r\nhalf")));
    assert_true(peer_wait_closed(fd));
    struct h2_peer p;
    autobuf b = { 0 };
    h2_connect(&p, &h);
    h2_add_request(&b, 1, "POST", "/echo", false);
    h2_add(&b, H2_DATA, 0, 1, STR("half"));
    assert_true(h2_send(&p, &b));
    assert_true(peer_wait_closed(p.fd));
    h2_close(&p);
    harness_wait(harness_stats(&h).exchanges_open == 0);
    harness_stop(&h);
}

/* LIMIT_WRITE_STALL_MS */
static void a_reader_that_stops_is_dropped(void **state)
{
    (void)state;
    start_hasty();
    static const char *const paths[] = { "/endless", "/big?50000000", "/worker?50000000" };
    for (size_t i = 0; i < 3; i++) {
        char request[128];
        int n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                         paths[i]);
        autoclose int fd = peer_connect(h.plain);
        assert_true(peer_send(fd, (struct str){ request, (size_t)n }));
        harness_wait(harness_stats(&h).exchanges_open == 1);
        harness_wait(harness_stats(&h).exchanges_open == 0);
    }
    assert_int_equal(harness_stats(&h).closed_for_abuse, 3);
    harness_stop(&h);
}

/* A slow reader that keeps reading is served to the end, though that takes longer than a stall may.
 * The stall is long enough for a machine that is busy with other tests. */
static void a_reader_that_is_slow_is_served(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    opt.limits.write_stall_ms = 2000;
    harness_start(&h, &opt);
    autoclose int fd = peer_connect(h.plain);
    assert_true(peer_send(fd, STR("GET /stream?16000000 HTTP/1.0\r\n\r\n")));
    char scratch[40000];
    size_t got = 0;
    ssize_t n;
    while ((n = recv(fd, scratch, sizeof(scratch), 0)) > 0) {
        got += (size_t)n;
        harness_sleep_ms(8);
    }
    assert_true(n == 0 && got > 16000000);
    harness_stop(&h);
}

/* ---- Handshakes ---- */

/* GHSA-6vch-q96h-7gc3: LIMIT_HANDSHAKE_MS */
static void unfinished_handshakes_are_dropped(void **state)
{
    (void)state;
    start_hasty();
    int silent = peer_connect(h.tls), started = peer_connect(h.tls);
    assert_true(peer_send(started, STR("\x16\x03\x01\x02\x00\x01\x00")));
    assert_true(peer_wait_closed(silent));
    assert_true(peer_wait_closed(started));
    close(silent);
    close(started);
    harness_wait(harness_stats(&h).handshakes_open == 0);
    assert_int_equal(harness_stats(&h).handshakes_failed, 2);
    harness_stop(&h);
}

/* LIMIT_HANDSHAKES: the oldest unfinished ones make room for new clients. */
static void unfinished_handshakes_do_not_keep_others_out(void **state)
{
    (void)state;
    enum { MANY = 400, MOST = 20 };
    struct harness_options opt = harness_defaults();
    opt.tls = true;
    opt.limits.handshakes = MOST;
    harness_start(&h, &opt);
    int fds[MANY];
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = peer_connect(h.tls);
        if (i % 100 == 50) {
            char command[256];
            (void)snprintf(command, sizeof(command),
                           "curl -sk -m 10 https://" STR_FMT "/ | grep -q hello", STR_ARG(h.tls));
            if (system("command -v curl >/dev/null") == 0)
                assert_int_equal(system(command), 0);
        }
    }
    harness_wait(harness_stats(&h).connections_total >= MANY);
    harness_wait(harness_stats(&h).handshakes_open <= MOST);
    for (size_t i = 0; i < MANY; i++)
        close(fds[i]);
    harness_stop(&h);
}

/* ---- Connections ---- */

/* LIMIT_CONNECTIONS: strangers who do nothing make room for others, the idlest first. */
static void idle_connections_make_room(void **state)
{
    (void)state;
    enum { MOST = 10, MORE = 5 };
    struct harness_options opt = harness_defaults();
    opt.limits.connections = MOST;
    harness_start(&h, &opt);
    int fds[MOST + MORE];
    for (size_t i = 0; i < MOST + MORE; i++) {
        autobuf reply = { 0 };
        fds[i] = peer_connect(h.plain);
        assert_true(peer_send(fds[i], i ? STR(GET) : STR(GET_HOLD))); /* the first is not idle */
        if (i)
            assert_true(peer_read(fds[i], &reply, 12));
        harness_sleep_ms(2);
    }
    for (size_t i = 1; i <= MORE; i++)
        assert_true(peer_wait_closed(fds[i]));
    assert_int_equal(h.running, 1);
    assert_int_equal(harness_stats(&h).connections_refused, 0);
    autobuf reply = { 0 };
    assert_true(peer_send(fds[MORE + 1], STR(GET))); /* it still is there */
    assert_true(peer_read(fds[MORE + 1], &reply, 1));
    for (size_t i = 0; i < MOST + MORE; i++)
        close(fds[i]);
    harness_stop(&h);
}

/* LIMIT_CONNECTIONS: while all have something to do, nobody else gets in. */
static void connections_past_the_limit_are_refused(void **state)
{
    (void)state;
    enum { MOST = 10 };
    struct harness_options opt = harness_defaults();
    opt.limits.connections = MOST;
    opt.n_loops = 2;
    harness_start(&h, &opt);
    int fds[MOST];
    for (size_t i = 0; i < MOST; i++) {
        fds[i] = peer_connect(h.plain);
        assert_true(peer_send(fds[i], STR(GET_HOLD)));
    }
    harness_wait(h.running == MOST);
    autoclose int extra = peer_connect(h.plain);
    assert_true(peer_wait_closed(extra));
    assert_int_equal(harness_stats(&h).connections_refused, 1);
    close(fds[0]);
    harness_wait(harness_stats(&h).connections_open < MOST);
    fds[0] = peer_connect(h.plain);
    autobuf reply = { 0 };
    assert_true(peer_send(fds[0], STR(GET)));
    assert_true(peer_read(fds[0], &reply, 12));
    for (size_t i = 0; i < MOST; i++)
        close(fds[i]);
    harness_stop(&h);
}

static int64_t cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Without descriptors the server waits instead of spinning, and goes on when there are some. */
static void running_out_of_descriptors_does_not_spin(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    harness_start(&h, &opt);
    autoclose int fd = peer_connect(h.plain);
    harness_wait(harness_stats(&h).connections_open == 1);
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = old;
    autoclose int waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    low.rlim_cur = (rlim_t)waiting + 1; /* what is open stays open, nothing more can be */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct sockaddr_storage to;
    socklen_t to_n = sizeof(to);
    assert_int_equal(getpeername(fd, (struct sockaddr *)&to, &to_n), 0);
    assert_int_equal(connect(waiting, (struct sockaddr *)&to, to_n), 0);
    int64_t before = cpu_ms();
    harness_sleep_ms(600);
    int64_t used = cpu_ms() - before;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_true(used < 300);
    autobuf reply = { 0 };
    assert_true(peer_send(waiting, STR(GET)));
    assert_true(peer_read(waiting, &reply, 12));
    harness_stop(&h);
}

static void connections_are_dealt_to_all_loops(void **state)
{
    (void)state;
    enum { MANY = 40 };
    struct harness_options opt = harness_defaults();
    opt.n_loops = 2;
    opt.tls = true;
    harness_start(&h, &opt);
    int fds[MANY];
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = peer_connect(h.plain);
        assert_true(peer_send(fds[i], STR("GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    }
    for (size_t i = 0; i < MANY; i++) {
        autobuf reply = { 0 };
        assert_true(peer_read(fds[i], &reply, 12));
        assert_int_equal(h1_status(buf_str(&reply)), 200);
        close(fds[i]);
    }
    harness_stop(&h);
}

/* ---- Addresses ---- */

static void ignore(void *arg, struct http_exchange *x)
{
    (void)arg;
    http_abort(x);
}

static void addresses_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        int result;
    } rows[] = {
        { "127.0.0.1:0", 0 },
        { "127.1.2.3:0", 0 },
        { "[::1]:0", 0 },
        { "0.0.0.0:0", -ERR_FORBIDDEN }, /* not without TLS */
        { "[::]:0", -ERR_FORBIDDEN },
        { "192.0.2.1:0", -ERR_FORBIDDEN },
        { "127.0.0.1", -ERR_INVALID },
        { "127.0.0.1:65536", -ERR_INVALID },
        { "127.0.0.1:x", -ERR_INVALID },
        { "localhost:0", -ERR_INVALID },
        { "::1:0", -ERR_INVALID },
        { "", -ERR_INVALID },
        { "unix:", -ERR_INVALID },
    };
    struct arena a;
    arena_init(&a);
    struct loop *l = loop_new(NULL, NULL);
    struct http_server_options opt = { .handler.on_request = ignore, .loops = &l, .n_loops = 1 };
    struct http_server *s = http_server_new(&opt);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct str bound = { NULL, 0 };
        int r = http_server_listen(s, str_of(rows[i].address), NULL, &a, &bound, &err);
        if (r != rows[i].result &&
            !(r == -ERR_IO && str_starts(str_of(rows[i].address), STR("[::1]"))))
            fail_msg("%s: got %d", rows[i].address, r);
        if (r == 0)
            assert_false(str_ends(bound, STR(":0")));
    }
    http_server_free(s);
    loop_free(l);
    arena_done(&a);
}

static void unix_sockets_are_private_and_stale_ones_replaced(void **state)
{
    (void)state;
    char dir[] = "/tmp/sampan-net-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct arena a;
    arena_init(&a);
    struct str address = arena_printf(&a, "unix:%s/s.sock", dir);
    const char *path = str_cstr(&a, str_skip(address, 5));
    struct loop *l = loop_new(NULL, NULL);
    struct http_server_options so = { .handler.on_request = ignore, .loops = &l, .n_loops = 1 };
    struct http_server *s = http_server_new(&so);
    struct err err = ERR_INIT(&a);
    assert_int_equal(http_server_listen(s, address, NULL, &a, NULL, &err), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct http_server *second = http_server_new(&so);
    assert_true(http_server_listen(second, address, NULL, &a, NULL, &err) < 0); /* in use */
    /* A socket that a dead process left behind: same file, nobody listens. */
    char other[128];
    (void)snprintf(other, sizeof(other), "%s.old", path);
    assert_int_equal(rename(path, other), 0);
    http_server_free(s);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(http_server_listen(second, address, NULL, &a, NULL, &err), 0);
    http_server_free(second);
    assert_int_equal(stat(path, &st), -1); /* removed at the end */
    assert_int_equal(errno, ENOENT);
    loop_free(l);
    arena_done(&a);
    rmdir(dir);
}

/* ---- Drain ---- */

static void a_drain_lets_running_exchanges_end(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    struct h2_peer p, idle;
    struct h2_frame f;
    autobuf b = { 0 };
    opt.n_loops = 2;
    harness_start(&h, &opt);
    autoclose int busy = peer_connect(h.plain);
    assert_true(peer_send(busy, STR("GET /stubborn HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    h2_connect(&p, &h);
    h2_connect(&idle, &h);
    h2_add_request(&b, 1, "GET", "/stubborn", true);
    assert_true(h2_send(&p, &b));
    harness_wait(h.n_stubborn == 2);
    harness_drain(&h);
    assert_true(h2_expect(&p, H2_GOAWAY, 0, &f)); /* the notice */
    assert_int_equal(h2_u32(f.payload, 0), 0x7fffffff);
    assert_true(h2_expect(&p, H2_PING, 0, &f));
    h2_add_request(&b, 3, "GET", "/", true); /* was on its way already */
    h2_add(&b, H2_PING, H2_ACK, 0, f.payload);
    assert_true(h2_send(&p, &b));
    assert_int_equal(h2_status(&p, 3), 200);
    assert_true(h2_expect(&p, H2_GOAWAY, 0, &f)); /* the real one */
    assert_int_equal(h2_u32(f.payload, 0), 3);
    harness_release(&h);
    assert_int_equal(h2_status(&p, 1), 200);
    autobuf reply = { 0 };
    assert_true(peer_read_all(busy, &reply, SIZE_MAX));
    assert_int_equal(h1_status(buf_str(&reply)), 200);
    buf_byte(&reply, '\0');
    assert_non_null(strstr(reply.p, "connection: close"));
    h2_close(&p);
    h2_close(&idle);
    harness_stop(&h);
}

/* CVE-2022-27664: garbage after GOAWAY, and clients that never answer; LIMIT_DRAIN_MS */
static void a_drain_has_a_hard_end(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    struct h2_peer p, silent;
    autobuf b = { 0 };
    opt.limits.drain_ms = 300;
    opt.tls = true;
    harness_start(&h, &opt);
    autoclose int half = peer_connect(h.tls); /* a handshake that never comes */
    assert_true(half >= 0);
    autoclose int hold = peer_connect(h.plain);
    assert_true(peer_send(hold, STR(GET_HOLD)));
    h2_connect(&p, &h);
    h2_connect(&silent, &h);
    h2_add_request(&b, 1, "GET", "/hold", true);
    assert_true(h2_send(&p, &b));
    h2_add_request(&b, 1, "GET", "/hold", true);
    assert_true(h2_send(&silent, &b));
    harness_wait(h.running == 3);
    harness_drain(&h);
    assert_true(h2_goaway_code(&p) >= 0);
    static char garbage[1000];
    memset(garbage, 0xff, sizeof(garbage));
    (void)peer_send(p.fd, (struct str){ garbage, sizeof(garbage) });
    int64_t begun = harness_now_ms();
    harness_stop(&h); /* comes back, or the test hangs */
    assert_true(harness_now_ms() - begun < HANG_SECONDS * 1000);
    assert_int_equal(h.running, 0);
    h2_close(&p);
    h2_close(&silent);
}

/* Workers that wait for a reader, and one that looks at nothing, when the time is over. */
static void a_drain_does_not_wait_for_workers(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    opt.limits.drain_ms = 300;
    harness_start(&h, &opt);
    autoclose int slow = peer_connect(h.plain), toil = peer_connect(h.plain),
                  deaf = peer_connect(h.plain);
    assert_true(peer_send(slow, STR("GET /worker?50000000 HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    assert_true(peer_send(toil, STR("GET /toil HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    assert_true(peer_send(deaf, STR("GET /deaf HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    harness_wait(h.started == 2);
    harness_wait(harness_stats(&h).bytes_out > 100000);
    harness_drain(&h);
    harness_wait(h.gone == 1 && h.spent == 1);
    assert_true(peer_wait_closed(deaf)); /* though its worker is still there */
    h.let_go = true;
    harness_stop(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_share_one_budget),
        cmocka_unit_test(slow_headers_are_dropped),
        cmocka_unit_test(a_silent_client_is_dropped),
        cmocka_unit_test(slow_header_blocks_are_dropped),
        cmocka_unit_test(idle_connections_are_closed),
        cmocka_unit_test(a_running_exchange_is_not_idle),
        cmocka_unit_test(a_body_that_stops_coming_is_dropped),
        cmocka_unit_test(a_reader_that_stops_is_dropped),
        cmocka_unit_test(a_reader_that_is_slow_is_served),
        cmocka_unit_test(unfinished_handshakes_are_dropped),
        cmocka_unit_test(unfinished_handshakes_do_not_keep_others_out),
        cmocka_unit_test(idle_connections_make_room),
        cmocka_unit_test(connections_past_the_limit_are_refused),
        cmocka_unit_test(running_out_of_descriptors_does_not_spin),
        cmocka_unit_test(connections_are_dealt_to_all_loops),
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(unix_sockets_are_private_and_stale_ones_replaced),
        cmocka_unit_test(a_drain_lets_running_exchanges_end),
        cmocka_unit_test(a_drain_has_a_hard_end),
        cmocka_unit_test(a_drain_does_not_wait_for_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
