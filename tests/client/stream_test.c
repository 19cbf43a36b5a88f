/* Streams to pods against a server in this process that plays the kubelet's part. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/stream.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "net/ws/ws.h"
#include "scripted.h"

#define EXIT_STATUS(code)                                                                     \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"message\":" \
    "\"command terminated with exit code " code "\",\"details\":{\"causes\":[{\"reason\":"    \
    "\"ExitCode\",\"message\":\"" code "\"}]}}"

struct kubelet {
    bool is_old; /* knows no v5 */
    bool has_no_logs;
    char query[512], path[128], agent[64];
};

static void say(struct ws *ws, unsigned channel, struct str text)
{
    autobuf message = { 0 };
    buf_byte(&message, (char)channel);
    buf_str_add(&message, text);
    ws_send(ws, WS_BINARY, buf_str(&message));
}

static void end(struct ws *ws, const char *status)
{
    if (status)
        say(ws, 3, str_of(status));
    ws_close(ws, 1000, STR(""));
}

/* A shell of few words: what comes in goes out, and some words end it. */
static void on_message(void *arg, struct ws *ws, enum ws_type type, struct str message)
{
    (void)arg;
    (void)type;
    assert_true(message.n > 0);
    unsigned channel = (unsigned char)message.p[0];
    struct str data = str_skip(message, 1);
    if (channel == 255)
        say(ws, 2, data.n == 1 && data.p[0] == 0 ? STR("no more input") : STR("what?"));
    if (channel == 4)
        say(ws, 1, data);
    if (channel != 0 && channel != 255)
        return;
    if (channel == 255 || str_eq(data, STR("exit 0")))
        end(ws, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    else if (str_eq(data, STR("exit 3")))
        end(ws, EXIT_STATUS("3"));
    else if (str_eq(data, STR("crash")))
        end(ws, NULL);
    else
        say(ws, 1, data);
}

/* The other end of a port repeats everything, and complains of everything. */
static void on_forwarded(void *arg, struct ws *ws, enum ws_type type, struct str message)
{
    (void)arg;
    (void)type;
    unsigned channel = (unsigned char)message.p[0];
    say(ws, channel, str_skip(message, 1));
    say(ws, channel + 1, STR("a complaint"));
}

static void on_close(void *arg, struct ws *ws, unsigned code)
{
    (void)arg;
    (void)ws;
    (void)code;
}

static void copy(char *to, size_t room, struct str s)
{
    s = str_take(s, room - 1);
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
}

static void on_socket(void *arg, struct http_exchange *x)
{
    struct kubelet *k = arg;
    const struct http_request *req = http_request_of(x);
    copy(k->query, sizeof(k->query), req->query);
    copy(k->path, sizeof(k->path), req->path);
    copy(k->agent, sizeof(k->agent), http_header_get(req, STR("user-agent")));
    const struct str protocols[] = { STR("v5.channel.k8s.io"), STR("v4.channel.k8s.io") };
    bool is_forward = str_ends(req->path, STR("/portforward"));
    bool is_old = k->is_old || is_forward;
    const struct ws_handler handler = { .arg = k,
                                        .on_message = is_forward ? on_forwarded : on_message,
                                        .on_close = on_close };
    struct ws *ws = ws_accept(x, is_old ? &protocols[1] : protocols, is_old ? 1 : 2, &handler);
    if (!ws)
        return;
    for (unsigned i = 0; is_forward && i < 4; i++) /* each channel's port, low byte first */
        say(ws, i, i < 2 ? STR("\x50\x00") : STR("\xbb\x01"));
}

static struct scripted_answer refuse(void *arg, const struct http_request *req, struct arena *a)
{
    const struct kubelet *k = arg;
    (void)a;
    if (str_ends(req->path, STR("/log")) && !k->has_no_logs)
        return (struct scripted_answer){ .status = 200, .body = STR("line 1\nline 2\n") };
    return scripted_json(403, "{\"kind\":\"Status\",\"message\":\"no exec for you\",\"reason\":"
                              "\"Forbidden\",\"details\":{\"name\":\"pod\",\"kind\":\"pods\"},"
                              "\"code\":403}");
}

static struct kubelet kubelet;
static struct scripted *server;
static struct spn_client *client;
static struct spn_err err;

static int setup(void **state)
{
    kubelet = (struct kubelet){ 0 };
    server = scripted_start(refuse, &kubelet);
    scripted_on_socket(server, on_socket);
    const struct spn_config cfg = { .server = spn_text_of(scripted_url(server)),
                                    .user_agent = SPN_TEXT("streamer") };
    assert_int_equal(spn_client_new(&cfg, &client, &err), 0);
    return suite_arena_setup(state);
}

static int teardown(void **state)
{
    client = spn_client_free(client);
    scripted_stop(server);
    return suite_arena_teardown(state);
}

static const struct spn_text shell[] = { { "sh", 2 }, { "-c", 2 }, { "a&b", 3 } };
static const struct spn_run run = {
    .container = "main", .command = { shell, 3 }, .in = true, .out = true, .err = true
};

static struct spn_stream *exec_shell(struct spn_arena *a, struct spn_stop *stop)
{
    struct spn_stream *s;
    if (spn_client_exec(client, SPN_TEXT("ns"), SPN_TEXT("pod"), &run, stop, a, &s, &err) < 0)
        fail_msg("%s", err.message);
    return s;
}

static void put(struct spn_stream *s, const char *text)
{
    if (spn_stream_write(s, SPN_CHANNEL_IN, spn_text_of(text), &err) < 0)
        fail_msg("%s", err.message);
}

static void expect(struct spn_arena *a, struct spn_stream *s, unsigned channel, const char *text)
{
    struct spn_piece piece;
    int r = spn_stream_read(s, 30000, a, &piece, &err);
    if (r != 1)
        fail_msg("%d: %s", r, r < 0 ? err.message : "the end");
    assert_int_equal(piece.channel, channel);
    assert_text(piece.data, text);
}

static void commands(void **state)
{
    struct spn_arena *a = *state;
    struct spn_stream *s = exec_shell(a, NULL);
    struct spn_piece piece;
    assert_string_equal(kubelet.path, "/api/v1/namespaces/ns/pods/pod/exec");
    assert_string_equal(kubelet.query, "container=main&command=sh&command=-c&command=a%26b&"
                                       "stdin=true&stdout=true&stderr=true");
    assert_string_equal(kubelet.agent, "streamer");
    put(s, "hello");
    expect(a, s, SPN_CHANNEL_OUT, "hello");
    assert_int_equal(spn_stream_resize(s, 80, 25, &err), 0);
    expect(a, s, SPN_CHANNEL_OUT, "{\"Width\":80,\"Height\":25}");
    assert_int_equal(spn_stream_read(s, 10, a, &piece, &err), -SPN_TIMEOUT);
    assert_int_equal(spn_stream_exit_code(s), -1);
    assert_int_equal(spn_stream_close(s, SPN_CHANNEL_IN, &err), 0);
    expect(a, s, SPN_CHANNEL_ERR, "no more input");
    assert_int_equal(spn_stream_read(s, 30000, a, &piece, &err), 0);
    assert_int_equal(spn_stream_exit_code(s), 0);
    assert_int_equal(spn_stream_read(s, 30000, a, &piece, &err), 0); /* and stays so */
    spn_stream_free(s);
}

static void failing(void **state)
{
    struct spn_arena *a = *state;
    struct spn_stream *s = exec_shell(a, NULL);
    struct spn_piece piece;
    put(s, "exit 3");
    assert_int_equal(spn_stream_read(s, 30000, a, &piece, &err), -SPN_SERVER_ERROR);
    assert_string_equal(err.reason, "NonZeroExitCode");
    assert_string_equal(err.message, "command terminated with exit code 3");
    const struct spn_value *causes = spn_value_dig(err.status, "details", "causes");
    assert_text(spn_value_text(spn_value_get(spn_value_at(causes, 0), "reason")), "ExitCode");
    assert_int_equal(spn_stream_exit_code(s), 3);
    spn_stream_free(s);
    s = exec_shell(a, NULL);
    put(s, "crash");
    assert_int_equal(spn_stream_read(s, 30000, a, &piece, &err), -SPN_UNAVAILABLE);
    spn_stream_free(s);
}

static void old_server(void **state)
{
    struct spn_arena *a = *state;
    kubelet.is_old = true;
    struct spn_stream *s = exec_shell(a, NULL);
    put(s, "hello");
    expect(a, s, SPN_CHANNEL_OUT, "hello");
    assert_int_equal(spn_stream_close(s, SPN_CHANNEL_IN, &err), -SPN_UNSUPPORTED);
    spn_stream_free(s);
}

/* More than fits into one message comes through whole. */
static void much(void **state)
{
    enum { BYTES = 300000 };
    struct spn_arena *a = *state;
    struct spn_stream *s = exec_shell(a, NULL);
    char *text = spn_arena_alloc(a, BYTES + 1);
    for (size_t i = 0; i < BYTES; i++)
        text[i] = (char)('a' + i * 7 % 26);
    put(s, text);
    size_t n = 0;
    while (n < BYTES) {
        struct spn_piece piece;
        assert_int_equal(spn_stream_read(s, 30000, a, &piece, &err), 1);
        assert_memory_equal(piece.data.p, text + n, piece.data.n);
        n += piece.data.n;
    }
    assert_int_equal(n, BYTES);
    spn_stream_free(s);
}

static void attaching(void **state)
{
    struct spn_arena *a = *state;
    struct spn_stream *s;
    const struct spn_run terminal = { .in = true, .out = true, .err = true, .tty = true };
    assert_int_equal(
        spn_client_attach(client, SPN_TEXT("ns"), SPN_TEXT("pod"), &terminal, NULL, a, &s, &err),
        0);
    assert_string_equal(kubelet.path, "/api/v1/namespaces/ns/pods/pod/attach");
    assert_string_equal(kubelet.query, "stdin=true&stdout=true&tty=true");
    put(s, "x");
    expect(a, s, SPN_CHANNEL_OUT, "x");
    spn_stream_free(s);
}

static void forwarding(void **state)
{
    struct spn_arena *a = *state;
    const uint16_t ports[] = { 80, 443 };
    struct spn_stream *s;
    assert_int_equal(
        spn_client_forward(client, SPN_TEXT("ns"), SPN_TEXT("pod"), ports, 2, NULL, a, &s, &err),
        0);
    assert_string_equal(kubelet.query, "ports=80&ports=443");
    assert_int_equal(spn_stream_write(s, 2, SPN_TEXT("to 443"), &err), 0);
    expect(a, s, 2, "to 443");
    expect(a, s, 3, "a complaint"); /* no Status here */
    assert_int_equal(spn_stream_write(s, 0, SPN_TEXT("to 80"), &err), 0);
    expect(a, s, 0, "to 80");
    spn_stream_free(s);
}

static void *set_soon(void *stop)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000000 }, NULL);
    spn_stop_set(stop);
    return NULL;
}

static void stopping(void **state)
{
    struct spn_arena *a = *state;
    struct spn_stop *stop = spn_stop_new();
    struct spn_stream *s = exec_shell(a, stop);
    struct spn_piece piece;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, set_soon, stop), 0);
    assert_int_equal(spn_stream_read(s, -1, a, &piece, &err), -SPN_CANCELLED);
    (void)pthread_join(thread, NULL);
    spn_stream_free(s);
    assert_int_equal(
        spn_client_exec(client, SPN_TEXT("ns"), SPN_TEXT("pod"), &run, stop, a, &s, &err),
        -SPN_CANCELLED);
    spn_stop_free(stop);
}

static struct scripted_answer silence(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    (void)req;
    (void)a;
    return (struct scripted_answer){ .status = SCRIPTED_SILENCE };
}

/* Also while the handshake is under way. */
static void stopping_early(void **state)
{
    struct spn_arena *a = *state;
    struct scripted *silent = scripted_start(silence, NULL);
    struct spn_client *c;
    struct spn_stream *s;
    struct spn_stop *stop = spn_stop_new();
    pthread_t thread;
    const struct spn_config cfg = { .server = spn_text_of(scripted_url(silent)) };
    assert_int_equal(spn_client_new(&cfg, &c, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, set_soon, stop), 0);
    assert_int_equal(spn_client_exec(c, SPN_TEXT("ns"), SPN_TEXT("pod"), &run, stop, a, &s, &err),
                     -SPN_CANCELLED);
    (void)pthread_join(thread, NULL);
    spn_client_free(c);
    spn_stop_free(stop);
    scripted_stop(silent);
}

/* An error is the server's whole Status, as that of any call. */
static void check_refusal(int r)
{
    assert_int_equal(r, -SPN_FORBIDDEN);
    assert_string_equal(err.message, "no exec for you");
    assert_int_equal(err.http_status, 403);
    assert_non_null(err.status);
    assert_text(spn_value_text(spn_value_dig(err.status, "details", "kind")), "pods");
    assert_text(spn_value_text(spn_value_dig(err.status, "details", "name")), "pod");
    err = (struct spn_err){ 0 };
}

static void refused(void **state)
{
    struct spn_arena *a = *state;
    const struct spn_text ns = SPN_TEXT("ns"), pod = SPN_TEXT("pod");
    const uint16_t port = 80;
    struct spn_stream *s;
    struct spn_logs *l;
    scripted_on_socket(server, NULL);
    kubelet.has_no_logs = true;
    check_refusal(spn_client_exec(client, ns, pod, &run, NULL, a, &s, &err));
    check_refusal(spn_client_attach(client, ns, pod, &run, NULL, a, &s, &err));
    check_refusal(spn_client_forward(client, ns, pod, &port, 1, NULL, a, &s, &err));
    check_refusal(spn_client_logs(client, ns, pod, NULL, NULL, a, &l, &err));
    assert_int_equal(spn_client_exec(client, ns, SPN_TEXT("a/b"), &run, NULL, a, &s, &err),
                     -SPN_BAD_REQUEST);
    assert_int_equal(spn_client_exec(client, ns, SPN_TEXT(""), &run, NULL, a, &s, &err),
                     -SPN_BAD_REQUEST);
}

/* A writer and a reader at once. */
static void *write_many(void *s)
{
    for (int i = 0; i < 200; i++)
        (void)spn_stream_write(s, SPN_CHANNEL_IN, SPN_TEXT("0123456789"), NULL);
    (void)spn_stream_write(s, SPN_CHANNEL_IN, SPN_TEXT("exit 0"), NULL);
    return NULL;
}

static void both_ways(void **state)
{
    struct spn_arena *a = *state;
    struct spn_stream *s = exec_shell(a, NULL);
    struct spn_piece piece;
    pthread_t thread;
    size_t n = 0;
    int r;
    assert_int_equal(pthread_create(&thread, NULL, write_many, s), 0);
    while ((r = spn_stream_read(s, 30000, a, &piece, &err)) == 1)
        n += piece.data.n;
    assert_int_equal(r, 0);
    assert_int_equal(n, 2000);
    (void)pthread_join(thread, NULL);
    spn_stream_free(s);
}

static void logs(void **state)
{
    struct spn_arena *a = *state;
    const struct spn_log_options opt = { .follow = true, .tail_lines = 2 };
    struct spn_logs *l;
    struct spn_text piece;
    autobuf all = { 0 };
    int r;
    assert_int_equal(
        spn_client_logs(client, SPN_TEXT("ns"), SPN_TEXT("pod"), &opt, NULL, a, &l, &err), 0);
    while ((r = spn_logs_read(l, 30000, a, &piece, &err)) == 1)
        buf_add(&all, piece.p, piece.n);
    assert_int_equal(r, 0);
    assert_true(str_eq(buf_str(&all), STR("line 1\nline 2\n")));
    spn_logs_free(l);
}

#define with_kubelet(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_kubelet(commands), with_kubelet(failing),        with_kubelet(old_server),
        with_kubelet(much),     with_kubelet(attaching),      with_kubelet(forwarding),
        with_kubelet(stopping), with_kubelet(refused),        with_kubelet(both_ways),
        with_kubelet(logs),     with_kubelet(stopping_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
