#include "server/registry/suite_strategy.h"

#include "api/pod_qos.h"
#include "base/idiom.h"

static void quality_of_service(void **state)
{
    static const struct {
        const char *spec, *want;
    } rows[] = {
        { "{'containers':[{'name':'a'}]}", "BestEffort" },
        { "{}", "BestEffort" },
        { "{'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}]}", "Burstable" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1','memory':'1Gi'}}}]}",
          "Guaranteed" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1000m','memory':'1024Mi'}}}]}",
          "Guaranteed" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1'},"
          "'requests':{'cpu':'1'}}}]}",
          "Burstable" },
        { "{'containers':[{'name':'a','resources':{'limits':{'cpu':'1','memory':'1Gi'},"
          "'requests':{'cpu':'1','memory':'1Gi'}}},{'name':'b'}]}",
          "Burstable" },
        { "{'initContainers':[{'name':'i','resources':{'requests':{'memory':'1'}}}],"
          "'containers':[{'name':'a'}]}",
          "Burstable" },
        { "{'containers':[{'name':'a','resources':{'requests':{'cpu':'0'}}}]}", "BestEffort" },
        { "{'containers':[{'name':'a','resources':{'requests':{'example.com/gpu':'1'},"
          "'limits':{'example.com/gpu':'1'}}}]}",
          "BestEffort" },
        { "{'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1','memory':"
          "'1Gi'}},'containers':[{'name':'a'}]}",
          "Guaranteed" },
        { "{'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'a'}]}", "Burstable" },
    };
    const struct kind_resource *pods = suite_strategy_resource("", "pods");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod =
            suite_strategy_read(&a, pods, arena_printf(&a, "{'spec':%s}", rows[i].spec).p);
        if (!str_eq(pod_qos_class(value_get(&pod, STR("spec"))), str_of(rows[i].want)))
            print_error("%s\n", rows[i].spec);
        assert_true(str_eq(pod_qos_class(value_get(&pod, STR("spec"))), str_of(rows[i].want)));
        arena_done(&a);
    }
}

#define POD_META "'metadata':{'name':'p','generation':1}"

static void new_pods(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p','generation':7},'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Running','qosClass':'Guaranteed','nominatedNodeName':'n'}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a'}],"
          "'schedulingGates':[{'name':'g'}]}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}],'schedulingGates':[{'name':'g'}]},"
          "'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
          "'lastTransitionTime':'2030-01-02T03:04:05Z','reason':'SchedulingGated','message':"
          "'Scheduling is blocked due to non-empty scheduling gates'}],'qosClass':"
          "'BestEffort'}}" },
        /* A feature that is off. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','lifecycle':{'stopSignal':"
          "'SIGUSR1'}}]}}",
          "{" POD_META ",'spec':{'containers':[{'name':'a'}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        /* Selectors that look at the pod's own labels. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p','labels':{'v':'1'}},'spec':{'containers':[{'name':'a'}],"
          "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k','whenUnsatisfiable':"
          "'DoNotSchedule','labelSelector':{},'matchLabelKeys':['v','absent']}]}}",
          "{'metadata':{'name':'p','generation':1,'labels':{'v':'1'}},'spec':{'containers':"
          "[{'name':'a'}],'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k',"
          "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchExpressions':[{'key':'v',"
          "'operator':'In','values':['1']}]},'matchLabelKeys':['v','absent']}]},"
          "'status':{'phase':'Pending','qosClass':'BestEffort'}}" },
        /* Its own resources come from its containers. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'resources':{'limits':{'cpu':'3'}},'containers':["
          "{'name':'a','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'2Gi'}}},"
          "{'name':'b','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'1Gi'}}}]}}",
          "{" POD_META ",'spec':{'resources':{'limits':{'cpu':'3','memory':'3Gi'},'requests':{"
          "'cpu':'3','memory':'2Gi'}},'containers':["
          "{'name':'a','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'2Gi'}}},"
          "{'name':'b','resources':{'requests':{'memory':'1Gi'},'limits':{'memory':'1Gi'}}}]},"
          "'status':{'phase':'Pending','qosClass':'Burstable'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void changed_pods(void **state)
{
    static const char old[] = "{" POD_META ",'spec':{'containers':[{'name':'a','image':'x:1'}]},"
                              "'status':{'phase':'Running','qosClass':'BestEffort'}}";
    static const struct suite_row rows[] = {
        { "", "pods", "", old,
          "{" POD_META ",'spec':{'containers':[{'name':'a','image':'x:2'}]},"
          "'status':{'phase':'Failed'}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:2'}]},'status':{'phase':'Running','qosClass':'BestEffort'}}" },
        { "", "pods", "status", old,
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'},'ownerReferences':["
          "{'apiVersion':'v1','kind':'Node','name':'n','uid':'u'}]},'spec':{'containers':[]},"
          "'status':{'phase':'Failed'}}",
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'}},'spec':{'containers':["
          "{'name':'a','image':'x:1'}]},'status':{'phase':'Failed','qosClass':'BestEffort'}}" },
        { "", "pods", "ephemeralcontainers", old,
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'}},'spec':{'containers':["
          "{'name':'z'}],'ephemeralContainers':[{'name':'d','image':'y'}]},'status':{}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:1'}],'ephemeralContainers':[{'name':'d','image':'y'}]},"
          "'status':{'phase':'Running','qosClass':'BestEffort'}}" },
        { "", "pods", "resize", old,
          "{" POD_META ",'spec':{'hostname':'h','containers':[{'name':'a','image':'x:9',"
          "'resources':{'limits':{'cpu':'1'}}}]}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':"
          "'x:1','resources':{'limits':{'cpu':'1'}}}]},"
          "'status':{'phase':'Running','qosClass':'BestEffort'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* ---- Paths of their own ---- */

#define TWO                                                                      \
    "'containers':[{'name':'a','image':'x','resources':{'limits':{'cpu':'1'}}}," \
    "{'name':'b','image':'y'}]"

static void resizing(void **state)
{
    static const char old[] = "{" POD_META ",'spec':{" TWO "},'status':{'phase':'Running'}}";
    static const struct suite_row rows[] = {
        /* Other containers, or in another order: left for validation to refuse. */
        { "", "pods", "resize", old,
          "{" POD_META ",'spec':{'containers':[{'name':'b'},{'name':'a'}]}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'b'},"
          "{'name':'a'}]},'status':{'phase':'Running'}}" },
        { "", "pods", "resize", old, "{" POD_META ",'spec':{'containers':[{'name':'a'}]}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a'}]}}" },
        /* What is not said is gone, policies too; labels come by another way. */
        { "", "pods", "resize", old,
          "{'metadata':{'name':'p','generation':1,'labels':{'l':'m'}},'spec':{'containers':["
          "{'name':'a','resizePolicy':[{'resourceName':'cpu','restartPolicy':'NotRequired'}]},"
          "{'name':'b'}]}}",
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a','image':'x',"
          "'resizePolicy':[{'resourceName':'cpu','restartPolicy':'NotRequired'}]},{'name':'b',"
          "'image':'y'}]},'status':{'phase':'Running'}}" },
        { "", "pods", "resize", old, "{" POD_META ",'spec':{'nodeName':'n'," TWO "}}", old },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void ephemeral_containers(void **state)
{
    static const char old[] = "{" POD_META ",'spec':{'ephemeralContainers':[{'name':'d','image':"
                              "'y'}]},'status':{'phase':'Running'}}";
    static const struct suite_row rows[] = {
        { "", "pods", "ephemeralcontainers", old, "{" POD_META ",'spec':{}}",
          "{'metadata':{'name':'p','generation':2},'spec':{},'status':{'phase':'Running'}}" },
        { "", "pods", "ephemeralcontainers", old,
          "{'metadata':{'name':'p','generation':1,'annotations':{'a':'b'}},'spec':{"
          "'ephemeralContainers':[{'name':'d','image':'y'}],'hostname':'h'}}",
          old },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void status_of_a_pod(void **state)
{
    static const char old[] =
        "{" POD_META ",'status':{'phase':'Running','observedGeneration':4,'qosClass':'Burstable',"
        "'resourceClaimStatuses':[{'name':'c'}],'conditions':[{'type':'Ready','status':'True',"
        "'observedGeneration':3}]}}";
    static const struct suite_row rows[] = {
        /* Kubelets that do not know these fields do not take them away. */
        { "", "pods", "status", old,
          "{" POD_META ",'status':{'phase':'Failed','conditions':[{'type':'Other','status':"
          "'True'},{'type':'Ready','status':'False'}]}}",
          "{" POD_META ",'status':{'phase':'Failed','observedGeneration':4,'qosClass':'Burstable',"
          "'resourceClaimStatuses':[{'name':'c'}],'conditions':[{'type':'Other','status':'True'},"
          "{'type':'Ready','status':'False','observedGeneration':3}]}}" },
        { "", "pods", "status", old,
          "{" POD_META ",'status':{'observedGeneration':5,'qosClass':'BestEffort',"
          "'resourceClaimStatuses':[{'name':'d'}],'conditions':[{'type':'Ready','status':'False',"
          "'observedGeneration':5}]}}",
          "{" POD_META ",'status':{'observedGeneration':5,'qosClass':'BestEffort',"
          "'resourceClaimStatuses':[{'name':'d'}],'conditions':[{'type':'Ready','status':'False',"
          "'observedGeneration':5}]}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* ---- What old clients write ---- */

#define APPARMOR "container.apparmor.security.beta.kubernetes.io/"
#define PENDING  "'status':{'phase':'Pending','qosClass':'BestEffort'}"
#define ARMORED(profile, spec)                                                               \
    "{'metadata':{'name':'p','generation':1,'annotations':{'" APPARMOR "a':'" profile "'}}," \
    "'spec':{" spec "}," PENDING "}"
#define WITH(profile) \
    "'containers':[{'name':'a','securityContext':{'appArmorProfile':{" profile "}}}]"
#define PLAIN "'containers':[{'name':'a'}]"

static void profiles_in_annotations(void **state)
{
    static const char warning[] = "metadata.annotations[" APPARMOR
                                  "a]: deprecated since v1.30; use the \"appArmorProfile\" field "
                                  "instead";
    static const struct {
        const char *given, *want, *warning;
    } cases[] = {
        { ARMORED("unconfined", PLAIN), ARMORED("unconfined", WITH("'type':'Unconfined'")),
          warning },
        { ARMORED("runtime/default", PLAIN),
          ARMORED("runtime/default", WITH("'type':'RuntimeDefault'")), warning },
        { ARMORED("localhost/x", PLAIN),
          ARMORED("localhost/x", WITH("'type':'Localhost','localhostProfile':'x'")), warning },
        { ARMORED("localhost/", PLAIN), ARMORED("localhost/", PLAIN), warning },
        { ARMORED("nonsense", PLAIN), ARMORED("nonsense", PLAIN), warning },
        /* The field wins, and what the pod says for all need not be said again. */
        { ARMORED("unconfined", WITH("'type':'RuntimeDefault'")),
          ARMORED("unconfined", WITH("'type':'RuntimeDefault'")), NULL },
        { ARMORED("unconfined", PLAIN ",'securityContext':{'appArmorProfile':{'type':"
                                      "'Unconfined'}}"),
          ARMORED("unconfined", PLAIN ",'securityContext':{'appArmorProfile':{'type':"
                                      "'Unconfined'}}"),
          NULL },
        { ARMORED("unconfined", PLAIN ",'os':{'name':'windows'}"),
          ARMORED("unconfined", PLAIN ",'os':{'name':'windows'}"), NULL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct suite_row row = {
            "", "pods", NULL, NULL, cases[i].given, cases[i].want, .warning = cases[i].warning
        };
        suite_strategy_run(&row, 1);
    }
}

static void init_containers_in_annotations(void **state)
{
#define ANNOTATED(more) \
    "{'metadata':{'name':'p','generation':1,'annotations':{" more "'keep':'me'}},'spec':{}"
#define INIT                                                 \
    "'pod.alpha.kubernetes.io/init-container-statuses':'1'," \
    "'pod.alpha.kubernetes.io/init-containers':'2',"         \
    "'pod.beta.kubernetes.io/init-container-statuses':'3',"  \
    "'pod.beta.kubernetes.io/init-containers':'4',"
    static const struct suite_row rows[] = {
        { "", "pods", NULL, NULL, ANNOTATED(INIT) "}", ANNOTATED("") "," PENDING "}" },
        { "", "pods", "", ANNOTATED("") "}", ANNOTATED(INIT) "}", ANNOTATED("") "}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* ---- Resources of a whole pod ---- */

#define ASKS(what, amount) "'resources':{'" what "':{'memory':'" amount "'}}"
#define SIDECAR(amount)    "{'name':'s','restartPolicy':'Always'," ASKS("requests", amount) "}"

static void resources_of_a_pod(void **state)
{
    static const struct {
        const char *containers, *requests; /* with a limit of 9Gi for all */
    } cases[] = {
        { "'containers':[{'name':'a'}]", "9Gi" },
        { "'containers':[{'name':'a'," ASKS("requests", "1Gi") "},{'name':'b'," ASKS("requests",
                                                                                     "2Gi") "}]",
          "3Gi" },
        /* Init containers run alone, but for those that stay. */
        { "'initContainers':[{'name':'i'," ASKS(
              "requests", "5Gi") "}],'containers':[{'name':'a'," ASKS("requests", "1Gi") "}]",
          "5Gi" },
        { "'initContainers':[" SIDECAR("1Gi") ",{'name':'i'," ASKS(
              "requests", "5Gi") "}],'containers':[{'name':'a'," ASKS("requests", "1Gi") "}]",
          "6Gi" },
        { "'initContainers':[{'name':'i'," ASKS("requests", "1Gi") "}," SIDECAR(
              "3Gi") "],'containers':[{'name':'a'," ASKS("requests", "1Gi") "}]",
          "4Gi" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = suite_strategy_read(
            &a, suite_strategy_resource("", "pods"),
            arena_printf(&a, "{'spec':{'resources':{'limits':{'memory':'9Gi'}},%s}}",
                         cases[i].containers)
                .p);
        struct strategy s = { .arena = &a,
                              .resource = suite_strategy_resource("", "pods"),
                              .now = STR("2030-01-02T03:04:05Z") };
        strategy_create(&s, &pod);
        assert_string_equal(
            str_cstr(&a, value_str(value_dig(&pod, "spec", "resources", "requests", "memory"))),
            cases[i].requests);
        arena_done(&a);
    }
}

static void resources_are_not_lost(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", "", "{" POD_META ",'spec':{'resources':{'limits':{'cpu':'1'}}}}",
          "{" POD_META ",'spec':{}}",
          "{" POD_META ",'spec':{'resources':{'limits':{'cpu':'1'}}}}" },
        /* Only what a pod can have as a whole is summed up. */
        { "", "pods", NULL, NULL,
          "{'metadata':{'name':'p'},'spec':{'resources':{'requests':{'cpu':'1'}},'containers':["
          "{'name':'a','resources':{'requests':{'example.com/gpu':'1','ephemeral-storage':'1'},"
          "'limits':{'hugepages-2Mi':'4Mi'}}}]}}",
          "{" POD_META ",'spec':{'resources':{'requests':{'cpu':'1','hugepages-2Mi':'4Mi'},'limits'"
          ":{'hugepages-2Mi':'4Mi'}},'containers':["
          "{'name':'a','resources':{'requests':{'example.com/gpu':'1','ephemeral-storage':'1'},"
          "'limits':{'hugepages-2Mi':'4Mi'}}}]},'status':{'phase':'Pending','qosClass':"
          "'Burstable'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* ---- Selectors that look at the pod's own labels ---- */

#define TERM(selector, keys) "{'topologyKey':'k','labelSelector':{" selector "}," keys "}"
#define AFFINE(kind, when, term)                                                            \
    "{'metadata':{'name':'p','generation':1,'labels':{'v':'1'}},'spec':{'affinity':{'" kind \
    "':{'" when "DuringSchedulingIgnoredDuringExecution':[" term "]}}}"
#define EXPRESSION(operator) \
    "'matchExpressions':[{'key':'v','operator':'" operator"','values':['1']}]"

static void own_labels(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", NULL, NULL,
          AFFINE("podAffinity", "required", TERM("", "'matchLabelKeys':['v','w']")) "}",
          AFFINE("podAffinity", "required",
                 TERM(EXPRESSION("In"), "'matchLabelKeys':['v','w']")) "," PENDING "}" },
        { "", "pods", NULL, NULL,
          AFFINE("podAntiAffinity", "preferred",
                 "{'weight':1,'podAffinityTerm':" TERM("", "'mismatchLabelKeys':['v']") "}") "}",
          AFFINE("podAntiAffinity", "preferred",
                 "{'weight':1,'podAffinityTerm':" TERM(
                     EXPRESSION("NotIn"), "'mismatchLabelKeys':['v']") "}") "," PENDING "}" },
        /* Once it is there it stays as it is. */
        { "", "pods", "", AFFINE("podAffinity", "required", TERM("", "'matchLabelKeys':['v']")) "}",
          AFFINE("podAffinity", "required", TERM("", "'matchLabelKeys':['v']")) "}",
          AFFINE("podAffinity", "required", TERM("", "'matchLabelKeys':['v']")) "}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

/* ---- Ending ---- */

static void time_to_end(void **state)
{
    static const int64_t never = INT64_MIN; /* not asked for */
    static const struct {
        const char *pod;
        int64_t asked, want;
    } cases[] = {
        { "{'spec':{'nodeName':'n'}}", never, 30 },
        { "{'spec':{'nodeName':'n','terminationGracePeriodSeconds':5}}", never, 5 },
        { "{'spec':{'nodeName':'n','terminationGracePeriodSeconds':5}}", 7, 7 },
        { "{'spec':{'nodeName':'n','terminationGracePeriodSeconds':5}}", 0, 0 },
        { "{'spec':{'nodeName':'n','terminationGracePeriodSeconds':-9}}", never, 1 },
        { "{'spec':{'nodeName':'n'}}", -1, 1 },
        { "{'spec':{'terminationGracePeriodSeconds':5}}", 7, 0 }, /* no kubelet has it */
        { "{'spec':{'nodeName':'n'},'status':{'phase':'Failed'}}", 7, 0 },
        { "{'spec':{'nodeName':'n'},'status':{'phase':'Succeeded'}}", never, 0 },
        { "{'spec':{'nodeName':'n'},'status':{'phase':'Pending'}}", never, 30 },
    };
    const struct kind_resource *pods = suite_strategy_resource("", "pods");
    (void)state;
    assert_true(strategy_is_graceful(pods));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = suite_strategy_read(&a, pods, cases[i].pod);
        const int64_t *asked = cases[i].asked == never ? NULL : &cases[i].asked;
        assert_int_equal(strategy_grace(pods, &pod, asked), cases[i].want);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality_of_service),
        cmocka_unit_test(new_pods),
        cmocka_unit_test(changed_pods),
        cmocka_unit_test(resizing),
        cmocka_unit_test(ephemeral_containers),
        cmocka_unit_test(status_of_a_pod),
        cmocka_unit_test(profiles_in_annotations),
        cmocka_unit_test(init_containers_in_annotations),
        cmocka_unit_test(resources_of_a_pod),
        cmocka_unit_test(resources_are_not_lost),
        cmocka_unit_test(own_labels),
        cmocka_unit_test(time_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
