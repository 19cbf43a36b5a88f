/* backoff.h - how long to wait before a pod that fails on a node is tried there again.
 *
 * One second at first, then twice as long each time, up to 15 minutes; after twice that without a
 * failure it begins anew. This is kept in memory only: after a restart the first try is early. Any
 * thread. */
#pragma once

#include <sampan/base.h>

struct backoff;

struct backoff *backoff_new(void);
struct backoff *backoff_free(struct backoff *b); /* NULL will do; returns NULL */

/* 0: it may be tried now, and the next wait begins. Else so many milliseconds are to be waited. */
int64_t backoff_try(struct backoff *b, struct spn_text key, int64_t now_ns);
