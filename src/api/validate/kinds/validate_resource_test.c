/* Claims of devices, and what they are made from. */
#include "api/validate/suite_validate.h"

static const char resource_claims_base[] =
    "{" META ",'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}}]}}}";

static const struct suite_change resource_claims[] = {
    { "spec/devices/requests/0/name", "'A'",
      "spec.devices.requests[0].name: Invalid value: 'A': " DNS_LABEL },
    { "spec/devices/requests/0/exactly", NULL,
      "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` "
      "is required" },
    { "spec/devices/requests/0/firstAvailable", "[{'name':'a','deviceClassName':'c'}]",
      "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
      "`firstAvailable` is required, but multiple fields are set" },
    { "spec/devices/requests/0/exactly/deviceClassName", NULL,
      "spec.devices.requests[0].exactly.deviceClassName: Required value" },
    { "spec/devices/requests/0/exactly/count", "-1",
      "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero" },
    { "spec/devices/requests/0/exactly/allocationMode", "'Bogus'",
      "spec.devices.requests[0].exactly.allocationMode: Unsupported value: 'Bogus': supported "
      "values: 'All', 'ExactCount'" },
    { "spec/devices/requests/0/exactly/allocationMode", "'All'", NULL },
    { "spec/devices/requests/0/exactly/selectors", "[{}]",
      "spec.devices.requests[0].exactly.selectors[0].cel: Required value" },
    { "spec/devices/requests/0/exactly/tolerations", "[{'operator':'Exists','value':'v'}]",
      "spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: 'v': must be "
      "empty for operator `Exists`" },
    { "spec/devices/requests/0/exactly/tolerations", "[{'operator':'Odd'}]",
      "spec.devices.requests[0].exactly.tolerations[0].operator: Unsupported value: 'Odd': "
      "supported values: 'Equal', 'Exists'" },
    { "spec/devices/requests",
      "[{'name':'r','exactly':{'deviceClassName':'c'}},{'name':'r','exactly':{'deviceClassName'"
      ":'c'}}]",
      "spec.devices.requests[1]: Duplicate value: "
      "{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'ExactCount','count':1}"
      "}" },
    { "spec/devices/constraints", "[{'requests':['zz'],'matchAttribute':'a.b/c'}]",
      "spec.devices.constraints[0].requests[0]: Invalid value: 'zz': must be the name of a "
      "request in the claim or the name of a request and a subrequest separated by '/'" },
    { "spec/devices/constraints", "[{'requests':['r'],'matchAttribute':'plain'}]",
      "spec.devices.constraints[0].matchAttribute: Invalid value: 'plain': a fully qualified "
      "name must be a domain and a name separated by a slash" },
    { "spec/devices/constraints", "[{}]",
      "spec.devices.constraints[0]: Required value: exactly one of 'matchAttribute' or "
      "'distinctAttribute' is required, but multiple fields are set" },
    { "spec/devices/config", "[{'requests':['r']}]",
      "spec.devices.config[0].opaque: Required value" },
    { "spec/devices/config", "[{'opaque':{'driver':'d'}}]",
      "spec.devices.config[0].opaque.parameters: Required value" },
    { "spec/devices/config", "[{'opaque':{'parameters':{}}}]",
      "spec.devices.config[0].opaque.driver: Required value" },
};

static const struct suite_change resource_claims_changes[] = {
    { "spec/devices/requests/0/name", "'s'", "spec: Invalid value: null: field is immutable" },
};

static const struct suite_change resource_claims_statuses[] = {
    { "status", "{'reservedFor':[{'resource':'pods','name':'p','uid':'u'}]}",
      "status.reservedFor: Forbidden: may not be specified when `allocated` is not set" },
    { "status",
      "{'allocation':{'devices':{'results':[{'request':'zz','driver':'d','pool':'p','device':'"
      "x'}]}}}",
      "status.allocation.devices.results[0].request: Invalid value: 'zz': must be the name of "
      "a request in the claim or the name of a request and a subrequest separated by '/'" },
    { "status", "{'allocation':{'devices':{'results':[{'request':'r','pool':'p','device':'x'}]}}}",
      "status.allocation.devices.results[0].driver: Required value" },
    { "status",
      "{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p//"
      "q','device':'x'}]}}}",
      "status.allocation.devices.results[0].pool: Invalid value: 'p//q': segment 1: must not "
      "be empty" },
    { "status",
      "{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p','device':'x'"
      ",'shareID':'X'}]}}}",
      "status.allocation.devices.results[0].shareID: Invalid value: 'X': must be a lowercase "
      "UUID in 8-4-4-4-12 format" },
    { "status",
      "{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p','device':'x'"
      "}]}}}",
      NULL },
};

static const char claim_templates_base[] =
    "{" META ",'spec':{'spec':{'devices':{'requests':[{'name':'r','"
    "exactly':{'deviceClassName':'c'}}]}}}}";

static const struct suite_change claim_templates[] = {
    { "spec/spec/devices/requests/0/name", "''",
      "spec.spec.devices.requests[0].name: Invalid value: '': " DNS_LABEL },
    { "spec/metadata/labels", "{'a b':'c'}",
      "spec.metadata.labels: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/spec/devices/requests/0/exactly/count", "-2",
      "spec.spec.devices.requests[0].exactly.count: Invalid value: -2: must be greater than "
      "zero" },
    { "spec/spec/devices/config", "[{'requests':['x'],'opaque':{'driver':'d','parameters':{}}}]",
      "spec.spec.devices.config[0].requests[0]: Invalid value: 'x': must be the name of a "
      "request in the claim or the name of a request and a subrequest separated by '/'" },
    { "spec/spec/devices/constraints", "[{'distinctAttribute':'x'}]",
      "spec.spec.devices.constraints[0].distinctAttribute: Invalid value: 'x': a fully "
      "qualified name must be a domain and a name separated by a slash" },
};

static const struct suite_change claim_templates_changes[] = {
    { "spec/spec/devices/requests/0/name", "'s'",
      "spec: Invalid value: "
      "{'Spec':{'Devices':{'Requests':[{'Name':'s','Exactly':{'DeviceClassName':'c','Selectors'"
      ":null,'AllocationMode':'ExactCount','Count':1,'AdminAccess':null,'Tolerations':null,'"
      "Capacity':null,'DerivedAttributes':null},'FirstAvailable':null}],'Constraints':null,'"
      "Config':null}}}: field is immutable" },
};

static const char device_classes_base[] = "{" CLUSTER_META ",'spec':{}}";

static const struct suite_change device_classes[] = {
    { "spec/selectors", "[{}]", "spec.selectors[0].cel: Required value" },
    { "spec/config", "[{}]", "spec.config[0].opaque: Required value" },
    { "spec/config", "[{'opaque':{'driver':'d','parameters':[]}}]",
      "spec.config[0].opaque.parameters: Invalid value: '<value omitted>': must be a valid "
      "JSON object" },
    { "spec/extendedResourceName", "'plain'",
      "spec.extendedResourceName: Invalid value: 'plain': a name must be a domain-prefixed "
      "path, such as 'example.com/my-prop'" },
    { "spec/extendedResourceName", "'kubernetes.io/x'",
      "spec.extendedResourceName: Invalid value: 'kubernetes.io/x': must not have "
      "'kubernetes.io/' domain" },
    { "spec/extendedResourceName", "'example.com/x'", NULL },
    { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
};

static const char taint_rules_base[] =
    "{" CLUSTER_META ",'spec':{'taint':{'key':'a','effect':'NoExecute'}}}";

static const struct suite_change taint_rules[] = {
    { "spec/taint/effect", NULL, "spec.taint.effect: Required value" },
    { "spec/taint/effect", "'Evict'",
      "spec.taint.effect: Unsupported value: 'Evict': supported values: 'NoExecute', "
      "'NoSchedule', 'None'" },
    { "spec/taint/key", "'a b'", "spec.taint.key: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/taint/value", "'a b'", "spec.taint.value: Invalid value: 'a b': " LABEL_VALUE },
    { "spec/deviceSelector", "{'driver':''}", "spec.deviceSelector.driver: Required value" },
    { "spec/deviceSelector", "{'pool':'A'}",
      "spec.deviceSelector.pool: Invalid value: 'A': " SUBDOMAIN },
    { "spec/deviceSelector", "{'device':'A'}",
      "spec.deviceSelector.device: Invalid value: 'A': " DNS_LABEL },
};

static const char slices_base[] =
    "{" CLUSTER_META ",'spec':{'driver':'d','pool':{'name':'p','generation':1,'"
    "resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a'}]}}";

static const struct suite_change slices[] = {
    { "spec/driver", NULL, "spec.driver: Required value" },
    { "spec/pool/name", NULL, "spec.pool.name: Required value" },
    { "spec/pool/resourceSliceCount", "0",
      "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero" },
    { "spec/pool/generation", "-1",
      "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero" },
    { "spec/nodeName", NULL,
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
      "`perDeviceNodeSelection` is required" },
    { "spec/nodeName", "''",
      "spec.nodeName: Invalid value: '': must be either unset or set to a non-empty string\n"
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
      "`perDeviceNodeSelection` is required" },
    { "spec/allNodes", "true",
      "spec: Invalid value: '{`nodeName`, `allNodes`}': exactly one of `nodeName`, "
      "`nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields "
      "are set" },
    { "spec/allNodes", "false",
      "spec.allNodes: Invalid value: false: must be either unset or set to true" },
    { "spec/sharedCounters", "[{'name':'c','counters':{'x':{'value':'1'}}}]",
      "spec: Invalid value: '': only one of `sharedCounters` or `devices` is allowed" },
    { "spec/devices", "[{'name':'a'},{'name':'a'}]", "spec.devices[1]: Duplicate value: 'a'" },
    { "spec/devices/0/nodeName", "'n'",
      "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can "
      "only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
    { "spec/devices/0/attributes", "{'a-b':{'int':1}}",
      "spec.devices[0].attributes: Invalid value: 'a-b': a valid C identifier must start with "
      "alphabetic character or '_', followed by a string of alphanumeric characters or '_' "
      "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
      "'[A-Za-z_][A-Za-z0-9_]*')" },
    { "spec/devices/0/attributes", "{'a':{}}",
      "spec.devices[0].attributes[a]: Invalid value: '': must specify one of: `int`, `bool`, "
      "`string`, `version`, `ints`, `bools`, `strings`, `versions`" },
    { "spec/devices/0/attributes", "{'a':{'int':1,'bool':true}}",
      "spec.devices[0].attributes[a]: Invalid value: '{int, bool}': must specify exactly one "
      "of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`" },
    { "spec/devices/0/attributes", "{'a':{'version':'1'}}",
      "spec.devices[0].attributes[a].version: Invalid value: '1': must be a string compatible "
      "with semver.org spec 2.0.0" },
    { "spec/devices/0/attributes", "{'a':{'version':'1.2.3-rc.1+b.7'}}", NULL },
    { "spec/devices/0/capacity", "{'c':{'value':'1','requestPolicy':{'default':'1'}}}",
      "spec.devices[0].capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be "
      "true" },
    { "spec/devices/0/taints", "[{'key':'a','effect':'X'}]",
      "spec.devices[0].taints[0].effect: Unsupported value: 'X': supported values: "
      "'NoExecute', 'NoSchedule', 'None'" },
    { "spec/devices/0/bindingConditions", "['a']",
      "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions "
      "are required to use bindingConditions" },
    { "spec/devices/0/bindingFailureConditions", "['a']",
      "spec.devices[0].bindingConditions: Invalid value: null: bindingConditions are required "
      "to use bindingFailureConditions" },
    { "spec/devices/0",
      "{'name':'a','allowMultipleAllocations':true,'capacity':{'c':{'value':'10','"
      "requestPolicy':{'default':'4','validValues':['1','2']}}}}",
      "spec.devices[0].capacity[c].requestPolicy.validValues: Invalid value: '4': default "
      "value is not valid according to the requestPolicy" },
    { "spec/devices/0",
      "{'name':'a','allowMultipleAllocations':true,'capacity':{'c':{'value':'10','"
      "requestPolicy':{'default':'4','validValues':['4','2']}}}}",
      "spec.devices[0].capacity[c].requestPolicy.validValues[1]: Invalid value: '2': values "
      "must be sorted in ascending order" },
    { "spec/devices/0",
      "{'name':'a','allowMultipleAllocations':true,'capacity':{'c':{'value':'10','"
      "requestPolicy':{'default':'4','validRange':{'min':'1','max':'9','step':'2'}}}}}",
      "spec.devices[0].capacity[c].requestPolicy.validRange.step: Invalid value: '4': value is "
      "not a multiple of a given step (2) from (1)" },
    { "spec/devices/0",
      "{'name':'a','allowMultipleAllocations':true,'capacity':{'c':{'value':'10','"
      "requestPolicy':{'default':'3','validRange':{'min':'1','max':'9','step':'2'}}}}}",
      NULL },
};

static const struct suite_change slices_changes[] = {
    { "spec/driver", "'e'", "spec.driver: Invalid value: 'e': field is immutable" },
    { "spec/pool/name", "'q'", "spec.pool.name: Invalid value: 'q': field is immutable" },
    { "spec/nodeName", "'m'", "spec.nodeName: Invalid value: 'm': field is immutable" },
    { "spec/pool/generation", "2", NULL },
};

/* ---- Claims, more closely ---- */

static const char claim[] =
    "{" META ",'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}}]}}}";

static const struct suite_change claim_requests[] = {
    { "spec/devices/requests/0",
      "{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'c'},{'name':'b','"
      "deviceClassName':'d'}]}",
      NULL },
    { "spec/devices/requests/0",
      "{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'c'},{'name':'a','"
      "deviceClassName':'d'}]}",
      "spec.devices.requests[0].firstAvailable[1]: Duplicate value: "
      "{'name':'a','deviceClassName':'d','allocationMode':'ExactCount','count':1}" },
    { "spec/devices/requests/0",
      "{'name':'r','firstAvailable':[{'name':'A','deviceClassName':''}]}",
      "spec.devices.requests[0].firstAvailable[0].name: Invalid value: 'A': " DNS_LABEL "\n"
      "spec.devices.requests[0].firstAvailable[0].deviceClassName: Required value" },
    { "spec/devices/requests/0",
      "{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'c','count':-1}]}",
      "spec.devices.requests[0].firstAvailable[0].count: Invalid value: -1: must be greater than "
      "zero" },
    { "spec/devices/requests/0",
      "{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'c','allocationMode':'All','"
      "count':2}]}",
      "spec.devices.requests[0].firstAvailable[0].count: Invalid value: 2: must not be specified "
      "when allocationMode is 'All'" },
    { "spec/devices/requests/0", "{'name':'r'}",
      "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is "
      "required" },
    { "spec/devices/requests/0", "{'name':'r','exactly':{'deviceClassName':'A_b'}}",
      "spec.devices.requests[0].exactly.deviceClassName: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/devices/requests/0",
      "{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All','count':2}}",
      "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when "
      "allocationMode is 'All'" },
    { "spec/devices/requests/0",
      "{'name':'r','exactly':{'deviceClassName':'c','selectors':[{'cel':{'expression':'true'}}]}}",
      NULL },
    { "spec/devices/requests/0",
      "{'name':'r','exactly':{'deviceClassName':'c','tolerations':[{'key':'a','operator':'Equal','"
      "value':'b c'}]}}",
      "spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: 'b c': " LABEL_VALUE },
    { "spec/devices/requests/0",
      "{'name':'r','exactly':{'deviceClassName':'c','tolerations':[{'key':'','operator':'Equal'}]}"
      "}",
      NULL },
    { "spec/devices/requests/0",
      "{'name':'r','exactly':{'deviceClassName':'c','tolerations':[{'key':'a','operator':'Exists','"
      "effect':'Odd'}]}}",
      "spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: 'Odd': supported "
      "values: 'NoExecute', 'NoSchedule', 'None'" },
};

static const struct suite_change claim_constraints[] = {
    { "spec/devices/constraints", "[{'matchAttribute':'a.b/c'}]", NULL },
    { "spec/devices/constraints", "[{'matchAttribute':'a.b/'}]",
      "spec.devices.constraints[0].matchAttribute: Invalid value: '': name must not be empty" },
    { "spec/devices/constraints", "[{'matchAttribute':'/c'}]",
      "spec.devices.constraints[0].matchAttribute: Invalid value: '': prefix must not be empty" },
    { "spec/devices/constraints", "[{'matchAttribute':'a.b/c-d'}]",
      "spec.devices.constraints[0].matchAttribute: Invalid value: 'c-d': a valid C identifier must "
      "start with alphabetic character or '_', followed by a string of alphanumeric characters or "
      "'_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
      "'[A-Za-z_][A-Za-z0-9_]*')" },
    { "spec/devices/constraints", "[{'requests':['r','r'],'matchAttribute':'a.b/c'}]",
      "spec.devices.constraints[0].requests[1]: Duplicate value: 'r'" },
    { "spec/devices/config", "[{'requests':['r'],'opaque':{'driver':'d','parameters':{'a':1}}}]",
      NULL },
    { "spec/devices/config", "[{'requests':['zz'],'opaque':{'driver':'A_b','parameters':'x'}}]",
      "spec.devices.config[0].requests[0]: Invalid value: 'zz': must be the name of a request in "
      "the claim or the name of a request and a subrequest separated by '/'\n"
      "spec.devices.config[0].opaque.parameters: Invalid value: '<value omitted>': must be a valid "
      "JSON object\n"
      "spec.devices.config[0].opaque.driver: Invalid value: 'A_b': an RFC 1123 subdomain must "
      "consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'Example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
};

static const char allocated[] =
    "{" META
    ",'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}}]}},'status':{'"
    "allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p','device':'x'}]}}}}";

static const struct suite_change claim_devices[] = {
    { "status/devices", "[{'driver':'d','pool':'p','device':'x'}]", NULL },
    { "status/devices", "[{'driver':'d','pool':'p','device':'y'}]",
      "status.devices[0]: Invalid value: d/p/y: must be an allocated device in the claim" },
    { "status/devices",
      "[{'driver':'d','pool':'p','device':'x'},{'driver':'d','pool':'p','device':'x'}]",
      "status.devices[1]: Duplicate value: "
      "{'driver':'d','pool':'p','device':'x','conditions':null}" },
    { "status/devices", "[{'driver':'d','pool':'p','device':'x','data':[1]}]",
      "status.devices[0].data: Invalid value: '<value omitted>': must be a valid JSON object" },
    { "status/devices",
      "[{'driver':'d','pool':'p','device':'x','networkData':{'interfaceName':'e','ips':['1.2.3.4/"
      "8'],'hardwareAddress':'h'}}]",
      NULL },
    { "status/devices",
      "[{'driver':'d','pool':'p','device':'x','networkData':{'ips':['1.2.3.4/8','1.2.3.4/8']}}]",
      "status.devices[0].networkData.ips[1]: Duplicate value: '1.2.3.4/8'" },
    { "status/devices",
      "[{'driver':'d','pool':'p','device':'x','networkData':{'ips':['1.2.3.4','01.2.3.4/8',"
      "'FD00::1/64','::ffff:1.2.3.4/120','fd00::1/64']}}]",
      "status.devices[0].networkData.ips[0]: Invalid value: '1.2.3.4': must be a valid address in "
      "CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)\n"
      "status.devices[0].networkData.ips[1]: Invalid value: '01.2.3.4/8': must be in canonical "
      "form ('1.2.3.4/8')\n"
      "status.devices[0].networkData.ips[2]: Invalid value: 'FD00::1/64': must be in canonical "
      "form ('fd00::1/64')\n"
      "status.devices[0].networkData.ips[3]: Invalid value: '::ffff:1.2.3.4/120': must be in "
      "canonical form ('1.2.3.4/24')" },
    { "status/devices",
      "[{'driver':'d','pool':'p','device':'x','conditions':[{'type':'a "
      "b','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}]}]",
      "status.devices[0].conditions[0].type: Invalid value: 'a b': " QUALIFIED_NAME },
    { "status/reservedFor", "[{'resource':'pods','name':'p','uid':'u'}]", NULL },
    { "status/reservedFor", "[{'resource':'','name':'','uid':''}]",
      "status.reservedFor[0].resource: Required value\n"
      "status.reservedFor[0].name: Required value\n"
      "status.reservedFor[0].uid: Required value" },
    { "status/reservedFor",
      "[{'resource':'pods','name':'p','uid':'u'},{'resource':'pods','name':'q','uid':'u'}]",
      "status.reservedFor[1]: Duplicate value: {'resource':'pods','name':'q','uid':'u'}" },
    { "status/allocation",
      "{'devices':{'results':[{'request':'r','driver':'d','pool':'p','device':'z'}]}}",
      "status.allocation: Invalid value: null: field cannot be modified once set" },
    { "status/allocation", NULL, NULL },
};

/* ---- Places of devices ---- */

static const char placed_slice[] =
    "{" CLUSTER_META ",'spec':{'driver':'d','pool':{'name':'p','generation':1,'resourceSliceCount':"
    "1},'perDeviceNodeSelection':true,'devices':[{'name':'a','nodeName':'n'}]}}";

static const struct suite_change device_places[] = {
    { "spec/devices/0", "{'name':'a'}",
      "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` "
      "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
    { "spec/devices/0", "{'name':'a','nodeName':''}",
      "spec.devices[0].nodeName: Invalid value: '': must not be empty\n"
      "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` "
      "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
    { "spec/devices/0", "{'name':'a','nodeName':'A'}",
      "spec.devices[0].nodeName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/devices/0", "{'name':'a','nodeName':'n','allNodes':true}",
      "spec.devices[0]: Invalid value: '{`nodeName`, `allNodes`}': exactly one of `nodeName`, "
      "`nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in "
      "the ResourceSlice spec" },
    { "spec/devices/0", "{'name':'a','allNodes':false}",
      "spec.devices[0].allNodes: Invalid value: false: must be either unset or set to true\n"
      "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` "
      "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
    { "spec/devices/0", "{'name':'a','allNodes':true}", NULL },
    { "spec/devices/0",
      "{'name':'a','nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':"
      "'Near'}]}]}}",
      "spec.devices[0].nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid "
      "value: 'Near': not a valid selector operator" },
    { "spec/devices/0",
      "{'name':'a','nodeName':'n','consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'"
      "1'}}}]}",
      NULL },
    { "spec/devices/0",
      "{'name':'a','nodeName':'n','consumesCounters':[{'counterSet':'','counters':{}}]}",
      "spec.devices[0].consumesCounters[0].counterSet: Required value\n"
      "spec.devices[0].consumesCounters[0].counters: Required value" },
    { "spec/perDeviceNodeSelection", "false",
      "spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true\n"
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
      "`perDeviceNodeSelection` is required\n"
      "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be "
      "set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("resource.k8s.io/v1", "ResourceClaim", resource_claims_base, resource_claims),
        SUITE_UPDATES("resource.k8s.io/v1", "ResourceClaim", resource_claims_base,
                      resource_claims_changes),
        SUITE_UPDATES_SUB("resource.k8s.io/v1", "ResourceClaim", "status", resource_claims_base,
                          resource_claims_statuses),
        SUITE_CREATES("resource.k8s.io/v1", "ResourceClaimTemplate", claim_templates_base,
                      claim_templates),
        SUITE_UPDATES("resource.k8s.io/v1", "ResourceClaimTemplate", claim_templates_base,
                      claim_templates_changes),
        SUITE_CREATES("resource.k8s.io/v1", "DeviceClass", device_classes_base, device_classes),
        SUITE_CREATES("resource.k8s.io/v1", "DeviceTaintRule", taint_rules_base, taint_rules),
        SUITE_CREATES("resource.k8s.io/v1", "ResourceSlice", slices_base, slices),
        SUITE_UPDATES("resource.k8s.io/v1", "ResourceSlice", slices_base, slices_changes),
        SUITE_CREATES("resource.k8s.io/v1", "ResourceClaim", claim, claim_requests),
        SUITE_CREATES("resource.k8s.io/v1", "ResourceClaim", claim, claim_constraints),
        SUITE_UPDATES_SUB("resource.k8s.io/v1", "ResourceClaim", "status", allocated,
                          claim_devices),
        SUITE_CREATES("resource.k8s.io/v1", "ResourceSlice", placed_slice, device_places),
    };
    return SUITE_MAIN(tables);
}
