/* plan.h - what a node's state means for pods: taints, conditions of a node that is silent, and how
 * quickly pods may be driven off nodes that failed. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* "True", "False", "Unknown"; empty: it never said. */
struct spn_text node_ready(const struct spn_value *node);

/* What may happen to pods of a node that is not ready. */
enum node_eviction {
    NODE_SPARES_PODS, /* no node is ready: the fault may be ours */
    NODE_WAITS,       /* others come first */
    NODE_EVICTS,
};

/* It is not ready and drives nobody away yet. */
bool node_wants_to_evict(const struct spn_value *node);
/* spec.taints as they should be; NULL: they are so. Taints that are not about the node's own state
 * stay. */
struct spn_value *node_taints(struct spn_arena *a, const struct spn_value *node,
                              enum node_eviction eviction, int64_t now_ns);
/* Labels that older programs read, and that differ from today's; NULL: none. */
struct spn_value *node_labels(struct spn_arena *a, const struct spn_value *node);

/* Changes status.conditions of a node that has been silent for too long. True: its readiness has
 * changed by that. */
bool node_set_unknown(struct spn_arena *a, struct spn_value *node, int64_t now_ns);

/* Region and zone in one text. */
struct spn_text node_zone(struct spn_arena *a, const struct spn_value *node);
/* It does not count when zones are looked at. */
bool node_is_excluded(const struct spn_value *node);

/* Nodes of a zone. */
struct zone_count {
    size_t n_ready, n_not_ready;
};
bool zone_is_down(const struct zone_count *z);
/* How many nodes of the zone a second may begin to drive their pods away. */
double zone_evictions_per_second(const struct zone_count *z);

/* The annotation node.alpha.kubernetes.io/ttl in a cluster of so many nodes. `*step` is where the
 * cluster was before, at first 0: sizes overlap, so that it does not change with every node. */
int64_t node_ttl_seconds(size_t n_nodes, size_t *step);
