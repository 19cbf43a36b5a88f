/* Server-side apply as its users meet it: what was applied is there. */
#include "script.h"

static struct script script;

#define APPLY   "application/apply-patch+yaml"
#define THING   "/apis/apply.example.com/v1/namespaces/default/things/one?fieldManager=me"
#define A_THING "apiVersion: apply.example.com/v1\nkind: Thing\nmetadata: {name: one}\nspec: "

static const char definition[] =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "things.apply.example.com}, spec: {group: apply.example.com, scope: Namespaced, names: {plural:"
    " things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: "
    "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {"
    "plain: {type: object, properties: {a: {type: string}}}, "
    "nullable: {type: object, nullable: true, properties: {a: {type: string}}}, "
    "open: {type: object, x-kubernetes-preserve-unknown-fields: true}, "
    "map: {type: object, additionalProperties: {type: string}}, "
    "set: {type: array, x-kubernetes-list-type: set, items: {type: string}}, "
    "keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: "
    "{type: object, required: [k], properties: {k: {type: string}, in: {type: object, properties: "
    "{a: {type: string}}}}}}}}}}}}]}}";

/* Of custom kinds upstream refuses its own null with 422. */
static void what_is_applied_as_empty_is_empty(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, NULL, definition,
          201, NULL, NULL },
        { "PATCH", THING, APPLY, NULL,
          A_THING "{plain: {a: b}, nullable: {a: b}, open: {a: {b: c}}, map: {a: b}, set: [a], "
                  "keyed: [{k: x, in: {a: b}}, {k: z}]}",
          201, "\"map\":{\"a\":\"b\"}", NULL },
        { "PATCH", THING, APPLY, NULL,
          A_THING "{plain: {}, nullable: {}, open: {a: {}}, map: {}, set: [], keyed: [{k: x, in: "
                  "{}}]}",
          200,
          "\"spec\":{\"keyed\":[{\"in\":{},\"k\":\"x\"}],\"map\":{},\"nullable\":{},\"open\":{"
          "\"a\":{}},\"plain\":{},\"set\":[]}",
          NULL },
        { "PATCH", THING, APPLY, NULL, A_THING "{plain: {}, keyed: [], set: []}", 200,
          "\"spec\":{\"keyed\":[],\"plain\":{},\"set\":[]}", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define DEPLOYMENT "/apis/apps/v1/namespaces/default/deployments/d?fieldManager=me"
#define A_DEPLOYMENT                                                                              \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: " \
    "{a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, "

static void structs_are_emptied_too(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "PATCH", DEPLOYMENT, APPLY, NULL,
          A_DEPLOYMENT "securityContext: {privileged: true}}], volumes: [{name: v, emptyDir: "
                       "{medium: Memory}}]}}}",
          201, "\"emptyDir\":{\"medium\":\"Memory\"}", NULL },
        { "PATCH", DEPLOYMENT, APPLY, NULL,
          A_DEPLOYMENT "securityContext: {}}], volumes: [{name: v, emptyDir: {}}]}}}", 200,
          "\"emptyDir\":{}", "privileged" },
        { "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL, NULL, NULL, 200,
          "\"securityContext\":{}}]", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static struct str revision_after(const char *path, const char *config)
{
    struct sent got = requests_send(script.requests, &script.arena, "PATCH", str_of(path), APPLY,
                                    "", str_of(config));
    assert_int_equal(got.status / 100, 2);
    return value_str(value_dig(&got.obj, "metadata", "resourceVersion"));
}

/* Managers stand in the order of their times, so that one who changes nothing, later, would move.
 */
static void nothing_new_is_not_written(void **state)
{
    (void)state;
    struct clock_fake now;
    clock_fake_init(&now, clock_wall_ns(&clock_system));
    script.live.api.clock = &now.clock;
#define SET "/apis/apps/v1/namespaces/default/deployments/quiet"
    const char *config = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: quiet}\nspec: "
                         "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
                         "spec: {containers: [{name: c, image: i}]}}}\nstatus: {replicas: 9}";
    (void)revision_after(SET "?fieldManager=me", config);
    clock_fake_advance(&now, NS_PER_SEC);
    struct str rev =
        revision_after(SET "/status?fieldManager=me",
                       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: quiet}\n"
                       "status: {replicas: 5}");
    clock_fake_advance(&now, NS_PER_SEC);
    assert_true(str_eq(revision_after(SET "?fieldManager=me", config), rev));
    script.live.api.clock = &clock_system;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_applied_as_empty_is_empty),
        cmocka_unit_test(structs_are_emptied_too),
        cmocka_unit_test(nothing_new_is_not_written),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
