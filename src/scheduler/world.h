/* world.h - all nodes and pods as the scheduler sees them, with sums that are kept up to date.
 *
 * A pod that was given to a node counts there from that moment on, before the server knows it
 * (assumed). Sums, ports and tallies change when a pod is put on a node or taken off, so looking at
 * a node costs the same however many pods it has. Pods of nodes that are not known yet wait in a
 * place of their own. The owner's lock guards all of it. Rules only: no I/O. */
#pragma once

#include "base/map.h"
#include "scheduler/pod_facts.h"

struct sched_node;

/* Where a pod that has no node is. */
enum pod_place { POD_NOWHERE, POD_ACTIVE, POD_BACKING_OFF, POD_WAITING, POD_GATED };

struct sched_pod {
    struct pod_facts *f;
    struct sched_node *on; /* NULL: on none */
    size_t place;          /* among the node's pods */
    bool is_assumed;       /* we gave it to the node, and the server has not said so yet */
    struct str nominated;  /* the node that is being freed for it; owned; empty: none */

    /* Of wait_queue.c. */
    enum pod_place queued;
    size_t heap_at;
    unsigned attempts;
    int64_t since_ns, due_ns;
    uint32_t rejected_by; /* a bit per plugin */
    bool had_error;       /* the last attempt ended in an error: it waits its whole time */
    bool is_preempting;   /* its victims are being deleted: it waits for that */
    bool was_woken;       /* something happened meanwhile */
};

struct node_image {
    struct str name;
    int64_t bytes;
};

struct sched_node {
    struct arena mem; /* of what the object says */
    struct str name;  /* owned, outlives changes of the object */
    struct label_set labels;
    struct taint *taints;
    size_t n_taints;
    bool is_unschedulable;
    int64_t max_pods;
    struct node_image *images;
    size_t n_images;

    int64_t has[RESOURCE_TABLE_MAX], used[RESOURCE_TABLE_MAX];
    int64_t scored_cpu, scored_memory; /* used, counting those who ask for nothing */
    struct sched_pod **pods;
    size_t n_pods, cap;
    unsigned n_ports, n_terms, n_anti; /* pods that have such */
    size_t slot;                       /* in world.nodes; SIZE_MAX: the object is not known */
};

/* How many pods of a namespace match a selector, by the slot of their node. */
struct tally {
    struct arena mem;
    struct str ns, text;
    struct labels_selector selector;
    uint32_t *counts;
    uint64_t used_at;
};

enum { WORLD_TALLIES_MAX = 64 };

struct world {
    struct resource_table resources;
    struct sched_node **nodes; /* known ones */
    size_t n_nodes, cap;
    struct map by_name; /* all nodes */
    struct map pods;    /* by key */
    struct map namespaces;
    struct map images;                   /* how many nodes have one */
    unsigned n_terms, n_anti, n_volumes; /* pods on nodes that have such */
    struct sched_pod **nominated;
    size_t n_nominated, nominated_cap;
    struct tally *tallies[WORLD_TALLIES_MAX];
    size_t n_tallies;
    uint64_t clock; /* of the tallies' use */
};

void world_init(struct world *w);
void world_done(struct world *w);

/* What changed of a node, for those who wait for such a change. */
enum node_change {
    NODE_ADDED = 1,
    NODE_HAS_CHANGED = 2,
    NODE_LABELS_CHANGED = 4,
    NODE_TAINTS_CHANGED = 8, /* or whether it may be used at all */
};
/* Of a Node. Returns what has changed. */
unsigned world_set_node(struct world *w, const struct value *node);
void world_remove_node(struct world *w, struct str name);
struct sched_node *world_node(struct world *w, struct str name); /* known ones only */

/* Takes over the facts. The pod of that key, made if there is none; it is put on the node that the
 * facts name. */
struct sched_pod *world_set_pod(struct world *w, struct pod_facts *f);
/* Takes it out; NULL if there is none. It belongs to the caller, who frees it. */
struct sched_pod *world_remove_pod(struct world *w, struct str key);
struct sched_pod *world_pod(struct world *w, struct str key);
struct sched_pod *world_free_pod(struct sched_pod *p);

/* Puts a pod on a node and takes it off; all sums follow. */
void world_place(struct world *w, struct sched_pod *p, struct sched_node *n);
void world_unplace(struct world *w, struct sched_pod *p);
struct sched_node *world_any_node(struct world *w, struct str name); /* made if it is not known */

/* Notes for which node a pod waits; empty: for none. */
void world_nominate(struct world *w, struct sched_pod *p, struct str node);

void world_set_namespace(struct world *w, struct str name, const struct value *labels);
void world_remove_namespace(struct world *w, struct str name);
struct label_set world_namespace(struct world *w, struct str name);

/* Good until the next call. */
const struct tally *world_tally(struct world *w, struct str ns, const struct labels_selector *s);
unsigned world_image_nodes(struct world *w, struct str image);
