/* columns_pod.c - a pod in one line. Its status is the hard part: what people want to see is not
 * the phase but the first thing that keeps the pod from running. */
#include "api/columns/columns_internal.h"
#include "api/pod_phase.h"
#include "base/map.h"
#include "base/banned.h"

struct pod {
    struct row *row;
    const struct value *status;
    struct map init_containers; /* by name */
    struct str reason;
    bool initializing;
    int64_t ready, total;
    int64_t restarts, sidecar_restarts;
    struct gotime restarted, sidecar_restarted; /* most recently; zero: never */
};

static const struct gotime never = { .sec = GOTIME_ZERO_SEC };

/* An init container that is started before the others and then goes on running. */
static bool is_sidecar(const struct value *init_container)
{
    return str_eq(value_text(init_container, "restartPolicy"), STR("Always"));
}

static bool status_is_of_sidecar(const struct pod *p, const struct value *status)
{
    return is_sidecar(map_get(&p->init_containers, value_text(status, "name")));
}

/* Takes over the time when the container ended last, if that is later. */
static void note_restart(struct gotime *latest, const struct value *status)
{
    struct gotime t;
    if (columns_time(value_dig(status, "lastState", "terminated", "finishedAt"), &t) &&
        (t.sec > latest->sec || (t.sec == latest->sec && t.nanos > latest->nanos)))
        *latest = t;
}

/* Why a container ended: its own word, else by the signal or the exit code. */
static struct str end_reason(struct arena *a, struct str prefix, const struct value *terminated)
{
    struct str reason = value_text(terminated, "reason");
    int64_t signal = columns_int(value_get(terminated, STR("signal")));
    int64_t code = columns_int(value_get(terminated, STR("exitCode")));
    if (reason.n)
        return columns_cat(a, prefix, reason);
    return columns_cat(a, prefix, signal ? STR("Signal:") : STR("ExitCode:"),
                       columns_number(a, signal ? signal : code));
}

static struct str init_reason(struct pod *p, const struct value *state, size_t i)
{
    struct arena *a = p->row->arena;
    const struct value *terminated = value_get(state, STR("terminated"));
    struct str waiting = value_str(value_dig(state, "waiting", "reason"));
    if (columns_is_set(terminated))
        return end_reason(a, STR("Init:"), terminated);
    if (waiting.n && !str_eq(waiting, STR("PodInitializing")))
        return columns_cat(a, STR("Init:"), waiting);
    size_t n = columns_count(row_at(p->row, "spec", "initContainers"));
    return arena_printf(a, "Init:%zu/%zu", i, n);
}

/* One status of an init container; false once it is one that the pod still waits for. */
static bool look_at_init(struct pod *p, const struct value *status, size_t i)
{
    int64_t restarts = columns_int32(value_get(status, STR("restartCount")));
    bool sidecar = status_is_of_sidecar(p, status);
    p->restarts += restarts;
    note_restart(&p->restarted, status);
    if (sidecar) {
        p->sidecar_restarts += restarts;
        note_restart(&p->sidecar_restarted, status);
    }
    const struct value *state = value_get(status, STR("state"));
    const struct value *terminated = value_get(state, STR("terminated"));
    if (columns_is_set(terminated) && columns_int(value_get(terminated, STR("exitCode"))) == 0)
        return true;
    if (sidecar && columns_bool(value_get(status, STR("started")))) {
        p->ready += columns_bool(value_get(status, STR("ready")));
        return true;
    }
    p->reason = init_reason(p, state, i);
    p->initializing = true;
    return false;
}

static void look_at_inits(struct pod *p)
{
    size_t i = 0;
    value_each_item (container, row_at(p->row, "spec", "initContainers")) {
        map_set(&p->init_containers, value_text(container, "name"), (void *)(uintptr_t)container);
        p->total += is_sidecar(container);
    }
    value_each_item (status, value_get(p->status, STR("initContainerStatuses")))
        if (!look_at_init(p, status, i++))
            break;
}

/* From the last to the first, so that the first one has the last word. */
static void look_at_containers(struct pod *p)
{
    const struct value *statuses = value_get(p->status, STR("containerStatuses"));
    struct str error = { 0 };
    bool running = false;
    for (size_t i = value_is(statuses, VALUE_ARRAY) ? statuses->n : 0; i-- > 0;) {
        const struct value *status = value_at(statuses, i);
        const struct value *state = value_get(status, STR("state"));
        const struct value *terminated = value_get(state, STR("terminated"));
        struct str waiting = value_str(value_dig(state, "waiting", "reason"));
        p->restarts += columns_int32(value_get(status, STR("restartCount")));
        note_restart(&p->restarted, status);
        if (waiting.n) {
            p->reason = waiting;
        } else if (columns_is_set(terminated)) {
            p->reason = end_reason(p->row->arena, STR(""), terminated);
            if (columns_int(value_get(terminated, STR("exitCode"))))
                error = p->reason;
        } else if (columns_bool(value_get(status, STR("ready"))) &&
                   columns_is_set(value_get(state, STR("running")))) {
            running = true;
            p->ready++;
        }
    }
    if (!str_eq(p->reason, STR("Completed")))
        return;
    /* One container is done, but it is not the only one. */
    bool ready = false;
    value_each_item (c, value_get(p->status, STR("conditions")))
        ready |= str_eq(value_text(c, "type"), STR("Ready")) && columns_is_true(c);
    if (running && ready)
        p->reason = STR("Running");
    else if (error.n)
        p->reason = error;
    else if (running)
        p->reason = STR("NotReady");
}

static void find_reason(struct pod *p)
{
    const struct value *conditions = value_get(p->status, STR("conditions"));
    struct str phase = value_text(p->status, "phase");
    struct str said = value_text(p->status, "reason");
    struct str gated = STR("SchedulingGated");
    p->reason = columns_or(said, phase);
    value_each_item (c, conditions)
        if (str_eq(value_text(c, "type"), STR("PodScheduled")) &&
            str_eq(value_text(c, "reason"), gated))
            p->reason = gated;
    look_at_inits(p);
    if (!p->initializing || columns_is_true(columns_of_type(conditions, STR("Initialized")))) {
        p->restarts = p->sidecar_restarts;
        p->restarted = p->sidecar_restarted;
        look_at_containers(p);
    }
    if (!columns_is_set(row_at(p->row, "metadata", "deletionTimestamp")))
        return;
    if (str_eq(said, STR("NodeLost")))
        p->reason = STR("Unknown");
    else if (!pod_phase_is_final(phase))
        p->reason = STR("Terminating");
}

static struct str restarts_text(const struct pod *p)
{
    struct arena *a = p->row->arena;
    struct str count = columns_number(a, p->restarts);
    if (!p->restarts || p->restarted.sec == never.sec)
        return count;
    return columns_cat(a, count, STR(" ("), columns_since(p->row, p->restarted), STR(" ago)"));
}

/* The older field wins where the two differ, for the sake of old node agents. */
static struct str address(const struct value *status)
{
    struct str ip = value_text(status, "podIP");
    const struct value *first = value_at(value_get(status, STR("podIPs")), 0);
    return columns_or(columns_or(ip, value_text(first, "ip")), STR("<none>"));
}

/* How many of the conditions that the pod asks for are true. Their number is the user's choice, so
 * they are looked up in a map. */
static struct str readiness_gates(struct row *row)
{
    const struct value *gates = row_at(row, "spec", "readinessGates");
    struct map first_of_type = { 0 };
    size_t n = 0;
    if (!value_is(gates, VALUE_ARRAY) || !gates->n)
        return STR("<none>");
    value_each_item (condition, row_at(row, "status", "conditions")) {
        struct str type = value_text(condition, "type");
        if (!map_get(&first_of_type, type))
            map_set(&first_of_type, type, (void *)(uintptr_t)condition);
    }
    value_each_item (gate, gates)
        n += columns_is_true(map_get(&first_of_type, value_text(gate, "conditionType")));
    map_done(&first_of_type);
    return arena_printf(row->arena, "%zu/%u", n, gates->n);
}

static void print_pod(struct row *row)
{
    struct pod p = { row, row_at(row, "status"), .restarted = never, .sidecar_restarted = never };
    p.total = (int64_t)columns_count(row_at(row, "spec", "containers"));
    find_reason(&p);
    map_done(&p.init_containers);

    columns_row_add_name(row);
    columns_row_add(row, columns_cat(row->arena, columns_number(row->arena, p.ready), STR("/"),
                                     columns_number(row->arena, p.total)));
    columns_row_add(row, p.reason);
    columns_row_add(row, restarts_text(&p));
    columns_row_add_age(row);
    columns_row_add(row, address(p.status));
    columns_row_add(row, columns_or(row_text(row, "spec", "nodeName"), STR("<none>")));
    columns_row_add(row, columns_or(row_text(row, "status", "nominatedNodeName"), STR("<none>")));
    columns_row_add(row, readiness_gates(row));
}

static void print_pod_template(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add_containers(row, row_at(row, "template", "spec"));
    columns_row_add(row, columns_labels(row->arena, row_at(row, "template", "metadata", "labels")));
}

/* Tells a client that watches for it that the pod will not change any more. */
static struct value end_conditions(struct arena *a, const struct value *obj)
{
    struct str phase = value_str(value_dig(obj, "status", "phase"));
    bool succeeded = str_eq(phase, STR("Succeeded"));
    if (!pod_phase_is_final(phase))
        return value_null();
    struct value condition = value_object(), list = value_array();
    value_add(a, &condition, STR("type"), value_string(STR("Completed")));
    value_add(a, &condition, STR("status"), value_string(STR("True")));
    value_add(a, &condition, STR("reason"), value_string(phase));
    value_add(a, &condition, STR("message"),
              value_string(succeeded ? STR("The pod has completed successfully.")
                                     : STR("The pod failed.")));
    value_push(a, &list, condition);
    return list;
}

const struct columns_rule columns_pod_rules[] = {
    { STR(""), STR("Pod"), print_pod, .conditions = end_conditions },
    { STR(""), STR("PodTemplate"), print_pod_template },
    { .print = NULL },
};
