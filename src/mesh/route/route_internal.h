/* route_internal.h - what the files that make routes share. */
#pragma once

#include "mesh/route/route.h"

/* Whose routes are made, and for where. */
struct route_view {
    struct arena *arena;
    const struct realm *realm;
    const struct mesh_proxy *proxy;
    const struct mesh_scope *scope;
    struct str gateway; /* "NS/NAME", or "mesh" */
    int port;
    bool is_tls;
    const struct scope_listener *egress; /* of a sidecar: whose services count */
};

/* {exact|prefix|safe_regex: ...}; null: it says nothing. */
struct value route__text_match(struct arena *a, const struct value *match);
struct value route__match(struct arena *a, const struct mesh_object *vs, const struct value *match);

struct header_operations {
    struct value request_add, request_remove, response_add, response_remove; /* arrays */
    struct str authority;
};
struct header_operations route__headers(struct arena *a, const struct value *headers);
struct value route__redirect(struct arena *a, const struct value *redirect, int port, bool is_tls);
struct value route__direct(struct arena *a, const struct value *direct);
struct value route__fault(struct arena *a, const struct value *fault);
struct value route__cors(struct arena *a, const struct value *cors);
struct value route__retry(struct arena *a, const struct value *retries, bool is_hashed);
struct value route__percent(struct arena *a, const struct value *percentage);
/* hash_policy of a consistentHash; null: none. */
struct value route__hash(struct arena *a, const struct value *hash);
/* The consistentHash that clients follow for a port of a service and a subset; NULL: none. */
const struct value *route__hash_of(const struct route_view *v, const struct mesh_service *s,
                                   int port, struct str subset, struct value *policy);

/* All routes of a virtual service that hold here, as an array; empty: none. */
struct value route__of_virtual_service(const struct route_view *v, const struct mesh_object *vs);
/* A route to one cluster, as the mesh makes it where nobody says otherwise. */
struct value route__default(const struct route_view *v, const struct mesh_service *s,
                            const struct mesh_port *port);
