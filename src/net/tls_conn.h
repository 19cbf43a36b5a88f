/* tls_conn.h - TLS on one nonblocking socket. Private to this folder.
 *
 * Nothing here waits: a call that cannot go on says TLS_AGAIN, and tls_conn_wants_write() tells
 * which way the socket must become ready. The descriptor stays the caller's. */
#pragma once

#include <sys/types.h>

#include "net/tls.h"

struct tls_conn;

enum { TLS_AGAIN = -1, TLS_FAILED = -2 };

/* `host`, for a client: the name or address that the server's certificate must carry, also sent as
 * SNI; empty: the chain is checked, the name is not. A client offers HTTP/2 only, or
 * HTTP/1.1 only. */
struct tls_conn *tls_conn_new(struct tls_context *c, int fd, struct str host);
/* The same inside of another one, whose handshake is done: through a proxy that has TLS itself. The
 * outer one stays the caller's, lives longer, and is not read or written by anybody else. */
struct tls_conn *tls_conn_new_inside(struct tls_context *c, struct tls_conn *outer,
                                     struct str host);
struct tls_conn *tls_conn_free(struct tls_conn *t);

/* 1 when done, TLS_AGAIN, or TLS_FAILED with `err` filled. */
int tls_conn_handshake(struct tls_conn *t, struct err *err);
/* Bytes, 0 at the end, TLS_AGAIN or TLS_FAILED. */
ssize_t tls_conn_read(struct tls_conn *t, void *p, size_t n);
/* After TLS_AGAIN the same bytes must come again, at any address and perhaps with more behind. */
ssize_t tls_conn_write(struct tls_conn *t, const void *p, size_t n);
bool tls_conn_wants_write(const struct tls_conn *t);
/* True if bytes are waiting inside, which the socket does not show. */
bool tls_conn_has_more(const struct tls_conn *t);
void tls_conn_shutdown(struct tls_conn *t); /* says goodbye; waits for nothing */

bool tls_conn_is_h2(const struct tls_conn *t); /* by ALPN */
/* After the handshake, into the arena; without a certificate all is empty and not verified. */
int tls_conn_peer(const struct tls_conn *t, struct arena *a, struct tls_peer *ret, struct err *err);
