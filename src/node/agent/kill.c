/* kill.c - ending containers: preStop hooks, signals, grace periods, and who goes first. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { LEAST_GRACE = 2, STOP_MORE_MS = 120000, STOP_SANDBOX_MS = 120000 };

/* Sidecars wait until all main containers have ended, and for the sidecars behind them. */
struct kill_order {
    pthread_mutex_t lock; /* of `left` */
    pthread_cond_t less;
    const struct value *pod;
    struct str *left; /* names of containers that have not ended; empty: has */
    size_t n;
};

/* ---- One container ---- */

/* A pod and a container as far as labels tell, for pods that no source has. */
struct remains {
    struct value pod, spec;
};

static void number_from(struct arena *a, const struct value *notes, const char *note,
                        struct value *to, const char *key)
{
    int64_t n;
    if (str_to_i64(value_str(value_get(notes, str_of(note))), &n))
        value_put(a, to, str_of(key), value_int(n));
}

static void remains_of(struct arena *a, const struct runtime_container *c, struct remains *ret)
{
    const struct value *notes = value_get(c->tree, STR("annotations"));
    const struct value *labels = value_get(c->tree, STR("labels"));
    struct value meta = value_object(), spec = value_object();
    value_put_new(a, &meta, STR("name"),
                  value_string(value_text(labels, "io.kubernetes.pod.name")));
    value_put_new(a, &meta, STR("namespace"),
                  value_string(value_text(labels, "io.kubernetes.pod.namespace")));
    value_put_new(a, &meta, STR("uid"), value_string(value_text(labels, "io.kubernetes.pod.uid")));
    number_from(a, notes, "io.kubernetes.pod.deletionGracePeriod", &meta,
                "deletionGracePeriodSeconds");
    number_from(a, notes, "io.kubernetes.pod.terminationGracePeriod", &spec,
                "terminationGracePeriodSeconds");
    ret->pod = value_object();
    value_put_new(a, &ret->pod, STR("metadata"), meta);
    value_put_new(a, &ret->pod, STR("spec"), spec);
    ret->spec = value_object();
    value_put_new(a, &ret->spec, STR("name"), value_string(c->name));
    struct value hook;
    struct str text = value_text(notes, "io.kubernetes.container.preStopHandler");
    if (text.n && json_read(a, text, NULL, &hook, NULL) == 0) {
        struct value life = value_object();
        value_put_new(a, &life, STR("preStop"), hook);
        value_put_new(a, &ret->spec, STR("lifecycle"), life);
    }
}

static bool seconds_at(const struct value *v, int64_t *ret)
{
    return value_to_int(v, ret);
}

static int64_t grace_of(const struct value *pod, const struct value *spec, enum kill_reason reason)
{
    int64_t n;
    if (seconds_at(value_dig(pod, "metadata", "deletionGracePeriodSeconds"), &n))
        return n;
    if (!seconds_at(value_dig(pod, "spec", "terminationGracePeriodSeconds"), &n))
        return LEAST_GRACE;
    int64_t own;
    const char *probe = reason == KILL_STARTUP_PROBE ? "startupProbe" : "livenessProbe";
    if (reason != KILL_OTHER &&
        seconds_at(value_dig(spec, probe, "terminationGracePeriodSeconds"), &own))
        return own;
    return n;
}

/* How many whole seconds it took. */
static int64_t run_pre_stop(struct agent *ag, const struct value *pod, const struct value *spec,
                            struct str id, int64_t grace, struct arena *a)
{
    struct err err = ERR_INIT(a);
    int64_t start = agent_mono_ns();
    const struct value *hook = value_dig(spec, "lifecycle", "preStop");
    if (hook_run(ag, pod, spec, id, hook, grace * 1000, a, &err) < 0) {
        log_info("a preStop hook has failed", LOG_STR("pod", pod_name(pod)), LOG_ERR(&err));
        tell_container(ag, pod, value_text(spec, "name"), SPN_WARNING, "FailedPreStopHook",
                       "PreStopHook failed");
    }
    return (agent_mono_ns() - start) / NS_PER_SEC;
}

static bool waits_for(const struct kill_order *o, struct str name, struct str other)
{
    const struct value *init = pod_init_containers(o->pod);
    if (!container_is_sidecar(list_named(init, name)))
        return false;
    if (list_named(pod_containers(o->pod), other))
        return true;
    bool is_behind = false;
    value_each_item (c, init) {
        if (str_eq(value_text(c, "name"), other))
            return is_behind && container_is_sidecar(c);
        is_behind |= str_eq(value_text(c, "name"), name);
    }
    return false;
}

static bool must_wait(const struct kill_order *o, struct str name)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->left[i].n && !str_eq(o->left[i], name) && waits_for(o, name, o->left[i]))
            return true;
    return false;
}

/* Waits for its turn, at most so long; how many whole seconds that took. */
static int64_t wait_for_turn(struct kill_order *o, struct str name, int64_t grace)
{
    int64_t start = agent_mono_ns();
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += grace;
    (void)pthread_mutex_lock(&o->lock);
    for (int r = 0; r == 0 && must_wait(o, name);)
        r = pthread_cond_timedwait(&o->less, &o->lock, &until);
    (void)pthread_mutex_unlock(&o->lock);
    return (agent_mono_ns() - start) / NS_PER_SEC;
}

static void note_ended(struct kill_order *o, struct str name)
{
    (void)pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(o->left[i], name))
            o->left[i] = STR("");
    (void)pthread_cond_broadcast(&o->less);
    (void)pthread_mutex_unlock(&o->lock);
}

static int stop_container(struct agent *ag, struct str id, int64_t grace, struct arena *a,
                          struct err *err)
{
    struct value req = value_object(), answer;
    value_put_new(a, &req, STR("container_id"), value_string(id));
    value_put_new(a, &req, STR("timeout"), value_int(grace));
    int r = cri_call(ag->parts.cri, "StopContainer", &req, grace * 1000 + STOP_MORE_MS, a, &answer,
                     err);
    return r == -ERR_NOT_FOUND ? 0 : r;
}

static int end_one(struct agent *ag, const struct value *pod, const struct runtime_container *c,
                   struct str message, enum kill_reason reason, int64_t grace,
                   struct kill_order *order, struct arena *a, struct err *err)
{
    struct remains rest;
    const struct value *spec = pod ? pod_container(pod, c->name, NULL) : NULL;
    if (!spec) {
        remains_of(a, c, &rest);
        pod = &rest.pod;
        spec = &rest.spec;
    }
    if (!message.n)
        message = arena_printf(a, "Stopping container " STR_FMT, STR_ARG(c->name));
    tell_container(ag, pod, c->name, SPN_NORMAL, "Killing", STR_FMT, STR_ARG(message));
    if (grace < 0)
        grace = grace_of(pod, spec, reason);
    if (grace > 0 && value_dig(spec, "lifecycle", "preStop"))
        grace -= run_pre_stop(ag, pod, spec, c->id, grace, a);
    if (grace > 0 && order)
        grace -= wait_for_turn(order, c->name, grace);
    return stop_container(ag, c->id, grace < LEAST_GRACE ? LEAST_GRACE : grace, a, err);
}

int kill_container(struct agent *ag, const struct value *pod, const struct runtime_container *c,
                   struct str message, enum kill_reason reason, int64_t grace, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = end_one(ag, pod, c, message, reason, grace, NULL, &a, &why);
    if (r < 0)
        r = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

/* ---- All containers of a pod ---- */

struct ending {
    struct agent *ag;
    const struct value *pod;
    const struct runtime_container *c;
    int64_t grace;
    struct kill_order *order;
    struct arena arena;
    struct err err;
    int r;
};

static void end_in_crew(void *arg)
{
    struct ending *e = arg;
    e->r =
        end_one(e->ag, e->pod, e->c, STR(""), KILL_OTHER, e->grace, e->order, &e->arena, &e->err);
    if (e->order)
        note_ended(e->order, e->c->name);
}

static bool is_alive(const struct runtime_container *c)
{
    return c->state == CONTAINER_RUNNING || c->state == CONTAINER_UNKNOWN;
}

static int end_containers(struct agent *ag, const struct value *pod, const struct runtime_pod *have,
                          int64_t grace, struct arena *a, struct err *err)
{
    struct kill_order order = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                .less = PTHREAD_COND_INITIALIZER,
                                .pod = pod };
    struct ending *all = arena_array(a, struct ending, have->n_containers + 1);
    order.left = arena_array(a, struct str, have->n_containers + 1);
    for (size_t i = 0; i < have->n_containers; i++) {
        if (!is_alive(&have->containers[i]))
            continue;
        struct ending *e = &all[order.n];
        *e = (struct ending){ .ag = ag, .pod = pod, .c = &have->containers[i], .grace = grace };
        order.left[order.n++] = e->c->name;
        arena_init(&e->arena);
        e->err = ERR_INIT(&e->arena);
        e->order = pod && pod_has_sidecar(pod) ? &order : NULL;
    }
    struct crew_group *group = crew_group_new(ag->crew);
    for (size_t i = 1; i < order.n; i++)
        crew_group_do(group, end_in_crew, &all[i]);
    if (order.n)
        end_in_crew(&all[0]);
    (void)crew_group_wait(group);
    int r = 0;
    for (size_t i = 0; i < order.n; i++) {
        if (all[i].r < 0)
            r = err_set(err, all[i].err.code,
                        "failed to \"KillContainer\" for \"" STR_FMT
                        "\" with KillContainerError: \"" STR_FMT "\"",
                        STR_ARG(all[i].c->name), STR_ARG(all[i].err.msg));
        arena_done(&all[i].arena);
    }
    return r;
}

int kill_pod(struct agent *ag, const struct value *pod, const struct runtime_pod *have,
             int64_t grace, struct arena *a, struct err *err)
{
    int r = end_containers(ag, pod, have, grace, a, err);
    for (size_t i = 0; i < have->n_sandboxes; i++) {
        struct value req = value_object(), answer;
        struct err why = ERR_INIT(a);
        value_put_new(a, &req, STR("pod_sandbox_id"), value_string(have->sandboxes[i].id));
        int one =
            cri_call(ag->parts.cri, "StopPodSandbox", &req, STOP_SANDBOX_MS, a, &answer, &why);
        if (one < 0 && one != -ERR_NOT_FOUND)
            r = err_set(err, why.code,
                        "failed to \"KillPodSandbox\" for \"" STR_FMT
                        "\" with KillPodSandboxError: \"" STR_FMT "\"",
                        STR_ARG(have->uid), STR_ARG(why.msg));
    }
    return r;
}

int remove_container(struct agent *ag, const struct runtime_container *c, bool keep_log,
                     struct arena *a, struct err *err)
{
    struct value req = value_object(), answer;
    if (!keep_log && c->log_path.n)
        (void)unlink(str_cstr(a, c->log_path));
    value_put_new(a, &req, STR("container_id"), value_string(c->id));
    int r = cri_call(ag->parts.cri, "RemoveContainer", &req, 0, a, &answer, err);
    return r == -ERR_NOT_FOUND ? 0 : r;
}
