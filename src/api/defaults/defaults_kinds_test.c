/* Workloads, the other groups, and versions that are gone. */
#include "api/defaults/suite_defaults.h"
#include "base/base64.h"

#define SPEC(spec) "{'spec':{" spec "}}"
#define LABELLED   SPEC("'template':{'metadata':{'labels':{'a':'b'}}}")

static void workloads_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "apps/v1", "Deployment", "{}", "spec/replicas", "1" },
        { "apps/v1", "Deployment", SPEC("'replicas':0"), "spec/replicas", "0" },
        { "apps/v1", "Deployment", "{}", "spec/revisionHistoryLimit", "10" },
        { "apps/v1", "Deployment", "{}", "spec/progressDeadlineSeconds", "600" },
        { "apps/v1", "Deployment", "{}", "spec/strategy",
          "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':'25%'}}" },
        { "apps/v1", "Deployment", SPEC("'strategy':{'rollingUpdate':{'maxSurge':0}}"),
          "spec/strategy",
          "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':0}}" },
        { "apps/v1", "Deployment", SPEC("'strategy':{'type':'Recreate'}"), "spec/strategy",
          "{'type':'Recreate'}" },
        { "apps/v1", "Deployment", SPEC("'strategy':{'type':'Recreate','rollingUpdate':{}}"),
          "spec/strategy", "{'type':'Recreate','rollingUpdate':{}}" },
        { "apps/v1", "Deployment", LABELLED, "metadata/labels", NULL },
        { "apps/v1", "DaemonSet", "{}", "spec/updateStrategy",
          "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}}" },
        { "apps/v1", "DaemonSet", SPEC("'updateStrategy':{'type':'OnDelete'}"),
          "spec/updateStrategy", "{'type':'OnDelete'}" },
        { "apps/v1", "DaemonSet",
          SPEC("'updateStrategy':{'type':'OnDelete','rollingUpdate':{'maxSurge':0}}"),
          "spec/updateStrategy/rollingUpdate", "{'maxSurge':0,'maxUnavailable':0}" },
        { "apps/v1", "DaemonSet", "{}", "spec/revisionHistoryLimit", "10" },
        { "apps/v1", "ReplicaSet", "{}", "spec/replicas", "1" },
        { "apps/v1", "StatefulSet", "{}", "spec/updateStrategy",
          "{'type':'RollingUpdate','rollingUpdate':{'partition':0,'maxUnavailable':1}}" },
        { "apps/v1", "StatefulSet", SPEC("'updateStrategy':{'type':'RollingUpdate'}"),
          "spec/updateStrategy", "{'type':'RollingUpdate'}" },
        { "apps/v1", "StatefulSet", SPEC("'updateStrategy':{'rollingUpdate':{'partition':3}}"),
          "spec/updateStrategy/rollingUpdate", "{'partition':3,'maxUnavailable':1}" },
        { "apps/v1", "StatefulSet", SPEC("'updateStrategy':{'type':'OnDelete'}"),
          "spec/updateStrategy", "{'type':'OnDelete'}" },
        { "apps/v1", "StatefulSet", "{}", "spec/podManagementPolicy", "'OrderedReady'" },
        { "apps/v1", "StatefulSet", "{}", "spec/persistentVolumeClaimRetentionPolicy",
          "{'whenDeleted':'Retain','whenScaled':'Retain'}" },
        { "apps/v1", "StatefulSet",
          SPEC("'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete'}"),
          "spec/persistentVolumeClaimRetentionPolicy",
          "{'whenDeleted':'Retain','whenScaled':'Delete'}" },
        { "apps/v1", "StatefulSet", SPEC("'volumeClaimTemplates':[{'metadata':{'name':'d'}}]"),
          "spec/volumeClaimTemplates/0",
          "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'d'},"
          "'spec':{'resources':{},'volumeMode':'Filesystem'},'status':{'phase':'Pending'}}" },
    };
    SUITE_DEFAULTS(rows);
}

static void jobs_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "batch/v1", "Job", "{}", "spec/completions", "1" },
        { "batch/v1", "Job", "{}", "spec/parallelism", "1" },
        { "batch/v1", "Job", SPEC("'parallelism':2"), "spec/completions", NULL },
        { "batch/v1", "Job", SPEC("'completions':2"), "spec/parallelism", "1" },
        { "batch/v1", "Job", SPEC("'completions':2"), "spec/completions", "2" },
        { "batch/v1", "Job", "{}", "spec/backoffLimit", "6" },
        { "batch/v1", "Job", SPEC("'backoffLimitPerIndex':0"), "spec/backoffLimit", "2147483647" },
        { "batch/v1", "Job", SPEC("'backoffLimit':0"), "spec/backoffLimit", "0" },
        { "batch/v1", "Job", "{}", "spec/completionMode", "'NonIndexed'" },
        { "batch/v1", "Job", "{}", "spec/suspend", "false" },
        { "batch/v1", "Job", "{}", "spec/manualSelector", "false" },
        { "batch/v1", "Job", "{}", "spec/podReplacementPolicy", "'TerminatingOrFailed'" },
        { "batch/v1", "Job",
          SPEC("'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':"
               "[{'type':'T'}]}]}"),
          "spec/podReplacementPolicy", "'Failed'" },
        { "batch/v1", "Job",
          SPEC("'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':"
               "[{'type':'T'}]}]}"),
          "spec/podFailurePolicy/rules/0/onPodConditions/0/status", "'True'" },
        { "batch/v1", "Job", LABELLED, "metadata/labels", "{'a':'b'}" },
        { "batch/v1", "Job",
          "{'metadata':{'labels':{'x':'y'}},'spec':{'template':{'metadata':{'labels':"
          "{'a':'b'}}}}}",
          "metadata/labels", "{'x':'y'}" },
        { "batch/v1", "CronJob", "{}", "spec/concurrencyPolicy", "'Allow'" },
        { "batch/v1", "CronJob", "{}", "spec/suspend", "false" },
        { "batch/v1", "CronJob", "{}", "spec/successfulJobsHistoryLimit", "3" },
        { "batch/v1", "CronJob", "{}", "spec/failedJobsHistoryLimit", "1" },
        { "batch/v1", "CronJob", "{}", "spec/jobTemplate/spec/completions", NULL },
        { "batch/v2alpha1", "CronJob", "{}", "spec/successfulJobsHistoryLimit", NULL },
        { "batch/v2alpha1", "CronJob", "{}", "spec/concurrencyPolicy", "'Allow'" },
        { "batch/v1beta1", "CronJob", "{}", "spec/failedJobsHistoryLimit", "1" },
    };
    SUITE_DEFAULTS(rows);
}

#define CPU                                                                                    \
    "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','averageUtil" \
    "ization':80}}}]"
#define METRICS(text) \
    "{'metadata':{'annotations':{'autoscaling.alpha.kubernetes.io/metrics':'" text "'}}}"

static void autoscalers_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "autoscaling/v2", "HorizontalPodAutoscaler", "{}", "spec/minReplicas", "1" },
        { "autoscaling/v2", "HorizontalPodAutoscaler", SPEC("'minReplicas':0"), "spec/minReplicas",
          "0" },
        { "autoscaling/v2", "HorizontalPodAutoscaler", "{}", "spec/metrics", CPU },
        { "autoscaling/v2", "HorizontalPodAutoscaler", "{}", "spec/behavior", NULL },
        { "autoscaling/v2", "HorizontalPodAutoscaler", SPEC("'behavior':{}"), "spec/behavior",
          "{'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','policies':["
          "{'type':'Pods','value':4,'periodSeconds':15},"
          "{'type':'Percent','value':100,'periodSeconds':15}]},"
          "'scaleDown':{'selectPolicy':'Max','policies':["
          "{'type':'Percent','value':100,'periodSeconds':15}]}}" },
        { "autoscaling/v2", "HorizontalPodAutoscaler",
          SPEC("'behavior':{'scaleUp':{'selectPolicy':'Min','stabilizationWindowSeconds':9,"
               "'policies':[{'type':'Pods','value':1,'periodSeconds':2}]}}"),
          "spec/behavior/scaleUp",
          "{'stabilizationWindowSeconds':9,'selectPolicy':'Min','policies':["
          "{'type':'Pods','value':1,'periodSeconds':2}]}" },
        { "autoscaling/v2beta2", "HorizontalPodAutoscaler", "{}", "spec/metrics", CPU },
        { "autoscaling/v2beta2", "HorizontalPodAutoscaler", SPEC("'behavior':{}"),
          "spec/behavior/scaleDown/selectPolicy", "'Max'" },
        { "autoscaling/v2beta1", "HorizontalPodAutoscaler", "{}", "spec/metrics",
          "[{'type':'Resource','resource':{'name':'cpu','targetAverageUtilization':80}}]" },
        { "autoscaling/v1", "HorizontalPodAutoscaler", "{}", "spec/targetCPUUtilizationPercentage",
          "80" },
        { "autoscaling/v1", "HorizontalPodAutoscaler", METRICS("[{}]"),
          "spec/targetCPUUtilizationPercentage", NULL },
        { "autoscaling/v1", "HorizontalPodAutoscaler", METRICS("[]"),
          "spec/targetCPUUtilizationPercentage", "80" },
        { "autoscaling/v1", "HorizontalPodAutoscaler", METRICS("nope"),
          "spec/targetCPUUtilizationPercentage", "80" },
        { "autoscaling/v1", "HorizontalPodAutoscaler", "{}", "spec/minReplicas", "1" },
    };
    SUITE_DEFAULTS(rows);
}

static void networking_and_access_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "networking.k8s.io/v1", "NetworkPolicy", "{}", "spec/policyTypes", "['Ingress']" },
        { "networking.k8s.io/v1", "NetworkPolicy", SPEC("'egress':[{}]"), "spec/policyTypes",
          "['Ingress','Egress']" },
        { "networking.k8s.io/v1", "NetworkPolicy", SPEC("'egress':[{}],'policyTypes':['Egress']"),
          "spec/policyTypes", "['Egress']" },
        { "networking.k8s.io/v1", "NetworkPolicy", SPEC("'egress':[{'ports':[{'port':1}]}]"),
          "spec/egress/0/ports/0/protocol", "'TCP'" },
        { "extensions/v1beta1", "NetworkPolicy", SPEC("'ingress':[{'ports':[{'port':1}]}]"),
          "spec/ingress/0/ports/0/protocol", NULL },
        { "extensions/v1beta1", "NetworkPolicy", "{}", "spec/policyTypes", "['Ingress']" },
        { "networking.k8s.io/v1", "IngressClass", SPEC("'parameters':{'kind':'K','name':'n'}"),
          "spec/parameters/scope", "'Cluster'" },
        { "networking.k8s.io/v1", "IngressClass", "{}", "spec/parameters", NULL },
        { "networking.k8s.io/v1", "Ingress", SPEC("'rules':[{'http':{'paths':[{'path':'/'}]}}]"),
          "spec/rules/0/http/paths/0/pathType", "null" },
        { "networking.k8s.io/v1beta1", "Ingress",
          SPEC("'rules':[{'http':{'paths':[{'path':'/'}]}}]"), "spec/rules/0/http/paths/0/pathType",
          "'ImplementationSpecific'" },
        { "extensions/v1beta1", "Ingress", SPEC("'rules':[{'http':{'paths':[{'path':'/'}]}}]"),
          "spec/rules/0/http/paths/0/pathType", "'ImplementationSpecific'" },
        { "discovery.k8s.io/v1", "EndpointSlice", "{'ports':[{'port':1}]}", "ports/0",
          "{'name':'','protocol':'TCP','port':1}" },
        { "discovery.k8s.io/v1beta1", "EndpointSlice", "{'ports':[{'port':1}]}", "ports/0/protocol",
          "'TCP'" },
        { "rbac.authorization.k8s.io/v1", "RoleBinding", "{}", "roleRef/apiGroup",
          "'rbac.authorization.k8s.io'" },
        { "rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
          "{'subjects':[{'kind':'User','name':'u'},{'kind':'Group','name':'g'},"
          "{'kind':'ServiceAccount','name':'s'},{'kind':'User','apiGroup':'x','name':'u'}]}",
          "subjects",
          "[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'u'},"
          "{'kind':'Group','apiGroup':'rbac.authorization.k8s.io','name':'g'},"
          "{'kind':'ServiceAccount','name':'s'},{'kind':'User','apiGroup':'x','name':'u'}]" },
        { "rbac.authorization.k8s.io/v1beta1", "RoleBinding",
          "{'subjects':[{'kind':'User','name':'u'}]}", "subjects/0/apiGroup",
          "'rbac.authorization.k8s.io'" },
        { "rbac.authorization.k8s.io/v1alpha1", "RoleBinding",
          "{'subjects':[{'kind':'User','name':'u'},{'kind':'ServiceAccount','name':'s'}]}",
          "subjects",
          "[{'kind':'User','apiVersion':'rbac.authorization.k8s.io/v1alpha1','name':'u'},"
          "{'kind':'ServiceAccount','apiVersion':'v1','name':'s'}]" },
        { "authentication.k8s.io/v1", "TokenRequest", "{}", "spec/expirationSeconds", "3600" },
        { "policy/v1beta1", "PodSecurityPolicy", "{}", "spec/allowPrivilegeEscalation", "true" },
        { "scheduling.k8s.io/v1", "PriorityClass", "{}", "preemptionPolicy",
          "'PreemptLowerPriority'" },
    };
    SUITE_DEFAULTS(rows);
}

static void extensions_of_the_api_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
          "{'webhooks':[{'name':'w','clientConfig':{'service':{'name':'s','namespace':'n'}},"
          "'rules':[{'operations':['*'],'apiGroups':['']}],'sideEffects':'None',"
          "'admissionReviewVersions':['v1']}]}",
          "webhooks/0",
          "{'name':'w','clientConfig':{'service':{'namespace':'n','name':'s','port':443}},"
          "'rules':[{'operations':['*'],'apiGroups':[''],'scope':'*'}],'failurePolicy':'Fail',"
          "'matchPolicy':'Equivalent','namespaceSelector':{},'objectSelector':{},"
          "'sideEffects':'None','timeoutSeconds':10,'admissionReviewVersions':['v1'],"
          "'reinvocationPolicy':'Never'}" },
        { "admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration",
          "{'webhooks':[{'name':'w','clientConfig':{},'rules':[{}]}]}", "webhooks/0",
          "{'name':'w','clientConfig':{},'rules':[{'scope':'*'}],'failurePolicy':'Ignore',"
          "'matchPolicy':'Exact','namespaceSelector':{},'objectSelector':{},"
          "'sideEffects':'Unknown','timeoutSeconds':30,'admissionReviewVersions':['v1beta1']}" },
        { "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
          SPEC("'matchConstraints':{}"), "spec",
          "{'matchConstraints':{'namespaceSelector':{},'objectSelector':{},"
          "'matchPolicy':'Equivalent'},'failurePolicy':'Fail'}" },
        { "admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding",
          SPEC("'paramRef':{}"), "spec/paramRef/parameterNotFoundAction", "'Deny'" },
        { "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
          SPEC("'paramRef':{}"), "spec/paramRef/parameterNotFoundAction", NULL },
        { "apiregistration.k8s.io/v1", "APIService", SPEC("'service':{}"), "spec/service/port",
          "443" },
        { "apiregistration.k8s.io/v1", "APIService", "{}", "spec/service", NULL },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition", SPEC("'names':{'kind':'CronTab'}"),
          "spec/names",
          "{'plural':'','singular':'crontab','kind':'CronTab',"
          "'listKind':'CronTabList'}" },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition",
          "{'status':{'acceptedNames':{'kind':'CronTab'}}}", "status/acceptedNames/singular",
          NULL },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition", "{}", "spec/names/listKind",
          NULL },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition", "{}", "spec/conversion",
          "{'strategy':'None'}" },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition",
          SPEC("'versions':[{'name':'v1'},{'name':'v2','storage':true},"
               "{'name':'v3','storage':true}]"),
          "status/storedVersions", "['v2']" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", SPEC("'version':'v1'"),
          "spec/versions", "[{'name':'v1','served':true,'storage':true}]" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", SPEC("'version':'v1'"),
          "status/storedVersions", "['v1']" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition",
          SPEC("'versions':[{'name':'v2'}]"), "spec/version", "'v2'" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "{}", "spec/scope",
          "'Namespaced'" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "{}",
          "spec/preserveUnknownFields", "true" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition",
          SPEC("'conversion':{'strategy':'Webhook','webhookClientConfig':{'service':{}}}"),
          "spec/conversion",
          "{'strategy':'Webhook','webhookClientConfig':{'service':{'namespace':'','name':'',"
          "'port':443}},'conversionReviewVersions':['v1beta1']}" },
    };
    SUITE_DEFAULTS(rows);
}

static void clusters_have_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "{}", "spec/matchingPrecedence",
          "1000" },
        { "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
          SPEC("'type':'Limited','limited':{'limitResponse':{'type':'Queue','queuing':{}}}"),
          "spec/limited",
          "{'nominalConcurrencyShares':30,'limitResponse':{'type':'Queue','queuing':{'queues':64,"
          "'handSize':8,'queueLengthLimit':50}},'lendablePercent':0}" },
        { "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
          SPEC("'limited':{'nominalConcurrencyShares':0}"), "spec/limited/nominalConcurrencyShares",
          "0" },
        { "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", SPEC("'exempt':{}"),
          "spec/exempt", "{'nominalConcurrencyShares':0,'lendablePercent':0}" },
        { "flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration",
          SPEC("'limited':{'assuredConcurrencyShares':0}"), "spec/limited/assuredConcurrencyShares",
          "30" },
        { "flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration",
          SPEC("'limited':{}"), "spec/limited/nominalConcurrencyShares", "30" },
        { "flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration",
          "{'metadata':{'annotations':{'flowcontrol.k8s.io/"
          "v1beta3-preserve-zero-concurrency-shares'"
          ":''}},'spec':{'limited':{}}}",
          "spec/limited/nominalConcurrencyShares", "0" },
        { "resource.k8s.io/v1", "ResourceClaim",
          SPEC("'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}}]}"),
          "spec/devices/requests/0/exactly",
          "{'deviceClassName':'c','allocationMode':'ExactCount','count':1}" },
        { "resource.k8s.io/v1", "ResourceClaim",
          SPEC("'devices':{'requests':[{'name':'r','exactly':{'allocationMode':'All',"
               "'tolerations':[{}]}}]}"),
          "spec/devices/requests/0/exactly",
          "{'deviceClassName':'','allocationMode':'All','tolerations':[{'operator':'Equal'}]}" },
        { "resource.k8s.io/v1", "ResourceClaimTemplate",
          "{'spec':{'spec':{'devices':{'requests':[{'firstAvailable':[{'count':3}]}]}}}}",
          "spec/spec/devices/requests/0/firstAvailable/0/count", "3" },
        { "resource.k8s.io/v1beta1", "ResourceClaim",
          SPEC("'devices':{'requests':[{'deviceClassName':'c'},{'name':'r'}]}"),
          "spec/devices/requests/0/count", "1" },
        { "resource.k8s.io/v1beta1", "ResourceClaim",
          SPEC("'devices':{'requests':[{'deviceClassName':'c'},{'name':'r'}]}"),
          "spec/devices/requests/1", "{'name':'r','deviceClassName':''}" },
        { "certificates.k8s.io/v1", "PodCertificateRequest", "{}", "spec/maxExpirationSeconds",
          "86400" },
        { "certificates.k8s.io/v1beta1", "CertificateSigningRequest", "{}", "spec/usages",
          "['digital signature','key encipherment']" },
        { "certificates.k8s.io/v1beta1", "CertificateSigningRequest",
          "{'status':{'conditions':[{'type':'Approved'}]}}", "status/conditions/0/status",
          "'True'" },
    };
    SUITE_DEFAULTS(rows);
}

static void old_workloads_have_their_own_defaults(void **state)
{
    (void)state;
    static const struct suite_default rows[] = {
        { "extensions/v1beta1", "Deployment", LABELLED, "spec/selector",
          "{'matchLabels':{'a':'b'}}" },
        { "extensions/v1beta1", "Deployment", LABELLED, "metadata/labels", "{'a':'b'}" },
        { "extensions/v1beta1", "Deployment", "{}", "spec/strategy",
          "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':1}}" },
        { "extensions/v1beta1", "Deployment",
          SPEC("'strategy':{'type':'Recreate','rollingUpdate':{}}"), "spec/strategy/rollingUpdate",
          "{'maxUnavailable':1,'maxSurge':1}" },
        { "extensions/v1beta1", "Deployment", "{}", "spec/revisionHistoryLimit", "2147483647" },
        { "extensions/v1beta1", "Deployment", "{}", "spec/progressDeadlineSeconds", "2147483647" },
        { "extensions/v1beta1", "DaemonSet", "{}", "spec/updateStrategy", "{'type':'OnDelete'}" },
        { "extensions/v1beta1", "DaemonSet", SPEC("'updateStrategy':{'type':'RollingUpdate'}"),
          "spec/updateStrategy/rollingUpdate/maxUnavailable", "1" },
        { "extensions/v1beta1", "DaemonSet", LABELLED, "spec/selector",
          "{'matchLabels':{'a':'b'}}" },
        { "extensions/v1beta1", "ReplicaSet", LABELLED, "metadata/labels", "{'a':'b'}" },
        { "extensions/v1beta1", "ReplicaSet", "{}", "spec/replicas", "1" },
        { "apps/v1beta1", "Deployment", LABELLED, "spec/selector", "{'matchLabels':{'a':'b'}}" },
        { "apps/v1beta1", "Deployment", "{}", "spec/revisionHistoryLimit", "2" },
        { "apps/v1beta1", "Deployment", "{}", "spec/progressDeadlineSeconds", "600" },
        { "apps/v1beta1", "Deployment", "{}", "spec/strategy/rollingUpdate/maxSurge", "'25%'" },
        { "apps/v1beta1", "StatefulSet", "{}", "spec/updateStrategy", "{'type':'OnDelete'}" },
        { "apps/v1beta1", "StatefulSet",
          SPEC("'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{}}"),
          "spec/updateStrategy/rollingUpdate/partition", "0" },
        { "apps/v1beta1", "StatefulSet", LABELLED, "spec/selector", "{'matchLabels':{'a':'b'}}" },
        { "apps/v1beta2", "Deployment", LABELLED, "metadata/labels", NULL },
        { "apps/v1beta2", "Deployment", "{}", "spec/revisionHistoryLimit", "10" },
        { "apps/v1beta2", "DaemonSet", "{}", "spec/updateStrategy/type", "'RollingUpdate'" },
        { "apps/v1beta2", "StatefulSet", "{}", "spec/updateStrategy/rollingUpdate/partition", "0" },
        { "settings.k8s.io/v1alpha1", "PodPreset", SPEC("'volumes':[{'name':'v'}]"),
          "spec/volumes/0/emptyDir", "{}" },
    };
    SUITE_DEFAULTS(rows);
}

static void devices_are_tainted_now(void **state)
{
    (void)state;
    static const char *const rows[][4] = {
        { "resource.k8s.io/v1", "DeviceTaintRule", SPEC("'taint':{'key':'k'}"),
          "spec/taint/timeAdded" },
        { "resource.k8s.io/v1", "ResourceSlice",
          SPEC("'devices':[{'name':'d','taints':[{'key':'k'}]}]"),
          "spec/devices/0/taints/0/timeAdded" },
        { "resource.k8s.io/v1beta1", "ResourceSlice",
          SPEC("'devices':[{'name':'d','basic':{'taints':[{'key':'k'}]}}]"),
          "spec/devices/0/basic/taints/0/timeAdded" },
    };
    struct str now = STR("2026-01-02T03:04:05Z"), later = STR("2027-01-02T03:04:05Z");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value obj = suite_defaults_object(&a, rows[i][0], rows[i][1], rows[i][2]);
        const struct kind_type *t = kind_find(str_of(rows[i][0]), str_of(rows[i][1]));
        assert_null(suite_json_at(&a, &obj, rows[i][3]));
        defaults_stamp(&a, t, &obj, now);
        defaults_stamp(&a, t, &obj, later);
        assert_true(str_eq(value_str(suite_json_at(&a, &obj, rows[i][3])), now));
        arena_done(&a);
    }
}

/* ---- Signers ---- */

/* Requests of a P-256 key: DER in base64. */
static const struct {
    const char *what, *der;
} requests[] = {
    { "client", "MIHrMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lzdGVtOm5vZGU6"
                "bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARQsnbDvwHL1BEV/kEU9nBn5X4aFdY4x0sMMfiB"
                "laj5apBs06XWbyPQM2+aVgpzZbT1j0IBP3CVH1wjpWh8hZYaoAAwCgYIKoZIzj0EAwIDSAAwRQIh"
                "APuWGDP528nfF8VpNvKMzSwXMIJjfZIUCW10UmkiNkPUAiB/lo+8uleg4MYGf7FpI471cT0GRyEV"
                "G4IB/IwQc5AsdA==" },
    { "serving", "MIIBETCBuAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5c3RlbTpub2Rl"
                 "Om4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwZqL1IWlnWuF9BNntgCohO3/W5H/vCLARRDJ"
                 "ozb8I/dnFpVT25teL49nMdmMlhSe/jH4ZaaEk6RdFaMhCDYzBaAmMCQGCSqGSIb3DQEJDjEXMBUw"
                 "EwYDVR0RBAwwCoICbjGHBAoAAAEwCgYIKoZIzj0EAwIDSAAwRQIgcT1vcKvoIsVbI6cM3awhl0aK"
                 "XoF7F8ZTAWmNHxMu3X0CIQCd0qSSevnXc+X5/lWWDdLQL7uweKbYkeICHLgxYRUPeA==" },
    { "email", "MIIBEzCBuQIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5c3RlbTpub2Rl"
               "Om4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsaFgncfWBsTLsXLAPNbzKe13FQtaSPJxc3HN"
               "qzHMe6CQTcpAGWh7vPTSlxttQacWjBkSfxz9HMoU+f4H2YwrhKAnMCUGCSqGSIb3DQEJDjEYMBYw"
               "FAYDVR0RBA0wC4ICbjGBBWFAYi5jMAoGCCqGSM49BAMCA0kAMEYCIQDVPG1EVkHisy6hpgx4EcOI"
               "GNKdNdo19hcyAhwosczrTQIhANwag7yasCbUfHafmadF5o/75DH63i2IjDGmOgU5yE7v" },
    { "other", "MIHRMHoCAQAwGDEKMAgGA1UECgwBeDEKMAgGA1UEAwwBeTBZMBMGByqGSM49AgEGCCqGSM49AwEH"
               "A0IABGZqMzAd3QrwFH8BmSE7ufnuDU4MuJBcZ1wvZEhZEchbXUWDQNEVFOfwUlYtC3DZsoJngEoP"
               "o9KWM+NPkXc1q7GgADAKBggqhkjOPQQDAgNHADBEAiAOkAmYuz9lH4bes7o95hgE8e/0drDG5/b3"
               "Q/WM3gMQNwIgOnLbNrUzKb1TXyYycpj85zqONXFTAMgjMfjEz/zpOh4=" },
    { "two", "MIH2MIGeAgEAMDwxFTATBgNVBAoMDHN5c3RlbTpub2RlczEKMAgGA1UECgwBeDEXMBUGA1UEAwwO"
             "c3lzdGVtOm5vZGU6bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATSj3zdp4GntL/dHcGvRq9E"
             "yrUs0UKQe0oovjTnvRKxWzeYAHvXj/rd5bM2BxNKTynhJ8PgFx/Z3gfwtDxaxdn/oAAwCgYIKoZI"
             "zj0EAwIDRwAwRAIgGmed9PwIpq11BCmE/sQ8fX3Ou0sy/hJZVFmzOzFgO84CIEj+C3iPIZHOq8Ay"
             "JZhNvngLOQmQBiJA1ue+pQLREVYK" },
};

static struct value signing_request(struct arena *a, const char *der, const char *usages)
{
    autobuf pem = { 0 }, text = { 0 };
    buf_printf(&pem,
               "-----BEGIN CERTIFICATE REQUEST-----\n%.64s\n%s\n"
               "-----END CERTIFICATE REQUEST-----\n",
               der, strlen(der) > 64 ? der + 64 : "");
    base64_encode(&text, buf_str(&pem));
    const char *body =
        str_cstr(a, arena_printf(a, "{'spec':{'request':'" STR_FMT "','usages':[%s]}}",
                                 STR_ARG(buf_str(&text)), usages));
    return suite_defaults_object(a, "certificates.k8s.io/v1beta1", "CertificateSigningRequest",
                                 body);
}

static void kubelets_have_their_signers(void **state)
{
    (void)state;
#define CLIENT  "'client auth','digital signature'"
#define SERVING "'digital signature','key encipherment','server auth'"
    static const struct {
        const char *what, *usages, *signer;
    } rows[] = {
        { "client", CLIENT, "kube-apiserver-client-kubelet" },
        { "client", CLIENT ",'key encipherment'", "kube-apiserver-client-kubelet" },
        { "client", CLIENT ",'any'", "legacy-unknown" },
        { "client", "", "legacy-unknown" },
        { "client", "'client auth'", "legacy-unknown" },
        { "client", SERVING, "legacy-unknown" },
        { "serving", SERVING, "kubelet-serving" },
        { "serving", "'server auth','digital signature'", "kubelet-serving" },
        { "serving", CLIENT, "legacy-unknown" },
        { "email", SERVING, "legacy-unknown" },
        { "other", CLIENT, "legacy-unknown" },
        { "two", CLIENT, "legacy-unknown" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        const char *der = NULL;
        for (size_t j = 0; j < ARRAY_LEN(requests); j++)
            if (strcmp(requests[j].what, rows[i].what) == 0)
                der = requests[j].der;
        assert_non_null(der);
        struct value obj = signing_request(&a, der, rows[i].usages);
        struct str signer = value_str(suite_json_at(&a, &obj, "spec/signerName"));
        struct str want = arena_printf(&a, "kubernetes.io/%s", rows[i].signer);
        if (!str_eq(signer, want))
            fail_msg("%s %s: " STR_FMT, rows[i].what, rows[i].usages, STR_ARG(signer));
        arena_done(&a);
    }
}

/* Whatever is cut off or flipped, there is an answer. */
static void broken_requests_have_a_signer_too(void **state)
{
    (void)state;
    autobuf der = { 0 }, text = { 0 };
    assert_true(base64_decode(&der, str_of(requests[1].der)));
    for (size_t i = 0; i < 2 * der.n; i++) {
        struct arena a;
        arena_init(&a);
        char *bytes = arena_dup(&a, der.p, der.n);
        size_t n = i < der.n ? i : der.n;
        if (i >= der.n)
            bytes[i - der.n] ^= 0xff;
        buf_reset(&text);
        base64_encode(&text, (struct str){ bytes, n });
        struct value obj = signing_request(&a, str_cstr(&a, buf_str(&text)), SERVING);
        assert_true(str_starts(value_str(suite_json_at(&a, &obj, "spec/signerName")),
                               STR("kubernetes.io/")));
        arena_done(&a);
    }
#undef CLIENT
#undef SERVING
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workloads_have_defaults),
        cmocka_unit_test(jobs_have_defaults),
        cmocka_unit_test(autoscalers_have_defaults),
        cmocka_unit_test(networking_and_access_have_defaults),
        cmocka_unit_test(extensions_of_the_api_have_defaults),
        cmocka_unit_test(clusters_have_defaults),
        cmocka_unit_test(old_workloads_have_their_own_defaults),
        cmocka_unit_test(devices_are_tainted_now),
        cmocka_unit_test(kubelets_have_their_signers),
        cmocka_unit_test(broken_requests_have_a_signer_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
