/* server.h - ADS v3, state of the world and delta: streams of proxies, what they have, what is
 * pushed.
 *
 * Everything runs on one loop. A stream keeps, of each type, which names it wants and the hash of
 * what it was sent, so a new realm sends only what has changed for it. Order: clusters, endpoints,
 * listeners, routes, secrets. A cluster that changes has its endpoints sent again, because Envoy
 * waits for them. What a client can make grow is bounded: streams, names, bytes of a message. */
#pragma once

#include "base/err.h"
#include "mesh/xds/resource.h"
#include "net/http/solo.h"

struct xds_server;

struct xds_options {
    struct str listen;     /* cleartext: "127.0.0.1:15010"; loopback only */
    struct str listen_tls; /* empty: none */
    struct tls_context *tls;
    bool trusts_plain; /* who comes in the clear is whom he says: secrets are sent to him */
    void *arg;
    /* A proxy has refused something. On the loop. */
    void (*on_refused)(void *arg, const struct mesh_proxy *p, enum xds_type t, struct str message);
    /* Other requests than gRPC: status pages, webhooks. */
    void (*on_request)(struct xds_server *s, struct http_exchange *x);
};

int xds_server_start(const struct xds_options *opt, struct xds_server **ret, struct err *err);
struct xds_server *xds_server_stop(struct xds_server *s); /* blocks */
struct str xds_server_address(const struct xds_server *s);
struct loop *xds_server_loop(struct xds_server *s);

/* A new realm for all; takes over the reference. `mask` has a bit for each xds_type that may have
 * changed. On the loop. */
void xds_server_set(struct xds_server *s, struct snapshot *snap, unsigned mask);
struct snapshot *xds_server_snapshot(struct xds_server *s); /* lent; NULL: none yet */

/* For status pages: visits proxies that are connected. On the loop. */
struct xds_peer {
    const struct mesh_proxy *proxy;
    struct class *class;
    bool is_delta;
    uint64_t sent[XDS_TYPES], acked[XDS_TYPES], refused[XDS_TYPES];
    struct str last_refusal[XDS_TYPES];
    const struct map *names[XDS_TYPES]; /* that it has */
};
void xds_server_each(struct xds_server *s, void (*visit)(void *arg, const struct xds_peer *p),
                     void *arg);
