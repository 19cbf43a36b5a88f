/* usage.h - what pods seem to use, and the two forms in which a kubelet tells it.
 *
 * A container uses what the annotations simulate.sampan.io/cpu and .../memory of its pod say, or
 * half of what it requests, or a little. Pure. */
#pragma once

#include <sampan/value.h>

#include "base/buf.h"

/* One container that runs. */
struct usage {
    struct spn_text ns, pod, uid, container;
    int64_t start_ns;
    int64_t cpu_nano; /* cores */
    int64_t memory;   /* bytes */
};

struct usage_list {
    struct usage *all; /* those of a pod are neighbours */
    size_t n, cap;
};

/* Adds the containers of a pod that run. Texts are copied into the arena. */
void usage_add(struct spn_arena *a, struct usage_list *list, const struct spn_value *pod);
void usage_done(struct usage_list *list);

/* /metrics/resource, for Prometheus and metrics-server. */
void usage_metrics(struct buf *out, const struct usage_list *list, int64_t now_ns);
/* /stats/summary, as JSON. */
void usage_summary(struct buf *out, const struct usage_list *list, int64_t now_ns);
