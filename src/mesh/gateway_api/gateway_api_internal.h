/* gateway_api_internal.h - what the files of this folder share. */
#pragma once

#include "mesh/gateway_api/gateway_api.h"

struct api_listener {
    const struct value *spec;
    struct str name, hostname, protocol;
    int port;
    struct str gateway; /* "NS/NAME" of the Gateway that was made of it */
    bool is_valid;      /* routes may come to it */
    bool takes_http, takes_tls, takes_tcp;
    int attached;
    struct value conditions;
};

struct api_gateway {
    const struct mesh_object *of;
    struct api_listener *listeners;
    size_t n;
};

struct api_gateways {
    struct api_gateway *items;
    size_t n;
};

/* Appends {type, status, reason, message}. */
void api__condition(struct arena *a, struct value *list, const char *type, bool status,
                    const char *reason, struct str message);
void api__status(struct realm *w, struct api_statuses *all, enum mesh_kind kind,
                 const struct mesh_object *of, struct value status);
/* Whether a ReferenceGrant lets an object of that kind and namespace refer to another. */
bool api__granted(const struct realm *w, const char *from_kind, struct str from_ns,
                  const char *to_kind, struct str to_ns, struct str to_name);

void api__gateways(struct realm *w, struct api_gateways *ret);
/* After routes were attached. */
void api__gateway_statuses(struct realm *w, const struct api_gateways *all,
                           struct api_statuses *ret);
void api__routes(struct realm *w, struct api_gateways *all, struct api_statuses *ret);

/* What is wrong with the backends of a route: reason and words; NULL: nothing. */
struct api_fault {
    const char *reason;
    struct str message;
};
/* Appends `http` rules of VirtualService for one rule of an HTTPRoute or GRPCRoute. */
void api__http_rule(struct realm *w, const struct mesh_object *route, const char *kind,
                    const struct value *rule, struct value *out, struct api_fault *fault);
/* `route` of a tcp or tls rule. */
struct value api__l4_backends(struct realm *w, const struct mesh_object *route, const char *kind,
                              const struct value *rule, struct api_fault *fault);
/* The most specific first. */
void api__sort_http(struct value *rules);
