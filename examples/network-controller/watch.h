/* watch.h - notices at once what somebody does to links, addresses and rules behind our back. */
#pragma once

#include <sampan/err.h>

struct watch;

/* Calls, on a thread of its own, `fn` with the name of each link that has changed, is gone, or has
 * lost a rule; or with NULL: there was too much to tell, so anything may have changed.
 * What the caller does himself is told, too. In the namespace of the thread that calls this. */
int watch_start(void (*fn)(void *arg, const char *name), void *arg, struct watch **ret,
                struct spn_err *err);
struct watch *watch_stop(struct watch *w); /* waits for its thread; NULL will do */
