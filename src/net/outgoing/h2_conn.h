/* h2_conn.h - one HTTP/2 connection of a client. Private to this folder.
 *
 * Lives on the client's loop and is freed in its own turn at the end of the loop's, never inside
 * a callback. When it takes no more streams (GOAWAY, an error, numbers used up) it tells its
 * owner once and goes on with the streams it has until they end. */
#pragma once

#include "net/outgoing/h2_stream.h"
#include "net/outgoing/proxy.h"
#include "net/tls.h"

/* Why a connection failed whose server has TLS but not HTTP/2. */
#define H2_NOT_SPOKEN STR("the server does not speak HTTP/2")

struct h2_conn_options {
    struct loop *loop;
    struct str address; /* "host:port", "[::1]:port" or "unix:/path"; borrowed during the call */
    const struct proxy *proxy; /* on the way to the address; NULL: none; lives longer */
    struct tls_context *tls;
    struct tls_context *proxy_tls; /* of a proxy that is PROXY_HTTPS, for HTTP/1.1; lives longer */
    struct str host;               /* the name that the server's certificate must carry */
    int64_t connect_ms;
    uint32_t window; /* of a stream, in bytes */
    void *owner;
    void (*on_ready)(void *owner, struct h2_conn *c);
    /* Takes no more streams. `failed`: it never became ready. Nothing else is called after it. */
    void (*on_retired)(void *owner, struct h2_conn *c, bool failed, struct str why);
    void (*on_freed)(void *owner, struct h2_conn *c);
};

/* Never fails at once: what goes wrong comes with on_retired, later. Looks names up, and waits
 * for it, unless the address is a number. */
struct h2_conn *h2_conn_new(const struct h2_conn_options *opt);
bool h2_conn_is_ready(const struct h2_conn *c);
/* It is ready and the server takes another stream now. */
bool h2_conn_has_room(const struct h2_conn *c);

/* Starts a stream, which has not ended. Takes over the loop's reference to it. */
void h2_conn_open(struct h2_conn *c, struct h2_stream *s);
/* There are bytes to send or to consume, or the caller has ended it. */
void h2_conn_look(struct h2_conn *c, struct h2_stream *s);
/* Cuts it; streams that are left are lost. Safe to call again; freed in its turn. */
void h2_conn_close(struct h2_conn *c, struct str why);
