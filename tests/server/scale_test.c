/* Scales: one small object for every kind that has replicas, in every version that has one. */
#include "script.h"

static struct script script;

#define CONTROLLERS SCRIPT_DEFAULT "/replicationcontrollers"
#define APPS        "/apis/apps/v1/namespaces/default"
#define OLD_APPS    "/apis/apps/v1beta2/namespaces/default"
#define OLDEST_APPS "/apis/extensions/v1beta1/namespaces/default"
#define TEMPLATE                                                                         \
    "template: {metadata: {labels: {a: b, c: d}}, spec: {containers: [{name: c, image: " \
    "i}]}}"
#define SELECTED       "selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}, "
#define WORKLOAD(name) "{metadata: {name: " name "}, spec: {replicas: 2, " SELECTED TEMPLATE "}}"

static void every_workload_has_one(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(APPS "/deployments", WORKLOAD("d"), 201, NULL),
        SCRIPT_POST(APPS "/replicasets", WORKLOAD("r"), 201, NULL),
        SCRIPT_POST(APPS "/statefulsets", WORKLOAD("s"), 201, NULL),
        SCRIPT_POST(CONTROLLERS,
                    "{metadata: {name: rc}, spec: {replicas: 2, selector: {a: b}, " TEMPLATE "}}",
                    201, NULL),
        SCRIPT_GET(APPS "/deployments/d/scale", 200,
                   "\"spec\":{\"replicas\":2},\"status\":{\"replicas\":0,\"selector\":\"a=b,c\"}"),
        SCRIPT_GET(APPS "/replicasets/r/scale", 200, "\"selector\":\"a=b,c\""),
        SCRIPT_GET(APPS "/statefulsets/s/scale", 200, "\"selector\":\"a=b,c\""),
        /* Its selector is a map of labels. */
        SCRIPT_GET(CONTROLLERS "/rc/scale", 200, "\"selector\":\"a=b\""),
        SCRIPT_PATCH(APPS "/replicasets/r/scale", "{spec: {replicas: 4}}", 200, "\"replicas\":4"),
        SCRIPT_PATCH(APPS "/statefulsets/s/scale", "{spec: {replicas: 4}}", 200, "\"replicas\":4"),
        SCRIPT_PATCH(CONTROLLERS "/rc/scale", "{spec: {replicas: 4}}", 200, "\"replicas\":4"),
        SCRIPT_GET(CONTROLLERS "/rc", 200, "\"replicas\":4"),
        SCRIPT_PATCH(CONTROLLERS "/rc/status", "{status: {replicas: 3}}", 200, NULL),
        SCRIPT_GET(CONTROLLERS "/rc/scale", 200, "\"status\":{\"replicas\":3"),
        SCRIPT_GET(APPS "/daemonsets/d/scale", 404, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void old_versions_say_it_otherwise(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_GET(OLD_APPS "/deployments/d/scale", 200, "\"apiVersion\":\"apps/v1beta2\""),
        SCRIPT_GET(OLD_APPS "/deployments/d/scale", 200, "\"targetSelector\":\"a=b,c\""),
        SCRIPT_GET(OLDEST_APPS "/deployments/d/scale", 200,
                   "\"apiVersion\":\"extensions/v1beta1\""),
        SCRIPT_PUT(OLD_APPS "/deployments/d/scale",
                   "{apiVersion: apps/v1beta2, kind: Scale, metadata: {name: d}, spec: {replicas: "
                   "6}}",
                   200, "\"replicas\":6"),
        SCRIPT_GET(APPS "/deployments/d/scale", 200, "\"spec\":{\"replicas\":6}"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void a_scale_is_of_one_object(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_PUT(APPS "/deployments/d/scale", "{metadata: {name: other}, spec: {replicas: 1}}",
                   400, "the name of the object (other) does not match the name on the URL (d)"),
        SCRIPT_PATCH(APPS "/deployments/d/scale", "{metadata: {name: other}}", 400,
                     "the name of the object (other) does not match the name on the URL (d)"),
        SCRIPT_PATCH(APPS "/deployments/d/scale", "{metadata: {uid: other}, spec: {replicas: 1}}",
                     409, "Precondition failed: UID in precondition: other, UID in object meta: "),
        SCRIPT_PUT(APPS "/deployments/d/scale",
                   "{metadata: {name: d, uid: other}, spec: {replicas: 1}}", 409,
                   "UID in precondition: other"),
        SCRIPT_PUT(APPS "/deployments/d/scale",
                   "{metadata: {name: d, resourceVersion: '1'}, spec: {replicas: 1}}", 409,
                   "the object has been modified"),
        SCRIPT_PUT(APPS "/deployments/none/scale", "{metadata: {name: none}, spec: {replicas: 1}}",
                   404, "deployments.apps \\\"none\\\" not found"),
        SCRIPT_PUT(APPS "/deployments/d/scale", "{metadata: {name: d}, spec: {replicas: many}}",
                   400, "cannot unmarshal string into Go struct field ScaleSpec.spec.replicas"),
        SCRIPT_PATCH(APPS "/deployments/d/scale", "{spec: {replicas: -1}}", 422,
                     "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        SCRIPT_DELETE(APPS "/deployments/d/scale", NULL, 405, NULL),
        SCRIPT_GET(APPS "/deployments/d", 200, "\"replicas\":6"),
    };
    SCRIPT_PLAY(&script, steps);
}

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define BOATS       "/apis/example.com/v1/namespaces/default/boats"
#define APPLIED(replicas) \
    "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {replicas: " replicas "}}"

/* Who scales owns the field in the object itself. */
static void managers_are_those_of_the_object(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "PATCH", APPS "/deployments/d/scale?fieldManager=scaler&force=true",
          "application/apply-patch+yaml", NULL, APPLIED("7"), 200, "\"replicas\":7", NULL },
        SCRIPT_GET(APPS "/deployments/d", 200,
                   "\"manager\":\"scaler\",\"operation\":\"Apply\",\"apiVersion\":\"apps/v1\""),
        { "PATCH", APPS "/deployments/d/scale?fieldManager=other", "application/apply-patch+yaml",
          NULL, APPLIED("8"), 409, "conflict with \\\"scaler\\\"", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void custom_kinds_say_where_it_is(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(DEFINITIONS,
                    "{metadata: {name: boats.example.com}, spec: {group: example.com, scope: "
                    "Namespaced, names: {plural: boats, kind: Boat}, versions: [{name: v1, served: "
                    "true, storage: true, subresources: {scale: {specReplicasPath: .spec.crew, "
                    "statusReplicasPath: .status.aboard, labelSelectorPath: .status.who}}, schema: "
                    "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: "
                    "true}}}]}}",
                    201, NULL),
        SCRIPT_POST(BOATS,
                    "{apiVersion: example.com/v1, kind: Boat, metadata: {name: b}, spec: {crew: "
                    "3}, status: {aboard: 2, who: 'a=b'}}",
                    201, NULL),
        SCRIPT_GET(BOATS "/b/scale", 200,
                   "\"spec\":{\"replicas\":3},\"status\":{\"replicas\":2,\"selector\":\"a=b\"}"),
        SCRIPT_PATCH(BOATS "/b/scale", "{spec: {replicas: 5}}", 200, "\"replicas\":5"),
        SCRIPT_GET(BOATS "/b", 200, "\"crew\":5"),
        SCRIPT_POST(BOATS,
                    "{apiVersion: example.com/v1, kind: Boat, metadata: {name: empty}, spec: {}}",
                    201, NULL),
        SCRIPT_GET(BOATS "/empty/scale", 500, ".spec.crew"),
        SCRIPT_PATCH(BOATS "/empty/scale", "{spec: {replicas: 1}}", 200, "\"replicas\":1"),
        SCRIPT_GET(BOATS "/empty/scale", 200, "\"replicas\":1"),
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_has_one),
        cmocka_unit_test(old_versions_say_it_otherwise),
        cmocka_unit_test(a_scale_is_of_one_object),
        cmocka_unit_test(managers_are_those_of_the_object),
        cmocka_unit_test(custom_kinds_say_where_it_is),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
