#include "server/registry/suite_strategy.h"

static void cluster_kinds(void **state)
{
    static const struct suite_row rows[] = {
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
        { "certificates.k8s.io", "certificatesigningrequests", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b','username':'mallory','groups':"
          "['system:masters'],'extra':{'a':['b']}},'status':{'certificate':'eA=='}}",
          "{'metadata':{'name':'n'},'spec':{'signerName':'a/b','username':'eve','uid':'u1',"
          "'groups':['g1','g2'],'extra':{'k':['g1','g2']}}}" },
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
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void what_cannot_be_changed(void **state)
{
    static const struct suite_row rows[] = {
        /* Finalizers of a namespace have a path of their own. */
        { "", "namespaces", "",
          "{'metadata':{'name':'n'},'spec':{'finalizers':['kubernetes']},'status':{'phase':"
          "'Active'}}",
          "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{},'status':{'phase':"
          "'Terminating'}}",
          "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{'finalizers':['kubernetes']},"
          "'status':{'phase':'Active'}}" },
        { "", "namespaces", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'finalizers':['kubernetes']}}",
          "{'metadata':{'name':'n'},'spec':{'finalizers':['kubernetes']},'status':{'phase':"
          "'Active'}}" },
        { "certificates.k8s.io", "certificatesigningrequests", "",
          "{'metadata':{'name':'n'},'spec':{'username':'eve','signerName':'a/b'}}",
          "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{'username':'root'},'status':{"
          "'certificate':'eA=='}}",
          "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{'username':'eve','signerName':"
          "'a/b'}}" },
        { "", "serviceaccounts", "", "{'metadata':{'name':'n'}}",
          "{'metadata':{'name':'n'},'secrets':[{'uid':'u','name':'s'},{'uid':'u'}]}",
          "{'metadata':{'name':'n'},'secrets':[{'name':'s'},{}]}" },
        { "", "secrets", "", "{'metadata':{'name':'n'},'type':'a/b'}",
          "{'metadata':{'name':'n'},'type':'c/d'}", "{'metadata':{'name':'n'},'type':'c/d'}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define NODE(spec, status) "{'metadata':{'name':'n'},'spec':{" spec "},'status':{" status "}}"

static void configuration_of_nodes(void **state)
{
    static const struct suite_row rows[] = {
        { "", "nodes", NULL, NULL, NODE("", "'config':{'error':'e'},'phase':'Running'"),
          NODE("", "'phase':'Running'") },
        { "", "nodes", "", NODE("", ""), NODE("'configSource':{},'podCIDR':'10.0.0.0/24'", ""),
          NODE("'podCIDR':'10.0.0.0/24'", "") },
        { "", "nodes", "", NODE("'configSource':{}", ""), NODE("'configSource':{}", ""),
          NODE("'configSource':{}", "") },
        { "", "nodes", "status", NODE("", ""), NODE("'unschedulable':true", "'config':{}"),
          NODE("", "") },
        { "", "nodes", "status", NODE("", "'config':{'error':'e'}"),
          NODE("", "'config':{'error':'f'}"), NODE("", "'config':{'error':'f'}") },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define CSR(conditions) \
    "{'metadata':{'name':'n'},'spec':{},'status':{'conditions':[" conditions "]}}"
#define CONDITION(type, reason, update, transition)                                      \
    "{'type':'" type "','status':'True','reason':'" reason "','lastUpdateTime':'" update \
    "-01-02T03:04:05Z','lastTransitionTime':'" transition "-01-02T03:04:05Z'}"
#define BARE(type, reason) "{'type':'" type "','status':'True','reason':'" reason "'}"
#define SIGNING            "certificates.k8s.io", "certificatesigningrequests"

static void conditions_of_requests(void **state)
{
    static const struct suite_row rows[] = {
        { SIGNING, "status", CSR(CONDITION("Approved", "yes", "2020", "2020")),
          CSR(BARE("Failed", "f") "," BARE("Approved", "me")),
          CSR(CONDITION("Failed", "f", "2030", "2030") "," CONDITION("Approved", "yes", "2020",
                                                                     "2020")) },
        /* Another number of them: validation refuses what this way does not allow... */
        { SIGNING, "status", CSR(""), CSR(BARE("Approved", "me")),
          CSR(CONDITION("Approved", "me", "2030", "2030")) },
        /* ...but to v1beta1 it was no fault. */
        { SIGNING, "status", CSR(CONDITION("Failed", "f", "2020", "2020")),
          CSR(BARE("Approved", "me")), CSR(CONDITION("Failed", "f", "2020", "2020")),
          .version = "v1beta1" },
        { SIGNING, "approval", CSR(CONDITION("Approved", "yes", "2020", "2020")),
          CSR(BARE("Approved", "again")), CSR(CONDITION("Approved", "again", "2030", "2020")) },
        { SIGNING, "approval", CSR(CONDITION("Approved", "yes", "2020", "2020")),
          "{'metadata':{'name':'n'},'spec':{'username':'root'},'status':{}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define SLICE(generation, endpoint)                                                            \
    "{'metadata':{'name':'n','generation':" generation "},'addressType':'IPv4','endpoints':[{" \
    "'addresses':['1.2.3.4']" endpoint "}]}"
#define ON(host) ",'deprecatedTopology':{'kubernetes.io/hostname':'" host "'}"

static void topology_of_slices(void **state)
{
    static const struct suite_row rows[] = {
        { "discovery.k8s.io", "endpointslices", NULL, NULL, SLICE("1", ON("h")),
          SLICE("1", ON("h")), .version = "v1beta1" },
        /* The host that was known by its label is known by its name afterwards. */
        { "discovery.k8s.io", "endpointslices", "", SLICE("1", ON("h")),
          SLICE("1", ON("h") ",'zone':'z'"), SLICE("2", ",'nodeName':'h','zone':'z'") },
        { "discovery.k8s.io", "endpointslices", "", SLICE("1", ON("h")),
          SLICE("1", ON("i") ",'zone':'z'"), SLICE("2", ",'zone':'z'") },
        { "discovery.k8s.io", "endpointslices", "", SLICE("1", ON("h")), SLICE("1", ON("h")),
          SLICE("1", ON("h")) },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define DEFINITION(generation, stored, versions)                                                 \
    "{'metadata':{'name':'n','generation':" generation "},'spec':{'group':'','names':{'plural':" \
    "'','kind':''},'scope':'','versions':[" versions "]},'status':{'storedVersions':[" stored    \
    "]}}"
#define VERSION(name, storage) "{'name':'" name "','served':true,'storage':" storage "}"

static void versions_that_may_be_stored(void **state)
{
    static const struct suite_row rows[] = {
        { "apiextensions.k8s.io", "customresourcedefinitions", NULL, NULL,
          DEFINITION("7", "'v0'", VERSION("v1", "true")),
          DEFINITION("1", "'v1'", VERSION("v1", "true")) },
        { "apiextensions.k8s.io", "customresourcedefinitions", "",
          DEFINITION("1", "'v1'", VERSION("v1", "true")),
          DEFINITION("1", "", VERSION("v1", "false") "," VERSION("v2", "true")),
          DEFINITION("2", "'v1','v2'", VERSION("v1", "false") "," VERSION("v2", "true")) },
        { "apiextensions.k8s.io", "customresourcedefinitions", "status",
          DEFINITION("1", "'v1','v2'", VERSION("v2", "true")),
          DEFINITION("1", "'v2'", VERSION("v3", "true")),
          DEFINITION("1", "'v2'", VERSION("v2", "true")) },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void services_elsewhere_are_not_known_to_be_there(void **state)
{
    static const struct suite_row rows[] = {
        { "apiregistration.k8s.io", "apiservices", NULL, NULL,
          "{'metadata':{'name':'v1.x'},'spec':{'group':'x','version':'v1','service':{'name':'s',"
          "'namespace':'n'}},'status':{'conditions':[{'type':'Available','status':'True'}]}}",
          "{'metadata':{'name':'v1.x'},'spec':{'group':'x','version':'v1','service':{'name':'s',"
          "'namespace':'n'}}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cluster_kinds),
        cmocka_unit_test(what_cannot_be_changed),
        cmocka_unit_test(configuration_of_nodes),
        cmocka_unit_test(conditions_of_requests),
        cmocka_unit_test(topology_of_slices),
        cmocka_unit_test(versions_that_may_be_stored),
        cmocka_unit_test(services_elsewhere_are_not_known_to_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
