#include "node/agent/pod_status.h"

#include <arpa/inet.h>

#include "api/pod_qos.h"
#include "api/pod_resources.h"
#include "base/clock.h"
#include "base/map.h"
#include "node/agent/container_status.h"
#include "base/banned.h"

enum { RESTART_GRACE_SEC = 10 };

static void put_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put(a, obj, key, value_string(text));
}

/* ---- Addresses ---- */

static bool is_v6(struct str ip)
{
    return str_find(ip, ':') >= 0;
}

static void put_addresses(struct arena *a, struct value *s, const char *one, const char *many,
                          const struct str *ips, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++) {
        struct value ip = value_object();
        value_put_new(a, &ip, STR("ip"), value_string(ips[i]));
        value_put_item(a, &list, ip);
    }
    if (!n)
        return;
    value_put(a, s, str_of(one), value_string(ips[0]));
    value_put(a, s, str_of(many), list);
}

/* The first of each family, the node's own family first. */
static size_t sort_addresses(const struct node_facts *node, const struct str *ips, size_t n,
                             struct str ret[static 2])
{
    bool v6_first = node->n_host_ips && is_v6(node->host_ips[0]);
    size_t got = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            if (is_v6(ips[i]) != (pass ? !v6_first : v6_first))
                continue;
            ret[got++] = ips[i];
            break;
        }
    }
    return got;
}

static void note_addresses(struct arena *a, const struct status_input *in, struct value *s)
{
    struct str ips[2];
    size_t n = sort_addresses(in->node, in->have->ips, in->have->n_ips, ips);
    size_t hosts = in->node->n_host_ips < 2 ? in->node->n_host_ips : 2;
    put_addresses(a, s, "hostIP", "hostIPs", in->node->host_ips, hosts);
    if (!n && pod_is_host_network(in->pod))
        put_addresses(a, s, "podIP", "podIPs", in->node->host_ips, hosts);
    else
        put_addresses(a, s, "podIP", "podIPs", ips, n);
}

/* ---- Resources ---- */

static void add_sums(struct arena *a, const struct value *pod, struct str list, struct value *ret)
{
    static const char *const kinds[] = { "containers", "initContainers" };
    for (size_t k = 0; k < 2; k++) {
        value_each_item (c, value_get(pod_spec(pod), str_of(kinds[k])))
            value_each_field (f, value_get(value_get(c, STR("resources")), list)) {
                if (value_get(ret, f->key))
                    continue;
                struct str sum = pod_resources_sum(a, pod_spec(pod), list, f->key);
                if (sum.n)
                    value_put_new(a, ret, f->key, value_string(sum));
            }
    }
}

/* What is said of the pod as a whole counts instead of what its containers come to. */
static struct value pod_sums(struct arena *a, const struct value *pod, struct str list)
{
    struct value all = value_object();
    add_sums(a, pod, list, &all);
    value_each_field (f, value_get(value_dig(pod, "spec", "resources"), list))
        value_put(a, &all, f->key, value_clone(a, &f->val));
    return all;
}

/* The pod as its containers are bounded now. */
static const struct value *as_actuated(struct arena *a, const struct value *pod,
                                       const struct value *actuated)
{
    struct value *copy = arena_new(a, struct value);
    *copy = value_borrow(pod);
    struct value *list = value_edit(a, value_edit(a, copy, STR("spec")), STR("containers"));
    for (size_t i = 0; list && i < list->n; i++) {
        struct value *c = value_edit_at(a, list, i);
        const struct value *given = value_get(actuated, value_text(c, "name"));
        if (given)
            value_put(a, c, STR("resources"), value_clone(a, given));
    }
    return copy;
}

static void take_actual(struct arena *a, struct value *sums, const struct value *actual,
                        struct str name)
{
    const struct value *v = value_get(actual, name);
    if (v && value_get(sums, name))
        value_put(a, sums, name, value_clone(a, v));
}

/* Of a pod that runs only what its group bounds is told, and what is said of the whole pod. */
static struct value bounded_part(struct arena *a, const struct value *pod, const struct value *sums,
                                 struct str list)
{
    struct value part = value_object();
    const struct value *own = value_get(value_dig(pod, "spec", "resources"), list);
    value_each_field (f, sums) {
        bool is_bounded = str_eq(f->key, STR("cpu")) || str_eq(f->key, STR("memory"));
        if (is_bounded || value_get(own, f->key))
            value_put_new(a, &part, f->key, value_clone(a, &f->val));
    }
    return part;
}

/* Limits and processors are what the pod's group has; memory is asked for, not given. */
static void note_resources(struct arena *a, const struct status_input *in, struct value *s)
{
    const struct value *pod = in->pod;
    struct value requests = pod_sums(a, pod, STR("requests"));
    struct value limits = pod_sums(a, pod, STR("limits"));
    if (requests.n)
        value_put(a, s, STR("allocatedResources"), value_clone(a, &requests));
    if (in->actuated && str_eq(value_str(value_dig(pod, "status", "phase")), STR("Running"))) {
        requests = bounded_part(a, pod, &requests, STR("requests"));
        limits = bounded_part(a, pod, &limits, STR("limits"));
        const struct value *now = as_actuated(a, pod, in->actuated);
        struct value asked = pod_sums(a, now, STR("requests"));
        struct value bounds = pod_sums(a, now, STR("limits"));
        take_actual(a, &requests, &asked, STR("cpu"));
        take_actual(a, &limits, &bounds, STR("cpu"));
        take_actual(a, &limits, &bounds, STR("memory"));
    }
    struct value r = value_object();
    if (limits.n)
        value_put_new(a, &r, STR("limits"), limits);
    if (requests.n)
        value_put_new(a, &r, STR("requests"), requests);
    value_put(a, s, STR("resources"), r);
}

/* ---- Probes ---- */

static struct str bare_id(struct str id)
{
    for (size_t i = 0; i + 3 <= id.n; i++)
        if (str_starts(str_skip(id, i), STR("://")))
            return str_skip(id, i + 3);
    return id;
}

static enum probe_result result_of(const struct status_input *in, enum probe_kind kind,
                                   const struct value *status)
{
    return in->probe ? in->probe(in->arg, kind, bare_id(value_text(status, "containerID")))
                     : PROBE_NONE;
}

static bool has_probe(const struct status_input *in, enum probe_kind kind,
                      const struct value *status)
{
    return in->has_probe && in->has_probe(in->arg, kind, value_text(status, "name"));
}

static bool is_running(const struct value *status)
{
    return str_eq(state_name(value_get(status, STR("state"))), STR("running"));
}

static bool is_started(const struct status_input *in, const struct value *status)
{
    if (!is_running(status))
        return false;
    enum probe_result r = result_of(in, PROBE_STARTUP, status);
    if (r != PROBE_NONE)
        return r == PROBE_SUCCESS;
    if (value_is_true(value_get(status, STR("started"))))
        return true;
    return !has_probe(in, PROBE_STARTUP, status);
}

/* It ran long before this agent did, and has been told to be ready. */
static bool was_ready_before(const struct status_input *in, const struct value *status)
{
    struct str name = value_text(status, "name");
    const struct runtime_container *c = runtime_find(in->have, name);
    if (!c || !in->agent_start_ns ||
        c->started_ns >= in->agent_start_ns - RESTART_GRACE_SEC * NS_PER_SEC ||
        result_of(in, PROBE_READINESS, status) != PROBE_NONE)
        return false;
    const struct value *spec = pod_container(in->pod, name, NULL);
    const struct value *ready = rules_condition(value_get(in->pod, STR("status")), STR("Ready"));
    return !value_get(spec, STR("readinessProbe")) ||
           str_eq(value_text(ready, "status"), STR("True"));
}

static bool is_ready(const struct status_input *in, const struct value *status)
{
    if (!is_running(status))
        return false;
    if (result_of(in, PROBE_READINESS, status) == PROBE_SUCCESS)
        return true;
    return !has_probe(in, PROBE_READINESS, status) || was_ready_before(in, status);
}

static bool init_is_ready(const struct value *status)
{
    int64_t code;
    return value_to_int(value_dig(status, "state", "terminated", "exitCode"), &code) && !code;
}

static void note_probes(struct arena *a, const struct status_input *in, struct value *list,
                        bool is_init)
{
    for (size_t i = 0; i < list->n; i++) {
        struct value *s = value_edit_at(a, list, i);
        const struct value *spec =
            is_init ? list_named(pod_init_containers(in->pod), value_text(s, "name")) : NULL;
        bool started = is_started(in, s), ready = false;
        if (is_init && !container_is_sidecar(spec))
            ready = init_is_ready(s);
        else if (started)
            ready = is_ready(in, s);
        value_put(a, s, STR("started"), value_bool(started));
        value_put(a, s, STR("ready"), value_bool(ready));
    }
}

/* ---- All of it ---- */

static struct value statuses_of(struct arena *a, const struct status_input *in,
                                const struct value *old, const char *specs, const char *statuses,
                                bool is_init)
{
    const struct container_statuses_input c = {
        .pod = in->pod,
        .have = in->have,
        .specs = value_get(pod_spec(in->pod), str_of(specs)),
        .old = value_get(old, str_of(statuses)),
        .scheme = in->scheme,
        .is_init = is_init,
        .restarts_all = pod_could_restart_all(in->pod) && pod_restarts_all(in->pod, in->have, old),
        .reasons = in->reasons,
        .actuated = in->actuated,
    };
    return container_statuses(a, &c);
}

/* A final phase stays; and its reason with it. */
static void note_phase(struct arena *a, const struct status_input *in, const struct value *old,
                       const struct value *all, struct value *s)
{
    const struct value *api = value_get(in->pod, STR("status"));
    struct str was = value_text(old, "phase"), api_was = value_text(api, "phase");
    struct str phase = phase_of(in->pod, all, in->is_terminal, pod_has_started(in->pod, in->have));
    struct str reason = STR(""), message = STR("");
    if (!phase_is_final(phase) && phase_is_final(was))
        phase = was;
    else if (!phase_is_final(phase) && phase_is_final(api_was))
        phase = api_was;
    if (str_eq(phase, was)) {
        reason =
            value_text(old, "reason").n ? value_text(old, "reason") : value_text(api, "reason");
        message =
            value_text(old, "message").n ? value_text(old, "message") : value_text(api, "message");
    }
    if (in->evict_reason.n) {
        phase = STR("Failed");
        reason = in->evict_reason;
        message = in->evict_message;
    }
    if (phase_is_final(api_was))
        phase = api_was;
    value_put(a, s, STR("phase"), value_string(phase));
    put_text(a, s, STR("reason"), reason);
    put_text(a, s, STR("message"), message);
}

static struct value conditions_of(struct arena *a, const struct status_input *in,
                                  const struct value *old, const struct value *all,
                                  struct str phase)
{
    struct value list = value_array();
    value_each_item (c, value_dig(in->pod, "status", "conditions"))
        if (!condition_is_ours(value_text(c, "type")))
            value_put_item(a, &list, value_clone(a, c));
    if (!in->is_terminal)
        value_each_item (c, in->resize)
            value_put_item(a, &list, value_clone(a, c));
    const struct value *disrupted = rules_condition(old, STR("DisruptionTarget"));
    if (disrupted)
        condition_put(a, &list, value_clone(a, disrupted));
    value_put_item(a, &list, condition_sandbox(a, in->pod, in->have));
    value_put_item(a, &list, condition_initialized(a, in->pod, old, all, phase));
    value_put_item(a, &list, condition_ready(a, in->pod, &list, all, phase));
    value_put_item(a, &list, condition_containers_ready(a, in->pod, all, phase));
    value_put_item(a, &list,
                   condition_new(a, in->pod, STR("PodScheduled"), STR("True"), STR(""), STR("")));
    if (pod_could_restart_all(in->pod))
        value_put_item(a, &list, condition_restarting(a, in->pod, in->have, old, phase));
    return list;
}

static struct value joined(struct arena *a, const struct value *x, const struct value *y)
{
    struct value all = value_array();
    value_each_item (it, x)
        value_put_item(a, &all, value_clone(a, it));
    value_each_item (it, y)
        value_put_item(a, &all, value_clone(a, it));
    return all;
}

struct value status_make(struct arena *a, const struct status_input *in)
{
    const struct value *old = in->old ? in->old : value_get(in->pod, STR("status"));
    struct value main = statuses_of(a, in, old, "containers", "containerStatuses", false);
    struct value init = statuses_of(a, in, old, "initContainers", "initContainerStatuses", true);
    struct value more =
        statuses_of(a, in, old, "ephemeralContainers", "ephemeralContainerStatuses", false);
    struct value s = value_object(), before = joined(a, &main, &init);
    int64_t generation = 0;
    (void)value_to_int(value_dig(in->pod, "metadata", "generation"), &generation);
    if (generation)
        value_put_new(a, &s, STR("observedGeneration"), value_int(generation));
    note_phase(a, in, old, &before, &s);
    note_probes(a, in, &main, false);
    note_probes(a, in, &init, true);
    struct value all = joined(a, &init, &main);
    value_put(a, &s, STR("conditions"), conditions_of(a, in, old, &all, value_text(&s, "phase")));
    note_addresses(a, in, &s);
    if (init.n)
        value_put_new(a, &s, STR("initContainerStatuses"), init);
    value_put_new(a, &s, STR("containerStatuses"), main);
    if (more.n)
        value_put_new(a, &s, STR("ephemeralContainerStatuses"), more);
    value_put_new(a, &s, STR("qosClass"), value_string(pod_qos_class(pod_spec(in->pod))));
    note_resources(a, in, &s);
    return s;
}
