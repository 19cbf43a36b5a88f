/* plugin_volumes.h - the plugins that look at a pod's volumes: whether they can be used once more,
 * are too many for the node, can be had there, or are in its zone.
 *
 * A claim of a class that waits for its first consumer is bound only when the pod has a node: to a
 * volume that is there and fits, or to one that is made then. Private to this folder. */
#pragma once

#include "scheduler/cycle.h"

bool plugin_restrictions_prepare(struct cycle *c);
void plugin_restrictions_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
void plugin_restrictions_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n,
                               int delta);
/* plugin_limits.c */
bool plugin_limits_prepare(struct cycle *c);
void plugin_limits_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
/* plugin_volumes.c */
bool plugin_binding_prepare(struct cycle *c);
void plugin_binding_filter(struct cycle *c, struct sched_node *n, struct verdict *v);
bool plugin_zone_prepare(struct cycle *c);
void plugin_zone_filter(struct cycle *c, struct sched_node *n, struct verdict *v);

/* What is to be done for the claims of a pod that goes to this node. */
void plugin_volumes_choose(struct cycle *c, struct sched_node *n, struct decision *ret);
