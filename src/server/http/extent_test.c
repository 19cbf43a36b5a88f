#include "server/http/extent.h"

#include <stdio.h>

#include "server/http/suite_call.h"
#include "server/object/token.h"
#include "base/idiom.h"

#define PODS "/api/v1/namespaces/a/pods"

static void revisions(void **state)
{
    static const struct {
        const char *target, *prefix;
        uint64_t rev, wait_rev, limit;
    } cases[] = {
        { PODS, "/registry/pods/a/", 0, 0, 0 },
        { "/api/v1/pods?limit=5", "/registry/pods/", 0, 0, 5 },
        /* Not older than; with a limit it has always been that very one. */
        { PODS "?resourceVersion=7", "/registry/pods/a/", 0, 7, 0 },
        { PODS "?resourceVersion=7&limit=5", "/registry/pods/a/", 7, 7, 5 },
        { PODS "?resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan", "/registry/pods/a/",
          0, 7, 5 },
        { PODS "?resourceVersion=7&resourceVersionMatch=Exact", "/registry/pods/a/", 7, 7, 0 },
        /* Whoever takes any revision gets no pages. */
        { PODS "?resourceVersion=0&limit=5", "/registry/pods/a/", 0, 0, 0 },
        { "/api/v1/pods?fieldSelector=metadata.name%3Dp,metadata.namespace%3Da",
          "/registry/pods/a/p", 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct extent e;
        suite_call_init(&s, cases[i].target, NULL, STR(""));
        if (extent_read(&s.call, &e, &s.err) < 0)
            fail_msg("%s: %s", cases[i].target, suite_call_refusal(&s));
        if (e.rev != cases[i].rev || e.wait_rev != cases[i].wait_rev ||
            e.sel.limit != cases[i].limit || e.goes_on || e.start.n)
            fail_msg("%s", cases[i].target);
        assert_string_equal(str_cstr(&s.arena, e.prefix), cases[i].prefix);
        suite_call_done(&s);
    }
}

static void refusals(void **state)
{
    static const struct {
        const char *target;
        enum format_as as;
        int code;
        const char *refusal;
    } cases[] = {
        { PODS "?resourceVersion=x", FORMAT_OBJECT, ERR_BAD_REQUEST,
          "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: "
          "parsing \"x\": "
          "invalid "
          "syntax" },
        { PODS "?continue=bad!", FORMAT_OBJECT, ERR_BAD_REQUEST,
          "invalid continue token: continue key is not valid: illegal base64 data at input byte "
          "3" },
        { PODS "?includeObject=All", FORMAT_TABLE, ERR_BAD_REQUEST,
          "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be "
          "'Metadata', 'Object', 'None', or empty" },
        { PODS, FORMAT_PARTIAL, ERR_NOT_ACCEPTABLE,
          "you requested PartialObjectMetadata, but the requested object is a list "
          "(*core.PodList)" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct extent e;
        suite_call_init(&s, cases[i].target, NULL, STR(""));
        s.call.format.as = cases[i].as;
        assert_int_equal(extent_read(&s.call, &e, &s.err), -cases[i].code);
        assert_string_equal(suite_call_refusal(&s), cases[i].refusal);
        suite_call_done(&s);
    }
}

static void pages(void **state)
{
    struct suite_call s;
    struct extent e;
    char target[400];
    (void)state;
    suite_call_init(&s, PODS, NULL, STR(""));
    int64_t now_ms = clock_wall_ns(&clock_system) / NS_PER_MS;
    struct token t = { .rev = 9, .began_ms = now_ms - 60000, .start = STR("/registry/pods/a/q") };
    struct str text = token_write(&s.arena, &t, STR("/registry/pods/a/"));
    (void)snprintf(target, sizeof(target), PODS "?limit=2&continue=" STR_FMT, STR_ARG(text));
    struct suite_call next;
    suite_call_init(&next, target, NULL, STR(""));
    assert_int_equal(extent_read(&next.call, &e, &next.err), 0);
    assert_true(e.goes_on);
    assert_int_equal(e.rev, 9);
    assert_int_equal(e.began_ms, t.began_ms);
    assert_string_equal(str_cstr(&next.arena, e.start), "/registry/pods/a/q");

    /* A list that takes too long goes on at the newest revision, by another token. */
    next.api.continue_ttl_ns = 30 * NS_PER_SEC;
    assert_int_equal(extent_read(&next.call, &e, &next.err), -ERR_EXPIRED);
    struct token resumed;
    assert_int_equal(token_read(&next.arena, next.err.about.resume, STR("/registry/pods/a/"),
                                &resumed, &next.err),
                     0);
    assert_int_equal(resumed.rev, TOKEN_NEWEST);
    assert_string_equal(str_cstr(&next.arena, resumed.start), "/registry/pods/a/q");
    suite_call_done(&next);

    (void)snprintf(target, sizeof(target), PODS "?resourceVersion=3&continue=" STR_FMT,
                   STR_ARG(text));
    suite_call_init(&next, target, NULL, STR(""));
    assert_int_equal(extent_read(&next.call, &e, &next.err), -ERR_BAD_REQUEST);
    assert_string_equal(suite_call_refusal(&next),
                        "specifying resource version is not allowed when using continue");
    suite_call_done(&next);
    suite_call_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revisions),
        cmocka_unit_test(refusals),
        cmocka_unit_test(pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
