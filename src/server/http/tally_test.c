#include "server/http/tally.h"

#include "base/clock.h"
#include "base/idiom.h"
#include "server/http/suite_call.h"

static struct tally_sort sort_of(const char *target, unsigned verb)
{
    struct suite_call s;
    suite_call_init(&s, target, NULL, STR(""));
    struct tally_sort sort = tally_sort_of(s.http.method, &s.call.req, verb);
    suite_call_done(&s); /* what it names are tables */
    return sort;
}

static void sorts(void **state)
{
    static const struct {
        const char *target;
        unsigned verb;
        const char *name, *scope;
        bool dry_run;
    } cases[] = {
        { "/api/v1/pods", KIND_LIST_VERB, "LIST", "cluster", false },
        { "/api/v1/namespaces/a/pods?dryRun=All", KIND_CREATE, "POST", "namespace", true },
        { "/api/v1/namespaces/a/pods", KIND_DELETE_COLLECTION, "DELETECOLLECTION", "namespace",
          false },
        { "/api/v1/namespaces/a/pods/p/status", KIND_UPDATE, "PUT", "resource", false },
        { "/api/v1/namespaces/a/pods/p", KIND_PATCH, "PATCH", "resource", false },
        { "/api/v1/namespaces/a/pods/p", KIND_DELETE, "DELETE", "resource", false },
        { "/api/v1/namespaces/a/pods/p", KIND_GET, "GET", "resource", false },
        { "/api/v1/pods?watch=1", KIND_WATCH, "WATCH", "cluster", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tally_sort sort = sort_of(cases[i].target, cases[i].verb);
        assert_string_equal(sort.verb, cases[i].name);
        assert_string_equal(sort.scope, cases[i].scope);
        assert_int_equal(sort.dry_run, cases[i].dry_run);
    }
    /* Nobody makes series by inventing methods. */
    assert_string_equal(tally_sort_of(STR("BREW"), NULL, 0).verb, "other");
    assert_string_equal(tally_sort_of(STR("HEAD"), NULL, 0).verb, "HEAD");
    assert_null(tally_sort_of(STR("GET"), NULL, 0).resource);
}

static void expect(const struct buf *text, const char *line, bool is_there)
{
    bool found = memmem(text->p, text->n, line, strlen(line));
    if (found != is_there)
        fail_msg("%s: %s\n" STR_FMT, is_there ? "missing" : "there", line, STR_ARG(buf_str(text)));
}

#define LABELS(dry_run, scope, sub, verb)                                                      \
    "component=\"apiserver\",dry_run=\"" dry_run "\",group=\"apps\",resource=\"deployments\"," \
    "scope=\"" scope "\",subresource=\"" sub "\",verb=\"" verb "\",version=\"v1\""
#define PUT LABELS("", "resource", "scale", "PUT")

static void requests_are_counted(void **state)
{
    struct tally *t = tally_new(2);
    struct tally_sort put = sort_of("/apis/apps/v1/namespaces/a/deployments/d/scale", KIND_UPDATE);
    (void)state;
    for (size_t shard = 0; shard < 2; shard++)
        for (int i = 0; i < 3; i++)
            tally_begin(t, shard, &put);
    tally_end(t, 0, &put, 200, 5 * NS_PER_MS); /* a bound belongs to what is below it */
    tally_end(t, 0, &put, 409, 6 * NS_PER_MS);
    tally_end(t, 1, &put, 200, 500 * NS_PER_MS);
    tally_end(t, 1, &put, 200, 61 * NS_PER_SEC);
    autobuf text = { 0 };
    tally_write(&text, t);
    expect(&text, "# TYPE apiserver_request_total counter\n", true);
    expect(&text, "# TYPE apiserver_request_duration_seconds histogram\n", true);
    expect(&text, "apiserver_request_total{code=\"200\"," PUT "} 3\n", true);
    expect(&text, "apiserver_request_total{code=\"409\"," PUT "} 1\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"0.005\"} 1\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"0.025\"} 2\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"0.4\"} 2\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"0.6\"} 3\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"60\"} 3\n", true);
    expect(&text, "apiserver_request_duration_seconds_bucket{" PUT ",le=\"+Inf\"} 4\n", true);
    expect(&text, "apiserver_request_duration_seconds_sum{" PUT "} 61.511\n", true);
    expect(&text, "apiserver_request_duration_seconds_count{" PUT "} 4\n", true);
    expect(&text, "apiserver_current_inflight_requests{request_kind=\"mutating\"} 2\n", true);
    expect(&text, "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 0\n", true);
    tally_free(t);
}

static void watches_are_long(void **state)
{
    struct tally *t = tally_new(1);
    struct tally_sort watch = sort_of("/apis/apps/v1/deployments?watch=1", KIND_WATCH),
                      list = sort_of("/apis/apps/v1/deployments", KIND_LIST_VERB);
    (void)state;
    tally_begin(t, 0, &watch);
    tally_begin(t, 0, &watch);
    tally_begin(t, 0, &list);
    tally_end(t, 0, &watch, 200, 3600 * NS_PER_SEC);
    autobuf text = { 0 };
    tally_write(&text, t);
    expect(&text, "apiserver_longrunning_requests{" LABELS("", "cluster", "", "WATCH") "} 1\n",
           true);
    expect(&text,
           "apiserver_request_total{code=\"200\"," LABELS("", "cluster", "", "WATCH") "} 1\n",
           true);
    expect(&text, "duration_seconds_count{" LABELS("", "cluster", "", "WATCH"), false);
    expect(&text, "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 1\n", true);
    expect(&text, "apiserver_current_inflight_requests{request_kind=\"mutating\"} 0\n", true);
    tally_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(requests_are_counted),
        cmocka_unit_test(watches_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
