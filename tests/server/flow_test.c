/* Priority and fairness of a running server: who waits for whom, what the turned away are told, and
 * that nothing is left when clients leave.
 *
 * A request holds its seat while the server waits for its body. With Expect: 100-continue the
 * client sees when that begins, so that a test can say in which order requests are taken. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../net/harness.h"
#include "base/idiom.h"
#include "server/server.h"

enum { SEATS = 3, NOISY_MOST = 1000 };

static struct arena arena;
static struct server *server;
static char token_file[] = "/tmp/sampan-flow-tokens.XXXXXX";
static size_t n_noisy = NOISY_MOST;

static void start(struct flow_options flow)
{
    struct err err = ERR_INIT(&arena);
    const struct server_options options = {
        .store = { .engine = STORE_MEMORY },
        .listen = STR("127.0.0.1:0"),
        .n_loops = 2,
        .authorization = { .modes = { { GUARD_ALWAYS_ALLOW }, 1 } },
        .identity = { .token_file = token_file },
        .flow = flow,
    };
    if (server_start(&options, &server, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
}

static void stop(void)
{
    assert_null(server_stop(server));
}

static int setup(void **state)
{
    (void)state;
    static const char tokens[] = "admin-token,admin,1,system:masters\nnoisy-token,noisy,2\n"
                                 "quiet-token,quiet,3\n";
    struct rlimit files;
    arena_init(&arena);
    (void)signal(SIGPIPE, SIG_IGN);
    int fd = mkstemp(token_file);
    assert_int_equal(write(fd, tokens, sizeof(tokens) - 1), sizeof(tokens) - 1);
    close(fd);
    /* Both ends of each connection are in this process. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
        if (files.rlim_cur < 2 * NOISY_MOST + 200)
            n_noisy = (files.rlim_cur - 200) / 2;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(token_file);
    arena_done(&arena);
    return 0;
}

/* ---- Clients ---- */

/* Sends a request of which the answer is read later, up to the end of the connection. */
static int begin(const char *who, const char *method, const char *path, const char *more,
                 const char *body)
{
    int fd = peer_connect(server_address(server));
    struct str head = arena_printf(&arena,
                                   "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                                   "%s-token\r\nConnection: close\r\n"
                                   "Content-Type: application/json\r\n%s\r\n%s",
                                   method, path, who, more, body);
    assert_true(peer_send(fd, head));
    return fd;
}

static struct str finish(int fd)
{
    autobuf in = { 0 };
    (void)peer_read_all(fd, &in, 1 << 20);
    close(fd);
    return arena_str(&arena, buf_str(&in));
}

static struct str ask(const char *who, const char *method, const char *path, const char *body)
{
    struct str length = arena_printf(&arena, "Content-Length: %zu\r\n", strlen(body));
    return finish(begin(who, method, path, body[0] ? str_cstr(&arena, length) : "", body));
}

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

/* One whose body never comes. */
static int begin_write(const char *who)
{
    return begin(who, "POST", CONFIG_MAPS, "Content-Length: 100\r\nExpect: 100-continue\r\n", "");
}

static bool is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, 0) > 0;
}

static void expect_status(struct str reply, int status)
{
    if (h1_status(reply) != status)
        fail_msg("%d: " STR_FMT, h1_status(reply), STR_ARG(reply));
}

static bool has(struct str text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part));
}

/* ---- Levels ---- */

static void make(const char *resource, const char *json)
{
    struct str path = arena_printf(&arena, "/apis/flowcontrol.apiserver.k8s.io/v1/%s", resource);
    expect_status(ask("admin", "POST", str_cstr(&arena, path), json), 201);
}

/* A level with SEATS seats of its own, neither lent nor borrowed, for everybody but the admin. */
static void make_level(const char *response)
{
    struct str level = arena_printf(
        &arena,
        "{\"metadata\":{\"name\":\"tight\"},\"spec\":{\"type\":\"Limited\",\"limited\":{"
        "\"nominalConcurrencyShares\":1,\"lendablePercent\":0,\"borrowingLimitPercent\":0,"
        "\"limitResponse\":%s}}}",
        response);
    make("prioritylevelconfigurations", str_cstr(&arena, level));
    make("flowschemas",
         "{\"metadata\":{\"name\":\"tight\"},\"spec\":{\"matchingPrecedence\":10,"
         "\"priorityLevelConfiguration\":{\"name\":\"tight\"},\"distinguisherMethod\":{\"type\":"
         "\"ByUser\"},\"rules\":[{\"subjects\":[{\"kind\":\"User\",\"user\":{\"name\":\"noisy\"}},"
         "{\"kind\":\"User\",\"user\":{\"name\":\"quiet\"}}],\"resourceRules\":[{\"verbs\":[\"*\"],"
         "\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"clusterScope\":true,\"namespaces\":[\"*\"]}"
         "]}]}}");
}

#define QUEUES(n, hand, length)                                              \
    "{\"type\":\"Queue\",\"queuing\":{\"queues\":" #n ",\"handSize\":" #hand \
    ",\"queueLengthLimit\":" #length "}}"

/* A column of the level's row in dump_priority_levels: 4 waiting, 5 executing. A level that was
 * deleted is gone with its last request: then there is nobody in it. */
static size_t level_number(size_t column)
{
    struct str page =
        h1_body(ask("admin", "GET", "/debug/api_priority_and_fairness/dump_priority_levels", ""));
    while (page.n) {
        struct str line = str_cut(&page, '\n');
        uint64_t n = 0;
        if (!str_starts(line, STR("tight,")))
            continue;
        for (size_t i = 0; i < column; i++)
            (void)str_cut(&line, ',');
        assert_true(str_to_u64(str_trim(str_cut(&line, ',')), &n));
        return n;
    }
    return 0;
}

#define waiting()   level_number(4)
#define executing() level_number(5)

/* ---- Fairness ---- */

static int noisy[NOISY_MOST + SEATS];

/* How many of the noisy tenant's writes are begun before the quiet tenant's read is answered. */
static size_t begun_before_quiet(const char *queues)
{
    start((struct flow_options){ .wait_ms = 30000 });
    make_level(queues);
    for (size_t i = 0; i < SEATS; i++)
        noisy[i] = begin_write("noisy");
    harness_wait(executing() == SEATS);
    for (size_t i = SEATS; i < n_noisy; i++)
        noisy[i] = begin_write("noisy");
    harness_wait(waiting() == n_noisy - SEATS);
    int quiet = begin("quiet", "GET", CONFIG_MAPS, "", "");
    harness_wait(waiting() == n_noisy - SEATS + 1);
    size_t n = 0;
    while (!is_readable(quiet)) { /* one seat after the other comes free */
        for (size_t i = 0; i < n_noisy && !is_readable(quiet); i++) {
            if (noisy[i] < 0 || !is_readable(noisy[i]))
                continue;
            close(noisy[i]);
            noisy[i] = -1;
            n++;
            harness_wait(executing() == SEATS || is_readable(quiet));
        }
    }
    expect_status(finish(quiet), 200);
    for (size_t i = 0; i < n_noisy; i++)
        if (noisy[i] >= 0)
            close(noisy[i]);
    harness_wait(waiting() == 0 && executing() == 0); /* who leaves, leaves the queue */
    stop();
    return n;
}

static void a_thousand_clients_of_one_tenant_do_not_delay_another(void **state)
{
    (void)state;
    size_t fair = begun_before_quiet(QUEUES(64, 6, 1000));
    n_noisy = n_noisy > 100 ? 100 : n_noisy; /* one after the other, that takes long */
    size_t unfair = begun_before_quiet(QUEUES(1, 1, 1000));
    print_message(
        "%zu of the noisy tenant's requests were begun before the quiet one's; %zu of 100 "
        "with one queue for both\n",
        fair, unfair);
    assert_in_range(fair, SEATS, SEATS + 12);
    assert_in_range(unfair, n_noisy - SEATS, n_noisy);
}

/* ---- Being turned away ---- */

static void without_queues_the_next_one_is_turned_away(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    make_level("{\"type\":\"Reject\"}");
    for (size_t i = 0; i < SEATS; i++)
        noisy[i] = begin_write("noisy");
    harness_wait(executing() == SEATS);
    struct str reply = ask("quiet", "GET", CONFIG_MAPS, "");
    expect_status(reply, 429);
    assert_true(has(reply, "\r\nretry-after: 1\r\n"));
    assert_true(has(reply, "\r\nx-kubernetes-pf-flowschema-uid: "));
    assert_true(has(reply, "\r\nx-kubernetes-pf-prioritylevel-uid: "));
    assert_true(has(reply, "\r\n\r\nToo many requests, please try again later.\n"));
    expect_status(ask("admin", "GET", CONFIG_MAPS, ""), 200);
    struct str metrics = h1_body(ask("admin", "GET", "/metrics", ""));
    assert_true(has(metrics,
                    "apiserver_flowcontrol_rejected_requests_total{priority_level=\"tight\","
                    "flow_schema=\"tight\",reason=\"concurrency-limit\"} 1\n"));
    assert_true(has(metrics, "apiserver_flowcontrol_current_executing_requests{priority_level="
                             "\"tight\",flow_schema=\"tight\"} 3\n"));
    for (size_t i = 0; i < SEATS; i++)
        close(noisy[i]);
    harness_wait(executing() == 0);
    expect_status(ask("quiet", "GET", CONFIG_MAPS, ""), 200);
    stop();
}

static void who_waits_too_long_is_turned_away(void **state)
{
    (void)state;
    start((struct flow_options){ .wait_ms = 50 });
    make_level(QUEUES(8, 2, 10));
    for (size_t i = 0; i < SEATS; i++)
        noisy[i] = begin_write("noisy");
    harness_wait(executing() == SEATS);
    expect_status(ask("quiet", "GET", CONFIG_MAPS, ""), 429);
    /* Nobody takes the body of who waits. */
    expect_status(ask("quiet", "POST", CONFIG_MAPS, "{\"metadata\":{\"name\":\"late\"}}"), 429);
    assert_int_equal(waiting(), 0);
    for (size_t i = 0; i < SEATS; i++)
        close(noisy[i]);
    harness_wait(executing() == 0);
    expect_status(ask("quiet", "GET", CONFIG_MAPS "/late", ""), 404);
    stop();
}

/* ---- Waiting ---- */

/* A body that came while its request waited is there when it goes on. */
static void who_waited_is_served_with_its_body(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    make_level(QUEUES(8, 2, 10));
    for (size_t i = 0; i < SEATS; i++)
        noisy[i] = begin_write("noisy");
    harness_wait(executing() == SEATS);
    int quiet = begin("quiet", "POST", CONFIG_MAPS, "Content-Length: 29\r\n",
                      "{\"metadata\":{\"name\":\"later\"}}");
    harness_wait(waiting() == 1);
    struct str requests =
        h1_body(ask("admin", "GET",
                    "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1", ""));
    assert_true(has(requests, "FlowDistingsher,"));
    assert_true(has(requests, " quiet, "));
    assert_true(has(requests, " create, "));
    close(noisy[0]);
    expect_status(finish(quiet), 201);
    expect_status(ask("admin", "GET", CONFIG_MAPS "/later", ""), 200);
    for (size_t i = 1; i < SEATS; i++)
        close(noisy[i]);
    harness_wait(executing() == 0);
    stop();
}

static void a_watch_takes_a_seat_only_to_begin(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    make_level("{\"type\":\"Reject\"}");
    int watches[2 * SEATS];
    for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
        autobuf in = { 0 };
        watches[i] = begin("noisy", "GET", CONFIG_MAPS "?watch=1", "", "");
        assert_true(peer_read(watches[i], &in, 12));
        assert_int_equal(h1_status(buf_str(&in)), 200);
        harness_wait(executing() == 0);
    }
    expect_status(ask("quiet", "GET", CONFIG_MAPS, ""), 200);
    for (size_t i = 0; i < ARRAY_LEN(watches); i++)
        close(watches[i]);
    stop();
}

static bool is_seat_taken(void)
{
    return !has(h1_body(ask("admin", "GET", "/metrics", "")),
                "apiserver_flowcontrol_current_executing_seats{priority_level=\"tight\"} 0\n");
}

/* What a write causes takes seats, too, for a while; all of them come back, or the server stops
 * before that. */
static void a_write_that_many_watch_keeps_its_seats_for_a_while(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    make_level("{\"type\":\"Reject\"}");
    int watches[25];
    for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
        autobuf in = { 0 };
        watches[i] = begin("admin", "GET", CONFIG_MAPS "?watch=1", "", "");
        assert_true(peer_read(watches[i], &in, 12));
    }
    expect_status(ask("noisy", "POST", CONFIG_MAPS, "{\"metadata\":{\"name\":\"a\"}}"), 201);
    harness_wait(!is_seat_taken());
    expect_status(ask("noisy", "POST", CONFIG_MAPS, "{\"metadata\":{\"name\":\"b\"}}"), 201);
    for (size_t i = 0; i < ARRAY_LEN(watches); i++)
        close(watches[i]);
    stop();
}

/* ---- Changes ---- */

static struct str schema_uid(const char *who)
{
    struct str reply = ask(who, "GET", CONFIG_MAPS, ""),
               name = STR("x-kubernetes-pf-flowschema-uid: ");
    while (reply.n) {
        struct str line = str_trim(str_cut(&reply, '\n'));
        if (str_starts(line, name))
            return str_skip(line, name.n);
    }
    return STR("");
}

/* A schema counts for the next request after it was made, and no longer after it was deleted. Its
 * level goes when nobody uses it. */
static void a_change_counts_at_once(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    struct str before = schema_uid("quiet"), admin = schema_uid("admin");
    assert_true(before.n && admin.n && !str_eq(before, admin));
    for (int i = 0; i < 3; i++) {
        make_level(QUEUES(8, 2, 10));
        int held = begin_write("noisy");
        harness_wait(executing() == 1);
        struct str with = schema_uid("quiet");
        assert_true(with.n && !str_eq(with, before));
        expect_status(
            ask("admin", "DELETE", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/tight", ""),
            200);
        expect_status(ask("admin", "DELETE",
                          "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/tight",
                          ""),
                      200);
        assert_true(str_eq(schema_uid("quiet"), before));
        assert_int_equal(executing(), 1); /* it still has its seat */
        close(held);
        harness_wait(executing() == 0);
    }
    stop();
}

/* ---- What is kept in order ---- */

#define FLOWS "/apis/flowcontrol.apiserver.k8s.io/v1/"

/* Until the object has that in it; the time only guards against hanging. */
static void wait_for(const char *path, const char *part)
{
    struct str got = STR("");
    for (int i = 0; i < 2000 && !has(got, part); i++) {
        (void)poll(NULL, 0, i ? 5 : 0);
        got = ask("admin", "GET", path, "");
    }
    if (!has(got, part))
        fail_msg("no %s in " STR_FMT, part, STR_ARG(got));
}

static void mandatory_objects_come_back(void **state)
{
    (void)state;
    start((struct flow_options){ 0 });
    expect_status(ask("admin", "DELETE", FLOWS "flowschemas/catch-all", ""), 200);
    wait_for(FLOWS "flowschemas/catch-all", "\"matchingPrecedence\":10000");
    expect_status(ask("admin", "DELETE", FLOWS "prioritylevelconfigurations/exempt", ""), 200);
    wait_for(FLOWS "prioritylevelconfigurations/exempt", "\"type\":\"Exempt\"");
    wait_for(FLOWS "flowschemas/exempt", "\"reason\":\"Found\"");
    stop();
}

static void a_schema_says_whether_its_level_is_there(void **state)
{
    static const char path[] = FLOWS "flowschemas/lonely";
    (void)state;
    start((struct flow_options){ 0 });
    make("flowschemas",
         "{\"metadata\":{\"name\":\"lonely\"},\"spec\":{\"priorityLevelConfiguration\":"
         "{\"name\":\"later\"},\"matchingPrecedence\":900}}");
    wait_for(path, "\"type\":\"Dangling\",\"status\":\"True\"");
    wait_for(path, "object named \\\"later\\\" but there is no such object");
    make("prioritylevelconfigurations",
         "{\"metadata\":{\"name\":\"later\"},\"spec\":{\"type\":\"Limited\",\"limited\":"
         "{\"limitResponse\":{\"type\":\"Reject\"}}}}");
    wait_for(path, "\"type\":\"Dangling\",\"status\":\"False\"");
    wait_for(path, "\"reason\":\"Found\"");
    expect_status(ask("admin", "DELETE", FLOWS "prioritylevelconfigurations/later", ""), 200);
    wait_for(path, "\"reason\":\"NotFound\"");
    stop();
}

static void without_fairness_there_are_two_limits(void **state)
{
    (void)state;
    start((struct flow_options){ .is_off = true, .reads = 5, .writes = 1 });
    int held = begin_write("noisy");
    autobuf in = { 0 };
    assert_true(peer_read(held, &in, 12)); /* it is its turn */
    struct str reply = ask("quiet", "POST", CONFIG_MAPS, "{\"metadata\":{\"name\":\"x\"}}");
    expect_status(reply, 429);
    assert_false(has(reply, "x-kubernetes-pf-"));
    expect_status(ask("quiet", "GET", CONFIG_MAPS, ""), 200);
    expect_status(ask("admin", "POST", CONFIG_MAPS, "{\"metadata\":{\"name\":\"x\"}}"), 201);
    close(held);
    stop();
}

/* ---- Times, printed only ---- */

static atomic_bool is_over;

static void *make_noise(void *arg)
{
    struct str request = *(const struct str *)arg;
    int fds[64];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = peer_connect(server_address(server));
    while (!atomic_load(&is_over)) {
        for (size_t i = 0; i < ARRAY_LEN(fds); i++)
            (void)peer_send(fds[i], request);
        for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
            autobuf in = { 0 };
            (void)peer_read(fds[i], &in, 1 << 14);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The time that 99 of 100 reads of the quiet tenant take, in microseconds. */
static long quiet_p99(const char *queues)
{
    enum { TIMES = 200 };
    static int64_t took[TIMES];
    struct str list = STR("GET " CONFIG_MAPS " HTTP/1.1\r\nHost: localhost\r\n"
                          "Authorization: Bearer noisy-token\r\n\r\n");
    pthread_t thread;
    start((struct flow_options){ 0 });
    make_level(queues);
    for (int i = 0; i < 50; i++) {
        struct str body = arena_printf(
            &arena, "{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"k\":\"%0400d\"}}", i, i);
        expect_status(ask("admin", "POST", CONFIG_MAPS, str_cstr(&arena, body)), 201);
    }
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, make_noise, &list), 0);
    for (int i = 0; i < TIMES; i++) {
        int64_t before = clock_mono_ns(&clock_system);
        expect_status(ask("quiet", "GET", CONFIG_MAPS "/c1", ""), 200);
        took[i] = clock_mono_ns(&clock_system) - before;
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    stop();
    qsort(took, TIMES, sizeof(took[0]), by_size);
    return (long)(took[TIMES * 99 / 100] / 1000);
}

static void times_under_noise(void **state)
{
    (void)state;
    long fair = quiet_p99(QUEUES(64, 6, 100)), unfair = quiet_p99(QUEUES(1, 1, 100));
    print_message("p99 of the quiet tenant: %ld us; with one queue for both: %ld us\n", fair,
                  unfair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_queues_the_next_one_is_turned_away),
        cmocka_unit_test(who_waits_too_long_is_turned_away),
        cmocka_unit_test(who_waited_is_served_with_its_body),
        cmocka_unit_test(a_watch_takes_a_seat_only_to_begin),
        cmocka_unit_test(a_write_that_many_watch_keeps_its_seats_for_a_while),
        cmocka_unit_test(a_change_counts_at_once),
        cmocka_unit_test(mandatory_objects_come_back),
        cmocka_unit_test(a_schema_says_whether_its_level_is_there),
        cmocka_unit_test(without_fairness_there_are_two_limits),
        cmocka_unit_test(a_thousand_clients_of_one_tenant_do_not_delay_another),
        cmocka_unit_test(times_under_noise),
    };
    return cmocka_run_group_tests_name("flow", tests, setup, teardown);
}
