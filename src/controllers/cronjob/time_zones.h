/* time_zones.h - the time zones of this system, each read once. Any thread. */
#pragma once

#include "api/go/zone_rules.h"
#include <sampan/err.h>

struct time_zones;

struct time_zones *time_zones_new(void);
struct time_zones *time_zones_free(struct time_zones *z); /* NULL will do; returns NULL */

/* By name: "Europe/Berlin". None, and "UTC": NULL, which is UTC; "Local": that of this machine.
 * What is returned lives as long as `z`. SPN_NOT_FOUND: the system has no such zone, in Go's words.
 */
int time_zones_get(struct time_zones *z, struct spn_text name, const struct zone_rules **ret,
                   struct spn_err *err);
