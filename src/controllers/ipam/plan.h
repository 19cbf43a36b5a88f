/* plan.h - which blocks of the cluster's networks nodes have: one of each family. Rules only: no
 * I/O, no lock. */
#pragma once

#include <sampan/value.h>

#include "controllers/controllers.h"

enum { IPAM_FAMILIES = 2 };

struct ipam;

/* From the options for node addresses. SPN_INVALID says what is wrong with them. */
int ipam_new(const struct controllers_options *opt, struct ipam **ret, struct spn_err *err);
struct ipam *ipam_free(struct ipam *m);

/* Takes what the node has. SPN_INVALID: that cannot be. */
int ipam_occupy(struct ipam *m, const struct spn_value *node, struct spn_err *err);
void ipam_release(struct ipam *m, const struct spn_value *node);

/* New blocks for a node that has none: a list of text as in spec.podCIDRs, in the arena. NULL:
 * there are none left. */
struct spn_value *ipam_take(struct ipam *m, struct spn_arena *a);
void ipam_give_back(struct ipam *m, const struct spn_value *blocks);
