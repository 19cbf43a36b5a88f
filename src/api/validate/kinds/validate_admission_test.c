/* Webhooks and admission policies. */
#include "api/validate/suite_validate.h"

static const char webhooks_base[] =
    "{" CLUSTER_META ",'webhooks':[{'name':'a.b.c','clientConfig':{'url':'https://h/"
    "p'},'sideEffects':'None','admissionReviewVersions':['v1'],'rules':[{'operations':['CREATE'"
    "],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}]}]}";

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
    };
    return SUITE_MAIN(tables);
}
