/* zones.h - how well the zones of a cluster are, and whose turn it is to drive pods away.
 *
 * Zones are counted from the cache of nodes, at most once a second, and only if somebody asks, who
 * is a node that is not ready. Any thread. */
#pragma once

#include "controllers/nodes/plan.h"
#include <sampan/cache.h>

struct zones;

struct zones *zones_new(struct spn_cache *nodes);
struct zones *zones_free(struct zones *z); /* NULL will do; returns NULL */

/* What a node that is not ready may do; with `wants_to_evict` it takes its turn, if it has come. */
enum node_eviction zones_ask(struct zones *z, const struct spn_value *node, bool wants_to_evict,
                             int64_t now_ns);
/* Until then no node was ready: what was not heard before this time does not count. 0: never. */
int64_t zones_up_since(struct zones *z);
