/* Decisions of whole attempts: a cluster in a few words, a pod, and the node or the words why not.
 */
#include "base/idiom.h"
#include "scheduler/cluster_test.h"

struct attempt {
    const char *nodes, *pods, *pod;
    const char *node; /* that it gets; NULL: none */
    const char *message;
};

#define TWO  "[{'name':'a'},{'name':'b'}]"
#define ZONE "topology.kubernetes.io/zone"
#define ZONED                                                                         \
    "[{'name':'a','labels':{'" ZONE "':'1'}},{'name':'b','labels':{'" ZONE "':'2'}}," \
    "{'name':'c','labels':{'" ZONE "':'2'}}]"
#define NOT_HELPFUL(n) \
    "preemption: 0/" n " nodes are available: " n " Preemption is not helpful for scheduling."
#define ANTI                                                                                      \
    "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'" ZONE \
    "','labelSelector':{'matchLabels':{'app':'x'}}}]}}"
#define WITH                                                                                  \
    "{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'" ZONE \
    "','labelSelector':{'matchLabels':{'app':'x'}}}]}}"
#define SPREAD                                                                    \
    "[{'maxSkew':1,'topologyKey':'" ZONE "','whenUnsatisfiable':'DoNotSchedule'," \
    "'labelSelector':{'matchLabels':{'app':'x'}}}]"

static const struct attempt attempts[] = {
    { "[]", "[]", "{'name':'p'}", NULL, "no nodes available to schedule pods" },
    { TWO, "[{'name':'x','on':'a','cpu':'1'}]", "{'name':'p','cpu':'1'}", "b", NULL },
    { TWO, "[]", "{'name':'p','cpu':'5'}", NULL,
      "0/2 nodes are available: 2 Insufficient cpu. " NOT_HELPFUL("2") },
    { TWO, "[]", "{'name':'p','spec':{'nodeSelector':{'z':'1'}}}", NULL,
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. " NOT_HELPFUL(
          "2") },
    { "[{'name':'a','taints':[{'key':'k','value':'v','effect':'NoSchedule'}]},"
      "{'name':'b','cordoned':true}]",
      "[]", "{'name':'p'}", NULL,
      "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were "
      "unschedulable. " NOT_HELPFUL("2") },
    { "[{'name':'a','taints':[{'key':'k','value':'v','effect':'NoSchedule'}]},"
      "{'name':'b','cordoned':true}]",
      "[]", "{'name':'p','spec':{'tolerations':[{'key':'k','operator':'Equal','value':'v'}]}}", "a",
      NULL },
    { ZONED, "[{'name':'x','on':'a','labels':{'app':'x'}}]",
      "{'name':'p','spec':{'affinity':" WITH "}}", "a", NULL },
    { ZONED, "[]", "{'name':'p','spec':{'affinity':" WITH "}}", NULL,
      "0/3 nodes are available: 3 node(s) didn't match pod affinity rules. " NOT_HELPFUL("3") },
    /* The first of a group has nobody to join. */
    { "[{'name':'a','labels':{'" ZONE "':'1'}},{'name':'b'}]", "[]",
      "{'name':'p','labels':{'app':'x'},'spec':{'affinity':" WITH "}}", "a", NULL },
    { ZONED, "[{'name':'x','on':'b','labels':{'app':'x'}}]",
      "{'name':'p','spec':{'affinity':" ANTI "}}", "a", NULL },
    /* Those who are there do not want it either. */
    { ZONED, "[{'name':'y','on':'b','spec':{'affinity':" ANTI "}}]",
      "{'name':'p','labels':{'app':'x'}}", "a", NULL },
    { ZONED, "[{'name':'x','on':'b','labels':{'app':'x'}}]",
      "{'name':'p','labels':{'app':'x'},'spec':{'topologySpreadConstraints':" SPREAD "}}", "a",
      NULL },
    { "[{'name':'a'},{'name':'b'}]", "[]",
      "{'name':'p','spec':{'topologySpreadConstraints':" SPREAD "}}", NULL,
      "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing "
      "required label). " NOT_HELPFUL("2") },
    { "[{'name':'a'}]",
      "[{'name':'x','on':'a','spec':{'containers':[{'ports':[{'hostPort':80,'protocol':'TCP'}]}]}}"
      "]",
      "{'name':'p','spec':{'containers':[{'ports':[{'hostPort':80,'protocol':'TCP'}]}]}}", NULL,
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. "
      "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod." },
    { "[{'name':'a'}]", "[]",
      "{'name':'p','spec':{'affinity':{'nodeAffinity':"
      "{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'matchFields':"
      "[{'key':'metadata.name','operator':'In','values':['z']}]}]}}}}}",
      NULL,
      "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) "
      "[NodeAffinity]. " NOT_HELPFUL("1") },
    { "[{'name':'a'}]", "[{'name':'x','on':'a','cpu':'3'}]",
      "{'name':'p','cpu':'3','spec':{'preemptionPolicy':'Never'},'priority':9}", NULL,
      "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
      "preemptionPolicy=Never." },
    /* Two that matter less are worse than one. */
    { TWO,
      "[{'name':'x','on':'a','cpu':'2'},{'name':'y','on':'a','cpu':'2'},"
      "{'name':'z','on':'b','cpu':'4'}]",
      "{'name':'p','cpu':'4','priority':9}", NULL,
      "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for "
      "pod on node b, preempting 1 victims" },
    /* Who need not go stays. */
    { "[{'name':'a'}]",
      "[{'name':'x','on':'a','cpu':'2','priority':5},{'name':'y','on':'a','cpu':'2'}]",
      "{'name':'p','cpu':'2','priority':9}", NULL,
      "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for "
      "pod on node a, preempting 1 victims" },
};

static void check_attempt(const struct attempt *t)
{
    struct world w;
    struct cursor at = { 0 };
    struct decision d;
    world_init(&w);
    add_nodes(&w, t->nodes);
    size_t n_pods = 0;
    value_each_item (p, read_tree(t->pods)) {
        add_pod(&w, p);
        n_pods++;
    }
    struct sched_pod *pod = add_pod(&w, read_tree(t->pod));
    cycle_run(&w, &profiles.items[0], NULL, &arena, &at, pod, &d);
    if (t->node) {
        if (!d.node)
            fail_msg("%s: " STR_FMT, t->pod, STR_ARG(d.message));
        assert_string_equal(str_cstr(&arena, d.node->name), t->node);
    } else {
        assert_null(d.node);
        assert_string_equal(str_cstr(&arena, d.message), t->message);
    }
    /* Whatever was tried, the world is as before. */
    size_t placed = 0;
    for (size_t i = 0; i < w.n_nodes; i++)
        placed += w.nodes[i]->n_pods;
    assert_int_equal(placed, n_pods);
    world_done(&w);
}

static void test_attempts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(attempts); i++)
        check_attempt(&attempts[i]);
}

/* A pod that waits for a node keeps others of its priority away from it. */
static void test_nominated(void **state)
{
    (void)state;
    struct world w;
    struct cursor at = { 0 };
    struct decision d;
    world_init(&w);
    add_nodes(&w, "[{'name':'a'}]");
    struct sched_pod *first = add_pod(&w, read_tree("{'name':'f','cpu':'3','priority':9}"));
    world_nominate(&w, first, STR("a"));
    struct sched_pod *pod = add_pod(&w, read_tree("{'name':'p','cpu':'3','priority':9}"));
    cycle_run(&w, &profiles.items[0], NULL, &arena, &at, pod, &d);
    assert_null(d.node);
    struct sched_pod *higher = add_pod(&w, read_tree("{'name':'h','cpu':'3','priority':10}"));
    cycle_run(&w, &profiles.items[0], NULL, &arena, &at, higher, &d);
    assert_non_null(d.node);
    cycle_run(&w, &profiles.items[0], NULL, &arena, &at, first, &d);
    assert_non_null(d.node);
    world_done(&w);
}

/* Sums follow pods that come, change and go, and nodes that come late. */
static void test_sums(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    add_pod(&w, read_tree("{'name':'early','on':'a','cpu':'1','labels':{'app':'x'}}"));
    add_nodes(&w, TWO);
    struct labels_selector s;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(labels_parse(&arena, STR("app=x"), &s, &err), 0);
    const struct sched_node *a = world_node(&w, STR("a")), *b = world_node(&w, STR("b"));
    assert_int_equal(a->used[RESOURCE_CPU], 1000);
    assert_int_equal(world_tally(&w, STR("ns"), &s)->counts[a->slot], 1);
    add_pod(&w, read_tree("{'name':'late','on':'b','cpu':'500m','labels':{'app':'x'}}"));
    add_pod(&w, read_tree("{'name':'early','on':'a','cpu':'2'}"));
    assert_int_equal(world_tally(&w, STR("ns"), &s)->counts[a->slot], 0);
    assert_int_equal(world_tally(&w, STR("ns"), &s)->counts[b->slot], 1);
    assert_int_equal(a->used[RESOURCE_CPU], 2000);
    world_remove_node(&w, STR("a"));
    assert_int_equal(world_tally(&w, STR("ns"), &s)->counts[b->slot], 1);
    world_free_pod(world_remove_pod(&w, STR("ns/late")));
    world_free_pod(world_remove_pod(&w, STR("ns/early")));
    assert_int_equal(b->used[RESOURCE_CPU], 0);
    assert_int_equal(b->n_pods, 0);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attempts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nominated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
