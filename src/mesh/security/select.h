/* select.h - which policies are meant for a proxy. */
#pragma once

#include "mesh/model/proxy.h"

/* Of the root namespace or the proxy's own, and its selector, if it has one, picks the workload. A
 * policy with targetRefs is for gateways of those names alone. */
bool policy_is_for(const struct realm *w, const struct mesh_object *o, const struct mesh_proxy *p);
