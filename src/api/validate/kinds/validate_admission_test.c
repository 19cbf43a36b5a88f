/* Webhooks and admission policies. */
#include "api/validate/suite_validate.h"

static const char webhooks_base[] =
    "{" CLUSTER_META ",'webhooks':[{'name':'a.b.c','clientConfig':{'url':'https://h/"
    "p'},'sideEffects':'None','admissionReviewVersions':['v1'],'rules':[{'operations':['CREATE'"
    "],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}]}]}";

/* Twenty-one audit annotations, with the names of their fields. */
#define ONE(key, value, name) "{" key ":'" name "'," value ":'x'}"
#define TEN(key, value, digit)                                                                    \
    ONE(key, value, digit "0")                                                                    \
    "," ONE(key, value, digit "1") "," ONE(key, value, digit "2") "," ONE(                        \
        key, value,                                                                               \
        digit                                                                                     \
        "3") "," ONE(key, value,                                                                  \
                     digit                                                                        \
                     "4") "," ONE(key, value,                                                     \
                                  digit                                                           \
                                  "5") "," ONE(key, value,                                        \
                                               digit                                              \
                                               "6") "," ONE(key, value,                           \
                                                            digit                                 \
                                                            "7") "," ONE(key, value,              \
                                                                         digit                    \
                                                                         "8") "," ONE(key, value, \
                                                                                      digit "9")
#define MANY(key, value) \
    "[" TEN(key, value, "a") "," TEN(key, value, "b") "," ONE(key, value, "c0") "]"

static const struct suite_change webhooks[] = {
    { "webhooks/0/name", "'a.b'",
      "webhooks[0].name: Invalid value: 'a.b': should be a domain with at least three segments "
      "separated by dots" },
    { "webhooks/0/name", NULL, "webhooks[0].name: Required value" },
    { "webhooks/0/clientConfig", "{}",
      "webhooks[0].clientConfig: Required value: exactly one of url or service is required" },
    { "webhooks/0/clientConfig/url", "'http://h'",
      "webhooks[0].clientConfig.url: Invalid value: 'http': 'https' is the only allowed URL "
      "scheme; desired format: https://host[/path]" },
    { "webhooks/0/clientConfig/url", "'https://'",
      "webhooks[0].clientConfig.url: Invalid value: '': host must be specified; desired "
      "format: https://host[/path]" },
    { "webhooks/0/clientConfig/url", "'https://u:p@h'",
      "webhooks[0].clientConfig.url: Invalid value: 'u:p': user information is not permitted "
      "in the URL" },
    { "webhooks/0/clientConfig/url", "'https://h?a=b'",
      "webhooks[0].clientConfig.url: Invalid value: 'a=b': query parameters are not permitted "
      "in the URL" },
    { "webhooks/0/clientConfig/url", "'https://h#a'",
      "webhooks[0].clientConfig.url: Invalid value: 'a': fragments are not permitted in the "
      "URL" },
    { "webhooks/0/clientConfig/url", "'https://h:x'",
      "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "
      "'https://h:x': invalid port ':x' after host; desired format: https://host[/path]" },
    { "webhooks/0/clientConfig/url", "':'",
      "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse ':': "
      "missing protocol scheme; desired format: https://host[/path]" },
    { "webhooks/0/clientConfig", "{'service':{'name':'s','namespace':'n','path':'x'}}",
      "webhooks[0].clientConfig.service.path: Invalid value: 'x': must start with a '/'\n"
      "webhooks[0].clientConfig.service.path: Invalid value: 'x': segment[0] may not be empty" },
    { "webhooks/0/clientConfig", "{'service':{'name':'s'}}",
      "webhooks[0].clientConfig.service.name: Required value" },
    { "webhooks/0/sideEffects", "'Some'",
      "webhooks[0].sideEffects: Unsupported value: 'Some': supported values: 'None', "
      "'NoneOnDryRun'" },
    { "webhooks/0/sideEffects", NULL,
      "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun" },
    { "webhooks/0/admissionReviewVersions", "['v9']",
      "webhooks[0].admissionReviewVersions: Invalid value: ['v9']: must include at least one "
      "of v1, v1beta1" },
    { "webhooks/0/admissionReviewVersions", NULL,
      "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1" },
    { "webhooks/0/timeoutSeconds", "31",
      "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and "
      "30 seconds" },
    { "webhooks/0/failurePolicy", "'Retry'",
      "webhooks[0].failurePolicy: Unsupported value: 'Retry': supported values: 'Fail', "
      "'Ignore'" },
    { "webhooks/0/matchPolicy", "'Fuzzy'",
      "webhooks[0].matchPolicy: Unsupported value: 'Fuzzy': supported values: 'Equivalent', "
      "'Exact'" },
    { "webhooks/0/rules/0/operations", "['*','CREATE']",
      "webhooks[0].rules[0].operations: Invalid value: ['*','CREATE']: if '*' is present, must "
      "not specify other operations" },
    { "webhooks/0/rules/0/operations", "['READ']",
      "webhooks[0].rules[0].operations[0]: Unsupported value: 'READ': supported values: '*', "
      "'CONNECT', 'CREATE', 'DELETE', 'UPDATE'" },
    { "webhooks/0/rules/0/resources", "['*/*','a']",
      "webhooks[0].rules[0].resources: Invalid value: ['*/*','a']: if '*/*' is present, must "
      "not specify other resources" },
    { "webhooks/0/rules/0/resources", "['a/*','a/b']",
      "webhooks[0].rules[0].resources[1]: Invalid value: 'a/b': if 'a/*' is present, must not "
      "specify a/b" },
    { "webhooks/0/rules/0/resources", "['*','a']",
      "webhooks[0].rules[0].resources: Invalid value: ['*','a']: if '*' is present, must not "
      "specify other resources without subresources" },
    { "webhooks/0/rules/0/scope", "'All'",
      "webhooks[0].rules[0].scope: Unsupported value: 'All': supported values: '*', 'Cluster', "
      "'Namespaced'" },
    { "webhooks/0/matchConditions", "[{'name':'a','expression':' '}]",
      "webhooks[0].matchConditions[0].expression: Required value" },
    { "webhooks/0/matchConditions",
      "[{'name':'a','expression':'true'},{'name':'a','expression':'true'}]",
      "webhooks[0].matchConditions[1].name: Duplicate value: 'a'" },
    { "metadata/name", "'a.static.k8s.io'",
      "metadata.name: Invalid value: 'a.static.k8s.io': names ending with '.static.k8s.io' are "
      "reserved for static manifest-based configurations and cannot be managed via the API" },
};

static const struct suite_change webhooks_changes[] = {
    { "webhooks/0/sideEffects", "'Some'",
      "webhooks[0].sideEffects: Unsupported value: 'Some': supported values: 'None', "
      "'NoneOnDryRun'" },
    { "webhooks/0/timeoutSeconds", "5", NULL },
};

static const char mutating_webhooks_base[] =
    "{" CLUSTER_META
    ",'webhooks':[{'name':'a.b.c','clientConfig':{'service':{'name':'s','namespace':'n'}},'"
    "sideEffects':'None','admissionReviewVersions':['v1']}]}";

static const struct suite_change mutating_webhooks[] = {
    { "webhooks/0/reinvocationPolicy", "'Always'",
      "webhooks[0].reinvocationPolicy: Unsupported value: 'Always': supported values: "
      "'IfNeeded', 'Never'" },
    { "webhooks/0/clientConfig/service/port", "70000",
      "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be "
      "between 1 and 65535, inclusive" },
    { "webhooks/0/clientConfig/service/path", "'/a//b'",
      "webhooks[0].clientConfig.service.path: Invalid value: '/a//b': segment[1] may not be "
      "empty" },
    { "webhooks/0/admissionReviewVersions", "['v1','v1']",
      "webhooks[0].admissionReviewVersions[1]: Invalid value: 'v1': duplicate version" },
    { "webhooks/0/objectSelector", "{'matchLabels':{'a b':'c'}}",
      "webhooks[0].objectSelector.matchLabels: Invalid value: 'a b': " QUALIFIED_NAME },
};

static const char validating_policies_base[] =
    "{" CLUSTER_META
    ",'spec':{'matchConstraints':{'resourceRules':[{'operations':['CREATE'],'apiGroups':[''],'"
    "apiVersions':['v1'],'resources':['pods']}]},'validations':[{'expression':'true'}]}}";

static const struct suite_change validating_policies[] = {
    { "spec/matchConstraints", NULL, "spec.matchConstraints: Required value" },
    { "spec/matchConstraints/resourceRules", NULL,
      "spec.matchConstraints.resourceRules: Required value" },
    { "spec/validations", NULL,
      "spec.validations: Required value: validations or auditAnnotations must contain at least one "
      "item\n"
      "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at "
      "least one item" },
    { "spec/validations/0/expression", "' '",
      "spec.validations[0].expression: Required value: expression is not specified" },
    { "spec/validations/0/message", "'a\\nb'",
      "spec.validations[0].message: Invalid value: 'a\\nb': must not contain line breaks" },
    { "spec/validations/0/reason", "'Bogus'",
      "spec.validations[0].reason: Unsupported value: 'Bogus': supported values: 'Forbidden', "
      "'Invalid', 'RequestEntityTooLarge'" },
    { "spec/failurePolicy", "'Retry'",
      "spec.failurePolicy: Unsupported value: 'Retry': supported values: 'Fail', 'Ignore'" },
    { "spec/paramKind", "{'apiVersion':'a/b/c','kind':'K'}",
      "spec.paramKind.apiVersion: Invalid value: 'a/b/c': unexpected GroupVersion string: "
      "a/b/c" },
    { "spec/paramKind", "{'apiVersion':'v1'}", "spec.paramKind.kind: Required value" },
    { "spec/variables", "[{'name':'if','expression':'1'}]",
      "spec.variables[0].name: Invalid value: 'if': must be a valid CEL identifier" },
    { "spec/auditAnnotations", MANY("'key'", "'valueExpression'"),
      "spec.auditAnnotations: Invalid value: " MANY(
          "'Key'", "'ValueExpression'") ": must not have more than 20 auditAnnotations" },
    { "spec/auditAnnotations",
      "[{'key':'a','valueExpression':'x'},{'key':'a','valueExpression':'x'}]",
      "spec.auditAnnotations[1].key: Duplicate value: 'a'" },
    { "spec/matchConstraints/resourceRules/0/resourceNames", "['a','a']",
      "spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: 'a'" },
};

static const char validating_bindings_base[] =
    "{" CLUSTER_META ",'spec':{'policyName':'p','validationActions':['Deny']}}";

static const struct suite_change validating_bindings[] = {
    { "spec/policyName", NULL, "spec.policyName: Required value" },
    { "spec/policyName", "'A'", "spec.policyName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/validationActions", NULL, "spec.validationActions: Required value" },
    { "spec/validationActions", "['Shout']",
      "spec.validationActions[0]: Unsupported value: 'Shout': supported values: 'Audit', "
      "'Deny', 'Warn'" },
    { "spec/validationActions", "['Deny','Deny']",
      "spec.validationActions[1]: Duplicate value: 'Deny'" },
    { "spec/validationActions", "['Deny','Warn']",
      "spec.validationActions: Invalid value: ['Deny','Warn']: must not contain both Deny and "
      "Warn (repeating the same validation failure information in the API response and headers "
      "serves no purpose)" },
    { "spec/paramRef", "{}",
      "spec.paramRef: Required value: one of name or selector must be specified\n"
      "spec.paramRef.parameterNotFoundAction: Required value" },
    { "spec/paramRef", "{'name':'n','selector':{},'parameterNotFoundAction':'Deny'}",
      "spec.paramRef.name: Forbidden: name and selector are mutually exclusive\n"
      "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive" },
    { "spec/matchResources", "{'matchPolicy':'X'}",
      "spec.matchResources.matchPolicy: Unsupported value: 'X': supported values: "
      "'Equivalent', 'Exact'" },
};

static const char mutating_policies_base[] =
    "{" CLUSTER_META
    ",'spec':{'reinvocationPolicy':'Never','matchConstraints':{'resourceRules':[{'operations':["
    "'CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}]},'mutations':[{'"
    "patchType':'JSONPatch','jsonPatch':{'expression':'[]'}}]}}";

static const struct suite_change mutating_policies[] = {
    { "spec/mutations", NULL,
      "spec.mutations: Required value: mutations must contain at least one item" },
    { "spec/mutations/0/patchType", NULL, "spec.mutations[0].patchType: Required value" },
    { "spec/mutations/0/patchType", "'X'",
      "spec.mutations[0].patchType: Unsupported value: 'X': supported values: "
      "'ApplyConfiguration', 'JSONPatch'" },
    { "spec/mutations/0/patchType", "'ApplyConfiguration'",
      "spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is "
      "ApplyConfiguration\n"
      "spec.mutations[0].jsonPatch: Invalid value: '{jsonPatch}': must not be specified when "
      "patchType is ApplyConfiguration" },
    { "spec/mutations/0/jsonPatch", "{'expression':''}",
      "spec.mutations[0].jsonPatch.expression: Required value" },
    { "spec/mutations/0/applyConfiguration", "{'expression':'x'}",
      "spec.mutations[0].applyConfiguration: Invalid value: '{applyConfiguration}': must not "
      "be specified when patchType is JSONPatch" },
    { "spec/reinvocationPolicy", "'Always'",
      "spec.reinvocationPolicy: Unsupported value: 'Always': supported values: 'IfNeeded', "
      "'Never'" },
    { "spec/matchConstraints/resourceRules/0/operations", "['DELETE']",
      "spec.matchConstraints.resourceRules.operations: Unsupported value: 'DELETE': supported "
      "values: '*', 'CONNECT', 'CREATE', 'UPDATE'" },
    { "spec/variables", "[{'expression':'1'}]",
      "spec.variables[0].name: Required value: name is not specified" },
};

static const char mutating_bindings_base[] = "{" CLUSTER_META ",'spec':{'policyName':'p'}}";

static const struct suite_change mutating_bindings[] = {
    { "spec/policyName", NULL, "spec.policyName: Required value" },
    { "spec/policyName", "'A'", "spec.policyName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/paramRef", "{'parameterNotFoundAction':'Deny'}",
      "spec.paramRef: Required value: one of name or selector must be specified" },
    { "spec/paramRef", "{'name':'n','parameterNotFoundAction':'X'}",
      "spec.paramRef.parameterNotFoundAction: Unsupported value: 'X': supported values: "
      "'Deny', 'Allow'" },
    { "spec/paramRef", "{'name':'a/b','parameterNotFoundAction':'Deny'}",
      "spec.paramRef.name: Invalid value: 'a/b': may not contain '/'" },
    { "spec/matchResources",
      "{'resourceRules':[{'operations':['DELETE'],'apiGroups':[''],'apiVersions':['v1'],'"
      "resources':['pods']}]}",
      "spec.matchResources.resourceRules.operations: Unsupported value: 'DELETE': supported "
      "values: '*', 'CONNECT', 'CREATE', 'UPDATE'" },
};

/* ---- Hooks, more closely ---- */

#define HOOK(more)                                                                     \
    "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':['v1'],'" \
    "clientConfig':{'url':'https://h.example.com/'}" more "}]"

#define RULE(rule) HOOK(",'rules':[{" rule "}]")

static const char hooks[] = "{" CLUSTER_META ",'webhooks':" HOOK("") "}";

static const struct suite_change hook_rules[] = {
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':['*'],'apiVersions':['v1'],'resources':['pods']"),
      NULL },
    { "webhooks", RULE("'operations':[],'apiGroups':[],'apiVersions':[],'resources':[]"),
      "webhooks[0].rules[0].operations: Required value\n"
      "webhooks[0].rules[0].apiGroups: Required value\n"
      "webhooks[0].rules[0].apiVersions: Required value\n"
      "webhooks[0].rules[0].resources: Required value" },
    { "webhooks",
      RULE("'operations':['*','CREATE'],'apiGroups':['','*'],'apiVersions':['*','v1'],'resources':["
           "'*']"),
      "webhooks[0].rules[0].operations: Invalid value: ['*','CREATE']: if '*' is present, must not "
      "specify other operations\n"
      "webhooks[0].rules[0].apiGroups: Invalid value: ['','*']: if '*' is present, must not "
      "specify other API groups\n"
      "webhooks[0].rules[0].apiVersions: Invalid value: ['*','v1']: if '*' is present, must not "
      "specify other API versions" },
    { "webhooks",
      RULE("'operations':['MAKE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']"),
      "webhooks[0].rules[0].operations[0]: Unsupported value: 'MAKE': supported values: '*', "
      "'CONNECT', 'CREATE', 'DELETE', 'UPDATE'" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':[''],'apiVersions':[''],'resources':['']"),
      "webhooks[0].rules[0].apiVersions[0]: Required value\n"
      "webhooks[0].rules[0].resources[0]: Required value" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['*/"
           "*','pods']"),
      "webhooks[0].rules[0].resources: Invalid value: ['*/*','pods']: if '*/*' is present, must "
      "not specify other resources" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods/"
           "*','pods/status']"),
      "webhooks[0].rules[0].resources[1]: Invalid value: 'pods/status': if 'pods/*' is present, "
      "must not specify pods/status" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['*/"
           "scale','deployments/scale']"),
      "webhooks[0].rules[0].resources[1]: Invalid value: 'deployments/scale': if '*/scale' is "
      "present, must not specify deployments/scale" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods'],'"
           "scope':'Odd'"),
      "webhooks[0].rules[0].scope: Unsupported value: 'Odd': supported values: '*', 'Cluster', "
      "'Namespaced'" },
    { "webhooks",
      RULE("'operations':['CONNECT'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods/"
           "exec'],'scope':'Namespaced'"),
      NULL },
};

static const struct suite_change hook_fields[] = {
    { "webhooks", HOOK(",'failurePolicy':'Odd'"),
      "webhooks[0].failurePolicy: Unsupported value: 'Odd': supported values: 'Fail', 'Ignore'" },
    { "webhooks", HOOK(",'matchPolicy':'Odd'"),
      "webhooks[0].matchPolicy: Unsupported value: 'Odd': supported values: 'Equivalent', "
      "'Exact'" },
    { "webhooks", HOOK(",'timeoutSeconds':0"),
      "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 "
      "seconds" },
    { "webhooks", HOOK(",'timeoutSeconds':31"),
      "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
      "seconds" },
    { "webhooks", HOOK(",'namespaceSelector':{'matchLabels':{'a':'b c'}}"),
      "webhooks[0].namespaceSelector.matchLabels: Invalid value: 'b c': " LABEL_VALUE },
    { "webhooks", HOOK(",'objectSelector':{'matchExpressions':[{'key':'a','operator':'Near'}]}"),
      "webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value: 'Near': not a valid "
      "selector operator" },
    { "webhooks", HOOK(",'matchConditions':[{'name':'c','expression':'true'}]"), NULL },
    { "webhooks", HOOK(",'matchConditions':[{'name':'','expression':''}]"),
      "webhooks[0].matchConditions[0].expression: Required value\n"
      "webhooks[0].matchConditions[0].name: Required value" },
    { "webhooks", HOOK(",'matchConditions':[{'name':'a b','expression':'true'}]"),
      "webhooks[0].matchConditions[0].name: Invalid value: 'a b': " QUALIFIED_NAME },
    { "webhooks",
      HOOK(
          ",'matchConditions':[{'name':'c','expression':'true'},{'name':'c','expression':'true'}]"),
      "webhooks[0].matchConditions[1].name: Duplicate value: 'c'" },
    { "webhooks",
      "[{'name':'plain','sideEffects':'None','admissionReviewVersions':['v1'],'clientConfig':{'url'"
      ":'https://h.example.com/'}}]",
      "webhooks[0].name: Invalid value: 'plain': should be a domain with at least three segments "
      "separated by dots" },
    { "webhooks",
      "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':['v2'],'"
      "clientConfig':{'url':'https://h.example.com/'}}]",
      "webhooks[0].admissionReviewVersions: Invalid value: ['v2']: must include at least one of "
      "v1, v1beta1" },
    { "webhooks",
      "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':[],'clientConfig':{'"
      "url':'https://h.example.com/'}}]",
      "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1" },
    { "webhooks",
      "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':['v1'],'"
      "clientConfig':{'url':'https://u:p@h.example.com/?q#f'}}]",
      "webhooks[0].clientConfig.url: Invalid value: 'u:p': user information is not permitted in "
      "the URL\n"
      "webhooks[0].clientConfig.url: Invalid value: 'f': fragments are not permitted in the URL\n"
      "webhooks[0].clientConfig.url: Invalid value: 'q': query parameters are not permitted in the "
      "URL" },
    { "webhooks",
      "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':['v1'],'"
      "clientConfig':{'service':{'namespace':'n','name':'s','path':'/a//b','port':70000}}}]",
      "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be "
      "between 1 and 65535, inclusive\n"
      "webhooks[0].clientConfig.service.path: Invalid value: '/a//b': segment[1] may not be "
      "empty" },
    { "webhooks",
      "[{'name':'a.example.com','sideEffects':'None','admissionReviewVersions':['v1'],'"
      "clientConfig':{'service':{'namespace':'n','name':'s','path':'/a/b c/'}}}]",
      "webhooks[0].clientConfig.service.path: Invalid value: '/a/b c/': segment[1]: " SUBDOMAIN },
};

static const char mutators[] =
    "{" CLUSTER_META ",'webhooks':" HOOK(",'reinvocationPolicy':'Never'") "}";

static const struct suite_change mutators_more[] = {
    { "webhooks", HOOK(",'reinvocationPolicy':'Sometimes'"),
      "webhooks[0].reinvocationPolicy: Unsupported value: 'Sometimes': supported values: "
      "'IfNeeded', 'Never'" },
    { "webhooks", HOOK(",'reinvocationPolicy':'IfNeeded'"), NULL },
};

static const struct suite_change hook_updates[] = {
    { "webhooks", HOOK(",'timeoutSeconds':5"), NULL },
    { "webhooks", HOOK(",'timeoutSeconds':50"),
      "webhooks[0].timeoutSeconds: Invalid value: 50: the timeout value must be between 1 and 30 "
      "seconds" },
};

static const struct suite_change hook_warnings[] = {
    { "metadata/name", "'a.static.k8s.io'",
      "metadata.name: names ending with '.static.k8s.io' are reserved for static manifest-based "
      "configurations and cannot be managed via the API" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':['authorization.k8s.io'],'apiVersions':['v1'],'"
           "resources':['subjectaccessreviews']"),
      "webhooks[0].rules[0]: subjectaccessreviews.authorization.k8s.io is excluded from admission "
      "webhooks; this rule will have no effect" },
    { "webhooks",
      RULE("'operations':['CREATE'],'apiGroups':['*'],'apiVersions':['v1'],'resources':['"
           "subjectaccessreviews']"),
      NULL },
};

/* ---- Policies that change ---- */

static const char policy[] =
    "{" CLUSTER_META ",'spec':{'failurePolicy':'Fail','matchConstraints':{'matchPolicy':'"
    "Equivalent','namespaceSelector':{},'objectSelector':{},'resourceRules':[{'"
    "operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['"
    "pods']}]},'validations':[{'expression':'true'}]}}";

static const struct suite_change policy_updates[] = {
    { "spec/failurePolicy", "'Odd'",
      "spec.failurePolicy: Unsupported value: 'Odd': supported values: 'Fail', 'Ignore'" },
    { "spec/failurePolicy", "'Ignore'", NULL },
    { "spec/validations/0/expression", "''",
      "spec.validations[0].expression: Required value: expression is not specified" },
    { "spec/validations", "[{'expression':'true','message':' '}]",
      "spec.validations[0].message: Invalid value: ' ': must be non-empty if specified" },
    { "spec/validations", "[{'expression':'true','messageExpression':' '}]",
      "spec.validations[0].messageExpression: Invalid value: ' ': must be non-empty if specified" },
    { "spec/validations", "[{'expression':'a ||\\nb'}]", NULL },
    { "spec/validations", "[{'expression':'true','reason':'Odd'}]",
      "spec.validations[0].reason: Unsupported value: 'Odd': supported values: 'Forbidden', "
      "'Invalid', 'RequestEntityTooLarge'" },
    { "spec/paramKind", "{'apiVersion':'v1','kind':''}", "spec.paramKind.kind: Required value" },
    { "spec/paramKind", "{'apiVersion':'a/b/c','kind':'K'}",
      "spec.paramKind.apiVersion: Invalid value: 'a/b/c': unexpected GroupVersion string: a/b/c" },
    { "spec/paramKind", "{'apiVersion':'','kind':'K'}",
      "spec.paramKind.apiVersion: Required value" },
    { "spec/paramKind", "{'apiVersion':'e.com/v1','kind':'A b'}",
      "spec.paramKind.kind: Invalid value: 'A b': may have mixed case, but should otherwise "
      "match: " LABEL_1035 },
    { "spec/auditAnnotations", "[{'key':'k','valueExpression':'string(1)'}]", NULL },
    { "spec/auditAnnotations", "[{'key':'','valueExpression':''}]",
      "spec.auditAnnotations[0].key: Invalid value: 'a/': name part must be non-empty\n"
      "spec.auditAnnotations[0].key: Invalid value: 'a/': " QUALIFIED_NAME "\n"
      "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not "
      "specified" },
    { "spec/auditAnnotations",
      "[{'key':'k','valueExpression':'a'},{'key':'k','valueExpression':'b'}]",
      "spec.auditAnnotations[1].key: Duplicate value: 'k'" },
    { "spec/variables", "[{'name':'v','expression':'1'}]", NULL },
    { "spec/variables", "[{'name':'','expression':''}]",
      "spec.variables[0].name: Required value: name is not specified\n"
      "spec.variables[0].expression: Required value: expression is not specified" },
    { "spec/variables", "[{'name':'a-b','expression':'1'}]",
      "spec.variables[0].name: Invalid value: 'a-b': must be a valid CEL identifier" },
    { "spec/matchConditions", "[{'name':'c','expression':' '}]",
      "spec.matchConditions[0].expression: Required value" },
};

static const struct suite_change policy_statuses[] = {
    { "status", "{'typeChecking':{'expressionWarnings':[{'fieldRef':'','warning':''}]}}",
      "status.typeChecking.expressionWarnings[0].warning: Required value\n"
      "status.typeChecking.expressionWarnings[0].fieldRef: Required value" },
    { "status",
      "{'typeChecking':{'expressionWarnings':[{'fieldRef':'spec.validations[0].expression','"
      "warning':'w'}]},'conditions':[{'type':'a "
      "b','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}]}",
      "status.conditions[0].type: Invalid value: 'a b': " QUALIFIED_NAME },
};

static const char binding[] =
    "{" CLUSTER_META ",'spec':{'policyName':'p','validationActions':['Deny']}}";

static const struct suite_change binding_updates[] = {
    { "spec/policyName", "''", "spec.policyName: Required value" },
    { "spec/policyName", "'A b'", "spec.policyName: Invalid value: 'A b': " SUBDOMAIN },
    { "spec/validationActions", "[]", "spec.validationActions: Required value" },
    { "spec/validationActions", "['Odd']",
      "spec.validationActions[0]: Unsupported value: 'Odd': supported values: 'Audit', 'Deny', "
      "'Warn'" },
    { "spec/validationActions", "['Audit','Warn']", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                      webhooks_base, webhooks),
        SUITE_UPDATES("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                      webhooks_base, webhooks_changes),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
                      mutating_webhooks_base, mutating_webhooks),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
                      validating_policies_base, validating_policies),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
                      validating_bindings_base, validating_bindings),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy",
                      mutating_policies_base, mutating_policies),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding",
                      mutating_bindings_base, mutating_bindings),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", hooks,
                      hook_rules),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", hooks,
                      hook_fields),
        SUITE_CREATES("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", mutators,
                      mutators_more),
        SUITE_UPDATES("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", hooks,
                      hook_updates),
        SUITE_WARNS_UPDATE("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                           hooks, hook_warnings),
        SUITE_UPDATES("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", policy,
                      policy_updates),
        SUITE_UPDATES_SUB("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "status",
                          policy, policy_statuses),
        SUITE_UPDATES("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
                      binding, binding_updates),
    };
    return SUITE_MAIN(tables);
}
