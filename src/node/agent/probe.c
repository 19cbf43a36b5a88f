/* probe.c - probes of containers, each by a key of the queue that comes again after its period.
 *
 * What a probe says counts once it has said it often enough. A new container begins anew. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/agent/container_status.h"
#include "base/banned.h"

enum { TRIES = 3, RESTART_GRACE_SEC = 10 };

static const char *const keys[PROBE_KINDS] = { "startupProbe", "readinessProbe", "livenessProbe" };
static const char *const words[PROBE_KINDS] = { "Startup", "Readiness", "Liveness" };
static const char *const kinds[PROBE_KINDS] = { "startup", "readiness", "liveness" };

struct prober {
    char *key; /* "UID/CONTAINER/KIND"; owned */
    struct str uid, container;
    enum probe_kind kind;
    char id[160];             /* of the container that it last looked at */
    enum probe_result result; /* what counts; PROBE_NONE: nothing yet */
    enum probe_result last;   /* what it said last, and how often in a row */
    int64_t run;
    bool on_hold; /* until there is a new container */
    bool is_stopped;
};

struct probes {
    pthread_mutex_t lock; /* of all of it */
    struct map all;       /* key to struct prober */
};

struct probes *probes_new(struct agent *ag)
{
    (void)ag;
    struct probes *p = mem_new(struct probes);
    (void)pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void prober_free(struct probes *p, struct prober *w)
{
    (void)map_remove(&p->all, str_of(w->key));
    free(w->key);
    free(w);
}

struct probes *probes_free(struct probes *p)
{
    size_t pos = 0;
    struct str key;
    void *w;
    if (!p)
        return NULL;
    while (map_next(&p->all, &pos, &key, &w))
        prober_free(p, w);
    map_done(&p->all);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

static int64_t number_of(const struct value *probe, const char *key, int64_t usual)
{
    int64_t n;
    return value_to_int(value_get(probe, str_of(key)), &n) ? n : usual;
}

static int64_t period_ms(const struct value *probe)
{
    int64_t s = number_of(probe, "periodSeconds", 10);
    return (s > 0 ? s : 10) * 1000;
}

static void queue_probe(struct agent *ag, struct str key, int64_t ms)
{
    struct buf k = { 0 };
    buf_printf(&k, "b/" STR_FMT, STR_ARG(key));
    if (ms)
        spn_queue_add_after(ag->queue, text_out(buf_str(&k)), ms);
    else
        spn_queue_add(ag->queue, text_out(buf_str(&k)));
    buf_done(&k);
}

/* ---- Coming and going ---- */

/* Probes of an agent that has just begun do not all come at once. */
static int64_t first_ms(struct agent *ag, const struct value *probe)
{
    int64_t period = period_ms(probe);
    if (agent_wall_ns() - ag->start_ns > period * NS_PER_MS)
        return 0;
    return agent_jitter(period, 1) - period;
}

static void add_one(struct agent *ag, struct str uid, struct str container, enum probe_kind kind,
                    const struct value *probe)
{
    struct probes *p = ag->probes;
    struct buf key = { 0 };
    buf_printf(&key, STR_FMT "/" STR_FMT "/%s", STR_ARG(uid), STR_ARG(container), kinds[kind]);
    (void)pthread_mutex_lock(&p->lock);
    bool is_new = !map_get(&p->all, buf_str(&key));
    if (is_new) {
        struct prober *w = mem_new(struct prober);
        w->key = mem_zalloc(key.n + 1);
        memcpy(w->key, key.p, key.n);
        w->uid = (struct str){ w->key, uid.n };
        w->container = (struct str){ w->key + uid.n + 1, container.n };
        w->kind = kind;
        (void)map_set(&p->all, str_of(w->key), w);
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (is_new)
        queue_probe(ag, buf_str(&key), first_ms(ag, probe));
    buf_done(&key);
}

static void add_list(struct agent *ag, const struct value *pod, const struct value *list,
                     bool sidecars_only)
{
    value_each_item (c, list) {
        if (sidecars_only && !container_is_sidecar(c))
            continue;
        for (int kind = 0; kind < PROBE_KINDS; kind++) {
            const struct value *probe = value_get(c, str_of(keys[kind]));
            if (probe)
                add_one(ag, pod_uid(pod), value_text(c, "name"), (enum probe_kind)kind, probe);
        }
    }
}

void probes_add(struct agent *ag, const struct value *pod)
{
    add_list(ag, pod, pod_containers(pod), false);
    add_list(ag, pod, pod_init_containers(pod), true);
}

void probes_stop(struct agent *ag, struct str uid, bool but_readiness)
{
    struct probes *p = ag->probes;
    size_t pos = 0;
    struct str key;
    void *at;
    (void)pthread_mutex_lock(&p->lock);
    while (map_next(&p->all, &pos, &key, &at)) {
        struct prober *w = at;
        if (!str_eq(w->uid, uid) || (but_readiness && w->kind == PROBE_READINESS))
            continue;
        w->is_stopped = true;
        queue_probe(ag, key, 0);
    }
    (void)pthread_mutex_unlock(&p->lock);
}

bool probes_has(struct agent *ag, struct str uid, enum probe_kind kind, struct str container)
{
    struct buf key = { 0 };
    buf_printf(&key, STR_FMT "/" STR_FMT "/%s", STR_ARG(uid), STR_ARG(container), kinds[kind]);
    (void)pthread_mutex_lock(&ag->probes->lock);
    const struct prober *w = map_get(&ag->probes->all, buf_str(&key));
    bool is_there = w && !w->is_stopped;
    bool is_unready = is_there && kind == PROBE_READINESS && w->result != PROBE_SUCCESS;
    (void)pthread_mutex_unlock(&ag->probes->lock);
    if (is_unready) /* whoever asks would like to know now */
        queue_probe(ag, buf_str(&key), 0);
    buf_done(&key);
    return is_there;
}

enum probe_result probes_result(void *arg, enum probe_kind kind, struct str container_id)
{
    struct agent *ag = arg;
    struct probes *p = ag->probes;
    enum probe_result r = PROBE_NONE;
    size_t pos = 0;
    struct str key;
    void *at;
    (void)pthread_mutex_lock(&p->lock);
    while (container_id.n && r == PROBE_NONE && map_next(&p->all, &pos, &key, &at)) {
        const struct prober *w = at;
        if (w->kind == kind && str_eq(str_of(w->id), container_id))
            r = w->result;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

/* ---- One look ---- */

/* A probe at its turn: a copy of the prober, and what it looks at. */
struct look {
    struct agent *ag;
    struct arena *a;
    struct prober w;
    const struct value *pod, *spec, *probe, *pod_status, *status;
    struct str id;
    bool is_over; /* it does not come again */
};

/* Notes what counts from now on, and tells whoever goes by it. */
static void set_result(struct look *l, enum probe_result r)
{
    bool is_new = l->w.result != r;
    l->w.result = r;
    if (!is_new)
        return;
    (void)pthread_mutex_lock(&l->ag->probes->lock);
    struct prober *w = map_get(&l->ag->probes->all, str_of(l->w.key));
    if (w) {
        w->result = r;
        memcpy(w->id, l->w.id, sizeof(w->id));
    }
    (void)pthread_mutex_unlock(&l->ag->probes->lock);
    if (l->w.kind != PROBE_LIVENESS)
        status_note_probe(l->ag, l->w.uid, l->id, l->w.kind, r == PROBE_SUCCESS);
    if (l->w.kind != PROBE_LIVENESS || r == PROBE_FAILURE)
        agent_wake(l->ag, l->w.uid);
}

static struct str state_of(const struct look *l)
{
    return state_name(value_get(l->status, STR("state")));
}

static const struct value *status_named(const struct value *status, struct str name)
{
    const struct value *s = list_named(value_get(status, STR("containerStatuses")), name);
    if (s && value_text(s, "containerID").n)
        return s;
    s = list_named(value_get(status, STR("initContainerStatuses")), name);
    return s && value_text(s, "containerID").n ? s : NULL;
}

static int64_t started_ns(const struct look *l)
{
    struct tm tm = { 0 };
    struct str at = value_str(value_dig(l->status, "state", "running", "startedAt"));
    const char *text = str_cstr(l->a, at);
    return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (int64_t)timegm(&tm) * NS_PER_SEC : 0;
}

/* A container that it has not seen before. One that ran long before this agent keeps its state. */
static void begin_container(struct look *l)
{
    static const enum probe_result first[PROBE_KINDS] = { PROBE_UNKNOWN, PROBE_FAILURE,
                                                          PROBE_SUCCESS };
    if (str_eq(str_of(l->w.id), l->id))
        return;
    size_t n = l->id.n < sizeof(l->w.id) ? l->id.n : sizeof(l->w.id) - 1;
    memcpy(l->w.id, l->id.p, n);
    l->w.id[n] = '\0';
    l->w.on_hold = false;
    l->w.result = PROBE_NONE;
    bool ran_before = str_eq(state_of(l), STR("running")) &&
                      started_ns(l) < l->ag->start_ns - RESTART_GRACE_SEC * NS_PER_SEC;
    if (l->w.kind == PROBE_STARTUP && ran_before &&
        value_is_true(value_get(l->status, STR("started"))))
        set_result(l, PROBE_SUCCESS);
    else if (!ran_before)
        set_result(l, first[l->w.kind]);
}

/* Whether there is something to probe. */
static bool find_container(struct look *l)
{
    if (phase_is_final(value_text(l->pod_status, "phase"))) {
        l->is_over = true;
        return false;
    }
    l->status = status_named(l->pod_status, l->w.container);
    if (!l->status)
        return false;
    struct str id = value_text(l->status, "containerID");
    (void)str_cut(&id, '/');
    l->id = str_skip(id, 1);
    begin_container(l);
    return !l->w.on_hold;
}

static bool is_running(struct look *l)
{
    if (str_eq(state_of(l), STR("running")))
        return true;
    set_result(l, PROBE_FAILURE);
    int64_t code;
    if (value_to_int(value_dig(l->status, "state", "terminated", "exitCode"), &code))
        l->is_over = !container_should_restart(l->pod, l->spec, code) &&
                     !pod_restarts_all(l->pod, NULL, l->pod_status);
    return false;
}

/* Whether it is time to ask. */
static bool is_due(struct look *l)
{
    if (pod_is_deleting(l->pod) && l->w.kind != PROBE_READINESS) {
        set_result(l, PROBE_SUCCESS);
        l->is_over = true;
        return false;
    }
    int64_t age = (agent_wall_ns() - started_ns(l)) / NS_PER_SEC;
    if (age < number_of(l->probe, "initialDelaySeconds", 0))
        return false;
    bool is_started = value_is_true(value_get(l->status, STR("started")));
    return is_started == (l->w.kind != PROBE_STARTUP);
}

static void tell(const struct look *l, const char *reason, const char *what, struct str says)
{
    tell_container(l->ag, l->pod, l->w.container, SPN_WARNING, reason, "%s probe %s: " STR_FMT,
                   words[l->w.kind], what, STR_ARG(says));
}

static enum probe_result ask(struct look *l)
{
    struct str says = STR(""), ip = value_text(l->pod_status, "podIP");
    bool is_warning = false;
    enum probe_result r = PROBE_UNKNOWN;
    for (int i = 0; i < TRIES && r == PROBE_UNKNOWN; i++)
        r = probe_once(l->ag, l->probe, l->spec, l->id, ip, l->a, &says, &is_warning);
    if (r == PROBE_UNKNOWN)
        tell(l, "Unhealthy", "errored and resulted in unknown state", says);
    else if (r == PROBE_FAILURE)
        tell(l, "Unhealthy", "failed", says);
    else if (is_warning)
        tell(l, "ProbeWarning", "warning", says);
    return r;
}

static void count(struct look *l, enum probe_result r)
{
    l->w.run = l->w.last == r ? l->w.run + 1 : 1;
    l->w.last = r;
    const char *key = r == PROBE_FAILURE ? "failureThreshold" : "successThreshold";
    if (l->w.run < number_of(l->probe, key, r == PROBE_FAILURE ? 3 : 1))
        return;
    set_result(l, r);
    if ((l->w.kind == PROBE_LIVENESS && r == PROBE_FAILURE) || l->w.kind == PROBE_STARTUP) {
        l->w.on_hold = true; /* it will be ended, or has begun: either way, enough was seen */
        l->w.run = 0;
    }
}

static void look_once(struct look *l)
{
    l->pod = pods_value(l->ag, l->w.uid, l->a);
    l->pod_status = status_get(l->ag, l->w.uid, l->a);
    l->spec = pod_container(l->pod, l->w.container, NULL);
    l->probe = value_get(l->spec, str_of(keys[l->w.kind]));
    if (!l->pod || !l->probe) {
        l->is_over = true;
        return;
    }
    if (!l->pod_status || !find_container(l) || !is_running(l) || !is_due(l))
        return;
    enum probe_result r = ask(l);
    if (r != PROBE_UNKNOWN)
        count(l, r);
}

static bool take_prober(struct agent *ag, struct str key, struct prober *ret)
{
    (void)pthread_mutex_lock(&ag->probes->lock);
    struct prober *w = map_get(&ag->probes->all, key);
    bool is_there = w && !w->is_stopped;
    if (is_there)
        *ret = *w;
    else if (w)
        prober_free(ag->probes, w);
    (void)pthread_mutex_unlock(&ag->probes->lock);
    return is_there;
}

static void put_prober(struct agent *ag, struct str key, const struct look *l)
{
    (void)pthread_mutex_lock(&ag->probes->lock);
    struct prober *w = map_get(&ag->probes->all, key);
    if (w && (l->is_over || w->is_stopped)) {
        prober_free(ag->probes, w);
        w = NULL;
    } else if (w) {
        bool is_stopped = w->is_stopped;
        *w = l->w;
        w->is_stopped = is_stopped;
    }
    (void)pthread_mutex_unlock(&ag->probes->lock);
    if (w)
        queue_probe(ag, key, period_ms(l->probe));
}

void probes_run(struct agent *ag, struct str key)
{
    struct arena a;
    arena_init(&a);
    struct look l = { .ag = ag, .a = &a };
    if (take_prober(ag, key, &l.w)) {
        look_once(&l);
        put_prober(ag, key, &l);
    }
    arena_done(&a);
}
