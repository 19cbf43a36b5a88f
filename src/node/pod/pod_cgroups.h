/* pod_cgroups.h - control groups of classes and pods, in both versions of the kernel's interface.
 */
#pragma once

#include "base/err.h"
#include "node/pod/node_facts.h"

/* The groups of the node and of the classes (kubepods, burstable, besteffort), with what their pods
 * may use together. Again whenever the pods have changed. */
int pod_cgroups_sync(const struct node_facts *node, const struct value *const *pods, size_t n_pods,
                     struct arena *a, struct err *err);
/* Makes or changes the group of a pod. `ret` is what the runtime is told: cgroup_parent. */
int pod_cgroup_make(const struct node_facts *node, const struct value *pod, struct arena *a,
                    struct str *ret, struct err *err);
struct str pod_cgroup_name(const struct node_facts *node, const struct value *pod, struct arena *a);
/* Ends what still runs in it and removes it. 0 also if there was none. */
int pod_cgroup_remove(const struct node_facts *node, struct str uid, struct arena *a,
                      struct err *err);
/* The uids of pods that have groups, for what is left of pods that are gone. */
int pod_cgroup_list(const struct node_facts *node, struct arena *a, struct str **ret, size_t *ret_n,
                    struct err *err);
