/* expire.h - events do not stay: an hour after they were last seen they are deleted.
 *
 * There is no list of when which event is due. A worker looks through all of them from time to
 * time, in pages, which costs little, needs no memory and is right after any restart. */
#pragma once

#include "server/api.h"

struct expire;

#define EXPIRE_EVENT_NS (INT64_C(3600) * NS_PER_SEC)

/* Looks about once a minute, by a timer of `loop`. `ttl_ns` 0: EXPIRE_EVENT_NS. */
struct expire *expire_new(struct api *api, struct loop *loop, int64_t ttl_ns);
/* The loop does not run any more; waits for a worker that is at it. */
struct expire *expire_free(struct expire *x);

/* Deletes what is due now, and says how many that were. Blocks. */
size_t expire_run(struct api *api, int64_t ttl_ns);
