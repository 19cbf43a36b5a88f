/* Network policies, ingresses, slices of endpoints, addresses. */
#include "api/validate/suite_validate.h"

static const char network_policies_base[] =
    "{" META ",'spec':{'podSelector':{},'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0/"
    "8','except':['10.1.0.0/16']}}],'ports':[{'port':80,'endPort':90}]}]}}";

static const struct suite_change network_policies[] = {
    { "spec/ingress/0/from/0/ipBlock/cidr", "'x'",
      "spec.ingress[0].from[0].ipBlock.cidr: Invalid value: 'x': must be a valid CIDR value, "
      "(e.g. 10.9.8.0/24 or 2001:db8::/64)" },
    { "spec/ingress/0/from/0/ipBlock/cidr", NULL,
      "spec.ingress[0].from[0].ipBlock.cidr: Required value" },
    { "spec/ingress/0/from/0/ipBlock/except", "['10.0.0.0/8']",
      "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: '10.0.0.0/8': must be a "
      "strict subset of `cidr`" },
    { "spec/ingress/0/from/0", "{}",
      "spec.ingress[0].from[0]: Required value: must specify a peer" },
    { "spec/ingress/0/from/0/podSelector", "{}",
      "spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer" },
    { "spec/ingress/0/ports/0/endPort", "70",
      "spec.ingress[0].ports[0].endPort: Invalid value: 70: must be greater than or equal to "
      "`port`" },
    { "spec/ingress/0/ports/0/port", "'http'",
      "spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` "
      "is non-numeric" },
    { "spec/ingress/0/ports/0/port", NULL,
      "spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` "
      "is not specified" },
    { "spec/ingress/0/ports/0/protocol", "'X'",
      "spec.ingress[0].ports[0].protocol: Unsupported value: 'X': supported values: 'TCP', "
      "'UDP', 'SCTP'" },
    { "spec/policyTypes", "['Both']",
      "spec.policyTypes[0]: Unsupported value: 'Both': supported values: 'Ingress', 'Egress'" },
    { "spec/policyTypes", "['Ingress','Egress','Ingress']",
      "spec.policyTypes: Invalid value: ['Ingress','Egress','Ingress']: may not specify more "
      "than two policyTypes" },
    { "spec/podSelector", "{'matchExpressions':[{'key':'a','operator':'Near'}]}",
      "spec.podSelector.matchExpressions[0].operator: Invalid value: 'Near': not a valid "
      "selector operator" },
};

static const char ingresses_base[] =
    "{" META ",'spec':{'rules':[{'host':'a.example.com','http':{'paths':[{'path':'/"
    "','pathType':'Prefix','backend':{'service':{'name':'s','port':{'number':80}}}}]}}]}}";

static const struct suite_change ingresses[] = {
    { "spec/rules", NULL,
      "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified" },
    { "spec/rules/0/host", "'10.0.0.1'",
      "spec.rules[0].host: Invalid value: '10.0.0.1': must be a DNS name, not an IP address" },
    { "spec/rules/0/http/paths", "[]", "spec.rules[0].http.paths: Required value" },
    { "spec/rules/0/http/paths/0/pathType", NULL,
      "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified" },
    { "spec/rules/0/http/paths/0/pathType", "'Regex'",
      "spec.rules[0].http.paths[0].pathType: Unsupported value: 'Regex': supported values: "
      "'Exact', 'ImplementationSpecific', 'Prefix'" },
    { "spec/rules/0/http/paths/0/path", "'x'",
      "spec.rules[0].http.paths[0].path: Invalid value: 'x': must be an absolute path" },
    { "spec/rules/0/http/paths/0/path", "'/a//b'",
      "spec.rules[0].http.paths[0].path: Invalid value: '/a//b': must not contain '//'" },
    { "spec/rules/0/http/paths/0/path", "'/a/..'",
      "spec.rules[0].http.paths[0].path: Invalid value: '/a/..': cannot end with '/..'" },
    { "spec/rules/0/http/paths/0/backend", "{}",
      "spec.rules[0].http.paths[0].backend: Invalid value: '': resource or service backend is "
      "required" },
    { "spec/rules/0/http/paths/0/backend/service/port", "{'number':80,'name':'p'}",
      "spec.rules[0].http.paths[0].backend: Invalid value: '': cannot set both port name & "
      "port number" },
    { "spec/rules/0/http/paths/0/backend/service/port", "{}",
      "spec.rules[0].http.paths[0].backend: Required value: port name or number is required" },
    { "spec/rules/0/http/paths/0/backend/service/name", NULL,
      "spec.rules[0].http.paths[0].backend.service.name: Required value" },
    { "spec/rules/0/http/paths/0/backend/resource", "{'kind':'K','name':'n'}",
      "spec.rules[0].http.paths[0].backend: Invalid value: '': cannot set both resource and "
      "service backends" },
    { "spec/rules/0/host", "'*.example.com'", NULL },
    { "metadata/annotations", "{'kubernetes.io/ingress.class':'x'}", NULL },
};

static const struct suite_change ingresses_statuses[] = {
    { "status/loadBalancer/ingress", "[{'ip':'x'}]",
      "status.loadBalancer.ingress[0].ip: Invalid value: 'x': must be a valid IP address, "
      "(e.g. 10.9.8.7 or 2001:db8::ffff)" },
};

static const char ingress_classes_base[] =
    "{" CLUSTER_META ",'spec':{'controller':'example.com/c','parameters':{'kind':'K','name':'n'}}}";

static const struct suite_change ingress_classes[] = {
    { "spec/controller", NULL, "spec.controller: Required value" },
    { "spec/controller", "'x'",
      "spec.controller: Invalid value: 'x': must be a domain-prefixed path (such as "
      "'acme.io/foo')" },
    { "spec/parameters/kind", NULL, "spec.parameters.kind: Required value" },
    { "spec/parameters/name", "'a/b'",
      "spec.parameters.name: Invalid value: 'a/b': may not contain '/'" },
    { "spec/parameters/scope", "'X'",
      "spec.parameters.scope: Unsupported value: 'X': supported values: 'Cluster', "
      "'Namespace'" },
    { "spec/parameters/scope", "'Namespace'",
      "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'" },
    { "spec/parameters/namespace", "'n'",
      "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'" },
};

static const struct suite_change ingress_classes_changes[] = {
    { "spec/controller", "'example.com/d'",
      "spec.controller: Invalid value: 'example.com/d': field is immutable" },
};

static const char ip_addresses_base[] =
    "{'metadata':{'name':'10.0.0.1','uid':'u'},'spec':{'parentRef':{'"
    "resource':'services','namespace':'n','name':'s'}}}";

static const struct suite_change ip_addresses[] = {
    { "spec/parentRef", NULL, "spec.parentRef: Required value" },
    { "spec/parentRef/resource", NULL, "spec.parentRef.resource: Required value" },
    { "spec/parentRef/name", NULL, "spec.parentRef.name: Required value" },
    { "spec/parentRef/name", "'a/b'",
      "spec.parentRef.name: Invalid value: 'a/b': may not contain '/'" },
    { "spec/parentRef/namespace", "'a%b'",
      "spec.parentRef.namespace: Invalid value: 'a%b': may not contain '%'" },
    { "metadata/name", "'10.0.0.01'",
      "metadata.name: Invalid value: '10.0.0.01': must not have leading 0s" },
};

static const struct suite_change ip_addresses_changes[] = {
    { "spec/parentRef/name", "'t'", "spec.parentRef: Invalid value: null: field is immutable" },
};

static const char service_cidrs_base[] = "{" CLUSTER_META ",'spec':{'cidrs':['10.0.0.0/16']}}";

static const struct suite_change service_cidrs[] = {
    { "spec/cidrs", NULL, "spec.cidrs: Required value: at least one CIDR required" },
    { "spec/cidrs", "['10.0.0.0/16','10.1.0.0/16']",
      "spec.cidrs: Invalid value: ['10.0.0.0/16','10.1.0.0/16']: may specify no more than one "
      "IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64" },
    { "spec/cidrs", "['10.0.0.0/16','fd00::/64','10.1.0.0/16']",
      "spec.cidrs: Invalid value: {'CIDRs':['10.0.0.0/16','fd00::/64','10.1.0.0/16']}: may "
      "only hold up to 2 values" },
    { "spec/cidrs", "['10.0.0.1/16']",
      "spec.cidrs[0]: Invalid value: '10.0.0.1/16': must not have bits set beyond the prefix "
      "length" },
    { "spec/cidrs", "['FD00::/64']",
      "spec.cidrs[0]: Invalid value: 'FD00::/64': must be in canonical form ('fd00::/64')" },
    { "spec/cidrs", "['10.0.0.0/16','fd00::/64']", NULL },
};

static const struct suite_change service_cidrs_changes[] = {
    { "spec/cidrs", "['10.1.0.0/16']",
      "spec.cidrs[0]: Invalid value: '10.1.0.0/16': field is immutable" },
    { "spec/cidrs", "['10.0.0.0/16','fd00::/64']", NULL },
    { "spec/cidrs", "[]", "spec.cidrs: Invalid value: null: field is immutable" },
};

static const char endpoint_slices_base[] =
    "{" META ",'addressType':'IPv4','endpoints':[{'addresses':['10.1.2."
    "3']}],'ports':[{'name':'a','port':80}]}";

static const struct suite_change endpoint_slices[] = {
    { "addressType", NULL, "addressType: Required value" },
    { "addressType", "'MAC'",
      "addressType: Unsupported value: 'MAC': supported values: 'FQDN', 'IPv4', 'IPv6'" },
    { "endpoints/0/addresses", "[]", "endpoints[0].addresses: Required value" },
    { "endpoints/0/addresses", "['fd00::1']",
      "endpoints[0].addresses: Invalid value: 'fd00::1': must be an IPv4 address" },
    { "endpoints/0/addresses", "['x']",
      "endpoints[0].addresses[0]: Invalid value: 'x': must be a valid IP address, (e.g. "
      "10.9.8.7 or 2001:db8::ffff)" },
    { "endpoints/0/nodeName", "'a_b'", "endpoints[0].nodeName: Invalid value: 'a_b': " SUBDOMAIN },
    { "endpoints/0/hints", "{'forZones':[{'name':'z'},{'name':'z'}]}",
      "endpoints[0].hints.forZones[1].name: Duplicate value: 'z'" },
    { "ports", "[{'name':'a'},{'name':'a'}]", "ports[1].name: Duplicate value: 'a'" },
    { "ports/0/protocol", "'X'",
      "ports[0].protocol: Unsupported value: 'X': supported values: 'SCTP', 'TCP', 'UDP'" },
    { "ports/0/name", "'a.b'", "ports[0].name: Invalid value: 'a.b': must not contain dots" },
};

static const struct suite_change endpoint_slices_changes[] = {
    { "addressType", "'FQDN'", "addressType: Invalid value: null: field is immutable" },
    { "ports/0/port", "81", NULL },
};

/* CVE-2021-25737: what Endpoints may not point to, slices may not either. */
static const char endpoint_slices_stay_in_the_network_v4[] =
    "{" META ",'addressType':'IPv4','ports':[{'name':'a','port':80}],"
    "'endpoints':[{'addresses':['10.1.2.3']}]}";

static const struct suite_change endpoint_slices_stay_in_the_network[] = {
    { "endpoints/0/addresses/0", "'127.0.0.1'",
      "endpoints[0].addresses[0]: Invalid value: '127.0.0.1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "endpoints/0/addresses/0", "'0.0.0.0'",
      "endpoints[0].addresses[0]: Invalid value: '0.0.0.0': may not be unspecified (0.0.0.0)" },
    { "endpoints/0/addresses/0", "'169.254.1.1'",
      "endpoints[0].addresses[0]: Invalid value: '169.254.1.1': may not be in the link-local "
      "range (169.254.0.0/16, fe80::/10)" },
    { "endpoints/0/addresses/0", "'224.0.0.1'",
      "endpoints[0].addresses[0]: Invalid value: '224.0.0.1': may not be in the link-local "
      "multicast range (224.0.0.0/24, ff02::/10)" },
};

static const char endpoint_slices_stay_in_the_network_v6[] =
    "{" META ",'addressType':'IPv6','ports':[{'name':'a','port':80}],"
    "'endpoints':[{'addresses':['2001:db8::1']}]}";

static const struct suite_change endpoint_slices_stay_in_the_network_v6_rows[] = {
    { "endpoints/0/addresses/0", "'::1'",
      "endpoints[0].addresses[0]: Invalid value: '::1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "endpoints/0/addresses/0", "'fe80::1'",
      "endpoints[0].addresses[0]: Invalid value: 'fe80::1': may not be in the link-local range "
      "(169.254.0.0/16, fe80::/10)" },
    { "endpoints/0/addresses/0", "'ff02::1'",
      "endpoints[0].addresses[0]: Invalid value: 'ff02::1': may not be in the link-local "
      "multicast range (224.0.0.0/24, ff02::/10)" },
};

/* ---- Backends, annotations and updates ---- */

static const char backed_ingress[] =
    "{" META ",'spec':{'defaultBackend':{'service':{'name':'s','port':{'number':80}}}}}";

static const struct suite_change ingress_backends[] = {
    { "spec/defaultBackend", "{}",
      "spec.defaultBackend: Invalid value: '': resource or service backend is required" },
    { "spec/defaultBackend", "{'service':{'name':'s','port':{}}}",
      "spec.defaultBackend: Required value: port name or number is required" },
    { "spec/defaultBackend", "{'service':{'name':'A_b','port':{'number':80,'name':'web'}}}",
      "spec.defaultBackend.service.name: Invalid value: 'A_b': " DNS_LABEL "\n"
      "spec.defaultBackend: Invalid value: '': cannot set both port name & port number" },
    { "spec/defaultBackend", "{'service':{'name':'s','port':{'name':'a_b'}}}",
      "spec.defaultBackend.service.port.name: Invalid value: 'a_b': must contain only "
      "alpha-numeric characters (a-z, 0-9), and hyphens (-)" },
    { "spec/defaultBackend", "{'resource':{'apiGroup':'e.com','kind':'K','name':'n'}}", NULL },
    { "spec/defaultBackend", "{'resource':{'apiGroup':'A_b','kind':'','name':''}}",
      "spec.defaultBackend.resource.apiGroup: Invalid value: 'A_b': " SUBDOMAIN "\n"
      "spec.defaultBackend.resource.kind: Required value\n"
      "spec.defaultBackend.resource.name: Required value" },
    { "spec/defaultBackend",
      "{'resource':{'kind':'K','name':'n'},'service':{'name':'s','port':{'number':80}}}",
      "spec.defaultBackend: Invalid value: '': cannot set both resource and service backends" },
    { "spec/ingressClassName", "'A_b'", "spec.ingressClassName: Invalid value: 'A_b': " SUBDOMAIN },
    { "metadata/annotations", "{'kubernetes.io/ingress.class':'nginx'}", NULL },
    { "spec/rules",
      "[{'http':{'paths':[{'path':'x','pathType':'Prefix','backend':{'service':{'name':'s','port':{"
      "'number':80}}}}]}}]",
      "spec.rules[0].http.paths[0].path: Invalid value: 'x': must be an absolute path" },
    { "spec/rules",
      "[{'http':{'paths':[{'path':'','pathType':'Exact','backend':{'service':{'name':'s','port':{'"
      "number':80}}}}]}}]",
      "spec.rules[0].http.paths[0].path: Invalid value: '': must be an absolute path" },
    { "spec/rules",
      "[{'http':{'paths':[{'path':'/a//"
      "b','pathType':'Prefix','backend':{'service':{'name':'s','port':{'number':80}}}}]}}]",
      "spec.rules[0].http.paths[0].path: Invalid value: '/a//b': must not contain '//'" },
    { "spec/rules",
      "[{'http':{'paths':[{'path':'/"
      "a','pathType':'Odd','backend':{'service':{'name':'s','port':{'number':80}}}}]}}]",
      "spec.rules[0].http.paths[0].pathType: Unsupported value: 'Odd': supported values: 'Exact', "
      "'ImplementationSpecific', 'Prefix'" },
    { "spec/rules",
      "[{'http':{'paths':[{'path':'x','pathType':'ImplementationSpecific','backend':{'service':{'"
      "name':'s','port':{'number':80}}}}]}}]",
      "spec.rules[0].http.paths[0].path: Invalid value: 'x': must be an absolute path" },
    { "spec/rules", "[{'host':'1.2.3.4'},{'host':'*.a'},{'host':'A'}]",
      "spec.rules[0].host: Invalid value: '1.2.3.4': must be a DNS name, not an IP address\n"
      "spec.rules[2].host: Invalid value: 'A': " SUBDOMAIN },
    { "spec/tls", "[{'hosts':['A'],'secretName':'s'}]",
      "spec.tls[0].hosts[0]: Invalid value: 'A': " SUBDOMAIN },
};

static const struct suite_change ingress_updates[] = {
    { "spec/defaultBackend/service/name", "'t'", NULL },
    { "spec/defaultBackend/service/name", "''",
      "spec.defaultBackend.service.name: Required value" },
    { "spec/ingressClassName", "'A_b'", "spec.ingressClassName: Invalid value: 'A_b': " SUBDOMAIN },
};

static const struct suite_change ingress_warnings[] = {
    { "metadata/annotations", "{'kubernetes.io/ingress.class':'x'}",
      "annotation 'kubernetes.io/ingress.class' is deprecated, please use 'spec.ingressClassName' "
      "instead" },
};

/* ---- Classes of ingresses ---- */

static const char parameter_class[] =
    "{" CLUSTER_META
    ",'spec':{'controller':'e.com/c','parameters':{'scope':'Cluster','kind':'K','name':'n'}}}";

static const struct suite_change class_parameters[] = {
    { "spec/parameters/scope", "'Odd'",
      "spec.parameters.scope: Unsupported value: 'Odd': supported values: 'Cluster', 'Namespace'" },
    { "spec/parameters/scope", "'Namespace'",
      "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'" },
    { "spec/parameters", "{'scope':'Namespace','namespace':'A','kind':'K','name':'n'}",
      "spec.parameters.namespace: Invalid value: 'A': " DNS_LABEL },
    { "spec/parameters/namespace", "'n'",
      "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'" },
    { "spec/parameters/apiGroup", "'A_b'",
      "spec.parameters.apiGroup: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/parameters/kind", "''", "spec.parameters.kind: Required value" },
    { "spec/parameters/name", "'a/b'",
      "spec.parameters.name: Invalid value: 'a/b': may not contain '/'" },
    { "spec/controller", "'plain'",
      "spec.controller: Invalid value: 'plain': must be a domain-prefixed path (such as "
      "'acme.io/foo')" },
};

/* ---- Old blocks stay ---- */

static const char block_policy[] =
    "{" META ",'spec':{'podSelector':{},'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.1/"
    "8','except':['10.1.0.1/16']}}]}],'egress':[{'to':[{'ipBlock':{'cidr':'fd00::1/64'}}]}]}}";

static const struct suite_change kept_blocks[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/ingress/0/from/0/ipBlock/cidr", "'10.0.0.2/8'",
      "spec.ingress[0].from[0].ipBlock.cidr: Invalid value: '10.0.0.2/8': must not have bits set "
      "beyond the prefix length" },
    { "spec/podSelector", "{'matchLabels':{'a':'b'}}", NULL },
};

static const char clean_policy[] = "{" META ",'spec':{'podSelector':{},'ingress':[{}]}}";

static const struct suite_change block_warnings[] = {
    { "spec/ingress", "[{'from':[{'ipBlock':{'cidr':'10.0.0.1/8','except':['10.1.0.1/16']}}]}]",
      "spec.ingress[0].from[0].ipBlock.cidr: CIDR value '10.0.0.1/8' is ambiguous in this context "
      "(should be '10.0.0.0/8' or '10.0.0.1/32'?)\n"
      "spec.ingress[0].from[0].ipBlock.except[0]: CIDR value '10.1.0.1/16' is ambiguous in this "
      "context (should be '10.1.0.0/16' or '10.1.0.1/32'?)" },
    { "spec/egress", "[{'to':[{'ipBlock':{'cidr':'fd00::1/64'}}]}]",
      "spec.egress[0].to[0].ipBlock.cidr: CIDR value 'fd00::1/64' is ambiguous in this context "
      "(should be 'fd00::/64' or 'fd00::1/128'?)" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("networking.k8s.io/v1", "NetworkPolicy", network_policies_base,
                      network_policies),
        SUITE_CREATES("networking.k8s.io/v1", "Ingress", ingresses_base, ingresses),
        SUITE_UPDATES_SUB("networking.k8s.io/v1", "Ingress", "status", ingresses_base,
                          ingresses_statuses),
        SUITE_CREATES("networking.k8s.io/v1", "IngressClass", ingress_classes_base,
                      ingress_classes),
        SUITE_UPDATES("networking.k8s.io/v1", "IngressClass", ingress_classes_base,
                      ingress_classes_changes),
        SUITE_CREATES("networking.k8s.io/v1", "IPAddress", ip_addresses_base, ip_addresses),
        SUITE_UPDATES("networking.k8s.io/v1", "IPAddress", ip_addresses_base, ip_addresses_changes),
        SUITE_CREATES("networking.k8s.io/v1", "ServiceCIDR", service_cidrs_base, service_cidrs),
        SUITE_UPDATES("networking.k8s.io/v1", "ServiceCIDR", service_cidrs_base,
                      service_cidrs_changes),
        SUITE_CREATES("discovery.k8s.io/v1", "EndpointSlice", endpoint_slices_base,
                      endpoint_slices),
        SUITE_UPDATES("discovery.k8s.io/v1", "EndpointSlice", endpoint_slices_base,
                      endpoint_slices_changes),
        SUITE_CREATES("discovery.k8s.io/v1", "EndpointSlice",
                      endpoint_slices_stay_in_the_network_v4, endpoint_slices_stay_in_the_network),
        SUITE_CREATES("discovery.k8s.io/v1", "EndpointSlice",
                      endpoint_slices_stay_in_the_network_v6,
                      endpoint_slices_stay_in_the_network_v6_rows),
        SUITE_CREATES("networking.k8s.io/v1", "Ingress", backed_ingress, ingress_backends),
        SUITE_UPDATES("networking.k8s.io/v1", "Ingress", backed_ingress, ingress_updates),
        SUITE_WARNS("networking.k8s.io/v1", "Ingress", backed_ingress, ingress_warnings),
        SUITE_CREATES("networking.k8s.io/v1", "IngressClass", parameter_class, class_parameters),
        SUITE_UPDATES("networking.k8s.io/v1", "NetworkPolicy", block_policy, kept_blocks),
        SUITE_WARNS("networking.k8s.io/v1", "NetworkPolicy", clean_policy, block_warnings),
    };
    return SUITE_MAIN(tables);
}
