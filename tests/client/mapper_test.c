/* The mapper against a server in this process, and against one that has no aggregated discovery. */
#include <stdatomic.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/mapper.h>

#include "../server/live.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "scripted.h"

static struct spn_arena *arena;

static int setup(void **state)
{
    arena = spn_arena_new();
    return live_setup(state);
}

static int teardown(void **state)
{
    arena = spn_arena_free(arena);
    return live_teardown(state);
}

static struct spn_client *client_to(const char *url)
{
    struct spn_client *c;
    struct spn_err err;
    const struct spn_config cfg = { .server = spn_text_of(url) };
    if (spn_client_new(&cfg, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

/* "group/version/plural", or the code as a number. */
static const char *found(struct spn_mapper *m, const char *words)
{
    struct spn_resource r;
    struct spn_err err;
    int code = spn_mapper_find(m, spn_text_of(words), NULL, arena, &r, &err);
    if (code < 0)
        return spn_arena_printf(arena, "%d", code).p;
    return spn_arena_printf(arena, SPN_FMT "/" SPN_FMT "/" SPN_FMT, SPN_ARG(r.group),
                            SPN_ARG(r.version), SPN_ARG(r.plural))
        .p;
}

static void words(void **state)
{
    (void)state;
    static const struct {
        const char *said, *want;
    } cases[] = {
        { "pods", "/v1/pods" },
        { "po", "/v1/pods" },
        { "Pod", "/v1/pods" },
        { "PODS", "/v1/pods" },
        { "deploy", "apps/v1/deployments" },
        { "deploy.apps", "apps/v1/deployments" },
        { "deployments.v1.apps", "apps/v1/deployments" },
        { "Deployment.v1.apps", "apps/v1/deployments" },
        { "deployments.ap", "apps/v1/deployments" },
        { "events", "/v1/events" },
        { "events.events.k8s.io", "events.k8s.io/v1/events" },
        { "events.v1.events.k8s.io", "events.k8s.io/v1/events" },
        { "ing", "networking.k8s.io/v1/ingresses" },
        { "hpa", "autoscaling/v2/horizontalpodautoscalers" },
        { "hpa.v1.autoscaling", "autoscaling/v1/horizontalpodautoscalers" },
        { "crd", "apiextensions.k8s.io/v1/customresourcedefinitions" },
        { "StorageClass", "storage.k8s.io/v1/storageclasses" },
        { "nothing", "-4" },
        { "pods.apps", "-4" },
        { "deployments.v9.apps", "-4" },
        { "", "-1" },
        { ".apps", "-1" },
    };
    _Static_assert(SPN_NOT_FOUND == 4 && SPN_BAD_REQUEST == 1, "the codes above");
    struct spn_client *c = client_to(live_path("http://" STR_FMT, STR_ARG(live.address)));
    struct spn_mapper *m = spn_mapper_new(c, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strcmp(found(m, cases[i].said), cases[i].want) != 0)
            fail_msg("%s: got %s, want %s", cases[i].said, found(m, cases[i].said), cases[i].want);
    spn_mapper_free(m);
    spn_client_free(c);
}

static void kinds_and_lists(void **state)
{
    (void)state;
    struct spn_client *c = client_to(live_path("http://" STR_FMT, STR_ARG(live.address)));
    struct spn_mapper *m = spn_mapper_new(c, NULL);
    struct spn_resource r;
    struct spn_resources all, of_category;
    struct spn_err err;
    assert_int_equal(
        spn_mapper_of_kind(m, SPN_TEXT("apps/v1"), SPN_TEXT("Deployment"), NULL, arena, &r, &err),
        0);
    assert_text(r.plural, "deployments");
    assert_true(r.namespaced);
    assert_text(r.subresources.items[0], "scale");
    assert_int_equal(spn_mapper_of_kind(m, SPN_TEXT("v1"), SPN_TEXT("Node"), NULL, arena, &r, &err),
                     0);
    struct spn_target node = spn_resource_target(&r, SPN_TEXT("shop"), SPN_TEXT("n1"));
    assert_int_equal(node.ns.n, 0);
    assert_int_equal(
        spn_mapper_of_kind(m, SPN_TEXT("v1"), SPN_TEXT("Deployment"), NULL, arena, &r, &err),
        -SPN_NOT_FOUND);
    assert_int_equal(spn_mapper_list(m, NULL, NULL, arena, &all, &err), 0);
    assert_int_equal(spn_mapper_list(m, "all", NULL, arena, &of_category, &err), 0);
    assert_true(all.n > 40 && of_category.n > 5 && of_category.n < 20);
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(spn_text_eq(all.items[i].group, all.items[k].group) &&
                         spn_text_eq(all.items[i].plural, all.items[k].plural));
    spn_mapper_free(m);
    spn_client_free(c);
}

static void create_definition(struct spn_client *c)
{
    static const char text[] =
        "{\"metadata\":{\"name\":\"ships.sea.example\"},\"spec\":{\"group\":\"sea.example\","
        "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"ships\",\"kind\":\"Ship\","
        "\"shortNames\":[\"sh\"]},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";
    const struct spn_target at =
        SPN_AT("apiextensions.k8s.io", "v1", "customresourcedefinitions", "", "");
    struct spn_value *v;
    struct spn_err err;
    assert_int_equal(spn_value_read_json(arena, spn_text_of(text), &v, NULL), 0);
    if (spn_client_create(c, &at, v, NULL, arena, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* What was not there is looked for again, and what the mapper has said stays good. */
static void new_kinds(void **state)
{
    (void)state;
    struct spn_client *c = client_to(live_path("http://" STR_FMT, STR_ARG(live.address)));
    struct spn_mapper *m = spn_mapper_new(c, &(struct spn_mapper_options){ .refresh_ms = 1 });
    assert_string_equal(found(m, "ships"), "-4");
    create_definition(c);
    const char *got = found(m, "sh");
    for (int i = 0; i < 1000 && got[0] == '-'; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000000 }, NULL);
        got = found(m, "sh");
    }
    assert_string_equal(got, "sea.example/v1/ships");
    assert_string_equal(found(m, "ships.v1.sea.example"), "sea.example/v1/ships");
    assert_string_equal(found(m, "Ship"), "sea.example/v1/ships");
    spn_mapper_free(m);
    spn_client_free(c);
}

/* ---- Servers that are scripted ---- */

struct old_server {
    _Atomic unsigned asked;
};

static struct scripted_answer old_style(void *arg, const struct http_request *req, struct arena *a)
{
    static const struct {
        struct str path;
        const char *body;
    } documents[] = {
        { { "/api", 4 }, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}" },
        { { "/api/v1", 7 },
          "{\"kind\":\"APIResourceList\",\"resources\":[{\"name\":\"pods\",\"singularName\":\"\","
          "\"namespaced\":true,\"kind\":\"Pod\",\"verbs\":[\"get\"],\"shortNames\":[\"po\"]},"
          "{\"name\":\"pods/log\",\"kind\":\"Pod\"},{\"name\":\"pods/"
          "status\",\"kind\":\"Pod\"}]}" },
        { { "/apis", 5 },
          "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"down.example\",\"versions\":[{"
          "\"version\":\"v1\"}],\"preferredVersion\":{\"version\":\"v1\"}},{\"name\":\"up."
          "example\","
          "\"versions\":[{\"version\":\"v2\"},{\"version\":\"v1\"}],\"preferredVersion\":{"
          "\"version\":\"v1\"}}]}" },
        { { "/apis/up.example/v1", 19 },
          "{\"resources\":[{\"name\":\"ships\",\"kind\":\"Ship\",\"namespaced\":false}]}" },
        { { "/apis/up.example/v2", 19 },
          "{\"resources\":[{\"name\":\"ships\",\"kind\":\"Ship\"},{\"name\":\"boats\","
          "\"kind\":\"Boat\"}]}" },
    };
    (void)a;
    atomic_fetch_add(&((struct old_server *)arg)->asked, 1);
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        if (str_eq(req->path, documents[i].path))
            return scripted_json(200, documents[i].body);
    return scripted_json(503, "the aggregated server is down");
}

/* Version by version; a group that is down does not hide the others. */
static void without_aggregated_discovery(void **state)
{
    (void)state;
    struct old_server told = { 0 };
    struct scripted *server = scripted_start(old_style, &told);
    struct spn_client *c = client_to(scripted_url(server));
    struct spn_mapper *m = spn_mapper_new(c, &(struct spn_mapper_options){ .refresh_ms = 3600000 });
    struct spn_texts missing;
    struct spn_resource r;
    assert_string_equal(found(m, "po"), "/v1/pods");
    assert_int_equal(atomic_load(&told.asked), 6);
    assert_string_equal(found(m, "ships"), "up.example/v1/ships");
    assert_string_equal(found(m, "ships.v2.up.example"), "up.example/v2/ships");
    assert_string_equal(found(m, "Boat"), "up.example/v2/boats");
    assert_int_equal(spn_mapper_missing(m, NULL, arena, &missing, NULL), 0);
    assert_int_equal(missing.n, 1);
    assert_text(missing.items[0], "down.example/v1");
    _Static_assert(SPN_UNAVAILABLE == 16, "the code below");
    assert_string_equal(found(m, "wrecks.down.example"), "-16");
    assert_string_equal(found(m, "wrecks"), "-4");
    assert_int_equal(atomic_load(&told.asked), 6); /* it was not asked again for any of these */
    assert_int_equal(spn_mapper_find(m, SPN_TEXT("pod"), NULL, arena, &r, NULL), 0);
    assert_int_equal(r.subresources.n, 2);
    assert_text(r.subresources.items[0], "log");
    spn_mapper_reset(m);
    assert_string_equal(found(m, "po"), "/v1/pods");
    assert_int_equal(atomic_load(&told.asked), 12);
    spn_mapper_free(m);
    spn_client_free(c);
    scripted_stop(server);
}

static struct scripted_answer stale(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    (void)a;
    if (str_eq(req->path, STR("/api")))
        return scripted_json(404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404}");
    return scripted_json(
        200,
        "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","
        "\"items\":[{\"metadata\":{\"name\":\"metrics.k8s.io\"},\"versions\":[{\"version\":"
        "\"v1\",\"freshness\":\"Stale\"}]},{\"metadata\":{\"name\":\"a.example\"},\"versions\":[{"
        "\"version\":\"v1\",\"freshness\":\"Current\",\"resources\":[{\"resource\":\"things\","
        "\"responseKind\":{\"kind\":\"Thing\"},\"scope\":\"Cluster\"}]}]}]}");
}

static void stale_part(void **state)
{
    (void)state;
    struct scripted *server = scripted_start(stale, NULL);
    struct spn_client *c = client_to(scripted_url(server));
    struct spn_mapper *m = spn_mapper_new(c, NULL);
    struct spn_texts missing;
    assert_string_equal(found(m, "thing"), "a.example/v1/things");
    assert_string_equal(found(m, "nodes.metrics.k8s.io"), "-16");
    assert_string_equal(found(m, "nodes.v1.metrics.k8s.io"), "-16");
    assert_int_equal(spn_mapper_missing(m, NULL, arena, &missing, NULL), 0);
    assert_int_equal(missing.n, 1);
    spn_mapper_free(m);
    spn_client_free(c);
    scripted_stop(server);
}

static struct scripted_answer refuse(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    (void)req;
    (void)a;
    return scripted_json(403, "{\"kind\":\"Status\",\"message\":\"no\",\"reason\":\"Forbidden\"}");
}

static void nothing_at_all(void **state)
{
    (void)state;
    struct scripted *server = scripted_start(refuse, NULL);
    struct spn_client *c = client_to(scripted_url(server));
    struct spn_mapper *m = spn_mapper_new(c, NULL);
    struct spn_resource r;
    struct spn_err err;
    assert_int_equal(spn_mapper_find(m, SPN_TEXT("pods"), NULL, arena, &r, &err), -SPN_FORBIDDEN);
    assert_null(err.status);
    assert_string_equal(err.message, "ask for the server's resources: no");
    spn_mapper_free(m);
    spn_client_free(c);
    scripted_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words, setup, teardown),
        cmocka_unit_test_setup_teardown(kinds_and_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(new_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(without_aggregated_discovery, setup, teardown),
        cmocka_unit_test_setup_teardown(stale_part, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_at_all, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
