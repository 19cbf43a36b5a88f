/* security.h - filters that let requests in, or do not: AuthorizationPolicy and
 * RequestAuthentication, for a proxy. Pure. */
#pragma once

#include "mesh/model/proxy.h"

/* Appends HTTP filters: tokens first, then policies. */
void security_http_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *filters);
/* Appends network filters for connections that are no HTTP. */
void security_network_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                              struct value *filters);

enum mutual_mode { MUTUAL_DISABLE, MUTUAL_PERMISSIVE, MUTUAL_STRICT };
/* What PeerAuthentication says of a port of the proxy's workload. */
enum mutual_mode security_mutual_mode(const struct realm *w, const struct mesh_proxy *p, int port);
