/* conditions.h - phase and conditions of a pod, from the statuses of its containers. Pure. */
#pragma once

#include "node/agent/rules.h"

/* The phase that container statuses come to. `statuses` has those of main and init containers;
 * `is_terminal`: no container will start again, whatever the policy says. */
struct str phase_of(const struct value *pod, const struct value *statuses, bool is_terminal,
                    bool has_started);

/* One condition. `statuses` are those of all containers but ephemeral ones; NULL: not known.
 * lastTransitionTime is not in it yet. */
struct value condition_initialized(struct arena *a, const struct value *pod,
                                   const struct value *old, const struct value *statuses,
                                   struct str phase);
struct value condition_containers_ready(struct arena *a, const struct value *pod,
                                        const struct value *statuses, struct str phase);
/* Also by the pod's readiness gates, among `conditions`. */
struct value condition_ready(struct arena *a, const struct value *pod,
                             const struct value *conditions, const struct value *statuses,
                             struct str phase);
struct value condition_sandbox(struct arena *a, const struct value *pod,
                               const struct runtime_pod *have);
struct value condition_restarting(struct arena *a, const struct value *pod,
                                  const struct runtime_pod *have, const struct value *old,
                                  struct str phase);
/* Any other; the pod's generation is noted in it. */
struct value condition_new(struct arena *a, const struct value *pod, struct str type,
                           struct str status, struct str reason, struct str message);

bool condition_is_ours(struct str type); /* nobody else writes it */
/* Puts the condition in the place of the one of its type, or at the end. */
void condition_put(struct arena *a, struct value *conditions, struct value c);
