/* Pods that want devices: what they wait for, and where they go. */
#include "base/idiom.h"
#include "scheduler/cluster_test.h"

static const struct value *device_claim(void *arg, struct arena *a, struct str ns, struct str name)
{
    (void)a;
    (void)ns;
    return str_eq(name, STR("c")) ? value_get(arg, STR("claim")) : NULL;
}

static const struct value *device_class(void *arg, struct arena *a, struct str name)
{
    (void)arg;
    (void)a;
    return str_eq(name, STR("known")) ? value_get(arg, STR("claim")) : NULL;
}

#define CLAIM(class, status)                                                         \
    "{'claim':{'metadata':{},'spec':{'devices':{'requests':[{'name':'r','exactly':{" \
    "'deviceClassName':'" class "'}}]}},'status':{" status "}}}"
#define ON_B                                                                     \
    "'allocation':{'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':" \
    "'metadata.name','operator':'In','values':['b']}]}]}}"
#define NOWHERE(why)                                                                       \
    "0/2 nodes are available: " why ". preemption: 0/2 nodes are available: 2 Preemption " \
    "is not helpful for scheduling."

static const struct {
    const char *claim, *uses, *node, *message;
} cases[] = {
    { CLAIM("known", ON_B), "{'name':'d','resourceClaimName':'c'}", "b", "" },
    { CLAIM("known", ""), "{'name':'d','resourceClaimName':'c'}", NULL,
      NOWHERE("2 cannot allocate all claims") },
    { CLAIM("other", ""), "{'name':'d','resourceClaimName':'c'}", NULL,
      NOWHERE("request r: device class other does not exist") },
    { CLAIM("known", ON_B), "{'name':'d','resourceClaimName':'x'}", NULL,
      NOWHERE("resourceclaim.resource.k8s.io \"x\" not found") },
    { CLAIM("known", ON_B), "{'name':'d','resourceClaimTemplateName':'t'}", NULL,
      NOWHERE("pod \"ns/p\": ResourceClaim not created yet") },
};

static void test_devices(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct cursor at = { 0 };
        struct decision d;
        struct cycle_env env = { .arg = read_tree(cases[i].claim),
                                 .device_claim = device_claim,
                                 .device_class = device_class };
        world_init(&w);
        add_nodes(&w, "[{'name':'a'},{'name':'b'}]");
        struct str pod = arena_printf(
            &arena, "{'name':'p','cpu':'1','spec':{'resourceClaims':[%s]}}", cases[i].uses);
        cycle_run(&w, &profiles.items[0], &env, &arena, &at,
                  add_pod(&w, read_tree(str_cstr(&arena, pod))), &d);
        if (cases[i].node)
            assert_string_equal(d.node ? str_cstr(&arena, d.node->name) : "", cases[i].node);
        else
            assert_string_equal(str_cstr(&arena, d.message), cases[i].message);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_devices, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
