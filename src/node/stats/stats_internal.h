/* stats_internal.h - what was collected at one moment, for all forms. */
#pragma once

#include <pthread.h>

#include "base/lru.h"
#include "node/stats/node_usage.h"
#include "node/stats/stats.h"
#include "node/volume/volumes.h"

struct container_usage {
    struct str id, name;
    int64_t started_ns, at_ns; /* wall */
    uint64_t cpu_ns, cpu_rate; /* nanoseconds; nanoseconds a second */
    uint64_t working_set, usage, rss, faults, major_faults, swap;
    uint64_t layer_bytes, layer_inodes, log_bytes;
};

struct pod_usage {
    struct str ns, name, uid;
    int64_t started_ns;
    struct container_usage *containers;
    size_t n_containers;
    struct container_usage sum;
};

struct stats_moment {
    struct node_usage node;
    uint64_t node_rate;
    struct pod_usage *pods;
    size_t n_pods;
};

int stats__collect(struct stats *s, struct arena *a, struct stats_moment *ret, struct err *err);
const struct stats_options *stats__options(const struct stats *s);
int64_t stats__started_ns(const struct stats *s); /* wall: the agent's start */
int64_t stats__boot_ns(struct arena *a);

/* ---- stats_volumes.c ---- */

struct known_volume {
    struct lru_thing thing; /* by its path */
    int64_t until_ns;
    struct volume_usage usage;
};

struct stats_volumes {
    pthread_mutex_t lock; /* of `known` */
    struct lru known;
};

void stats__volumes_init(struct stats_volumes *v);
void stats__volumes_done(struct stats_volumes *v);
/* An array of what the pod's volumes hold. */
struct value stats__volumes(struct stats_volumes *v, struct str root_dir, struct str uid,
                            struct arena *a);
struct stats_volumes *stats__volumes_of(struct stats *s);
