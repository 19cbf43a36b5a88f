/* What upstream's admission plugins that are always on do to objects on their way in, where that is
 * decided by the object itself or by one other object that it names. What they refuse in the end is
 * in registry_admit_check.c. The rest of admission (webhooks, policies, quotas, limits) is not
 * here. */
#include "api/text_set.h"
#include "base/json.h"
#include "server/custom/custom.h"
#include "server/http/errors.h"
#include "server/registry/registry_internal.h"
#include "server/object/stored.h"
#include "server/registry/strategy.h"
#include "base/banned.h"

bool registry__is(const struct call *c, struct str group, struct str plural)
{
    return str_eq(c->stored->plural, plural) && str_eq(c->stored->group, group);
}

static int forbid(struct call *c, const struct value *obj, struct str why, struct err *err)
{
    return error_forbidden(err, c->req.resource, value_str(value_dig(obj, "metadata", "name")),
                           why);
}

/* ---- Nodes: new ones are not ready ---- */

static void taint_node(struct arena *a, struct value *node)
{
    struct str key = STR("node.kubernetes.io/not-ready"), effect = STR("NoSchedule");
    struct value *spec = value_ensure(a, node, STR("spec"));
    value_each_item (it, value_get(spec, STR("taints")))
        if (str_eq(value_str(value_get(it, STR("key"))), key) &&
            str_eq(value_str(value_get(it, STR("effect"))), effect))
            return;
    struct value taint = value_object();
    (void)value_add(a, &taint, STR("key"), value_string(key));
    (void)value_add(a, &taint, STR("effect"), value_string(effect));
    struct value *taints = value_edit(a, spec, STR("taints"));
    if (!value_is(taints, VALUE_ARRAY))
        taints = value_set(a, spec, STR("taints"), value_array());
    (void)value_push(a, taints, taint);
}

/* ---- Storage: what is in use is not deleted ---- */

static void protect(struct arena *a, struct value *obj, struct str finalizer)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    struct value *finalizers = value_edit(a, meta, STR("finalizers"));
    if (!value_is(finalizers, VALUE_ARRAY))
        finalizers = value_set(a, meta, STR("finalizers"), value_array());
    value_each_item (it, finalizers)
        if (str_eq(value_str(it), finalizer))
            return;
    (void)value_push(a, finalizers, value_string(finalizer));
}

/* ---- Pods: how long they stay on a node that is gone ---- */

static bool tolerates(const struct value *tolerations, struct str key)
{
    value_each_item (it, tolerations) {
        struct str its_key = value_str(value_get(it, STR("key"))),
                   effect = value_str(value_get(it, STR("effect")));
        if ((!its_key.n || str_eq(its_key, key)) && (!effect.n || str_eq(effect, STR("NoExecute"))))
            return true;
    }
    return false;
}

static void tolerate_lost_nodes(struct arena *a, struct value *pod)
{
    enum { PATIENCE_SEC = 300 };
    static const struct str keys[] = { STR("node.kubernetes.io/not-ready"),
                                       STR("node.kubernetes.io/unreachable") };
    struct value *spec = value_ensure(a, pod, STR("spec"));
    const struct value *given = value_get(spec, STR("tolerations"));
    bool has[] = { tolerates(given, keys[0]), tolerates(given, keys[1]) };
    for (size_t i = 0; i < 2; i++) {
        if (has[i])
            continue;
        struct value toleration = value_object();
        (void)value_add(a, &toleration, STR("key"), value_string(keys[i]));
        (void)value_add(a, &toleration, STR("operator"), value_string(STR("Exists")));
        (void)value_add(a, &toleration, STR("effect"), value_string(STR("NoExecute")));
        (void)value_add(a, &toleration, STR("tolerationSeconds"), value_int(PATIENCE_SEC));
        struct value *list = value_edit(a, spec, STR("tolerations"));
        if (!value_is(list, VALUE_ARRAY))
            list = value_set(a, spec, STR("tolerations"), value_array());
        (void)value_push(a, list, toleration);
    }
}

/* ---- Pods: which go first ---- */

struct priority {
    struct str name;
    int64_t value;
    struct str preemption;
};

static void take_class(const struct value *class, struct priority *ret)
{
    ret->name = value_str(value_dig(class, "metadata", "name"));
    ret->value = 0;
    (void)value_to_int(value_get(class, STR("value")), &ret->value);
    ret->preemption = value_str(value_get(class, STR("preemptionPolicy")));
}

/* The class that counts where none is named: 1 and `ret`, 0 if there is none, or an error. If there
 * are several it is the lowest. */
static int default_class(struct call *c, struct priority *ret, struct err *err)
{
    static const char mark[] = "\"globalDefault\":true";
    const struct kind_resource *classes =
        kind_stored_named(STR("scheduling.k8s.io"), STR("priorityclasses"));
    struct store_snap *snap;
    struct store_entry e;
    bool found = false;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(c->arena, classes, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value class;
        struct priority one;
        /* Most classes are no default, so most are not read. */
        if (!memmem(e.value.p, e.value.n, mark, sizeof(mark) - 1))
            continue;
        r = stored_read(c->arena, classes->type, &e, &class, err);
        if (r < 0)
            break;
        const struct value *is_default = value_get(&class, STR("globalDefault"));
        take_class(&class, &one);
        if (value_is(is_default, VALUE_BOOL) && is_default->b &&
            (!found || one.value < ret->value)) {
            *ret = one;
            found = true;
        }
    }
    store_snap_end(snap);
    return r < 0 ? r : found;
}

static int find_priority(struct call *c, const struct value *pod, struct priority *ret,
                         struct err *err)
{
    struct str name = value_str(value_dig(pod, "spec", "priorityClassName"));
    struct registry_entry class;
    *ret = (struct priority){ .preemption = STR("PreemptLowerPriority") };
    if (!name.n) {
        int r = default_class(c, ret, err);
        return r < 0 ? r : 0;
    }
    int r = registry__read_other(c, STR("scheduling.k8s.io"), STR("priorityclasses"), STR(""), name,
                                 &class, err);
    if (r == 0)
        return forbid(c, pod,
                      arena_printf(c->arena, "no PriorityClass with name " STR_FMT " was found",
                                   STR_ARG(name)),
                      err);
    if (r == 1)
        take_class(&class.obj, ret);
    return r < 0 ? r : 0;
}

static int set_priority(struct call *c, struct value *pod, struct err *err)
{
    struct priority p;
    int r = find_priority(c, pod, &p, err);
    if (r < 0)
        return r;
    struct value *spec = value_ensure(c->arena, pod, STR("spec"));
    int64_t given;
    if (value_to_int(value_get(spec, STR("priority")), &given) && given != p.value)
        return forbid(c, pod,
                      arena_printf(c->arena,
                                   "the integer value of priority (%lld) must not be provided in "
                                   "pod spec; priority admission controller computed %lld from "
                                   "the given PriorityClass name",
                                   (long long)given, (long long)p.value),
                      err);
    struct str policy = value_str(value_get(spec, STR("preemptionPolicy")));
    if (policy.n && p.preemption.n && !str_eq(policy, p.preemption))
        return forbid(c, pod,
                      arena_printf(c->arena,
                                   "the string value of PreemptionPolicy (" STR_FMT
                                   ") must not be provided in pod spec; priority admission "
                                   "controller computed " STR_FMT
                                   " from the given PriorityClass name",
                                   STR_ARG(policy), STR_ARG(p.preemption)),
                      err);
    if (p.name.n)
        (void)value_set(c->arena, spec, STR("priorityClassName"), value_string(p.name));
    (void)value_set(c->arena, spec, STR("priority"), value_int(p.value));
    if (p.preemption.n)
        (void)value_set(c->arena, spec, STR("preemptionPolicy"), value_string(p.preemption));
    return 0;
}

static void keep_priority(struct arena *a, struct value *pod, const struct value *old_pod)
{
    static const struct str fields[] = { STR("priority"), STR("preemptionPolicy") };
    struct value *spec = value_ensure(a, pod, STR("spec"));
    const struct value *old_spec = value_get(old_pod, STR("spec"));
    for (size_t i = 0; i < 2; i++)
        if (!value_get(spec, fields[i]) && value_get(old_spec, fields[i]))
            (void)value_set(a, spec, fields[i], value_borrow(value_get(old_spec, fields[i])));
}

/* ---- Pods: where their node is ---- */

int registry__copy_topology(struct call *c, struct str node, struct value *obj, struct err *err)
{
    static const struct str keys[] = { STR("topology.kubernetes.io/zone"),
                                       STR("topology.kubernetes.io/region") };
    struct registry_entry found;
    int r = node.n ? registry__read_other(c, STR(""), STR("nodes"), STR(""), node, &found, err) : 0;
    if (r <= 0)
        return r;
    const struct value *from = value_dig(&found.obj, "metadata", "labels");
    for (size_t i = 0; i < 2; i++) {
        const struct value *label = value_get(from, keys[i]);
        struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
        if (label)
            (void)value_set(c->arena, value_ensure(c->arena, meta, STR("labels")), keys[i],
                            value_borrow(label));
    }
    return 0;
}

/* ---- Owners: each is named once ---- */

static void warn_of_owners(struct call *c, struct str uids)
{
    bool is_patch = c->verb == KIND_PATCH; /* whose words are those of a later moment */
    call_warn(c, arena_printf(
                     c->arena,
                     ".metadata.ownerReferences contains duplicate entries%s; API server "
                     "dedups owner references in 1.20+, and may reject such requests as "
                     "early as 1.24; please fix your requests; duplicate UID(s) observed: " STR_FMT,
                     is_patch ? " after mutating admission happens" : "", STR_ARG(uids)));
}

static void unite_owners(struct call *c, struct value *obj)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    const struct value *owners = value_get(meta, STR("ownerReferences"));
    struct value kept = value_array();
    autobuf text = { 0 }, uids = { 0 };
    autoset seen;
    text_set_init(&seen);
    if (!value_is(owners, VALUE_ARRAY) || owners->n < 2)
        return;
    value_each_item (it, owners) {
        buf_reset(&text);
        json_write(&text, it);
        if (!text_set_has(&seen, buf_str(&text))) {
            (void)text_set_add(&seen, arena_str(c->arena, buf_str(&text)), it);
            (void)value_push(c->arena, &kept, value_borrow(it));
        } else {
            buf_printf(&uids, "%s" STR_FMT, uids.n ? ", " : "",
                       STR_ARG(value_str(value_get(it, STR("uid")))));
        }
    }
    if (kept.n == owners->n)
        return;
    warn_of_owners(c, buf_str(&uids));
    (void)value_set(c->arena, meta, STR("ownerReferences"), kept);
}

/* ---- All of it ---- */

static int admit_pod(struct call *c, struct value *pod, const struct value *old_pod,
                     struct err *err)
{
    int r = 0;
    if (old_pod)
        keep_priority(c->arena, pod, old_pod);
    else
        r = set_priority(c, pod, err);
    if (r < 0)
        return r;
    tolerate_lost_nodes(c->arena, pod);
    if (!old_pod)
        r = registry__admit_runtime_class(c, pod, err);
    if (r < 0)
        return r;
    return registry__copy_topology(c, value_str(value_dig(pod, "spec", "nodeName")), pod, err);
}

int registry__admit(struct call *c, struct value *obj, const struct value *old_obj, struct err *err)
{
    unite_owners(c, obj);
    if (registry__is(c, STR(""), STR("pods")))
        return admit_pod(c, obj, old_obj, err);
    if (old_obj)
        return 0;
    const struct custom_version *v = custom_version_of(c->stored);
    if (v && v->of->terminating)
        return forbid(
            c, obj, STR("create not allowed while custom resource definition is terminating"), err);
    if (registry__is(c, STR(""), STR("nodes")))
        taint_node(c->arena, obj);
    else if (registry__is(c, STR(""), STR("persistentvolumes")))
        protect(c->arena, obj, STR("kubernetes.io/pv-protection"));
    else if (registry__is(c, STR(""), STR("persistentvolumeclaims")))
        protect(c->arena, obj, STR("kubernetes.io/pvc-protection"));
    else if (registry__is(c, STR("storage.k8s.io"), STR("volumeattributesclasses")))
        protect(c->arena, obj, STR("kubernetes.io/vac-protection"));
    return 0;
}

int registry__check_priority_class(struct call *c, const struct value *obj, bool is_new,
                                   struct err *err)
{
    const struct value *is_default = value_get(obj, STR("globalDefault"));
    struct priority there;
    if (!value_is(is_default, VALUE_BOOL) || !is_default->b)
        return 0;
    int r = default_class(c, &there, err);
    if (r <= 0 || (!is_new && str_eq(there.name, value_str(value_dig(obj, "metadata", "name")))))
        return r < 0 ? r : 0;
    return forbid(c, obj,
                  arena_printf(c->arena,
                               "PriorityClass " STR_FMT
                               " is already marked as default. Only one default can exist",
                               STR_ARG(there.name)),
                  err);
}
