/* Which form an answer has, by Accept: of objects, lists, watches, discovery and refusals. First
 * comes a router that knows built-in kinds and whole media types only, then the parameters. */
#include "script.h"

#define TABLE   "as=Table;v=v1;g=meta.k8s.io"
#define ROUTER  "406: Not Acceptable"
#define CHOICE  "only the following media types are accepted: application/json, application/yaml"
#define STREAMS "only the following media types are accepted: application/json;stream=watch"
#define MAPS    "/api/v1/namespaces/default/configmaps"
#define ONE     MAPS "/one"
#define WATCH   MAPS "?watch=1&timeoutSeconds=1"
#define CUSTOM  "/apis/negotiation.example.com/v1/namespaces/default/things"
#define APPS    "/apis/apps"

static struct script script;

#define GET(path, accept, status, says)                     \
    {                                                       \
        "GET", path, NULL, accept, NULL, status, says, NULL \
    }

static void set_up(void)
{
    static const struct script_step steps[] = {
        { "POST", MAPS, NULL, NULL, "{metadata: {name: one}, data: {a: b}}", 201, NULL, NULL },
        { "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, NULL,
          "{metadata: {name: things.negotiation.example.com}, spec: {group: "
          "negotiation.example.com, scope: Namespaced, names: {plural: things, kind: Thing}, "
          "versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
          "object}}}]}}",
          201, NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void objects_and_lists(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET(ONE, "application/yaml", 200, "kind: ConfigMap\n"),
        GET(ONE, "application/*", 406, ROUTER),
        GET(MAPS, "application/*", 406, ROUTER),
        GET(MAPS, "APPLICATION/JSON", 406, ROUTER),
        GET(MAPS, "*", 406, ROUTER),
        GET(MAPS, "application/*, */*;q=0.1", 200, "\"kind\":\"ConfigMapList\""),
        GET(MAPS, "application/json;q=0", 200, "\"kind\":\"ConfigMapList\""),
        GET(MAPS, "application/json;v=v1", 406, CHOICE),
        GET(MAPS, "application/json;g=meta.k8s.io", 406, CHOICE),
        GET(MAPS, "application/json;sv=v1", 200, "ConfigMapList"),
        GET(MAPS, "application/json;sv=v2", 406, CHOICE),
        GET(MAPS, "application/json;stream=watch", 200, "ConfigMapList"),
        GET(MAPS, "application/json;stream=nope", 406, CHOICE),
        GET(MAPS, "application/yaml;stream=watch", 406, CHOICE),
        GET(MAPS, "application/vnd.kubernetes.protobuf;" TABLE ",*/*;" TABLE, 200, "\"Table\""),
        GET(MAPS, "application/json;profile=nopeer", 200, "ConfigMapList"),
        GET(CUSTOM, "application/*", 200, "\"kind\":\"ThingList\""),
        GET(CUSTOM, "image/png", 406, CHOICE),
        GET(CUSTOM, "application/vnd.kubernetes.protobuf", 406, CHOICE),
        { "POST", MAPS, NULL, "application/*", "{metadata: {name: two}}", 406, ROUTER, NULL },
        { "POST", "/api/v1/namespaces/default/pods", NULL, NULL,
          "{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}", 201, NULL, NULL },
        GET("/api/v1/namespaces/default/pods/p/log", "text/plain", 204, NULL),
        { "DELETE", ONE, NULL, "application/json;stream=nope", NULL, 406, CHOICE, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void watches(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET(WATCH, "application/json;stream=nope", 406, CHOICE),
        GET(WATCH, "application/json;stream=watch", 200, "\"type\":\"ADDED\""),
        GET(WATCH, "application/*", 406, ROUTER),
        GET(WATCH, "application/yaml", 406, STREAMS),
        GET(WATCH, "application/yaml, application/json", 406, STREAMS),
        GET(WATCH, "application/json;" TABLE, 200, "\"Table\""),
    };
    SCRIPT_PLAY(&script, steps);
}

static void discovery(void **state)
{
    (void)state;
#define AGGREGATED ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    static const struct script_step steps[] = {
        GET("/api", "application/yaml", 200, "kind: APIVersions\n"),
        GET("/apis", "application/yaml", 200, "- name: apps\n"),
        GET(APPS, "application/yaml", 200, "kind: APIGroup\nname: apps\n"),
        GET("/api/v1", "application/yaml", 200, "groupVersion: v1\n"),
        GET("/apis/apps/v1", "application/yaml", 200, "groupVersion: apps/v1\n"),
        GET("/apis/negotiation.example.com/v1", "application/yaml", 200, "kind: Thing\n"),
        GET("/apis/apps/v1", "application/vnd.kubernetes.protobuf", 200, "APIResourceList"),
        GET("/api", "application/*", 406, ROUTER),
        GET("/apis", "application/*", 200, "APIGroupList"),
        GET(APPS, "application/*", 200, "APIGroup"),
        GET("/apis/apps/v1", "application/*", 406, ROUTER),
        GET("/apis/negotiation.example.com/v1", "application/*", 200, "APIResourceList"),
        GET("/apis/apps/v1", "application/json" AGGREGATED, 406, CHOICE),
        GET("/apis", "application/json, application/json" AGGREGATED, 200, "GroupDiscoveryList"),
        GET("/apis", "application/yaml" AGGREGATED, 200, "kind: APIGroupDiscoveryList\n"),
        GET("/apis", "application/json;v=v2", 406, CHOICE),
        GET("/apis/", "application/json" AGGREGATED, 406, CHOICE),
        GET("/api/", "application/json" AGGREGATED, 200, "GroupDiscoveryList"),
        { "POST", "/apis", NULL, NULL, "{}", 200, "APIGroupList", NULL },
        { "POST", APPS, NULL, NULL, "{}", 200, "APIGroup", NULL },
        { "POST", "/apis/negotiation.example.com/v1", NULL, NULL, "{}", 200, "APIResourceList",
          NULL },
        { "POST", "/apis/apps/v1", NULL, NULL, "{}", 405, "does not allow this method", NULL },
        { "HEAD", "/api/v1", NULL, NULL, NULL, 405, NULL, NULL },
        GET("/apis", "image/png", 406, CHOICE),
    };
    SCRIPT_PLAY(&script, steps);
}

/* Of bodies: names in any case, and parameters that can be read. */
static void content_types(void **state)
{
    (void)state;
#define SEND(type, status)                                                                       \
    {                                                                                            \
        "POST", MAPS "?dryRun=All", type, NULL, "{\"metadata\":{\"name\":\"c\"}}", status, NULL, \
            NULL                                                                                 \
    }
    static const struct script_step steps[] = {
        SEND("application/json", 201),
        SEND("Application/JSON", 201),
        SEND("application/json;", 201),
        SEND("application/json; charset=utf-8", 201),
        SEND("application/json ; charset=\"utf;8\" ; x=y", 201),
        SEND("application/json; charset", 415),
        SEND("application/json; charset=", 415),
        SEND("application/json; =utf-8", 415),
        SEND("application/json; charset=\"utf", 415),
        SEND("application/json; a=b c", 415),
        SEND("application/json, text/plain", 415),
        SEND("application", 415),
    };
    SCRIPT_PLAY(&script, steps);
}

static void refusals(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        GET(MAPS "/none", "application/yaml", 404, "kind: Status\n"),
        GET(MAPS "/none", "application/yaml;" TABLE, 404, "\"kind\":\"Status\""),
        GET(MAPS "/none", "application/json;" TABLE ",application/yaml", 404, "kind: Status\n"),
        GET("/api/v1/nothings", "application/yaml", 404, "kind: Status\n"),
        GET("/api/v1/nothings", "application/vnd.kubernetes.protobuf", 404, "k8s"),
        { "PUT", MAPS "/one/two", NULL, "application/yaml", "{}", 404, "kind: Status\n", NULL },
        { "POST", ONE, NULL, "application/yaml", "{}", 405, "kind: Status\n", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_and_lists), cmocka_unit_test(watches),
        cmocka_unit_test(discovery),         cmocka_unit_test(content_types),
        cmocka_unit_test(refusals),
    };
    script_start(&script);
    set_up();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
