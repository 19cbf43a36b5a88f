/* listener_internal.h - what the files that make listeners share. */
#pragma once

#include "mesh/listener/listener.h"

enum listener_class { LISTENER_GATEWAY, LISTENER_OUTBOUND, LISTENER_INBOUND };

struct listener_view {
    struct arena *arena;
    const struct realm *realm;
    const struct mesh_proxy *proxy;
    const struct mesh_scope *scope;
    const struct merged_gateways *gateways;
};

/* The HTTP connection manager as a filter. `rds`: a name; empty: `routes` are inside. */
struct value listener__http(const struct listener_view *v, enum listener_class class,
                            struct str stat_prefix, struct str rds, struct value routes,
                            enum mesh_protocol protocol);
/* tcp_proxy to the destinations of a route of a virtual service, as an array of filters. */
struct value listener__tcp_route(const struct listener_view *v, const struct value *dests,
                                 int port);
struct value listener__tcp_cluster(struct arena *a, struct str cluster);
/* {filter_chain_match, filters, transport_socket}; `names` may be null. */
struct value listener__chain(struct arena *a, struct value names, struct value filters,
                             struct value socket);
struct value listener__tls_inspector(struct arena *a);
struct value listener__http_inspector(struct arena *a);
struct value listener__server_tls(struct arena *a, const struct value *tls, bool is_http);

void listener__gateways(const struct listener_view *v, struct value *out);
void listener__outbound(const struct listener_view *v, struct value *out);
void listener__inbound(const struct listener_view *v, struct value *out);
