/* What admission and rules about other objects do to objects on their way into the store: runtime
 * classes, owners named twice, labels of namespaces, subjects of certificates, access to devices,
 * what is empty and what is not there. Over a store in memory. */
#include "plane.h"

#include "base/idiom.h"
#include "base/limits.h"
#include "server/object/stored.h"

/* ---- Runtime classes ---- */

#define POD(name, spec) \
    "{'metadata':{'name':'" name "'},'spec':{'containers':[{'name':'c','image':'i'}]," spec "}}"

static void runtime_classes(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *want;
    } cases[] = {
        { POD("a", "'runtimeClassName':'nope'"), "pod rejected: RuntimeClass \"nope\" not found" },
        { POD("b", "'overhead':{'cpu':'1'}"),
          "Pod Overhead set without corresponding RuntimeClass defined Overhead" },
        { POD("c", "'runtimeClassName':'plain','overhead':{'cpu':'1'}"),
          "Pod Overhead set without corresponding RuntimeClass defined Overhead" },
        { POD("d", "'runtimeClassName':'heavy','overhead':{'cpu':'1'}"),
          "Pod's Overhead doesn't match RuntimeClass's defined Overhead" },
        { POD("e", "'runtimeClassName':'heavy','overhead':{'cpu':'0.25'}"), "" },
        { POD("f", "'runtimeClassName':'heavy','nodeSelector':{'disk':'hdd'}"),
          "conflict: runtimeClass.scheduling.nodeSelector[disk] = ssd; "
          "pod.spec.nodeSelector[disk] = hdd" },
    };
    struct plane p;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, "node.k8s.io", "runtimeclasses",
                              "{'metadata':{'name':'plain'},'handler':'h'}", NULL),
                 "");
    plane_expect(plane_create(&p, "node.k8s.io", "runtimeclasses",
                              "{'metadata':{'name':'heavy'},'handler':'h',"
                              "'overhead':{'podFixed':{'cpu':'250m'}},"
                              "'scheduling':{'nodeSelector':{'disk':'ssd'},'tolerations':["
                              "{'key':'a','operator':'Exists'},{'key':'b','operator':'Exists'}]}}",
                              NULL),
                 "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plane_expect(plane_create(&p, "", "pods", cases[i].pod, NULL), cases[i].want);

    struct value pod;
    plane_expect(
        plane_create(&p, "", "pods",
                     POD("g",
                         "'runtimeClassName':'heavy','nodeSelector':{'zone':'z'},'tolerations':["
                         "{'key':'a','operator':'Equal','value':'x'},"
                         "{'key':'c','operator':'Exists'}]"),
                     &pod),
        "");
    assert_string_equal(plane_shown(&p, value_dig(&pod, "spec", "overhead")), "{'cpu':'250m'}");
    assert_string_equal(plane_shown(&p, value_dig(&pod, "spec", "nodeSelector")),
                        "{'disk':'ssd','zone':'z'}");
    /* The class tolerates any value of a, so the pod's own toleration is not needed. */
    const struct value *tolerations = value_dig(&pod, "spec", "tolerations");
    assert_string_equal(plane_shown(&p, value_at(tolerations, 0)),
                        "{'key':'c','operator':'Exists'}");
    assert_string_equal(plane_shown(&p, value_at(tolerations, 3)),
                        "{'key':'a','operator':'Exists'}");
    assert_string_equal(plane_shown(&p, value_at(tolerations, 4)),
                        "{'key':'b','operator':'Exists'}");
    assert_int_equal(tolerations->n, 5);

    /* Of too many none is held against another. */
    autobuf text = { 0 };
    buf_str_add(&text, STR("{'metadata':{'name':'h'},'spec':{'containers':[{'name':'c','image':'i'}"
                           "],'runtimeClassName':'heavy','tolerations':["));
    for (unsigned i = 0; i < LIMIT_TOLERATIONS_MERGED; i++)
        buf_printf(&text, "%s{'key':'a','operator':'Equal','value':'v%u'}", i ? "," : "", i);
    buf_str_add(&text, STR("]}}"));
    plane_expect(plane_create(&p, "", "pods", str_cstr(&p.arena, buf_str(&text)), &pod), "");
    tolerations = value_dig(&pod, "spec", "tolerations");
    assert_int_equal(tolerations->n, LIMIT_TOLERATIONS_MERGED + 4);
    plane_stop(&p);
}

/* ---- Priorities ---- */

#define CLASS(name, value, more) "{'metadata':{'name':'" name "'},'value':" value more "}"
#define CLASSES                  "scheduling.k8s.io", "priorityclasses"

static void priorities(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *refusal; /* "": none */
        const char *priority, *class, *policy;
    } cases[] = {
        { POD("a", "'hostname':'h'"), "", "0", "", "'PreemptLowerPriority'" },
        { POD("b", "'priorityClassName':'high'"), "", "1000", "'high'", "'PreemptLowerPriority'" },
        { POD("c", "'priorityClassName':'polite'"), "", "7", "'polite'", "'Never'" },
        { POD("d", "'priorityClassName':'high','priority':1000"), "", "1000", "'high'",
          "'PreemptLowerPriority'" },
        { POD("e", "'priorityClassName':'system-node-critical'"), "", "2000001000",
          "'system-node-critical'", "'PreemptLowerPriority'" },
        { POD("f", "'priorityClassName':'none'"),
          "pods \"f\" is forbidden: no PriorityClass with name none was found" },
        { POD("g", "'priorityClassName':'high','priority':5"),
          "pods \"g\" is forbidden: the integer value of priority (5) must not be provided in pod "
          "spec; priority admission controller computed 1000 from the given PriorityClass name" },
        { POD("h", "'priority':5"), "priority admission controller computed 0 from" },
        { POD("i", "'priorityClassName':'polite','preemptionPolicy':'PreemptLowerPriority'"),
          "pods \"i\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) "
          "must not be provided in pod spec; priority admission controller computed Never from "
          "the given PriorityClass name" },
    };
    struct plane p;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, CLASSES, CLASS("high", "1000", ""), NULL), "");
    plane_expect(
        plane_create(&p, CLASSES, CLASS("polite", "7", ",'preemptionPolicy':'Never'"), NULL), "");
    plane_expect(plane_create(&p, CLASSES, CLASS("huge", "1000000001", ""), NULL),
                 "maximum allowed value of a user defined priority is 1000000000");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value pod = value_null();
        plane_expect(plane_create(&p, "", "pods", cases[i].pod, &pod), cases[i].refusal);
        if (*cases[i].refusal)
            continue;
        const struct value *spec = value_get(&pod, STR("spec"));
        assert_string_equal(plane_shown(&p, value_get(spec, STR("priority"))), cases[i].priority);
        assert_string_equal(plane_shown(&p, value_get(spec, STR("priorityClassName"))),
                            cases[i].class);
        assert_string_equal(plane_shown(&p, value_get(spec, STR("preemptionPolicy"))),
                            cases[i].policy);
    }
    plane_stop(&p);
}

static void one_class_is_the_default(void **state)
{
    (void)state;
    struct plane p;
    struct value pod;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, CLASSES, CLASS("usual", "50", ",'globalDefault':true"), NULL),
                 "");
    plane_expect(plane_create(&p, CLASSES, CLASS("other", "9", ",'globalDefault':true"), NULL),
                 "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual is "
                 "already marked as default. Only one default can exist");
    plane_expect(plane_create(&p, CLASSES, CLASS("other", "9", ""), NULL), "");
    plane_expect(plane_update(&p, CLASSES, "usual", "",
                              CLASS("usual", "50", ",'globalDefault':true,'description':'d'"),
                              NULL),
                 "");
    plane_expect(
        plane_update(&p, CLASSES, "other", "", CLASS("other", "9", ",'globalDefault':true"), NULL),
        "PriorityClass usual is already marked as default");
    plane_expect(plane_create(&p, "", "pods", POD("a", "'hostname':'h'"), &pod), "");
    assert_string_equal(plane_shown(&p, value_dig(&pod, "spec", "priority")), "50");
    assert_string_equal(plane_shown(&p, value_dig(&pod, "spec", "priorityClassName")), "'usual'");
    /* A pod keeps the priority that it was born with. */
    plane_expect(plane_update(&p, CLASSES, "usual", "", CLASS("usual", "50", ""), NULL), "");
    plane_expect(plane_update(&p, "", "pods", "a", "",
                              POD("a", "'hostname':'h','priorityClassName':'usual'"), &pod),
                 "");
    assert_string_equal(plane_shown(&p, value_dig(&pod, "spec", "priority")), "50");
    plane_stop(&p);
}

/* ---- What the server adds ---- */

#define PATIENT(key)                                       \
    "{'effect':'NoExecute','key':'node.kubernetes.io/" key \
    "','operator':'Exists','tolerationSeconds':300}"
#define TOLERATES(name, more) POD(name, "'tolerations':[" more "]")

static const char *sorted_shown(struct plane *p, const struct value *list, size_t at)
{
    struct value item = value_object();
    static const struct str keys[] = { STR("effect"), STR("key"), STR("operator"),
                                       STR("tolerationSeconds") };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (value_get(value_at(list, at), keys[i]))
            value_put_new(&p->arena, &item, keys[i],
                          value_borrow(value_get(value_at(list, at), keys[i])));
    return plane_shown(p, &item);
}

static void pods_stay_a_while_on_lost_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        size_t n;
        const char *last;
    } cases[] = {
        { POD("a", "'hostname':'h'"), 2, PATIENT("unreachable") },
        { TOLERATES("b", "{'key':'node.kubernetes.io/unreachable','operator':'Exists'}"), 2,
          PATIENT("not-ready") },
        { TOLERATES("c", "{'key':'node.kubernetes.io/unreachable','operator':'Exists','effect':"
                         "'NoSchedule'}"),
          3, PATIENT("unreachable") },
        { TOLERATES("d", "{'operator':'Exists'}"), 1, "{'operator':'Exists'}" },
    };
    struct plane p;
    plane_start(&p, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value pod;
        plane_expect(plane_create(&p, "", "pods", cases[i].pod, &pod), "");
        const struct value *list = value_dig(&pod, "spec", "tolerations");
        assert_int_equal(list->n, cases[i].n);
        assert_string_equal(sorted_shown(&p, list, list->n - 1), cases[i].last);
    }
    plane_stop(&p);
}

#define CLAIM(name, class, size)                                                                   \
    "{'metadata':{'name':'" name                                                                   \
    "'},'spec':{'storageClassName':'" class "','volumeName':'v','accessModes':['ReadWriteOnce'],'" \
                                            "resources':{'requests':{'storage':'" size "'}}}}"

static void protected_while_in_use(void **state)
{
    (void)state;
    static const struct {
        const char *group, *plural, *text, *finalizers;
    } cases[] = {
        { "", "persistentvolumes",
          "{'metadata':{'name':'v','finalizers':['a/b']},'spec':{'capacity':{'storage':'1Gi'},"
          "'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}",
          "['a/b','kubernetes.io/pv-protection']" },
        { "", "persistentvolumeclaims", CLAIM("c", "s", "1Gi"),
          "['kubernetes.io/pvc-protection']" },
        { "storage.k8s.io", "volumeattributesclasses",
          "{'metadata':{'name':'v'},'driverName':'d','parameters':{'a':'b'}}",
          "['kubernetes.io/vac-protection']" },
    };
    struct plane p;
    struct value obj;
    plane_start(&p, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        plane_expect(plane_create(&p, cases[i].group, cases[i].plural, cases[i].text, &obj), "");
        assert_string_equal(plane_shown(&p, value_dig(&obj, "metadata", "finalizers")),
                            cases[i].finalizers);
    }
    plane_expect(plane_create(&p, "", "nodes", "{'metadata':{'name':'new'}}", &obj), "");
    assert_string_equal(plane_shown(&p, value_dig(&obj, "spec", "taints")),
                        "[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]");
    plane_stop(&p);
}

#define GROWS(name, allows) \
    "{'metadata':{'name':'" name "'},'provisioner':'x','allowVolumeExpansion':" allows "}"
#define BOUND "{'metadata':{'name':'c'},'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}"

static void claims_grow_if_their_class_lets_them(void **state)
{
    (void)state;
    struct plane p;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, "storage.k8s.io", "storageclasses", GROWS("s", "false"), NULL),
                 "");
    plane_expect(plane_create(&p, "", "persistentvolumeclaims", CLAIM("c", "s", "1Gi"), NULL), "");
    plane_expect(
        plane_update(&p, "", "persistentvolumeclaims", "c", "", CLAIM("c", "s", "2Gi"), NULL),
        "spec is immutable after creation");
    plane_expect(plane_update(&p, "", "persistentvolumeclaims", "c", "status", BOUND, NULL), "");
    plane_expect(
        plane_update(&p, "", "persistentvolumeclaims", "c", "", CLAIM("c", "s", "2Gi"), NULL),
        "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be "
        "resized and the storageclass that provisions the pvc must support resize");
    plane_expect(
        plane_update(&p, "storage.k8s.io", "storageclasses", "s", "", GROWS("s", "true"), NULL),
        "");
    plane_expect(
        plane_update(&p, "", "persistentvolumeclaims", "c", "", CLAIM("c", "s", "2Gi"), NULL), "");
    plane_stop(&p);
}

/* ---- Owners ---- */

#define OWNER(name) "{'apiVersion':'v1','kind':'Pod','name':'" name "','uid':'1'}"

static void owners_are_named_once(void **state)
{
    (void)state;
    struct plane p;
    struct value obj;
    plane_start(&p, NULL, NULL);
    plane_expect(
        plane_create(&p, "", "configmaps",
                     "{'metadata':{'name':'a','ownerReferences':[" OWNER("p") "," OWNER("q") "]}}",
                     &obj),
        "");
    plane_expect(plane_create(&p, "", "configmaps",
                              "{'metadata':{'name':'b','ownerReferences':[" OWNER("p") "," OWNER(
                                  "q") "," OWNER("p") "]}}",
                              &obj),
                 "please fix your requests; duplicate UID(s) observed: 1");
    assert_string_equal(plane_shown(&p, value_dig(&obj, "metadata", "ownerReferences")),
                        "[" OWNER("p") "," OWNER("q") "]");
    plane_stop(&p);
}

/* ---- Labels of namespaces ---- */

#define NAMESPACE(name, label, value)                                                              \
    "{'metadata':{'name':'" name "','labels':{'pod-security.kubernetes.io/" label "':'" value "'}" \
    "}}"

static int relabel(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                   struct err *err)
{
    struct plane *p = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    struct value *meta = value_ensure(&p->arena, ret, STR("metadata")),
                 *labels = value_ensure(&p->arena, meta, STR("labels"));
    value_put(&p->arena, labels, STR("pod-security.kubernetes.io/enforce"),
              value_string(STR("strict")));
    return 0;
}

static void security_labels(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { NAMESPACE("a", "enforce", "baseline"), "" },
        { NAMESPACE("b", "audit", "none"),
          "metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: \"none\": must be one "
          "of privileged, baseline, restricted" },
        { NAMESPACE("c", "warn-version", "latest"), "" },
        { NAMESPACE("d", "warn-version", "v1.30"), "" },
        { NAMESPACE("e", "warn-version", "v1.0"), "" },
        { NAMESPACE("f", "warn-version", "v1.030"), "must be \"latest\" or \"v1.x\"" },
        { NAMESPACE("g", "warn-version", "v1.x"), "must be \"latest\" or \"v1.x\"" },
        { NAMESPACE("h", "warn-version", "v2.1"), "must be \"latest\" or \"v1.x\"" },
        { NAMESPACE("i", "other", "anything"), "" },
    };
    struct plane p;
    plane_start(&p, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plane_expect(plane_create(&p, "", "namespaces", cases[i].text, NULL), cases[i].want);

    struct call c = plane_call(&p, &p.arena, "", "namespaces");
    struct err err = ERR_INIT(&p.arena);
    struct registry_update u = { .change = relabel, .arg = &p };
    struct value ret;
    c.req.ns = STR("");
    assert_int_equal(registry_update(&c, STR("a"), &u, &ret, &err), -ERR_INVALID);
    plane_expect(err.msg,
                 "Invalid value: \"strict\": must be one of privileged, baseline, restricted");
    plane_stop(&p);
}

/* ---- Certificates ---- */

#define MASTERS                                                                            \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZ01JR0lBZ0VBTUNZeEZ6QVZCZ05WQkFv" \
    "TURuTjVjM1JsYlRwdFlYTjBaWEp6TVFzd0NRWURWUVFEREFKdApaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdT" \
    "TTQ5QXdFSEEwSUFCS3RkYzU2TmE5andlTDhEeWQycS9EYUpqY25jCm9abHRKNjIvTDVjZ1EyL3c0STBpQWIv" \
    "NEVJOFB2Z2cwK2hLYnpmbTF1K0ZlUlVmYkdNL29XMnZTM1cyZ0FEQUsKQmdncWhrak9QUVFEQWdOSEFEQkVB" \
    "aUF2NXVLMnZWdTQ0L2FVdFYyV2hxUHRvcmk5bUVXaDRiOFF2VU1wUjlGZwpEZ0lnRzVwK3VReGFZWTU4aHlS" \
    "Wm4va1dmMUhjcWFTRUFjS2dTclF0Wm56ei9HOD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0t" \
    "Cg=="
#define PEOPLE                                                                             \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWk1JR0FBZ0VBTUI0eER6QU5CZ05WQkFv" \
    "TUJuQmxiM0JzWlRFTE1Ba0dBMVVFQXd3Q2JXVXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNB" \
    "QVJVaEN5dFZRRTBCeVJhandEWFp0SVI4TFlqaEhBcVVOQlhVOUoyCk1BVnVqNnhDdHBWNFF2d3FIQWQwMDI3" \
    "L2tKT2FYbGxEQUNaU09YbHV1VFZZeHpxN29BQXdDZ1lJS29aSXpqMEUKQXdJRFNBQXdSUUloQU4rYWNvMG5Y" \
    "UlJUU0tsc1puOXlwWU1HR2NWNmRGQ3BUNW04MlBvYlRocG5BaUFIWVA1MwptNUYxb0o0bnA5cTlQeFRpRUR4" \
    "MHpuUVpDYmNjQXJpVXhYdjlKZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
#define SIGNING(name, signer, request)                                                            \
    "{'metadata':{'name':'" name "'},'spec':{'signerName':'" signer "','usages':['client auth']," \
    "'request':'" request "'}}"

static void nobody_becomes_an_administrator(void **state)
{
    (void)state;
    struct plane p;
    plane_start(&p, NULL, NULL);
    plane_expect(
        plane_create(&p, "certificates.k8s.io", "certificatesigningrequests",
                     SIGNING("a", "kubernetes.io/kube-apiserver-client", MASTERS), NULL),
        "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not "
        "allowed");
    plane_expect(plane_create(&p, "certificates.k8s.io", "certificatesigningrequests",
                              SIGNING("b", "kubernetes.io/kube-apiserver-client", PEOPLE), NULL),
                 "");
    plane_expect(plane_create(&p, "certificates.k8s.io", "certificatesigningrequests",
                              SIGNING("c", "example.com/mine", MASTERS), NULL),
                 "");
    plane_stop(&p);
}

/* ---- Devices ---- */

#define REQUESTS \
    "'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c','adminAccess':true}}]}"

static void admin_access_to_devices(void **state)
{
    (void)state;
    static const char why[] =
        "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the "
        "`resource.kubernetes.io/admin-access: true` label on the containing namespace";
    struct plane p;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, "resource.k8s.io", "resourceclaims",
                              "{'metadata':{'name':'a'},'spec':{" REQUESTS "}}", NULL),
                 why);
    plane_expect(plane_create(&p, "resource.k8s.io", "resourceclaimtemplates",
                              "{'metadata':{'name':'a'},'spec':{'spec':{" REQUESTS "}}}", NULL),
                 why);
    plane_expect(
        plane_create(&p, "", "namespaces",
                     "{'metadata':{'name':'admins','labels':{'resource.kubernetes.io/admin-access':"
                     "'true'}}}",
                     NULL),
        "");
    struct err err = ERR_INIT(&p.arena);
    struct call c = plane_call(&p, &p.arena, "resource.k8s.io", "resourceclaims");
    c.req.ns = STR("admins");
    struct value obj = plane_object(&c, "{'metadata':{'name':'a'},'spec':{" REQUESTS "}}");
    assert_int_equal(registry_create(&c, false, &obj, &err), 0);
    plane_stop(&p);
}

/* ---- What is empty, and what is not there ---- */

#define AUTOSCALER(name, up)                                                       \
    "{'metadata':{'name':'" name                                                   \
    "'},'spec':{'maxReplicas':3,'scaleTargetRef':{'apiVersion':'a/v1','kind':'x'," \
    "'name':'y'},'behavior':{'scaleUp':{" up "}}}}"

static void an_empty_list_is_told_from_none(void **state)
{
    (void)state;
    struct plane p;
    struct value obj;
    plane_start(&p, NULL, NULL);
    plane_expect(
        plane_create(&p, "autoscaling", "horizontalpodautoscalers",
                     AUTOSCALER("a", "'policies':[]"), NULL),
        "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy");
    plane_expect(
        plane_create(&p, "autoscaling", "horizontalpodautoscalers", AUTOSCALER("b", ""), NULL), "");
    /* But it is stored as none. */
    plane_expect(plane_create(&p, "", "endpoints", "{'metadata':{'name':'a'},'subsets':[]}", &obj),
                 "");
    assert_null(value_get(&obj, STR("subsets")));
    plane_expect(plane_create(&p, "rbac.authorization.k8s.io", "roles",
                              "{'metadata':{'name':'a'},'rules':[]}", &obj),
                 "");
    assert_string_equal(plane_shown(&p, value_get(&obj, STR("rules"))), "null");
    plane_stop(&p);
}

static void limits_are_named(void **state)
{
    (void)state;
    struct plane p;
    struct value obj;
    plane_start(&p, NULL, NULL);
    plane_expect(plane_create(&p, "", "limitranges", "{'spec':{'limits':[]}}", &obj), "");
    struct str name = value_str(value_dig(&obj, "metadata", "name")),
               uid = value_str(value_dig(&obj, "metadata", "uid"));
    assert_int_equal(name.n, uid.n);
    assert_false(str_eq(name, uid));
    plane_stop(&p);
}

/* ---- Others who are faster ---- */

enum { CHANGES = 20 };

static struct plane *busy;
static int n_changes;

/* Whenever somebody looks at the clock, the namespace is written once more: after it was looked at
 * and before the object is there. */
static int64_t wall_of_a_busy_place(const struct clock *clock)
{
    (void)clock;
    if (n_changes++ < CHANGES) {
        struct err err = ERR_INIT(&busy->arena);
        struct store_snap *snap;
        struct store_entry e;
        struct str key = stored_key(&busy->arena, kind_stored_named(STR(""), STR("namespaces")),
                                    STR(""), STR("default"));
        assert_int_equal(store_snap_begin(busy->api.store, 0, &snap, &err), 0);
        assert_int_equal(store_snap_get(snap, key, &e, &err), 1);
        struct store_op put = { .type = STORE_PUT, .key = key, .expect_rev = STORE_ANY };
        put.value = arena_str(&busy->arena, e.value);
        store_snap_end(snap);
        struct store_txn txn = { .ops = &put, .n_ops = 1 };
        assert_int_equal(store_commit(busy->api.store, &txn, &err), 0);
    }
    return clock_wall_ns(&clock_system);
}

static void a_namespace_that_changes_is_no_name_that_is_taken(void **state)
{
    (void)state;
    struct plane p;
    plane_start(&p, NULL, NULL);
    const struct clock clock = { clock_system.mono_ns, wall_of_a_busy_place };
    busy = &p;
    p.api.clock = &clock;
    plane_expect(plane_create(&p, "", "configmaps", "{'metadata':{'name':'a'}}", NULL), "");
    assert_true(n_changes > CHANGES);
    plane_expect(plane_create(&p, "", "configmaps", "{'metadata':{'name':'a'}}", NULL),
                 "already exists");
    plane_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtime_classes),
        cmocka_unit_test(priorities),
        cmocka_unit_test(one_class_is_the_default),
        cmocka_unit_test(pods_stay_a_while_on_lost_nodes),
        cmocka_unit_test(protected_while_in_use),
        cmocka_unit_test(claims_grow_if_their_class_lets_them),
        cmocka_unit_test(owners_are_named_once),
        cmocka_unit_test(security_labels),
        cmocka_unit_test(nobody_becomes_an_administrator),
        cmocka_unit_test(admin_access_to_devices),
        cmocka_unit_test(an_empty_list_is_told_from_none),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_namespace_that_changes_is_no_name_that_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
