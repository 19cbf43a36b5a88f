#include "server/registry/suite_strategy.h"
#include "base/idiom.h"

static void generations(void **state)
{
    static const struct suite_row rows[] = {
        { "scheduling.k8s.io", "priorityclasses", "",
          "{'metadata':{'name':'c','generation':1},'value':1}",
          "{'metadata':{'name':'c','generation':1},'value':1,'description':'d'}",
          "{'metadata':{'name':'c','generation':1},'value':1,'description':'d'}" },
        { "storage.k8s.io", "csidrivers", NULL, NULL, "{'metadata':{'name':'c'},'spec':{}}",
          "{'metadata':{'name':'c'},'spec':{}}" },
        { "storage.k8s.io", "csidrivers", "", "{'metadata':{'name':'c'},'spec':{}}",
          "{'metadata':{'name':'c'},'spec':{'podInfoOnMount':true}}",
          "{'metadata':{'name':'c','generation':1},'spec':{'podInfoOnMount':true}}" },
        { "discovery.k8s.io", "endpointslices", "",
          "{'metadata':{'name':'c','generation':1},'addressType':'IPv4','endpoints':[]}",
          "{'metadata':{'name':'c','generation':1,'labels':{'a':'b'}},'addressType':'IPv4',"
          "'endpoints':[]}",
          "{'metadata':{'name':'c','generation':2,'labels':{'a':'b'}},'addressType':'IPv4',"
          "'endpoints':[]}" },
        { "discovery.k8s.io", "endpointslices", "",
          "{'metadata':{'name':'c','generation':1},'addressType':'IPv4','endpoints':[]}",
          "{'metadata':{'name':'c','generation':1,'annotations':{'a':'b'}},'addressType':'IPv4',"
          "'endpoints':[]}",
          "{'metadata':{'name':'c','generation':1,'annotations':{'a':'b'}},'addressType':'IPv4',"
          "'endpoints':[]}" },
        { "networking.k8s.io", "ingresses", "status",
          "{'metadata':{'name':'c','generation':1},'spec':{'ingressClassName':'x'}}",
          "{'metadata':{'name':'c','generation':1},'spec':{},'status':{'loadBalancer':{'ingress':"
          "[{'ip':'1.2.3.4'}]}}}",
          "{'metadata':{'name':'c','generation':1},'spec':{'ingressClassName':'x'},'status':{"
          "'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}" },
        { "storage.k8s.io", "volumeattachments", "status",
          "{'metadata':{'name':'c','labels':{'x':'y'}},'spec':{'nodeName':'n'}}",
          "{'metadata':{'name':'c','labels':{'a':'b'},'annotations':{'a':'b'},'finalizers':['f']},"
          "'spec':{},'status':{'attached':true}}",
          "{'metadata':{'name':'c','labels':{'x':'y'}},'spec':{'nodeName':'n'},"
          "'status':{'attached':true}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* Whatever a client leaves out or writes as null, nothing breaks. */
static void hostile_objects(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{'metadata':{}}",
        "{'metadata':{'labels':null,'annotations':null},'spec':null,'status':null}",
    };
    static const char *const subs[] = { "", "status", "approval", "ephemeralcontainers", "resize" };
    (void)state;
    for (size_t v = 0; v < n_kind_versions; v++) {
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
                struct arena a;
                arena_init(&a);
                struct strategy s = { .arena = &a,
                                      .resource = r,
                                      .now = STR("2030-01-02T03:04:05Z") };
                struct value obj = suite_strategy_read(&a, r, texts[t]),
                             old_obj = suite_strategy_read(&a, r, texts[0]);
                strategy_create(&s, &obj);
                suite_strategy_settle(&a, r, &obj);
                for (size_t k = 0; k < ARRAY_LEN(subs); k++) {
                    struct value changed = suite_strategy_read(&a, r, texts[t]);
                    strategy_update(&s, str_of(subs[k]), &changed, &old_obj);
                    suite_strategy_settle(&a, r, &changed);
                }
                arena_done(&a);
            }
        }
    }
}

static void owners_leave_dependents_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *group, *version, *plural;
        bool orphans;
    } rows[] = {
        { "apps", "v1", "deployments", false },
        { "apps", "v1beta1", "deployments", true },
        { "apps", "v1beta1", "controllerrevisions", false },
        { "apps", "v1beta2", "daemonsets", true },
        { "extensions", "v1beta1", "replicasets", true },
        { "extensions", "v1beta1", "ingresses", false },
        { "batch", "v1", "cronjobs", false },
        { "batch", "v1", "jobs", true },
        { "batch", "v2alpha1", "cronjobs", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_version *v =
            kind_version_find(str_of(rows[i].group), str_of(rows[i].version));
        const struct kind_resource *r = kind_resource_find(v, str_of(rows[i].plural));
        if (strategy_orphans(r) != rows[i].orphans)
            fail_msg("%s/%s %s", rows[i].group, rows[i].version, rows[i].plural);
    }
}

static void flags_of_kinds(void **state)
{
    static const struct {
        const char *group, *resource;
        unsigned set, unset;
    } rows[] = {
        { "", "configmaps", 0, ~0U },
        { "", "services", STRATEGY_UPSERT, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
        { "", "endpoints", STRATEGY_UPSERT, STRATEGY_CONDITIONAL },
        { "", "nodes", STRATEGY_KEEP_STATUS, STRATEGY_UPSERT },
        { "events.k8s.io", "events", STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION, 0 },
        { "coordination.k8s.io", "leases", STRATEGY_UPSERT | STRATEGY_CONDITIONAL, 0 },
        { "rbac.authorization.k8s.io", "roles", STRATEGY_UPSERT, STRATEGY_CONDITIONAL },
        { "batch", "jobs", STRATEGY_ORPHAN, 0 },
        { "batch", "cronjobs", STRATEGY_GENERATION, STRATEGY_ORPHAN },
        { "", "replicationcontrollers", STRATEGY_ORPHAN, 0 },
        { "policy", "poddisruptionbudgets", STRATEGY_GENERATION | STRATEGY_CONDITIONAL, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_resource *r = suite_strategy_resource(rows[i].group, rows[i].resource);
        unsigned flags = strategy_flags(r);
        if ((flags & rows[i].set) != rows[i].set || (flags & rows[i].unset))
            fail_msg("%s: %x", rows[i].resource, flags);
    }
}

#define CAPACITY "'capacity':{'cpu':'1'}"

static void statuses(void **state)
{
    static const struct suite_row rows[] = {
        /* Kubelets register nodes with their status. */
        { "", "nodes", NULL, NULL, "{'metadata':{'name':'n'},'spec':{},'status':{" CAPACITY "}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{" CAPACITY "}}" },
        { "", "nodes", "", "{'metadata':{'name':'n'},'spec':{},'status':{" CAPACITY "}}",
          "{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{}}",
          "{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{" CAPACITY "}}" },
        { "apps", "replicasets", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'replicas':1},'status':{'replicas':5}}",
          "{'metadata':{'name':'n','generation':1},'spec':{'replicas':1}}" },
        { "apps", "replicasets", "",
          "{'metadata':{'name':'n','generation':1},'spec':{'replicas':1},'status':{'replicas':5}}",
          "{'metadata':{'name':'n','generation':8},'spec':{'replicas':2}}",
          "{'metadata':{'name':'n','generation':2},'spec':{'replicas':2},'status':{'replicas':"
          "5}}" },
        /* Where metadata has no business on this way... */
        { "flowcontrol.apiserver.k8s.io", "flowschemas", "status",
          "{'metadata':{'name':'n','generation':1,'finalizers':['a/b']},'spec':{}}",
          "{'metadata':{'name':'n','generation':1,'labels':{'a':'b'}},'spec':{},'status':{}}",
          "{'metadata':{'name':'n','generation':1,'finalizers':['a/b']},'spec':{},'status':{}}" },
        /* ...and where it has. */
        { "apps", "replicasets", "status", "{'metadata':{'name':'n','generation':1},'spec':{}}",
          "{'metadata':{'name':'n','generation':1,'finalizers':['a/b']},'spec':{'replicas':2}}",
          "{'metadata':{'name':'n','generation':1,'finalizers':['a/b']},'spec':{}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void only_pods_take_time_to_end(void **state)
{
    const struct kind_resource *maps = suite_strategy_resource("", "configmaps");
    const int64_t asked = 9;
    struct value obj = value_object();
    (void)state;
    assert_false(strategy_is_graceful(maps));
    assert_int_equal(strategy_grace(maps, &obj, &asked), 0);
    /* A group of its own has a resource of that name in metrics servers. */
    struct kind_resource other = *suite_strategy_resource("", "pods");
    other.group = STR("metrics.k8s.io");
    assert_false(strategy_is_graceful(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generations),
        cmocka_unit_test(hostile_objects),
        cmocka_unit_test(owners_leave_dependents_by_version),
        cmocka_unit_test(flags_of_kinds),
        cmocka_unit_test(statuses),
        cmocka_unit_test(only_pods_take_time_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
