/* guard_internal.h - how a guard is laid out. */
#pragma once

#include <pthread.h>

#include "auth/node_graph.h"
#include "base/map.h"
#include "server/core/retire.h"
#include "server/guard/guard.h"

struct guard {
    struct store *store;
    pthread_mutex_t lock; /* over writing the chain and the index of roles, and over what follows */
    _Atomic(struct guard_chain *) chain;
    struct guard_series *series; /* of all authorizers there have been */
    struct rbac *rbac;
    struct retire retire;
    pthread_mutex_t graph_lock; /* over the graph and what was noted */
    struct node_graph *graph;   /* NULL: nodes are not asked for */
    struct map noted;
};

/* Brings the graph up to date with what was noted. Its lock is held. */
void guard__read_noted(struct guard *g);
void guard__forget_noted(struct guard *g);
