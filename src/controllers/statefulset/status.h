/* status.h - what the status of a StatefulSet says. Rules only: no I/O. */
#pragma once

#include "controllers/statefulset/plan.h"

struct stateful_seen {
    const struct stateful_pod *replicas, *condemned;
    size_t n_replicas, n_condemned;
    struct spn_text current, update; /* names of revisions */
    int64_t collisions;
    int64_t n_updating; /* pods that were deleted just now, to be updated */
};

struct spn_value *stateful_status(struct spn_arena *a, const struct spn_value *set,
                                  const struct stateful_seen *seen);
bool stateful_status_is_same(const struct spn_value *set, const struct spn_value *status);
