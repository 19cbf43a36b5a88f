/* h2_client.h - an HTTP/2 client: a thread with a loop, its connections, and the streams that wait
 * for one. Private to this folder.
 *
 * Streams made while there is no connection wait for the next attempt and share its fate: if it
 * fails they surely have not been sent. Attempts follow each other at growing distances, and only
 * when there is a stream to send. One connection takes as many streams as the server allows; then
 * there is another. */
#pragma once

#include "net/outgoing/h2_stream.h"
#include "net/outgoing/proxy.h"

struct h2_client_options {
    struct str address;            /* "127.0.0.1:2379" or "unix:/run/containerd/containerd.sock" */
    const struct proxy *proxy;     /* on the way there; NULL: none */
    struct tls_context *tls;       /* NULL: cleartext */
    struct tls_context *proxy_tls; /* for a proxy that is PROXY_HTTPS: it offers HTTP/1.1 */
    struct str authority;          /* empty: the address */
    struct str host;    /* the name that the certificate must carry; empty: the authority's */
    int64_t connect_ms; /* 0: 5000 */
    uint32_t window;    /* of a stream */
};

/* NULL if the system has no thread or descriptor left. */
struct h2_client *h2_client_new(const struct h2_client_options *opt);
struct h2_client *h2_client_free(struct h2_client *c); /* no stream may be left */
struct str h2_client_authority(const struct h2_client *c);
bool h2_client_has_tls(const struct h2_client *c);
struct loop *h2_client_loop(struct h2_client *c);

/* How many streams callers hold. */
void h2_client_hold(struct h2_client *c);
void h2_client_let_go(struct h2_client *c);
