/* crew.h - threads that come when there is work that waits for others, and go when there is none.
 *
 * A pod's work may wait for minutes (an image, a grace period), so a fixed few would not do, and a
 * thread for each would be idle nearly always. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct crew;

struct crew *crew_new(size_t max_threads);
/* Waits until all jobs are done. Nobody adds any more. */
struct crew *crew_free(struct crew *c);

/* Runs `fn` soon, on a thread of the crew. If all are busy and there may be no more it waits its
 * turn. Any thread. */
void crew_do(struct crew *c, void (*fn)(void *arg), void *arg);
size_t crew_threads(struct crew *c);

/* Several jobs that are waited for together. */
struct crew_group;
struct crew_group *crew_group_new(struct crew *c);
void crew_group_do(struct crew_group *g, void (*fn)(void *arg), void *arg);
struct crew_group *crew_group_wait(struct crew_group *g); /* and frees it */
