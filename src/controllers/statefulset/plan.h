/* plan.h - what comes next for the pods of a StatefulSet.
 *
 * Pods have ordinals. Unless the set is Parallel, one thing happens at a time: a pod is made when
 * all before it are available, and goes when all after it are gone. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* Pods beyond these are not looked at: what a set asks for is no reason to run out of memory. */
enum { STATEFUL_REPLICAS_MAX = 100000 };

/* What the set says. */
struct stateful_spec {
    int64_t replicas, start, partition, max_unavailable, min_ready_sec;
    bool is_parallel, is_on_delete, is_deleting;
};
struct stateful_spec stateful_spec_of(const struct spn_value *set);

/* A pod, there or to be made. */
struct stateful_pod {
    struct spn_value *pod;
    int64_t ordinal;
    struct spn_text revision;
    bool is_created, is_terminal, is_pending, is_deleting, is_ready, is_available;
    bool is_identified;   /* it has the name, labels and volumes that it should have */
    bool has_claims;      /* owners of its claims are as the set retains them */
    bool has_stale_claim; /* one of them still belongs to a pod of its name that is gone */
};
struct stateful_pod stateful_pod_of(struct spn_value *pod, int64_t min_ready_sec, int64_t now_ns);

enum stateful_act {
    STATEFUL_CREATE,
    STATEFUL_DELETE,
    STATEFUL_MAKE_CLAIMS, /* that a pending pod lacks */
    STATEFUL_REPAIR,      /* identity, volumes, owners of claims */
    STATEFUL_OWN_CLAIMS,  /* only owners of claims, of a pod that goes */
    STATEFUL_UPDATE,      /* delete it, so that it comes back with the new template */
};
struct stateful_step {
    enum stateful_act act;
    struct stateful_pod *pod;
};

/* `replicas` by ordinal, `condemned` from the highest ordinal down; `update` is the name of the
 * revision that pods should have. `ret` has room for three times as many. */
size_t stateful_plan(const struct stateful_spec *spec, struct stateful_pod *replicas,
                     size_t n_replicas, struct stateful_pod *condemned, size_t n_condemned,
                     struct spn_text update, struct stateful_step *ret);
