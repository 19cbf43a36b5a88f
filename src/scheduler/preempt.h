/* preempt.h - which pods of lower priority would have to go, so that a pod fits.
 *
 * On each node where it could help, all lower ones are taken off; then as many as possible come
 * back, those first that a budget protects, the important ones before others. The node whose
 * victims matter least wins. Rules only: the world is as before when it returns. Private to this
 * folder. */
#pragma once

#include "scheduler/cycle.h"

/* After a cycle that found no node. What it says, in upstream's words; victims and the node are in
 * `ret` if there are any. */
struct str preempt_run(struct cycle *c, struct decision *ret);
