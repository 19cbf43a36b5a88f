/* zones.h - topology aware routing: which zone uses which endpoint, so that each zone gets a share
 * of them that fits its share of the CPUs. Rules only. */
#pragma once

#include <sampan/value.h>

struct zone {
    struct spn_text name;
    double share; /* of all CPUs */
};

/* None: the nodes do not tell enough. In the order of names. */
struct zones {
    const struct zone *items;
    size_t n;
};

/* From Nodes that are ready and are not the control plane's. */
struct zones zones_of(struct spn_arena *a, const struct spn_value *const *nodes, size_t n);

/* Whether a Service asks for it. */
bool zones_are_wanted(const struct spn_value *service);

struct zone_slice {
    struct spn_value *slice;
    bool is_written; /* it is new or changed; else it may only become so */
};
/* Sets hints in slices of one family that are written, and in others where that is needed. NULL, or
 * why it cannot be done; hints have to be removed then. */
const char *zones_hint(struct spn_arena *a, const struct zones *z, struct zone_slice *slices,
                       size_t n);
