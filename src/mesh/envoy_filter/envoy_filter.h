/* envoy_filter.h - EnvoyFilter: patches of what was made for a proxy, before it is encoded. Pure.
 *
 * Patches of the root namespace come first, then those of the proxy's own; within a namespace by
 * priority, then by age. What a patch says is merged as protobuf merges: messages field by field,
 * lists one behind the other, all else is replaced. */
#pragma once

#include "mesh/model/proxy.h"

void envoy_filter_listeners(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                            struct value *listeners);
void envoy_filter_clusters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *clusters);
void envoy_filter_routes(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         struct value *config);
