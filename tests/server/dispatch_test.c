/* Which code answers which request, before any object is looked at; and what nobody answers. */
#include "script.h"

#include <unistd.h>
#include "base/idiom.h"
#include "server/http/tally.h"

static struct script script;

#define DEFAULT SCRIPT_DEFAULT
#define MAPS    DEFAULT "/configmaps"
#define PODS    DEFAULT "/pods"
#define STEP(method, path, status, says)                   \
    {                                                      \
        method, path, NULL, NULL, NULL, status, says, NULL \
    }

static void paths_that_lead_nowhere(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        STEP("GET", "/api/v1/things", 404, "the server could not find the requested resource"),
        STEP("GET", "/api/v2/pods", 404, NULL),
        STEP("GET", "/apis/apps/v9/deployments", 404,
             "\"message\":\"the server could not find the requested resource\""),
        STEP("GET", DEFAULT "/nodes/a", 404, NULL),
        STEP("GET", "/api/v1/nodes/a/nothing", 404, NULL),
        STEP("GET", PODS "/a/status/more", 404, NULL),
        STEP("GET", MAPS "/%zz", 400, NULL),
        STEP("GET", MAPS "/%00", 400, NULL),
        STEP("GET", MAPS "?labelSelector=%ff", 400, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

#define NOT_ALLOWED "the server does not allow this method on the requested resource"

static void methods_without_a_verb(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        STEP("PUT", MAPS, 405, NOT_ALLOWED),
        STEP("PATCH", MAPS, 405, NOT_ALLOWED),
        STEP("POST", MAPS "/a", 405, NOT_ALLOWED),
        STEP("DELETE", PODS "/a/status", 405, NOT_ALLOWED),
        STEP("POST", PODS "/a/status", 405, NOT_ALLOWED),
        STEP("GET", PODS "/a/eviction", 405, NOT_ALLOWED),
        STEP("GET", PODS "/a/binding", 405, NOT_ALLOWED),
        STEP("DELETE", "/api/v1/namespaces", 405, NOT_ALLOWED),
        STEP("POST", "/api/v1/componentstatuses", 405, NOT_ALLOWED),
        STEP("GET", "/api/v1/namespaces/default/bindings", 405, NOT_ALLOWED),
    };
    SCRIPT_PLAY(&script, steps);
}

/* Only the kinds that have a path of some name have it. */
static void subresources(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS, NULL, NULL, "{metadata: {name: a}}", 201, NULL, NULL },
        STEP("GET", MAPS "/a/status", 404, "the server could not find the requested resource"),
        STEP("GET", MAPS "/a/scale", 404, "the server could not find the requested resource"),
        STEP("GET", PODS "/a/scale", 404, "the server could not find the requested resource"),
        STEP("GET", PODS "/a/status", 404, "pods \\\"a\\\" not found"),
        STEP("GET", PODS "/a/ephemeralcontainers", 404, "pods \\\"a\\\" not found"),
        STEP("GET", PODS "/a/resize", 404, "pods \\\"a\\\" not found"),
        STEP("GET", PODS "/a/log", 404, "pods \\\"a\\\" not found"),
        STEP("GET", "/apis/apps/v1/namespaces/default/deployments/a/scale", 404,
             "deployments.apps \\\"a\\\" not found"),
        STEP("GET", "/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval", 404,
             "certificatesigningrequests.certificates.k8s.io \\\"a\\\" not found"),
        STEP("GET", "/api/v1/componentstatuses", 200, "\"kind\":\"ComponentStatusList\""),
    };
    SCRIPT_PLAY(&script, steps);
}

/* A write whose answer nobody could read does not happen. */
static void nothing_is_written_for_nobody(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS, NULL, "text/html", "{metadata: {name: unseen}}", 406, NULL, NULL },
        { "POST", MAPS "?includeObject=All", NULL, "application/json;as=Table;v=v1;g=meta.k8s.io",
          "{metadata: {name: unseen}}", 400, "includeObject: Invalid value: \\\"All\\\"", NULL },
        { "POST", MAPS "?timeout=x", NULL, NULL, "{metadata: {name: unseen}}", 400,
          "invalid timeout specified in the request URL - time: invalid duration \\\"x\\\"", NULL },
        STEP("GET", MAPS "/unseen", 404, NULL),
        { "POST", MAPS, NULL, "application/json;as=Table;v=v1;g=meta.k8s.io",
          "{metadata: {name: seen}}", 201, "\"kind\":\"Table\"", NULL },
        { "POST", MAPS, NULL, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
          "{metadata: {name: partly}, data: {a: b}}", 201, "\"kind\":\"PartialObjectMetadata\"",
          "\"data\"" },
    };
    SCRIPT_PLAY(&script, steps);
}

/* ---- What comes beside the answer ---- */

static void headers_of_answers(void **state)
{
    (void)state;
    static const struct {
        const char *target, *headers, *words; /* in the head, or in the body */
    } cases[] = {
        { MAPS, "", "content-type: application/json\r\n" },
        { MAPS, "", "cache-control: no-cache, private\r\n" },
        { MAPS, "Accept: application/yaml\r\n", "content-type: application/yaml\r\n" },
        { MAPS "?pretty=true", "", "{\n  \"kind\": \"ConfigMapList\"" },
        { MAPS, "User-Agent: curl/8\r\n", "{\n  \"kind\": \"ConfigMapList\"" },
        { MAPS "?pretty=false", "User-Agent: curl/8\r\n", "{\"kind\":\"ConfigMapList\"" },
        { "/api/v1/componentstatuses", "",
          "warning: 299 - \"v1 ComponentStatus is deprecated in v1.19+\"\r\n" },
        { DEFAULT "/endpoints", "",
          "warning: 299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
          "EndpointSlice\"\r\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a = live_get(&script.live, cases[i].target, cases[i].headers);
        if (a.status != 200 ||
            (!memmem(a.head.p, a.head.n, cases[i].words, strlen(cases[i].words)) &&
             !memmem(a.body.p, a.body.n, cases[i].words, strlen(cases[i].words))))
            fail_msg("%s %s: no %s\n" STR_FMT STR_FMT, cases[i].target, cases[i].headers,
                     cases[i].words, STR_ARG(a.head), STR_ARG(str_take(a.body, 200)));
    }
}

static void managers_can_be_hidden(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool server_hides, hidden;
    } cases[] = {
        { "application/json", false, false },
        { "application/json;managedFields=0", false, true },
        { "application/json", true, true },
        { "application/json;managedFields=1", true, false },
    };
    static const char *const targets[] = { MAPS, MAPS "/partly" };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t t = 0; t < 2; t++) {
            script.live.api.hides_managers = cases[i].server_hides;
            struct sent got = requests_send(script.requests, &script.arena, "GET",
                                            str_of(targets[t]), "", cases[i].accept, STR(""));
            if (!memmem(got.body.p, got.body.n, "managedFields", 13) != cases[i].hidden)
                fail_msg("%s of %s", cases[i].accept, targets[t]);
        }
    script.live.api.hides_managers = false;
}

/* ---- Counting ---- */

static void requests_are_counted_by_what_they_are(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        STEP("GET", "/apis/batch/v1/namespaces/default/cronjobs/none", 404, NULL),
        STEP("GET", "/apis/batch/v1/namespaces/default/cronjobs/none", 404, NULL),
        STEP("DELETE", "/apis/batch/v1/namespaces/default/cronjobs", 200, NULL),
    };
    static const char *const lines[] = {
        "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"batch\","
        "resource=\"cronjobs\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\"} "
        "2\n",
        "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"batch\","
        "resource=\"cronjobs\",scope=\"namespace\",subresource=\"\",verb=\"DELETECOLLECTION\","
        "version=\"v1\"} 1\n",
    };
    SCRIPT_PLAY(&script, steps);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        bool found = false;
        for (int tries = 0; !found && tries < 1000; tries++) { /* it is counted after the answer */
            autobuf text = { 0 };
            tally_write(&text, script.live.api.tally);
            found = memmem(text.p, text.n, lines[i], strlen(lines[i]));
            if (!found)
                (void)usleep(1000);
        }
        if (!found)
            fail_msg("no %s", lines[i]);
    }
}

/* ---- What cannot be read ---- */

#define BROKEN                                                                                  \
    "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /configmaps/default/" \
    "broken, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
#define UNSAFE "ignoreStoreReadErrorWithClusterBreakingPotential=true"

static void damaged_objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        STEP("GET", MAPS "/broken", 500, BROKEN),
        STEP("GET", MAPS, 500, "failed to read one or more configmaps from the storage"),
        { "PATCH", MAPS "/broken", NULL, NULL, "{data: {a: b}}", 500, BROKEN, NULL },
        STEP("DELETE", MAPS "/broken", 500, BROKEN),
        STEP("DELETE", MAPS "/broken?dryRun=All&" UNSAFE, 200, NULL),
        STEP("GET", MAPS "/broken", 500, BROKEN),
        STEP("DELETE", MAPS "/broken?" UNSAFE, 200, "\"status\":\"Success\""),
        STEP("GET", MAPS "/broken", 404, NULL),
        STEP("GET", MAPS, 200, NULL),
    };
    (void)live_put_bytes(&script.live, live_key(&script.live, "default", "broken"),
                         STR("nothing that a server would write"));
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_that_lead_nowhere),
        cmocka_unit_test(methods_without_a_verb),
        cmocka_unit_test(subresources),
        cmocka_unit_test(nothing_is_written_for_nobody),
        cmocka_unit_test(headers_of_answers),
        cmocka_unit_test(managers_can_be_hidden),
        cmocka_unit_test(requests_are_counted_by_what_they_are),
        cmocka_unit_test(damaged_objects),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
