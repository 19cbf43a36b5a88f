/* Evictions: which pods go at once, which are counted, and what a budget says when it is used up.
 */
#include "script.h"

static struct script script;

#define PODS    SCRIPT_DEFAULT "/pods"
#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define POD(name, more)                               \
    "{metadata: {name: " name ", labels: {app: " name \
    "}}, spec: {containers: [{name: c, image: i}]" more "}}"
#define ON_NODE            ", nodeName: n1"
#define BUDGET(name, more) "{metadata: {name: " name "}, spec: {minAvailable: 1" more "}}"
#define COVERS(app)        ", selector: {matchLabels: {app: " app "}}"
#define EVICT(name)        "{metadata: {name: " name "}}"
#define EVICT_WITH(name, options)                                                                  \
    "{apiVersion: policy/v1, kind: Eviction, metadata: {name: " name "}, deleteOptions: {" options \
    "}}"
#define STATUS(fields) "{status: {observedGeneration: 1, " fields "}}"

/* Nobody waits for what has not begun or is over. */
static void what_does_not_run_goes_at_once(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(BUDGETS, BUDGET("idle", COVERS("waiting")), 201, NULL),
        SCRIPT_POST(PODS, POD("waiting", ""), 201, NULL),
        SCRIPT_POST(PODS "/waiting/eviction", EVICT("waiting"), 201, "\"status\":\"Success\""),
        SCRIPT_GET(PODS "/waiting", 404, NULL),
        SCRIPT_POST(PODS, POD("done", ON_NODE), 201, NULL),
        SCRIPT_POST(BUDGETS, BUDGET("over", COVERS("done")), 201, NULL),
        SCRIPT_PATCH(PODS "/done/status", "{status: {phase: Succeeded}}", 200, NULL),
        SCRIPT_POST(PODS "/done/eviction", EVICT("done"), 201, NULL),
        SCRIPT_GET(BUDGETS "/over", 200, "\"disruptionsAllowed\":0"),
        /* What is over has no grace to be given. */
        SCRIPT_GET(PODS "/done", 404, NULL),
        SCRIPT_POST(PODS, POD("free", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/free/status", "{status: {phase: Running}}", 200, NULL),
        SCRIPT_POST(PODS "/free/eviction", EVICT("free"), 201, NULL),
        SCRIPT_GET(PODS "/free", 200, "\"reason\":\"EvictionByEvictionAPI\""),
    };
    SCRIPT_PLAY(&script, steps);
}

/* Each step tells the budget something, and asks. */
static void a_budget_says_why(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS, POD("kept", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/kept/status",
                     "{status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}", 200,
                     NULL),
        SCRIPT_POST(BUDGETS, BUDGET("keep", COVERS("kept")), 201, NULL),
        SCRIPT_POST(PODS "/kept/eviction", EVICT("kept"), 429,
                    "The disruption budget keep is still being processed by the server."),
        SCRIPT_PATCH(BUDGETS "/keep/status",
                     STATUS("disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 1, "
                            "expectedPods: 3"),
                     200, NULL),
        SCRIPT_POST(PODS "/kept/eviction", EVICT("kept"), 429,
                    "The disruption budget keep does not allow evicting pods currently\""),
        SCRIPT_PATCH(BUDGETS "/keep/status",
                     "{status: {conditions: [{type: DisruptionAllowed, status: 'False', reason: "
                     "Frozen, message: no moves today, lastTransitionTime: "
                     "'2020-01-02T03:04:05Z'}]}}",
                     200, NULL),
        SCRIPT_POST(PODS "/kept/eviction", EVICT("kept"), 429,
                    "does not allow evicting pods currently (Frozen): no moves today"),
        SCRIPT_PATCH(BUDGETS "/keep/status",
                     "{status: {conditions: [{type: DisruptionAllowed, status: 'False', reason: "
                     "SyncFailed, message: two controllers, lastTransitionTime: "
                     "'2020-01-02T03:04:05Z'}]}}",
                     200, NULL),
        SCRIPT_POST(PODS "/kept/eviction", EVICT("kept"), 429,
                    "does not allow evicting pods currently because it failed sync: two "
                    "controllers"),
        SCRIPT_PATCH(BUDGETS "/keep/status", "{status: {currentHealthy: 1, conditions: null}}", 200,
                     NULL),
        SCRIPT_POST(PODS "/kept/eviction", EVICT("kept"), 429,
                    "The disruption budget keep needs 1 healthy pods and has 1 currently"),
        SCRIPT_GET(PODS "/kept", 200, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void unhealthy_pods_are_not_counted(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS, POD("sick", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/sick/status",
                     "{status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}}",
                     200, NULL),
        SCRIPT_POST(BUDGETS, BUDGET("care", COVERS("sick")), 201, NULL),
        SCRIPT_PATCH(BUDGETS "/care/status",
                     STATUS("disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, "
                            "expectedPods: 1"),
                     200, NULL),
        /* The others are not enough. */
        SCRIPT_POST(PODS "/sick/eviction", EVICT("sick"), 429, "needs 1 healthy pods and has 0"),
        SCRIPT_PATCH(BUDGETS "/care", "{spec: {unhealthyPodEvictionPolicy: AlwaysAllow}}", 200,
                     NULL),
        SCRIPT_POST(PODS "/sick/eviction", EVICT("sick"), 201, NULL),
        SCRIPT_GET(BUDGETS "/care", 200, "\"disruptionsAllowed\":0"),
        SCRIPT_GET(PODS "/sick", 200, "\"deletionTimestamp\""),
        SCRIPT_POST(PODS, POD("weak", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/weak/status", "{status: {phase: Running}}", 200, NULL),
        SCRIPT_POST(BUDGETS, BUDGET("enough", COVERS("weak")), 201, NULL),
        SCRIPT_PATCH(BUDGETS "/enough/status",
                     STATUS("disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, "
                            "expectedPods: 2"),
                     200, NULL),
        SCRIPT_POST(PODS "/weak/eviction", EVICT("weak"), 201, NULL),
    };
    SCRIPT_PLAY(&script, steps);
}

static void one_budget_at_a_time(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS, POD("twice", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/twice/status", "{status: {phase: Running}}", 200, NULL),
        SCRIPT_POST(BUDGETS, BUDGET("one", COVERS("twice")), 201, NULL),
        SCRIPT_POST(BUDGETS, BUDGET("two", COVERS("twice")), 201, NULL),
        SCRIPT_POST(PODS "/twice/eviction", EVICT("twice"), 500,
                    "This pod has more than one PodDisruptionBudget, which the eviction "
                    "subresource does not support."),
        SCRIPT_DELETE(BUDGETS "/two", NULL, 200, NULL),
        SCRIPT_PATCH(BUDGETS "/one/status",
                     STATUS("disruptionsAllowed: 2, currentHealthy: 2, "
                            "desiredHealthy: 0, expectedPods: 2"),
                     200, NULL),
        SCRIPT_POST(PODS "/twice/eviction", EVICT("twice"), 201, NULL),
        SCRIPT_GET(BUDGETS "/one", 200, "\"disruptionsAllowed\":1"),
        SCRIPT_GET(BUDGETS "/one", 200, "\"disruptedPods\":{\"twice\":"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void what_is_asked_for_counts(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS, POD("asked", ON_NODE), 201, NULL),
        SCRIPT_PATCH(PODS "/asked/status", "{status: {phase: Running}}", 200, NULL),
        SCRIPT_POST(PODS "/asked/eviction", EVICT_WITH("asked", "preconditions: {uid: other}"), 409,
                    "the UID in the precondition (other) does not match the UID in record"),
        SCRIPT_POST(PODS "/asked/eviction",
                    EVICT_WITH("asked", "preconditions: {resourceVersion: '1'}"), 409, NULL),
        SCRIPT_POST(PODS "/asked/eviction", EVICT_WITH("asked", "dryRun: [All]"), 201, NULL),
        { "GET", PODS "/asked", NULL, NULL, NULL, 200, NULL, "EvictionByEvictionAPI" },
        SCRIPT_POST(PODS "/asked/eviction",
                    EVICT_WITH("asked", "ignoreStoreReadErrorWithClusterBreakingPotential: true"),
                    422, "can not be set for pod eviction, try after removing the option"),
        SCRIPT_POST(PODS "/asked/eviction", "{metadata: {name: asked, namespace: other}}", 400,
                    "the namespace of the provided object does not match"),
        /* As the first versions of kubectl drain sent it. */
        SCRIPT_POST(PODS "/asked/eviction",
                    "{apiVersion: policy/v1beta1, kind: Eviction, metadata: {name: asked}, "
                    "deleteOptions: {gracePeriodSeconds: 7}}",
                    201, NULL),
        SCRIPT_GET(PODS "/asked", 200, "\"deletionGracePeriodSeconds\":7"),
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_run_goes_at_once), cmocka_unit_test(a_budget_says_why),
        cmocka_unit_test(unhealthy_pods_are_not_counted), cmocka_unit_test(one_budget_at_a_time),
        cmocka_unit_test(what_is_asked_for_counts),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
