/* scheduler.h - gives pods a node: which one is decided by cycle.h, in the order of wait_queue.h.
 *
 *     informers ──► world, owners ──► queue ──► cycle ──► calls ──► server
 *                   (one lock guards these three)      bind, status, victims, events
 *
 * One thread decides; it holds the lock while it looks at one pod, which takes well below a
 * millisecond. What it has decided counts at once, before the server knows it. */
#pragma once

#include <sampan/controller.h>

struct scheduler;

/* Zero means the usual. Texts outlive the scheduler. */
struct scheduler_options {
    struct spn_text config; /* a KubeSchedulerConfiguration, YAML or JSON; empty: none */
};

/* Before spn_manager_run(): it listens to the manager's informers, and begins when the manager
 * leads. SPN_INVALID: the configuration makes no sense. */
int scheduler_add(struct spn_manager *m, struct spn_client *client,
                  const struct scheduler_options *opt, struct scheduler **ret, struct spn_err *err);
struct scheduler *scheduler_free(struct scheduler *s); /* the manager has stopped */
