/* The spec of a pod, beyond its containers and volumes. */
#include "api/validate/suite_validate.h"

static const char plain_pod[] = "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

/* ---- Names and resolvers ---- */

static const struct suite_change names_of_hosts[] = {
    { "spec/hostname", "'h'", NULL },
    { "spec/hostname", "'a.b'", "spec.hostname: Invalid value: 'a.b': must not contain dots" },
    { "spec/subdomain", "'A'", "spec.subdomain: Invalid value: 'A': " DNS_LABEL },
    { "spec/nodeName", "'a_b'", "spec.nodeName: Invalid value: 'a_b': " SUBDOMAIN },
    { "spec/hostAliases", "[{'ip':'1.2.3.4','hostnames':['a','b.c']}]", NULL },
    { "spec/hostAliases", "[{'ip':'x','hostnames':['A']}]",
      "spec.hostAliases[0].ip: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
      "2001:db8::ffff)\n"
      "spec.hostAliases[0].hostnames[0]: Invalid value: 'A': " SUBDOMAIN },
    { "spec/hostnameOverride", "'a.b'", NULL },
    { "spec/hostnameOverride", "'A'", "spec.hostnameOverride: Invalid value: 'A': " SUBDOMAIN },
    { "spec",
      "{'hostnameOverride':'a','setHostnameAsFQDN':true,'containers':[{'name':'c','image':'c:1'}]}",
      "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true" },
    { "spec",
      "{'hostnameOverride':'a','hostNetwork':true,'containers':[{'name':'c','image':'c:1'}]}",
      "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true" },
};

static const struct suite_change resolvers[] = {
    { "spec/dnsPolicy", "'Sometimes'",
      "spec.dnsPolicy: Unsupported value: 'Sometimes': supported values: "
      "'ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'" },
    { "spec/dnsPolicy", "''", NULL },
    { "spec/dnsConfig",
      "{'nameservers':['1.2.3.4','::1'],'options':[{'name':'a','value':'b'},{'name':'c'}]}", NULL },
    { "spec/dnsConfig", "{'nameservers':['1.1.1.1','2.2.2.2','3.3.3.3','4.4.4.4']}",
      "spec.dnsConfig.nameservers: Invalid value: ['1.1.1.1','2.2.2.2','3.3.3.3','4.4.4.4']: must "
      "not have more than 3 nameservers" },
    { "spec/dnsConfig", "{'nameservers':['example.com']}",
      "spec.dnsConfig.nameservers[0]: Invalid value: 'example.com': must be a valid IP address, "
      "(e.g. 10.9.8.7 or 2001:db8::ffff)" },
    { "spec/dnsConfig", "{'options':[{'value':'b'}]}",
      "spec.dnsConfig.options[0]: Required value: must not be empty" },
    { "spec/dnsConfig", "{'searches':['a b']}",
      "spec.dnsConfig.searches[0]: Invalid value: 'a b': a lowercase RFC 1123 subdomain must "
      "consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with "
      "an alphanumeric character (e.g. 'example.com', regex used for validation is "
      "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')" },
    { "spec/dnsConfig", "{'searches':['Example.com']}",
      "spec.dnsConfig.searches[0]: Invalid value: 'Example.com': a lowercase RFC 1123 subdomain "
      "must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
      "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')" },
    { "spec/dnsConfig", "{'searches':['example.com.']}", NULL },
    { "spec", "{'dnsPolicy':'None','dnsConfig':{},'containers':[{'name':'c','image':'c:1'}]}",
      "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when "
      "`dnsPolicy` is None" },
    { "spec",
      "{'dnsPolicy':'None','dnsConfig':{'nameservers':['1.2.3.4']},'containers':[{'name':'c','"
      "image':'c:1'}]}",
      NULL },
};

/* ---- Accounts and classes ---- */

static const struct suite_change accounts[] = {
    { "spec/serviceAccountName", "'s'", NULL },
    { "spec/serviceAccountName", "'A'", "spec.serviceAccountName: Invalid value: 'A': " SUBDOMAIN },
    { "spec",
      "{'serviceAccountName':'a','serviceAccount':'b','containers':[{'name':'c','image':'c:1'}]}",
      NULL },
    { "spec/imagePullSecrets", "[{'name':'s'}]", NULL },
    { "spec/runtimeClassName", "'r'", NULL },
    { "spec/runtimeClassName", "'A'", "spec.runtimeClassName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/priorityClassName", "'A'", "spec.priorityClassName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/preemptionPolicy", "'Always'",
      "spec.preemptionPolicy: Unsupported value: 'Always': supported values: "
      "'PreemptLowerPriority', 'Never'" },
    { "spec/preemptionPolicy", "'Never'", NULL },
    { "spec/overhead", "{'cpu':'1'}", NULL },
    { "spec/overhead", "{'cpu':'-1'}",
      "spec.overhead.limits[cpu]: Invalid value: '-1': must be greater than or equal to 0" },
    { "spec/overhead", "{'plain':'1'}",
      "spec.overhead.limits[plain]: Invalid value: 'plain': must be a standard resource type or "
      "fully qualified\n"
      "spec.overhead.limits[plain]: Invalid value: 'plain': must be a standard resource for "
      "containers" },
    { "spec/readinessGates", "[{'conditionType':'example.com/ready'}]", NULL },
    { "spec/readinessGates", "[{'conditionType':'a b'}]",
      "spec.readinessGates[0].conditionType: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/schedulingGates", "[{'name':'a b'}]",
      "spec.schedulingGates[0]: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/schedulingGates", "[{'name':''}]",
      "spec.schedulingGates[0]: Invalid value: '': name part must be non-empty\n"
      "spec.schedulingGates[0]: Invalid value: '': " QUALIFIED_NAME },
};

/* ---- Lifetimes ---- */

static const struct suite_change lifetimes[] = {
    { "spec/restartPolicy", "'Maybe'",
      "spec.restartPolicy: Unsupported value: 'Maybe': supported values: 'Always', 'OnFailure', "
      "'Never'" },
    { "spec/restartPolicy", "''", NULL },
    { "spec/activeDeadlineSeconds", "2147483648",
      "spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, "
      "inclusive" },
    { "spec/activeDeadlineSeconds", "1", NULL },
    { "spec/terminationGracePeriodSeconds", "-1", NULL },
    { "spec/terminationGracePeriodSeconds", "0", NULL },
    { "spec/shareProcessNamespace", "true", NULL },
    { "spec",
      "{'shareProcessNamespace':true,'hostPID':true,'containers':[{'name':'c','image':'c:1'}]}",
      "spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot "
      "both be enabled" },
    { "spec",
      "{'schedulingGates':[{'name':'g'}],'nodeName':'n','containers':[{'name':'c','image':'c:1'}]}",
      "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared" },
};

/* ---- Devices ---- */

static const struct suite_change claims[] = {
    { "spec/resourceClaims",
      "[{'name':'a','resourceClaimName':'x'},{'name':'b','resourceClaimTemplateName':'y'}]", NULL },
    { "spec/resourceClaims", "[{'name':'','resourceClaimName':'x'}]",
      "spec.resourceClaims[0].name: Required value" },
    { "spec/resourceClaims", "[{'name':'A','resourceClaimName':'x'}]",
      "spec.resourceClaims[0].name: Invalid value: 'A': " DNS_LABEL },
    { "spec/resourceClaims",
      "[{'name':'a','resourceClaimName':'x'},{'name':'a','resourceClaimName':'y'}]",
      "spec.resourceClaims[1].name: Duplicate value: 'a'" },
    { "spec/resourceClaims", "[{'name':'a'}]",
      "spec.resourceClaims[0]: Invalid value: "
      "{'Name':'a','ResourceClaimName':null,'ResourceClaimTemplateName':null}: must specify one "
      "of: `resourceClaimName`, `resourceClaimTemplateName`" },
    { "spec/resourceClaims",
      "[{'name':'a','resourceClaimName':'x','resourceClaimTemplateName':'y'}]",
      "spec.resourceClaims[0]: Invalid value: "
      "{'Name':'a','ResourceClaimName':'x','ResourceClaimTemplateName':'y'}: at most one of "
      "`resourceClaimName` or `resourceClaimTemplateName` may be specified" },
    { "spec/resourceClaims", "[{'name':'a','resourceClaimName':'A_b'}]",
      "spec.resourceClaims[0].resourceClaimName: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/resourceClaims", "[{'name':'a','resourceClaimTemplateName':'A_b'}]",
      "spec.resourceClaims[0].resourceClaimTemplateName: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/containers/0/resources", "{'claims':[{'name':'zz'}]}",
      "spec.containers[0].resources.claims[0]: Not found: 'zz': must be one of the names in "
      "pod.spec.resourceClaims which is empty" },
    { "spec",
      "{'resourceClaims':[{'name':'a','resourceClaimName':'x'}],'containers':[{'name':'c','image':'"
      "c:1','resources':{'claims':[{'name':'a','request':'r'}]}}]}",
      NULL },
    { "spec",
      "{'resourceClaims':[{'name':'a','resourceClaimName':'x'}],'containers':[{'name':'c','image':'"
      "c:1','resources':{'claims':[{'name':'a'},{'name':'a'}]}}]}",
      "spec.containers[0].resources.claims[1]: Duplicate value: 'a'" },
    { "spec",
      "{'resourceClaims':[{'name':'a','resourceClaimName':'x'}],'containers':[{'name':'c','image':'"
      "c:1','resources':{'claims':[{'name':'a'},{'name':'a','request':'r'}]}}]}",
      "spec.containers[0].resources.claims[1]: Duplicate value: 'a'" },
};

/* ---- Resources of the whole pod ---- */

static const char sized_pod[] =
    "{" META
    ",'spec':{'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'3'}},'containers':[{'name':'c','"
    "image':'c:1','resources':{'requests':{'cpu':'1'},'limits':{'cpu':'2'}}}]}}";

static const struct suite_change pod_resources[] = {
    { "spec/resources/requests/cpu", "'500m'",
      "spec.resources.requests[cpu]: Invalid value: '500m': must be greater than or equal to "
      "aggregate container requests of 1" },
    { "spec/resources/limits/cpu", "'1'",
      "spec.resources.requests: Invalid value: '2': must be less than or equal to cpu limit of 1\n"
      "spec.resources.containers[0][cpu].limits: Invalid value: '2': must be less than or equal to "
      "pod limits of 1" },
    { "spec/containers/0/resources/limits/cpu", "'4'",
      "spec.resources.containers[0][cpu].limits: Invalid value: '4': must be less than or equal to "
      "pod limits of 3" },
    { "spec/containers",
      "[{'name':'c','image':'c:1','resources':{'requests':{'cpu':'1'}}},{'name':'d','image':'d:1','"
      "resources':{'requests':{'cpu':'1500m'}}}]",
      "spec.resources.requests[cpu]: Invalid value: '2': must be greater than or equal to "
      "aggregate container requests of 2500m" },
    { "spec/initContainers",
      "[{'name':'i','image':'i:1','restartPolicy':'Always','resources':{'requests':{'cpu':'1500m'}}"
      "}]",
      "spec.resources.requests[cpu]: Invalid value: '2': must be greater than or equal to "
      "aggregate container requests of 2500m" },
    { "spec/initContainers",
      "[{'name':'i','image':'i:1','resources':{'requests':{'cpu':'2500m'}}}]",
      "spec.resources.requests[cpu]: Invalid value: '2': must be greater than or equal to "
      "aggregate container requests of 2500m" },
    { "spec/initContainers", "[{'name':'i','image':'i:1','resources':{'requests':{'cpu':'2'}}}]",
      NULL },
    { "spec/resources", "{'claims':[{'name':'x'}]}",
      "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level\n"
      "spec.resources.claims[0]: Not found: 'x': must be one of the names in "
      "pod.spec.resourceClaims which is empty" },
    { "spec/resources", "{'limits':{'ephemeral-storage':'1Gi'}}",
      "spec.resources.limits[ephemeral-storage]: Unsupported value: 'ephemeral-storage': supported "
      "values: 'cpu', 'hugepages-', 'memory'" },
    { "spec/os", "{'name':'windows'}",
      "spec.resources: Forbidden: may not be set for a windows pod" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", plain_pod, names_of_hosts),
        SUITE_CREATES("v1", "Pod", plain_pod, resolvers),
        SUITE_CREATES("v1", "Pod", plain_pod, accounts),
        SUITE_CREATES("v1", "Pod", plain_pod, lifetimes),
        SUITE_CREATES("v1", "Pod", plain_pod, claims),
        SUITE_CREATES("v1", "Pod", sized_pod, pod_resources),
    };
    return SUITE_MAIN(tables);
}
