/* pod_life.h - the next step of a pod on a node that only pretends to run it.
 *
 *     Pending ──► ContainerCreating ──► init containers, one after the other ──► Running
 *             ──► Succeeded or Failed, or again and again with CrashLoopBackOff
 *
 * Where a pod is in its life is read from its status alone, so that a program that starts anew goes
 * on where the last one was. pod_wish.h has what its annotations ask for.
 *
 * Rules only: no I/O, no clock. */
#pragma once

#include <sampan/value.h>

struct pod_place {
    struct spn_text host_ip;
    struct spn_text pod_ip; /* for a pod that has none yet */
    int64_t now_ns;         /* wall */
};

enum pod_step_kind {
    POD_RESTS,   /* nothing, before something else changes */
    POD_WAITS,   /* until wait_ms are over */
    POD_WRITES,  /* `status` is to be merged into its own */
    POD_IS_OVER, /* it is to be removed */
};

/* What users are told once the step is done, as a kubelet says it. */
struct pod_event {
    struct pod_event *next;
    bool is_warning;
    const char *reason;
    struct spn_text message;
};

struct pod_step {
    enum pod_step_kind kind;
    int64_t wait_ms;
    struct spn_value *status;
    struct pod_event *events; /* in their order */
};

struct pod_step pod_life_next(struct spn_arena *a, const struct spn_value *pod,
                              const struct pod_place *place);
