#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/pod_qos.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/registry/strategy.h"

static const struct kind_resource *resource_of(const char *group, const char *plural)
{
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++)
            if (str_eq(kind_versions[v].group, str_of(group)) &&
                str_eq(kind_versions[v].resources[i].plural, str_of(plural)))
                return &kind_versions[v].resources[i];
    fail_msg("there is no %s", plural);
    return NULL;
}

/* Text with single quotes instead of double ones, read as an object of the resource. */
static struct value read_as(struct arena *a, const struct kind_resource *r, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value given, obj = value_null();
    char *quoted = arena_dup(a, text, strlen(text));
    for (size_t i = 0; text[i]; i++)
        if (quoted[i] == '\'')
            quoted[i] = '"';
    if (json_read(a, (struct str){ quoted, strlen(text) }, NULL, &given, &err) < 0 ||
        typed_read(a, r->type, &given, NULL, &obj, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return obj;
}

static void settle(struct arena *a, const struct kind_resource *r, struct value *obj)
{
    struct value settled;
    assert_int_equal(typed_read(a, r->type, obj, NULL, &settled, NULL), 0);
    *obj = settled;
}

struct row {
    const char *group, *resource, *sub;
    const char *old, *given, *want; /* without `old` it is created */
};

static void run(const struct row *rows, size_t n)
{
    const struct str groups[] = { STR("g1"), STR("g2") };
    const struct user user = { STR("eve"), STR("u1"), groups, 2 };
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const struct kind_resource *r = resource_of(rows[i].group, rows[i].resource);
        struct strategy s = {
            .arena = &a,
            .resource = r,
            .asked = r,
            .user = &user,
            .now = STR("2030-01-02T03:04:05Z"),
        };
        struct value obj = read_as(&a, r, rows[i].given), want = read_as(&a, r, rows[i].want);
        if (rows[i].old) {
            struct value old_obj = read_as(&a, r, rows[i].old);
            strategy_update(&s, str_of(rows[i].sub ? rows[i].sub : ""), &obj, &old_obj);
        } else {
            strategy_create(&s, &obj);
        }
        settle(&a, r, &obj);
        autobuf got = { 0 };
        json_write(&got, &obj);
        if (!value_eq(&obj, &want))
            print_error("%s %s\nwant %s\ngot  " STR_FMT "\n", rows[i].resource, rows[i].given,
                        rows[i].want, STR_ARG(buf_str(&got)));
        assert_true(value_eq(&obj, &want));
        arena_done(&a);
    }
}

#define RUN(rows) run((rows), sizeof(rows) / sizeof((rows)[0]))

static void quality_of_service(void **state)
{
    static const struct {
        const char *spec, *want;
    } rows[] = {
        { "{'containers':[{'name':'a'}]}", "BestEffort" },
        { "{}", "BestEffort" },
        { "{'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}]}", "Burstable" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1','memory':'1Gi'}}}]}",
          "Guaranteed" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1000m','memory':'1024Mi'}}}]}",
          "Guaranteed" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1'},"
          "'requests':{'cpu':'1'}}}]}",
          "Burstable" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1','memory':'1Gi'}}},{'name':'b'}]}",
          "Burstable" },
        { "{'initContainers':[{'name':'i','resources':{'requests':{'memory':'1'}}}],"
          "'containers':[{'name':'a'}]}",
          "Burstable" },
        { "{'containers':[{'name':'a','resources':{'requests':{'cpu':'0'}}}]}", "BestEffort" },
        { "{'containers':[{'name':'a','resources':{'requests':{'example.com/gpu':'1'},"
          "'limits':{'example.com/gpu':'1'}}}]}",
          "BestEffort" },
        { "{'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1','memory':"
          "'1Gi'}},'containers':[{'name':'a'}]}",
          "Guaranteed" },
        { "{'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'a'}]}", "Burstable" },
    };
    const struct kind_resource *pods = resource_of("", "pods");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = read_as(&a, pods, arena_printf(&a, "{'spec':%s}", rows[i].spec).p);
        if (!str_eq(pod_qos_class(value_get(&pod, STR("spec"))), str_of(rows[i].want)))
            print_error("%s\n", rows[i].spec);
        assert_true(str_eq(pod_qos_class(value_get(&pod, STR("spec"))), str_of(rows[i].want)));
        arena_done(&a);
    }
}

#define POD_META "'metadata':{'name':'p','generation':1}"

static void new_pods(void **state)
{
    static const struct row rows[] = {
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p','generation':7},'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Running','qosClass':'Guaranteed','nominatedNodeName':'n'}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a'}],"
          "'schedulingGates':[{'name':'g'}]}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}],'schedulingGates':[{'name':'g'}]},"
          "'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
          "'lastTransitionTime':'2030-01-02T03:04:05Z','reason':'SchedulingGated','message':"
          "'Scheduling is blocked due to non-empty scheduling gates'}],'qosClass':"
          "'BestEffort'}}" },
        /* A feature that is off. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','lifecycle':{'stopSignal':"
          "'SIGUSR1'}}]}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        /* Selectors that look at the pod's own labels. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p','labels':{'v':'1'}},'spec':{'containers':[{'name':'a'}],"
          "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k','whenUnsatisfiable':"
          "'DoNotSchedule','labelSelector':{},'matchLabelKeys':['v','absent']}]}}",
          "{'metadata':{'name':'p','generation':1,'labels':{'v':'1'}},'spec':{'containers':"
          "[{'name':'a'}],'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k',"
          "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchExpressions':[{'key':'v',"
          "'operator':'In','values':['1']}]},'matchLabelKeys':['v','absent']}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        /* Its own resources come from its containers. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'resources':{'limits':{'cpu':'3'}},'containers':["
          "{'name':'a','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'2Gi'}}},"
          "{'name':'b','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'1Gi'}}}]}}",
          "{" POD_META ",'spec':{'resources':{'limits':{'cpu':'3','memory':'3Gi'},'requests':{"
          "'cpu':'3','memory':'2Gi'}},'containers':["
          "{'name':'a','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'2Gi'}}},"
          "{'name':'b','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'1Gi'}}}]},"
          "'status':{'phase':'Pending','qosClass':'Burstable'}}" },
    };
    (void)state;
    RUN(rows);
}

static void changed_pods(void **state)
{
    static const char old[] = "{" POD_META ",'spec':{'containers':[{'name':'a','image':'x:1'}]},"
                              "'status':{'phase':'Running','qosClass':'BestEffort'}}";
    static const struct row rows[] = {
        { "", "pods", "", old,
          "{" POD_META ",'spec':{'containers':[{'name':'a','image':'x:2'}]},"
          "'status':{'phase':'Failed'}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:2'}]},'status':{'phase':'Running','qosClass':'BestEffort'}}" },
        { "", "pods", "status", old,
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'},'ownerReferences':["
          "{'apiVersion':'v1','kind':'Node','name':'n','uid':'u'}]},'spec':{'containers':[]},"
          "'status':{'phase':'Failed'}}",
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'}},'spec':{'containers':["
          "{'name':'a','image':'x:1'}]},'status':{'phase':'Failed','qosClass':'BestEffort'}}" },
        { "", "pods", "ephemeralcontainers", old,
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'}},'spec':{'containers':["
          "{'name':'z'}],'ephemeralContainers':[{'name':'d','image':'y'}]},'status':{}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:1'}],'ephemeralContainers':[{'name':'d','image':'y'}]},"
          "'status':{'phase':'Running','qosClass':'BestEffort'}}" },
        { "", "pods", "resize", old,
          "{" POD_META ",'spec':{'hostname':'h','containers':[{'name':'a','image':'x:9',"
          "'resources':{'limits':{'cpu':'1'}}}]}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:1','resources':{'limits':{'cpu':'1'}}}]},"
          "'status':{'phase':'Running','qosClass':'BestEffort'}}" },
    };
    (void)state;
    RUN(rows);
}

static void workloads(void **state)
{
    static const struct row rows[] = {
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1'},'spec':{'template':{}},'status':{'active':1}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{"
          "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u-1','job-name':'j'}},'spec':{'selector':{'matchLabels':{"
          "'batch.kubernetes.io/controller-uid':'u-1'}},'template':{'metadata':{'labels':{"
          "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u-1','job-name':'j'}}}}}" },
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1','labels':{'a':'b'}},'spec':{'manualSelector':true,"
          "'selector':{'matchLabels':{'x':'y'}},'template':{'metadata':{'labels':{'x':'y'}}}}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{'a':'b'}},'spec':{"
          "'manualSelector':true,'selector':{'matchLabels':{'x':'y'}},'template':{'metadata':{"
          "'labels':{'x':'y'}}}}}" },
        { "apps", "daemonsets", NULL, NULL, "{'metadata':{'name':'d'},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':1,'annotations':{"
          "'deprecated.daemonset.template.generation':'1'}},'spec':{'template':{}}}" },
        { "apps", "daemonsets", "",
          "{'metadata':{'name':'d','generation':3,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':3},'spec':{'template':{'spec':{'hostname':'h'}}}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{"
          "'deprecated.daemonset.template.generation':'3'}},'spec':{'template':{'spec':{"
          "'hostname':'h'}}}}" },
        { "apps", "daemonsets", "",
          "{'metadata':{'name':'d','generation':3,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':3},'spec':{'template':{},'minReadySeconds':9}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{},"
          "'minReadySeconds':9}}" },
        { "apps", "deployments", "", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'annotations':{'a':'b'}},'spec':{}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{'a':'b'}},'spec':{}}" },
        { "apps", "deployments", "", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}" },
        { "apps", "deployments", "status",
          "{'metadata':{'name':'d','generation':3,'labels':{'x':'y'}},'spec':{'replicas':1}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'},'annotations':{'a':'b'}},"
          "'spec':{'replicas':9},'status':{'replicas':2}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'x':'y'},'annotations':{'a':'b'}},"
          "'spec':{'replicas':1},'status':{'replicas':2}}" },
        { "apps", "statefulsets", "status", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{'replicas':9}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}" },
    };
    (void)state;
    RUN(rows);
}

static void generations(void **state)
{
    static const struct row rows[] = {
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
    RUN(rows);
}

static void cluster_kinds(void **state)
{
    static const struct row rows[] = {
        { "", "namespaces", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'finalizers':['a/b']},'status':{'phase':'X'}}",
          "{'metadata':{'name':'n'},'spec':{'finalizers':['a/b','kubernetes']},'status':{'phase':"
          "'Active'}}" },
        { "", "nodes", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'configSource':{}},'status':{'phase':'Running'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Running'}}" },
        { "", "serviceaccounts", NULL, NULL,
          "{'metadata':{'name':'n'},'secrets':[{'kind':'Secret','namespace':'x','name':'s'}]}",
          "{'metadata':{'name':'n'},'secrets':[{'name':'s'}]}" },
        { "", "secrets", "", "{'metadata':{'name':'n'},'type':'a/b'}", "{'metadata':{'name':'n'}}",
          "{'metadata':{'name':'n'},'type':'a/b'}" },
        { "", "persistentvolumes", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending',"
          "'lastPhaseTransitionTime':'2030-01-02T03:04:05Z'}}" },
        { "", "persistentvolumes", "status",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending',"
          "'lastPhaseTransitionTime':'2020-01-02T03:04:05Z'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound',"
          "'lastPhaseTransitionTime':'2030-01-02T03:04:05Z'}}" },
        { "", "persistentvolumeclaims", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'PersistentVolumeClaim','name':"
          "'x'}}}",
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'PersistentVolumeClaim','name':"
          "'x'},'dataSourceRef':{'kind':'PersistentVolumeClaim','name':'x'}},'status':{'phase':"
          "'Pending'}}" },
        { "", "persistentvolumeclaims", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'Other','name':'x'}}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending'}}" },
        { "certificates.k8s.io", "certificatesigningrequests", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b','username':'mallory','groups':"
          "['system:masters'],'extra':{'a':['b']}},'status':{'certificate':'eA=='}}",
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b','username':'eve','uid':'u1',"
          "'groups':['g1','g2']}}" },
        { "certificates.k8s.io", "certificatesigningrequests", "approval",
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b'},'status':{'certificate':'eA=='}}",
          "{'metadata':{'name':'n'},'spec':{'signerName':'c/d'},'status':{'certificate':'eQ==',"
          "'conditions':[{'type':'Approved','status':'True'}]}}",
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b'},'status':{'certificate':'eA==',"
          "'conditions':[{'type':'Approved','status':'True','lastUpdateTime':"
          "'2030-01-02T03:04:05Z','lastTransitionTime':'2030-01-02T03:04:05Z'}]}}" },
        { "certificates.k8s.io", "certificatesigningrequests", "status",
          "{'metadata':{'name':'n'},'spec':{},'status':{'conditions':[{'type':'Denied','status':"
          "'True','reason':'no','lastUpdateTime':'2020-01-02T03:04:05Z','lastTransitionTime':"
          "'2020-01-02T03:04:05Z'}]}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'conditions':[{'type':'Denied','status':"
          "'True','reason':'changed'}]}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'conditions':[{'type':'Denied','status':"
          "'True','reason':'no','lastUpdateTime':'2020-01-02T03:04:05Z','lastTransitionTime':"
          "'2020-01-02T03:04:05Z'}]}}" },
        { "apiregistration.k8s.io", "apiservices", NULL, NULL,
          "{'metadata':{'name':'v1.x'},'spec':{'group':'x','version':'v1'}}",
          "{'metadata':{'name':'v1.x'},'spec':{'group':'x','version':'v1'},'status':{'conditions':"
          "[{'type':'Available','status':'True','lastTransitionTime':'2030-01-02T03:04:05Z',"
          "'reason':'Local','message':'Local APIServices are always available'}]}}" },
        { "discovery.k8s.io", "endpointslices", NULL, NULL,
          "{'metadata':{'name':'n'},'addressType':'IPv4','endpoints':[{'addresses':['1.2.3.4'],"
          "'deprecatedTopology':{'kubernetes.io/hostname':'h'}}]}",
          "{'metadata':{'name':'n','generation':1},'addressType':'IPv4','endpoints':["
          "{'addresses':['1.2.3.4']}]}" },
        { "", "services", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'type':'ExternalName','internalTrafficPolicy':"
          "'Cluster'}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ExternalName'}}" },
        { "", "services", "",
          "{'metadata':{'name':'n'},'spec':{'type':'LoadBalancer','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80,'nodePort':30001}],"
          "'externalTrafficPolicy':'Local','healthCheckNodePort':30002,'loadBalancerClass':'a/b'},"
          "'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80,'nodePort':30001}],"
          "'externalTrafficPolicy':'Local','healthCheckNodePort':30002,'loadBalancerClass':"
          "'a/b'}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80}]},'status':{'loadBalancer':{}}}" },
    };
    (void)state;
    RUN(rows);
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
                struct value obj = read_as(&a, r, texts[t]), old_obj = read_as(&a, r, texts[0]);
                strategy_create(&s, &obj);
                settle(&a, r, &obj);
                for (size_t k = 0; k < ARRAY_LEN(subs); k++) {
                    struct value changed = read_as(&a, r, texts[t]);
                    strategy_update(&s, str_of(subs[k]), &changed, &old_obj);
                    settle(&a, r, &changed);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality_of_service), cmocka_unit_test(new_pods),
        cmocka_unit_test(changed_pods),       cmocka_unit_test(workloads),
        cmocka_unit_test(generations),        cmocka_unit_test(cluster_kinds),
        cmocka_unit_test(hostile_objects),    cmocka_unit_test(owners_leave_dependents_by_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
