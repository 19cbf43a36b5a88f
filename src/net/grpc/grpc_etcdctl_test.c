/* The server against a real client: etcdctl, which stands on grpc-go. What it asks is answered
 * from bytes written by hand. */
#include "net/grpc/grpc.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "net/http/solo.h"
#include "base/idiom.h"

static struct arena arena;

static struct {
    struct solo solo;
    struct str address;
} srv;

/* ---- The methods ---- */

/* A header with revision 7, one key with its value, and how many there are. */
#define KEY_VALUE "\x0a\2/a\x2a\5value"
#define RANGE_RESPONSE \
    "\x0a\2\x18\7"     \
    "\x12\x0b" KEY_VALUE "\x20\1"
#define WATCH_CREATED "\x0a\2\x18\7\x18\1"
#define WATCH_EVENT \
    "\x0a\2\x18\7"  \
    "\x5a\x0f\x12\x0d\x0a\2/a\x18\7\x2a\5value"

static void answer_range(void *arg, struct grpc_call *call, struct str message)
{
    (void)arg;
    if (str_ends(message, STR("/a"))) {
        grpc_call_send(call, STR(RANGE_RESPONSE));
        grpc_call_end(call, GRPC_OK, STR(""));
    } else {
        grpc_call_end(call, GRPC_OUT_OF_RANGE, STR("100% \xc3\xa4ther"));
    }
}

static void just_end(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_end(call, GRPC_CANCELLED, STR(""));
}

static void start_range(void *arg, struct grpc_call *call)
{
    (void)arg;
    const struct grpc_call_events events = { .on_message = answer_range, .on_gone = just_end };
    grpc_call_listen(call, &events);
}

static void answer_watch(void *arg, struct grpc_call *call, struct str message)
{
    (void)arg;
    (void)message;
    grpc_call_send(call, STR(WATCH_CREATED));
    grpc_call_send(call, STR(WATCH_EVENT));
    grpc_call_send(call, STR(WATCH_EVENT));
}

static void start_watch(void *arg, struct grpc_call *call)
{
    (void)arg;
    const struct grpc_call_events events = { .on_message = answer_watch, .on_gone = just_end };
    grpc_call_listen(call, &events);
}

static const struct grpc_method methods[] = {
    { "/etcdserverpb.KV/Range", start_range },
    { "/etcdserverpb.Watch/Watch", start_watch },
};

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    (void)x;
    return HTTP_BODY_STREAM;
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    grpc_serve(x, methods, ARRAY_LEN(methods), NULL);
}

/* ---- Server and etcdctl ---- */

static int start_server(void **state)
{
    (void)state;
    arena_init(&arena);
    const struct http_handler handler = { .on_head = on_head, .on_request = on_request };
    if (solo_init(&srv.solo, &handler, NULL, NULL, NULL) < 0 ||
        http_server_listen(srv.solo.http, STR("127.0.0.1:0"), NULL, &arena, &srv.address, NULL) < 0)
        return -1;
    return solo_run(&srv.solo, NULL);
}

static int stop_server(void **state)
{
    (void)state;
    solo_done(&srv.solo);
    arena_done(&arena);
    return 0;
}

static bool holds(struct str s, const char *part)
{
    return s.p && memmem(s.p, s.n, part, strlen(part));
}

/* What it prints, until `stop_at` has been seen or it ends; -1 as code if it had to be ended. */
static struct str etcdctl(const char *verb, const char *key, const char *stop_at, int *ret_code)
{
    int out[2];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    const char *endpoint = str_cstr(&arena, srv.address);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setenv("ETCDCTL_API", "3", 1);
        (void)dup2(out[1], 1);
        (void)dup2(out[1], 2);
        execlp("etcdctl", "etcdctl", "--endpoints", endpoint, verb, key, (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    struct buf text = { 0 };
    ssize_t n = 1;
    while (n > 0 && !holds(buf_str(&text), stop_at)) {
        buf_reserve(&text, 4096);
        n = read(out[0], text.p + text.n, 4096);
        text.n += n > 0 ? (size_t)n : 0;
    }
    int status = 0;
    if (n > 0)
        (void)kill(pid, SIGKILL);
    (void)close(out[0]);
    (void)waitpid(pid, &status, 0);
    *ret_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    struct str printed = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    if (*ret_code == 127) {
        print_message("etcdctl is not installed\n");
        skip();
    }
    return printed;
}

/* ---- The tests ---- */

static void get(void **state)
{
    (void)state;
    int code;
    struct str text = etcdctl("get", "/a", "never printed", &code);
    assert_true(str_eq(text, STR("/a\nvalue\n")));
    assert_int_equal(code, 0);
}

static void errors_arrive_with_their_text(void **state)
{
    (void)state;
    int code;
    struct str text = etcdctl("get", "/b", "never printed", &code);
    assert_true(holds(text, "OutOfRange"));
    assert_true(holds(text, "100% \xc3\xa4ther"));
    assert_int_equal(code, 1);
    text = etcdctl("del", "/b", "never printed", &code);
    assert_true(holds(text, "Unimplemented"));
    assert_int_equal(code, 1);
}

static void watch(void **state)
{
    (void)state;
    int code;
    struct str text = etcdctl("watch", "/a", "PUT\n/a\nvalue\nPUT\n/a\nvalue\n", &code);
    assert_true(str_eq(text, STR("PUT\n/a\nvalue\nPUT\n/a\nvalue\n")));
    assert_int_equal(code, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get),
        cmocka_unit_test(errors_arrive_with_their_text),
        cmocka_unit_test(watch),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
