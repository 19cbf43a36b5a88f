#include "server/http/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "server/object/stored.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void parse(const char *target, struct request *ret)
{
    struct str query = str_of(target);
    struct http_request http = { .method = STR("GET") };
    http.path = str_cut(&query, '?');
    http.query = query;
    assert_int_equal(request_parse(&arena, &http, KIND_ALL_VERSIONS, NULL, ret), REQUEST_FOUND);
}

static const char *text(struct str s)
{
    return s.p ? str_cstr(&arena, s) : "-";
}

/* ---- Parameters ---- */

static void check_refused(const char *params, bool watch, enum err_code code, const char *words)
{
    struct request req;
    struct selection s;
    struct err err = ERR_INIT(&arena);
    parse(str_cstr(&arena, arena_printf(&arena, "/api/v1/pods?%s", params)), &req);
    if (selection_read(&arena, &req, watch, &s, &err) != -(int)code)
        fail_msg("%s", params);
    assert_string_equal(text(err.msg), words);
}

static void values_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *params, *words;
    } rows[] = {
        { "limit=abc", "strconv.ParseInt: parsing \"abc\": invalid syntax" },
        { "limit=", "strconv.ParseInt: parsing \"\": invalid syntax" },
        { "limit=1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax" },
        { "limit=99999999999999999999",
          "strconv.ParseInt: parsing \"99999999999999999999\": value out of range" },
        { "limit=%2B-1", "strconv.ParseInt: parsing \"+-1\": invalid syntax" },
        { "timeoutSeconds=x", "strconv.ParseInt: parsing \"x\": invalid syntax" },
        { "labelSelector=a%3D%3D%3Db",
          "unable to parse requirement: found '=', expected: identifier" },
        { "fieldSelector=spec.x%3Dy", "field label not supported: spec.x" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused(rows[i].params, false, ERR_BAD_REQUEST, rows[i].words);
}

#define INVALID "ListOptions.meta.k8s.io \"\" is invalid: "

static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    static const struct {
        bool watch;
        const char *params, *words;
    } rows[] = {
        { false, "resourceVersionMatch=Exact",
          INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                  "resourceVersion is provided" },
        { false, "resourceVersion=0&resourceVersionMatch=Exact",
          INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden "
                  "for resourceVersion \"0\"" },
        { false, "resourceVersion=1&resourceVersionMatch=Bogus",
          INVALID "resourceVersionMatch: Unsupported value: \"Bogus\": supported values: "
                  "\"Exact\", \"NotOlderThan\", \"\"" },
        { false, "resourceVersion=1&resourceVersionMatch=Exact&continue=x",
          INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
                  "continue is provided" },
        { false, "sendInitialEvents=true",
          INVALID "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list" },
        { true, "sendInitialEvents=true",
          INVALID "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                  "resourceVersionMatch to NotOlderThan" },
        { true, "resourceVersion=5&resourceVersionMatch=NotOlderThan",
          INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
                  "unless sendInitialEvents is provided" },
        { true, "continue=x",
          INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
                  "continue is provided" },
        { true, "sendInitialEvents=false&resourceVersionMatch=Exact",
          INVALID "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                  "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "
                  "\"Exact\": supported values: \"NotOlderThan\"]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused(rows[i].params, rows[i].watch, ERR_INVALID, rows[i].words);
}

static struct selection read_good(const char *target, bool watch, struct request *ret_req)
{
    struct selection s;
    struct err err = ERR_INIT(&arena);
    parse(target, ret_req);
    if (selection_read(&arena, ret_req, watch, &s, &err) < 0)
        fail_msg("%s: " STR_FMT, target, STR_ARG(err.msg));
    return s;
}

static void a_watch_from_nowhere_begins_with_what_there_is(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        bool initial;
    } rows[] = {
        { "", true },
        { "resourceVersion=0", true },
        { "resourceVersion=7", false },
        { "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7", true },
        { "sendInitialEvents=false&resourceVersionMatch=NotOlderThan", false },
        { "sendInitialEvents=0&resourceVersionMatch=NotOlderThan&resourceVersion=0", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request req;
        struct selection s = read_good(
            str_cstr(&arena, arena_printf(&arena, "/api/v1/pods?%s", rows[i].params)), true, &req);
        assert_int_equal(s.initial, rows[i].initial);
    }
}

static void numbers_are_read(void **state)
{
    (void)state;
    struct request req;
    struct selection s =
        read_good("/api/v1/pods?limit=%2B5&timeoutSeconds=-3&timeout=1h2.5m&resourceVersion=9"
                  "&allowWatchBookmarks=yes",
                  false, &req);
    assert_int_equal(s.limit, 5);
    assert_int_equal(s.timeout_sec, -3);
    assert_string_equal(text(s.version), "9");
    assert_int_equal(s.match, SELECTION_ANY);
    assert_true(s.bookmarks);
    s = read_good("/api/v1/pods?limit=-1", false, &req);
    assert_int_equal(s.limit, 0);

    uint64_t rev = 0;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(selection_version(STR("00"), &rev, &err), 0);
    assert_int_equal(selection_version(STR("-1"), &rev, &err), -ERR_UNKNOWN);
    assert_string_equal(text(err.msg), "resourceVersion: Invalid value: \"-1\": strconv.ParseUint: "
                                       "parsing \"-1\": invalid syntax");
    assert_int_equal(selection_version(STR("99999999999999999999"), &rev, &err), -ERR_UNKNOWN);
}

/* ---- Keys ---- */

static void selectors_narrow_the_keys(void **state)
{
    (void)state;
    static const struct {
        const char *target, *prefix;
        bool single;
    } rows[] = {
        { "/api/v1/configmaps", "/registry/configmaps/", false },
        { "/api/v1/namespaces/a/configmaps", "/registry/configmaps/a/", false },
        { "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Dx",
          "/registry/configmaps/a/x", true },
        { "/api/v1/configmaps?fieldSelector=metadata.name%3Dx", "/registry/configmaps/", false },
        { "/api/v1/configmaps?fieldSelector=metadata.namespace%3Da", "/registry/configmaps/a/",
          false },
        { "/api/v1/configmaps?fieldSelector=metadata.namespace%3Da,metadata.name%3Dx",
          "/registry/configmaps/a/x", true },
        /* Nothing can match these, and none of them may look elsewhere. */
        { "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3D", "", true },
        { "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Db/x", "", true },
        { "/api/v1/configmaps?fieldSelector=metadata.namespace%3D", "", false },
        { "/api/v1/configmaps?fieldSelector=metadata.namespace%3Da/b", "", false },
        { "/api/v1/namespaces?fieldSelector=metadata.name%3Da", "/registry/namespaces/a", true },
        { "/api/v1/namespaces?fieldSelector=metadata.name!%3Da", "/registry/namespaces/", false },
        { "/api/v1/watch/namespaces/a/configmaps/x", "/registry/configmaps/a/x", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request req;
        struct selection s = read_good(rows[i].target, true, &req);
        struct str prefix = selection_prefix(&arena, kind_stored(req.resource), &s);
        assert_string_equal(text(prefix), rows[i].prefix);
        assert_int_equal(s.is_single, rows[i].single);
    }
}

static void no_key_is_too_long(void **state)
{
    (void)state;
    char name[LIMIT_STORE_KEY_BYTES + 1];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct request req;
    struct selection s = read_good(
        str_cstr(&arena,
                 arena_printf(&arena,
                              "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%%3D%s",
                              name)),
        false, &req);
    assert_int_equal(selection_prefix(&arena, kind_stored(req.resource), &s).n, 0);
}

static void the_name_in_the_path_is_a_selector(void **state)
{
    (void)state;
    struct request req;
    struct selection s;
    struct err err = ERR_INIT(&arena);
    parse("/api/v1/watch/namespaces/a/configmaps/x?fieldSelector=metadata.name%3Dy", &req);
    assert_int_equal(selection_read(&arena, &req, true, &s, &err), -ERR_BAD_REQUEST);
    assert_string_equal(text(err.msg), "fieldSelector metadata.name doesn't match requested name");
    s = read_good("/api/v1/watch/namespaces/a/configmaps/x?fieldSelector=metadata.name%3Dx", true,
                  &req);
    assert_string_equal(text(s.name), "x");
}

/* ---- Objects ---- */

static int match(const char *target, const char *key, struct str stored)
{
    struct request req;
    struct selection s = read_good(target, false, &req);
    const struct encoder e = { .resource = req.resource, .stored = kind_stored(req.resource) };
    struct selection_subject subject = {
        .arena = &arena,
        .encoder = &e,
        .entry = { .key = str_of(key), .value = stored, .create_rev = 3, .mod_rev = 4 },
    };
    struct err err = ERR_INIT(&arena);
    return selection_matches(&s, &subject, &err);
}

static struct str stored_pod(void)
{
    struct value pod = value_object(), meta = value_object(), labels = value_object(),
                 spec = value_object();
    value_put_new(&arena, &labels, STR("app"), value_string(STR("web")));
    value_put_new(&arena, &meta, STR("name"), value_string(STR("p")));
    value_put_new(&arena, &meta, STR("namespace"), value_string(STR("a")));
    value_put_new(&arena, &meta, STR("labels"), labels);
    value_put_new(&arena, &spec, STR("nodeName"), value_string(STR("n1")));
    value_put_new(&arena, &pod, STR("metadata"), meta);
    value_put_new(&arena, &pod, STR("spec"), spec);
    autobuf out = { 0 };
    stored_write(&out, NULL, &pod);
    return arena_str(&arena, buf_str(&out));
}

static void objects_are_matched(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        int matches;
    } rows[] = {
        { "", 1 },
        { "labelSelector=app%3Dweb", 1 },
        { "labelSelector=app%3Ddb", 0 },
        { "labelSelector=!app", 0 },
        { "fieldSelector=metadata.name%3Dp", 1 },
        { "fieldSelector=metadata.name!%3Dp", 0 },
        { "fieldSelector=spec.nodeName%3Dn1", 1 },
        { "fieldSelector=spec.nodeName%3Dn2", 0 },
        { "fieldSelector=spec.nodeName%3Dn1,metadata.namespace%3Db", 0 },
        { "fieldSelector=spec.nodeName%3Dn1&labelSelector=app", 1 },
        { "fieldSelector=spec.nodeName%3Dn1&labelSelector=none", 0 },
    };
    struct str pod = stored_pod();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *target =
            str_cstr(&arena, arena_printf(&arena, "/api/v1/pods?%s", rows[i].params));
        if (match(target, "/registry/pods/a/p", pod) != rows[i].matches)
            fail_msg("%s", rows[i].params);
    }
}

static void damage_is_never_no_match(void **state)
{
    (void)state;
    struct str junk = STR("junk that nobody wrote");
    assert_int_equal(match("/api/v1/pods?labelSelector=a", "/registry/pods/a/p", junk),
                     -ERR_DAMAGED);
    assert_int_equal(
        match("/api/v1/pods?fieldSelector=spec.nodeName%3Dx", "/registry/pods/a/p", junk),
        -ERR_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_none_are_refused),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(a_watch_from_nowhere_begins_with_what_there_is),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(selectors_narrow_the_keys),
        cmocka_unit_test(no_key_is_too_long),
        cmocka_unit_test(the_name_in_the_path_is_a_selector),
        cmocka_unit_test(objects_are_matched),
        cmocka_unit_test(damage_is_never_no_match),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
