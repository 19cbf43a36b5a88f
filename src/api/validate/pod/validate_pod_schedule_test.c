/* Where a pod may run: affinities, tolerations, spreading. */
#include "api/validate/suite_validate.h"

#define CONTAINERS "'containers':[{'name':'c','image':'c:1'}]"

static const char bare_pod[] = "{" META ",'spec':{" CONTAINERS "}}";

/* ---- Nodes ---- */

#define REQUIRED  "nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution"

static const struct suite_change node_affinities[] = {
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'In',"
      "'values':['b']}]}]}}}",
      NULL },
    { "spec/affinity", "{'" REQUIRED "':{'nodeSelectorTerms':[]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms:"
      " Required value: must have at least one node selector term" },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a b','operator':'In',"
      "'values':['c']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].key: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/affinity",
      "{'" REQUIRED
      "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'In'}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
      "'NotIn'" },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists',"
      "'values':['b']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' "
      "or 'DoesNotExist'" },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Gt',"
      "'values':['1','2']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].values: Required value: must be specified single value when "
      "`operator` is 'Lt' or 'Gt'" },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Gt',"
      "'values':['1']}]}]}}}",
      NULL },
    { "spec/affinity",
      "{'" REQUIRED
      "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Near'}]}]}}"
      "}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].operator: Invalid value: 'Near': not a valid selector operator" },
    { "spec/affinity",
      "{'" REQUIRED
      "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
      "'values':['n1']}]}]}}}",
      NULL },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.uid','operator':'In',"
      "'values':['n1']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchFields[0].key: Invalid value: 'metadata.uid': not a valid field selector key" },
    { "spec/affinity",
      "{'" REQUIRED
      "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
      "'values':['n1','n2']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchFields[0].values: Required value: must be only one value when `operator` is 'In' or "
      "'NotIn' for node field selector" },
    { "spec/affinity",
      "{'" REQUIRED "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
      "'operator':'Exists'}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchFields[0].operator: Invalid value: 'Exists': not a valid selector operator" },
    { "spec/affinity",
      "{'" REQUIRED
      "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
      "'values':['A_b']}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchFields[0].values[0]: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/affinity",
      "{'" PREFERRED "':[{'weight':1,'preference':{'matchExpressions':[{'key':'a',"
      "'operator':'DoesNotExist'}]}}]}}",
      NULL },
    { "spec/affinity", "{'" PREFERRED "':[{'weight':0,'preference':{}}]}}",
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
      "Invalid value: 0: must be in the range 1-100" },
    { "spec/affinity",
      "{'" PREFERRED "':[{'weight':101,'preference':{'matchExpressions':[{'key':'a',"
      "'operator':'NotIn','values':['b c']}]}}]}}",
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
      "Invalid value: 101: must be in the range 1-100" },
    { "spec/nodeSelector", "{'a b':'c'}",
      "spec.nodeSelector: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/nodeSelector", "{'a':'b c'}", "spec.nodeSelector: Invalid value: 'b c': " LABEL_VALUE },
    { "spec/nodeSelector", "{'a':'b'}", NULL },
};

/* ---- Pods ---- */

#define TERM(more)  "{'topologyKey':'zone'" more "}"
#define NEAR(terms) "{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}}"
#define RATHER(terms) \
    "{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]}}"
#define APART(terms) \
    "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}}"

static const struct suite_change pod_affinities[] = {
    { "spec/affinity", NEAR(TERM(",'labelSelector':{'matchLabels':{'a':'b'}}")), NULL },
    { "spec/affinity", NEAR("{'topologyKey':''}"),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Required value: can not be empty\n"
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Invalid value: '': name part must be non-empty\n"
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Invalid value: '': " QUALIFIED_NAME },
    { "spec/affinity", NEAR("{'topologyKey':'a b'}"),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/affinity", NEAR(TERM(",'labelSelector':{'matchLabels':{'a':'-'}}")),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
      "matchLabels: Invalid value: '-': " LABEL_VALUE },
    { "spec/affinity",
      NEAR(TERM(",'labelSelector':{'matchExpressions':[{'key':'a','operator':'In'}]}")),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
      "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
      "'NotIn'" },
    { "spec/affinity",
      NEAR(TERM(",'namespaceSelector':{'matchExpressions':[{'key':'a','operator':'Exists',"
                "'values':['b']}]}")),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "namespaceSelector.matchExpressions[0].values: Forbidden: may not be specified when "
      "`operator` is 'Exists' or 'DoesNotExist'" },
    { "spec/affinity", NEAR(TERM(",'namespaces':['A']")),
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: "
      "Invalid value: 'A': " DNS_LABEL },
    { "spec/affinity", APART(TERM(",'namespaces':['a','b.c']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: "
      "Invalid value: 'b.c': must not contain dots" },
    { "spec/affinity", APART(TERM(",'matchLabelKeys':['a']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set" },
    { "spec/affinity", APART(TERM(",'mismatchLabelKeys':['a']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set" },
    { "spec/affinity", APART(TERM(",'labelSelector':{},'matchLabelKeys':['a b']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "matchLabelKeys[0]: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/affinity",
      APART(TERM(",'labelSelector':{},'matchLabelKeys':['a'],'mismatchLabelKeys':['a']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "matchLabelKeys[0]: Invalid value: 'a': exists in both matchLabelKeys and "
      "mismatchLabelKeys" },
    { "spec/affinity",
      APART(TERM(",'labelSelector':{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'a',"
                 "'operator':'In','values':['b']}]},'matchLabelKeys':['a']")),
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]: Invalid "
      "value: 'a': exists in both matchLabelKeys and labelSelector" },
    { "spec/affinity", RATHER("{'weight':100,'podAffinityTerm':" TERM("") "}"), NULL },
    { "spec/affinity", RATHER("{'weight':-1,'podAffinityTerm':" TERM("") "}"),
      "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
      "Invalid value: -1: must be in the range 1-100" },
    { "spec/affinity", RATHER("{'weight':1,'podAffinityTerm':{}}"),
      "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
      "podAffinityTerm.topologyKey: Required value: can not be empty\n"
      "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
      "podAffinityTerm.topologyKey: Invalid value: '': name part must be non-empty\n"
      "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
      "podAffinityTerm.topologyKey: Invalid value: '': " QUALIFIED_NAME },
};

/* ---- Tolerations ---- */

static const struct suite_change tolerations[] = {
    { "spec/tolerations", "[{'key':'a','value':'b','effect':'NoSchedule'}]", NULL },
    { "spec/tolerations", "[{'operator':'Exists'}]", NULL },
    { "spec/tolerations", "[{'operator':'Equal','value':'b'}]",
      "spec.tolerations[0].operator: Invalid value: 'Equal': operator must be Exists when `key` is "
      "empty, which means 'match all values and all keys'" },
    { "spec/tolerations", "[{'key':'a','operator':'Exists','value':'b'}]",
      "spec.tolerations[0].operator: Invalid value: 'b': value must be empty when `operator` is "
      "'Exists'" },
    { "spec/tolerations", "[{'key':'a','operator':'Equal','value':'b c'}]",
      "spec.tolerations[0].operator: Invalid value: 'b c': " LABEL_VALUE },
    { "spec/tolerations", "[{'key':'a','operator':'Near'}]",
      "spec.tolerations[0].operator: Unsupported value: 'Near': supported values: 'Equal', "
      "'Exists'" },
    { "spec/tolerations", "[{'key':'a','operator':'Gt','value':'5'}]",
      "spec.tolerations[0].operator: Unsupported value: 'Gt': supported values: 'Equal', 'Exists', "
      "'Lt', 'Gt'" },
    { "spec/tolerations", "[{'key':'a','operator':'Exists','effect':'Evict'}]",
      "spec.tolerations[0].effect: Unsupported value: 'Evict': supported values: 'NoSchedule', "
      "'PreferNoSchedule', 'NoExecute'" },
    { "spec/tolerations", "[{'key':'a','operator':'Exists','tolerationSeconds':5}]",
      "spec.tolerations[0].effect: Invalid value: '': effect must be 'NoExecute' when "
      "`tolerationSeconds` is set" },
    { "spec/tolerations",
      "[{'key':'a','operator':'Exists','effect':'NoExecute','tolerationSeconds':-5}]", NULL },
    { "spec/tolerations",
      "[{'key':'a','operator':'Exists','effect':'NoSchedule','tolerationSeconds':5}]",
      "spec.tolerations[0].effect: Invalid value: 'NoSchedule': effect must be 'NoExecute' when "
      "`tolerationSeconds` is set" },
};

/* ---- Spreading ---- */

#define SPREAD(more) \
    "[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'" more "}]"

static const struct suite_change spreading[] = {
    { "spec/topologySpreadConstraints", SPREAD(""), NULL },
    { "spec/topologySpreadConstraints", SPREAD(",'minDomains':3"), NULL },
    { "spec/topologySpreadConstraints", SPREAD(",'minDomains':0"),
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway','minDomains':1}]",
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if "
      "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'Never'}]",
      "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: 'Never': supported "
      "values: 'DoNotSchedule', 'ScheduleAnyway'" },
    { "spec/topologySpreadConstraints", "[{'maxSkew':-1,'topologyKey':'','whenUnsatisfiable':''}]",
      "spec.topologySpreadConstraints[0].maxSkew: Invalid value: -1: must be greater than zero\n"
      "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty\n"
      "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: '': supported "
      "values: 'DoNotSchedule', 'ScheduleAnyway'" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'a b','whenUnsatisfiable':'ScheduleAnyway'}]", NULL },
    { "spec/topologySpreadConstraints", SPREAD(",'nodeAffinityPolicy':'Honor'"), NULL },
    { "spec/topologySpreadConstraints", SPREAD(",'nodeAffinityPolicy':'Obey'"),
      "spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: 'Obey': supported "
      "values: 'Honor', 'Ignore'" },
    { "spec/topologySpreadConstraints", SPREAD(",'nodeTaintsPolicy':''"),
      "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: '': supported "
      "values: 'Honor', 'Ignore'" },
    { "spec/topologySpreadConstraints", SPREAD(",'matchLabelKeys':['a']"),
      "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when "
      "labelSelector is not set" },
    { "spec/topologySpreadConstraints", SPREAD(",'labelSelector':{},'matchLabelKeys':['a']"),
      NULL },
    { "spec/topologySpreadConstraints", SPREAD(",'labelSelector':{},'matchLabelKeys':['a b']"),
      "spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: 'a "
      "b': " QUALIFIED_NAME },
    { "spec/topologySpreadConstraints",
      SPREAD(",'labelSelector':{'matchLabels':{'a':'b'}},'matchLabelKeys':['a']"), NULL },
    { "spec/topologySpreadConstraints",
      SPREAD(",'labelSelector':{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'a','operator':"
             "'In','values':['b']}]},'matchLabelKeys':['a']"),
      "spec.topologySpreadConstraints[0][0]: Invalid value: 'a': exists in both matchLabelKeys and "
      "labelSelector" },
    { "spec/topologySpreadConstraints", SPREAD(",'labelSelector':{'matchLabels':{'a':'b c'}}"),
      "spec.topologySpreadConstraints[0].labelSelector.matchLabels: Invalid value: 'b "
      "c': " LABEL_VALUE },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'},{'maxSkew':2,"
      "'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'}]",
      "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
      "'{zone, DoNotSchedule}'" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'},{'maxSkew':2,"
      "'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway'}]",
      NULL },
};

static const char spread_pod[] =
    "{" META ",'spec':{" CONTAINERS
    ",'topologySpreadConstraints':" SPREAD(",'labelSelector':{'matchLabels':{'a':'b c'}}") "}}";

/* A pod that has got a bad selector into the store can still be changed otherwise. */
static const struct suite_change kept_spreading[] = {
    { "spec/tolerations", "[{'key':'a','operator':'Exists'}]", NULL },
    { "metadata/labels", "{'a':'b'}", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", bare_pod, node_affinities),
        SUITE_CREATES("v1", "Pod", bare_pod, pod_affinities),
        SUITE_CREATES("v1", "Pod", bare_pod, tolerations),
        SUITE_CREATES("v1", "Pod", bare_pod, spreading),
        SUITE_UPDATES("v1", "Pod", spread_pod, kept_spreading),
    };
    return SUITE_MAIN(tables);
}
