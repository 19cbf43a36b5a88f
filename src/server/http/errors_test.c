/* Refusals word for word, as clients parse them. */
#include "api/errors.h"

#include "server/http/reply.h"
#include "server/http/suite_call.h"

static const struct kind_resource *pods, *deployments;
static struct suite_call s;

static int setup(void **state)
{
    (void)state;
    suite_call_init(&s, "/api/v1/pods", NULL, STR(""));
    pods = kind_stored_named(STR(""), STR("pods"));
    deployments = kind_stored_named(STR("apps"), STR("deployments"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    suite_call_done(&s);
    return 0;
}

static void check(const char *want)
{
    struct value status = reply_status(&s.arena, &s.err);
    assert_string_equal(suite_call_shown(&s, &status), want);
    err_clear(&s.err);
}

#define FAILURE(message, reason, details, code)                                               \
    "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'" message \
    "','reason':'" reason "','details':{" details "},'code':" code "}"
#define ABOUT_POD        "'name':'p','kind':'pods'"
#define ABOUT_DEPLOYMENT "'name':'d','group':'apps','kind':'deployments'"

static void statuses(void **state)
{
    (void)state;
    (void)error_not_found(&s.err, deployments, STR("d"));
    check(FAILURE("deployments.apps \\'d\\' not found", "NotFound", ABOUT_DEPLOYMENT, "404"));
    (void)error_exists(&s.err, pods, STR("p"));
    check(FAILURE("pods \\'p\\' already exists", "AlreadyExists", ABOUT_POD, "409"));
    (void)error_none_generated(&s.err, pods, STR("p"));
    check(FAILURE("pods \\'p\\' already exists, the server was not able to generate a unique name "
                  "for the object",
                  "AlreadyExists", ABOUT_POD ",'retryAfterSeconds':1", "409"));
    (void)error_try_again(&s.err, deployments, STR("create"));
    check(FAILURE("The create operation against deployments.apps could not be completed at this "
                  "time, please try again.",
                  "ServerTimeout", "'group':'apps','kind':'deployments','retryAfterSeconds':1",
                  "500"));
    (void)error_modified(&s.err, deployments, STR("d"));
    check(FAILURE("Operation cannot be fulfilled on deployments.apps \\'d\\': the object has been "
                  "modified; please apply your changes to the latest version and try again",
                  "Conflict", ABOUT_DEPLOYMENT, "409"));
    (void)error_conflict_of(&s.err, deployments, STR("d"), STR("why"));
    check(FAILURE("Operation cannot be fulfilled on Deployment.apps \\'d\\': why", "Conflict",
                  "'name':'d','group':'apps','kind':'Deployment'", "409"));
    (void)error_forbidden(&s.err, pods, STR("p"), STR("why"));
    check(FAILURE("pods \\'p\\' is forbidden: why", "Forbidden", ABOUT_POD, "403"));
    (void)error_no_namespace(&s.err, STR("n"));
    check(FAILURE("namespaces \\'n\\' not found", "NotFound", "'name':'n','kind':'namespaces'",
                  "404"));
    (void)error_method(&s.err, deployments, "patch");
    check(FAILURE("patch is not supported on resources of kind \\'deployments.apps\\'",
                  "MethodNotAllowed", "'group':'apps','kind':'deployments'", "405"));
    (void)error_crowded(&s.err);
    check(FAILURE("too many answers of this client are not read yet, please try again later",
                  "TooManyRequests", "'retryAfterSeconds':1", "429"));
    (void)error_other_uid(&s.err, pods, STR("p"), STR("/registry/pods/a/p"), STR("u"), STR("v"));
    check(FAILURE("Operation cannot be fulfilled on pods \\'p\\': StorageError: invalid object, "
                  "Code: 4, Key: /registry/pods/a/p, ResourceVersion: 0, AdditionalErrorMsg: "
                  "Precondition failed: UID in precondition: u, UID in object meta: v",
                  "Conflict", ABOUT_POD, "409"));
}

/* ---- What is said beside an answer ---- */

static void warnings_are_headers(void **state)
{
    (void)state;
    const struct http_header *h;
    call_warn(&s.call, STR("a \"b\" \\ c"));
    /* What cannot stand in a header is left out. */
    call_warn(&s.call, STR("two\nlines"));
    call_warn(&s.call, STR("a\tb"));
    call_warn(&s.call, STR("\x7f"));
    call_warn(&s.call, STR("\xc2\x85"));
    call_warn(&s.call, STR("\xff"));
    call_warn(&s.call, STR("second"));
    call_warn(&s.call, STR("second"));
    s.call.retry_after_sec = 5;
    assert_int_equal(call_headers(&s.call, STR("application/json"), &h), 5);
    static const char *const want[][2] = {
        { "content-type", "application/json" },
        { "cache-control", "no-cache, private" },
        { "retry-after", "5" },
        { "warning", "299 - \"a \\\"b\\\" \\\\ c\"" },
        { "warning", "299 - \"second\"" },
    };
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(str_cstr(&s.arena, h[i].name), want[i][0]);
        assert_string_equal(str_cstr(&s.arena, h[i].value), want[i][1]);
    }
}

static void warnings_are_bounded(void **state)
{
    (void)state;
    const struct http_header *h;
    for (unsigned i = 0; i < 200; i++)
        call_warn(&s.call, arena_printf(&s.arena, "warning %u", i));
    assert_int_equal(call_headers(&s.call, STR("application/json"), &h), 2 + 100);
    struct call deaf = { .arena = &s.arena };
    call_warn(&deaf, STR("nobody hears"));
    assert_int_equal(call_headers(&deaf, STR("application/json"), &h), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statuses, setup, teardown),
        cmocka_unit_test_setup_teardown(warnings_are_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(warnings_are_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
