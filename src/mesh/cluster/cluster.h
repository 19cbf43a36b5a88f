/* cluster.h - clusters and their endpoints for a proxy, as the trees of
 * envoy.config.cluster.v3.Cluster and envoy.config.endpoint.v3.ClusterLoadAssignment. Pure: a realm
 * and a proxy in, trees out. */
#pragma once

#include "mesh/model/proxy.h"

/* "outbound|80|v1|web.shop.svc.cluster.local" */
struct str cluster_name(struct arena *a, const char *direction, int port, struct str subset,
                        struct str host);
/* All clusters, as an array. */
struct value clusters_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           const struct mesh_scope *scope);
/* The endpoints of the cluster of that name; null: the proxy has no such cluster. */
struct value cluster_endpoints(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                               const struct mesh_scope *scope, struct str name);
