/* route.h - route configurations for a proxy, as trees of envoy.config.route.v3.RouteConfiguration.
 * Pure. */
#pragma once

#include "mesh/model/proxy.h"

/* By name, as RDS asks: "http.8080" or "https.443.NAME.GATEWAY.NS" of a router; "80", "HOST:PORT"
 * or "http_proxy" of a sidecar. One that is unknown has no virtual hosts. */
struct value routes_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         const struct mesh_scope *scope, const struct merged_gateways *gateways,
                         struct str name);
/* The routes of a sidecar's own application behind a cluster "inbound|PORT||". */
struct value routes_inbound(struct arena *a, struct str cluster, int port, bool is_grpc);
