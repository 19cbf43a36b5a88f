/* storage_room.h - how much drivers can still make where: CSIStorageCapacity, of drivers that say
 * so. Private to this folder. Rules only: no I/O. */
#pragma once

#include "scheduler/cycle.h"

struct room {
    struct str size; /* of the largest volume; empty: none */
    struct labels_selector nodes;
};

struct rooms {
    bool counts; /* the driver says where it has room; else it has it everywhere */
    const struct room *items;
    size_t n;
};

/* Of a StorageClass, in the cycle's arena. */
struct rooms rooms_read(struct cycle *c, const struct value *class);
/* Whether a volume for the claim can be made on the node. */
bool rooms_suffice(const struct rooms *r, const struct value *claim, const struct sched_node *n);
