/* node_rules.h - the Node authorizer: what nodes may do, as upstream has it.
 *
 * Some resources are divided among nodes: of those a node reads what its pods need (node_graph.h)
 * and writes what bears its name; what it writes there is looked at again by the admission plugin
 * NodeRestriction. For all other resources fixed rules hold for every node alike. It never says no:
 * what it does not allow it leaves to the next authorizer. */
#pragma once

#include "auth/access.h"
#include "auth/node_graph.h"

/* A node is `system:node:NAME` in the group `system:nodes`. The name, which points into the user's,
 * may be empty: nobody knows then which node it is. */
bool node_rules_identify(const struct user *u, struct str *ret_node);

/* Whether the user, who is a node, may do that. If not, `*ret_reason` says why, or is empty; NULL:
 * nobody wants to know. */
bool node_rules_allow(const struct node_graph *g, struct arena *a, const struct access *q,
                      struct str *ret_reason);
