/* Services. */
#include "api/validate/suite_validate.h"

static const char services_base[] = "{" META ",'spec':{'ports':[{'name':'p','port':80}]}}";

static const struct suite_change services[] = {
    { "spec/ports", NULL, "spec.ports: Required value" },
    { "spec/ports/0/port", "0",
      "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive\n"
      "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive" },
    { "spec/ports/0/protocol", "'HTTP'",
      "spec.ports[0].protocol: Unsupported value: 'HTTP': supported values: 'SCTP', 'TCP', "
      "'UDP'" },
    { "spec/ports/0/targetPort", "'80'",
      "spec.ports[0].targetPort: Invalid value: '80': must contain at least one letter (a-z)" },
    { "spec/ports/0/appProtocol", "'a b/c'",
      "spec.ports[0].appProtocol: Invalid value: 'a b/c': prefix part " SUBDOMAIN },
    { "spec/ports/0/nodePort", "30000",
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'" },
    { "spec/ports", "[{'port':80},{'port':81}]",
      "spec.ports[0].name: Required value\n"
      "spec.ports[1].name: Required value" },
    { "spec/ports", "[{'name':'a','port':80},{'name':'a','port':81}]",
      "spec.ports[1].name: Duplicate value: 'a'" },
    { "spec/ports", "[{'name':'a','port':80},{'name':'b','port':80}]",
      "spec.ports[1]: Duplicate value: "
      "{'Name':'','Protocol':'TCP','AppProtocol':null,'Port':80,'TargetPort':0,'NodePort':0}" },
    { "spec/type", "'Bogus'",
      "spec.type: Unsupported value: 'Bogus': supported values: 'ClusterIP', 'ExternalName', "
      "'LoadBalancer', 'NodePort'" },
    { "spec/type", "'ExternalName'", "spec.externalName: Required value" },
    { "spec/sessionAffinity", "'Cookie'",
      "spec.sessionAffinity: Unsupported value: 'Cookie': supported values: 'ClientIP', "
      "'None'" },
    { "spec/sessionAffinityConfig", "{'clientIP':{'timeoutSeconds':5}}", NULL },
    { "spec/externalIPs", "['010.1.1.1']",
      "spec.externalIPs[0]: Invalid value: '010.1.1.1': must not have leading 0s" },
    { "spec/externalIPs", "['127.0.0.1']",
      "spec.externalIPs[0]: Invalid value: '127.0.0.1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "spec/loadBalancerSourceRanges", "['10.0.0.0/8']",
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is "
      "'LoadBalancer'" },
    { "spec/loadBalancerClass", "'c'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'" },
    { "spec/allocateLoadBalancerNodePorts", "true",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
      "'LoadBalancer'" },
    { "spec/externalTrafficPolicy", "'Local'",
      "spec.externalTrafficPolicy: Invalid value: 'Local': may only be set for "
      "externally-accessible services" },
    { "spec/healthCheckNodePort", "30000",
      "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
      "'LoadBalancer' and `externalTrafficPolicy` is 'Local'" },
    { "spec/internalTrafficPolicy", "'Near'",
      "spec.internalTrafficPolicy: Unsupported value: 'Near': supported values: 'Cluster', "
      "'Local'" },
    { "spec/trafficDistribution", "'Near'",
      "spec.trafficDistribution: Unsupported value: 'Near': supported values: 'PreferClose', "
      "'PreferSameZone', 'PreferSameNode'" },
    { "spec/ipFamilies", "['IPv5']",
      "spec.ipFamilies[0]: Unsupported value: 'IPv5': supported values: 'IPv4', 'IPv6'" },
    { "spec/ipFamilies", "['IPv4','IPv4']", "spec.ipFamilies[1]: Duplicate value: 'IPv4'" },
    { "spec/ipFamilyPolicy", "'Both'",
      "spec.ipFamilyPolicy: Unsupported value: 'Both': supported values: 'PreferDualStack', "
      "'RequireDualStack', 'SingleStack'" },
    { "spec/clusterIPs", "['10.0.0.1']",
      "spec.clusterIPs: Invalid value: ['10.0.0.1']: must be empty when `clusterIP` is not "
      "specified" },
    { "spec/clusterIP", "'10.0.0.1'", "spec.clusterIPs: Required value" },
    { "metadata/annotations", "{'service.beta.kubernetes.io/load-balancer-source-ranges':'x'}",
      "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Forbidden: "
      "may only be used when `type` is 'LoadBalancer'\n"
      "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid "
      "value: 'x': must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)" },
    { "metadata/annotations",
      "{'service.kubernetes.io/topology-aware-hints':'a','service.kubernetes.io/"
      "topology-mode':'b'}",
      "metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: 'b': must "
      "match annotations[service.kubernetes.io/topology-aware-hints] when both are specified" },
};

static const char addressed_services_base[] =
    "{" META ",'spec':{'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],'"
    "ipFamilyPolicy':'SingleStack','ports':[{'port':80}]}}";

static const struct suite_change addressed_services[] = {
    { "spec/clusterIPs", "['None','10.0.0.1']",
      "spec.clusterIPs: Invalid value: ['None','10.0.0.1']: first value must match `clusterIP`\n"
      "spec.clusterIPs: Invalid value: ['None','10.0.0.1']: 'None' must be the first and only "
      "value" },
    { "spec/clusterIPs", "['10.0.0.1','10.0.0.2']",
      "spec.clusterIPs: Invalid value: ['10.0.0.1','10.0.0.2']: may specify no more than one "
      "IP for each IP family" },
    { "spec/clusterIPs", "['10.0.0.1','fd00::1','fd00::2']",
      "spec.clusterIPs: Invalid value: ['10.0.0.1','fd00::1','fd00::2']: may only hold up to 2 "
      "values" },
    { "spec/ipFamilies", "['IPv6']",
      "spec.clusterIPs[0]: Invalid value: '10.0.0.1': expected an IPv6 value as indicated by "
      "`ipFamilies[0]`" },
    { "spec/clusterIP", "'None'",
      "spec.clusterIPs: Invalid value: ['10.0.0.1']: first value must match `clusterIP`" },
};

static const struct suite_change addressed_services_changes[] = {
    { "spec/clusterIPs", NULL,
      "spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset\n"
      "spec.clusterIPs: Required value" },
    { "spec/clusterIPs", "['10.0.0.2']",
      "spec.clusterIPs[0]: Invalid value: ['10.0.0.2']: may not change once set\n"
      "spec.clusterIPs: Invalid value: ['10.0.0.2']: first value must match `clusterIP`" },
    { "spec/ipFamilies", "['IPv6']",
      "spec.ipFamilies[0]: Invalid value: ['IPv6']: may not change once set\n"
      "spec.clusterIPs[0]: Invalid value: '10.0.0.1': expected an IPv6 value as indicated by "
      "`ipFamilies[0]`" },
    { "spec/ports/0/port", "81", NULL },
};

static const char balanced_services_base[] =
    "{" META ",'spec':{'type':'LoadBalancer','loadBalancerClass':'example.com/"
    "c','externalTrafficPolicy':'Local','healthCheckNodePort':30001,'ports':[{'port':80}]}}";

static const struct suite_change balanced_services[] = {
    { "spec/loadBalancerSourceRanges", "['10.0.0.0/33']",
      "spec.LoadBalancerSourceRanges[0]: Invalid value: '10.0.0.0/33': must be a valid CIDR "
      "value, (e.g. 10.9.8.0/24 or 2001:db8::/64)" },
    { "spec/loadBalancerSourceRanges", "[' 10.0.0.0/8 ']", NULL },
    { "spec/healthCheckNodePort", NULL, "spec.healthCheckNodePort: Required value" },
    { "spec/externalTrafficPolicy", "'Near'",
      "spec.externalTrafficPolicy: Unsupported value: 'Near': supported values: 'Cluster', "
      "'Local'\n"
      "spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is "
      "'LoadBalancer' and `externalTrafficPolicy` is 'Local'" },
    { "spec/loadBalancerClass", "'a b'",
      "spec.loadBalancerClass: Invalid value: 'a b': " QUALIFIED_NAME },
};

static const struct suite_change balanced_services_changes[] = {
    { "spec/loadBalancerClass", "'example.com/d'",
      "spec.loadBalancerClass: Invalid value: 'example.com/d': may not change once set" },
    { "spec/healthCheckNodePort", "30002",
      "spec.healthCheckNodePort: Forbidden: field is immutable" },
};

static const struct suite_change balanced_services_statuses[] = {
    { "status/loadBalancer/ingress", "[{'ip':'x'}]",
      "status.loadBalancer.ingress[0].ip: Invalid value: 'x': must be a valid IP address, "
      "(e.g. 10.9.8.7 or 2001:db8::ffff)" },
    { "status/loadBalancer/ingress", "[{'hostname':'10.0.0.1'}]",
      "status.loadBalancer.ingress[0].hostname: Invalid value: '10.0.0.1': must be a DNS name, "
      "not an IP address" },
    { "status/loadBalancer/ingress", "[{'hostname':'h','ipMode':'VIP'}]",
      "status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not "
      "set" },
    { "status/loadBalancer/ingress", "[{'ip':'10.0.0.1','ipMode':'X'}]",
      "status.loadBalancer.ingress[0].ipMode: Unsupported value: 'X': supported values: "
      "'Proxy', 'VIP'" },
    { "status/loadBalancer/ingress", "[{'ip':'10.0.0.1','ipMode':'VIP'}]", NULL },
};

/* ---- More of services ---- */

#define SERVICE(more)                                                                              \
    "{'type':'ClusterIP','clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],'" \
    "ipFamilyPolicy':'SingleStack','ports':[{'port':80,'protocol':'TCP'}]" more "}"

static const char plain_service[] = "{" META ",'spec':" SERVICE("") "}";

static const struct suite_change service_affinities[] = {
    { "spec", SERVICE(",'sessionAffinity':'ClientIP'"), NULL },
    { "spec",
      SERVICE(",'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':"
              "86401}}"),
      "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater "
      "than 0 and less than 86400" },
    { "spec",
      SERVICE(",'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':"
              "0}}"),
      "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than "
      "0 and less than 86400" },
    { "spec",
      SERVICE(
          ",'sessionAffinity':'None','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':5}}"),
      NULL },
    { "spec", SERVICE(",'sessionAffinity':'Odd'"),
      "spec.sessionAffinity: Unsupported value: 'Odd': supported values: 'ClientIP', 'None'" },
};

static const struct suite_change service_fields[] = {
    { "spec/externalIPs", "['1.2.3.4','x']",
      "spec.externalIPs[1]: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
      "2001:db8::ffff)" },
    { "spec/externalIPs", "['127.0.0.1']",
      "spec.externalIPs[0]: Invalid value: '127.0.0.1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "spec/internalTrafficPolicy", "'Odd'",
      "spec.internalTrafficPolicy: Unsupported value: 'Odd': supported values: 'Cluster', "
      "'Local'" },
    { "spec/internalTrafficPolicy", "'Local'", NULL },
    { "spec/externalTrafficPolicy", "'Local'",
      "spec.externalTrafficPolicy: Invalid value: 'Local': may only be set for "
      "externally-accessible services" },
    { "spec/trafficDistribution", "'PreferClose'", NULL },
    { "spec/trafficDistribution", "'Anywhere'",
      "spec.trafficDistribution: Unsupported value: 'Anywhere': supported values: 'PreferClose', "
      "'PreferSameZone', 'PreferSameNode'" },
    { "spec/loadBalancerSourceRanges", "['10.0.0.0/8']",
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'" },
    { "spec/allocateLoadBalancerNodePorts", "true",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
      "'LoadBalancer'" },
    { "spec/loadBalancerClass", "'example.com/x'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'" },
    { "spec/selector", "{'a':'b c'}", "spec.selector: Invalid value: 'b c': " LABEL_VALUE },
    { "spec/ports/0/targetPort", "'web'", NULL },
    { "spec/ports/0/targetPort", "'a_b'",
      "spec.ports[0].targetPort: Invalid value: 'a_b': must contain only alpha-numeric characters "
      "(a-z, 0-9), and hyphens (-)" },
    { "spec/ports/0/appProtocol", "'a b'",
      "spec.ports[0].appProtocol: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/ports/0/name", "'A'", "spec.ports[0].name: Invalid value: 'A': " DNS_LABEL },
    { "spec/clusterIPs", "['10.0.0.1','10.0.0.2']",
      "spec.clusterIPs: Invalid value: ['10.0.0.1','10.0.0.2']: may specify no more than one IP "
      "for each IP family" },
    { "spec/ipFamilies", "['IPv4','IPv5']",
      "spec.ipFamilies[1]: Unsupported value: 'IPv5': supported values: 'IPv4', 'IPv6'" },
    { "spec/ipFamilyPolicy", "'TripleStack'",
      "spec.ipFamilyPolicy: Unsupported value: 'TripleStack': supported values: 'PreferDualStack', "
      "'RequireDualStack', 'SingleStack'" },
};

static const char balanced_service[] =
    "{" META ",'spec':{'type':'LoadBalancer','allocateLoadBalancerNodePorts':true,'clusterIP':'10."
    "0.0.1','clusterIPs':['10.0.0.1'],'ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack'"
    ",'externalTrafficPolicy':'Cluster','ports':[{'port':80,'protocol':'TCP'}]}}";

static const struct suite_change load_balancers[] = {
    { "spec/allocateLoadBalancerNodePorts", NULL, NULL },
    { "spec/loadBalancerSourceRanges", "['10.0.0.0/8','here']",
      "spec.LoadBalancerSourceRanges[1]: Invalid value: 'here': must be a valid CIDR value, (e.g. "
      "10.9.8.0/24 or 2001:db8::/64)" },
    { "spec/loadBalancerClass", "'plain'", NULL },
    { "spec/loadBalancerClass", "'a b'",
      "spec.loadBalancerClass: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/externalTrafficPolicy", "'Odd'",
      "spec.externalTrafficPolicy: Unsupported value: 'Odd': supported values: 'Cluster', "
      "'Local'" },
    { "spec/healthCheckNodePort", "30000",
      "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
      "'LoadBalancer' and `externalTrafficPolicy` is 'Local'" },
    { "spec/ports",
      "[{'name':'a','port':80,'nodePort':30001,'protocol':'TCP'},{'name':'b','port':81,'nodePort':"
      "30001,'protocol':'TCP'}]",
      "spec.ports[1].nodePort: Duplicate value: 30001" },
    { "metadata/annotations",
      "{'service.beta.kubernetes.io/load-balancer-source-ranges':'10.0.0.0/8, 10.1.0.0/16'}",
      NULL },
    { "metadata/annotations", "{'service.beta.kubernetes.io/load-balancer-source-ranges':'here'}",
      "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid "
      "value: 'here': must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)" },
};

static const struct suite_change balanced_statuses[] = {
    { "status/loadBalancer", "{'ingress':[{'ip':'1.2.3.4'}]}", NULL },
    { "status/loadBalancer", "{'ingress':[{'ip':'x','hostname':'A_b'}]}",
      "status.loadBalancer.ingress[0].ip: Invalid value: 'x': must be a valid IP address, (e.g. "
      "10.9.8.7 or 2001:db8::ffff)\n"
      "status.loadBalancer.ingress[0].hostname: Invalid value: 'A_b': " SUBDOMAIN },
    { "status/loadBalancer", "{'ingress':[{'hostname':'1.2.3.4'}]}",
      "status.loadBalancer.ingress[0].hostname: Invalid value: '1.2.3.4': must be a DNS name, not "
      "an IP address" },
    { "status/loadBalancer", "{'ingress':[{'ip':'1.2.3.4','ipMode':'Odd'}]}",
      "status.loadBalancer.ingress[0].ipMode: Unsupported value: 'Odd': supported values: 'Proxy', "
      "'VIP'" },
    { "status/loadBalancer", "{'ingress':[{'hostname':'h.example.com','ipMode':'VIP'}]}",
      "status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not "
      "set" },
};

static const struct suite_change plain_statuses[] = {
    { "status/loadBalancer", "{'ingress':[{'ip':'1.2.3.4'}]}",
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "
      "'LoadBalancer'" },
};

static const char external_service[] =
    "{" META ",'spec':{'type':'ExternalName','externalName':'a.example.com'}}";

static const struct suite_change external_services[] = {
    { "spec/externalName", "''", "spec.externalName: Required value" },
    { "spec/externalName", "'A_b'", "spec.externalName: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/externalName", "'a.example.com.'", NULL },
    { "spec/clusterIPs", "['10.0.0.1']",
      "spec.clusterIPs: Forbidden: may not be set for ExternalName services" },
    { "spec/ipFamilies", "['IPv4']",
      "spec.ipFamilies: Forbidden: may not be set for ExternalName services" },
    { "spec/ipFamilyPolicy", "'SingleStack'",
      "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services" },
};

static const struct suite_change service_changes[] = {
    { "spec/clusterIPs", "['10.0.0.2']",
      "spec.clusterIPs[0]: Invalid value: ['10.0.0.2']: may not change once set\n"
      "spec.clusterIPs: Invalid value: ['10.0.0.2']: first value must match `clusterIP`" },
    { "spec/clusterIP", "'10.0.0.2'",
      "spec.clusterIPs: Invalid value: ['10.0.0.1']: first value must match `clusterIP`" },
    { "spec/ports/0/port", "81", NULL },
    { "spec/ipFamilyPolicy", "'PreferDualStack'", NULL },
    { "spec/type", "'NodePort'", NULL },
};

/* ---- Warnings ---- */

static const struct suite_change service_warnings[] = {
    { "metadata/annotations", "{'service.kubernetes.io/topology-aware-hints':'auto'}",
      "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
      "service.kubernetes.io/topology-mode instead" },
    { "spec/externalIPs", "['01.2.3.4']",
      "spec.externalIPs[0]: non-standard IP address '01.2.3.4' is invalid: use '1.2.3.4'\n"
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters" },
    { "spec/loadBalancerIP", "'::ffff:1.2.3.4'",
      "spec.loadBalancerIP: non-standard IP address '::ffff:1.2.3.4' is invalid: use '1.2.3.4'" },
    { "spec/loadBalancerSourceRanges", "['10.0.0.1/8']",
      "spec.loadBalancerSourceRanges[0]: CIDR value '10.0.0.1/8' is ambiguous in this context "
      "(should be '10.0.0.0/8' or '10.0.0.1/32'?)" },
    { "spec/externalName", "'a.example.com'",
      "spec.externalName is ignored when spec.type is not 'ExternalName'" },
    { "spec/trafficDistribution", "'PreferClose'",
      "spec.trafficDistribution: 'PreferClose' is deprecated; use 'PreferSameZone'" },
    { "spec",
      "{'type':'ClusterIP','clusterIP':'None','clusterIPs':['None'],'loadBalancerIP':'1.2.3.4','"
      "externalIPs':['1.2.3.4'],'sessionAffinity':'ClientIP'}",
      "spec.loadBalancerIP is ignored for headless services\n"
      "spec.externalIPs is ignored for headless services\n"
      "spec.SessionAffinity is ignored for headless services" },
    { "spec", "{'type':'ExternalName','externalName':'a.example.com','externalIPs':['1.2.3.4']}",
      "spec.externalIPs is ignored when spec.type is 'ExternalName'" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Service", services_base, services),
        SUITE_CREATES("v1", "Service", addressed_services_base, addressed_services),
        SUITE_UPDATES("v1", "Service", addressed_services_base, addressed_services_changes),
        SUITE_CREATES("v1", "Service", balanced_services_base, balanced_services),
        SUITE_UPDATES("v1", "Service", balanced_services_base, balanced_services_changes),
        SUITE_UPDATES_SUB("v1", "Service", "status", balanced_services_base,
                          balanced_services_statuses),
        SUITE_CREATES("v1", "Service", plain_service, service_affinities),
        SUITE_CREATES("v1", "Service", plain_service, service_fields),
        SUITE_CREATES("v1", "Service", balanced_service, load_balancers),
        SUITE_UPDATES_SUB("v1", "Service", "status", balanced_service, balanced_statuses),
        SUITE_UPDATES_SUB("v1", "Service", "status", plain_service, plain_statuses),
        SUITE_CREATES("v1", "Service", external_service, external_services),
        SUITE_UPDATES("v1", "Service", plain_service, service_changes),
        SUITE_WARNS("v1", "Service", plain_service, service_warnings),
    };
    return SUITE_MAIN(tables);
}
