/* LimitRanger and ResourceQuota. Objects are JSON with single quotes. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "admission/config.h"
#include "base/idiom.h"
#include "base/json.h"

/* Plugins that fill in other things, and those that ask for more, are off. */
#define OTHERS "Priority,DefaultTolerationSeconds,StorageObjectInUseProtection,PodSecurity"

static void check_with(const struct suite_object *objects, size_t n, const struct suite_row *rows,
                       size_t n_rows)
{
    struct suite s = { .objects = objects, .n_objects = n };
    assert_int_equal(admission_choose(&s.choice, STR(OTHERS), false, NULL), 0);
    suite_check(&s, rows, n_rows);
}
#define CHECK(objects, rows) check_with(objects, ARRAY_LEN(objects), rows, ARRAY_LEN(rows))

#define RANGE(limits)                                                    \
    {                                                                    \
        STR("limitranges"), STR("r"), "{'spec':{'limits':[" limits "]}}" \
    }
#define POD(containers)     "{'metadata':{'name':'p'},'spec':{'containers':[" containers "]}}"
#define ASKS(request, more) "{'name':'c','resources':{'requests':" request "" more "}}"
#define REFUSED             FORBIDDEN("pods \"p\"")

static void defaults_are_filled_in(void **state)
{
    (void)state;
    static const struct suite_object ranges[] = { RANGE(
        "{'type':'Pod','default':{'cpu':'9'}},"
        "{'type':'Container','default':{'memory':'2Gi','cpu':'2'},'defaultRequest':{'cpu':'1'}}") };
    static const struct suite_row rows[] = {
        { "", "pods", POD("{'name':'c'}"), NULL,
          "{'metadata':{'name':'p','annotations':{'kubernetes.io/limit-ranger':'LimitRanger plugin "
          "set: cpu request for container c; cpu, memory limit for container c'}},'spec':{"
          "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'},'limits':{'memory':'2Gi',"
          "'cpu':'2'}}}]}}" },
        { "", "pods",
          "{'metadata':{'name':'p'},'spec':{'initContainers':[{'name':'i','resources':{'limits':{"
          "'cpu':'3','memory':'1Gi'}}}]}}",
          NULL,
          "{'metadata':{'name':'p','annotations':{'kubernetes.io/limit-ranger':'LimitRanger plugin "
          "set: cpu request for init container i'}},'spec':{'initContainers':[{'name':'i',"
          "'resources':{'limits':{'cpu':'3','memory':'1Gi'},'requests':{'cpu':'1'}}}]}}" },
        /* Containers change by a resize only. */
        { "", "pods", POD("{'name':'c'}"), POD("{'name':'c'}") },
        { "", "pods", POD("{'name':'c'}"), "{'metadata':{'deletionTimestamp':'now'}}",
          .sub = "resize" },
    };
    CHECK(ranges, rows);
}

static void containers_are_bounded(void **state)
{
    (void)state;
    static const struct suite_object ranges[] = { RANGE(
        "{'type':'Container','min':{'cpu':'100m'},'max':{'cpu':'2'},"
        "'maxLimitRequestRatio':{'cpu':'4'}}") };
    static const struct suite_row rows[] = {
        { "", "pods", POD(ASKS("{'cpu':'1'}", ",'limits':{'cpu':'2'}")) },
        { "", "pods", POD(ASKS("{'cpu':'50m'}", ",'limits':{'cpu':'3'}")), NULL, NULL,
          REFUSED "[minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage "
                  "per Container is 2, but limit is 3, cpu max limit to request ratio per "
                  "Container is 4, but provided ratio is 60.000000]" },
        { "", "pods", POD("{'name':'c'}"), NULL, NULL,
          REFUSED "[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu "
                  "usage per Container is 2.  No limit is specified, cpu max limit to request "
                  "ratio per Container is 4, but no request is specified or request is 0]" },
        /* The same reason of two containers counts once. */
        { "", "pods",
          POD(ASKS("{'cpu':'1'}", ",'limits':{'cpu':'3'}") "," ASKS("{'cpu':'1'}",
                                                                    ",'limits':{'cpu':'3'}")),
          NULL, NULL, REFUSED "maximum cpu usage per Container is 2, but limit is 3" },
        { "", "pods", POD(ASKS("{'cpu':'1'}", "")), POD(ASKS("{'cpu':'1'}", "")), NULL,
          REFUSED "[maximum cpu usage per Container is 2.  No limit is specified, cpu max limit to "
                  "request ratio per Container is 4, but no limit is specified or limit is 0]",
          "resize" },
    };
    CHECK(ranges, rows);
}

static void pods_are_bounded(void **state)
{
    (void)state;
    static const struct suite_object ranges[] = { RANGE("{'type':'Pod','max':{'cpu':'2'}}") };
    static const struct suite_row rows[] = {
        { "", "pods",
          POD(ASKS("{}", ",'limits':{'cpu':'1500m'}") "," ASKS("{}", ",'limits':{'cpu':'1'}")),
          NULL, NULL, REFUSED "maximum cpu usage per Pod is 2, but limit is 2500m" },
        /* What is said of the pod as a whole counts instead. */
        { "", "pods",
          "{'metadata':{'name':'p'},'spec':{'resources':{'limits':{'cpu':'2'}},'containers':[" ASKS(
              "{}", ",'limits':{'cpu':'1500m'}") "," ASKS("{}", ",'limits':{'cpu':'1'}") "]}}" },
    };
    CHECK(ranges, rows);
}

#define CLAIM(size) \
    "{'metadata':{'name':'c'},'spec':{'resources':{'requests':{'storage':'" size "'}}}}"

static void claims_are_bounded(void **state)
{
    (void)state;
    static const struct suite_object ranges[] = { RANGE(
        "{'type':'PersistentVolumeClaim','min':{'storage':'1Gi'},'max':{'storage':'10Gi'}}") };
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims", CLAIM("5Gi") },
        { "", "persistentvolumeclaims", CLAIM("500Mi"), NULL, NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "minimum storage usage per "
                                                    "PersistentVolumeClaim is 1Gi, but request is "
                                                    "500Mi" },
        { "", "persistentvolumeclaims", CLAIM("20Gi"), NULL, NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "maximum storage usage per "
                                                    "PersistentVolumeClaim is 10Gi, but request is "
                                                    "20Gi" },
    };
    CHECK(ranges, rows);
}

/* ---- Quotas ---- */

#define QUOTA(spec, hard, used)                                            \
    {                                                                      \
        STR("resourcequotas"), STR("q"),                                   \
            "{'metadata':{'name':'q','resourceVersion':'7'},'spec':{" spec \
            "},'status':{'hard':" hard ",'used':" used "}}"                \
    }
#define NAMED(name, spec) "{'metadata':{'name':'" name "'},'spec':{" spec "}}"
#define EXCEEDED(what, more, used, hard) \
    FORBIDDEN(what)                      \
    "exceeded quota: q, requested: " more ", used: " used ", limited: " hard

static void objects_are_counted(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "",
        "{'configmaps':'2','count/deployments.apps':'1','services':'9','services.nodeports':'3',"
        "'secrets':'1'}",
        "{'configmaps':'1','count/"
        "deployments.apps':'1','services':'1','services.nodeports':'2'}") };
    static const struct suite_row rows[] = {
        { "", "configmaps", NAMED("c", "") },
        { "apps", "deployments", NAMED("d", ""), NULL, NULL,
          EXCEEDED("deployments.apps \"d\"", "count/deployments.apps=1", "count/deployments.apps=1",
                   "count/deployments.apps=1") },
        { "apps", "deployments", NAMED("d", ""), NAMED("d", "") },
        { "", "events", NAMED("e", "") },
        { "", "secrets", NAMED("s", ""), NULL, NULL,
          FORBIDDEN("secrets \"s\"") "status unknown for quota: q, resources: secrets" },
        { "", "services", NAMED("s", "'type':'NodePort','ports':[{},{}]"), NULL, NULL,
          EXCEEDED("services \"s\"", "services.nodeports=2", "services.nodeports=2",
                   "services.nodeports=3") },
        /* Only what is more than before counts. */
        { "", "services", NAMED("s", "'type':'NodePort','ports':[{},{}]"),
          NAMED("s", "'type':'NodePort','ports':[{}]") },
        { "", "services", NAMED("s", "'type':'NodePort','ports':[{},{}]"), NAMED("s", ""), NULL,
          EXCEEDED("services \"s\"", "services.nodeports=2", "services.nodeports=2",
                   "services.nodeports=3") },
    };
    CHECK(quotas, rows);
}

static void pods_are_measured(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "'scopes':['NotTerminating']",
        "{'pods':'5','requests.cpu':'2','limits.memory':'1Gi','requests.example.com/gpu':'1'}",
        "{'pods':'1','requests.cpu':'1','limits.memory':'0','requests.example.com/gpu':'1'}") };
    static const struct suite_row rows[] = {
        { "", "pods", POD("{'name':'b'},{'name':'a'}"), NULL, NULL,
          REFUSED "failed quota: q: must specify limits.memory for: a,b; requests.cpu for: a,b" },
        { "", "pods", POD(ASKS("{'cpu':'900m'}", ",'limits':{'memory':'1Gi'}")) },
        { "", "pods", POD(ASKS("{'cpu':'1500m'}", ",'limits':{'memory':'2Gi'}")), NULL, NULL,
          REFUSED "exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=1500m, used: "
                  "limits.memory=0,requests.cpu=1, limited: limits.memory=1Gi,requests.cpu=2" },
        { "", "pods", POD(ASKS("{'cpu':'1','example.com/gpu':'1'}", ",'limits':{'memory':'1Gi'}")),
          NULL, NULL,
          REFUSED "exceeded quota: q, requested: requests.example.com/gpu=1, used: "
                  "requests.example.com/gpu=1, limited: requests.example.com/gpu=1" },
        /* Out of its scope. */
        { "", "pods",
          "{'metadata':{'name':'p'},'spec':{'activeDeadlineSeconds':3,'containers':[{'name':'c'}]}"
          "}" },
        /* Only a change of what it asks for, or of scope, is looked at. */
        { "", "pods", POD("{'name':'c'}"), POD("{'name':'c'}") },
        { "", "pods", POD(ASKS("{'cpu':'3'}", ",'limits':{'memory':'1Gi'}")),
          POD(ASKS("{'cpu':'1'}", ",'limits':{'memory':'1Gi'}")), NULL,
          REFUSED "exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1, limited: "
                  "requests.cpu=2",
          "resize" },
    };
    CHECK(quotas, rows);
}

static void scopes_by_class(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In','values'"
        ":"
        "['high']}]}",
        "{'pods':'0'}", "{'pods':'0'}") };
    static const struct suite_row rows[] = {
        { "", "pods", NAMED("p", "'priorityClassName':'low'") },
        { "", "pods", NAMED("p", "'priorityClassName':'high'"), NULL, NULL,
          REFUSED "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0" },
    };
    CHECK(quotas, rows);
}

static void volumes_are_measured(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "", "{'requests.storage':'10Gi','fast.storageclass.storage.k8s.io/requests.storage':'1Gi'}",
        "{'requests.storage':'6Gi','fast.storageclass.storage.k8s.io/requests.storage':'0'}") };
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims", CLAIM("4Gi") },
        { "", "persistentvolumeclaims", CLAIM("5Gi"), NULL, NULL,
          EXCEEDED("persistentvolumeclaims \"c\"", "requests.storage=5Gi", "requests.storage=6Gi",
                   "requests.storage=10Gi") },
        { "", "persistentvolumeclaims",
          NAMED("c", "'storageClassName':'fast','resources':{'requests':{'storage':'2Gi'}}"), NULL,
          NULL,
          EXCEEDED("persistentvolumeclaims \"c\"",
                   "fast.storageclass.storage.k8s.io/requests.storage=2Gi",
                   "fast.storageclass.storage.k8s.io/requests.storage=0",
                   "fast.storageclass.storage.k8s.io/requests.storage=1Gi") },
    };
    CHECK(quotas, rows);
}

#define WAITING "'initializers':{'pending':[{'name':'a.b.c'}]}"

/* What initializers have yet to finish: claims are only counted until then, and pods are measured
 * anew when the last one is done, as it may have added to them. */
static void initializers_are_charged(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "", "{'requests.cpu':'2','persistentvolumeclaims':'1','requests.storage':'3Gi'}",
        "{'requests.cpu':'1','persistentvolumeclaims':'0','requests.storage':'1Gi'}") };
    static const char waiting_pod[] = "{'metadata':{'name':'p'," WAITING
                                      "},'spec':{'containers':[" ASKS("{'cpu':'500m'}", "") "]}}",
                      waiting_claim[] = "{'metadata':{'name':'c'," WAITING
                                        "},'spec':{'resources':{'requests':{'storage':'9Gi'}}}}";
    static const struct suite_row rows[] = {
        { "", "pods", POD(ASKS("{'cpu':'900m'}", "")), waiting_pod },
        { "", "pods", POD(ASKS("{'cpu':'3'}", "")), waiting_pod, NULL,
          REFUSED "exceeded quota: q, requested: requests.cpu=2500m, used: requests.cpu=1, "
                  "limited: requests.cpu=2" },
        { "", "persistentvolumeclaims", waiting_claim },
        { "", "persistentvolumeclaims", CLAIM("9Gi"), waiting_claim, NULL,
          EXCEEDED("persistentvolumeclaims \"c\"", "requests.storage=9Gi", "requests.storage=1Gi",
                   "requests.storage=3Gi") },
        { "", "persistentvolumeclaims", CLAIM("2Gi"), waiting_claim },
    };
    CHECK(quotas, rows);
}

/* A cluster whose only object is a quota. */
static int each_quota(void *arg, struct str ns, admission_take *take, void *to, uint64_t *ret_rev,
                      struct err *err)
{
    (void)ns, (void)err;
    *ret_rev = 5;
    return arg ? take(to, arg) : 0;
}

/* What a request for a new ConfigMap is charged, and what becomes of it. */
static int admit(struct arena *a, const struct value *quota, const struct admission_config *config,
                 struct admission_charging *charging, struct err *err)
{
    static const struct admission_cluster cluster = { .each_quota = each_quota };
    const struct kind_resource *r = kind_stored_named(STR(""), STR("configmaps"));
    struct value obj = value_object();
    struct admission_request req = {
        .arena = a,
        .resource = r,
        .stored = r,
        .operation = ADMISSION_CREATE,
        .ns = STR("ns"),
        .name = STR("c"),
        .cluster = &cluster,
        .arg = (void *)(uintptr_t)quota,
        .config = config,
        .charging = charging,
    };
    return admission_validate(&req, &obj, err);
}

static struct value read_json(struct arena *a, const char *text)
{
    struct value v;
    assert_int_equal(json_read(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

/* What the status of a quota says is written with the object. */
static void writers_are_charged(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct admission_charging charging = { 0 };
    struct value quota = read_json(&a, "{\"metadata\":{\"name\":\"q\"},\"status\":{\"hard\":"
                                       "{\"configmaps\":\"5\",\"pods\":\"5\"},\"used\":"
                                       "{\"configmaps\":\"1\",\"pods\":\"3\"}}}");
    struct value want = read_json(&a, "{\"configmaps\":\"2\",\"pods\":\"3\"}");
    assert_int_equal(admit(&a, &quota, NULL, &charging, &err), 0);
    assert_true(charging.is_asked);
    assert_int_equal(charging.quotas_rev, 5);
    assert_non_null(charging.first);
    assert_null(charging.first->next);
    assert_true(value_eq(&charging.first->used, &want));
    assert_true(value_eq(&charging.first->quota, &quota));
    arena_done(&a);
}

/* The file of --admission-control-config-file names what needs a quota. */
static void limits_without_a_quota(void **state)
{
    (void)state;
    static const char text[] =
        "apiVersion: apiserver.config.k8s.io/v1\n"
        "kind: AdmissionConfiguration\n"
        "plugins:\n"
        "- name: ResourceQuota\n"
        "  configuration:\n"
        "    apiVersion: apiserver.config.k8s.io/v1\n"
        "    kind: ResourceQuotaConfiguration\n"
        "    limitedResources: [{resource: configmaps, matchContains: [configmaps]}]\n";
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct admission_choice choice = { 0 };
    struct admission_config *config = NULL;
    char path[] = "/tmp/sampan-limits-test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    const struct admission_options opt = { .file = path };
    if (admission_config_load(&opt, &choice, &config, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    struct value quota = read_json(&a, "{\"metadata\":{\"name\":\"q\"},\"status\":{\"hard\":"
                                       "{\"configmaps\":\"5\",\"count/configmaps\":\"5\"},"
                                       "\"used\":{\"configmaps\":\"1\",\"count/configmaps\":"
                                       "\"1\"}}}");
    assert_int_equal(admit(&a, &quota, config, NULL, &err), 0);
    assert_int_equal(admit(&a, NULL, config, NULL, &err), -ERR_FORBIDDEN);
    assert_string_equal(str_cstr(&a, err.msg),
                        FORBIDDEN("configmaps \"c\"") "insufficient quota to consume: "
                                                      "configmaps,count/configmaps");
    admission_config_free(config);
    (void)unlink(path);
    arena_done(&a);
}

static void device_claims(void **state)
{
    (void)state;
    static const struct suite_object quotas[] = { QUOTA(
        "", "{'gpu.deviceclass.resource.k8s.io/devices':'3'}",
        "{'gpu.deviceclass.resource.k8s.io/devices':'0'}") };
    static const struct suite_row rows[] = {
        { "resource.k8s.io", "resourceclaims",
          NAMED("c", "'devices':{'requests':[{'exactly':{'deviceClassName':'gpu','allocationMode':"
                     "'ExactCount','count':2}},{'exactly':{'deviceClassName':'other',"
                     "'allocationMode':'All'}}]}") },
        { "resource.k8s.io", "resourceclaims",
          NAMED("c", "'devices':{'requests':[{'firstAvailable':[{'deviceClassName':'gpu',"
                     "'allocationMode':'ExactCount','count':4},{'deviceClassName':'gpu',"
                     "'allocationMode':'ExactCount','count':2}]}]}"),
          NULL, NULL,
          EXCEEDED("resourceclaims.resource.k8s.io \"c\"",
                   "gpu.deviceclass.resource.k8s.io/devices=4",
                   "gpu.deviceclass.resource.k8s.io/devices=0",
                   "gpu.deviceclass.resource.k8s.io/devices=3") },
    };
    CHECK(quotas, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_filled_in), cmocka_unit_test(containers_are_bounded),
        cmocka_unit_test(pods_are_bounded),       cmocka_unit_test(claims_are_bounded),
        cmocka_unit_test(objects_are_counted),    cmocka_unit_test(pods_are_measured),
        cmocka_unit_test(scopes_by_class),        cmocka_unit_test(volumes_are_measured),
        cmocka_unit_test(device_claims),          cmocka_unit_test(writers_are_charged),
        cmocka_unit_test(limits_without_a_quota), cmocka_unit_test(initializers_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
