/* The small core kinds, nodes, events and endpoints. */
#include "api/validate/validate_check_test.h"

#define SUBDOMAIN                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define QUALIFIED_NAME                                                                             \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE                                                                                \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define CONFIG_KEY                                                                       \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. " \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
#define META         "'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'1'}"
#define CLUSTER_META "'metadata':{'name':'a','uid':'u','resourceVersion':'1'}"

static void config_maps_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" META ",'data':{'k':'v'},'binaryData':{'b':'AA=='}}";
    static const struct refusal rows[] = {
        { "data/bad key", "'x'", "data[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
        { "data/", "'x'", "data[]: Invalid value: '': " CONFIG_KEY },
        { "data/b", "'x'", "data[b]: Invalid value: 'b': duplicate of key present in binaryData" },
        { "binaryData/bad key", "'AA=='",
          "binaryData[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
        { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
    };
    CREATES("v1", "ConfigMap", base, rows);
}

static void immutable_config_maps_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" META ",'data':{'k':'v'},'immutable':true}";
    static const struct refusal changes[] = {
        { "data/k", "'w'", "data: Forbidden: field is immutable when `immutable` is set" },
        { "immutable", "false",
          "immutable: Forbidden: field is immutable when `immutable` is set" },
        { "immutable", NULL, "immutable: Forbidden: field is immutable when `immutable` is set" },
        { "binaryData", "{'b':'AA=='}",
          "binaryData: Forbidden: field is immutable when `immutable` is set" },
        { "metadata/labels", "{'a':'b'}", NULL },
    };
    UPDATES("v1", "ConfigMap", base, changes);
}

static void secrets_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" META ",'data':{'k':'AA=='}}";
    static const struct refusal rows[] = {
        { "data/bad key", "'AA=='", "data[bad key]: Invalid value: 'bad key': " CONFIG_KEY },
        { "type", "'kubernetes.io/tls'", "data[tls.crt]: Required value" },
        { "type", "'kubernetes.io/basic-auth'", "data[username]: Required value" },
        { "type", "'kubernetes.io/ssh-auth'", "data[ssh-privatekey]: Required value" },
        { "type", "'kubernetes.io/dockercfg'", "data[.dockercfg]: Required value" },
        { "type", "'kubernetes.io/service-account-token'",
          "metadata.annotations[kubernetes.io/service-account.name]: Required value" },
        { "type", "'example.com/any'", NULL },
    };
    CREATES("v1", "Secret", base, rows);
}

static void docker_secrets_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'type':'kubernetes.io/dockerconfigjson','data':{'.dockerconfigjson':'e30='}}";
    static const struct refusal rows[] = {
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
    CREATES("v1", "Secret", base, rows);
    static const struct refusal changes[] = {
        { "type", "'Opaque'", "type: Invalid value: 'Opaque': field is immutable" },
        { "data/more", "'AA=='", NULL },
    };
    UPDATES("v1", "Secret", base, changes);
}

static void namespaces_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META "}";
    static const struct refusal rows[] = {
        { "spec/finalizers", "['hold']",
          "spec.finalizers: Invalid value: 'hold': name is neither a standard finalizer name nor "
          "is it fully qualified" },
        { "spec/finalizers", "['example.com/hold']", NULL },
        { "spec/finalizers", "['a b/c']",
          "spec.finalizers: Invalid value: 'a b/c': prefix part " SUBDOMAIN },
        { "metadata/name", "'a.b'", "metadata.name: Invalid value: 'a.b': must not contain dots" },
        { "metadata/namespace", "'n'", "metadata.namespace: Forbidden: not allowed on this type" },
    };
    CREATES("v1", "Namespace", base, rows);
    static const struct refusal finalize_rows[] = {
        { "spec/finalizers", "['hold']",
          "spec.finalizers[0]: Invalid value: 'hold': name is neither a standard finalizer name "
          "nor is it fully qualified" },
    };
    UPDATES_SUB("v1", "Namespace", "finalize", base, finalize_rows);
    static const struct refusal statuses[] = {
        { "status", "{'phase':'Terminating'}",
          "status.Phase: Invalid value: 'Terminating': may only be 'Active' if `deletionTimestamp` "
          "is empty" },
    };
    UPDATES_SUB("v1", "Namespace", "status", base, statuses);
}

static void nodes_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META ",'spec':{'podCIDRs':['10.0.0.0/24'],'providerID':'p'}}";
    static const struct refusal rows[] = {
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
          "status.capacity.cpu: Invalid value: '-1': must be greater than or equal to 0" },
        { "metadata/annotations", "{'scheduler.alpha.kubernetes.io/taints':'x'}",
          "metadata.annotations: Invalid value: 'scheduler.alpha.kubernetes.io/taints': invalid "
          "character 'x' looking for beginning of value" },
        { "metadata/annotations", "{'scheduler.alpha.kubernetes.io/preferAvoidPods':'{'}",
          "metadata.annotations.AvoidPods: Invalid value: "
          "'scheduler.alpha.kubernetes.io/preferAvoidPods': unexpected end of JSON input" },
    };
    CREATES("v1", "Node", base, rows);
    static const struct refusal changes[] = {
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
    UPDATES("v1", "Node", base, changes);
}

static void core_events_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'involvedObject':{'kind':'Pod','namespace':'n','name':'p'}}";
    static const struct refusal rows[] = {
        { "involvedObject/namespace", "'other'",
          "involvedObject.namespace: Invalid value: 'other': does not match event.namespace" },
        { "involvedObject/namespace", NULL,
          "involvedObject.namespace: Invalid value: '': does not match event.namespace" },
        { "eventTime", "'2020-01-02T03:04:05.000000Z'", "reportingComponent: Required value" },
    };
    CREATES("v1", "Event", base, rows);
}

static void timed_core_events_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'involvedObject':{'namespace':'n'},'eventTime':'2020-01-02T03:04:05.000000Z','"
        "reportingComponent':'c','reportingInstance':'i','action':'a','reason':'r'}";
    static const struct refusal rows[] = {
        { "reportingComponent", "'a b'",
          "reportingComponent: Invalid value: 'a b': " QUALIFIED_NAME },
        { "reportingInstance", NULL, "reportingInstance: Required value" },
        { "action", NULL, "action: Required value" },
        { "reason", NULL, "reason: Required value" },
    };
    CREATES("v1", "Event", base, rows);
}

static void events_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'regarding':{'namespace':'n','name':'p'},'eventTime':'2020-01-02T03:04:05."
        "000000Z','reportingController':'c','reportingInstance':'i','action':'a','reason':"
        "'r','type':'Normal','note':'hello'}";
    static const struct refusal rows[] = {
        { "type", "'Odd'", "type: Invalid value: '': has invalid value: Odd" },
        { "deprecatedCount", "1", "count: Invalid value: '': needs to be unset" },
        { "deprecatedSource", "{'host':'h'}", "source: Invalid value: '': needs to be unset" },
        { "deprecatedFirstTimestamp", "'2020-01-02T03:04:05Z'",
          "firstTimestamp: Invalid value: '': needs to be unset" },
        { "series", "{'count':1,'lastObservedTime':'2020-01-02T03:04:05.000000Z'}",
          "series.count: Invalid value: '': should be at least 2" },
        { "reportingController", NULL, "reportingController: Required value" },
        { "regarding/namespace", NULL,
          "involvedObject.namespace: Invalid value: '': does not match event.namespace" },
    };
    CREATES("events.k8s.io/v1", "Event", base, rows);
    static const struct refusal changes[] = {
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
    UPDATES("events.k8s.io/v1", "Event", base, changes);
}

static void endpoints_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'subsets':[{'addresses':[{'ip':'10.1.2.3'}],'ports':[{'port':80}]}]}";
    static const struct refusal rows[] = {
        { "subsets/0/addresses/0/ip", "'1.2.3'",
          "subsets[0].addresses[0].ip: Invalid value: '1.2.3': must be a valid IP address, (e.g. "
          "10.9.8.7 or 2001:db8::ffff)" },
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
    CREATES("v1", "Endpoints", base, rows);
}

static void service_accounts_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" META "}";
    static const struct refusal rows[] = {
        { "metadata/name", "'a/b'", "metadata.name: Invalid value: 'a/b': " SUBDOMAIN },
        { "secrets", "[{'name':'s'}]", NULL },
    };
    CREATES("v1", "ServiceAccount", base, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_maps_are_checked),
        cmocka_unit_test(immutable_config_maps_are_checked),
        cmocka_unit_test(secrets_are_checked),
        cmocka_unit_test(docker_secrets_are_checked),
        cmocka_unit_test(namespaces_are_checked),
        cmocka_unit_test(nodes_are_checked),
        cmocka_unit_test(core_events_are_checked),
        cmocka_unit_test(timed_core_events_are_checked),
        cmocka_unit_test(events_are_checked),
        cmocka_unit_test(endpoints_are_checked),
        cmocka_unit_test(service_accounts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
