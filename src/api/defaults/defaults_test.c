/* Pods and the rest of the core group, and storage. */
#include "api/defaults/suite_defaults.h"
#include "api/defaults/defaults_rules.h"

/* ---- Pods ---- */

#define POD(spec)       "{'spec':{" spec "}}"
#define CONTAINER(more) POD("'containers':[{'name':'c'," more "}]")
#define C0              "spec/containers/0/"

static void pods_have_plain_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Pod", "{}", "spec/dnsPolicy", "'ClusterFirst'" },
        { "v1", "Pod", "{}", "spec/restartPolicy", "'Always'" },
        { "v1", "Pod", "{}", "spec/securityContext", "{}" },
        { "v1", "Pod", "{}", "spec/schedulerName", "'default-scheduler'" },
        { "v1", "Pod", "{}", "spec/terminationGracePeriodSeconds", "30" },
        { "v1", "Pod", POD("'terminationGracePeriodSeconds':0"),
          "spec/terminationGracePeriodSeconds", "0" },
        { "v1", "Pod", POD("'terminationGracePeriodSeconds':-7"),
          "spec/terminationGracePeriodSeconds", "1" },
        { "v1", "Pod", POD("'dnsPolicy':'None','restartPolicy':null"), "spec/dnsPolicy", "'None'" },
        { "v1", "Pod", POD("'restartPolicy':''"), "spec/restartPolicy", "'Always'" },
        { "v1", "Pod", "{}", "spec/enableServiceLinks", "true" },
        { "v1", "Pod", POD("'enableServiceLinks':false"), "spec/enableServiceLinks", "false" },
        { "v1", "Pod", "{}", "spec/serviceAccountName", NULL },
        { "v1", "Pod", POD("'serviceAccountName':'x'"), "spec/serviceAccount", "'x'" },
        { "v1", "Pod", POD("'serviceAccount':'x'"), "spec/serviceAccountName", "'x'" },
        { "v1", "Pod", POD("'serviceAccount':'y','serviceAccountName':'x'"), "spec/serviceAccount",
          "'x'" },
        { "v1", "Pod", "{'status':{'podIP':'10.0.0.1'}}", "status/podIPs", "[{'ip':'10.0.0.1'}]" },
        { "v1", "Pod", "{'status':{'podIPs':[{'ip':'10.0.0.1'},{'ip':'::1'}]}}", "status/podIP",
          "'10.0.0.1'" },
        { "v1", "Pod", "{'status':{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'},{'ip':'::1'}]}}",
          "status/podIPs/1/ip", "'::1'" },
        { "v1", "Pod", "{'status':{'podIP':'10.0.0.2','podIPs':[{'ip':'10.0.0.1'}]}}",
          "status/podIPs", "[{'ip':'10.0.0.2'}]" },
        { "v1", "Pod", "{'metadata':{'name':'p'}}", "status", "{}" },
    };
    SUITE_DEFAULTS(rows);
}

static void containers_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Pod", CONTAINER("'image':'a'"), C0 "imagePullPolicy", "'Always'" },
        { "v1", "Pod", CONTAINER("'image':'a:1'"), C0 "imagePullPolicy", "'IfNotPresent'" },
        { "v1", "Pod", CONTAINER("'image':'a','imagePullPolicy':'Never'"), C0 "imagePullPolicy",
          "'Never'" },
        { "v1", "Pod", CONTAINER("'image':''"), C0 "imagePullPolicy", "'IfNotPresent'" },
        { "v1", "Pod", CONTAINER("'tty':true"), C0 "terminationMessagePath",
          "'/dev/termination-log'" },
        { "v1", "Pod", CONTAINER("'tty':true"), C0 "terminationMessagePolicy", "'File'" },
        { "v1", "Pod", CONTAINER("'ports':[{'containerPort':80}]"), C0 "ports/0/protocol",
          "'TCP'" },
        { "v1", "Pod", CONTAINER("'ports':[{'containerPort':80}]"), C0 "ports/0/hostPort", NULL },
        { "v1", "Pod", POD("'hostNetwork':true,'containers':[{'ports':[{'containerPort':80}]}]"),
          C0 "ports/0/hostPort", "80" },
        { "v1", "Pod",
          POD("'hostNetwork':true,'initContainers':[{'ports':[{'containerPort':80,'hostPort':8}]}"
              "]"),
          "spec/initContainers/0/ports/0/hostPort", "8" },
        { "v1", "Pod", CONTAINER("'env':[{'name':'E','valueFrom':{'fieldRef':{'fieldPath':'x'}}}]"),
          C0 "env/0/valueFrom/fieldRef/apiVersion", "'v1'" },
        { "v1", "Pod", POD("'ephemeralContainers':[{'name':'e','image':'b:latest'}]"),
          "spec/ephemeralContainers/0/imagePullPolicy", "'Always'" },
        { "v1", "Pod", POD("'ephemeralContainers':[{'name':'e'}]"),
          "spec/ephemeralContainers/0/terminationMessagePolicy", "'File'" },
        { "v1", "Pod", CONTAINER("'livenessProbe':{'grpc':{'port':1}}"), C0 "livenessProbe",
          "{'grpc':{'port':1,'service':''},'timeoutSeconds':1,'periodSeconds':10,"
          "'successThreshold':1,'failureThreshold':3}" },
        { "v1", "Pod", CONTAINER("'readinessProbe':{'httpGet':{'port':1},'periodSeconds':5}"),
          C0 "readinessProbe",
          "{'httpGet':{'path':'/','port':1,'scheme':'HTTP'},'timeoutSeconds':1,'periodSeconds':5,"
          "'successThreshold':1,'failureThreshold':3}" },
        { "v1", "Pod", CONTAINER("'lifecycle':{'preStop':{'httpGet':{'port':1,'path':'/x'}}}"),
          C0 "lifecycle/preStop/httpGet", "{'path':'/x','port':1,'scheme':'HTTP'}" },
    };
    SUITE_DEFAULTS(rows);
}

#define LIMITS "'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'memory':'5Mi'}}"

static void requests_come_from_limits(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Pod", CONTAINER(LIMITS), C0 "resources/requests", "{'cpu':'1','memory':'5Mi'}" },
        { "v1", "Pod", CONTAINER("'resources':{'limits':{'cpu':'1'}}"), C0 "resources/requests",
          "{'cpu':'1'}" },
        { "v1", "Pod", CONTAINER("'resources':{'requests':{'cpu':'1'}}"), C0 "resources/limits",
          NULL },
        { "v1", "Pod",
          CONTAINER("'resources':{'limits':{'b':'1','d':'2'},"
                    "'requests':{'a':'3','c':'4','e':'5'}}"),
          C0 "resources/requests", "{'a':'3','b':'1','c':'4','d':'2','e':'5'}" },
        { "v1", "Pod", POD("'initContainers':[{" LIMITS "}]"),
          "spec/initContainers/0/resources/requests/cpu", "'1'" },
        { "v1", "PodTemplate", "{'template':" CONTAINER(LIMITS) "}",
          "template/spec/containers/0/resources/requests/cpu", NULL },
        { "v1", "Pod", CONTAINER("'resources':{'limits':{'cpu':'100u','memory':'1'}}"),
          C0 "resources",
          "{'limits':{'cpu':'1m','memory':'1'},"
          "'requests':{'cpu':'1m','memory':'1'}}" },
        { "v1", "Pod", POD("'overhead':{'cpu':'1.000001'}"), "spec/overhead/cpu", "'1001m'" },
        { "node.k8s.io/v1", "RuntimeClass", "{'overhead':{'podFixed':{'cpu':'1u'}}}",
          "overhead/podFixed/cpu", "'1u'" },
    };
    SUITE_DEFAULTS(rows);
}

#define VOLUME(source) POD("'volumes':[{'name':'v'" source "}]")

static void volumes_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Pod", VOLUME(""), "spec/volumes/0", "{'name':'v','emptyDir':{}}" },
        { "v1", "Pod", VOLUME(",'hostPath':{'path':'/x'}"), "spec/volumes/0",
          "{'name':'v','hostPath':{'path':'/x','type':''}}" },
        { "v1", "Pod", VOLUME(",'secret':{'secretName':'s'}"), "spec/volumes/0/secret/defaultMode",
          "420" },
        { "v1", "Pod", VOLUME(",'secret':{'defaultMode':0}"), "spec/volumes/0/secret/defaultMode",
          "0" },
        { "v1", "Pod", VOLUME(",'configMap':{}"), "spec/volumes/0/configMap/defaultMode", "420" },
        { "v1", "Pod",
          VOLUME(",'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'x'}}]}"),
          "spec/volumes/0/downwardAPI",
          "{'items':[{'path':'p','fieldRef':{'apiVersion':'v1','fieldPath':'x'}}],"
          "'defaultMode':420}" },
        { "v1", "Pod", VOLUME(",'projected':{'sources':[{'serviceAccountToken':{'path':'t'}}]}"),
          "spec/volumes/0/projected",
          "{'sources':[{'serviceAccountToken':{'expirationSeconds':3600,'path':'t'}}],"
          "'defaultMode':420}" },
        { "v1", "Pod", VOLUME(",'iscsi':{}"), "spec/volumes/0/iscsi/iscsiInterface", "'default'" },
        { "v1", "Pod", VOLUME(",'rbd':{'pool':'p'}"), "spec/volumes/0/rbd/pool", "'p'" },
        { "v1", "Pod", VOLUME(",'rbd':{}"), "spec/volumes/0/rbd/keyring", "'/etc/ceph/keyring'" },
        { "v1", "Pod", VOLUME(",'scaleIO':{}"), "spec/volumes/0/scaleIO/storageMode",
          "'ThinProvisioned'" },
        { "v1", "Pod", VOLUME(",'azureDisk':{}"), "spec/volumes/0/azureDisk",
          "{'diskName':'','diskURI':'','cachingMode':'ReadWrite','fsType':'ext4',"
          "'readOnly':false,'kind':'Shared'}" },
        { "v1", "Pod", VOLUME(",'image':{'reference':'a:latest'}"),
          "spec/volumes/0/image/pullPolicy", "'Always'" },
        { "v1", "Pod", VOLUME(",'image':{'reference':'a:2'}"), "spec/volumes/0/image/pullPolicy",
          "'IfNotPresent'" },
        { "v1", "Pod", VOLUME(",'ephemeral':{'volumeClaimTemplate':{'spec':{}}}"),
          "spec/volumes/0/ephemeral/volumeClaimTemplate/spec/volumeMode", "'Filesystem'" },
    };
    SUITE_DEFAULTS(rows);
}

#define TEMPLATE "'template':{'spec':{'containers':[{'image':'a'}],'hostNetwork':true}}"

static void templates_are_pods_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *api_version, *kind, *body, *spec;
    } rows[] = {
        { "v1", "PodTemplate", "{" TEMPLATE "}", "template/spec" },
        { "v1", "ReplicationController", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1", "Deployment", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1", "DaemonSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1", "StatefulSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1", "ReplicaSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "batch/v1", "Job", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "batch/v1", "CronJob", "{'spec':{'jobTemplate':{'spec':{" TEMPLATE "}}}}",
          "spec/jobTemplate/spec/template/spec" },
        { "batch/v1beta1", "CronJob", "{'spec':{'jobTemplate':{'spec':{" TEMPLATE "}}}}",
          "spec/jobTemplate/spec/template/spec" },
        { "batch/v2alpha1", "CronJob", "{'spec':{'jobTemplate':{'spec':{" TEMPLATE "}}}}",
          "spec/jobTemplate/spec/template/spec" },
        { "apps/v1beta1", "Deployment", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1beta1", "StatefulSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "apps/v1beta2", "ReplicaSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
        { "extensions/v1beta1", "DaemonSet", "{'spec':{" TEMPLATE "}}", "spec/template/spec" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value obj =
            suite_defaults_object(&a, rows[i].api_version, rows[i].kind, rows[i].body);
        struct value want = suite_json(
            &a, "{'containers':[{'name':'','image':'a','resources':{},'terminationMessagePath':"
                "'/dev/termination-log','terminationMessagePolicy':'File','imagePullPolicy':"
                "'Always'}],'restartPolicy':'Always','terminationGracePeriodSeconds':30,"
                "'dnsPolicy':'ClusterFirst','hostNetwork':true,'securityContext':{},"
                "'schedulerName':'default-scheduler'}");
        if (!value_eq(suite_json_at(&a, &obj, rows[i].spec), &want))
            fail_msg("%s %s", rows[i].api_version, rows[i].kind);
        arena_done(&a);
    }
}

static void images_are_parsed(void **state)
{
    (void)state;
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct {
        const char *image;
        bool is_latest;
    } rows[] = {
        { "a", true },
        { "a:latest", true },
        { "a:1", false },
        { "a:", false },
        { "", false },
        { "a/b", true },
        { "a/b:latest", true },
        { "a/b/c_d/e__f/g-h/i--j/k.l", true },
        { "a/b___c", false },
        { "a/b..c", false },
        { "a/-b", false },
        { "a/b-", false },
        { "a//b", false },
        { "/a", false },
        { "a/", false },
        { "A", false }, /* upper case is for hosts only */
        { "A/b", true },
        { "a/B", false },
        { "localhost/a", true },
        { "localhost:5000/a", true },
        { "localhost:5000/a:1", false },
        { "localhost:/a", false },
        { "localhost:x/a", false },
        { "host:5000", false }, /* without a path it is a tag */
        { "Example.COM:5000/a/b:latest", true },
        { "-x.com/a", false },
        { "x-.com/a", false },
        { "x..com/a", false },
        { "foo_bar.com/a", true }, /* no host, but a path */
        { "[::1]/a", true },
        { "[::1]:5000/a:latest", true },
        { "[::1/a", false },
        { "[::g]/a", false },
        { "[]:1/a", false },
        { "a@sha256:" HEX64, false },
        { "a:latest@sha256:" HEX64, true },
        { "a:1@sha256:" HEX64, false },
        { "a:latest@sha256:0123", false },
        { "a:latest@md5:" HEX64, false },
        { "a:latest@", false },
        { "a:latest@sha512:" HEX64 HEX64, true },
        { "a:latest@sha384:" HEX64 "0123456789abcdef0123456789abcdef", true },
        { HEX64, false },
        { HEX64 ":latest", true },
        { "a b", false },
        { "a:b:latest", false },
        { "index.docker.io/a", true },
    };
#undef HEX64
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (defaults__is_latest_image(str_of(rows[i].image)) != rows[i].is_latest)
            fail_msg("%s", rows[i].image);
    char path[260];
    memset(path, 'a', sizeof(path));
    assert_true(defaults__is_latest_image((struct str){ path, 247 })); /* and library/ */
    assert_false(defaults__is_latest_image((struct str){ path, 248 }));
}

/* ---- The core group ---- */

#define SERVICE(spec) "{'spec':{" spec "}}"

static void services_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Service", "{}", "spec",
          "{'type':'ClusterIP','sessionAffinity':'None','internalTrafficPolicy':'Cluster'}" },
        { "v1", "Service", SERVICE("'type':'NodePort'"), "spec/externalTrafficPolicy",
          "'Cluster'" },
        { "v1", "Service", SERVICE("'externalIPs':['1.2.3.4']"), "spec/externalTrafficPolicy",
          "'Cluster'" },
        { "v1", "Service", SERVICE("'type':'LoadBalancer','externalTrafficPolicy':'Local'"),
          "spec/externalTrafficPolicy", "'Local'" },
        { "v1", "Service", SERVICE("'type':'LoadBalancer'"), "spec/allocateLoadBalancerNodePorts",
          "true" },
        { "v1", "Service", SERVICE("'type':'NodePort'"), "spec/allocateLoadBalancerNodePorts",
          NULL },
        { "v1", "Service", SERVICE("'type':'ExternalName','externalIPs':['1.2.3.4']"), "spec",
          "{'externalIPs':['1.2.3.4'],'type':'ExternalName','sessionAffinity':'None'}" },
        { "v1", "Service", SERVICE("'sessionAffinity':'ClientIP'"), "spec/sessionAffinityConfig",
          "{'clientIP':{'timeoutSeconds':10800}}" },
        { "v1", "Service",
          SERVICE("'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{}}"),
          "spec/sessionAffinityConfig", "{'clientIP':{'timeoutSeconds':10800}}" },
        { "v1", "Service",
          SERVICE("'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':"
                  "{'timeoutSeconds':5}}"),
          "spec/sessionAffinityConfig/clientIP/timeoutSeconds", "5" },
        { "v1", "Service", SERVICE("'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':5}}"),
          "spec/sessionAffinityConfig", NULL },
        { "v1", "Service", SERVICE("'ports':[{'port':80}]"), "spec/ports/0",
          "{'protocol':'TCP','port':80,'targetPort':80}" },
        { "v1", "Service", SERVICE("'ports':[{'port':80,'targetPort':''}]"),
          "spec/ports/0/targetPort", "80" },
        { "v1", "Service", SERVICE("'ports':[{'port':80,'targetPort':'http','protocol':'UDP'}]"),
          "spec/ports/0", "{'protocol':'UDP','port':80,'targetPort':'http'}" },
        { "v1", "Service",
          "{'spec':{'type':'LoadBalancer'},'status':{'loadBalancer':{'ingress':"
          "[{'ip':'1.2.3.4'},{'hostname':'h'}]}}}",
          "status/loadBalancer/ingress", "[{'ip':'1.2.3.4','ipMode':'VIP'},{'hostname':'h'}]" },
        { "v1", "Service", "{'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}",
          "status/loadBalancer/ingress/0/ipMode", NULL },
        { "v1", "Endpoints", "{'subsets':[{'ports':[{'port':1},{'port':2,'protocol':'SCTP'}]}]}",
          "subsets/0/ports", "[{'port':1,'protocol':'TCP'},{'port':2,'protocol':'SCTP'}]" },
    };
    SUITE_DEFAULTS(rows);
}

static void storage_has_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "PersistentVolume", "{}", "status", "{'phase':'Pending'}" },
        { "v1", "PersistentVolume", "{}", "spec",
          "{'persistentVolumeReclaimPolicy':'Retain','volumeMode':'Filesystem'}" },
        { "v1", "PersistentVolume", "{'spec':{'capacity':{'storage':'1500u'}}}",
          "spec/capacity/storage", "'2m'" },
        { "v1", "PersistentVolume", "{'spec':{'rbd':{}}}", "spec/rbd/user", "'admin'" },
        { "v1", "PersistentVolumeClaim", "{}", "spec/volumeMode", "'Filesystem'" },
        { "v1", "PersistentVolumeClaim", "{}", "status/phase", "'Pending'" },
        { "v1", "PersistentVolumeClaim", "{'status':{'phase':'Bound'}}", "status/phase",
          "'Bound'" },
        { "storage.k8s.io/v1", "VolumeAttachment", "{'spec':{'source':{'inlineVolumeSpec':{}}}}",
          "spec/source/inlineVolumeSpec", "{}" },
        { "storage.k8s.io/v1", "StorageClass", "{}", "reclaimPolicy", "'Delete'" },
        { "storage.k8s.io/v1beta1", "StorageClass", "{}", "volumeBindingMode", "'Immediate'" },
        { "storage.k8s.io/v1", "CSIDriver", "{}", "spec",
          "{'attachRequired':true,'podInfoOnMount':false,'volumeLifecycleModes':['Persistent'],"
          "'storageCapacity':false,'fsGroupPolicy':'ReadWriteOnceWithFSType',"
          "'requiresRepublish':false,'seLinuxMount':false,"
          "'preventPodSchedulingIfMissing':false}" },
        { "storage.k8s.io/v1", "CSIDriver", "{'spec':{'attachRequired':false}}",
          "spec/attachRequired", "false" },
    };
    SUITE_DEFAULTS(rows);
}

static void the_core_group_has_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "v1", "Secret", "{}", "type", "'Opaque'" },
        { "v1", "Secret", "{'stringData':{'b':'x','d':''}}", "data", "{'b':'eA==','d':''}" },
        { "v1", "Secret", "{'stringData':{'b':'x'},'data':{'a':'YQ==','b':'YQ=='}}", "data",
          "{'a':'YQ==','b':'eA=='}" },
        { "v1", "Secret", "{'stringData':{'b':'x'}}", "stringData", NULL },
        { "v1", "ConfigMap", "{}", "data", NULL },
        { "v1", "Namespace", "{'metadata':{'name':'n'}}", "metadata/labels",
          "{'kubernetes.io/metadata.name':'n'}" },
        { "v1", "Namespace",
          "{'metadata':{'name':'n','labels':{'z':'1','kubernetes.io/metadata.name':'x'}}}",
          "metadata/labels", "{'kubernetes.io/metadata.name':'n','z':'1'}" },
        { "v1", "Namespace", "{'metadata':{'generateName':'n'}}", "metadata/labels", NULL },
        { "v1", "Namespace", "{}", "status/phase", "'Active'" },
        { "v1", "Node", "{'status':{'capacity':{'cpu':'1u'}}}", "status/allocatable",
          "{'cpu':'1m'}" },
        { "v1", "Node", "{'status':{'capacity':{'cpu':'2'},'allocatable':{'cpu':'1'}}}",
          "status/allocatable", "{'cpu':'1'}" },
        { "v1", "Node", "{'spec':{'podCIDR':'10.0.0.0/24'}}", "spec/podCIDRs", "['10.0.0.0/24']" },
        { "v1", "Node", "{'spec':{'podCIDRs':['10.0.0.0/24','fd00::/64']}}", "spec/podCIDR",
          "'10.0.0.0/24'" },
        { "v1", "Node", "{'spec':{'podCIDR':'10.1.0.0/24','podCIDRs':['10.0.0.0/24']}}",
          "spec/podCIDRs", "['10.1.0.0/24']" },
        { "v1", "LimitRange",
          "{'spec':{'limits':[{'type':'Container','max':{'cpu':'2','memory':'1Gi'},"
          "'min':{'cpu':'1','storage':'1'},'default':{'cpu':'1500m'}}]}}",
          "spec/limits/0/default", "{'cpu':'1500m','memory':'1Gi'}" },
        { "v1", "LimitRange",
          "{'spec':{'limits':[{'type':'Container','max':{'memory':'1Gi'},"
          "'min':{'cpu':'1','storage':'1'},'default':{'cpu':'1500m'}}]}}",
          "spec/limits/0/defaultRequest", "{'cpu':'1500m','memory':'1Gi','storage':'1'}" },
        { "v1", "LimitRange", "{'spec':{'limits':[{'type':'Pod','max':{'cpu':'2'}}]}}",
          "spec/limits/0/default", NULL },
        { "v1", "ResourceQuota", "{'spec':{'hard':{'cpu':'1n'}}}", "spec/hard/cpu", "'1m'" },
        { "v1", "ReplicationController", "{'spec':{'template':{'metadata':{'labels':{'a':'b'}}}}}",
          "spec/selector", "{'a':'b'}" },
        { "v1", "ReplicationController", "{'spec':{'template':{'metadata':{'labels':{'a':'b'}}}}}",
          "metadata/labels", "{'a':'b'}" },
        { "v1", "ReplicationController", "{}", "spec/replicas", "1" },
        { "v1", "ReplicationController", "{'spec':{'replicas':0}}", "spec/replicas", "0" },
        { "v1", "PodList", "{'items':[{}]}", "items/0/spec/dnsPolicy", "'ClusterFirst'" },
    };
    SUITE_DEFAULTS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_have_plain_defaults),      cmocka_unit_test(containers_have_defaults),
        cmocka_unit_test(requests_come_from_limits),     cmocka_unit_test(volumes_have_defaults),
        cmocka_unit_test(templates_are_pods_everywhere), cmocka_unit_test(images_are_parsed),
        cmocka_unit_test(services_have_defaults),        cmocka_unit_test(storage_has_defaults),
        cmocka_unit_test(the_core_group_has_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
