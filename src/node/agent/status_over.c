/* status_over.c - how a new status of a pod goes over the one before, and over the server's. */
#include "base/clock.h"
#include "node/agent/container_status.h"
#include "node/agent/pod_status.h"
#include "base/banned.h"

enum { MESSAGES_MAX = 12 << 10, LOST_CODE = 137 }; /* bytes of termination messages of a pod */

static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
                                     "ephemeralContainerStatuses" };

static void settle_condition(struct arena *a, struct value *c, const struct value *before,
                             struct str now)
{
    const struct value *was = rules_condition(before, value_text(c, "type"));
    bool is_same = was && str_eq(value_text(was, "status"), value_text(c, "status"));
    const struct value *since = is_same ? value_get(was, STR("lastTransitionTime")) : NULL;
    value_put(a, c, STR("lastTransitionTime"), since ? value_clone(a, since) : value_string(now));
}

static bool is_timed_by_others(struct str type)
{
    return !condition_is_ours(type) && !str_eq(type, STR("DisruptionTarget"));
}

static void cut_message(struct arena *a, struct value *status, struct str which, size_t max)
{
    struct value *t = value_edit(a, value_edit(a, status, which), STR("terminated"));
    struct str message = value_text(t, "message");
    if (message.n > max)
        value_put(a, t, STR("message"), value_string(str_take(message, max)));
}

static void cut_messages(struct arena *a, const struct value *pod, struct value *status)
{
    size_t n = 0, max = MESSAGES_MAX;
    value_each_item (c, pod_containers(pod))
        n += c != NULL;
    value_each_item (c, pod_init_containers(pod))
        n += c != NULL;
    value_each_item (c, pod_ephemeral_containers(pod))
        n += c != NULL;
    if (n)
        max /= n;
    for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++) {
        struct value *all = value_edit(a, status, str_of(lists[l]));
        for (size_t i = 0; all && i < all->n; i++) {
            struct value *s = value_edit_at(a, all, i);
            if (value_dig(s, "state", "terminated"))
                cut_message(a, s, STR("state"), max);
            if (value_dig(s, "lastState", "terminated"))
                cut_message(a, s, STR("lastState"), max);
        }
    }
}

void status_settle(struct arena *a, const struct value *pod, struct value *status,
                   const struct value *before, int64_t now_ns)
{
    struct str now = status_time(a, now_ns);
    struct value *conditions = value_edit(a, status, STR("conditions"));
    for (size_t i = 0; conditions && i < conditions->n; i++) {
        struct value *c = value_edit_at(a, conditions, i);
        struct str type = value_text(c, "type");
        if (is_timed_by_others(type) || str_starts(type, STR("PodResize")))
            continue;
        settle_condition(a, c, before, now);
    }
    struct str start = value_text(before, "startTime");
    value_put(a, status, STR("startTime"), value_string(start.n ? start : now));
    const struct value *health = value_get(before, STR("volumeHealth"));
    if (health && !value_get(status, STR("volumeHealth")))
        value_put(a, status, STR("volumeHealth"), value_clone(a, health));
    int64_t was = 0, is = 0;
    (void)value_to_int(value_get(before, STR("observedGeneration")), &was);
    (void)value_to_int(value_get(status, STR("observedGeneration")), &is);
    if (was > is)
        value_put(a, status, STR("observedGeneration"), value_int(was));
    cut_messages(a, pod, status);
}

static bool list_is_impossible(const struct value *pod, const struct value *specs,
                               const struct value *now, const struct value *before)
{
    value_each_item (was, before) {
        int64_t code;
        const struct value *spec = list_named(specs, value_text(was, "name"));
        if (!spec || !value_to_int(value_dig(was, "state", "terminated", "exitCode"), &code) ||
            container_should_restart(pod, spec, code))
            continue;
        const struct value *is = list_named(now, value_text(was, "name"));
        if (is && !value_dig(is, "state", "terminated"))
            return true;
    }
    return false;
}

bool status_is_impossible(const struct value *pod, const struct value *status,
                          const struct value *before)
{
    if (str_eq(value_text(pod_spec(pod), "restartPolicy"), STR("Always")) ||
        pod_could_restart_all(pod))
        return false;
    return list_is_impossible(pod, pod_containers(pod), value_get(status, str_of(lists[0])),
                              value_get(before, str_of(lists[0]))) ||
           list_is_impossible(pod, pod_init_containers(pod), value_get(status, str_of(lists[1])),
                              value_get(before, str_of(lists[1])));
}

/* ---- Comparing ---- */

static bool counts(struct str type)
{
    return condition_is_ours(type) || str_eq(type, STR("DisruptionTarget"));
}

static bool conditions_eq(const struct value *x, const struct value *y)
{
    size_t n = 0, m = 0;
    value_each_item (c, value_get(y, STR("conditions")))
        m += counts(value_text(c, "type"));
    value_each_item (c, value_get(x, STR("conditions"))) {
        if (!counts(value_text(c, "type")))
            continue;
        n++;
        const struct value *other = rules_condition(y, value_text(c, "type"));
        if (!other || !str_eq(value_text(other, "status"), value_text(c, "status")) ||
            !str_eq(value_text(other, "reason"), value_text(c, "reason")) ||
            !str_eq(value_text(other, "message"), value_text(c, "message")))
            return false;
    }
    return n == m;
}

static struct value rest_of(struct arena *a, const struct value *status)
{
    static const struct str others[] = { STR("conditions"), STR("resourceClaimStatuses"),
                                         STR("extendedResourceClaimStatus"),
                                         STR("nodeAllocatableResourceClaimStatuses") };
    struct value rest = value_borrow(status);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        value_drop(a, &rest, others[i]);
    return rest;
}

bool status_eq(struct arena *a, const struct value *x, const struct value *y)
{
    if (!conditions_eq(x, y))
        return false;
    struct value rx = rest_of(a, x), ry = rest_of(a, y);
    return value_eq(&rx, &ry);
}

/* ---- Merging ---- */

static bool is_true(const struct value *status, struct str type)
{
    return str_eq(value_text(rules_condition(status, type), "status"), STR("True"));
}

static void keep_field(struct arena *a, struct value *to, const struct value *from, struct str key)
{
    const struct value *v = value_get(from, key);
    if (v)
        value_put(a, to, key, value_clone(a, v));
    else
        value_drop(a, to, key);
}

static struct value merge_conditions(struct arena *a, const struct value *server,
                                     const struct value *status, bool ends, struct str now)
{
    struct value list = value_array();
    value_each_item (c, value_get(server, STR("conditions")))
        if (!condition_is_ours(value_text(c, "type")))
            value_put_item(a, &list, value_clone(a, c));
    value_each_item (c, value_get(status, STR("conditions"))) {
        struct str type = value_text(c, "type");
        struct value copy = value_clone(a, c);
        if (condition_is_ours(type)) {
            value_put_item(a, &list, copy);
        } else if (ends && str_eq(type, STR("DisruptionTarget"))) {
            settle_condition(a, &copy, server, now);
            condition_put(a, &list, copy);
        }
    }
    return list;
}

static void not_ready(struct arena *a, const struct value *pod, struct value *m, struct str type,
                      struct str phase, struct str now)
{
    struct value c = condition_new(
        a, pod, type, STR("False"),
        str_eq(phase, STR("Failed")) ? STR("PodFailed") : STR("PodCompleted"), STR(""));
    settle_condition(a, &c, m, now);
    condition_put(a, value_edit(a, m, STR("conditions")), c);
}

struct value status_merge(struct arena *a, const struct value *pod, const struct value *server,
                          const struct value *status, bool could_run, int64_t now_ns)
{
    static const struct str others[] = { STR("resourceClaimStatuses"),
                                         STR("extendedResourceClaimStatus"),
                                         STR("nodeAllocatableResourceClaimStatuses"),
                                         STR("nominatedNodeName") };
    struct str now = status_time(a, now_ns), old_phase = value_text(server, "phase");
    struct value m = value_clone(a, status);
    bool ends = !phase_is_final(old_phase) && phase_is_final(value_text(status, "phase"));
    value_put(a, &m, STR("conditions"),
              merge_conditions(a, server, status, ends && !could_run, now));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        keep_field(a, &m, server, others[i]);
    if (ends && could_run) {
        keep_field(a, &m, server, STR("phase"));
        keep_field(a, &m, server, STR("reason"));
        keep_field(a, &m, server, STR("message"));
    }
    struct str phase = value_text(&m, "phase");
    if (phase_is_final(phase) &&
        (is_true(&m, STR("Ready")) || is_true(&m, STR("ContainersReady")))) {
        not_ready(a, pod, &m, STR("ContainersReady"), phase, now);
        not_ready(a, pod, &m, STR("Ready"), phase, now);
    }
    return m;
}

/* ---- The end ---- */

static bool has_initialized(const struct value *pod)
{
    const struct value *specs = pod_init_containers(pod), *status = value_get(pod, STR("status"));
    if (!value_is(specs, VALUE_ARRAY) || !specs->n)
        return true;
    value_each_item (s, value_get(status, str_of(lists[0])))
        if (value_dig(s, "lastState", "terminated") || !value_dig(s, "state", "waiting"))
            return true;
    const struct value *init = value_get(status, str_of(lists[1]));
    const struct value *last = init && init->n ? value_at(init, init->n - 1) : NULL;
    int64_t code;
    if (container_is_sidecar(list_named(specs, value_text(last, "name"))))
        return value_dig(last, "state", "running") &&
               value_is_true(value_get(last, STR("started")));
    return (value_to_int(value_dig(last, "state", "terminated", "exitCode"), &code) && !code) ||
           (value_to_int(value_dig(last, "lastState", "terminated", "exitCode"), &code) && !code);
}

static void lose(struct arena *a, struct value *status)
{
    if (value_dig(status, "state", "terminated"))
        return;
    struct value t = value_object(), state = value_object();
    value_put_new(a, &t, STR("exitCode"), value_int(LOST_CODE));
    value_put_new(a, &t, STR("reason"), value_string(STR("ContainerStatusUnknown")));
    value_put_new(
        a, &t, STR("message"),
        value_string(STR("The container could not be located when the pod was terminated")));
    value_put_new(a, &t, STR("startedAt"), value_null());
    value_put_new(a, &t, STR("finishedAt"), value_null());
    value_put_new(a, &state, STR("terminated"), t);
    value_put(a, status, STR("state"), state);
}

/* How many of the first init containers have been tried. */
static size_t tried(const struct value *init)
{
    for (size_t i = init ? init->n : 0; i > 0; i--) {
        const struct value *s = value_at(init, i - 1);
        if (!value_dig(s, "state", "waiting") || value_dig(s, "lastState", "terminated"))
            return i;
    }
    return init && init->n ? 1 : 0;
}

void status_terminate(struct arena *a, const struct value *pod, struct value *status)
{
    struct value *main = value_edit(a, status, str_of(lists[0]));
    if (has_initialized(pod))
        for (size_t i = 0; main && i < main->n; i++)
            lose(a, value_edit_at(a, main, i));
    struct value *init = value_edit(a, status, str_of(lists[1]));
    size_t n = tried(init);
    for (size_t i = 0; i < n; i++)
        lose(a, value_edit_at(a, init, i));
    if (!pod_is_static(pod) && !phase_is_final(value_text(status, "phase")))
        value_put(a, status, STR("phase"), value_string(STR("Failed")));
}
