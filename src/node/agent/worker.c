/* worker.c - the life of one pod, a turn at a time: it runs, is terminating, is terminated. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/agent/objects.h"
#include "node/pod/pod_cgroups.h"
#include "base/banned.h"

enum { RETRY_MS = 10000, SOON_MS = 1000, MOMENT_MS = 500 };

/* A pod at its turn. */
struct turn {
    struct agent *ag;
    struct arena *a;
    struct str uid;
    const struct value *pod; /* NULL: only the runtime knows it */
    enum pod_stage stage;
    bool is_removed, is_static, is_admitted, is_disrupted;
    bool is_too_old; /* it is evicted because its deadline is over */
    struct str evict_reason, evict_message;
    int64_t evict_grace;
    struct runtime_pod have;
};

static const struct value *read_tree(struct arena *a, struct str json)
{
    struct value *v = arena_new(a, struct value);
    if (!json.n || json_read(a, arena_str(a, json), NULL, v, NULL) < 0)
        return NULL;
    return v;
}

/* ---- Reasons ---- */

static const struct value *reasons_of(struct agent *ag, struct str uid, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    const struct value *v = p ? read_tree(a, buf_str(&p->reasons)) : NULL;
    (void)pthread_mutex_unlock(&ag->lock);
    return v;
}

void worker_note_reason(struct agent *ag, struct str uid, struct str container, struct str reason,
                        struct str message)
{
    struct arena a;
    arena_init(&a);
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    const struct value *had = p ? read_tree(&a, buf_str(&p->reasons)) : NULL;
    struct value all = had ? value_clone(&a, had) : value_object();
    if (reason.n) {
        struct value why = value_object();
        value_put_new(&a, &why, STR("reason"), value_string(reason));
        value_put_new(&a, &why, STR("message"), value_string(message));
        value_put(&a, &all, container, why);
    } else {
        value_drop(&a, &all, container);
    }
    if (p) {
        buf_reset(&p->reasons);
        json_write(&p->reasons, &all);
    }
    (void)pthread_mutex_unlock(&ag->lock);
    arena_done(&a);
}

/* ---- Status ---- */

static bool has_probe(void *arg, enum probe_kind kind, struct str container)
{
    const struct turn *t = arg;
    return probes_has(t->ag, t->uid, kind, container);
}

static enum probe_result probe_of(void *arg, enum probe_kind kind, struct str id)
{
    const struct turn *t = arg;
    return probes_result(t->ag, kind, id);
}

static void add_disruption(struct turn *t, struct value *status)
{
    struct value *conditions = value_edit(t->a, status, STR("conditions"));
    if (!t->is_disrupted || !conditions)
        return;
    condition_put(t->a, conditions,
                  condition_new(t->a, t->pod, STR("DisruptionTarget"), STR("True"),
                                STR("TerminationByKubelet"), t->evict_message));
}

static struct value make_status(struct turn *t, bool is_terminal)
{
    const struct status_input in = {
        .pod = t->pod,
        .old = status_get(t->ag, t->uid, t->a),
        .have = &t->have,
        .node = t->ag->parts.node,
        .scheme = t->ag->scheme,
        .is_terminal = is_terminal,
        .reasons = reasons_of(t->ag, t->uid, t->a),
        .actuated = actuated_get(t->ag, t->uid, t->a),
        .resize = resize_conditions(t->ag, t->uid, t->a),
        .evict_reason = t->is_too_old ? t->evict_reason : STR(""),
        .evict_message = t->evict_message,
        .agent_start_ns = t->ag->start_ns,
        .probe = probe_of,
        .has_probe = has_probe,
        .arg = t,
    };
    struct value s = status_make(t->a, &in);
    add_disruption(t, &s);
    return s;
}

/* A sandbox that has ended says no addresses; the API is to have the last ones all the same. */
static void keep_addresses(struct turn *t)
{
    const struct value *ips = value_get(status_get(t->ag, t->uid, t->a), STR("podIPs"));
    if (t->have.n_ips || t->have.active.n || !ips)
        return;
    t->have.ips = arena_array(t->a, struct str, ips->n + 1);
    value_each_item (ip, ips)
        t->have.ips[t->have.n_ips++] = value_text(ip, "ip");
}

static void set_stage(struct turn *t, enum pod_stage stage)
{
    t->stage = stage;
    (void)pthread_mutex_lock(&t->ag->lock);
    struct agent_pod *p = pods_find(t->ag, t->uid);
    if (p)
        p->stage = stage;
    (void)pthread_mutex_unlock(&t->ag->lock);
}

/* ---- Admission ---- */

static const struct value *node_object(struct agent *ag, struct arena *a)
{
    struct spn_object *o =
        spn_cache_get(spn_informer_cache(ag->node_informer), text_out(ag->parts.node->name));
    const struct value *v = o ? value_in(spn_object_value(o, arena_out(a))) : NULL;
    spn_object_unref(o);
    return v;
}

static void refuse(struct turn *t, struct str reason, struct str message)
{
    tell_pod(t->ag, t->pod, SPN_WARNING, str_cstr(t->a, reason), STR_FMT, STR_ARG(message));
    struct value s = value_object();
    const struct value *qos = value_dig(t->pod, "status", "qosClass");
    int64_t generation = 0;
    if (value_to_int(value_dig(t->pod, "metadata", "generation"), &generation) && generation)
        value_put_new(t->a, &s, STR("observedGeneration"), value_int(generation));
    value_put_new(t->a, &s, STR("phase"), value_string(STR("Failed")));
    value_put_new(t->a, &s, STR("reason"), value_string(reason));
    value_put_new(t->a, &s, STR("message"),
                  value_string(arena_printf(t->a, "Pod was rejected: " STR_FMT, STR_ARG(message))));
    if (qos)
        value_put_new(t->a, &s, STR("qosClass"), value_clone(t->a, qos));
    set_stage(t, STAGE_TERMINATED); /* it never ran */
    status_set(t->ag, t->pod, &s, true, t->a);
    set_stage(t, STAGE_FINISHED);
}

static void note_admitted(struct turn *t)
{
    (void)pthread_mutex_lock(&t->ag->lock);
    struct agent_pod *p = pods_find(t->ag, t->uid);
    if (p)
        p->is_admitted = true;
    (void)pthread_mutex_unlock(&t->ag->lock);
    t->is_admitted = true;
}

/* Whether the pod may run here. One that did before may. */
static bool admit(struct turn *t)
{
    if (t->is_admitted)
        return true;
    struct agent *ag = t->ag;
    struct str reason, message;
    size_t n = 0;
    (void)pthread_mutex_lock(&ag->admit_lock);
    bool is_known = allocation_get(ag, t->uid, t->a);
    bool is_admitted = true;
    if (!is_known) {
        const struct value **others = pods_active(ag, t->uid, t->a, &n);
        is_admitted = pod_is_admitted(ag->parts.node, node_object(ag, t->a), t->pod, others, n,
                                      t->a, &reason, &message);
    }
    if (is_admitted && !is_known)
        (void)allocation_put(ag, t->pod, t->a);
    if (is_admitted)
        note_admitted(t);
    (void)pthread_mutex_unlock(&ag->admit_lock);
    if (!is_admitted)
        refuse(t, reason, message);
    return is_admitted;
}

/* ---- It runs ---- */

/* Seconds since then until now; negative: the time cannot be read. */
static int64_t seconds_since(struct str time)
{
    struct tm tm = { 0 };
    if (time.n < 19 || !strptime(time.p, "%Y-%m-%dT%H:%M:%S", &tm))
        return -1;
    return agent_wall_ns() / NS_PER_SEC - (int64_t)timegm(&tm);
}

/* activeDeadlineSeconds: it is over, or when to look again. */
static void check_deadline(struct turn *t)
{
    int64_t limit;
    if (!value_to_int(value_dig(t->pod, "spec", "activeDeadlineSeconds"), &limit))
        return;
    const struct value *status = status_get(t->ag, t->uid, t->a);
    struct str start = value_text(status, "startTime");
    if (!start.n)
        start = value_str(value_dig(t->pod, "status", "startTime"));
    int64_t age = start.n ? seconds_since(arena_printf(t->a, STR_FMT, STR_ARG(start))) : -1;
    if (age < 0)
        return;
    if (age < limit) {
        agent_wake_after(t->ag, t->uid, (limit - age) * 1000);
        return;
    }
    t->is_too_old = true;
    t->evict_reason = STR("DeadlineExceeded");
    t->evict_message = STR("Pod was active on the node longer than the specified deadline");
    if (t->stage == STAGE_RUNS)
        tell_pod(t->ag, t->pod, SPN_NORMAL, "DeadlineExceeded", STR_FMT, STR_ARG(t->evict_message));
}

/* The status goes out before anything is done. True: the pod is over. */
static bool write_running_status(struct turn *t, bool *ret_restarts_all)
{
    resize_note(t->ag, t->pod, &t->have, t->a);
    struct value status = make_status(t, false);
    struct value copy = value_clone(t->a, &status);
    status_set(t->ag, t->pod, &status, false, t->a);
    const struct value *c = rules_condition(&copy, STR("AllContainersRestarting"));
    *ret_restarts_all = str_eq(value_text(c, "status"), STR("True"));
    /* Containers of a host's network have its addresses. */
    if (!t->have.n_ips && pod_is_host_network(t->pod)) {
        t->have.n_ips = t->ag->parts.node->n_host_ips;
        t->have.ips = arena_array(t->a, struct str, t->have.n_ips + 1);
        for (size_t i = 0; i < t->have.n_ips; i++)
            t->have.ips[i] = t->ag->parts.node->host_ips[i];
    }
    return phase_is_final(value_text(&copy, "phase"));
}

static void run_again(struct turn *t, const struct sync_result *r)
{
    int64_t ms = agent_jitter(t->ag->opt.sync_ms, 0.5);
    if (r->has_failed) {
        ms = r->retry_ms ? r->retry_ms : RETRY_MS;
        ms = agent_jitter(ms < t->ag->opt.sync_ms ? ms : t->ag->opt.sync_ms, 0.5);
    }
    if (r->has_acted)
        ms = r->has_failed ? SOON_MS : 0;
    agent_wake_after(t->ag, t->uid, ms);
}

static void run_pod(struct turn *t)
{
    if (t->is_static && pods_must_wait(t->ag, t->uid)) {
        agent_wake_after(t->ag, t->uid, SOON_MS);
        return;
    }
    if (!admit(t))
        return;
    if (resize_consider(t->ag, t->pod, node_object(t->ag, t->a), t->a))
        t->pod = pods_value(t->ag, t->uid, t->a);
    bool restarts_all = false;
    if (write_running_status(t, &restarts_all)) {
        set_stage(t, STAGE_TERMINATING);
        agent_wake(t->ag, t->uid);
        return;
    }
    if (t->is_static)
        (void)mirror_reconcile(t->ag, t->pod, t->a);
    struct sync_result r = sync_pod(t->ag, t->pod, &t->have, restarts_all, t->a);
    run_again(t, &r);
}

/* ---- It is terminating ---- */

static int64_t seconds_at(const struct value *v)
{
    int64_t n;
    return value_to_int(v, &n) ? n : -1;
}

/* The shortest that anybody has asked for, at least one second. */
static int64_t grace_of(const struct turn *t)
{
    int64_t deleted = seconds_at(value_dig(t->pod, "metadata", "deletionGracePeriodSeconds"));
    int64_t grace = pod_is_deleting(t->pod) ? deleted : -1;
    if (t->evict_grace >= 0 && (grace < 0 || t->evict_grace < grace))
        grace = t->evict_grace;
    if (grace < 0)
        grace = seconds_at(value_dig(t->pod, "spec", "terminationGracePeriodSeconds"));
    return grace < 1 ? 1 : grace;
}

static void fail_terminating(struct turn *t, const struct err *err)
{
    tell_pod(t->ag, t->pod, SPN_WARNING, "FailedKillPod", "error killing pod: " STR_FMT,
             STR_ARG(err->msg));
    agent_wake_after(t->ag, t->uid, agent_jitter(RETRY_MS, 0.5));
}

/* Who is evicted has failed, whatever its containers say; until they have ended, conditions stay.
 */
static void note_eviction(struct turn *t, struct value *status)
{
    if (!t->evict_reason.n || t->is_too_old)
        return;
    value_put(t->a, status, STR("phase"), value_string(STR("Failed")));
    value_put(t->a, status, STR("reason"), value_string(t->evict_reason));
    value_put(t->a, status, STR("message"), value_string(t->evict_message));
}

static void terminate_pod(struct turn *t)
{
    struct err err = ERR_INIT(t->a);
    struct value status = make_status(t, false);
    note_eviction(t, &status);
    status_set(t->ag, t->pod, &status, false, t->a);
    probes_stop(t->ag, t->uid, true);
    if (kill_pod(t->ag, t->pod, &t->have, grace_of(t), t->a, &err) < 0) {
        fail_terminating(t, &err);
        return;
    }
    probes_stop(t->ag, t->uid, false);
    struct runtime_pod stopped;
    if (runtime_read(t->ag->parts.cri, t->uid, t->a, &stopped, &err) < 0 ||
        runtime_is_running(&stopped)) {
        agent_wake_after(t->ag, t->uid, SOON_MS);
        return;
    }
    t->have = stopped;
    keep_addresses(t);
    struct value last = make_status(t, true);
    status_set(t->ag, t->pod, &last, false, t->a);
    set_stage(t, STAGE_TERMINATED);
    agent_wake(t->ag, t->uid);
}

/* One that no source has: there is no status to write, and nothing to wait for. */
static void terminate_orphan(struct turn *t)
{
    struct err err = ERR_INIT(t->a);
    if (kill_pod(t->ag, NULL, &t->have, 1, t->a, &err) < 0) {
        log_warn("an unknown pod could not be ended", LOG_STR("uid", t->uid), LOG_ERR(&err));
        agent_wake_after(t->ag, t->uid, RETRY_MS);
        return;
    }
    set_stage(t, STAGE_TERMINATED);
    agent_wake(t->ag, t->uid);
}

/* ---- It is terminated ---- */

/* What it has on disk and its groups. False: try again. */
static bool clean_up(struct turn *t)
{
    struct err err = ERR_INIT(t->a);
    if (volumes_remove(t->ag->parts.volumes, t->uid, t->a, &err) < 0 ||
        (t->ag->parts.node->cgroups_per_qos &&
         pod_cgroup_remove(t->ag->parts.node, t->uid, t->a, &err) < 0)) {
        log_warn("a pod's remains could not be removed", LOG_STR("uid", t->uid), LOG_ERR(&err));
        agent_wake_after(t->ag, t->uid, SOON_MS);
        return false;
    }
    return true;
}

static void end_pod(struct turn *t)
{
    if (t->pod) {
        struct value status = make_status(t, true);
        status_set(t->ag, t->pod, &status, false, t->a);
    }
    if (!clean_up(t))
        return;
    if (t->pod) {
        const struct value *cached = status_get(t->ag, t->uid, t->a);
        struct value last = cached ? value_clone(t->a, cached) : value_object();
        status_terminate(t->a, t->pod, &last);
        status_set(t->ag, t->pod, &last, true, t->a);
    }
    set_stage(t, STAGE_FINISHED);
    if (str_eq(t->evict_reason, STR("Evicted")))
        garbage_containers(t->ag, t->uid, t->a); /* what they hold is wanted now */
    back_off_forget(t->ag->restarts, t->uid);
    back_off_forget(t->ag->pulls, t->uid);
    if (t->is_removed)
        agent_wake(t->ag, t->uid);
}

/* Nobody has it any more and nothing is left to do: it is forgotten. */
static void forget(struct turn *t)
{
    if (!t->is_removed)
        return;
    if (t->is_static && t->pod)
        mirror_remove(t->ag, pod_ns(t->pod), pod_name(t->pod), t->a);
    garbage_pod(t->ag, t->uid, true, t->a);
    (void)pthread_mutex_lock(&t->ag->lock);
    struct agent_pod *p = pods_find(t->ag, t->uid);
    if (p && p->is_removed && p->stage == STAGE_FINISHED)
        pods_free_one(t->ag, p);
    (void)pthread_mutex_unlock(&t->ag->lock);
}

/* ---- A turn ---- */

static bool take_turn(struct turn *t)
{
    (void)pthread_mutex_lock(&t->ag->lock);
    const struct agent_pod *p = pods_find(t->ag, t->uid);
    if (p) {
        t->stage = p->stage;
        t->is_removed = p->is_removed;
        t->is_static = p->is_static;
        t->is_admitted = p->is_admitted;
        t->is_disrupted = p->is_disrupted;
        t->evict_grace = p->evict_grace;
        t->evict_reason = arena_str(t->a, str_of(p->evict_reason));
        t->evict_message = arena_str(t->a, str_of(p->evict_message));
    }
    (void)pthread_mutex_unlock(&t->ag->lock);
    t->pod = p ? pods_value(t->ag, t->uid, t->a) : NULL;
    return p;
}

/* Whether it is to end: deleted, over, evicted, or gone from its source. */
static bool must_end(const struct turn *t)
{
    return t->is_removed || !t->pod || t->evict_reason.n || pod_is_deleting(t->pod) ||
           (!t->is_static && phase_is_final(value_str(value_dig(t->pod, "status", "phase"))));
}

/* A preStop hook asks the program for something: who was started just now gets a moment to begin,
 * which upstream spends waiting for its next look at the runtime. */
static bool has_just_begun(const struct turn *t)
{
    int64_t since = agent_wall_ns() - MOMENT_MS * NS_PER_MS;
    for (size_t i = 0; i < t->have.n_containers; i++) {
        const struct runtime_container *c = &t->have.containers[i];
        const struct value *spec = pod_container(t->pod, c->name, NULL);
        if (c->state == CONTAINER_RUNNING && c->started_ns > since &&
            value_dig(spec, "lifecycle", "preStop"))
            return true;
    }
    return false;
}

static void take_step(struct turn *t)
{
    if (t->pod && !t->evict_reason.n)
        check_deadline(t);
    if (t->stage == STAGE_RUNS && must_end(t)) {
        if (has_just_begun(t)) {
            agent_wake_after(t->ag, t->uid, MOMENT_MS);
            return;
        }
        set_stage(t, STAGE_TERMINATING);
    }
    if (t->stage == STAGE_RUNS)
        run_pod(t);
    else if (t->stage == STAGE_TERMINATING && t->pod)
        terminate_pod(t);
    else if (t->stage == STAGE_TERMINATING)
        terminate_orphan(t);
    else if (t->stage == STAGE_TERMINATED)
        end_pod(t);
    else
        forget(t);
}

void worker_run(struct agent *ag, struct str uid)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct turn t = { .ag = ag, .a = &a, .uid = uid };
    if (take_turn(&t)) {
        if (runtime_read(ag->parts.cri, uid, &a, &t.have, &err) < 0) {
            log_warn("the runtime cannot be asked for a pod", LOG_STR("uid", uid), LOG_ERR(&err));
            agent_wake_after(ag, uid, SOON_MS);
        } else {
            relist_note(ag, &t.have, &a);
            keep_addresses(&t);
            take_step(&t);
        }
    }
    arena_done(&a);
}

void worker_evict(struct agent *ag, struct str uid, const char *reason, struct str message,
                  int64_t grace, bool is_disrupted)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    if (p && !p->evict_reason) {
        p->evict_reason = mem_dup(reason, strlen(reason) + 1);
        p->evict_message = mem_zalloc(message.n + 1);
        memcpy(p->evict_message, message.p, message.n);
        p->evict_grace = grace;
        p->is_disrupted = is_disrupted;
    }
    (void)pthread_mutex_unlock(&ag->lock);
    agent_wake(ag, uid);
}
