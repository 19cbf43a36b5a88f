/* The small core kinds, nodes, events and endpoints. */
#include "api/validate/suite_validate.h"

static const char config_maps_base[] = "{" META ",'data':{'k':'v'},'binaryData':{'b':'AA=='}}";

static const struct suite_change config_maps[] = {
    { "data/bad key", "'x'", "data[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
    { "data/", "'x'", "data[]: Invalid value: '': " CONFIG_KEY },
    { "data/b", "'x'", "data[b]: Invalid value: 'b': duplicate of key present in binaryData" },
    { "binaryData/bad key", "'AA=='",
      "binaryData[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
    { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
};

static const char immutable_config_maps_base[] = "{" META ",'data':{'k':'v'},'immutable':true}";

static const struct suite_change immutable_config_maps_changes[] = {
    { "data/k", "'w'", "data: Forbidden: field is immutable when `immutable` is set" },
    { "immutable", "false", "immutable: Forbidden: field is immutable when `immutable` is set" },
    { "immutable", NULL, "immutable: Forbidden: field is immutable when `immutable` is set" },
    { "binaryData", "{'b':'AA=='}",
      "binaryData: Forbidden: field is immutable when `immutable` is set" },
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const char secrets_base[] = "{" META ",'data':{'k':'AA=='}}";

static const struct suite_change secrets[] = {
    { "data/bad key", "'AA=='", "data[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
    { "type", "'kubernetes.io/tls'",
      "data[tls.crt]: Required value\n"
      "data[tls.key]: Required value" },
    { "type", "'kubernetes.io/basic-auth'",
      "data[username]: Required value\n"
      "data[password]: Required value" },
    { "type", "'kubernetes.io/ssh-auth'", "data[ssh-privatekey]: Required value" },
    { "type", "'kubernetes.io/dockercfg'", "data[.dockercfg]: Required value" },
    { "type", "'kubernetes.io/service-account-token'",
      "metadata.annotations[kubernetes.io/service-account.name]: Required value" },
    { "type", "'example.com/any'", NULL },
};

static const char docker_secrets_base[] =
    "{" META ",'type':'kubernetes.io/dockerconfigjson','data':{'.dockerconfigjson':'e30='}}";

static const struct suite_change docker_secrets[] = {
    { "data/.dockerconfigjson", "'aGk='",
      "data[.dockerconfigjson]: Invalid value: '<secret contents redacted>': invalid character "
      "'h' looking for beginning of value" },
    { "data/.dockerconfigjson", "'ew=='",
      "data[.dockerconfigjson]: Invalid value: '<secret contents redacted>': unexpected end of "
      "JSON input" },
    { "data/.dockerconfigjson", "'W10='",
      "data[.dockerconfigjson]: Invalid value: '<secret contents redacted>': json: cannot "
      "unmarshal array into Go value of type map[string]interface {}" },
    { "data/.dockerconfigjson", NULL, "data[.dockerconfigjson]: Required value" },
};

static const struct suite_change docker_secrets_changes[] = {
    { "type", "'Opaque'", "type: Invalid value: 'Opaque': field is immutable" },
    { "data/more", "'AA=='", NULL },
};

static const char namespaces_base[] = "{" CLUSTER_META "}";

static const struct suite_change namespaces[] = {
    { "spec/finalizers", "['hold']",
      "spec.finalizers: Invalid value: 'hold': name is neither a standard finalizer name nor "
      "is it fully qualified" },
    { "spec/finalizers", "['example.com/hold']", NULL },
    { "spec/finalizers", "['a b/c']",
      "spec.finalizers: Invalid value: 'a b/c': prefix part " SUBDOMAIN },
    { "metadata/name", "'a.b'", "metadata.name: Invalid value: 'a.b': must not contain dots" },
    { "metadata/namespace", "'n'", "metadata.namespace: Forbidden: not allowed on this type" },
};

static const struct suite_change namespaces_finalized[] = {
    { "spec/finalizers", "['hold']",
      "spec.finalizers[0]: Invalid value: 'hold': name is neither a standard finalizer name "
      "nor is it fully qualified" },
};

static const struct suite_change namespaces_statuses[] = {
    { "status", "{'phase':'Terminating'}",
      "status.Phase: Invalid value: 'Terminating': may only be 'Active' if `deletionTimestamp` "
      "is empty" },
};

static const char nodes_base[] =
    "{" CLUSTER_META ",'spec':{'podCIDRs':['10.0.0.0/24'],'providerID':'p'}}";

static const struct suite_change nodes[] = {
    { "spec/taints", "[{'key':'a'}]", "metadata.taints[0].effect: Required value" },
    { "spec/taints", "[{'key':'a','effect':'Evict'}]",
      "metadata.taints[0].effect: Unsupported value: 'Evict': supported values: 'NoSchedule', "
      "'PreferNoSchedule', 'NoExecute'" },
    { "spec/taints", "[{'key':'a','effect':'NoExecute'},{'key':'a','effect':'NoExecute'}]",
      "metadata.taints[1]: Duplicate value: "
      "{'Key':'a','Value':'','Effect':'NoExecute','TimeAdded':null}: taints must be unique by "
      "key and effect pair" },
    { "spec/taints", "[{'key':'a','value':'b c','effect':'NoExecute'}]",
      "metadata.taints[0].value: Invalid value: 'b c': " LABEL_VALUE },
    { "status/capacity", "{'cpu':'-1'}",
      "status.capacity.cpu: Invalid value: '-1': must be greater than or equal to 0\n"
      "status.allocatable.cpu: Invalid value: '-1': must be greater than or equal to 0" },
    { "metadata/annotations", "{'scheduler.alpha.kubernetes.io/taints':'x'}",
      "metadata.annotations: Invalid value: 'scheduler.alpha.kubernetes.io/taints': invalid "
      "character 'x' looking for beginning of value" },
    { "metadata/annotations", "{'scheduler.alpha.kubernetes.io/preferAvoidPods':'{'}",
      "metadata.annotations.AvoidPods: Invalid value: "
      "'scheduler.alpha.kubernetes.io/preferAvoidPods': unexpected end of JSON input" },
};

static const struct suite_change nodes_changes[] = {
    { "spec/podCIDRs", "['10.1.0.0/24']",
      "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from '' to valid" },
    { "spec/providerID", "'q'",
      "spec.providerID: Invalid value: null: field cannot be modified once set" },
    { "spec/providerID", NULL,
      "spec.providerID: Invalid value: null: field cannot be cleared once set" },
    { "spec/externalID", "'x'", "spec.externalID: Forbidden: may not be updated" },
    { "spec/configSource", "{}",
      "spec.configSource: Invalid value: {'ConfigMap':null}: exactly one reference subfield "
      "must be non-nil" },
    { "status/addresses",
      "[{'type':'InternalIP','address':'1.2.3.4'},{'type':'InternalIP','address':'1.2.3.4'}]",
      "status.addresses[1]: Duplicate value: {'Type':'InternalIP','Address':'1.2.3.4'}" },
    { "spec/unschedulable", "true", NULL },
};

static const char core_events_base[] =
    "{" META ",'involvedObject':{'kind':'Pod','namespace':'n','name':'p'}}";

static const struct suite_change core_events[] = {
    { "involvedObject/namespace", "'other'",
      "involvedObject.namespace: Invalid value: 'other': does not match event.namespace" },
    { "involvedObject/namespace", NULL,
      "involvedObject.namespace: Invalid value: '': does not match event.namespace" },
    { "eventTime", "'2020-01-02T03:04:05.000000Z'",
      "reportingComponent: Required value\n"
      "reportingComponent: Invalid value: '': name part must be non-empty\n"
      "reportingComponent: Invalid value: '': " QUALIFIED_NAME "\n"
      "reportingInstance: Required value\n"
      "action: Required value\n"
      "reason: Required value" },
};

static const char timed_core_events_base[] =
    "{" META ",'involvedObject':{'namespace':'n'},'eventTime':'2020-01-02T03:04:05.000000Z','"
    "reportingComponent':'c','reportingInstance':'i','action':'a','reason':'r'}";

static const struct suite_change timed_core_events[] = {
    { "reportingComponent", "'a b'", "reportingComponent: Invalid value: 'a b': " QUALIFIED_NAME },
    { "reportingInstance", NULL, "reportingInstance: Required value" },
    { "action", NULL, "action: Required value" },
    { "reason", NULL, "reason: Required value" },
};

static const char events_base[] =
    "{" META ",'regarding':{'namespace':'n','name':'p'},'eventTime':'2020-01-02T03:04:05."
    "000000Z','reportingController':'c','reportingInstance':'i','action':'a','reason':"
    "'r','type':'Normal','note':'hello'}";

static const struct suite_change events[] = {
    { "type", "'Odd'", "type: Invalid value: '': has invalid value: Odd" },
    { "deprecatedCount", "1", "count: Invalid value: '': needs to be unset" },
    { "deprecatedSource", "{'host':'h'}", "source: Invalid value: '': needs to be unset" },
    { "deprecatedFirstTimestamp", "'2020-01-02T03:04:05Z'",
      "firstTimestamp: Invalid value: '': needs to be unset" },
    { "series", "{'count':1,'lastObservedTime':'2020-01-02T03:04:05.000000Z'}",
      "series.count: Invalid value: '': should be at least 2" },
    { "reportingController", NULL,
      "reportingController: Required value\n"
      "reportingController: Invalid value: '': name part must be non-empty\n"
      "reportingController: Invalid value: '': " QUALIFIED_NAME },
    { "regarding/namespace", NULL,
      "involvedObject.namespace: Invalid value: '': does not match event.namespace" },
};

static const struct suite_change events_changes[] = {
    { "reason", "'other'", "reason: Invalid value: 'other': field is immutable" },
    { "note", "'other'", "message: Invalid value: 'other': field is immutable" },
    { "type", "'Warning'", "type: Invalid value: 'Warning': field is immutable" },
    { "action", "'b'", "action: Invalid value: 'b': field is immutable" },
    { "regarding/name", "'q'",
      "involvedObject: Invalid value: "
      "{'Kind':'','Namespace':'n','Name':'q','UID':'','APIVersion':'','ResourceVersion':'','"
      "FieldPath':''}: field is immutable" },
    { "series", "{'count':2,'lastObservedTime':'2020-01-02T03:04:05.000000Z'}", NULL },
};

static const char endpoints_base[] =
    "{" META ",'subsets':[{'addresses':[{'ip':'10.1.2.3'}],'ports':[{'port':80}]}]}";

static const struct suite_change endpoints[] = {
    { "subsets/0/addresses/0/ip", "'1.2.3'",
      "subsets[0].addresses[0].ip: Invalid value: '1.2.3': must be a valid IP address, (e.g. "
      "10.9.8.7 or 2001:db8::ffff)\n"
      "subsets[0].addresses[0].ip: Invalid value: '1.2.3': must be a valid IP address" },
    { "subsets/0/addresses/0/ip", "'127.0.0.1'",
      "subsets[0].addresses[0].ip: Invalid value: '127.0.0.1': may not be in the loopback "
      "range (127.0.0.0/8, ::1/128)" },
    { "subsets/0/addresses/0/ip", "'0.0.0.0'",
      "subsets[0].addresses[0].ip: Invalid value: '0.0.0.0': may not be unspecified "
      "(0.0.0.0)" },
    { "subsets/0/addresses/0/ip", "'169.254.1.1'",
      "subsets[0].addresses[0].ip: Invalid value: '169.254.1.1': may not be in the link-local "
      "range (169.254.0.0/16, fe80::/10)" },
    { "subsets/0/addresses/0/ip", "'224.0.0.1'",
      "subsets[0].addresses[0].ip: Invalid value: '224.0.0.1': may not be in the link-local "
      "multicast range (224.0.0.0/24, ff02::/10)" },
    { "subsets/0/addresses/0/ip", "'fe80::1'",
      "subsets[0].addresses[0].ip: Invalid value: 'fe80::1': may not be in the link-local "
      "range (169.254.0.0/16, fe80::/10)" },
    { "subsets/0/ports/0/port", "0",
      "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive" },
    { "subsets/0/ports/0/protocol", "'X'",
      "subsets[0].ports[0].protocol: Unsupported value: 'X': supported values: 'SCTP', 'TCP', "
      "'UDP'" },
    { "subsets/0/addresses", NULL,
      "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`" },
    { "subsets/0/ports", "[{'port':80},{'name':'a','port':81}]",
      "subsets[0].ports[0].name: Required value" },
};

static const char service_accounts_base[] = "{" META "}";

static const struct suite_change service_accounts[] = {
    { "metadata/name", "'a/b'", "metadata.name: Invalid value: 'a/b': " SUBDOMAIN },
    { "secrets", "[{'name':'s'}]", NULL },
};

/* ---- Updates and warnings ---- */

static const char plain_namespace[] =
    "{" CLUSTER_META ",'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}";

static const struct suite_change namespace_updates[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/finalizers", "['kubernetes','example.com/x']", NULL },
};

static const struct suite_change namespace_statuses[] = {
    { "status/phase", "'Active'", NULL },
    { "status/phase", "'Odd'",
      "status.Phase: Invalid value: 'Odd': may only be 'Active' if `deletionTimestamp` is empty" },
};

static const char ending_namespace[] =
    "{'metadata':{'name':'a','uid':'u','resourceVersion':'1','deletionTimestamp':'2020-01-02T03:04:"
    "05Z'},'status':{'phase':'Terminating'}}";

static const struct suite_change ending_namespace_statuses[] = {
    { "status/phase", "'Active'",
      "status.Phase: Invalid value: 'Active': may only be 'Terminating' if `deletionTimestamp` is "
      "not empty" },
    { "status/conditions", "[{'type':'NamespaceContentRemaining','status':'True'}]", NULL },
};

static const struct suite_change namespace_finalizers[] = {
    { "spec/finalizers", NULL, NULL },
    { "spec/finalizers", "['example.com/x','kubernetes']", NULL },
};

static const char plain_secret[] = "{" META ",'type':'Opaque','data':{'k':'AA=='}}";

static const struct suite_change secret_updates[] = {
    { "data/k", "'AQ=='", NULL },
    { "type", "'example.com/other'",
      "type: Invalid value: 'example.com/other': field is immutable" },
    { "immutable", "true", NULL },
    { "data/..", "'AA=='", "data[..]: Invalid value: '..': must not be '..'" },
};

static const char fixed_secret[] =
    "{" META ",'type':'Opaque','immutable':true,'data':{'k':'AA=='}}";

static const struct suite_change fixed_secret_updates[] = {
    { "data/k", "'AQ=='", "data: Forbidden: field is immutable when `immutable` is set" },
    { "immutable", NULL, "immutable: Forbidden: field is immutable when `immutable` is set" },
    { "metadata/annotations", "{'a':'b'}", NULL },
};

static const char tls_secret[] =
    "{" META ",'type':'kubernetes.io/tls','data':{'tls.crt':'AA==','tls.key':'AA=='}}";

static const struct suite_change tls_secrets[] = {
    { "data/tls.key", NULL, "data[tls.key]: Required value" },
    { "data/tls.crt", NULL, "data[tls.crt]: Required value" },
};

static const char account[] = "{" META "}";

static const struct suite_change account_warnings[] = {
    { "metadata/annotations", "{'kubernetes.io/enforce-mountable-secrets':'true'}",
      "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer "
      "separate namespaces to isolate access to mounted secrets" },
};

static const char plain_map[] = "{" META ",'data':{'k':'v'}}";

static const struct suite_change map_updates[] = {
    { "data/k", "'w'", NULL },
    { "data/a b", "'w'", "data[a b]: Invalid value: 'a b': " CONFIG_KEY },
    { "binaryData", "{'k':'AA=='}",
      "data[k]: Invalid value: 'k': duplicate of key present in binaryData" },
    { "immutable", "true", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "ConfigMap", config_maps_base, config_maps),
        SUITE_UPDATES("v1", "ConfigMap", immutable_config_maps_base, immutable_config_maps_changes),
        SUITE_CREATES("v1", "Secret", secrets_base, secrets),
        SUITE_CREATES("v1", "Secret", docker_secrets_base, docker_secrets),
        SUITE_UPDATES("v1", "Secret", docker_secrets_base, docker_secrets_changes),
        SUITE_CREATES("v1", "Namespace", namespaces_base, namespaces),
        SUITE_UPDATES_SUB("v1", "Namespace", "finalize", namespaces_base, namespaces_finalized),
        SUITE_UPDATES_SUB("v1", "Namespace", "status", namespaces_base, namespaces_statuses),
        SUITE_CREATES("v1", "Node", nodes_base, nodes),
        SUITE_UPDATES("v1", "Node", nodes_base, nodes_changes),
        SUITE_CREATES("v1", "Event", core_events_base, core_events),
        SUITE_CREATES("v1", "Event", timed_core_events_base, timed_core_events),
        SUITE_CREATES("events.k8s.io/v1", "Event", events_base, events),
        SUITE_UPDATES("events.k8s.io/v1", "Event", events_base, events_changes),
        SUITE_CREATES("v1", "Endpoints", endpoints_base, endpoints),
        SUITE_CREATES("v1", "ServiceAccount", service_accounts_base, service_accounts),
        SUITE_UPDATES("v1", "Namespace", plain_namespace, namespace_updates),
        SUITE_UPDATES_SUB("v1", "Namespace", "status", plain_namespace, namespace_statuses),
        SUITE_UPDATES_SUB("v1", "Namespace", "status", ending_namespace, ending_namespace_statuses),
        SUITE_UPDATES_SUB("v1", "Namespace", "finalize", plain_namespace, namespace_finalizers),
        SUITE_UPDATES("v1", "Secret", plain_secret, secret_updates),
        SUITE_UPDATES("v1", "Secret", fixed_secret, fixed_secret_updates),
        SUITE_CREATES("v1", "Secret", tls_secret, tls_secrets),
        SUITE_WARNS("v1", "ServiceAccount", account, account_warnings),
        SUITE_UPDATES("v1", "ConfigMap", plain_map, map_updates),
    };
    return SUITE_MAIN(tables);
}
