/* register.c - the thread that makes the Node known and keeps its status true. */
#include "node/register/register.h"

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/register/register_internal.h"
#include "base/banned.h"

enum {
    RUNTIME_CHECK_MS = 5000,
    RUNTIME_STALE_MS = 30000, /* not heard of for so long, it is down */
    RUNTIME_CALL_MS = 30000,
    FIRST_PAUSE_MS = 100, /* between attempts to make the Node; it doubles */
    LAST_PAUSE_MS = 7000,
    FAST_MS = 100,          /* between looks while it is not ready yet */
    FAST_UNTIL_MS = 120000, /* after the start */
    STATUS_MS = 10000,
    REPORT_MS = 300000,
    FAULTS_MAX = 8,
    TRIES = 5,
};

/* ---- Faults of the runtime ---- */

static void set_faults(struct registration *r, struct str runtime, struct str network)
{
    pthread_mutex_lock(&r->lock);
    arena_reset(&r->fault_arena);
    r->runtime_fault = arena_str(&r->fault_arena, runtime);
    r->network_fault = arena_str(&r->fault_arena, network);
    pthread_mutex_unlock(&r->lock);
}

/* A condition of CRI's StatusResponse that is not true, in upstream's words; empty: it is. */
static struct str condition_fault(struct arena *a, const struct value *status, const char *type,
                                  const char *what)
{
    value_each_item (c, value_dig(status, "status", "conditions")) {
        if (!str_eq(value_text(c, "type"), str_of(type)))
            continue;
        if (value_is_true(value_get(c, STR("status"))))
            return STR("");
        struct str reason = value_text(c, "reason"), message = value_text(c, "message");
        return arena_printf(a, "%s: %s=false reason:" STR_FMT " message:" STR_FMT, what, type,
                            STR_ARG(reason), STR_ARG(message));
    }
    return arena_printf(a, "%s: <nil>", what);
}

/* Asks the runtime how it is. What it answers lies in the turn's arena. */
static void check_runtime(struct registration *r, struct value *ret_status)
{
    struct arena *a = &r->turn;
    struct err why = ERR_INIT(a);
    *ret_status = value_null();
    if (cri_call(r->place.cri, "Status", NULL, RUNTIME_CALL_MS, a, ret_status, &why) < 0) {
        log_debug("the runtime does not answer", LOG_ERR(&why));
        *ret_status = value_null();
        return;
    }
    struct str network =
        condition_fault(a, ret_status, "NetworkReady", "container runtime network not ready");
    struct str runtime =
        condition_fault(a, ret_status, "RuntimeReady", "container runtime not ready");
    set_faults(r, runtime, network);
    if (!runtime.n)
        r->checked_ns = clock_mono_ns(&clock_system);
}

static size_t collect_faults(struct registration *r, struct str faults[static FAULTS_MAX])
{
    struct arena *a = &r->turn;
    const struct register_agent *agent = &r->place.agent;
    const int64_t now = clock_mono_ns(&clock_system);
    size_t n = 0;
    if (!r->checked_ns)
        faults[n++] = STR("container runtime status check may not have completed yet");
    else if (now - r->checked_ns >= RUNTIME_STALE_MS * NS_PER_MS)
        faults[n++] = STR("container runtime is down");
    struct str other = agent->fault ? agent->fault(agent->arg, a) : STR("");
    if (other.n)
        faults[n++] = other;
    struct str runtime = register_runtime_fault(r, a), network = register_network_fault(r, a);
    if (runtime.n)
        faults[n++] = runtime;
    if (network.n)
        faults[n++] = network;
    if (!value_get(&r->place.facts->capacity, STR("ephemeral-storage")))
        faults[n++] = STR("missing node capacity for resources: ephemeral-storage");
    return n;
}

/* ---- The state ---- */

/* A call that may fail: NULL then. */
static const struct value *ask(struct registration *r, const char *method, const char *part)
{
    struct arena *a = &r->turn;
    struct value *answer = arena_new(a, struct value);
    struct err why = ERR_INIT(a);
    if (cri_call(r->place.cri, method, NULL, RUNTIME_CALL_MS, a, answer, &why) < 0)
        return NULL;
    if (!part)
        return answer;
    static const struct value none = { .type = VALUE_ARRAY };
    const struct value *list = value_get(answer, str_of(part));
    return list ? list : &none;
}

static struct node_state look(struct registration *r, const struct value *runtime_status,
                              struct str faults[static FAULTS_MAX])
{
    const struct register_agent *agent = &r->place.agent;
    struct node_state s = {
        .opt = r->place.opt,
        .facts = r->place.facts,
        .machine = &r->machine,
        .now_ns = clock_wall_ns(&clock_system),
        .pressures = agent->pressures ? agent->pressures(agent->arg) : 0,
        .faults = faults,
        .n_faults = collect_faults(r, faults),
        .runtime_status = value_is(runtime_status, VALUE_OBJECT) ? runtime_status : NULL,
        .runtime_version = ask(r, "Version", NULL),
        .images = ask(r, "ListImages", "images"),
    };
    if (agent->volumes_in_use) {
        struct value *list = arena_new(&r->turn, struct value);
        *list = value_array();
        agent->volumes_in_use(agent->arg, &r->turn, list);
        s.volumes_in_use = list;
    }
    return s;
}

static void keep_node(struct registration *r, const struct value *node)
{
    pthread_mutex_lock(&r->lock);
    arena_reset(&r->node_arena);
    r->node = value_clone(&r->node_arena, node);
    r->is_known = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* The Node that events are about, whether it is there yet or not. */
static struct value event_object(struct registration *r)
{
    struct arena *a = &r->turn;
    struct value node = value_object(), meta = value_object();
    struct str uid = register__uid(r, a);
    value_put(a, &meta, STR("name"), value_string(r->place.facts->name));
    if (uid.n)
        value_put(a, &meta, STR("uid"), value_string(uid));
    value_put(a, &node, STR("apiVersion"), value_string(STR("v1")));
    value_put(a, &node, STR("kind"), value_string(STR("Node")));
    value_put(a, &node, STR("metadata"), meta);
    return node;
}

static void tell(struct registration *r, const struct node_events *events)
{
    const struct value node = event_object(r);
    for (size_t i = 0; i < events->n; i++)
        spn_event(r->place.events, value_out(&node),
                  events->list[i].is_warning ? SPN_WARNING : SPN_NORMAL, events->list[i].reason,
                  STR_FMT, STR_ARG(events->list[i].message));
}

/* ---- Making or adopting the Node ---- */

static struct spn_target node_target(const struct registration *r)
{
    return (struct spn_target){ .version = SPN_TEXT("v1"),
                                .plural = SPN_TEXT("nodes"),
                                .name = text_out(r->place.facts->name) };
}

static int get_node(struct registration *r, struct value *ret, struct spn_err *err)
{
    const struct spn_target at = node_target(r);
    const struct spn_call how = { .stop = r->stop, .timeout_ms = STATUS_MS };
    struct spn_value *found;
    int rc = spn_client_get(r->place.client, &at, &how, arena_out(&r->turn), &found, err);
    if (rc == 0)
        *ret = *value_in(found);
    return rc;
}

/* Writes what differs; `node` becomes what the server made of it. */
static int write_node(struct registration *r, const struct value *old_node, struct value *node,
                      struct spn_err *err)
{
    struct arena *a = &r->turn;
    struct err why = ERR_INIT(a);
    struct str patch;
    struct spn_value *written;
    struct spn_target at = node_target(r);
    const struct spn_call how = { .stop = r->stop, .timeout_ms = STATUS_MS };
    if (node_status_patch(a, old_node, node, &patch, &why) < 0)
        return spn_err_set(err, SPN_MALFORMED, STR_FMT, STR_ARG(why.msg));
    at.sub = SPN_TEXT("status");
    int rc = spn_client_patch(r->place.client, &at, SPN_STRATEGIC_PATCH, text_out(patch), &how,
                              arena_out(a), &written, err);
    if (rc == 0)
        *node = *value_in(written);
    return rc;
}

static int adopt(struct registration *r, const struct node_state *s, struct spn_err *err)
{
    struct value old_node, node;
    int rc = get_node(r, &old_node, err);
    if (rc < 0)
        return rc;
    node = value_borrow(&old_node);
    if (node_status_adopt(&r->turn, s, &node))
        rc = write_node(r, &old_node, &node, err);
    if (rc == 0)
        keep_node(r, &node);
    return rc;
}

static int make_node(struct registration *r, const struct value *runtime_status,
                     struct spn_err *err)
{
    struct arena *a = &r->turn;
    struct str faults[FAULTS_MAX];
    struct node_events events = { 0 };
    const struct node_state s = look(r, runtime_status, faults);
    const struct spn_call how = { .stop = r->stop, .timeout_ms = STATUS_MS };
    struct spn_target at = node_target(r);
    struct spn_value *made;
    if (r->place.opt->adopts_only)
        return adopt(r, &s, err);
    const struct value node = node_status_first(a, &s, &events);
    tell(r, &events);
    at.name = SPN_TEXT("");
    int rc =
        spn_client_create(r->place.client, &at, value_out(&node), &how, arena_out(a), &made, err);
    if (rc == -SPN_EXISTS || rc == -SPN_FORBIDDEN) /* it may be there, and ours */
        return adopt(r, &s, err);
    if (rc == 0)
        keep_node(r, value_in(made));
    return rc;
}

/* ---- The status ---- */

/* The runtime gives pods addresses of this range, if it does that by itself. */
static void tell_pod_cidr(struct registration *r, const struct value *node)
{
    struct arena *a = &r->turn;
    autobuf all = { 0 };
    value_each_item (one, value_dig(node, "spec", "podCIDRs"))
        buf_printf(&all, "%s" STR_FMT, all.n ? "," : "", STR_ARG(value_str(one)));
    if (!all.n || str_eq(buf_str(&all), r->pod_cidr))
        return;
    struct value request = value_object(), config = value_object(), network = value_object();
    struct value answer;
    struct err why = ERR_INIT(a);
    value_put(a, &network, STR("pod_cidr"), value_string(buf_str(&all)));
    value_put(a, &config, STR("network_config"), network);
    value_put(a, &request, STR("runtime_config"), config);
    if (cri_call(r->place.cri, "UpdateRuntimeConfig", &request, RUNTIME_CALL_MS, a, &answer, &why) <
        0)
        log_warn("the runtime does not take the range of pods", LOG_ERR(&why));
    else
        r->pod_cidr = arena_str(&r->arena, buf_str(&all));
}

static void watch_cordon(struct registration *r, const struct value *node,
                         struct node_events *events)
{
    const bool is_closed = value_is_true(value_dig(node, "spec", "unschedulable"));
    const char *reason = is_closed ? "NodeNotSchedulable" : "NodeSchedulable";
    if (is_closed == r->is_unschedulable || events->n == NODE_EVENTS_MAX)
        return;
    r->is_unschedulable = is_closed;
    events->list[events->n].reason = reason;
    events->list[events->n].is_warning = false;
    events->list[events->n++].message = arena_printf(&r->turn, "Node " STR_FMT " status is now: %s",
                                                     STR_ARG(r->place.facts->name), reason);
}

/* The next report without a change comes after a time that differs from node to node. */
static int64_t report_after(const struct registration *r, bool is_change)
{
    const int64_t every = r->place.opt->report_ms ? r->place.opt->report_ms : REPORT_MS;
    const double part = (double)(clock_wall_ns(&clock_system) / 1000 % 1000) / 1000 - 0.5;
    return (every + (is_change ? (int64_t)((double)every * part) : 0)) * NS_PER_MS;
}

/* True: the Node is said to be ready. */
static bool sync_status(struct registration *r, const struct value *runtime_status,
                        struct spn_err *err)
{
    struct str faults[FAULTS_MAX];
    struct node_events events = { 0 };
    struct value old_node, node;
    if (get_node(r, &old_node, err) < 0)
        return false;
    tell_pod_cidr(r, &old_node);
    const struct node_state s = look(r, runtime_status, faults);
    node = value_borrow(&old_node);
    node_status_update(&r->turn, &s, &node, &events);
    watch_cordon(r, &old_node, &events);
    const int64_t now = clock_mono_ns(&clock_system);
    const bool differs = node_status_differs(&r->turn, &old_node, &node);
    const bool is_due = !r->reported_ns || now - r->reported_ns >= r->report_after_ns;
    tell(r, &events);
    if (differs || is_due) {
        if (write_node(r, &old_node, &node, err) < 0)
            return false;
        r->report_after_ns = report_after(r, differs || !r->reported_ns);
        r->reported_ns = now;
    }
    keep_node(r, &node);
    return s.n_faults == 0;
}

/* Several tries at once, as somebody may have changed it meanwhile. */
static bool sync_or_warn(struct registration *r, const struct value *runtime_status)
{
    struct spn_err why = { 0 };
    for (int i = 0; i < TRIES && !spn_stop_is_set(r->stop); i++) {
        why = (struct spn_err){ 0 };
        const bool is_ready = sync_status(r, runtime_status, &why);
        if (!why.code)
            return is_ready;
        if (why.code != SPN_CONFLICT)
            break;
    }
    if (why.code && why.code != SPN_CANCELLED)
        log_warn("the status of the node was not written", LOG_CSTR("err", why.message));
    return false;
}

/* ---- The thread ---- */

static int64_t mono_ms(void)
{
    return clock_mono_ns(&clock_system) / NS_PER_MS;
}

bool register__rest(struct registration *r, int64_t ms)
{
    const int64_t until = clock_wall_ns(&clock_system) + ms * NS_PER_MS;
    const struct timespec at = { .tv_sec = until / NS_PER_SEC, .tv_nsec = until % NS_PER_SEC };
    pthread_mutex_lock(&r->lock);
    while (!r->wants_look && !spn_stop_is_set(r->stop) &&
           pthread_cond_timedwait(&r->changed, &r->lock, &at) == 0)
        ;
    pthread_mutex_unlock(&r->lock);
    return !spn_stop_is_set(r->stop);
}

static bool take_wish(struct registration *r)
{
    pthread_mutex_lock(&r->lock);
    const bool wished = r->wants_look;
    r->wants_look = false;
    pthread_mutex_unlock(&r->lock);
    return wished;
}

static void say_one(struct registration *r, bool is_warning, const char *reason, struct str message)
{
    struct node_events events = { .n = 1 };
    events.list[0].reason = reason;
    events.list[0].message = message;
    events.list[0].is_warning = is_warning;
    tell(r, &events);
}

static void say_birth(struct registration *r)
{
    const struct node_facts *facts = r->place.facts;
    say_one(r, false, "Starting", STR("Starting kubelet."));
    if (!facts->cgroup_v2)
        say_one(r, true, "CgroupV1",
                STR("cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a "
                    "future release. Please migrate to cgroup v2. More information at "
                    "https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1"));
    if (facts->cgroups_per_qos)
        say_one(r, false, "NodeAllocatableEnforced",
                STR("Updated Node Allocatable limit across pods"));
}

static bool become_known(struct registration *r)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    const struct value nothing = value_null();
    for (;;) {
        struct spn_err why = { 0 };
        arena_reset(&r->turn);
        if (make_node(r, &nothing, &why) == 0)
            return true;
        if (why.code != SPN_CANCELLED)
            log_warn("the node cannot be registered yet", LOG_CSTR("err", why.message));
        (void)take_wish(r);
        if (!register__rest(r, pause_ms))
            return false;
        pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS;
    }
}

static void *status_run(void *arg)
{
    struct registration *r = arg;
    const int64_t begun_ms = mono_ms();
    const int64_t every = r->place.opt->status_ms ? r->place.opt->status_ms : STATUS_MS;
    int64_t synced_ms = 0, checked_ms = 0;
    bool is_ready = false;
    say_birth(r);
    if (!become_known(r))
        return NULL;
    for (;;) {
        struct value status = value_null();
        const int64_t now = mono_ms();
        const bool hurries = !is_ready && now - begun_ms < FAST_UNTIL_MS;
        const bool is_wished = take_wish(r);
        arena_reset(&r->turn);
        if (hurries || is_wished || now - checked_ms >= RUNTIME_CHECK_MS ||
            now - synced_ms >= every) {
            check_runtime(r, &status);
            checked_ms = now;
        }
        if (hurries || is_wished || now - synced_ms >= every) {
            is_ready = sync_or_warn(r, &status);
            synced_ms = now;
        }
        if (!register__rest(r, !is_ready && hurries       ? FAST_MS
                               : every < RUNTIME_CHECK_MS ? every
                                                          : RUNTIME_CHECK_MS))
            return NULL;
    }
}

/* ---- Beginning and end ---- */

static int start(struct registration *r, struct err *err)
{
    int rc = machine_read(&r->arena, r->place.facts->root_dir, &r->machine, err);
    if (rc < 0)
        return rc;
    r->has_status_thread = pthread_create(&r->status_thread, NULL, status_run, r) == 0;
    r->has_lease_thread = pthread_create(&r->lease_thread, NULL, register__lease_run, r) == 0;
    if (!r->has_status_thread || !r->has_lease_thread)
        return err_set(err, ERR_UNAVAILABLE, "the system has no thread left");
    return 0;
}

int register_start(const struct register_place *place, struct registration **ret, struct err *err)
{
    struct registration *r = mem_new(struct registration);
    r->place = *place;
    arena_init(&r->arena);
    arena_init(&r->node_arena);
    arena_init(&r->fault_arena);
    arena_init(&r->turn);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->stop = spn_stop_new();
    r->network_fault = STR("network state unknown");
    int rc = start(r, err);
    if (rc < 0) {
        register_stop(r);
        return rc;
    }
    *ret = r;
    return 0;
}

struct registration *register_stop(struct registration *r)
{
    if (!r)
        return NULL;
    pthread_mutex_lock(&r->lock);
    spn_stop_set(r->stop);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (r->has_status_thread)
        (void)pthread_join(r->status_thread, NULL);
    if (r->has_lease_thread)
        (void)pthread_join(r->lease_thread, NULL);
    spn_stop_free(r->stop);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    arena_done(&r->arena);
    arena_done(&r->node_arena);
    arena_done(&r->fault_arena);
    arena_done(&r->turn);
    free(r);
    return NULL;
}

/* ---- What others ask ---- */

bool register_wait(struct registration *r, int64_t ms)
{
    const int64_t until = clock_wall_ns(&clock_system) + ms * NS_PER_MS;
    const struct timespec at = { .tv_sec = until / NS_PER_SEC, .tv_nsec = until % NS_PER_SEC };
    pthread_mutex_lock(&r->lock);
    while (!r->is_known && !spn_stop_is_set(r->stop) &&
           pthread_cond_timedwait(&r->changed, &r->lock, &at) == 0)
        ;
    const bool is_known = r->is_known;
    pthread_mutex_unlock(&r->lock);
    return is_known;
}

bool register_node(struct registration *r, struct arena *a, struct value *ret)
{
    pthread_mutex_lock(&r->lock);
    const bool is_known = r->is_known;
    if (is_known)
        *ret = value_clone(a, &r->node);
    pthread_mutex_unlock(&r->lock);
    return is_known;
}

struct str register__uid(struct registration *r, struct arena *a)
{
    pthread_mutex_lock(&r->lock);
    struct str uid = arena_str(a, value_str(value_dig(&r->node, "metadata", "uid")));
    pthread_mutex_unlock(&r->lock);
    return uid;
}

struct str register_runtime_fault(struct registration *r, struct arena *a)
{
    pthread_mutex_lock(&r->lock);
    struct str fault = arena_str(a, r->runtime_fault);
    pthread_mutex_unlock(&r->lock);
    return fault;
}

struct str register_network_fault(struct registration *r, struct arena *a)
{
    pthread_mutex_lock(&r->lock);
    struct str fault = arena_str(a, r->network_fault);
    pthread_mutex_unlock(&r->lock);
    return fault;
}

void register_look(struct registration *r)
{
    pthread_mutex_lock(&r->lock);
    r->wants_look = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}
