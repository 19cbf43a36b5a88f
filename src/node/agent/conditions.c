#include "node/agent/conditions.h"

#include "api/words.h"
#include "base/buf.h"
#include "node/agent/container_status.h"
#include "base/banned.h"

/* ---- Phase ---- */

struct tally {
    unsigned pending_init, pending_sidecars, init_failed_for_good;
    unsigned unknown, running, waiting, stopped, stopped_for_good, succeeded;
};

/* How its last run ended. False: it has not. */
static bool end_of(const struct value *status, const char *which, int64_t *ret_code,
                   bool *ret_is_reset)
{
    const struct value *t = value_dig(status, which, "terminated");
    *ret_is_reset = str_eq(value_text(t, "reason"), STR("RestartingAllContainers"));
    return value_to_int(value_get(t, STR("exitCode")), ret_code);
}

static struct str state_of(const struct value *status)
{
    return state_name(value_get(status, STR("state")));
}

static void tally_init(struct tally *t, const struct value *pod, const struct value *spec,
                       const struct value *status)
{
    int64_t code;
    bool is_reset;
    struct str state = state_of(status);
    bool is_over = str_eq(state, STR("terminated")) && end_of(status, "state", &code, &is_reset);
    if (!is_over)
        is_over = str_eq(state, STR("waiting")) && end_of(status, "lastState", &code, &is_reset);
    if (!is_over)
        t->pending_init++;
    else if (code && !is_reset && !container_should_restart(pod, spec, code))
        t->init_failed_for_good++;
}

static void tally_sidecar(struct tally *t, const struct value *status)
{
    int64_t code;
    bool is_reset;
    struct str state = state_of(status);
    if (!status) {
        t->unknown++;
    } else if (str_eq(state, STR("running"))) {
        t->pending_sidecars += !value_is_true(value_get(status, STR("started")));
        t->running++;
    } else if (str_eq(state, STR("waiting"))) {
        if (end_of(status, "lastState", &code, &is_reset))
            return;
        t->pending_sidecars++;
        t->waiting++;
    } else if (!str_eq(state, STR("terminated"))) {
        t->pending_sidecars++;
        t->unknown++;
    }
}

static void tally_main(struct tally *t, const struct value *pod, const struct value *spec,
                       const struct value *status)
{
    int64_t code;
    bool is_reset;
    struct str state = state_of(status);
    if (str_eq(state, STR("running"))) {
        t->running++;
        return;
    }
    bool is_over = str_eq(state, STR("terminated"));
    bool is_waiting = str_eq(state, STR("waiting"));
    if (!is_over && !is_waiting) {
        t->unknown++;
        return;
    }
    if (!end_of(status, is_over ? "state" : "lastState", &code, &is_reset)) {
        t->waiting++;
        return;
    }
    t->stopped++;
    t->stopped_for_good += !is_reset && !container_should_restart(pod, spec, code);
    t->succeeded += is_over && !code;
}

static struct tally tally_of(const struct value *pod, const struct value *statuses)
{
    struct tally t = { 0 };
    value_each_item (c, pod_init_containers(pod)) {
        const struct value *s = list_named(statuses, value_text(c, "name"));
        if (container_is_sidecar(c))
            tally_sidecar(&t, s);
        else
            tally_init(&t, pod, c, s);
    }
    value_each_item (c, pod_containers(pod))
        tally_main(&t, pod, c, list_named(statuses, value_text(c, "name")));
    return t;
}

struct str phase_of(const struct value *pod, const struct value *statuses, bool is_terminal,
                    bool has_started)
{
    struct tally t = tally_of(pod, statuses);
    if (t.init_failed_for_good)
        return STR("Failed");
    if (t.pending_init || (t.pending_sidecars && !has_started) || t.waiting)
        return STR("Pending");
    if (t.running && !t.unknown)
        return STR("Running");
    if (t.running || !t.stopped || t.unknown)
        return STR("Pending");
    if (is_terminal && !pod_is_static(pod))
        return t.stopped == t.succeeded ? STR("Succeeded") : STR("Failed");
    if (t.stopped != t.stopped_for_good)
        return STR("Running");
    return t.stopped == t.succeeded ? STR("Succeeded") : STR("Failed");
}

/* ---- Conditions ---- */

bool condition_is_ours(struct str type)
{
    static const struct str ours[] = {
        STR("PodScheduled"),
        STR("Ready"),
        STR("Initialized"),
        STR("ContainersReady"),
        STR("PodResizeInProgress"),
        STR("PodResizePending"),
        STR("PodReadyToStartContainers"),
        STR("AllContainersRestarting"),
    };
    return words_have(type, WORDS(ours));
}

static void put_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put_new(a, obj, key, value_string(text));
}

struct value condition_new(struct arena *a, const struct value *pod, struct str type,
                           struct str status, struct str reason, struct str message)
{
    struct value c = value_object();
    int64_t generation = 0;
    (void)value_to_int(value_dig(pod, "metadata", "generation"), &generation);
    value_put_new(a, &c, STR("type"), value_string(type));
    if (generation)
        value_put_new(a, &c, STR("observedGeneration"), value_int(generation));
    value_put_new(a, &c, STR("status"), value_string(status));
    value_put_new(a, &c, STR("lastProbeTime"), value_null());
    put_text(a, &c, STR("reason"), reason);
    put_text(a, &c, STR("message"), message);
    return c;
}

void condition_put(struct arena *a, struct value *conditions, struct value c)
{
    struct str type = value_text(&c, "type");
    for (size_t i = 0; i < conditions->n; i++) {
        struct value *at = value_edit_at(a, conditions, i);
        if (!str_eq(value_text(at, "type"), type))
            continue;
        *at = c;
        return;
    }
    value_put_item(a, conditions, c);
}

/* Names as Go prints a list of them. */
struct names {
    struct buf text;
};

static void names_add(struct names *n, struct str name)
{
    buf_byte(&n->text, n->text.n ? ' ' : '[');
    buf_str_add(&n->text, name);
}

/* "KIND: [a b], KIND: [c]" of those that are not empty. */
static struct str names_message(struct arena *a, struct names *unknown, const char *kind,
                                struct names *others)
{
    autobuf out = { 0 };
    if (unknown->text.n)
        buf_printf(&out, "containers with unknown status: " STR_FMT "]",
                   STR_ARG(buf_str(&unknown->text)));
    if (others->text.n)
        buf_printf(&out, "%scontainers with %s status: " STR_FMT "]", out.n ? ", " : "", kind,
                   STR_ARG(buf_str(&others->text)));
    buf_done(&unknown->text);
    buf_done(&others->text);
    return arena_str(a, buf_str(&out));
}

static void sort_ready(const struct value *list, bool sidecars_only, const struct value *statuses,
                       struct names *unknown, struct names *unready)
{
    value_each_item (c, list) {
        if (sidecars_only && !container_is_sidecar(c))
            continue;
        struct str name = value_text(c, "name");
        const struct value *s = list_named(statuses, name);
        if (!s)
            names_add(unknown, name);
        else if (!value_is_true(value_get(s, STR("ready"))))
            names_add(unready, name);
    }
}

struct value condition_containers_ready(struct arena *a, const struct value *pod,
                                        const struct value *statuses, struct str phase)
{
    struct str type = STR("ContainersReady");
    if (!statuses)
        return condition_new(a, pod, type, STR("False"), STR("UnknownContainerStatuses"), STR(""));
    struct names unknown = { 0 }, unready = { 0 };
    sort_ready(pod_init_containers(pod), true, statuses, &unknown, &unready);
    sort_ready(pod_containers(pod), false, statuses, &unknown, &unready);
    bool is_known = !unknown.text.n;
    struct str message = names_message(a, &unknown, "unready", &unready);
    if (str_eq(phase, STR("Succeeded")) && is_known)
        return condition_new(a, pod, type, STR("False"), STR("PodCompleted"), STR(""));
    if (str_eq(phase, STR("Failed")))
        return condition_new(a, pod, type, STR("False"), STR("PodFailed"), STR(""));
    if (message.n)
        return condition_new(a, pod, type, STR("False"), STR("ContainersNotReady"), message);
    return condition_new(a, pod, type, STR("True"), STR(""), STR(""));
}

/* What readiness gates lack; empty: nothing. */
static struct str gates_message(struct arena *a, const struct value *pod,
                                const struct value *conditions)
{
    autobuf out = { 0 };
    value_each_item (gate, value_dig(pod, "spec", "readinessGates")) {
        struct str type = value_text(gate, "conditionType");
        const struct value *c = NULL;
        value_each_item (it, conditions)
            if (str_eq(value_text(it, "type"), type))
                c = it;
        struct str status = value_text(c, "status");
        if (str_eq(status, STR("True")))
            continue;
        buf_printf(&out, "%s", out.n ? ", " : "");
        if (!c)
            buf_printf(&out,
                       "corresponding condition of pod readiness gate \"" STR_FMT
                       "\" does not exist.",
                       STR_ARG(type));
        else
            buf_printf(&out,
                       "the status of pod readiness gate \"" STR_FMT
                       "\" is not \"True\", but " STR_FMT,
                       STR_ARG(type), STR_ARG(status));
    }
    return arena_str(a, buf_str(&out));
}

struct value condition_ready(struct arena *a, const struct value *pod,
                             const struct value *conditions, const struct value *statuses,
                             struct str phase)
{
    struct value c = condition_containers_ready(a, pod, statuses, phase);
    struct str message = gates_message(a, pod, conditions);
    if (str_eq(value_text(&c, "status"), STR("True")) && message.n)
        return condition_new(a, pod, STR("Ready"), STR("False"), STR("ReadinessGatesNotReady"),
                             message);
    value_put(a, &c, STR("type"), value_string(STR("Ready")));
    return c;
}

static bool main_has_started(const struct value *pod, const struct value *statuses)
{
    value_each_item (c, pod_containers(pod)) {
        struct str state = state_of(list_named(statuses, value_text(c, "name")));
        if (str_eq(state, STR("running")) || str_eq(state, STR("terminated")))
            return true;
    }
    return false;
}

static void sort_initialized(const struct value *pod, const struct value *statuses,
                             struct names *unknown, struct names *incomplete)
{
    value_each_item (c, pod_init_containers(pod)) {
        struct str name = value_text(c, "name");
        const struct value *s = list_named(statuses, name);
        struct str key = container_is_sidecar(c) ? STR("started") : STR("ready");
        if (!s)
            names_add(unknown, name);
        else if (!value_is_true(value_get(s, key)))
            names_add(incomplete, name);
    }
}

struct value condition_initialized(struct arena *a, const struct value *pod,
                                   const struct value *old, const struct value *statuses,
                                   struct str phase)
{
    struct str type = STR("Initialized");
    const struct value *init = pod_init_containers(pod);
    if (!statuses && value_is(init, VALUE_ARRAY) && init->n)
        return condition_new(a, pod, type, STR("False"), STR("UnknownContainerStatuses"), STR(""));
    struct names unknown = { 0 }, incomplete = { 0 };
    sort_initialized(pod, statuses, &unknown, &incomplete);
    bool is_known = !unknown.text.n;
    struct str message = names_message(a, &unknown, "incomplete", &incomplete);
    if (str_eq(phase, STR("Succeeded")) && is_known)
        return condition_new(a, pod, type, STR("True"), STR("PodCompleted"), STR(""));
    const struct value *was = rules_condition(old, type);
    if (!message.n || main_has_started(pod, statuses) ||
        str_eq(value_text(was, "status"), STR("True")))
        return condition_new(a, pod, type, STR("True"), STR(""), STR(""));
    return condition_new(a, pod, type, STR("False"), STR("ContainersNotInitialized"), message);
}

struct value condition_sandbox(struct arena *a, const struct value *pod,
                               const struct runtime_pod *have)
{
    uint32_t attempt;
    struct str id, why, type = STR("PodReadyToStartContainers");
    if (pod_needs_sandbox(pod, have, &attempt, &id, &why))
        return condition_new(a, pod, type, STR("False"), STR("PodSandboxNotReady"), why);
    return condition_new(a, pod, type, STR("True"), STR(""), STR(""));
}

/* Nothing of the pod is left in the runtime. */
static bool is_cleaned_up(const struct value *pod, const struct runtime_pod *have)
{
    value_each_item (c, pod_containers(pod))
        if (runtime_find(have, value_text(c, "name")))
            return false;
    value_each_item (c, pod_init_containers(pod))
        if (runtime_find(have, value_text(c, "name")))
            return false;
    return true;
}

struct value condition_restarting(struct arena *a, const struct value *pod,
                                  const struct runtime_pod *have, const struct value *old,
                                  struct str phase)
{
    struct str type = STR("AllContainersRestarting");
    struct value c;
    if (phase_is_final(phase))
        c = condition_new(a, pod, type, STR("False"),
                          str_eq(phase, STR("Failed")) ? STR("PodFailed") : STR("PodCompleted"),
                          STR(""));
    else if (!pod_restarts_all(pod, have, old) || is_cleaned_up(pod, have))
        c = condition_new(a, pod, type, STR("False"), STR(""), STR(""));
    else
        c = condition_new(a, pod, type, STR("True"), STR("RestartAllContainersStarted"),
                          STR("container exited with restart policy rule"));
    value_drop(a, &c, STR("observedGeneration"));
    return c;
}
