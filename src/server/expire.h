/* expire.h - events do not stay: an hour after they were last written they are deleted.
 *
 * As upstream's leases, the time counts from the write, whatever times the event itself speaks of.
 * There is no list of when which event is due: a worker looks through all of them from time to
 * time, in pages. It notes how far the revisions were at each look, which tells how old a changed
 * event is. A start has no notes yet: an event that was changed before it stays as if it were
 * written then, as it does with leases when etcd changes its leader. */
#pragma once

#include "server/core/api.h"

struct expire;

#define EXPIRE_EVENT_NS (INT64_C(3600) * NS_PER_SEC)

/* Looks about once a minute, by a timer of `loop`. `ttl_ns` 0: EXPIRE_EVENT_NS. */
struct expire *expire_new(struct api *api, struct loop *loop, int64_t ttl_ns);
/* The loop does not run any more; waits for a worker that is at it. */
struct expire *expire_free(struct expire *x);

/* How far the revisions were, and when; as many as make a time to live. Begins with zeros. */
enum { EXPIRE_MARKS = 128 };
struct expire_marks {
    struct {
        int64_t mono_ns;
        uint64_t rev;
    } at[EXPIRE_MARKS]; /* oldest first */
    size_t n;
};

/* Deletes what is due now, and says how many that were. Blocks. */
size_t expire_run(struct api *api, struct expire_marks *marks, int64_t ttl_ns);
