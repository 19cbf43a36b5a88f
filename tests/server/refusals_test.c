/* What is refused and what is taken, by rules that depend on how a request came. */
#include "script.h"

static struct script script;

#define MAPS   "/api/v1/namespaces/default/configmaps"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define AN_EVENT                                                                                 \
    "eventTime: 2020-01-01T00:00:00.000000Z, reportingController: a.b/c, reportingInstance: i, " \
    "action: a, reason: r, type: Normal, regarding: {namespace: default}}"

static void revisions_of_new_objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS "?dryRun=All", NULL, NULL, "{metadata: {name: a, resourceVersion: '5'}}",
          201, "\"resourceVersion\":\"5\"", NULL },
        { "POST", MAPS, NULL, NULL, "{metadata: {name: a, resourceVersion: '5'}}", 500,
          "resourceVersion should not be set on objects to be created", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void names_of_events(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", EVENTS, NULL, NULL, "{metadata: {name: Bad_Name}, " AN_EVENT, 422,
          "metadata.name: Invalid value: \\\"Bad_Name\\\": a lowercase RFC 1123 subdomain", NULL },
        { "POST", EVENTS, NULL, NULL, "{metadata: {name: good}, " AN_EVENT, 201, NULL, NULL },
        { "POST", "/api/v1/namespaces/default/events", NULL, NULL,
          "{metadata: {name: Bad_Name}, involvedObject: {namespace: default}}", 201, NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revisions_of_new_objects),
        cmocka_unit_test(names_of_events),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
