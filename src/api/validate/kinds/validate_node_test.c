/* Nodes: taints, addresses, what a kubelet reports, and what may change. */
#include "api/validate/suite_validate.h"

static const char node[] =
    "{" CLUSTER_META ",'spec':{'podCIDRs':['10.0.0.0/"
    "24']},'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.1'}]}}";

static const struct suite_change nodes[] = {
    { "spec/taints", "[{'key':'','effect':'NoExecute'}]",
      "metadata.taints[0].key: Invalid value: '': name part must be non-empty\n"
      "metadata.taints[0].key: Invalid value: '': " QUALIFIED_NAME },
    { "spec/taints",
      "[{'key':'a','value':'b','effect':'NoSchedule'},{'key':'a','value':'c','effect':'NoExecute'}"
      "]",
      NULL },
    { "spec/podCIDRs", "['10.0.0.0/24','fd00::/64']", NULL },
    { "spec/podCIDRs", "['10.0.0.0/24','10.1.0.0/24']",
      "spec.podCIDRs: Invalid value: ['10.0.0.0/24','10.1.0.0/24']: may specify no more than one "
      "CIDR for each IP family" },
    { "spec/podCIDRs", "['10.0.0.1/24']",
      "spec.podCIDRs[0]: Invalid value: '10.0.0.1/24': must not have bits set beyond the prefix "
      "length" },
    { "spec/podCIDRs", "['all']",
      "spec.podCIDRs[0]: Invalid value: 'all': must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
      "2001:db8::/64)" },
    { "status/capacity", "{'cpu':'1','example.com/gpu':'2'}", NULL },
    { "status/capacity", "{'plain':'1'}", NULL },
    { "status/capacity", "{'hugepages-2Mi':'3Mi'}", NULL },
    { "status/allocatable", "{'memory':'-1'}",
      "status.allocatable.memory: Invalid value: '-1': must be greater than or equal to 0" },
    { "metadata/annotations",
      "{'scheduler.alpha.kubernetes.io/"
      "taints':'[{\\u0022key\\u0022:\\u0022\\u0022,\\u0022effect\\u0022:\\u0022NoExecute\\u0022}]'"
      "}",
      "metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].key: Invalid value: '': name "
      "part must be non-empty\n"
      "metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].key: Invalid value: "
      "'': " QUALIFIED_NAME },
    { "metadata/annotations",
      "{'scheduler.alpha.kubernetes.io/"
      "preferAvoidPods':'{\\u0022preferAvoidPods\\u0022:[{\\u0022podSignature\\u0022:{}}]}'}",
      "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: "
      "Required value" },
    { "metadata/annotations",
      "{'scheduler.alpha.kubernetes.io/"
      "preferAvoidPods':'{\\u0022preferAvoidPods\\u0022:[{\\u0022podSignature\\u0022:{"
      "\\u0022podController\\u0022:{\\u0022name\\u0022:\\u0022a\\u0022}}}]}'}",
      "metadata.annotations.scheduler.alpha.kubernetes.io/"
      "preferAvoidPods[0].PodSignature.PodController.Controller: Invalid value: false: must point "
      "to a controller" },
};

/* ---- Changes ---- */

static const struct suite_change node_changes[] = {
    { "spec/taints", "[{'key':'a','effect':'NoExecute'}]", NULL },
    { "spec/podCIDRs", "['10.0.0.0/24','fd00::/64']",
      "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from '' to valid" },
    { "spec/podCIDRs", NULL,
      "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from '' to valid" },
    { "spec/providerID", "'p'", NULL },
    { "status/addresses",
      "[{'type':'InternalIP','address':'10.0.0.2'},{'type':'Hostname','address':'h'}]", NULL },
    { "metadata/labels", "{'a':'b'}", NULL },
    { "status/declaredFeatures", "['A','B']", NULL },
    { "status/declaredFeatures", "['B','A']",
      "status.declaredFeatures[1]: Invalid value: 'A': list must be sorted alphabetically" },
    { "status/declaredFeatures", "['A','A']", "status.declaredFeatures[1]: Duplicate value: 'A'" },
    { "spec/configSource", "{'configMap':{'namespace':'n','name':'m','kubeletConfigKey':'k'}}",
      NULL },
    { "spec/configSource", "{'configMap':{'namespace':'','name':'','kubeletConfigKey':''}}",
      "spec.configSource.configMap.namespace: Required value\n"
      "spec.configSource.configMap.name: Required value\n"
      "spec.configSource.configMap.kubeletConfigKey: Required value" },
    { "spec/configSource",
      "{'configMap':{'namespace':'n','name':'m','kubeletConfigKey':'k','uid':'u','resourceVersion':"
      "'1'}}",
      "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec\n"
      "spec.configSource.configMap.resourceVersion: Forbidden: resourceVersion must not be set in "
      "spec" },
    { "status/config",
      "{'assigned':{'configMap':{'namespace':'n','name':'m','kubeletConfigKey':'k'}}}",
      "status.config.assigned.configMap.uid: Required value\n"
      "status.config.assigned.configMap.resourceVersion: Required value" },
};

static const struct suite_change node_statuses[] = {
    { "status/nodeInfo", "{'swap':{'capacity':0}}",
      "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero" },
    { "status/capacity", "{'cpu':'-1'}",
      "status.capacity.cpu: Invalid value: '-1': must be greater than or equal to 0\n"
      "status.allocatable.cpu: Invalid value: '-1': must be greater than or equal to 0" },
    { "status/config",
      "{'active':{'configMap':{'namespace':'n','name':'m','kubeletConfigKey':'k','uid':'u','"
      "resourceVersion':'1'}}}",
      NULL },
};

/* ---- Warnings ---- */

static const struct suite_change node_warnings[] = {
    { "spec/configSource", "{'configMap':{'namespace':'n','name':'m','kubeletConfigKey':'k'}}",
      "spec.configSource: the feature is removed" },
    { "spec/externalID", "'x'",
      "spec.externalID: this field is deprecated, and is unused by Kubernetes" },
    { "spec/podCIDRs", "['10.0.0.1/24']",
      "spec.podCIDRs[0]: CIDR value '10.0.0.1/24' is ambiguous in this context (should be "
      "'10.0.0.0/24' or '10.0.0.1/32'?)" },
    { "metadata/labels", "{'beta.kubernetes.io/os':'linux'}", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Node", node, nodes),
        SUITE_UPDATES("v1", "Node", node, node_changes),
        SUITE_UPDATES_SUB("v1", "Node", "status", node, node_statuses),
        SUITE_WARNS("v1", "Node", node, node_warnings),
    };
    return SUITE_MAIN(tables);
}
