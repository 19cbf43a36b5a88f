/* container.c - one container: waits, runs, ends, and perhaps starts again. */
#include "base/clock.h"
#include "base/idiom.h"
#include "base/str.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "base/banned.h"

enum {
    BACK_OFF_SEC = 10,
    BACK_OFF_MAX_SEC = 300,
    BACK_OFF_FORGOTTEN_SEC = 600, /* one that ran so long starts again at once */
    MS = 1000,
};

/* ---- As its status says ---- */

static const struct spn_value *named(const struct spn_value *list, struct spn_text name)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(list, i), "name")), name))
            return spn_value_at(list, i);
    return NULL;
}

static const char *list_of(enum container_role role)
{
    switch (role) {
    case CONTAINER_MAIN:
        return "containerStatuses";
    case CONTAINER_EPHEMERAL:
        return "ephemeralContainerStatuses";
    case CONTAINER_INIT:
    case CONTAINER_SIDECAR:
        break;
    }
    return "initContainerStatuses";
}

struct container container_read(const struct life *l, const struct spn_value *spec,
                                enum container_role role)
{
    struct container c = { .role = role, .spec = spec };
    c.name = spn_value_text(spn_value_get(spec, "name"));
    const struct spn_value *old = named(spn_value_dig(l->pod, "status", list_of(role)), c.name);
    const struct spn_value *state = spn_value_get(old, "state");
    const struct spn_value *running = spn_value_get(state, "running");
    const struct spn_value *waiting = spn_value_get(state, "waiting");
    c.end = spn_value_get(state, "terminated");
    c.state = running ? CONTAINER_RUNS : c.end ? CONTAINER_ENDED : CONTAINER_WAITS;
    c.reason = spn_value_text(spn_value_get(waiting, "reason"));
    c.message = spn_value_text(spn_value_get(waiting, "message"));
    c.started_at = spn_value_text(spn_value_get(running, "startedAt"));
    c.last = spn_value_dig(old, "lastState", "terminated");
    (void)spn_value_int(spn_value_get(old, "restartCount"), &c.restarts);
    c.is_started = spn_value_is_true(spn_value_get(old, "started"));
    c.is_ready = spn_value_is_true(spn_value_get(old, "ready"));
    return c;
}

int64_t container_exit_code(const struct container *c)
{
    int64_t code = 0;
    (void)spn_value_int(spn_value_get(c->end, "exitCode"), &code);
    return code;
}

/* ---- Probes ---- */

int64_t container_probe_number(const struct spn_value *probe, const char *key, int64_t otherwise)
{
    int64_t n;
    return spn_value_int(spn_value_get(probe, key), &n) && n > 0 ? n : otherwise;
}

/* When a probe has passed for the first time after the start. */
static int64_t passes_after(const struct spn_value *probe)
{
    const int64_t times = container_probe_number(probe, "successThreshold", 1);
    return (container_probe_number(probe, "initialDelaySeconds", 0) +
            (times - 1) * container_probe_number(probe, "periodSeconds", 10)) *
           MS;
}

/* When a probe that always fails has failed too often. */
static int64_t fails_after(const struct spn_value *probe)
{
    const int64_t times = container_probe_number(probe, "failureThreshold", 3);
    return (container_probe_number(probe, "initialDelaySeconds", 0) +
            (times - 1) * container_probe_number(probe, "periodSeconds", 10)) *
           MS;
}

static void set_flags(struct life *l, struct container *c, bool is_started, bool is_ready)
{
    l->has_changed |= is_started != c->is_started || is_ready != c->is_ready;
    c->is_started = is_started;
    c->is_ready = is_ready;
}

static bool is_ready_now(struct life *l, const struct container *c, int64_t startup_ms)
{
    const struct spn_value *probe = spn_value_get(c->spec, "readinessProbe");
    if (c->role == CONTAINER_INIT || c->role == CONTAINER_EPHEMERAL || l->wish.is_never_ready)
        return false;
    if (probe && l->wish.fails == PROBE_READINESS)
        return false;
    if (l->wish.ready_ms >= 0 && c->role == CONTAINER_MAIN)
        return life_is_due_text(l, c->started_at, l->wish.ready_ms);
    return life_is_due_text(l, c->started_at, startup_ms + (probe ? passes_after(probe) : 0));
}

static void tell_unready(struct life *l, const struct container *c, bool was_ready)
{
    if (l->wish.fails == PROBE_READINESS && spn_value_get(c->spec, "readinessProbe") && was_ready)
        life_say(l, true, "Unhealthy", "Readiness probe failed: simulated");
}

static void look_at_probes(struct life *l, struct container *c)
{
    const struct spn_value *startup = spn_value_get(c->spec, "startupProbe");
    const int64_t startup_ms = startup ? passes_after(startup) : 0;
    const bool is_stuck = startup && l->wish.fails == PROBE_STARTUP;
    const bool is_started = !is_stuck && life_is_due_text(l, c->started_at, startup_ms);
    set_flags(l, c, is_started, is_started && is_ready_now(l, c, startup_ms));
}

/* ---- Start and end ---- */

static void say_started(struct life *l, const struct container *c)
{
    struct spn_text image = spn_value_text(spn_value_get(c->spec, "image"));
    life_say(l, false, "Pulled",
             "Container image \"" SPN_FMT
             "\" already present on machine and can be accessed by the pod",
             SPN_ARG(image));
    life_say(l, false, "Created", "Container created");
    life_say(l, false, "Started", "Container started");
}

static void start(struct life *l, struct container *c)
{
    c->restarts += c->last != NULL;
    c->state = CONTAINER_RUNS;
    c->started_at = l->now;
    c->is_started = c->is_ready = false;
    l->has_changed = true;
    say_started(l, c);
    look_at_probes(l, c);
    tell_unready(l, c, true);
}

static struct spn_text container_id(const struct life *l, const struct container *c)
{
    struct spn_text uid = spn_value_text(spn_value_dig(l->pod, "metadata", "uid"));
    return spn_arena_printf(l->a, "simulated://" SPN_FMT "/" SPN_FMT "/%lld", SPN_ARG(uid),
                            SPN_ARG(c->name), (long long)c->restarts);
}

static const struct spn_value *new_end(const struct life *l, const struct container *c,
                                       int64_t code)
{
    struct spn_value *end = spn_value_new(l->a, SPN_OBJECT);
    spn_value_set_int(l->a, end, "exitCode", code);
    spn_value_set_text(l->a, end, "reason", spn_text_of(code ? "Error" : "Completed"));
    spn_value_set_text(l->a, end, "startedAt", c->started_at.n ? c->started_at : l->now);
    spn_value_set_text(l->a, end, "finishedAt", l->now);
    spn_value_set_text(l->a, end, "containerID", container_id(l, c));
    return end;
}

static bool starts_again(const struct life *l, const struct container *c, int64_t code)
{
    if (c->role == CONTAINER_SIDECAR)
        return true;
    if (c->role == CONTAINER_EPHEMERAL || life_text_is(l->policy, "Never"))
        return false;
    if (c->role == CONTAINER_MAIN && !life_text_is(l->policy, "OnFailure"))
        return true;
    return code != 0;
}

static int64_t delay_sec(int64_t restarts)
{
    int64_t sec = BACK_OFF_SEC;
    for (int64_t i = 1; i < restarts && sec < BACK_OFF_MAX_SEC; i++)
        sec *= 2;
    return sec < BACK_OFF_MAX_SEC ? sec : BACK_OFF_MAX_SEC;
}

/* 0 for the first time: it is then started at once. */
static int64_t back_off_sec(const struct life *l, const struct container *c)
{
    struct spn_value *since = spn_value_new_text(l->a, c->started_at);
    int64_t started_ns;
    const bool ran_long = life_read_time(since, &started_ns) &&
                          l->place->now_ns - started_ns >= BACK_OFF_FORGOTTEN_SEC * NS_PER_SEC;
    return c->restarts && !ran_long ? delay_sec(c->restarts) : 0;
}

/* As Go prints it: 10s, 1m20s. */
static struct spn_text seconds_text(const struct life *l, int64_t sec)
{
    return sec < 60
               ? spn_arena_printf(l->a, "%llds", (long long)sec)
               : spn_arena_printf(l->a, "%lldm%llds", (long long)(sec / 60), (long long)(sec % 60));
}

static struct spn_text pod_text(const struct life *l)
{
    const struct spn_value *meta = spn_value_get(l->pod, "metadata");
    return spn_arena_printf(l->a, SPN_FMT "_" SPN_FMT "(" SPN_FMT ")",
                            SPN_ARG(spn_value_text(spn_value_get(meta, "name"))),
                            SPN_ARG(spn_value_text(spn_value_get(meta, "namespace"))),
                            SPN_ARG(spn_value_text(spn_value_get(meta, "uid"))));
}

static void back_off(struct life *l, struct container *c, int64_t sec)
{
    c->state = CONTAINER_WAITS;
    c->reason = SPN_TEXT("CrashLoopBackOff");
    c->message = spn_arena_printf(
        l->a, "back-off " SPN_FMT " restarting failed container=" SPN_FMT " pod=" SPN_FMT,
        SPN_ARG(seconds_text(l, sec)), SPN_ARG(c->name), SPN_ARG(pod_text(l)));
    life_say(l, true, "BackOff", "Back-off restarting failed container " SPN_FMT " in pod " SPN_FMT,
             SPN_ARG(c->name), SPN_ARG(pod_text(l)));
    (void)life_is_due_text(l, l->now, sec * MS);
}

static void end(struct life *l, struct container *c, int64_t code)
{
    const struct spn_value *now = new_end(l, c, code);
    const int64_t sec = back_off_sec(l, c);
    l->has_changed = true;
    c->is_started = c->is_ready = false;
    if (!starts_again(l, c, code)) {
        c->state = CONTAINER_ENDED;
        c->end = now;
        c->is_ready = c->role == CONTAINER_INIT && code == 0;
        return;
    }
    c->last = now;
    if (sec)
        back_off(l, c, sec);
    else
        start(l, c);
}

void container_stop(struct life *l, struct container *c, int64_t code)
{
    if (c->state == CONTAINER_ENDED || (c->state == CONTAINER_WAITS && !c->last))
        return;
    c->is_started = c->is_ready = false;
    l->has_changed = true;
    c->end = c->state == CONTAINER_RUNS ? new_end(l, c, code) : c->last;
    c->state = CONTAINER_ENDED;
}

/* ---- Its life ---- */

static bool lacks_image(const struct life *l, const struct container *c)
{
    return l->wish.no_image.n &&
           (life_text_is(l->wish.no_image, "true") || spn_text_eq(l->wish.no_image, c->name));
}

static void wait_for_image(struct life *l, struct container *c)
{
    struct spn_text image = spn_value_text(spn_value_get(c->spec, "image"));
    if (life_text_is(c->reason, "ImagePullBackOff"))
        return;
    if (life_text_is(c->reason, "ErrImagePull")) {
        /* Nobody knows since when: the next look is enough. */
        c->reason = SPN_TEXT("ImagePullBackOff");
        c->message =
            spn_arena_printf(l->a, "Back-off pulling image \"" SPN_FMT "\"", SPN_ARG(image));
        life_say(l, false, "BackOff", SPN_FMT, SPN_ARG(c->message));
        life_say(l, true, "Failed", "Error: ImagePullBackOff");
        l->has_changed = true;
        return;
    }
    c->reason = SPN_TEXT("ErrImagePull");
    c->message =
        spn_arena_printf(l->a, "failed to pull image \"" SPN_FMT "\": simulated", SPN_ARG(image));
    life_say(l, false, "Pulling", "Pulling image \"" SPN_FMT "\"", SPN_ARG(image));
    life_say(l, true, "Failed", "Failed to pull image \"" SPN_FMT "\": simulated", SPN_ARG(image));
    life_say(l, true, "Failed", "Error: ErrImagePull");
    l->has_changed = true;
}

static void wait_or_start(struct life *l, struct container *c)
{
    const struct spn_value *since = spn_value_get(c->last, "finishedAt");
    if (life_text_is(c->reason, "CrashLoopBackOff") &&
        !life_is_due(l, since, delay_sec(c->restarts) * MS))
        return;
    if (lacks_image(l, c))
        wait_for_image(l, c);
    else
        start(l, c);
}

/* A probe that kills fails in the end. */
static bool is_killed(struct life *l, const struct container *c)
{
    const bool is_startup = l->wish.fails == PROBE_STARTUP;
    const char *key = is_startup ? "startupProbe" : "livenessProbe";
    const struct spn_value *probe = spn_value_get(c->spec, key);
    if (!probe || (!is_startup && l->wish.fails != PROBE_LIVENESS))
        return false;
    if (!life_is_due_text(l, c->started_at, fails_after(probe)))
        return false;
    life_say(l, true, "Unhealthy", "%s probe failed: simulated",
             is_startup ? "Startup" : "Liveness");
    life_say(l, false, "Killing", "Container " SPN_FMT " failed %s probe, will be restarted",
             SPN_ARG(c->name), is_startup ? "startup" : "liveness");
    return true;
}

static bool has_other_image(const struct life *l, const struct container *c)
{
    const struct spn_value *old = named(spn_value_dig(l->pod, "status", list_of(c->role)), c->name);
    struct spn_text was = spn_value_text(spn_value_get(old, "image"));
    return was.n && !spn_text_eq(was, spn_value_text(spn_value_get(c->spec, "image")));
}

static void run_on(struct life *l, struct container *c)
{
    const bool is_init = c->role == CONTAINER_INIT, is_main = c->role == CONTAINER_MAIN;
    const int64_t ms = is_init ? l->wish.init_ms : is_main ? l->wish.exit_ms : -1;
    if (has_other_image(l, c)) {
        life_say(l, false, "Killing", "Container " SPN_FMT " definition changed, will be restarted",
                 SPN_ARG(c->name));
        c->last = new_end(l, c, 0);
        start(l, c);
    } else if (is_killed(l, c)) {
        end(l, c, LIFE_KILLED);
    } else if (ms >= 0 && life_is_due_text(l, c->started_at, ms)) {
        end(l, c, is_init ? l->wish.init_code : l->wish.exit_code);
    } else {
        const bool was_ready = c->is_ready;
        look_at_probes(l, c);
        tell_unready(l, c, was_ready && !c->is_ready);
    }
}

void container_live(struct life *l, struct container *c, bool may_start)
{
    if (c->state == CONTAINER_RUNS)
        run_on(l, c);
    else if (c->state == CONTAINER_WAITS && may_start)
        wait_or_start(l, c);
}

/* ---- Its status ---- */

static struct spn_value *new_state(const struct life *l, const struct container *c)
{
    struct spn_value *state = spn_value_new(l->a, SPN_OBJECT), *waiting;
    switch (c->state) {
    case CONTAINER_RUNS:
        spn_value_set_text(l->a, spn_value_ensure(l->a, state, "running"), "startedAt",
                           c->started_at);
        break;
    case CONTAINER_ENDED:
        spn_value_set(l->a, state, "terminated", spn_value_copy(l->a, c->end));
        break;
    case CONTAINER_WAITS:
        waiting = spn_value_ensure(l->a, state, "waiting");
        spn_value_set_text(l->a, waiting, "reason", c->reason);
        if (c->message.n)
            spn_value_set_text(l->a, waiting, "message", c->message);
        break;
    }
    return state;
}

static void add_resources(const struct life *l, const struct container *c, struct spn_value *one)
{
    const struct spn_value *wanted = spn_value_get(c->spec, "resources");
    const struct spn_value *requests = spn_value_get(wanted, "requests");
    if (c->state != CONTAINER_RUNS || !spn_value_count(wanted))
        return;
    spn_value_set(l->a, one, "resources", spn_value_copy(l->a, wanted));
    if (spn_value_count(requests))
        spn_value_set(l->a, one, "allocatedResources", spn_value_copy(l->a, requests));
}

struct spn_value *container_status(const struct life *l, const struct container *c)
{
    struct spn_value *one = spn_value_new(l->a, SPN_OBJECT);
    struct spn_text image = spn_value_text(spn_value_get(c->spec, "image"));
    const bool has_run = c->state != CONTAINER_WAITS || c->last;
    spn_value_set_text(l->a, one, "name", c->name);
    spn_value_set_text(l->a, one, "image", image);
    spn_value_set_text(l->a, one, "imageID",
                       has_run ? spn_arena_printf(l->a, "simulated://" SPN_FMT, SPN_ARG(image))
                               : SPN_TEXT(""));
    if (has_run)
        spn_value_set_text(l->a, one, "containerID", container_id(l, c));
    spn_value_set_int(l->a, one, "restartCount", c->restarts);
    spn_value_set_bool(l->a, one, "ready", c->is_ready);
    spn_value_set_bool(l->a, one, "started", c->state == CONTAINER_RUNS && c->is_started);
    spn_value_set(l->a, one, "state", new_state(l, c));
    struct spn_value *last = spn_value_ensure(l->a, one, "lastState");
    if (c->last)
        spn_value_set(l->a, last, "terminated", spn_value_copy(l->a, c->last));
    add_resources(l, c, one);
    return one;
}
