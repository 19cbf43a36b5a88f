/* Autoscalers, budgets, classes, limits and quotas. */
#include "api/validate/suite_validate.h"

#define CLASS_META "'metadata':{'name':'x','uid':'u','resourceVersion':'1'}"

static const char autoscalers_base[] =
    "{" META ",'spec':{'maxReplicas':3,'scaleTargetRef':{'apiVersion':'apps/v1','kind':"
    "'Deployment','name':'d'},'metrics':[{'type':'Resource','resource':{'name':'cpu','target':{"
    "'type':'Utilization','averageUtilization':50}}}]}}";

static const struct suite_change autoscalers[] = {
    { "spec/maxReplicas", "0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`\n"
      "spec.maxReplicas: Required value" },
    { "spec/minReplicas", "0",
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
      "scaling to zero replicas" },
    { "spec/scaleTargetRef/name", "'a/b'",
      "spec.scaleTargetRef.name: Invalid value: 'a/b': may not contain '/'" },
    { "spec/scaleTargetRef/apiVersion", "'v1'",
      "spec.scaleTargetRef.apiVersion: Invalid value: 'v1': apiVersion must specify API "
      "group" },
    { "spec/scaleTargetRef/apiVersion", "'a/b/c'",
      "spec.scaleTargetRef.apiVersion: Invalid value: 'a/b/c': unexpected GroupVersion string: "
      "a/b/c" },
    { "spec/metrics/0/resource/target/averageUtilization", "0",
      "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater "
      "than 0" },
    { "spec/metrics/0/pods",
      "{'metric':{'name':'m'},'target':{'type':'AverageValue',"
      "'averageValue':'1'}}",
      "spec.metrics[0].pods: Forbidden: must populate the given metric source only" },
    { "spec/behavior", "{'scaleUp':{'stabilizationWindowSeconds':3601}}",
      "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less "
      "than "
      "or equal to 3600" },
    { "spec/behavior", "{'scaleDown':{'policies':[{'type':'X','value':1,'periodSeconds':1}]}}",
      "spec.behavior.scaleDown.policies[0].type: Unsupported value: 'X': supported values: "
      "'Percent', 'Pods'" },
};

static const char budgets_base[] =
    "{" META ",'spec':{'minAvailable':1,'selector':{'matchLabels':{'a':'b'}}}}";

static const struct suite_change budgets[] = {
    { "spec/maxUnavailable", "1",
      "spec: Invalid value: {'MinAvailable':1,'Selector':{'matchLabels':{'a':'b'}},"
      "'MaxUnavailable':1,'UnhealthyPodEvictionPolicy':null}: minAvailable and maxUnavailable "
      "cannot be both set" },
    { "spec/minAvailable", "-1",
      "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/minAvailable", "'101%'",
      "spec.minAvailable: Invalid value: '101%': must not be greater than 100%" },
    { "spec/minAvailable", "'x'",
      "spec.minAvailable: Invalid value: 'x': a valid percent string must be a numeric string "
      "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
      "'[0-9]+%')" },
    { "spec/selector/matchExpressions", "[{'key':'a','operator':'X'}]",
      "spec.selector.matchExpressions[0].operator: Invalid value: 'X': not a valid selector "
      "operator" },
    { "spec/unhealthyPodEvictionPolicy", "'Never'",
      "spec.unhealthyPodEvictionPolicy: Unsupported value: 'Never': supported values: "
      "'AlwaysAllow', 'IfHealthyBudget'" },
};

static const struct suite_change budgets_statuses[] = {
    { "status", "{'expectedPods':-1}",
      "status.expectedPods: Invalid value: -1: must be greater than or equal to 0" },
};

static const char priority_classes_base[] = "{" CLASS_META ",'value':7}";

static const struct suite_change priority_classes[] = {
    { "value", "1000000001",
      "value: Forbidden: maximum allowed value of a user defined priority is 1000000000" },
    { "value", "1000000000", NULL },
    { "metadata/name", "'system-mine'",
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
      "system use only. error: system-mine is not a known system priority class" },
    { "metadata/name", "'system-node-critical'",
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
      "system use only. error: value of system-node-critical PriorityClass must be "
      "2000001000" },
    { "preemptionPolicy", "'Maybe'",
      "preemptionPolicy: Unsupported value: 'Maybe': supported values: "
      "'PreemptLowerPriority', 'Never'" },
    { "metadata/namespace", "'n'", "metadata.namespace: Forbidden: not allowed on this type" },
};

static const struct suite_change priority_classes_changes[] = {
    { "description", "'x'", NULL },
    { "value", "8", "value: Forbidden: may not be changed in an update." },
    { "preemptionPolicy", "'Never'",
      "preemptionPolicy: Invalid value: 'Never': field is immutable" },
};

static const char runtime_classes_base[] = "{" CLASS_META ",'handler':'h'}";

static const struct suite_change runtime_classes[] = {
    { "handler", "''", "handler: Required value" },
    { "handler", "'a.b'", "handler: Invalid value: 'a.b': must not contain dots" },
    { "overhead", "{'podFixed':{'cpu':'-1'}}",
      "overhead.limits[cpu]: Invalid value: '-1': must be greater than or equal to 0" },
    { "overhead", "{'podFixed':{'pods':'1'}}",
      "overhead.limits[pods]: Invalid value: 'pods': must be a standard resource for "
      "containers" },
    { "scheduling",
      "{'tolerations':[{'key':'a','operator':'Exists'},{'key':'a','operator':"
      "'Exists'}]}",
      "scheduling.tolerations[1]: Duplicate value: {'Key':'a','Operator':'Exists','Value':'',"
      "'Effect':'','TolerationSeconds':null}" },
    { "scheduling", "{'tolerations':[{'key':'a','operator':'X'}]}",
      "scheduling.tolerations[0].operator: Unsupported value: 'X': supported values: 'Equal', "
      "'Exists'" },
};

static const struct suite_change runtime_classes_changes[] = {
    { "handler", "'g'", "handler: Invalid value: 'g': field is immutable" },
};

static const char limits_base[] =
    "{" META ",'spec':{'limits':[{'type':'Container','max':{'cpu':'2'},'min':{'cpu':'1'}}]}}";

static const struct suite_change limits[] = {
    { "spec/limits/0/type", "'X'",
      "spec.limits[0].type: Invalid value: 'X': must be a standard limit type or fully "
      "qualified" },
    { "spec/limits/0/min/cpu", "'3'",
      "spec.limits[0].min[cpu]: Invalid value: '3': min value 3 is greater than max value 2\n"
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '2': min value 3 is greater than default "
      "request value 2\n"
      "spec.limits[0].default[cpu]: Invalid value: '3': min value 3 is greater than default value "
      "2" },
    { "spec/limits/0/maxLimitRequestRatio", "{'cpu':'5'}",
      "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: '5': ratio 5 is greater than "
      "max/min = 2.000000" },
    { "spec/limits/0/maxLimitRequestRatio", "{'cpu':'500m'}",
      "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: '500m': ratio 500m is less "
      "than "
      "1" },
    { "spec/limits/0/max/pods", "'1'",
      "spec.limits[0].max[pods]: Invalid value: 'pods': must be a standard resource for "
      "containers\n"
      "spec.limits[0].default[pods]: Invalid value: 'pods': must be a standard resource for "
      "containers\n"
      "spec.limits[0].defaultRequest[pods]: Invalid value: 'pods': must be a standard resource for "
      "containers" },
    { "spec/limits/0", "{'type':'Pod','default':{'cpu':'1'}}",
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'" },
    { "spec/limits/0", "{'type':'PersistentVolumeClaim'}",
      "spec.limits[0].limits: Required value: either minimum or maximum storage value is "
      "required, but neither was provided" },
};

static const char quotas_base[] = "{" META ",'spec':{'hard':{'pods':'5'},'scopes':['BestEffort']}}";

static const struct suite_change quotas[] = {
    { "spec/hard/pods", "'-1'",
      "spec.hard[pods]: Invalid value: '-1': must be greater than or equal to 0" },
    { "spec/hard/pods", "'1500m'", "spec.hard[pods]: Invalid value: '1500m': must be an integer" },
    { "spec/hard/storage", "'1'",
      "spec.hard[storage]: Invalid value: 'storage': must be a standard resource for quota" },
    { "spec/hard/cpu", "'1'",
      "spec.scopes: Invalid value: ['BestEffort']: unsupported scope applied to resource" },
    { "spec/scopes", "['X']", "spec.scopes: Invalid value: ['X']: unsupported scope" },
    { "spec/scopes", "['Terminating','NotTerminating']",
      "spec.scopes: Invalid value: ['Terminating','NotTerminating']: conflicting scopes" },
    { "spec/scopeSelector",
      "{'matchExpressions':[{'scopeName':'PriorityClass','operator':"
      "'In'}]}",
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
      "when `operator` is 'In' or 'NotIn' for scope selector" },
};

static const struct suite_change quotas_changes[] = {
    { "spec/hard/pods", "'6'", NULL },
    { "spec/scopes", "['Terminating']",
      "spec.scopes: Invalid value: ['Terminating']: field is immutable" },
};

/* ---- Ranges and quotas, more closely ---- */

static const char limit_range[] =
    "{" META ",'spec':{'limits':[{'type':'Container','max':{'cpu':'4'},'min':{'cpu':'1'},'default':"
    "{'cpu':'3'},'defaultRequest':{'cpu':'2'}}]}}";

static const struct suite_change limit_orders[] = {
    { "spec/limits/0/defaultRequest/cpu", "'500m'",
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '500m': min value 1 is greater than "
      "default request value 500m" },
    { "spec/limits/0/defaultRequest/cpu", "'3500m'",
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '3500m': default request value 3500m is "
      "greater than default limit value 3" },
    { "spec/limits/0/defaultRequest/cpu", "'5'",
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '5': default request value 5 is greater "
      "than max value 4\n"
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '5': default request value 5 is greater "
      "than default limit value 3" },
    { "spec/limits/0/default/cpu", "'5'",
      "spec.limits[0].default[cpu]: Invalid value: '4': default value 5 is greater than max value "
      "4" },
    { "spec/limits/0/default/cpu", "'500m'",
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '2': default request value 2 is greater "
      "than default limit value 500m\n"
      "spec.limits[0].default[cpu]: Invalid value: '1': min value 1 is greater than default value "
      "500m" },
    { "spec/limits/0/maxLimitRequestRatio", "{'cpu':'5'}",
      "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: '5': ratio 5 is greater than "
      "max/min = 4.000000" },
    { "spec/limits/0/maxLimitRequestRatio", "{'cpu':'500m'}",
      "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: '500m': ratio 500m is less than "
      "1" },
    { "spec/limits/0", "{'type':'Pod','max':{'cpu':'4'},'default':{'cpu':'3'}}",
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'" },
    { "spec/limits/0", "{'type':'Pod','max':{'cpu':'4'},'defaultRequest':{'cpu':'3'}}",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'" },
    { "spec/limits/0", "{'type':'PersistentVolumeClaim'}",
      "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, "
      "but neither was provided" },
    { "spec/limits/0", "{'type':'PersistentVolumeClaim','max':{'storage':'1Gi'}}", NULL },
    { "spec/limits/0",
      "{'type':'Container','max':{'example.com/gpu':'1'},'defaultRequest':{'example.com/"
      "gpu':'1'},'default':{'example.com/gpu':'2'}}",
      "spec.limits[0].default[example.com/gpu]: Invalid value: '1': default value 2 is greater "
      "than max value 1\n"
      "spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: '1': default value 2 must "
      "equal to defaultRequest value 1 in example.com/gpu" },
    { "spec/limits", "[{'type':'Pod'},{'type':'Pod'}]",
      "spec.limits[1].type: Duplicate value: 'Pod'" },
};

static const struct suite_change limit_updates[] = {
    { "spec/limits/0/max/cpu", "'8'", NULL },
    { "spec/limits/0/min/cpu", "'5'",
      "spec.limits[0].min[cpu]: Invalid value: '5': min value 5 is greater than max value 4\n"
      "spec.limits[0].defaultRequest[cpu]: Invalid value: '2': min value 5 is greater than default "
      "request value 2\n"
      "spec.limits[0].default[cpu]: Invalid value: '5': min value 5 is greater than default value "
      "3" },
};

static const char quota[] = "{" META ",'spec':{'hard':{'pods':'5'}}}";

static const struct suite_change quota_scopes[] = {
    { "spec/scopes", "['BestEffort']", NULL },
    { "spec/scopes", "['BestEffort','NotBestEffort']",
      "spec.scopes: Invalid value: ['BestEffort','NotBestEffort']: conflicting scopes" },
    { "spec/scopes", "['Terminating','NotTerminating']",
      "spec.scopes: Invalid value: ['Terminating','NotTerminating']: conflicting scopes" },
    { "spec/scopes", "['Odd']", "spec.scopes: Invalid value: ['Odd']: unsupported scope" },
    { "spec/scopeSelector",
      "{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In','values':['high']}]}",
      NULL },
    { "spec/scopeSelector", "{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In'}]}",
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when "
      "`operator` is 'In' or 'NotIn' for scope selector" },
    { "spec/scopeSelector",
      "{'matchExpressions':[{'scopeName':'PriorityClass','operator':'Exists','values':['x']}]}",
      "spec.scopeSelector.matchExpressions.values: Invalid value: ['x']: must be no value when "
      "`operator` is 'Exist' or 'DoesNotExist' for scope selector" },
    { "spec/scopeSelector",
      "{'matchExpressions':[{'scopeName':'PriorityClass','operator':'Near'}]}",
      "spec.scopeSelector.matchExpressions.operator: Invalid value: 'Near': not a valid selector "
      "operator" },
    { "spec/scopeSelector",
      "{'matchExpressions':[{'scopeName':'BestEffort','operator':'In','values':['x']}]}",
      "spec.scopeSelector.matchExpressions.operator: Invalid value: 'In': must be 'Exists' when "
      "scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
      "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
      "ResourceQuotaScopeCrossNamespacePodAffinity" },
    { "spec/scopeSelector", "{'matchExpressions':[{'scopeName':'Odd','operator':'Exists'}]}",
      "spec.scopeSelector.matchExpressions.scopeName: Invalid value: 'Odd': unsupported scope" },
    { "spec/hard", "{'requests.cpu':'1','limits.memory':'1Gi','count/pods':'2'}", NULL },
    { "spec/hard", "{'plain':'1'}",
      "spec.hard[plain]: Invalid value: 'plain': must be a standard resource type or fully "
      "qualified\n"
      "spec.hard[plain]: Invalid value: 'plain': must be a standard resource for quota" },
    { "spec/hard", "{'pods':'1500m'}",
      "spec.hard[pods]: Invalid value: '1500m': must be an integer" },
    { "spec/hard", "{'services.nodeports':'-1'}",
      "spec.hard[services.nodeports]: Invalid value: '-1': must be greater than or equal to 0" },
};

static const struct suite_change quota_updates[] = {
    { "spec/hard", "{'pods':'6'}", NULL },
    { "spec/hard", "{'pods':'-6'}",
      "spec.hard[pods]: Invalid value: '-6': must be greater than or equal to 0" },
    { "spec/scopes", "['BestEffort']",
      "spec.scopes: Invalid value: ['BestEffort']: field is immutable" },
};

static const struct suite_change quota_statuses[] = {
    { "status", "{'hard':{'pods':'5'},'used':{'pods':'1'}}", NULL },
    { "status", "{'hard':{'pods':'-5'},'used':{'pods':'-1'}}",
      "status.hard[pods]: Invalid value: '-5': must be greater than or equal to 0\n"
      "status.used[pods]: Invalid value: '-1': must be greater than or equal to 0" },
};

static const struct suite_change quota_warnings[] = {
    { "spec/hard", "{'requests.cpu':'2','limits.cpu':'1'}",
      "ResourceQuota requests.cpu (2) should be less than limits.cpu (1)" },
    { "spec/hard", "{'memory':'2Gi','limits.memory':'1Gi'}",
      "ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)" },
    { "spec/hard", "{'requests.cpu':'1','limits.cpu':'1'}", NULL },
};

/* ---- Budgets that change ---- */

static const char budget[] =
    "{" META ",'spec':{'minAvailable':1,'selector':{'matchLabels':{'a':'b'}}}}";

static const struct suite_change budget_updates[] = {
    { "spec/minAvailable", "'50%'", NULL },
    { "spec/minAvailable", "'101%'",
      "spec.minAvailable: Invalid value: '101%': must not be greater than 100%" },
    { "spec/minAvailable", "-1",
      "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/maxUnavailable", "1",
      "spec: Invalid value: "
      "{'MinAvailable':1,'Selector':{'matchLabels':{'a':'b'}},'MaxUnavailable':1,'"
      "UnhealthyPodEvictionPolicy':null}: minAvailable and maxUnavailable cannot be both set" },
    { "spec/selector", "{'matchLabels':{'a':'c'}}", NULL },
    { "spec/unhealthyPodEvictionPolicy", "'Odd'",
      "spec.unhealthyPodEvictionPolicy: Unsupported value: 'Odd': supported values: 'AlwaysAllow', "
      "'IfHealthyBudget'" },
};

static const struct suite_change budget_statuses[] = {
    { "status", "{'disruptionsAllowed':1,'currentHealthy':2,'desiredHealthy':1,'expectedPods':2}",
      NULL },
    { "status",
      "{'disruptionsAllowed':-1,'currentHealthy':-2,'desiredHealthy':-1,'expectedPods':-2}",
      "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0\n"
      "status.currentHealthy: Invalid value: -2: must be greater than or equal to 0\n"
      "status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0\n"
      "status.expectedPods: Invalid value: -2: must be greater than or equal to 0" },
    { "status",
      "{'disruptionsAllowed':0,'currentHealthy':0,'desiredHealthy':0,'expectedPods':0,'conditions':"
      "[{'type':'a b','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}]}",
      "status.conditions[0].type: Invalid value: 'a b': " QUALIFIED_NAME },
};

static const char runtime[] = "{" CLUSTER_META ",'handler':'h'}";

static const struct suite_change runtimes[] = {
    { "handler", "''", "handler: Required value" },
    { "handler", "'A'", "handler: Invalid value: 'A': " DNS_LABEL },
    { "overhead", "{'podFixed':{'cpu':'-1'}}",
      "overhead.limits[cpu]: Invalid value: '-1': must be greater than or equal to 0" },
    { "overhead", "{'podFixed':{'plain':'1'}}",
      "overhead.limits[plain]: Invalid value: 'plain': must be a standard resource type or fully "
      "qualified\n"
      "overhead.limits[plain]: Invalid value: 'plain': must be a standard resource for "
      "containers" },
    { "scheduling", "{'nodeSelector':{'a b':'c'}}",
      "scheduling.nodeSelector: Invalid value: 'a b': " QUALIFIED_NAME },
    { "scheduling", "{'tolerations':[{'operator':'Near'}]}",
      "scheduling.tolerations[0].operator: Invalid value: 'Near': operator must be Exists when "
      "`key` is empty, which means 'match all values and all keys'\n"
      "scheduling.tolerations[0].operator: Unsupported value: 'Near': supported values: 'Equal', "
      "'Exists'" },
    { "scheduling",
      "{'tolerations':[{'key':'a','operator':'Exists'},{'key':'a','operator':'Exists'}]}",
      "scheduling.tolerations[1]: Duplicate value: "
      "{'Key':'a','Operator':'Exists','Value':'','Effect':'','TolerationSeconds':null}" },
};

static const struct suite_change runtime_updates[] = {
    { "handler", "'i'", "handler: Invalid value: 'i': field is immutable" },
    { "overhead", "{'podFixed':{'cpu':'1'}}", NULL },
};

static const struct suite_change runtime_warnings[] = {
    { "scheduling", "{'nodeSelector':{'beta.kubernetes.io/os':'linux'}}",
      "scheduling.nodeSelector: deprecated since v1.14; use 'kubernetes.io/os' instead" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("autoscaling/v2", "HorizontalPodAutoscaler", autoscalers_base, autoscalers),
        SUITE_CREATES("policy/v1", "PodDisruptionBudget", budgets_base, budgets),
        SUITE_UPDATES_SUB("policy/v1", "PodDisruptionBudget", "status", budgets_base,
                          budgets_statuses),
        SUITE_CREATES("scheduling.k8s.io/v1", "PriorityClass", priority_classes_base,
                      priority_classes),
        SUITE_UPDATES("scheduling.k8s.io/v1", "PriorityClass", priority_classes_base,
                      priority_classes_changes),
        SUITE_CREATES("node.k8s.io/v1", "RuntimeClass", runtime_classes_base, runtime_classes),
        SUITE_UPDATES("node.k8s.io/v1", "RuntimeClass", runtime_classes_base,
                      runtime_classes_changes),
        SUITE_CREATES("v1", "LimitRange", limits_base, limits),
        SUITE_CREATES("v1", "ResourceQuota", quotas_base, quotas),
        SUITE_UPDATES("v1", "ResourceQuota", quotas_base, quotas_changes),
        SUITE_CREATES("v1", "LimitRange", limit_range, limit_orders),
        SUITE_UPDATES("v1", "LimitRange", limit_range, limit_updates),
        SUITE_CREATES("v1", "ResourceQuota", quota, quota_scopes),
        SUITE_UPDATES("v1", "ResourceQuota", quota, quota_updates),
        SUITE_UPDATES_SUB("v1", "ResourceQuota", "status", quota, quota_statuses),
        SUITE_WARNS("v1", "ResourceQuota", quota, quota_warnings),
        SUITE_UPDATES("policy/v1", "PodDisruptionBudget", budget, budget_updates),
        SUITE_UPDATES_SUB("policy/v1", "PodDisruptionBudget", "status", budget, budget_statuses),
        SUITE_CREATES("node.k8s.io/v1", "RuntimeClass", runtime, runtimes),
        SUITE_UPDATES("node.k8s.io/v1", "RuntimeClass", runtime, runtime_updates),
        SUITE_WARNS("node.k8s.io/v1", "RuntimeClass", runtime, runtime_warnings),
    };
    return SUITE_MAIN(tables);
}
