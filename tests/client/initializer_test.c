/* Initializers against a server in this process that has one object, of a kind that nobody knows.
 */
#include <sampan/config.h>
#include <sampan/initializer.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "scripted.h"

enum { PATCHES_MAX = 4 };

#define LIST(pending)                                                                           \
    "{\"kind\":\"ThingList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{\"metadata\"" \
    ":{\"name\":\"t\",\"namespace\":\"n\",\"resourceVersion\":\"5\",\"initializers\":{"         \
    "\"pending\":[" pending "]}},\"spec\":{\"size\":1}}]}"
#define PENDING(name) "{\"name\":\"" name "\"}"

/* The server: what it has, and what it answers to patches, one after the other. */
static struct {
    const char *list;
    int answers[PATCHES_MAX];
    struct buf patches[PATCHES_MAX], type, seen; /* seen: the query of the first list or watch */
    size_t n_patches;
    struct spn_stop *stop; /* set with the last patch */
} server;

static struct scripted_answer patched(const struct http_request *req)
{
    assert_true(server.n_patches < PATCHES_MAX);
    buf_str_add(&server.patches[server.n_patches], req->body);
    buf_reset(&server.type);
    buf_str_add(&server.type, http_header_get(req, STR("content-type")));
    int status = server.answers[server.n_patches++];
    if (server.n_patches == PATCHES_MAX || !server.answers[server.n_patches])
        spn_stop_set(server.stop);
    return scripted_json(status, status == 200   ? "{\"kind\":\"Thing\"}"
                                 : status == 409 ? "{\"kind\":\"Status\",\"code\":409,\"reason\":"
                                                   "\"Conflict\",\"message\":\"too late\"}"
                                                 : "{\"kind\":\"Status\",\"code\":422,\"reason\":"
                                                   "\"Invalid\",\"message\":\"not so\"}");
}

static struct scripted_answer answer(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    (void)a;
    if (str_eq(req->method, STR("PATCH")))
        return patched(req);
    if (!server.seen.n)
        buf_str_add(&server.seen, req->query);
    if (memmem(req->query.p, req->query.n, "watch=true", 10))
        return memmem(req->query.p, req->query.n, "sendInitialEvents", 17)
                   ? scripted_json(400, "{\"kind\":\"Status\",\"code\":400}")
                   : (struct scripted_answer){ .status = SCRIPTED_SILENCE };
    return str_eq(req->method, STR("GET")) ? scripted_json(200, server.list)
                                           : scripted_json(201, "{\"kind\":\"Event\"}");
}

/* ---- The program ---- */

static struct {
    int results[PATCHES_MAX]; /* of its calls, one after the other */
    size_t n_calls;
} program;

static int initialize(void *arg, struct spn_work *w, struct spn_value *obj, struct spn_err *err)
{
    (void)arg;
    assert_text(spn_value_text(spn_value_get(obj, "apiVersion")), "x.test/v1");
    assert_text(spn_value_text(spn_value_get(obj, "kind")), "Thing");
    int code = program.results[program.n_calls++];
    if (code)
        return spn_err_set(err, (enum spn_code)code, "no \"%d\"", code);
    spn_value_set_int(w->arena, spn_value_ensure(w->arena, obj, "spec"), "size", 2);
    return 0;
}

static void run(const char *list)
{
    struct scripted *s = scripted_start(answer, NULL);
    const struct spn_config cfg = { .server = spn_text_of(scripted_url(s)), .qps = -1 };
    struct spn_client *client;
    struct spn_manager *m;
    struct spn_err err = { 0 };
    server.list = list;
    server.stop = spn_stop_new();
    assert_int_equal(spn_client_new(&cfg, &client, &err), 0);
    const struct spn_manager_options opt = { .client = client, .stop = server.stop };
    assert_int_equal(spn_manager_new(&opt, &m, &err), 0);
    spn_manager_initializes(m, &(struct spn_initializer_options){
                                   .name = "ours.x.test",
                                   .what = SPN_AT("x.test", "v1", "things", "", ""),
                                   .kind = "Thing",
                                   .initialize = initialize,
                               });
    assert_int_equal(spn_manager_run(m, &err), 0);
    spn_manager_free(m);
    spn_client_free(client);
    spn_stop_free(server.stop);
    scripted_stop(s);
}

static int setup(void **state)
{
    (void)state;
    memset(&server, 0, sizeof(server));
    memset(&program, 0, sizeof(program));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATCHES_MAX; i++)
        buf_done(&server.patches[i]);
    buf_done(&server.type);
    buf_done(&server.seen);
    return 0;
}

static void expect_patch(size_t i, const char *want)
{
    assert_text((struct spn_text){ server.patches[i].p, server.patches[i].n }, want);
}

#define ALL_OF_IT \
    "{\"metadata\":{\"initializers\":null,\"resourceVersion\":\"5\"},\"spec\":{\"size\":2}}"
#define FAILURE(message)                                                                           \
    "{\"metadata\":{\"initializers\":{\"result\":{\"status\":\"Failure\",\"reason\":\"Conflict\"," \
    "\"message\":\"" message "\",\"code\":409}},\"resourceVersion\":\"5\"}}"

static void one_patch_does_all(void **state)
{
    (void)state;
    server.answers[0] = 200;
    run(LIST(PENDING("ours.x.test")));
    expect_patch(0, ALL_OF_IT);
    assert_text((struct spn_text){ server.type.p, server.type.n }, "application/merge-patch+json");
    buf_byte(&server.seen, '\0');
    assert_non_null(strstr(server.seen.p, "includeUninitialized=true"));
    assert_int_equal(program.n_calls, 1);
}

static void others_stay_in_the_list(void **state)
{
    (void)state;
    server.answers[0] = 200;
    run(LIST(PENDING("ours.x.test") "," PENDING("next.x.test")));
    expect_patch(0, "{\"metadata\":{\"initializers\":{\"pending\":[{\"name\":\"next.x.test\"}]},"
                    "\"resourceVersion\":\"5\"},\"spec\":{\"size\":2}}");
}

/* Somebody was faster. */
static void a_conflict_begins_anew(void **state)
{
    (void)state;
    server.answers[0] = 409;
    server.answers[1] = 200;
    run(LIST(PENDING("ours.x.test")));
    assert_int_equal(program.n_calls, 2);
    expect_patch(1, ALL_OF_IT);
}

static void some_errors_are_final(void **state)
{
    (void)state;
    program.results[0] = SPN_UNAVAILABLE;
    program.results[1] = SPN_EXISTS;
    server.answers[0] = 200;
    run(LIST(PENDING("ours.x.test")));
    assert_int_equal(program.n_calls, 2);
    assert_int_equal(server.n_patches, 1); /* the first one was tried again */
    expect_patch(0, FAILURE("no \\\"8\\\""));
}

static void what_the_server_refuses_fails(void **state)
{
    (void)state;
    server.answers[0] = 422;
    server.answers[1] = 200;
    run(LIST(PENDING("ours.x.test")));
    assert_int_equal(program.n_calls, 1);
    expect_patch(1, FAILURE("not so"));
}

#define with_server(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(one_patch_does_all),
        with_server(others_stay_in_the_list),
        with_server(a_conflict_begins_anew),
        with_server(some_errors_are_final),
        with_server(what_the_server_refuses_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
