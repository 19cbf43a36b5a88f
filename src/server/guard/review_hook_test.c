/* A webhook that answers well, badly, slowly and not at all. */
#include "server/guard/review_hook.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/http/reply.h"
#include "server/http/suite_server.h"

static struct suite_server server;
static char dir[] = "/tmp/sampan-review-XXXXXX";
static const char *kubeconfig;
static atomic_int n_calls;
static atomic_bool cancel;
static const char *volatile mode;

#define GOOD                                                                                      \
    "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"status\":{\"user\":" \
    "{\"username\":\"ann\"}}}"

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)arg;
    http_abort(x);
}

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    int n = atomic_fetch_add(&n_calls, 1);
    if (strcmp(mode, "echo") == 0)
        reply_json(x, 200,
                   arena_printf(http_arena(x),
                                "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/"
                                "v1\",\"status\":{\"got\":" STR_FMT "}}",
                                STR_ARG(str_trim(http_request_of(x)->body))));
    else if (strcmp(mode, "odd") == 0)
        reply_json(x, 200, STR("{\"kind\":\"Other\",\"apiVersion\":\"v1\"}"));
    else if (strcmp(mode, "garbled") == 0)
        reply_json(x, 200, STR("{"));
    else if (strcmp(mode, "refuses") == 0)
        reply_text(x, 403, STR("no"));
    else if (strcmp(mode, "flaky") == 0 && n == 0)
        reply_text(x, 500, STR("not now"));
    else if (strcmp(mode, "hangs") == 0)
        http_listen_to(x, &(struct http_events){ .on_gone = on_gone });
    else
        reply_json(x, 200, STR(GOOD));
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/sampan-review-XXXXXX");
    assert_non_null(mkdtemp(dir));
    suite_server_start(&server, on_request, NULL, NULL);
    struct err err = ERR_INIT(&server.arena);
    struct str text = arena_printf(&server.arena,
                                   "clusters: [{name: c, cluster: {server: \"http://" STR_FMT
                                   "/review\"}}]\nusers: [{name: u, user: {token: t}}]\n",
                                   STR_ARG(server.address));
    kubeconfig = arena_printf(&server.arena, "%s/hook", dir).p;
    assert_int_equal(file_write_atomic(kubeconfig, text, 0600, FILE_CHEAP, &err), 0);
    atomic_store(&n_calls, 0);
    atomic_store(&cancel, false);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(kubeconfig);
    (void)rmdir(dir);
    suite_server_free(&server);
    return 0;
}

static enum review_result seen[8];
static size_t n_seen;

static void on_tried(void *arg, enum review_result result, int64_t ns)
{
    (void)arg;
    assert_true(ns >= 0);
    seen[n_seen++] = result;
}

static int ask(const char *how, int64_t timeout_ms, struct value *ret, struct err *err)
{
    const struct review_hook_options opt = { .kubeconfig = kubeconfig,
                                             .kind = STR("TokenReview"),
                                             .api_version = STR("authentication.k8s.io/v1"),
                                             .timeout_ms = timeout_ms,
                                             .cancel = &cancel };
    const struct review_watcher watcher = { .tried = on_tried };
    struct value spec = value_object();
    struct review_hook *hook;
    *err = ERR_INIT(&server.arena);
    mode = how;
    n_seen = 0;
    value_put(&server.arena, &spec, STR("token"), value_string(STR("x")));
    assert_int_equal(review_hook_new(&opt, &hook, err), 0);
    int r = review_hook_ask(hook, &server.arena, &spec, 20000, &watcher, ret, err);
    review_hook_free(hook);
    return r;
}

static void it_gets_the_review_and_gives_its_status(void **state)
{
    struct value status;
    struct err err;
    autobuf text = { 0 };
    (void)state;
    assert_int_equal(ask("echo", 5000, &status, &err), 0);
    json_write(&text, &status);
    assert_string_equal(str_cstr(&server.arena, buf_str(&text)),
                        "{\"got\":{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/"
                        "v1\",\"metadata\":{},\"spec\":{\"token\":\"x\"},\"status\":{}}}");
    assert_int_equal(n_seen, 1);
    assert_int_equal(seen[0], REVIEW_SUCCESS);
}

static void what_may_pass_is_tried_again(void **state)
{
    struct value status;
    struct err err;
    (void)state;
    assert_int_equal(ask("flaky", 5000, &status, &err), 0);
    assert_string_equal(str_cstr(&server.arena, value_str(value_dig(&status, "user", "username"))),
                        "ann");
    assert_int_equal(n_seen, 2);
    assert_int_equal(seen[0], REVIEW_ERROR);
    assert_int_equal(seen[1], REVIEW_SUCCESS);
}

static void what_does_not_pass_is_not(void **state)
{
    static const struct {
        const char *mode, *words;
        enum review_result result;
    } cases[] = {
        { "refuses", "the webhook answered with status 403", REVIEW_ERROR },
        { "odd", "kind \"Other\" of \"v1\" instead of \"TokenReview\"", REVIEW_ERROR },
        { "garbled", "the webhook's answer: ", REVIEW_ERROR },
        { "hangs", "Post \"http://127.0.0.1:", REVIEW_TIMEOUT },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value status;
        struct err err;
        assert_true(ask(cases[i].mode, 300, &status, &err) < 0);
        if (!strstr(str_cstr(&server.arena, err.msg), cases[i].words))
            fail_msg("%s: " STR_FMT, cases[i].mode, STR_ARG(err.msg));
        assert_int_equal(n_seen, 1);
        assert_int_equal(seen[0], cases[i].result);
    }
}

static void it_ends_when_the_server_does(void **state)
{
    struct value status;
    struct err err;
    (void)state;
    atomic_store(&cancel, true);
    assert_true(ask("hangs", 20000, &status, &err) < 0);
    assert_int_equal(seen[0], REVIEW_CANCELED);
}

static void without_a_kubeconfig_there_is_none(void **state)
{
    const struct review_hook_options opt = { .kubeconfig = "/nowhere/hook" };
    struct review_hook *hook;
    struct err err = ERR_INIT(&server.arena);
    (void)state;
    assert_int_equal(review_hook_new(&opt, &hook, &err), -ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_gets_the_review_and_gives_its_status, setup, teardown),
        cmocka_unit_test_setup_teardown(what_may_pass_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_pass_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(it_ends_when_the_server_does, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_kubeconfig_there_is_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
