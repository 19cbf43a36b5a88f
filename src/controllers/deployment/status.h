/* status.h - what the status of a Deployment says: counts, and conditions about progress.
 *
 * Rules only: no I/O. `now_ns` is the time of day. */
#pragma once

#include "controllers/deployment/plan.h"

/* Its ReplicaSets: all of them, and the one of the current template among them, or NULL. */
struct status_seen {
    const struct deployment_set *all;
    size_t n;
    const struct deployment_set *new_set;
    int64_t now_ns;
};

/* Counts and Available, when no rollout is judged: it is paused, scaled or deleted. */
struct spn_value *status_of(struct spn_arena *a, const struct spn_value *deployment,
                            const struct status_seen *seen);
/* The same with Progressing and ReplicaFailure. */
struct spn_value *status_of_rollout(struct spn_arena *a, const struct spn_value *deployment,
                                    const struct status_seen *seen);
bool status_is_same(const struct spn_value *x, const struct spn_value *y);

/* Every pod is of the current template and available, and the status says so. */
bool status_is_complete(const struct spn_value *deployment, const struct spn_value *status);
/* In how many milliseconds the deadline has to be checked; 0: now; -1: it need not be. */
int64_t status_next_check_ms(const struct spn_value *deployment, const struct spn_value *status,
                             int64_t now_ns);

/* False: it may take as long as it takes. */
bool status_has_deadline(const struct spn_value *deployment);

/* Conditions of a status. */
const struct spn_value *status_condition(const struct spn_value *status, const char *type);
/* Nothing changes if it has one with this status and reason. */
void status_set_condition(struct spn_arena *a, struct spn_value *status, const char *type,
                          const char *is, const char *reason, struct spn_text message,
                          int64_t now_ns);
/* Notes in `deployment` that it was paused or resumed. True: it was. */
bool status_note_paused(struct spn_arena *a, struct spn_value *deployment, int64_t now_ns);
