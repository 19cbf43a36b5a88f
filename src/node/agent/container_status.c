#include "node/agent/container_status.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/quantity.h"
#include "base/clock.h"
#include "base/banned.h"

enum { LOST_CODE = 137, MIN_MILLI_CPU = 10, MIN_SHARES = 2, KUBE_PERIOD_US = 100000 };

#define RESTARTING_ALL "RestartingAllContainers"

struct maker {
    struct arena *a;
    const struct container_statuses_input *in;
};

static void put_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put(a, obj, key, value_string(text));
}

struct str status_time(struct arena *a, int64_t wall_ns)
{
    char text[CLOCK_TEXT_BYTES];
    return arena_str(a, clock_format(wall_ns, false, text));
}

struct str state_name(const struct value *state)
{
    value_each_field (f, state)
        if (value_is(&f->val, VALUE_OBJECT))
            return f->key;
    return STR("");
}

static bool state_is(const struct value *status, const char *list, struct str name)
{
    return str_eq(state_name(value_get(status, str_of(list))), name);
}

static int64_t restarts_of(const struct value *status)
{
    int64_t n = 0;
    (void)value_to_int(value_get(status, STR("restartCount")), &n);
    return n;
}

/* ---- States ---- */

static struct value state_with(struct arena *a, struct str name, struct value what)
{
    struct value state = value_object();
    value_put_new(a, &state, name, what);
    return state;
}

static struct value waiting(struct arena *a, struct str reason, struct str message)
{
    struct value w = value_object();
    put_text(a, &w, STR("reason"), reason);
    put_text(a, &w, STR("message"), message);
    return state_with(a, STR("waiting"), w);
}

/* One whose end nobody has seen. */
static struct value lost(struct arena *a, struct str reason, struct str message, int64_t code)
{
    struct value t = value_object();
    value_put_new(a, &t, STR("exitCode"), value_int(code));
    put_text(a, &t, STR("reason"), reason);
    put_text(a, &t, STR("message"), message);
    value_put_new(a, &t, STR("startedAt"), value_null());
    value_put_new(a, &t, STR("finishedAt"), value_null());
    return state_with(a, STR("terminated"), t);
}

static struct value ended(struct arena *a, const struct runtime_container *c, struct str id)
{
    struct value t = value_object();
    value_put_new(a, &t, STR("exitCode"), value_int(c->exit_code));
    put_text(a, &t, STR("reason"), c->reason);
    put_text(a, &t, STR("message"), c->message);
    value_put_new(a, &t, STR("startedAt"), value_string(status_time(a, c->started_ns)));
    value_put_new(a, &t, STR("finishedAt"), value_string(status_time(a, c->finished_ns)));
    put_text(a, &t, STR("containerID"), id);
    return state_with(a, STR("terminated"), t);
}

static struct value running(struct arena *a, const struct runtime_container *c)
{
    struct value r = value_object();
    value_put_new(a, &r, STR("startedAt"), value_string(status_time(a, c->started_ns)));
    return state_with(a, STR("running"), r);
}

/* ---- Resources ---- */

static struct str bytes_text(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi" };
    size_t u = 0;
    for (; u + 1 < sizeof(units) / sizeof(*units) && bytes && bytes % 1024 == 0; u++)
        bytes /= 1024;
    return arena_printf(a, "%" PRId64 "%s", bytes, units[u]);
}

static struct str milli_text(struct arena *a, int64_t milli)
{
    if (milli % 1000 == 0)
        return arena_printf(a, "%" PRId64, milli / 1000);
    return arena_printf(a, "%" PRId64 "m", milli);
}

static int64_t units_of(const struct value *resources, const char *list, const char *name)
{
    int64_t n = 0;
    struct str text = value_str(value_dig(resources, list, name));
    if (text.n)
        (void)quantity_units(text, str_eq(str_of(name), STR("cpu")), &n);
    return n;
}

/* What it has now, unless that is what it says already, or as little as there can be. */
static void put_actual(struct arena *a, struct value *resources, const char *list, const char *name,
                       struct str actual, int64_t least)
{
    int64_t n = 0, allocated = units_of(resources, list, name);
    bool is_cpu = str_eq(str_of(name), STR("cpu"));
    if (!actual.n || !quantity_units(actual, is_cpu, &n) || n == allocated)
        return;
    if (n <= least && allocated <= least)
        return;
    struct value *of = value_edit(a, resources, str_of(list));
    if (value_is(of, VALUE_OBJECT))
        value_put(a, of, str_of(name), value_string(actual));
}

static struct str given_text(const struct value *given, const char *list, const char *name)
{
    return value_str(value_dig(given, list, name));
}

static int64_t number_at(const struct value *v, struct str key)
{
    int64_t n = 0;
    (void)value_to_int(value_get(v, key), &n);
    return n;
}

/* From the runtime's own words. */
static void put_linux(struct arena *a, struct value *r, const struct value *got)
{
    int64_t quota = number_at(got, STR("cpu_quota")), period = number_at(got, STR("cpu_period"));
    int64_t shares = number_at(got, STR("cpu_shares"));
    int64_t memory = number_at(got, STR("memory_limit_in_bytes"));
    if (quota > 0)
        put_actual(a, r, "limits", "cpu",
                   milli_text(a, quota * 1000 / (period > 0 ? period : KUBE_PERIOD_US)),
                   MIN_MILLI_CPU);
    if (memory > 0)
        put_actual(a, r, "limits", "memory", bytes_text(a, memory), 0);
    int64_t asked = units_of(r, "requests", "cpu");
    if (shares > 0 && asked * 1024 / 1000 != shares) /* rounding is no change */
        put_actual(a, r, "requests", "cpu", milli_text(a, (shares * 1000 + 1023) / 1024),
                   MIN_SHARES);
}

static struct value resources_of(const struct maker *m, const struct value *spec,
                                 const struct runtime_container *c)
{
    const struct value *wanted = value_get(spec, STR("resources"));
    struct value r = value_is(wanted, VALUE_OBJECT) ? value_clone(m->a, wanted) : value_object();
    if (c->state != CONTAINER_RUNNING)
        return r;
    const struct value *given = m->in->actuated ? value_get(m->in->actuated, c->name) : NULL;
    if (c->resources) {
        put_linux(m->a, &r, c->resources);
    } else if (given) {
        put_actual(m->a, &r, "limits", "cpu", given_text(given, "limits", "cpu"), MIN_MILLI_CPU);
        put_actual(m->a, &r, "limits", "memory", given_text(given, "limits", "memory"), 0);
        put_actual(m->a, &r, "requests", "cpu", given_text(given, "requests", "cpu"), MIN_SHARES);
    }
    if (given)
        put_actual(m->a, &r, "requests", "memory", given_text(given, "requests", "memory"), 0);
    return r;
}

/* ---- Of a container that the runtime has ---- */

static void put_user(struct arena *a, struct value *s, const struct value *user)
{
    if (!user)
        return;
    struct value of = value_object(), ids = value_object();
    value_put_new(a, &ids, STR("uid"), value_int(number_at(user, STR("uid"))));
    value_put_new(a, &ids, STR("gid"), value_int(number_at(user, STR("gid"))));
    const struct value *groups = value_get(user, STR("supplemental_groups"));
    if (groups)
        value_put_new(a, &ids, STR("supplementalGroups"), value_clone(a, groups));
    value_put_new(a, &of, STR("linux"), ids);
    value_put_new(a, s, STR("user"), of);
}

/* Containers that were removed so that all start anew have left their end in the old status. */
static struct value last_state(struct arena *a, const struct value *old, struct str id)
{
    bool is_other = !str_eq(value_text(old, "containerID"), id);
    if (is_other && state_is(old, "state", STR("terminated")))
        return value_clone(a, value_get(old, STR("state")));
    if (state_is(old, "lastState", STR("terminated")))
        return value_clone(a, value_get(old, STR("lastState")));
    return value_object();
}

static struct value state_of(const struct maker *m, const struct runtime_container *c,
                             const struct value *old, struct str id, int64_t *restarts)
{
    switch (c->state) {
    case CONTAINER_RUNNING:
        if (state_is(old, "state", STR("terminated")) && restarts_of(old) >= c->restarts)
            *restarts = restarts_of(old) + 1;
        return running(m->a, c);
    case CONTAINER_EXITED:
        return ended(m->a, c, id);
    case CONTAINER_UNKNOWN:
        if (!state_is(old, "state", STR("running")))
            break;
        *restarts = restarts_of(old) + 1;
        return lost(m->a, m->in->restarts_all ? STR(RESTARTING_ALL) : STR("ContainerStatusUnknown"),
                    STR("The container could not be located when the pod was terminated"),
                    LOST_CODE);
    default:
        break;
    }
    return waiting(m->a, STR(""), STR(""));
}

static struct value status_of(const struct maker *m, const struct value *spec,
                              const struct runtime_container *c, const struct value *old)
{
    struct arena *a = m->a;
    struct str id = arena_printf(a, STR_FMT "://" STR_FMT, STR_ARG(m->in->scheme), STR_ARG(c->id));
    int64_t restarts = c->restarts > restarts_of(old) ? c->restarts : restarts_of(old);
    struct value state = state_of(m, c, old, id, &restarts);
    struct value s = value_object();
    value_put_new(a, &s, STR("name"), value_string(c->name));
    value_put_new(a, &s, STR("state"), state);
    value_put_new(a, &s, STR("lastState"), last_state(a, old, id));
    value_put_new(a, &s, STR("ready"), value_bool(false));
    value_put_new(a, &s, STR("restartCount"), value_int(restarts));
    value_put_new(a, &s, STR("image"), value_string(c->image));
    value_put_new(a, &s, STR("imageID"), value_string(c->image_ref));
    value_put_new(a, &s, STR("containerID"), value_string(id));
    if (c->state == CONTAINER_RUNNING && value_get(old, STR("started")))
        value_put_new(a, &s, STR("started"), value_clone(a, value_get(old, STR("started"))));
    const struct value *requests = value_dig(spec, "resources", "requests");
    if (value_is(requests, VALUE_OBJECT) && requests->n)
        value_put_new(a, &s, STR("allocatedResources"), value_clone(a, requests));
    value_put_new(a, &s, STR("resources"), resources_of(m, spec, c));
    const struct value *mounts = value_get(old, STR("volumeMounts"));
    if (mounts)
        value_put_new(a, &s, STR("volumeMounts"), value_clone(a, mounts));
    put_user(a, &s, c->user);
    return s;
}

/* ---- Of a container that may not be there ---- */

static struct value mounts_of(struct arena *a, const struct value *spec)
{
    struct value all = value_array();
    value_each_item (m, value_get(spec, STR("volumeMounts"))) {
        struct value v = value_object();
        value_put_new(a, &v, STR("name"), value_string(value_text(m, "name")));
        value_put_new(a, &v, STR("mountPath"), value_string(value_text(m, "mountPath")));
        if (value_is_true(value_get(m, STR("readOnly")))) {
            value_put_new(a, &v, STR("readOnly"), value_bool(true));
            value_put_new(a, &v, STR("recursiveReadOnly"), value_string(STR("Disabled")));
        }
        value_put_item(a, &all, v);
    }
    return all;
}

static bool has_init(const struct maker *m)
{
    const struct value *init = pod_init_containers(m->in->pod);
    return value_is(init, VALUE_ARRAY) && init->n;
}

static struct str usual_reason(const struct maker *m)
{
    return has_init(m) ? STR("PodInitializing") : STR("ContainerCreating");
}

static struct value default_status(const struct maker *m, const struct value *spec,
                                   const struct value *old)
{
    struct arena *a = m->a;
    if (state_is(old, "state", STR("terminated")))
        return value_clone(a, old);
    struct value s = value_object(), mounts = mounts_of(a, spec);
    const struct value *last = value_get(old, STR("lastState"));
    value_put_new(a, &s, STR("name"), value_string(value_text(spec, "name")));
    value_put_new(a, &s, STR("state"), waiting(a, usual_reason(m), STR("")));
    value_put_new(a, &s, STR("lastState"), last ? value_clone(a, last) : value_object());
    value_put_new(a, &s, STR("ready"), value_bool(false));
    value_put_new(a, &s, STR("restartCount"), value_int(restarts_of(old)));
    value_put_new(a, &s, STR("image"), value_string(value_text(spec, "image")));
    value_put_new(a, &s, STR("imageID"), value_string(STR("")));
    if (mounts.n)
        value_put_new(a, &s, STR("volumeMounts"), mounts);
    return s;
}

/* One that ran, as far as we knew, and is not there any more. */
static void note_missing(const struct maker *m, struct value *s, const struct value *old)
{
    struct arena *a = m->a;
    if (m->in->restarts_all && old && !state_is(old, "state", STR("waiting"))) {
        struct str why = STR("The container is removed because RestartAllContainers in place");
        value_put(a, s, STR("state"), waiting(a, STR(RESTARTING_ALL), why));
        value_put(a, s, STR("lastState"), lost(a, STR(RESTARTING_ALL), why, LOST_CODE));
        value_put(a, s, STR("restartCount"), value_int(restarts_of(old) + 1));
        return;
    }
    if (!state_is(old, "state", STR("running")) || state_is(s, "lastState", STR("terminated")))
        return;
    value_put(
        a, s, STR("lastState"),
        lost(a, STR("ContainerStatusUnknown"),
             STR("The container could not be located when the pod was deleted.  The container "
                 "used to be Running"),
             LOST_CODE));
    if (!pod_is_deleting(m->in->pod))
        value_put(a, s, STR("restartCount"), value_int(restarts_of(s) + 1));
}

/* Why it does not run although it should. */
static void note_reason(const struct maker *m, const struct value *spec, struct value *s)
{
    struct arena *a = m->a;
    struct str name = value_text(spec, "name");
    const struct runtime_container *c = runtime_find(m->in->have, name);
    if (m->in->is_init) {
        if (c && c->state == CONTAINER_EXITED && !c->exit_code)
            return;
        if (!c && pod_has_made_any(m->in->pod, m->in->have) && !container_is_sidecar(spec) &&
            state_is(s, "state", STR("waiting"))) {
            value_put(a, s, STR("state"),
                      lost(a, STR("Completed"),
                           STR("Unable to get init container status from container runtime and pod "
                               "has been initialized, treat it as exited normally"),
                           0));
            return;
        }
    }
    const struct value *why = m->in->reasons ? value_get(m->in->reasons, name) : NULL;
    if (!why || !container_is_due(m->in->pod, spec, m->in->have))
        return;
    if (state_is(s, "state", STR("terminated")))
        value_put(a, s, STR("lastState"), value_clone(a, value_get(s, STR("state"))));
    value_put(a, s, STR("state"),
              waiting(a, value_text(why, "reason"), value_text(why, "message")));
}

static struct value make_one(const struct maker *m, const struct value *spec)
{
    struct str name = value_text(spec, "name");
    const struct value *old = list_named(m->in->old, name);
    const struct runtime_pod *have = m->in->have;
    struct value s = default_status(m, spec, old);
    size_t seen = 0;
    for (size_t i = 0; i < have->n_containers && seen < 2; i++) {
        const struct runtime_container *c = &have->containers[i];
        if (!str_eq(c->name, name))
            continue;
        struct value of = status_of(m, spec, c, old);
        if (seen++ == 0)
            s = of;
        else
            value_put(m->a, &s, STR("lastState"), value_clone(m->a, value_get(&of, STR("state"))));
    }
    if (!seen)
        note_missing(m, &s, old);
    note_reason(m, spec, &s);
    return s;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(value_text((const struct value *)a, "name"),
                   value_text((const struct value *)b, "name"));
}

struct value container_statuses(struct arena *a, const struct container_statuses_input *in)
{
    const struct maker m = { a, in };
    struct value all = value_array();
    value_each_item (spec, in->specs)
        value_put_item(a, &all, make_one(&m, spec));
    if (!in->is_init && all.n > 1)
        qsort(all.items, all.n, sizeof(*all.items), by_name);
    return all;
}
