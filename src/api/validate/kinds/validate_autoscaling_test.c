/* Autoscalers: what they look at, how fast they act, what they report. */
#include "api/validate/suite_validate.h"

static const char scaler[] = "{" META ",'spec':{'minReplicas':1,'maxReplicas':3,'scaleTargetRef':{'"
                             "apiVersion':'apps/v1','kind':'Deployment','name':'d'}}}";

/* ---- Targets ---- */

static const struct suite_change targets[] = {
    { "spec/minReplicas", "4",
      "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`" },
    { "spec/minReplicas", "-1",
      "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/maxReplicas", "-1",
      "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`\n"
      "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1" },
    { "spec/scaleTargetRef/kind", "''", "spec.scaleTargetRef.kind: Required value" },
    { "spec/scaleTargetRef/kind", "'a/b'",
      "spec.scaleTargetRef.kind: Invalid value: 'a/b': may not contain '/'" },
    { "spec/scaleTargetRef/name", "''", "spec.scaleTargetRef.name: Required value" },
    { "spec/scaleTargetRef/apiVersion", "'a/b/c'",
      "spec.scaleTargetRef.apiVersion: Invalid value: 'a/b/c': unexpected GroupVersion string: "
      "a/b/c" },
    { "spec/scaleTargetRef/apiVersion", "'/v1'",
      "spec.scaleTargetRef.apiVersion: Invalid value: '/v1': apiVersion must specify API group" },
    { "spec/scaleTargetRef/apiVersion", "'v1'",
      "spec.scaleTargetRef.apiVersion: Invalid value: 'v1': apiVersion must specify API group" },
};

/* ---- Metrics ---- */

static const struct suite_change metrics[] = {
    { "spec/metrics", "[{'type':''}]",
      "spec.metrics[0].type: Required value: must specify a metric source type\n"
      "spec.metrics[0].type: Unsupported value: '': supported values: 'ContainerResource', "
      "'External', 'Object', 'Pods', 'Resource'" },
    { "spec/metrics", "[{'type':'Odd'}]",
      "spec.metrics[0].type: Unsupported value: 'Odd': supported values: 'ContainerResource', "
      "'External', 'Object', 'Pods', 'Resource'" },
    { "spec/metrics", "[{'type':'Resource'}]",
      "spec.metrics[0].resource: Required value: must populate information for the given metric "
      "source" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','"
      "averageUtilization':0}}}]",
      "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than "
      "0" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'','target':{'type':'Utilization','"
      "averageUtilization':50}}}]",
      "spec.metrics[0].resource.name: Required value: must specify a resource name" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'','averageUtilization':50}}}"
      "]",
      "spec.metrics[0].resource.target.type: Required value: must specify a metric target type\n"
      "spec.metrics[0].resource.target.type: Invalid value: '': must be either Utilization, Value, "
      "or AverageValue" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Odd','averageUtilization':50}"
      "}}]",
      "spec.metrics[0].resource.target.type: Invalid value: 'Odd': must be either Utilization, "
      "Value, or AverageValue" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization'}}}]",
      "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a "
      "target raw value or a target utilization" },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'AverageValue','averageValue':"
      "'100m'}}}]",
      NULL },
    { "spec/metrics",
      "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','"
      "averageUtilization':50,'averageValue':'1'}}}]",
      "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw "
      "value and a target utilization" },
    { "spec/metrics",
      "[{'type':'ContainerResource','containerResource':{'name':'cpu','container':'c','target':{'"
      "type':'Utilization','averageUtilization':50}}}]",
      NULL },
    { "spec/metrics",
      "[{'type':'ContainerResource','containerResource':{'name':'','container':'','target':{'type':"
      "'Utilization','averageUtilization':50}}}]",
      "spec.metrics[0].containerResource.name: Required value: must specify a resource name\n"
      "spec.metrics[0].containerResource.container: Required value: must specify a container" },
    { "spec/metrics",
      "[{'type':'ContainerResource','containerResource':{'name':'plain','container':'A','target':{'"
      "type':'Utilization','averageUtilization':50}}}]",
      "spec.metrics[0].containerResource.name: Invalid value: 'plain': must be a standard resource "
      "type or fully qualified\n"
      "spec.metrics[0].containerResource.name: Invalid value: 'plain': must be a standard resource "
      "for containers\n"
      "spec.metrics[0].containerResource.container: Invalid value: 'A': " DNS_LABEL },
    { "spec/metrics",
      "[{'type':'Pods','pods':{'metric':{'name':'m'},'target':{'type':'AverageValue','averageValue'"
      ":'1'}}}]",
      NULL },
    { "spec/metrics",
      "[{'type':'Pods','pods':{'metric':{'name':''},'target':{'type':'AverageValue','averageValue':"
      "'0'}}}]",
      "spec.metrics[0].pods.metric.name: Required value: must specify a metric name\n"
      "spec.metrics[0].pods.target.averageValue: Invalid value: '0': must be positive" },
    { "spec/metrics",
      "[{'type':'Pods','pods':{'metric':{'name':'a/b'},'target':{'type':'Value','value':'1'}}}]",
      "spec.metrics[0].pods.metric.name: Invalid value: 'a/b': may not contain '/'\n"
      "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target "
      "averageValue" },
    { "spec/metrics",
      "[{'type':'Object','object':{'describedObject':{'kind':'K','name':'n','apiVersion':'v1'},'"
      "metric':{'name':'m'},'target':{'type':'Value','value':'1'}}}]",
      NULL },
    { "spec/metrics",
      "[{'type':'Object','object':{'describedObject':{'kind':'','name':''},'metric':{'name':'m'},'"
      "target':{'type':'Value'}}}]",
      "spec.metrics[0].object.describedObject.kind: Required value\n"
      "spec.metrics[0].object.describedObject.name: Required value\n"
      "spec.metrics[0].object.target.averageValue: Required value: must set either a target value "
      "or averageValue" },
    { "spec/metrics",
      "[{'type':'External','external':{'metric':{'name':'m'},'target':{'type':'Value','value':'1'}}"
      "}]",
      NULL },
    { "spec/metrics",
      "[{'type':'External','external':{'metric':{'name':'m'},'target':{'type':'Value','value':'1','"
      "averageValue':'1'}}}]",
      "spec.metrics[0].external.target.value: Forbidden: may not set both a target value for "
      "metric and a per-pod target" },
    { "spec/metrics",
      "[{'type':'External','external':{'metric':{'name':'m'},'target':{'type':'AverageValue'}}}]",
      "spec.metrics[0].external.target.averageValue: Required value: must set either a target "
      "value for metric or a per-pod target" },
    { "spec/metrics",
      "[{'type':'External','external':{'metric':{'name':'m','selector':{'matchLabels':{'a':'b "
      "c'}}},'target':{'type':'Value','value':'-1'}}}]",
      "spec.metrics[0].external.target.value: Invalid value: '-1': must be positive" },
    { "spec/metrics",
      "[{'type':'External','external':{'metric':{'name':'m'},'target':{'type':'Value','value':'1'}}"
      ",'pods':{'metric':{'name':'m'},'target':{'type':'AverageValue','averageValue':'1'}}}]",
      "spec.metrics[0].pods: Forbidden: must populate the given metric source only" },
};

/* ---- Speed ---- */

static const struct suite_change behaviors[] = {
    { "spec/behavior",
      "{'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','policies':[{'type':'Pods','"
      "value':4,'periodSeconds':60}]}}",
      NULL },
    { "spec/behavior", "{'scaleUp':{'stabilizationWindowSeconds':-1}}",
      "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than "
      "or equal to zero" },
    { "spec/behavior", "{'scaleUp':{'stabilizationWindowSeconds':3601}}",
      "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or "
      "equal to 3600" },
    { "spec/behavior", "{'scaleDown':{'selectPolicy':'Some'}}",
      "spec.behavior.scaleDown.selectPolicy: Unsupported value: 'Some': supported values: "
      "'Disabled', 'Max', 'Min'" },
    { "spec/behavior", "{'scaleDown':{'selectPolicy':'Disabled'}}", NULL },
    { "spec/behavior", "{'scaleDown':{'policies':[{'type':'Odd','value':1,'periodSeconds':1}]}}",
      "spec.behavior.scaleDown.policies[0].type: Unsupported value: 'Odd': supported values: "
      "'Percent', 'Pods'" },
    { "spec/behavior",
      "{'scaleDown':{'policies':[{'type':'Percent','value':0,'periodSeconds':0}]}}",
      "spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero\n"
      "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than "
      "zero" },
    { "spec/behavior",
      "{'scaleDown':{'policies':[{'type':'Percent','value':1,'periodSeconds':1801}]}}",
      "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than "
      "or equal to 1800" },
    { "spec/behavior", "{'scaleUp':{'tolerance':'-1'}}",
      "spec.behavior.scaleUp.tolerance: Invalid value: '-1': must be greater than or equal to 0" },
};

/* ---- Changes and statuses ---- */

static const struct suite_change changes[] = {
    { "spec/maxReplicas", "5", NULL },
    { "spec/maxReplicas", "0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`\n"
      "spec.maxReplicas: Required value" },
    { "spec/scaleTargetRef/apiVersion", "'/v1'",
      "spec.scaleTargetRef.apiVersion: Invalid value: '/v1': apiVersion must specify API group" },
};

static const struct suite_change statuses[] = {
    { "status", "{'currentReplicas':1,'desiredReplicas':2}", NULL },
    { "status", "{'currentReplicas':-1,'desiredReplicas':-2}",
      "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0\n"
      "status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("autoscaling/v2", "HorizontalPodAutoscaler", scaler, targets),
        SUITE_CREATES("autoscaling/v2", "HorizontalPodAutoscaler", scaler, metrics),
        SUITE_CREATES("autoscaling/v2", "HorizontalPodAutoscaler", scaler, behaviors),
        SUITE_UPDATES("autoscaling/v2", "HorizontalPodAutoscaler", scaler, changes),
        SUITE_UPDATES_SUB("autoscaling/v2", "HorizontalPodAutoscaler", "status", scaler, statuses),
    };
    return SUITE_MAIN(tables);
}
