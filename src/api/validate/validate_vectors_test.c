/* Every create and PUT of the golden traces: what a real server found wrong with an object, we find
 * too, in the same words and order; nothing where it took the object; and the same warnings. The
 * old object of an update is what the server last said of it in the same case.
 *
 * Between decoding and validation the server fills some fields in (src/server/registry/strategy.h
 * and admission); what the rules look at is filled in here in the plainest way.
 *
 * Left out: answers other than 200, 201 and 422, and 422 that are not about an object's fields;
 * bodies that are not JSON; custom resources; a PUT where no earlier answer of the case has the
 * object. Counted by kind; a kind may not fall below its floor. With the name of a kind as argument
 * its failures are shown. */
#include "api/validate/validate.h"

#include <stdio.h>

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/meta.h"
#include "api/go/quote.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"

/* By name. What is not listed may fail. */
static const struct {
    const char *kind;
    size_t floor;
} floors[] = {
    { "APIService", 25 },
    { "CSIDriver", 40 },
    { "CSINode", 38 },
    { "CSIStorageCapacity", 28 },
    { "CertificateSigningRequest", 55 },
    { "ClusterRole", 46 },
    { "ClusterRoleBinding", 30 },
    { "ClusterTrustBundle", 35 },
    { "ConfigMap", 642 },
    { "ControllerRevision", 30 },
    { "CronJob", 106 },
    { "CustomResourceDefinition", 104 },
    { "DaemonSet", 62 },
    { "Deployment", 146 },
    { "DeviceClass", 24 },
    { "DeviceTaintRule", 34 },
    { "EndpointSlice", 66 },
    { "Endpoints", 27 },
    { "Event", 89 },
    { "FlowSchema", 49 },
    { "HorizontalPodAutoscaler", 95 },
    { "IPAddress", 26 },
    { "Ingress", 73 },
    { "IngressClass", 37 },
    { "Job", 158 },
    { "Lease", 21 },
    { "LimitRange", 28 },
    { "LocalSubjectAccessReview", 23 },
    { "MutatingAdmissionPolicy", 26 },
    { "MutatingAdmissionPolicyBinding", 17 },
    { "MutatingWebhookConfiguration", 47 },
    { "Namespace", 59 },
    { "NetworkPolicy", 48 },
    { "Node", 52 },
    { "PersistentVolume", 36 },
    { "PersistentVolumeClaim", 62 },
    { "Pod", 611 },
    { "PodCertificateRequest", 39 },
    { "PodDisruptionBudget", 26 },
    { "PodTemplate", 27 },
    { "PriorityClass", 13 },
    { "PriorityLevelConfiguration", 26 },
    { "ReplicaSet", 53 },
    { "ReplicationController", 28 },
    { "ResourceClaim", 66 },
    { "ResourceClaimTemplate", 25 },
    { "ResourceQuota", 45 },
    { "ResourceSlice", 62 },
    { "Role", 25 },
    { "RoleBinding", 25 },
    { "RuntimeClass", 25 },
    { "Secret", 32 },
    { "SelfSubjectAccessReview", 9 },
    { "SelfSubjectRulesReview", 1 },
    { "Service", 163 },
    { "ServiceAccount", 18 },
    { "ServiceCIDR", 29 },
    { "StatefulSet", 71 },
    { "StorageClass", 45 },
    { "StorageVersionMigration", 26 },
    { "SubjectAccessReview", 32 },
    { "ValidatingAdmissionPolicy", 49 },
    { "ValidatingAdmissionPolicyBinding", 18 },
    { "ValidatingWebhookConfiguration", 79 },
    { "VolumeAttachment", 25 },
    { "VolumeAttributesClass", 27 },
};

enum { KINDS_MAX = 128 };
static struct tally {
    struct str kind;
    size_t passed, total;
} tallies[KINDS_MAX];
static size_t n_tallies;
static struct arena kept; /* the names of kinds */
static const char *only;  /* the kind to show, or NULL */
static struct vectors_count warnings = { .name = "warnings" };

static void score(struct str kind, bool passed)
{
    size_t i = 0;
    while (i < n_tallies && !str_eq(tallies[i].kind, kind))
        i++;
    if (i == KINDS_MAX)
        exit(1);
    if (i == n_tallies)
        tallies[n_tallies++].kind = arena_str(&kept, kind);
    tallies[i].total++;
    tallies[i].passed += passed;
}

static bool is_shown(struct str kind)
{
    return only && str_eq(kind, str_of(only));
}

/* ---- Texts with marks ---- */

/* The traces have marks for what differs from run to run; each stands for any text. */
static size_t mark_bytes(struct str s)
{
    static const char *const marks[] = { "<uid:", "<rv",   "<time>",   "<gen>",
                                         "<ip:",  "<any>", "<nodePort" };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_starts(s, str_of(marks[i])) && str_find(s, '>') >= 0)
            return (size_t)str_find(s, '>') + 1;
    return 0;
}

static bool matches(struct str want, struct str got)
{
    while (want.n) {
        size_t mark = mark_bytes(want);
        if (mark) {
            for (size_t i = 0; i <= got.n; i++)
                if (matches(str_skip(want, mark), str_skip(got, i)))
                    return true;
            return false;
        }
        if (got.n == 0 || want.p[0] != got.p[0])
            return false;
        want = str_skip(want, 1);
        got = str_skip(got, 1);
    }
    return got.n == 0;
}

/* ---- What the server fills in ---- */

struct target {
    struct str group, plural, ns, name, sub;
    const struct kind_resource *res;    /* NULL for custom resources */
    const struct kind_resource *stored; /* in the version that the rules are of */
};

static const struct kind_resource *resource_of(struct str group, struct str version,
                                               struct str plural)
{
    const struct kind_version *v = kind_version_find(group, version);
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    return NULL;
}

/* /api/v1/..., /apis/GROUP/VERSION/...; then [namespaces/NAME/] PLURAL [/NAME [/SUB]]. */
static struct target target_of(struct str path)
{
    struct target t = { 0 };
    struct str rest = str_cut(&path, '?');
    (void)str_cut(&rest, '/');
    bool core = str_eq(str_cut(&rest, '/'), STR("api"));
    t.group = core ? STR("") : str_cut(&rest, '/');
    struct str version = str_cut(&rest, '/');
    t.plural = str_cut(&rest, '/');
    struct str after = rest;
    (void)str_cut(&after, '/');
    bool own = str_eq(after, STR("status")) || str_eq(after, STR("finalize"));
    if (str_eq(t.plural, STR("namespaces")) && after.p && !own) {
        t.ns = str_cut(&rest, '/');
        t.plural = str_cut(&rest, '/');
    }
    t.name = str_cut(&rest, '/');
    t.sub = rest;
    t.res = resource_of(t.group, version, t.plural);
    /* Events are checked as those of the group they came to. */
    t.stored = t.res ? kind_stored(t.res) : NULL;
    if (t.stored && !str_eq(t.stored->group, t.group))
        t.stored = t.res;
    return t;
}

static void put_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    value_put(a, obj, key, value_string(text));
}

static void carry(struct arena *a, struct value *to, const struct value *from, struct str key,
                  bool only_if_absent)
{
    const struct value *was = value_get(from, key);
    if (!to || (only_if_absent && value_get(to, key)))
        return;
    if (was)
        value_put(a, to, key, value_clone(a, was));
    else
        value_drop(a, to, key);
}

static void prepare_meta(struct arena *a, const struct target *t, struct value *meta)
{
    struct str base = value_str(value_get(meta, STR("generateName")));
    if (base.n && value_str(value_get(meta, STR("name"))).n == 0)
        put_text(a, meta, STR("name"), name_generate(a, base, 1234567));
    value_drop(a, meta, STR("managedFields"));
    if (str_eq(t->plural, STR("limitranges")) && !value_get(meta, STR("name")))
        put_text(a, meta, STR("name"), STR("made-by-the-server"));
    if (str_eq(t->plural, STR("namespaces")) && value_get(meta, STR("name")))
        value_put(a, value_ensure(a, meta, STR("labels")), STR("kubernetes.io/metadata.name"),
                  *value_get(meta, STR("name")));
    if (t->ns.n)
        put_text(a, meta, STR("namespace"), t->ns);
    else
        value_drop(a, meta, STR("namespace"));
}

/* Labels and selector of a Job that has none of its own making. */
static void prepare_job(struct arena *a, struct value *obj)
{
    struct value *spec = value_edit(a, obj, STR("spec"));
    const struct value *manual = value_get(spec, STR("manualSelector"));
    if (!value_is(spec, VALUE_OBJECT) || (value_is(manual, VALUE_BOOL) && manual->b))
        return;
    struct str uid = value_str(value_dig(obj, "metadata", "uid"));
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    struct value *meta = value_ensure(a, value_ensure(a, spec, STR("template")), STR("metadata"));
    struct value *labels = meta ? value_ensure(a, meta, STR("labels")) : NULL;
    const struct value *own = value_dig(obj, "metadata", "labels");
    bool shares = !own || value_eq(own, labels); /* they were taken from the template */
    if (!labels)
        return;
    static const struct str names[] = { STR("batch.kubernetes.io/job-name"), STR("job-name") };
    static const struct str uids[] = { STR("batch.kubernetes.io/controller-uid"),
                                       STR("controller-uid") };
    for (size_t i = 0; i < 2; i++) {
        if (!value_get(labels, names[i]))
            put_text(a, labels, names[i], name);
        if (!value_get(labels, uids[i]))
            put_text(a, labels, uids[i], uid);
    }
    if (shares)
        value_put(a, value_edit(a, obj, STR("metadata")), STR("labels"), value_clone(a, labels));
    spec = value_edit(a, obj, STR("spec"));
    struct value *selector = value_ensure(a, spec, STR("selector"));
    struct value *match = value_ensure(a, selector, STR("matchLabels"));
    if (match && !value_get(match, uids[0]))
        put_text(a, match, uids[0], uid);
}

/* A source of a claim that is neither a claim nor a snapshot is dropped; the older and the newer
 * field are made to agree. */
static void prepare_claim(struct arena *a, struct value *obj)
{
    struct value *spec = value_edit(a, obj, STR("spec"));
    const struct value *source = value_get(spec, STR("dataSource"));
    const struct value *ref = value_get(spec, STR("dataSourceRef"));
    struct str kind = value_str(value_get(source, STR("kind")));
    struct str group = value_str(value_get(source, STR("apiGroup")));
    bool known =
        (str_eq(kind, STR("PersistentVolumeClaim")) && group.n == 0) ||
        (str_eq(kind, STR("VolumeSnapshot")) && str_eq(group, STR("snapshot.storage.k8s.io")));
    if (source && !known) {
        value_drop(a, spec, STR("dataSource"));
        source = NULL;
    }
    if (source && !ref)
        value_put(a, spec, STR("dataSourceRef"), value_clone(a, source));
    else if (ref && !source && !value_get(ref, STR("namespace")))
        value_put(a, spec, STR("dataSource"), value_clone(a, ref));
}

/* What allocation fills in. */
static void prepare_service(struct arena *a, struct value *obj)
{
    struct value *spec = value_edit(a, obj, STR("spec"));
    const struct value *ip = value_get(spec, STR("clusterIP"));
    if (value_str(ip).n && !value_get(spec, STR("clusterIPs"))) {
        struct value ips = value_array();
        value_put_item(a, &ips, *ip);
        value_put(a, spec, STR("clusterIPs"), ips);
    }
    if (str_eq(value_str(value_get(spec, STR("type"))), STR("LoadBalancer")) &&
        str_eq(value_str(value_get(spec, STR("externalTrafficPolicy"))), STR("Local")) &&
        !value_get(spec, STR("healthCheckNodePort")))
        value_put(a, spec, STR("healthCheckNodePort"), value_int(30001));
}

/* A field of a feature that is off. */
static void prepare_pod(struct arena *a, struct value *obj)
{
    struct value *list = value_edit(a, value_ensure(a, obj, STR("spec")), STR("containers"));
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        struct value *container = value_edit_at(a, list, i);
        struct value *lifecycle = value_edit(a, container, STR("lifecycle"));
        if (value_is(lifecycle, VALUE_OBJECT))
            value_drop(a, lifecycle, STR("stopSignal"));
    }
}

static void prepare_create(struct arena *a, const struct target *t, struct value *obj)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    prepare_meta(a, t, meta);
    put_text(a, meta, STR("uid"), STR("11111111-2222-4333-8444-555555555555"));
    put_text(a, meta, STR("creationTimestamp"), STR("2026-01-02T03:04:05Z"));
    value_drop(a, meta, STR("deletionTimestamp"));
    value_drop(a, meta, STR("deletionGracePeriodSeconds"));
    value_drop(a, meta, STR("resourceVersion"));
    if (!str_eq(t->plural, STR("nodes")))
        value_drop(a, obj, STR("status"));
    else if (value_edit(a, obj, STR("spec")))
        value_drop(a, value_edit(a, obj, STR("spec")), STR("configSource"));
    if (str_eq(t->plural, STR("jobs")))
        prepare_job(a, obj);
    if (str_eq(t->plural, STR("pods")))
        prepare_pod(a, obj);
    if (str_eq(t->plural, STR("persistentvolumeclaims")))
        prepare_claim(a, obj);
    if (str_eq(t->plural, STR("services")))
        prepare_service(a, obj);
}

static bool tolerates(const struct value *tolerations, struct str key)
{
    value_each_item (it, tolerations)
        if (str_eq(value_str(value_get(it, STR("key"))), key))
            return true;
    return false;
}

/* Priority and tolerations that an update leaves out are those that admission fills in. */
static void prepare_pod_update(struct arena *a, struct value *obj, const struct value *old_obj)
{
    static const struct str keys[] = { STR("node.kubernetes.io/not-ready"),
                                       STR("node.kubernetes.io/unreachable") };
    struct value *spec = value_edit(a, obj, STR("spec"));
    if (!value_is(spec, VALUE_OBJECT))
        return;
    carry(a, spec, value_get(old_obj, STR("spec")), STR("priority"), true);
    carry(a, spec, value_get(old_obj, STR("spec")), STR("preemptionPolicy"), true);
    if (!value_get(spec, STR("tolerations")))
        value_put(a, spec, STR("tolerations"), value_array());
    struct value *list = value_edit(a, spec, STR("tolerations"));
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < 2; i++) {
        if (tolerates(list, keys[i]))
            continue;
        struct value toleration = value_object();
        put_text(a, &toleration, STR("key"), keys[i]);
        put_text(a, &toleration, STR("operator"), STR("Exists"));
        put_text(a, &toleration, STR("effect"), STR("NoExecute"));
        value_put(a, &toleration, STR("tolerationSeconds"), value_int(300));
        value_put_item(a, list, toleration);
    }
}

/* All but the resources of containers is as it was. */
static void prepare_resize(struct arena *a, struct value *obj, const struct value *old_obj)
{
    struct value given = value_share(obj);
    *obj = value_clone(a, old_obj);
    struct value *list = value_edit(a, value_ensure(a, obj, STR("spec")), STR("containers"));
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        const struct value *now = value_at(value_dig(&given, "spec", "containers"), i);
        carry(a, value_edit_at(a, list, i), now, STR("resources"), false);
        carry(a, value_edit_at(a, list, i), now, STR("resizePolicy"), false);
    }
}

/* A Service keeps its addresses and families unless it says otherwise; clusterIPs follow clusterIP.
 */
static void prepare_service_update(struct arena *a, struct value *obj, const struct value *old_obj)
{
    static const struct str kept_fields[] = { STR("clusterIP"), STR("clusterIPs"),
                                              STR("ipFamilies"), STR("ipFamilyPolicy"),
                                              STR("healthCheckNodePort") };
    struct value *spec = value_edit(a, obj, STR("spec"));
    const struct value *old = value_get(old_obj, STR("spec"));
    struct str external = STR("ExternalName");
    if (!spec || str_eq(value_str(value_get(spec, STR("type"))), external) ||
        str_eq(value_str(value_get(old, STR("type"))), external))
        return;
    for (size_t i = 0; i < 5; i++)
        carry(a, spec, old, kept_fields[i], true);
    const struct value *ip = value_get(spec, STR("clusterIP"));
    const struct value *ips = value_get(spec, STR("clusterIPs"));
    const struct value *old_ips = value_get(old, STR("clusterIPs"));
    if (ip && ips && old_ips && value_eq(ips, old_ips) && !value_eq(ip, value_at(ips, 0))) {
        struct value changed = value_array();
        value_put_item(a, &changed, *ip);
        value_put(a, spec, STR("clusterIPs"), changed);
    }
}

/* Where the old object has a mark, it had what the new one has. */
static void unmark(struct arena *a, struct value *old, const struct value *obj)
{
    if (value_is(old, VALUE_STRING) && value_is(obj, VALUE_STRING) && mark_bytes(value_str(old)))
        *old = *obj;
    for (size_t i = 0; value_is(old, VALUE_OBJECT) && i < old->n; i++) {
        struct str key = old->fields[i].key;
        if (value_get(obj, key))
            unmark(a, value_edit(a, old, key), value_get(obj, key));
    }
}

static void prepare_update(struct arena *a, const struct target *t, const struct value *old_obj,
                           struct value *obj)
{
    static const struct str absent[] = { STR("uid"), STR("resourceVersion"),
                                         STR("deletionTimestamp"),
                                         STR("deletionGracePeriodSeconds") };
    static const struct str always[] = { STR("creationTimestamp"), STR("generation") };
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    const struct value *old_meta = value_get(old_obj, STR("metadata"));
    prepare_meta(a, t, meta);
    for (size_t i = 0; i < 4; i++) {
        /* ${uid} stands for what an earlier answer had */
        if (str_starts(value_str(value_get(meta, absent[i])), STR("${")))
            value_drop(a, meta, absent[i]);
        carry(a, meta, old_meta, absent[i], true);
    }
    for (size_t i = 0; i < 2; i++)
        carry(a, meta, old_meta, always[i], false);
    bool is_status = str_eq(t->sub, STR("status"));
    if (is_status || !t->sub.n)
        carry(a, obj, old_obj, is_status ? STR("spec") : STR("status"), false);
    if (str_eq(t->plural, STR("pods")) && !t->sub.n)
        prepare_pod_update(a, obj, old_obj);
    if (str_eq(t->plural, STR("pods")) && is_status)
        carry(a, value_ensure(a, obj, STR("status")), value_get(old_obj, STR("status")),
              STR("qosClass"), true);
    if (str_eq(t->sub, STR("resize")))
        prepare_resize(a, obj, old_obj);
    if (str_eq(t->plural, STR("services")) && !t->sub.n)
        prepare_service_update(a, obj, old_obj);
    if (str_eq(t->plural, STR("persistentvolumeclaims")) && !t->sub.n)
        prepare_claim(a, obj);
}

/* ---- Comparing ---- */

static bool same_causes(const struct value *want, const struct err_cause *got)
{
    value_each_item (cause, want) {
        if (!got || !str_eq(got->reason, value_str(value_get(cause, STR("reason")))) ||
            !matches(value_str(value_get(cause, STR("field"))), got->field) ||
            !matches(value_str(value_get(cause, STR("message"))), got->msg))
            return false;
        got = got->next;
    }
    return !got;
}

/* The header's text: 299 - "...". */
static struct str header_of(struct arena *a, struct str warning)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, warning);
    return arena_printf(a, "299 - " STR_FMT, STR_ARG(buf_str(&quoted)));
}

/* Warnings of other origin: of decoding, and of versions that go away. */
static bool is_foreign(struct str warning)
{
    return str_starts(warning, STR("299 - \"unknown field")) ||
           str_starts(warning, STR("299 - \"duplicate field")) ||
           memmem(warning.p, warning.n, " is deprecated in v1.", 21) != NULL;
}

static void check_warnings(struct arena *a, const char *id, const struct target *t,
                           const struct value *obj, const struct value *old_obj,
                           const struct value *want)
{
    struct validate_warnings w = { .arena = a };
    validate_warn(&w, t->stored, obj, old_obj);
    size_t n = 0, found = 0;
    value_each_item (it, want) {
        struct str text = value_str(it);
        if (is_foreign(text))
            continue;
        n++;
        for (size_t i = 0; i < w.n; i++)
            found += str_eq(header_of(a, w.texts[i]), text);
    }
    if (n == 0 && w.n == 0)
        return;
    bool good = found == n && n == w.n;
    warnings.total++;
    warnings.passed += good;
    if (good || !is_shown(t->res->type->name))
        return;
    printf("WARNINGS %s\n", id);
    value_each_item (it, want)
        printf("  want: " STR_FMT "\n", STR_ARG(value_str(it)));
    for (size_t i = 0; i < w.n; i++)
        printf("  have: " STR_FMT "\n", STR_ARG(w.texts[i]));
}

static void check(struct arena *a, const char *id, const struct target *t, struct value *obj,
                  const struct value *old_obj, const struct value *expect, bool refused)
{
    struct meta_rules rules = meta_rules_of(t->group, t->plural, t->res->namespaced);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct err err = ERR_INIT(a);
    const struct value *answer = value_get(expect, STR("body"));
    if (old_obj)
        meta_validate_update(&e, &rules, obj, old_obj);
    else
        meta_validate_create(&e, &rules, obj);
    if (old_obj && t->sub.n)
        validate_update_sub(&e, t->stored, t->sub, obj, old_obj);
    else if (old_obj)
        validate_update(&e, t->stored, obj, old_obj);
    else
        validate_create(&e, t->stored, obj);
    /* Events of both groups are refused as what they are stored as. */
    bool event = str_eq(t->plural, STR("events"));
    (void)field_errors_report(&e, event ? STR("") : t->group, t->res->type->name,
                              value_str(value_dig(obj, "metadata", "name")), &err);
    bool good = !refused ? e.n == 0
                         : same_causes(value_dig(answer, "details", "causes"), err.causes) &&
                               matches(value_str(value_get(answer, STR("message"))), err.msg);
    score(t->res->type->name, good);
    if (!good && is_shown(t->res->type->name))
        printf("FAILED %s\n  want: " STR_FMT "\n  have: " STR_FMT "\n", id,
               STR_ARG(refused ? value_str(value_get(answer, STR("message"))) : STR("(good)")),
               STR_ARG(err.msg));
    if (!refused) /* else there are none */
        check_warnings(a, id, t, obj, old_obj, value_get(expect, STR("warnings")));
}

/* ---- Steps and cases ---- */

/* False for a step whose answer is not about the fields of the object. */
static bool is_about_fields(const struct value *step, bool *ret_refused)
{
    int64_t code = 0;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    *ret_refused = code == 422;
    if (code == 200 || code == 201)
        return true;
    const struct value *causes = value_dig(step, "expect", "body", "details", "causes");
    /* a stale or blind update is refused elsewhere */
    bool blind = memmem(value_str(value_dig(step, "expect", "body", "message")).p,
                        value_str(value_dig(step, "expect", "body", "message")).n,
                        "Invalid value: 0: must be specified", 35) != NULL;
    bool options =
        str_ends(value_str(value_dig(step, "expect", "body", "details", "kind")), STR("Options"));
    return code == 422 && value_is(causes, VALUE_ARRAY) && !blind && !options;
}

/* The object as an earlier step's answer has it, or NULL. */
static const struct value *last_seen(const struct value *steps, size_t n, const struct target *t)
{
    while (n-- > 0) {
        const struct value *seen = value_dig(value_at(steps, n), "expect", "body");
        if (str_eq(value_str(value_get(seen, STR("kind"))), t->res->type->name) &&
            str_eq(value_str(value_dig(seen, "metadata", "name")), t->name) &&
            str_eq(value_str(value_dig(seen, "metadata", "namespace")), t->ns))
            return seen;
    }
    return NULL;
}

/* As the server reads a body. */
static bool read_object(struct arena *a, const struct kind_type *type, const struct value *body,
                        struct value *ret)
{
    struct err err = ERR_INIT(a);
    struct value read;
    if (typed_read(a, type, body, NULL, &read, &err) < 0)
        return false;
    defaults_apply(a, type, &read);
    defaults_stamp(a, type, &read, STR("2026-01-02T03:04:05Z"));
    return typed_read(a, type, &read, NULL, ret, &err) == 0;
}

/* The rules are those of the version that is stored. */
static bool as_stored(struct arena *a, const struct target *t, struct value *obj)
{
    struct err err = ERR_INIT(a);
    struct value given = *obj;
    return t->stored == t->res ||
           convert_object(a, t->res->type, t->stored->type, &given, obj, &err) == 0;
}

static const struct value *old_as_stored(struct arena *a, const struct target *t,
                                         const struct value *seen)
{
    struct value *old_obj = arena_new(a, struct value);
    struct err err = ERR_INIT(a);
    if (t->stored == t->res)
        return seen;
    return typed_read(a, t->res->type, seen, NULL, old_obj, &err) == 0 && as_stored(a, t, old_obj)
               ? old_obj
               : NULL;
}

/* A subresource that takes the object itself. */
static bool takes_object(const struct target *t)
{
    for (size_t i = 0; i < t->res->n_subresources; i++)
        if (str_eq(t->res->subresources[i].name, t->sub))
            return t->res->subresources[i].type == t->res->type;
    return !t->sub.n;
}

/* Reviews of access are not stored, and have neither metadata nor, when refused, a kind. */
static void check_review(struct arena *a, const char *id, const struct target *t,
                         const struct value *step)
{
    struct value obj;
    bool refused;
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct err err = ERR_INIT(a);
    const struct value *answer = value_dig(step, "expect", "body");
    if (!is_about_fields(step, &refused) ||
        !read_object(a, t->res->type, value_get(step, STR("body")), &obj))
        return;
    struct value *meta = value_ensure(a, &obj, STR("metadata"));
    if (t->ns.n)
        put_text(a, meta, STR("namespace"), t->ns);
    else
        value_drop(a, meta, STR("namespace"));
    validate_create(&e, t->res, &obj);
    (void)field_errors_report(&e, t->group, STR(""), STR(""), &err);
    bool good = !refused ? e.n == 0
                         : same_causes(value_dig(answer, "details", "causes"), err.causes) &&
                               matches(value_str(value_get(answer, STR("message"))), err.msg);
    score(t->res->type->name, good);
    if (!good && is_shown(t->res->type->name))
        printf("FAILED %s\n  have: " STR_FMT "\n", id, STR_ARG(err.msg));
}

static void fail_to_read(const char *id, const struct target *t, const char *what)
{
    score(t->res->type->name, false);
    if (is_shown(t->res->type->name))
        printf("FAILED %s\n  have: %s cannot be read\n", id, what);
}

static void check_step(struct arena *a, const char *id, const struct value *steps, size_t i)
{
    const struct value *step = value_at(steps, i), *body = value_get(step, STR("body"));
    struct target t = target_of(value_str(value_get(step, STR("path"))));
    if (t.res && str_eq(t.group, STR("authorization.k8s.io")))
        check_review(a, id, &t, step);
    struct str method = value_str(value_get(step, STR("method")));
    bool update = str_eq(method, STR("PUT")), refused;
    if ((!update && !str_eq(method, STR("POST"))) || update != (t.name.n > 0) ||
        !value_is(body, VALUE_OBJECT) || !t.res || !t.res->list || !takes_object(&t))
        return;
    const struct value *old_obj = update ? last_seen(steps, i, &t) : NULL;
    if ((update && !old_obj) || !is_about_fields(step, &refused))
        return;
    struct value obj, read;
    struct err err = ERR_INIT(a);
    if (!read_object(a, t.res->type, body, &read)) {
        fail_to_read(id, &t, "the object");
        return;
    }
    if (!as_stored(a, &t, &read) || (update && !(old_obj = old_as_stored(a, &t, old_obj)))) {
        fail_to_read(id, &t, "the stored object");
        return;
    }
    if (update && value_dig(old_obj, "spec")) {
        struct value *marked = arena_dup(a, old_obj, sizeof(*old_obj));
        *marked = value_clone(a, old_obj);
        unmark(a, value_edit(a, marked, STR("spec")), value_get(&read, STR("spec")));
        old_obj = marked;
    }
    if (update)
        prepare_update(a, &t, old_obj, &read);
    else
        prepare_create(a, &t, &read);
    if (typed_read(a, t.stored->type, &read, NULL, &obj, &err) == 0)
        check(a, id, &t, &obj, old_obj, value_get(step, STR("expect")), refused);
    else
        fail_to_read(id, &t, "the prepared object");
}

/* A namespace, a time and a port where the traces have marks. */
static struct str without_marks(struct arena *a, struct str line)
{
    const struct str node_port = STR("\"<nodePort:");
    autobuf out = { 0 };
    while (line.n) {
        if (str_starts(line, STR("{ns}"))) {
            buf_str_add(&out, STR("ns-1"));
            line = str_skip(line, 4);
        } else if (str_starts(line, STR("\"<time>\""))) {
            buf_str_add(&out, STR("\"2026-01-02T03:04:05Z\""));
            line = str_skip(line, 8);
        } else if (str_starts(line, node_port)) {
            line = str_skip(line, node_port.n);
            struct str number = str_cut(&line, '>');
            buf_printf(&out, "3000" STR_FMT, STR_ARG(number));
            line = str_skip(line, 1);
        } else {
            buf_byte(&out, line.p[0]);
            line = str_skip(line, 1);
        }
    }
    return arena_str(a, buf_str(&out));
}

static void check_case(struct arena *a, struct str line)
{
    struct value c;
    if (json_read(a, without_marks(a, line), NULL, &c, NULL) < 0)
        exit(1);
    const struct value *steps = value_get(&c, STR("steps"));
    for (size_t i = 0; value_at(steps, i); i++) {
        struct str id =
            arena_printf(a, STR_FMT " %zu " STR_FMT, STR_ARG(value_str(value_get(&c, STR("id")))),
                         i, STR_ARG(value_str(value_get(value_at(steps, i), STR("name")))));
        check_step(a, str_cstr(a, id), steps, i);
    }
}

static void check_file(const char *name)
{
    struct arena files;
    arena_init(&files);
    struct str rest = vectors_read(&files, vectors_path(&files, "golden", name));
    while (rest.n) {
        struct arena a;
        struct str line = str_cut(&rest, '\n');
        if (line.n == 0)
            continue;
        arena_init(&a);
        check_case(&a, line);
        arena_done(&a);
    }
    arena_done(&files);
}

static size_t floor_of(struct str kind)
{
    for (size_t i = 0; i < ARRAY_LEN(floors); i++)
        if (str_eq(str_of(floors[i].kind), kind))
            return floors[i].floor;
    return 0;
}

static bool report(void)
{
    size_t passed = 0, total = 0;
    bool good = true;
    for (size_t i = 0; i < n_tallies; i++) {
        size_t floor = floor_of(tallies[i].kind);
        bool low = tallies[i].passed < floor;
        printf("%-32.*s %4zu/%zu%s\n", STR_ARG(tallies[i].kind), tallies[i].passed,
               tallies[i].total, low ? "  BELOW ITS FLOOR" : "");
        passed += tallies[i].passed;
        total += tallies[i].total;
        good = good && !low;
    }
    printf("%s: %zu/%zu\n", warnings.name, warnings.passed, warnings.total);
    printf("all: %zu/%zu\n", passed, total);
    return good && total > 0;
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    arena_init(&kept);
    bool there = vectors_are_there(&kept, "golden"), good = true;
    if (there) {
        check_file("validation.jsonl");
        check_file("updates.jsonl");
        check_file("verbs.jsonl");
        good = report();
    }
    arena_done(&kept);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
