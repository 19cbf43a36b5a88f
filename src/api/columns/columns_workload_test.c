/* The rules of pods and of what makes them: objects in, cells out. */
#include "api/columns/columns.h"

#include "api/columns/suite_columns.h"

/* ---- Pods ---- */

/* The columns before the age, and the wide ones, of a pod with nothing special. */
#define WIDE              "'<none>','<none>','<none>','<none>'"
#define POD(spec, status) "{" META ",'spec':{" spec "},'status':{" status "}}"
#define ONE               "'containers':[{'name':'c'}]"
#define TWO               "'containers':[{'name':'c'},{'name':'d'}]"
#define INIT_TWO          ONE ",'initContainers':[{'name':'i'},{'name':'j'}]"
#define SIDECAR           ONE ",'initContainers':[{'name':'i','restartPolicy':'Always'}]"
#define DONE(name, code)  "{'name':'" name "','state':{'terminated':{'exitCode':" code "}}}"
#define RUNS(name)        "{'name':'" name "','ready':true,'state':{'running':{}}}"
#define SHOWS(ready, status, restarts) \
    "['a','" ready "','" status "','" restarts "','4m5s'," WIDE "]"

static void pods(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 pods", POD(ONE, "'phase':'Pending'"), SHOWS("0/1", "Pending", "0") },
        { "v1 pods", POD(ONE, "'phase':'Failed','reason':'Evicted'"),
          SHOWS("0/1", "Evicted", "0") },
        { "v1 pods",
          POD(ONE, "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
                   "'reason':'SchedulingGated'}]"),
          SHOWS("0/1", "SchedulingGated", "0") },
        { "v1 pods", POD(TWO, "'phase':'Running','containerStatuses':[" RUNS("c") "]"),
          SHOWS("1/2", "Running", "0") },
        { "v1 pods",
          POD(TWO, "'phase':'Running','containerStatuses':[{'state':{'waiting':{'reason':"
                   "'ImagePullBackOff'}}},{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]"),
          SHOWS("0/2", "ImagePullBackOff", "0") },
        { "v1 pods",
          POD(ONE, "'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':1,"
                   "'reason':'Error','signal':9}}}]"),
          SHOWS("0/1", "Error", "0") },
        { "v1 pods",
          POD(ONE, "'containerStatuses':[{'state':{'terminated':{'exitCode':137,'signal':9}}}]"),
          SHOWS("0/1", "Signal:9", "0") },
        { "v1 pods", POD(ONE, "'containerStatuses':[" DONE("c", "3") "]"),
          SHOWS("0/1", "ExitCode:3", "0") },
        /* waiting without a reason is not worth telling */
        { "v1 pods", POD(ONE, "'phase':'Pending','containerStatuses':[{'state':{'waiting':{}}}]"),
          SHOWS("0/1", "Pending", "0") },
        /* a restart counts from the end of the run before */
        { "v1 pods",
          POD(TWO, "'phase':'Running','containerStatuses':[{'restartCount':2,'lastState':"
                   "{'terminated':{'finishedAt':'2026-01-02T02:54:05Z'}}},{'restartCount':3,"
                   "'lastState':{'terminated':{'finishedAt':'2026-01-02T03:03:05Z'}}}]"),
          SHOWS("0/2", "Running", "5 (60s ago)") },
        { "v1 pods", POD(ONE, "'phase':'Running','containerStatuses':[{'restartCount':2}]"),
          SHOWS("0/1", "Running", "2") },
    };
    SUITE_COLUMNS(rows);
}

#define COMPLETED "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}}"
#define READY     "'conditions':[{'type':'Ready','status':'True'}],"

static void pods_of_which_one_container_is_done(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 pods", POD(TWO, READY "'containerStatuses':[" COMPLETED "," RUNS("d") "]"),
          SHOWS("1/2", "Running", "0") },
        { "v1 pods", POD(TWO, "'containerStatuses':[" COMPLETED "," RUNS("d") "]"),
          SHOWS("1/2", "NotReady", "0") },
        { "v1 pods", POD(TWO, "'containerStatuses':[" COMPLETED "," DONE("d", "2") "]"),
          SHOWS("0/2", "ExitCode:2", "0") },
        { "v1 pods", POD(TWO, "'containerStatuses':[" COMPLETED "," COMPLETED "]"),
          SHOWS("0/2", "Completed", "0") },
    };
    SUITE_COLUMNS(rows);
}

static void pods_that_are_starting(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 pods", POD(INIT_TWO, "'initContainerStatuses':[{'name':'i','state':{'running':{}}}]"),
          SHOWS("0/1", "Init:0/2", "0") },
        { "v1 pods",
          POD(INIT_TWO, "'initContainerStatuses':[" DONE(
                            "i", "0") ",{'name':'j','restartCount':4,"
                                      "'state':{'waiting':{'reason':'PodInitializing'}}}]"),
          SHOWS("0/1", "Init:1/2", "4") },
        { "v1 pods",
          POD(INIT_TWO, "'initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':"
                        "'CrashLoopBackOff'}},'restartCount':1,'lastState':{'terminated':"
                        "{'finishedAt':'2026-01-02T03:04:00Z'}}}]"),
          SHOWS("0/1", "Init:CrashLoopBackOff", "1 (5s ago)") },
        { "v1 pods", POD(INIT_TWO, "'initContainerStatuses':[" DONE("i", "7") "]"),
          SHOWS("0/1", "Init:ExitCode:7", "0") },
        { "v1 pods",
          POD(INIT_TWO, "'initContainerStatuses':[{'state':{'terminated':{'exitCode':1,"
                        "'signal':15}}}]"),
          SHOWS("0/1", "Init:Signal:15", "0") },
        { "v1 pods",
          POD(INIT_TWO, "'initContainerStatuses':[{'state':{'terminated':{'exitCode':1,"
                        "'reason':'OOMKilled'}}}]"),
          SHOWS("0/1", "Init:OOMKilled", "0") },
        /* done with it: what the containers do counts, and only their restarts */
        { "v1 pods",
          POD(INIT_TWO,
              "'phase':'Running','initContainerStatuses':[{'name':'i','restartCount':9,"
              "'state':{'terminated':{'exitCode':0}}}],'containerStatuses':[" RUNS("c") "]"),
          SHOWS("1/1", "Running", "0") },
        /* an init container that runs again while the pod goes on */
        { "v1 pods",
          POD(INIT_TWO, "'phase':'Running','conditions':[{'type':'Initialized','status':'True'}],"
                        "'initContainerStatuses':[{'name':'i','state':{'running':{}}}],"
                        "'containerStatuses':[{'state':{'waiting':{'reason':'Paused'}}}]"),
          SHOWS("0/1", "Paused", "0") },
    };
    SUITE_COLUMNS(rows);
}

static void pods_with_sidecars(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 pods", POD(SIDECAR, "'initContainerStatuses':[{'name':'i','state':{'running':{}}}]"),
          SHOWS("0/2", "Init:0/1", "0") },
        { "v1 pods",
          POD(SIDECAR, "'phase':'Running','initContainerStatuses':[{'name':'i','started':true,"
                       "'ready':true,'restartCount':2,'lastState':{'terminated':{'finishedAt':"
                       "'2026-01-02T03:03:55Z'}},'state':{'running':{}}}],'containerStatuses':"
                       "[" RUNS("c") "]"),
          SHOWS("2/2", "Running", "2 (10s ago)") },
        { "v1 pods",
          POD(SIDECAR,
              "'phase':'Running','initContainerStatuses':[{'name':'i','started':true,"
              "'ready':false,'state':{'running':{}}}],'containerStatuses':[" RUNS("c") "]"),
          SHOWS("1/2", "Running", "0") },
    };
    SUITE_COLUMNS(rows);
}

static void pods_that_go_and_where_they_are(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 pods", "{" GONE ",'spec':{" ONE "},'status':{'phase':'Running'}}",
          SHOWS("0/1", "Terminating", "0") },
        { "v1 pods", "{" GONE ",'spec':{" ONE "},'status':{'phase':'Running','reason':'NodeLost'}}",
          SHOWS("0/1", "Unknown", "0") },
        { "v1 pods", "{" GONE ",'spec':{" ONE "},'status':{'phase':'Succeeded'}}",
          SHOWS("0/1", "Succeeded", "0") },
        { "v1 pods",
          POD("'nodeName':'n','readinessGates':[{'conditionType':'x'},{'conditionType':'y'},"
              "{'conditionType':'z'}]",
              "'phase':'Running','podIPs':[{'ip':'10.0.0.2'},{'ip':'fd00::2'}],"
              "'nominatedNodeName':'m','conditions':[{'type':'x','status':'True'},{'type':'y',"
              "'status':'False'},{'type':'y','status':'True'}]"),
          "['a','0/0','Running','0','4m5s','10.0.0.2','n','m','1/3']" },
        { "v1 pods", POD("", "'podIP':'10.0.0.3','podIPs':[{'ip':'10.0.0.2'}]"),
          "['a','0/0','','0','4m5s','10.0.0.3','<none>','<none>','<none>']" },
        { "v1 podtemplates",
          "{" META ",'template':{'metadata':{'labels':{'b':'2','a':'1'}},'spec':{'containers':"
          "[{'name':'c','image':'x'},{'name':'d','image':'y'}]}}}",
          "['a','c,d','x,y','a=1,b=2']" },
    };
    SUITE_COLUMNS(rows);
}

static void pods_that_are_done_say_so_in_the_row(void **state)
{
    (void)state;
    static const struct {
        const char *resource, *phase, *reason; /* no reason: no condition */
    } rows[] = {
        { "v1 pods", "Succeeded", "Succeeded" }, { "v1 pods", "Failed", "Failed" },
        { "v1 pods", "Running", NULL },          { "v1 pods", "", NULL },
        { "v1 namespaces", "Failed", NULL },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value obj = value_object();
        value_set(&a, value_ensure(&a, &obj, STR("status")), STR("phase"),
                  value_string(str_of(rows[i].phase)));
        struct value got = columns_conditions(&a, suite_columns_resource(rows[i].resource), &obj);
        const struct value *first = value_at(&got, 0);
        assert_int_equal(got.type, rows[i].reason ? VALUE_ARRAY : VALUE_NULL);
        if (!rows[i].reason)
            continue;
        assert_int_equal(got.n, 1);
        assert_true(str_eq(value_str(value_get(first, STR("type"))), STR("Completed")));
        assert_true(str_eq(value_str(value_get(first, STR("status"))), STR("True")));
        assert_true(str_eq(value_str(value_get(first, STR("reason"))), str_of(rows[i].reason)));
        assert_true(value_str(value_get(first, STR("message"))).n > 0);
    }
    arena_done(&a);
}

/* ---- Workloads ---- */

#define TEMPLATE                                                                                \
    "'template':{'spec':{'nodeSelector':{'disk':'ssd'},'containers':[{'name':'c','image':'x'}," \
    "{'name':'d','image':'y'}]}}"
#define SELECTOR "'selector':{'matchLabels':{'app':'x'}}"

static void workloads(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "v1 replicationcontrollers",
          "{" META ",'spec':{'replicas':3,'selector':{'b':'2','a':'1'}," TEMPLATE "},"
          "'status':{'replicas':2,'readyReplicas':1}}",
          "['a',3,2,1,'4m5s','c,d','x,y','a=1,b=2']" },
        { "v1 replicationcontrollers", "{" META ",'spec':{}}",
          "['a',0,0,0,'4m5s','','','<none>']" },
        { "apps/v1 replicasets",
          "{" META ",'spec':{'replicas':3," SELECTOR "," TEMPLATE "},"
          "'status':{'replicas':2,'readyReplicas':1}}",
          "['a',3,2,1,'4m5s','c,d','x,y','app=x']" },
        { "apps/v1 deployments",
          "{" META ",'spec':{'replicas':3," SELECTOR "," TEMPLATE "},'status':{'readyReplicas':1,"
          "'updatedReplicas':2,'availableReplicas':4}}",
          "['a','1/3',2,4,'4m5s','c,d','x,y','app=x']" },
        { "apps/v1 deployments", "{" META ",'spec':{'selector':{}}}",
          "['a','0/0',0,0,'4m5s','','','']" },
        { "apps/v1 deployments", "{" META ",'spec':{'selector':{'matchLabels':{'-':'x'}}}}",
          "['a','0/0',0,0,'4m5s','','','<invalid>']" },
        { "apps/v1 statefulsets",
          "{" META ",'spec':{'replicas':3," TEMPLATE "},'status':{'readyReplicas':1}}",
          "['a','1/3','4m5s','c,d','x,y']" },
        { "apps/v1 daemonsets",
          "{" META ",'spec':{" SELECTOR "," TEMPLATE "},'status':{'desiredNumberScheduled':5,"
          "'currentNumberScheduled':4,'numberReady':3,'updatedNumberScheduled':2,"
          "'numberAvailable':1}}",
          "['a',5,4,3,2,1,'disk=ssd','4m5s','c,d','x,y','app=x']" },
        { "apps/v1 controllerrevisions", "{" META ",'revision':7,'x':1}",
          "['a','<none>',7,'4m5s']" },
        { "apps/v1 controllerrevisions",
          "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n'},"
          "{'apiVersion':'apps/v1','kind':'StatefulSet','name':'Web','controller':true}]},"
          "'revision':7}",
          "['a','statefulset.apps/Web',7,'<unknown>']" },
        { "apps/v1 controllerrevisions",
          "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n',"
          "'controller':true}]}}",
          "['','node/n',0,'<unknown>']" },
        { "policy/v1 poddisruptionbudgets",
          "{" META ",'spec':{'minAvailable':2},'status':{'disruptionsAllowed':1}}",
          "['a','2','N/A',1,'4m5s']" },
        { "policy/v1 poddisruptionbudgets", "{" META ",'spec':{'maxUnavailable':'25%'}}",
          "['a','N/A','25%',0,'4m5s']" },
        { "autoscaling/v1 scales", "{" META ",'spec':{'replicas':3},'status':{'replicas':2}}",
          "['a',3,2,'4m5s']" },
    };
    SUITE_COLUMNS(rows);
}

#define JOB(more)               "{" META "," more "}"
#define CONDITION(type, status) "{'type':'" type "','status':'" status "'}"
#define JOB_STATE(conditions)   JOB("'status':{'conditions':[" conditions "]}")
#define JOB_SHOWS(status)       "['a','" status "','0/1','','4m5s','','','<none>']"

static void jobs(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { "batch/v1 jobs", JOB("'spec':{'completions':5,'parallelism':2},'status':{'succeeded':1}"),
          "['a','Running','1/5','','4m5s','','','<none>']" },
        { "batch/v1 jobs", JOB("'spec':{'parallelism':3}"),
          "['a','Running','0/1 of 3','','4m5s','','','<none>']" },
        { "batch/v1 jobs", JOB("'spec':{'parallelism':1," SELECTOR "," TEMPLATE "}"),
          "['a','Running','0/1','','4m5s','c,d','x,y','app=x']" },
        { "batch/v1 jobs", JOB("'status':{'startTime':'2026-01-02T03:03:05Z'}"),
          "['a','Running','0/1','60s','4m5s','','','<none>']" },
        { "batch/v1 jobs",
          JOB("'status':{'startTime':'2026-01-02T03:00:00Z',"
              "'completionTime':'2026-01-02T03:03:00Z'}"),
          "['a','Running','0/1','3m','4m5s','','','<none>']" },
        { "batch/v1 jobs", JOB_STATE(CONDITION("Complete", "True")), JOB_SHOWS("Complete") },
        { "batch/v1 jobs",
          JOB_STATE(CONDITION("Complete", "False") "," CONDITION("Failed", "True")),
          JOB_SHOWS("Failed") },
        { "batch/v1 jobs", JOB_STATE(CONDITION("Suspended", "True")), JOB_SHOWS("Suspended") },
        { "batch/v1 jobs", JOB_STATE(CONDITION("FailureTarget", "True")),
          JOB_SHOWS("FailureTarget") },
        { "batch/v1 jobs", JOB_STATE(CONDITION("SuccessCriteriaMet", "True")),
          JOB_SHOWS("SuccessCriteriaMet") },
        { "batch/v1 jobs",
          "{" GONE ",'status':{'conditions':[" CONDITION("Suspended", "True") "]}}",
          JOB_SHOWS("Terminating") },
        { "batch/v1 jobs", "{" GONE ",'status':{'conditions':[" CONDITION("Failed", "True") "]}}",
          JOB_SHOWS("Failed") },
        { "batch/v1 cronjobs",
          JOB("'spec':{'schedule':'* * * * *','suspend':false,'jobTemplate':{'spec':{" SELECTOR
              "," TEMPLATE "}}},'status':{'active':[{},{}],"
              "'lastScheduleTime':'2026-01-02T03:04:00Z'}"),
          "['a','* * * * *','<none>','False',2,'5s','4m5s','c,d','x,y','app=x']" },
        { "batch/v1 cronjobs", JOB("'spec':{'timeZone':'Etc/UTC','suspend':true}"),
          "['a','','Etc/UTC','True',0,'<none>','4m5s','','','<none>']" },
        { "batch/v1 cronjobs", JOB("'spec':{}"),
          "['a','','<none>','<unset>',0,'<none>','4m5s','','','<none>']" },
    };
    SUITE_COLUMNS(rows);
}

/* ---- Autoscalers ---- */

#define SCALER(metrics, current)                                                             \
    "{" META ",'spec':{'scaleTargetRef':{'kind':'Deployment','name':'web'},'minReplicas':1," \
    "'maxReplicas':4,'metrics':[" metrics                                                    \
    "]},'status':{'currentReplicas':2,'currentMetrics':[" current "]}}"
#define SCALES(targets) "['a','Deployment/web','" targets "','1',4,2,'4m5s']"
#define CPU             "{'type':'Resource','resource':{'name':'cpu','target':{'averageUtilization':80}}}"
#define V2              "autoscaling/v2 horizontalpodautoscalers"
#define V1              "autoscaling/v1 horizontalpodautoscalers"

static void autoscalers(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { V2, SCALER("", ""), SCALES("<none>") },
        { V2, "{" META ",'spec':{'maxReplicas':3}}", "['a','/','<none>','<unset>',3,0,'4m5s']" },
        { V2, SCALER(CPU, ""), SCALES("cpu: <unknown>/80%") },
        { V2, SCALER(CPU, "{'resource':{'current':{'averageUtilization':0}}}"),
          SCALES("cpu: 0%/80%") },
        { V2, SCALER(CPU, "{'resource':{'current':{'averageValue':'5m'}}}"),
          SCALES("cpu: <unknown>/80%") },
        { V2, SCALER("{'type':'Resource','resource':{'name':'cpu','target':{}}}", ""),
          SCALES("cpu: <unknown>/<auto>") },
        { V2,
          SCALER("{'type':'Resource','resource':{'name':'memory','target':{'averageValue':'1Gi'}}}",
                 "{'resource':{'current':{'averageValue':'512Mi'}}}"),
          SCALES("memory: 512Mi/1Gi") },
        { V2,
          SCALER("{'type':'Resource','resource':{'name':'memory','target':{'averageValue':'1Gi'}}}",
                 "{'resource':{'current':{}}}"),
          SCALES("memory: <nil>/1Gi") },
        { V2,
          SCALER("{'type':'ContainerResource','containerResource':{'name':'cpu','container':'c',"
                 "'target':{'averageUtilization':50}}}",
                 "{'containerResource':{'current':{'averageUtilization':20}}}"),
          SCALES("cpu: 20%/50%") },
        { V2, SCALER("{'type':'Pods','pods':{'target':{'averageValue':'10'}}}", ""),
          SCALES("<unknown>/10") },
        { V2,
          SCALER("{'type':'Pods','pods':{'target':{'averageValue':'10'}}}",
                 "{'pods':{'current':{'averageValue':'9'}}}"),
          SCALES("9/10") },
        { V2,
          SCALER("{'type':'Object','object':{'target':{'value':'10'}}}",
                 "{'object':{'current':{'value':'7'}}}"),
          SCALES("7/10") },
        { V2,
          SCALER("{'type':'Object','object':{'target':{'averageValue':'10'}}}",
                 "{'object':{'current':{'value':'7'}}}"),
          SCALES("<unknown>/10 (avg)") },
        { V2,
          SCALER("{'type':'External','external':{'target':{'averageValue':'10'}}}",
                 "{'external':{'current':{'averageValue':'7'}}}"),
          SCALES("7/10 (avg)") },
        { V2, SCALER("{'type':'External','external':{'target':{'value':'10'}}}", ""),
          SCALES("<unknown>/10") },
        { V2, SCALER("{'type':'Moon'}", ""), SCALES("<unknown type>") },
        { V2, SCALER(CPU "," CPU, "{},{'resource':{'current':{'averageUtilization':7}}}"),
          SCALES("cpu: <unknown>/80%, cpu: 7%/80%") },
        { V2, SCALER(CPU "," CPU "," CPU "," CPU, ""),
          SCALES("cpu: <unknown>/80%, cpu: <unknown>/80% + 2 more...") },
    };
    SUITE_COLUMNS(rows);
}

/* Annotations of version 1 hold JSON, whose quotes are written \u0022 here. */
#define Q "\\u0022"
#define OLD(annotations, cpu, now)                                                      \
    "{'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z','annotations':" \
    "{" annotations "}},'spec':{'scaleTargetRef':{'kind':'Deployment','name':'web'},"   \
    "'minReplicas':1,'maxReplicas':4" cpu "},'status':{'currentReplicas':2" now "}}"
#define SPECS(list)  "'autoscaling.alpha.kubernetes.io/metrics':'" list "'"
#define STATES(list) "'autoscaling.alpha.kubernetes.io/current-metrics':'" list "'"
#define PODS_SPEC                                                                               \
    "[{" Q "type" Q ":" Q "Pods" Q "," Q "pods" Q ":{" Q "targetAverageValue" Q ":" Q "1000m" Q \
    "}}]"
#define PODS_STATE                                                                             \
    "[{" Q "pods" Q ":{" Q "currentAverageValue" Q ":" Q "500m" Q "}},{" Q "resource" Q ":{" Q \
    "currentAverageUtilization" Q ":33}}]"
#define THREE                                                                                     \
    "[{" Q "type" Q ":" Q "Object" Q "," Q "object" Q ":{" Q "targetValue" Q ":" Q "3" Q "}},{" Q \
    "type" Q ":" Q "External" Q "," Q "external" Q ":{" Q "targetAverageValue" Q ":" Q "2" Q      \
    "}},{}]"

static void autoscalers_of_the_first_version(void **state)
{
    (void)state;
    static const struct suite_cells rows[] = {
        { V1, OLD("", ",'targetCPUUtilizationPercentage':70", ""), SCALES("cpu: <unknown>/70%") },
        { V1,
          OLD("", ",'targetCPUUtilizationPercentage':70", ",'currentCPUUtilizationPercentage':20"),
          SCALES("cpu: 20%/70%") },
        { V1, OLD("", "", ""), SCALES("cpu: <unknown>/80%") },
        { V1, OLD(SPECS(PODS_SPEC), "", ""), SCALES("<unknown>/1") },
        { V1,
          OLD(SPECS(PODS_SPEC) "," STATES(PODS_STATE), ",'targetCPUUtilizationPercentage':70",
              ",'currentCPUUtilizationPercentage':20"),
          SCALES("500m/1, cpu: 33%/70%") },
        /* without the list of states, the only one known is that of the first metric */
        { V1,
          OLD(SPECS(PODS_SPEC), ",'targetCPUUtilizationPercentage':70",
              ",'currentCPUUtilizationPercentage':20"),
          SCALES("<unknown>/1, cpu: <unknown>/70%") },
        { V1, OLD(SPECS(THREE), ",'targetCPUUtilizationPercentage':70", ""),
          SCALES("<unknown>/3, <unknown>/2 (avg) + 2 more...") },
        { V1, OLD(SPECS("{"), "", ""), SCALES("cpu: <unknown>/80%") },
        { V1, OLD(SPECS("{}"), "", ""), SCALES("cpu: <unknown>/80%") },
    };
    SUITE_COLUMNS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods),
        cmocka_unit_test(pods_of_which_one_container_is_done),
        cmocka_unit_test(pods_that_are_starting),
        cmocka_unit_test(pods_with_sidecars),
        cmocka_unit_test(pods_that_go_and_where_they_are),
        cmocka_unit_test(pods_that_are_done_say_so_in_the_row),
        cmocka_unit_test(workloads),
        cmocka_unit_test(jobs),
        cmocka_unit_test(autoscalers),
        cmocka_unit_test(autoscalers_of_the_first_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
