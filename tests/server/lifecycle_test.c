/* The life of objects as clients see it: created, named, changed, held, ended. */
#include "script.h"

static struct script script;

#define DEFAULT SCRIPT_DEFAULT
#define MAPS    DEFAULT "/configmaps"
#define PODS    DEFAULT "/pods"
#define JSON    "application/json"

/* ---- Creating ---- */

static void creating(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS,
                    "{metadata: {name: a, uid: mine, creationTimestamp: '2000-01-01T00:00:00Z'}}",
                    201, "\"namespace\":\"default\""),
        { "GET", MAPS "/a", NULL, NULL, NULL, 200, NULL, "mine" },
        { "GET", MAPS "/a", NULL, NULL, NULL, 200, NULL, "2000-01-01" },
        SCRIPT_POST(MAPS, "{metadata: {name: a}}", 409,
                    "\"message\":\"configmaps \\\"a\\\" already exists\""),
        SCRIPT_POST(MAPS, "{metadata: {name: b, namespace: other}}", 400,
                    "the namespace of the provided object does not match the namespace sent on the "
                    "request"),
        SCRIPT_POST(
            MAPS, "{}", 422,
            "ConfigMap \\\"\\\" is invalid: metadata.name: Required value: name or generateName is "
            "required"),
        SCRIPT_POST(MAPS, "{metadata: {name: Not_A_Name}}", 422,
                    "\"reason\":\"FieldValueInvalid\""),
        SCRIPT_POST("/api/v1/namespaces/nowhere/configmaps", "{metadata: {name: a}}", 404,
                    "namespaces \\\"nowhere\\\" not found"),
        SCRIPT_POST("/api/v1/configmaps", "{metadata: {name: a}}", 405, NULL),
        /* Neither a deletion nor a generation can be written. */
        SCRIPT_POST(
            PODS,
            "{metadata: {name: born, generation: 9, deletionTimestamp: '2000-01-01T00:00:00Z'}, "
            "spec: {containers: [{name: c, image: i}]}}",
            201, "\"generation\":1"),
        { "GET", PODS "/born", NULL, NULL, NULL, 200, NULL, "deletionTimestamp" },
        SCRIPT_DELETE(PODS "/born", NULL, 200, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void generated_names(void **state)
{
    (void)state;
    struct str names[2];
    for (size_t i = 0; i < 2; i++) {
        struct value body = requests_parse(&script.arena, STR("{metadata: {generateName: gen-}}"));
        struct sent got = requests_json(script.requests, &script.arena, "POST", STR(MAPS), &body);
        assert_int_equal(got.status, 201);
        names[i] = value_str(value_dig(&got.obj, "metadata", "name"));
        assert_int_equal(names[i].n, 9); /* and five letters and digits */
        assert_true(str_starts(names[i], STR("gen-")));
        assert_true(
            str_eq(value_str(value_dig(&got.obj, "metadata", "generateName")), STR("gen-")));
    }
    assert_false(str_eq(names[0], names[1]));
    static const struct script_step steps[] = {
        /* A name that is given is taken. */
        SCRIPT_POST(MAPS, "{metadata: {name: given, generateName: gen-}}", 201,
                    "\"name\":\"given\""),
        SCRIPT_POST(MAPS, "{metadata: {name: given, generateName: gen-}}", 409,
                    "the server was not able to generate a unique name for the object"),
        SCRIPT_POST(MAPS, "{metadata: {generateName: Bad_}}", 422,
                    "metadata.generateName: Invalid value"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void dry_runs(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS "?dryRun=All", NULL, NULL, "{metadata: {name: dry}}", 201,
          "\"uid\":", "resourceVersion" },
        SCRIPT_GET(MAPS "/dry", 404, "configmaps \\\"dry\\\" not found"),
        SCRIPT_POST(MAPS, "{metadata: {name: dry}, data: {a: b}}", 201, NULL),
        SCRIPT_POST(MAPS "?dryRun=All", "{metadata: {name: dry}}", 409, "already exists"),
        SCRIPT_PUT(MAPS "/dry?dryRun=All", "{metadata: {name: dry}, data: {a: c}}", 200,
                   "\"a\":\"c\""),
        SCRIPT_PATCH(MAPS "/dry?dryRun=All", "{data: {a: d}}", 200, "\"a\":\"d\""),
        SCRIPT_DELETE(MAPS "/dry?dryRun=All", NULL, 200, "\"status\":\"Success\""),
        SCRIPT_GET(MAPS "/dry", 200, "\"a\":\"b\""),
        SCRIPT_POST(MAPS "?dryRun=some", "{metadata: {name: e}}", 422,
                    "dryRun: Unsupported value: [\\\"some\\\"]: supported values: \\\"All\\\""),
    };
    SCRIPT_PLAY(&script, steps);
}

/* ---- Changing ---- */

static void replacing(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: put}, data: {a: b}}", 201, NULL),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: put}, data: {a: c}}", 200, "\"a\":\"c\""),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: put, resourceVersion: '1'}}", 409,
                   "Operation cannot be fulfilled on configmaps \\\"put\\\": the object has been "
                   "modified; "
                   "please apply your changes to the latest version and try again"),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: put, uid: other}}", 409,
                   "Precondition failed: UID in precondition: other, UID in object meta: "),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: other}}", 400,
                   "the name of the object (other) does not match the name on the URL (put)"),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: put, namespace: kube-system}}", 400,
                   "does not match the namespace"),
        SCRIPT_PUT(MAPS "/put", "{metadata: {name: put, resourceVersion: x}}", 500,
                   "invalid syntax"),
        SCRIPT_PUT(MAPS "/nothing", "{metadata: {name: nothing}}", 404, "\"reason\":\"NotFound\""),
        /* Some kinds are made by a PUT, some want to know what they replace. */
        SCRIPT_PUT(DEFAULT "/endpoints/made", "{metadata: {name: made}}", 201, NULL),
        SCRIPT_PUT("/apis/coordination.k8s.io/v1/namespaces/default/leases/made",
                   "{metadata: {name: made}}", 201, NULL),
        SCRIPT_PUT("/apis/coordination.k8s.io/v1/namespaces/default/leases/made",
                   "{metadata: {name: made}}", 422,
                   "metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        SCRIPT_PUT("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/made",
                   "{metadata: {name: made}}", 201, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static struct str revision_of(const char *path)
{
    struct sent got = requests_json(script.requests, &script.arena, "GET", str_of(path), NULL);
    assert_int_equal(got.status, 200);
    return value_str(value_dig(&got.obj, "metadata", "resourceVersion"));
}

/* Whoever writes what is there already writes nothing. */
static void changing_nothing(void **state)
{
    (void)state;
    static const struct script_step make[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: same}, data: {a: b}}", 201, NULL),
    };
    static const struct script_step same[] = {
        SCRIPT_PATCH(MAPS "/same", "{data: {a: b}}", 200, NULL),
        SCRIPT_PATCH(MAPS "/same", "{metadata: {annotations: {x: null}}}", 200, NULL),
    };
    static const struct script_step other[] = {
        SCRIPT_PATCH(MAPS "/same", "{data: {a: c}}", 200, NULL),
    };
    SCRIPT_PLAY(&script, make);
    struct str before = revision_of(MAPS "/same");
    SCRIPT_PLAY(&script, same);
    assert_true(str_eq(revision_of(MAPS "/same"), before));
    SCRIPT_PLAY(&script, other);
    assert_false(str_eq(revision_of(MAPS "/same"), before));
}

static void what_stays_as_it_was(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: fixed}, data: {a: b}, immutable: true}", 201, NULL),
        SCRIPT_PATCH(MAPS "/fixed", "{data: {a: c}}", 422,
                     "data: Forbidden: field is immutable when `immutable` is set"),
        SCRIPT_PATCH(MAPS "/fixed", "{immutable: false}", 422, "immutable: Forbidden"),
        SCRIPT_PATCH(MAPS "/fixed",
                     "{metadata: {creationTimestamp: '2000-01-01T00:00:00Z', selfLink: x}}", 200,
                     "\"creationTimestamp\":\"20"),
        { "GET", MAPS "/fixed", NULL, NULL, NULL, 200, NULL, "2000-01-01" },
        SCRIPT_PATCH(MAPS "/fixed", "{metadata: {uid: other}}", 422,
                     "metadata.uid: Invalid value: \\\"other\\\": field is immutable"),
        SCRIPT_PATCH(MAPS "/fixed", "{metadata: {name: moved}}", 400,
                     "the name of the object (moved) does not match the name on the URL (fixed)"),
        SCRIPT_PATCH(MAPS "/fixed", "{metadata: {generation: 12}}", 200, NULL),
        { "GET", MAPS "/fixed", NULL, NULL, NULL, 200, NULL, "\"generation\"" },
    };
    SCRIPT_PLAY(&script, steps);
}

/* ---- Ending ---- */

static void finalizers(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: held, finalizers: [example.com/a, example.com/b]}}",
                    201, NULL),
        SCRIPT_DELETE(MAPS "/held", NULL, 200, "\"deletionGracePeriodSeconds\":0"),
        SCRIPT_GET(MAPS "/held", 200, "\"deletionTimestamp\""),
        SCRIPT_DELETE(MAPS "/held", NULL, 200, "\"deletionTimestamp\""),
        SCRIPT_POST(MAPS, "{metadata: {name: held}}", 409,
                    "object is being deleted: configmaps \\\"held\\\" already exists"),
        /* What ends can be let go, but not held longer. */
        SCRIPT_PATCH(
            MAPS "/held", "{metadata: {finalizers: [example.com/a, example.com/c]}}", 422,
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            "deleted, found new finalizers []string{\\\"example.com/c\\\"}"),
        SCRIPT_PATCH(MAPS "/held", "{metadata: {finalizers: [example.com/a]}}", 200, NULL),
        SCRIPT_PATCH(MAPS "/held", "{metadata: {deletionTimestamp: null}}", 200,
                     "\"deletionTimestamp\""),
        SCRIPT_PATCH(MAPS "/held", "{metadata: {finalizers: null}}", 200, NULL),
        SCRIPT_GET(MAPS "/held", 404, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void propagation(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: owner}}", 201, NULL),
        SCRIPT_DELETE(MAPS "/owner?propagationPolicy=Orphan", NULL, 200,
                      "\"finalizers\":[\"orphan\"]"),
        SCRIPT_DELETE(MAPS "/owner", NULL, 200, "\"finalizers\":[\"orphan\"]"),
        SCRIPT_DELETE(MAPS "/owner?propagationPolicy=Foreground", NULL, 200,
                      "\"finalizers\":[\"foregroundDeletion\"]"),
        SCRIPT_DELETE(MAPS "/owner?propagationPolicy=Background", NULL, 200,
                      "\"status\":\"Success\""),
        SCRIPT_GET(MAPS "/owner", 404, NULL),
        /* By default a Job leaves its pods. */
        SCRIPT_POST(
            "/apis/batch/v1/namespaces/default/jobs",
            "{metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: "
            "[{name: "
            "c, image: i}]}}}}",
            201, NULL),
        SCRIPT_DELETE("/apis/batch/v1/namespaces/default/jobs/j", NULL, 200,
                      "\"finalizers\":[\"orphan\"]"),
        SCRIPT_DELETE(MAPS "/nothing?propagationPolicy=Never", NULL, 422,
                      "propagationPolicy: Unsupported value: \\\"Never\\\""),
    };
    SCRIPT_PLAY(&script, steps);
}

#define POD(name, more) \
    "{metadata: {name: " name "}, spec: {containers: [{name: c, image: i}]" more "}}"

static void graceful_ends(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        /* Nobody runs it: it goes at once. */
        SCRIPT_POST(PODS, POD("idle", ""), 201, NULL),
        SCRIPT_DELETE(PODS "/idle", NULL, 200, "\"deletionGracePeriodSeconds\":0"),
        SCRIPT_GET(PODS "/idle", 404, NULL),
        SCRIPT_POST(PODS, POD("busy", ", nodeName: node1, terminationGracePeriodSeconds: 40"), 201,
                    NULL),
        SCRIPT_DELETE(PODS "/busy", NULL, 200, "\"deletionGracePeriodSeconds\":40"),
        /* The time can become shorter, not longer. */
        SCRIPT_DELETE(PODS "/busy", "{gracePeriodSeconds: 50}", 200,
                      "\"deletionGracePeriodSeconds\":40"),
        SCRIPT_DELETE(PODS "/busy", "{gracePeriodSeconds: 5}", 200,
                      "\"deletionGracePeriodSeconds\":5"),
        SCRIPT_DELETE(PODS "/busy", NULL, 200, "\"deletionGracePeriodSeconds\":5"),
        SCRIPT_GET(PODS "/busy", 200, "\"generation\":2"),
        SCRIPT_DELETE(PODS "/busy?gracePeriodSeconds=0", NULL, 200, NULL),
        SCRIPT_GET(PODS "/busy", 404, NULL),
        /* One that has ended needs no time. */
        SCRIPT_POST(PODS, POD("ended", ", nodeName: node1"), 201, NULL),
        SCRIPT_PATCH(PODS "/ended/status", "{status: {phase: Succeeded}}", 200, "Succeeded"),
        SCRIPT_DELETE(PODS "/ended", NULL, 200, NULL),
        SCRIPT_GET(PODS "/ended", 404, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void preconditions(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: sure}}", 201, NULL),
        SCRIPT_DELETE(
            MAPS "/sure", "{preconditions: {uid: other}}", 409,
            "Operation cannot be fulfilled on ConfigMap \\\"sure\\\": the UID in the precondition "
            "(other) does not match the UID in record ("),
        SCRIPT_DELETE(
            MAPS "/sure", "{preconditions: {resourceVersion: '1'}}", 409,
            "the ResourceVersion in the precondition (1) does not match the ResourceVersion in "
            "record ("),
        SCRIPT_DELETE(
            MAPS "/sure", "{ignoreStoreReadErrorWithClusterBreakingPotential: true}", 409,
            "unsafe deletion is not allowed because the object is decodable from storage"),
        SCRIPT_DELETE(
            MAPS "/sure", NULL, 200,
            "\"status\":\"Success\",\"details\":{\"name\":\"sure\",\"kind\":\"configmaps\","
            "\"uid\""),
        SCRIPT_DELETE(MAPS "/sure", NULL, 404, "configmaps \\\"sure\\\" not found"),
    };
    SCRIPT_PLAY(&script, steps);
}

#define SPACE  "/api/v1/namespaces/ending"
#define SPACES "/api/v1/namespaces"

static void namespaces(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(SPACES, "{metadata: {name: ending}, status: {phase: Terminating}}", 201,
                    "\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}"),
        SCRIPT_GET(SPACE, 200, "\"kubernetes.io/metadata.name\":\"ending\""),
        SCRIPT_POST(SPACE "/configmaps", "{metadata: {name: a}}", 201, NULL),
        SCRIPT_DELETE(SPACE, "{preconditions: {uid: other}}", 409,
                      "Precondition failed: UID in precondition: other, UID in object meta: "),
        SCRIPT_DELETE(SPACE, NULL, 200, "\"phase\":\"Terminating\""),
        SCRIPT_DELETE(SPACE, NULL, 200, "\"phase\":\"Terminating\""),
        SCRIPT_POST(
            SPACE "/configmaps", "{metadata: {name: b}}", 403,
            "configmaps \\\"b\\\" is forbidden: unable to create new content in namespace ending "
            "because it is being terminated"),
        SCRIPT_POST(
            SPACE "/configmaps", "{metadata: {name: b}}", 403,
            "\"causes\":[{\"reason\":\"NamespaceTerminating\",\"message\":\"namespace ending is "
            "being terminated\",\"field\":\"metadata.namespace\"}]"),
        /* What is there can still be changed and goes. */
        SCRIPT_PATCH(SPACE "/configmaps/a", "{data: {a: b}}", 200, NULL),
        SCRIPT_DELETE(SPACE "/configmaps/a", NULL, 200, NULL),
        /* Finalizers go by a path of their own, and with the last one the namespace. */
        SCRIPT_PATCH(SPACE, "{spec: {finalizers: null}}", 200, "\"finalizers\":[\"kubernetes\"]"),
        SCRIPT_PUT(SPACE "/finalize", "{metadata: {name: ending}, spec: {finalizers: []}}", 200,
                   NULL),
        SCRIPT_GET(SPACE, 404, "namespaces \\\"ending\\\" not found"),
        SCRIPT_DELETE(SPACES "/default", NULL, 403,
                      "namespaces \\\"default\\\" is forbidden: this namespace may not be deleted"),
        SCRIPT_DELETE(SPACES "/kube-system", NULL, 403, "this namespace may not be deleted"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void collections(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(SPACES, "{metadata: {name: many}}", 201, NULL),
        SCRIPT_POST(SPACES "/many/configmaps", "{metadata: {name: a, labels: {x: on1}}}", 201,
                    NULL),
        SCRIPT_POST(SPACES "/many/configmaps",
                    "{metadata: {name: b, labels: {x: on1}, finalizers: [a/b]}}", 201, NULL),
        SCRIPT_POST(SPACES "/many/configmaps", "{metadata: {name: c}}", 201, NULL),
        SCRIPT_DELETE(SPACES "/many/configmaps?labelSelector=x%3Don1&dryRun=All", NULL, 200,
                      "ConfigMapList"),
        SCRIPT_GET(SPACES "/many/configmaps/a", 200, NULL),
        SCRIPT_DELETE(SPACES "/many/configmaps?labelSelector=x%3Don1", NULL, 200, "\"name\":\"a\""),
        SCRIPT_GET(SPACES "/many/configmaps/a", 404, NULL),
        SCRIPT_GET(SPACES "/many/configmaps/b", 200, "deletionTimestamp"),
        { "GET", SPACES "/many/configmaps/c", NULL, NULL, NULL, 200, NULL, "deletionTimestamp" },
        SCRIPT_DELETE(SPACES "/many/services", NULL, 200, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating),         cmocka_unit_test(generated_names),
        cmocka_unit_test(dry_runs),         cmocka_unit_test(replacing),
        cmocka_unit_test(changing_nothing), cmocka_unit_test(what_stays_as_it_was),
        cmocka_unit_test(finalizers),       cmocka_unit_test(propagation),
        cmocka_unit_test(graceful_ends),    cmocka_unit_test(preconditions),
        cmocka_unit_test(namespaces),       cmocka_unit_test(collections),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
