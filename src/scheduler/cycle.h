/* cycle.h - one attempt to find a node for a pod: filters, scores, and who would have to go.
 *
 *     prepare  ->  filter each node  ->  score what is left  ->  the best one
 *                        none left: preempt.h looks for pods that could make room
 *
 * What is checked is a table of plugins (cycle_plugins.c) in upstream's order; each has a file or a
 * part of one. A cycle runs under the lock of its world, which it changes only in passing: pods
 * that are tried on a node are taken off again. Memory is the attempt's arena. What it needs beyond
 * nodes and pods it asks of `struct cycle_env`. Rules only: no I/O. */
#pragma once

#include "scheduler/world.h"

/* By their place in the table, which is upstream's order. */
enum plugin_id {
    PLUGIN_NODE_UNSCHEDULABLE,
    PLUGIN_NODE_NAME,
    PLUGIN_TAINTS,
    PLUGIN_NODE_AFFINITY,
    PLUGIN_PORTS,
    PLUGIN_FIT,
    PLUGIN_VOLUME_RESTRICTIONS,
    PLUGIN_VOLUME_LIMITS,
    PLUGIN_VOLUME_BINDING,
    PLUGIN_VOLUME_ZONE,
    PLUGIN_SPREAD,
    PLUGIN_POD_AFFINITY,
    PLUGIN_DEVICES,
    PLUGIN_BALANCE,
    PLUGIN_IMAGES,
    N_PLUGINS,
};

enum verdict_code {
    VERDICT_FITS,
    VERDICT_NO,    /* it might, if other pods went */
    VERDICT_NEVER, /* whoever went, it would not */
};

struct verdict {
    uint8_t code;   /* enum verdict_code */
    uint8_t plugin; /* who says so */
    uint16_t n;
    const struct str *why;
};

/* What a cycle asks for beside the world. Each may be NULL: there is none. Trees lie in the arena.
 */
struct cycle_env {
    void *arg;
    const struct value *(*claim)(void *arg, struct arena *a, struct str ns, struct str name);
    const struct value *(*volume)(void *arg, struct arena *a, struct str name);
    const struct value *(*storage_class)(void *arg, struct arena *a, struct str name);
    /* All PersistentVolumes of a storage class. */
    size_t (*volumes)(void *arg, struct arena *a, struct str class, const struct value ***ret);
    /* A CSIDriver, and all CSIStorageCapacities. */
    const struct value *(*driver)(void *arg, struct arena *a, struct str name);
    size_t (*capacities)(void *arg, struct arena *a, const struct value ***ret);
    /* The CSINode of a node, and its VolumeAttachments. */
    const struct value *(*csi_node)(void *arg, struct arena *a, struct str node);
    size_t (*attachments)(void *arg, struct arena *a, struct str node, const struct value ***ret);
    /* Whether a volume was promised to another claim a moment ago. */
    bool (*is_promised)(void *arg, struct str volume, struct str claim_key);
    /* A ResourceClaim and a DeviceClass. */
    const struct value *(*device_claim)(void *arg, struct arena *a, struct str ns, struct str name);
    const struct value *(*device_class)(void *arg, struct arena *a, struct str name);
    /* All PodDisruptionBudgets of a namespace. */
    size_t (*budgets)(void *arg, struct arena *a, struct str ns, const struct value ***ret);
    /* What Services and owners select the pod by. False: nobody does. */
    bool (*default_selector)(void *arg, struct arena *a, const struct pod_facts *f,
                             struct labels_selector *ret);
};

struct profile;

struct cycle {
    struct world *w;
    const struct profile *profile;
    const struct cycle_env *env;
    struct arena *a;
    struct sched_pod *pod;
    const struct pod_facts *f;
    struct label_set ns_labels; /* of the pod's namespace */
    void *state[N_PLUGINS];
    bool filters[N_PLUGINS];  /* which have something to check for this pod */
    struct verdict *verdicts; /* by slot; of nodes that were looked at and do not fit */
    struct str reject;        /* the pod fits nowhere, for this reason; or empty */
    uint8_t reject_plugin;
    const struct str *only; /* names of nodes that may fit at all, or NULL: all */
    size_t n_only;
    uint32_t rejected_by;
};

struct plugin {
    const char *name;
    int weight; /* of its score */
    /* Whether there is something to filter; may call cycle_reject(). */
    bool (*prepare)(struct cycle *c);
    void (*filter)(struct cycle *c, struct sched_node *n, struct verdict *v);
    /* A pod is tried on a node, or off it (delta -1). */
    void (*moved)(struct cycle *c, const struct pod_facts *f, struct sched_node *n, int delta);
    /* Whether there is something to score. */
    bool (*prepare_score)(struct cycle *c, struct sched_node **nodes, size_t n);
    int64_t (*score)(struct cycle *c, struct sched_node *n);
    /* Brings scores to 0..100; NULL: they are. */
    void (*normalize)(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n);
};

extern const struct plugin cycle_plugins[N_PLUGINS];

/* For plugins. */
void cycle_reject(struct cycle *c, enum plugin_id who, struct str why);
static inline void verdict_set(struct verdict *v, enum verdict_code code, const struct str *why)
{
    v->code = code;
    v->why = why;
    v->n = 1;
}

/* Begins an attempt: runs every prepare(). */
void cycle_begin(struct cycle *c, struct world *w, const struct profile *profile,
                 const struct cycle_env *env, struct arena *a, struct sched_pod *pod);
/* Whether the pod fits on the node, counting pods that wait for it with the same priority or a
 * higher one. */
bool cycle_fits(struct cycle *c, struct sched_node *n, struct verdict *ret);
/* Tries a pod on a node, or off it: world and plugins follow. */
void cycle_put(struct cycle *c, struct sched_pod *p, struct sched_node *n);
void cycle_take(struct cycle *c, struct sched_pod *p);

/* A volume that is to be bound before the pod. */
struct volume_choice {
    struct str claim;  /* its name */
    struct str volume; /* bind this one; empty: have one made on the node */
    int64_t version;   /* of what the server was told; 0: nothing yet */
};

struct decision {
    struct sched_node *node; /* NULL: none */
    struct str message;      /* why there is none */
    uint32_t rejected_by;
    bool had_error;        /* there is nothing that the pod could wait for */
    bool clears_nominated; /* it does not wait for a node any more */
    struct str nominated;  /* the node whose victims have to go */
    struct sched_pod **victims;
    size_t n_victims;
    struct volume_choice *volumes;
    size_t n_volumes;
};

/* Where the search goes on, and chance. All zero is a good start. */
struct cursor {
    size_t next;
    unsigned percent; /* of nodes that are looked at; 0: by the size of the cluster */
    uint64_t random;
};

void cycle_run(struct world *w, const struct profile *profile, const struct cycle_env *env,
               struct arena *a, struct cursor *at, struct sched_pod *pod, struct decision *ret);

/* "0/3 nodes are available: 2 Insufficient cpu, 1 ...", as upstream has it. Nodes without a verdict
 * count for `absent`, if that is not empty. */
struct str cycle_explain(struct arena *a, size_t n_nodes, const struct verdict *verdicts,
                         struct str absent);
