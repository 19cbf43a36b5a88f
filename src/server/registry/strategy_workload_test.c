#include "server/registry/suite_strategy.h"

static void workloads(void **state)
{
    static const struct suite_row rows[] = {
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1'},'spec':{'template':{}},'status':{'active':1}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{"
          "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u-1','job-name':'j'}},'spec':{'selector':{'matchLabels':{"
          "'batch.kubernetes.io/controller-uid':'u-1'}},'template':{'metadata':{'labels':{"
          "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u-1','job-name':'j'}}}}}" },
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1','labels':{'a':'b'}},'spec':{'manualSelector':true,"
          "'selector':{'matchLabels':{'x':'y'}},'template':{'metadata':{'labels':{'x':'y'}}}}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{'a':'b'}},'spec':{"
          "'manualSelector':true,'selector':{'matchLabels':{'x':'y'}},'template':{'metadata':{"
          "'labels':{'x':'y'}}}}}" },
        { "apps", "daemonsets", NULL, NULL, "{'metadata':{'name':'d'},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':1,'annotations':{"
          "'deprecated.daemonset.template.generation':'1'}},'spec':{'template':{}}}" },
        { "apps", "daemonsets", "",
          "{'metadata':{'name':'d','generation':3,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':3},'spec':{'template':{'spec':{'hostname':'h'}}}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{"
          "'deprecated.daemonset.template.generation':'3'}},'spec':{'template':{'spec':{"
          "'hostname':'h'}}}}" },
        { "apps", "daemonsets", "",
          "{'metadata':{'name':'d','generation':3,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{}}}",
          "{'metadata':{'name':'d','generation':3},'spec':{'template':{},'minReadySeconds':9}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{"
          "'deprecated.daemonset.template.generation':'2'}},'spec':{'template':{},"
          "'minReadySeconds':9}}" },
        { "apps", "deployments", "", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'annotations':{'a':'b'}},'spec':{}}",
          "{'metadata':{'name':'d','generation':4,'annotations':{'a':'b'}},'spec':{}}" },
        { "apps", "deployments", "", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}" },
        { "apps", "deployments", "status",
          "{'metadata':{'name':'d','generation':3,'labels':{'x':'y'}},'spec':{'replicas':1}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'},'annotations':{'a':'b'}},"
          "'spec':{'replicas':9},'status':{'replicas':2}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'x':'y'},'annotations':{'a':'b'}},"
          "'spec':{'replicas':1},'status':{'replicas':2}}" },
        { "apps", "statefulsets", "status", "{'metadata':{'name':'d','generation':3},'spec':{}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{'replicas':9}}",
          "{'metadata':{'name':'d','generation':3,'labels':{'a':'b'}},'spec':{}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define JOB_LABELS                                                                               \
    "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j','controller-" \
    "uid':'u-1','job-name':'j'"
#define JOB_SELECTOR "'selector':{'matchLabels':{'batch.kubernetes.io/controller-uid':'u-1'}}"

static void labels_of_jobs(void **state)
{
    static const struct suite_row rows[] = {
        /* Its own labels stay its own; those of the template are added to. */
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1','labels':{'a':'b'}},'spec':{'template':{'metadata':{"
          "'labels':{'c':'d'}}}}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{'a':'b'}},'spec':"
          "{" JOB_SELECTOR ",'template':{'metadata':{'labels':{" JOB_LABELS ",'c':'d'}}}}}" },
        /* A label that is there already is not overwritten: validation tells. */
        { "batch", "jobs", NULL, NULL,
          "{'metadata':{'name':'j','uid':'u-1','labels':{'a':'b'}},'spec':{'template':{'metadata':{"
          "'labels':{'job-name':'x'}}}}}",
          "{'metadata':{'name':'j','uid':'u-1','generation':1,'labels':{'a':'b'}},'spec':"
          "{" JOB_SELECTOR ",'template':{'metadata':{'labels':{"
          "'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
          "'controller-uid':'u-1','job-name':'x'}}}}}" },
        { "batch", "jobs", "status",
          "{'metadata':{'name':'j','generation':2},'spec':{'parallelism':1}}",
          "{'metadata':{'name':'j','generation':2},'spec':{'parallelism':5},'status':{'active':1}}",
          "{'metadata':{'name':'j','generation':2},'spec':{'parallelism':1},'status':{'active':"
          "1}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define COUNT "deprecated.daemonset.template.generation"
#define DAEMONS(generation, count, spec)                                                     \
    "{'metadata':{'name':'d','generation':" generation ",'annotations':{'" COUNT "':'" count \
    "'}},'spec':{" spec "}}"

static void templates_of_daemons_are_counted(void **state)
{
    static const struct suite_row rows[] = {
        { "apps", "daemonsets", NULL, NULL, DAEMONS("9", "7", ""), DAEMONS("1", "7", "") },
        { "apps", "daemonsets", NULL, NULL, DAEMONS("9", "-7", ""), DAEMONS("1", "1", "") },
        { "apps", "daemonsets", NULL, NULL, DAEMONS("9", "many", ""), DAEMONS("1", "1", "") },
        /* Clients do not count. */
        { "apps", "daemonsets", "", DAEMONS("3", "2", ""), DAEMONS("3", "40", ""),
          DAEMONS("3", "2", "") },
        { "apps", "daemonsets", "status", DAEMONS("3", "2", ""), DAEMONS("3", "40", ""),
          DAEMONS("3", "2", "") },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define RESULT(device) "{'request':'r','driver':'d','pool':'p','device':'" device "'}"
#define STATUS(device) "{'driver':'d','pool':'p','device':'" device "'}"
#define CLAIM(results, devices)                                                                 \
    "{'metadata':{'name':'c'},'spec':{},'status':{'allocation':{'devices':{'results':[" results \
    "]}}" devices "}}"

static void devices_that_are_given_back(void **state)
{
    static const struct suite_row rows[] = {
        { "resource.k8s.io", "resourceclaims", "status",
          CLAIM(RESULT("x") "," RESULT("y"), ",'devices':[" STATUS("x") "," STATUS("y") "]"),
          CLAIM(RESULT("y"), ",'devices':[" STATUS("x") "," STATUS("y") "]"),
          CLAIM(RESULT("y"), ",'devices':[" STATUS("y") "]") },
        { "resource.k8s.io", "resourceclaims", "status",
          CLAIM(RESULT("x"), ",'devices':[" STATUS("x") "]"),
          "{'metadata':{'name':'c'},'spec':{},'status':{'devices':[" STATUS("x") "]}}",
          "{'metadata':{'name':'c'},'spec':{},'status':{}}" },
        /* One that it never had is for validation. */
        { "resource.k8s.io", "resourceclaims", "status", CLAIM(RESULT("x"), ""),
          CLAIM(RESULT("x"), ",'devices':[" STATUS("z") "]"),
          CLAIM(RESULT("x"), ",'devices':[" STATUS("z") "]") },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define TAINT(generation, effect, year)                \
    "{'metadata':{'name':'t','generation':" generation \
    "},'spec':{'taint':{'key':'k','effect':'" effect "','timeAdded':'" year "-01-02T03:04:05Z'}}}"

static void another_effect_is_a_new_taint(void **state)
{
    static const struct suite_row rows[] = {
        { "resource.k8s.io", "devicetaintrules", "", TAINT("1", "NoSchedule", "2020"),
          TAINT("1", "NoExecute", "2020"), TAINT("2", "NoExecute", "2030") },
        { "resource.k8s.io", "devicetaintrules", "", TAINT("1", "NoSchedule", "2020"),
          TAINT("1", "NoExecute", "2021"), TAINT("2", "NoExecute", "2021") },
        { "resource.k8s.io", "devicetaintrules", "", TAINT("1", "NoSchedule", "2020"),
          TAINT("1", "NoSchedule", "2020"), TAINT("1", "NoSchedule", "2020") },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workloads),
        cmocka_unit_test(labels_of_jobs),
        cmocka_unit_test(templates_of_daemons_are_counted),
        cmocka_unit_test(devices_that_are_given_back),
        cmocka_unit_test(another_effect_is_a_new_taint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
