/* pod_life.c - the pod as a whole: which containers may start, its phase and its conditions. */
#include "node/simulated/pod_life.h"

#include <sampan/meta.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "base/banned.h"

enum { CONTAINERS_MAX = 256, MS = 1000 };

/* All containers of a pod, and what they come to. */
struct crew {
    struct container *init, *main, *ephemeral;
    size_t n_init, n_main, n_ephemeral;
};

/* ---- Its containers ---- */

static enum container_role init_role(const struct spn_value *spec)
{
    struct spn_text policy = spn_value_text(spn_value_get(spec, "restartPolicy"));
    return life_text_is(policy, "Always") ? CONTAINER_SIDECAR : CONTAINER_INIT;
}

static struct container *read_all(struct life *l, const char *key, enum container_role role,
                                  size_t *ret_n)
{
    const struct spn_value *list = spn_value_dig(l->pod, "spec", key);
    const size_t n = spn_value_count(list) < CONTAINERS_MAX ? spn_value_count(list) : 0;
    struct container *all = spn_arena_alloc(l->a, n * sizeof(*all) + 1);
    for (size_t i = 0; i < n; i++) {
        const struct spn_value *spec = spn_value_at(list, i);
        all[i] = container_read(l, spec, role == CONTAINER_INIT ? init_role(spec) : role);
    }
    *ret_n = n;
    return all;
}

static struct crew read_crew(struct life *l)
{
    struct crew c;
    c.init = read_all(l, "initContainers", CONTAINER_INIT, &c.n_init);
    c.main = read_all(l, "containers", CONTAINER_MAIN, &c.n_main);
    c.ephemeral = read_all(l, "ephemeralContainers", CONTAINER_EPHEMERAL, &c.n_ephemeral);
    return c;
}

static bool is_initialized(const struct container *c)
{
    if (c->role == CONTAINER_SIDECAR)
        return c->is_started;
    return c->state == CONTAINER_ENDED && container_exit_code(c) == 0;
}

static bool has_main_started(const struct crew *crew)
{
    for (size_t i = 0; i < crew->n_main; i++)
        if (crew->main[i].state != CONTAINER_WAITS || crew->main[i].last)
            return true;
    return false;
}

/* One after the other; the others when all are through. */
static void live_all(struct life *l, struct crew *crew)
{
    bool may_start = life_is_due(l, spn_value_dig(l->pod, "status", "startTime"), l->wish.start_ms);
    const bool was_through = has_main_started(crew);
    for (size_t i = 0; i < crew->n_init; i++) {
        container_live(l, &crew->init[i], may_start || was_through);
        may_start = may_start && is_initialized(&crew->init[i]);
    }
    for (size_t i = 0; i < crew->n_main; i++)
        container_live(l, &crew->main[i], may_start || was_through);
    for (size_t i = 0; i < crew->n_ephemeral; i++)
        container_live(l, &crew->ephemeral[i], may_start || was_through);
}

static void stop_all(struct life *l, struct crew *crew, int64_t code)
{
    for (size_t i = 0; i < crew->n_main; i++)
        container_stop(l, &crew->main[i], code);
    for (size_t i = 0; i < crew->n_init; i++)
        container_stop(l, &crew->init[i], crew->init[i].role == CONTAINER_SIDECAR ? 0 : code);
    for (size_t i = 0; i < crew->n_ephemeral; i++)
        container_stop(l, &crew->ephemeral[i], code);
}

/* ---- Its phase ---- */

static bool has_init_failed(const struct crew *crew)
{
    for (size_t i = 0; i < crew->n_init; i++)
        if (crew->init[i].role == CONTAINER_INIT && crew->init[i].state == CONTAINER_ENDED &&
            container_exit_code(&crew->init[i]))
            return true;
    return false;
}

static const char *phase_of(const struct crew *crew)
{
    size_t n_waiting = 0, n_ended = 0, n_failed = 0;
    if (has_init_failed(crew))
        return "Failed";
    for (size_t i = 0; i < crew->n_main; i++) {
        const struct container *c = &crew->main[i];
        n_waiting += c->state == CONTAINER_WAITS && !c->last;
        n_ended += c->state == CONTAINER_ENDED;
        n_failed += c->state == CONTAINER_ENDED && container_exit_code(c);
    }
    if (n_waiting)
        return "Pending";
    if (n_ended < crew->n_main || !crew->n_main)
        return "Running";
    return n_failed ? "Failed" : "Succeeded";
}

static bool is_final(struct spn_text phase)
{
    return life_text_is(phase, "Succeeded") || life_text_is(phase, "Failed");
}

/* ---- Its conditions ---- */

struct condition {
    const char *type;
    bool is_true;
    const char *reason; /* NULL: none */
    struct spn_text message;
};

static struct spn_text add_name(struct life *l, struct spn_text names, struct spn_text name)
{
    return spn_arena_printf(l->a, SPN_FMT "%s" SPN_FMT, SPN_ARG(names), names.n ? " " : "",
                            SPN_ARG(name));
}

static struct condition initialized(struct life *l, const struct crew *crew, const char *phase)
{
    struct condition cond = { "Initialized", true, NULL, { 0 } };
    struct spn_text names = SPN_TEXT("");
    for (size_t i = 0; i < crew->n_init; i++)
        if (!is_initialized(&crew->init[i]))
            names = add_name(l, names, crew->init[i].name);
    if (life_text_is(SPN_TEXT("Succeeded"), phase)) {
        cond.reason = "PodCompleted";
    } else if (names.n && !has_main_started(crew)) {
        cond.is_true = false;
        cond.reason = "ContainersNotInitialized";
        cond.message = spn_arena_printf(l->a, "containers with incomplete status: [" SPN_FMT "]",
                                        SPN_ARG(names));
    }
    return cond;
}

static struct spn_text unready_names(struct life *l, const struct crew *crew)
{
    struct spn_text names = SPN_TEXT("");
    for (size_t i = 0; i < crew->n_init; i++)
        if (crew->init[i].role == CONTAINER_SIDECAR && !crew->init[i].is_ready)
            names = add_name(l, names, crew->init[i].name);
    for (size_t i = 0; i < crew->n_main; i++)
        if (!crew->main[i].is_ready)
            names = add_name(l, names, crew->main[i].name);
    return names;
}

static struct condition containers_ready(struct life *l, const struct crew *crew, const char *phase)
{
    struct condition cond = { "ContainersReady", false, NULL, { 0 } };
    struct spn_text names = unready_names(l, crew);
    if (life_text_is(SPN_TEXT("Succeeded"), phase)) {
        cond.reason = "PodCompleted";
    } else if (life_text_is(SPN_TEXT("Failed"), phase)) {
        cond.reason = "PodFailed";
    } else if (names.n) {
        cond.reason = "ContainersNotReady";
        cond.message =
            spn_arena_printf(l->a, "containers with unready status: [" SPN_FMT "]", SPN_ARG(names));
    } else {
        cond.is_true = true;
    }
    return cond;
}

/* What else must be true, as the pod says. */
static struct spn_text closed_gates(struct life *l)
{
    const struct spn_value *gates = spn_value_dig(l->pod, "spec", "readinessGates");
    struct spn_text all = SPN_TEXT("");
    for (size_t i = 0; i < spn_value_count(gates); i++) {
        struct spn_text type =
            spn_value_text(spn_value_get(spn_value_at(gates, i), "conditionType"));
        const struct spn_value *cond = spn_condition_get(l->pod, spn_arena_text(l->a, type).p);
        struct spn_text status = spn_value_text(spn_value_get(cond, "status"));
        if (life_text_is(status, "True"))
            continue;
        all = spn_arena_printf(l->a, SPN_FMT "%s", SPN_ARG(all), all.n ? ", " : "");
        all = cond ? spn_arena_printf(l->a,
                                      SPN_FMT "the status of pod readiness gate \"" SPN_FMT
                                              "\" is not \"True\", but " SPN_FMT,
                                      SPN_ARG(all), SPN_ARG(type), SPN_ARG(status))
                   : spn_arena_printf(l->a,
                                      SPN_FMT "corresponding condition of pod readiness gate "
                                              "\"" SPN_FMT "\" does not exist.",
                                      SPN_ARG(all), SPN_ARG(type));
    }
    return all;
}

static struct condition pod_ready(struct life *l, struct condition of_containers)
{
    struct condition cond = of_containers;
    cond.type = "Ready";
    if (!cond.is_true)
        return cond;
    cond.message = closed_gates(l);
    if (!cond.message.n)
        return cond;
    cond.is_true = false;
    cond.reason = "ReadinessGatesNotReady";
    return cond;
}

static void set_or_remove(struct life *l, struct spn_value *obj, const struct spn_value *old,
                          const char *key, struct spn_text text)
{
    if (text.n)
        spn_value_set_text(l->a, obj, key, text);
    else if (spn_value_get(old, key))
        spn_value_set(l->a, obj, key, spn_value_new(l->a, SPN_NULL));
}

static void set_generation(struct life *l, struct spn_value *obj)
{
    int64_t generation;
    if (spn_value_int(spn_value_dig(l->pod, "metadata", "generation"), &generation))
        spn_value_set_int(l->a, obj, "observedGeneration", generation);
}

/* One that stays as it is keeps its time. */
static void add_condition(struct life *l, struct spn_value *list, const struct condition *c)
{
    const struct spn_value *old = spn_condition_get(l->pod, c->type);
    struct spn_value *cond = spn_value_new(l->a, SPN_OBJECT);
    struct spn_text status = c->is_true ? SPN_TEXT("True") : SPN_TEXT("False");
    const bool is_same = old && spn_text_eq(spn_value_text(spn_value_get(old, "status")), status);
    struct spn_text since = spn_value_text(spn_value_get(old, "lastTransitionTime"));
    l->has_changed |= !is_same;
    spn_value_set_text(l->a, cond, "type", spn_text_of(c->type));
    spn_value_set_text(l->a, cond, "status", status);
    spn_value_set_text(l->a, cond, "lastTransitionTime", is_same && since.n ? since : l->now);
    set_or_remove(l, cond, old, "reason", spn_text_of(c->reason ? c->reason : ""));
    set_or_remove(l, cond, old, "message", c->message);
    set_generation(l, cond);
    spn_value_push(l->a, list, cond);
}

static void add_conditions(struct life *l, struct spn_value *status, const struct crew *crew,
                           const char *phase)
{
    struct spn_value *list =
        spn_value_set(l->a, status, "conditions", spn_value_new(l->a, SPN_ARRAY));
    const bool is_over = is_final(spn_text_of(phase));
    const bool is_made = !is_over && (has_main_started(crew) ||
                                      (crew->n_init && crew->init[0].state != CONTAINER_WAITS));
    const struct condition made = { "PodReadyToStartContainers", is_made, NULL, { 0 } };
    const struct condition init = initialized(l, crew, phase);
    const struct condition containers = containers_ready(l, crew, phase);
    const struct condition ready = pod_ready(l, containers);
    add_condition(l, list, &made);
    add_condition(l, list, &init);
    add_condition(l, list, &ready);
    add_condition(l, list, &containers);
}

/* ---- Its status ---- */

static void add_containers(struct life *l, struct spn_value *status, const char *key,
                           const struct container *all, size_t n)
{
    if (!n)
        return;
    struct spn_value *list = spn_value_set(l->a, status, key, spn_value_new(l->a, SPN_ARRAY));
    for (size_t i = 0; i < n; i++)
        spn_value_push(l->a, list, container_status(l, &all[i]));
}

static void add_addresses(struct life *l, struct spn_value *status, const char *one,
                          const char *many, struct spn_text ip)
{
    struct spn_value *list = spn_value_set(l->a, status, many, spn_value_new(l->a, SPN_ARRAY));
    struct spn_value *entry = spn_value_new(l->a, SPN_OBJECT);
    spn_value_set_text(l->a, status, one, ip);
    spn_value_set_text(l->a, entry, "ip", ip);
    spn_value_push(l->a, list, entry);
}

static void add_pod_ip(struct life *l, struct spn_value *status, const struct crew *crew)
{
    const bool is_on_host = spn_value_is_true(spn_value_dig(l->pod, "spec", "hostNetwork"));
    const bool has_begun =
        has_main_started(crew) || (crew->n_init && crew->init[0].state != CONTAINER_WAITS);
    if (is_on_host)
        add_addresses(l, status, "podIP", "podIPs", l->place->host_ip);
    else if (has_begun && !spn_value_dig(l->pod, "status", "podIP"))
        add_addresses(l, status, "podIP", "podIPs", l->place->pod_ip);
}

static struct spn_value *new_status(struct life *l, const struct crew *crew, const char *phase)
{
    struct spn_value *status = spn_value_new(l->a, SPN_OBJECT);
    int64_t seen = 0, generation = 0;
    (void)spn_value_int(spn_value_dig(l->pod, "status", "observedGeneration"), &seen);
    (void)spn_value_int(spn_value_dig(l->pod, "metadata", "generation"), &generation);
    l->has_changed |= seen != generation;
    l->has_changed |=
        !life_text_is(spn_value_text(spn_value_dig(l->pod, "status", "phase")), phase);
    set_generation(l, status);
    spn_value_set_text(l->a, status, "phase", spn_text_of(phase));
    add_conditions(l, status, crew, phase);
    add_containers(l, status, "initContainerStatuses", crew->init, crew->n_init);
    add_containers(l, status, "containerStatuses", crew->main, crew->n_main);
    add_containers(l, status, "ephemeralContainerStatuses", crew->ephemeral, crew->n_ephemeral);
    add_pod_ip(l, status, crew);
    return status;
}

/* ---- Steps ---- */

static struct pod_step written(const struct life *l, struct spn_value *status)
{
    return (struct pod_step){ .kind = POD_WRITES, .status = status, .events = l->events };
}

static struct pod_step begin(struct life *l)
{
    struct crew crew = read_crew(l);
    struct spn_text reason = spn_text_of(crew.n_init ? "PodInitializing" : "ContainerCreating");
    for (size_t i = 0; i < crew.n_init; i++)
        crew.init[i].reason = reason;
    for (size_t i = 0; i < crew.n_main; i++)
        crew.main[i].reason = reason;
    struct spn_value *status = new_status(l, &crew, "Pending");
    spn_value_set_text(l->a, status, "startTime", l->now);
    add_addresses(l, status, "hostIP", "hostIPs", l->place->host_ip);
    return written(l, status);
}

static bool is_past_deadline(struct life *l)
{
    int64_t sec;
    return spn_value_int(spn_value_dig(l->pod, "spec", "activeDeadlineSeconds"), &sec) &&
           life_is_due(l, spn_value_dig(l->pod, "status", "startTime"), sec * MS);
}

static struct pod_step live(struct life *l)
{
    struct crew crew = read_crew(l);
    const bool is_late = is_past_deadline(l);
    if (is_late)
        stop_all(l, &crew, LIFE_KILLED);
    else
        live_all(l, &crew);
    const char *phase = is_late ? "Failed" : phase_of(&crew);
    if (is_final(spn_text_of(phase)) && !is_late)
        stop_all(l, &crew, 0);
    struct spn_value *status = new_status(l, &crew, phase);
    if (is_late) {
        spn_value_set_text(l->a, status, "reason", SPN_TEXT("DeadlineExceeded"));
        spn_value_set_text(
            l->a, status, "message",
            SPN_TEXT("Pod was active on the node longer than the specified deadline"));
    }
    if (l->has_changed)
        return written(l, status);
    if (l->wait_ms >= 0)
        return (struct pod_step){ .kind = POD_WAITS, .wait_ms = l->wait_ms };
    return (struct pod_step){ .kind = POD_RESTS };
}

/* ---- The end of one that is deleted ---- */

/* True: its containers have had their time, which the grace bounds. */
static bool has_stopped(struct life *l, bool *ret_was_killed)
{
    const struct spn_value *meta = spn_value_get(l->pod, "metadata");
    int64_t at_ns, grace = 0;
    char text[CLOCK_TEXT_BYTES];
    (void)spn_value_int(spn_value_get(meta, "deletionGracePeriodSeconds"), &grace);
    *ret_was_killed = l->wish.stop_ms > grace * MS;
    if (!life_read_time(spn_value_get(meta, "deletionTimestamp"), &at_ns))
        return true;
    const int64_t asked_ns = at_ns - grace * NS_PER_SEC;
    struct spn_text asked = spn_arena_text(l->a, text_out(clock_format(asked_ns, false, text)));
    return life_is_due_text(l, asked, *ret_was_killed ? grace * MS : l->wish.stop_ms);
}

static bool say_killing(struct life *l, const struct crew *crew)
{
    bool runs = false;
    for (size_t i = 0; i < crew->n_main + crew->n_init; i++) {
        const struct container *c =
            i < crew->n_main ? &crew->main[i] : &crew->init[i - crew->n_main];
        if (c->state != CONTAINER_RUNS)
            continue;
        life_say(l, false, "Killing", "Stopping container " SPN_FMT, SPN_ARG(c->name));
        runs = true;
    }
    return runs;
}

/* Others may wait to see how it ended, if it was to end, or if somebody holds it. A server is just
 * removed: that saves a write. */
static struct pod_step vanish(struct life *l)
{
    struct crew crew = read_crew(l);
    struct spn_text phase = spn_value_text(spn_value_dig(l->pod, "status", "phase"));
    const bool is_held = spn_value_count(spn_value_dig(l->pod, "metadata", "finalizers"));
    const bool is_server = !l->policy.n || life_text_is(l->policy, "Always");
    bool was_killed = false;
    if (!is_final(phase) && !has_stopped(l, &was_killed))
        return (struct pod_step){ .kind = POD_WAITS, .wait_ms = l->wait_ms };
    const bool runs = say_killing(l, &crew);
    if (is_final(phase) || (is_server && !is_held) || !spn_value_dig(l->pod, "status", "startTime"))
        return (struct pod_step){ .kind = POD_IS_OVER, .events = runs ? l->events : NULL };
    stop_all(l, &crew, was_killed ? LIFE_KILLED : LIFE_TERMINATED);
    return written(l, new_status(l, &crew, "Failed"));
}

struct pod_step pod_life_next(struct spn_arena *a, const struct spn_value *pod,
                              const struct pod_place *place)
{
    char text[CLOCK_TEXT_BYTES];
    struct life l = { .a = a, .pod = pod, .place = place, .wait_ms = -1 };
    l.last_event = &l.events;
    l.wish = pod_wish_read(pod);
    l.now = spn_arena_text(a, text_out(clock_format(place->now_ns, false, text)));
    l.policy = spn_value_text(spn_value_dig(pod, "spec", "restartPolicy"));
    if (spn_value_dig(pod, "metadata", "deletionTimestamp"))
        return vanish(&l);
    if (is_final(spn_value_text(spn_value_dig(pod, "status", "phase"))))
        return (struct pod_step){ .kind = POD_RESTS };
    if (!spn_value_dig(pod, "status", "startTime"))
        return begin(&l);
    return live(&l);
}
