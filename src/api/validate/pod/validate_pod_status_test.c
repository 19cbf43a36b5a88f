/* The status of a pod, as a node reports it. */
#include "api/validate/suite_validate.h"

static const char reported_pod[] =
    "{" META
    ",'spec':{'os':{'name':'linux'},'restartPolicy':'OnFailure','resourceClaims':[{'name':'r','"
    "resourceClaimTemplateName':'t'}],'initContainers':[{'name':'i','image':'i:1'}],'containers':[{"
    "'name':'c','image':'c:1','resources':{'requests':{'cpu':'1','example.com/"
    "gpu':'1'},'limits':{'example.com/"
    "gpu':'1'},'claims':[{'name':'r'}]}},{'name':'d','image':'d:1','restartPolicy':'Never'}]}}";

/* ---- Addresses ---- */

static const struct suite_change addresses[] = {
    { "status",
      "{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}],'hostIP':'10.1.0.1','"
      "hostIPs':[{'ip':'10.1.0.1'}]}",
      NULL },
    { "status", "{'podIP':'10.0.0.2','podIPs':[{'ip':'10.0.0.1'}]}", NULL },
    { "status", "{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'},{'ip':'10.0.0.1'}]}",
      "status.podIPs: Invalid value: [{'IP':'10.0.0.1'},{'IP':'10.0.0.1'}]: may specify no more "
      "than one IP for each IP family" },
    { "status",
      "{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'},{'ip':'fd00::1'},{'ip':'fd00::2'}]}",
      "status.podIPs: Invalid value: [{'IP':'10.0.0.1'},{'IP':'fd00::1'},{'IP':'fd00::2'}]: may "
      "specify no more than one IP for each IP family" },
    { "status", "{'hostIP':'10.1.0.1','hostIPs':[{'ip':'10.1.0.2'}]}",
      "status.hostIPs[0].ip: Invalid value: '10.1.0.2': must be equal to `hostIP`" },
    { "status", "{'hostIPs':[{'ip':'10.1.0.2'}]}",
      "status.hostIPs[0].ip: Invalid value: '10.1.0.2': must be equal to `hostIP`" },
    { "status", "{'hostIP':'x','hostIPs':[{'ip':'x'}]}",
      "status.hostIPs[0]: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
      "2001:db8::ffff)" },
    { "status", "{'hostIP':'10.1.0.1','hostIPs':[{'ip':'10.1.0.1'},{'ip':'10.1.0.2'}]}",
      "status.hostIPs: Invalid value: [{'IP':'10.1.0.1'},{'IP':'10.1.0.2'}]: may specify no more "
      "than one IP for each IP family" },
    { "status", "{'nominatedNodeName':'A_b'}",
      "status.nominatedNodeName: Invalid value: 'A_b': " SUBDOMAIN },
};

/* ---- Conditions ---- */

static const struct suite_change conditions[] = {
    { "status", "{'conditions':[{'type':'Ready','status':'True','observedGeneration':1}]}", NULL },
    { "status", "{'conditions':[{'type':'Ready','status':'True','observedGeneration':-1}]}",
      "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative "
      "integer" },
    { "status", "{'conditions':[{'type':'','status':'True'}]}",
      "status.conditions[0].Type: Invalid value: '': name part must be non-empty\n"
      "status.conditions[0].Type: Invalid value: '': " QUALIFIED_NAME },
};

/* ---- Containers ---- */

static const struct suite_change users[] = {
    { "status",
      "{'containerStatuses':[{'name':'c','user':{'linux':{'uid':1,'gid':2,'supplementalGroups':[3]}"
      "}}]}",
      NULL },
    { "status",
      "{'containerStatuses':[{'name':'c','user':{'linux':{'uid':-1,'gid':-2,'supplementalGroups':[-"
      "3]}}}]}",
      "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and "
      "4294967295, inclusive\n"
      "status.containerStatuses[0].user.linux.gid: Invalid value: -2: must be between 0 and "
      "2147483647, inclusive\n"
      "status.containerStatuses[0].user.linux.supplementalGroups[0]: Invalid value: -3: must be "
      "between 0 and 2147483647, inclusive" },
    { "status",
      "{'initContainerStatuses':[{'name':'i','user':{'linux':{'uid':4294967296,'gid':2147483648}}}]"
      "}",
      "status.initContainerStatuses[0].user.linux.uid: Invalid value: 4294967296: must be between "
      "0 and 4294967295, inclusive\n"
      "status.initContainerStatuses[0].user.linux.gid: Invalid value: 2147483648: must be between "
      "0 and 2147483647, inclusive" },
};

static const struct suite_change devices[] = {
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'example.com/"
      "gpu','resources':[{'resourceID':'g1','health':'Healthy'}]}]}]}",
      NULL },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'example.com/"
      "fpga','resources':[{'resourceID':'g1','health':'Fine'}]}]}]}",
      "status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "
      "'example.com/fpga': must match one of the container's resource requests\n"
      "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported "
      "value: 'Fine': supported values: 'Healthy', 'Unhealthy', 'Unknown'" },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'example.com/"
      "gpu','resources':[{'resourceID':'g1','health':'Healthy'},{'resourceID':'g1','health':'"
      "Unknown'}]}]}]}",
      "status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: Duplicate "
      "value: 'g1'" },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'claim:r','resources':"
      "[{'resourceID':'g1','health':'Unhealthy'}]}]}]}",
      NULL },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'claim:r/"
      "q','resources':[{'resourceID':'g1','health':'Unhealthy'}]}]}]}",
      "status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: 'claim:r/q': "
      "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when "
      "container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty" },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'claim:zz','resources'"
      ":[{'resourceID':'g1','health':'Unhealthy'}]}]}]}",
      "status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: 'claim:zz': "
      "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when "
      "container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty" },
    { "status",
      "{'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'example.com/"
      "gpu','resources':[{'resourceID':'g1','health':'Healthy','message':''}]}]}]}",
      "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message: Required "
      "value: must be non-empty if specified" },
    { "status",
      "{'ephemeralContainerStatuses':[{'name':'e','allocatedResourcesStatus':[{'name':'example.com/"
      "gpu'}]}]}",
      "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be "
      "specified in container status" },
    { "status", "{'resourceClaimStatuses':[{'name':'r','resourceClaimName':'x'}]}", NULL },
    { "status", "{'resourceClaimStatuses':[{'name':'r','resourceClaimName':'A_b'}]}",
      "status.resourceClaimStatuses[0].resourceClaimName: Invalid value: 'A_b': " SUBDOMAIN },
    { "status", "{'resourceClaimStatuses':[{'name':'r'},{'name':'r'}]}",
      "status.resourceClaimStatuses[1].name: Duplicate value: 'r'" },
    { "status",
      "{'extendedResourceClaimStatus':{'resourceClaimName':'x','requestMappings':[{'containerName':"
      "'c','resourceName':'example.com/gpu','requestName':'q'}]}}",
      NULL },
    { "status", "{'extendedResourceClaimStatus':{'resourceClaimName':'x'}}",
      "status.extendedResourceClaimStatus.requestMappings: Required value: at least one request "
      "mapping is required" },
    { "status",
      "{'extendedResourceClaimStatus':{'resourceClaimName':'A_b','requestMappings':[{'"
      "containerName':'zz','resourceName':'example.com/gpu','requestName':'Q'}]}}",
      "status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: 'zz': "
      "must match the name of an entry in spec.initContainers.name or spec.containers.name\n"
      "status.extendedResourceClaimStatus.requestName: Invalid value: 'Q': " DNS_LABEL "\n"
      "status.extendedResourceClaimStatus.resourceClaimName: Invalid value: 'A_b': " SUBDOMAIN },
    { "status",
      "{'extendedResourceClaimStatus':{'resourceClaimName':'x','requestMappings':[{'containerName':"
      "'c','resourceName':'example.com/fpga','requestName':'q'}]}}",
      "status.extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "
      "'example.com/fpga': must match the extended resource name of an entry in "
      "spec.initContainers.resources.requests or spec.containers.resources.requests" },
};

/* ---- What has ended ---- */

static const char ended_pod[] =
    "{" META ",'spec':{'restartPolicy':'OnFailure','initContainers':[{'name':'i','image':'i:1'}],'"
    "containers':[{'name':'c','image':'c:1'},{'name':'d','image':'d:1','restartPolicy':'"
    "Never','restartPolicyRules':[{'action':'Restart','exitCodes':{'operator':'In','"
    "values':[3]}}]}]},'status':{'initContainerStatuses':[{'name':'i','state':{'"
    "terminated':{'exitCode':0}}}],'containerStatuses':[{'name':'c','state':{'terminated':"
    "{'exitCode':1}}},{'name':'d','state':{'terminated':{'exitCode':3}}}]}}";

static const struct suite_change restarts[] = {
    { "status/containerStatuses/0/state", "{'running':{}}", NULL },
    { "status/containerStatuses/1/state", "{'running':{}}", NULL },
    { "status/initContainerStatuses/0/state", "{'waiting':{}}",
      "status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated "
      "state" },
};

static const char done_pod[] =
    "{" META ",'spec':{'restartPolicy':'OnFailure','containers':[{'name':'c','image':'c:1'},{'name'"
    ":'d','image':'d:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Restart',"
    "'exitCodes':{'operator':'NotIn','values':[3]}}]}],'ephemeralContainers':[{'name':'e',"
    "'image':'e:1'}]},'status':{'ephemeralContainerStatuses':[{'name':'e','state':{'"
    "terminated':{'exitCode':0}}}],'containerStatuses':[{'name':'c','state':{'terminated':"
    "{'exitCode':0}}},{'name':'d','state':{'terminated':{'exitCode':3}}}]}}";

static const struct suite_change no_restarts[] = {
    { "status/containerStatuses/0/state", "{'running':{}}",
      "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated "
      "state" },
    { "status/containerStatuses/1/state", "{'running':{}}",
      "status.containerStatuses[1].state: Forbidden: may not be transitioned to non-terminated "
      "state" },
    { "status/ephemeralContainerStatuses/0/state", "{'running':{}}",
      "status.ephemeralContainerStatuses[0].state: Forbidden: may not be transitioned to "
      "non-terminated state" },
    { "status/containerStatuses", NULL, NULL },
};

static const char windows_pod[] =
    "{" META ",'spec':{'os':{'name':'windows'},'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change windows_users[] = {
    { "status", "{'containerStatuses':[{'name':'c','user':{'linux':{'uid':1,'gid':2}}}]}",
      "status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_UPDATES_SUB("v1", "Pod", "status", reported_pod, addresses),
        SUITE_UPDATES_SUB("v1", "Pod", "status", reported_pod, conditions),
        SUITE_UPDATES_SUB("v1", "Pod", "status", reported_pod, users),
        SUITE_UPDATES_SUB("v1", "Pod", "status", reported_pod, devices),
        SUITE_UPDATES_SUB("v1", "Pod", "status", ended_pod, restarts),
        SUITE_UPDATES_SUB("v1", "Pod", "status", done_pod, no_restarts),
        SUITE_UPDATES_SUB("v1", "Pod", "status", windows_pod, windows_users),
    };
    return SUITE_MAIN(tables);
}
