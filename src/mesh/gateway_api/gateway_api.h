/* gateway_api.h - the Gateway API: its Gateways and routes become Gateways and VirtualServices of
 * the realm, and get statuses. Pure: a sealed realm in; objects are added to it, statuses come out.
 */
#pragma once

#include "mesh/model/realm.h"

#define GATEWAY_API_GROUP      "gateway.networking.k8s.io"
#define GATEWAY_API_CONTROLLER "istio.io/gateway-controller"
#define GATEWAY_API_UNMANAGED  "istio.io/unmanaged-gateway"

struct api_status {
    enum mesh_kind kind;
    const struct mesh_object *of;
    struct value status; /* without times */
};

struct api_statuses {
    struct api_status *items;
    size_t n, cap;
};

void gateway_api_convert(struct realm *w, struct api_statuses *ret);
