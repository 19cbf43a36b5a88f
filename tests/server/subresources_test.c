/* Paths below an object: its status, its scale, where it is bound, how it is evicted. */
#include "script.h"

static struct script script;

#define DEFAULT SCRIPT_DEFAULT
#define PODS    DEFAULT "/pods"
#define DEPLOYS "/apis/apps/v1/namespaces/default/deployments"
#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define JSON    "application/json"
#define POD(name, more)                               \
    "{metadata: {name: " name ", labels: {app: " name \
    "}}, spec: {containers: [{name: c, image: i}]" more "}}"
#define TO(node) "{metadata: {name: p}, target: {kind: Node, name: " node "}}"

static void binding(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", PODS, NULL, NULL, POD("p", ""), 201, NULL, NULL },
        { "POST", PODS "/p/binding", NULL, NULL, "{metadata: {name: q}, target: {name: n1}}", 400,
          "name in URL does not match name in Binding object", NULL },
        { "POST", PODS "/p/binding", NULL, NULL,
          "{metadata: {name: p}, target: {kind: Pod, name: a}}", 500,
          "target.kind: Unsupported value: \\\"Pod\\\": supported values: \\\"Node\\\", "
          "\\\"<empty>\\\"",
          NULL },
        { "POST", PODS "/p/binding", NULL, NULL, "{metadata: {name: p}, target: {kind: Node}}", 500,
          "target.name: Required value", NULL },
        { "POST", PODS "/p/binding?dryRun=All", NULL, NULL, TO("n1"), 201, NULL, NULL },
        { "GET", PODS "/p", NULL, NULL, NULL, 200, NULL, "nodeName" },
        { "POST", PODS "/p/binding", NULL, NULL, TO("n1"), 201, "\"status\":\"Success\"", NULL },
        { "GET", PODS "/p", NULL, NULL, NULL, 200, "\"nodeName\":\"n1\"", NULL },
        { "GET", PODS "/p", NULL, NULL, NULL, 200,
          "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"", NULL },
        { "POST", PODS "/p/binding", NULL, NULL, TO("n2"), 409,
          "pod p is already assigned to node \\\"n1\\\"", NULL },
        { "POST", DEFAULT "/bindings", NULL, NULL,
          "{metadata: {name: none}, target: {kind: Node, name: n1}}", 404,
          "pods \\\"none\\\" not found", NULL },
        /* A pod that waits is not bound. */
        { "POST", PODS, NULL, NULL, POD("gated", ", schedulingGates: [{name: a/b}]"), 201,
          "\"SchedulingGated\"", NULL },
        { "POST", PODS "/gated/binding", NULL, NULL,
          "{metadata: {name: gated}, target: {kind: Node, name: n1}}", 409,
          "pod gated has non-empty .spec.schedulingGates", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define BINDINGS DEFAULT "/bindings"

static void bindings_say_which_pod(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(BINDINGS, "{target: {kind: Node, name: n1}}", 400, "Name parameter required."),
        SCRIPT_POST(BINDINGS, "{metadata: {name: a%b}, target: {kind: Node, name: n1}}", 400,
                    "Name parameter invalid: \\\"a%b\\\": may not contain '%'"),
        SCRIPT_POST(PODS, POD("exact", ""), 201, NULL),
        SCRIPT_POST(BINDINGS,
                    "{metadata: {name: exact, uid: other}, target: {kind: Node, name: n1}}", 409,
                    "UID in precondition: other"),
        SCRIPT_POST(BINDINGS,
                    "{metadata: {name: exact, resourceVersion: '1'}, target: {kind: Node, name: "
                    "n1}}",
                    409, NULL),
        { "GET", PODS "/exact", NULL, NULL, NULL, 200, NULL, "nodeName" },
        /* What the scheduler notes of a pod is added to what it has. */
        SCRIPT_POST(BINDINGS,
                    "{metadata: {name: exact, labels: {zone: z}, annotations: {why: room}}, "
                    "target: {name: n1}}",
                    201, "\"status\":\"Success\""),
        SCRIPT_GET(PODS "/exact", 200, "\"labels\":{\"app\":\"exact\",\"zone\":\"z\"}"),
        SCRIPT_GET(PODS "/exact", 200, "\"annotations\":{\"why\":\"room\"}"),
        SCRIPT_GET(PODS "/exact", 200, "\"nodeName\":\"n1\""),
        SCRIPT_POST(PODS,
                    "{metadata: {name: going, finalizers: [a.b/c]}, spec: {containers: [{name: c, "
                    "image: i}]}}",
                    201, NULL),
        SCRIPT_DELETE(PODS "/going", NULL, 200, NULL),
        SCRIPT_POST(BINDINGS, "{metadata: {name: going}, target: {name: n1}}", 409,
                    "pod going is being deleted, cannot be assigned to a host"),
    };
    SCRIPT_PLAY(&script, steps);
}

#define EVICT(name) "{apiVersion: policy/v1, kind: Eviction, metadata: {name: " name "}}"

static void eviction(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", PODS, NULL, NULL, POD("e", ", nodeName: n1"), 201, NULL, NULL },
        { "PATCH", PODS "/e/status", NULL, NULL,
          "{status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}", 200, NULL,
          NULL },
        { "POST", BUDGETS, NULL, NULL,
          "{metadata: {name: b}, spec: {minAvailable: 1, selector: {matchLabels: {app: e}}}}", 201,
          NULL, NULL },
        { "POST", PODS "/e/eviction", NULL, NULL, EVICT("other"), 400,
          "name in URL does not match name in Eviction object", NULL },
        /* Nothing is known yet about the budget. */
        { "POST", PODS "/e/eviction", NULL, NULL, EVICT("e"), 429,
          "Cannot evict pod as it would violate the pod's disruption budget.", NULL },
        { "POST", PODS "/e/eviction", NULL, NULL, EVICT("e"), 429, "\"retryAfterSeconds\":10",
          NULL },
        { "PATCH", BUDGETS "/b/status", NULL, NULL,
          "{status: {observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, "
          "desiredHealthy: "
          "1, expectedPods: 1}}",
          200, NULL, NULL },
        { "POST", PODS "/e/eviction", NULL, NULL, EVICT("e"), 429,
          "The disruption budget b needs 1 healthy pods and has 1 currently", NULL },
        { "PATCH", BUDGETS "/b/status", NULL, NULL,
          "{status: {disruptionsAllowed: 1, currentHealthy: 2, expectedPods: 2}}", 200, NULL,
          NULL },
        { "POST", PODS "/e/eviction?dryRun=All", NULL, NULL, EVICT("e"), 201, NULL, NULL },
        { "GET", BUDGETS "/b", NULL, NULL, NULL, 200, "\"disruptionsAllowed\":1", NULL },
        { "POST", PODS "/e/eviction", NULL, NULL, EVICT("e"), 201, "\"status\":\"Success\"", NULL },
        { "GET", BUDGETS "/b", NULL, NULL, NULL, 200, "\"disruptedPods\":{\"e\":\"20", NULL },
        { "GET", BUDGETS "/b", NULL, NULL, NULL, 200, "\"disruptionsAllowed\":0", NULL },
        { "GET", PODS "/e", NULL, NULL, NULL, 200, "\"reason\":\"EvictionByEvictionAPI\"", NULL },
        { "GET", PODS "/e", NULL, NULL, NULL, 200, "\"deletionTimestamp\"", NULL },
        { "POST", PODS "/none/eviction", NULL, NULL, EVICT("none"), 404,
          "pods \\\"none\\\" not found", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define TEMPLATE                                                                                  \
    "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: " \
    "[{name: c, image: i}]}}"
#define SCALE(spec) \
    "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {" spec "}}"

static void scale(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", DEPLOYS, NULL, NULL, "{metadata: {name: d}, spec: {replicas: 2, " TEMPLATE "}}",
          201, NULL, NULL },
        { "GET", DEPLOYS "/d/scale", NULL, NULL, NULL, 200,
          "\"spec\":{\"replicas\":2},\"status\":{\"replicas\":0,\"selector\":\"a=b\"}", NULL },
        { "PUT", DEPLOYS "/d/scale", NULL, NULL, SCALE("replicas: 5"), 200, "\"replicas\":5",
          NULL },
        { "GET", DEPLOYS "/d", NULL, NULL, NULL, 200, "\"generation\":2", NULL },
        { "PUT", DEPLOYS "/d/scale", NULL, NULL, SCALE("replicas: -1"), 422,
          "spec.replicas: Invalid value: -1: must be greater than or equal to 0", NULL },
        { "PUT", DEPLOYS "/d/scale", NULL, NULL,
          "{metadata: {name: d, resourceVersion: '1'}, spec: {replicas: 1}}", 409,
          "the object has been modified", NULL },
        { "PATCH", DEPLOYS "/d/scale?dryRun=All", NULL, NULL, "{spec: {replicas: 9}}", 200,
          "\"replicas\":9", NULL },
        { "PATCH", DEPLOYS "/d/scale", NULL, NULL, "{spec: {replicas: 0}}", 200,
          "\"kind\":\"Scale\"", NULL },
        { "GET", DEPLOYS "/d", NULL, NULL, NULL, 200, "\"replicas\":0", "\"replicas\":9" },
        { "GET", DEPLOYS "/none/scale", NULL, NULL, NULL, 404,
          "deployments.apps \\\"none\\\" not found", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

/* A status changes nothing but the status, and all else does not change it. */
static void status(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "PATCH", DEPLOYS "/d/status", NULL, NULL,
          "{metadata: {labels: {l: m}}, spec: {replicas: 7}, status: {replicas: 3}}", 200,
          "\"status\":{\"replicas\":3}", "\"replicas\":7" },
        { "PATCH", DEPLOYS "/d", NULL, NULL, "{status: {replicas: 8}}", 200,
          "\"status\":{\"replicas\":3}", "\"replicas\":8" },
        { "GET", DEPLOYS "/d/status", NULL, NULL, NULL, 200, "\"kind\":\"Deployment\"", NULL },
        { "PATCH", DEPLOYS "/d/status", NULL, NULL, "{status: {replicas: -1}}", 422,
          "status.replicas: Invalid value: -1", NULL },
        { "PATCH", DEFAULT "/pods/p/status", NULL, NULL,
          "{status: {containerStatuses: [{name: c, image: i, imageID: x}]}}", 200, NULL, NULL },
        { "PATCH", DEFAULT "/pods/p/ephemeralcontainers", NULL, NULL,
          "{spec: {ephemeralContainers: [{name: d, image: i}]}}", 200, "\"ephemeralContainers\"",
          NULL },
        { "PATCH", DEFAULT "/pods/p/ephemeralcontainers", NULL, NULL,
          "{spec: {ephemeralContainers: []}}", 422,
          "existing ephemeral containers \\\"d\\\" may not be removed", NULL },
        { "PATCH", DEFAULT "/pods/p", NULL, NULL, "{spec: {hostname: h}}", 422,
          "pod updates may not change fields other than", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define ACCOUNTS          DEFAULT "/serviceaccounts"
#define TOKEN(meta, spec) "{metadata: {" meta "}, spec: {" spec "}}"

static void tokens(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", ACCOUNTS, NULL, NULL, "{metadata: {name: robot}}", 201, NULL, NULL },
        { "POST", ACCOUNTS "/robot/token", NULL, NULL, TOKEN("name: other", ""), 422,
          "metadata.name: Invalid value: \\\"other\\\": must match the service account name if "
          "specified",
          NULL },
        { "POST", ACCOUNTS "/robot/token", NULL, NULL, TOKEN("uid: other", ""), 409,
          "the UID in the token request (other) does not match the UID of the service account (",
          NULL },
        { "POST", ACCOUNTS "/robot/token", NULL, NULL, TOKEN("", "expirationSeconds: 599"), 422,
          "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 "
          "minutes",
          NULL },
        { "POST", ACCOUNTS "/robot/token", NULL, NULL, TOKEN("", "expirationSeconds: 4294967297"),
          422, "may not specify a duration larger than 2^32 seconds", NULL },
        { "POST", ACCOUNTS "/none/token", NULL, NULL, TOKEN("", ""), 404,
          "serviceaccounts \\\"none\\\" not found", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define OLD_DEPLOYS "/apis/extensions/v1beta1/namespaces/default/deployments"

static void rollback(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", OLD_DEPLOYS "/d/rollback", NULL, NULL, "{name: other, rollbackTo: {revision: 1}}",
          400, "name in URL does not match name in DeploymentRollback object", NULL },
        { "POST", OLD_DEPLOYS "/d/rollback", NULL, NULL, "{name: d, rollbackTo: {revision: -1}}",
          422, "rollback.version: Invalid value: -1: must be greater than or equal to 0", NULL },
        { "POST", OLD_DEPLOYS "/d/rollback", NULL, NULL,
          "{name: d, updatedAnnotations: {a: b}, rollbackTo: {revision: 4}}", 201,
          "rollback request for deployment \\\"d\\\" succeeded", NULL },
        { "GET", DEPLOYS "/d", NULL, NULL, NULL, 200,
          "\"annotations\":{\"a\":\"b\",\"deprecated.deployment.rollback.to\":\"4\"}", NULL },
        { "GET", OLD_DEPLOYS "/d", NULL, NULL, NULL, 200, "\"rollbackTo\":{\"revision\":4}", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void components(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "GET", "/api/v1/componentstatuses/etcd-0", NULL, NULL, NULL, 200,
          "\"conditions\":[{\"type\":\"Healthy\",\"status\":\"True\",\"message\":\"ok\"}]", NULL },
        { "GET", "/api/v1/componentstatuses/other", NULL, NULL, NULL, 404,
          "componentstatus \\\"other\\\" not found", NULL },
        { "GET", "/api/v1/componentstatuses", NULL, "application/json;as=Table;v=v1;g=meta.k8s.io",
          NULL, 200, "\"cells\":[\"etcd-0\",\"Healthy\",\"ok\",\"\"]", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binding),  cmocka_unit_test(bindings_say_which_pod),
        cmocka_unit_test(eviction), cmocka_unit_test(scale),
        cmocka_unit_test(status),   cmocka_unit_test(tokens),
        cmocka_unit_test(rollback), cmocka_unit_test(components),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
