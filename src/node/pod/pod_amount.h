/* pod_amount.h - how much of the node pods and containers get, in the units of control groups.
 * Rules only, but for the sizes of huge pages that the kernel has. */
#pragma once

#include "base/value.h"

/* A quantity as whole units, or as thousandths; 0 for none. */
int64_t amount_units(struct str quantity);
int64_t amount_milli(struct str quantity);

/* What a container's or a pod's `resources` say: `list` is "requests" or "limits". Empty: nothing.
 */
struct str amount_of(const struct value *resources, struct str list, struct str name);
/* Of the pod as a whole: what its spec says for all, else the sum over its containers. With
 * overhead, unless there is a list without that resource ("limits"). */
struct str pod_amount(struct arena *a, const struct value *pod, struct str list, struct str name,
                      bool with_overhead);
/* Whether the spec has resources of the pod as a whole. */
bool pod_has_own_resources(const struct value *pod);

enum { CPU_PERIOD_US = 100000 };
int64_t cpu_shares(int64_t milli);  /* of the first version: 2 to 262144 */
int64_t cpu_quota(int64_t milli);   /* in CPU_PERIOD_US; 0: without limit */
int64_t cpu_weight(int64_t shares); /* of the second version: 1 to 10000 */

/* The limits of a pod's own group; -1: it has none. */
struct pod_limits {
    int64_t shares, quota, memory;
};
struct pod_limits pod_limits(struct arena *a, const struct value *pod);

/* "2MB" of "hugepages-2Mi", as the kernel and CRI have it; empty: it is no such resource. */
struct str huge_page_size(struct arena *a, struct str resource);
/* The sizes that the kernel has: "2MB", "1GB". */
size_t huge_page_sizes(struct arena *a, struct str **ret);

/* CRI's LinuxContainerResources. */
struct node_facts;
struct value container_resources(struct arena *a, const struct node_facts *node,
                                 const struct value *pod, const struct value *container);
struct value sandbox_resources(struct arena *a, const struct node_facts *node,
                               const struct value *pod);
/* An empty message where the pod has no overhead. */
struct value overhead_resources(struct arena *a, const struct value *pod);
/* How likely the kernel is to end a container when memory is short: -997 to 1000. */
int64_t container_oom_score(struct arena *a, const struct node_facts *node, const struct value *pod,
                            const struct value *container);
