/* pod_resources.h - what a pod asks for as a whole, from what its containers ask for.
 *
 * Init containers run one after the other, so only the largest of them counts. Those that restart
 * (sidecars) keep running, so they count together with all that come later. */
#pragma once

#include "base/value.h"

/* How much a container asks for; empty: it does not say. */
typedef struct str pod_resources_asked(const void *arg, const struct value *container);

/* What all containers of a pod's spec come to; empty if none says anything. In the arena, or
 * borrowed. */
struct str pod_resources_total(struct arena *a, const struct value *spec,
                               pod_resources_asked *asked, const void *arg);
/* The same of one resource, as the spec has it; `list` is "requests" or "limits". */
struct str pod_resources_sum(struct arena *a, const struct value *spec, struct str list,
                             struct str name);
