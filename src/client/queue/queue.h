/* queue.h - a queue whose time a test decides, and whether it has workers enough, for the rooms of
 * this folder. */
#pragma once

#include <sampan/queue.h>

#include "base/clock.h"

/* The clock lives longer. A wait for a delayed key ends in real time, however. */
struct spn_queue *queue_new_with_clock(const struct spn_queue_options *opt,
                                       const struct clock *clock);

/* Nobody waits for the next key. */
bool queue_needs_help(struct spn_queue *q);
