#include "server/http/request.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

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

static enum request_place parse(const char *target, struct request *ret)
{
    struct str query = str_of(target);
    struct http_request http = { .method = STR("GET") };
    http.path = str_cut(&query, '?');
    http.query = query;
    return request_parse(&arena, &http, KIND_ALL_VERSIONS, NULL, ret);
}

static void versions_are_there_by_choice(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum request_place all, current;
    } rows[] = {
        { "/apis/apps/v1/deployments", REQUEST_FOUND, REQUEST_FOUND },
        { "/apis/apps/v1beta1/deployments", REQUEST_FOUND, REQUEST_NO_RESOURCE },
        { "/apis/extensions/v1beta1/deployments", REQUEST_FOUND, REQUEST_NO_GROUP },
        { "/apis/apps/v1beta9/deployments", REQUEST_NO_RESOURCE, REQUEST_NO_RESOURCE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_request http = { .method = STR("GET"), .path = str_of(rows[i].path) };
        struct request req;
        assert_int_equal(request_parse(&arena, &http, KIND_ALL_VERSIONS, NULL, &req), rows[i].all);
        assert_int_equal(request_parse(&arena, &http, KIND_CURRENT_VERSIONS, NULL, &req),
                         rows[i].current);
    }
}

static const char *text(struct str s)
{
    return s.p ? str_cstr(&arena, s) : "-";
}

static void paths_name_things(void **state)
{
    (void)state;
    static const struct {
        const char *path, *plural, *ns, *name, *sub;
    } rows[] = {
        { "/api/v1/pods", "pods", "-", "-", "-" },
        { "/api/v1/pods/", "pods", "-", "-", "-" },
        { "/api/v1/namespaces/a/pods", "pods", "a", "-", "-" },
        { "/api/v1/namespaces/a/pods/b", "pods", "a", "b", "-" },
        { "/api/v1/namespaces/a/pods/b/status", "pods", "a", "b", "status" },
        { "/api/v1/namespaces/a/pods/b/proxy", "pods", "a", "b", "proxy" },
        { "/api/v1/namespaces", "namespaces", "-", "-", "-" },
        { "/api/v1/namespaces/a", "namespaces", "-", "a", "-" },
        { "/api/v1/namespaces/a/status", "namespaces", "-", "a", "status" },
        { "/api/v1/namespaces/a/finalize", "namespaces", "-", "a", "finalize" },
        { "/api/v1/namespaces/status/pods", "pods", "status", "-", "-" },
        { "/api/v1/nodes/n", "nodes", "-", "n", "-" },
        { "/apis/apps/v1/deployments", "deployments", "-", "-", "-" },
        { "/apis/apps/v1/namespaces/a/deployments/d/scale", "deployments", "a", "d", "scale" },
        { "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin", "clusterroles", "-",
          "system:admin", "-" },
        { "/api/v1/watch/pods", "pods", "-", "-", "-" },
        { "/api/v1/watch/namespaces", "namespaces", "-", "-", "-" },
        { "/api/v1/watch/namespaces/a", "namespaces", "-", "a", "-" },
        { "/api/v1/watch/namespaces/a/pods/b", "pods", "a", "b", "-" },
        { "/apis/apps/v1/watch/namespaces/a/deployments", "deployments", "a", "-", "-" },
        /* CVE-2021-39156: another spelling of a path is the same path */
        { "/api/v1/namespaces/a%2Fpods/b", "pods", "a", "b", "-" },
        { "/api/v1/%70ods", "pods", "-", "-", "-" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request r;
        assert_int_equal(parse(rows[i].path, &r), REQUEST_FOUND);
        assert_string_equal(text(r.resource->plural), rows[i].plural);
        assert_string_equal(text(r.ns), rows[i].ns);
        assert_string_equal(text(r.name), rows[i].name);
        assert_string_equal(r.sub ? text(r.sub->name) : "-", rows[i].sub);
    }
}

static void other_paths_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum request_place place;
    } rows[] = {
        { "/", REQUEST_ELSEWHERE },
        { "/api", REQUEST_ELSEWHERE },
        { "/apis/apps", REQUEST_ELSEWHERE },
        { "/apiv1/pods", REQUEST_ELSEWHERE },
        { "/apis/nope.example.com/v1/foos", REQUEST_NO_GROUP },
        { "/api/v2/pods", REQUEST_NO_RESOURCE },
        { "/apis/apps/v9/deployments", REQUEST_NO_RESOURCE },
        { "/api/v1/foos", REQUEST_NO_RESOURCE },
        { "/api/v1/Pods", REQUEST_NO_RESOURCE },
        { "/api/v1/pod", REQUEST_NO_RESOURCE },
        { "/api/v1/pods/a", REQUEST_NO_RESOURCE },
        { "/api/v1//pods", REQUEST_NO_RESOURCE },
        { "/api/v1/namespaces//pods", REQUEST_NO_RESOURCE },
        { "/api/v1/namespaces/a/pods//status", REQUEST_NO_RESOURCE },
        { "/api/v1/namespaces/a/nodes", REQUEST_NO_RESOURCE },
        { "/api/v1/namespaces/a/configmaps/b/status", REQUEST_NO_RESOURCE },
        { "/api/v1/namespaces/a/pods/b/status/c", REQUEST_NO_RESOURCE },
        { "/apis/apps/v1/pods", REQUEST_NO_RESOURCE },
        { "/apis/authentication.k8s.io/v1/tokenreviews/a", REQUEST_NO_RESOURCE },
        { "/api/v1/watch", REQUEST_NO_RESOURCE },
        { "/api/v1/watch/", REQUEST_NO_RESOURCE },
        { "/api/v1/watch/watch/pods", REQUEST_NO_RESOURCE },
        { "/api/v1/watch/namespaces/a/pods/b/status", REQUEST_NO_RESOURCE },
        { "/api/v1/pods%", REQUEST_BAD_ENCODING },
        { "/api/v1/pods%2", REQUEST_BAD_ENCODING },
        { "/api/v1/pods%zz", REQUEST_BAD_ENCODING },
        { "/api/v1/nodes/a%00", REQUEST_BAD_ENCODING },
        { "/api/v1/nodes/%ff", REQUEST_BAD_ENCODING },
        { "/api/v1/pods?a=%4", REQUEST_BAD_ENCODING },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request r;
        if (parse(rows[i].path, &r) != rows[i].place)
            fail_msg("%s", rows[i].path);
    }
}

static void a_proxy_has_a_path_behind_it(void **state)
{
    (void)state;
    struct request r;
    assert_int_equal(parse("/api/v1/namespaces/a/services/s:http/proxy/x/y/", &r), REQUEST_FOUND);
    assert_string_equal(text(r.name), "s:http");
    assert_string_equal(text(r.rest), "x/y");
    assert_int_equal(parse("/api/v1/nodes/n/proxy/1/2/3/4/5/6/7/8/9/10/11/12/13/14", &r),
                     REQUEST_FOUND);
    assert_string_equal(text(r.rest), "1/2/3/4/5/6/7/8/9/10/11/12/13/14");
}

static void parameters_are_decoded(void **state)
{
    (void)state;
    struct request r;
    assert_int_equal(
        parse("/api/v1/pods?labelSelector=a%3Db%2Cc+in+(d)&watch&limit=&x=1&x=2&&=", &r),
        REQUEST_FOUND);
    assert_string_equal(text(request_param(&r, STR("labelSelector"))), "a=b,c in (d)");
    assert_string_equal(text(request_param(&r, STR("limit"))), "");
    assert_string_equal(text(request_param(&r, STR("x"))), "1");
    assert_null(request_param(&r, STR("y")).p);
    assert_true(request_flag(&r, STR("watch")));
    assert_false(request_flag(&r, STR("y")));
    assert_true(request_flag(&r, STR("x")));
    assert_true(request_flag(&r, STR("labelSelector")));
    assert_int_equal(parse("/api/v1/pods?a=0&b=False", &r), REQUEST_FOUND);
    assert_false(request_flag(&r, STR("a")));
    assert_false(request_flag(&r, STR("b")));
}

static void methods_are_verbs(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        unsigned verb;
    } rows[] = {
        { "GET", "/api/v1/pods", KIND_LIST_VERB },
        { "GET", "/api/v1/pods?watch=1", KIND_WATCH },
        { "GET", "/api/v1/pods?watch=false", KIND_LIST_VERB },
        { "GET", "/api/v1/watch/pods", KIND_WATCH },
        { "GET", "/api/v1/watch/nodes/n", KIND_WATCH },
        { "POST", "/api/v1/watch/nodes", 0 },
        { "GET", "/api/v1/nodes/n", KIND_GET },
        { "HEAD", "/api/v1/nodes/n", 0 },
        { "FOO", "/api/v1/nodes/n", 0 },
        { "POST", "/api/v1/nodes", KIND_CREATE },
        { "POST", "/api/v1/nodes/n", 0 },
        { "POST", "/api/v1/namespaces/a/pods/p/eviction", KIND_CREATE },
        { "GET", "/api/v1/namespaces/a/pods/p/eviction", 0 },
        { "PUT", "/api/v1/nodes", 0 },
        { "PUT", "/api/v1/nodes/n", KIND_UPDATE },
        { "PATCH", "/api/v1/nodes/n/status", KIND_PATCH },
        { "DELETE", "/api/v1/nodes", KIND_DELETE_COLLECTION },
        { "DELETE", "/api/v1/namespaces", 0 },
        { "DELETE", "/api/v1/namespaces/a", KIND_DELETE },
        { "POST", "/api/v1/componentstatuses", 0 },
        { "GET", "/apis/authentication.k8s.io/v1/tokenreviews", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request r;
        assert_int_equal(parse(rows[i].path, &r), REQUEST_FOUND);
        const struct http_request http = { .method = str_of(rows[i].method) };
        if (request_verb(&http, &r) != rows[i].verb)
            fail_msg("%s %s", rows[i].method, rows[i].path);
    }
}

int main(void)
{
#define REQUEST_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        REQUEST_TEST(paths_name_things),
        REQUEST_TEST(other_paths_do_not),
        REQUEST_TEST(versions_are_there_by_choice),
        REQUEST_TEST(a_proxy_has_a_path_behind_it),
        REQUEST_TEST(parameters_are_decoded),
        REQUEST_TEST(methods_are_verbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
