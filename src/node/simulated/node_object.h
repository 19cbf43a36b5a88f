/* node_object.h - what simulated nodes say of themselves: Nodes, their status, their Leases. Pure.
 */
#pragma once

#include <sampan/value.h>

#include "node/simulated/simulate.h"

#define NODE_BY_LABEL "simulate.sampan.io/by"

enum { NODE_LEASE_SEC = 40, NODE_STATUS_MS = 300000 /* a status is said again after so long */ };

struct node_facts {
    const struct simulate_options *opt;
    int64_t number;
    struct spn_text name;
    int port;       /* where it answers */
    int64_t now_ns; /* wall */
};

/* 198.18.0.0/16 has nodes, 198.19.0.0/16 pods. */
struct spn_text node_address(struct spn_arena *a, int second, int64_t n);

struct spn_value *node_object_new(struct spn_arena *a, const struct node_facts *f);
/* What is to be merged into it; NULL: it says it already, and not long ago. */
struct spn_value *node_object_news(struct spn_arena *a, const struct node_facts *f,
                                   const struct spn_value *node);
/* A Lease, or what is to be merged into one: its spec alone. */
struct spn_value *node_lease_new(struct spn_arena *a, const struct node_facts *f,
                                 const struct spn_value *node);
struct spn_value *node_lease_renewal(struct spn_arena *a, const struct node_facts *f);
