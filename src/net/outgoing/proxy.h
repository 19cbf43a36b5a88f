/* proxy.h - a proxy on the way to a server, and what is said to it until the server is at the other
 * end. Bytes in, bytes out, no I/O. Private to this folder.
 *
 *     http://   CONNECT (RFC 9110)
 *     https://  the same inside of TLS
 *     socks5:// RFC 1928 and 1929; the proxy looks names up, as Go has it
 *
 * Ports that a URL leaves out are Go's: 80, 443 and 1080. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum proxy_kind { PROXY_NONE, PROXY_HTTP, PROXY_HTTPS, PROXY_SOCKS5 };

struct proxy {
    enum proxy_kind kind;
    struct str address;        /* "host:port" */
    struct str user, password; /* decoded; a NULL pointer: none */
};

/* Reads a URL; an empty one is no proxy. Texts lie in the arena. ERR_INVALID. */
int proxy_read(struct arena *a, struct str url, struct proxy *ret, struct err *err);
struct proxy proxy_copy(struct arena *a, const struct proxy *p);
/* The name that the certificate of a proxy with TLS must carry. */
struct str proxy_host(const struct proxy *p);
/* The URL in libcurl's words, without user and password. */
struct str proxy_for_curl(struct arena *a, const struct proxy *p);

/* ---- The way through it ---- */

enum tunnel_step { TUNNEL_ANSWER, TUNNEL_METHOD, TUNNEL_ACCOUNT, TUNNEL_REPLY, TUNNEL_OPEN };

struct tunnel {
    const struct proxy *proxy; /* lives longer */
    struct str target;         /* "host:port"; lives longer */
    enum tunnel_step step;
    struct buf in; /* that is not understood yet */
};

/* Puts what is to be sent first into `out`. ERR_INVALID: it cannot be said to this proxy. */
int tunnel_begin(struct tunnel *t, const struct proxy *p, struct str target, struct buf *out,
                 struct err *err);
/* Bytes of the proxy; `out` gets what is to be sent next, perhaps nothing. 1: the next byte is the
 * server's; 0: more must come. ERR_UNAVAILABLE: the proxy refuses, or makes no sense. */
int tunnel_feed(struct tunnel *t, struct str bytes, struct buf *out, struct err *err);
void tunnel_done(struct tunnel *t);
