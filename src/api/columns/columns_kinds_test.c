/* The rules of all kinds that are not about pods: objects in, cells out. */
#include "api/columns/columns.h"

#include "api/columns/suite_columns.h"

#define OBJECT(more) "{" META "," more "}"

/* ---- Network ---- */

#define SERVICE(spec, status) OBJECT("'spec':{" spec "},'status':{'loadBalancer':{" status "}}")
#define BALANCED                                                                              \
    "'ingress':[{'ip':'3.3.3.3','hostname':'x'},{'hostname':'example.com'},{'ip':'1.1.1.1'}," \
    "{'ip':'3.3.3.3'},{}]"

static void services(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 services",
          SERVICE("'type':'ClusterIP','clusterIPs':['10.0.0.1','fd00::1'],'clusterIP':'10.0.0.1',"
                  "'selector':{'b':'','a':'1'},'ports':[{'port':80,'protocol':'TCP'},"
                  "{'port':53,'protocol':'UDP'}]",
                  ""),
          "['a','ClusterIP','10.0.0.1','<none>','80/TCP,53/UDP','4m5s','a=1,b=']" },
        { "v1 services", SERVICE("'type':'ClusterIP','clusterIP':'None'", ""),
          "['a','ClusterIP','None','<none>','<none>','4m5s','<none>']" },
        { "v1 services",
          SERVICE("'type':'NodePort','externalIPs':['2.2.2.2','1.1.1.1'],"
                  "'ports':[{'port':80,'nodePort':30080,'protocol':'TCP'}]",
                  BALANCED),
          "['a','NodePort','<none>','2.2.2.2,1.1.1.1','80:30080/TCP','4m5s','<none>']" },
        { "v1 services", SERVICE("'type':'LoadBalancer'", ""),
          "['a','LoadBalancer','<none>','<pending>','<none>','4m5s','<none>']" },
        { "v1 services", SERVICE("'type':'LoadBalancer'", BALANCED),
          "['a','LoadBalancer','<none>','1.1.1.1,3.3.3.3,example.com','<none>','4m5s',"
          "'<none>']" },
        { "v1 services", SERVICE("'type':'LoadBalancer','externalIPs':['0.0.0.1']", BALANCED),
          "['a','LoadBalancer','<none>','1.1.1.1,3.3.3.3,example.com,0.0.0.1','<none>',"
          "'4m5s','<none>']" },
        { "v1 services", SERVICE("'type':'ExternalName','externalName':'x.example.com'", ""),
          "['a','ExternalName','<none>','x.example.com','<none>','4m5s','<none>']" },
        { "v1 services", SERVICE("'type':''", ""),
          "['a','','<none>','<unknown>','<none>','4m5s','<none>']" },
    };
    SUITE_COLUMNS(rows);
}

#define IPS(a, b)       "'addresses':[{'ip':'" a "'},{'ip':'" b "'}]"
#define SLICE           "discovery.k8s.io/v1 endpointslices"
#define ADDRESSES(list) "{'addresses':[" list "]}"

static void endpoints(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 endpoints", "{" META "}", "['a','<none>','4m5s']" },
        { "v1 endpoints", OBJECT("'subsets':[{'ports':[{'port':80}]}]"), "['a','','4m5s']" },
        { "v1 endpoints", OBJECT("'subsets':[{" IPS("1.1.1.1", "fd00::1") "}]"),
          "['a','1.1.1.1,fd00::1','4m5s']" },
        { "v1 endpoints",
          OBJECT("'subsets':[{" IPS("1.1.1.1", "fd00::1") ",'ports':[{'port':80}]}]"),
          "['a','1.1.1.1:80,[fd00::1]:80','4m5s']" },
        { "v1 endpoints",
          OBJECT("'subsets':[{" IPS("1.1.1.1", "2.2.2.2") ",'ports':[{'port':80},{'port':90}]},"
                                                          "{" IPS("3.3.3.3", "4.4.4.4") "}]"),
          "['a','1.1.1.1:80,2.2.2.2:80,1.1.1.1:90 + 3 more...','4m5s']" },
        { SLICE, OBJECT("'addressType':'IPv4'"), "['a','IPv4','<unset>','<unset>','4m5s']" },
        { SLICE,
          OBJECT("'addressType':'IPv4','ports':[{'port':80},{'name':'http'},{}],'endpoints':"
                 "[" ADDRESSES("'1.1.1.1','2.2.2.2'") "," ADDRESSES("'3.3.3.3'") "]"),
          "['a','IPv4','80,http,*','1.1.1.1,2.2.2.2,3.3.3.3','4m5s']" },
        { SLICE,
          OBJECT("'ports':[{'port':1},{'port':2},{'port':3},{'port':4},{'port':5}],'endpoints':"
                 "[" ADDRESSES("'1.1.1.1','2.2.2.2'") "," ADDRESSES("'3.3.3.3','4.4.4.4'") "]"),
          "['a','','1,2,3 + 2 more...','1.1.1.1,2.2.2.2,3.3.3.3 + 1 more...','4m5s']" },
        { SLICE, OBJECT("'ports':[{'name':''}]"), "['a','','<unset>','<unset>','4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

#define INGRESS    "networking.k8s.io/v1 ingresses"
#define HOST(name) "{'host':'" name "'}"
#define CLASSES    "networking.k8s.io/v1 ingressclasses"
#define ADDRESS    "networking.k8s.io/v1 ipaddresses"

static void ingresses_and_ranges(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { INGRESS, "{" META "}", "['a','<none>','*','','80','4m5s']" },
        { INGRESS,
          OBJECT("'spec':{'ingressClassName':'c','tls':[{}],'rules':[" HOST("x") ",{}," HOST(
              "y") "]},'status':{'loadBalancer':{" BALANCED "}}"),
          "['a','c','x,y','1.1.1.1,3.3.3.3,example.com','80, 443','4m5s']" },
        { INGRESS, OBJECT("'spec':{'rules':[" HOST("x") "," HOST("y") "," HOST("z") "]}"),
          "['a','<none>','x,y,z','','80','4m5s']" },
        { INGRESS, OBJECT("'spec':{'rules':[{},{},{},{},{}," HOST("x") "]}"),
          "['a','<none>','x','','80','4m5s']" },
        { INGRESS, OBJECT("'spec':{'rules':[" HOST("x") ",{}," HOST("y") "," HOST("z") ",{}]}"),
          "['a','<none>','x,y,z + 2 more...','','80','4m5s']" },
        { CLASSES,
          OBJECT("'spec':{'controller':'c','parameters':{'apiGroup':'g','kind':'K','name':'n'}}"),
          "['a','c','K.g/n','4m5s']" },
        { CLASSES, OBJECT("'spec':{'parameters':{'kind':'K','name':'n'}}"),
          "['a','','K/n','4m5s']" },
        { CLASSES,
          "{'metadata':{'name':'a','annotations':{'ingressclass.kubernetes.io/is-default-class':"
          "'true'}}}",
          "['a (default)','','<none>','<unknown>']" },
        { "networking.k8s.io/v1 servicecidrs", OBJECT("'spec':{'cidrs':['10.0.0.0/8','fd::/64']}"),
          "['a','10.0.0.0/8,fd::/64','4m5s']" },
        { ADDRESS,
          OBJECT("'spec':{'parentRef':{'resource':'Services','namespace':'n','name':'S'}}"),
          "['a','services/n/S','4m5s']" },
        { ADDRESS, OBJECT("'spec':{'parentRef':{'group':'G','resource':'r','name':'s'}}"),
          "['a','r.g/s','4m5s']" },
        { ADDRESS, "{" META "}", "['a','<none>','4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

static void selectors(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *text;
    } rows[] = {
        { "null", "<none>" },
        { "{}", "<none>" },
        { "{'matchLabels':{'b':'2','a-b':'1','a':''}}", "a=,a-b=1,b=2" },
        { "{'matchLabels':{'m':'1'},'matchExpressions':[{'key':'z','operator':'Exists'},"
          "{'key':'m','operator':'NotIn','values':['y','x']},{'key':'a','operator':"
          "'DoesNotExist'},{'key':'b','operator':'In','values':['v']}]}",
          "!a,b in (v),m=1,m notin (x,y),z" },
        { "{'matchExpressions':[{'key':'a','operator':'In'}]}", "<error>" },
        { "{'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]}", "<error>" },
        { "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}", "<error>" },
        { "{'matchExpressions':[{'key':'a b','operator':'Exists'}]}", "<error>" },
        { "{'matchExpressions':[{'key':'a','operator':'In','values':['-']}]}", "<error>" },
        { "{'matchLabels':{'a':'not so'}}", "<error>" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value obj = value_object();
        value_set(&a, value_ensure(&a, &obj, STR("spec")), STR("podSelector"),
                  suite_json(&a, rows[i].selector));
        struct value cells = columns_row(
            &a, suite_columns_resource("networking.k8s.io/v1 networkpolicies"), &obj, NOW_NS, NULL);
        assert_string_equal(str_cstr(&a, value_str(value_at(&cells, 1))), rows[i].text);
    }
    arena_done(&a);
}

/* ---- Storage ---- */

#define PV       "v1 persistentvolumes"
#define PVC      "v1 persistentvolumeclaims"
#define DRIVER   "storage.k8s.io/v1 csidrivers"
#define OLD_NAME "'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}"

static void storage(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { PV, "{" META "}", "['a','0','','','','','','<unset>','','4m5s','<unset>']" },
        { PV,
          OBJECT("'spec':{'capacity':{'storage':'5Gi'},'accessModes':['ReadWriteOncePod',"
                 "'ReadWriteMany','ReadOnlyMany','ReadWriteOnce','ReadWriteMany'],"
                 "'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'n','name':"
                 "'c'},'storageClassName':'s','volumeAttributesClassName':'v','volumeMode':"
                 "'Block'},'status':{'phase':'Bound','reason':'because'}"),
          "['a','5Gi','RWO,ROX,RWX,RWOP','Retain','Bound','n/c','s','v','because','4m5s',"
          "'Block']" },
        { PV, "{" GONE ",'status':{'phase':'Bound'}}",
          "['a','0','','','Terminating','','','<unset>','','4m5s','<unset>']" },
        { PV, "{'metadata':{" OLD_NAME "},'spec':{'storageClassName':'s'}}",
          "['','0','','','','','old','<unset>','','<unknown>','<unset>']" },
        { PVC,
          OBJECT("'spec':{'storageClassName':'s','resources':{'requests':{'storage':'1Gi'}}},"
                 "'status':{'phase':'Pending','accessModes':['ReadOnlyMany']}"),
          "['a','Pending','','','','s','<unset>','4m5s','<unset>']" },
        { PVC,
          OBJECT("'spec':{'volumeName':'v','volumeMode':'Filesystem',"
                 "'volumeAttributesClassName':''},'status':{'phase':'Bound','capacity':"
                 "{'storage':'1Gi'},'accessModes':['ReadOnlyMany']}"),
          "['a','Bound','v','1Gi','ROX','','','4m5s','Filesystem']" },
        { PVC, OBJECT("'spec':{'volumeName':'v'}"),
          "['a','','v','0','','','<unset>','4m5s','<unset>']" },
        { PVC, "{'metadata':{'deletionTimestamp':'2026-01-02T03:04:00Z'," OLD_NAME "}}",
          "['','Terminating','','','','old','<unset>','<unknown>','<unset>']" },
        { "storage.k8s.io/v1 storageclasses",
          OBJECT("'provisioner':'p','reclaimPolicy':'Retain','volumeBindingMode':"
                 "'WaitForFirstConsumer','allowVolumeExpansion':true"),
          "['a','p','Retain','WaitForFirstConsumer',true,'4m5s']" },
        { "storage.k8s.io/v1 volumeattributesclasses", OBJECT("'driverName':'d'"),
          "['a','d','4m5s']" },
        { "storage.k8s.io/v1 volumeattachments",
          OBJECT("'spec':{'attacher':'x','nodeName':'n','source':{'persistentVolumeName':'v'}},"
                 "'status':{'attached':true}"),
          "['a','x','v','n',true,'4m5s']" },
        { "storage.k8s.io/v1 volumeattachments", "{" META "}", "['a','','','',false,'4m5s']" },
        { DRIVER, "{" META "}", "['a',true,false,false,'<unset>',false,'<none>','4m5s']" },
        { DRIVER,
          OBJECT("'spec':{'attachRequired':false,'podInfoOnMount':true,'storageCapacity':true,"
                 "'requiresRepublish':true,'tokenRequests':[{'audience':'x'},{'audience':''}],"
                 "'volumeLifecycleModes':['Persistent','Ephemeral']}"),
          "['a',false,true,true,'x,',true,'Persistent,Ephemeral','4m5s']" },
        { "storage.k8s.io/v1 csinodes", OBJECT("'spec':{'drivers':[{},{}]}"), "['a',2,'4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

/* ---- The cluster ---- */

#define NODE(labels, spec, status)                                                         \
    "{'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z','labels':{" labels \
    "}},'spec':{" spec "},'status':{" status "}}"

static void nodes(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 nodes", "{" META "}",
          "['a','Unknown','<none>','4m5s','','<none>','<none>','<unknown>','<unknown>',"
          "'<unknown>']" },
        { "v1 nodes",
          NODE("'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/':'','x':'y',"
               "'kubernetes.io/role':'edge','node-role.kubernetes.io/control-plane':''",
               "'unschedulable':true",
               "'conditions':[{'type':'Ready','status':'True'}],'addresses':[{'type':'Hostname',"
               "'address':'h'},{'type':'InternalIP','address':'10.0.0.1'},{'type':'InternalIP',"
               "'address':'10.0.0.2'},{'type':'ExternalIP','address':'1.1.1.1'}],'nodeInfo':"
               "{'kubeletVersion':'v1','osImage':'Debian','kernelVersion':'6.1','architecture':"
               "'amd64','containerRuntimeVersion':'containerd://2'}"),
          "['a','Ready,SchedulingDisabled','control-plane,edge,worker','4m5s','v1','10.0.0.1',"
          "'1.1.1.1','Debian','6.1 (amd64)','containerd://2']" },
        { "v1 nodes",
          NODE("'kubernetes.io/role':'x','node-role.kubernetes.io/x':''", "",
               "'conditions':[{'type':'Ready','status':'True'},{'type':'Ready','status':"
               "'Unknown'}],'nodeInfo':{'architecture':'arm64'}"),
          "['a','NotReady','x','4m5s','','<none>','<none>','<unknown>','<unknown> (arm64)',"
          "'<unknown>']" },
    };
    SUITE_COLUMNS(rows);
}

#define AT(time) "'2026-01-02T03:" time "Z'"
#define EVENT(more)                                                                        \
    OBJECT("'type':'Normal','reason':'Started','involvedObject':{'kind':'Pod','name':'P'," \
           "'fieldPath':'spec.x'},'message':'\\n it runs\\u00a0\\t'," more)

static void events(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 events",
          EVENT("'source':{'component':'kubelet','host':'n'},'count':6,'firstTimestamp':" AT(
              "02:05") ",'lastTimestamp':" AT("04:00")),
          "['5s','Normal','Started','pod/P','spec.x','kubelet, n','it runs','2m',6,'a']" },
        { "v1 events",
          EVENT("'source':{'component':'kubelet'},'lastTimestamp':null,'firstTimestamp':" AT(
              "04:00")),
          "['5s','Normal','Started','pod/P','spec.x','kubelet','it runs','5s',1,'a']" },
        { "v1 events",
          EVENT("'source':{},'reportingComponent':'c','reportingInstance':'i','eventTime':" AT(
              "04:00.123456")),
          "['4s','Normal','Started','pod/P','spec.x','c, i','it runs','4s',1,'a']" },
        { "v1 events",
          EVENT("'count':9,'eventTime':" AT("02:05.000000") ",'series':{'count':3,"
                                                            "'lastObservedTime':" AT(
                                                                "04:00.000000") "}"),
          "['5s','Normal','Started','pod/P','spec.x','','it runs','2m',3,'a']" },
        { "v1 events", "{" META ",'involvedObject':{'kind':'Node'}}",
          "['<unknown>','','','node','','','','<unknown>',1,'a']" },
        { "events.k8s.io/v1 events",
          OBJECT("'type':'Warning','reason':'Failed','regarding':{'kind':'Pod','name':'p',"
                 "'fieldPath':'f'},'note':'no','reportingController':'c','reportingInstance':'i',"
                 "'eventTime':" AT("04:00.000000")),
          "['5s','Warning','Failed','pod/p','f','c, i','no','5s',1,'a']" },
        { "events.k8s.io/v1 events",
          OBJECT(
              "'deprecatedSource':{'component':'d','host':'h'},'deprecatedCount':4,"
              "'deprecatedFirstTimestamp':" AT("02:05") ",'deprecatedLastTimestamp':" AT("04:00")),
          "['5s','','','','','d, h','','2m',4,'a']" },
    };
    SUITE_COLUMNS(rows);
}

static void other_core_kinds(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 namespaces", OBJECT("'status':{'phase':'Active'}"), "['a','Active','4m5s']" },
        { "v1 configmaps", OBJECT("'data':{'x':'','y':''},'binaryData':{'z':''}"),
          "['a',3,'4m5s']" },
        { "v1 secrets", OBJECT("'type':'Opaque','data':{'x':''}"), "['a','Opaque',1,'4m5s']" },
        { "v1 serviceaccounts", OBJECT("'secrets':[{}]"), "['a','4m5s']" },
        { "v1 componentstatuses", "{" META "}", "['a','Unknown','','']" },
        { "v1 componentstatuses",
          OBJECT("'conditions':[{'type':'Healthy','status':'True','message':'ok','error':'e'}]"),
          "['a','Healthy','ok','e']" },
        { "v1 componentstatuses", OBJECT("'conditions':[{'type':'Healthy','status':'False'}]"),
          "['a','Unhealthy','','']" },
        { "v1 resourcequotas",
          OBJECT("'status':{'hard':{'pods':'10','limits.memory':'2Gi','limits.cpu':'4',"
                 "'limits':'1','cpu':'2'},'used':{'pods':'3','limits.cpu':'500m'}}"),
          "['a','cpu: 0/2, limits: 0/1, pods: 3/10','limits.cpu: 500m/4, limits.memory: 0/2Gi',"
          "'4m5s']" },
        { "v1 resourcequotas", OBJECT("'spec':{'hard':{'pods':'10'}}"), "['a','','','4m5s']" },
        { "coordination.k8s.io/v1 leases", OBJECT("'spec':{'holderIdentity':'me'}"),
          "['a','me','4m5s']" },
        { "coordination.k8s.io/v1 leases", OBJECT("'spec':{}"), "['a','','4m5s']" },
        { "scheduling.k8s.io/v1 priorityclasses",
          OBJECT("'value':-5,'globalDefault':true,'preemptionPolicy':'Never'"),
          "['a',-5,true,'4m5s','Never']" },
        { "node.k8s.io/v1 runtimeclasses", OBJECT("'handler':'runc'"), "['a','runc','4m5s']" },
        { "resource.k8s.io/v1 deviceclasses", "{" META "}", "['a','4m5s']" },
        { "resource.k8s.io/v1 resourceclaimtemplates", "{" META "}", "['a','4m5s']" },
        { "resource.k8s.io/v1 resourceclaims", "{" META "}", "['a','pending','4m5s']" },
        { "resource.k8s.io/v1 resourceclaims", "{" GONE "}", "['a','deleted','4m5s']" },
        { "resource.k8s.io/v1 resourceclaims", OBJECT("'status':{'allocation':{}}"),
          "['a','allocated','4m5s']" },
        { "resource.k8s.io/v1 resourceclaims",
          "{" GONE ",'status':{'allocation':{},'reservedFor':[{}]}}",
          "['a','deleted,allocated,reserved','4m5s']" },
        { "resource.k8s.io/v1 resourceslices",
          OBJECT("'spec':{'nodeName':'n','driver':'d','pool':{'name':'p'}}"),
          "['a','n','d','p','4m5s']" },
        { "resource.k8s.io/v1 devicetaintrules",
          OBJECT("'spec':{'taint':{'key':'k','value':'v','effect':'NoExecute','timeAdded':" AT(
              "04:00") "}}"),
          "['a','k','v','NoExecute','5s','4m5s']" },
        { "resource.k8s.io/v1 devicetaintrules", "{" META "}", "['a','','','','','4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

/* ---- The API itself ---- */

#define DEFINITION         "apiextensions.k8s.io/v1 customresourcedefinitions"
#define API                "apiregistration.k8s.io/v1 apiservices"
#define STATUS(conditions) OBJECT("'status':{'conditions':[" conditions "]}")
#define CREATED            "'2026-01-02T03:00:00Z'"

static void extensions(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { DEFINITION, "{" META "}", "['a','','', " CREATED ",'','','',false]" },
        { DEFINITION,
          OBJECT("'spec':{'scope':'Namespaced','group':'g','names':{'kind':'K','shortNames':['k',"
                 "'j']},'versions':[{'name':'v2','served':true},{'name':'v1','served':true,"
                 "'storage':true},{'name':'v3'}]},'status':{'conditions':[{'type':'Established',"
                 "'status':'True'}]}"),
          "['a','Namespaced','v1(storage),v2'," CREATED ",'g','K','k,j',true]" },
        { API, "{" META "}", "['a','Local','Unknown','4m5s']" },
        { API,
          OBJECT("'spec':{'service':{'namespace':'n','name':'s'}},'status':{'conditions':["
                 "{'type':'Available','status':'False','reason':'Missing'}]}"),
          "['a','n/s','False (Missing)','4m5s']" },
        { API, STATUS("{'type':'Available','status':'False'}"), "['a','Local','False','4m5s']" },
        { API, STATUS("{'type':'Available','status':'True','reason':'Local'}"),
          "['a','Local','True','4m5s']" },
        { "storagemigration.k8s.io/v1 storageversionmigrations",
          OBJECT("'spec':{'resource':{'group':'g','resource':'r'}}"), "['a','r.g','Unknown']" },
        { "storagemigration.k8s.io/v1 storageversionmigrations",
          OBJECT("'spec':{'resource':{'resource':'r'}},'status':{'conditions':[{'type':'Running',"
                 "'status':'True'},{'type':'Succeeded','status':'True'},{'type':'Failed',"
                 "'status':'False'},{'type':'Other','status':'True'}]}"),
          "['a','r','Succeeded']" },
    };
    SUITE_COLUMNS(rows);
}

#define ADMISSION   "admissionregistration.k8s.io/"
#define PARAMS(ref) OBJECT("'spec':{'policyName':'p','paramRef':{" ref "}}")

static void admission(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { ADMISSION "v1 mutatingwebhookconfigurations", OBJECT("'webhooks':[{},{}]"),
          "['a',2,'4m5s']" },
        { ADMISSION "v1 validatingwebhookconfigurations", "{" META "}", "['a',0,'4m5s']" },
        { ADMISSION "v1 validatingadmissionpolicies",
          OBJECT("'spec':{'validations':[{}],'paramKind':{'apiVersion':'g/v1','kind':'K'}}"),
          "['a',1,'g/v1/K','4m5s']" },
        { ADMISSION "v1 mutatingadmissionpolicies", OBJECT("'spec':{'mutations':[{},{}]}"),
          "['a',2,'<unset>','4m5s']" },
        { ADMISSION "v1 validatingadmissionpolicybindings", PARAMS("'name':'x'"),
          "['a','p','*/x','4m5s']" },
        { ADMISSION "v1 mutatingadmissionpolicybindings",
          PARAMS("'name':'x','namespace':'n','selector':{}"), "['a','p','n/x','4m5s']" },
        { ADMISSION "v1 mutatingadmissionpolicybindings", OBJECT("'spec':{'policyName':'p'}"),
          "['a','p','<unset>','4m5s']" },
        { ADMISSION "v1 validatingadmissionpolicybindings",
          PARAMS("'selector':{'matchLabels':{'b':'2','a':'1'},'matchExpressions':[{'key':'k',"
                 "'operator':'In','values':['y','x']},{'key':'l','operator':'Exists'}]}"),
          "['a','p','&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:"
          "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[y x],},"
          "LabelSelectorRequirement{Key:l,Operator:Exists,Values:[],},},}','4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

#define FLOW  "flowcontrol.apiserver.k8s.io/v1 flowschemas"
#define LEVEL "flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations"

static void flow_control(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { FLOW,
          OBJECT("'spec':{'priorityLevelConfiguration':{'name':'l'},'matchingPrecedence':9,"
                 "'distinguisherMethod':{'type':'ByUser'}},'status':{'conditions':[{'type':"
                 "'Dangling','status':'False'}]}"),
          "['a','l',9,'ByUser','4m5s','False']" },
        { FLOW, "{" META "}", "['a','',0,'<none>','4m5s','?']" },
        { LEVEL, OBJECT("'spec':{'type':'Exempt'}"),
          "['a','Exempt','<none>','<none>','<none>','<none>','4m5s']" },
        { LEVEL,
          OBJECT("'spec':{'type':'Limited','limited':{'nominalConcurrencyShares':5,"
                 "'limitResponse':{'type':'Reject'}}}"),
          "['a','Limited',5,'<none>','<none>','<none>','4m5s']" },
        { LEVEL,
          OBJECT("'spec':{'type':'Limited','limited':{'nominalConcurrencyShares':5,"
                 "'limitResponse':{'queuing':{'queues':8,'handSize':2,'queueLengthLimit':50}}}}"),
          "['a','Limited',5,8,2,50,'4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

#define SIGNING "certificates.k8s.io/v1 certificatesigningrequests"

static void access_and_certificates(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "rbac.authorization.k8s.io/v1 rolebindings",
          OBJECT("'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},"
                 "{'kind':'Group','name':'g'},{'kind':'ServiceAccount','namespace':'n','name':'s'}"
                 ",{'kind':'User','name':'v'},{'kind':'Other','name':'o'}]"),
          "['a','Role/r','4m5s','u, v','g','n/s']" },
        { "rbac.authorization.k8s.io/v1 clusterrolebindings",
          OBJECT("'roleRef':{'kind':'ClusterRole','name':'r'}"),
          "['a','ClusterRole/r','4m5s','','','']" },
        { SIGNING, OBJECT("'spec':{'username':'u'}"),
          "['a','4m5s','<none>','u','<none>','Pending']" },
        { SIGNING,
          OBJECT("'spec':{'signerName':'s','expirationSeconds':3600},'status':{'conditions':["
                 "{'type':'Approved'}],'certificate':'eA=='}"),
          "['a','4m5s','s','','60m','Approved,Issued']" },
        { SIGNING, STATUS("{'type':'Approved'},{'type':'Failed'},{'type':'Denied'}"),
          "['a','4m5s','<none>','','<none>','Denied,Failed']" },
        { "certificates.k8s.io/v1 clustertrustbundles", OBJECT("'spec':{'signerName':'s'}"),
          "['a','s']" },
        { "certificates.k8s.io/v1 clustertrustbundles", "{" META "}", "['a','<none>']" },
        { "certificates.k8s.io/v1 podcertificaterequests", "{" META "}",
          "['a','','','','','Pending','<none>']" },
        { "certificates.k8s.io/v1 podcertificaterequests",
          OBJECT("'spec':{'podName':'p','serviceAccountName':'s','nodeName':'n','signerName':'x',"
                 "'unverifiedUserAnnotations':{'k':'v'}},'status':{'conditions':[{'type':"
                 "'Issued'}]}"),
          "['a','p','s','n','x','Issued','k=v']" },
    };
    SUITE_COLUMNS(rows);
}

/* Kinds that no served version has; their columns are known all the same. */
static void kinds_that_are_not_served(void **state)
{
    (void)state;
    static const struct {
        struct str group, version, kind;
        const char *obj, *cells;
    } rows[] = {
        { STR("coordination.k8s.io"), STR("v1beta1"), STR("LeaseCandidate"),
          OBJECT("'spec':{'leaseName':'l','binaryVersion':'1.2','emulationVersion':'1.1'}"),
          "['a','l','1.2','1.1','4m5s']" },
        { STR("policy"), STR("v1beta1"), STR("PodSecurityPolicy"),
          OBJECT("'spec':{'privileged':true,'allowedCapabilities':['x','y'],'seLinux':{'rule':'s'},"
                 "'runAsUser':{'rule':'u'},'fsGroup':{'rule':'f'},'supplementalGroups':{'rule':"
                 "'g'},'readOnlyRootFilesystem':true,'volumes':['*']}"),
          "['a','true','x,y','s','u','f','g',true,'*']" },
        { STR("autoscaling"), STR("v2beta1"), STR("HorizontalPodAutoscaler"),
          OBJECT("'spec':{'metrics':[{'type':'Resource','resource':{'name':'cpu',"
                 "'targetAverageUtilization':50}}]},'status':{'currentMetrics':[{'resource':"
                 "{'currentAverageUtilization':5}}]}"),
          "['a','/','cpu: 5%/50%','<unset>',0,0,'4m5s']" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kind_type type = { .name = rows[i].kind };
        struct kind_resource r = { .group = rows[i].group,
                                   .version = rows[i].version,
                                   .type = &type };
        struct value obj = suite_json(&a, rows[i].obj), want = suite_json(&a, rows[i].cells);
        struct value got = columns_row(&a, &r, &obj, NOW_NS, NULL);
        suite_json_same(&got, &want, rows[i].obj);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services),
        cmocka_unit_test(endpoints),
        cmocka_unit_test(ingresses_and_ranges),
        cmocka_unit_test(selectors),
        cmocka_unit_test(storage),
        cmocka_unit_test(nodes),
        cmocka_unit_test(events),
        cmocka_unit_test(other_core_kinds),
        cmocka_unit_test(extensions),
        cmocka_unit_test(admission),
        cmocka_unit_test(flow_control),
        cmocka_unit_test(access_and_certificates),
        cmocka_unit_test(kinds_that_are_not_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
