/* profile.h - how pods of one schedulerName are scheduled: which plugins, with which weights.
 *
 * Read from a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1). Plugins that this
 * scheduler has no part of are refused where they are enabled by name, and ignored where they are
 * disabled. Rules only: no I/O. */
#pragma once

#include "scheduler/cycle.h"

enum { PROFILES_MAX = 64 };

struct profile {
    struct str name;
    bool filters[N_PLUGINS], scores[N_PLUGINS];
    int64_t weights[N_PLUGINS];
    bool preempts;         /* DefaultPreemption */
    bool packs;            /* fuller nodes are better (MostAllocated) */
    bool has_defaults;     /* pods without rules are spread (defaultingType: System) */
    int64_t hard_affinity; /* what a required term of a pod that is there weighs */
};

struct profiles {
    struct profile items[PROFILES_MAX];
    size_t n;
    int64_t percent; /* of nodes that are looked at; 0: by the size of the cluster */
    int64_t first_pause_ns, longest_pause_ns;
};

/* One, as upstream has it without a configuration. */
void profiles_init(struct profiles *all);
/* Text lies in the configuration. ERR_INVALID: it makes no sense. */
int profiles_read(const struct value *config, struct profiles *ret, struct err *err);
/* NULL: pods of that name are somebody else's. */
const struct profile *profiles_find(const struct profiles *all, struct str name);
