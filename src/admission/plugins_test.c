/* The smaller plugins: each on a cluster of a few trees. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/user.h"
#include "base/idiom.h"

/* Rows of pods, with nothing but the plugins that are named. */
static void check_with(const char *plugins, const struct suite *suite, const struct suite_row *rows,
                       size_t n)
{
    struct suite s = *suite;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(admission_choose(&s.choice, str_of(plugins), true, &err), 0);
    assert_int_equal(
        admission_choose(&s.choice, STR("Priority,DefaultTolerationSeconds"), false, &err), 0);
    suite_check(&s, rows, n);
    arena_done(&a);
}
#define CHECK_WITH(plugins, suite, rows) check_with(plugins, suite, rows, ARRAY_LEN(rows))

static const struct suite empty = { 0 };

/* ---- Namespaces ---- */

static const struct suite_object homes[] = {
    { STR("namespaces"), STR("home"), "{'metadata':{'name':'home'}}" },
    { STR("namespaces"), STR("old"),
      "{'metadata':{'name':'old','deletionTimestamp':'2026-01-01T00:00:00Z'}}" },
};
static const struct suite looking = { homes, ARRAY_LEN(homes), .looks = true };

#define NAMED "{'metadata':{'name':'x'}}"

static void namespaces(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "configmaps", NAMED, .ns = "home" },
        { "", "configmaps", NAMED, .ns = "none", .refused = "namespaces \"none\" not found" },
        { "", "configmaps", NAMED, .ns = "old",
          .refused = FORBIDDEN("configmaps \"x\"") "unable to create new content in namespace old "
                                                   "because it is being terminated" },
        /* What is there may change and go. */
        { "", "configmaps", NAMED, NAMED, .ns = "old" },
        { "", "configmaps", NULL, NAMED, .ns = "old" },
        { "", "namespaces", "{'metadata':{'name':'new'}}", .ns = "" },
        { "", "nodes", "{'spec':{}}", "{'spec':{}}", .ns = "" },
        { "", "namespaces", NULL, "{'metadata':{'name':'kube-system'}}", .ns = "",
          .refused = FORBIDDEN("namespaces \"kube-system\"") "this namespace may not be deleted" },
        { "", "namespaces", NULL, "{'metadata':{'name':'home'}}", .ns = "" },
    };
    static const struct suite_row exists[] = {
        { "", "configmaps", NAMED, NAMED, .ns = "home" },
        { "", "configmaps", NAMED, NAMED, .ns = "none",
          .refused = "namespaces \"none\" not found" },
    };
    suite_check(&looking, rows, ARRAY_LEN(rows));
    CHECK_WITH("NamespaceExists", &looking, exists);
}

/* Without NamespaceLifecycle nobody looks. */
static void namespaces_unguarded(void **state)
{
    (void)state;
    static const struct suite_row rows[] = { { "", "configmaps", NAMED, .ns = "none" } };
    struct suite s = looking;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(admission_choose(&s.choice, STR("NamespaceLifecycle"), false, &err), 0);
    SUITE_CHECK(&s, rows);
    arena_done(&a);
}

static void denied(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "configmaps", NAMED,
          .refused =
              FORBIDDEN("configmaps \"x\"") "admission control is denying all modifications" },
        { "", "configmaps", NULL, NAMED,
          .refused =
              FORBIDDEN("configmaps \"x\"") "admission control is denying all modifications" },
    };
    static const struct suite_row own[] = { { "", "configmaps", NAMED } };
    static const struct user ann = { .name = STR("ann") };
    static const struct suite by_ann = { .user = &ann };
    CHECK_WITH("AlwaysAdmit,AlwaysDeny", &by_ann, rows);
    CHECK_WITH("AlwaysAdmit,AlwaysDeny", &empty, own);
}

/* ---- Pods ---- */

#define IMAGE(policy, image) "{'image':'" image "','imagePullPolicy':'" policy "'}"

static void images(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "pods",
          "{'spec':{'containers':[" IMAGE("Never", "a") "],'initContainers':[{'image':'b'}],"
                                                        "'volumes':[{'name':'v','image':{}},{"
                                                        "'name':'w'}]}}",
          NULL,
          "{'spec':{'containers':[" IMAGE("Always", "a") "],'initContainers':[" IMAGE(
              "Always", "b") "],'volumes':[{'name':'v','image':{"
                             "'pullPolicy':'Always'}},{'name':"
                             "'w'}]}}" },
        /* Images that the pod had before were looked at before. */
        { "", "pods", "{'spec':{'containers':[" IMAGE("Never", "a") "]}}",
          "{'spec':{'containers':[" IMAGE("Never", "b") "," IMAGE("Never", "a") "]}}" },
        { "", "pods", "{'spec':{'containers':[" IMAGE("Never", "c") "]}}",
          "{'spec':{'containers':[" IMAGE("Never", "a") "]}}",
          "{'spec':{'containers':[" IMAGE("Always", "c") "]}}" },
    };
    CHECK_WITH("AlwaysPullImages", &empty, rows);
}

#define KEEPS_OFF(key)                                                                             \
    "{'metadata':{'name':'p'},'spec':{'affinity':{'podAntiAffinity':{"                             \
    "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'kubernetes.io/hostname'},{" \
    "'topologyKey':'" key "'}]}}}}"

static void anti_affinity(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "pods", KEEPS_OFF("kubernetes.io/hostname") },
        { "", "pods", KEEPS_OFF("zone"),
          .refused =
              FORBIDDEN("pods \"p\"") "affinity.PodAntiAffinity.RequiredDuringScheduling has "
                                      "TopologyKey zone but only key kubernetes.io/hostname is "
                                      "allowed" },
    };
    CHECK_WITH("LimitPodHardAntiAffinityTopology", &empty, rows);
}

#define ASKS(requests) "'containers':[{'resources':{'requests':{" requests "}}}]"
#define RARE(name)     "{'key':'" name "','operator':'Exists','effect':'NoSchedule'}"

static void rare_resources(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "pods", "{'spec':{" ASKS("'cpu':'1'") "}}" },
        { "", "pods", "{'spec':{" ASKS("'b.c/gpu':'1','a.c/fpga':'1','b.c/gpu':'2'") "}}", NULL,
          "{'spec':{" ASKS("'b.c/gpu':'1','a.c/fpga':'1','b.c/gpu':'2'") ",'tolerations':[" RARE(
              "a.c/fpga") "," RARE("b.c/gpu") "]}}" },
        /* The one that is there holds for ever from now on. */
        { "", "pods",
          "{'spec':{" ASKS("'b.c/gpu':'1'") ",'tolerations':[{'key':'x'},{'key':'b.c/gpu',"
                                            "'operator':'Exists','effect':'NoSchedule',"
                                            "'tolerationSeconds':3}]}}",
          NULL,
          "{'spec':{" ASKS("'b.c/gpu':'1'") ",'tolerations':[{'key':'x'}," RARE("b.c/gpu") "]}}" },
    };
    CHECK_WITH("ExtendedResourceToleration", &empty, rows);
}

/* ---- Classes ---- */

#define CLASS(name, created, key)                                          \
    "{'metadata':{'name':'" name "','creationTimestamp':'" created "','an" \
    "notations':{'" key "':'true'}}}"

static const struct suite_object classes[] = {
    { STR("storageclasses"), STR("c"),
      CLASS("c", "2026-01-02T00:00:00Z", "storageclass.kubernetes.io/is-default-class") },
    { STR("storageclasses"), STR("b"),
      CLASS("b", "2026-01-02T00:00:00Z", "storageclass.beta.kubernetes.io/is-default-class") },
    { STR("storageclasses"), STR("a"),
      CLASS("a", "2026-01-01T00:00:00Z", "storageclass.kubernetes.io/is-default-class") },
    { STR("storageclasses"), STR("new"), CLASS("new", "2026-01-03T00:00:00Z", "other") },
    { STR("ingressclasses"), STR("i"),
      CLASS("i", "2026-01-02T00:00:00Z", "ingressclass.kubernetes.io/is-default-class") },
};

static void default_classes(void **state)
{
    (void)state;
    static const struct suite cluster = { classes, ARRAY_LEN(classes) };
    static const char kept[] =
        "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':'x'},'finalizers':["
        "'kubernetes.io/pvc-protection']},'spec':{}}";
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims",
          "{'metadata':{'finalizers':['kubernetes.io/pvc-protection']},'spec':{}}", NULL,
          "{'metadata':{'finalizers':['kubernetes.io/pvc-protection']},'spec':{'storageClassName':"
          "'b'}}" },
        { "", "persistentvolumeclaims",
          "{'metadata':{'finalizers':['kubernetes.io/pvc-protection']},'spec':{'storageClassName':"
          "''}}" },
        { "", "persistentvolumeclaims", kept },
        { "networking.k8s.io", "ingresses", "{'metadata':{},'spec':{}}", NULL,
          "{'metadata':{},'spec':{'ingressClassName':'i'}}" },
        { "networking.k8s.io", "ingresses",
          "{'metadata':{'annotations':{'kubernetes.io/ingress.class':'x'}},'spec':{}}" },
    };
    SUITE_CHECK(&cluster, rows);
}

/* ---- Owners ---- */

#define OWNED(more)                                                                              \
    "{'metadata':{'name':'x','ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','na" \
    "me':'rs','uid':'u'" more "}]}}"
#define BLOCKS ",'blockOwnerDeletion':true"
#define OWNED_BY(version, kind)                                                            \
    "{'metadata':{'name':'x','ownerReferences':[{'apiVersion':'" version "','kind':'" kind \
    "','name':'o','uid':'u'" BLOCKS "}]}}"

static const struct suite_object definitions[] = {
    { STR("customresourcedefinitions"), STR("networks.a.b"),
      "{'spec':{'group':'a.b','scope':'Cluster','names':{'kind':'Network','plural':'networks'},"
      "'versions':[{'name':'v1','served':true},{'name':'v2','served':false}]}}" },
};

static void owners(void **state)
{
    (void)state;
    static const struct user ann = { .name = STR("ann") };
    static const struct suite cluster = { definitions, ARRAY_LEN(definitions),
                                          "delete configmaps mine;update replicasets rs;"
                                          "update networks o;",
                                          &ann };
    static const struct suite nothing = { .user = &ann };
    static const char no_delete[] =
        FORBIDDEN("configmaps \"x\"") "cannot set an ownerRef on a resource you can't delete: , "
                                      "<nil>";
    static const char no_finalizers[] =
        FORBIDDEN("configmaps \"x\"") "cannot set blockOwnerDeletion if an ownerReference refers "
                                      "to a resource you can't set finalizers on: , <nil>";
    static const struct suite_row rows[] = {
        { "", "configmaps", NAMED },
        { "", "configmaps", OWNED("") },
        { "", "configmaps", OWNED(BLOCKS) },
        { "", "configmaps", OWNED_BY("a.b/v1", "Network") },
        { "", "configmaps", OWNED_BY("a.b/v2", "Network"),
          .refused = FORBIDDEN(
              "configmaps \"x\"") "cannot set blockOwnerDeletion in this case because cannot find "
                                  "RESTMapping for APIVersion a.b/v2 Kind Network: no matches for "
                                  "kind \"Network\" in version \"a.b/v2\"" },
        { "", "configmaps", OWNED_BY("v1", "Node"), .refused = no_finalizers },
        { "", "configmaps", OWNED(""), NAMED, .refused = no_delete },
        { "", "configmaps", OWNED(""), OWNED("") },
        { "", "configmaps", OWNED(""), NAMED, .name = "mine" },
    };
    static const struct suite_row without[] = {
        { "", "configmaps", OWNED("") },
        { "", "configmaps", OWNED(BLOCKS), .refused = no_finalizers },
        { "", "pods", OWNED(BLOCKS), NAMED, .sub = "status" },
    };
    CHECK_WITH("OwnerReferencesPermissionEnforcement", &cluster, rows);
    CHECK_WITH("OwnerReferencesPermissionEnforcement", &nothing, without);
}

/* ---- Pods that have a node ---- */

static const struct suite_object nodes[] = {
    { STR("nodes"), STR("n"),
      "{'status':{'allocatable':{'cpu':'2','memory':'1Gi'},'declaredFeatures':["
      "'InPlacePodVerticalScalingInitContainers']}}" },
    { STR("nodes"), STR("w"),
      "{'metadata':{'labels':{'kubernetes.io/os':'windows'}},'status':{'allocatable':{'cpu':'99',"
      "'memory':'99Gi'}}}" },
};

#define SIZED(generation, node, init, cpu)                                                       \
    "{'metadata':{'name':'p','generation':" generation "},'spec':{'nodeName':'" node             \
    "','initContainers':[{'resources':{'requests':{'cpu':'" init "'}}}],'containers':[{'resourc" \
    "es':{'requests':{'cpu':'" cpu "','memory':'1Gi'}}}],'overhead':{'cpu':'250m'}}}"
#define WHOLE(generation, cpu)                                                              \
    "{'metadata':{'name':'p','generation':" generation "},'spec':{'nodeName':'n','resource" \
    "s':{'requests':{'cpu':'" cpu "'}}}}"

static void resizes(void **state)
{
    (void)state;
    static const struct suite cluster = { nodes, ARRAY_LEN(nodes) };
    static const struct suite_row rows[] = {
        { "", "pods", SIZED("2", "n", "1", "1500m"), SIZED("1", "n", "1", "1"), .sub = "resize" },
        { "", "pods", SIZED("2", "n", "1", "1750m"), SIZED("1", "n", "1", "1"), .sub = "resize" },
        { "", "pods", SIZED("2", "n", "1", "1760m"), SIZED("1", "n", "1", "1"), .sub = "resize",
          .refused = FORBIDDEN(
              "pods \"p\"") "node didn't have enough allocatable resources: cpu, requested: 2010, "
                            "allocatable: 2000" },
        /* The node can do this. */
        { "", "pods", SIZED("2", "n", "500m", "1"), SIZED("1", "n", "1", "1"), .sub = "resize" },
        { "", "pods", SIZED("2", "w", "1", "2"), SIZED("1", "w", "1", "1"), .sub = "resize",
          .refused = FORBIDDEN("pods \"p\"") "pod resize is only supported on linux nodes, node "
                                             "\"w\" is \"windows\"" },
        { "", "pods", SIZED("2", "x", "1", "2"), SIZED("1", "x", "1", "1"), .sub = "resize",
          .refused = FORBIDDEN("pods \"p\"") "node \"x\" not found" },
        { "", "pods", SIZED("1", "x", "1", "2"), SIZED("1", "x", "1", "1"), .sub = "resize" },
        /* But not this. */
        { "", "pods", WHOLE("2", "2"), WHOLE("1", "1"), .sub = "resize",
          .refused = FORBIDDEN("pods \"p\"") "pod update requires features "
                                             "InPlacePodLevelResourcesVerticalScaling which are "
                                             "not available on node \"n\"" },
    };
    SUITE_CHECK(&cluster, rows);
}

/* ---- Presets ---- */

#define PRESET(name, ns, rev, label, spec)                                                     \
    "{'metadata':{'name':'" name "','namespace':'" ns "','resourceVersion':'" rev "'},'spec':" \
    "{'selector':{'matchLabels':{'app':'" label "'}}," spec "}}"
#define POD(label, more) "{'metadata':{'labels':{'app':'" label "'}" more
#define MOUNT            "{'name':'v','mountPath':'/v'}"
#define VOLUME           "{'name':'v','emptyDir':{}}"
#define APPLIED(name, rev) \
    ",'annotations':{'podpreset.admission.kubernetes.io/podpreset-" name "':'" rev "'}}"

static const struct suite_object presets[] = {
    { STR("podpresets"), STR("web"),
      PRESET("web", "ns", "7", "web",
             "'env':[{'name':'A','value':'1'}],'envFrom':[{'configMapRef':{'name':'m'}}],"
             "'volumes':[" VOLUME "],'volumeMounts':[" MOUNT "]") },
    { STR("podpresets"), STR("web"),
      PRESET("elsewhere", "other", "8", "web", "'env':[{'name':'B','value':'1'}]") },
    { STR("podpresets"), STR("two"),
      PRESET("two", "ns", "9", "two", "'env':[{'name':'A','value':'1'}]") },
    { STR("podpresets"), STR("two-more"),
      PRESET("two-more", "ns", "10", "two", "'env':[{'name':'A','value':'2'}]") },
};

static void pod_presets(void **state)
{
    (void)state;
    static const struct suite cluster = { presets, ARRAY_LEN(presets) };
    static const struct suite_row rows[] = {
        { "", "pods", POD("other", "}") ",'spec':{'containers':[{'name':'c'}]}}" },
        { "", "pods", POD("web", "}") ",'spec':{'containers':[{'name':'c'}],'initContainers':[]}}",
          NULL,
          POD("web", APPLIED("web", "7")) ",'spec':{'containers':[{'name':'c','env':[{'name':'A',"
                                          "'value':'1'}],'volumeMounts':[" MOUNT
                                          "],'envFrom':[{'configMapRef':{'name':'m'}}]}],"
                                          "'initContainers':[],'volumes':[" VOLUME "]}}" },
        /* What is the same is there once; what was there comes first. */
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'env':[{'name':'Z'},{'name':'A','value':'1'}],"
                          "'volumeMounts':[" MOUNT "],'envFrom':[{'configMapRef':{'name':'m'}}]}],"
                          "'volumes':[" VOLUME "]}}",
          NULL,
          POD("web", APPLIED("web", "7")) ",'spec':{'containers':[{'env':[{'name':'Z'},{'name':"
                                          "'A','value':'1'}],'volumeMounts':[" MOUNT
                                          "],'envFrom':[{'configMapRef':{'name':'m'}}]}],"
                                          "'volumes':[" VOLUME "]}}" },
        /* Conflicts: of a variable, a volume, a name and a path of a mount, and of two presets. */
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'env':[{'name':'A','value':'2'}]}]}}" },
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'name':'c'}],'volumes':[{'name':'v','hostPath':"
                          "{'path':'/'}}]}}" },
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'name':'a'},{'volumeMounts':[{'name':'v',"
                          "'mountPath':'/x'}]}]}}" },
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'volumeMounts':[{'name':'x','mountPath':'/v'}]"
                          "}]}}" },
        { "", "pods", POD("two", "}") ",'spec':{'containers':[{'name':'c'}]}}" },
        /* Sources that are there in another form: all of them are lost. */
        { "", "pods",
          POD("web", "}") ",'spec':{'containers':[{'envFrom':[{'prefix':'P'},{'configMapRef':{"
                          "'name':'m','optional':true}}]}]}}",
          NULL,
          POD("web", APPLIED("web", "7")) ",'spec':{'containers':[{'env':[{'name':'A','value':'1'"
                                          "}],'volumeMounts':[" MOUNT "]}],'volumes':[" VOLUME
                                          "]}}" },
        { "", "pods",
          POD("web", ",'annotations':{'podpreset.admission.kubernetes.io/exclude':'true'}}") ",'sp"
                                                                                             "ec':{"
                                                                                             "}}" },
        { "", "pods",
          POD("web", ",'annotations':{'kubernetes.io/config.mirror':'x'}}") ",'spec':{}}" },
        /* Only new pods. */
        { "", "pods", POD("web", "}") ",'spec':{'containers':[{}]}}", "{'spec':{}}" },
    };
    CHECK_WITH("PodPreset", &cluster, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces),      cmocka_unit_test(namespaces_unguarded),
        cmocka_unit_test(denied),          cmocka_unit_test(images),
        cmocka_unit_test(anti_affinity),   cmocka_unit_test(rare_resources),
        cmocka_unit_test(default_classes), cmocka_unit_test(owners),
        cmocka_unit_test(resizes),         cmocka_unit_test(pod_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
