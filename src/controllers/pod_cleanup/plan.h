/* plan.h - which pods nobody will ever end, and why. Rules only. */
#pragma once

#include <sampan/value.h>

enum pod_cleanup_why {
    POD_CLEANUP_NOT,
    POD_CLEANUP_OUT_OF_SERVICE, /* being deleted, on a node that is out of service */
    POD_CLEANUP_UNSCHEDULED,    /* being deleted, on no node */
    POD_CLEANUP_NO_NODE,        /* its node seems to be gone */
};

/* `node` is NULL if there is none of that name. */
enum pod_cleanup_why pod_cleanup_judge(const struct spn_value *pod, const struct spn_value *node);

/* The pod as failed, with the reason where there is one. */
void pod_cleanup_fail(struct spn_arena *a, struct spn_value *pod, enum pod_cleanup_why why);

/* Of pods that have ended, those that are too many: evicted ones first, then the oldest. Sorts
 * `pods`; how many of the first have to go is returned. */
size_t pod_cleanup_surplus(const struct spn_value **pods, size_t n, size_t most);

/* Of a Job: in how many milliseconds its time is over; 0: it is; -1: it has none, or runs still. */
int64_t job_cleanup_left_ms(const struct spn_value *job, int64_t now_ns);
