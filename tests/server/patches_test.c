/* Patches that are refused, and why; patches of what is not there. */
#include "script.h"

static struct script script;

#define MAPS      SCRIPT_DEFAULT "/configmaps"
#define PODS      SCRIPT_DEFAULT "/pods"
#define MERGE     "application/merge-patch+json"
#define JSON      "application/json-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"
#define APPLY     "application/apply-patch+yaml"
#define REJECTED  "the server rejected our request due to an error in our request"
#define PATCH(path, type, body, status, says)               \
    {                                                       \
        "PATCH", path, type, NULL, body, status, says, NULL \
    }

static int create_objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(MAPS, "{metadata: {name: m}, data: {k: v}}", 201, NULL),
        SCRIPT_POST(PODS, "{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}", 201,
                    NULL),
    };
    SCRIPT_PLAY(&script, steps);
    return 0;
}

static void bodies_are_patches(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        PATCH(MAPS "/m", JSON, "{", 400, "invalid JSON patch"),
        PATCH(MAPS "/m", JSON, "{}", 400,
              "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        PATCH(MAPS "/m", JSON, "[{\"op\":\"jump\",\"path\":\"/data\"}]", 422, REJECTED),
        PATCH(MAPS "/m", JSON, "[{\"op\":\"test\",\"path\":\"/data/k\",\"value\":\"w\"}]", 422,
              REJECTED),
        PATCH(MAPS "/m", JSON, "[{\"op\":\"remove\",\"path\":\"/data/none\"}]", 422, REJECTED),
        PATCH(MAPS "/m", JSON, "[{\"op\":\"replace\",\"path\":\"/data/k\",\"value\":\"w\"}]", 200,
              "\"data\":{\"k\":\"w\"}"),
        PATCH(MAPS "/m", MERGE, "[]", 400,
              "cannot unmarshal array into Go value of type map[string]interface {}"),
        PATCH(MAPS "/m", MERGE, "{\"data\":{\"k\":1}}", 422,
              "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        PATCH(MAPS "/m", STRATEGIC, "{\"data\":[]}", 422, "cannot restore map from slice"),
        PATCH(MAPS "/m", "application/octet-stream", "{}", 415, "415: Unsupported Media Type"),
        PATCH(MAPS "/none", MERGE, "{}", 404, "configmaps \\\"none\\\" not found"),
        SCRIPT_GET(MAPS "/m", 200, "\"data\":{\"k\":\"w\"}"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void fields_are_known(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        PATCH(MAPS "/m?fieldValidation=Strict", MERGE, "{\"dota\":{}}", 422,
              "strict decoding error: unknown field \\\"dota\\\""),
        PATCH(MAPS "/m?fieldValidation=Strict", MERGE, "{\"data\":{\"a\":\"1\",\"a\":\"2\"}}", 422,
              "duplicate field"),
        PATCH(MAPS "/m?fieldValidation=Strict", STRATEGIC, "{\"metadata\":{\"nom\":\"x\"}}", 422,
              "unknown field \\\"metadata.nom\\\""),
        PATCH(MAPS "/m?fieldValidation=Ignore", MERGE, "{\"dota\":{}}", 200, NULL),
        PATCH(MAPS "/m?fieldValidation=Warn", MERGE, "{\"dota\":{}}", 200, NULL),
        PATCH(MAPS "/m?fieldValidation=Often", MERGE, "{}", 422, "fieldValidation"),
        { "GET", MAPS "/m", NULL, NULL, NULL, 200, NULL, "dota" },
    };
    SCRIPT_PLAY(&script, steps);
}

/* A patch changes what an object says, never which object it is. */
static void objects_stay_who_they_are(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_PATCH(MAPS "/m", "{metadata: {name: other}}", 400,
                     "the name of the object (other) does not match the name on the URL (m)"),
        SCRIPT_PATCH(MAPS "/m", "{metadata: {namespace: other}}", 400,
                     "the namespace of the provided object does not match the namespace sent on "
                     "the request"),
        SCRIPT_PATCH(MAPS "/m", "{metadata: {uid: other}}", 422,
                     "metadata.uid: Invalid value: \\\"other\\\": field is immutable"),
        SCRIPT_PATCH(MAPS "/m", "{metadata: {resourceVersion: '1'}}", 409,
                     "the object has been modified"),
        SCRIPT_PATCH(MAPS "/m", "{kind: Secret}", 422, "is invalid: patch: Invalid value"),
        SCRIPT_PATCH(MAPS "/m", "{apiVersion: v9}", 422,
                     "no kind \\\"ConfigMap\\\" is registered for version \\\"v9\\\""),
        SCRIPT_PATCH(MAPS "/m", "{kind: Nonsense, apiVersion: nowhere/v1}", 422,
                     "no kind \\\"Nonsense\\\" is registered for version \\\"nowhere/v1\\\""),
        SCRIPT_PATCH(MAPS "/m?dryRun=All", "{data: {k: dry}}", 200, "\"k\":\"dry\""),
        { "GET", MAPS "/m", NULL, NULL, NULL, 200, NULL, "dry" },
    };
    SCRIPT_PLAY(&script, steps);
}

#define BY "?fieldManager=me"

static void applied_configurations_are_objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        PATCH(MAPS "/new" BY, APPLY, "a: [", 400,
              "error encoding patch: yaml: line 1: did not find expected node content"),
        PATCH(MAPS "/new" BY, APPLY, "[]", 400,
              "cannot unmarshal array into Go value of type map[string]interface {}"),
        PATCH(MAPS "/new" BY, APPLY, "just words", 400,
              "cannot unmarshal string into Go value of type map[string]interface {}"),
        PATCH(MAPS "/new" BY, APPLY, "metadata: {name: new}", 400, "invalid object type: /, Kind="),
        PATCH(MAPS "/new" BY, APPLY, "{apiVersion: v1, kind: Secret, metadata: {name: new}}", 400,
              "invalid object type: /v1, Kind=Secret"),
        PATCH(MAPS "/new" BY "&fieldValidation=Strict", APPLY,
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\ndata: {a: b}\ndata: {a: "
              "c}\n",
              400, "line 5: key \\\"data\\\" already set in map"),
        PATCH(MAPS "/new", APPLY, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}", 422,
              "fieldManager: Required value"),
        PATCH(
            MAPS "/new" BY, APPLY,
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, uid: x}}", 409,
            "uid mismatch: the provided object specified uid x, and no existing object was found"),
        PATCH(MAPS "/new" BY, APPLY,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, managedFields: [{}]}}", 400,
              "metadata.managedFields must be nil"),
        PATCH(MAPS "/new" BY, APPLY,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: b}}", 201,
              "\"manager\":\"me\",\"operation\":\"Apply\""),
        PATCH(MAPS "/new" BY, APPLY,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: c}}", 200,
              "\"data\":{\"a\":\"c\"}"),
        PATCH(MAPS "/new?fieldManager=you", APPLY,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: d}}", 409,
              "conflict with \\\"me\\\": .data.a"),
        PATCH(MAPS "/new?fieldManager=you&force=true", APPLY,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: d}}", 200,
              "\"data\":{\"a\":\"d\"}"),
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_patches),
        cmocka_unit_test(fields_are_known),
        cmocka_unit_test(objects_stay_who_they_are),
        cmocka_unit_test(applied_configurations_are_objects),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, create_objects, NULL);
    script_stop(&script);
    return failed;
}
