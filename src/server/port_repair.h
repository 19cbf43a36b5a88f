/* port_repair.h - a node port is noted as taken if a Service has it, and not otherwise.
 *
 * Both are written together, so they only differ after data came here in another way. A worker
 * looks every three minutes, as upstream's repair controller does. Which Services
 * have the same port is told by a controller (src/controllers/services). */
#pragma once

#include "server/core/api.h"

struct port_repair;

struct port_repair *port_repair_new(struct api *api, struct loop *loop);
/* The loop does not run any more; waits for a worker that is at it. */
struct port_repair *port_repair_free(struct port_repair *p);

struct port_repairs {
    size_t made, removed; /* notes */
};
/* Once. What somebody else changes meanwhile is left to the next time. Blocks. */
int port_repair_run(struct api *api, struct port_repairs *ret, struct err *err);
