/* Kinds that make pods: Deployments, sets, jobs. */
#include "api/validate/suite_validate.h"

#define TEMPLATE                                                                                   \
    "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'c:1'}" \
    "]}}"
#define SELECTED "'selector':{'matchLabels':{'a':'b'}}," TEMPLATE

static const char deployments_base[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change deployments[] = {
    { "spec/replicas", "-1",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/selector", NULL,
      "spec.selector: Required value\n"
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/selector", "{}",
      "spec.selector: Invalid value: {}: empty selector is invalid for deployment" },
    { "spec/selector/matchLabels/a", "'c'",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match "
      "template `labels`" },
    { "spec/strategy", "{'type':'Blue'}",
      "spec.strategy: Unsupported value: {'Type':'Blue','RollingUpdate':null}: supported "
      "values: 'Recreate', 'RollingUpdate'" },
    { "spec/strategy", "{'type':'Recreate','rollingUpdate':{'maxSurge':1}}",
      "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
      "'Recreate'" },
    { "spec/strategy", "{'rollingUpdate':{'maxSurge':0,'maxUnavailable':'0%'}}",
      "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: '0%': may not be 0 when "
      "`maxSurge` is 0" },
    { "spec/progressDeadlineSeconds", "0",
      "spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds" },
    { "spec/template/spec/restartPolicy", "'Never'",
      "spec.template.spec.restartPolicy: Unsupported value: 'Never': supported values: "
      "'Always'" },
};

static const struct suite_change deployments_changes[] = {
    { "spec/replicas", "3", NULL },
    { "spec/selector", "{'matchExpressions':[{'key':'a','operator':'Exists'}]}",
      "spec.selector: Invalid value: {'matchExpressions':[{'key':'a','operator':'Exists'}]}: "
      "field is immutable" },
};

static const struct suite_change deployments_statuses[] = {
    { "status", "{'replicas':1,'readyReplicas':2}",
      "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'collisionCount':-1}",
      "status.collisionCount: Invalid value: -1: must be greater than or equal to 0" },
};

static const char replica_sets_base[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change replica_sets[] = {
    { "spec/replicas", "-1",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/minReadySeconds", "-1",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/selector", NULL,
      "spec.selector: Required value\n"
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/template", NULL,
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template "
      "`labels`\n"
      "spec.template.spec.containers: Required value" },
    { "spec/template/spec/activeDeadlineSeconds", "5",
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
      "ReplicaSet "
      "is not Supported" },
};

static const char replication_controllers_base[] =
    "{" META ",'spec':{'selector':{'a':'b'}," TEMPLATE "}}";

static const struct suite_change replication_controllers[] = {
    { "spec/replicas", "-1",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/template", NULL, "spec.template: Required value" },
    { "spec/selector/a", "'c'",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match "
      "template `labels`" },
    { "spec/template/spec/restartPolicy", "'Never'",
      "spec.template.spec.restartPolicy: Unsupported value: 'Never': supported values: "
      "'Always'" },
    { "spec/minReadySeconds", "-1",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
};

static const char daemon_sets_base[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change daemon_sets[] = {
    { "spec/selector", "{}",
      "spec.selector: Invalid value: {}: empty selector is invalid for daemonset" },
    { "spec/selector/matchLabels/a", "'c'",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match "
      "template `labels`" },
    { "spec/updateStrategy", "{'type':'X'}",
      "spec.updateStrategy: Unsupported value: {'Type':'X','RollingUpdate':null}: supported "
      "values: 'RollingUpdate', 'OnDelete'" },
    { "spec/updateStrategy", "{'rollingUpdate':{'maxUnavailable':0}}",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
      "maxSurge is 0" },
    { "spec/updateStrategy", "{'rollingUpdate':{'maxUnavailable':'101%'}}",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: '101%': must not be "
      "greater than 100%" },
    { "spec/revisionHistoryLimit", "-1",
      "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
};

static const struct suite_change daemon_sets_statuses[] = {
    { "status", "{'numberReady':-1}",
      "status.numberReady: Invalid value: -1: must be greater than or equal to 0" },
};

static const char stateful_sets_base[] =
    "{" META ",'spec':{'serviceName':'s','volumeClaimTemplates':[{'metadata':{'name':'d'},"
    "'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}],"
    "'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
    "'containers':[{'name':'c','image':'c:1','volumeMounts':[{'name':'d','mountPath':'/d'}]}]"
    "}}}}";

static const struct suite_change stateful_sets[] = {
    { "spec/podManagementPolicy", "'X'",
      "spec.podManagementPolicy: Invalid value: 'X': must be 'OrderedReady' or 'Parallel'" },
    { "spec/serviceName", "'a.b'",
      "spec.serviceName: Invalid value: 'a.b': must not contain dots" },
    { "spec/updateStrategy", "{'type':'X'}",
      "spec.updateStrategy: Invalid value: {'Type':'X','RollingUpdate':null}: must be "
      "'RollingUpdate' or 'OnDelete'" },
    { "spec/volumeClaimTemplates/0/spec/accessModes", "['X']",
      "spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: 'X': supported "
      "values: "
      "'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'" },
    { "spec/volumeClaimTemplates", "[]",
      "spec.template.spec.containers[0].volumeMounts[0].name: Not found: 'd'" },
    { "spec/persistentVolumeClaimRetentionPolicy", "{'whenDeleted':'X','whenScaled':'Retain'}",
      "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: 'X': "
      "supported "
      "values: 'Retain', 'Delete'" },
};

static const struct suite_change stateful_sets_changes[] = {
    { "spec/replicas", "3", NULL },
    { "spec/serviceName", "'t'", "spec.serviceName: Invalid value: 't': field is immutable" },
    { "spec/podManagementPolicy", "'Parallel'",
      "spec.podManagementPolicy: Invalid value: 'Parallel': field is immutable" },
};

static const char revisions_base[] = "{" META ",'data':{'a':1},'revision':1}";

static const struct suite_change revisions[] = {
    { "data", NULL, "data: Required value: data is mandatory" },
    { "data", "[1]", "data: Required value: data must be a valid JSON object" },
    { "data", "'x'", "data: Required value: data must be a valid JSON object" },
    { "revision", "-1", "revision: Invalid value: -1: must be greater than or equal to 0" },
    { "metadata/name", "'A'",
      "metadata.name: Invalid value: 'A': a lowercase RFC 1123 subdomain must consist of lower "
      "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
};

static const struct suite_change revisions_changes[] = {
    { "revision", "2", NULL },
    { "data", "{'a':2}", "data: Invalid value: {'a':2}: field is immutable" },
};

/* ---- Jobs ---- */

#define JOB_SPEC                                                                                  \
    "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{" \
    "'name':'c','image':'c:1'}]}}"

static const char jobs_base[] =
    "{" META ",'spec':{'completions':1,'parallelism':1,'manualSelector':true,'selector':{"
    "'matchLabels':{'a':'b'}}," JOB_SPEC "}}";

static const struct suite_change jobs[] = {
    { "spec/parallelism", "-1",
      "spec.parallelism: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/completionMode", "'X'",
      "spec.completionMode: Unsupported value: 'X': supported values: 'NonIndexed', "
      "'Indexed'" },
    { "spec/backoffLimitPerIndex", "1",
      "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'FailJob','onExitCodes':{'operator':'In',"
      "'values':[2,1]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be "
      "ordered" },
    { "spec/podFailurePolicy", "{'rules':[{'action':'FailJob'}]}",
      "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and "
      "OnPodConditions is required" },
    { "spec/successPolicy", "{'rules':[{'succeededCount':1}]}",
      "spec.successPolicy: Invalid value: {'Rules':[{'SucceededIndexes':null,"
      "'SucceededCount':1}]}: requires indexed completion mode" },
    { "spec/managedBy", "'x'",
      "spec.managedBy: Invalid value: 'x': must be a domain-prefixed path (such as "
      "'acme.io/foo')" },
    { "spec/template/spec/restartPolicy", NULL,
      "spec.template.spec.restartPolicy: Required value: valid values: 'OnFailure', 'Never'" },
    { "spec/selector", NULL,
      "spec.selector: Required value\n"
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/podReplacementPolicy", "'X'",
      "spec.podReplacementPolicy: Unsupported value: 'X': supported values: 'Failed', "
      "'TerminatingOrFailed'" },
};

static const struct suite_change jobs_changes[] = {
    { "spec/parallelism", "2", NULL },
    { "spec/suspend", "true", NULL },
    { "spec/completions", "2", "spec.completions: Invalid value: 2: field is immutable" },
    { "spec/completionMode", "'Indexed'",
      "spec.completionMode: Invalid value: 'Indexed': field is immutable" },
    { "spec/managedBy", "'a.b/c'", "spec.managedBy: Invalid value: 'a.b/c': field is immutable" },
};

static const char job_statuses_base[] =
    "{" META ",'spec':{'manualSelector':true,'completionMode':'Indexed','completions':5,"
    "'parallelism':5,'backoffLimitPerIndex':1,'selector':{'matchLabels':{'a':'b'}}," JOB_SPEC
    "},'status':{'failed':1}}";

static const struct suite_change job_statuses_statuses[] = {
    { "status/active", "-1",
      "status.active: Invalid value: -1: must be greater than or equal to 0" },
    { "status/failed", "0", "status.failed: Invalid value: 0: cannot decrease the failed counter" },
    { "status/completedIndexes", "'1,1'",
      "status.completedIndexes: Invalid value: '1,1': error parsing completedIndexes: "
      "non-increasing order, previous: 1, current: 1" },
    { "status/completedIndexes", "'0-4'", NULL },
    { "status", "{'failed':1,'completedIndexes':'0-2','failedIndexes':'2'}",
      "status.failedIndexes: Invalid value: '2': failedIndexes and completedIndexes overlap at "
      "index: 2" },
    { "status", "{'failed':1,'conditions':[{'type':'Complete','status':'True'}]}",
      "status.completionTime: Required value: completionTime is required for Complete jobs\n"
      "status.conditions: Invalid value: cannot set Complete=True condition without the "
      "SuccessCriteriaMet=true condition\n"
      "status.startTime: Required value: startTime is required for finished job" },
    { "status/ready", "1",
      "status.ready: Invalid value: 1: cannot set more ready pods than active" },
    { "status/uncountedTerminatedPods", "{'failed':['x'],'succeeded':['x']}",
      "status.uncountedTerminatedPods.failed[0]: Duplicate value: 'x'" },
};

static const char cron_jobs_base[] =
    "{" META ",'spec':{'schedule':'*/5 * * * *','jobTemplate':{'spec':{" JOB_SPEC "}}}}";

static const struct suite_change cron_jobs[] = {
    { "spec/schedule", "''", "spec.schedule: Required value" },
    { "spec/schedule", "'* * * *'",
      "spec.schedule: Invalid value: '* * * *': expected exactly 5 fields, found 4: [* * * "
      "*]" },
    { "spec/schedule", "'TZ=UTC * * * * *'",
      "spec.schedule: Invalid value: 'TZ=UTC * * * * *': cannot use TZ or CRON_TZ in schedule, "
      "use timeZone field instead" },
    { "spec/timeZone", "'Mars/Phobos'",
      "spec.timeZone: Invalid value: 'Mars/Phobos': unknown time zone Mars/Phobos" },
    { "spec/timeZone", "'Europe/Berlin'", NULL },
    { "spec/concurrencyPolicy", "'X'",
      "spec.concurrencyPolicy: Unsupported value: 'X': supported values: 'Allow', 'Forbid', "
      "'Replace'" },
    { "spec/startingDeadlineSeconds", "-1",
      "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/jobTemplate/spec/selector", "{'matchLabels':{'a':'b'}}",
      "spec.jobTemplate.spec.selector: Invalid value: {'matchLabels':{'a':'b'}}: `selector` "
      "will be auto-generated" },
    { "spec/jobTemplate/spec/backoffLimit", "-1",
      "spec.jobTemplate.spec.backoffLimit: Invalid value: -1: must be greater than or equal to "
      "0" },
    { "metadata/name", "'a123456789b123456789c123456789d123456789e123456789f123'",
      "metadata.name: Invalid value: 'a123456789b123456789c123456789d123456789e123456789f123': "
      "must be no more than 52 characters" },
};

/* ---- Statuses and surges ---- */

static const char replica_set[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change replica_set_statuses[] = {
    { "status", "{'replicas':3,'readyReplicas':2,'availableReplicas':1,'fullyLabeledReplicas':3}",
      NULL },
    { "status", "{'replicas':1,'readyReplicas':2}",
      "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'replicas':2,'readyReplicas':1,'availableReplicas':2}",
      "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas" },
    { "status", "{'replicas':1,'fullyLabeledReplicas':2}",
      "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'replicas':-1,'observedGeneration':-1}",
      "status.replicas: Invalid value: -1: must be greater than or equal to 0\n"
      "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0\n"
      "status.fullyLabeledReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas" },
};

static const struct suite_change replica_set_changes[] = {
    { "spec/replicas", "3", NULL },
    { "spec/selector", "{'matchExpressions':[{'key':'a','operator':'Exists'}]}",
      "spec.selector: Invalid value: {'matchExpressions':[{'key':'a','operator':'Exists'}]}: field "
      "is immutable" },
    { "spec/template/spec/containers/0/image", "''",
      "spec.template.spec.containers[0].image: Required value" },
};

static const char controller[] = "{" META ",'spec':{'selector':{'a':'b'}," TEMPLATE "}}";

static const struct suite_change controllers[] = {
    { "spec/selector", "{}", NULL },
    { "spec/selector", "{'a':'b c'}",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/template/spec/activeDeadlineSeconds", "5",
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
      "ReplicationController is not Supported" },
    { "spec/template/spec/ephemeralContainers", "[{'name':'e','image':'e:1'}]",
      "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod "
      "template" },
};

static const struct suite_change controller_changes[] = {
    { "spec/replicas", "3", NULL },
    { "spec/replicas", "-1",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/selector", "{'a':'c'}",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
};

static const struct suite_change controller_statuses[] = {
    { "status", "{'replicas':1,'readyReplicas':2}",
      "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'replicas':1,'observedGeneration':1}", NULL },
};

static const char deployment[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change deployment_strategies[] = {
    { "spec/strategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'50%','maxUnavailable':0}}", NULL },
    { "spec/strategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxSurge':-1,'maxUnavailable':1}}",
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to "
      "0" },
    { "spec/strategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'half','maxUnavailable':1}}",
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: 'half': a valid percent string must be "
      "a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation "
      "is '[0-9]+%')" },
    { "spec/strategy", "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'101%'}}",
      "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: '101%': must not be greater than "
      "100%" },
    { "spec/minReadySeconds", "-1",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/minReadySeconds", "600",
      "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds" },
    { "spec/revisionHistoryLimit", "-1",
      "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/template/spec/activeDeadlineSeconds", "5",
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is "
      "not Supported" },
    { "spec/selector", "{'matchExpressions':[{'key':'a','operator':'Near'}]}",
      "spec.selector.matchExpressions[0].operator: Invalid value: 'Near': not a valid selector "
      "operator\n"
      "spec.selector: Invalid value: {'matchExpressions':[{'key':'a','operator':'Near'}]}: invalid "
      "label selector" },
};

static const struct suite_change deployment_statuses[] = {
    { "status", "{'replicas':3,'updatedReplicas':3,'readyReplicas':2,'availableReplicas':1}",
      NULL },
    { "status", "{'replicas':1,'updatedReplicas':2,'availableReplicas':2,'readyReplicas':1}",
      "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas\n"
      "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas\n"
      "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas" },
    { "status", "{'replicas':-1,'unavailableReplicas':-1}",
      "status.replicas: Invalid value: -1: must be greater than or equal to 0\n"
      "status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0\n"
      "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas" },
};

static const char daemon_set[] = "{" META ",'spec':{" SELECTED "}}";

static const struct suite_change daemon_set_strategies[] = {
    { "spec/updateStrategy", "{'type':'OnDelete'}", NULL },
    { "spec/updateStrategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':0,'maxSurge':1}}", NULL },
    { "spec/updateStrategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':1}}",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
      "maxUnavailable is non-zero" },
    { "spec/updateStrategy",
      "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':0,'maxSurge':'101%'}}",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: '101%': must not be greater than "
      "100%" },
    { "spec/template/spec/restartPolicy", "'Never'",
      "spec.template.spec.restartPolicy: Unsupported value: 'Never': supported values: 'Always'" },
    { "spec/minReadySeconds", "-1",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/selector", NULL,
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
};

static const struct suite_change daemon_set_changes[] = {
    { "spec/template/spec/containers/0/image", "'c:2'", NULL },
    { "spec/updateStrategy", "{'type':'OnDelete'}", NULL },
    { "spec/selector", "{'matchExpressions':[{'key':'a','operator':'Exists'}]}",
      "spec.selector: Invalid value: {'matchExpressions':[{'key':'a','operator':'Exists'}]}: field "
      "is immutable" },
};

static const struct suite_change daemon_set_statuses[] = {
    { "status",
      "{'currentNumberScheduled':1,'numberMisscheduled':-1,'desiredNumberScheduled':-1,'"
      "numberReady':0,'updatedNumberScheduled':-1,'numberAvailable':-1,'numberUnavailable':-1,'"
      "observedGeneration':-1}",
      "status.numberMisscheduled: Invalid value: -1: must be greater than or equal to 0\n"
      "status.desiredNumberScheduled: Invalid value: -1: must be greater than or equal to 0\n"
      "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0\n"
      "status.updatedNumberScheduled: Invalid value: -1: must be greater than or equal to 0\n"
      "status.numberAvailable: Invalid value: -1: must be greater than or equal to 0\n"
      "status.numberUnavailable: Invalid value: -1: must be greater than or equal to 0" },
};

/* ---- Warnings ---- */

static const struct suite_change daemon_set_warnings[] = {
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
};

static const struct suite_change controller_warnings[] = {
    { "metadata/name", "'a.b'",
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [must not contain dots]" },
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
};

static const struct suite_change deployment_warnings[] = {
    { "metadata/name", "'a.b'",
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [must not contain dots]" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("apps/v1", "Deployment", deployments_base, deployments),
        SUITE_UPDATES("apps/v1", "Deployment", deployments_base, deployments_changes),
        SUITE_UPDATES_SUB("apps/v1", "Deployment", "status", deployments_base,
                          deployments_statuses),
        SUITE_CREATES("apps/v1", "ReplicaSet", replica_sets_base, replica_sets),
        SUITE_CREATES("v1", "ReplicationController", replication_controllers_base,
                      replication_controllers),
        SUITE_CREATES("apps/v1", "DaemonSet", daemon_sets_base, daemon_sets),
        SUITE_UPDATES_SUB("apps/v1", "DaemonSet", "status", daemon_sets_base, daemon_sets_statuses),
        SUITE_CREATES("apps/v1", "StatefulSet", stateful_sets_base, stateful_sets),
        SUITE_UPDATES("apps/v1", "StatefulSet", stateful_sets_base, stateful_sets_changes),
        SUITE_CREATES("apps/v1", "ControllerRevision", revisions_base, revisions),
        SUITE_UPDATES("apps/v1", "ControllerRevision", revisions_base, revisions_changes),
        SUITE_CREATES("batch/v1", "Job", jobs_base, jobs),
        SUITE_UPDATES("batch/v1", "Job", jobs_base, jobs_changes),
        SUITE_UPDATES_SUB("batch/v1", "Job", "status", job_statuses_base, job_statuses_statuses),
        SUITE_CREATES("batch/v1", "CronJob", cron_jobs_base, cron_jobs),
        SUITE_UPDATES_SUB("apps/v1", "ReplicaSet", "status", replica_set, replica_set_statuses),
        SUITE_UPDATES("apps/v1", "ReplicaSet", replica_set, replica_set_changes),
        SUITE_CREATES("v1", "ReplicationController", controller, controllers),
        SUITE_UPDATES("v1", "ReplicationController", controller, controller_changes),
        SUITE_UPDATES_SUB("v1", "ReplicationController", "status", controller, controller_statuses),
        SUITE_CREATES("apps/v1", "Deployment", deployment, deployment_strategies),
        SUITE_UPDATES_SUB("apps/v1", "Deployment", "status", deployment, deployment_statuses),
        SUITE_CREATES("apps/v1", "DaemonSet", daemon_set, daemon_set_strategies),
        SUITE_UPDATES("apps/v1", "DaemonSet", daemon_set, daemon_set_changes),
        SUITE_UPDATES_SUB("apps/v1", "DaemonSet", "status", daemon_set, daemon_set_statuses),
        SUITE_WARNS("apps/v1", "DaemonSet", daemon_set, daemon_set_warnings),
        SUITE_WARNS("v1", "ReplicationController", controller, controller_warnings),
        SUITE_WARNS("apps/v1", "Deployment", deployment, deployment_warnings),
    };
    return SUITE_MAIN(tables);
}
