/* The plugins, on a cluster of a few trees. Objects are JSON with single quotes. */
#include "admission/admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

static const struct {
    struct str plural, name;
    const char *obj;
} objects[] = {
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

/* A copy with other quotes. */
static const char *requoted(struct arena *a, struct str text, char from, char to)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < text.n; i++)
        buf_byte(&out, text.p[i] == from ? to : text.p[i]);
    return str_cstr(a, buf_str(&out));
}

static struct value tree(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value v;
    const char *json = requoted(a, str_of(text), '\'', '"');
    if (json_read(a, str_of(json), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static int read_one(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                    struct value *ret, struct err *err)
{
    (void)group, (void)ns, (void)err;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        if (!str_eq(objects[i].plural, plural) || !str_eq(objects[i].name, name))
            continue;
        *ret = tree(arg, objects[i].obj);
        return 1;
    }
    return 0;
}

static int read_each(void *arg, struct str group, struct str plural, struct str mark,
                     admission_take *take, void *to, struct err *err)
{
    (void)group, (void)mark, (void)err;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct value obj = tree(arg, objects[i].obj);
        if (str_eq(objects[i].plural, plural))
            (void)take(to, &obj);
    }
    return 0;
}

struct row {
    const char *group, *plural;
    const char *obj, *old_obj; /* NULL: a create */
    const char *becomes;       /* what it is after the plugins; NULL: what it was */
    const char *refused;       /* why; NULL: it is not */
};

/* What the plugins make of the row's object: the object, or why it was refused. */
static const char *admit(struct arena *a, const struct row *row)
{
    static const struct admission_cluster cluster = { .read = read_one, .each = read_each };
    struct value obj = tree(a, row->obj), old_obj;
    if (row->old_obj)
        old_obj = tree(a, row->old_obj);
    const struct kind_resource *r = kind_stored_named(str_of(row->group), str_of(row->plural));
    struct admission_request req = {
        .arena = a,
        .resource = r,
        .stored = r,
        .operation = row->old_obj ? ADMISSION_UPDATE : ADMISSION_CREATE,
        .old_obj = row->old_obj ? &old_obj : NULL,
        .cluster = &cluster,
        .arg = a,
    };
    struct err err = ERR_INIT(a);
    if (admission_mutate(&req, &obj, &err) < 0 || admission_validate(&req, &obj, &err) < 0)
        return str_cstr(a, err.msg);
    autobuf text = { 0 };
    json_write(&text, &obj);
    return requoted(a, buf_str(&text), '"', '\'');
}

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const char *expected = rows[i].refused   ? rows[i].refused
                               : rows[i].becomes ? rows[i].becomes
                                                 : rows[i].obj;
        assert_string_equal(admit(&a, &rows[i]), expected);
        arena_done(&a);
    }
}

#define PATIENCE                                                                               \
    "'tolerations':[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':"       \
    "'NoExecute','tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable','operator':" \
    "'Exists','effect':'NoExecute','tolerationSeconds':300}]"
#define FORBIDDEN(what) what " is forbidden: "

static void pods(void **state)
{
    (void)state;
    static const struct row rows[] = {
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
        { "", "pods", "{'metadata':{'name':'p'},'spec':{'runtimeClassName':'none'}}", NULL, NULL,
          FORBIDDEN("pods \"p\"") "pod rejected: RuntimeClass \"none\" not found" },
        { "", "pods", "{'metadata':{},'spec':{'nodeName':'n1'," PATIENCE "}}", "{'spec':{}}",
          "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z'}},'spec':{'nodeName':"
          "'n1'," PATIENCE "}}",
          NULL },
    };
    check(rows, ARRAY_LEN(rows));
}

static void others(void **state)
{
    (void)state;
    static const struct row rows[] = {
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
    check(rows, ARRAY_LEN(rows));
}

#define CLAIM(class, size, phase)                                                                  \
    "{'metadata':{'name':'c'},'spec':{'storageClassName':'" class "','resources':{'requests':{'"   \
                                                                  "storage':'" size                \
                                                                  "'}}},'status':{'phase':'" phase \
                                                                  "'}}"

static void claims_grow(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "", "persistentvolumeclaims", CLAIM("grows", "2Gi", "Bound"),
          CLAIM("grows", "1Gi", "Bound"), NULL, NULL },
        { "", "persistentvolumeclaims", CLAIM("fixed", "1Gi", "Bound"),
          CLAIM("fixed", "1Gi", "Bound"), NULL, NULL },
        { "", "persistentvolumeclaims", CLAIM("fixed", "2Gi", "Bound"),
          CLAIM("fixed", "1Gi", "Bound"), NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "only dynamically provisioned pvc can be "
                                                    "resized and the storageclass that provisions "
                                                    "the pvc must support resize" },
        { "", "persistentvolumeclaims", CLAIM("grows", "2Gi", "Pending"),
          CLAIM("grows", "1Gi", "Pending"), NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "Only bound persistent volume claims can be "
                                                    "expanded" },
    };
    check(rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods),
        cmocka_unit_test(others),
        cmocka_unit_test(claims_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
