/* The plugins, on a cluster of a few trees. Objects are JSON with single quotes. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static const struct suite_object objects[] = {
    { STR("priorityclasses"), STR("high"),
      "{'metadata':{'name':'high'},'value':1000,'preemptionPolicy':'Never'}" },
    { STR("priorityclasses"), STR("usual"),
      "{'metadata':{'name':'usual'},'value':7,'globalDefault':true}" },
    { STR("priorityclasses"), STR("lower"),
      "{'metadata':{'name':'lower'},'value':5,'globalDefault':true}" },
    { STR("nodes"), STR("n1"),
      "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z','other':'x'}}}" },
    { STR("runtimeclasses"), STR("kata"),
      "{'overhead':{'podFixed':{'cpu':'250m'}},'scheduling':{'nodeSelector':{'kata':'yes'}}}" },
    { STR("storageclasses"), STR("grows"), "{'allowVolumeExpansion':true}" },
    { STR("storageclasses"), STR("fixed"), "{}" },
};

static const struct suite cluster = { .objects = objects, .n_objects = ARRAY_LEN(objects) };

#define PATIENCE                                                                               \
    "'tolerations':[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':"       \
    "'NoExecute','tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable','operator':" \
    "'Exists','effect':'NoExecute','tolerationSeconds':300}]"

static void pods(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        /* Of two defaults the lower one counts. */
        { "", "pods", "{'spec':{}}", NULL,
          "{'spec':{'priorityClassName':'lower','priority':5," PATIENCE "}}", NULL },
        { "", "pods", "{'spec':{'priorityClassName':'high'}}", NULL,
          "{'spec':{'priorityClassName':'high','priority':1000,'preemptionPolicy':"
          "'Never'," PATIENCE "}}",
          NULL },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'priorityClassName':'none'}}", NULL, NULL,
          FORBIDDEN("pods \"p\"") "no PriorityClass with name none was found" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'priorityClassName':'high','priority':3}}",
          NULL, NULL,
          FORBIDDEN(
              "pods \"p\"") "the integer value of priority (3) must not be provided in pod "
                            "spec; priority admission controller computed 1000 from the given "
                            "PriorityClass name" },
        /* An update keeps what the create decided. */
        { "", "pods", "{'spec':{" PATIENCE "}}", "{'spec':{'priority':9}}",
          "{'spec':{" PATIENCE ",'priority':9}}", NULL },
        { "", "pods", "{'spec':{'runtimeClassName':'kata','priorityClassName':'usual'}}", NULL,
          "{'spec':{'runtimeClassName':'kata','priorityClassName':'usual','priority':7," PATIENCE
          ",'overhead':{'cpu':'250m'},'nodeSelector':{'kata':'yes'}}}",
          NULL },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'runtimeClassName':''}}", NULL, NULL,
          "resource name may not be empty" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'runtimeClassName':'none'}}", NULL, NULL,
          FORBIDDEN("pods \"p\"") "pod rejected: RuntimeClass \"none\" not found" },
        /* The labels of a node come with the node, and may be changed later. */
        { "", "pods", "{'metadata':{},'spec':{'nodeName':'n1','priorityClassName':'high'}}", NULL,
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z'}},'spec':{'nodeName':'n1',"
          "'priorityClassName':'high','priority':1000,'preemptionPolicy':'Never'," PATIENCE "}}",
          NULL },
        { "", "pods", "{'metadata':{},'spec':{'nodeName':'n1'," PATIENCE "}}", "{'spec':{}}", NULL,
          NULL },
        /* The overhead is that of the class, or none. */
        { "", "pods",
          "{'metadata':{'name':'p'},'spec':{'runtimeClassName':'kata','overhead':{'cpu':'1'}}}",
          NULL, NULL,
          FORBIDDEN("pods \"p\"") "pod rejected: Pod's Overhead doesn't match RuntimeClass's "
                                  "defined Overhead" },
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'overhead':{'cpu':'1'}}}", NULL, NULL,
          FORBIDDEN("pods \"p\"") "pod rejected: Pod Overhead set without corresponding "
                                  "RuntimeClass defined Overhead" },
    };
    SUITE_CHECK(&cluster, rows);
}

static void others(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "nodes", "{'spec':{}}", NULL,
          "{'spec':{'taints':[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]}}",
          NULL },
        { "", "nodes", "{'spec':{}}", "{'spec':{}}", NULL, NULL },
        { "", "persistentvolumes", "{'metadata':{}}", NULL,
          "{'metadata':{'finalizers':['kubernetes.io/pv-protection']}}", NULL },
        { "", "persistentvolumeclaims", "{'metadata':{'finalizers':['a']}}", NULL,
          "{'metadata':{'finalizers':['a','kubernetes.io/pvc-protection']}}", NULL },
        { "", "configmaps", "{'metadata':{}}", NULL, NULL, NULL },
        { "scheduling.k8s.io", "priorityclasses",
          "{'metadata':{'name':'new'},'value':1,'globalDefault':true}", NULL, NULL,
          FORBIDDEN("priorityclasses.scheduling.k8s.io \"new\"") "PriorityClass lower is already "
                                                                 "marked as default. Only one "
                                                                 "default can exist" },
        { "scheduling.k8s.io", "priorityclasses",
          "{'metadata':{'name':'lower'},'value':5,'globalDefault':true}", "{}", NULL, NULL },
        { "", "namespaces",
          "{'metadata':{'name':'n','labels':{'pod-security.kubernetes.io/enforce':'baseline',"
          "'pod-security.kubernetes.io/enforce-version':'v1.30'}}}",
          NULL, NULL, NULL },
        { "", "namespaces",
          "{'metadata':{'name':'n','labels':{'pod-security.kubernetes.io/warn':'x'}}}", NULL, NULL,
          "Namespace \"n\" is invalid: metadata.labels[pod-security.kubernetes.io/warn]: Invalid "
          "value: \"x\": must be one of privileged, baseline, restricted" },
        /* What was wrong before may stay so. */
        { "", "namespaces",
          "{'metadata':{'name':'n','labels':{'pod-security.kubernetes.io/warn':'x'}}}",
          "{'metadata':{'name':'n','labels':{'pod-security.kubernetes.io/warn':'x'}}}", NULL,
          NULL },
    };
    SUITE_CHECK(&cluster, rows);
}

#define CLAIM(class, size, phase)                                                                  \
    "{'metadata':{'name':'c'},'spec':{'storageClassName':'" class "','resources':{'requests':{'"   \
                                                                  "storage':'" size                \
                                                                  "'}}},'status':{'phase':'" phase \
                                                                  "'}}"

static void claims_grow(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims", CLAIM("grows", "2Gi", "Bound"),
          CLAIM("grows", "1Gi", "Bound"), NULL, NULL },
        { "", "persistentvolumeclaims", CLAIM("fixed", "1Gi", "Bound"),
          CLAIM("fixed", "1Gi", "Bound"), NULL, NULL },
        { "", "persistentvolumeclaims", CLAIM("fixed", "2Gi", "Bound"),
          CLAIM("fixed", "1Gi", "Bound"), NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "only dynamically provisioned pvc can be "
                                                    "resized and the storageclass that provisions "
                                                    "the pvc must support resize" },
        /* A claim that changes its class at the same time does not grow. */
        { "", "persistentvolumeclaims", CLAIM("grows", "2Gi", "Bound"), CLAIM("", "1Gi", "Bound"),
          NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "only dynamically provisioned pvc can be "
                                                    "resized and the storageclass that provisions "
                                                    "the pvc must support resize" },
        { "", "persistentvolumeclaims", CLAIM("grows", "2Gi", "Pending"),
          CLAIM("grows", "1Gi", "Pending"), NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "Only bound persistent volume claims can be "
                                                    "expanded" },
    };
    SUITE_CHECK(&cluster, rows);
}

static void bindings(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "pods", "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n1'}}", NULL,
          "{'metadata':{'name':'p','labels':{'topology.kubernetes.io/zone':'z'}},'target':{'kind':"
          "'Node','name':'n1'}}",
          NULL, "binding" },
        { "", "pods", "{'metadata':{'name':'p'},'target':{'kind':'Other','name':'n1'}}", NULL, NULL,
          NULL, "binding" },
        /* Other paths are not for the plugins of pods. */
        { "", "pods", "{'spec':{'nodeName':'n1'}}", "{'spec':{}}", NULL, NULL, "status" },
    };
    SUITE_CHECK(&cluster, rows);
}

/* Plugins that are switched off leave an object as it is. */
static void choice(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "nodes", "{'spec':{}}", NULL, NULL, NULL },
        { "", "pods", "{'spec':{}}", NULL, "{'spec':{" PATIENCE "}}", NULL },
    };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct suite some = cluster;
    assert_int_equal(
        admission_choose(&some.choice, STR("Priority,TaintNodesByCondition"), false, &err), 0);
    SUITE_CHECK(&some, rows);
    assert_int_equal(admission_choose(&some.choice, STR("RuntimeClass,None"), true, &err),
                     -ERR_INVALID);
    assert_true(str_starts(err.msg, STR("there is no admission plugin 'None'; there are "
                                        "AlwaysAdmit, NamespaceAutoProvision, ")));
    err_clear(&err);
    assert_int_equal(admission_choose(&some.choice, STR("Priority"), true, &err), -ERR_INVALID);
    assert_true(str_eq(err.msg, STR("the admission plugin Priority is both enabled and disabled")));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods),     cmocka_unit_test(others), cmocka_unit_test(claims_grow),
        cmocka_unit_test(bindings), cmocka_unit_test(choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
