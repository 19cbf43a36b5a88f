/* What plugins are told: which arguments are refused, in which words, and what the others do. */
#include "scheduler/cluster_test.h"

#define HEAD                                      \
    "{'apiVersion':'kubescheduler.config.k8s.io/" \
    "v1','kind':'KubeSchedulerConfiguration','profiles':["
#define CONFIG(plugin, args) HEAD "{'pluginConfig':[{'name':'" plugin "','args':" args "}]}]}"
#define ARGS                 "profiles[0].pluginConfig[0].args."

static int read_config(const char *text, struct profiles *ret, struct err *err)
{
    return profiles_read(&arena, read_tree(text), ret, err);
}

struct refusal {
    const char *config, *message;
};

static void check_refused(const struct refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct profiles all;
        struct err err = ERR_INIT(&arena);
        if (read_config(cases[i].config, &all, &err) == 0)
            fail_msg("%s", cases[i].config);
        assert_string_equal(str_cstr(&arena, err.msg), cases[i].message);
    }
}

#define DECODING "decoding .profiles[0].pluginConfig[0]: "

static void forms_are_checked(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { CONFIG("NodeAffinity", "{'affinity':{}}"),
          "strict decoding error: " DECODING "strict decoding error: decoding args for plugin "
          "NodeAffinity: strict decoding error: unknown field \"affinity\"" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'resources':[{'nme':'cpu'}]}}"),
          "strict decoding error: " DECODING "strict decoding error: decoding args for plugin "
          "NodeResourcesFit: strict decoding error: unknown field "
          "\"scoringStrategy.resources[0].nme\"" },
        { CONFIG("InterPodAffinity", "{'hardPodAffinityWeight':'5'}"),
          DECODING "decoding args for plugin InterPodAffinity: json: cannot unmarshal string into "
                   "Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type int32" },
        { CONFIG("DefaultPreemption", "{'minCandidateNodesAbsolute':5000000000}"),
          DECODING "decoding args for plugin DefaultPreemption: json: cannot unmarshal number "
                   "5000000000 into Go struct field "
                   "DefaultPreemptionArgs.minCandidateNodesAbsolute of type int32" },
        { CONFIG("InterPodAffinity", "{'kind':'NodeAffinityArgs'}"),
          DECODING "args for plugin InterPodAffinity were not of type "
                   "InterPodAffinityArgs.kubescheduler.config.k8s.io, got "
                   "NodeAffinityArgs.kubescheduler.config.k8s.io" },
        { HEAD "{'pluginConfig':[{'name':'NodeAffinity'},{'name':'NodeAffinity'}]}]}",
          "profiles[0].pluginConfig[1]: Duplicate value: \"NodeAffinity\"" },
    };
    check_refused(cases, ARRAY_LEN(cases));
}

static void values_are_checked(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { CONFIG("InterPodAffinity", "{'hardPodAffinityWeight':101}"),
          ARGS "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]" },
        { CONFIG("DefaultPreemption", "{'minCandidateNodesPercentage':-1}"),
          ARGS "minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]" },
        { CONFIG("DefaultPreemption",
                 "{'minCandidateNodesPercentage':0,'minCandidateNodesAbsolute':0}"),
          "[" ARGS "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time "
          "as minCandidateNodesAbsolute, " ARGS "minCandidateNodesAbsolute: Invalid value: 0: "
          "cannot be zero at the same time as minCandidateNodesPercentage]" },
        { CONFIG("VolumeBinding", "{'bindTimeoutSeconds':-1}"),
          ARGS "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
               "negative value" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'resources':[{'name':'cpu'}]}}"),
          ARGS "scoringStrategy.type: Unsupported value: \"\": supported values: "
               "\"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'MostAllocated','resources':"
                                     "[{'name':'cpu','weight':101}]}}"),
          ARGS "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu "
               "not in valid range (0, 100]" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'RequestedToCapacityRatio'}}"),
          ARGS "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when "
               "type is RequestedToCapacityRatio" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'RequestedToCapacityRatio',"
                                     "'requestedToCapacityRatio':{}}}"),
          ARGS "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point "
               "must be specified" },
        { CONFIG("NodeResourcesFit",
                 "{'scoringStrategy':{'type':'RequestedToCapacityRatio','requestedToCapacityRatio':"
                 "{'shape':[{'utilization':50,'score':11},{'utilization':50,'score':0}]}}}"),
          "[" ARGS "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: "
          "50: values must be sorted in increasing order, " ARGS
          "scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in "
          "valid range [0, 10]]" },
        { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'LeastAllocated',"
                                     "'requestedToCapacityRatio':{'shape':[]}}}"),
          ARGS "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
               "RequestedToCapacityRatio" },
        { CONFIG("NodeResourcesFit", "{'ignoredResourceGroups':['a/b']}"), ARGS
          "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain "
          "'/'" },
        { CONFIG("NodeResourcesBalancedAllocation",
                 "{'resources':[{'name':'cpu','weight':2},{'name':'cpu'}]}"),
          "[" ARGS "resources[0].weight: Invalid value: 2: must be 1, " ARGS
          "resources[1].name: Duplicate value: \"cpu\"]" },
    };
    check_refused(cases, ARRAY_LEN(cases));
}

#define ADDED(terms)                                                                           \
    "{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':" \
    "[" terms "]}}}"
#define TERMS \
    ARGS "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."

static void rules_are_checked(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { CONFIG("PodTopologySpread", "{'defaultingType':'Some'}"),
          ARGS "defaultingType: Unsupported value: \"Some\": supported values: \"System\", "
               "\"List\"" },
        { CONFIG("PodTopologySpread",
                 "{'defaultConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':"
                 "'ScheduleAnyway'}]}"),
          ARGS
          "defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty" },
        { CONFIG("PodTopologySpread",
                 "{'defaultingType':'List','defaultConstraints':[{'labelSelector':{}}]}"),
          "[" ARGS "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, "
          "inf), " ARGS "defaultConstraints[0].topologyKey: Required value: can not be empty, " ARGS
          "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty, " ARGS
          "defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, "
          "as they deduced for each pod]" },
        { CONFIG("PodTopologySpread",
                 "{'defaultingType':'List','defaultConstraints':["
                 "{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'},"
                 "{'maxSkew':2,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'}]}"),
          ARGS "defaultConstraints[1]: Duplicate value: \"{z, DoNotSchedule}\"" },
        { CONFIG("NodeAffinity", ADDED("{'matchExpressions':[{'key':'a','operator':'Is'}]}")), TERMS
          "matchExpressions[0].operator: Unsupported value: \"Is\": supported values: \"In\", "
          "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"" },
        { CONFIG("NodeAffinity", ADDED("{'matchExpressions':[{'key':'a','operator':'In'}]}")),
          TERMS "matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
                "values set can't be empty" },
        { CONFIG("NodeAffinity",
                 ADDED("{'matchExpressions':[{'key':'a','operator':'Gt','values':['x']}]}")),
          TERMS
          "matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
          "value must be an integer" },
        { CONFIG("NodeAffinity", ADDED("{'matchFields':[{'key':'metadata.name','operator':'In',"
                                       "'values':['a','b']}]}")),
          TERMS "matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one element" },
    };
    check_refused(cases, ARRAY_LEN(cases));
}

/* ---- What they do ---- */

/* Every pod is selected by its label app, as if there was a Service. */
static bool select_app(void *arg, struct arena *a, const struct pod_facts *f,
                       struct labels_selector *ret)
{
    (void)arg;
    (void)f;
    struct err err = ERR_INIT(a);
    return labels_parse(a, STR("app=x"), ret, &err) == 0;
}

struct told {
    const char *config, *nodes, *pods, *pod;
    const char *node; /* that it gets; NULL: none */
    const char *message;
};

#define USES(c) "'spec':{'containers':[{'resources':{'requests':" c "}}]}"
#define FULL    "[{'name':'x','on':'b','cpu':'2'}]"
#define ZONES   "[{'name':'a','labels':{'z':'1'}},{'name':'b','labels':{'z':'2'}}]"
#define SPREAD_BY(when)                                                                      \
    CONFIG("PodTopologySpread", "{'defaultingType':'List','defaultConstraints':[{'maxSkew':" \
                                "1,'topologyKey':'z','whenUnsatisfiable':'" when "'}]}")
#define WANTS_X                                                                                   \
    "'spec':{'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{"     \
    "'weight':100,'podAffinityTerm':{'topologyKey':'z','labelSelector':{'matchLabels':{'app':'p'" \
    "}}}}]}}}"

static const struct told cases[] = {
    /* How full. */
    { HEAD "]}", "[{'name':'a'},{'name':'b'}]", FULL, "{'name':'p','cpu':'1'}", "a", NULL },
    { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'MostAllocated'}}"),
      "[{'name':'a'},{'name':'b'}]", FULL, "{'name':'p','cpu':'1'}", "b", NULL },
    { CONFIG("NodeResourcesFit",
             "{'scoringStrategy':{'type':'RequestedToCapacityRatio','resources':[{'name':'cpu',"
             "'weight':9}],'requestedToCapacityRatio':{'shape':[{'utilization':0,'score':0},"
             "{'utilization':80,'score':10},{'utilization':100,'score':0}]}}}"),
      "[{'name':'a'},{'name':'b'}]", FULL, "{'name':'p','cpu':'1'}", "b", NULL },
    { CONFIG("NodeResourcesFit",
             "{'scoringStrategy':{'type':'RequestedToCapacityRatio','resources':[{'name':'cpu'}],"
             "'requestedToCapacityRatio':{'shape':[{'utilization':0,'score':10},"
             "{'utilization':100,'score':0}]}}}"),
      "[{'name':'a'},{'name':'b'}]", FULL, "{'name':'p','cpu':'1'}", "a", NULL },
    /* An extended resource counts only for those who ask for it. */
    { CONFIG("NodeResourcesFit", "{'scoringStrategy':{'type':'MostAllocated','resources':"
                                 "[{'name':'e.io/gpu','weight':100}]}}"),
      "[{'name':'a','has':{'e.io/gpu':'8'}},{'name':'b','has':{'e.io/gpu':'2'}}]", "[]",
      "{'name':'p'," USES("{'cpu':'1','e.io/gpu':'1'}") "}", "b", NULL },
    { CONFIG("NodeResourcesFit", "{'ignoredResourceGroups':['e.io']}"), "[{'name':'a'}]", "[]",
      "{'name':'p'," USES("{'e.io/gpu':'1'}") "}", "a", NULL },
    { CONFIG("NodeResourcesFit", "{'ignoredResources':['e.io/tpu']}"), "[{'name':'a'}]", "[]",
      "{'name':'p'," USES("{'e.io/gpu':'1'}") "}", NULL,
      "0/1 nodes are available: 1 Insufficient e.io/gpu. preemption: 0/1 nodes are available: 1 "
      "Preemption is not helpful for scheduling." },
    /* Affinity that nobody can get rid of. */
    { CONFIG("NodeAffinity", ADDED("{'matchExpressions':[{'key':'z','operator':'In','values':['2']"
                                   "}]}")),
      ZONES, FULL, "{'name':'p','cpu':'1'}", "b", NULL },
    { CONFIG("NodeAffinity", ADDED("{'matchExpressions':[{'key':'z','operator':'In','values':['3']"
                                   "}]}")),
      ZONES, "[]", "{'name':'p'}", NULL,
      "0/2 nodes are available: 2 node(s) didn't match scheduler-enforced node affinity. "
      "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling." },
    { CONFIG("NodeAffinity",
             "{'addedAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':10,"
             "'preference':{'matchExpressions':[{'key':'z','operator':'In','values':['2']}]}}]}}"),
      ZONES, FULL, "{'name':'p','cpu':'1'}", "b", NULL },
    /* Spreading of pods that do not ask for it. */
    { SPREAD_BY("DoNotSchedule"), ZONES, "[{'name':'x','on':'a','labels':{'app':'x'}}]",
      "{'name':'p','labels':{'app':'x'},'spec':{'nodeSelector':{'z':'1'}}}", "a", NULL },
    { SPREAD_BY("DoNotSchedule"), "[{'name':'a'}]", "[]", "{'name':'p','labels':{'app':'x'}}", NULL,
      "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing "
      "required label). preemption: 0/1 nodes are available: 1 Preemption is not helpful for "
      "scheduling." },
    { SPREAD_BY("DoNotSchedule"), ZONES,
      "[{'name':'x','on':'a','labels':{'app':'x'}},{'name':'y','on':'b','cpu':'3'}]",
      "{'name':'p','cpu':'1','labels':{'app':'x'}}", "b", NULL },
    { SPREAD_BY("ScheduleAnyway"), ZONES, "[{'name':'x','on':'a','labels':{'app':'x'}}]",
      "{'name':'p','labels':{'app':'x'}}", "b", NULL },
    /* What others prefer. */
    { HEAD "]}", ZONES, "[{'name':'x','on':'b','cpu':'2'},{'name':'y','on':'b'," WANTS_X "}]",
      "{'name':'p','cpu':'1','labels':{'app':'p'}}", "b", NULL },
    { CONFIG("InterPodAffinity", "{'ignorePreferredTermsOfExistingPods':true}"), ZONES,
      "[{'name':'x','on':'b','cpu':'2'},{'name':'y','on':'b'," WANTS_X "}]",
      "{'name':'p','cpu':'1','labels':{'app':'p'}}", "a", NULL },
};

static void arguments_decide(void **state)
{
    (void)state;
    const struct cycle_env env = { .default_selector = select_app };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct cursor at = { 0 };
        struct decision d;
        struct profiles all;
        struct err err = ERR_INIT(&arena);
        if (read_config(cases[i].config, &all, &err) < 0)
            fail_msg("%zu: " STR_FMT, i, STR_ARG(err.msg));
        world_init(&w);
        add_nodes(&w, cases[i].nodes);
        value_each_item (p, read_tree(cases[i].pods))
            add_pod(&w, p);
        cycle_run(&w, &all.items[0], &env, &arena, &at, add_pod(&w, read_tree(cases[i].pod)), &d);
        if (cases[i].node && (!d.node || !str_eq(d.node->name, str_of(cases[i].node))))
            fail_msg("%zu: " STR_FMT, i, STR_ARG(d.node ? d.node->name : d.message));
        if (!cases[i].node)
            assert_string_equal(str_cstr(&arena, d.message), cases[i].message);
        world_done(&w);
    }
}

/* With three or more resources it is the standard deviation that counts. */
static void many_resources_balance(void **state)
{
    (void)state;
    struct profiles all;
    struct err err = ERR_INIT(&arena);
    struct world w;
    struct cursor at = { 0 };
    struct decision d;
    assert_int_equal(
        read_config(HEAD "{'plugins':{'score':{'disabled':[{'name':'*'}],'enabled':[{'name':"
                         "'NodeResourcesBalancedAllocation'}]}},'pluginConfig':[{'name':"
                         "'NodeResourcesBalancedAllocation','args':{'resources':[{'name':'cpu'},"
                         "{'name':'memory'},{'name':'e.io/gpu'}]}}]}]}",
                    &all, &err),
        0);
    world_init(&w);
    add_nodes(&w, "[{'name':'a','has':{'e.io/gpu':'1'}},{'name':'b','has':{'e.io/gpu':'4'}}]");
    cycle_run(&w, &all.items[0], &(struct cycle_env){ 0 }, &arena, &at,
              add_pod(&w, read_tree("{'name':'p'," USES(
                              "{'cpu':'1','memory':'2Gi','e.io/gpu':'1'}") "}")),
              &d);
    assert_non_null(d.node);
    assert_string_equal(str_cstr(&arena, d.node->name), "b");
    world_done(&w);
}

/* So few candidates are looked for that the better one is not found. */
static void preemption_stops_early(void **state)
{
    (void)state;
    static const struct {
        const char *args, *node;
    } told[] = {
        { "{}", "b" },
        { "{'minCandidateNodesPercentage':0,'minCandidateNodesAbsolute':1}", "a" },
    };
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        struct profiles all;
        struct err err = ERR_INIT(&arena);
        struct world w;
        struct cursor at = { 0 };
        struct decision d;
        struct str config =
            arena_printf(&arena, HEAD "{'pluginConfig':[{'name':'DefaultPreemption','args':%s}]}]}",
                         told[i].args);
        assert_int_equal(read_config(str_cstr(&arena, config), &all, &err), 0);
        world_init(&w);
        add_nodes(&w, "[{'name':'a'},{'name':'b'}]");
        value_each_item (p, read_tree("[{'name':'x','on':'a','cpu':'2'},{'name':'y','on':'a','cpu':"
                                      "'2'},{'name':'z','on':'b','cpu':'4'}]"))
            add_pod(&w, p);
        cycle_run(&w, &all.items[0], &(struct cycle_env){ 0 }, &arena, &at,
                  add_pod(&w, read_tree("{'name':'p','cpu':'4','priority':9}")), &d);
        assert_string_equal(str_cstr(&arena, d.nominated), told[i].node);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forms_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rules_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arguments_decide, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_resources_balance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(preemption_stops_early, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
