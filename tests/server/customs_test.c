/* Custom kinds from their definition to their end: what is served, stored, shown and scaled. */
#include "script.h"

static struct script script;

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define GROUP       "/apis/customs.example.com"
#define CRONS       GROUP "/v1/namespaces/default/crons"
#define IT          "apiVersion: customs.example.com/v1, kind: Cron, metadata: {name: "
#define IT2         "apiVersion: customs.example.com/v2, kind: Cron, metadata: {name: "

#define SCHEMA                                                                                    \
    "schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: "       \
    "[when], "                                                                                    \
    "properties: {when: {type: string, pattern: '^[a-z]+$'}, size: {type: integer, default: 3, "  \
    "maximum: 9}}}, status: {type: object, properties: {size: {type: integer}, selector: {type: " \
    "string}}}}}}, subresources: {status: {}, scale: {specReplicasPath: .spec.size, "             \
    "statusReplicasPath: .status.size, labelSelectorPath: .status.selector}}, "                   \
    "additionalPrinterColumns: [{name: When, type: string, jsonPath: .spec.when}]"

static const char definition[] =
    "{metadata: {name: crons.customs.example.com}, spec: {group: customs.example.com, scope: "
    "Namespaced, names: {plural: crons, kind: Cron, shortNames: [cr]}, versions: [{name: v1, "
    "served: "
    "true, storage: true, " SCHEMA "}, {name: v2, served: true, storage: false, " SCHEMA
    "}, {name: v3, "
    "served: false, storage: false, " SCHEMA "}]}}";

static void definitions(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "GET", CRONS, NULL, NULL, NULL, 404, NULL, "Status" },
        { "POST", DEFINITIONS, NULL, NULL,
          "{metadata: {name: other}, spec: {group: a.b, scope: Cluster,"
          " names: {plural: xs, kind: X}, versions: []}}",
          422,
          "metadata.name: Invalid value: \\\"other\\\": must be "
          "spec.names.plural+\\\".\\\"+spec.group",
          NULL },
        { "POST", DEFINITIONS, NULL, NULL, definition, 201, "\"storedVersions\":[\"v1\"]", NULL },
        { "GET", DEFINITIONS "/crons.customs.example.com", NULL, NULL, NULL, 200,
          "\"acceptedNames\":{\"plural\":\"crons\",\"singular\":\"cron\",\"shortNames\":[\"cr\"],"
          "\"kind\":\"Cron\",\"listKind\":\"CronList\"}",
          NULL },
        { "GET", DEFINITIONS "/crons.customs.example.com", NULL, NULL, NULL, 200,
          "\"reason\":\"InitialNamesAccepted\"", NULL },
        /* It is served before the answer says so. */
        { "GET", GROUP, NULL, NULL, NULL, 200,
          "\"preferredVersion\":{\"groupVersion\":\"customs.example.com/v2\",\"version\":\"v2\"}",
          NULL },
        { "GET", GROUP "/v1", NULL, NULL, NULL, 200, "\"name\":\"crons/scale\"", NULL },
        { "GET", GROUP "/v3", NULL, NULL, NULL, 404, NULL, NULL },
        { "GET", CRONS, NULL, NULL, NULL, 200, "\"kind\":\"CronList\"", NULL },
        { "GET", GROUP "/v3/namespaces/default/crons", NULL, NULL, NULL, 404, NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", CRONS, NULL, NULL, "{" IT "a}, spec: {when: now, other: 1}, status: {size: 7}}",
          201, "\"spec\":{\"size\":3,\"when\":\"now\"}", "status" },
        { "POST", CRONS "?fieldValidation=Strict", NULL, NULL,
          "{" IT "b}, spec: {when: now, other: 1}}", 400,
          "strict decoding error: unknown field \\\"spec.other\\\"", NULL },
        { "POST", CRONS, NULL, NULL, "{" IT "b}, spec: {}}", 422,
          "Cron.customs.example.com \\\"b\\\" is invalid: spec.when: Required value", NULL },
        { "POST", CRONS, NULL, NULL, "{" IT "b}, spec: {when: NOW}}", 422,
          "spec.when: Invalid value: \\\"NOW\\\": spec.when in body should match '^[a-z]+$'",
          NULL },
        { "POST", CRONS, NULL, NULL, "{" IT "b}, spec: {when: now, size: 12}}", 422,
          "spec.size: Invalid value: 12: spec.size in body should be less than or equal to 9",
          NULL },
        { "POST", CRONS, NULL, NULL, "{metadata: {name: b}, spec: {when: now}}", 400,
          "Object 'Kind' is missing in", NULL },
        { "POST", CRONS, NULL, NULL, "{" IT2 "b}, spec: {when: now}}", 400,
          "the API version in the data (customs.example.com/v2) does not match the expected API "
          "version "
          "(customs.example.com/v1)",
          NULL },
        { "PUT", CRONS "/a", NULL, NULL, "{" IT "a}, spec: {when: then}}", 422,
          "metadata.resourceVersion: Invalid value: 0: must be specified for an update", NULL },
        { "PATCH", CRONS "/a", NULL, NULL, "{spec: {when: then}, status: {size: 1}}", 200,
          "\"generation\":2", "\"status\"" },
        /* Another version of the same. */
        { "GET", GROUP "/v2/namespaces/default/crons/a", NULL, NULL, NULL, 200,
          "\"apiVersion\":\"customs.example.com/v2\"", NULL },
        { "POST", GROUP "/v2/namespaces/default/crons", NULL, NULL,
          "{" IT2 "c}, spec: {when: now}}", 201, "customs.example.com/v2", NULL },
        { "GET", CRONS "/c", NULL, NULL, NULL, 200, "\"apiVersion\":\"customs.example.com/v1\"",
          NULL },
        { "GET", CRONS, NULL, "application/json;as=Table;v=v1;g=meta.k8s.io", NULL, 200,
          "\"cells\":[\"a\",\"then\"]", NULL },
        { "GET", CRONS "/none", NULL, NULL, NULL, 404,
          "crons.customs.example.com \\\"none\\\" not found", NULL },
        { "PATCH", CRONS "/a", "application/strategic-merge-patch+json", NULL, "{}", 415,
          "application/merge-patch+json", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void subresources(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "PATCH", CRONS "/a/status", NULL, NULL,
          "{spec: {when: never}, status: {size: 2, selector: x=w}}", 200, "\"when\":\"then\"",
          "never" },
        { "GET", CRONS "/a", NULL, NULL, NULL, 200, "\"generation\":2", NULL },
        { "GET", CRONS "/a/scale", NULL, NULL, NULL, 200,
          "\"spec\":{\"replicas\":3},\"status\":{\"replicas\":2,\"selector\":\"x=w\"}", NULL },
        { "PATCH", CRONS "/a/scale", NULL, NULL, "{spec: {replicas: 5}}", 200, "\"replicas\":5",
          NULL },
        { "GET", CRONS "/a", NULL, NULL, NULL, 200, "\"size\":5", NULL },
        { "PATCH", CRONS "/a/scale", NULL, NULL, "{spec: {replicas: 10}}", 422,
          "spec.size in body should be less than or equal to 9", NULL },
        { "PATCH", CRONS "/a/scale", NULL, NULL, "{spec: {replicas: -1}}", 422,
          ".spec.size: Invalid value: -1: should be a non-negative integer", NULL },
        { "GET", CRONS "/a/log", NULL, NULL, NULL, 404, NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void endings(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "PATCH", CRONS "/a", NULL, NULL, "{metadata: {finalizers: [example.com/f]}}", 200, NULL,
          NULL },
        { "DELETE", DEFINITIONS "/crons.customs.example.com", NULL, NULL, NULL, 200,
          "\"customresourcecleanup.apiextensions.k8s.io\"", NULL },
        /* What is held holds its definition; nothing new comes. */
        { "GET", CRONS "/a", NULL, NULL, NULL, 200, "deletionTimestamp", NULL },
        { "GET", CRONS "/c", NULL, NULL, NULL, 404, NULL, NULL },
        { "POST", CRONS, NULL, NULL, "{" IT "d}, spec: {when: now}}", 403,
          "create not allowed while custom resource definition is terminating", NULL },
        { "GET", DEFINITIONS "/crons.customs.example.com", NULL, NULL, NULL, 200, "\"Terminating\"",
          NULL },
        { "PATCH", CRONS "/a", NULL, NULL, "{metadata: {finalizers: null}}", 200, NULL, NULL },
        { "GET", DEFINITIONS "/crons.customs.example.com", NULL, NULL, NULL, 404, NULL, NULL },
        { "GET", CRONS, NULL, NULL, NULL, 404, NULL, "Status" },
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions),
        cmocka_unit_test(objects),
        cmocka_unit_test(subresources),
        cmocka_unit_test(endings),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
