/* world_tally.h - how many pods match a selector, node by node, kept while pods come and go.
 *
 * Pods of one ReplicaSet ask the same question each time; counting anew would look at all pods of
 * the cluster for each of them. Private to world.c, but for world_tally(). */
#pragma once

#include "scheduler/world.h"

void world_tally_grow(struct world *w);                                /* more slots */
void world_tally_recount(struct world *w, const struct sched_node *n); /* of a new slot */
void world_tally_move(struct world *w, size_t from, size_t to);        /* a slot */
void world_tally_count(struct world *w, const struct sched_node *n, const struct pod_facts *f,
                       int delta);
void world_tally_done(struct world *w);
