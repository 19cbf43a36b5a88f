/* plan.h - the status of a PodDisruptionBudget: how many pods there should be, how many are
 * healthy, and so how many may go. Rules only: no I/O; the time is an argument. */
#pragma once

#include <sampan/value.h>

/* An eviction that has not led to a deletion after so long is forgotten. */
enum { BUDGET_DELETION_TIMEOUT_SEC = 120 };

struct budget_pods {
    const struct spn_value *const *items;
    size_t n;
};

/* Whether it has to be known how many pods their controllers want, and not only how many there
 * are. */
bool budget_needs_scale(const struct spn_value *budget);

/* Counts, as they stand in the status. */
struct budget_counts {
    int64_t healthy, desired, expected;
};
/* `scale`: how many pods their controllers want; of budget_needs_scale() only. */
struct budget_counts budget_count(const struct spn_value *budget, const struct budget_pods *pods,
                                  int64_t scale, const struct spn_value *disrupted, int64_t now_ns);

/* Pods that were evicted and are still expected to go, as status.disruptedPods has them. Those that
 * took too long are given to `late`, one after another. */
struct spn_value *budget_disrupted(struct spn_arena *a, const struct spn_value *budget,
                                   const struct budget_pods *pods, int64_t now_ns,
                                   void (*late)(void *arg, const struct spn_value *pod), void *arg,
                                   int64_t *ret_recheck_ms);

/* The budget with its new status, or NULL if it has that already. */
struct spn_value *budget_status(struct spn_arena *a, const struct spn_value *budget,
                                const struct budget_counts *counts, struct spn_value *disrupted);
/* Its status when nobody can tell: nothing may go. NULL likewise. */
struct spn_value *budget_failed(struct spn_arena *a, const struct spn_value *budget,
                                const char *why);

/* In how many milliseconds the condition DisruptionTarget of a pod that was not deleted after all
 * is to be taken back; 0: now; -1: it has none. */
int64_t budget_stale_target_ms(const struct spn_value *pod, int64_t now_ns);
