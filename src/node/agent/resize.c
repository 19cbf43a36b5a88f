/* resize.c - resources that change while a pod runs: what the node has given, and what containers
 * have got.
 *
 * Both are on disk, in ROOT/agent_pods/UID.json, because the API only has what is wanted:
 *
 *     {"allocated": {CONTAINER: RESOURCES}, "actuated": {CONTAINER: RESOURCES}} */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/agent/container_status.h"
#include "node/pod/pod_cgroups.h"
#include "base/banned.h"

enum { FILE_MAX = 1 << 20 };

/* ---- The file ---- */

static const char *file_of(struct agent *ag, struct str uid, struct arena *a)
{
    struct str root = ag->parts.node->root_dir;
    return str_cstr(
        a, arena_printf(a, STR_FMT "/agent_pods/" STR_FMT ".json", STR_ARG(root), STR_ARG(uid)));
}

static struct value read_file(struct agent *ag, struct str uid, struct arena *a)
{
    autobuf text = { 0 };
    struct value v;
    if (file_read(file_of(ag, uid, a), FILE_MAX, &text, NULL) < 0 ||
        json_read(a, arena_str(a, buf_str(&text)), NULL, &v, NULL) < 0)
        return value_object();
    return v;
}

static bool write_file(struct agent *ag, struct str uid, const struct value *v, struct arena *a)
{
    autobuf text = { 0 };
    struct err err = ERR_INIT(a);
    struct str root = ag->parts.node->root_dir;
    (void)mkdir(str_cstr(a, arena_printf(a, STR_FMT "/agent_pods", STR_ARG(root))), 0700);
    json_write(&text, v);
    if (file_write_atomic(file_of(ag, uid, a), buf_str(&text), 0600, FILE_KEPT, &err) == 0)
        return true;
    log_warn("the resources of a pod cannot be kept", LOG_ERR(&err));
    return false;
}

void allocation_forget(struct agent *ag, struct str uid, struct arena *a)
{
    (void)unlink(file_of(ag, uid, a));
}

static const struct value *part_of(struct agent *ag, struct str uid, struct str key,
                                   struct arena *a)
{
    struct value v = read_file(ag, uid, a);
    const struct value *part = value_get(&v, key);
    if (!part)
        return NULL;
    struct value *copy = arena_new(a, struct value);
    *copy = value_clone(a, part);
    return copy;
}

const struct value *allocation_get(struct agent *ag, struct str uid, struct arena *a)
{
    return part_of(ag, uid, STR("allocated"), a);
}

const struct value *actuated_get(struct agent *ag, struct str uid, struct arena *a)
{
    return part_of(ag, uid, STR("actuated"), a);
}

static void add_resources(struct arena *a, const struct value *list, struct value *ret)
{
    value_each_item (c, list) {
        const struct value *r = value_get(c, STR("resources"));
        value_put(a, ret, value_text(c, "name"), r ? value_clone(a, r) : value_object());
    }
}

bool allocation_put(struct agent *ag, const struct value *pod, struct arena *a)
{
    struct value v = read_file(ag, pod_uid(pod), a), all = value_object();
    add_resources(a, pod_containers(pod), &all);
    add_resources(a, pod_init_containers(pod), &all);
    value_put(a, &v, STR("allocated"), all);
    return write_file(ag, pod_uid(pod), &v, a);
}

void actuated_put(struct agent *ag, const struct value *pod, const struct value *spec,
                  struct arena *a)
{
    struct value v = read_file(ag, pod_uid(pod), a);
    struct value *all = value_ensure(a, &v, STR("actuated"));
    const struct value *r = value_get(spec, STR("resources"));
    if (!all)
        return;
    value_put(a, all, value_text(spec, "name"), r ? value_clone(a, r) : value_object());
    (void)write_file(ag, pod_uid(pod), &v, a);
}

static void apply_list(struct arena *a, struct value *list, const struct value *given)
{
    for (size_t i = 0; list && i < list->n; i++) {
        struct value *c = value_edit_at(a, list, i);
        const struct value *r = value_get(given, value_text(c, "name"));
        if (r && !value_eq(r, value_get(c, STR("resources"))))
            value_put(a, c, STR("resources"), value_clone(a, r));
    }
}

void allocation_apply(struct agent *ag, struct value *pod, struct arena *a)
{
    const struct value *given = allocation_get(ag, pod_uid(pod), a);
    struct value *spec = value_edit(a, pod, STR("spec"));
    if (!given || !spec)
        return;
    apply_list(a, value_edit(a, spec, STR("containers")), given);
    apply_list(a, value_edit(a, spec, STR("initContainers")), given);
}

/* ---- Conditions ---- */

const struct value *resize_conditions(struct agent *ag, struct str uid, struct arena *a)
{
    struct value *v = arena_new(a, struct value);
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    struct str text = p ? arena_str(a, buf_str(&p->resize)) : STR("");
    (void)pthread_mutex_unlock(&ag->lock);
    return text.n && json_read(a, text, NULL, v, NULL) == 0 ? v : NULL;
}

static void keep_conditions(struct agent *ag, struct str uid, const struct value *list)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    if (p) {
        buf_reset(&p->resize);
        json_write(&p->resize, list);
    }
    (void)pthread_mutex_unlock(&ag->lock);
}

static const struct value *condition_in(const struct value *list, struct str type)
{
    value_each_item (c, list)
        if (str_eq(value_text(c, "type"), type))
            return c;
    return NULL;
}

/* True: it says something new. */
static bool set_condition(struct agent *ag, const struct value *pod, struct str type,
                          struct str reason, struct str message, struct arena *a)
{
    const struct value *had = resize_conditions(ag, pod_uid(pod), a);
    const struct value *was = condition_in(had, type);
    if (was && str_eq(value_text(was, "reason"), reason) &&
        str_eq(value_text(was, "message"), message))
        return false;
    struct value list = had ? value_clone(a, had) : value_array();
    struct value c = condition_new(a, pod, type, STR("True"), reason, message);
    struct str now = status_time(a, agent_wall_ns());
    value_put(a, &c, STR("lastProbeTime"), value_string(now));
    value_put(a, &c, STR("lastTransitionTime"), value_string(now));
    condition_put(a, &list, c);
    keep_conditions(ag, pod_uid(pod), &list);
    return true;
}

static bool clear_condition(struct agent *ag, struct str uid, struct str type, struct arena *a,
                            int64_t *ret_generation)
{
    const struct value *had = resize_conditions(ag, uid, a);
    const struct value *was = condition_in(had, type);
    struct value list = value_array();
    if (!was)
        return false;
    *ret_generation = 0;
    (void)value_to_int(value_get(was, STR("observedGeneration")), ret_generation);
    value_each_item (c, had)
        if (c != was)
            value_put_item(a, &list, value_clone(a, c));
    keep_conditions(ag, uid, &list);
    return true;
}

/* ---- Events ---- */

static struct value summary_list(struct arena *a, const struct value *list)
{
    struct value all = value_array();
    value_each_item (c, list) {
        struct value one = value_object();
        const struct value *r = value_get(c, STR("resources"));
        value_put_new(a, &one, STR("name"), value_string(value_text(c, "name")));
        value_put_new(a, &one, STR("resources"), r ? value_clone(a, r) : value_object());
        value_put_item(a, &all, one);
    }
    return all;
}

static void tell_resize(struct agent *ag, const struct value *pod, enum spn_severity severity,
                        const char *reason, const char *what, int64_t generation, struct str error,
                        struct arena *a)
{
    struct value s = value_object(), init = summary_list(a, pod_init_containers(pod));
    if (init.n)
        value_put_new(a, &s, STR("initContainers"), init);
    value_put_new(a, &s, STR("containers"), summary_list(a, pod_containers(pod)));
    value_put_new(a, &s, STR("generation"), value_int(generation));
    if (error.n)
        value_put_new(a, &s, STR("error"), value_string(error));
    autobuf text = { 0 };
    json_write(&text, &s);
    tell_pod(ag, pod, severity, reason, "Pod resize %s: " STR_FMT, what, STR_ARG(buf_str(&text)));
}

static int64_t generation_of(const struct value *pod)
{
    int64_t n = 0;
    (void)value_to_int(value_dig(pod, "metadata", "generation"), &n);
    return n;
}

/* ---- Deciding ---- */

static bool list_differs(const struct value *wanted, const struct value *given)
{
    value_each_item (c, wanted) {
        bool cpu, memory;
        const struct value *other = list_named(given, value_text(c, "name"));
        plan_compare_resources(value_get(c, STR("resources")), value_get(other, STR("resources")),
                               &cpu, &memory);
        if (cpu || memory)
            return true;
    }
    return false;
}

/* The pod as the API wants it. */
static const struct value *wanted_of(struct agent *ag, struct str uid, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    struct spn_object *o = p && p->obj && !p->is_static ? spn_object_ref(p->obj) : NULL;
    (void)pthread_mutex_unlock(&ag->lock);
    const struct value *v = o ? value_in(spn_object_value(o, arena_out(a))) : NULL;
    spn_object_unref(o);
    return v;
}

/* More than the node has at all will never fit. */
static bool is_infeasible(struct agent *ag, const struct value *wanted, struct arena *a,
                          struct str *ret_message)
{
    static const char *const names[] = { "cpu", "memory" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool milli = i == 0;
        int64_t asked = 0, there = 0;
        struct str sum = pod_resources_sum(a, pod_spec(wanted), STR("requests"), str_of(names[i]));
        struct str have = value_str(value_get(&ag->parts.node->allocatable, str_of(names[i])));
        if (!sum.n || !have.n || !quantity_units(sum, milli, &asked) ||
            !quantity_units(have, milli, &there) || asked <= there)
            continue;
        *ret_message = arena_printf(a,
                                    "Node didn't have enough capacity: %s, requested: %lld, "
                                    "capacity: %lld",
                                    names[i], (long long)asked, (long long)there);
        return true;
    }
    return false;
}

static void pend(struct agent *ag, const struct value *wanted, const char *reason,
                 struct str message, struct arena *a)
{
    if (!set_condition(ag, wanted, STR("PodResizePending"), str_of(reason), message, a))
        return;
    bool never = str_eq(str_of(reason), STR("Infeasible"));
    tell_resize(ag, wanted, SPN_WARNING, never ? "ResizeInfeasible" : "ResizeDeferred", reason,
                generation_of(wanted), message, a);
}

static bool accept(struct agent *ag, const struct value *wanted, struct arena *a)
{
    int64_t ignored;
    struct str uid = pod_uid(wanted);
    if (!allocation_put(ag, wanted, a))
        return false;
    (void)clear_condition(ag, uid, STR("PodResizePending"), a, &ignored);
    (void)clear_condition(ag, uid, STR("PodResizeInProgress"), a, &ignored);
    (void)set_condition(ag, wanted, STR("PodResizeInProgress"), STR(""), STR(""), a);
    tell_resize(ag, wanted, SPN_NORMAL, "ResizeStarted", "started", generation_of(wanted), STR(""),
                a);
    return true;
}

bool resize_consider(struct agent *ag, const struct value *pod, const struct value *node,
                     struct arena *a)
{
    struct str uid = pod_uid(pod), reason, message;
    const struct value *wanted = wanted_of(ag, uid, a);
    int64_t ignored;
    size_t n;
    bool is_accepted = false;
    if (!wanted)
        return false;
    if (!list_differs(pod_containers(wanted), pod_containers(pod)) &&
        !list_differs(pod_init_containers(wanted), pod_init_containers(pod))) {
        (void)clear_condition(ag, uid, STR("PodResizePending"), a, &ignored);
        return false;
    }
    (void)pthread_mutex_lock(&ag->admit_lock);
    const struct value **others = pods_active(ag, uid, a, &n);
    if (is_infeasible(ag, wanted, a, &message))
        pend(ag, wanted, "Infeasible", message, a);
    else if (!pod_is_admitted(ag->parts.node, node, wanted, others, n, a, &reason, &message))
        pend(ag, wanted, "Deferred", message, a);
    else
        is_accepted = accept(ag, wanted, a);
    (void)pthread_mutex_unlock(&ag->admit_lock);
    return is_accepted;
}

/* ---- Doing ---- */

static bool is_in_progress(const struct runtime_pod *have, const struct value *list,
                           const struct value *actuated)
{
    value_each_item (c, list) {
        bool cpu, memory;
        struct str name = value_text(c, "name");
        const struct runtime_container *got = runtime_find(have, name);
        const struct value *given = value_get(actuated, name);
        if (!got || got->state != CONTAINER_RUNNING || !given)
            continue;
        plan_compare_resources(value_get(c, STR("resources")), given, &cpu, &memory);
        if (cpu || memory)
            return true;
    }
    return false;
}

void resize_note(struct agent *ag, const struct value *pod, const struct runtime_pod *have,
                 struct arena *a)
{
    const struct value *actuated = actuated_get(ag, pod_uid(pod), a);
    int64_t generation;
    if (!actuated)
        return;
    if (is_in_progress(have, pod_containers(pod), actuated) ||
        is_in_progress(have, pod_init_containers(pod), actuated)) {
        if (!condition_in(resize_conditions(ag, pod_uid(pod), a), STR("PodResizeInProgress")))
            (void)set_condition(ag, pod, STR("PodResizeInProgress"), STR(""), STR(""), a);
    } else if (clear_condition(ag, pod_uid(pod), STR("PodResizeInProgress"), a, &generation)) {
        tell_resize(ag, pod, SPN_NORMAL, "ResizeCompleted", "completed", generation, STR(""), a);
    }
}

static int resize_one(struct agent *ag, const struct value *pod, const struct plan_resize *r,
                      struct arena *a, struct err *err)
{
    struct value req = value_object(), answer;
    value_put_new(a, &req, STR("container_id"), value_string(r->container->id));
    value_put_new(a, &req, STR("linux"), pod_container_resources(a, ag->parts.node, pod, r->spec));
    int done = cri_call(ag->parts.cri, "UpdateContainerResources", &req, 0, a, &answer, err);
    if (done == 0)
        actuated_put(ag, pod, r->spec, a);
    return done;
}

static int resize_all(struct agent *ag, const struct value *pod, const struct plan *plan,
                      struct arena *a, struct err *err)
{
    struct str parent;
    bool has_group = ag->parts.node->cgroups_per_qos;
    if (has_group) /* wide enough for what grows; to be narrower must wait for the containers */
        (void)pod_cgroup_make(ag->parts.node, pod, a, &parent, NULL);
    for (size_t i = 0; i < plan->n_resizes; i++) {
        int r = resize_one(ag, pod, &plan->resizes[i], a, err);
        if (r < 0)
            return r;
    }
    return has_group ? pod_cgroup_make(ag->parts.node, pod, a, &parent, err) : 0;
}

int resize_do(struct agent *ag, const struct value *pod, const struct plan *plan, struct arena *a,
              struct err *err)
{
    int r = resize_all(ag, pod, plan, a, err);
    if (r < 0 && set_condition(ag, pod, STR("PodResizeInProgress"), STR("Error"), err->msg, a))
        tell_resize(ag, pod, SPN_WARNING, "ResizeError", "error", generation_of(pod), err->msg, a);
    return r;
}
