#include "node/agent/plan.h"

#include "api/quantity.h"
#include "node/pod/pod_config.h"
#include "base/banned.h"

struct planner {
    struct arena *a;
    const struct plan_input *in;
    struct plan p;
};

static size_t length(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

static void add_index(struct plan_indices *to, size_t i)
{
    to->at[to->n++] = i;
}

/* ---- Resources ---- */

static bool resource_eq(const struct value *x, const struct value *y, const char *list,
                        const char *name, bool milli)
{
    int64_t a = 0, b = 0;
    struct str tx = value_str(value_dig(x, list, name)), ty = value_str(value_dig(y, list, name));
    if (tx.n)
        (void)quantity_units(tx, milli, &a);
    if (ty.n)
        (void)quantity_units(ty, milli, &b);
    return a == b;
}

void plan_compare_resources(const struct value *wanted, const struct value *given, bool *ret_cpu,
                            bool *ret_memory)
{
    *ret_cpu = !resource_eq(wanted, given, "limits", "cpu", true) ||
               !resource_eq(wanted, given, "requests", "cpu", true);
    *ret_memory = !resource_eq(wanted, given, "limits", "memory", false) ||
                  !resource_eq(wanted, given, "requests", "memory", false);
}

static bool restarts_for(const struct value *spec, const char *resource)
{
    value_each_item (p, value_get(spec, STR("resizePolicy")))
        if (str_eq(value_text(p, "resourceName"), str_of(resource)))
            return str_eq(value_text(p, "restartPolicy"), STR("RestartContainer"));
    return false;
}

static void add_kill(struct planner *pl, const struct runtime_container *c,
                     const struct value *spec, struct str message, enum kill_reason reason)
{
    pl->p.kills[pl->p.n_kills++] = (struct plan_kill){ c, spec, message, reason };
}

/* False: the container must start anew to get its new resources. */
static bool plan_resources(struct planner *pl, const struct value *spec,
                           const struct runtime_container *c, struct plan_indices *starts, size_t i)
{
    if (!pl->in->actuated || pod_is_static(pl->in->pod))
        return true;
    bool cpu, memory;
    const struct value *given = value_get(pl->in->actuated, c->name);
    if (!given)
        return true;
    plan_compare_resources(value_get(spec, STR("resources")), given, &cpu, &memory);
    if (!cpu && !memory)
        return true;
    pl->p.resizes_pod = true;
    if ((cpu && restarts_for(spec, "cpu")) || (memory && restarts_for(spec, "memory"))) {
        add_kill(
            pl, c, spec,
            arena_printf(pl->a, "Container " STR_FMT " resize requires restart", STR_ARG(c->name)),
            KILL_OTHER);
        add_index(starts, i);
        return false;
    }
    pl->p.resizes[pl->p.n_resizes++] = (struct plan_resize){ c, spec, cpu, memory };
    return true;
}

/* ---- Everything anew ---- */

static void add_resets(struct planner *pl, const struct value *list, bool sources)
{
    value_each_item (spec, list) {
        for (size_t i = 0; i < pl->in->have->n_containers; i++) {
            const struct runtime_container *c = &pl->in->have->containers[i];
            if (!str_eq(c->name, value_text(spec, "name")))
                continue;
            bool is_source =
                c->state == CONTAINER_EXITED && container_restarts_all(spec, c->exit_code);
            if (is_source == sources)
                pl->p.resets[pl->p.n_resets++] = c;
        }
    }
}

/* Those that have asked for it go last. */
static void plan_resets(struct planner *pl)
{
    const struct value *pod = pl->in->pod;
    for (int sources = 0; sources < 2; sources++) {
        add_resets(pl, pod_containers(pod), sources);
        add_resets(pl, pod_init_containers(pod), sources);
    }
}

/* ---- A new sandbox ---- */

static bool has_succeeded(const struct planner *pl, const struct value *spec)
{
    const struct runtime_container *c = runtime_find(pl->in->have, value_text(spec, "name"));
    return c && c->state == CONTAINER_EXITED && !c->exit_code;
}

static void plan_sandbox(struct planner *pl)
{
    const struct value *pod = pl->in->pod, *spec = pod_spec(pod);
    struct str policy = value_text(spec, "restartPolicy");
    if (str_eq(policy, STR("Never")) && pl->p.attempt && pl->in->have->n_containers) {
        pl->p.create_sandbox = false; /* it has run, and that was all */
        return;
    }
    struct plan_indices *main = &pl->p.main;
    size_t i = 0;
    value_each_item (c, pod_containers(pod)) {
        struct str own = value_text(c, "restartPolicy");
        bool once = str_eq(own.n ? own : policy, STR("OnFailure"));
        if (!once || !has_succeeded(pl, c))
            add_index(main, i);
        i++;
    }
    if (!main->n && pod_has_made_any(pod, pl->in->have)) {
        pl->p.create_sandbox = false;
        return;
    }
    if (!length(pod_init_containers(pod)))
        return;
    main->n = 0;
    add_index(&pl->p.init, 0);
}

/* ---- Init containers ---- */

static enum probe_result probe_of(const struct planner *pl, enum probe_kind kind,
                                  const struct runtime_container *c)
{
    return pl->in->probe ? pl->in->probe(pl->in->arg, kind, c->id) : PROBE_NONE;
}

static bool has_changed(struct planner *pl, const struct value *spec,
                        const struct runtime_container *c)
{
    return !str_eq(pod_container_hash(pl->a, spec), c->hash);
}

static void init_again(struct planner *pl, size_t i, const struct value *spec,
                       const struct runtime_container *c, const char *why, enum kill_reason reason)
{
    add_kill(pl, c, spec,
             arena_printf(pl->a, "Init container " STR_FMT " %s", STR_ARG(c->name), why), reason);
    add_index(&pl->p.init, i);
}

/* A sidecar that runs. `first` : those after it have not been started yet. */
static void plan_sidecar(struct planner *pl, size_t i, const struct value *spec,
                         const struct runtime_container *c, bool first, bool *initialized)
{
    if (value_get(spec, STR("startupProbe"))) {
        enum probe_result startup = probe_of(pl, PROBE_STARTUP, c);
        if (startup == PROBE_FAILURE)
            init_again(pl, i, spec, c, "failed startup probe", KILL_STARTUP_PROBE);
        if (startup != PROBE_SUCCESS)
            return;
    }
    if (i + 1 == length(pod_init_containers(pl->in->pod)))
        *initialized = true;
    else if (first)
        add_index(&pl->p.init, i + 1);
    if (has_changed(pl, spec, c)) {
        init_again(pl, i, spec, c, "definition changed", KILL_OTHER);
        return;
    }
    if (value_get(spec, STR("livenessProbe"))) {
        enum probe_result alive = probe_of(pl, PROBE_LIVENESS, c);
        if (alive == PROBE_NONE)
            return;
        if (alive == PROBE_FAILURE) {
            init_again(pl, i, spec, c, "failed liveness probe", KILL_LIVENESS_PROBE);
            return;
        }
    }
    (void)plan_resources(pl, spec, c, &pl->p.init, i);
}

/* False: the pod has failed for good. */
static bool plan_init_end(struct planner *pl, size_t i, const struct value *spec,
                          const struct runtime_container *c, bool *initialized)
{
    if (container_is_sidecar(spec)) {
        add_index(&pl->p.init, i);
        return true;
    }
    if (c->exit_code) {
        if (!container_is_due(pl->in->pod, spec, pl->in->have))
            return false;
        add_index(&pl->p.init, i);
        return true;
    }
    if (i + 1 == length(pod_init_containers(pl->in->pod)))
        *initialized = true;
    else
        add_index(&pl->p.init, i + 1);
    return true;
}

static bool plan_init_unknown(struct planner *pl, size_t i, const struct value *spec,
                              const struct runtime_container *c)
{
    if (!container_is_sidecar(spec) && !container_restarts_when_killed(pl->in->pod, spec))
        return false;
    add_kill(pl, c, spec,
             STR("Init container is in \"unknown\" state, try killing it before restart"),
             KILL_OTHER);
    add_index(&pl->p.init, i);
    return true;
}

/* False: it has failed for good. */
static bool plan_init_one(struct planner *pl, size_t i, const struct value *spec,
                          const struct runtime_container *c, bool first, bool *initialized)
{
    switch (c->state) {
    case CONTAINER_CREATED: /* it could not be started */
        add_index(&pl->p.init, i);
        return true;
    case CONTAINER_RUNNING:
        if (container_is_sidecar(spec))
            plan_sidecar(pl, i, spec, c, first, initialized);
        else
            (void)plan_resources(pl, spec, c, &pl->p.init, i);
        return true;
    case CONTAINER_EXITED:
        return plan_init_end(pl, i, spec, c, initialized);
    default:
        return plan_init_unknown(pl, i, spec, c);
    }
}

static void reverse(struct plan_indices *all)
{
    for (size_t i = 0; i < all->n / 2; i++) {
        size_t other = all->at[i];
        all->at[i] = all->at[all->n - 1 - i];
        all->at[all->n - 1 - i] = other;
    }
}

/* Whether initialization is over. Goes from the last one backwards, since those that have ended may
 * have been removed. */
static bool plan_init(struct planner *pl)
{
    const struct value *list = pod_init_containers(pl->in->pod);
    if (!length(list))
        return true;
    bool initialized = pod_has_started(pl->in->pod, pl->in->have);
    bool later_is_done = initialized;
    for (size_t i = length(list); i-- > 0;) {
        const struct value *spec = value_at(list, i);
        const struct runtime_container *c =
            runtime_find_active(pl->in->have, value_text(spec, "name"));
        bool is_sidecar = container_is_sidecar(spec);
        if (!c) {
            if (later_is_done && is_sidecar)
                add_index(&pl->p.init, i);
            continue;
        }
        if (later_is_done && !is_sidecar)
            continue;
        if (!plan_init_one(pl, i, spec, c, !later_is_done, &initialized)) {
            pl->p.kill_pod = true;
            pl->p.init.n = 0;
            return false;
        }
        later_is_done = true;
    }
    if (!later_is_done)
        add_index(&pl->p.init, 0);
    reverse(&pl->p.init);
    return initialized;
}

/* ---- Main containers ---- */

/* Why a container that runs must end; empty: it need not. */
static struct str unwanted(struct planner *pl, const struct value *spec,
                           const struct runtime_container *c, enum kill_reason *ret,
                           bool *ret_restart)
{
    if (has_changed(pl, spec, c)) {
        *ret_restart = true; /* whatever the policy says */
        return STR("definition changed");
    }
    if (probe_of(pl, PROBE_LIVENESS, c) == PROBE_FAILURE) {
        *ret = KILL_LIVENESS_PROBE;
        return STR("failed liveness probe");
    }
    if (probe_of(pl, PROBE_STARTUP, c) == PROBE_FAILURE) {
        *ret = KILL_STARTUP_PROBE;
        return STR("failed startup probe");
    }
    return STR("");
}

/* 1 if it runs and stays. */
static size_t plan_running(struct planner *pl, size_t i, const struct value *spec,
                           const struct runtime_container *c)
{
    enum kill_reason reason = KILL_OTHER;
    bool restart = container_restarts_when_killed(pl->in->pod, spec);
    struct str why = unwanted(pl, spec, c, &reason, &restart);
    if (!why.n)
        return plan_resources(pl, spec, c, &pl->p.main, i);
    if (restart)
        add_index(&pl->p.main, i);
    add_kill(pl, c, spec,
             arena_printf(pl->a, "Container " STR_FMT " " STR_FMT "%s", STR_ARG(c->name),
                          STR_ARG(why), restart ? ", will be restarted" : ""),
             reason);
    return 0;
}

static void plan_main(struct planner *pl)
{
    size_t i = 0, kept = 0;
    value_each_item (spec, pod_containers(pl->in->pod)) {
        const struct runtime_container *c = runtime_find(pl->in->have, value_text(spec, "name"));
        if (c && c->state == CONTAINER_RUNNING) {
            kept += plan_running(pl, i, spec, c);
        } else if (container_is_due(pl->in->pod, spec, pl->in->have)) {
            add_index(&pl->p.main, i);
            if (c && c->state == CONTAINER_UNKNOWN)
                add_kill(pl, c, spec,
                         STR("Container is in \"unknown\" state, try killing it before restart"),
                         KILL_OTHER);
        }
        i++;
    }
    if (kept || pl->p.main.n)
        return;
    pl->p.kill_pod = true;
    pl->p.init.n = 0; /* sidecars do not keep a pod alive */
}

static void plan_ephemeral(struct planner *pl)
{
    size_t i = 0;
    value_each_item (c, pod_ephemeral_containers(pl->in->pod)) {
        if (!runtime_find(pl->in->have, value_text(c, "name")))
            add_index(&pl->p.ephemeral, i);
        i++;
    }
}

static void make_room(struct planner *pl)
{
    const struct value *pod = pl->in->pod;
    size_t n_init = length(pod_init_containers(pod)), n_main = length(pod_containers(pod));
    size_t n = pl->in->have->n_containers + n_init + n_main + 1;
    pl->p.init.at = arena_array(pl->a, size_t, 2 * n_init + 1);
    pl->p.main.at = arena_array(pl->a, size_t, n_main + 1);
    pl->p.ephemeral.at = arena_array(pl->a, size_t, length(pod_ephemeral_containers(pod)) + 1);
    pl->p.kills = arena_array(pl->a, struct plan_kill, n);
    pl->p.resizes = arena_array(pl->a, struct plan_resize, n);
    pl->p.resets = arena_array(pl->a, const struct runtime_container *, n);
}

struct plan plan_make(struct arena *a, const struct plan_input *in)
{
    struct planner pl = { .a = a, .in = in };
    make_room(&pl);
    struct str why;
    pl.p.create_sandbox =
        pod_needs_sandbox(in->pod, in->have, &pl.p.attempt, &pl.p.sandbox_id, &why);
    pl.p.kill_pod = pl.p.create_sandbox;
    if (in->restarts_all) {
        plan_resets(&pl);
        return pl.p;
    }
    if (pl.p.create_sandbox) {
        plan_sandbox(&pl);
        return pl.p;
    }
    plan_ephemeral(&pl);
    if (plan_init(&pl) && !pl.p.kill_pod)
        plan_main(&pl);
    return pl.p;
}
