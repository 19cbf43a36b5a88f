/* rules.h - what a Pod's spec says about its containers' lives. Pure. */
#pragma once

#include "base/value.h"
#include "node/agent/runtime.h"

/* spec of the pod, and its lists of containers; each may be absent. */
static inline const struct value *pod_spec(const struct value *pod)
{
    return value_get(pod, STR("spec"));
}
static inline struct str pod_uid(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "uid"));
}
static inline struct str pod_ns(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "namespace"));
}
static inline struct str pod_name(const struct value *pod)
{
    return value_str(value_dig(pod, "metadata", "name"));
}
const struct value *pod_containers(const struct value *pod);
const struct value *pod_init_containers(const struct value *pod);
const struct value *pod_ephemeral_containers(const struct value *pod);
bool pod_is_deleting(const struct value *pod);
bool pod_is_host_network(const struct value *pod);
/* It comes from a file, not from the API. */
static inline bool pod_is_static(const struct value *pod)
{
    struct str from =
        value_str(value_dig(pod, "metadata", "annotations", "kubernetes.io/config.source"));
    return from.n && !str_eq(from, STR("api"));
}
bool pod_is_mirror(const struct value *pod); /* it stands in the API for one from a file */
/* "NAME_NS(UID)", as events and messages name a pod. */
struct str pod_text(struct arena *a, const struct value *pod);

/* The spec of a container of any list by its name; NULL: there is none. `ret_list` may be NULL; it
 * gets "containers", "initContainers" or "ephemeralContainers". */
const struct value *pod_container(const struct value *pod, struct str name, struct str *ret_list);
/* The entry of that name in a list of containers or of their statuses; NULL: there is none. */
const struct value *list_named(const struct value *list, struct str name);

/* An init container that goes on running beside the others. */
bool container_is_sidecar(const struct value *init_container);
bool pod_has_sidecar(const struct value *pod);

/* Whether a container that has ended with this code is to be started again. */
bool container_should_restart(const struct value *pod, const struct value *container,
                              int64_t exit_code);
/* The same without a code: whether one that we end ourselves comes again. */
bool container_restarts_when_killed(const struct value *pod, const struct value *container);
/* Its rule for that code says that all containers of the pod are to start anew. */
bool container_restarts_all(const struct value *container, int64_t exit_code);
bool pod_could_restart_all(const struct value *pod); /* some container has such a rule */
/* Whether the pod is about to start all of its containers anew. `status` is the one known so far;
 * either may be NULL. */
bool pod_restarts_all(const struct value *pod, const struct runtime_pod *have,
                      const struct value *status);

/* Whether the container is to be started as things are. */
bool container_is_due(const struct value *pod, const struct value *container,
                      const struct runtime_pod *have);

/* A main container was started in the sandbox that is ready. */
bool pod_has_started(const struct value *pod, const struct runtime_pod *have);
/* A main container was made, whatever became of it. */
bool pod_has_made_any(const struct value *pod, const struct runtime_pod *have);

/* Whether it needs another sandbox than the one it has. `ret_attempt` is the number of the next
 * one, or of this one; `ret_why` goes into a condition. */
bool pod_needs_sandbox(const struct value *pod, const struct runtime_pod *have,
                       uint32_t *ret_attempt, struct str *ret_id, struct str *ret_why);

/* The condition of that type in a status; NULL: there is none. */
const struct value *rules_condition(const struct value *status, struct str type);
bool phase_is_final(struct str phase);
