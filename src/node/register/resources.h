/* resources.h - what a node has and what pods may take of it: capacity, reservations, allocatable.
 * Rules only. */
#pragma once

#include "base/err.h"
#include "base/value.h"
#include "node/register/machine.h"

/* "cpu=100m,memory=1Gi" as an object of canonical quantities. ERR_INVALID: it is no such list. */
int resources_parse(struct arena *a, struct str text, struct value *ret, struct err *err);

struct resources_limits {
    unsigned max_pods, pods_per_core; /* of which the smaller counts; 0: there is none */
    const struct value *kube_reserved, *system_reserved; /* of resources_parse() */
    struct str eviction_hard; /* "memory.available=100Mi,nodefs.available=10%" */
};

struct value resources_capacity(struct arena *a, const struct machine *m,
                                const struct resources_limits *limits);
/* Capacity without what is reserved, without the thresholds of eviction, and memory without huge
 * pages. ERR_INVALID: more is reserved than there is, or a threshold that makes no sense. */
int resources_allocatable(struct arena *a, const struct value *capacity,
                          const struct resources_limits *limits, struct value *ret,
                          struct err *err);

/* The threshold of a signal ("memory.available") in bytes, of a capacity of so many; -1: there is
 * none. A percentage is of the capacity. ERR_INVALID as above. */
int resources_threshold(struct str eviction_hard, struct str signal, uint64_t capacity,
                        int64_t *ret, struct err *err);
