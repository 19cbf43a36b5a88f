/* plan.h - which nodes lack a pod of a DaemonSet, and which pods go.
 *
 * A node gets a pod if the pod's selector, affinity and tolerations allow it; a pod stays until a
 * taint drives it away. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

struct daemon_pod {
    const struct spn_value *pod;
    struct spn_text name;
    int64_t created_ns;
    bool has_node, is_deleting, is_failed, is_succeeded, is_ready, is_available;
    bool is_updated; /* it has the current template */
    bool is_waiting; /* it has failed, and it is too early to try again */
};

struct daemon_node {
    struct spn_text name;
    bool is_there;                    /* or only pods say so */
    bool should_run, should_continue; /* a new pod; one that is there */
    struct daemon_pod *pods;
    size_t n_pods;
};

/* What the set says of updates, for so many nodes. */
struct daemon_limits {
    int64_t max_surge, max_unavailable;
    bool is_rolling;
};
struct daemon_limits daemon_limits_of(const struct spn_value *set, int64_t n_nodes);
bool daemon_allows_surge(const struct spn_value *set);

/* The template of its pods, with tolerations and labels. `hash` is that of the revision. */
struct spn_value *daemon_template(struct spn_arena *a, const struct spn_value *set,
                                  struct spn_text hash);
/* The same for one node. */
void daemon_bind_template(struct spn_arena *a, struct spn_value *template, struct spn_text node);
/* Whether a node should get a pod, and keep one. */
void daemon_judge_node(struct spn_arena *a, struct daemon_node *ret, const struct spn_value *node,
                       const struct spn_value *template);
/* The node that a pod is on or is meant for; empty: none. */
struct spn_text daemon_node_of(const struct spn_value *pod);
bool daemon_is_updated(const struct spn_value *set, const struct spn_value *pod,
                       struct spn_text hash);

/* Nodes that get a pod, and pods that go. Each has room for all nodes, and all pods. */
struct daemon_plan {
    const struct daemon_node **create;
    size_t n_create;
    const struct daemon_pod **remove;
    size_t n_remove;
};
/* One pod on each node that should have one. */
void daemon_plan(struct daemon_plan *p, struct daemon_node *nodes, size_t n, bool allows_surge);
/* The next pods of an older template. */
void daemon_plan_update(struct daemon_plan *p, struct daemon_node *nodes, size_t n,
                        const struct daemon_limits *limits);
/* Those with a node first, then older ones. */
void daemon_sort_pods(struct daemon_node *node);
