/* failpoint.h - places where a test may stop the process or make a system call fail.
 *
 * Only the test build of the store (-DSAMPAN_FAILPOINTS) has them; elsewhere FAILPOINT() is the
 * constant 0. Each name stands in the table of failpoint.c, between two steps that a crash could
 * separate. Arm before the store opens, or from the thread that owns the test. */
#pragma once

#include <stddef.h>

#ifdef SAMPAN_FAILPOINTS

enum { FAILPOINT_KILL = -1 };

/* From the `nth` hit on (1: the next one) and `times` times: `errnum` is returned to the code, or
 * for FAILPOINT_KILL the process ends by SIGKILL. */
void failpoint_arm(const char *name, int errnum, unsigned nth, unsigned times);
void failpoint_disarm(const char *name);
/* Runs at every hit, on the thread that hits; NULL takes it away. For races that are rare. */
void failpoint_hook(const char *name, void (*hook)(void *arg), void *arg);
unsigned failpoint_hits(const char *name); /* since it was armed last */
const char *failpoint_name(size_t i);      /* NULL past the last one */

int failpoint_hit(const char *name);
#define FAILPOINT(name) failpoint_hit(name)

#else
#define FAILPOINT(name) 0
#endif
