/* plugins.h - the parts of the plugins, for the table in cycle_plugins.c. Private to this folder.
 *
 * What each of them means is said in cycle.h (struct plugin). */
#pragma once

#include "scheduler/cycle.h"

void plugin_unschedulable_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
bool plugin_name_prepare(struct cycle *c);
void plugin_name_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
void plugin_taints_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
int64_t plugin_taints_score(struct cycle *c, struct sched_node *n);
void plugin_taints_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n);
bool plugin_affinity_prepare(struct cycle *c);
void plugin_affinity_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
bool plugin_affinity_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_affinity_score(struct cycle *c, struct sched_node *n);
/* Whether the affinity that the configuration adds to every pod's allows the node. */
bool plugin_affinity_is_enforced(const struct profile *p, const struct sched_node *n);
void plugin_affinity_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores,
                               size_t n);
bool plugin_ports_prepare(struct cycle *c);
void plugin_ports_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
bool plugin_images_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_images_score(struct cycle *c, struct sched_node *n);

/* plugin_fit.c */
bool plugin_fit_prepare(struct cycle *c);
void plugin_fit_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
bool plugin_fit_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_fit_score(struct cycle *c, struct sched_node *n);
bool plugin_balance_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_balance_score(struct cycle *c, struct sched_node *n);
/* Whether an empty node of that size could hold the pod. */
bool plugin_fit_ever(const struct profile *p, const struct pod_facts *f,
                     struct resource_table *resources, const struct sched_node *n);

/* plugin_devices.c */
bool plugin_devices_prepare(struct cycle *c);
void plugin_devices_filter(struct cycle *c, struct sched_node *n, struct verdict *v);

/* plugin_spread.c */
bool plugin_spread_prepare(struct cycle *c);
void plugin_spread_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
void plugin_spread_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n,
                         int delta);
bool plugin_spread_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_spread_score(struct cycle *c, struct sched_node *n);
void plugin_spread_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n);

/* plugin_pods.c */
bool plugin_pods_prepare(struct cycle *c);
void plugin_pods_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
void plugin_pods_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n, int delta);
bool plugin_pods_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n);
int64_t plugin_pods_score(struct cycle *c, struct sched_node *n);
void plugin_pods_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n);
