/* profile.h - how pods of one schedulerName are scheduled: which plugins, with which weights and
 * arguments.
 *
 * Read from a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1). Plugins that this
 * scheduler has no part of are refused where they are enabled by name, and ignored where they are
 * disabled. Arguments are checked as upstream does, in its words. Rules only: no I/O. */
#pragma once

#include "scheduler/cycle.h"

enum { PROFILES_MAX = 64 };

struct profile_resource {
    struct str name;
    int64_t weight;
};

struct profile_resources {
    const struct profile_resource *items;
    size_t n;
};

/* NodeResourcesFitArgs. */
enum fit_type { FIT_LEAST_ALLOCATED, FIT_MOST_ALLOCATED, FIT_RATIO };

struct fit_point {
    int64_t utilization, score; /* both up to 100 */
};

struct fit_args {
    enum fit_type type;
    struct profile_resources resources;
    const struct fit_point *shape; /* of FIT_RATIO: utilizations grow */
    size_t n_shape;
    const struct value *ignored, *ignored_groups; /* lists of names, or NULL */
};

/* NodeAffinityArgs: counts for every pod, beside its own. */
struct affinity_args {
    bool has_required;
    struct node_terms required, preferred;
};

/* PodTopologySpreadArgs, for pods without rules that somebody selects. */
struct spread_args {
    bool is_system; /* hosts and zones, and nothing else */
    const struct spread_rule *rules;
    size_t n;
};

struct profile {
    struct str name;
    bool filters[N_PLUGINS], scores[N_PLUGINS];
    int64_t weights[N_PLUGINS];
    bool preempts; /* DefaultPreemption */
    struct fit_args fit;
    struct profile_resources balanced; /* NodeResourcesBalancedAllocationArgs */
    struct affinity_args affinity;
    struct spread_args spread;
    int64_t hard_affinity;       /* what a required term of a pod that is there weighs */
    bool ignores_preferences;    /* of pods that are there, if the pod itself has none */
    int64_t candidates_percent;  /* of nodes, that preemption looks for */
    int64_t candidates_absolute; /* at least so many */
    int64_t bind_timeout_ns;     /* for volumes */
};

struct profiles {
    struct profile items[PROFILES_MAX];
    size_t n;
    int64_t percent; /* of nodes that are looked at; 0: by the size of the cluster */
    int64_t first_pause_ns, longest_pause_ns;
};

/* One, as upstream has it without a configuration. */
void profiles_init(struct profiles *all);
/* Text lies in the configuration, the rest in the arena. ERR_INVALID: it makes no sense. */
int profiles_read(struct arena *a, const struct value *config, struct profiles *ret,
                  struct err *err);
/* NULL: pods of that name are somebody else's. */
const struct profile *profiles_find(const struct profiles *all, struct str name);
