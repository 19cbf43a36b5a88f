/* plan.h - what is to be done for a pod that is to run, as things are. Pure.
 *
 *     pod + what the runtime has + results of probes  ->  sandbox, containers to end and to start
 *
 * The rules and their order are upstream's (computePodActions). */
#pragma once

#include "node/agent/probe_result.h"
#include "node/agent/rules.h"

enum kill_reason {
    KILL_OTHER,
    KILL_STARTUP_PROBE,
    KILL_LIVENESS_PROBE,
};

struct plan_kill {
    const struct runtime_container *container;
    const struct value *spec;
    struct str message; /* of the event */
    enum kill_reason reason;
};

/* A container whose resources are to change while it runs. */
struct plan_resize {
    const struct runtime_container *container;
    const struct value *spec;
    bool is_cpu, is_memory;
};

struct plan_indices {
    size_t *at;
    size_t n;
};

struct plan {
    bool kill_pod;       /* all of it; a new sandbox follows if that is to be made */
    bool create_sandbox; /* number `attempt` */
    struct str sandbox_id;
    uint32_t attempt;
    struct plan_indices init, main, ephemeral; /* which to start, in the spec's lists */
    struct plan_kill *kills;
    size_t n_kills;
    struct plan_resize *resizes;
    size_t n_resizes;
    bool resizes_pod; /* the pod's own group is to change */
    /* All containers start anew: these are ended if they run, and removed, in this order. */
    const struct runtime_container **resets;
    size_t n_resets;
};

struct plan_input {
    const struct value *pod;
    const struct runtime_pod *have;
    bool restarts_all; /* the pod's condition AllContainersRestarting */
    /* What the last probe of a container said. */
    enum probe_result (*probe)(void *arg, enum probe_kind kind, struct str container_id);
    void *arg;
    /* Resources that containers were last given: name to ResourceRequirements. NULL: unknown, so
     * nothing is resized. */
    const struct value *actuated;
};

struct plan plan_make(struct arena *a, const struct plan_input *in);

/* Which of cpu and memory differ between two ResourceRequirements. */
void plan_compare_resources(const struct value *wanted, const struct value *given, bool *ret_cpu,
                            bool *ret_memory);
