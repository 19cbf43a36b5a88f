#include "server/http/request_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

/* "VERB GROUP VERSION NS RESOURCE/SUB NAME", with - for nothing; or "VERB PATH". */
static const struct {
    const char *method, *path, *query, *want;
} cases[] = {
    { "GET", "/", "", "get /" },
    { "POST", "/healthz", "", "post /healthz" },
    { "GET", "/api", "", "get /api" },
    { "GET", "/api/v1", "", "get /api/v1" },
    { "GET", "/apis/apps/v1", "", "get /apis/apps/v1" },
    { "GET", "/%68ealthz", "", "get /healthz" },
    { "GET", "/bad%zz", "", "get /bad%zz" },
    { "GET", "/api/v1/pods", "", "list - v1 - pods -" },
    { "HEAD", "/api/v1/pods", "", "list - v1 - pods -" },
    { "GET", "/api/v1/pods", "watch=true", "watch - v1 - pods -" },
    { "GET", "/api/v1/pods", "watch=false", "list - v1 - pods -" },
    { "GET", "/api/v1/pods/", "", "list - v1 - pods -" },
    { "POST", "/api/v1/namespaces/a/pods", "", "create - v1 a pods -" },
    { "DELETE", "/api/v1/namespaces/a/pods", "", "deletecollection - v1 a pods -" },
    { "DELETE", "/api/v1/namespaces/a/pods/p", "", "delete - v1 a pods p" },
    { "PUT", "/api/v1/namespaces/a/pods/p/status", "", "update - v1 a pods/status p" },
    { "PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", "",
      "patch apps v1 a deployments/scale d" },
    { "GET", "/api/v1/namespaces", "", "list - v1 - namespaces -" },
    { "GET", "/api/v1/namespaces/a", "", "get - v1 a namespaces a" },
    { "PUT", "/api/v1/namespaces/a/finalize", "", "update - v1 a namespaces/finalize a" },
    { "GET", "/api/v1/namespaces/a/status", "", "get - v1 a namespaces/status a" },
    { "GET", "/api/v1/watch/namespaces/a/pods", "", "watch - v1 a pods -" },
    { "GET", "/api/v1/watch/namespaces/a/pods/p", "", "watch - v1 a pods p" },
    { "GET", "/api/v1/nodes/n/proxy/x/y", "", "get - v1 - nodes/proxy n" },
    { "GET", "/api/v1/pods", "fieldSelector=metadata.name%3Dp", "list - v1 - pods p" },
    { "GET", "/api/v1/pods", "fieldSelector=status.phase%3Dx,metadata.name%3Dp&watch=1",
      "watch - v1 - pods p" },
    { "GET", "/api/v1/pods", "fieldSelector=metadata.name!%3Dp", "list - v1 - pods -" },
    { "GET", "/apis/no.such/v9/things/t", "", "get no.such v9 - things t" },
    { "GET", "/api/v1//pods", "", "get - v1 - - pods" },
    { "GET", "/api/v1/namespaces/a%2fpods", "", "list - v1 a pods -" },
    { "OPTIONS", "/api/v1/pods", "", "- - v1 - pods -" },
};

static struct str or_dash(struct str s)
{
    return s.n ? s : STR("-");
}

static const char *shown(struct arena *a, const struct request_info *i)
{
    if (!i->is_resource)
        return str_cstr(a,
                        arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(i->verb), STR_ARG(i->path)));
    struct str resource = or_dash(i->resource);
    if (i->sub.n)
        resource = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(resource), STR_ARG(i->sub));
    return str_cstr(
        a, arena_printf(a, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT,
                        STR_ARG(or_dash(i->verb)), STR_ARG(or_dash(i->group)),
                        STR_ARG(or_dash(i->version)), STR_ARG(or_dash(i->ns)), STR_ARG(resource),
                        STR_ARG(or_dash(i->name))));
}

static void paths_say_what_they_are_about(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        const struct http_request http = { .method = str_of(cases[i].method),
                                           .path = str_of(cases[i].path),
                                           .query = str_of(cases[i].query) };
        struct request req;
        struct request_info info;
        (void)request_parse(&a, &http, KIND_ALL_VERSIONS, NULL, &req);
        request_info_read(&a, &http, &req, &info);
        if (strcmp(shown(&a, &info), cases[i].want) != 0)
            fail_msg("%s %s?%s: %s", cases[i].method, cases[i].path, cases[i].query,
                     shown(&a, &info));
        arena_done(&a);
    }
}

/* What lists are narrowed to, as authorizers see it. */
static void selectors_are_read(void **state)
{
    static const struct {
        const char *method, *path, *query, *fields, *labels;
    } rows[] = {
        { "GET", "/api/v1/pods", "fieldSelector=spec.nodeName%3Dn", "spec.nodeName=n", "" },
        { "GET", "/api/v1/pods", "fieldSelector=a%3Db,c!%3Dd&watch=true", "a=b,c!=d", "" },
        { "DELETE", "/api/v1/namespaces/a/pods", "fieldSelector=a%3Db&labelSelector=x+in+(z,y)",
          "a=b", "x in (y,z)" },
        { "GET", "/api/v1/namespaces/a/pods/p", "fieldSelector=a%3Db&labelSelector=c", "", "" },
        { "GET", "/api/v1/watch/pods", "fieldSelector=a%3Db&labelSelector=c", "", "" },
        { "GET", "/api/v1/pods", "fieldSelector=broken&labelSelector=c", "", "c" },
        { "GET", "/api/v1/pods", "labelSelector=a%3D%3D%3D", "", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        const struct http_request http = { .method = str_of(rows[i].method),
                                           .path = str_of(rows[i].path),
                                           .query = str_of(rows[i].query) };
        struct request req;
        struct request_info info;
        autobuf fields = { 0 }, labels = { 0 };
        (void)request_parse(&a, &http, KIND_ALL_VERSIONS, NULL, &req);
        request_info_read(&a, &http, &req, &info);
        fields_write(&fields, &info.fields);
        assert_string_equal(str_cstr(&a, buf_str(&fields)), rows[i].fields);
        labels_write(&labels, &info.labels);
        assert_string_equal(str_cstr(&a, buf_str(&labels)), rows[i].labels);
        arena_done(&a);
    }
}

/* What is served is what the path says, for all that is found. */
static void what_is_found_fits(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        const struct http_request http = { .method = str_of(cases[i].method),
                                           .path = str_of(cases[i].path),
                                           .query = str_of(cases[i].query) };
        struct request req;
        struct request_info info;
        if (request_parse(&a, &http, KIND_ALL_VERSIONS, NULL, &req) == REQUEST_FOUND) {
            request_info_read(&a, &http, &req, &info);
            assert_true(request_info_fits(&info, &req));
            info.name = STR("another");
            assert_int_equal(request_info_fits(&info, &req), !req.name.p);
            n++;
        }
        arena_done(&a);
    }
    assert_in_range(n, 15, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_say_what_they_are_about),
        cmocka_unit_test(selectors_are_read),
        cmocka_unit_test(what_is_found_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
