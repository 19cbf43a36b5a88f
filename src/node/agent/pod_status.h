/* pod_status.h - the whole status of a pod, and how a new one goes over an old one. Pure. */
#pragma once

#include "node/agent/conditions.h"
#include "node/agent/probe_result.h"
#include "node/pod/node_facts.h"

struct status_input {
    const struct value *pod; /* as it is run, with the status that the API has */
    const struct value *old; /* the status made last; NULL: none, then the pod's own counts */
    const struct runtime_pod *have;
    const struct node_facts *node;
    struct str scheme;                      /* of containers' ids: "containerd" */
    bool is_terminal;                       /* no container will start again */
    const struct value *reasons;            /* why containers could not be started */
    const struct value *actuated;           /* resources that containers were last given */
    const struct value *resize;             /* conditions of a resize, an array; NULL: none */
    struct str evict_reason, evict_message; /* it must go; empty: it need not */
    int64_t agent_start_ns; /* wall: containers that ran long before it keep being ready */
    /* Of probes; NULL: there are none. */
    enum probe_result (*probe)(void *arg, enum probe_kind kind, struct str container_id);
    bool (*has_probe)(void *arg, enum probe_kind kind, struct str container);
    void *arg;
};

/* Times of conditions and startTime are set by status_settle(). */
struct value status_make(struct arena *a, const struct status_input *in);

/* Gives `status` what lasts from the one before: times of conditions that have not changed,
 * startTime, volumeHealth; sorts and cuts. */
void status_settle(struct arena *a, const struct value *pod, struct value *status,
                   const struct value *before, int64_t now_ns);
/* Whether an ended container would come to life again although it must not; then the new status is
 * wrong. */
bool status_is_impossible(const struct value *pod, const struct value *status,
                          const struct value *before);
/* The same as far as this is ours: others' conditions and times do not count. */
bool status_eq(struct arena *a, const struct value *x, const struct value *y);

/* What is written over the server's status: others' conditions stay, and a phase that is final
 * comes only once nothing can run any more. */
struct value status_merge(struct arena *a, const struct value *pod, const struct value *server,
                          const struct value *status, bool could_run, int64_t now_ns);

/* Ends what has no end yet, for a pod that is over: containers whose end nobody has seen count as
 * failed, and the phase is final. */
void status_terminate(struct arena *a, const struct value *pod, struct value *status);
