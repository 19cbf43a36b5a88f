/* discovery.h - what there is to be asked for: /api, /apis and below, from the kind tables and the
 * definitions of custom kinds.
 *
 * Documents come in the plain form (APIVersions, APIGroupList, APIGroup, APIResourceList), in any
 * encoding, and, for /api and /apis, in the aggregated one that clients ask for by Accept, in JSON
 * and YAML. */
#pragma once

#include "api/kind.h"
#include "net/http.h"

struct custom_kinds;

/* True if the path is one of discovery's, for those versions; the exchange is then answered.
 * `address` is what clients outside the cluster are told to use. */
bool discovery_serve(struct http_exchange *x, enum kind_choice choice, struct custom_kinds *custom,
                     struct str address);
