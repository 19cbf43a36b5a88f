/* Flow control, leases, API services and migrations. */
#include "api/validate/suite_validate.h"

static const char flow_schemas_base[] =
    "{" CLUSTER_META ",'spec':{'priorityLevelConfiguration':{'name':'p'},'rules':[{'subjects':["
    "{'kind':'User','user':{'name':'u'}}],'resourceRules':[{'verbs':['get'],'"
    "apiGroups':[''],'resources':['pods'],'namespaces':['*']}]}]}}";

static const struct suite_change flow_schemas[] = {
    { "spec/matchingPrecedence", "10001",
      "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000" },
    { "spec/matchingPrecedence", "1",
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
      "matchingPrecedence 1" },
    { "spec/priorityLevelConfiguration/name", NULL,
      "spec.priorityLevelConfiguration.name: Required value: must reference a priority level" },
    { "spec/distinguisherMethod", "{'type':'ByMood'}",
      "spec.distinguisherMethod.type: Unsupported value: {'Type':'ByMood'}: supported values: "
      "'ByNamespace', 'ByUser'" },
    { "spec/rules/0/subjects", "[]",
      "spec.rules[0].subjects: Required value: subjects must contain at least one value" },
    { "spec/rules/0/subjects/0/kind", "'Robot'",
      "spec.rules[0].subjects[0].kind: Unsupported value: 'Robot': supported values: 'Group', "
      "'ServiceAccount', 'User'" },
    { "spec/rules/0/subjects/0/user", NULL,
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is "
      "'User'" },
    { "spec/rules/0/subjects/0/group", "{'name':'g'}",
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not "
      "'Group'" },
    { "spec/rules/0/subjects", "[{'kind':'ServiceAccount','serviceAccount':{'name':'*'}}]",
      "spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify "
      "namespace for service account" },
    { "spec/rules/0/resourceRules", NULL,
      "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has "
      "to be non-empty" },
    { "spec/rules/0/resourceRules/0/verbs", "['feed']",
      "spec.rules[0].resourceRules[0].verbs: Unsupported value: ['feed']: supported values: "
      "'create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', "
      "'watch'" },
    { "spec/rules/0/resourceRules/0/verbs", "['*','get']",
      "spec.rules[0].resourceRules[0].verbs: Invalid value: ['*','get']: if '*' is present, "
      "must not specify other verbs" },
    { "spec/rules/0/resourceRules/0/namespaces", NULL,
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not "
      "cluster scoped must supply at least one namespace" },
    { "spec/rules/0/resourceRules/0/namespaces", "['A']",
      "spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: 'A': each member of this "
      "list must be '*' or a DNS-1123 label; " DNS_LABEL },
    { "spec/rules/0/nonResourceRules", "[{'verbs':['get'],'nonResourceURLs':['x']}]",
      "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: 'x': must start "
      "with slash" },
    { "spec/rules/0/nonResourceRules", "[{'verbs':['get'],'nonResourceURLs':['/a*']}]",
      "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: '/a*': wildcard "
      "can only do suffix matching" },
    { "metadata/name", "'exempt'",
      "spec: Invalid value: "
      "{'PriorityLevelConfiguration':{'Name':'p'},'MatchingPrecedence':1000,'"
      "DistinguisherMethod':null,'Rules':[{'Subjects':[{'Kind':'User','User':{'Name':'u'},'"
      "Group':null,'ServiceAccount':null}],'ResourceRules':[{'Verbs':['get'],'APIGroups':[''],'"
      "Resources':['pods'],'ClusterScope':false,'Namespaces':['*']}],'NonResourceRules':null}]}"
      ": spec of 'exempt' must equal the fixed value" },
};

static const char priority_levels_base[] =
    "{" CLUSTER_META ",'spec':{'type':'Limited','limited':{'limitResponse':{'type':'Queue','"
    "queuing':{'queues':64,'handSize':8,'queueLengthLimit':50}}}}}";

static const struct suite_change priority_levels[] = {
    { "spec/type", "'Bogus'",
      "spec.type: Unsupported value: 'Bogus': supported values: 'Exempt', 'Limited'\n"
      "spec.limited: Forbidden" },
    { "spec/type", "'Exempt'",
      "spec.type: Invalid value: 'Exempt': must be 'Exempt' if and only if `name` is 'exempt'\n"
      "spec.limited: Forbidden" },
    { "spec/limited", NULL, "spec.limited: Required value" },
    { "spec/limited/lendablePercent", "101",
      "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, "
      "inclusive" },
    { "spec/limited/nominalConcurrencyShares", "-1",
      "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative "
      "integer" },
    { "spec/limited/borrowingLimitPercent", "-1",
      "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a "
      "non-negative integer" },
    { "spec/limited/limitResponse/type", "'Reject'",
      "spec.limited.limitResponse.queuing: Forbidden" },
    { "spec/limited/limitResponse/queuing/queues", "-1",
      "spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive\n"
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than "
      "queues (-1)" },
    { "spec/limited/limitResponse/queuing/handSize", "65",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater "
      "than queues (64)" },
    { "spec/limited/limitResponse/queuing/handSize", "20",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 20: required entropy bits "
      "of deckSize 64 and handSize 20 should not be greater than 60" },
    { "spec/limited/limitResponse/queuing/queueLengthLimit", "-1",
      "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be "
      "positive" },
    { "spec/exempt", "{}", "spec.exempt: Forbidden" },
    { "metadata/name", "'catch-all'",
      "spec: Invalid value: "
      "{'Type':'Limited','Limited':{'NominalConcurrencyShares':30,'LimitResponse':{'Type':'"
      "Queue','Queuing':{'Queues':64,'HandSize':8,'QueueLengthLimit':50}},'LendablePercent':0,'"
      "BorrowingLimitPercent':null},'Exempt':null}: spec of 'catch-all' must equal the fixed "
      "value" },
};

static const char leases_base[] =
    "{'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion'"
    ":'1'},'spec':{'leaseDurationSeconds':5}}";

static const struct suite_change leases[] = {
    { "spec/leaseDurationSeconds", "0",
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0" },
    { "spec/leaseDurationSeconds", "-1",
      "spec.leaseDurationSeconds: Invalid value: -1: must be greater than 0" },
    { "spec/leaseTransitions", "-1",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0" },
    { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
    { "metadata/namespace", NULL, "metadata.namespace: Required value" },
};

static const char api_services_base[] =
    "{'metadata':{'name':'v1.example.com','uid':'u'},'spec':{'group':'"
    "example.com','version':'v1','groupPriorityMinimum':100,'"
    "versionPriority':10,'service':{'name':'s','namespace':'n'}}}";

static const struct suite_change api_services[] = {
    { "spec/groupPriorityMinimum", "0",
      "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000" },
    { "spec/versionPriority", "1001",
      "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000" },
    { "spec/service/name", NULL, "spec.service.name: Required value" },
    { "spec/service/namespace", NULL, "spec.service.namespace: Required value" },
    { "spec/service/port", "0",
      "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
      "inclusive" },
    { "metadata/name", "'v2.example.com'",
      "metadata.name: Invalid value: 'v2.example.com': must be `spec.version+'.'+spec.group`: "
      "'v1.example.com'" },
    { "spec",
      "{'group':'example.com','version':'v1','groupPriorityMinimum':100,'versionPriority':10,'"
      "insecureSkipTLSVerify':true}",
      "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
      "insecureSkipTLSVerify" },
};

static const struct suite_change api_services_statuses[] = {
    { "status/conditions", "[{'type':'A','status':'Odd'}]",
      "status.conditions[0].status: Unsupported value: 'Odd': supported values: 'True', "
      "'False', 'Unknown'" },
};

static const char migrations_base[] =
    "{" CLUSTER_META ",'spec':{'resource':{'group':'apps','resource':'deployments'}}}";

static const struct suite_change migrations[] = {
    { "spec/resource/resource", NULL,
      "spec.resource.resource: Required value: resource is required to be set" },
    { "spec/resource/resource", "'A'", "spec.resource.resource: Invalid value: 'A': " LABEL_1035 },
    { "spec/resource/group", "'A'", "spec.resource.group: Invalid value: 'A': " SUBDOMAIN },
    { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
    { "spec", NULL, "spec.resource.resource: Required value: resource is required to be set" },
};

static const struct suite_change migrations_changes[] = {
    { "spec/resource/resource", "'pods'",
      "spec: Invalid value: {'Resource':{'group':'apps','resource':'pods'}}: field is "
      "immutable" },
};

static const struct suite_change migrations_statuses[] = {
    { "status/conditions",
      "[{'type':'Succeeded','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:"
      "04:05Z'},{'type':'Failed','status':'True','reason':'R','lastTransitionTime':'2020-01-"
      "02T03:04:05Z'}]",
      "status.conditions: Invalid value: "
      "[{'type':'Succeeded','status':'True','lastTransitionTime':'2020-01-02T03:04:05Z','"
      "reason':'R','message':''},{'type':'Failed','status':'True','lastTransitionTime':'2020-"
      "01-02T03:04:05Z','reason':'R','message':''}]: Both success and failed conditions cannot "
      "be true at the same time" },
    { "status/resourceVersion", "'x'",
      "status.resourceVersion: Invalid value: 'x': resource version is not well formed: x" },
    { "status/conditions",
      "[{'type':'Running','status':'Odd','reason':'R','lastTransitionTime':'2020-01-02T03:04:"
      "05Z'}]",
      "status.conditions[0].status: Unsupported value: 'Odd': supported values: 'False', "
      "'True', 'Unknown'" },
};

/* ---- Flows, more closely ---- */

#define SUBJECTS "'subjects':[{'kind':'Group','group':{'name':'g'}}]"

static const char flow_schema[] =
    "{" CLUSTER_META
    ",'spec':{'priorityLevelConfiguration':{'name':'p'},'matchingPrecedence':5,'rules':[{" SUBJECTS
    ",'nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}]}}";

static const struct suite_change flow_rules[] = {
    { "spec/rules/0", "{" SUBJECTS ",'nonResourceRules':[{'verbs':[],'nonResourceURLs':[]}]}",
      "spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at least one "
      "value\n"
      "spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must "
      "contain at least one value" },
    { "spec/rules/0",
      "{" SUBJECTS ",'nonResourceRules':[{'verbs':['*','get'],'nonResourceURLs':['*','/x']}]}",
      "spec.rules[0].nonResourceRules[0].verbs: Invalid value: ['*','get']: if '*' is present, "
      "must not specify other verbs\n"
      "spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: ['*','/x']: if '*' is "
      "present, must not specify other non-resource URLs" },
    { "spec/rules/0",
      "{" SUBJECTS ",'nonResourceRules':[{'verbs':['fly'],'nonResourceURLs':['x']}]}",
      "spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ['fly']: supported values: "
      "'create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'\n"
      "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: 'x': must start with "
      "slash" },
    { "spec/rules/0",
      "{" SUBJECTS ",'resourceRules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'"
      "namespaces':['*']}]}",
      NULL },
    { "spec/rules/0", "{" SUBJECTS ",'resourceRules':[{'verbs':[],'apiGroups':[],'resources':[]}]}",
      "spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one "
      "value\n"
      "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at "
      "least one api group\n"
      "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at "
      "least one resource\n"
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not "
      "cluster scoped must supply at least one namespace" },
    { "spec/rules/0",
      "{" SUBJECTS ",'resourceRules':[{'verbs':['get'],'apiGroups':['*',''],'resources':['*','pods'"
      "],'clusterScope':true}]}",
      "spec.rules[0].resourceRules[0].apiGroups: Invalid value: ['*','']: if '*' is present, must "
      "not specify other api groups\n"
      "spec.rules[0].resourceRules[0].resources: Invalid value: ['*','pods']: if '*' is present, "
      "must not specify other resources" },
    { "spec/rules/0",
      "{" SUBJECTS ",'resourceRules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'"
      "namespaces':['A','*']}]}",
      "spec.rules[0].resourceRules[0].namespaces: Invalid value: ['A','*']: if '*' is present, "
      "must not specify other namespaces" },
    { "spec/rules/0",
      "{" SUBJECTS ",'resourceRules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]}",
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not "
      "cluster scoped must supply at least one namespace" },
    { "spec/rules/0", "{" SUBJECTS "}",
      "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be "
      "non-empty" },
    { "spec/rules/0",
      "{'subjects':[],'nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}",
      "spec.rules[0].subjects: Required value: subjects must contain at least one value" },
    { "spec/rules/0",
      "{'subjects':[{'kind':'User','user':{'name':''}}],'nonResourceRules':[{'verbs':['get'],'"
      "nonResourceURLs':['/x']}]}",
      "spec.rules[0].subjects[0].user.name: Required value" },
    { "spec/rules/0",
      "{'subjects':[{'kind':'User','group':{'name':'g'}}],'nonResourceRules':[{'verbs':['get'],'"
      "nonResourceURLs':['/x']}]}",
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is "
      "'User'\n"
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not "
      "'Group'" },
    { "spec/rules/0",
      "{'subjects':[{'kind':'ServiceAccount','serviceAccount':{'namespace':'A','name':'B_'}}],'"
      "nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}",
      "spec.rules[0].subjects[0].serviceAccount.name: Invalid value: 'B_': " SUBDOMAIN "\n"
      "spec.rules[0].subjects[0].serviceAccount.namespace: Invalid value: 'A': " DNS_LABEL },
    { "spec/rules/0",
      "{'subjects':[{'kind':'ServiceAccount','serviceAccount':{'namespace':'','name':''}}],'"
      "nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}",
      "spec.rules[0].subjects[0].serviceAccount.name: Required value\n"
      "spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace "
      "for service account" },
    { "spec/rules/0",
      "{'subjects':[{'kind':'Odd'}],'nonResourceRules':[{'verbs':['get'],'nonResourceURLs':['/"
      "x']}]}",
      "spec.rules[0].subjects[0].kind: Unsupported value: 'Odd': supported values: 'Group', "
      "'ServiceAccount', 'User'" },
    { "spec/matchingPrecedence", "-1",
      "spec.matchingPrecedence: Invalid value: -1: must be a positive value" },
    { "spec/matchingPrecedence", "10001",
      "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000" },
    { "spec/distinguisherMethod", "{'type':'Odd'}",
      "spec.distinguisherMethod.type: Unsupported value: {'Type':'Odd'}: supported values: "
      "'ByNamespace', 'ByUser'" },
    { "spec/priorityLevelConfiguration/name", "''",
      "spec.priorityLevelConfiguration.name: Required value: must reference a priority level" },
};

static const struct suite_change flow_updates[] = {
    { "spec/matchingPrecedence", "2", NULL },
    { "spec/matchingPrecedence", "-2",
      "spec.matchingPrecedence: Invalid value: -2: must be a positive value" },
};

static const struct suite_change flow_statuses[] = {
    { "status/conditions", "[{'type':'Dangling','status':'False'}]", NULL },
    { "status/conditions",
      "[{'type':'Dangling','status':'False'},{'type':'Dangling','status':'True'}]",
      "status.conditions[1].type: Duplicate value: 'Dangling'" },
    { "status/conditions", "[{'type':'','status':'True'}]",
      "status.conditions[0].type: Required value" },
};

static const char level[] =
    "{" CLUSTER_META ",'spec':{'type':'Limited','limited':{'nominalConcurrencyShares':5,'"
    "limitResponse':{'type':'Reject'}}}}";

static const struct suite_change level_updates[] = {
    { "spec/limited/nominalConcurrencyShares", "6", NULL },
    { "spec/limited/nominalConcurrencyShares", "-6",
      "spec.limited.nominalConcurrencyShares: Invalid value: -6: must be a non-negative integer" },
    { "spec/limited/limitResponse", "{'type':'Queue'}",
      "spec.limited.limitResponse.queuing: Required value" },
    { "spec/limited/limitResponse",
      "{'type':'Queue','queuing':{'queues':10000001,'handSize':1,'queueLengthLimit':1}}",
      "spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater "
      "than 10000000" },
    { "spec/limited/limitResponse",
      "{'type':'Queue','queuing':{'queues':8,'handSize':-1,'queueLengthLimit':-1}}",
      "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive\n"
      "spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive" },
};

static const struct suite_change level_statuses[] = {
    { "status/conditions", "[{'type':'A','status':'True'},{'type':'A','status':'True'}]",
      "status.conditions[1].type: Duplicate value: 'A'" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", flow_schemas_base,
                      flow_schemas),
        SUITE_CREATES("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
                      priority_levels_base, priority_levels),
        SUITE_CREATES("coordination.k8s.io/v1", "Lease", leases_base, leases),
        SUITE_CREATES("apiregistration.k8s.io/v1", "APIService", api_services_base, api_services),
        SUITE_UPDATES_SUB("apiregistration.k8s.io/v1", "APIService", "status", api_services_base,
                          api_services_statuses),
        SUITE_CREATES("storagemigration.k8s.io/v1", "StorageVersionMigration", migrations_base,
                      migrations),
        SUITE_UPDATES("storagemigration.k8s.io/v1", "StorageVersionMigration", migrations_base,
                      migrations_changes),
        SUITE_UPDATES_SUB("storagemigration.k8s.io/v1", "StorageVersionMigration", "status",
                          migrations_base, migrations_statuses),
        SUITE_CREATES("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", flow_schema, flow_rules),
        SUITE_UPDATES("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", flow_schema, flow_updates),
        SUITE_UPDATES_SUB("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "status", flow_schema,
                          flow_statuses),
        SUITE_UPDATES("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", level,
                      level_updates),
        SUITE_UPDATES_SUB("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "status",
                          level, level_statuses),
    };
    return SUITE_MAIN(tables);
}
