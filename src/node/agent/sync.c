/* sync.c - makes the runtime have what a pod wants: volumes, sandbox, containers, in upstream's
 * order. */
#include <errno.h>
#include <sys/stat.h>

#include "base/log.h"
#include "node/agent/agent_internal.h"
#include "node/pod/pod_cgroups.h"
#include "base/banned.h"

enum { SANDBOX_MS = 240000 };

struct syncer {
    struct agent *ag;
    struct arena *a;
    const struct value *pod;
    struct runtime_pod *have;
    struct plan plan;
    struct sync_place at;
    struct str sandbox_id;
    struct sync_result r;
};

/* ---- Before: groups and volumes ---- */

static bool make_group(struct syncer *s)
{
    struct agent *ag = s->ag;
    struct err err = ERR_INIT(s->a);
    const struct node_facts *node = ag->parts.node;
    if (!node->cgroups_per_qos)
        return true;
    s->at.place.cgroup_parent = pod_cgroup_name(node, s->pod, s->a);
    if (runtime_is_running(s->have))
        return true;
    size_t n;
    const struct value **others = pods_active(ag, STR(""), s->a, &n);
    if (pod_cgroups_sync(node, others, n, s->a, &err) < 0)
        log_warn("the groups of classes could not be set", LOG_ERR(&err));
    err_clear(&err);
    if (pod_cgroup_make(node, s->pod, s->a, &s->at.place.cgroup_parent, &err) == 0)
        return true;
    tell_pod(ag, s->pod, SPN_WARNING, "FailedCreatePodContainer",
             "unable to ensure pod container exists: " STR_FMT, STR_ARG(err.msg));
    return false;
}

/* The pauses between attempts double, as upstream's do. */
static void pause_mounts(struct syncer *s)
{
    int64_t now = agent_mono_ns();
    struct str uid = pod_uid(s->pod);
    back_off_next(s->ag->mounts, uid, now, now);
    s->r.retry_ms = back_off_ms(s->ag->mounts, uid);
}

static bool make_volumes(struct syncer *s)
{
    struct err err = ERR_INIT(s->a);
    struct pod_volume *all = NULL;
    size_t n = 0;
    int r = volumes_make(s->ag->parts.volumes, s->pod, s->a, &all, &n, &err);
    s->at.place.volumes = s->at.volumes = all;
    s->at.place.n_volumes = n;
    if (r == 0) {
        back_off_forget(s->ag->mounts, pod_uid(s->pod));
        return true;
    }
    for (const struct err_cause *c = err.causes; c; c = c->next)
        tell_pod(s->ag, s->pod, SPN_WARNING, "FailedMount", STR_FMT, STR_ARG(c->msg));
    pause_mounts(s);
    return runtime_is_running(s->have) && all;
}

static void warn(void *arg, const char *reason, struct str message)
{
    const struct syncer *s = arg;
    tell_pod(s->ag, s->pod, SPN_WARNING, reason, STR_FMT, STR_ARG(message));
}

static bool prepare(struct syncer *s)
{
    s->at.place.warn = warn;
    s->at.place.warn_arg = s;
    s->at.place.node = s->ag->parts.node;
    s->at.place.objects = s->ag->parts.objects;
    s->at.place.pod = s->pod;
    s->at.place.pod_ips = s->have->ips;
    s->at.place.n_pod_ips = s->have->n_ips;
    if (!make_group(s) || !make_volumes(s)) {
        s->r.has_failed = true;
        return false;
    }
    probes_add(s->ag, s->pod);
    return true;
}

/* ---- The sandbox ---- */

static bool fail_sandbox(struct syncer *s, const char *reason, const char *what, struct str why)
{
    tell_pod(s->ag, s->pod, SPN_WARNING, reason, "%s: " STR_FMT, what, STR_ARG(why));
    s->r.has_failed = true;
    return false;
}

static void make_log_folder(struct syncer *s)
{
    const char *path = str_cstr(s->a, pod_log_folder(s->a, s->ag->parts.node, s->pod));
    (void)mkdir(str_cstr(s->a, s->ag->parts.node->log_dir), 0755);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        log_warn("a folder for logs cannot be made", LOG_CSTR("path", path));
}

/* The runtime's name of what the pod's RuntimeClass asks for. False: there is no such class. */
static bool runtime_handler(struct syncer *s, struct str *ret, struct err *err)
{
    struct str class = value_text(pod_spec(s->pod), "runtimeClassName");
    const struct pod_objects *o = s->ag->parts.objects;
    struct value got;
    *ret = STR("");
    if (!class.n)
        return true;
    if (o->get(o->arg, "runtimeclasses", STR(""), class, s->a, &got, err) < 0)
        return false;
    *ret = value_text(&got, "handler");
    return true;
}

static bool make_config(struct syncer *s, uint32_t attempt, struct err *err)
{
    if (s->at.has_config)
        return true;
    if (pod_sandbox_config(&s->at.place, attempt, s->a, &s->at.sandbox_config, err) < 0)
        return false;
    s->at.has_config = true;
    return true;
}

/* What the runtime has given it: its addresses. */
static bool read_sandbox(struct syncer *s, struct err *err)
{
    struct runtime_pod now;
    if (runtime_read(s->ag->parts.cri, pod_uid(s->pod), s->a, &now, err) < 0)
        return false;
    if (pod_is_host_network(s->pod))
        return true;
    s->have->ips = now.ips;
    s->have->n_ips = now.n_ips;
    s->at.place.pod_ips = now.ips;
    s->at.place.n_pod_ips = now.n_ips;
    return true;
}

static bool create_sandbox(struct syncer *s)
{
    struct err err = ERR_INIT(s->a);
    struct value req = value_object(), answer;
    struct str handler;
    make_log_folder(s);
    if (!make_config(s, s->plan.attempt, &err) || !runtime_handler(s, &handler, &err))
        return fail_sandbox(s, "FailedCreatePodSandBox", "Failed to create pod sandbox", err.msg);
    value_put_new(s->a, &req, STR("config"), value_borrow(&s->at.sandbox_config));
    if (handler.n)
        value_put_new(s->a, &req, STR("runtime_handler"), value_string(handler));
    if (cri_call(s->ag->parts.cri, "RunPodSandbox", &req, SANDBOX_MS, s->a, &answer, &err) < 0)
        return fail_sandbox(s, "FailedCreatePodSandBox", "Failed to create pod sandbox", err.msg);
    s->r.has_acted = true;
    s->sandbox_id = value_text(&answer, "pod_sandbox_id");
    if (!read_sandbox(s, &err))
        return fail_sandbox(s, "FailedPodSandBoxStatus", "Unable to get pod sandbox status",
                            err.msg);
    status_note_condition(s->ag, s->pod, STR("PodReadyToStartContainers"), s->a);
    return true;
}

/* ---- Ending ---- */

static bool end_all(struct syncer *s)
{
    struct err err = ERR_INIT(s->a);
    if (!s->have->n_sandboxes && !s->have->n_containers)
        return true;
    s->r.has_acted |= runtime_is_running(s->have);
    if (kill_pod(s->ag, s->pod, s->have, -1, s->a, &err) == 0)
        return true;
    s->r.has_failed = true;
    return false;
}

/* Init containers begin anew in a new sandbox. */
static void remove_init(struct syncer *s, bool all)
{
    value_each_item (spec, pod_init_containers(s->pod)) {
        size_t seen = 0;
        for (size_t i = 0; i < s->have->n_containers; i++) {
            const struct runtime_container *c = &s->have->containers[i];
            struct err err = ERR_INIT(s->a);
            bool is_over = c->state == CONTAINER_EXITED || c->state == CONTAINER_UNKNOWN;
            if (!str_eq(c->name, value_text(spec, "name")) || (!all && !is_over))
                continue;
            if ((seen++ || all) && remove_container(s->ag, c, false, s->a, &err) < 0)
                log_warn("an init container could not be removed", LOG_ERR(&err));
        }
    }
}

static bool end_some(struct syncer *s)
{
    for (size_t i = 0; i < s->plan.n_kills; i++) {
        const struct plan_kill *k = &s->plan.kills[i];
        struct err err = ERR_INIT(s->a);
        s->r.has_acted = true;
        if (kill_container(s->ag, s->pod, k->container, k->message, k->reason, -1, &err) < 0) {
            s->r.has_failed = true;
            return false;
        }
    }
    for (size_t i = 0; i < s->plan.n_resets; i++) {
        const struct runtime_container *c = s->plan.resets[i];
        struct err err = ERR_INIT(s->a);
        s->r.has_acted = true;
        bool must_end = c->state != CONTAINER_EXITED;
        if ((must_end &&
             kill_container(s->ag, s->pod, c, STR("killing"), KILL_OTHER, 0, &err) < 0) ||
            remove_container(s->ag, c, true, s->a, &err) < 0) {
            s->r.has_failed = true;
            return false;
        }
    }
    return true;
}

/* ---- Starting ---- */

/* A container that ends again and again is started after a pause. */
static bool is_backing_off(struct syncer *s, const struct value *spec, struct start_failure *ret)
{
    const struct runtime_container *last = NULL;
    struct str name = value_text(spec, "name");
    for (size_t i = 0; i < s->have->n_containers && !last; i++)
        if (s->have->containers[i].state == CONTAINER_EXITED &&
            str_eq(s->have->containers[i].name, name))
            last = &s->have->containers[i];
    if (!last)
        return false;
    int64_t now = agent_wall_ns();
    struct str key = arena_printf(s->a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(pod_uid(s->pod)),
                                  STR_ARG(name), STR_ARG(pod_container_hash(s->a, spec)));
    if (!back_off_is_waiting(s->ag->restarts, key, last->finished_ns, now)) {
        back_off_next(s->ag->restarts, key, last->finished_ns, now);
        return false;
    }
    int64_t ms = back_off_ms(s->ag->restarts, key);
    struct str pod = pod_text(s->a, s->pod), pause = go_duration(s->a, ms);
    tell_container(s->ag, s->pod, name, SPN_WARNING, "BackOff",
                   "Back-off restarting failed container " STR_FMT " in pod " STR_FMT,
                   STR_ARG(name), STR_ARG(pod));
    ret->reason = STR("CrashLoopBackOff");
    ret->message = arena_printf(
        s->a, "back-off " STR_FMT " restarting failed container=" STR_FMT " pod=" STR_FMT,
        STR_ARG(pause), STR_ARG(name), STR_ARG(pod));
    ret->retry_ms = (last->finished_ns - now) / 1000000 + ms;
    return true;
}

static void note_failure(struct syncer *s, struct str name, const struct start_failure *f)
{
    if (!f->reason.n) {
        worker_note_reason(s->ag, pod_uid(s->pod), name, STR(""), STR(""));
        return;
    }
    s->r.has_failed = true;
    worker_note_reason(s->ag, pod_uid(s->pod), name, f->reason, f->message);
    if (f->retry_ms > 0 && (!s->r.retry_ms || f->retry_ms < s->r.retry_ms))
        s->r.retry_ms = f->retry_ms;
}

/* Images that are volumes, once for all containers. Those that cannot be had keep containers that
 * mount them from starting. */
static void ensure_volume_images(struct syncer *s)
{
    if (s->at.has_images)
        return;
    s->at.has_images = true;
    s->at.volume_failures = arena_array(s->a, struct start_failure, s->at.place.n_volumes + 1);
    for (size_t i = 0; i < s->at.place.n_volumes; i++) {
        struct pod_volume *v = &s->at.volumes[i];
        const struct value *spec = list_named(value_dig(s->pod, "spec", "volumes"), v->name);
        const struct value *image = value_get(spec, STR("image"));
        struct value status = value_object();
        struct str ref = STR("");
        if (image && image_ensure(s->ag, s->pod, STR(""), value_text(image, "reference"),
                                  value_text(image, "pullPolicy"), &s->at.sandbox_config, s->a,
                                  &ref, &status, &s->at.volume_failures[i]))
            v->image = ref;
    }
}

static bool start_one(struct syncer *s, const struct value *spec)
{
    struct start_failure f = { 0 };
    struct err err = ERR_INIT(s->a);
    struct str name = value_text(spec, "name");
    if (!make_config(s, s->plan.attempt, &err)) {
        log_warn("a sandbox's configuration cannot be made", LOG_ERR(&err));
        s->r.has_failed = true;
        return false;
    }
    bool started = false;
    ensure_volume_images(s);
    if (!is_backing_off(s, spec, &f)) {
        started = start_container(s->ag, &s->at, spec, s->have, s->sandbox_id, s->a, &f);
        s->r.has_acted |= started || f.has_made;
    }
    note_failure(s, name, &f);
    return started;
}

static void start_all(struct syncer *s)
{
    const struct plan *p = &s->plan;
    for (size_t i = 0; i < p->ephemeral.n; i++)
        (void)start_one(s, value_at(pod_ephemeral_containers(s->pod), p->ephemeral.at[i]));
    for (size_t i = 0; i < p->init.n; i++) {
        const struct value *spec = value_at(pod_init_containers(s->pod), p->init.at[i]);
        if (!start_one(s, spec) && !container_is_sidecar(spec))
            return;
    }
    for (size_t i = 0; i < p->main.n; i++)
        (void)start_one(s, value_at(pod_containers(s->pod), p->main.at[i]));
}

/* ---- All of it ---- */

static void act(struct syncer *s)
{
    struct err err = ERR_INIT(s->a);
    if (s->plan.create_sandbox && s->plan.sandbox_id.n)
        tell_pod(s->ag, s->pod, SPN_NORMAL, "SandboxChanged",
                 "Pod sandbox changed, it will be killed and re-created.");
    if (s->plan.kill_pod) {
        if (!end_all(s))
            return;
        if (s->plan.create_sandbox)
            remove_init(s, true);
    } else if (!end_some(s)) {
        return;
    }
    if (!s->plan.create_sandbox || !s->plan.kill_pod)
        remove_init(s, false);
    s->sandbox_id = s->plan.sandbox_id;
    if (s->plan.create_sandbox && !create_sandbox(s))
        return;
    if ((s->plan.n_resizes || s->plan.resizes_pod) &&
        resize_do(s->ag, s->pod, &s->plan, s->a, &err) < 0)
        s->r.has_failed = true;
    s->r.has_acted |= s->plan.n_resizes;
    start_all(s);
}

struct sync_result sync_pod(struct agent *ag, const struct value *pod, struct runtime_pod *have,
                            bool restarts_all, struct arena *a)
{
    struct syncer s = { .ag = ag, .a = a, .pod = pod, .have = have };
    if (!prepare(&s))
        return s.r;
    const struct plan_input in = {
        .pod = pod,
        .have = have,
        .restarts_all = restarts_all,
        .probe = probes_result,
        .arg = ag,
        .actuated = actuated_get(ag, pod_uid(pod), a),
    };
    s.plan = plan_make(a, &in);
    act(&s);
    return s.r;
}
