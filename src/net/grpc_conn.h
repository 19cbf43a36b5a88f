/* grpc_conn.h - one HTTP/2 connection of a gRPC client. Private to this folder.
 *
 * Lives on the client's loop and is freed in its own turn at the end of the loop's, never inside
 * a callback. When it takes no more streams (GOAWAY, an error, numbers used up) it tells its
 * owner once and goes on with the streams it has until they end. */
#pragma once

#include "net/grpc_stream.h"
#include "net/tls.h"

struct grpc_conn_options {
    struct loop *loop;
    struct str address; /* "host:port", "[::1]:port" or "unix:/path"; borrowed during the call */
    struct tls_context *tls;
    struct str host; /* the name that the server's certificate must carry */
    int64_t connect_ms;
    void *owner;
    void (*on_ready)(void *owner, struct grpc_conn *c);
    /* Takes no more streams. `failed`: it never became ready. Nothing else is called after it. */
    void (*on_retired)(void *owner, struct grpc_conn *c, bool failed, struct str why);
    void (*on_freed)(void *owner, struct grpc_conn *c);
};

/* Never fails at once: what goes wrong comes with on_retired, later. Looks names up, and waits
 * for it, unless the address is a number. */
struct grpc_conn *grpc_conn_new(const struct grpc_conn_options *opt);
bool grpc_conn_is_ready(const struct grpc_conn *c);

/* Starts a stream, which has not ended. Takes over the loop's reference to it. */
void grpc_conn_open(struct grpc_conn *c, struct grpc_stream *s);
/* There are bytes to send or to consume, or the caller has ended it. */
void grpc_conn_look(struct grpc_conn *c, struct grpc_stream *s);
/* Cuts it; streams that are left are lost. Safe to call again; freed in its turn. */
void grpc_conn_close(struct grpc_conn *c, struct str why);
