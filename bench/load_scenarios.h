/* load_scenarios.h - what the load consists of: one row per scenario, and the objects it needs.
 *
 * Objects are ConfigMaps, or custom ones of the same shape, whose JSON, as sent, is --size bytes
 * long. */
#pragma once

#include "bench/load_run.h"

/* The table, ended by a row without a name. */
extern const struct load_scenario load_scenarios[];

const struct load_scenario *load_scenario_find(const char *name);
/* Text of --size bytes to make bodies of; the caller frees it. */
char *load_filler_new(size_t n);

/* Makes the objects that the scenario works on, before anything is measured. */
int load_scenario_fill(const struct load_run *run, struct err *err);

/* The JSON of a ConfigMap. `version` may be empty; `event` makes one update differ from another. */
void load_object_write(const struct load_run *run, struct buf *out, const char *name,
                       const char *version, uint64_t event);
void load_object_path(const struct load_run *run, struct buf *out, const char *name);

/* load_watch.c */
int load_watch_measure(struct load_run *run, struct err *err);
