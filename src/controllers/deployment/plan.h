/* plan.h - how large the ReplicaSets of a Deployment should be next.
 *
 * Numbers only: the sizes that ReplicaSets have, what is available of them, and what the Deployment
 * allows. Rules only: no I/O. */
#pragma once

#include "controllers/deployment/sets.h"

/* What a Deployment says of sizes. */
struct rollout {
    int64_t replicas;
    int64_t max_surge, max_unavailable; /* as numbers; 0 unless it is rolling */
    int64_t surge;                      /* as it is written, without regard to max_unavailable */
    int64_t status_replicas;
    bool is_rolling;
};

struct rollout rollout_of(const struct spn_value *deployment);

/* How large the new set may be now. `all` has the new one, too, unless it is not made yet. */
int64_t rollout_new_size(const struct rollout *r, const struct deployment_set *all, size_t n,
                         int64_t new_size);

struct rollout_step {
    const struct deployment_set *set;
    int64_t from, to;
};

/* Which old sets shrink next in a rolling update, in this order: first by pods that are not
 * available anyway, then as far as enough others are available. A set may come twice. `ret` has
 * room for twice as many as there are old ones. Returns how many steps there are. */
size_t rollout_shrink_old(const struct rollout *r, struct deployment_set *old, size_t n,
                          const struct deployment_set *new_set, struct rollout_step *ret);

/* What happens when only the number of replicas changes, or while it is paused. A single set with
 * pods gets all of it; several get their share. `new_set` may be NULL. `*ret_is_forced`:
 * annotations are written even where the size stays. `ret` has room for one more than there are old
 * ones. */
size_t rollout_scale(const struct rollout *r, struct deployment_set *old, size_t n,
                     const struct deployment_set *new_set, struct rollout_step *ret,
                     bool *ret_is_forced);
