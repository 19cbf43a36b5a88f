/* Endpoints and slices of them. */
#include "api/validate/suite_validate.h"

static const char endpoints[] =
    "{" META ",'subsets':[{'addresses':[{'ip':'10.1.2.3'}],'ports':[{'port':80}]}]}";

static const struct suite_change addresses[] = {
    { "subsets/0/addresses/0/hostname", "'a.b'",
      "subsets[0].addresses[0].hostname: Invalid value: 'a.b': must not contain dots" },
    { "subsets/0/addresses/0/nodeName", "'A'",
      "subsets[0].addresses[0].nodeName: Invalid value: 'A': " SUBDOMAIN },
    { "subsets/0/addresses/0/nodeName", "'n1'", NULL },
    { "subsets/0/notReadyAddresses", "[{'ip':'x'}]",
      "subsets[0].notReadyAddresses[0].ip: Invalid value: 'x': must be a valid IP address, (e.g. "
      "10.9.8.7 or 2001:db8::ffff)\n"
      "subsets[0].notReadyAddresses[0].ip: Invalid value: 'x': must be a valid IP address" },
    { "subsets/0/ports/0/name", "'a_b'",
      "subsets[0].ports[0].name: Invalid value: 'a_b': " DNS_LABEL },
    { "subsets/0/ports/0/appProtocol", "'a b'",
      "subsets[0].ports[0].appProtocol: Invalid value: 'a b': " QUALIFIED_NAME },
    { "subsets/0/ports/0/appProtocol", "'example.com/x'", NULL },
    { "subsets", NULL, NULL },
};

static const struct suite_change changes[] = {
    { "subsets/0/addresses/0/ip", "'10.1.2.4'", NULL },
    { "subsets/0/addresses/0/ip", "'127.0.0.1'",
      "subsets[0].addresses[0].ip: Invalid value: '127.0.0.1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const char old_endpoints[] =
    "{" META ",'subsets':[{'addresses':[{'ip':'010.1.2.3'}],'ports':[{'port':80}]}]}";

/* What was stored before there was a rule stays good as long as it stays. */
static const struct suite_change old_addresses[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "subsets/0/ports/0/port", "81",
      "subsets[0].addresses[0].ip: Invalid value: '010.1.2.3': must not have leading 0s" },
};

static const struct suite_change warnings[] = {
    { "subsets/0/addresses/0/ip", "'010.1.2.3'",
      "subsets[0].addresses[0].ip: non-standard IP address '010.1.2.3' is invalid: use "
      "'10.1.2.3'" },
    { "subsets/0/notReadyAddresses", "[{'ip':'::ffff:10.1.2.3'}]",
      "subsets[0].notReadyAddresses[0].ip: non-standard IP address '::ffff:10.1.2.3' is invalid: "
      "use '10.1.2.3'" },
    { "subsets/0/addresses/0/ip", "'FD00::1'",
      "subsets[0].addresses[0].ip: IPv6 address 'FD00::1' should be in RFC 5952 canonical format "
      "('fd00::1')" },
};

/* ---- Slices ---- */

static const char slice[] = "{" META ",'addressType':'IPv4','endpoints':[{'addresses':['10.1.2.3']}"
                            "],'ports':[{'name':'p','port':80,'protocol':'TCP'}]}";

static const struct suite_change slices[] = {
    { "addressType", "'FQDN'", NULL },
    { "addressType", "'IPv6'",
      "endpoints[0].addresses: Invalid value: '10.1.2.3': must be an IPv6 address" },
    { "addressType", "'Odd'",
      "addressType: Unsupported value: 'Odd': supported values: 'FQDN', 'IPv4', 'IPv6'" },
    { "addressType", "''", "addressType: Required value" },
    { "endpoints/0/addresses", "[]", "endpoints[0].addresses: Required value" },
    { "endpoints/0/addresses", "['10.1.2.3','10.1.2.4']", NULL },
    { "endpoints/0/addresses", "['127.0.0.1']",
      "endpoints[0].addresses[0]: Invalid value: '127.0.0.1': may not be in the loopback range "
      "(127.0.0.0/8, ::1/128)" },
    { "endpoints/0/hostname", "'a.b'",
      "endpoints[0].hostname: Invalid value: 'a.b': must not contain dots" },
    { "endpoints/0/hostname", "'a'", NULL },
    { "endpoints/0/nodeName", "'A'", "endpoints[0].nodeName: Invalid value: 'A': " SUBDOMAIN },
    { "endpoints/0/zone", "'z'", NULL },
    { "endpoints/0/hints", "{'forZones':[{'name':'z'}]}", NULL },
    { "endpoints/0/hints", "{'forZones':[{'name':''}]}", NULL },
    { "endpoints/0/hints", "{'forZones':[{'name':'z'},{'name':'z'}]}",
      "endpoints[0].hints.forZones[1].name: Duplicate value: 'z'" },
    { "endpoints/0/hints", "{'forNodes':[{'name':'n'},{'name':'n'}]}",
      "endpoints[0].hints.forNodes[1].name: Duplicate value: 'n'" },
    { "ports/0/name", "'A'", "ports[0].name: Invalid value: 'A': " DNS_LABEL },
    { "ports/0/name", "'a-name-that-is-long-but-not-too-long'", NULL },
    { "ports/0/protocol", "'X'",
      "ports[0].protocol: Unsupported value: 'X': supported values: 'SCTP', 'TCP', 'UDP'" },
    { "ports/0/appProtocol", "'a b'",
      "ports[0].appProtocol: Invalid value: 'a b': " QUALIFIED_NAME },
    { "ports/0/appProtocol", "'http'", NULL },
    { "ports", "[{'name':'p','port':80,'protocol':'TCP'},{'name':'p','port':81,'protocol':'TCP'}]",
      "ports[1].name: Duplicate value: 'p'" },
    { "ports", NULL, NULL },
};

static const struct suite_change slice_changes[] = {
    { "addressType", "'IPv6'", "addressType: Invalid value: null: field is immutable" },
    { "endpoints/0/addresses", "['10.1.2.4']", NULL },
};

static const char named_slice[] =
    "{" META ",'addressType':'FQDN','endpoints':[{'addresses':['a.example.com']}]}";

static const struct suite_change named_slices[] = {
    { "endpoints/0/addresses", "['b.example.com']", NULL },
    { "endpoints/0/addresses", "['A_b']",
      "endpoints[0].addresses[0]: Invalid value: 'A_b': " SUBDOMAIN },
};

static const struct suite_change slice_warnings[] = {
    { "addressType", "'FQDN'", "spec.addressType: FQDN endpoints are deprecated" },
    { "endpoints/0/addresses", "['010.1.2.3']",
      "endpoints[0].addresses[0]: non-standard IP address '010.1.2.3' is invalid: use '10.1.2.3'" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Endpoints", endpoints, addresses),
        SUITE_UPDATES("v1", "Endpoints", endpoints, changes),
        SUITE_UPDATES("v1", "Endpoints", old_endpoints, old_addresses),
        SUITE_WARNS("v1", "Endpoints", endpoints, warnings),
        SUITE_CREATES("discovery.k8s.io/v1", "EndpointSlice", slice, slices),
        SUITE_UPDATES("discovery.k8s.io/v1", "EndpointSlice", slice, slice_changes),
        SUITE_CREATES("discovery.k8s.io/v1", "EndpointSlice", named_slice, named_slices),
        SUITE_WARNS("discovery.k8s.io/v1", "EndpointSlice", slice, slice_warnings),
    };
    return SUITE_MAIN(tables);
}
