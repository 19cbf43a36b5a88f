/* proxy.h - who asks for configuration: what an Envoy says of itself, and what it may see.
 *
 * Two proxies that are equal in all of this get the same configuration. */
#pragma once

#include "mesh/model/realm.h"

struct mesh_proxy {
    struct str id, ip, name, ns, domain; /* "sidecar~IP~NAME.NS~DOMAIN" */
    bool is_router;                      /* a gateway */
    bool no_capture;                     /* INTERCEPTION_MODE: NONE */
    bool is_unprivileged;
    const struct value *labels, *meta;
    struct str account;     /* spiffe identity that was proved; empty: none */
    struct str verified_ns; /* of that */
};

/* From the Node of a discovery request. False: it is no proxy of a mesh. */
bool mesh_proxy_read(struct arena *a, const struct value *node, struct mesh_proxy *ret);

struct scope_listener {
    const struct value *listener; /* an entry of Sidecar.egress; NULL: all the rest */
    int port;                     /* 0: none */
    enum mesh_protocol protocol;
    struct mesh_services services;
    struct mesh_objects virtual_services; /* of the mesh */
};

/* What a proxy sees. */
struct mesh_scope {
    const struct mesh_object *sidecar; /* NULL: none */
    struct mesh_services services;     /* each host once */
    struct map hosts;                  /* host -> service; scope_done() */
    struct scope_listener *egress;
    size_t n_egress;
    bool registry_only;
    const struct value *egress_proxy;
};

void scope_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                struct mesh_scope *ret);
void scope_done(struct mesh_scope *s);
const struct mesh_service *scope_service(const struct mesh_scope *s, struct str host);

/* Virtual services of a gateway ("NS/NAME") that a proxy's namespace sees, by age. */
void scope_virtual_services(struct arena *a, const struct realm *w, struct str ns,
                            struct str gateway, struct mesh_objects *ret);

/* ---- Gateways of a router, merged ---- */

struct mesh_server {
    const struct value *server; /* of Gateway.spec.servers */
    const struct mesh_object *gateway;
    struct str gateway_name; /* "NS/NAME" */
    struct str *hosts;       /* "NS/HOST" or "HOST" */
    size_t n_hosts;
    int port; /* where it listens */
    enum mesh_protocol protocol;
    struct str bind;
    struct str route_name; /* empty: none */
};

/* All servers of one port. */
struct mesh_bind {
    int port;
    struct str bind;
    enum mesh_protocol protocol; /* of the first */
    struct str route_name;       /* of plain HTTP */
    struct mesh_server **servers;
    size_t n, cap;
};

struct merged_gateways {
    struct mesh_bind *binds;
    size_t n, cap;
};

void gateways_merge(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                    struct merged_gateways *ret);
bool server_is_tls(const struct mesh_server *s); /* HTTPS or TLS */
bool server_passes(const struct mesh_server *s); /* TLS goes through as it is */
struct str server_tls_mode(const struct mesh_server *s);
