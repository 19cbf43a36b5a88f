#include "node/agent/rules.h"

#include "api/pod_phase.h"
#include "base/idiom.h"
#include "base/banned.h"

#define CONFIG_MIRROR "kubernetes.io/config.mirror"

const struct value *pod_containers(const struct value *pod)
{
    return value_dig(pod, "spec", "containers");
}

const struct value *pod_init_containers(const struct value *pod)
{
    return value_dig(pod, "spec", "initContainers");
}

const struct value *pod_ephemeral_containers(const struct value *pod)
{
    return value_dig(pod, "spec", "ephemeralContainers");
}

bool pod_is_deleting(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "deletionTimestamp")).n;
}

bool pod_is_host_network(const struct value *pod)
{
    return value_is_true(value_dig(pod, "spec", "hostNetwork"));
}

bool pod_is_mirror(const struct value *pod)
{
    return value_dig(pod, "metadata", "annotations", CONFIG_MIRROR);
}

struct str pod_text(struct arena *a, const struct value *pod)
{
    return arena_printf(a, STR_FMT "_" STR_FMT "(" STR_FMT ")", STR_ARG(pod_name(pod)),
                        STR_ARG(pod_ns(pod)), STR_ARG(pod_uid(pod)));
}

const struct value *list_named(const struct value *list, struct str name)
{
    value_each_item (it, list)
        if (str_eq(value_text(it, "name"), name))
            return it;
    return NULL;
}

const struct value *pod_container(const struct value *pod, struct str name, struct str *ret_list)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers"),
                                        STR("ephemeralContainers") };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct value *c = list_named(value_get(pod_spec(pod), lists[i]), name);
        if (!c)
            continue;
        if (ret_list)
            *ret_list = lists[i];
        return c;
    }
    return NULL;
}

bool container_is_sidecar(const struct value *init_container)
{
    return str_eq(value_text(init_container, "restartPolicy"), STR("Always"));
}

bool pod_has_sidecar(const struct value *pod)
{
    value_each_item (c, pod_init_containers(pod))
        if (container_is_sidecar(c))
            return true;
    return false;
}

/* ---- Restarts ---- */

static bool has_code(const struct value *codes, int64_t exit_code)
{
    value_each_item (code, codes)
        if (value_is(code, VALUE_INT) && code->i == exit_code)
            return true;
    return false;
}

/* The action of the first rule that is about this code; empty: none is. */
static struct str rule_action(const struct value *container, int64_t exit_code)
{
    value_each_item (rule, value_get(container, STR("restartPolicyRules"))) {
        const struct value *on = value_get(rule, STR("exitCodes"));
        struct str op = value_text(on, "operator");
        bool is_in = has_code(value_get(on, STR("values")), exit_code);
        if ((str_eq(op, STR("In")) && is_in) || (str_eq(op, STR("NotIn")) && !is_in))
            return value_text(rule, "action");
    }
    return STR("");
}

static bool policy_restarts(struct str policy, int64_t exit_code)
{
    if (str_eq(policy, STR("Never")))
        return false;
    return !str_eq(policy, STR("OnFailure")) || exit_code;
}

bool container_should_restart(const struct value *pod, const struct value *container,
                              int64_t exit_code)
{
    struct str own = value_text(container, "restartPolicy");
    if (!own.n)
        return policy_restarts(value_text(pod_spec(pod), "restartPolicy"), exit_code);
    struct str action = rule_action(container, exit_code);
    if (str_eq(action, STR("Restart")) || str_eq(action, STR("RestartAllContainers")))
        return true;
    return policy_restarts(own, exit_code);
}

bool container_restarts_when_killed(const struct value *pod, const struct value *container)
{
    struct str own = value_text(container, "restartPolicy");
    struct str policy = own.n ? own : value_text(pod_spec(pod), "restartPolicy");
    return !str_eq(policy, STR("Never"));
}

bool container_restarts_all(const struct value *container, int64_t exit_code)
{
    return str_eq(rule_action(container, exit_code), STR("RestartAllContainers"));
}

static bool list_could_restart_all(const struct value *list)
{
    value_each_item (c, list)
        value_each_item (rule, value_get(c, STR("restartPolicyRules")))
            if (str_eq(value_text(rule, "action"), STR("RestartAllContainers")))
                return true;
    return false;
}

bool pod_could_restart_all(const struct value *pod)
{
    return list_could_restart_all(pod_containers(pod)) ||
           list_could_restart_all(pod_init_containers(pod));
}

static bool list_restarts_all(const struct value *list, const struct runtime_pod *have,
                              const struct value *statuses)
{
    value_each_item (c, list) {
        struct str name = value_text(c, "name");
        const struct runtime_container *got = have ? runtime_find(have, name) : NULL;
        if (have && (!got || got->state != CONTAINER_EXITED))
            continue;
        if (got && container_restarts_all(c, got->exit_code))
            return true;
        int64_t code;
        const struct value *s = list_named(statuses, name);
        if (value_to_int(value_dig(s, "state", "terminated", "exitCode"), &code) &&
            container_restarts_all(c, code))
            return true;
    }
    return false;
}

bool pod_restarts_all(const struct value *pod, const struct runtime_pod *have,
                      const struct value *status)
{
    const struct value *c = rules_condition(status, STR("AllContainersRestarting"));
    if (str_eq(value_text(c, "status"), STR("True")))
        return true;
    return list_restarts_all(pod_init_containers(pod), have,
                             value_get(status, STR("initContainerStatuses"))) ||
           list_restarts_all(pod_containers(pod), have,
                             value_get(status, STR("containerStatuses")));
}

bool container_is_due(const struct value *pod, const struct value *container,
                      const struct runtime_pod *have)
{
    if (pod_is_deleting(pod))
        return false;
    const struct runtime_container *c = runtime_find(have, value_text(container, "name"));
    if (!c)
        return true;
    if (c->state == CONTAINER_RUNNING)
        return false;
    return c->state != CONTAINER_EXITED || container_should_restart(pod, container, c->exit_code);
}

bool pod_has_started(const struct value *pod, const struct runtime_pod *have)
{
    value_each_item (c, pod_containers(pod))
        if (runtime_find_active(have, value_text(c, "name")))
            return true;
    return false;
}

bool pod_has_made_any(const struct value *pod, const struct runtime_pod *have)
{
    value_each_item (c, pod_containers(pod)) {
        const struct runtime_container *got = runtime_find(have, value_text(c, "name"));
        if (got && got->state != CONTAINER_UNKNOWN)
            return true;
    }
    return false;
}

/* ---- The sandbox ---- */

bool pod_needs_sandbox(const struct value *pod, const struct runtime_pod *have,
                       uint32_t *ret_attempt, struct str *ret_id, struct str *ret_why)
{
    *ret_attempt = 0;
    *ret_id = STR("");
    *ret_why = STR("no pod sandbox exists");
    if (!have->n_sandboxes)
        return true;
    const struct runtime_sandbox *s = &have->sandboxes[0];
    size_t ready = 0;
    for (size_t i = 0; i < have->n_sandboxes; i++)
        ready += have->sandboxes[i].is_ready;
    *ret_attempt = s->attempt + 1;
    *ret_id = s->id;
    if (ready > 1) {
        *ret_why = STR("multiple pod sandboxes are ready and need to be reconciled");
        return true;
    }
    if (!s->is_ready) {
        *ret_why = STR("pod sandbox is not ready");
        return true;
    }
    if (s->is_host_network != pod_is_host_network(pod)) {
        *ret_id = STR("");
        *ret_why = STR("network namespace mode changed and sandbox needs to be recreated");
        return true;
    }
    if (!pod_is_host_network(pod) && s->has_network && !s->ip.n) {
        *ret_why = STR("pod sandbox has no IP address");
        return true;
    }
    *ret_attempt = s->attempt;
    *ret_why = STR("");
    return false;
}

/* ---- Statuses ---- */

const struct value *rules_condition(const struct value *status, struct str type)
{
    value_each_item (c, value_get(status, STR("conditions")))
        if (str_eq(value_text(c, "type"), type))
            return c;
    return NULL;
}

bool phase_is_final(struct str phase)
{
    return pod_phase_is_final(phase);
}
