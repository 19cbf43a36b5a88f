/* Jobs and cron jobs: their specs, policies, statuses, and what may change. */
#include "api/validate/suite_validate.h"

#define JOB(more)                                                                                  \
    "'spec':{" more                                                                                \
    "'manualSelector':true,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':" \
    "{'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'c:1'}]}}}"

static const char plain_job[] = "{" META "," JOB("") "}";

static const char indexed_job[] =
    "{" META "," JOB("'completionMode':'Indexed','completions':5,'parallelism':2,") "}";

/* ---- Numbers ---- */

static const struct suite_change numbers[] = {
    { "spec/completions", "-1",
      "spec.completions: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/activeDeadlineSeconds", "-1",
      "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/backoffLimit", "-1",
      "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/ttlSecondsAfterFinished", "-1",
      "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/maxFailedIndexes", "1",
      "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode\n"
      "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified" },
    { "spec/managedBy", "'example.com/x'", NULL },
    { "spec/template/spec/restartPolicy", "'Always'",
      "spec.template.spec.restartPolicy: Required value: valid values: 'OnFailure', 'Never'" },
    { "spec/selector/matchLabels/a", "'c'",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/manualSelector", "false",
      "spec.template.metadata.labels[controller-uid]: Required value: must be 'u'\n"
      "spec.template.metadata.labels[job-name]: Required value: must be 'a'\n"
      "spec.template.metadata.labels[batch.kubernetes.io/controller-uid]: Required value: must be "
      "'u'\n"
      "spec.template.metadata.labels[batch.kubernetes.io/job-name]: Required value: must be 'a'\n"
      "spec.selector: Invalid value: {'matchLabels':{'a':'b'}}: `selector` not auto-generated" },
};

static const struct suite_change indexes[] = {
    { "spec/completions", NULL,
      "spec.completions: Required value: when completion mode is Indexed" },
    { "spec/parallelism", "100001",
      "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
      "completion mode is Indexed" },
    { "spec/backoffLimitPerIndex", "0", NULL },
    { "spec/backoffLimitPerIndex", "-1",
      "spec.backoffLimitPerIndex: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/maxFailedIndexes", "1",
      "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified" },
    { "spec",
      "{'completionMode':'Indexed','completions':5,'backoffLimitPerIndex':1,'maxFailedIndexes':6,'"
      "manualSelector':true,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{"
      "'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'c:1'}]}}}",
      "spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions" },
    { "spec",
      "{'completionMode':'Indexed','completions':100001,'parallelism':10001,'backoffLimitPerIndex':"
      "1,'manualSelector':true,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'"
      "labels':{'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'c:1'}]"
      "}}}",
      "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000\n"
      "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when "
      "completions are above 100000 and used with backoff limit per index" },
    { "spec",
      "{'completionMode':'Indexed','completions':100001,'maxFailedIndexes':10001,'parallelism':1,'"
      "backoffLimitPerIndex':1,'manualSelector':true,'selector':{'matchLabels':{'a':'b'}},'"
      "template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':'Never','containers':[{'"
      "name':'c','image':'c:1'}]}}}",
      "spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when "
      "completions are above 100000 and used with backoff limit per index" },
    { "metadata/name", "'a-job-with-a-name-of-sixty-three-characters-leaves-no-room-here'",
      "metadata.name: Invalid value: "
      "'a-job-with-a-name-of-sixty-three-characters-leaves-no-room-here': will not able to create "
      "pod with invalid DNS label: "
      "a-job-with-a-name-of-sixty-three-characters-leaves-no-room-here-4" },
};

/* ---- What failures mean ---- */

static const struct suite_change failure_policies[] = {
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget','status':'True'}]"
      "}]}",
      NULL },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'FailJob','onExitCodes':{'containerName':'c','operator':'In','values':["
      "1,2]}}]}",
      NULL },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'','onExitCodes':{'operator':'In','values':[1]}}]}",
      "spec.podFailurePolicy.rules[0].action: Required value: valid values: ['Count' 'FailIndex' "
      "'FailJob' 'Ignore']" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Retry','onExitCodes':{'operator':'In','values':[1]}}]}",
      "spec.podFailurePolicy.rules[0].action: Unsupported value: 'Retry': supported values: "
      "'Count', 'FailIndex', 'FailJob', 'Ignore'" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'FailIndex','onExitCodes':{'operator':'In','values':[1]}}]}",
      "spec.podFailurePolicy.rules[0].action: Invalid value: 'FailIndex': requires the "
      "backoffLimitPerIndex to be set" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'','values':[1]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.operator: Required value: valid values: ['In' "
      "'NotIn']" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'Near','values':[1]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: 'Near': supported "
      "values: 'In', 'NotIn'" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'In','values':[]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: null: at least one value "
      "is required" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'In','values':[0,1]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for "
      "the In operator" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'NotIn','values':[0,1]}}]}", NULL },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'In','values':[1,1]}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 1" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'containerName':'zz','operator':'In','values':[1]"
      "}}]}",
      "spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: 'zz': must be one "
      "of the container or initContainer names in the pod template" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onPodConditions':[{'type':'a b','status':'Maybe'}]}]}",
      "spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: 'a "
      "b': " QUALIFIED_NAME "\n"
      "spec.podFailurePolicy.rules[0].onPodConditions[0].status: Unsupported value: 'Maybe': "
      "supported values: 'False', 'True', 'Unknown'" },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onPodConditions':[{'type':'a','status':''}]}]}", NULL },
    { "spec/podFailurePolicy",
      "{'rules':[{'action':'Count','onExitCodes':{'operator':'In','values':[1]},'onPodConditions':["
      "{'type':'a','status':'True'}]}]}",
      "spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and "
      "OnPodConditions is not supported" },
    { "spec/podReplacementPolicy", "'Failed'", NULL },
    { "spec",
      "{'podFailurePolicy':{'rules':[]},'podReplacementPolicy':'TerminatingOrFailed','"
      "manualSelector':true,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{"
      "'a':'b'}},'spec':{'restartPolicy':'OnFailure','containers':[{'name':'c','image':'c:1'}]}}}",
      "spec.podReplacementPolicy: Unsupported value: 'TerminatingOrFailed': supported values: "
      "'Failed'\n"
      "spec.template.spec.restartPolicy: Invalid value: 'OnFailure': only 'Never' is supported "
      "when podFailurePolicy is specified" },
};

/* ---- What success means ---- */

static const struct suite_change success_policies[] = {
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'0-2','succeededCount':2}]}", NULL },
    { "spec/successPolicy", "{'rules':[]}",
      "spec.successPolicy.rules: Required value: at least one rules must be specified when the "
      "successPolicy is specified" },
    { "spec/successPolicy", "{'rules':[{}]}",
      "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or "
      "succeededIndexes must be specified" },
    { "spec/successPolicy", "{'rules':[{'succeededCount':6}]}",
      "spec.successPolicy.rules[0].succeededCount: Invalid value: 6: must be less than or equal to "
      "5 (the number of specified completions)" },
    { "spec/successPolicy", "{'rules':[{'succeededCount':-1}]}",
      "spec.successPolicy.rules[0].succeededCount: Invalid value: -1: must be greater than or "
      "equal to 0" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'0-2','succeededCount':4}]}",
      "spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to "
      "3 (the number of indexes in the specified succeededIndexes field)" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'0-5'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: '0-5': error parsing "
      "succeededIndexes: too large index: '5'" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'2-1'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: '2-1': error parsing "
      "succeededIndexes: non-increasing order, previous: 2, current: 1" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'a'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: 'a': error parsing "
      "succeededIndexes: cannot convert string to integer for index: 'a'" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'1-2-3'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: '1-2-3': error parsing "
      "succeededIndexes: the fragment '1-2-3' violates the requirement that an index interval can "
      "have at most two parts separated by '-'" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'1-b'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: '1-b': error parsing "
      "succeededIndexes: cannot convert string to integer for index: 'b'" },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':''}]}", NULL },
    { "spec/successPolicy", "{'rules':[{'succeededIndexes':'3,1'}]}",
      "spec.successPolicy.rules[0].succeededIndexes: Invalid value: '3,1': error parsing "
      "succeededIndexes: non-increasing order, previous: 3, current: 1" },
};

/* ---- Selectors that the server makes ---- */

#define OWN_LABELS                                                   \
    "'batch.kubernetes.io/controller-uid':'u','batch.kubernetes.io/" \
    "job-name':'a','controller-uid':'u','job-name':'a'"

static const char generated_job[] =
    "{" META ",'spec':{'selector':{'matchLabels':{'batch.kubernetes.io/"
    "controller-uid':'u'}},'template':{'metadata':{'labels':{" OWN_LABELS
    "}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'c:1'}]}}}}";

static const struct suite_change generated_selectors[] = {
    { "spec/selector", "{'matchLabels':{'batch.kubernetes.io/controller-uid':'other'}}",
      "spec.selector: Invalid value: "
      "{'matchLabels':{'batch.kubernetes.io/controller-uid':'other'}}: `selector` not "
      "auto-generated\n"
      "spec.template.metadata.labels: Invalid value: "
      "{'batch.kubernetes.io/controller-uid':'u','batch.kubernetes.io/"
      "job-name':'a','controller-uid':'u','job-name':'a'}: `selector` does not match template "
      "`labels`" },
    { "spec/template/metadata/labels/controller-uid", "'other'",
      "spec.template.metadata.labels[controller-uid]: Invalid value: "
      "{'batch.kubernetes.io/controller-uid':'u','batch.kubernetes.io/"
      "job-name':'a','controller-uid':'other','job-name':'a'}: must be 'u'" },
    { "spec/template/metadata/labels/job-name", NULL,
      "spec.template.metadata.labels[job-name]: Required value: must be 'a'" },
    { "spec/template/metadata/labels/batch.kubernetes.io|controller-uid", NULL,
      "spec.template.metadata.labels[batch.kubernetes.io/controller-uid]: Required value: must be "
      "'u'\n"
      "spec.template.metadata.labels: Invalid value: "
      "{'batch.kubernetes.io/job-name':'a','controller-uid':'u','job-name':'a'}: `selector` does "
      "not match template `labels`" },
};

/* ---- Changes ---- */

/* How upstream shows the spec of a template whose image has become c:2. */
#define CHANGED_SPEC                                                                         \
    "{'Volumes':null,'InitContainers':null,'Containers':[{'Name':'c','Image':'c:2',"         \
    "'Command':null,'Args':null,'WorkingDir':'','Ports':null,'EnvFrom':null,'Env':null,"     \
    "'Resources':{'Limits':null,'Requests':null,'Claims':null},'ResizePolicy':null,"         \
    "'RestartPolicy':null,'RestartPolicyRules':null,'VolumeMounts':null,"                    \
    "'VolumeDevices':null,'LivenessProbe':null,'ReadinessProbe':null,'StartupProbe':null,"   \
    "'Lifecycle':null,'TerminationMessagePath':'/dev/termination-log',"                      \
    "'TerminationMessagePolicy':'File','ImagePullPolicy':'IfNotPresent',"                    \
    "'SecurityContext':null,'Stdin':false,'StdinOnce':false,'TTY':false}],"                  \
    "'EphemeralContainers':null,'RestartPolicy':'Never','TerminationGracePeriodSeconds':30," \
    "'ActiveDeadlineSeconds':null,'DNSPolicy':'ClusterFirst','NodeSelector':null,"           \
    "'ServiceAccountName':'','DeprecatedServiceAccount':'',"                                 \
    "'AutomountServiceAccountToken':null,'NodeName':'','HostNetwork':false,'HostPID':false," \
    "'HostIPC':false,'ShareProcessNamespace':null,'SecurityContext':{'SELinuxOptions':null," \
    "'WindowsOptions':null,'RunAsUser':null,'RunAsGroup':null,'RunAsNonRoot':null,"          \
    "'SupplementalGroups':null,'SupplementalGroupsPolicy':null,'FSGroup':null,"              \
    "'Sysctls':null,'FSGroupChangePolicy':null,'SeccompProfile':null,"                       \
    "'AppArmorProfile':null,'SELinuxChangePolicy':null},'ImagePullSecrets':null,"            \
    "'Hostname':'','Subdomain':'','Affinity':null,'SchedulerName':'default-scheduler',"      \
    "'Tolerations':null,'HostAliases':null,'PriorityClassName':'','Priority':null,"          \
    "'DNSConfig':null,'ReadinessGates':null,'RuntimeClassName':null,"                        \
    "'EnableServiceLinks':null,'PreemptionPolicy':null,'Overhead':null,"                     \
    "'TopologySpreadConstraints':null,'SetHostnameAsFQDN':null,'OS':null,'HostUsers':null,"  \
    "'SchedulingGates':null,'ResourceClaims':null,'Resources':null,'HostnameOverride':null," \
    "'SchedulingGroup':null,'EvictionResponders':null}"

static const struct suite_change changes[] = {
    { "spec/template/spec/containers/0/image", "'c:2'",
      "spec.template: Invalid value: "
      "{'labels':{'a':'b'},'Spec':" CHANGED_SPEC "}: field is immutable" },
    { "spec/podFailurePolicy", "{'rules':[{'action':'Ignore','onPodConditions':[{'type':'A'}]}]}",
      "spec.podFailurePolicy: Invalid value: "
      "{'Rules':[{'Action':'Ignore','OnExitCodes':null,'OnPodConditions':[{'Type':'A','Status':'"
      "True'}]}]}: field is immutable" },
    { "spec/backoffLimit", "3", NULL },
    { "spec/ttlSecondsAfterFinished", "3", NULL },
};

static const struct suite_change indexed_changes[] = {
    { "spec/completions", "4",
      "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism" },
    { "spec/backoffLimitPerIndex", "1",
      "spec.backoffLimitPerIndex: Invalid value: 1: field is immutable" },
    { "spec/successPolicy", "{'rules':[{'succeededCount':1}]}",
      "spec.successPolicy: Invalid value: "
      "{'Rules':[{'SucceededIndexes':null,'SucceededCount':1}]}: field is immutable" },
    { "spec",
      "{'completionMode':'Indexed','completions':3,'parallelism':3,'manualSelector':true,'selector'"
      ":{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'"
      "restartPolicy':'Never','containers':[{'name':'c','image':'c:1'}]}}}",
      NULL },
};

static const char suspended_job[] = "{" META "," JOB("'suspend':true,") "}";

/* Of a job that has not begun, what schedules its pods may change. */
static const struct suite_change suspended_changes[] = {
    { "spec/template/spec/nodeSelector", "{'a':'b'}", NULL },
    { "spec/template/spec/tolerations", "[{'key':'a','operator':'Exists'}]", NULL },
    { "spec/template/spec/schedulingGates", "[{'name':'g'}]", NULL },
    { "spec/template/spec/affinity",
      "{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'"
      "matchExpressions':[{'key':'a','operator':'Exists'}]}]}}}",
      NULL },
    { "spec/template/metadata/annotations", "{'a':'b'}", NULL },
    { "spec/template/spec/containers/0/resources", "{'requests':{'cpu':'1'}}", NULL },
    { "spec/template/spec/containers/0/image", "'c:2'",
      "spec.template.spec: Invalid value: " CHANGED_SPEC ": field is immutable" },
};

/* ---- Statuses ---- */

static const char started_job[] =
    "{" META
    "," JOB("'completions':2,'parallelism':2,") ",'status':{'startTime':'2020-01-02T03:04:05Z','"
                                                "active':1,'succeeded':1,'failed':1}}";

static const struct suite_change statuses[] = {
    { "status/succeeded", "0",
      "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter" },
    { "status/succeeded", "-1",
      "status.succeeded: Invalid value: -1: must be greater than or equal to 0\n"
      "status.succeeded: Invalid value: -1: cannot decrease the succeeded counter" },
    { "status/failed", "-1",
      "status.failed: Invalid value: -1: must be greater than or equal to 0\n"
      "status.failed: Invalid value: -1: cannot decrease the failed counter" },
    { "status/ready", "-1", "status.ready: Invalid value: -1: must be greater than or equal to 0" },
    { "status/terminating", "-1",
      "status.terminating: Invalid value: -1: must be greater than or equal to 0" },
    { "status/startTime", "'2020-01-02T03:04:06Z'",
      "status.startTime: Invalid value: '2020-01-02T03:04:06Z': field is immutable for unsuspended "
      "job once set" },
    { "status/startTime", NULL,
      "status.startTime: Invalid value: null: field is immutable for unsuspended job once set" },
    { "status/completionTime", "'2020-01-02T03:04:06Z'",
      "status.completionTime: Invalid value: '2020-01-02T03:04:06Z': cannot set completionTime "
      "when there is no Complete=True condition" },
    { "status/completedIndexes", "'0'",
      "status.completedIndexes: Invalid value: '0': cannot set non-empty completedIndexes when "
      "non-indexed completion mode" },
    { "status/failedIndexes", "'0'",
      "status.failedIndexes: Invalid value: '0': cannot set non-null failedIndexes when "
      "backoffLimitPerIndex is null" },
    { "status/uncountedTerminatedPods", "{'succeeded':['']}",
      "status.uncountedTerminatedPods.succeeded[0]: Invalid value: '': must not be empty" },
    { "status/uncountedTerminatedPods", "{'succeeded':['x'],'failed':['y','y']}",
      "status.uncountedTerminatedPods.failed[1]: Duplicate value: 'y'" },
    { "status/conditions", "[{'type':'Complete','status':'True'}]",
      "status.completionTime: Required value: completionTime is required for Complete jobs\n"
      "status.conditions: Invalid value: cannot set Complete=True condition without the "
      "SuccessCriteriaMet=true condition\n"
      "status.active: Invalid value: 1: active>0 is invalid for finished job" },
    { "status/conditions", "[{'type':'Failed','status':'True'}]",
      "status.conditions: Invalid value: cannot set Failed=True condition without the "
      "FailureTarget=true condition\n"
      "status.active: Invalid value: 1: active>0 is invalid for finished job" },
    { "status/conditions", "[{'type':'FailureTarget','status':'True'}]", NULL },
    { "status/conditions",
      "[{'type':'Complete','status':'True'},{'type':'Failed','status':'True'}]",
      "status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions\n"
      "status.completionTime: Required value: completionTime is required for Complete jobs\n"
      "status.conditions: Invalid value: cannot set Failed=True condition without the "
      "FailureTarget=true condition\n"
      "status.conditions: Invalid value: cannot set Complete=True condition without the "
      "SuccessCriteriaMet=true condition\n"
      "status.active: Invalid value: 1: active>0 is invalid for finished job" },
    { "status/conditions",
      "[{'type':'Complete','status':'True'},{'type':'FailureTarget','status':'True'}]",
      "status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true "
      "conditions\n"
      "status.completionTime: Required value: completionTime is required for Complete jobs\n"
      "status.conditions: Invalid value: cannot set Complete=True condition without the "
      "SuccessCriteriaMet=true condition\n"
      "status.active: Invalid value: 1: active>0 is invalid for finished job" },
    { "status/conditions",
      "[{'type':'SuccessCriteriaMet','status':'True'},{'type':'Failed','status':'True'}]",
      "status.conditions: Invalid value: cannot set Failed=True condition without the "
      "FailureTarget=true condition\n"
      "status.active: Invalid value: 1: active>0 is invalid for finished job\n"
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true "
      "conditions" },
    { "status/conditions", "[{'type':'SuccessCriteriaMet','status':'True'}]", NULL },
};

static const char ended_job[] = "{" META "," JOB(
    "'completions':1,'parallelism':1,") ",'status':{'startTime':'2020-01-02T03:04:05Z','"
                                        "completionTime':'2020-01-02T03:05:05Z','succeeded':1,'"
                                        "conditions':[{'type':'SuccessCriteriaMet','status':'True'}"
                                        ",{'type':'Complete','status':'True'}]}}";

static const struct suite_change ended_statuses[] = {
    { "status/completionTime", "'2020-01-02T03:05:06Z'",
      "status.completionTime: Invalid value: '2020-01-02T03:05:06Z': field is immutable" },
    { "status/completionTime", "'2020-01-02T03:04:04Z'",
      "status.completionTime: Invalid value: '2020-01-02T03:04:04Z': must be equal to or after "
      "`startTime`\n"
      "status.completionTime: Invalid value: '2020-01-02T03:04:04Z': field is immutable" },
    { "status/conditions", "[{'type':'SuccessCriteriaMet','status':'True'}]",
      "status.completionTime: Invalid value: '2020-01-02T03:05:05Z': cannot set completionTime "
      "when there is no Complete=True condition\n"
      "status.conditions: Invalid value: cannot disable the terminal Complete=True condition" },
    { "status/conditions", "[{'type':'Complete','status':'True'}]",
      "status.conditions: Invalid value: cannot set Complete=True condition without the "
      "SuccessCriteriaMet=true condition\n"
      "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition" },
    { "status/active", "1",
      "status.active: Invalid value: 1: active>0 is invalid for finished job" },
    { "status/uncountedTerminatedPods", "{'failed':['x']}",
      "status.uncountedTerminatedPods: Invalid value: {'Succeeded':null,'Failed':['x']}: must be "
      "empty for finished job" },
};

/* ---- Cron jobs ---- */

static const char cron_job[] =
    "{" META ",'spec':{'schedule':'*/5 * * * "
    "*','jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[{"
    "'name':'c','image':'c:1'}]}}}}}}";

static const struct suite_change cron_jobs[] = {
    { "spec/schedule", "'@hourly'", NULL },
    { "spec/schedule", "'@every 1h'", NULL },
    { "spec/schedule", "'60 * * * *'",
      "spec.schedule: Invalid value: '60 * * * *': end of range (60) above maximum (59): 60" },
    { "spec/schedule", "'CRON_TZ=UTC 0 0 * * *'",
      "spec.schedule: Invalid value: 'CRON_TZ=UTC 0 0 * * *': cannot use TZ or CRON_TZ in "
      "schedule, use timeZone field instead" },
    { "spec/timeZone", "''",
      "spec.timeZone: Invalid value: '': timeZone must be nil or non-empty string" },
    { "spec/timeZone", "'Local'",
      "spec.timeZone: Invalid value: 'Local': timeZone must be an explicit time zone as defined in "
      "https://www.iana.org/time-zones" },
    { "spec/timeZone", "'../etc/passwd'",
      "spec.timeZone: Invalid value: '../etc/passwd': unknown time zone ../etc/passwd" },
    { "spec/timeZone", "'Etc/UTC'", NULL },
    { "spec/startingDeadlineSeconds", "-1",
      "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/successfulJobsHistoryLimit", "-1",
      "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/failedJobsHistoryLimit", "-1",
      "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/jobTemplate/spec/manualSelector", "true",
      "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: 'nil', "
      "'false'" },
    { "spec/jobTemplate/spec/selector", "{'matchLabels':{'a':'b'}}",
      "spec.jobTemplate.spec.selector: Invalid value: {'matchLabels':{'a':'b'}}: `selector` will "
      "be auto-generated" },
    { "spec/jobTemplate/spec/template/spec/restartPolicy", "'Always'",
      "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "
      "'OnFailure', 'Never'" },
    { "spec/jobTemplate/metadata/labels", "{'a':'b c'}", NULL },
    { "metadata/name", "'a-cron-job-with-a-name-of-more-than-52-characters-as-it-has'",
      "metadata.name: Invalid value: "
      "'a-cron-job-with-a-name-of-more-than-52-characters-as-it-has': must be no more than 52 "
      "characters" },
};

static const struct suite_change cron_changes[] = {
    { "spec/schedule", "'* * *'",
      "spec.schedule: Invalid value: '* * *': expected exactly 5 fields, found 3: [* * *]" },
    { "spec/suspend", "true", NULL },
    { "spec/timeZone", "'Mars/Base'",
      "spec.timeZone: Invalid value: 'Mars/Base': unknown time zone Mars/Base" },
    { "spec/jobTemplate/spec/template/spec/containers/0/image", "''",
      "spec.jobTemplate.spec.template.spec.containers[0].image: Required value" },
};

/* ---- Warnings ---- */

static const struct suite_change job_warnings[] = {
    { "metadata/name", "'a.b'",
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [must not contain dots]" },
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
    { "spec",
      "{'completionMode':'Indexed','completions':100001,'parallelism':10001,'template':{'spec':{'"
      "containers':[{'name':'c','image':'c:1'}]}}}",
      "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism "
      "higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number "
      "of indexes fail" },
};

static const struct suite_change cron_warnings[] = {
    { "metadata/name", "'a.b'",
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [must not contain dots]" },
    { "spec/jobTemplate/spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.jobTemplate.spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since "
      "v1.14; use 'kubernetes.io/os' instead" },
};

static const char zoned_cron_job[] =
    "{" META ",'spec':{'schedule':'TZ=UTC 0 0 * * "
    "*','jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[{"
    "'name':'c','image':'c:1'}]}}}}}}";

static const struct suite_change zoned_changes[] = {
    { "spec/suspend", "true", NULL },
    { "spec/schedule", "'TZ=UTC 0 1 * * *'", NULL },
    { "spec/timeZone", "'Etc/UTC'",
      "spec.schedule: Invalid value: 'TZ=UTC 0 0 * * *': cannot use both timeZone field and TZ or "
      "CRON_TZ in schedule" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("batch/v1", "Job", plain_job, numbers),
        SUITE_CREATES("batch/v1", "Job", indexed_job, indexes),
        SUITE_CREATES("batch/v1", "Job", plain_job, failure_policies),
        SUITE_CREATES("batch/v1", "Job", indexed_job, success_policies),
        SUITE_CREATES("batch/v1", "Job", generated_job, generated_selectors),
        SUITE_UPDATES("batch/v1", "Job", plain_job, changes),
        SUITE_UPDATES("batch/v1", "Job", indexed_job, indexed_changes),
        SUITE_UPDATES("batch/v1", "Job", suspended_job, suspended_changes),
        SUITE_UPDATES_SUB("batch/v1", "Job", "status", started_job, statuses),
        SUITE_UPDATES_SUB("batch/v1", "Job", "status", ended_job, ended_statuses),
        SUITE_CREATES("batch/v1", "CronJob", cron_job, cron_jobs),
        SUITE_UPDATES("batch/v1", "CronJob", cron_job, cron_changes),
        SUITE_WARNS("batch/v1", "Job", indexed_job, job_warnings),
        SUITE_WARNS("batch/v1", "CronJob", cron_job, cron_warnings),
        SUITE_UPDATES("batch/v1", "CronJob", zoned_cron_job, zoned_changes),
    };
    return SUITE_MAIN(tables);
}
