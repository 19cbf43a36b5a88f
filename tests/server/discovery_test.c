/* What there is, as clients find it out before anything else. */
#include "script.h"

static struct script script;

#define GET(path, accept, status, says, silent)               \
    {                                                         \
        "GET", path, NULL, accept, NULL, status, says, silent \
    }
#define AGGREGATED(v) "application/json;g=apidiscovery.k8s.io;v=" v ";as=APIGroupDiscoveryList"

static void groups(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET("/api", NULL, 200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],", NULL),
        GET("/apis", NULL, 200, "\"kind\":\"APIGroupList\"", "\"name\":\"\""),
        GET("/apis/apps", NULL, 200,
            "\"preferredVersion\":{\"groupVersion\":\"apps/v1\",\"version\":\"v1\"}", NULL),
        GET("/apis/nothing", NULL, 404, NULL, NULL),
        GET("/apis/apps/v9", NULL, 404, NULL, NULL),
        GET("/api/v9", NULL, 404, NULL, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

/* What kubectl needs to know of a resource. */
static void resources(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET("/api/v1", NULL, 200, "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\"", NULL),
        GET("/api/v1", NULL, 200,
            "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\","
            "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
            "\"update\","
            "\"watch\"],\"shortNames\":[\"po\"],\"categories\":[\"all\"],\"storageVersionHash\":",
            NULL),
        GET("/api/v1", NULL, 200,
            "{\"name\":\"pods/"
            "eviction\",\"singularName\":\"\",\"namespaced\":true,\"group\":\"policy\","
            "\"version\":\"v1\",\"kind\":\"Eviction\",\"verbs\":[\"create\"]}",
            NULL),
        GET("/api/v1", NULL, 200,
            "{\"name\":\"pods/status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Pod\","
            "\"verbs\":[\"get\",\"patch\",\"update\"]}",
            NULL),
        GET("/api/v1", NULL, 200,
            "{\"name\":\"nodes\",\"singularName\":\"node\",\"namespaced\":false", NULL),
        GET("/apis/apps/v1", NULL, 200,
            "{\"name\":\"deployments/scale\",\"singularName\":\"\",\"namespaced\":true,\"group\":"
            "\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\",\"verbs\":[\"get\",\"patch\","
            "\"update\"]}",
            NULL),
        GET("/apis/apps/v1", NULL, 200, "\"shortNames\":[\"deploy\"]", NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void all_at_once(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET("/apis", AGGREGATED("v2"), 200,
            "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\"", NULL),
        GET("/apis", AGGREGATED("v2beta1") ",application/json", 200,
            "\"apiVersion\":\"apidiscovery.k8s.io/v2beta1\"", NULL),
        GET("/api", AGGREGATED("v2"), 200,
            "\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"Pod\"},\"scope\":"
            "\"Namespaced\",\"singularResource\":\"pod\"",
            NULL),
        GET("/apis", "application/json", 200, "APIGroupList", "APIGroupDiscoveryList"),
        GET("/apis", AGGREGATED("v3"), 406, NULL, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static const char definition[] =
    "{metadata: {name: finds.found.example.com}, spec: {group: found.example.com, scope: Cluster, "
    "names: {plural: finds, kind: Find, shortNames: [fi], categories: [all]}, versions: [{name: "
    "v1, "
    "served: true, storage: true, schema: {openAPIV3Schema: {type: object}}, subresources: "
    "{status: "
    "{}}}, {name: v2beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: "
    "object}}}]}}";

static struct str etag_of(const char *path)
{
    struct answer a = live_get(&script.live, path, "Accept: " AGGREGATED("v2") "\r\n");
    const char *at = memmem(a.head.p, a.head.n, "etag: ", 6);
    if (!at)
        fail_msg("no tag: " STR_FMT, STR_ARG(a.head));
    struct str rest = str_skip(a.head, (size_t)(at - a.head.p));
    return str_cut(&rest, '\r');
}

/* Kinds come and go, and the tag of all of them with them. */
static void custom_kinds(void **state)
{
    (void)state;
    static const struct script_step there[] = {
        GET("/apis", NULL, 200, "\"name\":\"found.example.com\"", NULL),
        GET("/apis/found.example.com", NULL, 200,
            "\"versions\":[{\"groupVersion\":\"found.example.com/v1\",\"version\":\"v1\"},"
            "{\"groupVersion\":\"found.example.com/v2beta1\",\"version\":\"v2beta1\"}]",
            NULL),
        GET("/apis/found.example.com/v1", NULL, 200,
            "{\"name\":\"finds\",\"singularName\":\"find\",\"namespaced\":false,\"kind\":\"Find\","
            "\"verbs\":[\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"create\","
            "\"update\","
            "\"watch\"],\"shortNames\":[\"fi\"],\"categories\":[\"all\"],",
            NULL),
        GET("/apis/found.example.com/v2beta1", NULL, 200, "\"name\":\"finds\"", "finds/status"),
    };
    static const struct script_step gone[] = {
        { "DELETE",
          "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/finds.found.example.com", NULL,
          NULL, NULL, 200, NULL, NULL },
        GET("/apis", NULL, 200, NULL, "found.example.com"),
        GET("/apis/found.example.com/v1", NULL, 404, NULL, NULL),
    };
    struct str before = etag_of("/apis");
    assert_true(str_eq(etag_of("/apis"), before));
    requests_define(script.requests, &script.arena, definition);
    assert_false(str_eq(etag_of("/apis"), before));
    SCRIPT_PLAY(&script, there);
    SCRIPT_PLAY(&script, gone);
    assert_true(str_eq(etag_of("/apis"), before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(resources),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(custom_kinds),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
