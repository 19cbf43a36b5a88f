/* pod_facts.h - what the scheduler knows of a pod: read once from its object, then only compared.
 *
 * Requests are numbers, selectors are compiled. Everything lies in one arena of the facts' own, so
 * the object itself need not be kept. Immutable once it is made. Rules only: no I/O. */
#pragma once

#include "select/node_match.h"
#include "scheduler/resource_table.h"

struct pod_amount {
    int id; /* of the resource; -1: one that no node can have */
    int64_t n;
    struct str name; /* of one without a number */
};

struct pod_port {
    struct str protocol, ip;
    int64_t number;
};

/* A term of podAffinity or podAntiAffinity. */
struct pod_term {
    struct str topology_key;
    struct labels_selector selector;
    struct labels_selector ns_selector; /* of namespaces; matches nothing if there is none */
    const struct str *namespaces;
    uint32_t n_namespaces;
    int32_t weight; /* of a preference */
};

struct pod_terms {
    const struct pod_term *items;
    size_t n;
};

struct spread_rule {
    struct str topology_key;
    struct labels_selector selector;
    int32_t max_skew, min_domains;
    bool is_hard; /* DoNotSchedule */
    bool honors_affinity, honors_taints;
};

struct pod_volume {
    struct str claim;           /* name of the PersistentVolumeClaim, or empty */
    bool is_ephemeral;          /* the claim is made for the pod */
    const struct value *source; /* the volume, if another pod's may be in its way; or NULL */
};

/* A claim for devices (ResourceClaim). */
struct pod_device {
    struct str claim; /* its name; empty: it has yet to be made */
    bool is_made;     /* for the pod, of a template */
};

struct pod_facts {
    struct arena mem;
    struct str key, ns, name, uid, version;
    struct str node_name, nominated, scheduler, phase;
    struct label_set labels;
    int64_t generation;
    int32_t priority;
    bool never_preempts, is_deleting, is_final, is_gated, is_victim;
    struct str started; /* in UTC, so that texts compare; empty: not yet */
    struct str owner_version, owner_kind, owner_name; /* the one that controls it */

    struct pod_amount *amounts; /* that are not zero */
    size_t n_amounts;
    int64_t scored_cpu, scored_memory; /* what counts for scores: never nothing */
    int64_t plain_cpu, plain_memory;   /* what it really asks for */
    struct pod_port *ports;
    size_t n_ports;
    const struct str *images; /* as nodes name them */
    size_t n_images;          /* all of them */

    bool has_node_rules;     /* nodeSelector or required node affinity */
    bool has_required_terms; /* required node affinity is there, even if empty */
    struct label_set node_selector;
    struct node_terms required, preferred;
    struct tolerations tolerations;
    struct pod_terms affinity, anti, soft_affinity, soft_anti;
    struct spread_rule *spread;
    size_t n_spread;
    struct pod_volume *volumes; /* those that matter to the scheduler */
    size_t n_volumes;
    struct pod_device *devices; /* of a pod without a node */
    size_t n_devices;

    /* PodScheduled as it stands, to write only what changes. */
    struct str cond_status, cond_reason, cond_message;
};

/* Of a Pod. */
struct pod_facts *pod_facts_new(const struct value *pod, struct resource_table *resources);
struct pod_facts *pod_facts_free(struct pod_facts *f);

static inline bool pod_facts_have_terms(const struct pod_facts *f)
{
    return f->affinity.n || f->anti.n || f->soft_affinity.n || f->soft_anti.n;
}

/* How much it asks for of a resource, by its number; 0: of one without a number, too. */
static inline int64_t pod_facts_amount(const struct pod_facts *f, int id)
{
    for (size_t i = 0; i < f->n_amounts; i++)
        if (id >= 0 && f->amounts[i].id == id)
            return f->amounts[i].n;
    return 0;
}

/* A TopologySpreadConstraint, all but its selector. Text is borrowed. */
struct spread_rule spread_rule_read(const struct value *constraint);
/* Whether required node affinity and nodeSelector let it go there. */
bool pod_facts_fit_node(const struct pod_facts *f, struct str node_name, struct label_set labels);
/* Whether a term is about that pod; `ns_labels` are those of its namespace. */
bool pod_term_matches(const struct pod_term *t, const struct pod_facts *pod,
                      struct label_set ns_labels);
