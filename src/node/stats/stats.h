/* stats.h - what node, pods and containers use: from control groups and from the runtime, in the
 * forms in which kubelets tell it. Any thread; may block for the runtime. */
#pragma once

#include "base/buf.h"
#include "node/cri/cri.h"
#include "node/pod/node_facts.h"

struct stats_options {
    const struct node_facts *node;
    struct cri *cri;
    void *arg;
    void (*pods)(void *arg, struct arena *a, struct value *ret); /* an array of Pods */
};

struct stats;

/* The struct is copied, what it points to outlives it. */
int stats_new(const struct stats_options *opt, struct stats **ret, struct err *err);
struct stats *stats_free(struct stats *s);

/* /stats/summary: the object. */
int stats_summary(struct stats *s, bool only_cpu_and_memory, struct arena *a, struct value *ret,
                  struct err *err);
/* /metrics/resource, /metrics/cadvisor and /metrics, in Prometheus' text. */
int stats_resource(struct stats *s, struct arena *a, struct buf *out, struct err *err);
int stats_cadvisor(struct stats *s, struct arena *a, struct buf *out, struct err *err);
void stats_agent(struct stats *s, struct arena *a, struct buf *out);
