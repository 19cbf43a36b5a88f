/* container_status.h - the entries of a pod's containerStatuses, as a kubelet writes them. Pure. */
#pragma once

#include "node/agent/rules.h"

struct container_statuses_input {
    const struct value *pod;
    const struct runtime_pod *have;
    const struct value *specs; /* one of the pod's lists */
    const struct value *old;   /* their statuses so far; NULL: none */
    struct str scheme;         /* of ids: "containerd" */
    bool is_init;
    bool restarts_all; /* the pod is about to start all of its containers anew */
    /* Why containers could not be started: name to { reason, message }. */
    const struct value *reasons;
    /* Resources that containers were last given: name to ResourceRequirements. NULL: unknown. */
    const struct value *actuated;
};

/* By name, those of init containers in the spec's order. `started` and `ready` are the caller's. */
struct value container_statuses(struct arena *a, const struct container_statuses_input *in);

struct str status_time(struct arena *a, int64_t wall_ns); /* whole seconds, UTC */
/* The name of what a state is: "waiting", "running", "terminated"; empty: none. */
struct str state_name(const struct value *state);
