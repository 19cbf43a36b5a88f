/* watch.h - the watches of one loop.
 *
 * A hub owns one feed of the store. The feed's wake becomes a message to the loop, which then
 * polls. An event is encoded once for all watches of a hub that want the same form of it. */
#pragma once

#include "server/core/api.h"

struct call;

struct watch_hub *watch_hub_new(struct api *api, struct loop *loop);
/* Ends every watch cleanly, as when their time is up, and those to come at once, so that a draining
 * server is not held up by them. Any thread; once; it happens on the loop. */
void watch_hub_close(struct watch_hub *hub);
/* A definition of custom kinds has changed: its watches go on by the new one, or end with it. Any
 * thread; it happens on the loop. */
void watch_hub_look(struct watch_hub *hub);
/* The same for the hubs of all loops. */
void watch_hubs_look(struct api *api);
/* Its loop does not run any more, but is not freed yet. */
struct watch_hub *watch_hub_free(struct watch_hub *hub);

/* Answers a call for a watch. On the loop. */
void verb_watch(struct call *c);

/* Watches open now, by any thread: for the metrics. */
size_t watch_hub_count(const struct watch_hub *hub);
