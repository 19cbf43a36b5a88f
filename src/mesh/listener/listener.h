/* listener.h - listeners for a proxy, as trees of envoy.config.listener.v3.Listener. Pure. */
#pragma once

#include "mesh/model/proxy.h"

/* All of them, as an array. */
struct value listeners_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                            const struct mesh_scope *scope, const struct merged_gateways *gateways);
