/* discovery.h - what there is to be asked for: /api, /apis and below, from the kind tables and the
 * definitions of custom kinds, and what APIServices tell of those that others serve.
 *
 * Documents come in the plain form (APIVersions, APIGroupList, APIGroup, APIResourceList), in any
 * encoding, and, for /api and /apis, in the aggregated one that clients ask for by Accept, in JSON
 * and YAML. */
#pragma once

#include "net/http/http.h"
#include "server/core/api.h"

/* True if the path is one of discovery's; the exchange is then answered. `address` is what clients
 * outside the cluster are told to use. */
bool discovery_serve(struct http_exchange *x, const struct api *api, struct str address);
