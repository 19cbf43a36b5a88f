/* plan.h - how many pods a ReplicaSet lacks, which ones are too many, and what its status says.
 *
 * A ReplicationController is the same thing with an older name. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

/* So many are made or deleted in one go. */
enum { REPLICASET_BURST = 500 };

/* Above zero: so many pods are missing; below: so many are too many. At most a burst. */
int64_t replicaset_diff(const struct spn_value *set, size_t n_active);

/* Brings those that are to go to the front. `related` are all pods of the application, of other
 * ReplicaSets of the same owner, too. */
void replicaset_choose(struct spn_arena *a, const struct spn_value **active, size_t n,
                       struct spn_value *const *related, size_t n_related, int64_t now_ns);

struct replicaset_seen {
    struct spn_value *const *active;
    size_t n_active;
    int64_t n_terminating; /* -1: this kind does not say */
    const char *failure;   /* why pods could not be made or deleted; NULL: they could */
    int64_t now_ns;
};
/* The status as it should be. */
struct spn_value *replicaset_status(struct spn_arena *a, const struct spn_value *set,
                                    const struct replicaset_seen *seen);
/* Whether it says nothing new, and the generation was seen before. */
bool replicaset_is_current(const struct spn_value *set, const struct spn_value *status);
